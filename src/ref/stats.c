/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Sums and sums of squares by channel, and what a normalisation makes of them, on the host (ops/fused.h). As in bn.c a task owns some
 * kept elements and goes over all reduced ones in their logical order, so the bits depend on neither the threads nor the layout. */
#include "ops/fused.h"

#include "ops/bn.h"
#include "ref/ref.h"

#include <string.h>

typedef struct job {
    const dn_problem *p;
    const dn_args *a;
    dn_iter kept, reduced;    /* tensors: X, and in kept W */
    int64_t width, parts;     /* kept elements of a task, tasks of a kept row */
} job;

/* n kept elements from x on, at a step of their own; over all places. */
static void across(const job *j, int64_t x, int64_t step, int64_t n, double *sum, double *sq)
{
    double v[DN_PIECE_MAX];
    dn_iter it = j->reduced;
    dn_iter_seek(&it, 0);
    for (int64_t row = 0; row < it.rows; row++, dn_iter_next(&it))
        for (int64_t e = 0; e < it.n; e++) {
            dn_load_row((dn_dtype)j->p->t[DN_X].type, j->a->ptr[DN_X], x + it.offset[0] + e * it.stride[0], step, n, v);
            for (int64_t i = 0; i < n; i++) {
                sum[i] += v[i];
                sq[i] += v[i] * v[i];
            }
        }
}

/* One kept element: rows of places. */
static void along(const job *j, int64_t x, double *sum, double *sq)
{
    double v[DN_PIECE_MAX];
    dn_iter it = j->reduced;
    dn_iter_seek(&it, 0);
    for (int64_t row = 0; row < it.rows; row++, dn_iter_next(&it))
        for (int64_t e = 0; e < it.n; e += DN_PIECE_MAX) {
            int64_t n = it.n - e < DN_PIECE_MAX ? it.n - e : DN_PIECE_MAX;
            dn_load_row((dn_dtype)j->p->t[DN_X].type, j->a->ptr[DN_X], x + it.offset[0] + e * it.stride[0], it.stride[0], n, v);
            for (int64_t i = 0; i < n; i++) {
                *sum += v[i];
                *sq += v[i] * v[i];
            }
        }
}

static void put(const job *j, dn_aux which, int64_t at, int64_t step, int64_t n, const double *v)
{
    if (dn_fused_has(j->p, which))
        dn_store_row((dn_dtype)j->p->t[DN_W].type, j->a->aux[which], at, step, n, v, 1, 0);
}

static void run_tasks(void *ctx, int64_t begin, int64_t end)
{
    const job *j = ctx;
    dn_iter it = j->kept;
    for (int64_t task = begin; task < end; task++) {
        double sum[DN_PIECE_MAX], sq[DN_PIECE_MAX];
        int64_t first = task % j->parts * j->width, n = it.n - first < j->width ? it.n - first : j->width;
        dn_iter_seek(&it, task / j->parts);
        int64_t x = it.offset[0] + first * it.stride[0], w = it.offset[1] + first * it.stride[1];
        memset(sum, 0, sizeof sum);
        memset(sq, 0, sizeof sq);
        if (j->width == 1)
            along(j, x, sum, sq);
        else
            across(j, x, it.stride[0], n, sum, sq);
        put(j, DN_AUX_SUM, w, it.stride[1], n, sum);
        put(j, DN_AUX_SQSUM, w, it.stride[1], n, sq);
    }
}

static int64_t magnitude(int64_t v)
{
    return v < 0 ? -v : v;
}

/* Across where kept elements lie closer together than reduced ones; the width is the problem's alone. */
static void cut(job *j)
{
    bool wide = j->kept.n >= 8 && magnitude(j->kept.stride[0]) <= magnitude(j->reduced.stride[0]);
    j->width = !wide ? 1 : j->kept.n >= 1024 ? 256 : j->kept.n >= 64 ? 32 : 8;
    j->parts = (j->kept.n + j->width - 1) / j->width;
}

static dn_status run_stats(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    int mode = dn_fused_mode(&p->t[DN_W]);
    job j = { .p = p, .a = a };
    dn_tensor kept[2] = { dn_bn_part(&p->t[DN_X], mode, true), dn_bn_part(&p->t[DN_W], mode, true) };
    dn_tensor reduced = dn_bn_part(&p->t[DN_X], mode, false);
    const dn_tensor *const kept_at[] = { &kept[0], &kept[1] }, *const reduced_at[] = { &reduced };
    dn_iter_init_any_order(&j.kept, 2, kept_at);
    dn_iter_init(&j.reduced, 1, reduced_at);
    cut(&j);
    int64_t grain = DN_PIECE_GRAIN / (j.reduced.rows * j.reduced.n) / j.width;
    dn_parallel(j.kept.rows * j.parts, grain > 1 ? grain : 1, run_tasks, &j);
    return DN_SUCCESS;
}

/* --- the final step: tensors of the walk: W, B --- */

typedef struct final {
    const dn_problem *p;
    const dn_args *a;
} final;

/* The array's values, or `none` where the call lacks it. */
static void get(const final *f, const dn_piece *k, dn_aux which, double none, double *v)
{
    if (dn_fused_has(f->p, which))
        dn_load_row((dn_dtype)f->p->t[DN_W].type, f->a->aux[which], k->offset[0], k->stride[0], k->n, v);
    else
        for (int64_t i = 0; i < k->n; i++)
            v[i] = none;
}

static void give(const final *f, const dn_piece *k, dn_aux which, const double *v, double alpha, double beta)
{
    int t = which == DN_AUX_SCALE2 || which == DN_AUX_BIAS2;
    if (dn_fused_has(f->p, which) && f->a->aux[which])
        dn_store_row((dn_dtype)f->p->t[t ? DN_B : DN_W].type, f->a->aux[which], k->offset[t], k->stride[t], k->n, v, alpha, beta);
}

/* mean and inv of this piece, the statistics written where they are wanted. */
static void train_piece(const final *f, const dn_piece *k, double *mean, double *inv)
{
    double var[DN_PIECE_MAX];
    get(f, k, DN_AUX_SUM, 0, mean);
    get(f, k, DN_AUX_SQSUM, 0, var);
    for (int64_t i = 0; i < k->n; i++) {
        dn_bn_final s = dn_bn_final_of(mean[i], var[i], (double)f->a->count, f->a->eps);
        mean[i] = s.mean;
        var[i] = s.unbiased;
        inv[i] = s.inv;
    }
    give(f, k, DN_AUX_SAVE_MEAN, mean, 1, 0);
    give(f, k, DN_AUX_SAVE_INVSTD, inv, 1, 0);
    give(f, k, DN_AUX_MEAN, mean, f->a->factor, 1 - f->a->factor);
    give(f, k, DN_AUX_VAR, var, f->a->factor, 1 - f->a->factor);
}

static void final_piece(void *ctx, const dn_piece *k)
{
    const final *f = ctx;
    double mean[DN_PIECE_MAX], inv[DN_PIECE_MAX], scale[DN_PIECE_MAX], bias[DN_PIECE_MAX];
    if (f->p->dir == DN_DIR_TRAIN) {
        train_piece(f, k, mean, inv);
    } else {
        get(f, k, DN_AUX_MEAN, 0, mean);
        get(f, k, DN_AUX_VAR, 1, inv);
        for (int64_t i = 0; i < k->n; i++)
            inv[i] = 1 / sqrt(inv[i] + f->a->eps);
    }
    get(f, k, DN_AUX_SCALE, 1, scale);
    get(f, k, DN_AUX_BIAS, 0, bias);
    for (int64_t i = 0; i < k->n; i++) {
        scale[i] *= inv[i];
        bias[i] -= scale[i] * mean[i];
    }
    give(f, k, DN_AUX_SCALE2, scale, 1, 0);
    give(f, k, DN_AUX_BIAS2, bias, 1, 0);
}

static dn_status run_final(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    final f = { p, a };
    const dn_tensor *const t[] = { &p->t[DN_W], &p->t[p->t[DN_B].rank ? DN_B : DN_W] };
    dn_iter it;
    dn_iter_init_any_order(&it, 2, t);
    dn_iter_run(&it, final_piece, &f);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    (void)p;
    return NULL;
}

static const dn_solver rows[] = {
    { .name = "ref_stats_fwd", .op = DN_OP_STATS, .dir = DN_DIR_FWD, .algo = -1, .check = check, .run = run_stats },
    { .name = "ref_bnfinal_train", .op = DN_OP_BN_FINAL, .dir = DN_DIR_TRAIN, .algo = -1, .check = check, .run = run_final },
    { .name = "ref_bnfinal_infer", .op = DN_OP_BN_FINAL, .dir = DN_DIR_INFER, .algo = -1, .check = check, .run = run_final },
};

const dn_rows dn_ref_stats = { rows, sizeof rows / sizeof rows[0] };
