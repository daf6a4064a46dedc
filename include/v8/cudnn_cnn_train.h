/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* cudnn_cnn_train.h: convolution gradients for filter and bias, fused operations */
#ifndef CUDNN_CNN_TRAIN_H_
#define CUDNN_CNN_TRAIN_H_

#include <stddef.h>
#include <stdint.h>

#include "cudnn_version.h"
#include "cudnn_ops_infer.h"
#include "cudnn_ops_train.h"
#include "cudnn_cnn_infer.h"

/* Version of this header, which has to be that of cudnn_version.h. */
#define CUDNN_CNN_TRAIN_MAJOR 8
#define CUDNN_CNN_TRAIN_MINOR 9
#define CUDNN_CNN_TRAIN_PATCH 7

#if CUDNN_CNN_TRAIN_MAJOR != CUDNN_MAJOR || CUDNN_CNN_TRAIN_MINOR != CUDNN_MINOR || \
    CUDNN_CNN_TRAIN_PATCH != CUDNN_PATCHLEVEL
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
cudnnStatus_t CUDNNWINAPI cudnnCnnTrainVersionCheck(void);

/* ---- Convolution ----------------------------------------------------------------------------- */

/*
 * One entry of the algorithm lists of the gradient for the filter: time in milliseconds (-1 when
 * not measured), memory in bytes of workspace.
 */
typedef struct cudnnConvolutionBwdFilterAlgoPerfStruct {
    cudnnConvolutionBwdFilterAlgo_t algo; /* number of the algorithm */
    cudnnStatus_t status;                 /* SUCCESS, or why it cannot run */
    float time;                           /* milliseconds */
    size_t memory;                        /* workspace, bytes */
    cudnnDeterminism_t determinism;       /* same bits in every run? */
    cudnnMathType_t mathType;             /* arithmetic that it used */
    int reserved[3];                      /* 0 */
} cudnnConvolutionBwdFilterAlgoPerf_t;

/*
 * Largest number of entries that the algorithm queries of this direction can return, into *count
 * (host).
 */
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(cudnnHandle_t handle,
    int *count);

/*
 * Runs every algorithm for these shapes on memory of its own, and lists them with time
 * (milliseconds) and workspace (bytes), fastest first. Not for a stream that is being captured.
 * requestedAlgoCount is the room in perfResults (host array); *returnedAlgoCount (host) the number
 * of entries filled. ALLOC_FAILED when memory cannot be had, BAD_PARAM as for the Get function.
 */
cudnnStatus_t CUDNNWINAPI cudnnFindConvolutionBackwardFilterAlgorithm(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t dyDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t dwDesc,
    const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnConvolutionBwdFilterAlgoPerf_t *perfResults);

/*
 * As the Find function above, on the memory of the caller: dw is overwritten, the other data are
 * read, workSpace is engine memory of workSpaceSizeInBytes, and algorithms that need more are
 * listed with ALLOC_FAILED, after those that ran. No allocation. BAD_PARAM for a NULL data
 * pointer. Here y is the gradient dy.
 */
cudnnStatus_t CUDNNWINAPI cudnnFindConvolutionBackwardFilterAlgorithmEx(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t dyDesc,
    const void *y, const cudnnConvolutionDescriptor_t convDesc,
    const cudnnFilterDescriptor_t dwDesc, void *dw, const int requestedAlgoCount,
    int *returnedAlgoCount, cudnnConvolutionBwdFilterAlgoPerf_t *perfResults, void *workSpace,
    size_t workSpaceSizeInBytes);

/*
 * Lists the algorithms for these shapes, best first, without running anything; time is -1 there.
 * Entries that cannot run carry their status. requestedAlgoCount is the room in perfResults (host
 * array); *returnedAlgoCount (host) the number of entries filled. BAD_PARAM for a NULL or dead
 * argument or a count below 1, or shapes that do not agree.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t srcDesc, const cudnnTensorDescriptor_t diffDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t gradDesc,
    const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnConvolutionBwdFilterAlgoPerf_t *perfResults);

/*
 * Bytes of workspace (engine memory) that algo needs for these shapes, into *sizeInBytes (host).
 * NOT_SUPPORTED when algo cannot do them, BAD_PARAM when the shapes do not agree.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t dyDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t gradDesc,
    cudnnConvolutionBwdFilterAlgo_t algo, size_t *sizeInBytes);

/*
 * dw = alpha * (gradient of the convolution with respect to its filter) + beta * dw, summed over
 * the batch. x is N x C x space, dy N x K x output space, dw K x C/groups x filter; engine memory.
 * NOT_SUPPORTED when algo cannot do it, BAD_PARAM when shapes do not agree or the workspace is too
 * small.
 */
cudnnStatus_t CUDNNWINAPI cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t dyDesc,
    const void *dy, const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionBwdFilterAlgo_t algo, void *workSpace, size_t workSpaceSizeInBytes,
    const void *beta, const cudnnFilterDescriptor_t dwDesc, void *dw);

/*
 * db = alpha * (sum of dy over batch and space) + beta * db. dy is N x K x space, db 1 x K x 1 x 1;
 * engine memory. BAD_PARAM when db has another shape or type.
 */
cudnnStatus_t CUDNNWINAPI cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const cudnnTensorDescriptor_t dbDesc, void *db);

/* ---- Fused operations ------------------------------------------------------------------------ */

/*
 * Makes a pack of constant parameters (descriptors and placeholders) for the fused operation ops in
 * *constPack (host).
 */
cudnnStatus_t CUDNNWINAPI cudnnCreateFusedOpsConstParamPack(
    cudnnFusedOpsConstParamPack_t *constPack, cudnnFusedOps_t ops);

/* Frees the pack. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyFusedOpsConstParamPack(
    cudnnFusedOpsConstParamPack_t constPack);

/*
 * Sets one entry of the pack: param points (on the host) to a descriptor, or to a
 * cudnnFusedOpsPointerPlaceHolder_t for the PLACEHOLDER labels, or to an enumerator. NULL clears
 * the entry. BAD_PARAM for a label that the operation does not have.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetFusedOpsConstParamPackAttribute(
    cudnnFusedOpsConstParamPack_t constPack, cudnnFusedOpsConstParamLabel_t paramLabel,
    const void *param);

/* Copies one entry to param (host); *isNULL (host) tells whether it was never set. */
cudnnStatus_t CUDNNWINAPI cudnnGetFusedOpsConstParamPackAttribute(
    const cudnnFusedOpsConstParamPack_t constPack, cudnnFusedOpsConstParamLabel_t paramLabel,
    void *param, int *isNULL);

/* Makes a pack of data pointers and scalars for the fused operation ops in *varPack (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateFusedOpsVariantParamPack(
    cudnnFusedOpsVariantParamPack_t *varPack, cudnnFusedOps_t ops);

/* Frees the pack. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyFusedOpsVariantParamPack(
    cudnnFusedOpsVariantParamPack_t varPack);

/*
 * Sets one entry: for PTR labels ptr is the engine pointer itself, for SCALAR labels it points to
 * the host value. BAD_PARAM for a label that the operation does not have.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetFusedOpsVariantParamPackAttribute(
    cudnnFusedOpsVariantParamPack_t varPack, cudnnFusedOpsVariantParamLabel_t paramLabel,
    void *ptr);

/* Copies one entry to where ptr points (host). */
cudnnStatus_t CUDNNWINAPI cudnnGetFusedOpsVariantParamPackAttribute(
    const cudnnFusedOpsVariantParamPack_t varPack, cudnnFusedOpsVariantParamLabel_t paramLabel,
    void *ptr);

/* Makes an empty plan for the fused operation ops in *plan (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateFusedOpsPlan(cudnnFusedOpsPlan_t *plan, cudnnFusedOps_t ops);

/* Frees the plan. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyFusedOpsPlan(cudnnFusedOpsPlan_t plan);

/*
 * Chooses a kernel for the constant pack and writes the workspace that it needs to
 * *workspaceSizeInBytes (host). NOT_SUPPORTED when none fits, BAD_PARAM for a pack of another
 * operation.
 */
cudnnStatus_t CUDNNWINAPI cudnnMakeFusedOpsPlan(cudnnHandle_t handle, cudnnFusedOpsPlan_t plan,
    const cudnnFusedOpsConstParamPack_t constPack, size_t *workspaceSizeInBytes);

/*
 * Runs a made plan on the pointers of varPack, on the stream of the handle. BAD_PARAM when a needed
 * entry is missing or aligned worse than its placeholder promised.
 */
cudnnStatus_t CUDNNWINAPI cudnnFusedOpsExecute(cudnnHandle_t handle, const cudnnFusedOpsPlan_t plan,
    cudnnFusedOpsVariantParamPack_t varPack);

#ifdef __cplusplus
}
#endif

#endif /* CUDNN_CNN_TRAIN_H_ */
