/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A call of a recurrent network becomes a problem. The first sequence decides time, batch, type, layout and lengths; the others must have
 * the same. */
#include "rnn.h"

#include <stdio.h>
#include <stdlib.h>

static bool going(const dn_rnn_call *c)
{
    return c->st == DN_SUCCESS;
}

static int directions(const dn_rnn_call *c)
{
    return c->p.u.rnn.bidirectional ? 2 : 1;
}

void dn_rnn_call_begin(dn_rnn_call *c, cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, dn_dir dir, bool v8)
{
    c->d = NULL;
    c->first = NULL;
    c->own = NULL;
    c->a = (dn_args){ .alpha = 1, .beta = dir == DN_DIR_BWD_FILTER };
    dn_problem_init(&c->p, DN_OP_RNN, dir);
    c->h = dn_handle_of(handle);
    if (c->h)
        c->d = v8 ? dn_rnn_v8_of(rnnDesc) : dn_rnn_of(rnnDesc);
    c->st = c->d ? DN_SUCCESS : DN_BAD_PARAM;
    if (!going(c))
        return;
    c->p.u.rnn = c->d->p;
    c->p.math = (uint8_t)c->d->math;
    c->p.flags = dir == DN_DIR_BWD_FILTER ? 0 : DN_F_BETA_ZERO;
    if (c->d->p.cell != DN_RNN_LSTM || !c->d->p.clip) {
        c->p.u.rnn.clip = c->p.u.rnn.clip_nan = 0;
        c->p.u.rnn.lclip = c->p.u.rnn.rclip = 0;
    }
}

/* --- sequences --- */

/* What both forms of description come to. */
typedef struct sequence {
    int type, layout, time, batch, vector, even;
    const int32_t *lengths;
} sequence;

/* The arithmetic must be able to hold the data: f64 for f64, f32 or half for the others. */
static dn_status check_type(const dn_rnn_desc *d, int type, const char *name)
{
    if (d->set == DN_RNN_SET_V8 && type != d->type)
        return dn_fail(DN_BAD_PARAM, "%s has type %s, rnnDesc %s; they must be equal", name, dn_dtype_name((dn_dtype)type),
                       dn_dtype_name((dn_dtype)d->type));
    int32_t known;
    if (d->set == DN_RNN_SET_V8)
        return DN_SUCCESS;
    dn_status st = dn_rnn_type(type, name, &known);
    if (st != DN_SUCCESS)
        return st;
    if ((type == DN_F64) != (d->prec == DN_F64) || (d->prec == DN_F16 && type != DN_F16))
        return dn_fail(DN_BAD_PARAM, "%s has type %s and rnnDesc mathPrec %s; it must be f64 for f64, f32 for others, or f16 for f16", name,
                       dn_dtype_name((dn_dtype)type), dn_dtype_name((dn_dtype)d->prec));
    return DN_SUCCESS;
}

static dn_status check_padding(const dn_rnn_call *c, const sequence *s, const char *name)
{
    if ((c->d->flags & CUDNN_RNN_PADDED_IO_ENABLED) || s->layout == DN_RNN_PACKED)
        return DN_SUCCESS;
    if (s->layout == DN_RNN_BATCH_MAJOR)
        return dn_fail(DN_BAD_PARAM, "%s has the batch major layout; rnnDesc needs CUDNN_RNN_PADDED_IO_ENABLED for it", name);
    if (!s->even)
        return dn_fail(DN_BAD_PARAM, "%s has padding: lengths below maxSeqLength; rnnDesc needs CUDNN_RNN_PADDED_IO_ENABLED for it", name);
    return DN_SUCCESS;
}

static dn_status check_plan(const dn_rnn_desc *d, const sequence *s, const char *name)
{
    if (d->algo != CUDNN_RNN_ALGO_PERSIST_DYNAMIC || !d->batch)
        return DN_SUCCESS;
    if (d->batch != s->batch)
        return dn_fail(DN_BAD_PARAM, "%s has %d sequences; the persistent plan of rnnDesc was made for %d", name, s->batch, d->batch);
    if (d->plan_type != s->type)
        return dn_fail(DN_BAD_PARAM, "%s has type %s; the persistent plan of rnnDesc was made for %s", name, dn_dtype_name((dn_dtype)s->type),
                       dn_dtype_name((dn_dtype)d->plan_type));
    return DN_SUCCESS;
}

static dn_status first_sequence(dn_rnn_call *c, const sequence *s, const char *name)
{
    dn_status st = check_type(c->d, s->type, name);
    if (st == DN_SUCCESS)
        st = check_padding(c, s, name);
    if (st != DN_SUCCESS)
        return st;
    c->first = name;
    c->time = s->time;
    c->batch = s->batch;
    c->even = s->even;
    c->a.lengths = s->lengths;
    c->p.u.rnn.layout = s->layout;
    c->p.compute = s->type == DN_F64 ? DN_F64 : DN_F32;
    return check_plan(c->d, s, name);
}

static dn_status other_sequence(const dn_rnn_call *c, const sequence *s, const char *name, int type)
{
    if (s->type != type)
        return dn_fail(DN_BAD_PARAM, "%s has type %s, %s %s; they must be equal", name, dn_dtype_name((dn_dtype)s->type), c->first,
                       dn_dtype_name((dn_dtype)type));
    if (s->layout != c->p.u.rnn.layout)
        return dn_fail(DN_BAD_PARAM, "%s has layout %d, %s %d; they must be equal", name, s->layout, c->first, c->p.u.rnn.layout);
    if (s->time != c->time || s->batch != c->batch)
        return dn_fail(DN_BAD_PARAM, "%s has %d steps of %d sequences, %s %d of %d; they must be equal", name, s->time, s->batch, c->first,
                       c->time, c->batch);
    for (int b = 0; b < s->batch && !(s->even && c->even); b++)
        if (s->lengths[b] != c->a.lengths[b])
            return dn_fail(DN_BAD_PARAM, "sequence %d of %s has length %d, of %s %d; they must be equal", b, name, s->lengths[b], c->first,
                           c->a.lengths[b]);
    return DN_SUCCESS;
}

static bool is_input(dn_role role)
{
    return role == DN_X || role == DN_DX;
}

static dn_status check_vector(dn_rnn_call *c, dn_role role, const sequence *s, const char *name)
{
    dn_rnn_param *q = &c->p.u.rnn;
    int64_t width = (int64_t)directions(c) * q->proj;
    if (is_input(role) && !q->input)
        q->input = s->vector;
    if (is_input(role) && s->vector != q->input)
        return dn_fail(DN_BAD_PARAM, "%s has vectors of %d, rnnDesc inputSize %d; they must be equal", name, s->vector, q->input);
    if (is_input(role) && q->skip && q->input != q->hidden)
        return dn_fail(DN_BAD_PARAM, "%s has vectors of %d, rnnDesc hiddenSize %d; they must be equal with CUDNN_SKIP_INPUT", name, s->vector,
                       q->hidden);
    if (!is_input(role) && s->vector != width)
        return dn_fail(DN_BAD_PARAM, "%s has vectors of %d; they must have %lld, directions times projSize", name, s->vector,
                       (long long)width);
    return DN_SUCCESS;
}

static void bind_sequence(dn_rnn_call *c, dn_role role, const sequence *s, const char *name, const void *data, const char *data_name)
{
    static const dn_role roles[] = { DN_X, DN_DX, DN_Y };
    c->st = c->first ? DN_SUCCESS : first_sequence(c, s, name);
    for (size_t i = 0; going(c) && i < sizeof roles / sizeof *roles; i++)
        if (c->p.t[roles[i]].rank)
            c->st = other_sequence(c, s, name, c->p.t[roles[i]].type);
    if (going(c))
        c->st = check_vector(c, role, s, name);
    if (going(c) && data_name)
        c->st = dn_want(data, data_name);
    if (!going(c))
        return;
    dn_tensor t;
    dn_rnn_sequence(&t, (dn_dtype)s->type, s->layout, s->time, s->batch, s->vector);
    dn_bind(&c->p, &c->a, role, &t, data);
}

void dn_rnn_bind_data(dn_rnn_call *c, dn_role role, const cudnnRNNDataDescriptor_t desc, const char *desc_name, const void *data,
                 const char *data_name)
{
    if (!going(c))
        return;
    const dn_rnn_data_desc *d = dn_rnn_data_of(desc, desc_name);
    if (!d) {
        c->st = DN_BAD_PARAM;
        return;
    }
    const sequence s = { d->type, d->layout, d->time, d->batch, d->vector, d->even, d->lengths };
    bind_sequence(c, role, &s, desc_name, data, data_name);
    if (going(c) && role == (c->p.dir == DN_DIR_BWD_DATA ? DN_DX : DN_Y))
        c->a.fill = d->fill;
}

/* Step t of the array: the first three dimensions are batch, vector, 1, without gaps; further ones are 1. */
static const dn_tensor *step_of(const cudnnTensorDescriptor_t *desc, int t, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "%s[%d]", name, t);
    const dn_tensor *x = dn_tensor_of(desc[t], text);
    if (!x)
        return NULL;
    if (!dn_tensor_is_packed(x) || dn_tensor_count(x) != x->dims[0] * x->dims[1] || x->dims[0] > INT32_MAX || x->dims[1] > INT32_MAX) {
        dn_fail(DN_BAD_PARAM, "%s must be packed, with dimensions batch, vector, and then 1", text);
        return NULL;
    }
    return x;
}

/* Sequence b has as many steps as there are tensors with more than b rows. */
static dn_status work_out_lengths(dn_rnn_call *c, int steps, const cudnnTensorDescriptor_t *desc, const char *name, sequence *s)
{
    int32_t *lengths = c->own ? c->own : c->local;
    if (!c->first && s->batch > DN_RNN_LOCAL) {
        c->own = lengths = malloc((size_t)s->batch * sizeof *lengths);
        if (!lengths)
            return dn_fail(DN_ALLOC_FAILED, "no memory for the lengths of %d sequences", s->batch);
    }
    s->lengths = lengths;
    int64_t before = s->batch;
    for (int t = 0; t < steps; t++) {
        const dn_tensor *x = step_of(desc, t, name);
        if (!x)
            return DN_BAD_PARAM;
        if (x->dims[0] > before || x->dims[1] != s->vector || x->type != s->type)
            return dn_fail(DN_BAD_PARAM, "%s[%d] has batch %lld, vectors of %lld, type %s; the step before it has batch %lld, which must not "
                           "rise, vectors of %d, type %s", name, t, (long long)x->dims[0], (long long)x->dims[1],
                           dn_dtype_name((dn_dtype)x->type), (long long)before, s->vector, dn_dtype_name((dn_dtype)s->type));
        for (int64_t b = x->dims[0]; b < before; b++) {
            if (c->first && (b >= c->batch || lengths[b] != t))
                return dn_fail(DN_BAD_PARAM, "%s[%d] has batch %lld; it must have that of %s", name, t, (long long)x->dims[0], c->first);
            lengths[b] = t;
        }
        before = x->dims[0];
    }
    s->even = before == s->batch;
    for (int64_t b = 0; b < before; b++) {
        if (c->first && (b >= c->batch || lengths[b] != steps))
            return dn_fail(DN_BAD_PARAM, "%s[%d] has batch %lld; it must have that of %s", name, steps - 1, (long long)before, c->first);
        lengths[b] = steps;
    }
    s->layout = s->even ? DN_RNN_TIME_MAJOR : DN_RNN_PACKED;
    return DN_SUCCESS;
}

void dn_rnn_bind_steps(dn_rnn_call *c, dn_role role, int steps, const cudnnTensorDescriptor_t *desc, const char *desc_name, const void *data,
                  const char *data_name)
{
    if (!going(c))
        return;
    const dn_tensor *x = NULL;
    if (!dn_want_range(steps, 1, INT32_MAX, "seqLength", "1 or more") && !dn_want(desc, desc_name))
        x = step_of(desc, 0, desc_name);
    if (!x) {
        c->st = DN_BAD_PARAM;
        return;
    }
    sequence s = { .type = x->type, .time = steps, .batch = (int)x->dims[0], .vector = (int)x->dims[1] };
    c->st = work_out_lengths(c, steps, desc, desc_name, &s);
    if (going(c))
        bind_sequence(c, role, &s, desc_name, data, data_name);
}

/* --- states, weights, spaces --- */

/* [layers * directions][batch][size], packed; further dimensions are 1. */
static dn_status check_state(const dn_rnn_call *c, const dn_tensor *t, const char *name, int64_t size)
{
    const int64_t want[3] = { (int64_t)c->p.u.rnn.layers * directions(c), c->batch, size };
    for (int d = 0; d < t->rank; d++)
        if (t->dims[d] != (d < 3 ? want[d] : 1))
            return dn_fail(DN_BAD_PARAM, "%s has %lld in dimension %d; its dimensions must be %lld (layers, directions), %d (batch), %lld",
                           name, (long long)t->dims[d], d, (long long)want[0], c->batch, (long long)size);
    if (t->rank < 3 || !dn_tensor_is_packed(t))
        return dn_fail(DN_BAD_PARAM, "%s must have three packed dimensions", name);
    int type = c->p.t[DN_Y].type;
    if (t->type != type)
        return dn_fail(DN_BAD_PARAM, "%s has type %s, the sequences %s; they must be equal", name, dn_dtype_name((dn_dtype)t->type),
                       dn_dtype_name((dn_dtype)type));
    return DN_SUCCESS;
}

static bool is_cell(dn_aux aux)
{
    return aux == DN_AUX_CX || aux == DN_AUX_CY || aux == DN_AUX_DCX || aux == DN_AUX_DCY;
}

void dn_rnn_bind_state(dn_rnn_call *c, dn_aux aux, const cudnnTensorDescriptor_t desc, const char *desc_name, const void *data)
{
    if (!going(c) || (is_cell(aux) && c->p.u.rnn.cell != DN_RNN_LSTM))
        return;
    if (!data) {
        if (desc && !dn_object_of(&dn_tensor_pool, desc, desc_name))
            c->st = DN_BAD_PARAM;
        return;
    }
    const dn_tensor *t = dn_tensor_of(desc, desc_name);
    c->st = t ? check_state(c, t, desc_name, is_cell(aux) ? c->p.u.rnn.hidden : c->p.u.rnn.proj) : DN_BAD_PARAM;
    c->a.aux[aux] = (void *)(uintptr_t)data;
}

/* The weight space as one dimension. */
static dn_status weight_tensor(const dn_rnn_call *c, dn_tensor *t)
{
    int64_t count = dn_rnn_weight_count(&c->p.u.rnn);
    if (count < 0 || count > DN_COUNT_MAX)
        return dn_fail(DN_NOT_SUPPORTED, "the weight space has more than 2^52 elements");
    *t = (dn_tensor){ .type = c->p.t[DN_Y].type, .rank = 1, .vect = 1, .dims = { count }, .strides = { 1 } };
    return DN_SUCCESS;
}

void dn_rnn_bind_weights(dn_rnn_call *c, size_t size, const char *size_name, const void *data, const char *name)
{
    dn_tensor t;
    if (going(c))
        c->st = weight_tensor(c, &t);
    if (!going(c))
        return;
    size_t need = (size_t)t.dims[0] * dn_dtype_size((dn_dtype)t.type);
    if (size < need)
        c->st = dn_fail(DN_BAD_PARAM, "%s is %zu; the weights take %zu bytes", size_name, size, need);
    else
        c->st = dn_want(data, name);
    if (going(c))
        dn_bind(&c->p, &c->a, DN_W, &t, data);
}

void dn_rnn_bind_filter(dn_rnn_call *c, const cudnnFilterDescriptor_t desc, const char *desc_name, const void *data, const char *name)
{
    if (!going(c))
        return;
    const dn_filter_desc *f = dn_filter_of(desc, desc_name);
    if (!f) {
        c->st = DN_BAD_PARAM;
        return;
    }
    int type = c->p.t[DN_Y].type;
    if (f->t.type != type) {
        c->st = dn_fail(DN_BAD_PARAM, "%s has type %s, the sequences %s; they must be equal", desc_name, dn_dtype_name((dn_dtype)f->t.type),
                        dn_dtype_name((dn_dtype)type));
        return;
    }
    char size_name[48];
    snprintf(size_name, sizeof size_name, "the size in bytes of %s", desc_name);
    dn_rnn_bind_weights(c, (size_t)dn_tensor_count(&f->t) * dn_dtype_size((dn_dtype)type), size_name, data, name);
}

void dn_rnn_bind_workspace(dn_rnn_call *c, const void *data, size_t size)
{
    c->a.workspace = (void *)(uintptr_t)data;
    c->a.workspace_size = size;
}

void dn_rnn_bind_reserve(dn_rnn_call *c, const void *data, size_t size, const char *size_name)
{
    dn_rnn_call_finish(c);
    if (!going(c))
        return;
    if (size < c->reserve.bytes)
        c->st = dn_fail(DN_BAD_PARAM, "%s is %zu; training with this network and batch takes %zu bytes", size_name, size, c->reserve.bytes);
    else
        c->st = dn_want(data, "reserveSpace");
    c->a.reserve = (void *)(uintptr_t)data;
    c->a.reserve_size = size;
}

/* Between layers, in training alone. */
static dn_status set_dropout(dn_rnn_call *c)
{
    if (!c->d->dropout || c->p.dir == DN_DIR_INFER || c->p.u.rnn.layers < 2)
        return DN_SUCCESS;
    const dn_dropout_desc *drop = dn_dropout_of(c->d->dropout, "dropoutDesc of rnnDesc");
    if (!drop)
        return DN_BAD_PARAM;
    if (drop->dropout == 0)
        return DN_SUCCESS;
    if (!drop->states)
        return dn_fail(DN_BAD_PARAM, "dropoutDesc of rnnDesc has no states; cudnnSetDropoutDescriptor was called with NULL for them");
    c->p.u.rnn.dropout = 1;
    c->a.dropout = drop->dropout;
    c->a.aux[DN_AUX_STATES] = drop->states;
    return DN_SUCCESS;
}

void dn_rnn_call_finish(dn_rnn_call *c)
{
    if (going(c))
        c->st = set_dropout(c);
    if (going(c))
        c->st = dn_rnn_check(&c->p);
    if (going(c) && !dn_rnn_reserve_layout(&c->p, &c->reserve))
        c->st = dn_fail(DN_NOT_SUPPORTED, "the reserve space has more bytes than an address counts");
}

/* Other tensors, laid out like x. */
static dn_status query_tensors(dn_rnn_call *c, dn_tensor *y, dn_tensor *w)
{
    const dn_tensor *x = &c->p.t[c->p.t[DN_X].rank ? DN_X : DN_DX];
    dn_rnn_sequence(y, (dn_dtype)x->type, c->p.u.rnn.layout, c->time, c->batch, (int64_t)directions(c) * c->p.u.rnn.proj);
    c->p.t[DN_Y] = *y;
    return weight_tensor(c, w);
}

void dn_rnn_call_query(dn_rnn_call *c, dn_dir dir, size_t *workspace)
{
    static const dn_role back[] = { DN_DX, DN_Y, DN_W, DN_DY }, forth[] = { DN_X, DN_Y, DN_W, DN_W };
    const dn_role *roles = dir == DN_DIR_BWD_DATA ? back : forth;
    dn_tensor y, w;
    if (going(c))
        c->st = query_tensors(c, &y, &w);
    if (!going(c))
        return;
    const dn_tensor x = c->p.t[c->p.t[DN_X].rank ? DN_X : DN_DX];
    c->p.dir = (uint8_t)dir;
    c->p.flags = dir == DN_DIR_BWD_FILTER ? 0 : DN_F_BETA_ZERO;
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        c->p.t[r] = (dn_tensor){ 0 };
        c->p.align[r] = 0;
    }
    for (int i = 0; i < 4; i++) {
        c->p.t[roles[i]] = is_input(roles[i]) ? x : roles[i] == DN_W ? w : y;
        c->p.align[roles[i]] = 16;
    }
    dn_rnn_call_finish(c);
    size_t bytes = 0;
    if (going(c) && workspace)
        c->st = dn_plan_workspace(c->h, &c->p, &bytes);
    if (going(c) && workspace && bytes > *workspace)
        *workspace = bytes;
}

cudnnStatus_t dn_rnn_call_run(dn_rnn_call *c)
{
    if (going(c))
        c->st = dn_run(c->h, &c->p, &c->a);
    return dn_rnn_call_end(c);
}

cudnnStatus_t dn_rnn_call_end(dn_rnn_call *c)
{
    free(c->own);
    c->own = NULL;
    return dn_answer(c->st);
}
