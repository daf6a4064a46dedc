/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution through its descriptors and queries: what is refused and with which words, output sizes, and lists of algorithms
 * that say what then runs. */
#include "conv_case.h"

#define BAD CUDNN_STATUS_BAD_PARAM
#define UNSUPPORTED CUDNN_STATUS_NOT_SUPPORTED
#define XCORR .mode = CUDNN_CROSS_CORRELATION

/* The call failed with this status and its text holds the word. */
static void fails(cudnnStatus_t got, cudnnStatus_t want, const char *word)
{
    if (got != want || !strstr(dn_error_text(), word))
        fail_msg("status %d, not %d, or the text \"%s\" lacks \"%s\"", (int)got, (int)want, dn_error_text(), word);
}

/* --- descriptor --- */

static cudnnConvolutionDescriptor_t d;

static int make_descriptor(void **state)
{
    (void)state;
    return cudnnCreateConvolutionDescriptor(&d) != CUDNN_STATUS_SUCCESS;
}

static int destroy_descriptor(void **state)
{
    (void)state;
    return cudnnDestroyConvolutionDescriptor(d) != CUDNN_STATUS_SUCCESS;
}

static void a_new_descriptor_has_defaults(void **state)
{
    int n = -1, groups = 0, a[6], b[6], c[6];
    cudnnConvolutionMode_t mode;
    cudnnDataType_t type;
    cudnnMathType_t math = CUDNN_FMA_MATH;
    cudnnReorderType_t reorder = CUDNN_NO_REORDER;
    (void)state;
    OK(cudnnGetConvolutionNdDescriptor(d, 2, &n, a, b, c, &mode, &type));
    OK(cudnnGetConvolutionGroupCount(d, &groups));
    OK(cudnnGetConvolutionMathType(d, &math));
    OK(cudnnGetConvolutionReorderType(d, &reorder));
    assert_true(n == 0 && groups == 1 && math == CUDNN_DEFAULT_MATH && reorder == CUDNN_DEFAULT_REORDER);
}

static void what_is_set_is_read_back(void **state)
{
    static const int pad[] = { 1, 2, 3 }, stride[] = { 4, 5, 6 }, dilation[] = { 7, 8, 9 };
    int n, p[6], s[6], q[6], v[6];
    cudnnConvolutionMode_t mode;
    cudnnDataType_t type;
    cudnnMathType_t math;
    cudnnReorderType_t reorder;
    (void)state;
    OK(cudnnSetConvolutionGroupCount(d, 3));
    OK(cudnnSetConvolutionMathType(d, CUDNN_FMA_MATH));
    OK(cudnnSetConvolutionReorderType(d, CUDNN_NO_REORDER));
    OK(cudnnSetConvolutionNdDescriptor(d, 3, pad, stride, dilation, CUDNN_CONVOLUTION, CUDNN_DATA_HALF));
    for (int want = 0; want <= 6; want++) {
        memset(p, 0xff, sizeof p);
        OK(cudnnGetConvolutionNdDescriptor(d, want, &n, p, s, q, &mode, &type));
        assert_true(n == 3 && mode == CUDNN_CONVOLUTION && type == CUDNN_DATA_HALF);
        for (int j = 0; j < 3 && j < want; j++)
            assert_true(p[j] == pad[j] && s[j] == stride[j] && q[j] == dilation[j]);
        assert_true(want > 3 || p[want] == -1);
    }
    OK(cudnnSetConvolution2dDescriptor(d, 1, 2, 3, 4, 5, 6, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    OK(cudnnGetConvolution2dDescriptor(d, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &mode, &type));
    for (int j = 0; j < 6; j++)
        assert_int_equal(v[j], j + 1);
    assert_true(mode == CUDNN_CROSS_CORRELATION && type == CUDNN_DATA_FLOAT);
    OK(cudnnGetConvolutionGroupCount(d, &n));
    OK(cudnnGetConvolutionMathType(d, &math));
    OK(cudnnGetConvolutionReorderType(d, &reorder));
    assert_true(n == 3 && math == CUDNN_FMA_MATH && reorder == CUDNN_NO_REORDER);  /* a Set call keeps them */
}

static void bad_descriptors(void **state)
{
    static const int zero[8] = { 0 }, one[8] = { 1, 1, 1, 1, 1, 1, 1, 1 }, negative[] = { 0, -1 };
    const cudnnConvolutionMode_t x = CUDNN_CROSS_CORRELATION;
    const cudnnDataType_t f = CUDNN_DATA_FLOAT;
    int n, v[6];
    cudnnConvolutionMode_t mode;
    cudnnDataType_t type;
    (void)state;
    fails(cudnnSetConvolution2dDescriptor(d, -1, 0, 1, 1, 1, 1, x, f), BAD, "pad_h is -1");
    fails(cudnnSetConvolution2dDescriptor(d, 0, -2, 1, 1, 1, 1, x, f), BAD, "pad_w is -2");
    fails(cudnnSetConvolution2dDescriptor(d, 0, 0, 0, 1, 1, 1, x, f), BAD, "u is 0");
    fails(cudnnSetConvolution2dDescriptor(d, 0, 0, 1, -3, 1, 1, x, f), BAD, "v is -3");
    fails(cudnnSetConvolution2dDescriptor(d, 0, 0, 1, 1, 0, 1, x, f), BAD, "dilation_h is 0");
    fails(cudnnSetConvolution2dDescriptor(d, 0, 0, 1, 1, 1, 0, x, f), BAD, "dilation_w is 0");
    fails(cudnnSetConvolution2dDescriptor(d, 0, 0, 1, 1, 1, 1, (cudnnConvolutionMode_t)2, f), BAD, "mode is 2");
    fails(cudnnSetConvolution2dDescriptor(d, 0, 0, 1, 1, 1, 1, x, CUDNN_DATA_INT8), BAD, "computeType is 3");
    fails(cudnnSetConvolution2dDescriptor(d, 0, 0, 1, 1, 1, 1, x, CUDNN_DATA_BFLOAT16), BAD, "computeType is 9");
    fails(cudnnSetConvolution2dDescriptor(NULL, 0, 0, 1, 1, 1, 1, x, f), BAD, "convDesc is NULL");
    fails(cudnnSetConvolutionNdDescriptor(d, -1, zero, one, one, x, f), BAD, "arrayLength is -1");
    fails(cudnnSetConvolutionNdDescriptor(d, 7, zero, one, one, x, f), UNSUPPORTED, "arrayLength is 7");
    fails(cudnnSetConvolutionNdDescriptor(d, 2, NULL, one, one, x, f), BAD, "padA is NULL");
    fails(cudnnSetConvolutionNdDescriptor(d, 2, zero, NULL, one, x, f), BAD, "filterStrideA is NULL");
    fails(cudnnSetConvolutionNdDescriptor(d, 2, zero, one, NULL, x, f), BAD, "dilationA is NULL");
    fails(cudnnSetConvolutionNdDescriptor(d, 2, negative, one, one, x, f), BAD, "padA[1] is -1");
    fails(cudnnSetConvolutionNdDescriptor(d, 2, zero, zero, one, x, f), BAD, "filterStrideA[0] is 0");
    fails(cudnnSetConvolutionNdDescriptor(d, 2, zero, one, zero, x, f), BAD, "dilationA[0] is 0");
    fails(cudnnSetConvolutionGroupCount(d, 0), BAD, "groupCount is 0");
    fails(cudnnSetConvolutionMathType(d, (cudnnMathType_t)4), BAD, "mathType is 4");
    fails(cudnnSetConvolutionReorderType(d, (cudnnReorderType_t)2), BAD, "reorderType is 2");
    fails(cudnnGetConvolutionGroupCount(d, NULL), BAD, "groupCount is NULL");
    fails(cudnnGetConvolutionMathType(d, NULL), BAD, "mathType is NULL");
    fails(cudnnGetConvolutionReorderType(d, NULL), BAD, "reorderType is NULL");
    fails(cudnnGetConvolutionNdDescriptor(d, 7, &n, v, v, v, &mode, &type), UNSUPPORTED, "arrayLengthRequested is 7");
    fails(cudnnGetConvolutionNdDescriptor(d, -1, &n, v, v, v, &mode, &type), BAD, "arrayLengthRequested is -1");
    fails(cudnnGetConvolutionNdDescriptor(d, 2, NULL, v, v, v, &mode, &type), BAD, "arrayLength is NULL");
    fails(cudnnGetConvolutionNdDescriptor(d, 2, &n, v, NULL, v, &mode, &type), BAD, "strideA is NULL");
    fails(cudnnGetConvolution2dDescriptor(d, v, v, v, NULL, v, v, &mode, &type), BAD, "v is NULL");
    fails(cudnnCreateConvolutionDescriptor(NULL), BAD, "convDesc is NULL");
    OK(cudnnDestroyConvolutionDescriptor(NULL));
}

/* --- output sizes --- */

static void output_sizes(void **state)
{
    static const shape s = { 3, 2, 4, 6, 2, { 9, 10, 11 }, { 3, 4, 5 }, { 0, 1, 2 }, { 1, 2, 3 }, { 1, 2, 1 }, XCORR };
    int out[8], n, c, h, w;
    (void)state;
    conv v = conv_make(s, DN_F32, DN_F32, PACKED, PACKED);
    OK(cudnnGetConvolutionNdForwardOutputDim(v.desc, v.x.desc, v.w_desc, 5, out));
    assert_true(out[0] == 2 && out[1] == 6 && out[2] == 7 && out[3] == 3 && out[4] == 4);
    fails(cudnnGetConvolutionNdForwardOutputDim(v.desc, v.x.desc, v.w_desc, 6, out), BAD, "nbDims is 6");
    fails(cudnnGetConvolutionNdForwardOutputDim(v.desc, v.x.desc, v.w_desc, 5, NULL), BAD, "tensorOuputDimA is NULL");
    fails(cudnnGetConvolution2dForwardOutputDim(v.desc, v.x.desc, v.w_desc, &n, &c, &h, &w), BAD, "5 dimensions");
    OK(cudnnSetConvolution2dDescriptor(v.desc, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    fails(cudnnGetConvolutionNdForwardOutputDim(v.desc, v.x.desc, v.w_desc, 5, out), BAD, "needs 4");
    OK(cudnnSetTensor4dDescriptor(v.x.desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 4, 5, 7));
    OK(cudnnSetFilter4dDescriptor(v.w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 6, 2, 3, 3));
    OK(cudnnGetConvolution2dForwardOutputDim(v.desc, v.x.desc, v.w_desc, &n, &c, &h, &w));
    assert_true(n == 1 && c == 6 && h == 3 && w == 5);
    fails(cudnnGetConvolution2dForwardOutputDim(v.desc, v.x.desc, v.w_desc, &n, &c, NULL, &w), BAD, "h is NULL");
    OK(cudnnSetConvolutionGroupCount(v.desc, 1));
    fails(cudnnGetConvolution2dForwardOutputDim(v.desc, v.x.desc, v.w_desc, &n, &c, &h, &w), BAD, "wants 2 x 1 group");
    OK(cudnnSetFilter4dDescriptor(v.w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 6, 4, 3, 8));
    fails(cudnnGetConvolution2dForwardOutputDim(v.desc, v.x.desc, v.w_desc, &n, &c, &h, &w), BAD, "dimension 3 of the output would be 0");
    /* PaddlePaddle #71179: window 25, padding 25 of a transposed convolution on 26 x 26; padding 24 works. */
    OK(cudnnSetTensor4dDescriptor(v.x.desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 2, 2));
    OK(cudnnSetFilter4dDescriptor(v.w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, 25, 25));
    OK(cudnnSetConvolution2dDescriptor(v.desc, 24, 24, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    OK(cudnnGetConvolution2dForwardOutputDim(v.desc, v.x.desc, v.w_desc, &n, &c, &h, &w));
    assert_true(h == 26 && w == 26);
    conv_free(&v);
}

/* floor, also where the window is larger than the padded input. */
static void output_size_rounds_down(void **state)
{
    (void)state;
    for (int in = 1; in < 9; in++)
        for (int window = 1; window < 9; window++)
            for (int stride = 1; stride < 5; stride++)
                assert_int_equal(dn_conv_out_dim(in, window, 1, stride, 2),
                                 1 + (int64_t)floor((in + 2 - (2 * (window - 1) + 1)) / (double)stride));
}

/* --- misuse --- */

static const shape plain = { 2, 2, 4, 6, 2, { 5, 5 }, { 3, 3 }, { 1, 1 }, XCORR };
static const float one = 1, zero = 0;

static cudnnStatus_t forward(conv *c, int algo, void *workspace, size_t size)
{
    return cudnnConvolutionForward(handle, &one, c->x.desc, c->x.data, c->w_desc, c->w.data, c->desc, (cudnnConvolutionFwdAlgo_t)algo,
                                   workspace, size, &zero, c->y.desc, c->y.data);
}

static void missing_arguments(void **state)
{
    (void)state;
    conv c = conv_make(plain, DN_F32, DN_F32, PACKED, PACKED);
    void *x = c.x.data, *w = c.w.data, *y = c.y.data;
    const cudnnConvolutionFwdAlgo_t a = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
    cudnnTensorDescriptor_t xd = c.x.desc, yd = c.y.desc, unset;
    OK(cudnnCreateTensorDescriptor(&unset));
    fails(cudnnConvolutionForward(NULL, &one, xd, x, c.w_desc, w, c.desc, a, NULL, 0, &zero, yd, y), BAD, "handle is NULL");
    fails(cudnnConvolutionForward(handle, NULL, xd, x, c.w_desc, w, c.desc, a, NULL, 0, &zero, yd, y), BAD, "alpha is NULL");
    fails(cudnnConvolutionForward(handle, &one, NULL, x, c.w_desc, w, c.desc, a, NULL, 0, &zero, yd, y), BAD, "xDesc is NULL");
    fails(cudnnConvolutionForward(handle, &one, unset, x, c.w_desc, w, c.desc, a, NULL, 0, &zero, yd, y), BAD, "xDesc was created");
    fails(cudnnConvolutionForward(handle, &one, xd, NULL, c.w_desc, w, c.desc, a, NULL, 0, &zero, yd, y), BAD, "x is NULL");
    fails(cudnnConvolutionForward(handle, &one, xd, x, NULL, w, c.desc, a, NULL, 0, &zero, yd, y), BAD, "wDesc is NULL");
    fails(cudnnConvolutionForward(handle, &one, xd, x, c.w_desc, NULL, c.desc, a, NULL, 0, &zero, yd, y), BAD, "w is NULL");
    fails(cudnnConvolutionForward(handle, &one, xd, x, c.w_desc, w, NULL, a, NULL, 0, &zero, yd, y), BAD, "convDesc is NULL");
    fails(cudnnConvolutionForward(handle, &one, xd, x, c.w_desc, w, d, a, NULL, 0, &zero, yd, y), BAD, "convDesc was created");
    fails(cudnnConvolutionForward(handle, &one, xd, x, c.w_desc, w, c.desc, a, NULL, 0, NULL, yd, y), BAD, "beta is NULL");
    fails(cudnnConvolutionForward(handle, &one, xd, x, c.w_desc, w, c.desc, a, NULL, 0, &zero, NULL, y), BAD, "yDesc is NULL");
    fails(cudnnConvolutionForward(handle, &one, xd, x, c.w_desc, w, c.desc, a, NULL, 0, &zero, yd, NULL), BAD, "y is NULL");
    fails(cudnnConvolutionForward(handle, &one, xd, x, c.w_desc, w, c.desc, a, NULL, 8, &zero, yd, y), BAD, "workSpace is NULL");
    fails(forward(&c, -1, NULL, 0), BAD, "algo is -1");
    fails(forward(&c, 8, NULL, 0), BAD, "algo is 8");
    fails(cudnnConvolutionBackwardBias(handle, &one, yd, NULL, &zero, c.b.desc, c.b.data), BAD, "dy is NULL");
    fails(cudnnConvolutionBackwardBias(handle, &one, yd, y, &zero, c.b.desc, NULL), BAD, "db is NULL");
    fails(cudnnConvolutionBackwardBias(handle, &one, yd, y, &zero, xd, x), BAD, "dbDesc");
    OK(cudnnDestroyTensorDescriptor(unset));
    conv_free(&c);
}

/* Shapes that do not fit: the filter's, then y's dims changed one by one. */
static void shapes_that_do_not_agree(void **state)
{
    static const struct { int y[4]; const char *word; } wrong[] = {
        { { 1, 6, 5, 5 }, "yDesc has a batch of 1" }, { { 2, 5, 5, 5 }, "yDesc has 5 channels" },
        { { 2, 6, 4, 5 }, "dimension 2 of yDesc is 4" }, { { 2, 6, 5, 6 }, "dimension 3 of yDesc is 6" },
    };
    (void)state;
    conv c = conv_make(plain, DN_F32, DN_F32, PACKED, PACKED);
    for (int i = 0; i < 4; i++) {
        const int *y = wrong[i].y;
        OK(cudnnSetTensor4dDescriptor(c.y.desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, y[0], y[1], y[2], y[3]));
        fails(forward(&c, 0, NULL, 0), BAD, wrong[i].word);
    }
    OK(cudnnSetTensor4dDescriptor(c.y.desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_HALF, 2, 6, 5, 5));
    fails(forward(&c, 0, NULL, 0), BAD, "f32, f32 and f16");
    OK(cudnnSetTensor4dDescriptor(c.y.desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 6, 5, 5));
    OK(cudnnSetFilter4dDescriptor(c.w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 6, 3, 3, 3));
    fails(forward(&c, 0, NULL, 0), BAD, "xDesc has 4 channels, wDesc wants 3 x 2 groups");
    OK(cudnnSetFilter4dDescriptor(c.w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 5, 2, 3, 3));
    fails(forward(&c, 0, NULL, 0), BAD, "multiple of the group count");
    OK(cudnnSetFilter4dDescriptor(c.w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 6, 2, 8, 3));
    fails(forward(&c, 0, NULL, 0), BAD, "dimension 2 of the output would be 0");
    OK(cudnnSetFilter4dDescriptor(c.w_desc, CUDNN_DATA_DOUBLE, CUDNN_TENSOR_NCHW, 6, 2, 3, 3));
    fails(forward(&c, 0, NULL, 0), BAD, "f32, f64 and f32");
    OK(cudnnSetFilter4dDescriptor(c.w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 6, 2, 3, 3));
    OK(cudnnSetConvolution2dDescriptor(c.desc, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_DOUBLE));
    fails(forward(&c, 0, NULL, 0), UNSUPPORTED, "f32 and bf16 data need compute type f32");
    OK(cudnnSetConvolutionNdDescriptor(c.desc, 0, c.s.pad, c.s.stride, c.s.dilation, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    fails(forward(&c, 0, NULL, 0), BAD, "convDesc has 0 dimensions");
    conv_free(&c);
}

/* Half data with half or float arithmetic (pytorch #520). */
static void half_computes_in_half_or_float(void **state)
{
    (void)state;
    conv c = conv_make(plain, DN_F16, DN_F16, PACKED, PACKED);
    tens_integers(&c.x, 2, 1);
    tens_integers(&c.w, 2, 2);
    OK(forward(&c, 1, NULL, 0));
    OK(cudnnSetConvolution2dDescriptor(c.desc, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_HALF));
    OK(forward(&c, 1, NULL, 0));
    conv_free(&c);
}

static void small_workspace_and_refused_algorithms(void **state)
{
    size_t size = 0;
    char byte;
    (void)state;
    conv c = conv_make(plain, DN_F32, DN_F32, PACKED, PACKED);
    const cudnnConvolutionFwdAlgo_t gemm = CUDNN_CONVOLUTION_FWD_ALGO_GEMM;
    OK(cudnnGetConvolutionForwardWorkspaceSize(handle, c.x.desc, c.w_desc, c.desc, c.y.desc, gemm, &size));
    assert_true(size > 0);
    fails(forward(&c, 2, &byte, size - 1), BAD, "workSpaceSizeInBytes");
    fails(forward(&c, 2, NULL, 0), BAD, "workSpaceSizeInBytes is 0");
    fails(forward(&c, 5, &byte, 1), BAD, "workSpaceSizeInBytes is 1");
    shape dilated = plain;
    dilated.dilation[0] = 2;
    conv other = conv_make(dilated, DN_F32, DN_F32, PACKED, PACKED);
    for (int algo = 4; algo < 8; algo++) {
        fails(forward(&other, algo, NULL, 0), UNSUPPORTED, "ref_conv_fwd_gemm: ");
        fails(cudnnGetConvolutionForwardWorkspaceSize(handle, other.x.desc, other.w_desc, other.desc, other.y.desc,
                                                      (cudnnConvolutionFwdAlgo_t)algo, &size),
              UNSUPPORTED, "ref_conv_fwd_direct: ");
    }
    conv_free(&other);
    fails(cudnnGetConvolutionForwardWorkspaceSize(handle, c.x.desc, c.w_desc, c.desc, c.y.desc, gemm, NULL), BAD, "sizeInBytes is NULL");
    conv_free(&c);
}

/* The identity goes with the precomputed algorithm alone; every argument is wanted. */
static void fused_misuse(void **state)
{
    cudnnActivationDescriptor_t act;
    size_t bytes = 1 << 20;
    (void)state;
    conv c = conv_make(plain, DN_F32, DN_F32, PACKED, PACKED);
    void *ws = malloc(bytes);
    assert_non_null(ws);
    tens_integers(&c.x, 2, 1);
    tens_integers(&c.w, 2, 2);
    tens_integers(&c.z, 2, 3);
    tens_integers(&c.b, 2, 4);
    OK(cudnnCreateActivationDescriptor(&act));
    OK(cudnnSetActivationDescriptor(act, CUDNN_ACTIVATION_IDENTITY, CUDNN_PROPAGATE_NAN, 0));
#define FUSED(algo, z_desc, z_data, b_desc, b_data, a_desc)                                                                        \
    cudnnConvolutionBiasActivationForward(handle, &one, c.x.desc, c.x.data, c.w_desc, c.w.data, c.desc, (cudnnConvolutionFwdAlgo_t)(algo), \
                                          ws, bytes, &one, z_desc, z_data, b_desc, b_data, a_desc, c.y.desc, c.y.data)
    OK(FUSED(1, c.z.desc, c.z.data, c.b.desc, c.b.data, act));
    for (int algo = 0; algo < 4; algo++)
        if (algo != 1)
            fails(FUSED(algo, c.z.desc, c.z.data, c.b.desc, c.b.data, act), UNSUPPORTED, "identity");
    fails(FUSED(1, NULL, c.z.data, c.b.desc, c.b.data, act), BAD, "zDesc is NULL");
    fails(FUSED(1, c.z.desc, NULL, c.b.desc, c.b.data, act), BAD, "z is NULL");
    fails(FUSED(1, c.x.desc, c.z.data, c.b.desc, c.b.data, act), BAD, "zDesc has other sizes");
    fails(FUSED(1, c.z.desc, c.z.data, NULL, c.b.data, act), BAD, "biasDesc is NULL");
    fails(FUSED(1, c.z.desc, c.z.data, c.b.desc, NULL, act), BAD, "bias is NULL");
    fails(FUSED(1, c.z.desc, c.z.data, c.z.desc, c.z.data, act), BAD, "dimension 0 of biasDesc is 2");
    fails(FUSED(1, c.z.desc, c.z.data, c.b.desc, c.b.data, NULL), BAD, "activationDesc is NULL");
    OK(cudnnDestroyActivationDescriptor(act));
    free(ws);
    conv_free(&c);
}

/* --- lists of algorithms --- */

/* The three directions' perf structs have one layout (a generated test holds them to it); read as the first. */
typedef cudnnConvolutionFwdAlgoPerf_t perf;

enum { GET, FIND, FIND_EX };

static cudnnStatus_t list(conv *c, int dir, int how, int want, int *n, perf *p, void *ws, size_t size)
{
    cudnnConvolutionBwdDataAlgoPerf_t *pd = (void *)p;
    cudnnConvolutionBwdFilterAlgoPerf_t *pf = (void *)p;
    cudnnTensorDescriptor_t xd = c->x.desc, yd = c->y.desc;
    cudnnFilterDescriptor_t wd = c->w_desc;
    void *x = c->x.data, *w = c->w.data, *y = c->y.data;
    switch (dir * 3 + how) {
    case 0: return cudnnGetConvolutionForwardAlgorithm_v7(handle, xd, wd, c->desc, yd, want, n, p);
    case 1: return cudnnFindConvolutionForwardAlgorithm(handle, xd, wd, c->desc, yd, want, n, p);
    case 2: return cudnnFindConvolutionForwardAlgorithmEx(handle, xd, x, wd, w, c->desc, yd, y, want, n, p, ws, size);
    case 3: return cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, wd, yd, c->desc, xd, want, n, pd);
    case 4: return cudnnFindConvolutionBackwardDataAlgorithm(handle, wd, yd, c->desc, xd, want, n, pd);
    case 5: return cudnnFindConvolutionBackwardDataAlgorithmEx(handle, wd, w, yd, y, c->desc, xd, x, want, n, pd, ws, size);
    case 6: return cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle, xd, yd, c->desc, wd, want, n, pf);
    case 7: return cudnnFindConvolutionBackwardFilterAlgorithm(handle, xd, yd, c->desc, wd, want, n, pf);
    default: return cudnnFindConvolutionBackwardFilterAlgorithmEx(handle, xd, x, yd, y, c->desc, wd, w, want, n, pf, ws, size);
    }
}

static const int enumerators[3] = { 8, 6, 7 };

/* Every number runs on a plain 3 x 3 convolution, but for backward filter's fused Winograd, which there has never been. */
static int real_algo(int dir, int algo)
{
    return dir != 2 || algo != 4;
}

/* Every enumerator once, those that run first; refused ones with time -1. */
static void check_list(int dir, int how, const perf *p, int n)
{
    unsigned seen = 0;
    assert_int_equal(n, enumerators[dir]);
    for (int i = 0; i < n; i++) {
        assert_false(seen & 1u << p[i].algo);
        seen |= 1u << p[i].algo;
        assert_int_equal(p[i].status, real_algo(dir, (int)p[i].algo) ? CUDNN_STATUS_SUCCESS : UNSUPPORTED);
        assert_int_equal(p[i].determinism, CUDNN_DETERMINISTIC);
        assert_int_equal(p[i].mathType, CUDNN_DEFAULT_MATH);
        if (how == GET || p[i].status != CUDNN_STATUS_SUCCESS)
            assert_true(p[i].time == -1);
        else
            assert_true(p[i].time >= 0);
        if (i > 0 && p[i].status == CUDNN_STATUS_SUCCESS)
            assert_true(p[i - 1].status == CUDNN_STATUS_SUCCESS && (how == GET || p[i - 1].time <= p[i].time));
    }
}

static void lists_say_what_runs(void **state)
{
    (void)state;
    for (int dir = 0; dir < 3; dir++)
        for (int how = GET; how <= FIND_EX; how++) {
            conv c = conv_make(plain, DN_F32, DN_F32, GAPS, PACKED);
            perf p[9];
            int n = 0;
            size_t size = 1 << 20;
            void *ws = malloc(size);
            assert_non_null(ws);
            tens_integers(&c.x, 2, 1);
            tens_integers(&c.w, 2, 2);
            tens_integers(&c.y, 2, 3);
            double *x = values_of(&c.x), *w = values_of(&c.w), *y = values_of(&c.y);
            OK(list(&c, dir, how, 9, &n, p, ws, size));
            check_list(dir, how, p, n);
            for (int i = 0; how != FIND_EX && i < c.x.count; i++)
                assert_true(tens_get(&c.x, i) == x[i]);
            for (int i = 0; how != FIND_EX && i < c.w.count; i++)
                assert_true(tens_get(&c.w, i) == w[i]);
            for (int i = 0; how != FIND_EX && i < c.y.count; i++)
                assert_true(tens_get(&c.y, i) == y[i]);
            for (int i = 0; i < n && p[i].status == CUDNN_STATUS_SUCCESS; i++)
                directions[dir].run(&c, (int)p[i].algo, 1, 0);
            conv_watch(&c);
            OK(list(&c, dir, how, 2, &n, p, ws, size));  /* the best two */
            assert_int_equal(n, 2);
            assert_int_equal(p[1].status, CUDNN_STATUS_SUCCESS);
            fails(list(&c, dir, how, 0, &n, p, ws, size), BAD, "requestedAlgoCount is 0");
            fails(list(&c, dir, how, 1, NULL, p, ws, size), BAD, "returnedAlgoCount is NULL");
            fails(list(&c, dir, how, 1, &n, NULL, ws, size), BAD, "perfResults is NULL");
            free(x);
            free(w);
            free(y);
            free(ws);
            conv_free(&c);
        }
}

/* pytorch #31500: an algorithm whose workspace cannot be had is listed as such, and keeps no other from being found. */
static void too_small_a_workspace_hides_no_other(void **state)
{
    (void)state;
    for (int dir = 0; dir < 3; dir += 2) {
        conv c = conv_make(plain, DN_F32, DN_F32, PACKED, PACKED);
        perf p[9];
        int n = 0, starved = dir == 0 ? 2 : 3;
        tens_integers(&c.x, 2, 1);
        tens_integers(&c.w, 2, 2);
        tens_integers(&c.y, 2, 3);
        OK(list(&c, dir, FIND_EX, 9, &n, p, NULL, 0));
        assert_int_equal(p[0].status, CUDNN_STATUS_SUCCESS);
        for (int i = 0; i < n; i++) {
            if ((int)p[i].algo == starved) {
                assert_int_equal(p[i].status, CUDNN_STATUS_ALLOC_FAILED);
                assert_true(p[i].memory > 0);
            } else if (p[i].status == CUDNN_STATUS_ALLOC_FAILED) {
                assert_true(p[i].memory > 0);
            } else if (real_algo(dir, (int)p[i].algo)) {
                assert_int_equal(p[i].status, CUDNN_STATUS_SUCCESS);
            }
        }
        fails(list(&c, dir, FIND_EX, 9, &n, p, NULL, 16), BAD, "workSpace is NULL");
        conv_free(&c);
    }
}

static void counts(void **state)
{
    int n = 0;
    (void)state;
    OK(cudnnGetConvolutionForwardAlgorithmMaxCount(handle, &n));
    assert_int_equal(n, 8);
    OK(cudnnGetConvolutionBackwardDataAlgorithmMaxCount(handle, &n));
    assert_int_equal(n, 6);
    OK(cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(handle, &n));
    assert_int_equal(n, 7);
    fails(cudnnGetConvolutionForwardAlgorithmMaxCount(NULL, &n), BAD, "handle is NULL");
    fails(cudnnGetConvolutionForwardAlgorithmMaxCount(handle, NULL), BAD, "count is NULL");
}

int main(void)
{
    setenv("ANYDNN_ENGINE", "ref", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_descriptor_has_defaults, make_descriptor, destroy_descriptor),
        cmocka_unit_test_setup_teardown(what_is_set_is_read_back, make_descriptor, destroy_descriptor),
        cmocka_unit_test_setup_teardown(bad_descriptors, make_descriptor, destroy_descriptor),
        cmocka_unit_test(output_sizes),
        cmocka_unit_test(output_size_rounds_down),
        cmocka_unit_test_setup_teardown(missing_arguments, make_descriptor, destroy_descriptor),
        cmocka_unit_test(shapes_that_do_not_agree),
        cmocka_unit_test(half_computes_in_half_or_float),
        cmocka_unit_test(small_workspace_and_refused_algorithms),
        cmocka_unit_test(fused_misuse),
        cmocka_unit_test(lists_say_what_runs),
        cmocka_unit_test(too_small_a_workspace_hides_no_other),
        cmocka_unit_test(counts),
    };
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
