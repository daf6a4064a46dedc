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

/* --- maxima of words: one float, or two narrow ones, which stay as they are --- */
enum { DN_POOL_LEAST_WORD = DN_T == DN_T_F32 ? 0xff800000 : DN_T == DN_T_F16 ? 0xfc00fc00 : 0xff80ff80,  /* -infinity */
       DN_POOL_NAN_WORD = DN_T == DN_T_F32 ? 0x7fffffff : 0x7fff7fff };

/* NaN: where it goes through it stays, else a number is taken rather than it. */
DN_FN float dn_pool_max_nan(float m, float v)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(m) : "f"(v));
    return m;
#else
    return v > m || v != v ? v : m;
#endif
}

template <int NANS> DN_FN float dn_pool_max_of(float a, float b)
{
    return NANS ? dn_pool_max_nan(a, b) : fmaxf(a, b);
}

template <int NANS> DN_FN dn_u32 dn_pool_max_word(dn_u32 a, dn_u32 b)
{
#if defined(T_F32)
    return __float_as_uint(dn_pool_max_of<NANS>(__uint_as_float(a), __uint_as_float(b)));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    dn_u32 m;
#if defined(T_F16)
    if (NANS)
        asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
    else
        asm("max.f16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
#else
    if (NANS)
        asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
    else
        asm("max.bf16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
#endif
    return m;
#else
    float lo = dn_pool_max_of<NANS>(dn_t_get((dn_t)a), dn_t_get((dn_t)b)), hi = dn_pool_max_of<NANS>(dn_t_get((dn_t)(a >> 16)), dn_t_get((dn_t)(b >> 16)));
    dn_t l, h;
    dn_t_put(&l, lo);
    dn_t_put(&h, hi);
    return l | (dn_u32)h << 16;
#endif
}

/* 1 bits where the values of two words differ or cannot be compared. */
DN_FN dn_u32 dn_pool_differ(dn_u32 a, dn_u32 b)
{
#if defined(T_F32)
    return __uint_as_float(a) == __uint_as_float(b) ? 0u : ~0u;
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900 || (defined(T_F16) && __CUDA_ARCH__ >= 800))
    dn_u32 m;
#if defined(T_F16)
    asm("set.neu.u32.f16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
#else
    asm("set.neu.u32.bf16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
#endif
    return m;
#else
    return (dn_t_get((dn_t)a) == dn_t_get((dn_t)b) ? 0u : 0xffffu)
         | (dn_t_get((dn_t)(a >> 16)) == dn_t_get((dn_t)(b >> 16)) ? 0u : 0xffff0000u);
#endif
}

/* Sums of two words, rounded once. */
DN_FN dn_u32 dn_pool_sum_word(dn_u32 a, dn_u32 b)
{
#if defined(T_F32)
    return __float_as_uint(__uint_as_float(a) + __uint_as_float(b));
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900 || (defined(T_F16) && __CUDA_ARCH__ >= 800))
    dn_u32 m;
#if defined(T_F16)
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
#else
    asm("add.rn.bf16x2 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b));
#endif
    return m;
#else
    dn_t lo, hi;
    dn_t_put(&lo, dn_t_get((dn_t)a) + dn_t_get((dn_t)b));
    dn_t_put(&hi, dn_t_get((dn_t)(a >> 16)) + dn_t_get((dn_t)(b >> 16)));
    return lo | (dn_u32)hi << 16;
#endif
}

/* Of four, as floats. */
DN_FN dn_u32 dn_pool_sum_four(dn_u32 a, dn_u32 b, dn_u32 c, dn_u32 d)
{
#if defined(T_F32)
    return __float_as_uint((__uint_as_float(a) + __uint_as_float(b)) + (__uint_as_float(c) + __uint_as_float(d)));
#else
    float lo = (dn_t_get((dn_t)a) + dn_t_get((dn_t)b)) + (dn_t_get((dn_t)c) + dn_t_get((dn_t)d));
    float hi = (dn_t_get((dn_t)(a >> 16)) + dn_t_get((dn_t)(b >> 16))) + (dn_t_get((dn_t)(c >> 16)) + dn_t_get((dn_t)(d >> 16)));
#if defined(T_F16)
    return dn_pack_halves(lo, hi);
#else
    return dn_pack_bf16s(lo, hi);
#endif
#endif
}

/* A number of a tap in each value of a word. */
#define DN_TAP(k) (DN_T == DN_T_F32 ? (dn_u32)(k) : (dn_u32)(k) * 0x10001u)

/* The maxima m so far, and the numbers of their taps, meet the values f of tap k. m begins as NaN where NaN does not go through (so the
 * first number takes its place), else as -infinity with the number of the first tap. */
template <int NANS> DN_FN void dn_pool_meet(dn_u32 *m, dn_u32 *tap, dn_u32 f, int k)
{
    dn_u32 top = dn_pool_max_word<NANS>(*m, f), take = dn_pool_differ(top, *m);
    if (NANS)
        take &= ~dn_pool_differ(*m, *m);
    *m = top;
    *tap = (*tap & ~take) | (DN_TAP(k) & take);
}

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
