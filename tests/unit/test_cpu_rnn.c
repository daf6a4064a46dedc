/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * cpu's recurrent networks beside ref's: any of the three calls of a training step may be ref's or cpu's, since they share the reserve space. */
#include "rnn_net.h"

#include "cpu/rnn_kernel.h"

#define NEED_ONEDNN()                                 \
    do {                                              \
        const char *why_ = dn_cpu_engine.probe();     \
        if (why_) {                                   \
            print_message("skipped: %s\n", why_);     \
            skip();                                   \
        }                                             \
    } while (0)

typedef struct variant {
    const char *name;
    int hidden, proj, skip, clip, clip_nan, bias;
    float dropout;
} variant;

static const variant variants[] = {
    { .name = "plain", .hidden = 9, .bias = DN_RNN_BIAS_DOUBLE },
    { .name = "skip", .hidden = 9, .skip = 1, .bias = DN_RNN_BIAS_RECURRENT },
    { .name = "dropout", .hidden = 10, .dropout = 0.4f, .bias = DN_RNN_BIAS_INPUT },
    { .name = "by units", .hidden = 261, .bias = DN_RNN_BIAS_NONE },
    { .name = "projection", .hidden = 9, .proj = 5, .dropout = 0.4f, .bias = DN_RNN_BIAS_DOUBLE },
    { .name = "projection by units", .hidden = 259, .proj = 131, .bias = DN_RNN_BIAS_INPUT },
    { .name = "clip", .hidden = 17, .clip = 1, .bias = DN_RNN_BIAS_DOUBLE },
    { .name = "clip, NaN through", .hidden = 17, .clip = 1, .clip_nan = 1, .bias = DN_RNN_BIAS_DOUBLE },
};

static void net_of(net *n, const variant *v, int cell, int bidirectional, int layout, dn_dtype type)
{
    static const int32_t falling[] = { 5, 3, 3, 1 }, any[] = { 2, 5, 0, 4 };
    dn_rnn_param q = param(cell, bidirectional, layout);
    q.hidden = v->hidden;
    q.proj = v->proj ? v->proj : v->hidden;
    q.skip = v->skip;
    q.input = v->skip ? v->hidden : 6;
    q.bias = v->bias;
    q.clip = v->clip, q.clip_nan = v->clip_nan;
    q.lclip = -0.25, q.rclip = 0.125;
    q.dropout = v->dropout > 0;
    net_make(n, &q, type, 5, 4, layout == DN_RNN_PACKED ? falling : any);
    n->dropout = v->dropout;
    n->fill = 3;
    n->beta = 1;
    randomize(n, W, 1 / sqrt((double)v->hidden), 77);
}

/* Bits 0, 1, 2 of cpu: which of the three calls are cpu's. */
static void train(net *n, int cpu)
{
    run_by(cpu & 1 ? &dn_cpu_engine : &dn_ref_engine, n, DN_DIR_TRAIN, false);
    run_by(cpu & 2 ? &dn_cpu_engine : &dn_ref_engine, n, DN_DIR_BWD_DATA, false);
    run_by(cpu & 4 ? &dn_cpu_engine : &dn_ref_engine, n, DN_DIR_BWD_FILTER, false);
}

static double largest(const double *v, int64_t n)
{
    double top = 1;
    for (int64_t i = 0; i < n; i++)
        top = fmax(top, fabs(v[i]));
    return top;
}

static void compare(const char *what, const char *name, const double *is, const double *must, int64_t n)
{
    double limit = 3e-6 * largest(must, n);
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(is[i] - must[i]) <= limit))
            fail_msg("%s: element %lld of %s is %.9g, ref's %.9g", what, (long long)i, name, is[i], must[i]);
}

/* One section of the reserve space: rows that live, and with `zeros` those that do not. */
static void compare_section(const char *what, const char *name, const net *is, const net *must, size_t offset, size_t pitch, int count, int64_t row,
                            bool zeros)
{
    const dn_tensor *x = dn_rnn_input(&is->p);
    double *a = malloc((size_t)row * sizeof *a), *b = malloc((size_t)row * sizeof *b);
    assert_true(a && b);
    for (int k = 0; k < count; k++)
        for (int64_t r = 0; r < x->dims[0] * x->dims[1]; r++) {
            bool lives = is->lengths[r % x->dims[1]] > r / x->dims[1];
            dn_load_row(DN_F32, is->reserve + offset + pitch * (size_t)k, r * row, 1, row, a);
            dn_load_row(DN_F32, must->reserve + offset + pitch * (size_t)k, r * row, 1, row, b);
            if (lives || zeros)
                compare(what, name, a, b, row);
            for (int64_t i = 0; i < row && zeros && !lives; i++)
                assert_true(a[i] == 0);
        }
    free(a);
    free(b);
}

static void compare_reserve(const char *what, const net *is, const net *must)
{
    const dn_rnn_param *q = &is->p.u.rnn;
    dn_rnn_reserve r;
    int pseudos = q->layers * dn_rnn_directions(q), slots = dn_rnn_slots(q);
    assert_true(dn_rnn_reserve_layout(&is->p, &r));
    assert_memory_equal(is->reserve + r.head, must->reserve + r.head, sizeof(dn_dropout_state));
    compare_section(what, "gates", is, must, r.gates, r.gates_pitch, pseudos, (int64_t)slots * q->hidden, false);
    if (q->cell == DN_RNN_LSTM)
        compare_section(what, "cell", is, must, r.cell, r.cell_pitch, pseudos, q->hidden, false);
    compare_section(what, "out", is, must, r.out, r.out_pitch, q->layers, (int64_t)dn_rnn_directions(q) * q->proj, true);
    compare_section(what, "dgates", is, must, r.dgates, r.dgates_pitch, pseudos, (int64_t)slots * q->hidden, true);
    if (q->proj != q->hidden)
        compare_section(what, "dproj", is, must, r.dproj, r.dproj_pitch, pseudos, q->proj, true);
}

static void check(const variant *v, int cell, int bidirectional, int layout)
{
    static const char *const names[BUFFERS] = { "x", "y", "dx", "dy", "w", "dw", "hx", "hy", "cx", "cy", "dhx", "dhy", "dcx", "dcy" };
    net must;
    net_of(&must, v, cell, bidirectional, layout, DN_F32);
    train(&must, 0);
    for (int cpu = 1; cpu < 8; cpu++) {
        net is;
        char what[120];
        snprintf(what, sizeof what, "%s, cell %d, bidirectional %d, layout %d, calls of cpu %d", v->name, cell, bidirectional, layout, cpu);
        net_of(&is, v, cell, bidirectional, layout, DN_F32);
        train(&is, cpu);
        for (int k = 0; k < BUFFERS; k++)
            compare(what, names[k], is.v[k], must.v[k], must.count[k]);
        compare_reserve(what, &is, &must);
        net_free(&is);
    }
    net_free(&must);
}

static void calls_of_both_engines_mix(void **state)
{
    (void)state;
    NEED_ONEDNN();
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        for (int cell = DN_RNN_RELU; cell <= DN_RNN_GRU; cell++)
            for (int k = 0; k < 6; k++)
                if (cell == DN_RNN_LSTM || (!variants[i].proj && !variants[i].clip))
                    check(&variants[i], cell, k % 2, k / 2);
}

static void inference_is_training_without_dropout(void **state)
{
    (void)state;
    NEED_ONEDNN();
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        for (int strip = 0; strip < 2; strip++) {
            net a, b;
            variant v = variants[i];
            v.dropout = 0;
            net_of(&a, &v, DN_RNN_LSTM, 1, (int)i % 3, DN_F32);
            net_of(&b, &v, DN_RNN_LSTM, 1, (int)i % 3, DN_F32);
            run_by(&dn_cpu_engine, &a, DN_DIR_TRAIN, strip);
            run_by(&dn_cpu_engine, &b, DN_DIR_INFER, strip);
            for (int64_t k = 0; k < a.count[Y]; k++)
                assert_true(a.v[Y][k] == b.v[Y][k]);
            for (int64_t k = 0; k < a.count[HY] && !strip; k++)
                assert_true(a.v[HY][k] == b.v[HY][k]);
            net_free(&a);
            net_free(&b);
        }
}

static void other_types_are_refused(void **state)
{
    (void)state;
    NEED_ONEDNN();
    static const dn_dtype types[] = { DN_F16, DN_BF16, DN_F64 };
    for (int i = 0; i < 3; i++) {
        net n;
        net_of(&n, &variants[0], DN_RNN_LSTM, 0, DN_RNN_TIME_MAJOR, types[i]);
        const dn_solver *s = dn_solver_at(&dn_cpu_engine, DN_OP_RNN, DN_DIR_TRAIN, 0);
        assert_string_equal(s->name, "cpu_rnn_train_f32");
        assert_string_equal(dn_solver_refuses(s, &n.p), "needs type f32");
        net_free(&n);
    }
}

/* A gate that is not finite spoils its own sequence alone. */
static void nan_stays_in_its_sequence(void **state)
{
    (void)state;
    NEED_ONEDNN();
    static const double values[] = { NAN, INFINITY, -INFINITY };
    for (int cell = DN_RNN_RELU; cell <= DN_RNN_GRU; cell++)
        for (int i = 0; i < 3; i++) {
            net a, b;
            net_of(&a, &variants[0], cell, 0, DN_RNN_TIME_MAJOR, DN_F32);
            net_of(&b, &variants[0], cell, 0, DN_RNN_TIME_MAJOR, DN_F32);
            a.v[X][place(&a, 1, 1, 6)] = b.v[X][place(&b, 1, 1, 6)] = values[i];
            run(&a, DN_DIR_INFER, false);
            run_by(&dn_cpu_engine, &b, DN_DIR_INFER, false);
            for (int64_t k = 0; k < a.count[Y]; k++)
                if (isnan(a.v[Y][k]) != isnan(b.v[Y][k]) || (isfinite(a.v[Y][k]) && !(fabs(a.v[Y][k] - b.v[Y][k]) <= 1e-5)))
                    fail_msg("cell %d, %g: element %lld of y is %g, ref's %g", cell, values[i], (long long)k, b.v[Y][k], a.v[Y][k]);
            net_free(&a);
            net_free(&b);
        }
}

/* Functions of one instruction set: cells of n units without biases, so that tanh and sigmoid stand in h and keep. */
static void check_kernel(const dn_cpu_rnn_kernel *k, int n)
{
    enum { ROOM = 40 };
    float x[4 * ROOM] = { 0 }, zeros[4 * ROOM] = { 0 }, keep[4 * ROOM], h[ROOM + 1], state[ROOM] = { 0 }, cell[ROOM];
    dn_cpu_rnn_units u = { .n = n, .gate = ROOM, .sum_gate = ROOM, .sums = x, .bias = zeros, .keep = keep, .h = h, .state = state, .cell = cell };
    uint64_t seed = (uint64_t)n;
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < n; i++)
            x[i] = (float)(uniform(&seed) * exp2(8 * uniform(&seed)));
        h[n] = 7;
        k->forward[DN_RNN_LSTM](&u);
        for (int i = 0; i < n; i++)
            if (!(fabs(keep[i] - 1 / (1 + exp(-(double)x[i]))) <= 1e-6 / (1 + exp(-(double)x[i])) + 1e-37))
                fail_msg("sigmoid(%.9g) is %.9g", x[i], keep[i]);
        k->forward[DN_RNN_TANH](&u);
        for (int i = 0; i < n; i++)
            if (!(fabs(h[i] - tanh(x[i])) <= 1e-6 * fabs(tanh(x[i]))))
                fail_msg("tanh(%.9g) is %.9g", x[i], h[i]);
        assert_true(h[n] == 7);
    }
}

static void every_instruction_set_is_accurate(void **state)
{
    (void)state;
    for (int n = 1; n < 40; n += n < 18 ? 1 : 7) {
        check_kernel(&dn_cpu_rnn_kernel_base, n);
#if defined(DN_HAVE_AVX2)
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
            check_kernel(&dn_cpu_rnn_kernel_avx2, n);
#endif
#if defined(DN_HAVE_AVX512)
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
            && __builtin_cpu_supports("avx512vl"))
            check_kernel(&dn_cpu_rnn_kernel_avx512, n);
#endif
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_both_engines_mix),
        cmocka_unit_test(inference_is_training_without_dropout),
        cmocka_unit_test(other_types_are_refused),
        cmocka_unit_test(nan_stays_in_its_sequence),
        cmocka_unit_test(every_instruction_set_is_accurate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
