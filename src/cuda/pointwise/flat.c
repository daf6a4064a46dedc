/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Add, scale, set, transform and the operations of two tensors in vectors of 16 bytes, for tensors that are contiguous in one order, or whose
 * rows are; in add and the operations of two tensors also with a line of values that is repeated. */
#include "cuda/flat.h"

#include "cuda/pointwise/pointwise.h"
#include "cuda/rows.h"
#include "ref/ref.h"

#include <stdlib.h>
#include <string.h>

static const dn_role roles[] = { DN_Y, DN_X, DN_B };

/* Elements of a unit: 16 bytes of the wider type. */
static int unit_of(dn_dtype x, dn_dtype y)
{
    size_t size = dn_dtype_size(x) > dn_dtype_size(y) ? dn_dtype_size(x) : dn_dtype_size(y);
    return (int)(16 / size);
}

/* --- y = alpha * x + beta * y --- */
typedef struct blend_state {
    dn_cuda_grid grid;
    dn_blend_flat params;
} blend_state;

/* Scale has y alone. */
static int blend_tensors(const dn_problem *p)
{
    return p->op == DN_OP_SCALE ? 1 : 2;
}

static dn_status blend_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    dn_dtype y = (dn_dtype)p->t[DN_Y].type, x = p->op == DN_OP_SCALE ? y : (dn_dtype)p->t[DN_X].type;
    blend_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_flat_of(&s->params.flat, p, roles, blend_tensors(p), unit_of(x, y));
    if (p->op == DN_OP_SCALE)
        memcpy(s->params.flat.step[1], s->params.flat.step[0], sizeof s->params.flat.step[0]);
    dn_flat_grid(&s->grid, &s->params.flat, unit_of(x, y));
    return dn_cuda_function(h, plan->solver->name, plan->solver->name, 0, &s->grid.f);
}

static dn_status blend_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const blend_state *s = plan->state;
    bool scale = plan->problem.op == DN_OP_SCALE;
    dn_blend_flat params = s->params;
    params.y = a->ptr[DN_Y];
    params.x = a->ptr[scale ? DN_Y : DN_X];
    params.alpha = (float)a->alpha;
    params.beta = scale ? 0 : (float)a->beta;
    return dn_cuda_launch(h, &s->grid, &params);
}

static const char *blend_check(const dn_problem *p, dn_dtype x, dn_dtype y)
{
    if (p->t[DN_Y].type != y || (p->op != DN_OP_SCALE && p->t[DN_X].type != x))
        return "takes other types";
    return dn_flat_of(NULL, p, roles, blend_tensors(p), unit_of(x, y));
}

static const char *f32_f32_check(const dn_problem *p)
{
    return blend_check(p, DN_F32, DN_F32);
}

static const char *f32_f16_check(const dn_problem *p)
{
    return blend_check(p, DN_F32, DN_F16);
}

static const char *f32_bf16_check(const dn_problem *p)
{
    return blend_check(p, DN_F32, DN_BF16);
}

static const char *f16_f32_check(const dn_problem *p)
{
    return blend_check(p, DN_F16, DN_F32);
}

static const char *f16_f16_check(const dn_problem *p)
{
    return blend_check(p, DN_F16, DN_F16);
}

static const char *f16_bf16_check(const dn_problem *p)
{
    return blend_check(p, DN_F16, DN_BF16);
}

static const char *bf16_f32_check(const dn_problem *p)
{
    return blend_check(p, DN_BF16, DN_F32);
}

static const char *bf16_f16_check(const dn_problem *p)
{
    return blend_check(p, DN_BF16, DN_F16);
}

static const char *bf16_bf16_check(const dn_problem *p)
{
    return blend_check(p, DN_BF16, DN_BF16);
}

/* --- operations of two tensors, and add with a repeated line --- */
typedef struct op_state {
    dn_cuda_grid grid;
    dn_tensor_op_flat params;
} op_state;

/* Add with a line is y = beta * y + alpha * x: y is the first operand. */
static const dn_role add_roles[] = { DN_Y, DN_X };

/* How b is read; f, r: its walk. NULL, or why not. */
static const char *op_walk(const dn_problem *p, int n, dn_flat *f, dn_repeat *r, int *kind)
{
    int count = p->t[DN_B].rank ? 3 : 2;
    const char *why = dn_flat_of(f, p, roles, count, n);
    if (!why) {
        *kind = count == 3 ? DN_B_FLAT : DN_B_NONE;
        return NULL;
    }
    if (count == 2)
        return why;
    why = dn_repeat_of(f, r, p, roles, count, n);
    if (!why)
        *kind = r->kind;
    return why;
}

static dn_status op_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    int n = unit_of((dn_dtype)p->t[DN_Y].type, (dn_dtype)p->t[DN_Y].type);
    op_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_tensor_op_flat *q = &s->params;
    if (p->op == DN_OP_ADD) {
        dn_repeat_of(&q->flat, &q->repeat, p, add_roles, 2, n);
        q->kind = q->repeat.kind;
    } else {
        op_walk(p, n, &q->flat, &q->repeat, &q->kind);
        q->op = p->u.tensor_op.op;
        q->nan = p->u.tensor_op.nan;
    }
    dn_flat_grid(&s->grid, &q->flat, n);
    return dn_cuda_function(h, plan->solver->name, plan->solver->name, 0, &s->grid.f);
}

static dn_status op_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const op_state *s = plan->state;
    bool add = plan->problem.op == DN_OP_ADD;
    dn_tensor_op_flat params = s->params;
    params.y = a->ptr[DN_Y];
    params.x = a->ptr[add ? DN_Y : DN_X];
    params.b = a->ptr[add ? DN_X : DN_B];
    params.alpha = (float)(add ? a->beta : a->alpha);
    params.alpha2 = (float)(add ? a->alpha : a->alpha2);
    params.beta = add ? 0 : (float)a->beta;
    return dn_cuda_launch(h, &s->grid, &params);
}

static const char *op_check(const dn_problem *p, dn_dtype type)
{
    dn_flat f;
    dn_repeat r;
    int kind;
    for (int i = 0; i < 3; i++)
        if (p->t[roles[i]].rank && p->t[roles[i]].type != type)
            return "takes other types";
    return op_walk(p, unit_of(type, type), &f, &r, &kind);
}

static const char *op_f32_check(const dn_problem *p)
{
    return op_check(p, DN_F32);
}

static const char *op_f16_check(const dn_problem *p)
{
    return op_check(p, DN_F16);
}

static const char *op_bf16_check(const dn_problem *p)
{
    return op_check(p, DN_BF16);
}

static const char *repeat_check(const dn_problem *p, dn_dtype type)
{
    if (p->t[DN_Y].type != type)
        return "takes other types";
    if (p->flags & DN_F_BETA_ZERO)
        return "reads y";
    return dn_repeat_of(NULL, NULL, p, add_roles, 2, unit_of(type, type));
}

static const char *repeat_f32_check(const dn_problem *p)
{
    return repeat_check(p, DN_F32);
}

static const char *repeat_f16_check(const dn_problem *p)
{
    return repeat_check(p, DN_F16);
}

static const char *repeat_bf16_check(const dn_problem *p)
{
    return repeat_check(p, DN_BF16);
}

/* --- y = value --- */
typedef struct set_state {
    dn_cuda_grid grid;
    dn_set_flat params;
} set_state;

/* The bytes of y where it is one run of memory that begins at its pointer, else -1. */
static int64_t set_bytes(const dn_problem *p)
{
    const dn_tensor *y = &p->t[DN_Y];
    dn_iter it;
    dn_iter_init_any_order(&it, 1, &y);
    if (it.rank > 1 || (it.stride[0] != 1 && it.n > 1))
        return -1;
    return it.n * (int64_t)dn_dtype_size(dn_dtype_scalar((dn_dtype)y->type));
}

static const char *set_check(const dn_problem *p)
{
    int64_t bytes = p->align[DN_Y] < 16 ? -1 : set_bytes(p);
    return bytes < 0 ? "needs a contiguous tensor aligned to 16 bytes" : bytes / 4096 >= INT32_MAX / 4 ? "needs fewer bytes" : NULL;
}

static dn_status set_prepare(dn_handle *h, dn_plan *plan)
{
    int64_t bytes = set_bytes(&plan->problem);
    set_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    s->params.units = (unsigned long long)bytes / 16;
    s->params.tail = (unsigned)(bytes % 16);
    int64_t blocks = (bytes / 16 + DN_FLAT_THREADS * 4 - 1) / (DN_FLAT_THREADS * 4);
    s->grid = (dn_cuda_grid){ .grid = { blocks ? (unsigned)blocks : 1, 1, 1 }, .block = { DN_FLAT_THREADS, 1, 1 } };
    return dn_cuda_function(h, plan->solver->name, plan->solver->name, 0, &s->grid.f);
}

static dn_status set_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const set_state *s = plan->state;
    const dn_tensor *y = &plan->problem.t[DN_Y];
    dn_dtype type = dn_dtype_scalar((dn_dtype)y->type);
    int vect = y->vect > 1 ? y->vect : 1;
    dn_set_flat params = s->params;
    params.y = a->ptr[DN_Y];
    for (int i = 0; i < (int)(sizeof params.pattern / dn_dtype_size(type)); i++)
        dn_store(type, params.pattern, i, a->value[i % vect]);
    return dn_cuda_launch(h, &s->grid, &params);
}

static const dn_solver rows[] = {
    { .name = "cuda_add_fwd_flat_f32", .op = DN_OP_ADD, .dir = DN_DIR_FWD, .algo = -1, .check = f32_f32_check, .prepare = blend_prepare,
      .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_add_fwd_flat_f16", .op = DN_OP_ADD, .dir = DN_DIR_FWD, .algo = -1, .check = f16_f16_check, .prepare = blend_prepare,
      .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_add_fwd_flat_bf16", .op = DN_OP_ADD, .dir = DN_DIR_FWD, .algo = -1, .check = bf16_bf16_check, .prepare = blend_prepare,
      .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_add_fwd_repeat_f32", .op = DN_OP_ADD, .dir = DN_DIR_FWD, .algo = -1, .check = repeat_f32_check, .prepare = op_prepare,
      .run = op_run, .release = dn_cuda_release },
    { .name = "cuda_add_fwd_repeat_f16", .op = DN_OP_ADD, .dir = DN_DIR_FWD, .algo = -1, .check = repeat_f16_check, .prepare = op_prepare,
      .run = op_run, .release = dn_cuda_release },
    { .name = "cuda_add_fwd_repeat_bf16", .op = DN_OP_ADD, .dir = DN_DIR_FWD, .algo = -1, .check = repeat_bf16_check, .prepare = op_prepare,
      .run = op_run, .release = dn_cuda_release },
    { .name = "cuda_scale_fwd_flat_f32", .op = DN_OP_SCALE, .dir = DN_DIR_FWD, .algo = -1, .check = f32_f32_check, .prepare = blend_prepare,
      .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_scale_fwd_flat_f16", .op = DN_OP_SCALE, .dir = DN_DIR_FWD, .algo = -1, .check = f16_f16_check, .prepare = blend_prepare,
      .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_scale_fwd_flat_bf16", .op = DN_OP_SCALE, .dir = DN_DIR_FWD, .algo = -1, .check = bf16_bf16_check, .prepare = blend_prepare,
      .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_set_fwd_flat", .op = DN_OP_SET, .dir = DN_DIR_FWD, .algo = -1, .check = set_check, .prepare = set_prepare,
      .run = set_run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_flat_f32_f32", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = f32_f32_check,
      .prepare = blend_prepare, .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_flat_f32_f16", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = f32_f16_check,
      .prepare = blend_prepare, .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_flat_f32_bf16", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = f32_bf16_check,
      .prepare = blend_prepare, .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_flat_f16_f32", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = f16_f32_check,
      .prepare = blend_prepare, .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_flat_f16_f16", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = f16_f16_check,
      .prepare = blend_prepare, .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_flat_f16_bf16", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = f16_bf16_check,
      .prepare = blend_prepare, .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_flat_bf16_f32", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = bf16_f32_check,
      .prepare = blend_prepare, .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_flat_bf16_f16", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = bf16_f16_check,
      .prepare = blend_prepare, .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_flat_bf16_bf16", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = bf16_bf16_check,
      .prepare = blend_prepare, .run = blend_run, .release = dn_cuda_release },
    { .name = "cuda_optensor_fwd_flat_f32", .op = DN_OP_TENSOR, .dir = DN_DIR_FWD, .algo = -1, .check = op_f32_check, .prepare = op_prepare,
      .run = op_run, .release = dn_cuda_release },
    { .name = "cuda_optensor_fwd_flat_f16", .op = DN_OP_TENSOR, .dir = DN_DIR_FWD, .algo = -1, .check = op_f16_check, .prepare = op_prepare,
      .run = op_run, .release = dn_cuda_release },
    { .name = "cuda_optensor_fwd_flat_bf16", .op = DN_OP_TENSOR, .dir = DN_DIR_FWD, .algo = -1, .check = op_bf16_check, .prepare = op_prepare,
      .run = op_run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_pointwise = { rows, sizeof rows / sizeof rows[0] };
