/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution in every direction for everything that ref takes, through ref's own views of the operands, so that both engines agree on
 * where an element lies. */
#include "cuda/conv/conv.h"

#include "cuda/naive.h"
#include "cuda/rows.h"
#include "ops/act_fn.h"
#include "ref/conv.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)DN_CONV_DIMS <= (int)DN_GEMM_DIMS && DN_SPATIAL_MAX <= DN_GEMM_TAPS, "every view fits");
_Static_assert(sizeof(dn_gemm_fwd) <= 4096, "parameters of a kernel");

enum { PARTS_MAX = 64, TILES_WANTED = 512, TILE = 64, COLUMNS_LEAST = 512 };

/* --- views --- */

/* p with vectorised tensors written as plain ones whose strides count scalars; the channel's own vectors stay in `vect`. */
static void scalar_strides(const dn_problem *p, dn_problem *q)
{
    *q = *p;
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        dn_tensor *t = &q->t[r];
        for (int d = 0; d < t->rank && t->vect > 1; d++)
            t->strides[d] *= t->vect;
        t->type = (uint8_t)dn_dtype_scalar((dn_dtype)t->type);
    }
}

static void view_of(dn_gemm_view *v, const dn_conv_view *from, const dn_tensor *t, int64_t chans)
{
    *v = (dn_gemm_view){ .e = dn_elements_of(t), .rank = from->rank, .vect = t->vect > 1 ? t->vect : 1, .chans = chans,
                         .offset = from->offset, .chan_stride = from->chan_stride };
    for (int j = 0; j < from->rank; j++) {
        const dn_conv_dim *d = &from->dim[j];
        v->dim[j] = (dn_gemm_dim){ d->cols, d->taps, d->mul, d->base, d->step, d->limit, d->stride, d->tap_weight };
    }
}

static void filter_of(dn_gemm_filter *f, const dn_conv_filter *from, const dn_problem *p, int64_t rows)
{
    const dn_tensor *w = &p->t[DN_W];
    *f = (dn_gemm_filter){ .e = dn_elements_of(w), .rank = from->rank, .vect = w->vect > 1 ? w->vect : 1, .tap_inner = from->tap_inner,
                           .reordered = p->u.conv.reordered, .rows = rows, .chans = from->chans, .taps = from->taps, .all_rows = w->dims[0],
                           .offset = from->offset, .group_stride = from->group_stride, .row_stride = from->row_stride,
                           .chan_stride = from->chan_stride };
    for (int j = 0; j < from->rank; j++) {
        f->dim[j] = from->dim[j];
        f->stride[j] = from->stride[j];
    }
}

static bool sums_in_f32(const dn_problem *p, dn_role first)
{
    dn_dtype t = (dn_dtype)p->t[first].type;
    return t == DN_F32 || t == DN_F16 || t == DN_BF16;
}

/* --- forward and the gradient by the input --- */

typedef struct fwd_state {
    dn_cuda_grid grid;
    int64_t phases;
    dn_gemm_fwd params[];
} fwd_state;

static bool is_direct(const dn_plan *plan)
{
    return strstr(plan->solver->name, "direct") != NULL;
}

static void fill_forward(const dn_problem *p, dn_gemm_fwd *g)
{
    const dn_tensor *x = &p->t[DN_X], *y = &p->t[DN_Y], *w = &p->t[DN_W], *z = &p->t[DN_Z];
    dn_conv_view in, out, add;
    dn_conv_filter f;
    g->groups = p->u.conv.groups;
    g->m = w->dims[0] / g->groups;
    dn_conv_view_input(&in, p);
    dn_conv_view_plain(&out, y, g->m);
    dn_conv_filter_forward(&f, p);
    view_of(&g->in, &in, x, w->dims[1]);
    view_of(&g->out, &out, y, g->m);
    filter_of(&g->w, &f, p, g->m);
    g->l = f.chans * f.taps;
    g->cols = out.cols;
    g->chan_first = y->strides[1] == 1 && y->dims[1] > 1;
    if (p->op != DN_OP_CONV_BIAS_ACT)
        return;
    g->fused = 1;
    g->act = (dn_act_fn){ p->u.conv.act.mode, p->u.conv.act.nan, p->u.conv.act.coef, p->u.conv.act.beta };
    g->bias = dn_elements_of(&p->t[DN_B]);
    g->bias_stride = p->t[DN_B].strides[1];
    if (z->rank) {
        dn_conv_view_plain(&add, z, g->m);
        view_of(&g->z, &add, z, g->m);
    }
}

static void fill_phase(const dn_problem *p, int64_t phase, dn_gemm_fwd *g)
{
    dn_conv_gemm product;
    dn_conv_phase(p, phase, &product);
    g->groups = p->u.conv.groups;
    g->m = product.m;
    g->l = product.l;
    g->cols = product.out.cols;
    g->chan_first = p->t[DN_X].strides[1] == 1 && p->t[DN_X].dims[1] > 1;
    view_of(&g->in, &product.in, &p->t[DN_Y], product.w.chans);
    view_of(&g->out, &product.out, &p->t[DN_X], product.m);
    filter_of(&g->w, &product.w, p, product.m);
}

static dn_status fwd_prepare(dn_handle *h, dn_plan *plan)
{
    dn_problem p;
    scalar_strides(&plan->problem, &p);
    bool bwd = p.dir == DN_DIR_BWD_DATA, f32 = sums_in_f32(&p, bwd ? DN_Y : DN_X);
    int64_t phases = bwd ? dn_conv_phases(&p) : 1, work = 0;
    fwd_state *s = calloc(1, sizeof *s + (size_t)phases * sizeof s->params[0]);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    s->phases = phases;
    for (int64_t i = 0; i < phases; i++) {
        dn_gemm_fwd *g = &s->params[i];
        if (bwd)
            fill_phase(&p, i, g);
        else
            fill_forward(&p, g);
        int64_t tiles = g->groups * dn_ceil_div(g->m, TILE) * dn_ceil_div(g->cols, TILE);
        int64_t threads = is_direct(plan) ? g->groups * g->m * g->cols : tiles * 256;
        work = threads > work ? threads : work;
    }
    dn_cuda_grid_loop(h, &s->grid, work, 256, 16);
    const char *name = is_direct(plan) ? (f32 ? "cuda_conv_view_direct_f32" : "cuda_conv_view_direct_f64")
                                       : (f32 ? "cuda_conv_view_gemm_f32" : "cuda_conv_view_gemm_f64");
    return dn_cuda_function(h, f32 ? "cuda_conv_view_gemm_f32" : "cuda_conv_view_gemm_f64", name, 0, &s->grid.f);
}

static dn_status fwd_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const fwd_state *s = plan->state;
    bool bwd = plan->problem.dir == DN_DIR_BWD_DATA;
    for (int64_t i = 0; i < s->phases; i++) {
        dn_gemm_fwd g = s->params[i];
        dn_elements_bind(&g.in.e, a->ptr[bwd ? DN_Y : DN_X]);
        dn_elements_bind(&g.out.e, a->ptr[bwd ? DN_X : DN_Y]);
        dn_elements_bind(&g.w.e, a->ptr[DN_W]);
        g.alpha = a->alpha;
        g.beta = a->beta;
        g.alpha2 = a->alpha2;
        if (g.fused)
            dn_elements_bind(&g.bias, a->ptr[DN_B]);
        g.has_z = g.z.rank && a->alpha2 != 0;
        if (g.has_z)
            dn_elements_bind(&g.z.e, a->ptr[DN_Z]);
        dn_status st = dn_cuda_launch(h, &s->grid, &g);
        if (st != DN_SUCCESS)
            return st;
    }
    return DN_SUCCESS;
}

/* --- the gradient by the filter --- */

typedef struct filter_state {
    dn_cuda_grid sum, reduce;
    dn_gemm_filter_grad params;
} filter_state;

/* The sum over columns is cut in parts where the filter alone has too few tiles to keep a device busy. */
static int64_t parts_of(const dn_problem *p)
{
    const dn_tensor *w = &p->t[DN_W];
    int64_t groups = p->u.conv.groups, l = w->dims[1], cols = p->t[DN_Y].dims[0];
    for (int d = 2; d < w->rank; d++) {
        l *= w->dims[d];
        cols *= p->t[DN_Y].dims[d];
    }
    int64_t tiles = groups * dn_ceil_div(w->dims[0] / groups, TILE) * dn_ceil_div(l, TILE);
    int64_t parts = dn_ceil_div(TILES_WANTED, tiles), most = dn_ceil_div(cols, COLUMNS_LEAST);
    parts = parts < PARTS_MAX ? parts : PARTS_MAX;
    return parts < most ? parts : most;
}

static size_t filter_workspace(const dn_problem *p)
{
    int64_t parts = parts_of(p);
    if (parts == 1)
        return 0;
    size_t size = (size_t)parts * (sums_in_f32(p, DN_X) ? sizeof(float) : sizeof(double)) * (size_t)p->t[DN_W].dims[0] * (size_t)p->t[DN_W].dims[1];
    for (int d = 2; d < p->t[DN_W].rank; d++)
        size *= (size_t)p->t[DN_W].dims[d];
    return size + 15;
}

static dn_status filter_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    const dn_tensor *w = &p->t[DN_W];
    bool f32 = sums_in_f32(p, DN_X);
    filter_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_gemm_filter_grad *g = &s->params;
    dn_conv_view x, dy;
    dn_conv_filter f;
    g->groups = p->u.conv.groups;
    g->m = w->dims[0] / g->groups;
    dn_conv_view_input(&x, p);
    dn_conv_view_plain(&dy, &p->t[DN_Y], g->m);
    dn_conv_filter_forward(&f, p);
    view_of(&g->x, &x, &p->t[DN_X], w->dims[1]);
    view_of(&g->dy, &dy, &p->t[DN_Y], g->m);
    filter_of(&g->dw, &f, p, g->m);
    g->l = f.chans * f.taps;
    g->cols = dy.cols;
    g->parts = parts_of(p);
    g->part = dn_ceil_div(g->cols, g->parts);
    dn_cuda_grid_loop(h, &s->sum, g->parts * g->groups * dn_ceil_div(g->m, TILE) * dn_ceil_div(g->l, TILE) * 256, 256, 16);
    dn_cuda_grid_loop(h, &s->reduce, g->groups * g->m * g->l, 256, 4);
    const char *module = f32 ? "cuda_conv_view_gemm_f32" : "cuda_conv_view_gemm_f64";
    dn_status st = dn_cuda_function(h, module, f32 ? "cuda_conv_view_gemm_filter_f32" : "cuda_conv_view_gemm_filter_f64", 0, &s->sum.f);
    if (st == DN_SUCCESS && g->parts > 1)
        st = dn_cuda_function(h, module, f32 ? "cuda_conv_view_gemm_reduce_f32" : "cuda_conv_view_gemm_reduce_f64", 0, &s->reduce.f);
    return st;
}

static dn_status filter_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const filter_state *s = plan->state;
    dn_gemm_filter_grad g = s->params;
    dn_elements_bind(&g.x.e, a->ptr[DN_X]);
    dn_elements_bind(&g.dy.e, a->ptr[DN_Y]);
    dn_elements_bind(&g.dw.e, a->ptr[DN_W]);
    g.sums = (void *)(((uintptr_t)a->workspace + 15) / 16 * 16);
    g.alpha = a->alpha;
    g.beta = a->beta;
    dn_status st = dn_cuda_launch(h, &s->sum, &g);
    return st == DN_SUCCESS && g.parts > 1 ? dn_cuda_launch(h, &s->reduce, &g) : st;
}

/* --- the gradient by the bias --- */

typedef struct bias_state {
    dn_cuda_grid grid;
    dn_gemm_bias_grad params;
} bias_state;

static dn_status bias_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    const dn_tensor *y = &p->t[DN_Y], *b = &p->t[DN_B];
    bias_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_conv_view dy;
    dn_conv_view_plain(&dy, y, y->dims[1]);
    view_of(&s->params.dy, &dy, y, y->dims[1]);
    s->params.db = dn_elements_of(b);
    s->params.db_stride = b->strides[1];
    s->params.chans = y->dims[1];
    s->params.cols = dy.cols;
    dn_cuda_grid_loop(h, &s->grid, y->dims[1] * 256, 256, 16);
    return dn_cuda_function(h, "cuda_conv_view_gemm_f64", plan->solver->name, 0, &s->grid.f);
}

static dn_status bias_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const bias_state *s = plan->state;
    dn_gemm_bias_grad g = s->params;
    dn_elements_bind(&g.dy.e, a->ptr[DN_Y]);
    dn_elements_bind(&g.db, a->ptr[DN_B]);
    g.alpha = a->alpha;
    g.beta = a->beta;
    return dn_cuda_launch(h, &s->grid, &g);
}

/* --- rows --- */

/* What ref takes, vectorised types under the numbers that it takes them for. */
static const char *check(const dn_problem *p)
{
    const char *why = dn_ref_conv_check(p);
    if (why && p->dir == DN_DIR_FWD && (p->t[DN_X].vect > 1 || p->t[DN_W].vect > 1))
        return dn_ref_conv_vect.rows[0].check(p);
    return why;
}

static const char *check_plain(const dn_problem *p)
{
    return dn_ref_conv_check(p);
}

/* Where a tile would be mostly empty. */
static const char *check_few(const dn_problem *p)
{
    const dn_tensor *w = &p->t[DN_W];
    int64_t rows = p->dir == DN_DIR_BWD_DATA ? w->dims[1] : w->dims[0] / p->u.conv.groups;
    return rows <= 4 ? check_plain(p) : "needs at most 4 outputs of a group";
}

#define ROW(row_name, op_value, dir_value, number, check_value) \
    .name = row_name, .op = op_value, .dir = dir_value, .algo = number, .flags = DN_SOLVER_PLAIN, .check = check_value, .prepare = fwd_prepare, \
    .run = fwd_run, .release = dn_cuda_release
#define FILTER_ROW(row_name, number) \
    .name = row_name, .op = DN_OP_CONV, .dir = DN_DIR_BWD_FILTER, .algo = number, .flags = DN_SOLVER_PLAIN, .check = check_plain, \
    .workspace = filter_workspace, .prepare = filter_prepare, .run = filter_run, .release = dn_cuda_release

static const dn_solver rows[] = {
    { ROW("cuda_conv_fwd_direct_few", DN_OP_CONV, DN_DIR_FWD, 3, check_few) },
    { ROW("cuda_conv_fwd_implicit_precomp_gemm", DN_OP_CONV, DN_DIR_FWD, 1, check) },
    { ROW("cuda_conv_fwd_implicit_gemm", DN_OP_CONV, DN_DIR_FWD, 0, check) },
    { ROW("cuda_conv_fwd_direct", DN_OP_CONV, DN_DIR_FWD, 3, check_plain) },
    { ROW("cuda_convba_fwd_direct_few", DN_OP_CONV_BIAS_ACT, DN_DIR_FWD, 3, check_few) },
    { ROW("cuda_convba_fwd_implicit_precomp_gemm", DN_OP_CONV_BIAS_ACT, DN_DIR_FWD, 1, check) },
    { ROW("cuda_convba_fwd_implicit_gemm", DN_OP_CONV_BIAS_ACT, DN_DIR_FWD, 0, check) },
    { ROW("cuda_convba_fwd_direct", DN_OP_CONV_BIAS_ACT, DN_DIR_FWD, 3, check_plain) },
    { ROW("cuda_conv_bwd_data_direct_few", DN_OP_CONV, DN_DIR_BWD_DATA, 1, check_few) },
    { ROW("cuda_conv_bwd_data_gather", DN_OP_CONV, DN_DIR_BWD_DATA, 1, check_plain) },
    { ROW("cuda_conv_bwd_data_direct", DN_OP_CONV, DN_DIR_BWD_DATA, 0, check_plain) },
    { FILTER_ROW("cuda_conv_bwd_filter_split", 1) },
    { FILTER_ROW("cuda_conv_bwd_filter_split_0", 0) },
    { FILTER_ROW("cuda_conv_bwd_filter_split_3", 3) },
    { .name = "cuda_conv_bwd_bias_naive", .op = DN_OP_CONV, .dir = DN_DIR_BWD_BIAS, .algo = -1, .flags = DN_SOLVER_PLAIN, .check = check_plain,
      .prepare = bias_prepare, .run = bias_run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_conv_view = { rows, sizeof rows / sizeof rows[0] };
