/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Operands of a case. Values are a function of the seed, the slot and the element's logical number alone, so the same line gives
 * the same inputs everywhere:
 *     u = splitmix64 step of (seed turned left by 56 bits) xor slot * 2^48 xor i, its upper 53 bits as a fraction of 1
 *     random  lo + (hi - lo) * u, lo and hi by operand (ranges below)
 *     int     a whole number of -2 .. 2 (1 .. 2 for what must be positive)
 *     edge    one in 8 elements from a list of special values, else as random
 * each rounded to the operand's type. What only makes sense together (y of a backward, saved statistics) is computed by the
 * forward pass on ref in double, then rounded. */
#include "attn.h"
#include "chain.h"
#include "ctc.h"
#include "data.h"

#include "ops/bn.h"
#include "ops/dropout.h"
#include "ops/rnn.h"
#include "operands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t word_of(uint64_t seed, int slot, int64_t i)
{
    return mix((seed << 56 | seed >> 8) ^ (uint64_t)slot << 48 ^ (uint64_t)i);
}

double bench_unit(uint64_t seed, int slot, int64_t i)
{
    return (double)(word_of(seed, slot, i) >> 11) * 0x1p-53 * 2 - 1;
}

int64_t bench_offset(const dn_tensor *t, int64_t i)
{
    int64_t offset = 0;
    for (int d = t->rank - 1; d >= 0; d--) {
        int64_t k = i % t->dims[d];
        i /= t->dims[d];
        offset += t->vect > 1 && d == t->vect_dim ? k / t->vect * t->strides[d] * t->vect + k % t->vect
                                                  : k * t->strides[d] * t->vect;
    }
    return offset;
}

bool bench_overlaps(const dn_tensor *t)
{
    int order[DN_RANK_MAX], n = 0;
    for (int d = 0; d < t->rank; d++)
        if (t->dims[d] > 1) {
            int k = n++;
            for (; k > 0 && llabs(t->strides[order[k - 1]]) > llabs(t->strides[d]); k--)
                order[k] = order[k - 1];
            order[k] = d;
        }
    int64_t reach = 0;
    for (int k = 0; k < n; k++) {
        int64_t size = t->dims[order[k]], stride = llabs(t->strides[order[k]]);
        if (t->vect > 1 && order[k] == t->vect_dim)
            size = (size + t->vect - 1) / t->vect;
        if (size > 1 && stride <= reach)
            return true;
        reach += (size - 1) * stride;
    }
    return false;
}

typedef struct range { double lo, hi; } range;

static range range_of(const bench_case *c, int slot)
{
    const dn_problem *p = &c->p;
    switch (slot) {
    case BENCH_AUX(DN_AUX_SCALE): case BENCH_AUX(DN_AUX_VAR): case BENCH_AUX(DN_AUX_SAVE_INVSTD):
        return (range){ 0.5, 1.5 };
    case BENCH_AUX(DN_AUX_SQSUM):
        return (range){ 0.5, 1.5 };  /* with sums up to 1 of 4 elements or more, a variance above 0 */
    case DN_B:
        if (p->op == DN_OP_SBA)
            return (range){ -0x1p31, 0x1p31 };  /* bits */
        break;
    default:
        break;
    }
    if (p->op == DN_OP_CTC)
        return p->u.ctc.norm ? (range){ -4, 4 } : (range){ 0.02, 1 };
    if (p->op == DN_OP_ACT || p->op == DN_OP_SOFTMAX)
        return slot == DN_X ? (range){ -4, 4 } : (range){ -1, 1 };
    if (p->op == DN_OP_TENSOR && p->u.tensor_op.op == 4)
        return (range){ 0, 2 };
    if (p->op == DN_OP_REDUCE && (p->u.reduce.op == 1 || p->u.reduce.op == 8))
        return (range){ 0.75, 1.25 };
    if (p->op == DN_OP_RNN && slot == DN_W && p->dir != DN_DIR_BWD_FILTER) {
        double top = 1 / sqrt(fmax(p->u.rnn.hidden, p->u.rnn.input));  /* or states grow from step to step */
        return (range){ -top, top };
    }
    if (p->op == DN_OP_ATTN && slot == DN_W && p->dir != DN_DIR_BWD_FILTER) {
        double top = 2 / sqrt((double)p->t[DN_X].dims[3]);  /* or scores, and what is summed, grow with the sizes */
        return (range){ -top, top };
    }
    if (p->op == DN_OP_DIVNORM && slot == DN_B)
        return (range){ -0.1, 0.1 };
    if (!dn_dtype_is_float((dn_dtype)p->t[slot < DN_ROLE_COUNT ? slot : DN_W].type))
        return (range){ -8, 8 };
    return (range){ -1, 1 };
}

/* Sums get the first ones alone: whether a sum of the large ones overflows on the way is a matter of its order. */
static const double edges[] = { NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-40, -1e-40, 3e38, -3e38, 65504, -1, 1 };
enum { EDGES = sizeof edges / sizeof *edges, EDGES_OF_SUMS = 7 };

enum { COARSE = 1 << 20 };  /* values that are drawn where they need only be ordinary; then they repeat */

static double rounded(const dn_tensor *t, double v)
{
    double cell = 0;
    dn_store(dn_dtype_scalar((dn_dtype)t->type), &cell, 0, v);
    return dn_load(dn_dtype_scalar((dn_dtype)t->type), &cell, 0);
}

static void fill(const bench_case *c, bench_slot *s, int slot)
{
    range r = range_of(c, slot);
    bool positive = r.lo > 0, zeros = c->p.op == DN_OP_REDUCE && c->p.u.reduce.op == 8;
    int kinds = bench_is_sum(&c->p) ? EDGES_OF_SUMS : EDGES;
    int64_t own = c->coarse && s->count > COARSE ? COARSE : s->count;
    for (int64_t i = 0; i < own; i++) {
        uint64_t w = word_of(c->seed, slot, i);
        double v = r.lo + (r.hi - r.lo) * ((double)(w >> 11) * 0x1p-53);
        if (c->fill == BENCH_INT)
            v = positive ? (double)(1 + w % 2) : (double)(w % 5) - 2;
        if (bench_is_ctc_array(&c->p, slot))
            v = bench_ctc_value(c, slot, i, w);
        else if (bench_is_attn_array(&c->p, slot))
            v = bench_attn_value(c, slot, i);
        else if ((c->fill == BENCH_EDGE && c->p.op != DN_OP_CTC && w % 8 == 0) || (zeros && w % 16 == 0))
            v = zeros ? 0 : edges[(w >> 8) % (uint64_t)kinds];
        s->v[i] = rounded(&s->t, v);
    }
    for (int64_t i = own; i < s->count; i++)
        s->v[i] = s->v[i - own];
}

static bool room(bench_slot *s)
{
    s->count = dn_tensor_count(&s->t);
    if (s->count > 0 && (uint64_t)s->count < SIZE_MAX / sizeof(double))
        s->v = malloc((size_t)s->count * sizeof(double));
    if (!s->v) {
        dn_fail(DN_ALLOC_FAILED, "no memory for %lld values", (long long)s->count);
        return false;
    }
    return true;
}

/* Copies what `forward` wrote into slots of this case. */
static bool take_forward(bench_data *d, const bench_case *forward, const int (*pairs)[2], int n)
{
    bench_data f;
    bench_truth t;
    if (!bench_data_make(&f, forward))
        return false;
    bool good = bench_truth_make(&t, forward, &f);
    for (int k = 0; good && k < n; k++) {
        bench_slot *s = &d->s[pairs[k][1]];
        if (s->v && t.v[pairs[k][0]])
            for (int64_t i = 0; i < s->count; i++)
                s->v[i] = rounded(&s->t, t.v[pairs[k][0]][i]);
    }
    if (good && d->reserve && t.reserve)
        memcpy(d->reserve, t.reserve, d->reserve_size);
    if (good)
        bench_truth_free(&t);
    bench_data_free(&f);
    return good;
}

/* The forward problem of a backward one, with the same x. */
static bench_case forward_of(const bench_case *c, dn_dir dir)
{
    bench_case f = *c;
    f.p.dir = (uint8_t)dir;
    f.alpha = 1, f.beta = 0;
    f.p.flags = DN_F_BETA_ZERO;
    f.p.algo = -1;
    for (int r = DN_B; r < DN_ROLE_COUNT; r++)
        memset(&f.p.t[r], 0, sizeof f.p.t[r]);
    return f;
}

/* y of a recurrent network, which the first of the calls before made. */
static bool take_output(bench_data *d)
{
    const bench_prior *first = d->prior;
    bench_truth t;
    bench_slot *y = &d->s[DN_Y];
    while (first->d.prior)
        first = first->d.prior;
    if (!bench_truth_make(&t, &first->c, &first->d))
        return false;
    for (int64_t i = 0; i < y->count; i++)
        y->v[i] = rounded(&y->t, t.v[DN_Y][i]);
    bench_truth_free(&t);
    return true;
}

static bool set_dependent(bench_data *d, const bench_case *c)
{
    static const int y[1][2] = { { DN_Y, DN_Y } };
    static const int stats[2][2] = {
        { BENCH_AUX(DN_AUX_SAVE_MEAN), BENCH_AUX(DN_AUX_SAVE_MEAN) },
        { BENCH_AUX(DN_AUX_SAVE_INVSTD), BENCH_AUX(DN_AUX_SAVE_INVSTD) },
    };
    bool bwd = c->p.dir == DN_DIR_BWD_DATA || c->p.dir == DN_DIR_BWD || (c->p.op == DN_OP_RNN && d->prior);
    if (!bwd || c->p.op == DN_OP_CONV)
        return true;
    bench_case f = forward_of(c, c->p.op == DN_OP_BN ? DN_DIR_TRAIN : DN_DIR_FWD);
    if (c->p.op == DN_OP_RNN)
        return take_output(d);
    if (c->p.op == DN_OP_BN) {
        f.p.t[DN_Y] = f.p.t[DN_X];
        if (f.p.u.bn.ops == 2)
            f.p.t[DN_Z] = f.p.t[DN_X];
        return (c->no_stats && !d->reserve) || take_forward(d, &f, stats, 2);
    }
    if (c->p.op == DN_OP_DROPOUT) {
        f.p.t[DN_X] = c->p.t[DN_DY], f.p.t[DN_Y] = c->p.t[DN_DX];
        return take_forward(d, &f, NULL, 0);
    }
    if (!c->p.t[DN_Y].rank || c->p.op == DN_OP_DIVNORM)
        return true;
    if (c->p.op == DN_OP_SOFTMAX)
        f.p.t[DN_X] = f.p.t[DN_Y];
    return take_forward(d, &f, y, 1);
}

static bool have_reserve(bench_data *d)
{
    d->reserve = calloc(d->reserve_size ? d->reserve_size : 1, 1);
    if (!d->reserve)
        dn_fail(DN_ALLOC_FAILED, "no memory for the mask");
    return d->reserve != NULL;
}

static bool have_states(bench_data *d, const bench_case *c)
{
    dn_dropout_state state = { .seed = c->seed };
    d->states_size = sizeof state;
    d->states = malloc(sizeof state);
    if (!d->states) {
        dn_fail(DN_ALLOC_FAILED, "no memory for the states");
        return false;
    }
    memcpy(d->states, &state, sizeof state);
    return true;
}

/* What lies past the end of a sequence nobody reads: NaN. In a packed tensor the steps that live come first, without a gap. */
static void spoil_padding(const bench_data *d, const bench_case *c, bench_slot *s)
{
    int64_t time = s->t.dims[0], batch = s->t.dims[1], width = s->t.dims[2], living = 0;
    for (int64_t b = 0; b < batch; b++)
        living += d->lengths[b];
    for (int64_t row = 0; row < time * batch; row++)
        if (c->p.u.rnn.layout == DN_RNN_PACKED ? row >= living : row / batch >= d->lengths[row % batch])
            for (int64_t k = 0; k < width; k++)
                s->v[row * width + k] = NAN;
}

static bool make_sequences(bench_data *d, const bench_case *c)
{
    const dn_tensor *x = dn_rnn_input(&c->p);
    d->lengths = malloc((size_t)x->dims[1] * sizeof *d->lengths);
    if (!d->lengths) {
        dn_fail(DN_ALLOC_FAILED, "no memory for the lengths");
        return false;
    }
    for (int64_t b = 0; b < x->dims[1]; b++)
        d->lengths[b] = bench_length_of(&c->len, b, x->dims[1], x->dims[0]);
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        if (d->s[r].v && d->s[r].flow == BENCH_IN && d->s[r].t.rank == 3)
            spoil_padding(d, c, &d->s[r]);
    if (c->p.dir == DN_DIR_TRAIN && c->p.u.rnn.dropout && !have_states(d, c))
        return false;
    return bench_chain_make(d, c);
}

static bool make_reserve(bench_data *d, const bench_case *c)
{
    if (c->p.op == DN_OP_BN && dn_bn_reserve_size(&c->p)) {
        dn_bn_mask(&c->p.t[DN_X], &d->mask);
        d->reserve_size = dn_bn_reserve_size(&c->p);
        d->reserve_in = c->p.dir == DN_DIR_BWD;
        return have_reserve(d);
    }
    if (c->p.op == DN_OP_RNN)
        return make_sequences(d, c);
    if (c->p.op == DN_OP_ATTN) {
        bool drops = c->p.dir == DN_DIR_TRAIN && (c->p.u.attn.dropout || c->p.u.attn.post);
        return bench_attn_windows(d, c) && (!drops || have_states(d, c)) && bench_chain_make(d, c);
    }
    if (c->p.op != DN_OP_DROPOUT)
        return true;
    bool fwd = c->p.dir == DN_DIR_FWD;
    if (!dn_dropout_reserve_size(&c->p.t[fwd ? DN_X : DN_DY], &d->reserve_size))
        return false;
    d->reserve_in = !fwd;
    d->bits = dn_tensor_count(&c->p.t[fwd ? DN_X : DN_DY]);
    return have_reserve(d) && have_states(d, c);
}

/* Elements that share memory have one value: the last in logical order. */
static bool settle(bench_slot *s)
{
    int64_t lo, hi;
    if (!bench_overlaps(&s->t) || !dn_tensor_span(&s->t, &lo, &hi))
        return true;
    int64_t first = lo * s->t.vect, cells = (hi - lo + 1) * s->t.vect;
    double *cell = malloc((size_t)cells * sizeof *cell);
    if (!cell) {
        dn_fail(DN_ALLOC_FAILED, "no memory for %lld values", (long long)cells);
        return false;
    }
    for (int64_t i = 0; i < s->count; i++)
        cell[bench_offset(&s->t, i) - first] = s->v[i];
    for (int64_t i = 0; i < s->count; i++)
        s->v[i] = cell[bench_offset(&s->t, i) - first];
    free(cell);
    return true;
}

/* The slot's values before the run, but for those that the forward pass gives. */
static bool make_slot(const bench_case *c, bench_slot *s, int slot)
{
    bool prior = s->flow == BENCH_OUT && !(c->p.flags & DN_F_BETA_ZERO) && bench_blends(&c->p, slot);
    if (!room(s))
        return false;
    if (s->flow & BENCH_IN || prior) {
        fill(c, s, slot);
        return settle(s);
    }
    for (int64_t i = 0; i < s->count; i++)
        s->v[i] = NAN;
    return true;
}

bool bench_data_make(bench_data *d, const bench_case *c)
{
    bool good = true;
    memset(d, 0, sizeof *d);
    bench_operands(d, c);
    for (int k = 0; good && k < BENCH_SLOTS; k++)
        if (d->s[k].t.rank && (k >= DN_ROLE_COUNT || d->s[k].flow))
            good = make_slot(c, &d->s[k], k);
    good = good && make_reserve(d, c) && (c->coarse || set_dependent(d, c));
    for (int k = 0; good && k < BENCH_SLOTS; k++)
        if (d->s[k].v && d->s[k].share >= 0)
            memcpy(d->s[k].v, d->s[d->s[k].share].v, (size_t)d->s[k].count * sizeof(double));
    if (!good)
        bench_data_free(d);
    return good;
}

void bench_data_free(bench_data *d)
{
    for (int k = 0; k < BENCH_SLOTS; k++)
        free(d->s[k].v);
    free(d->states);
    free(d->reserve);
    free(d->lengths);
    free(d->lo);
    free(d->hi);
    bench_chain_free(d);
    memset(d, 0, sizeof *d);
}

double bench_data_bytes(const bench_case *c)
{
    enum { COPIES = 3 };  /* of what the memory spans: itself, what inputs were, which bytes are owned */
    double n = 0;
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        const dn_tensor *t = &c->p.t[r];
        double count = t->rank ? 1 : 0, span = count;
        for (int k = 0; k < t->rank; k++) {
            count *= (double)t->dims[k];
            span += fabs((double)t->strides[k]) * (double)(t->dims[k] - 1);
        }
        n += count * 4 * sizeof(double) + COPIES * span * t->vect * (double)dn_dtype_size((dn_dtype)t->type);
    }
    dn_rnn_reserve r;
    if (c->p.op == DN_OP_RNN && c->p.dir != DN_DIR_INFER && dn_rnn_reserve_layout(&c->p, &r))
        n = 3 * n + 4 * (double)r.bytes;  /* the calls before have arrays of their own; in double it is up to four times as large */
    return n;
}
