/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Filter descriptors: k output channels, c input channels of a group, then the window; strides follow the format. */
#include "api.h"

#include <string.h>

cudnnStatus_t CUDNNWINAPI cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *filterDesc)
{
    dn_call_begin("cudnnCreateFilterDescriptor");
    return dn_answer(dn_object_create(&dn_filter_pool, (void **)filterDesc, "filterDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filterDesc)
{
    dn_call_begin("cudnnDestroyFilterDescriptor");
    return dn_answer(dn_object_destroy(&dn_filter_pool, filterDesc, "filterDesc"));
}

static cudnnStatus_t set_filter(cudnnFilterDescriptor_t filterDesc, cudnnDataType_t dataType, cudnnTensorFormat_t format, int rank,
                                const int *dims, const char *const *names)
{
    dn_filter_desc *d = dn_object_of(&dn_filter_pool, filterDesc, "filterDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    dn_tensor t;
    dn_status st = dn_tensor_fill(&t, (int)dataType, rank, dims, names, "filterDimA");
    if (st == DN_SUCCESS)
        st = dn_tensor_format(&t, (int)format);
    if (st == DN_SUCCESS) {
        d->t = t;
        d->format = (int)format;
        d->set = 1;
    }
    return dn_answer(st);
}

cudnnStatus_t CUDNNWINAPI cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filterDesc, cudnnDataType_t dataType,
                                                     cudnnTensorFormat_t format, int k, int c, int h, int w)
{
    static const char *const names[] = { "k", "c", "h", "w" };
    dn_call_begin("cudnnSetFilter4dDescriptor");
    return set_filter(filterDesc, dataType, format, 4, (const int[]){ k, c, h, w }, names);
}

cudnnStatus_t CUDNNWINAPI cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filterDesc, cudnnDataType_t dataType,
                                                     cudnnTensorFormat_t format, int nbDims, const int filterDimA[])
{
    dn_call_begin("cudnnSetFilterNdDescriptor");
    if (dn_want(filterDimA, "filterDimA"))
        return dn_answer(DN_BAD_PARAM);
    dn_status st = dn_rank_check(nbDims, 3, "nbDims");
    return st == DN_SUCCESS ? set_filter(filterDesc, dataType, format, nbDims, filterDimA, NULL) : dn_answer(st);
}

cudnnStatus_t CUDNNWINAPI cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t filterDesc, cudnnDataType_t *dataType,
                                                     cudnnTensorFormat_t *format, int *k, int *c, int *h, int *w)
{
    dn_call_begin("cudnnGetFilter4dDescriptor");
    const dn_filter_desc *d = dn_object_of(&dn_filter_pool, filterDesc, "filterDesc");
    if (!d || dn_want(dataType, "dataType") || dn_want(format, "format") || dn_want(k, "k") || dn_want(c, "c") || dn_want(h, "h") ||
        dn_want(w, "w"))
        return dn_answer(DN_BAD_PARAM);
    if (d->set && d->t.rank != 4)
        return dn_answer(dn_fail(DN_BAD_PARAM, "filterDesc has %d dimensions; cudnnGetFilterNdDescriptor reads it", d->t.rank));
    *dataType = (cudnnDataType_t)d->t.type;
    *format = (cudnnTensorFormat_t)d->format;
    *k = (int)d->t.dims[0];
    *c = (int)d->t.dims[1];
    *h = (int)d->t.dims[2];
    *w = (int)d->t.dims[3];
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t filterDesc, int nbDimsRequested,
                                                     cudnnDataType_t *dataType, cudnnTensorFormat_t *format, int *nbDims,
                                                     int filterDimA[])
{
    dn_call_begin("cudnnGetFilterNdDescriptor");
    const dn_filter_desc *d = dn_object_of(&dn_filter_pool, filterDesc, "filterDesc");
    if (!d || dn_want_range(nbDimsRequested, 1, INT32_MAX, "nbDimsRequested", "1 to CUDNN_DIM_MAX = 8") ||
        dn_want(dataType, "dataType") || dn_want(format, "format") || dn_want(nbDims, "nbDims") || dn_want(filterDimA, "filterDimA"))
        return dn_answer(DN_BAD_PARAM);
    if (nbDimsRequested > DN_RANK_MAX)  /* as the vendor tells them apart */
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "nbDimsRequested is %d; it must be 1 to CUDNN_DIM_MAX = 8", nbDimsRequested));
    *dataType = (cudnnDataType_t)d->t.type;
    *format = (cudnnTensorFormat_t)d->format;
    *nbDims = d->t.rank;
    for (int i = 0; i < nbDimsRequested && i < d->t.rank; i++)
        filterDimA[i] = (int)d->t.dims[i];
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnGetFilterSizeInBytes(const cudnnFilterDescriptor_t filterDesc, size_t *size)
{
    dn_call_begin("cudnnGetFilterSizeInBytes");
    const dn_filter_desc *d = dn_filter_of(filterDesc, "filterDesc");
    if (!d || dn_want(size, "size"))
        return dn_answer(DN_BAD_PARAM);
    return dn_answer(dn_tensor_bytes(&d->t, size));
}
