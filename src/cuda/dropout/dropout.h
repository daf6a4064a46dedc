/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the dropout kernels are given; shared by host and kernels. */
#ifndef DN_CUDA_DROPOUT_DROPOUT_H
#define DN_CUDA_DROPOUT_DROPOUT_H

#include "cuda/view.h"

/* Both tensors in logical order; their dims may differ, so each has a walk. */
typedef struct dn_dropout_naive {
    dn_walk in_walk, out_walk;
    dn_elements in, out;
    unsigned char *mask;
    const void *states;            /* dn_dropout_state of any alignment */
    unsigned long long threshold;
    double scale;                  /* 1 / (1 - p) */
} dn_dropout_naive;

typedef struct dn_dropout_count {
    void *states;
} dn_dropout_count;

/* Both tensors packed in logical order, in units of 16 bytes. */
typedef struct dn_dropout_flat {
    const void *in;
    void *out;
    unsigned char *mask;
    const void *states;
    unsigned long long threshold;
    float scale;
    unsigned units, tail;          /* the units hold a multiple of 8 elements; tail: elements behind them, below 8 */
    int aligned;                   /* states is a multiple of 8 */
} dn_dropout_flat;

#endif
