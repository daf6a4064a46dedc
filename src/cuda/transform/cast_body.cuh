/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     out[n][q][r] = alpha * in[n][r][q], in another type
 *
 * IN, OUT: types of the elements as bits; WIDEN(bits) to float, NARROW(float) to bits; KERNEL: the name. As tile_body.cuh, the tile in float
 * (16.25 KiB; rows of 65 floats, so that columns lie in different banks). An element at a time; neighbouring threads have neighbouring ones. */
#include "cuda/transform/transpose.cuh"

enum { TILE = DN_TRANSPOSE_TILE, PITCH = TILE + 1, THREADS = 256 };

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(const __grid_constant__ dn_transpose p)
{
    __shared__ float tile[TILE][PITCH];
    dn_u32 n = blockIdx.x / (p.across * p.down), rest = blockIdx.x - n * p.across * p.down;
    dn_u32 r0 = rest / p.across * TILE, q0 = rest % p.across * TILE;
    dn_u64 image = (dn_u64)n * p.rows * p.cols;
    const IN *in = (const IN *)p.in + image;
    OUT *out = (OUT *)p.out + image;
#pragma unroll
    for (int k = 0; k < TILE * TILE / THREADS; k++) {
        dn_u32 t = threadIdx.x + k * THREADS, r = t / TILE, q = t % TILE;
        if (r0 + r < p.rows && q0 + q < p.cols)
            tile[r][q] = WIDEN(in[(dn_u64)(r0 + r) * p.cols + q0 + q]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE * TILE / THREADS; k++) {
        dn_u32 t = threadIdx.x + k * THREADS, q = t / TILE, r = t % TILE;
        if (r0 + r < p.rows && q0 + q < p.cols)
            out[(dn_u64)(q0 + q) * p.rows + r0 + r] = NARROW(p.alpha * tile[r][q]);
    }
}
