/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation, first form, and the steps that all forms share. Ranks 3 to 8 are taken; the vendor's library runs 4 and 5. */
#include "ops/bn.h"

#include "norm.h"
#include "ops/act_fn.h"

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

void dn_bn_begin(dn_opcall *c, cudnnHandle_t handle, dn_dir dir, int mode)
{
    dn_opcall_begin(c, handle, DN_OP_BN, dir);
    c->p.u.bn.mode = mode;
    c->p.u.bn.act.mode = DN_ACT_RELU;  /* the problem line's standard: nothing to print where nothing is fused */
}

void dn_bn_epsilon(dn_opcall *c, double epsilon)
{
    c->a.eps = epsilon;
    if (c->st == DN_SUCCESS && !(epsilon >= CUDNN_BN_MIN_EPSILON))
        c->st = dn_fail(DN_BAD_PARAM, "epsilon is %g; it must be CUDNN_BN_MIN_EPSILON = %g or more", epsilon,
                        (double)CUDNN_BN_MIN_EPSILON);
}

void dn_bn_fuse(dn_opcall *c, int ops, const char *ops_name, cudnnActivationDescriptor_t act)
{
    if (c->st == DN_SUCCESS)
        c->st = dn_want_range(ops, 0, 2, ops_name, "0 (plain), 1 (activation) or 2 (add and activation)");
    if (c->st != DN_SUCCESS || (ops == 0 && !act))
        return;
    const dn_act_desc *d = ops ? dn_act_of(act, "activationDesc") : dn_object_of(&dn_act_pool, act, "activationDesc");
    if (!d) {
        c->st = DN_BAD_PARAM;
        return;
    }
    if (ops == 0)
        return;
    c->p.u.bn.ops = ops;
    c->p.u.bn.act = dn_act_param_of(&d->p);
}

void dn_bn_bind(dn_opcall *c, dn_role role, cudnnTensorDescriptor_t desc, const char *desc_name, const void *ptr, const char *name)
{
    if (c->st != DN_SUCCESS)
        return;
    const dn_tensor *t = dn_tensor_of(desc, desc_name);
    c->st = t ? dn_want(ptr, name) : DN_BAD_PARAM;
    if (c->st == DN_SUCCESS)
        dn_bind(&c->p, &c->a, role, t, ptr);
}

void dn_bn_shape(dn_opcall *c, dn_role role, cudnnTensorDescriptor_t desc, const char *desc_name)
{
    if (c->st != DN_SUCCESS)
        return;
    const dn_tensor *t = dn_tensor_of(desc, desc_name);
    if (t)
        c->p.t[role] = *t;
    else
        c->st = DN_BAD_PARAM;
}

void dn_bn_spare(dn_opcall *c, cudnnTensorDescriptor_t desc, const char *desc_name)
{
    if (c->st == DN_SUCCESS && desc && !dn_object_of(&dn_tensor_pool, desc, desc_name))
        c->st = DN_BAD_PARAM;
}

void dn_bn_want(dn_opcall *c, dn_aux which, const void *ptr, const char *name)
{
    if (c->st == DN_SUCCESS)
        c->st = dn_want(ptr, name);
    c->a.aux[which] = (void *)(uintptr_t)ptr;
}

/* Two pointers that are given together or not at all. */
static void want_both(dn_opcall *c, dn_aux first, const void *a, const char *a_name, dn_aux second, const void *b, const char *b_name)
{
    c->a.aux[first] = (void *)(uintptr_t)a;
    c->a.aux[second] = (void *)(uintptr_t)b;
    if (c->st == DN_SUCCESS && !a != !b)
        c->st = dn_fail(DN_BAD_PARAM, "%s is NULL and %s is not; both or none may be", a ? b_name : a_name, a ? a_name : b_name);
}

void dn_bn_statistics(dn_opcall *c, double factor, void *mean, void *var, void *save_mean, void *save_inv)
{
    c->a.factor = factor;
    want_both(c, DN_AUX_MEAN, mean, "resultRunningMean", DN_AUX_VAR, var, "resultRunningVariance");
    want_both(c, DN_AUX_SAVE_MEAN, save_mean, "resultSaveMean", DN_AUX_SAVE_INVSTD, save_inv, "resultSaveInvVariance");
}

void dn_bn_saved(dn_opcall *c, const void *mean, const void *inv)
{
    want_both(c, DN_AUX_SAVE_MEAN, mean, "savedMean", DN_AUX_SAVE_INVSTD, inv, "savedInvVariance");
}

static void scalar(dn_opcall *c, const void *ptr, const char *name, double *out)
{
    if (c->st == DN_SUCCESS)
        c->st = dn_scalar(ptr, (dn_dtype)c->p.t[DN_X].type, name, out);
}

void dn_bn_factors(dn_opcall *c, const void *alpha, const void *beta)
{
    scalar(c, alpha, "alpha", &c->a.alpha);
    scalar(c, beta, "beta", &c->a.beta);
}

void dn_bn_gradient_factors(dn_opcall *c, const void *alpha, const void *beta, const void *param_alpha, const void *param_beta)
{
    scalar(c, alpha, "alphaDataDiff", &c->a.alpha);
    scalar(c, beta, "betaDataDiff", &c->a.beta);
    scalar(c, param_alpha, "alphaParamDiff", &c->a.alpha2);
    scalar(c, param_beta, "betaParamDiff", &c->a.beta2);
}

void dn_bn_overlay(dn_opcall *c, dn_role out, const char *out_name, dn_role in, const char *in_name)
{
    if (c->st != DN_SUCCESS || !c->a.ptr[out] || c->a.ptr[in] != c->a.ptr[out])
        return;
    c->p.flags |= DN_F_IN_PLACE;
    if (!dn_tensor_same_layout(&c->p.t[in], &c->p.t[out]))
        c->st = dn_fail(DN_BAD_PARAM, "%s is written over %s, and their strides differ; in place they must be equal", out_name,
                        in_name);
}

void dn_bn_overlay_gradients(dn_opcall *c, const char *dx, const char *dz, const char *dy, const char *x)
{
    dn_bn_overlay(c, DN_DX, dx, DN_DY, dy);
    dn_bn_overlay(c, DN_DX, dx, DN_X, x);
    dn_bn_overlay(c, DN_DZ, dz, DN_DY, dy);
    dn_bn_overlay(c, DN_DZ, dz, DN_X, x);
    if (c->st == DN_SUCCESS && c->a.ptr[DN_DZ] && c->a.ptr[DN_DZ] == c->a.ptr[DN_DX])
        c->st = dn_fail(DN_BAD_PARAM, "%s and %s are the same memory; they are two results", dx, dz);
}

void dn_bn_buffers(dn_opcall *c, void *workspace, size_t workspace_size, void *reserve, size_t reserve_size)
{
    c->a.workspace = workspace;
    c->a.workspace_size = workspace_size;
    size_t need = c->st == DN_SUCCESS ? dn_bn_reserve_size(&c->p) : 0;
    if (!need)
        return;
    c->a.reserve = reserve;
    c->a.reserve_size = reserve_size;
    if (reserve_size < need)
        c->st = dn_fail(DN_BAD_PARAM, "reserveSpaceSizeInBytes is %zu; the mask of this activation needs %zu", reserve_size, need);
    else
        c->st = dn_want(reserve, "reserveSpace");
}

static void set_compute(dn_opcall *c)
{
    c->p.compute = (uint8_t)(c->p.t[DN_X].type == DN_F64 ? DN_F64 : DN_F32);
}

/* W describes all parameter arrays, so its alignment class is that of the least aligned of them. */
static void set_align(dn_opcall *c)
{
    uintptr_t bits = 16;
    for (int i = DN_AUX_SCALE; i <= DN_AUX_DBIAS; i++)
        bits |= (uintptr_t)c->a.aux[i];
    c->p.align[DN_W] = (uint8_t)(bits & -bits);
}

cudnnStatus_t dn_bn_run(dn_opcall *c)
{
    set_compute(c);
    set_align(c);
    if (c->a.beta == 0 && c->a.beta2 == 0)
        c->p.flags |= DN_F_BETA_ZERO;
    return dn_opcall_run(c, dn_bn_check);
}

cudnnStatus_t dn_bn_workspace(dn_opcall *c, size_t *size)
{
    set_compute(c);
    if (c->st == DN_SUCCESS)
        c->st = dn_want(size, "sizeInBytes");
    if (c->st == DN_SUCCESS)
        c->st = dn_bn_check(&c->p);
    return dn_answer(c->st == DN_SUCCESS ? dn_plan_workspace(c->h, &c->p, size) : c->st);
}

cudnnStatus_t dn_bn_reserve(dn_opcall *c, size_t *size)
{
    if (c->st == DN_SUCCESS)
        c->st = dn_want_range(c->p.u.bn.mode, 0, DN_BN_MODE_COUNT - 1, "mode", "a cudnnBatchNormMode_t, 0 to 2");
    if (c->st == DN_SUCCESS)
        c->st = dn_want(size, "sizeInBytes");
    if (c->st == DN_SUCCESS)
        *size = dn_bn_reserve_size(&c->p);
    return dn_answer(c->st);
}

cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationForwardInference(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
    const void *alpha, const void *beta, const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc,
    void *y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale, const void *bnBias,
    const void *estimatedMean, const void *estimatedVariance, double epsilon)
{
    dn_opcall c;
    dn_call_begin("cudnnBatchNormalizationForwardInference");
    dn_bn_begin(&c, handle, DN_DIR_INFER, (int)mode);
    dn_bn_epsilon(&c, epsilon);
    dn_bn_bind(&c, DN_X, xDesc, "xDesc", x, "x");
    dn_bn_bind(&c, DN_Y, yDesc, "yDesc", y, "y");
    dn_bn_bind(&c, DN_W, bnScaleBiasMeanVarDesc, "bnScaleBiasMeanVarDesc", bnScale, "bnScale");
    dn_bn_want(&c, DN_AUX_SCALE, bnScale, "bnScale");
    dn_bn_want(&c, DN_AUX_BIAS, bnBias, "bnBias");
    dn_bn_want(&c, DN_AUX_MEAN, estimatedMean, "estimatedMean");
    dn_bn_want(&c, DN_AUX_VAR, estimatedVariance, "estimatedVariance");
    dn_bn_factors(&c, alpha, beta);
    dn_bn_overlay(&c, DN_Y, "y", DN_X, "x");
    return dn_bn_run(&c);
}

/* Any exponentialAverageFactor is taken, as by the vendor's library; 1 does not read the running statistics. */
cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationForwardTraining(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
    const void *alpha, const void *beta, const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc,
    void *y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale, const void *bnBias,
    double exponentialAverageFactor, void *resultRunningMean, void *resultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance)
{
    dn_opcall c;
    dn_call_begin("cudnnBatchNormalizationForwardTraining");
    dn_bn_begin(&c, handle, DN_DIR_TRAIN, (int)mode);
    dn_bn_epsilon(&c, epsilon);
    dn_bn_bind(&c, DN_X, xDesc, "xDesc", x, "x");
    dn_bn_bind(&c, DN_Y, yDesc, "yDesc", y, "y");
    dn_bn_bind(&c, DN_W, bnScaleBiasMeanVarDesc, "bnScaleBiasMeanVarDesc", bnScale, "bnScale");
    dn_bn_want(&c, DN_AUX_SCALE, bnScale, "bnScale");
    dn_bn_want(&c, DN_AUX_BIAS, bnBias, "bnBias");
    dn_bn_statistics(&c, exponentialAverageFactor, resultRunningMean, resultRunningVariance, resultSaveMean, resultSaveInvVariance);
    dn_bn_factors(&c, alpha, beta);
    dn_bn_overlay(&c, DN_Y, "y", DN_X, "x");
    return dn_bn_run(&c);
}

cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationBackward(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
    const void *alphaDataDiff, const void *betaDataDiff, const void *alphaParamDiff, const void *betaParamDiff,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnTensorDescriptor_t dxDesc, void *dx, const cudnnTensorDescriptor_t dBnScaleBiasDesc, const void *bnScale,
    void *dBnScaleResult, void *dBnBiasResult, double epsilon, const void *savedMean, const void *savedInvVariance)
{
    dn_opcall c;
    dn_call_begin("cudnnBatchNormalizationBackward");
    dn_bn_begin(&c, handle, DN_DIR_BWD, (int)mode);
    dn_bn_epsilon(&c, epsilon);
    dn_bn_bind(&c, DN_X, xDesc, "xDesc", x, "x");
    dn_bn_bind(&c, DN_DY, dyDesc, "dyDesc", dy, "dy");
    dn_bn_bind(&c, DN_DX, dxDesc, "dxDesc", dx, "dx");
    dn_bn_bind(&c, DN_W, dBnScaleBiasDesc, "dBnScaleBiasDesc", bnScale, "bnScale");
    dn_bn_want(&c, DN_AUX_SCALE, bnScale, "bnScale");
    dn_bn_want(&c, DN_AUX_DSCALE, dBnScaleResult, "dBnScaleResult");
    dn_bn_want(&c, DN_AUX_DBIAS, dBnBiasResult, "dBnBiasResult");
    dn_bn_saved(&c, savedMean, savedInvVariance);
    dn_bn_gradient_factors(&c, alphaDataDiff, betaDataDiff, alphaParamDiff, betaParamDiff);
    dn_bn_overlay(&c, DN_DX, "dx", DN_DY, "dy");
    dn_bn_overlay(&c, DN_DX, "dx", DN_X, "x");
    return dn_bn_run(&c);
}
