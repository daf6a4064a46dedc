/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * cudnnIm2Col against a loop, and its matrix times the filter against the convolution; cudnnReorderFilterAndBias. */
#include "tens.h"

#define BAD CUDNN_STATUS_BAD_PARAM
#define UNSUPPORTED CUDNN_STATUS_NOT_SUPPORTED

typedef struct geometry {
    int n, c, k, groups, spatial, in[3], win[3], pad[3], str[3], dil[3];
} geometry;

static void descriptors(const geometry *g, cudnnConvolutionMode_t mode, dn_dtype type, cudnnConvolutionDescriptor_t *conv,
                        cudnnFilterDescriptor_t *w)
{
    int dims[5] = { g->k, g->c / g->groups, g->win[0], g->win[1], g->win[2] };
    cudnnDataType_t compute = type == DN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    OK(cudnnCreateConvolutionDescriptor(conv));
    OK(cudnnCreateFilterDescriptor(w));
    OK(cudnnSetConvolutionNdDescriptor(*conv, g->spatial, g->pad, g->str, g->dil, mode, compute));
    OK(cudnnSetConvolutionGroupCount(*conv, g->groups));
    OK(cudnnSetFilterNdDescriptor(*w, (cudnnDataType_t)type, CUDNN_TENSOR_NCHW, g->spatial + 2, dims));
}

/* Row l of column (n, o): the element of x, or 0 in the padding. */
static double element(const geometry *g, bool flip, const tens *x, int64_t n, const int *o, int64_t l)
{
    int64_t at = 0, unit = 1;
    for (int j = g->spatial - 1; j >= 0; j--) {
        int r = (int)(l % g->win[j]);
        l /= g->win[j];
        int i = o[j] * g->str[j] - g->pad[j] + (flip ? g->win[j] - 1 - r : r) * g->dil[j];
        if (i < 0 || i >= g->in[j])
            return 0;
        at += i * unit;
        unit *= g->in[j];
    }
    return tens_get(x, at + unit * (l + g->c * n));
}

static void check(const geometry *g, dn_dtype type, cudnnConvolutionMode_t mode, layout lay)
{
    int dims[5] = { g->n, g->c, g->in[0], g->in[1], g->in[2] }, out[3] = { 1, 1, 1 };
    int64_t rows = g->c, cols = g->n;
    for (int j = 0; j < g->spatial; j++) {
        out[j] = (g->in[j] + 2 * g->pad[j] - (g->win[j] - 1) * g->dil[j] - 1) / g->str[j] + 1;
        rows *= g->win[j];
        cols *= out[j];
    }
    tens x = tens_make(type, g->spatial + 2, dims, lay);
    cudnnConvolutionDescriptor_t conv;
    cudnnFilterDescriptor_t w;
    descriptors(g, mode, type, &conv, &w);
    size_t bytes = (size_t)(rows * cols) * dn_dtype_size(type);
    unsigned char *matrix = malloc(bytes + 16);
    memset(matrix, 0xff, bytes + 16);
    tens_integers(&x, 100, 3);
    OK(cudnnIm2Col(handle, x.desc, x.data, w, conv, matrix));
    for (int64_t i = 0; i < rows * cols; i++) {
        int o[3];
        int64_t rest = i % cols;
        for (int j = g->spatial - 1; j >= 0; j--) {
            o[j] = (int)(rest % out[j]);
            rest /= out[j];
        }
        double want = element(g, mode == CUDNN_CONVOLUTION, &x, rest, o, i / cols), got = dn_load(type, matrix, i);
        if (got != want)
            fail_msg("element %lld is %g, not %g", (long long)i, got, want);
    }
    for (int i = 0; i < 16; i++)
        assert_int_equal(matrix[bytes + (size_t)i], 0xff);
    free(matrix);
    OK(cudnnDestroyConvolutionDescriptor(conv));
    OK(cudnnDestroyFilterDescriptor(w));
    tens_free(&x);
}

static const geometry cases[] = {
    { 2, 3, 4, 1, 2, { 5, 6 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
    { 2, 4, 4, 2, 2, { 9, 7 }, { 2, 4 }, { 0, 2 }, { 2, 3 }, { 2, 1 } },
    { 1, 2, 3, 1, 1, { 13 }, { 5 }, { 3 }, { 2 }, { 2 } },
    { 2, 2, 3, 1, 3, { 4, 5, 3 }, { 2, 3, 1 }, { 1, 0, 1 }, { 1, 2, 1 }, { 1, 2, 1 } },
    { 1, 1, 1, 1, 2, { 3, 3 }, { 1, 1 }, { 4, 4 }, { 1, 1 }, { 1, 1 } },
};

static void agrees_with_its_formula(void **state)
{
    (void)state;
    static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16, DN_I8, DN_U8, DN_I32 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 7 * LAYOUTS; k++)
            check(&cases[i], types[k % 7], k & 1 ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION, (layout)(k / 7));
}

/* y[n][k][o] = filter k times the column of (n, o). */
static void is_the_convolutions_matrix(void **state)
{
    (void)state;
    const geometry *g = &cases[0];
    for (int mode = 0; mode < 2; mode++) {
        cudnnConvolutionDescriptor_t conv;
        cudnnFilterDescriptor_t w;
        descriptors(g, (cudnnConvolutionMode_t)mode, DN_F32, &conv, &w);
        tens x = tens_make(DN_F32, 4, (const int[]){ 2, 3, 5, 6 }, PACKED), y = tens_make(DN_F32, 4, (const int[]){ 2, 4, 5, 6 }, PACKED);
        float filter[4 * 27], *matrix = malloc(sizeof(float) * 60 * 27);
        const float one = 1, zero = 0;
        uint32_t seed = 9;
        for (int i = 0; i < 4 * 27; i++)
            filter[i] = (float)(tens_random(&seed) % 9) - 4;
        tens_integers(&x, 9, 4);
        OK(cudnnIm2Col(handle, x.desc, x.data, w, conv, matrix));
        OK(cudnnConvolutionForward(handle, &one, x.desc, x.data, w, filter, conv, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &zero,
                                   y.desc, y.data));
        for (int64_t i = 0; i < y.count; i++) {
            int64_t col = i / 120 * 30 + i % 30, k = i / 30 % 4;
            double sum = 0;
            for (int l = 0; l < 27; l++)
                sum += (double)matrix[l * 60 + col] * filter[k * 27 + l];
            tens_close(&y, i, sum, 0);
        }
        free(matrix);
        OK(cudnnDestroyConvolutionDescriptor(conv));
        OK(cudnnDestroyFilterDescriptor(w));
        tens_free(&x);
        tens_free(&y);
    }
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    cudnnConvolutionDescriptor_t conv;
    cudnnFilterDescriptor_t w;
    descriptors(&cases[0], CUDNN_CROSS_CORRELATION, DN_F32, &conv, &w);
    tens x = tens_make(DN_F32, 4, (const int[]){ 2, 2, 5, 6 }, PACKED), flat = tens_make(DN_F32, 3, (const int[]){ 2, 3, 5 }, PACKED);
    tens small = tens_make(DN_F32, 4, (const int[]){ 2, 3, 1, 0 + 1 }, PACKED);
    float room[8];
    REFUSED(cudnnIm2Col(handle, x.desc, x.data, w, conv, room), BAD, "xDesc has 2 channels");
    REFUSED(cudnnIm2Col(handle, flat.desc, flat.data, w, conv, room), BAD, "xDesc has 3 dimensions");
    REFUSED(cudnnIm2Col(handle, x.desc, x.data, w, conv, NULL), BAD, "colBuffer is NULL");
    OK(cudnnSetConvolution2dDescriptor(conv, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    REFUSED(cudnnIm2Col(handle, small.desc, small.data, w, conv, room), BAD, "dimension 2 of the output would be -1");
    OK(cudnnDestroyConvolutionDescriptor(conv));
    OK(cudnnDestroyFilterDescriptor(w));
    tens_free(&x);
    tens_free(&flat);
    tens_free(&small);
}

/* --- reordering --- */

static void reorders_filter_and_bias(void **state)
{
    (void)state;
    enum { K = 96, C = 64, R = 3, S = 2, COUNT = K * C * R * S };
    cudnnFilterDescriptor_t w;
    int8_t *from = malloc(COUNT), *to = malloc(COUNT);
    float bias[K], moved[K];
    OK(cudnnCreateFilterDescriptor(&w));
    OK(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_INT8x32, CUDNN_TENSOR_NCHW_VECT_C, K, C, R, S));
    for (int i = 0; i < COUNT; i++)
        from[i] = (int8_t)(i * 37 % 251);
    for (int i = 0; i < K; i++)
        bias[i] = (float)i;
    OK(cudnnReorderFilterAndBias(handle, w, CUDNN_DEFAULT_REORDER, from, to, 1, bias, moved));
    for (int k = 0; k < K; k++) {
        for (int i = 0; i < C * R * S; i++) {
            int s = i % S, r = i / S % R, c = i / S / R;
            int in = (((k * (C / 32) + c / 32) * R + r) * S + s) * 32 + c % 32;
            int out = ((c / 32 * R + r) * S + s) * K * 32 + k / 8 * 256 + k % 2 * 128 + c % 32 / 4 * 16 + k % 8 / 2 * 4 + c % 4;
            assert_int_equal(to[out], from[in]);
        }
        assert_true(moved[k / 32 * 32 + k / 4 % 2 * 16 + k % 32 / 8 * 4 + k % 4] == (float)k);
    }
    OK(cudnnReorderFilterAndBias(handle, w, CUDNN_NO_REORDER, from, to, 1, bias, moved));
    assert_memory_equal(from, to, COUNT);
    assert_memory_equal(bias, moved, sizeof bias);
    REFUSED(cudnnReorderFilterAndBias(handle, w, (cudnnReorderType_t)2, from, to, 0, NULL, NULL), BAD, "reorderType is 2");
    REFUSED(cudnnReorderFilterAndBias(handle, w, CUDNN_DEFAULT_REORDER, from, to, 1, NULL, moved), BAD, "biasData is NULL");
    REFUSED(cudnnReorderFilterAndBias(handle, w, CUDNN_DEFAULT_REORDER, from, from, 0, NULL, NULL), BAD, "overlap");
    OK(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_INT8x32, CUDNN_TENSOR_NCHW_VECT_C, 40, C, R, S));
    REFUSED(cudnnReorderFilterAndBias(handle, w, CUDNN_DEFAULT_REORDER, from, to, 0, NULL, NULL), UNSUPPORTED, "40 outputs");
    OK(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_INT8x4, CUDNN_TENSOR_NCHW_VECT_C, K, C, R, S));
    REFUSED(cudnnReorderFilterAndBias(handle, w, CUDNN_DEFAULT_REORDER, from, to, 0, NULL, NULL), UNSUPPORTED, "i8x4");
    OK(cudnnDestroyFilterDescriptor(w));
    free(from);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_its_formula), cmocka_unit_test(is_the_convolutions_matrix), cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(reorders_filter_and_bias),
    };
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
