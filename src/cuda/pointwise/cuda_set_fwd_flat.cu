/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     y = value        y contiguous, any type, aligned to 16 bytes
 *
 * Writes a pattern of 32 bytes, which holds a vector of every type. Blocks of 256 threads, four vectors of 16 bytes per thread. */
#include "cuda/flat.cuh"
#include "cuda/pointwise/pointwise.h"

extern "C" __global__ void __launch_bounds__(DN_FLAT_THREADS) cuda_set_fwd_flat(const __grid_constant__ dn_set_flat p)
{
    const dn_u32 *half = p.pattern + (threadIdx.x & 1) * 4;
    uint4 v = make_uint4(half[0], half[1], half[2], half[3]);
    dn_u64 first = (dn_u64)blockIdx.x * (DN_FLAT_THREADS * 4) + threadIdx.x;
#pragma unroll
    for (int u = 0; u < 4; u++)
        if (first + u * DN_FLAT_THREADS < p.units)
            __stcs((uint4 *)p.y + first + u * DN_FLAT_THREADS, v);
    if (first < p.tail)
        ((dn_u8 *)p.y)[p.units * 16 + first] = ((const dn_u8 *)p.pattern)[(p.units & 1) * 16 + first];
}
