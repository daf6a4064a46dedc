/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation on the host. The dimensions split into kept ones (an index of them has its own mean: c, or c and space) and
 * reduced ones (n and space, or n). A task owns some kept elements and makes all passes over them, so tasks share nothing and
 * every sum runs in the logical order of the reduced dimensions: the bits depend on neither the threads nor the layout.
 *     train  mean = sum x / m;  var = sum (x - mean)^2 / m;  y = scale * (x - mean) / sqrt(var + eps) + bias
 *     bwd    dbias = sum dy;  dscale = sum dy * xhat;  xhat = (x - mean) * inv
 *            dx = scale * inv * (dy - dbias / m - xhat * dscale / m)
 * Ioffe and Szegedy: "Batch normalization" (2015), section 3. Two passes, sums in double.
 * A line is a stretch of memory that one call works on: along the reduced dimensions for one kept element, or, where kept elements
 * lie closer together (NHWC), across up to DN_PIECE_MAX kept elements at one place of the reduced ones. */
#include "ops/bn.h"
#include "ref/ref.h"

#include <math.h>
#include <string.h>

#define TENSORS_MAX 3

typedef struct task task;

typedef struct job {
    const dn_args *a;
    void (*work)(task *k);
    const void *in[TENSORS_MAX];  /* x y, or x dy dx */
    dn_iter kept, reduced;        /* kept: the tensors, then the parameters */
    int tensors;
    bool across;
    int64_t width, parts;         /* across: kept elements of a task, tasks of a kept row */
    dn_dtype type, param;
    double m;                     /* elements behind one mean */
} job;

struct task {
    const job *j;
    int64_t n;  /* kept elements: 1 unless across */
    int64_t base[TENSORS_MAX], stride[TENSORS_MAX];  /* of the kept elements */
    int64_t w, w_stride;                             /* of their parameters */
    double mean[DN_PIECE_MAX], var[DN_PIECE_MAX], inv[DN_PIECE_MAX], scale[DN_PIECE_MAX], bias[DN_PIECE_MAX];
    double sum[DN_PIECE_MAX], dot[DN_PIECE_MAX];     /* of dy, of dy * (x - mean) */
};

typedef struct line {
    int64_t offset[TENSORS_MAX], stride[TENSORS_MAX], n;
} line;

typedef void (*line_fn)(task *k, const line *l);

/* Calls fn for every line of the task, in logical order of the reduced dimensions. */
static void walk(task *k, line_fn fn)
{
    const job *j = k->j;
    dn_iter it = j->reduced;
    line l;
    memcpy(l.stride, j->across ? k->stride : it.stride, sizeof l.stride);
    dn_iter_seek(&it, 0);
    for (int64_t row = 0; row < it.rows; row++, dn_iter_next(&it)) {
        int64_t step = j->across ? 1 : DN_PIECE_MAX;
        for (int t = 0; t < j->tensors; t++)
            l.offset[t] = k->base[t] + it.offset[t];
        for (int64_t e = 0; e < it.n; e += step) {
            l.n = j->across ? k->n : it.n - e < step ? it.n - e : step;
            fn(k, &l);
            for (int t = 0; t < j->tensors; t++)
                l.offset[t] += step * it.stride[t];
        }
    }
}

static void load(const task *k, const line *l, int tensor, double *v)
{
    dn_load_row(k->j->type, k->j->in[tensor], l->offset[tensor], l->stride[tensor], l->n, v);
}

/* --- arithmetic of a line: per kept element across, else all for the one --- */

static void sum_into(const task *k, int64_t n, const double *v, double *sum)
{
    if (k->j->across) {
        for (int64_t i = 0; i < n; i++)
            sum[i] += v[i];
    } else {
        double s = *sum;
        for (int64_t i = 0; i < n; i++)
            s += v[i];
        *sum = s;
    }
}

static void center(const task *k, int64_t n, double *v)
{
    if (k->j->across) {
        for (int64_t i = 0; i < n; i++)
            v[i] -= k->mean[i];
    } else {
        double mean = k->mean[0];
        for (int64_t i = 0; i < n; i++)
            v[i] -= mean;
    }
}

static void mean_line(task *k, const line *l)
{
    double v[DN_PIECE_MAX];
    load(k, l, 0, v);
    sum_into(k, l->n, v, k->mean);
}

static void var_line(task *k, const line *l)
{
    double v[DN_PIECE_MAX];
    load(k, l, 0, v);
    center(k, l->n, v);
    for (int64_t i = 0; i < l->n; i++)
        v[i] *= v[i];
    sum_into(k, l->n, v, k->var);
}

static void norm_line(task *k, const line *l)
{
    const dn_args *a = k->j->a;
    int64_t one = k->j->across;
    double v[DN_PIECE_MAX];
    load(k, l, 0, v);
    center(k, l->n, v);
    for (int64_t i = 0; i < l->n; i++)
        v[i] = v[i] * k->inv[i * one] * k->scale[i * one] + k->bias[i * one];
    dn_store_row(k->j->type, a->ptr[DN_Y], l->offset[1], l->stride[1], l->n, v, a->alpha, a->beta);
}

static void grad_sums_line(task *k, const line *l)
{
    double x[DN_PIECE_MAX], dy[DN_PIECE_MAX];
    load(k, l, 0, x);
    load(k, l, 1, dy);
    center(k, l->n, x);
    sum_into(k, l->n, dy, k->sum);
    for (int64_t i = 0; i < l->n; i++)
        dy[i] *= x[i];
    sum_into(k, l->n, dy, k->dot);
}

/* sum and dot hold their means here, dot also times inv^2. */
static void dx_line(task *k, const line *l)
{
    const dn_args *a = k->j->a;
    int64_t one = k->j->across;
    double x[DN_PIECE_MAX], dy[DN_PIECE_MAX];
    load(k, l, 0, x);
    load(k, l, 1, dy);
    center(k, l->n, x);
    for (int64_t i = 0; i < l->n; i++)
        dy[i] = k->scale[i * one] * k->inv[i * one] * (dy[i] - k->sum[i * one] - x[i] * k->dot[i * one]);
    dn_store_row(k->j->type, a->ptr[DN_DX], l->offset[2], l->stride[2], l->n, dy, a->alpha, a->beta);
}

/* --- a task --- */

static void get_param(const task *k, dn_aux which, double *v)
{
    dn_load_row(k->j->param, k->j->a->aux[which], k->w, k->w_stride, k->n, v);
}

static void put_param(const task *k, dn_aux which, const double *v, double alpha, double beta)
{
    if (k->j->a->aux[which])
        dn_store_row(k->j->param, k->j->a->aux[which], k->w, k->w_stride, k->n, v, alpha, beta);
}

static void zero(const task *k, double *v)
{
    memset(v, 0, (size_t)k->n * sizeof *v);
}

static void invert(task *k)
{
    for (int64_t i = 0; i < k->n; i++)
        k->inv[i] = 1 / sqrt(k->var[i] + k->j->a->eps);
}

/* Mean, biased variance and inv of this batch. */
static void batch_stats(task *k)
{
    zero(k, k->mean);
    walk(k, mean_line);
    for (int64_t i = 0; i < k->n; i++)
        k->mean[i] /= k->j->m;
    zero(k, k->var);
    walk(k, var_line);
    for (int64_t i = 0; i < k->n; i++)
        k->var[i] /= k->j->m;
    invert(k);
}

/* running = factor * new + (1 - factor) * running; factor 1 does not read running, which may hold anything before the first call.
 * The running variance takes the unbiased estimate; of a single element there is none, and the biased one (0) stands in. */
static void train_work(task *k)
{
    const dn_args *a = k->j->a;
    batch_stats(k);
    put_param(k, DN_AUX_SAVE_MEAN, k->mean, 1, 0);
    put_param(k, DN_AUX_SAVE_INVSTD, k->inv, 1, 0);
    put_param(k, DN_AUX_MEAN, k->mean, a->factor, 1 - a->factor);
    double unbias = k->j->m > 1 ? k->j->m / (k->j->m - 1) : 1;
    for (int64_t i = 0; i < k->n; i++)
        k->var[i] *= unbias;
    put_param(k, DN_AUX_VAR, k->var, a->factor, 1 - a->factor);
    get_param(k, DN_AUX_SCALE, k->scale);
    get_param(k, DN_AUX_BIAS, k->bias);
    walk(k, norm_line);
}

static void infer_work(task *k)
{
    get_param(k, DN_AUX_MEAN, k->mean);
    get_param(k, DN_AUX_VAR, k->var);
    invert(k);
    get_param(k, DN_AUX_SCALE, k->scale);
    get_param(k, DN_AUX_BIAS, k->bias);
    walk(k, norm_line);
}

static void bwd_work(task *k)
{
    const dn_args *a = k->j->a;
    if (a->aux[DN_AUX_SAVE_MEAN] && a->aux[DN_AUX_SAVE_INVSTD]) {
        get_param(k, DN_AUX_SAVE_MEAN, k->mean);
        get_param(k, DN_AUX_SAVE_INVSTD, k->inv);
    } else {
        batch_stats(k);
    }
    get_param(k, DN_AUX_SCALE, k->scale);
    zero(k, k->sum);
    zero(k, k->dot);
    walk(k, grad_sums_line);
    for (int64_t i = 0; i < k->n; i++)
        k->dot[i] *= k->inv[i];
    put_param(k, DN_AUX_DSCALE, k->dot, a->alpha2, a->beta2);
    put_param(k, DN_AUX_DBIAS, k->sum, a->alpha2, a->beta2);
    for (int64_t i = 0; i < k->n; i++) {
        k->sum[i] /= k->j->m;
        k->dot[i] *= k->inv[i] / k->j->m;
    }
    walk(k, dx_line);
}

/* --- cutting the problem --- */

/* Dimensions of t that are kept, or those that are reduced, as a tensor of their own. */
static dn_tensor view(const dn_tensor *t, int mode, bool kept)
{
    dn_tensor v = *t;
    v.rank = 0;
    for (int d = 0; d < t->rank; d++) {
        bool keep = d == 1 || (d > 1 && mode == DN_BN_PER_ACTIVATION);
        if (keep != kept)
            continue;
        v.dims[v.rank] = t->dims[d];
        v.strides[v.rank++] = t->strides[d];
    }
    return v;
}

static int64_t magnitude(int64_t v)
{
    return v < 0 ? -v : v;
}

/* Lines across kept elements where those lie closer together than reduced ones and there are enough of them. A task then takes an
 * eighth of a row, so that a few cores have work, but whole cache lines. */
static void cut(job *j)
{
    int64_t n = j->kept.n;
    bool single = j->reduced.rows * j->reduced.n == 1;
    j->across = n >= 8 && (single || magnitude(j->kept.stride[0]) <= magnitude(j->reduced.stride[0]));
    j->width = 1;
    if (j->across) {
        j->width = (n / 8 + 15) / 16 * 16;
        j->width = j->width < 16 ? 16 : j->width > DN_PIECE_MAX ? DN_PIECE_MAX : j->width;
    }
    j->parts = (n + j->width - 1) / j->width;
}

static void run_tasks(void *ctx, int64_t begin, int64_t end)
{
    const job *j = ctx;
    dn_iter it = j->kept;
    task k;
    k.j = j;
    memcpy(k.stride, it.stride, sizeof k.stride);
    k.w_stride = it.stride[j->tensors];
    for (int64_t t = begin; t < end; t++) {
        int64_t first = t % j->parts * j->width, left = it.n - first;
        dn_iter_seek(&it, t / j->parts);
        k.n = left < j->width ? left : j->width;
        for (int i = 0; i < j->tensors; i++)
            k.base[i] = it.offset[i] + first * it.stride[i];
        k.w = it.offset[j->tensors] + first * it.stride[j->tensors];
        j->work(&k);
    }
}

static dn_status run(const dn_plan *plan, const dn_args *a, void (*work)(task *), int tensors, const dn_role *roles)
{
    const dn_problem *p = &plan->problem;
    int mode = p->u.bn.mode;
    job j = { .a = a, .work = work, .tensors = tensors };
    dn_tensor kept[TENSORS_MAX + 1], reduced[TENSORS_MAX];
    const dn_tensor *kept_at[TENSORS_MAX + 1], *reduced_at[TENSORS_MAX];
    for (int i = 0; i < tensors; i++) {
        j.in[i] = a->ptr[roles[i]];
        kept[i] = view(&p->t[roles[i]], mode, true);
        reduced[i] = view(&p->t[roles[i]], mode, false);
        kept_at[i] = &kept[i];
        reduced_at[i] = &reduced[i];
    }
    kept[tensors] = view(&p->t[DN_W], mode, true);
    kept_at[tensors] = &kept[tensors];
    dn_iter_init_any_order(&j.kept, tensors + 1, kept_at);
    dn_iter_init(&j.reduced, tensors, reduced_at);
    j.type = (dn_dtype)p->t[DN_X].type;
    j.param = (dn_dtype)p->t[DN_W].type;
    int64_t m = j.reduced.rows * j.reduced.n;
    j.m = (double)m;
    cut(&j);
    int64_t grain = DN_PIECE_GRAIN / m / j.width;
    dn_parallel(j.kept.rows * j.parts, grain > 1 ? grain : 1, run_tasks, &j);
    return DN_SUCCESS;
}

static const dn_role fwd_roles[] = { DN_X, DN_Y }, bwd_roles[] = { DN_X, DN_DY, DN_DX };

static dn_status run_infer(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    return run(plan, a, infer_work, 2, fwd_roles);
}

static dn_status run_train(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    return run(plan, a, train_work, 2, fwd_roles);
}

static dn_status run_bwd(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    return run(plan, a, bwd_work, 3, bwd_roles);
}

static const char *check(const dn_problem *p)
{
    return p->u.bn.ops ? "needs bnOps BN: no fused activation" : NULL;
}

static const dn_solver rows[] = {
    { .name = "ref_bn_infer", .op = DN_OP_BN, .dir = DN_DIR_INFER, .algo = -1, .check = check, .run = run_infer },
    { .name = "ref_bn_train", .op = DN_OP_BN, .dir = DN_DIR_TRAIN, .algo = -1, .check = check, .run = run_train },
    { .name = "ref_bn_bwd", .op = DN_OP_BN, .dir = DN_DIR_BWD, .algo = -1, .check = check, .run = run_bwd },
};

const dn_rows dn_ref_bn = { rows, sizeof(rows) / sizeof(rows[0]) };
