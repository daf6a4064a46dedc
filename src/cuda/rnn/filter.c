/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks: gradients by the weights, from what training and bwd_data left in the reserve space. All positions of a layer are one
 * product: dW = dgates^T x, dR = dgates^T h before, dP = (dh by the projection)^T m; biases are sums of dgates. Rows that do not exist are
 * zeros on both sides. */
#include "cuda/rnn/call.h"

#include "ref/conv.h"

/* dw = alpha left^T right + beta dw: rows x columns at element `matrix` of the weight space. */
static dn_status product(const dn_rnn_call *j, const dn_rnn_weight *w, int64_t rows, const void *left, int64_t lda, const void *right)
{
    const dn_rnn_sizes *s = &j->plan->s;
    dn_gemm g = { .a = dn_rnn_elements(s->type, left), .b = dn_rnn_elements(s->type, right),
                  .c = dn_rnn_elements(s->type, (char *)j->a->ptr[DN_W] + (size_t)w->matrix * s->data), .m = rows, .n = w->columns, .k = s->rows,
                  .batch = 1, .lda = lda, .ldb = w->columns, .ldc = w->columns, .trans_a = 1, .alpha = j->a->alpha, .beta = j->a->beta };
    return dn_cuda_gemm(j->h, &j->plan->gemm, &g, j->space + j->plan->space.partial);
}

/* The states that the positions of a pseudo layer saw. */
static dn_status states_before(const dn_rnn_call *j, int layer, int d)
{
    const dn_rnn_plan *plan = j->plan;
    const dn_rnn_sizes *s = &plan->s;
    const char *out = dn_rnn_reserved(j, plan->reserve.out, plan->reserve.out_pitch, layer) + (size_t)(d * s->proj) * s->data;
    const char *h = dn_rnn_state(j, plan->space.h, s->type, layer, s->proj);
    dn_rnn_previous p = { .out = out, .h = h + (size_t)(d * s->batch * s->proj) * s->data, .to = j->space + plan->space.previous,
                          .lengths = dn_rnn_lengths_at(j), .steps = s->steps, .batch = s->batch, .proj = s->proj, .out_ld = s->width,
                          .backward = d, .full = j->full, .data = (int)s->type };
    if (plan->wide[0] && s->proj % 4 == 0)
        return dn_rnn_launch(j->h, plan->wide[DN_RNN_W_PREVIOUS], s->rows * s->proj / 4, &p);
    return dn_rnn_launch(j->h, plan->cells[DN_RNN_C_PREVIOUS], s->rows * s->proj, &p);
}

static dn_status recurrent(const dn_rnn_call *j, int layer, int d, const char *dgates)
{
    const dn_rnn_sizes *s = &j->plan->s;
    const void *before = j->space + j->plan->space.previous;
    dn_rnn_weight w;
    dn_status st = states_before(j, layer, d);
    dn_rnn_matrix(j, layer * s->directions + d, s->gates, &w);
    if (st == DN_SUCCESS)
        st = product(j, &w, s->gru ? 2 * s->hidden : s->units, dgates, s->slots, before);
    if (st != DN_SUCCESS || !s->gru)
        return st;
    dn_rnn_matrix(j, layer * s->directions + d, s->gates + 2, &w);
    return product(j, &w, s->hidden, dgates + (size_t)(3 * s->hidden) * s->data, s->slots, before);
}

static dn_status projection(const dn_rnn_call *j, int pseudo)
{
    const dn_rnn_plan *plan = j->plan;
    const dn_rnn_sizes *s = &plan->s;
    dn_rnn_weight w;
    dn_rnn_cells p = { .gates = dn_rnn_reserved(j, plan->reserve.gates, plan->reserve.gates_pitch, pseudo),
                       .cell = dn_rnn_reserved(j, plan->reserve.cell, plan->reserve.cell_pitch, pseudo), .to = j->space + plan->space.cells,
                       .lengths = dn_rnn_lengths_at(j), .steps = s->steps, .batch = s->batch, .hidden = s->hidden, .full = j->full,
                       .data = (int)s->type, .compute = (int)s->compute, .clip = dn_rnn_clip_of(j->p) };
    dn_status st = dn_rnn_launch(j->h, plan->cells[DN_RNN_C_CELLS], s->rows * s->hidden, &p);
    if (st != DN_SUCCESS)
        return st;
    dn_rnn_matrix(j, pseudo, 2 * s->gates, &w);
    return product(j, &w, s->proj, dn_rnn_reserved(j, plan->reserve.dproj, plan->reserve.dproj_pitch, pseudo), s->proj, p.to);
}

static dn_status run_layer(const dn_rnn_call *j, int layer)
{
    const dn_rnn_plan *plan = j->plan;
    const dn_rnn_sizes *s = &plan->s;
    const void *x = NULL;
    bool skip = layer == 0 && j->p->u.rnn.skip;
    dn_status st = skip ? DN_SUCCESS : dn_rnn_layer_input(j, layer, &x);
    for (int d = 0; st == DN_SUCCESS && d < s->directions; d++) {
        int pseudo = layer * s->directions + d;
        const char *dgates = dn_rnn_reserved(j, plan->reserve.dgates, plan->reserve.dgates_pitch, pseudo);
        dn_rnn_weight w;
        dn_rnn_matrix(j, pseudo, 0, &w);
        if (!skip)
            st = product(j, &w, s->units, dgates, s->slots, x);
        if (st == DN_SUCCESS)
            st = recurrent(j, layer, d, dgates);
        if (st == DN_SUCCESS && s->projects)
            st = projection(j, pseudo);
    }
    return st;
}

static dn_status biases(const dn_rnn_call *j)
{
    const dn_rnn_plan *plan = j->plan;
    const dn_rnn_sizes *s = &plan->s;
    dn_rnn_sums p = { .dgates = dn_rnn_elements(s->type, dn_rnn_reserved(j, plan->reserve.dgates, 0, 0)),
                      .w = dn_rnn_elements(s->type, j->a->ptr[DN_W]), .partial = (void *)(j->space + plan->space.partial),
                      .dgates_pitch = (int64_t)(plan->reserve.dgates_pitch / s->data), .rows = s->rows, .columns = s->slots,
                      .pseudos = s->pseudos, .hidden = s->hidden, .gates = s->gates, .gru = s->gru, .alpha = j->a->alpha, .beta = j->a->beta };
    p.part = dn_rnn_sum_part(s->rows);
    p.parts = (int)dn_ceil_div(s->rows, p.part);
    dn_rnn_bias_places(&j->p->u.rnn, &p.input, &p.recurrent, &p.pitch);
    bool wide = plan->wide[0] && s->slots % 4 == 0;
    dn_cuda_grid g = { .f = wide ? plan->wide[DN_RNN_W_SUMS] : plan->kernels[DN_RNN_K_SUMS],
                       .grid = { (unsigned)dn_ceil_div(s->slots * p.pseudos, 256), (unsigned)p.parts, 1 }, .block = { 256, 1, 1 } };
    dn_status st = dn_cuda_launch(j->h, &g, &p);
    return st == DN_SUCCESS ? dn_rnn_launch(j->h, plan->kernels[DN_RNN_K_SUMS_END], 2 * p.pseudos * s->units, &p) : st;
}

dn_status dn_rnn_run_filter(const dn_rnn_call *j)
{
    const dn_rnn_sizes *s = &j->plan->s;
    dn_status st = dn_rnn_load_state(j, j->a->aux[DN_AUX_HX], j->plan->space.h, s->type, s->proj);
    for (int layer = 0; st == DN_SUCCESS && layer < s->layers; layer++)
        st = run_layer(j, layer);
    return st == DN_SUCCESS && j->p->u.rnn.bias != DN_RNN_BIAS_NONE ? biases(j) : st;
}
