/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Softmax on the GPU. */
#include "cuda/softmax/softmax.h"

#include "cuda/naive.h"
#include "cuda/rows.h"
#include "cuda/team.h"

#include <stdio.h>
#include <stdlib.h>

static const dn_role fwd_roles[] = { DN_Y, DN_X };
static const dn_role bwd_roles[] = { DN_DX, DN_Y, DN_DY };

static const dn_role *roles_of(const dn_problem *p, int *count)
{
    bool fwd = p->dir == DN_DIR_FWD;
    *count = fwd ? 2 : 3;
    return fwd ? fwd_roles : bwd_roles;
}

/* Walks over the groups and over the elements of one, from 0. */
static void split(const dn_problem *p, dn_walk *groups, dn_walk *inner)
{
    int count;
    const dn_role *roles = roles_of(p, &count);
    dn_tensor outer[3], inside[3];
    const dn_tensor *outer_t[] = { &outer[0], &outer[1], &outer[2] }, *inside_t[] = { &inside[0], &inside[1], &inside[2] };
    for (int i = 0; i < count; i++) {
        outer[i] = inside[i] = p->t[roles[i]];
        for (int d = 0; d < outer[i].rank; d++)
            ((p->u.softmax.mode == 1 ? d == 1 : d > 0) ? outer : inside)[i].dims[d] = 1;
    }
    dn_iter it;
    dn_iter_init_any_order(&it, count, outer_t);
    dn_walk_of(groups, &it);
    dn_iter_init_any_order(&it, count, inside_t);
    dn_walk_of(inner, &it);
}

/* --- naive --- */
typedef struct softmax_naive_state {
    dn_cuda_grid grid;
    dn_softmax_naive params;
} softmax_naive_state;

static dn_status naive_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    int count;
    const dn_role *roles = roles_of(p, &count);
    softmax_naive_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    for (int i = 0; i < count; i++)
        s->params.e[i] = dn_elements_of(&p->t[roles[i]]);
    split(p, &s->params.groups, &s->params.inner);
    s->params.algo = p->u.softmax.algo;
    s->params.team = dn_team_of(&s->params.groups, &s->params.inner, 1);
    dn_cuda_grid_loop(h, &s->grid, s->params.groups.count * s->params.team, DN_TEAM_BLOCK, 4);
    return dn_cuda_function(h, "cuda_softmax_naive", plan->solver->name, 0, &s->grid.f);
}

static dn_status naive_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const softmax_naive_state *s = plan->state;
    int count;
    const dn_role *roles = roles_of(&plan->problem, &count);
    dn_softmax_naive params = s->params;
    for (int i = 0; i < count; i++)
        dn_elements_bind(&params.e[i], a->ptr[roles[i]]);
    params.alpha = a->alpha;
    params.beta = a->beta;
    return dn_cuda_launch(h, &s->grid, &params);
}

static const char *naive_check(const dn_problem *p)
{
    return dn_ref_softmax.rows[p->dir == DN_DIR_FWD ? 0 : 1].check(p);
}

/* --- tuned: what they share --- */
static int vector_of(const dn_problem *p)  /* elements of 16 bytes */
{
    return p->t[p->dir == DN_DIR_FWD ? DN_X : DN_Y].type == DN_F32 ? 4 : 8;
}

/* The walks, where type and pointers suit. */
static const char *tuned_walks(const dn_problem *p, dn_dtype type, dn_walk *groups, dn_walk *inner)
{
    int count;
    const dn_role *roles = roles_of(p, &count);
    for (int i = 0; i < count; i++) {
        if (p->t[roles[i]].type != type)
            return "is for another type";
        if (p->align[roles[i]] < 16)
            return "needs pointers aligned to 16 bytes";
    }
    split(p, groups, inner);
    return NULL;
}

/* Whether axis d of a walk has this step in all tensors. */
static bool steps_are(const dn_walk *w, int d, int64_t step)
{
    for (int t = 0; t < w->tensors; t++)
        if (w->step[t][d] != step)
            return false;
    return true;
}

static dn_status function(dn_handle *h, const dn_plan *plan, const char *variant, dn_cu_fn *f)
{
    char name[96];
    snprintf(name, sizeof name, "%s_%s", plan->solver->name, variant);
    return dn_cuda_function(h, plan->solver->name, name, 0, f);
}

/* --- rows: packed one behind the other --- */
typedef struct softmax_rows_state {
    dn_cuda_grid grid, write;
    dn_softmax_rows params;
} softmax_rows_state;

/* The threads and vectors per thread of the kernels, fewest first. */
static const struct shape { int team, vectors, fwd, bwd; } shapes[] = {
    { 2, 1, 1, 1 }, { 4, 1, 1, 1 }, { 8, 1, 1, 1 }, { 16, 1, 1, 1 }, { 32, 1, 1, 1 }, { 32, 2, 1, 1 }, { 32, 4, 1, 1 }, { 64, 4, 1, 1 },
    { 128, 4, 1, 1 }, { 256, 4, 1, 1 }, { 256, 8, 1, 1 }, { 512, 8, 1, 0 }, { 1024, 4, 0, 1 }, { 1024, 8, 1, 0 },
};

/* Vectors that a row of this length touches at most. */
static int64_t vectors_touched(int64_t length, int vector)
{
    return length % vector == 0 ? length / vector : (length + 2 * vector - 2) / vector;
}

static const struct shape *shape_of(const dn_problem *p, int64_t length)
{
    int64_t vectors = vectors_touched(length, vector_of(p));
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if ((p->dir == DN_DIR_FWD ? shapes[i].fwd : shapes[i].bwd) && vectors <= shapes[i].team * shapes[i].vectors)
            return &shapes[i];
    return NULL;
}

static const char *packed_rows(const dn_problem *p, dn_dtype type, dn_walk *groups, dn_walk *inner)
{
    const char *why = tuned_walks(p, type, groups, inner);
    if (why)
        return why;
    if (inner->rank > 1 || !steps_are(inner, 0, inner->count > 1))
        return "needs the elements of a group side by side";
    if (groups->rank > 1 || (groups->count > 1 && !steps_are(groups, 0, inner->count)))
        return "needs packed tensors";
    return inner->count > INT32_MAX / 2 ? "needs rows below 2^30 elements" : NULL;
}

static const char *rows_check(const dn_problem *p, dn_dtype type)
{
    dn_walk groups, inner;
    const char *why = packed_rows(p, type, &groups, &inner);
    return why ? why : shape_of(p, inner.count) ? NULL : "needs rows that fit into registers";
}

static void rows_params(const dn_problem *p, dn_softmax_rows *q, dn_walk *groups, dn_walk *inner)
{
    split(p, groups, inner);
    q->rows = groups->count;
    q->length = (int)inner->count;
    q->algo = p->u.softmax.algo;
    int64_t count = groups->count * inner->count;
    q->tail = count % vector_of(p) ? count / vector_of(p) : -1;
}

static dn_status rows_prepare(dn_handle *h, dn_plan *plan)
{
    softmax_rows_state *s = calloc(1, sizeof *s);
    dn_walk groups, inner;
    char variant[32];
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    rows_params(&plan->problem, &s->params, &groups, &inner);
    const struct shape *shape = shape_of(&plan->problem, inner.count);
    unsigned block = shape->team > 256 ? (unsigned)shape->team : 256;
    int64_t blocks = (groups.count * shape->team + block - 1) / block, most = (int64_t)dn_cuda_device_of(h)->sm_count * 32;
    if (shape->team > 32)  /* a block that waits for itself is better replaced than looped */
        most = INT32_MAX;
    s->grid = (dn_cuda_grid){ .grid = { (unsigned)(blocks < most ? blocks : most), 1, 1 }, .block = { block, 1, 1 } };
    snprintf(variant, sizeof variant, "%dx%d", shape->team, shape->vectors);
    return function(h, plan, variant, &s->grid.f);
}

static void rows_bind(dn_softmax_rows *q, const dn_problem *p, const dn_args *a)
{
    bool fwd = p->dir == DN_DIR_FWD;
    q->out = a->ptr[fwd ? DN_Y : DN_DX];
    q->in = a->ptr[fwd ? DN_X : DN_Y];
    q->grad = fwd ? NULL : a->ptr[DN_DY];
    q->alpha = (float)a->alpha;
    q->beta = (float)a->beta;
}

static dn_status rows_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const softmax_rows_state *s = plan->state;
    dn_softmax_rows params = s->params;
    rows_bind(&params, &plan->problem, a);
    return dn_cuda_launch(h, &s->grid, &params);
}

/* --- long rows --- */
enum { LONG_BLOCK = 512, CHUNK_LEAST = 2048 };  /* threads; vectors of a piece */

static const char *long_check(const dn_problem *p, dn_dtype type)
{
    dn_walk groups, inner;
    return packed_rows(p, type, &groups, &inner);
}

static size_t part_bytes(const dn_softmax_rows *q)
{
    return sizeof(float) * 2 * (size_t)(q->rows * q->chunks);
}

/* Few rows are cut into pieces, and read twice from memory; of many, as many are worked on at once as the level 2 cache holds. */
static dn_status long_prepare(dn_handle *h, dn_plan *plan)
{
    softmax_rows_state *s = calloc(1, sizeof *s);
    const dn_cuda_device *device = dn_cuda_device_of(h);
    dn_walk groups, inner;
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_softmax_rows *q = &s->params;
    rows_params(&plan->problem, q, &groups, &inner);
    int64_t vectors = vectors_touched(inner.count, vector_of(&plan->problem)), sms = device->sm_count;
    int64_t pieces = (4 * sms + q->rows - 1) / q->rows, chunk = (vectors + pieces - 1) / pieces;
    q->chunk = (int)(chunk > CHUNK_LEAST ? chunk : CHUNK_LEAST);
    q->chunks = (int)((vectors + q->chunk - 1) / q->chunk);
    s->grid.block[0] = LONG_BLOCK;
    s->grid.block[1] = s->grid.block[2] = s->grid.grid[1] = s->grid.grid[2] = 1;
    if (q->rows >= sms || q->chunks == 1) {
        int64_t most = (size_t)(vectors * 16 * (plan->problem.dir == DN_DIR_FWD ? 2 : 4) * sms) < device->l2_bytes ? 2 * sms : sms;
        q->chunks = 1;
        s->grid.grid[0] = (unsigned)(q->rows < most ? q->rows : most);
        return function(h, plan, "whole", &s->grid.f);
    }
    s->grid.grid[0] = (unsigned)q->chunks;
    s->grid.grid[1] = (unsigned)q->rows;
    s->write = s->grid;
    void *part;
    dn_status st = function(h, plan, "part", &s->grid.f);
    if (st == DN_SUCCESS)
        st = function(h, plan, "write", &s->write.f);
    return st == DN_SUCCESS ? dn_cuda_scratch(h, part_bytes(q), &part) : st;
}

static dn_status long_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const softmax_rows_state *s = plan->state;
    dn_softmax_rows params = s->params;
    void *part = NULL;
    rows_bind(&params, &plan->problem, a);
    dn_status st = params.chunks > 1 ? dn_cuda_scratch(h, part_bytes(&params), &part) : DN_SUCCESS;
    params.part = part;
    if (st == DN_SUCCESS)
        st = dn_cuda_launch(h, &s->grid, &params);
    return st == DN_SUCCESS && params.chunks > 1 ? dn_cuda_launch(h, &s->write, &params) : st;
}

/* --- columns: n x c x pixels, packed --- */
typedef struct softmax_columns_state {
    dn_cuda_grid grid;
    dn_softmax_columns params;
} softmax_columns_state;

enum { COLUMN_BLOCK = 512, COLUMN_LANES = 16 };  /* threads of a block; those of one column, at most */

static const char *columns_of(const dn_problem *p, dn_dtype type, dn_softmax_columns *q)
{
    dn_walk groups, inner;
    const char *why = tuned_walks(p, type, &groups, &inner);
    if (why)
        return why;
    int last = groups.rank - 1;
    int64_t pixels = inner.step[0][0];
    if (inner.rank > 1 || inner.count == 1 || groups.rank > 2 || groups.dims[last] != pixels || !steps_are(&groups, last, 1)
        || !steps_are(&inner, 0, pixels) || (last > 0 && !steps_are(&groups, 0, inner.count * pixels)))
        return "needs packed tensors with the channels before the places";
    if (groups.count > INT32_MAX - COLUMN_BLOCK || inner.count > INT32_MAX)
        return "needs fewer than 2^31 places";
    *q = (dn_softmax_columns){ .n = groups.count / pixels, .c = inner.count, .pixels = pixels, .algo = p->u.softmax.algo };
    return NULL;
}

static const char *columns_check(const dn_problem *p, dn_dtype type)
{
    dn_softmax_columns q;
    return columns_of(p, type, &q);
}

static dn_status columns_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    softmax_columns_state *s = calloc(1, sizeof *s);
    bool fwd = p->dir == DN_DIR_FWD;
    char variant[32];
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    columns_of(p, (dn_dtype)p->t[fwd ? DN_X : DN_Y].type, &s->params);
    int64_t c = s->params.c;
    int few = fwd ? 8 : 4, many = fwd ? 20 : 8, held = c <= few ? few : c <= many * COLUMN_LANES ? many : 0;
    int n = s->params.pixels % vector_of(p) ? 1 : vector_of(p), lanes = held ? (int)((c + held - 1) / held) : COLUMN_LANES;
    int64_t across = s->params.n * (s->params.pixels / n);
    unsigned px = lanes == 1 ? 256 : (unsigned)(COLUMN_BLOCK / lanes / 32 * 32);
    while (px > 32 && across / px < 2 * dn_cuda_device_of(h)->sm_count)
        px = px / 2 / 32 * 32 > 32 ? px / 2 / 32 * 32 : 32;
    s->grid = (dn_cuda_grid){ .grid = { (unsigned)((across + px - 1) / px), 1, 1 }, .block = { px, (unsigned)lanes, 1 } };
    snprintf(variant, sizeof variant, "%dx%d", n, held);
    return function(h, plan, variant, &s->grid.f);
}

static dn_status columns_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const softmax_columns_state *s = plan->state;
    dn_softmax_columns params = s->params;
    dn_softmax_rows ends;
    rows_bind(&ends, &plan->problem, a);
    params.out = ends.out;
    params.in = ends.in;
    params.grad = ends.grad;
    params.alpha = ends.alpha;
    params.beta = ends.beta;
    return dn_cuda_launch(h, &s->grid, &params);
}

/* --- one check per type --- */
static const char *rows_f32(const dn_problem *p)
{
    return rows_check(p, DN_F32);
}

static const char *rows_f16(const dn_problem *p)
{
    return rows_check(p, DN_F16);
}

static const char *rows_bf16(const dn_problem *p)
{
    return rows_check(p, DN_BF16);
}

static const char *columns_f32(const dn_problem *p)
{
    return columns_check(p, DN_F32);
}

static const char *columns_f16(const dn_problem *p)
{
    return columns_check(p, DN_F16);
}

static const char *columns_bf16(const dn_problem *p)
{
    return columns_check(p, DN_BF16);
}

static const char *long_f32(const dn_problem *p)
{
    return long_check(p, DN_F32);
}

static const char *long_f16(const dn_problem *p)
{
    return long_check(p, DN_F16);
}

static const char *long_bf16(const dn_problem *p)
{
    return long_check(p, DN_BF16);
}

static const dn_solver rows[] = {
    { .name = "cuda_softmax_fwd_rows_f32", .op = DN_OP_SOFTMAX, .dir = DN_DIR_FWD, .algo = -1, .check = rows_f32,
      .prepare = rows_prepare, .run = rows_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_fwd_rows_f16", .op = DN_OP_SOFTMAX, .dir = DN_DIR_FWD, .algo = -1, .check = rows_f16,
      .prepare = rows_prepare, .run = rows_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_fwd_rows_bf16", .op = DN_OP_SOFTMAX, .dir = DN_DIR_FWD, .algo = -1, .check = rows_bf16,
      .prepare = rows_prepare, .run = rows_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_fwd_columns_f32", .op = DN_OP_SOFTMAX, .dir = DN_DIR_FWD, .algo = -1, .check = columns_f32,
      .prepare = columns_prepare, .run = columns_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_fwd_columns_f16", .op = DN_OP_SOFTMAX, .dir = DN_DIR_FWD, .algo = -1, .check = columns_f16,
      .prepare = columns_prepare, .run = columns_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_fwd_columns_bf16", .op = DN_OP_SOFTMAX, .dir = DN_DIR_FWD, .algo = -1, .check = columns_bf16,
      .prepare = columns_prepare, .run = columns_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_fwd_long_f32", .op = DN_OP_SOFTMAX, .dir = DN_DIR_FWD, .algo = -1, .check = long_f32,
      .prepare = long_prepare, .run = long_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_fwd_long_f16", .op = DN_OP_SOFTMAX, .dir = DN_DIR_FWD, .algo = -1, .check = long_f16,
      .prepare = long_prepare, .run = long_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_fwd_long_bf16", .op = DN_OP_SOFTMAX, .dir = DN_DIR_FWD, .algo = -1, .check = long_bf16,
      .prepare = long_prepare, .run = long_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_fwd_naive", .op = DN_OP_SOFTMAX, .dir = DN_DIR_FWD, .algo = -1, .check = naive_check,
      .prepare = naive_prepare, .run = naive_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_bwd_data_rows_f32", .op = DN_OP_SOFTMAX, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = rows_f32,
      .prepare = rows_prepare, .run = rows_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_bwd_data_rows_f16", .op = DN_OP_SOFTMAX, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = rows_f16,
      .prepare = rows_prepare, .run = rows_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_bwd_data_rows_bf16", .op = DN_OP_SOFTMAX, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = rows_bf16,
      .prepare = rows_prepare, .run = rows_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_bwd_data_columns_f32", .op = DN_OP_SOFTMAX, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = columns_f32,
      .prepare = columns_prepare, .run = columns_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_bwd_data_columns_f16", .op = DN_OP_SOFTMAX, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = columns_f16,
      .prepare = columns_prepare, .run = columns_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_bwd_data_columns_bf16", .op = DN_OP_SOFTMAX, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = columns_bf16,
      .prepare = columns_prepare, .run = columns_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_bwd_data_long_f32", .op = DN_OP_SOFTMAX, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = long_f32,
      .prepare = long_prepare, .run = long_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_bwd_data_long_f16", .op = DN_OP_SOFTMAX, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = long_f16,
      .prepare = long_prepare, .run = long_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_bwd_data_long_bf16", .op = DN_OP_SOFTMAX, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = long_bf16,
      .prepare = long_prepare, .run = long_run, .release = dn_cuda_release },
    { .name = "cuda_softmax_bwd_data_naive", .op = DN_OP_SOFTMAX, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = naive_check,
      .prepare = naive_prepare, .run = naive_run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_softmax = { rows, sizeof rows / sizeof rows[0] };
