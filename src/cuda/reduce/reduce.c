/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Reductions on the GPU. */
#include "cuda/reduce/reduce.h"

#include "cuda/naive.h"
#include "cuda/rows.h"
#include "cuda/team.h"
#include "ops/reduce.h"

#include <stdio.h>
#include <stdlib.h>

/* --- naive --- */
typedef struct reduce_naive_state {
    dn_cuda_grid grid, merge;
    dn_reduce_naive params;
} reduce_naive_state;

enum {
    BUSY_THREADS = 1 << 18,  /* what keeps a large device busy: parts are made until there are so many */
    PART_LEAST = 16,         /* elements per thread that a part is worth */
    PARTS_MAX = 4096,
    MERGE_TEAM = 32,
};

/* The walks of p, and in how many parts a block is taken: by the problem alone, since the workspace depends on it. */
static void naive_params(const dn_problem *p, dn_reduce_naive *q)
{
    dn_tensor kept = p->t[DN_X], gone = p->t[DN_X];
    for (int d = 0; d < kept.rank; d++) {
        kept.dims[d] = p->t[DN_Y].dims[d];
        gone.dims[d] = p->t[DN_Y].dims[d] == 1 ? p->t[DN_X].dims[d] : 1;
    }
    const dn_tensor *const out[] = { &p->t[DN_Y], &kept }, *const block[] = { &gone };
    bool indexed = dn_reduce_is_indexed(&p->u.reduce);  /* indices count in logical order, of outputs and within blocks */
    dn_iter it;
    (indexed ? dn_iter_init : dn_iter_init_any_order)(&it, 2, out);
    dn_walk_of(&q->out, &it);
    (indexed ? dn_iter_init : dn_iter_init_any_order)(&it, 1, block);
    dn_walk_of(&q->block, &it);
    q->y = dn_elements_of(&p->t[DN_Y]);
    q->x = dn_elements_of(&p->t[DN_X]);
    q->op = p->u.reduce.op;
    q->nan = p->u.reduce.nan;
    q->index_bytes = indexed ? dn_reduce_index_size(p->u.reduce.index_type) : 0;
    dn_walk across = q->out;  /* tensor 0 of both: x */
    for (int d = 0; d < across.rank; d++)
        across.step[0][d] = across.step[1][d];
    q->team = dn_team_of(&across, &q->block, 0);
    int64_t parts = q->block.count / (q->team * PART_LEAST), most = BUSY_THREADS / q->team / q->out.count;
    parts = parts < most ? parts : most;
    parts = parts < PARTS_MAX ? parts : PARTS_MAX;
    q->parts = parts > 1 ? parts : 1;
    q->part = (q->block.count + q->parts - 1) / q->parts;
}

static size_t naive_workspace(const dn_problem *p)
{
    dn_reduce_naive q = { .parts = 0 };
    naive_params(p, &q);
    return q.parts > 1 ? (size_t)(q.parts * q.out.count + 1) * sizeof(dn_reduce_state) : 0;
}

static dn_status naive_prepare(dn_handle *h, dn_plan *plan)
{
    reduce_naive_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    naive_params(&plan->problem, &s->params);
    dn_cuda_grid_loop(h, &s->grid, s->params.out.count * s->params.parts * s->params.team, DN_TEAM_BLOCK, 4);
    dn_status st = dn_cuda_function(h, "cuda_reduce_naive", "cuda_reduce_fwd_naive", 0, &s->grid.f);
    if (st != DN_SUCCESS || s->params.parts == 1)
        return st;
    dn_cuda_grid_loop(h, &s->merge, s->params.out.count * MERGE_TEAM, DN_TEAM_BLOCK, 4);
    return dn_cuda_function(h, "cuda_reduce_naive", "cuda_reduce_fwd_naive_merge", 0, &s->merge.f);
}

static dn_status naive_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const reduce_naive_state *s = plan->state;
    dn_reduce_naive params = s->params;
    dn_elements_bind(&params.y, a->ptr[DN_Y]);
    dn_elements_bind(&params.x, a->ptr[DN_X]);
    params.indices = a->aux[DN_AUX_INDICES];
    params.states = (dn_reduce_state *)(((uintptr_t)a->workspace + 15) & ~(uintptr_t)15);
    params.alpha = a->alpha;
    params.beta = a->beta;
    dn_status st = dn_cuda_launch(h, &s->grid, &params);
    if (st != DN_SUCCESS || params.parts == 1)
        return st;
    params.team = MERGE_TEAM;
    return dn_cuda_launch(h, &s->merge, &params);
}

static const char *naive_check(const dn_problem *p)
{
    return dn_ref_reduce.rows[0].check(p);
}

/* --- packed --- */
typedef struct reduce_packed_state {
    dn_cuda_grid grid, merge;
    dn_reduce_packed params;
} reduce_packed_state;

enum { BUSY_BLOCKS = 1056, PACKED_PARTS_MAX = 8192, LINES_LEAST = 4, ROWS_LEAST = 8 };  /* steps per thread that a part is worth */

/* Dimensions of t over 1 in the order of their strides, longest first; false where t is not packed. */
static bool order_of(const dn_tensor *t, int *order, int *count)
{
    *count = 0;
    for (int d = 0; d < t->rank; d++) {
        int k = *count;
        if (t->dims[d] == 1)
            continue;
        for (; k > 0 && t->strides[order[k - 1]] < t->strides[d]; k--)
            order[k] = order[k - 1];
        order[k] = d;
        ++*count;
    }
    int64_t step = 1;
    for (int k = *count - 1; k >= 0; k--) {
        if (t->strides[order[k]] != step)
            return false;
        step *= t->dims[order[k]];
    }
    return true;
}

/* p's x as [outer][kept][inner][places]; false where it is none. */
static bool folded(const dn_problem *p, dn_reduce_packed *q)
{
    const dn_tensor *x = &p->t[DN_X], *y = &p->t[DN_Y];
    int order[DN_RANK_MAX], count;
    int64_t size[DN_RANK_MAX];
    bool kept[DN_RANK_MAX];
    if (!order_of(x, order, &count))
        return false;
    int n = 0;
    for (int k = 0; k < count; k++) {
        bool stays = y->dims[order[k]] > 1;
        if (n == 0 || kept[n - 1] != stays) {
            kept[n] = stays;
            size[n++] = 1;
        }
        size[n - 1] *= x->dims[order[k]];
    }
    q->outer = q->kept = q->inner = q->places = 1;
    long long *from_last[] = { &q->places, &q->inner, &q->kept, &q->outer };
    int at = n && kept[n - 1] ? 0 : 1;
    if (n + at > 4)
        return false;
    for (int k = n - 1; k >= 0; k--)
        *from_last[at++] = size[k];
    if (q->kept == 1 && q->outer > 1) {  /* only where kept was there in between is outer apart from inner */
        q->inner *= q->outer;
        q->outer = 1;
    }
    return true;
}

static int vector_of(const dn_problem *p)  /* elements of 16 bytes */
{
    return p->t[DN_X].type == DN_F32 ? 4 : 8;
}

static bool is_lines(const dn_reduce_packed *q)
{
    return q->places == 1;
}

/* Cuts the outputs' steps into parts until there is work for BUSY_BLOCKS blocks: by the problem alone. */
static void cut(dn_reduce_packed *q, int64_t blocks, int64_t most)
{
    int64_t parts = blocks < BUSY_BLOCKS ? BUSY_BLOCKS / blocks : 1;
    parts = parts < most ? parts : most;
    parts = parts < PACKED_PARTS_MAX ? parts : PACKED_PARTS_MAX;
    parts = parts > 1 ? parts : 1;
    q->part = (q->steps + parts - 1) / parts;
    q->parts = (q->steps + q->part - 1) / q->part;
}

static int64_t power_of_two(int64_t least, int64_t most)
{
    int64_t v = 1;
    while (v < least && v < most)
        v *= 2;
    return v;
}

static void lines_shape(const dn_problem *p, dn_reduce_packed *q, dn_cuda_grid *g)
{
    int n = vector_of(p);
    q->vectors = (int)(q->inner % n == 0 ? q->inner / n : (q->inner + 2 * n - 2) / n);
    q->steps = q->outer * q->vectors;
    bool warps = q->steps <= 512 && q->kept >= 1024;
    q->team = warps || q->steps <= 32 ? (int)power_of_two((q->steps + 1) / 2, 32) : DN_REDUCE_BLOCK;
    cut(q, (q->kept * q->team + DN_REDUCE_BLOCK - 1) / DN_REDUCE_BLOCK, q->steps / (q->team * LINES_LEAST));
    int64_t blocks = (q->kept * q->parts * q->team + DN_REDUCE_BLOCK - 1) / DN_REDUCE_BLOCK;
    *g = (dn_cuda_grid){ .grid = { (unsigned)(blocks < 1 << 20 ? blocks : 1 << 20), 1, 1 }, .block = { DN_REDUCE_BLOCK, 1, 1 } };
}

static int places_per_thread(const dn_problem *p, const dn_reduce_packed *q)
{
    return q->places % vector_of(p) ? 1 : vector_of(p);
}

static void columns_shape(const dn_problem *p, dn_reduce_packed *q, dn_cuda_grid *g)
{
    int64_t across = q->kept * q->places / places_per_thread(p, q);
    q->steps = q->outer * q->inner;
    int64_t px = power_of_two(across, 32), lanes = DN_REDUCE_BLOCK / px;
    while (lanes > 1 && lanes * 2 > q->steps)
        lanes /= 2;
    px = across > 32 ? DN_REDUCE_BLOCK / lanes : px;
    int64_t blocks = (across + px - 1) / px;
    cut(q, blocks, q->steps / (lanes * ROWS_LEAST));
    *g = (dn_cuda_grid){ .grid = { (unsigned)blocks, (unsigned)(q->parts < 65535 ? q->parts : 65535), 1 },
                         .block = { (unsigned)px, (unsigned)lanes, 1 } };
}

/* All of q but pointers and factors, and the first kernel's grid. */
static void packed_params(const dn_problem *p, dn_reduce_packed *q, dn_cuda_grid *g)
{
    const dn_tensor *x = &p->t[DN_X], *y = &p->t[DN_Y];
    dn_tensor left = *x;
    folded(p, q);
    for (int d = 0; d < x->rank; d++)
        left.dims[d] = y->dims[d];
    const dn_tensor *const out[] = { &left, y };
    dn_iter it;
    dn_iter_init_any_order(&it, 2, out);
    dn_walk_of(&q->out, &it);
    q->y = dn_elements_of(y);
    int64_t count = dn_tensor_count(x);
    q->tail = count % vector_of(p) ? count / vector_of(p) : -1;
    q->op = p->u.reduce.op;
    q->keep = q->op == DN_REDUCE_AMAX || q->op == DN_REDUCE_NORM1 ? 0x7fffffffu : 0xffffffffu;
    q->flip = q->op == DN_REDUCE_MIN ? 0x80000000u : 0;
    q->count = (double)dn_reduce_block(p);
    (is_lines(q) ? lines_shape : columns_shape)(p, q, g);
}

static const char *packed_check(const dn_problem *p, dn_dtype type, bool lines)
{
    dn_reduce_packed q;
    if (p->t[DN_X].type != type)
        return "is for another type";
    if (p->u.reduce.op == DN_REDUCE_MUL || p->u.reduce.op == DN_REDUCE_MUL_NO_ZEROS)
        return "does not multiply";
    if (dn_reduce_is_indexed(&p->u.reduce))
        return "gives no indices";
    if (!folded(p, &q))
        return "needs packed x of at most four runs of kept and reduced dimensions";
    if (is_lines(&q) != lines)
        return lines ? "needs x's innermost dimension reduced" : "needs x's innermost dimension kept";
    if (p->align[DN_X] < 16 && (lines || places_per_thread(p, &q) > 1))
        return "needs x aligned to 16 bytes";
    return q.inner > INT32_MAX || q.kept * q.places > INT32_MAX ? "needs runs and outputs below 2^31" : NULL;
}

static size_t packed_workspace(const dn_problem *p)
{
    dn_reduce_packed q;
    dn_cuda_grid g;
    packed_params(p, &q, &g);
    return q.parts > 1 ? (size_t)(q.parts * q.kept * q.places + 1) * sizeof(double) : 0;
}

static dn_status packed_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_reduce_param *u = &plan->problem.u.reduce;
    reduce_packed_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_reduce_packed *q = &s->params;
    packed_params(&plan->problem, q, &s->grid);
    bool picks = u->op == DN_REDUCE_MIN || u->op == DN_REDUCE_MAX || u->op == DN_REDUCE_AMAX;
    const char *kind = u->op == DN_REDUCE_NORM2 ? "squares" : !picks ? "sum" : u->nan ? "maxnan" : "max", *module = plan->solver->name;
    bool single = !is_lines(q) && places_per_thread(&plan->problem, q) == 1;
    char name[96];
    snprintf(name, sizeof name, "%s_%s%s", module, kind, single ? "_1" : "");
    dn_status st = dn_cuda_function(h, module, name, 0, &s->grid.f);
    if (st != DN_SUCCESS || q->parts == 1)
        return st;
    int64_t outputs = q->kept * q->places, px = power_of_two(outputs, 32);
    s->merge = (dn_cuda_grid){ .grid = { (unsigned)((outputs + px - 1) / px), 1, 1 },
                               .block = { (unsigned)px, (unsigned)(DN_REDUCE_BLOCK / px), 1 } };
    snprintf(name, sizeof name, "%s_%s_merge", module, kind);
    return dn_cuda_function(h, module, name, 0, &s->merge.f);
}

static dn_status packed_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const reduce_packed_state *s = plan->state;
    dn_reduce_packed params = s->params;
    dn_elements_bind(&params.y, a->ptr[DN_Y]);
    params.x = a->ptr[DN_X];
    params.states = (double *)(((uintptr_t)a->workspace + 7) & ~(uintptr_t)7);
    params.alpha = a->alpha;
    params.beta = a->beta;
    dn_status st = dn_cuda_launch(h, &s->grid, &params);
    return st == DN_SUCCESS && params.parts > 1 ? dn_cuda_launch(h, &s->merge, &params) : st;
}

static const char *lines_f32(const dn_problem *p)
{
    return packed_check(p, DN_F32, true);
}

static const char *lines_f16(const dn_problem *p)
{
    return packed_check(p, DN_F16, true);
}

static const char *lines_bf16(const dn_problem *p)
{
    return packed_check(p, DN_BF16, true);
}

static const char *columns_f32(const dn_problem *p)
{
    return packed_check(p, DN_F32, false);
}

static const char *columns_f16(const dn_problem *p)
{
    return packed_check(p, DN_F16, false);
}

static const char *columns_bf16(const dn_problem *p)
{
    return packed_check(p, DN_BF16, false);
}

static const dn_solver rows[] = {
    { .name = "cuda_reduce_fwd_lines_f32", .op = DN_OP_REDUCE, .dir = DN_DIR_FWD, .algo = -1, .check = lines_f32,
      .workspace = packed_workspace, .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release },
    { .name = "cuda_reduce_fwd_lines_f16", .op = DN_OP_REDUCE, .dir = DN_DIR_FWD, .algo = -1, .check = lines_f16,
      .workspace = packed_workspace, .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release },
    { .name = "cuda_reduce_fwd_lines_bf16", .op = DN_OP_REDUCE, .dir = DN_DIR_FWD, .algo = -1, .check = lines_bf16,
      .workspace = packed_workspace, .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release },
    { .name = "cuda_reduce_fwd_columns_f32", .op = DN_OP_REDUCE, .dir = DN_DIR_FWD, .algo = -1, .check = columns_f32,
      .workspace = packed_workspace, .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release },
    { .name = "cuda_reduce_fwd_columns_f16", .op = DN_OP_REDUCE, .dir = DN_DIR_FWD, .algo = -1, .check = columns_f16,
      .workspace = packed_workspace, .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release },
    { .name = "cuda_reduce_fwd_columns_bf16", .op = DN_OP_REDUCE, .dir = DN_DIR_FWD, .algo = -1, .check = columns_bf16,
      .workspace = packed_workspace, .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release },
    { .name = "cuda_reduce_fwd_naive", .op = DN_OP_REDUCE, .dir = DN_DIR_FWD, .algo = -1, .check = naive_check,
      .workspace = naive_workspace, .prepare = naive_prepare, .run = naive_run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_reduce = { rows, sizeof rows / sizeof rows[0] };
