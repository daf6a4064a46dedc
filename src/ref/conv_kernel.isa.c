/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Inner loops of convolution, compiled once per instruction set (DN_ISA). The tile kernel holds mr x nr sums in registers:
 * AVX-512 8 x 24 (24 of 32 registers), AVX2 4 x 12 (12 of 16), else 4 x 4 in pairs (8 of 16). */
#include "ref/conv.h"

#define DN_PASTE(a, b) a##b
#define DN_NAME(stem, isa) DN_PASTE(stem, isa)

#if defined(__AVX512F__)
enum { VL = 8, MR = 8, NV = 3 };
#elif defined(__AVX2__)
enum { VL = 4, MR = 4, NV = 3 };
#else
enum { VL = 2, MR = 4, NV = 2 };
#endif
enum { NR = VL * NV };

/* Aligned to nothing: a caller's tensor may lie anywhere. */
typedef double vec __attribute__((vector_size(VL * 8), aligned(1), may_alias));
typedef float half_vec __attribute__((vector_size(VL * 4), aligned(1), may_alias));
typedef double any_double __attribute__((aligned(1), may_alias));
typedef float any_float __attribute__((aligned(1), may_alias));

static void tile(int64_t len, const double *restrict a, const double *restrict b, double *restrict c, int64_t ldc)
{
    vec acc[MR][NV] = {{{0}}};
    for (int64_t l = 0; l < len; l++, a += MR, b += NR) {
        vec bv[NV];
#pragma GCC unroll 3
        for (int j = 0; j < NV; j++)
            bv[j] = *(const vec *)(b + j * VL);
#pragma GCC unroll 8
        for (int i = 0; i < MR; i++)
#pragma GCC unroll 3
            for (int j = 0; j < NV; j++)
                acc[i][j] += a[i] * bv[j];
    }
#pragma GCC unroll 8
    for (int i = 0; i < MR; i++)
#pragma GCC unroll 3
        for (int j = 0; j < NV; j++)
            *(vec *)(c + i * ldc + j * VL) += acc[i][j];
}

static void axpy(int64_t n, const double *restrict w, const double *restrict x, double *restrict acc, int64_t ld)
{
    int64_t j = 0;
    for (; j + VL <= n; j += VL) {
        vec xv = *(const vec *)(x + j);
#pragma GCC unroll 8
        for (int i = 0; i < MR; i++)
            *(vec *)(acc + i * ld + j) += w[i] * xv;
    }
    for (; j < n; j++)
        for (int i = 0; i < MR; i++)
            acc[i * ld + j] += w[i] * x[j];
}

static void load_f32(const void *base, const dn_conv_piece *piece, int count, int64_t add, int64_t stride, double *row)
{
    for (; count > 0; count--, piece++) {
        const any_float *in = (const any_float *)base + piece->off + add;
        double *out = row + piece->at;
        int64_t i = 0, n = piece->n;
        if (stride == 1)
            for (; i + VL <= n; i += VL)
                *(vec *)(out + i) = __builtin_convertvector(*(const half_vec *)(in + i), vec);
        for (; i < n; i++)
            out[i] = in[i * stride];
    }
}

static void load_f64(const void *base, const dn_conv_piece *piece, int count, int64_t add, int64_t stride, double *row)
{
    for (; count > 0; count--, piece++) {
        const any_double *in = (const any_double *)base + piece->off + add;
        double *out = row + piece->at;
        int64_t i = 0, n = piece->n;
        if (stride == 1)
            for (; i + VL <= n; i += VL)
                *(vec *)(out + i) = *(const vec *)(in + i);
        for (; i < n; i++)
            out[i] = in[i * stride];
    }
}

static void spread(int64_t n, const double *row, double *panel, int64_t panel_size)
{
    for (int64_t j = 0; j < n; j += NR, row += NR, panel += panel_size)
#pragma GCC unroll 3
        for (int v = 0; v < NV; v++)
            *(vec *)(panel + v * VL) = *(const vec *)(row + v * VL);
}

static double sum(int64_t n, const double *row)
{
    double s[8] = {0}, total = 0;
    int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (int i = 0; i < 8; i++)
            s[i] += row[j + i];
    for (int i = 0; j + i < n; i++)
        s[i] += row[j + i];
    for (int i = 0; i < 8; i++)
        total += s[i];
    return total;
}

#define DN_TEXT(x) #x
#define DN_STRING(x) DN_TEXT(x)
const dn_conv_kernel DN_NAME(dn_conv_kernel_, DN_ISA) = {
    .isa = DN_STRING(DN_ISA), .mr = MR, .nr = NR, .tile = tile, .axpy = axpy,
    .load_f32 = load_f32, .load_f64 = load_f64, .spread = spread, .sum = sum,
};
