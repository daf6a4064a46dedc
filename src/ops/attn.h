/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Multi-head attention: what all engines share, that is the weight buffer (as cuDNN lays it out) and the reserve space (ours).
 *
 * Roles, each of rank 4 (time, batch, beam, vector, in that order whatever the layout): X queries, B keys, Z values, Y the output, DY its
 * gradient, DX that of the queries; W all weights in one line (rank 1). DN_AUX_RESIDUAL lies as X does and is as long as Y, DN_AUX_DKEYS
 * as B, DN_AUX_DVALUES as Z. bwd_filter writes W, the others read it.
 *
 * Letters: S longest query sequence, T longest key sequence, N batch, B beams of queries, b beams of keys (1, or B where each beam has its
 * own), H heads, E and F vector sizes of a head in the scores and in the values. Per head h, with W_. the weights and c_. the biases:
 *     q' = W_q q + c_q    k' = W_k k + c_k    v' = W_v v + c_v       (q, k, v themselves where there is no such projection)
 *     p = softmax over the keys of scale q'.k', over those within lo[s] <= t < hi[s] and the key sequence; 0 at the others
 *     o' = sum over t of dropout(p) v'
 *     o  = dropout(sum over heads of W_o o' + c_o) + residual        (o' of all heads one behind the other without this projection)
 * A query without any key has p = 0, and so has one past its sequence's end: such rows of the output hold the bias and the residual, as the
 * vendor's do, and count in the gradient by that bias. Other gradients past the end of a sequence are 0. */
#ifndef DN_OPS_ATTN_H
#define DN_OPS_ATTN_H

#include "ops/problem.h"

typedef struct dn_attn_size {
    int64_t s, t, n, bq, bk;     /* S T N B b */
    int64_t heads;               /* H */
    int64_t q, k, v, out;        /* vector sizes of X, B, Z, Y */
    int64_t hq, hk, hv;          /* heads of q', k', v': H, or 1 where there is no projection and all heads have the same */
    int64_t e, f;                /* E F */
    int64_t rows_q, rows_k;      /* N B S, N b T */
    int64_t groups, group_rows;  /* sets of keys, and the query rows of each: N and B S, or N B and S where b is B */
} dn_attn_size;

void dn_attn_size_of(const dn_problem *p, dn_attn_size *z);
void dn_attn_size_one_step(dn_attn_size *z);  /* of queries: a call that computes one time alone */

/* Weights of one kind: element (head, row, column) at at + head strides[0] + row strides[1] + column strides[2], in elements. Rows are
 * outputs. A bias is a matrix of one column; there is one, for all heads, in the output projection. */
enum { DN_ATTN_Q, DN_ATTN_K, DN_ATTN_V, DN_ATTN_O, DN_ATTN_Q_BIAS, DN_ATTN_K_BIAS, DN_ATTN_V_BIAS, DN_ATTN_O_BIAS, DN_ATTN_KINDS };

typedef struct dn_attn_weight {
    int64_t at;
    int64_t dims[3];             /* heads, rows, columns; heads 0: there are none of this kind */
    int64_t strides[3];
} dn_attn_weight;

/* in: sizes of queries, keys, values. Kinds lie one behind the other in the order of their numbers. */
void dn_attn_weight_at(const dn_attn_param *u, const int64_t in[3], int kind, dn_attn_weight *w);
int64_t dn_attn_weight_count(const dn_attn_param *u, const int64_t in[3]);  /* -1 past int64 */

/* The reserve space, written by train, completed by bwd_data (the gradients), read by both gradients. Rows of queries are numbered
 * (n B + b) S + s, those of keys (n b + b) T + t, whatever the layouts of the tensors. The data's type; offsets in bytes, multiples of 256.
 * prob is the softmax before dropout, with 0 wherever a row or a key is past its end or outside of the window. */
typedef struct dn_attn_reserve {
    size_t states;               /* two dn_dropout_state (128 bytes): of the probabilities and of the output, as the call found them */
    size_t lengths_q, lengths_k; /* int32 [N B], [N b], cut to 0 .. S and 0 .. T */
    size_t q, k, v;              /* [hq][N B S][E], [hk][N b T][E], [hv][N b T][F] */
    size_t prob;                 /* [H][N B][S][T] */
    size_t heads;                /* o': [N B S][H][F] */
    size_t dq, dk, dv;           /* gradients by q', k', v': [N B S][hq][E], [N b T][hk][E], [N b T][hv][F] */
    size_t bytes;
} dn_attn_reserve;

/* False past size_t. */
bool dn_attn_reserve_layout(const dn_problem *p, dn_attn_reserve *r);

/* The two dropout masks of a training call draw by core/philox.h with the numbers of elements of prob (as the reserve space lays it out) and
 * of the output [N B S][out]; each call of a dropout adds 1 to the call number of its states, that of the probabilities first. */

#endif
