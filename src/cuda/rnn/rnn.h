/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks on the GPU: what the rows share. Letters as in ops/rnn.h.
 *
 * A row moves X to dense rows, multiplies those of a whole layer with W, and leaves the steps of the layer, both directions together, to a
 * recurrence: launches for every step (step.c), or one launch for all of them. All that a recurrence gets is dense: position (t, b) is row
 * t B + b, direction d is d pitches behind direction 0. */
#ifndef DN_CUDA_RNN_RNN_H
#define DN_CUDA_RNN_RNN_H

#include "cuda/cuda.h"
#include "ops/rnn.h"

/* Data: the problem's type. Compute: f32 (f64 for f64 data). Buffers lie in the workspace or the reserve space, aligned to 16 bytes; the
 * weights have the alignment of an element. The position (t, b) exists where t < lengths[b]; direction 1 starts at lengths[b] - 1. */
typedef struct dn_rnn_layer_fwd {
    const void *r[2];        /* [G H][P] data: the recurrent matrices of each direction, gates in the order of ops/rnn.h */
    const void *proj[2];     /* [P][H] data; NULL without projection */
    const void *bias_n[2];   /* [H] compute: b_rn of a GRU; NULL without (the other biases are in gates already) */
    const int *lengths;      /* [B], on the device */
    int full;                /* all lengths are T */
    void *gates;             /* [D][T B][gates_ld] compute: in the first G H columns W x + biases of every row (of worth where it exists); training
                              * leaves there what ops/rnn.h says of the reserve's gates */
    int64_t gates_ld, gates_pitch;    /* elements: at least G H, slots H in training; T B gates_ld and more */
    void *cell;              /* [D][T B][H] compute, LSTM in training: c', not clipped (ops/rnn.h) */
    int64_t cell_pitch;
    void *out;               /* [T B][D P] data: h', zeros where the position does not exist */
    void *h, *c;             /* [D][B][P] data, [D][B][H] compute: in the initial, out the final states */
} dn_rnn_layer_fwd;

typedef struct dn_rnn_layer_bwd {
    const void *r[2], *proj[2];
    const int *lengths;
    int full;
    const void *gates, *cell, *out;   /* as the forward pass left them; gates_ld is slots H */
    int64_t gates_pitch, cell_pitch;
    const void *h, *c;       /* [D][B][P] data, [D][B][H] compute: the initial states */
    const void *dout;        /* [T B][D P] compute: gradient by out, zeros where the position does not exist */
    void *dgates;            /* [D][T B][slots H] data, out: zeros where the position does not exist */
    int64_t dgates_pitch;
    void *dproj;             /* [D][T B][P] data, out: the whole gradient by h', zeros where the position does not exist; NULL without projection */
    int64_t dproj_pitch;
    void *dh, *dc;           /* [D][B][P], [D][B][H] compute: in the gradients by the final, out by the initial states */
} dn_rnn_layer_bwd;

/* A way to do the steps of a layer; `data` of a row. */
typedef struct dn_rnn_recurrence {
    bool exact;  /* products and cells are computed in f64, whatever the type */
    /* Bytes of scratch for one layer, NULL: none. For any p that the row takes. */
    size_t (*scratch)(const dn_problem *p);
    /* Makes the functions; *state goes with free. NULL: nothing. */
    dn_status (*prepare)(dn_handle *h, const dn_problem *p, void **state);
    dn_status (*forward)(dn_handle *h, const dn_problem *p, const void *state, const dn_rnn_layer_fwd *l, void *scratch);   /* infer, train */
    dn_status (*backward)(dn_handle *h, const dn_problem *p, const void *state, const dn_rnn_layer_bwd *l, void *scratch);  /* bwd_data */
} dn_rnn_recurrence;

/* A row of a recurrence: its check first asks dn_rnn_cuda_check, then what it wants itself; its workspace is dn_rnn_cuda_workspace;
 * the rest is prepare, run, release here, and .data = &recurrence: DN_RNN_ROW below. */
const char *dn_rnn_cuda_check(const dn_problem *p, dn_dtype type);
size_t dn_rnn_cuda_workspace(const dn_problem *p, const dn_rnn_recurrence *r);
dn_status dn_rnn_cuda_prepare(dn_handle *h, dn_plan *plan);
dn_status dn_rnn_cuda_run(dn_handle *h, const dn_plan *plan, const dn_args *a);
void dn_rnn_cuda_release(dn_plan *plan);

/* Such a row in a table. bytes: its workspace, a function of the row's own file, since a solver is asked with the problem alone. */
#define DN_RNN_ROW(label, direction, marks, takes, bytes, recurrence) \
    { .name = label, .op = DN_OP_RNN, .dir = direction, .algo = -1, .flags = marks, .check = takes, .workspace = bytes, \
      .prepare = dn_rnn_cuda_prepare, .run = dn_rnn_cuda_run, .release = dn_rnn_cuda_release, .data = recurrence }

#endif
