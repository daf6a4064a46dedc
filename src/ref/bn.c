/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation on the host. The dimensions split into kept ones (an index of them has its own mean: c, or c and space) and
 * reduced ones (n and space, or n). A task owns some kept elements and makes all passes over them, so tasks share nothing and
 * every sum runs in the logical order of the reduced dimensions: the bits depend on neither the threads nor the layout.
 *     train  mean = sum x / m;  var = sum (x - mean)^2 / m;  y = act(scale * (x - mean) / sqrt(var + eps) + bias + z)
 *     bwd    g = dy where the activation lets it through, else 0;  dz = g
 *            dbias = sum g;  dscale = sum g * xhat;  xhat = (x - mean) * inv
 *            dx = scale * inv * (g - dbias / m - xhat * dscale / m)
 * Ioffe and Szegedy: "Batch normalization" (2015), section 3. Two passes, sums in double.
 * A tile is what one call works on: a stretch along the reduced dimensions for one kept element, or, where kept elements lie closer
 * together (NHWC), some places of the reduced dimensions by up to DN_PIECE_MAX kept elements. */
#include "ops/act_fn.h"
#include "ops/bn.h"
#include "ref/bn_kernel.h"
#include "ref/ref.h"

#include <string.h>

#define TILE_MAX 1024  /* doubles: three tiles fit a first-level cache */

/* Tensors of the walks; those that a call lacks walk as x does. After them, in the kept walk, the parameters. */
enum { X, OUT, IN, DZ, MASK, DATA };  /* OUT: y or dx, IN: z or dy */

typedef struct task task;

typedef struct job {
    const dn_problem *p;
    const dn_args *a;
    const dn_bn_kernel *k;
    void (*work)(task *t);
    void *ptr[DATA];
    dn_iter kept, reduced;
    bool across, masked, added;   /* masked: the reserve space is in use; added: z, or dz */
    int64_t width, parts;         /* across: kept elements of a task, tasks of a kept row */
    dn_dtype type, param;
    double m;                     /* elements behind one mean */
} job;

struct task {
    const job *j;
    int64_t n;  /* kept elements: 1 unless across */
    int64_t base[DATA], stride[DATA];  /* of the kept elements */
    int64_t w, w_stride;               /* of their parameters */
    double mean[DN_PIECE_MAX], var[DN_PIECE_MAX], inv[DN_PIECE_MAX], scale[DN_PIECE_MAX], bias[DN_PIECE_MAX];
    double sum[DN_PIECE_MAX], dot[DN_PIECE_MAX];  /* of g, of g * (x - mean) */
    double v[TILE_MAX], u[TILE_MAX];
};

typedef struct tile {
    dn_bn_tile t;
    int64_t offset[DATA], stride[DATA], step[DATA];  /* along a row of the tile, from row to row */
} tile;

static const dn_bn_kernel *kernel(void)
{
#if defined(DN_HAVE_AVX512)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl"))
        return &dn_bn_kernel_avx512;
#endif
#if defined(DN_HAVE_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &dn_bn_kernel_avx2;
#endif
    return &dn_bn_kernel_base;
}

/* Calls fn for every tile of the task, in logical order of the reduced dimensions. */
static void walk(task *k, void (*fn)(task *k, const tile *l))
{
    const job *j = k->j;
    dn_iter it = j->reduced;
    tile l = { .t = { .rows = 1, .n = 1, .across = j->across } };
    int64_t most = j->across ? TILE_MAX / k->n : TILE_MAX;
    memcpy(l.stride, j->across ? k->stride : it.stride, sizeof l.stride);
    memcpy(l.step, it.stride, sizeof l.step);
    dn_iter_seek(&it, 0);
    for (int64_t row = 0; row < it.rows; row++, dn_iter_next(&it))
        for (int64_t e = 0; e < it.n; e += most) {
            int64_t count = it.n - e < most ? it.n - e : most;
            l.t.rows = j->across ? count : 1;
            l.t.n = j->across ? k->n : count;
            for (int s = 0; s < DATA; s++)
                l.offset[s] = k->base[s] + it.offset[s] + e * it.stride[s];
            fn(k, &l);
        }
}

/* --- tiles from and to memory --- */

/* Rows that follow one another in memory are one. */
static void join_rows(const tile *l, int slot, int64_t *rows, int64_t *n)
{
    bool dense = l->step[slot] == l->t.n * l->stride[slot];
    *rows = dense ? 1 : l->t.rows;
    *n = dense ? l->t.rows * l->t.n : l->t.n;
}

static void load(const task *k, const tile *l, int slot, double *v)
{
    const job *j = k->j;
    int64_t rows, n, at = l->offset[slot];
    join_rows(l, slot, &rows, &n);
    for (int64_t r = 0; r < rows; r++, v += n, at += l->step[slot]) {
        if (j->type == DN_F32 && l->stride[slot] == 1)
            j->k->widen(n, (const unsigned char *)j->ptr[slot] + at * (int64_t)sizeof(float), v);
        else
            dn_load_row(j->type, j->ptr[slot], at, l->stride[slot], n, v);
    }
}

static void store(const task *k, const tile *l, int slot, const double *v)
{
    const job *j = k->j;
    const dn_args *a = j->a;
    int64_t rows, n, at = l->offset[slot];
    join_rows(l, slot, &rows, &n);
    for (int64_t r = 0; r < rows; r++, v += n, at += l->step[slot]) {
        if (j->type == DN_F32 && l->stride[slot] == 1 && a->beta == 0)
            j->k->narrow(n, v, a->alpha, (unsigned char *)j->ptr[slot] + at * (int64_t)sizeof(float));
        else
            dn_store_row(j->type, j->ptr[slot], at, l->stride[slot], n, v, a->alpha, a->beta);
    }
}

/* y = act(v), and where its gradient goes through. */
static void activate(const task *k, const tile *l, double *v)
{
    const dn_act_param *act = &k->j->p->u.bn.act;
    int64_t n = l->t.n, stride = l->stride[MASK];
    for (int64_t r = 0; r < l->t.rows; r++, v += n) {
        if (k->j->masked) {
            uint8_t *mask = (uint8_t *)k->j->ptr[MASK] + l->offset[MASK] + r * l->step[MASK];
            for (int64_t i = 0; i < n; i++)
                mask[i * stride] = dn_act_grad(act, v[i], 0, 1) != 0;
        }
        for (int64_t i = 0; i < n; i++)
            v[i] = dn_act_apply(act, v[i]);
    }
}

/* g: dy with 0 where the activation stopped it. */
static void load_gradient(const task *k, const tile *l, double *v)
{
    load(k, l, IN, v);
    if (!k->j->masked)
        return;
    int64_t n = l->t.n, stride = l->stride[MASK];
    for (int64_t r = 0; r < l->t.rows; r++, v += n) {
        const uint8_t *mask = (const uint8_t *)k->j->ptr[MASK] + l->offset[MASK] + r * l->step[MASK];
        for (int64_t i = 0; i < n; i++)
            v[i] = mask[i * stride] ? v[i] : 0;
    }
}

/* --- the passes, a tile at a time --- */

static void mean_tile(task *k, const tile *l)
{
    load(k, l, X, k->v);
    k->j->k->sum(&l->t, k->v, k->mean);
}

static void var_tile(task *k, const tile *l)
{
    const dn_bn_kernel *f = k->j->k;
    load(k, l, X, k->v);
    f->center(&l->t, k->v, k->mean);
    memcpy(k->u, k->v, (size_t)(l->t.rows * l->t.n) * sizeof *k->u);
    f->multiply(&l->t, k->v, k->u);
    f->sum(&l->t, k->v, k->var);
}

static void norm_tile(task *k, const tile *l)
{
    const job *j = k->j;
    load(k, l, X, k->v);
    j->k->center(&l->t, k->v, k->mean);
    j->k->norm(&l->t, k->v, k->inv, k->scale, k->bias);
    if (j->added) {
        load(k, l, IN, k->u);
        for (int64_t i = 0; i < l->t.rows * l->t.n; i++)
            k->v[i] += k->u[i];
    }
    if (j->p->u.bn.ops)
        activate(k, l, k->v);
    store(k, l, OUT, k->v);
}

static void grad_sums_tile(task *k, const tile *l)
{
    const dn_bn_kernel *f = k->j->k;
    load(k, l, X, k->u);
    load_gradient(k, l, k->v);
    f->center(&l->t, k->u, k->mean);
    f->sum(&l->t, k->v, k->sum);
    f->multiply(&l->t, k->v, k->u);
    f->sum(&l->t, k->v, k->dot);
}

/* sum and dot hold their means here, dot also times inv^2. */
static void dx_tile(task *k, const tile *l)
{
    const job *j = k->j;
    load(k, l, X, k->u);
    load_gradient(k, l, k->v);
    if (j->added)
        store(k, l, DZ, k->v);
    j->k->center(&l->t, k->u, k->mean);
    j->k->dx(&l->t, k->v, k->u, k->scale, k->inv, k->sum, k->dot);
    store(k, l, OUT, k->v);
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
    walk(k, mean_tile);
    for (int64_t i = 0; i < k->n; i++)
        k->mean[i] /= k->j->m;
    zero(k, k->var);
    walk(k, var_tile);
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
    walk(k, norm_tile);
}

static void infer_work(task *k)
{
    get_param(k, DN_AUX_MEAN, k->mean);
    get_param(k, DN_AUX_VAR, k->var);
    invert(k);
    get_param(k, DN_AUX_SCALE, k->scale);
    get_param(k, DN_AUX_BIAS, k->bias);
    walk(k, norm_tile);
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
    walk(k, grad_sums_tile);
    for (int64_t i = 0; i < k->n; i++)
        k->dot[i] *= k->inv[i];
    put_param(k, DN_AUX_DSCALE, k->dot, a->alpha2, a->beta2);
    put_param(k, DN_AUX_DBIAS, k->sum, a->alpha2, a->beta2);
    for (int64_t i = 0; i < k->n; i++) {
        k->sum[i] /= k->j->m;
        k->dot[i] *= k->inv[i] / k->j->m;
    }
    walk(k, dx_tile);
}

/* --- cutting the problem --- */

static int64_t magnitude(int64_t v)
{
    return v < 0 ? -v : v;
}

/* Tiles across kept elements where those lie closer together than reduced ones and there are enough of them. A task then takes a
 * thread's share of a row, but whole cache lines: neighbouring tasks share nothing, so the bits do not depend on the threads. */
static void cut(job *j)
{
    int64_t n = j->kept.n, threads = dn_thread_count();
    bool single = j->reduced.rows * j->reduced.n == 1;
    j->across = n >= 8 && (single || magnitude(j->kept.stride[X]) <= magnitude(j->reduced.stride[X]));
    j->width = 1;
    if (j->across) {
        j->width = (n / threads + 15) / 16 * 16;
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
    k.w_stride = it.stride[DATA];
    for (int64_t t = begin; t < end; t++) {
        int64_t first = t % j->parts * j->width, left = it.n - first;
        dn_iter_seek(&it, t / j->parts);
        k.n = left < j->width ? left : j->width;
        for (int i = 0; i < DATA; i++)
            k.base[i] = it.offset[i] + first * it.stride[i];
        k.w = it.offset[DATA] + first * it.stride[DATA];
        j->work(&k);
    }
}

/* The walks' tensors and pointers. */
static void bind(job *j)
{
    const dn_problem *p = j->p;
    bool bwd = p->dir == DN_DIR_BWD;
    const dn_role roles[DATA] = { DN_X, bwd ? DN_DX : DN_Y, bwd ? DN_DY : DN_Z, DN_DZ, DN_X };
    const dn_tensor *kept_at[DATA + 1], *reduced_at[DATA];
    dn_tensor mask, kept[DATA + 1], reduced[DATA];
    dn_bn_mask(&p->t[DN_X], &mask);
    for (int i = 0; i < DATA; i++) {
        dn_role r = p->t[roles[i]].rank ? roles[i] : DN_X;
        const dn_tensor *t = i == MASK && j->masked ? &mask : &p->t[r];
        j->ptr[i] = i == MASK ? j->a->reserve : j->a->ptr[r];
        kept[i] = dn_bn_part(t, p->u.bn.mode, true);
        reduced[i] = dn_bn_part(t, p->u.bn.mode, false);
        kept_at[i] = &kept[i];
        reduced_at[i] = &reduced[i];
    }
    kept[DATA] = dn_bn_part(&p->t[DN_W], p->u.bn.mode, true);
    kept_at[DATA] = &kept[DATA];
    dn_iter_init_any_order(&j->kept, DATA + 1, kept_at);
    dn_iter_init(&j->reduced, DATA, reduced_at);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    job j = { .p = p, .a = a, .k = kernel() };
    j.work = p->dir == DN_DIR_BWD ? bwd_work : p->dir == DN_DIR_TRAIN ? train_work : infer_work;
    j.masked = dn_bn_reserve_size(p) > 0;
    j.added = p->u.bn.ops == 2;
    j.type = (dn_dtype)p->t[DN_X].type;
    j.param = (dn_dtype)p->t[DN_W].type;
    bind(&j);
    int64_t m = j.reduced.rows * j.reduced.n;
    j.m = (double)m;
    cut(&j);
    int64_t grain = DN_PIECE_GRAIN / m / j.width;
    dn_parallel(j.kept.rows * j.parts, grain > 1 ? grain : 1, run_tasks, &j);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    (void)p;
    return NULL;
}

static const dn_solver rows[] = {
    { .name = "ref_bn_infer", .op = DN_OP_BN, .dir = DN_DIR_INFER, .algo = -1, .check = check, .run = run },
    { .name = "ref_bn_train", .op = DN_OP_BN, .dir = DN_DIR_TRAIN, .algo = -1, .check = check, .run = run },
    { .name = "ref_bn_bwd", .op = DN_OP_BN, .dir = DN_DIR_BWD, .algo = -1, .check = check, .run = run },
};

const dn_rows dn_ref_bn = { rows, sizeof(rows) / sizeof(rows[0]) };
