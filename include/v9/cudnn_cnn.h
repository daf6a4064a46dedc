/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* cudnn_cnn.h: convolution, forward and gradients; fused operations */
/* Long because programs include it by this name. */
#ifndef CUDNN_CNN_H_
#define CUDNN_CNN_H_

#include <stddef.h>
#include <stdint.h>

#include "cudnn_version.h"
#include "cudnn_ops.h"

/* Version of this header, which has to be that of cudnn_version.h. */
#define CUDNN_CNN_MAJOR 9
#define CUDNN_CNN_MINOR 19
#define CUDNN_CNN_PATCH 0

#if CUDNN_CNN_MAJOR != CUDNN_MAJOR || CUDNN_CNN_MINOR != CUDNN_MINOR || \
    CUDNN_CNN_PATCH != CUDNN_PATCHLEVEL
#error "cuDNN headers of different versions are mixed"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Library, handle, status ----------------------------------------------------------------- */

/*
 * Tells whether this part of the library and the parts below it are of one version: SUCCESS, else
 * SUBLIBRARY_VERSION_MISMATCH. All parts are one file here, so only a mixed installation can fail.
 */
cudnnStatus_t CUDNNWINAPI cudnnCnnVersionCheck(void);

/* ---- Convolution ----------------------------------------------------------------------------- */

/* Padding, stride, dilation, mode, groups and arithmetic of a convolution. */
CUDNN_DEPRECATED typedef struct cudnnConvolutionStruct *cudnnConvolutionDescriptor_t;

/*
 * One entry of the algorithm lists of the forward convolution: time in milliseconds (-1 when not
 * measured), memory in bytes of workspace.
 */
CUDNN_DEPRECATED typedef struct cudnnConvolutionFwdAlgoPerfStruct {
    cudnnConvolutionFwdAlgo_t algo;       /* number of the algorithm */
    cudnnStatus_t status;                 /* SUCCESS, or why it cannot run */
    float time;                           /* milliseconds */
    size_t memory;                        /* workspace, bytes */
    cudnnDeterminism_t determinism;       /* same bits in every run? */
    cudnnMathType_t mathType;             /* arithmetic that it used */
    int reserved[3];                      /* 0 */
} cudnnConvolutionFwdAlgoPerf_t;

/*
 * One entry of the algorithm lists of the gradient for the input: time in milliseconds (-1 when not
 * measured), memory in bytes of workspace.
 */
CUDNN_DEPRECATED typedef struct cudnnConvolutionBwdDataAlgoPerfStruct {
    cudnnConvolutionBwdDataAlgo_t algo;   /* number of the algorithm */
    cudnnStatus_t status;                 /* SUCCESS, or why it cannot run */
    float time;                           /* milliseconds */
    size_t memory;                        /* workspace, bytes */
    cudnnDeterminism_t determinism;       /* same bits in every run? */
    cudnnMathType_t mathType;             /* arithmetic that it used */
    int reserved[3];                      /* 0 */
} cudnnConvolutionBwdDataAlgoPerf_t;

/*
 * One entry of the algorithm lists of the gradient for the filter: time in milliseconds (-1 when
 * not measured), memory in bytes of workspace.
 */
CUDNN_DEPRECATED typedef struct cudnnConvolutionBwdFilterAlgoPerfStruct {
    cudnnConvolutionBwdFilterAlgo_t algo; /* number of the algorithm */
    cudnnStatus_t status;                 /* SUCCESS, or why it cannot run */
    float time;                           /* milliseconds */
    size_t memory;                        /* workspace, bytes */
    cudnnDeterminism_t determinism;       /* same bits in every run? */
    cudnnMathType_t mathType;             /* arithmetic that it used */
    int reserved[3];                      /* 0 */
} cudnnConvolutionBwdFilterAlgoPerf_t;

/*
 * Makes a convolution descriptor in *convDesc (host): default math, one group, and no sizes until
 * it is set.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *convDesc);

/* Frees the descriptor. NULL is accepted; a dead one is BAD_PARAM. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convDesc);

/*
 * Says which arithmetic is allowed: DEFAULT_MATH (tf32 for float32 where the hardware has it),
 * TENSOR_OP_MATH, TENSOR_OP_MATH_ALLOW_CONVERSION (float data may be rounded to half) or FMA_MATH
 * (neither). BAD_PARAM for another value.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convDesc,
    cudnnMathType_t mathType);

/* Reads the math type into *mathType (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionMathType(cudnnConvolutionDescriptor_t convDesc,
    cudnnMathType_t *mathType);

/*
 * Splits input and output channels into groupCount groups that see only each other. The filter then
 * has C / groupCount input channels. BAD_PARAM below 1.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convDesc,
    int groupCount);

/* Reads the group count into *groupCount (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionGroupCount(cudnnConvolutionDescriptor_t convDesc,
    int *groupCount);

/*
 * Says whether filters of the INT8x32 layout are still to be reordered (DEFAULT_REORDER) or are
 * already (NO_REORDER).
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetConvolutionReorderType(cudnnConvolutionDescriptor_t convDesc,
    cudnnReorderType_t reorderType);

/* Reads the reorder type into *reorderType (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionReorderType(cudnnConvolutionDescriptor_t convDesc,
    cudnnReorderType_t *reorderType);

/*
 * Sets zero padding (both sides), stride (u rows, v columns) and dilation of a 2-D convolution in
 * pixels, true convolution (filter mirrored) or cross-correlation, and the type to compute in
 * (float, double, half or int32). BAD_PARAM for a negative padding, a stride or dilation below 1 or
 * another mode or type.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convDesc,
    int pad_h, int pad_w, int u, int v, int dilation_h, int dilation_w, cudnnConvolutionMode_t mode,
    cudnnDataType_t computeType);

/* Reads a 2-D descriptor into host variables. BAD_PARAM when one of them is NULL. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolution2dDescriptor(
    const cudnnConvolutionDescriptor_t convDesc, int *pad_h, int *pad_w, int *u, int *v,
    int *dilation_h, int *dilation_w, cudnnConvolutionMode_t *mode, cudnnDataType_t *computeType);

/*
 * As cudnnSetConvolution2dDescriptor for arrayLength spatial dimensions (1 to CUDNN_DIM_MAX - 2);
 * the arrays are on the host and have arrayLength entries. BAD_PARAM as there, NOT_SUPPORTED when
 * arrayLength is too large. 0 is accepted here and refused at use.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convDesc,
    int arrayLength, const int padA[], const int filterStrideA[], const int dilationA[],
    cudnnConvolutionMode_t mode, cudnnDataType_t computeType);

/*
 * Reads mode, compute type and rank into host variables and min(rank, arrayLengthRequested) entries
 * into each host array. BAD_PARAM for a dead descriptor or a negative request, NOT_SUPPORTED for
 * one above CUDNN_DIM_MAX - 2.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionNdDescriptor(
    const cudnnConvolutionDescriptor_t convDesc, int arrayLengthRequested, int *arrayLength,
    int padA[], int strideA[], int dilationA[], cudnnConvolutionMode_t *mode,
    cudnnDataType_t *computeType);

/* As cudnnGetConvolutionNdForwardOutputDim, for tensors of rank 4, into four host variables. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolution2dForwardOutputDim(
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t inputTensorDesc,
    const cudnnFilterDescriptor_t filterDesc, int *n, int *c, int *h, int *w);

/*
 * Sizes of the output: N of the input, K of the filter, each spatial size 1 + floor((in + 2 * pad -
 * (((filter - 1) * dilation) + 1)) / stride). tensorOuputDimA (host) has nbDims entries, nbDims
 * being the rank of the input. BAD_PARAM when ranks or channels do not agree (input C = filter C *
 * groups) or a size would be below 1.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionNdForwardOutputDim(
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t inputTensorDesc,
    const cudnnFilterDescriptor_t filterDesc, int nbDims, int tensorOuputDimA[]);

/*
 * Largest number of entries that the algorithm queries of this direction can return, into *count
 * (host).
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionForwardAlgorithmMaxCount(cudnnHandle_t handle,
    int *count);

/*
 * Lists the algorithms for these shapes, best first, without running anything; time is -1 there.
 * Entries that cannot run carry their status. requestedAlgoCount is the room in perfResults (host
 * array); *returnedAlgoCount (host) the number of entries filled. BAD_PARAM for a NULL or dead
 * argument or a count below 1, or shapes that do not agree.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t srcDesc, const cudnnFilterDescriptor_t filterDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t destDesc,
    const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnConvolutionFwdAlgoPerf_t *perfResults);

/*
 * Runs every algorithm for these shapes on memory of its own, and lists them with time
 * (milliseconds) and workspace (bytes), fastest first. Not for a stream that is being captured.
 * requestedAlgoCount is the room in perfResults (host array); *returnedAlgoCount (host) the number
 * of entries filled. INTERNAL_ERROR_HOST_ALLOCATION_FAILED when memory cannot be had, BAD_PARAM as
 * for the Get function.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnFindConvolutionForwardAlgorithm(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
    const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnConvolutionFwdAlgoPerf_t *perfResults);

/*
 * As the Find function above, on the memory of the caller: y is overwritten, the other data are
 * read, workSpace is engine memory of workSpaceSizeInBytes, and algorithms that need more are
 * listed with ALLOC_FAILED, after those that ran. No allocation. BAD_PARAM for a NULL data pointer.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
    void *y, const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnConvolutionFwdAlgoPerf_t *perfResults, void *workSpace, size_t workSpaceSizeInBytes);

/*
 * Writes the matrix of a convolution by GEMM, row-major and packed, in the type of x: a row for
 * each filter element (C of all groups, then the window), a column for each output position (N,
 * then output space), holding the input element that the two meet at, 0 in the padding. x and
 * colBuffer are engine memory. BAD_PARAM when the shapes do not agree, NOT_SUPPORTED for
 * vectorised types.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnIm2Col(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
    const void *x, const cudnnFilterDescriptor_t wDesc, const cudnnConvolutionDescriptor_t convDesc,
    void *colBuffer);

/*
 * Rewrites an INT8x32 filter, and with reorderBias = 1 the float bias, into the order that the
 * tensor-core kernels read; with NO_REORDER copies. A convolution whose descriptor says NO_REORDER
 * takes an INT8x32 filter, and the bias, in that order. All data are engine memory, out of place.
 * NOT_SUPPORTED for other layouts, or outputs that are no multiple of 32.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnReorderFilterAndBias(cudnnHandle_t handle,
    const cudnnFilterDescriptor_t filterDesc, cudnnReorderType_t reorderType,
    const void *filterData, void *reorderedFilterData, int reorderBias, const void *biasData,
    void *reorderedBiasData);

/*
 * Bytes of workspace (engine memory) that algo needs for these shapes, into *sizeInBytes (host).
 * NOT_SUPPORTED when algo cannot do them, BAD_PARAM when the shapes do not agree.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
    cudnnConvolutionFwdAlgo_t algo, size_t *sizeInBytes);

/*
 * y = alpha * conv(x, w) + beta * y. x is N x C x space, w K x C/groups x filter, y N x K x output
 * space as cudnnGetConvolutionNdForwardOutputDim gives. All are engine memory; x and y take any
 * strides and may not overlap. workSpace may be NULL when the query says 0. NOT_SUPPORTED when algo
 * cannot do the shapes or types; BAD_PARAM when shapes do not agree or the workspace is too small.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnConvolutionDescriptor_t convDesc, cudnnConvolutionFwdAlgo_t algo,
    void *workSpace, size_t workSpaceSizeInBytes, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y);

/*
 * y = act(alpha1 * conv(x, w) + alpha2 * z + bias). bias has the shape 1 x K x 1 x 1, z that of y;
 * z may be y. The activation is RELU, or IDENTITY with IMPLICIT_PRECOMP_GEMM alone (NOT_SUPPORTED
 * with another algorithm); anydnn takes the other modes too, with any algorithm. Engine memory,
 * scalars on the host. BAD_PARAM when shapes or types do not agree.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnConvolutionBiasActivationForward(cudnnHandle_t handle,
    const void *alpha1, const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnFilterDescriptor_t wDesc, const void *w, const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionFwdAlgo_t algo, void *workSpace, size_t workSpaceSizeInBytes,
    const void *alpha2, const cudnnTensorDescriptor_t zDesc, const void *z,
    const cudnnTensorDescriptor_t biasDesc, const void *bias,
    const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t yDesc, void *y);

/*
 * Largest number of entries that the algorithm queries of this direction can return, into *count
 * (host).
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardDataAlgorithmMaxCount(cudnnHandle_t handle,
    int *count);

/*
 * Runs every algorithm for these shapes on memory of its own, and lists them with time
 * (milliseconds) and workspace (bytes), fastest first. Not for a stream that is being captured.
 * requestedAlgoCount is the room in perfResults (host array); *returnedAlgoCount (host) the number
 * of entries filled. INTERNAL_ERROR_HOST_ALLOCATION_FAILED when memory cannot be had, BAD_PARAM as
 * for the Get function.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnFindConvolutionBackwardDataAlgorithm(cudnnHandle_t handle,
    const cudnnFilterDescriptor_t wDesc, const cudnnTensorDescriptor_t dyDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
    const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnConvolutionBwdDataAlgoPerf_t *perfResults);

/*
 * As the Find function above, on the memory of the caller: dx is overwritten, the other data are
 * read, workSpace is engine memory of workSpaceSizeInBytes, and algorithms that need more are
 * listed with ALLOC_FAILED, after those that ran. No allocation. BAD_PARAM for a NULL data pointer.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnFindConvolutionBackwardDataAlgorithmEx(cudnnHandle_t handle,
    const cudnnFilterDescriptor_t wDesc, const void *w, const cudnnTensorDescriptor_t dyDesc,
    const void *dy, const cudnnConvolutionDescriptor_t convDesc,
    const cudnnTensorDescriptor_t dxDesc, void *dx, const int requestedAlgoCount,
    int *returnedAlgoCount, cudnnConvolutionBwdDataAlgoPerf_t *perfResults, void *workSpace,
    size_t workSpaceSizeInBytes);

/*
 * Lists the algorithms for these shapes, best first, without running anything; time is -1 there.
 * Entries that cannot run carry their status. requestedAlgoCount is the room in perfResults (host
 * array); *returnedAlgoCount (host) the number of entries filled. BAD_PARAM for a NULL or dead
 * argument or a count below 1, or shapes that do not agree.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t handle,
    const cudnnFilterDescriptor_t filterDesc, const cudnnTensorDescriptor_t diffDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t gradDesc,
    const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnConvolutionBwdDataAlgoPerf_t *perfResults);

/*
 * Bytes of workspace (engine memory) that algo needs for these shapes, into *sizeInBytes (host).
 * NOT_SUPPORTED when algo cannot do them, BAD_PARAM when the shapes do not agree.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t handle,
    const cudnnFilterDescriptor_t wDesc, const cudnnTensorDescriptor_t dyDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
    cudnnConvolutionBwdDataAlgo_t algo, size_t *sizeInBytes);

/*
 * dx = alpha * (gradient of the convolution with respect to its input) + beta * dx; also the way to
 * a transposed convolution. w is K x C/groups x filter, dy N x K x output space, dx N x C x space;
 * engine memory, any strides. NOT_SUPPORTED when algo cannot do it, BAD_PARAM when shapes do not
 * agree or the workspace is too small.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha,
    const cudnnFilterDescriptor_t wDesc, const void *w, const cudnnTensorDescriptor_t dyDesc,
    const void *dy, const cudnnConvolutionDescriptor_t convDesc, cudnnConvolutionBwdDataAlgo_t algo,
    void *workSpace, size_t workSpaceSizeInBytes, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx);

/*
 * For a strided backward-data problem gives the equal one of stride 1 in which space is folded into
 * channels: filter, padded dy, convolution and dx descriptors, and the four transforms that lead
 * there and back. All descriptors are made by the caller. NOT_SUPPORTED for vectorised layouts, and
 * where a stride above 1 meets a dilation above 1, several groups, or a filter turned round
 * (CUDNN_CONVOLUTION).
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetFoldedConvBackwardDataDescriptors(const cudnnHandle_t handle,
    const cudnnFilterDescriptor_t filterDesc, const cudnnTensorDescriptor_t diffDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t gradDesc,
    const cudnnTensorFormat_t transformFormat, cudnnFilterDescriptor_t foldedFilterDesc,
    cudnnTensorDescriptor_t paddedDiffDesc, cudnnConvolutionDescriptor_t foldedConvDesc,
    cudnnTensorDescriptor_t foldedGradDesc, cudnnTensorTransformDescriptor_t filterFoldTransDesc,
    cudnnTensorTransformDescriptor_t diffPadTransDesc,
    cudnnTensorTransformDescriptor_t gradFoldTransDesc,
    cudnnTensorTransformDescriptor_t gradUnfoldTransDesc);

/*
 * Largest number of entries that the algorithm queries of this direction can return, into *count
 * (host).
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(cudnnHandle_t handle,
    int *count);

/*
 * Runs every algorithm for these shapes on memory of its own, and lists them with time
 * (milliseconds) and workspace (bytes), fastest first. Not for a stream that is being captured.
 * requestedAlgoCount is the room in perfResults (host array); *returnedAlgoCount (host) the number
 * of entries filled. INTERNAL_ERROR_HOST_ALLOCATION_FAILED when memory cannot be had, BAD_PARAM as
 * for the Get function.
 */
CUDNN_DEPRECATED
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
CUDNN_DEPRECATED
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
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t srcDesc, const cudnnTensorDescriptor_t diffDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t gradDesc,
    const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnConvolutionBwdFilterAlgoPerf_t *perfResults);

/*
 * Bytes of workspace (engine memory) that algo needs for these shapes, into *sizeInBytes (host).
 * NOT_SUPPORTED when algo cannot do them, BAD_PARAM when the shapes do not agree.
 */
CUDNN_DEPRECATED
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
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t dyDesc,
    const void *dy, const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionBwdFilterAlgo_t algo, void *workSpace, size_t workSpaceSizeInBytes,
    const void *beta, const cudnnFilterDescriptor_t dwDesc, void *dw);

/*
 * db = alpha * (sum of dy over batch and space) + beta * db. dy is N x K x space, db 1 x K x 1 x 1;
 * engine memory. BAD_PARAM when db has another shape or type.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const cudnnTensorDescriptor_t dbDesc, void *db);

/* ---- Fused operations ------------------------------------------------------------------------ */

/* Fused operations. */
CUDNN_DEPRECATED typedef enum {
    /* conv(act(scale * x + bias)) and its sums */
    CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS = 0,
    CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD = 1, /* filter gradient for act(scale * x + bias) */
    CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING = 2, /* sums to scale, bias and statistics */
    CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE = 3, /* running statistics to scale and bias */
    CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION = 4, /* act(scale * conv(x) + bias + z) */
    /* act(scale * x + bias + z) and its mask */
    CUDNN_FUSED_SCALE_BIAS_ADD_ACTIVATION_GEN_BITMASK = 5,
    CUDNN_FUSED_DACTIVATION_FORK_DBATCHNORM = 6 /* activation and batch norm backward */
} cudnnFusedOps_t;

/* Constant parameters of a fused operation. */
CUDNN_DEPRECATED typedef struct cudnnFusedOpsConstParamStruct *cudnnFusedOpsConstParamPack_t;

/* Pointers and scalars of a fused operation. */
CUDNN_DEPRECATED typedef struct cudnnFusedOpsVariantParamStruct *cudnnFusedOpsVariantParamPack_t;

/* A chosen kernel of a fused operation. */
CUDNN_DEPRECATED typedef struct cudnnFusedOpsPlanStruct *cudnnFusedOpsPlan_t;

/*
 * Entries of a constant pack: descriptors (DESC), modes, and for each data pointer a placeholder.
 */
CUDNN_DEPRECATED typedef enum {
    CUDNN_PARAM_XDESC                          = 0,
    CUDNN_PARAM_XDATA_PLACEHOLDER              = 1,
    CUDNN_PARAM_BN_MODE                        = 2,
    CUDNN_PARAM_BN_EQSCALEBIAS_DESC            = 3,
    CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER         = 4,
    CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER          = 5,
    CUDNN_PARAM_ACTIVATION_DESC                = 6,
    CUDNN_PARAM_CONV_DESC                      = 7,
    CUDNN_PARAM_WDESC                          = 8,
    CUDNN_PARAM_WDATA_PLACEHOLDER              = 9,
    CUDNN_PARAM_DWDESC                         = 10,
    CUDNN_PARAM_DWDATA_PLACEHOLDER             = 11,
    CUDNN_PARAM_YDESC                          = 12,
    CUDNN_PARAM_YDATA_PLACEHOLDER              = 13,
    CUDNN_PARAM_DYDESC                         = 14,
    CUDNN_PARAM_DYDATA_PLACEHOLDER             = 15,
    CUDNN_PARAM_YSTATS_DESC                    = 16,
    CUDNN_PARAM_YSUM_PLACEHOLDER               = 17,
    CUDNN_PARAM_YSQSUM_PLACEHOLDER             = 18,
    CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC      = 19,
    CUDNN_PARAM_BN_SCALE_PLACEHOLDER           = 20,
    CUDNN_PARAM_BN_BIAS_PLACEHOLDER            = 21,
    CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER      = 22,
    CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER    = 23,
    CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER    = 24,
    CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER     = 25,
    CUDNN_PARAM_ZDESC                          = 26,
    CUDNN_PARAM_ZDATA_PLACEHOLDER              = 27,
    CUDNN_PARAM_BN_Z_EQSCALEBIAS_DESC          = 28,
    CUDNN_PARAM_BN_Z_EQSCALE_PLACEHOLDER       = 29,
    CUDNN_PARAM_BN_Z_EQBIAS_PLACEHOLDER        = 30,
    CUDNN_PARAM_ACTIVATION_BITMASK_DESC        = 31,
    CUDNN_PARAM_ACTIVATION_BITMASK_PLACEHOLDER = 32,
    CUDNN_PARAM_DXDESC                         = 33,
    CUDNN_PARAM_DXDATA_PLACEHOLDER             = 34,
    CUDNN_PARAM_DZDESC                         = 35,
    CUDNN_PARAM_DZDATA_PLACEHOLDER             = 36,
    CUDNN_PARAM_BN_DSCALE_PLACEHOLDER          = 37,
    CUDNN_PARAM_BN_DBIAS_PLACEHOLDER           = 38
} cudnnFusedOpsConstParamLabel_t;

/* What is promised about a pointer that comes at execution. */
CUDNN_DEPRECATED typedef enum {
    CUDNN_PTR_NULL         = 0, /* no pointer */
    CUDNN_PTR_ELEM_ALIGNED = 1, /* aligned to its element */
    CUDNN_PTR_16B_ALIGNED  = 2 /* aligned to 16 bytes */
} cudnnFusedOpsPointerPlaceHolder_t;

/* Entries of a variant pack: engine pointers (PTR) and pointers to host scalars (SCALAR). */
CUDNN_DEPRECATED typedef enum {
    CUDNN_PTR_XDATA                             = 0,
    CUDNN_PTR_BN_EQSCALE                        = 1,
    CUDNN_PTR_BN_EQBIAS                         = 2,
    CUDNN_PTR_WDATA                             = 3,
    CUDNN_PTR_DWDATA                            = 4,
    CUDNN_PTR_YDATA                             = 5,
    CUDNN_PTR_DYDATA                            = 6,
    CUDNN_PTR_YSUM                              = 7,
    CUDNN_PTR_YSQSUM                            = 8,
    CUDNN_PTR_WORKSPACE                         = 9,
    CUDNN_PTR_BN_SCALE                          = 10,
    CUDNN_PTR_BN_BIAS                           = 11,
    CUDNN_PTR_BN_SAVED_MEAN                     = 12,
    CUDNN_PTR_BN_SAVED_INVSTD                   = 13,
    CUDNN_PTR_BN_RUNNING_MEAN                   = 14,
    CUDNN_PTR_BN_RUNNING_VAR                    = 15,
    CUDNN_PTR_ZDATA                             = 16,
    CUDNN_PTR_BN_Z_EQSCALE                      = 17,
    CUDNN_PTR_BN_Z_EQBIAS                       = 18,
    CUDNN_PTR_ACTIVATION_BITMASK                = 19,
    CUDNN_PTR_DXDATA                            = 20,
    CUDNN_PTR_DZDATA                            = 21,
    CUDNN_PTR_BN_DSCALE                         = 22,
    CUDNN_PTR_BN_DBIAS                          = 23,
    CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES = 100,
    CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT  = 101,
    CUDNN_SCALAR_DOUBLE_BN_EXP_AVG_FACTOR       = 102,
    CUDNN_SCALAR_DOUBLE_BN_EPSILON              = 103
} cudnnFusedOpsVariantParamLabel_t;

/*
 * Makes a pack of constant parameters (descriptors and placeholders) for the fused operation ops in
 * *constPack (host).
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnCreateFusedOpsConstParamPack(
    cudnnFusedOpsConstParamPack_t *constPack, cudnnFusedOps_t ops);

/* Frees the pack. NULL is accepted. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnDestroyFusedOpsConstParamPack(
    cudnnFusedOpsConstParamPack_t constPack);

/*
 * Sets one entry of the pack: param points (on the host) to a descriptor, or to a
 * cudnnFusedOpsPointerPlaceHolder_t for the PLACEHOLDER labels, or to an enumerator. NULL clears
 * the entry. BAD_PARAM for a label that the operation does not have.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetFusedOpsConstParamPackAttribute(
    cudnnFusedOpsConstParamPack_t constPack, cudnnFusedOpsConstParamLabel_t paramLabel,
    const void *param);

/* Copies one entry to param (host); *isNULL (host) tells whether it was never set. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetFusedOpsConstParamPackAttribute(
    const cudnnFusedOpsConstParamPack_t constPack, cudnnFusedOpsConstParamLabel_t paramLabel,
    void *param, int *isNULL);

/* Makes a pack of data pointers and scalars for the fused operation ops in *varPack (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnCreateFusedOpsVariantParamPack(
    cudnnFusedOpsVariantParamPack_t *varPack, cudnnFusedOps_t ops);

/* Frees the pack. NULL is accepted. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnDestroyFusedOpsVariantParamPack(
    cudnnFusedOpsVariantParamPack_t varPack);

/*
 * Sets one entry: for PTR labels ptr is the engine pointer itself, for SCALAR labels it points to
 * the host value. BAD_PARAM for a label that the operation does not have.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetFusedOpsVariantParamPackAttribute(
    cudnnFusedOpsVariantParamPack_t varPack, cudnnFusedOpsVariantParamLabel_t paramLabel,
    void *ptr);

/* Copies one entry to where ptr points (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetFusedOpsVariantParamPackAttribute(
    const cudnnFusedOpsVariantParamPack_t varPack, cudnnFusedOpsVariantParamLabel_t paramLabel,
    void *ptr);

/* Makes an empty plan for the fused operation ops in *plan (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnCreateFusedOpsPlan(cudnnFusedOpsPlan_t *plan, cudnnFusedOps_t ops);

/* Frees the plan. NULL is accepted. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnDestroyFusedOpsPlan(cudnnFusedOpsPlan_t plan);

/*
 * Chooses a kernel for the constant pack and writes the workspace that it needs to
 * *workspaceSizeInBytes (host). NOT_SUPPORTED when none fits, BAD_PARAM for a pack of another
 * operation.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnMakeFusedOpsPlan(cudnnHandle_t handle, cudnnFusedOpsPlan_t plan,
    const cudnnFusedOpsConstParamPack_t constPack, size_t *workspaceSizeInBytes);

/*
 * Runs a made plan on the pointers of varPack, on the stream of the handle. BAD_PARAM when a needed
 * entry is missing or aligned worse than its placeholder promised.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnFusedOpsExecute(cudnnHandle_t handle, const cudnnFusedOpsPlan_t plan,
    cudnnFusedOpsVariantParamPack_t varPack);

#ifdef __cplusplus
}
#endif

#endif /* CUDNN_CNN_H_ */
