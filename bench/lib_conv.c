/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution through a library's interface. */
#include "lib.h"

int bench_algo_count(const dn_problem *p)
{
    if (p->op == DN_OP_CONV_BIAS_ACT)
        return CUDNN_CONVOLUTION_FWD_ALGO_COUNT;
    if (p->op == DN_OP_RNN)
        return CUDNN_RNN_ALGO_COUNT;
    if (p->op != DN_OP_CONV)
        return 0;
    switch (p->dir) {
    case DN_DIR_FWD: return CUDNN_CONVOLUTION_FWD_ALGO_COUNT;
    case DN_DIR_BWD_DATA: return CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT;
    case DN_DIR_BWD_FILTER: return CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT;
    default: return 0;
    }
}

static dn_status set_conv(bench_call *c)
{
    const dn_problem *p = &c->c->p;
    const dn_conv_param *u = &p->u.conv;
    dn_status st = BENCH_CALL(c, cudnnCreateConvolutionDescriptor, &c->conv);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnSetConvolutionNdDescriptor, c->conv, u->spatial, u->pad, u->stride, u->dilation,
                        (cudnnConvolutionMode_t)u->mode, (cudnnDataType_t)p->compute);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnSetConvolutionGroupCount, c->conv, u->groups);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnSetConvolutionMathType, c->conv, (cudnnMathType_t)p->math);
    return st;
}

/* The first entry that Get answers with success. */
dn_status bench_conv_choose(bench_call *c)
{
    const bench_lib *lib = c->lib;
    int n = 0;
    dn_status st;
    if (c->algo >= 0)
        return DN_SUCCESS;
    switch (c->c->p.dir) {
    case DN_DIR_BWD_DATA: {
        cudnnConvolutionBwdDataAlgoPerf_t perf[16];
        st = BENCH_CALL(c, cudnnGetConvolutionBackwardDataAlgorithm_v7, lib->h, c->filter, c->t[DN_Y], c->conv, c->t[DN_X], 16, &n,
                        perf);
        for (int i = n - 1; st == DN_SUCCESS && i >= 0; i--)
            c->algo = perf[i].status == CUDNN_STATUS_SUCCESS ? (int)perf[i].algo : c->algo;
        break;
    }
    case DN_DIR_BWD_FILTER: {
        cudnnConvolutionBwdFilterAlgoPerf_t perf[16];
        st = BENCH_CALL(c, cudnnGetConvolutionBackwardFilterAlgorithm_v7, lib->h, c->t[DN_X], c->t[DN_Y], c->conv, c->filter, 16, &n,
                        perf);
        for (int i = n - 1; st == DN_SUCCESS && i >= 0; i--)
            c->algo = perf[i].status == CUDNN_STATUS_SUCCESS ? (int)perf[i].algo : c->algo;
        break;
    }
    default: {
        cudnnConvolutionFwdAlgoPerf_t perf[16];
        st = BENCH_CALL(c, cudnnGetConvolutionForwardAlgorithm_v7, lib->h, c->t[DN_X], c->filter, c->conv, c->t[DN_Y], 16, &n, perf);
        for (int i = n - 1; st == DN_SUCCESS && i >= 0; i--)
            c->algo = perf[i].status == CUDNN_STATUS_SUCCESS ? (int)perf[i].algo : c->algo;
        break;
    }
    }
    if (st == DN_SUCCESS && c->algo < 0)
        st = dn_fail(DN_NOT_SUPPORTED, "Get lists no algorithm that works");
    return st;
}

static dn_status query_workspace(bench_call *c)
{
    cudnnHandle_t h = c->lib->h;
    switch (c->c->p.dir) {
    case DN_DIR_BWD_DATA:
        return BENCH_CALL(c, cudnnGetConvolutionBackwardDataWorkspaceSize, h, c->filter, c->t[DN_Y], c->conv, c->t[DN_X],
                          (cudnnConvolutionBwdDataAlgo_t)c->algo, &c->workspace);
    case DN_DIR_BWD_FILTER:
        return BENCH_CALL(c, cudnnGetConvolutionBackwardFilterWorkspaceSize, h, c->t[DN_X], c->t[DN_Y], c->conv, c->filter,
                          (cudnnConvolutionBwdFilterAlgo_t)c->algo, &c->workspace);
    default:
        return BENCH_CALL(c, cudnnGetConvolutionForwardWorkspaceSize, h, c->t[DN_X], c->filter, c->conv, c->t[DN_Y],
                          (cudnnConvolutionFwdAlgo_t)c->algo, &c->workspace);
    }
}

static dn_status prepare(bench_call *c)
{
    if (c->c->p.dir == DN_DIR_BWD_BIAS)
        return DN_SUCCESS;
    dn_status st = set_conv(c);
    if (st == DN_SUCCESS)
        st = bench_conv_choose(c);
    return st == DN_SUCCESS ? query_workspace(c) : st;
}

static dn_status run(bench_call *c, const bench_memory *m)
{
    cudnnHandle_t h = c->lib->h;
    void *x = m->b[DN_X].pointer, *w = m->b[DN_W].pointer, *y = m->b[DN_Y].pointer, *ws = m->workspace.pointer;
    size_t size = m->workspace.bytes;
    switch (c->c->p.dir) {
    case DN_DIR_BWD_DATA:
        return BENCH_CALL(c, cudnnConvolutionBackwardData, h, &c->alpha, c->filter, w, c->t[DN_Y], y, c->conv,
                          (cudnnConvolutionBwdDataAlgo_t)c->algo, ws, size, &c->beta, c->t[DN_X], x);
    case DN_DIR_BWD_FILTER:
        return BENCH_CALL(c, cudnnConvolutionBackwardFilter, h, &c->alpha, c->t[DN_X], x, c->t[DN_Y], y, c->conv,
                          (cudnnConvolutionBwdFilterAlgo_t)c->algo, ws, size, &c->beta, c->filter, w);
    case DN_DIR_BWD_BIAS:
        return BENCH_CALL(c, cudnnConvolutionBackwardBias, h, &c->alpha, c->t[DN_Y], y, &c->beta, c->t[DN_B], m->b[DN_B].pointer);
    default:
        return BENCH_CALL(c, cudnnConvolutionForward, h, &c->alpha, c->t[DN_X], x, c->filter, w, c->conv,
                          (cudnnConvolutionFwdAlgo_t)c->algo, ws, size, &c->beta, c->t[DN_Y], y);
    }
}

static dn_status prepare_fused(bench_call *c)
{
    const dn_act_param *a = &c->c->p.u.conv.act;
    if (c->algo < 0 && a->mode == DN_ACT_IDENTITY)
        c->algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;  /* the one that the documentation allows */
    dn_status st = prepare(c);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnCreateActivationDescriptor, &c->act);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnSetActivationDescriptor, c->act, (cudnnActivationMode_t)a->mode, (cudnnNanPropagation_t)a->nan,
                        a->coef);
    return st;
}

/* Without z the interface still wants one: y's own, scaled by 0. */
static dn_status run_fused(bench_call *c, const bench_memory *m)
{
    bool z = c->c->p.t[DN_Z].rank;
    void *y = m->b[DN_Y].pointer;
    return BENCH_CALL(c, cudnnConvolutionBiasActivationForward, c->lib->h, &c->alpha, c->t[DN_X], m->b[DN_X].pointer, c->filter,
                      m->b[DN_W].pointer, c->conv, (cudnnConvolutionFwdAlgo_t)c->algo, m->workspace.pointer, m->workspace.bytes,
                      &c->alpha2, c->t[z ? DN_Z : DN_Y], z ? m->b[DN_Z].pointer : y, c->t[DN_B], m->b[DN_B].pointer, c->act,
                      c->t[DN_Y], y);
}

static dn_status prepare_im2col(bench_call *c)
{
    return set_conv(c);
}

static dn_status run_im2col(bench_call *c, const bench_memory *m)
{
    return BENCH_CALL(c, cudnnIm2Col, c->lib->h, c->t[DN_X], m->b[DN_X].pointer, c->filter, c->conv, m->b[DN_Y].pointer);
}

const bench_via bench_via_conv[] = {
    { DN_OP_CONV, { 0 }, prepare, run },
    { DN_OP_CONV_BIAS_ACT, { "cudnnConvolutionBiasActivationForward" }, prepare_fused, run_fused },
    { DN_OP_IM2COL, { "cudnnIm2Col" }, prepare_im2col, run_im2col },
    { 0 },
};
