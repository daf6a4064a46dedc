/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks: gradients by the input and the initial states. Layers from the last to the first, steps against the direction's order:
 *     dh = dout + what the step after gave; dgates by the cell; dh for the step before = dgates R (and, GRU, dh z)
 * and for all steps at once the gradient by the layer's input, dgates W of both directions. */
#include "ref/rnn.h"

#include <string.h>

typedef struct backward {
    dn_rnn_job j;
    double *input[2];        /* input matrices of both directions in panels of their columns */
    double *recurrent[2];    /* recurrent ones: those of gates that see dgates as they are, and GRU's n */
    double *proj;
    double *dout;            /* [T B][D P] gradient by the layer's outputs, below the last layer */
    double *dh, *dc;         /* [B][P], [B][H] on their way back in time */
    double *hx, *cx;         /* [B][P], [B][H] */
    double *by_h;            /* [B][P rounded up to panels] gradient by h' at the step; then that by h before */
    double *by_m;            /* [B][H rounded up to panels] gradient by h' before the projection; by_h without one */
    double *by_x;            /* [chunk_rows][input size rounded up to panels] */
    double *lines;
    int64_t h_pitch, m_pitch, x_pitch;
    int64_t *weight_at;
    int layer, direction, pseudo;
    int64_t step;
} backward;

/* Recurrent products whose gradients are dgates as they stand: all but GRU's n, which has a slot of its own. */
static int64_t plain_units(const dn_rnn_job *j)
{
    return (j->q->cell == DN_RNN_GRU ? 2 : j->gates) * j->hidden;
}

static void make(backward *w, const dn_problem *p, const dn_args *a, dn_rnn_room *room)
{
    dn_rnn_job *j = &w->j;
    memset(w, 0, sizeof *w);
    dn_ref_rnn_job_init(j, p, a, room);
    int64_t mr = j->k->mr, nr = j->k->nr, states = dn_round_up(j->batch, mr), rows = dn_round_up(j->chunk_rows, mr);
    int64_t in = dn_ref_rnn_larger(j->q->input, j->layers > 1 ? j->width : 0), units = j->gates * j->hidden;
    w->h_pitch = dn_round_up(j->proj, nr), w->m_pitch = dn_round_up(j->hidden, nr), w->x_pitch = dn_round_up(in, nr);
    for (int d = 0; d < j->directions; d++)
        w->input[d] = dn_ref_rnn_take(room, w->x_pitch, units, sizeof(double));
    w->recurrent[0] = dn_ref_rnn_take(room, w->h_pitch, plain_units(j), sizeof(double));
    w->recurrent[1] = dn_ref_rnn_take(room, w->h_pitch, units - plain_units(j), sizeof(double));
    if (j->layers > 1)
        w->dout = dn_ref_rnn_take(room, j->time * j->batch, j->width, sizeof(double));
    w->dh = dn_ref_rnn_take(room, j->batch, j->proj, sizeof(double));
    w->dc = dn_ref_rnn_take(room, j->batch, j->hidden, sizeof(double));
    w->hx = dn_ref_rnn_take(room, j->batch, j->proj, sizeof(double));
    w->cx = dn_ref_rnn_take(room, j->batch, j->hidden, sizeof(double));
    w->by_h = dn_ref_rnn_take(room, states, w->h_pitch, sizeof(double));
    w->by_m = w->by_h;
    w->by_x = dn_ref_rnn_take(room, rows, w->x_pitch, sizeof(double));
    w->lines = dn_ref_rnn_take(room, rows, dn_ref_rnn_larger(units, j->proj), sizeof(double));
    w->weight_at = dn_ref_rnn_take(room, j->gates, j->hidden, sizeof(int64_t));
    if (j->proj != j->hidden) {
        w->proj = dn_ref_rnn_take(room, w->m_pitch, j->proj, sizeof(double));
        w->by_m = dn_ref_rnn_take(room, states, w->m_pitch, sizeof(double));
    }
}

static void load_weights(backward *w)
{
    const dn_rnn_job *j = &w->j;
    dn_rnn_lines l;
    dn_ref_rnn_weight_lines(j, w->pseudo, 0, w->weight_at, &l);
    dn_ref_rnn_pack_values(&l, j->k->nr, w->input[w->direction]);
    dn_ref_rnn_weight_lines(j, w->pseudo, 1, w->weight_at, &l);
    int64_t all = l.count, plain = plain_units(j);
    l.count = plain;
    dn_ref_rnn_pack_values(&l, j->k->nr, w->recurrent[0]);
    l.at += plain;
    l.count = all - plain;
    if (l.count)
        dn_ref_rnn_pack_values(&l, j->k->nr, w->recurrent[1]);
    if (w->proj) {
        dn_ref_rnn_proj_lines(j, w->pseudo, &l);
        dn_ref_rnn_pack_values(&l, j->k->nr, w->proj);
    }
}

/* Gradient by h' of the step's rows: from above and from the step after. With a projection it is kept, rounded. */
static void gather(void *ctx, int64_t begin, int64_t end)
{
    const backward *w = ctx;
    const dn_rnn_job *j = &w->j;
    for (int64_t k = begin; k < end; k++) {
        int64_t row = j->rows[j->first[w->step] + k], part = w->direction * j->proj;
        double *to = w->by_h + k * w->h_pitch;
        const double *dh = w->dh + row % j->batch * j->proj;
        if (w->layer == j->layers - 1)
            dn_load_row(j->type, j->a->ptr[DN_DY], dn_ref_rnn_offset(j, &j->p->t[DN_DY], row) + part, 1, j->proj, to);
        else
            memcpy(to, w->dout + row * j->width + part, (size_t)j->proj * sizeof *to);
        for (int64_t u = 0; u < j->proj; u++)
            to[u] += dh[u];
        if (w->proj) {
            unsigned char *keep = dn_ref_rnn_section(j, j->at.dproj, j->at.dproj_pitch, w->pseudo);
            dn_store_row(j->type, keep, row * j->proj, 1, j->proj, to, 1, 0);
            dn_load_row(j->type, keep, row * j->proj, 1, j->proj, to);
        }
    }
}

/* What the cell saw: gates, its state and the states before. */
static void load_units(const backward *w, int64_t row, int64_t u, int64_t n, double v[4][DN_RNN_UNITS], double was[3][DN_RNN_UNITS])
{
    const dn_rnn_job *j = &w->j;
    int64_t before = dn_ref_rnn_before(j, w->direction, row), b = row % j->batch;
    for (int s = 0; s < j->slots; s++)
        dn_load_row(j->compute, dn_ref_rnn_section(j, j->at.gates, j->at.gates_pitch, w->pseudo), (row * j->slots + s) * j->hidden + u, 1, n, v[s]);
    if (j->q->cell == DN_RNN_LSTM) {
        const unsigned char *cell = dn_ref_rnn_section(j, j->at.cell, j->at.cell_pitch, w->pseudo);
        dn_load_row(j->compute, cell, row * j->hidden + u, 1, n, was[0]);
        if (before >= 0)
            dn_load_row(j->compute, cell, before * j->hidden + u, 1, n, was[1]);
        else
            memcpy(was[1], w->cx + b * j->hidden + u, (size_t)n * sizeof(double));
    }
    if (j->q->cell == DN_RNN_GRU) {
        if (before >= 0)
            dn_load_row(j->type, dn_ref_rnn_out(j, w->layer), before * j->width + w->direction * j->proj + u, 1, n, was[2]);
        else
            memcpy(was[2], w->hx + b * j->proj + u, (size_t)n * sizeof(double));
    }
}

static void run_units(void *ctx, int64_t begin, int64_t end)
{
    const backward *w = ctx;
    const dn_rnn_job *j = &w->j;
    double v[4][DN_RNN_UNITS], was[3][DN_RNN_UNITS];
    int64_t pieces = dn_ref_rnn_pieces(j->hidden), pitch = w->proj ? w->m_pitch : w->h_pitch;
    unsigned char *dgates = dn_ref_rnn_section(j, j->at.dgates, j->at.dgates_pitch, w->pseudo);
    for (int64_t i = begin; i < end; i++) {
        int64_t k = i / pieces, u = i % pieces * DN_RNN_UNITS, n = j->hidden - u < DN_RNN_UNITS ? j->hidden - u : DN_RNN_UNITS;
        int64_t row = j->rows[j->first[w->step] + k], b = row % j->batch;
        load_units(w, row, u, n, v, was);
        dn_rnn_backward part = { .dh = w->by_m + k * pitch + u, .dc = w->dc + b * j->hidden + u, .carry = w->dh + b * j->proj + u,
                                 .c = was[0], .c_before = was[1], .h_before = was[2] };
        dn_ref_rnn_cell_backward(j, &part, n, v);
        for (int s = 0; s < j->slots; s++)
            dn_store_row(j->type, dgates, (row * j->slots + s) * j->hidden + u, 1, n, v[s], 1, 0);
    }
}

/* c += dgates of rows begin .. end - 1 of the list, from unit `unit` on, times panels. */
static void multiply_dgates(backward *w, int64_t begin, int64_t end, int64_t unit, int64_t units, const double *panels, int64_t columns,
                            double *c, int64_t pitch)
{
    dn_rnn_job *j = &w->j;
    for (int64_t i = begin; i < end; i++)
        j->offsets[i - begin] = j->rows[i] * j->slots * j->hidden + unit;
    dn_rnn_lines l = { .type = j->type, .base = dn_ref_rnn_section(j, j->at.dgates, j->at.dgates_pitch, w->pseudo), .at = j->offsets,
                       .count = end - begin, .len = units };
    dn_ref_rnn_pack_lines(&l, j->k->mr, w->lines);
    dn_ref_rnn_multiply(j->k, l.count, columns, units, w->lines, panels, c, pitch);
}

static void multiply_proj(backward *w, int64_t n)
{
    const dn_rnn_job *j = &w->j;
    dn_rnn_lines l = { .type = DN_F64, .base = w->by_h, .pitch = w->h_pitch, .count = n, .len = j->proj };
    memset(w->by_m, 0, (size_t)(dn_round_up(n, j->k->mr) * w->m_pitch) * sizeof(double));
    dn_ref_rnn_pack_lines(&l, j->k->mr, w->lines);
    dn_ref_rnn_multiply(j->k, n, j->hidden, j->proj, w->lines, w->proj, w->by_m, w->m_pitch);
}

static void run_step(backward *w, int64_t t)
{
    const dn_rnn_job *j = &w->j;
    int64_t begin = j->first[t], end = j->first[t + 1], n = end - begin, plain = plain_units(j);
    w->step = t;
    dn_parallel(n, 1 + 4096 / j->proj, gather, w);
    if (w->proj)
        multiply_proj(w, n);
    if (j->q->cell != DN_RNN_GRU)
        for (int64_t k = 0; k < n; k++)
            memset(w->dh + j->rows[begin + k] % j->batch * j->proj, 0, (size_t)j->proj * sizeof(double));
    dn_parallel(n * dn_ref_rnn_pieces(j->hidden), 1 + 32 / dn_ceil_div(j->hidden, 16), run_units, w);
    memset(w->by_h, 0, (size_t)(dn_round_up(n, j->k->mr) * w->h_pitch) * sizeof(double));
    multiply_dgates(w, begin, end, 0, plain, w->recurrent[0], j->proj, w->by_h, w->h_pitch);
    if (j->q->cell == DN_RNN_GRU)
        multiply_dgates(w, begin, end, 3 * j->hidden, j->hidden, w->recurrent[1], j->proj, w->by_h, w->h_pitch);
    for (int64_t k = 0; k < n; k++) {
        double *dh = w->dh + j->rows[begin + k] % j->batch * j->proj;
        for (int64_t u = 0; u < j->proj; u++)
            dh[u] += w->by_h[k * w->h_pitch + u];
    }
}

static void run_pseudo_layer(backward *w)
{
    const dn_rnn_job *j = &w->j;
    const dn_args *a = j->a;
    load_weights(w);
    dn_ref_rnn_state_load(j, a->aux[DN_AUX_HX], w->pseudo, j->proj, w->hx);
    dn_ref_rnn_state_load(j, a->aux[DN_AUX_DHY], w->pseudo, j->proj, w->dh);
    if (j->q->cell == DN_RNN_LSTM) {
        dn_ref_rnn_state_load(j, a->aux[DN_AUX_CX], w->pseudo, j->hidden, w->cx);
        dn_ref_rnn_state_load(j, a->aux[DN_AUX_DCY], w->pseudo, j->hidden, w->dc);
    }
    for (int64_t s = 0; s < j->time; s++) {
        int64_t t = w->direction ? s : j->time - 1 - s;
        if (j->first[t + 1] > j->first[t])
            run_step(w, t);
    }
    dn_ref_rnn_state_store(j, a->aux[DN_AUX_DHX], w->pseudo, j->proj, w->dh);
    if (j->q->cell == DN_RNN_LSTM)
        dn_ref_rnn_state_store(j, a->aux[DN_AUX_DCX], w->pseudo, j->hidden, w->dc);
    dn_ref_rnn_clear_padding(j, dn_ref_rnn_section(j, j->at.dgates, j->at.dgates_pitch, w->pseudo), j->slots * j->hidden);
    if (w->proj)
        dn_ref_rnn_clear_padding(j, dn_ref_rnn_section(j, j->at.dproj, j->at.dproj_pitch, w->pseudo), j->proj);
}

/* A skipped input went to every gate: its gradient is the sum of theirs. */
static void add_skipped(const backward *w, int64_t begin, int64_t end)
{
    const dn_rnn_job *j = &w->j;
    const unsigned char *dgates = dn_ref_rnn_section(j, j->at.dgates, j->at.dgates_pitch, w->pseudo);
    double v[DN_RNN_UNITS];
    for (int64_t i = begin; i < end; i++)
        for (int g = 0; g < j->gates; g++)
            for (int64_t u = 0; u < j->hidden; u += DN_RNN_UNITS) {
                int64_t n = j->hidden - u < DN_RNN_UNITS ? j->hidden - u : DN_RNN_UNITS;
                dn_load_row(j->type, dgates, (j->rows[i] * j->slots + g) * j->hidden + u, 1, n, v);
                for (int64_t k = 0; k < n; k++)
                    w->by_x[(i - begin) * w->x_pitch + u + k] += v[k];
            }
}

/* Rows begin .. end - 1 of the gradient by the layer's input, to DX or to the outputs of the layer below. */
static void run_input(backward *w, int64_t begin, int64_t end)
{
    const dn_rnn_job *j = &w->j;
    int64_t in = dn_rnn_input_size(j->q, w->layer), units = j->gates * j->hidden;
    memset(w->by_x, 0, (size_t)(dn_round_up(end - begin, j->k->mr) * w->x_pitch) * sizeof(double));
    for (int d = 0; d < j->directions; d++) {
        w->pseudo = w->layer * j->directions + d;
        if (w->layer == 0 && j->q->skip)
            add_skipped(w, begin, end);
        else
            multiply_dgates(w, begin, end, 0, units, w->input[d], in, w->by_x, w->x_pitch);
    }
    for (int64_t i = begin; i < end; i++) {
        int64_t row = j->rows[i];
        double *v = w->by_x + (i - begin) * w->x_pitch;
        if (w->layer == 0) {
            dn_store_row(j->type, j->a->ptr[DN_DX], dn_ref_rnn_offset(j, &j->p->t[DN_DX], row), 1, in, v, 1, 0);
            continue;
        }
        if (dn_ref_rnn_drops(j, w->layer))
            dn_ref_rnn_mask(j, w->layer, row, 0, in, v);
        memcpy(w->dout + row * j->width, v, (size_t)in * sizeof *v);
    }
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    backward w;
    dn_rnn_room room = dn_ref_rnn_room_of(a->workspace);
    make(&w, &plan->problem, a, &room);
    const dn_rnn_job *j = &w.j;
    for (w.layer = j->layers - 1; w.layer >= 0; w.layer--) {
        for (w.direction = 0; w.direction < j->directions; w.direction++) {
            w.pseudo = w.layer * j->directions + w.direction;
            run_pseudo_layer(&w);
        }
        for (int64_t i = 0, all = j->first[j->time]; i < all; i += j->chunk_rows)
            run_input(&w, i, all - i < j->chunk_rows ? all : i + j->chunk_rows);
    }
    dn_ref_rnn_fill_padding(j, &j->p->t[DN_DX], a->ptr[DN_DX], a->fill);
    return DN_SUCCESS;
}

static size_t workspace(const dn_problem *p)
{
    backward w;
    dn_rnn_room room = { 0 };
    make(&w, p, NULL, &room);
    return dn_ref_rnn_room_bytes(&room);
}

static const dn_solver rows[] = {
    { .name = "ref_rnn_bwd_data", .op = DN_OP_RNN, .dir = DN_DIR_BWD_DATA, .algo = -1, .flags = DN_SOLVER_PLAIN, .workspace = workspace,
      .run = run },
};

const dn_rows dn_ref_rnn_bwd_data = { rows, sizeof rows / sizeof *rows };
