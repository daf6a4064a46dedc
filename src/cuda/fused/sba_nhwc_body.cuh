/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     y = act(scale x + bias + scale2 z + bias2), with a bit mask or without, of places x channels without gaps
 *     dx = dy where the mask lets it through (KERNEL_BWD)
 *
 * The including file names T_* and KERNEL or KERNEL_BWD. A thread has U vectors of 16 bytes, all loaded before the first is used. With a
 * mask, threads are counted through its units of four words (ops/fused.h), TEAM of them for a unit, slab after slab of a pair of places. */
#include "cuda/act/act_fn.cuh"
#include "cuda/fused/fused.h"
#include "cuda/vec16.cuh"

enum { BLOCK = 256, U = 4, TEAM = 128 / DN_VN };

/* A vector's place. */
typedef struct spot {
    dn_s64 at;            /* first element */
    dn_u32 unit;          /* of the mask */
    int c, lane;          /* first channel; thread of the unit */
    bool on;              /* there are such elements */
} spot;

template <bool MASKED> DN_FN spot spot_of(const dn_sba_nhwc *p, dn_u32 v)
{
    spot s;
    dn_u32 row;
    if (MASKED) {
        dn_u32 unit = v / TEAM, pair = dn_div_u(p->line, unit), slab = unit - pair * p->line.by;
        s.lane = (int)(v % TEAM);
        row = pair * 2 + s.lane / (TEAM / 2);
        s.unit = slab * p->pairs + pair;
        s.c = (int)slab * 64 + s.lane % (TEAM / 2) * DN_VN;
        s.on = v < p->count && row < p->places && s.c < p->channels;
    } else {
        row = dn_div_u(p->line, v);
        s.unit = 0;
        s.lane = 0;
        s.c = (int)(v - row * p->line.by) * DN_VN;
        s.on = v < p->count;
    }
    s.at = (dn_s64)row * p->channels + s.c;
    return s;
}

#if defined(KERNEL)
/* DN_VN values of an array from channel c on. */
DN_FN void array_load(const dn_sba_nhwc *p, int which, int c, float *f)
{
    if (p->wide) {
        const float4 *at = (const float4 *)((const float *)p->array[which] + c);
#pragma unroll
        for (int k = 0; k < DN_VN / 4; k++) {
            float4 v = at[k];
            f[4 * k] = v.x, f[4 * k + 1] = v.y, f[4 * k + 2] = v.z, f[4 * k + 3] = v.w;
        }
        return;
    }
    dn_vec_get(dn_vec_keep((const dn_t *)p->array[which] + c), f);
}

/* f = f * scale + bias, each as far as it is there. */
DN_FN void affine(const dn_sba_nhwc *p, int scale, int bias, int c, float *f)
{
    float k[DN_VN];
    if (p->array[scale]) {
        array_load(p, scale, c, k);
#pragma unroll
        for (int e = 0; e < DN_VN; e++)
            f[e] *= k[e];
    }
    if (p->array[bias]) {
        array_load(p, bias, c, k);
#pragma unroll
        for (int e = 0; e < DN_VN; e++)
            f[e] += k[e];
    }
}

/* Bit i of v becomes bit 2 i. */
DN_FN dn_u32 spread(dn_u32 v)
{
    v = (v | v << 8) & 0x00ff00ff;
    v = (v | v << 4) & 0x0f0f0f0f;
    v = (v | v << 2) & 0x33333333;
    return (v | v << 1) & 0x55555555;
}

/* The four words of the unit, from the bits of its threads; all threads of the warp come here. */
DN_FN void mask_store(const dn_sba_nhwc *p, const spot *s, dn_u32 stops, bool counted)
{
    dn_u32 word = 0;
#pragma unroll
    for (int w = 0; w < 4; w++) {
        dn_u32 low = __ballot_sync(0xffffffffu, stops >> w & 1), high = 0;
        if (DN_VN == 8) {
            dn_u32 half = (threadIdx.x & 16);
            high = __ballot_sync(0xffffffffu, stops >> (w + 4) & 1) >> half & 0xffff;
            low = spread(low >> half & 0xffff) | spread(high) << 1;
        }
        word = s->lane == w ? low : word;
    }
    if (counted && s->lane < 4)
        p->mask[s->unit * 4 + s->lane] = word;
}

DN_FN float activate(const dn_sba_nhwc *p, float v)
{
    if (p->mode == DN_ACT_IDENTITY)
        return v;
    float r = v > 0.0f ? v : 0.0f;
    r = r < p->ceiling ? r : p->ceiling;
    return p->nan && v != v ? v : r;
}

template <bool MASKED> DN_FN void one(const dn_sba_nhwc *p, const spot *s, uint4 x, uint4 z, bool counted)
{
    float f[DN_VN], g[DN_VN];
    dn_u32 stops = 0;
    if (s->on) {
        dn_vec_get(x, f);
        affine(p, DN_SBA_SCALE, DN_SBA_BIAS, s->c, f);
#pragma unroll
        for (int e = 0; e < DN_VN; e++)
            g[e] = 0.0f;
        if (p->z)
            dn_vec_get(z, g);
        affine(p, DN_SBA_SCALE2, DN_SBA_BIAS2, s->c, g);
#pragma unroll
        for (int e = 0; e < DN_VN; e++) {
            f[e] += g[e];
            stops |= (dn_u32)(p->mode != DN_ACT_IDENTITY && (f[e] < 0.0f || f[e] > p->ceiling)) << e;
            f[e] = activate(p, f[e]);
        }
        dn_vec_out((dn_t *)p->y + s->at, f);
    }
    if (MASKED)
        mask_store(p, s, stops, counted);
}

template <bool MASKED> DN_FN void run(const dn_sba_nhwc *p)
{
    dn_u32 first = blockIdx.x * (BLOCK * U) + threadIdx.x;
    spot s[U];
    uint4 x[U], z[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
        s[u] = spot_of<MASKED>(p, first + u * BLOCK);
        x[u] = z[u] = make_uint4(0, 0, 0, 0);
        if (s[u].on) {
            x[u] = dn_vec_last((const dn_t *)p->x + s[u].at);
            if (p->z)
                z[u] = dn_vec_last((const dn_t *)p->z + s[u].at);
        }
    }
#pragma unroll
    for (int u = 0; u < U; u++)
        one<MASKED>(p, &s[u], x[u], z[u], first + u * BLOCK < p->count);
}

extern "C" __global__ void __launch_bounds__(BLOCK) KERNEL(const __grid_constant__ dn_sba_nhwc p)
{
    if (p.mask)
        run<true>(&p);
    else
        run<false>(&p);
}
#endif

#if defined(KERNEL_BWD)
extern "C" __global__ void __launch_bounds__(BLOCK) KERNEL_BWD(const __grid_constant__ dn_sba_nhwc p)
{
    dn_u32 first = blockIdx.x * (BLOCK * U) + threadIdx.x;
    spot s[U];
    uint4 x[U], words[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
        s[u] = spot_of<true>(&p, first + u * BLOCK);
        if (!s[u].on)
            continue;
        x[u] = dn_vec_last((const dn_t *)p.x + s[u].at);
        words[u] = *(const uint4 *)(p.mask + s[u].unit * 4);
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
        float f[DN_VN];
        if (!s[u].on)
            continue;
        dn_vec_get(x[u], f);
#pragma unroll
        for (int e = 0; e < DN_VN; e++) {
            dn_u32 word = e % 4 == 0 ? words[u].x : e % 4 == 1 ? words[u].y : e % 4 == 2 ? words[u].z : words[u].w;
            f[e] = word >> (s[u].lane * (DN_VN / 4) + e / 4) & 1 ? 0.0f : f[e];
        }
        dn_vec_out((dn_t *)p.y + s[u].at, f);
    }
}
#endif
