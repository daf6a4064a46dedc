/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The convolution descriptor, and the size of an output. Group count, math type and reorder type live through a Set call, as with
 * the vendor's library; a Set of no dimensions is accepted as there, and refused where it is used. */
#include "conv.h"

#include <string.h>

cudnnStatus_t CUDNNWINAPI cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *convDesc)
{
    dn_call_begin("cudnnCreateConvolutionDescriptor");
    void *made = NULL;
    dn_status st = dn_object_create(&dn_conv_pool, convDesc ? &made : NULL, "convDesc");
    if (st != DN_SUCCESS)
        return dn_answer(st);
    dn_conv_desc *d = made;
    d->p.groups = 1;
    *convDesc = made;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convDesc)
{
    dn_call_begin("cudnnDestroyConvolutionDescriptor");
    return dn_answer(dn_object_destroy(&dn_conv_pool, convDesc, "convDesc"));
}

/* --- single properties --- */

cudnnStatus_t CUDNNWINAPI cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convDesc, cudnnMathType_t mathType)
{
    dn_call_begin("cudnnSetConvolutionMathType");
    dn_conv_desc *d = dn_object_of(&dn_conv_pool, convDesc, "convDesc");
    if (!d || dn_want_range((int)mathType, CUDNN_DEFAULT_MATH, CUDNN_FMA_MATH, "mathType", "a cudnnMathType_t, 0 to 3"))
        return dn_answer(DN_BAD_PARAM);
    d->math = (int32_t)mathType;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionMathType(cudnnConvolutionDescriptor_t convDesc, cudnnMathType_t *mathType)
{
    dn_call_begin("cudnnGetConvolutionMathType");
    const dn_conv_desc *d = dn_object_of(&dn_conv_pool, convDesc, "convDesc");
    if (!d || dn_want(mathType, "mathType"))
        return dn_answer(DN_BAD_PARAM);
    *mathType = (cudnnMathType_t)d->math;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convDesc, int groupCount)
{
    dn_call_begin("cudnnSetConvolutionGroupCount");
    dn_conv_desc *d = dn_object_of(&dn_conv_pool, convDesc, "convDesc");
    if (!d || dn_want_range(groupCount, 1, INT32_MAX, "groupCount", "1 or more"))
        return dn_answer(DN_BAD_PARAM);
    d->p.groups = groupCount;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionGroupCount(cudnnConvolutionDescriptor_t convDesc, int *groupCount)
{
    dn_call_begin("cudnnGetConvolutionGroupCount");
    const dn_conv_desc *d = dn_object_of(&dn_conv_pool, convDesc, "convDesc");
    if (!d || dn_want(groupCount, "groupCount"))
        return dn_answer(DN_BAD_PARAM);
    *groupCount = d->p.groups;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnSetConvolutionReorderType(cudnnConvolutionDescriptor_t convDesc, cudnnReorderType_t reorderType)
{
    dn_call_begin("cudnnSetConvolutionReorderType");
    dn_conv_desc *d = dn_object_of(&dn_conv_pool, convDesc, "convDesc");
    if (!d || dn_want_range((int)reorderType, CUDNN_DEFAULT_REORDER, CUDNN_NO_REORDER, "reorderType", "a cudnnReorderType_t, 0 or 1"))
        return dn_answer(DN_BAD_PARAM);
    d->reorder = (int32_t)reorderType;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionReorderType(cudnnConvolutionDescriptor_t convDesc, cudnnReorderType_t *reorderType)
{
    dn_call_begin("cudnnGetConvolutionReorderType");
    const dn_conv_desc *d = dn_object_of(&dn_conv_pool, convDesc, "convDesc");
    if (!d || dn_want(reorderType, "reorderType"))
        return dn_answer(DN_BAD_PARAM);
    *reorderType = (cudnnReorderType_t)d->reorder;
    return dn_answer(DN_SUCCESS);
}

/* --- geometry --- */

/* Names of the arguments, for the texts; with array they are an array's, and get an index. */
typedef struct geometry_names {
    const char *pad[2], *stride[2], *dilation[2];
    bool array;
} geometry_names;

static const geometry_names names_2d = {{"pad_h", "pad_w"}, {"u", "v"}, {"dilation_h", "dilation_w"}, false};
static const geometry_names names_nd = {{"padA"}, {"filterStrideA"}, {"dilationA"}, true};

static dn_status check_least(const int *v, int n, int least, const char *const *name, bool array)
{
    for (int j = 0; j < n; j++)
        if (v[j] < least) {
            if (array)
                return dn_fail(DN_BAD_PARAM, "%s[%d] is %d; it must be %d or more", name[0], j, v[j], least);
            return dn_fail(DN_BAD_PARAM, "%s is %d; it must be %d or more", name[j], v[j], least);
        }
    return DN_SUCCESS;
}

static dn_status set_geometry(dn_conv_desc *d, int n, const int *pad, const int *stride, const int *dilation, int mode, int compute,
                              const geometry_names *names)
{
    if (check_least(pad, n, 0, names->pad, names->array) || check_least(stride, n, 1, names->stride, names->array)
        || check_least(dilation, n, 1, names->dilation, names->array)
        || dn_want_range(mode, CUDNN_CONVOLUTION, CUDNN_CROSS_CORRELATION, "mode", "a cudnnConvolutionMode_t, 0 or 1"))
        return DN_BAD_PARAM;
    if (compute != CUDNN_DATA_FLOAT && compute != CUDNN_DATA_DOUBLE && compute != CUDNN_DATA_HALF && compute != CUDNN_DATA_INT32)
        return dn_fail(DN_BAD_PARAM, "computeType is %d; it must be CUDNN_DATA_FLOAT, _DOUBLE, _HALF or _INT32", compute);
    dn_conv_param p = {.spatial = n, .mode = mode, .groups = d->p.groups};
    for (int j = 0; j < n; j++) {
        p.pad[j] = pad[j];
        p.stride[j] = stride[j];
        p.dilation[j] = dilation[j];
    }
    d->p = p;
    d->compute = compute;
    d->set = 1;
    return DN_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convDesc, int pad_h, int pad_w, int u, int v,
    int dilation_h, int dilation_w, cudnnConvolutionMode_t mode, cudnnDataType_t computeType)
{
    dn_call_begin("cudnnSetConvolution2dDescriptor");
    dn_conv_desc *d = dn_object_of(&dn_conv_pool, convDesc, "convDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    const int pad[2] = {pad_h, pad_w}, stride[2] = {u, v}, dilation[2] = {dilation_h, dilation_w};
    return dn_answer(set_geometry(d, 2, pad, stride, dilation, (int)mode, (int)computeType, &names_2d));
}

static dn_status check_length(int n, const char *name)
{
    if (n < 0)
        return dn_fail(DN_BAD_PARAM, "%s is %d; it must be 0 or more", name, n);
    if (n > DN_SPATIAL_MAX)
        return dn_fail(DN_NOT_SUPPORTED, "%s is %d; at most CUDNN_DIM_MAX - 2 = %d spatial dimensions are taken", name, n,
                       DN_SPATIAL_MAX);
    return DN_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convDesc, int arrayLength, const int padA[],
    const int filterStrideA[], const int dilationA[], cudnnConvolutionMode_t mode, cudnnDataType_t computeType)
{
    dn_call_begin("cudnnSetConvolutionNdDescriptor");
    dn_conv_desc *d = dn_object_of(&dn_conv_pool, convDesc, "convDesc");
    dn_status st = d ? check_length(arrayLength, "arrayLength") : DN_BAD_PARAM;
    if (st == DN_SUCCESS && (dn_want(padA, "padA") || dn_want(filterStrideA, "filterStrideA") || dn_want(dilationA, "dilationA")))
        st = DN_BAD_PARAM;
    if (st == DN_SUCCESS)
        st = set_geometry(d, arrayLength, padA, filterStrideA, dilationA, (int)mode, (int)computeType, &names_nd);
    return dn_answer(st);
}

/* A descriptor of more or fewer dimensions gives the first two, or zeros, as with the vendor's library. */
cudnnStatus_t CUDNNWINAPI cudnnGetConvolution2dDescriptor(const cudnnConvolutionDescriptor_t convDesc, int *pad_h, int *pad_w, int *u,
    int *v, int *dilation_h, int *dilation_w, cudnnConvolutionMode_t *mode, cudnnDataType_t *computeType)
{
    dn_call_begin("cudnnGetConvolution2dDescriptor");
    const dn_conv_desc *d = dn_object_of(&dn_conv_pool, convDesc, "convDesc");
    if (!d || dn_want(pad_h, "pad_h") || dn_want(pad_w, "pad_w") || dn_want(u, "u") || dn_want(v, "v")
        || dn_want(dilation_h, "dilation_h") || dn_want(dilation_w, "dilation_w") || dn_want(mode, "mode")
        || dn_want(computeType, "computeType"))
        return dn_answer(DN_BAD_PARAM);
    *pad_h = d->p.pad[0];
    *pad_w = d->p.pad[1];
    *u = d->p.stride[0];
    *v = d->p.stride[1];
    *dilation_h = d->p.dilation[0];
    *dilation_w = d->p.dilation[1];
    *mode = (cudnnConvolutionMode_t)d->p.mode;
    *computeType = (cudnnDataType_t)d->compute;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionNdDescriptor(const cudnnConvolutionDescriptor_t convDesc, int arrayLengthRequested,
    int *arrayLength, int padA[], int strideA[], int dilationA[], cudnnConvolutionMode_t *mode, cudnnDataType_t *computeType)
{
    dn_call_begin("cudnnGetConvolutionNdDescriptor");
    const dn_conv_desc *d = dn_object_of(&dn_conv_pool, convDesc, "convDesc");
    dn_status st = d ? check_length(arrayLengthRequested, "arrayLengthRequested") : DN_BAD_PARAM;
    if (st == DN_SUCCESS && (dn_want(arrayLength, "arrayLength") || dn_want(mode, "mode") || dn_want(computeType, "computeType")))
        st = DN_BAD_PARAM;
    if (st == DN_SUCCESS && arrayLengthRequested
        && (dn_want(padA, "padA") || dn_want(strideA, "strideA") || dn_want(dilationA, "dilationA")))
        st = DN_BAD_PARAM;
    if (st != DN_SUCCESS)
        return dn_answer(st);
    int n = arrayLengthRequested < d->p.spatial ? arrayLengthRequested : d->p.spatial;
    for (int j = 0; j < n; j++) {
        padA[j] = d->p.pad[j];
        strideA[j] = d->p.stride[j];
        dilationA[j] = d->p.dilation[j];
    }
    *arrayLength = d->p.spatial;
    *mode = (cudnnConvolutionMode_t)d->p.mode;
    *computeType = (cudnnDataType_t)d->compute;
    return dn_answer(DN_SUCCESS);
}

/* --- output size --- */

/* out[rank] for x and w under conv. */
static dn_status output_dims(const dn_conv_desc *conv, const dn_tensor *x, const dn_tensor *w, int *out)
{
    const dn_conv_param *u = &conv->p;
    if (x->rank != u->spatial + 2 || w->rank != x->rank)
        return dn_fail(DN_BAD_PARAM, "inputTensorDesc has %d dimensions, filterDesc %d; a convolution of %d spatial dimensions needs %d",
                       x->rank, w->rank, u->spatial, u->spatial + 2);
    if (w->dims[1] * u->groups != x->dims[1])
        return dn_fail(DN_BAD_PARAM, "inputTensorDesc has %lld channels, filterDesc wants %lld x %d group%s", (long long)x->dims[1],
                       (long long)w->dims[1], u->groups, u->groups == 1 ? "" : "s");
    out[0] = (int)x->dims[0];
    out[1] = (int)w->dims[0];
    for (int j = 0; j < u->spatial; j++) {
        int64_t size = dn_conv_out_dim(x->dims[j + 2], w->dims[j + 2], u->pad[j], u->stride[j], u->dilation[j]);
        if (size < 1 || size > INT32_MAX)
            return dn_fail(DN_BAD_PARAM,
                           "dimension %d of the output would be %lld: size %lld with padding %d, window %lld, stride %d, dilation %d",
                           j + 2, (long long)size, (long long)x->dims[j + 2], u->pad[j], (long long)w->dims[j + 2], u->stride[j],
                           u->dilation[j]);
        out[j + 2] = (int)size;
    }
    return DN_SUCCESS;
}

/* The three descriptors, and the sizes; 0 dimensions where one of them is wrong. */
static int output_rank(const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t inputTensorDesc,
                       const cudnnFilterDescriptor_t filterDesc, int *out)
{
    const dn_conv_desc *conv = dn_conv_of(convDesc, "convDesc");
    const dn_tensor *x = conv ? dn_tensor_of(inputTensorDesc, "inputTensorDesc") : NULL;
    const dn_filter_desc *w = x ? dn_filter_of(filterDesc, "filterDesc") : NULL;
    return w && output_dims(conv, x, &w->t, out) == DN_SUCCESS ? x->rank : 0;
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolution2dForwardOutputDim(const cudnnConvolutionDescriptor_t convDesc,
    const cudnnTensorDescriptor_t inputTensorDesc, const cudnnFilterDescriptor_t filterDesc, int *n, int *c, int *h, int *w)
{
    dn_call_begin("cudnnGetConvolution2dForwardOutputDim");
    int out[DN_RANK_MAX], rank = output_rank(convDesc, inputTensorDesc, filterDesc, out);
    if (!rank || dn_want(n, "n") || dn_want(c, "c") || dn_want(h, "h") || dn_want(w, "w"))
        return dn_answer(DN_BAD_PARAM);
    if (rank != 4)
        return dn_answer(dn_fail(DN_BAD_PARAM, "inputTensorDesc has %d dimensions; it must have 4", rank));
    *n = out[0];
    *c = out[1];
    *h = out[2];
    *w = out[3];
    return dn_answer(DN_SUCCESS);
}

/* Fewer than all sizes may be asked for, as with the vendor's library. */
cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionNdForwardOutputDim(const cudnnConvolutionDescriptor_t convDesc,
    const cudnnTensorDescriptor_t inputTensorDesc, const cudnnFilterDescriptor_t filterDesc, int nbDims, int tensorOuputDimA[])
{
    dn_call_begin("cudnnGetConvolutionNdForwardOutputDim");
    int out[DN_RANK_MAX], rank = output_rank(convDesc, inputTensorDesc, filterDesc, out);
    if (!rank || dn_want(tensorOuputDimA, "tensorOuputDimA"))
        return dn_answer(DN_BAD_PARAM);
    if (nbDims < 0 || nbDims > rank)
        return dn_answer(dn_fail(DN_BAD_PARAM, "nbDims is %d; it must be %d, the rank of inputTensorDesc, or less", nbDims, rank));
    memcpy(tensorOuputDimA, out, (size_t)nbDims * sizeof *out);
    return dn_answer(DN_SUCCESS);
}
