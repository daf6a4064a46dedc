/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "ops/attn.h"

#include "ops/dropout.h"

#include <string.h>

static void count_queries(dn_attn_size *z)
{
    z->rows_q = z->n * z->bq * z->s;
    z->group_rows = z->rows_q / z->groups;
}

void dn_attn_size_of(const dn_problem *p, dn_attn_size *z)
{
    const dn_tensor *x = &p->t[DN_X], *keys = &p->t[DN_B], *values = &p->t[DN_Z];
    const dn_attn_param *u = &p->u.attn;
    *z = (dn_attn_size){ .s = x->dims[0], .t = keys->dims[0], .n = x->dims[1], .bq = x->dims[2], .bk = keys->dims[2], .heads = u->heads,
                         .q = x->dims[3], .k = keys->dims[3], .v = values->dims[3] };
    z->hq = u->q_proj ? u->heads : 1;
    z->hk = u->k_proj ? u->heads : 1;
    z->hv = u->v_proj ? u->heads : 1;
    z->e = u->q_proj ? u->q_proj : z->q;
    z->f = u->v_proj ? u->v_proj : z->v;
    z->out = u->o_proj ? u->o_proj : z->heads * z->f;
    z->groups = z->n * z->bk;
    z->rows_k = z->groups * z->t;
    count_queries(z);
}

void dn_attn_size_one_step(dn_attn_size *z)
{
    z->s = 1;
    count_queries(z);
}

/* --- weights --- */

static int64_t count_of(const int64_t dims[3])
{
    int64_t n = dims[0];
    return __builtin_mul_overflow(n, dims[1], &n) || __builtin_mul_overflow(n, dims[2], &n) ? -1 : n;
}

/* Matrices lie with columns as the slowest index, so that all heads' rows of one column are neighbours: the input projections of all heads
 * are one matrix of H E x size, stored by columns, the output projection has one for each head. */
static void weight_of(const dn_attn_param *u, const int64_t in[3], int kind, dn_attn_weight *w)
{
    const int64_t proj[4] = { u->q_proj, u->k_proj, u->v_proj, u->o_proj };
    bool bias = kind >= DN_ATTN_Q_BIAS;
    int which = bias ? kind - DN_ATTN_Q_BIAS : kind;
    int64_t rows = proj[which], columns = which < DN_ATTN_O ? in[which] : u->v_proj ? u->v_proj : in[DN_ATTN_V];
    memset(w, 0, sizeof *w);
    if (!rows || (bias && !u->bias))
        return;
    w->dims[0] = bias && which == DN_ATTN_O ? 1 : u->heads;
    w->dims[1] = rows;
    w->dims[2] = bias ? 1 : columns;
    w->strides[0] = which == DN_ATTN_O && !bias ? rows * columns : rows;
    w->strides[1] = 1;
    w->strides[2] = bias ? 1 : which == DN_ATTN_O ? rows : u->heads * rows;
}

void dn_attn_weight_at(const dn_attn_param *u, const int64_t in[3], int kind, dn_attn_weight *w)
{
    int64_t at = 0;
    for (int k = 0; k < kind; k++) {
        weight_of(u, in, k, w);
        at += count_of(w->dims);
    }
    weight_of(u, in, kind, w);
    w->at = at;
}

int64_t dn_attn_weight_count(const dn_attn_param *u, const int64_t in[3])
{
    int64_t sum = 0;
    for (int k = 0; k < DN_ATTN_KINDS; k++) {
        dn_attn_weight w;
        weight_of(u, in, k, &w);
        int64_t n = count_of(w.dims);
        if (n < 0 || __builtin_add_overflow(sum, n, &sum))
            return -1;
    }
    return sum;
}

/* --- reserve space --- */

/* Puts a * b * c * d units of size bytes at *used; SIZE_MAX once that is past it. */
static size_t take(size_t *used, size_t size, int64_t a, int64_t b, int64_t c, int64_t d)
{
    size_t at = *used, n;
    if (*used == SIZE_MAX || __builtin_mul_overflow((size_t)a, (size_t)b, &n) || __builtin_mul_overflow(n, (size_t)c, &n) ||
        __builtin_mul_overflow(n, (size_t)d, &n) || __builtin_mul_overflow(n, size, &n) || n > SIZE_MAX - 255 ||
        __builtin_add_overflow(at, (n + 255) / 256 * 256, used))
        *used = SIZE_MAX;
    return at;
}

bool dn_attn_reserve_layout(const dn_problem *p, dn_attn_reserve *r)
{
    dn_attn_size z;
    size_t used = 0, size = dn_dtype_size((dn_dtype)p->t[DN_X].type);
    dn_attn_size_of(p, &z);
    r->states = take(&used, sizeof(dn_dropout_state), 2, 1, 1, 1);
    r->lengths_q = take(&used, sizeof(int32_t), z.n, z.bq, 1, 1);
    r->lengths_k = take(&used, sizeof(int32_t), z.n, z.bk, 1, 1);
    r->q = take(&used, size, z.hq, z.rows_q, z.e, 1);
    r->k = take(&used, size, z.hk, z.rows_k, z.e, 1);
    r->v = take(&used, size, z.hv, z.rows_k, z.f, 1);
    r->prob = take(&used, size, z.heads, z.rows_q, z.t, 1);
    r->heads = take(&used, size, z.rows_q, z.heads, z.f, 1);
    r->dq = take(&used, size, z.hq, z.rows_q, z.e, 1);
    r->dk = take(&used, size, z.hk, z.rows_k, z.e, 1);
    r->dv = take(&used, size, z.hv, z.rows_k, z.f, 1);
    r->bytes = used;
    return used != SIZE_MAX;
}

/* --- shape rules --- */

static dn_status check_tensor(const dn_problem *p, dn_role role, const char *name, const int64_t dims[4])
{
    const dn_tensor *t = &p->t[role];
    static const char *const axes[4] = { "time", "batch", "beam", "vector" };
    if (t->rank != 4)
        return dn_fail(DN_BAD_PARAM, "attention: the %s have %d dimensions; sequence data has 4: time, batch, beam, vector", name, t->rank);
    if (t->type != p->t[DN_X].type)
        return dn_fail(DN_BAD_PARAM, "attention: the %s are %s, the queries %s; all data has one type", name, dn_dtype_name((dn_dtype)t->type),
                       dn_dtype_name((dn_dtype)p->t[DN_X].type));
    for (int d = 0; d < 4; d++)
        if (t->dims[d] != dims[d])
            return dn_fail(DN_BAD_PARAM, "attention: the %s size of the %s is %lld; it must be %lld", axes[d], name, (long long)t->dims[d],
                           (long long)dims[d]);
    return DN_SUCCESS;
}

static dn_status check_sizes(const dn_problem *p, const dn_attn_size *z)
{
    const dn_attn_param *u = &p->u.attn;
    if (u->heads < 1)
        return dn_fail(DN_BAD_PARAM, "attention: %d heads; there must be one at least", u->heads);
    if (u->q_proj < 0 || u->k_proj < 0 || u->v_proj < 0 || u->o_proj < 0)
        return dn_fail(DN_BAD_PARAM, "attention: projection sizes are %d %d %d %d; they must not be negative", u->q_proj, u->k_proj, u->v_proj,
                       u->o_proj);
    int64_t k = u->k_proj ? u->k_proj : z->k;
    if (z->e != k)
        return dn_fail(DN_BAD_PARAM, "attention: queries have %lld values in the scores and keys %lld; they must have as many", (long long)z->e,
                       (long long)k);
    if (u->residual && z->q != z->out)
        return dn_fail(DN_BAD_PARAM, "attention: the residuals have %lld values, as the queries have, and the output %lld", (long long)z->q,
                       (long long)z->out);
    if (z->bk != 1 && z->bk != z->bq)
        return dn_fail(DN_BAD_PARAM, "attention: %lld beams of keys; there must be 1, or one for each of the %lld beams of queries",
                       (long long)z->bk, (long long)z->bq);
    return DN_SUCCESS;
}

static dn_status check_weights(const dn_problem *p, const dn_attn_size *z)
{
    const dn_tensor *w = &p->t[DN_W];
    int64_t in[3] = { z->q, z->k, z->v }, n = dn_attn_weight_count(&p->u.attn, in), have = w->rank ? dn_tensor_count(w) : 0;
    if (n < 0)
        return dn_fail(DN_BAD_PARAM, "attention: the weights are more than a 64-bit number counts");
    if (have != n || (n && (w->rank != 1 || w->strides[0] != 1)))
        return dn_fail(DN_BAD_PARAM, "attention: a buffer of %lld weights; it must be one line of %lld", (long long)have, (long long)n);
    return !n || w->type == p->t[DN_X].type ? DN_SUCCESS : dn_fail(DN_BAD_PARAM, "attention: the weights must have the type of the data");
}

dn_status dn_attn_check(const dn_problem *p)
{
    dn_attn_size z;
    dn_attn_reserve r;
    const dn_tensor *x = &p->t[DN_X];
    if (x->rank != 4 || p->t[DN_B].rank != 4 || p->t[DN_Z].rank != 4)
        return dn_fail(DN_BAD_PARAM, "attention: queries, keys and values (x, b, z) must have 4 dimensions: time, batch, beam, vector");
    if (!dn_dtype_is_float((dn_dtype)x->type) || x->vect != 1)
        return dn_fail(DN_NOT_SUPPORTED, "attention: %s data; it must be floating point", dn_dtype_name((dn_dtype)x->type));
    dn_attn_size_of(p, &z);
    int64_t keys[4] = { z.t, z.n, z.bk, z.k }, values[4] = { z.t, z.n, z.bk, z.v }, out[4] = { z.s, z.n, z.bq, z.out };
    bool forward = p->dir == DN_DIR_INFER || p->dir == DN_DIR_TRAIN;
    dn_status st = check_tensor(p, DN_B, "keys", keys);
    if (st == DN_SUCCESS)
        st = check_tensor(p, DN_Z, "values", values);
    if (st == DN_SUCCESS)
        st = check_sizes(p, &z);
    if (st == DN_SUCCESS)
        st = forward ? check_tensor(p, DN_Y, "outputs", out) : check_tensor(p, DN_DY, "gradients by the output", out);
    if (st == DN_SUCCESS && p->dir == DN_DIR_BWD_DATA)
        st = check_tensor(p, DN_DX, "gradients by the queries", x->dims);
    if (st == DN_SUCCESS)
        st = check_weights(p, &z);
    if (st == DN_SUCCESS && !dn_attn_reserve_layout(p, &r))
        st = dn_fail(DN_BAD_PARAM, "attention: the intermediate values have more bytes than size_t counts");
    return st;
}
