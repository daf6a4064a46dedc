/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks forward: for each layer the input products of all positions, then the steps. */
#include "cuda/rnn/call.h"

#include <string.h>

/* The buffers of one layer. */
static void layer_of(const dn_rnn_call *j, int layer, dn_rnn_layer_fwd *l)
{
    const dn_rnn_plan *plan = j->plan;
    const dn_rnn_sizes *s = &plan->s;
    int pseudo = layer * s->directions;
    memset(l, 0, sizeof *l);
    for (int d = 0; d < s->directions; d++) {
        dn_rnn_weight w;
        l->r[d] = dn_rnn_matrix(j, pseudo + d, s->gates, &w);
        if (s->projects)
            l->proj[d] = dn_rnn_matrix(j, pseudo + d, 2 * s->gates, &w);
        if (s->gru)
            l->bias_n[d] = j->space + plan->space.bias + (size_t)((pseudo + d) * s->bias_width + s->units) * s->sum;
    }
    l->lengths = dn_rnn_lengths_at(j);
    l->full = j->full;
    l->h = dn_rnn_state(j, plan->space.h, s->type, layer, s->proj);
    l->c = dn_rnn_state(j, plan->space.c, s->compute, layer, s->hidden);
    if (s->train) {
        l->gates = dn_rnn_reserved(j, plan->reserve.gates, plan->reserve.gates_pitch, pseudo);
        l->gates_ld = s->slots;
        l->gates_pitch = (int64_t)(plan->reserve.gates_pitch / s->sum);
        l->cell = s->lstm ? dn_rnn_reserved(j, plan->reserve.cell, plan->reserve.cell_pitch, pseudo) : NULL;
        l->cell_pitch = (int64_t)(plan->reserve.cell_pitch / s->sum);
        l->out = dn_rnn_reserved(j, plan->reserve.out, plan->reserve.out_pitch, layer);
        return;
    }
    l->gates = j->space + plan->space.gates;
    l->gates_ld = s->units;
    l->gates_pitch = s->rows * s->units;
    bool last = layer == s->layers - 1;
    l->out = last && dn_rnn_is_dense(j) && j->p->align[DN_Y] >= 16 ? j->a->ptr[DN_Y] : j->space + plan->space.out[layer % 2];
}

/* gates = W x + biases of every row. */
static dn_status input_products(const dn_rnn_call *j, int layer, const dn_rnn_layer_fwd *l)
{
    const dn_rnn_plan *plan = j->plan;
    const dn_rnn_sizes *s = &plan->s;
    const void *x;
    dn_status st = dn_rnn_layer_input(j, layer, &x);
    const char *bias = j->space + plan->space.bias + (size_t)(layer * s->directions * s->bias_width) * s->sum;
    if (st == DN_SUCCESS && layer == 0 && j->p->u.rnn.skip) {
        dn_rnn_skip k = { .x = dn_rnn_elements(s->type, x), .gates = dn_rnn_elements(s->compute, l->gates),
                          .bias = dn_rnn_elements(s->compute, bias), .rows = s->rows, .hidden = s->hidden, .gates_ld = l->gates_ld,
                          .gates_pitch = l->gates_pitch, .bias_pitch = s->bias_width, .gates_count = s->gates, .directions = s->directions };
        if (dn_rnn_is_wide(j, &k.x, s->hidden) && dn_rnn_is_wide(j, &k.bias, s->hidden))
            return dn_rnn_launch(j->h, plan->wide[DN_RNN_W_SKIP_FORWARD], s->rows * s->hidden / 4, &k);
        return dn_rnn_launch(j->h, plan->kernels[DN_RNN_K_SKIP_FORWARD], s->directions * s->rows * s->units, &k);
    }
    for (int d = 0; st == DN_SUCCESS && d < s->directions; d++) {
        dn_rnn_weight w;
        const void *matrix = dn_rnn_matrix(j, layer * s->directions + d, 0, &w);
        dn_gemm g = { .a = dn_rnn_elements(s->type, x), .b = dn_rnn_elements(s->type, matrix), .m = s->rows, .n = s->units, .k = w.columns,
                      .c = dn_rnn_elements(s->compute, (char *)l->gates + (size_t)(d * l->gates_pitch) * s->sum),
                      .bias = dn_rnn_elements(s->compute, bias + (size_t)(d * s->bias_width) * s->sum), .batch = 1, .lda = w.columns,
                      .ldb = w.columns, .ldc = l->gates_ld, .trans_b = 1, .alpha = 1 };
        st = dn_cuda_gemm(j->h, &plan->gemm, &g, NULL);
    }
    return st;
}

static dn_status run_layer(const dn_rnn_call *j, int layer)
{
    const dn_rnn_plan *plan = j->plan;
    dn_rnn_layer_fwd l;
    layer_of(j, layer, &l);
    dn_status st = input_products(j, layer, &l);
    if (st == DN_SUCCESS)
        st = plan->recurrence->forward(j->h, j->p, plan->recurrence_state, &l, j->space + plan->space.scratch);
    if (st == DN_SUCCESS && layer == plan->s.layers - 1 && l.out != j->a->ptr[DN_Y])
        st = dn_rnn_scatter(j, &j->p->t[DN_Y], plan->s.type, l.out, j->a->ptr[DN_Y], j->a->fill);
    return st;
}

/* Before anything draws: the masks of this call are those of the number in the head. */
static dn_status keep_head(const dn_rnn_call *j)
{
    dn_rnn_head p = { j->p->u.rnn.dropout ? j->a->aux[DN_AUX_STATES] : NULL, dn_rnn_reserved(j, j->plan->reserve.head, 0, 0) };
    dn_cuda_grid g = { .f = j->plan->kernels[DN_RNN_K_HEAD], .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };
    return dn_cuda_launch(j->h, &g, &p);
}

dn_status dn_rnn_run_forward(const dn_rnn_call *j)
{
    const dn_rnn_plan *plan = j->plan;
    const dn_rnn_sizes *s = &plan->s;
    void *const *aux = j->a->aux;
    dn_status st = dn_rnn_put_biases(j);
    if (st == DN_SUCCESS && s->train)
        st = keep_head(j);
    if (st == DN_SUCCESS)
        st = dn_rnn_load_state(j, aux[DN_AUX_HX], plan->space.h, s->type, s->proj);
    if (st == DN_SUCCESS && s->lstm)
        st = dn_rnn_load_state(j, aux[DN_AUX_CX], plan->space.c, s->compute, s->hidden);
    for (int layer = 0; st == DN_SUCCESS && layer < s->layers; layer++)
        st = run_layer(j, layer);
    if (st == DN_SUCCESS)
        st = dn_rnn_store_state(j, plan->space.h, s->type, aux[DN_AUX_HY], s->proj);
    if (st == DN_SUCCESS && s->lstm)
        st = dn_rnn_store_state(j, plan->space.c, s->compute, aux[DN_AUX_CY], s->hidden);
    return st;
}
