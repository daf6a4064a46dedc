/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Launchers of the tuned batch normalisation kernels. What they take is NCHW or NHWC without gaps, or folds to it: with one spatial place
 * the two are the same, and per activation NCHW is N rows of C x H x W kept elements. */
#include "cuda/norm/bn_rows.h"

#include "cuda/flat.h"
#include "ops/bn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAT_NCHW = 512, APPLY_NCHW = 256, BLOCK_NHWC = 256, FINAL = 256, WARPS_FINAL = FINAL / 32,
       COLUMNS_MAX = 65535, SPAN_LEAST = 16 };  /* blocks across, and vectors across a block where there are more than 32 */

typedef struct fast_state {
    dn_cuda_grid stat, final, apply;
    dn_cuda_grid first_stat, first_final;  /* of the batch, where the gradient is given no statistics */
    dn_bn_fast params;
    size_t scratch;
    bool masked;
} fast_state;

/* --- what they take --- */

static int vector_of(const dn_problem *p)
{
    return p->t[DN_X].type == DN_F32 ? 4 : 8;
}

/* n x c x hw, or rows x c, of p's data. */
typedef struct fold {
    int64_t n, c, hw;
} fold;

static fold nchw_of(const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X];
    fold f = { x->dims[0], x->dims[1], 1 };
    for (int d = 2; d < x->rank; d++)
        f.hw *= x->dims[d];
    if (f.c == 1)
        f = (fold){ 1, 1, f.n * f.hw };
    return f;
}

static fold nhwc_of(const dn_problem *p)
{
    fold f = nchw_of(p);
    if (p->u.bn.mode == DN_BN_PER_ACTIVATION)
        return (fold){ p->t[DN_X].dims[0], dn_tensor_count(&p->t[DN_W]), 1 };
    return (fold){ f.n * f.hw, f.c, 1 };
}

/* Rows of nhwc_of(p) that together are whole vectors. */
static int repeat_of(const dn_problem *p)
{
    int r = 1;
    while (r * nhwc_of(p).c % vector_of(p) != 0)
        r *= 2;
    return r;
}

static const char *check_data(const dn_problem *p, bool (*packed)(const dn_tensor *t))
{
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        const dn_tensor *t = &p->t[r];
        if (!t->rank || r == DN_W)
            continue;
        if (!packed(t))
            return packed == dn_tensor_is_packed ? "needs tensors packed as NCHW" : "needs tensors packed as NHWC";
        if (p->align[r] < 16)
            return "needs pointers aligned to 16 bytes";
    }
    return NULL;
}

static const char *check_common(const dn_problem *p, dn_dtype type)
{
    if (p->t[DN_X].type != type)
        return "needs the type in its name";
    if (p->align[DN_W] < 4)
        return "needs parameters aligned to 4 bytes";
    if (!dn_tensor_is_packed(&p->t[DN_W]))
        return "needs packed parameters";
    if (p->u.bn.ops && p->u.bn.act.mode != DN_ACT_RELU && p->u.bn.act.mode != DN_ACT_CLIPPED_RELU)
        return "needs activation relu or clipped relu";
    return NULL;
}

const char *dn_bn_check_nchw(const dn_problem *p, dn_dtype type)
{
    const char *why = check_common(p, type);
    if (!why && p->u.bn.mode == DN_BN_PER_ACTIVATION)
        why = "needs a spatial mode";
    if (!why)
        why = check_data(p, dn_tensor_is_packed);
    if (!why && dn_tensor_count(&p->t[DN_X]) >= (int64_t)1 << 31)
        why = "needs fewer than 2^31 elements";
    return why;
}

const char *dn_bn_check_nhwc(const dn_problem *p, dn_dtype type)
{
    const char *why = check_common(p, type);
    bool per_activation = p->u.bn.mode == DN_BN_PER_ACTIVATION, flat = nchw_of(p).hw == 1;
    if (!why)
        why = check_data(p, per_activation || flat ? dn_tensor_is_packed : dn_tensor_is_packed_nhwc);
    if (!why && nhwc_of(p).n % repeat_of(p) != 0)
        why = "needs as many rows that the kept elements of some fill vectors";
    if (!why && nhwc_of(p).c * repeat_of(p) / vector_of(p) > COLUMNS_MAX * SPAN_LEAST)
        why = "needs fewer kept elements";
    if (!why && nhwc_of(p).n >= (int64_t)1 << 30)
        why = "needs fewer than 2^30 rows";
    return why;
}

/* --- plans --- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void grid_line(dn_cuda_grid *g, int64_t blocks, int64_t across, unsigned threads)
{
    g->grid[0] = (unsigned)blocks;
    g->grid[1] = (unsigned)across;
    g->grid[2] = g->block[1] = g->block[2] = 1;
    g->block[0] = threads;
}

static void shape_nchw(const dn_handle *h, fast_state *s, const dn_problem *p)
{
    dn_bn_fast *k = &s->params;
    fold f = nchw_of(p);
    int vn = vector_of(p), unroll = p->dir == DN_DIR_BWD ? 2 : 4;
    bool whole = f.hw % vn == 0;
    k->n = (int)f.n;
    k->c = k->row = (int)f.c;
    k->hw = k->first = (int)f.hw;
    k->image = f.c * f.hw;
    k->vectors = (unsigned)((k->count + vn - 1) / vn);
    k->partial = k->count % vn ? k->vectors - 1 : ~0u;
    k->plane = dn_div_by((unsigned)(whole ? f.hw / vn : f.hw));
    k->channel = dn_div_by((unsigned)f.c);
    k->span = (int)(whole ? f.hw / vn : (f.hw + 2 * vn - 2) / vn);
    int64_t wanted = ((int64_t)dn_cuda_device_of(h)->sm_count * 12 + f.c - 1) / f.c, work = f.n * k->span / (STAT_NCHW * 4);
    k->s = (int)least(wanted, work > 0 ? work : 1);
    grid_line(&s->stat, f.c * k->s, 1, STAT_NCHW);
    grid_line(&s->apply, ((int64_t)k->vectors + APPLY_NCHW * unroll - 1) / (APPLY_NCHW * unroll), 1, APPLY_NCHW);
}

/* Vectors across a block: all of a row, or the width up to 32 that leaves fewest idle. */
static int span_of(int64_t across)
{
    int best = 32;
    if (across <= 32)
        return (int)across;
    for (int w = 31; w >= SPAN_LEAST; w--)
        if ((across + w - 1) / w * w < (across + best - 1) / best * best)
            best = w;
    return best;
}

static void shape_nhwc(const dn_handle *h, fast_state *s, const dn_problem *p)
{
    dn_bn_fast *k = &s->params;
    fold f = nhwc_of(p);
    int repeat = repeat_of(p);
    int64_t across = f.c * repeat / vector_of(p);
    f.n /= repeat;
    k->rows = (int)f.n;
    k->c = (int)f.c;
    k->row = k->c * repeat;
    k->first = k->hw = 1;
    k->span = span_of(across);
    int64_t columns = (across + k->span - 1) / k->span, down = BLOCK_NHWC / k->span;
    int64_t wanted = ((int64_t)dn_cuda_device_of(h)->sm_count * (p->dir == DN_DIR_BWD ? 2 : 3) + columns - 1) / columns, work = f.n / (down * 4);
    k->s = (int)least(wanted, work > 0 ? work : 1);
    grid_line(&s->stat, k->s, columns, (unsigned)(down * k->span));
    s->apply = s->stat;
}

static dn_status function(dn_handle *h, const char *module, const char *part, dn_cuda_grid *g)
{
    char name[80];
    snprintf(name, sizeof name, "%.48s%.16s", module, part);
    return dn_cuda_function(h, module, name, 0, &g->f);
}

/* The kernels of the statistics; of the gradient's row also those of its training twin. */
static dn_status stat_functions(dn_handle *h, fast_state *s, const char *module, bool nchw, bool bwd)
{
    char twin[80];
    const char *stat = nchw && s->params.plane.by == (unsigned)s->params.hw ? "_stat_odd" : "_stat";
    grid_line(&s->final, (s->params.c + WARPS_FINAL - 1) / WARPS_FINAL, 1, FINAL);
    dn_status st = function(h, module, stat, &s->stat);
    if (st == DN_SUCCESS)
        st = function(h, module, "_final", &s->final);
    if (st != DN_SUCCESS || !bwd)
        return st;
    snprintf(twin, sizeof twin, "cuda_bn_train%.48s", module + strlen("cuda_bn_bwd"));
    s->first_stat = s->stat;
    s->first_final = s->final;
    st = function(h, twin, stat, &s->first_stat);
    return st == DN_SUCCESS ? function(h, twin, "_final", &s->first_final) : st;
}

static dn_status prepare(dn_handle *h, dn_plan *plan, bool nchw)
{
    const dn_problem *p = &plan->problem;
    const char *module = plan->solver->name;
    void *unused;
    fast_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", module);
    plan->state = s;
    dn_bn_fast *k = &s->params;
    k->count = dn_tensor_count(&p->t[DN_X]);
    k->ops = p->u.bn.ops;
    k->nan = p->u.bn.act.nan;
    k->ceiling = p->u.bn.act.mode == DN_ACT_CLIPPED_RELU ? (float)p->u.bn.act.coef : INFINITY;
    s->masked = dn_bn_reserve_size(p) > 0;
    if (nchw)
        shape_nchw(h, s, p);
    else
        shape_nhwc(h, s, p);
    k->m = (double)(k->count / k->c);
    dn_status st = function(h, module, p->dir != DN_DIR_BWD && k->ops == 2 ? "_add" : "", &s->apply);
    if (st != DN_SUCCESS || p->dir == DN_DIR_INFER)
        return st;
    /* Constants, partial sums, and mean and inverse deviation where the caller has none. */
    s->scratch = sizeof(float) * ((size_t)k->c * (4 + 2) + (size_t)k->row * 2 * (size_t)k->s);
    st = stat_functions(h, s, module, nchw, p->dir == DN_DIR_BWD);
    return st == DN_SUCCESS ? dn_cuda_scratch(h, s->scratch, &unused) : st;
}

dn_status dn_bn_prepare_nchw(dn_handle *h, dn_plan *plan)
{
    return prepare(h, plan, true);
}

dn_status dn_bn_prepare_nhwc(dn_handle *h, dn_plan *plan)
{
    return prepare(h, plan, false);
}

/* --- runs --- */

static void bind(dn_bn_fast *k, const dn_problem *p, const dn_args *a, bool masked)
{
    bool bwd = p->dir == DN_DIR_BWD;
    k->x = a->ptr[DN_X];
    k->out = a->ptr[bwd ? DN_DX : DN_Y];
    k->in = a->ptr[bwd ? DN_DY : DN_Z];
    k->dz = a->ptr[DN_DZ];
    k->mask = masked ? a->reserve : NULL;
    k->mask_wide = (uintptr_t)a->reserve % 8 == 0;
    k->scale = a->aux[DN_AUX_SCALE];
    k->bias = a->aux[DN_AUX_BIAS];
    k->mean = a->aux[DN_AUX_MEAN];
    k->var = a->aux[DN_AUX_VAR];
    k->save_mean = a->aux[DN_AUX_SAVE_MEAN];
    k->save_inv = a->aux[DN_AUX_SAVE_INVSTD];
    k->dscale = a->aux[DN_AUX_DSCALE];
    k->dbias = a->aux[DN_AUX_DBIAS];
    k->eps = a->eps;
    k->factor = a->factor;
    k->alpha = (float)a->alpha;
    k->beta = (float)a->beta;
    k->alpha2 = a->alpha2;
    k->beta2 = a->beta2;
}

/* Mean and inverse deviation of the batch into scratch, for a gradient that was given none. */
static dn_status batch_statistics(dn_handle *h, const fast_state *s, dn_bn_fast *k)
{
    dn_bn_fast train = *k;
    k->save_mean = train.save_mean = k->part + 2 * (size_t)k->row * (size_t)k->s;
    k->save_inv = train.save_inv = k->save_mean + k->c;
    train.bias = train.mean = train.var = NULL;
    train.mask = NULL;
    dn_status st = dn_cuda_launch(h, &s->first_stat, &train);
    return st == DN_SUCCESS ? dn_cuda_launch(h, &s->first_final, &train) : st;
}

dn_status dn_bn_run_fast(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const fast_state *s = plan->state;
    dn_bn_fast k = s->params;
    void *scratch;
    bind(&k, &plan->problem, a, s->masked);
    if (plan->problem.dir == DN_DIR_INFER)
        return dn_cuda_launch(h, &s->apply, &k);
    dn_status st = dn_cuda_scratch(h, s->scratch, &scratch);
    if (st != DN_SUCCESS)
        return st;
    k.k = scratch;
    k.part = k.k + 4 * (size_t)k.c;
    if (plan->problem.dir == DN_DIR_BWD && !(k.save_mean && k.save_inv))
        st = batch_statistics(h, s, &k);
    if (st == DN_SUCCESS)
        st = dn_cuda_launch(h, &s->stat, &k);
    if (st == DN_SUCCESS)
        st = dn_cuda_launch(h, &s->final, &k);
    return st == DN_SUCCESS ? dn_cuda_launch(h, &s->apply, &k) : st;
}
