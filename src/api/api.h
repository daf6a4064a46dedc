/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What every file of src/api shares. These files are compiled once per ABI (DN_ABI 8 or 9, with include/v8 or include/v9 on the
 * path); they turn a cuDNN call into a dn_problem and dn_args, and hold no arithmetic.
 *
 * The shape of an exported function:
 *     cudnnStatus_t CUDNNWINAPI cudnnThing(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc, ...)
 *     {
 *         dn_call_begin("cudnnThing");
 *         dn_handle *h = dn_handle_of(handle);
 *         const dn_tensor *x = dn_tensor_of(xDesc, "xDesc");
 *         if (!h || !x)
 *             return dn_answer(DN_BAD_PARAM);          the text was set by the *_of function
 *         ...
 *         return dn_answer(dn_run(h, &p, &a));
 *     } */
#ifndef DN_API_API_H
#define DN_API_API_H

#include <cudnn.h>
#include <anydnn.h>

#include "core/engine.h"
#include "core/log.h"
#include "core/pool.h"
#include "core/status.h"
#include "ops/problem.h"

#ifndef DN_ABI
#error "compile src/api with -DDN_ABI=8 or -DDN_ABI=9"
#endif

/* dn_status to this ABI's number, and to the log. Every exported function returns through it. */
cudnnStatus_t dn_answer(dn_status st);
/* NOT_SUPPORTED with a text that names the function, which is not real yet. */
cudnnStatus_t dn_stub(const char *function);

/* --- objects behind the opaque types: the first member is the pool's cookie --- */
typedef struct dn_tensor_desc {
    uint32_t cookie;
    uint32_t set;       /* a Set call succeeded */
    dn_tensor t;        /* rank >= 3 as given; see src/api/tensor.c */
    int32_t format;     /* cudnnTensorFormat_t it was set with, -1 for explicit strides */
} dn_tensor_desc;

typedef struct dn_filter_desc {
    uint32_t cookie;
    uint32_t set;
    dn_tensor t;        /* dims k, c/groups, (t,) r, s; strides of the format */
    int32_t format;
} dn_filter_desc;

typedef struct dn_conv_desc {
    uint32_t cookie;
    uint32_t set;
    dn_conv_param p;
    int32_t math;       /* cudnnMathType_t */
    int32_t compute;    /* dn_dtype */
    int32_t reorder;    /* cudnnReorderType_t */
} dn_conv_desc;

typedef struct dn_pool_desc {
    uint32_t cookie;
    uint32_t set;
    dn_pool_param p;
} dn_pool_desc;

typedef struct dn_act_desc {
    uint32_t cookie;
    uint32_t set;
    dn_act_param p;
} dn_act_desc;

typedef struct dn_dropout_desc {
    uint32_t cookie;
    uint32_t set;
    float dropout;
    void *states;       /* in the handle's memory; see docs/numerics.md for its layout */
    size_t states_size;
    unsigned long long seed;
} dn_dropout_desc;

typedef struct dn_op_tensor_desc {
    uint32_t cookie;
    uint32_t set;
    dn_tensor_op_param p;
    int32_t compute;    /* dn_dtype */
} dn_op_tensor_desc;

typedef struct dn_reduce_desc {
    uint32_t cookie;
    uint32_t set;
    dn_reduce_param p;
    int32_t compute;    /* dn_dtype */
} dn_reduce_desc;

typedef struct dn_lrn_desc {
    uint32_t cookie;
    uint32_t set;
    dn_lrn_param p;
} dn_lrn_desc;

typedef struct dn_st_desc {
    uint32_t cookie;
    uint32_t set;
    int32_t type;       /* dn_dtype */
    int32_t dims[4];    /* of the sampled output: n, c, h, w */
} dn_st_desc;

typedef struct dn_ctc_desc {
    uint32_t cookie;
    uint32_t set;
    int32_t type;       /* cudnnDataType_t of the arithmetic */
    int32_t norm, skip, max_label;  /* as in dn_ctc_param */
} dn_ctc_desc;

/* Pools of this ABI's library (src/api/objects.c). */
extern dn_pool dn_handle_pool, dn_tensor_pool, dn_filter_pool, dn_conv_pool, dn_pool_pool, dn_act_pool, dn_dropout_pool,
    dn_transform_pool, dn_op_tensor_pool, dn_reduce_pool, dn_lrn_pool, dn_st_pool, dn_ctc_pool;

/* Live object or NULL with the text set: NULL, wild, dead and wrong-type pointers are told apart from one another.
 * name is the argument's, as in the prototype. The *_of functions for descriptors also refuse one that was never set. */
dn_handle *dn_handle_of(cudnnHandle_t handle);
const dn_tensor *dn_tensor_of(const cudnnTensorDescriptor_t desc, const char *name);
const dn_filter_desc *dn_filter_of(const cudnnFilterDescriptor_t desc, const char *name);
const dn_conv_desc *dn_conv_of(const cudnnConvolutionDescriptor_t desc, const char *name);
const dn_pool_desc *dn_pool_of(const cudnnPoolingDescriptor_t desc, const char *name);
const dn_act_desc *dn_act_of(const cudnnActivationDescriptor_t desc, const char *name);
const dn_op_tensor_desc *dn_op_tensor_of(const cudnnOpTensorDescriptor_t desc, const char *name);
const dn_reduce_desc *dn_reduce_of(const cudnnReduceTensorDescriptor_t desc, const char *name);
dn_dropout_desc *dn_dropout_of(const cudnnDropoutDescriptor_t desc, const char *name);
const dn_lrn_desc *dn_lrn_of(const cudnnLRNDescriptor_t desc, const char *name);
const dn_st_desc *dn_st_of(const cudnnSpatialTransformerDescriptor_t desc, const char *name);
/* The same for any pool, set or not: for Create/Set/Get/Destroy. */
void *dn_object_of(dn_pool *pool, const void *desc, const char *name);
/* Create and Destroy of any pool: NULL out pointer is BAD_PARAM, no memory ALLOC_FAILED; destroying NULL is SUCCESS. */
dn_status dn_object_create(dn_pool *pool, void **out, const char *name);
dn_status dn_object_destroy(dn_pool *pool, void *desc, const char *name);

/* --- tensors as a caller describes them (src/api/tensor.c) --- */
/* Zero-fills t and gives it type, rank, sizes. A size below 1 is named by names[i], or array[i] where names is NULL. */
dn_status dn_tensor_fill(dn_tensor *t, int type, int rank, const int *dims, const char *const *names, const char *array);
/* Packed strides of a cudnnTensorFormat_t; BAD_PARAM where it does not fit the type, or the bytes do not fit size_t. */
dn_status dn_tensor_format(dn_tensor *t, int format);
/* Bytes from the lowest to the highest element. */
dn_status dn_tensor_bytes(const dn_tensor *t, size_t *bytes);
/* NOT_SUPPORTED above CUDNN_DIM_MAX, BAD_PARAM below least. */
dn_status dn_rank_check(int rank, int least, const char *name);

/* BAD_PARAM with "name is NULL" unless p is something. */
dn_status dn_want(const void *p, const char *name);
/* BAD_PARAM unless lo <= v <= hi: "name is v; it must be one of what". For enumerators and counts. */
dn_status dn_want_range(long long v, long long lo, long long hi, const char *name, const char *what);

/* alpha or beta as double: host pointer to float, or to double where the data type is double. BAD_PARAM where it is NULL. */
dn_status dn_scalar(const void *p, dn_dtype data, const char *name, double *out);
/* Puts a tensor and its pointer into problem and arguments under a role, alignment class included. */
void dn_bind(dn_problem *p, dn_args *a, dn_role role, const dn_tensor *t, const void *ptr);

#endif
