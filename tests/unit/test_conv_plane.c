/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolutions with few output channels per group, which rows of their own compute: exact on integers against the plain loop of
 * conv_case.h, and that these rows are the ones that ran. The kernels of every instruction set of this processor. */
#include "conv_case.h"

#include "ref/conv.h"
#include "ref/conv_plane.h"

#include <anydnn.h>

#define XCORR .mode = CUDNN_CROSS_CORRELATION
#define CONV .mode = CUDNN_CONVOLUTION

/* Which directions the rows take: 1 forward, 2 backward data, 4 backward filter. */
static const struct narrow {
    shape s;
    int dirs;
} cases[] = {
    { { 2, 2, 7, 7, 7, { 6, 6 }, { 3, 3 }, { 1, 1 }, XCORR }, 7 },
    { { 2, 3, 5, 10, 5, { 9, 17 }, { 5, 3 }, { 2, 1 }, { 2, 3 }, CONV }, 7 },                /* depthwise, two outputs each, strided */
    { { 2, 1, 5, 20, 5, { 11, 40 }, { 3, 4 }, { 3, 5 }, { 1, 2 }, { 2, 3 }, XCORR }, 7 },    /* four outputs each, dilated */
    { { 2, 2, 9, 3, 1, { 12, 13 }, { 3, 3 }, { 1, 1 }, XCORR }, 1 },                         /* to an image of three colours */
    { { 2, 2, 3, 9, 1, { 12, 13 }, { 7, 7 }, { 3, 3 }, { 2, 2 }, XCORR }, 2 },               /* from one */
    { { 2, 2, 3, 9, 1, { 12, 37 }, { 2, 2 }, { 0, 1 }, { 3, 4 }, CONV }, 2 },                /* inputs that no filter meets */
    { { 2, 1, 4, 4, 4, { 300, 250 }, { 5, 5 }, { 2, 2 }, { 1, 1 }, { 3, 3 }, XCORR }, 7 },   /* several bands */
    { { 2, 1, 4, 4, 4, { 140, 151 }, { 3, 2 }, { 7, 9 }, { 2, 1 }, CONV }, 7 },              /* padding larger than the filter */
    { { 1, 3, 6, 6, 6, { 50 }, { 5 }, { 2 }, { 2 }, { 3 }, XCORR }, 7 },
    { { 1, 2, 3, 2, 1, { 2100 }, { 31 }, { 15 }, CONV }, 3 },
};

enum { CASES = sizeof cases / sizeof cases[0] };

static void check_exact(conv *c, int dir, int algo, double alpha, double beta, const double *sum, bool narrow)
{
    tens *out = written_by(c, dir);
    double *before = values_of(out);
    if (beta == 0)
        for (int64_t i = 0; i < out->count; i++)
            tens_set(out, i, NAN);
    directions[dir].run(c, algo, alpha, beta);
    assert_true((strstr(anydnnGetLastSolver(handle), "_narrow") != NULL) == narrow);
    for (int64_t i = 0; i < out->count; i++) {
        double want = tens_rounded(out, alpha * sum[i] + (beta == 0 ? 0 : beta * before[i])), got = tens_get(out, i);
        if (got != want)
            fail_msg("%s %d: element %lld is %g, not %g", directions[dir].name, algo, (long long)i, got, want);
    }
    conv_watch(c);
    for (int64_t i = 0; i < out->count; i++)
        tens_set(out, i, before[i]);
    free(before);
}

static void check_case(const struct narrow *n, dn_dtype type, layout lay, layout w_lay)
{
    conv c = conv_make(n->s, type, type, lay, w_lay);
    tens_integers(&c.x, 3, 1);
    tens_integers(&c.w, 3, 2);
    tens_integers(&c.y, 3, 3);
    sums s = sums_of(&c);
    for (int dir = 0; dir < 3; dir++)
        for (int algo = 0; algo < 2; algo++) {
            check_exact(&c, dir, algo, 1, 0, sum_of(&s, dir), n->dirs >> dir & 1);
            check_exact(&c, dir, algo, -0.5, 0.25, sum_of(&s, dir), n->dirs >> dir & 1);
        }
    sums_free(&s);
    conv_free(&c);
}

static void every_case_layout_and_type(void **state)
{
    static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };
    (void)state;
    for (int i = 0; i < CASES; i++)
        for (int lay = 0; lay < LAYOUTS; lay++)
            check_case(&cases[i], types[(i + lay) & 3], (layout)lay, lay & 1 ? CHANNELS_LAST : PACKED);
}

static void check_kernel(const dn_plane_kernel *k)
{
    enum { N = 45, LD = 48, TAPS = 5 };
    static const int64_t off[TAPS] = { 0, 3, 60, 61, 130 };
    double in[200], w[DN_PLANE_ROWS * TAPS], out[DN_PLANE_ROWS * LD], sum[TAPS * 8];
    for (int i = 0; i < 200; i++)
        in[i] = i * 7 % 13 - 6;
    for (int rows = 1; rows <= DN_PLANE_ROWS; rows++) {
        for (int i = 0; i < rows * TAPS; i++)
            w[i] = i % 5 - 2;
        for (int i = 0; i < DN_PLANE_ROWS * LD; i++)
            out[i] = i;
        k->gather(N, rows, TAPS, off, w, in, out, LD);
        for (int i = 0; i < DN_PLANE_ROWS * LD; i++) {
            double want = i;
            for (int t = 0; t < TAPS && i < rows * LD; t++)
                want += w[i / LD * TAPS + t] * in[off[t] + i % LD];
            if (i % LD < N || i >= rows * LD)
                assert_true(out[i] == want);
        }
    }
    memset(sum, 0, sizeof sum);
    for (int i = N; i < LD; i++)
        out[i] = NAN;  /* must not be read */
    for (int again = 0; again < 2; again++)
        k->dot(N, TAPS, off, out, in, sum);
    for (int t = 0; t < TAPS; t++) {
        double want = 0, got = 0;
        for (int j = 0; j < N; j++)
            want += 2 * out[j] * in[off[t] + j];
        for (int v = 0; v < 8; v++)
            got += sum[t * 8 + v];
        assert_true(got == want);
    }
}

static void kernels(void **state)
{
    (void)state;
    check_kernel(&dn_plane_kernel_base);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        check_kernel(&dn_plane_kernel_avx2);
    if (dn_conv_kernel_get() == &dn_conv_kernel_avx512)
        check_kernel(&dn_plane_kernel_avx512);
#endif
}

int main(void)
{
    setenv("ANYDNN_ENGINE", "ref", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels),
        cmocka_unit_test(every_case_layout_and_type),
    };
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
