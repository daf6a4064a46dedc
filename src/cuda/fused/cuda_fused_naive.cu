/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The fused operations' own steps for any type, strides and alignment, in double; formulas and the mask's layout are in ops/fused.h.
 * A thread takes an element, or with a mask the 32 elements of a word; statistics are a team's, which goes over all places of a channel. */
#include "cuda/act/act_fn.cuh"
#include "cuda/fused/fused.h"
#include "cuda/team.cuh"

/* v * scale + bias of an array pair, each as far as it is there. */
DN_FN double affine(const dn_sba_naive *p, int scale, int bias, double v, dn_s64 at)
{
    if (p->array[scale].ptr)
        v *= dn_load(&p->array[scale], at);
    return p->array[bias].ptr ? v + dn_load(&p->array[bias], at) : v;
}

/* What goes into the activation. */
DN_FN double before(const dn_sba_naive *p, const dn_s64 *at)
{
    double v = affine(p, DN_SBA_SCALE, DN_SBA_BIAS, dn_load(&p->e[DN_SBA_X], at[DN_SBA_X]), at[DN_SBA_W]);
    if (p->added || p->array[DN_SBA_BIAS2].ptr)
        v += affine(p, DN_SBA_SCALE2, DN_SBA_BIAS2, p->added ? dn_load(&p->e[DN_SBA_Z], at[DN_SBA_Z]) : 0, at[DN_SBA_W]);
    return v;
}

/* Where bit `bit` of a word of unit `unit` (slab, pair of places) lies in the tensors; false where that is no element. */
DN_FN bool bit_at(const dn_sba_naive *p, dn_s64 unit, int word, int bit, dn_s64 *at)
{
    dn_s64 slab = unit / p->pairs, place = (unit - slab * p->pairs) * 2 + bit / 16;
    int c = (int)slab * 64 + bit % 16 * 4 + word;
    if (place >= p->walk.count || c >= p->channels)
        return false;
    dn_walk_at<DN_SBA_TENSORS>(&p->walk, place, at);
#pragma unroll
    for (int t = 0; t < DN_SBA_TENSORS; t++)
        at[t] += c * p->channel[t];
    return true;
}

DN_FN bool stops(const dn_act_fn *f, double v)
{
    return f->mode != DN_ACT_IDENTITY && (v < 0 || (f->mode == DN_ACT_CLIPPED_RELU && v > f->coef));
}

DN_FN void masked_forward(const dn_sba_naive *p)
{
    for (dn_s64 i = DN_THREAD; i < p->pairs * p->slabs * 4; i += DN_THREADS) {
        dn_u32 bits = 0;
        dn_s64 at[DN_SBA_TENSORS];
        for (int b = 0; b < 32; b++) {
            if (!bit_at(p, i / 4, (int)(i % 4), b, at))
                continue;
            double v = before(p, at);
            bits |= (dn_u32)stops(&p->fn, v) << b;
            dn_store(&p->e[DN_SBA_Y], at[DN_SBA_Y], dn_act_apply(&p->fn, v));
        }
        dn_store_raw(&p->mask, i, bits);
    }
}

extern "C" __global__ void cuda_sba_fwd_naive(const __grid_constant__ dn_sba_naive p)
{
    if (p.mask.ptr) {
        masked_forward(&p);
        return;
    }
    for (dn_s64 i = DN_THREAD; i < p.walk.count; i += DN_THREADS) {
        dn_s64 at[DN_SBA_TENSORS];
        dn_walk_at<DN_SBA_TENSORS>(&p.walk, i, at);
        dn_store(&p.e[DN_SBA_Y], at[DN_SBA_Y], dn_act_apply(&p.fn, before(&p, at)));
    }
}

extern "C" __global__ void cuda_sba_bwd_data_naive(const __grid_constant__ dn_sba_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.pairs * p.slabs * 4; i += DN_THREADS) {
        dn_u32 bits = (dn_u32)dn_load_raw(&p.mask, i);
        dn_s64 at[DN_SBA_TENSORS];
        for (int b = 0; b < 32; b++)
            if (bit_at(&p, i / 4, (int)(i % 4), b, at))
                dn_store(&p.e[DN_SBA_Y], at[DN_SBA_Y], bits >> b & 1 ? 0 : dn_load(&p.e[DN_SBA_X], at[DN_SBA_X]));
    }
}

extern "C" __global__ void cuda_stats_fwd_naive(const __grid_constant__ dn_stats_naive p)
{
    __shared__ double sh[DN_TEAM_BLOCK];
    int lane = (int)threadIdx.x & (p.team - 1), per = DN_TEAM_BLOCK / p.team;
    for (dn_s64 first = (dn_s64)blockIdx.x * per; first < p.kept.count; first += (dn_s64)gridDim.x * per) {
        dn_s64 k = first + threadIdx.x / p.team, from[2] = { 0, 0 };
        double sum = 0, sq = 0;
        dn_walk_at<2>(&p.kept, k < p.kept.count ? k : 0, from);
        for (dn_s64 i = lane; k < p.kept.count && i < p.reduced.count; i += p.team) {
            dn_s64 at[1];
            dn_walk_at<1>(&p.reduced, i, at);
            double v = dn_load(&p.x, from[0] + at[0]);
            sum += v;
            sq += v * v;
        }
        sum = dn_team_sum(sum, p.team, sh);
        sq = dn_team_sum(sq, p.team, sh);
        if (lane != 0 || k >= p.kept.count)
            continue;
        if (p.sum.ptr)
            dn_store(&p.sum, from[1], sum);
        if (p.sq.ptr)
            dn_store(&p.sq, from[1], sq);
    }
}

/* --- the final step --- */
DN_FN double take(const dn_final_naive *p, int which, dn_s64 at, double none)
{
    return p->array[which].ptr ? dn_load(&p->array[which], at) : none;
}

DN_FN void give(const dn_final_naive *p, int which, dn_s64 at, double v, double alpha, double beta)
{
    if (p->array[which].ptr)
        dn_store_blend(&p->array[which], at, v, alpha, beta);
}

DN_FN void finish(const dn_final_naive *p, const dn_s64 *at, double mean, double inv)
{
    double scale = take(p, DN_FINAL_SCALE, at[0], 1) * inv;
    double bias = take(p, DN_FINAL_BIAS, at[0], 0) - scale * mean;
    give(p, DN_FINAL_SCALE2, at[1], scale, 1, 0);
    give(p, DN_FINAL_BIAS2, at[1], bias, 1, 0);
}

extern "C" __global__ void cuda_bnfinal_train_naive(const __grid_constant__ dn_final_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.walk.count; i += DN_THREADS) {
        dn_s64 at[2];
        dn_walk_at<2>(&p.walk, i, at);
        double mean = dn_load(&p.array[DN_FINAL_SUM], at[0]) / p.m;
        double var = dn_load(&p.array[DN_FINAL_SQSUM], at[0]) / p.m - mean * mean;
        var = var < 0 ? 0 : var;
        double inv = 1 / sqrt(var + p.eps);
        give(&p, DN_FINAL_SAVE_MEAN, at[0], mean, 1, 0);
        give(&p, DN_FINAL_SAVE_INVSTD, at[0], inv, 1, 0);
        give(&p, DN_FINAL_MEAN, at[0], mean, p.factor, 1 - p.factor);
        give(&p, DN_FINAL_VAR, at[0], p.m > 1 ? var * (p.m / (p.m - 1)) : var, p.factor, 1 - p.factor);
        finish(&p, at, mean, inv);
    }
}

extern "C" __global__ void cuda_bnfinal_infer_naive(const __grid_constant__ dn_final_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.walk.count; i += DN_THREADS) {
        dn_s64 at[2];
        dn_walk_at<2>(&p.walk, i, at);
        finish(&p, at, dn_load(&p.array[DN_FINAL_MEAN], at[0]), 1 / sqrt(dn_load(&p.array[DN_FINAL_VAR], at[0]) + p.eps));
    }
}
