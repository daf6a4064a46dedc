/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Each documented misuse of each real function: the documented status and, from our library, a text that names function,
 * argument, value and rule. The rows are in misuse_*.c; this file has the objects, the rows of the library's own calls, and
 * the check that no real function is without a row. */
#include "misuse.h"

#include <string.h>

static void make_tensors(objects *o)
{
    cudnnTensorDescriptor_t *all[] = {&o->x, &o->y, &o->x16, &o->x64, &o->x5d, &o->bias, &o->chan, &o->never, &o->dead, &o->t,
                                      &o->pooled};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CALL(cudnnCreateTensorDescriptor, (all[i]));
    const int five[5] = {2, 4, 5, 5, 5};
    CALL(cudnnSetTensor4dDescriptor, (o->x, NCHW, F32, 2, 4, 5, 5));
    CALL(cudnnSetTensor4dDescriptor, (o->x16, NCHW, F16, 2, 4, 5, 5));
    CALL(cudnnSetTensor4dDescriptor, (o->x64, NCHW, F64, 2, 4, 5, 5));
    CALL(cudnnSetTensorNdDescriptorEx, (o->x5d, NCHW, F32, 5, five));
    CALL(cudnnSetTensor4dDescriptor, (o->y, NCHW, F32, 2, 6, 3, 3));
    CALL(cudnnSetTensor4dDescriptor, (o->bias, NCHW, F32, 1, 6, 1, 1));
    CALL(cudnnSetTensor4dDescriptor, (o->chan, NCHW, F32, 1, 4, 1, 1));
    CALL(cudnnSetTensor4dDescriptor, (o->pooled, NCHW, F32, 2, 4, 2, 2));
    CALL(cudnnDestroyTensorDescriptor, (o->dead));
}

void objects_make(objects *o)
{
    memset(o, 0, sizeof *o);
    o->one = 1;
    make_tensors(o);
    cudnnFilterDescriptor_t *f[] = {&o->w, &o->w_never, &o->w_dead, &o->wt};
    cudnnConvolutionDescriptor_t *c[] = {&o->conv, &o->conv_never, &o->conv_dead, &o->convt};
    cudnnPoolingDescriptor_t *p[] = {&o->pool, &o->pool_never, &o->pool_dead, &o->poolt};
    cudnnActivationDescriptor_t *a[] = {&o->act, &o->act_never, &o->act_dead, &o->actt};
    cudnnDropoutDescriptor_t *d[] = {&o->drop, &o->drop_never, &o->drop_dead};
    cudnnTensorTransformDescriptor_t *t[] = {&o->trans, &o->trans_never, &o->trans_dead};
    for (int i = 0; i < 4; i++) {
        CALL(cudnnCreateFilterDescriptor, (f[i]));
        CALL(cudnnCreateConvolutionDescriptor, (c[i]));
        CALL(cudnnCreatePoolingDescriptor, (p[i]));
        CALL(cudnnCreateActivationDescriptor, (a[i]));
        if (i < 3) {
            CALL(cudnnCreateDropoutDescriptor, (d[i]));
            CALL(cudnnCreateTensorTransformDescriptor, (t[i]));
        }
    }
    CALL(cudnnSetFilter4dDescriptor, (o->w, F32, NCHW, 6, 4, 3, 3));
    CALL(cudnnSetConvolution2dDescriptor, (o->conv, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, F32));
    CALL(cudnnSetPooling2dDescriptor, (o->pool, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2));
    CALL(cudnnSetActivationDescriptor, (o->act, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0.0));
    CALL(cudnnDestroyFilterDescriptor, (o->w_dead));
    CALL(cudnnDestroyConvolutionDescriptor, (o->conv_dead));
    CALL(cudnnDestroyPoolingDescriptor, (o->pool_dead));
    CALL(cudnnDestroyActivationDescriptor, (o->act_dead));
    CALL(cudnnDestroyDropoutDescriptor, (o->drop_dead));
    CALL(cudnnDestroyTensorTransformDescriptor, (o->trans_dead));
}

void objects_free(objects *o)
{
    cudnnTensorDescriptor_t tensors[] = {o->x, o->y, o->x16, o->x64, o->x5d, o->bias, o->chan, o->never, o->t, o->pooled};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        CALL(cudnnDestroyTensorDescriptor, (tensors[i]));
    cudnnFilterDescriptor_t f[] = {o->w, o->w_never, o->wt};
    cudnnConvolutionDescriptor_t c[] = {o->conv, o->conv_never, o->convt};
    cudnnPoolingDescriptor_t p[] = {o->pool, o->pool_never, o->poolt};
    cudnnActivationDescriptor_t a[] = {o->act, o->act_never, o->actt};
    for (int i = 0; i < 3; i++) {
        CALL(cudnnDestroyFilterDescriptor, (f[i]));
        CALL(cudnnDestroyConvolutionDescriptor, (c[i]));
        CALL(cudnnDestroyPoolingDescriptor, (p[i]));
        CALL(cudnnDestroyActivationDescriptor, (a[i]));
    }
    CALL(cudnnDestroyDropoutDescriptor, (o->drop));
    CALL(cudnnDestroyDropoutDescriptor, (o->drop_never));
    CALL(cudnnDestroyTensorTransformDescriptor, (o->trans));
    CALL(cudnnDestroyTensorTransformDescriptor, (o->trans_never));
}

void misuse_handle(void **state)
{
    (void)state;
    int value;
    cudnnStatus_t rstatus;
    void *p;
    unsigned mask;
    cudnnCallback_t callback;
    cudaStream_t stream;

    ROW(cudnnCreate, (NULL), BAD, "handle is NULL");
    ROW(cudnnDestroy, (NULL), OK, "");
    ROW(cudnnSetStream, (NULL, NULL), BAD, "handle is NULL");
    ROW(cudnnGetStream, (NULL, &stream), BAD, "handle is NULL");
    ROW(cudnnQueryRuntimeError, (NULL, &rstatus, CUDNN_ERRQUERY_RAWCODE, NULL), BAD, "handle is NULL");
    ROW(cudnnGetProperty, ((libraryPropertyType)3, &value), CUDNN_STATUS_INVALID_VALUE, "type", "3");
    ROW(cudnnGetProperty, ((libraryPropertyType)-1, &value), CUDNN_STATUS_INVALID_VALUE, "type", "-1");
    ROW(cudnnGetProperty, (MAJOR_VERSION, NULL), BAD, "value is NULL");
    ROW(cudnnGetCallback, (NULL, &p, &callback), BAD, "mask is NULL");
    ROW(cudnnGetCallback, (&mask, NULL, &callback), BAD, "udata is NULL");
    ROW(cudnnGetCallback, (&mask, &p, NULL), BAD, "fptr is NULL");
    ROW(cudnnSetCallback, (0, NULL, NULL), OK, "");
    api_rows_done();

    cudnnHandle_t h = api_handle();
    ROW(cudnnGetStream, (h, NULL), BAD, "streamId is NULL");
    ROW(cudnnQueryRuntimeError, (h, NULL, CUDNN_ERRQUERY_RAWCODE, NULL), BAD, "rstatus is NULL");
    ROW(cudnnQueryRuntimeError, (h, &rstatus, 3, NULL), BAD, "mode", "3");
    if (api_ours) {
        char garbage[4096];
        memset(garbage, 0x5a, sizeof garbage);
        cudnnHandle_t dead;
        CALL(cudnnCreate, (&dead));
        CALL(cudnnDestroy, (dead));
        ROW(cudnnDestroy, (dead), BAD, "handle", "destroyed");
        ROW(cudnnSetStream, (dead, NULL), BAD, "handle", "destroyed");
        ROW(cudnnDestroy, ((cudnnHandle_t)(void *)garbage), BAD, "handle");
        ROW(anydnnMalloc, (NULL, 16, &p), BAD, "handle is NULL");
        ROW(anydnnMalloc, (h, 16, NULL), BAD, "ptr is NULL");
        ROW(anydnnMalloc, (h, SIZE_MAX / 2, &p), CUDNN_STATUS_ALLOC_FAILED, "");
        ROW(anydnnFree, (NULL, NULL), BAD, "handle is NULL");
        ROW(anydnnFree, (h, NULL), OK, "");
        ROW(anydnnCopyIn, (h, NULL, garbage, 16), BAD, "dst is NULL");
        ROW(anydnnCopyOut, (h, garbage, NULL, 16), BAD, "src is NULL");
        ROW(anydnnSynchronize, (NULL), BAD, "handle is NULL");
    }
    api_rows_done();
}

/* Functions that no argument can misuse: they take none, or answer no status. */
static bool cannot_be_misused(const char *name)
{
    static const char *const names[] = {"cudnnGetVersion", "cudnnGetMaxDeviceVersion", "cudnnGetCudartVersion",
                                        "cudnnGetErrorString", "cudnnGetLastErrorString"};
    if (strstr(name, "VersionCheck"))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static void every_real_function_has_a_row(void **state)
{
    (void)state;
    if (!api_engine())
        skip();  /* the rows of the calls that need a handle did not run */
    static const char *const real[] = {
#define NAME_1_REAL(n) #n,
#define NAME_1_STUB(n)
#define NAME_0_REAL(n)
#define NAME_0_STUB(n)
#undef API_SELECT
#if DN_ABI == 8
#define API_SELECT(n, in8, in9, kind) NAME_##in8##_##kind(n)
#else
#define API_SELECT(n, in8, in9, kind) NAME_##in9##_##kind(n)
#endif
#define DN_FN(n, in8, in9, l8, l9, kind) API_SELECT(n, in8, in9, kind)
#include "api/functions.def"
#undef DN_FN
    };
    int missing = 0;
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        if (!cannot_be_misused(real[i]) && !api_row_seen(real[i])) {
            print_error("no row calls %s\n", real[i]);
            missing++;
        }
    print_message("%d rows\n", api_row_count);
    assert_int_equal(missing, 0);
    assert_true(api_row_count >= 150);
}

static const struct CMUnitTest tests[] = {
    API_TEST(misuse_handle), API_TEST(misuse_tensor_set), API_TEST(misuse_tensor_get), API_TEST(misuse_filter),
    API_TEST(misuse_transform_desc), API_TEST(misuse_dead_and_wrong), API_TEST(misuse_conv_desc), API_TEST(misuse_conv_dims),
    API_TEST(misuse_conv_fwd), API_TEST(misuse_conv_bwd), API_TEST(misuse_conv_bias_act), API_TEST(misuse_conv_queries),
    API_TEST(misuse_pool_desc), API_TEST(misuse_pool), API_TEST(misuse_act), API_TEST(misuse_softmax),
    API_TEST(misuse_batchnorm), API_TEST(misuse_dropout), API_TEST(misuse_pointwise), API_TEST(misuse_op_tensor),
    API_TEST(misuse_reduce), API_TEST(misuse_transform_ex), API_TEST(misuse_im2col), API_TEST(misuse_lrn),
    API_TEST(misuse_batchnorm_ex), API_TEST(misuse_normalization), API_TEST(misuse_spatial), API_TEST(misuse_rnn), API_TEST(misuse_rnn_older), API_TEST(misuse_ctc), API_TEST(misuse_algorithm),
    API_TEST(misuse_attn_desc), API_TEST(misuse_attn_calls), API_TEST(misuse_fused_packs), API_TEST(misuse_fused_plans),
    cmocka_unit_test(every_real_function_has_a_row),
};

API_MAIN(tests)
