/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A device with no memory left. Every call of the library that needs some of the driver's (memory, a module, a function, an event) gets
 * OUT_OF_MEMORY, once for each such call of the driver: it answers ALLOC_FAILED and says so, the context stays usable, and
 * the same call works as soon as there is memory again.
 * The program stands in front of dlsym, through which the library finds the driver's functions. */
#define _GNU_SOURCE
#include "gpu.h"

#include <dlfcn.h>
#include <string.h>

#define P(ptr) ((void *)(uintptr_t)(ptr))

static int armed;      /* inside a call of the library */
static int countdown;  /* driver calls until the one that fails */
static int failed;     /* it came that far */

static int out_of_memory(void)
{
    if (!armed || countdown-- != 0)
        return 0;
    failed = 1;
    return 2;  /* CUDA_ERROR_OUT_OF_MEMORY */
}

/* --- the driver's functions that take memory --- */

static int (*real_alloc)(gpu_ptr *, size_t);
static int (*real_load)(void **, const void *);
static int (*real_function)(void **, void *, const char *);
static int (*real_event)(void **, unsigned);

static int alloc(gpu_ptr *p, size_t size)
{
    int rc = out_of_memory();
    return rc ? rc : real_alloc(p, size);
}

static int load(void **m, const void *image)
{
    int rc = out_of_memory();
    return rc ? rc : real_load(m, image);
}

static int function(void **f, void *m, const char *name)
{
    int rc = out_of_memory();
    return rc ? rc : real_function(f, m, name);
}

static int event(void **e, unsigned flags)
{
    int rc = out_of_memory();
    return rc ? rc : real_event(e, flags);
}

static const struct { const char *name; void *real, *mine; } wrapped[] = {
    { "cuMemAlloc_v2", &real_alloc, (void *)(uintptr_t)alloc }, { "cuModuleLoadData", &real_load, (void *)(uintptr_t)load },
    { "cuModuleGetFunction", &real_function, (void *)(uintptr_t)function }, { "cuEventCreate", &real_event, (void *)(uintptr_t)event },
};

/* Exported (CMakeLists.txt), so that the library finds this one before the C library's. */
void *dlsym(void *restrict lib, const char *restrict name)
{
    static void *(*next)(void *, const char *);
    if (!next) {
        void *f = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        if (!f)
            f = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        if (!f)
            f = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
        memcpy(&next, &f, sizeof f);
    }
    void *f = next(lib, name);
    for (size_t i = 0; f && i < sizeof wrapped / sizeof *wrapped; i++)
        if (strcmp(name, wrapped[i].name) == 0) {
            memcpy(wrapped[i].real, &f, sizeof f);
            return wrapped[i].mine;
        }
    return f;
}

/* --- operations --- */

static gpu_ptr x, y, w, states;
static const float one = 1, zero = 0;
static int failures, first;  /* of all calls; driver calls that the first try of a call lets through */

static bool says_memory(void)
{
    return !api_ours || strstr(api_error(), "OUT_OF_MEMORY") || strstr(api_error(), "has not that much memory free");
}

/* The call fails at its driver calls one after the other, then works. */
#define TRY(f, arguments)                                                                             \
    do {                                                                                              \
        for (int n_ = first;; n_++) {                                                                 \
            countdown = n_;                                                                           \
            failed = 0;                                                                               \
            armed = 1;                                                                                \
            cudnnStatus_t st_ = api.f arguments;                                                      \
            armed = 0;                                                                                \
            if (!failed) {                                                                            \
                api_must(__FILE__, __LINE__, #f, st_);                                                \
                break;                                                                                \
            }                                                                                         \
            failures++;                                                                               \
            if (st_ == OK)                                                                            \
                break;                                                                                \
            if (api_class(st_) != api_class(CUDNN_STATUS_ALLOC_FAILED) || !says_memory())             \
                fail_msg("%s: %s, %s", #f, api_status(st_), api_error());                             \
        }                                                                                             \
    } while (0)

static void images(cudnnHandle_t h, cudnnTensorDescriptor_t t, cudnnTensorDescriptor_t half, cudnnTensorDescriptor_t channels)
{
    cudnnPoolingDescriptor_t pool;
    cudnnActivationDescriptor_t act;
    cudnnReduceTensorDescriptor_t sum;
    gpu_ptr space = x + (1 << 20);
    CALL(cudnnCreatePoolingDescriptor, (&pool));
    CALL(cudnnSetPooling2dDescriptor, (pool, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2));
    CALL(cudnnCreateActivationDescriptor, (&act));
    CALL(cudnnSetActivationDescriptor, (act, CUDNN_ACTIVATION_TANH, CUDNN_NOT_PROPAGATE_NAN, 0));
    CALL(cudnnCreateReduceTensorDescriptor, (&sum));
    CALL(cudnnSetReduceTensorDescriptor, (sum, CUDNN_REDUCE_TENSOR_ADD, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN, CUDNN_REDUCE_TENSOR_NO_INDICES,
                                          CUDNN_32BIT_INDICES));
    TRY(cudnnActivationForward, (h, act, &one, t, P(x), &zero, t, P(y)));
    TRY(cudnnPoolingForward, (h, pool, &one, t, P(x), &zero, half, P(y)));
    TRY(cudnnSoftmaxForward, (h, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one, t, P(x), &zero, t, P(y)));
    TRY(cudnnBatchNormalizationForwardTraining, (h, CUDNN_BATCHNORM_SPATIAL, &one, &zero, t, P(x), t, P(y), channels, P(w), P(w), 1, P(w), P(w),
                                                 1e-5, NULL, NULL));
    TRY(cudnnAddTensor, (h, &one, channels, P(w), &one, t, P(y)));
    TRY(cudnnReduceTensor, (h, sum, NULL, 0, P(space), 1 << 20, &one, t, P(x), &zero, channels, P(y)));
    CALL(cudnnDestroyPoolingDescriptor, (pool));
    CALL(cudnnDestroyActivationDescriptor, (act));
    CALL(cudnnDestroyReduceTensorDescriptor, (sum));
}

static void others(cudnnHandle_t h, cudnnTensorDescriptor_t t)
{
    cudnnDropoutDescriptor_t drop;
    cudnnFilterDescriptor_t filter;
    cudnnConvolutionDescriptor_t conv;
    gpu_ptr space = x + (1 << 20);
    size_t size = 0;
    int n = 0;
    cudnnConvolutionFwdAlgoPerf_t perf[8];
    CALL(cudnnCreateFilterDescriptor, (&filter));
    CALL(cudnnSetFilter4dDescriptor, (filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 8, 8, 3, 3));
    CALL(cudnnCreateConvolutionDescriptor, (&conv));
    CALL(cudnnSetConvolution2dDescriptor, (conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    CALL(cudnnGetConvolutionForwardWorkspaceSize, (h, t, filter, conv, t, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, &size));
    assert_true(size <= 1 << 20);
    TRY(cudnnConvolutionForward, (h, &one, t, P(x), filter, P(w), conv, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, P(space), size, &zero, t, P(y)));
    TRY(cudnnFindConvolutionForwardAlgorithm, (h, t, filter, conv, t, 8, &n, perf));
    CALL(cudnnCreateDropoutDescriptor, (&drop));
    TRY(cudnnSetDropoutDescriptor, (drop, h, 0.5f, P(states), 4096, 1));
    TRY(cudnnDropoutForward, (h, drop, t, P(x), t, P(y), P(space), 1 << 20));
    CALL(cudnnDestroyDropoutDescriptor, (drop));
    CALL(cudnnDestroyFilterDescriptor, (filter));
    CALL(cudnnDestroyConvolutionDescriptor, (conv));
}

/* A context of its own: modules live in contexts, so everything is loaded again. */
static void round_of_calls(void)
{
    gpu_context before, own;
    cudnnHandle_t h = NULL;
    cudnnTensorDescriptor_t t, half, channels;
    CU(CtxGetCurrent(&before));
    CU(CtxCreate(&own, 0, 0));
    CU(MemAlloc(&x, 2 << 20));
    CU(MemAlloc(&y, 1 << 20));
    CU(MemAlloc(&w, 1 << 16));
    CU(MemAlloc(&states, 4096));
    CALL(cudnnCreateTensorDescriptor, (&t));
    CALL(cudnnSetTensor4dDescriptor, (t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 8, 20, 20));
    CALL(cudnnCreateTensorDescriptor, (&half));
    CALL(cudnnSetTensor4dDescriptor, (half, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 8, 10, 10));
    CALL(cudnnCreateTensorDescriptor, (&channels));
    CALL(cudnnSetTensor4dDescriptor, (channels, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 8, 1, 1));
    TRY(cudnnCreate, (&h));
    images(h, t, half, channels);
    others(h, t);
    CALL(cudnnDestroy, (h));
    CALL(cudnnDestroyTensorDescriptor, (t));
    CALL(cudnnDestroyTensorDescriptor, (half));
    CALL(cudnnDestroyTensorDescriptor, (channels));
    CU(CtxSynchronize());
    CU(CtxDestroy(own));
    CU(CtxSetCurrent(before));
}

static void every_call_fails_once(void **state)
{
    (void)state;
    for (first = 0; first < 4; first++) {
        failures = 0;
        round_of_calls();
        printf("%d failures where the first try of a call lets %d through\n", failures, first);
        assert_true(first > 1 || failures > 6);
    }
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = { cmocka_unit_test(every_call_fails_once) };
    int code = gpu_open();
    if (code)
        return code;
    if (!api_open(argc, argv))
        return 2;
    return cmocka_run_group_tests_name(argv[0], tests, NULL, NULL);
}
