/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Inner loops of convolutions with few output channels per group, compiled once per instruction set (DN_ISA). */
#include "ref/conv_plane.h"

#define DN_PASTE(a, b) a##b
#define DN_NAME(stem, isa) DN_PASTE(stem, isa)
#define DN_INLINE static inline __attribute__((always_inline))

/* Vectors of a row that are summed at a time: rows * NV sums in registers */
#if defined(__AVX512F__)
enum { VL = 8, NV = 4 };
#elif defined(__AVX2__)
enum { VL = 4, NV = 2 };
#else
enum { VL = 2, NV = 2 };
#endif
enum { LANES = 8 };

typedef double vec __attribute__((vector_size(VL * 8), aligned(8), may_alias));

DN_INLINE void gather_block(const int rows, const int nv, int64_t taps, const int64_t *off, const double *w, const double *in, double *out,
                            int64_t ld)
{
    vec acc[DN_PLANE_ROWS][NV];
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int v = 0; v < nv; v++)
            acc[i][v] = *(const vec *)(out + i * ld + v * VL);
    for (int64_t t = 0; t < taps; t++) {
        const double *x = in + off[t];
#pragma GCC unroll 4
        for (int v = 0; v < nv; v++) {
            vec xv = *(const vec *)(x + v * VL);
#pragma GCC unroll 4
            for (int i = 0; i < rows; i++)
                acc[i][v] += w[i * taps + t] * xv;
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int v = 0; v < nv; v++)
            *(vec *)(out + i * ld + v * VL) = acc[i][v];
}

DN_INLINE void gather_rows(const int rows, int64_t n, int64_t taps, const int64_t *off, const double *w, const double *in, double *out,
                           int64_t ld)
{
    int64_t j = 0;
    for (; j + NV * VL <= n; j += NV * VL)
        gather_block(rows, NV, taps, off, w, in + j, out + j, ld);
    for (; j < n; j += VL)
        gather_block(rows, 1, taps, off, w, in + j, out + j, ld);
}

static void gather(int64_t n, int rows, int64_t taps, const int64_t *off, const double *w, const double *in, double *out, int64_t ld)
{
    switch (rows) {
    case 1: gather_rows(1, n, taps, off, w, in, out, ld); break;
    case 2: gather_rows(2, n, taps, off, w, in, out, ld); break;
    case 3: gather_rows(3, n, taps, off, w, in, out, ld); break;
    default: gather_rows(4, n, taps, off, w, in, out, ld); break;
    }
}

static void dot(int64_t n, int64_t taps, const int64_t *off, const double *a, const double *in, double *sum)
{
    for (int64_t t = 0; t < taps; t++, sum += LANES) {
        const double *x = in + off[t];
        vec acc[LANES / VL];
        int64_t j = 0;
        for (int v = 0; v < LANES / VL; v++)
            acc[v] = *(const vec *)(sum + v * VL);
        for (; j + LANES <= n; j += LANES)
            for (int v = 0; v < LANES / VL; v++)
                acc[v] += *(const vec *)(a + j + v * VL) * *(const vec *)(x + j + v * VL);
        for (int v = 0; v < LANES / VL; v++)
            *(vec *)(sum + v * VL) = acc[v];
        for (int i = 0; j < n; i++, j++)
            sum[i] += a[j] * x[j];
    }
}

#define DN_TEXT(x) #x
#define DN_STRING(x) DN_TEXT(x)
const dn_plane_kernel DN_NAME(dn_plane_kernel_, DN_ISA) = {.isa = DN_STRING(DN_ISA), .gather = gather, .dot = dot};
