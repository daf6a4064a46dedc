/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks as cuDNN 8 and 9 run them. The lengths of the descriptors are what counts: devSeqLengths, the same on the device, is
 * not read. Statuses are those of 9.19. */
#include "rnn.h"

static dn_status check_mode(int mode)
{
    return dn_want_range(mode, CUDNN_FWD_MODE_INFERENCE, CUDNN_FWD_MODE_TRAINING, "fwdMode", "a cudnnForwardMode_t, 0 or 1");
}

/* For training the workspace is enough for the gradients too, and for inference. */
cudnnStatus_t CUDNNWINAPI cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnForwardMode_t fwdMode,
                                                    cudnnRNNDataDescriptor_t xDesc, size_t *workSpaceSize, size_t *reserveSpaceSize)
{
    static const dn_dir dirs[] = { DN_DIR_INFER, DN_DIR_TRAIN, DN_DIR_BWD_DATA, DN_DIR_BWD_FILTER };
    dn_rnn_call c;
    size_t most = 0;
    bool training = fwdMode == CUDNN_FWD_MODE_TRAINING;
    dn_call_begin("cudnnGetRNNTempSpaceSizes");
    dn_rnn_call_begin(&c, handle, rnnDesc, training ? DN_DIR_TRAIN : DN_DIR_INFER, true);
    if (c.st == DN_SUCCESS)
        c.st = check_mode((int)fwdMode);
    dn_rnn_bind_data(&c, DN_X, xDesc, "xDesc", NULL, NULL);
    for (int i = 0; i < (training ? 4 : 1); i++)
        dn_rnn_call_query(&c, dirs[i], &most);
    if (c.st == DN_SUCCESS && workSpaceSize)
        *workSpaceSize = most;
    if (c.st == DN_SUCCESS && reserveSpaceSize)
        *reserveSpaceSize = training ? c.reserve.bytes : 0;
    return dn_rnn_call_end(&c);
}

/* One descriptor serves all states of a kind. */
static void bind_states(dn_rnn_call *c, const dn_aux *aux, const cudnnTensorDescriptor_t desc, const char *name, const void *const *data)
{
    for (int i = 0; i < 3; i++)
        dn_rnn_bind_state(c, aux[i], desc, name, data[i]);
}

cudnnStatus_t CUDNNWINAPI cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnForwardMode_t fwdMode,
    const int32_t devSeqLengths[], cudnnRNNDataDescriptor_t xDesc, const void *x, cudnnRNNDataDescriptor_t yDesc, void *y,
    cudnnTensorDescriptor_t hDesc, const void *hx, void *hy, cudnnTensorDescriptor_t cDesc, const void *cx, void *cy,
    size_t weightSpaceSize, const void *weightSpace, size_t workSpaceSize, void *workSpace, size_t reserveSpaceSize, void *reserveSpace)
{
    static const dn_aux h[] = { DN_AUX_HX, DN_AUX_HY, DN_AUX_HY }, cell[] = { DN_AUX_CX, DN_AUX_CY, DN_AUX_CY };
    dn_rnn_call c;
    bool training = fwdMode == CUDNN_FWD_MODE_TRAINING;
    (void)devSeqLengths;
    dn_call_begin("cudnnRNNForward");
    dn_rnn_call_begin(&c, handle, rnnDesc, training ? DN_DIR_TRAIN : DN_DIR_INFER, true);
    if (c.st == DN_SUCCESS)
        c.st = check_mode((int)fwdMode);
    dn_rnn_bind_data(&c, DN_X, xDesc, "xDesc", x, "x");
    dn_rnn_bind_data(&c, DN_Y, yDesc, "yDesc", y, "y");
    bind_states(&c, h, hDesc, "hDesc", (const void *const[]){ hx, hy, hy });
    bind_states(&c, cell, cDesc, "cDesc", (const void *const[]){ cx, cy, cy });
    dn_rnn_bind_weights(&c, weightSpaceSize, "weightSpaceSize", weightSpace, "weightSpace");
    dn_rnn_bind_workspace(&c, workSpace, workSpaceSize);
    if (training)
        dn_rnn_bind_reserve(&c, reserveSpace, reserveSpaceSize, "reserveSpaceSize");
    else
        dn_rnn_call_finish(&c);
    return dn_rnn_call_run(&c);
}

cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, const int32_t devSeqLengths[],
    cudnnRNNDataDescriptor_t yDesc, const void *y, const void *dy, cudnnRNNDataDescriptor_t xDesc, void *dx,
    cudnnTensorDescriptor_t hDesc, const void *hx, const void *dhy, void *dhx, cudnnTensorDescriptor_t cDesc, const void *cx,
    const void *dcy, void *dcx, size_t weightSpaceSize, const void *weightSpace, size_t workSpaceSize, void *workSpace,
    size_t reserveSpaceSize, void *reserveSpace)
{
    static const dn_aux h[] = { DN_AUX_HX, DN_AUX_DHY, DN_AUX_DHX }, cell[] = { DN_AUX_CX, DN_AUX_DCY, DN_AUX_DCX };
    dn_rnn_call c;
    (void)devSeqLengths;
    dn_call_begin("cudnnRNNBackwardData_v8");
    dn_rnn_call_begin(&c, handle, rnnDesc, DN_DIR_BWD_DATA, true);
    dn_rnn_bind_data(&c, DN_Y, yDesc, "yDesc", y, "y");
    dn_rnn_bind_data(&c, DN_DY, yDesc, "yDesc", dy, "dy");
    dn_rnn_bind_data(&c, DN_DX, xDesc, "xDesc", dx, "dx");
    bind_states(&c, h, hDesc, "hDesc", (const void *const[]){ hx, dhy, dhx });
    bind_states(&c, cell, cDesc, "cDesc", (const void *const[]){ cx, dcy, dcx });
    dn_rnn_bind_weights(&c, weightSpaceSize, "weightSpaceSize", weightSpace, "weightSpace");
    dn_rnn_bind_workspace(&c, workSpace, workSpaceSize);
    dn_rnn_bind_reserve(&c, reserveSpace, reserveSpaceSize, "reserveSpaceSize");
    return dn_rnn_call_run(&c);
}

cudnnStatus_t CUDNNWINAPI cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnWgradMode_t addGrad,
    const int32_t devSeqLengths[], cudnnRNNDataDescriptor_t xDesc, const void *x, cudnnTensorDescriptor_t hDesc, const void *hx,
    cudnnRNNDataDescriptor_t yDesc, const void *y, size_t weightSpaceSize, void *dweightSpace, size_t workSpaceSize, void *workSpace,
    size_t reserveSpaceSize, void *reserveSpace)
{
    dn_rnn_call c;
    (void)devSeqLengths;
    dn_call_begin("cudnnRNNBackwardWeights_v8");
    dn_rnn_call_begin(&c, handle, rnnDesc, DN_DIR_BWD_FILTER, true);
    if (c.st == DN_SUCCESS)
        c.st = dn_want_range((int)addGrad, CUDNN_WGRAD_MODE_ADD, CUDNN_WGRAD_MODE_SET, "addGrad", "a cudnnWgradMode_t, 0 or 1");
    if (c.st == DN_SUCCESS && addGrad == CUDNN_WGRAD_MODE_SET)
        c.st = dn_fail(DN_NOT_SUPPORTED, "addGrad is CUDNN_WGRAD_MODE_SET; gradients by weights are added, to zeros where none are wanted");
    dn_rnn_bind_data(&c, DN_X, xDesc, "xDesc", x, "x");
    dn_rnn_bind_data(&c, DN_Y, yDesc, "yDesc", y, "y");
    dn_rnn_bind_state(&c, DN_AUX_HX, hDesc, "hDesc", hx);
    dn_rnn_bind_weights(&c, weightSpaceSize, "weightSpaceSize", dweightSpace, "dweightSpace");
    dn_rnn_bind_workspace(&c, workSpace, workSpaceSize);
    dn_rnn_bind_reserve(&c, reserveSpace, reserveSpaceSize, "reserveSpaceSize");
    return dn_rnn_call_run(&c);
}

/* Nothing is compiled at run time: every batch size works after it, as with the vendor's library. */
cudnnStatus_t CUDNNWINAPI cudnnBuildRNNDynamic(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int miniBatch)
{
    dn_call_begin("cudnnBuildRNNDynamic");
    const dn_rnn_desc *d = dn_handle_of(handle) ? dn_rnn_of(rnnDesc) : NULL;
    if (!d || dn_want_range(miniBatch, 1, INT32_MAX, "miniBatch", "1 or more"))
        return dn_answer(DN_BAD_PARAM);
    if (d->algo != CUDNN_RNN_ALGO_PERSIST_DYNAMIC)
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "rnnDesc has algorithm %d; only CUDNN_RNN_ALGO_PERSIST_DYNAMIC = 2 is built", d->algo));
    return dn_answer(DN_SUCCESS);
}
