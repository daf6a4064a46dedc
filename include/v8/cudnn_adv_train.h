/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* cudnn_adv_train.h: recurrent networks and attention, backward; CTC loss */
#ifndef CUDNN_ADV_TRAIN_H_
#define CUDNN_ADV_TRAIN_H_

#include <stddef.h>
#include <stdint.h>

#include "cudnn_version.h"
#include "cudnn_ops_infer.h"
#include "cudnn_ops_train.h"
#include "cudnn_adv_infer.h"

/* Version of this header, which has to be that of cudnn_version.h. */
#define CUDNN_ADV_TRAIN_MAJOR 8
#define CUDNN_ADV_TRAIN_MINOR 9
#define CUDNN_ADV_TRAIN_PATCH 7

#if CUDNN_ADV_TRAIN_MAJOR != CUDNN_MAJOR || CUDNN_ADV_TRAIN_MINOR != CUDNN_MINOR || \
    CUDNN_ADV_TRAIN_PATCH != CUDNN_PATCHLEVEL
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
cudnnStatus_t CUDNNWINAPI cudnnAdvTrainVersionCheck(void);

/* ---- Recurrent networks ---------------------------------------------------------------------- */

/* Whether weight gradients are added to the buffer or replace it. */
typedef enum {
    CUDNN_WGRAD_MODE_ADD = 0,
    CUDNN_WGRAD_MODE_SET = 1
} cudnnWgradMode_t;

/*
 * Runs the network over seqLength steps and keeps in reserveSpace what the backward calls need.
 * Arrays xDesc and yDesc (host) have seqLength descriptors with falling batch sizes; x and y are
 * packed one step after another. hx, cx, hy, cy (layers x batch x hidden, engine memory) may be
 * NULL: a zero start, or not wanted. EXECUTION_FAILED when a launch fails, BAD_PARAM when shapes do
 * not agree.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnRNNForwardTraining(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnTensorDescriptor_t *yDesc, void *y,
    const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc, void *cy,
    void *workSpace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes);

/*
 * Gradients with respect to the inputs: dx, and dhx, dcx when not NULL, from dy, dhy, dcy. Uses and
 * updates reserveSpace; to be called before cudnnRNNBackwardWeights. Arrays xDesc and yDesc (host)
 * have seqLength descriptors with falling batch sizes; x and y are packed one step after another.
 * hx, cx, hy, cy (layers x batch x hidden, engine memory) may be NULL: a zero start, or not wanted.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardData(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *yDesc,
    const void *y, const cudnnTensorDescriptor_t *dyDesc, const void *dy,
    const cudnnTensorDescriptor_t dhyDesc, const void *dhy, const cudnnTensorDescriptor_t dcyDesc,
    const void *dcy, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnTensorDescriptor_t hxDesc, const void *hx, const cudnnTensorDescriptor_t cxDesc,
    const void *cx, const cudnnTensorDescriptor_t *dxDesc, void *dx,
    const cudnnTensorDescriptor_t dhxDesc, void *dhx, const cudnnTensorDescriptor_t dcxDesc,
    void *dcx, void *workSpace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes);

/*
 * Gradients with respect to the inputs of cudnnRNNForward (training): dx from dy, and dhx, dcx from
 * dhy, dcy, any of the state pointers NULL when not wanted. reserveSpace is the one of the forward
 * call, and is updated. Engine memory. BAD_PARAM when shapes do not agree.
 */
cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardData_v8(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, const int32_t devSeqLengths[], cudnnRNNDataDescriptor_t yDesc,
    const void *y, const void *dy, cudnnRNNDataDescriptor_t xDesc, void *dx,
    cudnnTensorDescriptor_t hDesc, const void *hx, const void *dhy, void *dhx,
    cudnnTensorDescriptor_t cDesc, const void *cx, const void *dcy, void *dcx,
    size_t weightSpaceSize, const void *weightSpace, size_t workSpaceSize, void *workSpace,
    size_t reserveSpaceSize, void *reserveSpace);

/*
 * Adds the gradients of all weights and biases to dw (engine memory, zeroed by the caller at the
 * start). Needs the reserveSpace of the forward and the backward-data call.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardWeights(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t *yDesc, const void *y, const void *workSpace,
    size_t workSpaceSizeInBytes, const cudnnFilterDescriptor_t dwDesc, void *dw,
    const void *reserveSpace, size_t reserveSpaceSizeInBytes);

/*
 * Adds (WGRAD_MODE_ADD, the only one supported) the gradients of all weights and biases to
 * dweightSpace, laid out like the weight space. To be called after cudnnRNNBackwardData_v8 with the
 * same reserveSpace. Engine memory. NOT_SUPPORTED for WGRAD_MODE_SET.
 */
cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardWeights_v8(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, cudnnWgradMode_t addGrad, const int32_t devSeqLengths[],
    cudnnRNNDataDescriptor_t xDesc, const void *x, cudnnTensorDescriptor_t hDesc, const void *hx,
    cudnnRNNDataDescriptor_t yDesc, const void *y, size_t weightSpaceSize, void *dweightSpace,
    size_t workSpaceSize, void *workSpace, size_t reserveSpaceSize, void *reserveSpace);

/*
 * As cudnnRNNForwardTraining, for sequences described by RNN data descriptors, padded or packed.
 * The attention arguments (kDesc to queries) must be NULL.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnRNNForwardTrainingEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const cudnnRNNDataDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t hxDesc, const void *hx, const cudnnTensorDescriptor_t cxDesc,
    const void *cx, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnRNNDataDescriptor_t yDesc, void *y, const cudnnTensorDescriptor_t hyDesc, void *hy,
    const cudnnTensorDescriptor_t cyDesc, void *cy, const cudnnRNNDataDescriptor_t kDesc,
    const void *keys, const cudnnRNNDataDescriptor_t cDesc, void *cAttn,
    const cudnnRNNDataDescriptor_t iDesc, void *iAttn, const cudnnRNNDataDescriptor_t qDesc,
    void *queries, void *workSpace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes);

/*
 * As cudnnRNNBackwardData, for RNN data descriptors. The arguments dcDesc, dcAttn, dkDesc and dkeys
 * must be NULL.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardDataEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const cudnnRNNDataDescriptor_t yDesc, const void *y,
    const cudnnRNNDataDescriptor_t dyDesc, const void *dy, const cudnnRNNDataDescriptor_t dcDesc,
    const void *dcAttn, const cudnnTensorDescriptor_t dhyDesc, const void *dhy,
    const cudnnTensorDescriptor_t dcyDesc, const void *dcy, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnRNNDataDescriptor_t dxDesc,
    void *dx, const cudnnTensorDescriptor_t dhxDesc, void *dhx,
    const cudnnTensorDescriptor_t dcxDesc, void *dcx, const cudnnRNNDataDescriptor_t dkDesc,
    void *dkeys, void *workSpace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes);

/* As cudnnRNNBackwardWeights, for RNN data descriptors. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardWeightsEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const cudnnRNNDataDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t hxDesc, const void *hx, const cudnnRNNDataDescriptor_t yDesc,
    const void *y, void *workSpace, size_t workSpaceSizeInBytes,
    const cudnnFilterDescriptor_t dwDesc, void *dw, void *reserveSpace,
    size_t reserveSpaceSizeInBytes);

/*
 * Largest number of entries that the Find function of this direction can return, into *count
 * (host).
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNForwardTrainingAlgorithmMaxCount(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, int *count);

/*
 * Times the algorithms of this direction on the memory of the caller, whose outputs are
 * overwritten. findIntensity is kept for compatibility. requestedAlgoCount is the room in
 * perfResults (host array); *returnedAlgoCount (host) the number of entries filled.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnFindRNNForwardTrainingAlgorithmEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnTensorDescriptor_t *yDesc, void *y,
    const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc, void *cy,
    const float findIntensity, const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnAlgorithmPerformance_t *perfResults, void *workspace, size_t workSpaceSizeInBytes,
    void *reserveSpace, size_t reserveSpaceSizeInBytes);

/*
 * Largest number of entries that the Find function of this direction can return, into *count
 * (host).
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNBackwardDataAlgorithmMaxCount(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, int *count);

/*
 * Times the algorithms of this direction on the memory of the caller, whose outputs are
 * overwritten. findIntensity is kept for compatibility. requestedAlgoCount is the room in
 * perfResults (host array); *returnedAlgoCount (host) the number of entries filled.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnFindRNNBackwardDataAlgorithmEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *yDesc,
    const void *y, const cudnnTensorDescriptor_t *dyDesc, const void *dy,
    const cudnnTensorDescriptor_t dhyDesc, const void *dhy, const cudnnTensorDescriptor_t dcyDesc,
    const void *dcy, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnTensorDescriptor_t hxDesc, const void *hx, const cudnnTensorDescriptor_t cxDesc,
    const void *cx, const cudnnTensorDescriptor_t *dxDesc, void *dx,
    const cudnnTensorDescriptor_t dhxDesc, void *dhx, const cudnnTensorDescriptor_t dcxDesc,
    void *dcx, const float findIntensity, const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnAlgorithmPerformance_t *perfResults, void *workspace, size_t workSpaceSizeInBytes,
    void *reserveSpace, size_t reserveSpaceSizeInBytes);

/*
 * Largest number of entries that the Find function of this direction can return, into *count
 * (host).
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNBackwardWeightsAlgorithmMaxCount(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, int *count);

/*
 * Times the algorithms of this direction on the memory of the caller, whose outputs are
 * overwritten. findIntensity is kept for compatibility. requestedAlgoCount is the room in
 * perfResults (host array); *returnedAlgoCount (host) the number of entries filled.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnFindRNNBackwardWeightsAlgorithmEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t *yDesc, const void *y, const float findIntensity,
    const int requestedAlgoCount, int *returnedAlgoCount, cudnnAlgorithmPerformance_t *perfResults,
    const void *workspace, size_t workSpaceSizeInBytes, const cudnnFilterDescriptor_t dwDesc,
    void *dw, const void *reserveSpace, size_t reserveSpaceSizeInBytes);

/* ---- Multi-head attention -------------------------------------------------------------------- */

/*
 * Gradients dqueries, dkeys, dvalues of a training call for dout, with its window and length
 * arrays. reserveSpace is the one of the forward call. Engine memory. BAD_PARAM when shapes do not
 * agree.
 */
cudnnStatus_t CUDNNWINAPI cudnnMultiHeadAttnBackwardData(cudnnHandle_t handle,
    const cudnnAttnDescriptor_t attnDesc, const int loWinIdx[], const int hiWinIdx[],
    const int devSeqLengthsDQDO[], const int devSeqLengthsDKDV[],
    const cudnnSeqDataDescriptor_t doDesc, const void *dout, const cudnnSeqDataDescriptor_t dqDesc,
    void *dqueries, const void *queries, const cudnnSeqDataDescriptor_t dkDesc, void *dkeys,
    const void *keys, const cudnnSeqDataDescriptor_t dvDesc, void *dvalues, const void *values,
    size_t weightSizeInBytes, const void *weights, size_t workSpaceSizeInBytes, void *workSpace,
    size_t reserveSpaceSizeInBytes, void *reserveSpace);

/*
 * Adds to (WGRAD_MODE_ADD) or sets (WGRAD_MODE_SET) dweights with the gradients of weights and
 * biases. To be called after cudnnMultiHeadAttnBackwardData. Engine memory.
 */
cudnnStatus_t CUDNNWINAPI cudnnMultiHeadAttnBackwardWeights(cudnnHandle_t handle,
    const cudnnAttnDescriptor_t attnDesc, cudnnWgradMode_t addGrad,
    const cudnnSeqDataDescriptor_t qDesc, const void *queries, const cudnnSeqDataDescriptor_t kDesc,
    const void *keys, const cudnnSeqDataDescriptor_t vDesc, const void *values,
    const cudnnSeqDataDescriptor_t doDesc, const void *dout, size_t weightSizeInBytes,
    const void *weights, void *dweights, size_t workSpaceSizeInBytes, void *workSpace,
    size_t reserveSpaceSizeInBytes, void *reserveSpace);

/* ---- CTC loss -------------------------------------------------------------------------------- */

/* Whether the CTC loss takes probabilities or scores. */
typedef enum {
    CUDNN_LOSS_NORMALIZATION_NONE    = 0, /* probabilities */
    CUDNN_LOSS_NORMALIZATION_SOFTMAX = 1 /* scores */
} cudnnLossNormalizationMode_t;

/* Makes a descriptor of the connectionist temporal classification loss in *ctcLossDesc (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateCTCLossDescriptor(cudnnCTCLossDescriptor_t *ctcLossDesc);

/*
 * Sets the type to compute in (float), with no normalisation of the inputs. BAD_PARAM for another
 * type.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t compType);

/*
 * As cudnnSetCTCLossDescriptor, with normMode: probs are probabilities (NONE) or scores that get a
 * softmax (SOFTMAX), and gradMode: PROPAGATE_NAN writes NaN gradients for impossible labels,
 * NOT_PROPAGATE_NAN zeros.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t compType, cudnnLossNormalizationMode_t normMode,
    cudnnNanPropagation_t gradMode);

/*
 * As cudnnSetCTCLossDescriptorEx, with the largest label length, which bounds the workspace of
 * cudnnCTCLoss_v8. BAD_PARAM when it is negative.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t compType, cudnnLossNormalizationMode_t normMode, cudnnNanPropagation_t gradMode,
    int maxLabelLength);

/* Reads what the Set function of the same name set into host variables. */
cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t *compType);

/* Reads what the Set function of the same name set into host variables. */
cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t *compType, cudnnLossNormalizationMode_t *normMode,
    cudnnNanPropagation_t *gradMode);

/* Reads what the Set function of the same name set into host variables. */
cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t *compType, cudnnLossNormalizationMode_t *normMode,
    cudnnNanPropagation_t *gradMode, int *maxLabelLength);

/* Frees the descriptor. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc);

/*
 * costs[n] = -log p(labels of n | probs) and its gradient. probs and gradients are T x N x A (A
 * labels with the blank as 0), engine memory; gradients may be NULL. Labels are one after another
 * on the host; label and input lengths (host) have N entries. costs is engine memory of N values.
 * BAD_PARAM when shapes do not agree, EXECUTION_FAILED when a launch fails, NOT_SUPPORTED for label
 * lengths that the algorithm cannot take.
 */
cudnnStatus_t CUDNNWINAPI cudnnCTCLoss(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t probsDesc, const void *probs, const int hostLabels[],
    const int hostLabelLengths[], const int hostInputLengths[], void *costs,
    const cudnnTensorDescriptor_t gradientsDesc, void *gradients, cudnnCTCLossAlgo_t algo,
    cudnnCTCLossDescriptor_t ctcLossDesc, void *workspace, size_t workSpaceSizeInBytes);

/*
 * As cudnnCTCLoss, with labels, labelLengths and inputLengths in engine memory, so that it can be
 * captured in a graph; at most maxLabelLength labels per sample.
 */
cudnnStatus_t CUDNNWINAPI cudnnCTCLoss_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t algo,
    cudnnCTCLossDescriptor_t ctcLossDesc, const cudnnTensorDescriptor_t probsDesc,
    const void *probs, const int labels[], const int labelLengths[], const int inputLengths[],
    void *costs, const cudnnTensorDescriptor_t gradientsDesc, void *gradients,
    size_t workSpaceSizeInBytes, void *workspace);

/*
 * Bytes of workspace (engine memory) for cudnnCTCLoss with these host labels, into *sizeInBytes
 * (host). BAD_PARAM when shapes do not agree or the algorithm is unknown.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossWorkspaceSize(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t probsDesc, const cudnnTensorDescriptor_t gradientsDesc,
    const int *labels, const int *labelLengths, const int *inputLengths, cudnnCTCLossAlgo_t algo,
    cudnnCTCLossDescriptor_t ctcLossDesc, size_t *sizeInBytes);

/*
 * Bytes of workspace (engine memory) for cudnnCTCLoss_v8, from the shapes and maxLabelLength alone,
 * into *sizeInBytes (host).
 */
cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t handle,
    cudnnCTCLossAlgo_t algo, cudnnCTCLossDescriptor_t ctcLossDesc,
    const cudnnTensorDescriptor_t probsDesc, const cudnnTensorDescriptor_t gradientsDesc,
    size_t *sizeInBytes);

#ifdef __cplusplus
}
#endif

#endif /* CUDNN_ADV_TRAIN_H_ */
