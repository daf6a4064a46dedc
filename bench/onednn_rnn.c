/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks by oneDNN's own forward primitives: lstm, lbr_gru (whose n is cuDNN's) and vanilla_rnn. Weights are the plain ones of
 * the case, reordered in each call to what the primitive asks for; biases those of the input products. For time alone: oneDNN has the gates of
 * GRU in another order (z r n) and one bias where cuDNN may have two. */
#include "onednn.h"

#include "core/os.h"
#include "ops/rnn.h"

#include <string.h>

enum { SRC_ITER = 2, SRC_ITER_C = 3, DST_ITER = 18, DST_ITER_C = 19, WEIGHTS_ITER = 34 };
enum { DESC_BYTES = 16384 };  /* room for an operation descriptor of version 2 */

typedef const dn_dnnl_md *cmd;

/* Descriptors by what they are; NULL where there is none. */
typedef struct network {
    int prop, direction, activation;
    cmd x, hx, cx, w, r, bias, y, hy, cy;
} network;

bool bench_onednn_has_rnn(const bench_case *c)
{
    const dn_problem *p = &c->p;
    const dn_rnn_param *q = &p->u.rnn;
    if (p->op != DN_OP_RNN || (p->dir != DN_DIR_INFER && p->dir != DN_DIR_TRAIN) || dn_rnn_input(p)->type != DN_F32)
        return false;
    bool alike = q->layers == 1 || q->input == dn_rnn_directions(q) * q->hidden, whole = !c->len.n && q->layout == DN_RNN_TIME_MAJOR;
    return alike && whole && q->bias == DN_RNN_BIAS_DOUBLE && q->proj == q->hidden && !q->skip && !q->clip && !q->dropout;
}

/* --- the two interfaces --- */

static void *symbol(void *lib, const char *name)
{
    void *f = dn_lib_symbol(lib, name);
    if (!f)
        dn_fail(DN_NOT_SUPPORTED, "oneDNN lacks %s", name);
    return f;
}

static int describe_2(void *lib, int cell, const network *n, void *desc)
{
    if (cell == DN_RNN_LSTM) {
        int (*f)(void *, int, int, cmd, cmd, cmd, cmd, cmd, cmd, cmd, cmd, cmd, unsigned);
        *(void **)&f = symbol(lib, "dnnl_lstm_forward_desc_init");
        return f ? f(desc, n->prop, n->direction, n->x, n->hx, n->cx, n->w, n->r, n->bias, n->y, n->hy, n->cy, 0) : 3;
    }
    if (cell == DN_RNN_GRU) {
        int (*f)(void *, int, int, cmd, cmd, cmd, cmd, cmd, cmd, cmd, unsigned);
        *(void **)&f = symbol(lib, "dnnl_lbr_gru_forward_desc_init");
        return f ? f(desc, n->prop, n->direction, n->x, n->hx, n->w, n->r, n->bias, n->y, n->hy, 0) : 3;
    }
    int (*f)(void *, int, int, int, cmd, cmd, cmd, cmd, cmd, cmd, cmd, unsigned, float, float);
    *(void **)&f = symbol(lib, "dnnl_vanilla_rnn_forward_desc_init");
    return f ? f(desc, n->prop, n->activation, n->direction, n->x, n->hx, n->w, n->r, n->bias, n->y, n->hy, 0, 0, 0) : 3;
}

static int make_2(void *lib, int cell, network *n, dn_dnnl_pd **out)
{
    static union {
        max_align_t align;
        char bytes[DESC_BYTES];
    } desc;
    int (*create)(dn_dnnl_pd **, const void *, const dn_dnnl_attr *, dn_dnnl_cpu *, const dn_dnnl_pd *);
    *(void **)&create = symbol(lib, "dnnl_primitive_desc_create");
    n->direction = n->direction ? 2 : 0;
    n->activation = cell == DN_RNN_RELU ? 0x1f : 0x2f;
    int st = describe_2(lib, cell, n, &desc);
    if (st || !create)
        return st ? st : 3;
    return create(out, &desc, NULL, dn_dnnl_get()->cpu, NULL);
}

static int make_3(void *lib, int cell, network *n, dn_dnnl_pd **out)
{
    dn_dnnl_cpu *cpu = dn_dnnl_get()->cpu;
    const dn_dnnl_attr *attr = NULL;
    n->direction = n->direction ? 3 : 1;
    n->activation = cell == DN_RNN_RELU ? 0x20 : 0x21;
    if (cell == DN_RNN_LSTM) {
        int (*f)(dn_dnnl_pd **, dn_dnnl_cpu *, int, int, cmd, cmd, cmd, cmd, cmd, cmd, cmd, cmd, cmd, cmd, cmd, unsigned, const dn_dnnl_attr *);
        *(void **)&f = symbol(lib, "dnnl_lstm_forward_primitive_desc_create");
        return f ? f(out, cpu, n->prop, n->direction, n->x, n->hx, n->cx, n->w, n->r, NULL, NULL, n->bias, n->y, n->hy, n->cy, 0, attr) : 3;
    }
    if (cell == DN_RNN_GRU) {
        int (*f)(dn_dnnl_pd **, dn_dnnl_cpu *, int, int, cmd, cmd, cmd, cmd, cmd, cmd, cmd, unsigned, const dn_dnnl_attr *);
        *(void **)&f = symbol(lib, "dnnl_lbr_gru_forward_primitive_desc_create");
        return f ? f(out, cpu, n->prop, n->direction, n->x, n->hx, n->w, n->r, n->bias, n->y, n->hy, 0, attr) : 3;
    }
    int (*f)(dn_dnnl_pd **, dn_dnnl_cpu *, int, int, int, cmd, cmd, cmd, cmd, cmd, cmd, cmd, unsigned, float, float, const dn_dnnl_attr *);
    *(void **)&f = symbol(lib, "dnnl_vanilla_rnn_forward_primitive_desc_create");
    return f ? f(out, cpu, n->prop, n->activation, n->direction, n->x, n->hx, n->w, n->r, n->bias, n->y, n->hy, 0, 0, 0, attr) : 3;
}

/* --- operands --- */

typedef struct place {
    int slot, arg;
    bool out, any;
    int64_t first;  /* element */
    int rank;
    int64_t dims[5], strides[5];
} place;

/* Appends one; answers the descriptor that the operation gets. */
static cmd put(bench_direct *x, const place *at, int *st)
{
    const dn_dnnl_interface *i = dn_dnnl_get()->i;
    bench_operand *o = &x->op[x->count++];
    *o = (bench_operand){ .slot = at->slot, .arg = at->arg, .out = at->out, .offset = (size_t)at->first * sizeof(float) };
    if (!*st)
        *st = i->md_make(&o->user, at->rank, at->dims, DN_DNNL_F32, at->strides);
    if (!*st)
        *st = i->md_make(&o->wish, at->rank, at->dims, DN_DNNL_F32, at->any ? NULL : at->strides);
    return o->wish;
}

static cmd put_sequence(bench_direct *x, const dn_problem *p, dn_role role, int arg, int *st)
{
    const dn_tensor *t = &p->t[role];
    place at = { .slot = role, .arg = arg, .out = role == DN_Y, .rank = 3, .dims = { t->dims[0], t->dims[1], t->dims[2] },
                 .strides = { t->dims[1] * t->dims[2], t->dims[2], 1 } };
    return put(x, &at, st);
}

static cmd put_state(bench_direct *x, const dn_problem *p, const bench_data *data, int aux, int arg, int *st)
{
    const dn_rnn_param *q = &p->u.rnn;
    int64_t batch = dn_rnn_input(p)->dims[1], d = dn_rnn_directions(q), h = q->hidden;
    place at = { .slot = BENCH_AUX(aux), .arg = arg, .out = arg == DST_ITER || arg == DST_ITER_C, .rank = 4, .dims = { q->layers, d, batch, h },
                 .strides = { d * batch * h, batch * h, h, 1 } };
    return data->s[BENCH_AUX(aux)].t.rank ? put(x, &at, st) : NULL;
}

/* Distance between the same things of two pseudo layers or layers (by: 1 or D); `alone` where there is one: oneDNN tells formats apart by
 * such strides too. */
static int64_t step(const dn_rnn_param *q, int by, bool bias, int64_t alone)
{
    dn_rnn_weight a, b;
    dn_rnn_weight_at(q, 0, 0, &a);
    if (!dn_rnn_weight_at(q, by, 0, &b))
        return alone;
    return bias ? b.bias - a.bias : b.matrix - a.matrix;
}

/* Matrices as oneDNN counts them: layer, direction, input, gate, output. */
static cmd put_matrices(bench_direct *x, const dn_problem *p, int linear, int arg, int *st)
{
    const dn_rnn_param *q = &p->u.rnn;
    dn_rnn_weight w;
    dn_rnn_weight_at(q, 0, linear, &w);
    int d = dn_rnn_directions(q);
    int64_t all = dn_rnn_gates(q) * w.rows * w.columns;
    place at = { .slot = DN_W, .arg = arg, .any = true, .first = w.matrix, .rank = 5, .dims = { q->layers, d, w.columns, dn_rnn_gates(q), w.rows },
                 .strides = { step(q, d, false, all), step(q, 1, false, all), 1, w.rows * w.columns, w.columns } };
    return put(x, &at, st);
}

static cmd put_biases(bench_direct *x, const dn_problem *p, int *st)
{
    const dn_rnn_param *q = &p->u.rnn;
    dn_rnn_weight w;
    dn_rnn_weight_at(q, 0, 0, &w);
    int d = dn_rnn_directions(q), gates = dn_rnn_gates(q) + (q->cell == DN_RNN_GRU);
    place at = { .slot = DN_W, .arg = DN_DNNL_ARG_BIAS, .first = w.bias, .rank = 4, .dims = { q->layers, d, gates, w.bias_rows },
                 .strides = { step(q, d, true, gates * w.bias_rows), step(q, 1, true, gates * w.bias_rows), w.bias_rows, 1 } };
    at.any = q->layers > 1 || d > 1;
    return put(x, &at, st);
}

dn_status bench_onednn_make_rnn(bench_direct *x, const dn_problem *p, const bench_data *data)
{
    const dn_dnnl *d = dn_dnnl_get();
    const dn_rnn_param *q = &p->u.rnn;
    bool lstm = q->cell == DN_RNN_LSTM, train = p->dir == DN_DIR_TRAIN;
    network n = { .prop = train ? DN_DNNL_TRAIN : DN_DNNL_INFER, .direction = q->bidirectional };
    int st = 0;
    n.x = put_sequence(x, p, DN_X, DN_DNNL_ARG_SRC, &st);
    n.y = put_sequence(x, p, DN_Y, DN_DNNL_ARG_DST, &st);
    n.w = put_matrices(x, p, 0, DN_DNNL_ARG_WEIGHTS, &st);
    n.r = put_matrices(x, p, dn_rnn_gates(q), WEIGHTS_ITER, &st);
    n.bias = put_biases(x, p, &st);
    n.hx = put_state(x, p, data, DN_AUX_HX, SRC_ITER, &st);
    n.hy = put_state(x, p, data, DN_AUX_HY, DST_ITER, &st);
    n.cx = lstm ? put_state(x, p, data, DN_AUX_CX, SRC_ITER_C, &st) : NULL;
    n.cy = lstm ? put_state(x, p, data, DN_AUX_CY, DST_ITER_C, &st) : NULL;
    void *lib = dn_lib_open(d->file);
    if (st || !lib)
        return bench_direct_refuse("a memory descriptor", st ? st : 5);
    st = d->major == 2 ? make_2(lib, q->cell, &n, &x->pd) : make_3(lib, q->cell, &n, &x->pd);
    if (st)
        return bench_direct_refuse("the recurrent network", st);
    if (train)
        x->op[x->count++] = (bench_operand){ .slot = -1, .arg = DN_DNNL_ARG_WORKSPACE, .out = true };
    return DN_SUCCESS;
}
