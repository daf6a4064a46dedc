/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Every allocation of the library fails once: the call answers ALLOC_FAILED (or does without), nothing crashes, nothing is lost, and the
 * same calls work afterwards. The linker's --wrap puts the counters below in front of the C library's functions. */
#include "core/engine.h"

#include <anydnn.h>
#include <cudnn.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static long countdown = -1;   /* allocations until the one that fails; negative: none fails */
static long seen;
static int counting;          /* only inside the scenario: cmocka allocates too */

static int fails(void)
{
    if (!counting)
        return 0;
    seen++;
    return countdown >= 0 && countdown-- == 0;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
int __real_posix_memalign(void **p, size_t align, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
int __wrap_posix_memalign(void **p, size_t align, size_t n);

void *__wrap_malloc(size_t n) { return fails() ? NULL : __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t n) { return fails() ? NULL : __real_realloc(p, n); }
int __wrap_posix_memalign(void **p, size_t align, size_t n) { return fails() ? ENOMEM : __real_posix_memalign(p, align, n); }

/* --- one run over the operations; answers the first status that is not SUCCESS, with all objects destroyed --- */

typedef struct objects {
    cudnnHandle_t h;
    cudnnTensorDescriptor_t x, y, s, half;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t c;
    cudnnPoolingDescriptor_t p;
    cudnnActivationDescriptor_t a;
    cudnnDropoutDescriptor_t d;
} objects;

static float x[2 * 8 * 9 * 9], y[2 * 8 * 9 * 9], w[8 * 8 * 9], db[8], scale[8], bias[8], mean[8], var[8];
static unsigned char workspace[8 << 20], states[4096], mask[65536];
static const float one = 1, zero = 0;

#define DO(call)                        \
    do {                                \
        cudnnStatus_t st_ = (call);     \
        if (st_ != CUDNN_STATUS_SUCCESS) \
            return st_;                 \
    } while (0)

static cudnnStatus_t make(objects *o)
{
    DO(cudnnCreate(&o->h));
    DO(cudnnCreateTensorDescriptor(&o->x));
    DO(cudnnCreateTensorDescriptor(&o->y));
    DO(cudnnCreateTensorDescriptor(&o->s));
    DO(cudnnCreateTensorDescriptor(&o->half));
    DO(cudnnCreateFilterDescriptor(&o->w));
    DO(cudnnCreateConvolutionDescriptor(&o->c));
    DO(cudnnCreatePoolingDescriptor(&o->p));
    DO(cudnnCreateActivationDescriptor(&o->a));
    DO(cudnnCreateDropoutDescriptor(&o->d));
    DO(cudnnSetTensor4dDescriptor(o->x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 8, 9, 9));
    DO(cudnnSetTensor4dDescriptor(o->y, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 2, 8, 9, 9));
    DO(cudnnSetTensor4dDescriptor(o->s, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 8, 1, 1));
    DO(cudnnSetTensor4dDescriptor(o->half, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 8, 4, 4));
    DO(cudnnSetFilter4dDescriptor(o->w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 8, 8, 3, 3));
    DO(cudnnSetConvolution2dDescriptor(o->c, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    DO(cudnnSetPooling2dDescriptor(o->p, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2));
    return cudnnSetActivationDescriptor(o->a, CUDNN_ACTIVATION_TANH, CUDNN_NOT_PROPAGATE_NAN, 0);
}

static cudnnStatus_t convolutions(objects *o)
{
    for (int algo = 0; algo < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; algo++) {
        cudnnStatus_t st = cudnnConvolutionForward(o->h, &one, o->x, x, o->w, w, o->c, (cudnnConvolutionFwdAlgo_t)algo, workspace,
                                                   sizeof workspace, &zero, o->y, y);
        if (st != CUDNN_STATUS_SUCCESS && st != CUDNN_STATUS_NOT_SUPPORTED)
            return st;
    }
    for (int algo = 0; algo < CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT; algo++) {
        cudnnStatus_t st = cudnnConvolutionBackwardData(o->h, &one, o->w, w, o->y, y, o->c, (cudnnConvolutionBwdDataAlgo_t)algo,
                                                        workspace, sizeof workspace, &zero, o->x, x);
        if (st != CUDNN_STATUS_SUCCESS && st != CUDNN_STATUS_NOT_SUPPORTED)
            return st;
    }
    for (int algo = 0; algo < CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT; algo++) {
        cudnnStatus_t st = cudnnConvolutionBackwardFilter(o->h, &one, o->x, x, o->y, y, o->c, (cudnnConvolutionBwdFilterAlgo_t)algo,
                                                          workspace, sizeof workspace, &zero, o->w, w);
        if (st != CUDNN_STATUS_SUCCESS && st != CUDNN_STATUS_NOT_SUPPORTED)
            return st;
    }
    return cudnnConvolutionBackwardBias(o->h, &one, o->y, y, &zero, o->s, db);
}

static cudnnStatus_t find(objects *o)
{
    cudnnConvolutionFwdAlgoPerf_t perf[8];
    int n = 0;
    DO(cudnnFindConvolutionForwardAlgorithm(o->h, o->x, o->w, o->c, o->y, 8, &n, perf));
    /* An algorithm whose workspace cannot be had is listed as such; one without must be left. */
    return n > 0 ? perf[0].status : CUDNN_STATUS_INTERNAL_ERROR;
}

static cudnnStatus_t others(objects *o)
{
    void *memory = NULL;
    DO(anydnnMalloc(o->h, 100, &memory));
    anydnnFree(o->h, memory);
    DO(cudnnPoolingForward(o->h, o->p, &one, o->x, x, &zero, o->half, y));
    DO(cudnnActivationForward(o->h, o->a, &one, o->x, x, &zero, o->y, y));
    DO(cudnnSoftmaxForward(o->h, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_CHANNEL, &one, o->x, x, &zero, o->y, y));
    DO(cudnnBatchNormalizationForwardTraining(o->h, CUDNN_BATCHNORM_SPATIAL, &one, &zero, o->x, x, o->y, y, o->s, scale, bias, 0.1, mean,
                                              var, 1e-5, NULL, NULL));
    DO(cudnnTransformTensor(o->h, &one, o->x, x, &zero, o->y, y));
    DO(cudnnAddTensor(o->h, &one, o->s, bias, &one, o->y, y));
    DO(cudnnSetDropoutDescriptor(o->d, o->h, 0.5f, states, sizeof states, 1));
    return cudnnDropoutForward(o->h, o->d, o->x, x, o->x, y, mask, sizeof mask);
}

static cudnnStatus_t scenario(void)
{
    objects o;
    memset(&o, 0, sizeof o);
    counting = 1;
    cudnnStatus_t st = make(&o);
    if (st == CUDNN_STATUS_SUCCESS)
        st = convolutions(&o);
    if (st == CUDNN_STATUS_SUCCESS)
        st = find(&o);
    if (st == CUDNN_STATUS_SUCCESS)
        st = others(&o);
    counting = 0;
    assert_int_equal(cudnnDestroyTensorDescriptor(o.x), CUDNN_STATUS_SUCCESS);
    assert_int_equal(cudnnDestroyTensorDescriptor(o.y), CUDNN_STATUS_SUCCESS);
    assert_int_equal(cudnnDestroyTensorDescriptor(o.s), CUDNN_STATUS_SUCCESS);
    assert_int_equal(cudnnDestroyTensorDescriptor(o.half), CUDNN_STATUS_SUCCESS);
    assert_int_equal(cudnnDestroyFilterDescriptor(o.w), CUDNN_STATUS_SUCCESS);
    assert_int_equal(cudnnDestroyConvolutionDescriptor(o.c), CUDNN_STATUS_SUCCESS);
    assert_int_equal(cudnnDestroyPoolingDescriptor(o.p), CUDNN_STATUS_SUCCESS);
    assert_int_equal(cudnnDestroyActivationDescriptor(o.a), CUDNN_STATUS_SUCCESS);
    assert_int_equal(cudnnDestroyDropoutDescriptor(o.d), CUDNN_STATUS_SUCCESS);
    assert_int_equal(cudnnDestroy(o.h), CUDNN_STATUS_SUCCESS);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    seen = 0;
    assert_int_equal(scenario(), CUDNN_STATUS_SUCCESS);
    long total = seen, refused = 0;
    assert_true(total > 30);
    for (long i = 0; i < total; i++) {
        countdown = i;
        cudnnStatus_t st = scenario();
        countdown = -1;
        if (st != CUDNN_STATUS_SUCCESS && st != CUDNN_STATUS_ALLOC_FAILED)
            fail_msg("allocation %ld of %ld failed: %s: %s", i, total, cudnnGetErrorString(st), anydnnGetLastErrorString());
        refused += st == CUDNN_STATUS_ALLOC_FAILED;
    }
    /* Else nothing was refused and the wrappers are not in the way of anything. */
    assert_true(refused > total / 4);
    assert_int_equal(scenario(), CUDNN_STATUS_SUCCESS);
}

int main(void)
{
    setenv("ANYDNN_ENGINE", "ref", 1);
    setenv("ANYDNN_THREADS", "2", 1);
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_may_fail) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
