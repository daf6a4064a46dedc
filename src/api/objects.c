/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The pools behind the opaque types, and the checks of what a caller passes for one. */
#include "api.h"

#include "algorithm.h"
#include "attn.h"
#include "fused.h"
#include "rnn.h"
#include "transform.h"

#include <string.h>

dn_pool dn_handle_pool = DN_POOL("handle", 0x4c444e48, dn_handle);
dn_pool dn_tensor_pool = DN_POOL("tensor descriptor", 0x4e455444, dn_tensor_desc);
dn_pool dn_filter_pool = DN_POOL("filter descriptor", 0x544c4644, dn_filter_desc);
dn_pool dn_conv_pool = DN_POOL("convolution descriptor", 0x564e4344, dn_conv_desc);
dn_pool dn_pool_pool = DN_POOL("pooling descriptor", 0x4c4f5044, dn_pool_desc);
dn_pool dn_act_pool = DN_POOL("activation descriptor", 0x54434144, dn_act_desc);
dn_pool dn_dropout_pool = DN_POOL("dropout descriptor", 0x504f5244, dn_dropout_desc);
dn_pool dn_transform_pool = DN_POOL("tensor transform descriptor", 0x46525444, dn_transform_desc);
dn_pool dn_op_tensor_pool = DN_POOL("tensor operation descriptor", 0x4e54504f, dn_op_tensor_desc);
dn_pool dn_reduce_pool = DN_POOL("reduction descriptor", 0x43444552, dn_reduce_desc);
dn_pool dn_lrn_pool = DN_POOL("LRN descriptor", 0x4e524c44, dn_lrn_desc);
dn_pool dn_st_pool = DN_POOL("spatial transformer descriptor", 0x46545344, dn_st_desc);
dn_pool dn_seq_pool = DN_POOL("sequence data descriptor", 0x51455344, dn_seq_desc);
dn_pool dn_attn_pool = DN_POOL("attention descriptor", 0x4e545444, dn_attn_desc);
dn_pool dn_rnn_pool = DN_POOL("RNN descriptor", 0x4e4e5244, dn_rnn_desc);
dn_pool dn_rnn_data_pool = DN_POOL("RNN data descriptor", 0x444e5244, dn_rnn_data_desc);
dn_pool dn_rnn_plan_pool = DN_POOL("persistent RNN plan", 0x504e5244, dn_rnn_plan);
dn_pool dn_ctc_pool = DN_POOL("CTC loss descriptor", 0x43544344, dn_ctc_desc);
#if DN_ABI == 8
dn_pool dn_algorithm_pool = DN_POOL("algorithm descriptor", 0x474c4144, dn_algorithm_desc);
dn_pool dn_algorithm_perf_pool = DN_POOL("performance record", 0x46504c41, dn_algorithm_perf);
#endif

static dn_pool *const pools[] = {
    &dn_handle_pool, &dn_tensor_pool, &dn_filter_pool, &dn_conv_pool, &dn_pool_pool, &dn_act_pool, &dn_dropout_pool, &dn_transform_pool,
    &dn_op_tensor_pool, &dn_reduce_pool,
    &dn_lrn_pool, &dn_st_pool, &dn_ctc_pool, &dn_seq_pool, &dn_attn_pool,
    &dn_rnn_pool, &dn_rnn_data_pool, &dn_rnn_plan_pool, &dn_fused_const_pool, &dn_fused_variant_pool, &dn_fused_plan_pool,
#if DN_ABI == 8
    &dn_algorithm_pool, &dn_algorithm_perf_pool,
#endif
};

static const char *article(const dn_pool *pool)
{
    return strchr("aeiouLR", *pool->type) ? "an" : "a";  /* LRN and RNN are spelled out */
}

/* What the pointer is instead, for the text. */
static dn_status not_live(dn_pool *pool, const void *p, const char *name)
{
    if (!p)
        return dn_fail(DN_BAD_PARAM, "%s is NULL; it must be %s %s", name, article(pool), pool->type);
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
        if (pools[i] != pool && dn_pool_live(pools[i], p))
            return dn_fail(DN_BAD_PARAM, "%s is %s %s; it must be %s %s", name, article(pools[i]), pools[i]->type, article(pool), pool->type);
    return dn_fail(DN_BAD_PARAM, "%s (%p) is no live %s; it was destroyed, or never created by this library", name, p, pool->type);
}

void *dn_object_of(dn_pool *pool, const void *desc, const char *name)
{
    if (dn_pool_live(pool, desc))
        return (void *)(uintptr_t)desc;
    not_live(pool, desc, name);
    return NULL;
}

dn_handle *dn_handle_of(cudnnHandle_t handle)
{
    return dn_object_of(&dn_handle_pool, handle, "handle");
}

/* All descriptors begin with cookie and set. */
typedef struct head {
    uint32_t cookie, set;
} head;

static void *set_object(dn_pool *pool, const void *desc, const char *name)
{
    head *d = dn_object_of(pool, desc, name);
    if (d && !d->set) {
        dn_fail(DN_BAD_PARAM, "%s was created but never set", name);
        return NULL;
    }
    return d;
}

const dn_tensor *dn_tensor_of(const cudnnTensorDescriptor_t desc, const char *name)
{
    const dn_tensor_desc *d = set_object(&dn_tensor_pool, desc, name);
    return d ? &d->t : NULL;
}

const dn_filter_desc *dn_filter_of(const cudnnFilterDescriptor_t desc, const char *name)
{
    return set_object(&dn_filter_pool, desc, name);
}

const dn_conv_desc *dn_conv_of(const cudnnConvolutionDescriptor_t desc, const char *name)
{
    return set_object(&dn_conv_pool, desc, name);
}

const dn_pool_desc *dn_pool_of(const cudnnPoolingDescriptor_t desc, const char *name)
{
    return set_object(&dn_pool_pool, desc, name);
}

const dn_act_desc *dn_act_of(const cudnnActivationDescriptor_t desc, const char *name)
{
    return set_object(&dn_act_pool, desc, name);
}

const dn_op_tensor_desc *dn_op_tensor_of(const cudnnOpTensorDescriptor_t desc, const char *name)
{
    return set_object(&dn_op_tensor_pool, desc, name);
}

const dn_reduce_desc *dn_reduce_of(const cudnnReduceTensorDescriptor_t desc, const char *name)
{
    return set_object(&dn_reduce_pool, desc, name);
}

dn_dropout_desc *dn_dropout_of(const cudnnDropoutDescriptor_t desc, const char *name)
{
    return set_object(&dn_dropout_pool, desc, name);
}

const dn_lrn_desc *dn_lrn_of(const cudnnLRNDescriptor_t desc, const char *name)
{
    return set_object(&dn_lrn_pool, desc, name);
}

const dn_st_desc *dn_st_of(const cudnnSpatialTransformerDescriptor_t desc, const char *name)
{
    return set_object(&dn_st_pool, desc, name);
}

const dn_seq_desc *dn_seq_of(const cudnnSeqDataDescriptor_t desc, const char *name)
{
    return set_object(&dn_seq_pool, desc, name);
}

const dn_attn_desc *dn_attn_of(const cudnnAttnDescriptor_t desc, const char *name)
{
    return set_object(&dn_attn_pool, desc, name);
}

dn_status dn_object_create(dn_pool *pool, void **out, const char *name)
{
    if (!out)
        return dn_want(out, name);
    *out = dn_pool_new(pool);
    return *out ? DN_SUCCESS : dn_fail(DN_ALLOC_FAILED, "no memory for a %s", pool->type);
}

dn_status dn_object_destroy(dn_pool *pool, void *desc, const char *name)
{
    if (!desc)
        return DN_SUCCESS;
    if (!dn_object_of(pool, desc, name))
        return DN_BAD_PARAM;
    dn_pool_free(pool, desc);
    return DN_SUCCESS;
}

dn_status dn_want(const void *p, const char *name)
{
    return p ? DN_SUCCESS : dn_fail(DN_BAD_PARAM, "%s is NULL", name);
}

dn_status dn_want_range(long long v, long long lo, long long hi, const char *name, const char *what)
{
    return v >= lo && v <= hi ? DN_SUCCESS : dn_fail(DN_BAD_PARAM, "%s is %lld; it must be %s", name, v, what);
}

dn_status dn_scalar(const void *p, dn_dtype data, const char *name, double *out)
{
    if (!p)
        return dn_want(p, name);
    *out = dn_load(data == DN_F64 ? DN_F64 : DN_F32, p, 0);
    return DN_SUCCESS;
}

void dn_bind(dn_problem *p, dn_args *a, dn_role role, const dn_tensor *t, const void *ptr)
{
    uintptr_t bits = (uintptr_t)ptr | 16;
    p->t[role] = *t;
    p->align[role] = (uint8_t)(bits & -bits);
    a->ptr[role] = (void *)(uintptr_t)ptr;
}
