/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the softmax kernels are given; shared by host and kernels. */
#ifndef DN_CUDA_SOFTMAX_SOFTMAX_H
#define DN_CUDA_SOFTMAX_SOFTMAX_H

#include "cuda/view.h"

/* Tensors of the walks: y x, or dx y dy. */
typedef struct dn_softmax_naive {
    dn_walk groups, inner;  /* from group to group, and the elements of one from 0 */
    dn_elements e[3];
    int algo, team;         /* dn_softmax_param; threads per group */
    double alpha, beta;
} dn_softmax_naive;

/* Rows of length values, packed one behind the other; for the tensors of dn_softmax_naive (the last unused forward). Vectors of 16 bytes
 * are counted from the tensor's beginning, so that a row may begin and end inside of one. */
typedef struct dn_softmax_rows {
    void *out;
    const void *in, *grad;
    long long rows;
    long long tail;         /* the vector that the tensors end in the middle of; -1: none */
    int length, algo;
    int chunk, chunks;      /* long rows in pieces: vectors of one, pieces of a row */
    float *part;            /* [rows][chunks][2]: maximum and sum of a piece */
    float alpha, beta;
} dn_softmax_rows;

/* n x c x pixels: a column of c values for each pixel. */
typedef struct dn_softmax_columns {
    void *out;
    const void *in, *grad;
    long long n, c, pixels;
    int algo, zero;
    float alpha, beta;
} dn_softmax_columns;

#endif
