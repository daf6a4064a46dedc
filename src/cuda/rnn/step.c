/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The recurrence step by step: a product with R for all batch elements and both directions, then a kernel for the cells. */
#include "cuda/rnn/call.h"

#include "ref/conv.h"

#include <stdlib.h>
#include <string.h>

/* What prepare makes. */
typedef struct step_state {
    dn_rnn_sizes s;
    dn_gemm_functions gemm;
    dn_cu_fn cells[DN_RNN_C_COUNT];
    dn_cu_fn fused, copy;            /* a step forward in one launch; NULL where a product of its own is better or must be */
} step_state;

enum { FUSED_BATCH_MOST = 64, FUSED_HIDDEN_MOST = 1536, FUSED_SHARED = DN_RNN_FUSED_STAGES * 2 * DN_RNN_FUSED_BATCH * DN_GEMM_STEP * 2 };

/* Scratch: products [D][B][G H or P] compute, and with a projection m [D][B][H] data, or its gradient, compute. */
static size_t products_size(const dn_rnn_sizes *s)
{
    return ((size_t)(s->directions * s->batch * s->units) * s->sum + 255) / 256 * 256;
}

static size_t scratch(const dn_problem *p)
{
    dn_rnn_sizes s;
    dn_rnn_sizes_of(&s, p);
    return products_size(&s) + (s.projects ? (size_t)(s.directions * s.batch * s.hidden) * s.sum : 0);
}

/* Blocks hold 64 batch elements, so more of them read R more than once. From 9.0 on the product alone is the faster way to read a large R:
 * GRU H2816 B32 took 60 us a step fused, 26 in backward with two products. */
static dn_status prepare_fused(dn_handle *h, step_state *s)
{
    if (dn_cuda_device_of(h)->sm >= 90 && s->s.hidden > FUSED_HIDDEN_MOST)
        return DN_SUCCESS;
    if ((s->s.type != DN_F16 && s->s.type != DN_BF16) || s->s.projects || s->s.batch > FUSED_BATCH_MOST)
        return DN_SUCCESS;
    const char *module = s->s.type == DN_F16 ? "cuda_rnn_fused_f16_sm80" : "cuda_rnn_fused_bf16_sm80";
    dn_status st = dn_cuda_function(h, module, s->s.type == DN_F16 ? "cuda_rnn_fused_f16" : "cuda_rnn_fused_bf16", FUSED_SHARED, &s->fused);
    if (st != DN_SUCCESS)
        s->fused = NULL;
    if (st == DN_NOT_SUPPORTED)
        return DN_SUCCESS;
    return st == DN_SUCCESS ? dn_cuda_function(h, "cuda_rnn_naive", "cuda_rnn_copy", 0, &s->copy) : st;
}

static dn_status prepare(dn_handle *h, const dn_problem *p, void **state, bool exact)
{
    step_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for the steps of a recurrent network");
    *state = s;
    dn_rnn_sizes_of(&s->s, p);
    dn_status st = dn_cuda_gemm_prepare(h, s->s.type, exact, &s->gemm);
    if (st == DN_SUCCESS)
        st = dn_rnn_cell_functions(h, p, exact, s->cells);
    return st == DN_SUCCESS && !exact ? prepare_fused(h, s) : st;
}

static dn_status prepare_exact(dn_handle *h, const dn_problem *p, void **state)
{
    return prepare(h, p, state, true);
}

static dn_status prepare_steps(dn_handle *h, const dn_problem *p, void **state)
{
    return prepare(h, p, state, false);
}

/* Elements from the matrix of direction 0 to that of direction 1. */
static int64_t between(const void *const of[2], size_t size)
{
    return of[1] ? (int64_t)((intptr_t)of[1] - (intptr_t)of[0]) / (int64_t)size : 0;
}

/* The place of direction 0's batch at a step in dense rows of `columns` elements, and how far direction 1's is from there. */
static const void *at_step(const dn_rnn_sizes *s, const void *base, int64_t columns, int64_t step, int64_t *pitch)
{
    *pitch += (s->steps - 1 - 2 * step) * s->batch * columns;
    return (const char *)base + (size_t)(step * s->batch * columns) * s->data;
}

/* --- forward --- */

static void fill_forward(const step_state *s, const dn_problem *p, const dn_rnn_layer_fwd *l, char *room, dn_rnn_step *k)
{
    *k = (dn_rnn_step){ .gates = l->gates, .cell = l->cell, .out = l->out, .h = l->h, .c = l->c,
                        .m = s->s.projects ? room + products_size(&s->s) : NULL, .recurrent = room, .bias_n = l->bias_n[0], .bias_pitch = between(l->bias_n, s->s.sum), .lengths = l->lengths,
                        .gates_ld = l->gates_ld, .gates_pitch = l->gates_pitch, .cell_pitch = l->cell_pitch, .steps = s->s.steps,
                        .batch = s->s.batch, .hidden = s->s.hidden, .proj = s->s.proj, .directions = s->s.directions, .cell_kind = s->s.cell,
                        .train = s->s.train, .full = l->full, .data = (int)s->s.type, .compute = (int)s->s.compute,
                        .clip = dn_rnn_clip_of(p) };
}

/* States go to and fro between the layer's buffer and `room`. */
static dn_status forward_fused(dn_handle *h, const step_state *s, const dn_rnn_layer_fwd *l, const dn_rnn_step *step, void *room)
{
    const dn_rnn_sizes *z = &s->s;
    int64_t units = z->gates == 1 ? DN_RNN_FUSED_UNITS * DN_RNN_FUSED_GROUPS : DN_RNN_FUSED_UNITS, count = z->directions * z->batch * z->hidden;
    dn_rnn_fused k = { .s = *step, .r = l->r[0], .r_pitch = between(l->r, z->data) };
    k.wide_h = z->hidden % 8 == 0 && (uintptr_t)l->h % 16 == 0;
    k.wide_r = z->hidden % 8 == 0 && (uintptr_t)l->r[0] % 16 == 0 && k.r_pitch % 8 == 0;
    dn_cuda_grid g = { .f = s->fused, .block = { DN_RNN_FUSED_THREADS, 1, 1 }, .shared = FUSED_SHARED,
                       .grid = { (unsigned)dn_ceil_div(z->hidden, units), (unsigned)dn_ceil_div(z->batch, DN_RNN_FUSED_BATCH), (unsigned)z->directions } };
    dn_status st = DN_SUCCESS;
    for (k.s.step = 0; st == DN_SUCCESS && k.s.step < z->steps; k.s.step++) {
        bool odd = k.s.step % 2 != 0;
        k.s.h = odd ? room : l->h;
        k.next = odd ? l->h : room;
        st = dn_cuda_launch(h, &g, &k);
    }
    if (st != DN_SUCCESS || z->steps % 2 == 0)
        return st;
    dn_rnn_copy c = { .from = dn_rnn_elements(z->type, room), .to = dn_rnn_elements(z->type, l->h), .runs = 1, .run = count };
    return dn_rnn_launch(h, s->copy, count, &c);
}

static dn_status forward(dn_handle *h, const dn_problem *p, const void *state, const dn_rnn_layer_fwd *l, void *room)
{
    const step_state *s = state;
    const dn_rnn_sizes *z = &s->s;
    dn_rnn_step k;
    fill_forward(s, p, l, room, &k);
    if (s->fused && (uintptr_t)l->r[0] % z->data == 0)
        return forward_fused(h, s, l, &k, room);
    dn_gemm g = { .a = dn_rnn_elements(z->type, l->h), .b = dn_rnn_elements(z->type, l->r[0]), .c = dn_rnn_elements(z->compute, room),
                  .m = z->batch, .n = z->units, .k = z->proj, .batch = z->directions, .lda = z->proj, .ldb = z->proj, .ldc = z->units,
                  .pitch_a = z->batch * z->proj, .pitch_b = between(l->r, z->data), .pitch_c = z->batch * z->units, .trans_b = 1, .alpha = 1 };
    dn_gemm project = { .a = dn_rnn_elements(z->type, k.m), .b = dn_rnn_elements(z->type, l->proj[0]), .c = g.c, .m = z->batch, .n = z->proj,
                        .k = z->hidden, .batch = z->directions, .lda = z->hidden, .ldb = z->hidden, .ldc = z->proj,
                        .pitch_a = z->batch * z->hidden, .pitch_b = between(l->proj, z->data), .pitch_c = z->batch * z->proj, .trans_b = 1,
                        .alpha = 1 };
    dn_status st = DN_SUCCESS;
    for (k.step = 0; st == DN_SUCCESS && k.step < z->steps; k.step++) {
        st = dn_cuda_gemm(h, &s->gemm, &g, NULL);
        if (st == DN_SUCCESS)
            st = dn_rnn_launch(h, s->cells[DN_RNN_C_STEP], z->directions * z->batch * z->hidden, &k);
        if (st == DN_SUCCESS && z->projects)
            st = dn_cuda_gemm(h, &s->gemm, &project, NULL);
        if (st == DN_SUCCESS && z->projects)
            st = dn_rnn_launch(h, s->cells[DN_RNN_C_PROJECT], z->directions * z->batch * z->proj, &k);
    }
    return st;
}

/* --- backward --- */

static void fill_backward(const step_state *s, const dn_problem *p, const dn_rnn_layer_bwd *l, char *room, dn_rnn_back *k)
{
    *k = (dn_rnn_back){ .gates = l->gates, .cell = l->cell, .out = l->out, .h = l->h, .c = l->c, .dout = l->dout,
                        .dm = s->s.projects ? room : NULL, .dgates = l->dgates, .dproj = l->dproj, .dh = l->dh, .dc = l->dc,
                        .lengths = l->lengths, .gates_pitch = l->gates_pitch, .cell_pitch = l->cell_pitch, .dgates_pitch = l->dgates_pitch,
                        .dproj_pitch = l->dproj_pitch, .steps = s->s.steps, .batch = s->s.batch, .hidden = s->s.hidden, .proj = s->s.proj,
                        .directions = s->s.directions, .cell_kind = s->s.cell, .full = l->full, .data = (int)s->s.type,
                        .compute = (int)s->s.compute, .clip = dn_rnn_clip_of(p) };
}

/* dh += dgates R of a step, for `units` of the slots from `slot` on, which see the rows of R from `row` on. */
static dn_status add_recurrent(dn_handle *h, const step_state *s, const dn_rnn_layer_bwd *l, int64_t step, int64_t slot, int64_t row, int64_t units)
{
    const dn_rnn_sizes *z = &s->s;
    int64_t pitch = l->dgates_pitch;
    const char *dgates = at_step(z, l->dgates, z->slots, step, &pitch), *r = l->r[0];
    dn_gemm g = { .a = dn_rnn_elements(z->type, dgates + (size_t)slot * z->data), .b = dn_rnn_elements(z->type, r + (size_t)(row * z->proj) * z->data),
                  .c = dn_rnn_elements(z->compute, l->dh), .m = z->batch, .n = z->proj, .k = units, .batch = z->directions, .lda = z->slots,
                  .ldb = z->proj, .ldc = z->proj, .pitch_a = pitch, .pitch_b = between(l->r, z->data), .pitch_c = z->batch * z->proj, .alpha = 1,
                  .beta = 1 };
    return dn_cuda_gemm(h, &s->gemm, &g, NULL);
}

/* The gradient by h' before the projection: dm = dproj P. */
static dn_status back_project(dn_handle *h, const step_state *s, const dn_rnn_layer_bwd *l, const dn_rnn_back *k)
{
    const dn_rnn_sizes *z = &s->s;
    int64_t pitch = l->dproj_pitch;
    dn_status st = dn_rnn_launch(h, s->cells[DN_RNN_C_BACK_PROJECT], z->directions * z->batch * z->proj, k);
    const void *dproj = at_step(z, l->dproj, z->proj, k->step, &pitch);
    dn_gemm g = { .a = dn_rnn_elements(z->type, dproj), .b = dn_rnn_elements(z->type, l->proj[0]), .c = dn_rnn_elements(z->compute, k->dm),
                  .m = z->batch, .n = z->hidden, .k = z->proj, .batch = z->directions, .lda = z->proj, .ldb = z->hidden, .ldc = z->hidden,
                  .pitch_a = pitch, .pitch_b = between(l->proj, z->data), .pitch_c = z->batch * z->hidden, .alpha = 1 };
    return st == DN_SUCCESS ? dn_cuda_gemm(h, &s->gemm, &g, NULL) : st;
}

static dn_status backward(dn_handle *h, const dn_problem *p, const void *state, const dn_rnn_layer_bwd *l, void *room)
{
    const step_state *s = state;
    const dn_rnn_sizes *z = &s->s;
    dn_rnn_back k;
    dn_status st = DN_SUCCESS;
    fill_backward(s, p, l, room, &k);
    for (k.step = z->steps - 1; st == DN_SUCCESS && k.step >= 0; k.step--) {
        if (z->projects)
            st = back_project(h, s, l, &k);
        if (st == DN_SUCCESS)
            st = dn_rnn_launch(h, s->cells[DN_RNN_C_BACK], z->directions * z->batch * z->hidden, &k);
        if (st == DN_SUCCESS)
            st = add_recurrent(h, s, l, k.step, 0, 0, z->gru ? 2 * z->hidden : z->units);
        if (st == DN_SUCCESS && z->gru)
            st = add_recurrent(h, s, l, k.step, 3 * z->hidden, 2 * z->hidden, z->hidden);
    }
    return st;
}

const dn_rnn_recurrence dn_rnn_steps_exact = { .exact = true, .scratch = scratch, .prepare = prepare_exact, .forward = forward, .backward = backward };
const dn_rnn_recurrence dn_rnn_steps = { .scratch = scratch, .prepare = prepare_steps, .forward = forward, .backward = backward };
