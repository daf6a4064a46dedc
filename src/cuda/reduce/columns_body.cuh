/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Reduction of packed x as [outer][kept][inner][places], kept and places are left: sums of rows. Block (PX, W): thread x has N neighbouring
 * places, thread y every W-th row of the block's part, four in flight.
 *     COLUMNS (name, KIND, N), MERGE (name, KIND)   make kernels of these names; N: a vector of 16 bytes, which places must be a multiple
 *                                                   of (and x aligned to), or 1 */
#include "cuda/reduce/packed.cuh"

enum { UNROLL = 4 };

template <int N> struct places_of {
    static __device__ __forceinline__ void fetch(const void *x, dn_s64 at, float *f)
    {
        dn_unpack<DN_TYPE, N>(dn_vec_load<DN_TYPE, N>(x, at), f);
    }
};
template <> struct places_of<1> {
    static __device__ __forceinline__ void fetch(const void *x, dn_s64 at, float *f)
    {
        f[0] = dn_one_load<DN_TYPE>(x, at);
    }
};

/* The states of the W threads of a column merged and delivered, one place at a time. v moves down instead of being indexed: so it stays in
 * registers though the loop, whose code is long, is there once. */
template <int KIND, int N> DN_FN void close_columns(const dn_reduce_packed *p, dn_s64 part, dn_s64 output, bool on, double *v, double *sh)
{
    const int px = (int)blockDim.x, at = (int)(threadIdx.y * blockDim.x + threadIdx.x), y = (int)threadIdx.y;
#pragma unroll 1
    for (int e = 0; e < N; e++) {
        __syncthreads();
        sh[at] = v[0];
#pragma unroll 1
        for (int o = (int)blockDim.y / 2; o; o /= 2) {
            __syncthreads();
            if (y < o)
                sh[at] = merged<KIND>(sh[at], sh[at + o * px]);
        }
        if (y == 0 && on)
            deliver(p, part, output + e, sh[at]);
#pragma unroll
        for (int i = 1; i < N; i++)
            v[i - 1] = v[i];
    }
}

template <int KIND, int N> DN_FN void columns(const dn_reduce_packed *p)
{
    __shared__ double sh[DN_REDUCE_BLOCK];
    const dn_s64 line = p->places / N, t = (dn_s64)blockIdx.x * blockDim.x + threadIdx.x, kept = t / line, place = (t - kept * line) * N;
    const dn_s64 slab = p->inner * p->places, w = blockDim.y;
    for (dn_s64 part = blockIdx.y; part < p->parts; part += gridDim.y) {
        dn_s64 end = kept < p->kept ? (part + 1) * p->part : 0;
        double v[N];
        end = end < p->steps ? end : p->steps;
#pragma unroll
        for (int e = 0; e < N; e++)
            v[e] = start<KIND>();
        for (dn_s64 k = part * p->part + threadIdx.y; k < end; k += w * UNROLL) {
            /* apart, so that all loads are on their way before the first is waited for */
            float f[N][UNROLL], one[UNROLL][N];
            dn_s64 at[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; u++) {
                /* behind the end the first row again, which changes no maximum; in sums nothing */
                dn_s64 row = k + u * w < end ? k + u * w : k, run = p->outer == 1 ? 0 : row / p->inner;
                at[u] = (run * p->kept + kept) * slab + (row - run * p->inner) * p->places + place;
            }
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
                places_of<N>::fetch(p->x, at[u], one[u]);
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
#pragma unroll
                for (int e = 0; e < N; e++)
                    f[e][u] = k + u * w < end || (KIND != SUM && KIND != SQUARES) ? one[u][e] : 0;
#pragma unroll
            for (int e = 0; e < N; e++)
                take<KIND, UNROLL>(p, &v[e], f[e]);
        }
        close_columns<KIND, N>(p, part, kept * p->places + place, kept < p->kept, v, sh);
    }
}

#define COLUMNS(name, KIND, N)                                                                                              \
    extern "C" __global__ void __launch_bounds__(DN_REDUCE_BLOCK, 2) name(const __grid_constant__ dn_reduce_packed p)       \
    {                                                                                                                       \
        columns<KIND, N>(&p);                                                                                               \
    }
