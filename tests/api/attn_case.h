/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A small attention layer with its data, in guarded memory. */
#ifndef ATTN_CASE_H
#define ATTN_CASE_H

#include "api_data.h"

enum { ATTN_LIST = 8 };

typedef struct attn_case {
    unsigned mode;
    int heads;
    double scale;
    int type, compute, math;
    int in[3], proj[4];                  /* queries keys values; and the output */
    int s, t, n, b;                      /* times of queries and keys, batch, beams */
    int residual;                        /* 1: a buffer of its own, 2: the queries */
    int axes[3];                         /* of time batch beam, outermost first */
    int qlen[ATTN_LIST], klen[ATTN_LIST], lo[ATTN_LIST], hi[ATTN_LIST];
} attn_case;

enum { ATTN_Q, ATTN_K, ATTN_V, ATTN_O, ATTN_RESIDUAL, ATTN_W, ATTN_DO, ATTN_DQ, ATTN_DK, ATTN_DV, ATTN_DW, ATTN_ARRAYS };

typedef struct attn_layer {
    attn_case c;
    cudnnAttnDescriptor_t desc;
    cudnnSeqDataDescriptor_t seq[4];     /* queries keys values output */
    void *a[ATTN_ARRAYS];
    int64_t count[ATTN_ARRAYS];
    int out;                             /* vector size of the output */
    size_t weights, work_size, reserve_size;
    void *work, *reserve;
    int *qlen, *klen;                    /* in the library's memory */
} attn_layer;

/* Inputs are multiples of 1/128 that follow from the array's number; outputs hold 777, weight gradients 1. */
void attn_make(attn_layer *l, const attn_case *c, bool train);
void attn_free(attn_layer *l);
/* step -1: all times. */
cudnnStatus_t attn_forward(attn_layer *l, int step);
cudnnStatus_t attn_backward_data(attn_layer *l);
cudnnStatus_t attn_backward_weights(attn_layer *l, cudnnWgradMode_t mode);
double attn_at(const attn_layer *l, int array, int64_t i);
/* Where element `vector` of (time, batch, beam) is in an array with that vector size. */
int64_t attn_index(const attn_layer *l, bool keys, int size, int time, int batch, int beam, int vector);
int attn_key_beams(const attn_case *c);

#endif
