/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Tensor transform descriptors. Statuses are the documented ones; 9.19 as measured also takes 2 dimensions and an unknown
 * direction, and as it does, negative padding and fold 0 are kept here for the call that uses them to judge. */
#include "transform.h"

#include "api.h"

#include <string.h>

cudnnStatus_t CUDNNWINAPI cudnnCreateTensorTransformDescriptor(cudnnTensorTransformDescriptor_t *transformDesc)
{
    dn_call_begin("cudnnCreateTensorTransformDescriptor");
    return dn_answer(dn_object_create(&dn_transform_pool, (void **)transformDesc, "transformDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyTensorTransformDescriptor(cudnnTensorTransformDescriptor_t transformDesc)
{
    dn_call_begin("cudnnDestroyTensorTransformDescriptor");
    return dn_answer(dn_object_destroy(&dn_transform_pool, transformDesc, "transformDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnSetTensorTransformDescriptor(cudnnTensorTransformDescriptor_t transformDesc, const uint32_t nbDims,
                                                            const cudnnTensorFormat_t destFormat, const int32_t padBeforeA[],
                                                            const int32_t padAfterA[], const uint32_t foldA[],
                                                            const cudnnFoldingDirection_t direction)
{
    dn_call_begin("cudnnSetTensorTransformDescriptor");
    dn_transform_desc *d = dn_object_of(&dn_transform_pool, transformDesc, "transformDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    if (nbDims <= 2)
        return dn_answer(dn_fail(DN_BAD_PARAM, "nbDims is %u; it must be 3 or more", nbDims));
    if (dn_want_range((int)direction, CUDNN_TRANSFORM_FOLD, CUDNN_TRANSFORM_UNFOLD, "direction", "TRANSFORM_FOLD or TRANSFORM_UNFOLD"))
        return dn_answer(DN_BAD_PARAM);
    if (nbDims > DN_RANK_MAX)
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "nbDims is %u; at most CUDNN_DIM_MAX = %d are supported", nbDims, DN_RANK_MAX));
    if ((int)destFormat < CUDNN_TENSOR_NCHW || (int)destFormat > CUDNN_TENSOR_NCHW_VECT_C)
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "destFormat is %d; it must be NCHW, NHWC or NCHW_VECT_C", (int)destFormat));
    d->rank = (int32_t)nbDims;
    d->format = (int32_t)destFormat;
    d->direction = (int32_t)direction;
    memset(d->pad_before, 0, sizeof d->pad_before);
    memset(d->pad_after, 0, sizeof d->pad_after);
    memset(d->fold, 0, sizeof d->fold);
    if (padBeforeA)
        memcpy(d->pad_before, padBeforeA, nbDims * sizeof *padBeforeA);
    if (padAfterA)
        memcpy(d->pad_after, padAfterA, nbDims * sizeof *padAfterA);
    if (foldA)
        memcpy(d->fold, foldA, (nbDims - 2) * sizeof *foldA);
    d->set = 1;
    return CUDNN_STATUS_SUCCESS;
}

/* Arrays have nbDimsRequested entries, foldA two fewer; past the descriptor's own rank they get 0. One never set reads as zeros,
 * as the vendor's does. */
cudnnStatus_t CUDNNWINAPI cudnnGetTensorTransformDescriptor(cudnnTensorTransformDescriptor_t transformDesc,
                                                            uint32_t nbDimsRequested, cudnnTensorFormat_t *destFormat,
                                                            int32_t padBeforeA[], int32_t padAfterA[], uint32_t foldA[],
                                                            cudnnFoldingDirection_t *direction)
{
    dn_call_begin("cudnnGetTensorTransformDescriptor");
    const dn_transform_desc *d = dn_object_of(&dn_transform_pool, transformDesc, "transformDesc");
    if (!d || dn_want_range(nbDimsRequested, 3, DN_RANK_MAX, "nbDimsRequested", "3 to CUDNN_DIM_MAX = 8"))
        return dn_answer(DN_BAD_PARAM);
    if (destFormat)
        *destFormat = (cudnnTensorFormat_t)d->format;
    if (direction)
        *direction = (cudnnFoldingDirection_t)d->direction;
    if (padBeforeA)
        memcpy(padBeforeA, d->pad_before, nbDimsRequested * sizeof *padBeforeA);
    if (padAfterA)
        memcpy(padAfterA, d->pad_after, nbDimsRequested * sizeof *padAfterA);
    if (foldA)
        memcpy(foldA, d->fold, (nbDimsRequested - 2) * sizeof *foldA);
    return CUDNN_STATUS_SUCCESS;
}
