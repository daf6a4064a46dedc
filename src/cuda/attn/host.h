/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the host files of attention share: a call as a sequence of launches. The same sequence walked without a handle only finds out how
 * much memory the matrix products want to run in parts. */
#ifndef DN_CUDA_ATTN_HOST_H
#define DN_CUDA_ATTN_HOST_H

#include "cuda/attn/attn.h"
#include "cuda/gemm/host.h"
#include "ops/attn.h"

typedef enum dn_attn_fn {
    DN_ATTN_WINDOW_FN, DN_ATTN_KEEP_FN, DN_ATTN_PACK_FN, DN_ATTN_UNPACK_FN, DN_ATTN_SOFTMAX_FN, DN_ATTN_SOFTMAX_BWD_FN, DN_ATTN_DROP_FN,
    DN_ATTN_TURN_FN, DN_ATTN_COLUMNS_FN, DN_ATTN_FNS
} dn_attn_fn;

/* Arrays of the workspace by offset; the data's type, or wide: that of sums. */
typedef struct dn_attn_work {
    size_t kept;                 /* in inference: what the reserve space begins with */
    size_t window;               /* int lo[S], hi[S] */
    size_t xq, xk, xv;           /* inputs that are projected: [N B S][q], [N b T][k], [N b T][v] */
    size_t score;                /* wide [H][N B S][T]; backward: gradients by the probabilities */
    size_t dropped;              /* [H][N B S][T] the probabilities after dropout */
    size_t ds;                   /* [H][N B S][T] gradients by the scores */
    size_t split;                /* [H][rows][E or F] of one of q, k, v, o' at a time */
    size_t dheads;               /* [H][N B S][F] */
    size_t out;                  /* wide or the data's type [N B S][out]; also gradients by the inputs, wide */
    size_t partial;              /* of matrix products */
    size_t bytes;
} dn_attn_work;

typedef struct dn_attn_plan {
    dn_gemm_functions gemm;
    dn_cu_fn f[DN_ATTN_FNS];
    dn_attn_work work;
    dn_attn_reserve reserve;
    size_t partial_room;
} dn_attn_plan;

typedef struct dn_attn_call {
    dn_handle *h;                /* NULL: nothing is launched */
    const dn_attn_plan *s;
    const dn_problem *p;
    const dn_attn_param *u;
    const dn_args *a;
    dn_attn_size z;
    dn_attn_work w;
    dn_attn_reserve r;
    int64_t first;               /* time of the first query row */
    dn_dtype type, wide;
    unsigned char *work, *kept;
    dn_status st;
    size_t partial;              /* the most that a product may want */
} dn_attn_call;

/* One of the arrays as elements: of the workspace or of what is kept. */
dn_elements dn_attn_array(dn_dtype type, unsigned char *base, size_t at);
dn_elements dn_attn_weights_at(const dn_attn_call *c, const dn_attn_weight *w);
dn_attn_weight dn_attn_kind(const dn_attn_call *c, int kind);

/* A product for every outer index and batch of g; pitches: of a, b, c by the outer index. Where c's is 0 the outer products add up. */
void dn_attn_product(dn_attn_call *c, const dn_gemm *g, int64_t outer, const int64_t pitches[3]);
void dn_attn_launch(dn_attn_call *c, dn_attn_fn f, int64_t threads, const void *params);

/* rows, compact array and mask of a sequence tensor; len NULL: all rows are inside */
typedef struct dn_attn_move {
    const dn_tensor *t;
    const void *ptr;
    dn_elements compact;
    const void *len;
    int64_t first, times;
    dn_attn_mask_view mask;
    const dn_tensor *added;
    const void *added_ptr;
} dn_attn_move;
void dn_attn_pack(dn_attn_call *c, const dn_attn_move *m, bool back);
/* [rows][H][size] from [H][rows][size], or the other way */
void dn_attn_turn_heads(dn_attn_call *c, dn_elements from, dn_elements to, int64_t rows, int64_t size, bool split);
dn_attn_mask_view dn_attn_mask_from(const dn_attn_call *c, int which);  /* 0 of the probabilities, 1 of the output */

void dn_attn_forward(dn_attn_call *c);
void dn_attn_backward_data(dn_attn_call *c);
void dn_attn_backward_filter(dn_attn_call *c);

#endif
