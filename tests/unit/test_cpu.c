/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The cpu engine: what it refuses and why, workspaces, NaN and infinity, factors, epsilon, threads. Agreement with ref on
 * ordinary data is test_cpu_random's. */
#include "cpu_diff.h"

#include "core/os.h"

#include <pthread.h>

static dn_problem parse(const char *line)
{
    dn_problem p;
    if (dn_problem_parse(line, &p) != DN_SUCCESS)
        fail_msg("%s: %s", line, dn_error_text());
    return p;
}

static const dn_solver *row_named(const dn_problem *p, const char *name)
{
    const dn_solver *s;
    for (int i = 0; (s = dn_solver_at(&dn_cpu_engine, (dn_op)p->op, (dn_dir)p->dir, i)); i++)
        if (!strcmp(s->name, name))
            return s;
    fail_msg("there is no row %s", name);
    return NULL;
}

/* First cpu row that takes p, or NULL. */
static const dn_solver *taken_by(const dn_problem *p)
{
    const dn_solver *s;
    for (int i = 0; (s = dn_solver_at(&dn_cpu_engine, (dn_op)p->op, (dn_dir)p->dir, i)) && is_cpu(s); i++)
        if (!dn_solver_refuses(s, p))
            return s;
    return NULL;
}

#define CONV "x=n2c16h9w9:f32 w=k8c16r3s3:f32 y=n2c8h9w9:f32 pad=1 "

/* --- the engine --- */

static void library(void **state)
{
    (void)state;
    const dn_dnnl *d = dn_dnnl_get();
    assert_string_equal(dn_cpu_engine.name, "cpu");
    assert_ptr_equal(dn_cpu_engine.fallback, &dn_ref_engine);
    assert_ptr_equal(d, dn_dnnl_get());
    if (dn_cpu_engine.probe()) {
        assert_non_null(strstr(dn_cpu_engine.probe(), "oneDNN"));
        return;
    }
    assert_true(d->major == 2 || d->major == 3);
    assert_non_null(strstr(d->file, "dnnl"));
    assert_non_null(cpu.state);
}

/* --- refusals --- */

static void refusals(void **state)
{
    (void)state;
    NEED_ONEDNN();
    static const struct { const char *line, *word; } list[] = {
        { "conv fwd x=n2c16h9w9:f64 w=k8c16r3s3:f64 y=n2c8h9w9:f64 pad=1", "f32" },
        { "conv fwd " CONV "mode=conv", "cross-correlation" },
        { "conv bwd_filter x=n2c4h9w2:bf16 w=k8c4r1s3:bf16 y=n2c8h9w1:bf16 pad=0x1 str=1x3", "shorter than the stride" },
        { "pool fwd x=n2c3h9w9:f32:nchw y=n2c3h4w4:f32:nhwc win=2 str=2", "one layout" },
        { "transform fwd x=n2c3h9w9:f64 y=n2c3h9w9:f32", "f32" },
        { "conv fwd x=n2c16h9w9:f32 w=k8c16r3s3:f32 y=n2c8h9w9:f32:700,81,9,1 pad=1", "packed" },
        { "act fwd x=n2c3h4w5:f64 y=n2c3h4w5:f64 act=tanh", "f32" },
        { "softmax fwd x=n2c3h4w5:f32:nchw y=n2c3h4w5:f32:nchw mode=channel", "innermost" },
        { "pool fwd x=n2c3h4w5:i8 y=n2c3h2w2:i8 win=2 str=2", "f32" },
        { "bn infer x=n2c3h4w5:f32 y=n2c3h4w5:f32 w=k1c3r4s5:f32 mode=peract", "channel" },
    };
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
        dn_problem p = parse(list[k].line);
        const dn_solver *s = dn_solver_at(&dn_cpu_engine, (dn_op)p.op, (dn_dir)p.dir, 0);
        assert_true(is_cpu(s));
        const char *why = dn_solver_refuses(s, &p);
        if (!why || !strstr(why, list[k].word))
            fail_msg("%s: the row says \"%s\", not \"%s\"", list[k].line, why ? why : "nothing", list[k].word);
        assert_null(taken_by(&p));
    }
}

/* Numbers that promise no workspace ask for none; the others ask for what they use, and no more is touched (run_row guards it). */
static void workspaces(void **state)
{
    (void)state;
    NEED_ONEDNN();
    dn_problem p = parse("conv fwd " CONV "beta0");
    dn_plan *plan;
    assert_int_equal(dn_plan_make(&cpu, row_named(&p, "cpu_conv_fwd_implicit_gemm"), &p, &plan), DN_SUCCESS);
    assert_int_equal(plan->workspace, 0);
    dn_plan_free(plan);
    p.flags = 0;  /* the result is staged: at least its size */
    assert_int_equal(dn_plan_make(&cpu, row_named(&p, "cpu_conv_fwd_implicit_precomp_gemm"), &p, &plan), DN_SUCCESS);
    assert_true(plan->workspace >= 2 * 8 * 81 * sizeof(float));
    dn_plan_free(plan);
}

static void algorithm_numbers(void **state)
{
    (void)state;
    NEED_ONEDNN();
    static const struct { const char *dir; int algo; bool there; } list[] = {
        { "fwd", 0, true }, { "fwd", 1, true }, { "fwd", 4, false }, { "fwd", 6, false }, { "bwd_data", 0, true },
        { "bwd_data", 1, true }, { "bwd_data", 2, false }, { "bwd_filter", 0, true }, { "bwd_filter", 1, true },
        { "bwd_filter", 3, true }, { "bwd_filter", 5, false },
    };
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
        char line[256];
        snprintf(line, sizeof line, "conv %s " CONV "beta0", list[k].dir);
        dn_problem p = parse(line);
        p.algo = (int16_t)list[k].algo;
        const dn_solver *s = taken_by(&p);
        assert_int_equal(s != NULL, list[k].there);
        if (s)
            assert_int_equal(s->algo, list[k].algo);
    }
}

/* --- NaN and infinity: as ref has them --- */

static void put_specials(buffer *b)
{
    static const double v[] = { NAN, INFINITY, -INFINITY, 0, 1, -1 };
    for (int64_t i = 0; i < b->count; i += 5)
        dn_store(b->type, b->data, i, v[i / 5 % 6]);
}

static void expect_same(const char *line, bool lone_infinities)
{
    dn_problem p = parse(line);
    dn_args a = { .alpha = 1, .alpha2 = 1 };
    operands in = operands_new(&p, 7);
    put_specials(in.role[DN_X].memory ? &in.role[DN_X] : &in.role[DN_Y]);
    if (in.role[DN_DY].memory)
        put_specials(&in.role[DN_DY]);
    if (lone_infinities)
        for (int64_t i = 0; i < in.role[DN_X].count / 2; i++)
            dn_store(in.role[DN_X].type, in.role[DN_X].data, i, i < 30 ? NAN : -INFINITY);
    if (!diff(&p, &a, &in, 1))
        fail_msg("%s: no row of cpu took it", line);
    operands_free(&in);
}

static void specials(void **state)
{
    (void)state;
    NEED_ONEDNN();
    static const char *const acts[] = { "relu", "crelu", "sigmoid", "tanh", "elu", "swish" };
    for (int k = 0; k < 6; k++)
        for (int nan = 0; nan < 2; nan++) {
            char line[256];
            const char *tail = nan ? "nan=pass coef=1 beta=1 beta0" : "coef=1 beta=1 beta0";
            snprintf(line, sizeof line, "act fwd x=n2c8h5w5:f32 y=n2c8h5w5:f32 act=%s %s", acts[k], tail);
            expect_same(line, false);
            snprintf(line, sizeof line, "act bwd_data x=n2c8h5w5:f32 y=n2c8h5w5:f32 dx=n2c8h5w5:f32 dy=n2c8h5w5:f32 act=%s %s",
                     acts[k], tail);
            expect_same(line, false);
        }
    for (int nan = 0; nan < 2; nan++) {
        char line[256];
        const char *tail = nan ? "win=2 str=2 nan=pass beta0" : "win=2 str=2 beta0";
        snprintf(line, sizeof line, "pool fwd x=n2c8h6w6:f32 y=n2c8h3w3:f32 %s", tail);
        expect_same(line, false);
        expect_same(line, true);
        snprintf(line, sizeof line, "pool bwd_data x=n2c8h6w6:f32 y=n2c8h3w3:f32 dx=n2c8h6w6:f32 dy=n2c8h3w3:f32 %s", tail);
        expect_same(line, true);
    }
    expect_same("softmax fwd x=n4c10h1w1:f32 y=n4c10h1w1:f32 beta0", false);
    expect_same("softmax fwd x=n4c10h1w1:f32 y=n4c10h1w1:f32 algo=log beta0", false);
}

/* The activation after a convolution, for both NaN modes: one NaN in x. */
static void convolution_then_nan(void **state)
{
    (void)state;
    NEED_ONEDNN();
    for (int nan = 0; nan < 2; nan++)
        for (int mode = DN_ACT_RELU; mode <= DN_ACT_CLIPPED_RELU; mode += DN_ACT_CLIPPED_RELU - DN_ACT_RELU) {
            dn_problem p = parse("convba fwd " CONV "b=n1c8h1w1:f32 beta0");
            dn_args a = { .alpha = 1 };
            p.u.conv.act = (dn_act_param){ .mode = mode, .nan = nan, .coef = 0.5 };
            operands in = operands_new(&p, 3);
            dn_store(DN_F32, in.role[DN_X].data, 40, NAN);
            assert_int_equal(diff(&p, &a, &in, 2000), 2);
            operands_free(&in);
        }
}

/* --- what may change between runs of one plan --- */

static dn_status run_plan(const dn_plan *plan, dn_args *a, const operands *o)
{
    bind_args(a, o);
    return plan->solver->run(&cpu, plan, a);
}

static void one_plan_many_factors(void **state)
{
    (void)state;
    NEED_ONEDNN();
    dn_problem p = parse("conv fwd " CONV);
    operands in = operands_new(&p, 11);
    dn_plan *plan;
    assert_int_equal(dn_plan_make(&cpu, row_named(&p, "cpu_conv_fwd_implicit_gemm"), &p, &plan), DN_SUCCESS);
    for (int k = 0; k < 4; k++) {
        static const double alphas[] = { 1, -0.5, 2, 0 }, betas[] = { 1, 0, 0.5, -1 };
        dn_args a = { .alpha = alphas[k], .beta = betas[k] };
        operands want = run_row(&ref, ref_row(&p), &p, &a, &in), got = operands_copy(&in);
        assert_int_equal(run_plan(plan, &a, &got), DN_SUCCESS);
        compare(&got.role[DN_Y], &want.role[DN_Y], NULL, 144 * 16, plan->solver->name, "factors", "y");
        operands_free(&want);
        operands_free(&got);
    }
    dn_plan_free(plan);
    operands_free(&in);
}

/* Epsilon is part of oneDNN's primitive and not of the problem. */
static void one_plan_many_epsilons(void **state)
{
    (void)state;
    NEED_ONEDNN();
    dn_problem p = parse("bn infer x=n2c8h5w5:f32:nhwc y=n2c8h5w5:f32:nhwc w=k1c8r1s1:f32 beta0");
    operands in = operands_new(&p, 5);
    for (int k = DN_AUX_SCALE; k <= DN_AUX_VAR; k++) {
        in.aux[k] = buffer_new(DN_F32, 8, sizeof(float));
        buffer_random(&in.aux[k], 0, 0.01, 9 + (uint32_t)k);
    }
    dn_plan *plan;
    assert_int_equal(dn_plan_make(&cpu, row_named(&p, "cpu_bn_infer"), &p, &plan), DN_SUCCESS);
    for (int k = 0; k < 4; k++) {
        static const double eps[] = { 1e-5, 1, 0.01, 1e-5 };
        dn_args a = { .alpha = 1, .eps = eps[k] };
        operands want = run_row(&ref, ref_row(&p), &p, &a, &in), got = operands_copy(&in);
        assert_int_equal(run_plan(plan, &a, &got), DN_SUCCESS);
        compare(&got.role[DN_Y], &want.role[DN_Y], NULL, 1, plan->solver->name, "epsilon", "y");
        operands_free(&want);
        operands_free(&got);
    }
    dn_plan_free(plan);
    operands_free(&in);
}

static void equal_bits(void **state)
{
    (void)state;
    NEED_ONEDNN();
    dn_problem p = parse("conv bwd_filter x=n4c32h20w20:f32 w=k32c32r3s3:f32 y=n4c32h20w20:f32 pad=1 beta0");
    dn_args a = { .alpha = 1 };
    operands in = operands_new(&p, 21);
    const dn_solver *row = taken_by(&p);
    assert_non_null(row);
    operands first = run_row(&cpu, row, &p, &a, &in);
    for (int k = 0; k < 10; k++) {
        operands again = run_row(&cpu, row, &p, &a, &in);
        assert_memory_equal(again.role[DN_W].data, first.role[DN_W].data, first.role[DN_W].bytes);
        operands_free(&again);
    }
    operands_free(&first);
    operands_free(&in);
}

/* Integer data: sums are exact, so results must be equal to the bit. */
static void exact_sums(void **state)
{
    (void)state;
    NEED_ONEDNN();
    static const char *const dirs[] = { "fwd", "bwd_data", "bwd_filter" };
    for (int d = 0; d < 3; d++) {
        char line[256];
        snprintf(line, sizeof line, "conv %s " CONV "beta0", dirs[d]);
        dn_problem p = parse(line);
        dn_args a = { .alpha = 1 };
        operands in = operands_new(&p, 1);
        for (int r = 0; r < DN_ROLE_COUNT; r++)
            for (int64_t i = 0; i < in.role[r].count; i++)
                if (!is_output(&p, r))
                    dn_store(DN_F32, in.role[r].data, i, (double)((i * 7 + r) % 9) - 4);
        const dn_solver *row = taken_by(&p);
        assert_non_null(row);
        operands got = run_row(&cpu, row, &p, &a, &in), want = run_row(&ref, ref_row(&p), &p, &a, &in);
        for (int r = 0; r < DN_ROLE_COUNT; r++)
            if (is_output(&p, r))
                assert_memory_equal(got.role[r].data, want.role[r].data, want.role[r].bytes);
        operands_free(&got);
        operands_free(&want);
        operands_free(&in);
    }
}

/* --- threads: a handle each --- */

static void *use_own_handle(void *out)
{
    dn_handle h = { .engine = &dn_cpu_engine };
    dn_problem p;
    dn_plan *plan = NULL;
    float x[2 * 16 * 81], w[8 * 16 * 9], y[2 * 8 * 81];
    for (int i = 0; i < 2 * 16 * 81; i++)
        x[i] = 1;
    for (int i = 0; i < 8 * 16 * 9; i++)
        w[i] = 1;
    if (dn_problem_parse("conv fwd " CONV "beta0", &p) != DN_SUCCESS || dn_cpu_engine.open(&h) != DN_SUCCESS)
        return NULL;
    const dn_solver *row = dn_solver_at(&dn_cpu_engine, DN_OP_CONV, DN_DIR_FWD, 1);
    int good = 0;
    for (int k = 0; k < 20; k++) {
        dn_args a = { .alpha = 1, .ptr = { [DN_X] = x, [DN_W] = w, [DN_Y] = y } };
        if (dn_plan_make(&h, row, &p, &plan) != DN_SUCCESS)
            break;
        good += row->run(&h, plan, &a) == DN_SUCCESS && y[0] == 64 && y[40] == 144;
        dn_plan_free(plan);
    }
    dn_handle_close(&h);
    *(int *)out = good;
    return NULL;
}

static void two_threads(void **state)
{
    (void)state;
    NEED_ONEDNN();
    pthread_t t[2];
    int good[2] = { 0, 0 };
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&t[k], NULL, use_own_handle, &good[k]), 0);
    for (int k = 0; k < 2; k++) {
        pthread_join(t[k], NULL);
        assert_int_equal(good[k], 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library), cmocka_unit_test(refusals), cmocka_unit_test(workspaces), cmocka_unit_test(algorithm_numbers),
        cmocka_unit_test(specials), cmocka_unit_test(convolution_then_nan), cmocka_unit_test(one_plan_many_factors),
        cmocka_unit_test(one_plan_many_epsilons), cmocka_unit_test(equal_bits), cmocka_unit_test(exact_sums),
        cmocka_unit_test(two_threads),
    };
    return cmocka_run_group_tests(tests, diff_setup, diff_teardown);
}
