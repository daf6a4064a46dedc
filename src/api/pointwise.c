/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * cudnnTransformTensor, cudnnAddTensor, cudnnSetTensor, cudnnScaleTensor. */
#include "api.h"

#include <string.h>

/* Transform and add: Y = alpha * X + beta * Y. The names are those of the function's arguments. */
typedef struct pair {
    const void *alpha, *beta;
    cudnnTensorDescriptor_t x_desc, y_desc;
    const void *x;
    void *y;
    const char *x_desc_name, *y_desc_name, *x_name, *y_name;
} pair;

static dn_status run_pair(cudnnHandle_t handle, dn_op op, const pair *c)
{
    dn_problem p;
    dn_args a = { 0 };
    dn_handle *h = dn_handle_of(handle);
    if (!h || dn_want(c->alpha, "alpha") || dn_want(c->beta, "beta"))
        return DN_BAD_PARAM;
    const dn_tensor *x = dn_tensor_of(c->x_desc, c->x_desc_name);
    if (!x || dn_want(c->x, c->x_name))
        return DN_BAD_PARAM;
    const dn_tensor *y = dn_tensor_of(c->y_desc, c->y_desc_name);
    if (!y || dn_want(c->y, c->y_name))
        return DN_BAD_PARAM;
    dn_problem_init(&p, op, DN_DIR_FWD);
    dn_bind(&p, &a, DN_X, x, c->x);
    dn_bind(&p, &a, DN_Y, y, c->y);
    /* Doubles where either tensor is f64, be it the source: the vendor's 9.19, as measured, takes no float there. */
    dn_dtype wide = x->type == DN_F64 || y->type == DN_F64 ? DN_F64 : DN_F32;
    dn_scalar(c->alpha, wide, "alpha", &a.alpha);
    dn_scalar(c->beta, wide, "beta", &a.beta);
    p.flags = (uint16_t)((a.beta == 0 ? DN_F_BETA_ZERO : 0) | (c->x == c->y ? DN_F_IN_PLACE : 0));
    dn_status st = dn_pointwise_check(&p);
    return st == DN_SUCCESS ? dn_run(h, &p, &a) : st;
}

cudnnStatus_t CUDNNWINAPI cudnnTransformTensor(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t xDesc,
                                               const void *x, const void *beta, const cudnnTensorDescriptor_t yDesc, void *y)
{
    dn_call_begin("cudnnTransformTensor");
    pair c = { alpha, beta, xDesc, yDesc, x, y, "xDesc", "yDesc", "x", "y" };
    return dn_answer(run_pair(handle, DN_OP_TRANSFORM, &c));
}

cudnnStatus_t CUDNNWINAPI cudnnAddTensor(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t aDesc,
                                         const void *A, const void *beta, const cudnnTensorDescriptor_t cDesc, void *C)
{
    dn_call_begin("cudnnAddTensor");
    pair c = { alpha, beta, aDesc, cDesc, A, C, "aDesc", "cDesc", "A", "C" };
    return dn_answer(run_pair(handle, DN_OP_ADD, &c));
}

/* What set and scale share: the problem on y. NULL where an argument is bad; the text is set. */
static dn_handle *begin_self(cudnnHandle_t handle, dn_op op, cudnnTensorDescriptor_t yDesc, void *y, dn_problem *p, dn_args *a)
{
    dn_handle *h = dn_handle_of(handle);
    const dn_tensor *t = h ? dn_tensor_of(yDesc, "yDesc") : NULL;
    if (!t || dn_want(y, "y"))
        return NULL;
    memset(a, 0, sizeof *a);
    dn_problem_init(p, op, DN_DIR_FWD);
    dn_bind(p, a, DN_Y, t, y);
    return h;
}

/* The documentation says that *valuePtr has the tensor's type. The vendor's library, as measured with 9.14, reads a float for f16,
 * bf16 and 8-bit integers as it does for f32, so every program that works with it passes one; a double for f64. It refuses i32,
 * where the documentation's rule holds here. Vectors get the one value in every lane. */
static double set_value(dn_dtype type, const void *value)
{
    return dn_load(type == DN_F64 || type == DN_I32 ? type : DN_F32, value, 0);
}

cudnnStatus_t CUDNNWINAPI cudnnSetTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc, void *y, const void *valuePtr)
{
    dn_problem p;
    dn_args a;
    dn_call_begin("cudnnSetTensor");
    dn_handle *h = begin_self(handle, DN_OP_SET, yDesc, y, &p, &a);
    if (!h || dn_want(valuePtr, "valuePtr"))
        return dn_answer(DN_BAD_PARAM);
    dn_status st = dn_pointwise_check(&p);
    if (st != DN_SUCCESS)
        return dn_answer(st);
    p.flags = DN_F_BETA_ZERO;
    for (size_t i = 0; i < sizeof a.value / sizeof *a.value; i++)
        a.value[i] = set_value((dn_dtype)p.t[DN_Y].type, valuePtr);
    return dn_answer(dn_run(h, &p, &a));
}

cudnnStatus_t CUDNNWINAPI cudnnScaleTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc, void *y, const void *alpha)
{
    dn_problem p;
    dn_args a;
    dn_call_begin("cudnnScaleTensor");
    dn_handle *h = begin_self(handle, DN_OP_SCALE, yDesc, y, &p, &a);
    if (!h || dn_scalar(alpha, (dn_dtype)p.t[DN_Y].type, "alpha", &a.alpha))
        return dn_answer(DN_BAD_PARAM);
    dn_status st = dn_pointwise_check(&p);
    return dn_answer(st == DN_SUCCESS ? dn_run(h, &p, &a) : st);
}
