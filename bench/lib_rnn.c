/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks through a library's interface (the _v8 functions, which both ABIs have). Weights go in as ours lie. The reserve
 * space is the library's own (chain.h). */
#include "lib.h"

#include "ops/rnn.h"

#include <stdlib.h>
#include <string.h>

#define AUX(m, name) ((m)->b[BENCH_AUX(DN_AUX_##name)].pointer)

struct bench_rnn {
    cudnnRNNDescriptor_t rnn;
    cudnnRNNDataDescriptor_t x, y;
    cudnnTensorDescriptor_t h, c;
    void *lengths, *states;  /* in the library's memory */
    size_t states_size;
};

static void *take(const bench_call *c, const void *from, size_t size)
{
    const bench_space *space = c->lib->space;
    void *p = NULL;
    if (!space)
        p = malloc(size ? size : 1);
    else if (space->alloc(&p, size ? size : 1) != 0)
        p = NULL;
    if (p && from && space && space->copy_in(p, from, size) != 0) {
        space->release(p);
        p = NULL;
    }
    if (p && from && !space)
        memcpy(p, from, size);
    return p;
}

static void give(const bench_call *c, void *p)
{
    if (p && c->lib->space)
        c->lib->space->release(p);
    else
        free(p);
}

void bench_rnn_free(bench_call *c)
{
    struct bench_rnn *r = c->rnn;
    struct bench_functions *f = &c->lib->f;
    if (!r)
        return;
    if (r->rnn)
        f->cudnnDestroyRNNDescriptor(r->rnn);
    if (r->x)
        f->cudnnDestroyRNNDataDescriptor(r->x);
    if (r->y)
        f->cudnnDestroyRNNDataDescriptor(r->y);
    if (r->h)
        f->cudnnDestroyTensorDescriptor(r->h);
    if (r->c)
        f->cudnnDestroyTensorDescriptor(r->c);
    give(c, r->lengths);
    give(c, r->states);
    free(r);
    c->rnn = NULL;
}

static dn_status set_dropout(bench_call *c, void *states, size_t size)
{
    return BENCH_CALL(c, cudnnSetDropoutDescriptor, c->dropout, c->lib->h, c->c->p.u.rnn.dropout ? (float)c->c->dropout : 0, states, size,
                      c->c->seed);
}

static dn_status make_dropout(bench_call *c)
{
    struct bench_rnn *r = c->rnn;
    dn_status st = BENCH_CALL(c, cudnnCreateDropoutDescriptor, &c->dropout);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnDropoutGetStatesSize, c->lib->h, &r->states_size);
    if (st != DN_SUCCESS)
        return st;
    r->states = take(c, NULL, r->states_size);
    return r->states ? set_dropout(c, r->states, r->states_size) : dn_fail(DN_ALLOC_FAILED, "no memory for dropout");
}

/* Arithmetic as frameworks ask for it: tensor cores for half types, whatever the library thinks best for floats. */
static cudnnMathType_t math_of(const dn_problem *p)
{
    dn_dtype type = (dn_dtype)dn_rnn_input(p)->type;
    return p->math || (type != DN_F16 && type != DN_BF16) ? (cudnnMathType_t)p->math : CUDNN_TENSOR_OP_MATH;
}

static dn_status make_rnn(bench_call *c)
{
    const dn_problem *p = &c->c->p;
    const dn_rnn_param *u = &p->u.rnn;
    struct bench_rnn *r = c->rnn;
    cudnnDataType_t type = (cudnnDataType_t)dn_rnn_input(p)->type;
    cudnnRNNAlgo_t algo = c->algo > 0 ? (cudnnRNNAlgo_t)c->algo : CUDNN_RNN_ALGO_STANDARD;
    dn_status st = make_dropout(c);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnCreateRNNDescriptor, &r->rnn);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnSetRNNDescriptor_v8, r->rnn, algo, (cudnnRNNMode_t)u->cell, (cudnnRNNBiasMode_t)u->bias,
                        (cudnnDirectionMode_t)(u->bidirectional != 0), u->skip ? CUDNN_SKIP_INPUT : CUDNN_LINEAR_INPUT, type,
                        type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, math_of(p), u->input, u->hidden, u->proj,
                        u->layers, c->dropout, u->layout == DN_RNN_PACKED ? CUDNN_RNN_PADDED_IO_DISABLED : CUDNN_RNN_PADDED_IO_ENABLED);
    if (st == DN_SUCCESS && u->clip)
        st = BENCH_CALL(c, cudnnRNNSetClip_v8, r->rnn, CUDNN_RNN_CLIP_MINMAX, (cudnnNanPropagation_t)u->clip_nan, u->lclip, u->rclip);
    if (st == DN_SUCCESS && algo == CUDNN_RNN_ALGO_PERSIST_DYNAMIC)
        st = BENCH_CALL(c, cudnnBuildRNNDynamic, c->lib->h, r->rnn, (int)dn_rnn_input(p)->dims[1]);
    return st;
}

static dn_status make_sequence(const bench_call *c, cudnnRNNDataDescriptor_t *desc, const dn_tensor *t, double fill)
{
    static const cudnnRNNDataLayout_t layouts[] = {
        CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED
    };
    double cell = 0;
    dn_store((dn_dtype)t->type, &cell, 0, fill);
    dn_status st = BENCH_CALL(c, cudnnCreateRNNDataDescriptor, desc);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnSetRNNDataDescriptor, *desc, (cudnnDataType_t)t->type, layouts[c->c->p.u.rnn.layout], (int)t->dims[0],
                        (int)t->dims[1], (int)t->dims[2], c->d->lengths, &cell);
    return st;
}

static dn_status make_state(const bench_call *c, cudnnTensorDescriptor_t *desc, int size)
{
    const dn_rnn_param *u = &c->c->p.u.rnn;
    const dn_tensor *x = dn_rnn_input(&c->c->p);
    int dims[3] = { u->layers * dn_rnn_directions(u), (int)x->dims[1], size }, strides[3] = { dims[1] * size, size, 1 };
    dn_status st = BENCH_CALL(c, cudnnCreateTensorDescriptor, desc);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnSetTensorNdDescriptor, *desc, (cudnnDataType_t)x->type, 3, dims, strides);
    return st;
}

static dn_status ask_sizes(bench_call *c)
{
    const dn_tensor *w = &c->c->p.t[DN_W];
    bool infer = c->c->p.dir == DN_DIR_INFER;
    size_t weights = 0, want = (size_t)w->dims[0] * dn_dtype_size((dn_dtype)w->type);
    dn_status st = BENCH_CALL(c, cudnnGetRNNWeightSpaceSize, c->lib->h, c->rnn->rnn, &weights);
    if (st == DN_SUCCESS && weights != want)
        st = dn_fail(DN_INTERNAL_ERROR, "the weight space has %zu bytes, ours %zu", weights, want);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnGetRNNTempSpaceSizes, c->lib->h, c->rnn->rnn, infer ? CUDNN_FWD_MODE_INFERENCE : CUDNN_FWD_MODE_TRAINING,
                        c->rnn->x, &c->workspace, &c->reserve_size);
    return st;
}

static dn_status prepare(bench_call *c)
{
    const dn_problem *p = &c->c->p;
    const dn_rnn_param *u = &p->u.rnn;
    bool masked = u->dropout && u->layers > 1 && c->c->dropout > 0;
    if (!c->lib->ours && masked && !c->c->coarse)
        return dn_fail(DN_NOT_SUPPORTED, "another library's dropout has masks of its own");
    for (int64_t b = 0; !c->lib->ours && b < dn_rnn_input(p)->dims[1]; b++)
        if (c->d->lengths[b] == 0)
            return dn_fail(DN_NOT_SUPPORTED, "another library's states of a sequence of length 0 are its padding");
    if (p->dir == DN_DIR_BWD_FILTER && (c->c->alpha != 1 || (c->c->beta != 0 && c->c->beta != 1)))
        return dn_fail(DN_NOT_SUPPORTED, "the interface sets or adds");
    c->rnn = calloc(1, sizeof *c->rnn);
    if (!c->rnn)
        return dn_fail(DN_ALLOC_FAILED, "no memory for descriptors");
    c->rnn->lengths = take(c, c->d->lengths, (size_t)dn_rnn_input(p)->dims[1] * sizeof *c->d->lengths);
    dn_status st = c->rnn->lengths ? make_rnn(c) : dn_fail(DN_ALLOC_FAILED, "no memory for the lengths");
    if (st == DN_SUCCESS)
        st = make_sequence(c, &c->rnn->x, dn_rnn_input(p), c->c->value);
    if (st == DN_SUCCESS)
        st = make_sequence(c, &c->rnn->y, &p->t[DN_Y], c->c->value);
    if (st == DN_SUCCESS)
        st = make_state(c, &c->rnn->h, u->proj);
    if (st == DN_SUCCESS)
        st = make_state(c, &c->rnn->c, u->hidden);
    return st == DN_SUCCESS ? ask_sizes(c) : st;
}

static dn_status forward(bench_call *c, const bench_memory *m)
{
    const struct bench_rnn *r = c->rnn;
    const bench_block *b = m->b;
    bool infer = c->c->p.dir == DN_DIR_INFER;
    dn_status st = DN_SUCCESS;
    if (c->lib->ours && m->states.pointer && !c->c->coarse)
        st = set_dropout(c, m->states.pointer, m->states.bytes);
    if (st != DN_SUCCESS)
        return st;
    return BENCH_CALL(c, cudnnRNNForward, c->lib->h, r->rnn, infer ? CUDNN_FWD_MODE_INFERENCE : CUDNN_FWD_MODE_TRAINING, r->lengths, r->x,
                      b[DN_X].pointer, r->y, b[DN_Y].pointer, r->h, AUX(m, HX), AUX(m, HY), r->c, AUX(m, CX), AUX(m, CY), b[DN_W].bytes,
                      b[DN_W].pointer, m->workspace.bytes, m->workspace.pointer, infer ? 0 : m->reserve.bytes, infer ? NULL : m->reserve.pointer);
}

static dn_status run(bench_call *c, const bench_memory *m)
{
    const struct bench_rnn *r = c->rnn;
    const bench_block *b = m->b;
    switch (c->c->p.dir) {
    case DN_DIR_BWD_DATA:
        return BENCH_CALL(c, cudnnRNNBackwardData_v8, c->lib->h, r->rnn, r->lengths, r->y, b[DN_Y].pointer, b[DN_DY].pointer, r->x,
                          b[DN_DX].pointer, r->h, AUX(m, HX), AUX(m, DHY), AUX(m, DHX), r->c, AUX(m, CX), AUX(m, DCY), AUX(m, DCX),
                          b[DN_W].bytes, b[DN_W].pointer, m->workspace.bytes, m->workspace.pointer, m->reserve.bytes, m->reserve.pointer);
    case DN_DIR_BWD_FILTER:
        return BENCH_CALL(c, cudnnRNNBackwardWeights_v8, c->lib->h, r->rnn, c->c->beta != 0 ? CUDNN_WGRAD_MODE_ADD : CUDNN_WGRAD_MODE_SET,
                          r->lengths, r->x, b[DN_X].pointer, r->h, AUX(m, HX), r->y, b[DN_Y].pointer, b[DN_W].bytes, b[DN_W].pointer,
                          m->workspace.bytes, m->workspace.pointer, m->reserve.bytes, m->reserve.pointer);
    default:
        return forward(c, m);
    }
}

const bench_via bench_via_rnn[] = {
    { DN_OP_RNN, { "cudnnRNNForward", "cudnnRNNBackwardData_v8", "cudnnRNNBackwardWeights_v8" }, prepare, run },
    { 0 },
};
