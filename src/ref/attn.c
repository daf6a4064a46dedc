/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Attention on the host, forward. */
#include "ref/attn.h"

#include "ops/dropout.h"

#include <math.h>
#include <string.h>

/* to = x with weights of this kind applied for all heads, or a copy of x where there are none. Rows of size values. */
static void project(const dn_attn_job *j, int kind, const double *x, int64_t rows, int64_t size, int64_t e, double *to)
{
    dn_attn_weight w = dn_attn_weight_of(j, kind), bias = dn_attn_weight_of(j, DN_ATTN_Q_BIAS + kind);
    if (!w.dims[0]) {
        memcpy(to, x, (size_t)(rows * size) * sizeof *to);
        return;
    }
    dn_attn_product g = { .a = x, .b = j->w + w.at, .bias = bias.dims[0] ? j->w + bias.at : NULL, .c = to, .m = rows, .n = e, .k = size,
                          .a_row = size, .a_step = 1, .b_step = w.strides[2], .b_col = 1, .c_row = e, .outer = w.dims[0], .inner = 1,
                          .b_pitch = { e, 0 }, .c_pitch = { rows * e, 0 }, .bias_pitch = e, .alpha = 1 };
    dn_attn_multiply(&g);
}

/* prob = scale q' k' of every pair */
static void score(const dn_attn_job *j)
{
    const dn_attn_size *z = &j->z;
    dn_attn_product g = { .a = j->q, .b = j->k, .c = j->prob, .m = z->group_rows, .n = z->t, .k = z->e, .a_row = z->e, .a_step = 1, .b_step = 1,
                          .b_col = z->e, .c_row = z->t, .outer = z->heads, .inner = z->groups, .alpha = j->u->scale,
                          .a_pitch = { z->hq > 1 ? z->rows_q * z->e : 0, z->group_rows * z->e },
                          .b_pitch = { z->hk > 1 ? z->rows_k * z->e : 0, z->t * z->e }, .c_pitch = { z->rows_q * z->t, z->group_rows * z->t } };
    dn_attn_multiply(&g);
}

/* The softmax of one row over the keys lo .. hi - 1; 0 elsewhere. */
static void softmax(double *v, int64_t lo, int64_t hi, int64_t n)
{
    double top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        bool seen = i >= lo && i < hi;
        v[i] = seen ? v[i] : 0;
        if (seen && (v[i] > top || isnan(v[i])))
            top = v[i];
    }
    for (int64_t i = lo; i < hi; i++) {
        v[i] = exp(v[i] - top);
        sum += v[i];
    }
    for (int64_t i = lo; i < hi; i++)
        v[i] /= sum;
}

static void softmax_rows(void *ctx, int64_t begin, int64_t end)
{
    const dn_attn_job *j = ctx;
    const dn_attn_size *z = &j->z;
    dn_attn_mask m = { 0 };
    if (j->kept != j->prob)
        m = dn_attn_mask_of(j->a->aux[DN_AUX_STATES], j->a->dropout);
    for (int64_t row = begin; row < end; row++) {
        int64_t in_head = row % z->rows_q, sequence = in_head / z->s, time = j->time + in_head % z->s;
        int64_t keys = j->len_k[z->bk == 1 ? sequence / z->bq : sequence], lo = j->a->lo[time], hi = j->a->hi[time];
        lo = lo > 0 ? lo : 0;
        hi = hi < keys ? hi : keys;
        hi = hi < z->t ? hi : z->t;
        double *v = j->prob + row * z->t;
        softmax(v, lo, time < j->len_q[sequence] && hi > lo ? hi : lo, z->t);
        if (j->kept != j->prob)
            dn_attn_drop(&m, row * z->t, z->t, v, j->kept + row * z->t);
    }
}

/* o' of all heads, one behind the other */
static void gather(const dn_attn_job *j)
{
    const dn_attn_size *z = &j->z;
    int64_t row = z->heads * z->f;
    dn_attn_product g = { .a = j->kept, .b = j->v, .c = j->heads, .m = z->group_rows, .n = z->f, .k = z->t, .a_row = z->t, .a_step = 1,
                          .b_step = z->f, .b_col = 1, .c_row = row, .outer = z->heads, .inner = z->groups, .alpha = 1,
                          .a_pitch = { z->rows_q * z->t, z->group_rows * z->t },
                          .b_pitch = { z->hv > 1 ? z->rows_k * z->f : 0, z->t * z->f }, .c_pitch = { z->f, z->group_rows * row } };
    dn_attn_multiply(&g);
}

static void finish(const dn_attn_job *j)
{
    const dn_attn_size *z = &j->z;
    const dn_problem *p = j->p;
    dn_attn_weight w = dn_attn_weight_of(j, DN_ATTN_O), bias = dn_attn_weight_of(j, DN_ATTN_O_BIAS);
    int64_t row = z->heads * z->f;
    double *out = w.dims[0] ? j->out : j->heads;
    dn_attn_product g = { .a = j->heads, .b = j->w + w.at, .bias = bias.dims[0] ? j->w + bias.at : NULL, .c = out, .m = z->rows_q, .n = z->out,
                          .k = row, .a_row = row, .a_step = 1, .b_step = z->out, .b_col = 1, .c_row = z->out, .outer = 1, .inner = 1, .alpha = 1 };
    if (w.dims[0])
        dn_attn_multiply(&g);
    if (p->dir == DN_DIR_TRAIN && j->u->post) {
        dn_attn_mask m = dn_attn_mask_of(j->a->aux[DN_AUX_STATES2], j->a->dropout2);
        dn_attn_drop(&m, 0, z->rows_q * z->out, out, j->out);
        out = j->out;
    }
    dn_attn_rows y = { &p->t[DN_Y], j->a->ptr[DN_Y], NULL, j->time, z->s, out };
    dn_attn_rows residual = { &p->t[DN_X], j->a->aux[DN_AUX_RESIDUAL], NULL, j->time, z->s, NULL };
    dn_attn_store_rows(&y, j->u->residual ? &residual : NULL);
}

static void forward(const dn_attn_job *j)
{
    const dn_attn_size *z = &j->z;
    dn_attn_load_weights(j);
    dn_attn_load_inputs(j);
    project(j, DN_ATTN_Q, j->xq, z->rows_q, z->q, z->e, j->q);
    project(j, DN_ATTN_K, j->xk, z->rows_k, z->k, z->e, j->k);
    project(j, DN_ATTN_V, j->xv, z->rows_k, z->v, z->f, j->v);
    score(j);
    dn_parallel(z->heads * z->rows_q, 1 + DN_PIECE_GRAIN / (8 * z->t), softmax_rows, (void *)(uintptr_t)j);
    gather(j);
}

/* --- what gradients need --- */

static void keep(const dn_attn_job *j, size_t at, const double *v, int64_t rows, int64_t row)
{
    dn_store_row(j->type, (unsigned char *)j->a->reserve + at, 0, 1, rows * row, v, 1, 0);
}

static void keep_lengths(const dn_attn_job *j, size_t at, const int32_t *from, int64_t n, int64_t most)
{
    int32_t *to = (int32_t *)(void *)((unsigned char *)j->a->reserve + at);
    for (int64_t i = 0; i < n; i++)
        to[i] = (int32_t)(from[i] < 0 ? 0 : from[i] < most ? from[i] : most);
}

static void keep_all(const dn_attn_job *j)
{
    const dn_attn_size *z = &j->z;
    dn_attn_reserve r;
    dn_attn_reserve_layout(j->p, &r);
    unsigned char *states = (unsigned char *)j->a->reserve + r.states;
    memset(states, 0, 2 * sizeof(dn_dropout_state));
    if (j->u->dropout)
        memcpy(states, j->a->aux[DN_AUX_STATES], sizeof(dn_dropout_state));
    keep_lengths(j, r.lengths_q, j->len_q, z->n * z->bq, z->s);
    keep_lengths(j, r.lengths_k, j->len_k, z->n * z->bk, z->t);
    keep(j, r.q, j->q, z->hq * z->rows_q, z->e);
    keep(j, r.k, j->k, z->hk * z->rows_k, z->e);
    keep(j, r.v, j->v, z->hv * z->rows_k, z->f);
    keep(j, r.prob, j->prob, z->heads * z->rows_q, z->t);
    keep(j, r.heads, j->heads, z->rows_q, z->heads * z->f);
}

static void count_call(void *states)
{
    dn_dropout_state s;
    memcpy(&s, states, sizeof s);
    s.call++;
    memcpy(states, &s, sizeof s);
}

static void begin(dn_attn_job *j, const dn_plan *plan, const dn_args *a)
{
    size_t bytes;
    dn_attn_job_init(j, &plan->problem, a, a->workspace, &bytes);
    j->len_q = a->aux[DN_AUX_LENGTHS_QO];
    j->len_k = a->aux[DN_AUX_LENGTHS_KV];
}

static dn_status run_infer(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    dn_attn_job j;
    begin(&j, plan, a);
    if (a->step >= 0) {
        j.time = a->step;
        dn_attn_size_one_step(&j.z);
    }
    forward(&j);
    finish(&j);
    return DN_SUCCESS;
}

/* The states of both dropouts may be the same. */
static dn_status run_train(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    dn_attn_job j;
    dn_attn_reserve r;
    begin(&j, plan, a);
    forward(&j);
    keep_all(&j);
    if (j.u->dropout)
        count_call(a->aux[DN_AUX_STATES]);
    dn_attn_reserve_layout(j.p, &r);
    if (j.u->post)
        memcpy((unsigned char *)a->reserve + r.states + sizeof(dn_dropout_state), a->aux[DN_AUX_STATES2], sizeof(dn_dropout_state));
    finish(&j);
    if (j.u->post)
        count_call(a->aux[DN_AUX_STATES2]);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    return dn_attn_job_bytes(p) == SIZE_MAX ? "the intermediate values have more bytes than size_t counts" : NULL;
}

static const dn_solver rows[] = {
    { .name = "ref_attn_infer", .op = DN_OP_ATTN, .dir = DN_DIR_INFER, .algo = -1, .flags = DN_SOLVER_PLAIN, .check = check,
      .workspace = dn_attn_job_bytes, .run = run_infer },
    { .name = "ref_attn_train", .op = DN_OP_ATTN, .dir = DN_DIR_TRAIN, .algo = -1, .flags = DN_SOLVER_PLAIN, .check = check,
      .workspace = dn_attn_job_bytes, .run = run_train },
    { .name = "ref_attn_bwd_data", .op = DN_OP_ATTN, .dir = DN_DIR_BWD_DATA, .algo = -1, .flags = DN_SOLVER_PLAIN, .check = check,
      .workspace = dn_attn_job_bytes, .run = dn_attn_run_bwd_data },
    { .name = "ref_attn_bwd_filter", .op = DN_OP_ATTN, .dir = DN_DIR_BWD_FILTER, .algo = -1, .flags = DN_SOLVER_PLAIN, .check = check,
      .workspace = dn_attn_job_bytes, .run = dn_attn_run_bwd_filter },
};

const dn_rows dn_ref_attn = { rows, sizeof rows / sizeof *rows };
