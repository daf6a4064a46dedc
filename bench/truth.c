/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The right answer: the case's values widened to double and packed, run by the first row of ref that takes them. Where the result
 * is a sum, a second run on absolute values gives each element's sum of |products|, which rounding errors are a part of. */
#include "attn.h"
#include "chain.h"
#include "ctc.h"
#include "operands.h"

#include "core/engine.h"
#include "core/os.h"
#include "ops/bn.h"
#include "ops/rnn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void widen(const bench_case *c, dn_problem *q)
{
    *q = c->p;
    q->compute = DN_F64;
    q->algo = -1;
    q->math = DN_MATH_FMA;
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        dn_tensor *t = &q->t[r];
        if (!t->rank)
            continue;
        t->type = DN_F64;
        t->vect = 1;
        t->vect_dim = 0;
        dn_tensor_pack(t);
        q->align[r] = 16;
    }
    if (q->op == DN_OP_BN)
        dn_bn_derive(&q->t[DN_X], q->u.bn.mode, &q->t[DN_W]);
    q->flags &= (uint16_t)~DN_F_IN_PLACE;
}

/* Memory of one run: outputs are copies, inputs the data's own arrays (or their absolute values). */
typedef struct room {
    double *own[BENCH_SLOTS];
    unsigned char *states, *reserve;
    void *workspace;
} room;

static void room_free(room *m)
{
    for (int k = 0; k < BENCH_SLOTS; k++)
        free(m->own[k]);
    free(m->states);
    free(m->reserve);
    dn_aligned_free(m->workspace);
}

static void *copy_bytes(const void *from, size_t size)
{
    void *to = malloc(size ? size : 1);
    if (to && size)
        memcpy(to, from, size);
    return to;
}

/* Labels and lengths stay whole numbers: one array of them in place of the doubles. */
static void *integers_of(const bench_slot *s)
{
    int32_t *v = malloc((size_t)s->count * sizeof(double));
    for (int64_t i = 0; v && i < s->count; i++)
        v[i] = (int32_t)s->v[i];
    return v;
}

static bool room_make(room *m, const dn_problem *p, const bench_data *d, bool absolute, dn_args *a)
{
    for (int k = 0; k < BENCH_SLOTS; k++) {
        const bench_slot *s = &d->s[k];
        if (!s->v)
            continue;
        double *v = s->v;
        if (bench_is_ctc_array(p, k) || bench_is_attn_array(p, k)) {
            *(k < DN_ROLE_COUNT ? &a->ptr[k] : &a->aux[k - DN_ROLE_COUNT]) = m->own[k] = integers_of(s);
            if (!m->own[k])
                return false;
            continue;
        }
        if (s->flow != BENCH_IN || absolute) {
            v = m->own[k] = copy_bytes(s->v, (size_t)s->count * sizeof(double));
            if (!v)
                return false;
        }
        for (int64_t i = 0; absolute && i < s->count; i++)
            v[i] = fabs(v[i]);
        *(k < DN_ROLE_COUNT ? &a->ptr[k] : &a->aux[k - DN_ROLE_COUNT]) = v;
    }
    if (d->states)
        a->aux[DN_AUX_STATES] = m->states = copy_bytes(d->states, d->states_size);
    if (d->reserve)
        a->reserve = m->reserve = copy_bytes(d->reserve, d->reserve_size);
    a->reserve_size = d->reserve_size;
    a->lengths = d->lengths;
    a->lo = d->lo, a->hi = d->hi;
    if (p->op == DN_OP_ATTN)
        a->aux[DN_AUX_STATES2] = m->states;
    return (!d->states || m->states) && (!d->reserve || m->reserve);
}

static const dn_solver *row_of(const dn_problem *q)
{
    const dn_solver *s;
    for (int i = 0; (s = dn_solver_at(&dn_ref_engine, (dn_op)q->op, (dn_dir)q->dir, i)); i++)
        if (!dn_solver_refuses(s, q))
            return s;
    dn_fail(DN_NOT_SUPPORTED, "no row of ref computes this in double");
    for (int i = 0; (s = dn_solver_at(&dn_ref_engine, (dn_op)q->op, (dn_dir)q->dir, i)); i++)
        dn_fail_append("  %s: %s", s->name, dn_solver_refuses(s, q));
    return NULL;
}

/* The reserve space that rows of ref in double want, and what the calls before leave there. */
static bool run_chain(const bench_prior *prior, unsigned char *reserve);

static bool take_own_reserve(room *m, const dn_problem *q, const bench_data *d, dn_args *a)
{
    size_t bytes = d->own_reserve ? bench_chain_bytes(q) : 0;
    if (!d->own_reserve)
        return true;
    m->reserve = bytes ? malloc(bytes) : NULL;
    if (!m->reserve) {
        dn_fail(DN_ALLOC_FAILED, "no memory for the reserve space");
        return false;
    }
    a->reserve = m->reserve;
    a->reserve_size = bytes;
    return run_chain(d->prior, m->reserve);
}

/* Runs q; the outputs are left in m->own. */
static bool run(const dn_problem *q, room *m, dn_args *a)
{
    dn_handle h;
    dn_plan *plan = NULL;
    const dn_solver *s = row_of(q);
    memset(&h, 0, sizeof h);
    h.engine = &dn_ref_engine;
    if (!s || dn_plan_make(&h, s, q, &plan) != DN_SUCCESS)
        return false;
    dn_status st = DN_SUCCESS;
    if (plan->workspace) {
        a->workspace = m->workspace = dn_aligned_alloc(plan->workspace);
        a->workspace_size = plan->workspace;
        if (!m->workspace)
            st = dn_fail(DN_ALLOC_FAILED, "no memory for a workspace of %zu bytes", plan->workspace);
    }
    if (st == DN_SUCCESS)
        st = s->run(&h, plan, a);
    dn_plan_free(plan);
    dn_handle_close(&h);
    return st == DN_SUCCESS;
}

/* The interface takes factors as float, but for f64 data. */
static double factor_of(const bench_case *c, double v)
{
    const dn_problem *p = &c->p;
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        if (p->t[r].rank && p->t[r].type == DN_F64)
            return v;
    return (double)(float)v;
}

void bench_fill_args(dn_args *a, const bench_case *c)
{
    memset(a, 0, sizeof *a);
    a->alpha = factor_of(c, c->alpha), a->beta = factor_of(c, c->beta);
    a->alpha2 = factor_of(c, c->alpha2), a->beta2 = factor_of(c, c->beta2);
    a->eps = c->eps, a->factor = c->factor;
    a->count = (int64_t)c->count;
    a->dropout = a->dropout2 = (float)c->dropout;
    a->step = (int32_t)c->step;
    for (size_t i = 0; i < sizeof a->value / sizeof *a->value; i++)
        a->value[i] = factor_of(c, c->value);
    if (c->p.op == DN_OP_CONV_BIAS_ACT && !c->p.t[DN_Z].rank)
        a->alpha2 = 0;
    if (c->p.op == DN_OP_DROPOUT)
        a->alpha = 1;
    a->fill = c->value;
}

static bool run_chain(const bench_prior *prior, unsigned char *reserve)
{
    dn_problem q;
    dn_args a;
    room m = { 0 };
    if (!prior)
        return true;
    if (!run_chain(prior->d.prior, reserve))
        return false;
    widen(&prior->c, &q);
    bench_fill_args(&a, &prior->c);
    bool good = room_make(&m, &q, &prior->d, false, &a);
    a.reserve = reserve;
    good = good && run(&q, &m, &a);
    room_free(&m);
    return good;
}

static bool magnitudes(bench_truth *t, const bench_case *c, const bench_data *d)
{
    dn_problem q;
    dn_args a;
    room m = { 0 };
    if (!bench_is_sum(&c->p))
        return true;
    widen(c, &q);
    if (q.op == DN_OP_CONV_BIAS_ACT)
        q.u.conv.act = (dn_act_param){ .mode = DN_ACT_IDENTITY };
    bench_fill_args(&a, c);
    a.alpha = fabs(a.alpha), a.beta = fabs(a.beta), a.alpha2 = fabs(a.alpha2);
    bool good = room_make(&m, &q, d, true, &a) && run(&q, &m, &a);
    for (int k = 0; good && k < BENCH_SLOTS; k++)
        if (d->s[k].v && d->s[k].flow & BENCH_OUT && k != BENCH_AUX(DN_AUX_INDICES)) {
            t->sum[k] = m.own[k];
            m.own[k] = NULL;
        }
    room_free(&m);
    return good;
}

/* Values are moved or picked, not computed: what comes out is an input, rounded once. */
static bool only_moves(const bench_case *c)
{
    const dn_problem *p = &c->p;
    if (p->op == DN_OP_SET || p->op == DN_OP_IM2COL)
        return true;
    if (c->alpha != 1 || c->beta != 0)
        return false;
    switch (p->op) {
    case DN_OP_TRANSFORM: case DN_OP_TRANSFORM_EX:
        return true;
    case DN_OP_POOL:
        return p->dir == DN_DIR_FWD && (p->u.pool.mode == 0 || p->u.pool.mode == 3);
    case DN_OP_REDUCE:
        return p->u.reduce.op >= 2 && p->u.reduce.op <= 4;
    default:
        return false;
    }
}

/* Sums of whole numbers that stay whole. */
static bool whole_sums(const bench_case *c)
{
    const dn_problem *p = &c->p;
    if (c->fill != BENCH_INT || !bench_is_sum(p) || c->alpha != rint(c->alpha) || c->beta != rint(c->beta) ||
        c->alpha2 != rint(c->alpha2))
        return false;
    if (p->op == DN_OP_CONV_BIAS_ACT)
        return p->u.conv.act.mode == DN_ACT_IDENTITY || p->u.conv.act.mode == DN_ACT_RELU;
    return p->op != DN_OP_POOL && !(p->op == DN_OP_REDUCE && p->u.reduce.op == 5);
}

/* The largest finite magnitude of each output, and whether only the exact value will do. */
static void measure(bench_truth *t, const bench_case *c, const bench_data *d)
{
    bool whole = whole_sums(c);
    for (int k = 0; k < BENCH_SLOTS; k++) {
        const double *v = t->sum[k] ? t->sum[k] : t->v[k];
        for (int64_t i = 0; v && i < d->s[k].count; i++)
            if (isfinite(v[i]) && fabs(v[i]) > t->top[k])
                t->top[k] = fabs(v[i]);
        whole = whole && t->top[k] <= 0x1p24;
    }
    t->sums_exact = whole || only_moves(c);
    t->length = bench_length(&c->p);
}

/* ref wrote whole numbers of the index type to the front of the array: widened from the back, none is lost. */
static void widen_indices(double *v, const bench_slot *s)
{
    for (int64_t i = v ? s->count : 0; i-- > 0;)
        v[i] = dn_load((dn_dtype)s->t.type, v, i);
}

bool bench_truth_make(bench_truth *t, const bench_case *c, const bench_data *d)
{
    dn_problem q;
    dn_args a;
    room m = { 0 };
    memset(t, 0, sizeof *t);
    widen(c, &q);
    bench_fill_args(&a, c);
    bool good = room_make(&m, &q, d, false, &a) && take_own_reserve(&m, &q, d, &a) && run(&q, &m, &a);
    for (int k = 0; good && k < BENCH_SLOTS; k++)
        if (d->s[k].v && d->s[k].flow & BENCH_OUT) {
            t->v[k] = m.own[k];
            m.own[k] = NULL;
        }
    if (good) {
        widen_indices(t->v[BENCH_AUX(DN_AUX_INDICES)], &d->s[BENCH_AUX(DN_AUX_INDICES)]);
        t->reserve = m.reserve;
        m.reserve = NULL;
    }
    room_free(&m);
    good = good && magnitudes(t, c, d);
    if (good)
        measure(t, c, d);
    else
        bench_truth_free(t);
    return good;
}

void bench_truth_free(bench_truth *t)
{
    for (int k = 0; k < BENCH_SLOTS; k++) {
        free(t->v[k]);
        free(t->sum[k]);
    }
    free(t->reserve);
    memset(t, 0, sizeof *t);
}
