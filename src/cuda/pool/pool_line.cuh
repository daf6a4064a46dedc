/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Rows of NCHW as vectors: a thread reads N neighbours of each row and what its windows need of the vectors beside them (nothing for 2 x 2
 * at stride 2, an element on each side for 3 x 3), and makes the outputs of the windows centred on them. */
#ifndef DN_CUDA_POOL_POOL_LINE_CUH
#define DN_CUDA_POOL_POOL_LINE_CUH

#include "cuda/pool/pool_fast.cuh"

/* Elements w - 1 ... w + N of row h; what lies outside has the value `outside`. False for a row outside. */
template <int K, int S, int N> DN_FN bool dn_line_load(const dn_pool_fast *p, const dn_t *x, int h, int w, float outside, float *v)
{
    if ((unsigned)h >= (unsigned)p->in[1])
        return false;
    const dn_t *row = x + h * p->in[2] + w;
    dn_unpack<DN_T, N>(*(const DN_VEC(DN_T, N) *)row, v + 1);
    v[0] = K == 3 && w > 0 ? dn_t_get(row[-1]) : outside;
    v[N + 1] = K == 3 && S == 1 && w + N < p->in[2] ? dn_t_get(row[N]) : outside;
    return true;
}

/* N outputs side by side: out = alpha r + beta out. */
template <int N> DN_FN void dn_line_store(const dn_pool_fast *p, dn_t *out, float *r)
{
    enum { WIDE = N < 4 ? 4 : N };
    if (N == 2) {
        dn_pool_pair(p, out, r[0], r[N - 1]);
    } else {
#pragma unroll
        for (int e = 0; e < N; e++)
            r[e] = p->alpha * r[e] + (p->beta != 0.0f ? p->beta * dn_t_get(out[e]) : 0.0f);
        dn_vec_store<DN_T, WIDE>(out, 0, dn_pack<DN_T, WIDE>(r));
    }
}

/* Where in v column k (0 ... K - 1) of the window of output o is. */
#define DN_LINE_AT(K, S, o, k) ((o) * (S) + (k) + ((K) == 2))

#endif
