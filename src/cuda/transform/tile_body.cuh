/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     out[n][q][r] = alpha * in[n][r][q]
 *
 * SIZE: bytes of an element, 2 or 4; ELEMENT: its type as bits; KERNEL: the name. A block of 256 threads moves a tile of 64 x 64 through
 * shared memory (8.25 or 16.25 KiB; the rows are an odd number of words apart, so that columns lie in different banks), reading along q and
 * writing along r, 16 bytes at a time on a side whose length is a multiple of that. Pointers are aligned to 16 bytes. */
#include "cuda/transform/transpose.cuh"

enum { V = 16 / SIZE, TILE = DN_TRANSPOSE_TILE, PITCH = TILE + 4 / SIZE, THREADS = 256 };

template <bool VECTORS> DN_FN void load(const dn_transpose *p, ELEMENT (*tile)[PITCH], const ELEMENT *in, dn_u32 r0, dn_u32 q0)
{
#pragma unroll
    for (int k = 0; k < TILE * TILE / (VECTORS ? V : 1) / THREADS; k++) {
        dn_u32 t = threadIdx.x + k * THREADS, r = t / (VECTORS ? TILE / V : TILE), q = VECTORS ? t % (TILE / V) * V : t % TILE;
        if (r0 + r >= p->rows || q0 + q >= p->cols)
            continue;
        const ELEMENT *from = in + (dn_u64)(r0 + r) * p->cols + q0 + q;
        if (!VECTORS) {
            tile[r][q] = *from;
            continue;
        }
        uint4 v = __ldcs((const uint4 *)from);
        const dn_u32 *w = (const dn_u32 *)&v;
        dn_u32 *to = (dn_u32 *)&tile[r][q];
#pragma unroll
        for (int i = 0; i < 4; i++)
            to[i] = w[i];
    }
}

template <bool VECTORS> DN_FN void store(const dn_transpose *p, ELEMENT (*tile)[PITCH], ELEMENT *out, dn_u32 r0, dn_u32 q0)
{
#pragma unroll
    for (int k = 0; k < TILE * TILE / (VECTORS ? V : 1) / THREADS; k++) {
        dn_u32 t = threadIdx.x + k * THREADS, q = t / (VECTORS ? TILE / V : TILE), r = VECTORS ? t % (TILE / V) * V : t % TILE;
        if (r0 + r >= p->rows || q0 + q >= p->cols)
            continue;
        ELEMENT *to = out + (dn_u64)(q0 + q) * p->rows + r0 + r;
        if (!VECTORS) {
            *to = (ELEMENT)dn_scaled_one<SIZE>(p, tile[r][q]);
            continue;
        }
        uint4 v = make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int i = 0; i < V; i++)
            dn_vec_put<SIZE>(&v, i, tile[r + i][q]);
        __stcs((uint4 *)to, dn_scaled<SIZE>(p, v));
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(const __grid_constant__ dn_transpose p)
{
    __shared__ ELEMENT tile[TILE][PITCH];
    /* Neighbouring blocks read one row on. */
    dn_u32 n = blockIdx.x / (p.across * p.down), rest = blockIdx.x - n * p.across * p.down;
    dn_u32 r0 = rest / p.across * TILE, q0 = rest % p.across * TILE;
    dn_u64 image = (dn_u64)n * p.rows * p.cols;
    const ELEMENT *in = (const ELEMENT *)p.in + image;
    ELEMENT *out = (ELEMENT *)p.out + image;
    if (p.cols % V == 0)
        load<true>(&p, tile, in, r0, q0);
    else
        load<false>(&p, tile, in, r0, q0);
    __syncthreads();
    if (p.rows % V == 0)
        store<true>(&p, tile, out, r0, q0);
    else
        store<false>(&p, tile, out, r0, q0);
}
