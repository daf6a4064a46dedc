/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks, f32: gradients by the input and the initial states. Layers from the last to the first, steps against the direction's
 * order:
 *     dh = dout + what the step after gave; dgates by the cell; dh for the step before = dgates R (and, GRU, dh z)
 * and for all steps at once the gradient by the layer's input, dgates W of both directions. */
#include "cpu/rnn.h"

#include <string.h>

enum { INPUT_ROWS = 128, PIECE = 256 };  /* rows of one product by the input matrix, about; values that a mask is drawn for at once */

typedef struct backward {
    dn_cpu_rnn c;
    int layer;
    dn_cpu_matrix input[2], recurrent[2], proj[2];
    float *dout;             /* [T B][D P] gradient by the layer's outputs, below the last layer */
    float *dh, *dc, *carry;  /* [D][B][P], [D][B][H] on their way back in time, [D][B][H] GRU's part round the products */
    float *by_h, *by_m;      /* [D][B][P] gradient by h', [D][B][H] by what was projected; the same without a projection */
    float *product;          /* [D][B][P] dgates R */
    float *zeros;            /* [H or P] */
    int64_t steps;           /* of one product by the input matrix */
} backward;

static void make(backward *w, const dn_problem *p, const dn_args *a, dn_rnn_room *room)
{
    memset(w, 0, sizeof *w);
    dn_cpu_rnn *c = &w->c;
    dn_cpu_rnn_init(c, p, a, room);
    const dn_rnn_job *j = &c->j;
    int64_t rows = j->directions * j->batch;
    w->dout = j->layers > 1 ? dn_cpu_rnn_floats(room, j->time * j->batch, j->width) : NULL;
    w->dh = dn_cpu_rnn_floats(room, rows, j->proj);
    w->dc = c->lstm ? dn_cpu_rnn_floats(room, rows, j->hidden) : NULL;
    w->carry = c->gru ? dn_cpu_rnn_floats(room, rows, j->hidden) : NULL;
    w->by_h = dn_cpu_rnn_floats(room, rows, j->proj);
    w->by_m = c->projects ? dn_cpu_rnn_floats(room, rows, j->hidden) : w->by_h;
    w->product = dn_cpu_rnn_floats(room, rows, j->proj);
    w->zeros = dn_cpu_rnn_floats(room, dn_ref_rnn_larger(j->hidden, j->proj), 1);
    if (a)
        memset(w->zeros, 0, (size_t)dn_ref_rnn_larger(j->hidden, j->proj) * sizeof(float));
}

static void load_weights(backward *w)
{
    const dn_rnn_job *j = &w->c.j;
    dn_rnn_weight shape;
    for (int d = 0; d < j->directions; d++) {
        int pseudo = w->layer * j->directions + d;
        w->input[d] = dn_cpu_rnn_weight(&w->c, pseudo, 0, &shape);
        w->recurrent[d] = dn_cpu_rnn_weight(&w->c, pseudo, j->gates, &shape);
        if (w->c.projects)
            w->proj[d] = dn_cpu_rnn_weight(&w->c, pseudo, 2 * j->gates, &shape);
    }
}

static float *dgates_of(const backward *w, int d)
{
    const dn_rnn_job *j = &w->c.j;
    return dn_cpu_rnn_reserve(&w->c, j->at.dgates, j->at.dgates_pitch, w->layer * j->directions + d);
}

/* --- one step --- */

static void begin(void *ctx, const dn_cpu_rnn_step *s)
{
    const backward *w = ctx;
    dn_cpu_rnn_load_state(&w->c, s, w->layer, DN_AUX_DHY, w->c.j.proj, w->dh);
    if (w->c.lstm)
        dn_cpu_rnn_load_state(&w->c, s, w->layer, DN_AUX_DCY, w->c.j.hidden, w->dc);
}

static void end(void *ctx, const dn_cpu_rnn_step *s)
{
    const backward *w = ctx;
    dn_cpu_rnn_store_state(&w->c, s, w->layer, DN_AUX_DHX, w->c.j.proj, w->dh);
    if (w->c.lstm)
        dn_cpu_rnn_store_state(&w->c, s, w->layer, DN_AUX_DCX, w->c.j.hidden, w->dc);
}

/* Gradient by h' of a row, values [p0, p1): from above and from the step after. */
static void gather_row(const backward *w, const dn_cpu_rnn_step *s, int64_t b, int64_t p0, int64_t p1)
{
    const dn_cpu_rnn *c = &w->c;
    const dn_rnn_job *j = &c->j;
    int64_t row = (s->d * j->batch + b) * j->proj + p0, at = s->t * j->batch + b;
    const float *above = w->layer == j->layers - 1 ? dn_cpu_rnn_sequence(c, DN_DY, s->t, b).at : w->dout + at * j->width;
    c->k->add(p1 - p0, above + s->d * j->proj + p0, w->dh + row, w->by_h + row);
}

/* With a projection it is kept, and rows between those that live must be there for the product. */
static void gather(void *ctx, const dn_cpu_rnn_step *s, int64_t p0, int64_t p1)
{
    const backward *w = ctx;
    const dn_cpu_rnn *c = &w->c;
    const dn_rnn_job *j = &c->j;
    float *keep = dn_cpu_rnn_reserve(c, j->at.dproj, j->at.dproj_pitch, w->layer * j->directions + s->d);
    size_t n = (size_t)(p1 - p0) * sizeof *keep;
    for (int64_t b = s->alive.lo; b < s->alive.hi; b++) {
        float *to = w->by_h + (s->d * j->batch + b) * j->proj + p0;
        if (dn_cpu_rnn_lives(c, s->t, b)) {
            gather_row(w, s, b, p0, p1);
            memcpy(keep + (s->t * j->batch + b) * j->proj + p0, to, n);
        } else {
            memset(to, 0, n);
        }
    }
}

/* h or c before the row, from unit u on. */
static const float *before(const backward *w, const dn_cpu_rnn_step *s, int64_t b, int64_t u)
{
    const dn_cpu_rnn *c = &w->c;
    const dn_rnn_job *j = &c->j;
    int pseudo = w->layer * j->directions + s->d;
    int64_t at = dn_ref_rnn_before(j, s->d, s->t * j->batch + b), initial = (int64_t)pseudo * j->batch + b;
    const float *x = j->a->aux[c->lstm ? DN_AUX_CX : DN_AUX_HX];
    if (at < 0)
        return x ? x + initial * j->hidden + u : w->zeros + u;
    if (c->lstm)
        return dn_cpu_rnn_reserve(c, j->at.cell, j->at.cell_pitch, pseudo) + at * j->hidden + u;
    return (const float *)dn_ref_rnn_out(j, w->layer) + at * j->width + s->d * j->proj + u;
}

static void run_units(void *ctx, const dn_cpu_rnn_step *s, int64_t u0, int64_t u1)
{
    backward *w = ctx;
    dn_cpu_rnn *c = &w->c;
    const dn_rnn_job *j = &c->j;
    int pseudo = w->layer * j->directions + s->d;
    int64_t first = s->d * j->batch + s->alive.lo;
    if (c->projects)
        dn_cpu_rnn_multiply(c, s->alive.hi - s->alive.lo, u1 - u0, j->proj, 1, (dn_cpu_matrix){ w->by_h + first * j->proj, j->proj, false },
                            dn_cpu_rnn_columns(w->proj[s->d], u0), 0, w->by_m + first * j->hidden + u0, j->hidden);
    for (int64_t b = s->alive.lo; b < s->alive.hi; b++) {
        if (!dn_cpu_rnn_lives(c, s->t, b))
            continue;
        int64_t row = s->d * j->batch + b, at = s->t * j->batch + b;
        if (!c->projects)
            gather_row(w, s, b, u0, u1);
        dn_cpu_rnn_units u = { .n = u1 - u0, .gate = j->hidden, .dh = w->by_m + row * j->hidden + u0, .clip = c->clip };
        u.keep = dn_cpu_rnn_reserve(c, j->at.gates, j->at.gates_pitch, pseudo) + at * j->slots * j->hidden + u0;
        u.dgates = dgates_of(w, s->d) + at * j->slots * j->hidden + u0;
        u.before = c->lstm || c->gru ? before(w, s, b, u0) : NULL;
        u.c = c->lstm ? dn_cpu_rnn_reserve(c, j->at.cell, j->at.cell_pitch, pseudo) + at * j->hidden + u0 : NULL;
        u.dc = c->lstm ? w->dc + row * j->hidden + u0 : NULL;
        u.carry = c->gru ? w->carry + row * j->hidden + u0 : NULL;
        c->k->backward[j->q->cell](&u);
    }
}

/* dh for the step before, values [p0, p1). */
static void run_states(void *ctx, const dn_cpu_rnn_step *s, int64_t p0, int64_t p1)
{
    backward *w = ctx;
    dn_cpu_rnn *c = &w->c;
    const dn_rnn_job *j = &c->j;
    int64_t ld = j->slots * j->hidden, m = s->alive.hi - s->alive.lo, first = s->d * j->batch + s->alive.lo;
    dn_cpu_matrix d = { dgates_of(w, s->d) + (s->t * j->batch + s->alive.lo) * ld, ld, false }, r = dn_cpu_rnn_columns(w->recurrent[s->d], p0);
    float *to = w->product + first * j->proj + p0;
    dn_cpu_rnn_multiply(c, m, p1 - p0, c->plain, 1, d, r, 0, to, j->proj);
    if (c->gru) {
        d.at += 3 * j->hidden;
        r.at += c->plain * r.ld;
        dn_cpu_rnn_multiply(c, m, p1 - p0, j->hidden, 1, d, r, 1, to, j->proj);
    }
    for (int64_t b = s->alive.lo; b < s->alive.hi; b++) {
        if (!dn_cpu_rnn_lives(c, s->t, b))
            continue;
        int64_t at = (s->d * j->batch + b) * j->proj + p0;
        if (c->gru)
            c->k->add(p1 - p0, w->product + at, w->carry + at, w->dh + at);
        else
            memcpy(w->dh + at, w->product + at, (size_t)(p1 - p0) * sizeof(float));
    }
}

/* --- the gradient by the layer's input --- */

/* Rows of steps [t, t + n) of the batch: one stretch where n > 1. */
static void run_input(backward *w, int64_t t, int64_t n)
{
    dn_cpu_rnn *c = &w->c;
    const dn_rnn_job *j = &c->j;
    int64_t in = dn_rnn_input_size(j->q, w->layer), ld = j->slots * j->hidden;
    dn_cpu_rnn_range r = n > 1 ? (dn_cpu_rnn_range){ 0, n * j->batch } : dn_cpu_rnn_alive(c, t, 0, j->batch);
    if (r.lo == r.hi)
        return;
    dn_cpu_matrix to = { w->dout ? w->dout + (t * j->batch + r.lo) * j->width : NULL, j->width, false };
    if (w->layer == 0)
        to = dn_cpu_rnn_sequence(c, DN_DX, t, r.lo);
    float *x = (float *)to.at;
    for (int d = 0; d < j->directions; d++) {
        dn_cpu_matrix g = { dgates_of(w, d) + (t * j->batch + r.lo) * ld, ld, false };
        if (w->layer > 0 || !j->q->skip) {
            dn_cpu_rnn_multiply(c, r.hi - r.lo, in, c->units, 1, g, w->input[d], (float)(d > 0), x, to.ld);
            continue;
        }
        /* A skipped input went to every gate: its gradient is the sum of theirs. */
        for (int64_t i = 0; i < r.hi - r.lo; i++)
            for (int k = 0; k < j->gates; k++)
                c->k->add(in, d + k ? x + i * to.ld : w->zeros, g.at + i * ld + k * j->hidden, x + i * to.ld);
    }
}

static void mask_rows(const backward *w, int64_t first, int64_t end_row)
{
    const dn_rnn_job *j = &w->c.j;
    double v[PIECE];
    for (int64_t row = first; row < end_row; row++)
        for (int64_t at = 0; at < j->width; at += PIECE) {
            int64_t n = j->width - at < PIECE ? j->width - at : PIECE;
            dn_load_row(DN_F32, w->dout, row * j->width + at, 1, n, v);
            dn_ref_rnn_mask(j, w->layer, row, at, n, v);
            dn_store_row(DN_F32, w->dout, row * j->width + at, 1, n, v, 1, 0);
        }
}

static void run_inputs(void *ctx, int64_t begin_at, int64_t end_at)
{
    backward *w = ctx;
    const dn_rnn_job *j = &w->c.j;
    for (int64_t i = begin_at; i < end_at; i++) {
        int64_t t = i * w->steps, n = j->time - t < w->steps ? j->time - t : w->steps;
        run_input(w, t, n);
        if (dn_ref_rnn_drops(j, w->layer))
            mask_rows(w, t * j->batch, (t + n) * j->batch);
    }
}

static void run_layer(backward *w)
{
    dn_cpu_rnn *c = &w->c;
    const dn_rnn_job *j = &c->j;
    dn_cpu_rnn_walk walk = { .c = c, .ctx = w, .reverse = true, .begin = begin, .end = end };
    if (c->projects)
        dn_cpu_rnn_add_phase(&walk, gather, j->proj, DN_CPU_RNN_COLUMNS);
    dn_cpu_rnn_add_phase(&walk, run_units, j->hidden, c->block);
    dn_cpu_rnn_add_phase(&walk, run_states, j->proj, DN_CPU_RNN_COLUMNS);
    load_weights(w);
    for (int d = 0; d < j->directions; d++) {
        int pseudo = w->layer * j->directions + d;
        dn_ref_rnn_clear_padding(j, (unsigned char *)dgates_of(w, d), j->slots * j->hidden);
        if (c->projects)
            dn_ref_rnn_clear_padding(j, dn_ref_rnn_section(j, j->at.dproj, j->at.dproj_pitch, pseudo), j->proj);
    }
    dn_cpu_rnn_run(&walk, 0, j->time);
    bool dense = w->layer > 0 || dn_cpu_rnn_is_dense(c, DN_DX);
    w->steps = dense ? 1 + (INPUT_ROWS - 1) / j->batch : 1;
    dn_parallel(dn_ceil_div(j->time, w->steps), 1, run_inputs, w);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    backward w;
    dn_rnn_room room = dn_ref_rnn_room_of(a->workspace);
    make(&w, &plan->problem, a, &room);
    const dn_rnn_job *j = &w.c.j;
    for (w.layer = j->layers - 1; w.layer >= 0; w.layer--)
        run_layer(&w);
    dn_ref_rnn_fill_padding(j, &j->p->t[DN_DX], a->ptr[DN_DX], a->fill);
    return dn_cpu_rnn_status(&w.c);
}

static size_t workspace(const dn_problem *p)
{
    backward w;
    dn_rnn_room room = { 0 };
    make(&w, p, NULL, &room);
    return dn_ref_rnn_room_bytes(&room);
}

static const dn_solver rows[] = {
    { .name = "cpu_rnn_bwd_data_f32", .op = DN_OP_RNN, .dir = DN_DIR_BWD_DATA, .algo = -1, .flags = DN_SOLVER_PLAIN, .check = dn_cpu_rnn_check,
      .workspace = workspace, .run = run },
};

const dn_rows dn_cpu_rnn_bwd_data = { rows, sizeof rows / sizeof rows[0] };
