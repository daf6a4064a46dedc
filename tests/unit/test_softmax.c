/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Softmax through the exported functions, on the ref engine, against sums over every element of a group. */
#include "tens.h"

enum { FAST = CUDNN_SOFTMAX_FAST, ACCURATE = CUDNN_SOFTMAX_ACCURATE, LOG = CUDNN_SOFTMAX_LOG };
enum { INSTANCE = CUDNN_SOFTMAX_MODE_INSTANCE, CHANNEL = CUDNN_SOFTMAX_MODE_CHANNEL };

static void forward(int algo, int mode, const tens *x, tens *y, double alpha, double beta)
{
    scalar a = scalar_of(x->type, alpha), b = scalar_of(x->type, beta);
    OK(cudnnSoftmaxForward(handle, (cudnnSoftmaxAlgorithm_t)algo, (cudnnSoftmaxMode_t)mode, &a, x->desc, x->data, &b, y->desc, y->data));
}

static void backward(int algo, int mode, const tens *y, const tens *dy, tens *dx, double alpha, double beta)
{
    scalar a = scalar_of(y->type, alpha), b = scalar_of(y->type, beta);
    OK(cudnnSoftmaxBackward(handle, (cudnnSoftmaxAlgorithm_t)algo, (cudnnSoftmaxMode_t)mode, &a, y->desc, y->data, dy->desc, dy->data, &b,
                            dx->desc, dx->data));
}

/* Number of the group of logical element i. */
static int64_t group_of(const tens *t, int mode, int64_t i)
{
    int64_t inner = t->count / t->dims[0] / t->dims[1], n = i / (t->count / t->dims[0]);
    return mode == INSTANCE ? n : n * inner + i % inner;
}

static void sums(const tens *a, const tens *b, int mode, bool exponential, double *sum)
{
    memset(sum, 0, sizeof(double) * (size_t)a->count);
    for (int64_t i = 0; i < a->count; i++) {
        double v = exponential ? exp(tens_get(a, i)) : tens_get(a, i);
        sum[group_of(a, mode, i)] += v * (b ? tens_get(b, i) : 1);
    }
}

static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };
static const int shapes[][9] = {
    { 3, 2, 3, 4 }, { 4, 5, 10, 1, 1 }, { 4, 2, 3, 4, 5 }, { 4, 1, 1, 3, 3 }, { 4, 3, 7, 1, 200 }, { 5, 2, 3, 2, 3, 2 },
    { 6, 1, 3, 2, 1, 2, 2 }, { 8, 2, 3, 1, 2, 1, 2, 1, 2 }, { 3, 1, 1, 1 },
};

static void check(int algo, int mode, dn_dtype type, const int *shape, layout lx, layout ly)
{
    tens x = tens_make(type, shape[0], shape + 1, lx), y = tens_make(type, shape[0], shape + 1, ly);
    tens dy = tens_make(type, shape[0], shape + 1, lx), dx = tens_make(type, shape[0], shape + 1, ly);
    double *sum = malloc(sizeof(double) * (size_t)x.count), e = type_epsilon(type);
    tens_integers(&x, 4, 3);
    tens_reals(&dy, 4);
    sums(&x, NULL, mode, true, sum);
    forward(algo, mode, &x, &y, 1, 0);
    for (int64_t i = 0; i < x.count; i++) {
        double s = sum[group_of(&x, mode, i)], v = tens_get(&x, i);
        double want = algo == LOG ? v - log(s) : exp(v) / s;
        tens_close(&y, i, want, e * (1 + fabs(want)));
    }
    sums(algo == LOG ? &dy : &y, algo == LOG ? NULL : &dy, mode, false, sum);
    backward(algo, mode, &y, &dy, &dx, 1, 0);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < x.count; i++) {
            double s = sum[group_of(&x, mode, i)], v = tens_get(&y, i), g = tens_get(&dy, i);
            double want = algo == LOG ? g - exp(v) * s : v * (g - s);
            tens_close(&dx, i, pass ? 1.5 * want : want, 8 * e * (1 + fabs(want)));
        }
        backward(algo, mode, &y, &dy, &dx, 2, -0.5);
    }
    for (int64_t i = 0; i < x.count; i++)
        tens_set(&x, i, tens_get(&y, i));  /* keeps y; x is no longer needed as it was */
    tens z = tens_make(type, shape[0], shape + 1, ly);
    for (int64_t i = 0; i < x.count; i++)
        tens_set(&z, i, 1);
    forward(algo, mode, &x, &y, 1, 0);
    forward(algo, mode, &x, &z, 1, 2);
    for (int64_t i = 0; i < x.count; i++)
        tens_close(&z, i, tens_get(&y, i) + 2, 4 * e * (3 + fabs(tens_get(&y, i))));
    tens_watch(&x), tens_watch(&y), tens_watch(&dx), tens_watch(&z);
    tens_free(&x), tens_free(&y), tens_free(&dy), tens_free(&dx), tens_free(&z);
    free(sum);
}

static void every_algorithm_mode_type_and_layout(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
        for (int k = 0; k < 3 * 2 * 4; k++)
            for (int l = 0; l < LAYOUTS * LAYOUTS; l++)
                check(k % 3, k / 3 % 2, types[k / 6], shapes[s], (layout)(l % LAYOUTS), (layout)(l / LAYOUTS));
}

static void gradients_are_finite_differences(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 2, 2 };
    const double h = 1e-6;
    for (int k = 0; k < 6; k++) {
        int algo = k % 3, mode = k / 3;
        tens x = tens_make(DN_F64, 4, dims, PACKED), y = tens_make(DN_F64, 4, dims, GAPS);
        tens dy = tens_make(DN_F64, 4, dims, CHANNELS_LAST), dx = tens_make(DN_F64, 4, dims, REVERSED);
        tens_reals(&x, 1), tens_reals(&dy, 2);
        forward(algo, mode, &x, &y, 1, 0);
        backward(algo, mode, &y, &dy, &dx, 1, 0);
        for (int64_t i = 0; i < x.count; i++) {
            double v = tens_get(&x, i), loss[2] = { 0, 0 };
            for (int s = 0; s < 2; s++) {
                tens_set(&x, i, v + (s ? -h : h));
                forward(algo, mode, &x, &y, 1, 0);
                for (int64_t j = 0; j < x.count; j++)
                    loss[s] += tens_get(&y, j) * tens_get(&dy, j);
            }
            tens_set(&x, i, v);
            tens_close(&dx, i, (loss[0] - loss[1]) / (2 * h), 1e-8);
        }
        tens_free(&x), tens_free(&y), tens_free(&dy), tens_free(&dx);
    }
}

/* L34: many channels, many places, a long sample. */
static void large_groups(void **state)
{
    (void)state;
    static const int big[][9] = { { 4, 2, 5000, 1, 1 }, { 4, 2, 300, 5, 60 }, { 4, 1, 3, 301, 400 }, { 4, 70, 2, 16, 16 } };
    for (size_t s = 0; s < 4; s++)
        for (int mode = 0; mode < 2; mode++) {
            check(ACCURATE, mode, DN_F32, big[s], PACKED, PACKED);
            check(LOG, mode, DN_F32, big[s], PACKED, CHANNELS_LAST);
        }
}

/* Exact: equal inputs give 1 / n for n a power of two, and a far larger one gives 1 and 0. */
static void exact_values(void **state)
{
    (void)state;
    const int dims[] = { 2, 8, 1, 2 };
    for (int algo = FAST; algo <= ACCURATE; algo++)
        for (size_t ty = 0; ty < 4; ty++) {
            tens x = tens_make(types[ty], 4, dims, PACKED), y = tens_make(types[ty], 4, dims, CHANNELS_LAST);
            for (int64_t i = 0; i < x.count; i++)
                tens_set(&x, i, algo == FAST ? 0 : 3);  /* e^3 eight times is not 8 e^3 in floating point */
            forward(algo, CHANNEL, &x, &y, 1, 0);
            for (int64_t i = 0; i < x.count; i++)
                assert_true(tens_get(&y, i) == 0.125);
            tens_set(&x, 0, 600);
            forward(algo, INSTANCE, &x, &y, 1, 0);
            for (int64_t i = 0; i < x.count; i++)
                assert_true(tens_get(&y, i) == (i == 0 ? 1 : i < 16 ? (types[ty] == DN_F64 ? tens_get(&y, 1) : 0) : 0.0625));
            tens_free(&x), tens_free(&y);
        }
    tens x = tens_make(DN_I8, 4, dims, PACKED), y = tens_make(DN_I8, 4, dims, PACKED);
    for (int64_t i = 0; i < x.count; i++)
        tens_set(&x, i, i == 6 ? 64 : 0);
    forward(ACCURATE, INSTANCE, &x, &y, 100, 0);
    for (int64_t i = 0; i < x.count; i++)
        assert_true(tens_get(&y, i) == (i == 6 ? 100 : i < 16 ? 0 : 6));
    tens_free(&x), tens_free(&y);
}

/* Rows of three, as the head of src/ref/softmax.c states them. */
static void infinities_and_nan(void **state)
{
    (void)state;
    const double I = INFINITY, N = NAN, a = 1 / (1 + exp(1)), b = 1 / (1 + exp(-1));
    const struct { int algo; double x[3], y[3]; } rows[] = {
        { FAST, { -I, -I, -I }, { N, N, N } },   { ACCURATE, { -I, -I, -I }, { N, N, N } }, { LOG, { -I, -I, -I }, { N, N, N } },
        { FAST, { 1, -I, 2 }, { a, 0, b } },     { ACCURATE, { 1, -I, 2 }, { a, 0, b } },   { LOG, { 1, -I, 2 }, { log(a), -I, log(b) } },
        { FAST, { 1, I, 2 }, { 0, N, 0 } },      { ACCURATE, { 1, I, 2 }, { N, N, N } },    { LOG, { 1, I, 2 }, { N, N, N } },
        { FAST, { N, 1, 2 }, { N, N, N } },      { ACCURATE, { 1, N, 2 }, { N, N, N } },    { LOG, { 1, 2, N }, { N, N, N } },
        { ACCURATE, { 1000, 2000, 3000 }, { 0, 0, 1 } }, { LOG, { 1000, 2000, 3000 }, { -2000, -1000, 0 } },
        { FAST, { 1000, 0, 0 }, { N, 0, 0 } },   { FAST, { 700, 700, -I }, { 0.5, 0.5, 0 } },
    };
    const int one[] = { 1, 3, 1, 1 }, lanes[] = { 1, 3, 1, 5 };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        tens x = tens_make(DN_F32, 4, one, PACKED), y = tens_make(DN_F32, 4, one, PACKED);
        tens u = tens_make(DN_F32, 4, lanes, PACKED), v = tens_make(DN_F32, 4, lanes, PACKED);
        for (int i = 0; i < 3; i++) {
            tens_set(&x, i, rows[r].x[i]);
            for (int j = 0; j < 5; j++)
                tens_set(&u, i * 5 + j, rows[r].x[i]);
        }
        forward(rows[r].algo, INSTANCE, &x, &y, 1, 0);
        forward(rows[r].algo, CHANNEL, &u, &v, 1, 0);
        for (int i = 0; i < 3; i++) {
            tens_close(&y, i, rows[r].y[i], 1e-7);
            for (int j = 0; j < 5; j++)
                tens_close(&v, i * 5 + j, rows[r].y[i], 1e-7);
        }
        tens_free(&x), tens_free(&y), tens_free(&u), tens_free(&v);
    }
}

static void in_place(void **state)
{
    (void)state;
    const int dims[] = { 2, 5, 3, 140 };
    for (int k = 0; k < 6 * LAYOUTS; k++) {
        int algo = k % 3, mode = k / 3 % 2;
        layout lay = (layout)(k / 6);
        tens x = tens_make(DN_F32, 4, dims, lay), y = tens_make(DN_F32, 4, dims, lay);
        tens g = tens_make(DN_F32, 4, dims, lay), dx = tens_make(DN_F32, 4, dims, lay), over = tens_make(DN_F32, 4, dims, lay);
        tens_reals(&x, 8), tens_reals(&g, 9);
        forward(algo, mode, &x, &y, 1, 0);
        forward(algo, mode, &x, &x, 1, 0);
        assert_memory_equal(x.memory, y.memory, x.bytes);
        memcpy(over.memory, y.memory, y.bytes);
        backward(algo, mode, &y, &g, &dx, 1, 0);
        backward(algo, mode, &over, &g, &over, 1, 0);  /* over y */
        backward(algo, mode, &y, &g, &g, 1, 0);        /* over dy */
        assert_memory_equal(g.memory, dx.memory, g.bytes);
        assert_memory_equal(over.memory, dx.memory, g.bytes);
        tens_free(&x), tens_free(&y), tens_free(&g), tens_free(&dx), tens_free(&over);
    }
}

static void refusals(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 4, 5 }, other[] = { 2, 3, 5, 4 };
    float one = 1, zero = 0;
    tens x = tens_make(DN_F32, 4, dims, PACKED), l = tens_make(DN_F32, 4, dims, CHANNELS_LAST), o = tens_make(DN_F32, 4, other, PACKED);
    tens i = tens_make(DN_I32, 4, dims, PACKED), y = tens_make(DN_F32, 4, dims, PACKED), f = tens_make(DN_F16, 4, dims, PACKED);
#define SOFTMAX(algo, mode, a, b, out) \
    cudnnSoftmaxForward(handle, (cudnnSoftmaxAlgorithm_t)(algo), (cudnnSoftmaxMode_t)(mode), &one, a.desc, a.data, &zero, b.desc, out)
    REFUSED(SOFTMAX(3, 0, x, y, y.data), CUDNN_STATUS_BAD_PARAM, "algo is 3");
    REFUSED(SOFTMAX(0, 2, x, y, y.data), CUDNN_STATUS_BAD_PARAM, "mode is 2");
    REFUSED(SOFTMAX(0, 0, x, o, o.data), CUDNN_STATUS_BAD_PARAM, "dimension 2 of yDesc is 5, of xDesc 4");
    REFUSED(SOFTMAX(0, 0, x, f, f.data), CUDNN_STATUS_BAD_PARAM, "yDesc has type f16, xDesc has f32");
    REFUSED(SOFTMAX(0, 0, x, l, x.data), CUDNN_STATUS_BAD_PARAM, "y is written over x");
    REFUSED(SOFTMAX(0, 0, i, i, i.data), CUDNN_STATUS_NOT_SUPPORTED, "ref_softmax_fwd: needs type");
    REFUSED(SOFTMAX(0, 0, x, y, NULL), CUDNN_STATUS_BAD_PARAM, "y is NULL");
#define SOFTMAX_B(a, b, c, out) \
    cudnnSoftmaxBackward(handle, CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_MODE_CHANNEL, &one, a.desc, a.data, b.desc, b.data, &zero, c.desc, out)
    REFUSED(SOFTMAX_B(x, o, y, y.data), CUDNN_STATUS_BAD_PARAM, "dyDesc");
    REFUSED(SOFTMAX_B(x, x, o, o.data), CUDNN_STATUS_BAD_PARAM, "dxDesc");
    REFUSED(SOFTMAX_B(x, y, l, y.data), CUDNN_STATUS_BAD_PARAM, "dx is written over dy");
    REFUSED(SOFTMAX_B(x, y, l, x.data), CUDNN_STATUS_BAD_PARAM, "dx is written over y");
    tens_free(&x), tens_free(&l), tens_free(&o), tens_free(&i), tens_free(&y), tens_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_mode_type_and_layout),
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(large_groups),
        cmocka_unit_test(exact_values),
        cmocka_unit_test(infinities_and_nan),
        cmocka_unit_test(in_place),
        cmocka_unit_test(refusals),
    };
    setenv("ANYDNN_ENGINE", "ref", 1);
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
