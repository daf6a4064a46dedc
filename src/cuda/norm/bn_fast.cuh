/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the tuned batch normalisation kernels share. Sums are floats around a shift (the channel's first value forward, its mean backward),
 * partial sums of blocks are added in double; constants of a channel:
 *     forward   y = act((x - k2) k0 + k1 + z)     k0 = scale inv, k1 = bias, k2 = mean
 *     backward  dx = g k0 + x k1 + k2             k0 = alpha scale inv, k1 = -k0 inv^2 dot / m, k2 = -k0 sum / m - mean k1
 * with sum of g and dot of g (x - mean), g being dy where the activation let it through. */
#ifndef DN_CUDA_NORM_BN_FAST_CUH
#define DN_CUDA_NORM_BN_FAST_CUH

#include "cuda/norm/bn.h"
#include "cuda/vec16.cuh"

/* Kinds of apply. */
enum { DN_BN_INFER, DN_BN_TRAIN, DN_BN_BWD };

/* Vector v of a tensor whose last one may not be full; nobody needs it again. */
DN_FN uint4 dn_bn_load(const dn_bn_fast *p, const void *base, dn_u32 v)
{
    const dn_t *at = (const dn_t *)base + (dn_s64)v * DN_VN;
    if (v == p->partial) {
        float f[DN_VN];
        int n = (int)(p->count - (dn_s64)v * DN_VN);
#pragma unroll
        for (int e = 0; e < DN_VN; e++)
            f[e] = e < n ? dn_t_get(at[e]) : 0.0f;
        return dn_vec_put(f);
    }
    return dn_vec_last(at);
}

/* at: its first element. */
DN_FN void dn_bn_store(const dn_bn_fast *p, void *base, dn_s64 at, const float *f)
{
    dn_t *to = (dn_t *)base + at;
    if (at + DN_VN <= p->count) {
        dn_vec_out(to, f);
        return;
    }
#pragma unroll
    for (int e = 0; e < DN_VN; e++)
        if (at + e < p->count)
            dn_t_put(to + e, f[e]);
}

/* DN_VN bytes of the mask, the first in the lowest bits. */
DN_FN dn_u64 dn_bn_mask_load(const dn_bn_fast *p, dn_s64 at)
{
    const unsigned char *m = p->mask + at;
    if (p->mask_wide && at + DN_VN <= p->count)
        return DN_VN == 8 ? *(const dn_u64 *)m : *(const dn_u32 *)m;
    dn_s64 left = p->count - at;
    dn_u64 v = 0;
    for (int e = 0; e < DN_VN && e < left; e++)
        v |= (dn_u64)m[e] << (8 * e);
    return v;
}

DN_FN void dn_bn_mask_store(const dn_bn_fast *p, dn_s64 at, dn_u64 v)
{
    unsigned char *m = p->mask + at;
    if (p->mask_wide && at + DN_VN <= p->count) {
        if (DN_VN == 8)
            *(dn_u64 *)m = v;
        else
            *(dn_u32 *)m = (dn_u32)v;
        return;
    }
    dn_s64 left = p->count - at;
    for (int e = 0; e < DN_VN && e < left; e++)
        m[e] = (unsigned char)(v >> (8 * e));
}

/* dy with 0 where the mask has 0. */
DN_FN void dn_bn_stop(float *g, dn_u64 mask)
{
#pragma unroll
    for (int e = 0; e < DN_VN; e++)
        g[e] = mask >> (8 * e) & 1 ? g[e] : 0.0f;
}

/* ReLU or clipped ReLU. */
DN_FN float dn_bn_act(const dn_bn_fast *p, float v)
{
    float r = v > 0.0f ? v : 0.0f;
    r = r < p->ceiling ? r : p->ceiling;
    return p->nan && v != v ? v : r;
}

/* r = alpha r + beta old */
DN_FN void dn_bn_blend(const dn_bn_fast *p, float *r, dn_s64 at, float alpha, const dn_t *old)
{
#pragma unroll
    for (int e = 0; e < DN_VN; e++)
        r[e] *= alpha;
    if (p->beta != 0.0f) {
#pragma unroll
        for (int e = 0; e < DN_VN; e++)
            r[e] += at + e < p->count ? p->beta * dn_t_get(old[e]) : 0.0f;
    }
}

/* The constants of channel c. */
template <int KIND> DN_FN float4 dn_bn_constants(const dn_bn_fast *p, int c)
{
    if (KIND != DN_BN_INFER)
        return *(const float4 *)(p->k + 4 * c);
    return make_float4(p->scale[c] * rsqrtf(p->var[c] + (float)p->eps), p->bias[c], p->mean[c], 0.0f);
}

/* One element; g: dy as far as it goes through, read backward alone. */
template <int KIND> DN_FN float dn_bn_one(const float4 &k, float x, float g)
{
    return KIND == DN_BN_BWD ? fmaf(g, k.x, fmaf(x, k.y, k.z)) : fmaf(x - k.z, k.x, k.y);
}

/* f = act(f), and where its gradient goes through. */
DN_FN void dn_bn_activate(const dn_bn_fast *p, float *f, dn_s64 at)
{
    if (p->mask) {
        dn_u64 m = 0;
#pragma unroll
        for (int e = 0; e < DN_VN; e++)
            m |= (dn_u64)(f[e] > 0.0f && f[e] <= p->ceiling) << (8 * e);
        dn_bn_mask_store(p, at, m);
    }
#pragma unroll
    for (int e = 0; e < DN_VN; e++)
        f[e] = dn_bn_act(p, f[e]);
}

/* What follows for a vector of results at element `at`: addend (w, where ADD), activation, factors, store; backward dz, of which w holds g. */
template <int KIND, int ADD> DN_FN void dn_bn_finish(const dn_bn_fast *p, float *f, float *w, dn_s64 at)
{
    if (KIND != DN_BN_BWD) {
#pragma unroll
        for (int e = 0; ADD && e < DN_VN; e++)
            f[e] += w[e];
        if (p->ops)
            dn_bn_activate(p, f, at);
    } else if (p->ops == 2) {
        dn_bn_blend(p, w, at, p->alpha, (const dn_t *)p->dz + at);
        dn_bn_store(p, p->dz, at, w);
    }
    dn_bn_blend(p, f, at, KIND == DN_BN_BWD ? 1.0f : p->alpha, (const dn_t *)p->out + at);
    dn_bn_store(p, p->out, at, f);
}

DN_FN double dn_bn_warp_sum(double v)
{
#pragma unroll
    for (int o = 16; o; o >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, o);
    return v;
}

DN_FN void dn_bn_put_param(float *out, int c, double v, double alpha, double beta)
{
    if (out)
        out[c] = (float)(alpha * v + (beta != 0 ? beta * out[c] : 0.0));
}

/* What the sums of a channel meet: forward scale and bias, backward scale and the saved statistics. */
typedef struct dn_bn_given {
    float scale, bias, mean, inv;
} dn_bn_given;

template <int KIND> DN_FN dn_bn_given dn_bn_given_of(const dn_bn_fast *p, int c)
{
    dn_bn_given g = { p->scale[c], 0.0f, 0.0f, 0.0f };
    if (KIND == DN_BN_BWD) {
        g.mean = p->save_mean[c];
        g.inv = p->save_inv[c];
    } else if (p->bias) {
        g.bias = p->bias[c];
    }
    return g;
}

/* Mean and variance of the batch from sums around `shift`, and the inverse deviation; backward the sums themselves. */
typedef struct dn_bn_found {
    double a, b, inv;
} dn_bn_found;

template <int KIND> DN_FN dn_bn_found dn_bn_find(const dn_bn_fast *p, const dn_bn_given *g, double shift, double a, double b)
{
    dn_bn_found f = { a, b * g->inv, g->inv };
    if (KIND != DN_BN_BWD) {
        double d = a * p->inv_m;
        f.a = shift + d;
        f.b = b * p->inv_m - d * d;
        f.b = f.b < 0 ? 0 : f.b;
        f.inv = rsqrt(f.b + p->eps);
    }
    return f;
}

template <int KIND> DN_FN float4 dn_bn_close(const dn_bn_fast *p, const dn_bn_given *g, const dn_bn_found *f)
{
    if (KIND != DN_BN_BWD)
        return make_float4((float)(g->scale * f->inv), g->bias, (float)f->a, 0.0f);
    double k0 = p->alpha * g->scale * f->inv, k1 = -k0 * f->b * f->inv * p->inv_m;
    return make_float4((float)k0, (float)k1, (float)(-k0 * f->a * p->inv_m - g->mean * k1), 0.0f);
}

/* What the call keeps of channel c. */
template <int KIND> DN_FN void dn_bn_tell(const dn_bn_fast *p, int c, const dn_bn_found *f)
{
    if (KIND == DN_BN_BWD) {
        dn_bn_put_param(p->dscale, c, f->b, p->alpha2, p->beta2);
        dn_bn_put_param(p->dbias, c, f->a, p->alpha2, p->beta2);
        return;
    }
    dn_bn_put_param(p->save_mean, c, f->a, 1, 0);
    dn_bn_put_param(p->save_inv, c, f->inv, 1, 0);
    dn_bn_put_param(p->mean, c, f->a, p->factor, 1 - p->factor);
    dn_bn_put_param(p->var, c, p->m > 1 ? f->b * (p->m / (p->m - 1)) : f->b, p->factor, 1 - p->factor);
}

/* A warp per channel. */
template <int KIND> DN_FN void dn_bn_final(const dn_bn_fast *p)
{
    int c = (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32), lane = (int)threadIdx.x & 31;
    if (c >= p->c)
        return;
    double a = 0, b = 0;
    for (int r = c; r < p->row; r += p->c) {
        const float *part = p->part + (dn_s64)r * p->s * 2;
        for (int s = lane; s < p->s; s += 32) {
            a += part[2 * s];
            b += part[2 * s + 1];
        }
    }
    a = dn_bn_warp_sum(a);
    b = dn_bn_warp_sum(b);
    if (lane == 0) {
        dn_bn_given g = dn_bn_given_of<KIND>(p, c);
        float shift = KIND == DN_BN_BWD ? 0.0f : dn_t_get(((const dn_t *)p->x)[(dn_s64)c * p->first]);
        dn_bn_found f = dn_bn_find<KIND>(p, &g, shift, a, b);
        *(float4 *)(p->k + 4 * c) = dn_bn_close<KIND>(p, &g, &f);
        dn_bn_tell<KIND>(p, c, &f);
    }
}

#endif
