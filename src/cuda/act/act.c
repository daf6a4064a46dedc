/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Activation on the GPU. */
#include "cuda/act/act.h"

#include "cuda/naive.h"
#include "cuda/rows.h"

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

static const dn_solver rows[] = {
    { .name = "cuda_act_fwd_naive", .op = DN_OP_ACT, .dir = DN_DIR_FWD, .algo = -1, .check = naive_check, .prepare = naive_prepare,
      .run = naive_run, .release = dn_cuda_release },
    { .name = "cuda_act_bwd_data_naive", .op = DN_OP_ACT, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = naive_check, .prepare = naive_prepare,
      .run = naive_run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_act = { rows, sizeof rows / sizeof rows[0] };
