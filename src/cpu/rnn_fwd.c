/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks forward, f32, for inference and training. The input products of a stretch of steps are made at once, each step adds that
 * of the states. Sums lie in blocks of units, a block's gates side by side, and where there are steps enough to pay for it so do the
 * matrices, turned once a layer: the product of a block is then one call that reads memory in order. */
#include "cpu/rnn.h"

#include <string.h>

enum {
    TURN_FROM = 4,       /* steps */
    STRETCH_ROWS = 512, /* rows of sums kept at once, about: they and the matrices share the last cache */
    INPUT_ROWS = 128,    /* of one input product */
    TURN_ROWS = 64       /* of a matrix that one thread turns at once */
};

typedef struct forward {
    dn_cpu_rnn c;
    dn_cpu_rnn_walk walk;
    bool train, last, stretches;      /* last: the layer at hand is the last one; stretches: rows of its input lie one after another */
    int layer;
    dn_cpu_matrix input[2], recurrent[2], proj[2];  /* by direction; a column is a unit, of the first two in blocks where they are turned */
    float *turned[2][3];              /* room for them, turned */
    float *bias[2], *bias_n[2];       /* [G H] in blocks as the sums, [H] GRU's recurrent one of n */
    int64_t steps, k0, k1;            /* of a stretch; the one at hand */
    float *sums;                      /* [D][stretch][B][slots H]; GRU: the fourth is R_n h */
    float *h[2], *state, *m;          /* [D][B][P] by parity, [D][B][H] c, [D][B][H] before the projection */
} forward;

static void make(forward *f, const dn_problem *p, const dn_args *a, dn_rnn_room *room)
{
    memset(f, 0, sizeof *f);
    dn_cpu_rnn *c = &f->c;
    dn_cpu_rnn_init(c, p, a, room);
    const dn_rnn_job *j = &c->j;
    f->train = p->dir == DN_DIR_TRAIN;
    f->steps = 1 + (STRETCH_ROWS - 1) / j->batch;
    if (f->steps > j->time)
        f->steps = j->time;
    int64_t rows = j->directions * j->batch, in = dn_ref_rnn_larger(j->q->input, j->layers > 1 ? j->width : 0);
    for (int d = 0; d < j->directions; d++) {
        if (j->time >= TURN_FROM) {
            f->turned[d][0] = dn_cpu_rnn_floats(room, in, c->units);
            f->turned[d][1] = dn_cpu_rnn_floats(room, j->proj, c->units);
            f->turned[d][2] = c->projects ? dn_cpu_rnn_floats(room, j->hidden, j->proj) : NULL;
        }
        f->bias[d] = dn_cpu_rnn_floats(room, c->units, 1);
        f->bias_n[d] = dn_cpu_rnn_floats(room, j->hidden, 1);
    }
    f->sums = dn_cpu_rnn_floats(room, rows * f->steps, j->slots * j->hidden);
    for (int i = 0; i < 2; i++)
        f->h[i] = dn_cpu_rnn_floats(room, rows, j->proj);
    f->state = c->lstm ? dn_cpu_rnn_floats(room, rows, j->hidden) : NULL;
    f->m = c->projects ? dn_cpu_rnn_floats(room, rows, j->hidden) : NULL;
}

/* --- weights --- */

typedef struct turning {
    const dn_cpu_rnn *c;
    int gates;
    int64_t units, block, columns;  /* units of a gate */
    const float *from;
    float *to;
} turning;

/* Pieces of TURN_ROWS units of a gate, which never cross a block. */
static void turn_rows(void *ctx, int64_t begin, int64_t end)
{
    const turning *t = ctx;
    int64_t pieces = dn_ceil_div(t->block, TURN_ROWS), blocks = dn_ceil_div(t->units, t->block);
    for (int64_t i = begin; i < end; i++) {
        int64_t g = i / pieces / blocks, first = i / pieces % blocks * t->block, at = i % pieces * TURN_ROWS;
        int64_t width = t->units - first < t->block ? t->units - first : t->block, n = width - at < TURN_ROWS ? width - at : TURN_ROWS;
        if (n > 0)
            t->c->k->turn(n, t->columns, t->from + (g * t->units + first + at) * t->columns, t->columns,
                          t->to + first * t->gates * t->columns + g * width + at, t->gates * width);
    }
}

/* `units` rows of each gate as they lie (turned: a column of the product is a row), or in blocks at `to`. */
static dn_cpu_matrix by_unit(const dn_cpu_rnn *c, dn_cpu_matrix w, int gates, int64_t units, int64_t block, float *to)
{
    if (!to)
        return (dn_cpu_matrix){ w.at, w.ld, true };
    turning t = { c, gates, units, block, w.ld, w.at, to };
    dn_parallel(gates * dn_ceil_div(units, block) * dn_ceil_div(block, TURN_ROWS), 1 + 64 / (w.ld + 1), turn_rows, &t);
    return (dn_cpu_matrix){ to, units, false };
}

/* Where gate g of the block at unit u0 begins among `gates` of them. */
static int64_t place(const dn_cpu_rnn *c, int gates, int g, int64_t u0)
{
    int64_t width = c->j.hidden - u0 < c->block ? c->j.hidden - u0 : c->block;
    return u0 * gates + g * width;
}

static void load_biases(forward *f, int pseudo, int d)
{
    const dn_cpu_rnn *c = &f->c;
    const dn_rnn_job *j = &c->j;
    const float *base = j->a->ptr[DN_W];
    memset(f->bias[d], 0, (size_t)c->units * sizeof(float));
    memset(f->bias_n[d], 0, (size_t)j->hidden * sizeof(float));
    for (int g = 0; g < 2 * j->gates; g++) {
        dn_rnn_weight w;
        dn_rnn_weight_at(j->q, pseudo, g, &w);
        for (int64_t u = 0; u < w.bias_rows; u += c->block) {
            float *to = c->gru && g == 5 ? f->bias_n[d] + u : f->bias[d] + place(c, j->gates, g % j->gates, u);
            c->k->add(j->hidden - u < c->block ? j->hidden - u : c->block, to, base + w.bias + u, to);
        }
    }
}

static void load_weights(forward *f, int d)
{
    const dn_cpu_rnn *c = &f->c;
    const dn_rnn_job *j = &c->j;
    int pseudo = f->layer * j->directions + d;
    dn_rnn_weight w;
    dn_cpu_matrix m = dn_cpu_rnn_weight(c, pseudo, 0, &w);
    if (w.rows)
        f->input[d] = by_unit(c, m, j->gates, j->hidden, c->block, f->turned[d][0]);
    m = dn_cpu_rnn_weight(c, pseudo, j->gates, &w);
    f->recurrent[d] = by_unit(c, m, j->gates, j->hidden, c->block, f->turned[d][1]);
    if (c->projects) {
        m = dn_cpu_rnn_weight(c, pseudo, 2 * j->gates, &w);
        f->proj[d] = by_unit(c, m, 1, j->proj, j->proj, f->turned[d][2]);
    }
    load_biases(f, pseudo, d);
}

/* --- products: sums of the block at unit u0 --- */

static float *sums_at(const forward *f, int d, int64_t t, int64_t b)
{
    const dn_rnn_job *j = &f->c.j;
    int64_t first = dn_cpu_rnn_time(&f->walk, d, f->k0), last = dn_cpu_rnn_time(&f->walk, d, f->k1 - 1);
    int64_t row = (t - (first < last ? first : last)) * j->batch + b;
    return f->sums + (d * f->steps * j->batch + row) * j->slots * j->hidden;
}

/* Gates [g0, g1) to `to`, the row's first sum of gate g0. */
static void multiply(forward *f, int64_t m, dn_cpu_matrix left, dn_cpu_matrix right, int64_t k, int g0, int g1, int64_t u0, float beta, float *to)
{
    dn_cpu_rnn *c = &f->c;
    const dn_rnn_job *j = &c->j;
    int64_t width = j->hidden - u0 < c->block ? j->hidden - u0 : c->block, ld = j->slots * j->hidden;
    if (!right.turned) {
        dn_cpu_matrix block = { right.at + u0 * j->gates * k + g0 * width, j->gates * width, false };
        dn_cpu_rnn_multiply(c, m, (g1 - g0) * width, k, 1, left, block, beta, to, ld);
        return;
    }
    for (int g = g0; g < g1; g++)
        dn_cpu_rnn_multiply(c, m, width, k, 1, left, dn_cpu_rnn_columns(right, g * j->hidden + u0), beta, to + (g - g0) * width, ld);
}

/* A skipped input goes to every gate as it is. */
static void spread(const forward *f, int64_t m, dn_cpu_matrix x, int64_t u0, float *to)
{
    const dn_rnn_job *j = &f->c.j;
    int64_t width = j->hidden - u0 < f->c.block ? j->hidden - u0 : f->c.block;
    for (int64_t r = 0; r < m; r++)
        for (int g = 0; g < j->gates; g++)
            memcpy(to + r * j->slots * j->hidden + g * width, x.at + r * x.ld + u0, (size_t)width * sizeof *to);
}

/* Pieces of one direction's stretch: rows by blocks. */
static int64_t input_pieces(const forward *f)
{
    int64_t rows = f->stretches ? dn_ceil_div((f->k1 - f->k0) * f->c.j.batch, INPUT_ROWS) : f->k1 - f->k0;
    return rows * f->c.blocks;
}

static void run_inputs(void *ctx, int64_t begin, int64_t end)
{
    forward *f = ctx;
    const dn_cpu_rnn *c = &f->c;
    const dn_rnn_job *j = &c->j;
    int64_t pieces = input_pieces(f);
    for (int64_t i = begin; i < end; i++) {
        int d = (int)(i / pieces);
        int64_t part = i % pieces / c->blocks, u0 = i % c->blocks * c->block, a = dn_cpu_rnn_time(&f->walk, d, f->k0);
        int64_t b = dn_cpu_rnn_time(&f->walk, d, f->k1 - 1), t = a < b ? a : b, all = (f->k1 - f->k0) * j->batch;
        dn_cpu_rnn_range r = { part * INPUT_ROWS, part * INPUT_ROWS + INPUT_ROWS < all ? part * INPUT_ROWS + INPUT_ROWS : all };
        if (!f->stretches) {
            t += part;
            r = dn_cpu_rnn_alive(c, t, 0, j->batch);
        }
        if (r.lo == r.hi)
            continue;
        dn_cpu_matrix x = dn_cpu_rnn_input(c, f->layer, t + r.lo / j->batch, r.lo % j->batch);
        float *to = sums_at(f, d, t, r.lo) + place(c, j->slots, 0, u0);
        if (f->layer == 0 && j->q->skip)
            spread(f, r.hi - r.lo, x, u0, to);
        else
            multiply(f, r.hi - r.lo, x, f->input[d], dn_rnn_input_size(j->q, f->layer), 0, j->gates, u0, 0, to);
    }
}

/* --- one step --- */

static void begin(void *ctx, const dn_cpu_rnn_step *s)
{
    const forward *f = ctx;
    dn_cpu_rnn_load_state(&f->c, s, f->layer, DN_AUX_HX, f->c.j.proj, f->h[0]);
    if (f->c.lstm)
        dn_cpu_rnn_load_state(&f->c, s, f->layer, DN_AUX_CX, f->c.j.hidden, f->state);
}

static void end(void *ctx, const dn_cpu_rnn_step *s)
{
    const forward *f = ctx;
    dn_cpu_rnn_store_state(&f->c, s, f->layer, DN_AUX_HY, f->c.j.proj, f->h[s->parity]);
    if (f->c.lstm)
        dn_cpu_rnn_store_state(&f->c, s, f->layer, DN_AUX_CY, f->c.j.hidden, f->state);
}

/* h' of a row to where it is wanted besides the state. */
static void put_output(const forward *f, const dn_cpu_rnn_step *s, int64_t b, int64_t from, int64_t to, const float *h)
{
    const dn_rnn_job *j = &f->c.j;
    int64_t at = s->d * j->proj + from;
    size_t n = (size_t)(to - from) * sizeof *h;
    if (f->train || !f->last)
        memcpy((float *)dn_ref_rnn_out(j, f->layer) + (s->t * j->batch + b) * j->width + at, h, n);
    if (f->last)
        memcpy((float *)dn_cpu_rnn_sequence(&f->c, DN_Y, s->t, b).at + at, h, n);
}

static void run_row(const forward *f, const dn_cpu_rnn_step *s, int64_t b, int64_t u0, int64_t u1)
{
    const dn_cpu_rnn *c = &f->c;
    const dn_rnn_job *j = &c->j;
    int64_t row = s->d * j->batch + b, at = s->t * j->batch + b;
    int pseudo = f->layer * j->directions + s->d;
    float *next = f->h[!s->parity] + row * j->proj, *sums = sums_at(f, s->d, s->t, b) + place(c, j->slots, 0, u0);
    dn_cpu_rnn_units u = { .n = u1 - u0, .gate = u1 - u0, .sum_gate = u1 - u0, .sums = sums, .product = c->gru ? sums + 3 * (u1 - u0) : NULL,
                           .bias = f->bias[s->d] + place(c, j->gates, 0, u0), .bias_n = f->bias_n[s->d] + u0,
                           .before = f->h[s->parity] + row * j->proj + u0, .keep = sums,
                           .h = c->projects ? f->m + row * j->hidden + u0 : next + u0, .clip = c->clip };
    u.state = u.cell = c->lstm ? f->state + row * j->hidden + u0 : NULL;
    if (f->train) {
        u.gate = j->hidden;
        u.keep = dn_cpu_rnn_reserve(c, j->at.gates, j->at.gates_pitch, pseudo) + at * j->slots * j->hidden + u0;
        u.cell = c->lstm ? dn_cpu_rnn_reserve(c, j->at.cell, j->at.cell_pitch, pseudo) + at * j->hidden + u0 : NULL;
    }
    c->k->forward[j->q->cell](&u);
    if (!c->projects)
        put_output(f, s, b, u0, u1, next + u0);
}

/* The state of a sequence that has ended, or has not begun, stays. */
static void carry_state(const forward *f, const dn_cpu_rnn_step *s, int64_t b, int64_t from, int64_t to)
{
    int64_t at = (s->d * f->c.j.batch + b) * f->c.j.proj + from;
    memcpy(f->h[!s->parity] + at, f->h[s->parity] + at, (size_t)(to - from) * sizeof(float));
}

static void run_units(void *ctx, const dn_cpu_rnn_step *s, int64_t u0, int64_t u1)
{
    forward *f = ctx;
    dn_cpu_rnn *c = &f->c;
    const dn_rnn_job *j = &c->j;
    int plain = (int)(c->plain / j->hidden);
    int64_t row = s->d * j->batch + s->alive.lo, m = s->alive.hi - s->alive.lo;
    dn_cpu_matrix h = { f->h[s->parity] + row * j->proj, j->proj, false };
    float *sums = sums_at(f, s->d, s->t, s->alive.lo) + place(c, j->slots, 0, u0);
    multiply(f, m, h, f->recurrent[s->d], j->proj, 0, plain, u0, 1, sums);
    if (c->gru)
        multiply(f, m, h, f->recurrent[s->d], j->proj, 2, 3, u0, 0, sums + 3 * (u1 - u0));
    for (int64_t b = s->rows.lo; b < s->rows.hi; b++)
        if (dn_cpu_rnn_lives(c, s->t, b))
            run_row(f, s, b, u0, u1);
        else if (!c->projects)
            carry_state(f, s, b, u0, u1);
}

static void run_projection(void *ctx, const dn_cpu_rnn_step *s, int64_t p0, int64_t p1)
{
    forward *f = ctx;
    dn_cpu_rnn *c = &f->c;
    const dn_rnn_job *j = &c->j;
    int64_t row = s->d * j->batch + s->alive.lo;
    float *next = f->h[!s->parity];
    dn_cpu_matrix m = { f->m + row * j->hidden, j->hidden, false };
    dn_cpu_rnn_multiply(c, s->alive.hi - s->alive.lo, p1 - p0, j->hidden, 1, m, dn_cpu_rnn_columns(f->proj[s->d], p0), 0, next + row * j->proj + p0,
                        j->proj);
    for (int64_t b = s->rows.lo; b < s->rows.hi; b++)
        if (dn_cpu_rnn_lives(c, s->t, b))
            put_output(f, s, b, p0, p1, next + (s->d * j->batch + b) * j->proj + p0);
        else
            carry_state(f, s, b, p0, p1);
}

static void run_layer(forward *f)
{
    const dn_rnn_job *j = &f->c.j;
    f->last = f->layer == j->layers - 1;
    f->stretches = f->layer > 0 || dn_cpu_rnn_is_stretch(&f->c, DN_X);
    if (dn_ref_rnn_drops(j, f->layer))
        dn_ref_rnn_drop(j, f->layer);
    for (int d = 0; d < j->directions; d++)
        load_weights(f, d);
    for (f->k0 = 0; f->k0 < j->time; f->k0 = f->k1) {
        f->k1 = f->k0 + f->steps < j->time ? f->k0 + f->steps : j->time;
        dn_parallel(j->directions * input_pieces(f), 1, run_inputs, f);
        dn_cpu_rnn_run(&f->walk, f->k0, f->k1);
    }
    if (f->train)
        dn_ref_rnn_clear_padding(j, dn_ref_rnn_out(j, f->layer), j->width);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    forward f;
    dn_rnn_room room = dn_ref_rnn_room_of(a->workspace);
    make(&f, &plan->problem, a, &room);
    const dn_rnn_job *j = &f.c.j;
    f.walk = (dn_cpu_rnn_walk){ .c = &f.c, .ctx = &f, .begin = begin, .end = end };
    dn_cpu_rnn_add_phase(&f.walk, run_units, j->hidden, f.c.block);
    if (f.c.projects)
        dn_cpu_rnn_add_phase(&f.walk, run_projection, j->proj, DN_CPU_RNN_COLUMNS);
    for (f.layer = 0; f.layer < j->layers; f.layer++)
        run_layer(&f);
    dn_ref_rnn_fill_padding(j, &j->p->t[DN_Y], a->ptr[DN_Y], a->fill);
    if (f.train)
        dn_ref_rnn_keep_head(j);
    return dn_cpu_rnn_status(&f.c);
}

static size_t workspace(const dn_problem *p)
{
    forward f;
    dn_rnn_room room = { 0 };
    make(&f, p, NULL, &room);
    return dn_ref_rnn_room_bytes(&room);
}

static const dn_solver rows[] = {
    { .name = "cpu_rnn_infer_f32", .op = DN_OP_RNN, .dir = DN_DIR_INFER, .algo = -1, .flags = DN_SOLVER_PLAIN, .check = dn_cpu_rnn_check,
      .workspace = workspace, .run = run },
    { .name = "cpu_rnn_train_f32", .op = DN_OP_RNN, .dir = DN_DIR_TRAIN, .algo = -1, .flags = DN_SOLVER_PLAIN, .check = dn_cpu_rnn_check,
      .workspace = workspace, .run = run },
};

const dn_rows dn_cpu_rnn_fwd = { rows, sizeof rows / sizeof rows[0] };
