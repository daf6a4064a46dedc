/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Algorithm queries, workspace, alpha and beta, guards: what holds for every algorithm. */
#include "cases.h"

#include <math.h>
#include <string.h>

typedef struct perf {
    int algo;
    cudnnStatus_t status;
    size_t memory;
    cudnnDeterminism_t determinism;
    cudnnMathType_t math;
} perf;

enum { ASK_GET, ASK_FIND, ASK_FIND_EX };

#define COPY(from) \
    for (int i = 0; i < n && i < 16; i++) \
        out[i] = (perf){(int)from[i].algo, from[i].status, from[i].memory, from[i].determinism, from[i].mathType}

static int ask_fwd(const conv *v, int how, perf *out, void *ws, size_t bytes)
{
    cudnnConvolutionFwdAlgoPerf_t r[16];
    cudnnHandle_t h = api_handle();
    int n = 0;
    if (how == ASK_GET)
        CALL(cudnnGetConvolutionForwardAlgorithm_v7, (h, v->x.desc, v->w.fdesc, v->desc, v->y.desc, 16, &n, r));
    else if (how == ASK_FIND)
        CALL(cudnnFindConvolutionForwardAlgorithm, (h, v->x.desc, v->w.fdesc, v->desc, v->y.desc, 16, &n, r));
    else
        CALL(cudnnFindConvolutionForwardAlgorithmEx, (h, v->x.desc, v->x.ptr, v->w.fdesc, v->w.ptr, v->desc, v->y.desc, v->y.ptr, 16,
                                                      &n, r, ws, bytes));
    COPY(r);
    return n;
}

static int ask_data(const conv *v, int how, perf *out, void *ws, size_t bytes)
{
    cudnnConvolutionBwdDataAlgoPerf_t r[16];
    cudnnHandle_t h = api_handle();
    int n = 0;
    if (how == ASK_GET)
        CALL(cudnnGetConvolutionBackwardDataAlgorithm_v7, (h, v->w.fdesc, v->y.desc, v->desc, v->x.desc, 16, &n, r));
    else if (how == ASK_FIND)
        CALL(cudnnFindConvolutionBackwardDataAlgorithm, (h, v->w.fdesc, v->y.desc, v->desc, v->x.desc, 16, &n, r));
    else
        CALL(cudnnFindConvolutionBackwardDataAlgorithmEx, (h, v->w.fdesc, v->w.ptr, v->y.desc, v->y.ptr, v->desc, v->x.desc, v->x.ptr,
                                                           16, &n, r, ws, bytes));
    COPY(r);
    return n;
}

static int ask_filter(const conv *v, int how, perf *out, void *ws, size_t bytes)
{
    cudnnConvolutionBwdFilterAlgoPerf_t r[16];
    cudnnHandle_t h = api_handle();
    int n = 0;
    if (how == ASK_GET)
        CALL(cudnnGetConvolutionBackwardFilterAlgorithm_v7, (h, v->x.desc, v->y.desc, v->desc, v->w.fdesc, 16, &n, r));
    else if (how == ASK_FIND)
        CALL(cudnnFindConvolutionBackwardFilterAlgorithm, (h, v->x.desc, v->y.desc, v->desc, v->w.fdesc, 16, &n, r));
    else
        CALL(cudnnFindConvolutionBackwardFilterAlgorithmEx, (h, v->x.desc, v->x.ptr, v->y.desc, v->y.ptr, v->desc, v->w.fdesc,
                                                             v->w.ptr, 16, &n, r, ws, bytes));
    COPY(r);
    return n;
}

static int ask(const conv *v, int dir, int how, perf *out, void *ws, size_t bytes)
{
    int n = dir == DIR_FWD ? ask_fwd(v, how, out, ws, bytes) : dir == DIR_DATA ? ask_data(v, how, out, ws, bytes) :
            ask_filter(v, how, out, ws, bytes);
    assert_in_range(n, 1, 16);
    assert_int_equal(out[0].status, OK);
    return n;
}

/* Each entry with SUCCESS runs with the memory and the math type that it reports. */
static void run_entries(conv *v, int dir, const perf *p, int n)
{
    for (int i = 0; i < n; i++) {
        if (p[i].status != OK)
            continue;
        CALL(cudnnSetConvolutionMathType, (v->desc, p[i].math));
        size_t need;
        assert_int_equal(conv_workspace(v, dir, p[i].algo, &need), OK);
        assert_true(need <= p[i].memory);
        void *ws = p[i].memory ? api_alloc_end(p[i].memory, 16) : NULL;
        cudnnStatus_t st = conv_run_with(v, dir, p[i].algo, 1, 0, ws, p[i].memory);
        if (st != OK)
            fail_msg("direction %d: algorithm %d was listed, and %s: %s", dir, p[i].algo, api_status(st), api_error());
    }
}

/* chainer/chainer #3874, #5128 */
void L8_dilated_backward_data_algo_1(void **state)
{
    (void)state;
    conv_case c = plain_2d(F32, 2, 3, 9, 9, 4, 3);
    c.dil[0] = c.dil[1] = 2;
    conv v = conv_new(&c);
    perf p[16];
    int n = ask(&v, DIR_DATA, ASK_GET, p, NULL, 0);
    bool listed = false;
    for (int i = 0; i < n; i++)
        listed |= p[i].algo == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 && p[i].status == OK;
    cudnnStatus_t st = conv_run(&v, DIR_DATA, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, 1, 0);
    assert_true(st == OK || !listed);
    conv_free(&v);
    check_all_algos(&c);
}

/* pytorch/pytorch #1485, #1664: conv3d and its transpose, smaller */
void L9_every_listed_algorithm_runs(void **state)
{
    (void)state;
    conv_case cases[] = {
        {F32, F32, 3, 1, 2, 3, 1, {1, 11, 12}, {1, 3, 3}, {0, 1, 1}, {1, 2, 2}, {1, 1, 1}, false, CROSS, CUDNN_DEFAULT_MATH},
        {F16, F32, 2, 2, 8, 8, 2, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true, CROSS, CUDNN_TENSOR_OP_MATH},
        {F64, F64, 2, 2, 3, 4, 1, {8, 7}, {5, 5}, {2, 2}, {1, 1}, {1, 1}, false, CUDNN_CONVOLUTION, CUDNN_FMA_MATH},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int dir = DIR_FWD; dir <= DIR_FILTER; dir++)
            for (int how = ASK_GET; how <= ASK_FIND; how++) {
                conv v = conv_new(&cases[k]);
                perf p[16];
                run_entries(&v, dir, p, ask(&v, dir, how, p, NULL, 0));
                conv_free(&v);
            }
}

/* apache/mxnet #13142, pytorch/pytorch #6351 */
void L10_deterministic_means_equal_bits(void **state)
{
    (void)state;
    conv_case c = plain_2d(F32, 4, 8, 14, 14, 8, 3);
    for (int dir = DIR_FWD; dir <= DIR_FILTER; dir++) {
        conv v = conv_new(&c);
        const tens *r = conv_result(&v, dir);
        void *first = api_alloc(r->bytes);
        perf p[16];
        int n = ask(&v, dir, ASK_FIND, p, NULL, 0);
        for (int i = 0; i < n; i++) {
            if (p[i].status != OK || p[i].determinism != CUDNN_DETERMINISTIC)
                continue;
            CALL(cudnnSetConvolutionMathType, (v.desc, p[i].math));
            for (int run = 0; run < 20; run++) {
                tens_fill(r, run);
                assert_int_equal(conv_run_with(&v, dir, p[i].algo, 1, 0, p[i].memory ? api_alloc(p[i].memory) : NULL, p[i].memory),
                                 OK);
                api_sync();
                if (run == 0)
                    memcpy(first, r->ptr, r->bytes);
                assert_memory_equal(first, r->ptr, r->bytes);
            }
        }
        conv_free(&v);
    }
}

/* The query answers for every beta and alignment, so one call may do with less; it may not reach past what it was given. */
static void run_with_too_little(conv *v, int dir, int algo, int beta, size_t need)
{
    const size_t sizes[] = {need - 1, need / 2, 0};
    for (int i = 0; i < 3; i++) {
        void *ws = sizes[i] ? api_alloc_end(sizes[i], 1) : NULL;
        cudnnStatus_t st = conv_run_with(v, dir, algo, 1, beta, ws, sizes[i]);
        assert_true(st == OK || api_class(st) == BAD);
        MEM_CHECK();
    }
}

/* sony/nnabla-ext-cuda #118 */
void L11_queried_workspace_is_enough(void **state)
{
    (void)state;
    const cudnnMathType_t math[] = {CUDNN_DEFAULT_MATH, CUDNN_TENSOR_OP_MATH, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION, CUDNN_FMA_MATH};
    for (int m = 0; m < 4; m++)
        for (int dir = DIR_FWD; dir <= DIR_FILTER; dir++) {
            conv_case c = plain_2d(F32, 2, 5, 9, 8, 7, 3);
            c.math = math[m];
            conv v = conv_new(&c);
            for (int algo = 0; algo < conv_algos(dir); algo++) {
                size_t need;
                if (conv_workspace(&v, dir, algo, &need) != OK)
                    continue;
                assert_int_equal(conv_run_with(&v, dir, algo, 1, 0, need ? api_alloc_end(need, 1) : NULL, need), OK);
                for (int beta = 0; need && beta < 2; beta++)
                    run_with_too_little(&v, dir, algo, beta, need);
            }
            conv_free(&v);
        }
}

/* pytorch/pytorch #31500, marqo #101 */
void L12_find_without_workspace(void **state)
{
    (void)state;
    conv_case c = plain_2d(F32, 2, 4, 12, 12, 4, 3);
    for (int dir = DIR_FWD; dir <= DIR_FILTER; dir++) {
        conv v = conv_new(&c);
        perf p[16];
        int n = ask(&v, dir, ASK_FIND_EX, p, NULL, 0);
        for (int i = 0; i < n; i++)
            assert_true(p[i].status != OK || p[i].memory == 0);
        run_entries(&v, dir, p, n);
        conv_free(&v);
    }
}

/* NVIDIA/caffe #167: the plain Find works in memory of its own */
void L13_find_leaves_operands_alone(void **state)
{
    (void)state;
    conv_case c = plain_2d(F32, 2, 4, 8, 8, 4, 3);
    conv v = conv_new(&c);
    const double *x = tens_get(&v.x), *w = tens_get(&v.w), *y = tens_get(&v.y);
    perf p[16];
    for (int dir = DIR_FWD; dir <= DIR_FILTER; dir++) {
        ask(&v, dir, ASK_FIND, p, NULL, 0);
        NEAR(&v.x, x, 0);
        NEAR(&v.w, w, 0);
        NEAR(&v.y, y, 0);
    }
    /* FindEx writes its output tensor, and nothing else. */
    void *ws = api_alloc_end(4096, 16);
    ask(&v, DIR_FWD, ASK_FIND_EX, p, ws, 4096);
    NEAR(&v.x, x, 0);
    NEAR(&v.w, w, 0);
    conv_free(&v);
}

/* BVLC/caffe #3254, torch/cunn #74 */
void L14_conv_alpha_beta(void **state)
{
    (void)state;
    const cudnnDataType_t types[] = {F32, F64, F16, BF16};
    for (int t = 0; t < 4; t++)
        for (int dir = DIR_FWD; dir <= DIR_FILTER; dir++) {
            conv_case c = plain_2d(types[t], 2, 4, 6, 6, 4, 3);
            c.nhwc = t & 1;
            conv v = conv_new(&c);
            const tens *r = conv_result(&v, dir);
            const double *x = tens_get(&v.x), *w = tens_get(&v.w), *y = tens_get(&v.y);
            double *g = conv_truth(&v, dir, dir == DIR_DATA ? w : x, dir == DIR_FWD ? w : y), *want = data_new(r->count);
            for (int64_t i = 0; i < r->count; i++)
                want[i] = 3 + 2 * g[i];
            for (int algo = 0; algo < conv_algos(dir); algo++) {
                tens_fill(r, NAN);
                if (conv_run(&v, dir, algo, 1, 0) != OK)
                    continue;
                NEAR(r, g, type_tol(types[t]));
                tens_fill(r, 3);
                cudnnStatus_t st = conv_run(&v, dir, algo, 2, 1);
                if (st != OK)
                    fail_msg("direction %d algorithm %d: %s: %s", dir, algo, api_status(st), api_error());
                NEAR(r, want, type_tol(types[t]));
            }
            conv_free(&v);
        }
}

/* tensorflow/tensorflow #32836, #43623: each tensor ends at an unmapped page, each workspace too */
void L15_guards_stay_intact(void **state)
{
    (void)state;
    const int batch[2] = {5, 3}, channels[2] = {2, 6};
    for (int k = 0; k < 2; k++)
        for (int t = 0; t < 2; t++) {
            conv_case c = plain_2d(t ? F16 : F32, batch[k], channels[k], 13, 11, 7, 5);
            check_all_algos(&c);
            MEM_CHECK();
            c.nhwc = true;
            check_all_algos(&c);
            MEM_CHECK();
        }
}

/* y = act(conv(x, w) + 0.5 z + bias) */
static void check_bias_act(cudnnActivationMode_t mode, int algo, double (*f)(double))
{
    conv_case c = plain_2d(F32, 2, 3, 6, 5, 4, 3);
    conv v = conv_new(&c);
    cudnnHandle_t h = api_handle();
    tens z = TENS4(F32, 2, 4, 6, 5), bias = TENS4(F32, 1, 4, 1, 1);
    const double *zd = tens_random(&z, 7), *bd = tens_random(&bias, 8);
    double *want = conv_truth(&v, DIR_FWD, tens_get(&v.x), tens_get(&v.w));
    cudnnActivationDescriptor_t act;
    CALL(cudnnCreateActivationDescriptor, (&act));
    CALL(cudnnSetActivationDescriptor, (act, mode, CUDNN_NOT_PROPAGATE_NAN, 1.0));
    size_t need;
    const float one = 1, half = 0.5f;
    assert_int_equal(conv_workspace(&v, DIR_FWD, algo, &need), OK);
    tens_fill(&v.y, NAN);
    cudnnStatus_t st = api.cudnnConvolutionBiasActivationForward(h, &one, v.x.desc, v.x.ptr, v.w.fdesc, v.w.ptr, v.desc, algo,
        need ? api_alloc_end(need, 16) : NULL, need, &half, z.desc, z.ptr, bias.desc, bias.ptr, act, v.y.desc, v.y.ptr);
    if (f) {
        if (st != OK)
            fail_msg("mode %d: %s: %s", mode, api_status(st), api_error());
        for (int64_t i = 0; i < v.y.count; i++)
            want[i] = f(want[i] + 0.5 * zd[i] + bd[i / 30 % 4]);
        NEAR(&v.y, want, 1e-5);
    } else {
        assert_int_equal(api_class(st), NOSUP);
    }
    CALL(cudnnDestroyActivationDescriptor, (act));
    tens_free(&z);
    tens_free(&bias);
    conv_free(&v);
}

static double relu(double v)
{
    return v > 0 ? v : 0;
}

static double same(double v)
{
    return v;
}

static double sigmoid(double v)
{
    return 1 / (1 + exp(-v));
}

static double elu(double v)
{
    return v > 0 ? v : expm1(v);
}

static double clipped(double v)
{
    return v > 0 ? fmin(v, 1) : 0;
}

/* PaddlePaddle/Paddle #50853, #60540: ReLU with any algorithm, identity with algorithm 1 alone. The vendor takes nothing else;
 * ours takes the other modes too, and has to be right about them. */
void L19_conv_bias_activation(void **state)
{
    (void)state;
    check_bias_act(CUDNN_ACTIVATION_RELU, 0, relu);
    check_bias_act(CUDNN_ACTIVATION_RELU, 1, relu);
    check_bias_act(CUDNN_ACTIVATION_IDENTITY, 1, same);
    check_bias_act(CUDNN_ACTIVATION_IDENTITY, 0, api_ours ? NULL : same);  /* documented as refused; the vendor's 9 runs it */
    for (int algo = 0; algo < 2; algo++) {
        check_bias_act(CUDNN_ACTIVATION_SIGMOID, algo, api_ours ? sigmoid : NULL);
        check_bias_act(CUDNN_ACTIVATION_TANH, algo, api_ours ? tanh : NULL);
        check_bias_act(CUDNN_ACTIVATION_ELU, algo, api_ours ? elu : NULL);
        check_bias_act(CUDNN_ACTIVATION_CLIPPED_RELU, algo, api_ours ? clipped : NULL);
    }
}

/* --- int8x4: y = relu(conv(x, w) + z + bias), 3 x 3, pad 1, four channels to a vector --- */
typedef struct fused {
    int n, c, h, w, k;
    cudnnTensorDescriptor_t x_desc, y_desc, bias_desc;
    cudnnFilterDescriptor_t w_desc;
    cudnnConvolutionDescriptor_t conv;
    cudnnActivationDescriptor_t act;
    int8_t *x, *z, *y, *filter;
    float *bias;
} fused;

/* Small integers, so that every sum is exact and none saturates: at most 9 c + 3 + 2. */
static void fill_int8(int8_t *p, int count, int range, unsigned seed)
{
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (int8_t)((int)((seed >> 16) % (unsigned)(2 * range + 1)) - range);
    }
}

static fused fused_new(int n, int c, int h, int w, int k)
{
    fused f = {.n = n, .c = c, .h = h, .w = w, .k = k};
    CALL(cudnnCreateTensorDescriptor, (&f.x_desc));
    CALL(cudnnCreateTensorDescriptor, (&f.y_desc));
    CALL(cudnnCreateTensorDescriptor, (&f.bias_desc));
    CALL(cudnnCreateFilterDescriptor, (&f.w_desc));
    CALL(cudnnCreateConvolutionDescriptor, (&f.conv));
    CALL(cudnnCreateActivationDescriptor, (&f.act));
    CALL(cudnnSetTensor4dDescriptor, (f.x_desc, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4, n, c, h, w));
    CALL(cudnnSetTensor4dDescriptor, (f.y_desc, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4, n, k, h, w));
    CALL(cudnnSetTensor4dDescriptor, (f.bias_desc, CUDNN_TENSOR_NCHW, F32, 1, k, 1, 1));
    CALL(cudnnSetFilter4dDescriptor, (f.w_desc, CUDNN_DATA_INT8x4, CUDNN_TENSOR_NCHW_VECT_C, k, c, 3, 3));
    CALL(cudnnSetConvolution2dDescriptor, (f.conv, 1, 1, 1, 1, 1, 1, CROSS, CUDNN_DATA_INT32));
    CALL(cudnnSetActivationDescriptor, (f.act, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
    f.x = api_alloc((size_t)(n * c * h * w));
    f.z = api_alloc((size_t)(n * k * h * w));
    f.y = api_alloc((size_t)(n * k * h * w));
    f.filter = api_alloc((size_t)(k * c * 9));
    f.bias = api_alloc((size_t)k * sizeof *f.bias);
    fill_int8(f.x, n * c * h * w, 1, 1);
    fill_int8(f.z, n * k * h * w, 3, 2);
    fill_int8(f.filter, k * c * 9, 1, 3);
    for (int i = 0; i < k; i++)
        f.bias[i] = (float)(i % 5 - 2);
    return f;
}

static void fused_free(fused *f)
{
    CALL(cudnnDestroyTensorDescriptor, (f->x_desc));
    CALL(cudnnDestroyTensorDescriptor, (f->y_desc));
    CALL(cudnnDestroyTensorDescriptor, (f->bias_desc));
    CALL(cudnnDestroyFilterDescriptor, (f->w_desc));
    CALL(cudnnDestroyConvolutionDescriptor, (f->conv));
    CALL(cudnnDestroyActivationDescriptor, (f->act));
}

/* Where channel ch of pixel (row, col) of image i lies: [i, ch / 4, row, col, ch % 4]. */
static int vect4_at(int c, int h, int w, int i, int ch, int row, int col)
{
    return (((i * (c / 4) + ch / 4) * h + row) * w + col) * 4 + ch % 4;
}

static int fused_truth(const fused *f, int i, int k, int row, int col)
{
    int sum = f->z[vect4_at(f->k, f->h, f->w, i, k, row, col)] + (int)f->bias[k];
    for (int ch = 0; ch < f->c; ch++)
        for (int t = 0; t < 9; t++) {
            int y = row + t / 3 - 1, x = col + t % 3 - 1;
            if (y >= 0 && y < f->h && x >= 0 && x < f->w)
                sum += f->x[vect4_at(f->c, f->h, f->w, i, ch, y, x)] * f->filter[vect4_at(f->c, 3, 3, k, ch, t / 3, t % 3)];
        }
    return sum > 0 ? sum : 0;
}

/* Runs it and compares every byte with the truth; NOT_SUPPORTED passes through. */
static cudnnStatus_t fused_run(const fused *f, const char *when)
{
    const float one = 1;
    const int algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    size_t need = 0;
    cudnnStatus_t st = api.cudnnGetConvolutionForwardWorkspaceSize(api_handle(), f->x_desc, f->w_desc, f->conv, f->y_desc, algo, &need);
    if (api_class(st) == NOSUP)
        return st;
    api_must(__FILE__, __LINE__, "workspace", st);
    memset(f->y, 0x55, (size_t)(f->n * f->k * f->h * f->w));
    st = api.cudnnConvolutionBiasActivationForward(api_handle(), &one, f->x_desc, f->x, f->w_desc, f->filter, f->conv, algo,
        need ? api_alloc_end(need, 16) : NULL, need, &one, f->y_desc, f->z, f->bias_desc, f->bias, f->act, f->y_desc, f->y);
    if (api_class(st) == NOSUP)
        return st;
    api_must(__FILE__, __LINE__, when, st);
    api_sync();
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->k; k++)
            for (int p = 0; p < f->h * f->w; p++) {
                int got = f->y[vect4_at(f->k, f->h, f->w, i, k, p / f->w, p % f->w)];
                int want = fused_truth(f, i, k, p / f->w, p % f->w);
                if (got != want)
                    fail_msg("%s: image %d channel %d pixel %d is %d, not %d", when, i, k, p, got, want);
            }
    return OK;
}

/* tensorflow/tensorflow #50570: right when it first ran, wrong when what was kept of it ran later. */
void L18_int8x4_fused_runs_again(void **state)
{
    (void)state;
    fused f = fused_new(2, 8, 5, 6, 12), other = fused_new(1, 4, 7, 3, 8);
    bool there = fused_run(&f, "first run") == OK;
    if (there) {
        const size_t bytes = (size_t)(f.n * f.k * f.h * f.w);
        int8_t *first = api_alloc(bytes);
        memcpy(first, f.y, bytes);
        fused_run(&f, "second run");
        fused_run(&other, "another shape");
        check_bias_act(CUDNN_ACTIVATION_RELU, 1, relu);
        fused_run(&f, "after other calls");
        fused same_shape[8];  /* alive together: none may take the place of f's, nor leave it something */
        for (int i = 0; i < 8; i++)
            same_shape[i] = fused_new(2, 8, 5, 6, i % 2 ? 12 : 16);
        fill_int8(same_shape[1].filter, 12 * 8 * 9, 1, 77);
        fused_run(&same_shape[1], "equal descriptors, another filter");
        for (int i = 0; i < 8; i++)
            fused_free(&same_shape[i]);
        fused_run(&f, "after other descriptors");
        assert_memory_equal(f.y, first, bytes);
        fill_int8(f.x, f.n * f.c * f.h * f.w, 1, 99);
        fused_run(&f, "other data");
    }
    fused_free(&f);
    fused_free(&other);
    if (!there)
        skip();
}
