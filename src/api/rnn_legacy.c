/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The older calls of cuDNN 8: sequences as arrays of tensors, one a step, whose batch sizes fall where sequences end; and the Ex calls
 * with RNN data descriptors. Statuses as 8.9.7's. The attention arguments of the Ex calls (kDesc to queries) stand for nothing in any
 * version: they must be NULL. */
#include "rnn_legacy.h"

#if DN_ABI == 8

/* One size for inference, training and the gradients, since the call does not say which. */
cudnnStatus_t CUDNNWINAPI cudnnGetRNNWorkspaceSize(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, const int seqLength,
                                                   const cudnnTensorDescriptor_t *xDesc, size_t *sizeInBytes)
{
    static const dn_dir dirs[] = { DN_DIR_INFER, DN_DIR_TRAIN, DN_DIR_BWD_DATA, DN_DIR_BWD_FILTER };
    dn_rnn_call c;
    size_t most = 0;
    dn_call_begin("cudnnGetRNNWorkspaceSize");
    dn_rnn_call_begin(&c, handle, rnnDesc, DN_DIR_INFER, false);
    dn_rnn_bind_steps(&c, DN_X, seqLength, xDesc, "xDesc", NULL, NULL);
    if (c.st == DN_SUCCESS)
        c.st = dn_want(sizeInBytes, "sizeInBytes");
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        dn_rnn_call_query(&c, dirs[i], &most);
    if (c.st == DN_SUCCESS)
        *sizeInBytes = most;
    return dn_rnn_call_end(&c);
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNTrainingReserveSize(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, const int seqLength,
                                                         const cudnnTensorDescriptor_t *xDesc, size_t *sizeInBytes)
{
    dn_rnn_call c;
    dn_call_begin("cudnnGetRNNTrainingReserveSize");
    dn_rnn_call_begin(&c, handle, rnnDesc, DN_DIR_TRAIN, false);
    dn_rnn_bind_steps(&c, DN_X, seqLength, xDesc, "xDesc", NULL, NULL);
    if (c.st == DN_SUCCESS)
        c.st = dn_want(sizeInBytes, "sizeInBytes");
    dn_rnn_call_query(&c, DN_DIR_TRAIN, NULL);
    if (c.st == DN_SUCCESS)
        *sizeInBytes = c.reserve.bytes;
    return dn_rnn_call_end(&c);
}

/* --- calls, described by their arguments --- */

static void bind_forward_states(dn_rnn_call *c, const dn_rnn_forward *f)
{
    dn_rnn_bind_state(c, DN_AUX_HX, f->hx_desc, "hxDesc", f->hx);
    dn_rnn_bind_state(c, DN_AUX_CX, f->cx_desc, "cxDesc", f->cx);
    dn_rnn_bind_state(c, DN_AUX_HY, f->hy_desc, "hyDesc", f->hy);
    dn_rnn_bind_state(c, DN_AUX_CY, f->cy_desc, "cyDesc", f->cy);
}

void dn_rnn_forward_begin(dn_rnn_call *c, const dn_rnn_forward *f)
{
    dn_rnn_call_begin(c, f->handle, f->rnn_desc, f->training ? DN_DIR_TRAIN : DN_DIR_INFER, false);
    if (!f->ex) {
        dn_rnn_bind_steps(c, DN_X, f->steps, f->x_steps, "xDesc", f->x, "x");
        dn_rnn_bind_steps(c, DN_Y, f->steps, f->y_steps, "yDesc", f->y, "y");
    } else {
        dn_rnn_bind_data(c, DN_X, f->x_desc, "xDesc", f->x, "x");
        dn_rnn_bind_data(c, DN_Y, f->y_desc, "yDesc", f->y, "y");
    }
    bind_forward_states(c, f);
    dn_rnn_bind_filter(c, f->w_desc, "wDesc", f->w, "w");
    dn_rnn_bind_workspace(c, f->work, f->work_size);
    if (f->training)
        dn_rnn_bind_reserve(c, f->reserve, f->reserve_size, "reserveSpaceSizeInBytes");
    else
        dn_rnn_call_finish(c);
}

void dn_rnn_backward_begin(dn_rnn_call *c, const dn_rnn_backward *b)
{
    dn_rnn_call_begin(c, b->handle, b->rnn_desc, DN_DIR_BWD_DATA, false);
    if (!b->ex) {
        dn_rnn_bind_steps(c, DN_Y, b->steps, b->y_steps, "yDesc", b->y, "y");
        dn_rnn_bind_steps(c, DN_DY, b->steps, b->dy_steps, "dyDesc", b->dy, "dy");
        dn_rnn_bind_steps(c, DN_DX, b->steps, b->dx_steps, "dxDesc", b->dx, "dx");
    } else {
        dn_rnn_bind_data(c, DN_Y, b->y_desc, "yDesc", b->y, "y");
        dn_rnn_bind_data(c, DN_DY, b->dy_desc, "dyDesc", b->dy, "dy");
        dn_rnn_bind_data(c, DN_DX, b->dx_desc, "dxDesc", b->dx, "dx");
    }
    dn_rnn_bind_state(c, DN_AUX_DHY, b->dhy_desc, "dhyDesc", b->dhy);
    dn_rnn_bind_state(c, DN_AUX_DCY, b->dcy_desc, "dcyDesc", b->dcy);
    dn_rnn_bind_filter(c, b->w_desc, "wDesc", b->w, "w");
    dn_rnn_bind_state(c, DN_AUX_HX, b->hx_desc, "hxDesc", b->hx);
    dn_rnn_bind_state(c, DN_AUX_CX, b->cx_desc, "cxDesc", b->cx);
    dn_rnn_bind_state(c, DN_AUX_DHX, b->dhx_desc, "dhxDesc", b->dhx);
    dn_rnn_bind_state(c, DN_AUX_DCX, b->dcx_desc, "dcxDesc", b->dcx);
    dn_rnn_bind_workspace(c, b->work, b->work_size);
    dn_rnn_bind_reserve(c, b->reserve, b->reserve_size, "reserveSpaceSizeInBytes");
}

void dn_rnn_gradient_begin(dn_rnn_call *c, const dn_rnn_gradient *g)
{
    dn_rnn_call_begin(c, g->handle, g->rnn_desc, DN_DIR_BWD_FILTER, false);
    if (!g->ex) {
        dn_rnn_bind_steps(c, DN_X, g->steps, g->x_steps, "xDesc", g->x, "x");
        dn_rnn_bind_steps(c, DN_Y, g->steps, g->y_steps, "yDesc", g->y, "y");
    } else {
        dn_rnn_bind_data(c, DN_X, g->x_desc, "xDesc", g->x, "x");
        dn_rnn_bind_data(c, DN_Y, g->y_desc, "yDesc", g->y, "y");
    }
    dn_rnn_bind_state(c, DN_AUX_HX, g->hx_desc, "hxDesc", g->hx);
    dn_rnn_bind_filter(c, g->dw_desc, "dwDesc", g->dw, "dw");
    dn_rnn_bind_workspace(c, g->work, g->work_size);
    dn_rnn_bind_reserve(c, g->reserve, g->reserve_size, "reserveSpaceSizeInBytes");
}

static cudnnStatus_t run_forward(const dn_rnn_forward *f)
{
    dn_rnn_call c;
    dn_rnn_forward_begin(&c, f);
    return dn_rnn_call_run(&c);
}

static cudnnStatus_t run_backward(const dn_rnn_backward *b)
{
    dn_rnn_call c;
    dn_rnn_backward_begin(&c, b);
    return dn_rnn_call_run(&c);
}

static cudnnStatus_t run_gradient(const dn_rnn_gradient *g)
{
    dn_rnn_call c;
    dn_rnn_gradient_begin(&c, g);
    return dn_rnn_call_run(&c);
}

/* --- arrays of tensors --- */

cudnnStatus_t CUDNNWINAPI cudnnRNNForwardInference(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, const int seqLength,
    const cudnnTensorDescriptor_t *xDesc, const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnTensorDescriptor_t *yDesc, void *y, const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc,
    void *cy, void *workSpace, size_t workSpaceSizeInBytes)
{
    dn_call_begin("cudnnRNNForwardInference");
    return run_forward(&(dn_rnn_forward){ DN_RNN_FORWARD_STEPS, DN_RNN_FORWARD_REST });
}

cudnnStatus_t CUDNNWINAPI cudnnRNNForwardTraining(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, const int seqLength,
    const cudnnTensorDescriptor_t *xDesc, const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnTensorDescriptor_t *yDesc, void *y, const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc,
    void *cy, void *workSpace, size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    dn_call_begin("cudnnRNNForwardTraining");
    return run_forward(&(dn_rnn_forward){ DN_RNN_FORWARD_STEPS, DN_RNN_FORWARD_REST, DN_RNN_TRAINING });
}

cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardData(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, const int seqLength,
    const cudnnTensorDescriptor_t *yDesc, const void *y, const cudnnTensorDescriptor_t *dyDesc, const void *dy,
    const cudnnTensorDescriptor_t dhyDesc, const void *dhy, const cudnnTensorDescriptor_t dcyDesc, const void *dcy,
    const cudnnFilterDescriptor_t wDesc, const void *w, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnTensorDescriptor_t *dxDesc, void *dx,
    const cudnnTensorDescriptor_t dhxDesc, void *dhx, const cudnnTensorDescriptor_t dcxDesc, void *dcx, void *workSpace,
    size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    dn_call_begin("cudnnRNNBackwardData");
    return run_backward(&(dn_rnn_backward){ DN_RNN_BACKWARD_STEPS, DN_RNN_BACKWARD_REST });
}

cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardWeights(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, const int seqLength,
    const cudnnTensorDescriptor_t *xDesc, const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t *yDesc, const void *y, const void *workSpace, size_t workSpaceSizeInBytes,
    const cudnnFilterDescriptor_t dwDesc, void *dw, const void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    dn_call_begin("cudnnRNNBackwardWeights");
    return run_gradient(&(dn_rnn_gradient){ DN_RNN_GRADIENT_STEPS, DN_RNN_GRADIENT_REST });
}

/* --- RNN data descriptors --- */

static cudnnStatus_t refuse_attention(const char *names)
{
    return dn_answer(dn_fail(DN_NOT_SUPPORTED, "%s: one is not NULL; they were kept for attention, and no version has it here", names));
}

cudnnStatus_t CUDNNWINAPI cudnnRNNForwardInferenceEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
    const cudnnRNNDataDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnRNNDataDescriptor_t yDesc, void *y, const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc,
    void *cy, const cudnnRNNDataDescriptor_t kDesc, const void *keys, const cudnnRNNDataDescriptor_t cDesc, void *cAttn,
    const cudnnRNNDataDescriptor_t iDesc, void *iAttn, const cudnnRNNDataDescriptor_t qDesc, void *queries, void *workSpace,
    size_t workSpaceSizeInBytes)
{
    dn_call_begin("cudnnRNNForwardInferenceEx");
    if (kDesc || keys || cDesc || cAttn || iDesc || iAttn || qDesc || queries)
        return refuse_attention("kDesc, keys, cDesc, cAttn, iDesc, iAttn, qDesc, queries");
    return run_forward(&(dn_rnn_forward){ DN_RNN_FORWARD_DATA, DN_RNN_FORWARD_REST });
}

cudnnStatus_t CUDNNWINAPI cudnnRNNForwardTrainingEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
    const cudnnRNNDataDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnTensorDescriptor_t cxDesc, const void *cx, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnRNNDataDescriptor_t yDesc, void *y, const cudnnTensorDescriptor_t hyDesc, void *hy, const cudnnTensorDescriptor_t cyDesc,
    void *cy, const cudnnRNNDataDescriptor_t kDesc, const void *keys, const cudnnRNNDataDescriptor_t cDesc, void *cAttn,
    const cudnnRNNDataDescriptor_t iDesc, void *iAttn, const cudnnRNNDataDescriptor_t qDesc, void *queries, void *workSpace,
    size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    dn_call_begin("cudnnRNNForwardTrainingEx");
    if (kDesc || keys || cDesc || cAttn || iDesc || iAttn || qDesc || queries)
        return refuse_attention("kDesc, keys, cDesc, cAttn, iDesc, iAttn, qDesc, queries");
    return run_forward(&(dn_rnn_forward){ DN_RNN_FORWARD_DATA, DN_RNN_FORWARD_REST, DN_RNN_TRAINING });
}

cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardDataEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
    const cudnnRNNDataDescriptor_t yDesc, const void *y, const cudnnRNNDataDescriptor_t dyDesc, const void *dy,
    const cudnnRNNDataDescriptor_t dcDesc, const void *dcAttn, const cudnnTensorDescriptor_t dhyDesc, const void *dhy,
    const cudnnTensorDescriptor_t dcyDesc, const void *dcy, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnTensorDescriptor_t hxDesc, const void *hx, const cudnnTensorDescriptor_t cxDesc, const void *cx,
    const cudnnRNNDataDescriptor_t dxDesc, void *dx, const cudnnTensorDescriptor_t dhxDesc, void *dhx,
    const cudnnTensorDescriptor_t dcxDesc, void *dcx, const cudnnRNNDataDescriptor_t dkDesc, void *dkeys, void *workSpace,
    size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    dn_call_begin("cudnnRNNBackwardDataEx");
    if (dcDesc || dcAttn || dkDesc || dkeys)
        return refuse_attention("dcDesc, dcAttn, dkDesc, dkeys");
    return run_backward(&(dn_rnn_backward){ DN_RNN_BACKWARD_DATA, DN_RNN_BACKWARD_REST });
}

cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardWeightsEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
    const cudnnRNNDataDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t hxDesc, const void *hx,
    const cudnnRNNDataDescriptor_t yDesc, const void *y, void *workSpace, size_t workSpaceSizeInBytes,
    const cudnnFilterDescriptor_t dwDesc, void *dw, void *reserveSpace, size_t reserveSpaceSizeInBytes)
{
    dn_call_begin("cudnnRNNBackwardWeightsEx");
    return run_gradient(&(dn_rnn_gradient){ DN_RNN_GRADIENT_DATA, DN_RNN_GRADIENT_REST });
}

#endif
