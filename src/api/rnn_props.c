/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What only cuDNN 8 has of the descriptor of a recurrent network: cudnnSetRNNDescriptor_v6, single properties, persistent plans.
 * Statuses as 8.9.7 answers them. A Set of the whole takes single properties back to their defaults. */
#include "algorithm.h"
#include "rnn.h"

#include <string.h>

#if DN_ABI == 8

static dn_rnn_desc *any_desc(cudnnRNNDescriptor_t desc)
{
    return dn_object_of(&dn_rnn_pool, desc, "rnnDesc");
}

cudnnStatus_t CUDNNWINAPI cudnnSetRNNDescriptor_v6(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, const int hiddenSize,
    const int numLayers, cudnnDropoutDescriptor_t dropoutDesc, cudnnRNNInputMode_t inputMode, cudnnDirectionMode_t direction,
    cudnnRNNMode_t cellMode, cudnnRNNAlgo_t algo, cudnnDataType_t mathPrec)
{
    dn_call_begin("cudnnSetRNNDescriptor_v6");
    dn_rnn_desc *d = dn_handle_of(handle) ? any_desc(rnnDesc) : NULL;
    if (!d || (dropoutDesc && !dn_object_of(&dn_dropout_pool, dropoutDesc, "dropoutDesc"))
        || dn_want_range(hiddenSize, 1, INT32_MAX, "hiddenSize", "1 or more")
        || dn_want_range(numLayers, 1, INT32_MAX, "numLayers", "1 or more")
        || dn_want_range((int)inputMode, CUDNN_LINEAR_INPUT, CUDNN_SKIP_INPUT, "inputMode", "a cudnnRNNInputMode_t, 0 or 1")
        || dn_want_range((int)direction, CUDNN_UNIDIRECTIONAL, CUDNN_BIDIRECTIONAL, "direction", "a cudnnDirectionMode_t, 0 or 1")
        || dn_want_range((int)cellMode, CUDNN_RNN_RELU, CUDNN_GRU, "cellMode", "a cudnnRNNMode_t, 0 to 3")
        || dn_want_range((int)algo, 0, CUDNN_RNN_ALGO_COUNT - 1, "algo", "a cudnnRNNAlgo_t, 0 to 3"))
        return dn_answer(DN_BAD_PARAM);
    if (mathPrec != CUDNN_DATA_FLOAT && mathPrec != CUDNN_DATA_DOUBLE && mathPrec != CUDNN_DATA_HALF)
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "mathPrec is %d; it must be CUDNN_DATA_FLOAT, _DOUBLE or _HALF", (int)mathPrec));
    *d = (dn_rnn_desc){
        .cookie = d->cookie, .set = DN_RNN_SET_V6, .algo = (int32_t)algo, .prec = (int32_t)mathPrec, .dropout = dropoutDesc,
        .p = { .cell = (int32_t)cellMode, .bidirectional = (int32_t)direction, .layers = numLayers, .hidden = hiddenSize,
               .proj = hiddenSize, .skip = (int32_t)inputMode, .bias = DN_RNN_BIAS_DOUBLE },
    };
    return dn_answer(DN_SUCCESS);
}

/* What _v8 set is read too, and one never set reads as zeros. */
cudnnStatus_t CUDNNWINAPI cudnnGetRNNDescriptor_v6(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int *hiddenSize,
    int *numLayers, cudnnDropoutDescriptor_t *dropoutDesc, cudnnRNNInputMode_t *inputMode, cudnnDirectionMode_t *direction,
    cudnnRNNMode_t *cellMode, cudnnRNNAlgo_t *algo, cudnnDataType_t *mathPrec)
{
    dn_call_begin("cudnnGetRNNDescriptor_v6");
    const dn_rnn_desc *d = dn_handle_of(handle) ? any_desc(rnnDesc) : NULL;
    if (!d || dn_want(hiddenSize, "hiddenSize") || dn_want(numLayers, "numLayers") || dn_want(dropoutDesc, "dropoutDesc")
        || dn_want(inputMode, "inputMode") || dn_want(direction, "direction") || dn_want(cellMode, "cellMode") || dn_want(algo, "algo")
        || dn_want(mathPrec, "mathPrec"))
        return dn_answer(DN_BAD_PARAM);
    *hiddenSize = d->p.hidden;
    *numLayers = d->p.layers;
    *dropoutDesc = d->dropout;
    *inputMode = (cudnnRNNInputMode_t)d->p.skip;
    *direction = (cudnnDirectionMode_t)d->p.bidirectional;
    *cellMode = (cudnnRNNMode_t)d->p.cell;
    *algo = (cudnnRNNAlgo_t)d->algo;
    *mathPrec = (cudnnDataType_t)d->prec;
    return dn_answer(DN_SUCCESS);
}

/* --- single properties --- */

cudnnStatus_t CUDNNWINAPI cudnnSetRNNMatrixMathType(cudnnRNNDescriptor_t rnnDesc, cudnnMathType_t mType)
{
    dn_call_begin("cudnnSetRNNMatrixMathType");
    dn_rnn_desc *d = any_desc(rnnDesc);
    if (!d || dn_want_range((int)mType, CUDNN_DEFAULT_MATH, CUDNN_FMA_MATH, "mType", "a cudnnMathType_t, 0 to 3"))
        return dn_answer(DN_BAD_PARAM);
    d->math = (int32_t)mType;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNMatrixMathType(cudnnRNNDescriptor_t rnnDesc, cudnnMathType_t *mType)
{
    dn_call_begin("cudnnGetRNNMatrixMathType");
    const dn_rnn_desc *d = any_desc(rnnDesc);
    if (!d || dn_want(mType, "mType"))
        return dn_answer(DN_BAD_PARAM);
    *mType = (cudnnMathType_t)d->math;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnSetRNNBiasMode(cudnnRNNDescriptor_t rnnDesc, cudnnRNNBiasMode_t biasMode)
{
    dn_call_begin("cudnnSetRNNBiasMode");
    dn_rnn_desc *d = any_desc(rnnDesc);
    if (!d || dn_want_range((int)biasMode, CUDNN_RNN_NO_BIAS, CUDNN_RNN_SINGLE_REC_BIAS, "biasMode", "a cudnnRNNBiasMode_t, 0 to 3"))
        return dn_answer(DN_BAD_PARAM);
    d->p.bias = (int32_t)biasMode;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNBiasMode(cudnnRNNDescriptor_t rnnDesc, cudnnRNNBiasMode_t *biasMode)
{
    dn_call_begin("cudnnGetRNNBiasMode");
    const dn_rnn_desc *d = any_desc(rnnDesc);
    if (!d || dn_want(biasMode, "biasMode"))
        return dn_answer(DN_BAD_PARAM);
    *biasMode = (cudnnRNNBiasMode_t)d->p.bias;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnSetRNNPaddingMode(cudnnRNNDescriptor_t rnnDesc, unsigned paddingMode)
{
    dn_call_begin("cudnnSetRNNPaddingMode");
    dn_rnn_desc *d = any_desc(rnnDesc);
    if (!d || dn_want_range(paddingMode, 0, CUDNN_RNN_PADDED_IO_ENABLED, "paddingMode", "CUDNN_RNN_PADDED_IO_DISABLED or _ENABLED"))
        return dn_answer(DN_BAD_PARAM);
    d->flags = paddingMode;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNPaddingMode(cudnnRNNDescriptor_t rnnDesc, unsigned *paddingMode)
{
    dn_call_begin("cudnnGetRNNPaddingMode");
    const dn_rnn_desc *d = any_desc(rnnDesc);
    if (!d || dn_want(paddingMode, "paddingMode"))
        return dn_answer(DN_BAD_PARAM);
    *paddingMode = d->flags;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnRNNSetClip(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t clipMode,
                                          cudnnNanPropagation_t clipNanOpt, double lclip, double rclip)
{
    dn_call_begin("cudnnRNNSetClip");
    if (!dn_handle_of(handle))
        return dn_answer(DN_BAD_PARAM);
    return dn_answer(dn_rnn_clip_set(rnnDesc, (int)clipMode, (int)clipNanOpt, lclip, rclip));
}

cudnnStatus_t CUDNNWINAPI cudnnRNNGetClip(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t *clipMode,
                                          cudnnNanPropagation_t *clipNanOpt, double *lclip, double *rclip)
{
    dn_call_begin("cudnnRNNGetClip");
    const dn_rnn_desc *d = dn_handle_of(handle) ? any_desc(rnnDesc) : NULL;
    if (!d || dn_want(clipMode, "clipMode") || dn_want(clipNanOpt, "clipNanOpt") || dn_want(lclip, "lclip") || dn_want(rclip, "rclip"))
        return dn_answer(DN_BAD_PARAM);
    *clipMode = (cudnnRNNClipMode_t)d->p.clip;
    *clipNanOpt = (cudnnNanPropagation_t)d->p.clip_nan;
    *lclip = d->p.lclip;
    *rclip = d->p.rclip;
    return dn_answer(DN_SUCCESS);
}

/* The size of an output projection is taken and forgotten: there is none in cuDNN 8. */
cudnnStatus_t CUDNNWINAPI cudnnSetRNNProjectionLayers(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, const int recProjSize,
                                                      const int outProjSize)
{
    dn_call_begin("cudnnSetRNNProjectionLayers");
    dn_rnn_desc *d = dn_handle_of(handle) ? any_desc(rnnDesc) : NULL;
    if (!d || dn_want_range(recProjSize, 1, INT32_MAX, "recProjSize", "1 or more, hiddenSize for no projection")
        || dn_want_range(outProjSize, 0, INT32_MAX, "outProjSize", "0"))
        return dn_answer(DN_BAD_PARAM);
    if (recProjSize > d->p.hidden)
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "recProjSize is %d, hiddenSize %d; it must not be larger", recProjSize, d->p.hidden));
    if (recProjSize != d->p.hidden && d->p.cell != DN_RNN_LSTM)
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "recProjSize is %d, hiddenSize %d; only an LSTM has a projection", recProjSize,
                                 d->p.hidden));
    d->p.proj = recProjSize;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNProjectionLayers(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, int *recProjSize,
                                                      int *outProjSize)
{
    dn_call_begin("cudnnGetRNNProjectionLayers");
    const dn_rnn_desc *d = dn_handle_of(handle) ? any_desc(rnnDesc) : NULL;
    if (!d || dn_want(recProjSize, "recProjSize") || dn_want(outProjSize, "outProjSize"))
        return dn_answer(DN_BAD_PARAM);
    *recProjSize = d->p.proj;
    *outProjSize = 0;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnSetRNNAlgorithmDescriptor(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                                         cudnnAlgorithmDescriptor_t algoDesc)
{
    dn_call_begin("cudnnSetRNNAlgorithmDescriptor");
    dn_rnn_desc *d = dn_handle_of(handle) ? any_desc(rnnDesc) : NULL;
    const dn_algorithm_desc *a = d ? dn_algorithm_of(algoDesc, "algoDesc") : NULL;
    if (!a || dn_want_range((int)a->algorithm.algo.RNNAlgo, 0, CUDNN_RNN_ALGO_COUNT - 1, "algoDesc's RNNAlgo", "a cudnnRNNAlgo_t, 0 to 3"))
        return dn_answer(DN_BAD_PARAM);
    d->algo = (int32_t)a->algorithm.algo.RNNAlgo;
    return dn_answer(DN_SUCCESS);
}

/* --- persistent plans: nothing is compiled, so a plan holds what it was asked for, and a call of another batch or type is refused --- */

cudnnStatus_t CUDNNWINAPI cudnnCreatePersistentRNNPlan(cudnnRNNDescriptor_t rnnDesc, const int minibatch,
                                                       const cudnnDataType_t dataType, cudnnPersistentRNNPlan_t *plan)
{
    dn_call_begin("cudnnCreatePersistentRNNPlan");
    const dn_rnn_desc *d = dn_rnn_of(rnnDesc);
    if (!d || dn_want(plan, "plan") || dn_want_range(minibatch, 1, INT32_MAX, "minibatch", "1 or more"))
        return dn_answer(DN_BAD_PARAM);
    int32_t type;
    dn_status st = dn_rnn_type((int)dataType, "dataType", &type);
    if (st == DN_SUCCESS && d->algo != CUDNN_RNN_ALGO_PERSIST_DYNAMIC)
        st = dn_fail(DN_NOT_SUPPORTED, "rnnDesc has algorithm %d; plans are for CUDNN_RNN_ALGO_PERSIST_DYNAMIC = 2", d->algo);
    void *made = NULL;
    if (st == DN_SUCCESS)
        st = dn_object_create(&dn_rnn_plan_pool, &made, "plan");
    if (st != DN_SUCCESS)
        return dn_answer(st);
    dn_rnn_plan *q = made;
    q->set = 1;
    q->batch = minibatch;
    q->type = type;
    q->p = d->p;
    *plan = made;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyPersistentRNNPlan(cudnnPersistentRNNPlan_t plan)
{
    dn_call_begin("cudnnDestroyPersistentRNNPlan");
    return dn_answer(dn_object_destroy(&dn_rnn_plan_pool, plan, "plan"));
}

cudnnStatus_t CUDNNWINAPI cudnnSetPersistentRNNPlan(cudnnRNNDescriptor_t rnnDesc, cudnnPersistentRNNPlan_t plan)
{
    dn_call_begin("cudnnSetPersistentRNNPlan");
    dn_rnn_desc *d = any_desc(rnnDesc);
    const dn_rnn_plan *q = d ? dn_object_of(&dn_rnn_plan_pool, plan, "plan") : NULL;
    if (!q)
        return dn_answer(DN_BAD_PARAM);
    if (d->algo != CUDNN_RNN_ALGO_PERSIST_DYNAMIC)
        return dn_answer(dn_fail(DN_BAD_PARAM, "rnnDesc has algorithm %d; plans are for CUDNN_RNN_ALGO_PERSIST_DYNAMIC = 2", d->algo));
    if (d->p.cell != q->p.cell || d->p.hidden != q->p.hidden || d->p.layers != q->p.layers
        || d->p.bidirectional != q->p.bidirectional || d->p.proj != q->p.proj)
        return dn_answer(dn_fail(DN_BAD_PARAM, "plan was made for cell %d, hidden size %d, %d layers, and rnnDesc has %d, %d, %d; they must "
                                 "be equal, directions and projection too", q->p.cell, q->p.hidden, q->p.layers, d->p.cell, d->p.hidden,
                                 d->p.layers));
    d->batch = q->batch;
    d->plan_type = q->type;
    return dn_answer(DN_SUCCESS);
}

#endif
