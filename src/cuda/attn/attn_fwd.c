/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Attention on the GPU, forward. */
#include "cuda/attn/host.h"

/* The bounds of the rows that are computed, DN_ATTN_WINDOW at a time. */
static void send_window(dn_attn_call *c)
{
    int64_t begin = c->first, end = c->first + c->z.s;
    for (int64_t at = begin; c->h && at < end; at += DN_ATTN_WINDOW) {
        dn_attn_window w = { .to = (int *)(void *)(c->work + c->w.window), .times = (int)c->p->t[DN_X].dims[0], .first = (int)at };
        w.count = (int)(end - at < DN_ATTN_WINDOW ? end - at : DN_ATTN_WINDOW);
        for (int i = 0; i < w.count; i++) {
            w.lo[i] = c->a->lo[at + i];
            w.hi[i] = c->a->hi[at + i];
        }
        dn_attn_launch(c, DN_ATTN_WINDOW_FN, 1, &w);
    }
}

static void keep(dn_attn_call *c)
{
    const dn_attn_size *z = &c->z;
    dn_attn_keep k = { .from_q = c->a->aux[DN_AUX_LENGTHS_QO], .from_k = c->a->aux[DN_AUX_LENGTHS_KV],
                       .to_q = (int *)((uintptr_t)c->kept + c->r.lengths_q), .to_k = (int *)((uintptr_t)c->kept + c->r.lengths_k),
                       .count_q = (int)(z->n * z->bq), .count_k = (int)(z->n * z->bk), .most_q = (int)z->s, .most_k = (int)z->t,
                       .states = { c->u->dropout ? c->a->aux[DN_AUX_STATES] : NULL, c->u->post ? c->a->aux[DN_AUX_STATES2] : NULL },
                       .kept = (void *)((uintptr_t)c->kept + c->r.states) };
    dn_attn_launch(c, DN_ATTN_KEEP_FN, 1, &k);
}

/* A compact input, through its projection where there is one. */
static void project(dn_attn_call *c, dn_role role, int kind, size_t x, size_t to, const void *len, int64_t first, int64_t times)
{
    const dn_tensor *t = &c->p->t[role];
    dn_attn_weight w = dn_attn_kind(c, kind), bias = dn_attn_kind(c, DN_ATTN_Q_BIAS + kind);
    int64_t rows = t->dims[1] * t->dims[2] * times, size = t->dims[3], e = w.dims[1];
    dn_elements in = w.dims[0] ? dn_attn_array(c->type, c->work, x) : dn_attn_array(c->type, c->kept, to);
    dn_attn_pack(c, &(dn_attn_move){ .t = t, .ptr = c->a->ptr[role], .compact = in, .len = len, .first = first, .times = times }, false);
    if (!w.dims[0])
        return;
    dn_gemm g = { .a = in, .b = dn_attn_weights_at(c, &w), .c = dn_attn_array(c->type, c->kept, to), .m = rows, .n = e, .k = size, .batch = 1,
                  .lda = size, .ldb = w.strides[2], .ldc = e, .pitch_bias = e, .alpha = 1 };
    if (bias.dims[0])
        g.bias = dn_attn_weights_at(c, &bias);
    dn_attn_product(c, &g, w.dims[0], (int64_t[]){ 0, e, rows * e });
}

static void score(dn_attn_call *c)
{
    const dn_attn_size *z = &c->z;
    dn_gemm g = { .a = dn_attn_array(c->type, c->kept, c->r.q), .b = dn_attn_array(c->type, c->kept, c->r.k),
                  .c = dn_attn_array(c->wide, c->work, c->w.score), .m = z->group_rows, .n = z->t, .k = z->e, .batch = z->groups, .lda = z->e,
                  .ldb = z->e, .ldc = z->t, .pitch_a = z->group_rows * z->e, .pitch_b = z->t * z->e, .pitch_c = z->group_rows * z->t,
                  .trans_b = 1, .alpha = c->u->scale };
    dn_attn_product(c, &g, z->heads, (int64_t[]){ z->hq > 1 ? z->rows_q * z->e : 0, z->hk > 1 ? z->rows_k * z->e : 0, z->rows_q * z->t });
}

static void softmax(dn_attn_call *c, const void *len_q, const void *len_k)
{
    const dn_attn_size *z = &c->z;
    const uintptr_t window = (uintptr_t)c->work + c->w.window;  /* a number: work is NULL where the size alone is asked for */
    dn_attn_softmax_view v = { .score = (const void *)((uintptr_t)c->work + c->w.score), .prob = dn_attn_array(c->type, c->kept, c->r.prob),
                               .lines = z->heads * z->rows_q, .rows_q = z->rows_q, .times = (int)z->s, .keys = (int)z->t,
                               .first = (int)c->first, .beams = (int)(z->bk == 1 ? z->bq : 1), .len_q = len_q, .len_k = len_k, .lo = (const int *)window,
                               .hi = (const int *)(window + (size_t)c->p->t[DN_X].dims[0] * sizeof(int)), .mask = dn_attn_mask_from(c, 0) };
    if (v.mask.state)
        v.kept = dn_attn_array(c->type, c->work, c->w.dropped);
    dn_attn_launch(c, DN_ATTN_SOFTMAX_FN, v.lines * 32, &v);
}

static void gather(dn_attn_call *c)
{
    const dn_attn_size *z = &c->z;
    dn_elements split = dn_attn_array(c->type, c->work, c->w.split);
    dn_gemm g = { .a = c->u->dropout ? dn_attn_array(c->type, c->work, c->w.dropped) : dn_attn_array(c->type, c->kept, c->r.prob),
                  .b = dn_attn_array(c->type, c->kept, c->r.v), .c = split, .m = z->group_rows, .n = z->f, .k = z->t, .batch = z->groups,
                  .lda = z->t, .ldb = z->f, .ldc = z->f, .pitch_a = z->group_rows * z->t, .pitch_b = z->t * z->f,
                  .pitch_c = z->group_rows * z->f, .alpha = 1 };
    dn_attn_product(c, &g, z->heads, (int64_t[]){ z->rows_q * z->t, z->hv > 1 ? z->rows_k * z->f : 0, z->rows_q * z->f });
    dn_attn_turn_heads(c, split, dn_attn_array(c->type, c->kept, c->r.heads), z->rows_q, z->f, false);
}

static void finish(dn_attn_call *c)
{
    const dn_attn_size *z = &c->z;
    dn_attn_weight w = dn_attn_kind(c, DN_ATTN_O), bias = dn_attn_kind(c, DN_ATTN_O_BIAS);
    dn_elements heads = dn_attn_array(c->type, c->kept, c->r.heads), out = w.dims[0] ? dn_attn_array(c->wide, c->work, c->w.out) : heads;
    int64_t row = z->heads * z->f;
    if (w.dims[0]) {
        dn_gemm g = { .a = heads, .b = dn_attn_weights_at(c, &w), .c = out, .m = z->rows_q, .n = z->out, .k = row, .batch = 1, .lda = row,
                      .ldb = z->out, .ldc = z->out, .alpha = 1 };
        if (bias.dims[0])
            g.bias = dn_attn_weights_at(c, &bias);
        dn_attn_product(c, &g, 1, (int64_t[]){ 0, 0, 0 });
    }
    dn_attn_move m = { .t = &c->p->t[DN_Y], .ptr = c->a->ptr[DN_Y], .compact = out, .first = c->first, .times = z->s,
                       .mask = dn_attn_mask_from(c, 1), .added = c->u->residual ? &c->p->t[DN_X] : NULL,
                       .added_ptr = c->a->aux[DN_AUX_RESIDUAL] };
    dn_attn_pack(c, &m, true);
}

void dn_attn_forward(dn_attn_call *c)
{
    bool train = c->p->dir == DN_DIR_TRAIN;
    const void *len_q = c->a->aux[DN_AUX_LENGTHS_QO], *len_k = c->a->aux[DN_AUX_LENGTHS_KV];
    send_window(c);
    if (train) {
        keep(c);
        len_q = (void *)((uintptr_t)c->kept + c->r.lengths_q);
        len_k = (void *)((uintptr_t)c->kept + c->r.lengths_k);
    }
    project(c, DN_X, DN_ATTN_Q, c->w.xq, c->r.q, len_q, c->first, c->z.s);
    project(c, DN_B, DN_ATTN_K, c->w.xk, c->r.k, len_k, 0, c->z.t);
    project(c, DN_Z, DN_ATTN_V, c->w.xv, c->r.v, len_k, 0, c->z.t);
    score(c);
    softmax(c, len_q, len_k);
    gather(c);
    finish(c);
}
