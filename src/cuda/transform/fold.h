/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the kernel that pads and folds is given; shared by host and kernel. */
#ifndef DN_CUDA_TRANSFORM_FOLD_H
#define DN_CUDA_TRANSFORM_FOLD_H

#include "cuda/view.h"

typedef struct dn_fold_naive {
    dn_view x, y;
    long long x_dims[DN_VIEW_RANK], y_dims[DN_VIEW_RANK], count;
    long long factor;                                      /* product of by */
    int before[DN_VIEW_RANK], by[DN_VIEW_RANK];            /* by: per dimension, 1 for batch and channel */
    int rank, unfold;
    double alpha, beta;
} dn_fold_naive;

#endif
