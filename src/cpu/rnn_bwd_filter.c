/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks, f32: gradients by the weights, from what training and bwd_data left in the reserve space. All positions of a layer are
 * one product: dW = dgates^T x, dR = dgates^T h before, dP = (dh by the projection)^T m, cut by units; biases are sums of dgates. Rows that do
 * not exist are zeros on both sides. */
#include "cpu/rnn.h"

#include <string.h>

enum { UNITS = 128, SUMS = 256, ROWS = 16 };  /* of one piece of work: units of a matrix, of a bias, rows of a copy */

typedef struct gradient {
    dn_cpu_rnn c;
    int layer, d, pseudo;
    float *input, *before, *cells;  /* [T B][I], where X does not lie like that, [T B][P], [T B][H] */
    /* The product at hand: dw [units][columns] from left [T B][units] and right [T B][columns] */
    dn_cpu_matrix left, right;
    int64_t units, columns;
    float *dw;
} gradient;

static void make(gradient *g, const dn_problem *p, const dn_args *a, dn_rnn_room *room)
{
    memset(g, 0, sizeof *g);
    dn_cpu_rnn_init(&g->c, p, a, room);
    const dn_rnn_job *j = &g->c.j;
    g->input = j->q->skip ? NULL : dn_cpu_rnn_floats(room, j->time * j->batch, j->q->input);
    g->before = dn_cpu_rnn_floats(room, j->time * j->batch, j->proj);
    g->cells = g->c.projects ? dn_cpu_rnn_floats(room, j->time * j->batch, j->hidden) : NULL;
}

static void put_row(float *to, const float *from, int64_t n)
{
    if (from)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
        memset(to, 0, (size_t)n * sizeof *to);
}

static void copy_input(void *ctx, int64_t begin, int64_t end)
{
    const gradient *g = ctx;
    const dn_rnn_job *j = &g->c.j;
    for (int64_t row = begin; row < end; row++) {
        int64_t t = row / j->batch, b = row % j->batch;
        put_row(g->input + row * j->q->input, dn_cpu_rnn_lives(&g->c, t, b) ? dn_cpu_rnn_sequence(&g->c, DN_X, t, b).at : NULL, j->q->input);
    }
}

/* h before each row. */
static void copy_states(void *ctx, int64_t begin, int64_t end)
{
    const gradient *g = ctx;
    const dn_rnn_job *j = &g->c.j;
    const float *hx = j->a->aux[DN_AUX_HX], *out = (const float *)dn_ref_rnn_out(j, g->layer) + g->d * j->proj;
    for (int64_t row = begin; row < end; row++) {
        int64_t b = row % j->batch, at = dn_ref_rnn_before(j, g->d, row);
        const float *from = at >= 0 ? out + at * j->width : hx ? hx + (g->pseudo * j->batch + b) * j->proj : NULL;
        put_row(g->before + row * j->proj, dn_cpu_rnn_lives(&g->c, row / j->batch, b) ? from : NULL, j->proj);
    }
}

/* What the projection was given: o tanh(clip(c')). */
static void copy_cells(void *ctx, int64_t begin, int64_t end)
{
    const gradient *g = ctx;
    const dn_cpu_rnn *c = &g->c;
    const dn_rnn_job *j = &c->j;
    float *gates = dn_cpu_rnn_reserve(c, j->at.gates, j->at.gates_pitch, g->pseudo);
    float *cell = dn_cpu_rnn_reserve(c, j->at.cell, j->at.cell_pitch, g->pseudo);
    for (int64_t row = begin; row < end; row++) {
        dn_cpu_rnn_units u = { .n = j->hidden, .keep = gates + (row * j->slots + 3) * j->hidden, .c = cell + row * j->hidden,
                               .h = g->cells + row * j->hidden, .clip = c->clip };
        if (dn_cpu_rnn_lives(c, row / j->batch, row % j->batch))
            c->k->project(&u);
        else
            put_row(u.h, NULL, j->hidden);
    }
}

/* --- products --- */

static void run_units(void *ctx, int64_t begin, int64_t end)
{
    gradient *g = ctx;
    const dn_rnn_job *j = &g->c.j;
    for (int64_t i = begin; i < end; i++) {
        int64_t u = i * UNITS, n = g->units - u < UNITS ? g->units - u : UNITS;
        dn_cpu_matrix left = { g->left.at + u, g->left.ld, true };
        dn_cpu_rnn_multiply(&g->c, n, g->columns, j->time * j->batch, (float)j->a->alpha, left, g->right, (float)j->a->beta, g->dw + u * g->columns,
                            g->columns);
    }
}

/* The gradient by `units` rows of the matrices from that of `linear` on. */
static void product(gradient *g, int linear, int64_t units, const float *left, int64_t ld, dn_cpu_matrix right)
{
    dn_rnn_weight w;
    dn_cpu_matrix to = dn_cpu_rnn_weight(&g->c, g->pseudo, linear, &w);
    g->left = (dn_cpu_matrix){ left, ld, true };
    g->right = right;
    g->units = units;
    g->columns = w.columns;
    g->dw = (float *)to.at;
    dn_parallel(dn_ceil_div(units, UNITS), 1, run_units, g);
}

static void run_matrices(gradient *g)
{
    const dn_cpu_rnn *c = &g->c;
    const dn_rnn_job *j = &c->j;
    const float *dgates = dn_cpu_rnn_reserve(c, j->at.dgates, j->at.dgates_pitch, g->pseudo);
    int64_t ld = j->slots * j->hidden, rows = j->time * j->batch;
    dn_cpu_matrix x = { g->input, j->q->input, false }, h = { g->before, j->proj, false }, m = { g->cells, j->hidden, false };
    if (g->layer > 0 || (!j->q->skip && dn_cpu_rnn_is_dense(c, DN_X)))
        x = dn_cpu_rnn_input(c, g->layer, 0, 0);
    if (g->layer > 0 || !j->q->skip)
        product(g, 0, c->units, dgates, ld, x);
    dn_parallel(rows, ROWS, copy_states, g);
    product(g, j->gates, c->plain, dgates, ld, h);
    if (c->gru)
        product(g, j->gates + 2, j->hidden, dgates + 3 * j->hidden, ld, h);
    if (c->projects) {
        dn_parallel(rows, ROWS, copy_cells, g);
        product(g, 2 * j->gates, j->proj, dn_cpu_rnn_reserve(c, j->at.dproj, j->at.dproj_pitch, g->pseudo), j->proj, m);
    }
}

/* --- biases --- */

/* Units [u, u + n) of all slots, in double: the sum is long. */
static void put_bias(const gradient *g, int64_t u, int64_t n, const double *sums)
{
    const dn_rnn_job *j = &g->c.j;
    dn_rnn_weight w;
    for (int i = 0; dn_rnn_weight_at(j->q, g->pseudo, i, &w); i++) {
        int64_t slot = g->c.gru && i == 5 ? 3 : i % j->gates, first = slot * j->hidden;
        int64_t from = first > u ? first : u, to = first + j->hidden < u + n ? first + j->hidden : u + n;
        if (w.bias_rows && from < to)
            dn_store_row(DN_F32, j->a->ptr[DN_W], w.bias + from - first, 1, to - from, sums + from - u, j->a->alpha, j->a->beta);
    }
}

static void run_biases(void *ctx, int64_t begin, int64_t end)
{
    const gradient *g = ctx;
    const dn_rnn_job *j = &g->c.j;
    const float *dgates = dn_cpu_rnn_reserve(&g->c, j->at.dgates, j->at.dgates_pitch, g->pseudo);
    int64_t all = j->slots * j->hidden;
    for (int64_t i = begin; i < end; i++) {
        double sums[SUMS] = { 0 };
        int64_t u = i * SUMS, n = all - u < SUMS ? all - u : SUMS;
        for (int64_t k = 0; k < j->first[j->time]; k++)
            g->c.k->sum(n, dgates + j->rows[k] * all + u, sums);
        put_bias(g, u, n, sums);
    }
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    gradient g;
    dn_rnn_room room = dn_ref_rnn_room_of(a->workspace);
    make(&g, &plan->problem, a, &room);
    const dn_rnn_job *j = &g.c.j;
    if (!j->q->skip && !dn_cpu_rnn_is_dense(&g.c, DN_X))
        dn_parallel(j->time * j->batch, ROWS, copy_input, &g);
    for (g.layer = 0; g.layer < j->layers; g.layer++) {
        if (dn_ref_rnn_drops(j, g.layer)) {
            dn_ref_rnn_drop(j, g.layer);
            dn_ref_rnn_clear_padding(j, j->dropped, j->width);
        }
        for (g.d = 0; g.d < j->directions; g.d++) {
            g.pseudo = g.layer * j->directions + g.d;
            run_matrices(&g);
            if (j->q->bias != DN_RNN_BIAS_NONE)
                dn_parallel(dn_ceil_div(j->slots * j->hidden, SUMS), 1, run_biases, &g);
        }
    }
    return dn_cpu_rnn_status(&g.c);
}

static size_t workspace(const dn_problem *p)
{
    gradient g;
    dn_rnn_room room = { 0 };
    make(&g, p, NULL, &room);
    return dn_ref_rnn_room_bytes(&room);
}

static const dn_solver rows[] = {
    { .name = "cpu_rnn_bwd_filter_f32", .op = DN_OP_RNN, .dir = DN_DIR_BWD_FILTER, .algo = -1, .flags = DN_SOLVER_PLAIN, .check = dn_cpu_rnn_check,
      .workspace = workspace, .run = run },
};

const dn_rows dn_cpu_rnn_bwd_filter = { rows, sizeof rows / sizeof rows[0] };
