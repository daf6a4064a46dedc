/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/*
 * The exported functions that have no body of their own yet: one per STUB row of functions.def.
 * Each answers NOT_SUPPORTED and leaves a last-error text with its name; no argument is looked at.
 * Longer than the usual 600 lines because it is one flat list that mirrors functions.def.
 * Compiled once per ABI (DN_ABI is 8 or 9) against the headers of that ABI.
 */
#include "api.h"

#ifdef __GNUC__
/* Arguments of a function that does nothing are unused by nature. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

#if DN_ABI == 8

cudnnStatus_t CUDNNWINAPI cudnnCreateAlgorithmDescriptor(cudnnAlgorithmDescriptor_t *algoDesc)
{
    return dn_stub("cudnnCreateAlgorithmDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnSetAlgorithmDescriptor(cudnnAlgorithmDescriptor_t algoDesc,
    cudnnAlgorithm_t algorithm)
{
    return dn_stub("cudnnSetAlgorithmDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnGetAlgorithmDescriptor(const cudnnAlgorithmDescriptor_t algoDesc,
    cudnnAlgorithm_t *algorithm)
{
    return dn_stub("cudnnGetAlgorithmDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnCopyAlgorithmDescriptor(const cudnnAlgorithmDescriptor_t src,
    cudnnAlgorithmDescriptor_t dest)
{
    return dn_stub("cudnnCopyAlgorithmDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyAlgorithmDescriptor(cudnnAlgorithmDescriptor_t algoDesc)
{
    return dn_stub("cudnnDestroyAlgorithmDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnCreateAlgorithmPerformance(cudnnAlgorithmPerformance_t *algoPerf,
    int numberToCreate)
{
    return dn_stub("cudnnCreateAlgorithmPerformance");
}

cudnnStatus_t CUDNNWINAPI cudnnSetAlgorithmPerformance(cudnnAlgorithmPerformance_t algoPerf,
    cudnnAlgorithmDescriptor_t algoDesc, cudnnStatus_t status, float time, size_t memory)
{
    return dn_stub("cudnnSetAlgorithmPerformance");
}

cudnnStatus_t CUDNNWINAPI cudnnGetAlgorithmPerformance(const cudnnAlgorithmPerformance_t algoPerf,
    cudnnAlgorithmDescriptor_t *algoDesc, cudnnStatus_t *status, float *time, size_t *memory)
{
    return dn_stub("cudnnGetAlgorithmPerformance");
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyAlgorithmPerformance(cudnnAlgorithmPerformance_t *algoPerf,
    int numberToDestroy)
{
    return dn_stub("cudnnDestroyAlgorithmPerformance");
}

cudnnStatus_t CUDNNWINAPI cudnnGetAlgorithmSpaceSize(cudnnHandle_t handle,
    cudnnAlgorithmDescriptor_t algoDesc, size_t *algoSpaceSizeInBytes)
{
    return dn_stub("cudnnGetAlgorithmSpaceSize");
}

cudnnStatus_t CUDNNWINAPI cudnnSaveAlgorithm(cudnnHandle_t handle,
    cudnnAlgorithmDescriptor_t algoDesc, void *algoSpace, size_t algoSpaceSizeInBytes)
{
    return dn_stub("cudnnSaveAlgorithm");
}

cudnnStatus_t CUDNNWINAPI cudnnRestoreAlgorithm(cudnnHandle_t handle, void *algoSpace,
    size_t algoSpaceSizeInBytes, cudnnAlgorithmDescriptor_t algoDesc)
{
    return dn_stub("cudnnRestoreAlgorithm");
}
#endif /* DN_ABI == 8 */

cudnnStatus_t CUDNNWINAPI cudnnCreateFusedOpsConstParamPack(
    cudnnFusedOpsConstParamPack_t *constPack, cudnnFusedOps_t ops)
{
    return dn_stub("cudnnCreateFusedOpsConstParamPack");
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyFusedOpsConstParamPack(
    cudnnFusedOpsConstParamPack_t constPack)
{
    return dn_stub("cudnnDestroyFusedOpsConstParamPack");
}

cudnnStatus_t CUDNNWINAPI cudnnSetFusedOpsConstParamPackAttribute(
    cudnnFusedOpsConstParamPack_t constPack, cudnnFusedOpsConstParamLabel_t paramLabel,
    const void *param)
{
    return dn_stub("cudnnSetFusedOpsConstParamPackAttribute");
}

cudnnStatus_t CUDNNWINAPI cudnnGetFusedOpsConstParamPackAttribute(
    const cudnnFusedOpsConstParamPack_t constPack, cudnnFusedOpsConstParamLabel_t paramLabel,
    void *param, int *isNULL)
{
    return dn_stub("cudnnGetFusedOpsConstParamPackAttribute");
}

cudnnStatus_t CUDNNWINAPI cudnnCreateFusedOpsVariantParamPack(
    cudnnFusedOpsVariantParamPack_t *varPack, cudnnFusedOps_t ops)
{
    return dn_stub("cudnnCreateFusedOpsVariantParamPack");
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyFusedOpsVariantParamPack(
    cudnnFusedOpsVariantParamPack_t varPack)
{
    return dn_stub("cudnnDestroyFusedOpsVariantParamPack");
}

cudnnStatus_t CUDNNWINAPI cudnnSetFusedOpsVariantParamPackAttribute(
    cudnnFusedOpsVariantParamPack_t varPack, cudnnFusedOpsVariantParamLabel_t paramLabel, void *ptr)
{
    return dn_stub("cudnnSetFusedOpsVariantParamPackAttribute");
}

cudnnStatus_t CUDNNWINAPI cudnnGetFusedOpsVariantParamPackAttribute(
    const cudnnFusedOpsVariantParamPack_t varPack, cudnnFusedOpsVariantParamLabel_t paramLabel,
    void *ptr)
{
    return dn_stub("cudnnGetFusedOpsVariantParamPackAttribute");
}

cudnnStatus_t CUDNNWINAPI cudnnCreateFusedOpsPlan(cudnnFusedOpsPlan_t *plan, cudnnFusedOps_t ops)
{
    return dn_stub("cudnnCreateFusedOpsPlan");
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyFusedOpsPlan(cudnnFusedOpsPlan_t plan)
{
    return dn_stub("cudnnDestroyFusedOpsPlan");
}

cudnnStatus_t CUDNNWINAPI cudnnMakeFusedOpsPlan(cudnnHandle_t handle, cudnnFusedOpsPlan_t plan,
    const cudnnFusedOpsConstParamPack_t constPack, size_t *workspaceSizeInBytes)
{
    return dn_stub("cudnnMakeFusedOpsPlan");
}

cudnnStatus_t CUDNNWINAPI cudnnFusedOpsExecute(cudnnHandle_t handle, const cudnnFusedOpsPlan_t plan,
    cudnnFusedOpsVariantParamPack_t varPack)
{
    return dn_stub("cudnnFusedOpsExecute");
}

cudnnStatus_t CUDNNWINAPI cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t *rnnDesc)
{
    return dn_stub("cudnnCreateRNNDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t rnnDesc)
{
    return dn_stub("cudnnDestroyRNNDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNAlgo_t algo, cudnnRNNMode_t cellMode, cudnnRNNBiasMode_t biasMode,
    cudnnDirectionMode_t dirMode, cudnnRNNInputMode_t inputMode, cudnnDataType_t dataType,
    cudnnDataType_t mathPrec, cudnnMathType_t mathType, int32_t inputSize, int32_t hiddenSize,
    int32_t projSize, int32_t numLayers, cudnnDropoutDescriptor_t dropoutDesc, uint32_t auxFlags)
{
    return dn_stub("cudnnSetRNNDescriptor_v8");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNDescriptor_v8(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNAlgo_t *algo, cudnnRNNMode_t *cellMode, cudnnRNNBiasMode_t *biasMode,
    cudnnDirectionMode_t *dirMode, cudnnRNNInputMode_t *inputMode, cudnnDataType_t *dataType,
    cudnnDataType_t *mathPrec, cudnnMathType_t *mathType, int32_t *inputSize, int32_t *hiddenSize,
    int32_t *projSize, int32_t *numLayers, cudnnDropoutDescriptor_t *dropoutDesc,
    uint32_t *auxFlags)
{
    return dn_stub("cudnnGetRNNDescriptor_v8");
}

#if DN_ABI == 8

cudnnStatus_t CUDNNWINAPI cudnnSetRNNDescriptor_v6(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, const int hiddenSize, const int numLayers,
    cudnnDropoutDescriptor_t dropoutDesc, cudnnRNNInputMode_t inputMode,
    cudnnDirectionMode_t direction, cudnnRNNMode_t cellMode, cudnnRNNAlgo_t algo,
    cudnnDataType_t mathPrec)
{
    return dn_stub("cudnnSetRNNDescriptor_v6");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNDescriptor_v6(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, int *hiddenSize, int *numLayers,
    cudnnDropoutDescriptor_t *dropoutDesc, cudnnRNNInputMode_t *inputMode,
    cudnnDirectionMode_t *direction, cudnnRNNMode_t *cellMode, cudnnRNNAlgo_t *algo,
    cudnnDataType_t *mathPrec)
{
    return dn_stub("cudnnGetRNNDescriptor_v6");
}

cudnnStatus_t CUDNNWINAPI cudnnSetRNNMatrixMathType(cudnnRNNDescriptor_t rnnDesc,
    cudnnMathType_t mType)
{
    return dn_stub("cudnnSetRNNMatrixMathType");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNMatrixMathType(cudnnRNNDescriptor_t rnnDesc,
    cudnnMathType_t *mType)
{
    return dn_stub("cudnnGetRNNMatrixMathType");
}

cudnnStatus_t CUDNNWINAPI cudnnSetRNNBiasMode(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNBiasMode_t biasMode)
{
    return dn_stub("cudnnSetRNNBiasMode");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNBiasMode(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNBiasMode_t *biasMode)
{
    return dn_stub("cudnnGetRNNBiasMode");
}
#endif /* DN_ABI == 8 */

cudnnStatus_t CUDNNWINAPI cudnnRNNSetClip_v8(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t clipMode, cudnnNanPropagation_t clipNanOpt, double lclip, double rclip)
{
    return dn_stub("cudnnRNNSetClip_v8");
}

cudnnStatus_t CUDNNWINAPI cudnnRNNGetClip_v8(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t *clipMode, cudnnNanPropagation_t *clipNanOpt, double *lclip, double *rclip)
{
    return dn_stub("cudnnRNNGetClip_v8");
}

#if DN_ABI == 8

cudnnStatus_t CUDNNWINAPI cudnnRNNSetClip(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t clipMode, cudnnNanPropagation_t clipNanOpt, double lclip, double rclip)
{
    return dn_stub("cudnnRNNSetClip");
}

cudnnStatus_t CUDNNWINAPI cudnnRNNGetClip(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t *clipMode, cudnnNanPropagation_t *clipNanOpt, double *lclip, double *rclip)
{
    return dn_stub("cudnnRNNGetClip");
}

cudnnStatus_t CUDNNWINAPI cudnnSetRNNProjectionLayers(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, const int recProjSize, const int outProjSize)
{
    return dn_stub("cudnnSetRNNProjectionLayers");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNProjectionLayers(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, int *recProjSize, int *outProjSize)
{
    return dn_stub("cudnnGetRNNProjectionLayers");
}

cudnnStatus_t CUDNNWINAPI cudnnCreatePersistentRNNPlan(cudnnRNNDescriptor_t rnnDesc,
    const int minibatch, const cudnnDataType_t dataType, cudnnPersistentRNNPlan_t *plan)
{
    return dn_stub("cudnnCreatePersistentRNNPlan");
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyPersistentRNNPlan(cudnnPersistentRNNPlan_t plan)
{
    return dn_stub("cudnnDestroyPersistentRNNPlan");
}

cudnnStatus_t CUDNNWINAPI cudnnSetPersistentRNNPlan(cudnnRNNDescriptor_t rnnDesc,
    cudnnPersistentRNNPlan_t plan)
{
    return dn_stub("cudnnSetPersistentRNNPlan");
}
#endif /* DN_ABI == 8 */

cudnnStatus_t CUDNNWINAPI cudnnBuildRNNDynamic(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    int miniBatch)
{
    return dn_stub("cudnnBuildRNNDynamic");
}

#if DN_ABI == 8

cudnnStatus_t CUDNNWINAPI cudnnGetRNNWorkspaceSize(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    size_t *sizeInBytes)
{
    return dn_stub("cudnnGetRNNWorkspaceSize");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNTrainingReserveSize(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    size_t *sizeInBytes)
{
    return dn_stub("cudnnGetRNNTrainingReserveSize");
}
#endif /* DN_ABI == 8 */

cudnnStatus_t CUDNNWINAPI cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, cudnnForwardMode_t fwdMode, cudnnRNNDataDescriptor_t xDesc,
    size_t *workSpaceSize, size_t *reserveSpaceSize)
{
    return dn_stub("cudnnGetRNNTempSpaceSizes");
}

#if DN_ABI == 8

cudnnStatus_t CUDNNWINAPI cudnnGetRNNParamsSize(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const cudnnTensorDescriptor_t xDesc, size_t *sizeInBytes,
    cudnnDataType_t dataType)
{
    return dn_stub("cudnnGetRNNParamsSize");
}
#endif /* DN_ABI == 8 */

cudnnStatus_t CUDNNWINAPI cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, size_t *weightSpaceSize)
{
    return dn_stub("cudnnGetRNNWeightSpaceSize");
}

#if DN_ABI == 8

cudnnStatus_t CUDNNWINAPI cudnnGetRNNLinLayerMatrixParams(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int pseudoLayer, const cudnnTensorDescriptor_t xDesc,
    const cudnnFilterDescriptor_t wDesc, const void *w, const int linLayerID,
    cudnnFilterDescriptor_t linLayerMatDesc, void **linLayerMat)
{
    return dn_stub("cudnnGetRNNLinLayerMatrixParams");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNLinLayerBiasParams(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int pseudoLayer, const cudnnTensorDescriptor_t xDesc,
    const cudnnFilterDescriptor_t wDesc, const void *w, const int linLayerID,
    cudnnFilterDescriptor_t linLayerBiasDesc, void **linLayerBias)
{
    return dn_stub("cudnnGetRNNLinLayerBiasParams");
}
#endif /* DN_ABI == 8 */

cudnnStatus_t CUDNNWINAPI cudnnGetRNNWeightParams(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, int32_t pseudoLayer, size_t weightSpaceSize,
    const void *weightSpace, int32_t linLayerID, cudnnTensorDescriptor_t mDesc, void **mAddr,
    cudnnTensorDescriptor_t bDesc, void **bAddr)
{
    return dn_stub("cudnnGetRNNWeightParams");
}

#if DN_ABI == 8

cudnnStatus_t CUDNNWINAPI cudnnRNNForwardInference(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnTensorDescriptor_t *yDesc, void *y,
    const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc, void *cy,
    void *workSpace, size_t workSpaceSizeInBytes)
{
    return dn_stub("cudnnRNNForwardInference");
}

cudnnStatus_t CUDNNWINAPI cudnnSetRNNPaddingMode(cudnnRNNDescriptor_t rnnDesc, unsigned paddingMode)
{
    return dn_stub("cudnnSetRNNPaddingMode");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNPaddingMode(cudnnRNNDescriptor_t rnnDesc,
    unsigned *paddingMode)
{
    return dn_stub("cudnnGetRNNPaddingMode");
}
#endif /* DN_ABI == 8 */

cudnnStatus_t CUDNNWINAPI cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t *rnnDataDesc)
{
    return dn_stub("cudnnCreateRNNDataDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc)
{
    return dn_stub("cudnnDestroyRNNDataDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc,
    cudnnDataType_t dataType, cudnnRNNDataLayout_t layout, int maxSeqLength, int batchSize,
    int vectorSize, const int seqLengthArray[], void *paddingFill)
{
    return dn_stub("cudnnSetRNNDataDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc,
    cudnnDataType_t *dataType, cudnnRNNDataLayout_t *layout, int *maxSeqLength, int *batchSize,
    int *vectorSize, int arrayLengthRequested, int seqLengthArray[], void *paddingFill)
{
    return dn_stub("cudnnGetRNNDataDescriptor");
}

#if DN_ABI == 8

cudnnStatus_t CUDNNWINAPI cudnnRNNForwardInferenceEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const cudnnRNNDataDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t hxDesc, const void *hx, const cudnnTensorDescriptor_t cxDesc,
    const void *cx, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnRNNDataDescriptor_t yDesc, void *y, const cudnnTensorDescriptor_t hyDesc, void *hy,
    const cudnnTensorDescriptor_t cyDesc, void *cy, const cudnnRNNDataDescriptor_t kDesc,
    const void *keys, const cudnnRNNDataDescriptor_t cDesc, void *cAttn,
    const cudnnRNNDataDescriptor_t iDesc, void *iAttn, const cudnnRNNDataDescriptor_t qDesc,
    void *queries, void *workSpace, size_t workSpaceSizeInBytes)
{
    return dn_stub("cudnnRNNForwardInferenceEx");
}
#endif /* DN_ABI == 8 */

cudnnStatus_t CUDNNWINAPI cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    cudnnForwardMode_t fwdMode, const int32_t devSeqLengths[], cudnnRNNDataDescriptor_t xDesc,
    const void *x, cudnnRNNDataDescriptor_t yDesc, void *y, cudnnTensorDescriptor_t hDesc,
    const void *hx, void *hy, cudnnTensorDescriptor_t cDesc, const void *cx, void *cy,
    size_t weightSpaceSize, const void *weightSpace, size_t workSpaceSize, void *workSpace,
    size_t reserveSpaceSize, void *reserveSpace)
{
    return dn_stub("cudnnRNNForward");
}

#if DN_ABI == 8

cudnnStatus_t CUDNNWINAPI cudnnSetRNNAlgorithmDescriptor(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, cudnnAlgorithmDescriptor_t algoDesc)
{
    return dn_stub("cudnnSetRNNAlgorithmDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNForwardInferenceAlgorithmMaxCount(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, int *count)
{
    return dn_stub("cudnnGetRNNForwardInferenceAlgorithmMaxCount");
}

cudnnStatus_t CUDNNWINAPI cudnnFindRNNForwardInferenceAlgorithmEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnTensorDescriptor_t *yDesc, void *y,
    const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc, void *cy,
    const float findIntensity, const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnAlgorithmPerformance_t *perfResults, void *workspace, size_t workSpaceSizeInBytes)
{
    return dn_stub("cudnnFindRNNForwardInferenceAlgorithmEx");
}
#endif /* DN_ABI == 8 */

cudnnStatus_t CUDNNWINAPI cudnnCreateSeqDataDescriptor(cudnnSeqDataDescriptor_t *seqDataDesc)
{
    return dn_stub("cudnnCreateSeqDataDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnDestroySeqDataDescriptor(cudnnSeqDataDescriptor_t seqDataDesc)
{
    return dn_stub("cudnnDestroySeqDataDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnSetSeqDataDescriptor(cudnnSeqDataDescriptor_t seqDataDesc,
    cudnnDataType_t dataType, int nbDims, const int dimA[], const cudnnSeqDataAxis_t axes[],
    size_t seqLengthArraySize, const int seqLengthArray[], void *paddingFill)
{
    return dn_stub("cudnnSetSeqDataDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnGetSeqDataDescriptor(const cudnnSeqDataDescriptor_t seqDataDesc,
    cudnnDataType_t *dataType, int *nbDims, int nbDimsRequested, int dimA[],
    cudnnSeqDataAxis_t axes[], size_t *seqLengthArraySize, size_t seqLengthSizeRequested,
    int seqLengthArray[], void *paddingFill)
{
    return dn_stub("cudnnGetSeqDataDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnCreateAttnDescriptor(cudnnAttnDescriptor_t *attnDesc)
{
    return dn_stub("cudnnCreateAttnDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyAttnDescriptor(cudnnAttnDescriptor_t attnDesc)
{
    return dn_stub("cudnnDestroyAttnDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnSetAttnDescriptor(cudnnAttnDescriptor_t attnDesc, unsigned attnMode,
    int nHeads, double smScaler, cudnnDataType_t dataType, cudnnDataType_t computePrec,
    cudnnMathType_t mathType, cudnnDropoutDescriptor_t attnDropoutDesc,
    cudnnDropoutDescriptor_t postDropoutDesc, int qSize, int kSize, int vSize, int qProjSize,
    int kProjSize, int vProjSize, int oProjSize, int qoMaxSeqLength, int kvMaxSeqLength,
    int maxBatchSize, int maxBeamSize)
{
    return dn_stub("cudnnSetAttnDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnGetAttnDescriptor(cudnnAttnDescriptor_t attnDesc, unsigned *attnMode,
    int *nHeads, double *smScaler, cudnnDataType_t *dataType, cudnnDataType_t *computePrec,
    cudnnMathType_t *mathType, cudnnDropoutDescriptor_t *attnDropoutDesc,
    cudnnDropoutDescriptor_t *postDropoutDesc, int *qSize, int *kSize, int *vSize, int *qProjSize,
    int *kProjSize, int *vProjSize, int *oProjSize, int *qoMaxSeqLength, int *kvMaxSeqLength,
    int *maxBatchSize, int *maxBeamSize)
{
    return dn_stub("cudnnGetAttnDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnGetMultiHeadAttnBuffers(cudnnHandle_t handle,
    const cudnnAttnDescriptor_t attnDesc, size_t *weightSizeInBytes, size_t *workSpaceSizeInBytes,
    size_t *reserveSpaceSizeInBytes)
{
    return dn_stub("cudnnGetMultiHeadAttnBuffers");
}

cudnnStatus_t CUDNNWINAPI cudnnGetMultiHeadAttnWeights(cudnnHandle_t handle,
    const cudnnAttnDescriptor_t attnDesc, cudnnMultiHeadAttnWeightKind_t wKind,
    size_t weightSizeInBytes, const void *weights, cudnnTensorDescriptor_t wDesc, void **wAddr)
{
    return dn_stub("cudnnGetMultiHeadAttnWeights");
}

cudnnStatus_t CUDNNWINAPI cudnnMultiHeadAttnForward(cudnnHandle_t handle,
    const cudnnAttnDescriptor_t attnDesc, int currIdx, const int loWinIdx[], const int hiWinIdx[],
    const int devSeqLengthsQO[], const int devSeqLengthsKV[], const cudnnSeqDataDescriptor_t qDesc,
    const void *queries, const void *residuals, const cudnnSeqDataDescriptor_t kDesc,
    const void *keys, const cudnnSeqDataDescriptor_t vDesc, const void *values,
    const cudnnSeqDataDescriptor_t oDesc, void *out, size_t weightSizeInBytes, const void *weights,
    size_t workSpaceSizeInBytes, void *workSpace, size_t reserveSpaceSizeInBytes,
    void *reserveSpace)
{
    return dn_stub("cudnnMultiHeadAttnForward");
}

#if DN_ABI == 9

cudnnStatus_t CUDNNWINAPI cudnnRNNSetClip_v9(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t clipMode, double lclip, double rclip)
{
    return dn_stub("cudnnRNNSetClip_v9");
}

cudnnStatus_t CUDNNWINAPI cudnnRNNGetClip_v9(cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t *clipMode, double *lclip, double *rclip)
{
    return dn_stub("cudnnRNNGetClip_v9");
}
#endif /* DN_ABI == 9 */

#if DN_ABI == 8

cudnnStatus_t CUDNNWINAPI cudnnRNNForwardTraining(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnTensorDescriptor_t *yDesc, void *y,
    const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc, void *cy,
    void *workSpace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes)
{
    return dn_stub("cudnnRNNForwardTraining");
}

cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardData(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *yDesc,
    const void *y, const cudnnTensorDescriptor_t *dyDesc, const void *dy,
    const cudnnTensorDescriptor_t dhyDesc, const void *dhy, const cudnnTensorDescriptor_t dcyDesc,
    const void *dcy, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnTensorDescriptor_t hxDesc, const void *hx, const cudnnTensorDescriptor_t cxDesc,
    const void *cx, const cudnnTensorDescriptor_t *dxDesc, void *dx,
    const cudnnTensorDescriptor_t dhxDesc, void *dhx, const cudnnTensorDescriptor_t dcxDesc,
    void *dcx, void *workSpace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes)
{
    return dn_stub("cudnnRNNBackwardData");
}
#endif /* DN_ABI == 8 */

cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardData_v8(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, const int32_t devSeqLengths[], cudnnRNNDataDescriptor_t yDesc,
    const void *y, const void *dy, cudnnRNNDataDescriptor_t xDesc, void *dx,
    cudnnTensorDescriptor_t hDesc, const void *hx, const void *dhy, void *dhx,
    cudnnTensorDescriptor_t cDesc, const void *cx, const void *dcy, void *dcx,
    size_t weightSpaceSize, const void *weightSpace, size_t workSpaceSize, void *workSpace,
    size_t reserveSpaceSize, void *reserveSpace)
{
    return dn_stub("cudnnRNNBackwardData_v8");
}

#if DN_ABI == 8

cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardWeights(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t *yDesc, const void *y, const void *workSpace,
    size_t workSpaceSizeInBytes, const cudnnFilterDescriptor_t dwDesc, void *dw,
    const void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    return dn_stub("cudnnRNNBackwardWeights");
}
#endif /* DN_ABI == 8 */

cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardWeights_v8(cudnnHandle_t handle,
    cudnnRNNDescriptor_t rnnDesc, cudnnWgradMode_t addGrad, const int32_t devSeqLengths[],
    cudnnRNNDataDescriptor_t xDesc, const void *x, cudnnTensorDescriptor_t hDesc, const void *hx,
    cudnnRNNDataDescriptor_t yDesc, const void *y, size_t weightSpaceSize, void *dweightSpace,
    size_t workSpaceSize, void *workSpace, size_t reserveSpaceSize, void *reserveSpace)
{
    return dn_stub("cudnnRNNBackwardWeights_v8");
}

#if DN_ABI == 8

cudnnStatus_t CUDNNWINAPI cudnnRNNForwardTrainingEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const cudnnRNNDataDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t hxDesc, const void *hx, const cudnnTensorDescriptor_t cxDesc,
    const void *cx, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnRNNDataDescriptor_t yDesc, void *y, const cudnnTensorDescriptor_t hyDesc, void *hy,
    const cudnnTensorDescriptor_t cyDesc, void *cy, const cudnnRNNDataDescriptor_t kDesc,
    const void *keys, const cudnnRNNDataDescriptor_t cDesc, void *cAttn,
    const cudnnRNNDataDescriptor_t iDesc, void *iAttn, const cudnnRNNDataDescriptor_t qDesc,
    void *queries, void *workSpace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes)
{
    return dn_stub("cudnnRNNForwardTrainingEx");
}

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
    size_t reserveSpaceSizeInBytes)
{
    return dn_stub("cudnnRNNBackwardDataEx");
}

cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardWeightsEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const cudnnRNNDataDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t hxDesc, const void *hx, const cudnnRNNDataDescriptor_t yDesc,
    const void *y, void *workSpace, size_t workSpaceSizeInBytes,
    const cudnnFilterDescriptor_t dwDesc, void *dw, void *reserveSpace,
    size_t reserveSpaceSizeInBytes)
{
    return dn_stub("cudnnRNNBackwardWeightsEx");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNForwardTrainingAlgorithmMaxCount(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, int *count)
{
    return dn_stub("cudnnGetRNNForwardTrainingAlgorithmMaxCount");
}

cudnnStatus_t CUDNNWINAPI cudnnFindRNNForwardTrainingAlgorithmEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnTensorDescriptor_t *yDesc, void *y,
    const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc, void *cy,
    const float findIntensity, const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnAlgorithmPerformance_t *perfResults, void *workspace, size_t workSpaceSizeInBytes,
    void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    return dn_stub("cudnnFindRNNForwardTrainingAlgorithmEx");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNBackwardDataAlgorithmMaxCount(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, int *count)
{
    return dn_stub("cudnnGetRNNBackwardDataAlgorithmMaxCount");
}

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
    void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    return dn_stub("cudnnFindRNNBackwardDataAlgorithmEx");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNBackwardWeightsAlgorithmMaxCount(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, int *count)
{
    return dn_stub("cudnnGetRNNBackwardWeightsAlgorithmMaxCount");
}

cudnnStatus_t CUDNNWINAPI cudnnFindRNNBackwardWeightsAlgorithmEx(cudnnHandle_t handle,
    const cudnnRNNDescriptor_t rnnDesc, const int seqLength, const cudnnTensorDescriptor_t *xDesc,
    const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t *yDesc, const void *y, const float findIntensity,
    const int requestedAlgoCount, int *returnedAlgoCount, cudnnAlgorithmPerformance_t *perfResults,
    const void *workspace, size_t workSpaceSizeInBytes, const cudnnFilterDescriptor_t dwDesc,
    void *dw, const void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    return dn_stub("cudnnFindRNNBackwardWeightsAlgorithmEx");
}
#endif /* DN_ABI == 8 */

cudnnStatus_t CUDNNWINAPI cudnnMultiHeadAttnBackwardData(cudnnHandle_t handle,
    const cudnnAttnDescriptor_t attnDesc, const int loWinIdx[], const int hiWinIdx[],
    const int devSeqLengthsDQDO[], const int devSeqLengthsDKDV[],
    const cudnnSeqDataDescriptor_t doDesc, const void *dout, const cudnnSeqDataDescriptor_t dqDesc,
    void *dqueries, const void *queries, const cudnnSeqDataDescriptor_t dkDesc, void *dkeys,
    const void *keys, const cudnnSeqDataDescriptor_t dvDesc, void *dvalues, const void *values,
    size_t weightSizeInBytes, const void *weights, size_t workSpaceSizeInBytes, void *workSpace,
    size_t reserveSpaceSizeInBytes, void *reserveSpace)
{
    return dn_stub("cudnnMultiHeadAttnBackwardData");
}

cudnnStatus_t CUDNNWINAPI cudnnMultiHeadAttnBackwardWeights(cudnnHandle_t handle,
    const cudnnAttnDescriptor_t attnDesc, cudnnWgradMode_t addGrad,
    const cudnnSeqDataDescriptor_t qDesc, const void *queries, const cudnnSeqDataDescriptor_t kDesc,
    const void *keys, const cudnnSeqDataDescriptor_t vDesc, const void *values,
    const cudnnSeqDataDescriptor_t doDesc, const void *dout, size_t weightSizeInBytes,
    const void *weights, void *dweights, size_t workSpaceSizeInBytes, void *workSpace,
    size_t reserveSpaceSizeInBytes, void *reserveSpace)
{
    return dn_stub("cudnnMultiHeadAttnBackwardWeights");
}

cudnnStatus_t CUDNNWINAPI cudnnCreateCTCLossDescriptor(cudnnCTCLossDescriptor_t *ctcLossDesc)
{
    return dn_stub("cudnnCreateCTCLossDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t compType)
{
    return dn_stub("cudnnSetCTCLossDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t compType, cudnnLossNormalizationMode_t normMode, cudnnNanPropagation_t gradMode)
{
    return dn_stub("cudnnSetCTCLossDescriptorEx");
}

cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t compType, cudnnLossNormalizationMode_t normMode, cudnnNanPropagation_t gradMode,
    int maxLabelLength)
{
    return dn_stub("cudnnSetCTCLossDescriptor_v8");
}

cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t *compType)
{
    return dn_stub("cudnnGetCTCLossDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t *compType, cudnnLossNormalizationMode_t *normMode,
    cudnnNanPropagation_t *gradMode)
{
    return dn_stub("cudnnGetCTCLossDescriptorEx");
}

cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t *compType, cudnnLossNormalizationMode_t *normMode,
    cudnnNanPropagation_t *gradMode, int *maxLabelLength)
{
    return dn_stub("cudnnGetCTCLossDescriptor_v8");
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc)
{
    return dn_stub("cudnnDestroyCTCLossDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnCTCLoss(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t probsDesc, const void *probs, const int hostLabels[],
    const int hostLabelLengths[], const int hostInputLengths[], void *costs,
    const cudnnTensorDescriptor_t gradientsDesc, void *gradients, cudnnCTCLossAlgo_t algo,
    cudnnCTCLossDescriptor_t ctcLossDesc, void *workspace, size_t workSpaceSizeInBytes)
{
    return dn_stub("cudnnCTCLoss");
}

cudnnStatus_t CUDNNWINAPI cudnnCTCLoss_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t algo,
    cudnnCTCLossDescriptor_t ctcLossDesc, const cudnnTensorDescriptor_t probsDesc,
    const void *probs, const int labels[], const int labelLengths[], const int inputLengths[],
    void *costs, const cudnnTensorDescriptor_t gradientsDesc, void *gradients,
    size_t workSpaceSizeInBytes, void *workspace)
{
    return dn_stub("cudnnCTCLoss_v8");
}

cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossWorkspaceSize(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t probsDesc, const cudnnTensorDescriptor_t gradientsDesc,
    const int *labels, const int *labelLengths, const int *inputLengths, cudnnCTCLossAlgo_t algo,
    cudnnCTCLossDescriptor_t ctcLossDesc, size_t *sizeInBytes)
{
    return dn_stub("cudnnGetCTCLossWorkspaceSize");
}

cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t handle,
    cudnnCTCLossAlgo_t algo, cudnnCTCLossDescriptor_t ctcLossDesc,
    const cudnnTensorDescriptor_t probsDesc, const cudnnTensorDescriptor_t gradientsDesc,
    size_t *sizeInBytes)
{
    return dn_stub("cudnnGetCTCLossWorkspaceSize_v8");
}

#if DN_ABI == 9

cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t compType, cudnnLossNormalizationMode_t normMode, cudnnCTCGradMode_t ctcGradMode,
    int maxLabelLength)
{
    return dn_stub("cudnnSetCTCLossDescriptor_v9");
}

cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t ctcLossDesc,
    cudnnDataType_t *compType, cudnnLossNormalizationMode_t *normMode,
    cudnnCTCGradMode_t *ctcGradMode, int *maxLabelLength)
{
    return dn_stub("cudnnGetCTCLossDescriptor_v9");
}
#endif /* DN_ABI == 9 */

cudnnStatus_t CUDNNWINAPI cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t descriptorType,
    cudnnBackendDescriptor_t *descriptor)
{
    return dn_stub("cudnnBackendCreateDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor)
{
    return dn_stub("cudnnBackendDestroyDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor)
{
    return dn_stub("cudnnBackendInitialize");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor)
{
    return dn_stub("cudnnBackendFinalize");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t attributeName, cudnnBackendAttributeType_t attributeType,
    int64_t elementCount, const void *arrayOfElements)
{
    return dn_stub("cudnnBackendSetAttribute");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
    cudnnBackendAttributeName_t attributeName, cudnnBackendAttributeType_t attributeType,
    int64_t requestedElementCount, int64_t *elementCount, void *arrayOfElements)
{
    return dn_stub("cudnnBackendGetAttribute");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendExecute(cudnnHandle_t handle,
    cudnnBackendDescriptor_t executionPlan, cudnnBackendDescriptor_t variantPack)
{
    return dn_stub("cudnnBackendExecute");
}

#if DN_ABI == 9

cudnnStatus_t CUDNNWINAPI cudnnBackendPopulateCudaGraph(cudnnHandle_t handle,
    cudnnBackendDescriptor_t executionPlan, cudnnBackendDescriptor_t variantPack, cudaGraph_t graph)
{
    return dn_stub("cudnnBackendPopulateCudaGraph");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendUpdateCudaGraph(cudnnHandle_t handle,
    cudnnBackendDescriptor_t executionPlan, cudnnBackendDescriptor_t variantPack, cudaGraph_t graph)
{
    return dn_stub("cudnnBackendUpdateCudaGraph");
}
#endif /* DN_ABI == 9 */

/*
 * Exported by the vendor, declared in none of its headers: the prototypes are not known, so no
 * argument is read and nothing is written.
 */

cudnnStatus_t CUDNNWINAPI cudnnGetBackdoor(void);
cudnnStatus_t CUDNNWINAPI cudnnGetBackdoor(void)
{
    return dn_stub("cudnnGetBackdoor");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNDropoutLocationsInternal(void);
cudnnStatus_t CUDNNWINAPI cudnnGetRNNDropoutLocationsInternal(void)
{
    return dn_stub("cudnnGetRNNDropoutLocationsInternal");
}

cudnnStatus_t CUDNNWINAPI cudnnSetBackdoor(void);
cudnnStatus_t CUDNNWINAPI cudnnSetBackdoor(void)
{
    return dn_stub("cudnnSetBackdoor");
}

cudnnStatus_t CUDNNWINAPI cudnnSetBackdoorEx(void);
cudnnStatus_t CUDNNWINAPI cudnnSetBackdoorEx(void)
{
    return dn_stub("cudnnSetBackdoorEx");
}
