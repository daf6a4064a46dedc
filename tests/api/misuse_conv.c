/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Misuse of the convolution: descriptors, output sizes, the calls. */
#include "misuse.h"

#define CROSS CUDNN_CROSS_CORRELATION
/* What 9.14 on a GPU answers otherwise; ours answers what the documentation names. */
#define NO_ALGO "an algorithm number that does not exist is a bad argument"
#define TYPES "types that do not agree are documented as a bad argument"
#define NO_ROOM "documented as a bad argument: there is no room for an answer"
#define SHAPES "sizes that do not agree are documented as a bad argument"

/* A table, so longer than a screen. */
void misuse_conv_desc(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    const int z[8] = {0}, i1[8] = {1, 1, 1, 1, 1, 1, 1, 1}, neg[2] = {0, -1}, second0[2] = {1, 0};
    int a[8], b[8], c[8], n;
    cudnnConvolutionMode_t mode;
    cudnnDataType_t type;
    cudnnMathType_t math;
    cudnnReorderType_t reorder;

    ROW(cudnnCreateConvolutionDescriptor, (NULL), BAD, "convDesc is NULL");
    ROW(cudnnDestroyConvolutionDescriptor, (NULL), OK, "");
    ROW(cudnnSetConvolution2dDescriptor, (NULL, 0, 0, 1, 1, 1, 1, CROSS, F32), BAD, "convDesc is NULL");
    ROW(cudnnSetConvolution2dDescriptor, (o.convt, -1, 0, 1, 1, 1, 1, CROSS, F32), BAD, "pad_h is -1");       /* L7 */
    ROW(cudnnSetConvolution2dDescriptor, (o.convt, 0, -2, 1, 1, 1, 1, CROSS, F32), BAD, "pad_w is -2");
    ROW(cudnnSetConvolution2dDescriptor, (o.convt, 0, 0, 0, 1, 1, 1, CROSS, F32), BAD, "u is 0");             /* L7 */
    ROW(cudnnSetConvolution2dDescriptor, (o.convt, 0, 0, 1, -1, 1, 1, CROSS, F32), BAD, "v is -1");
    ROW(cudnnSetConvolution2dDescriptor, (o.convt, 0, 0, 1, 1, 0, 1, CROSS, F32), BAD, "dilation_h is 0");    /* L7 */
    ROW(cudnnSetConvolution2dDescriptor, (o.convt, 0, 0, 1, 1, 1, 0, CROSS, F32), BAD, "dilation_w is 0");
    ROW(cudnnSetConvolution2dDescriptor, (o.convt, 0, 0, 1, 1, 1, 1, 2, F32), BAD, "mode", "2");
    ROW(cudnnSetConvolution2dDescriptor, (o.convt, 0, 0, 1, 1, 1, 1, -1, F32), BAD, "mode", "-1");
    ROW(cudnnSetConvolution2dDescriptor, (o.convt, 0, 0, 1, 1, 1, 1, CROSS, 99), BAD, "computeType", "99");
    ROW(cudnnSetConvolution2dDescriptor, (o.convt, 0, 0, 1, 1, 1, 1, CROSS, I8), BAD, "computeType");
    ROW(cudnnSetConvolution2dDescriptor, (o.convt, 0, 0, 1, 1, 1, 1, CROSS, CUDNN_DATA_BFLOAT16), BAD, "computeType");
    ROW(cudnnSetConvolution2dDescriptor, (o.convt, 0, 0, 1, 1, 1, 1, CROSS, CUDNN_DATA_INT32), OK, "");
    ROW(cudnnSetConvolutionNdDescriptor, (NULL, 2, z, i1, i1, CROSS, F32), BAD, "convDesc is NULL");
    ROW(cudnnSetConvolutionNdDescriptor, (o.convt, -1, z, i1, i1, CROSS, F32), BAD, "arrayLength is -1");
    ROW(cudnnSetConvolutionNdDescriptor, (o.convt, 7, z, i1, i1, CROSS, F32), NOSUP, "arrayLength is 7", "6");
    ROW(cudnnSetConvolutionNdDescriptor, (o.convt, 2, neg, i1, i1, CROSS, F32), BAD, "padA[1] is -1");
    ROW(cudnnSetConvolutionNdDescriptor, (o.convt, 2, z, second0, i1, CROSS, F32), BAD, "filterStrideA[1] is 0");
    ROW(cudnnSetConvolutionNdDescriptor, (o.convt, 2, z, i1, second0, CROSS, F32), BAD, "dilationA[1] is 0");
    ROW(cudnnSetConvolutionNdDescriptor, (o.convt, 2, z, i1, i1, 5, F32), BAD, "mode", "5");
    ROW(cudnnSetConvolutionNdDescriptor, (o.convt, 2, z, i1, i1, CROSS, 77), BAD, "computeType", "77");
    ROW(cudnnGetConvolution2dDescriptor, (NULL, a, a, a, a, a, a, &mode, &type), BAD, "convDesc is NULL");
    ROW(cudnnGetConvolutionNdDescriptor, (NULL, 2, &n, a, b, c, &mode, &type), BAD, "convDesc is NULL");
    ROW(cudnnGetConvolutionNdDescriptor, (o.conv, -1, &n, a, b, c, &mode, &type), BAD, "arrayLengthRequested is -1");
    ROW(cudnnGetConvolutionNdDescriptor, (o.conv, 7, &n, a, b, c, &mode, &type), NOSUP, "arrayLengthRequested is 7");
    ROW(cudnnSetConvolutionMathType, (NULL, CUDNN_DEFAULT_MATH), BAD, "convDesc is NULL");
    ROW(cudnnSetConvolutionMathType, (o.convt, 4), BAD, "mathType", "4");
    ROW(cudnnSetConvolutionMathType, (o.convt, -1), BAD, "mathType", "-1");
    ROW(cudnnSetConvolutionGroupCount, (NULL, 1), BAD, "convDesc is NULL");
    ROW(cudnnSetConvolutionGroupCount, (o.convt, 0), BAD, "groupCount is 0");                                 /* L7 */
    ROW(cudnnSetConvolutionGroupCount, (o.convt, -3), BAD, "groupCount is -3");
    ROW(cudnnSetConvolutionReorderType, (NULL, CUDNN_NO_REORDER), BAD, "convDesc is NULL");
    ROW(cudnnSetConvolutionReorderType, (o.convt, 2), BAD, "reorderType", "2");
    ROW(cudnnGetConvolutionReorderType, (o.conv, NULL), BAD, "reorderType is NULL");
    ROW(cudnnGetConvolutionGroupCount, (NULL, &n), BAD, "convDesc is NULL");
    ROW(cudnnGetConvolutionMathType, (NULL, &math), BAD, "convDesc is NULL");
    if (api_ours) {
        ROW(cudnnGetConvolutionReorderType, (NULL, &reorder), BAD, "convDesc is NULL");
        ROW(cudnnGetConvolutionMathType, (o.conv, NULL), BAD, "mathType is NULL");
        ROW(cudnnGetConvolutionGroupCount, (o.conv, NULL), BAD, "groupCount is NULL");
        ROW(cudnnSetConvolutionNdDescriptor, (o.convt, 2, NULL, i1, i1, CROSS, F32), BAD, "padA is NULL");
        ROW(cudnnSetConvolutionNdDescriptor, (o.convt, 2, z, NULL, i1, CROSS, F32), BAD, "filterStrideA is NULL");
        ROW(cudnnSetConvolutionNdDescriptor, (o.convt, 2, z, i1, NULL, CROSS, F32), BAD, "dilationA is NULL");
        ROW(cudnnGetConvolution2dDescriptor, (o.conv, NULL, a, a, a, a, a, &mode, &type), BAD, "pad_h is NULL");
        ROW(cudnnGetConvolutionNdDescriptor, (o.conv, 2, NULL, a, b, c, &mode, &type), BAD, "arrayLength is NULL");
        ROW(cudnnGetConvolutionNdDescriptor, (o.conv, 2, &n, NULL, b, c, &mode, &type), BAD, "padA is NULL");
    }
    objects_free(&o);
    api_rows_done();
}

void misuse_conv_dims(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    int n, c, h, w, d[8];

    ROW(cudnnGetConvolution2dForwardOutputDim, (o.conv, o.x, o.w, &n, &c, &h, &w), OK, "");
    ROW(cudnnGetConvolution2dForwardOutputDim, (NULL, o.x, o.w, &n, &c, &h, &w), BAD, "convDesc is NULL");
    ROW(cudnnGetConvolution2dForwardOutputDim, (o.conv, NULL, o.w, &n, &c, &h, &w), BAD, "inputTensorDesc is NULL");
    ROW(cudnnGetConvolution2dForwardOutputDim, (o.conv, o.x, NULL, &n, &c, &h, &w), BAD, "filterDesc is NULL");
    ROW(cudnnGetConvolution2dForwardOutputDim, (o.conv_never, o.x, o.w, &n, &c, &h, &w), BAD, "convDesc", "set");
    ROW(cudnnGetConvolution2dForwardOutputDim, (o.conv, o.never, o.w, &n, &c, &h, &w), BAD, "inputTensorDesc", "set");
    ROW(cudnnGetConvolution2dForwardOutputDim, (o.conv, o.x, o.w_never, &n, &c, &h, &w), BAD, "filterDesc", "set");
    ROW(cudnnGetConvolutionNdForwardOutputDim, (o.conv, o.x, o.w, 4, d), OK, "");
    ROW(cudnnGetConvolutionNdForwardOutputDim, (o.conv, o.x, o.w, 5, d), BAD, "nbDims is 5", "4");
    ROW(cudnnGetConvolutionNdForwardOutputDim, (o.conv, o.x, o.w, 4, NULL), BAD, "is NULL");
    ROW(cudnnGetConvolutionNdForwardOutputDim, (NULL, o.x, o.w, 4, d), BAD, "convDesc is NULL");
    CALL(cudnnSetFilter4dDescriptor, (o.wt, F32, NCHW, 6, 3, 3, 3));
    ROW(cudnnGetConvolution2dForwardOutputDim, (o.conv, o.x, o.wt, &n, &c, &h, &w), BAD, "inputTensorDesc", "4", "filterDesc", "3");
    ROW(cudnnGetConvolutionNdForwardOutputDim, (o.conv, o.x, o.wt, 4, d), BAD, "inputTensorDesc", "4", "filterDesc", "3");
    CALL(cudnnSetFilter4dDescriptor, (o.wt, F32, NCHW, 6, 4, 6, 3));  /* window higher than the image: the output has no row */
    ROW(cudnnGetConvolution2dForwardOutputDim, (o.conv, o.x, o.wt, &n, &c, &h, &w), BAD, "dimension 2", "0");
    CALL(cudnnSetFilter4dDescriptor, (o.wt, F32, NCHW, 6, 4, 3, 7));
    ROW(cudnnGetConvolutionNdForwardOutputDim, (o.conv, o.x, o.wt, 4, d), BAD, "dimension 3", "-1");
    const int five[5] = {6, 4, 3, 3, 3};
    CALL(cudnnSetFilterNdDescriptor, (o.wt, F32, NCHW, 5, five));
    ROW(cudnnGetConvolution2dForwardOutputDim, (o.conv, o.x, o.wt, &n, &c, &h, &w), BAD, "filterDesc", "5");
    CALL(cudnnSetConvolution2dDescriptor, (o.convt, 0, 0, 1, 1, 1, 1, CROSS, F32));
    CALL(cudnnSetConvolutionGroupCount, (o.convt, 3));
    ROW(cudnnGetConvolution2dForwardOutputDim, (o.convt, o.x, o.w, &n, &c, &h, &w), BAD, "group", "3");
    if (api_ours)
        ROW(cudnnGetConvolution2dForwardOutputDim, (o.conv, o.x, o.w, NULL, &c, &h, &w), BAD, "n is NULL");
    objects_free(&o);
    api_rows_done();
}

static size_t fwd_workspace(const objects *o, cudnnConvolutionFwdAlgo_t algo)
{
    size_t size = 0;
    api.cudnnGetConvolutionForwardWorkspaceSize(api_handle(), o->x, o->w, o->conv, o->y, algo, &size);
    return size;
}

void misuse_conv_fwd(void **state)
{
    (void)state;
    cudnnHandle_t h = api_handle();
    objects o;
    objects_make(&o);
    void *x = api_alloc(4096), *w = api_alloc(4096), *y = api_alloc(4096), *ws = api_alloc(1 << 20);
    const float *one = &o.one, *zero = &o.zero;
    const size_t room = 1 << 20;

    ROW(cudnnConvolutionForward, (NULL, one, o.x, x, o.w, w, o.conv, 0, ws, room, zero, o.y, y), BAD, "handle is NULL");
    ROW(cudnnConvolutionForward, (h, NULL, o.x, x, o.w, w, o.conv, 0, ws, room, zero, o.y, y), BAD, "alpha is NULL");
    ROW(cudnnConvolutionForward, (h, one, NULL, x, o.w, w, o.conv, 0, ws, room, zero, o.y, y), BAD, "xDesc is NULL");
    ROW(cudnnConvolutionForward, (h, one, o.x, NULL, o.w, w, o.conv, 0, ws, room, zero, o.y, y), BAD, "x is NULL");
    ROW(cudnnConvolutionForward, (h, one, o.x, x, NULL, w, o.conv, 0, ws, room, zero, o.y, y), BAD, "wDesc is NULL");
    ROW(cudnnConvolutionForward, (h, one, o.x, x, o.w, NULL, o.conv, 0, ws, room, zero, o.y, y), BAD, "w is NULL");
    ROW(cudnnConvolutionForward, (h, one, o.x, x, o.w, w, NULL, 0, ws, room, zero, o.y, y), BAD, "convDesc is NULL");
    ROW(cudnnConvolutionForward, (h, one, o.x, x, o.w, w, o.conv, 0, ws, room, NULL, o.y, y), BAD, "beta is NULL");
    ROW(cudnnConvolutionForward, (h, one, o.x, x, o.w, w, o.conv, 0, ws, room, zero, NULL, y), BAD, "yDesc is NULL");
    ROW(cudnnConvolutionForward, (h, one, o.x, x, o.w, w, o.conv, 0, ws, room, zero, o.y, NULL), BAD, "y is NULL");
    ROW(cudnnConvolutionForward, (h, one, o.never, x, o.w, w, o.conv, 0, ws, room, zero, o.y, y), BAD, "xDesc", "set");
    ROW(cudnnConvolutionForward, (h, one, o.x, x, o.w_never, w, o.conv, 0, ws, room, zero, o.y, y), BAD, "wDesc", "set");
    ROW(cudnnConvolutionForward, (h, one, o.x, x, o.w, w, o.conv_never, 0, ws, room, zero, o.y, y), BAD, "convDesc", "set");
    ROW_V(cudnnConvolutionForward, (h, one, o.x, x, o.w, w, o.conv, 8, ws, room, zero, o.y, y), BAD, NOSUP, NO_ALGO, "algo", "8");
    ROW_V(cudnnConvolutionForward, (h, one, o.x, x, o.w, w, o.conv, -1, ws, room, zero, o.y, y), BAD, NOSUP, NO_ALGO, "algo", "-1");
    ROW(cudnnConvolutionForward, (h, one, o.x, x, o.w, w, o.conv, 0, ws, room, zero, o.x, y), BAD, "yDesc", "4", "6");
    ROW(cudnnConvolutionForward, (h, one, o.bias, x, o.w, w, o.conv, 0, ws, room, zero, o.y, y), BAD, "xDesc", "6", "wDesc", "4");
    ROW(cudnnConvolutionForward, (h, one, o.x5d, x, o.w, w, o.conv, 0, ws, room, zero, o.y, y), BAD, "xDesc", "5", "4");
    ROW_V(cudnnConvolutionForward, (h, one, o.x16, x, o.w, w, o.conv, 0, ws, room, zero, o.y, y), BAD, NOSUP, TYPES, "xDesc", "wDesc");
    if (api_ours) {
        ROW(cudnnConvolutionForward, (h, one, o.dead, x, o.w, w, o.conv, 0, ws, room, zero, o.y, y), BAD, "xDesc", "destroyed");
        ROW(cudnnConvolutionForward, (h, one, o.x, x, o.w_dead, w, o.conv, 0, ws, room, zero, o.y, y), BAD, "wDesc", "destroyed");
        ROW(cudnnConvolutionForward, (h, one, o.x, x, o.w, w, o.conv_dead, 0, ws, room, zero, o.y, y), BAD, "convDesc",
            "destroyed");
        ROW(cudnnConvolutionForward, ((cudnnHandle_t)(void *)o.x, one, o.x, x, o.w, w, o.conv, 0, ws, room, zero, o.y, y), BAD,
            "handle");
        ROW(cudnnConvolutionForward, (h, one, (cudnnTensorDescriptor_t)(void *)o.conv, x, o.w, w, o.conv, 0, ws, room, zero, o.y,
            y), BAD, "xDesc", "tensor descriptor");
    }
    /* what the vendor does then was not measured */
    ROW_OURS(cudnnConvolutionForward, (h, one, o.x, x, o.w, w, o.conv, 0, ws, room, zero, o.y, x), BAD, "in place");
    ROW_OURS(cudnnConvolutionForward, (h, one, o.x, x, o.w, w, o.conv, 0, ws, room, zero, o.y, w), BAD, "in place");
    for (volatile int algo = 0; algo < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; algo++) {
        size_t need = fwd_workspace(&o, algo);
        if (!need || !api_ours)  /* the vendor refuses with some algorithms and runs others */
            continue;
        ROW(cudnnConvolutionForward, (h, one, o.x, x, o.w, w, o.conv, algo, ws, need - 1, one, o.y, y), BAD, "workSpace");
        ROW(cudnnConvolutionForward, (h, one, o.x, x, o.w, w, o.conv, algo, NULL, need, one, o.y, y), BAD, "workSpace");
    }
    objects_free(&o);
    api_rows_done();
}

void misuse_conv_bwd(void **state)
{
    (void)state;
    cudnnHandle_t h = api_handle();
    objects o;
    objects_make(&o);
    void *x = api_alloc(4096), *w = api_alloc(4096), *y = api_alloc(4096), *ws = api_alloc(1 << 20);
    const float *one = &o.one, *zero = &o.zero;
    const size_t room = 1 << 20;

    ROW(cudnnConvolutionBackwardData, (NULL, one, o.w, w, o.y, y, o.conv, 0, ws, room, zero, o.x, x), BAD, "handle is NULL");
    ROW(cudnnConvolutionBackwardData, (h, one, NULL, w, o.y, y, o.conv, 0, ws, room, zero, o.x, x), BAD, "wDesc is NULL");
    ROW(cudnnConvolutionBackwardData, (h, one, o.w, NULL, o.y, y, o.conv, 0, ws, room, zero, o.x, x), BAD, "w is NULL");
    ROW(cudnnConvolutionBackwardData, (h, one, o.w, w, o.never, y, o.conv, 0, ws, room, zero, o.x, x), BAD, "dyDesc", "set");
    ROW(cudnnConvolutionBackwardData, (h, one, o.w, w, o.y, NULL, o.conv, 0, ws, room, zero, o.x, x), BAD, "dy is NULL");
    ROW(cudnnConvolutionBackwardData, (h, one, o.w, w, o.y, y, o.conv, 0, ws, room, zero, o.x, NULL), BAD, "dx is NULL");
    ROW_V(cudnnConvolutionBackwardData, (h, one, o.w, w, o.y, y, o.conv, 6, ws, room, zero, o.x, x), BAD, NOSUP, NO_ALGO, "algo", "6");
    ROW(cudnnConvolutionBackwardData, (h, one, o.w, w, o.x, y, o.conv, 0, ws, room, zero, o.x, x), BAD, "dyDesc", "6", "4");
    ROW(cudnnConvolutionBackwardData, (h, one, o.w, w, o.y, y, o.conv, 0, ws, room, zero, o.bias, x), BAD, "dxDesc");
    ROW(cudnnConvolutionBackwardFilter, (h, one, NULL, x, o.y, y, o.conv, 0, ws, room, zero, o.w, w), BAD, "xDesc is NULL");
    ROW(cudnnConvolutionBackwardFilter, (h, one, o.x, NULL, o.y, y, o.conv, 0, ws, room, zero, o.w, w), BAD, "x is NULL");
    ROW(cudnnConvolutionBackwardFilter, (h, one, o.x, x, o.y, NULL, o.conv, 0, ws, room, zero, o.w, w), BAD, "dy is NULL");
    ROW(cudnnConvolutionBackwardFilter, (h, one, o.x, x, o.y, y, o.conv, 0, ws, room, zero, o.w, NULL), BAD, "dw is NULL");
    ROW_V(cudnnConvolutionBackwardFilter, (h, one, o.x, x, o.y, y, o.conv, 7, ws, room, zero, o.w, w), BAD, NOSUP, NO_ALGO, "algo", "7");
    ROW(cudnnConvolutionBackwardFilter, (h, one, o.x, x, o.y, y, o.conv, 0, ws, room, zero, o.w_never, w), BAD, "dwDesc", "set");
    ROW(cudnnConvolutionBackwardFilter, (h, one, o.bias, x, o.y, y, o.conv, 0, ws, room, zero, o.w, w), BAD, "xDesc");
    ROW_OURS(cudnnConvolutionBackwardData, (h, one, o.w, w, o.y, y, o.conv, 0, ws, room, zero, o.x, y), BAD, "in place");
    ROW_OURS(cudnnConvolutionBackwardFilter, (h, one, o.x, x, o.y, y, o.conv, 0, ws, room, zero, o.w, y), BAD, "in place");
    ROW_OURS(cudnnConvolutionBackwardBias, (h, one, o.y, y, zero, o.bias, y), BAD, "in place");
    ROW(cudnnConvolutionBackwardBias, (h, one, NULL, y, zero, o.bias, x), BAD, "dyDesc is NULL");
    ROW(cudnnConvolutionBackwardBias, (h, one, o.y, NULL, zero, o.bias, x), BAD, "dy is NULL");
    ROW(cudnnConvolutionBackwardBias, (h, one, o.y, y, zero, o.bias, NULL), BAD, "db is NULL");
    ROW(cudnnConvolutionBackwardBias, (h, one, o.y, y, zero, o.chan, x), BAD, "dbDesc", "4", "6");
    ROW(cudnnConvolutionBackwardBias, (h, one, o.y, y, zero, o.y, x), BAD, "dbDesc");
    /* L20: a transposed convolution whose output would have height (26-1) - 2*25 + 25 = 0 */
    CALL(cudnnSetConvolution2dDescriptor, (o.convt, 25, 3, 1, 1, 1, 1, CROSS, F32));
    CALL(cudnnSetFilter4dDescriptor, (o.wt, F32, NCHW, 26, 1, 25, 25));
    ROW(cudnnSetTensor4dDescriptor, (o.t, NCHW, F32, 1, 1, 0, 44), BAD, "h is 0");
    objects_free(&o);
    api_rows_done();
}

void misuse_conv_bias_act(void **state)
{
    (void)state;
    cudnnHandle_t h = api_handle();
    objects o;
    objects_make(&o);
    void *x = api_alloc(4096), *w = api_alloc(4096), *y = api_alloc(4096), *b = api_alloc(4096), *ws = api_alloc(1 << 20);
    const float *one = &o.one, *zero = &o.zero;
    const size_t room = 1 << 20;
#define CBA(alpha1, xd, xp, wp, algo, zd, zp, bd, bp, act) \
    (h, alpha1, xd, xp, o.w, wp, o.conv, algo, ws, room, zero, zd, zp, bd, bp, act, o.y, y)

    ROW(cudnnConvolutionBiasActivationForward, CBA(NULL, o.x, x, w, 1, o.y, y, o.bias, b, o.act), BAD, "alpha1 is NULL");
    ROW(cudnnConvolutionBiasActivationForward, CBA(one, NULL, x, w, 1, o.y, y, o.bias, b, o.act), BAD, "xDesc is NULL");
    ROW(cudnnConvolutionBiasActivationForward, CBA(one, o.x, NULL, w, 1, o.y, y, o.bias, b, o.act), BAD, "x is NULL");
    ROW(cudnnConvolutionBiasActivationForward, CBA(one, o.x, x, NULL, 1, o.y, y, o.bias, b, o.act), BAD, "w is NULL");
    ROW_V(cudnnConvolutionBiasActivationForward, CBA(one, o.x, x, w, 9, o.y, y, o.bias, b, o.act), BAD, NOSUP, NO_ALGO, "algo", "9");
    ROW(cudnnConvolutionBiasActivationForward, CBA(one, o.x, x, w, 1, o.y, y, NULL, b, o.act), BAD, "biasDesc is NULL");
    ROW(cudnnConvolutionBiasActivationForward, CBA(one, o.x, x, w, 1, o.y, y, o.bias, NULL, o.act), BAD, "bias is NULL");
    ROW_V(cudnnConvolutionBiasActivationForward, CBA(one, o.x, x, w, 1, o.y, y, o.chan, b, o.act), BAD, NOSUP, SHAPES, "biasDesc", "4", "6");
    ROW(cudnnConvolutionBiasActivationForward, CBA(one, o.x, x, w, 1, o.y, y, o.bias, b, NULL), BAD, "activationDesc is NULL");
    ROW_V(cudnnConvolutionBiasActivationForward, CBA(one, o.x, x, w, 1, o.x, y, o.bias, b, o.act), BAD, NOSUP, SHAPES, "zDesc");
    ROW_V(cudnnConvolutionBiasActivationForward, CBA(one, o.x, x, w, 1, o.y, y, o.bias, b, o.act_never), BAD, OK, "the vendor takes a descriptor that was never set for a sigmoid", "activationDesc");
    /* L19: identity is defined for algorithm 1 only */
    CALL(cudnnSetActivationDescriptor, (o.actt, CUDNN_ACTIVATION_IDENTITY, CUDNN_NOT_PROPAGATE_NAN, 0.0));
    ROW_V(cudnnConvolutionBiasActivationForward, CBA(one, o.x, x, w, 0, o.y, y, o.bias, b, o.actt), NOSUP, OK, "8 documents identity with algorithm 1 alone; 9 runs it with others", "algo", "identity");
    objects_free(&o);
    api_rows_done();
}

void misuse_conv_queries(void **state)
{
    (void)state;
    cudnnHandle_t h = api_handle();
    objects o;
    objects_make(&o);
    cudnnConvolutionFwdAlgoPerf_t f[8];
    cudnnConvolutionBwdDataAlgoPerf_t d[8];
    cudnnConvolutionBwdFilterAlgoPerf_t g[8];
    int n;
    size_t size;
    void *x = api_alloc(4096), *w = api_alloc(4096), *y = api_alloc(4096);

    ROW(cudnnGetConvolutionForwardAlgorithmMaxCount, (NULL, &n), BAD, "handle is NULL");
    ROW(cudnnGetConvolutionForwardAlgorithmMaxCount, (h, NULL), BAD, "count is NULL");
    ROW(cudnnGetConvolutionBackwardDataAlgorithmMaxCount, (NULL, &n), BAD, "handle is NULL");
    ROW(cudnnGetConvolutionBackwardDataAlgorithmMaxCount, (h, NULL), BAD, "count is NULL");
    ROW(cudnnGetConvolutionBackwardFilterAlgorithmMaxCount, (NULL, &n), BAD, "handle is NULL");
    ROW(cudnnGetConvolutionBackwardFilterAlgorithmMaxCount, (h, NULL), BAD, "count is NULL");
    ROW(cudnnGetConvolutionForwardAlgorithm_v7, (NULL, o.x, o.w, o.conv, o.y, 8, &n, f), BAD, "handle is NULL");
    ROW_V(cudnnGetConvolutionForwardAlgorithm_v7, (h, o.x, o.w, o.conv, o.y, 0, &n, f), BAD, OK, NO_ROOM, "requestedAlgoCount is 0");
    ROW_V(cudnnGetConvolutionForwardAlgorithm_v7, (h, o.x, o.w, o.conv, o.y, 8, NULL, f), BAD, OK, NO_ROOM, "returnedAlgoCount is NULL");
    ROW(cudnnGetConvolutionForwardAlgorithm_v7, (h, o.x, o.w, o.conv, o.y, 8, &n, NULL), BAD, "perfResults is NULL");
    ROW(cudnnGetConvolutionForwardAlgorithm_v7, (h, o.x, o.w, o.conv, o.x, 8, &n, f), BAD, "4", "6");
    ROW(cudnnFindConvolutionForwardAlgorithm, (h, o.x, o.w, o.conv, o.y, -1, &n, f), BAD, "requestedAlgoCount is -1");
    ROW(cudnnFindConvolutionForwardAlgorithm, (h, NULL, o.w, o.conv, o.y, 8, &n, f), BAD, "xDesc is NULL");
    ROW(cudnnFindConvolutionForwardAlgorithmEx, (h, o.x, NULL, o.w, w, o.conv, o.y, y, 8, &n, f, NULL, 0), BAD, "x is NULL");
    ROW(cudnnFindConvolutionForwardAlgorithmEx, (h, o.x, x, o.w, w, o.conv, o.y, NULL, 8, &n, f, NULL, 0), BAD, "y is NULL");
    ROW_V(cudnnGetConvolutionForwardWorkspaceSize, (h, o.x, o.w, o.conv, o.y, 8, &size), BAD, NOSUP, NO_ALGO, "algo", "8");
    ROW(cudnnGetConvolutionForwardWorkspaceSize, (h, o.x, o.w, o.conv, o.y, 0, NULL), BAD, "sizeInBytes is NULL");
    ROW(cudnnGetConvolutionForwardWorkspaceSize, (h, o.x, o.w, o.conv, o.x, 0, &size), BAD, "yDesc", "4", "6");
    ROW_V(cudnnGetConvolutionBackwardDataAlgorithm_v7, (h, o.w, o.y, o.conv, o.x, 0, &n, d), BAD, OK, NO_ROOM, "requestedAlgoCount is 0");
    ROW(cudnnGetConvolutionBackwardDataAlgorithm_v7, (h, o.w, o.y, NULL, o.x, 8, &n, d), BAD, "convDesc is NULL");
    ROW(cudnnFindConvolutionBackwardDataAlgorithm, (h, o.w, o.y, o.conv, o.x, 8, &n, NULL), BAD, "perfResults is NULL");
    ROW(cudnnFindConvolutionBackwardDataAlgorithmEx, (h, o.w, w, o.y, NULL, o.conv, o.x, x, 8, &n, d, NULL, 0), BAD,
        "dy is NULL");
    ROW_V(cudnnGetConvolutionBackwardDataWorkspaceSize, (h, o.w, o.y, o.conv, o.x, -1, &size), BAD, NOSUP, NO_ALGO, "algo", "-1");
    ROW(cudnnGetConvolutionBackwardDataWorkspaceSize, (h, o.w, o.x, o.conv, o.x, 0, &size), BAD, "dyDesc");
    ROW_V(cudnnGetConvolutionBackwardFilterAlgorithm_v7, (h, o.x, o.y, o.conv, o.w, 0, &n, g), BAD, OK, NO_ROOM, "requestedAlgoCount is 0");
    ROW(cudnnFindConvolutionBackwardFilterAlgorithm, (h, o.x, NULL, o.conv, o.w, 8, &n, g), BAD, "dyDesc is NULL");
    ROW(cudnnFindConvolutionBackwardFilterAlgorithmEx, (h, o.x, x, o.y, y, o.conv, o.w, NULL, 8, &n, g, NULL, 0), BAD,
        "dw is NULL");
    ROW_V(cudnnGetConvolutionBackwardFilterWorkspaceSize, (h, o.x, o.y, o.conv, o.w, 7, &size), BAD, NOSUP, NO_ALGO, "algo", "7");
    ROW(cudnnGetConvolutionBackwardFilterWorkspaceSize, (h, o.x, o.y, o.conv, o.w, 0, NULL), BAD, "sizeInBytes is NULL");
    objects_free(&o);
    api_rows_done();
}
