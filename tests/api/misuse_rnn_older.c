/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Misuse of what only cuDNN 8 has of recurrent networks. Rows were compared with the vendor's 8.9.7 as far as it looks at arguments
 * before it needs a device. */
#include "misuse.h"
#include "rnn_case.h"

#include <string.h>

#if DN_ABI == 8

static const rnn_case good = {RNN_F32, RNN_SMALL, .layers = 1, .cell = CUDNN_LSTM, .bias = DOUBLE_BIAS, .states = 1, .T = 2, .B = 3, .len = {2, 2, 2}};

static void older_set(cudnnRNNDescriptor_t d)
{
    cudnnHandle_t h = api_handle();
#define SET6(hid, layers, input, dir, cell, algo, prec) \
    (h, d, hid, layers, NULL, (cudnnRNNInputMode_t)(input), (cudnnDirectionMode_t)(dir), (cudnnRNNMode_t)(cell), (cudnnRNNAlgo_t)(algo), \
     (cudnnDataType_t)(prec))
    ROW(cudnnSetRNNDescriptor_v6, (NULL, d, 4, 1, NULL, 0, 0, CUDNN_LSTM, 0, F32), BAD, "handle is NULL");
    ROW(cudnnSetRNNDescriptor_v6, (h, NULL, 4, 1, NULL, 0, 0, CUDNN_LSTM, 0, F32), BAD, "rnnDesc is NULL");
    ROW(cudnnSetRNNDescriptor_v6, SET6(0, 1, 0, 0, 2, 0, 0), BAD, "hiddenSize is 0");
    ROW(cudnnSetRNNDescriptor_v6, SET6(4, 0, 0, 0, 2, 0, 0), BAD, "numLayers is 0");
    ROW(cudnnSetRNNDescriptor_v6, SET6(4, 1, 2, 0, 2, 0, 0), BAD, "inputMode is 2");
    ROW(cudnnSetRNNDescriptor_v6, SET6(4, 1, 0, 2, 2, 0, 0), BAD, "direction is 2");
    ROW(cudnnSetRNNDescriptor_v6, SET6(4, 1, 0, 0, 4, 0, 0), BAD, "cellMode is 4");
    ROW(cudnnSetRNNDescriptor_v6, SET6(4, 1, 0, 0, 2, 4, 0), BAD, "algo is 4");
    ROW(cudnnSetRNNDescriptor_v6, SET6(4, 1, 0, 0, 2, 0, 3), NOSUP, "mathPrec is 3");
    ROW(cudnnSetRNNDescriptor_v6, SET6(4, 1, 0, 0, 2, 0, 0), OK, "");
}

static void older_get(cudnnRNNDescriptor_t d)
{
    cudnnHandle_t h = api_handle();
    int a, b;
    cudnnDropoutDescriptor_t drop;
    cudnnRNNInputMode_t input;
    cudnnDirectionMode_t dir;
    cudnnRNNMode_t cell;
    cudnnRNNAlgo_t algo;
    cudnnDataType_t prec;
    cudnnMathType_t math;
    cudnnRNNBiasMode_t bias;
    unsigned pad;
    ROW(cudnnGetRNNDescriptor_v6, (NULL, d, &a, &b, &drop, &input, &dir, &cell, &algo, &prec), BAD, "handle is NULL");
    ROW(cudnnGetRNNDescriptor_v6, (h, d, NULL, &b, &drop, &input, &dir, &cell, &algo, &prec), BAD, "hiddenSize is NULL");
    ROW(cudnnGetRNNDescriptor_v6, (h, d, &a, &b, &drop, &input, &dir, &cell, &algo, NULL), BAD, "mathPrec is NULL");
    ROW(cudnnSetRNNMatrixMathType, (d, (cudnnMathType_t)4), BAD, "mType is 4");
    ROW(cudnnSetRNNMatrixMathType, (NULL, CUDNN_FMA_MATH), BAD, "rnnDesc is NULL");
    ROW(cudnnGetRNNMatrixMathType, (d, NULL), BAD, "mType is NULL");
    ROW(cudnnGetRNNMatrixMathType, (NULL, &math), BAD, "rnnDesc is NULL");
    ROW(cudnnSetRNNBiasMode, (d, (cudnnRNNBiasMode_t)4), BAD, "biasMode is 4");
    ROW(cudnnGetRNNBiasMode, (d, NULL), BAD, "biasMode is NULL");
    ROW(cudnnGetRNNBiasMode, (NULL, &bias), BAD, "rnnDesc is NULL");
    ROW(cudnnSetRNNPaddingMode, (d, 2), BAD, "paddingMode is 2");
    ROW(cudnnGetRNNPaddingMode, (d, NULL), BAD, "paddingMode is NULL");
    ROW(cudnnGetRNNPaddingMode, (NULL, &pad), BAD, "rnnDesc is NULL");
}

static void older_properties(cudnnRNNDescriptor_t d)
{
    cudnnHandle_t h = api_handle();
    cudnnRNNClipMode_t mode;
    cudnnNanPropagation_t nan;
    double lo, hi;
    int a, b;
    cudnnAlgorithmDescriptor_t algo;
    cudnnAlgorithm_t number;
    ROW_V(cudnnRNNSetClip, (NULL, d, 1, 0, -1, 1), BAD, OK, "the vendor does not look at the handle", "handle is NULL");
    ROW(cudnnRNNSetClip, (h, NULL, 1, 0, -1, 1), BAD, "rnnDesc is NULL");
    ROW(cudnnRNNSetClip, (h, d, 1, 0, 1, -1), BAD, "lclip is 1");
    ROW(cudnnRNNGetClip, (h, d, NULL, &nan, &lo, &hi), BAD, "clipMode is NULL");
    ROW(cudnnRNNGetClip, (NULL, d, &mode, &nan, &lo, &hi), BAD, "handle is NULL");
    ROW(cudnnSetRNNProjectionLayers, (NULL, d, 2, 0), BAD, "handle is NULL");
    ROW(cudnnSetRNNProjectionLayers, (h, d, 0, 0), BAD, "recProjSize is 0");
    ROW(cudnnSetRNNProjectionLayers, (h, d, 2, -1), BAD, "outProjSize is -1");
    ROW(cudnnSetRNNProjectionLayers, (h, d, 5, 0), NOSUP, "recProjSize is 5", "hiddenSize 4");
    ROW(cudnnGetRNNProjectionLayers, (h, d, NULL, &b), BAD, "recProjSize is NULL");
    ROW(cudnnGetRNNProjectionLayers, (h, d, &a, NULL), BAD, "outProjSize is NULL");
    CALL(cudnnCreateAlgorithmDescriptor, (&algo));
    ROW(cudnnSetRNNAlgorithmDescriptor, (NULL, d, algo), BAD, "handle is NULL");
    ROW(cudnnSetRNNAlgorithmDescriptor, (h, NULL, algo), BAD, "rnnDesc is NULL");
    ROW(cudnnSetRNNAlgorithmDescriptor, (h, d, NULL), BAD, "algoDesc is NULL");
    memset(&number, 0, sizeof number);
    number.algo.RNNAlgo = (cudnnRNNAlgo_t)4;
    CALL(cudnnSetAlgorithmDescriptor, (algo, number));
    ROW_V(cudnnSetRNNAlgorithmDescriptor, (h, d, algo), BAD, OK, "the vendor takes the number as another", "RNNAlgo is 4");
    CALL(cudnnDestroyAlgorithmDescriptor, (algo));
}

static void older_plans(cudnnRNNDescriptor_t d, cudnnRNNDescriptor_t never)
{
    cudnnHandle_t h = api_handle();
    const char *const why = "the vendor needs a run-time compiler";
    const cudnnStatus_t missing = CUDNN_STATUS_RUNTIME_PREREQUISITE_MISSING;
    cudnnPersistentRNNPlan_t plan = NULL;
    ROW_V(cudnnCreatePersistentRNNPlan, (d, 2, F32, &plan), NOSUP, missing, why, "algorithm 0", "PERSIST_DYNAMIC");
    ROW_OURS(cudnnCreatePersistentRNNPlan, (never, 2, F32, &plan), BAD, "never set");
    CALL(cudnnSetRNNDescriptor_v6, (h, d, 4, 1, NULL, 0, 0, CUDNN_LSTM, CUDNN_RNN_ALGO_PERSIST_DYNAMIC, F32));
    ROW(cudnnCreatePersistentRNNPlan, (NULL, 2, F32, &plan), BAD, "rnnDesc is NULL");
    ROW(cudnnCreatePersistentRNNPlan, (d, 0, F32, &plan), BAD, "minibatch is 0");
    ROW(cudnnCreatePersistentRNNPlan, (d, 2, F32, NULL), BAD, "plan is NULL");
    ROW(cudnnCreatePersistentRNNPlan, (d, 2, CUDNN_DATA_INT8, &plan), NOSUP, "dataType is 3");
    ROW(cudnnSetPersistentRNNPlan, (d, NULL), BAD, "plan is NULL");
    ROW(cudnnDestroyPersistentRNNPlan, (NULL), OK, "");
    if (api_ours) {
        CALL(cudnnCreatePersistentRNNPlan, (d, 2, F32, &plan));
        ROW(cudnnSetPersistentRNNPlan, (NULL, plan), BAD, "rnnDesc is NULL");
        ROW(cudnnSetPersistentRNNPlan, (d, plan), OK, "");
        CALL(cudnnSetRNNDescriptor_v6, (h, d, 5, 1, NULL, 0, 0, CUDNN_LSTM, CUDNN_RNN_ALGO_PERSIST_DYNAMIC, F32));
        ROW(cudnnSetPersistentRNNPlan, (d, plan), BAD, "plan was made for", "hidden size 4");
        CALL(cudnnDestroyPersistentRNNPlan, (plan));
        ROW(cudnnSetPersistentRNNPlan, (d, plan), BAD, "plan", "destroyed");
        ROW(cudnnDestroyPersistentRNNPlan, (plan), BAD, "plan", "destroyed");
    }
    CALL(cudnnSetRNNDescriptor_v6, (h, d, 4, 1, NULL, 0, 0, CUDNN_LSTM, 0, F32));
}

/* --- calls --- */

typedef struct steps {
    cudnnTensorDescriptor_t x[2], y[2], rising[2], wide[2], one;
    cudnnFilterDescriptor_t w, small, half;
} steps;

static void steps_make(steps *s, int weights)
{
    const int all[3] = {weights, 1, 1}, less[3] = {weights - 1, 1, 1};
    s->x[0] = s->x[1] = rnn_step(3, 3);
    s->y[0] = s->y[1] = rnn_step(3, 4);
    s->one = rnn_step(2, 3);
    s->rising[0] = s->one;
    s->rising[1] = s->x[0];
    s->wide[0] = s->x[0];
    s->wide[1] = s->y[0];
    CALL(cudnnCreateFilterDescriptor, (&s->w));
    CALL(cudnnCreateFilterDescriptor, (&s->small));
    CALL(cudnnCreateFilterDescriptor, (&s->half));
    CALL(cudnnSetFilterNdDescriptor, (s->w, F32, NCHW, 3, all));
    CALL(cudnnSetFilterNdDescriptor, (s->small, F32, NCHW, 3, less));
    CALL(cudnnSetFilterNdDescriptor, (s->half, F16, NCHW, 3, all));
}

static void steps_free(steps *s)
{
    CALL(cudnnDestroyTensorDescriptor, (s->x[0]));
    CALL(cudnnDestroyTensorDescriptor, (s->y[0]));
    CALL(cudnnDestroyTensorDescriptor, (s->one));
    CALL(cudnnDestroyFilterDescriptor, (s->w));
    CALL(cudnnDestroyFilterDescriptor, (s->small));
    CALL(cudnnDestroyFilterDescriptor, (s->half));
}

static void older_sizes(cudnnRNNDescriptor_t d, const steps *s, const rnn *r)
{
    cudnnHandle_t h = api_handle();
    size_t size;
    void *at;
    cudnnFilterDescriptor_t f = s->half;
    ROW(cudnnGetRNNParamsSize, (NULL, d, s->x[0], &size, F32), BAD, "handle is NULL");
    ROW(cudnnGetRNNParamsSize, (h, d, NULL, &size, F32), BAD, "xDesc is NULL");
    ROW(cudnnGetRNNParamsSize, (h, d, s->x[0], &size, F16), BAD, "dataType is 2");
    ROW(cudnnGetRNNWorkspaceSize, (NULL, d, 2, s->x, &size), BAD, "handle is NULL");
    ROW(cudnnGetRNNWorkspaceSize, (h, d, 0, s->x, &size), BAD, "seqLength is 0");
    ROW(cudnnGetRNNWorkspaceSize, (h, d, 2, NULL, &size), BAD, "xDesc is NULL");
    ROW(cudnnGetRNNWorkspaceSize, (h, d, 2, s->rising, &size), BAD, "xDesc[1] has batch 3", "batch 2", "rise");
    ROW(cudnnGetRNNWorkspaceSize, (h, d, 2, s->wide, &size), BAD, "xDesc[1]", "vectors of 4");
    ROW(cudnnGetRNNTrainingReserveSize, (NULL, d, 2, s->x, &size), BAD, "handle is NULL");
    ROW(cudnnGetRNNTrainingReserveSize, (h, d, 2, s->rising, &size), BAD, "xDesc[1] has batch 3");
    ROW(cudnnGetRNNLinLayerMatrixParams, (NULL, d, 0, s->x[0], s->w, r->w, 0, f, &at), BAD, "handle is NULL");
    ROW(cudnnGetRNNLinLayerMatrixParams, (h, NULL, 0, s->x[0], s->w, r->w, 0, f, &at), BAD, "rnnDesc is NULL");
    ROW(cudnnGetRNNLinLayerMatrixParams, (h, d, 0, NULL, s->w, r->w, 0, f, &at), BAD, "xDesc is NULL");
    ROW(cudnnGetRNNLinLayerMatrixParams, (h, d, 0, s->x[0], NULL, r->w, 0, f, &at), BAD, "wDesc is NULL");
    ROW(cudnnGetRNNLinLayerMatrixParams, (h, d, 1, s->x[0], s->w, r->w, 0, f, &at), BAD, "pseudoLayer is 1");
    ROW(cudnnGetRNNLinLayerMatrixParams, (h, d, 0, s->x[0], s->w, r->w, 9, f, &at), BAD, "linLayerID is 9");
    ROW(cudnnGetRNNLinLayerMatrixParams, (h, d, 0, s->x[0], s->w, r->w, 0, NULL, &at), BAD, "linLayerMatDesc is NULL");
    ROW(cudnnGetRNNLinLayerMatrixParams, (h, d, 0, s->x[0], s->w, r->w, 0, f, NULL), BAD, "linLayerMat is NULL");
    ROW(cudnnGetRNNLinLayerBiasParams, (NULL, d, 0, s->x[0], s->w, r->w, 0, f, &at), BAD, "handle is NULL");
    ROW(cudnnGetRNNLinLayerBiasParams, (h, d, 0, s->x[0], s->w, r->w, 8, f, &at), BAD, "linLayerID is 8");
    ROW(cudnnGetRNNLinLayerBiasParams, (h, d, 0, s->x[0], s->w, r->w, -1, f, &at), BAD, "linLayerID is -1");
}

#define OLD_FWD(hh, dd, steps_, xd, xp, hxd, wd, wp, yd, yp, hyd, ...) \
    (hh, dd, steps_, xd, xp, hxd, r->hx, r->cd, r->cx, wd, wp, yd, yp, hyd, r->hy, r->cd, r->cy, __VA_ARGS__)
#define OLD_TRAIN(...) OLD_FWD(__VA_ARGS__, r->ws, r->work, r->rs, r->reserve)

static void older_forward(cudnnRNNDescriptor_t d, const steps *s, const rnn *r)
{
    cudnnHandle_t h = api_handle();
    ROW(cudnnRNNForwardTraining, OLD_TRAIN(h, d, 2, s->x, r->x, r->hd, s->w, r->w, s->y, r->y, r->hd), OK, "");
    ROW(cudnnRNNForwardTraining, OLD_TRAIN(NULL, d, 2, s->x, r->x, r->hd, s->w, r->w, s->y, r->y, r->hd), BAD, "handle is NULL");
    ROW(cudnnRNNForwardTraining, OLD_TRAIN(h, d, 0, s->x, r->x, r->hd, s->w, r->w, s->y, r->y, r->hd), BAD, "seqLength is 0");
    ROW(cudnnRNNForwardTraining, OLD_TRAIN(h, d, 2, s->rising, r->x, r->hd, s->w, r->w, s->y, r->y, r->hd), BAD, "xDesc[1]");
    ROW(cudnnRNNForwardTraining, OLD_TRAIN(h, d, 2, s->x, r->x, s->one, s->w, r->w, s->y, r->y, r->hd), BAD, "hxDesc has 2 in dimension 0");
    ROW(cudnnRNNForwardTraining, OLD_TRAIN(h, d, 2, s->x, r->x, r->hd, s->w, r->w, s->y, r->y, s->one), BAD, "hyDesc has 2 in dimension 0");
    ROW(cudnnRNNForwardTraining, OLD_TRAIN(h, d, 2, s->x, r->x, r->hd, s->small, r->w, s->y, r->y, r->hd), BAD, "wDesc", "the weights take");
    ROW(cudnnRNNForwardTraining, OLD_TRAIN(h, d, 2, s->x, r->x, r->hd, s->half, r->w, s->y, r->y, r->hd), BAD, "wDesc has type f16");
    ROW(cudnnRNNForwardTraining, OLD_TRAIN(h, d, 2, s->x, r->x, r->hd, s->w, NULL, s->y, r->y, r->hd), BAD, "w is NULL");
    ROW(cudnnRNNForwardTraining, OLD_TRAIN(h, d, 2, s->x, r->x, r->hd, s->w, r->w, s->x, r->y, r->hd), BAD, "yDesc has vectors of 3");
    ROW(cudnnRNNForwardTraining, OLD_FWD(h, d, 2, s->x, r->x, r->hd, s->w, r->w, s->y, r->y, r->hd, r->ws, r->work, r->rs, 64), BAD,
        "reserveSpaceSizeInBytes is 64");
    ROW(cudnnRNNForwardInference, OLD_FWD(NULL, d, 2, s->x, r->x, r->hd, s->w, r->w, s->y, r->y, r->hd, r->ws, r->work), BAD, "handle is NULL");
    ROW(cudnnRNNForwardInference, OLD_FWD(h, d, 2, NULL, r->x, r->hd, s->w, r->w, s->y, r->y, r->hd, r->ws, r->work), BAD, "xDesc is NULL");
    ROW(cudnnRNNForwardInference, OLD_FWD(h, d, 2, s->x, r->x, r->hd, s->w, r->w, NULL, r->y, r->hd, r->ws, r->work), BAD, "yDesc is NULL");
    ROW_OURS(cudnnRNNForwardInference, OLD_FWD(h, d, 2, s->x, NULL, r->hd, s->w, r->w, s->y, r->y, r->hd, r->ws, r->work), BAD, "x is NULL");
    ROW_OURS(cudnnRNNForwardInference, OLD_FWD(h, d, 2, s->x, r->x, r->hd, NULL, r->w, s->y, r->y, r->hd, r->ws, r->work), BAD, "wDesc is NULL");
#define OLD_EX(hh, xd, yd, k, ...) \
    (hh, d, xd, r->x, r->hd, r->hx, r->cd, r->cx, s->w, r->w, yd, r->y, r->hd, r->hy, r->cd, r->cy, k, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
     __VA_ARGS__)
    ROW(cudnnRNNForwardInferenceEx, OLD_EX(NULL, r->xd, r->yd, NULL, r->ws, r->work), BAD, "handle is NULL");
    ROW(cudnnRNNForwardInferenceEx, OLD_EX(h, NULL, r->yd, NULL, r->ws, r->work), BAD, "xDesc is NULL");
    ROW_OURS(cudnnRNNForwardInferenceEx, OLD_EX(h, r->xd, r->yd, r->xd, r->ws, r->work), NOSUP, "kDesc");
    ROW(cudnnRNNForwardTrainingEx, OLD_EX(NULL, r->xd, r->yd, NULL, r->ws, r->work, r->rs, r->reserve), BAD, "handle is NULL");
    ROW(cudnnRNNForwardTrainingEx, OLD_EX(h, r->xd, r->xd, NULL, r->ws, r->work, r->rs, r->reserve), BAD, "yDesc has vectors of 3");
}

#define OLD_BACK(hh, yd, dyd, dyp, wd, dxd, dxp, ...) \
    (hh, d, 2, yd, r->y, dyd, dyp, r->hd, r->dhy, r->cd, r->dcy, wd, r->w, r->hd, r->hx, r->cd, r->cx, dxd, dxp, r->hd, r->dhx, r->cd, r->dcx, \
     __VA_ARGS__)
#define OLD_BACK_EX(hh, yd, dyd, dc, dxd, size) \
    (hh, d, yd, r->y, dyd, r->dy, dc, NULL, r->hd, r->dhy, r->cd, r->dcy, s->w, r->w, r->hd, r->hx, r->cd, r->cx, dxd, r->dx, r->hd, r->dhx, \
     r->cd, r->dcx, NULL, NULL, r->ws, r->work, r->rs, size)
#define OLD_DW(hh, xd, yd, wd, dw, size) (hh, d, 2, xd, r->x, r->hd, r->hx, yd, r->y, r->ws, r->work, wd, dw, r->rs, size)
#define OLD_DW_EX(hh, xd, yd, dw) (hh, d, xd, r->x, r->hd, r->hx, yd, r->y, r->ws, r->work, s->w, dw, r->rs, r->reserve)

static void older_backward(cudnnRNNDescriptor_t d, const steps *s, const rnn *r)
{
    cudnnHandle_t h = api_handle();
    ROW(cudnnRNNBackwardData, OLD_BACK(NULL, s->y, s->y, r->dy, s->w, s->x, r->dx, r->ws, r->work, r->rs, r->reserve), BAD, "handle is NULL");
    ROW(cudnnRNNBackwardData, OLD_BACK(h, NULL, s->y, r->dy, s->w, s->x, r->dx, r->ws, r->work, r->rs, r->reserve), BAD, "yDesc is NULL");
    ROW(cudnnRNNBackwardData, OLD_BACK(h, s->y, s->x, r->dy, s->w, s->x, r->dx, r->ws, r->work, r->rs, r->reserve), BAD,
        "dyDesc has vectors of 3");
    ROW(cudnnRNNBackwardData, OLD_BACK(h, s->y, s->y, r->dy, s->small, s->x, r->dx, r->ws, r->work, r->rs, r->reserve), BAD, "wDesc");
    ROW(cudnnRNNBackwardData, OLD_BACK(h, s->y, s->y, r->dy, s->w, s->x, r->dx, r->ws, r->work, r->rs, r->reserve - 1), BAD,
        "reserveSpaceSizeInBytes");
    ROW_OURS(cudnnRNNBackwardData, OLD_BACK(h, s->y, s->y, NULL, s->w, s->x, r->dx, r->ws, r->work, r->rs, r->reserve), BAD, "dy is NULL");
    ROW_OURS(cudnnRNNBackwardData, OLD_BACK(h, s->y, s->y, r->dy, s->w, s->x, NULL, r->ws, r->work, r->rs, r->reserve), BAD, "dx is NULL");
    ROW(cudnnRNNBackwardDataEx, OLD_BACK_EX(NULL, r->yd, r->yd, NULL, r->xd, r->reserve), BAD, "handle is NULL");
    ROW(cudnnRNNBackwardDataEx, OLD_BACK_EX(h, r->yd, r->xd, NULL, r->xd, r->reserve), BAD, "dyDesc has vectors of 3");
    ROW(cudnnRNNBackwardDataEx, OLD_BACK_EX(h, r->yd, r->yd, NULL, NULL, r->reserve), BAD, "dxDesc is NULL");
    ROW(cudnnRNNBackwardDataEx, OLD_BACK_EX(h, r->yd, r->yd, NULL, r->xd, 64), BAD, "reserveSpaceSizeInBytes is 64");
    ROW_OURS(cudnnRNNBackwardDataEx, OLD_BACK_EX(h, r->yd, r->yd, r->yd, r->xd, r->reserve), NOSUP, "dcDesc");
    ROW(cudnnRNNBackwardWeights, OLD_DW(NULL, s->x, s->y, s->w, r->dw, r->reserve), BAD, "handle is NULL");
    ROW(cudnnRNNBackwardWeights, OLD_DW(h, s->x, s->x, s->w, r->dw, r->reserve), BAD, "yDesc has vectors of 3");
    ROW(cudnnRNNBackwardWeights, OLD_DW(h, s->x, s->y, s->small, r->dw, r->reserve), BAD, "dwDesc");
    ROW(cudnnRNNBackwardWeights, OLD_DW(h, s->x, s->y, s->w, NULL, r->reserve), BAD, "dw is NULL");
    ROW(cudnnRNNBackwardWeights, OLD_DW(h, s->x, s->y, s->w, r->dw, r->reserve - 1), BAD, "reserveSpaceSizeInBytes");
    ROW(cudnnRNNBackwardWeightsEx, OLD_DW_EX(NULL, r->xd, r->yd, r->dw), BAD, "handle is NULL");
    ROW(cudnnRNNBackwardWeightsEx, OLD_DW_EX(h, r->xd, r->xd, r->dw), BAD, "yDesc has vectors of 3");
    ROW(cudnnRNNBackwardWeightsEx, OLD_DW_EX(h, r->xd, r->yd, NULL), BAD, "dw is NULL");
}

static void older_find(cudnnRNNDescriptor_t d, const steps *s, const rnn *r)
{
    cudnnHandle_t h = api_handle();
    cudnnAlgorithmPerformance_t record[1];
    int got = 0;
    CALL(cudnnCreateAlgorithmPerformance, (record, 1));
    ROW_OURS(cudnnGetRNNForwardInferenceAlgorithmMaxCount, (NULL, d, &got), BAD, "handle is NULL");
    ROW_OURS(cudnnGetRNNForwardTrainingAlgorithmMaxCount, (h, NULL, &got), BAD, "rnnDesc is NULL");
    ROW_OURS(cudnnGetRNNBackwardDataAlgorithmMaxCount, (h, d, NULL), BAD, "count is NULL");
    ROW_OURS(cudnnGetRNNBackwardWeightsAlgorithmMaxCount, (h, d, NULL), BAD, "count is NULL");
    ROW(cudnnFindRNNForwardInferenceAlgorithmEx, OLD_FWD(h, d, 2, s->x, r->x, r->hd, s->w, r->w, s->y, r->y, r->hd, 1, 0, &got, record, r->ws,
        r->work), BAD, "requestedAlgoCount is 0");
    ROW(cudnnFindRNNForwardInferenceAlgorithmEx, OLD_FWD(h, d, 2, s->x, r->x, r->hd, s->w, r->w, s->y, r->y, r->hd, 1, 1, &got, NULL, r->ws,
        r->work), BAD, "perfResults is NULL");
    ROW(cudnnFindRNNForwardTrainingAlgorithmEx, OLD_FWD(h, d, 2, s->x, r->x, r->hd, s->w, r->w, s->y, r->y, r->hd, 1, 1, NULL, record, r->ws,
        r->work, r->rs, r->reserve), BAD, "returnedAlgoCount is NULL");
    ROW(cudnnFindRNNBackwardDataAlgorithmEx, OLD_BACK(NULL, s->y, s->y, r->dy, s->w, s->x, r->dx, 1, 1, &got, record, r->ws, r->work, r->rs,
        r->reserve), BAD, "handle is NULL");
    ROW(cudnnFindRNNBackwardWeightsAlgorithmEx, (NULL, d, 2, s->x, r->x, r->hd, r->hx, s->y, r->y, 1, 1, &got, record, r->ws, r->work, s->w, r->dw,
        r->rs, r->reserve), BAD, "handle is NULL");
    CALL(cudnnDestroyAlgorithmPerformance, (record, 1));
}

/* A type that the arithmetic cannot hold. */
static void older_types(cudnnRNNDescriptor_t d, const steps *s)
{
    cudnnHandle_t h = api_handle();
    size_t size;
    CALL(cudnnSetRNNDescriptor_v6, (h, d, 4, 1, NULL, 0, 0, CUDNN_LSTM, 0, F64));
    ROW_OURS(cudnnGetRNNWorkspaceSize, (h, d, 2, s->x, &size), BAD, "xDesc has type f32", "mathPrec f64");
    CALL(cudnnSetRNNDescriptor_v6, (h, d, 4, 1, NULL, 0, 0, CUDNN_LSTM, 0, F16));
    ROW_OURS(cudnnGetRNNWorkspaceSize, (h, d, 2, s->x, &size), BAD, "xDesc has type f32", "mathPrec f16");
}

void misuse_rnn_older(void **state)
{
    (void)state;
    cudnnRNNDescriptor_t d, never;
    steps s;
    rnn r;
    api_handle();
    CALL(cudnnCreateRNNDescriptor, (&d));
    CALL(cudnnCreateRNNDescriptor, (&never));
    older_set(d);
    older_get(d);
    older_properties(d);
    older_plans(d, never);
    rnn_make(&r, &good);
    steps_make(&s, (int)r.nw);
    CALL(cudnnGetRNNWorkspaceSize, (api_handle(), d, 2, s.x, &r.work));  /* these may be other ones than the newer calls' */
    CALL(cudnnGetRNNTrainingReserveSize, (api_handle(), d, 2, s.x, &r.reserve));
    r.ws = api_alloc(r.work);
    r.rs = api_alloc(r.reserve);
    older_sizes(d, &s, &r);
    older_forward(d, &s, &r);
    older_backward(d, &s, &r);
    older_find(d, &s, &r);
    older_types(d, &s);
    MEM_CHECK();
    steps_free(&s);
    rnn_free(&r);
    CALL(cudnnDestroyRNNDescriptor, (d));
    CALL(cudnnDestroyRNNDescriptor, (never));
    api_rows_done();
}

#else

void misuse_rnn_older(void **state)
{
    (void)state;  /* 9 has none of it */
}

#endif
