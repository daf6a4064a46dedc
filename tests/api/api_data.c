/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "api_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t type_size(cudnnDataType_t type)
{
    switch (type) {
    case CUDNN_DATA_DOUBLE:
        return 8;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
        return 2;
    default:
        return 4;
    }
}

double type_eps(cudnnDataType_t type)
{
    return type == CUDNN_DATA_DOUBLE ? 1.2e-16 : type == CUDNN_DATA_HALF ? 4.9e-4 : type == CUDNN_DATA_BFLOAT16 ? 4e-3 : 6e-8;
}

double type_tol(cudnnDataType_t type)
{
    return type == CUDNN_DATA_DOUBLE ? 1e-13 : type == CUDNN_DATA_HALF ? 2e-3 : type == CUDNN_DATA_BFLOAT16 ? 1e-2 : 1e-5;
}

/* IEEE binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits. */
static double half_to_double(uint16_t h)
{
    int e = h >> 10 & 31, f = h & 1023;
    double v = e == 31 ? (f ? NAN : INFINITY) : e ? ldexp(1024 + f, e - 25) : ldexp(f, -24);
    return h & 0x8000 ? -v : v;
}

static uint16_t double_to_half(double v)
{
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    double a = fabs(v);
    if (isnan(v))
        return 0x7e00;
    if (a >= 65520)
        return sign | 0x7c00;
    int e;
    frexp(a, &e);
    if (e < -13)
        e = -13;  /* subnormal: one step is 2^-24 */
    int steps = (int)rint(ldexp(a, 11 - e));
    return steps < 1024 ? (uint16_t)(sign | steps) : (uint16_t)(sign | (((e + 14) << 10) + steps - 1024));
}

double type_load(cudnnDataType_t type, const void *base, int64_t i)
{
    const char *p = (const char *)base + i * (int64_t)type_size(type);
    float f;
    double d;
    uint16_t h;
    uint32_t bits;
    switch (type) {
    case CUDNN_DATA_DOUBLE:
        memcpy(&d, p, 8);
        return d;
    case CUDNN_DATA_HALF:
        memcpy(&h, p, 2);
        return half_to_double(h);
    case CUDNN_DATA_BFLOAT16:
        memcpy(&h, p, 2);
        bits = (uint32_t)h << 16;
        memcpy(&f, &bits, 4);
        return f;
    default:
        memcpy(&f, p, 4);
        return f;
    }
}

void type_store(cudnnDataType_t type, void *base, int64_t i, double v)
{
    char *p = (char *)base + i * (int64_t)type_size(type);
    float f = (float)v;
    uint16_t h;
    uint32_t bits;
    switch (type) {
    case CUDNN_DATA_DOUBLE:
        memcpy(p, &v, 8);
        break;
    case CUDNN_DATA_HALF:
        h = double_to_half(v);
        memcpy(p, &h, 2);
        break;
    case CUDNN_DATA_BFLOAT16:
        memcpy(&bits, &f, 4);
        h = isnan(v) ? 0x7fc0 : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
        memcpy(p, &h, 2);
        break;
    default:
        memcpy(p, &f, 4);
    }
}

/* --- rows of double --- */
static double *rows[4096];
static int row_count;

double *data_new(int64_t n)
{
    assert_true(row_count < 4096);
    double *p = calloc((size_t)n + 1, sizeof *p);
    assert_non_null(p);
    return rows[row_count++] = p;
}

void data_free(void)
{
    while (row_count)
        free(rows[--row_count]);
}

int data_teardown(void **state)
{
    data_free();
    return api_teardown(state);
}

/* --- tensors --- */
static void set_dims(tens *t, cudnnDataType_t type, int rank, const int *dim)
{
    memset(t, 0, sizeof *t);
    t->type = type;
    t->rank = rank;
    t->count = 1;
    for (int i = 0; i < rank; i++) {
        t->dim[i] = dim[i];
        t->count *= dim[i];
    }
}

static void pack(tens *t, bool nhwc)
{
    int64_t s = 1;
    if (nhwc) {
        t->stride[1] = 1;
        s = t->dim[1];
    }
    for (int i = t->rank - 1; i >= 0; i--)
        if (!nhwc || i != 1) {
            t->stride[i] = s;
            s *= t->dim[i];
        }
}

static void describe(tens *t)
{
    int stride[RANK_MAX];
    for (int i = 0; i < t->rank; i++)
        stride[i] = (int)t->stride[i];
    CALL(cudnnCreateTensorDescriptor, (&t->desc));
    CALL(cudnnSetTensorNdDescriptor, (t->desc, t->type, t->rank, t->dim, stride));
}

static void allocate(tens *t)
{
    int64_t last = 0;
    for (int i = 0; i < t->rank; i++)
        last += (t->dim[i] - 1) * t->stride[i];
    t->bytes = (size_t)(last + 1) * type_size(t->type);
    t->ptr = api_alloc_end(t->bytes, type_size(t->type));
}

tens tens_new(cudnnDataType_t type, int rank, const int *dim, bool nhwc)
{
    tens t;
    set_dims(&t, type, rank, dim);
    pack(&t, nhwc);
    describe(&t);
    allocate(&t);
    return t;
}

tens tens_over(cudnnDataType_t type, int rank, const int *dim, const int *stride, void *ptr)
{
    tens t;
    set_dims(&t, type, rank, dim);
    for (int i = 0; i < rank; i++)
        t.stride[i] = stride[i];
    describe(&t);
    t.ptr = ptr;
    return t;
}

tens tens_strided(cudnnDataType_t type, int rank, const int *dim, const int *stride)
{
    tens t = tens_over(type, rank, dim, stride, NULL);
    allocate(&t);
    return t;
}

tens tens_filter(cudnnDataType_t type, int rank, const int *dim, bool nhwc)
{
    tens t;
    set_dims(&t, type, rank, dim);
    pack(&t, nhwc);
    CALL(cudnnCreateFilterDescriptor, (&t.fdesc));
    CALL(cudnnSetFilterNdDescriptor, (t.fdesc, type, nhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, rank, dim));
    allocate(&t);
    return t;
}

void tens_free(tens *t)
{
    if (t->desc)
        CALL(cudnnDestroyTensorDescriptor, (t->desc));
    if (t->fdesc)
        CALL(cudnnDestroyFilterDescriptor, (t->fdesc));
    t->desc = NULL;
    t->fdesc = NULL;
}

/* Offset of element number i, counted in dimension order. */
static int64_t offset_of(const tens *t, int64_t i)
{
    int64_t o = 0;
    for (int d = t->rank - 1; d >= 0; d--) {
        o += i % t->dim[d] * t->stride[d];
        i /= t->dim[d];
    }
    return o;
}

void tens_put(const tens *t, const double *dense)
{
    for (int64_t i = 0; i < t->count; i++)
        type_store(t->type, t->ptr, offset_of(t, i), dense[i]);
}

double *tens_get(const tens *t)
{
    api_sync();
    double *dense = data_new(t->count);
    for (int64_t i = 0; i < t->count; i++)
        dense[i] = type_load(t->type, t->ptr, offset_of(t, i));
    return dense;
}

void tens_fill(const tens *t, double v)
{
    for (int64_t i = 0; i < t->count; i++)
        type_store(t->type, t->ptr, offset_of(t, i), v);
}

double *tens_random(const tens *t, unsigned seed)
{
    double *dense = data_new(t->count);
    uint32_t s = seed * 2654435761u + 12345;
    for (int64_t i = 0; i < t->count; i++) {
        s = s * 1664525u + 1013904223u;
        dense[i] = ((int)(s >> 16) % 17 - 8) / 8.0;
    }
    tens_put(t, dense);
    return dense;
}

void expect_near(const char *file, int line, const char *what, const tens *t, const double *want, double tol, double least)
{
    double *got = tens_get(t), top = least;
    for (int64_t i = 0; i < t->count; i++)
        if (isfinite(want[i]) && fabs(want[i]) > top)
            top = fabs(want[i]);
    for (int64_t i = 0; i < t->count; i++) {
        bool same = isnan(want[i]) ? isnan(got[i]) : isinf(want[i]) ? got[i] == want[i] :
                    fabs(got[i] - want[i]) <= tol * top + type_eps(t->type) * fabs(want[i]);
        if (!same) {
            print_error("%s:%d: %s[%lld of %lld] is %.9g, wanted %.9g (largest %.3g, tolerance %.3g)\n", file, line, what,
                        (long long)i, (long long)t->count, got[i], want[i], top, tol);
            _fail(file, line);
        }
    }
}

const void *scalar(cudnnDataType_t type, double v, double *room)
{
    float f = (float)v;
    if (type == CUDNN_DATA_DOUBLE)
        *room = v;
    else
        memcpy(room, &f, sizeof f);
    return room;
}
