/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Dropout on the GPU. */
#include "cuda/dropout/dropout.h"

#include "core/philox.h"
#include "cuda/flat.h"
#include "cuda/naive.h"
#include "cuda/rows.h"
#include "ops/dropout.h"

#include <stdlib.h>

_Static_assert(offsetof(dn_dropout_state, seed) == 0 && offsetof(dn_dropout_state, call) == 8, "the kernels read it by offset");

/* What both kinds of rows need to launch. */
typedef struct dropout_grids {
    dn_cuda_grid grid, count;  /* the second raises the number of the call */
} dropout_grids;

/* g->grid has its blocks. */
static dn_status prepare_grids(dn_handle *h, dropout_grids *g, const char *module, const char *name)
{
    dn_cuda_grid_loop(h, &g->count, 1, 1, 1);
    dn_status st = dn_cuda_function(h, module, name, 0, &g->grid.f);
    return st == DN_SUCCESS ? dn_cuda_function(h, "cuda_dropout_naive", "cuda_dropout_count", 0, &g->count.f) : st;
}

static dn_status launch(dn_handle *h, const dropout_grids *g, const dn_plan *plan, const dn_args *a, const void *params)
{
    dn_status st = dn_cuda_launch(h, &g->grid, params);
    if (st != DN_SUCCESS || plan->problem.dir != DN_DIR_FWD)
        return st;
    dn_dropout_count count = { a->aux[DN_AUX_STATES] };
    return dn_cuda_launch(h, &g->count, &count);
}

static double scale_of(const dn_args *a)
{
    return a->dropout < 1 ? 1 / (1 - (double)a->dropout) : 0;
}

/* --- naive --- */
typedef struct naive_state {
    dropout_grids g;
    dn_dropout_naive params;
} naive_state;

static dn_status naive_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    bool fwd = p->dir == DN_DIR_FWD;
    const dn_tensor *in = &p->t[fwd ? DN_X : DN_DY], *out = &p->t[fwd ? DN_Y : DN_DX];
    naive_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_iter it;
    dn_iter_init(&it, 1, &in);
    dn_walk_of(&s->params.in_walk, &it);
    dn_iter_init(&it, 1, &out);
    dn_walk_of(&s->params.out_walk, &it);
    s->params.in = dn_elements_of(in);
    s->params.out = dn_elements_of(out);
    dn_cuda_grid_loop(h, &s->g.grid, (s->params.in_walk.count + 7) / 8, 256, 4);
    return prepare_grids(h, &s->g, "cuda_dropout_naive", plan->solver->name);
}

static dn_status naive_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const naive_state *s = plan->state;
    bool fwd = plan->problem.dir == DN_DIR_FWD;
    dn_dropout_naive params = s->params;
    dn_elements_bind(&params.in, a->ptr[fwd ? DN_X : DN_DY]);
    dn_elements_bind(&params.out, a->ptr[fwd ? DN_Y : DN_DX]);
    params.mask = a->reserve;
    params.states = a->aux[DN_AUX_STATES];
    params.threshold = fwd ? dn_dropout_threshold(a->dropout) : 0;
    params.scale = scale_of(a);
    return launch(h, &s->g, plan, a, &params);
}

static const char *naive_check(const dn_problem *p)
{
    return dn_ref_dropout.rows[p->dir == DN_DIR_FWD ? 0 : 1].check(p);
}

/* --- packed tensors in vectors of 16 bytes --- */
typedef struct flat_state {
    dropout_grids g;
    dn_dropout_flat params;
} flat_state;

static const char *flat_check(const dn_problem *p, dn_dtype type)
{
    bool fwd = p->dir == DN_DIR_FWD;
    dn_role in = fwd ? DN_X : DN_DY, out = fwd ? DN_Y : DN_DX;
    if (p->t[in].type != type)
        return "takes another type";
    if (p->align[in] < 16 || p->align[out] < 16)
        return "needs pointers aligned to 16 bytes";
    if (!dn_tensor_is_packed(&p->t[in]) || !dn_tensor_is_packed(&p->t[out]))
        return "needs tensors packed in the order of their dimensions";
    return dn_tensor_count(&p->t[in]) <= INT32_MAX ? NULL : "needs fewer than 2^31 elements";
}

static const char *f32_check(const dn_problem *p)
{
    return flat_check(p, DN_F32);
}

static const char *f16_check(const dn_problem *p)
{
    return flat_check(p, DN_F16);
}

static const char *bf16_check(const dn_problem *p)
{
    return flat_check(p, DN_BF16);
}

static dn_status flat_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_tensor *in = &plan->problem.t[plan->problem.dir == DN_DIR_FWD ? DN_X : DN_DY];
    int n = 16 / (int)dn_dtype_size((dn_dtype)in->type);
    int64_t count = dn_tensor_count(in);
    flat_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_flat f = { .units = (unsigned)(count / 8 * (8 / n)), .tail = (unsigned)(count % 8) };
    s->params.units = f.units;
    s->params.tail = f.tail;
    dn_flat_grid(&s->g.grid, &f, n);
    return prepare_grids(h, &s->g, plan->solver->name, plan->solver->name);
}

static dn_status flat_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const flat_state *s = plan->state;
    bool fwd = plan->problem.dir == DN_DIR_FWD;
    dn_dropout_flat params = s->params;
    params.in = a->ptr[fwd ? DN_X : DN_DY];
    params.out = a->ptr[fwd ? DN_Y : DN_DX];
    params.mask = a->reserve;
    params.states = a->aux[DN_AUX_STATES];
    params.aligned = (uintptr_t)params.states % 8 == 0;
    params.threshold = fwd ? dn_dropout_threshold(a->dropout) : 0;
    params.scale = (float)scale_of(a);
    return launch(h, &s->g, plan, a, &params);
}

static const dn_solver rows[] = {
    { .name = "cuda_dropout_fwd_flat_f32", .op = DN_OP_DROPOUT, .dir = DN_DIR_FWD, .algo = -1, .check = f32_check,
      .prepare = flat_prepare, .run = flat_run, .release = dn_cuda_release },
    { .name = "cuda_dropout_fwd_flat_f16", .op = DN_OP_DROPOUT, .dir = DN_DIR_FWD, .algo = -1, .check = f16_check,
      .prepare = flat_prepare, .run = flat_run, .release = dn_cuda_release },
    { .name = "cuda_dropout_fwd_flat_bf16", .op = DN_OP_DROPOUT, .dir = DN_DIR_FWD, .algo = -1, .check = bf16_check,
      .prepare = flat_prepare, .run = flat_run, .release = dn_cuda_release },
    { .name = "cuda_dropout_bwd_data_flat_f32", .op = DN_OP_DROPOUT, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = f32_check,
      .prepare = flat_prepare, .run = flat_run, .release = dn_cuda_release },
    { .name = "cuda_dropout_bwd_data_flat_f16", .op = DN_OP_DROPOUT, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = f16_check,
      .prepare = flat_prepare, .run = flat_run, .release = dn_cuda_release },
    { .name = "cuda_dropout_bwd_data_flat_bf16", .op = DN_OP_DROPOUT, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = bf16_check,
      .prepare = flat_prepare, .run = flat_run, .release = dn_cuda_release },
    { .name = "cuda_dropout_fwd_naive", .op = DN_OP_DROPOUT, .dir = DN_DIR_FWD, .algo = -1, .check = naive_check,
      .prepare = naive_prepare, .run = naive_run, .release = dn_cuda_release },
    { .name = "cuda_dropout_bwd_data_naive", .op = DN_OP_DROPOUT, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = naive_check,
      .prepare = naive_prepare, .run = naive_run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_dropout = { rows, sizeof rows / sizeof rows[0] };
