/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Pieces of a call of a recurrent network: lengths, dense rows, dropout, states, weights. */
#include "cuda/rnn/call.h"

#include "core/philox.h"

#include <string.h>

_Static_assert(sizeof(dn_rnn_lengths) <= 4096 && sizeof(dn_rnn_move) <= 4096, "parameters of a kernel");

enum { BLOCK = 256, WAVES = 4, STATE_ALIGN = 256 };

char *dn_rnn_reserved(const dn_rnn_call *j, size_t offset, size_t pitch, int i)
{
    return (char *)j->a->reserve + offset + pitch * (size_t)i;
}

dn_status dn_rnn_launch(dn_handle *h, dn_cu_fn f, int64_t threads, const void *params)
{
    dn_cuda_grid g = { .f = f };
    dn_cuda_grid_loop(h, &g, threads, BLOCK, WAVES);
    return dn_cuda_launch(h, &g, params);
}

dn_elements dn_rnn_elements(dn_dtype type, const void *ptr)
{
    dn_elements e = dn_elements_typed(type);
    dn_elements_bind(&e, ptr);
    return e;
}

bool dn_rnn_is_wide(const dn_rnn_call *j, const dn_elements *e, int64_t step)
{
    return j->plan->wide[0] && (e->type == (int)j->plan->s.type || e->type == DN_F32) && (uintptr_t)e->ptr % (4 * (uintptr_t)e->size) == 0
        && step % 4 == 0;
}

/* --- positions --- */

const int *dn_rnn_lengths_at(const dn_rnn_call *j)
{
    return (const int *)(void *)(j->space + j->plan->space.lengths);
}

static bool is_packed(const dn_rnn_call *j)
{
    return j->p->u.rnn.layout == DN_RNN_PACKED;
}

dn_status dn_rnn_put_positions(const dn_rnn_call *j)
{
    const dn_rnn_sizes *s = &j->plan->s;
    dn_status st = DN_SUCCESS;
    for (int64_t b = 0; st == DN_SUCCESS && !j->full && b < s->batch; b += DN_RNN_LENGTHS) {
        dn_rnn_lengths p = { .to = (int *)(void *)(j->space + j->plan->space.lengths), .first = (int)b,
                             .count = (int)(s->batch - b < DN_RNN_LENGTHS ? s->batch - b : DN_RNN_LENGTHS) };
        for (int i = 0; i < p.count; i++)
            p.value[i] = j->a->lengths[b + i];
        dn_cuda_grid g = { .f = j->plan->kernels[DN_RNN_K_LENGTHS], .grid = { 1, 1, 1 }, .block = { BLOCK, 1, 1 } };
        st = dn_cuda_launch(j->h, &g, &p);
    }
    if (st != DN_SUCCESS || j->full || !is_packed(j))
        return st;
    dn_rnn_starts p = { dn_rnn_lengths_at(j), (void *)(j->space + j->plan->space.starts), s->steps, s->batch };
    return dn_rnn_launch(j->h, j->plan->kernels[DN_RNN_K_STARTS], s->steps, &p);
}

bool dn_rnn_is_dense(const dn_rnn_call *j)
{
    return j->full && (j->p->u.rnn.layout != DN_RNN_BATCH_MAJOR || j->plan->s.batch == 1 || j->plan->s.steps == 1);
}

static dn_rnn_place place_of(const dn_rnn_call *j, const dn_tensor *t, const void *ptr)
{
    return (dn_rnn_place){ dn_rnn_elements((dn_dtype)t->type, ptr), t->strides[0], t->strides[1],
                           is_packed(j) && !j->full ? (const void *)(j->space + j->plan->space.starts) : NULL };
}

static dn_rnn_place dense_rows(const dn_rnn_call *j, dn_dtype type, const void *ptr, int64_t n)
{
    return (dn_rnn_place){ dn_rnn_elements(type, ptr), j->plan->s.batch * n, n, NULL };
}

static dn_status move(const dn_rnn_call *j, dn_rnn_move *m)
{
    m->steps = j->plan->s.steps;
    m->batch = j->plan->s.batch;
    m->lengths = j->full ? NULL : dn_rnn_lengths_at(j);
    int64_t count = m->steps * m->batch * m->n;
    if (dn_rnn_is_wide(j, &m->from.e, m->n) && dn_rnn_is_wide(j, &m->to.e, m->n))
        return dn_rnn_launch(j->h, j->plan->wide[DN_RNN_W_MOVE], count / 4, m);
    return dn_rnn_launch(j->h, j->plan->kernels[DN_RNN_K_MOVE], count, m);
}

dn_status dn_rnn_gather(const dn_rnn_call *j, const dn_tensor *t, const void *from, dn_dtype type, void *to)
{
    dn_rnn_move m = { .from = place_of(j, t, from), .to = dense_rows(j, type, to, t->dims[2]), .n = t->dims[2] };
    return move(j, &m);
}

dn_status dn_rnn_scatter(const dn_rnn_call *j, const dn_tensor *t, dn_dtype type, const void *from, void *to, double fill)
{
    dn_rnn_move m = { .from = dense_rows(j, type, from, t->dims[2]), .to = place_of(j, t, to), .n = t->dims[2], .fill = fill,
                      .sparse = is_packed(j) };
    return move(j, &m);
}

/* --- dropout --- */

bool dn_rnn_is_dropped(const dn_rnn_call *j, int layer)
{
    return layer > 0 && j->p->u.rnn.dropout && !j->plan->s.infer;
}

dn_status dn_rnn_drop_rows(const dn_rnn_call *j, int layer, dn_dtype type, const void *from, void *to)
{
    const dn_rnn_sizes *s = &j->plan->s;
    float rate = j->a->dropout;
    dn_rnn_move m = { .from = dense_rows(j, type, from, s->width), .to = dense_rows(j, type, to, s->width), .n = s->width, .drop = 1,
                      .head = dn_rnn_reserved(j, j->plan->reserve.head, 0, 0), .threshold = dn_dropout_threshold(rate),
                      .scale = rate < 1 ? 1 / (1 - (double)rate) : 0, .element = (uint64_t)(layer - 1) * (uint64_t)(s->rows * s->width) };
    return move(j, &m);
}

dn_status dn_rnn_layer_input(const dn_rnn_call *j, int layer, const void **x)
{
    const dn_rnn_plan *plan = j->plan;
    const dn_rnn_space *at = &plan->space;
    if (layer == 0) {
        *x = j->a->ptr[DN_X];
        if (dn_rnn_is_dense(j))
            return DN_SUCCESS;
        *x = j->space + at->x;
        return dn_rnn_gather(j, &j->p->t[DN_X], j->a->ptr[DN_X], plan->s.type, j->space + at->x);
    }
    *x = plan->s.infer ? j->space + at->out[(layer - 1) % 2] : dn_rnn_reserved(j, plan->reserve.out, plan->reserve.out_pitch, layer - 1);
    if (!dn_rnn_is_dropped(j, layer))
        return DN_SUCCESS;
    const void *from = *x;
    *x = j->space + at->dropped;
    return dn_rnn_drop_rows(j, layer, plan->s.type, from, j->space + at->dropped);
}

/* --- states --- */

/* Elements from layer to layer in the workspace. */
static int64_t state_pitch(const dn_rnn_call *j, dn_dtype type, int64_t size)
{
    int64_t unit = STATE_ALIGN / (int64_t)dn_dtype_size(type), n = j->plan->s.directions * j->plan->s.batch * size;
    return (n + unit - 1) / unit * unit;
}

void *dn_rnn_state(const dn_rnn_call *j, size_t section, dn_dtype type, int layer, int64_t size)
{
    return j->space + section + (size_t)(layer * state_pitch(j, type, size)) * dn_dtype_size(type);
}

static dn_status copy_state(const dn_rnn_call *j, dn_elements from, int64_t from_pitch, dn_elements to, int64_t to_pitch, int64_t size)
{
    dn_rnn_copy c = { .from = from, .to = to, .runs = j->plan->s.layers, .run = j->plan->s.directions * j->plan->s.batch * size,
                      .from_pitch = from_pitch, .to_pitch = to_pitch };
    return dn_rnn_launch(j->h, j->plan->kernels[DN_RNN_K_COPY], c.runs * c.run, &c);
}

dn_status dn_rnn_load_state(const dn_rnn_call *j, const void *from, size_t to, dn_dtype type, int64_t size)
{
    return copy_state(j, dn_rnn_elements(j->plan->s.type, from), j->plan->s.directions * j->plan->s.batch * size,
                      dn_rnn_elements(type, j->space + to), state_pitch(j, type, size), size);
}

dn_status dn_rnn_store_state(const dn_rnn_call *j, size_t from, dn_dtype type, void *to, int64_t size)
{
    if (!to)
        return DN_SUCCESS;
    return copy_state(j, dn_rnn_elements(type, j->space + from), state_pitch(j, type, size), dn_rnn_elements(j->plan->s.type, to),
                      j->plan->s.directions * j->plan->s.batch * size, size);
}

/* --- weights --- */

const void *dn_rnn_matrix(const dn_rnn_call *j, int pseudo, int linear, dn_rnn_weight *w)
{
    dn_rnn_weight_at(&j->p->u.rnn, pseudo, linear, w);
    return (const char *)j->a->ptr[DN_W] + (size_t)w->matrix * j->plan->s.data;
}

void dn_rnn_bias_places(const dn_rnn_param *q, long long *input, long long *recurrent, long long *pitch)
{
    dn_rnn_weight w = { 0 }, r = { 0 }, next = { 0 };
    dn_rnn_weight_at(q, 0, 0, &w);
    dn_rnn_weight_at(q, 0, dn_rnn_gates(q), &r);
    *input = w.bias_rows ? w.bias : -1;
    *recurrent = r.bias_rows ? r.bias : -1;
    *pitch = 0;
    if (dn_rnn_weight_at(q, 1, dn_rnn_gates(q), &next))
        *pitch = next.bias - r.bias;
}

dn_status dn_rnn_put_biases(const dn_rnn_call *j)
{
    const dn_rnn_sizes *s = &j->plan->s;
    dn_rnn_bias b = { .w = dn_rnn_elements(s->type, j->a->ptr[DN_W]), .to = dn_rnn_elements(s->compute, j->space + j->plan->space.bias),
                      .pseudos = s->pseudos, .hidden = s->hidden, .width = s->bias_width, .gates = s->gates, .gru = s->gru };
    dn_rnn_bias_places(&j->p->u.rnn, &b.input, &b.recurrent, &b.pitch);
    return dn_rnn_launch(j->h, j->plan->kernels[DN_RNN_K_BIAS], b.pseudos * b.width, &b);
}
