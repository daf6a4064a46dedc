/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Fused operations: every plan type from end to end against the plain calls that it stands for. What the vendor's 9.19 does not compute
 * on a device (type 4, statistics of a convolution) it answers with NOT_SUPPORTED, and the case ends there. */
#include "api_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define F32 CUDNN_DATA_FLOAT
#define F64 CUDNN_DATA_DOUBLE
#define F16 CUDNN_DATA_HALF
#define BF16 CUDNN_DATA_BFLOAT16

enum { LABELS = 39, POINTERS = 24 };

/* Which pointer goes with a placeholder. */
static const struct { int place, pointer; } pairs[] = {
    { CUDNN_PARAM_XDATA_PLACEHOLDER, CUDNN_PTR_XDATA }, { CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, CUDNN_PTR_BN_EQSCALE },
    { CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER, CUDNN_PTR_BN_EQBIAS }, { CUDNN_PARAM_WDATA_PLACEHOLDER, CUDNN_PTR_WDATA },
    { CUDNN_PARAM_DWDATA_PLACEHOLDER, CUDNN_PTR_DWDATA }, { CUDNN_PARAM_YDATA_PLACEHOLDER, CUDNN_PTR_YDATA },
    { CUDNN_PARAM_DYDATA_PLACEHOLDER, CUDNN_PTR_DYDATA }, { CUDNN_PARAM_YSUM_PLACEHOLDER, CUDNN_PTR_YSUM },
    { CUDNN_PARAM_YSQSUM_PLACEHOLDER, CUDNN_PTR_YSQSUM }, { CUDNN_PARAM_BN_SCALE_PLACEHOLDER, CUDNN_PTR_BN_SCALE },
    { CUDNN_PARAM_BN_BIAS_PLACEHOLDER, CUDNN_PTR_BN_BIAS }, { CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER, CUDNN_PTR_BN_SAVED_MEAN },
    { CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER, CUDNN_PTR_BN_SAVED_INVSTD },
    { CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER, CUDNN_PTR_BN_RUNNING_MEAN },
    { CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER, CUDNN_PTR_BN_RUNNING_VAR }, { CUDNN_PARAM_ZDATA_PLACEHOLDER, CUDNN_PTR_ZDATA },
    { CUDNN_PARAM_BN_Z_EQSCALE_PLACEHOLDER, CUDNN_PTR_BN_Z_EQSCALE }, { CUDNN_PARAM_BN_Z_EQBIAS_PLACEHOLDER, CUDNN_PTR_BN_Z_EQBIAS },
    { CUDNN_PARAM_ACTIVATION_BITMASK_PLACEHOLDER, CUDNN_PTR_ACTIVATION_BITMASK },
    { CUDNN_PARAM_DXDATA_PLACEHOLDER, CUDNN_PTR_DXDATA }, { CUDNN_PARAM_DZDATA_PLACEHOLDER, CUDNN_PTR_DZDATA },
    { CUDNN_PARAM_BN_DSCALE_PLACEHOLDER, CUDNN_PTR_BN_DSCALE }, { CUDNN_PARAM_BN_DBIAS_PLACEHOLDER, CUDNN_PTR_BN_DBIAS },
};

typedef struct fused {
    cudnnFusedOpsConstParamPack_t k;
    cudnnFusedOpsVariantParamPack_t v;
    cudnnFusedOpsPlan_t plan;
} fused;

static fused fused_new(cudnnFusedOps_t ops)
{
    fused f;
    cudnnBatchNormMode_t mode = CUDNN_BATCHNORM_SPATIAL_PERSISTENT;
    CALL(cudnnCreateFusedOpsConstParamPack, (&f.k, ops));
    CALL(cudnnCreateFusedOpsVariantParamPack, (&f.v, ops));
    CALL(cudnnCreateFusedOpsPlan, (&f.plan, ops));
    if (ops != CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION)
        CALL(cudnnSetFusedOpsConstParamPackAttribute, (f.k, CUDNN_PARAM_BN_MODE, &mode));
    return f;
}

static void fused_desc(const fused *f, cudnnFusedOpsConstParamLabel_t label, const void *desc)
{
    CALL(cudnnSetFusedOpsConstParamPackAttribute, (f->k, label, desc));
}

static void fused_data(const fused *f, cudnnFusedOpsConstParamLabel_t place, void *ptr)
{
    cudnnFusedOpsPointerPlaceHolder_t how = CUDNN_PTR_16B_ALIGNED;
    CALL(cudnnSetFusedOpsConstParamPackAttribute, (f->k, place, &how));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].place == (int)place)
            CALL(cudnnSetFusedOpsVariantParamPackAttribute, (f->v, (cudnnFusedOpsVariantParamLabel_t)pairs[i].pointer, ptr));
}

/* A tensor or filter and its data. */
static void fused_tens(const fused *f, cudnnFusedOpsConstParamLabel_t desc, cudnnFusedOpsConstParamLabel_t place, const tens *t)
{
    fused_desc(f, desc, t->desc ? (const void *)t->desc : (const void *)t->fdesc);
    fused_data(f, place, t->ptr);
}

static void fused_scalar(const fused *f, cudnnFusedOpsVariantParamLabel_t label, void *value)
{
    CALL(cudnnSetFusedOpsVariantParamPackAttribute, (f->v, label, value));
}

/* Makes and runs the plan, whose pack is gone by then, and ends it. False where another library does not compute this. */
static bool fused_run(fused *f)
{
    size_t size = 0;
    cudnnStatus_t st = api.cudnnMakeFusedOpsPlan(api_handle(), f->plan, f->k, &size);
    bool ran = api_ours || api_class(st) != api_class(NOSUP);
    CALL(cudnnDestroyFusedOpsConstParamPack, (f->k));
    if (ran) {
        api_must(__FILE__, __LINE__, "cudnnMakeFusedOpsPlan", st);
        void *ws = size ? api_alloc(size) : NULL;
        fused_scalar(f, CUDNN_PTR_WORKSPACE, ws);
        fused_scalar(f, CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES, &size);
        st = api.cudnnFusedOpsExecute(api_handle(), f->plan, f->v);
        ran = api_ours || api_class(st) != api_class(NOSUP);
        if (ran)
            api_must(__FILE__, __LINE__, "cudnnFusedOpsExecute", st);
    }
    CALL(cudnnDestroyFusedOpsVariantParamPack, (f->v));
    CALL(cudnnDestroyFusedOpsPlan, (f->plan));
    return ran;
}

static cudnnActivationDescriptor_t relu(void)
{
    cudnnActivationDescriptor_t a;
    CALL(cudnnCreateActivationDescriptor, (&a));
    CALL(cudnnSetActivationDescriptor, (a, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
    return a;
}

/* 1 x c x 1 x 1. */
static tens channels(cudnnDataType_t type, int c)
{
    return tens_new(type, 4, (const int[]){1, c, 1, 1}, true);
}

/* Arrays of channels: tensors that share nothing but their shape. */
static tens put_channels(cudnnDataType_t type, int c, double base, double step)
{
    tens t = channels(type, c);
    double *v = data_new(c);
    for (int i = 0; i < c; i++)
        v[i] = base + step * (double)(i * 5 % 8);
    tens_put(&t, v);
    return t;
}

static int channel_of(const tens *t, int64_t i)
{
    int64_t space = t->count / t->dim[0] / t->dim[1];
    return (int)(i / space % t->dim[1]);
}

/* relu(scale x + bias + z), or without the parts that are NULL. */
static double *truth(const tens *x, const double *v, const tens *scale, const tens *bias, const double *z, bool act)
{
    double *want = data_new(x->count), *s = scale ? tens_get(scale) : NULL, *b = bias ? tens_get(bias) : NULL;
    for (int64_t i = 0; i < x->count; i++) {
        int c = channel_of(x, i);
        double r = v[i] * (s ? s[c] : 1) + (b ? b[c] : 0) + (z ? z[i] : 0);
        want[i] = act && r < 0 ? 0 : r;
    }
    return want;
}

typedef struct setting {
    cudnnDataType_t type, arrays;
    bool nhwc, vendors;   /* vendors: one that the vendor's library takes */
} setting;
static const setting settings[] = {
    { F16, F16, true, true }, { F32, F32, false, false }, { F32, F32, true, false }, { BF16, F32, true, false }, { F64, F64, false, false },
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static const setting *setting_at(int i)
{
    return api_ours || settings[i].vendors ? &settings[i] : NULL;
}

/* --- convolutions --- */
static conv_case small_conv(const setting *s, int r)
{
    conv_case c = {.type = s->type, .compute = s->type == F64 ? F64 : F32, .spatial = 2, .n = 2, .c = 32, .k = 64, .groups = 1, .nhwc = s->nhwc,
                   .mode = CUDNN_CROSS_CORRELATION, .math = CUDNN_TENSOR_OP_MATH};
    for (int i = 0; i < 2; i++)
        c.in[i] = 5, c.win[i] = r, c.pad[i] = r / 2, c.str[i] = 1, c.dil[i] = 1;
    return c;
}

/* The convolution's x after scale, bias and activation, as the plain call reads it; x itself keeps its values. */
static tens before_conv(const conv *v, const tens *scale, const tens *bias, bool act)
{
    tens t = tens_new(v->x.type, 4, v->x.dim, v->c.nhwc);
    tens_put(&t, truth(&v->x, tens_get(&v->x), scale, bias, NULL, act));
    return t;
}

/* The same as attributes of a pack, and the convolution; scale and act NULL: without. */
static void fused_before_conv(const fused *f, const conv *v, const tens *scale, const tens *bias, cudnnActivationDescriptor_t act)
{
    fused_tens(f, CUDNN_PARAM_XDESC, CUDNN_PARAM_XDATA_PLACEHOLDER, &v->x);
    if (scale) {
        fused_tens(f, CUDNN_PARAM_BN_EQSCALEBIAS_DESC, CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, scale);
        fused_data(f, CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER, bias->ptr);
    }
    if (act)
        fused_desc(f, CUDNN_PARAM_ACTIVATION_DESC, act);
    fused_desc(f, CUDNN_PARAM_CONV_DESC, v->desc);
}

static void check_conv_stats(const setting *s, bool pre, bool act)
{
    conv_case c = small_conv(s, 3);
    conv v = conv_new(&c), plain = v;
    tens scale = put_channels(s->arrays, c.c, 0.5, 0.125), bias = put_channels(s->arrays, c.c, -0.5, 0.125);
    tens sum = channels(s->type == F64 ? F64 : F32, c.k), sq = channels(s->type == F64 ? F64 : F32, c.k);
    plain.x = before_conv(&v, pre ? &scale : NULL, pre ? &bias : NULL, act);
    api_must(__FILE__, __LINE__, "convolution", conv_run(&plain, DIR_FWD, 1, 1, 0));
    double *want = tens_get(&plain.y), *sums = data_new(c.k), *squares = data_new(c.k);
    for (int64_t i = 0; i < v.y.count; i++) {
        sums[channel_of(&v.y, i)] += want[i];
        squares[channel_of(&v.y, i)] += want[i] * want[i];
    }
    tens_fill(&v.y, NAN);
    fused f = fused_new(CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS);
    cudnnActivationDescriptor_t a = relu();
    fused_before_conv(&f, &v, pre ? &scale : NULL, &bias, act ? a : NULL);
    fused_tens(&f, CUDNN_PARAM_WDESC, CUDNN_PARAM_WDATA_PLACEHOLDER, &v.w);
    fused_tens(&f, CUDNN_PARAM_YDESC, CUDNN_PARAM_YDATA_PLACEHOLDER, &v.y);
    fused_tens(&f, CUDNN_PARAM_YSTATS_DESC, CUDNN_PARAM_YSUM_PLACEHOLDER, &sum);
    fused_data(&f, CUDNN_PARAM_YSQSUM_PLACEHOLDER, sq.ptr);
    CALL(cudnnDestroyActivationDescriptor, (a));  /* the pack has a copy */
    if (fused_run(&f)) {
        NEAR(&v.y, want, type_tol(s->type));
        NEAR(&sum, sums, type_tol(s->type));
        NEAR(&sq, squares, type_tol(s->type));
    }
    tens_free(&plain.x), tens_free(&scale), tens_free(&bias), tens_free(&sum), tens_free(&sq);
    conv_free(&v);
}

static void conv_with_statistics(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++)
        for (int k = 0; setting_at(i) && k < 4; k++)
            check_conv_stats(setting_at(i), k & 1, k & 2);
}

static void check_wgrad(const setting *s, bool pre, bool act)
{
    conv_case c = small_conv(s, 3);
    conv v = conv_new(&c), plain = v;
    tens scale = put_channels(s->arrays, c.c, 0.5, 0.125), bias = put_channels(s->arrays, c.c, -0.5, 0.125);
    plain.x = before_conv(&v, pre ? &scale : NULL, pre ? &bias : NULL, act);
    api_must(__FILE__, __LINE__, "convolution", conv_run(&plain, DIR_FILTER, 1, 1, 0));
    double *want = tens_get(&v.w);
    tens_fill(&v.w, NAN);
    fused f = fused_new(CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD);
    cudnnActivationDescriptor_t a = relu();
    fused_before_conv(&f, &v, pre ? &scale : NULL, &bias, act ? a : NULL);
    fused_tens(&f, CUDNN_PARAM_DWDESC, CUDNN_PARAM_DWDATA_PLACEHOLDER, &v.w);
    fused_tens(&f, CUDNN_PARAM_DYDESC, CUDNN_PARAM_DYDATA_PLACEHOLDER, &v.y);
    if (fused_run(&f))
        NEAR(&v.w, want, type_tol(s->type));
    CALL(cudnnDestroyActivationDescriptor, (a));
    tens_free(&plain.x), tens_free(&scale), tens_free(&bias);
    conv_free(&v);
}

static void filter_gradient(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++)
        for (int k = 0; setting_at(i) && k < 4; k++)
            check_wgrad(setting_at(i), k & 1, k & 2);
}

static void check_conv_add(const setting *s)
{
    conv_case c = small_conv(s, 1);
    conv v = conv_new(&c);
    tens z = tens_new(s->type, 4, v.y.dim, c.nhwc), alpha = put_channels(F32, c.k, 0.5, 0.125);
    tens beta = put_channels(F32, c.k, -1, 0.25), bias = put_channels(F32, c.k, -0.5, 0.125);
    double *product = conv_truth(&v, DIR_FWD, tens_get(&v.x), tens_get(&v.w)), *addend = tens_random(&z, 11);
    double *want = truth(&v.y, product, &alpha, NULL, truth(&z, addend, &beta, &bias, NULL, false), true);
    tens_fill(&v.y, NAN);
    fused f = fused_new(CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION);
    cudnnActivationDescriptor_t a = relu();
    fused_tens(&f, CUDNN_PARAM_XDESC, CUDNN_PARAM_XDATA_PLACEHOLDER, &v.x);
    fused_tens(&f, CUDNN_PARAM_BN_EQSCALEBIAS_DESC, CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, &alpha);
    fused_desc(&f, CUDNN_PARAM_CONV_DESC, v.desc);
    fused_tens(&f, CUDNN_PARAM_WDESC, CUDNN_PARAM_WDATA_PLACEHOLDER, &v.w);
    fused_tens(&f, CUDNN_PARAM_ZDESC, CUDNN_PARAM_ZDATA_PLACEHOLDER, &z);
    fused_tens(&f, CUDNN_PARAM_BN_Z_EQSCALEBIAS_DESC, CUDNN_PARAM_BN_Z_EQSCALE_PLACEHOLDER, &beta);
    fused_data(&f, CUDNN_PARAM_BN_Z_EQBIAS_PLACEHOLDER, bias.ptr);
    fused_desc(&f, CUDNN_PARAM_ACTIVATION_DESC, a);
    fused_tens(&f, CUDNN_PARAM_YDESC, CUDNN_PARAM_YDATA_PLACEHOLDER, &v.y);
    if (fused_run(&f))
        NEAR(&v.y, want, type_tol(s->type));
    CALL(cudnnDestroyActivationDescriptor, (a));
    tens_free(&z), tens_free(&alpha), tens_free(&beta), tens_free(&bias);
    conv_free(&v);
}

static void conv_scale_add(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++)
        if (setting_at(i))
            check_conv_add(setting_at(i));
}

/* --- batch normalisation in two steps: sums of x, the final step, scale and bias --- */
typedef struct bn {
    tens x, y, want, scale, bias, mean, var, save_mean, save_inv, rmean, rvar, eqscale, eqbias;
    cudnnDataType_t stats;
} bn;

static bn bn_new(const setting *s, int n, int c, int hw)
{
    const int dim[] = {n, c, hw, hw};
    bn b = {.stats = s->type == F64 ? F64 : F32};
    b.x = tens_new(s->type, 4, dim, s->nhwc), b.y = tens_new(s->type, 4, dim, s->nhwc), b.want = tens_new(s->type, 4, dim, s->nhwc);
    tens_random(&b.x, 3);
    b.scale = put_channels(b.stats, c, 0.5, 0.125), b.bias = put_channels(b.stats, c, -0.5, 0.125);
    b.mean = put_channels(b.stats, c, 0, 0.125), b.var = put_channels(b.stats, c, 1, 0.125);
    b.rmean = put_channels(b.stats, c, 0, 0.125), b.rvar = put_channels(b.stats, c, 1, 0.125);
    b.save_mean = channels(b.stats, c), b.save_inv = channels(b.stats, c);
    b.eqscale = channels(s->arrays, c), b.eqbias = channels(s->arrays, c);
    return b;
}

static void bn_free(bn *b)
{
    tens *all[] = {&b->x, &b->y, &b->want, &b->scale, &b->bias, &b->mean, &b->var, &b->save_mean, &b->save_inv, &b->rmean, &b->rvar,
                   &b->eqscale, &b->eqbias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tens_free(all[i]);
}

/* x with the equivalent scale and bias is what the normalisation makes; values of both come from the arrays' own type. */
static void near_normalised(const bn *b, const char *what, int line)
{
    double *got = truth(&b->x, tens_get(&b->x), &b->eqscale, &b->eqbias, NULL, false), *want = tens_get(&b->want);
    double tol = 4 * type_tol(b->x.type);
    for (int64_t i = 0; i < b->x.count; i++)
        if (!(fabs(got[i] - want[i]) <= tol * (1 + fabs(want[i]))))
            fail_msg("line %d, %s: element %lld is %.9g, not %.9g", line, what, (long long)i, got[i], want[i]);
}

static void check_final_train(const setting *s)
{
    const float one = 1, zero = 0;
    const double done = 1, dzero = 0;
    bn b = bn_new(s, 2, 16, 5);
    int c = b.x.dim[1];
    int64_t count = b.x.count / c;
    double factor = 0.25, eps = 1e-3, *x = tens_get(&b.x), *sums = data_new(c), *squares = data_new(c);
    tens sum = channels(b.stats, c), sq = channels(b.stats, c), save_mean = channels(b.stats, c), save_inv = channels(b.stats, c);
    for (int64_t i = 0; i < b.x.count; i++) {
        sums[channel_of(&b.x, i)] += x[i];
        squares[channel_of(&b.x, i)] += x[i] * x[i];
    }
    tens_put(&sum, sums), tens_put(&sq, squares);
    CALL(cudnnBatchNormalizationForwardTraining, (api_handle(), CUDNN_BATCHNORM_SPATIAL, s->type == F64 ? (const void *)&done : &one,
        s->type == F64 ? (const void *)&dzero : &zero, b.x.desc, b.x.ptr, b.want.desc, b.want.ptr, b.scale.desc, b.scale.ptr, b.bias.ptr,
        factor, b.mean.ptr, b.var.ptr, eps, b.save_mean.ptr, b.save_inv.ptr));
    fused f = fused_new(CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING);
    fused_tens(&f, CUDNN_PARAM_YSTATS_DESC, CUDNN_PARAM_YSUM_PLACEHOLDER, &sum);
    fused_data(&f, CUDNN_PARAM_YSQSUM_PLACEHOLDER, sq.ptr);
    fused_tens(&f, CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, CUDNN_PARAM_BN_SCALE_PLACEHOLDER, &b.scale);
    fused_data(&f, CUDNN_PARAM_BN_BIAS_PLACEHOLDER, b.bias.ptr);
    fused_data(&f, CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER, save_mean.ptr);
    fused_data(&f, CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER, save_inv.ptr);
    fused_data(&f, CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER, b.rmean.ptr);
    fused_data(&f, CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER, b.rvar.ptr);
    fused_tens(&f, CUDNN_PARAM_BN_EQSCALEBIAS_DESC, CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, &b.eqscale);
    fused_data(&f, CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER, b.eqbias.ptr);
    fused_scalar(&f, CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT, &count);
    fused_scalar(&f, CUDNN_SCALAR_DOUBLE_BN_EXP_AVG_FACTOR, &factor);
    fused_scalar(&f, CUDNN_SCALAR_DOUBLE_BN_EPSILON, &eps);
    if (fused_run(&f)) {
        NEAR(&save_mean, tens_get(&b.save_mean), 1e-5);
        NEAR(&save_inv, tens_get(&b.save_inv), 1e-5);
        NEAR(&b.rmean, tens_get(&b.mean), 1e-5);
        NEAR(&b.rvar, tens_get(&b.var), 1e-5);
        near_normalised(&b, "training", __LINE__);
    }
    tens_free(&sum), tens_free(&sq), tens_free(&save_mean), tens_free(&save_inv);
    bn_free(&b);
}

static void check_final_infer(const setting *s)
{
    const float one = 1, zero = 0;
    const double done = 1, dzero = 0;
    bn b = bn_new(s, 2, 16, 5);
    double eps = 1e-3;
    CALL(cudnnBatchNormalizationForwardInference, (api_handle(), CUDNN_BATCHNORM_SPATIAL, s->type == F64 ? (const void *)&done : &one,
        s->type == F64 ? (const void *)&dzero : &zero, b.x.desc, b.x.ptr, b.want.desc, b.want.ptr, b.scale.desc, b.scale.ptr, b.bias.ptr,
        b.mean.ptr, b.var.ptr, eps));
    fused f = fused_new(CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE);
    fused_tens(&f, CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, CUDNN_PARAM_BN_SCALE_PLACEHOLDER, &b.scale);
    fused_data(&f, CUDNN_PARAM_BN_BIAS_PLACEHOLDER, b.bias.ptr);
    fused_data(&f, CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER, b.mean.ptr);
    fused_data(&f, CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER, b.var.ptr);
    fused_tens(&f, CUDNN_PARAM_BN_EQSCALEBIAS_DESC, CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, &b.eqscale);
    fused_data(&f, CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER, b.eqbias.ptr);
    fused_scalar(&f, CUDNN_SCALAR_DOUBLE_BN_EPSILON, &eps);
    if (fused_run(&f))
        near_normalised(&b, "inference", __LINE__);
    bn_free(&b);
}

static void final_steps(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++)
        if (setting_at(i)) {
            check_final_train(setting_at(i));
            check_final_infer(setting_at(i));
        }
}

/* --- the mask and the way back --- */

typedef struct mask {
    cudnnTensorDescriptor_t desc;
    uint32_t *words;
    int places;
} mask;

/* As frameworks describe it: places rounded up to 32, two words for 64 channels. */
static mask mask_new(int places, int c)
{
    int width = (c + 63) / 64 * 2, rows = (places + 31) / 32 * 32;
    mask m = {.places = places, .words = api_alloc((size_t)rows * (size_t)width * 4)};
    CALL(cudnnCreateTensorDescriptor, (&m.desc));
    CALL(cudnnSetTensorNdDescriptor, (m.desc, CUDNN_DATA_INT32, 3, (const int[]){rows, width, 1}, (const int[]){width, 1, width}));
    return m;
}

/* The vendor's layout: slabs of 64 channels; bit e / 4 of word e mod 4 in the four words of 128 elements e. */
static int mask_bit(const mask *m, int place, int c)
{
    int e = place * 64 + c % 64, word = c / 64 * ((m->places + 31) / 32 * 64) + e / 128 * 4 + e % 4;
    return (int)(m->words[word] >> (e / 4 % 32) & 1);
}

/* Element i in NCHW order as a place in NHWC order. */
static int place_of(const tens *t, int64_t i)
{
    int64_t space = t->count / t->dim[0] / t->dim[1];
    return (int)(i / (space * t->dim[1]) * space + i % space);
}

/* dy where the mask lets it through. */
static double *stopped(const tens *t, const double *dy, const mask *m)
{
    double *g = data_new(t->count);
    for (int64_t i = 0; i < t->count; i++)
        g[i] = mask_bit(m, place_of(t, i), channel_of(t, i)) ? 0 : dy[i];
    return g;
}

static void check_back(const setting *s, const bn *b, const mask *m, bool add)
{
    const float one = 1, zero = 0;
    const double done = 1, dzero = 0;
    int c = b->x.dim[1];
    double eps = 1e-3;
    tens dy = tens_new(s->type, 4, b->x.dim, s->nhwc), dx = tens_new(s->type, 4, b->x.dim, s->nhwc);
    tens dz = tens_new(s->type, 4, b->x.dim, s->nhwc), g = tens_new(s->type, 4, b->x.dim, s->nhwc);
    tens dscale = channels(b->stats, c), dbias = channels(b->stats, c), want_scale = channels(b->stats, c), want_bias = channels(b->stats, c);
    double *grad = stopped(&b->x, tens_random(&dy, 9), m);
    const void *o = s->type == F64 ? (const void *)&done : &one, *z = s->type == F64 ? (const void *)&dzero : &zero;
    tens_put(&g, grad);
    CALL(cudnnBatchNormalizationBackward, (api_handle(), CUDNN_BATCHNORM_SPATIAL, o, z, o, z, b->x.desc, b->x.ptr, g.desc, g.ptr, b->want.desc,
        b->want.ptr, b->scale.desc, b->scale.ptr, want_scale.ptr, want_bias.ptr, eps, b->save_mean.ptr, b->save_inv.ptr));
    fused f = fused_new(CUDNN_FUSED_DACTIVATION_FORK_DBATCHNORM);
    cudnnActivationDescriptor_t a = relu();
    fused_tens(&f, CUDNN_PARAM_XDESC, CUDNN_PARAM_XDATA_PLACEHOLDER, &b->x);
    fused_desc(&f, CUDNN_PARAM_ACTIVATION_DESC, a);
    fused_tens(&f, CUDNN_PARAM_DYDESC, CUDNN_PARAM_DYDATA_PLACEHOLDER, &dy);
    fused_tens(&f, CUDNN_PARAM_DXDESC, CUDNN_PARAM_DXDATA_PLACEHOLDER, &dx);
    if (add)
        fused_tens(&f, CUDNN_PARAM_DZDESC, CUDNN_PARAM_DZDATA_PLACEHOLDER, &dz);
    fused_tens(&f, CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, CUDNN_PARAM_BN_SCALE_PLACEHOLDER, &b->scale);
    fused_data(&f, CUDNN_PARAM_BN_BIAS_PLACEHOLDER, b->bias.ptr);
    fused_data(&f, CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER, b->save_mean.ptr);
    fused_data(&f, CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER, b->save_inv.ptr);
    fused_data(&f, CUDNN_PARAM_BN_DSCALE_PLACEHOLDER, dscale.ptr);
    fused_data(&f, CUDNN_PARAM_BN_DBIAS_PLACEHOLDER, dbias.ptr);
    fused_desc(&f, CUDNN_PARAM_ACTIVATION_BITMASK_DESC, m->desc);
    fused_data(&f, CUDNN_PARAM_ACTIVATION_BITMASK_PLACEHOLDER, m->words);
    fused_scalar(&f, CUDNN_SCALAR_DOUBLE_BN_EPSILON, &eps);
    if (fused_run(&f)) {
        NEAR(&dx, tens_get(&b->want), type_tol(s->type));
        NEAR(&dscale, tens_get(&want_scale), 1e-4);
        NEAR(&dbias, tens_get(&want_bias), 1e-4);
        if (add)
            NEAR(&dz, grad, 1e-6);
    }
    CALL(cudnnDestroyActivationDescriptor, (a));
    tens_free(&dy), tens_free(&dx), tens_free(&dz), tens_free(&g);
    tens_free(&dscale), tens_free(&dbias), tens_free(&want_scale), tens_free(&want_bias);
}

static void check_mask(const setting *s, int c, int hw, bool add, bool both)
{
    bn b = bn_new(s, 2, c, hw);
    mask m = mask_new(2 * hw * hw, c);
    tens z = tens_new(s->type, 4, b.x.dim, s->nhwc), scale = put_channels(s->arrays, c, 0.5, 0.125), bias = put_channels(s->arrays, c, -0.5, 0.125);
    tens zscale = put_channels(s->arrays, c, -1, 0.25), zbias = put_channels(s->arrays, c, 0.25, 0.0625);
    double *zv = tens_random(&z, 7), *sum, *want;
    zv = !add ? NULL : both ? truth(&z, zv, &zscale, &zbias, NULL, false) : zv;
    sum = truth(&b.x, tens_get(&b.x), &scale, &bias, zv, false);
    want = truth(&b.x, tens_get(&b.x), &scale, &bias, zv, true);
    fused f = fused_new(CUDNN_FUSED_SCALE_BIAS_ADD_ACTIVATION_GEN_BITMASK);
    cudnnActivationDescriptor_t a = relu();
    fused_tens(&f, CUDNN_PARAM_XDESC, CUDNN_PARAM_XDATA_PLACEHOLDER, &b.x);
    fused_tens(&f, CUDNN_PARAM_BN_EQSCALEBIAS_DESC, CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, &scale);
    fused_data(&f, CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER, bias.ptr);
    if (add)
        fused_tens(&f, CUDNN_PARAM_ZDESC, CUDNN_PARAM_ZDATA_PLACEHOLDER, &z);
    if (both) {
        fused_tens(&f, CUDNN_PARAM_BN_Z_EQSCALEBIAS_DESC, CUDNN_PARAM_BN_Z_EQSCALE_PLACEHOLDER, &zscale);
        fused_data(&f, CUDNN_PARAM_BN_Z_EQBIAS_PLACEHOLDER, zbias.ptr);
    }
    fused_desc(&f, CUDNN_PARAM_ACTIVATION_DESC, a);
    fused_tens(&f, CUDNN_PARAM_YDESC, CUDNN_PARAM_YDATA_PLACEHOLDER, &b.y);
    fused_desc(&f, CUDNN_PARAM_ACTIVATION_BITMASK_DESC, m.desc);
    fused_data(&f, CUDNN_PARAM_ACTIVATION_BITMASK_PLACEHOLDER, m.words);
    if (fused_run(&f)) {
        const float one = 1, zero = 0;
        const double done = 1, dzero = 0;
        api_sync();
        NEAR(&b.y, want, type_tol(s->type));
        for (int64_t i = 0; i < b.x.count; i++)
            if (mask_bit(&m, place_of(&b.x, i), channel_of(&b.x, i)) != (sum[i] < 0))
                fail_msg("element %lld, %g: its bit is %d", (long long)i, sum[i], sum[i] >= 0);
        CALL(cudnnBatchNormalizationForwardTraining, (api_handle(), CUDNN_BATCHNORM_SPATIAL, s->type == F64 ? (const void *)&done : &one,
            s->type == F64 ? (const void *)&dzero : &zero, b.x.desc, b.x.ptr, b.want.desc, b.want.ptr, b.scale.desc, b.scale.ptr, b.bias.ptr,
            0.5, b.mean.ptr, b.var.ptr, 1e-3, b.save_mean.ptr, b.save_inv.ptr));
        if (api_ours || add)  /* without an addend the vendor's computes the mask again, from the batch's statistics */
            check_back(s, &b, &m, add);
    }
    CALL(cudnnDestroyActivationDescriptor, (a));
    CALL(cudnnDestroyTensorDescriptor, (m.desc));
    tens_free(&z), tens_free(&scale), tens_free(&bias), tens_free(&zscale), tens_free(&zbias);
    bn_free(&b);
}

static void mask_and_back(void **state)
{
    (void)state;
    static const struct { int c, hw; } shapes[] = { { 64, 4 }, { 32, 5 }, { 136, 3 }, { 8, 2 } };
    for (int i = 0; i < SETTINGS; i++)
        for (int k = 0; setting_at(i) && k < 4; k++) {
            check_mask(setting_at(i), shapes[k].c, shapes[k].hw, false, false);
            check_mask(setting_at(i), shapes[k].c, shapes[k].hw, true, false);
            check_mask(setting_at(i), shapes[k].c, shapes[k].hw, true, true);
        }
}

/* Words that the vendor's 9.19 wrote for x = 1 in the elements whose number has the bit, else -1: places 0 to 3 of 96 channels. */
static void mask_words_are_the_vendors(void **state)
{
    (void)state;
    static const struct { int place, channel, word, bit; } known[] = {
        { 0, 0, 0, 0 }, { 0, 60, 0, 15 }, { 1, 0, 0, 16 }, { 1, 61, 1, 31 }, { 2, 6, 6, 1 }, { 3, 63, 7, 31 }, { 5, 8, 8, 18 },
        { 0, 64, 64, 0 }, { 1, 95, 67, 23 },
    };
    mask m = {.places = 32};
    uint32_t words[128];
    m.words = words;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        memset(words, 0, sizeof words);
        words[known[i].word] = 1u << known[i].bit;
        assert_int_equal(mask_bit(&m, known[i].place, known[i].channel), 1);
    }
}

static const struct CMUnitTest tests[] = {
    DATA_TEST(conv_with_statistics), DATA_TEST(filter_gradient), DATA_TEST(conv_scale_add), DATA_TEST(final_steps), DATA_TEST(mask_and_back),
    DATA_TEST(mask_words_are_the_vendors),
};

API_MAIN(tests)
