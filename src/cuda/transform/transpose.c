/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * NCHW to NHWC and back on the GPU, for types of 2 and 4 bytes. */
#include "cuda/transform/transpose.h"

#include "cuda/cuda.h"
#include "cuda/rows.h"
#include "ref/ref.h"

#include <stdlib.h>

typedef struct transpose_state {
    dn_cuda_grid grid;
    dn_transpose params;
} transpose_state;

/* p as in[batch][rows][cols] to out[batch][cols][rows]. NULL, or why it is none. */
static const char *shape_of(const dn_problem *p, dn_transpose *q)
{
    const dn_tensor *t[] = { &p->t[DN_Y], &p->t[DN_X] };
    dn_iter it;
    if (!(p->flags & DN_F_BETA_ZERO))
        return "does not read y";
    if (p->align[DN_X] < 16 || p->align[DN_Y] < 16)
        return "needs pointers aligned to 16 bytes";
    dn_iter_init_any_order(&it, 2, t);
    if (it.rank != 2 && it.rank != 3)
        return "needs the channels first in one tensor and last in the other";
    int64_t *d = it.dims, one = 1, cols = d[it.rank - 2], rows = d[it.rank - 1], batch = it.rank == 3 ? d[0] : one;
    const int64_t *y = it.step[0] + it.rank - 2, *x = it.step[1] + it.rank - 2;
    if (y[0] != rows || y[1] != 1 || x[0] != 1 || x[1] != cols)
        return "needs the channels first in one tensor and last in the other";
    if (it.rank == 3 && (it.step[0][0] != rows * cols || it.step[1][0] != rows * cols))
        return "needs dense tensors";
    if (rows > INT32_MAX / 64 || cols > INT32_MAX / 64 || batch > INT32_MAX)
        return "needs smaller tensors";
    *q = (dn_transpose){ .batch = (unsigned)batch, .rows = (unsigned)rows, .cols = (unsigned)cols, .type = t[0]->type, .alpha = 1 };
    return NULL;
}

static const char *type_check(const dn_problem *p, size_t size)
{
    dn_dtype type = (dn_dtype)p->t[DN_Y].type;
    if (p->t[DN_X].type != type || (type != DN_F32 && type != DN_F16 && type != DN_BF16) || dn_dtype_size(type) != size)
        return "takes other types";
    return NULL;
}

/* 16-byte vectors: elements. */
static unsigned vector_of(const dn_problem *p)
{
    return 16 / (unsigned)dn_dtype_size((dn_dtype)p->t[DN_Y].type);
}

static const char *blocks_check(int64_t blocks)
{
    return blocks <= INT32_MAX ? NULL : "needs fewer than 2^31 blocks";
}

/* What a kernel is given for a problem, and its blocks. NULL, or why it does not take it. */
typedef const char *(*shape_fn)(const dn_problem *p, dn_transpose *q, int64_t *blocks);

static const char *shaped_check(const dn_problem *p, size_t size, shape_fn shape)
{
    dn_transpose q;
    int64_t blocks;
    const char *why = type_check(p, size);
    return why ? why : shape(p, &q, &blocks);
}

static dn_status prepare(dn_handle *h, dn_plan *plan, shape_fn shape)
{
    int64_t blocks = 1;
    transpose_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    shape(&plan->problem, &s->params, &blocks);
    s->grid = (dn_cuda_grid){ .grid = { (unsigned)blocks, 1, 1 }, .block = { 256, 1, 1 } };
    return dn_cuda_function(h, plan->solver->name, plan->solver->name, 0, &s->grid.f);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const transpose_state *s = plan->state;
    dn_transpose params = s->params;
    params.in = a->ptr[DN_X];
    params.out = a->ptr[DN_Y];
    params.alpha = (float)a->alpha;
    return dn_cuda_launch(h, &s->grid, &params);
}

/* --- 2 to 4 channels --- */
static const char *few_shape(const dn_problem *p, dn_transpose *q, int64_t *blocks)
{
    const char *why = shape_of(p, q);
    if (why)
        return why;
    bool forth = q->rows <= 4;
    unsigned plane = forth ? q->cols : q->rows, chans = forth ? q->rows : q->cols;
    if (chans > 4 || plane % vector_of(p))
        return "needs 2 to 4 channels and planes of whole 16-byte vectors";
    int64_t vectors = (int64_t)q->batch * (plane / vector_of(p));
    *blocks = (vectors + 255) / 256;
    return vectors <= INT32_MAX - 256 ? NULL : "needs fewer than 2^31 vectors";
}

static const char *few_b16_check(const dn_problem *p)
{
    return shaped_check(p, 2, few_shape);
}

static const char *few_b32_check(const dn_problem *p)
{
    return shaped_check(p, 4, few_shape);
}

static dn_status few_prepare(dn_handle *h, dn_plan *plan)
{
    return prepare(h, plan, few_shape);
}

/* --- small planes of any size --- */
static const char *plane_shape(const dn_problem *p, dn_transpose *q, int64_t *blocks)
{
    const char *why = shape_of(p, q);
    if (why)
        return why;
    unsigned v = vector_of(p);
    bool forth = q->cols % v != 0;
    unsigned plane = forth ? q->cols : q->rows, chans = forth ? q->rows : q->cols;
    if (plane % v == 0)
        return "is for planes that are no multiple of 16 bytes";
    q->down = chans % 64 == 0 && 64 * plane * (16 / v) <= DN_TRANSPOSE_SHARED ? 64 : 32;
    if (chans % 32 || plane > DN_TRANSPOSE_SHARED / 32 / (16 / v))
        return "needs a multiple of 32 channels and planes of at most 1 KiB";
    q->across = chans / q->down;
    *blocks = (int64_t)q->batch * q->across;
    return blocks_check(*blocks);
}

static const char *plane_b16_check(const dn_problem *p)
{
    return shaped_check(p, 2, plane_shape);
}

static const char *plane_b32_check(const dn_problem *p)
{
    return shaped_check(p, 4, plane_shape);
}

static dn_status plane_prepare(dn_handle *h, dn_plan *plan)
{
    return prepare(h, plan, plane_shape);
}

/* --- tiles --- */
static const char *tile_shape(const dn_problem *p, dn_transpose *q, int64_t *blocks)
{
    const char *why = shape_of(p, q);
    if (why)
        return why;
    q->across = (q->cols + DN_TRANSPOSE_TILE - 1) / DN_TRANSPOSE_TILE;
    q->down = (q->rows + DN_TRANSPOSE_TILE - 1) / DN_TRANSPOSE_TILE;
    if ((int64_t)q->across * q->down > INT32_MAX)
        return "needs smaller tensors";
    *blocks = (int64_t)q->batch * q->across * q->down;
    return blocks_check(*blocks);
}

static const char *tile_b16_check(const dn_problem *p)
{
    return shaped_check(p, 2, tile_shape);
}

static const char *tile_b32_check(const dn_problem *p)
{
    return shaped_check(p, 4, tile_shape);
}

static dn_status tile_prepare(dn_handle *h, dn_plan *plan)
{
    return prepare(h, plan, tile_shape);
}

/* --- tiles between types --- */
static const char *cast_check(const dn_problem *p, dn_dtype from, dn_dtype to)
{
    dn_transpose q;
    int64_t blocks;
    if (p->t[DN_X].type != from || p->t[DN_Y].type != to)
        return "takes other types";
    return tile_shape(p, &q, &blocks);
}

static const char *cast_f32_f16_check(const dn_problem *p)
{
    return cast_check(p, DN_F32, DN_F16);
}

static const char *cast_f32_bf16_check(const dn_problem *p)
{
    return cast_check(p, DN_F32, DN_BF16);
}

static const char *cast_f16_f32_check(const dn_problem *p)
{
    return cast_check(p, DN_F16, DN_F32);
}

static const char *cast_f16_bf16_check(const dn_problem *p)
{
    return cast_check(p, DN_F16, DN_BF16);
}

static const char *cast_bf16_f32_check(const dn_problem *p)
{
    return cast_check(p, DN_BF16, DN_F32);
}

static const char *cast_bf16_f16_check(const dn_problem *p)
{
    return cast_check(p, DN_BF16, DN_F16);
}

static const dn_solver rows[] = {
    { .name = "cuda_transform_fwd_few_b16", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = few_b16_check,
      .prepare = few_prepare, .run = run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_few_b32", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = few_b32_check,
      .prepare = few_prepare, .run = run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_plane_b16", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = plane_b16_check,
      .prepare = plane_prepare, .run = run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_plane_b32", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = plane_b32_check,
      .prepare = plane_prepare, .run = run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_tile_b16", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = tile_b16_check,
      .prepare = tile_prepare, .run = run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_tile_b32", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = tile_b32_check,
      .prepare = tile_prepare, .run = run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_tile_f32_f16", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = cast_f32_f16_check,
      .prepare = tile_prepare, .run = run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_tile_f32_bf16", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = cast_f32_bf16_check,
      .prepare = tile_prepare, .run = run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_tile_f16_f32", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = cast_f16_f32_check,
      .prepare = tile_prepare, .run = run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_tile_f16_bf16", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = cast_f16_bf16_check,
      .prepare = tile_prepare, .run = run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_tile_bf16_f32", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = cast_bf16_f32_check,
      .prepare = tile_prepare, .run = run, .release = dn_cuda_release },
    { .name = "cuda_transform_fwd_tile_bf16_f16", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = cast_bf16_f16_check,
      .prepare = tile_prepare, .run = run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_transpose = { rows, sizeof rows / sizeof rows[0] };
