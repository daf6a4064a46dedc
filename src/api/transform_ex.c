/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Padding and folding of tensors and filters. */
#include "opcall.h"
#include "ops/transform.h"
#include "transform.h"

static const dn_transform_desc *transform_of(const cudnnTensorTransformDescriptor_t desc, const char *name)
{
    const dn_transform_desc *d = dn_object_of(&dn_transform_pool, desc, name);
    if (d && !d->set) {
        dn_fail(DN_BAD_PARAM, "%s was created but never set", name);
        return NULL;
    }
    return d;
}

/* The descriptor as a problem's parameter. Where the result lies is said by its own descriptor. */
static dn_status param_of(const dn_transform_desc *d, int rank, dn_transform_param *u)
{
    if (d->rank != rank)
        return dn_fail(DN_BAD_PARAM, "srcDesc has %d dimensions, the transform %d; they must be equal", rank, d->rank);
    u->spatial = rank - 2;
    u->fold = d->direction;
    for (int i = 0; i < rank; i++) {
        u->before[i] = d->pad_before[i];
        u->after[i] = d->pad_after[i];
    }
    for (int j = 0; j < rank - 2; j++) {
        if (d->fold[j] > INT32_MAX)
            return dn_fail(DN_BAD_PARAM, "folding factor %d is %u; it must be below 2^31", j, d->fold[j]);
        u->by[j] = d->fold[j] ? (int32_t)d->fold[j] : 1;
    }
    return DN_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnInitTransformDest(const cudnnTensorTransformDescriptor_t transformDesc,
                                                 const cudnnTensorDescriptor_t srcDesc, cudnnTensorDescriptor_t destDesc,
                                                 size_t *destSizeInBytes)
{
    dn_call_begin("cudnnInitTransformDest");
    const dn_transform_desc *d = transform_of(transformDesc, "transformDesc");
    const dn_tensor *x = d ? dn_tensor_of(srcDesc, "srcDesc") : NULL;
    dn_tensor_desc *dest = x ? dn_object_of(&dn_tensor_pool, destDesc, "destDesc") : NULL;
    if (!dest || dn_want(destSizeInBytes, "destSizeInBytes"))
        return dn_answer(DN_BAD_PARAM);
    if (d->format == CUDNN_TENSOR_NCHW_VECT_C)  /* so does the vendor's */
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "destFormat is NCHW_VECT_C; it must be NCHW or NHWC"));
    dn_transform_param u = { 0 };
    dn_tensor y = { .type = x->type, .vect = x->vect, .vect_dim = x->vect_dim };
    dn_status st = param_of(d, x->rank, &u);
    if (st == DN_SUCCESS)
        st = dn_transform_dims(&u, x, &y);
    if (st == DN_SUCCESS)
        st = dn_tensor_format(&y, d->format);
    if (st == DN_SUCCESS)
        st = dn_tensor_bytes(&y, destSizeInBytes);
    if (st == DN_SUCCESS) {
        dest->t = y;
        dest->format = d->format;
        dest->set = 1;
    }
    return dn_answer(st);
}

/* Tensors are bound, or st says why not. */
static cudnnStatus_t run(dn_opcall *c, const cudnnTensorTransformDescriptor_t transDesc, const void *alpha, const void *beta)
{
    const dn_transform_desc *d = c->st == DN_SUCCESS ? transform_of(transDesc, "transDesc") : NULL;
    if (!d)
        return dn_answer(c->st == DN_SUCCESS ? DN_BAD_PARAM : c->st);
    /* Doubles where either side is f64, be it the source: the vendor's 9.19, as measured, takes no float there. */
    dn_opcall_factors(c, c->p.t[DN_X].type == DN_F64 ? DN_X : DN_Y, alpha, beta);
    if (c->st == DN_SUCCESS)
        c->st = param_of(d, c->p.t[DN_X].rank, &c->p.u.transform);
    if (c->a.ptr[DN_X] == c->a.ptr[DN_Y])
        c->p.flags |= DN_F_IN_PLACE;
    return dn_opcall_run(c, dn_transform_ex_check);
}

cudnnStatus_t CUDNNWINAPI cudnnTransformTensorEx(cudnnHandle_t handle, const cudnnTensorTransformDescriptor_t transDesc,
                                                 const void *alpha, const cudnnTensorDescriptor_t srcDesc, const void *srcData,
                                                 const void *beta, const cudnnTensorDescriptor_t destDesc, void *destData)
{
    dn_call_begin("cudnnTransformTensorEx");
    dn_opcall c;
    dn_opcall_begin(&c, handle, DN_OP_TRANSFORM_EX, DN_DIR_FWD);
    dn_opcall_operand(&c, DN_X, srcDesc, "srcDesc", srcData, "srcData");
    dn_opcall_operand(&c, DN_Y, destDesc, "destDesc", destData, "destData");
    return run(&c, transDesc, alpha, beta);
}

static void bind_filter(dn_opcall *c, dn_role role, const cudnnFilterDescriptor_t desc, const char *desc_name, const void *data,
                        const char *data_name)
{
    const dn_filter_desc *d = c->st == DN_SUCCESS ? dn_filter_of(desc, desc_name) : NULL;
    if (!d || dn_want(data, data_name))
        c->st = DN_BAD_PARAM;
    else
        dn_bind(&c->p, &c->a, role, &d->t, data);
}

cudnnStatus_t CUDNNWINAPI cudnnTransformFilter(cudnnHandle_t handle, const cudnnTensorTransformDescriptor_t transDesc,
                                               const void *alpha, const cudnnFilterDescriptor_t srcDesc, const void *srcData,
                                               const void *beta, const cudnnFilterDescriptor_t destDesc, void *destData)
{
    dn_call_begin("cudnnTransformFilter");
    dn_opcall c;
    dn_opcall_begin(&c, handle, DN_OP_TRANSFORM_EX, DN_DIR_FWD);
    bind_filter(&c, DN_X, srcDesc, "srcDesc", srcData, "srcData");
    bind_filter(&c, DN_Y, destDesc, "destDesc", destData, "destData");
    return run(&c, transDesc, alpha, beta);
}
