/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Normalisation, pooling, softmax, dropout, pointwise: cases from the field. */
#define _GNU_SOURCE
#include "cases.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

/* --- batch normalisation --- */
typedef struct bn {
    cudnnBatchNormMode_t mode;
    tens x, y, param;            /* param: one description for scale, bias, mean and variance */
    void *scale, *bias, *mean, *var, *save_mean, *save_inv;
} bn;

static bn bn_new(cudnnBatchNormMode_t mode, int rank, const int *dim)
{
    bn b = {.mode = mode, .x = tens_new(F32, rank, dim, false), .y = tens_new(F32, rank, dim, false)};
    int p[RANK_MAX];
    for (int i = 0; i < rank; i++)
        p[i] = i == 1 || (i > 1 && mode == CUDNN_BATCHNORM_PER_ACTIVATION) ? dim[i] : 1;
    b.param = tens_new(F32, rank, p, false);
    void **all[] = {&b.scale, &b.bias, &b.mean, &b.var, &b.save_mean, &b.save_inv};
    for (int i = 0; i < 6; i++)
        *all[i] = api_alloc_end(b.param.bytes, 4);
    return b;
}

static void bn_free(bn *b)
{
    tens_free(&b->x);
    tens_free(&b->y);
    tens_free(&b->param);
}

static double *put_param(const bn *b, void *ptr, double base, double step)
{
    double *v = data_new(b->param.count);
    for (int64_t i = 0; i < b->param.count; i++)
        type_store(F32, ptr, i, v[i] = base + step * (double)(i % 5));
    return v;
}

/* Which parameter goes with element i of x. */
static int64_t param_of(const bn *b, int64_t i)
{
    int64_t per_image = b->x.count / b->x.dim[0];
    return b->mode == CUDNN_BATCHNORM_PER_ACTIVATION ? i % per_image : i % per_image / (per_image / b->x.dim[1]);
}

static void check_bn_inference(cudnnBatchNormMode_t mode, int n, int c, int h, int w)
{
    const float one = 1, zero = 0;
    bn b = bn_new(mode, 4, (const int[]){n, c, h, w});
    const double *x = tens_random(&b.x, 3), *s = put_param(&b, b.scale, 1, 0.5), *t = put_param(&b, b.bias, -1, 0.25);
    const double *m = put_param(&b, b.mean, 0.125, 0.125), *v = put_param(&b, b.var, 0.5, 0.25);
    double *want = data_new(b.x.count);
    for (int64_t i = 0; i < b.x.count; i++) {
        int64_t p = param_of(&b, i);
        want[i] = s[p] * (x[i] - m[p]) / sqrt(v[p] + 1e-3) + t[p];
    }
    tens_fill(&b.y, NAN);
    cudnnStatus_t st = api.cudnnBatchNormalizationForwardInference(api_handle(), mode, &one, &zero, b.x.desc, b.x.ptr, b.y.desc,
                                                                   b.y.ptr, b.param.desc, b.scale, b.bias, b.mean, b.var, 1e-3);
    if (!vendor_cannot(st)) {
        api_must(__FILE__, __LINE__, "inference", st);
        NEAR(&b.y, want, 1e-5);
    }
    bn_free(&b);
}

/* pytorch/pytorch #19911, #29744, Oneflow-Inc/oneflow #3147 */
void L24_bn_inference_large_batch(void **state)
{
    (void)state;
    const cudnnBatchNormMode_t modes[] = {CUDNN_BATCHNORM_PER_ACTIVATION, CUDNN_BATCHNORM_SPATIAL};
    for (int i = 0; i < 2; i++) {
        check_bn_inference(modes[i], 65535, 1, 1, 1);
        check_bn_inference(modes[i], 65536, 1, 1, 1);
        check_bn_inference(modes[i], 70000, 1, 2, 1);
        check_bn_inference(modes[i], 131071, 1, 1, 1);
    }
}

/* y, running and saved statistics of one training call with this averaging factor; running ones start at 0 and 1. */
static void check_bn_training(cudnnBatchNormMode_t mode, const int *dim, double factor)
{
    const float one = 1, zero = 0;
    bn b = bn_new(mode, 4, dim);
    const int64_t np = b.param.count, per = b.x.count / np;
    const double *x = tens_random(&b.x, 5), *s = put_param(&b, b.scale, 1, 0.5), *t = put_param(&b, b.bias, -1, 0.25);
    put_param(&b, b.mean, 0, 0);
    put_param(&b, b.var, 1, 0);
    double *mean = data_new(np), *var = data_new(np), *want = data_new(b.x.count);
    for (int64_t i = 0; i < b.x.count; i++)
        mean[param_of(&b, i)] += x[i] / (double)per;
    for (int64_t i = 0; i < b.x.count; i++)
        var[param_of(&b, i)] += pow(x[i] - mean[param_of(&b, i)], 2) / (double)per;
    for (int64_t i = 0; i < b.x.count; i++) {
        int64_t p = param_of(&b, i);
        want[i] = s[p] * (x[i] - mean[p]) / sqrt(var[p] + 1e-3) + t[p];
    }
    cudnnStatus_t st = api.cudnnBatchNormalizationForwardTraining(api_handle(), mode, &one, &zero, b.x.desc, b.x.ptr, b.y.desc,
                                                                  b.y.ptr, b.param.desc, b.scale, b.bias, factor, b.mean, b.var, 1e-3,
                                                                  b.save_mean, b.save_inv);
    const bool ran = !vendor_cannot(st);
    if (ran) {
        api_must(__FILE__, __LINE__, "training", st);
        NEAR(&b.y, want, 1e-5);
    }
    for (int64_t p = 0; ran && p < np; p++) {
        double unbiased = per > 1 ? var[p] * (double)per / (double)(per - 1) : var[p];
        assert_true(fabs(type_load(F32, b.save_mean, p) - mean[p]) < 1e-5);
        assert_true(fabs(type_load(F32, b.save_inv, p) - 1 / sqrt(var[p] + 1e-3)) < 1e-5 / sqrt(var[p] + 1e-3));
        assert_true(fabs(type_load(F32, b.mean, p) - factor * mean[p]) < 1e-5);
        if (!api_ours && per == 1)
            continue;  /* the vendor's is NaN: the case itself */
        if (!(fabs(type_load(F32, b.var, p) - ((1 - factor) + factor * unbiased)) < 1e-5))
            fail_msg("running variance %g; the batch has %g over %lld values", type_load(F32, b.var, p), var[p], (long long)per);
    }
    bn_free(&b);
}

/* pytorch/pytorch #51776, #2917, with one element per image */
void L25_bn_training_large_batch(void **state)
{
    (void)state;
    check_bn_training(CUDNN_BATCHNORM_SPATIAL, (const int[]){131071, 1, 1, 1}, 0.25);
    check_bn_training(CUDNN_BATCHNORM_PER_ACTIVATION, (const int[]){131071, 2, 1, 1}, 0.25);
    check_bn_training(CUDNN_BATCHNORM_SPATIAL_PERSISTENT, (const int[]){1500, 3, 5, 5}, 0.25);
}

/* tensorflow/tensorflow #34062, apache/mxnet #21111: one value has no unbiased estimate; the biased one (0) is used */
void L26_bn_training_one_value(void **state)
{
    (void)state;
    check_bn_training(CUDNN_BATCHNORM_SPATIAL, (const int[]){1, 7, 1, 1}, 0.5);
    check_bn_training(CUDNN_BATCHNORM_PER_ACTIVATION, (const int[]){1, 3, 2, 2}, 0.5);
    check_bn_training(CUDNN_BATCHNORM_SPATIAL, (const int[]){2, 3, 1, 1}, 0.5);
    check_bn_training(CUDNN_BATCHNORM_PER_ACTIVATION, (const int[]){4, 3, 2, 2}, 1.0);
}

/* sonots/cumo #339: RUNTIME_FP_OVERFLOW after ordinary input. Nothing overflows in check_bn_training, nor in the gradients. */
void L27_bn_persistent_raises_nothing(void **state)
{
    (void)state;
    const float one = 1, zero = 0;
    const int dim[] = {16, 8, 7, 7};
    const cudnnErrQueryMode_t modes[] = {CUDNN_ERRQUERY_RAWCODE, CUDNN_ERRQUERY_NONBLOCKING, CUDNN_ERRQUERY_BLOCKING};
    check_bn_training(CUDNN_BATCHNORM_SPATIAL_PERSISTENT, dim, 0.25);
    bn b = bn_new(CUDNN_BATCHNORM_SPATIAL_PERSISTENT, 4, dim);
    tens dx = tens_new(F32, 4, dim, false);
    tens_random(&b.x, 6);
    tens_random(&b.y, 7);
    put_param(&b, b.scale, 1, 0.5);
    cudnnStatus_t st = api.cudnnBatchNormalizationBackward(api_handle(), b.mode, &one, &zero, &one, &zero, b.x.desc, b.x.ptr, b.y.desc,
                                                           b.y.ptr, dx.desc, dx.ptr, b.param.desc, b.scale, b.mean, b.var, 1e-3, NULL,
                                                           NULL);
    if (!vendor_cannot(st))
        api_must(__FILE__, __LINE__, "backward", st);
    api_sync();
    for (int i = 0; i < 3; i++) {
        cudnnStatus_t raised = CUDNN_STATUS_EXECUTION_FAILED;
        CALL(cudnnQueryRuntimeError, (api_handle(), &raised, modes[i], NULL));
        if (raised != OK)
            fail_msg("query mode %d: %s", modes[i], api_status(raised));
    }
    tens_free(&dx);
    bn_free(&b);
}

/* --- pooling --- */
static cudnnPoolingDescriptor_t pool_new(cudnnPoolingMode_t mode, cudnnNanPropagation_t nan_opt, int window, int pad, int stride)
{
    cudnnPoolingDescriptor_t p;
    CALL(cudnnCreatePoolingDescriptor, (&p));
    CALL(cudnnSetPooling2dDescriptor, (p, mode, nan_opt, window, window, pad, pad, stride, stride));
    return p;
}

/* denizyuret/Knet.jl #182 */
void L30_pool_padding_as_window(void **state)
{
    (void)state;
    cudnnPoolingDescriptor_t p;
    CALL(cudnnCreatePoolingDescriptor, (&p));
    ROW_V(cudnnSetPooling2dDescriptor, (p, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2, 2, 2, 0, 1, 1), BAD, OK,
          "a window that lies wholly in the padding has no maximum", "verticalPadding is 2");
    ROW(cudnnSetPooling2dDescriptor, (p, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2, 2, 1, 1, 1, 1), OK, "");
    CALL(cudnnDestroyPoolingDescriptor, (p));
    api_rows_done();
    const float one = 1, zero = 0;
    tens x = TENS4(F32, 1, 1, 1, 1), y = TENS4(F32, 1, 1, 2, 2);
    p = pool_new(CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2, 1, 1);
    tens_fill(&x, -5);
    CALL(cudnnPoolingForward, (api_handle(), p, &one, x.desc, x.ptr, &zero, y.desc, y.ptr));
    NEAR(&y, ((const double[]){-5, -5, -5, -5}), 0);  /* padding is no zero */
    CALL(cudnnDestroyPoolingDescriptor, (p));
    tens_free(&x);
    tens_free(&y);
}

/* plaidml/plaidml #313 */
void L31_max_pool_nan(void **state)
{
    (void)state;
    const float one = 1, zero = 0;
    const cudnnDataType_t types[] = {F32, F64, F16, BF16};
    const cudnnPoolingMode_t modes[] = {CUDNN_POOLING_MAX, CUDNN_POOLING_MAX_DETERMINISTIC};
    const double in[8] = {1, NAN, NAN, 2, 3, 4, -1, -2};
    for (int t = 0; t < 4; t++)
        for (int m = 0; m < 2; m++) {
            double ar, br;
            const void *a = scalar(types[t], one, &ar), *b = scalar(types[t], zero, &br);
            tens x = TENS4(types[t], 1, 1, 2, 4), y = TENS4(types[t], 1, 1, 1, 2);
            tens_put(&x, in);
            cudnnPoolingDescriptor_t p = pool_new(modes[m], CUDNN_NOT_PROPAGATE_NAN, 2, 0, 2);
            CALL(cudnnPoolingForward, (api_handle(), p, a, x.desc, x.ptr, b, y.desc, y.ptr));
            NEAR(&y, ((const double[]){4, 2}), 0);
            CALL(cudnnDestroyPoolingDescriptor, (p));
            p = pool_new(modes[m], CUDNN_PROPAGATE_NAN, 2, 0, 2);
            CALL(cudnnPoolingForward, (api_handle(), p, a, x.desc, x.ptr, b, y.desc, y.ptr));
            NEAR(&y, ((const double[]){NAN, NAN}), 0);
            CALL(cudnnDestroyPoolingDescriptor, (p));
            tens_free(&x);
            tens_free(&y);
        }
}

/* --- pointwise --- */
/* JuliaGPU/CUDA.jl #321, onnxruntime #8024: every dimension equal or 1 */
void L32_add_tensor_broadcast(void **state)
{
    (void)state;
    const float alpha = 2, beta = 0.5;
    const int dim[4] = {2, 3, 4, 5};
    for (int mask = 0; mask < 16; mask++) {
        int ad[4];
        for (int i = 0; i < 4; i++)
            ad[i] = mask >> i & 1 ? dim[i] : 1;
        tens a = tens_new(F32, 4, ad, false), c = tens_new(F32, 4, dim, false);
        const double *av = tens_random(&a, 1), *cv = tens_random(&c, 2);
        double *want = data_new(c.count);
        for (int64_t i = 0; i < c.count; i++) {
            const int64_t at[4] = {i / 60, i / 20 % 3, i / 5 % 4, i % 5};
            int64_t o = 0;
            for (int d = 0; d < 4; d++)
                o += ad[d] > 1 ? at[d] * a.stride[d] : 0;
            want[i] = 2 * av[o] + 0.5 * cv[i];
        }
        CALL(cudnnAddTensor, (api_handle(), &alpha, a.desc, a.ptr, &beta, c.desc, c.ptr));
        NEAR(&c, want, 1e-6);
        tens_free(&a);
        tens_free(&c);
    }
}

/* The same for cudnnOpTensor: B is repeated, the product checked. */
void L32_op_tensor_broadcast(void **state)
{
    (void)state;
    const float alpha1 = 2, alpha2 = -1, beta = 0.5;
    const int dim[4] = {2, 3, 4, 5};
    cudnnOpTensorDescriptor_t d;
    CALL(cudnnCreateOpTensorDescriptor, (&d));
    CALL(cudnnSetOpTensorDescriptor, (d, CUDNN_OP_TENSOR_MUL, F32, CUDNN_NOT_PROPAGATE_NAN));
    for (int mask = 0; mask < 16; mask++) {
        int bd[4];
        for (int i = 0; i < 4; i++)
            bd[i] = mask >> i & 1 ? dim[i] : 1;
        tens a = tens_new(F32, 4, dim, false), b = tens_new(F32, 4, bd, false), c = tens_new(F32, 4, dim, false);
        const double *av = tens_random(&a, 1), *bv = tens_random(&b, 3), *cv = tens_random(&c, 2);
        double *want = data_new(c.count);
        for (int64_t i = 0; i < c.count; i++) {
            const int64_t at[4] = {i / 60, i / 20 % 3, i / 5 % 4, i % 5};
            int64_t o = 0;
            for (int k = 0; k < 4; k++)
                o += bd[k] > 1 ? at[k] * b.stride[k] : 0;
            want[i] = -2 * av[i] * bv[o] + 0.5 * cv[i];
        }
        CALL(cudnnOpTensor, (api_handle(), d, &alpha1, a.desc, a.ptr, &alpha2, b.desc, b.ptr, &beta, c.desc, c.ptr));
        NEAR(&c, want, 1e-6);
        tens_free(&a);
        tens_free(&b);
        tens_free(&c);
    }
    CALL(cudnnDestroyOpTensorDescriptor, (d));
}

/* --- softmax --- */
static void softmax_row(const double *x, double *y, int64_t n, int64_t step)
{
    double top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
        top = fmax(top, x[i * step]);
    for (int64_t i = 0; i < n; i++)
        sum += exp(x[i * step] - top);
    for (int64_t i = 0; i < n; i++)
        y[i * step] = exp(x[i * step] - top) / sum;
}

static void check_softmax(cudnnDataType_t type, cudnnSoftmaxAlgorithm_t algo, cudnnSoftmaxMode_t mode, const int *dim, bool nhwc)
{
    tens x = tens_new(type, 4, dim, nhwc), y = tens_new(type, 4, dim, nhwc);
    const double *in = tens_random(&x, 11);
    double *want = data_new(x.count), ar, br;
    const int64_t space = (int64_t)dim[2] * dim[3], image = dim[1] * space;
    for (int n = 0; n < dim[0]; n++) {
        if (mode == CUDNN_SOFTMAX_MODE_INSTANCE)
            softmax_row(in + n * image, want + n * image, image, 1);
        for (int64_t s = 0; mode == CUDNN_SOFTMAX_MODE_CHANNEL && s < space; s++)
            softmax_row(in + n * image + s, want + n * image + s, dim[1], space);
    }
    for (int64_t i = 0; algo == CUDNN_SOFTMAX_LOG && i < x.count; i++)
        want[i] = log(want[i]);
    tens_fill(&y, NAN);
    CALL(cudnnSoftmaxForward, (api_handle(), algo, mode, scalar(type, 1, &ar), x.desc, x.ptr, scalar(type, 0, &br), y.desc, y.ptr));
    NEAR_LEAST(&y, want, type_tol(type), 1);  /* a logarithm of 1 is as exact as one of e */
    tens_free(&x);
    tens_free(&y);
}

/* FluxML/NNlib.jl #285, PaddlePaddle/Paddle #46330 */
void L34_softmax_any_dimension(void **state)
{
    (void)state;
    const cudnnDataType_t types[] = {F32, F64, F16, BF16};
    const int dims[][4] = {{2, 3, 4, 5}, {5, 1, 1, 7}, {1, 7, 1, 1}, {3, 1, 6, 1}, {2, 100, 1, 1}, {1, 3, 1, 5000}, {70000, 2, 1, 1}};
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
        for (int k = 0; k < 24; k++)
            if (k < 6 || d < 4)
                check_softmax(types[k / 6], k % 3, k / 3 % 2, dims[d], k & 1);
    /* one -inf among numbers has probability 0; a row of nothing else is 0/0 (the vendor's kernels say 0) */
    const float one = 1, zero = 0;
    tens x = TENS4(F32, 2, 3, 1, 1), y = TENS4(F32, 2, 3, 1, 1);
    tens_put(&x, (const double[]){-INFINITY, 1, 1, -INFINITY, -INFINITY, -INFINITY});
    CALL(cudnnSoftmaxForward, (api_handle(), CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE, &one, x.desc, x.ptr, &zero, y.desc,
                               y.ptr));
    const double none = api_ours ? NAN : 0;
    NEAR(&y, ((const double[]){0, 0.5, 0.5, none, none, none}), 1e-6);
    tens_free(&x);
    tens_free(&y);
}

/* pytorch/pytorch #84144 with strides in place of data: the last row lies past 2^32 elements */
void L35_softmax_offsets_past_2_32(void **state)
{
    (void)state;
    const float one = 1, zero = 0;
    const int dim[4] = {4, 3, 1, 1}, far_apart = 2147483640, stride[4] = {far_apart, 1, 1, 1}, near_by[4] = {3, 1, 1, 1};
    const size_t bytes = (3 * (size_t)far_apart + 3) * 2;
    void *map = sparse_map(bytes);
    tens x = tens_over(F16, 4, dim, stride, map), y = tens_strided(F16, 4, dim, near_by);
    const double *in = tens_random(&x, 4);
    double *want = data_new(x.count);
    for (int n = 0; n < 4; n++)
        softmax_row(in + n * 3, want + n * 3, 3, 1);
    CALL(cudnnSoftmaxForward, (api_handle(), CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one, x.desc, x.ptr, &zero, y.desc,
                               y.ptr));
    NEAR(&y, want, 2e-3);
    tens_free(&x);
    tens_free(&y);
    munmap(map, bytes);
}

/* --- alpha and beta of the rest: NaN in an output is not read where beta is 0; out = alpha * result + beta * out --- */
typedef cudnnStatus_t (*op_call)(const void *alpha, const void *beta, const tens *in, const tens *out);

static cudnnStatus_t call_pool(const void *alpha, const void *beta, const tens *in, const tens *out)
{
    cudnnPoolingDescriptor_t p = pool_new(CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, CUDNN_PROPAGATE_NAN, 3, 1, 1);
    cudnnStatus_t st = api.cudnnPoolingForward(api_handle(), p, alpha, in->desc, in->ptr, beta, out->desc, out->ptr);
    CALL(cudnnDestroyPoolingDescriptor, (p));
    return st;
}

static cudnnStatus_t call_pool_back(const void *alpha, const void *beta, const tens *in, const tens *out)
{
    cudnnPoolingDescriptor_t p = pool_new(CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 1, 0, 1);
    cudnnStatus_t st = api.cudnnPoolingBackward(api_handle(), p, alpha, in->desc, in->ptr, in->desc, in->ptr, in->desc, in->ptr, beta,
                                                out->desc, out->ptr);
    CALL(cudnnDestroyPoolingDescriptor, (p));
    return st;
}

static cudnnStatus_t call_softmax(const void *alpha, const void *beta, const tens *in, const tens *out)
{
    return api.cudnnSoftmaxForward(api_handle(), CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, alpha, in->desc, in->ptr, beta,
                                   out->desc, out->ptr);
}

static cudnnStatus_t call_softmax_back(const void *alpha, const void *beta, const tens *in, const tens *out)
{
    return api.cudnnSoftmaxBackward(api_handle(), CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, alpha, in->desc, in->ptr,
                                    in->desc, in->ptr, beta, out->desc, out->ptr);
}

static cudnnActivationDescriptor_t act_new(cudnnActivationMode_t mode)
{
    cudnnActivationDescriptor_t a;
    CALL(cudnnCreateActivationDescriptor, (&a));
    CALL(cudnnSetActivationDescriptor, (a, mode, CUDNN_PROPAGATE_NAN, 0.5));
    return a;
}

static cudnnStatus_t call_act(const void *alpha, const void *beta, const tens *in, const tens *out)
{
    cudnnActivationDescriptor_t a = act_new(CUDNN_ACTIVATION_TANH);
    cudnnStatus_t st = api.cudnnActivationForward(api_handle(), a, alpha, in->desc, in->ptr, beta, out->desc, out->ptr);
    CALL(cudnnDestroyActivationDescriptor, (a));
    return st;
}

static cudnnStatus_t call_act_back(const void *alpha, const void *beta, const tens *in, const tens *out)
{
    cudnnActivationDescriptor_t a = act_new(CUDNN_ACTIVATION_ELU);
    cudnnStatus_t st = api.cudnnActivationBackward(api_handle(), a, alpha, in->desc, in->ptr, in->desc, in->ptr, in->desc, in->ptr,
                                                   beta, out->desc, out->ptr);
    CALL(cudnnDestroyActivationDescriptor, (a));
    return st;
}

static cudnnStatus_t call_transform(const void *alpha, const void *beta, const tens *in, const tens *out)
{
    return api.cudnnTransformTensor(api_handle(), alpha, in->desc, in->ptr, beta, out->desc, out->ptr);
}

static cudnnStatus_t call_bias_back(const void *alpha, const void *beta, const tens *in, const tens *out)
{
    tens db = tens_over(in->type, 4, (const int[]){1, in->dim[1], 1, 1}, (const int[]){in->dim[1], 1, 1, 1}, out->ptr);
    cudnnStatus_t st = api.cudnnConvolutionBackwardBias(api_handle(), alpha, in->desc, in->ptr, beta, db.desc, db.ptr);
    tens_free(&db);
    return st;
}

/* n: how many leading elements of out the call writes */
static void check_alpha_beta(op_call f, cudnnDataType_t type, int64_t n)
{
    tens in = TENS4(type, 2, 3, 4, 5), out = TENS4(type, 2, 3, 4, 5);
    double one, zero, two, r;
    tens_random(&in, 21);
    tens_fill(&out, NAN);
    cudnnStatus_t st = f(scalar(type, 1, &one), scalar(type, 0, &zero), &in, &out);
    if (vendor_cannot(st))
        return;
    assert_int_equal(st, OK);
    double *g = tens_get(&out), *want = data_new(out.count);
    for (int64_t i = 0; i < out.count; i++) {
        assert_int_equal(isnan(g[i]) != 0, i >= n);
        want[i] = i < n ? 2 * g[i] + 3 : 3;
    }
    tens_fill(&out, 3);
    assert_int_equal(f(scalar(type, 2, &two), scalar(type, 1, &r), &in, &out), OK);
    NEAR(&out, want, type_eps(type) * 4);
    tens_free(&in);
    tens_free(&out);
}

static void check_bn_back_alpha_beta(void)
{
    const float zero = 0, one = 1, two = 2;
    const int dim[4] = {3, 2, 4, 4};
    bn b = bn_new(CUDNN_BATCHNORM_SPATIAL, 4, dim);
    tens dy = tens_new(F32, 4, dim, false);
    put_param(&b, b.scale, 1, 0.5);
    tens_random(&b.x, 31);
    tens_random(&dy, 32);
    for (int pass = 0; pass < 2; pass++) {
        double before = pass ? 3 : NAN;
        double *g = pass ? tens_get(&b.y) : NULL;
        double s0 = type_load(F32, b.mean, 0), b0 = type_load(F32, b.var, 0);
        tens_fill(&b.y, before);
        put_param(&b, b.mean, before, 0);  /* here mean and var are the outputs dscale and dbias */
        put_param(&b, b.var, before, 0);
        CALL(cudnnBatchNormalizationBackward, (api_handle(), b.mode, pass ? &two : &one, pass ? &one : &zero, pass ? &two : &one,
                                               pass ? &one : &zero, b.x.desc, b.x.ptr, dy.desc, dy.ptr, b.y.desc, b.y.ptr,
                                               b.param.desc, b.scale, b.mean, b.var, 1e-3, NULL, NULL));
        for (int64_t i = 0; g && i < b.y.count; i++)
            g[i] = 3 + 2 * g[i];
        if (g) {
            NEAR(&b.y, g, 1e-5);
            assert_true(fabs(type_load(F32, b.mean, 0) - (3 + 2 * s0)) < 1e-4);
            assert_true(fabs(type_load(F32, b.var, 0) - (3 + 2 * b0)) < 1e-4);
        }
    }
    tens_free(&dy);
    bn_free(&b);
}

void L14_other_alpha_beta(void **state)
{
    (void)state;
    const op_call calls[] = {call_pool, call_pool_back, call_softmax, call_softmax_back, call_act, call_act_back, call_transform};
    const cudnnDataType_t types[] = {F32, F64, F16, BF16};
    for (int t = 0; t < 4; t++) {
        for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
            check_alpha_beta(calls[k], types[t], 120);
        check_alpha_beta(call_bias_back, types[t], 3);
    }
    check_bn_back_alpha_beta();
}

/* --- dropout --- */
static void set_dropout(cudnnDropoutDescriptor_t d, void *states, size_t size, unsigned long long seed, bool restore)
{
    if (restore)
        CALL(cudnnRestoreDropoutDescriptor, (d, api_handle(), 0.25f, states, size, seed));
    else
        CALL(cudnnSetDropoutDescriptor, (d, api_handle(), 0.25f, states, size, seed));
}

static double *drop(cudnnDropoutDescriptor_t d, const tens *x, const tens *y, void *reserve, size_t room)
{
    CALL(cudnnDropoutForward, (api_handle(), d, x->desc, x->ptr, y->desc, y->ptr, reserve, room));
    return tens_get(y);
}

static bool same_values(const double *a, const double *b, int64_t n)
{
    return !memcmp(a, b, (size_t)n * sizeof *a);
}

/* pytorch/pytorch #74177, #18110, #90168 */
void L43_dropout_repeats(void **state)
{
    (void)state;
    cudnnHandle_t h = api_handle();
    tens x = TENS4(F32, 10, 10, 10, 100), y = TENS4(F32, 10, 10, 10, 100);
    size_t size, room;
    CALL(cudnnDropoutGetStatesSize, (h, &size));
    CALL(cudnnDropoutGetReserveSpaceSize, (x.desc, &room));
    void *states = api_alloc_end(size, 16), *reserve = api_alloc_end(room, 16);
    cudnnDropoutDescriptor_t d;
    CALL(cudnnCreateDropoutDescriptor, (&d));
    tens_fill(&x, 3);
    set_dropout(d, states, size, 42, false);
    const double *first = drop(d, &x, &y, reserve, room), *second = drop(d, &x, &y, reserve, room);
    assert_false(same_values(first, second, x.count));                    /* each forward advances */
    double dropped = 0;
    for (int64_t i = 0; i < x.count; i++) {
        assert_true(first[i] == 0 || fabs(first[i] - 4) < 1e-6);          /* 3 / (1 - 0.25) */
        dropped += first[i] == 0;
    }
    assert_true(fabs(dropped / (double)x.count - 0.25) < 0.005);          /* 5 standard deviations are 0.0068 */
    tens_fill(&x, 1);
    CALL(cudnnDropoutBackward, (h, d, x.desc, x.ptr, y.desc, y.ptr, reserve, room));
    double *dx = tens_get(&y);
    for (int64_t i = 0; i < x.count; i++)
        assert_true(second[i] == 0 ? dx[i] == 0 : fabs(dx[i] - 4.0 / 3) < 1e-6);
    tens_fill(&x, 3);
    set_dropout(d, states, size, 42, false);                              /* Set starts the sequence again */
    assert_true(same_values(first, drop(d, &x, &y, reserve, room), x.count));
    set_dropout(d, states, size, 42, true);                               /* Restore goes on where the states are */
    assert_true(same_values(second, drop(d, &x, &y, reserve, room), x.count));
    set_dropout(d, states, size, 43, false);
    assert_false(same_values(first, drop(d, &x, &y, reserve, room), x.count));
    CALL(cudnnDestroyDropoutDescriptor, (d));
    tens_free(&x);
    tens_free(&y);
}
