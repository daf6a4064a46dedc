/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation with an activation, or an addition and an activation (Ex form), and the Normalization form: against the
 * formulas written out per element, against the plain form, and against finite differences. */
#include "tens.h"

#include "ops/problem.h"

enum { SCALE, BIAS, RUN_MEAN, RUN_VAR, SAVE_MEAN, SAVE_INV, DSCALE, DBIAS, PARAMS };
enum { PLAIN, ACT, ADD_ACT };

typedef struct bn {
    int mode, ops;
    double eps, coef;
    cudnnActivationDescriptor_t act;
    tens x, z, y, dy, dx, dz, param[PARAMS];
    void *reserve;
    size_t reserve_size;
    cudnnStatus_t (*train)(struct bn *b, double alpha, double beta);
    cudnnStatus_t (*back)(struct bn *b, double alpha, double beta);
} bn;

static cudnnStatus_t ex_train(bn *b, double alpha, double beta)
{
    tens *p = b->param;
    scalar s = scalar_of(b->x.type, alpha), t = scalar_of(b->x.type, beta);
    return cudnnBatchNormalizationForwardTrainingEx(handle, (cudnnBatchNormMode_t)b->mode, (cudnnBatchNormOps_t)b->ops, &s, &t,
        b->x.desc, b->x.data, b->z.desc, b->z.data, b->y.desc, b->y.data, p->desc, p[SCALE].data, p[BIAS].data, 0.25,
        p[RUN_MEAN].data, p[RUN_VAR].data, b->eps, p[SAVE_MEAN].data, p[SAVE_INV].data, b->act, NULL, 0, b->reserve,
        b->reserve_size);
}

static cudnnStatus_t ex_back(bn *b, double alpha, double beta)
{
    tens *p = b->param;
    scalar s = scalar_of(b->x.type, alpha), t = scalar_of(b->x.type, beta), one = scalar_of(b->x.type, 1), zero = { 0 };
    return cudnnBatchNormalizationBackwardEx(handle, (cudnnBatchNormMode_t)b->mode, (cudnnBatchNormOps_t)b->ops, &s, &t, &one,
    &zero,
        b->x.desc, b->x.data, b->y.desc, b->y.data, b->dy.desc, b->dy.data, b->dz.desc, b->dz.data, b->dx.desc, b->dx.data, p->desc,
        p[SCALE].data, p[BIAS].data, p[DSCALE].data, p[DBIAS].data, b->eps, p[SAVE_MEAN].data, p[SAVE_INV].data, b->act, NULL, 0,
        b->reserve, b->reserve_size);
}

static cudnnNormMode_t norm_mode(const bn *b)
{
    return b->mode == 0 ? CUDNN_NORM_PER_ACTIVATION : CUDNN_NORM_PER_CHANNEL;
}

static cudnnNormAlgo_t norm_algo(const bn *b)
{
    return b->mode == 2 ? CUDNN_NORM_ALGO_PERSIST : CUDNN_NORM_ALGO_STANDARD;
}

static cudnnStatus_t norm_train(bn *b, double alpha, double beta)
{
    tens *p = b->param;
    scalar s = scalar_of(b->x.type, alpha), t = scalar_of(b->x.type, beta);
    return cudnnNormalizationForwardTraining(handle, norm_mode(b), (cudnnNormOps_t)b->ops, norm_algo(b), &s, &t, b->x.desc,
    b->x.data,
        p[SCALE].desc, p[SCALE].data, p[BIAS].data, 0.25, p[RUN_MEAN].desc, p[RUN_MEAN].data, p[RUN_VAR].data, b->eps,
        p[SAVE_MEAN].data, p[SAVE_INV].data, b->act, b->z.desc, b->z.data, b->y.desc, b->y.data, NULL, 0, b->reserve,
        b->reserve_size, 1);
}

static cudnnStatus_t norm_back(bn *b, double alpha, double beta)
{
    tens *p = b->param;
    scalar s = scalar_of(b->x.type, alpha), t = scalar_of(b->x.type, beta), one = scalar_of(b->x.type, 1), zero = { 0 };
    return cudnnNormalizationBackward(handle, norm_mode(b), (cudnnNormOps_t)b->ops, norm_algo(b), &s, &t, &one, &zero, b->x.desc,
        b->x.data, b->y.desc, b->y.data, b->dy.desc, b->dy.data, b->dz.desc, b->dz.data, b->dx.desc, b->dx.data, p[SCALE].desc,
        p[SCALE].data, p[BIAS].data, p[DSCALE].data, p[DBIAS].data, b->eps, p[RUN_MEAN].desc, p[SAVE_MEAN].data, p[SAVE_INV].data,
        b->act, NULL, 0, b->reserve, b->reserve_size, 1);
}

static cudnnStatus_t norm_infer(bn *b, double alpha, double beta)
{
    tens *p = b->param;
    scalar s = scalar_of(b->x.type, alpha), t = scalar_of(b->x.type, beta);
    return cudnnNormalizationForwardInference(handle, norm_mode(b), (cudnnNormOps_t)b->ops, norm_algo(b), &s, &t, b->x.desc,
    b->x.data,
        p[SCALE].desc, p[SCALE].data, p[BIAS].data, p[RUN_MEAN].desc, p[RUN_MEAN].data, p[RUN_VAR].data, b->z.desc, b->z.data,
        b->act,
        b->y.desc, b->y.data, b->eps, 1);
}

static void ask_sizes(bn *b, bool norm)
{
    size_t fwd = 9, back = 9;
    const tens *p = b->param;
    const cudnnBatchNormMode_t mode = (cudnnBatchNormMode_t)b->mode;
    if (norm) {
        OK(cudnnGetNormalizationTrainingReserveSpaceSize(handle, norm_mode(b), (cudnnNormOps_t)b->ops, norm_algo(b), b->act,
        b->x.desc,
                                                         &b->reserve_size, 1));
        OK(cudnnGetNormalizationForwardTrainingWorkspaceSize(handle, norm_mode(b), (cudnnNormOps_t)b->ops, norm_algo(b), b->x.desc,
                                                             b->z.desc, b->y.desc, p->desc, b->act, p->desc, &fwd, 1));
        OK(cudnnGetNormalizationBackwardWorkspaceSize(handle, norm_mode(b), (cudnnNormOps_t)b->ops, norm_algo(b), b->x.desc,
        b->y.desc,
                                                      b->dy.desc, b->dz.desc, b->dx.desc, p->desc, b->act, p->desc, &back, 1));
    } else {
        OK(cudnnGetBatchNormalizationTrainingExReserveSpaceSize(handle, mode, (cudnnBatchNormOps_t)b->ops, b->act, b->x.desc,
                                                                &b->reserve_size));
        OK(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(handle, mode, (cudnnBatchNormOps_t)b->ops, b->x.desc, b->z.desc,
                                                                    b->y.desc, p->desc, b->act, &fwd));
        OK(cudnnGetBatchNormalizationBackwardExWorkspaceSize(handle, mode, (cudnnBatchNormOps_t)b->ops, b->x.desc, b->y.desc,
                                                             b->dy.desc, b->dz.desc, b->dx.desc, p->desc, b->act, &back));
    }
    assert_int_equal(fwd, 0);
    assert_int_equal(back, 0);
    assert_true(b->ops == PLAIN ? b->reserve_size == 0 : b->reserve_size >= (size_t)b->x.count);
}

static bn make(bool norm, int mode, int ops, cudnnActivationMode_t act, dn_dtype type, int rank, const int *dims, layout lx,
layout ly)
{
    bn b = { .mode = mode, .ops = ops, .eps = 1e-3, .coef = act == CUDNN_ACTIVATION_CLIPPED_RELU ? 0.8 : 0 };
    int p_dims[TENS_RANK];
    OK(cudnnCreateActivationDescriptor(&b.act));
    OK(cudnnSetActivationDescriptor(b.act, act, CUDNN_NOT_PROPAGATE_NAN, b.coef));
    tens *data[] = { &b.x, &b.z, &b.dy, &b.y, &b.dx, &b.dz };
    for (int i = 0; i < 6; i++) {
        *data[i] = tens_make(type, rank, dims, i % 2 ? ly : lx);
        if (i < 3)
            tens_reals(data[i], (uint32_t)i + 1);
    }
    for (int d = 0; d < rank; d++)
        p_dims[d] = d == 1 || (d > 1 && mode == 0) ? dims[d] : 1;
    for (int i = 0; i < PARAMS; i++) {
        b.param[i] = tens_make(type == DN_F64 ? DN_F64 : DN_F32, rank, p_dims, PACKED);
        tens_reals(&b.param[i], (uint32_t)i + 9);
    }
    for (int64_t k = 0; k < b.param[0].count; k++)
        tens_set(&b.param[RUN_VAR], k, 1 + tens_get(&b.param[RUN_VAR], k) / 2);
    b.train = norm ? norm_train : ex_train;
    b.back = norm ? norm_back : ex_back;
    ask_sizes(&b, norm);
    b.reserve = malloc(b.reserve_size + 1);
    ((unsigned char *)b.reserve)[b.reserve_size] = 77;
    return b;
}

static void drop(bn *b)
{
    tens *data[] = { &b->x, &b->z, &b->dy, &b->y, &b->dx, &b->dz };
    assert_int_equal(((unsigned char *)b->reserve)[b->reserve_size], 77);
    for (int i = 0; i < 6; i++) {
        tens_watch(data[i]);
        tens_free(data[i]);
    }
    for (int i = 0; i < PARAMS; i++)
        tens_free(&b->param[i]);
    free(b->reserve);
    OK(cudnnDestroyActivationDescriptor(b->act));
}

/* --- the formulas --- */

static int64_t param_of(const bn *b, int64_t i)
{
    int64_t space = 1, c = b->x.dims[1];
    for (int d = 2; d < b->x.rank; d++)
        space *= b->x.dims[d];
    return b->mode == 0 ? i % (c * space) : i / space % c;
}

static double relu(const bn *b, double v)
{
    v = v > 0 ? v : 0;
    return b->coef && v > b->coef ? b->coef : v;
}

typedef struct stats {
    double m, mean, var, inv, sum, dot;
} stats;

static double before(const bn *b, const stats *s, int64_t i)
{
    int64_t k = param_of(b, i);
    double v = (tens_get(&b->x, i) - s->mean) * s->inv * tens_get(&b->param[SCALE], k) + tens_get(&b->param[BIAS], k);
    return b->ops == ADD_ACT ? v + tens_get(&b->z, i) : v;
}

static double gradient(const bn *b, const stats *s, int64_t i)
{
    double v = before(b, s, i);
    return b->ops == PLAIN || (v > 0 && (!b->coef || v <= b->coef)) ? tens_get(&b->dy, i) : 0;
}

static stats stats_of(const bn *b, int64_t k)
{
    stats s = { 0 };
#define EACH(i) for (int64_t i = 0; i < b->x.count; i++) if (param_of(b, i) == k)
    EACH(i) s.mean += tens_get(&b->x, i), s.m++;
    s.mean /= s.m;
    EACH(i) s.var += pow(tens_get(&b->x, i) - s.mean, 2) / s.m;
    s.inv = 1 / sqrt(s.var + b->eps);
    EACH(i) s.sum += gradient(b, &s, i);
    EACH(i) s.dot += gradient(b, &s, i) * (tens_get(&b->x, i) - s.mean) * s.inv;
    return s;
}

static void check(bn *b)
{
    double eps = 8 * type_epsilon(b->x.type), p_eps = 8 * type_epsilon(b->param[0].type);
    OK(b->train(b, 1, 0));
    OK(b->back(b, 1, 0));
    for (int64_t k = 0; k < b->param[0].count; k++) {
        stats s = stats_of(b, k);
        tens_close(&b->param[SAVE_MEAN], k, s.mean, p_eps * (1 + fabs(s.mean)));
        tens_close(&b->param[SAVE_INV], k, s.inv, p_eps * (1 + s.inv));
        tens_close(&b->param[DBIAS], k, s.sum, p_eps * (1 + s.m));
        tens_close(&b->param[DSCALE], k, s.dot, p_eps * (1 + s.m));
        EACH(i) {
            double y = before(b, &s, i), g = gradient(b, &s, i);
            double dx = tens_get(&b->param[SCALE], k) * s.inv * (g - s.sum / s.m - (tens_get(&b->x,
            i) - s.mean) * s.inv * s.dot / s.m);
            tens_close(&b->y, i, b->ops ? relu(b, y) : y, eps * (1 + fabs(y)));
            tens_close(&b->dx, i, dx, 4 * (eps + p_eps) * (1 + s.inv));
            if (b->ops == ADD_ACT)
                tens_close(&b->dz, i, g, 0);
        }
    }
}

static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };

static void every_form_mode_type_and_layout(void **state)
{
    (void)state;
    const int dims[] = { 4, 11, 3, 5, 2, 1 };
    uint32_t seed = 1;
    for (int form = 0; form < 2; form++)
        for (int mode = 0; mode < 3; mode++)
            for (int ops = PLAIN; ops <= ADD_ACT; ops++)
                for (int how = 0; how < LAYOUTS * LAYOUTS; how++) {
                    bn b = make(form, mode, ops, tens_random(&seed) % 3 ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_CLIPPED_RELU,
                                types[how % 4], 3 + (int)(tens_random(&seed) % 4), dims, (layout)(how % LAYOUTS),
                                (layout)(how / LAYOUTS));
                    check(&b);
                    drop(&b);
                }
}

/* Several tiles, several tasks. */
static void large(void **state)
{
    (void)state;
    for (int lay = PACKED; lay <= CHANNELS_LAST; lay++)
        for (int mode = 0; mode < 2; mode++) {
            bn wide = make(false, mode, ADD_ACT, CUDNN_ACTIVATION_RELU, DN_F32, 4, (const int[]){ 3, 150, 1, 3 }, (layout)lay,
            (layout)lay);
            check(&wide);
            drop(&wide);
            bn tall = make(false, mode, ADD_ACT, CUDNN_ACTIVATION_RELU, DN_F64, 4, (const int[]){ 1300, 9, 1, 1 }, (layout)lay,
            PACKED);
            check(&tall);
            drop(&tall);
        }
}

/* alpha and beta of y, dx and dz; the mask is of the activation, not of what alpha makes of it. */
static void alpha_and_beta(void **state)
{
    (void)state;
    bn b = make(false, 1, ADD_ACT, CUDNN_ACTIVATION_RELU, DN_F64, 4, (const int[]){ 4, 9, 2, 2 }, CHANNELS_LAST, CHANNELS_LAST);
    double y[144], dx[144], dz[144];
    OK(b.train(&b, 1, 0));
    OK(b.back(&b, 1, 0));
    for (int i = 0; i < 144; i++) {
        y[i] = tens_get(&b.y, i), tens_set(&b.y, i, i);
        dx[i] = tens_get(&b.dx, i), tens_set(&b.dx, i, i % 7);
        dz[i] = tens_get(&b.dz, i), tens_set(&b.dz, i, i % 5);
    }
    OK(b.train(&b, -2, 3));
    OK(b.back(&b, 3, -1));
    for (int i = 0; i < 144; i++) {
        tens_close(&b.y, i, -2 * y[i] + 3 * i, 1e-12);
        tens_close(&b.dx, i, 3 * dx[i] - i % 7, 1e-12);
        tens_close(&b.dz, i, 3 * dz[i] - i % 5, 1e-12);
    }
    drop(&b);
}

static double loss(bn *b)
{
    double s = 0;
    OK(b->train(b, 1, 0));
    for (int64_t i = 0; i < b->y.count; i++)
        s += tens_get(&b->y, i) * tens_get(&b->dy, i);
    return s;
}

static void check_difference(bn *b, tens *of, const tens *grad)
{
    const double step = 1e-6;
    for (int64_t i = 0; i < of->count; i++) {
        double v = tens_get(of, i);
        tens_set(of, i, v + step);
        double up = loss(b);
        tens_set(of, i, v - step);
        double down = loss(b);
        tens_set(of, i, v);
        tens_close(grad, i, (up - down) / (2 * step), 1e-6);
    }
}

static void finite_differences(void **state)
{
    (void)state;
    for (int mode = 0; mode < 2; mode++)
        for (int ops = ACT; ops <= ADD_ACT; ops++)
            for (int act = 0; act < 2; act++) {
                bn b = make(mode, mode, ops, act ? CUDNN_ACTIVATION_CLIPPED_RELU : CUDNN_ACTIVATION_RELU, DN_F64, 4,
                            (const int[]){ 5, 9, 2, 1 }, mode ? CHANNELS_LAST : PACKED, PACKED);
                OK(b.train(&b, 1, 0));
                OK(b.back(&b, 1, 0));
                check_difference(&b, &b.x, &b.dx);
                check_difference(&b, &b.param[SCALE], &b.param[DSCALE]);
                check_difference(&b, &b.param[BIAS], &b.param[DBIAS]);
                if (ops == ADD_ACT)
                    check_difference(&b, &b.z, &b.dz);
                drop(&b);
            }
}

/* Inference takes every activation. */
static void inference(void **state)
{
    (void)state;
    static const cudnnActivationMode_t acts[] = { CUDNN_ACTIVATION_RELU, CUDNN_ACTIVATION_TANH, CUDNN_ACTIVATION_SIGMOID };
    for (int mode = 0; mode < 3; mode++)
        for (int ops = PLAIN; ops <= ADD_ACT; ops++)
            for (int a = 0; a < 3; a++) {
                bn b = make(true, mode, ops, CUDNN_ACTIVATION_RELU, types[a], 4, (const int[]){ 3, 10, 2, 3 }, CHANNELS_LAST, GAPS);
                OK(cudnnSetActivationDescriptor(b.act, acts[a], CUDNN_NOT_PROPAGATE_NAN, 0));
                OK(norm_infer(&b, 1, 0));
                for (int64_t i = 0; i < b.y.count; i++) {
                    int64_t k = param_of(&b, i);
                    stats s = { .mean = tens_get(&b.param[RUN_MEAN], k), .inv = 1 / sqrt(tens_get(&b.param[RUN_VAR], k) + b.eps) };
                    double v = before(&b, &s, i);
                    v = !ops ? v : a == 0 ? relu(&b, v) : a == 1 ? tanh(v) : 1 / (1 + exp(-v));
                    tens_close(&b.y, i, v, 8 * type_epsilon(b.y.type) * (1 + fabs(v)));
                }
                drop(&b);
            }
}

/* y over x and over z, dx over dy, dz over dy. */
static void in_place(void **state)
{
    (void)state;
    const int dims[] = { 4, 12, 3, 3 };
    for (int lay = PACKED; lay <= CHANNELS_LAST; lay++) {
        bn a = make(false, 1, ADD_ACT, CUDNN_ACTIVATION_RELU, DN_F64, 4, dims, (layout)lay, (layout)lay);
        OK(a.train(&a, 1, 0));
        OK(a.back(&a, 1, 0));
        for (int over = 0; over < 2; over++) {
            bn b = make(false, 1, ADD_ACT, CUDNN_ACTIVATION_RELU, DN_F64, 4, dims, (layout)lay, (layout)lay);
            void *y = b.y.data, *grad = over ? b.dz.data : b.dx.data, *dy = b.dy.data;
            OK(b.train(&b, 1, 0));
            *(over ? &b.dz.data : &b.dx.data) = dy;
            OK(b.back(&b, 1, 0));
            for (int64_t i = 0; i < a.dx.count; i++) {
                tens_close(&b.dx, i, tens_get(&a.dx, i), 0);
                tens_close(&b.dz, i, tens_get(&a.dz, i), 0);
            }
            *(over ? &b.dz.data : &b.dx.data) = grad;
            b.y.data = over ? b.z.data : b.x.data;
            OK(b.train(&b, 1, 0));
            for (int64_t i = 0; i < a.y.count; i++)
                tens_close(&b.y, i, tens_get(&a.y, i), 0);
            b.y.data = y;
            drop(&b);
        }
        drop(&a);
    }
}

/* The first form's bits. */
static void plain_is_the_first_form(void **state)
{
    (void)state;
    const double one = 1, zero = 0;
    bn b = make(false, 1, PLAIN, CUDNN_ACTIVATION_RELU, DN_F64, 4, (const int[]){ 3, 20, 4, 4 }, CHANNELS_LAST, PACKED);
    tens y = tens_make(DN_F64, 4, b.y.dims, PACKED), *p = b.param;
    OK(b.train(&b, 1, 0));
    OK(cudnnBatchNormalizationForwardTraining(handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, b.x.desc, b.x.data, y.desc, y.data,
    p->desc,
                                              p[SCALE].data, p[BIAS].data, 1, NULL, NULL, b.eps, NULL, NULL));
    for (int64_t i = 0; i < y.count; i++)
        tens_close(&b.y, i, tens_get(&y, i), 0);
    tens_free(&y);
    drop(&b);
}

static void refusals(void **state)
{
    (void)state;
    const int dims[] = { 2, 4, 3, 3 };
    bn b = make(false, 1, ADD_ACT, CUDNN_ACTIVATION_RELU, DN_F32, 4, dims, PACKED, PACKED);
    b.reserve_size--;
    REFUSED(ex_train(&b, 1, 0), CUDNN_STATUS_BAD_PARAM, "reserveSpaceSizeInBytes is 71");
    REFUSED(norm_back(&b, 1, 0), CUDNN_STATUS_BAD_PARAM, "reserveSpaceSizeInBytes is 71");
    b.reserve_size++;
    void *keep = b.reserve;
    b.reserve = NULL;
    REFUSED(ex_back(&b, 1, 0), CUDNN_STATUS_BAD_PARAM, "reserveSpace is NULL");
    b.reserve = keep;
    keep = b.z.data;
    b.z.data = NULL;
    REFUSED(ex_train(&b, 1, 0), CUDNN_STATUS_BAD_PARAM, "zData is NULL");
    b.z.data = keep;
    keep = b.dz.data;
    b.dz.data = b.dx.data;
    REFUSED(ex_back(&b, 1, 0), CUDNN_STATUS_BAD_PARAM, "dxData and dzData are the same memory");
    b.dz.data = keep;
    b.ops = 3;
    REFUSED(ex_train(&b, 1, 0), CUDNN_STATUS_BAD_PARAM, "bnOps is 3");
    REFUSED(norm_train(&b, 1, 0), CUDNN_STATUS_NOT_SUPPORTED, "normOps is 3");
    b.ops = ADD_ACT;
    OK(cudnnSetActivationDescriptor(b.act, CUDNN_ACTIVATION_TANH, CUDNN_NOT_PROPAGATE_NAN, 0));
    REFUSED(ex_train(&b, 1, 0), CUDNN_STATUS_NOT_SUPPORTED, "activation mode is 2");
    OK(norm_infer(&b, 1, 0));
    cudnnActivationDescriptor_t act = b.act;
    b.act = NULL;
    REFUSED(ex_train(&b, 1, 0), CUDNN_STATUS_BAD_PARAM, "activationDesc is NULL");
    b.act = act;
    b.ops = PLAIN;
    size_t size = 5;
    REFUSED(cudnnGetNormalizationTrainingReserveSpaceSize(handle, CUDNN_NORM_PER_CHANNEL, CUDNN_NORM_OPS_NORM,
            CUDNN_NORM_ALGO_STANDARD,
                                                          NULL, b.x.desc, &size, 2), CUDNN_STATUS_NOT_SUPPORTED, "groupCnt is 2");
    REFUSED(cudnnGetNormalizationTrainingReserveSpaceSize(handle, (cudnnNormMode_t)2, CUDNN_NORM_OPS_NORM, CUDNN_NORM_ALGO_STANDARD,
                                                          NULL, b.x.desc, &size, 1), CUDNN_STATUS_NOT_SUPPORTED, "mode is 2");
    tens strided = tens_make(DN_F32, 4, (const int[]){ 1, 4, 1, 1 }, GAPS);
    tens *p = b.param;
    float one = 1, zero = 0;
    REFUSED(cudnnNormalizationForwardInference(handle, CUDNN_NORM_PER_CHANNEL, CUDNN_NORM_OPS_NORM, CUDNN_NORM_ALGO_PERSIST, &one,
                &zero, b.x.desc, b.x.data, p->desc, p[SCALE].data, p[BIAS].data, strided.desc, p[RUN_MEAN].data,
                p[RUN_VAR].data, NULL,
                NULL, NULL, b.y.desc, b.y.data, 1e-3, 1), CUDNN_STATUS_NOT_SUPPORTED, "normMeanVarDesc and normScaleBiasDesc");
    tens_free(&strided);
    dn_problem q;
    assert_int_equal(dn_problem_parse("bn train x=n2c4h3w3:f32:nhwc y=n2c4h3w3:f32:nhwc w=n1c4h1w1:f32:nchw z=n2c4h3w3:f32:nchw"
                                      " ops=addact act=crelu coef=6", &q), DN_SUCCESS);
    assert_true(q.u.bn.act.mode == DN_ACT_CLIPPED_RELU && q.u.bn.act.coef == 6);
    assert_int_equal(dn_problem_parse("bn train x=n2c4h3w3:f32:nhwc y=n2c4h3w3:f32:nhwc w=n1c4h1w1:f32:nchw ops=addact", &q),
    DN_BAD_PARAM);
    drop(&b);
}

static void derived_descriptors(void **state)
{
    (void)state;
    cudnnTensorDescriptor_t w, m;
    tens x = tens_make(DN_F16, 4, (const int[]){ 2, 3, 4, 5 }, CHANNELS_LAST);
    cudnnDataType_t type;
    int n, dims[8], strides[8];
    OK(cudnnCreateTensorDescriptor(&w));
    OK(cudnnCreateTensorDescriptor(&m));
    for (int mode = 0; mode < 2; mode++) {
        OK(cudnnDeriveNormTensorDescriptor(w, m, x.desc, (cudnnNormMode_t)mode, 1));
        for (int k = 0; k < 2; k++) {
            OK(cudnnGetTensorNdDescriptor(k ? m : w, 8, &type, &n, dims, strides));
            assert_true(type == CUDNN_DATA_FLOAT && n == 4);
            assert_memory_equal(dims, mode ? ((const int[]){ 1, 3, 1, 1 }) : ((const int[]){ 1, 3, 4, 5 }), 4 * sizeof(int));
            assert_memory_equal(strides, mode ? ((const int[]){ 3, 1, 1, 1 }) : ((const int[]){ 60, 20, 5, 1 }), 4 * sizeof(int));
        }
    }
    REFUSED(cudnnDeriveNormTensorDescriptor(w, m, x.desc, CUDNN_NORM_PER_CHANNEL, 0), CUDNN_STATUS_NOT_SUPPORTED, "groupCnt is 0");
    REFUSED(cudnnDeriveNormTensorDescriptor(w, m, x.desc, (cudnnNormMode_t)2, 1), CUDNN_STATUS_BAD_PARAM, "mode is 2");
    REFUSED(cudnnDeriveNormTensorDescriptor(w, NULL, x.desc, CUDNN_NORM_PER_CHANNEL, 1), CUDNN_STATUS_BAD_PARAM,
            "derivedNormMeanVarDesc is NULL");
    OK(cudnnDestroyTensorDescriptor(w));
    OK(cudnnDestroyTensorDescriptor(m));
    tens_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_mode_type_and_layout),
        cmocka_unit_test(large),
        cmocka_unit_test(alpha_and_beta),
        cmocka_unit_test(finite_differences),
        cmocka_unit_test(inference),
        cmocka_unit_test(in_place),
        cmocka_unit_test(plain_is_the_first_form),
        cmocka_unit_test(refusals),
        cmocka_unit_test(derived_descriptors),
    };
    setenv("ANYDNN_ENGINE", "ref", 1);
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
