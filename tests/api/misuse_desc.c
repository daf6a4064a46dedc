/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Misuse of tensor, filter and transform descriptors. */
#include "misuse.h"

#define BIG "more than 2^31 elements are allowed here: offsets are 64-bit"
#define RANK2 "9 takes rank 2 and 8 does not; ours takes it in both"
#define NEVER "a descriptor that was never set has no size; the vendor says 0 bytes, and the caller allocates nothing"
#define OVERFLOW "a byte size past size_t can never be right, so it is a bad argument"

/* A table, so longer than a screen. */
void misuse_tensor_set(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    const int d[9] = {2, 3, 4, 5, 2, 2, 2, 2, 2}, s[9] = {60, 20, 5, 1, 1, 1, 1, 1, 1};
    const int zero_dim[4] = {2, 3, 0, 5}, neg_dim[4] = {2, -3, 4, 5}, zero_stride[4] = {60, 20, 0, 1};
    const int rank2 = DN_ABI == 8 ? (int)BAD : (int)OK;

    ROW(cudnnSetTensor4dDescriptor, (NULL, NCHW, F32, 1, 1, 1, 1), BAD, "tensorDesc is NULL");
    ROW(cudnnSetTensor4dDescriptor, (o.t, 3, F32, 1, 1, 1, 1), BAD, "format", "3");
    ROW(cudnnSetTensor4dDescriptor, (o.t, -1, F32, 1, 1, 1, 1), BAD, "format", "-1");
    ROW(cudnnSetTensor4dDescriptor, (o.t, NCHW, 99, 1, 1, 1, 1), BAD, "dataType", "99");
    ROW(cudnnSetTensor4dDescriptor, (o.t, NCHW, -1, 1, 1, 1, 1), BAD, "dataType", "-1");
    ROW(cudnnSetTensor4dDescriptor, (o.t, NCHW, CUDNN_DATA_FAST_FLOAT_FOR_FP8, 1, 1, 1, 1), BAD, "dataType");
    ROW(cudnnSetTensor4dDescriptor, (o.t, NCHW, F32, 0, 1, 1, 1), BAD, "n is 0");        /* L22: batch 0 */
    ROW(cudnnSetTensor4dDescriptor, (o.t, NCHW, F32, 1, 0, 1, 1), BAD, "c is 0");
    ROW(cudnnSetTensor4dDescriptor, (o.t, NCHW, F32, 1, 1, 0, 1), BAD, "h is 0");        /* L22: height 0 */
    ROW(cudnnSetTensor4dDescriptor, (o.t, NCHW, F32, 1, 1, 1, 0), BAD, "w is 0");
    ROW(cudnnSetTensor4dDescriptor, (o.t, NCHW, F32, 1, -7, 1, 1), BAD, "c is -7");
    ROW(cudnnSetTensor4dDescriptor, (o.t, NCHW, F32, INT_MIN, 1, 1, 1), BAD, "n is -2147483648");
    ROW(cudnnSetTensor4dDescriptor, (o.t, VECT, F32, 1, 4, 1, 1), BAD, "format", "dataType");
    ROW(cudnnSetTensor4dDescriptor, (o.t, VECT, I8X4, 1, 3, 1, 1), BAD, "c is 3", "4");
    ROW(cudnnSetTensor4dDescriptor, (o.t, VECT, CUDNN_DATA_INT8x32, 1, 4, 1, 1), BAD, "c is 4", "32");
    ROW_V(cudnnSetTensor4dDescriptor, (o.t, NCHW, F32, 65536, 65536, 1, 1), OK, NOSUP, BIG, "");
    ROW_V(cudnnSetTensor4dDescriptor, (o.t, NCHW, F64, INT_MAX, INT_MAX, INT_MAX, INT_MAX), BAD, NOSUP, OVERFLOW, "size");

    ROW(cudnnSetTensor4dDescriptorEx, (NULL, F32, 2, 3, 4, 5, 60, 20, 5, 1), BAD, "tensorDesc is NULL");
    ROW(cudnnSetTensor4dDescriptorEx, (o.t, 77, 2, 3, 4, 5, 60, 20, 5, 1), BAD, "dataType", "77");
    ROW(cudnnSetTensor4dDescriptorEx, (o.t, F32, 0, 3, 4, 5, 60, 20, 5, 1), BAD, "n is 0");
    ROW(cudnnSetTensor4dDescriptorEx, (o.t, F32, 2, 3, 4, -5, 60, 20, 5, 1), BAD, "w is -5");
    ROW(cudnnSetTensor4dDescriptorEx, (o.t, F32, 2, 3, 4, 5, 60, 20, 5, 0), BAD, "wStride is 0");
    ROW(cudnnSetTensor4dDescriptorEx, (o.t, F32, 2, 3, 4, 5, 0, 20, 5, 1), BAD, "nStride is 0");
    ROW(cudnnSetTensor4dDescriptorEx, (o.t, F32, 1, 3, 4, 5, 0, 20, 5, 1), OK, "");      /* a dimension of 1 needs no stride */
    ROW(cudnnSetTensor4dDescriptorEx, (o.t, F32, 2, 3, 4, 5, -60, 20, 5, 1), OK, "");
    ROW(cudnnSetTensor4dDescriptorEx, (o.t, F32, 2, 3, 4, 5, 1, 1, 1, 1), OK, "");       /* overlapping */
    ROW_V(cudnnSetTensor4dDescriptorEx, (o.t, F32, 2, 3, 4, 5, INT_MAX, INT_MAX, INT_MAX, INT_MAX), OK, NOSUP, BIG, "");
    /* few bytes, where all elements overlap, but a count that no arithmetic on it survives */
    ROW_OURS(cudnnSetTensor4dDescriptorEx, (o.t, F32, INT_MAX, INT_MAX, INT_MAX, INT_MAX, 1, 1, 1, 1), BAD, "2^52");

    ROW(cudnnSetTensorNdDescriptor, (NULL, F32, 4, d, s), BAD, "tensorDesc is NULL");
    ROW(cudnnSetTensorNdDescriptor, (o.t, F32, -1, d, s), BAD, "nbDims is -1");
    ROW(cudnnSetTensorNdDescriptor, (o.t, F32, 0, d, s), BAD, "nbDims is 0");
    ROW(cudnnSetTensorNdDescriptor, (o.t, F32, 1, d, s), BAD, "nbDims is 1");
    ROW_V(cudnnSetTensorNdDescriptor, (o.t, F32, 2, d, s), OK, (cudnnStatus_t)rank2, RANK2, "");
    ROW(cudnnSetTensorNdDescriptor, (o.t, F32, 3, d, s), OK, "");
    ROW(cudnnSetTensorNdDescriptor, (o.t, F32, 9, d, s), NOSUP, "nbDims is 9", "8");
    ROW(cudnnSetTensorNdDescriptor, (o.t, F32, INT_MAX, d, s), NOSUP, "nbDims is 2147483647");
    ROW(cudnnSetTensorNdDescriptor, (o.t, 55, 4, d, s), BAD, "dataType", "55");
    ROW(cudnnSetTensorNdDescriptor, (o.t, F32, 4, zero_dim, s), BAD, "dimA[2] is 0");
    ROW(cudnnSetTensorNdDescriptor, (o.t, F32, 4, neg_dim, s), BAD, "dimA[1] is -3");
    ROW(cudnnSetTensorNdDescriptor, (o.t, F32, 4, d, zero_stride), BAD, "strideA[2] is 0");

    ROW(cudnnSetTensorNdDescriptorEx, (NULL, NCHW, F32, 4, d), BAD, "tensorDesc is NULL");
    ROW(cudnnSetTensorNdDescriptorEx, (o.t, 3, F32, 4, d), BAD, "format", "3");
    ROW(cudnnSetTensorNdDescriptorEx, (o.t, NCHW, -5, 4, d), BAD, "dataType", "-5");
    ROW(cudnnSetTensorNdDescriptorEx, (o.t, NCHW, F32, 1, d), BAD, "nbDims is 1");
    ROW_V(cudnnSetTensorNdDescriptorEx, (o.t, NCHW, F32, 2, d), OK, (cudnnStatus_t)rank2, RANK2, "");
    ROW(cudnnSetTensorNdDescriptorEx, (o.t, NCHW, F32, 9, d), NOSUP, "nbDims is 9", "8");
    ROW(cudnnSetTensorNdDescriptorEx, (o.t, NCHW, F32, 4, zero_dim), BAD, "dimA[2] is 0");
    ROW(cudnnSetTensorNdDescriptorEx, (o.t, VECT, I8X4, 4, d), BAD, "is 3", "4");
    if (api_ours) {
        ROW(cudnnSetTensorNdDescriptor, (o.t, F32, 4, NULL, s), BAD, "dimA is NULL");
        ROW(cudnnSetTensorNdDescriptor, (o.t, F32, 4, d, NULL), BAD, "strideA is NULL");
        ROW(cudnnSetTensorNdDescriptorEx, (o.t, NCHW, F32, 4, NULL), BAD, "dimA is NULL");
    }
    objects_free(&o);
    api_rows_done();
}

void misuse_tensor_get(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    cudnnDataType_t type;
    int n, c, h, w, s[8], nb, d[8];
    size_t size;

    ROW(cudnnCreateTensorDescriptor, (NULL), BAD, "tensorDesc is NULL");
    ROW(cudnnDestroyTensorDescriptor, (NULL), OK, "");
    ROW(cudnnGetTensor4dDescriptor, (NULL, &type, &n, &c, &h, &w, s, s + 1, s + 2, s + 3), BAD, "tensorDesc is NULL");
    ROW(cudnnGetTensor4dDescriptor, (o.x, NULL, &n, &c, &h, &w, s, s + 1, s + 2, s + 3), BAD, "dataType is NULL");
    ROW(cudnnGetTensor4dDescriptor, (o.x, &type, &n, &c, &h, &w, s, s + 1, s + 2, NULL), BAD, "wStride is NULL");
    ROW(cudnnGetTensorNdDescriptor, (NULL, 4, &type, &nb, d, s), BAD, "tensorDesc is NULL");
    ROW(cudnnGetTensorNdDescriptor, (o.x, 4, &type, NULL, d, s), BAD, "nbDims is NULL");
    ROW(cudnnGetTensorNdDescriptor, (o.x, 2, &type, &nb, d, s), OK, "");  /* as many as asked for, nbDims says how many there are */
    if (!api_ours || api.cudnnGetTensorNdDescriptor)
        assert_int_equal(nb, 4);
    ROW(cudnnGetTensorNdDescriptor, (o.x, 0, &type, &nb, d, s), OK, "");
    if (api_ours) {
        ROW(cudnnGetTensorNdDescriptor, (o.x, 4, NULL, &nb, d, s), BAD, "dataType is NULL");
        ROW(cudnnGetTensorSizeInBytes, (o.x, NULL), BAD, "size is NULL");
        ROW(cudnnGetTensorSizeInBytes, (NULL, &size), BAD, "tensorDesc is NULL");
    }
    ROW_V(cudnnGetTensorSizeInBytes, (o.never, &size), BAD, OK, NEVER, "tensorDesc", "set");
    objects_free(&o);
    api_rows_done();
}

void misuse_filter(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    const int d[9] = {6, 4, 3, 3, 3, 2, 2, 2, 2}, zero_dim[4] = {6, 4, 0, 3};
    cudnnDataType_t type;
    cudnnTensorFormat_t f;
    int k, c, h, w, nb, got[8];
    size_t size;

    ROW(cudnnCreateFilterDescriptor, (NULL), BAD, "filterDesc is NULL");
    ROW(cudnnDestroyFilterDescriptor, (NULL), OK, "");
    ROW(cudnnSetFilter4dDescriptor, (NULL, F32, NCHW, 1, 1, 1, 1), BAD, "filterDesc is NULL");
    ROW(cudnnSetFilter4dDescriptor, (o.wt, 99, NCHW, 1, 1, 1, 1), BAD, "dataType", "99");
    ROW(cudnnSetFilter4dDescriptor, (o.wt, F32, 3, 1, 1, 1, 1), BAD, "format", "3");
    ROW(cudnnSetFilter4dDescriptor, (o.wt, F32, NCHW, 0, 1, 1, 1), BAD, "k is 0");
    ROW(cudnnSetFilter4dDescriptor, (o.wt, F32, NCHW, 1, -1, 1, 1), BAD, "c is -1");
    ROW(cudnnSetFilter4dDescriptor, (o.wt, F32, NCHW, 1, 1, 0, 1), BAD, "h is 0");
    ROW(cudnnSetFilter4dDescriptor, (o.wt, F32, NCHW, 1, 1, 1, -9), BAD, "w is -9");
    ROW(cudnnSetFilter4dDescriptor, (o.wt, F32, VECT, 4, 4, 1, 1), BAD, "format", "dataType");
    ROW_V(cudnnSetFilter4dDescriptor, (o.wt, F64, NCHW, INT_MAX, INT_MAX, INT_MAX, INT_MAX), BAD, OK, OVERFLOW, "size");
    ROW(cudnnSetFilterNdDescriptor, (NULL, F32, NCHW, 4, d), BAD, "filterDesc is NULL");
    ROW(cudnnSetFilterNdDescriptor, (o.wt, F32, NCHW, 0, d), BAD, "nbDims is 0");
    ROW(cudnnSetFilterNdDescriptor, (o.wt, F32, NCHW, 2, d), BAD, "nbDims is 2");
    ROW(cudnnSetFilterNdDescriptor, (o.wt, F32, NCHW, 9, d), NOSUP, "nbDims is 9", "8");
    ROW(cudnnSetFilterNdDescriptor, (o.wt, F32, NCHW, 4, zero_dim), BAD, "filterDimA[2] is 0");
    ROW(cudnnSetFilterNdDescriptor, (o.wt, -2, NCHW, 4, d), BAD, "dataType", "-2");
    ROW(cudnnSetFilterNdDescriptor, (o.wt, F32, -2, 4, d), BAD, "format", "-2");
    ROW(cudnnGetFilter4dDescriptor, (NULL, &type, &f, &k, &c, &h, &w), BAD, "filterDesc is NULL");
    ROW(cudnnGetFilterNdDescriptor, (NULL, 4, &type, &f, &nb, got), BAD, "filterDesc is NULL");
    ROW(cudnnGetFilterNdDescriptor, (o.w, 0, &type, &f, &nb, got), BAD, "nbDimsRequested is 0");
    ROW(cudnnGetFilterNdDescriptor, (o.w, -1, &type, &f, &nb, got), BAD, "nbDimsRequested is -1");
    ROW(cudnnGetFilterNdDescriptor, (o.w, 9, &type, &f, &nb, got), NOSUP, "nbDimsRequested is 9");
    ROW_V(cudnnGetFilterSizeInBytes, (o.w_never, &size), BAD, OK, NEVER, "filterDesc", "set");
    if (api_ours) {
        ROW(cudnnGetFilterSizeInBytes, (NULL, &size), BAD, "filterDesc is NULL");
        ROW(cudnnGetFilterSizeInBytes, (o.w, NULL), BAD, "size is NULL");
        ROW(cudnnSetFilterNdDescriptor, (o.wt, F32, NCHW, 4, NULL), BAD, "filterDimA is NULL");
        ROW(cudnnGetFilter4dDescriptor, (o.w, NULL, &f, &k, &c, &h, &w), BAD, "dataType is NULL");
        ROW(cudnnGetFilterNdDescriptor, (o.w, 4, &type, &f, NULL, got), BAD, "nbDims is NULL");
    }
    objects_free(&o);
    api_rows_done();
}

void misuse_transform_desc(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    const int32_t pad[9] = {0};
    const uint32_t fold[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    int32_t before[8], after[8];
    uint32_t folds[8];
    cudnnTensorFormat_t f;
    cudnnFoldingDirection_t dir;

    ROW(cudnnCreateTensorTransformDescriptor, (NULL), BAD, "transformDesc is NULL");
    ROW(cudnnDestroyTensorTransformDescriptor, (NULL), OK, "");
    ROW(cudnnSetTensorTransformDescriptor, (NULL, 4, NCHW, pad, pad, fold, CUDNN_TRANSFORM_FOLD), BAD, "transformDesc is NULL");
    ROW(cudnnSetTensorTransformDescriptor, (o.trans, 0, NCHW, pad, pad, fold, CUDNN_TRANSFORM_FOLD), BAD, "nbDims is 0");
    ROW(cudnnSetTensorTransformDescriptor, (o.trans, 1, NCHW, pad, pad, fold, CUDNN_TRANSFORM_FOLD), BAD, "nbDims is 1");
    ROW(cudnnSetTensorTransformDescriptor, (o.trans, 9, NCHW, pad, pad, fold, CUDNN_TRANSFORM_FOLD), NOSUP, "nbDims is 9");
    ROW(cudnnSetTensorTransformDescriptor, (o.trans, 4, 3, pad, pad, fold, CUDNN_TRANSFORM_FOLD), NOSUP, "destFormat", "3");
    ROW_V(cudnnSetTensorTransformDescriptor, (o.trans, 4, NCHW, pad, pad, fold, 2), BAD, DN_ABI == 8 ? BAD : OK,
          "9 keeps a direction that does not exist", "direction", "2");
    ROW(cudnnSetTensorTransformDescriptor, (o.trans, 4, NCHW, NULL, NULL, NULL, CUDNN_TRANSFORM_FOLD), OK, "");
    ROW(cudnnGetTensorTransformDescriptor, (NULL, 4, &f, before, after, folds, &dir), BAD, "transformDesc is NULL");
    ROW(cudnnGetTensorTransformDescriptor, (o.trans, 0, &f, before, after, folds, &dir), BAD, "nbDimsRequested is 0");
    ROW(cudnnGetTensorTransformDescriptor, (o.trans, 9, &f, before, after, folds, &dir), BAD, "nbDimsRequested is 9");
    if (api_ours)  /* what the caller does not want may be NULL */
        ROW(cudnnGetTensorTransformDescriptor, (o.trans, 4, NULL, NULL, after, folds, &dir), OK, "");
    objects_free(&o);
    api_rows_done();
}

/* The vendor's library reads freed memory here. */
void misuse_dead_and_wrong(void **state)
{
    (void)state;
    if (!api_ours)
        skip();
    objects o;
    objects_make(&o);
    cudnnDataType_t type;
    int n, c, h, w, s[8];
    size_t size;
    char garbage[256];
    for (size_t i = 0; i < sizeof garbage; i++)
        garbage[i] = 0x5a;
    cudnnTensorDescriptor_t as_tensor = (cudnnTensorDescriptor_t)(void *)o.w;
    cudnnTensorDescriptor_t rubbish = (cudnnTensorDescriptor_t)(void *)garbage;
    cudnnTensorDescriptor_t wild = (cudnnTensorDescriptor_t)(uintptr_t)0xdeadbeef0;

    ROW(cudnnSetTensor4dDescriptor, (o.dead, NCHW, F32, 1, 1, 1, 1), BAD, "tensorDesc", "destroyed");
    ROW(cudnnGetTensor4dDescriptor, (o.dead, &type, &n, &c, &h, &w, s, s + 1, s + 2, s + 3), BAD, "tensorDesc", "destroyed");
    ROW(cudnnGetTensorSizeInBytes, (o.dead, &size), BAD, "tensorDesc", "destroyed");
    ROW(cudnnDestroyTensorDescriptor, (o.dead), BAD, "tensorDesc", "destroyed");
    ROW(cudnnSetTensor4dDescriptor, (as_tensor, NCHW, F32, 1, 1, 1, 1), BAD, "tensorDesc", "tensor descriptor");
    ROW(cudnnSetTensor4dDescriptor, (rubbish, NCHW, F32, 1, 1, 1, 1), BAD, "tensorDesc", "tensor descriptor");
    ROW(cudnnSetTensor4dDescriptor, (wild, NCHW, F32, 1, 1, 1, 1), BAD, "tensorDesc", "tensor descriptor");
    ROW(cudnnDestroyTensorDescriptor, (wild), BAD, "tensorDesc");
    ROW(cudnnSetFilter4dDescriptor, (o.w_dead, F32, NCHW, 1, 1, 1, 1), BAD, "filterDesc", "destroyed");
    ROW(cudnnGetFilterSizeInBytes, (o.w_dead, &size), BAD, "filterDesc", "destroyed");
    ROW(cudnnDestroyFilterDescriptor, (o.w_dead), BAD, "filterDesc", "destroyed");
    ROW(cudnnSetConvolution2dDescriptor, (o.conv_dead, 0, 0, 1, 1, 1, 1, CUDNN_CONVOLUTION, F32), BAD, "convDesc", "destroyed");
    ROW(cudnnDestroyConvolutionDescriptor, (o.conv_dead), BAD, "convDesc", "destroyed");
    ROW(cudnnSetPooling2dDescriptor, (o.pool_dead, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2, 2, 0, 0, 1, 1), BAD, "poolingDesc",
        "destroyed");
    ROW(cudnnDestroyPoolingDescriptor, (o.pool_dead), BAD, "poolingDesc", "destroyed");
    ROW(cudnnSetActivationDescriptor, (o.act_dead, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0.0), BAD, "activationDesc",
        "destroyed");
    ROW(cudnnDestroyActivationDescriptor, (o.act_dead), BAD, "activationDesc", "destroyed");
    ROW(cudnnDestroyDropoutDescriptor, (o.drop_dead), BAD, "dropoutDesc", "destroyed");
    ROW(cudnnDestroyTensorTransformDescriptor, (o.trans_dead), BAD, "transformDesc", "destroyed");
    objects_free(&o);
    api_rows_done();
}
