/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     fwd:      y = e^x / sum e^x, or x - log(sum e^x);  bwd_data: dx = y (dy - sum y dy), or dy - e^y sum dy
 *
 * Takes everything: any type, strides, alignment; in place. A team of threads per group in a loop over the grid, in double; each element is
 * read two or three times, the last by the thread that writes it. Infinities and NaN as in src/ref/softmax.c. */
#include "cuda/softmax/softmax.h"
#include "cuda/team.cuh"

enum { FAST, ACCURATE, LOG };

extern "C" __global__ void cuda_softmax_fwd_naive(const __grid_constant__ dn_softmax_naive p)
{
    __shared__ double sh[DN_TEAM_BLOCK];
    int lane = (int)threadIdx.x & (p.team - 1), per = DN_TEAM_BLOCK / p.team;
    for (dn_s64 first = (dn_s64)blockIdx.x * per; first < p.groups.count; first += (dn_s64)gridDim.x * per) {
        dn_s64 g = first + threadIdx.x / p.team, n = g < p.groups.count ? p.inner.count : 0, from[2], at[2];
        double m = p.algo == FAST ? 0 : -DN_INF_D, s = 0;
        dn_walk_at<2>(&p.groups, n ? g : 0, from);
        if (p.algo != FAST) {
            for (dn_s64 i = lane; i < n; i += p.team) {
                dn_walk_at<2>(&p.inner, i, at);
                m = fmax(m, dn_load(&p.e[1], from[1] + at[1]));
            }
            m = dn_team_max(m, p.team, sh);
        }
        for (dn_s64 i = lane; i < n; i += p.team) {
            dn_walk_at<2>(&p.inner, i, at);
            s += exp(dn_load(&p.e[1], from[1] + at[1]) - m);
        }
        s = dn_team_sum(s, p.team, sh);
        if (p.algo == LOG)
            s = log(s);
        for (dn_s64 i = lane; i < n; i += p.team) {
            dn_walk_at<2>(&p.inner, i, at);
            double x = dn_load(&p.e[1], from[1] + at[1]) - m;
            dn_store_blend(&p.e[0], from[0] + at[0], p.algo == LOG ? x - s : exp(x) / s, p.alpha, p.beta);
        }
    }
}

extern "C" __global__ void cuda_softmax_bwd_data_naive(const __grid_constant__ dn_softmax_naive p)
{
    __shared__ double sh[DN_TEAM_BLOCK];
    int lane = (int)threadIdx.x & (p.team - 1), per = DN_TEAM_BLOCK / p.team;
    for (dn_s64 first = (dn_s64)blockIdx.x * per; first < p.groups.count; first += (dn_s64)gridDim.x * per) {
        dn_s64 g = first + threadIdx.x / p.team, n = g < p.groups.count ? p.inner.count : 0, from[3], at[3];
        double s = 0;
        dn_walk_at<3>(&p.groups, n ? g : 0, from);
        for (dn_s64 i = lane; i < n; i += p.team) {
            dn_walk_at<3>(&p.inner, i, at);
            double dy = dn_load(&p.e[2], from[2] + at[2]);
            s += p.algo == LOG ? dy : dy * dn_load(&p.e[1], from[1] + at[1]);
        }
        s = dn_team_sum(s, p.team, sh);
        for (dn_s64 i = lane; i < n; i += p.team) {
            dn_walk_at<3>(&p.inner, i, at);
            double y = dn_load(&p.e[1], from[1] + at[1]), dy = dn_load(&p.e[2], from[2] + at[2]);
            dn_store_blend(&p.e[0], from[0] + at[0], p.algo == LOG ? dy - exp(y) * s : y * (dy - s), p.alpha, p.beta);
        }
    }
}
