/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Labels and lengths of CTC loss, and its calls through a library's interface. Labels are classes from 1 on, drawn by place. Lengths:
 *     random   all steps; 1 to the longest label sequence that the line allows, but no more than half the steps
 *     edge     any up to the longest, 0 and too few steps for the labels among them
 *     coarse   the longest */
#include "ctc.h"

#include "lib.h"

#define AUX(m, name) ((m)->b[BENCH_AUX(DN_AUX_##name)].pointer)

bool bench_is_ctc_array(const dn_problem *p, int slot)
{
    return p->op == DN_OP_CTC && slot >= BENCH_AUX(DN_AUX_LABELS) && slot <= BENCH_AUX(DN_AUX_INPUT_LENGTHS);
}

dn_tensor bench_ctc_tensor(const dn_problem *p, int aux)
{
    int64_t batch = p->t[DN_X].dims[1], most = p->u.ctc.max_label > 0 ? p->u.ctc.max_label : 1;
    dn_tensor t = { .type = aux == DN_AUX_COSTS ? p->t[DN_X].type : DN_I32, .rank = 1, .vect = 1 };
    t.dims[0] = aux == DN_AUX_LABELS ? batch * most : batch;
    dn_tensor_pack(&t);
    return t;
}

static int64_t at_most(int64_t v, int64_t most)
{
    return v < most ? v : most;
}

double bench_ctc_value(const bench_case *c, int slot, int64_t i, uint64_t draw)
{
    const dn_tensor *x = &c->p.t[DN_X];
    int64_t most = c->p.u.ctc.max_label, steps = x->dims[0], n = (int64_t)(draw >> 33);
    if (slot == BENCH_AUX(DN_AUX_LABELS))
        return x->dims[2] > 1 ? (double)(1 + n % (x->dims[2] - 1)) : 0;
    bool edge = c->fill == BENCH_EDGE;
    if (slot == BENCH_AUX(DN_AUX_LABEL_LENGTHS)) {
        if (c->coarse || i == 0)
            return (double)(edge || c->coarse ? most : at_most(most, (steps + 1) / 2));
        most = edge ? most : at_most(most, steps / 2);
        return (double)(edge ? n % (most + 1) : most ? 1 + n % most : 0);
    }
    return (double)(edge && i % 3 ? n % (steps + 1) : steps);
}

static dn_status prepare(bench_call *c)
{
    const dn_problem *p = &c->c->p;
    dn_status st = p->u.ctc.host || (p->t[DN_X].type != DN_F32 && !c->lib->ours) ? dn_fail(DN_NOT_SUPPORTED, "not asked of a library") : DN_SUCCESS;
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnCreateCTCLossDescriptor, &c->ctc);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnSetCTCLossDescriptor_v8, c->ctc, p->compute == DN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
                        (cudnnLossNormalizationMode_t)p->u.ctc.norm, (cudnnNanPropagation_t)p->u.ctc.skip, p->u.ctc.max_label);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnGetCTCLossWorkspaceSize_v8, c->lib->h, CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, c->ctc, c->t[DN_X],
                        c->t[p->t[DN_DX].rank ? DN_DX : DN_X], &c->workspace);
    return st;
}

static dn_status run(bench_call *c, const bench_memory *m)
{
    int gradients = c->c->p.t[DN_DX].rank ? DN_DX : DN_X;
    return BENCH_CALL(c, cudnnCTCLoss_v8, c->lib->h, CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, c->ctc, c->t[DN_X], m->b[DN_X].pointer,
                      AUX(m, LABELS), AUX(m, LABEL_LENGTHS), AUX(m, INPUT_LENGTHS), AUX(m, COSTS), c->t[gradients],
                      gradients == DN_DX ? m->b[DN_DX].pointer : NULL, m->workspace.bytes, m->workspace.pointer);
}

const bench_via bench_via_ctc[] = {
    { DN_OP_CTC, { "cudnnCTCLoss_v8", "cudnnSetCTCLossDescriptor_v8" }, prepare, run },
    { 0 },
};
