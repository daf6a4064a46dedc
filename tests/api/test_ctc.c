/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * CTC loss as programs call it: the life of its descriptor, both forms of the call, and what people who use cuDNN ran into, each case under
 * the number it has in the project's list and with the thread it is from. */
#include "api_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define F32 CUDNN_DATA_FLOAT
#define DETERMINISTIC CUDNN_CTC_LOSS_ALGO_DETERMINISTIC
#define SOFTMAX CUDNN_LOSS_NORMALIZATION_SOFTMAX

typedef struct ctc {
    int steps, batch, classes, longest, total;
    const int *labels, *label_lengths, *input_lengths;
    tens x, dx, costs;
} ctc;

static ctc ctc_new(int steps, int batch, int classes, const int *labels, const int *label_lengths, const int *input_lengths)
{
    ctc c = {.steps = steps, .batch = batch, .classes = classes, .labels = labels, .label_lengths = label_lengths,
             .input_lengths = input_lengths};
    c.x = tens_new(F32, 3, (const int[]){steps, batch, classes}, false);
    c.dx = tens_new(F32, 3, (const int[]){steps, batch, classes}, false);
    c.costs = tens_new(F32, 3, (const int[]){batch, 1, 1}, false);
    for (int n = 0; n < batch; n++) {
        c.total += label_lengths[n];
        c.longest = label_lengths[n] > c.longest ? label_lengths[n] : c.longest;
    }
    tens_random(&c.x, 5);
    tens_fill(&c.dx, 1e30);
    return c;
}

static void ctc_free(ctc *c)
{
    tens_free(&c->x);
    tens_free(&c->dx);
    tens_free(&c->costs);
}

static void *put(const int *v, int n)
{
    void *p = api_alloc_end((size_t)(n > 0 ? n : 1) * sizeof *v, 4);
    memcpy(p, v, (size_t)n * sizeof *v);
    return p;
}

/* Both forms, with the workspace that each asks for. */
static cudnnStatus_t ctc_run(const ctc *c, bool v8, cudnnNanPropagation_t mode)
{
    cudnnCTCLossDescriptor_t d;
    size_t size = 0;
    cudnnStatus_t st;
    CALL(cudnnCreateCTCLossDescriptor, (&d));
    CALL(cudnnSetCTCLossDescriptor_v8, (d, F32, SOFTMAX, mode, c->longest));
    if (v8)
        st = api.cudnnGetCTCLossWorkspaceSize_v8(api_handle(), DETERMINISTIC, d, c->x.desc, c->dx.desc, &size);
    else
        st = api.cudnnGetCTCLossWorkspaceSize(api_handle(), c->x.desc, c->dx.desc, c->labels, c->label_lengths, c->input_lengths,
                                              DETERMINISTIC, d, &size);
    void *ws = st == OK ? api_alloc_end(size ? size : 1, 16) : NULL;
    if (st == OK && v8)
        st = api.cudnnCTCLoss_v8(api_handle(), DETERMINISTIC, d, c->x.desc, c->x.ptr, put(c->labels, c->total),
                                 put(c->label_lengths, c->batch), put(c->input_lengths, c->batch), c->costs.ptr, c->dx.desc, c->dx.ptr,
                                 size, ws);
    else if (st == OK)
        st = api.cudnnCTCLoss(api_handle(), c->x.desc, c->x.ptr, c->labels, c->label_lengths, c->input_lengths, c->costs.ptr, c->dx.desc,
                              c->dx.ptr, DETERMINISTIC, d, ws, size);
    CALL(cudnnDestroyCTCLossDescriptor, (d));
    MEM_CHECK();
    return st;
}

static double at(const ctc *c, const tens *t, int step, int n, int k)
{
    return type_load(F32, t->ptr, ((int64_t)step * c->batch + n) * c->classes + k);
}

/* log of the softmax */
static double log_y(const ctc *c, int step, int n, int k)
{
    double sum = 0;
    for (int i = 0; i < c->classes; i++)
        sum += exp(at(c, &c->x, step, n, i));
    return at(c, &c->x, step, n, k) - log(sum);
}

static double cost(const ctc *c, int n)
{
    return type_load(F32, c->costs.ptr, n);
}

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-5 * (1 + fabs(want));
}

static void descriptor_life(void **state)
{
    (void)state;
    cudnnCTCLossDescriptor_t d;
    cudnnDataType_t type;
    cudnnLossNormalizationMode_t norm;
    cudnnNanPropagation_t mode;
    int longest = -1;
    CALL(cudnnCreateCTCLossDescriptor, (&d));
    CALL(cudnnGetCTCLossDescriptor_v8, (d, &type, &norm, &mode, &longest));
    assert_true(type == F32 && norm == CUDNN_LOSS_NORMALIZATION_NONE && mode == CUDNN_NOT_PROPAGATE_NAN && longest == 0);
    CALL(cudnnSetCTCLossDescriptor_v8, (d, CUDNN_DATA_DOUBLE, SOFTMAX, CUDNN_PROPAGATE_NAN, 17));
    CALL(cudnnGetCTCLossDescriptor_v8, (d, &type, &norm, &mode, &longest));
    assert_true(type == CUDNN_DATA_DOUBLE && norm == SOFTMAX && mode == CUDNN_PROPAGATE_NAN && longest == 17);
    CALL(cudnnSetCTCLossDescriptorEx, (d, F32, SOFTMAX, CUDNN_PROPAGATE_NAN));
    CALL(cudnnGetCTCLossDescriptor_v8, (d, &type, &norm, &mode, &longest));
    assert_true(type == F32 && norm == SOFTMAX && mode == CUDNN_PROPAGATE_NAN && longest == 0);
    CALL(cudnnSetCTCLossDescriptor, (d, CUDNN_DATA_DOUBLE));
    CALL(cudnnGetCTCLossDescriptorEx, (d, &type, &norm, &mode));
    assert_true(type == CUDNN_DATA_DOUBLE && norm == CUDNN_LOSS_NORMALIZATION_NONE && mode == CUDNN_NOT_PROPAGATE_NAN);
    CALL(cudnnGetCTCLossDescriptor, (d, &type));
    assert_true(type == CUDNN_DATA_DOUBLE);
#if DN_ABI == 9
    cudnnCTCGradMode_t grad;
    CALL(cudnnSetCTCLossDescriptor_v9, (d, F32, SOFTMAX, CUDNN_CTC_SKIP_OOB_GRADIENTS, 3));
    CALL(cudnnGetCTCLossDescriptor_v9, (d, &type, &norm, &grad, &longest));
    assert_true(type == F32 && norm == SOFTMAX && grad == CUDNN_CTC_SKIP_OOB_GRADIENTS && longest == 3);
    CALL(cudnnGetCTCLossDescriptor_v8, (d, &type, &norm, &mode, &longest));
    assert_true(mode == CUDNN_PROPAGATE_NAN);
#endif
    CALL(cudnnDestroyCTCLossDescriptor, (d));
}

/* tensorflow/tensorflow #41280: rows past a sample's own length are 0. The vendor's library leaves them as they are. */
static void L44_gradients_past_the_length(void **state)
{
    (void)state;
    static const int labels[] = {1, 2, 1}, lengths[] = {2, 1}, steps[] = {6, 3};
    for (int v8 = 0; v8 < 2; v8++) {
        ctc c = ctc_new(6, 2, 3, labels, lengths, steps);
        api_must(__FILE__, __LINE__, "loss", ctc_run(&c, v8, CUDNN_NOT_PROPAGATE_NAN));
        for (int t = 0; t < 6; t++)
            for (int k = 0; k < 3; k++) {
                double got = at(&c, &c.dx, t, 1, k);
                assert_true(t < 3 ? fabs(got) <= 1 : !api_ours || got == 0);
                assert_true(fabs(at(&c, &c.dx, t, 0, k)) <= 1);
            }
        ctc_free(&c);
    }
}

/* pytorch/pytorch #18215, #21680: without labels the loss is -sum of log p(blank), and its gradient is finite. */
static void L45_empty_target(void **state)
{
    (void)state;
    static const int labels[] = {1, 2}, lengths[] = {0, 2, 0}, steps[] = {5, 5, 4};
    for (int v8 = 0; v8 < 2; v8++) {
        ctc c = ctc_new(5, 3, 4, labels, lengths, steps);
        api_must(__FILE__, __LINE__, "loss", ctc_run(&c, v8, CUDNN_NOT_PROPAGATE_NAN));
        for (int n = 0; n < 3 && api_ours; n += 2) {  /* the vendor's cost is 0: the case itself */
            double want = 0;
            for (int t = 0; t < steps[n]; t++) {
                want -= log_y(&c, t, n, 0);
                for (int k = 0; k < 4; k++)
                    assert_true(near(at(&c, &c.dx, t, n, k), exp(log_y(&c, t, n, k)) - (k == 0)));
            }
            assert_true(near(cost(&c, n), want));
        }
        ctc_free(&c);
    }
}

/* pytorch/pytorch #53557: 256 labels and more. There is no limit here but that of the memory; the vendor's answers a status. */
static void L46_long_labels(void **state)
{
    (void)state;
    enum { MOST = 400 };
    int label[MOST], counts[] = {255, 256, 257, MOST};
    for (int i = 0; i < MOST; i++)
        label[i] = 1 + i % 3;
    for (int i = 0; i < 4; i++)
        for (int v8 = 0; v8 < 2; v8++) {
            const int steps = 2 * MOST + 1;
            ctc c = ctc_new(steps, 1, 4, label, &counts[i], &steps);
            tens_fill(&c.x, 0.5);
            cudnnStatus_t st = ctc_run(&c, v8, CUDNN_NOT_PROPAGATE_NAN);
            if (!api_ours && st != OK) {
                assert_true(api_class(st) == NOSUP || api_class(st) == BAD);
                ctc_free(&c);
                continue;
            }
            api_must(__FILE__, __LINE__, "loss", st);
            /* as many paths as there are ways to choose 2 L places among T + L, all of the same probability */
            double l = counts[i], want = steps * log(4.0) - (lgamma(steps + l + 1) - lgamma(2 * l + 1) - lgamma(steps - l + 1));
            assert_true(near(cost(&c, 0), want));
            ctc_free(&c);
        }
}

/* pytorch/pytorch #14401: a sample's loss and gradients in a batch of samples of other lengths are those that it has alone. */
/* Lengths in device memory are seen by the kernels alone: one past the descriptor's longest breaks its sample and those behind it, whose labels
 * cannot be found; nothing is read for them. */
static void length_that_cannot_be(void **state)
{
    (void)state;
    if (!api_ours)
        skip();
    int label[] = {1, 2, 3, 1}, lengths[] = {2, 1, 1}, wrong[] = {2, 1 << 20, 1}, steps[] = {4, 4, 4};
    ctc c = ctc_new(4, 3, 4, label, lengths, steps);
    tens_fill(&c.x, 0.5);
    c.label_lengths = wrong;
    assert_int_equal(ctc_run(&c, 1, CUDNN_NOT_PROPAGATE_NAN), OK);
    assert_true(isfinite(cost(&c, 0)));
    assert_true(isnan(cost(&c, 1)) && isnan(cost(&c, 2)));
    ctc_free(&c);
}

static void L47_lengths_of_other_samples(void **state)
{
    (void)state;
    static const int labels[] = {1, 2, 2, 3, 1, 2, 3, 3}, lengths[] = {3, 1, 2, 2}, steps[] = {7, 3, 9, 5};
    for (int v8 = 0; v8 < 2; v8++) {
        ctc c = ctc_new(9, 4, 4, labels, lengths, steps);
        api_must(__FILE__, __LINE__, "loss", ctc_run(&c, v8, CUDNN_NOT_PROPAGATE_NAN));
        for (int n = 0, first = 0; n < 4; first += lengths[n++]) {
            ctc one = ctc_new(steps[n], 1, 4, labels + first, lengths + n, steps + n);
            for (int t = 0; t < steps[n]; t++)
                for (int k = 0; k < 4; k++)
                    type_store(F32, one.x.ptr, t * 4 + k, at(&c, &c.x, t, n, k));
            api_must(__FILE__, __LINE__, "loss of one", ctc_run(&one, v8, CUDNN_NOT_PROPAGATE_NAN));
            assert_true(near(cost(&one, 0), cost(&c, n)));
            for (int t = 0; t < steps[n]; t++)
                for (int k = 0; k < 4; k++)
                    assert_true(near(at(&one, &one.dx, t, 0, k), at(&c, &c.dx, t, n, k)));
            ctc_free(&one);
        }
        ctc_free(&c);
    }
}

/* Equal bits in every run, and whichever form or number is asked for. */
static void always_the_same_bits(void **state)
{
    (void)state;
    enum { BATCH = 40, STEPS = 50 };
    int labels[BATCH * 12], lengths[BATCH], steps[BATCH], total = 0;
    for (int n = 0; n < BATCH; n++) {
        lengths[n] = 1 + n % 12;
        steps[n] = STEPS;
        for (int i = 0; i < lengths[n]; i++)
            labels[total++] = 1 + (n * 5 + i) % 9;
    }
    ctc c = ctc_new(STEPS, BATCH, 10, labels, lengths, steps);
    double *first = NULL;
    for (int i = 0; i < 6; i++) {
        api_must(__FILE__, __LINE__, "loss", ctc_run(&c, i & 1, CUDNN_NOT_PROPAGATE_NAN));
        double *now = tens_get(&c.dx);
        if (first)
            assert_memory_equal(first, now, (size_t)c.dx.count * sizeof *now);
        else
            first = now;
    }
    ctc_free(&c);
}

/* Labels that do not fit 16 bits, and more of them than one piece of what goes to a GPU holds. */
static void many_classes_and_labels(void **state)
{
    (void)state;
    enum { BATCH = 130, LABELS = 20, STEPS = 21 };
    const int label = 69999, one = 1, three = 3;
    for (int v8 = 0; v8 < 2; v8++) {
        ctc c = ctc_new(3, 1, 70000, &label, &one, &three);
        tens_fill(&c.x, 0.25);
        api_must(__FILE__, __LINE__, "loss", ctc_run(&c, v8, CUDNN_NOT_PROPAGATE_NAN));
        assert_true(near(cost(&c, 0), 3 * log(70000.0) - log(6)));  /* 6 ways to say one label in 3 steps */
        assert_true(near(at(&c, &c.dx, 0, 0, label), 1 / 70000.0 - 0.5));
        ctc_free(&c);
    }
    static int labels[BATCH * LABELS], lengths[BATCH], steps[BATCH];
    for (int i = 0; i < BATCH * LABELS; i++)
        labels[i] = 1 + i % 7;
    for (int n = 0; n < BATCH; n++)
        lengths[n] = LABELS, steps[n] = STEPS;
    ctc c = ctc_new(STEPS, BATCH, 8, labels, lengths, steps);
    tens_fill(&c.x, 0);
    api_must(__FILE__, __LINE__, "loss", ctc_run(&c, false, CUDNN_NOT_PROPAGATE_NAN));
    for (int n = 0; n < BATCH; n++)  /* one step more than labels: 41 over 40 */
        assert_true(near(cost(&c, n), STEPS * log(8) - log(2 * LABELS + 1)));
    ctc_free(&c);
}

static const struct CMUnitTest tests[] = {
    DATA_TEST(descriptor_life), DATA_TEST(L44_gradients_past_the_length), DATA_TEST(L45_empty_target), DATA_TEST(L46_long_labels),
    DATA_TEST(L47_lengths_of_other_samples), DATA_TEST(length_that_cannot_be), DATA_TEST(always_the_same_bits),
    DATA_TEST(many_classes_and_labels),
};

API_MAIN(tests)
