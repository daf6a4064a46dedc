/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Misuse of pooling, activation, softmax, batch normalisation, dropout and the pointwise operations. */
#include "misuse.h"

#include <math.h>

#define MAXP CUDNN_POOLING_MAX
#define PROP CUDNN_PROPAGATE_NAN
#define CHANCE "a probability lies in 0 to 1; the vendor keeps any number"
#define PAD_REASON "a window that lies wholly in the padding has no maximum and no average"

void misuse_pool_desc(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    const int z[8] = {0}, i1[8] = {1, 1, 1, 1, 1, 1, 1, 1}, i2[8] = {2, 2, 2, 2, 2, 2, 2, 2}, neg[2] = {0, -1}, second0[2] = {1, 0};
    cudnnPoolingMode_t mode;
    cudnnNanPropagation_t nan_opt;
    int a[8], b[8], c[8], n;

    ROW(cudnnCreatePoolingDescriptor, (NULL), BAD, "poolingDesc is NULL");
    ROW(cudnnDestroyPoolingDescriptor, (NULL), OK, "");
    ROW(cudnnSetPooling2dDescriptor, (NULL, MAXP, PROP, 2, 2, 0, 0, 1, 1), BAD, "poolingDesc is NULL");
    ROW(cudnnSetPooling2dDescriptor, (o.poolt, 4, PROP, 2, 2, 0, 0, 1, 1), BAD, "mode", "4");
    ROW(cudnnSetPooling2dDescriptor, (o.poolt, -1, PROP, 2, 2, 0, 0, 1, 1), BAD, "mode", "-1");
    ROW(cudnnSetPooling2dDescriptor, (o.poolt, MAXP, 2, 2, 2, 0, 0, 1, 1), BAD, "maxpoolingNanOpt", "2");
    ROW(cudnnSetPooling2dDescriptor, (o.poolt, MAXP, PROP, 0, 2, 0, 0, 1, 1), BAD, "windowHeight is 0");
    ROW(cudnnSetPooling2dDescriptor, (o.poolt, MAXP, PROP, 2, -2, 0, 0, 1, 1), BAD, "windowWidth is -2");
    ROW(cudnnSetPooling2dDescriptor, (o.poolt, MAXP, PROP, 2, 2, 0, 0, 0, 1), BAD, "verticalStride is 0");
    ROW(cudnnSetPooling2dDescriptor, (o.poolt, MAXP, PROP, 2, 2, 0, 0, 1, -1), BAD, "horizontalStride is -1");
    ROW_V(cudnnSetPooling2dDescriptor, (o.poolt, MAXP, PROP, 2, 2, -1, 0, 1, 1), BAD, OK, "negative padding is documented as an error",
          "verticalPadding is -1");
    ROW_V(cudnnSetPooling2dDescriptor, (o.poolt, MAXP, PROP, 2, 2, 0, 2, 1, 1), BAD, OK, PAD_REASON, "horizontalPadding is 2", "2");
    ROW_V(cudnnSetPooling2dDescriptor, (o.poolt, MAXP, PROP, 2, 2, 5, 0, 1, 1), BAD, OK, PAD_REASON, "verticalPadding is 5"); /* L30 */
    ROW(cudnnSetPoolingNdDescriptor, (NULL, MAXP, PROP, 2, i2, z, i1), BAD, "poolingDesc is NULL");
    ROW(cudnnSetPoolingNdDescriptor, (o.poolt, 9, PROP, 2, i2, z, i1), BAD, "mode", "9");
    ROW(cudnnSetPoolingNdDescriptor, (o.poolt, MAXP, 9, 2, i2, z, i1), BAD, "maxpoolingNanOpt", "9");
    ROW(cudnnSetPoolingNdDescriptor, (o.poolt, MAXP, PROP, 0, i2, z, i1), BAD, "nbDims is 0");
    ROW(cudnnSetPoolingNdDescriptor, (o.poolt, MAXP, PROP, -1, i2, z, i1), BAD, "nbDims is -1");
    ROW(cudnnSetPoolingNdDescriptor, (o.poolt, MAXP, PROP, 7, i2, z, i1), NOSUP, "nbDims is 7", "6");
    ROW(cudnnSetPoolingNdDescriptor, (o.poolt, MAXP, PROP, 2, second0, z, i1), BAD, "windowDimA[1] is 0");
    ROW_V(cudnnSetPoolingNdDescriptor, (o.poolt, MAXP, PROP, 2, i2, neg, i1), BAD, OK, "negative padding is documented as an error",
          "paddingA[1] is -1");
    ROW_V(cudnnSetPoolingNdDescriptor, (o.poolt, MAXP, PROP, 2, i1, i1, i1), BAD, OK, PAD_REASON, "paddingA[0] is 1");
    ROW(cudnnSetPoolingNdDescriptor, (o.poolt, MAXP, PROP, 2, i2, z, second0), BAD, "strideA[1] is 0");
    ROW(cudnnGetPooling2dDescriptor, (NULL, &mode, &nan_opt, a, a, a, a, a, a), BAD, "poolingDesc is NULL");
    ROW(cudnnGetPoolingNdDescriptor, (NULL, 2, &mode, &nan_opt, &n, a, b, c), BAD, "poolingDesc is NULL");
    ROW(cudnnGetPoolingNdDescriptor, (o.pool, 9, &mode, &nan_opt, &n, a, b, c), NOSUP, "nbDimsRequested is 9");
    if (api_ours) {
        ROW(cudnnSetPoolingNdDescriptor, (o.poolt, MAXP, PROP, 2, NULL, z, i1), BAD, "windowDimA is NULL");
        ROW(cudnnSetPoolingNdDescriptor, (o.poolt, MAXP, PROP, 2, i2, NULL, i1), BAD, "paddingA is NULL");
        ROW(cudnnSetPoolingNdDescriptor, (o.poolt, MAXP, PROP, 2, i2, z, NULL), BAD, "strideA is NULL");
        ROW(cudnnGetPooling2dDescriptor, (o.pool, NULL, &nan_opt, a, a, a, a, a, a), BAD, "mode is NULL");
        ROW(cudnnGetPoolingNdDescriptor, (o.pool, 2, &mode, &nan_opt, NULL, a, b, c), BAD, "nbDims is NULL");
        ROW(cudnnGetPoolingNdDescriptor, (o.pool, 2, &mode, &nan_opt, &n, NULL, b, c), BAD, "windowDimA is NULL");
    }
    objects_free(&o);
    api_rows_done();
}

static void pool_dims(objects *o)
{
    int n, c, h, w, d[8];
    const int i1[3] = {1, 1, 1}, z[3] = {0};

    ROW(cudnnGetPooling2dForwardOutputDim, (o->pool, o->x, &n, &c, &h, &w), OK, "");
    ROW(cudnnGetPooling2dForwardOutputDim, (NULL, o->x, &n, &c, &h, &w), BAD, "poolingDesc is NULL");
    ROW(cudnnGetPooling2dForwardOutputDim, (o->pool_never, o->x, &n, &c, &h, &w), BAD, "poolingDesc", "set");
    ROW(cudnnGetPooling2dForwardOutputDim, (o->pool, o->never, &n, &c, &h, &w), BAD, "inputTensorDesc", "set");
    ROW(cudnnGetPoolingNdForwardOutputDim, (NULL, o->x, 4, d), BAD, "poolingDesc is NULL");
    ROW(cudnnGetPoolingNdForwardOutputDim, (o->pool, o->x, 3, d), BAD, "nbDims is 3", "4");
    ROW(cudnnGetPoolingNdForwardOutputDim, (o->pool, o->x, 5, d), BAD, "nbDims is 5", "4");
    CALL(cudnnSetPooling2dDescriptor, (o->poolt, MAXP, PROP, 6, 2, 0, 0, 1, 1));  /* window higher than the image */
    ROW(cudnnGetPooling2dForwardOutputDim, (o->poolt, o->x, &n, &c, &h, &w), BAD, "0");
    ROW(cudnnGetPoolingNdForwardOutputDim, (o->poolt, o->x, 4, d), BAD, "0");
    CALL(cudnnSetPoolingNdDescriptor, (o->poolt, MAXP, PROP, 3, i1, z, i1));
    ROW(cudnnGetPooling2dForwardOutputDim, (o->poolt, o->x, &n, &c, &h, &w), BAD, "3");
    if (api_ours) {
        ROW(cudnnGetPooling2dForwardOutputDim, (o->pool, NULL, &n, &c, &h, &w), BAD, "inputTensorDesc is NULL");
        ROW(cudnnGetPooling2dForwardOutputDim, (o->pool, o->x, NULL, &c, &h, &w), BAD, "n is NULL");
        ROW(cudnnGetPoolingNdForwardOutputDim, (o->pool, o->x, 4, NULL), BAD, "is NULL");
    }
}

void misuse_pool(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    pool_dims(&o);
    api_rows_done();
    cudnnHandle_t h = api_handle();
    void *x = api_alloc(4096), *y = api_alloc(4096), *dy = api_alloc(4096), *dx = api_alloc(4096);
    const float *one = &o.one, *zero = &o.zero;

    ROW(cudnnPoolingForward, (NULL, o.pool, one, o.x, x, zero, o.pooled, y), BAD, "handle is NULL");
    ROW(cudnnPoolingForward, (h, NULL, one, o.x, x, zero, o.pooled, y), BAD, "poolingDesc is NULL");
    ROW(cudnnPoolingForward, (h, o.pool, one, NULL, x, zero, o.pooled, y), BAD, "xDesc is NULL");
    ROW(cudnnPoolingForward, (h, o.pool, one, o.x, x, zero, NULL, y), BAD, "yDesc is NULL");
    ROW(cudnnPoolingForward, (h, o.pool_never, one, o.x, x, zero, o.pooled, y), BAD, "poolingDesc", "set");
    ROW_V(cudnnPoolingForward, (h, o.pool, one, o.x, x, zero, o.x, y), BAD, OK, "the vendor pools as many windows as yDesc has; ours wants each to begin before the end of the input", "yDesc", "5", "3");
    ROW(cudnnPoolingForward, (h, o.pool, one, o.x5d, x, zero, o.pooled, y), BAD, "xDesc");
    if (api_ours) {
        ROW(cudnnPoolingForward, (h, o.pool, NULL, o.x, x, zero, o.pooled, y), BAD, "alpha is NULL");
        ROW(cudnnPoolingForward, (h, o.pool, one, o.x, NULL, zero, o.pooled, y), BAD, "x is NULL");
        ROW(cudnnPoolingForward, (h, o.pool, one, o.x, x, zero, o.pooled, NULL), BAD, "y is NULL");
        ROW(cudnnPoolingForward, (h, o.pool_dead, one, o.x, x, zero, o.pooled, y), BAD, "poolingDesc", "destroyed");
        ROW(cudnnPoolingForward, (h, o.pool, one, o.x16, x, zero, o.pooled, y), BAD, "xDesc", "yDesc");
        ROW(cudnnPoolingBackward, (h, o.pool, one, o.pooled, y, o.pooled, NULL, o.x, x, zero, o.x, dx), BAD, "dy is NULL");
        ROW(cudnnPoolingBackward, (h, o.pool, one, o.pooled, y, o.pooled, dy, o.x, x, zero, o.x, NULL), BAD, "dx is NULL");
    }
    ROW(cudnnPoolingBackward, (h, o.pool, one, o.pooled, y, o.x, dy, o.x, x, zero, o.x, dx), BAD, "dyDesc");
    ROW(cudnnPoolingBackward, (h, o.pool, one, NULL, y, o.pooled, dy, o.x, x, zero, o.x, dx), BAD, "yDesc is NULL");
    ROW(cudnnPoolingBackward, (h, o.pool, one, o.pooled, y, o.pooled, dy, o.x, x, zero, NULL, dx), BAD, "dxDesc is NULL");
    objects_free(&o);
    api_rows_done();
}

static void act_desc(objects *o)
{
    cudnnActivationMode_t mode;
    cudnnNanPropagation_t nan_opt;
    double coef;

    ROW(cudnnCreateActivationDescriptor, (NULL), BAD, "activationDesc is NULL");
    ROW(cudnnDestroyActivationDescriptor, (NULL), OK, "");
    ROW(cudnnSetActivationDescriptor, (NULL, CUDNN_ACTIVATION_RELU, PROP, 0.0), BAD, "activationDesc is NULL");
    ROW(cudnnSetActivationDescriptor, (o->actt, 7, PROP, 0.0), BAD, "mode", "7");
    ROW(cudnnSetActivationDescriptor, (o->actt, -1, PROP, 0.0), BAD, "mode", "-1");
    ROW(cudnnSetActivationDescriptor, (o->actt, CUDNN_ACTIVATION_RELU, 2, 0.0), BAD, "reluNanOpt", "2");
    ROW(cudnnGetActivationDescriptor, (NULL, &mode, &nan_opt, &coef), BAD, "activationDesc is NULL");
    ROW(cudnnSetActivationDescriptorSwishBeta, (NULL, 1.0), BAD, "activationDesc is NULL");
    ROW(cudnnGetActivationDescriptorSwishBeta, (NULL, &coef), BAD, "activationDesc is NULL");
    ROW(cudnnGetActivationDescriptorSwishBeta, (o->act, NULL), BAD, "swish_beta is NULL");
    if (api_ours)
        ROW(cudnnGetActivationDescriptor, (o->act, NULL, &nan_opt, &coef), BAD, "mode is NULL");
}

void misuse_act(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    act_desc(&o);
    api_rows_done();
    cudnnHandle_t h = api_handle();
    void *x = api_alloc(4096), *y = api_alloc(4096), *dy = api_alloc(4096), *dx = api_alloc(4096);
    const float *one = &o.one, *zero = &o.zero;

    ROW(cudnnActivationForward, (NULL, o.act, one, o.x, x, zero, o.x, y), BAD, "handle is NULL");
    ROW(cudnnActivationForward, (h, NULL, one, o.x, x, zero, o.x, y), BAD, "activationDesc is NULL");
    ROW(cudnnActivationForward, (h, o.act, one, NULL, x, zero, o.x, y), BAD, "xDesc is NULL");
    ROW(cudnnActivationForward, (h, o.act, one, o.x, x, zero, NULL, y), BAD, "yDesc is NULL");
    ROW(cudnnActivationForward, (h, o.act, one, o.x, x, zero, o.y, y), BAD, "xDesc", "yDesc");
    if (api_ours) {
        ROW(cudnnActivationForward, (h, o.act_never, one, o.x, x, zero, o.x, y), BAD, "activationDesc", "set");
        ROW(cudnnActivationForward, (h, o.act_dead, one, o.x, x, zero, o.x, y), BAD, "activationDesc", "destroyed");
        ROW(cudnnActivationForward, (h, o.act, one, o.x, NULL, zero, o.x, y), BAD, "x is NULL");
        ROW(cudnnActivationForward, (h, o.act, one, o.x, x, zero, o.x, NULL), BAD, "y is NULL");
        ROW(cudnnActivationForward, (h, o.act, NULL, o.x, x, zero, o.x, y), BAD, "alpha is NULL");
        ROW(cudnnActivationBackward, (h, o.act, one, o.x, NULL, o.x, dy, o.x, x, zero, o.x, dx), BAD, "y is NULL");
        ROW(cudnnActivationBackward, (h, o.act, one, o.x, y, o.x, NULL, o.x, x, zero, o.x, dx), BAD, "dy is NULL");
    }
    ROW(cudnnActivationForward, (h, o.act, one, o.x, x, zero, o.x16, y), BAD, "xDesc", "yDesc");
    ROW(cudnnActivationBackward, (h, o.act, one, o.x, y, o.y, dy, o.x, x, zero, o.x, dx), NOSUP, "dyDesc");
    ROW(cudnnActivationBackward, (h, o.act, one, o.x, y, o.x, dy, NULL, x, zero, o.x, dx), BAD, "xDesc is NULL");
    objects_free(&o);
    api_rows_done();
}

void misuse_softmax(void **state)
{
    (void)state;
    cudnnHandle_t h = api_handle();
    objects o;
    objects_make(&o);
    void *x = api_alloc(4096), *y = api_alloc(4096), *dx = api_alloc(4096);
    const float *one = &o.one, *zero = &o.zero;

    ROW(cudnnSoftmaxForward, (NULL, 1, 0, one, o.x, x, zero, o.x, y), BAD, "handle is NULL");
    ROW(cudnnSoftmaxForward, (h, 3, 0, one, o.x, x, zero, o.x, y), BAD, "algo", "3");
    ROW(cudnnSoftmaxForward, (h, -1, 0, one, o.x, x, zero, o.x, y), BAD, "algo", "-1");
    ROW(cudnnSoftmaxForward, (h, 1, 2, one, o.x, x, zero, o.x, y), BAD, "mode", "2");
    ROW(cudnnSoftmaxForward, (h, 1, 0, one, NULL, x, zero, o.x, y), BAD, "xDesc is NULL");
    ROW(cudnnSoftmaxForward, (h, 1, 0, one, o.x, x, zero, NULL, y), BAD, "yDesc is NULL");
    ROW(cudnnSoftmaxForward, (h, 1, 0, one, o.x, x, zero, o.y, y), BAD, "xDesc", "yDesc");
    ROW(cudnnSoftmaxForward, (h, 1, 0, one, o.x, x, zero, o.x16, y), BAD, "xDesc", "yDesc");
    if (api_ours) {
        ROW(cudnnSoftmaxForward, (h, 1, 0, one, o.never, x, zero, o.x, y), BAD, "xDesc", "set");
        ROW(cudnnSoftmaxForward, (h, 1, 0, NULL, o.x, x, zero, o.x, y), BAD, "alpha is NULL");
        ROW(cudnnSoftmaxForward, (h, 1, 0, one, o.x, NULL, zero, o.x, y), BAD, "x is NULL");
        ROW(cudnnSoftmaxBackward, (h, 1, 0, one, o.x, y, o.x, NULL, zero, o.x, dx), BAD, "dy is NULL");
    }
    ROW(cudnnSoftmaxBackward, (h, 9, 0, one, o.x, y, o.x, y, zero, o.x, dx), BAD, "algo", "9");
    ROW(cudnnSoftmaxBackward, (h, 1, 0, one, o.x, y, o.y, y, zero, o.x, dx), BAD, "yDesc", "dyDesc");
    ROW(cudnnSoftmaxBackward, (h, 1, 0, one, o.x, y, o.x, y, zero, NULL, dx), BAD, "dxDesc is NULL");
    objects_free(&o);
    api_rows_done();
}

static void derive_bn(objects *o)
{
    ROW(cudnnDeriveBNTensorDescriptor, (o->t, o->x, 0), OK, "");
    ROW(cudnnDeriveBNTensorDescriptor, (o->t, o->x, 3), BAD, "mode", "3");
    ROW(cudnnDeriveBNTensorDescriptor, (o->t, o->x, -1), BAD, "mode", "-1");
    ROW(cudnnDeriveBNTensorDescriptor, (NULL, o->x, 0), BAD, "derivedBnDesc is NULL");
    ROW(cudnnDeriveBNTensorDescriptor, (o->t, o->never, 0), BAD, "xDesc", "set");
    if (api_ours)
        ROW(cudnnDeriveBNTensorDescriptor, (o->t, NULL, 0), BAD, "xDesc is NULL");
}

void misuse_batchnorm(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    derive_bn(&o);
    api_rows_done();
    cudnnHandle_t h = api_handle();
    void *x = api_alloc(4096), *y = api_alloc(4096), *s = api_alloc(64), *b = api_alloc(64), *m = api_alloc(64), *v = api_alloc(64);
    void *dx = api_alloc(4096);
    const float *one = &o.one, *zero = &o.zero;
#define INFER(mode, xd, xp, yd, pd, sp, eps) (h, mode, one, zero, xd, xp, yd, y, pd, sp, b, m, v, eps)
#define TRAIN(mode, xp, yd, pd, factor, mp, eps) (h, mode, one, zero, o.x, xp, yd, y, pd, s, b, factor, mp, v, eps, NULL, NULL)
#define BACK(mode, dyd, dyp, pd, eps) (h, mode, one, zero, one, zero, o.x, x, dyd, dyp, o.x, dx, pd, s, m, v, eps, NULL, NULL)

    ROW(cudnnBatchNormalizationForwardInference, INFER(3, o.x, x, o.x, o.chan, s, 1e-3), BAD, "mode", "3");
    ROW(cudnnBatchNormalizationForwardInference, INFER(1, NULL, x, o.x, o.chan, s, 1e-3), BAD, "xDesc is NULL");
    ROW(cudnnBatchNormalizationForwardInference, INFER(1, o.x, NULL, o.x, o.chan, s, 1e-3), BAD, "x is NULL");
    ROW(cudnnBatchNormalizationForwardInference, INFER(1, o.x, x, o.y, o.chan, s, 1e-3), BAD, "xDesc", "yDesc");
    ROW(cudnnBatchNormalizationForwardInference, INFER(1, o.x, x, o.x, o.bias, s, 1e-3), BAD, "bnScaleBiasMeanVarDesc");
    ROW(cudnnBatchNormalizationForwardInference, INFER(0, o.x, x, o.x, o.chan, s, 1e-3), BAD, "bnScaleBiasMeanVarDesc");
    ROW(cudnnBatchNormalizationForwardInference, INFER(1, o.x, x, o.x, o.chan, NULL, 1e-3), BAD, "bnScale is NULL");
    ROW(cudnnBatchNormalizationForwardInference, INFER(1, o.x, x, o.x, o.chan, s, -1.0), BAD, "epsilon");
    ROW(cudnnBatchNormalizationForwardInference, INFER(1, o.x, x, o.x, NULL, s, 1e-3), BAD, "bnScaleBiasMeanVarDesc is NULL");
    ROW(cudnnBatchNormalizationForwardTraining, TRAIN(3, x, o.x, o.chan, 1.0, m, 1e-3), BAD, "mode", "3");
    ROW(cudnnBatchNormalizationForwardTraining, TRAIN(1, NULL, o.x, o.chan, 1.0, m, 1e-3), BAD, "x is NULL");
    ROW(cudnnBatchNormalizationForwardTraining, TRAIN(1, x, o.y, o.chan, 1.0, m, 1e-3), BAD, "yDesc");
    ROW(cudnnBatchNormalizationForwardTraining, TRAIN(1, x, o.x, o.bias, 1.0, m, 1e-3), BAD, "bnScaleBiasMeanVarDesc");
    ROW_V(cudnnBatchNormalizationForwardTraining, TRAIN(1, x, o.x, o.chan, 1.0, NULL, 1e-3), BAD, OK, "documented: both running statistics or neither", "resultRunning");
    ROW(cudnnBatchNormalizationForwardTraining, TRAIN(1, x, o.x, o.chan, 1.0, m, -1e-3), BAD, "epsilon");
    ROW(cudnnBatchNormalizationBackward, BACK(-1, o.x, x, o.chan, 1e-3), BAD, "mode", "-1");
    ROW(cudnnBatchNormalizationBackward, BACK(1, o.y, x, o.chan, 1e-3), BAD, "dyDesc");
    ROW(cudnnBatchNormalizationBackward, BACK(1, o.x, NULL, o.chan, 1e-3), BAD, "dy is NULL");
    ROW(cudnnBatchNormalizationBackward, BACK(1, o.x, x, o.bias, 1e-3), BAD, "dBnScaleBiasDesc");
    ROW(cudnnBatchNormalizationBackward, BACK(1, o.x, x, o.chan, -0.5), BAD, "epsilon");
    objects_free(&o);
    api_rows_done();
}

void misuse_dropout(void **state)
{
    (void)state;
    objects o;
    objects_make(&o);
    size_t size = 0, room = 0;
    float p;
    void *states;
    unsigned long long seed;
    ROW(cudnnCreateDropoutDescriptor, (NULL), BAD, "dropoutDesc is NULL");
    ROW(cudnnDestroyDropoutDescriptor, (NULL), OK, "");
    ROW(cudnnDropoutGetReserveSpaceSize, (NULL, &size), BAD, "xdesc is NULL");
    ROW(cudnnDropoutGetStatesSize, (NULL, &size), BAD, "handle is NULL");
    ROW(cudnnSetDropoutDescriptor, (o.drop, NULL, 0.5f, NULL, 0, 0), BAD, "handle is NULL");
    ROW(cudnnGetDropoutDescriptor, (o.drop, NULL, &p, &states, &seed), BAD, "handle is NULL");
    ROW(cudnnRestoreDropoutDescriptor, (o.drop, NULL, 0.5f, NULL, 0, 0), BAD, "handle is NULL");
    if (api_ours)
        ROW(cudnnDropoutGetReserveSpaceSize, (o.x, NULL), BAD, "sizeInBytes is NULL");
    api_rows_done();
    cudnnHandle_t h = api_handle();
    CALL(cudnnDropoutGetStatesSize, (h, &size));
    CALL(cudnnDropoutGetReserveSpaceSize, (o.x, &room));
    void *st = api_alloc(size), *x = api_alloc(4096), *y = api_alloc(4096), *rs = api_alloc(room);

    ROW(cudnnDropoutGetStatesSize, (h, NULL), BAD, "sizeInBytes is NULL");
    ROW(cudnnSetDropoutDescriptor, (NULL, h, 0.5f, st, size, 1), BAD, "dropoutDesc is NULL");
    ROW_V(cudnnSetDropoutDescriptor, (o.drop, h, -0.5f, st, size, 1), BAD, OK, CHANCE, "dropout", "-0.5");
    ROW_V(cudnnSetDropoutDescriptor, (o.drop, h, 1.5f, st, size, 1), BAD, OK, CHANCE, "dropout", "1.5");
    ROW_V(cudnnSetDropoutDescriptor, (o.drop, h, NAN, st, size, 1), BAD, OK, CHANCE, "dropout", "nan");
    ROW(cudnnSetDropoutDescriptor, (o.drop, h, 0.5f, st, size - 1, 1), CUDNN_STATUS_INVALID_VALUE, "stateSizeInBytes");
    ROW(cudnnRestoreDropoutDescriptor, (o.drop, h, 0.5f, st, size - 1, 1), CUDNN_STATUS_INVALID_VALUE, "stateSizeInBytes");
    ROW(cudnnDropoutForward, (h, o.drop_never, o.x, x, o.x, y, rs, room), BAD, "dropoutDesc", "set");
    CALL(cudnnSetDropoutDescriptor, (o.drop, h, 0.5f, st, size, 1));
    ROW(cudnnDropoutForward, (NULL, o.drop, o.x, x, o.x, y, rs, room), BAD, "handle is NULL");
    ROW(cudnnDropoutForward, (h, NULL, o.x, x, o.x, y, rs, room), BAD, "dropoutDesc is NULL");
    ROW(cudnnDropoutForward, (h, o.drop, o.x, x, o.y, y, rs, room), BAD, "xdesc", "ydesc");
    ROW(cudnnDropoutForward, (h, o.drop, o.x, x, o.x, y, rs, room - 1), BAD, "reserveSpaceSizeInBytes");
    ROW(cudnnDropoutForward, (h, o.drop, o.x, x, o.x, y, NULL, room), BAD, "reserveSpace is NULL");
    ROW(cudnnDropoutForward, (h, o.drop, o.x, NULL, o.x, y, rs, room), BAD, "x is NULL");
    ROW(cudnnDropoutBackward, (h, o.drop, o.x, x, o.y, y, rs, room), BAD, "dydesc", "dxdesc");
    ROW(cudnnDropoutBackward, (h, o.drop, o.x, x, o.x, y, rs, 0), BAD, "reserveSpaceSizeInBytes");
    ROW(cudnnDropoutBackward, (h, o.drop, o.x, x, o.x, NULL, rs, room), BAD, "dx is NULL");
    objects_free(&o);
    api_rows_done();
}

void misuse_pointwise(void **state)
{
    (void)state;
    cudnnHandle_t h = api_handle();
    objects o;
    objects_make(&o);
    void *x = api_alloc(4096), *y = api_alloc(4096);
    const float *one = &o.one, *zero = &o.zero;

    ROW(cudnnAddTensor, (NULL, one, o.chan, x, one, o.x, y), BAD, "handle is NULL");
    ROW(cudnnAddTensor, (h, one, NULL, x, one, o.x, y), BAD, "aDesc is NULL");
    ROW(cudnnAddTensor, (h, one, o.chan, x, one, NULL, y), BAD, "cDesc is NULL");
    ROW(cudnnAddTensor, (h, one, o.bias, x, one, o.x, y), BAD, "aDesc", "6", "4");  /* L32: each dimension equal or 1 */
    ROW(cudnnAddTensor, (h, one, o.x, x, one, o.chan, y), BAD, "aDesc");
    ROW(cudnnSetTensor, (NULL, o.x, y, one), BAD, "handle is NULL");
    ROW(cudnnSetTensor, (h, NULL, y, one), BAD, "yDesc is NULL");
    ROW(cudnnSetTensor, (h, o.x, y, NULL), BAD, "valuePtr is NULL");
    ROW(cudnnScaleTensor, (NULL, o.x, y, one), BAD, "handle is NULL");
    ROW(cudnnScaleTensor, (h, NULL, y, one), BAD, "yDesc is NULL");
    ROW(cudnnScaleTensor, (h, o.x, y, NULL), BAD, "alpha is NULL");
    ROW(cudnnTransformTensor, (NULL, one, o.x, x, zero, o.x, y), BAD, "handle is NULL");
    ROW(cudnnTransformTensor, (h, one, NULL, x, zero, o.x, y), BAD, "xDesc is NULL");
    ROW(cudnnTransformTensor, (h, one, o.x, x, zero, o.y, y), BAD, "xDesc", "yDesc");
    ROW(cudnnTransformTensor, (h, NULL, o.x, x, zero, o.x, y), BAD, "alpha is NULL");
    if (api_ours) {
        ROW(cudnnAddTensor, (h, one, o.chan, NULL, one, o.x, y), BAD, "A is NULL");
        ROW(cudnnAddTensor, (h, one, o.chan, x, one, o.x, NULL), BAD, "C is NULL");
        ROW(cudnnAddTensor, (h, NULL, o.chan, x, one, o.x, y), BAD, "alpha is NULL");
        ROW(cudnnAddTensor, (h, one, o.dead, x, one, o.x, y), BAD, "aDesc", "destroyed");
        ROW(cudnnSetTensor, (h, o.x, NULL, one), BAD, "y is NULL");
        ROW(cudnnSetTensor, (h, o.never, y, one), BAD, "yDesc", "set");
        ROW(cudnnScaleTensor, (h, o.x, NULL, one), BAD, "y is NULL");
        ROW(cudnnTransformTensor, (h, one, o.x, NULL, zero, o.x, y), BAD, "x is NULL");
        ROW(cudnnTransformTensor, (h, one, o.x, x, zero, o.x, NULL), BAD, "y is NULL");
    }
    objects_free(&o);
    api_rows_done();
}
