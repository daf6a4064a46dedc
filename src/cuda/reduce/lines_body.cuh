/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Reduction of packed x as [outer][kept][inner], kept is left: runs of inner elements side by side, of any length. A team of threads (a
 * power of two to 32, or a block) per part of an output takes the vectors of 16 bytes that its runs touch, four in flight per thread.
 * x aligned to 16 bytes.
 *     LINES (name, KIND), MERGE (name, KIND)   make kernels of these names */
#include "cuda/reduce/packed.cuh"

enum { UNROLL = 4 };

/* A vector of x, and which of its elements belong to the run; hi <= 0: none. */
typedef struct piece {
    dn_s64 vector;
    int lo, hi;
} piece;

/* Vector `step` of those that an output's runs may touch. */
DN_FN piece piece_of(const dn_reduce_packed *p, dn_s64 output, dn_s64 step, dn_s64 end)
{
    dn_s64 run = p->outer == 1 ? 0 : step >> 32 ? step / p->vectors : (dn_u32)step / (dn_u32)p->vectors;
    dn_s64 from = (run * p->kept + output) * p->inner, first = from / VN, i = step - run * p->vectors;
    dn_s64 hi = from + p->inner - (first + i) * VN;
    piece v = { first + i, i == 0 ? (int)(from - first * VN) : 0, step >= end ? 0 : hi < VN ? (int)hi : VN };
    return v;
}

DN_FN uint4 fetch(const dn_reduce_packed *p, const piece *v)
{
    if (v->vector != p->tail)
        return __ldcs((const uint4 *)p->x + v->vector);
    float f[VN];
#pragma unroll
    for (int e = 0; e < VN; e++)
        f[e] = e < v->hi ? dn_one_load<DN_TYPE>(p->x, v->vector * VN + e) : 0;
    return dn_pack<DN_TYPE, VN>(f);
}

/* What changes nothing, in place of others' elements. */
template <int KIND> DN_FN void mask(const dn_reduce_packed *p, const piece *v, float *f)
{
    if (v->lo == 0 && v->hi == VN)
        return;
    const float least = p->keep != 0xffffffffu ? 0.0f : p->flip ? DN_INF : -DN_INF;
    const float other = KIND == MAXIMUM ? __int_as_float(0x7fc00000) : KIND == MAXIMUM_OR_NAN ? least : 0.0f;
#pragma unroll
    for (int e = 0; e < VN; e++)
        f[e] = e < v->lo || e >= v->hi ? other : f[e];
}

template <int KIND> DN_FN double over_team(double v, int team)
{
    __shared__ double sh[DN_REDUCE_BLOCK / 32];
    for (int o = (team < 32 ? team : 32) / 2; o; o /= 2)
        v = merged<KIND>(v, __shfl_xor_sync(0xffffffffu, v, o));
    if (team <= 32)
        return v;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        sh[threadIdx.x / 32] = v;
    __syncthreads();
    v = sh[0];
#pragma unroll
    for (int i = 1; i < DN_REDUCE_BLOCK / 32; i++)
        v = merged<KIND>(v, sh[i]);
    return v;
}

template <int KIND> DN_FN void lines(const dn_reduce_packed *p)
{
    const int lane = (int)threadIdx.x & (p->team - 1), per = DN_REDUCE_BLOCK / p->team;
    const dn_s64 items = p->kept * p->parts;
    for (dn_s64 i0 = (dn_s64)blockIdx.x * per; i0 < items; i0 += (dn_s64)gridDim.x * per) {
        const dn_s64 item = i0 + threadIdx.x / p->team, part = p->parts == 1 ? 0 : item / p->kept, output = item - part * p->kept;
        dn_s64 end = item < items ? (part + 1) * p->part : 0;
        end = end < p->steps ? end : p->steps;
        double v = start<KIND>();
        for (dn_s64 k = part * p->part + lane; k < end; k += p->team * UNROLL) {
            /* apart, so that all loads are on their way before the first is waited for */
            piece at[UNROLL];
            uint4 raw[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
                at[u] = piece_of(p, output, k + u * p->team, end);
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
                if (at[u].hi > 0)
                    raw[u] = fetch(p, &at[u]);
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
                if (at[u].hi > 0) {
                    float f[VN];
                    dn_unpack<DN_TYPE, VN>(raw[u], f);
                    mask<KIND>(p, &at[u], f);
                    take<KIND, VN>(p, &v, f);
                }
        }
        v = over_team<KIND>(v, p->team);
        if (lane == 0 && item < items)
            deliver(p, part, output, v);
    }
}

#define LINES(name, KIND)                                                                                                   \
    extern "C" __global__ void __launch_bounds__(DN_REDUCE_BLOCK, 3) name(const __grid_constant__ dn_reduce_packed p)       \
    {                                                                                                                       \
        lines<KIND>(&p);                                                                                                    \
    }
