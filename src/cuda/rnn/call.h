/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the host files of the recurrent rows share: a plan, where its workspace holds what, one call. */
#ifndef DN_CUDA_RNN_CALL_H
#define DN_CUDA_RNN_CALL_H

#include "cuda/gemm/host.h"
#include "cuda/rnn/kernels.h"
#include "cuda/rnn/rnn.h"

/* Kernels that every row uses; cuda_rnn_naive has them all. */
typedef enum dn_rnn_kernel {
    DN_RNN_K_LENGTHS, DN_RNN_K_STARTS, DN_RNN_K_MOVE, DN_RNN_K_HEAD, DN_RNN_K_COPY, DN_RNN_K_BIAS, DN_RNN_K_SKIP_FORWARD, DN_RNN_K_SKIP_BACKWARD,
    DN_RNN_K_SUMS, DN_RNN_K_SUMS_END, DN_RNN_K_COUNT
} dn_rnn_kernel;

/* The same for four values at a time, of one type. */
typedef enum dn_rnn_wide_kernel {
    DN_RNN_W_MOVE, DN_RNN_W_SKIP_FORWARD, DN_RNN_W_SKIP_BACKWARD, DN_RNN_W_PREVIOUS, DN_RNN_W_SUMS, DN_RNN_W_COUNT
} dn_rnn_wide_kernel;

/* Kernels of the cells, of one type or of any. */
typedef enum dn_rnn_cell_kernel {
    DN_RNN_C_STEP, DN_RNN_C_PROJECT, DN_RNN_C_BACK, DN_RNN_C_BACK_PROJECT, DN_RNN_C_PREVIOUS, DN_RNN_C_CELLS, DN_RNN_C_COUNT
} dn_rnn_cell_kernel;

typedef struct dn_rnn_sizes {
    int64_t steps, batch, rows;      /* T B, and their product */
    int64_t input, hidden, proj, width, widest;  /* I H P, D P; the larger of I and (more than one layer) D P */
    int64_t units, slots;            /* G H, slots H */
    int64_t bias_width;              /* of dn_rnn_bias */
    int layers, directions, pseudos, gates, cell;
    bool projects, lstm, gru, train, infer;
    dn_dtype type, compute;
    size_t data, sum;                /* bytes of an element */
} dn_rnn_sizes;

/* Sections of the workspace, in bytes; what a direction has not is empty. */
typedef struct dn_rnn_space {
    size_t lengths, starts, bias, h, c, dh, dc;
    size_t gates;                    /* infer: [D][T B][G H] compute */
    size_t x;                        /* [T B][I] data: X in dense rows */
    size_t dropped;                  /* [T B][D P] data: input of a layer after dropout */
    size_t out[2];                   /* infer: [T B][D P] data, outputs of even and odd layers */
    size_t dout[2];                  /* bwd_data: [T B][widest] compute, gradients by the outputs of layers */
    size_t previous, cells;          /* bwd_filter: [T B][P], [T B][H] data */
    size_t partial;                  /* of products and sums */
    size_t scratch;                  /* of the recurrence */
    size_t bytes;
} dn_rnn_space;

/* plan->state */
typedef struct dn_rnn_plan {
    dn_rnn_sizes s;
    dn_rnn_reserve reserve;
    dn_rnn_space space;
    dn_gemm_functions gemm;
    dn_cu_fn kernels[DN_RNN_K_COUNT], cells[DN_RNN_C_COUNT];
    dn_cu_fn wide[DN_RNN_W_COUNT];   /* NULL where the row computes exactly */
    const dn_rnn_recurrence *recurrence;
    void *recurrence_state;
} dn_rnn_plan;

typedef struct dn_rnn_call {
    dn_handle *h;
    const dn_problem *p;
    const dn_rnn_plan *plan;
    const dn_args *a;
    char *space;                     /* aligned to 256 bytes */
    bool full;
} dn_rnn_call;

void dn_rnn_sizes_of(dn_rnn_sizes *s, const dn_problem *p);
dn_rnn_clip dn_rnn_clip_of(const dn_problem *p);
void dn_rnn_space_of(dn_rnn_space *space, const dn_problem *p, const dn_rnn_recurrence *r);
dn_status dn_rnn_cell_functions(dn_handle *h, const dn_problem *p, bool exact, dn_cu_fn f[DN_RNN_C_COUNT]);

dn_status dn_rnn_run_forward(const dn_rnn_call *j);
dn_status dn_rnn_run_backward(const dn_rnn_call *j);
dn_status dn_rnn_run_filter(const dn_rnn_call *j);

extern const dn_rnn_recurrence dn_rnn_steps_exact, dn_rnn_steps;

/* --- common.c: pieces of a call --- */
char *dn_rnn_reserved(const dn_rnn_call *j, size_t offset, size_t pitch, int i);
/* A launch over `threads` threads that loop. */
dn_status dn_rnn_launch(dn_handle *h, dn_cu_fn f, int64_t threads, const void *params);
/* Whether a kernel for four values may have elements from here on, `step` (and multiples of it) apart. */
bool dn_rnn_is_wide(const dn_rnn_call *j, const dn_elements *e, int64_t step);
dn_elements dn_rnn_elements(dn_dtype type, const void *ptr);
const int *dn_rnn_lengths_at(const dn_rnn_call *j);
/* Lengths and, for packed sequences, starts to the workspace. */
dn_status dn_rnn_put_positions(const dn_rnn_call *j);
/* Biases of all gates to the workspace. */
dn_status dn_rnn_put_biases(const dn_rnn_call *j);
/* Whether positions (t, b) of the layout are rows t B + b. */
bool dn_rnn_is_dense(const dn_rnn_call *j);
/* n values of each position between a sequence tensor and dense rows. */
dn_status dn_rnn_gather(const dn_rnn_call *j, const dn_tensor *t, const void *from, dn_dtype type, void *to);
dn_status dn_rnn_scatter(const dn_rnn_call *j, const dn_tensor *t, dn_dtype type, const void *from, void *to, double fill);
/* Dropout of dense rows of D P values before layer `layer`; in place too. */
dn_status dn_rnn_drop_rows(const dn_rnn_call *j, int layer, dn_dtype type, const void *from, void *to);
bool dn_rnn_is_dropped(const dn_rnn_call *j, int layer);
/* States of all pseudo layers, `size` values of each batch element: the caller's (NULL: zeros) to the workspace at `to`, and back (NULL: not
 * wanted). There the states of a layer begin at multiples of 256 bytes. */
dn_status dn_rnn_load_state(const dn_rnn_call *j, const void *from, size_t to, dn_dtype type, int64_t size);
dn_status dn_rnn_store_state(const dn_rnn_call *j, size_t from, dn_dtype type, void *to, int64_t size);
void *dn_rnn_state(const dn_rnn_call *j, size_t section, dn_dtype type, int layer, int64_t size);
/* X of a layer as dense rows of data: *x. */
dn_status dn_rnn_layer_input(const dn_rnn_call *j, int layer, const void **x);
const void *dn_rnn_matrix(const dn_rnn_call *j, int pseudo, int linear, dn_rnn_weight *w);
/* Biases of pseudo layer 0 and the step to the next, as dn_rnn_bias has them. */
/* Rows that one part of a sum over all rows takes. */
int64_t dn_rnn_sum_part(int64_t rows);
void dn_rnn_bias_places(const dn_rnn_param *q, long long *input, long long *recurrent, long long *pitch);

#endif
