/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What a call on a recurrent network is made of: which rows live, where they lie, dropout, weights and states as lines. */
#include "core/philox.h"
#include "ops/dropout.h"
#include "ref/rnn.h"

#include <string.h>

enum { CHUNK_ROWS = 512, PIECE = 512 };

static void set_sizes(dn_rnn_job *j, const dn_problem *p, const dn_args *a)
{
    const dn_rnn_param *q = &p->u.rnn;
    const dn_tensor *x = dn_rnn_input(p);
    memset(j, 0, sizeof *j);
    j->p = p;
    j->q = q;
    j->a = a;
    j->k = dn_conv_kernel_get();
    j->time = x->dims[0], j->batch = x->dims[1];
    j->hidden = q->hidden, j->proj = q->proj;
    j->layers = q->layers, j->directions = dn_rnn_directions(q);
    j->gates = dn_rnn_gates(q), j->slots = dn_rnn_slots(q);
    j->width = j->directions * j->proj;
    j->type = (dn_dtype)x->type, j->compute = dn_rnn_compute_type(p);
    j->wide = dn_round_up(j->gates * j->hidden, j->k->nr);
    j->chunk_steps = CHUNK_ROWS / j->batch > 0 ? CHUNK_ROWS / j->batch : 1;
    if (j->chunk_steps > j->time)
        j->chunk_steps = j->time;
    j->chunk_rows = j->chunk_steps * j->batch;
    dn_rnn_reserve_layout(p, &j->at);
}

static void list_rows(dn_rnn_job *j)
{
    int64_t n = 0;
    for (int64_t b = 0; b < j->batch; b++)
        j->length[b] = j->a->lengths ? j->a->lengths[b] : j->time;
    for (int64_t t = 0; t < j->time; t++) {
        j->first[t] = j->packed[t] = n;
        for (int64_t b = 0; b < j->batch; b++)
            if (j->length[b] > t)
                j->rows[n++] = t * j->batch + b;
    }
    j->first[j->time] = n;
}

static void set_dropout(dn_rnn_job *j)
{
    dn_dropout_state state;
    if (!j->q->dropout || j->p->dir == DN_DIR_INFER)
        return;
    const void *from = j->p->dir == DN_DIR_TRAIN ? j->a->aux[DN_AUX_STATES] : dn_ref_rnn_section(j, j->at.head, 0, 0);
    memcpy(&state, from, sizeof state);
    j->seed = state.seed, j->call = state.call;
    j->threshold = dn_dropout_threshold(j->a->dropout);
    j->scale = j->a->dropout < 1 ? 1 / (1 - (double)j->a->dropout) : 0;
}

void dn_ref_rnn_job_init(dn_rnn_job *j, const dn_problem *p, const dn_args *a, dn_rnn_room *room)
{
    set_sizes(j, p, a);
    size_t data = dn_dtype_size(j->type);
    j->length = dn_ref_rnn_take(room, j->batch, 1, sizeof *j->length);
    j->packed = dn_ref_rnn_take(room, j->time, 1, sizeof *j->packed);
    j->first = dn_ref_rnn_take(room, j->time + 1, 1, sizeof *j->first);
    j->rows = dn_ref_rnn_take(room, j->time, j->batch, sizeof *j->rows);
    j->offsets = dn_ref_rnn_take(room, j->chunk_rows, 1, sizeof *j->offsets);
    for (int i = 0; i < 2 && p->dir == DN_DIR_INFER; i++)
        j->out[i] = dn_ref_rnn_take(room, j->time * j->batch, j->width, data);
    if (dn_ref_rnn_drops(j, 1))
        j->dropped = dn_ref_rnn_take(room, j->time * j->batch, j->width, data);
    if (a) {
        list_rows(j);
        set_dropout(j);
    }
}

int64_t dn_ref_rnn_offset(const dn_rnn_job *j, const dn_tensor *t, int64_t row)
{
    int64_t time = row / j->batch, b = row % j->batch;
    if (j->q->layout == DN_RNN_PACKED)
        return (j->packed[time] + b) * t->dims[2];
    return time * t->strides[0] + b * t->strides[1];
}

unsigned char *dn_ref_rnn_section(const dn_rnn_job *j, size_t offset, size_t pitch, int64_t i)
{
    return (unsigned char *)j->a->reserve + offset + pitch * (size_t)i;
}

unsigned char *dn_ref_rnn_out(const dn_rnn_job *j, int layer)
{
    return j->p->dir == DN_DIR_INFER ? j->out[layer % 2] : dn_ref_rnn_section(j, j->at.out, j->at.out_pitch, layer);
}

int64_t dn_ref_rnn_before(const dn_rnn_job *j, int direction, int64_t row)
{
    int64_t t = row / j->batch;
    if (direction)
        return t + 1 < j->length[row % j->batch] ? row + j->batch : -1;
    return t ? row - j->batch : -1;
}

void dn_ref_rnn_input_lines(const dn_rnn_job *j, int layer, int64_t begin, int64_t end, dn_rnn_lines *l)
{
    const dn_tensor *x = dn_rnn_input(j->p);
    *l = (dn_rnn_lines){ .type = j->type, .at = j->offsets, .count = end - begin, .len = dn_rnn_input_size(j->q, layer) };
    l->base = layer == 0 ? j->a->ptr[DN_X] : dn_ref_rnn_drops(j, layer) ? j->dropped : dn_ref_rnn_out(j, layer - 1);
    for (int64_t i = begin; i < end; i++)
        j->offsets[i - begin] = layer == 0 ? dn_ref_rnn_offset(j, x, j->rows[i]) : j->rows[i] * j->width;
}

/* --- dropout --- */

bool dn_ref_rnn_drops(const dn_rnn_job *j, int layer)
{
    return layer > 0 && layer < j->layers && j->q->dropout && j->p->dir != DN_DIR_INFER;
}

void dn_ref_rnn_mask(const dn_rnn_job *j, int layer, int64_t row, int64_t at, int64_t n, double *v)
{
    uint64_t rows = (uint64_t)(layer - 1) * (uint64_t)(j->time * j->batch) + (uint64_t)row, drawn = UINT64_MAX;
    unsigned word[4] = { 0 };
    for (int64_t k = 0; k < n; k++) {
        uint64_t e = rows * (uint64_t)j->width + (uint64_t)(at + k);
        if (e / 4 != drawn) {
            drawn = e / 4;
            dn_philox_dropout(j->seed, j->call, drawn, word);
        }
        v[k] = word[e % 4] >= j->threshold ? v[k] * j->scale : 0;
    }
}

typedef struct drop_ctx {
    const dn_rnn_job *j;
    int layer;
} drop_ctx;

/* Pieces of a row, so that a row of any width fits the stack. */
static void drop_rows(void *ctx, int64_t begin, int64_t end)
{
    const drop_ctx *d = ctx;
    const dn_rnn_job *j = d->j;
    double v[PIECE];
    for (int64_t i = begin; i < end; i++) {
        int64_t row = j->rows[i];
        for (int64_t at = 0; at < j->width; at += PIECE) {
            int64_t n = j->width - at < PIECE ? j->width - at : PIECE;
            dn_load_row(j->type, dn_ref_rnn_out(j, d->layer - 1), row * j->width + at, 1, n, v);
            dn_ref_rnn_mask(j, d->layer, row, at, n, v);
            dn_store_row(j->type, j->dropped, row * j->width + at, 1, n, v, 1, 0);
        }
    }
}

void dn_ref_rnn_drop(const dn_rnn_job *j, int layer)
{
    drop_ctx d = { .j = j, .layer = layer };
    dn_parallel(j->first[j->time], 1 + 4096 / j->width, drop_rows, &d);
}

void dn_ref_rnn_keep_head(const dn_rnn_job *j)
{
    dn_dropout_state state = { 0 };
    if (j->q->dropout)
        memcpy(&state, j->a->aux[DN_AUX_STATES], sizeof state);
    memcpy(dn_ref_rnn_section(j, j->at.head, 0, 0), &state, sizeof state);
    state.call++;
    if (j->q->dropout)
        memcpy(j->a->aux[DN_AUX_STATES], &state, sizeof state);
}

/* --- padding, weights, states --- */

static void fill_row(const dn_rnn_job *j, void *base, int64_t offset, int64_t n, double value)
{
    double v[PIECE];
    for (int i = 0; i < PIECE; i++)
        v[i] = value;
    for (int64_t at = 0; at < n; at += PIECE)
        dn_store_row(j->type, base, offset + at, 1, n - at < PIECE ? n - at : PIECE, v, 1, 0);
}

void dn_ref_rnn_fill_padding(const dn_rnn_job *j, const dn_tensor *t, void *base, double value)
{
    if (j->q->layout == DN_RNN_PACKED)
        return;
    for (int64_t b = 0; b < j->batch; b++)
        for (int64_t time = j->length[b]; time < j->time; time++)
            fill_row(j, base, dn_ref_rnn_offset(j, t, time * j->batch + b), t->dims[2], value);
}

void dn_ref_rnn_clear_padding(const dn_rnn_job *j, unsigned char *section, int64_t n)
{
    for (int64_t b = 0; b < j->batch; b++)
        for (int64_t time = j->length[b]; time < j->time; time++)
            fill_row(j, section, (time * j->batch + b) * n, n, 0);
}

void dn_ref_rnn_weight_lines(const dn_rnn_job *j, int pseudo, int recurrent, int64_t *at, dn_rnn_lines *l)
{
    dn_rnn_weight w = { 0 };
    for (int g = 0; g < j->gates; g++) {
        dn_rnn_weight_at(j->q, pseudo, recurrent * j->gates + g, &w);
        for (int64_t u = 0; u < w.rows; u++)
            at[g * j->hidden + u] = w.matrix + u * w.columns;
    }
    *l = (dn_rnn_lines){ .type = j->type, .base = j->a->ptr[DN_W], .at = at, .count = j->gates * w.rows, .len = w.columns };
}

void dn_ref_rnn_proj_lines(const dn_rnn_job *j, int pseudo, dn_rnn_lines *l)
{
    dn_rnn_weight w;
    dn_rnn_weight_at(j->q, pseudo, 2 * j->gates, &w);
    *l = (dn_rnn_lines){ .type = j->type, .base = j->a->ptr[DN_W], .first = w.matrix, .pitch = w.columns, .count = w.rows, .len = w.columns };
}

void dn_ref_rnn_state_load(const dn_rnn_job *j, const void *from, int pseudo, int64_t size, double *to)
{
    int64_t n = j->batch * size;
    if (from)
        dn_load_row(j->type, from, pseudo * n, 1, n, to);
    else
        memset(to, 0, (size_t)n * sizeof *to);
}

void dn_ref_rnn_state_store(const dn_rnn_job *j, void *to, int pseudo, int64_t size, const double *from)
{
    int64_t n = j->batch * size;
    if (to)
        dn_store_row(j->type, to, pseudo * n, 1, n, from, 1, 0);
}
