/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the kernels of add, scale, set, transform and the operations of two tensors are given; shared by host and kernels. */
#ifndef DN_CUDA_POINTWISE_POINTWISE_H
#define DN_CUDA_POINTWISE_POINTWISE_H

#include "cuda/flat_walk.h"
#include "cuda/view.h"

/* Tensors of the walk: y x b, as many as the operation has. */
typedef struct dn_pointwise_naive {
    dn_walk walk;
    dn_elements e[3];
    int op, nan;          /* dn_tensor_op_param */
    int vect, zero;       /* set: scalars per stored unit of y */
    double alpha, alpha2, beta;
    double value[32];     /* set: per scalar of a stored unit */
} dn_pointwise_naive;

/* y = alpha * x + beta * y in units. Scale: x is y, and beta 0. */
typedef struct dn_blend_flat {
    dn_flat flat;          /* y x */
    void *y;
    const void *x;
    float alpha, beta;
} dn_blend_flat;

/* y = op(alpha * x, alpha2 * b) + beta * y in units. */
typedef struct dn_tensor_op_flat {
    dn_flat flat;          /* y x b */
    dn_repeat repeat;
    void *y;
    const void *x, *b;
    float alpha, alpha2, beta;
    int op, nan;           /* dn_tensor_op_param */
    int kind;              /* how b is read: DN_REPEAT_..., or one of those below */
} dn_tensor_op_flat;

enum { DN_B_FLAT = 4, DN_B_NONE = 5 };

/* y = value: 32 bytes, over and over. */
typedef struct dn_set_flat {
    void *y;
    unsigned pattern[8];
    unsigned long long units;     /* of 16 bytes */
    unsigned tail, zero;          /* bytes behind them */
} dn_set_flat;

#endif
