/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Tensor descriptors. Statuses follow cuDNN 9.19 as measured: sizes below 1 and stride 0 are refused here, negative and
 * overlapping strides are accepted, 1-D and 9-D are not. More than 2^31 elements, which the vendor refuses, are accepted. */
#include "api.h"

#include <string.h>

#define RANK_MIN 2  /* what 9.19 accepts; the documentation of 8 speaks of 4 */

cudnnStatus_t CUDNNWINAPI cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *tensorDesc)
{
    dn_call_begin("cudnnCreateTensorDescriptor");
    return dn_answer(dn_object_create(&dn_tensor_pool, (void **)tensorDesc, "tensorDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensorDesc)
{
    dn_call_begin("cudnnDestroyTensorDescriptor");
    return dn_answer(dn_object_destroy(&dn_tensor_pool, tensorDesc, "tensorDesc"));
}

/* Bytes from the lowest to the highest element; false where that passes size_t. */
static bool span_bytes(const dn_tensor *t, size_t *bytes)
{
    int64_t lo, hi, units;
    if (!dn_tensor_span(t, &lo, &hi) || __builtin_sub_overflow(hi, lo, &units) || units == INT64_MAX)
        return false;
    return !__builtin_mul_overflow((uint64_t)units + 1, dn_dtype_size((dn_dtype)t->type) * t->vect, bytes);
}

dn_status dn_tensor_fill(dn_tensor *t, int type, int rank, const int *dims, const char *const *names, const char *array)
{
    memset(t, 0, sizeof *t);
    if (!dn_dtype_valid(type) || type == DN_F32_FAST_FP8)
        return dn_fail(DN_BAD_PARAM, "dataType is %d; it is not a cudnnDataType_t that data can have", type);
    t->type = (uint8_t)type;
    t->rank = (uint8_t)rank;
    t->vect = (uint8_t)dn_dtype_vector((dn_dtype)type);
    t->vect_dim = t->vect > 1;
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 1 && names)
            return dn_fail(DN_BAD_PARAM, "%s is %d; it must be 1 or more", names[i], dims[i]);
        if (dims[i] < 1)
            return dn_fail(DN_BAD_PARAM, "%s[%d] is %d; it must be 1 or more", array, i, dims[i]);
        t->dims[i] = dims[i];
    }
    return DN_SUCCESS;
}

static dn_status too_large(void)
{
    return dn_fail(DN_BAD_PARAM, "the tensor's size in bytes does not fit size_t");
}

dn_status dn_tensor_format(dn_tensor *t, int format)
{
    if (format < CUDNN_TENSOR_NCHW || format > CUDNN_TENSOR_NCHW_VECT_C)
        return dn_fail(DN_BAD_PARAM, "format is %d; it must be NCHW, NHWC or NCHW_VECT_C", format);
    if (format == CUDNN_TENSOR_NCHW_VECT_C && t->vect == 1)
        return dn_fail(DN_BAD_PARAM, "format is NCHW_VECT_C and dataType %s; it needs INT8x4, UINT8x4 or INT8x32",
                       dn_dtype_name((dn_dtype)t->type));
    if (format == CUDNN_TENSOR_NCHW_VECT_C && t->dims[1] % t->vect)
        return dn_fail(DN_BAD_PARAM, "c is %lld; NCHW_VECT_C needs a multiple of %d", (long long)t->dims[1], t->vect);
    size_t bytes;
    bool fits = format == CUDNN_TENSOR_NHWC ? dn_tensor_pack_nhwc(t) : dn_tensor_pack(t);
    return fits ? dn_tensor_bytes(t, &bytes) : too_large();
}

dn_status dn_tensor_bytes(const dn_tensor *t, size_t *bytes)
{
    if (!span_bytes(t, bytes))
        return too_large();
    return dn_tensor_countable(t) ? DN_SUCCESS : dn_fail(DN_BAD_PARAM, "the tensor has more than 2^52 elements");
}

static dn_status fill_strides(dn_tensor *t, const int *strides, const char *const *names)
{
    for (int i = 0; i < t->rank; i++) {
        if (strides[i] == 0 && t->dims[i] > 1 && names)
            return dn_fail(DN_BAD_PARAM, "%s is 0; a stride may be negative but not 0", names[i]);
        if (strides[i] == 0 && t->dims[i] > 1)
            return dn_fail(DN_BAD_PARAM, "strideA[%d] is 0; a stride may be negative but not 0", i);
        t->strides[i] = strides[i];
    }
    size_t bytes;
    return dn_tensor_bytes(t, &bytes);
}

/* Gives the descriptor its new content, or leaves it as it was where st is a failure. */
static cudnnStatus_t finish(dn_tensor_desc *d, const dn_tensor *t, int format, dn_status st)
{
    if (st == DN_SUCCESS) {
        d->t = *t;
        d->format = format;
        d->set = 1;
    }
    return dn_answer(st);
}

dn_status dn_rank_check(int rank, int least, const char *name)
{
    if (rank > DN_RANK_MAX)
        return dn_fail(DN_NOT_SUPPORTED, "%s is %d; at most CUDNN_DIM_MAX = %d are supported", name, rank, DN_RANK_MAX);
    return rank >= least ? DN_SUCCESS : dn_fail(DN_BAD_PARAM, "%s is %d; it must be %d or more", name, rank, least);
}

static const char *const nchw_names[] = { "n", "c", "h", "w" };

cudnnStatus_t CUDNNWINAPI cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensorDesc, cudnnTensorFormat_t format,
                                                     cudnnDataType_t dataType, int n, int c, int h, int w)
{
    dn_call_begin("cudnnSetTensor4dDescriptor");
    dn_tensor_desc *d = dn_object_of(&dn_tensor_pool, tensorDesc, "tensorDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    dn_tensor t;
    dn_status st = dn_tensor_fill(&t, (int)dataType, 4, (const int[]){ n, c, h, w }, nchw_names, NULL);
    if (st == DN_SUCCESS)
        st = dn_tensor_format(&t, (int)format);
    return finish(d, &t, (int)format, st);
}

cudnnStatus_t CUDNNWINAPI cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensorDesc, cudnnDataType_t dataType, int n, int c,
                                                       int h, int w, int nStride, int cStride, int hStride, int wStride)
{
    static const char *const stride_names[] = { "nStride", "cStride", "hStride", "wStride" };
    dn_call_begin("cudnnSetTensor4dDescriptorEx");
    dn_tensor_desc *d = dn_object_of(&dn_tensor_pool, tensorDesc, "tensorDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    dn_tensor t;
    dn_status st = dn_tensor_fill(&t, (int)dataType, 4, (const int[]){ n, c, h, w }, nchw_names, NULL);
    if (st == DN_SUCCESS)
        st = fill_strides(&t, (const int[]){ nStride, cStride, hStride, wStride }, stride_names);
    return finish(d, &t, -1, st);
}

cudnnStatus_t CUDNNWINAPI cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensorDesc, cudnnDataType_t dataType, int nbDims,
                                                     const int dimA[], const int strideA[])
{
    dn_call_begin("cudnnSetTensorNdDescriptor");
    dn_tensor_desc *d = dn_object_of(&dn_tensor_pool, tensorDesc, "tensorDesc");
    if (!d || dn_want(dimA, "dimA") || dn_want(strideA, "strideA"))
        return dn_answer(DN_BAD_PARAM);
    dn_tensor t;
    dn_status st = dn_rank_check(nbDims, RANK_MIN, "nbDims");
    if (st == DN_SUCCESS)
        st = dn_tensor_fill(&t, (int)dataType, nbDims, dimA, NULL, "dimA");
    if (st == DN_SUCCESS)
        st = fill_strides(&t, strideA, NULL);
    return finish(d, &t, -1, st);
}

cudnnStatus_t CUDNNWINAPI cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t tensorDesc, cudnnTensorFormat_t format,
                                                       cudnnDataType_t dataType, int nbDims, const int dimA[])
{
    dn_call_begin("cudnnSetTensorNdDescriptorEx");
    dn_tensor_desc *d = dn_object_of(&dn_tensor_pool, tensorDesc, "tensorDesc");
    if (!d || dn_want(dimA, "dimA"))
        return dn_answer(DN_BAD_PARAM);
    dn_tensor t;
    dn_status st = dn_rank_check(nbDims, RANK_MIN, "nbDims");
    if (st == DN_SUCCESS)
        st = dn_tensor_fill(&t, (int)dataType, nbDims, dimA, NULL, "dimA");
    if (st == DN_SUCCESS)
        st = dn_tensor_format(&t, (int)format);
    return finish(d, &t, (int)format, st);
}

/* A packed tensor of more than 2^31 elements can have a stride that the getters' int cannot hold. */
static dn_status check_int_strides(const dn_tensor *t)
{
    for (int i = 0; i < t->rank; i++)
        if (t->strides[i] != (int)t->strides[i])
            return dn_fail(DN_NOT_SUPPORTED, "stride %d is %lld, which an int cannot hold", i, (long long)t->strides[i]);
    return DN_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t tensorDesc, cudnnDataType_t *dataType, int *n,
                                                     int *c, int *h, int *w, int *nStride, int *cStride, int *hStride, int *wStride)
{
    dn_call_begin("cudnnGetTensor4dDescriptor");
    const dn_tensor_desc *d = dn_object_of(&dn_tensor_pool, tensorDesc, "tensorDesc");
    if (!d || dn_want(dataType, "dataType"))
        return dn_answer(DN_BAD_PARAM);
    int *const dims[] = { n, c, h, w }, *const strides[] = { nStride, cStride, hStride, wStride };
    static const char *const stride_names[] = { "nStride", "cStride", "hStride", "wStride" };
    for (int i = 0; i < 4; i++)
        if (dn_want(dims[i], nchw_names[i]) || dn_want(strides[i], stride_names[i]))
            return dn_answer(DN_BAD_PARAM);
    if (d->set && d->t.rank != 4)
        return dn_answer(dn_fail(DN_BAD_PARAM, "tensorDesc has %d dimensions; cudnnGetTensorNdDescriptor reads it", d->t.rank));
    if (check_int_strides(&d->t) != DN_SUCCESS)
        return dn_answer(DN_NOT_SUPPORTED);
    *dataType = (cudnnDataType_t)d->t.type;
    for (int i = 0; i < 4; i++) {
        *dims[i] = (int)d->t.dims[i];
        *strides[i] = (int)d->t.strides[i];
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t tensorDesc, int nbDimsRequested,
                                                     cudnnDataType_t *dataType, int *nbDims, int dimA[], int strideA[])
{
    dn_call_begin("cudnnGetTensorNdDescriptor");
    const dn_tensor_desc *d = dn_object_of(&dn_tensor_pool, tensorDesc, "tensorDesc");
    if (!d || dn_want_range(nbDimsRequested, 0, DN_RANK_MAX, "nbDimsRequested", "0 to CUDNN_DIM_MAX = 8") ||
        dn_want(dataType, "dataType") || dn_want(nbDims, "nbDims"))
        return dn_answer(DN_BAD_PARAM);
    if (nbDimsRequested && (dn_want(dimA, "dimA") || dn_want(strideA, "strideA")))
        return dn_answer(DN_BAD_PARAM);
    if (nbDimsRequested && check_int_strides(&d->t) != DN_SUCCESS)
        return dn_answer(DN_NOT_SUPPORTED);
    *dataType = (cudnnDataType_t)d->t.type;
    *nbDims = d->t.rank;
    for (int i = 0; i < nbDimsRequested && i < d->t.rank; i++) {
        dimA[i] = (int)d->t.dims[i];
        strideA[i] = (int)d->t.strides[i];
    }
    return CUDNN_STATUS_SUCCESS;
}

/* Bytes that the tensor spans, gaps between elements included. */
cudnnStatus_t CUDNNWINAPI cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t tensorDesc, size_t *size)
{
    dn_call_begin("cudnnGetTensorSizeInBytes");
    const dn_tensor *t = dn_tensor_of(tensorDesc, "tensorDesc");
    if (!t || dn_want(size, "size"))
        return dn_answer(DN_BAD_PARAM);
    return dn_answer(dn_tensor_bytes(t, size));
}
