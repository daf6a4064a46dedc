/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A strided backward-data convolution as one of stride 1 on folded channels. In one dimension with stride s, padding p, filter R:
 * let P = ceil(p / s) and a = sP - p. Output o under tap r reads input o s - p + r = s (o - P + q) + m with r + a = s q + m. So
 *     the input is folded by s: channel m of place h is input s h + m;
 *     the filter gets a zeros before, and as many after as make its length a multiple of s, and is folded: length Q = ceil((R + a) / s);
 *     the convolution has padding P and stride 1; it has as many outputs as the strided one, or more, for which dy is 0.
 * The vendor's 9.19, as measured, besides pads K and the folded channels to multiples of 8, and so is done here.
 * Folded channel m * C + c has its place m outermost, so what belongs to one of several groups is not together in the folded
 * tensor, and no grouped convolution of it is the strided one: refused. Where no stride is above 1 nothing is folded, and groups
 * are kept, without the padding, which would move channels into the wrong group. */
#include "api.h"

#include "transform.h"

#include <string.h>

enum { CHANNELS = 8 };

typedef struct fold_call {
    dn_problem p;                      /* the strided one */
    int32_t filter_before[DN_RANK_MAX], filter_after[DN_RANK_MAX], diff_after[DN_RANK_MAX], grad_after[DN_RANK_MAX],
        unfold_after[DN_RANK_MAX], none[DN_RANK_MAX];
    uint32_t by[DN_SPATIAL_MAX];
    dn_conv_param conv;
    dn_tensor filter, diff, grad;      /* dims alone, then strides too */
} fold_call;

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

static dn_status check(const dn_problem *p, int format)
{
    const dn_conv_param *u = &p->u.conv;
    dn_status st = dn_conv_check(p);
    if (st != DN_SUCCESS)
        return st;
    if (format == CUDNN_TENSOR_NCHW_VECT_C || p->t[DN_W].vect != 1 || p->t[DN_X].vect != 1 || p->t[DN_Y].vect != 1)
        return dn_fail(DN_NOT_SUPPORTED, "a vectorised layout cannot be folded; transformFormat must be NCHW or NHWC");
    for (int j = 0; j < u->spatial; j++)
        if (u->stride[j] > 1 && (u->dilation[j] > 1 || u->mode == 0))
            return dn_fail(DN_NOT_SUPPORTED, "stride %d is %d with dilation %d and %s; folding needs dilation 1 and CROSS_CORRELATION", j,
                           u->stride[j], u->dilation[j], u->mode == 0 ? "CONVOLUTION" : "CROSS_CORRELATION");
    for (int j = 0; j < u->spatial; j++)
        if (u->stride[j] > 1 && u->groups > 1)
            return dn_fail(DN_NOT_SUPPORTED, "stride %d is %d with %d groups; folding, which puts the channels of all groups side by"
                           " side, needs 1", j, u->stride[j], u->groups);
    return DN_SUCCESS;
}

/* Dimension j of space; false where a number does not fit the descriptors. */
static bool fold_dim(fold_call *c, int j)
{
    const dn_conv_param *u = &c->p.u.conv;
    int d = j + 2;
    int64_t s = u->stride[j], pad = (u->pad[j] + s - 1) / s, before = pad * s - u->pad[j];
    int64_t taps = (c->p.t[DN_W].dims[d] + before + s - 1) / s, in = (c->p.t[DN_X].dims[d] + s - 1) / s;
    int64_t out = dn_conv_out_dim(in, taps, pad, 1, u->dilation[j]);
    c->by[j] = (uint32_t)s;
    c->filter_before[d] = (int32_t)before;
    c->filter_after[d] = (int32_t)(taps * s - before - c->p.t[DN_W].dims[d]);
    c->diff_after[d] = (int32_t)(out - c->p.t[DN_Y].dims[d]);
    c->unfold_after[d] = (int32_t)(c->p.t[DN_X].dims[d] - in * s);
    c->filter.dims[d] = taps;
    c->grad.dims[d] = in;
    c->diff.dims[d] = out;
    c->conv.pad[j] = (int32_t)pad;
    c->conv.stride[j] = 1;
    return out <= INT32_MAX;
}

static dn_status fold(fold_call *c)
{
    const dn_conv_param *u = &c->p.u.conv;
    const dn_tensor *x = &c->p.t[DN_X], *w = &c->p.t[DN_W];
    int64_t factor = 1, unit = CHANNELS, k = w->dims[0], chans = w->dims[1], folded;
    c->conv = *u;
    bool fits = true;
    for (int j = 0; j < u->spatial; j++)
        fits = fold_dim(c, j) && fits && !__builtin_mul_overflow(factor, (int64_t)u->stride[j], &factor);
    while (unit > 1 && factor % (CHANNELS / unit * 2) == 0)  /* channels to this multiple make the folded ones one of 8 */
        unit /= 2;
    if (u->groups == 1) {
        k = round_up(k, CHANNELS);
        chans = round_up(chans, unit);
    }
    if (!fits || __builtin_mul_overflow(chans * u->groups, factor, &folded) || folded > INT32_MAX || k > INT32_MAX)
        return dn_fail(DN_NOT_SUPPORTED, "the folded tensors have a dimension above 2^31 - 1");
    c->filter.dims[0] = k;
    c->filter.dims[1] = folded / u->groups;
    c->diff.dims[0] = c->grad.dims[0] = x->dims[0];
    c->diff.dims[1] = k;
    c->grad.dims[1] = folded;
    c->filter_after[0] = c->diff_after[1] = (int32_t)(k - w->dims[0]);
    c->filter_after[1] = c->grad_after[1] = (int32_t)(chans - w->dims[1]);
    c->unfold_after[1] = -c->grad_after[1];
    return DN_SUCCESS;
}

static dn_status lay_out(dn_tensor *t, const dn_tensor *like, int format)
{
    t->type = like->type;
    t->rank = like->rank;
    t->vect = 1;
    return dn_tensor_format(t, format);
}

static void set_transform(dn_transform_desc *d, const fold_call *c, int format, const int32_t *before, const int32_t *after, bool folds,
                          int direction)
{
    d->rank = c->p.t[DN_X].rank;
    d->format = format;
    d->direction = direction;
    memcpy(d->pad_before, before, sizeof d->pad_before);
    memcpy(d->pad_after, after, sizeof d->pad_after);
    memset(d->fold, 0, sizeof d->fold);
    if (folds)
        memcpy(d->fold, c->by, sizeof d->fold);
    d->set = 1;
}

static void set_tensor(dn_tensor_desc *d, const dn_tensor *t, int format)
{
    d->t = *t;
    d->format = format;
    d->set = 1;
}

/* The results' objects; all are looked at before one is written. */
typedef struct fold_out {
    dn_filter_desc *filter;
    dn_tensor_desc *diff, *grad;
    dn_conv_desc *conv;
    dn_transform_desc *filter_fold, *diff_pad, *grad_fold, *grad_unfold;
} fold_out;

static void write_out(const fold_out *o, const fold_call *c, const dn_conv_desc *conv, int format)
{
    int back = dn_tensor_is_packed_nhwc(&c->p.t[DN_X]) && !dn_tensor_is_packed(&c->p.t[DN_X]) ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    o->filter->t = c->filter;
    o->filter->format = format;
    o->filter->set = 1;
    set_tensor(o->diff, &c->diff, format);
    set_tensor(o->grad, &c->grad, format);
    o->conv->p = c->conv;
    o->conv->math = conv->math;
    o->conv->compute = conv->compute;
    o->conv->reorder = conv->reorder;
    o->conv->set = 1;
    set_transform(o->filter_fold, c, format, c->filter_before, c->filter_after, true, CUDNN_TRANSFORM_FOLD);
    set_transform(o->diff_pad, c, format, c->none, c->diff_after, false, CUDNN_TRANSFORM_FOLD);
    set_transform(o->grad_fold, c, format, c->none, c->grad_after, true, CUDNN_TRANSFORM_FOLD);
    set_transform(o->grad_unfold, c, back, c->none, c->unfold_after, true, CUDNN_TRANSFORM_UNFOLD);
}

cudnnStatus_t CUDNNWINAPI cudnnGetFoldedConvBackwardDataDescriptors(
    const cudnnHandle_t handle, const cudnnFilterDescriptor_t filterDesc, const cudnnTensorDescriptor_t diffDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t gradDesc, const cudnnTensorFormat_t transformFormat,
    cudnnFilterDescriptor_t foldedFilterDesc, cudnnTensorDescriptor_t paddedDiffDesc, cudnnConvolutionDescriptor_t foldedConvDesc,
    cudnnTensorDescriptor_t foldedGradDesc, cudnnTensorTransformDescriptor_t filterFoldTransDesc,
    cudnnTensorTransformDescriptor_t diffPadTransDesc, cudnnTensorTransformDescriptor_t gradFoldTransDesc,
    cudnnTensorTransformDescriptor_t gradUnfoldTransDesc)
{
    dn_call_begin("cudnnGetFoldedConvBackwardDataDescriptors");
    const dn_filter_desc *w = dn_handle_of(handle) ? dn_filter_of(filterDesc, "filterDesc") : NULL;
    const dn_tensor *dy = w ? dn_tensor_of(diffDesc, "diffDesc") : NULL;
    const dn_conv_desc *conv = dy ? dn_conv_of(convDesc, "convDesc") : NULL;
    const dn_tensor *dx = conv ? dn_tensor_of(gradDesc, "gradDesc") : NULL;
    fold_out o;
    if (!dx || dn_want_range((int)transformFormat, 0, 2, "transformFormat", "a cudnnTensorFormat_t, 0 to 2") ||
        !(o.filter = dn_object_of(&dn_filter_pool, foldedFilterDesc, "foldedFilterDesc")) ||
        !(o.diff = dn_object_of(&dn_tensor_pool, paddedDiffDesc, "paddedDiffDesc")) ||
        !(o.conv = dn_object_of(&dn_conv_pool, foldedConvDesc, "foldedConvDesc")) ||
        !(o.grad = dn_object_of(&dn_tensor_pool, foldedGradDesc, "foldedGradDesc")) ||
        !(o.filter_fold = dn_object_of(&dn_transform_pool, filterFoldTransDesc, "filterFoldTransDesc")) ||
        !(o.diff_pad = dn_object_of(&dn_transform_pool, diffPadTransDesc, "diffPadTransDesc")) ||
        !(o.grad_fold = dn_object_of(&dn_transform_pool, gradFoldTransDesc, "gradFoldTransDesc")) ||
        !(o.grad_unfold = dn_object_of(&dn_transform_pool, gradUnfoldTransDesc, "gradUnfoldTransDesc")))
        return dn_answer(DN_BAD_PARAM);
    fold_call c;
    memset(&c, 0, sizeof c);
    dn_problem_init(&c.p, DN_OP_CONV, DN_DIR_BWD_DATA);
    c.p.u.conv = conv->p;
    c.p.t[DN_W] = w->t;
    c.p.t[DN_Y] = *dy;
    c.p.t[DN_X] = *dx;
    dn_status st = check(&c.p, (int)transformFormat);
    if (st == DN_SUCCESS)
        st = fold(&c);
    if (st != DN_SUCCESS || (st = lay_out(&c.filter, &w->t, (int)transformFormat)) != DN_SUCCESS ||
        (st = lay_out(&c.diff, dy, (int)transformFormat)) != DN_SUCCESS || (st = lay_out(&c.grad, dx, (int)transformFormat)) != DN_SUCCESS)
        return dn_answer(st);
    write_out(&o, &c, conv, (int)transformFormat);
    return CUDNN_STATUS_SUCCESS;
}
