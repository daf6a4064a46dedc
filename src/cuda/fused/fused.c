/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The fused operations' own steps on the GPU, for any type and layout; fused_fast.c has the tuned rows. */
#include "cuda/fused/fused.h"

#include "cuda/fused/fused_rows.h"
#include "cuda/naive.h"
#include "cuda/rows.h"
#include "cuda/team.h"
#include "ops/bn.h"
#include "ops/fused.h"

#include <stdlib.h>

enum { BLOCK = 256 };

static const dn_aux sba_arrays[DN_SBA_ARRAYS] = { DN_AUX_SCALE, DN_AUX_BIAS, DN_AUX_SCALE2, DN_AUX_BIAS2 };

static void *state_of(dn_plan *plan, size_t size)
{
    plan->state = calloc(1, size);
    if (!plan->state)
        dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    return plan->state;
}

/* --- scale, bias, add, activation --- */
typedef struct sba_state {
    dn_cuda_grid grid;
    dn_sba_naive params;
    dn_role role[DN_SBA_TENSORS];
} sba_state;

static void sba_mask(dn_sba_naive *k, const dn_problem *p, const dn_tensor *x)
{
    k->mask = dn_elements_of(&p->t[DN_B]);
    k->pairs = dn_mask_pairs(x);
    k->channels = (int)x->dims[1];
    k->slabs = (int)dn_mask_slabs(x);
}

static dn_status sba_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    bool fwd = p->dir == DN_DIR_FWD, masked = p->t[DN_B].rank > 0;
    const dn_role roles[DN_SBA_TENSORS] = { fwd ? DN_X : DN_DY, fwd ? DN_Y : DN_DX, DN_Z, DN_W };
    sba_state *s = state_of(plan, sizeof *s);
    if (!s)
        return DN_ALLOC_FAILED;
    dn_sba_naive *k = &s->params;
    dn_tensor part[DN_SBA_TENSORS];
    const dn_tensor *at[DN_SBA_TENSORS];
    for (int i = 0; i < DN_SBA_TENSORS; i++) {
        s->role[i] = p->t[roles[i]].rank ? roles[i] : roles[0];
        const dn_tensor *t = &p->t[s->role[i]];
        if (i < DN_SBA_W)
            k->e[i] = dn_elements_of(t);
        k->channel[i] = t->dims[1] > 1 ? t->strides[1] : 0;
        part[i] = dn_bn_part(t, DN_BN_SPATIAL, false);
        at[i] = masked ? &part[i] : t;
    }
    for (int i = 0; i < DN_SBA_ARRAYS; i++)
        k->array[i] = dn_elements_of(&p->t[s->role[DN_SBA_W]]);
    dn_iter it;
    if (masked) {
        dn_iter_init(&it, DN_SBA_TENSORS, at);
        sba_mask(k, p, &p->t[roles[0]]);
    } else {
        dn_iter_init_any_order(&it, DN_SBA_TENSORS, at);
    }
    dn_walk_of(&k->walk, &it);
    k->added = p->t[DN_Z].rank > 0;
    k->fn = (dn_act_fn){ p->u.fused.act.mode, p->u.fused.act.nan, p->u.fused.act.coef, p->u.fused.act.beta };
    dn_cuda_grid_loop(h, &s->grid, masked ? k->pairs * k->slabs * DN_MASK_WORDS : k->walk.count, BLOCK, 4);
    return dn_cuda_function(h, "cuda_fused_naive", plan->solver->name, 0, &s->grid.f);
}

static dn_status sba_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const sba_state *s = plan->state;
    const dn_problem *p = &plan->problem;
    dn_sba_naive k = s->params;
    for (int i = 0; i < DN_SBA_W; i++)
        dn_elements_bind(&k.e[i], a->ptr[s->role[i]]);
    for (int i = 0; i < DN_SBA_ARRAYS; i++)
        dn_elements_bind(&k.array[i], p->dir == DN_DIR_FWD && dn_fused_has(p, sba_arrays[i]) ? a->aux[sba_arrays[i]] : NULL);
    if (p->t[DN_B].rank)
        dn_elements_bind(&k.mask, a->ptr[DN_B]);
    return dn_cuda_launch(h, &s->grid, &k);
}

/* --- statistics --- */
typedef struct stats_state {
    dn_cuda_grid grid;
    dn_stats_naive params;
} stats_state;

static dn_status stats_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    int mode = dn_fused_mode(&p->t[DN_W]);
    stats_state *s = state_of(plan, sizeof *s);
    if (!s)
        return DN_ALLOC_FAILED;
    dn_stats_naive *k = &s->params;
    dn_tensor kept[2] = { dn_bn_part(&p->t[DN_X], mode, true), dn_bn_part(&p->t[DN_W], mode, true) };
    dn_tensor reduced = dn_bn_part(&p->t[DN_X], mode, false);
    const dn_tensor *const kept_at[] = { &kept[0], &kept[1] }, *const reduced_at[] = { &reduced };
    dn_iter it;
    dn_iter_init_any_order(&it, 2, kept_at);
    dn_walk_of(&k->kept, &it);
    dn_iter_init_any_order(&it, 1, reduced_at);
    dn_walk_of(&k->reduced, &it);
    k->x = dn_elements_of(&p->t[DN_X]);
    k->sum = k->sq = dn_elements_of(&p->t[DN_W]);
    k->team = dn_team_of(&k->kept, &k->reduced, 0);
    dn_cuda_grid_loop(h, &s->grid, k->kept.count * k->team, DN_TEAM_BLOCK, 4);
    return dn_cuda_function(h, "cuda_fused_naive", plan->solver->name, 0, &s->grid.f);
}

static dn_status stats_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const stats_state *s = plan->state;
    dn_stats_naive k = s->params;
    dn_elements_bind(&k.x, a->ptr[DN_X]);
    dn_elements_bind(&k.sum, plan->problem.u.fused.sum ? a->aux[DN_AUX_SUM] : NULL);
    dn_elements_bind(&k.sq, plan->problem.u.fused.sqsum ? a->aux[DN_AUX_SQSUM] : NULL);
    return dn_cuda_launch(h, &s->grid, &k);
}

/* --- the final step --- */
static const dn_aux final_arrays[DN_FINAL_ARRAYS] = { DN_AUX_SUM, DN_AUX_SQSUM, DN_AUX_SCALE, DN_AUX_BIAS, DN_AUX_MEAN, DN_AUX_VAR,
                                                      DN_AUX_SAVE_MEAN, DN_AUX_SAVE_INVSTD, DN_AUX_SCALE2, DN_AUX_BIAS2 };

typedef struct final_state {
    dn_cuda_grid grid;
    dn_final_naive params;
} final_state;

static dn_status final_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    dn_role b = p->t[DN_B].rank ? DN_B : DN_W;
    const dn_tensor *const t[] = { &p->t[DN_W], &p->t[b] };
    final_state *s = state_of(plan, sizeof *s);
    if (!s)
        return DN_ALLOC_FAILED;
    dn_iter it;
    dn_iter_init_any_order(&it, 2, t);
    dn_walk_of(&s->params.walk, &it);
    for (int i = 0; i < DN_FINAL_ARRAYS; i++)
        s->params.array[i] = dn_elements_of(&p->t[i < DN_FINAL_SCALE2 ? DN_W : b]);
    dn_cuda_grid_loop(h, &s->grid, s->params.walk.count, BLOCK, 4);
    return dn_cuda_function(h, "cuda_fused_naive", plan->solver->name, 0, &s->grid.f);
}

static dn_status final_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const final_state *s = plan->state;
    dn_final_naive k = s->params;
    for (int i = 0; i < DN_FINAL_ARRAYS; i++)
        dn_elements_bind(&k.array[i], dn_fused_has(&plan->problem, final_arrays[i]) ? a->aux[final_arrays[i]] : NULL);
    k.m = (double)a->count;
    k.eps = a->eps;
    k.factor = a->factor;
    return dn_cuda_launch(h, &s->grid, &k);
}

static const char *check(const dn_problem *p)
{
    (void)p;
    return NULL;
}

#define NAIVE(id, operation, direction, part) \
    { .name = id, .op = operation, .dir = direction, .algo = -1, .check = check, .prepare = part##_prepare, .run = part##_run, \
      .release = dn_cuda_release }

static const dn_solver rows[] = {
    DN_FUSED_FAST("cuda_sba_fwd_nhwc_f32", DN_OP_SBA, DN_DIR_FWD, sba, f32),
    DN_FUSED_FAST("cuda_sba_fwd_nhwc_f16", DN_OP_SBA, DN_DIR_FWD, sba, f16),
    DN_FUSED_FAST("cuda_sba_fwd_nhwc_bf16", DN_OP_SBA, DN_DIR_FWD, sba, bf16),
    DN_FUSED_FAST("cuda_sba_bwd_data_nhwc_f32", DN_OP_SBA, DN_DIR_BWD_DATA, sba, f32),
    DN_FUSED_FAST("cuda_sba_bwd_data_nhwc_f16", DN_OP_SBA, DN_DIR_BWD_DATA, sba, f16),
    DN_FUSED_FAST("cuda_sba_bwd_data_nhwc_bf16", DN_OP_SBA, DN_DIR_BWD_DATA, sba, bf16),
    DN_FUSED_FAST("cuda_stats_fwd_nhwc_f32", DN_OP_STATS, DN_DIR_FWD, stats, f32),
    DN_FUSED_FAST("cuda_stats_fwd_nhwc_f16", DN_OP_STATS, DN_DIR_FWD, stats, f16),
    DN_FUSED_FAST("cuda_stats_fwd_nhwc_bf16", DN_OP_STATS, DN_DIR_FWD, stats, bf16),
    NAIVE("cuda_sba_fwd_naive", DN_OP_SBA, DN_DIR_FWD, sba),
    NAIVE("cuda_sba_bwd_data_naive", DN_OP_SBA, DN_DIR_BWD_DATA, sba),
    NAIVE("cuda_stats_fwd_naive", DN_OP_STATS, DN_DIR_FWD, stats),
    NAIVE("cuda_bnfinal_train_naive", DN_OP_BN_FINAL, DN_DIR_TRAIN, final),
    NAIVE("cuda_bnfinal_infer_naive", DN_OP_BN_FINAL, DN_DIR_INFER, final),
};

const dn_rows dn_cuda_fused = { rows, sizeof rows / sizeof rows[0] };
