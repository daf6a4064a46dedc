/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Attention through a library's interface. Weights go in as ours lie. The reserve space is the library's own (chain.h). */
#include "lib.h"

#include "ops/attn.h"

#include <stdlib.h>
#include <string.h>

#define AUX(m, name) ((m)->b[BENCH_AUX(DN_AUX_##name)].pointer)

struct bench_attn {
    cudnnAttnDescriptor_t attn;
    cudnnSeqDataDescriptor_t q, k, v, o;
    cudnnDropoutDescriptor_t dropout, post;
    size_t weights;
};

void bench_attn_free(bench_call *c)
{
    struct bench_attn *r = c->attn;
    struct bench_functions *f = &c->lib->f;
    if (!r)
        return;
    cudnnSeqDataDescriptor_t const sequences[] = { r->q, r->k, r->v, r->o };
    for (int i = 0; i < 4; i++)
        if (sequences[i])
            f->cudnnDestroySeqDataDescriptor(sequences[i]);
    if (r->attn)
        f->cudnnDestroyAttnDescriptor(r->attn);
    if (r->dropout)
        f->cudnnDestroyDropoutDescriptor(r->dropout);
    if (r->post)
        f->cudnnDestroyDropoutDescriptor(r->post);
    free(r);
    c->attn = NULL;
}

/* Lengths as in the data, but 1 where they are 0, which the interface takes on the device alone. */
static dn_status make_sequence(const bench_call *c, cudnnSeqDataDescriptor_t *desc, const dn_tensor *t, const bench_lengths *len)
{
    cudnnSeqDataAxis_t axes[4] = { CUDNN_SEQDATA_TIME_DIM, CUDNN_SEQDATA_BATCH_DIM, CUDNN_SEQDATA_BEAM_DIM, CUDNN_SEQDATA_VECT_DIM };
    int dims[4];
    int64_t step = t->dims[3], n = t->dims[1] * t->dims[2];
    for (int i = 0; i < 4; i++)
        dims[i] = (int)t->dims[i];
    for (int i = 1; i < 3; i++)  /* by falling stride; of equal ones the larger dimension first */
        for (int k = i; k > 0; k--) {
            cudnnSeqDataAxis_t a = axes[k - 1], b = axes[k];
            if (t->strides[a] > t->strides[b] || (t->strides[a] == t->strides[b] && t->dims[a] >= t->dims[b]))
                break;
            axes[k - 1] = b;
            axes[k] = a;
        }
    for (int i = 2; i >= 0; i--) {
        if (t->dims[axes[i]] > 1 && t->strides[axes[i]] != step)
            return dn_fail(DN_NOT_SUPPORTED, "the interface has packed sequences");
        step *= t->dims[axes[i]];
    }
    int *lengths = t->strides[3] == 1 ? malloc((size_t)n * sizeof *lengths) : NULL;
    if (!lengths)
        return dn_fail(DN_NOT_SUPPORTED, "the interface has packed sequences");
    for (int64_t i = 0; i < n; i++) {
        int32_t l = bench_length_of(len, i, n, t->dims[0]);
        lengths[i] = l < 1 ? 1 : l;
    }
    dn_status st = BENCH_CALL(c, cudnnCreateSeqDataDescriptor, desc);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnSetSeqDataDescriptor, *desc, (cudnnDataType_t)t->type, 4, dims, axes, (size_t)n, lengths, NULL);
    free(lengths);
    return st;
}

static dn_status make_dropout(const bench_call *c, cudnnDropoutDescriptor_t *desc, bool wanted)
{
    if (!wanted)
        return DN_SUCCESS;
    dn_status st = BENCH_CALL(c, cudnnCreateDropoutDescriptor, desc);
    return st == DN_SUCCESS ? BENCH_CALL(c, cudnnSetDropoutDescriptor, *desc, c->lib->h, (float)c->c->dropout, NULL, 0, c->c->seed) : st;
}

static dn_status make_attn(bench_call *c)
{
    const dn_problem *p = &c->c->p;
    const dn_attn_param *u = &p->u.attn;
    const dn_tensor *x = &p->t[DN_X], *k = &p->t[DN_B], *v = &p->t[DN_Z];
    struct bench_attn *r = c->attn;
    unsigned mode = (u->bias ? CUDNN_ATTN_ENABLE_PROJ_BIASES : 0) | (k->dims[2] > 1 ? CUDNN_ATTN_QUERYMAP_ONE_TO_ONE : 0);
    cudnnDataType_t type = (cudnnDataType_t)x->type;
    cudnnMathType_t math = p->math || (x->type != DN_F16 && x->type != DN_BF16) ? (cudnnMathType_t)p->math : CUDNN_TENSOR_OP_MATH;
    bool train = p->dir != DN_DIR_INFER;
    size_t want = p->t[DN_W].rank ? (size_t)p->t[DN_W].dims[0] * dn_dtype_size((dn_dtype)x->type) : 0;
    dn_status st = BENCH_CALL(c, cudnnCreateAttnDescriptor, &r->attn);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnSetAttnDescriptor, r->attn, mode, u->heads, u->scale, type,
                        type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, math, r->dropout, r->post, (int)x->dims[3],
                        (int)k->dims[3], (int)v->dims[3], u->q_proj, u->k_proj, u->v_proj, u->o_proj, (int)x->dims[0], (int)k->dims[0],
                        (int)x->dims[1], (int)x->dims[2]);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnGetMultiHeadAttnBuffers, c->lib->h, r->attn, &r->weights, &c->workspace, train ? &c->reserve_size : NULL);
    if (st == DN_SUCCESS && r->weights != want)
        st = dn_fail(DN_INTERNAL_ERROR, "the weights have %zu bytes, ours %zu", r->weights, want);
    return st;
}

static dn_status prepare(bench_call *c)
{
    const dn_problem *p = &c->c->p;
    const dn_attn_param *u = &p->u.attn;
    if (!c->lib->ours && p->dir != DN_DIR_INFER && (u->dropout || u->post) && !c->c->coarse)
        return dn_fail(DN_NOT_SUPPORTED, "another library's dropout has masks of its own");
    if (p->dir == DN_DIR_BWD_FILTER && (c->c->alpha != 1 || (c->c->beta != 0 && c->c->beta != 1)))
        return dn_fail(DN_NOT_SUPPORTED, "the interface sets or adds");
    c->attn = calloc(1, sizeof *c->attn);
    if (!c->attn)
        return dn_fail(DN_ALLOC_FAILED, "no memory for descriptors");
    bool forward = p->dir == DN_DIR_INFER || p->dir == DN_DIR_TRAIN, drops = p->dir != DN_DIR_INFER;
    dn_status st = make_sequence(c, &c->attn->q, &p->t[DN_X], &c->c->len);
    if (st == DN_SUCCESS)
        st = make_sequence(c, &c->attn->k, &p->t[DN_B], &c->c->key_len);
    if (st == DN_SUCCESS)
        st = make_sequence(c, &c->attn->v, &p->t[DN_Z], &c->c->key_len);
    if (st == DN_SUCCESS)
        st = make_sequence(c, &c->attn->o, &p->t[forward ? DN_Y : DN_DY], &c->c->len);
    if (st == DN_SUCCESS)
        st = make_dropout(c, &c->attn->dropout, drops && u->dropout);
    if (st == DN_SUCCESS)
        st = make_dropout(c, &c->attn->post, drops && u->post);
    return st == DN_SUCCESS ? make_attn(c) : st;
}

static dn_status give_states(const bench_call *c, cudnnDropoutDescriptor_t desc, const bench_block *states)
{
    if (!desc || !states->pointer)
        return DN_SUCCESS;
    return BENCH_CALL(c, cudnnSetDropoutDescriptor, desc, c->lib->h, (float)c->c->dropout, states->pointer, states->bytes, c->c->seed);
}

static dn_status forward(bench_call *c, const bench_memory *m)
{
    const struct bench_attn *r = c->attn;
    const bench_block *b = m->b;
    bool train = c->c->p.dir == DN_DIR_TRAIN;
    dn_status st = give_states(c, r->dropout, &m->states);
    if (st == DN_SUCCESS)
        st = give_states(c, r->post, &m->states);
    if (st != DN_SUCCESS)
        return st;
    return BENCH_CALL(c, cudnnMultiHeadAttnForward, c->lib->h, r->attn, (int)c->c->step, c->d->lo, c->d->hi, AUX(m, LENGTHS_QO),
                      AUX(m, LENGTHS_KV), r->q, b[DN_X].pointer, AUX(m, RESIDUAL), r->k, b[DN_B].pointer, r->v, b[DN_Z].pointer, r->o,
                      b[DN_Y].pointer, r->weights, b[DN_W].pointer, m->workspace.bytes, m->workspace.pointer, train ? m->reserve.bytes : 0,
                      train ? m->reserve.pointer : NULL);
}

static dn_status run(bench_call *c, const bench_memory *m)
{
    const struct bench_attn *r = c->attn;
    const bench_block *b = m->b;
    switch (c->c->p.dir) {
    case DN_DIR_BWD_DATA:
        return BENCH_CALL(c, cudnnMultiHeadAttnBackwardData, c->lib->h, r->attn, c->d->lo, c->d->hi, AUX(m, LENGTHS_QO), AUX(m, LENGTHS_KV),
                          r->o, b[DN_DY].pointer, r->q, b[DN_DX].pointer, b[DN_X].pointer, r->k, AUX(m, DKEYS), b[DN_B].pointer, r->v,
                          AUX(m, DVALUES), b[DN_Z].pointer, r->weights, b[DN_W].pointer, m->workspace.bytes, m->workspace.pointer,
                          m->reserve.bytes, m->reserve.pointer);
    case DN_DIR_BWD_FILTER:  /* the weights themselves are wanted but not read */
        return BENCH_CALL(c, cudnnMultiHeadAttnBackwardWeights, c->lib->h, r->attn,
                          c->c->beta != 0 ? CUDNN_WGRAD_MODE_ADD : CUDNN_WGRAD_MODE_SET, r->q, b[DN_X].pointer, r->k, b[DN_B].pointer, r->v,
                          b[DN_Z].pointer, r->o, b[DN_DY].pointer, r->weights, b[DN_W].pointer, b[DN_W].pointer, m->workspace.bytes,
                          m->workspace.pointer, m->reserve.bytes, m->reserve.pointer);
    default:
        return forward(c, m);
    }
}

const bench_via bench_via_attn[] = {
    { DN_OP_ATTN, { "cudnnMultiHeadAttnForward", "cudnnMultiHeadAttnBackwardData", "cudnnMultiHeadAttnBackwardWeights" }, prepare, run },
    { 0 },
};
