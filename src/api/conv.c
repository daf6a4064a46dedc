/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution calls that run: forward, the gradients, and forward with bias and activation. */
#include "conv.h"

#include <string.h>

void dn_conv_begin(dn_conv_call *c, cudnnHandle_t handle, dn_dir dir, const cudnnConvolutionDescriptor_t conv, int algo, int count)
{
    memset(c, 0, sizeof *c);
    dn_problem_init(&c->p, DN_OP_CONV, dir);
    c->h = dn_handle_of(handle);
    const dn_conv_desc *d = c->h ? dn_conv_of(conv, "convDesc") : NULL;
    c->st = d ? DN_SUCCESS : DN_BAD_PARAM;
    if (c->st != DN_SUCCESS)
        return;
    if (count && (algo < 0 || algo >= count))
        c->st = dn_want_range(algo, 0, count - 1, "algo", "an enumerator of this direction");
    c->p.u.conv = d->p;
    c->p.algo = (int16_t)algo;
    c->p.math = (uint8_t)d->math;
    c->p.compute = (uint8_t)d->compute;
    c->math = d->math;
    c->reorder = d->reorder;
}

static void bind(dn_conv_call *c, dn_role role, const dn_tensor *t, const void *ptr, const char *ptr_name)
{
    c->st = t ? DN_SUCCESS : DN_BAD_PARAM;
    if (c->st == DN_SUCCESS && ptr_name)
        c->st = dn_want(ptr, ptr_name);
    if (c->st == DN_SUCCESS)
        dn_bind(&c->p, &c->a, role, t, ptr);
}

void dn_conv_bind_tensor(dn_conv_call *c, dn_role role, const cudnnTensorDescriptor_t desc, const char *desc_name, const void *ptr,
                         const char *ptr_name)
{
    if (c->st == DN_SUCCESS)
        bind(c, role, dn_tensor_of(desc, desc_name), ptr, ptr_name);
}

void dn_conv_bind_filter(dn_conv_call *c, const cudnnFilterDescriptor_t desc, const char *desc_name, const void *ptr,
                         const char *ptr_name)
{
    if (c->st != DN_SUCCESS)
        return;
    const dn_filter_desc *d = dn_filter_of(desc, desc_name);
    bind(c, DN_W, d ? &d->t : NULL, ptr, ptr_name);
    c->p.u.conv.reordered = c->reorder == CUDNN_NO_REORDER && d && d->t.type == DN_I8X32;
}

void dn_conv_bind_workspace(dn_conv_call *c, void *workspace, size_t size)
{
    if (c->st == DN_SUCCESS && !workspace && size)
        c->st = dn_fail(DN_BAD_PARAM, "workSpace is NULL and workSpaceSizeInBytes is %zu; NULL goes with 0 alone", size);
    c->a.workspace = workspace;
    c->a.workspace_size = size;
}

/* Floating types must agree; an integer convolution may put out another type than it reads. */
static dn_status check_types(const dn_problem *p)
{
    dn_dtype x = (dn_dtype)p->t[DN_X].type, w = (dn_dtype)p->t[DN_W].type, y = (dn_dtype)p->t[DN_Y].type;
    bool integer = !dn_dtype_is_float(x) && !dn_dtype_is_float(w);
    if ((x != w && !integer) || (x != y && !integer))
        return dn_fail(DN_BAD_PARAM, "xDesc, wDesc and yDesc have the types %s, %s and %s; they must be equal", dn_dtype_name(x),
                       dn_dtype_name(w), dn_dtype_name(y));
    return DN_SUCCESS;
}

/* Every output element is a sum of many inputs, so a result may not lie on what it is made of; z alone is read element by element. */
static dn_status check_overlay(const dn_conv_call *c)
{
    static const dn_role outs[] = {[DN_DIR_FWD] = DN_Y, [DN_DIR_BWD_DATA] = DN_X, [DN_DIR_BWD_FILTER] = DN_W, [DN_DIR_BWD_BIAS] = DN_B};
    dn_role out = outs[c->p.dir];
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        if (r == (int)out || !c->a.ptr[r] || c->a.ptr[r] != c->a.ptr[out])
            continue;
        if (r != DN_Z)
            return dn_fail(DN_BAD_PARAM, "the output is written over an input; a convolution cannot work in place");
        if (c->a.alpha2 != 0 && (c->p.t[r].type != c->p.t[out].type || !dn_tensor_same_layout(&c->p.t[r], &c->p.t[out])))
            return dn_fail(DN_BAD_PARAM, "z and y are one buffer, and their types or strides differ; in place they must be equal");
    }
    return DN_SUCCESS;
}

void dn_conv_verify(dn_conv_call *c)
{
    if (c->st == DN_SUCCESS)
        c->st = dn_conv_check(&c->p);
    if (c->st == DN_SUCCESS)
        c->st = check_overlay(c);
    if (c->st == DN_SUCCESS && c->p.dir != DN_DIR_BWD_BIAS)
        c->st = check_types(&c->p);
}

/* Scaling factors are float, or double for double data. */
static void scalars(dn_conv_call *c, dn_role data, const void *alpha, const void *beta)
{
    dn_dtype type = (dn_dtype)c->p.t[data].type;
    if (c->st == DN_SUCCESS)
        c->st = dn_scalar(alpha, type, "alpha", &c->a.alpha);
    if (c->st == DN_SUCCESS)
        c->st = dn_scalar(beta, type, "beta", &c->a.beta);
    if (c->a.beta == 0)
        c->p.flags |= DN_F_BETA_ZERO;
}

static cudnnStatus_t finish(dn_conv_call *c)
{
    dn_conv_verify(c);
    return dn_answer(c->st == DN_SUCCESS ? dn_run(c->h, &c->p, &c->a) : c->st);
}

cudnnStatus_t CUDNNWINAPI cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t xDesc,
    const void *x, const cudnnFilterDescriptor_t wDesc, const void *w, const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionFwdAlgo_t algo, void *workSpace, size_t workSpaceSizeInBytes, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y)
{
    dn_conv_call c;
    dn_call_begin("cudnnConvolutionForward");
    dn_conv_begin(&c, handle, DN_DIR_FWD, convDesc, (int)algo, CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
    dn_conv_bind_tensor(&c, DN_X, xDesc, "xDesc", x, "x");
    dn_conv_bind_filter(&c, wDesc, "wDesc", w, "w");
    dn_conv_bind_tensor(&c, DN_Y, yDesc, "yDesc", y, "y");
    dn_conv_bind_workspace(&c, workSpace, workSpaceSizeInBytes);
    scalars(&c, DN_Y, alpha, beta);
    return finish(&c);
}

cudnnStatus_t CUDNNWINAPI cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnTensorDescriptor_t dyDesc, const void *dy, const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionBwdDataAlgo_t algo, void *workSpace, size_t workSpaceSizeInBytes, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx)
{
    dn_conv_call c;
    dn_call_begin("cudnnConvolutionBackwardData");
    dn_conv_begin(&c, handle, DN_DIR_BWD_DATA, convDesc, (int)algo, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT);
    dn_conv_bind_filter(&c, wDesc, "wDesc", w, "w");
    dn_conv_bind_tensor(&c, DN_Y, dyDesc, "dyDesc", dy, "dy");
    dn_conv_bind_tensor(&c, DN_X, dxDesc, "dxDesc", dx, "dx");
    dn_conv_bind_workspace(&c, workSpace, workSpaceSizeInBytes);
    scalars(&c, DN_X, alpha, beta);
    return finish(&c);
}

cudnnStatus_t CUDNNWINAPI cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t xDesc,
    const void *x, const cudnnTensorDescriptor_t dyDesc, const void *dy, const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionBwdFilterAlgo_t algo, void *workSpace, size_t workSpaceSizeInBytes, const void *beta,
    const cudnnFilterDescriptor_t dwDesc, void *dw)
{
    dn_conv_call c;
    dn_call_begin("cudnnConvolutionBackwardFilter");
    dn_conv_begin(&c, handle, DN_DIR_BWD_FILTER, convDesc, (int)algo, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT);
    dn_conv_bind_tensor(&c, DN_X, xDesc, "xDesc", x, "x");
    dn_conv_bind_tensor(&c, DN_Y, dyDesc, "dyDesc", dy, "dy");
    dn_conv_bind_filter(&c, dwDesc, "dwDesc", dw, "dw");
    dn_conv_bind_workspace(&c, workSpace, workSpaceSizeInBytes);
    scalars(&c, DN_W, alpha, beta);
    return finish(&c);
}

cudnnStatus_t CUDNNWINAPI cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t dyDesc,
    const void *dy, const void *beta, const cudnnTensorDescriptor_t dbDesc, void *db)
{
    dn_conv_call c;
    dn_call_begin("cudnnConvolutionBackwardBias");
    memset(&c, 0, sizeof c);
    dn_problem_init(&c.p, DN_OP_CONV, DN_DIR_BWD_BIAS);
    c.h = dn_handle_of(handle);
    c.st = c.h ? DN_SUCCESS : DN_BAD_PARAM;
    dn_conv_bind_tensor(&c, DN_Y, dyDesc, "dyDesc", dy, "dy");
    dn_conv_bind_tensor(&c, DN_B, dbDesc, "dbDesc", db, "db");
    scalars(&c, DN_Y, alpha, beta);
    c.p.compute = c.p.t[DN_Y].type == DN_F64 ? DN_F64 : DN_F32;
    c.p.u.conv.spatial = c.p.t[DN_Y].rank - 2;
    c.p.u.conv.groups = 1;
    for (int j = 0; j < c.p.u.conv.spatial; j++)
        c.p.u.conv.stride[j] = c.p.u.conv.dilation[j] = 1;
    if (c.st == DN_SUCCESS && c.p.t[DN_Y].type != c.p.t[DN_B].type)
        c.st = dn_fail(DN_BAD_PARAM, "dyDesc has type %s, dbDesc has %s; they must be equal", dn_dtype_name(c.p.t[DN_Y].type),
                       dn_dtype_name(c.p.t[DN_B].type));
    return finish(&c);
}

/* alpha1 and alpha2 are the convolution's and z's; z is not read where alpha2 is 0. */
cudnnStatus_t CUDNNWINAPI cudnnConvolutionBiasActivationForward(cudnnHandle_t handle, const void *alpha1,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnConvolutionDescriptor_t convDesc, cudnnConvolutionFwdAlgo_t algo, void *workSpace, size_t workSpaceSizeInBytes,
    const void *alpha2, const cudnnTensorDescriptor_t zDesc, const void *z, const cudnnTensorDescriptor_t biasDesc, const void *bias,
    const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t yDesc, void *y)
{
    dn_conv_call c;
    dn_call_begin("cudnnConvolutionBiasActivationForward");
    dn_conv_begin(&c, handle, DN_DIR_FWD, convDesc, (int)algo, CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
    c.p.op = DN_OP_CONV_BIAS_ACT;
    dn_conv_bind_tensor(&c, DN_X, xDesc, "xDesc", x, "x");
    dn_conv_bind_filter(&c, wDesc, "wDesc", w, "w");
    dn_conv_bind_tensor(&c, DN_Z, zDesc, "zDesc", z, "z");
    dn_conv_bind_tensor(&c, DN_B, biasDesc, "biasDesc", bias, "bias");
    dn_conv_bind_tensor(&c, DN_Y, yDesc, "yDesc", y, "y");
    dn_conv_bind_workspace(&c, workSpace, workSpaceSizeInBytes);
    const dn_act_desc *act = c.st == DN_SUCCESS ? dn_act_of(activationDesc, "activationDesc") : NULL;
    if (c.st == DN_SUCCESS && !act)
        c.st = DN_BAD_PARAM;
    if (c.st == DN_SUCCESS)
        c.st = dn_scalar(alpha1, (dn_dtype)c.p.t[DN_Y].type, "alpha1", &c.a.alpha);
    if (c.st == DN_SUCCESS)
        c.st = dn_scalar(alpha2, (dn_dtype)c.p.t[DN_Y].type, "alpha2", &c.a.alpha2);
    if (c.st == DN_SUCCESS)
        c.p.u.conv.act = act->p;
    c.p.flags |= DN_F_BETA_ZERO;
    if (z == y)
        c.p.flags |= DN_F_IN_PLACE;
    return finish(&c);
}
