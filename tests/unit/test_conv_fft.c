/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution through the frequency domain: every FFT number of ref against the plain loop of conv_case.h. An output may be off by
 * its rounding, and by roundings in double of the largest sum of |products|. Transforms and kernels are checked by themselves, for
 * every instruction set that this processor has. */
#include "conv_case.h"

#include "core/os.h"
#include "ref/conv.h"
#include "ref/fft.h"

#define XCORR .mode = CUDNN_CROSS_CORRELATION
#define CONV .mode = CUDNN_CONVOLUTION

static const direction fft[3] = {
    { "forward", run_forward, { 4, 5, -1 } },
    { "backward data", run_backward_data, { 2, 3, -1 } },
    { "backward filter", run_backward_filter, { 2, 6, -1 } },
};

static const shape shapes[] = {
    { 2, 1, 1, 1, 1, { 1, 1 }, { 1, 1 }, XCORR },
    { 2, 2, 3, 4, 1, { 5, 7 }, { 1, 1 }, XCORR },
    { 2, 2, 3, 5, 1, { 6, 5 }, { 3, 3 }, { 1, 1 }, XCORR },
    { 2, 2, 3, 5, 1, { 6, 5 }, { 3, 2 }, { 1, 1 }, CONV },
    { 2, 3, 17, 18, 1, { 13, 9 }, { 5, 3 }, { 2, 0 }, CONV },              /* channels in two panels */
    { 2, 1, 2, 3, 1, { 9, 11 }, { 3, 5 }, { 0, 3 }, XCORR },
    { 2, 1, 2, 3, 1, { 1, 1 }, { 5, 3 }, { 4, 1 }, XCORR },                /* one pixel, padding just below the filter */
    { 2, 2, 2, 2, 1, { 3, 2 }, { 7, 7 }, { 6, 5 }, CONV },                 /* filter larger than the image */
    { 2, 3, 4, 6, 2, { 8, 5 }, { 3, 3 }, { 1, 0 }, XCORR },
    { 2, 2, 7, 7, 7, { 6, 6 }, { 3, 3 }, { 1, 1 }, XCORR },
    { 2, 6, 5, 9, 1, { 4, 4 }, { 4, 4 }, XCORR },                          /* the window is the image */
    { 2, 2, 3, 2, 1, { 75, 70 }, { 5, 5 }, { 2, 2 }, XCORR },              /* several tiles, the last ones partial */
    { 2, 1, 2, 2, 1, { 41, 90 }, { 11, 7 }, { 5, 3 }, CONV },
    { 2, 1, 2, 1, 1, { 70, 40 }, { 32, 31 }, { 4, 30 }, XCORR },           /* the largest filters of tiling */
    { 2, 1, 1, 2, 1, { 200, 1 }, { 9, 1 }, { 4, 0 }, CONV },               /* one column wide */
    { 2, 1, 2, 1, 1, { 1, 200 }, { 1, 120 }, { 0, 20 }, XCORR },
    { 1, 3, 4, 5, 1, { 17 }, { 3 }, { 1 }, XCORR },
    { 1, 2, 2, 3, 1, { 240 }, { 31 }, { 8 }, CONV },
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void fill_reals(conv *c, uint32_t seed)
{
    tens_reals(&c->x, seed);
    tens_reals(&c->w, seed + 1);
    tens_reals(&c->y, seed + 2);
}

static double largest(const double *v, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fabs(v[i]) > most ? fabs(v[i]) : most;
    return most;
}

/* alpha * sum + beta * before; NaN before goes nowhere at beta 0. What the call wrote is put back. */
static void check_close(conv *c, int dir, int algo, double alpha, double beta, const sums *s)
{
    tens *out = written_by(c, dir);
    double *before = values_of(out), bound = 1e-14 * fabs(alpha) * largest(abs_of(s, dir), out->count);
    if (beta == 0)
        for (int64_t i = 0; i < out->count; i++)
            tens_set(out, i, NAN);
    fft[dir].run(c, algo, alpha, beta);
    for (int64_t i = 0; i < out->count; i++) {
        double want = alpha * sum_of(s, dir)[i] + (beta == 0 ? 0 : beta * before[i]), got = tens_get(out, i);
        if (got != tens_rounded(out, want) && !(fabs(got - want) <= bound + type_epsilon(out->type) * fabs(want)))
            fail_msg("%s %d: element %lld is %.17g, not %.17g", fft[dir].name, algo, (long long)i, got, want);
    }
    conv_watch(c);
    for (int64_t i = 0; i < out->count; i++)
        tens_set(out, i, before[i]);
    free(before);
}

static void check_all(conv *c)
{
    sums s = sums_of(c);
    for (int dir = 0; dir < 3; dir++)
        for (const int *algo = fft[dir].algos; *algo >= 0; algo++) {
            check_close(c, dir, *algo, 1, 0, &s);
            check_close(c, dir, *algo, -0.5, 0.25, &s);
        }
    sums_free(&s);
}

static void every_shape_and_layout(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++)
        for (int lay = 0; lay < LAYOUTS; lay++) {
            conv c = conv_make(shapes[i], DN_F32, DN_F32, (layout)lay, lay & 1 ? CHANNELS_LAST : PACKED);
            fill_reals(&c, (uint32_t)i);
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
            fill_reals(&c, (uint32_t)i + 100);
            check_all(&c);
            conv_free(&c);
        }
}

/* Spectra that do not fit the workspace at once are made in parts of m, j and l; compared with the implicit GEMM row. */
static void parts(void **state)
{
    static const shape all[] = { { 2, 1, 30, 33, 1, { 131, 120 }, { 3, 3 }, { 1, 1 }, XCORR },
                                 { 2, 90, 17, 3, 1, { 100, 60 }, { 2, 2 }, { 1, 1 }, XCORR },
                                 { 2, 1, 130, 64, 1, { 62, 61 }, { 3, 3 }, { 1, 1 }, CONV },
                                 { 2, 1, 40, 34, 2, { 180, 200 }, { 3, 2 }, { 1, 1 }, CONV } };
    (void)state;
    for (int i = 0; i < 4; i++) {
        conv c = conv_make(all[i], DN_F64, DN_F64, PACKED, PACKED);
        fill_reals(&c, 5);
        for (int dir = 0; dir < 3; dir++)
            for (const int *algo = fft[dir].algos; *algo >= 0; algo++) {
                tens *out = written_by(&c, dir);
                double *before = values_of(out);
                fft[dir].run(&c, 1, 1, 0);
                double *want = values_of(out), bound = 1e-12 * largest(want, out->count);
                for (int64_t e = 0; e < out->count; e++)
                    tens_set(out, e, NAN);
                fft[dir].run(&c, *algo, 1, 0);
                for (int64_t e = 0; e < out->count; e++)
                    tens_close(out, e, want[e], bound);
                for (int64_t e = 0; e < out->count; e++)
                    tens_set(out, e, before[e]);
                free(want);
                free(before);
            }
        conv_free(&c);
    }
}

/* --- bits --- */

typedef struct nested {
    conv *c;
    int dir, algo;
} nested;

static void run_nested(void *ctx, int64_t begin, int64_t end)
{
    const nested *n = ctx;
    (void)end;
    if (begin == 0)
        fft[n->dir].run(n->c, n->algo, 1, 0);
}

/* From run to run, and also inside a parallel loop, where all work stays on one thread. */
static void bits_do_not_change(void **state)
{
    static const shape s = { 2, 3, 20, 24, 1, { 28, 27 }, { 5, 5 }, { 2, 2 }, XCORR };
    (void)state;
    conv c = conv_make(s, DN_F32, DN_F32, PACKED, PACKED);
    for (int dir = 0; dir < 3; dir++)
        for (const int *algo = fft[dir].algos; *algo >= 0; algo++) {
            tens *out = written_by(&c, dir);
            fill_reals(&c, 5);
            fft[dir].run(&c, *algo, 1, 0);
            unsigned char *first = malloc(out->bytes);
            assert_non_null(first);
            memcpy(first, out->memory, out->bytes);
            nested n = { &c, dir, *algo };
            for (int again = 0; again < 20; again++) {
                if (again & 1)
                    dn_parallel(2, 1, run_nested, &n);
                else
                    fft[dir].run(&c, *algo, 1, 0);
                assert_memory_equal(first, out->memory, out->bytes);
            }
            free(first);
        }
    conv_free(&c);
}

/* --- bias and activation --- */

static void check_fused(int algo, layout lay, double alpha2, bool in_place)
{
    static const shape s = { 2, 2, 6, 22, 2, { 45, 9 }, { 5, 3 }, { 2, 1 }, XCORR };
    size_t size;
    float a = 0.5f, b = (float)alpha2;
    cudnnActivationDescriptor_t act;
    conv c = conv_make(s, DN_F32, DN_F32, lay, PACKED);
    fill_reals(&c, 3);
    tens_reals(&c.z, 8);
    tens_reals(&c.b, 9);
    tens *z = in_place ? &c.y : &c.z;
    sums sum = sums_of(&c);
    double *before = values_of(z), bound = 1e-14 * largest(sum.y_abs, c.y.count);
    int64_t per_image = c.y.count / s.n, per_channel = per_image / s.k;
    for (int64_t i = 0; alpha2 == 0 && i < c.z.count; i++)
        tens_set(&c.z, i, NAN);  /* must not be read */
    OK(cudnnCreateActivationDescriptor(&act));
    OK(cudnnSetActivationDescriptor(act, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
    OK(cudnnGetConvolutionForwardWorkspaceSize(handle, c.x.desc, c.w_desc, c.desc, c.y.desc, (cudnnConvolutionFwdAlgo_t)algo, &size));
    space ws = space_make(size);
    OK(cudnnConvolutionBiasActivationForward(handle, &a, c.x.desc, c.x.data, c.w_desc, c.w.data, c.desc, (cudnnConvolutionFwdAlgo_t)algo,
                                             ws.ptr, size, &b, z->desc, z->data, c.b.desc, c.b.data, act, c.y.desc, c.y.data));
    space_free(&ws);
    for (int64_t i = 0; i < c.y.count; i++) {
        double v = 0.5 * sum.y[i] + (alpha2 != 0 ? alpha2 * before[i] : 0) + tens_get(&c.b, i % per_image / per_channel);
        tens_close(&c.y, i, v > 0 ? v : 0, bound + type_epsilon(DN_F32) * fabs(v));
    }
    conv_watch(&c);
    OK(cudnnDestroyActivationDescriptor(act));
    free(before);
    sums_free(&sum);
    conv_free(&c);
}

static void bias_and_activation(void **state)
{
    (void)state;
    for (int algo = 4; algo < 6; algo++)
        for (int lay = 0; lay < LAYOUTS; lay++) {
            check_fused(algo, (layout)lay, 2, false);
            check_fused(algo, (layout)lay, -1, true);
            check_fused(algo, (layout)lay, 0, false);
        }
}

/* --- what is refused, and where the rows stand --- */

static void refuses(shape s, dn_dtype type, int whole, int tiling)
{
    static const char *const words[] = { "", "needs types f32", "needs 1 or 2 spatial", "needs stride 1", "needs dilation 1",
                                         "needs a filter larger than the padding", "needs an input of at most 256",
                                         "needs a filter of at most 32 x 32" };
    static const int number[3][2] = { { 4, 5 }, { 2, 3 }, { 2, 6 } };
    conv c = conv_make(s, type, type, PACKED, PACKED);
    for (int dir = 0; dir < 3; dir++)
        for (int way = 0; way < 2; way++) {
            size_t size = 0;
            int algo = number[dir][way], word = way ? tiling : whole;
            cudnnStatus_t st =
                dir == 0   ? cudnnGetConvolutionForwardWorkspaceSize(handle, c.x.desc, c.w_desc, c.desc, c.y.desc,
                                                                     (cudnnConvolutionFwdAlgo_t)algo, &size)
                : dir == 1 ? cudnnGetConvolutionBackwardDataWorkspaceSize(handle, c.w_desc, c.y.desc, c.desc, c.x.desc,
                                                                          (cudnnConvolutionBwdDataAlgo_t)algo, &size)
                           : cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, c.x.desc, c.y.desc, c.desc, c.w_desc,
                                                                            (cudnnConvolutionBwdFilterAlgo_t)algo, &size);
            assert_int_equal(st, word ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS);
            if (word && !strstr(dn_error_text(), words[word]))
                fail_msg("\"%s\" does not say \"%s\"", dn_error_text(), words[word]);
        }
    conv_free(&c);
}

static void limits(void **state)
{
    (void)state;
    refuses((shape){ 2, 1, 2, 2, 1, { 8, 8 }, { 3, 3 }, { 2, 2 }, XCORR }, DN_F32, 0, 0);
    refuses((shape){ 2, 1, 2, 2, 1, { 8, 8 }, { 3, 3 }, XCORR }, DN_I8, 1, 1);
    refuses((shape){ 3, 1, 2, 2, 1, { 4, 5, 3 }, { 2, 3, 3 }, XCORR }, DN_F32, 2, 2);
    refuses((shape){ 2, 1, 2, 2, 1, { 8, 8 }, { 3, 3 }, { 1, 1 }, { 1, 2 }, XCORR }, DN_F32, 3, 3);
    refuses((shape){ 2, 1, 2, 2, 1, { 8, 8 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 2, 1 }, XCORR }, DN_F32, 4, 4);
    refuses((shape){ 2, 1, 2, 2, 1, { 8, 8 }, { 3, 3 }, { 3, 1 }, XCORR }, DN_F32, 5, 5);
    refuses((shape){ 2, 1, 2, 2, 1, { 254, 8 }, { 3, 3 }, { 1, 1 }, XCORR }, DN_F32, 0, 0);
    refuses((shape){ 2, 1, 2, 2, 1, { 255, 8 }, { 3, 3 }, { 1, 1 }, XCORR }, DN_F32, 6, 0);
    refuses((shape){ 2, 1, 2, 2, 1, { 50, 40 }, { 33, 2 }, XCORR }, DN_F32, 0, 7);
    refuses((shape){ 2, 1, 2, 2, 1, { 300, 4 }, { 256, 1 }, XCORR }, DN_F32, 6, 0);
    refuses((shape){ 1, 1, 2, 2, 1, { 300 }, { 257 }, XCORR }, DN_F32, 6, 7);
}

/* Get names FFT before the implicit GEMM where its operations are fewer, and after it elsewhere; a byte less workspace is refused. */
static void places_and_workspace(void **state)
{
    static const shape all[] = { { 2, 2, 32, 32, 1, { 56, 56 }, { 7, 7 }, { 3, 3 }, XCORR },
                                 { 2, 2, 32, 32, 1, { 56, 56 }, { 1, 1 }, XCORR } };
    (void)state;
    for (int i = 0; i < 2; i++) {
        cudnnConvolutionFwdAlgoPerf_t perf[8];
        int n = 0, place[8] = { 0 };
        conv c = conv_make(all[i], DN_F32, DN_F32, PACKED, PACKED);
        OK(cudnnGetConvolutionForwardAlgorithm_v7(handle, c.x.desc, c.w_desc, c.desc, c.y.desc, 8, &n, perf));
        assert_int_equal(n, 8);
        for (int e = 0; e < 8; e++)
            place[perf[e].algo] = e;
        const cudnnConvolutionFwdAlgoPerf_t *tiling = &perf[place[5]];
        assert_int_equal(tiling->status, CUDNN_STATUS_SUCCESS);
        assert_int_equal(tiling->determinism, CUDNN_DETERMINISTIC);
        assert_true((place[5] < place[1]) == (i == 0));
        float one = 1, zero = 0;
        space ws = space_make(tiling->memory);
        REFUSED(cudnnConvolutionForward(handle, &one, c.x.desc, c.x.data, c.w_desc, c.w.data, c.desc, CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING,
                                        ws.ptr, ws.size - 1, &zero, c.y.desc, c.y.data), CUDNN_STATUS_BAD_PARAM, "workSpaceSizeInBytes");
        space_free(&ws);
        conv_free(&c);
    }
}

/* --- transforms by themselves --- */

/* Lane 3 of n cells against the sum that defines the transform. */
static void check_line(const dn_fft_kernel *k, int n, int64_t step)
{
    enum { LANE = 3 };
    double *in = zeros((int64_t)n * step * DN_FFT_CELL), *out = zeros((int64_t)n * DN_FFT_CELL), *tmp = zeros(2 * (int64_t)n * DN_FFT_CELL);
    dn_fft_length f;
    uint32_t seed = (uint32_t)n;
    dn_fft_length_init(&f, n);
    for (int64_t i = 0; i < n * step * DN_FFT_CELL; i++)
        in[i] = tens_random(&seed) / 8388608.0 - 1;
    double *to = step == 1 && n % 3 ? in : out, *want = zeros(2 * (int64_t)n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double angle = 6.28318530717958647693 * ((int64_t)i * j % n) / n, re = in[j * step * DN_FFT_CELL + LANE];
            double im = in[j * step * DN_FFT_CELL + DN_FFT_LANES + LANE];
            want[2 * i] += re * cos(angle) + im * sin(angle);
            want[2 * i + 1] += im * cos(angle) - re * sin(angle);
        }
    k->line(&f, in, step, tmp, to);
    for (int i = 0; i < n; i++) {
        assert_true(fabs(to[i * DN_FFT_CELL + LANE] - want[2 * i]) < 1e-12);
        assert_true(fabs(to[i * DN_FFT_CELL + DN_FFT_LANES + LANE] - want[2 * i + 1]) < 1e-12);
    }
    free(in);
    free(out);
    free(tmp);
    free(want);
}

static void check_multiply(const dn_fft_kernel *k, int cols, int64_t period, bool add)
{
    enum { LEN = 21 };
    double a[LEN * DN_FFT_UNIT], b[40 * DN_FFT_UNIT], c[DN_FFT_COLS * DN_FFT_UNIT];
    uint32_t seed = 7;
    for (int i = 0; i < LEN * DN_FFT_UNIT; i++)
        a[i] = (int)(tens_random(&seed) % 7) - 3;
    for (int i = 0; i < 40 * DN_FFT_UNIT; i++)
        b[i] = (int)(tens_random(&seed) % 7) - 3;
    for (int i = 0; i < DN_FFT_COLS * DN_FFT_UNIT; i++)
        c[i] = i;
    k->multiply(LEN, period, a, b, 1, 16 * DN_FFT_UNIT, cols, DN_FFT_UNIT, c, add);
    for (int j = 0; j < DN_FFT_COLS; j++)
        for (int i = 0; i < DN_FFT_PANEL; i++) {
            int at = j * DN_FFT_UNIT + i;
            double re = add || j >= cols ? at : 0, im = add || j >= cols ? at + DN_FFT_PANEL : 0;
            for (int l = 0; l < LEN && j < cols; l++) {
                const double *x = a + l * DN_FFT_UNIT + i, *y = b + j * DN_FFT_UNIT + l % period + l / period * 16 * DN_FFT_UNIT;
                re += x[0] * y[0] - x[DN_FFT_PANEL] * y[DN_FFT_PANEL];
                im += x[0] * y[DN_FFT_PANEL] + x[DN_FFT_PANEL] * y[0];
            }
            assert_true(c[at] == re && c[at + DN_FFT_PANEL] == im);
        }
}

static void check_kernel(const dn_fft_kernel *k)
{
    int count = 0;
    for (int n = 1; n; n = dn_fft_length_fit(n + 1), count++) {
        check_line(k, n, 1);
        check_line(k, n, 3);
    }
    assert_int_equal(count, 18);
    for (int cols = 1; cols <= DN_FFT_COLS; cols++) {
        check_multiply(k, cols, DN_FFT_PANEL, false);
        check_multiply(k, cols, DN_FFT_PANEL, true);
    }
}

static void kernels(void **state)
{
    (void)state;
    check_kernel(&dn_fft_kernel_base);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        check_kernel(&dn_fft_kernel_avx2);
#endif
    check_kernel(dn_fft_kernel_get());
    assert_int_equal(dn_fft_length_fit(DN_FFT_LENGTH_MAX + 1), 0);
}

int main(void)
{
    setenv("ANYDNN_ENGINE", "ref", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels),
        cmocka_unit_test(every_shape_and_layout),
        cmocka_unit_test(every_type),
        cmocka_unit_test(parts),
        cmocka_unit_test(bits_do_not_change),
        cmocka_unit_test(bias_and_activation),
        cmocka_unit_test(limits),
        cmocka_unit_test(places_and_workspace),
    };
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
