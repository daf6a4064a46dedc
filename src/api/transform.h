/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The object behind cudnnTensorTransformDescriptor_t. */
#ifndef DN_API_TRANSFORM_H
#define DN_API_TRANSFORM_H

#include "ops/problem.h"

typedef struct dn_transform_desc {
    uint32_t cookie;
    uint32_t set;
    int32_t rank;
    int32_t format;                                    /* cudnnTensorFormat_t of the destination */
    int32_t direction;                                 /* cudnnFoldingDirection_t */
    int32_t pad_before[DN_RANK_MAX], pad_after[DN_RANK_MAX];
    uint32_t fold[DN_SPATIAL_MAX];                     /* of the spatial dimensions; 0 and 1 mean none */
} dn_transform_desc;

#endif
