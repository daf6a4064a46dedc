/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A tensor for tests: descriptor and memory of any type and strides, with every byte that no element owns watched. Elements are
 * read and written by logical index, one at a time, through code that shares nothing with the engine's walks. */
#ifndef TENS_H
#define TENS_H

#include <cudnn.h>

#include "core/dtype.h"
#include "core/status.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define TENS_RANK 8
#define TENS_GUARD 64
#define TENS_FILL 0xFF  /* NaN in every float type, -1 in i8 */

typedef enum layout {
    PACKED,
    CHANNELS_LAST,
    GAPS,      /* a hole after every element, and more after every row */
    REVERSED,  /* all strides negative */
    LAYOUTS
} layout;

typedef struct tens {
    dn_dtype type;
    int rank, dims[TENS_RANK], strides[TENS_RANK];
    int64_t count;
    cudnnTensorDescriptor_t desc;
    unsigned char *memory, *owned;  /* owned: 1 for every byte of an element */
    size_t bytes;
    void *data;                     /* of logical element 0 */
} tens;

static inline void tens_strides(tens *t, layout lay)
{
    int order[TENS_RANK], step = lay == GAPS ? 2 : 1, at = 0;
    order[at++] = 0;
    if (lay != CHANNELS_LAST)
        order[at++] = 1;
    for (int d = 2; d < t->rank; d++)
        order[at++] = d;
    if (lay == CHANNELS_LAST)
        order[at++] = 1;
    for (int k = t->rank - 1; k >= 0; k--) {
        t->strides[order[k]] = lay == REVERSED ? -step : step;
        step = step * t->dims[order[k]] + (lay == GAPS ? 3 : 0);
    }
}

static inline int64_t tens_offset(const tens *t, int64_t i)
{
    int64_t offset = 0;
    for (int d = t->rank - 1; d >= 0; d--) {
        offset += i % t->dims[d] * t->strides[d];
        i /= t->dims[d];
    }
    return offset;
}

static inline void tens_free(tens *t)
{
    assert_int_equal(cudnnDestroyTensorDescriptor(t->desc), CUDNN_STATUS_SUCCESS);
    free(t->memory);
    free(t->owned);
    memset(t, 0, sizeof(*t));
}

/* Uninitialised elements are NaN (0xFF bytes). */
static inline tens tens_make(dn_dtype type, int rank, const int *dims, layout lay)
{
    tens t = { .type = type, .rank = rank, .count = 1 };
    int64_t lo = 0, hi = 0;
    size_t size = dn_dtype_size(type);
    for (int d = 0; d < rank; d++) {
        t.dims[d] = dims[d];
        t.count *= dims[d];
    }
    tens_strides(&t, lay);
    for (int d = 0; d < rank; d++) {
        int64_t reach = (int64_t)(t.dims[d] - 1) * t.strides[d];
        *(reach < 0 ? &lo : &hi) += reach;
    }
    t.bytes = (size_t)(hi - lo + 1) * size + 2 * TENS_GUARD;
    t.memory = malloc(t.bytes);
    t.owned = calloc(t.bytes, 1);
    assert_non_null(t.memory);
    assert_non_null(t.owned);
    memset(t.memory, TENS_FILL, t.bytes);
    t.data = t.memory + TENS_GUARD - lo * (int64_t)size;
    for (int64_t i = 0; i < t.count; i++)
        memset(t.owned + TENS_GUARD + (tens_offset(&t, i) - lo) * (int64_t)size, 1, size);
    assert_int_equal(cudnnCreateTensorDescriptor(&t.desc), CUDNN_STATUS_SUCCESS);
    cudnnStatus_t st = cudnnSetTensorNdDescriptor(t.desc, (cudnnDataType_t)type, rank, t.dims, t.strides);
    if (st != CUDNN_STATUS_SUCCESS)
        fail_msg("%s", dn_error_text());
    return t;
}

static inline double tens_get(const tens *t, int64_t i)
{
    return dn_load(t->type, t->data, tens_offset(t, i));
}

static inline void tens_set(tens *t, int64_t i, double v)
{
    dn_store(t->type, t->data, tens_offset(t, i), v);
}

/* What the element would hold after v is stored there. */
static inline double tens_rounded(const tens *t, double v)
{
    double cell = 0;
    dn_store(t->type, &cell, 0, v);
    return dn_load(t->type, &cell, 0);
}

static inline void tens_watch(const tens *t)
{
    for (size_t i = 0; i < t->bytes; i++)
        if (!t->owned[i] && t->memory[i] != TENS_FILL)
            fail_msg("byte %zu, which is no element's, was written", i);
}

static inline uint32_t tens_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Integers in -range .. range. */
static inline void tens_integers(tens *t, int range, uint32_t seed)
{
    for (int64_t i = 0; i < t->count; i++)
        tens_set(t, i, (double)(tens_random(&seed) % (uint32_t)(2 * range + 1)) - range);
}

/* Reals in -1 .. 1. */
static inline void tens_reals(tens *t, uint32_t seed)
{
    for (int64_t i = 0; i < t->count; i++)
        tens_set(t, i, tens_random(&seed) / 8388608.0 - 1);
}

static inline void tens_close(const tens *t, int64_t i, double want, double bound)
{
    double got = tens_get(t, i);
    if (isnan(want) ? !isnan(got) : isinf(want) ? got != want : !(fabs(got - want) <= bound))
        fail_msg("element %lld is %.17g, not %.17g (bound %g)", (long long)i, got, want, bound);
}

static inline double type_epsilon(dn_dtype type)
{
    return type == DN_F64 ? 1e-15 : type == DN_F32 ? 6e-8 : type == DN_F16 ? 5e-4 : type == DN_BF16 ? 4e-3 : 0;
}

/* alpha or beta for data of a type. */
typedef union scalar {
    float f;
    double d;
} scalar;

static inline scalar scalar_of(dn_dtype type, double v)
{
    scalar s = { 0 };
    if (type == DN_F64)
        s.d = v;
    else
        s.f = (float)v;
    return s;
}

static cudnnHandle_t handle;

static inline int handle_open(void **state)
{
    (void)state;
    return cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS;
}

static inline int handle_close(void **state)
{
    (void)state;
    return cudnnDestroy(handle) != CUDNN_STATUS_SUCCESS;
}

#define OK(call)                                                              \
    do {                                                                      \
        if ((call) != CUDNN_STATUS_SUCCESS)                                   \
            fail_msg("%s: %s", #call, dn_error_text());                       \
    } while (0)

/* The status, and the word in the text. */
#define REFUSED(call, st, word)                                               \
    do {                                                                      \
        assert_int_equal(call, st);                                           \
        if (!strstr(dn_error_text(), word))                                   \
            fail_msg("\"%s\" does not say \"%s\"", dn_error_text(), word);    \
    } while (0)

#endif
