/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Misuse of tensor operations, reductions, padding and folding, im2col and reordering. */
#include "misuse.h"

#define FOLD CUDNN_TRANSFORM_FOLD
#define NO_HANDLE "9.19 does not look at the handle in a query; ours wants one, as every other call does"
#define INVALID (DN_ABI == 8 ? CUDNN_STATUS_INVALID_VALUE : BAD)

void misuse_op_tensor(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    cudnnOpTensorDescriptor_t d, never;
    cudnnOpTensorOp_t op;
    cudnnDataType_t type;
    cudnnNanPropagation_t nan_opt;
    CALL(cudnnCreateOpTensorDescriptor, (&d));
    CALL(cudnnCreateOpTensorDescriptor, (&never));
    ROW(cudnnCreateOpTensorDescriptor, (NULL), BAD, "opTensorDesc is NULL");
    ROW(cudnnDestroyOpTensorDescriptor, (NULL), OK, "");
    ROW(cudnnSetOpTensorDescriptor, (NULL, 0, F32, 0), BAD, "opTensorDesc is NULL");
    ROW(cudnnSetOpTensorDescriptor, (d, 6, F32, 0), BAD, "opTensorOp is 6");
    ROW(cudnnSetOpTensorDescriptor, (d, -1, F32, 0), BAD, "opTensorOp is -1");
    ROW(cudnnSetOpTensorDescriptor, (d, 0, I8, 0), BAD, "opTensorCompType is 3");
    ROW(cudnnSetOpTensorDescriptor, (d, 0, CUDNN_DATA_INT32, 0), BAD, "opTensorCompType is 4");
    ROW(cudnnSetOpTensorDescriptor, (d, 0, F32, 2), BAD, "opTensorNanOpt is 2");
    ROW(cudnnSetOpTensorDescriptor, (d, 5, F16, 1), OK, "");
    ROW(cudnnSetOpTensorDescriptor, (d, 0, F32, 0), OK, "");
    ROW(cudnnGetOpTensorDescriptor, (NULL, &op, &type, &nan_opt), BAD, "opTensorDesc is NULL");
    if (api_ours)
        ROW(cudnnGetOpTensorDescriptor, (d, NULL, &type, &nan_opt), BAD, "opTensorOp is NULL");
    api_rows_done();
    cudnnHandle_t h = api_handle();
    void *a = api_alloc(4096), *b = api_alloc(4096), *c = api_alloc(4096);
    const float *one = &o.one;
    ROW(cudnnOpTensor, (NULL, d, one, o.x, a, one, o.x, b, one, o.x, c), BAD, "handle is NULL");
    ROW(cudnnOpTensor, (h, NULL, one, o.x, a, one, o.x, b, one, o.x, c), BAD, "opTensorDesc is NULL");
    ROW(cudnnOpTensor, (h, d, one, NULL, a, one, o.x, b, one, o.x, c), BAD, "aDesc is NULL");
    ROW(cudnnOpTensor, (h, d, one, o.x, a, one, NULL, b, one, o.x, c), BAD, "bDesc is NULL");
    ROW(cudnnOpTensor, (h, d, one, o.x, a, one, o.x, b, one, NULL, c), BAD, "cDesc is NULL");
    ROW(cudnnOpTensor, (h, d, one, o.x, a, one, o.bias, b, one, o.x, c), BAD, "dimension 1 of bDesc is 6", "4");
    if (api_ours) {
        ROW(cudnnOpTensor, (h, never, one, o.x, a, one, o.x, b, one, o.x, c), BAD, "opTensorDesc", "set");
        ROW(cudnnOpTensor, (h, d, NULL, o.x, a, one, o.x, b, one, o.x, c), BAD, "alpha1 is NULL");
        ROW(cudnnOpTensor, (h, d, one, o.x, a, NULL, o.x, b, one, o.x, c), BAD, "alpha2 is NULL");
        ROW(cudnnOpTensor, (h, d, one, o.x, a, one, o.x, b, NULL, o.x, c), BAD, "beta is NULL");
        ROW(cudnnOpTensor, (h, d, one, o.x, NULL, one, o.x, b, one, o.x, c), BAD, "A is NULL");
        ROW(cudnnOpTensor, (h, d, one, o.x, a, one, o.x, NULL, one, o.x, c), BAD, "B is NULL");
        ROW(cudnnOpTensor, (h, d, one, o.x, a, one, o.x, b, one, o.x, NULL), BAD, "C is NULL");
        ROW(cudnnOpTensor, (h, d, one, o.chan, a, one, o.x, b, one, o.x, c), BAD, "aDesc is 1", "2");
        ROW(cudnnOpTensor, (h, d, one, o.x64, a, one, o.x, b, one, o.x, c), NOSUP, "aDesc has type f64");
        ROW(cudnnOpTensor, (h, d, one, o.x, a, one, o.chan, c, one, o.x, c), BAD, "one buffer");
        ROW(cudnnOpTensor, (h, d, one, o.x5d, a, one, o.x, b, one, o.x, c), BAD, "aDesc has 5");
    }
    CALL(cudnnDestroyOpTensorDescriptor, (d));
    CALL(cudnnDestroyOpTensorDescriptor, (never));
    objects_free(&o);
    api_rows_done();
}

static void reduce_desc(cudnnReduceTensorDescriptor_t d)
{
    cudnnReduceTensorOp_t op;
    cudnnDataType_t type;
    cudnnNanPropagation_t nan_opt;
    cudnnReduceTensorIndices_t indices;
    cudnnIndicesType_t width;
    ROW(cudnnCreateReduceTensorDescriptor, (NULL), BAD, "reduceTensorDesc is NULL");
    ROW(cudnnDestroyReduceTensorDescriptor, (NULL), OK, "");
    ROW(cudnnSetReduceTensorDescriptor, (NULL, 0, F32, 0, 0, 0), BAD, "reduceTensorDesc is NULL");
    ROW(cudnnSetReduceTensorDescriptor, (d, 9, F32, 0, 0, 0), BAD, "reduceTensorOp is 9");
    ROW(cudnnSetReduceTensorDescriptor, (d, -1, F32, 0, 0, 0), BAD, "reduceTensorOp is -1");
    ROW(cudnnSetReduceTensorDescriptor, (d, 0, I8, 0, 0, 0), BAD, "reduceTensorCompType is 3");
    ROW(cudnnSetReduceTensorDescriptor, (d, 0, CUDNN_DATA_BFLOAT16, 0, 0, 0), BAD, "reduceTensorCompType is 9");
    ROW(cudnnSetReduceTensorDescriptor, (d, 0, F32, 2, 0, 0), BAD, "reduceTensorNanOpt is 2");
    ROW(cudnnSetReduceTensorDescriptor, (d, 0, F32, 0, 2, 0), BAD, "reduceTensorIndices is 2");
    ROW(cudnnSetReduceTensorDescriptor, (d, 0, F32, 0, 1, 4), BAD, "reduceTensorIndicesType is 4");
    ROW(cudnnSetReduceTensorDescriptor, (d, 0, F32, 0, 1, 0), OK, "");
    ROW(cudnnSetReduceTensorDescriptor, (d, CUDNN_REDUCE_TENSOR_MAX, F32, 0, 1, 0), OK, "");
    ROW(cudnnGetReduceTensorDescriptor, (NULL, &op, &type, &nan_opt, &indices, &width), BAD, "reduceTensorDesc is NULL");
    if (api_ours)
        ROW(cudnnGetReduceTensorDescriptor, (d, &op, &type, &nan_opt, &indices, NULL), BAD, "reduceTensorIndicesType is NULL");
}

void misuse_reduce(void **state)
{
    (void)state;
    objects o;
    size_t n;
    objects_make(&o);
    cudnnReduceTensorDescriptor_t d;
    CALL(cudnnCreateReduceTensorDescriptor, (&d));
    reduce_desc(d);
    ROW_V(cudnnGetReductionIndicesSize, (NULL, d, o.x, o.chan, &n), BAD, OK, NO_HANDLE, "handle is NULL");
    ROW_V(cudnnGetReductionWorkspaceSize, (NULL, d, o.x, o.chan, &n), BAD, OK, NO_HANDLE, "handle is NULL");
    api_rows_done();
    cudnnHandle_t h = api_handle();
    void *a = api_alloc(4096), *c = api_alloc(4096), *i = api_alloc(64), *w = api_alloc(1 << 16);
    const float *one = &o.one;
    const size_t ws = 1 << 16;
    ROW(cudnnGetReductionIndicesSize, (h, d, o.x, o.chan, &n), OK, "");
    ROW_V(cudnnGetReductionIndicesSize, (h, d, o.x, o.bias, &n), BAD, OK, "the vendor counts cDesc alone", "dimension 1 of cDesc is 6", "4");
    ROW_V(cudnnGetReductionWorkspaceSize, (h, d, o.x, o.bias, &n), BAD, OK, "the vendor answers for what the call then refuses",
          "dimension 1 of cDesc is 6", "4");
    ROW(cudnnReduceTensor, (NULL, d, i, 64, w, ws, one, o.x, a, one, o.chan, c), BAD, "handle is NULL");
    ROW(cudnnReduceTensor, (h, NULL, i, 64, w, ws, one, o.x, a, one, o.chan, c), BAD, "reduceTensorDesc is NULL");
    ROW(cudnnReduceTensor, (h, d, i, 64, w, ws, one, NULL, a, one, o.chan, c), BAD, "aDesc is NULL");
    ROW(cudnnReduceTensor, (h, d, i, 64, w, ws, one, o.x, a, one, NULL, c), BAD, "cDesc is NULL");
    ROW(cudnnReduceTensor, (h, d, i, 64, w, ws, one, o.x, a, one, o.bias, c), BAD, "dimension 1 of cDesc is 6", "4");
    if (api_ours) {
        ROW(cudnnReduceTensor, (h, d, i, 15, w, ws, one, o.x, a, one, o.chan, c), INVALID, "indicesSizeInBytes is 15", "16");
        ROW(cudnnReduceTensor, (h, d, NULL, 64, w, ws, one, o.x, a, one, o.chan, c), BAD, "indices is NULL");
        ROW(cudnnReduceTensor, (h, d, i, 64, w, ws, one, o.x, NULL, one, o.chan, c), BAD, "A is NULL");
        ROW(cudnnReduceTensor, (h, d, i, 64, w, ws, one, o.x, a, one, o.chan, NULL), BAD, "C is NULL");
        ROW(cudnnReduceTensor, (h, d, i, 64, w, ws, NULL, o.x, a, one, o.chan, c), BAD, "alpha is NULL");
        ROW(cudnnReduceTensor, (h, d, i, 64, w, ws, one, o.x, a, NULL, o.chan, c), BAD, "beta is NULL");
        ROW(cudnnReduceTensor, (h, d, i, 64, w, ws, one, o.x, a, one, o.chan, a), BAD, "in place");
        ROW(cudnnReduceTensor, (h, d, i, 64, w, ws, one, o.x, a, one, o.x, c), BAD, "all dimensions");
        ROW(cudnnReduceTensor, (h, d, i, 64, w, ws, one, o.x64, a, one, o.chan, c), NOSUP, "aDesc has type f64");
        ROW(cudnnGetReductionIndicesSize, (h, d, o.x, o.chan, NULL), BAD, "sizeInBytes is NULL");
    }
    CALL(cudnnDestroyReduceTensorDescriptor, (d));
    objects_free(&o);
    api_rows_done();
}

static void fold_rows(objects *o, cudnnHandle_t h)
{
    cudnnTensorDescriptor_t pad, grad;
    cudnnTensorTransformDescriptor_t t[4];
    const void *none = NULL;
    CALL(cudnnCreateTensorDescriptor, (&pad));
    CALL(cudnnCreateTensorDescriptor, (&grad));
    for (int i = 0; i < 4; i++)
        CALL(cudnnCreateTensorTransformDescriptor, (&t[i]));
#define FOLDED(format, conv, first) (h, o->w, o->y, conv, o->x, format, first, pad, o->convt, grad, t[0], t[1], t[2], t[3])
    ROW(cudnnGetFoldedConvBackwardDataDescriptors, FOLDED(NCHW, o->conv, o->wt), OK, "");
    ROW(cudnnGetFoldedConvBackwardDataDescriptors, FOLDED(NCHW, o->conv_never, o->wt), BAD, "convDesc", "set");
    ROW(cudnnGetFoldedConvBackwardDataDescriptors, FOLDED(NCHW, o->conv, (void *)(uintptr_t)none), BAD, "foldedFilterDesc is NULL");
    ROW(cudnnGetFoldedConvBackwardDataDescriptors, FOLDED((cudnnTensorFormat_t)3, o->conv, o->wt), BAD, "transformFormat is 3");
    ROW(cudnnGetFoldedConvBackwardDataDescriptors, FOLDED(VECT, o->conv, o->wt), NOSUP, "NCHW or NHWC");
#undef FOLDED
    CALL(cudnnDestroyTensorDescriptor, (pad));
    CALL(cudnnDestroyTensorDescriptor, (grad));
    for (int i = 0; i < 4; i++)
        CALL(cudnnDestroyTensorTransformDescriptor, (t[i]));
}

static void init_rows(objects *o)
{
    size_t n;
    const int32_t crop[4] = {0, -4, 0, 0};
    CALL(cudnnSetTensorTransformDescriptor, (o->trans, 4, NCHW, NULL, NULL, NULL, FOLD));
    ROW(cudnnInitTransformDest, (o->trans, o->x, o->t, &n), OK, "");
    ROW(cudnnInitTransformDest, (NULL, o->x, o->t, &n), BAD, "transformDesc is NULL");
    ROW_V(cudnnInitTransformDest, (o->trans, o->x5d, o->t, &n), BAD, OK, "the vendor takes as many dimensions as the source has",
          "srcDesc has 5 dimensions", "4");
    CALL(cudnnSetTensorTransformDescriptor, (o->trans, 4, VECT, NULL, NULL, NULL, FOLD));
    ROW(cudnnInitTransformDest, (o->trans, o->x, o->t, &n), NOSUP, "NCHW_VECT_C");
    if (!api_ours)
        return;
    ROW(cudnnInitTransformDest, (o->trans_never, o->x, o->t, &n), BAD, "transformDesc", "set");
    ROW(cudnnInitTransformDest, (o->trans_dead, o->x, o->t, &n), BAD, "transformDesc", "destroyed");
    ROW(cudnnInitTransformDest, (o->trans, o->never, o->t, &n), BAD, "srcDesc", "set");
    ROW(cudnnInitTransformDest, (o->trans, NULL, o->t, &n), BAD, "srcDesc is NULL");
    ROW(cudnnInitTransformDest, (o->trans, o->x, NULL, &n), BAD, "destDesc is NULL");
    ROW(cudnnInitTransformDest, (o->trans, o->x, o->t, NULL), BAD, "destSizeInBytes is NULL");
    CALL(cudnnSetTensorTransformDescriptor, (o->trans, 4, NCHW, crop, NULL, NULL, FOLD));
    ROW(cudnnInitTransformDest, (o->trans, o->x, o->t, &n), BAD, "dimension 1 of the result would be 0");
}

void misuse_transform_ex(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    init_rows(&o);
    api_rows_done();
    cudnnHandle_t h = api_handle();
    void *x = api_alloc(4096), *y = api_alloc(4096);
    const float *one = &o.one, *zero = &o.zero;
    CALL(cudnnSetTensorTransformDescriptor, (o.trans, 4, NCHW, NULL, NULL, NULL, FOLD));
    ROW(cudnnTransformTensorEx, (NULL, o.trans, one, o.x, x, zero, o.x, y), BAD, "handle is NULL");
    ROW(cudnnTransformTensorEx, (h, NULL, one, o.x, x, zero, o.x, y), BAD, "transDesc is NULL");
    ROW(cudnnTransformTensorEx, (h, o.trans, one, NULL, x, zero, o.x, y), BAD, "srcDesc is NULL");
    ROW(cudnnTransformTensorEx, (h, o.trans, one, o.x, x, zero, NULL, y), BAD, "destDesc is NULL");
    ROW(cudnnTransformFilter, (NULL, o.trans, one, o.w, x, zero, o.w, y), BAD, "handle is NULL");
    ROW(cudnnTransformFilter, (h, o.trans, one, NULL, x, zero, o.w, y), BAD, "srcDesc is NULL");
    if (api_ours) {
        ROW(cudnnTransformTensorEx, (h, o.trans, one, o.x, NULL, zero, o.x, y), BAD, "srcData is NULL");
        ROW(cudnnTransformTensorEx, (h, o.trans, one, o.x, x, zero, o.x, NULL), BAD, "destData is NULL");
        ROW(cudnnTransformTensorEx, (h, o.trans, NULL, o.x, x, zero, o.x, y), BAD, "alpha is NULL");
        ROW(cudnnTransformTensorEx, (h, o.trans, one, o.x, x, zero, o.y, y), BAD, "dimension 1 of destDesc is 6", "4");
        ROW(cudnnTransformTensorEx, (h, o.trans, one, o.x, x, zero, o.x, x), BAD, "overlap");
        ROW(cudnnTransformTensorEx, (h, o.trans_never, one, o.x, x, zero, o.x, y), BAD, "transDesc", "set");
        ROW(cudnnTransformFilter, (h, o.trans, one, o.w, x, zero, o.w_never, y), BAD, "destDesc", "set");
        ROW(cudnnTransformFilter, (h, o.trans, one, o.w, NULL, zero, o.w, y), BAD, "srcData is NULL");
        fold_rows(&o, h);
    }
    ROW_OURS(cudnnGetFoldedConvBackwardDataDescriptors, (NULL, o.w, o.y, o.conv, o.x, NCHW, o.wt, o.t, o.convt, o.never, o.trans,
             o.trans, o.trans, o.trans), BAD, "handle is NULL");
    objects_free(&o);
    api_rows_done();
}

void misuse_im2col(void **state)
{
    (void)state;
    cudnnHandle_t h = api_handle();
    objects o;
    objects_make(&o);
    void *x = api_alloc(4096), *y = api_alloc(1 << 16);
    ROW(cudnnIm2Col, (NULL, o.x, x, o.w, o.conv, y), BAD, "handle is NULL");
    ROW(cudnnIm2Col, (h, NULL, x, o.w, o.conv, y), BAD, "xDesc is NULL");
    ROW(cudnnIm2Col, (h, o.x, x, NULL, o.conv, y), BAD, "wDesc is NULL");
    ROW(cudnnIm2Col, (h, o.x, x, o.w, NULL, y), BAD, "convDesc is NULL");
    ROW(cudnnReorderFilterAndBias, (NULL, o.w, CUDNN_DEFAULT_REORDER, x, y, 0, NULL, NULL), BAD, "handle is NULL");
    ROW(cudnnReorderFilterAndBias, (h, NULL, CUDNN_DEFAULT_REORDER, x, y, 0, NULL, NULL), BAD, "filterDesc is NULL");
    if (api_ours) {
        ROW(cudnnIm2Col, (h, o.x, NULL, o.w, o.conv, y), BAD, "x is NULL");
        ROW(cudnnIm2Col, (h, o.x, x, o.w, o.conv, NULL), BAD, "colBuffer is NULL");
        ROW(cudnnIm2Col, (h, o.y, x, o.w, o.conv, y), BAD, "xDesc has 6 channels");
        ROW(cudnnIm2Col, (h, o.x5d, x, o.w, o.conv, y), BAD, "xDesc has 5 dimensions");
        ROW(cudnnReorderFilterAndBias, (h, o.w, CUDNN_DEFAULT_REORDER, x, y, 0, NULL, NULL), NOSUP, "filterDesc has type f32", "INT8x32");
        ROW(cudnnReorderFilterAndBias, (h, o.w, 2, x, y, 0, NULL, NULL), BAD, "reorderType is 2");
        ROW(cudnnReorderFilterAndBias, (h, o.w, CUDNN_DEFAULT_REORDER, NULL, y, 0, NULL, NULL), BAD, "filterData is NULL");
        ROW(cudnnReorderFilterAndBias, (h, o.w, CUDNN_DEFAULT_REORDER, x, y, 1, NULL, y), BAD, "biasData is NULL");
    }
    objects_free(&o);
    api_rows_done();
}
