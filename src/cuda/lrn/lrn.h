/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the kernels of local response and divisive normalisation are given; shared by host and kernels. */
#ifndef DN_CUDA_LRN_LRN_H
#define DN_CUDA_LRN_LRN_H

#include "cuda/view.h"

/* dn_lrn_param, with the window's sides and alpha shared out over it. */
typedef struct dn_lrn_fn {
    int back, ahead;
    double share, beta, k;
} dn_lrn_fn;

/* Tensors of the walk: y x, or dx x dy. */
typedef struct dn_lrn_naive {
    dn_walk places;             /* the tensors without their channels */
    long long step[3];          /* from one channel to the next */
    long long c, chunk;         /* channels, and those that one thread takes */
    dn_elements e[3];
    dn_lrn_fn fn;
    double alpha, beta;
} dn_lrn_naive;

/* x packed, as n x c x pixels, or as pixels x c where n is 1 (channels innermost). */
typedef struct dn_lrn_packed {
    void *out;
    const void *x, *dy;
    long long n, c, pixels;
    float share, power, k, factor;  /* alpha / n, beta, k, and bwd: 2 alpha / n beta */
    float alpha, beta;
} dn_lrn_packed;

/* A tensor of divisive normalisation; ptr NULL: not there. */
typedef struct dn_divnorm_tensor {
    dn_elements e;
    long long stride[5];        /* n c d h w, in scalars */
} dn_divnorm_tensor;

/* Planes [first, first + planes) in double lie at scratch, [plane][d h w] each: x, means, and for bwd g and t. */
typedef struct dn_divnorm_naive {
    dn_divnorm_tensor out, x, means, dy, dmeans;
    long long channels, depth, height, width;
    long long first, planes;
    double *x_plane, *m_plane, *g_plane, *t_plane;
    dn_lrn_fn fn;
    double alpha, beta;
} dn_divnorm_naive;

#endif
