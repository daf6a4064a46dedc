/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Local response normalisation across channels, on the host. A piece is up to LANES places side by side; it walks the channels once,
 * keeping the last few of them in rings, so nothing is read twice and in-place calls are right. Sums in double, over the window in
 * order of the channels: the bits depend on neither the threads nor the layout.
 *     s_i = k + alpha / n * sum of x_j^2 over the window of i;  y_i = x_i s_i^-beta
 *     dx_j = dy_j s_j^-beta - 2 alpha / n beta x_j * sum of dy_i x_i s_i^(-beta - 1) over all i whose window has j
 * Krizhevsky et al. (2012), section 3.3. The gradient reads x and not y, which may have been scaled or rounded. */
#include "ops/lrn.h"
#include "ref/ref.h"

#include <string.h>

#define LANES 32
#define RING 32  /* channels kept: two windows, a power of two */

enum { OUT, X, DY, TENSORS };  /* OUT: y or dx */

typedef struct job {
    const dn_args *a;
    const dn_lrn_param *q;
    dn_dtype type;
    void *ptr[TENSORS];
    int64_t c, step[TENSORS];  /* channels, and the step from one to the next */
} job;

/* Rows of one channel each; channel i is at i % RING. */
typedef struct rings {
    double x[RING][LANES], square[RING][LANES];
    double power[RING][LANES];  /* bwd: dy s^-beta */
    double term[RING][LANES];   /* bwd: dy x s^(-beta - 1) */
    double sum[LANES];
} rings;

static double *at(double (*ring)[LANES], int64_t channel)
{
    return ring[channel & (RING - 1)];
}

static void load(const job *j, const dn_piece *p, int tensor, int64_t channel, double *v)
{
    dn_load_row(j->type, j->ptr[tensor], p->offset[tensor] + channel * j->step[tensor], p->stride[tensor], p->n, v);
}

static void load_x(const job *j, const dn_piece *p, rings *r, int64_t channel)
{
    double *x = at(r->x, channel), *square = at(r->square, channel);
    load(j, p, X, channel, x);
    for (int64_t i = 0; i < p->n; i++)
        square[i] = x[i] * x[i];
}

/* Sum of a ring over the channels first ... last that exist. */
static void sum_window(const job *j, const dn_piece *p, rings *r, double (*ring)[LANES], int64_t first, int64_t last)
{
    memset(r->sum, 0, sizeof r->sum);
    last = last < j->c ? last : j->c - 1;
    for (int64_t k = first < 0 ? 0 : first; k <= last; k++) {
        const double *row = at(ring, k);
        for (int64_t i = 0; i < p->n; i++)
            r->sum[i] += row[i];
    }
}

static void store(const job *j, const dn_piece *p, int64_t channel, const double *v)
{
    dn_store_row(j->type, j->ptr[OUT], p->offset[OUT] + channel * j->step[OUT], p->stride[OUT], p->n, v, j->a->alpha, j->a->beta);
}

static void fwd_piece(void *ctx, const dn_piece *p)
{
    const job *j = ctx;
    const dn_lrn_param *q = j->q;
    int back = dn_lrn_back(q->n), ahead = dn_lrn_ahead(q->n);
    double share = q->alpha / q->n, y[LANES];
    rings r;
    for (int64_t loaded = 0, k = 0; k < j->c; k++) {
        for (; loaded < j->c && loaded <= k + ahead; loaded++)
            load_x(j, p, &r, loaded);
        sum_window(j, p, &r, r.square, k - back, k + ahead);
        const double *x = at(r.x, k);
        for (int64_t i = 0; i < p->n; i++)
            y[i] = x[i] * dn_lrn_power(q->k + share * r.sum[i], q->beta);
        store(j, p, k, y);
    }
}

/* power and term of one channel. */
static void load_terms(const job *j, const dn_piece *p, rings *r, int64_t channel)
{
    const dn_lrn_param *q = j->q;
    double share = q->alpha / q->n, dy[LANES];
    const double *x = at(r->x, channel);
    double *power = at(r->power, channel), *term = at(r->term, channel);
    load(j, p, DY, channel, dy);
    sum_window(j, p, r, r->square, channel - dn_lrn_back(q->n), channel + dn_lrn_ahead(q->n));
    for (int64_t i = 0; i < p->n; i++) {
        double s = q->k + share * r->sum[i];
        power[i] = dy[i] * dn_lrn_power(s, q->beta);
        term[i] = power[i] * x[i] / s;
    }
}

static void bwd_piece(void *ctx, const dn_piece *p)
{
    const job *j = ctx;
    const dn_lrn_param *q = j->q;
    int back = dn_lrn_back(q->n), ahead = dn_lrn_ahead(q->n);
    double factor = 2 * q->alpha / q->n * q->beta, dx[LANES];
    rings r;
    for (int64_t loaded = 0, made = 0, k = 0; k < j->c; k++) {
        for (; made < j->c && made <= k + back; made++) {
            for (; loaded < j->c && loaded <= made + ahead; loaded++)
                load_x(j, p, &r, loaded);
            load_terms(j, p, &r, made);
        }
        sum_window(j, p, &r, r.term, k - ahead, k + back);
        const double *x = at(r.x, k), *power = at(r.power, k);
        for (int64_t i = 0; i < p->n; i++)
            dx[i] = power[i] - factor * x[i] * r.sum[i];
        store(j, p, k, dx);
    }
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    bool bwd = p->dir == DN_DIR_BWD_DATA;
    const dn_role roles[TENSORS] = { bwd ? DN_DX : DN_Y, DN_X, bwd ? DN_DY : DN_X };
    job j = { .a = a, .q = &p->u.lrn, .type = (dn_dtype)p->t[DN_X].type, .c = p->t[DN_X].dims[1] };
    dn_tensor place[TENSORS];
    const dn_tensor *t[TENSORS];
    for (int i = 0; i < TENSORS; i++) {
        place[i] = p->t[roles[i]];
        place[i].dims[1] = 1;
        t[i] = &place[i];
        j.step[i] = p->t[roles[i]].strides[1];
        j.ptr[i] = a->ptr[roles[i]];
    }
    dn_iter it;
    dn_iter_init_any_order(&it, TENSORS, t);
    dn_iter_run_costly(&it, LANES, j.c * 8, bwd ? bwd_piece : fwd_piece, &j);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    dn_dtype t = p->t[DN_X].type;
    return t == DN_F32 || t == DN_F64 || t == DN_F16 || t == DN_BF16 ? NULL : "needs type f32, f64, f16 or bf16";
}

static const dn_solver rows[] = {
    { .name = "ref_lrn_fwd", .op = DN_OP_LRN, .dir = DN_DIR_FWD, .algo = -1, .check = check, .run = run },
    { .name = "ref_lrn_bwd_data", .op = DN_OP_LRN, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = check, .run = run },
};

const dn_rows dn_ref_lrn = { rows, sizeof(rows) / sizeof(rows[0]) };
