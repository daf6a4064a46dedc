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
    dn_cuda_grid held;
    dn_bn_fast params;
    dn_bn_held held_params;
    size_t scratch, words;  /* words: bytes of what the blocks of a ring tell each other */
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

/* --- held in shared memory --- */
enum { HELD_QUARTER = 54 << 10, HELD_STATIC = 6 << 10, RING_PLANE = 2048 };  /* bytes of a quarter of an SM, and beside the dynamic ones; of a plane at least */

/* Channels that make whole vectors together. */
static int held_group(const dn_problem *p)
{
    int group = 1;
    while (nchw_of(p).hw * group % vector_of(p) != 0)
        group *= 2;
    return group;
}

static int64_t held_run(const dn_problem *p)
{
    return nchw_of(p).hw * held_group(p) / vector_of(p);
}

static int held_unit(const dn_problem *p)
{
    return p->dir == DN_DIR_BWD ? DN_BN_HELD_BWD : DN_BN_HELD_TRAIN;
}

static int held_tensors(const dn_problem *p)
{
    return p->dir == DN_DIR_BWD ? 2 : 1;
}

/* Bytes of a block of `quarters` quarters of an SM. */
static int64_t held_bytes(const dn_problem *p, int quarters)
{
    return 16 * (nchw_of(p).n * held_run(p) * held_tensors(p) + (held_group(p) > 1 ? held_unit(p) * quarters : 0));
}

/* Quarters of an SM that a block needs; 0: more than there are. */
static int held_quarters(const dn_problem *p)
{
    for (int q = 1; q <= 4; q *= 2)
        if (held_bytes(p, q) <= q * HELD_QUARTER && (held_group(p) == 1 || held_run(p) <= q * held_unit(p)))
            return q;
    return 0;
}

static const char *check_held(const dn_problem *p, dn_dtype type)
{
    const char *why = dn_bn_check_nchw(p, type);
    if (!why && nchw_of(p).c % held_group(p) != 0)
        why = "needs channels that fill vectors in groups";
    if (!why && held_group(p) > 1 && nchw_of(p).hw < vector_of(p) - 1)
        why = "needs planes of a vector";
    return why;
}

const char *dn_bn_check_group(const dn_problem *p, dn_dtype type)
{
    const char *why = check_held(p, type);
    return why ? why : held_quarters(p) ? NULL : "needs channels that fit into shared memory";
}

const char *dn_bn_check_ring(const dn_problem *p, dn_dtype type)
{
    const char *why = check_held(p, type);
    if (!why && held_group(p) > 1)
        why = "needs planes of whole vectors";
    if (!why && held_run(p) * 16 < RING_PLANE)  /* a warp takes long to ask for many small pieces of memory */
        why = "needs planes of 2048 bytes";
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

static const char *stat_of(const fast_state *s, bool nchw)
{
    return nchw && s->params.plane.by == (unsigned)s->params.hw ? "_stat_odd" : "_stat";
}

/* The kernels that take the batch's statistics for a gradient that was given none: those of training, with the grids of `s`. */
static dn_status twin_functions(dn_handle *h, fast_state *s, const dn_problem *p, bool nchw)
{
    char twin[80];
    dn_dtype type = p->t[DN_X].type;
    snprintf(twin, sizeof twin, "cuda_bn_train_%s_%s", nchw ? "nchw" : "nhwc", type == DN_F32 ? "f32" : type == DN_F16 ? "f16" : "bf16");
    s->first_stat = s->stat;
    grid_line(&s->first_final, (s->params.c + WARPS_FINAL - 1) / WARPS_FINAL, 1, FINAL);
    dn_status st = function(h, twin, stat_of(s, nchw), &s->first_stat);
    return st == DN_SUCCESS ? function(h, twin, "_final", &s->first_final) : st;
}

static dn_status stat_functions(dn_handle *h, fast_state *s, const char *module, bool nchw)
{
    grid_line(&s->final, (s->params.c + WARPS_FINAL - 1) / WARPS_FINAL, 1, FINAL);
    dn_status st = function(h, module, stat_of(s, nchw), &s->stat);
    return st == DN_SUCCESS ? function(h, module, "_final", &s->final) : st;
}

/* What does not depend on the layout. */
static void fill(fast_state *s, const dn_problem *p)
{
    dn_bn_fast *k = &s->params;
    k->count = dn_tensor_count(&p->t[DN_X]);
    k->ops = p->u.bn.ops;
    k->nan = p->u.bn.act.nan;
    k->ceiling = p->u.bn.act.mode == DN_ACT_CLIPPED_RELU ? (float)p->u.bn.act.coef : INFINITY;
    s->masked = dn_bn_reserve_size(p) > 0;
}

static void set_count(dn_bn_fast *k)
{
    k->m = (double)(k->count / k->c);
    k->inv_m = 1 / k->m;
}

/* Constants, partial sums, and mean and inverse deviation where the caller has none. */
static size_t scratch_size(const dn_bn_fast *k)
{
    return sizeof(float) * ((size_t)k->c * (4 + 2) + (size_t)k->row * 2 * (size_t)k->s);
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
    fill(s, p);
    if (nchw)
        shape_nchw(h, s, p);
    else
        shape_nhwc(h, s, p);
    set_count(k);
    dn_status st = function(h, module, p->dir != DN_DIR_BWD && k->ops == 2 ? "_add" : "", &s->apply);
    if (st != DN_SUCCESS || p->dir == DN_DIR_INFER)
        return st;
    s->scratch = scratch_size(k);
    st = stat_functions(h, s, module, nchw);
    if (st == DN_SUCCESS && p->dir == DN_DIR_BWD)
        st = twin_functions(h, s, p, nchw);
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

static void shape_group(fast_state *s, const dn_problem *p)
{
    dn_bn_held *k = &s->held_params;
    int quarters = held_quarters(p), threads = quarters * held_unit(p);
    k->step = k->group > 1 ? threads / k->run * k->run : threads;
    k->parts = 1;
    k->slice = (int)nchw_of(p).n * k->run;
    grid_line(&s->held, nchw_of(p).c / k->group, 1, (unsigned)threads);
    s->held.shared = (unsigned)held_bytes(p, quarters);
}

/* Blocks of a team: channels of `bytes` in parts of `most` bytes, so that several are under way in a block at once; of the numbers up to twice
 * the least, that which leaves fewest blocks idle. */
static int ring_parts(int blocks, int64_t channels, int64_t bytes, int64_t most)
{
    int least_parts = (int)least((bytes + most - 1) / most, blocks), best = least_parts;
    double best_use = 0;
    for (int parts = least_parts; parts <= blocks && (parts <= 2 * least_parts || !best_use); parts++) {
        int64_t teams = least(blocks / parts, channels), rounds = (channels + teams - 1) / teams;
        double use = (double)(channels * parts) / (double)(rounds * blocks);
        if (use > best_use * 1.005) {
            best_use = use;
            best = parts;
        }
    }
    return best;
}

static const char *shape_ring(const dn_handle *h, fast_state *s, const dn_problem *p)
{
    enum { VECTORS = 2, PART = 36 << 10, PART_BWD = 52 << 10 };  /* of a thread in a chunk; bytes of a channel's part */
    dn_bn_held *k = &s->held_params;
    const dn_cuda_device *d = dn_cuda_device_of(h);
    int blocks = d->sm_count < DN_BN_RING_PARTS ? d->sm_count : DN_BN_RING_PARTS;
    int64_t vectors = nchw_of(p).n * (int64_t)k->run, channels = nchw_of(p).c;
    k->step = DN_BN_RING_WORK;
    k->slice = k->step * VECTORS;
    int64_t chunk = (int64_t)k->slice * 16 * held_tensors(p), room = (int64_t)d->shared_max - HELD_STATIC;
    k->chunks = (int)least(room / chunk, DN_BN_RING_CHUNKS);
    k->parts = ring_parts(blocks, channels, vectors * 16 * held_tensors(p), held_tensors(p) > 1 ? PART_BWD : PART);
    k->teams = (int)least(blocks / k->parts, channels);
    if (room < 2 * chunk || vectors / k->parts / k->slice + 2 > k->chunks)
        return "a part of the channels does not fit into shared memory";
    grid_line(&s->held, (int64_t)k->teams * k->parts, 1, DN_BN_RING_THREADS);
    s->held.shared = (unsigned)(chunk * k->chunks);
    s->held.cooperative = k->parts > 1;
    s->words = k->parts > 1 ? 16 * (size_t)nchw_of(p).c * (size_t)k->parts : 0;
    return NULL;
}

static dn_status prepare_held(dn_handle *h, dn_plan *plan, bool ring)
{
    const dn_problem *p = &plan->problem;
    const char *module = plan->solver->name, *why = NULL;
    char name[80];
    void *unused;
    fast_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", module);
    plan->state = s;
    fill(s, p);
    shape_nchw(h, s, p);
    set_count(&s->params);
    s->held_params.group = held_group(p);
    s->held_params.run = (int)held_run(p);
    if (ring)
        why = shape_ring(h, s, p);
    else
        shape_group(s, p);
    size_t room = dn_cuda_device_of(h)->shared_max - HELD_STATIC;
    if (why || s->held.shared > room)
        return dn_fail(DN_NOT_SUPPORTED, "%s: %s", module, why ? why : "the device has less shared memory");
    snprintf(name, sizeof name, "%.60s%s", module, p->dir != DN_DIR_BWD && s->params.ops == 2 ? "_add" : "");
    dn_status st = dn_cuda_function(h, module, name, room, &s->held.f);
    if (st == DN_SUCCESS)
        st = dn_cuda_grid_fits(h, &s->held);
    if (st == DN_SUCCESS && p->dir == DN_DIR_BWD)
        st = twin_functions(h, s, p, true);
    s->scratch = s->words + scratch_size(&s->params);
    return st == DN_SUCCESS && (s->words || p->dir == DN_DIR_BWD) ? dn_cuda_scratch(h, s->scratch, &unused) : st;
}

dn_status dn_bn_prepare_group(dn_handle *h, dn_plan *plan)
{
    return prepare_held(h, plan, false);
}

dn_status dn_bn_prepare_ring(dn_handle *h, dn_plan *plan)
{
    return prepare_held(h, plan, true);
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

/* Mean and inverse deviation that batch_statistics made live behind what the kernel needs itself. */
dn_status dn_bn_run_held(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const fast_state *s = plan->state;
    dn_bn_held k = s->held_params;
    void *scratch = NULL;
    k.f = s->params;
    bind(&k.f, &plan->problem, a, s->masked);
    bool batch = plan->problem.dir == DN_DIR_BWD && !(k.f.save_mean && k.f.save_inv);
    dn_status st = batch || s->words ? dn_cuda_scratch(h, s->scratch, &scratch) : DN_SUCCESS;
    char *at = scratch;
    if (st == DN_SUCCESS && batch) {
        k.f.k = (float *)(at + s->words);
        k.f.part = k.f.k + 4 * (size_t)k.f.c;
        st = batch_statistics(h, s, &k.f);
    }
    if (s->words)
        k.f.part = scratch;
    if (st == DN_SUCCESS && s->words)
        st = dn_cuda_zero(h, scratch, s->words);
    return st == DN_SUCCESS ? dn_cuda_launch(h, &s->held, &k) : st;
}
