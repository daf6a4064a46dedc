/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the tuned pooling kernels share. The including file names T_* and, where a thread works on one element instead of a vector of
 * channels, ONE. */
#ifndef DN_CUDA_POOL_POOL_FAST_CUH
#define DN_CUDA_POOL_POOL_FAST_CUH

#include "cuda/pool/pool.h"
#include "cuda/vec16.cuh"

#if defined(ONE)
enum { DN_PV = 1 };
typedef dn_t dn_raw_unit;
#else
enum { DN_PV = DN_VN };
typedef uint4 dn_raw_unit;
#endif

DN_FN dn_raw_unit dn_unit_load(const dn_t *at)
{
    return *(const dn_raw_unit *)at;
}

DN_FN void dn_unit_get(dn_raw_unit u, float *f)
{
#if defined(ONE)
    f[0] = dn_t_get(u);
#else
    dn_vec_get(u, f);
#endif
}

/* out = alpha r + beta out */
DN_FN void dn_unit_store(const dn_pool_fast *p, dn_t *out, float *r)
{
#pragma unroll
    for (int e = 0; e < DN_PV; e++)
        r[e] *= p->alpha;
    if (p->beta != 0.0f) {
        float old[DN_PV];
        dn_unit_get(dn_unit_load(out), old);
#pragma unroll
        for (int e = 0; e < DN_PV; e++)
            r[e] += p->beta * old[e];
    }
#if defined(ONE)
    dn_t_put(out, r[0]);
#else
    dn_vec_out(out, r);
#endif
}

#if defined(ONE)
/* Two neighbours at once: out lies at a multiple of two elements. */
DN_FN void dn_pool_pair(const dn_pool_fast *p, dn_t *out, float a, float b)
{
    a *= p->alpha;
    b *= p->alpha;
    if (p->beta != 0.0f) {
        a += p->beta * dn_t_get(out[0]);
        b += p->beta * dn_t_get(out[1]);
    }
#if defined(T_F32)
    *(float2 *)out = make_float2(a, b);
#elif defined(T_F16)
    *(dn_u32 *)out = dn_pack_halves(a, b);
#else
    *(dn_u32 *)out = dn_pack_bf16s(a, b);
#endif
}
#endif

/* Where a thread works. */
typedef struct dn_pool_spot {
    dn_s64 plane;        /* n x depth: of the outputs forward, of the inputs backward */
    int unit, x, y, d;   /* first element at the position, place along width and height (in strips or blocks), depth */
    dn_s64 n;
} dn_pool_spot;

DN_FN dn_pool_spot dn_pool_spot_of(const dn_pool_fast *p, dn_u32 t)
{
    dn_pool_spot s;
    dn_u32 r = dn_div_u(p->units, t), q;
    s.unit = (int)(t - r * p->units.by) * DN_PV;
    q = dn_div_u(p->width, r);
    s.x = (int)(r - q * p->width.by);
    r = dn_div_u(p->rows, q);
    s.y = (int)(q - r * p->rows.by);
    s.plane = r;
    q = dn_div_u(p->depth, r);
    s.d = (int)(r - q * p->depth.by);
    s.n = q;
    return s;
}

/* How many of a dimension's window count in an average; begin: where it starts. */
DN_FN int dn_pool_counted(const dn_pool_fast *p, int d, int begin)
{
    int end = begin + p->win[d], last = p->count_pad ? p->in[d] + p->pad[d] : p->in[d];
    if (!p->count_pad && begin < 0)
        begin = 0;
    return (end < last ? end : last) - begin;
}

#endif
