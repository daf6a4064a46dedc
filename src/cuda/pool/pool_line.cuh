/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Rows of NCHW as vectors: a thread reads N neighbours of each row and what its windows need of the vectors beside them (nothing for 2 x 2
 * at stride 2, an element on each side for 3 x 3), and makes the outputs of the windows centred on them. */
#ifndef DN_CUDA_POOL_POOL_LINE_CUH
#define DN_CUDA_POOL_POOL_LINE_CUH

#include "cuda/pool/pool_fast.cuh"

/* Where in v column k (0 ... K - 1) of the window of output o is. */
#define DN_LINE_AT(K, S, o, k) ((o) * (S) + (k) + ((K) == 2))

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

/* The same as words: the element before in word 0, the vector in 1 ... W, the element behind in W + 1 (of narrow ones in the low half). What
 * lies outside has the value of the word `outside`. */
template <int W> struct dn_line_words {
    dn_u32 w[W + 2];
};

DN_FN dn_u32 dn_line_word(const dn_t *at)
{
#if defined(T_F32)
    return __float_as_uint(*at);
#else
    return *at;
#endif
}

template <int K, int S, int N>
DN_FN void dn_line_fetch(const dn_pool_fast *p, const dn_t *x, int h, int w, dn_u32 outside, dn_line_words<N * (int)sizeof(dn_t) / 4> *r)
{
    enum { W = N * (int)sizeof(dn_t) / 4 };
    const dn_t *row = x + h * p->in[2] + w;
#pragma unroll
    for (int e = 0; e < W + 2; e++)
        r->w[e] = outside;
    if ((unsigned)h >= (unsigned)p->in[1])
        return;
    DN_VEC(DN_T, N) v = *(const DN_VEC(DN_T, N) *)row;
#pragma unroll
    for (int e = 0; e < W; e++)
        r->w[e + 1] = ((const dn_u32 *)&v)[e];
    if (K == 3 && w > 0)
        r->w[0] = dn_line_word(row - 1);
    if (K == 3 && S == 1 && w + N < p->in[2])
        r->w[W + 1] = dn_line_word(row + N);
}

/* Elements -1 ... N */
template <int N> DN_FN void dn_line_floats(const dn_line_words<N * (int)sizeof(dn_t) / 4> *r, float *v)
{
    enum { W = N * (int)sizeof(dn_t) / 4, PER = N / W };
#pragma unroll
    for (int e = -1; e <= N; e++) {
        dn_u32 word = r->w[e < 0 ? 0 : 1 + e / PER];
#if defined(T_F32)
        v[e + 1] = __uint_as_float(word);
#else
        v[e + 1] = dn_t_get((dn_t)(e > 0 && e < N && e % 2 ? word >> 16 : word));
#endif
    }
}

/* Maxima of K neighbours at stride S of the words of a line, W / S words of them. */
template <int K, int S, int W, int NANS> DN_FN void dn_line_across(const dn_u32 *w, dn_u32 *out)
{
#if defined(T_F32)
#pragma unroll
    for (int o = 0; o < W / S; o++) {
        out[o] = w[DN_LINE_AT(K, S, o, 0)];
#pragma unroll
        for (int k = 1; k < K; k++)
            out[o] = dn_pool_max_word<NANS>(out[o], w[DN_LINE_AT(K, S, o, k)]);
    }
#else
#pragma unroll
    for (int o = 0; o < W / S; o++) {
        /* Words a and b of the line make one of stride 2; left: the elements before those. */
        dn_u32 a = w[1 + o * S], b = w[S == 2 ? 2 + o * S : 1 + o * S], before = w[o * S];
        dn_u32 left = o == 0 ? before & 0xffff : before >> 16;
        if (S == 2) {
            out[o] = dn_pool_max_word<NANS>((a & 0xffff) | b << 16, a >> 16 | (b & 0xffff0000));
            left |= a & 0xffff0000;
        } else {
            out[o] = dn_pool_max_word<NANS>(a, a >> 16 | w[2 + o * S] << 16);
            left |= a << 16;
        }
        if (K == 3)
            out[o] = dn_pool_max_word<NANS>(out[o], left);
    }
#endif
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

/* N outputs as they are in words. */
template <int N> DN_FN void dn_line_emit(const dn_pool_fast *p, dn_t *out, const dn_u32 *r)
{
    enum { W = N * (int)sizeof(dn_t) / 4 };
    if (!p->plain) {
        float f[N];
#pragma unroll
        for (int e = 0; e < N; e++)
#if defined(T_F32)
            f[e] = __uint_as_float(r[e]);
#else
            f[e] = dn_t_get((dn_t)(e % 2 ? r[e / 2] >> 16 : r[e / 2]));
#endif
        dn_line_store<N>(p, out, f);
    } else if (W == 4) {
        __stcs((uint4 *)out, make_uint4(r[0], r[W > 1 ? 1 : 0], r[W > 2 ? 2 : 0], r[W > 3 ? 3 : 0]));
    } else if (W == 2) {
        uint2 v = { r[0], r[W > 1 ? 1 : 0] };
        __stcs((uint2 *)out, v);
    } else {
        *(dn_u32 *)out = r[0];
    }
}

#endif
