/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks: what all engines share, that is the weight space (as cuDNN lays it out) and the reserve space (ours).
 *
 * Letters: T longest sequence, B batch, I input size, H hidden size, P recurrent output size (H without projection), L layers,
 * D directions (1, 2), G gates (1 for ReLU and tanh, 4 for LSTM, 3 for GRU). s is sigmoid, W the input and R the recurrent matrices, b
 * the biases of the products (0 where the bias mode has none).
 *   ReLU, tanh  h' = act(W x + b_w + R h + b_r)
 *   LSTM        i, f, o = s(W_* x + b_w* + R_* h + b_r*)   g = tanh(W_g x + b_wg + R_g h + b_rg)
 *               c' = f clip(c) + i g   h' = o tanh(clip(c')), or its projection P (o tanh(clip(c')))
 *   GRU         r, z = s(W_* x + b_w* + R_* h + b_r*)      n = tanh(W_n x + b_wn + r (R_n h + b_rn))
 *               h' = (1 - z) n + z h
 * Numbers of the linear layers: input products first, then recurrent ones, in the order i f g o / r z n, the projection of an LSTM last (8).
 * The input of layer l > 0 is the output of both directions of layer l - 1 (D P values), after dropout in training.
 *
 * Values of h are rounded to the data's type at every step; so is whatever else goes into a matrix product: o tanh(clip(c')) before a projection,
 * outputs scaled by dropout, dgates. Gates, cells and sums have the compute type (f64 for f64, else f32).
 * clip is fmin(fmax(v, lclip), rclip), but NaN stays NaN where clip_nan is 1; no gradient goes through it outside the limits, as the compute
 * type has them. A state is clipped where it is read, cx too, and not where it is kept: cy is not clipped (the vendor's 9.19).
 * Sequences end on their own: beyond its length a sequence changes no state, hy and cy are those of its own last step (the first one, t = 0, in
 * the backward direction), which are hx and cx where the length is 0. Y past the end of a sequence holds dn_args.fill, and so does DX (layouts
 * with padding). */
#ifndef DN_OPS_RNN_H
#define DN_OPS_RNN_H

#include "ops/problem.h"

enum { DN_RNN_RELU, DN_RNN_TANH, DN_RNN_LSTM, DN_RNN_GRU };
enum { DN_RNN_TIME_MAJOR, DN_RNN_PACKED, DN_RNN_BATCH_MAJOR };
enum { DN_RNN_BIAS_NONE, DN_RNN_BIAS_INPUT, DN_RNN_BIAS_DOUBLE, DN_RNN_BIAS_RECURRENT };

/* A matrix (rows x columns, row-major: rows are outputs) and a bias (rows) of the weight space, in elements from its start. */
typedef struct dn_rnn_weight {
    int64_t matrix, rows, columns;  /* rows 0: there is none (the input products of a skipped first layer) */
    int64_t bias, bias_rows;        /* bias_rows 0: there is none */
} dn_rnn_weight;

int dn_rnn_gates(const dn_rnn_param *p);       /* G */
int dn_rnn_slots(const dn_rnn_param *p);       /* values kept per unit and step: 1, 1, 4, 4 */
int dn_rnn_linear_layers(const dn_rnn_param *p);  /* 2 G, and the projection's */
int dn_rnn_directions(const dn_rnn_param *p);  /* D */
int64_t dn_rnn_pseudo_layers(const dn_rnn_param *p);  /* L D: past int where there are more than 2^30 layers */
int64_t dn_rnn_input_size(const dn_rnn_param *p, int layer);  /* I or D P */
/* pseudo is layer * D + direction (0 forward in time, 1 backward). False where pseudo or linear is out of range. */
bool dn_rnn_weight_at(const dn_rnn_param *p, int pseudo, int linear, dn_rnn_weight *w);
int64_t dn_rnn_weight_count(const dn_rnn_param *p);  /* elements of the weight space; -1 past int64 */

/* The reserve space, written by train, completed by bwd_data (dgates, dproj), read by both gradients. Position (t, b) is row t B + b whatever the
 * layout of X and Y; rows past a sequence's end hold zeros in out, dgates and dproj and nothing of worth in gates and cell.
 * All offsets in bytes, multiples of 256; pseudo layers one behind the other at the given pitch. */
typedef struct dn_rnn_reserve {
    size_t head;                /* dn_dropout_state of the forward call (64 bytes): masks are drawn again from it */
    size_t gates, gates_pitch;  /* [L D][T B][slots H] compute type: ReLU, tanh h'; LSTM i f g o; GRU r z n and R_n h + b_rn */
    size_t cell, cell_pitch;    /* [L D][T B][H] compute type, LSTM: c', not clipped */
    size_t out, out_pitch;      /* [L][T B][D P] data type: outputs of layers, before dropout, directions side by side */
    size_t dgates, dgates_pitch;  /* [L D][T B][slots H] data type: gradients by the gates before their functions; GRU: r z n and, fourth, the one
                                   * by R_n h + b_rn, which is dn r */
    size_t dproj, dproj_pitch;  /* [L D][T B][P] data type, with a projection alone: gradients by h', which that of the projection needs */
    size_t bytes;
} dn_rnn_reserve;

/* From the problem's X or DX (T, B, type) and parameters. False past size_t. */
bool dn_rnn_reserve_layout(const dn_problem *p, dn_rnn_reserve *r);

/* Roles by direction: infer, train X W Y; bwd_data Y DY W DX; bwd_filter X Y W, where W is the gradient (W's one dimension: dn_rnn_weight_count).
 * dn_rnn_input answers X, or DX where there is no X. HX, HY and their gradients are [L D][B][P], CX, CY and theirs [L D][B][H], data type.
 * A packed sequence has the strides of a time-major one; only the rows of sequences that are alive are there: the row of (t, b) is b plus the
 * count of positions (s, any) with s < t. Lengths fall from one sequence to the next there. */
const dn_tensor *dn_rnn_input(const dn_problem *p);
dn_dtype dn_rnn_compute_type(const dn_problem *p);  /* f64 for f64, else f32 */
/* A sequence tensor of this layout. */
void dn_rnn_sequence(dn_tensor *t, dn_dtype type, int layout, int64_t time, int64_t batch, int64_t vector);
/* Parameters that a problem line may leave out: input (from X), hidden (of a skipped input), proj (hidden). */
void dn_rnn_derive(dn_problem *p);

/* Dropout between layers: the value at row t B + b, column k of the output of layer l is element ((l T + t) B + b) D P + k of one dropout
 * mask (core/philox.h, with the head's seed and call). A kept value is scaled by 1 / (1 - dropout). The forward call adds 1 to the call number
 * of the states. */

#endif
