/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Add, transform, scale and set on the host: pieces of a row go through double and are rounded once. */
#include "ref/ref.h"

/* Y = alpha * X + beta * Y. Tensors of the walk: 0 Y, 1 X; the walk repeats X along its dimensions of size 1. */
typedef struct blend_job {
    const dn_args *a;
    dn_dtype x, y;
} blend_job;

static void blend_piece(void *ctx, const dn_piece *k)
{
    const blend_job *job = ctx;
    double v[DN_PIECE_MAX];
    dn_load_row(job->x, job->a->ptr[DN_X], k->offset[1], k->stride[1], k->n, v);
    dn_store_row(job->y, job->a->ptr[DN_Y], k->offset[0], k->stride[0], k->n, v, job->a->alpha, job->a->beta);
}

static dn_status run_blend(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_tensor *const t[] = { &plan->problem.t[DN_Y], &plan->problem.t[DN_X] };
    blend_job job = { a, dn_dtype_scalar((dn_dtype)t[1]->type), dn_dtype_scalar((dn_dtype)t[0]->type) };
    dn_iter it;
    dn_iter_init_any_order(&it, 2, t);
    dn_iter_run(&it, blend_piece, &job);
    return DN_SUCCESS;
}

typedef struct self_job {
    const dn_args *a;
    dn_dtype type;
    int vect;
} self_job;

/* alpha * NaN and 0 * infinity are NaN: alpha 0 is a factor here, not a word for "do not read". */
static void scale_piece(void *ctx, const dn_piece *k)
{
    const self_job *job = ctx;
    double v[DN_PIECE_MAX];
    dn_load_row(job->type, job->a->ptr[DN_Y], k->offset[0], k->stride[0], k->n, v);
    dn_store_row(job->type, job->a->ptr[DN_Y], k->offset[0], k->stride[0], k->n, v, job->a->alpha, 0);
}

/* Offsets of vectors are multiples of their length, so the offset's rest is the lane. */
static void set_piece(void *ctx, const dn_piece *k)
{
    const self_job *job = ctx;
    double v[DN_PIECE_MAX];
    for (int64_t i = 0; i < k->n; i++) {
        int64_t lane = (k->offset[0] + i * k->stride[0]) % job->vect;
        v[i] = job->a->value[lane < 0 ? lane + job->vect : lane];
    }
    dn_store_row(job->type, job->a->ptr[DN_Y], k->offset[0], k->stride[0], k->n, v, 1, 0);
}

static void run_self(const dn_plan *plan, const dn_args *a, dn_piece_fn fn)
{
    const dn_tensor *const t[] = { &plan->problem.t[DN_Y] };
    self_job job = { a, dn_dtype_scalar((dn_dtype)t[0]->type), t[0]->vect > 1 ? t[0]->vect : 1 };
    dn_iter it;
    dn_iter_init_any_order(&it, 1, t);
    dn_iter_run(&it, fn, &job);
}

static dn_status run_scale(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    run_self(plan, a, scale_piece);
    return DN_SUCCESS;
}

static dn_status run_set(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    run_self(plan, a, set_piece);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    (void)p;
    return NULL;
}

static const dn_solver rows[] = {
    { .name = "ref_add_fwd", .op = DN_OP_ADD, .dir = DN_DIR_FWD, .algo = -1, .check = check, .run = run_blend },
    { .name = "ref_scale_fwd", .op = DN_OP_SCALE, .dir = DN_DIR_FWD, .algo = -1, .check = check, .run = run_scale },
    { .name = "ref_set_fwd", .op = DN_OP_SET, .dir = DN_DIR_FWD, .algo = -1, .check = check, .run = run_set },
    { .name = "ref_transform_fwd", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = check, .run = run_blend },
};

const dn_rows dn_ref_pointwise = { rows, sizeof(rows) / sizeof(rows[0]) };
