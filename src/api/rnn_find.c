/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The Find functions of cuDNN 8. A number of cudnnRNNAlgo_t says nothing about the row that runs, so there is one entry: the number of
 * the descriptor, with the time of the row that a call runs. */
#include "algorithm.h"
#include "rnn_legacy.h"

#if DN_ABI == 8

enum { ENTRIES = 1, ROWS_MAX = 64 };

static cudnnStatus_t give_count(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, int *count)
{
    if (!dn_handle_of(handle) || !dn_rnn_of(rnnDesc) || dn_want(count, "count"))
        return dn_answer(DN_BAD_PARAM);
    *count = ENTRIES;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNForwardInferenceAlgorithmMaxCount(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, int *count)
{
    dn_call_begin("cudnnGetRNNForwardInferenceAlgorithmMaxCount");
    return give_count(handle, rnnDesc, count);
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNForwardTrainingAlgorithmMaxCount(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, int *count)
{
    dn_call_begin("cudnnGetRNNForwardTrainingAlgorithmMaxCount");
    return give_count(handle, rnnDesc, count);
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNBackwardDataAlgorithmMaxCount(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, int *count)
{
    dn_call_begin("cudnnGetRNNBackwardDataAlgorithmMaxCount");
    return give_count(handle, rnnDesc, count);
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNBackwardWeightsAlgorithmMaxCount(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, int *count)
{
    dn_call_begin("cudnnGetRNNBackwardWeightsAlgorithmMaxCount");
    return give_count(handle, rnnDesc, count);
}

/* The timing of the row that a call runs. */
static dn_status time_call(dn_rnn_call *c, dn_timing *out)
{
    dn_timing t[ROWS_MAX];
    const dn_solver *row = dn_row_of(c->h, &c->p);
    int n = dn_tune(c->h, &c->p, &c->a, t, ROWS_MAX);
    for (int i = 0; i < n; i++)
        if (t[i].solver == row) {
            *out = t[i];
            return DN_SUCCESS;
        }
    dn_plan *plan;
    dn_status st = dn_plan_get(c->h, &c->p, &plan);  /* says why there is no row */
    return st == DN_SUCCESS ? dn_fail(DN_INTERNAL_ERROR, "the row of this call could not be timed") : st;
}

static cudnnStatus_t find(dn_rnn_call *c, int wanted, int *returned, cudnnAlgorithmPerformance_t *results)
{
    dn_timing t;
    if (c->st == DN_SUCCESS && (dn_want_range(wanted, 1, INT32_MAX, "requestedAlgoCount", "1 or more")
                                || dn_want(returned, "returnedAlgoCount") || dn_want(results, "perfResults")))
        c->st = DN_BAD_PARAM;
    if (c->st == DN_SUCCESS)
        c->st = time_call(c, &t);
    if (c->st != DN_SUCCESS)
        return dn_rnn_call_end(c);
    cudnnAlgorithm_t algorithm = { .algo = { .RNNAlgo = (cudnnRNNAlgo_t)c->d->algo } };
    cudnnStatus_t status = t.status == DN_SUCCESS ? CUDNN_STATUS_SUCCESS
        : t.status == DN_ALLOC_FAILED ? CUDNN_STATUS_ALLOC_FAILED : CUDNN_STATUS_EXECUTION_FAILED;
    c->st = dn_algorithm_perf_fill(results[0], "perfResults[0]", algorithm, status, t.ms, t.workspace);
    if (c->st == DN_SUCCESS)
        *returned = ENTRIES;
    return dn_rnn_call_end(c);
}

cudnnStatus_t CUDNNWINAPI cudnnFindRNNForwardInferenceAlgorithmEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
    const int seqLength, const cudnnTensorDescriptor_t *xDesc, const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnTensorDescriptor_t *yDesc, void *y, const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc,
    void *cy, const float findIntensity, const int requestedAlgoCount, int *returnedAlgoCount, cudnnAlgorithmPerformance_t *perfResults,
    void *workSpace, size_t workSpaceSizeInBytes)
{
    dn_rnn_call c;
    dn_call_begin("cudnnFindRNNForwardInferenceAlgorithmEx");
    (void)findIntensity;
    dn_rnn_forward_begin(&c, &(dn_rnn_forward){ DN_RNN_FORWARD_STEPS, DN_RNN_FORWARD_REST });
    return find(&c, requestedAlgoCount, returnedAlgoCount, perfResults);
}

cudnnStatus_t CUDNNWINAPI cudnnFindRNNForwardTrainingAlgorithmEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
    const int seqLength, const cudnnTensorDescriptor_t *xDesc, const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnTensorDescriptor_t *yDesc, void *y, const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc,
    void *cy, const float findIntensity, const int requestedAlgoCount, int *returnedAlgoCount, cudnnAlgorithmPerformance_t *perfResults,
    void *workSpace, size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    dn_rnn_call c;
    dn_call_begin("cudnnFindRNNForwardTrainingAlgorithmEx");
    (void)findIntensity;
    dn_rnn_forward_begin(&c, &(dn_rnn_forward){ DN_RNN_FORWARD_STEPS, DN_RNN_FORWARD_REST, DN_RNN_TRAINING });
    return find(&c, requestedAlgoCount, returnedAlgoCount, perfResults);
}

cudnnStatus_t CUDNNWINAPI cudnnFindRNNBackwardDataAlgorithmEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
    const int seqLength, const cudnnTensorDescriptor_t *yDesc, const void *y, const cudnnTensorDescriptor_t *dyDesc, const void *dy,
    const cudnnTensorDescriptor_t dhyDesc, const void *dhy, const cudnnTensorDescriptor_t dcyDesc, const void *dcy,
    const cudnnFilterDescriptor_t wDesc, const void *w, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnTensorDescriptor_t *dxDesc, void *dx,
    const cudnnTensorDescriptor_t dhxDesc, void *dhx, const cudnnTensorDescriptor_t dcxDesc, void *dcx, const float findIntensity,
    const int requestedAlgoCount, int *returnedAlgoCount, cudnnAlgorithmPerformance_t *perfResults, void *workSpace,
    size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    dn_rnn_call c;
    dn_call_begin("cudnnFindRNNBackwardDataAlgorithmEx");
    (void)findIntensity;
    dn_rnn_backward_begin(&c, &(dn_rnn_backward){ DN_RNN_BACKWARD_STEPS, DN_RNN_BACKWARD_REST });
    return find(&c, requestedAlgoCount, returnedAlgoCount, perfResults);
}

cudnnStatus_t CUDNNWINAPI cudnnFindRNNBackwardWeightsAlgorithmEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
    const int seqLength, const cudnnTensorDescriptor_t *xDesc, const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t *yDesc, const void *y, const float findIntensity, const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnAlgorithmPerformance_t *perfResults, const void *workSpace, size_t workSpaceSizeInBytes, const cudnnFilterDescriptor_t dwDesc,
    void *dw, const void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    dn_rnn_call c;
    dn_call_begin("cudnnFindRNNBackwardWeightsAlgorithmEx");
    (void)findIntensity;
    dn_rnn_gradient_begin(&c, &(dn_rnn_gradient){ DN_RNN_GRADIENT_STEPS, DN_RNN_GRADIENT_REST });
    return find(&c, requestedAlgoCount, returnedAlgoCount, perfResults);
}

#endif
