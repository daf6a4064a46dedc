/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the files of the ref engine share: the tables of rows, and iteration over strided tensors without a product per element. */
#ifndef DN_REF_REF_H
#define DN_REF_REF_H

#include "core/engine.h"
#include "core/os.h"

/* One table per operation, put together in solvers.c. */
extern const dn_rows dn_ref_conv_winograd_deep, dn_ref_conv_winograd;
extern const dn_rows dn_ref_conv, dn_ref_conv_bwd_data, dn_ref_conv_bwd_filter, dn_ref_conv_fft_large, dn_ref_conv_fft, dn_ref_conv_plane, dn_ref_pool, dn_ref_act, dn_ref_softmax, dn_ref_bn, dn_ref_dropout, dn_ref_pointwise;
extern const dn_rows dn_ref_tensor_op, dn_ref_reduce, dn_ref_transform_ex, dn_ref_im2col, dn_ref_conv_vect;
extern const dn_rows dn_ref_sba, dn_ref_stats;
extern const dn_rows dn_ref_lrn, dn_ref_divnorm, dn_ref_spatial;
extern const dn_rows dn_ref_attn;
extern const dn_rows dn_ref_rnn, dn_ref_rnn_bwd_data, dn_ref_rnn_bwd_filter;
extern const dn_rows dn_ref_ctc;

#define DN_ITER_MAX 6
#define DN_ITER_RANK (DN_RANK_MAX + 2)  /* a vectorised dimension splits into up to three */

/* Walks up to DN_ITER_MAX tensors with the same logical dims in step, one row of the last dimension at a time.
 * A tensor with a dimension of size 1 where others are larger is broadcast (stride 0). offset[i] is the row's first element in
 * scalars, stride[i] the step along the row, n its length. Adjacent dimensions that every tensor can fold are folded first,
 * so that rows are long. */
typedef struct dn_iter {
    int count, rank;
    int64_t dims[DN_ITER_RANK];
    int64_t stride[DN_ITER_MAX];                 /* along the row */
    int64_t step[DN_ITER_MAX][DN_ITER_RANK];
    int64_t n;                                   /* elements of a row */
    int64_t rows;                                /* rows in all */
    int64_t index[DN_ITER_RANK];
    int64_t offset[DN_ITER_MAX];
} dn_iter;

/* dims of the walk are those of t[0] (the largest). Elements come in logical order: element j of row r is the (r * n + j)th,
 * the last dimension fastest. Dimensions that a tensor of lower rank lacks are broadcast. A last vector that is partly full is
 * walked whole, padding included, so tensors that share such a dimension must store it in the same vectors. */
void dn_iter_init(dn_iter *it, int count, const dn_tensor *const *t);
/* The same elements in an order that suits t[0]'s memory, so that packed tensors of any layout are one long row. */
void dn_iter_init_any_order(dn_iter *it, int count, const dn_tensor *const *t);
void dn_iter_seek(dn_iter *it, int64_t row);     /* to row 0 .. rows - 1: one division per dimension, then steps are additions */
void dn_iter_next(dn_iter *it);

/* A stretch of a row, short enough for buffers on the stack. */
#define DN_PIECE_MAX 512
#define DN_PIECE_GRAIN 8192  /* elements that are worth another thread */

typedef struct dn_piece {
    int64_t offset[DN_ITER_MAX];  /* first element in scalars */
    int64_t stride[DN_ITER_MAX];
    int64_t n;                    /* 1 .. DN_PIECE_MAX */
    int64_t first;                /* logical number of the first element, in the walk's order */
} dn_piece;

/* Calls fn for every piece of the walk, on the library's threads, in no fixed order. The iterator is not changed. */
typedef void (*dn_piece_fn)(void *ctx, const dn_piece *piece);
void dn_iter_run(const dn_iter *it, dn_piece_fn fn, void *ctx);
/* The same where an element of the walk stands for `cost` elements of work (a reduction per element): pieces of at most `max`. */
void dn_iter_run_costly(const dn_iter *it, int64_t max, int64_t cost, dn_piece_fn fn, void *ctx);

#endif
