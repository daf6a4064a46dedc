/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The gradient by the bias as what it is, a sum over all dimensions but the channel: db = alpha * reduce(dy) + beta * db, by the reduction's own
 * tuned rows. Their scratch is the handle's, since this call brings none. */
#include "cuda/rows.h"

#include <string.h>

static void as_reduction(const dn_problem *p, dn_problem *r)
{
    dn_problem_init(r, DN_OP_REDUCE, DN_DIR_FWD);
    r->t[DN_X] = p->t[DN_Y];
    r->t[DN_Y] = p->t[DN_B];
    r->align[DN_X] = p->align[DN_Y];
    r->align[DN_Y] = p->align[DN_B];
    r->flags = p->flags;
    r->compute = p->t[DN_Y].type == DN_F64 ? DN_F64 : DN_F32;
    r->u.reduce.nan = 1;
}

/* The first tuned row that takes it, NULL where none does. */
static const dn_solver *row_for(const dn_problem *r)
{
    for (int i = 0; i < dn_cuda_reduce.count; i++)
        if (!strstr(dn_cuda_reduce.rows[i].name, "naive") && !dn_solver_refuses(&dn_cuda_reduce.rows[i], r))
            return &dn_cuda_reduce.rows[i];
    return NULL;
}

static const char *check(const dn_problem *p)
{
    dn_problem r;
    as_reduction(p, &r);
    return row_for(&r) ? NULL : "needs dy and db as a tuned reduction takes them";
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    dn_problem r;
    dn_plan *reduction = NULL;
    as_reduction(&plan->problem, &r);
    dn_status st = dn_plan_make(h, row_for(&r), &r, &reduction);
    plan->state = reduction;
    return st;
}

static void release(dn_plan *plan)
{
    dn_plan_free(plan->state);
    plan->state = NULL;
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_plan *reduction = plan->state;
    dn_args b = { .alpha = a->alpha, .beta = a->beta, .workspace_size = reduction->workspace };
    b.ptr[DN_X] = a->ptr[DN_Y];
    b.ptr[DN_Y] = a->ptr[DN_B];
    dn_status st = reduction->workspace ? dn_cuda_scratch(h, reduction->workspace, &b.workspace) : DN_SUCCESS;
    return st == DN_SUCCESS ? reduction->solver->run(h, reduction, &b) : st;
}

static const dn_solver rows[] = {
    { .name = "cuda_conv_bwd_bias_reduce", .op = DN_OP_CONV, .dir = DN_DIR_BWD_BIAS, .algo = -1, .check = check, .prepare = prepare, .run = run,
      .release = release },
};

const dn_rows dn_cuda_conv_bias = { rows, sizeof rows / sizeof rows[0] };
