/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation for any type, strides and mode; the formulas are in ref/bn.c. A block, or where there is little to reduce a thread,
 * takes one kept element (a channel, or a place of one) and makes all passes over it, in double. */
#include "cuda/act/act_fn.cuh"
#include "cuda/norm/bn.h"

enum { DN_BN_BLOCK = 256, DN_BN_W = DN_BN_TENSORS };

/* The sum over the threads of a kept element, in all of them. */
DN_FN double dn_bn_sum(const dn_bn_naive *p, double v)
{
    __shared__ double s[DN_BN_BLOCK];
    if (p->group == 1)
        return v;
    s[threadIdx.x] = v;
    for (unsigned n = DN_BN_BLOCK / 2; n > 0; n /= 2) {
        __syncthreads();
        if (threadIdx.x < n)
            s[threadIdx.x] += s[threadIdx.x + n];
    }
    __syncthreads();
    v = s[0];
    __syncthreads();
    return v;
}

/* Offsets of element i of the reduced walk for the kept element at base. */
DN_FN void dn_bn_at(const dn_bn_naive *p, const dn_s64 *base, dn_s64 i, dn_s64 *at)
{
    dn_walk_at<DN_BN_TENSORS>(&p->reduced, i, at);
#pragma unroll
    for (int t = 0; t < DN_BN_TENSORS; t++)
        at[t] += base[t];
}

#define DN_BN_LANE(p) ((p)->group == 1 ? 0 : (dn_s64)threadIdx.x)
#define DN_BN_FIRST(p) ((p)->group == 1 ? DN_THREAD : (dn_s64)blockIdx.x)
#define DN_BN_STEP(p) ((p)->group == 1 ? DN_THREADS : (dn_s64)gridDim.x)

DN_FN void dn_bn_put(const dn_bn_naive *p, int which, dn_s64 at, double v, double alpha, double beta)
{
    if (p->param[which].ptr && DN_BN_LANE(p) == 0)
        dn_store_blend(&p->param[which], at, v, alpha, beta);
}

typedef struct dn_bn_stats {
    double mean, var, inv;  /* var: biased */
} dn_bn_stats;

DN_FN dn_bn_stats dn_bn_batch(const dn_bn_naive *p, const dn_s64 *base)
{
    dn_bn_stats s;
    dn_s64 at[DN_BN_TENSORS];
    double sum = 0, m = (double)p->reduced.count;
    for (dn_s64 i = DN_BN_LANE(p); i < p->reduced.count; i += p->group) {
        dn_bn_at(p, base, i, at);
        sum += dn_load(&p->e[DN_BN_X], at[DN_BN_X]);
    }
    s.mean = dn_bn_sum(p, sum) / m;
    sum = 0;
    for (dn_s64 i = DN_BN_LANE(p); i < p->reduced.count; i += p->group) {
        dn_bn_at(p, base, i, at);
        double d = dn_load(&p->e[DN_BN_X], at[DN_BN_X]) - s.mean;
        sum += d * d;
    }
    s.var = dn_bn_sum(p, sum) / m;
    s.inv = 1 / sqrt(s.var + p->eps);
    return s;
}

/* y of one element. */
DN_FN void dn_bn_norm(const dn_bn_naive *p, const dn_s64 *at, const dn_bn_stats *s, double scale, double bias)
{
    double v = (dn_load(&p->e[DN_BN_X], at[DN_BN_X]) - s->mean) * s->inv * scale + bias;
    if (p->ops == 2)
        v += dn_load(&p->e[DN_BN_IN], at[DN_BN_IN]);
    if (p->ops && p->mask)
        p->mask[at[DN_BN_MASK]] = dn_act_grad(&p->act, v, 0, 1) != 0;
    if (p->ops)
        v = dn_act_apply(&p->act, v);
    dn_store_blend(&p->e[DN_BN_OUT], at[DN_BN_OUT], v, p->alpha, p->beta);
}

/* dy with 0 where the activation stopped it. */
DN_FN double dn_bn_gradient(const dn_bn_naive *p, const dn_s64 *at)
{
    double g = dn_load(&p->e[DN_BN_IN], at[DN_BN_IN]);
    return p->mask && !p->mask[at[DN_BN_MASK]] ? 0 : g;
}

extern "C" __global__ void __launch_bounds__(DN_BN_BLOCK) cuda_bn_infer_naive(const __grid_constant__ dn_bn_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.kept.count; i += DN_THREADS) {
        dn_s64 at[DN_BN_TENSORS + 1];
        dn_walk_at<DN_BN_TENSORS + 1>(&p.kept, i, at);
        dn_bn_stats s;
        s.mean = dn_load(&p.param[DN_BN_MEAN], at[DN_BN_W]);
        s.var = dn_load(&p.param[DN_BN_VAR], at[DN_BN_W]);
        s.inv = 1 / sqrt(s.var + p.eps);
        dn_bn_norm(&p, at, &s, dn_load(&p.param[DN_BN_SCALE], at[DN_BN_W]), dn_load(&p.param[DN_BN_BIAS], at[DN_BN_W]));
    }
}

extern "C" __global__ void __launch_bounds__(DN_BN_BLOCK) cuda_bn_train_naive(const __grid_constant__ dn_bn_naive p)
{
    double m = (double)p.reduced.count;
    for (dn_s64 k = DN_BN_FIRST(&p); k < p.kept.count; k += DN_BN_STEP(&p)) {
        dn_s64 base[DN_BN_TENSORS + 1], at[DN_BN_TENSORS];
        dn_walk_at<DN_BN_TENSORS + 1>(&p.kept, k, base);
        dn_bn_stats s = dn_bn_batch(&p, base);
        dn_bn_put(&p, DN_BN_SAVE_MEAN, base[DN_BN_W], s.mean, 1, 0);
        dn_bn_put(&p, DN_BN_SAVE_INVSTD, base[DN_BN_W], s.inv, 1, 0);
        dn_bn_put(&p, DN_BN_MEAN, base[DN_BN_W], s.mean, p.factor, 1 - p.factor);
        dn_bn_put(&p, DN_BN_VAR, base[DN_BN_W], m > 1 ? s.var * (m / (m - 1)) : s.var, p.factor, 1 - p.factor);
        double scale = dn_load(&p.param[DN_BN_SCALE], base[DN_BN_W]), bias = dn_load(&p.param[DN_BN_BIAS], base[DN_BN_W]);
        for (dn_s64 i = DN_BN_LANE(&p); i < p.reduced.count; i += p.group) {
            dn_bn_at(&p, base, i, at);
            dn_bn_norm(&p, at, &s, scale, bias);
        }
    }
}

extern "C" __global__ void __launch_bounds__(DN_BN_BLOCK) cuda_bn_bwd_naive(const __grid_constant__ dn_bn_naive p)
{
    double m = (double)p.reduced.count;
    for (dn_s64 k = DN_BN_FIRST(&p); k < p.kept.count; k += DN_BN_STEP(&p)) {
        dn_s64 base[DN_BN_TENSORS + 1], at[DN_BN_TENSORS];
        dn_walk_at<DN_BN_TENSORS + 1>(&p.kept, k, base);
        dn_bn_stats s;
        if (p.param[DN_BN_SAVE_MEAN].ptr && p.param[DN_BN_SAVE_INVSTD].ptr) {
            s.mean = dn_load(&p.param[DN_BN_SAVE_MEAN], base[DN_BN_W]);
            s.inv = dn_load(&p.param[DN_BN_SAVE_INVSTD], base[DN_BN_W]);
        } else {
            s = dn_bn_batch(&p, base);
        }
        double scale = dn_load(&p.param[DN_BN_SCALE], base[DN_BN_W]), sum = 0, dot = 0;
        for (dn_s64 i = DN_BN_LANE(&p); i < p.reduced.count; i += p.group) {
            dn_bn_at(&p, base, i, at);
            double g = dn_bn_gradient(&p, at);
            sum += g;
            dot += g * (dn_load(&p.e[DN_BN_X], at[DN_BN_X]) - s.mean);
        }
        sum = dn_bn_sum(&p, sum);
        dot = dn_bn_sum(&p, dot) * s.inv;
        dn_bn_put(&p, DN_BN_DSCALE, base[DN_BN_W], dot, p.alpha2, p.beta2);
        dn_bn_put(&p, DN_BN_DBIAS, base[DN_BN_W], sum, p.alpha2, p.beta2);
        sum /= m;
        dot *= s.inv / m;
        for (dn_s64 i = DN_BN_LANE(&p); i < p.reduced.count; i += p.group) {
            dn_bn_at(&p, base, i, at);
            double x = dn_load(&p.e[DN_BN_X], at[DN_BN_X]) - s.mean, g = dn_bn_gradient(&p, at);
            if (p.ops == 2)
                dn_store_blend(&p.e[DN_BN_DZ], at[DN_BN_DZ], g, p.alpha, p.beta);
            dn_store_blend(&p.e[DN_BN_OUT], at[DN_BN_OUT], scale * s.inv * (g - sum - x * dot), p.alpha, p.beta);
        }
    }
}
