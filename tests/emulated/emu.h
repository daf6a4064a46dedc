/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * CUDA's language as C++, included before a kernel's file: qualifiers, built-in variables, vectors, intrinsics as far as our kernels use
 * them. Code for the oldest capability is compiled, which has the fewest instructions in assembler. */
#ifndef EMULATED_EMU_H
#define EMULATED_EMU_H

#include "block.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define DN_EMULATED 1
#define __CUDA_ARCH__ 750
#define __global__ __attribute__((visibility("default")))
#define __device__
#define __forceinline__ inline __attribute__((always_inline))  /* one copy of a template for all modules would be one for all their types */
#define __noinline__ __attribute__((noinline))
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)

#define threadIdx emu_thread_index
#define blockIdx emu_block_index
#define blockDim emu_block_size
#define gridDim emu_grid_size

struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };

#define EMU_FN static inline __attribute__((unused))
EMU_FN uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return uint4{ x, y, z, w }; }
EMU_FN float2 make_float2(float x, float y) { return float2{ x, y }; }
EMU_FN float4 make_float4(float x, float y, float z, float w) { return float4{ x, y, z, w }; }

/* --- bits --- */
template <class To, class From> EMU_FN To emu_bits(From v)
{
    static_assert(sizeof(To) == sizeof(From), "one for the other");
    To r;
    memcpy(&r, &v, sizeof r);
    return r;
}
EMU_FN float __uint_as_float(unsigned v) { return emu_bits<float>(v); }
EMU_FN unsigned __float_as_uint(float v) { return emu_bits<unsigned>(v); }
EMU_FN float __int_as_float(int v) { return emu_bits<float>(v); }
EMU_FN double __longlong_as_double(long long v) { return emu_bits<double>(v); }
EMU_FN long long __double_as_longlong(double v) { return emu_bits<long long>(v); }

/* --- numbers --- */
EMU_FN float emu_half_to_float(unsigned short h)
{
    unsigned sign = (unsigned)(h & 0x8000) << 16, rest = (unsigned)(h & 0x7fff) << 13;
    float f = emu_bits<float>(rest) * 0x1p112f;  /* moves the exponent, of subnormals too */
    return emu_bits<float>(sign | (rest >= 0x7c00u << 13 ? rest | 0x7f800000u : emu_bits<unsigned>(f)));
}

/* Nearest even; NaN as the GPU writes it. */
EMU_FN unsigned short emu_float_to_half(float v)
{
    unsigned b = emu_bits<unsigned>(v), sign = b >> 16 & 0x8000;
    b &= 0x7fffffff;
    if (b > 0x7f800000)
        return 0x7fff;
    if (b >= 0x47800000)
        return (unsigned short)(sign | 0x7c00);
    if (b < 0x38800000)  /* subnormal: the sum has its last bit where theirs is */
        return (unsigned short)(sign | (emu_bits<unsigned>(emu_bits<float>(b) + 0.5f) - 0x3f000000));
    b += 0xfff + (b >> 13 & 1);
    return (unsigned short)(sign | ((b - 0x38000000) >> 13));
}

EMU_FN float __double2float_rz(double v)
{
    float f = (float)v;
    return fabs((double)f) > fabs(v) ? nextafterf(f, 0) : f;
}
EMU_FN long long __double2ll_rn(double v)
{
    return v >= 0x1p63 ? INT64_MAX : v <= -0x1p63 ? INT64_MIN : llrint(v);
}
EMU_FN float rsqrtf(float v) { return 1 / sqrtf(v); }
EMU_FN double rsqrt(double v) { return 1 / sqrt(v); }
#define __expf(v) expf(v)  /* the C library has that name too */
EMU_FN float __fdividef(float a, float b) { return a / b; }
template <class T> EMU_FN T min(T a, T b) { return a < b ? a : b; }
template <class T> EMU_FN T max(T a, T b) { return a > b ? a : b; }

/* --- memory --- */
template <class T> EMU_FN T __ldcs(const T *p) { return *p; }
template <class T> EMU_FN void __stcs(T *p, T v) { *p = v; }
template <class T> EMU_FN T atomicAdd(T *p, T v)
{
    T old = *p;
    *p += v;
    return old;
}

/* --- threads --- */
EMU_FN void __syncthreads() { emu_wait_block(); }
EMU_FN void __syncwarp(unsigned mask = ~0u) { emu_wait_warp(mask); }

template <class T> EMU_FN T emu_shuffle(unsigned mask, T v, unsigned lane)
{
    uint64_t b = 0;
    memcpy(&b, &v, sizeof v);
    emu_slot[emu_thread] = b;
    emu_wait_warp(mask);
    b = emu_slot[(emu_thread & ~31u) | lane];
    emu_wait_warp(mask);
    memcpy(&v, &b, sizeof v);
    return v;
}
template <class T> EMU_FN T __shfl_xor_sync(unsigned mask, T v, int bits) { return emu_shuffle(mask, v, (emu_thread ^ (unsigned)bits) & 31); }
template <class T> EMU_FN T __shfl_sync(unsigned mask, T v, int lane, int width = 32)
{
    return emu_shuffle(mask, v, (emu_thread & 31 & ~(unsigned)(width - 1)) | ((unsigned)lane & (unsigned)(width - 1)));
}
template <class T> EMU_FN T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32)
{
    unsigned lane = emu_thread & 31;
    return emu_shuffle(mask, v, (lane & (unsigned)(width - 1)) + by < (unsigned)width ? lane + by : lane);
}
static inline unsigned __ballot_sync(unsigned mask, int on)
{
    unsigned bits = on ? 1u << (emu_thread & 31) : 0;
    for (int o = 16; o; o /= 2)
        bits |= __shfl_xor_sync(mask, bits, o);
    return bits;
}

#endif
