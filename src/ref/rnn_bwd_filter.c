/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks: gradients by the weights, from what training and bwd_data left in the reserve space. All steps of a layer are one
 * reduction: dW = sum over rows of dgates x, dR = dgates h before, dP = (dh by the projection) m, biases = sums of dgates. A gate is a
 * product of its own, so that the weight space may lie in any order. out = alpha sum + beta out. */
#include "ref/rnn.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1024 };  /* units whose gradients are summed at once */

typedef struct gradient {
    dn_rnn_job j;
    double *sums;             /* [BLOCK][columns rounded up to panels] */
    double *left, *right;     /* panels: gradients, and what they are multiplied with */
    double *values;           /* [chunk_rows][P or H] where the right side is not there as lines */
    double *hx;               /* [B][P] */
    double *bias;             /* [slots H] */
    int layer, direction, pseudo;
    int64_t begin;            /* of the chunk in the list of rows */
} gradient;

/* One product: gradients (left) of `units` columns at an offset of rows of this pitch, by what kind of right side. */
typedef enum side { BY_INPUT, BY_STATE, BY_CELL } side;

typedef struct task {
    const unsigned char *left;
    int64_t pitch, offset, units;
    side right;
    int64_t columns;
    int64_t matrix;           /* first element of the result in the weight space */
} task;

static void make(gradient *g, const dn_problem *p, const dn_args *a, dn_rnn_room *room)
{
    dn_rnn_job *j = &g->j;
    memset(g, 0, sizeof *g);
    dn_ref_rnn_job_init(j, p, a, room);
    int64_t mr = j->k->mr, nr = j->k->nr, block = j->hidden < BLOCK ? j->hidden : BLOCK;
    int64_t columns = dn_ref_rnn_larger(dn_ref_rnn_larger(j->q->input, j->hidden), j->layers > 1 ? j->width : 0);
    g->sums = dn_ref_rnn_take(room, dn_round_up(block, mr), dn_round_up(columns, nr), sizeof(double));
    g->left = dn_ref_rnn_take(room, dn_round_up(block, mr), j->chunk_rows, sizeof(double));
    g->right = dn_ref_rnn_take(room, dn_round_up(columns, nr), j->chunk_rows, sizeof(double));
    g->values = dn_ref_rnn_take(room, j->chunk_rows, j->hidden, sizeof(double));
    g->hx = dn_ref_rnn_take(room, j->batch, j->proj, sizeof(double));
    g->bias = dn_ref_rnn_take(room, j->slots, j->hidden, sizeof(double));
}

/* h before each row of the chunk. */
static void load_states(void *ctx, int64_t begin, int64_t end)
{
    const gradient *g = ctx;
    const dn_rnn_job *j = &g->j;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = j->rows[g->begin + i], before = dn_ref_rnn_before(j, g->direction, row);
        double *to = g->values + i * j->proj;
        if (before >= 0)
            dn_load_row(j->type, dn_ref_rnn_out(j, g->layer), before * j->width + g->direction * j->proj, 1, j->proj, to);
        else
            memcpy(to, g->hx + row % j->batch * j->proj, (size_t)j->proj * sizeof *to);
    }
}

/* What the projection was given: o tanh(clip(c')), rounded as it was then. */
static void load_cells(void *ctx, int64_t begin, int64_t end)
{
    const gradient *g = ctx;
    const dn_rnn_job *j = &g->j;
    const unsigned char *gates = dn_ref_rnn_section(j, j->at.gates, j->at.gates_pitch, g->pseudo);
    const unsigned char *cell = dn_ref_rnn_section(j, j->at.cell, j->at.cell_pitch, g->pseudo);
    double o[DN_RNN_UNITS], c[DN_RNN_UNITS], rounded[DN_RNN_UNITS];
    for (int64_t i = begin; i < end; i++)
        for (int64_t u = 0; u < j->hidden; u += DN_RNN_UNITS) {
            int64_t row = j->rows[g->begin + i], n = j->hidden - u < DN_RNN_UNITS ? j->hidden - u : DN_RNN_UNITS;
            dn_load_row(j->compute, gates, (row * j->slots + 3) * j->hidden + u, 1, n, o);
            dn_load_row(j->compute, cell, row * j->hidden + u, 1, n, c);
            for (int64_t k = 0; k < n; k++)
                o[k] *= tanh(dn_ref_rnn_clipped(j, c[k]));
            dn_store_row(j->type, rounded, 0, 1, n, o, 1, 0);
            dn_load_row(j->type, rounded, 0, 1, n, g->values + i * j->hidden + u);
        }
}

static void pack_right(gradient *g, const task *t, int64_t begin, int64_t end)
{
    const dn_rnn_job *j = &g->j;
    dn_rnn_lines l = { .type = DN_F64, .base = g->values, .pitch = t->columns, .count = end - begin, .len = t->columns };
    g->begin = begin;
    if (t->right == BY_INPUT)
        dn_ref_rnn_input_lines(j, g->layer, begin, end, &l);
    else
        dn_parallel(l.count, 1 + 4096 / l.len, t->right == BY_STATE ? load_states : load_cells, g);
    dn_ref_rnn_pack_values(&l, j->k->nr, g->right);
}

static void run_block(gradient *g, const task *t, int64_t unit, int64_t units)
{
    const dn_rnn_job *j = &g->j;
    int64_t pitch = dn_round_up(t->columns, j->k->nr);
    memset(g->sums, 0, (size_t)(dn_round_up(units, j->k->mr) * pitch) * sizeof(double));
    for (int64_t i = 0, all = j->first[j->time]; i < all; i += j->chunk_rows) {
        int64_t n = all - i < j->chunk_rows ? all - i : j->chunk_rows;
        pack_right(g, t, i, i + n);
        for (int64_t k = 0; k < n; k++)
            j->offsets[k] = j->rows[i + k] * t->pitch + t->offset + unit;
        dn_rnn_lines l = { .type = j->type, .base = t->left, .at = j->offsets, .count = n, .len = units };
        dn_ref_rnn_pack_values(&l, j->k->mr, g->left);
        dn_ref_rnn_multiply(j->k, units, t->columns, n, g->left, g->right, g->sums, pitch);
    }
    for (int64_t u = 0; u < units; u++)
        dn_store_row(j->type, j->a->ptr[DN_W], t->matrix + (unit + u) * t->columns, 1, t->columns, g->sums + u * pitch, j->a->alpha,
                     j->a->beta);
}

static void run_task(gradient *g, const task *t)
{
    for (int64_t u = 0; u < t->units; u += BLOCK)
        run_block(g, t, u, t->units - u < BLOCK ? t->units - u : BLOCK);
}

/* Where dgates holds the gradient by the product of a linear layer. */
static int slot_of(const dn_rnn_job *j, int linear)
{
    return j->q->cell == DN_RNN_GRU && linear == 5 ? 3 : linear % j->gates;
}

static void run_matrices(gradient *g)
{
    const dn_rnn_job *j = &g->j;
    const unsigned char *dgates = dn_ref_rnn_section(j, j->at.dgates, j->at.dgates_pitch, g->pseudo);
    const unsigned char *dproj = dn_ref_rnn_section(j, j->at.dproj, j->at.dproj_pitch, g->pseudo);
    dn_rnn_weight w;
    for (int i = 0; dn_rnn_weight_at(j->q, g->pseudo, i, &w); i++) {
        task t = { .left = dgates, .pitch = j->slots * j->hidden, .offset = slot_of(j, i) * j->hidden, .units = w.rows,
                   .right = i < j->gates ? BY_INPUT : BY_STATE, .columns = w.columns, .matrix = w.matrix };
        if (i == 2 * j->gates) {
            t.left = dproj;
            t.pitch = j->proj;
            t.offset = 0;
            t.right = BY_CELL;
        }
        run_task(g, &t);
    }
}

static void sum_dgates(void *ctx, int64_t begin, int64_t end)
{
    const gradient *g = ctx;
    const dn_rnn_job *j = &g->j;
    const unsigned char *dgates = dn_ref_rnn_section(j, j->at.dgates, j->at.dgates_pitch, g->pseudo);
    double v[DN_RNN_UNITS];
    for (int64_t u = begin; u < end; u += DN_RNN_UNITS) {
        int64_t n = end - u < DN_RNN_UNITS ? end - u : DN_RNN_UNITS;
        memset(g->bias + u, 0, (size_t)n * sizeof(double));
        for (int64_t i = 0; i < j->first[j->time]; i++) {
            dn_load_row(j->type, dgates, j->rows[i] * j->slots * j->hidden + u, 1, n, v);
            for (int64_t k = 0; k < n; k++)
                g->bias[u + k] += v[k];
        }
    }
}

static void run_biases(gradient *g)
{
    const dn_rnn_job *j = &g->j;
    dn_rnn_weight w;
    if (j->q->bias == DN_RNN_BIAS_NONE)
        return;
    dn_parallel(j->slots * j->hidden, 64, sum_dgates, g);
    for (int i = 0; dn_rnn_weight_at(j->q, g->pseudo, i, &w); i++)
        if (w.bias_rows)
            dn_store_row(j->type, j->a->ptr[DN_W], w.bias, 1, w.bias_rows, g->bias + slot_of(j, i) * j->hidden, j->a->alpha, j->a->beta);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    gradient g;
    dn_rnn_room room = dn_ref_rnn_room_of(a->workspace);
    make(&g, &plan->problem, a, &room);
    const dn_rnn_job *j = &g.j;
    for (g.layer = 0; g.layer < j->layers; g.layer++) {
        if (dn_ref_rnn_drops(j, g.layer))
            dn_ref_rnn_drop(j, g.layer);
        for (g.direction = 0; g.direction < j->directions; g.direction++) {
            g.pseudo = g.layer * j->directions + g.direction;
            dn_ref_rnn_state_load(j, a->aux[DN_AUX_HX], g.pseudo, j->proj, g.hx);
            run_matrices(&g);
            run_biases(&g);
        }
    }
    return DN_SUCCESS;
}

static size_t workspace(const dn_problem *p)
{
    gradient g;
    dn_rnn_room room = { 0 };
    make(&g, p, NULL, &room);
    return dn_ref_rnn_room_bytes(&room);
}

static const dn_solver rows[] = {
    { .name = "ref_rnn_bwd_filter", .op = DN_OP_RNN, .dir = DN_DIR_BWD_FILTER, .algo = -1, .flags = DN_SOLVER_PLAIN, .workspace = workspace,
      .run = run },
};

const dn_rows dn_ref_rnn_bwd_filter = { rows, sizeof rows / sizeof *rows };
