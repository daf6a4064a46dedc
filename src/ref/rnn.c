/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks forward, for inference and training. Layer by layer, direction by direction: the input products of a stretch of steps are
 * one matrix product, then each step adds that of the states. */
#include "ref/rnn.h"

#include <string.h>

typedef struct forward {
    dn_rnn_job j;
    double *input, *recurrent, *proj;  /* weights of the pseudo layer in panels of columns */
    double *bias[2];                   /* [gates H] */
    double *h, *c;                     /* [B][P], [B][H] */
    double *from_x;                    /* [chunk_rows][wide] input products */
    double *from_h;                    /* [B][wide] */
    double *lines;                     /* what they are multiplied with, in panels */
    double *m, *projected;             /* [B][H] o tanh(c'), [B][P] */
    int64_t projected_pitch;
    int64_t *weight_at;
    int layer, direction, pseudo;
    int64_t step, begin;               /* time at hand; where the chunk begins in the list of rows */
} forward;

static void make(forward *f, const dn_problem *p, const dn_args *a, dn_rnn_room *room)
{
    dn_rnn_job *j = &f->j;
    memset(f, 0, sizeof *f);
    dn_ref_rnn_job_init(j, p, a, room);
    int64_t mr = j->k->mr, nr = j->k->nr, states = dn_round_up(j->batch, mr), rows = dn_round_up(j->chunk_rows, mr);
    int64_t in = dn_ref_rnn_larger(j->q->input, j->layers > 1 ? j->width : 0);
    f->input = dn_ref_rnn_take(room, j->wide, in, sizeof(double));
    f->recurrent = dn_ref_rnn_take(room, j->wide, j->proj, sizeof(double));
    for (int i = 0; i < 2; i++)
        f->bias[i] = dn_ref_rnn_take(room, j->gates, j->hidden, sizeof(double));
    f->h = dn_ref_rnn_take(room, j->batch, j->proj, sizeof(double));
    f->c = dn_ref_rnn_take(room, j->batch, j->hidden, sizeof(double));
    f->from_x = dn_ref_rnn_take(room, rows, j->wide, sizeof(double));
    f->from_h = dn_ref_rnn_take(room, states, j->wide, sizeof(double));
    f->lines = dn_ref_rnn_take(room, rows, dn_ref_rnn_larger(in, j->hidden), sizeof(double));
    f->weight_at = dn_ref_rnn_take(room, j->gates, j->hidden, sizeof(int64_t));
    if (j->proj != j->hidden) {
        f->projected_pitch = dn_round_up(j->proj, nr);
        f->proj = dn_ref_rnn_take(room, f->projected_pitch, j->hidden, sizeof(double));
        f->m = dn_ref_rnn_take(room, j->batch, j->hidden, sizeof(double));
        f->projected = dn_ref_rnn_take(room, states, f->projected_pitch, sizeof(double));
    }
}

static void load_weights(forward *f)
{
    const dn_rnn_job *j = &f->j;
    dn_rnn_lines l;
    dn_rnn_weight w;
    dn_ref_rnn_weight_lines(j, f->pseudo, 0, f->weight_at, &l);
    dn_ref_rnn_pack_lines(&l, j->k->nr, f->input);
    dn_ref_rnn_weight_lines(j, f->pseudo, 1, f->weight_at, &l);
    dn_ref_rnn_pack_lines(&l, j->k->nr, f->recurrent);
    if (f->proj) {
        dn_ref_rnn_proj_lines(j, f->pseudo, &l);
        dn_ref_rnn_pack_lines(&l, j->k->nr, f->proj);
    }
    for (int g = 0; g < 2 * j->gates; g++) {
        double *to = f->bias[g / j->gates] + g % j->gates * j->hidden;
        dn_rnn_weight_at(j->q, f->pseudo, g, &w);
        if (w.bias_rows)
            dn_load_row(j->type, j->a->ptr[DN_W], w.bias, 1, w.bias_rows, to);
        else
            memset(to, 0, (size_t)j->hidden * sizeof *to);
    }
}

/* A skipped input goes to every gate as it is. */
static void spread_input(forward *f, const dn_rnn_lines *l)
{
    const dn_rnn_job *j = &f->j;
    for (int64_t i = 0; i < l->count; i++)
        for (int g = 0; g < j->gates; g++)
            dn_load_row(l->type, l->base, l->at[i], 1, j->hidden, f->from_x + i * j->wide + g * j->hidden);
}

static void multiply_input(forward *f, int64_t begin, int64_t end)
{
    const dn_rnn_job *j = &f->j;
    dn_rnn_lines l;
    dn_ref_rnn_input_lines(j, f->layer, begin, end, &l);
    if (f->layer == 0 && j->q->skip) {
        spread_input(f, &l);
        return;
    }
    memset(f->from_x, 0, (size_t)(dn_round_up(l.count, j->k->mr) * j->wide) * sizeof(double));
    dn_ref_rnn_pack_lines(&l, j->k->mr, f->lines);
    dn_ref_rnn_multiply(j->k, l.count, j->gates * j->hidden, l.len, f->lines, f->input, f->from_x, j->wide);
}

static void keep_units(const forward *f, int64_t row, int64_t u, int64_t n, double v[4][DN_RNN_UNITS])
{
    const dn_rnn_job *j = &f->j;
    unsigned char *gates = dn_ref_rnn_section(j, j->at.gates, j->at.gates_pitch, f->pseudo);
    for (int s = 0; s < j->slots; s++)
        dn_store_row(j->compute, gates, (row * j->slots + s) * j->hidden + u, 1, n, v[s], 1, 0);
    if (j->q->cell == DN_RNN_LSTM)
        dn_store_row(j->compute, dn_ref_rnn_section(j, j->at.cell, j->at.cell_pitch, f->pseudo), row * j->hidden + u, 1, n,
                     f->c + row % j->batch * j->hidden + u, 1, 0);
}

/* h' of some units, rounded, to the outputs and to the state. */
static void put_output(const forward *f, int64_t row, int64_t u, int64_t n, const double *h)
{
    const dn_rnn_job *j = &f->j;
    unsigned char *out = dn_ref_rnn_out(j, f->layer);
    int64_t at = row * j->width + f->direction * j->proj + u;
    dn_store_row(j->type, out, at, 1, n, h, 1, 0);
    dn_load_row(j->type, out, at, 1, n, f->h + row % j->batch * j->proj + u);
}

static void run_units(void *ctx, int64_t begin, int64_t end)
{
    const forward *f = ctx;
    const dn_rnn_job *j = &f->j;
    double v[4][DN_RNN_UNITS], h[DN_RNN_UNITS];
    int64_t pieces = dn_ref_rnn_pieces(j->hidden), first = j->first[f->step];
    for (int64_t i = begin; i < end; i++) {
        int64_t k = i / pieces, u = i % pieces * DN_RNN_UNITS, n = j->hidden - u < DN_RNN_UNITS ? j->hidden - u : DN_RNN_UNITS;
        int64_t row = j->rows[first + k], b = row % j->batch;
        dn_rnn_forward part = { .input = f->from_x + (first + k - f->begin) * j->wide, .recurrent = f->from_h + k * j->wide,
                                .bias = { f->bias[0], f->bias[1] }, .h = f->h + b * j->proj, .c = f->c + b * j->hidden };
        dn_ref_rnn_cell_forward(j, &part, u, n, v, h);
        if (j->p->dir == DN_DIR_TRAIN)
            keep_units(f, row, u, n, v);
        if (!f->proj) {
            put_output(f, row, u, n, h);
            continue;
        }
        double rounded[DN_RNN_UNITS];
        dn_store_row(j->type, rounded, 0, 1, n, h, 1, 0);
        dn_load_row(j->type, rounded, 0, 1, n, f->m + k * j->hidden + u);
    }
}

static void run_projected(void *ctx, int64_t begin, int64_t end)
{
    const forward *f = ctx;
    const dn_rnn_job *j = &f->j;
    for (int64_t k = begin; k < end; k++)
        put_output(f, j->rows[j->first[f->step] + k], 0, j->proj, f->projected + k * f->projected_pitch);
}

static void run_step(forward *f, int64_t t)
{
    dn_rnn_job *j = &f->j;
    int64_t first = j->first[t], n = j->first[t + 1] - first, rows = dn_round_up(n, j->k->mr);
    f->step = t;
    for (int64_t k = 0; k < n; k++)
        j->offsets[k] = j->rows[first + k] % j->batch * j->proj;
    dn_rnn_lines l = { .type = DN_F64, .base = f->h, .at = j->offsets, .count = n, .len = j->proj };
    memset(f->from_h, 0, (size_t)(rows * j->wide) * sizeof(double));
    dn_ref_rnn_pack_lines(&l, j->k->mr, f->lines);
    dn_ref_rnn_multiply(j->k, n, j->gates * j->hidden, j->proj, f->lines, f->recurrent, f->from_h, j->wide);
    dn_parallel(n * dn_ref_rnn_pieces(j->hidden), 1 + 32 / dn_ceil_div(j->hidden, 16), run_units, f);
    if (!f->proj)
        return;
    l = (dn_rnn_lines){ .type = DN_F64, .base = f->m, .pitch = j->hidden, .count = n, .len = j->hidden };
    memset(f->projected, 0, (size_t)(rows * f->projected_pitch) * sizeof(double));
    dn_ref_rnn_pack_lines(&l, j->k->mr, f->lines);
    dn_ref_rnn_multiply(j->k, n, j->proj, j->hidden, f->lines, f->proj, f->projected, f->projected_pitch);
    dn_parallel(n, 1 + 4096 / j->proj, run_projected, f);
}

static void run_pseudo_layer(forward *f)
{
    const dn_rnn_job *j = &f->j;
    const dn_args *a = j->a;
    load_weights(f);
    dn_ref_rnn_state_load(j, a->aux[DN_AUX_HX], f->pseudo, j->proj, f->h);
    if (j->q->cell == DN_RNN_LSTM)
        dn_ref_rnn_state_load(j, a->aux[DN_AUX_CX], f->pseudo, j->hidden, f->c);
    for (int64_t done = 0; done < j->time; done += j->chunk_steps) {
        int64_t n = j->time - done < j->chunk_steps ? j->time - done : j->chunk_steps;
        int64_t from = f->direction ? j->time - done - n : done;
        f->begin = j->first[from];
        if (j->first[from + n] == f->begin)
            continue;
        multiply_input(f, f->begin, j->first[from + n]);
        for (int64_t s = 0; s < n; s++) {
            int64_t t = f->direction ? from + n - 1 - s : from + s;
            if (j->first[t + 1] > j->first[t])
                run_step(f, t);
        }
    }
    dn_ref_rnn_state_store(j, a->aux[DN_AUX_HY], f->pseudo, j->proj, f->h);
    if (j->q->cell == DN_RNN_LSTM)
        dn_ref_rnn_state_store(j, a->aux[DN_AUX_CY], f->pseudo, j->hidden, f->c);
}

/* Y from the outputs of the last layer. */
static void store_output(const forward *f)
{
    const dn_rnn_job *j = &f->j;
    const dn_tensor *y = &j->p->t[DN_Y];
    unsigned char *to = j->a->ptr[DN_Y];
    const unsigned char *out = dn_ref_rnn_out(j, j->layers - 1);
    size_t size = dn_dtype_size(j->type), n = (size_t)j->width * size;
    for (int64_t i = 0; i < j->first[j->time]; i++)
        memcpy(to + (size_t)dn_ref_rnn_offset(j, y, j->rows[i]) * size, out + (size_t)j->rows[i] * n, n);
    dn_ref_rnn_fill_padding(j, y, to, j->a->fill);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    forward f;
    dn_rnn_room room = dn_ref_rnn_room_of(a->workspace);
    make(&f, &plan->problem, a, &room);
    const dn_rnn_job *j = &f.j;
    bool train = j->p->dir == DN_DIR_TRAIN;
    for (f.layer = 0; f.layer < j->layers; f.layer++) {
        if (dn_ref_rnn_drops(j, f.layer))
            dn_ref_rnn_drop(j, f.layer);
        for (f.direction = 0; f.direction < j->directions; f.direction++) {
            f.pseudo = f.layer * j->directions + f.direction;
            run_pseudo_layer(&f);
        }
        if (train)
            dn_ref_rnn_clear_padding(j, dn_ref_rnn_out(j, f.layer), j->width);
    }
    store_output(&f);
    if (train)
        dn_ref_rnn_keep_head(j);
    return DN_SUCCESS;
}

static size_t workspace(const dn_problem *p)
{
    forward f;
    dn_rnn_room room = { 0 };
    make(&f, p, NULL, &room);
    return dn_ref_rnn_room_bytes(&room);
}

static const dn_solver rows[] = {
    { .name = "ref_rnn_infer", .op = DN_OP_RNN, .dir = DN_DIR_INFER, .algo = -1, .flags = DN_SOLVER_PLAIN, .workspace = workspace, .run = run },
    { .name = "ref_rnn_train", .op = DN_OP_RNN, .dir = DN_DIR_TRAIN, .algo = -1, .flags = DN_SOLVER_PLAIN, .workspace = workspace, .run = run },
};

const dn_rows dn_ref_rnn = { rows, sizeof rows / sizeof *rows };
