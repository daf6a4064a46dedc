/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The naive rows of add, scale, set, transform and the operations of two tensors on the GPU. */
#include "cuda/pointwise/pointwise.h"

#include "cuda/naive.h"
#include "cuda/rows.h"

#include <stdlib.h>
#include <string.h>

typedef struct pointwise_state {
    dn_cuda_grid grid;
    dn_pointwise_naive params;
    int count;   /* tensors */
} pointwise_state;

/* Tensors of the walk. */
static const dn_role roles[] = { DN_Y, DN_X, DN_B };

static int tensor_count(const dn_problem *p)
{
    switch (p->op) {
    case DN_OP_SCALE: case DN_OP_SET:
        return 1;
    case DN_OP_TENSOR:
        return p->t[DN_B].rank ? 3 : 2;
    default:
        return 2;
    }
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    pointwise_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    s->count = tensor_count(p);
    const dn_tensor *t[3];
    for (int i = 0; i < s->count; i++) {
        t[i] = &p->t[roles[i]];
        s->params.e[i] = dn_elements_of(t[i]);
    }
    dn_iter it;
    dn_iter_init_any_order(&it, s->count, t);
    dn_walk_of(&s->params.walk, &it);
    if (p->op == DN_OP_TENSOR) {
        s->params.op = p->u.tensor_op.op;
        s->params.nan = p->u.tensor_op.nan;
    }
    s->params.vect = t[0]->vect > 1 ? t[0]->vect : 1;
    dn_cuda_grid_loop(h, &s->grid, s->params.walk.count, 256, 4);
    return dn_cuda_function(h, "cuda_pointwise_naive", plan->solver->name, 0, &s->grid.f);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const pointwise_state *s = plan->state;
    dn_pointwise_naive params = s->params;
    for (int i = 0; i < s->count; i++)
        dn_elements_bind(&params.e[i], a->ptr[roles[i]]);
    params.alpha = a->alpha;
    params.alpha2 = a->alpha2;
    params.beta = a->beta;
    if (plan->problem.op == DN_OP_SET)
        memcpy(params.value, a->value, sizeof params.value);
    return dn_cuda_launch(h, &s->grid, &params);
}

/* The row of ref that answers the same operation. */
static const char *check(const dn_problem *p)
{
    const dn_rows *ref = p->op == DN_OP_TENSOR ? &dn_ref_tensor_op : &dn_ref_pointwise;
    for (int i = 0; i < ref->count; i++)
        if (ref->rows[i].op == p->op)
            return ref->rows[i].check(p);
    return "ref has no such operation";
}

static const dn_solver rows[] = {
    { .name = "cuda_add_fwd_naive", .op = DN_OP_ADD, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare, .run = run,
      .release = dn_cuda_release },
    { .name = "cuda_scale_fwd_naive", .op = DN_OP_SCALE, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare, .run = run,
      .release = dn_cuda_release },
    { .name = "cuda_set_fwd_naive", .op = DN_OP_SET, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare, .run = run,
      .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_naive", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare,
      .run = run, .release = dn_cuda_release },
    { .name = "cuda_optensor_fwd_naive", .op = DN_OP_TENSOR, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare, .run = run,
      .release = dn_cuda_release },
};

const dn_rows dn_cuda_pointwise_naive = { rows, sizeof rows / sizeof rows[0] };
