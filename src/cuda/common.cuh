/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What every kernel may use: elements of any type as double or float, 16-byte vectors, sums over warps and blocks.
 *
 * Compiled by nvcc and by NVRTC, 11.8 and later: no host headers, nothing newer than C++14. Narrow floats are converted by instructions
 * that every architecture from 6.0 on has, or by hand, since cuda_fp16.h is not there under NVRTC without an include path. */
#ifndef DN_CUDA_COMMON_CUH
#define DN_CUDA_COMMON_CUH

#include "cuda/view.h"

typedef signed char dn_s8;
typedef unsigned char dn_u8;
typedef unsigned short dn_u16;
typedef unsigned int dn_u32;
typedef long long dn_s64;
typedef unsigned long long dn_u64;

#define DN_FN static __device__ __forceinline__
#define DN_INF __int_as_float(0x7f800000)
#define DN_INF_D __longlong_as_double(0x7ff0000000000000ll)
#define DN_NAN_D __longlong_as_double(0x7ff8000000000000ll)

/* dn_dtype */
enum { DN_T_F32 = 0, DN_T_F64 = 1, DN_T_F16 = 2, DN_T_I8 = 3, DN_T_I32 = 4, DN_T_U8 = 6, DN_T_BF16 = 9, DN_T_I64 = 10, DN_T_BOOL = 11,
       DN_T_F8E4M3 = 12, DN_T_F8E5M2 = 13, DN_T_F32_FAST_FP8 = 14 };

/* --- narrow floats --- */
DN_FN float dn_half_to_float(dn_u16 h)
{
#if defined(DN_EMULATED)  /* tests/emulated: by the C++ compiler */
    return emu_half_to_float(h);
#else
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
#endif
}

DN_FN dn_u16 dn_float_to_half(float f)
{
#if defined(DN_EMULATED)
    return emu_float_to_half(f);
#else
    dn_u16 h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
#endif
}

DN_FN float dn_bf16_to_float(dn_u16 h)
{
    return __uint_as_float((dn_u32)h << 16);
}

/* Nearest even; a NaN stays one (its low half alone might be lost to an infinity). */
DN_FN dn_u16 dn_float_to_bf16(float f)
{
    dn_u32 b = __float_as_uint(f);
    if ((b & 0x7fffffff) > 0x7f800000)
        return (dn_u16)(b >> 16 | 0x40);
    return (dn_u16)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}

/* The float nearest to v towards zero, its last bit set where bits were lost ("round to odd"): rounding that to a narrower type by two bits
 * or more gives what rounding v itself gives. */
DN_FN float dn_double_to_odd(double v)
{
    float f = __double2float_rz(v);
    if ((double)f != v && v == v)
        f = __uint_as_float(__float_as_uint(f) | 1);
    return f;
}

/* An 8-bit float of the given numbers of bits. fn: no infinities, one NaN (E4M3). */
DN_FN double dn_f8_widen(dn_u32 code, int ebits, int mbits, bool fn)
{
    dn_u32 top = (1u << ebits) - 1, e = code >> mbits & top, m = code & ((1u << mbits) - 1);
    int bias = (1 << (ebits - 1)) - 1;
    double v;
    if (fn ? (code & 0x7f) == 0x7f : e == top)
        v = !fn && m == 0 ? DN_INF_D : DN_NAN_D;
    else if (e == 0)
        v = ldexp((double)m, 1 - bias - mbits);
    else
        v = ldexp(1.0 + (double)m / (1 << mbits), (int)e - bias);
    return code >> 7 ? -v : v;
}

/* Nearest even. Overflow goes to infinity, or to NaN where there is none. */
DN_FN dn_u8 dn_f8_narrow(double v, int ebits, int mbits, bool fn)
{
    dn_u32 sign = __double_as_longlong(v) < 0 ? 0x80 : 0, top = (1u << ebits) - 1;
    dn_u32 inf = fn ? 0x7f : top << mbits;
    if (v != v)
        return (dn_u8)(sign | (fn ? inf : inf | 1u << (mbits - 1)));
    v = fabs(v);
    if (v == 0 || v == DN_INF_D)
        return (dn_u8)(sign | (v == 0 ? 0 : inf));
    int bias = (1 << (ebits - 1)) - 1, e = ilogb(v);
    int unit = (e < 1 - bias ? 1 - bias : e) - mbits;
    double m = rint(ldexp(v, -unit));
    if (m >= 4096)
        return (dn_u8)(sign | inf);
    dn_u32 code = (dn_u32)m + ((dn_u32)(unit + mbits + bias - 1) << mbits);
    return (dn_u8)(sign | (unit + mbits > (int)top || code >= inf ? inf : code));
}

/* --- one element of any type --- */
DN_FN dn_u64 dn_load_bytes(const void *p, int size)
{
    const dn_u8 *b = (const dn_u8 *)p;
    dn_u64 v = 0;
    for (int i = 0; i < size; i++)
        v |= (dn_u64)b[i] << (8 * i);
    return v;
}

DN_FN void dn_store_bytes(void *p, int size, dn_u64 v)
{
    dn_u8 *b = (dn_u8 *)p;
    for (int i = 0; i < size; i++)
        b[i] = (dn_u8)(v >> (8 * i));
}

DN_FN dn_u64 dn_load_raw(const dn_elements *v, dn_s64 i)
{
    const char *p = (const char *)v->ptr + i * v->size;
    if (v->bytes)
        return dn_load_bytes(p, v->size);
    switch (v->size) {
    case 1: return *(const dn_u8 *)p;
    case 2: return *(const dn_u16 *)p;
    case 4: return *(const dn_u32 *)p;
    default: return *(const dn_u64 *)p;
    }
}

DN_FN void dn_store_raw(const dn_elements *v, dn_s64 i, dn_u64 bits)
{
    char *p = (char *)v->ptr + i * v->size;
    if (v->bytes) {
        dn_store_bytes(p, v->size, bits);
        return;
    }
    switch (v->size) {
    case 1: *(dn_u8 *)p = (dn_u8)bits; break;
    case 2: *(dn_u16 *)p = (dn_u16)bits; break;
    case 4: *(dn_u32 *)p = (dn_u32)bits; break;
    default: *(dn_u64 *)p = bits; break;
    }
}

/* Element i (in scalars from the pointer) as a double: exact but for 64-bit integers. */
DN_FN double dn_load(const dn_elements *v, dn_s64 i)
{
    dn_u64 b = dn_load_raw(v, i);
    switch (v->type) {
    case DN_T_F64: return __longlong_as_double((dn_s64)b);
    case DN_T_F16: return dn_half_to_float((dn_u16)b);
    case DN_T_BF16: return dn_bf16_to_float((dn_u16)b);
    case DN_T_I8: return (dn_s8)b;
    case DN_T_U8: return (dn_u8)b;
    case DN_T_I32: return (int)b;
    case DN_T_I64: return (double)(dn_s64)b;
    case DN_T_BOOL: return (dn_u8)b != 0;
    case DN_T_F8E4M3: return dn_f8_widen((dn_u32)b, 4, 3, true);
    case DN_T_F8E5M2: return dn_f8_widen((dn_u32)b, 5, 2, false);
    default: return __uint_as_float((dn_u32)b);
    }
}

DN_FN double dn_clamp_round(double v, double lo, double hi)
{
    if (v != v)
        return 0;
    v = rint(v);
    return v < lo ? lo : v > hi ? hi : v;
}

/* Rounds once, to nearest even; integers saturate and take 0 for NaN. */
DN_FN void dn_store(const dn_elements *v, dn_s64 i, double r)
{
    dn_u64 b;
    switch (v->type) {
    case DN_T_F64: b = (dn_u64)__double_as_longlong(r); break;
    case DN_T_F16: b = dn_float_to_half(dn_double_to_odd(r)); break;
    case DN_T_BF16: b = dn_float_to_bf16(dn_double_to_odd(r)); break;
    case DN_T_I8: b = (dn_u8)(dn_s8)dn_clamp_round(r, -128, 127); break;
    case DN_T_U8: b = (dn_u8)dn_clamp_round(r, 0, 255); break;
    case DN_T_I32: b = (dn_u32)(int)dn_clamp_round(r, -2147483648.0, 2147483647.0); break;
    case DN_T_I64: b = r != r ? 0 : (dn_u64)__double2ll_rn(r); break;  /* the conversion saturates */
    case DN_T_BOOL: b = r != 0; break;
    case DN_T_F8E4M3: b = dn_f8_narrow(r, 4, 3, true); break;
    case DN_T_F8E5M2: b = dn_f8_narrow(r, 5, 2, false); break;
    default: b = __float_as_uint((float)r); break;
    }
    dn_store_raw(v, i, b);
}

/* y = alpha * r + beta * y; y is not read where beta is 0 (it may hold NaN). */
DN_FN void dn_store_blend(const dn_elements *v, dn_s64 i, double r, double alpha, double beta)
{
    r *= alpha;
    if (beta != 0)
        r += beta * dn_load(v, i);
    dn_store(v, i, r);
}

/* Offset of an index in scalars. */
DN_FN dn_s64 dn_offset(const dn_view *v, const dn_s64 *index)
{
    dn_s64 at = 0;
#pragma unroll
    for (int d = 0; d < DN_VIEW_RANK; d++)
        at += d == v->vect_dim ? index[d] / v->vect * v->stride[d] + index[d] % v->vect : index[d] * v->stride[d];
    return at;
}

/* The index of element number i of a tensor with these dims, the last fastest. */
DN_FN void dn_index(dn_s64 i, const dn_s64 *dims, dn_s64 *index)
{
#pragma unroll
    for (int d = DN_VIEW_RANK - 1; d >= 0; d--) {
        index[d] = dims[d] > 1 ? i % dims[d] : 0;
        i = dims[d] > 1 ? i / dims[d] : i;
    }
}

/* Offsets of element i of a walk in its first T tensors. */
template <int T> DN_FN void dn_walk_at(const dn_walk *w, dn_s64 i, dn_s64 *at)
{
    for (int t = 0; t < T; t++)
        at[t] = 0;
    for (int d = w->rank - 1; d >= 0; d--) {
        /* Division by a 64-bit number is slow where a 32-bit one will do. */
        dn_s64 q = d == 0 ? 0 : (i | w->dims[d]) >> 32 ? i / w->dims[d] : (dn_u32)i / (dn_u32)w->dims[d], k = i - q * w->dims[d];
#pragma unroll
        for (int t = 0; t < T; t++)
            at[t] += k * w->step[t][d];
        i = q;
    }
}

/* a / b for a >= 0, b > 0: division by a 64-bit number is slow where a 32-bit one will do. */
DN_FN dn_s64 dn_quotient(dn_s64 a, dn_s64 b)
{
    return (a | b) >> 32 ? a / b : (dn_s64)((dn_u32)a / (dn_u32)b);
}

#define DN_THREAD ((dn_s64)blockIdx.x * blockDim.x + threadIdx.x)
#define DN_THREADS ((dn_s64)gridDim.x * blockDim.x)

#endif
