/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     fwd:      y = alpha * f(x) + beta * y
 *     bwd_data: dx = alpha * f'(x, y) dy + beta * dx
 *
 * Takes everything: any type, strides, alignment; in place. One thread per element in a loop over the grid, in double. */
#include "cuda/act/act_fn.cuh"

extern "C" __global__ void cuda_act_fwd_naive(const __grid_constant__ dn_act_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.walk.count; i += DN_THREADS) {
        dn_s64 at[2];
        dn_walk_at<2>(&p.walk, i, at);
        dn_store_blend(&p.e[0], at[0], dn_act_apply(&p.fn, dn_load(&p.e[1], at[1])), p.alpha, p.beta);
    }
}

extern "C" __global__ void cuda_act_bwd_data_naive(const __grid_constant__ dn_act_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.walk.count; i += DN_THREADS) {
        dn_s64 at[4];
        dn_walk_at<4>(&p.walk, i, at);
        double x = dn_act_reads_x(p.fn.mode) ? dn_load(&p.e[1], at[1]) : 0;
        double y = dn_act_reads_y(p.fn.mode) ? dn_load(&p.e[2], at[2]) : 0;
        dn_store_blend(&p.e[0], at[0], dn_act_grad(&p.fn, x, y, dn_load(&p.e[3], at[3])), p.alpha, p.beta);
    }
}
