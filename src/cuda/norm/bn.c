/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation on the GPU. */
#include "cuda/norm/bn.h"

#include "cuda/naive.h"
#include "cuda/norm/bn_rows.h"
#include "cuda/rows.h"
#include "ops/bn.h"

#include <stdlib.h>

_Static_assert((int)DN_BN_DBIAS == (int)DN_AUX_DBIAS && (int)DN_BN_SCALE == (int)DN_AUX_SCALE, "parameters are numbered as in dn_aux");

/* --- naive --- */
enum { BLOCK = 256, GROUP_LEAST = 64 };  /* kept elements of fewer reduced ones are one thread's */

typedef struct naive_state {
    dn_cuda_grid grid;
    dn_bn_naive params;
    dn_role role[DN_BN_MASK];
    bool masked;
} naive_state;

static void naive_walks(naive_state *s, const dn_problem *p)
{
    dn_tensor t[DN_BN_TENSORS + 1], kept[DN_BN_TENSORS + 1], reduced[DN_BN_TENSORS + 1];
    const dn_tensor *all_at[DN_BN_TENSORS + 1], *kept_at[DN_BN_TENSORS + 1], *reduced_at[DN_BN_TENSORS + 1];
    dn_iter it;
    for (int i = 0; i < DN_BN_MASK; i++) {
        t[i] = p->t[s->role[i]];
        s->params.e[i] = dn_elements_of(&t[i]);
    }
    dn_bn_mask(&p->t[DN_X], &t[DN_BN_MASK]);
    t[DN_BN_TENSORS] = p->t[DN_W];
    for (int i = 0; i <= DN_BN_TENSORS; i++) {
        kept[i] = dn_bn_part(&t[i], p->u.bn.mode, true);
        reduced[i] = dn_bn_part(&t[i], p->u.bn.mode, false);
        all_at[i] = &t[i];
        kept_at[i] = &kept[i];
        reduced_at[i] = &reduced[i];
    }
    dn_iter_init_any_order(&it, DN_BN_TENSORS + 1, p->dir == DN_DIR_INFER ? all_at : kept_at);
    dn_walk_of(&s->params.kept, &it);
    dn_iter_init_any_order(&it, DN_BN_TENSORS, reduced_at);
    dn_walk_of(&s->params.reduced, &it);
}

static dn_status naive_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    bool bwd = p->dir == DN_DIR_BWD;
    const dn_role roles[DN_BN_MASK] = { DN_X, bwd ? DN_DX : DN_Y, bwd ? DN_DY : DN_Z, DN_DZ };
    naive_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    for (int i = 0; i < DN_BN_MASK; i++)
        s->role[i] = p->t[roles[i]].rank ? roles[i] : DN_X;
    naive_walks(s, p);
    for (int i = 0; i < DN_BN_PARAMS; i++)
        s->params.param[i] = dn_elements_of(&p->t[DN_W]);
    s->masked = dn_bn_reserve_size(p) > 0;
    s->params.ops = p->u.bn.ops;
    s->params.act = (dn_act_fn){ p->u.bn.act.mode, p->u.bn.act.nan, p->u.bn.act.coef, p->u.bn.act.beta };
    bool grouped = p->dir != DN_DIR_INFER && s->params.reduced.count >= GROUP_LEAST;
    s->params.group = grouped ? BLOCK : 1;
    dn_cuda_grid_loop(h, &s->grid, s->params.kept.count * s->params.group, BLOCK, 4);
    return dn_cuda_function(h, "cuda_bn_naive", plan->solver->name, 0, &s->grid.f);
}

static dn_status naive_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const naive_state *s = plan->state;
    dn_bn_naive k = s->params;
    for (int i = 0; i < DN_BN_MASK; i++)
        dn_elements_bind(&k.e[i], a->ptr[s->role[i]]);
    for (int i = 0; i < DN_BN_PARAMS; i++)
        dn_elements_bind(&k.param[i], a->aux[i]);
    k.mask = s->masked ? a->reserve : NULL;
    k.eps = a->eps;
    k.factor = a->factor;
    k.alpha = a->alpha;
    k.beta = a->beta;
    k.alpha2 = a->alpha2;
    k.beta2 = a->beta2;
    return dn_cuda_launch(h, &s->grid, &k);
}

static const char *naive_check(const dn_problem *p)
{
    return dn_ref_bn.rows[p->dir == DN_DIR_INFER ? 0 : p->dir == DN_DIR_TRAIN ? 1 : 2].check(p);
}

/* --- tuned: bn_fast.c --- */
static const char *check_nchw_f32(const dn_problem *p)
{
    return dn_bn_check_nchw(p, DN_F32);
}

static const char *check_nchw_f16(const dn_problem *p)
{
    return dn_bn_check_nchw(p, DN_F16);
}

static const char *check_nchw_bf16(const dn_problem *p)
{
    return dn_bn_check_nchw(p, DN_BF16);
}

static const char *check_nhwc_f32(const dn_problem *p)
{
    return dn_bn_check_nhwc(p, DN_F32);
}

static const char *check_nhwc_f16(const dn_problem *p)
{
    return dn_bn_check_nhwc(p, DN_F16);
}

static const char *check_nhwc_bf16(const dn_problem *p)
{
    return dn_bn_check_nhwc(p, DN_BF16);
}

static const char *check_ring_f32(const dn_problem *p)
{
    return dn_bn_check_ring(p, DN_F32);
}

static const char *check_ring_f16(const dn_problem *p)
{
    return dn_bn_check_ring(p, DN_F16);
}

static const char *check_ring_bf16(const dn_problem *p)
{
    return dn_bn_check_ring(p, DN_BF16);
}

static const char *check_group_f32(const dn_problem *p)
{
    return dn_bn_check_group(p, DN_F32);
}

static const char *check_group_f16(const dn_problem *p)
{
    return dn_bn_check_group(p, DN_F16);
}

static const char *check_group_bf16(const dn_problem *p)
{
    return dn_bn_check_group(p, DN_BF16);
}

#define FAST(id, direction, layout, type) \
    { .name = id, .op = DN_OP_BN, .dir = direction, .algo = -1, .check = check_##layout##_##type, .prepare = dn_bn_prepare_##layout, \
      .run = dn_bn_run_fast, .release = dn_cuda_release }

#define HELD(id, direction, form, type) \
    { .name = id, .op = DN_OP_BN, .dir = direction, .algo = -1, .check = check_##form##_##type, .prepare = dn_bn_prepare_##form, \
      .run = dn_bn_run_held, .release = dn_cuda_release }

static const dn_solver rows[] = {
    HELD("cuda_bn_train_group_nchw_f32", DN_DIR_TRAIN, group, f32),
    HELD("cuda_bn_train_group_nchw_f16", DN_DIR_TRAIN, group, f16),
    HELD("cuda_bn_train_group_nchw_bf16", DN_DIR_TRAIN, group, bf16),
    HELD("cuda_bn_bwd_group_nchw_f32", DN_DIR_BWD, group, f32),
    HELD("cuda_bn_bwd_group_nchw_f16", DN_DIR_BWD, group, f16),
    HELD("cuda_bn_bwd_group_nchw_bf16", DN_DIR_BWD, group, bf16),
    HELD("cuda_bn_train_ring_nchw_f32_sm90", DN_DIR_TRAIN, ring, f32),
    HELD("cuda_bn_train_ring_nchw_f16_sm90", DN_DIR_TRAIN, ring, f16),
    HELD("cuda_bn_train_ring_nchw_bf16_sm90", DN_DIR_TRAIN, ring, bf16),
    HELD("cuda_bn_bwd_ring_nchw_f32_sm90", DN_DIR_BWD, ring, f32),
    HELD("cuda_bn_bwd_ring_nchw_f16_sm90", DN_DIR_BWD, ring, f16),
    HELD("cuda_bn_bwd_ring_nchw_bf16_sm90", DN_DIR_BWD, ring, bf16),
    FAST("cuda_bn_infer_nchw_f32", DN_DIR_INFER, nchw, f32),
    FAST("cuda_bn_infer_nchw_f16", DN_DIR_INFER, nchw, f16),
    FAST("cuda_bn_infer_nchw_bf16", DN_DIR_INFER, nchw, bf16),
    FAST("cuda_bn_infer_nhwc_f32", DN_DIR_INFER, nhwc, f32),
    FAST("cuda_bn_infer_nhwc_f16", DN_DIR_INFER, nhwc, f16),
    FAST("cuda_bn_infer_nhwc_bf16", DN_DIR_INFER, nhwc, bf16),
    FAST("cuda_bn_train_nchw_f32", DN_DIR_TRAIN, nchw, f32),
    FAST("cuda_bn_train_nchw_f16", DN_DIR_TRAIN, nchw, f16),
    FAST("cuda_bn_train_nchw_bf16", DN_DIR_TRAIN, nchw, bf16),
    FAST("cuda_bn_train_nhwc_f32", DN_DIR_TRAIN, nhwc, f32),
    FAST("cuda_bn_train_nhwc_f16", DN_DIR_TRAIN, nhwc, f16),
    FAST("cuda_bn_train_nhwc_bf16", DN_DIR_TRAIN, nhwc, bf16),
    FAST("cuda_bn_bwd_nchw_f32", DN_DIR_BWD, nchw, f32),
    FAST("cuda_bn_bwd_nchw_f16", DN_DIR_BWD, nchw, f16),
    FAST("cuda_bn_bwd_nchw_bf16", DN_DIR_BWD, nchw, bf16),
    FAST("cuda_bn_bwd_nhwc_f32", DN_DIR_BWD, nhwc, f32),
    FAST("cuda_bn_bwd_nhwc_f16", DN_DIR_BWD, nhwc, f16),
    FAST("cuda_bn_bwd_nhwc_bf16", DN_DIR_BWD, nhwc, bf16),
    { .name = "cuda_bn_infer_naive", .op = DN_OP_BN, .dir = DN_DIR_INFER, .algo = -1, .check = naive_check, .prepare = naive_prepare,
      .run = naive_run, .release = dn_cuda_release },
    { .name = "cuda_bn_train_naive", .op = DN_OP_BN, .dir = DN_DIR_TRAIN, .algo = -1, .check = naive_check, .prepare = naive_prepare,
      .run = naive_run, .release = dn_cuda_release },
    { .name = "cuda_bn_bwd_naive", .op = DN_OP_BN, .dir = DN_DIR_BWD, .algo = -1, .check = naive_check, .prepare = naive_prepare,
      .run = naive_run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_bn = { rows, sizeof rows / sizeof rows[0] };
