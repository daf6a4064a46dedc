/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Divisive normalisation through the exported functions, on the ref engine: against the formula written out per element, against
 * numbers worked out by hand, and against finite differences of x and of the means. */
#include "tens.h"

#include "ops/problem.h"

typedef struct divn {
    int n;
    double alpha, beta, k;
    bool with_means;
    cudnnLRNDescriptor_t desc;
    tens x, means, y, dy, dx, dmeans;
    void *temp, *temp2;
} divn;

static divn make(int n, double alpha, double beta, double k, dn_dtype type, int rank, const int *dims, layout lx, layout ly)
{
    divn l = { .n = n, .alpha = alpha, .beta = beta, .k = k, .with_means = true };
    OK(cudnnCreateLRNDescriptor(&l.desc));
    OK(cudnnSetLRNDescriptor(l.desc, (unsigned)n, alpha, beta, k));
    l.x = tens_make(type, rank, dims, lx);
    l.means = tens_make(type, rank, dims, lx);
    l.dy = tens_make(type, rank, dims, lx);
    l.y = tens_make(type, rank, dims, ly);
    l.dx = tens_make(type, rank, dims, ly);
    l.dmeans = tens_make(type, rank, dims, ly);
    tens_reals(&l.x, 3);
    tens_reals(&l.means, 5);
    tens_reals(&l.dy, 4);
    l.temp = calloc(1, l.x.bytes);
    l.temp2 = calloc(1, l.x.bytes);
    return l;
}

static void drop(divn *l)
{
    tens *all[] = { &l->x, &l->means, &l->y, &l->dy, &l->dx, &l->dmeans };
    for (int i = 0; i < 6; i++) {
        tens_watch(all[i]);
        tens_free(all[i]);
    }
    free(l->temp);
    free(l->temp2);
    OK(cudnnDestroyLRNDescriptor(l->desc));
}

static void forward(divn *l, double alpha, double beta)
{
    scalar a = scalar_of(l->x.type, alpha), b = scalar_of(l->x.type, beta);
    OK(cudnnDivisiveNormalizationForward(handle, l->desc, CUDNN_DIVNORM_PRECOMPUTED_MEANS, &a, l->x.desc, l->x.data,
                                         l->with_means ? l->means.data : NULL, l->temp, l->temp2, &b, l->y.desc, l->y.data));
}

static void backward(divn *l, double alpha, double beta)
{
    scalar a = scalar_of(l->x.type, alpha), b = scalar_of(l->x.type, beta);
    OK(cudnnDivisiveNormalizationBackward(handle, l->desc, CUDNN_DIVNORM_PRECOMPUTED_MEANS, &a, l->x.desc, l->x.data,
                                          l->with_means ? l->means.data : NULL, l->dy.data, l->temp, l->temp2, &b, l->dx.desc,
                                          l->dx.data, l->with_means ? l->dmeans.data : NULL));
}

/* --- the formula --- */

/* x of element q less the mean of element p */
static double deviation(const divn *l, int64_t q, int64_t p)
{
    return tens_get(&l->x, q) - (l->with_means ? tens_get(&l->means, p) : 0);
}

/* Whether element q is in the window of element p. */
static bool in_window(const divn *l, int64_t p, int64_t q)
{
    for (int d = l->x.rank - 1; d >= 0; d--) {
        int64_t a = p % l->x.dims[d], b = q % l->x.dims[d];
        if (d < 2 ? a != b : b < a - (l->n - 1) / 2 || b > a + l->n / 2)
            return false;
        p /= l->x.dims[d];
        q /= l->x.dims[d];
    }
    return true;
}

static double share(const divn *l)
{
    return l->alpha / pow(l->n, l->x.rank - 2);
}

static double scale_of(const divn *l, int64_t p)
{
    double sum = 0;
    for (int64_t q = 0; q < l->x.count; q++)
        if (in_window(l, p, q))
            sum += deviation(l, q, p) * deviation(l, q, p);
    return l->k + share(l) * sum;
}

static void check(divn *l)
{
    double eps = 4 * type_epsilon(l->x.type), *scale = calloc((size_t)l->x.count, sizeof(double));
    forward(l, 1, 0);
    backward(l, 1, 0);
    for (int64_t i = 0; i < l->x.count; i++)
        scale[i] = scale_of(l, i);
    for (int64_t i = 0; i < l->x.count; i++) {
        double y = tens_get(&l->x, i) * pow(scale[i], -l->beta), back = 0, ahead = 0;
        for (int64_t q = 0; q < l->x.count; q++) {
            if (in_window(l, q, i))
                back += tens_get(&l->dy, q) * tens_get(&l->x, q) * pow(scale[q], -l->beta - 1) * deviation(l, i, q);
            if (in_window(l, i, q))
                ahead += deviation(l, q, i);
        }
        double factor = 2 * share(l) * l->beta, dx = tens_get(&l->dy, i) * pow(scale[i], -l->beta) - factor * back;
        double dm = factor * tens_get(&l->dy, i) * tens_get(&l->x, i) * pow(scale[i], -l->beta - 1) * ahead;
        tens_close(&l->y, i, y, eps * (fabs(y) + 0.01));
        tens_close(&l->dx, i, dx, eps * (fabs(dx) + 1));
        if (l->with_means)
            tens_close(&l->dmeans, i, dm, eps * (fabs(dm) + 1));
    }
    free(scale);
}

static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };

static void random_problems(void **state)
{
    (void)state;
    uint32_t seed = 21;
    for (int round = 0; round < 250; round++) {
        int dims[5], rank = 4 + round % 2;
        for (int d = 0; d < rank; d++)
            dims[d] = 1 + (int)(tens_random(&seed) % (d < 2 ? 3 : rank == 5 ? 4 : 7));
        divn l = make(1 + (int)(tens_random(&seed) % 16), (int)(tens_random(&seed) % 100) / 10.0, round % 3 ? 0.75 : 1.5,
                      0.1 + (int)(tens_random(&seed) % 30) / 10.0, types[tens_random(&seed) % 4], rank, dims,
                      (layout)(tens_random(&seed) % LAYOUTS), (layout)(tens_random(&seed) % LAYOUTS));
        l.with_means = round % 4 > 0;
        check(&l);
        drop(&l);
    }
}

/* x = 3 4 5 in a row with means 2 1 3, window 2 (itself and the next), alpha / n^2 = 1, k = 1, beta = 1. */
static void worked_out_by_hand(void **state)
{
    (void)state;
    static const double want[] = { 3 / 6., 4 / 26., 5 / 5. };
    static const int means[] = { 2, 1, 3 };
    divn l = make(2, 4, 1, 1, DN_F64, 4, (const int[]){ 1, 1, 1, 3 }, PACKED, PACKED);
    for (int i = 0; i < 3; i++) {
        tens_set(&l.x, i, i + 3);
        tens_set(&l.means, i, means[i]);
    }
    forward(&l, 1, 0);
    for (int i = 0; i < 3; i++)
        tens_close(&l.y, i, want[i], 1e-15);
    drop(&l);
}

static void alpha_and_beta(void **state)
{
    (void)state;
    divn l = make(3, 2, 0.75, 1, DN_F64, 4, (const int[]){ 2, 3, 4, 5 }, CHANNELS_LAST, GAPS);
    forward(&l, 1, 0);
    backward(&l, 1, 0);
    double y[120], dx[120], dm[120];
    for (int i = 0; i < 120; i++) {
        y[i] = tens_get(&l.y, i);
        dx[i] = tens_get(&l.dx, i);
        dm[i] = tens_get(&l.dmeans, i);
        tens_set(&l.y, i, i);
        tens_set(&l.dx, i, i % 7);
        tens_set(&l.dmeans, i, i % 5);
    }
    forward(&l, 3, 2);
    backward(&l, 3, 2);
    for (int i = 0; i < 120; i++) {
        tens_close(&l.y, i, 3 * y[i] + 2 * i, 1e-12);
        tens_close(&l.dx, i, 3 * dx[i] + 2 * (i % 7), 1e-12);
        tens_close(&l.dmeans, i, 3 * dm[i] + 2 * (i % 5), 1e-12);
    }
    drop(&l);
}

static double loss(divn *l)
{
    double s = 0;
    forward(l, 1, 0);
    for (int64_t i = 0; i < l->y.count; i++)
        s += tens_get(&l->y, i) * tens_get(&l->dy, i);
    return s;
}

static void check_difference(divn *l, tens *of, const tens *gradient)
{
    const double step = 1e-5;
    for (int64_t i = 0; i < of->count; i++) {
        double v = tens_get(of, i);
        tens_set(of, i, v + step);
        double up = loss(l);
        tens_set(of, i, v - step);
        double down = loss(l);
        tens_set(of, i, v);
        tens_close(gradient, i, (up - down) / (2 * step), 1e-8);
    }
}

static void finite_differences(void **state)
{
    (void)state;
    for (int n = 1; n <= 5; n++)
        for (int rank = 4; rank <= 5; rank++) {
            divn l = make(n, 3, n % 2 ? 0.75 : 1.3, 0.5, DN_F64, rank, (const int[]){ 2, 2, 3, 4, 2 }, PACKED, REVERSED);
            backward(&l, 1, 0);
            check_difference(&l, &l.x, &l.dx);
            check_difference(&l, &l.means, &l.dmeans);
            drop(&l);
        }
}

/* Without means it is the local response normalisation within a channel: over w alone, that of the channels turned. */
static void like_lrn_turned(void **state)
{
    (void)state;
    divn l = make(4, 4, 0.75, 1, DN_F64, 4, (const int[]){ 2, 3, 1, 11 }, PACKED, PACKED);
    l.with_means = false;
    forward(&l, 1, 0);
    const int dims[] = { 2, 11, 1, 3 }, strides[] = { 33, 1, 1, 11 };
    cudnnTensorDescriptor_t turned;
    tens y = tens_make(DN_F64, 4, l.y.dims, PACKED);
    const double one = 1, zero = 0;
    OK(cudnnCreateTensorDescriptor(&turned));
    OK(cudnnSetTensorNdDescriptor(turned, CUDNN_DATA_DOUBLE, 4, dims, strides));
    OK(cudnnSetLRNDescriptor(l.desc, 4, 1, 0.75, 1));  /* alpha / 4 here is alpha / 16 there */
    OK(cudnnLRNCrossChannelForward(handle, l.desc, CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, turned, l.x.data, &zero, turned, y.data));
    for (int64_t i = 0; i < y.count; i++)
        tens_close(&y, i, tens_get(&l.y, i), 1e-15);
    OK(cudnnDestroyTensorDescriptor(turned));
    tens_free(&y);
    drop(&l);
}

static void in_place_and_refusals(void **state)
{
    (void)state;
    const float one = 1, zero = 0;
    const cudnnDivNormMode_t mode = CUDNN_DIVNORM_PRECOMPUTED_MEANS;
    divn l = make(3, 2, 0.75, 1, DN_F32, 4, (const int[]){ 2, 3, 4, 5 }, PACKED, PACKED);
    divn far = make(3, 2, 0.75, 1, DN_F32, 4, (const int[]){ 2, 3, 4, 6 }, PACKED, CHANNELS_LAST);
    divn flat = make(3, 2, 0.75, 1, DN_F32, 3, (const int[]){ 2, 3, 4 }, PACKED, PACKED);
#define FORWARD(a, b, m, t, t2, yp) \
    cudnnDivisiveNormalizationForward(handle, l.desc, mode, &one, a.x.desc, a.x.data, m, t, t2, &zero, b.y.desc, yp)
    REFUSED(FORWARD(l, far, NULL, l.temp, l.temp2, far.y.data), CUDNN_STATUS_BAD_PARAM, "dimension 3 of yDesc is 6");
    REFUSED(FORWARD(flat, flat, NULL, l.temp, l.temp2, flat.y.data), CUDNN_STATUS_BAD_PARAM, "xDesc has 3 dimensions");
    REFUSED(FORWARD(l, l, NULL, NULL, l.temp2, l.y.data), CUDNN_STATUS_BAD_PARAM, "temp is NULL");
    REFUSED(FORWARD(l, l, NULL, l.temp, NULL, l.y.data), CUDNN_STATUS_BAD_PARAM, "temp2 is NULL");
    REFUSED(FORWARD(far, far, NULL, far.temp, far.temp2, far.x.data), CUDNN_STATUS_BAD_PARAM, "y is written over x");
    REFUSED(cudnnDivisiveNormalizationBackward(handle, l.desc, mode, &one, l.x.desc, l.x.data, NULL, l.dy.data, l.temp, l.temp2, &zero,
                                               l.dx.desc, l.dx.data, l.dx.data), CUDNN_STATUS_BAD_PARAM, "dx and dMeans");
    OK(FORWARD(l, l, l.means.data, l.temp, l.temp2, l.y.data));
    OK(FORWARD(l, l, l.means.data, l.temp, l.temp2, l.x.data));
    for (int64_t i = 0; i < l.x.count; i++)
        tens_close(&l.x, i, tens_get(&l.y, i), 0);
    dn_problem p;
    assert_int_equal(dn_problem_parse("divnorm fwd x=n1c1h4w4:f32:nchw y=n1c1h4w4:f32:nchw b=n1c1h4w4:f32:nchw n=3", &p), DN_SUCCESS);
    assert_int_equal(dn_problem_parse("divnorm fwd x=n1c1h4w4:f32:nchw y=n1c1h4w4:f32:nchw b=n1c1h4w5:f32:nchw", &p), DN_BAD_PARAM);
    drop(&l), drop(&far), drop(&flat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems),
        cmocka_unit_test(worked_out_by_hand),
        cmocka_unit_test(alpha_and_beta),
        cmocka_unit_test(finite_differences),
        cmocka_unit_test(like_lrn_turned),
        cmocka_unit_test(in_place_and_refusals),
    };
    setenv("ANYDNN_ENGINE", "ref", 1);
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
