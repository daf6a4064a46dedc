/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Conversion between element types and double. Narrow floats are rounded straight from the double: rounding to float first and
 * then to half would round twice, and differ from the truth in the ties. */
#include "core/dtype.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t size, vector, scalar, is_float;
} info[DN_DTYPE_COUNT] = {
    [DN_F32] = { "f32", 4, 1, DN_F32, 1 },
    [DN_F64] = { "f64", 8, 1, DN_F64, 1 },
    [DN_F16] = { "f16", 2, 1, DN_F16, 1 },
    [DN_I8] = { "i8", 1, 1, DN_I8, 0 },
    [DN_I32] = { "i32", 4, 1, DN_I32, 0 },
    [DN_I8X4] = { "i8x4", 1, 4, DN_I8, 0 },
    [DN_U8] = { "u8", 1, 1, DN_U8, 0 },
    [DN_U8X4] = { "u8x4", 1, 4, DN_U8, 0 },
    [DN_I8X32] = { "i8x32", 1, 32, DN_I8, 0 },
    [DN_BF16] = { "bf16", 2, 1, DN_BF16, 1 },
    [DN_I64] = { "i64", 8, 1, DN_I64, 0 },
    [DN_BOOL] = { "bool", 1, 1, DN_BOOL, 0 },
    [DN_F8E4M3] = { "f8e4m3", 1, 1, DN_F8E4M3, 1 },
    [DN_F8E5M2] = { "f8e5m2", 1, 1, DN_F8E5M2, 1 },
    [DN_F32_FAST_FP8] = { "f32fp8", 4, 1, DN_F32_FAST_FP8, 1 },
};

bool dn_dtype_valid(int t)
{
    return t >= 0 && t < DN_DTYPE_COUNT;
}

size_t dn_dtype_size(dn_dtype t)
{
    return dn_dtype_valid(t) ? info[t].size : 0;
}

int dn_dtype_vector(dn_dtype t)
{
    return dn_dtype_valid(t) ? info[t].vector : 1;
}

dn_dtype dn_dtype_scalar(dn_dtype t)
{
    return dn_dtype_valid(t) ? (dn_dtype)info[t].scalar : t;
}

bool dn_dtype_is_float(dn_dtype t)
{
    return dn_dtype_valid(t) && info[t].is_float;
}

const char *dn_dtype_name(dn_dtype t)
{
    return dn_dtype_valid(t) ? info[t].name : "?";
}

int dn_dtype_parse(const char *s, size_t len)
{
    for (int t = 0; t < DN_DTYPE_COUNT; t++)
        if (strlen(info[t].name) == len && memcmp(info[t].name, s, len) == 0)
            return t;
    return -1;
}

/* --- narrow floats --- */

/* A binary float of 1 sign bit, exp_bits and man_bits, from double; nearest even. With finite_only (E4M3) the top exponent
 * holds numbers and only the all-ones pattern is NaN. Overflow goes to infinity, or to NaN where there is none. */
static unsigned narrow(double v, int exp_bits, int man_bits, bool finite_only)
{
    uint64_t b;
    memcpy(&b, &v, 8);
    unsigned sign = (unsigned)(b >> 63) << (exp_bits + man_bits);
    unsigned exp_max = (1u << exp_bits) - 1, man_max = (1u << man_bits) - 1;
    unsigned inf = finite_only ? (exp_max << man_bits) | man_max : exp_max << man_bits;
    if (isnan(v))
        return sign | (finite_only ? inf : inf | (1u << (man_bits - 1)));
    if (isinf(v))
        return sign | inf;
    if (v == 0)
        return sign;
    int bias = (1 << (exp_bits - 1)) - 1, e;
    (void)frexp(v, &e);                            /* |v| in [2^(e-1), 2^e) */
    int unit = (e - 1 < 1 - bias ? 1 - bias : e - 1) - man_bits;  /* weight of the last place */
    double scaled = ldexp(fabs(v), -unit);         /* exact: below 2^(man_bits + 1) */
    uint64_t m = (uint64_t)nearbyint(scaled);      /* ties to even in the default rounding mode */
    uint64_t code = m + ((uint64_t)(unit + man_bits + bias - 1) << man_bits);  /* a carry runs into the exponent, as it should */
    return sign | (code >= inf ? inf : (unsigned)code);
}

static double widen(unsigned h, int exp_bits, int man_bits, bool finite_only)
{
    unsigned exp_max = (1u << exp_bits) - 1, man_max = (1u << man_bits) - 1;
    unsigned e = (h >> man_bits) & exp_max, m = h & man_max;
    bool neg = (h >> (exp_bits + man_bits)) & 1;
    int bias = (1 << (exp_bits - 1)) - 1;
    double v;
    if (e == exp_max && (!finite_only || m == man_max))
        v = m ? (double)NAN : (double)INFINITY;
    else if (e == 0)
        v = ldexp((double)m, 1 - bias - man_bits);
    else
        v = ldexp((double)(m | (1u << man_bits)), (int)e - bias - man_bits);
    return neg ? -v : v;
}

/* The hot narrow types work on the bits of double and float instead of calling the C library. */
static uint64_t bits_of(double v)
{
    uint64_t b;
    memcpy(&b, &v, 8);
    return b;
}

static float float_of(uint32_t b)
{
    float f;
    memcpy(&f, &b, 4);
    return f;
}

uint16_t dn_f64_to_f16(double v)
{
    uint64_t b = bits_of(v);
    int e = (int)(b >> 52 & 0x7ff) - 1023;
    if (e < -14 || e > 15)  /* subnormal, overflow, zero, infinity, NaN */
        return (uint16_t)narrow(v, 5, 10, false);
    uint64_t m = b & 0xfffffffffffffu;
    uint32_t code = (uint32_t)(e + 15) << 10 | (uint32_t)(m >> 42);
    uint64_t rest = m & 0x3ffffffffffu, half = 0x20000000000u;
    code += rest > half || (rest == half && (code & 1));
    return (uint16_t)((b >> 48 & 0x8000) | code);
}

uint16_t dn_f64_to_bf16(double v)
{
    uint64_t b = bits_of(v);
    int e = (int)(b >> 52 & 0x7ff) - 1023;
    if (e < -126 || e > 127)
        return (uint16_t)narrow(v, 8, 7, false);
    uint64_t m = b & 0xfffffffffffffu;
    uint32_t code = (uint32_t)(e + 127) << 7 | (uint32_t)(m >> 45);
    uint64_t rest = m & 0x1fffffffffffu, half = 0x100000000000u;
    code += rest > half || (rest == half && (code & 1));
    return (uint16_t)((b >> 48 & 0x8000) | code);
}

float dn_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff;
    if (e == 31)
        return float_of(sign | 0x7f800000 | m << 13);
    if (e)
        return float_of(sign | (e + 112) << 23 | m << 13);
    float v = (float)m * 0x1p-24f;  /* subnormal: exact */
    return sign ? -v : v;
}

float dn_bf16_to_f32(uint16_t h)
{
    return float_of((uint32_t)h << 16);
}

/* --- one element --- */

static double clamp_round(double v, double lo, double hi)
{
    if (isnan(v))
        return 0;
    v = nearbyint(v);
    return v < lo ? lo : v > hi ? hi : v;
}

static int64_t to_i64(double v)
{
    if (isnan(v))
        return 0;
    v = nearbyint(v);
    return v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? INT64_MIN : (int64_t)v;
}

double dn_load(dn_dtype t, const void *base, int64_t i)
{
    double out;
    dn_load_row(t, base, i, 0, 1, &out);
    return out;
}

void dn_store(dn_dtype t, void *base, int64_t i, double v)
{
    dn_store_row(t, base, i, 0, 1, &v, 1, 0);
}

/* --- rows --- */

/* Elements are read and written by memcpy: a caller's pointer may be misaligned, and the compiler makes plain moves of it. */
#define LOAD_ROW(ctype, expr)                                            \
    do {                                                                 \
        const unsigned char *p = (const unsigned char *)base + offset * (int64_t)sizeof(ctype); \
        int64_t step = stride * (int64_t)sizeof(ctype);                  \
        for (int64_t i = 0; i < n; i++, p += step) {                     \
            ctype e;                                                     \
            memcpy(&e, p, sizeof e);                                     \
            out[i] = (double)(expr);                                     \
        }                                                                \
    } while (0)

/* The dense case apart, so that it becomes vector code. */
#define LOAD_DENSE(ctype)                                                \
    do {                                                                 \
        const unsigned char *p = (const unsigned char *)base + offset * (int64_t)sizeof(ctype); \
        for (int64_t i = 0; i < n; i++) {                                \
            ctype e;                                                     \
            memcpy(&e, p + i * (int64_t)sizeof(ctype), sizeof e);        \
            out[i] = (double)e;                                          \
        }                                                                \
    } while (0)

void dn_load_row(dn_dtype t, const void *base, int64_t offset, int64_t stride, int64_t n, double *out)
{
    if (stride == 1 && t == DN_F32) {
        LOAD_DENSE(float);
        return;
    }
    if (stride == 1 && t == DN_F64) {
        LOAD_DENSE(double);
        return;
    }
    switch (t) {
    case DN_F32: case DN_F32_FAST_FP8: LOAD_ROW(float, e); break;
    case DN_F64: LOAD_ROW(double, e); break;
    case DN_F16: LOAD_ROW(uint16_t, dn_f16_to_f32(e)); break;
    case DN_BF16: LOAD_ROW(uint16_t, dn_bf16_to_f32(e)); break;
    case DN_I8: case DN_I8X4: case DN_I8X32: LOAD_ROW(int8_t, e); break;
    case DN_U8: case DN_U8X4: LOAD_ROW(uint8_t, e); break;
    case DN_I32: LOAD_ROW(int32_t, e); break;
    case DN_I64: LOAD_ROW(int64_t, e); break;
    case DN_BOOL: LOAD_ROW(uint8_t, e != 0); break;
    case DN_F8E4M3: LOAD_ROW(uint8_t, widen(e, 4, 3, true)); break;
    case DN_F8E5M2: LOAD_ROW(uint8_t, widen(e, 5, 2, false)); break;
    case DN_DTYPE_COUNT: break;
    }
}

#define STORE_ROW(ctype, old, expr)                                      \
    do {                                                                 \
        unsigned char *p = (unsigned char *)base + offset * (int64_t)sizeof(ctype); \
        int64_t step = stride * (int64_t)sizeof(ctype);                  \
        for (int64_t i = 0; i < n; i++, p += step) {                     \
            ctype e;                                                     \
            double r = alpha * v[i];                                     \
            if (beta != 0) {                                             \
                memcpy(&e, p, sizeof e);                                 \
                r += beta * (double)(old);                               \
            }                                                            \
            e = (ctype)(expr);                                           \
            memcpy(p, &e, sizeof e);                                     \
        }                                                                \
    } while (0)

#define STORE_DENSE(ctype)                                               \
    do {                                                                 \
        unsigned char *p = (unsigned char *)base + offset * (int64_t)sizeof(ctype); \
        for (int64_t i = 0; i < n; i++) {                                \
            ctype e = (ctype)(alpha * v[i]);                             \
            memcpy(p + i * (int64_t)sizeof(ctype), &e, sizeof e);        \
        }                                                                \
    } while (0)

void dn_store_row(dn_dtype t, void *base, int64_t offset, int64_t stride, int64_t n, const double *v, double alpha, double beta)
{
    if (stride == 1 && beta == 0 && t == DN_F32) {
        STORE_DENSE(float);
        return;
    }
    if (stride == 1 && beta == 0 && t == DN_F64) {
        STORE_DENSE(double);
        return;
    }
    switch (t) {
    case DN_F32: case DN_F32_FAST_FP8: STORE_ROW(float, e, r); break;
    case DN_F64: STORE_ROW(double, e, r); break;
    case DN_F16: STORE_ROW(uint16_t, dn_f16_to_f32(e), dn_f64_to_f16(r)); break;
    case DN_BF16: STORE_ROW(uint16_t, dn_bf16_to_f32(e), dn_f64_to_bf16(r)); break;
    case DN_I8: case DN_I8X4: case DN_I8X32: STORE_ROW(int8_t, e, clamp_round(r, -128, 127)); break;
    case DN_U8: case DN_U8X4: STORE_ROW(uint8_t, e, clamp_round(r, 0, 255)); break;
    case DN_I32: STORE_ROW(int32_t, e, clamp_round(r, INT32_MIN, INT32_MAX)); break;
    case DN_I64: STORE_ROW(int64_t, e, to_i64(r)); break;
    case DN_BOOL: STORE_ROW(uint8_t, e != 0, r != 0); break;
    case DN_F8E4M3: STORE_ROW(uint8_t, widen(e, 4, 3, true), narrow(r, 4, 3, true)); break;
    case DN_F8E5M2: STORE_ROW(uint8_t, widen(e, 5, 2, false), narrow(r, 5, 2, false)); break;
    case DN_DTYPE_COUNT: break;
    }
}
