/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the attention kernels are given; shared by host and kernels. Letters and the order of rows as in ops/attn.h. */
#ifndef DN_CUDA_ATTN_ATTN_H
#define DN_CUDA_ATTN_ATTN_H

#include "cuda/view.h"

enum { DN_ATTN_BLOCK = 128, DN_ATTN_WINDOW = 440, DN_ATTN_COLUMNS = 32 };

/* A dropout mask, drawn from a state as the training call found it. */
typedef struct dn_attn_mask_view {
    const void *state;             /* NULL: none */
    unsigned long long threshold;
    double scale;                  /* 1 / (1 - p) */
} dn_attn_mask_view;

/* Window bounds come by value: the host's arrays may change as soon as the call returns. */
typedef struct dn_attn_window {
    int *to;                       /* lo[times], hi[times] */
    int times, first, count;       /* of the part that this launch writes */
    int lo[DN_ATTN_WINDOW], hi[DN_ATTN_WINDOW];
} dn_attn_window;

/* Lengths, cut to what there is, and the dropout states, which count the call. One block. */
typedef struct dn_attn_keep {
    const int *from_q, *from_k;
    int *to_q, *to_k;
    int count_q, count_k, most_q, most_k;
    void *states[2];               /* NULL: no such dropout */
    void *kept;                    /* both states, one behind the other */
} dn_attn_keep;

/* Rows of sequence data, time x batch x beam x vector by strides, to or from a compact array [batch][beam][times][vector]. */
typedef struct dn_attn_rows_view {
    dn_elements e, compact, added; /* added.ptr NULL: none; lies by strides of its own */
    long long stride[4], added_stride[4];
    long long rows, vector;
    int beams, times, first;       /* times first .. first + times - 1 */
    int zero;
    const int *len;                /* by batch x beam; rows past it are 0. NULL: all are inside */
    dn_attn_mask_view mask;        /* by the compact array's elements */
} dn_attn_rows_view;

typedef struct dn_attn_softmax_view {
    const void *score;             /* [heads][rows][keys] f32, or f64 for f64 data; backward: gradients by the kept probabilities */
    dn_elements prob, kept;        /* kept.ptr NULL: no dropout */
    dn_elements ds;                /* gradients by the scores */
    long long lines, rows_q;       /* heads N B S, N B S */
    int times, keys, first, beams; /* beams: sequences of queries per one of keys */
    const int *len_q, *len_k, *lo, *hi;
    dn_attn_mask_view mask;
    double scale;
} dn_attn_softmax_view;

/* [heads][rows][size] and [rows][heads][size] */
typedef struct dn_attn_turn {
    dn_elements from, to;
    long long rows;
    int heads, size;
    int split;                     /* 1: to is the first */
    int zero;
} dn_attn_turn;

/* to[column] = sum of the rows + beta to[column] */
typedef struct dn_attn_columns_view {
    dn_elements from, to;
    long long rows, columns;
    double beta;
} dn_attn_columns_view;

#endif
