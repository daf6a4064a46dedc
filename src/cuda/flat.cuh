/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Vectors of f32, f16 and bf16 as floats, and where the units of a flat walk lie. T: the type (DN_T_...), N: elements of a unit. */
#ifndef DN_CUDA_FLAT_CUH
#define DN_CUDA_FLAT_CUH

#include "cuda/common.cuh"
#include "cuda/flat_walk.h"

template <int BYTES> struct dn_raw;
template <> struct dn_raw<8> { typedef uint2 vec; };
template <> struct dn_raw<16> { typedef uint4 vec; };

#define DN_VEC_SIZE(T) ((T) == DN_T_F32 ? 4 : 2)
#define DN_VEC(T, N) typename dn_raw<DN_VEC_SIZE(T) * (N)>::vec

/* at: in elements, a multiple of the unit. Streams: what is read and written once need not stay in the caches. */
template <int T, int N> DN_FN DN_VEC(T, N) dn_vec_load(const void *base, dn_s64 at)
{
    return __ldcs((const DN_VEC(T, N) *)((const char *)base + at * DN_VEC_SIZE(T)));
}

template <int T, int N> DN_FN void dn_vec_store(void *base, dn_s64 at, DN_VEC(T, N) v)
{
    __stcs((DN_VEC(T, N) *)((char *)base + at * DN_VEC_SIZE(T)), v);
}

/* Two values in one word, lo in its low half. */
DN_FN dn_u32 dn_pack_halves(float lo, float hi)
{
#if __CUDA_ARCH__ >= 800
    dn_u32 w;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(hi), "f"(lo));
    return w;
#else
    return dn_float_to_half(lo) | (dn_u32)dn_float_to_half(hi) << 16;
#endif
}

DN_FN dn_u32 dn_pack_bf16s(float lo, float hi)
{
#if __CUDA_ARCH__ >= 800
    dn_u32 w;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(hi), "f"(lo));
    return w;
#else
    return dn_float_to_bf16(lo) | (dn_u32)dn_float_to_bf16(hi) << 16;
#endif
}

template <int T, int N> DN_FN void dn_unpack(DN_VEC(T, N) v, float *f)
{
    const dn_u32 *w = (const dn_u32 *)&v;
#pragma unroll
    for (int i = 0; i < N; i++)
        f[i] = T == DN_T_F32 ? __uint_as_float(w[i % (int)(sizeof v / 4)])
             : T == DN_T_F16 ? dn_half_to_float((dn_u16)(w[i / 2 % (int)(sizeof v / 4)] >> (i % 2 * 16)))
             : i % 2 ? __uint_as_float(w[i / 2 % (int)(sizeof v / 4)] & 0xffff0000u)
                     : __uint_as_float(w[i / 2 % (int)(sizeof v / 4)] << 16);
}

template <int T, int N> DN_FN DN_VEC(T, N) dn_pack(const float *f)
{
    DN_VEC(T, N) v;
    dn_u32 *w = (dn_u32 *)&v;
#pragma unroll
    for (int i = 0; i < (int)(sizeof v / 4); i++)
        w[i] = T == DN_T_F32 ? __float_as_uint(f[i])
             : T == DN_T_F16 ? dn_pack_halves(f[2 * i % N], f[(2 * i + 1) % N])
                             : dn_pack_bf16s(f[2 * i % N], f[(2 * i + 1) % N]);
    return v;
}

/* One element, for tails. */
template <int T> DN_FN float dn_one_load(const void *base, dn_s64 at)
{
    if (T == DN_T_F32)
        return ((const float *)base)[at];
    dn_u16 h = ((const dn_u16 *)base)[at];
    return T == DN_T_F16 ? dn_half_to_float(h) : dn_bf16_to_float(h);
}

template <int T> DN_FN void dn_one_store(void *base, dn_s64 at, float v)
{
    if (T == DN_T_F32)
        ((float *)base)[at] = v;
    else
        ((dn_u16 *)base)[at] = T == DN_T_F16 ? dn_float_to_half(v) : dn_float_to_bf16(v);
}

DN_FN dn_u32 dn_div_u(dn_div d, dn_u32 n)
{
    return (dn_u32)((dn_u64)n * d.mul >> d.shift);
}

/* Where a unit lies in the first TENSORS tensors, in elements. */
template <int TENSORS, int N> DN_FN void dn_flat_at(const dn_flat *f, dn_u32 unit, dn_s64 *at)
{
    if (f->rank == 1) {
#pragma unroll
        for (int t = 0; t < TENSORS; t++)
            at[t] = (dn_s64)unit * N;
        return;
    }
    dn_u32 row = dn_div_u(f->row, unit), slab = dn_div_u(f->slab, row);
#pragma unroll
    for (int t = 0; t < TENSORS; t++)
        at[t] = (dn_s64)(unit - row * f->row.by) * N + (row - slab * f->slab.by) * f->step[t][0] + slab * f->step[t][1];
}

/* The first unit of a thread; the others follow at steps of DN_FLAT_THREADS, DN_FLAT_ELEMENTS / N in all. */
#define DN_FLAT_FIRST(N) (blockIdx.x * (dn_u32)(DN_FLAT_THREADS * (DN_FLAT_ELEMENTS / (N))) + threadIdx.x)

/* The value that element i of the tensor meets. */
template <int T> DN_FN float dn_repeat_one(const void *base, const dn_repeat *r, dn_u32 i)
{
    dn_u32 q = dn_div_u(r->inner, i);
    return dn_one_load<T>(base, q - dn_div_u(r->chans, q) * r->chans.by);
}

/* The values that a unit meets. */
template <int T, int N, int KIND> DN_FN void dn_repeat_load(const void *base, const dn_repeat *r, dn_u32 unit, float *f)
{
    dn_u32 i = unit * N, q = dn_div_u(r->inner, i), c = q - dn_div_u(r->chans, q) * r->chans.by, at = i - q * r->inner.by;
    if (KIND == DN_REPEAT_LINE) {
        dn_unpack<T, N>(*(const DN_VEC(T, N) *)((const char *)base + (dn_s64)c * DN_VEC_SIZE(T)), f);
        return;
    }
    float a = dn_one_load<T>(base, c), b = a;
    if (KIND == DN_REPEAT_TWO && at + N > r->inner.by)
        b = dn_one_load<T>(base, c + 1 == r->chans.by ? 0 : c + 1);
#pragma unroll
    for (int k = 0; k < N; k++) {
        f[k] = KIND == DN_REPEAT_TWO && at + k >= r->inner.by ? b : a;
        if (KIND == DN_REPEAT_ANY && ++at == r->inner.by) {
            at = 0;
            c = c + 1 == r->chans.by ? 0 : c + 1;
            a = dn_one_load<T>(base, c);
        }
    }
}

#endif
