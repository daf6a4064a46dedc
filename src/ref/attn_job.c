/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Attention on the host: memory, matrix products, rows of sequence data, dropout. */
#include "ref/attn.h"

#include "core/philox.h"
#include "ops/dropout.h"

#include <string.h>

enum { ROW_MAX = 512, WORK = 1 << 16 };

/* --- memory --- */

typedef struct room {
    unsigned char *base;
    size_t used;
} room;

static double *take(room *r, int64_t a, int64_t b)
{
    size_t bytes;
    double *at = r->base ? (double *)(void *)(r->base + r->used) : NULL;
    if (r->used == SIZE_MAX || __builtin_mul_overflow((size_t)a, (size_t)b, &bytes) ||
        __builtin_mul_overflow(bytes, sizeof(double), &bytes) || __builtin_add_overflow(bytes, r->used, &r->used))
        r->used = SIZE_MAX;
    return at;
}

void dn_attn_job_init(dn_attn_job *j, const dn_problem *p, const dn_args *a, unsigned char *base, size_t *bytes)
{
    room r = { base, 0 };
    bool forward = p->dir == DN_DIR_INFER || p->dir == DN_DIR_TRAIN, filter = p->dir == DN_DIR_BWD_FILTER;
    memset(j, 0, sizeof *j);
    *j = (dn_attn_job){ .p = p, .u = &p->u.attn, .a = a, .type = (dn_dtype)p->t[DN_X].type };
    dn_attn_size_of(p, &j->z);
    const dn_attn_size *z = &j->z;
    int64_t weights = p->t[DN_W].rank ? p->t[DN_W].dims[0] : 0, probs = z->heads * z->rows_q;
    j->w = take(&r, weights, 1);
    j->xq = take(&r, z->rows_q, z->q);
    j->xk = take(&r, z->rows_k, z->k);
    j->xv = take(&r, z->rows_k, z->v);
    j->heads = take(&r, z->rows_q, z->heads * z->f);
    j->out = take(&r, z->rows_q, z->out);
    if (!filter) {
        j->q = take(&r, z->hq * z->rows_q, z->e);
        j->k = take(&r, z->hk * z->rows_k, z->e);
        j->v = take(&r, z->hv * z->rows_k, z->f);
        j->kept = j->prob = take(&r, probs, z->t);
        if (p->u.attn.dropout)
            j->kept = take(&r, probs, z->t);
    }
    if (!forward) {
        j->dq = take(&r, z->hq * z->rows_q, z->e);
        j->dk = take(&r, z->hk * z->rows_k, z->e);
        j->dv = take(&r, z->hv * z->rows_k, z->f);
    }
    if (p->dir == DN_DIR_BWD_DATA) {
        j->dheads = take(&r, z->rows_q, z->heads * z->f);
        j->dprob = take(&r, probs, z->t);
    }
    *bytes = r.used;
}

size_t dn_attn_job_bytes(const dn_problem *p)
{
    dn_attn_job j;
    size_t bytes;
    dn_attn_job_init(&j, p, NULL, NULL, &bytes);
    return bytes;
}

/* --- products --- */

static void product_row(const dn_attn_product *g, const double *a, const double *b, const double *bias, double *c)
{
    if (g->b_col == 1) {
        for (int64_t l = 0; !g->add && l < g->n; l++)
            c[l] = 0;
        for (int64_t k = 0; k < g->k; k++) {
            double f = g->alpha * a[k * g->a_step];
            const double *row = b + k * g->b_step;
            for (int64_t l = 0; l < g->n; l++)
                c[l] += f * row[l];
        }
    } else {
        for (int64_t l = 0; l < g->n; l++) {
            double sum = 0;
            const double *column = b + l * g->b_col;
            for (int64_t k = 0; k < g->k; k++)
                sum += a[k * g->a_step] * column[k * g->b_step];
            c[l] = g->alpha * sum + (g->add ? c[l] : 0);
        }
    }
    for (int64_t l = 0; bias && l < g->n; l++)
        c[l] += bias[l];
}

/* Work item: one row of one inner product, for all outer ones in turn. */
static void product_rows(void *ctx, int64_t begin, int64_t end)
{
    const dn_attn_product *g = ctx;
    for (int64_t item = begin; item < end; item++) {
        int64_t in = item / g->m, i = item % g->m;
        for (int64_t o = 0; o < g->outer; o++)
            product_row(g, g->a + o * g->a_pitch[0] + in * g->a_pitch[1] + i * g->a_row, g->b + o * g->b_pitch[0] + in * g->b_pitch[1],
                        g->bias ? g->bias + o * g->bias_pitch : NULL, g->c + o * g->c_pitch[0] + in * g->c_pitch[1] + i * g->c_row);
    }
}

void dn_attn_multiply(const dn_attn_product *g)
{
    int64_t cost = g->outer * g->n * g->k;
    dn_parallel(g->inner * g->m, 1 + WORK / (cost + 1), product_rows, (void *)(uintptr_t)g);
}

/* --- rows of sequence data --- */

typedef struct rows_job {
    const dn_attn_rows *r, *added;
} rows_job;

static int64_t offset_of(const dn_tensor *t, int64_t time, int64_t sequence)
{
    int64_t beam = sequence % t->dims[2], batch = sequence / t->dims[2];
    return time * t->strides[0] + batch * t->strides[1] + beam * t->strides[2];
}

static void load_rows(void *ctx, int64_t begin, int64_t end)
{
    const dn_attn_rows *r = ctx;
    const dn_tensor *t = r->t;
    int64_t n = t->dims[3];
    for (int64_t row = begin; row < end; row++) {
        int64_t sequence = row / r->times, time = r->first + row % r->times;
        double *v = r->v + row * n;
        if (!r->len || time < r->len[sequence])
            dn_load_row((dn_dtype)t->type, r->ptr, offset_of(t, time, sequence), t->strides[3], n, v);
        else
            memset(v, 0, (size_t)n * sizeof *v);
    }
}

void dn_attn_load_rows(const dn_attn_rows *r)
{
    int64_t rows = r->t->dims[1] * r->t->dims[2] * r->times;
    dn_parallel(rows, 1 + DN_PIECE_GRAIN / r->t->dims[3], load_rows, (void *)(uintptr_t)r);
}

static void store_rows(void *ctx, int64_t begin, int64_t end)
{
    const rows_job *job = ctx;
    const dn_attn_rows *r = job->r;
    const dn_tensor *t = r->t;
    double v[ROW_MAX], more[ROW_MAX];
    for (int64_t row = begin; row < end; row++) {
        int64_t sequence = row / r->times, time = r->first + row % r->times;
        bool there = !r->len || time < r->len[sequence];
        for (int64_t at = 0; at < t->dims[3]; at += ROW_MAX) {
            int64_t n = t->dims[3] - at < ROW_MAX ? t->dims[3] - at : ROW_MAX;
            memset(v, 0, sizeof v);
            if (there)
                memcpy(v, r->v + row * t->dims[3] + at, (size_t)n * sizeof *v);
            if (there && job->added) {
                const dn_tensor *s = job->added->t;
                dn_load_row((dn_dtype)s->type, job->added->ptr, offset_of(s, time, sequence) + at * s->strides[3], s->strides[3], n, more);
                for (int64_t i = 0; i < n; i++)
                    v[i] += more[i];
            }
            dn_store_row((dn_dtype)t->type, r->ptr, offset_of(t, time, sequence) + at * t->strides[3], t->strides[3], n, v, 1, 0);
        }
    }
}

void dn_attn_store_rows(const dn_attn_rows *r, const dn_attn_rows *added)
{
    rows_job job = { r, added };
    int64_t rows = r->t->dims[1] * r->t->dims[2] * r->times;
    dn_parallel(rows, 1 + DN_PIECE_GRAIN / r->t->dims[3], store_rows, &job);
}

/* --- dropout --- */

dn_attn_mask dn_attn_mask_of(const void *at, float probability)
{
    dn_dropout_state state;
    memcpy(&state, at, sizeof state);
    return (dn_attn_mask){ .seed = state.seed, .call = state.call, .threshold = dn_dropout_threshold(probability),
                           .scale = probability < 1 ? 1 / (1 - (double)probability) : 0 };
}

void dn_attn_drop(const dn_attn_mask *m, int64_t first, int64_t n, const double *from, double *to)
{
    unsigned word[4];
    for (int64_t i = 0; i < n; i++) {
        int64_t e = first + i;
        if (i == 0 || e % 4 == 0)
            dn_philox_dropout(m->seed, m->call, (uint64_t)e / 4, word);
        to[i] = word[e % 4] >= m->threshold ? from[i] * m->scale : 0;
    }
}

/* --- what the directions begin with --- */

dn_attn_weight dn_attn_weight_of(const dn_attn_job *j, int kind)
{
    dn_attn_weight w;
    int64_t in[3] = { j->z.q, j->z.k, j->z.v };
    dn_attn_weight_at(j->u, in, kind, &w);
    return w;
}

void dn_attn_load_weights(const dn_attn_job *j)
{
    if (j->p->t[DN_W].rank)
        dn_load_row(j->type, j->a->ptr[DN_W], 0, 1, j->p->t[DN_W].dims[0], j->w);
}

void dn_attn_load_inputs(const dn_attn_job *j)
{
    const dn_problem *p = j->p;
    dn_attn_load_rows(&(dn_attn_rows){ &p->t[DN_X], j->a->ptr[DN_X], j->len_q, j->time, j->z.s, j->xq });
    dn_attn_load_rows(&(dn_attn_rows){ &p->t[DN_B], j->a->ptr[DN_B], j->len_k, 0, j->z.t, j->xk });
    dn_attn_load_rows(&(dn_attn_rows){ &p->t[DN_Z], j->a->ptr[DN_Z], j->len_k, 0, j->z.t, j->xv });
}

void dn_attn_load_gradient(const dn_attn_job *j, const dn_attn_reserve *r)
{
    const dn_tensor *t = &j->p->t[DN_DY];
    dn_attn_load_rows(&(dn_attn_rows){ t, j->a->ptr[DN_DY], NULL, 0, j->z.s, j->out });
    if (!j->u->post)
        return;
    unsigned char *states = (unsigned char *)j->a->reserve + r->states;
    dn_attn_mask m = dn_attn_mask_of(states + sizeof(dn_dropout_state), j->a->dropout2);
    dn_attn_drop(&m, 0, j->z.rows_q * j->z.out, j->out, j->out);
}

void dn_attn_cut_gradient(const dn_attn_job *j)
{
    for (int64_t row = 0; row < j->z.rows_q; row++)
        if (row % j->z.s >= j->len_q[row / j->z.s])
            memset(j->out + row * j->z.out, 0, (size_t)j->z.out * sizeof *j->out);
}
