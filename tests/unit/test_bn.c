/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation: against numbers worked out by hand, against the formulas written out plainly, and against finite
 * differences. */
#include "tensor_util.h"

#define OK CUDNN_STATUS_SUCCESS
#define BAD CUDNN_STATUS_BAD_PARAM
#define UNSUPPORTED CUDNN_STATUS_NOT_SUPPORTED

enum { SCALE, BIAS, RUN_MEAN, RUN_VAR, SAVE_MEAN, SAVE_INV, DSCALE, DBIAS, PARAMS };

typedef struct bn {
    cudnnBatchNormMode_t mode;
    int type;
    tensor x, y, dy, dx, param[PARAMS];
    double eps;
} bn;

static bn bn_new(int mode, int type, int rank, const int *dims, layout how_x, layout how_y)
{
    bn b = { .mode = (cudnnBatchNormMode_t)mode, .type = type, .eps = 1e-3 };
    b.x = tensor_new(type, rank, dims, how_x);
    b.y = tensor_new(type, rank, dims, how_y);
    b.dy = tensor_new(type, rank, dims, how_y);
    b.dx = tensor_new(type, rank, dims, how_x);
    int p_dims[8], p_type = type == DN_F64 ? DN_F64 : DN_F32;
    for (int d = 0; d < rank; d++)
        p_dims[d] = d == 1 || (d > 1 && mode == 0) ? dims[d] : 1;
    for (int i = 0; i < PARAMS; i++) {
        b.param[i] = tensor_new(p_type, rank, p_dims, NCHW);
        fill(&b.param[i], (uint64_t)i);
    }
    for (int64_t i = 0; i < b.param[0].count; i++)
        put(&b.param[RUN_VAR], i, 0.5 + fabs(get(&b.param[RUN_VAR], i)));
    fill(&b.x, 11);
    fill(&b.dy, 12);
    return b;
}

static void bn_free(bn *b)
{
    tensor_free(&b->x);
    tensor_free(&b->y);
    tensor_free(&b->dy);
    tensor_free(&b->dx);
    for (int i = 0; i < PARAMS; i++)
        tensor_free(&b->param[i]);
}

static cudnnStatus_t train(bn *b, double factor)
{
    tensor *p = b->param;
    return cudnnBatchNormalizationForwardTraining(handle, b->mode, one_of(b->type), zero_of(b->type), b->x.desc, b->x.ptr, b->y.desc,
                                                  b->y.ptr, p[0].desc, p[SCALE].ptr, p[BIAS].ptr, factor, p[RUN_MEAN].ptr,
                                                  p[RUN_VAR].ptr, b->eps, p[SAVE_MEAN].ptr, p[SAVE_INV].ptr);
}

static cudnnStatus_t infer(bn *b)
{
    tensor *p = b->param;
    return cudnnBatchNormalizationForwardInference(handle, b->mode, one_of(b->type), zero_of(b->type), b->x.desc, b->x.ptr,
                                                   b->y.desc, b->y.ptr, p[0].desc, p[SCALE].ptr, p[BIAS].ptr, p[RUN_MEAN].ptr,
                                                   p[RUN_VAR].ptr, b->eps);
}

static cudnnStatus_t backward(bn *b, bool saved)
{
    tensor *p = b->param;
    const void *one = one_of(b->type), *zero = zero_of(b->type);
    return cudnnBatchNormalizationBackward(handle, b->mode, one, zero, one, zero, b->x.desc, b->x.ptr, b->dy.desc, b->dy.ptr,
                                           b->dx.desc, b->dx.ptr, p[0].desc, p[SCALE].ptr, p[DSCALE].ptr, p[DBIAS].ptr, b->eps,
                                           saved ? p[SAVE_MEAN].ptr : NULL, saved ? p[SAVE_INV].ptr : NULL);
}

/* Number of the parameter that element i of x belongs to. */
static int64_t param_of(const bn *b, int64_t i)
{
    int64_t space = 1, c = b->x.t.dims[1];
    for (int d = 2; d < b->x.t.rank; d++)
        space *= b->x.t.dims[d];
    return b->mode == 0 ? i % (c * space) : i / space % c;
}

/* --- the formulas, element by element --- */

typedef struct plain {
    double mean, var, m, dscale, dbias;
} plain;

static plain plain_stats(const bn *b, int64_t k)
{
    plain s = { 0 };
    for (int64_t i = 0; i < b->x.count; i++)
        if (param_of(b, i) == k) {
            s.mean += get(&b->x, i);
            s.m++;
        }
    s.mean /= s.m;
    for (int64_t i = 0; i < b->x.count; i++)
        if (param_of(b, i) == k)
            s.var += (get(&b->x, i) - s.mean) * (get(&b->x, i) - s.mean) / s.m;
    double inv = 1 / sqrt(s.var + b->eps);
    for (int64_t i = 0; i < b->x.count; i++)
        if (param_of(b, i) == k) {
            s.dbias += get(&b->dy, i);
            s.dscale += get(&b->dy, i) * (get(&b->x, i) - s.mean) * inv;
        }
    return s;
}

static void check_train(bn *b)
{
    double eps = type_eps(b->type), old_mean[1024], old_var[1024];
    int64_t n = b->param[0].count;
    assert_in_range(n, 1, 1024);
    for (int64_t k = 0; k < n; k++) {
        old_mean[k] = get(&b->param[RUN_MEAN], k);
        old_var[k] = get(&b->param[RUN_VAR], k);
    }
    assert_int_equal(train(b, 0.25), OK);
    for (int64_t k = 0; k < n; k++) {
        plain s = plain_stats(b, k);
        double inv = 1 / sqrt(s.var + b->eps);
        assert_near(get(&b->param[SAVE_MEAN], k), s.mean, eps);
        assert_near(get(&b->param[SAVE_INV], k), inv, eps);
        assert_near(get(&b->param[RUN_MEAN], k), 0.75 * old_mean[k] + 0.25 * s.mean, eps);
        assert_near(get(&b->param[RUN_VAR], k), 0.75 * old_var[k] + 0.25 * s.var * s.m / (s.m - 1), eps);
        for (int64_t i = 0; i < b->x.count; i++)
            if (param_of(b, i) == k)
                assert_near(get(&b->y, i), (get(&b->x, i) - s.mean) * inv * get(&b->param[SCALE], k) + get(&b->param[BIAS], k), eps);
    }
}

static void check_infer(bn *b)
{
    assert_int_equal(infer(b), OK);
    for (int64_t i = 0; i < b->x.count; i++) {
        int64_t k = param_of(b, i);
        double inv = 1 / sqrt(get(&b->param[RUN_VAR], k) + b->eps);
        double want = (get(&b->x, i) - get(&b->param[RUN_MEAN], k)) * inv * get(&b->param[SCALE], k) + get(&b->param[BIAS], k);
        assert_near(get(&b->y, i), want, type_eps(b->type));
    }
}

static void check_backward(bn *b, bool saved)
{
    double eps = type_eps(b->type) * 10;
    assert_int_equal(backward(b, saved), OK);
    for (int64_t k = 0; k < b->param[0].count; k++) {
        plain s = plain_stats(b, k);
        double inv = 1 / sqrt(s.var + b->eps);
        assert_near(get(&b->param[DBIAS], k), s.dbias, eps);
        assert_near(get(&b->param[DSCALE], k), s.dscale, eps);
        for (int64_t i = 0; i < b->x.count; i++)
            if (param_of(b, i) == k) {
                double xhat = (get(&b->x, i) - s.mean) * inv;
                double want = get(&b->param[SCALE], k) * inv * (get(&b->dy, i) - s.dbias / s.m - xhat * s.dscale / s.m);
                assert_near(get(&b->dx, i), want, eps);
            }
    }
}

static void every_mode_type_layout_and_rank(void **state)
{
    (void)state;
    static const int types[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };
    const int dims[] = { 4, 11, 3, 5, 2, 1, 2, 1 };
    for (int mode = 0; mode < 3; mode++)
        for (int rank = 3; rank <= 8; rank += rank == 5 ? 3 : 1)
            for (int how = 0; how < LAYOUTS * LAYOUTS; how++) {
                bn b = bn_new(mode, types[(how + rank) % 4], rank, dims, (layout)(how % LAYOUTS), (layout)(how / LAYOUTS));
                check_train(&b);
                check_infer(&b);
                check_backward(&b, true);
                check_backward(&b, false);
                bn_free(&b);
            }
}

/* More channels than one task takes, in both memory orders; many elements behind one mean. */
static void long_rows(void **state)
{
    (void)state;
    for (int mode = 0; mode < 2; mode++)
        for (int how = NCHW; how <= NHWC; how++) {
            bn wide = bn_new(mode, DN_F32, 4, (const int[]){ 3, 150, 1, 3 }, (layout)how, (layout)how);
            check_train(&wide);
            check_backward(&wide, false);
            bn_free(&wide);
            bn tall = bn_new(mode, DN_F32, 4, (const int[]){ 1300, 2, 1, 1 }, (layout)how, NCHW);
            check_train(&tall);
            check_infer(&tall);
            check_backward(&tall, true);
            bn_free(&tall);
        }
}

/* x = 1 2 3 4: mean 5/2, variance 5/4 biased and 5/3 unbiased. eps 11/4 makes sqrt(var + eps) = 2. */
static void worked_out_by_hand(void **state)
{
    (void)state;
    bn b = bn_new(1, DN_F64, 4, (const int[]){ 2, 1, 1, 2 }, NCHW, NCHW);
    b.eps = 2.75;
    for (int i = 0; i < 4; i++) {
        put(&b.x, i, i + 1);
        put(&b.dy, i, i == 0);
    }
    static const double params[] = { 3, 0.5, 10, 20 };
    for (int i = 0; i < 4; i++)
        put(&b.param[i], 0, params[i]);
    assert_int_equal(train(&b, 0.5), OK);
    static const double y[] = { -1.75, -0.25, 1.25, 2.75 };
    for (int i = 0; i < 4; i++)
        assert_near(get(&b.y, i), y[i], 1e-15);
    assert_near(get(&b.param[SAVE_MEAN], 0), 2.5, 1e-15);
    assert_near(get(&b.param[SAVE_INV], 0), 0.5, 1e-15);
    assert_near(get(&b.param[RUN_MEAN], 0), 6.25, 1e-15);
    assert_near(get(&b.param[RUN_VAR], 0), 10 + 5.0 / 6, 1e-15);
    assert_int_equal(backward(&b, true), OK);
    /* dbias 1; xhat -3/4 -1/4 1/4 3/4, dscale -3/4; dx = 3/2 (dy - 1/4 + 3/16 xhat) */
    static const double dx[] = { 1.5 * (0.75 - 9.0 / 64), 1.5 * (-0.25 - 3.0 / 64), 1.5 * (-0.25 + 3.0 / 64), 1.5 * (-0.25 + 9.0 / 64) };
    assert_near(get(&b.param[DBIAS], 0), 1, 1e-15);
    assert_near(get(&b.param[DSCALE], 0), -0.75, 1e-15);
    for (int i = 0; i < 4; i++)
        assert_near(get(&b.dx, i), dx[i], 1e-15);
    bn_free(&b);
}

/* --- finite differences --- */

static double loss(bn *b)
{
    double s = 0;
    assert_int_equal(train(b, 0), OK);
    for (int64_t i = 0; i < b->y.count; i++)
        s += get(&b->y, i) * get(&b->dy, i);
    return s;
}

static double difference(bn *b, tensor *t, int64_t i)
{
    const double step = 1e-5;
    double v = get(t, i);
    put(t, i, v + step);
    double up = loss(b);
    put(t, i, v - step);
    double down = loss(b);
    put(t, i, v);
    return (up - down) / (2 * step);
}

static void gradients_are_finite_differences(void **state)
{
    (void)state;
    for (int mode = 0; mode < 3; mode++)
        for (int how = NCHW; how <= NHWC; how++) {
            bn b = bn_new(mode, DN_F64, 4, (const int[]){ 5, 9, 2, 2 }, (layout)how, NCHW);
            loss(&b);
            assert_int_equal(backward(&b, how == NCHW), OK);
            for (int64_t i = 0; i < b.x.count; i++)
                assert_near(get(&b.dx, i), difference(&b, &b.x, i), 1e-6);
            for (int64_t k = 0; k < b.param[0].count; k++) {
                assert_near(get(&b.param[DSCALE], k), difference(&b, &b.param[SCALE], k), 1e-6);
                assert_near(get(&b.param[DBIAS], k), difference(&b, &b.param[BIAS], k), 1e-6);
            }
            bn_free(&b);
        }
}

/* --- cases of the field --- */

/* L24: sizes past the vendor's grid limit. */
static void large_batches(void **state)
{
    (void)state;
    static const int sizes[][4] = { { 65536, 1, 1, 1 }, { 131071, 1, 1, 1 }, { 70000, 1, 2, 1 } };
    for (int s = 0; s < 3; s++)
        for (int mode = 0; mode < 2; mode++) {
            bn b = bn_new(mode, DN_F32, 4, sizes[s], NCHW, NCHW);
            check_infer(&b);
            check_train(&b);
            check_backward(&b, false);
            bn_free(&b);
        }
}

/* L26: one element per mean. The variance is 0, unbiased and not; y is the bias; nothing is NaN. */
static void one_element_per_mean(void **state)
{
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        bn b = bn_new(mode, DN_F32, 4, (const int[]){ 1, 9, 1, 1 }, NHWC, NHWC);
        fill_with(&b.param[RUN_VAR], 2);
        fill_with(&b.param[RUN_MEAN], 2);
        assert_int_equal(train(&b, 0.5), OK);
        assert_int_equal(backward(&b, true), OK);
        for (int64_t i = 0; i < 9; i++) {
            assert_true(get(&b.y, i) == get(&b.param[BIAS], i));
            assert_true(get(&b.param[RUN_VAR], i) == 1);
            assert_near(get(&b.param[RUN_MEAN], i), 1 + 0.5 * get(&b.x, i), 1e-6);
            assert_near(get(&b.param[SAVE_INV], i), 1 / sqrt(b.eps), 1e-6);
            assert_true(get(&b.dx, i) == 0 && get(&b.param[DSCALE], i) == 0);
        }
        bn_free(&b);
    }
}

/* The first call of a cumulative average has factor 1 and running buffers that nobody filled. */
static void factor_1_does_not_read_running(void **state)
{
    (void)state;
    bn b = bn_new(1, DN_F32, 4, (const int[]){ 4, 3, 2, 2 }, NCHW, NCHW);
    fill_with(&b.param[RUN_MEAN], NAN);
    fill_with(&b.param[RUN_VAR], NAN);
    assert_int_equal(train(&b, 1), OK);
    for (int64_t k = 0; k < 3; k++) {
        plain s = plain_stats(&b, k);
        assert_near(get(&b.param[RUN_MEAN], k), s.mean, 1e-6);
        assert_near(get(&b.param[RUN_VAR], k), s.var * 16 / 15, 1e-6);
    }
    bn_free(&b);
}

/* Values far from 0: a sum of squares would lose the variance, two passes do not. */
static void large_mean_keeps_the_variance(void **state)
{
    (void)state;
    bn b = bn_new(1, DN_F64, 4, (const int[]){ 4, 9, 5, 5 }, NHWC, NHWC);
    for (int64_t i = 0; i < b.x.count; i++)
        put(&b.x, i, get(&b.x, i) + 1e9);
    check_train(&b);
    bn_free(&b);
}

static void nan_stays_in_its_channel(void **state)
{
    (void)state;
    for (int how = NCHW; how <= NHWC; how++) {
        bn b = bn_new(1, DN_F32, 4, (const int[]){ 2, 10, 2, 2 }, (layout)how, (layout)how);
        put(&b.x, 4 * 3 + 1, NAN);
        assert_int_equal(train(&b, 0.5), OK);
        for (int64_t i = 0; i < b.y.count; i++)
            assert_true(isnan(get(&b.y, i)) == (param_of(&b, i) == 3));
        bn_free(&b);
    }
}

/* The sums run in logical order whatever the memory order and the threads: equal bits. */
static void check_same_bits(bn *a, bn *b)
{
    static const int same[] = { SAVE_MEAN, SAVE_INV, DSCALE, DBIAS };
    for (int round = 0; round < 5; round++) {
        assert_int_equal(train(b, 0.5), OK);
        assert_int_equal(backward(b, false), OK);
        for (int64_t i = 0; i < a->y.count; i++)
            assert_true(get(&a->y, i) == get(&b->y, i) && get(&a->dx, i) == get(&b->dx, i));
        for (int k = 0; k < 4; k++)
            assert_memory_equal(a->param[same[k]].memory, b->param[same[k]].memory, a->param[0].bytes);
    }
}

static void bits_do_not_depend_on_layout(void **state)
{
    (void)state;
    const int dims[] = { 7, 40, 9, 11 }, chwn[] = { 1, 693, 77, 7 };
    for (int mode = 0; mode < 2; mode++) {
        bn a = bn_new(mode, DN_F64, 4, dims, NCHW, NCHW), b = bn_new(mode, DN_F64, 4, dims, NHWC, NHWC);
        assert_int_equal(train(&a, 0.5), OK);
        assert_int_equal(backward(&a, false), OK);
        check_same_bits(&a, &b);
        tensor_free(&b.x);
        b.x = tensor_strided(DN_F64, 4, dims, chwn);  /* the reduced dimensions in another memory order */
        copy_values(&b.x, &a.x);
        check_same_bits(&a, &b);
        bn_free(&a);
        bn_free(&b);
    }
}

static void in_place(void **state)
{
    (void)state;
    bn a = bn_new(1, DN_F32, 4, (const int[]){ 3, 10, 4, 4 }, NHWC, NHWC), b = bn_new(1, DN_F32, 4, (const int[]){ 3, 10, 4, 4 }, NHWC, NHWC);
    assert_int_equal(train(&a, 0.5), OK);
    assert_int_equal(backward(&a, true), OK);
    void *keep = b.dx.ptr;
    b.dx.ptr = b.dy.ptr;
    assert_int_equal(backward(&b, false), OK);
    for (int64_t i = 0; i < a.dx.count; i++)
        assert_near(get(&b.dy, i), get(&a.dx, i), 1e-5);
    b.dx.ptr = keep;
    keep = b.y.ptr;
    b.y.ptr = b.x.ptr;
    assert_int_equal(train(&b, 0.5), OK);
    for (int64_t i = 0; i < a.y.count; i++)
        assert_true(get(&b.x, i) == get(&a.y, i));
    b.y.ptr = keep;
    bn_free(&a);
    bn_free(&b);
}

/* y, dx, dscale and dbias blend with what was there; beta 0 does not read it (L14). */
static void alpha_and_beta(void **state)
{
    (void)state;
    const double two = 2, three = 3, half = 0.5;
    bn b = bn_new(0, DN_F64, 4, (const int[]){ 4, 3, 2, 5 }, NHWC, PADDED), want = bn_new(0, DN_F64, 4, (const int[]){ 4, 3, 2, 5 }, NCHW, NCHW);
    tensor *p = b.param;
    assert_true(isnan(get(&want.y, 0)) && isnan(get(&want.dx, 0)));
    assert_int_equal(infer(&want), OK);
    assert_int_equal(backward(&want, false), OK);
    fill_with(&b.y, 10);
    fill_with(&b.dx, 100);
    fill_with(&p[DSCALE], 1000);
    fill_with(&p[DBIAS], 2000);
    assert_int_equal(cudnnBatchNormalizationForwardInference(handle, b.mode, &two, &three, b.x.desc, b.x.ptr, b.y.desc, b.y.ptr,
                                                             p[0].desc, p[SCALE].ptr, p[BIAS].ptr, p[RUN_MEAN].ptr, p[RUN_VAR].ptr,
                                                             b.eps), OK);
    assert_int_equal(cudnnBatchNormalizationBackward(handle, b.mode, &three, &half, &half, &two, b.x.desc, b.x.ptr, b.dy.desc,
                                                     b.dy.ptr, b.dx.desc, b.dx.ptr, p[0].desc, p[SCALE].ptr, p[DSCALE].ptr,
                                                     p[DBIAS].ptr, b.eps, NULL, NULL), OK);
    for (int64_t i = 0; i < b.x.count; i++) {
        assert_near(get(&b.y, i), 2 * get(&want.y, i) + 30, 1e-12);
        assert_near(get(&b.dx, i), 3 * get(&want.dx, i) + 50, 1e-12);
    }
    for (int64_t k = 0; k < p[0].count; k++) {
        assert_near(get(&p[DSCALE], k), 0.5 * get(&want.param[DSCALE], k) + 2000, 1e-12);
        assert_near(get(&p[DBIAS], k), 0.5 * get(&want.param[DBIAS], k) + 4000, 1e-12);
    }
    bn_free(&b);
    bn_free(&want);
}

/* --- descriptors and mistakes --- */

/* The answers of the vendor's 9.19: packed, in dimension order, f32 for the narrow types. */
static void derived_descriptor(void **state)
{
    (void)state;
    const int dims[] = { 5, 6, 7, 8, 9, 2, 3, 4 };
    static const int types[][2] = { { DN_F32, DN_F32 }, { DN_F64, DN_F64 }, { DN_F16, DN_F32 }, { DN_BF16, DN_F32 },
                                    { DN_I8, DN_F32 }, { DN_I32, DN_I32 }, { DN_U8, DN_U8 } };
    cudnnTensorDescriptor_t d;
    cudnnCreateTensorDescriptor(&d);
    for (int t = 0; t < 7; t++)
        for (int rank = 3; rank <= 8; rank++)
            for (int mode = 0; mode < 3; mode++) {
                cudnnTensorDescriptor_t x;
                cudnnCreateTensorDescriptor(&x);
                assert_int_equal(cudnnSetTensorNdDescriptorEx(x, CUDNN_TENSOR_NHWC, (cudnnDataType_t)types[t][0], rank, dims), OK);
                assert_int_equal(cudnnDeriveBNTensorDescriptor(d, x, (cudnnBatchNormMode_t)mode), OK);
                cudnnDataType_t type;
                int got_rank, got[8], strides[8], stride = 1;
                assert_int_equal(cudnnGetTensorNdDescriptor(d, 8, &type, &got_rank, got, strides), OK);
                assert_int_equal(type, types[t][1]);
                assert_int_equal(got_rank, rank);
                for (int k = rank - 1; k >= 0; k--) {
                    assert_int_equal(got[k], k == 1 || (k > 1 && mode == 0) ? dims[k] : 1);
                    assert_int_equal(strides[k], stride);
                    stride *= got[k];
                }
                cudnnDestroyTensorDescriptor(x);
            }
    cudnnTensorDescriptor_t unset;
    cudnnCreateTensorDescriptor(&unset);
    assert_fails(cudnnDeriveBNTensorDescriptor(d, unset, CUDNN_BATCHNORM_SPATIAL), BAD, "xDesc", "never set");
    assert_fails(cudnnDeriveBNTensorDescriptor(NULL, d, CUDNN_BATCHNORM_SPATIAL), BAD, "derivedBnDesc", "NULL");
    assert_fails(cudnnDeriveBNTensorDescriptor(unset, d, (cudnnBatchNormMode_t)3), BAD, "mode is 3", "0 to 2");
    cudnnDestroyTensorDescriptor(unset);
    cudnnDestroyTensorDescriptor(d);
}

static void training_names_what_is_wrong(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 4, 5 };
    bn b = bn_new(1, DN_F32, 4, dims, NCHW, NCHW), h = bn_new(1, DN_F16, 4, dims, NCHW, NCHW), a = bn_new(0, DN_F32, 4, dims, NCHW, NHWC);
    tensor i8 = tensor_new(DN_I8, 4, dims, NCHW), five = tensor_new(DN_F32, 4, (const int[]){ 2, 3, 4, 6 }, NCHW);
    tensor *p = b.param;
    const void *one = &one_f, *zero = &zero_f;
#define TRAIN(mode, xt, yt, wt, run, var, eps, save, inv) \
    cudnnBatchNormalizationForwardTraining(handle, (cudnnBatchNormMode_t)(mode), one, zero, (xt).desc, b.x.ptr, (yt).desc, b.y.ptr, \
                                           (wt).desc, p[SCALE].ptr, p[BIAS].ptr, 0.1, run, var, eps, save, inv)
    assert_fails(TRAIN(1, b.x, b.x, p[0], p[2].ptr, NULL, 1, NULL, NULL), BAD, "resultRunningVariance is NULL", "both or none");
    assert_fails(TRAIN(1, b.x, b.x, p[0], NULL, p[3].ptr, 1, NULL, NULL), BAD, "resultRunningMean is NULL", "both or none");
    assert_fails(TRAIN(1, b.x, b.x, p[0], NULL, NULL, 1, p[4].ptr, NULL), BAD, "resultSaveInvVariance is NULL", "both or none");
    assert_fails(TRAIN(1, b.x, b.x, p[0], NULL, NULL, 1, NULL, p[5].ptr), BAD, "resultSaveMean is NULL", "both or none");
    assert_int_equal(TRAIN(1, b.x, b.x, p[0], NULL, NULL, 0, NULL, NULL), OK);
    assert_fails(TRAIN(1, b.x, b.x, p[0], NULL, NULL, -1, NULL, NULL), BAD, "epsilon is -1", "or more");
    assert_fails(TRAIN(1, b.x, b.x, p[0], NULL, NULL, NAN, NULL, NULL), BAD, "epsilon is", "or more");
    assert_fails(TRAIN(3, b.x, b.x, p[0], NULL, NULL, 1, NULL, NULL), BAD, "mode is 3", "SPATIAL");
    assert_fails(TRAIN(0, b.x, b.x, p[0], NULL, NULL, 1, NULL, NULL), BAD, "dimension 2 of bnScaleBiasMeanVarDesc is 1", "4");
    assert_fails(TRAIN(1, b.x, b.x, a.param[0], NULL, NULL, 1, NULL, NULL), BAD, "dimension 2 of bnScaleBiasMeanVarDesc is 4", "1");
    assert_fails(TRAIN(1, h.x, b.x, p[0], NULL, NULL, 1, NULL, NULL), BAD, "yDesc has type f32", "f16");
    assert_fails(TRAIN(1, h.x, h.x, h.y, NULL, NULL, 1, NULL, NULL), BAD, "bnScaleBiasMeanVarDesc", "dimension 0");
    assert_fails(TRAIN(1, b.x, five, p[0], NULL, NULL, 1, NULL, NULL), BAD, "dimension 3 of yDesc is 6", "5");
    assert_fails(TRAIN(1, i8, i8, p[0], NULL, NULL, 1, NULL, NULL), UNSUPPORTED, "xDesc has type i8", "f32");
#undef TRAIN
    assert_fails(cudnnBatchNormalizationForwardTraining(handle, CUDNN_BATCHNORM_SPATIAL, one, zero, b.x.desc, b.x.ptr, a.y.desc,
                                                        b.x.ptr, p[0].desc, p[0].ptr, p[1].ptr, 1, NULL, NULL, 1, NULL, NULL),
                 BAD, "y is written over x", "strides");
    assert_fails(cudnnBatchNormalizationForwardTraining(handle, CUDNN_BATCHNORM_SPATIAL, NULL, zero, b.x.desc, b.x.ptr, b.y.desc,
                                                        b.y.ptr, p[0].desc, p[0].ptr, p[1].ptr, 1, NULL, NULL, 1, NULL, NULL),
                 BAD, "alpha is NULL", "cudnnBatchNormalizationForwardTraining");
    bn_free(&b);
    bn_free(&h);
    bn_free(&a);
    tensor_free(&i8);
    tensor_free(&five);
}

/* Each pointer of the two other calls in turn as NULL. */
static void null_pointers_are_named(void **state)
{
    (void)state;
    bn b = bn_new(1, DN_F32, 4, (const int[]){ 2, 3, 4, 5 }, NCHW, NCHW);
    void *all[] = { b.x.ptr, b.y.ptr, b.param[SCALE].ptr, b.param[BIAS].ptr, b.param[RUN_MEAN].ptr, b.param[RUN_VAR].ptr };
    static const char *const names[] = { "x is NULL", "y is NULL", "bnScale is NULL", "bnBias is NULL", "estimatedMean is NULL",
                                         "estimatedVariance is NULL" };
    for (int i = 0; i < 6; i++) {
        void *v[6];
        memcpy(v, all, sizeof v);
        v[i] = NULL;
        assert_fails(cudnnBatchNormalizationForwardInference(handle, b.mode, &one_f, &zero_f, b.x.desc, v[0], b.y.desc, v[1],
                                                             b.param[0].desc, v[2], v[3], v[4], v[5], 1),
                     BAD, "cudnnBatchNormalizationForwardInference", names[i]);
    }
    static const char *const back[] = { "x is NULL", "dy is NULL", "dx is NULL", "bnScale is NULL", "dBnScaleResult is NULL",
                                        "dBnBiasResult is NULL", "savedMean is NULL", "savedInvVariance is NULL" };
    void *more[] = { b.x.ptr, b.dy.ptr, b.dx.ptr, b.param[SCALE].ptr, b.param[DSCALE].ptr, b.param[DBIAS].ptr, b.param[SAVE_MEAN].ptr,
                     b.param[SAVE_INV].ptr };
    for (int i = 0; i < 8; i++) {
        void *v[8];
        memcpy(v, more, sizeof v);
        v[i] = NULL;
        assert_fails(cudnnBatchNormalizationBackward(handle, b.mode, &one_f, &zero_f, &one_f, &zero_f, b.x.desc, v[0], b.dy.desc, v[1],
                                                     b.dx.desc, v[2], b.param[0].desc, v[3], v[4], v[5], 1, v[6], v[7]),
                     BAD, "cudnnBatchNormalizationBackward", back[i]);
    }
    bn_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_out_by_hand),
        cmocka_unit_test(every_mode_type_layout_and_rank),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(large_batches),
        cmocka_unit_test(one_element_per_mean),
        cmocka_unit_test(factor_1_does_not_read_running),
        cmocka_unit_test(large_mean_keeps_the_variance),
        cmocka_unit_test(nan_stays_in_its_channel),
        cmocka_unit_test(bits_do_not_depend_on_layout),
        cmocka_unit_test(in_place),
        cmocka_unit_test(alpha_and_beta),
        cmocka_unit_test(derived_descriptor),
        cmocka_unit_test(training_names_what_is_wrong),
        cmocka_unit_test(null_pointers_are_named),
    };
    return cmocka_run_group_tests(tests, handle_setup, handle_teardown);
}
