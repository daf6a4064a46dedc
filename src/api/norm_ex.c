/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation, Ex form: fused with an activation, or with an addition and an activation. Any layout, type and mode is
 * taken where the vendor's library fuses NHWC half precision with SPATIAL_PERSISTENT alone; the activation is ReLU or clipped
 * ReLU. y and bnBias of the backward call are not read: the mask in the reserve space says where the gradient goes through. */
#include "norm.h"

cudnnStatus_t CUDNNWINAPI cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
    cudnnBatchNormOps_t bnOps, const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t zDesc,
    const cudnnTensorDescriptor_t yDesc, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,
    const cudnnActivationDescriptor_t activationDesc, size_t *sizeInBytes)
{
    dn_opcall c;
    dn_call_begin("cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize");
    dn_bn_begin(&c, handle, DN_DIR_TRAIN, (int)mode);
    dn_bn_fuse(&c, (int)bnOps, "bnOps", activationDesc);
    dn_bn_shape(&c, DN_X, xDesc, "xDesc");
    dn_bn_shape(&c, DN_Y, yDesc, "yDesc");
    if (c.p.u.bn.ops == 2)
        dn_bn_shape(&c, DN_Z, zDesc, "zDesc");
    else
        dn_bn_spare(&c, zDesc, "zDesc");
    dn_bn_shape(&c, DN_W, bnScaleBiasMeanVarDesc, "bnScaleBiasMeanVarDesc");
    return dn_bn_workspace(&c, sizeInBytes);
}

cudnnStatus_t CUDNNWINAPI cudnnGetBatchNormalizationBackwardExWorkspaceSize(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
    cudnnBatchNormOps_t bnOps, const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t yDesc,
    const cudnnTensorDescriptor_t dyDesc, const cudnnTensorDescriptor_t dzDesc, const cudnnTensorDescriptor_t dxDesc,
    const cudnnTensorDescriptor_t dBnScaleBiasDesc, const cudnnActivationDescriptor_t activationDesc, size_t *sizeInBytes)
{
    dn_opcall c;
    dn_call_begin("cudnnGetBatchNormalizationBackwardExWorkspaceSize");
    dn_bn_begin(&c, handle, DN_DIR_BWD, (int)mode);
    dn_bn_fuse(&c, (int)bnOps, "bnOps", activationDesc);
    dn_bn_shape(&c, DN_X, xDesc, "xDesc");
    dn_bn_spare(&c, yDesc, "yDesc");
    dn_bn_shape(&c, DN_DY, dyDesc, "dyDesc");
    dn_bn_shape(&c, DN_DX, dxDesc, "dxDesc");
    if (c.p.u.bn.ops == 2)
        dn_bn_shape(&c, DN_DZ, dzDesc, "dzDesc");
    else
        dn_bn_spare(&c, dzDesc, "dzDesc");
    dn_bn_shape(&c, DN_W, dBnScaleBiasDesc, "dBnScaleBiasDesc");
    return dn_bn_workspace(&c, sizeInBytes);
}

cudnnStatus_t CUDNNWINAPI cudnnGetBatchNormalizationTrainingExReserveSpaceSize(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
    cudnnBatchNormOps_t bnOps, const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t xDesc,
    size_t *sizeInBytes)
{
    dn_opcall c;
    dn_call_begin("cudnnGetBatchNormalizationTrainingExReserveSpaceSize");
    dn_bn_begin(&c, handle, DN_DIR_TRAIN, (int)mode);
    dn_bn_fuse(&c, (int)bnOps, "bnOps", activationDesc);
    dn_bn_shape(&c, DN_X, xDesc, "xDesc");
    return dn_bn_reserve(&c, sizeInBytes);
}

cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationForwardTrainingEx(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
    cudnnBatchNormOps_t bnOps, const void *alpha, const void *beta, const cudnnTensorDescriptor_t xDesc, const void *xData,
    const cudnnTensorDescriptor_t zDesc, const void *zData, const cudnnTensorDescriptor_t yDesc, void *yData,
    const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale, const void *bnBias, double exponentialAverageFactor,
    void *resultRunningMean, void *resultRunningVariance, double epsilon, void *resultSaveMean, void *resultSaveInvVariance,
    cudnnActivationDescriptor_t activationDesc, void *workspace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes)
{
    dn_opcall c;
    dn_call_begin("cudnnBatchNormalizationForwardTrainingEx");
    dn_bn_begin(&c, handle, DN_DIR_TRAIN, (int)mode);
    dn_bn_epsilon(&c, epsilon);
    dn_bn_fuse(&c, (int)bnOps, "bnOps", activationDesc);
    dn_bn_bind(&c, DN_X, xDesc, "xDesc", xData, "xData");
    if (c.p.u.bn.ops == 2)
        dn_bn_bind(&c, DN_Z, zDesc, "zDesc", zData, "zData");
    else
        dn_bn_spare(&c, zDesc, "zDesc");
    dn_bn_bind(&c, DN_Y, yDesc, "yDesc", yData, "yData");
    dn_bn_bind(&c, DN_W, bnScaleBiasMeanVarDesc, "bnScaleBiasMeanVarDesc", bnScale, "bnScale");
    dn_bn_want(&c, DN_AUX_SCALE, bnScale, "bnScale");
    dn_bn_want(&c, DN_AUX_BIAS, bnBias, "bnBias");
    dn_bn_statistics(&c, exponentialAverageFactor, resultRunningMean, resultRunningVariance, resultSaveMean, resultSaveInvVariance);
    dn_bn_factors(&c, alpha, beta);
    dn_bn_overlay(&c, DN_Y, "yData", DN_X, "xData");
    dn_bn_overlay(&c, DN_Y, "yData", DN_Z, "zData");
    dn_bn_buffers(&c, workspace, workSpaceSizeInBytes, reserveSpace, reserveSpaceSizeInBytes);
    return dn_bn_run(&c);
}

cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationBackwardEx(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
    cudnnBatchNormOps_t bnOps, const void *alphaDataDiff, const void *betaDataDiff, const void *alphaParamDiff,
    const void *betaParamDiff, const cudnnTensorDescriptor_t xDesc, const void *xData, const cudnnTensorDescriptor_t yDesc,
    const void *yData, const cudnnTensorDescriptor_t dyDesc, const void *dyData, const cudnnTensorDescriptor_t dzDesc, void *dzData,
    const cudnnTensorDescriptor_t dxDesc, void *dxData, const cudnnTensorDescriptor_t dBnScaleBiasDesc, const void *bnScaleData,
    const void *bnBiasData, void *dBnScaleData, void *dBnBiasData, double epsilon, const void *savedMean,
    const void *savedInvVariance, cudnnActivationDescriptor_t activationDesc, void *workSpace, size_t workSpaceSizeInBytes,
    void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    dn_opcall c;
    dn_call_begin("cudnnBatchNormalizationBackwardEx");
    (void)yData, (void)bnBiasData;
    dn_bn_begin(&c, handle, DN_DIR_BWD, (int)mode);
    dn_bn_epsilon(&c, epsilon);
    dn_bn_fuse(&c, (int)bnOps, "bnOps", activationDesc);
    dn_bn_bind(&c, DN_X, xDesc, "xDesc", xData, "xData");
    dn_bn_spare(&c, yDesc, "yDesc");
    dn_bn_bind(&c, DN_DY, dyDesc, "dyDesc", dyData, "dyData");
    dn_bn_bind(&c, DN_DX, dxDesc, "dxDesc", dxData, "dxData");
    if (c.p.u.bn.ops == 2)
        dn_bn_bind(&c, DN_DZ, dzDesc, "dzDesc", dzData, "dzData");
    else
        dn_bn_spare(&c, dzDesc, "dzDesc");
    dn_bn_bind(&c, DN_W, dBnScaleBiasDesc, "dBnScaleBiasDesc", bnScaleData, "bnScaleData");
    dn_bn_want(&c, DN_AUX_SCALE, bnScaleData, "bnScaleData");
    dn_bn_want(&c, DN_AUX_DSCALE, dBnScaleData, "dBnScaleData");
    dn_bn_want(&c, DN_AUX_DBIAS, dBnBiasData, "dBnBiasData");
    dn_bn_saved(&c, savedMean, savedInvVariance);
    dn_bn_gradient_factors(&c, alphaDataDiff, betaDataDiff, alphaParamDiff, betaParamDiff);
    dn_bn_overlay_gradients(&c, "dxData", "dzData", "dyData", "xData");
    dn_bn_buffers(&c, workSpace, workSpaceSizeInBytes, reserveSpace, reserveSpaceSizeInBytes);
    return dn_bn_run(&c);
}
