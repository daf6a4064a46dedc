/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Padding and folding on the GPU. */
#include "cuda/transform/fold.h"

#include "cuda/naive.h"
#include "cuda/rows.h"

#include <stdlib.h>

typedef struct fold_state {
    dn_cuda_grid grid;
    dn_fold_naive params;
} fold_state;

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    const dn_transform_param *u = &p->u.transform;
    const dn_tensor *x = &p->t[DN_X], *y = &p->t[DN_Y];
    fold_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_fold_naive *q = &s->params;
    dn_view_of(&q->x, x, NULL);
    dn_view_of(&q->y, y, NULL);
    dn_dims_of(x, q->x_dims);
    dn_dims_of(y, q->y_dims);
    q->count = dn_tensor_count(y);
    q->factor = 1;
    q->rank = y->rank;
    q->unfold = u->fold != 0;
    for (int d = 0; d < y->rank; d++) {
        q->before[d] = u->before[d];
        q->by[d] = d < 2 ? 1 : u->by[d - 2];
        q->factor *= q->by[d];
    }
    dn_cuda_grid_loop(h, &s->grid, q->count, 256, 4);
    return dn_cuda_function(h, "cuda_fold_naive", plan->solver->name, 0, &s->grid.f);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const fold_state *s = plan->state;
    dn_fold_naive params = s->params;
    dn_elements_bind(&params.x.e, a->ptr[DN_X]);
    dn_elements_bind(&params.y.e, a->ptr[DN_Y]);
    params.alpha = a->alpha;
    params.beta = a->beta;
    return dn_cuda_launch(h, &s->grid, &params);
}

static const char *check(const dn_problem *p)
{
    return dn_ref_transform_ex.rows[0].check(p);
}

static const dn_solver rows[] = {
    { .name = "cuda_transformex_fwd_naive", .op = DN_OP_TRANSFORM_EX, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare,
      .run = run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_transform_ex = { rows, sizeof rows / sizeof rows[0] };
