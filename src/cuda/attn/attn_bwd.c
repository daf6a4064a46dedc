/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Attention on the GPU, gradients, from what the training call kept. */
#include "cuda/attn/host.h"

static const void *len_q(const dn_attn_call *c)
{
    return (const void *)((uintptr_t)c->kept + c->r.lengths_q);
}

static const void *len_k(const dn_attn_call *c)
{
    return (const void *)((uintptr_t)c->kept + c->r.lengths_k);
}

/* DY through its dropout, compact; cut: rows past the ends are 0. */
static dn_elements take_gradient(dn_attn_call *c, bool cut)
{
    dn_elements dy = dn_attn_array(c->type, c->work, c->w.out);
    dn_attn_move m = { .t = &c->p->t[DN_DY], .ptr = c->a->ptr[DN_DY], .compact = dy, .len = cut ? len_q(c) : NULL, .times = c->z.s,
                       .mask = dn_attn_mask_from(c, 1) };
    dn_attn_pack(c, &m, false);
    return dy;
}

/* dheads */
static void spread(dn_attn_call *c)
{
    const dn_attn_size *z = &c->z;
    dn_attn_weight w = dn_attn_kind(c, DN_ATTN_O);
    dn_elements dy = take_gradient(c, true), to = dn_attn_array(c->type, c->work, c->w.dheads);
    if (!w.dims[0]) {
        dn_attn_turn_heads(c, dy, to, z->rows_q, z->f, true);
        return;
    }
    dn_gemm g = { .a = dy, .b = dn_attn_weights_at(c, &w), .c = to, .m = z->rows_q, .n = z->f, .k = z->out, .batch = 1, .lda = z->out,
                  .ldb = z->out, .ldc = z->f, .trans_b = 1, .alpha = 1 };
    dn_attn_product(c, &g, z->heads, (int64_t[]){ 0, z->f * z->out, z->rows_q * z->f });
}

/* A gradient of [rows][heads][size]: by way of `split` where every head has its own, else summed over the heads in its place.
 * g: all but its c, of which to is one head's [rows][size]; pitches: of a and b by the head. */
static void by_heads(dn_attn_call *c, dn_gemm *g, int64_t heads, int64_t rows, int64_t size, size_t to, int64_t pitch_a, int64_t pitch_b)
{
    dn_elements kept = dn_attn_array(c->type, c->kept, to), split = dn_attn_array(c->type, c->work, c->w.split);
    g->c = heads > 1 ? split : kept;
    g->ldc = size;
    g->pitch_c = g->m * size;
    dn_attn_product(c, g, c->z.heads, (int64_t[]){ pitch_a, pitch_b, heads > 1 ? rows * size : 0 });
    if (heads > 1)
        dn_attn_turn_heads(c, split, kept, rows, size, false);
}

/* dprob in `score`, dv */
static void by_values(dn_attn_call *c, dn_elements kept)
{
    const dn_attn_size *z = &c->z;
    dn_elements dheads = dn_attn_array(c->type, c->work, c->w.dheads);
    int64_t head_v = z->hv > 1 ? z->rows_k * z->f : 0;
    dn_gemm p = { .a = dheads, .b = dn_attn_array(c->type, c->kept, c->r.v), .c = dn_attn_array(c->wide, c->work, c->w.score),
                  .m = z->group_rows, .n = z->t, .k = z->f, .batch = z->groups, .lda = z->f, .ldb = z->f, .ldc = z->t,
                  .pitch_a = z->group_rows * z->f, .pitch_b = z->t * z->f, .pitch_c = z->group_rows * z->t, .trans_b = 1, .alpha = 1 };
    dn_attn_product(c, &p, z->heads, (int64_t[]){ z->rows_q * z->f, head_v, z->rows_q * z->t });
    dn_gemm v = { .a = kept, .b = dheads, .m = z->t, .n = z->f, .k = z->group_rows, .batch = z->groups, .lda = z->t, .ldb = z->f,
                  .pitch_a = z->group_rows * z->t, .pitch_b = z->group_rows * z->f, .trans_a = 1, .alpha = 1 };
    by_heads(c, &v, z->hv, z->rows_k, z->f, c->r.dv, z->rows_q * z->t, z->rows_q * z->f);
}

static void by_queries_and_keys(dn_attn_call *c)
{
    const dn_attn_size *z = &c->z;
    dn_elements ds = dn_attn_array(c->type, c->work, c->w.ds);
    int64_t head_q = z->hq > 1 ? z->rows_q * z->e : 0, head_k = z->hk > 1 ? z->rows_k * z->e : 0;
    dn_gemm q = { .a = ds, .b = dn_attn_array(c->type, c->kept, c->r.k), .m = z->group_rows, .n = z->e, .k = z->t, .batch = z->groups,
                  .lda = z->t, .ldb = z->e, .pitch_a = z->group_rows * z->t, .pitch_b = z->t * z->e, .alpha = 1 };
    by_heads(c, &q, z->hq, z->rows_q, z->e, c->r.dq, z->rows_q * z->t, head_k);
    dn_gemm k = { .a = ds, .b = dn_attn_array(c->type, c->kept, c->r.q), .m = z->t, .n = z->e, .k = z->group_rows, .batch = z->groups,
                  .lda = z->t, .ldb = z->e, .pitch_a = z->group_rows * z->t, .pitch_b = z->group_rows * z->e, .trans_a = 1, .alpha = 1 };
    by_heads(c, &k, z->hk, z->rows_k, z->e, c->r.dk, z->rows_q * z->t, head_q);
}

/* A kept gradient through its projection, backwards, to a tensor. */
static void unproject(dn_attn_call *c, int kind, size_t from, const dn_tensor *t, void *to, const void *len)
{
    dn_attn_weight w = dn_attn_kind(c, kind);
    dn_elements d = dn_attn_array(c->type, c->kept, from), x = w.dims[0] ? dn_attn_array(c->wide, c->work, c->w.out) : d;
    int64_t rows = t->dims[0] * t->dims[1] * t->dims[2], row = w.dims[0] * w.dims[1];
    if (w.dims[0]) {
        dn_gemm g = { .a = d, .b = dn_attn_weights_at(c, &w), .c = x, .m = rows, .n = t->dims[3], .k = row, .batch = 1, .lda = row, .ldb = row,
                      .ldc = t->dims[3], .trans_b = 1, .alpha = 1 };
        dn_attn_product(c, &g, 1, (int64_t[]){ 0, 0, 0 });
    }
    dn_attn_pack(c, &(dn_attn_move){ .t = t, .ptr = to, .compact = x, .len = len, .times = t->dims[0] }, true);
}

void dn_attn_backward_data(dn_attn_call *c)
{
    const dn_attn_size *z = &c->z;
    const dn_problem *p = c->p;
    dn_attn_softmax_view v = { .score = (const void *)((uintptr_t)c->work + c->w.score), .prob = dn_attn_array(c->type, c->kept, c->r.prob),
                               .ds = dn_attn_array(c->type, c->work, c->w.ds), .lines = z->heads * z->rows_q, .keys = (int)z->t,
                               .mask = dn_attn_mask_from(c, 0), .scale = c->u->scale };
    dn_elements kept = v.prob;
    spread(c);
    if (c->u->dropout) {
        kept = v.kept = dn_attn_array(c->type, c->work, c->w.dropped);
        dn_attn_launch(c, DN_ATTN_DROP_FN, v.lines * z->t, &v);
    }
    by_values(c, kept);
    dn_attn_launch(c, DN_ATTN_SOFTMAX_BWD_FN, v.lines * 32, &v);
    by_queries_and_keys(c);
    unproject(c, DN_ATTN_Q, c->r.dq, &p->t[DN_DX], c->a->ptr[DN_DX], len_q(c));
    unproject(c, DN_ATTN_K, c->r.dk, &p->t[DN_B], c->a->aux[DN_AUX_DKEYS], len_k(c));
    unproject(c, DN_ATTN_V, c->r.dv, &p->t[DN_Z], c->a->aux[DN_AUX_DVALUES], len_k(c));
}

/* --- by the weights --- */

/* The sums of [rows][columns] by column, to a bias. */
static void bias_gradient(dn_attn_call *c, int kind, dn_elements from, int64_t rows)
{
    dn_attn_weight w = dn_attn_kind(c, kind);
    dn_attn_columns_view v = { .from = from, .to = dn_attn_weights_at(c, &w), .rows = rows, .columns = w.dims[0] * w.dims[1],
                               .beta = c->a->beta };
    dn_attn_launch(c, DN_ATTN_COLUMNS_FN, v.columns, &v);
}

static void weight_gradient(dn_attn_call *c, int kind, dn_elements x, int64_t size, dn_elements d, int64_t rows, int64_t row)
{
    dn_attn_weight w = dn_attn_kind(c, kind);
    dn_gemm g = { .a = x, .b = d, .c = dn_attn_weights_at(c, &w), .m = size, .n = row, .k = rows, .batch = 1, .lda = size, .ldb = row,
                  .ldc = row, .trans_a = 1, .alpha = 1, .beta = c->a->beta };
    dn_attn_product(c, &g, 1, (int64_t[]){ 0, 0, 0 });
}

/* Weights and biases of an input projection. */
static void input_gradient(dn_attn_call *c, dn_role role, int kind, size_t at, size_t from, const void *len)
{
    const dn_tensor *t = &c->p->t[role];
    dn_attn_weight w = dn_attn_kind(c, kind);
    if (!w.dims[0])
        return;
    int64_t rows = t->dims[0] * t->dims[1] * t->dims[2];
    dn_elements x = dn_attn_array(c->type, c->work, at), d = dn_attn_array(c->type, c->kept, from);
    dn_attn_pack(c, &(dn_attn_move){ .t = t, .ptr = c->a->ptr[role], .compact = x, .len = len, .times = t->dims[0] }, false);
    weight_gradient(c, kind, x, t->dims[3], d, rows, w.dims[0] * w.dims[1]);
    bias_gradient(c, DN_ATTN_Q_BIAS + kind, d, rows);
}

void dn_attn_backward_filter(dn_attn_call *c)
{
    const dn_attn_size *z = &c->z;
    input_gradient(c, DN_X, DN_ATTN_Q, c->w.xq, c->r.dq, len_q(c));
    input_gradient(c, DN_B, DN_ATTN_K, c->w.xk, c->r.dk, len_k(c));
    input_gradient(c, DN_Z, DN_ATTN_V, c->w.xv, c->r.dv, len_k(c));
    if (!dn_attn_kind(c, DN_ATTN_O).dims[0])
        return;
    if (c->u->bias)
        bias_gradient(c, DN_ATTN_O_BIAS, take_gradient(c, false), z->rows_q);
    dn_elements dy = take_gradient(c, true);
    weight_gradient(c, DN_ATTN_O, dn_attn_array(c->type, c->kept, c->r.heads), z->heads * z->f, dy, z->rows_q, z->out);
}
