/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Winograd rows of ref against the plain loop of conv_case.h. Integer-valued inputs must give the rounded exact sum, with the 6 x 6
 * tiles as well: the filter's transform is scaled to integers. Reals keep a bound by the largest sum of |products| of a tensor. */
#include "conv_case.h"

#include "ref/winograd.h"

#define XCORR .mode = CUDNN_CROSS_CORRELATION
#define CONV .mode = CUDNN_CONVOLUTION

/* Numbers by direction; `three`: 3x3 filters alone. */
typedef struct number {
    int dir, algo, three;
} number;

static const number numbers[] = { { 0, 6, 1 }, { 0, 7, 0 }, { 1, 4, 1 }, { 1, 5, 0 }, { 2, 5, 0 } };

enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static const shape shapes[] = {
    { 2, 1, 1, 1, 1, { 1, 1 }, { 3, 3 }, { 1, 1 }, XCORR },
    { 2, 1, 1, 1, 1, { 3, 3 }, { 3, 3 }, { 0, 0 }, XCORR },
    { 2, 1, 2, 3, 1, { 4, 4 }, { 3, 3 }, { 1, 1 }, CONV },
    { 2, 2, 3, 5, 1, { 6, 5 }, { 3, 3 }, { 1, 1 }, XCORR },
    { 2, 3, 5, 4, 1, { 9, 11 }, { 3, 3 }, { 0, 0 }, CONV },
    { 2, 1, 3, 9, 1, { 7, 13 }, { 3, 3 }, { 2, 0 }, XCORR },
    { 2, 2, 4, 2, 1, { 5, 4 }, { 3, 3 }, { 2, 2 }, CONV },
    { 2, 1, 2, 2, 1, { 2, 3 }, { 3, 3 }, { 5, 7 }, XCORR },              /* padding larger than the filter */
    { 2, 1, 1, 2, 1, { 1, 130 }, { 3, 3 }, { 1, 1 }, XCORR },            /* a row longer than a panel */
    { 2, 2, 2, 1, 1, { 130, 1 }, { 3, 3 }, { 1, 1 }, CONV },
    { 2, 30, 3, 2, 1, { 2, 2 }, { 3, 3 }, { 1, 1 }, XCORR },             /* many images in a panel */
    { 2, 3, 4, 6, 2, { 5, 5 }, { 3, 3 }, { 1, 0 }, XCORR },
    { 2, 2, 7, 7, 7, { 6, 6 }, { 3, 3 }, { 1, 1 }, CONV },               /* depthwise */
    { 2, 1, 33, 35, 1, { 9, 10 }, { 3, 3 }, { 1, 1 }, XCORR },
    { 2, 1, 150, 9, 1, { 6, 7 }, { 3, 3 }, { 1, 1 }, CONV },             /* channels over several blocks */
    { 2, 1, 3, 70, 1, { 20, 19 }, { 3, 3 }, { 1, 1 }, XCORR },
    { 2, 4, 9, 8, 1, { 24, 25 }, { 3, 3 }, { 1, 1 }, CONV },             /* tiles over several blocks */
    { 2, 1, 1, 1, 1, { 5, 5 }, { 5, 5 }, { 0, 0 }, XCORR },
    { 2, 2, 3, 4, 1, { 7, 9 }, { 5, 5 }, { 2, 2 }, CONV },
    { 2, 1, 6, 4, 2, { 8, 6 }, { 5, 5 }, { 1, 3 }, XCORR },
    { 2, 2, 20, 30, 1, { 9, 11 }, { 5, 5 }, { 2, 2 }, CONV },
    { 2, 1, 2, 2, 1, { 3, 2 }, { 5, 5 }, { 6, 5 }, XCORR },
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static int fits(const shape *s, const number *n)
{
    return !n->three || s->window[0] == 3;
}

static void fill_integers(conv *c, int range, uint32_t seed)
{
    tens_integers(&c->x, range, seed);
    tens_integers(&c->w, range, seed + 1);
    tens_integers(&c->y, range, seed + 2);
}

static void check_all(conv *c)
{
    sums s = sums_of(c);
    for (int i = 0; i < NUMBERS; i++) {
        if (!fits(&c->s, &numbers[i]))
            continue;
        conv_check_exact(c, numbers[i].dir, numbers[i].algo, 1, 0, sum_of(&s, numbers[i].dir));
        conv_check_exact(c, numbers[i].dir, numbers[i].algo, 2, 1, sum_of(&s, numbers[i].dir));
        conv_check_exact(c, numbers[i].dir, numbers[i].algo, -0.5, 0.25, sum_of(&s, numbers[i].dir));
    }
    sums_free(&s);
}

static void every_shape_and_layout(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++)
        for (int lay = 0; lay < LAYOUTS; lay++) {
            conv c = conv_make(shapes[i], DN_F32, DN_F32, (layout)lay, lay & 1 ? CHANNELS_LAST : PACKED);
            fill_integers(&c, 3, (uint32_t)i);
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
            fill_integers(&c, t ? 3 : 1000, (uint32_t)i + 100);
            check_all(&c);
            conv_free(&c);
        }
}

/* Every element within one rounding of the output type and a share of the tensor's largest sum of |products|: that of the tile is
 * no larger. */
static void check_reals(shape s, dn_dtype type)
{
    conv c = conv_make(s, type, type, PACKED, PACKED);
    tens_reals(&c.x, 5);
    tens_reals(&c.w, 6);
    tens_reals(&c.y, 7);
    sums all = sums_of(&c);
    for (int n = 0; n < NUMBERS; n++) {
        if (!fits(&c.s, &numbers[n]))
            continue;
        int dir = numbers[n].dir;
        tens *out = written_by(&c, dir);
        double *before = values_of(out), top = 0, least = type == DN_F16 ? 3e-8 : 0;  /* half a subnormal */
        for (int64_t i = 0; i < out->count; i++)
            top = fmax(top, abs_of(&all, dir)[i]);
        directions[dir].run(&c, numbers[n].algo, 1, 0);
        for (int64_t i = 0; i < out->count; i++)
            tens_close(out, i, sum_of(&all, dir)[i], type_epsilon(type) * fabs(sum_of(&all, dir)[i]) + least + 1e-13 * top);
        for (int64_t i = 0; i < out->count; i++)
            tens_set(out, i, before[i]);
        free(before);
    }
    conv_watch(&c);
    sums_free(&all);
    conv_free(&c);
}

static void reals(void **state)
{
    static const shape deep = { 2, 2, 40, 37, 1, { 17, 19 }, { 3, 3 }, { 1, 1 }, XCORR };
    static const shape five = { 2, 2, 20, 33, 1, { 11, 13 }, { 5, 5 }, { 2, 2 }, CONV };
    static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };
    (void)state;
    for (int t = 0; t < 4; t++) {
        check_reals(deep, types[t]);
        check_reals(five, types[t]);
    }
}

/* Against the first GEMM row: the plain loop would take minutes. */
static void check_large(shape s)
{
    conv c = conv_make(s, DN_F32, DN_F32, PACKED, PACKED);
    fill_integers(&c, 2, 9);
    double *in[3] = { values_of(&c.y), values_of(&c.x), values_of(&c.w) };
    for (int dir = 0; dir < 3; dir++) {
        tens *out = written_by(&c, dir);
        directions[dir].run(&c, directions[dir].algos[0], 1, 0);
        double *want = values_of(out);
        for (int n = 0; n < NUMBERS; n++) {
            if (numbers[n].dir != dir)
                continue;
            for (int64_t i = 0; i < out->count; i++)
                tens_set(out, i, NAN);
            directions[dir].run(&c, numbers[n].algo, 1, 0);
            for (int64_t i = 0; i < out->count; i++)
                assert_true(tens_get(out, i) == want[i]);
        }
        for (int64_t i = 0; i < out->count; i++)
            tens_set(out, i, in[dir][i]);
        free(want);
    }
    for (int i = 0; i < 3; i++)
        free(in[i]);
    conv_free(&c);
}

/* Tiles, filters and sums in several rounds; a large filter that is transformed where it is used. */
static void several_rounds(void **state)
{
    static const shape wide = { 2, 4, 70, 60, 1, { 90, 88 }, { 3, 3 }, { 1, 1 }, XCORR };
    static const shape deep = { 2, 4, 520, 530, 1, { 21, 18 }, { 3, 3 }, { 1, 1 }, XCORR };
    static const shape few = { 2, 1, 200, 190, 1, { 40, 30 }, { 3, 3 }, { 1, 1 }, CONV };
    (void)state;
    check_large(wide);
    check_large(deep);
    check_large(few);
}

/* --- kernels of every instruction set that this processor has --- */

static void check_multiply(const dn_conv_kernel *k, const dn_winograd_kernel *w)
{
    enum { LEN = 37 };
    double a[LEN * 8], b[LEN * 24], c[8 * 24];
    for (int i = 0; i < LEN * 8; i++)
        a[i] = i % 11 - 5;
    for (int i = 0; i < LEN * 24; i++)
        b[i] = i % 7 - 3;
    for (int cols = 1; cols <= k->nr; cols++)
        for (int add = 0; add < 2; add++) {
            for (int i = 0; i < 8 * 24; i++)
                c[i] = i;
            w->multiply(LEN, a, b, c, cols, add);
            for (int i = 0; i < k->mr; i++)
                for (int j = 0; j < cols; j++) {
                    double want = add ? i * k->nr + j : 0;
                    for (int l = 0; l < LEN; l++)
                        want += a[l * k->mr + i] * b[l * k->nr + j];
                    assert_true(c[i * k->nr + j] == want);
                }
        }
}

/* One tile in every lane: y[o] = sum over r of x[o + r] * g[r] in both directions. */
static void check_form(const dn_winograd_kernel *w, int size, int step)
{
    enum { LANES = 8, MOST = 36 * LANES };
    double x[MOST], g[MOST], tx[MOST], tg[MOST], y[MOST];
    int taps = size + 1 - step;
    for (int i = 0; i < MOST; i++) {
        x[i] = (i * 7 + i / 5) % 13 - 6;
        g[i] = (i * 5 + i / 3) % 11 - 5;
    }
    w->data[size](LANES, x, LANES, tx, LANES);
    w->filter[size][taps](LANES, g, LANES, tg, LANES);
    for (int i = 0; i < size * size * LANES; i++)
        tx[i] *= tg[i];
    w->result[size][step](LANES, tx, LANES, y, LANES);
    for (int o = 0; o < step * step; o++)
        for (int lane = 0; lane < LANES; lane++) {
            double want = 0;
            for (int r = 0; r < taps * taps; r++)
                want += x[((o / step + r / taps) * size + o % step + r % taps) * LANES + lane] * g[r * LANES + lane];
            assert_true(y[o * LANES + lane] == want);
        }
}

static void check_kernel(const dn_conv_kernel *k)
{
    const dn_winograd_kernel *w = dn_winograd_kernel_get(k);
    check_multiply(k, w);
    check_form(w, 4, 2);
    for (int step = 2; step < 6; step++)
        check_form(w, 6, step);
    double row[40], out[6 * 40];
    for (int i = 0; i < 40; i++)
        row[i] = i;
    for (int count = 2; count <= 6; count++) {
        w->split(9, row, 3, count, out, 40, 2);
        for (int j = 0; j < count; j++)
            for (int t = 0; t < 9; t++)
                assert_true(out[j * 40 + t * 2] == t * 3 + j);
    }
    for (int step = 2; step <= 5; step++) {
        w->split(7, row, step, step, out, 40, 1);
        double back[40] = { 0 };
        w->join(7, out, 40, step, back);
        assert_memory_equal(row, back, (size_t)(7 * step) * sizeof *row);
    }
}

static void kernels(void **state)
{
    (void)state;
    assert_true(dn_winograd_kernel_get(&dn_conv_kernel_base) == &dn_winograd_kernel_base);
    check_kernel(&dn_conv_kernel_base);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        assert_true(dn_winograd_kernel_get(&dn_conv_kernel_avx2) == &dn_winograd_kernel_avx2);
        check_kernel(&dn_conv_kernel_avx2);
    }
#endif
    check_kernel(dn_conv_kernel_get());
}

/* --- properties --- */

static void bits_do_not_change(void **state)
{
    static const shape s = { 2, 5, 40, 36, 1, { 27, 25 }, { 3, 3 }, { 1, 1 }, XCORR };
    (void)state;
    conv c = conv_make(s, DN_F32, DN_F32, PACKED, PACKED);
    for (int i = 0; i < NUMBERS; i++)
        conv_check_bits(&c, numbers[i].dir, numbers[i].algo);
    conv_free(&c);
}

/* An image's result does not depend on how many others are there, so neither on its place in a panel. */
static void images_do_not_depend_on_the_batch(void **state)
{
    shape s = { 2, 13, 8, 8, 1, { 9, 7 }, { 3, 3 }, { 1, 1 }, XCORR };
    (void)state;
    conv more = conv_make(s, DN_F64, DN_F64, PACKED, PACKED);
    s.n = 6;
    conv less = conv_make(s, DN_F64, DN_F64, PACKED, PACKED);
    for (int algo = 6; algo < 8; algo++) {
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

/* --- what is refused, and how --- */

static cudnnStatus_t ask_forward(const conv *c, int algo, size_t *size)
{
    return cudnnGetConvolutionForwardWorkspaceSize(handle, c->x.desc, c->w_desc, c->desc, c->y.desc, (cudnnConvolutionFwdAlgo_t)algo, size);
}

static cudnnStatus_t ask_filter(const conv *c, int algo, size_t *size)
{
    return cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, c->x.desc, c->y.desc, c->desc, c->w_desc,
                                                          (cudnnConvolutionBwdFilterAlgo_t)algo, size);
}

static void check_refusal(shape s, dn_dtype type, int algo, const char *why)
{
    size_t size;
    conv c = conv_make(s, type, type, PACKED, PACKED);
    REFUSED(ask_forward(&c, algo, &size), CUDNN_STATUS_NOT_SUPPORTED, why);
    if (algo == 7)
        REFUSED(ask_filter(&c, 5, &size), CUDNN_STATUS_NOT_SUPPORTED, why);
    conv_free(&c);
}

static void refusals(void **state)
{
    static const shape strided = { 2, 1, 2, 2, 1, { 9, 9 }, { 3, 3 }, { 1, 1 }, { 2, 1 }, XCORR };
    static const shape dilated = { 2, 1, 2, 2, 1, { 9, 9 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 2 }, XCORR };
    static const shape five = { 2, 1, 2, 2, 1, { 9, 9 }, { 5, 5 }, { 1, 1 }, XCORR };
    static const shape seven = { 2, 1, 2, 2, 1, { 9, 9 }, { 7, 7 }, { 1, 1 }, XCORR };
    static const shape oblong = { 2, 1, 2, 2, 1, { 9, 9 }, { 3, 5 }, { 1, 1 }, XCORR };
    static const shape solid = { 3, 1, 2, 2, 1, { 5, 5, 5 }, { 3, 3, 3 }, { 1, 1, 1 }, XCORR };
    static const shape plain = { 2, 1, 2, 2, 1, { 9, 9 }, { 3, 3 }, { 1, 1 }, XCORR };
    static const shape deep = { 2, 1, 2049, 1, 1, { 3, 3 }, { 3, 3 }, { 1, 1 }, XCORR };
    size_t size;
    (void)state;
    for (int algo = 6; algo < 8; algo++) {
        check_refusal(strided, DN_F32, algo, "needs stride 1");
        check_refusal(dilated, DN_F32, algo, "needs dilation 1");
        check_refusal(seven, DN_F32, algo, "needs 3x3");
        check_refusal(oblong, DN_F32, algo, "needs 3x3");
        check_refusal(solid, DN_F32, algo, "needs two spatial dimensions");
    }
    check_refusal(five, DN_F32, 6, "needs 3x3 filters");
    check_refusal(seven, DN_F32, 7, "needs 3x3 or 5x5 filters");
    check_refusal(deep, DN_F32, 6, "needs 2048 or fewer");
    conv c = conv_make(plain, DN_F32, DN_F32, PACKED, PACKED);
    REFUSED(ask_filter(&c, 4, &size), CUDNN_STATUS_NOT_SUPPORTED, "stands for another");
    OK(ask_forward(&c, 6, &size));
    assert_int_equal(size, 0);
    conv_free(&c);
}

static void workspace_one_byte_short(void **state)
{
    static const shape plain = { 2, 2, 8, 9, 1, { 9, 9 }, { 3, 3 }, { 1, 1 }, XCORR };
    size_t size;
    (void)state;
    conv c = conv_make(plain, DN_F32, DN_F32, PACKED, PACKED);
    scalar one = scalar_of(DN_F32, 1), zero = scalar_of(DN_F32, 0);
    fill_integers(&c, 3, 1);
    OK(ask_forward(&c, 7, &size));
    assert_true(size > 0);
    space ws = space_make(size - 1);
    REFUSED(cudnnConvolutionForward(handle, &one, c.x.desc, c.x.data, c.w_desc, c.w.data, c.desc, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED,
                                    ws.ptr, size - 1, &zero, c.y.desc, c.y.data),
            CUDNN_STATUS_BAD_PARAM, "workSpaceSizeInBytes");
    space_free(&ws);
    OK(ask_filter(&c, 5, &size));
    ws = space_make(size - 1);
    REFUSED(cudnnConvolutionBackwardFilter(handle, &one, c.x.desc, c.x.data, c.y.desc, c.y.data, c.desc,
                                           CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED, ws.ptr, size - 1, &zero, c.w_desc, c.w.data),
            CUDNN_STATUS_BAD_PARAM, "workSpaceSizeInBytes");
    space_free(&ws);
    conv_free(&c);
}

/* Get names Winograd first where channels are many, after the GEMM rows where they are few, and not at all where it is refused. */
static void order_in_get(void **state)
{
    static const shape deep = { 2, 4, 64, 64, 1, { 14, 14 }, { 3, 3 }, { 1, 1 }, XCORR };
    static const shape flat = { 2, 4, 3, 8, 1, { 14, 14 }, { 3, 3 }, { 1, 1 }, XCORR };
    static const shape strided = { 2, 4, 64, 64, 1, { 14, 14 }, { 3, 3 }, { 1, 1 }, { 2, 2 }, XCORR };
    static const shape *const all[] = { &deep, &flat, &strided };
    (void)state;
    for (int i = 0; i < 3; i++) {
        int count = 0, place[8], seven = 0;
        cudnnConvolutionFwdAlgoPerf_t perf[8];
        conv c = conv_make(*all[i], DN_F32, DN_F32, PACKED, PACKED);
        OK(cudnnGetConvolutionForwardAlgorithm_v7(handle, c.x.desc, c.w_desc, c.desc, c.y.desc, 8, &count, perf));
        assert_int_equal(count, 8);
        for (int j = 0; j < count; j++)
            place[perf[j].algo] = j;
        seven = place[CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED];
        assert_int_equal(perf[seven].status, i == 2 ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS);
        assert_true(i == 0 ? seven == 0 : seven > place[CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM]);
        if (i < 2) {
            size_t size;
            OK(ask_forward(&c, 7, &size));
            assert_true(size == perf[seven].memory && perf[seven].determinism == CUDNN_DETERMINISTIC);
        }
        conv_free(&c);
    }
}

/* The default is the row that spreads nothing. */
static void never_the_default(void **state)
{
    dn_problem p;
    dn_plan *plan;
    (void)state;
    dn_problem_init(&p, DN_OP_CONV, DN_DIR_FWD);
    assert_int_equal(dn_problem_parse("conv fwd x=n4c64h14w14:f32 w=k64c64r3s3:f32 y=n4k64h14w14:f32 pad=1", &p), DN_SUCCESS);
    assert_int_equal(dn_plan_get((dn_handle *)handle, &p, &plan), DN_SUCCESS);
    assert_false(plan->solver->flags & DN_SOLVER_TILED);
    p.algo = 7;
    assert_int_equal(dn_plan_get((dn_handle *)handle, &p, &plan), DN_SUCCESS);
    assert_true(plan->solver->flags & DN_SOLVER_TILED);
}

int main(void)
{
    setenv("ANYDNN_ENGINE", "ref", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels),
        cmocka_unit_test(every_shape_and_layout),
        cmocka_unit_test(every_type),
        cmocka_unit_test(reals),
        cmocka_unit_test(several_rounds),
        cmocka_unit_test(bits_do_not_change),
        cmocka_unit_test(images_do_not_depend_on_the_batch),
        cmocka_unit_test(refusals),
        cmocka_unit_test(workspace_one_byte_short),
        cmocka_unit_test(order_in_get),
        cmocka_unit_test(never_the_default),
    };
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
