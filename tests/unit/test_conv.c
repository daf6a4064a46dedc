/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution on ref: every algorithm number against the plain loop of conv_case.h. Integer-valued inputs must give the rounded
 * exact sum in every type; reals a bound by the sum of |products|. Gradients are also checked against finite differences. */
#include "conv_case.h"

#include "ref/conv.h"

#define XCORR .mode = CUDNN_CROSS_CORRELATION
#define CONV .mode = CUDNN_CONVOLUTION

static const shape shapes[] = {
    { 2, 1, 1, 1, 1, { 1, 1 }, { 1, 1 }, XCORR },
    { 2, 2, 3, 4, 1, { 5, 7 }, { 1, 1 }, XCORR },
    { 2, 2, 3, 5, 1, { 6, 5 }, { 3, 3 }, { 1, 1 }, XCORR },
    { 2, 2, 3, 5, 1, { 6, 5 }, { 3, 2 }, { 1, 1 }, CONV },
    { 2, 1, 2, 3, 1, { 9, 11 }, { 3, 5 }, { 0, 3 }, { 2, 3 }, XCORR },
    { 2, 1, 2, 3, 1, { 9, 11 }, { 3, 4 }, { 2, 1 }, { 3, 2 }, { 2, 3 }, CONV },
    { 2, 1, 2, 2, 1, { 2, 3 }, { 2, 3 }, { 5, 7 }, XCORR },               /* padding larger than the filter */
    { 2, 1, 2, 2, 1, { 4, 3 }, { 3, 1 }, { 6, 0 }, { 4, 5 }, { 2, 1 }, CONV },
    { 2, 3, 4, 6, 2, { 5, 5 }, { 3, 3 }, { 1, 0 }, XCORR },
    { 2, 2, 6, 9, 3, { 7, 5 }, { 2, 3 }, { 1, 1 }, { 2, 1 }, CONV },
    { 2, 2, 7, 7, 7, { 6, 6 }, { 3, 3 }, { 1, 1 }, XCORR },               /* depthwise */
    { 2, 2, 5, 10, 5, { 6, 6 }, { 5, 5 }, { 2, 2 }, { 2, 2 }, XCORR },    /* depthwise, two outputs each */
    { 2, 40, 37, 19, 1, { 1, 1 }, { 1, 1 }, XCORR },                      /* fully connected */
    { 2, 6, 5, 9, 1, { 4, 4 }, { 4, 4 }, XCORR },                         /* the window is the image */
    { 2, 1, 150, 9, 1, { 3, 4 }, { 2, 2 }, { 1, 0 }, XCORR },             /* reduction over several blocks */
    { 2, 1, 3, 70, 1, { 20, 19 }, { 3, 3 }, { 1, 1 }, { 1, 2 }, XCORR },  /* several tiles */
    { 2, 1, 1, 1, 1, { 3, 3 }, { 2, 2 }, { 0, 0 }, { 7, 9 }, XCORR },     /* stride larger than the image */
    { 2, 1, 2, 2, 1, { 13, 12 }, { 3, 3 }, { 2, 2 }, { 4, 6 }, { 2, 3 }, XCORR },  /* stride and dilation share factors */
    { 1, 3, 4, 5, 1, { 17 }, { 3 }, { 1 }, XCORR },
    { 1, 2, 2, 3, 1, { 23 }, { 4 }, { 3 }, { 3 }, { 2 }, CONV },
    { 1, 1, 1, 2, 1, { 600 }, { 9 }, { 4 }, XCORR },
    { 3, 2, 3, 4, 1, { 4, 5, 3 }, { 2, 3, 3 }, { 1, 1, 0 }, XCORR },
    { 3, 1, 4, 4, 2, { 5, 5, 5 }, { 3, 1, 1 }, { 1, 0, 0 }, { 2, 1, 2 }, CONV },
    { 4, 1, 2, 2, 1, { 3, 2, 3, 4 }, { 2, 2, 1, 3 }, { 0, 1, 0, 1 }, { 1, 2 }, XCORR },
    { 5, 2, 1, 2, 1, { 2, 3, 2, 3, 2 }, { 2, 2, 1, 2, 2 }, { 1, 0, 0, 1 }, CONV },
    { 6, 1, 2, 2, 2, { 2, 2, 3, 2, 2, 3 }, { 1, 2, 2, 2, 1, 2 }, { 0, 1, 0, 0, 0, 1 }, { 1, 1, 2 }, XCORR },
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void fill_integers(conv *c, uint32_t seed)
{
    tens_integers(&c->x, 3, seed);
    tens_integers(&c->w, 3, seed + 1);
    tens_integers(&c->y, 3, seed + 2);
}

static void check_all(conv *c)
{
    sums s = sums_of(c);
    for (int dir = 0; dir < 3; dir++)
        for (const int *algo = directions[dir].algos; *algo >= 0; algo++) {
            conv_check_exact(c, dir, *algo, 1, 0, sum_of(&s, dir));
            conv_check_exact(c, dir, *algo, 2, 1, sum_of(&s, dir));
            conv_check_exact(c, dir, *algo, -0.5, 0.25, sum_of(&s, dir));
        }
    sums_free(&s);
}

static void every_shape_layout_and_algorithm(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++)
        for (int lay = 0; lay < LAYOUTS; lay++) {
            conv c = conv_make(shapes[i], DN_F32, DN_F32, (layout)lay, lay & 1 ? CHANNELS_LAST : PACKED);
            fill_integers(&c, (uint32_t)i);
            check_all(&c);
            conv_free(&c);
        }
}

static void every_type(void **state)
{
    static const dn_dtype types[] = { DN_F64, DN_F16, DN_BF16 };
    (void)state;
    for (int i = 0; i < SHAPES; i++)
        for (int t = 0; t < 3; t++) {
            conv c = conv_make(shapes[i], types[t], types[t], i & 1 ? GAPS : PACKED, i & 2 ? CHANNELS_LAST : PACKED);
            fill_integers(&c, (uint32_t)i + 100);
            check_all(&c);
            conv_free(&c);
        }
}

/* Integers saturate; the output may be of another type than the inputs. */
static void integers(void **state)
{
    static const dn_dtype outs[] = { DN_I8, DN_I32, DN_F32 };
    (void)state;
    for (int o = 0; o < 3; o++) {
        conv c = conv_make(shapes[2], DN_I8, outs[o], PACKED, PACKED);
        tens_integers(&c.x, 100, 1);
        tens_integers(&c.w, 100, 2);
        tens_integers(&c.y, 3, 3);
        sums s = sums_of(&c);
        for (int algo = 0; algo < 4; algo++)
            conv_check_exact(&c, 0, algo, 1, 0, s.y);
        sums_free(&s);
        conv_free(&c);
    }
}

/* Reductions of reals over many blocks and many parts of the filter's sum; columns written out in several rounds. */
static void check_reals(shape large)
{
    conv c = conv_make(large, DN_F32, DN_F32, PACKED, PACKED);
    tens_reals(&c.x, 5);
    tens_reals(&c.w, 6);
    tens_reals(&c.y, 7);
    sums s = sums_of(&c);
    for (int dir = 0; dir < 3; dir++)
        for (const int *algo = directions[dir].algos; *algo >= 0; algo++) {
            tens *out = written_by(&c, dir);
            double *before = values_of(out);
            directions[dir].run(&c, *algo, 1, 0);
            for (int64_t i = 0; i < out->count; i++)
                tens_close(out, i, sum_of(&s, dir)[i], 6e-8 * fabs(sum_of(&s, dir)[i]) + 1e-13 * abs_of(&s, dir)[i]);
            conv_watch(&c);
            for (int64_t i = 0; i < out->count; i++)
                tens_set(out, i, before[i]);
            free(before);
        }
    sums_free(&s);
    conv_free(&c);
}

static void reals(void **state)
{
    static const shape deep = { 2, 3, 48, 65, 1, { 29, 31 }, { 3, 3 }, { 1, 1 }, XCORR };
    static const shape wide = { 2, 1, 66, 3, 1, { 64, 65 }, { 3, 3 }, { 1, 1 }, XCORR };
    (void)state;
    check_reals(deep);
    check_reals(wide);
}

/* Images larger than the slab that backward data adds into. */
static void large_images(void **state)
{
    static const shape flat = { 2, 1, 1, 2, 1, { 403, 350 }, { 3, 2 }, { 1, 1 }, { 1, 2 }, { 2, 1 }, XCORR };
    static const shape line = { 1, 1, 1, 1, 1, { 140003 }, { 5 }, { 2 }, { 2 }, { 1 }, CONV };
    static const shape *const all[] = { &flat, &line };
    (void)state;
    for (int i = 0; i < 2; i++) {
        conv c = conv_make(*all[i], DN_F32, DN_F32, PACKED, PACKED);
        fill_integers(&c, 1);
        sums s = sums_of(&c);
        conv_check_exact(&c, 0, 1, 1, 0, s.y);
        conv_check_exact(&c, 1, 0, 1, 0, s.x);
        conv_check_exact(&c, 1, 1, 1, 1, s.x);
        sums_free(&s);
        conv_free(&c);
    }
}

/* The kernels of every instruction set that this processor has, not only of the one it would choose. */
static void check_kernel(const dn_conv_kernel *k)
{
    enum { LEN = 37, LDC = 30 };
    double a[LEN * 8], b[LEN * 24], c[8 * LDC], row[240], panels[240];
    assert_true(k->mr <= 8 && k->nr <= 24 && DN_CONV_NC % k->nr == 0 && DN_CONV_MC % k->mr == 0);
    for (int i = 0; i < LEN * 8; i++)
        a[i] = i % 11 - 5;
    for (int i = 0; i < LEN * 24; i++)
        b[i] = i % 7 - 3;
    for (int i = 0; i < 8 * LDC; i++)
        c[i] = i;
    k->tile(LEN, a, b, c, LDC);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < LDC; j++) {
            double want = i * LDC + j;
            for (int l = 0; l < LEN && i < k->mr && j < k->nr; l++)
                want += a[l * k->mr + i] * b[l * k->nr + j];
            assert_true(c[i * LDC + j] == want);
        }
    for (int i = 0; i < 8 * LDC; i++)
        c[i] = i;
    k->axpy(LDC - 1, a, b, c, LDC);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < LDC; j++)
            assert_true(c[i * LDC + j] == i * LDC + j + (i < k->mr && j < LDC - 1 ? a[i] * b[j] : 0));
    for (int i = 0; i < 240; i++)
        row[i] = i;
    k->spread(240, row, panels, k->nr);
    assert_memory_equal(row, panels, sizeof row);
    assert_true(k->sum(239, row) == 239 * 119);
}

static void kernels(void **state)
{
    (void)state;
    check_kernel(&dn_conv_kernel_base);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        check_kernel(&dn_conv_kernel_avx2);
#endif
    check_kernel(dn_conv_kernel_get());
}

/* --- gradients --- */

static double inner_product(conv *c, const double *dy)
{
    double total = 0;
    run_forward(c, 0, 1, 0);
    for (int64_t i = 0; i < c->y.count; i++)
        total += dy[i] * tens_get(&c->y, i);
    return total;
}

/* d(sum of dy * y) / d(element) by central differences. */
static void check_gradient(conv *c, tens *by, const double *gradient, const double *dy)
{
    const double step = 1e-4;
    for (int64_t i = 0; i < by->count; i++) {
        double v = tens_get(by, i);
        tens_set(by, i, v + step);
        double up = inner_product(c, dy);
        tens_set(by, i, v - step);
        double down = inner_product(c, dy);
        tens_set(by, i, v);
        double got = (up - down) / (2 * step);
        if (!(fabs(got - gradient[i]) <= 1e-7 * (1 + fabs(got))))
            fail_msg("element %lld: gradient %.12g, difference %.12g", (long long)i, gradient[i], got);
    }
}

static void gradients_are_finite_differences(void **state)
{
    static const int chosen[] = { 2, 5, 8, 17, 19, 22 };
    (void)state;
    for (int t = 0; t < 6; t++) {
        conv c = conv_make(shapes[chosen[t]], DN_F64, DN_F64, PACKED, PACKED);
        tens_reals(&c.x, 1);
        tens_reals(&c.w, 2);
        tens_reals(&c.y, 3);
        double *x = values_of(&c.x), *w = values_of(&c.w), *dy = values_of(&c.y);
        for (int dir = 1; dir < 3; dir++)
            for (const int *algo = directions[dir].algos; *algo >= 0; algo++) {
                tens *out = written_by(&c, dir);
                for (int64_t i = 0; i < c.y.count; i++)
                    tens_set(&c.y, i, dy[i]);
                directions[dir].run(&c, *algo, 1, 0);
                double *gradient = values_of(out);
                for (int64_t i = 0; i < out->count; i++)
                    tens_set(out, i, dir == 1 ? x[i] : w[i]);
                check_gradient(&c, out, gradient, dy);
                free(gradient);
            }
        free(x);
        free(w);
        free(dy);
        conv_free(&c);
    }
}

/* y = conv + bias: the gradient by the bias is the sum of dy per channel, in any layout and type. */
static void bias_gradient(void **state)
{
    static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };
    (void)state;
    for (int i = 0; i < SHAPES; i++)
        for (int lay = 0; lay < LAYOUTS; lay++) {
            conv c = conv_make(shapes[i], types[i & 3], types[i & 3], (layout)lay, PACKED);
            tens_integers(&c.y, 3, 9);
            scalar a = scalar_of(c.y.type, 2), zero = scalar_of(c.y.type, 0), one = scalar_of(c.y.type, 1);
            int64_t per_image = c.y.count / c.s.n, per_channel = per_image / c.s.k;
            OK(cudnnConvolutionBackwardBias(handle, &a, c.y.desc, c.y.data, &zero, c.b.desc, c.b.data));
            OK(cudnnConvolutionBackwardBias(handle, &a, c.y.desc, c.y.data, &one, c.b.desc, c.b.data));
            for (int k = 0; k < c.s.k; k++) {
                double sum = 0;
                for (int64_t e = 0; e < c.y.count; e++)
                    if (e % per_image / per_channel == k)
                        sum += tens_get(&c.y, e);
                double want = tens_rounded(&c.b, 2 * sum + tens_rounded(&c.b, 2 * sum));
                assert_true(tens_get(&c.b, k) == want);
            }
            conv_watch(&c);
            conv_free(&c);
        }
}

/* --- bias and activation --- */

typedef struct activation {
    cudnnActivationMode_t mode;
    double coef;
} activation;

static double activate(const activation *act, double v)
{
    switch (act->mode) {
    case CUDNN_ACTIVATION_SIGMOID: return 1 / (1 + exp(-v));
    case CUDNN_ACTIVATION_RELU: return v > 0 ? v : 0;
    case CUDNN_ACTIVATION_TANH: return tanh(v);
    case CUDNN_ACTIVATION_CLIPPED_RELU: return v > act->coef ? act->coef : v > 0 ? v : 0;
    case CUDNN_ACTIVATION_ELU: return v > 0 ? v : act->coef * (exp(v) - 1);
    default: return v;
    }
}

static void run_fused(conv *c, int algo, const activation *act, double alpha2, tens *z)
{
    size_t size;
    scalar a = scalar_of(c->y.type, 0.5), b = scalar_of(c->y.type, alpha2);
    cudnnActivationDescriptor_t desc;
    OK(cudnnCreateActivationDescriptor(&desc));
    OK(cudnnSetActivationDescriptor(desc, act->mode, CUDNN_PROPAGATE_NAN, act->coef));
    OK(cudnnGetConvolutionForwardWorkspaceSize(handle, c->x.desc, c->w_desc, c->desc, c->y.desc, (cudnnConvolutionFwdAlgo_t)algo, &size));
    space ws = space_make(size);
    OK(cudnnConvolutionBiasActivationForward(handle, &a, c->x.desc, c->x.data, c->w_desc, c->w.data, c->desc,
                                             (cudnnConvolutionFwdAlgo_t)algo, ws.ptr, size, &b, z->desc, z->data, c->b.desc,
                                             c->b.data, desc, c->y.desc, c->y.data));
    space_free(&ws);
    OK(cudnnDestroyActivationDescriptor(desc));
}

static void check_fused(conv *c, int algo, const activation *act, double alpha2, int in_place)
{
    sums s = sums_of(c);
    int64_t per_image = c->y.count / c->s.n, per_channel = per_image / c->s.k;
    double *before = values_of(in_place ? &c->y : &c->z);
    for (int64_t i = 0; alpha2 == 0 && i < c->z.count; i++)
        tens_set(&c->z, i, NAN);  /* must not be read */
    run_fused(c, algo, act, alpha2, in_place ? &c->y : &c->z);
    for (int64_t i = 0; i < c->y.count; i++) {
        double v = 0.5 * s.y[i] + (alpha2 != 0 ? alpha2 * before[i] : 0) + tens_get(&c->b, i % per_image / per_channel);
        double want = activate(act, v);
        tens_close(&c->y, i, tens_rounded(&c->y, want), type_epsilon(c->y.type) * fabs(want));
    }
    conv_watch(c);
    free(before);
    sums_free(&s);
}

static void bias_and_activation(void **state)
{
    static const activation acts[] = { { CUDNN_ACTIVATION_RELU, 0 }, { CUDNN_ACTIVATION_IDENTITY, 0 }, { CUDNN_ACTIVATION_SIGMOID, 0 },
                                       { CUDNN_ACTIVATION_TANH, 0 }, { CUDNN_ACTIVATION_CLIPPED_RELU, 2 }, { CUDNN_ACTIVATION_ELU, 1 } };
    static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };
    static const int algos[] = { 0, 1, 2, 3, 6, 7 };
    (void)state;
    for (int i = 0; i < 6; i++)
        for (int a = 0; a < 6; a++)
            for (int way = 0; way < 3; way++) {  /* z beside y, z is y, z not read */
                int algo = algos[a];
                if (acts[i].mode == CUDNN_ACTIVATION_IDENTITY && algo != 1)
                    continue;
                conv c = conv_make(shapes[way == 0 && algo < 4 ? 9 : 2], types[(i + way) & 3], types[(i + way) & 3], (layout)way, PACKED);
                fill_integers(&c, (uint32_t)i);
                tens_integers(&c.z, 3, 8);
                tens_integers(&c.b, 3, 9);
                check_fused(&c, algo, &acts[i], way == 2 ? 0 : 2, way == 1);
                conv_free(&c);
            }
}

/* --- properties --- */

static void bits_do_not_change(void **state)
{
    static const shape s = { 2, 9, 16, 24, 1, { 27, 25 }, { 3, 3 }, { 1, 1 }, XCORR };
    (void)state;
    conv c = conv_make(s, DN_F32, DN_F32, PACKED, PACKED);
    for (int dir = 0; dir < 3; dir++)
        for (const int *algo = directions[dir].algos; *algo >= 0; algo++)
            conv_check_bits(&c, dir, *algo);
    conv_free(&c);
}

/* pytorch #59515: a batch of 1251 gives in its first 1250 images the bits of a batch of 1250. */
static void images_do_not_depend_on_the_batch(void **state)
{
    shape s = { 1, 1251, 8, 8, 1, { 8 }, { 3 }, { 1 }, XCORR };
    (void)state;
    conv more = conv_make(s, DN_F16, DN_F16, PACKED, PACKED);
    s.n = 1250;
    conv less = conv_make(s, DN_F16, DN_F16, PACKED, PACKED);
    for (int algo = 0; algo < 4; algo++) {
        tens_reals(&more.x, 5);
        tens_reals(&less.x, 5);
        tens_reals(&more.w, 6);
        tens_reals(&less.w, 6);
        run_forward(&more, algo, 1, 0);
        run_forward(&less, algo, 1, 0);
        for (int64_t i = 0; i < less.y.count; i++)
            assert_true(tens_get(&more.y, i) == tens_get(&less.y, i));
    }
    conv_free(&more);
    conv_free(&less);
}

/* pytorch #117736: channels 2^31 + 8 halves apart. The strides do not fit the API's int, so the problem is made inside. */
static void offsets_pass_2_to_31(void **state)
{
    const int64_t apart = ((int64_t)1 << 31) + 8;
    (void)state;
    uint16_t *x = calloc((size_t)apart + 64, sizeof *x), w[18], y[64];  /* two pages of 4 GiB are touched */
    if (!x)
        skip();
    dn_problem p;
    dn_problem_init(&p, DN_OP_CONV, DN_DIR_FWD);
    p.u.conv = (dn_conv_param){ .spatial = 2, .mode = 1, .groups = 1, .pad = { 1, 1 }, .stride = { 1, 1 }, .dilation = { 1, 1 } };
    p.compute = DN_F32;
    p.flags = DN_F_BETA_ZERO;
    p.t[DN_X] = (dn_tensor){ .type = DN_F16, .rank = 4, .vect = 1, .dims = { 1, 2, 8, 8 }, .strides = { 2 * apart, apart, 8, 1 } };
    p.t[DN_W] = (dn_tensor){ .type = DN_F16, .rank = 4, .vect = 1, .dims = { 1, 2, 3, 3 }, .strides = { 18, 9, 3, 1 } };
    p.t[DN_Y] = (dn_tensor){ .type = DN_F16, .rank = 4, .vect = 1, .dims = { 1, 1, 8, 8 }, .strides = { 64, 64, 8, 1 } };
    for (int i = 0; i < 64; i++) {
        dn_store(DN_F16, x, i, i % 7);
        dn_store(DN_F16, x, apart + i, i % 5);
        dn_store(DN_F16, y, i, i % 3);
    }
    for (int i = 0; i < 18; i++)
        dn_store(DN_F16, w, i, 1);
    assert_int_equal(dn_conv_check(&p), DN_SUCCESS);
    dn_args a = { .ptr = { x, y, w }, .alpha = 1 };
    double want[64] = { 0 }, dx[2] = { 0 };
    for (int o = 0; o < 64; o++)
        for (int t = 0; t < 9; t++) {
            int h = o / 8 + t / 3 - 1, v = o % 8 + t % 3 - 1;
            if (h >= 0 && h < 8 && v >= 0 && v < 8)
                want[o] += (h * 8 + v) % 7 + (h * 8 + v) % 5;
        }
    for (int algo = 0; algo < 4; algo++) {
        size_t need = 0;
        p.algo = (int16_t)algo;
        assert_int_equal(dn_plan_workspace((dn_handle *)handle, &p, &need), DN_SUCCESS);
        space ws = space_make(need);
        a.workspace = ws.ptr;
        a.workspace_size = need;
        assert_int_equal(dn_run((dn_handle *)handle, &p, &a), DN_SUCCESS);
        for (int o = 0; o < 64; o++)
            assert_true(dn_load(DN_F16, y, o) == want[o]);
        space_free(&ws);
    }
    for (int o = 0; o < 64; o++)
        dn_store(DN_F16, y, o, 1);
    p.dir = DN_DIR_BWD_DATA;
    for (int algo = 0; algo < 2; algo++) {
        p.algo = (int16_t)algo;
        assert_int_equal(dn_run((dn_handle *)handle, &p, &a), DN_SUCCESS);
        dx[0] = dn_load(DN_F16, x, apart + 9);
        dx[1] = dn_load(DN_F16, x, apart + 63);
        assert_true(dx[0] == 9 && dx[1] == 4);
    }
    free(x);
}

/* A pointer one byte off any alignment is computed rightly. */
static void misaligned_pointers(void **state)
{
    static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16 };
    (void)state;
    for (int t = 0; t < 3; t++) {
        conv c = conv_make(shapes[2], types[t], types[t], PACKED, PACKED);
        fill_integers(&c, 1);
        sums s = sums_of(&c);
        size_t size = dn_dtype_size(types[t]), bytes = (size_t)c.x.count * size, out_bytes = (size_t)c.y.count * size;
        unsigned char *x = malloc(bytes + 1), *y = malloc(out_bytes + 1);
        assert_true(x && y);
        memcpy(x + 1, c.x.data, bytes);
        scalar one = scalar_of(types[t], 1), zero = scalar_of(types[t], 0);
        for (int algo = 0; algo < 4; algo += 3) {
            OK(cudnnConvolutionForward(handle, &one, c.x.desc, x + 1, c.w_desc, c.w.data, c.desc, (cudnnConvolutionFwdAlgo_t)algo, NULL,
                                       0, &zero, c.y.desc, y + 1));
            for (int64_t i = 0; i < c.y.count; i++)
                assert_true(dn_load(types[t], y + 1, i) == s.y[i]);
        }
        free(x);
        free(y);
        sums_free(&s);
        conv_free(&c);
    }
}

int main(void)
{
    setenv("ANYDNN_ENGINE", "ref", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_layout_and_algorithm),
        cmocka_unit_test(every_type),
        cmocka_unit_test(integers),
        cmocka_unit_test(reals),
        cmocka_unit_test(large_images),
        cmocka_unit_test(kernels),
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(bias_gradient),
        cmocka_unit_test(bias_and_activation),
        cmocka_unit_test(bits_do_not_change),
        cmocka_unit_test(images_do_not_depend_on_the_batch),
        cmocka_unit_test(offsets_pass_2_to_31),
        cmocka_unit_test(misaligned_pointers),
    };
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
