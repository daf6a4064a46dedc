/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "operands.h"

#include "attn.h"
#include "ctc.h"
#include "ops/fused.h"
#include "ops/reduce.h"
#include "ops/rnn.h"

#include <string.h>

#define X (1u << DN_X)
#define Y (1u << DN_Y)
#define W (1u << DN_W)
#define Z (1u << DN_Z)
#define B (1u << DN_B)
#define DX (1u << DN_DX)
#define DY (1u << DN_DY)
#define DZ (1u << DN_DZ)
#define A(name) ((uint64_t)1 << DN_AUX_##name)

/* Roles and auxiliary arrays, as masks. A role that the problem leaves out (rank 0) is not there; the aux arrays are all there,
 * but for the statistics at stats=none. */
static const struct operands {
    uint8_t op, dir;
    unsigned in, out;
    uint64_t aux_in, aux_out, scratch;
} table[] = {
    { DN_OP_CONV, DN_DIR_FWD, X | W, Y, 0, 0, 0 },
    { DN_OP_CONV, DN_DIR_BWD_DATA, W | Y, X, 0, 0, 0 },
    { DN_OP_CONV, DN_DIR_BWD_FILTER, X | Y, W, 0, 0, 0 },
    { DN_OP_CONV, DN_DIR_BWD_BIAS, Y, B, 0, 0, 0 },
    { DN_OP_CONV_BIAS_ACT, DN_DIR_FWD, X | W | Z | B, Y, 0, 0, 0 },
    { DN_OP_POOL, DN_DIR_FWD, X, Y, 0, 0, 0 },
    { DN_OP_POOL, DN_DIR_BWD_DATA, X | Y | DY, DX, 0, 0, 0 },
    { DN_OP_ACT, DN_DIR_FWD, X, Y, 0, 0, 0 },
    { DN_OP_ACT, DN_DIR_BWD_DATA, X | Y | DY, DX, 0, 0, 0 },
    { DN_OP_SOFTMAX, DN_DIR_FWD, X, Y, 0, 0, 0 },
    { DN_OP_SOFTMAX, DN_DIR_BWD_DATA, Y | DY, DX, 0, 0, 0 },
    { DN_OP_BN, DN_DIR_INFER, X | Z, Y, A(SCALE) | A(BIAS) | A(MEAN) | A(VAR), 0, 0 },
    { DN_OP_BN, DN_DIR_TRAIN, X | Z, Y, A(SCALE) | A(BIAS) | A(MEAN) | A(VAR), A(MEAN) | A(VAR) | A(SAVE_MEAN) | A(SAVE_INVSTD), 0 },
    { DN_OP_BN, DN_DIR_BWD, X | Y | DY, DX | DZ, A(SCALE) | A(BIAS) | A(SAVE_MEAN) | A(SAVE_INVSTD), A(DSCALE) | A(DBIAS), 0 },
    { DN_OP_DROPOUT, DN_DIR_FWD, X, Y, 0, 0, 0 },
    { DN_OP_DROPOUT, DN_DIR_BWD_DATA, DY, DX, 0, 0, 0 },
    { DN_OP_ADD, DN_DIR_FWD, X, Y, 0, 0, 0 },
    { DN_OP_SCALE, DN_DIR_FWD, Y, Y, 0, 0, 0 },
    { DN_OP_SET, DN_DIR_FWD, 0, Y, 0, 0, 0 },
    { DN_OP_TRANSFORM, DN_DIR_FWD, X, Y, 0, 0, 0 },
    { DN_OP_TENSOR, DN_DIR_FWD, X | B, Y, 0, 0, 0 },
    { DN_OP_REDUCE, DN_DIR_FWD, X, Y, 0, A(INDICES), 0 },
    { DN_OP_TRANSFORM_EX, DN_DIR_FWD, X, Y, 0, 0, 0 },
    { DN_OP_IM2COL, DN_DIR_FWD, X, Y, 0, 0, 0 },
    { DN_OP_LRN, DN_DIR_FWD, X, Y, 0, 0, 0 },
    { DN_OP_LRN, DN_DIR_BWD_DATA, X | Y | DY, DX, 0, 0, 0 },
    { DN_OP_DIVNORM, DN_DIR_FWD, X | B, Y, 0, 0, A(TEMP) | A(TEMP2) },
    { DN_OP_DIVNORM, DN_DIR_BWD_DATA, X | B | DY, DX | DZ, 0, 0, A(TEMP) | A(TEMP2) },
    { DN_OP_ST_GRID, DN_DIR_FWD, X, Y, 0, 0, 0 },
    { DN_OP_ST_GRID, DN_DIR_BWD_DATA, DY, DX, 0, 0, 0 },
    { DN_OP_ST_SAMPLER, DN_DIR_FWD, X | B, Y, 0, 0, 0 },
    { DN_OP_ST_SAMPLER, DN_DIR_BWD, X | B | DY, DX | DZ, 0, 0, 0 },
    { DN_OP_RNN, DN_DIR_INFER, X | W, Y, A(HX) | A(CX), A(HY) | A(CY), 0 },
    { DN_OP_RNN, DN_DIR_TRAIN, X | W, Y, A(HX) | A(CX), A(HY) | A(CY), 0 },
    { DN_OP_RNN, DN_DIR_BWD_DATA, Y | DY | W, DX, A(HX) | A(CX) | A(DHY) | A(DCY), A(DHX) | A(DCX), 0 },
    { DN_OP_RNN, DN_DIR_BWD_FILTER, X | Y, W, A(HX), 0, 0 },
    { DN_OP_ATTN, DN_DIR_INFER, X | B | Z | W, Y, A(LENGTHS_QO) | A(LENGTHS_KV) | A(RESIDUAL), 0, 0 },
    { DN_OP_ATTN, DN_DIR_TRAIN, X | B | Z | W, Y, A(LENGTHS_QO) | A(LENGTHS_KV) | A(RESIDUAL), 0, 0 },
    { DN_OP_ATTN, DN_DIR_BWD_DATA, X | B | Z | W | DY, DX, A(LENGTHS_QO) | A(LENGTHS_KV), A(DKEYS) | A(DVALUES), 0 },
    { DN_OP_ATTN, DN_DIR_BWD_FILTER, X | B | Z | DY, W, 0, 0, 0 },
    { DN_OP_CTC, DN_DIR_FWD, X, DX, A(LABELS) | A(LABEL_LENGTHS) | A(INPUT_LENGTHS), A(COSTS), 0 },
    { DN_OP_SBA, DN_DIR_FWD, X | Z, Y | B, A(SCALE) | A(BIAS) | A(SCALE2) | A(BIAS2), 0, 0 },
    { DN_OP_SBA, DN_DIR_BWD_DATA, DY | B, DX, 0, 0, 0 },
    { DN_OP_STATS, DN_DIR_FWD, X, 0, 0, A(SUM) | A(SQSUM), 0 },
    { DN_OP_BN_FINAL, DN_DIR_TRAIN, 0, 0, A(SUM) | A(SQSUM) | A(SCALE) | A(BIAS) | A(MEAN) | A(VAR),
      A(MEAN) | A(VAR) | A(SAVE_MEAN) | A(SAVE_INVSTD) | A(SCALE2) | A(BIAS2), 0 },
    { DN_OP_BN_FINAL, DN_DIR_INFER, 0, 0, A(SCALE) | A(BIAS) | A(MEAN) | A(VAR), A(SCALE2) | A(BIAS2), 0 },
};

#undef X
#undef Y
#undef W
#undef Z
#undef B
#undef DX
#undef DY
#undef DZ

static const struct operands *entry(const dn_problem *p)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].op == p->op && table[i].dir == p->dir)
            return &table[i];
    return NULL;
}

bool bench_knows(dn_op op, dn_dir dir)
{
    dn_problem p = { .op = (uint8_t)op, .dir = (uint8_t)dir };
    return entry(&p) != NULL;
}

const char *bench_slot_name(int slot)
{
    static const char *const names[BENCH_SLOTS] = {
        "x", "y", "w", "z", "b", "dx", "dy", "dz", "scale", "bias", "mean", "variance", "saved mean", "saved invstd", "dscale",
        "dbias", "states", "indices", "temp", "temp2",
        [BENCH_AUX(DN_AUX_HX)] = "hx", [BENCH_AUX(DN_AUX_HY)] = "hy", [BENCH_AUX(DN_AUX_CX)] = "cx", [BENCH_AUX(DN_AUX_CY)] = "cy",
        [BENCH_AUX(DN_AUX_DHX)] = "dhx", [BENCH_AUX(DN_AUX_DHY)] = "dhy", [BENCH_AUX(DN_AUX_DCX)] = "dcx", [BENCH_AUX(DN_AUX_DCY)] = "dcy",
        [BENCH_AUX(DN_AUX_LABELS)] = "labels", [BENCH_AUX(DN_AUX_LABEL_LENGTHS)] = "label lengths",
        [BENCH_AUX(DN_AUX_INPUT_LENGTHS)] = "input lengths", [BENCH_AUX(DN_AUX_COSTS)] = "costs",
        [BENCH_AUX(DN_AUX_SUM)] = "sum", [BENCH_AUX(DN_AUX_SQSUM)] = "sum of squares",
        [BENCH_AUX(DN_AUX_LENGTHS_QO)] = "query lengths", [BENCH_AUX(DN_AUX_LENGTHS_KV)] = "key lengths",
        [BENCH_AUX(DN_AUX_RESIDUAL)] = "residuals", [BENCH_AUX(DN_AUX_DKEYS)] = "dkeys", [BENCH_AUX(DN_AUX_DVALUES)] = "dvalues",
        [BENCH_AUX(DN_AUX_STATES2)] = "states2", [BENCH_AUX(DN_AUX_SCALE2)] = "scale2", [BENCH_AUX(DN_AUX_BIAS2)] = "bias2"
    };
    return names[slot];
}

static bool is_cell(int aux)
{
    return aux == DN_AUX_CX || aux == DN_AUX_CY || aux == DN_AUX_DCX || aux == DN_AUX_DCY;
}

/* A state of a recurrent network: pseudo layer, batch element, unit. */
static dn_tensor state_tensor(const dn_problem *p, bool cell)
{
    const dn_rnn_param *u = &p->u.rnn;
    const dn_tensor *x = dn_rnn_input(p);
    dn_tensor t = { .type = x->type, .rank = 3, .vect = 1 };
    t.dims[0] = (int64_t)u->layers * dn_rnn_directions(u);
    t.dims[1] = x->dims[1];
    t.dims[2] = cell ? u->hidden : u->proj;
    dn_tensor_pack(&t);
    return t;
}

/* The tensor that describes an aux array. */
static dn_tensor aux_tensor(const dn_problem *p, int aux)
{
    static const uint8_t index_types[] = { DN_I32, DN_I64, 0, DN_U8 };
    dn_tensor t = p->t[DN_W];
    if (p->op == DN_OP_BN_FINAL && (aux == DN_AUX_SCALE2 || aux == DN_AUX_BIAS2))
        t = p->t[DN_B];
    if (aux == DN_AUX_TEMP || aux == DN_AUX_TEMP2)
        t = p->t[DN_X];
    if (p->op == DN_OP_RNN)
        t = state_tensor(p, is_cell(aux));
    if (p->op == DN_OP_CTC)
        t = bench_ctc_tensor(p, aux);
    if (p->op == DN_OP_ATTN)
        t = bench_attn_tensor(p, aux);
    if (aux == DN_AUX_INDICES) {
        t = p->t[DN_Y];
        t.type = index_types[p->u.reduce.index_type & 3];
        t.vect = 1;
        dn_tensor_pack(&t);
        if (!dn_reduce_is_indexed(&p->u.reduce))
            t.rank = 0;
    }
    return t;
}

/* What the output of an in-place call lies over. */
static int shared_with(const dn_problem *p)
{
    if (p->op == DN_OP_CONV_BIAS_ACT)
        return DN_Z;
    return p->dir == DN_DIR_BWD_DATA || p->dir == DN_DIR_BWD ? DN_DY : DN_X;
}

static bool has_aux(const bench_case *c, int aux)
{
    if (c->p.op == DN_OP_SBA || c->p.op == DN_OP_STATS || c->p.op == DN_OP_BN_FINAL)
        return dn_fused_has(&c->p, (dn_aux)aux);
    if (c->p.op == DN_OP_ATTN)
        return bench_attn_has(&c->p, aux);
    if (c->p.op == DN_OP_RNN)
        return !c->no_states && (!is_cell(aux) || c->p.u.rnn.cell == DN_RNN_LSTM);
    uint64_t stats = A(SAVE_MEAN) | A(SAVE_INVSTD);
    if (c->p.dir == DN_DIR_TRAIN)
        stats |= A(MEAN) | A(VAR);
    return !c->no_stats || !(stats >> aux & 1);
}

void bench_operands(bench_data *d, const bench_case *c)
{
    const struct operands *e = entry(&c->p);
    for (int k = 0; k < BENCH_SLOTS; k++)
        d->s[k].share = -1;
    if (!e)
        return;
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        d->s[r].t = c->p.t[r];
        d->s[r].flow = (e->in >> r & 1 ? BENCH_IN : 0) | (e->out >> r & 1 ? BENCH_OUT : 0);
        if ((c->p.flags & DN_F_IN_PLACE) && (e->out >> r & 1) && (r == DN_Y || r == DN_DX))
            d->s[r].share = shared_with(&c->p);
    }
    for (int a = 0; a < DN_AUX_COUNT; a++) {
        if (!((e->aux_in | e->aux_out | e->scratch) >> a & 1) || !has_aux(c, a))
            continue;
        bench_slot *s = &d->s[BENCH_AUX(a)];
        s->t = aux_tensor(&c->p, a);
        s->flow = (e->aux_in >> a & 1 ? BENCH_IN : 0) | (e->aux_out >> a & 1 ? BENCH_OUT : 0);
    }
}

bool bench_blends(const dn_problem *p, int slot)
{
    if (p->op == DN_OP_RNN || p->op == DN_OP_ATTN)
        return p->dir == DN_DIR_BWD_FILTER && slot == DN_W;
    if (slot < DN_ROLE_COUNT)
        return true;
    return p->op == DN_OP_BN && (slot == BENCH_AUX(DN_AUX_DSCALE) || slot == BENCH_AUX(DN_AUX_DBIAS));
}

static double product(const dn_tensor *t, int from)
{
    double n = 1;
    for (int d = from; d < t->rank; d++)
        n *= (double)t->dims[d];
    return n;
}

static double conv_length(const dn_problem *p)
{
    const dn_tensor *w = &p->t[DN_W], *y = &p->t[DN_Y];
    switch (p->dir) {
    case DN_DIR_BWD_DATA:
        return product(w, 2) * (double)w->dims[0] / p->u.conv.groups;
    case DN_DIR_BWD_FILTER: case DN_DIR_BWD_BIAS:
        return product(y, 2) * (double)y->dims[0];
    default:
        return product(w, 1);
    }
}

/* Gradients by the weights sum over all steps; else the sums of one step, that errors go through again and again. */
static double rnn_length(const dn_problem *p)
{
    const dn_rnn_param *u = &p->u.rnn;
    const dn_tensor *x = dn_rnn_input(p);
    double step = (double)u->input + (double)u->hidden;
    return p->dir == DN_DIR_BWD_FILTER ? product(x, 0) / (double)x->dims[2] + step : step * dn_rnn_gates(u);
}

double bench_length(const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X], *y = &p->t[DN_Y];
    double window = 1;
    switch (p->op) {
    case DN_OP_CONV: case DN_OP_CONV_BIAS_ACT:
        return conv_length(p);
    case DN_OP_POOL:
        for (int d = 0; d < p->u.pool.spatial; d++)
            window *= p->u.pool.window[d];
        return window;
    case DN_OP_SOFTMAX:
        return p->u.softmax.mode ? (double)y->dims[1] : product(y, 1);
    case DN_OP_BN:
        return p->dir == DN_DIR_INFER ? 1 : product(x, 0) / product(&p->t[DN_W], 0);
    case DN_OP_STATS:
        return product(x, 0) / product(&p->t[DN_W], 0);
    case DN_OP_REDUCE:
        return product(x, 0) / product(y, 0);
    case DN_OP_RNN:
        return rnn_length(p);
    case DN_OP_CTC:
        return (double)x->dims[0];
    case DN_OP_ATTN:
        return bench_attn_length(p);
    case DN_OP_LRN:
        return p->u.lrn.n;
    case DN_OP_DIVNORM:
        return (double)p->u.lrn.n * p->u.lrn.n;
    case DN_OP_ST_GRID: case DN_OP_ST_SAMPLER:
        return p->dir == DN_DIR_FWD ? 4 : product(&p->t[DN_DY], 1);
    default:
        return 1;
    }
}

bool bench_is_sum(const dn_problem *p)
{
    switch (p->op) {
    case DN_OP_STATS: case DN_OP_CONV: case DN_OP_CONV_BIAS_ACT: case DN_OP_ADD: case DN_OP_TRANSFORM: case DN_OP_TRANSFORM_EX: case DN_OP_IM2COL:
        return true;
    case DN_OP_POOL:
        return p->u.pool.mode == 1 || p->u.pool.mode == 2;
    case DN_OP_TENSOR:
        return p->u.tensor_op.op <= 1;
    case DN_OP_REDUCE:
        return p->u.reduce.op == 0 || p->u.reduce.op == 5 || p->u.reduce.op == 6;
    default:
        return false;
    }
}

static double rnn_flops(const dn_problem *p)
{
    const dn_rnn_param *u = &p->u.rnn;
    const dn_tensor *x = dn_rnn_input(p);
    double sum = 0;
    dn_rnn_weight w;
    for (int k = 0, pseudos = u->layers * dn_rnn_directions(u); k < pseudos; k++)
        for (int i = 0; dn_rnn_weight_at(u, k, i, &w); i++)
            sum += (double)w.rows * (double)w.columns;
    return 2 * sum * (double)x->dims[0] * (double)x->dims[1];
}

double bench_flops(const dn_problem *p)
{
    if (p->op == DN_OP_RNN)
        return rnn_flops(p);
    if (p->op == DN_OP_ATTN)
        return bench_attn_flops(p);
    if (p->op != DN_OP_CONV && p->op != DN_OP_CONV_BIAS_ACT)
        return 0;
    return p->dir == DN_DIR_BWD_BIAS ? 0 : 2 * product(&p->t[DN_Y], 0) * product(&p->t[DN_W], 1);
}
