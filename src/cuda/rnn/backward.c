/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks: gradients by the input and the initial states. Layers from the last to the first: the steps, then the gradient by the
 * layer's input, dgates W of both directions, for all positions at once. */
#include "cuda/rnn/call.h"

#include <string.h>

static void layer_of(const dn_rnn_call *j, int layer, dn_rnn_layer_bwd *l)
{
    const dn_rnn_plan *plan = j->plan;
    const dn_rnn_sizes *s = &plan->s;
    const dn_rnn_reserve *r = &plan->reserve;
    int pseudo = layer * s->directions;
    memset(l, 0, sizeof *l);
    for (int d = 0; d < s->directions; d++) {
        dn_rnn_weight w;
        l->r[d] = dn_rnn_matrix(j, pseudo + d, s->gates, &w);
        if (s->projects)
            l->proj[d] = dn_rnn_matrix(j, pseudo + d, 2 * s->gates, &w);
    }
    l->lengths = dn_rnn_lengths_at(j);
    l->full = j->full;
    l->gates = dn_rnn_reserved(j, r->gates, r->gates_pitch, pseudo);
    l->gates_pitch = (int64_t)(r->gates_pitch / s->sum);
    l->cell = s->lstm ? dn_rnn_reserved(j, r->cell, r->cell_pitch, pseudo) : NULL;
    l->cell_pitch = (int64_t)(r->cell_pitch / s->sum);
    l->out = dn_rnn_reserved(j, r->out, r->out_pitch, layer);
    l->h = dn_rnn_state(j, plan->space.h, s->type, layer, s->proj);
    l->c = dn_rnn_state(j, plan->space.c, s->compute, layer, s->hidden);
    l->dout = j->space + plan->space.dout[layer % 2];
    l->dgates = dn_rnn_reserved(j, r->dgates, r->dgates_pitch, pseudo);
    l->dgates_pitch = (int64_t)(r->dgates_pitch / s->data);
    l->dproj = s->projects ? dn_rnn_reserved(j, r->dproj, r->dproj_pitch, pseudo) : NULL;
    l->dproj_pitch = (int64_t)(r->dproj_pitch / s->data);
    l->dh = dn_rnn_state(j, plan->space.dh, s->compute, layer, s->proj);
    l->dc = dn_rnn_state(j, plan->space.dc, s->compute, layer, s->hidden);
}

/* to = dgates W, summed over both directions, of type `type`. */
static dn_status input_gradient(const dn_rnn_call *j, int layer, const dn_rnn_layer_bwd *l, dn_dtype type, void *to)
{
    const dn_rnn_plan *plan = j->plan;
    const dn_rnn_sizes *s = &plan->s;
    if (layer == 0 && j->p->u.rnn.skip) {
        dn_rnn_skip k = { .x = dn_rnn_elements(type, to), .gates = dn_rnn_elements(s->type, l->dgates), .rows = s->rows, .hidden = s->hidden,
                          .gates_ld = s->slots, .gates_pitch = l->dgates_pitch, .gates_count = s->gates, .directions = s->directions };
        bool wide = dn_rnn_is_wide(j, &k.x, s->hidden);
        return dn_rnn_launch(j->h, wide ? plan->wide[DN_RNN_W_SKIP_BACKWARD] : plan->kernels[DN_RNN_K_SKIP_BACKWARD],
                             s->rows * s->hidden / (wide ? 4 : 1), &k);
    }
    dn_status st = DN_SUCCESS;
    for (int d = 0; st == DN_SUCCESS && d < s->directions; d++) {
        dn_rnn_weight w;
        const void *matrix = dn_rnn_matrix(j, layer * s->directions + d, 0, &w);
        dn_gemm g = { .a = dn_rnn_elements(s->type, (const char *)l->dgates + (size_t)(d * l->dgates_pitch) * s->data),
                      .b = dn_rnn_elements(s->type, matrix), .c = dn_rnn_elements(type, to), .m = s->rows, .n = w.columns, .k = s->units,
                      .batch = 1, .lda = s->slots, .ldb = w.columns, .ldc = w.columns, .alpha = 1, .beta = d };
        st = dn_cuda_gemm(j->h, &plan->gemm, &g, NULL);
    }
    return st;
}

static dn_status run_layer(const dn_rnn_call *j, int layer)
{
    const dn_rnn_plan *plan = j->plan;
    const dn_rnn_sizes *s = &plan->s;
    dn_rnn_layer_bwd l;
    layer_of(j, layer, &l);
    dn_status st = plan->recurrence->backward(j->h, j->p, plan->recurrence_state, &l, j->space + plan->space.scratch);
    if (st != DN_SUCCESS)
        return st;
    void *below = j->space + plan->space.dout[(layer + 1) % 2];
    if (layer > 0) {
        st = input_gradient(j, layer, &l, s->compute, below);
        return st == DN_SUCCESS && dn_rnn_is_dropped(j, layer) ? dn_rnn_drop_rows(j, layer, s->compute, below, below) : st;
    }
    if (s->directions == 1 && dn_rnn_is_dense(j))
        return input_gradient(j, 0, &l, s->type, j->a->ptr[DN_DX]);
    st = input_gradient(j, 0, &l, s->compute, below);
    return st == DN_SUCCESS ? dn_rnn_scatter(j, &j->p->t[DN_DX], s->compute, below, j->a->ptr[DN_DX], j->a->fill) : st;
}

dn_status dn_rnn_run_backward(const dn_rnn_call *j)
{
    const dn_rnn_plan *plan = j->plan;
    const dn_rnn_sizes *s = &plan->s;
    const dn_rnn_space *at = &plan->space;
    void *const *aux = j->a->aux;
    dn_status st = dn_rnn_gather(j, &j->p->t[DN_DY], j->a->ptr[DN_DY], s->compute, j->space + at->dout[(s->layers - 1) % 2]);
    if (st == DN_SUCCESS)
        st = dn_rnn_load_state(j, aux[DN_AUX_HX], at->h, s->type, s->proj);
    if (st == DN_SUCCESS)
        st = dn_rnn_load_state(j, aux[DN_AUX_DHY], at->dh, s->compute, s->proj);
    if (st == DN_SUCCESS && s->lstm)
        st = dn_rnn_load_state(j, aux[DN_AUX_CX], at->c, s->compute, s->hidden);
    if (st == DN_SUCCESS && s->lstm)
        st = dn_rnn_load_state(j, aux[DN_AUX_DCY], at->dc, s->compute, s->hidden);
    for (int layer = s->layers - 1; st == DN_SUCCESS && layer >= 0; layer--)
        st = run_layer(j, layer);
    if (st == DN_SUCCESS)
        st = dn_rnn_store_state(j, at->dh, s->compute, aux[DN_AUX_DHX], s->proj);
    if (st == DN_SUCCESS && s->lstm)
        st = dn_rnn_store_state(j, at->dc, s->compute, aux[DN_AUX_DCX], s->hidden);
    return st;
}
