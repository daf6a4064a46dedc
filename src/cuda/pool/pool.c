/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Pooling on the GPU. */
#include "cuda/pool/pool.h"

#include "cuda/naive.h"
#include "cuda/pool/pool_rows.h"
#include "cuda/rows.h"

#include <stdlib.h>

/* --- naive --- */
#define WINNERS ((int64_t)1 << 24)  /* of one launch: 128 MiB */

typedef struct naive_state {
    dn_cuda_grid winners, grid;
    dn_pool_naive params;
    int64_t planes, step;  /* in all, of one launch */
} naive_state;

/* t with dimensions of size 1 between the channel and the pooled ones. */
static void wide_view(dn_view *v, const dn_tensor *t)
{
    dn_view narrow;
    dn_view_of(&narrow, t, NULL);
    *v = narrow;
    for (int d = 2; d < DN_VIEW_RANK; d++) {
        int from = d - DN_VIEW_RANK + t->rank;
        v->stride[d] = from < 2 ? 0 : narrow.stride[from];
    }
}

static void naive_params(dn_pool_naive *k, const dn_problem *p)
{
    const dn_pool_param *q = &p->u.pool;
    const dn_tensor *x = &p->t[DN_X], *y = &p->t[DN_Y];
    bool fwd = p->dir == DN_DIR_FWD;
    wide_view(&k->x, x);
    wide_view(&k->y, y);
    wide_view(&k->dx, &p->t[fwd ? DN_X : DN_DX]);
    wide_view(&k->dy, &p->t[fwd ? DN_Y : DN_DY]);
    k->max = q->mode == 0 || q->mode == 3;
    k->count_pad = q->mode == 1;
    k->nan = q->nan;
    k->c = x->dims[1];
    k->in_plane = k->out_plane = 1;
    for (int d = 0; d < DN_POOL_AXES; d++) {
        int i = d - DN_POOL_AXES + q->spatial;
        dn_pool_axis *a = &k->axis[d];
        *a = (dn_pool_axis){ 1, 1, 1, 0, 1 };
        if (i >= 0)
            *a = (dn_pool_axis){ x->dims[2 + i], y->dims[2 + i], q->window[i], q->pad[i], q->stride[i] };
        k->in_plane *= a->in;
        k->out_plane *= a->out;
    }
}

static dn_status naive_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    bool fwd = p->dir == DN_DIR_FWD;
    naive_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_pool_naive *k = &s->params;
    naive_params(k, p);
    s->planes = s->step = p->t[DN_X].dims[0] * p->t[DN_X].dims[1];
    if (!fwd && k->max) {
        s->step = WINNERS / k->out_plane > 1 ? WINNERS / k->out_plane : 1;
        s->step = s->step < s->planes ? s->step : s->planes;
        dn_cuda_grid_loop(h, &s->winners, s->step * k->out_plane, 256, 4);
        dn_status st = dn_cuda_function(h, "cuda_pool_naive", "cuda_pool_bwd_data_naive_winner", 0, &s->winners.f);
        if (st != DN_SUCCESS)
            return st;
    }
    dn_cuda_grid_loop(h, &s->grid, s->step * (fwd ? k->out_plane : k->in_plane), 256, 4);
    return dn_cuda_function(h, "cuda_pool_naive", plan->solver->name, 0, &s->grid.f);
}

static dn_status naive_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const naive_state *s = plan->state;
    dn_pool_naive k = s->params;
    void *winner = NULL;
    dn_status st = DN_SUCCESS;
    dn_elements_bind(&k.x.e, a->ptr[DN_X]);
    dn_elements_bind(&k.y.e, a->ptr[DN_Y]);
    dn_elements_bind(&k.dx.e, a->ptr[DN_DX]);
    dn_elements_bind(&k.dy.e, a->ptr[DN_DY]);
    k.alpha = a->alpha;
    k.beta = a->beta;
    if (s->winners.f)
        st = dn_cuda_scratch(h, (size_t)(s->step * k.out_plane) * sizeof *k.winner, &winner);
    k.winner = winner;
    for (k.first = 0; k.first < s->planes && st == DN_SUCCESS; k.first += s->step) {
        k.planes = s->planes - k.first < s->step ? s->planes - k.first : s->step;
        if (s->winners.f)
            st = dn_cuda_launch(h, &s->winners, &k);
        if (st == DN_SUCCESS)
            st = dn_cuda_launch(h, &s->grid, &k);
    }
    return st;
}

static const char *naive_check(const dn_problem *p)
{
    return dn_ref_pool.rows[p->dir == DN_DIR_FWD ? 0 : 1].check(p);
}

/* --- tuned: pool_fast.c --- */
static const char *check_nhwc_f32(const dn_problem *p)
{
    return dn_pool_check_nhwc(p, DN_F32);
}

static const char *check_nhwc_f16(const dn_problem *p)
{
    return dn_pool_check_nhwc(p, DN_F16);
}

static const char *check_nhwc_bf16(const dn_problem *p)
{
    return dn_pool_check_nhwc(p, DN_BF16);
}

static const char *check_nchw_f32(const dn_problem *p)
{
    return dn_pool_check_nchw(p, DN_F32);
}

static const char *check_nchw_f16(const dn_problem *p)
{
    return dn_pool_check_nchw(p, DN_F16);
}

static const char *check_nchw_bf16(const dn_problem *p)
{
    return dn_pool_check_nchw(p, DN_BF16);
}

#define FAST(id, direction, layout, type) \
    { .name = id, .op = DN_OP_POOL, .dir = direction, .algo = -1, .check = check_##layout##_##type, .prepare = dn_pool_prepare_##layout, \
      .run = dn_pool_run_fast, .release = dn_cuda_release }

static const dn_solver rows[] = {
    FAST("cuda_pool_fwd_nhwc_f32", DN_DIR_FWD, nhwc, f32),
    FAST("cuda_pool_fwd_nhwc_f16", DN_DIR_FWD, nhwc, f16),
    FAST("cuda_pool_fwd_nhwc_bf16", DN_DIR_FWD, nhwc, bf16),
    FAST("cuda_pool_fwd_nchw_f32", DN_DIR_FWD, nchw, f32),
    FAST("cuda_pool_fwd_nchw_f16", DN_DIR_FWD, nchw, f16),
    FAST("cuda_pool_fwd_nchw_bf16", DN_DIR_FWD, nchw, bf16),
    FAST("cuda_pool_bwd_data_nhwc_f32", DN_DIR_BWD_DATA, nhwc, f32),
    FAST("cuda_pool_bwd_data_nhwc_f16", DN_DIR_BWD_DATA, nhwc, f16),
    FAST("cuda_pool_bwd_data_nhwc_bf16", DN_DIR_BWD_DATA, nhwc, bf16),
    FAST("cuda_pool_bwd_data_nchw_f32", DN_DIR_BWD_DATA, nchw, f32),
    FAST("cuda_pool_bwd_data_nchw_f16", DN_DIR_BWD_DATA, nchw, f16),
    FAST("cuda_pool_bwd_data_nchw_bf16", DN_DIR_BWD_DATA, nchw, bf16),
    { .name = "cuda_pool_fwd_naive", .op = DN_OP_POOL, .dir = DN_DIR_FWD, .algo = -1, .check = naive_check, .prepare = naive_prepare,
      .run = naive_run, .release = dn_cuda_release },
    { .name = "cuda_pool_bwd_data_naive", .op = DN_OP_POOL, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = naive_check,
      .prepare = naive_prepare, .run = naive_run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_pool = { rows, sizeof rows / sizeof rows[0] };
