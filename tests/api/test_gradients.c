/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Gradients against finite differences, in double, through the public functions. With the loss L = sum of g * f(x), the gradient
 * that the library gives for dy = g is compared, element by element, with (L(x + e) - L(x - e)) / 2e, e = 1e-6: the truncation
 * error is about 1e-12 times the third derivative and the rounding error about 1e-16 * |L| / e, so 1e-6 relative is a wide gate
 * for a right gradient and far too narrow for a wrong one. */
#include "api_data.h"

#include <math.h>

#define STEP 1e-6
#define TOLERANCE 1e-6
#define F64 CUDNN_DATA_DOUBLE

static const double one = 1, zero = 0;

typedef double (*loss_of)(void *ctx);

static double dot(const tens *g, const tens *y)
{
    const double *a = tens_get(g), *b = tens_get(y);
    double sum = 0;
    for (int64_t i = 0; i < g->count; i++)
        sum += a[i] * b[i];
    data_free();
    return sum;
}

/* The gradient of f by the packed array p of n doubles must be what got holds. */
static void check_gradient(const char *what, loss_of f, void *ctx, double *p, const double *got, int64_t n)
{
    double top = 1e-2;
    for (int64_t i = 0; i < n; i++)
        top = fmax(top, fabs(got[i]));
    for (int64_t i = 0; i < n; i++) {
        const double keep = p[i];
        p[i] = keep + STEP;
        const double up = f(ctx);
        p[i] = keep - STEP;
        const double down = f(ctx), want = (up - down) / (2 * STEP);
        p[i] = keep;
        if (!(fabs(got[i] - want) <= TOLERANCE * top))
            fail_msg("%s[%lld]: the library gives %.12g, finite differences %.12g", what, (long long)i, got[i], want);
    }
}

/* Values that are all different and away from 0 by at least 0.01, so that no maximum and no kink changes within the step. */
static void spread(const tens *t, unsigned seed)
{
    double *v = tens_random(t, seed);
    for (int64_t i = 0; i < t->count; i++)
        v[i] += 0.01 + 0.03 * (double)(i % 97) / 97 + (v[i] < 0 ? -0.1 : 0.1);
    tens_put(t, v);
    data_free();
}

/* --- convolution --- */
typedef struct conv_ctx {
    conv v;
    tens g;
} conv_ctx;

static double conv_loss(void *p)
{
    conv_ctx *c = p;
    assert_int_equal(conv_run_with(&c->v, DIR_FWD, 0, 1, 0, NULL, 0), OK);
    return dot(&c->g, &c->v.y);
}

static void check_conv(conv_case c)
{
    conv_ctx ctx = {.v = conv_new(&c)};
    conv *v = &ctx.v;
    size_t need;
    cudnnStatus_t can = conv_workspace(v, DIR_FWD, 0, &need);
    if (!api_ours && (can != OK || conv_run_with(v, DIR_FWD, 0, 1, 0, NULL, 0) != OK)) {
        conv_free(v);  /* the vendor's double convolutions are few */
        return;
    }
    assert_int_equal(can, OK);
    assert_int_equal(need, 0);
    ctx.g = tens_new(F64, v->y.rank, v->y.dim, c.nhwc);
    tens_random(&ctx.g, 9);
    data_free();
    for (int dir = DIR_DATA; dir <= DIR_FILTER; dir++)
        for (int algo = 0; algo < conv_algos(dir); algo++) {
            tens *arg = dir == DIR_DATA ? &v->x : &v->w;
            double *got = api_alloc(arg->bytes);
            conv b = *v;
            b.y.ptr = ctx.g.ptr;
            (dir == DIR_DATA ? &b.x : &b.w)->ptr = got;
            cudnnStatus_t st = conv_run(&b, dir, algo, 1, 0);
            if (api_class(st) == NOSUP && (algo > 1 || !api_ours))
                continue;
            assert_int_equal(st, OK);
            api_sync();
            check_gradient(dir == DIR_DATA ? "dx" : "dw", conv_loss, &ctx, arg->ptr, got, arg->count);
        }
    tens_free(&ctx.g);
    conv_free(v);
}

static void gradients_conv(void **state)
{
    (void)state;
    conv_case c = {F64, F64, 2, 2, 4, 4, 1, {5, 6}, {3, 2}, {1, 0}, {2, 1}, {1, 2}, false, CUDNN_CROSS_CORRELATION, CUDNN_DEFAULT_MATH};
    check_conv(c);
    c.nhwc = true;
    c.groups = 2;
    check_conv(c);
    c.mode = CUDNN_CONVOLUTION;
    check_conv(c);
    conv_case c1 = {F64, F64, 1, 2, 2, 3, 1, {7}, {3}, {1}, {1}, {1}, false, CUDNN_CROSS_CORRELATION, CUDNN_DEFAULT_MATH};
    check_conv(c1);
    conv_case c3 = {F64, F64, 3, 1, 2, 2, 1, {3, 4, 3}, {2, 3, 1}, {1, 1, 0}, {1, 2, 1}, {1, 1, 1}, false, CUDNN_CONVOLUTION,
                    CUDNN_DEFAULT_MATH};
    check_conv(c3);
}

/* --- bias: y = x + b broadcast --- */
typedef struct unary {
    tens x, y, g;
    cudnnPoolingDescriptor_t pool;
    cudnnActivationDescriptor_t act;
    int algo, mode;
    tens b;
} unary;

static double bias_loss(void *p)
{
    unary *u = p;
    CALL(cudnnSetTensor, (api_handle(), u->y.desc, u->y.ptr, &zero));
    CALL(cudnnAddTensor, (api_handle(), &one, u->b.desc, u->b.ptr, &one, u->y.desc, u->y.ptr));
    return dot(&u->g, &u->y);
}

static unary unary_new(int n, int c, int h, int w, int oh, int ow)
{
    unary u = {.x = TENS4(F64, n, c, h, w), .y = TENS4(F64, n, c, oh, ow), .g = TENS4(F64, n, c, oh, ow)};
    spread(&u.x, 5);
    tens_random(&u.g, 6);
    data_free();
    return u;
}

static void unary_free(unary *u)
{
    tens_free(&u->x);
    tens_free(&u->y);
    tens_free(&u->g);
}

static void gradients_bias(void **state)
{
    (void)state;
    unary u = unary_new(2, 3, 4, 5, 4, 5);
    u.b = TENS4(F64, 1, 3, 1, 1);
    tens_random(&u.b, 7);
    double *db = api_alloc(3 * sizeof *db);
    CALL(cudnnConvolutionBackwardBias, (api_handle(), &one, u.g.desc, u.g.ptr, &zero, u.b.desc, db));
    api_sync();
    check_gradient("db", bias_loss, &u, u.b.ptr, db, 3);
    tens_free(&u.b);
    unary_free(&u);
}

/* --- pooling --- */
static double pool_loss(void *p)
{
    unary *u = p;
    CALL(cudnnPoolingForward, (api_handle(), u->pool, &one, u->x.desc, u->x.ptr, &zero, u->y.desc, u->y.ptr));
    return dot(&u->g, &u->y);
}

static void gradients_pool(void **state)
{
    (void)state;
    for (int mode = CUDNN_POOLING_MAX; mode <= CUDNN_POOLING_MAX_DETERMINISTIC; mode++) {
        unary u = unary_new(2, 2, 7, 6, 4, 3);
        double *dx = api_alloc(u.x.bytes);
        CALL(cudnnCreatePoolingDescriptor, (&u.pool));
        CALL(cudnnSetPooling2dDescriptor, (u.pool, mode, CUDNN_PROPAGATE_NAN, 3, 2, 1, 0, 2, 2));
        pool_loss(&u);
        CALL(cudnnPoolingBackward, (api_handle(), u.pool, &one, u.y.desc, u.y.ptr, u.g.desc, u.g.ptr, u.x.desc, u.x.ptr, &zero,
                                    u.x.desc, dx));
        api_sync();
        check_gradient("pool dx", pool_loss, &u, u.x.ptr, dx, u.x.count);
        CALL(cudnnDestroyPoolingDescriptor, (u.pool));
        unary_free(&u);
    }
}

/* --- activation --- */
static double act_loss(void *p)
{
    unary *u = p;
    CALL(cudnnActivationForward, (api_handle(), u->act, &one, u->x.desc, u->x.ptr, &zero, u->y.desc, u->y.ptr));
    return dot(&u->g, &u->y);
}

static void gradients_act(void **state)
{
    (void)state;
    for (int mode = CUDNN_ACTIVATION_SIGMOID; mode <= CUDNN_ACTIVATION_SWISH; mode++) {
        if (mode == CUDNN_ACTIVATION_IDENTITY)
            continue;  /* no case of its own in cudnnActivationForward */
        unary u = unary_new(1, 3, 4, 4, 4, 4);
        double *dx = api_alloc(u.x.bytes);
        CALL(cudnnCreateActivationDescriptor, (&u.act));
        CALL(cudnnSetActivationDescriptor, (u.act, mode, CUDNN_PROPAGATE_NAN, mode == CUDNN_ACTIVATION_RELU ? 0 : 0.7));
        if (mode == CUDNN_ACTIVATION_SWISH)
            CALL(cudnnSetActivationDescriptorSwishBeta, (u.act, 1.5));
        act_loss(&u);
        CALL(cudnnActivationBackward, (api_handle(), u.act, &one, u.y.desc, u.y.ptr, u.g.desc, u.g.ptr, u.x.desc, u.x.ptr, &zero,
                                       u.x.desc, dx));
        api_sync();
        check_gradient("activation dx", act_loss, &u, u.x.ptr, dx, u.x.count);
        CALL(cudnnDestroyActivationDescriptor, (u.act));
        unary_free(&u);
    }
}

/* --- softmax --- */
static double softmax_loss(void *p)
{
    unary *u = p;
    CALL(cudnnSoftmaxForward, (api_handle(), u->algo, u->mode, &one, u->x.desc, u->x.ptr, &zero, u->y.desc, u->y.ptr));
    return dot(&u->g, &u->y);
}

static void gradients_softmax(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        unary u = unary_new(2, 4, 2, 3, 2, 3);
        u.algo = k % 3;
        u.mode = k / 3;
        double *dx = api_alloc(u.x.bytes);
        softmax_loss(&u);
        CALL(cudnnSoftmaxBackward, (api_handle(), u.algo, u.mode, &one, u.y.desc, u.y.ptr, u.g.desc, u.g.ptr, &zero, u.x.desc, dx));
        api_sync();
        check_gradient("softmax dx", softmax_loss, &u, u.x.ptr, dx, u.x.count);
        unary_free(&u);
    }
}

/* --- batch normalisation --- */
typedef struct bn_ctx {
    tens x, y, g, p;
    double *scale, *bias, *mean, *inv;
    cudnnBatchNormMode_t mode;
} bn_ctx;

static double bn_loss(void *c)
{
    bn_ctx *b = c;
    CALL(cudnnBatchNormalizationForwardTraining, (api_handle(), b->mode, &one, &zero, b->x.desc, b->x.ptr, b->y.desc, b->y.ptr,
                                                  b->p.desc, b->scale, b->bias, 1.0, NULL, NULL, 1e-2, b->mean, b->inv));
    return dot(&b->g, &b->y);
}

static void gradients_batchnorm(void **state)
{
    (void)state;
    for (int mode = CUDNN_BATCHNORM_PER_ACTIVATION; mode <= CUDNN_BATCHNORM_SPATIAL_PERSISTENT; mode++)
        for (int saved = 0; saved < 2; saved++) {
            const bool per = mode == CUDNN_BATCHNORM_PER_ACTIVATION;
            bn_ctx b = {.x = TENS4(F64, 4, 2, 3, 2), .y = TENS4(F64, 4, 2, 3, 2), .g = TENS4(F64, 4, 2, 3, 2),
                        .p = TENS4(F64, 1, 2, per ? 3 : 1, per ? 2 : 1), .mode = mode};
            double **all[] = {&b.scale, &b.bias, &b.mean, &b.inv};
            for (int i = 0; i < 4; i++)
                *all[i] = api_alloc(b.p.bytes);
            spread(&b.x, 15);
            tens_random(&b.g, 16);
            data_free();
            for (int64_t i = 0; i < b.p.count; i++) {
                b.scale[i] = 1 + 0.1 * (double)i;
                b.bias[i] = 0.2 * (double)i;
            }
            double *dx = api_alloc(b.x.bytes), *ds = api_alloc(b.p.bytes), *db = api_alloc(b.p.bytes);
            bn_loss(&b);
            CALL(cudnnBatchNormalizationBackward, (api_handle(), mode, &one, &zero, &one, &zero, b.x.desc, b.x.ptr, b.g.desc, b.g.ptr,
                                                   b.x.desc, dx, b.p.desc, b.scale, ds, db, 1e-2, saved ? b.mean : NULL,
                                                   saved ? b.inv : NULL));
            api_sync();
            check_gradient("bn dx", bn_loss, &b, b.x.ptr, dx, b.x.count);
            check_gradient("dscale", bn_loss, &b, b.scale, ds, b.p.count);
            check_gradient("dbias", bn_loss, &b, b.bias, db, b.p.count);
            tens_free(&b.x);
            tens_free(&b.y);
            tens_free(&b.g);
            tens_free(&b.p);
        }
}

/* --- a chain: conv, bias, batch norm, tanh, average pool, log softmax --- */
typedef struct chain {
    conv v;
    tens bias, n, a, p, s, g, bp;
    double *scale, *shift, *mean, *inv;
    cudnnPoolingDescriptor_t pool;
    cudnnActivationDescriptor_t act;
} chain;

static double chain_loss(void *ctx)
{
    chain *c = ctx;
    cudnnHandle_t h = api_handle();
    tens *y = &c->v.y;
    assert_int_equal(conv_run_with(&c->v, DIR_FWD, 0, 1, 0, NULL, 0), OK);
    CALL(cudnnAddTensor, (h, &one, c->bias.desc, c->bias.ptr, &one, y->desc, y->ptr));
    CALL(cudnnBatchNormalizationForwardTraining, (h, CUDNN_BATCHNORM_SPATIAL, &one, &zero, y->desc, y->ptr, c->n.desc, c->n.ptr,
                                                  c->bp.desc, c->scale, c->shift, 1.0, NULL, NULL, 1e-2, c->mean, c->inv));
    CALL(cudnnActivationForward, (h, c->act, &one, c->n.desc, c->n.ptr, &zero, c->a.desc, c->a.ptr));
    CALL(cudnnPoolingForward, (h, c->pool, &one, c->a.desc, c->a.ptr, &zero, c->p.desc, c->p.ptr));
    CALL(cudnnSoftmaxForward, (h, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &one, c->p.desc, c->p.ptr, &zero, c->s.desc, c->s.ptr));
    return dot(&c->g, &c->s);
}

static void chain_make(chain *c)
{
    conv_case cc = {F64, F64, 2, 3, 2, 3, 1, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, false, CUDNN_CROSS_CORRELATION, CUDNN_DEFAULT_MATH};
    c->v = conv_new(&cc);
    c->bias = TENS4(F64, 1, 3, 1, 1);
    c->bp = TENS4(F64, 1, 3, 1, 1);
    c->n = TENS4(F64, 3, 3, 6, 6);
    c->a = TENS4(F64, 3, 3, 6, 6);
    c->p = TENS4(F64, 3, 3, 3, 3);
    c->s = TENS4(F64, 3, 3, 3, 3);
    c->g = TENS4(F64, 3, 3, 3, 3);
    tens_random(&c->bias, 1);
    tens_random(&c->g, 2);
    double **all[] = {&c->scale, &c->shift, &c->mean, &c->inv};
    for (int i = 0; i < 4; i++)
        *all[i] = api_alloc(3 * sizeof(double));
    for (int i = 0; i < 3; i++) {
        c->scale[i] = 1 + 0.25 * i;
        c->shift[i] = 0.5 - 0.25 * i;
    }
    CALL(cudnnCreatePoolingDescriptor, (&c->pool));
    CALL(cudnnSetPooling2dDescriptor, (c->pool, CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING, CUDNN_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2));
    CALL(cudnnCreateActivationDescriptor, (&c->act));
    CALL(cudnnSetActivationDescriptor, (c->act, CUDNN_ACTIVATION_TANH, CUDNN_PROPAGATE_NAN, 0));
    data_free();
}

static void chain_free(chain *c)
{
    tens *all[] = {&c->bias, &c->bp, &c->n, &c->a, &c->p, &c->s, &c->g};
    for (int i = 0; i < 7; i++)
        tens_free(all[i]);
    conv_free(&c->v);
    CALL(cudnnDestroyPoolingDescriptor, (c->pool));
    CALL(cudnnDestroyActivationDescriptor, (c->act));
}

static void gradients_chained(void **state)
{
    (void)state;
    chain c;
    chain_make(&c);
    chain_loss(&c);
    cudnnHandle_t h = api_handle();
    const tens *y = &c.v.y;
    double *gp = api_alloc(c.p.bytes), *ga = api_alloc(c.a.bytes), *gn = api_alloc(c.n.bytes), *gy = api_alloc(y->bytes);
    double *ds = api_alloc(24), *dt = api_alloc(24), *db = api_alloc(24), *dx = api_alloc(c.v.x.bytes), *dw = api_alloc(c.v.w.bytes);
    CALL(cudnnSoftmaxBackward, (h, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &one, c.s.desc, c.s.ptr, c.g.desc, c.g.ptr, &zero,
                                c.p.desc, gp));
    CALL(cudnnPoolingBackward, (h, c.pool, &one, c.p.desc, c.p.ptr, c.p.desc, gp, c.a.desc, c.a.ptr, &zero, c.a.desc, ga));
    CALL(cudnnActivationBackward, (h, c.act, &one, c.a.desc, c.a.ptr, c.a.desc, ga, c.n.desc, c.n.ptr, &zero, c.n.desc, gn));
    CALL(cudnnBatchNormalizationBackward, (h, CUDNN_BATCHNORM_SPATIAL, &one, &zero, &one, &zero, y->desc, y->ptr, c.n.desc, gn, y->desc,
                                           gy, c.bp.desc, c.scale, ds, dt, 1e-2, c.mean, c.inv));
    CALL(cudnnConvolutionBackwardBias, (h, &one, y->desc, gy, &zero, c.bias.desc, db));
    conv b = c.v;
    b.y.ptr = gy;
    b.x.ptr = dx;
    assert_int_equal(conv_run(&b, DIR_DATA, 1, 1, 0), OK);
    b.x.ptr = c.v.x.ptr;
    b.w.ptr = dw;
    assert_int_equal(conv_run(&b, DIR_FILTER, 1, 1, 0), OK);
    api_sync();
    check_gradient("dx", chain_loss, &c, c.v.x.ptr, dx, c.v.x.count);
    check_gradient("dw", chain_loss, &c, c.v.w.ptr, dw, c.v.w.count);
    check_gradient("dscale", chain_loss, &c, c.scale, ds, 3);
    check_gradient("dshift", chain_loss, &c, c.shift, dt, 3);
    check_gradient("db", chain_loss, &c, c.bias.ptr, db, 3);  /* about 0: batch norm takes a constant away */
    chain_free(&c);
}

static const struct CMUnitTest tests[] = {
    DATA_TEST(gradients_conv), DATA_TEST(gradients_bias), DATA_TEST(gradients_pool), DATA_TEST(gradients_act),
    DATA_TEST(gradients_softmax), DATA_TEST(gradients_batchnorm), DATA_TEST(gradients_chained),
};

API_MAIN(tests)
