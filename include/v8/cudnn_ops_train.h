/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* cudnn_ops_train.h: backward side of the tensor operations, batch norm training */
#ifndef CUDNN_OPS_TRAIN_H_
#define CUDNN_OPS_TRAIN_H_

#include <stddef.h>
#include <stdint.h>

#include "cudnn_version.h"
#include "cudnn_ops_infer.h"

/* Version of this header, which has to be that of cudnn_version.h. */
#define CUDNN_OPS_TRAIN_MAJOR 8
#define CUDNN_OPS_TRAIN_MINOR 9
#define CUDNN_OPS_TRAIN_PATCH 7

#if CUDNN_OPS_TRAIN_MAJOR != CUDNN_MAJOR || CUDNN_OPS_TRAIN_MINOR != CUDNN_MINOR || \
    CUDNN_OPS_TRAIN_PATCH != CUDNN_PATCHLEVEL
#error "cuDNN headers of different versions are mixed"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Library, handle, status ----------------------------------------------------------------- */

/*
 * Tells whether this part of the library and the parts below it are of one version: SUCCESS, else
 * VERSION_MISMATCH. All parts are one file here, so only a mixed installation can fail.
 */
cudnnStatus_t CUDNNWINAPI cudnnOpsTrainVersionCheck(void);

/* ---- Softmax --------------------------------------------------------------------------------- */

/*
 * dx = alpha * y * (dy - sum_j dy_j * y_j) + beta * dx; for SOFTMAX_LOG dx = alpha * (dy - exp(y) *
 * sum_j dy_j) + beta * dx. y is the output of the forward call with the same algorithm and mode; y,
 * dy, dx are engine memory of equal sizes; dx may be dy. BAD_PARAM when sizes or types differ.
 */
cudnnStatus_t CUDNNWINAPI cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
    cudnnSoftmaxMode_t mode, const void *alpha, const cudnnTensorDescriptor_t yDesc, const void *y,
    const cudnnTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx);

/* ---- Pooling --------------------------------------------------------------------------------- */

/*
 * dx = alpha * dpool + beta * dx: max pooling sends dy to the first pixel of the window that equals
 * y, average pooling spreads dy over the pixels that were counted. y and dy have the sizes of the
 * output, x and dx those of the input; all are engine memory. y and x may be NULL for average
 * pooling only. BAD_PARAM when sizes or types do not agree.
 */
cudnnStatus_t CUDNNWINAPI cudnnPoolingBackward(cudnnHandle_t handle,
    const cudnnPoolingDescriptor_t poolingDesc, const void *alpha,
    const cudnnTensorDescriptor_t yDesc, const void *y, const cudnnTensorDescriptor_t dyDesc,
    const void *dy, const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx);

/* ---- Activation ------------------------------------------------------------------------------ */

/*
 * dx = alpha * dy * f'(x) + beta * dx. y is the forward output and x its input; all four are engine
 * memory of equal sizes and types. x may be NULL where f' follows from y (all but SWISH). dx may be
 * dy. BAD_PARAM when sizes, strides or types do not agree.
 */
cudnnStatus_t CUDNNWINAPI cudnnActivationBackward(cudnnHandle_t handle,
    cudnnActivationDescriptor_t activationDesc, const void *alpha,
    const cudnnTensorDescriptor_t yDesc, const void *y, const cudnnTensorDescriptor_t dyDesc,
    const void *dy, const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx);

/* ---- Local response and divisive normalisation ----------------------------------------------- */

/*
 * dx = alpha * (gradient of cudnnLRNCrossChannelForward for dy) + beta * dx. x, y, dy, dx are
 * engine memory of equal sizes; y is the forward output. NOT_SUPPORTED when they differ.
 */
cudnnStatus_t CUDNNWINAPI cudnnLRNCrossChannelBackward(cudnnHandle_t handle,
    cudnnLRNDescriptor_t normDesc, cudnnLRNMode_t lrnMode, const void *alpha,
    const cudnnTensorDescriptor_t yDesc, const void *y, const cudnnTensorDescriptor_t dyDesc,
    const void *dy, const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx);

/*
 * Gradients of cudnnDivisiveNormalizationForward: dx = alpha * ... + beta * dx, and dMeans the same
 * for the means (both engine memory, dMeans may be NULL). temp and temp2 are scratch of the size of
 * x. BAD_PARAM when sizes differ.
 */
cudnnStatus_t CUDNNWINAPI cudnnDivisiveNormalizationBackward(cudnnHandle_t handle,
    cudnnLRNDescriptor_t normDesc, cudnnDivNormMode_t mode, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *means, const void *dy,
    void *temp, void *temp2, const void *beta, const cudnnTensorDescriptor_t dXdMeansDesc, void *dx,
    void *dMeans);

/* ---- Batch normalisation --------------------------------------------------------------------- */

/*
 * Bytes of workspace (engine memory) for the Ex call with these arguments, into *sizeInBytes
 * (host). Descriptors that the chosen bnOps does not use may be NULL.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps,
    const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t zDesc,
    const cudnnTensorDescriptor_t yDesc, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,
    const cudnnActivationDescriptor_t activationDesc, size_t *sizeInBytes);

/*
 * Bytes of workspace (engine memory) for the Ex call with these arguments, into *sizeInBytes
 * (host). Descriptors that the chosen bnOps does not use may be NULL.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetBatchNormalizationBackwardExWorkspaceSize(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps, const cudnnTensorDescriptor_t xDesc,
    const cudnnTensorDescriptor_t yDesc, const cudnnTensorDescriptor_t dyDesc,
    const cudnnTensorDescriptor_t dzDesc, const cudnnTensorDescriptor_t dxDesc,
    const cudnnTensorDescriptor_t dBnScaleBiasDesc,
    const cudnnActivationDescriptor_t activationDesc, size_t *sizeInBytes);

/*
 * Bytes of reserve space (engine memory) to keep unchanged from
 * cudnnBatchNormalizationForwardTrainingEx to the backward call, into *sizeInBytes (host).
 */
cudnnStatus_t CUDNNWINAPI cudnnGetBatchNormalizationTrainingExReserveSpaceSize(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps,
    const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t xDesc,
    size_t *sizeInBytes);

/*
 * y = alpha * (bnScale * (x - m) / sqrt(v + epsilon) + bnBias) + beta * y, where m and v are mean
 * and biased variance of the batch over N and space (SPATIAL) or N (PER_ACTIVATION). running =
 * running * (1 - f) + f * batch with f = exponentialAverageFactor, the unbiased variance going into
 * resultRunningVariance; both running arrays or neither may be NULL. resultSaveMean and
 * resultSaveInvVariance, m and 1 / sqrt(v + epsilon), serve the backward call; both or neither.
 * Engine memory, derived shape. BAD_PARAM as for inference.
 */
cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationForwardTraining(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc,
    void *y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale,
    const void *bnBias, double exponentialAverageFactor, void *resultRunningMean,
    void *resultRunningVariance, double epsilon, void *resultSaveMean, void *resultSaveInvVariance);

/*
 * As cudnnBatchNormalizationForwardTraining, with bnOps: plain BN, y = act(BN(x)), or y = act(BN(x)
 * + z). z (engine memory) has the shape of y. workspace and reserveSpace are engine memory of the
 * queried sizes. BAD_PARAM when they are too small, NOT_SUPPORTED for activations other than ReLU
 * and clipped ReLU. Every mode, type and layout is fused.
 */
cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationForwardTrainingEx(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t xDesc, const void *xData, const cudnnTensorDescriptor_t zDesc,
    const void *zData, const cudnnTensorDescriptor_t yDesc, void *yData,
    const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale, const void *bnBias,
    double exponentialAverageFactor, void *resultRunningMean, void *resultRunningVariance,
    double epsilon, void *resultSaveMean, void *resultSaveInvVariance,
    cudnnActivationDescriptor_t activationDesc, void *workspace, size_t workSpaceSizeInBytes,
    void *reserveSpace, size_t reserveSpaceSizeInBytes);

/*
 * Gradients of the training call with x^ = (x - mean) * invstd over M values: dBnBias = sum dy,
 * dBnScale = sum dy * x^, dx = bnScale * invstd * (dy - (dBnBias + x^ * dBnScale) / M). dx is
 * blended with alphaDataDiff and betaDataDiff, the other two with the Param pair (host scalars).
 * savedMean and savedInvVariance come from the forward call, or both are NULL and are computed
 * again. Engine memory. BAD_PARAM when shapes do not agree or only one saved array is given.
 */
cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationBackward(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, const void *alphaDataDiff, const void *betaDataDiff,
    const void *alphaParamDiff, const void *betaParamDiff, const cudnnTensorDescriptor_t xDesc,
    const void *x, const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnTensorDescriptor_t dxDesc, void *dx, const cudnnTensorDescriptor_t dBnScaleBiasDesc,
    const void *bnScale, void *dBnScaleResult, void *dBnBiasResult, double epsilon,
    const void *savedMean, const void *savedInvVariance);

/*
 * Gradients of cudnnBatchNormalizationForwardTrainingEx: dx, dz (for BN_ADD_ACTIVATION), dBnScale
 * and dBnBias. y and bnBias are not read and may be NULL. reserveSpace is the one of the forward
 * call. dz is blended as dx is. Engine memory. BAD_PARAM when a buffer is too small or shapes do
 * not agree.
 */
cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationBackwardEx(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps, const void *alphaDataDiff,
    const void *betaDataDiff, const void *alphaParamDiff, const void *betaParamDiff,
    const cudnnTensorDescriptor_t xDesc, const void *xData, const cudnnTensorDescriptor_t yDesc,
    const void *yData, const cudnnTensorDescriptor_t dyDesc, const void *dyData,
    const cudnnTensorDescriptor_t dzDesc, void *dzData, const cudnnTensorDescriptor_t dxDesc,
    void *dxData, const cudnnTensorDescriptor_t dBnScaleBiasDesc, const void *bnScaleData,
    const void *bnBiasData, void *dBnScaleData, void *dBnBiasData, double epsilon,
    const void *savedMean, const void *savedInvVariance, cudnnActivationDescriptor_t activationDesc,
    void *workSpace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes);

/* ---- Normalisation, second form -------------------------------------------------------------- */

/*
 * Bytes of workspace (engine memory) for the call with these arguments, into *sizeInBytes (host).
 * groupCnt must be 1.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetNormalizationForwardTrainingWorkspaceSize(cudnnHandle_t handle,
    cudnnNormMode_t mode, cudnnNormOps_t normOps, cudnnNormAlgo_t algo,
    const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t zDesc,
    const cudnnTensorDescriptor_t yDesc, const cudnnTensorDescriptor_t normScaleBiasDesc,
    const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t normMeanVarDesc,
    size_t *sizeInBytes, int groupCnt);

/*
 * Bytes of workspace (engine memory) for the call with these arguments, into *sizeInBytes (host).
 * groupCnt must be 1.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetNormalizationBackwardWorkspaceSize(cudnnHandle_t handle,
    cudnnNormMode_t mode, cudnnNormOps_t normOps, cudnnNormAlgo_t algo,
    const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t yDesc,
    const cudnnTensorDescriptor_t dyDesc, const cudnnTensorDescriptor_t dzDesc,
    const cudnnTensorDescriptor_t dxDesc, const cudnnTensorDescriptor_t dNormScaleBiasDesc,
    const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t normMeanVarDesc,
    size_t *sizeInBytes, int groupCnt);

/*
 * Bytes of reserve space (engine memory) to keep from cudnnNormalizationForwardTraining to
 * cudnnNormalizationBackward, into *sizeInBytes (host).
 */
cudnnStatus_t CUDNNWINAPI cudnnGetNormalizationTrainingReserveSpaceSize(cudnnHandle_t handle,
    cudnnNormMode_t mode, cudnnNormOps_t normOps, cudnnNormAlgo_t algo,
    const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t xDesc,
    size_t *sizeInBytes, int groupCnt);

/*
 * As cudnnBatchNormalizationForwardTrainingEx, with separate descriptors for scale and bias and for
 * mean and variance, and a choice of algorithm. Engine memory; groupCnt must be 1. BAD_PARAM when
 * shapes do not agree or a buffer is too small.
 */
cudnnStatus_t CUDNNWINAPI cudnnNormalizationForwardTraining(cudnnHandle_t handle,
    cudnnNormMode_t mode, cudnnNormOps_t normOps, cudnnNormAlgo_t algo, const void *alpha,
    const void *beta, const cudnnTensorDescriptor_t xDesc, const void *xData,
    const cudnnTensorDescriptor_t normScaleBiasDesc, const void *normScale, const void *normBias,
    double exponentialAverageFactor, const cudnnTensorDescriptor_t normMeanVarDesc,
    void *resultRunningMean, void *resultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance, cudnnActivationDescriptor_t activationDesc,
    const cudnnTensorDescriptor_t zDesc, const void *zData, const cudnnTensorDescriptor_t yDesc,
    void *yData, void *workspace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes, int groupCnt);

/*
 * Gradients of cudnnNormalizationForwardTraining, as in cudnnBatchNormalizationBackwardEx. Engine
 * memory; reserveSpace is the one of the forward call. BAD_PARAM when shapes do not agree or a
 * buffer is too small.
 */
cudnnStatus_t CUDNNWINAPI cudnnNormalizationBackward(cudnnHandle_t handle, cudnnNormMode_t mode,
    cudnnNormOps_t normOps, cudnnNormAlgo_t algo, const void *alphaDataDiff,
    const void *betaDataDiff, const void *alphaParamDiff, const void *betaParamDiff,
    const cudnnTensorDescriptor_t xDesc, const void *xData, const cudnnTensorDescriptor_t yDesc,
    const void *yData, const cudnnTensorDescriptor_t dyDesc, const void *dyData,
    const cudnnTensorDescriptor_t dzDesc, void *dzData, const cudnnTensorDescriptor_t dxDesc,
    void *dxData, const cudnnTensorDescriptor_t dNormScaleBiasDesc, const void *normScaleData,
    const void *normBiasData, void *dNormScaleData, void *dNormBiasData, double epsilon,
    const cudnnTensorDescriptor_t normMeanVarDesc, const void *savedMean,
    const void *savedInvVariance, cudnnActivationDescriptor_t activationDesc, void *workSpace,
    size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes, int groupCnt);

/* ---- Spatial transformer --------------------------------------------------------------------- */

/*
 * dtheta[n] = sum over pixels of dgrid * (x, y, 1): dgrid N x H x W x 2, dtheta N x 2 x 3, engine
 * memory.
 */
cudnnStatus_t CUDNNWINAPI cudnnSpatialTfGridGeneratorBackward(cudnnHandle_t handle,
    const cudnnSpatialTransformerDescriptor_t stDesc, const void *dgrid, void *dtheta);

/*
 * Gradients of cudnnSpatialTfSamplerForward: dx = alpha * ... + beta * dx, dgrid = alphaDgrid * ...
 * + betaDgrid * dgrid. Engine memory, scalars on the host.
 */
cudnnStatus_t CUDNNWINAPI cudnnSpatialTfSamplerBackward(cudnnHandle_t handle,
    cudnnSpatialTransformerDescriptor_t stDesc, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx, const void *alphaDgrid,
    const cudnnTensorDescriptor_t dyDesc, const void *dy, const void *grid, const void *betaDgrid,
    void *dgrid);

/* ---- Dropout --------------------------------------------------------------------------------- */

/*
 * dx = dy * m / (1 - p) with the mask of the forward call, taken from reserveSpace. dy and dx
 * (engine memory) have equal sizes, may be the same tensor. BAD_PARAM when sizes differ or the
 * reserve space is too small.
 */
cudnnStatus_t CUDNNWINAPI cudnnDropoutBackward(cudnnHandle_t handle,
    const cudnnDropoutDescriptor_t dropoutDesc, const cudnnTensorDescriptor_t dydesc,
    const void *dy, const cudnnTensorDescriptor_t dxdesc, void *dx, void *reserveSpace,
    size_t reserveSpaceSizeInBytes);

#ifdef __cplusplus
}
#endif

#endif /* CUDNN_OPS_TRAIN_H_ */
