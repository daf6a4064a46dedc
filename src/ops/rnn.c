/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks: the weight space, the reserve space, the rules of a problem.
 * Tensors: infer, train X W Y; bwd_data Y DY W DX; bwd_filter X Y W, where W is the gradient. W is one dimension: the elements of the weight
 * space. All have one type. Gradient rows take the outputs from the reserve space, so Y's values are there for other libraries alone. */
#include "ops/rnn.h"

#include "ops/dropout.h"

int dn_rnn_gates(const dn_rnn_param *p)
{
    return p->cell == DN_RNN_LSTM ? 4 : p->cell == DN_RNN_GRU ? 3 : 1;
}

int dn_rnn_slots(const dn_rnn_param *p)
{
    return p->cell == DN_RNN_LSTM || p->cell == DN_RNN_GRU ? 4 : 1;
}

static bool projects(const dn_rnn_param *p)
{
    return p->proj != p->hidden;
}

int dn_rnn_linear_layers(const dn_rnn_param *p)
{
    return 2 * dn_rnn_gates(p) + projects(p);
}

int dn_rnn_directions(const dn_rnn_param *p)
{
    return p->bidirectional ? 2 : 1;
}

int64_t dn_rnn_pseudo_layers(const dn_rnn_param *p)
{
    return (int64_t)p->layers * dn_rnn_directions(p);
}

int64_t dn_rnn_input_size(const dn_rnn_param *p, int layer)
{
    return layer == 0 ? p->input : (int64_t)dn_rnn_directions(p) * p->proj;
}

/* --- weight space: the matrices of all pseudo layers, then the biases of all, each in the order of the linear layers --- */

static bool add_product(int64_t *sum, int64_t a, int64_t b)
{
    return !__builtin_mul_overflow(a, b, &a) && !__builtin_add_overflow(*sum, a, sum);
}

/* Shape of a linear layer; no offsets. */
static dn_rnn_weight shape_of(const dn_rnn_param *p, int layer, int linear)
{
    int gates = dn_rnn_gates(p);
    dn_rnn_weight w = { 0 };
    if (linear == 2 * gates) {
        w.rows = p->proj;
        w.columns = p->hidden;
        return w;
    }
    bool input = linear < gates;
    if (!input || layer > 0 || !p->skip) {
        w.rows = p->hidden;
        w.columns = input ? dn_rnn_input_size(p, layer) : p->proj;
    }
    if (p->bias == DN_RNN_BIAS_DOUBLE || p->bias == (input ? DN_RNN_BIAS_INPUT : DN_RNN_BIAS_RECURRENT))
        w.bias_rows = p->hidden;
    return w;
}

/* Elements of the matrices and of the biases of the linear layers before this one, in one pseudo layer of a layer. */
static bool sizes_before(const dn_rnn_param *p, int layer, int linear, int64_t *matrices, int64_t *biases)
{
    *matrices = *biases = 0;
    for (int i = 0; i < linear; i++) {
        dn_rnn_weight w = shape_of(p, layer, i);
        if (!add_product(matrices, w.rows, w.columns) || !add_product(biases, w.bias_rows, 1))
            return false;
    }
    return true;
}

/* Elements of the matrices and of the biases of the pseudo layers before this one. All layers but the first are alike. */
static bool sizes_to(const dn_rnn_param *p, int64_t pseudo, int64_t *matrices, int64_t *biases)
{
    int64_t m[2], b[2], directions = dn_rnn_directions(p), first = pseudo < directions ? pseudo : directions;
    *matrices = *biases = 0;
    for (int layer = 0; layer < 2; layer++)
        if (!sizes_before(p, layer, dn_rnn_linear_layers(p), &m[layer], &b[layer]))
            return false;
    return add_product(matrices, m[0], first) && add_product(matrices, m[1], pseudo - first) && add_product(biases, b[0], first)
        && add_product(biases, b[1], pseudo - first);
}

bool dn_rnn_weight_at(const dn_rnn_param *p, int pseudo, int linear, dn_rnn_weight *w)
{
    int layer = pseudo / dn_rnn_directions(p);
    int64_t pseudos = dn_rnn_pseudo_layers(p), all, biases, matrix, bias, matrix_in, bias_in, end;
    if (pseudo < 0 || pseudo >= pseudos || linear < 0 || linear >= dn_rnn_linear_layers(p))
        return false;
    if (!sizes_to(p, pseudos, &all, &biases) || __builtin_add_overflow(all, biases, &end) || !sizes_to(p, pseudo, &matrix, &bias)
        || !sizes_before(p, layer, linear, &matrix_in, &bias_in))
        return false;
    *w = shape_of(p, layer, linear);
    w->matrix = matrix + matrix_in;
    w->bias = all + bias + bias_in;
    return true;
}

int64_t dn_rnn_weight_count(const dn_rnn_param *p)
{
    int64_t matrices, biases;
    if (!sizes_to(p, dn_rnn_pseudo_layers(p), &matrices, &biases) || !add_product(&matrices, biases, 1))
        return -1;
    return matrices;
}

/* --- reserve space --- */

const dn_tensor *dn_rnn_input(const dn_problem *p)
{
    return &p->t[p->t[DN_X].rank ? DN_X : DN_DX];
}

dn_dtype dn_rnn_compute_type(const dn_problem *p)
{
    return dn_rnn_input(p)->type == DN_F64 ? DN_F64 : DN_F32;
}

/* Appends n sections of `count` elements of `size` bytes. */
static bool append(size_t *end, size_t *offset, size_t *pitch, size_t n, size_t count, size_t size)
{
    size_t bytes;
    *offset = *end;
    *pitch = 0;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 255)
        return false;
    *pitch = (bytes + 255) / 256 * 256;
    return !__builtin_mul_overflow(*pitch, n, &bytes) && !__builtin_add_overflow(*end, bytes, end);
}

static bool times(size_t *n, int64_t by)
{
    return (uint64_t)by <= SIZE_MAX && !__builtin_mul_overflow(*n, (size_t)by, n);
}

bool dn_rnn_reserve_layout(const dn_problem *p, dn_rnn_reserve *r)
{
    const dn_rnn_param *q = &p->u.rnn;
    const dn_tensor *x = dn_rnn_input(p);
    size_t data = dn_dtype_size((dn_dtype)x->type), compute = dn_dtype_size(dn_rnn_compute_type(p));
    size_t layers = (size_t)q->layers, pseudos = layers, rows = 1, end = 0, head_pitch;
    if (!times(&pseudos, dn_rnn_directions(q)) || !times(&rows, x->dims[0]) || !times(&rows, x->dims[1]))
        return false;
    size_t slots = rows, cells = rows, outs = rows, projs = rows;
    if (!times(&slots, dn_rnn_slots(q)) || !times(&slots, q->hidden) || !times(&cells, q->hidden) || !times(&outs, q->proj)
        || !times(&outs, dn_rnn_directions(q)) || !times(&projs, q->proj))
        return false;
    bool good = append(&end, &r->head, &head_pitch, 1, 1, sizeof(dn_dropout_state))
        && append(&end, &r->gates, &r->gates_pitch, pseudos, slots, compute)
        && append(&end, &r->cell, &r->cell_pitch, q->cell == DN_RNN_LSTM ? pseudos : 0, cells, compute)
        && append(&end, &r->out, &r->out_pitch, layers, outs, data)
        && append(&end, &r->dgates, &r->dgates_pitch, pseudos, slots, data)
        && append(&end, &r->dproj, &r->dproj_pitch, projects(q) ? pseudos : 0, projs, data);
    r->bytes = end;
    return good;
}

/* --- rules --- */

void dn_rnn_derive(dn_problem *p)
{
    const dn_tensor *x = dn_rnn_input(p);
    dn_rnn_param *q = &p->u.rnn;
    if (!q->input && x->rank == 3 && x->dims[2] <= INT32_MAX)
        q->input = (int32_t)x->dims[2];
    if (!q->hidden && q->skip)
        q->hidden = q->input;
    if (!q->proj)
        q->proj = q->hidden;
}

void dn_rnn_sequence(dn_tensor *t, dn_dtype type, int layout, int64_t time, int64_t batch, int64_t vector)
{
    *t = (dn_tensor){ .type = (uint8_t)type, .rank = 3, .vect = 1, .dims = { time, batch, vector } };
    bool major = layout == DN_RNN_BATCH_MAJOR;
    t->strides[0] = major ? vector : batch * vector;
    t->strides[1] = major ? time * vector : vector;
    t->strides[2] = 1;
}

static dn_status check_param(const dn_rnn_param *q)
{
    if (q->cell < DN_RNN_RELU || q->cell > DN_RNN_GRU)
        return dn_fail(DN_BAD_PARAM, "cellMode is %d; it must be 0 (ReLU), 1 (tanh), 2 (LSTM) or 3 (GRU)", q->cell);
    if (q->bias < DN_RNN_BIAS_NONE || q->bias > DN_RNN_BIAS_RECURRENT)
        return dn_fail(DN_BAD_PARAM, "biasMode is %d; it must be 0 (none), 1 (input), 2 (double) or 3 (recurrent)", q->bias);
    if (q->layout < DN_RNN_TIME_MAJOR || q->layout > DN_RNN_BATCH_MAJOR)
        return dn_fail(DN_BAD_PARAM, "layout is %d; it must be 0 (time major), 1 (packed) or 2 (batch major)", q->layout);
    if (q->layers < 1 || q->layers > INT32_MAX / 2)
        return dn_fail(DN_BAD_PARAM, "numLayers is %d; it must be 1 to %d", q->layers, INT32_MAX / 2);
    if (q->input < 1 || q->hidden < 1)
        return dn_fail(DN_BAD_PARAM, "inputSize is %d, hiddenSize %d; both must be 1 or more", q->input, q->hidden);
    if (q->proj < 1 || q->proj > q->hidden)
        return dn_fail(DN_BAD_PARAM, "projSize is %d; it must be 1 to hiddenSize = %d", q->proj, q->hidden);
    if (q->proj != q->hidden && q->cell != DN_RNN_LSTM)
        return dn_fail(DN_NOT_SUPPORTED, "projSize is %d, hiddenSize %d; only an LSTM has a projection", q->proj, q->hidden);
    if (q->skip && q->input != q->hidden)
        return dn_fail(DN_BAD_PARAM, "inputMode is CUDNN_SKIP_INPUT, inputSize %d, hiddenSize %d; there they must be equal", q->input,
                       q->hidden);
    if (q->clip && q->cell != DN_RNN_LSTM)
        return dn_fail(DN_BAD_PARAM, "clipMode is set; only an LSTM has cells to clip");
    if (q->clip && !(q->lclip <= q->rclip))
        return dn_fail(DN_BAD_PARAM, "lclip is %g, rclip %g; lclip must not be more, and neither NaN", q->lclip, q->rclip);
    return DN_SUCCESS;
}

static dn_status check_sequence(const dn_problem *p, dn_role role, int64_t vector)
{
    static const char *const names[DN_ROLE_COUNT] = { "xDesc", "yDesc", "", "", "", "dxDesc", "dyDesc", "" };
    const dn_tensor *t = &p->t[role], *x = dn_rnn_input(p);
    dn_tensor want;
    if (t->rank != 3)
        return dn_fail(DN_BAD_PARAM, "%s has %d dimensions; a sequence has 3: time, batch, vector", names[role], t->rank);
    if (t->type != x->type)
        return dn_fail(DN_BAD_PARAM, "%s has type %s, the input %s; they must be equal", names[role], dn_dtype_name((dn_dtype)t->type),
                       dn_dtype_name((dn_dtype)x->type));
    if (t->dims[0] != x->dims[0] || t->dims[1] != x->dims[1])
        return dn_fail(DN_BAD_PARAM, "%s has maxSeqLength %lld, batchSize %lld, the input %lld and %lld; they must be equal", names[role],
                       (long long)t->dims[0], (long long)t->dims[1], (long long)x->dims[0], (long long)x->dims[1]);
    if (t->dims[2] != vector)
        return dn_fail(DN_BAD_PARAM, "%s has vectorSize %lld; it must be %lld", names[role], (long long)t->dims[2], (long long)vector);
    if (!dn_tensor_countable(t))
        return dn_fail(DN_NOT_SUPPORTED, "%s has more than 2^52 elements", names[role]);
    dn_rnn_sequence(&want, (dn_dtype)t->type, p->u.rnn.layout, t->dims[0], t->dims[1], vector);
    for (int d = 0; d < 3; d++)
        if (t->strides[d] != want.strides[d])
            return dn_fail(DN_BAD_PARAM, "%s has stride %lld in dimension %d; in layout %d it must be %lld", names[role],
                           (long long)t->strides[d], d, p->u.rnn.layout, (long long)want.strides[d]);
    return DN_SUCCESS;
}

static dn_status check_weights(const dn_problem *p)
{
    const dn_tensor *w = &p->t[DN_W], *x = dn_rnn_input(p);
    int64_t count = dn_rnn_weight_count(&p->u.rnn);
    if (count < 0 || count > DN_COUNT_MAX)
        return dn_fail(DN_NOT_SUPPORTED, "the weight space has more than 2^52 elements");
    if (w->rank != 1 || w->dims[0] != count || w->type != x->type)
        return dn_fail(DN_BAD_PARAM, "the weight space has rank %d, %lld elements of type %s; it must be 1, %lld of type %s", w->rank,
                       (long long)w->dims[0], dn_dtype_name((dn_dtype)w->type), (long long)count, dn_dtype_name((dn_dtype)x->type));
    return DN_SUCCESS;
}

dn_status dn_rnn_check(const dn_problem *p)
{
    const dn_rnn_param *q = &p->u.rnn;
    const dn_tensor *x = dn_rnn_input(p);
    dn_role in = p->dir == DN_DIR_BWD_DATA ? DN_DX : DN_X;
    dn_rnn_reserve reserve;
    if (p->dir != DN_DIR_INFER && p->dir != DN_DIR_TRAIN && p->dir != DN_DIR_BWD_DATA && p->dir != DN_DIR_BWD_FILTER)
        return dn_fail(DN_BAD_PARAM, "direction is %s; a recurrent network has infer, train, bwd_data and bwd_filter",
                       dn_dir_name((dn_dir)p->dir));
    dn_status st = check_param(q);
    if (st != DN_SUCCESS)
        return st;
    if (x->type != DN_F32 && x->type != DN_F64 && x->type != DN_F16 && x->type != DN_BF16)
        return dn_fail(DN_NOT_SUPPORTED, "the data have type %s; it must be f32, f64, f16 or bf16", dn_dtype_name((dn_dtype)x->type));
    int64_t width = (int64_t)dn_rnn_directions(q) * q->proj;
    if ((st = check_sequence(p, in, q->input)) != DN_SUCCESS || (st = check_sequence(p, DN_Y, width)) != DN_SUCCESS)
        return st;
    if (p->dir == DN_DIR_BWD_DATA && (st = check_sequence(p, DN_DY, width)) != DN_SUCCESS)
        return st;
    if ((st = check_weights(p)) != DN_SUCCESS)
        return st;
    return dn_rnn_reserve_layout(p, &reserve) ? DN_SUCCESS
                                              : dn_fail(DN_NOT_SUPPORTED, "the reserve space has more bytes than an address counts");
}
