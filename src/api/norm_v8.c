/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation, Normalization form: descriptors of scale and bias and of mean and variance apart, and an algorithm number.
 * It is the Ex form by other names: PER_CHANNEL is SPATIAL, or SPATIAL_PERSISTENT with ALGO_PERSIST. groupCnt is 1, here as at
 * the vendor's, so both parameter descriptors have the same shape; they must have the same strides. */
#include "norm.h"

#include "ops/bn.h"

/* An unknown number is NOT_SUPPORTED here, as documented for the algorithm; the vendor's 9.19 answers so to all three. */
static void want_known(dn_opcall *c, int v, int most, const char *name, const char *what)
{
    if (c->st == DN_SUCCESS && dn_want_range(v, 0, most, name, what))
        c->st = DN_NOT_SUPPORTED;
}

static void begin(dn_opcall *c, cudnnHandle_t handle, dn_dir dir, cudnnNormMode_t mode, cudnnNormOps_t ops, cudnnNormAlgo_t algo,
                  int groups)
{
    dn_bn_begin(c, handle, dir, 0);
    want_known(c, (int)mode, 1, "mode", "a cudnnNormMode_t, 0 or 1");
    want_known(c, (int)ops, 2, "normOps", "a cudnnNormOps_t, 0 to 2");
    want_known(c, (int)algo, 1, "algo", "a cudnnNormAlgo_t, 0 or 1");
    if (c->st == DN_SUCCESS && groups != 1)
        c->st = dn_fail(DN_NOT_SUPPORTED, "groupCnt is %d; it must be 1", groups);
    c->p.u.bn.mode = mode == CUDNN_NORM_PER_ACTIVATION ? DN_BN_PER_ACTIVATION
                   : algo == CUDNN_NORM_ALGO_PERSIST ? DN_BN_SPATIAL_PERSISTENT : DN_BN_SPATIAL;
}

/* After X and the tensor of scale and bias (W). */
static void params(dn_opcall *c, const char *w_name, cudnnTensorDescriptor_t mean_var)
{
    const dn_tensor *w = &c->p.t[DN_W], *x = &c->p.t[DN_X];
    if (c->st != DN_SUCCESS)
        return;
    const dn_tensor *m = dn_tensor_of(mean_var, "normMeanVarDesc");
    if (!m) {
        c->st = DN_BAD_PARAM;
        return;
    }
    if (x->rank < 3)
        return;  /* the check says so */
    c->st = dn_bn_check_param(x, w, c->p.u.bn.mode, w_name);
    if (c->st == DN_SUCCESS)
        c->st = dn_bn_check_param(x, m, c->p.u.bn.mode, "normMeanVarDesc");
    if (c->st == DN_SUCCESS && !dn_tensor_same_layout(m, w))
        c->st = dn_fail(DN_NOT_SUPPORTED, "normMeanVarDesc and %s have different strides; they must be equal", w_name);
}

cudnnStatus_t CUDNNWINAPI cudnnDeriveNormTensorDescriptor(cudnnTensorDescriptor_t derivedNormScaleBiasDesc,
    cudnnTensorDescriptor_t derivedNormMeanVarDesc, const cudnnTensorDescriptor_t xDesc, cudnnNormMode_t mode, int groupCnt)
{
    dn_call_begin("cudnnDeriveNormTensorDescriptor");
    dn_tensor_desc *w = dn_object_of(&dn_tensor_pool, derivedNormScaleBiasDesc, "derivedNormScaleBiasDesc");
    dn_tensor_desc *m = w ? dn_object_of(&dn_tensor_pool, derivedNormMeanVarDesc, "derivedNormMeanVarDesc") : NULL;
    const dn_tensor *x = m ? dn_tensor_of(xDesc, "xDesc") : NULL;
    if (!x || dn_want_range((int)mode, 0, 1, "mode", "a cudnnNormMode_t, 0 or 1"))
        return dn_answer(DN_BAD_PARAM);
    if (groupCnt != 1)
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "groupCnt is %d; it must be 1", groupCnt));
    dn_tensor derived;
    dn_bn_derive(x, (int)mode, &derived);
    w->t = m->t = derived;
    w->format = m->format = CUDNN_TENSOR_NCHW;
    w->set = m->set = 1;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnNormalizationForwardInference(cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t normOps,
    cudnnNormAlgo_t algo, const void *alpha, const void *beta, const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t normScaleBiasDesc, const void *normScale, const void *normBias,
    const cudnnTensorDescriptor_t normMeanVarDesc, const void *estimatedMean, const void *estimatedVariance,
    const cudnnTensorDescriptor_t zDesc, const void *z, cudnnActivationDescriptor_t activationDesc,
    const cudnnTensorDescriptor_t yDesc, void *y, double epsilon, int groupCnt)
{
    dn_opcall c;
    dn_call_begin("cudnnNormalizationForwardInference");
    begin(&c, handle, DN_DIR_INFER, mode, normOps, algo, groupCnt);
    dn_bn_epsilon(&c, epsilon);
    dn_bn_fuse(&c, (int)normOps, "normOps", activationDesc);
    dn_bn_bind(&c, DN_X, xDesc, "xDesc", x, "x");
    if (c.p.u.bn.ops == 2)
        dn_bn_bind(&c, DN_Z, zDesc, "zDesc", z, "z");
    else
        dn_bn_spare(&c, zDesc, "zDesc");
    dn_bn_bind(&c, DN_Y, yDesc, "yDesc", y, "y");
    dn_bn_bind(&c, DN_W, normScaleBiasDesc, "normScaleBiasDesc", normScale, "normScale");
    params(&c, "normScaleBiasDesc", normMeanVarDesc);
    dn_bn_want(&c, DN_AUX_SCALE, normScale, "normScale");
    dn_bn_want(&c, DN_AUX_BIAS, normBias, "normBias");
    dn_bn_want(&c, DN_AUX_MEAN, estimatedMean, "estimatedMean");
    dn_bn_want(&c, DN_AUX_VAR, estimatedVariance, "estimatedVariance");
    dn_bn_factors(&c, alpha, beta);
    dn_bn_overlay(&c, DN_Y, "y", DN_X, "x");
    dn_bn_overlay(&c, DN_Y, "y", DN_Z, "z");
    return dn_bn_run(&c);
}

cudnnStatus_t CUDNNWINAPI cudnnGetNormalizationForwardTrainingWorkspaceSize(cudnnHandle_t handle, cudnnNormMode_t mode,
    cudnnNormOps_t normOps, cudnnNormAlgo_t algo, const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t zDesc,
    const cudnnTensorDescriptor_t yDesc, const cudnnTensorDescriptor_t normScaleBiasDesc,
    const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t normMeanVarDesc, size_t *sizeInBytes, int groupCnt)
{
    dn_opcall c;
    dn_call_begin("cudnnGetNormalizationForwardTrainingWorkspaceSize");
    begin(&c, handle, DN_DIR_TRAIN, mode, normOps, algo, groupCnt);
    dn_bn_fuse(&c, (int)normOps, "normOps", activationDesc);
    dn_bn_shape(&c, DN_X, xDesc, "xDesc");
    dn_bn_shape(&c, DN_Y, yDesc, "yDesc");
    if (c.p.u.bn.ops == 2)
        dn_bn_shape(&c, DN_Z, zDesc, "zDesc");
    else
        dn_bn_spare(&c, zDesc, "zDesc");
    dn_bn_shape(&c, DN_W, normScaleBiasDesc, "normScaleBiasDesc");
    params(&c, "normScaleBiasDesc", normMeanVarDesc);
    return dn_bn_workspace(&c, sizeInBytes);
}

cudnnStatus_t CUDNNWINAPI cudnnGetNormalizationBackwardWorkspaceSize(cudnnHandle_t handle, cudnnNormMode_t mode,
    cudnnNormOps_t normOps, cudnnNormAlgo_t algo, const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t yDesc,
    const cudnnTensorDescriptor_t dyDesc, const cudnnTensorDescriptor_t dzDesc, const cudnnTensorDescriptor_t dxDesc,
    const cudnnTensorDescriptor_t dNormScaleBiasDesc, const cudnnActivationDescriptor_t activationDesc,
    const cudnnTensorDescriptor_t normMeanVarDesc, size_t *sizeInBytes, int groupCnt)
{
    dn_opcall c;
    dn_call_begin("cudnnGetNormalizationBackwardWorkspaceSize");
    begin(&c, handle, DN_DIR_BWD, mode, normOps, algo, groupCnt);
    dn_bn_fuse(&c, (int)normOps, "normOps", activationDesc);
    dn_bn_shape(&c, DN_X, xDesc, "xDesc");
    dn_bn_spare(&c, yDesc, "yDesc");
    dn_bn_shape(&c, DN_DY, dyDesc, "dyDesc");
    dn_bn_shape(&c, DN_DX, dxDesc, "dxDesc");
    if (c.p.u.bn.ops == 2)
        dn_bn_shape(&c, DN_DZ, dzDesc, "dzDesc");
    else
        dn_bn_spare(&c, dzDesc, "dzDesc");
    dn_bn_shape(&c, DN_W, dNormScaleBiasDesc, "dNormScaleBiasDesc");
    params(&c, "dNormScaleBiasDesc", normMeanVarDesc);
    return dn_bn_workspace(&c, sizeInBytes);
}

cudnnStatus_t CUDNNWINAPI cudnnGetNormalizationTrainingReserveSpaceSize(cudnnHandle_t handle, cudnnNormMode_t mode,
    cudnnNormOps_t normOps, cudnnNormAlgo_t algo, const cudnnActivationDescriptor_t activationDesc,
    const cudnnTensorDescriptor_t xDesc, size_t *sizeInBytes, int groupCnt)
{
    dn_opcall c;
    dn_call_begin("cudnnGetNormalizationTrainingReserveSpaceSize");
    begin(&c, handle, DN_DIR_TRAIN, mode, normOps, algo, groupCnt);
    dn_bn_fuse(&c, (int)normOps, "normOps", activationDesc);
    dn_bn_shape(&c, DN_X, xDesc, "xDesc");
    return dn_bn_reserve(&c, sizeInBytes);
}

cudnnStatus_t CUDNNWINAPI cudnnNormalizationForwardTraining(cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t normOps,
    cudnnNormAlgo_t algo, const void *alpha, const void *beta, const cudnnTensorDescriptor_t xDesc, const void *xData,
    const cudnnTensorDescriptor_t normScaleBiasDesc, const void *normScale, const void *normBias, double exponentialAverageFactor,
    const cudnnTensorDescriptor_t normMeanVarDesc, void *resultRunningMean, void *resultRunningVariance, double epsilon,
    void *resultSaveMean, void *resultSaveInvVariance, cudnnActivationDescriptor_t activationDesc,
    const cudnnTensorDescriptor_t zDesc, const void *zData, const cudnnTensorDescriptor_t yDesc, void *yData, void *workspace,
    size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes, int groupCnt)
{
    dn_opcall c;
    dn_call_begin("cudnnNormalizationForwardTraining");
    begin(&c, handle, DN_DIR_TRAIN, mode, normOps, algo, groupCnt);
    dn_bn_epsilon(&c, epsilon);
    dn_bn_fuse(&c, (int)normOps, "normOps", activationDesc);
    dn_bn_bind(&c, DN_X, xDesc, "xDesc", xData, "xData");
    if (c.p.u.bn.ops == 2)
        dn_bn_bind(&c, DN_Z, zDesc, "zDesc", zData, "zData");
    else
        dn_bn_spare(&c, zDesc, "zDesc");
    dn_bn_bind(&c, DN_Y, yDesc, "yDesc", yData, "yData");
    dn_bn_bind(&c, DN_W, normScaleBiasDesc, "normScaleBiasDesc", normScale, "normScale");
    params(&c, "normScaleBiasDesc", normMeanVarDesc);
    dn_bn_want(&c, DN_AUX_SCALE, normScale, "normScale");
    dn_bn_want(&c, DN_AUX_BIAS, normBias, "normBias");
    dn_bn_statistics(&c, exponentialAverageFactor, resultRunningMean, resultRunningVariance, resultSaveMean, resultSaveInvVariance);
    dn_bn_factors(&c, alpha, beta);
    dn_bn_overlay(&c, DN_Y, "yData", DN_X, "xData");
    dn_bn_overlay(&c, DN_Y, "yData", DN_Z, "zData");
    dn_bn_buffers(&c, workspace, workSpaceSizeInBytes, reserveSpace, reserveSpaceSizeInBytes);
    return dn_bn_run(&c);
}

cudnnStatus_t CUDNNWINAPI cudnnNormalizationBackward(cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t normOps,
    cudnnNormAlgo_t algo, const void *alphaDataDiff, const void *betaDataDiff, const void *alphaParamDiff,
    const void *betaParamDiff, const cudnnTensorDescriptor_t xDesc, const void *xData, const cudnnTensorDescriptor_t yDesc,
    const void *yData, const cudnnTensorDescriptor_t dyDesc, const void *dyData, const cudnnTensorDescriptor_t dzDesc, void *dzData,
    const cudnnTensorDescriptor_t dxDesc, void *dxData, const cudnnTensorDescriptor_t dNormScaleBiasDesc, const void *normScaleData,
    const void *normBiasData, void *dNormScaleData, void *dNormBiasData, double epsilon,
    const cudnnTensorDescriptor_t normMeanVarDesc, const void *savedMean, const void *savedInvVariance,
    cudnnActivationDescriptor_t activationDesc, void *workSpace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes, int groupCnt)
{
    dn_opcall c;
    dn_call_begin("cudnnNormalizationBackward");
    (void)yData, (void)normBiasData;
    begin(&c, handle, DN_DIR_BWD, mode, normOps, algo, groupCnt);
    dn_bn_epsilon(&c, epsilon);
    dn_bn_fuse(&c, (int)normOps, "normOps", activationDesc);
    dn_bn_bind(&c, DN_X, xDesc, "xDesc", xData, "xData");
    dn_bn_spare(&c, yDesc, "yDesc");
    dn_bn_bind(&c, DN_DY, dyDesc, "dyDesc", dyData, "dyData");
    dn_bn_bind(&c, DN_DX, dxDesc, "dxDesc", dxData, "dxData");
    if (c.p.u.bn.ops == 2)
        dn_bn_bind(&c, DN_DZ, dzDesc, "dzDesc", dzData, "dzData");
    else
        dn_bn_spare(&c, dzDesc, "dzDesc");
    dn_bn_bind(&c, DN_W, dNormScaleBiasDesc, "dNormScaleBiasDesc", normScaleData, "normScaleData");
    params(&c, "dNormScaleBiasDesc", normMeanVarDesc);
    dn_bn_want(&c, DN_AUX_SCALE, normScaleData, "normScaleData");
    dn_bn_want(&c, DN_AUX_DSCALE, dNormScaleData, "dNormScaleData");
    dn_bn_want(&c, DN_AUX_DBIAS, dNormBiasData, "dNormBiasData");
    dn_bn_saved(&c, savedMean, savedInvVariance);
    dn_bn_gradient_factors(&c, alphaDataDiff, betaDataDiff, alphaParamDiff, betaParamDiff);
    dn_bn_overlay_gradients(&c, "dxData", "dzData", "dyData", "xData");
    dn_bn_buffers(&c, workSpace, workSpaceSizeInBytes, reserveSpace, reserveSpaceSizeInBytes);
    return dn_bn_run(&c);
}
