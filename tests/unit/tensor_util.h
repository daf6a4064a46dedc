/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Tensors for tests of operations: a descriptor, memory that spans it, and element access by logical number. The functions under
 * test are the exported ones of ABI 8, on the ref engine. */
#ifndef TEST_TENSOR_UTIL_H
#define TEST_TENSOR_UTIL_H

#include "api/api.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef enum layout { NCHW, NHWC, PADDED, REVERSED, LAYOUTS } layout;  /* REVERSED: all strides negative */

typedef struct tensor {
    cudnnTensorDescriptor_t desc;
    dn_tensor t;
    void *memory;
    unsigned char *ptr;  /* where element 0 is */
    size_t bytes;
    int64_t count;
} tensor;

static cudnnHandle_t handle;
static const float zero_f = 0, one_f = 1;
static const double zero_d = 0, one_d = 1;

static inline const void *zero_of(int type)
{
    return type == DN_F64 ? (const void *)&zero_d : &zero_f;
}

static inline const void *one_of(int type)
{
    return type == DN_F64 ? (const void *)&one_d : &one_f;
}

static inline int handle_setup(void **state)
{
    (void)state;
    setenv("ANYDNN_ENGINE", "ref", 1);
    return cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS ? 0 : -1;
}

static inline int handle_teardown(void **state)
{
    (void)state;
    return cudnnDestroy(handle) == CUDNN_STATUS_SUCCESS ? 0 : -1;
}

/* Memory is filled with 0xff: NaN in every float type, so a value that is read unset shows. */
static inline tensor tensor_strided(int type, int rank, const int *dims, const int *strides)
{
    tensor x = { 0 };
    int64_t lo, hi;
    assert_int_equal(cudnnCreateTensorDescriptor(&x.desc), CUDNN_STATUS_SUCCESS);
    assert_int_equal(cudnnSetTensorNdDescriptor(x.desc, (cudnnDataType_t)type, rank, dims, strides), CUDNN_STATUS_SUCCESS);
    x.t = *dn_tensor_of(x.desc, "desc");
    assert_true(dn_tensor_span(&x.t, &lo, &hi));
    size_t unit = dn_dtype_size((dn_dtype)type) * x.t.vect;
    x.bytes = (size_t)(hi - lo + 1) * unit;
    x.memory = malloc(x.bytes);
    assert_non_null(x.memory);
    memset(x.memory, 0xff, x.bytes);
    x.ptr = (unsigned char *)x.memory - lo * (int64_t)unit;
    x.count = dn_tensor_count(&x.t);
    return x;
}

static inline tensor tensor_new(int type, int rank, const int *dims, layout how)
{
    int strides[8] = { 0 }, s = how == PADDED ? 3 : 1;
    for (int k = rank - 1; k >= 0; k--) {
        int d = how != NHWC || k == 0 ? k : k == rank - 1 ? 1 : k + 1;
        strides[d] = how == REVERSED ? -s : s;
        s = s * dims[d] + (how == PADDED);
    }
    return tensor_strided(type, rank, dims, strides);
}

static inline void tensor_free(tensor *x)
{
    cudnnDestroyTensorDescriptor(x->desc);
    free(x->memory);
}

static inline int64_t tensor_offset(const tensor *x, int64_t i)
{
    int64_t at = 0;
    for (int d = x->t.rank - 1; d >= 0; d--) {
        at += i % x->t.dims[d] * x->t.strides[d];
        i /= x->t.dims[d];
    }
    return at;
}

static inline double get(const tensor *x, int64_t i)
{
    return dn_load((dn_dtype)x->t.type, x->ptr, tensor_offset(x, i));
}

static inline void put(tensor *x, int64_t i, double v)
{
    dn_store((dn_dtype)x->t.type, x->ptr, tensor_offset(x, i), v);
}

/* Numbers from -2 to 2, the same for one seed. */
static inline void fill(tensor *x, uint64_t seed)
{
    for (int64_t i = 0; i < x->count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        put(x, i, (double)(seed >> 40) / (1 << 22) - 2);
    }
}

static inline void fill_with(tensor *x, double v)
{
    for (int64_t i = 0; i < x->count; i++)
        put(x, i, v);
}

static inline void copy_values(tensor *to, const tensor *from)
{
    for (int64_t i = 0; i < to->count; i++)
        put(to, i, get(from, i));
}

/* Rounding of one store, relative. */
static inline double type_eps(int type)
{
    return type == DN_F64 ? 1e-12 : type == DN_F32 ? 1e-6 : type == DN_F16 ? 1e-3 : 8e-3;
}

static inline void assert_near(double got, double want, double bound)
{
    if (!(fabs(got - want) <= bound * fmax(1, fabs(want))))
        fail_msg("%.17g is not %.17g within %g", got, want, bound);
}

/* The call failed with this status, and the text holds both words. */
static inline void assert_fails(cudnnStatus_t got, cudnnStatus_t want, const char *word, const char *other)
{
    assert_int_equal(got, want);
    if (!strstr(dn_error_text(), word) || !strstr(dn_error_text(), other))
        fail_msg("the text \"%s\" lacks \"%s\" or \"%s\"", dn_error_text(), word, other);
}

#endif
