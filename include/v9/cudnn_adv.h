/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* cudnn_adv.h: recurrent networks, attention, CTC loss */
#ifndef CUDNN_ADV_H_
#define CUDNN_ADV_H_

#include <stddef.h>
#include <stdint.h>

#include "cudnn_version.h"
#include "cudnn_ops.h"

/* Version of this header, which has to be that of cudnn_version.h. */
#define CUDNN_ADV_MAJOR 9
#define CUDNN_ADV_MINOR 19
#define CUDNN_ADV_PATCH 0

#if CUDNN_ADV_MAJOR != CUDNN_MAJOR || CUDNN_ADV_MINOR != CUDNN_MINOR || \
    CUDNN_ADV_PATCH != CUDNN_PATCHLEVEL
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
cudnnStatus_t CUDNNWINAPI cudnnAdvVersionCheck(void);

/* ---- Algorithm numbers ----------------------------------------------------------------------- */

/* Algorithms of recurrent networks. */
typedef enum {
    CUDNN_RNN_ALGO_STANDARD               = 0, /* step by step */
    CUDNN_RNN_ALGO_PERSIST_STATIC         = 1, /* weights kept on chip */
    CUDNN_RNN_ALGO_PERSIST_DYNAMIC        = 2, /* the same, compiled at run time */
    CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H = 3, /* for small hidden sizes */
    CUDNN_RNN_ALGO_COUNT                  = 4
} cudnnRNNAlgo_t;

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

/* A recurrent network. */
typedef struct cudnnRNNStruct *cudnnRNNDescriptor_t;

/* A batch of sequences. */
typedef struct cudnnRNNDataStruct *cudnnRNNDataDescriptor_t;

/* Whether weight gradients are added to the buffer or replace it. */
typedef enum {
    CUDNN_WGRAD_MODE_ADD = 0,
    CUDNN_WGRAD_MODE_SET = 1
} cudnnWgradMode_t;

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
 * Clips the LSTM cell state c_t to lclip .. rclip (CLIP_MINMAX) at each step, or not (CLIP_NONE).
 * BAD_PARAM when lclip is above rclip or either is NaN.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnRNNSetClip_v8(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t clipMode, cudnnNanPropagation_t clipNanOpt, double lclip, double rclip);

/* Reads the clipping of the LSTM cell state into host variables; each may be NULL. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnRNNGetClip_v8(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t *clipMode, cudnnNanPropagation_t *clipNanOpt, double *lclip, double *rclip);

/*
 * Compiles kernels of PERSIST_DYNAMIC for one batch size and keeps them in the descriptor.
 * NOT_SUPPORTED for other algorithms, NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING without a run-time
 * compiler.
 */
cudnnStatus_t CUDNNWINAPI cudnnBuildRNNDynamic(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    int miniBatch);

/*
 * Bytes of workspace and (for training) of reserve space for batches like xDesc, whose longest
 * sequence and batch size alone count. Either host pointer may be NULL.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, cudnnForwardMode_t fwdMode, cudnnRNNDataDescriptor_t xDesc,
    size_t *workSpaceSize, size_t *reserveSpaceSize);

/* Bytes of the buffer that holds all weights and biases, into *weightSpaceSize (host). */
cudnnStatus_t CUDNNWINAPI cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, size_t *weightSpaceSize);

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

/* Makes an empty descriptor of a batch of sequences in *rnnDataDesc (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t *rnnDataDesc);

/* Frees the descriptor. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc);

/*
 * Describes batchSize sequences of vectors of vectorSize elements, at most maxSeqLength steps, in
 * one of three layouts. seqLengthArray (host, batchSize entries) holds each length. paddingFill
 * (host, one value, may be NULL) is written to the padding of outputs in unpacked layouts.
 * BAD_PARAM for a length below 0 or above the maximum, and for 0 or lengths that do not fall in the
 * packed layout; INTERNAL_ERROR_HOST_ALLOCATION_FAILED when the array cannot be kept.
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

/*
 * Clips the LSTM cell state c_t to lclip .. rclip (CLIP_MINMAX) at each step, or not (CLIP_NONE).
 * BAD_PARAM when lclip is above rclip or either is NaN.
 */
cudnnStatus_t CUDNNWINAPI cudnnRNNSetClip_v9(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t clipMode, double lclip, double rclip);

/* Reads the clipping of the LSTM cell state into host variables; each may be NULL. */
cudnnStatus_t CUDNNWINAPI cudnnRNNGetClip_v9(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t *clipMode, double *lclip, double *rclip);

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
 * Adds (WGRAD_MODE_ADD, the only one supported) the gradients of all weights and biases to
 * dweightSpace, laid out like the weight space. To be called after cudnnRNNBackwardData_v8 with the
 * same reserveSpace. Engine memory. NOT_SUPPORTED for WGRAD_MODE_SET.
 */
cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardWeights_v8(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, cudnnWgradMode_t addGrad, const int32_t devSeqLengths[],
    cudnnRNNDataDescriptor_t xDesc, const void *x, cudnnTensorDescriptor_t hDesc, const void *hx,
    cudnnRNNDataDescriptor_t yDesc, const void *y, size_t weightSpaceSize, void *dweightSpace,
    size_t workSpaceSize, void *workSpace, size_t reserveSpaceSize, void *reserveSpace);

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
CUDNN_DEPRECATED typedef struct cudnnSeqDataStruct *cudnnSeqDataDescriptor_t;

/* A multi-head attention layer. */
CUDNN_DEPRECATED typedef struct cudnnAttnStruct *cudnnAttnDescriptor_t;

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
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnCreateSeqDataDescriptor(cudnnSeqDataDescriptor_t *seqDataDesc);

/* Frees the descriptor. NULL is accepted. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnDestroySeqDataDescriptor(cudnnSeqDataDescriptor_t seqDataDesc);

/*
 * Describes packed data of nbDims = 4 axes: dimA (host, indexed by axis) gives the sizes of TIME,
 * BATCH, BEAM and VECT, axes (host, 4 entries) their order in memory, outermost first, VECT last.
 * seqLengthArray (host, batch * beam entries) gives the lengths. paddingFill must be NULL.
 * BAD_PARAM for sizes, axes or lengths out of range, NOT_SUPPORTED for other ranks.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetSeqDataDescriptor(cudnnSeqDataDescriptor_t seqDataDesc,
    cudnnDataType_t dataType, int nbDims, const int dimA[], const cudnnSeqDataAxis_t axes[],
    size_t seqLengthArraySize, const int seqLengthArray[], void *paddingFill);

/*
 * Reads the descriptor into host variables and host arrays of nbDimsRequested and
 * seqLengthSizeRequested entries.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetSeqDataDescriptor(const cudnnSeqDataDescriptor_t seqDataDesc,
    cudnnDataType_t *dataType, int *nbDims, int nbDimsRequested, int dimA[],
    cudnnSeqDataAxis_t axes[], size_t *seqLengthArraySize, size_t seqLengthSizeRequested,
    int seqLengthArray[], void *paddingFill);

/* Makes an empty multi-head attention descriptor in *attnDesc (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnCreateAttnDescriptor(cudnnAttnDescriptor_t *attnDesc);

/* Frees the descriptor. NULL is accepted. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnDestroyAttnDescriptor(cudnnAttnDescriptor_t attnDesc);

/*
 * Sets the layer: flags (CUDNN_ATTN_*), heads, factor smScaler of the scores before softmax, types,
 * dropout of scores and of output (NULL for none), vector sizes of q, k, v before and after
 * projection (0 for no projection), output size (0 likewise), and the largest lengths, batch and
 * beam that will be used. BAD_PARAM for a value out of range, NOT_SUPPORTED for combinations that
 * are not possible.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetAttnDescriptor(cudnnAttnDescriptor_t attnDesc, unsigned attnMode,
    int nHeads, double smScaler, cudnnDataType_t dataType, cudnnDataType_t computePrec,
    cudnnMathType_t mathType, cudnnDropoutDescriptor_t attnDropoutDesc,
    cudnnDropoutDescriptor_t postDropoutDesc, int qSize, int kSize, int vSize, int qProjSize,
    int kProjSize, int vProjSize, int oProjSize, int qoMaxSeqLength, int kvMaxSeqLength,
    int maxBatchSize, int maxBeamSize);

/* Reads what cudnnSetAttnDescriptor set into host variables; each may be NULL. */
CUDNN_DEPRECATED
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
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetMultiHeadAttnBuffers(cudnnHandle_t handle,
    const cudnnAttnDescriptor_t attnDesc, size_t *weightSizeInBytes, size_t *workSpaceSizeInBytes,
    size_t *reserveSpaceSizeInBytes);

/*
 * Describes one kind of projection weight or bias and stores its address inside weights. The
 * descriptor is made by the caller; *wAddr is NULL where there is no such projection.
 */
CUDNN_DEPRECATED
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
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnMultiHeadAttnForward(cudnnHandle_t handle,
    const cudnnAttnDescriptor_t attnDesc, int currIdx, const int loWinIdx[], const int hiWinIdx[],
    const int devSeqLengthsQO[], const int devSeqLengthsKV[], const cudnnSeqDataDescriptor_t qDesc,
    const void *queries, const void *residuals, const cudnnSeqDataDescriptor_t kDesc,
    const void *keys, const cudnnSeqDataDescriptor_t vDesc, const void *values,
    const cudnnSeqDataDescriptor_t oDesc, void *out, size_t weightSizeInBytes, const void *weights,
    size_t workSpaceSizeInBytes, void *workSpace, size_t reserveSpaceSizeInBytes,
    void *reserveSpace);

/*
 * Gradients dqueries, dkeys, dvalues of a training call for dout, with its window and length
 * arrays. reserveSpace is the one of the forward call. Engine memory. BAD_PARAM when shapes do not
 * agree.
 */
CUDNN_DEPRECATED
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
CUDNN_DEPRECATED
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
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t compType);

/*
 * As cudnnSetCTCLossDescriptor, with normMode: probs are probabilities (NONE) or scores that get a
 * softmax (SOFTMAX), and gradMode: PROPAGATE_NAN writes NaN gradients for impossible labels,
 * NOT_PROPAGATE_NAN zeros.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t compType, cudnnLossNormalizationMode_t normMode,
    cudnnNanPropagation_t gradMode);

/*
 * As cudnnSetCTCLossDescriptorEx, with the largest label length, which bounds the workspace of
 * cudnnCTCLoss_v8. BAD_PARAM when it is negative.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t compType, cudnnLossNormalizationMode_t normMode, cudnnNanPropagation_t gradMode,
    int maxLabelLength);

/* Reads what the Set function of the same name set into host variables. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t *compType);

/* Reads what the Set function of the same name set into host variables. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t *compType, cudnnLossNormalizationMode_t *normMode,
    cudnnNanPropagation_t *gradMode);

/* Reads what the Set function of the same name set into host variables. */
CUDNN_DEPRECATED
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

/*
 * As cudnnSetCTCLossDescriptor_v8, with ctcGradMode: whether gradients of samples whose lengths are
 * out of bounds are zeroed or left alone. BAD_PARAM when maxLabelLength is negative.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t compType, cudnnLossNormalizationMode_t normMode, cudnnCTCGradMode_t ctcGradMode,
    int maxLabelLength);

/* Reads what the Set function of the same name set into host variables. */
cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t *compType, cudnnLossNormalizationMode_t *normMode,
    cudnnCTCGradMode_t *ctcGradMode, int *maxLabelLength);

#ifdef __cplusplus
}
#endif

#endif /* CUDNN_ADV_H_ */
