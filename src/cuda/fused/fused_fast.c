/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Launchers of the tuned rows: places x channels without gaps, the channels whole vectors of 16 bytes. */
#include "cuda/fused/fused_rows.h"

#include "cuda/flat.h"
#include "cuda/fused/fused.h"
#include "ops/fused.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 256, VECTORS = 4, FINAL = 256 };  /* VECTORS: of a thread */

static const dn_aux arrays[DN_SBA_ARRAYS] = { DN_AUX_SCALE, DN_AUX_BIAS, DN_AUX_SCALE2, DN_AUX_BIAS2 };

/* --- what they take --- */

/* Channels innermost; of one place the two packings are one. */
static bool is_rows(const dn_tensor *t)
{
    return dn_tensor_is_packed_nhwc(t) || (dn_fused_places(t) == t->dims[0] && dn_tensor_is_packed(t));
}

static const char *check_data(const dn_problem *p, dn_role r, dn_dtype type)
{
    const dn_tensor *t = &p->t[r];
    if (t->type != type)
        return "needs data of the type in its name";
    if (!is_rows(t))
        return "needs tensors packed as NHWC";
    if (p->align[r] < 16)
        return "needs pointers aligned to 16 bytes";
    if (t->dims[1] % (16 / (int)dn_dtype_size(type)) != 0)
        return "needs as many channels that they fill vectors of 16 bytes";
    return dn_tensor_count(t) < (int64_t)1 << 31 ? NULL : "needs fewer than 2^31 elements";
}

static const char *check_arrays(const dn_problem *p, dn_dtype type)
{
    const dn_tensor *w = &p->t[DN_W];
    if (w->type != type && w->type != DN_F32)
        return "needs scale and bias of the data's type or f32";
    if (dn_tensor_count(w) != w->dims[1] || w->dims[1] != p->t[DN_X].dims[1])
        return "needs a scale and bias by channel";
    if (w->dims[1] > 1 && w->strides[1] != 1)
        return "needs packed scale and bias";
    return p->align[DN_W] == 16 ? NULL : "needs pointers aligned to 16 bytes";
}

static const char *sba_check(const dn_problem *p, dn_dtype type)
{
    bool fwd = p->dir == DN_DIR_FWD;
    const dn_role roles[] = { fwd ? DN_X : DN_DY, fwd ? DN_Y : DN_DX, DN_Z };
    const dn_tensor *x = &p->t[roles[0]];
    int mode = p->u.fused.act.mode;
    const char *why = NULL;
    for (int i = 0; i < 3 && !why; i++)
        if (p->t[roles[i]].rank)
            why = check_data(p, roles[i], type);
    if (!why && fwd && dn_sba_has_arrays(&p->u.fused))
        why = check_arrays(p, type);
    if (!why && fwd && mode != DN_ACT_RELU && mode != DN_ACT_CLIPPED_RELU && mode != DN_ACT_IDENTITY)
        why = "needs activation relu, clipped relu or identity";
    if (!why && p->t[DN_B].rank && p->align[DN_B] < 16)
        why = "needs pointers aligned to 16 bytes";
    if (!why && p->t[DN_B].rank && dn_mask_pairs(x) * dn_mask_slabs(x) * DN_MASK_UNIT >= (int64_t)1 << 31)
        why = "needs fewer than 2^31 elements";
    return why;
}

const char *dn_sba_check_f32(const dn_problem *p)
{
    return sba_check(p, DN_F32);
}

const char *dn_sba_check_f16(const dn_problem *p)
{
    return sba_check(p, DN_F16);
}

const char *dn_sba_check_bf16(const dn_problem *p)
{
    return sba_check(p, DN_BF16);
}

static const char *stats_check(const dn_problem *p, dn_dtype type)
{
    const dn_tensor *w = &p->t[DN_W];
    const char *why = check_data(p, DN_X, type);
    if (!why && (w->type != DN_F32 || p->align[DN_W] < 4 || (w->dims[1] > 1 && w->strides[1] != 1)))
        why = "needs packed statistics of f32, aligned to 4 bytes";
    if (!why && dn_tensor_count(w) != p->t[DN_X].dims[1])
        why = "needs statistics by channel";
    return why;
}

const char *dn_stats_check_f32(const dn_problem *p)
{
    return stats_check(p, DN_F32);
}

const char *dn_stats_check_f16(const dn_problem *p)
{
    return stats_check(p, DN_F16);
}

const char *dn_stats_check_bf16(const dn_problem *p)
{
    return stats_check(p, DN_BF16);
}

/* --- scale, bias, add, activation --- */
typedef struct sba_state {
    dn_cuda_grid grid;
    dn_sba_nhwc params;
} sba_state;

static void grid_line(dn_cuda_grid *g, int64_t blocks, int64_t across, unsigned threads)
{
    g->grid[0] = (unsigned)blocks;
    g->grid[1] = (unsigned)across;
    g->grid[2] = g->block[1] = g->block[2] = 1;
    g->block[0] = threads;
}

dn_status dn_sba_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    const dn_tensor *x = &p->t[p->dir == DN_DIR_FWD ? DN_X : DN_DY];
    const dn_act_param *act = &p->u.fused.act;
    int vector = 16 / (int)dn_dtype_size((dn_dtype)x->type);
    sba_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_sba_nhwc *k = &s->params;
    bool masked = p->t[DN_B].rank > 0;
    k->places = (unsigned)dn_fused_places(x);
    k->channels = (int)x->dims[1];
    k->pairs = (unsigned)dn_mask_pairs(x);
    k->count = (unsigned)((masked ? dn_mask_pairs(x) * dn_mask_slabs(x) * DN_MASK_UNIT : dn_tensor_count(x)) / vector);
    k->line = dn_div_by((unsigned)(masked ? dn_mask_slabs(x) : x->dims[1] / vector));
    k->wide = p->t[DN_W].type == DN_F32;
    k->mode = act->mode;
    k->nan = act->nan;
    k->ceiling = act->mode == DN_ACT_CLIPPED_RELU ? (float)act->coef : INFINITY;
    grid_line(&s->grid, ((int64_t)k->count + BLOCK * VECTORS - 1) / (BLOCK * VECTORS), 1, BLOCK);
    return dn_cuda_function(h, plan->solver->name, plan->solver->name, 0, &s->grid.f);
}

dn_status dn_sba_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const sba_state *s = plan->state;
    const dn_problem *p = &plan->problem;
    bool fwd = p->dir == DN_DIR_FWD;
    dn_sba_nhwc k = s->params;
    k.x = a->ptr[fwd ? DN_X : DN_DY];
    k.y = a->ptr[fwd ? DN_Y : DN_DX];
    k.z = fwd && p->t[DN_Z].rank ? a->ptr[DN_Z] : NULL;
    k.mask = p->t[DN_B].rank ? a->ptr[DN_B] : NULL;
    for (int i = 0; fwd && i < DN_SBA_ARRAYS; i++)
        k.array[i] = dn_fused_has(p, arrays[i]) ? a->aux[arrays[i]] : NULL;
    return dn_cuda_launch(h, &s->grid, &k);
}

/* --- statistics --- */
typedef struct stats_state {
    dn_cuda_grid stat, final;
    dn_stats_nhwc params;
    size_t scratch;
} stats_state;

dn_status dn_stats_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    const dn_tensor *x = &p->t[DN_X];
    char name[80];
    void *unused;
    stats_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    dn_stats_nhwc *k = &s->params;
    int64_t across = x->dims[1] / (16 / (int)dn_dtype_size((dn_dtype)x->type));
    k->rows = (int)dn_fused_places(x);
    k->channels = (int)x->dims[1];
    k->span = across < 32 ? (int)across : 32;
    int64_t columns = (across + k->span - 1) / k->span, down = BLOCK / k->span;
    int64_t wanted = ((int64_t)dn_cuda_device_of(h)->sm_count * 4 + columns - 1) / columns, work = k->rows / (down * VECTORS);
    k->s = (int)(work < 1 ? 1 : work < wanted ? work : wanted);
    grid_line(&s->stat, k->s, columns, (unsigned)(down * k->span));
    grid_line(&s->final, (k->channels + FINAL / 32 - 1) / (FINAL / 32), 1, FINAL);
    s->scratch = sizeof(float) * 2 * (size_t)k->channels * (size_t)k->s;
    dn_status st = dn_cuda_function(h, plan->solver->name, plan->solver->name, 0, &s->stat.f);
    snprintf(name, sizeof name, "%.60s_final", plan->solver->name);
    if (st == DN_SUCCESS)
        st = dn_cuda_function(h, plan->solver->name, name, 0, &s->final.f);
    return st == DN_SUCCESS ? dn_cuda_scratch(h, s->scratch, &unused) : st;
}

dn_status dn_stats_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const stats_state *s = plan->state;
    const dn_fused_param *u = &plan->problem.u.fused;
    dn_stats_nhwc k = s->params;
    void *scratch;
    dn_status st = dn_cuda_scratch(h, s->scratch, &scratch);
    if (st != DN_SUCCESS)
        return st;
    k.x = a->ptr[DN_X];
    k.sum = u->sum ? a->aux[DN_AUX_SUM] : NULL;
    k.sq = u->sqsum ? a->aux[DN_AUX_SQSUM] : NULL;
    k.part = scratch;
    st = dn_cuda_launch(h, &s->stat, &k);
    return st == DN_SUCCESS ? dn_cuda_launch(h, &s->final, &k) : st;
}
