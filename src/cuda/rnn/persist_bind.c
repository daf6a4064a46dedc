/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the rows of persistent recurrences take from a problem and a call. */
#include "cuda/rnn/persist_plan.h"

dn_rnn_persist_size dn_rnn_persist_size_of(const dn_problem *p)
{
    const dn_rnn_param *q = &p->u.rnn;
    const dn_tensor *x = dn_rnn_input(p);
    return (dn_rnn_persist_size){ .steps = (int)x->dims[0], .batches = (int)x->dims[1], .hidden = q->hidden,
                                  .directions = q->bidirectional ? 2 : 1, .cell = q->cell, .backward = p->dir == DN_DIR_BWD_DATA,
                                  .type = (dn_dtype)x->type };
}

const char *dn_rnn_persist_check(const dn_problem *p, dn_dtype type)
{
    const char *why = dn_rnn_cuda_check(p, type);
    const dn_rnn_param *q = &p->u.rnn;
    const dn_tensor *x = dn_rnn_input(p);
    if (why)
        return why;
    if (q->proj != q->hidden)
        return "knows no projection";
    if (q->hidden % 8)
        return "needs a hidden size that 8 divides";
    if (p->align[DN_W] < 16)
        return "needs weights aligned to 16 bytes";
    if (x->dims[0] * x->dims[1] >= INT32_MAX)
        return "takes fewer than 2^31 positions";
    return NULL;
}

static void bind_clip(dn_rnn_persist *q, const dn_problem *p)
{
    q->clip = p->u.rnn.clip;
    q->clip_nan = p->u.rnn.clip_nan;
    q->clip_lo = (float)p->u.rnn.lclip;
    q->clip_hi = (float)p->u.rnn.rclip;
}

void dn_rnn_persist_forward(dn_rnn_persist *q, const dn_problem *p, const dn_rnn_layer_fwd *l)
{
    for (int d = 0; d < 2; d++) {
        q->r[d] = l->r[d];
        q->bias_n[d] = l->bias_n[d];
    }
    bind_clip(q, p);
    q->train = p->dir == DN_DIR_TRAIN;
    q->lengths = l->lengths;
    q->full = l->full;
    q->gates = l->gates;
    q->gates_ld = (int)l->gates_ld;
    q->gates_pitch = l->gates_pitch;
    q->cell = l->cell;
    q->cell_pitch = l->cell_pitch;
    q->out = l->out;
    q->h = l->h;
    q->c = l->c;
}

/* Inputs are not written, though the kernels' struct, which serves both directions, says less. */
void dn_rnn_persist_backward(dn_rnn_persist *q, const dn_problem *p, const dn_rnn_layer_bwd *l)
{
    bind_clip(q, p);
    q->r[0] = l->r[0];
    q->r[1] = l->r[1];
    q->lengths = l->lengths;
    q->full = l->full;
    q->gates = (float *)(uintptr_t)l->gates;
    q->gates_ld = dn_rnn_slots(&p->u.rnn) * q->hidden;
    q->gates_pitch = l->gates_pitch;
    q->cell = (float *)(uintptr_t)l->cell;
    q->cell_pitch = l->cell_pitch;
    q->out = (void *)(uintptr_t)l->out;
    q->h = (void *)(uintptr_t)l->h;
    q->c = (float *)(uintptr_t)l->c;
    q->dout = l->dout;
    q->dgates = l->dgates;
    q->dgates_pitch = l->dgates_pitch;
    q->dh = l->dh;
    q->dc = l->dc;
}
