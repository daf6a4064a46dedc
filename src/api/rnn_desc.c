/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The descriptor of a recurrent network as cudnnSetRNNDescriptor_v8 sets it, and clipping. A second Set takes clipping back, as the
 * vendor's does. */
#include "rnn.h"

const dn_rnn_desc *dn_rnn_of(const cudnnRNNDescriptor_t desc)
{
    const dn_rnn_desc *d = dn_object_of(&dn_rnn_pool, desc, "rnnDesc");
    if (d && d->set == DN_RNN_NEVER) {
        dn_fail(DN_BAD_PARAM, "rnnDesc was created but never set");
        return NULL;
    }
    return d;
}

const dn_rnn_desc *dn_rnn_v8_of(const cudnnRNNDescriptor_t desc)
{
    const dn_rnn_desc *d = dn_rnn_of(desc);
    if (d && d->set != DN_RNN_SET_V8) {
        dn_fail(DN_BAD_PARAM, "rnnDesc was set by cudnnSetRNNDescriptor_v6; this function needs cudnnSetRNNDescriptor_v8");
        return NULL;
    }
    return d;
}

cudnnStatus_t CUDNNWINAPI cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t *rnnDesc)
{
    dn_call_begin("cudnnCreateRNNDescriptor");
    void *made = NULL;
    dn_status st = dn_object_create(&dn_rnn_pool, rnnDesc ? &made : NULL, "rnnDesc");
    if (st != DN_SUCCESS)
        return dn_answer(st);
    dn_rnn_desc *d = made;
    d->p.bias = DN_RNN_BIAS_DOUBLE;
    *rnnDesc = made;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t rnnDesc)
{
    dn_call_begin("cudnnDestroyRNNDescriptor");
    return dn_answer(dn_object_destroy(&dn_rnn_pool, rnnDesc, "rnnDesc"));
}

dn_status dn_rnn_type(int type, const char *name, int32_t *out)
{
    if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_DOUBLE && type != CUDNN_DATA_HALF && type != CUDNN_DATA_BFLOAT16)
        return dn_fail(DN_NOT_SUPPORTED, "%s is %d; it must be CUDNN_DATA_FLOAT, _DOUBLE, _HALF or _BFLOAT16", name, type);
    *out = type;
    return DN_SUCCESS;
}

/* Sums are made in f32, or f64 for f64; half sums may be asked for and get f32 ones. */
static dn_status check_types(int type, int prec)
{
    int32_t known;
    dn_status st = dn_rnn_type(type, "dataType", &known);
    if (st != DN_SUCCESS)
        return st;
    if (prec == (type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT)
        || (type == CUDNN_DATA_HALF && prec == CUDNN_DATA_HALF))
        return DN_SUCCESS;
    return dn_fail(DN_NOT_SUPPORTED, "mathPrec is %d for dataType %d; it must be CUDNN_DATA_DOUBLE for double, _FLOAT for the others, or "
                   "_HALF for half", prec, type);
}

static dn_status check_enums(const dn_rnn_desc *d)
{
    if (dn_want_range(d->algo, 0, CUDNN_RNN_ALGO_COUNT - 1, "algo", "a cudnnRNNAlgo_t, 0 to 3")
        || dn_want_range(d->p.cell, CUDNN_RNN_RELU, CUDNN_GRU, "cellMode", "a cudnnRNNMode_t, 0 to 3")
        || dn_want_range(d->p.bias, CUDNN_RNN_NO_BIAS, CUDNN_RNN_SINGLE_REC_BIAS, "biasMode", "a cudnnRNNBiasMode_t, 0 to 3")
        || dn_want_range(d->p.bidirectional, CUDNN_UNIDIRECTIONAL, CUDNN_BIDIRECTIONAL, "dirMode", "a cudnnDirectionMode_t, 0 or 1")
        || dn_want_range(d->p.skip, CUDNN_LINEAR_INPUT, CUDNN_SKIP_INPUT, "inputMode", "a cudnnRNNInputMode_t, 0 or 1")
        || dn_want_range(d->math, CUDNN_DEFAULT_MATH, CUDNN_FMA_MATH, "mathType", "a cudnnMathType_t, 0 to 3"))
        return DN_BAD_PARAM;
    return DN_SUCCESS;
}

static dn_status check_sizes(const dn_rnn_desc *d)
{
    const dn_rnn_param *p = &d->p;
    if (dn_want_range(p->input, 1, INT32_MAX, "inputSize", "1 or more")
        || dn_want_range(p->hidden, 1, INT32_MAX, "hiddenSize", "1 or more")
        || dn_want_range(p->proj, 1, INT32_MAX, "projSize", "1 or more, hiddenSize for no projection")
        || dn_want_range(p->layers, 1, INT32_MAX, "numLayers", "1 or more")
        || dn_want_range(d->flags, 0, CUDNN_RNN_PADDED_IO_ENABLED, "auxFlags", "CUDNN_RNN_PADDED_IO_DISABLED or _ENABLED"))
        return DN_BAD_PARAM;
    if (p->proj > p->hidden)
        return dn_fail(DN_NOT_SUPPORTED, "projSize is %d, hiddenSize %d; it must not be larger", p->proj, p->hidden);
    if (p->proj != p->hidden && p->cell != DN_RNN_LSTM)
        return dn_fail(DN_NOT_SUPPORTED, "projSize is %d, hiddenSize %d; only an LSTM has a projection", p->proj, p->hidden);
    return DN_SUCCESS;
}

/* A dropout descriptor may be set, and even destroyed, before the network runs: it is looked at then. Here it must be one, or NULL. */
cudnnStatus_t CUDNNWINAPI cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNAlgo_t algo, cudnnRNNMode_t cellMode,
    cudnnRNNBiasMode_t biasMode, cudnnDirectionMode_t dirMode, cudnnRNNInputMode_t inputMode, cudnnDataType_t dataType,
    cudnnDataType_t mathPrec, cudnnMathType_t mathType, int32_t inputSize, int32_t hiddenSize, int32_t projSize, int32_t numLayers,
    cudnnDropoutDescriptor_t dropoutDesc, uint32_t auxFlags)
{
    dn_call_begin("cudnnSetRNNDescriptor_v8");
    dn_rnn_desc *d = dn_object_of(&dn_rnn_pool, rnnDesc, "rnnDesc");
    if (!d || (dropoutDesc && !dn_object_of(&dn_dropout_pool, dropoutDesc, "dropoutDesc")))
        return dn_answer(DN_BAD_PARAM);
    dn_rnn_desc n = {
        .cookie = d->cookie, .set = DN_RNN_SET_V8, .algo = (int32_t)algo, .prec = (int32_t)mathPrec, .math = (int32_t)mathType,
        .math_v8 = (int32_t)mathType, .flags = auxFlags, .dropout = dropoutDesc,
        .p = { .cell = (int32_t)cellMode, .bidirectional = (int32_t)dirMode, .layers = numLayers, .input = inputSize,
               .hidden = hiddenSize, .proj = projSize, .skip = (int32_t)inputMode, .bias = (int32_t)biasMode },
    };
    dn_status st = check_enums(&n);
    if (st == DN_SUCCESS)
        st = check_sizes(&n);
    if (st == DN_SUCCESS)
        st = check_types((int)dataType, (int)mathPrec);
    if (st != DN_SUCCESS)
        return dn_answer(st);
    n.type = (int32_t)dataType;
    *d = n;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNDescriptor_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNAlgo_t *algo, cudnnRNNMode_t *cellMode,
    cudnnRNNBiasMode_t *biasMode, cudnnDirectionMode_t *dirMode, cudnnRNNInputMode_t *inputMode, cudnnDataType_t *dataType,
    cudnnDataType_t *mathPrec, cudnnMathType_t *mathType, int32_t *inputSize, int32_t *hiddenSize, int32_t *projSize,
    int32_t *numLayers, cudnnDropoutDescriptor_t *dropoutDesc, uint32_t *auxFlags)
{
    dn_call_begin("cudnnGetRNNDescriptor_v8");
    const dn_rnn_desc *d = dn_object_of(&dn_rnn_pool, rnnDesc, "rnnDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    if (d->set != DN_RNN_SET_V8)
        return dn_answer(dn_fail(DN_NOT_INITIALIZED, "rnnDesc was not set by cudnnSetRNNDescriptor_v8"));
#define GIVE(out, type, value) do { if (out) *(out) = (type)(value); } while (0)
    GIVE(algo, cudnnRNNAlgo_t, d->algo);
    GIVE(cellMode, cudnnRNNMode_t, d->p.cell);
    GIVE(biasMode, cudnnRNNBiasMode_t, d->p.bias);
    GIVE(dirMode, cudnnDirectionMode_t, d->p.bidirectional);
    GIVE(inputMode, cudnnRNNInputMode_t, d->p.skip);
    GIVE(dataType, cudnnDataType_t, d->type);
    GIVE(mathPrec, cudnnDataType_t, d->prec);
    GIVE(mathType, cudnnMathType_t, d->math_v8);
    GIVE(inputSize, int32_t, d->p.input);
    GIVE(hiddenSize, int32_t, d->p.hidden);
    GIVE(projSize, int32_t, d->p.proj);
    GIVE(numLayers, int32_t, d->p.layers);
    GIVE(dropoutDesc, cudnnDropoutDescriptor_t, d->dropout);
    GIVE(auxFlags, uint32_t, d->flags);
    return dn_answer(DN_SUCCESS);
}

/* --- clipping --- */

dn_status dn_rnn_clip_set(cudnnRNNDescriptor_t desc, int mode, int nan, double lclip, double rclip)
{
    dn_rnn_desc *d = dn_object_of(&dn_rnn_pool, desc, "rnnDesc");
    if (!d || dn_want_range(mode, CUDNN_RNN_CLIP_NONE, CUDNN_RNN_CLIP_MINMAX, "clipMode", "a cudnnRNNClipMode_t, 0 or 1")
        || dn_want_range(nan, CUDNN_NOT_PROPAGATE_NAN, CUDNN_PROPAGATE_NAN, "clipNanOpt", "a cudnnNanPropagation_t, 0 or 1"))
        return DN_BAD_PARAM;
    if (!(lclip <= rclip))
        return dn_fail(DN_BAD_PARAM, "lclip is %g, rclip %g; lclip must not be more, and neither NaN", lclip, rclip);
    d->p.clip = mode;
    d->p.clip_nan = nan;
    d->p.lclip = lclip;
    d->p.rclip = rclip;
    return DN_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnRNNSetClip_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t clipMode,
                                             cudnnNanPropagation_t clipNanOpt, double lclip, double rclip)
{
    dn_call_begin("cudnnRNNSetClip_v8");
    return dn_answer(dn_rnn_clip_set(rnnDesc, (int)clipMode, (int)clipNanOpt, lclip, rclip));
}

cudnnStatus_t CUDNNWINAPI cudnnRNNGetClip_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t *clipMode,
                                             cudnnNanPropagation_t *clipNanOpt, double *lclip, double *rclip)
{
    dn_call_begin("cudnnRNNGetClip_v8");
    const dn_rnn_desc *d = dn_object_of(&dn_rnn_pool, rnnDesc, "rnnDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    GIVE(clipMode, cudnnRNNClipMode_t, d->p.clip);
    GIVE(clipNanOpt, cudnnNanPropagation_t, d->p.clip_nan);
    GIVE(lclip, double, d->p.lclip);
    GIVE(rclip, double, d->p.rclip);
    return dn_answer(DN_SUCCESS);
}

#if DN_ABI >= 9

cudnnStatus_t CUDNNWINAPI cudnnRNNSetClip_v9(cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t clipMode, double lclip, double rclip)
{
    dn_call_begin("cudnnRNNSetClip_v9");
    return dn_answer(dn_rnn_clip_set(rnnDesc, (int)clipMode, CUDNN_NOT_PROPAGATE_NAN, lclip, rclip));
}

cudnnStatus_t CUDNNWINAPI cudnnRNNGetClip_v9(cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t *clipMode, double *lclip, double *rclip)
{
    dn_call_begin("cudnnRNNGetClip_v9");
    const dn_rnn_desc *d = dn_object_of(&dn_rnn_pool, rnnDesc, "rnnDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    GIVE(clipMode, cudnnRNNClipMode_t, d->p.clip);
    GIVE(lclip, double, d->p.lclip);
    GIVE(rclip, double, d->p.rclip);
    return dn_answer(DN_SUCCESS);
}

#endif
