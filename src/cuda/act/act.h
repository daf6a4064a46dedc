/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the activation kernels are given; shared by host and kernels. */
#ifndef DN_CUDA_ACT_ACT_H
#define DN_CUDA_ACT_ACT_H

#include "cuda/flat_walk.h"
#include "cuda/view.h"

typedef struct dn_act_fn {
    int mode, nan;       /* dn_act_param */
    double coef, beta;
} dn_act_fn;

/* Tensors of the walk: y x, or dx x y dy. */
typedef struct dn_act_naive {
    dn_walk walk;
    dn_elements e[4];
    dn_act_fn fn;
    double alpha, beta;
} dn_act_naive;

/* The same in units: ptr as the walk's tensors. limit: coef rounded down, so that x <= limit is x <= coef. */
typedef struct dn_act_flat {
    dn_flat flat;
    void *ptr[4];
    float alpha, beta, coef, limit, swish;
    int mode, nan, zero;
} dn_act_flat;

#endif
