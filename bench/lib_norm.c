/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Normalisations and the spatial transformer through a library's interface. */
#include "lib.h"

#define AUX(m, name) ((m)->b[BENCH_AUX(DN_AUX_##name)].pointer)

/* --- batch normalisation: the first form, or Ex where an activation or an addend is asked for --- */

static dn_status act_of(bench_call *c)
{
    const dn_act_param *u = &c->c->p.u.bn.act;
    dn_status st = BENCH_CALL(c, cudnnCreateActivationDescriptor, &c->act);
    if (st != DN_SUCCESS)
        return st;
    return BENCH_CALL(c, cudnnSetActivationDescriptor, c->act, (cudnnActivationMode_t)u->mode, (cudnnNanPropagation_t)u->nan, u->coef);
}

static dn_status prepare_train_ex(bench_call *c)
{
    const dn_bn_param *u = &c->c->p.u.bn;
    const cudnnTensorDescriptor_t *t = c->t;
    dn_status st = BENCH_CALL(c, cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize, c->lib->h, (cudnnBatchNormMode_t)u->mode,
                              (cudnnBatchNormOps_t)u->ops, t[DN_X], t[DN_Z], t[DN_Y], t[DN_W], c->act, &c->workspace);
    if (st == DN_SUCCESS)
        c->workspace = (c->workspace + 255) / 256 * 256 + c->reserve_size;  /* the reserve lies at the end of it */
    return st;
}

/* Ours takes the case's mask. Another library's reserve space is its own business: its forward call fills it first, which needs
 * memory for y; with an addend it would need that too, so this is left out. */
static dn_status prepare_bwd_ex(bench_call *c)
{
    const dn_problem *p = &c->c->p;
    const cudnnTensorDescriptor_t *t = c->t;
    cudnnBatchNormMode_t mode = (cudnnBatchNormMode_t)p->u.bn.mode;
    cudnnBatchNormOps_t ops = (cudnnBatchNormOps_t)p->u.bn.ops;
    size_t forward = 0;
    dn_status st = BENCH_CALL(c, cudnnGetBatchNormalizationBackwardExWorkspaceSize, c->lib->h, mode, ops, t[DN_X], t[DN_DY], t[DN_DY],
                              t[DN_DZ], t[DN_DX], t[DN_W], c->act, &c->workspace);
    if (st != DN_SUCCESS || c->lib->ours)
        return st;
    if (p->u.bn.ops == 2)
        return dn_fail(DN_NOT_SUPPORTED, "a backward with an addend is not asked of another library");
    st = BENCH_CALL(c, cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize, c->lib->h, mode, ops, t[DN_X], NULL, t[DN_DY], t[DN_W],
                    c->act, &forward);
    if (forward > c->workspace)
        c->workspace = forward;
    size_t bytes = (size_t)dn_tensor_count(&p->t[DN_DY]) * dn_dtype_size((dn_dtype)p->t[DN_DY].type);
    if (!dn_tensor_is_dense(&p->t[DN_DY]))
        return dn_fail(DN_NOT_SUPPORTED, "tensors with gaps are not asked of another library here");
    if (st == DN_SUCCESS && (c->lib->space->alloc(&c->reserve, c->reserve_size + 1) || c->lib->space->alloc(&c->spare, bytes)))
        st = dn_fail(DN_ALLOC_FAILED, "no device memory for a forward call");
    return st;
}

static dn_status prepare_bn(bench_call *c)
{
    const dn_bn_param *u = &c->c->p.u.bn;
    if (!u->ops)
        return DN_SUCCESS;
    dn_status st = act_of(c);
    if (st != DN_SUCCESS || c->c->p.dir == DN_DIR_INFER)
        return st;
    st = BENCH_CALL(c, cudnnGetBatchNormalizationTrainingExReserveSpaceSize, c->lib->h, (cudnnBatchNormMode_t)u->mode,
                    (cudnnBatchNormOps_t)u->ops, c->act, c->t[DN_X], &c->reserve_size);
    if (st != DN_SUCCESS)
        return st;
    return c->c->p.dir == DN_DIR_BWD ? prepare_bwd_ex(c) : prepare_train_ex(c);
}

static dn_status train_ex(bench_call *c, const bench_memory *m)
{
    const dn_bn_param *u = &c->c->p.u.bn;
    const bench_block *b = m->b;
    size_t ws = m->workspace.bytes - c->reserve_size;
    return BENCH_CALL(c, cudnnBatchNormalizationForwardTrainingEx, c->lib->h, (cudnnBatchNormMode_t)u->mode,
                      (cudnnBatchNormOps_t)u->ops, &c->alpha, &c->beta, c->t[DN_X], b[DN_X].pointer, c->t[DN_Z], b[DN_Z].pointer,
                      c->t[DN_Y], b[DN_Y].pointer, c->t[DN_W], AUX(m, SCALE), AUX(m, BIAS), c->c->factor, AUX(m, MEAN), AUX(m, VAR),
                      c->c->eps, AUX(m, SAVE_MEAN), AUX(m, SAVE_INVSTD), c->act, m->workspace.pointer, ws,
                      m->workspace.pointer ? (char *)m->workspace.pointer + ws : NULL, c->reserve_size);
}

static dn_status bwd_ex(bench_call *c, const bench_memory *m)
{
    const dn_bn_param *u = &c->c->p.u.bn;
    const bench_block *b = m->b;
    cudnnBatchNormMode_t mode = (cudnnBatchNormMode_t)u->mode;
    cudnnBatchNormOps_t ops = (cudnnBatchNormOps_t)u->ops;
    const union { float f; double d; } one = { .f = 1 }, zero = { .d = 0 };  /* what is fused is never f64 there */
    void *ws = m->workspace.pointer, *reserve = c->reserve ? c->reserve : m->reserve.pointer, *y = c->spare ? c->spare : b[DN_DY].pointer;
    size_t size = m->workspace.bytes;
    dn_status st = DN_SUCCESS;
    if (!c->lib->ours)
        st = BENCH_CALL(c, cudnnBatchNormalizationForwardTrainingEx, c->lib->h, mode, ops, &one, &zero, c->t[DN_X], b[DN_X].pointer, NULL,
                        NULL, c->t[DN_DY], y, c->t[DN_W], AUX(m, SCALE), AUX(m, BIAS), 1, NULL, NULL, c->c->eps, NULL, NULL, c->act, ws,
                        size, reserve, c->reserve_size);
    if (st != DN_SUCCESS)
        return st;
    return BENCH_CALL(c, cudnnBatchNormalizationBackwardEx, c->lib->h, mode, ops, &c->alpha, &c->beta, &c->alpha2, &c->beta2, c->t[DN_X],
                      b[DN_X].pointer, c->t[DN_DY], y, c->t[DN_DY], b[DN_DY].pointer, c->t[DN_DZ], b[DN_DZ].pointer, c->t[DN_DX],
                      b[DN_DX].pointer, c->t[DN_W], AUX(m, SCALE), AUX(m, BIAS), AUX(m, DSCALE), AUX(m, DBIAS), c->c->eps,
                      AUX(m, SAVE_MEAN), AUX(m, SAVE_INVSTD), c->act, ws, size, reserve, c->reserve_size);
}

/* The Normalization form: the first has no activation. */
static dn_status infer_ex(bench_call *c, const bench_memory *m)
{
    const dn_bn_param *u = &c->c->p.u.bn;
    const bench_block *b = m->b;
    if (!c->lib->f.cudnnNormalizationForwardInference)
        return dn_fail(DN_NOT_SUPPORTED, "the library has no cudnnNormalizationForwardInference");
    return BENCH_CALL(c, cudnnNormalizationForwardInference, c->lib->h,
                      u->mode == 0 ? CUDNN_NORM_PER_ACTIVATION : CUDNN_NORM_PER_CHANNEL, (cudnnNormOps_t)u->ops,
                      u->mode == 2 ? CUDNN_NORM_ALGO_PERSIST : CUDNN_NORM_ALGO_STANDARD, &c->alpha, &c->beta, c->t[DN_X],
                      b[DN_X].pointer, c->t[DN_W], AUX(m, SCALE), AUX(m, BIAS), c->t[DN_W], AUX(m, MEAN), AUX(m, VAR), c->t[DN_Z],
                      b[DN_Z].pointer, c->act, c->t[DN_Y], b[DN_Y].pointer, c->c->eps, 1);
}

static dn_status run_plain(bench_call *c, const bench_memory *m)
{
    cudnnBatchNormMode_t mode = (cudnnBatchNormMode_t)c->c->p.u.bn.mode;
    const bench_block *b = m->b;
    double eps = c->c->eps;
    switch (c->c->p.dir) {
    case DN_DIR_INFER:
        return BENCH_CALL(c, cudnnBatchNormalizationForwardInference, c->lib->h, mode, &c->alpha, &c->beta, c->t[DN_X],
                          b[DN_X].pointer, c->t[DN_Y], b[DN_Y].pointer, c->t[DN_W], AUX(m, SCALE), AUX(m, BIAS), AUX(m, MEAN),
                          AUX(m, VAR), eps);
    case DN_DIR_TRAIN:
        return BENCH_CALL(c, cudnnBatchNormalizationForwardTraining, c->lib->h, mode, &c->alpha, &c->beta, c->t[DN_X],
                          b[DN_X].pointer, c->t[DN_Y], b[DN_Y].pointer, c->t[DN_W], AUX(m, SCALE), AUX(m, BIAS), c->c->factor,
                          AUX(m, MEAN), AUX(m, VAR), eps, AUX(m, SAVE_MEAN), AUX(m, SAVE_INVSTD));
    default:
        return BENCH_CALL(c, cudnnBatchNormalizationBackward, c->lib->h, mode, &c->alpha, &c->beta, &c->alpha2, &c->beta2,
                          c->t[DN_X], b[DN_X].pointer, c->t[DN_DY], b[DN_DY].pointer, c->t[DN_DX], b[DN_DX].pointer, c->t[DN_W],
                          AUX(m, SCALE), AUX(m, DSCALE), AUX(m, DBIAS), eps, AUX(m, SAVE_MEAN), AUX(m, SAVE_INVSTD));
    }
}

static dn_status run_bn(bench_call *c, const bench_memory *m)
{
    if (!c->act)
        return run_plain(c, m);
    switch (c->c->p.dir) {
    case DN_DIR_INFER: return infer_ex(c, m);
    case DN_DIR_TRAIN: return train_ex(c, m);
    default: return bwd_ex(c, m);
    }
}

/* --- across channels, and divisive --- */

static dn_status prepare_lrn(bench_call *c)
{
    const dn_lrn_param *u = &c->c->p.u.lrn;
    dn_status st = BENCH_CALL(c, cudnnCreateLRNDescriptor, &c->lrn);
    if (st != DN_SUCCESS)
        return st;
    return BENCH_CALL(c, cudnnSetLRNDescriptor, c->lrn, (unsigned)u->n, u->alpha, u->beta, u->k);
}

static dn_status run_lrn(bench_call *c, const bench_memory *m)
{
    const bench_block *b = m->b;
    if (c->c->p.dir == DN_DIR_FWD)
        return BENCH_CALL(c, cudnnLRNCrossChannelForward, c->lib->h, c->lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1, &c->alpha, c->t[DN_X],
                          b[DN_X].pointer, &c->beta, c->t[DN_Y], b[DN_Y].pointer);
    return BENCH_CALL(c, cudnnLRNCrossChannelBackward, c->lib->h, c->lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1, &c->alpha, c->t[DN_Y],
                      b[DN_Y].pointer, c->t[DN_DY], b[DN_DY].pointer, c->t[DN_X], b[DN_X].pointer, &c->beta, c->t[DN_DX],
                      b[DN_DX].pointer);
}

static dn_status run_divnorm(bench_call *c, const bench_memory *m)
{
    const bench_block *b = m->b;
    if (c->c->p.dir == DN_DIR_FWD)
        return BENCH_CALL(c, cudnnDivisiveNormalizationForward, c->lib->h, c->lrn, CUDNN_DIVNORM_PRECOMPUTED_MEANS, &c->alpha,
                          c->t[DN_X], b[DN_X].pointer, b[DN_B].pointer, AUX(m, TEMP), AUX(m, TEMP2), &c->beta, c->t[DN_Y],
                          b[DN_Y].pointer);
    return BENCH_CALL(c, cudnnDivisiveNormalizationBackward, c->lib->h, c->lrn, CUDNN_DIVNORM_PRECOMPUTED_MEANS, &c->alpha,
                      c->t[DN_X], b[DN_X].pointer, b[DN_B].pointer, b[DN_DY].pointer, AUX(m, TEMP), AUX(m, TEMP2), &c->beta,
                      c->t[DN_DX], b[DN_DX].pointer, b[DN_DZ].pointer);
}

/* --- spatial transformer: the descriptor has the output's sizes --- */

static dn_status prepare_spatial(bench_call *c)
{
    const dn_problem *p = &c->c->p;
    const dn_tensor *t = &p->t[p->dir == DN_DIR_FWD ? DN_Y : DN_DY];
    int dims[4] = { 1, 1, 1, 1 };
    if (t->rank != 4)
        return dn_fail(DN_NOT_SUPPORTED, "the interface has 4 dimensions here");
    for (int i = 0; i < 4; i++)
        dims[i] = (int)t->dims[i];
    if (p->op == DN_OP_ST_GRID) {  /* n x h x w x 2 */
        dims[2] = (int)t->dims[1];
        dims[3] = (int)t->dims[2];
        dims[1] = 1;
    }
    dn_status st = BENCH_CALL(c, cudnnCreateSpatialTransformerDescriptor, &c->spatial);
    if (st != DN_SUCCESS)
        return st;
    return BENCH_CALL(c, cudnnSetSpatialTransformerNdDescriptor, c->spatial, CUDNN_SAMPLER_BILINEAR, (cudnnDataType_t)t->type, 4,
                      dims);
}

static dn_status run_grid(bench_call *c, const bench_memory *m)
{
    const bench_block *b = m->b;
    if (c->c->p.dir == DN_DIR_FWD)
        return BENCH_CALL(c, cudnnSpatialTfGridGeneratorForward, c->lib->h, c->spatial, b[DN_X].pointer, b[DN_Y].pointer);
    return BENCH_CALL(c, cudnnSpatialTfGridGeneratorBackward, c->lib->h, c->spatial, b[DN_DY].pointer, b[DN_DX].pointer);
}

static dn_status run_sampler(bench_call *c, const bench_memory *m)
{
    const bench_block *b = m->b;
    if (c->c->p.dir == DN_DIR_FWD)
        return BENCH_CALL(c, cudnnSpatialTfSamplerForward, c->lib->h, c->spatial, &c->alpha, c->t[DN_X], b[DN_X].pointer,
                          b[DN_B].pointer, &c->beta, c->t[DN_Y], b[DN_Y].pointer);
    return BENCH_CALL(c, cudnnSpatialTfSamplerBackward, c->lib->h, c->spatial, &c->alpha, c->t[DN_X], b[DN_X].pointer, &c->beta,
                      c->t[DN_DX], b[DN_DX].pointer, &c->alpha2, c->t[DN_DY], b[DN_DY].pointer, b[DN_B].pointer, &c->beta2,
                      b[DN_DZ].pointer);
}

const bench_via bench_via_norm[] = {
    { DN_OP_BN, { 0 }, prepare_bn, run_bn },
    { DN_OP_LRN, { "cudnnLRNCrossChannelForward" }, prepare_lrn, run_lrn },
    { DN_OP_DIVNORM, { "cudnnDivisiveNormalizationForward" }, prepare_lrn, run_divnorm },
    { DN_OP_ST_GRID, { "cudnnSpatialTfGridGeneratorForward" }, prepare_spatial, run_grid },
    { DN_OP_ST_SAMPLER, { "cudnnSpatialTfSamplerForward" }, prepare_spatial, run_sampler },
    { 0 },
};
