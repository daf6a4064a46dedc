/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Local response normalisation across channels on the GPU. */
#include "cuda/lrn/lrn.h"

#include "cuda/naive.h"
#include "cuda/rows.h"
#include "ops/lrn.h"

#include <stdio.h>
#include <stdlib.h>

static dn_lrn_fn fn_of(const dn_problem *p)
{
    const dn_lrn_param *q = &p->u.lrn;
    return (dn_lrn_fn){ dn_lrn_back(q->n), dn_lrn_ahead(q->n), q->alpha / q->n, q->beta, q->k };
}

static const dn_role fwd_roles[] = { DN_Y, DN_X };
static const dn_role bwd_roles[] = { DN_DX, DN_X, DN_DY };

static const dn_role *roles_of(const dn_problem *p, int *count)
{
    bool fwd = p->dir == DN_DIR_FWD;
    *count = fwd ? 2 : 3;
    return fwd ? fwd_roles : bwd_roles;
}

/* --- naive --- */
typedef struct lrn_naive_state {
    dn_cuda_grid grid;
    dn_lrn_naive params;
} lrn_naive_state;

enum { CHUNK = 16, THREADS = 128 };

static dn_status naive_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    int count;
    const dn_role *roles = roles_of(p, &count);
    lrn_naive_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_lrn_naive *q = &s->params;
    dn_tensor place[3];
    const dn_tensor *t[3];
    for (int i = 0; i < count; i++) {
        place[i] = p->t[roles[i]];
        place[i].dims[1] = 1;
        t[i] = &place[i];
        q->step[i] = p->t[roles[i]].strides[1];
        q->e[i] = dn_elements_of(&place[i]);
    }
    dn_iter it;
    dn_iter_init_any_order(&it, count, t);
    dn_walk_of(&q->places, &it);
    q->fn = fn_of(p);
    q->c = p->t[DN_X].dims[1];
    return dn_cuda_function(h, "cuda_lrn_naive", plan->solver->name, 0, &s->grid.f);
}

/* An output that is an input by chance of the pointers, without the flag, is worked on a column at a time as well. */
static dn_status naive_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const lrn_naive_state *s = plan->state;
    int count;
    const dn_role *roles = roles_of(&plan->problem, &count);
    dn_lrn_naive params = s->params;
    dn_cuda_grid grid = s->grid;
    bool in_place = false;
    for (int i = 0; i < count; i++) {
        dn_elements_bind(&params.e[i], a->ptr[roles[i]]);
        in_place = in_place || (i > 0 && params.e[i].ptr == params.e[0].ptr);
    }
    params.chunk = in_place || params.c < CHUNK ? params.c : CHUNK;
    dn_cuda_grid_loop(h, &grid, params.places.count * ((params.c + params.chunk - 1) / params.chunk), THREADS, 4);
    params.alpha = a->alpha;
    params.beta = a->beta;
    return dn_cuda_launch(h, &grid, &params);
}

static const char *naive_check(const dn_problem *p)
{
    return dn_ref_lrn.rows[p->dir == DN_DIR_FWD ? 0 : 1].check(p);
}

/* --- packed --- */
typedef struct lrn_packed_state {
    dn_cuda_grid grid;
    dn_lrn_packed params;
} lrn_packed_state;

enum { NCHW_THREADS = 128, NHWC_THREADS = 256 };

static const char *packed_check(const dn_problem *p, dn_dtype type)
{
    int count;
    const dn_role *roles = roles_of(p, &count);
    for (int i = 0; i < count; i++) {
        if (p->t[roles[i]].type != type)
            return "is for another type";
        if (p->align[roles[i]] < 16)
            return "needs pointers aligned to 16 bytes";
    }
    return p->u.lrn.n == 3 || p->u.lrn.n == 5 ? NULL : "needs a window of 3 or 5";
}

static bool all_packed(const dn_problem *p, bool (*is_packed)(const dn_tensor *))
{
    int count;
    const dn_role *roles = roles_of(p, &count);
    for (int i = 0; i < count; i++)
        if (!is_packed(&p->t[roles[i]]))
            return false;
    return true;
}

static void packed_params(const dn_problem *p, dn_lrn_packed *q)
{
    const dn_lrn_param *u = &p->u.lrn;
    q->n = p->t[DN_X].dims[0];
    q->c = p->t[DN_X].dims[1];
    q->pixels = dn_tensor_count(&p->t[DN_X]) / q->n / q->c;
    q->share = (float)(u->alpha / u->n);
    q->power = (float)u->beta;
    q->k = (float)u->k;
    q->factor = (float)(2 * u->alpha / u->n * u->beta);
}

static const char *nchw_check(const dn_problem *p, dn_dtype type)
{
    dn_lrn_packed q;
    const char *why = packed_check(p, type);
    if (why)
        return why;
    if (!all_packed(p, dn_tensor_is_packed))
        return "needs packed tensors with the channels before the places";
    packed_params(p, &q);
    return q.n * q.pixels < INT32_MAX - NCHW_THREADS && q.c < INT32_MAX - 64 ? NULL : "needs fewer than 2^31 places";
}

static const char *nhwc_check(const dn_problem *p, dn_dtype type)
{
    const char *why = packed_check(p, type);
    if (why)
        return why;
    if (!all_packed(p, dn_tensor_is_packed_nhwc) || p->t[DN_X].dims[1] % (type == DN_F32 ? 4 : 8))
        return "needs packed tensors with the channels innermost, a multiple of 16 bytes";
    if (p->t[DN_X].dims[1] > INT32_MAX / 2)
        return "needs fewer than 2^30 channels";
    return p->flags & DN_F_IN_PLACE ? "does not work in place" : NULL;
}

static dn_status packed_grid(dn_handle *h, const dn_plan *plan, lrn_packed_state *s)
{
    char name[96];
    const char *module = plan->solver->name;
    bool f32 = plan->problem.t[DN_X].type == DN_F32, fwd = plan->problem.dir == DN_DIR_FWD;
    dn_lrn_packed *q = &s->params;
    if (plan->solver->data) {  /* channels innermost */
        q->pixels *= q->n;
        q->n = 1;
        dn_cuda_grid_loop(h, &s->grid, q->pixels * q->c / (f32 ? 4 : 8), NHWC_THREADS, 8);
        snprintf(name, sizeof name, "%s_%d", module, plan->problem.u.lrn.n);
    } else {
        int wide = f32 && !fwd ? 2 : 4, each = q->pixels % wide ? 1 : wide;
        int64_t blocks = (q->n * (q->pixels / each) + NCHW_THREADS - 1) / NCHW_THREADS;
        s->grid = (dn_cuda_grid){ .grid = { (unsigned)blocks, 1, 1 }, .block = { NCHW_THREADS, 1, 1 } };
        snprintf(name, sizeof name, "%s_%dx%d", module, plan->problem.u.lrn.n, each);
    }
    return dn_cuda_function(h, module, name, 0, &s->grid.f);
}

static dn_status packed_prepare(dn_handle *h, dn_plan *plan)
{
    lrn_packed_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    packed_params(&plan->problem, &s->params);
    return packed_grid(h, plan, s);
}

static dn_status packed_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const lrn_packed_state *s = plan->state;
    bool fwd = plan->problem.dir == DN_DIR_FWD;
    dn_lrn_packed params = s->params;
    params.out = a->ptr[fwd ? DN_Y : DN_DX];
    params.x = a->ptr[DN_X];
    params.dy = fwd ? NULL : a->ptr[DN_DY];
    params.alpha = (float)a->alpha;
    params.beta = (float)a->beta;
    return dn_cuda_launch(h, &s->grid, &params);
}

static const char nhwc[] = "channels innermost";  /* data of such rows */

static const char *nchw_f32(const dn_problem *p)
{
    return nchw_check(p, DN_F32);
}

static const char *nchw_f16(const dn_problem *p)
{
    return nchw_check(p, DN_F16);
}

static const char *nchw_bf16(const dn_problem *p)
{
    return nchw_check(p, DN_BF16);
}

static const char *nhwc_f32(const dn_problem *p)
{
    return nhwc_check(p, DN_F32);
}

static const char *nhwc_f16(const dn_problem *p)
{
    return nhwc_check(p, DN_F16);
}

static const char *nhwc_bf16(const dn_problem *p)
{
    return nhwc_check(p, DN_BF16);
}

static const dn_solver rows[] = {
    { .name = "cuda_lrn_fwd_nchw_f32", .op = DN_OP_LRN, .dir = DN_DIR_FWD, .algo = -1, .check = nchw_f32,
      .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release },
    { .name = "cuda_lrn_fwd_nchw_f16", .op = DN_OP_LRN, .dir = DN_DIR_FWD, .algo = -1, .check = nchw_f16,
      .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release },
    { .name = "cuda_lrn_fwd_nchw_bf16", .op = DN_OP_LRN, .dir = DN_DIR_FWD, .algo = -1, .check = nchw_bf16,
      .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release },
    { .name = "cuda_lrn_fwd_nhwc_f32", .op = DN_OP_LRN, .dir = DN_DIR_FWD, .algo = -1, .check = nhwc_f32,
      .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release, .data = nhwc },
    { .name = "cuda_lrn_fwd_nhwc_f16", .op = DN_OP_LRN, .dir = DN_DIR_FWD, .algo = -1, .check = nhwc_f16,
      .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release, .data = nhwc },
    { .name = "cuda_lrn_fwd_nhwc_bf16", .op = DN_OP_LRN, .dir = DN_DIR_FWD, .algo = -1, .check = nhwc_bf16,
      .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release, .data = nhwc },
    { .name = "cuda_lrn_fwd_naive", .op = DN_OP_LRN, .dir = DN_DIR_FWD, .algo = -1, .check = naive_check, .prepare = naive_prepare,
      .run = naive_run, .release = dn_cuda_release },
    { .name = "cuda_lrn_bwd_data_nchw_f32", .op = DN_OP_LRN, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = nchw_f32,
      .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release },
    { .name = "cuda_lrn_bwd_data_nchw_f16", .op = DN_OP_LRN, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = nchw_f16,
      .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release },
    { .name = "cuda_lrn_bwd_data_nchw_bf16", .op = DN_OP_LRN, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = nchw_bf16,
      .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release },
    { .name = "cuda_lrn_bwd_data_nhwc_f32", .op = DN_OP_LRN, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = nhwc_f32,
      .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release, .data = nhwc },
    { .name = "cuda_lrn_bwd_data_nhwc_f16", .op = DN_OP_LRN, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = nhwc_f16,
      .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release, .data = nhwc },
    { .name = "cuda_lrn_bwd_data_nhwc_bf16", .op = DN_OP_LRN, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = nhwc_bf16,
      .prepare = packed_prepare, .run = packed_run, .release = dn_cuda_release, .data = nhwc },
    { .name = "cuda_lrn_bwd_data_naive", .op = DN_OP_LRN, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = naive_check, .prepare = naive_prepare,
      .run = naive_run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_lrn = { rows, sizeof rows / sizeof rows[0] };
