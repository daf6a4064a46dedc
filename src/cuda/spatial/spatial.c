/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Spatial transformer on the GPU. */
#include "cuda/spatial/spatial.h"

#include "cuda/naive.h"
#include "cuda/rows.h"

#include <stdlib.h>

static const char module[] = "cuda_spatial_naive";

static void describe(dn_spatial_tensor *out, const dn_tensor *t)
{
    if (!t->rank)
        return;
    out->e = dn_elements_of(t);
    for (int d = 0; d < t->rank; d++)
        out->stride[d] = t->strides[d];
}

static const char *check(const dn_problem *p)
{
    for (int i = 0; i < dn_ref_spatial.count; i++)
        if (dn_ref_spatial.rows[i].op == p->op && dn_ref_spatial.rows[i].dir == p->dir)
            return dn_ref_spatial.rows[i].check(p);
    return "has no such direction";
}

/* --- grid generator --- */
typedef struct grid_state {
    dn_cuda_grid grid;
    dn_stgrid params;
} grid_state;

static dn_status grid_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    bool fwd = p->dir == DN_DIR_FWD;
    const dn_tensor *g = &p->t[fwd ? DN_Y : DN_DY];
    grid_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    describe(&s->params.theta, &p->t[fwd ? DN_X : DN_DX]);
    describe(&s->params.grid, g);
    s->params.n = g->dims[0];
    s->params.h = g->dims[1];
    s->params.w = g->dims[2];
    dn_cuda_grid_loop(h, &s->grid, fwd ? g->dims[0] * g->dims[1] * g->dims[2] : g->dims[0] * 2 * DN_SPATIAL_BLOCK, DN_SPATIAL_BLOCK, 4);
    return dn_cuda_function(h, module, plan->solver->name, 0, &s->grid.f);
}

static dn_status grid_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const grid_state *s = plan->state;
    bool fwd = plan->problem.dir == DN_DIR_FWD;
    dn_stgrid params = s->params;
    dn_elements_bind(&params.theta.e, a->ptr[fwd ? DN_X : DN_DX]);
    dn_elements_bind(&params.grid.e, a->ptr[fwd ? DN_Y : DN_DY]);
    return dn_cuda_launch(h, &s->grid, &params);
}

/* --- sampler --- */
typedef struct sample_state {
    dn_cuda_grid pixels, list, dx;  /* pixels: y or the gradient of the grid */
    dn_stsample params;
    int64_t batch;                  /* samples listed at a time */
} sample_state;

#define SCRATCH_MOST ((int64_t)1 << 28)  /* bytes, unless one sample needs more */

static bool channel_last(const dn_tensor *t)
{
    int64_t c = t->strides[1], w = t->strides[3];
    return t->dims[1] > 1 && (c < 0 ? -c : c) < (w < 0 ? -w : w);
}

static int64_t list_size(const dn_stsample *q)
{
    return q->out_h * q->out_w;
}

static int64_t ends_size(const dn_stsample *q)
{
    return (q->h + 1) * (q->w + 1);
}

static size_t scratch_bytes(const sample_state *s)
{
    return sizeof(long long) * (size_t)(s->batch * (list_size(&s->params) + ends_size(&s->params)));
}

static void sample_params(const dn_problem *p, dn_stsample *q)
{
    const dn_tensor *x = &p->t[DN_X], *y = &p->t[p->dir == DN_DIR_FWD ? DN_Y : DN_DY];
    describe(&q->x, x);
    describe(&q->y, y);
    describe(&q->grid, &p->t[DN_B]);
    describe(&q->dx, &p->t[DN_DX]);
    describe(&q->dgrid, &p->t[DN_DZ]);
    q->n = x->dims[0];
    q->c = x->dims[1];
    q->h = x->dims[2];
    q->w = x->dims[3];
    q->out_h = y->dims[2];
    q->out_w = y->dims[3];
    q->y_channel_last = channel_last(y);
    q->dx_channel_last = p->dir != DN_DIR_FWD && channel_last(&p->t[DN_DX]);
}

static dn_status sample_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    bool fwd = p->dir == DN_DIR_FWD;
    sample_state *s = calloc(1, sizeof *s);
    dn_stsample *q = s ? &s->params : NULL;
    void *scratch;
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    sample_params(p, q);
    dn_cuda_grid_loop(h, &s->pixels, q->n * (fwd ? q->c : 1) * q->out_h * q->out_w, DN_SPATIAL_BLOCK, 4);
    if (fwd)
        return dn_cuda_function(h, module, plan->solver->name, 0, &s->pixels.f);
    int64_t most = SCRATCH_MOST / (int64_t)sizeof(long long) / (list_size(q) + ends_size(q));
    s->batch = q->n < most ? q->n : most > 1 ? most : 1;
    dn_cuda_grid_loop(h, &s->list, s->batch * DN_SPATIAL_BLOCK, DN_SPATIAL_BLOCK, 4);
    dn_cuda_grid_loop(h, &s->dx, s->batch * q->c * q->h * q->w, DN_SPATIAL_BLOCK, 4);
    dn_status st = dn_cuda_function(h, module, "cuda_stsample_bwd_grid_naive", 0, &s->pixels.f);
    if (st == DN_SUCCESS)
        st = dn_cuda_function(h, module, "cuda_stsample_bwd_list_naive", 0, &s->list.f);
    if (st == DN_SUCCESS)
        st = dn_cuda_function(h, module, plan->solver->name, 0, &s->dx.f);
    return st == DN_SUCCESS ? dn_cuda_scratch(h, scratch_bytes(s), &scratch) : st;
}

static dn_status sample_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const sample_state *s = plan->state;
    bool fwd = plan->problem.dir == DN_DIR_FWD;
    dn_stsample q = s->params;
    dn_elements_bind(&q.x.e, a->ptr[DN_X]);
    dn_elements_bind(&q.y.e, a->ptr[fwd ? DN_Y : DN_DY]);
    dn_elements_bind(&q.grid.e, a->ptr[DN_B]);
    q.alpha = a->alpha;
    q.beta = a->beta;
    q.alpha2 = a->alpha2;
    q.beta2 = a->beta2;
    if (fwd)
        return dn_cuda_launch(h, &s->pixels, &q);
    dn_elements_bind(&q.dx.e, a->ptr[DN_DX]);
    dn_elements_bind(&q.dgrid.e, a->ptr[DN_DZ]);
    void *scratch;
    dn_status st = dn_cuda_scratch(h, scratch_bytes(s), &scratch);
    q.list = scratch;
    q.ends = q.list + s->batch * list_size(&q);
    if (st == DN_SUCCESS)
        st = dn_cuda_launch(h, &s->pixels, &q);
    for (q.first = 0; st == DN_SUCCESS && q.first < q.n; q.first += s->batch) {
        q.batch = q.n - q.first < s->batch ? q.n - q.first : s->batch;
        st = dn_cuda_launch(h, &s->list, &q);
        if (st == DN_SUCCESS)
            st = dn_cuda_launch(h, &s->dx, &q);
    }
    return st;
}

static const dn_solver rows[] = {
    { .name = "cuda_stgrid_fwd_naive", .op = DN_OP_ST_GRID, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = grid_prepare,
      .run = grid_run, .release = dn_cuda_release },
    { .name = "cuda_stgrid_bwd_data_naive", .op = DN_OP_ST_GRID, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = check,
      .prepare = grid_prepare, .run = grid_run, .release = dn_cuda_release },
    { .name = "cuda_stsample_fwd_naive", .op = DN_OP_ST_SAMPLER, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = sample_prepare,
      .run = sample_run, .release = dn_cuda_release },
    { .name = "cuda_stsample_bwd_naive", .op = DN_OP_ST_SAMPLER, .dir = DN_DIR_BWD, .algo = -1, .check = check, .prepare = sample_prepare,
      .run = sample_run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_spatial = { rows, sizeof rows / sizeof rows[0] };
