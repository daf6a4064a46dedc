/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Inner loops of Winograd convolution, compiled once per instruction set (DN_ISA): the transforms, a vector of tiles or channels at
 * a time, and the product of panels. Panel widths are those of conv_kernel.isa.c. */
#include "ref/winograd.h"

#define DN_PASTE(a, b) a##b
#define DN_NAME(stem, isa) DN_PASTE(stem, isa)
#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
enum { VL = 8, MR = 8, NV = 3 };
#elif defined(__AVX2__)
enum { VL = 4, MR = 4, NV = 3 };
#else
enum { VL = 2, MR = 4, NV = 2 };
#endif
enum { NR = VL * NV, SIZE = DN_WINOGRAD_SIZE_MAX };

typedef double vec __attribute__((vector_size(VL * 8), aligned(1), may_alias));

/* --- one dimension --- */

typedef void (*line)(const vec *x, vec *y, int taps);

INLINE void data4(const vec *x, vec *y, int taps)
{
    (void)taps;
    y[0] = x[0] - x[2];
    y[1] = x[1] + x[2];
    y[2] = x[2] - x[1];
    y[3] = x[1] - x[3];
}

INLINE void data6(const vec *x, vec *y, int taps)
{
    (void)taps;
    vec p = x[4] - 4 * x[2], q = x[3] - 4 * x[1], s = x[4] - x[2], t = 2 * (x[3] - x[1]);
    y[0] = 4 * x[0] - 5 * x[2] + x[4];
    y[1] = p + q;
    y[2] = p - q;
    y[3] = s + t;
    y[4] = s - t;
    y[5] = 4 * x[1] - 5 * x[3] + x[5];
}

INLINE void filter4(const vec *x, vec *y, int taps)
{
    (void)taps;
    vec s = x[0] + x[2];
    y[0] = x[0];
    y[1] = 0.5 * (s + x[1]);
    y[2] = 0.5 * (s - x[1]);
    y[3] = x[2];
}

/* 24 times the values of the filter's polynomial, each over the product of its point's distances from the others. */
INLINE void filter6(const vec *x, vec *y, int taps)
{
    vec even = x[0], odd = x[1], even2 = x[0], odd2 = 2 * x[1];
    if (taps > 2) {
        even += x[2];
        even2 += 4 * x[2];
    }
    if (taps > 3) {
        odd += x[3];
        odd2 += 8 * x[3];
    }
    if (taps > 4) {
        even += x[4];
        even2 += 16 * x[4];
    }
    y[0] = 6 * x[0];
    y[1] = -4 * (even + odd);
    y[2] = -4 * (even - odd);
    y[3] = even2 + odd2;
    y[4] = even2 - odd2;
    y[5] = 24 * x[taps - 1];
}

INLINE void result4(const vec *x, vec *y, int count)
{
    (void)count;
    y[0] = x[0] + x[1] + x[2];
    y[1] = x[1] - x[2] - x[3];
}

INLINE void result6(const vec *x, vec *y, int count)
{
    vec s = x[1] + x[2], d = x[1] - x[2], s2 = x[3] + x[4], d2 = x[3] - x[4];
    y[0] = x[0] + s + s2;
    y[1] = d + 2 * d2;
    if (count > 2)
        y[2] = s + 4 * s2;
    if (count > 3)
        y[3] = d + 8 * d2;
    if (count > 4)
        y[4] = s + 16 * s2;
    y[count - 1] += x[5];
}

/* --- two dimensions --- */

/* Columns first, then rows; from n x n to m x m. taps: what the line is told. */
INLINE void square(line f, int n, int m, int taps, double scale, int64_t lanes, const double *in, int64_t in_ld, double *out,
                   int64_t out_ld)
{
    for (int64_t l = 0; l < lanes; l += VL, in += VL, out += VL) {
        vec half[SIZE][SIZE], x[SIZE], y[SIZE];
#pragma GCC unroll 6
        for (int j = 0; j < n; j++) {
#pragma GCC unroll 6
            for (int i = 0; i < n; i++)
                x[i] = *(const vec *)(in + (i * n + j) * in_ld);
            f(x, y, taps);
#pragma GCC unroll 6
            for (int i = 0; i < m; i++)
                half[i][j] = y[i];
        }
#pragma GCC unroll 6
        for (int i = 0; i < m; i++) {
            f(half[i], y, taps);
#pragma GCC unroll 6
            for (int j = 0; j < m; j++) {
                if (scale != 1)
                    y[j] *= scale;
                *(vec *)(out + (i * m + j) * out_ld) = y[j];
            }
        }
    }
}

/* 24 * 24, from both sides of G. s * SCALE is exact for every s that is 576 times an integer: the constant is off by 2^-54. */
#define SCALE (1.0 / 576)

static void data_4(int64_t lanes, const double *in, int64_t in_ld, double *out, int64_t out_ld)
{
    square(data4, 4, 4, 0, 1, lanes, in, in_ld, out, out_ld);
}

static void data_6(int64_t lanes, const double *in, int64_t in_ld, double *out, int64_t out_ld)
{
    square(data6, 6, 6, 0, 1, lanes, in, in_ld, out, out_ld);
}

static void filter_4_3(int64_t lanes, const double *in, int64_t in_ld, double *out, int64_t out_ld)
{
    square(filter4, 3, 4, 3, 1, lanes, in, in_ld, out, out_ld);
}

static void filter_6_2(int64_t lanes, const double *in, int64_t in_ld, double *out, int64_t out_ld)
{
    square(filter6, 2, 6, 2, 1, lanes, in, in_ld, out, out_ld);
}

static void filter_6_3(int64_t lanes, const double *in, int64_t in_ld, double *out, int64_t out_ld)
{
    square(filter6, 3, 6, 3, 1, lanes, in, in_ld, out, out_ld);
}

static void filter_6_4(int64_t lanes, const double *in, int64_t in_ld, double *out, int64_t out_ld)
{
    square(filter6, 4, 6, 4, 1, lanes, in, in_ld, out, out_ld);
}

static void filter_6_5(int64_t lanes, const double *in, int64_t in_ld, double *out, int64_t out_ld)
{
    square(filter6, 5, 6, 5, 1, lanes, in, in_ld, out, out_ld);
}

static void result_4_2(int64_t lanes, const double *in, int64_t in_ld, double *out, int64_t out_ld)
{
    square(result4, 4, 2, 2, 1, lanes, in, in_ld, out, out_ld);
}

static void result_6_2(int64_t lanes, const double *in, int64_t in_ld, double *out, int64_t out_ld)
{
    square(result6, 6, 2, 2, SCALE, lanes, in, in_ld, out, out_ld);
}

static void result_6_3(int64_t lanes, const double *in, int64_t in_ld, double *out, int64_t out_ld)
{
    square(result6, 6, 3, 3, SCALE, lanes, in, in_ld, out, out_ld);
}

static void result_6_4(int64_t lanes, const double *in, int64_t in_ld, double *out, int64_t out_ld)
{
    square(result6, 6, 4, 4, SCALE, lanes, in, in_ld, out, out_ld);
}

static void result_6_5(int64_t lanes, const double *in, int64_t in_ld, double *out, int64_t out_ld)
{
    square(result6, 6, 5, 5, SCALE, lanes, in, in_ld, out, out_ld);
}

/* --- product of panels --- */

/* The first `vectors` of each row of b: a panel that tiles do not fill costs only what they take. */
INLINE void multiply_vectors(int vectors, int64_t len, const double *a, const double *b, double *c, bool add)
{
    vec acc[MR][NV] = {{{0}}};
    for (int64_t l = 0; l < len; l++, a += MR, b += NR) {
        vec bv[NV];
#pragma GCC unroll 3
        for (int j = 0; j < vectors; j++)
            bv[j] = *(const vec *)(b + j * VL);
#pragma GCC unroll 8
        for (int i = 0; i < MR; i++)
#pragma GCC unroll 3
            for (int j = 0; j < vectors; j++)
                acc[i][j] += a[i] * bv[j];
    }
#pragma GCC unroll 8
    for (int i = 0; i < MR; i++)
#pragma GCC unroll 3
        for (int j = 0; j < vectors; j++) {
            vec *to = (vec *)(c + i * NR + j * VL);
            if (add)
                acc[i][j] += *to;
            *to = acc[i][j];
        }
}

static void multiply(int64_t len, const double *restrict a, const double *restrict b, double *restrict c, int64_t cols, bool add)
{
    if (cols <= VL)
        multiply_vectors(1, len, a, b, c, add);
    else if (NV > 2 && cols <= 2 * VL)
        multiply_vectors(2, len, a, b, c, add);
    else
        multiply_vectors(NV, len, a, b, c, add);
}

/* --- tiles and rows of pixels --- */

INLINE void split_count(int64_t n, const double *row, int step, int count, double *out, int64_t ld, int64_t apart)
{
    for (int64_t t = 0; t < n; t++, row += step, out += apart)
#pragma GCC unroll 6
        for (int j = 0; j < count; j++)
            out[j * ld] = row[j];
}

static void split(int64_t n, const double *restrict row, int step, int count, double *restrict out, int64_t ld, int64_t apart)
{
    if (count == 6)
        split_count(n, row, step, 6, out, ld, apart);
    else if (count == 4)
        split_count(n, row, step, 4, out, ld, apart);
    else
        split_count(n, row, step, count, out, ld, apart);
}

static void join(int64_t n, const double *restrict in, int64_t ld, int step, double *restrict row)
{
    if (step == 4)
        for (int64_t t = 0; t < n; t++, row += 4, in++)
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++)
                row[j] = in[j * ld];
    else
        for (int64_t t = 0; t < n; t++, row += step, in++)
            for (int j = 0; j < step; j++)
                row[j] = in[j * ld];
}

const dn_winograd_kernel DN_NAME(dn_winograd_kernel_, DN_ISA) = {
    .data = {[4] = data_4, [6] = data_6},
    .filter = {[4] = {[3] = filter_4_3}, [6] = {[2] = filter_6_2, [3] = filter_6_3, [4] = filter_6_4, [5] = filter_6_5}},
    .result = {[4] = {[2] = result_4_2}, [6] = {[2] = result_6_2, [3] = result_6_3, [4] = result_6_4, [5] = result_6_5}},
    .multiply = multiply, .split = split, .join = join,
};
