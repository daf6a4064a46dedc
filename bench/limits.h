/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * How far a result may be from the truth; the one place where the numbers are. docs/numerics.md explains them. */
#ifndef DN_BENCH_LIMITS_H
#define DN_BENCH_LIMITS_H

#include "core/dtype.h"

#include <math.h>

/* A part of the sum of |products|, for sums of up to 1000 terms; grows with the root of the length. */
static inline double bench_limit(dn_dtype type, double length)
{
    double bound;
    switch (type) {
    case DN_F64: bound = 1e-13; break;
    case DN_F32: bound = 1e-5; break;
    case DN_F16: bound = 2e-3; break;
    case DN_BF16: bound = 1e-2; break;
    default: bound = 1e-5; break;  /* integers made from f32 sums; then rounded */
    }
    return bound * fmax(1, sqrt(length / 1000));
}

/* f32 data on tensor cores: both factors are rounded to 10 bits. */
#define BENCH_LIMIT_TF32 1e-3

/* One rounding of v to the type: half of the last place, and the smallest step near 0. */
static inline double bench_rounding(dn_dtype type, double v)
{
    switch (type) {
    case DN_F64: return fabs(v) * 0x1p-53;
    case DN_F32: return fabs(v) * 0x1p-24 + 0x1p-149;
    case DN_F16: return fabs(v) * 0x1p-11 + 0x1p-25;
    case DN_BF16: return fabs(v) * 0x1p-8 + 0x1p-134;
    default: return 0.5;
    }
}

/* Above this part of the limit a result is called marginal. */
#define BENCH_MARGINAL 0.5

#endif
