/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     add, transform:  y = alpha * x + beta * y
 *     scale:           y = alpha * y
 *     set:             y = value
 *     optensor:        y = op(alpha * x, alpha2 * b) + beta * y
 *
 * Takes everything: any type, strides, alignment, vectorised types; in place. One thread per element in a loop over the grid, in double. */
#include "cuda/common.cuh"
#include "cuda/pointwise/pointwise.h"
#include "cuda/pointwise/tensor_op.cuh"

DN_FN void blend(const dn_pointwise_naive *p)
{
    for (dn_s64 i = DN_THREAD; i < p->walk.count; i += DN_THREADS) {
        dn_s64 at[2];
        dn_walk_at<2>(&p->walk, i, at);
        dn_store_blend(&p->e[0], at[0], dn_load(&p->e[1], at[1]), p->alpha, p->beta);
    }
}

extern "C" __global__ void cuda_add_fwd_naive(const __grid_constant__ dn_pointwise_naive p)
{
    blend(&p);
}

extern "C" __global__ void cuda_transform_fwd_naive(const __grid_constant__ dn_pointwise_naive p)
{
    blend(&p);
}

/* alpha 0 is a factor here, not a word for "do not read": 0 * NaN is NaN. */
extern "C" __global__ void cuda_scale_fwd_naive(const __grid_constant__ dn_pointwise_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.walk.count; i += DN_THREADS) {
        dn_s64 at[1];
        dn_walk_at<1>(&p.walk, i, at);
        dn_store(&p.e[0], at[0], p.alpha * dn_load(&p.e[0], at[0]));
    }
}

/* Offsets of vectors are multiples of their length, so the offset's rest is the lane. */
extern "C" __global__ void cuda_set_fwd_naive(const __grid_constant__ dn_pointwise_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.walk.count; i += DN_THREADS) {
        dn_s64 at[1];
        dn_walk_at<1>(&p.walk, i, at);
        dn_store(&p.e[0], at[0], p.value[at[0] & (p.vect - 1)]);
    }
}

extern "C" __global__ void cuda_optensor_fwd_naive(const __grid_constant__ dn_pointwise_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.walk.count; i += DN_THREADS) {
        dn_s64 at[3];
        dn_walk_at<3>(&p.walk, i, at);
        double a = p.alpha * dn_load(&p.e[1], at[1]), b = p.op < DN_OP2_SQRT ? p.alpha2 * dn_load(&p.e[2], at[2]) : 0;
        dn_store_blend(&p.e[0], at[0], dn_tensor_op(p.op, p.nan != 0, a, b), 1, p.beta);
    }
}
