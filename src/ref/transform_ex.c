/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Padding and folding on the host (the formulas are in ops/transform.h), one stretch of a row of the destination at a time: its
 * elements come from one run of the source (fold), or from as many interleaved ones as the last folding factor says (unfold). */
#include "ops/transform.h"
#include "ref/ref.h"

#include <string.h>

typedef struct fold_job {
    const dn_problem *p;
    const dn_args *a;
    int64_t factor; /* F of the formulas */
    int64_t rows;   /* of the destination */
} fold_job;

/* Offset in scalars of index i of dimension d. */
static int64_t offset(const dn_tensor *t, int d, int64_t i)
{
    int64_t vect = t->vect > 1 ? t->vect : 1;
    if (vect > 1 && d == t->vect_dim)
        return i / vect * t->strides[d] * vect + i % vect;
    return i * t->strides[d] * vect;
}

/* Adds the place of index i of dimension d, and says whether there is one. */
static bool add_place(const dn_tensor *x, int d, int64_t i, int64_t *at)
{
    *at += offset(x, d, i);
    return i >= 0 && i < x->dims[d];
}

/* v[i0 + k * step] = source k0 + k of the last dimension, for those that exist and fall into 0 .. n - 1. */
static void gather(const fold_job *job, int64_t at, int64_t k0, int64_t i0, int64_t step, int64_t n, double *v)
{
    const dn_tensor *x = &job->p->t[DN_X];
    int last = x->rank - 1;
    double run[DN_PIECE_MAX];
    int64_t count = (n - i0 + step - 1) / step;
    if (count > x->dims[last] - k0)
        count = x->dims[last] - k0;
    if (count <= 0)
        return;
    dn_load_row(dn_dtype_scalar((dn_dtype)x->type), job->a->ptr[DN_X], at + offset(x, last, k0), offset(x, last, 1), count, run);
    for (int64_t k = 0; k < count; k++)
        v[i0 + k * step] = run[k];
}

/* index: of the destination's row. Fold: every element of the row has the same phase, and the source steps by the factor. */
static void fold_row(const fold_job *job, const int64_t *index, int64_t first, int64_t n, double *v)
{
    const dn_transform_param *u = &job->p->u.transform;
    dn_tensor x = job->p->t[DN_X];
    int last = x.rank - 1;
    int64_t chan = index[1] - u->before[1], phase = chan / x.dims[1], at = 0;
    int64_t by = u->by[last - 2], start = phase % by - u->before[last];
    if (chan < 0 || phase >= job->factor)
        return;
    bool there = add_place(&x, 0, index[0] - u->before[0], &at);
    there &= add_place(&x, 1, chan % x.dims[1], &at);
    for (int d = last; d >= 2; d--) {
        if (d < last)
            there &= add_place(&x, d, index[d] * u->by[d - 2] + phase % u->by[d - 2] - u->before[d], &at);
        phase /= u->by[d - 2];
    }
    if (!there)
        return;
    /* element i of the stretch is source start + (first + i) * by */
    double run[DN_PIECE_MAX];
    int64_t k0 = start + first * by, low = k0 < 0 ? (-k0 + by - 1) / by : 0;
    int64_t high = x.dims[last] > k0 ? (x.dims[last] - k0 + by - 1) / by : 0;
    if (high > n)
        high = n;
    if (low >= high)
        return;
    dn_load_row(dn_dtype_scalar((dn_dtype)x.type), job->a->ptr[DN_X], at + offset(&x, last, k0 + low * by), offset(&x, last, by),
                high - low, run);
    memcpy(v + low, run, (size_t)(high - low) * sizeof(*run));
}

/* Unfold: element i of the row is source (i - before) / by of phase (i - before) % by. */
static void unfold_row(const fold_job *job, const int64_t *index, int64_t first, int64_t n, double *v)
{
    const dn_transform_param *u = &job->p->u.transform;
    const dn_tensor *x = &job->p->t[DN_X];
    int last = x->rank - 1;
    int64_t at = 0, phase = 0, by = u->by[last - 2], chans = job->p->t[DN_Y].dims[1];
    int64_t chan = index[1] - u->before[1], start = first - u->before[last];  /* of the stretch, in the unfolded row */
    bool there = add_place(x, 0, index[0] - u->before[0], &at);
    for (int d = 2; d < last; d++) {
        int64_t i = index[d] - u->before[d], f = u->by[d - 2];
        if (i < 0)
            return;
        there &= add_place(x, d, i / f, &at);
        phase = phase * f + i % f;
    }
    if (!there || chan < 0 || chan >= (x->dims[1] + job->factor - 1) / job->factor)
        return;
    for (int64_t m = 0; m < by && phase * by + m <= x->dims[1] / chans; m++) {
        int64_t source = at, c = (phase * by + m) * chans + chan;
        int64_t k0 = start <= m ? 0 : (start - m + by - 1) / by;  /* the first element of this phase in the stretch, but no earlier */
        if (add_place(x, 1, c, &source) && k0 * by + m - start < n)
            gather(job, source, k0, k0 * by + m - start, by, n, v);
    }
}

static void run_rows(void *ctx, int64_t begin, int64_t end)
{
    const fold_job *job = ctx;
    const dn_tensor *y = &job->p->t[DN_Y];
    int last = y->rank - 1;
    for (int64_t row = begin; row < end; row++) {
        int64_t index[DN_RANK_MAX], rest = row, at = 0;
        for (int d = last - 1; d >= 0; d--) {
            index[d] = rest % y->dims[d];
            rest /= y->dims[d];
            at += offset(y, d, index[d]);
        }
        for (int64_t first = 0; first < y->dims[last]; first += DN_PIECE_MAX) {
            double v[DN_PIECE_MAX] = { 0 };
            int64_t n = y->dims[last] - first < DN_PIECE_MAX ? y->dims[last] - first : DN_PIECE_MAX;
            if (job->p->u.transform.fold == 0)
                fold_row(job, index, first, n, v);
            else
                unfold_row(job, index, first, n, v);
            dn_store_row(dn_dtype_scalar((dn_dtype)y->type), job->a->ptr[DN_Y], at + offset(y, last, first), offset(y, last, 1), n, v,
                         job->a->alpha, job->a->beta);
        }
    }
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    const dn_tensor *y = &p->t[DN_Y];
    fold_job job = { p, a, 1, 1 };
    for (int d = 0; d + 1 < y->rank; d++)
        job.rows *= y->dims[d];
    for (int j = 0; j + 2 < y->rank; j++)
        job.factor *= p->u.transform.by[j];
    int64_t grain = DN_PIECE_GRAIN / y->dims[y->rank - 1];
    dn_parallel(job.rows, grain > 0 ? grain : 1, run_rows, &job);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    (void)p;
    return NULL;
}

static const dn_solver rows[] = {
    { .name = "ref_transformex_fwd", .op = DN_OP_TRANSFORM_EX, .dir = DN_DIR_FWD, .algo = -1, .check = check, .run = run },
};

const dn_rows dn_ref_transform_ex = { rows, sizeof(rows) / sizeof(rows[0]) };
