/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Pooling, activation, softmax, dropout and the tensor operations through a library's interface. */
#include "lib.h"

#include <string.h>

/* --- pooling --- */

static dn_status prepare_pool(bench_call *c)
{
    const dn_pool_param *u = &c->c->p.u.pool;
    dn_status st = BENCH_CALL(c, cudnnCreatePoolingDescriptor, &c->pool);
    if (st != DN_SUCCESS)
        return st;
    return BENCH_CALL(c, cudnnSetPoolingNdDescriptor, c->pool, (cudnnPoolingMode_t)u->mode, (cudnnNanPropagation_t)u->nan, u->spatial,
                      u->window, u->pad, u->stride);
}

static dn_status run_pool(bench_call *c, const bench_memory *m)
{
    const bench_block *b = m->b;
    if (c->c->p.dir == DN_DIR_FWD)
        return BENCH_CALL(c, cudnnPoolingForward, c->lib->h, c->pool, &c->alpha, c->t[DN_X], b[DN_X].pointer, &c->beta, c->t[DN_Y],
                          b[DN_Y].pointer);
    return BENCH_CALL(c, cudnnPoolingBackward, c->lib->h, c->pool, &c->alpha, c->t[DN_Y], b[DN_Y].pointer, c->t[DN_DY],
                      b[DN_DY].pointer, c->t[DN_X], b[DN_X].pointer, &c->beta, c->t[DN_DX], b[DN_DX].pointer);
}

/* --- activation --- */

static dn_status prepare_act(bench_call *c)
{
    const dn_act_param *u = &c->c->p.u.act;
    dn_status st = BENCH_CALL(c, cudnnCreateActivationDescriptor, &c->act);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnSetActivationDescriptor, c->act, (cudnnActivationMode_t)u->mode, (cudnnNanPropagation_t)u->nan,
                        u->coef);
    if (st == DN_SUCCESS && u->mode == DN_ACT_SWISH)
        st = BENCH_CALL(c, cudnnSetActivationDescriptorSwishBeta, c->act, u->beta);
    return st;
}

static dn_status run_act(bench_call *c, const bench_memory *m)
{
    const bench_block *b = m->b;
    if (c->c->p.dir == DN_DIR_FWD)
        return BENCH_CALL(c, cudnnActivationForward, c->lib->h, c->act, &c->alpha, c->t[DN_X], b[DN_X].pointer, &c->beta, c->t[DN_Y],
                          b[DN_Y].pointer);
    return BENCH_CALL(c, cudnnActivationBackward, c->lib->h, c->act, &c->alpha, c->t[DN_Y], b[DN_Y].pointer, c->t[DN_DY],
                      b[DN_DY].pointer, c->t[DN_X], b[DN_X].pointer, &c->beta, c->t[DN_DX], b[DN_DX].pointer);
}

/* --- softmax --- */

static dn_status run_softmax(bench_call *c, const bench_memory *m)
{
    const bench_block *b = m->b;
    cudnnSoftmaxAlgorithm_t algo = (cudnnSoftmaxAlgorithm_t)c->c->p.u.softmax.algo;
    cudnnSoftmaxMode_t mode = (cudnnSoftmaxMode_t)c->c->p.u.softmax.mode;
    if (c->c->p.dir == DN_DIR_FWD)
        return BENCH_CALL(c, cudnnSoftmaxForward, c->lib->h, algo, mode, &c->alpha, c->t[DN_X], b[DN_X].pointer, &c->beta,
                          c->t[DN_Y], b[DN_Y].pointer);
    return BENCH_CALL(c, cudnnSoftmaxBackward, c->lib->h, algo, mode, &c->alpha, c->t[DN_Y], b[DN_Y].pointer, c->t[DN_DY],
                      b[DN_DY].pointer, &c->beta, c->t[DN_DX], b[DN_DX].pointer);
}

/* --- dropout: our states and mask are the case's; another library gets its own --- */

static int allocate(bench_call *c, void **ptr, size_t size)
{
    return c->lib->space ? c->lib->space->alloc(ptr, size ? size : 1) : -1;
}

static dn_status prepare_dropout(bench_call *c)
{
    const dn_problem *p = &c->c->p;
    cudnnTensorDescriptor_t in = c->t[p->dir == DN_DIR_FWD ? DN_X : DN_DY];
    dn_status st = BENCH_CALL(c, cudnnCreateDropoutDescriptor, &c->dropout);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnDropoutGetStatesSize, c->lib->h, &c->states_size);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnDropoutGetReserveSpaceSize, in, &c->reserve_size);
    if (st != DN_SUCCESS || c->lib->ours)
        return st;
    int64_t lo, hi;
    const dn_tensor *t = &p->t[p->dir == DN_DIR_FWD ? DN_X : DN_DY];
    dn_tensor_span(t, &lo, &hi);
    if (lo < 0)
        return dn_fail(DN_NOT_SUPPORTED, "negative strides are not asked of another library's dropout");
    size_t bytes = (size_t)(hi + 1) * dn_dtype_size((dn_dtype)t->type);
    if (allocate(c, &c->states, c->states_size) || allocate(c, &c->reserve, c->reserve_size) || allocate(c, &c->spare, bytes))
        return dn_fail(DN_ALLOC_FAILED, "no device memory for dropout");
    return BENCH_CALL(c, cudnnSetDropoutDescriptor, c->dropout, c->lib->h, (float)c->c->dropout, c->states, c->states_size,
                      c->c->seed);
}

static dn_status run_dropout(bench_call *c, const bench_memory *m)
{
    const bench_block *b = m->b;
    bool fwd = c->c->p.dir == DN_DIR_FWD;
    void *reserve = c->reserve ? c->reserve : m->reserve.pointer;
    dn_status st = DN_SUCCESS;
    if (c->lib->ours)
        st = BENCH_CALL(c, cudnnSetDropoutDescriptor, c->dropout, c->lib->h, (float)c->c->dropout, m->states.pointer,
                        m->states.bytes, c->c->seed);
    if (st != DN_SUCCESS)
        return st;
    if (fwd)
        return BENCH_CALL(c, cudnnDropoutForward, c->lib->h, c->dropout, c->t[DN_X], b[DN_X].pointer, c->t[DN_Y], b[DN_Y].pointer,
                          reserve, c->reserve_size);
    if (!c->lib->ours)  /* the mask of another library comes from its own forward call */
        st = BENCH_CALL(c, cudnnDropoutForward, c->lib->h, c->dropout, c->t[DN_DY], b[DN_DY].pointer, c->t[DN_DY], c->spare, reserve,
                        c->reserve_size);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnDropoutBackward, c->lib->h, c->dropout, c->t[DN_DY], b[DN_DY].pointer, c->t[DN_DX], b[DN_DX].pointer,
                        reserve, c->reserve_size);
    return st;
}

/* --- tensor operations --- */

static dn_status run_add(bench_call *c, const bench_memory *m)
{
    return BENCH_CALL(c, cudnnAddTensor, c->lib->h, &c->alpha, c->t[DN_X], m->b[DN_X].pointer, &c->beta, c->t[DN_Y],
                      m->b[DN_Y].pointer);
}

static dn_status run_transform(bench_call *c, const bench_memory *m)
{
    return BENCH_CALL(c, cudnnTransformTensor, c->lib->h, &c->alpha, c->t[DN_X], m->b[DN_X].pointer, &c->beta, c->t[DN_Y],
                      m->b[DN_Y].pointer);
}

static dn_status run_scale(bench_call *c, const bench_memory *m)
{
    return BENCH_CALL(c, cudnnScaleTensor, c->lib->h, c->t[DN_Y], m->b[DN_Y].pointer, &c->alpha);
}

/* *value is a float, but for f64 and i32. */
static dn_status run_set(bench_call *c, const bench_memory *m)
{
    double cell = 0;
    int type = c->c->p.t[DN_Y].type;
    dn_store(type == DN_F64 || type == DN_I32 ? (dn_dtype)type : DN_F32, &cell, 0, c->c->value);
    return BENCH_CALL(c, cudnnSetTensor, c->lib->h, c->t[DN_Y], m->b[DN_Y].pointer, &cell);
}

static cudnnDataType_t compute_type(const bench_call *c)
{
    switch (c->c->p.t[DN_Y].type) {
    case DN_F64: return CUDNN_DATA_DOUBLE;
    case DN_I32: return CUDNN_DATA_INT32;
    default: return CUDNN_DATA_FLOAT;
    }
}

static dn_status prepare_tensor_op(bench_call *c)
{
    const dn_tensor_op_param *u = &c->c->p.u.tensor_op;
    dn_status st = BENCH_CALL(c, cudnnCreateOpTensorDescriptor, &c->tensor_op);
    if (st != DN_SUCCESS)
        return st;
    return BENCH_CALL(c, cudnnSetOpTensorDescriptor, c->tensor_op, (cudnnOpTensorOp_t)u->op, compute_type(c),
                      (cudnnNanPropagation_t)u->nan);
}

static dn_status run_tensor_op(bench_call *c, const bench_memory *m)
{
    bool b = c->c->p.t[DN_B].rank;
    return BENCH_CALL(c, cudnnOpTensor, c->lib->h, c->tensor_op, &c->alpha, c->t[DN_X], m->b[DN_X].pointer, &c->alpha2,
                      c->t[b ? DN_B : DN_X], m->b[b ? DN_B : DN_X].pointer, &c->beta, c->t[DN_Y], m->b[DN_Y].pointer);
}

static dn_status prepare_reduce(bench_call *c)
{
    const dn_reduce_param *u = &c->c->p.u.reduce;
    dn_status st = BENCH_CALL(c, cudnnCreateReduceTensorDescriptor, &c->reduce);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnSetReduceTensorDescriptor, c->reduce, (cudnnReduceTensorOp_t)u->op, compute_type(c),
                        (cudnnNanPropagation_t)u->nan, (cudnnReduceTensorIndices_t)u->indices, (cudnnIndicesType_t)u->index_type);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnGetReductionWorkspaceSize, c->lib->h, c->reduce, c->t[DN_X], c->t[DN_Y], &c->workspace);
    return st;
}

static dn_status run_reduce(bench_call *c, const bench_memory *m)
{
    const bench_block *at = &m->b[BENCH_AUX(DN_AUX_INDICES)];
    return BENCH_CALL(c, cudnnReduceTensor, c->lib->h, c->reduce, at->pointer, at->bytes, m->workspace.pointer, m->workspace.bytes,
                      &c->alpha, c->t[DN_X], m->b[DN_X].pointer, &c->beta, c->t[DN_Y], m->b[DN_Y].pointer);
}

static dn_status prepare_transform_ex(bench_call *c)
{
    const dn_transform_param *u = &c->c->p.u.transform;
    const dn_tensor *y = &c->c->p.t[DN_Y];
    uint32_t by[DN_SPATIAL_MAX], rank = y->rank;
    cudnnTensorFormat_t format = y->vect > 1 ? CUDNN_TENSOR_NCHW_VECT_C
                                 : dn_tensor_is_packed(y) ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC;
    for (int i = 0; i < DN_SPATIAL_MAX; i++)
        by[i] = (uint32_t)u->by[i];
    dn_status st = BENCH_CALL(c, cudnnCreateTensorTransformDescriptor, &c->transform);
    if (st != DN_SUCCESS)
        return st;
    return BENCH_CALL(c, cudnnSetTensorTransformDescriptor, c->transform, rank, format, u->before, u->after, by,
                      (cudnnFoldingDirection_t)u->fold);
}

static dn_status run_transform_ex(bench_call *c, const bench_memory *m)
{
    return BENCH_CALL(c, cudnnTransformTensorEx, c->lib->h, c->transform, &c->alpha, c->t[DN_X], m->b[DN_X].pointer, &c->beta,
                      c->t[DN_Y], m->b[DN_Y].pointer);
}

const bench_via bench_via_ops[] = {
    { DN_OP_POOL, { 0 }, prepare_pool, run_pool },
    { DN_OP_ACT, { 0 }, prepare_act, run_act },
    { DN_OP_SOFTMAX, { 0 }, NULL, run_softmax },
    { DN_OP_DROPOUT, { 0 }, prepare_dropout, run_dropout },
    { DN_OP_ADD, { 0 }, NULL, run_add },
    { DN_OP_TRANSFORM, { 0 }, NULL, run_transform },
    { DN_OP_SCALE, { 0 }, NULL, run_scale },
    { DN_OP_SET, { 0 }, NULL, run_set },
    { DN_OP_TENSOR, { "cudnnOpTensor" }, prepare_tensor_op, run_tensor_op },
    { DN_OP_REDUCE, { "cudnnReduceTensor" }, prepare_reduce, run_reduce },
    { DN_OP_TRANSFORM_EX, { "cudnnTransformTensorEx" }, prepare_transform_ex, run_transform_ex },
    { 0 },
};
