/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Activation on the GPU. */
#include "cuda/act/act.h"

#include "cuda/flat.h"
#include "cuda/naive.h"
#include "cuda/rows.h"

#include <math.h>
#include <stdlib.h>

/* --- naive --- */
typedef struct act_naive_state {
    dn_cuda_grid grid;
    dn_act_naive params;
} act_naive_state;

static const dn_role fwd_roles[] = { DN_Y, DN_X };
static const dn_role bwd_roles[] = { DN_DX, DN_X, DN_Y, DN_DY };

static dn_status naive_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    bool fwd = p->dir == DN_DIR_FWD;
    const dn_role *roles = fwd ? fwd_roles : bwd_roles;
    int count = fwd ? 2 : 4;
    act_naive_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    const dn_tensor *t[4];
    for (int i = 0; i < count; i++) {
        t[i] = &p->t[roles[i]];
        s->params.e[i] = dn_elements_of(t[i]);
    }
    dn_iter it;
    dn_iter_init_any_order(&it, count, t);
    dn_walk_of(&s->params.walk, &it);
    s->params.fn = (dn_act_fn){ p->u.act.mode, p->u.act.nan, p->u.act.coef, p->u.act.beta };
    dn_cuda_grid_loop(h, &s->grid, s->params.walk.count, 256, 4);
    return dn_cuda_function(h, "cuda_act_naive", plan->solver->name, 0, &s->grid.f);
}

static dn_status naive_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const act_naive_state *s = plan->state;
    bool fwd = plan->problem.dir == DN_DIR_FWD;
    dn_act_naive params = s->params;
    for (int i = 0; i < (fwd ? 2 : 4); i++)
        dn_elements_bind(&params.e[i], a->ptr[(fwd ? fwd_roles : bwd_roles)[i]]);
    params.alpha = a->alpha;
    params.beta = a->beta;
    return dn_cuda_launch(h, &s->grid, &params);
}

static const char *naive_check(const dn_problem *p)
{
    return dn_ref_act.rows[p->dir == DN_DIR_FWD ? 0 : 1].check(p);
}

/* --- in vectors of 16 bytes --- */
typedef struct act_flat_state {
    dn_cuda_grid grid;
    dn_act_flat params;
} act_flat_state;

static const char *flat_check(const dn_problem *p, dn_dtype type)
{
    bool fwd = p->dir == DN_DIR_FWD;
    if (p->t[DN_X].type != type)
        return "takes another type";
    return dn_flat_of(NULL, p, fwd ? fwd_roles : bwd_roles, fwd ? 2 : 4, 16 / (int)dn_dtype_size(type));
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
    const dn_problem *p = &plan->problem;
    bool fwd = p->dir == DN_DIR_FWD;
    int n = 16 / (int)dn_dtype_size((dn_dtype)p->t[DN_X].type);
    act_flat_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_act_flat *q = &s->params;
    dn_flat_of(&q->flat, p, fwd ? fwd_roles : bwd_roles, fwd ? 2 : 4, n);
    q->mode = p->u.act.mode;
    q->nan = p->u.act.nan;
    q->coef = q->limit = (float)p->u.act.coef;
    if ((double)q->limit > p->u.act.coef)
        q->limit = nextafterf(q->limit, -INFINITY);
    q->swish = (float)p->u.act.beta;
    dn_flat_grid(&s->grid, &q->flat, n);
    return dn_cuda_function(h, plan->solver->name, plan->solver->name, 0, &s->grid.f);
}

static dn_status flat_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const act_flat_state *s = plan->state;
    bool fwd = plan->problem.dir == DN_DIR_FWD;
    dn_act_flat params = s->params;
    for (int i = 0; i < (fwd ? 2 : 4); i++)
        params.ptr[i] = a->ptr[(fwd ? fwd_roles : bwd_roles)[i]];
    params.alpha = (float)a->alpha;
    params.beta = (float)a->beta;
    return dn_cuda_launch(h, &s->grid, &params);
}

static const dn_solver rows[] = {
    { .name = "cuda_act_fwd_flat_f32", .op = DN_OP_ACT, .dir = DN_DIR_FWD, .algo = -1, .check = f32_check, .prepare = flat_prepare,
      .run = flat_run, .release = dn_cuda_release },
    { .name = "cuda_act_fwd_flat_f16", .op = DN_OP_ACT, .dir = DN_DIR_FWD, .algo = -1, .check = f16_check, .prepare = flat_prepare,
      .run = flat_run, .release = dn_cuda_release },
    { .name = "cuda_act_fwd_flat_bf16", .op = DN_OP_ACT, .dir = DN_DIR_FWD, .algo = -1, .check = bf16_check, .prepare = flat_prepare,
      .run = flat_run, .release = dn_cuda_release },
    { .name = "cuda_act_bwd_data_flat_f32", .op = DN_OP_ACT, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = f32_check, .prepare = flat_prepare,
      .run = flat_run, .release = dn_cuda_release },
    { .name = "cuda_act_bwd_data_flat_f16", .op = DN_OP_ACT, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = f16_check, .prepare = flat_prepare,
      .run = flat_run, .release = dn_cuda_release },
    { .name = "cuda_act_bwd_data_flat_bf16", .op = DN_OP_ACT, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = bf16_check, .prepare = flat_prepare,
      .run = flat_run, .release = dn_cuda_release },
    { .name = "cuda_act_fwd_naive", .op = DN_OP_ACT, .dir = DN_DIR_FWD, .algo = -1, .check = naive_check, .prepare = naive_prepare,
      .run = naive_run, .release = dn_cuda_release },
    { .name = "cuda_act_bwd_data_naive", .op = DN_OP_ACT, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = naive_check, .prepare = naive_prepare,
      .run = naive_run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_act = { rows, sizeof rows / sizeof rows[0] };
