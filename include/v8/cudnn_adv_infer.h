/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* cudnn_adv_infer.h: recurrent networks and attention, forward */
#ifndef CUDNN_ADV_INFER_H_
#define CUDNN_ADV_INFER_H_

#include <stddef.h>
#include <stdint.h>

#include "cudnn_version.h"
#include "cudnn_ops_infer.h"

/* Version of this header, which has to be that of cudnn_version.h. */
#define CUDNN_ADV_INFER_MAJOR 8
#define CUDNN_ADV_INFER_MINOR 9
#define CUDNN_ADV_INFER_PATCH 7

#if CUDNN_ADV_INFER_MAJOR != CUDNN_MAJOR || CUDNN_ADV_INFER_MINOR != CUDNN_MINOR || \
    CUDNN_ADV_INFER_PATCH != CUDNN_PATCHLEVEL
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
cudnnStatus_t CUDNNWINAPI cudnnAdvInferVersionCheck(void);

/* ---- Recurrent networks ---------------------------------------------------------------------- */

#define CUDNN_RNN_PADDED_IO_DISABLED 0
#define CUDNN_RNN_PADDED_IO_ENABLED (1U << 0)  /* flag: sequences may be padded */

/* Whether a backward pass will follow. */
typedef enum {
    CUDNN_FWD_MODE_INFERENCE = 0,
    CUDNN_FWD_MODE_TRAINING  = 1
} cudnnForwardMode_t;

/* Cells. */
typedef enum {
    CUDNN_RNN_RELU = 0, /* h = relu(W x + R h + b) */
    CUDNN_RNN_TANH = 1, /* h = tanh(W x + R h + b) */
    CUDNN_LSTM     = 2,
    CUDNN_GRU      = 3
} cudnnRNNMode_t;

/* Bias vectors of each gate. */
typedef enum {
    CUDNN_RNN_NO_BIAS         = 0,
    CUDNN_RNN_SINGLE_INP_BIAS = 1, /* beside the input product */
    CUDNN_RNN_DOUBLE_BIAS     = 2, /* beside both products */
    CUDNN_RNN_SINGLE_REC_BIAS = 3 /* beside the recurrent product */
} cudnnRNNBiasMode_t;

/* Directions of a recurrent network. */
typedef enum {
    CUDNN_UNIDIRECTIONAL = 0,
    CUDNN_BIDIRECTIONAL  = 1
} cudnnDirectionMode_t;

/* Whether the first layer multiplies its input by a matrix. */
typedef enum {
    CUDNN_LINEAR_INPUT = 0,
    CUDNN_SKIP_INPUT   = 1 /* no matrix, input size = hidden size */
} cudnnRNNInputMode_t;

/* Clipping of the LSTM cell state. */
typedef enum {
    CUDNN_RNN_CLIP_NONE   = 0,
    CUDNN_RNN_CLIP_MINMAX = 1
} cudnnRNNClipMode_t;

/* Memory orders of a batch of sequences. */
typedef enum {
    CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED   = 0, /* time, batch, vector; padded */
    CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED     = 1, /* time, batch, vector; no gaps */
    CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED = 2 /* batch, time, vector; padded */
} cudnnRNNDataLayout_t;

/* Holds CUDNN_RNN_PADDED_IO_ENABLED or CUDNN_RNN_PADDED_IO_DISABLED. */
typedef unsigned int cudnnRNNPaddingMode_t;

/* A recurrent network. */
typedef struct cudnnRNNStruct *cudnnRNNDescriptor_t;

/* Compiled kernels of a persistent network. */
typedef struct cudnnPersistentRNNPlan *cudnnPersistentRNNPlan_t;

/* A batch of sequences. */
typedef struct cudnnRNNDataStruct *cudnnRNNDataDescriptor_t;

/* Makes an empty recurrent network descriptor in *rnnDesc (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t *rnnDesc);

/* Frees the descriptor. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t rnnDesc);

/*
 * Sets the network: cell, biases, one or two directions, input projection or none (SKIP_INPUT wants
 * inputSize = hiddenSize), types, sizes per step in elements (projSize = hiddenSize for no
 * projection; smaller only for LSTM), number of layers, dropout between layers (NULL for none) and
 * flags (CUDNN_RNN_PADDED_IO_*). BAD_PARAM for a size below 1 or a value out of range,
 * NOT_SUPPORTED for combinations that no algorithm takes.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNAlgo_t algo, cudnnRNNMode_t cellMode, cudnnRNNBiasMode_t biasMode,
    cudnnDirectionMode_t dirMode, cudnnRNNInputMode_t inputMode, cudnnDataType_t dataType,
    cudnnDataType_t mathPrec, cudnnMathType_t mathType, int32_t inputSize, int32_t hiddenSize,
    int32_t projSize, int32_t numLayers, cudnnDropoutDescriptor_t dropoutDesc, uint32_t auxFlags);

/* Reads what cudnnSetRNNDescriptor_v8 set into host variables; each may be NULL. */
cudnnStatus_t CUDNNWINAPI cudnnGetRNNDescriptor_v8(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNAlgo_t *algo, cudnnRNNMode_t *cellMode, cudnnRNNBiasMode_t *biasMode,
    cudnnDirectionMode_t *dirMode, cudnnRNNInputMode_t *inputMode, cudnnDataType_t *dataType,
    cudnnDataType_t *mathPrec, cudnnMathType_t *mathType, int32_t *inputSize, int32_t *hiddenSize,
    int32_t *projSize, int32_t *numLayers, cudnnDropoutDescriptor_t *dropoutDesc,
    uint32_t *auxFlags);

/*
 * Older form of cudnnSetRNNDescriptor_v8: hidden size, layers, dropout, input mode, direction,
 * cell, algorithm, type to compute in. Other properties keep their defaults.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetRNNDescriptor_v6(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, const int hiddenSize, const int numLayers,
    cudnnDropoutDescriptor_t dropoutDesc, cudnnRNNInputMode_t inputMode,
    cudnnDirectionMode_t direction, cudnnRNNMode_t cellMode, cudnnRNNAlgo_t algo,
    cudnnDataType_t mathPrec);

/* Reads what cudnnSetRNNDescriptor_v6 set into host variables. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNDescriptor_v6(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, int *hiddenSize, int *numLayers,
    cudnnDropoutDescriptor_t *dropoutDesc, cudnnRNNInputMode_t *inputMode,
    cudnnDirectionMode_t *direction, cudnnRNNMode_t *cellMode, cudnnRNNAlgo_t *algo,
    cudnnDataType_t *mathPrec);

/* Sets the arithmetic allowed in matrix products. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetRNNMatrixMathType(cudnnRNNDescriptor_t rnnDesc,
    cudnnMathType_t mType);

/* Reads the math type into *mType (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNMatrixMathType(cudnnRNNDescriptor_t rnnDesc,
    cudnnMathType_t *mType);

/* Sets which bias vectors each gate has; double bias until it is set. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetRNNBiasMode(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNBiasMode_t biasMode);

/* Reads the bias mode into *biasMode (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNBiasMode(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNBiasMode_t *biasMode);

/*
 * Clips the LSTM cell state c_t to lclip .. rclip (CLIP_MINMAX) at each step, or not (CLIP_NONE).
 * BAD_PARAM when lclip is above rclip or either is NaN.
 */
cudnnStatus_t CUDNNWINAPI cudnnRNNSetClip_v8(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t clipMode, cudnnNanPropagation_t clipNanOpt, double lclip, double rclip);

/* Reads the clipping of the LSTM cell state into host variables; each may be NULL. */
cudnnStatus_t CUDNNWINAPI cudnnRNNGetClip_v8(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t *clipMode, cudnnNanPropagation_t *clipNanOpt, double *lclip, double *rclip);

/*
 * Clips the LSTM cell state c_t to lclip .. rclip (CLIP_MINMAX) at each step, or not (CLIP_NONE).
 * BAD_PARAM when lclip is above rclip or either is NaN.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnRNNSetClip(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t clipMode, cudnnNanPropagation_t clipNanOpt, double lclip, double rclip);

/* Reads the clipping of the LSTM cell state into host variables; each may be NULL. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnRNNGetClip(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t *clipMode, cudnnNanPropagation_t *clipNanOpt, double *lclip, double *rclip);

/*
 * Lets an LSTM project its hidden state to recProjSize elements; outProjSize must be 0. BAD_PARAM
 * when recProjSize is above the hidden size.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetRNNProjectionLayers(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, const int recProjSize, const int outProjSize);

/* Reads both projection sizes into host variables. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNProjectionLayers(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, int *recProjSize, int *outProjSize);

/* Compiles kernels of PERSIST_DYNAMIC for one batch size and type into *plan (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnCreatePersistentRNNPlan(cudnnRNNDescriptor_t rnnDesc,
    const int minibatch, const cudnnDataType_t dataType, cudnnPersistentRNNPlan_t *plan);

/* Frees the plan. NULL is accepted. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnDestroyPersistentRNNPlan(cudnnPersistentRNNPlan_t plan);

/* Gives the plan to the descriptor; cell, sizes and type must be those that it was compiled for. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetPersistentRNNPlan(cudnnRNNDescriptor_t rnnDesc,
    cudnnPersistentRNNPlan_t plan);

/*
 * Compiles kernels of PERSIST_DYNAMIC for one batch size and keeps them in the descriptor.
 * NOT_SUPPORTED for other algorithms, RUNTIME_PREREQUISITE_MISSING without a run-time compiler.
 */
cudnnStatus_t CUDNNWINAPI cudnnBuildRNNDynamic(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    int miniBatch);

/*
 * Bytes of workspace (engine memory) for seqLength steps; xDesc is a host array of seqLength
 * descriptors, one per step.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNWorkspaceSize(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    size_t *sizeInBytes);

/*
 * Bytes of reserve space (engine memory) to keep from forward training to both backward calls;
 * xDesc is a host array of seqLength descriptors.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNTrainingReserveSize(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    size_t *sizeInBytes);

/*
 * Bytes of workspace and (for training) of reserve space for batches like xDesc, whose longest
 * sequence and batch size alone count. Either host pointer may be NULL.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, cudnnForwardMode_t fwdMode, cudnnRNNDataDescriptor_t xDesc,
    size_t *workSpaceSize, size_t *reserveSpaceSize);

/*
 * Bytes of all weights and biases for inputs like xDesc (first step) in dataType, into *sizeInBytes
 * (host).
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNParamsSize(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const cudnnTensorDescriptor_t xDesc, size_t *sizeInBytes,
    cudnnDataType_t dataType);

/* Bytes of the buffer that holds all weights and biases, into *weightSpaceSize (host). */
cudnnStatus_t CUDNNWINAPI cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, size_t *weightSpaceSize);

/*
 * Describes one weight matrix and stores its address inside w. pseudoLayer counts layers, times two
 * directions where there are two; linLayerID counts gates: input products first (RNN 0, LSTM 0..3 =
 * i f c o, GRU 0..2 = r u n), then as many recurrent ones, then the projection (8). The descriptor
 * is made by the caller.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNLinLayerMatrixParams(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int pseudoLayer, const cudnnTensorDescriptor_t xDesc,
    const cudnnFilterDescriptor_t wDesc, const void *w, const int linLayerID,
    cudnnFilterDescriptor_t linLayerMatDesc, void **linLayerMat);

/*
 * Describes one bias vector and stores its address inside w; numbering as in
 * cudnnGetRNNLinLayerMatrixParams.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNLinLayerBiasParams(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int pseudoLayer, const cudnnTensorDescriptor_t xDesc,
    const cudnnFilterDescriptor_t wDesc, const void *w, const int linLayerID,
    cudnnFilterDescriptor_t linLayerBiasDesc, void **linLayerBias);

/*
 * Describes one weight matrix and its bias and stores their addresses inside weightSpace (engine
 * memory), or NULL where the network has none. pseudoLayer counts layers, times two directions
 * where there are two; linLayerID counts gates: input products first (RNN 0, LSTM 0..3 = i f c o,
 * GRU 0..2 = r u n), then as many recurrent ones, then the projection (8). Descriptors are made by
 * the caller. BAD_PARAM for an index out of range.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetRNNWeightParams(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, int32_t pseudoLayer, size_t weightSpaceSize,
    const void *weightSpace, int32_t linLayerID, cudnnTensorDescriptor_t mDesc, void **mAddr,
    cudnnTensorDescriptor_t bDesc, void **bAddr);

/*
 * Runs the network over seqLength steps without keeping anything for a backward pass. Arrays xDesc
 * and yDesc (host) have seqLength descriptors with falling batch sizes; x and y are packed one step
 * after another. hx, cx, hy, cy (layers x batch x hidden, engine memory) may be NULL: a zero start,
 * or not wanted.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnRNNForwardInference(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnTensorDescriptor_t *yDesc, void *y,
    const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc, void *cy,
    void *workSpace, size_t workSpaceSizeInBytes);

/* Allows (CUDNN_RNN_PADDED_IO_ENABLED) or forbids padded sequences in the Ex calls. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetRNNPaddingMode(cudnnRNNDescriptor_t rnnDesc,
    unsigned paddingMode);

/* Reads the padding mode into *paddingMode (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNPaddingMode(cudnnRNNDescriptor_t rnnDesc,
    unsigned *paddingMode);

/* Makes an empty descriptor of a batch of sequences in *rnnDataDesc (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t *rnnDataDesc);

/* Frees the descriptor. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc);

/*
 * Describes batchSize sequences of vectors of vectorSize elements, at most maxSeqLength steps, in
 * one of three layouts. seqLengthArray (host, batchSize entries) holds each length. paddingFill
 * (host, one value, may be NULL) is written to the padding of outputs in unpacked layouts.
 * BAD_PARAM for a length below 0 or above the maximum, and for 0 or lengths that do not fall in the
 * packed layout; ALLOC_FAILED when the array cannot be kept.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc,
    cudnnDataType_t dataType, cudnnRNNDataLayout_t layout, int maxSeqLength, int batchSize,
    int vectorSize, const int seqLengthArray[], void *paddingFill);

/*
 * Reads the descriptor into host variables and min(batch, arrayLengthRequested) lengths into
 * seqLengthArray (host); each may be NULL.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc,
    cudnnDataType_t *dataType, cudnnRNNDataLayout_t *layout, int *maxSeqLength, int *batchSize,
    int *vectorSize, int arrayLengthRequested, int seqLengthArray[], void *paddingFill);

/*
 * As cudnnRNNForwardInference, for sequences described by RNN data descriptors, padded or packed.
 * The attention arguments (kDesc to queries) must be NULL.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnRNNForwardInferenceEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const cudnnRNNDataDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t hxDesc, const void *hx, const cudnnTensorDescriptor_t cxDesc,
    const void *cx, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnRNNDataDescriptor_t yDesc, void *y, const cudnnTensorDescriptor_t hyDesc, void *hy,
    const cudnnTensorDescriptor_t cyDesc, void *cy, const cudnnRNNDataDescriptor_t kDesc,
    const void *keys, const cudnnRNNDataDescriptor_t cDesc, void *cAttn,
    const cudnnRNNDataDescriptor_t iDesc, void *iAttn, const cudnnRNNDataDescriptor_t qDesc,
    void *queries, void *workSpace, size_t workSpaceSizeInBytes);

/*
 * Runs the network over a batch of sequences: y (steps x batch x directions * projection) from x
 * (steps x batch x input), and last states hy, cy from first states hx, cx (layers * directions x
 * batch x size), any of which may be NULL. Training keeps its state in reserveSpace, inference
 * takes none. devSeqLengths (engine memory) repeats the lengths of xDesc and may be NULL. All data
 * are engine memory; spaces have at least the queried sizes. BAD_PARAM when shapes do not agree,
 * NOT_SUPPORTED when the algorithm cannot do it.
 */
cudnnStatus_t CUDNNWINAPI cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    cudnnForwardMode_t fwdMode, const int32_t devSeqLengths[], cudnnRNNDataDescriptor_t xDesc,
    const void *x, cudnnRNNDataDescriptor_t yDesc, void *y, cudnnTensorDescriptor_t hDesc,
    const void *hx, void *hy, cudnnTensorDescriptor_t cDesc, const void *cx, void *cy,
    size_t weightSpaceSize, const void *weightSpace, size_t workSpaceSize, void *workSpace,
    size_t reserveSpaceSize, void *reserveSpace);

/* Chooses the algorithm of the network from a descriptor filled by a Find function. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetRNNAlgorithmDescriptor(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, cudnnAlgorithmDescriptor_t algoDesc);

/*
 * Largest number of entries that the Find function of this direction can return, into *count
 * (host).
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetRNNForwardInferenceAlgorithmMaxCount(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, int *count);

/*
 * Times the algorithms of this direction on the memory of the caller, whose outputs are
 * overwritten. findIntensity is kept for compatibility. requestedAlgoCount is the room in
 * perfResults (host array); *returnedAlgoCount (host) the number of entries filled.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnFindRNNForwardInferenceAlgorithmEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnTensorDescriptor_t *yDesc, void *y,
    const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc, void *cy,
    const float findIntensity, const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnAlgorithmPerformance_t *perfResults, void *workspace, size_t workSpaceSizeInBytes);

/* ---- Multi-head attention -------------------------------------------------------------------- */

#define CUDNN_SEQDATA_DIM_COUNT 4  /* axes of sequence data */
#define CUDNN_ATTN_QUERYMAP_ALL_TO_ONE 0  /* all beams of a query see one set of keys and values */
#define CUDNN_ATTN_QUERYMAP_ONE_TO_ONE (1U << 0)  /* each beam has its own */
#define CUDNN_ATTN_DISABLE_PROJ_BIASES 0
#define CUDNN_ATTN_ENABLE_PROJ_BIASES (1U << 1)  /* projections have biases */
#define CUDNN_ATTN_WKIND_COUNT 8  /* kinds of projection weights and biases */

/* Axes of sequence data. */
typedef enum {
    CUDNN_SEQDATA_TIME_DIM  = 0,
    CUDNN_SEQDATA_BATCH_DIM = 1,
    CUDNN_SEQDATA_BEAM_DIM  = 2,
    CUDNN_SEQDATA_VECT_DIM  = 3
} cudnnSeqDataAxis_t;

/* Sequence data of attention. */
typedef struct cudnnSeqDataStruct *cudnnSeqDataDescriptor_t;

/* Holds the CUDNN_ATTN flags. */
typedef unsigned int cudnnAttnQueryMap_t;

/* A multi-head attention layer. */
typedef struct cudnnAttnStruct *cudnnAttnDescriptor_t;

/* Projections of multi-head attention. */
typedef enum {
    CUDNN_MH_ATTN_Q_WEIGHTS = 0,
    CUDNN_MH_ATTN_K_WEIGHTS = 1,
    CUDNN_MH_ATTN_V_WEIGHTS = 2,
    CUDNN_MH_ATTN_O_WEIGHTS = 3,
    CUDNN_MH_ATTN_Q_BIASES  = 4,
    CUDNN_MH_ATTN_K_BIASES  = 5,
    CUDNN_MH_ATTN_V_BIASES  = 6,
    CUDNN_MH_ATTN_O_BIASES  = 7
} cudnnMultiHeadAttnWeightKind_t;

/* Makes an empty descriptor of sequence data in *seqDataDesc (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateSeqDataDescriptor(cudnnSeqDataDescriptor_t *seqDataDesc);

/* Frees the descriptor. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroySeqDataDescriptor(cudnnSeqDataDescriptor_t seqDataDesc);

/*
 * Describes packed data of nbDims = 4 axes: dimA (host, indexed by axis) gives the sizes of TIME,
 * BATCH, BEAM and VECT, axes (host, 4 entries) their order in memory, outermost first, VECT last.
 * seqLengthArray (host, batch * beam entries) gives the lengths. paddingFill must be NULL.
 * BAD_PARAM for sizes, axes or lengths out of range, NOT_SUPPORTED for other ranks.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetSeqDataDescriptor(cudnnSeqDataDescriptor_t seqDataDesc,
    cudnnDataType_t dataType, int nbDims, const int dimA[], const cudnnSeqDataAxis_t axes[],
    size_t seqLengthArraySize, const int seqLengthArray[], void *paddingFill);

/*
 * Reads the descriptor into host variables and host arrays of nbDimsRequested and
 * seqLengthSizeRequested entries.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetSeqDataDescriptor(const cudnnSeqDataDescriptor_t seqDataDesc,
    cudnnDataType_t *dataType, int *nbDims, int nbDimsRequested, int dimA[],
    cudnnSeqDataAxis_t axes[], size_t *seqLengthArraySize, size_t seqLengthSizeRequested,
    int seqLengthArray[], void *paddingFill);

/* Makes an empty multi-head attention descriptor in *attnDesc (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateAttnDescriptor(cudnnAttnDescriptor_t *attnDesc);

/* Frees the descriptor. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyAttnDescriptor(cudnnAttnDescriptor_t attnDesc);

/*
 * Sets the layer: flags (CUDNN_ATTN_*), heads, factor smScaler of the scores before softmax, types,
 * dropout of scores and of output (NULL for none), vector sizes of q, k, v before and after
 * projection (0 for no projection), output size (0 likewise), and the largest lengths, batch and
 * beam that will be used. BAD_PARAM for a value out of range, NOT_SUPPORTED for combinations that
 * are not possible.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetAttnDescriptor(cudnnAttnDescriptor_t attnDesc, unsigned attnMode,
    int nHeads, double smScaler, cudnnDataType_t dataType, cudnnDataType_t computePrec,
    cudnnMathType_t mathType, cudnnDropoutDescriptor_t attnDropoutDesc,
    cudnnDropoutDescriptor_t postDropoutDesc, int qSize, int kSize, int vSize, int qProjSize,
    int kProjSize, int vProjSize, int oProjSize, int qoMaxSeqLength, int kvMaxSeqLength,
    int maxBatchSize, int maxBeamSize);

/* Reads what cudnnSetAttnDescriptor set into host variables; each may be NULL. */
cudnnStatus_t CUDNNWINAPI cudnnGetAttnDescriptor(cudnnAttnDescriptor_t attnDesc, unsigned *attnMode,
    int *nHeads, double *smScaler, cudnnDataType_t *dataType, cudnnDataType_t *computePrec,
    cudnnMathType_t *mathType, cudnnDropoutDescriptor_t *attnDropoutDesc,
    cudnnDropoutDescriptor_t *postDropoutDesc, int *qSize, int *kSize, int *vSize, int *qProjSize,
    int *kProjSize, int *vProjSize, int *oProjSize, int *qoMaxSeqLength, int *kvMaxSeqLength,
    int *maxBatchSize, int *maxBeamSize);

/*
 * Bytes of weights, workspace and reserve space (engine memory) into host variables. A NULL
 * reserveSpaceSizeInBytes asks for inference.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetMultiHeadAttnBuffers(cudnnHandle_t handle,
    const cudnnAttnDescriptor_t attnDesc, size_t *weightSizeInBytes, size_t *workSpaceSizeInBytes,
    size_t *reserveSpaceSizeInBytes);

/*
 * Describes one kind of projection weight or bias and stores its address inside weights. The
 * descriptor is made by the caller; *wAddr is NULL where there is no such projection.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetMultiHeadAttnWeights(cudnnHandle_t handle,
    const cudnnAttnDescriptor_t attnDesc, cudnnMultiHeadAttnWeightKind_t wKind,
    size_t weightSizeInBytes, const void *weights, cudnnTensorDescriptor_t wDesc, void **wAddr);

/*
 * out = Wo * concat over heads of softmax(smScaler * (Wq q)^T (Wk k)) (Wv v), plus residuals when
 * given. currIdx below 0 does all time steps, else that one alone (inference). loWinIdx and
 * hiWinIdx (host, one entry per query step) bound the keys that a step sees: lo inclusive, hi
 * exclusive. Lengths of q/out and k/v in engine memory. A reserve space means training. BAD_PARAM
 * when shapes do not agree or a buffer is too small.
 */
cudnnStatus_t CUDNNWINAPI cudnnMultiHeadAttnForward(cudnnHandle_t handle,
    const cudnnAttnDescriptor_t attnDesc, int currIdx, const int loWinIdx[], const int hiWinIdx[],
    const int devSeqLengthsQO[], const int devSeqLengthsKV[], const cudnnSeqDataDescriptor_t qDesc,
    const void *queries, const void *residuals, const cudnnSeqDataDescriptor_t kDesc,
    const void *keys, const cudnnSeqDataDescriptor_t vDesc, const void *values,
    const cudnnSeqDataDescriptor_t oDesc, void *out, size_t weightSizeInBytes, const void *weights,
    size_t workSpaceSizeInBytes, void *workSpace, size_t reserveSpaceSizeInBytes,
    void *reserveSpace);

#ifdef __cplusplus
}
#endif

#endif /* CUDNN_ADV_INFER_H_ */
