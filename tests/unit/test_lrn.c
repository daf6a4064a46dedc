/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Local response normalisation through the exported functions, on the ref engine: against the formula written out per element,
 * against numbers worked out by hand, and against finite differences. */
#include "tens.h"

#include "ops/problem.h"

typedef struct lrn {
    unsigned n;
    double alpha, beta, k;
    cudnnLRNDescriptor_t desc;
    tens x, y, dy, dx;
} lrn;

static lrn make(unsigned n, double alpha, double beta, double k, dn_dtype type, int rank, const int *dims, layout lx, layout ly)
{
    lrn l = { .n = n, .alpha = alpha, .beta = beta, .k = k };
    OK(cudnnCreateLRNDescriptor(&l.desc));
    OK(cudnnSetLRNDescriptor(l.desc, n, alpha, beta, k));
    l.x = tens_make(type, rank, dims, lx);
    l.y = tens_make(type, rank, dims, ly);
    l.dy = tens_make(type, rank, dims, ly);
    l.dx = tens_make(type, rank, dims, lx);
    tens_reals(&l.x, 3);
    tens_reals(&l.dy, 4);
    return l;
}

static void drop(lrn *l)
{
    tens_watch(&l->x), tens_watch(&l->y), tens_watch(&l->dy), tens_watch(&l->dx);
    tens_free(&l->x), tens_free(&l->y), tens_free(&l->dy), tens_free(&l->dx);
    OK(cudnnDestroyLRNDescriptor(l->desc));
}

static void forward(lrn *l, double alpha, double beta)
{
    scalar a = scalar_of(l->x.type, alpha), b = scalar_of(l->x.type, beta);
    OK(cudnnLRNCrossChannelForward(handle, l->desc, CUDNN_LRN_CROSS_CHANNEL_DIM1, &a, l->x.desc, l->x.data, &b, l->y.desc, l->y.data));
}

static void backward(lrn *l, double alpha, double beta)
{
    scalar a = scalar_of(l->x.type, alpha), b = scalar_of(l->x.type, beta);
    OK(cudnnLRNCrossChannelBackward(handle, l->desc, CUDNN_LRN_CROSS_CHANNEL_DIM1, &a, l->y.desc, l->y.data, l->dy.desc, l->dy.data,
                                    l->x.desc, l->x.data, &b, l->dx.desc, l->dx.data));
}

/* --- the formula: element i has channel i / space % c, and its neighbours are `space` apart --- */

static int64_t space(const lrn *l)
{
    int64_t s = 1;
    for (int d = 2; d < l->x.rank; d++)
        s *= l->x.dims[d];
    return s;
}

static double scale_of(const lrn *l, int64_t i)
{
    int64_t s = space(l), c = i / s % l->x.dims[1], n = l->n;
    double sum = 0;
    for (int64_t k = c - (n - 1) / 2; k < c - (n - 1) / 2 + n; k++)
        if (k >= 0 && k < l->x.dims[1]) {
            double v = tens_get(&l->x, i + (k - c) * s);
            sum += v * v;
        }
    return l->k + l->alpha / l->n * sum;
}

static double want_y(const lrn *l, int64_t i)
{
    return tens_get(&l->x, i) * pow(scale_of(l, i), -l->beta);
}

static double want_dx(const lrn *l, int64_t j)
{
    int64_t s = space(l), c = j / s % l->x.dims[1], n = l->n;
    double sum = 0;
    for (int64_t k = 0; k < l->x.dims[1]; k++) {
        int64_t i = j + (k - c) * s;
        if (c >= k - (n - 1) / 2 && c < k - (n - 1) / 2 + n)
            sum += tens_get(&l->dy, i) * tens_get(&l->x, i) * pow(scale_of(l, i), -l->beta - 1);
    }
    return tens_get(&l->dy, j) * pow(scale_of(l, j), -l->beta) - 2 * l->alpha / l->n * l->beta * tens_get(&l->x, j) * sum;
}

static void check(lrn *l)
{
    double eps = 4 * type_epsilon(l->x.type);
    forward(l, 1, 0);
    backward(l, 1, 0);
    for (int64_t i = 0; i < l->x.count; i++) {
        double y = want_y(l, i), dx = want_dx(l, i);
        tens_close(&l->y, i, y, eps * (fabs(y) + 0.01));
        tens_close(&l->dx, i, dx, eps * (fabs(dx) + 1));
        tens_set(&l->y, i, (double)(i % 5));
        tens_set(&l->dx, i, (double)(i % 3));
    }
    forward(l, 3, 2);
    backward(l, -1, 0.5);
    for (int64_t i = 0; i < l->x.count; i++) {
        double y = 3 * want_y(l, i) + 2 * (double)(i % 5), dx = -want_dx(l, i) + 0.5 * (double)(i % 3);
        tens_close(&l->y, i, y, 4 * eps * (fabs(y) + 1));
        tens_close(&l->dx, i, dx, 4 * eps * (fabs(dx) + 1));
    }
}

static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };

/* Windows of 1 to 16 over 1 to 40 channels, so that many are larger than the channels. */
static void random_problems(void **state)
{
    (void)state;
    static const double betas[] = { 0.75, 0.5, 1, 0.01, 2.5 };
    uint32_t seed = 12;
    for (int round = 0; round < 400; round++) {
        int dims[TENS_RANK], rank = 3 + (int)(tens_random(&seed) % 4);
        for (int d = 0; d < rank; d++)
            dims[d] = 1 + (int)(tens_random(&seed) % (d == 1 ? 40 : rank > 4 ? 3 : 7));
        lrn l = make(1 + tens_random(&seed) % 16, (int)(tens_random(&seed) % 100) / 10.0, betas[round % 5],
                     1e-5 + (int)(tens_random(&seed) % 30) / 10.0 + (round % 3 == 0), types[round % 4], rank, dims,
                     (layout)(tens_random(&seed) % LAYOUTS), (layout)(tens_random(&seed) % LAYOUTS));
        l.k = l.k < 0.1 ? 0.1 : l.k;  /* a least k makes gradients that no type but f64 holds */
        OK(cudnnSetLRNDescriptor(l.desc, l.n, l.alpha, l.beta, l.k));
        check(&l);
        drop(&l);
    }
}

/* Several pieces of lanes, and rows shared out to the threads. */
static void large_planes(void **state)
{
    (void)state;
    for (int lay = PACKED; lay <= CHANNELS_LAST; lay++) {
        lrn l = make(5, 1, 0.75, 2, DN_F32, 4, (const int[]){ 2, 48, 17, 31 }, (layout)lay, (layout)lay);
        check(&l);
        drop(&l);
    }
    lrn flat = make(16, 1, 0.5, 1, DN_F64, 3, (const int[]){ 70, 33, 1 }, PACKED, CHANNELS_LAST);
    check(&flat);
    drop(&flat);
}

/* x = 1 2 3, window 2: itself and the next. s = 1 + 1 + 4, 1 + 4 + 9, 1 + 9. Window 3: 1 + 1 + 4, 1 + 1 + 4 + 9, 1 + 4 + 9. */
static void worked_out_by_hand(void **state)
{
    (void)state;
    static const double want[2][3] = { { 1 / 6., 2 / 14., 3 / 10. }, { 1 / 6., 2 / 15., 3 / 14. } };
    for (unsigned n = 2; n < 4; n++) {
        lrn l = make(n, n, 1, 1, DN_F64, 4, (const int[]){ 1, 3, 1, 1 }, PACKED, PACKED);
        for (int i = 0; i < 3; i++)
            tens_set(&l.x, i, i + 1);
        forward(&l, 1, 0);
        for (int i = 0; i < 3; i++)
            tens_close(&l.y, i, want[n - 2][i], 1e-15);
        drop(&l);
    }
}

static double loss(lrn *l)
{
    double s = 0;
    forward(l, 1, 0);
    for (int64_t i = 0; i < l->y.count; i++)
        s += tens_get(&l->y, i) * tens_get(&l->dy, i);
    return s;
}

static void finite_differences(void **state)
{
    (void)state;
    const double step = 1e-5;
    for (unsigned n = 1; n <= 16; n += n < 6 ? 1 : 5) {
        lrn l = make(n, 3, n % 2 ? 0.75 : 1.3, 0.5, DN_F64, 4, (const int[]){ 2, 7, 2, 1 }, PACKED, REVERSED);
        forward(&l, 1, 0);
        backward(&l, 1, 0);
        for (int64_t i = 0; i < l.x.count; i++) {
            double v = tens_get(&l.x, i);
            tens_set(&l.x, i, v + step);
            double up = loss(&l);
            tens_set(&l.x, i, v - step);
            double down = loss(&l);
            tens_set(&l.x, i, v);
            tens_close(&l.dx, i, (up - down) / (2 * step), 1e-8);
        }
        drop(&l);
    }
}

static void in_place(void **state)
{
    (void)state;
    const int dims[] = { 2, 20, 3, 5 };
    for (int lay = PACKED; lay < LAYOUTS; lay++) {
        lrn l = make(6, 2, 0.75, 1, DN_F64, 4, dims, (layout)lay, (layout)lay);
        const double a = 1, b = 0;
        forward(&l, 1, 0);
        backward(&l, 1, 0);
        OK(cudnnLRNCrossChannelBackward(handle, l.desc, CUDNN_LRN_CROSS_CHANNEL_DIM1, &a, l.y.desc, l.y.data, l.dy.desc, l.dy.data,
                                        l.x.desc, l.x.data, &b, l.dy.desc, l.dy.data));
        OK(cudnnLRNCrossChannelForward(handle, l.desc, CUDNN_LRN_CROSS_CHANNEL_DIM1, &a, l.x.desc, l.x.data, &b, l.x.desc, l.x.data));
        for (int64_t i = 0; i < l.x.count; i++) {
            tens_close(&l.x, i, tens_get(&l.y, i), 0);
            tens_close(&l.dy, i, tens_get(&l.dx, i), 0);
        }
        drop(&l);
    }
    lrn l = make(5, 2, 0.75, 1, DN_F32, 4, dims, PACKED, CHANNELS_LAST);
    const float one = 1, zero = 0;
    REFUSED(cudnnLRNCrossChannelForward(handle, l.desc, CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, l.x.desc, l.x.data, &zero, l.y.desc,
                                        l.x.data), CUDNN_STATUS_BAD_PARAM, "y is written over x, and their strides differ");
    drop(&l);
}

static void a_nan_reaches_its_window(void **state)
{
    (void)state;
    lrn l = make(3, 1, 0.75, 1, DN_F32, 4, (const int[]){ 1, 9, 1, 2 }, PACKED, PACKED);
    tens_set(&l.x, 8, NAN);  /* channel 4, place 0 */
    forward(&l, 1, 0);
    backward(&l, 1, 0);
    for (int64_t i = 0; i < l.x.count; i++) {
        int64_t far = i / 2 > 4 ? i / 2 - 4 : 4 - i / 2;
        assert_true(isnan(tens_get(&l.y, i)) == (i % 2 == 0 && far <= 1));
        assert_true(isnan(tens_get(&l.dx, i)) == (i % 2 == 0 && far <= 2));
    }
    drop(&l);
}

static void descriptors(void **state)
{
    (void)state;
    cudnnLRNDescriptor_t d;
    unsigned n = 0;
    double a, b, k;
    OK(cudnnCreateLRNDescriptor(&d));
    OK(cudnnGetLRNDescriptor(d, &n, &a, &b, &k));
    assert_true(n == 5 && a == 1e-4 && b == 0.75 && k == 2);
    OK(cudnnSetLRNDescriptor(d, 16, -1, 0.01, 1e-5));
    REFUSED(cudnnSetLRNDescriptor(d, 0, 1, 1, 1), CUDNN_STATUS_BAD_PARAM, "lrnN is 0");
    REFUSED(cudnnSetLRNDescriptor(d, 17, 1, 1, 1), CUDNN_STATUS_BAD_PARAM, "lrnN is 17");
    REFUSED(cudnnSetLRNDescriptor(d, 0xffffffffu, 1, 1, 1), CUDNN_STATUS_BAD_PARAM, "lrnN is 4294967295");
    REFUSED(cudnnSetLRNDescriptor(d, 5, 1, 0.0099, 1), CUDNN_STATUS_BAD_PARAM, "lrnBeta is 0.0099");
    REFUSED(cudnnSetLRNDescriptor(d, 5, 1, NAN, 1), CUDNN_STATUS_BAD_PARAM, "lrnBeta is");
    REFUSED(cudnnSetLRNDescriptor(d, 5, 1, 1, 0.9e-5), CUDNN_STATUS_BAD_PARAM, "lrnK is 9e-06");
    OK(cudnnGetLRNDescriptor(d, &n, NULL, NULL, &k));
    assert_true(n == 16 && k == 1e-5);
    OK(cudnnGetLRNDescriptor(d, NULL, &a, &b, NULL));
    assert_true(a == -1 && b == 0.01);
    OK(cudnnDestroyLRNDescriptor(d));
    REFUSED(cudnnSetLRNDescriptor(d, 5, 1, 1, 1), CUDNN_STATUS_BAD_PARAM, "destroyed");
}

static void refusals(void **state)
{
    (void)state;
    const float one = 1, zero = 0;
    const cudnnLRNMode_t mode = CUDNN_LRN_CROSS_CHANNEL_DIM1;
    lrn l = make(5, 1, 0.75, 1, DN_F32, 4, (const int[]){ 2, 4, 3, 3 }, PACKED, PACKED);
    tens other = tens_make(DN_F32, 4, (const int[]){ 2, 4, 3, 4 }, PACKED), half = tens_make(DN_F16, 4, l.x.dims, PACKED);
    tens whole = tens_make(DN_I32, 4, l.x.dims, PACKED);
    REFUSED(cudnnLRNCrossChannelForward(handle, l.desc, mode, &one, l.x.desc, l.x.data, &zero, other.desc, other.data),
            CUDNN_STATUS_NOT_SUPPORTED, "dimension 3 of yDesc is 4");
    REFUSED(cudnnLRNCrossChannelForward(handle, l.desc, mode, &one, l.x.desc, l.x.data, &zero, half.desc, half.data),
            CUDNN_STATUS_NOT_SUPPORTED, "yDesc has type f16");
    REFUSED(cudnnLRNCrossChannelForward(handle, l.desc, mode, &one, whole.desc, whole.data, &zero, whole.desc, l.y.data),
            CUDNN_STATUS_NOT_SUPPORTED, "needs type");
    REFUSED(cudnnLRNCrossChannelForward(handle, l.desc, (cudnnLRNMode_t)1, &one, l.x.desc, l.x.data, &zero, l.y.desc, l.y.data),
            CUDNN_STATUS_BAD_PARAM, "lrnMode is 1");
    REFUSED(cudnnLRNCrossChannelBackward(handle, l.desc, mode, &one, l.y.desc, NULL, l.dy.desc, l.dy.data, l.x.desc, l.x.data, &zero,
                                         l.dx.desc, l.dx.data), CUDNN_STATUS_BAD_PARAM, "y is NULL");
    dn_problem p;
    assert_int_equal(dn_problem_parse("lrn fwd x=n2c4h3w3:f32:nchw y=n2c4h3w3:f32:nhwc n=3 alpha=1 k=1", &p), DN_SUCCESS);
    assert_true(p.u.lrn.n == 3 && p.u.lrn.beta == 0.75);
    assert_int_equal(dn_problem_parse("lrn fwd x=n2c4h3w3:f32:nchw y=n2c4h3w3:f32:nhwc n=17", &p), DN_BAD_PARAM);
    tens_free(&other), tens_free(&half), tens_free(&whole);
    drop(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems),
        cmocka_unit_test(large_planes),
        cmocka_unit_test(worked_out_by_hand),
        cmocka_unit_test(finite_differences),
        cmocka_unit_test(in_place),
        cmocka_unit_test(a_nan_reaches_its_window),
        cmocka_unit_test(descriptors),
        cmocka_unit_test(refusals),
    };
    setenv("ANYDNN_ENGINE", "ref", 1);
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
