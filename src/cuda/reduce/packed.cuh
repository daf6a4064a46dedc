/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the reductions of packed tensors share. Sums: a vector's or some rows' elements in float, those in double, so that neither length
 * nor order costs digits. Maxima in float; a minimum is a maximum of what has its sign turned (flip).
 *     DN_TYPE   DN_T_F32, DN_T_F16 or DN_T_BF16 */
#ifndef DN_CUDA_REDUCE_PACKED_CUH
#define DN_CUDA_REDUCE_PACKED_CUH

#include "cuda/flat.cuh"
#include "cuda/reduce/reduce_state.cuh"

#define VN (16 / DN_VEC_SIZE(DN_TYPE))

enum { SUM, SQUARES, MAXIMUM, MAXIMUM_OR_NAN };  /* kinds; MAXIMUM passes NaN over */

template <int KIND> DN_FN double start()
{
    return KIND == MAXIMUM ? DN_NAN_D : KIND == MAXIMUM_OR_NAN ? -DN_INF_D : 0.0;
}

template <int KIND> DN_FN float pick(float a, float b)
{
    return KIND == MAXIMUM ? fmaxf(a, b) : b > a || b != b ? b : a;
}

template <int KIND> DN_FN double merged(double a, double b)
{
    return KIND == SUM || KIND == SQUARES ? a + b : (double)pick<KIND>((float)a, (float)b);
}

DN_FN float counted(const dn_reduce_packed *p, float x)
{
    return __uint_as_float((__float_as_uint(x) & p->keep) ^ p->flip);
}

/* n elements join one state. */
template <int KIND, int N> DN_FN void take(const dn_reduce_packed *p, double *state, const float *f)
{
    if (KIND == SQUARES) {
#pragma unroll
        for (int e = 0; e < N; e++)
            *state += (double)f[e] * f[e];
        return;
    }
    float r = counted(p, f[0]);
#pragma unroll
    for (int e = 1; e < N; e++)
        r = KIND == SUM ? r + counted(p, f[e]) : pick<KIND>(r, counted(p, f[e]));
    *state = merged<KIND>(*state, r);
}

DN_FN void finish(const dn_reduce_packed *p, dn_s64 output, double v)
{
    dn_s64 at[2];
    dn_walk_at<2>(&p->out, output, at);
    if (dn_reduce_picks(p->op) && p->flip)
        v = -v;
    dn_store_blend(&p->y, at[1], p->op == DN_REDUCE_AVG ? v / p->count : p->op == DN_REDUCE_NORM2 ? sqrt(v) : v, p->alpha, p->beta);
}

DN_FN void deliver(const dn_reduce_packed *p, dn_s64 part, dn_s64 output, double v)
{
    if (p->parts > 1)
        p->states[part * (p->kept * p->places) + output] = v;
    else
        finish(p, output, v);
}

/* The states of parts: block (outputs, lanes). */
template <int KIND> DN_FN void merge_parts(const dn_reduce_packed *p)
{
    __shared__ double sh[DN_REDUCE_BLOCK];
    const int px = (int)blockDim.x, x = (int)threadIdx.x, y = (int)threadIdx.y;
    const dn_s64 outputs = p->kept * p->places, output = (dn_s64)blockIdx.x * px + x;
    double v = start<KIND>();
    for (dn_s64 k = y; k < p->parts && output < outputs; k += blockDim.y)
        v = merged<KIND>(v, p->states[k * outputs + output]);
    sh[y * px + x] = v;
    for (int o = (int)blockDim.y / 2; o; o /= 2) {
        __syncthreads();
        if (y < o)
            sh[y * px + x] = merged<KIND>(sh[y * px + x], sh[(y + o) * px + x]);
    }
    if (y == 0 && output < outputs)
        finish(p, output, sh[x]);
}

#define MERGE(name, KIND)                                                                                                \
    extern "C" __global__ void __launch_bounds__(DN_REDUCE_BLOCK) name(const __grid_constant__ dn_reduce_packed p)       \
    {                                                                                                                    \
        merge_parts<KIND>(&p);                                                                                           \
    }

#endif
