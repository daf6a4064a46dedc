/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Inner loops of batch normalisation, compiled once per instruction set (DN_ISA) without fused multiply-add. Each is written once
 * and inlined twice, so that the compiler sees whether a parameter goes along with the column. */
#include "ref/bn_kernel.h"

#define DN_PASTE(a, b) a##b
#define DN_NAME(stem, isa) DN_PASTE(stem, isa)
#define INLINE static inline __attribute__((always_inline))

/* Aligned to nothing: a caller's tensor may lie anywhere. */
typedef float any_float __attribute__((aligned(1), may_alias));

static void widen(int64_t n, const void *x, double *restrict v)
{
    const any_float *f = x;
    for (int64_t i = 0; i < n; i++)
        v[i] = f[i];
}

static void narrow(int64_t n, const double *restrict v, double alpha, void *y)
{
    any_float *f = y;
    for (int64_t i = 0; i < n; i++)
        f[i] = (float)(alpha * v[i]);
}

static void sum_columns(int64_t rows, int64_t n, const double *restrict v, double *restrict s)
{
    for (int64_t r = 0; r < rows; r++, v += n)
        for (int64_t i = 0; i < n; i++)
            s[i] += v[i];
}

static void sum(const dn_bn_tile *t, const double *v, double *s)
{
    if (t->across) {
        sum_columns(t->rows, t->n, v, s);
        return;
    }
    double one = *s;
    for (int64_t i = 0; i < t->rows * t->n; i++)
        one += v[i];
    *s = one;
}

INLINE void center_as(bool across, int64_t rows, int64_t n, double *restrict v, const double *restrict mean)
{
    for (int64_t r = 0; r < rows; r++, v += n)
        for (int64_t i = 0; i < n; i++)
            v[i] -= mean[across ? i : 0];
}

static void center(const dn_bn_tile *t, double *v, const double *mean)
{
    if (t->across)
        center_as(true, t->rows, t->n, v, mean);
    else
        center_as(false, t->rows, t->n, v, mean);
}

static void multiply(const dn_bn_tile *t, double *restrict v, const double *restrict w)
{
    for (int64_t i = 0; i < t->rows * t->n; i++)
        v[i] *= w[i];
}

INLINE void norm_as(bool across, int64_t rows, int64_t n, double *restrict v, const double *restrict inv,
                    const double *restrict scale, const double *restrict bias)
{
    for (int64_t r = 0; r < rows; r++, v += n)
        for (int64_t i = 0; i < n; i++) {
            int64_t k = across ? i : 0;
            v[i] = v[i] * inv[k] * scale[k] + bias[k];
        }
}

static void norm(const dn_bn_tile *t, double *v, const double *inv, const double *scale, const double *bias)
{
    if (t->across)
        norm_as(true, t->rows, t->n, v, inv, scale, bias);
    else
        norm_as(false, t->rows, t->n, v, inv, scale, bias);
}

INLINE void dx_as(bool across, int64_t rows, int64_t n, double *restrict v, const double *restrict x, const double *restrict scale,
                  const double *restrict inv, const double *restrict s, const double *restrict dot)
{
    for (int64_t r = 0; r < rows; r++, v += n, x += n)
        for (int64_t i = 0; i < n; i++) {
            int64_t k = across ? i : 0;
            v[i] = scale[k] * inv[k] * (v[i] - s[k] - x[i] * dot[k]);
        }
}

static void dx(const dn_bn_tile *t, double *v, const double *x, const double *scale, const double *inv, const double *s,
               const double *dot)
{
    if (t->across)
        dx_as(true, t->rows, t->n, v, x, scale, inv, s, dot);
    else
        dx_as(false, t->rows, t->n, v, x, scale, inv, s, dot);
}

const dn_bn_kernel DN_NAME(dn_bn_kernel_, DN_ISA) = {
    .widen = widen, .narrow = narrow, .sum = sum, .center = center, .multiply = multiply, .norm = norm, .dx = dx,
};
