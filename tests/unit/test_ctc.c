/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * CTC loss through the exported functions: against all alignments one by one, against the number of paths where all have one probability,
 * against finite differences, and what must hold of lengths. */
#include "tens.h"

#include <stdio.h>

enum { NONE = CUDNN_LOSS_NORMALIZATION_NONE, SOFTMAX = CUDNN_LOSS_NORMALIZATION_SOFTMAX };

typedef struct ctc {
    int steps, batch, classes, norm, skip, max_label;
    const int *labels, *label_lengths, *input_lengths;
    tens x, dx, costs;
    bool no_gradients;
} ctc;

static ctc make(dn_dtype type, layout lay, int steps, int batch, int classes, int norm)
{
    ctc c = { .steps = steps, .batch = batch, .classes = classes, .norm = norm };
    c.x = tens_make(type, 3, (const int[]){ steps, batch, classes }, lay);
    c.dx = tens_make(type, 3, (const int[]){ steps, batch, classes }, lay == PACKED ? PACKED : GAPS);
    c.costs = tens_make(type, 3, (const int[]){ batch, 1, 1 }, PACKED);
    tens_reals(&c.x, 7);
    for (int64_t i = 0; i < c.x.count && norm == NONE; i++)
        tens_set(&c.x, i, tens_get(&c.x, i) * 0.4 + 0.5);
    return c;
}

static void drop(ctc *c)
{
    tens_watch(&c->x), tens_watch(&c->dx), tens_watch(&c->costs);
    tens_free(&c->x), tens_free(&c->dx), tens_free(&c->costs);
}

static cudnnCTCLossDescriptor_t descriptor(const ctc *c)
{
    cudnnCTCLossDescriptor_t d;
    OK(cudnnCreateCTCLossDescriptor(&d));
    OK(cudnnSetCTCLossDescriptor_v8(d, c->x.type == DN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, (cudnnLossNormalizationMode_t)c->norm,
                                    (cudnnNanPropagation_t)c->skip, c->max_label));
    return d;
}

/* The older form: its arrays lie on the host everywhere. */
static void run(const ctc *c)
{
    cudnnCTCLossDescriptor_t d = descriptor(c);
    size_t size;
    OK(cudnnGetCTCLossWorkspaceSize(handle, c->x.desc, c->dx.desc, c->labels, c->label_lengths, c->input_lengths,
                                    CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, d, &size));
    void *workspace = malloc(size);
    OK(cudnnCTCLoss(handle, c->x.desc, c->x.data, c->labels, c->label_lengths, c->input_lengths, c->costs.data, c->dx.desc,
                    c->no_gradients ? NULL : c->dx.data, CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, d, workspace, size));
    free(workspace);
    OK(cudnnDestroyCTCLossDescriptor(d));
}

static void run_v8(const ctc *c)
{
    cudnnCTCLossDescriptor_t d = descriptor(c);
    size_t size;
    OK(cudnnGetCTCLossWorkspaceSize_v8(handle, CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC, d, c->x.desc, c->dx.desc, &size));
    void *workspace = malloc(size);
    OK(cudnnCTCLoss_v8(handle, CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC, d, c->x.desc, c->x.data, c->labels, c->label_lengths,
                       c->input_lengths, c->costs.data, c->dx.desc, c->no_gradients ? NULL : c->dx.data, size, workspace));
    free(workspace);
    OK(cudnnDestroyCTCLossDescriptor(d));
}

/* --- all alignments --- */

static double y_of(const ctc *c, int t, int n, int k)
{
    const int64_t row = ((int64_t)t * c->batch + n) * c->classes;
    double sum = 0;
    if (c->norm == NONE)
        return tens_get(&c->x, row + k);
    for (int i = 0; i < c->classes; i++)
        sum += exp(tens_get(&c->x, row + i));
    return exp(tens_get(&c->x, row + k)) / sum;
}

/* Whether a path says these labels once repeats are joined and blanks dropped. */
static bool says(const int *path, int steps, const int *label, int labels)
{
    int n = 0;
    for (int t = 0; t < steps; t++)
        if (path[t] && (t == 0 || path[t] != path[t - 1])) {
            if (n == labels || label[n] != path[t])
                return false;
            n++;
        }
    return n == labels;
}

/* Probability of all alignments of sample n; through: that of those with class k at step t, steps x classes. */
static double enumerate(const ctc *c, int n, const int *label, double *through)
{
    int steps = c->input_lengths[n], path[16] = { 0 };
    double p = 0;
    memset(through, 0, (size_t)(steps * c->classes) * sizeof *through);
    for (;;) {
        if (says(path, steps, label, c->label_lengths[n])) {
            double q = 1;
            for (int t = 0; t < steps; t++)
                q *= y_of(c, t, n, path[t]);
            p += q;
            for (int t = 0; t < steps; t++)
                through[t * c->classes + path[t]] += q;
        }
        int t = 0;
        while (t < steps && ++path[t] == c->classes)
            path[t++] = 0;
        if (t == steps)
            return p;
    }
}

static void check_sample(const ctc *c, int n, const int *label)
{
    double through[16 * 8], p = enumerate(c, n, label, through), e = type_epsilon(c->x.type);
    tens_close(&c->costs, n, -log(p), 1e-12 * (1 + fabs(log(p))) + 4 * e * fabs(log(p)));
    for (int t = 0; t < c->steps && !c->no_gradients; t++)
        for (int k = 0; k < c->classes; k++) {
            double want = 0, y = t < c->input_lengths[n] ? y_of(c, t, n, k) : 0;
            if (t < c->input_lengths[n]) {
                double o = p > 0 ? through[t * c->classes + k] / p : 0;
                want = c->norm == SOFTMAX ? y - o : o == 0 ? y : -o / y;
            }
            if (p > 0)
                tens_close(&c->dx, ((int64_t)t * c->batch + n) * c->classes + k, want, 1e-12 + 4 * e * (1 + fabs(want)));
        }
}

static void check_all(ctc *c)
{
    const int *label = c->labels;
    for (int n = 0; n < c->batch; n++) {
        check_sample(c, n, label);
        label += c->label_lengths[n];
    }
}

static void all_alignments(void **state)
{
    static const int labels[] = { 1, 1, 1, 2, 2, 2, 2, 1, 2, 1 }, lengths[] = { 2, 3, 0, 1, 4 }, steps[] = { 5, 6, 4, 1, 6 };
    (void)state;
    const dn_dtype types[] = { DN_F64, DN_F32, DN_F16, DN_BF16 };
    for (int type = 0; type < 4; type++)
        for (int lay = 0; lay < LAYOUTS; lay++)
            for (int norm = NONE; norm <= SOFTMAX; norm++) {
                ctc c = make(types[type], (layout)lay, 6, 5, 3, norm);
                c.labels = labels, c.label_lengths = lengths, c.input_lengths = steps;
                run(&c);
                check_all(&c);
                for (int64_t i = 0; i < c.dx.count; i++)
                    tens_set(&c.dx, i, 5);
                c.max_label = lay == PACKED ? 0 : 4;
                run_v8(&c);
                check_all(&c);
                drop(&c);
            }
}

static void one_class_and_one_step(void **state)
{
    static const int none[] = { 0, 0 }, steps[] = { 3, 1 };
    (void)state;
    ctc c = make(DN_F64, PACKED, 3, 2, 1, SOFTMAX);
    c.labels = none, c.label_lengths = none, c.input_lengths = steps;
    run(&c);
    for (int n = 0; n < 2; n++)
        tens_close(&c.costs, n, 0, 0);
    for (int64_t i = 0; i < c.dx.count; i++)
        tens_close(&c.dx, i, 0, 1e-15);
    drop(&c);
}

/* Without gradients the costs are the same, and nothing is written where they would be. */
static void costs_alone(void **state)
{
    static const int labels[] = { 1, 2, 1 }, lengths[] = { 2, 1 }, steps[] = { 4, 3 };
    (void)state;
    ctc c = make(DN_F32, PACKED, 4, 2, 3, SOFTMAX);
    c.labels = labels, c.label_lengths = lengths, c.input_lengths = steps;
    c.no_gradients = true;
    run(&c);
    check_all(&c);
    for (int64_t i = 0; i < c.dx.count; i++)
        assert_true(isnan(tens_get(&c.dx, i)));
    drop(&c);
}

/* --- long ones: with equal probabilities p is a number of paths over C^T; T steps and L labels, R of them like the one before, have
 * binomial(T + L - R, 2 L) paths --- */

static double log_paths(int steps, int labels, int repeats)
{
    double n = steps + labels - repeats, k = 2.0 * labels;
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

static void check_uniform(int steps, int labels, int classes, bool repeat)
{
    int *label = calloc((size_t)labels + 1, sizeof *label), repeats = 0;
    for (int i = 0; i < labels; i++) {
        label[i] = 1 + (repeat ? i / 3 : i) % (classes - 1);
        repeats += i && label[i] == label[i - 1];
    }
    ctc c = make(DN_F64, PACKED, steps, 1, classes, SOFTMAX);
    for (int64_t i = 0; i < c.x.count; i++)
        tens_set(&c.x, i, 3);
    c.labels = label, c.label_lengths = &labels, c.input_lengths = &steps;
    run(&c);
    double want = steps * log(classes) - log_paths(steps, labels, repeats);
    tens_close(&c.costs, 0, want, 1e-9 * want);
    for (int t = 0; t < steps; t++) {
        double sum = 0;
        for (int k = 0; k < classes; k++)
            sum += tens_get(&c.dx, (int64_t)t * classes + k);
        assert_true(fabs(sum) < 1e-9);  /* both the probabilities and the parts of p add up to 1 */
    }
    drop(&c);
    free(label);
}

static void long_labels(void **state)
{
    (void)state;
    check_uniform(1, 0, 5, false);
    check_uniform(40, 12, 4, true);
    check_uniform(600, 255, 5, false);
    check_uniform(600, 256, 5, false);
    check_uniform(700, 257, 5, true);
    check_uniform(1500, 1000, 6, false);
    check_uniform(257, 257, 3, false);
}

/* Probabilities that no double holds: 2000 steps of about e^-700. */
static void tiny_probabilities(void **state)
{
    static const int label = 1, labels = 1;
    (void)state;
    int steps = 2000;
    ctc c = make(DN_F64, PACKED, steps, 1, 3, SOFTMAX);
    for (int64_t i = 0; i < c.x.count; i++)
        tens_set(&c.x, i, i % 3 == 2 ? 700 : 0);
    c.labels = &label, c.label_lengths = &labels, c.input_lengths = &steps;
    run(&c);
    double want = 700.0 * steps - log_paths(steps, 1, 0);
    tens_close(&c.costs, 0, want, 1e-9 * want);
    for (int64_t i = 0; i < c.dx.count; i++)
        assert_true(isfinite(tens_get(&c.dx, i)));
    drop(&c);
}

/* --- gradients --- */

static void finite_differences(void **state)
{
    static const int labels[] = { 1, 3, 3, 2, 1, 2 }, lengths[] = { 3, 0, 3 }, steps[] = { 7, 5, 6 };
    (void)state;
    for (int norm = NONE; norm <= SOFTMAX; norm++) {
        ctc c = make(DN_F64, PACKED, 7, 3, 4, norm);
        c.labels = labels, c.label_lengths = lengths, c.input_lengths = steps;
        run(&c);
        double gradient[7 * 3 * 4];
        for (int64_t i = 0; i < c.dx.count; i++)
            gradient[i] = tens_get(&c.dx, i);
        for (int64_t i = 0; i < c.x.count; i++) {
            double x = tens_get(&c.x, i), h = 1e-5, cost[2];
            for (int side = 0; side < 2; side++) {
                tens_set(&c.x, i, side ? x - h : x + h);
                run(&c);
                cost[side] = tens_get(&c.costs, i / 4 % 3);
            }
            tens_set(&c.x, i, x);
            double want = (cost[0] - cost[1]) / (2 * h);
            if (norm == NONE && want == 0 && i / 12 < steps[i / 4 % 3])
                want = x;  /* no path goes there */
            if (!(fabs(gradient[i] - want) <= 1e-7 * (1 + fabs(want))))
                fail_msg("norm %d: gradient %lld is %g, not %g", norm, (long long)i, gradient[i], want);
        }
        drop(&c);
    }
}

/* --- lengths --- */

/* Samples that no path fits: cost 0; gradients 0, or left alone. */
static void short_samples(void **state)
{
    static const int labels[] = { 1, 1, 1, 2, 2, 1, 1 }, lengths[] = { 2, 2, 2, 1 }, steps[] = { 2, 1, 3, 0 };
    (void)state;
    for (int skip = 0; skip < 2; skip++) {
        ctc c = make(DN_F32, PACKED, 4, 4, 3, SOFTMAX);
        c.labels = labels, c.label_lengths = lengths, c.input_lengths = steps, c.skip = skip;
        for (int64_t i = 0; i < c.dx.count; i++)
            tens_set(&c.dx, i, 1e30);
        run(&c);
        for (int n = 0; n < 4; n++)
            for (int t = 0; t < 4; t++)
                for (int k = 0; k < 3; k++)
                    if (n != 2 || t >= 3)
                        tens_close(&c.dx, (t * 4 + n) * 3 + k, skip ? (double)1e30f : 0, 0);
        for (int n = 0; n < 4; n++)
            assert_true(n == 2 ? tens_get(&c.costs, n) > 0 : tens_get(&c.costs, n) == 0);
        drop(&c);
    }
}

/* Arrays in the handle's memory cannot be looked at before the work: a sample with impossible numbers spoils itself alone. */
static void broken_samples(void **state)
{
    static const int labels[] = { 1, 2, 7, 1, -1, 2, 1 }, lengths[] = { 2, 2, 1, -3, 1, 1 }, steps[] = { 4, 4, 4, 4, 9, 4 };
    (void)state;
    ctc c = make(DN_F32, PACKED, 4, 6, 3, SOFTMAX), good = c;
    static const int good_labels[] = { 1, 2, 1 }, good_lengths[] = { 2, 0, 0, 0, 0, 1 }, good_steps[] = { 4, 4, 4, 4, 4, 4 };
    c.labels = labels, c.label_lengths = lengths, c.input_lengths = steps, c.max_label = 2;
    run_v8(&c);
    double cost0 = tens_get(&c.costs, 0), cost5 = tens_get(&c.costs, 5);
    for (int n = 1; n < 5; n++) {
        assert_true(isnan(tens_get(&c.costs, n)));
        for (int t = 0; t < 4; t++)
            tens_close(&c.dx, (t * 6 + n) * 3, 0, 0);
    }
    good.labels = good_labels, good.label_lengths = good_lengths, good.input_lengths = good_steps;
    run(&good);
    assert_true(tens_get(&good.costs, 0) == cost0 && tens_get(&good.costs, 5) == cost5);
    drop(&c);
}

/* NaN among the inputs of a sample reaches its cost, and no other sample's. */
static void nan_stays_in_its_sample(void **state)
{
    static const int labels[] = { 1, 2, 1 }, lengths[] = { 2, 1 }, steps[] = { 4, 4 };
    (void)state;
    for (int norm = NONE; norm <= SOFTMAX; norm++) {
        ctc c = make(DN_F32, PACKED, 4, 2, 3, norm);
        c.labels = labels, c.label_lengths = lengths, c.input_lengths = steps;
        tens_set(&c.x, (2 * 2 + 1) * 3, NAN);
        run(&c);
        check_sample(&c, 0, labels);
        assert_true(isnan(tens_get(&c.costs, 1)));
        drop(&c);
    }
}

/* A sample gives the same bits alone, in any batch, and in every run. */
static void bits_do_not_depend_on_the_batch(void **state)
{
    enum { BATCH = 70, STEPS = 30, CLASSES = 6 };
    int labels[BATCH * 4], lengths[BATCH], steps[BATCH], at = 0;
    (void)state;
    ctc c = make(DN_F32, PACKED, STEPS, BATCH, CLASSES, SOFTMAX);
    for (int n = 0; n < BATCH; n++) {
        lengths[n] = n % 5;
        steps[n] = STEPS - n % 7;
        for (int i = 0; i < lengths[n]; i++)
            labels[at++] = 1 + (n + i * i) % (CLASSES - 1);
    }
    c.labels = labels, c.label_lengths = lengths, c.input_lengths = steps;
    run(&c);
    at = 0;
    for (int n = 0; n < BATCH; n++) {
        ctc one = make(DN_F32, PACKED, STEPS, 1, CLASSES, SOFTMAX);
        for (int t = 0; t < STEPS; t++)
            for (int k = 0; k < CLASSES; k++)
                tens_set(&one.x, t * CLASSES + k, tens_get(&c.x, (t * BATCH + n) * CLASSES + k));
        one.labels = labels + at, one.label_lengths = lengths + n, one.input_lengths = steps + n;
        run(&one);
        assert_true(tens_get(&one.costs, 0) == tens_get(&c.costs, n));
        for (int t = 0; t < STEPS; t++)
            for (int k = 0; k < CLASSES; k++)
                assert_true(tens_get(&one.dx, t * CLASSES + k) == tens_get(&c.dx, (t * BATCH + n) * CLASSES + k));
        at += lengths[n];
        drop(&one);
    }
    drop(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_alignments), cmocka_unit_test(one_class_and_one_step), cmocka_unit_test(costs_alone),
        cmocka_unit_test(long_labels), cmocka_unit_test(tiny_probabilities), cmocka_unit_test(finite_differences),
        cmocka_unit_test(short_samples), cmocka_unit_test(broken_samples), cmocka_unit_test(nan_stays_in_its_sample),
        cmocka_unit_test(bits_do_not_depend_on_the_batch),
    };
    return cmocka_run_group_tests_name("unit_ctc", tests, handle_open, handle_close);
}
