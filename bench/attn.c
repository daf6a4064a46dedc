/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "attn.h"

#include "ops/attn.h"

#include <math.h>
#include <stdlib.h>

bool bench_is_attn_array(const dn_problem *p, int slot)
{
    return p->op == DN_OP_ATTN && (slot == BENCH_AUX(DN_AUX_LENGTHS_QO) || slot == BENCH_AUX(DN_AUX_LENGTHS_KV));
}

dn_tensor bench_attn_tensor(const dn_problem *p, int aux)
{
    if (aux == DN_AUX_RESIDUAL || aux == DN_AUX_DKEYS || aux == DN_AUX_DVALUES)
        return p->t[aux == DN_AUX_RESIDUAL ? DN_X : aux == DN_AUX_DKEYS ? DN_B : DN_Z];
    const dn_tensor *of = &p->t[aux == DN_AUX_LENGTHS_QO ? DN_X : DN_B];
    dn_tensor t = { .type = DN_I32, .rank = 1, .vect = 1, .dims = { of->dims[1] * of->dims[2] } };
    dn_tensor_pack(&t);
    return t;
}

bool bench_attn_has(const dn_problem *p, int aux)
{
    return aux != DN_AUX_RESIDUAL || p->u.attn.residual;
}

double bench_attn_value(const bench_case *c, int slot, int64_t i)
{
    bool keys = slot == BENCH_AUX(DN_AUX_LENGTHS_KV);
    const dn_tensor *t = &c->p.t[keys ? DN_B : DN_X];
    const bench_lengths *l = keys ? &c->key_len : &c->len;
    return bench_length_of(l, i, t->dims[1] * t->dims[2], t->dims[0]);
}

/* A window moves with the query: from `before` keys before its own time to `after` behind it. */
bool bench_attn_windows(bench_data *d, const bench_case *c)
{
    int64_t times = c->p.t[DN_X].dims[0], keys = c->p.t[DN_B].dims[0];
    d->lo = malloc((size_t)times * sizeof *d->lo);
    d->hi = malloc((size_t)times * sizeof *d->hi);
    if (!d->lo || !d->hi) {
        dn_fail(DN_ALLOC_FAILED, "no memory for the windows");
        return false;
    }
    for (int64_t s = 0; s < times; s++) {
        d->lo[s] = c->window ? (int32_t)(s - c->before) : 0;
        d->hi[s] = c->window ? (int32_t)(s + c->after + 1) : (int32_t)keys;
    }
    return true;
}

/* Packed, with time, batch and beam in the order that `like` has them in. */
static void put(dn_problem *p, dn_role role, const dn_tensor *like, int64_t vector)
{
    dn_tensor *t = &p->t[role];
    if (t->rank)
        return;
    *t = *like;
    t->dims[3] = vector;
    for (int d = 0; d < 3; d++)
        t->strides[d] = like->strides[d] / like->dims[3] * vector;
    p->align[role] = 16;
}

void bench_attn_complete(dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X];
    dn_attn_size z;
    if (x->rank != 4 || p->t[DN_B].rank != 4 || p->t[DN_Z].rank != 4)
        return;
    dn_attn_size_of(p, &z);
    int64_t in[3] = { z.q, z.k, z.v }, count = dn_attn_weight_count(&p->u.attn, in);
    put(p, p->dir == DN_DIR_INFER || p->dir == DN_DIR_TRAIN ? DN_Y : DN_DY, x, z.out);
    if (p->dir == DN_DIR_BWD_DATA)
        put(p, DN_DX, x, z.q);
    if (count > 0 && !p->t[DN_W].rank) {
        p->t[DN_W] = (dn_tensor){ .type = x->type, .rank = 1, .vect = 1, .dims = { count }, .strides = { 1 } };
        p->align[DN_W] = 16;
    }
}

/* Products that there are in every implementation; backward twice as many, in two calls. */
double bench_attn_flops(const dn_problem *p)
{
    dn_attn_size z;
    const dn_attn_param *u = &p->u.attn;
    dn_attn_size_of(p, &z);
    double heads = (double)z.heads, q = (double)z.rows_q, k = (double)z.rows_k, weights = 0, inner;
    weights += q * (double)z.q * heads * (double)u->q_proj + k * (double)z.k * heads * (double)u->k_proj;
    weights += k * (double)z.v * heads * (double)u->v_proj + q * heads * (double)z.f * (double)u->o_proj;
    inner = heads * q * (double)z.t * (double)(z.e + z.f);
    return 2 * (weights + (p->dir == DN_DIR_BWD_DATA ? 2 * inner : p->dir == DN_DIR_BWD_FILTER ? 0 : inner));
}

/* Sums that an element goes through, one after another. */
double bench_attn_length(const dn_problem *p)
{
    dn_attn_size z;
    dn_attn_size_of(p, &z);
    double rows = (double)(z.rows_q > z.rows_k ? z.rows_q : z.rows_k);
    return (p->dir == DN_DIR_BWD_FILTER ? rows : fmax((double)z.t, (double)z.group_rows)) + (double)(z.q + z.k + z.v) + (double)z.heads * (double)z.f;
}
