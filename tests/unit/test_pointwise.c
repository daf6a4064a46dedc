/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * cudnnAddTensor, cudnnTransformTensor, cudnnSetTensor, cudnnScaleTensor, and the tensor transform descriptors. */
#include "tensor_util.h"

#define OK CUDNN_STATUS_SUCCESS
#define BAD CUDNN_STATUS_BAD_PARAM
#define UNSUPPORTED CUDNN_STATUS_NOT_SUPPORTED

static const int floats[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };

/* --- add --- */

/* Logical number in a (dims of size 1 repeated) of element i of c. */
static int64_t broadcast(const tensor *a, const tensor *c, int64_t i)
{
    int64_t at = 0, unit = 1;
    for (int d = c->t.rank - 1; d >= 0; d--) {
        at += a->t.dims[d] == 1 ? 0 : i % c->t.dims[d] * unit;
        i /= c->t.dims[d];
        unit *= a->t.dims[d];
    }
    return at;
}

static void check_add(int type, int rank, const int *dims, int ones, layout how_a, layout how_c)
{
    int a_dims[8];
    for (int d = 0; d < rank; d++)
        a_dims[d] = ones >> d & 1 ? 1 : dims[d];
    tensor a = tensor_new(type, rank, a_dims, how_a), c = tensor_new(type, rank, dims, how_c);
    tensor old = tensor_new(DN_F64, rank, dims, NCHW);
    fill(&a, 1);
    fill(&c, 2);
    copy_values(&old, &c);
    const float alpha_f = 2, beta_f = -0.5f;
    const double alpha_d = 2, beta_d = -0.5;
    const void *alpha = type == DN_F64 ? (const void *)&alpha_d : &alpha_f;
    const void *beta = type == DN_F64 ? (const void *)&beta_d : &beta_f;
    assert_int_equal(cudnnAddTensor(handle, alpha, a.desc, a.ptr, beta, c.desc, c.ptr), OK);
    for (int64_t i = 0; i < c.count; i++)
        assert_near(get(&c, i), 2 * get(&a, broadcast(&a, &c, i)) - 0.5 * get(&old, i), type_eps(type));
    tensor_free(&a);
    tensor_free(&c);
    tensor_free(&old);
}

/* L32: every dimension of A is C's or 1, in any combination. */
static void add_repeats_any_dimensions(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 4, 5, 2, 3, 2, 2 };
    for (int rank = 3; rank <= 5; rank++)
        for (int ones = 0; ones < 1 << rank; ones++)
            for (int how = 0; how < LAYOUTS; how++)
                check_add(floats[ones % 4], rank, dims, ones, (layout)how, (layout)((how + ones) % LAYOUTS));
    for (int ones = 0; ones < 256; ones += 15)
        check_add(DN_F32, 8, dims, ones, NCHW, NHWC);
    for (int t = 0; t < 4; t++)
        check_add(floats[t], 4, (const int[]){ 9, 33, 17, 21 }, 13, NCHW, NCHW);
}

static void add_with_beta_0_does_not_read(void **state)
{
    (void)state;
    tensor a = tensor_new(DN_F32, 4, (const int[]){ 1, 3, 1, 1 }, NCHW), c = tensor_new(DN_F32, 4, (const int[]){ 2, 3, 4, 5 }, NHWC);
    fill(&a, 1);
    assert_true(isnan(get(&c, 0)));
    assert_int_equal(cudnnAddTensor(handle, &one_f, a.desc, a.ptr, &zero_f, c.desc, c.ptr), OK);
    for (int64_t i = 0; i < c.count; i++)
        assert_true(get(&c, i) == get(&a, i / 20 % 3));
    tensor_free(&a);
    tensor_free(&c);
}

static void add_in_place(void **state)
{
    (void)state;
    tensor c = tensor_new(DN_F32, 4, (const int[]){ 2, 3, 4, 5 }, NHWC), row = tensor_new(DN_F32, 4, (const int[]){ 1, 3, 4, 5 }, NCHW);
    for (int64_t i = 0; i < c.count; i++)
        put(&c, i, (double)i);
    assert_int_equal(cudnnAddTensor(handle, &one_f, c.desc, c.ptr, &one_f, c.desc, c.ptr), OK);
    for (int64_t i = 0; i < c.count; i++)
        assert_true(get(&c, i) == 2.0 * (double)i);
    assert_fails(cudnnAddTensor(handle, &one_f, row.desc, c.ptr, &one_f, c.desc, c.ptr), BAD, "cudnnAddTensor", "one buffer");
    tensor_free(&c);
    tensor_free(&row);
}

static void add_names_what_is_wrong(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 4, 5 };
    tensor c = tensor_new(DN_F32, 4, dims, NCHW), h = tensor_new(DN_F16, 4, dims, NCHW), d3 = tensor_new(DN_F32, 3, dims, NCHW);
    tensor two = tensor_new(DN_F32, 4, (const int[]){ 1, 2, 1, 1 }, NCHW), i64 = tensor_new(DN_I64, 4, dims, NCHW);
    const void *one = &one_f;
    assert_fails(cudnnAddTensor(NULL, one, c.desc, c.ptr, one, c.desc, c.ptr), BAD, "handle", "NULL");
    assert_fails(cudnnAddTensor(handle, NULL, c.desc, c.ptr, one, c.desc, c.ptr), BAD, "alpha", "NULL");
    assert_fails(cudnnAddTensor(handle, one, c.desc, c.ptr, NULL, c.desc, c.ptr), BAD, "beta", "NULL");
    assert_fails(cudnnAddTensor(handle, one, NULL, c.ptr, one, c.desc, c.ptr), BAD, "aDesc", "NULL");
    assert_fails(cudnnAddTensor(handle, one, c.desc, NULL, one, c.desc, c.ptr), BAD, "A", "NULL");
    assert_fails(cudnnAddTensor(handle, one, c.desc, c.ptr, one, NULL, c.ptr), BAD, "cDesc", "NULL");
    assert_fails(cudnnAddTensor(handle, one, c.desc, c.ptr, one, c.desc, NULL), BAD, "C", "NULL");
    assert_fails(cudnnAddTensor(handle, one, two.desc, two.ptr, one, c.desc, c.ptr), BAD, "dimension 1 of aDesc is 2", "3");
    assert_fails(cudnnAddTensor(handle, one, h.desc, h.ptr, one, c.desc, c.ptr), BAD, "aDesc has type f16", "f32");
    assert_fails(cudnnAddTensor(handle, one, d3.desc, d3.ptr, one, c.desc, c.ptr), BAD, "aDesc has 3", "4");
    assert_fails(cudnnAddTensor(handle, one, i64.desc, i64.ptr, one, i64.desc, i64.ptr), UNSUPPORTED, "cDesc has type i64", "i32");
    tensor_free(&c);
    tensor_free(&h);
    tensor_free(&d3);
    tensor_free(&two);
    tensor_free(&i64);
}

/* --- transform --- */

/* Every pair of types and layouts: integers stay exact, and there and back gives the same. */
static void transform_converts_types_and_layouts(void **state)
{
    (void)state;
    static const int types[] = { DN_F32, DN_F64, DN_F16, DN_BF16, DN_I8, DN_U8, DN_I32 };
    const int dims[] = { 3, 5, 4, 6, 2 };
    for (int i = 0; i < 7 * 7; i++)
        for (int k = 0; k < LAYOUTS * LAYOUTS; k++) {
            int rank = 3 + (i + k) % 3, from = types[i / 7], to = types[i % 7];
            tensor x = tensor_new(from, rank, dims, (layout)(k / LAYOUTS)), y = tensor_new(to, rank, dims, (layout)(k % LAYOUTS));
            for (int64_t e = 0; e < x.count; e++)
                put(&x, e, (double)(e % 100));
            int wide = from == DN_F64 ? from : to;  /* the factors are doubles where either is */
            assert_int_equal(cudnnTransformTensor(handle, one_of(wide), x.desc, x.ptr, zero_of(wide), y.desc, y.ptr), OK);
            for (int64_t e = 0; e < x.count; e++)
                assert_true(get(&y, e) == (double)(e % 100));
            tensor_free(&x);
            tensor_free(&y);
        }
}

static void transform_blends_and_rounds_once(void **state)
{
    (void)state;
    const int dims[] = { 1, 1, 1, 6 };
    tensor x = tensor_new(DN_F32, 4, dims, NCHW), y = tensor_new(DN_I8, 4, dims, NCHW), h = tensor_new(DN_F16, 4, dims, NCHW);
    const double in[] = { 2.5, 3.5, 300, -300, NAN, -2.7 }, out[] = { 2, 4, 127, -128, 0, -3 };  /* as the vendor's 9.14 gives */
    for (int i = 0; i < 6; i++)
        put(&x, i, in[i]);
    assert_int_equal(cudnnTransformTensor(handle, &one_f, x.desc, x.ptr, &zero_f, y.desc, y.ptr), OK);
    for (int i = 0; i < 6; i++)
        assert_true(get(&y, i) == out[i]);
    const float alpha = 2, beta = 3;
    fill_with(&h, 0.5);
    fill_with(&x, 1.25);
    assert_int_equal(cudnnTransformTensor(handle, &alpha, x.desc, x.ptr, &beta, h.desc, h.ptr), OK);
    assert_true(get(&h, 5) == 4);
    tensor_free(&x);
    tensor_free(&y);
    tensor_free(&h);
}

static void set_4d(cudnnTensorDescriptor_t d, cudnnTensorFormat_t format, cudnnDataType_t type, int c)
{
    assert_int_equal(cudnnSetTensor4dDescriptor(d, format, type, 2, c, 3, 2), OK);
}

/* NCHW_VECT_C holds 4 (or 32) channels side by side. */
static void transform_packs_vectors(void **state)
{
    (void)state;
    cudnnTensorDescriptor_t plain, x4, x32;
    cudnnCreateTensorDescriptor(&plain);
    cudnnCreateTensorDescriptor(&x4);
    cudnnCreateTensorDescriptor(&x32);
    set_4d(plain, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 64);
    set_4d(x4, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4, 64);
    set_4d(x32, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x32, 64);
    float f[768];
    int8_t a[768], b[768];
    for (int i = 0; i < 768; i++)
        f[i] = (float)(i * 7 % 251 - 125);
    assert_int_equal(cudnnTransformTensor(handle, &one_f, plain, f, &zero_f, x4, a), OK);
    assert_int_equal(cudnnTransformTensor(handle, &one_f, x4, a, &zero_f, x32, b), OK);
    for (int n = 0, i = 0; n < 2; n++)
        for (int c = 0; c < 64; c++)
            for (int p = 0; p < 6; p++, i++) {
                assert_int_equal(a[((n * 16 + c / 4) * 6 + p) * 4 + c % 4], (int)f[i]);
                assert_int_equal(b[((n * 2 + c / 32) * 6 + p) * 32 + c % 32], (int)f[i]);
            }
    const float five = 5;
    assert_int_equal(cudnnSetTensor(handle, x4, a, &five), OK);
    assert_int_equal(cudnnScaleTensor(handle, x4, a, &five), OK);
    for (int i = 0; i < 768; i++)
        assert_int_equal(a[i], 25);
    cudnnDestroyTensorDescriptor(plain);
    cudnnDestroyTensorDescriptor(x4);
    cudnnDestroyTensorDescriptor(x32);
}

static void transform_in_place(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 4, 5 };
    tensor x = tensor_new(DN_F32, 4, dims, NCHW), y = tensor_new(DN_F32, 4, dims, NHWC), h = tensor_new(DN_F16, 4, dims, NCHW);
    fill_with(&x, 3);
    const float half = 0.5f;
    assert_int_equal(cudnnTransformTensor(handle, &half, x.desc, x.ptr, &zero_f, x.desc, x.ptr), OK);
    assert_true(get(&x, 7) == 1.5);
    assert_fails(cudnnTransformTensor(handle, &one_f, x.desc, x.ptr, &zero_f, y.desc, x.ptr), BAD, "x and y", "overlap");
    assert_fails(cudnnTransformTensor(handle, &one_f, x.desc, x.ptr, &zero_f, h.desc, x.ptr), BAD, "x and y", "overlap");
    tensor_free(&x);
    tensor_free(&y);
    tensor_free(&h);
}

static void transform_names_what_is_wrong(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 4, 5, 1 };
    tensor x = tensor_new(DN_F32, 4, dims, NCHW), y = tensor_new(DN_F32, 4, (const int[]){ 2, 3, 5, 4 }, NCHW);
    tensor one = tensor_new(DN_F32, 4, (const int[]){ 1, 3, 4, 5 }, NCHW), d5 = tensor_new(DN_F32, 5, dims, NCHW);
    assert_fails(cudnnTransformTensor(handle, &one_f, x.desc, x.ptr, &zero_f, y.desc, y.ptr), BAD, "dimension 2 of xDesc is 4", "5");
    assert_fails(cudnnTransformTensor(handle, &one_f, one.desc, one.ptr, &zero_f, x.desc, x.ptr), BAD, "dimension 0 of xDesc is 1", "2");
    assert_fails(cudnnTransformTensor(handle, &one_f, x.desc, x.ptr, &zero_f, d5.desc, d5.ptr), BAD, "xDesc has 4", "5");
    assert_fails(cudnnTransformTensor(handle, &one_f, x.desc, NULL, &zero_f, y.desc, y.ptr), BAD, "x is NULL", "cudnnTransformTensor");
    assert_fails(cudnnTransformTensor(handle, &one_f, x.desc, x.ptr, &zero_f, y.desc, NULL), BAD, "y is NULL", "cudnnTransformTensor");
    tensor_free(&x);
    tensor_free(&y);
    tensor_free(&one);
    tensor_free(&d5);
}

/* --- set and scale --- */

/* The value is a float, for f64 a double, for i32 an int: what the vendor's library reads, and the documentation where it refuses. */
static void set_and_scale(void **state)
{
    (void)state;
    static const int types[] = { DN_F32, DN_F64, DN_F16, DN_BF16, DN_I8, DN_U8, DN_I32 };
    const float three_f = 3, minus_half_f = -0.5f, two_f = 2;
    const double three_d = 3, minus_half_d = -0.5;
    const int32_t three_i = 3;
    for (int t = 0; t < 7; t++)
        for (int how = 0; how < LAYOUTS; how++) {
            tensor y = tensor_new(types[t], 3 + how % 3, (const int[]){ 2, 3, 4, 5, 2 }, (layout)how);
            bool f64 = types[t] == DN_F64, integer = t > 3;
            const void *three = f64 ? (const void *)&three_d : types[t] == DN_I32 ? (const void *)&three_i : &three_f;
            const void *factor = f64 ? (const void *)&minus_half_d : integer ? &two_f : &minus_half_f;
            assert_int_equal(cudnnSetTensor(handle, y.desc, y.ptr, three), OK);
            for (int64_t i = 0; i < y.count; i++)
                assert_true(get(&y, i) == 3);
            assert_int_equal(cudnnScaleTensor(handle, y.desc, y.ptr, factor), OK);
            for (int64_t i = 0; i < y.count; i++)
                assert_true(get(&y, i) == (integer ? 6 : -1.5));
            tensor_free(&y);
        }
}

/* Inside, a vector has a value per lane. */
static void set_takes_a_value_per_lane(void **state)
{
    (void)state;
    cudnnTensorDescriptor_t d;
    dn_problem p;
    dn_args a = { 0 };
    int8_t y[2 * 64 * 6];
    cudnnCreateTensorDescriptor(&d);
    set_4d(d, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x32, 64);
    dn_problem_init(&p, DN_OP_SET, DN_DIR_FWD);
    dn_bind(&p, &a, DN_Y, dn_tensor_of(d, "d"), y);
    for (int i = 0; i < 32; i++)
        a.value[i] = i - 7;
    assert_int_equal(dn_run(dn_handle_of(handle), &p, &a), DN_SUCCESS);
    for (int i = 0; i < 2 * 64 * 6; i++)
        assert_int_equal(y[i], i % 32 - 7);
    cudnnDestroyTensorDescriptor(d);
}

/* What lies between the elements of a strided tensor stays. */
static void gaps_are_not_written(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 2 };
    float buf[200];
    memset(buf, 0, sizeof buf);
    tensor y = tensor_strided(DN_F32, 3, dims, (const int[]){ 60, 11, 3 });
    const float v = 7;
    assert_int_equal(cudnnSetTensor(handle, y.desc, buf + 10, &v), OK);
    for (int i = 0; i < 12; i++)
        buf[10 + tensor_offset(&y, i)] -= 7;
    for (int i = 0; i < 200; i++)
        assert_true(buf[i] == 0);
    tensor_free(&y);
}

static void scale_keeps_nan(void **state)
{
    (void)state;
    tensor y = tensor_new(DN_F32, 3, (const int[]){ 1, 1, 3 }, NCHW);
    put(&y, 1, INFINITY);
    put(&y, 2, 4);
    assert_int_equal(cudnnScaleTensor(handle, y.desc, y.ptr, &zero_f), OK);
    assert_true(isnan(get(&y, 0)) && isnan(get(&y, 1)) && get(&y, 2) == 0);
    tensor_free(&y);
}

static void set_and_scale_name_what_is_wrong(void **state)
{
    (void)state;
    tensor y = tensor_new(DN_F32, 3, (const int[]){ 1, 1, 3 }, NCHW), b = tensor_new(DN_BOOL, 3, (const int[]){ 1, 1, 3 }, NCHW);
    assert_fails(cudnnSetTensor(handle, y.desc, y.ptr, NULL), BAD, "cudnnSetTensor", "valuePtr is NULL");
    assert_fails(cudnnSetTensor(handle, y.desc, NULL, &one_f), BAD, "cudnnSetTensor", "y is NULL");
    assert_fails(cudnnSetTensor(handle, NULL, y.ptr, &one_f), BAD, "cudnnSetTensor", "yDesc is NULL");
    assert_fails(cudnnSetTensor(handle, b.desc, b.ptr, &one_f), UNSUPPORTED, "yDesc has type bool", "f32");
    assert_fails(cudnnScaleTensor(handle, y.desc, y.ptr, NULL), BAD, "cudnnScaleTensor", "alpha is NULL");
    assert_fails(cudnnScaleTensor(handle, b.desc, b.ptr, &one_f), UNSUPPORTED, "yDesc has type bool", "f32");
    assert_fails(cudnnScaleTensor((cudnnHandle_t)y.desc, y.desc, y.ptr, &one_f), BAD, "handle", "tensor descriptor");
    tensor_free(&y);
    tensor_free(&b);
}

/* --- transform descriptors --- */

static void transform_descriptor_keeps_what_it_was_given(void **state)
{
    (void)state;
    cudnnTensorTransformDescriptor_t d;
    assert_int_equal(cudnnCreateTensorTransformDescriptor(&d), OK);
    const int32_t before[] = { 0, 1, 2, 3 }, after[] = { 4, 5, 6, 7 };
    const uint32_t fold[] = { 2, 8 };
    int32_t b[8], a[8];
    uint32_t f[8] = { 9, 9, 9, 9, 9, 9, 9, 9 };
    cudnnTensorFormat_t format;
    cudnnFoldingDirection_t direction;
    assert_int_equal(cudnnSetTensorTransformDescriptor(d, 4, CUDNN_TENSOR_NHWC, before, after, fold, CUDNN_TRANSFORM_UNFOLD), OK);
    assert_int_equal(cudnnGetTensorTransformDescriptor(d, 4, &format, b, a, f, &direction), OK);
    assert_int_equal(format, CUDNN_TENSOR_NHWC);
    assert_int_equal(direction, CUDNN_TRANSFORM_UNFOLD);
    assert_memory_equal(b, before, sizeof before);
    assert_memory_equal(a, after, sizeof after);
    assert_true(f[0] == 2 && f[1] == 8 && f[2] == 9);
    assert_int_equal(cudnnSetTensorTransformDescriptor(d, 5, CUDNN_TENSOR_NCHW, NULL, NULL, NULL, CUDNN_TRANSFORM_FOLD), OK);
    assert_int_equal(cudnnGetTensorTransformDescriptor(d, 8, &format, b, a, f, &direction), OK);
    assert_true(b[3] == 0 && a[3] == 0 && f[0] == 0 && f[5] == 0 && f[6] == 9 && direction == CUDNN_TRANSFORM_FOLD);
    assert_int_equal(cudnnDestroyTensorTransformDescriptor(d), OK);
    assert_fails(cudnnDestroyTensorTransformDescriptor(d), BAD, "transformDesc", "destroyed");
    assert_int_equal(cudnnDestroyTensorTransformDescriptor(NULL), OK);
}

static void transform_descriptor_names_what_is_wrong(void **state)
{
    (void)state;
    cudnnTensorTransformDescriptor_t d;
    cudnnTensorFormat_t nchw = CUDNN_TENSOR_NCHW;
    cudnnCreateTensorTransformDescriptor(&d);
    assert_fails(cudnnCreateTensorTransformDescriptor(NULL), BAD, "transformDesc", "NULL");
    assert_fails(cudnnSetTensorTransformDescriptor(d, 2, nchw, NULL, NULL, NULL, CUDNN_TRANSFORM_FOLD), BAD, "nbDims is 2", "3");
    assert_fails(cudnnSetTensorTransformDescriptor(d, 9, nchw, NULL, NULL, NULL, CUDNN_TRANSFORM_FOLD), UNSUPPORTED, "nbDims is 9", "8");
    assert_fails(cudnnSetTensorTransformDescriptor(d, 4, (cudnnTensorFormat_t)3, NULL, NULL, NULL, CUDNN_TRANSFORM_FOLD), UNSUPPORTED,
                 "destFormat is 3", "NHWC");
    assert_fails(cudnnSetTensorTransformDescriptor(d, 4, nchw, NULL, NULL, NULL, (cudnnFoldingDirection_t)2), BAD, "direction is 2",
                 "FOLD");
    assert_fails(cudnnGetTensorTransformDescriptor(d, 2, &nchw, NULL, NULL, NULL, NULL), BAD, "nbDimsRequested is 2", "3");
    assert_fails(cudnnSetTensorTransformDescriptor(NULL, 4, nchw, NULL, NULL, NULL, CUDNN_TRANSFORM_FOLD), BAD, "transformDesc", "NULL");
    cudnnDestroyTensorTransformDescriptor(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_repeats_any_dimensions),
        cmocka_unit_test(add_with_beta_0_does_not_read),
        cmocka_unit_test(add_in_place),
        cmocka_unit_test(add_names_what_is_wrong),
        cmocka_unit_test(transform_converts_types_and_layouts),
        cmocka_unit_test(transform_blends_and_rounds_once),
        cmocka_unit_test(transform_packs_vectors),
        cmocka_unit_test(transform_in_place),
        cmocka_unit_test(transform_names_what_is_wrong),
        cmocka_unit_test(set_and_scale),
        cmocka_unit_test(set_takes_a_value_per_lane),
        cmocka_unit_test(gaps_are_not_written),
        cmocka_unit_test(scale_keeps_nan),
        cmocka_unit_test(set_and_scale_name_what_is_wrong),
        cmocka_unit_test(transform_descriptor_keeps_what_it_was_given),
        cmocka_unit_test(transform_descriptor_names_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, handle_setup, handle_teardown);
}
