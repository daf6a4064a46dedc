/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Misuse of local response and divisive normalisation, the Ex and Normalization forms of batch normalisation, and the spatial
 * transformer. Rows were compared with the vendor's 9.19, the calls on a GPU. */
#include "misuse.h"

#include <math.h>

#define NAN_REASON "NaN passes the vendor's comparison with the least value"
#define MODE_REASON "documented: one mode alone; the vendor does not look at it"
#define UNEQUAL_REASON "documented: NOT_SUPPORTED for tensors of unequal dims or types"

static void lrn_desc(cudnnLRNDescriptor_t d)
{
    unsigned n;
    double a, b, k;
    ROW(cudnnDestroyLRNDescriptor, (NULL), OK, "");
    ROW(cudnnSetLRNDescriptor, (d, 0, 1e-4, 0.75, 2.0), BAD, "lrnN is 0");
    ROW(cudnnSetLRNDescriptor, (d, 17, 1e-4, 0.75, 2.0), BAD, "lrnN is 17", "16");
    ROW(cudnnSetLRNDescriptor, (d, 0xffffffffu, 1e-4, 0.75, 2.0), BAD, "lrnN is 4294967295");
    ROW(cudnnSetLRNDescriptor, (d, 5, 1e-4, 0.009, 2.0), BAD, "lrnBeta is 0.009", "0.01");
    ROW(cudnnSetLRNDescriptor, (d, 5, 1e-4, 0.75, 0.9e-5), BAD, "lrnK is 9e-06", "1e-05");
    ROW_V(cudnnSetLRNDescriptor, (d, 5, 1e-4, NAN, 2.0), BAD, OK, NAN_REASON, "lrnBeta");
    ROW_V(cudnnSetLRNDescriptor, (d, 5, 1e-4, 0.75, NAN), BAD, OK, NAN_REASON, "lrnK");
    ROW(cudnnSetLRNDescriptor, (d, 5, -1.0, 0.75, 2.0), OK, "");
    ROW(cudnnGetLRNDescriptor, (NULL, &n, &a, &b, &k), BAD, "normDesc is NULL");
    ROW(cudnnGetLRNDescriptor, (d, NULL, &a, NULL, &k), OK, "");
    ROW_OURS(cudnnCreateLRNDescriptor, (NULL), BAD, "normDesc is NULL");
    ROW_OURS(cudnnSetLRNDescriptor, (NULL, 5, 1e-4, 0.75, 2.0), BAD, "normDesc is NULL");
    CALL(cudnnSetLRNDescriptor, (d, 5, 1e-4, 0.75, 2.0));
}

static void lrn_calls(cudnnLRNDescriptor_t d, objects *o)
{
    cudnnHandle_t h = api_handle();
    void *x = api_alloc(4096), *y = api_alloc(4096), *dy = api_alloc(4096), *dx = api_alloc(4096);
    const float *one = &o->one, *zero = &o->zero;
    ROW_V(cudnnLRNCrossChannelForward, (h, d, 1, one, o->x, x, zero, o->x, y), BAD, OK, MODE_REASON, "lrnMode is 1");
    ROW_V(cudnnLRNCrossChannelForward, (h, d, 0, one, o->x, x, zero, o->y, y), NOSUP, BAD, UNEQUAL_REASON, "xDesc", "yDesc");
    ROW_V(cudnnLRNCrossChannelForward, (h, d, 0, one, o->x, x, zero, o->x16, y), NOSUP, BAD, UNEQUAL_REASON, "xDesc", "yDesc");
    ROW(cudnnLRNCrossChannelForward, (h, d, 0, one, o->x, NULL, zero, o->x, y), BAD, "x is NULL");
    ROW(cudnnLRNCrossChannelForward, (h, d, 0, one, o->x, x, zero, o->x, NULL), BAD, "y is NULL");
    ROW(cudnnLRNCrossChannelBackward, (h, d, 0, one, o->x, y, o->x, NULL, o->x, x, zero, o->x, dx), BAD, "dy is NULL");
    ROW(cudnnLRNCrossChannelBackward, (h, d, 0, one, o->x, y, o->y, dy, o->x, x, zero, o->x, dx), NOSUP, "dyDesc");
    ROW_V(cudnnDivisiveNormalizationForward, (h, d, 1, one, o->x, x, NULL, dy, dx, zero, o->x, y), BAD, OK, MODE_REASON, "mode is 1");
    ROW(cudnnDivisiveNormalizationForward, (h, d, 0, one, o->x, x, NULL, dy, dx, zero, o->y, y), BAD, "xDesc", "yDesc");
    ROW(cudnnDivisiveNormalizationForward, (h, d, 0, one, o->x, x, NULL, NULL, dx, zero, o->x, y), BAD, "temp is NULL");
    ROW(cudnnDivisiveNormalizationForward, (h, d, 0, one, o->x, x, NULL, dy, NULL, zero, o->x, y), BAD, "temp2 is NULL");
    ROW(cudnnDivisiveNormalizationBackward, (h, d, 0, one, o->x, x, NULL, NULL, dy, y, zero, o->x, dx, NULL), BAD, "dy is NULL");
    ROW(cudnnDivisiveNormalizationBackward, (h, d, 0, one, o->x, x, NULL, x, dy, y, zero, o->y, dx, NULL), BAD, "dxDesc");
    ROW(cudnnDivisiveNormalizationBackward, (h, d, 0, one, o->x, x, NULL, x, dy, y, zero, o->x, NULL, NULL), BAD, "dx is NULL");
    if (!api_ours)
        return;
    ROW(cudnnLRNCrossChannelForward, (NULL, d, 0, one, o->x, x, zero, o->x, y), BAD, "handle is NULL");
    ROW(cudnnLRNCrossChannelForward, (h, NULL, 0, one, o->x, x, zero, o->x, y), BAD, "normDesc is NULL");
    ROW(cudnnLRNCrossChannelForward, (h, d, 0, NULL, o->x, x, zero, o->x, y), BAD, "alpha is NULL");
    ROW(cudnnLRNCrossChannelForward, (h, d, 0, one, NULL, x, zero, o->x, y), BAD, "xDesc is NULL");
    ROW(cudnnDivisiveNormalizationForward, (NULL, d, 0, one, o->x, x, NULL, dy, dx, zero, o->x, y), BAD, "handle is NULL");
    ROW(cudnnDivisiveNormalizationBackward, (h, d, 0, one, o->x, x, NULL, x, dy, y, zero, NULL, dx, NULL), BAD,
        "dXdMeansDesc is NULL");
    ROW(cudnnDivisiveNormalizationBackward, (h, d, 0, one, o->x, x, NULL, x, dy, y, zero, o->x, dx, dx), BAD, "dx and dMeans");
}

void misuse_lrn(void **state)
{
    (void)state;
    objects o;
    cudnnLRNDescriptor_t d;
    objects_make(&o);
    CALL(cudnnCreateLRNDescriptor, (&d));
    lrn_desc(d);
    api_rows_done();
    lrn_calls(d, &o);
    if (api_ours) {
        cudnnLRNDescriptor_t dead;
        CALL(cudnnCreateLRNDescriptor, (&dead));
        CALL(cudnnDestroyLRNDescriptor, (dead));
        ROW(cudnnSetLRNDescriptor, (dead, 5, 1e-4, 0.75, 2.0), BAD, "normDesc", "destroyed");
    }
    CALL(cudnnDestroyLRNDescriptor, (d));
    objects_free(&o);
    api_rows_done();
}

/* --- batch normalisation, Ex --- */

void misuse_batchnorm_ex(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    size_t size = 0;
    ROW(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize, (NULL, 1, 0, o.x, NULL, o.x, o.chan, NULL, &size), BAD,
        "handle is NULL");
    ROW(cudnnGetBatchNormalizationBackwardExWorkspaceSize, (NULL, 1, 0, o.x, NULL, o.x, NULL, o.x, o.chan, NULL, &size), BAD,
        "handle is NULL");
    ROW(cudnnGetBatchNormalizationTrainingExReserveSpaceSize, (NULL, 1, 0, NULL, o.x, &size), BAD, "handle is NULL");
    api_rows_done();
    cudnnHandle_t h = api_handle();
    void *x = api_alloc(4096), *y = api_alloc(4096), *z = api_alloc(4096), *dx = api_alloc(4096), *r = api_alloc(4096);
    void *s = api_alloc(64), *b = api_alloc(64), *m = api_alloc(64), *v = api_alloc(64);
    const float *one = &o.one, *zero = &o.zero;
#define TRAIN(mode, ops, xd, zd, zp, yd, pd, eps, act, rp, rs) \
    (h, mode, ops, one, zero, xd, x, zd, zp, yd, y, pd, s, b, 1.0, m, v, eps, NULL, NULL, act, NULL, 0, rp, rs)
#define BACK(mode, ops, dyd, dyp, dzd, dzp, pd, eps, act, rp, rs) \
    (h, mode, ops, one, zero, one, zero, o.x, x, o.x, y, dyd, dyp, dzd, dzp, o.x, dx, pd, s, b, m, v, eps, NULL, NULL, act, NULL, \
     0, rp, rs)
    ROW(cudnnBatchNormalizationForwardTrainingEx, TRAIN(3, 0, o.x, NULL, NULL, o.x, o.chan, 1e-3, NULL, NULL, 0), BAD, "mode", "3");
    ROW(cudnnBatchNormalizationForwardTrainingEx, TRAIN(1, 3, o.x, NULL, NULL, o.x, o.chan, 1e-3, NULL, NULL, 0), BAD,
        "bnOps is 3");
    ROW(cudnnBatchNormalizationForwardTrainingEx, TRAIN(1, 0, o.x, NULL, NULL, o.y, o.chan, 1e-3, NULL, NULL, 0), BAD, "yDesc");
    ROW(cudnnBatchNormalizationForwardTrainingEx, TRAIN(1, 0, o.x, NULL, NULL, o.x, o.bias, 1e-3, NULL, NULL, 0), BAD,
        "bnScaleBiasMeanVarDesc");
    ROW(cudnnBatchNormalizationForwardTrainingEx, TRAIN(1, 0, o.x, NULL, NULL, o.x, o.chan, -1.0, NULL, NULL, 0), BAD, "epsilon");
    ROW(cudnnBatchNormalizationBackwardEx, BACK(3, 0, o.x, y, NULL, NULL, o.chan, 1e-3, NULL, NULL, 0), BAD, "mode", "3");
    ROW(cudnnBatchNormalizationBackwardEx, BACK(1, 0, o.y, y, NULL, NULL, o.chan, 1e-3, NULL, NULL, 0), BAD, "dyDesc");
    ROW(cudnnBatchNormalizationBackwardEx, BACK(1, 0, o.x, NULL, NULL, NULL, o.chan, 1e-3, NULL, NULL, 0), BAD, "dyData is NULL");
    if (api_ours) {
        ROW(cudnnBatchNormalizationForwardTrainingEx, TRAIN(1, 1, o.x, NULL, NULL, o.x, o.chan, 1e-3, NULL, r, 200), BAD,
            "activationDesc is NULL");
        ROW(cudnnBatchNormalizationForwardTrainingEx, TRAIN(1, 2, o.x, NULL, z, o.x, o.chan, 1e-3, o.act, r, 200), BAD,
            "zDesc is NULL");
        ROW(cudnnBatchNormalizationForwardTrainingEx, TRAIN(1, 2, o.x, o.x, NULL, o.x, o.chan, 1e-3, o.act, r, 200), BAD,
            "zData is NULL");
        ROW(cudnnBatchNormalizationForwardTrainingEx, TRAIN(1, 2, o.x, o.x, z, o.x, o.chan, 1e-3, o.act, NULL, 200), BAD,
            "reserveSpace is NULL");
        ROW(cudnnBatchNormalizationForwardTrainingEx, TRAIN(1, 2, o.x, o.x, z, o.x, o.chan, 1e-3, o.act, r, 199), BAD,
            "reserveSpaceSizeInBytes is 199", "200");
        ROW(cudnnBatchNormalizationBackwardEx, BACK(1, 2, o.x, y, o.x, NULL, o.chan, 1e-3, o.act, r, 200), BAD, "dzData is NULL");
        ROW(cudnnBatchNormalizationBackwardEx, BACK(1, 2, o.x, y, o.x, dx, o.chan, 1e-3, o.act, r, 200), BAD, "dxData and dzData");
        ROW(cudnnBatchNormalizationBackwardEx, BACK(1, 1, o.x, y, NULL, NULL, o.chan, 1e-3, o.act, r, 199), BAD,
            "reserveSpaceSizeInBytes is 199");
        ROW(cudnnGetBatchNormalizationTrainingExReserveSpaceSize, (h, 1, 1, o.act, o.x, NULL), BAD, "sizeInBytes is NULL");
        ROW(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize, (h, 1, 2, o.x, NULL, o.x, o.chan, o.act, &size), BAD,
            "zDesc is NULL");
        ROW(cudnnGetBatchNormalizationBackwardExWorkspaceSize, (h, 1, 2, o.x, NULL, o.x, NULL, o.x, o.chan, o.act, &size), BAD,
            "dzDesc is NULL");
    }
#undef TRAIN
#undef BACK
    objects_free(&o);
    api_rows_done();
}

/* --- batch normalisation, Normalization form --- */

static void derive_norm(objects *o)
{
    ROW(cudnnDeriveNormTensorDescriptor, (o->t, o->t, o->x, 1, 1), OK, "");
    ROW(cudnnDeriveNormTensorDescriptor, (o->t, o->t, o->x, 1, 0), NOSUP, "groupCnt is 0");
    ROW(cudnnDeriveNormTensorDescriptor, (o->t, o->t, o->x, 1, 2), NOSUP, "groupCnt is 2");
    ROW(cudnnDeriveNormTensorDescriptor, (o->t, o->t, o->x, 2, 1), BAD, "mode is 2");
    ROW(cudnnDeriveNormTensorDescriptor, (o->t, o->t, o->x, -1, 1), BAD, "mode is -1");
    ROW(cudnnDeriveNormTensorDescriptor, (NULL, o->t, o->x, 1, 1), BAD, "derivedNormScaleBiasDesc is NULL");
    ROW(cudnnDeriveNormTensorDescriptor, (o->t, NULL, o->x, 1, 1), BAD, "derivedNormMeanVarDesc is NULL");
    ROW(cudnnDeriveNormTensorDescriptor, (o->t, o->t, o->never, 1, 1), BAD, "xDesc", "set");
    if (api_ours)
        ROW(cudnnDeriveNormTensorDescriptor, (o->t, o->t, NULL, 1, 1), BAD, "xDesc is NULL");
}

void misuse_normalization(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    size_t size = 0;
    derive_norm(&o);
    ROW(cudnnGetNormalizationForwardTrainingWorkspaceSize, (NULL, 1, 0, 0, o.x, NULL, o.x, o.chan, NULL, o.chan, &size, 1), BAD,
        "handle is NULL");
    ROW(cudnnGetNormalizationBackwardWorkspaceSize, (NULL, 1, 0, 0, o.x, NULL, o.x, NULL, o.x, o.chan, NULL, o.chan, &size, 1),
        BAD, "handle is NULL");
    ROW(cudnnGetNormalizationTrainingReserveSpaceSize, (NULL, 1, 0, 0, NULL, o.x, &size, 1), BAD, "handle is NULL");
    api_rows_done();
    cudnnHandle_t h = api_handle();
    void *x = api_alloc(4096), *y = api_alloc(4096), *dx = api_alloc(4096);
    void *s = api_alloc(64), *b = api_alloc(64), *m = api_alloc(64), *v = api_alloc(64);
    const float *one = &o.one, *zero = &o.zero;
#define INFER(mode, ops, algo, wd, md, yd, groups) \
    (h, mode, ops, algo, one, zero, o.x, x, wd, s, b, md, m, v, NULL, NULL, NULL, yd, y, 1e-3, groups)
#define TRAIN(mode, ops, algo, wd, md, yd, groups) \
    (h, mode, ops, algo, one, zero, o.x, x, wd, s, b, 1.0, md, m, v, 1e-3, NULL, NULL, NULL, NULL, NULL, yd, y, NULL, 0, NULL, 0, \
     groups)
#define BACK(mode, ops, algo, wd, md, dyd, groups) \
    (h, mode, ops, algo, one, zero, one, zero, o.x, x, o.x, y, dyd, y, NULL, NULL, o.x, dx, wd, s, b, m, v, 1e-3, md, NULL, NULL, \
     NULL, NULL, 0, NULL, 0, groups)
    ROW(cudnnNormalizationForwardInference, INFER(2, 0, 0, o.chan, o.chan, o.x, 1), NOSUP, "mode is 2");
    ROW(cudnnNormalizationForwardInference, INFER(1, 3, 0, o.chan, o.chan, o.x, 1), NOSUP, "normOps is 3");
    ROW(cudnnNormalizationForwardInference, INFER(1, 0, 2, o.chan, o.chan, o.x, 1), NOSUP, "algo is 2");
    ROW(cudnnNormalizationForwardInference, INFER(1, 0, 0, o.chan, o.chan, o.x, 2), NOSUP, "groupCnt is 2");
    ROW(cudnnNormalizationForwardInference, INFER(1, 0, 0, o.bias, o.chan, o.x, 1), BAD, "normScaleBiasDesc");
    ROW(cudnnNormalizationForwardInference, INFER(1, 0, 0, o.chan, o.bias, o.x, 1), BAD, "normMeanVarDesc");
    ROW(cudnnNormalizationForwardInference, INFER(1, 0, 0, o.chan, o.chan, o.y, 1), BAD, "yDesc");
    ROW(cudnnNormalizationForwardTraining, TRAIN(2, 0, 0, o.chan, o.chan, o.x, 1), NOSUP, "mode is 2");
    ROW(cudnnNormalizationForwardTraining, TRAIN(1, 0, 0, o.bias, o.chan, o.x, 1), BAD, "normScaleBiasDesc");
    ROW(cudnnNormalizationForwardTraining, TRAIN(1, 0, 0, o.chan, o.chan, o.x, 0), NOSUP, "groupCnt is 0");
    ROW(cudnnNormalizationBackward, BACK(2, 0, 0, o.chan, o.chan, o.x, 1), NOSUP, "mode is 2");
    ROW(cudnnNormalizationBackward, BACK(1, 0, 0, o.chan, o.chan, o.y, 1), BAD, "dyDesc");
    ROW(cudnnNormalizationBackward, BACK(1, 0, 0, o.bias, o.chan, o.x, 1), BAD, "dNormScaleBiasDesc");
    if (api_ours) {
        ROW(cudnnNormalizationForwardInference, INFER(1, 0, 0, o.chan, NULL, o.x, 1), BAD, "normMeanVarDesc is NULL");
        ROW(cudnnNormalizationForwardInference, INFER(1, 1, 0, o.chan, o.chan, o.x, 1), BAD, "activationDesc is NULL");
        ROW(cudnnGetNormalizationTrainingReserveSpaceSize, (h, 1, 0, 0, NULL, o.x, NULL, 1), BAD, "sizeInBytes is NULL");
        ROW(cudnnGetNormalizationForwardTrainingWorkspaceSize, (h, 1, 0, 0, o.x, NULL, o.x, o.chan, NULL, o.bias, &size, 1),
            BAD, "normMeanVarDesc");
        ROW(cudnnGetNormalizationBackwardWorkspaceSize, (h, 1, 0, 0, o.x, NULL, NULL, NULL, o.x, o.chan, NULL, o.chan, &size,
            1), BAD, "dyDesc is NULL");
    }
#undef INFER
#undef TRAIN
#undef BACK
    objects_free(&o);
    api_rows_done();
}

/* --- spatial transformer --- */

#define ST_REASON "the vendor's Set looks neither at the count of dimensions nor at the sizes"

static void spatial_desc(cudnnSpatialTransformerDescriptor_t d)
{
    const int dims[8] = {2, 4, 3, 3, 1, 1, 1, 1}, empty[4] = {2, 4, 0, 3}, negative[4] = {2, 4, 3, -3};
    ROW(cudnnCreateSpatialTransformerDescriptor, (NULL), BAD, "stDesc is NULL");
    ROW(cudnnDestroySpatialTransformerDescriptor, (NULL), OK, "");
    ROW(cudnnSetSpatialTransformerNdDescriptor, (NULL, 0, F32, 4, dims), BAD, "stDesc is NULL");
    ROW(cudnnSetSpatialTransformerNdDescriptor, (d, 1, F32, 4, dims), BAD, "samplerType is 1");
    ROW(cudnnSetSpatialTransformerNdDescriptor, (d, -1, F32, 4, dims), BAD, "samplerType is -1");
    ROW(cudnnSetSpatialTransformerNdDescriptor, (d, 0, I8, 4, dims), NOSUP, "dataType is 3");
    ROW(cudnnSetSpatialTransformerNdDescriptor, (d, 0, CUDNN_DATA_INT32, 4, dims), BAD, "dataType is 4");
    ROW(cudnnSetSpatialTransformerNdDescriptor, (d, 0, -1, 4, dims), BAD, "dataType is -1");
    ROW_V(cudnnSetSpatialTransformerNdDescriptor, (d, 0, F32, 5, dims), NOSUP, OK, ST_REASON, "nbDims is 5", "4");
    ROW_V(cudnnSetSpatialTransformerNdDescriptor, (d, 0, F32, 3, dims), BAD, OK, ST_REASON, "nbDims is 3", "4");
    ROW_V(cudnnSetSpatialTransformerNdDescriptor, (d, 0, F32, -1, dims), BAD, OK, ST_REASON, "nbDims is -1", "4");
    ROW_V(cudnnSetSpatialTransformerNdDescriptor, (d, 0, F32, 4, empty), BAD, OK, ST_REASON, "dimA[2] is 0");
    ROW_V(cudnnSetSpatialTransformerNdDescriptor, (d, 0, F32, 4, negative), BAD, OK, ST_REASON, "dimA[3] is -3");
    if (api_ours)
        ROW(cudnnSetSpatialTransformerNdDescriptor, (d, 0, F32, 4, NULL), BAD, "dimA is NULL");
    ROW(cudnnSpatialTfGridGeneratorForward, (NULL, d, dims, (void *)(uintptr_t)dims), BAD, "handle is NULL");
    ROW(cudnnSpatialTfGridGeneratorBackward, (NULL, d, dims, (void *)(uintptr_t)dims), BAD, "handle is NULL");
    CALL(cudnnSetSpatialTransformerNdDescriptor, (d, 0, F32, 4, dims));
}

void misuse_spatial(void **state)
{
    (void)state;
    objects o;
    cudnnSpatialTransformerDescriptor_t d;
    objects_make(&o);
    CALL(cudnnCreateSpatialTransformerDescriptor, (&d));
    if (api_ours)
        ROW(cudnnSpatialTfGridGeneratorForward, (NULL, d, NULL, NULL), BAD, "handle is NULL");
    spatial_desc(d);
    api_rows_done();
    cudnnHandle_t h = api_handle();
    void *x = api_alloc(4096), *y = api_alloc(4096), *grid = api_alloc(4096), *dx = api_alloc(4096), *dgrid = api_alloc(4096);
    const float *one = &o.one, *zero = &o.zero;
    CALL(cudnnSetTensor4dDescriptor, (o.t, NCHW, F32, 2, 4, 3, 3));
    ROW(cudnnSpatialTfGridGeneratorForward, (h, d, NULL, grid), BAD, "theta is NULL");
    ROW(cudnnSpatialTfGridGeneratorForward, (h, d, x, NULL), BAD, "grid is NULL");
    ROW(cudnnSpatialTfGridGeneratorBackward, (h, d, NULL, x), BAD, "dgrid is NULL");
    ROW(cudnnSpatialTfGridGeneratorBackward, (h, d, dgrid, NULL), BAD, "dtheta is NULL");
    ROW(cudnnSpatialTfSamplerForward, (h, d, one, o.x, NULL, grid, zero, o.t, y), BAD, "x is NULL");
    ROW(cudnnSpatialTfSamplerForward, (h, d, one, o.x, x, NULL, zero, o.t, y), BAD, "grid is NULL");
    ROW(cudnnSpatialTfSamplerForward, (h, d, one, o.x, x, grid, zero, o.t, NULL), BAD, "y is NULL");
    ROW(cudnnSpatialTfSamplerBackward, (h, d, one, o.x, x, zero, o.x, dx, one, o.t, NULL, grid, zero, dgrid), BAD, "dy is NULL");
    ROW(cudnnSpatialTfSamplerBackward, (h, d, one, o.x, x, zero, o.x, dx, one, o.t, y, grid, zero, NULL), BAD, "dgrid is NULL");
    if (api_ours) {
        ROW(cudnnSpatialTfGridGeneratorForward, (h, NULL, x, grid), BAD, "stDesc is NULL");
        ROW(cudnnSpatialTfSamplerForward, (h, d, one, o.x, x, grid, zero, o.x, y), BAD, "yDesc", "5", "3");
        ROW(cudnnSpatialTfSamplerForward, (h, d, one, o.x16, x, grid, zero, o.t, y), BAD, "xDesc", "f16");
        ROW(cudnnSpatialTfSamplerBackward, (h, d, one, o.x, x, zero, o.y, dx, one, o.t, y, grid, zero, dgrid), BAD, "dxDesc");
        ROW(cudnnSpatialTfSamplerBackward, (h, d, one, o.x, x, zero, o.x, dx, NULL, o.t, y, grid, zero, dgrid), BAD,
            "alphaDgrid is NULL");
    }
    CALL(cudnnDestroySpatialTransformerDescriptor, (d));
    objects_free(&o);
    api_rows_done();
}
