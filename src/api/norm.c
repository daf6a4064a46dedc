/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation, first form (the Ex and Normalization forms are not real yet). Ranks 3 to 8 are taken; the vendor's library
 * runs 4 and 5. */
#include "ops/bn.h"

#include "api.h"

#include <string.h>

cudnnStatus_t CUDNNWINAPI cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t derivedBnDesc, const cudnnTensorDescriptor_t xDesc,
                                                        cudnnBatchNormMode_t mode)
{
    dn_call_begin("cudnnDeriveBNTensorDescriptor");
    dn_tensor_desc *out = dn_object_of(&dn_tensor_pool, derivedBnDesc, "derivedBnDesc");
    const dn_tensor *x = out ? dn_tensor_of(xDesc, "xDesc") : NULL;
    if (!x || dn_want_range((int)mode, 0, DN_BN_MODE_COUNT - 1, "mode", "a cudnnBatchNormMode_t, 0 to 2"))
        return dn_answer(DN_BAD_PARAM);
    dn_bn_derive(x, (int)mode, &out->t);
    out->format = CUDNN_TENSOR_NCHW;
    out->set = 1;
    return CUDNN_STATUS_SUCCESS;
}

/* A call being put together: the first failure stays in st, and what follows does nothing. */
typedef struct bn_call {
    dn_problem p;
    dn_args a;
    dn_handle *h;
    dn_status st;
} bn_call;

static void begin(bn_call *c, cudnnHandle_t handle, dn_dir dir, int mode, double epsilon)
{
    memset(c, 0, sizeof *c);
    dn_problem_init(&c->p, DN_OP_BN, dir);
    c->p.u.bn.mode = mode;
    c->a.eps = epsilon;
    c->h = dn_handle_of(handle);
    c->st = c->h ? DN_SUCCESS : DN_BAD_PARAM;
    if (c->st == DN_SUCCESS && !(epsilon >= CUDNN_BN_MIN_EPSILON))
        c->st = dn_fail(DN_BAD_PARAM, "epsilon is %g; it must be CUDNN_BN_MIN_EPSILON = %g or more", epsilon,
                        (double)CUDNN_BN_MIN_EPSILON);
}

static void bind(bn_call *c, dn_role role, cudnnTensorDescriptor_t desc, const char *desc_name, const void *ptr, const char *name)
{
    if (c->st != DN_SUCCESS)
        return;
    const dn_tensor *t = dn_tensor_of(desc, desc_name);
    c->st = t ? dn_want(ptr, name) : DN_BAD_PARAM;
    if (c->st == DN_SUCCESS)
        dn_bind(&c->p, &c->a, role, t, ptr);
}

static void want(bn_call *c, dn_aux which, const void *ptr, const char *name)
{
    if (c->st == DN_SUCCESS)
        c->st = dn_want(ptr, name);
    c->a.aux[which] = (void *)(uintptr_t)ptr;
}

/* Two pointers that are given together or not at all. */
static void want_both(bn_call *c, dn_aux first, const void *a, const char *a_name, dn_aux second, const void *b, const char *b_name)
{
    c->a.aux[first] = (void *)(uintptr_t)a;
    c->a.aux[second] = (void *)(uintptr_t)b;
    if (c->st == DN_SUCCESS && !a != !b)
        c->st = dn_fail(DN_BAD_PARAM, "%s is NULL and %s is not; both or none may be", a ? b_name : a_name, a ? a_name : b_name);
}

/* After bind: the factors are float, or double for double data. */
static void scalar(bn_call *c, const void *ptr, const char *name, double *out)
{
    if (c->st == DN_SUCCESS)
        c->st = dn_scalar(ptr, (dn_dtype)c->p.t[DN_X].type, name, out);
}

static void flag(bn_call *c, const void *in, const void *out)
{
    if (c->a.beta == 0 && c->a.beta2 == 0)
        c->p.flags |= DN_F_BETA_ZERO;
    if (in == out)
        c->p.flags |= DN_F_IN_PLACE;
}

static cudnnStatus_t finish(bn_call *c)
{
    if (c->st == DN_SUCCESS)
        c->st = dn_bn_check(&c->p);
    return dn_answer(c->st == DN_SUCCESS ? dn_run(c->h, &c->p, &c->a) : c->st);
}

cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationForwardInference(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
    const void *alpha, const void *beta, const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc,
    void *y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale, const void *bnBias,
    const void *estimatedMean, const void *estimatedVariance, double epsilon)
{
    bn_call c;
    dn_call_begin("cudnnBatchNormalizationForwardInference");
    begin(&c, handle, DN_DIR_INFER, (int)mode, epsilon);
    bind(&c, DN_X, xDesc, "xDesc", x, "x");
    bind(&c, DN_Y, yDesc, "yDesc", y, "y");
    bind(&c, DN_W, bnScaleBiasMeanVarDesc, "bnScaleBiasMeanVarDesc", bnScale, "bnScale");
    want(&c, DN_AUX_SCALE, bnScale, "bnScale");
    want(&c, DN_AUX_BIAS, bnBias, "bnBias");
    want(&c, DN_AUX_MEAN, estimatedMean, "estimatedMean");
    want(&c, DN_AUX_VAR, estimatedVariance, "estimatedVariance");
    scalar(&c, alpha, "alpha", &c.a.alpha);
    scalar(&c, beta, "beta", &c.a.beta);
    flag(&c, x, y);
    return finish(&c);
}

/* Any exponentialAverageFactor is taken, as by the vendor's library; 1 does not read the running statistics. */
cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationForwardTraining(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
    const void *alpha, const void *beta, const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc,
    void *y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale, const void *bnBias,
    double exponentialAverageFactor, void *resultRunningMean, void *resultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance)
{
    bn_call c;
    dn_call_begin("cudnnBatchNormalizationForwardTraining");
    begin(&c, handle, DN_DIR_TRAIN, (int)mode, epsilon);
    bind(&c, DN_X, xDesc, "xDesc", x, "x");
    bind(&c, DN_Y, yDesc, "yDesc", y, "y");
    bind(&c, DN_W, bnScaleBiasMeanVarDesc, "bnScaleBiasMeanVarDesc", bnScale, "bnScale");
    want(&c, DN_AUX_SCALE, bnScale, "bnScale");
    want(&c, DN_AUX_BIAS, bnBias, "bnBias");
    want_both(&c, DN_AUX_MEAN, resultRunningMean, "resultRunningMean", DN_AUX_VAR, resultRunningVariance, "resultRunningVariance");
    want_both(&c, DN_AUX_SAVE_MEAN, resultSaveMean, "resultSaveMean", DN_AUX_SAVE_INVSTD, resultSaveInvVariance,
              "resultSaveInvVariance");
    scalar(&c, alpha, "alpha", &c.a.alpha);
    scalar(&c, beta, "beta", &c.a.beta);
    c.a.factor = exponentialAverageFactor;
    flag(&c, x, y);
    return finish(&c);
}

/* dx over x or over dy is right where the strides are equal: each element is read before it is written. */
static void check_in_place(bn_call *c, dn_role in, const char *in_name)
{
    if (c->st == DN_SUCCESS && c->a.ptr[in] == c->a.ptr[DN_DX] && !dn_tensor_same_layout(&c->p.t[in], &c->p.t[DN_DX]))
        c->st = dn_fail(DN_BAD_PARAM, "dx is written over %s, and their strides differ; in place they must be equal", in_name);
}

cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationBackward(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
    const void *alphaDataDiff, const void *betaDataDiff, const void *alphaParamDiff, const void *betaParamDiff,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnTensorDescriptor_t dxDesc, void *dx, const cudnnTensorDescriptor_t dBnScaleBiasDesc, const void *bnScale,
    void *dBnScaleResult, void *dBnBiasResult, double epsilon, const void *savedMean, const void *savedInvVariance)
{
    bn_call c;
    dn_call_begin("cudnnBatchNormalizationBackward");
    begin(&c, handle, DN_DIR_BWD, (int)mode, epsilon);
    bind(&c, DN_X, xDesc, "xDesc", x, "x");
    bind(&c, DN_DY, dyDesc, "dyDesc", dy, "dy");
    bind(&c, DN_DX, dxDesc, "dxDesc", dx, "dx");
    bind(&c, DN_W, dBnScaleBiasDesc, "dBnScaleBiasDesc", bnScale, "bnScale");
    want(&c, DN_AUX_SCALE, bnScale, "bnScale");
    want(&c, DN_AUX_DSCALE, dBnScaleResult, "dBnScaleResult");
    want(&c, DN_AUX_DBIAS, dBnBiasResult, "dBnBiasResult");
    want_both(&c, DN_AUX_SAVE_MEAN, savedMean, "savedMean", DN_AUX_SAVE_INVSTD, savedInvVariance, "savedInvVariance");
    scalar(&c, alphaDataDiff, "alphaDataDiff", &c.a.alpha);
    scalar(&c, betaDataDiff, "betaDataDiff", &c.a.beta);
    scalar(&c, alphaParamDiff, "alphaParamDiff", &c.a.alpha2);
    scalar(&c, betaParamDiff, "betaParamDiff", &c.a.beta2);
    check_in_place(&c, DN_DY, "dy");
    check_in_place(&c, DN_X, "x");
    flag(&c, x == dx ? x : dy, dx);
    return finish(&c);
}
