/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Integer and vectorised convolutions forward, with bias and activation too, against integer loops; and the other operations that
 * take vectorised tensors. */
#include "tens.h"

enum { ROOM = 32768 };

/* A tensor of 8-bit scalars or wider, NCHW or NCHW_VECT_C. */
typedef struct box {
    dn_dtype type;
    int n, c, h, w, vect;
    unsigned char data[ROOM * 8];
} box;

static int64_t box_at(const box *b, int n, int c, int h, int w)
{
    int v = b->vect;
    return (((int64_t)(n * (b->c / v) + c / v) * b->h + h) * b->w + w) * v + c % v;
}

static double box_get(const box *b, int n, int c, int h, int w)
{
    return dn_load(dn_dtype_scalar(b->type), b->data, box_at(b, n, c, h, w));
}

static void box_make(box *b, dn_dtype type, int n, int c, int h, int w, int range, uint32_t seed)
{
    *b = (box){ .type = type, .n = n, .c = c, .h = h, .w = w, .vect = dn_dtype_vector(type) };
    assert_true(n * c * h * w <= ROOM);
    memset(b->data, 0xff, sizeof b->data);
    bool positive = dn_dtype_scalar(type) == DN_U8;
    for (int i = 0; i < n * c * h * w; i++)
        dn_store(dn_dtype_scalar(type), b->data, i, (double)(tens_random(&seed) % (uint32_t)(2 * range + 1)) - (positive ? 0 : range));
}

static cudnnTensorDescriptor_t box_desc(const box *b)
{
    cudnnTensorDescriptor_t d;
    OK(cudnnCreateTensorDescriptor(&d));
    OK(cudnnSetTensor4dDescriptor(d, b->vect > 1 ? CUDNN_TENSOR_NCHW_VECT_C : CUDNN_TENSOR_NCHW, (cudnnDataType_t)b->type, b->n, b->c,
                                  b->h, b->w));
    return d;
}

static cudnnFilterDescriptor_t box_filter(const box *b)
{
    cudnnFilterDescriptor_t d;
    OK(cudnnCreateFilterDescriptor(&d));
    OK(cudnnSetFilter4dDescriptor(d, (cudnnDataType_t)b->type, b->vect > 1 ? CUDNN_TENSOR_NCHW_VECT_C : CUDNN_TENSOR_NCHW, b->n, b->c,
                                  b->h, b->w));
    return d;
}

enum { N = 2, H = 5, W = 4, PAD = 1, WIN = 3 };

/* Exact: the sums are of integers. */
static double sum_at(const box *x, const box *w, int groups, int n, int k, int h, int col)
{
    double sum = 0;
    int first = k / (w->n / groups) * w->c;
    for (int c = 0; c < w->c; c++)
        for (int r = 0; r < WIN; r++)
            for (int s = 0; s < WIN; s++) {
                int i = h - PAD + r, j = col - PAD + s;
                if (i >= 0 && i < H && j >= 0 && j < W)
                    sum += box_get(x, n, first + c, i, j) * box_get(w, k, c, r, s);
            }
    return sum;
}

static double stored(dn_dtype type, double v)
{
    double cell = 0;
    dn_store(dn_dtype_scalar(type), &cell, 0, v);
    return dn_load(dn_dtype_scalar(type), &cell, 0);
}

static cudnnConvolutionDescriptor_t conv_desc(int groups)
{
    cudnnConvolutionDescriptor_t d;
    OK(cudnnCreateConvolutionDescriptor(&d));
    OK(cudnnSetConvolution2dDescriptor(d, PAD, PAD, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_INT32));
    OK(cudnnSetConvolutionGroupCount(d, groups));
    return d;
}

static void check_conv(dn_dtype xt, dn_dtype wt, dn_dtype yt, int c, int k, int groups, int algo)
{
    static box x, w, y, old;
    box_make(&x, xt, N, c, H, W, 120, 1);
    box_make(&w, wt, k, c / groups, WIN, WIN, 120, 2);
    box_make(&y, yt, N, k, H, W, 100, 3);
    old = y;
    cudnnTensorDescriptor_t xd = box_desc(&x), yd = box_desc(&y);
    cudnnFilterDescriptor_t wd = box_filter(&w);
    cudnnConvolutionDescriptor_t conv = conv_desc(groups);
    const float alpha = 0.001f, betas[] = { 0, 0.5f };
    for (int i = 0; i < 2; i++) {
        y = old;
        OK(cudnnConvolutionForward(handle, &alpha, xd, x.data, wd, w.data, conv, (cudnnConvolutionFwdAlgo_t)algo, NULL, 0, &betas[i], yd,
                                   y.data));
        for (int e = 0; e < N * k * H * W; e++) {
            int col = e % W, h = e / W % H, ch = e / W / H % k, n = e / W / H / k;
            double want = alpha * sum_at(&x, &w, groups, n, ch, h, col) + betas[i] * box_get(&old, n, ch, h, col);
            assert_true(box_get(&y, n, ch, h, col) == stored(yt, want));
        }
    }
    OK(cudnnDestroyTensorDescriptor(xd));
    OK(cudnnDestroyTensorDescriptor(yd));
    OK(cudnnDestroyFilterDescriptor(wd));
    OK(cudnnDestroyConvolutionDescriptor(conv));
}

/* The documented pairs: int8 x int8 to int8, int32 and float; uint8 x int8; the same in vectors of 4 and 32. */
static void integer_convolutions_are_exact(void **state)
{
    (void)state;
    for (int algo = 0; algo < 2; algo++) {
        check_conv(DN_I8, DN_I8, DN_I8, 8, 12, 1, algo);
        check_conv(DN_I8, DN_I8, DN_F32, 8, 12, 2, algo);
        check_conv(DN_I8, DN_I8, DN_I32, 5, 7, 1, algo);
        check_conv(DN_U8, DN_I8, DN_I8, 8, 12, 1, algo);
        check_conv(DN_U8, DN_I8, DN_F32, 3, 4, 1, algo);
        check_conv(DN_I8X4, DN_I8X4, DN_I8X4, 8, 12, 1, algo);
        check_conv(DN_I8X4, DN_I8X4, DN_F32, 8, 12, 1, algo);
        check_conv(DN_I8X4, DN_I8X4, DN_I8X4, 16, 8, 2, algo);
        check_conv(DN_U8X4, DN_I8X4, DN_I8X4, 12, 8, 1, algo);
        check_conv(DN_U8X4, DN_I8X4, DN_F32, 12, 6, 1, algo);
        check_conv(DN_I8X32, DN_I8X32, DN_I8X32, 32, 32, 1, algo);
        check_conv(DN_I8X32, DN_I8X32, DN_F32, 64, 5, 1, algo);
    }
}

static cudnnActivationDescriptor_t relu(void)
{
    cudnnActivationDescriptor_t d;
    OK(cudnnCreateActivationDescriptor(&d));
    OK(cudnnSetActivationDescriptor(d, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
    return d;
}

/* y = relu(alpha1 * conv + alpha2 * z + bias), bias in float, saturated; over z too. Reordered: filter and bias as
 * cudnnReorderFilterAndBias lays them, which the convolution is told by CUDNN_NO_REORDER. */
static void check_fused(dn_dtype xt, dn_dtype wt, dn_dtype yt, int c, int k, bool reordered, bool in_place)
{
    static box x, w, y, z, b, w2, b2;
    box_make(&x, xt, N, c, H, W, 120, 1);
    box_make(&w, wt, k, c, WIN, WIN, 120, 2);
    box_make(&z, yt, N, k, H, W, 100, 3);
    box_make(&y, yt, N, k, H, W, 100, 4);
    box_make(&b, DN_F32, 1, k, 1, 1, 50, 5);
    w2 = w;
    b2 = b;
    cudnnTensorDescriptor_t xd = box_desc(&x), yd = box_desc(&y), bd = box_desc(&b);
    cudnnFilterDescriptor_t wd = box_filter(&w);
    cudnnConvolutionDescriptor_t conv = conv_desc(1);
    cudnnActivationDescriptor_t act = relu();
    const float alpha1 = 0.002f, alpha2 = -0.75f;
    if (reordered) {
        OK(cudnnReorderFilterAndBias(handle, wd, CUDNN_DEFAULT_REORDER, w.data, w2.data, 1, b.data, b2.data));
        OK(cudnnSetConvolutionReorderType(conv, CUDNN_NO_REORDER));
    }
    if (in_place)
        y = z;
    OK(cudnnConvolutionBiasActivationForward(handle, &alpha1, xd, x.data, wd, w2.data, conv,
                                             CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, NULL, 0, &alpha2, yd,
                                             in_place ? y.data : z.data, bd, b2.data, act, yd, y.data));
    for (int e = 0; e < N * k * H * W; e++) {
        int col = e % W, h = e / W % H, ch = e / W / H % k, n = e / W / H / k;
        double v = alpha1 * sum_at(&x, &w, 1, n, ch, h, col) + alpha2 * box_get(&z, n, ch, h, col) + box_get(&b, 0, ch, 0, 0);
        assert_true(box_get(&y, n, ch, h, col) == stored(yt, v > 0 ? v : 0));
    }
    OK(cudnnDestroyTensorDescriptor(xd));
    OK(cudnnDestroyTensorDescriptor(yd));
    OK(cudnnDestroyTensorDescriptor(bd));
    OK(cudnnDestroyFilterDescriptor(wd));
    OK(cudnnDestroyConvolutionDescriptor(conv));
    OK(cudnnDestroyActivationDescriptor(act));
}

static void fused_convolutions_saturate(void **state)
{
    (void)state;
    for (int in_place = 0; in_place < 2; in_place++) {
        check_fused(DN_I8, DN_I8, DN_I8, 8, 12, false, in_place);
        check_fused(DN_I8, DN_I8, DN_F32, 8, 12, false, in_place);
        check_fused(DN_U8, DN_I8, DN_I8, 8, 12, false, in_place);
        check_fused(DN_I8X4, DN_I8X4, DN_I8X4, 8, 12, false, in_place);
        check_fused(DN_I8X4, DN_I8X4, DN_F32, 8, 12, false, in_place);
        check_fused(DN_U8X4, DN_I8X4, DN_I8X4, 8, 12, false, in_place);
        check_fused(DN_I8X32, DN_I8X32, DN_I8X32, 32, 32, false, in_place);
        check_fused(DN_I8X32, DN_I8X32, DN_I8X32, 32, 32, true, in_place);
        check_fused(DN_I8X32, DN_I8X32, DN_F32, 32, 32, true, in_place);
    }
}

/* What Get lists with SUCCESS runs with the workspace it states. */
static void what_get_lists_runs(void **state)
{
    (void)state;
    static box x, w, y;
    cudnnConvolutionFwdAlgoPerf_t perf[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
    const float one = 1, zero = 0;
    int count, good = 0;
    box_make(&x, DN_I8X4, N, 8, H, W, 5, 1);
    box_make(&w, DN_I8X4, 8, 8, WIN, WIN, 5, 2);
    box_make(&y, DN_I8X4, N, 8, H, W, 5, 3);
    cudnnTensorDescriptor_t xd = box_desc(&x), yd = box_desc(&y);
    cudnnFilterDescriptor_t wd = box_filter(&w);
    cudnnConvolutionDescriptor_t conv = conv_desc(1);
    OK(cudnnGetConvolutionForwardAlgorithm_v7(handle, xd, wd, conv, yd, CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, perf));
    for (int i = 0; i < count; i++) {
        if (perf[i].status != CUDNN_STATUS_SUCCESS)
            continue;
        void *workspace = malloc(perf[i].memory + 1);
        OK(cudnnConvolutionForward(handle, &one, xd, x.data, wd, w.data, conv, perf[i].algo, workspace, perf[i].memory, &zero, yd, y.data));
        free(workspace);
        good++;
    }
    assert_int_equal(good, 2);
    OK(cudnnDestroyTensorDescriptor(xd));
    OK(cudnnDestroyTensorDescriptor(yd));
    OK(cudnnDestroyFilterDescriptor(wd));
    OK(cudnnDestroyConvolutionDescriptor(conv));
}

static void refuses_what_it_cannot(void **state)
{
    (void)state;
    static box x, w, y;
    box_make(&x, DN_I8X4, N, 8, H, W, 5, 1);
    box_make(&w, DN_I8X4, 8, 8, WIN, WIN, 5, 2);
    box_make(&y, DN_I8X4, N, 8, H, W, 5, 3);
    box plain = x;
    plain.type = DN_I8;
    plain.vect = 1;
    cudnnTensorDescriptor_t xd = box_desc(&x), yd = box_desc(&y), pd = box_desc(&plain);
    cudnnFilterDescriptor_t wd = box_filter(&w);
    cudnnConvolutionDescriptor_t conv = conv_desc(1);
    const float one = 1, zero = 0;
    REFUSED(cudnnConvolutionForward(handle, &one, xd, x.data, wd, w.data, conv, CUDNN_CONVOLUTION_FWD_ALGO_FFT, NULL, 0, &zero, yd, y.data),
            CUDNN_STATUS_NOT_SUPPORTED, "cudnnConvolutionForward");
    REFUSED(cudnnConvolutionForward(handle, &one, pd, x.data, wd, w.data, conv, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &zero, yd,
                                    y.data), CUDNN_STATUS_NOT_SUPPORTED, "vectorised");
    OK(cudnnSetConvolution2dDescriptor(conv, PAD, PAD, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    REFUSED(cudnnConvolutionForward(handle, &one, xd, x.data, wd, w.data, conv, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &zero, yd,
                                    y.data), CUDNN_STATUS_NOT_SUPPORTED, "compute type i32");
    OK(cudnnDestroyTensorDescriptor(xd));
    OK(cudnnDestroyTensorDescriptor(yd));
    OK(cudnnDestroyTensorDescriptor(pd));
    OK(cudnnDestroyFilterDescriptor(wd));
    OK(cudnnDestroyConvolutionDescriptor(conv));
}

/* --- the other operations --- */

static void check_pool(dn_dtype type, int c, cudnnPoolingMode_t mode)
{
    static box x, y;
    cudnnPoolingDescriptor_t pool;
    const float one = 1, zero = 0;
    box_make(&x, type, N, c, H, W, 120, 1);
    box_make(&y, type, N, c, 4, 3, 1, 2);
    cudnnTensorDescriptor_t xd = box_desc(&x), yd = box_desc(&y);
    OK(cudnnCreatePoolingDescriptor(&pool));
    OK(cudnnSetPooling2dDescriptor(pool, mode, CUDNN_NOT_PROPAGATE_NAN, 2, 2, 0, 0, 1, 1));
    OK(cudnnPoolingForward(handle, pool, &one, xd, x.data, &zero, yd, y.data));
    for (int e = 0; e < N * c * 12; e++) {
        int col = e % 3, h = e / 3 % 4, ch = e / 12 % c, n = e / 12 / c;
        double max = -1000, sum = 0;
        for (int i = 0; i < 4; i++) {
            double v = box_get(&x, n, ch, h + i / 2, col + i % 2);
            max = v > max ? v : max;
            sum += v;
        }
        assert_true(box_get(&y, n, ch, h, col) == stored(type, mode == CUDNN_POOLING_MAX ? max : sum / 4));
    }
    OK(cudnnDestroyPoolingDescriptor(pool));
    OK(cudnnDestroyTensorDescriptor(xd));
    OK(cudnnDestroyTensorDescriptor(yd));
}

static void pooling_takes_integers_and_vectors(void **state)
{
    (void)state;
    static const dn_dtype types[] = { DN_I8, DN_U8, DN_I32, DN_I8X4, DN_U8X4, DN_I8X32 };
    for (int i = 0; i < 6; i++) {
        check_pool(types[i], 32, CUDNN_POOLING_MAX);
        check_pool(types[i], 64, CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING);
    }
}

static void pointwise_takes_integers_and_vectors(void **state)
{
    (void)state;
    static const dn_dtype types[] = { DN_I8, DN_U8, DN_I8X4, DN_U8X4, DN_I8X32 };
    static box x, y, old, wide;
    const float one = 1, zero = 0, two = 2, half = 0.5f, nine = 9;
    for (int i = 0; i < 5; i++) {
        box_make(&x, types[i], N, 32, H, W, 100, 1);
        box_make(&y, types[i], N, 32, H, W, 100, 2);
        box_make(&wide, DN_F32, N, 32, H, W, 1, 3);
        old = y;
        cudnnTensorDescriptor_t xd = box_desc(&x), yd = box_desc(&y), fd = box_desc(&wide);
        cudnnActivationDescriptor_t act = relu();
        OK(cudnnAddTensor(handle, &two, xd, x.data, &half, yd, y.data));
        OK(cudnnTransformTensor(handle, &two, yd, y.data, &zero, fd, wide.data));
        for (int e = 0; e < N * 32 * H * W; e++) {
            int col = e % W, h = e / W % H, ch = e / W / H % 32, n = e / W / H / 32;
            double want = stored(types[i], 2 * box_get(&x, n, ch, h, col) + 0.5 * box_get(&old, n, ch, h, col));
            assert_true(box_get(&y, n, ch, h, col) == want && box_get(&wide, n, ch, h, col) == 2 * want);
        }
        OK(cudnnTransformTensor(handle, &half, fd, wide.data, &zero, xd, x.data));
        assert_memory_equal(x.data, y.data, N * 32 * H * W);
        OK(cudnnActivationForward(handle, act, &one, xd, x.data, &zero, xd, x.data));
        OK(cudnnScaleTensor(handle, yd, y.data, &half));
        for (int e = 0; e < N * 32 * H * W; e++) {
            int col = e % W, h = e / W % H, ch = e / W / H % 32, n = e / W / H / 32;
            double v = box_get(&wide, n, ch, h, col) / 2;
            assert_true(box_get(&x, n, ch, h, col) == (v > 0 ? v : 0) && box_get(&y, n, ch, h, col) == stored(types[i], v / 2));
        }
        OK(cudnnSetTensor(handle, yd, y.data, &nine));
        for (int e = 0; e < N * 32 * H * W; e++)
            assert_int_equal(y.data[e], 9);
        assert_int_equal(y.data[N * 32 * H * W], 0xff);
        OK(cudnnDestroyTensorDescriptor(xd));
        OK(cudnnDestroyTensorDescriptor(yd));
        OK(cudnnDestroyTensorDescriptor(fd));
        OK(cudnnDestroyActivationDescriptor(act));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_convolutions_are_exact),      cmocka_unit_test(fused_convolutions_saturate),
        cmocka_unit_test(refuses_what_it_cannot),              cmocka_unit_test(what_get_lists_runs),
        cmocka_unit_test(pooling_takes_integers_and_vectors),  cmocka_unit_test(pointwise_takes_integers_and_vectors),
    };
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
