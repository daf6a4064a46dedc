/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A recurrent network for tests of ref's and cpu's rows: sizes, values in double, and a run of one direction on typed memory. */
#ifndef RNN_NET_H
#define RNN_NET_H

#include "core/engine.h"
#include "core/os.h"
#include "ops/dropout.h"
#include "ops/rnn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { BATCH_MAX = 4 };

/* Buffers in double; a network in double reads and writes them as they are, others through converted copies. */
enum { X, Y, DX, DY, W, DW, HX, HY, CX, CY, DHX, DHY, DCX, DCY, BUFFERS };

typedef struct net {
    dn_problem p;
    int32_t lengths[BATCH_MAX];
    double *v[BUFFERS];
    int64_t count[BUFFERS];
    unsigned char *reserve;
    size_t reserve_size;
    float dropout;
    double fill, beta;
} net;

static inline double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-52 - 1;
}

static inline void randomize(net *n, int buffer, double scale, uint64_t seed)
{
    for (int64_t i = 0; i < n->count[buffer]; i++)
        n->v[buffer][i] = scale * uniform(&seed);
}

static inline int64_t rows_of(const net *n)
{
    const dn_tensor *x = dn_rnn_input(&n->p);
    int64_t rows = 0;
    for (int64_t b = 0; b < x->dims[1]; b++)
        rows += n->lengths[b];
    return n->p.u.rnn.layout == DN_RNN_PACKED ? rows : x->dims[0] * x->dims[1];
}

static inline void set_dir(net *n, dn_dir dir)
{
    dn_problem *p = &n->p;
    const dn_rnn_param *q = &p->u.rnn;
    dn_tensor x = *dn_rnn_input(p);
    int64_t width = (int64_t)dn_rnn_directions(q) * q->proj;
    memset(p->t, 0, sizeof p->t);
    p->dir = (uint8_t)dir;
    p->t[dir == DN_DIR_BWD_DATA ? DN_DX : DN_X] = x;
    dn_rnn_sequence(&p->t[DN_Y], (dn_dtype)x.type, q->layout, x.dims[0], x.dims[1], width);
    if (dir == DN_DIR_BWD_DATA)
        p->t[DN_DY] = p->t[DN_Y];
    p->t[DN_W] = (dn_tensor){ .type = x.type, .rank = 1, .vect = 1, .dims = { dn_rnn_weight_count(q) }, .strides = { 1 } };
}

static inline void net_make(net *n, const dn_rnn_param *q, dn_dtype type, int64_t time, int64_t batch, const int32_t *lengths)
{
    memset(n, 0, sizeof *n);
    dn_problem_init(&n->p, DN_OP_RNN, DN_DIR_TRAIN);
    n->p.u.rnn = *q;
    n->p.compute = type == DN_F64 ? DN_F64 : DN_F32;
    dn_rnn_sequence(&n->p.t[DN_X], type, q->layout, time, batch, q->input);
    dn_rnn_reserve r;
    assert_true(dn_rnn_reserve_layout(&n->p, &r));
    set_dir(n, DN_DIR_TRAIN);
    for (int64_t b = 0; b < batch; b++)
        n->lengths[b] = lengths ? lengths[b] : (int32_t)time;
    int64_t pseudo = (int64_t)q->layers * dn_rnn_directions(q), width = n->p.t[DN_Y].dims[2], rows = rows_of(n);
    n->count[X] = n->count[DX] = rows * q->input;
    n->count[Y] = n->count[DY] = rows * width;
    n->count[W] = n->count[DW] = dn_rnn_weight_count(q);
    for (int k = HX; k < BUFFERS; k++)
        n->count[k] = pseudo * batch * (k == HX || k == HY || k == DHX || k == DHY ? q->proj : q->hidden);
    for (int k = 0; k < BUFFERS; k++) {
        n->v[k] = malloc((size_t)n->count[k] * sizeof(double) + 1);
        assert_non_null(n->v[k]);
        randomize(n, k, k == W ? 0.7 : 1, (uint64_t)k + 1);
    }
    n->reserve_size = r.bytes;
    n->reserve = malloc(r.bytes);
    assert_non_null(n->reserve);
    memset(n->reserve, 0xff, r.bytes);
}

static inline void net_free(net *n)
{
    for (int k = 0; k < BUFFERS; k++)
        free(n->v[k]);
    free(n->reserve);
}

/* Typed memory of the buffers for one run. */
typedef struct memory {
    void *at[BUFFERS];
    unsigned char states[sizeof(dn_dropout_state)];
} memory;

static inline void memory_make(const net *n, memory *m)
{
    dn_dtype type = (dn_dtype)dn_rnn_input(&n->p)->type;
    dn_dropout_state state = { .seed = 11, .call = 3 };
    memcpy(m->states, &state, sizeof state);
    for (int k = 0; k < BUFFERS; k++) {
        m->at[k] = malloc((size_t)n->count[k] * dn_dtype_size(type) + 1);
        assert_non_null(m->at[k]);
        dn_store_row(type, m->at[k], 0, 1, n->count[k], n->v[k], 1, 0);
    }
}

static inline void memory_take(net *n, memory *m)
{
    for (int k = 0; k < BUFFERS; k++) {
        dn_load_row((dn_dtype)dn_rnn_input(&n->p)->type, m->at[k], 0, 1, n->count[k], n->v[k]);
        free(m->at[k]);
    }
}

static inline void set_pointers(const net *n, const memory *m, dn_args *a)
{
    static const struct { int aux, buffer; } pairs[] = {
        { DN_AUX_HX, HX }, { DN_AUX_HY, HY }, { DN_AUX_CX, CX }, { DN_AUX_CY, CY },
        { DN_AUX_DHX, DHX }, { DN_AUX_DHY, DHY }, { DN_AUX_DCX, DCX }, { DN_AUX_DCY, DCY },
    };
    memset(a, 0, sizeof *a);
    a->ptr[DN_X] = m->at[X], a->ptr[DN_Y] = m->at[Y], a->ptr[DN_DX] = m->at[DX], a->ptr[DN_DY] = m->at[DY];
    a->ptr[DN_W] = m->at[n->p.dir == DN_DIR_BWD_FILTER ? DW : W];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        a->aux[pairs[i].aux] = m->at[pairs[i].buffer];
    a->aux[DN_AUX_STATES] = (void *)(uintptr_t)m->states;
    a->alpha = 1, a->beta = n->beta;
    a->dropout = n->dropout;
    a->lengths = n->lengths;
    a->fill = n->fill;
    a->reserve = n->reserve, a->reserve_size = n->reserve_size;
}

/* Runs one direction by the engine's first row; strip: the states are not given. */
static inline void run_by(const dn_engine *engine, net *n, dn_dir dir, bool strip)
{
    dn_handle h;
    dn_plan *plan;
    dn_args a;
    memory m;
    memset(&h, 0, sizeof h);
    h.engine = engine;
    set_dir(n, dir);
    if (dn_problem_check(&n->p) != DN_SUCCESS)
        fail_msg("%s", dn_error_text());
    const dn_solver *s = dn_solver_at(engine, DN_OP_RNN, dir, 0);
    assert_non_null(s);
    if (dn_solver_refuses(s, &n->p))
        fail_msg("%s: %s", s->name, dn_solver_refuses(s, &n->p));
    assert_int_equal(dn_plan_make(&h, s, &n->p, &plan), DN_SUCCESS);
    memory_make(n, &m);
    set_pointers(n, &m, &a);
    for (int k = DN_AUX_HX; k <= DN_AUX_DCY && strip; k++)
        a.aux[k] = NULL;
    unsigned char *block = malloc(plan->workspace + 65);
    assert_non_null(block);
    memset(block, 0xff, plan->workspace + 65);
    a.workspace = block + 1;  /* aligned to nothing */
    a.workspace_size = plan->workspace;
    assert_int_equal(s->run(&h, plan, &a), DN_SUCCESS);
    assert_int_equal(block[plan->workspace + 1], 0xff);
    free(block);
    dn_plan_free(plan);
    dn_handle_close(&h);
    memory_take(n, &m);
}

static inline void run(net *n, dn_dir dir, bool strip)
{
    run_by(&dn_ref_engine, n, dir, strip);
}

/* Where row (t, b) of a sequence of this width begins. */
static inline int64_t place(const net *n, int64_t t, int64_t b, int64_t width)
{
    const dn_tensor *x = dn_rnn_input(&n->p);
    if (n->p.u.rnn.layout == DN_RNN_BATCH_MAJOR)
        return (b * x->dims[0] + t) * width;
    if (n->p.u.rnn.layout == DN_RNN_TIME_MAJOR)
        return (t * x->dims[1] + b) * width;
    int64_t row = b;
    for (int64_t s = 0; s < t; s++)
        for (int64_t i = 0; i < x->dims[1]; i++)
            row += n->lengths[i] > s;
    return row * width;
}

static inline dn_rnn_param param(int cell, int bidirectional, int layout)
{
    return (dn_rnn_param){ .cell = cell, .bidirectional = bidirectional, .layers = 2, .input = 3, .hidden = 4, .proj = 4,
                           .bias = DN_RNN_BIAS_DOUBLE, .layout = layout };
}

#endif
