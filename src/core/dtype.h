/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Element types, and conversion between any of them and double.
 * The numbers equal cudnnDataType_t's (the same in cuDNN 8 and 9). */
#ifndef DN_CORE_DTYPE_H
#define DN_CORE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum dn_dtype {
    DN_F32 = 0,
    DN_F64 = 1,
    DN_F16 = 2,
    DN_I8 = 3,
    DN_I32 = 4,
    DN_I8X4 = 5,
    DN_U8 = 6,
    DN_U8X4 = 7,
    DN_I8X32 = 8,
    DN_BF16 = 9,
    DN_I64 = 10,
    DN_BOOL = 11,
    DN_F8E4M3 = 12,
    DN_F8E5M2 = 13,
    DN_F32_FAST_FP8 = 14,  /* a compute type only */
    DN_DTYPE_COUNT = 15
} dn_dtype;

bool dn_dtype_valid(int t);
/* Bytes of one scalar element: 4 for DN_F32, 1 for DN_I8 and for DN_I8X4 (whose vector is 4 of them). 0 for a wrong t. */
size_t dn_dtype_size(dn_dtype t);
/* Scalars per stored unit: 4 for x4, 32 for x32, else 1. */
int dn_dtype_vector(dn_dtype t);
/* The scalar type: DN_I8 for DN_I8X4 and DN_I8X32, DN_U8 for DN_U8X4, else t. */
dn_dtype dn_dtype_scalar(dn_dtype t);
bool dn_dtype_is_float(dn_dtype t);
/* "f32" "f64" "f16" "bf16" "i8" "u8" "i32" "i64" "i8x4" ... as in problem lines. */
const char *dn_dtype_name(dn_dtype t);
int dn_dtype_parse(const char *s, size_t len);  /* -1 where s is no type */

/* One element at index i (in scalars from base). Rounding is to nearest even, once, straight from double (no second rounding
 * through float); integers round to nearest even and saturate, NaN becomes 0. */
double dn_load(dn_dtype t, const void *base, int64_t i);
void dn_store(dn_dtype t, void *base, int64_t i, double v);

/* n elements base[offset], base[offset + stride], ... to and from a dense double row; one type switch per row.
 * A null base is not allowed; n may be 0; stride may be negative or 0. */
void dn_load_row(dn_dtype t, const void *base, int64_t offset, int64_t stride, int64_t n, double *out);
/* y = alpha * v + beta * y, rounded once; y is not read where beta is 0 (it may hold NaN). */
void dn_store_row(dn_dtype t, void *base, int64_t offset, int64_t stride, int64_t n, const double *v, double alpha, double beta);

float dn_f16_to_f32(uint16_t h);
uint16_t dn_f64_to_f16(double v);
float dn_bf16_to_f32(uint16_t h);
uint16_t dn_f64_to_bf16(double v);

#endif
