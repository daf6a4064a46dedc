/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Attention on the host, gradients, from what the training call kept. */
#include "ref/attn.h"

#include <string.h>

static const unsigned char *reserve_at(const dn_attn_job *j, size_t at)
{
    return (const unsigned char *)j->a->reserve + at;
}

static void recall(const dn_attn_job *j, size_t at, int64_t rows, int64_t row, double *v)
{
    dn_load_row(j->type, reserve_at(j, at), 0, 1, rows * row, v);
}

static void begin(dn_attn_job *j, const dn_plan *plan, const dn_args *a, dn_attn_reserve *r)
{
    size_t bytes;
    dn_attn_job_init(j, &plan->problem, a, a->workspace, &bytes);
    dn_attn_reserve_layout(j->p, r);
    j->len_q = (const int32_t *)(const void *)reserve_at(j, r->lengths_q);
    j->len_k = (const int32_t *)(const void *)reserve_at(j, r->lengths_k);
}

/* --- by the data --- */

/* dheads = out through the output projection, backwards */
static void spread(const dn_attn_job *j)
{
    const dn_attn_size *z = &j->z;
    dn_attn_weight w = dn_attn_weight_of(j, DN_ATTN_O);
    int64_t row = z->heads * z->f;
    dn_attn_product g = { .a = j->out, .b = j->w + w.at, .c = j->dheads, .m = z->rows_q, .n = row, .k = z->out, .a_row = z->out, .a_step = 1,
                          .b_step = 1, .b_col = z->out, .c_row = row, .outer = 1, .inner = 1, .alpha = 1 };
    if (w.dims[0])
        dn_attn_multiply(&g);
    else
        memcpy(j->dheads, j->out, (size_t)(z->rows_q * row) * sizeof *j->out);
}

/* dprob by the probabilities after dropout, and dv */
static void by_values(const dn_attn_job *j)
{
    const dn_attn_size *z = &j->z;
    int64_t row = z->heads * z->f, head = z->hv > 1 ? z->rows_k * z->f : 0;
    dn_attn_product g = { .a = j->dheads, .b = j->v, .c = j->dprob, .m = z->group_rows, .n = z->t, .k = z->f, .a_row = row, .a_step = 1,
                          .b_step = 1, .b_col = z->f, .c_row = z->t, .outer = z->heads, .inner = z->groups, .alpha = 1,
                          .a_pitch = { z->f, z->group_rows * row }, .b_pitch = { head, z->t * z->f },
                          .c_pitch = { z->rows_q * z->t, z->group_rows * z->t } };
    dn_attn_multiply(&g);
    dn_attn_product v = { .a = j->kept, .b = j->dheads, .c = j->dv, .m = z->t, .n = z->f, .k = z->group_rows, .a_row = 1, .a_step = z->t,
                          .b_step = row, .b_col = 1, .c_row = z->hv * z->f, .outer = z->heads, .inner = z->groups, .alpha = 1, .add = true,
                          .a_pitch = { z->rows_q * z->t, z->group_rows * z->t }, .b_pitch = { z->f, z->group_rows * row },
                          .c_pitch = { z->hv > 1 ? z->f : 0, z->t * z->hv * z->f } };
    memset(j->dv, 0, (size_t)(z->hv * z->rows_k * z->f) * sizeof *j->dv);
    dn_attn_multiply(&v);
}

typedef struct score_job {
    const dn_attn_job *j;
    dn_attn_mask m;
} score_job;

/* dprob by the scores: scale p (dp - sum p dp) */
static void by_scores(void *ctx, int64_t begin_row, int64_t end)
{
    const score_job *s = ctx;
    const dn_attn_job *j = s->j;
    int64_t n = j->z.t;
    for (int64_t row = begin_row; row < end; row++) {
        double *d = j->dprob + row * n, sum = 0;
        const double *p = j->prob + row * n;
        if (j->u->dropout)
            dn_attn_drop(&s->m, row * n, n, d, d);
        for (int64_t i = 0; i < n; i++)
            sum += p[i] * d[i];
        for (int64_t i = 0; i < n; i++)
            d[i] = p[i] == 0 ? 0 : j->u->scale * p[i] * (d[i] - sum);
    }
}

static void by_queries_and_keys(const dn_attn_job *j)
{
    const dn_attn_size *z = &j->z;
    int64_t head_q = z->hq > 1 ? z->rows_q * z->e : 0, head_k = z->hk > 1 ? z->rows_k * z->e : 0;
    dn_attn_product q = { .a = j->dprob, .b = j->k, .c = j->dq, .m = z->group_rows, .n = z->e, .k = z->t, .a_row = z->t, .a_step = 1,
                          .b_step = z->e, .b_col = 1, .c_row = z->hq * z->e, .outer = z->heads, .inner = z->groups, .alpha = 1, .add = true,
                          .a_pitch = { z->rows_q * z->t, z->group_rows * z->t }, .b_pitch = { head_k, z->t * z->e },
                          .c_pitch = { z->hq > 1 ? z->e : 0, z->group_rows * z->hq * z->e } };
    dn_attn_product k = { .a = j->dprob, .b = j->q, .c = j->dk, .m = z->t, .n = z->e, .k = z->group_rows, .a_row = 1, .a_step = z->t,
                          .b_step = z->e, .b_col = 1, .c_row = z->hk * z->e, .outer = z->heads, .inner = z->groups, .alpha = 1, .add = true,
                          .a_pitch = { z->rows_q * z->t, z->group_rows * z->t }, .b_pitch = { head_q, z->group_rows * z->e },
                          .c_pitch = { z->hk > 1 ? z->e : 0, z->t * z->hk * z->e } };
    memset(j->dq, 0, (size_t)(z->hq * z->rows_q * z->e) * sizeof *j->dq);
    memset(j->dk, 0, (size_t)(z->hk * z->rows_k * z->e) * sizeof *j->dk);
    dn_attn_multiply(&q);
    dn_attn_multiply(&k);
}

/* x = d through the input projection of this kind, backwards */
static void unproject(const dn_attn_job *j, int kind, const double *d, int64_t rows, int64_t size, int64_t e, double *x)
{
    dn_attn_weight w = dn_attn_weight_of(j, kind);
    if (!w.dims[0]) {
        memcpy(x, d, (size_t)(rows * size) * sizeof *x);
        return;
    }
    int64_t row = w.dims[0] * e;
    dn_attn_product g = { .a = d, .b = j->w + w.at, .c = x, .m = rows, .n = size, .k = row, .a_row = row, .a_step = 1, .b_step = 1,
                          .b_col = row, .c_row = size, .outer = 1, .inner = 1, .alpha = 1 };
    dn_attn_multiply(&g);
}

static void keep_gradients(const dn_attn_job *j, const dn_attn_reserve *r)
{
    const dn_attn_size *z = &j->z;
    unsigned char *to = j->a->reserve;
    dn_store_row(j->type, to + r->dq, 0, 1, z->hq * z->rows_q * z->e, j->dq, 1, 0);
    dn_store_row(j->type, to + r->dk, 0, 1, z->hk * z->rows_k * z->e, j->dk, 1, 0);
    dn_store_row(j->type, to + r->dv, 0, 1, z->hv * z->rows_k * z->f, j->dv, 1, 0);
}

dn_status dn_attn_run_bwd_data(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    score_job s = { 0 };
    dn_attn_job j;
    dn_attn_reserve r;
    begin(&j, plan, a, &r);
    const dn_attn_size *z = &j.z;
    int64_t probs = z->heads * z->rows_q;
    dn_attn_load_weights(&j);
    dn_attn_load_gradient(&j, &r);
    dn_attn_cut_gradient(&j);
    recall(&j, r.q, z->hq * z->rows_q, z->e, j.q);
    recall(&j, r.k, z->hk * z->rows_k, z->e, j.k);
    recall(&j, r.v, z->hv * z->rows_k, z->f, j.v);
    recall(&j, r.prob, probs, z->t, j.prob);
    s.j = &j;
    if (j.u->dropout) {
        s.m = dn_attn_mask_of(reserve_at(&j, r.states), a->dropout);
        dn_attn_drop(&s.m, 0, probs * z->t, j.prob, j.kept);
    }
    spread(&j);
    by_values(&j);
    dn_parallel(probs, 1 + DN_PIECE_GRAIN / (4 * z->t), by_scores, &s);
    by_queries_and_keys(&j);
    keep_gradients(&j, &r);
    unproject(&j, DN_ATTN_Q, j.dq, z->rows_q, z->q, z->e, j.xq);
    unproject(&j, DN_ATTN_K, j.dk, z->rows_k, z->k, z->e, j.xk);
    unproject(&j, DN_ATTN_V, j.dv, z->rows_k, z->v, z->f, j.xv);
    dn_attn_store_rows(&(dn_attn_rows){ &p->t[DN_DX], a->ptr[DN_DX], j.len_q, 0, z->s, j.xq }, NULL);
    dn_attn_store_rows(&(dn_attn_rows){ &p->t[DN_B], a->aux[DN_AUX_DKEYS], j.len_k, 0, z->t, j.xk }, NULL);
    dn_attn_store_rows(&(dn_attn_rows){ &p->t[DN_Z], a->aux[DN_AUX_DVALUES], j.len_k, 0, z->t, j.xv }, NULL);
    return DN_SUCCESS;
}

/* --- by the weights: products over all rows of a batch --- */

static void weight_gradient(const dn_attn_job *j, int kind, const double *x, int64_t size, const double *d, int64_t rows, int64_t e)
{
    dn_attn_weight w = dn_attn_weight_of(j, kind);
    int64_t row = w.dims[0] * e;
    dn_attn_product g = { .a = x, .b = d, .c = j->w + w.at, .m = size, .n = row, .k = rows, .a_row = 1, .a_step = size, .b_step = row,
                          .b_col = 1, .c_row = row, .outer = 1, .inner = 1, .alpha = 1 };
    if (w.dims[0])
        dn_attn_multiply(&g);
}

/* The sums of d's columns. */
static void bias_gradient(const dn_attn_job *j, int kind, const double *d, int64_t rows)
{
    dn_attn_weight w = dn_attn_weight_of(j, kind);
    int64_t n = w.dims[0] * w.dims[1];
    double *to = j->w + w.at;
    for (int64_t i = 0; i < n; i++)
        to[i] = 0;
    for (int64_t row = 0; row < rows && n; row++)
        for (int64_t i = 0; i < n; i++)
            to[i] += d[row * n + i];
}

dn_status dn_attn_run_bwd_filter(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    dn_attn_job j;
    dn_attn_reserve r;
    begin(&j, plan, a, &r);
    const dn_attn_size *z = &j.z;
    int64_t row = z->heads * z->f;
    dn_attn_load_inputs(&j);
    dn_attn_load_gradient(&j, &r);
    bias_gradient(&j, DN_ATTN_O_BIAS, j.out, z->rows_q);
    dn_attn_cut_gradient(&j);
    recall(&j, r.heads, z->rows_q, row, j.heads);
    recall(&j, r.dq, z->hq * z->rows_q, z->e, j.dq);
    recall(&j, r.dk, z->hk * z->rows_k, z->e, j.dk);
    recall(&j, r.dv, z->hv * z->rows_k, z->f, j.dv);
    weight_gradient(&j, DN_ATTN_Q, j.xq, z->q, j.dq, z->rows_q, z->e);
    weight_gradient(&j, DN_ATTN_K, j.xk, z->k, j.dk, z->rows_k, z->e);
    weight_gradient(&j, DN_ATTN_V, j.xv, z->v, j.dv, z->rows_k, z->f);
    dn_attn_weight w = dn_attn_weight_of(&j, DN_ATTN_O);
    dn_attn_product g = { .a = j.heads, .b = j.out, .c = j.w + w.at, .m = row, .n = z->out, .k = z->rows_q, .a_row = 1, .a_step = row,
                          .b_step = z->out, .b_col = 1, .c_row = z->out, .outer = 1, .inner = 1, .alpha = 1 };
    if (w.dims[0])
        dn_attn_multiply(&g);
    bias_gradient(&j, DN_ATTN_Q_BIAS, j.dq, z->rows_q);
    bias_gradient(&j, DN_ATTN_K_BIAS, j.dk, z->rows_k);
    bias_gradient(&j, DN_ATTN_V_BIAS, j.dv, z->rows_k);
    dn_store_row(j.type, a->ptr[DN_W], 0, 1, j.p->t[DN_W].dims[0], j.w, a->alpha, a->beta);
    return DN_SUCCESS;
}
