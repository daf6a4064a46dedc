/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * cudnnOpTensor against a loop over elements: all operations, types and layouts, B repeated along any dimensions. */
#include "tens.h"

enum { ADD, MUL, MIN, MAX, SQRT, NOT, OPS };

#define BAD CUDNN_STATUS_BAD_PARAM
#define UNSUPPORTED CUDNN_STATUS_NOT_SUPPORTED

static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16, DN_I8, DN_U8, DN_I32 };

static cudnnOpTensorDescriptor_t desc_of(int op, dn_dtype compute, int nan)
{
    cudnnOpTensorDescriptor_t d;
    OK(cudnnCreateOpTensorDescriptor(&d));
    OK(cudnnSetOpTensorDescriptor(d, (cudnnOpTensorOp_t)op, (cudnnDataType_t)compute, (cudnnNanPropagation_t)nan));
    return d;
}

/* Number in b of element i of c. */
static int64_t repeated(const tens *b, const tens *c, int64_t i)
{
    int64_t at = 0, unit = 1;
    for (int d = c->rank - 1; d >= 0; d--) {
        at += b->dims[d] == 1 ? 0 : i % c->dims[d] * unit;
        i /= c->dims[d];
        unit *= b->dims[d];
    }
    return at;
}

static double truth(int op, double a, double b)
{
    switch (op) {
    case ADD: return a + b;
    case MUL: return a * b;
    case MIN: return a < b ? a : b;
    case MAX: return a > b ? a : b;
    case SQRT: return sqrt(a);
    default: return 1 - a;
    }
}

/* Small integers: every result but a root is exact in every type. */
static void check(int op, dn_dtype in, dn_dtype out, int rank, const int *dims, int ones, layout how, double beta)
{
    int b_dims[TENS_RANK];
    for (int d = 0; d < rank; d++)
        b_dims[d] = ones >> d & 1 ? 1 : dims[d];
    tens a = tens_make(in, rank, dims, how), b = tens_make(in, rank, b_dims, (layout)((how + 1) % LAYOUTS));
    tens c = tens_make(out, rank, dims, (layout)((how + ones) % LAYOUTS));
    dn_dtype compute = out == DN_F64 ? DN_F64 : DN_F32;
    cudnnOpTensorDescriptor_t d = desc_of(op, compute, 0);
    tens_integers(&a, 3, 1);
    tens_integers(&b, 3, 2);
    double *old = calloc((size_t)c.count, sizeof(double));
    if (op == SQRT || in == DN_U8)
        for (int64_t i = 0; i < a.count; i++)
            tens_set(&a, i, fabs(tens_get(&a, i)));
    if (beta != 0)
        tens_integers(&c, 5, 3);
    for (int64_t i = 0; i < c.count; i++)
        old[i] = beta != 0 ? tens_get(&c, i) : 0;
    scalar one = scalar_of(compute, 2), two = scalar_of(compute, -1), s = scalar_of(compute, beta);
    OK(cudnnOpTensor(handle, d, &one, a.desc, a.data, op < SQRT ? &two : NULL, op < SQRT ? b.desc : NULL, op < SQRT ? b.data : NULL,
                     &s, c.desc, c.data));
    for (int64_t i = 0; i < c.count; i++) {
        double want = truth(op, 2 * tens_get(&a, i), -tens_get(&b, repeated(&b, &c, i))) + beta * old[i];
        tens_close(&c, i, tens_rounded(&c, want), 0);
    }
    tens_watch(&c);
    OK(cudnnDestroyOpTensorDescriptor(d));
    free(old);
    tens_free(&a);
    tens_free(&b);
    tens_free(&c);
}

/* L32: every dimension of B is C's or 1, in any combination. */
static void repeats_any_dimensions(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 4, 5, 2, 3, 2, 2 };
    for (int rank = 2; rank <= 5; rank++)
        for (int ones = 0; ones < 1 << rank; ones++)
            for (int op = 0; op < OPS; op++)
                check(op, types[ones % 4], types[ones % 4], rank, dims, ones, (layout)(ones % LAYOUTS), ones & 1 ? 3 : 0);
    check(ADD, DN_F32, DN_F32, 8, dims, 0x55, PACKED, 1);
    check(MAX, DN_F16, DN_F16, 8, dims, 0xff, GAPS, 0);
}

/* Every pair of types that is not half double. */
static void mixes_types(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 7, 5 };
    for (int i = 0; i < 49; i++) {
        dn_dtype in = types[i / 7], out = types[i % 7];
        if ((in == DN_F64) == (out == DN_F64))
            for (int op = 0; op < OPS; op++)
                check(op, in, out, 4, dims, 4, CHANNELS_LAST, i & 1 ? 2 : 0);
    }
}

static void long_rows_are_whole(void **state)
{
    (void)state;
    const int dims[] = { 3, 2, 70, 500 };
    check(ADD, DN_F32, DN_F32, 4, dims, 0, PACKED, 1);
    check(MUL, DN_F32, DN_F32, 4, dims, 13, CHANNELS_LAST, 0);
}

static double one_value(int op, int nan, double a, double b)
{
    tens x = tens_make(DN_F32, 3, (const int[]){ 1, 1, 1 }, PACKED), y = tens_make(DN_F32, 3, x.dims, PACKED);
    cudnnOpTensorDescriptor_t d = desc_of(op, DN_F32, nan);
    const float one = 1, zero = 0;
    tens_set(&x, 0, a);
    tens_set(&y, 0, b);
    OK(cudnnOpTensor(handle, d, &one, x.desc, x.data, &one, y.desc, y.data, &zero, y.desc, y.data));
    double got = tens_get(&y, 0);
    OK(cudnnDestroyOpTensorDescriptor(d));
    tens_free(&x);
    tens_free(&y);
    return got;
}

static void nan_goes_as_told(void **state)
{
    (void)state;
    for (int op = MIN; op <= MAX; op++) {
        assert_true(one_value(op, 0, NAN, 3) == 3 && one_value(op, 0, 3, NAN) == 3 && isnan(one_value(op, 0, NAN, NAN)));
        assert_true(isnan(one_value(op, 1, NAN, 3)) && isnan(one_value(op, 1, 3, NAN)));
    }
    assert_true(isnan(one_value(ADD, 0, NAN, 3)) && isnan(one_value(MUL, 0, 0, INFINITY)) && isnan(one_value(SQRT, 0, -1, 0)));
    assert_true(one_value(MIN, 0, -INFINITY, 3) == -INFINITY && one_value(MAX, 1, INFINITY, 3) == INFINITY);
}

static void works_in_place(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 4 }, row[] = { 1, 3, 1 };
    tens a = tens_make(DN_F32, 3, dims, GAPS), b = tens_make(DN_F32, 3, row, PACKED), n = tens_make(DN_F32, 3, dims, CHANNELS_LAST);
    cudnnOpTensorDescriptor_t d = desc_of(ADD, DN_F32, 0);
    const float one = 1, zero = 0, two = 2;
    tens_integers(&a, 9, 1);
    tens_integers(&b, 9, 2);
    double first = tens_get(&a, 5) * 2 + tens_get(&b, 1) + 2 * tens_get(&a, 5);
    OK(cudnnOpTensor(handle, d, &two, a.desc, a.data, &one, b.desc, b.data, &two, a.desc, a.data));
    tens_close(&a, 5, first, 0);
    OK(cudnnOpTensor(handle, d, &one, a.desc, a.data, &one, a.desc, a.data, &zero, a.desc, a.data));
    tens_close(&a, 5, 2 * first, 0);
    REFUSED(cudnnOpTensor(handle, d, &one, a.desc, a.data, &one, b.desc, a.data, &zero, a.desc, a.data), BAD, "B and C are one buffer");
    REFUSED(cudnnOpTensor(handle, d, &one, n.desc, a.data, &one, b.desc, b.data, &zero, a.desc, a.data), BAD, "A and C are one buffer");
    OK(cudnnDestroyOpTensorDescriptor(d));
    tens_free(&a);
    tens_free(&b);
    tens_free(&n);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    tens a = tens_make(DN_F32, 3, (const int[]){ 2, 3, 4 }, PACKED), b = tens_make(DN_F32, 3, (const int[]){ 2, 2, 4 }, PACKED);
    tens one_a = tens_make(DN_F32, 3, (const int[]){ 2, 1, 4 }, PACKED), f64 = tens_make(DN_F64, 3, a.dims, PACKED);
    tens i64 = tens_make(DN_I64, 3, a.dims, PACKED), c = tens_make(DN_F32, 3, a.dims, PACKED);
    cudnnOpTensorDescriptor_t d = desc_of(ADD, DN_F32, 0), wide = desc_of(ADD, DN_F64, 0), half = desc_of(ADD, DN_F16, 0), none;
    const float k = 1;
    OK(cudnnCreateOpTensorDescriptor(&none));
    REFUSED(cudnnOpTensor(handle, none, &k, a.desc, a.data, &k, a.desc, a.data, &k, c.desc, c.data), BAD, "never set");
    REFUSED(cudnnOpTensor(handle, d, &k, a.desc, a.data, &k, b.desc, b.data, &k, c.desc, c.data), BAD, "dimension 1 of bDesc is 2");
    REFUSED(cudnnOpTensor(handle, d, &k, one_a.desc, one_a.data, &k, a.desc, a.data, &k, c.desc, c.data), BAD, "dimension 1 of aDesc is 1");
    REFUSED(cudnnOpTensor(handle, d, &k, f64.desc, f64.data, &k, a.desc, a.data, &k, c.desc, c.data), UNSUPPORTED, "compute type is f32");
    REFUSED(cudnnOpTensor(handle, wide, &(double){ 1 }, a.desc, a.data, &(double){ 1 }, a.desc, a.data, &(double){ 1 }, c.desc, c.data),
            UNSUPPORTED, "compute type is f64");
    REFUSED(cudnnOpTensor(handle, half, &k, a.desc, a.data, &k, a.desc, a.data, &k, c.desc, c.data), UNSUPPORTED, "compute type is f16");
    REFUSED(cudnnOpTensor(handle, d, &k, a.desc, a.data, &k, i64.desc, i64.data, &k, c.desc, c.data), UNSUPPORTED, "bDesc has type i64");
    REFUSED(cudnnOpTensor(handle, d, &k, a.desc, a.data, NULL, a.desc, a.data, &k, c.desc, c.data), BAD, "alpha2 is NULL");
    REFUSED(cudnnOpTensor(handle, d, &k, a.desc, a.data, &k, a.desc, NULL, &k, c.desc, c.data), BAD, "B is NULL");
    cudnnOpTensorDescriptor_t all[] = { d, wide, half, none };
    for (int i = 0; i < 4; i++)
        OK(cudnnDestroyOpTensorDescriptor(all[i]));
    tens *t[] = { &a, &b, &one_a, &f64, &i64, &c };
    for (int i = 0; i < 6; i++)
        tens_free(t[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats_any_dimensions), cmocka_unit_test(mixes_types),    cmocka_unit_test(long_rows_are_whole),
        cmocka_unit_test(nan_goes_as_told),       cmocka_unit_test(works_in_place), cmocka_unit_test(says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
