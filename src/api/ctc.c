/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * CTC loss: the descriptor in its four forms, and the loss with arrays in host memory (cudnnCTCLoss) or in the handle's (_v8).
 * As with the vendor's library a descriptor that was never set holds FLOAT and zeros, a Set of an older form resets what it does not know,
 * and a getter passes over pointers that are NULL. gradMode of the older forms and ctcGradMode of 9 are one field: NOT_PROPAGATE_NAN is
 * ZERO_OOB_GRADIENTS, PROPAGATE_NAN is SKIP_OOB_GRADIENTS. Both algorithms are one here, and always give equal bits. */
#include "opcall.h"

/* --- descriptor --- */

cudnnStatus_t CUDNNWINAPI cudnnCreateCTCLossDescriptor(cudnnCTCLossDescriptor_t *ctcLossDesc)
{
    dn_call_begin("cudnnCreateCTCLossDescriptor");
    return dn_answer(dn_object_create(&dn_ctc_pool, (void **)ctcLossDesc, "ctcLossDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc)
{
    dn_call_begin("cudnnDestroyCTCLossDescriptor");
    return dn_answer(dn_object_destroy(&dn_ctc_pool, ctcLossDesc, "ctcLossDesc"));
}

static cudnnStatus_t set(cudnnCTCLossDescriptor_t desc, int type, int norm, int grad, const char *grad_name, int max_label)
{
    dn_ctc_desc *d = dn_object_of(&dn_ctc_pool, desc, "ctcLossDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_DOUBLE)
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "compType is %d; it must be CUDNN_DATA_FLOAT or _DOUBLE", type));
    if (dn_want_range(norm, 0, 1, "normMode", "a cudnnLossNormalizationMode_t, 0 or 1") || dn_want_range(grad, 0, 1, grad_name, "0 or 1")
        || dn_want_range(max_label, 0, INT32_MAX / 8, "maxLabelLength", "0 to 2^28 - 1"))
        return dn_answer(DN_BAD_PARAM);
    d->type = type;
    d->norm = norm;
    d->skip = grad;
    d->max_label = max_label;
    d->set = 1;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t compType)
{
    dn_call_begin("cudnnSetCTCLossDescriptor");
    return set(ctcLossDesc, (int)compType, 0, 0, "gradMode", 0);
}

cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t compType,
                                                      cudnnLossNormalizationMode_t normMode, cudnnNanPropagation_t gradMode)
{
    dn_call_begin("cudnnSetCTCLossDescriptorEx");
    return set(ctcLossDesc, (int)compType, (int)normMode, (int)gradMode, "gradMode", 0);
}

cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t compType,
                                                       cudnnLossNormalizationMode_t normMode, cudnnNanPropagation_t gradMode,
                                                       int maxLabelLength)
{
    dn_call_begin("cudnnSetCTCLossDescriptor_v8");
    return set(ctcLossDesc, (int)compType, (int)normMode, (int)gradMode, "gradMode", maxLabelLength);
}

#if DN_ABI == 9
cudnnStatus_t CUDNNWINAPI cudnnSetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t compType,
                                                       cudnnLossNormalizationMode_t normMode, cudnnCTCGradMode_t ctcGradMode,
                                                       int maxLabelLength)
{
    dn_call_begin("cudnnSetCTCLossDescriptor_v9");
    return set(ctcLossDesc, (int)compType, (int)normMode, (int)ctcGradMode, "ctcGradMode", maxLabelLength);
}
#endif

static const dn_ctc_desc *get(const cudnnCTCLossDescriptor_t desc, cudnnDataType_t *type, cudnnLossNormalizationMode_t *norm, int *max_label)
{
    const dn_ctc_desc *d = dn_object_of(&dn_ctc_pool, desc, "ctcLossDesc");
    if (d && type)
        *type = (cudnnDataType_t)d->type;
    if (d && norm)
        *norm = (cudnnLossNormalizationMode_t)d->norm;
    if (d && max_label)
        *max_label = d->max_label;
    return d;
}

cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t *compType)
{
    dn_call_begin("cudnnGetCTCLossDescriptor");
    return dn_answer(get(ctcLossDesc, compType, NULL, NULL) ? DN_SUCCESS : DN_BAD_PARAM);
}

static cudnnStatus_t get_v8(const cudnnCTCLossDescriptor_t desc, cudnnDataType_t *type, cudnnLossNormalizationMode_t *norm,
                            cudnnNanPropagation_t *grad, int *max_label)
{
    const dn_ctc_desc *d = get(desc, type, norm, max_label);
    if (d && grad)
        *grad = d->skip ? CUDNN_PROPAGATE_NAN : CUDNN_NOT_PROPAGATE_NAN;
    return dn_answer(d ? DN_SUCCESS : DN_BAD_PARAM);
}

cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t *compType,
                                                      cudnnLossNormalizationMode_t *normMode, cudnnNanPropagation_t *gradMode)
{
    dn_call_begin("cudnnGetCTCLossDescriptorEx");
    return get_v8(ctcLossDesc, compType, normMode, gradMode, NULL);
}

cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t *compType,
                                                       cudnnLossNormalizationMode_t *normMode, cudnnNanPropagation_t *gradMode,
                                                       int *maxLabelLength)
{
    dn_call_begin("cudnnGetCTCLossDescriptor_v8");
    return get_v8(ctcLossDesc, compType, normMode, gradMode, maxLabelLength);
}

#if DN_ABI == 9
cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t *compType,
                                                       cudnnLossNormalizationMode_t *normMode, cudnnCTCGradMode_t *ctcGradMode,
                                                       int *maxLabelLength)
{
    dn_call_begin("cudnnGetCTCLossDescriptor_v9");
    const dn_ctc_desc *d = get(ctcLossDesc, compType, normMode, maxLabelLength);
    if (d && ctcGradMode)
        *ctcGradMode = d->skip ? CUDNN_CTC_SKIP_OOB_GRADIENTS : CUDNN_CTC_ZERO_OOB_GRADIENTS;
    return dn_answer(d ? DN_SUCCESS : DN_BAD_PARAM);
}
#endif

/* --- the loss --- */

/* Descriptors and algorithm. */
static void begin(dn_opcall *c, cudnnHandle_t handle, const cudnnTensorDescriptor_t probs_desc, const void *probs,
                  const cudnnTensorDescriptor_t gradients_desc, const void *gradients, bool with_gradients, cudnnCTCLossAlgo_t algo,
                  const cudnnCTCLossDescriptor_t desc)
{
    dn_opcall_begin(c, handle, DN_OP_CTC, DN_DIR_FWD);
    const dn_ctc_desc *d = c->st == DN_SUCCESS ? dn_object_of(&dn_ctc_pool, desc, "ctcLossDesc") : NULL;
    if (!d)
        c->st = DN_BAD_PARAM;
    dn_opcall_operand(c, DN_X, probs_desc, "probsDesc", probs, NULL);
    if (with_gradients)
        dn_opcall_operand(c, DN_DX, gradients_desc, "gradientsDesc", gradients, NULL);
    if (c->st == DN_SUCCESS)
        c->st = dn_want_range((int)algo, 0, 1, "algo", "a cudnnCTCLossAlgo_t, 0 or 1");
    if (c->st != DN_SUCCESS)
        return;
    c->p.compute = (uint8_t)(d->type == CUDNN_DATA_DOUBLE || c->p.t[DN_X].type == DN_F64 ? DN_F64 : DN_F32);
    c->p.flags |= DN_F_BETA_ZERO;
    c->p.u.ctc.norm = d->norm;
    c->p.u.ctc.skip = d->skip;
    c->p.u.ctc.max_label = d->max_label;
    c->st = dn_ctc_check(&c->p);
}

/* The arrays of the older form can be looked at; a label may be the blank, as with the vendor's library. Sets the longest label sequence. */
static void check_host_arrays(dn_opcall *c, const int *labels, const int *label_lengths, const int *input_lengths)
{
    const dn_tensor *x = &c->p.t[DN_X];
    long long total = 0;
    if (c->st == DN_SUCCESS && (dn_want(label_lengths, "labelLengths") || dn_want(input_lengths, "inputLengths") || dn_want(labels, "labels")))
        c->st = DN_BAD_PARAM;
    c->p.u.ctc.max_label = 0;
    for (int64_t n = 0; c->st == DN_SUCCESS && n < x->dims[1]; n++) {
        if (label_lengths[n] < 0 || label_lengths[n] > INT32_MAX / 8)
            c->st = dn_fail(DN_BAD_PARAM, "labelLengths[%lld] is %d; it must be 0 to %d", (long long)n, label_lengths[n], INT32_MAX / 8);
        else if (input_lengths[n] < 0 || input_lengths[n] > x->dims[0])
            c->st = dn_fail(DN_BAD_PARAM, "inputLengths[%lld] is %d; it must be 0 to %lld, the steps of probs", (long long)n, input_lengths[n],
                            (long long)x->dims[0]);
        else if (label_lengths[n] > c->p.u.ctc.max_label)
            c->p.u.ctc.max_label = label_lengths[n];
        total += c->st == DN_SUCCESS ? label_lengths[n] : 0;
    }
    for (long long i = 0; c->st == DN_SUCCESS && i < total; i++)
        if (labels[i] < 0 || labels[i] >= x->dims[2])
            c->st = dn_fail(DN_BAD_PARAM, "labels[%lld] is %d; it must be 0 to %lld, the classes of probs less one", i, labels[i],
                            (long long)x->dims[2] - 1);
    c->p.u.ctc.host = 1;
}

/* Without a longest label sequence there is room for any that the steps allow. */
static void default_room(dn_opcall *c)
{
    if (c->st == DN_SUCCESS && !c->p.u.ctc.max_label)
        c->p.u.ctc.max_label = (int32_t)c->p.t[DN_X].dims[0];
}

static cudnnStatus_t finish(dn_opcall *c, const void *probs, void *costs, void *gradients, void *workspace, size_t workspace_size)
{
    if (c->st == DN_SUCCESS && (dn_want(probs, "probs") || dn_want(costs, "costs")))
        c->st = DN_BAD_PARAM;
    if (c->st == DN_SUCCESS && gradients == probs)
        c->st = dn_fail(DN_BAD_PARAM, "gradients is probs; the loss is not computed in place");
    if (c->st == DN_SUCCESS && (uintptr_t)workspace % 16)
        c->st = dn_fail(DN_BAD_PARAM, "workspace is %p; it must be a multiple of 16", workspace);
    c->a.aux[DN_AUX_COSTS] = costs;
    c->a.workspace = workspace;
    c->a.workspace_size = workspace_size;
    return dn_opcall_run(c, dn_ctc_check);
}

static cudnnStatus_t answer_size(dn_opcall *c, size_t *size)
{
    if (c->st == DN_SUCCESS)
        c->st = dn_want(size, "sizeInBytes");
    return dn_answer(c->st == DN_SUCCESS ? dn_plan_workspace(c->h, &c->p, size) : c->st);
}

cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossWorkspaceSize(cudnnHandle_t handle, const cudnnTensorDescriptor_t probsDesc,
    const cudnnTensorDescriptor_t gradientsDesc, const int *labels, const int *labelLengths, const int *inputLengths,
    cudnnCTCLossAlgo_t algo, cudnnCTCLossDescriptor_t ctcLossDesc, size_t *sizeInBytes)
{
    dn_call_begin("cudnnGetCTCLossWorkspaceSize");
    dn_opcall c;
    begin(&c, handle, probsDesc, NULL, gradientsDesc, NULL, gradientsDesc != NULL, algo, ctcLossDesc);
    check_host_arrays(&c, labels, labelLengths, inputLengths);
    return answer_size(&c, sizeInBytes);
}

cudnnStatus_t CUDNNWINAPI cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t algo, cudnnCTCLossDescriptor_t ctcLossDesc,
    const cudnnTensorDescriptor_t probsDesc, const cudnnTensorDescriptor_t gradientsDesc, size_t *sizeInBytes)
{
    dn_call_begin("cudnnGetCTCLossWorkspaceSize_v8");
    dn_opcall c;
    begin(&c, handle, probsDesc, NULL, gradientsDesc, NULL, gradientsDesc != NULL, algo, ctcLossDesc);
    default_room(&c);
    return answer_size(&c, sizeInBytes);
}

cudnnStatus_t CUDNNWINAPI cudnnCTCLoss(cudnnHandle_t handle, const cudnnTensorDescriptor_t probsDesc, const void *probs,
    const int hostLabels[], const int hostLabelLengths[], const int hostInputLengths[], void *costs,
    const cudnnTensorDescriptor_t gradientsDesc, void *gradients, cudnnCTCLossAlgo_t algo, cudnnCTCLossDescriptor_t ctcLossDesc,
    void *workspace, size_t workSpaceSizeInBytes)
{
    dn_call_begin("cudnnCTCLoss");
    dn_opcall c;
    begin(&c, handle, probsDesc, probs, gradientsDesc, gradients, gradients != NULL, algo, ctcLossDesc);
    check_host_arrays(&c, hostLabels, hostLabelLengths, hostInputLengths);
    c.a.labels = hostLabels;
    c.a.label_lengths = hostLabelLengths;
    c.a.lengths = hostInputLengths;
    return finish(&c, probs, costs, gradients, workspace, workSpaceSizeInBytes);
}

cudnnStatus_t CUDNNWINAPI cudnnCTCLoss_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t algo, cudnnCTCLossDescriptor_t ctcLossDesc,
    const cudnnTensorDescriptor_t probsDesc, const void *probs, const int labels[], const int labelLengths[], const int inputLengths[],
    void *costs, const cudnnTensorDescriptor_t gradientsDesc, void *gradients, size_t workSpaceSizeInBytes, void *workspace)
{
    dn_call_begin("cudnnCTCLoss_v8");
    dn_opcall c;
    begin(&c, handle, probsDesc, probs, gradientsDesc, gradients, gradients != NULL, algo, ctcLossDesc);
    if (c.st == DN_SUCCESS && (dn_want(labels, "labels") || dn_want(labelLengths, "labelLengths") || dn_want(inputLengths, "inputLengths")))
        c.st = DN_BAD_PARAM;
    default_room(&c);
    c.a.aux[DN_AUX_LABELS] = (void *)(uintptr_t)labels;
    c.a.aux[DN_AUX_LABEL_LENGTHS] = (void *)(uintptr_t)labelLengths;
    c.a.aux[DN_AUX_INPUT_LENGTHS] = (void *)(uintptr_t)inputLengths;
    return finish(&c, probs, costs, gradients, workspace, workSpaceSizeInBytes);
}
