/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the kernels around the products of a recurrent network are given; shared by host and kernels. Letters, and where what lies, as in
 * ops/rnn.h and cuda/rnn/rnn.h. Data and compute types are dn_dtype; offsets and pitches count elements. */
#ifndef DN_CUDA_RNN_KERNELS_H
#define DN_CUDA_RNN_KERNELS_H

#include "cuda/view.h"

enum { DN_RNN_LENGTHS = 512, DN_RNN_SUM_PARTS = 64 };

/* Lengths travel as parameters, so that nothing is copied from the host while a graph is captured. */
typedef struct dn_rnn_lengths {
    int *to;
    int first, count;
    int value[DN_RNN_LENGTHS];
} dn_rnn_lengths;

/* starts[t]: rows of a packed sequence before time t. */
typedef struct dn_rnn_starts {
    const int *lengths;
    long long *starts;
    long long steps, batch;
} dn_rnn_starts;

/* Where position (t, b) begins: t by_time + b by_batch, or (starts[t] + b) by_batch. */
typedef struct dn_rnn_place {
    dn_elements e;
    long long by_time, by_batch;
    const long long *starts;
} dn_rnn_place;

/* to(t, b, k) = from(t, b, k), through dropout where drop is set; what does not exist gets fill, or is left alone where it has no place. */
typedef struct dn_rnn_move {
    dn_rnn_place from, to;
    long long steps, batch, n;
    const int *lengths;              /* NULL: all positions exist */
    double fill;
    int sparse;                      /* to has places for what exists alone */
    int drop;
    const void *head;                /* dn_dropout_state */
    unsigned long long element;      /* of the mask, at (0, 0, 0) */
    unsigned long long threshold;
    double scale;
} dn_rnn_move;

/* The states of dropout to the head of the reserve space; raises the number of the call. states NULL: zeros. */
typedef struct dn_rnn_head {
    void *states, *head;
} dn_rnn_head;

/* to = from, or zeros where from.ptr is NULL: runs of elements, a pitch from one to the next. */
typedef struct dn_rnn_copy {
    dn_elements from, to;
    long long runs, run, from_pitch, to_pitch;
} dn_rnn_copy;

/* Biases of the gates, [L D][width] compute: sums of those of both products; behind them that of a GRU's R_n h alone, which the gate's own
 * sum then lacks. */
typedef struct dn_rnn_bias {
    dn_elements w, to;
    long long input, recurrent, pitch;  /* of pseudo layer 0, -1: none; from one to the next */
    long long pseudos, hidden, width;
    int gates, gru;
} dn_rnn_bias;

/* A first layer whose input goes to the gates without a matrix. Forward: gates = x + bias of all directions; backward: x = sum of dgates. */
typedef struct dn_rnn_skip {
    dn_elements x, gates, bias;      /* x: [T B][H] */
    long long rows, hidden, gates_ld, gates_pitch, bias_pitch;
    int gates_count, directions;
} dn_rnn_skip;

/* Limits of a cell's state where it is read, rounded to the compute type. */
typedef struct dn_rnn_clip {
    int on, nan;                     /* nan: it goes through */
    double lo, hi;
} dn_rnn_clip;

/* One step of all batch elements: direction 0 is at time `step`, direction 1 at steps - 1 - step. */
typedef struct dn_rnn_step {
    void *gates, *cell, *out, *h, *c;
    void *m;                         /* [D][B][H] data: h' before the projection; NULL without */
    const void *recurrent;           /* [D][B][G H] compute: R h; with a projection afterwards [D][B][P], the projected */
    const void *bias_n;              /* GRU: [H] compute, pitch as below */
    const int *lengths;
    long long gates_ld, gates_pitch, cell_pitch, bias_pitch;
    long long steps, step, batch, hidden, proj;
    int directions, cell_kind, train, full;
    int data, compute;
    dn_rnn_clip clip;
} dn_rnn_step;

/* A step in one launch: the products are made where they are used. */
typedef struct dn_rnn_fused {
    dn_rnn_step s;                   /* h: before the step */
    const void *r;                   /* [G H][H] of direction 0 */
    void *next;                      /* h after the step */
    long long r_pitch;
    int wide_r, wide_h;              /* rows of 16-byte multiples */
} dn_rnn_fused;

/* Units of a block: a group of 16 for each gate, or, of cells with one gate, DN_RNN_FUSED_GROUPS groups. */
enum { DN_RNN_FUSED_GROUPS = 4, DN_RNN_FUSED_UNITS = 16, DN_RNN_FUSED_BATCH = 64, DN_RNN_FUSED_STAGES = 8, DN_RNN_FUSED_THREADS = 128 };

typedef struct dn_rnn_back {
    const void *gates, *cell, *out, *h, *c, *dout;
    const void *dm;                  /* [D][B][H] compute: gradient by h' before the projection; NULL without */
    void *dgates, *dproj, *dh, *dc;
    const int *lengths;
    long long gates_pitch, cell_pitch, dgates_pitch, dproj_pitch;
    long long steps, step, batch, hidden, proj;  /* step as forward: the largest comes first */
    int directions, cell_kind, full;
    int data, compute;
    dn_rnn_clip clip;
} dn_rnn_back;

/* [T B][P] data: the state that each position saw, of one direction; zeros where there is none. */
typedef struct dn_rnn_previous {
    const void *out, *h;             /* at the direction's first column; [B][P] */
    void *to;
    const int *lengths;
    long long steps, batch, proj, out_ld;
    int backward, full, data;
} dn_rnn_previous;

/* [T B][H] data: o tanh(clip(c')), of one direction; zeros where there is none. */
typedef struct dn_rnn_cells {
    const void *gates, *cell;
    void *to;
    const int *lengths;
    long long steps, batch, hidden;
    int full, data, compute;
    dn_rnn_clip clip;
} dn_rnn_cells;

/* bias = alpha sum + beta bias, the sums over all rows of dgates. */
typedef struct dn_rnn_sums {
    dn_elements dgates, w;           /* [L D][T B][columns] at dgates_pitch */
    double *partial;                 /* [parts][L D][columns] */
    long long dgates_pitch, rows, part, columns, pseudos, hidden;
    long long input, recurrent, pitch;  /* as in dn_rnn_bias */
    int parts, gates, gru;
    double alpha, beta;
} dn_rnn_sums;

#endif
