/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * dnbench's own parts: does it see what it is there to see? */
#include "bench.h"
#include "compare.h"
#include "differences.h"
#include "isolate.h"
#include "operands.h"
#include "report.h"
#include "target.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* main.c is not linked here. */
const char *bench_library(void)
{
    return "";
}

const char *bench_library_given(void)
{
    return NULL;
}

static bench_case parse(const char *line)
{
    bench_case c;
    if (bench_case_parse(line, &c) != DN_SUCCESS)
        fail_msg("%s: %s", line, dn_error_text());
    return c;
}

/* --- lines --- */

static void words_after_the_bar_are_read_and_written(void **state)
{
    (void)state;
    bench_case c = parse("pool fwd x=n2c4h9w9:f32:nhwc win=3 str=2 | alpha=2 beta=-0.5 fill=int seed=7");
    assert_true(c.alpha == 2 && c.beta == -0.5 && c.seed == 7 && c.fill == BENCH_INT);
    assert_false(c.p.flags & DN_F_BETA_ZERO);
    assert_int_equal(c.p.t[DN_Y].dims[2], 4);
    assert_true(dn_tensor_is_packed_nhwc(&c.p.t[DN_Y]));
    bench_case again = parse(c.text);
    assert_string_equal(again.text, c.text);
    assert_memory_equal(&again.p, &c.p, sizeof c.p);
    assert_true(parse("pool fwd x=n2c4h9w9:f32 win=3").p.flags & DN_F_BETA_ZERO);
}

static void a_wrong_word_is_named(void **state)
{
    (void)state;
    static const struct { const char *line, *word; } rows[] = {
        { "pool fwd x=n2c4h9w9:f32 win=3 | alpha", "alpha" },
        { "pool fwd x=n2c4h9w9:f32 win=3 | alpha=x", "number" },
        { "pool fwd x=n2c4h9w9:f32 win=3 | fill=red", "fill" },
        { "pool fwd x=n2c4h9w9:f32 wim=3", "wim" },
        { "pool fwd x=n2c4h9w9:f33 win=3", "f33" },
        { "conv fwd x=n2c4h9w9:f32 w=k4c3r3s3:f32", "channels" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench_case c;
        dn_error_clear();
        assert_int_not_equal(bench_case_parse(rows[i].line, &c), DN_SUCCESS);
        if (!strstr(dn_error_text(), rows[i].word))
            fail_msg("%s: no \"%s\" in \"%s\"", rows[i].line, rows[i].word, dn_error_text());
    }
}

static void inputs_follow_from_the_line(void **state)
{
    (void)state;
    bench_data a, b, other;
    bench_case c = parse("conv fwd x=n2c3h5w5:f16 w=k4c3r3s3:f16"), d = parse("conv fwd x=n2c3h5w5:f16 w=k4c3r3s3:f16 | seed=2");
    assert_true(bench_data_make(&a, &c) && bench_data_make(&b, &c) && bench_data_make(&other, &d));
    assert_memory_equal(a.s[DN_X].v, b.s[DN_X].v, 150 * sizeof(double));
    assert_true(memcmp(a.s[DN_X].v, other.s[DN_X].v, 150 * sizeof(double)) != 0);
    for (int i = 0; i < 150; i++)
        assert_true(a.s[DN_X].v[i] >= -1 && a.s[DN_X].v[i] <= 1);
    /* Golden files depend on these for ever. */
    assert_true(bench_unit(1, 0, 0) == 0x1.27b6649046eecp-1);
    assert_true(bench_unit(1, 2, 5) == -0x1.6fab8e89425f8p-2);
    bench_data_free(&a), bench_data_free(&b), bench_data_free(&other);
}

/* --- a run of a wrong row --- */

typedef struct bed {
    bench_case c;
    bench_data d;
    bench_truth t;
    bench_memory m;
} bed;

/* The right answer of a line, in memory, as a good row leaves it. */
static bed right(const char *line, bench_place place)
{
    bed b = { .c = parse(line) };
    assert_true(bench_data_make(&b.d, &b.c) && bench_truth_make(&b.t, &b.c, &b.d));
    assert_true(bench_memory_make(&b.m, &b.c, &b.d, NULL, place));
    const dn_tensor *y = &b.c.p.t[DN_Y];
    int64_t lo, hi;
    dn_tensor_span(y, &lo, &hi);
    for (int64_t i = 0; i < b.d.s[DN_Y].count; i++)
        dn_store(y->type, b.m.b[DN_Y].first, bench_offset(y, i) - lo, b.t.v[DN_Y][i]);
    return b;
}

static bench_result judge(bed *b, unsigned how)
{
    bench_result r;
    bench_compare(&b->c, &b->d, &b->t, &b->m, how, &r);
    return r;
}

static void drop(bed *b)
{
    bench_memory_free(&b->m);
    bench_truth_free(&b->t);
    bench_data_free(&b->d);
}

static const char conv_line[] = "conv fwd x=n2c3h5w5:f32 w=k4c3r3s3:f32 y=n2c4h3w3:f32:100,20,6,2";

static void the_right_answer_passes(void **state)
{
    (void)state;
    for (int place = 0; place < 2; place++) {
        bed b = right(conv_line, (bench_place)place);
        assert_int_equal(judge(&b, 0).verdict, BENCH_PASS);
        assert_null(bench_memory_damage(&b.m, &b.d));
        drop(&b);
    }
}

static void an_element_that_is_off_fails(void **state)
{
    (void)state;
    bed b = right(conv_line, BENCH_AT_END);
    float *y = (float *)b.m.b[DN_Y].pointer, keep = y[2];
    y[2] = keep + 1e-3f;
    assert_int_equal(judge(&b, 0).verdict, BENCH_FAIL);
    y[2] = keep + 1e-3f * fabsf(keep) / 4;
    assert_int_equal(judge(&b, BENCH_TF32).verdict, BENCH_PASS);
    y[2] = NAN;
    assert_int_equal(judge(&b, BENCH_TF32).verdict, BENCH_FAIL);
    y[2] = keep;
    assert_int_equal(judge(&b, 0).verdict, BENCH_PASS);
    drop(&b);
    /* Whole numbers must be exact: one unit of the last place is too much. */
    b = right("conv fwd x=n2c3h5w5:f32 w=k4c3r3s3:f32 | fill=int", BENCH_AT_END);
    y = b.m.b[DN_Y].pointer;
    assert_int_equal(judge(&b, 0).verdict, BENCH_PASS);
    y[5] = nextafterf(y[5], 100);
    assert_int_equal(judge(&b, 0).verdict, BENCH_FAIL);
    assert_int_equal(judge(&b, BENCH_TRANSFORMED).verdict, BENCH_PASS);
    drop(&b);
    b = right("conv fwd x=n2c4h5w5:i8 w=k4c4r3s3:i8 y=n2c4h3w3:i8 comp=i32 | alpha=0.1", BENCH_AT_END);
    assert_int_equal(judge(&b, 0).verdict, BENCH_PASS);
    ((int8_t *)b.m.b[DN_Y].pointer)[3] += 1;
    assert_int_equal(judge(&b, 0).verdict, BENCH_FAIL);
    drop(&b);
}

static void a_write_out_of_place_is_damage(void **state)
{
    (void)state;
    bed b = right(conv_line, BENCH_AT_END);
    unsigned char *gap = (unsigned char *)b.m.b[DN_Y].pointer + 4, *x = b.m.b[DN_X].pointer, *w = b.m.b[DN_W].pointer;
    assert_null(bench_memory_damage(&b.m, &b.d));
    *gap ^= 1;
    assert_string_equal(bench_memory_damage(&b.m, &b.d), "wrote between the elements of y");
    *gap ^= 1;
    x[5] ^= 1;
    assert_string_equal(bench_memory_damage(&b.m, &b.d), "wrote to the input x");
    x[5] ^= 1;
    w[-1] ^= 1;
    assert_string_equal(bench_memory_damage(&b.m, &b.d), "wrote before w");
    w[-1] ^= 1;
    assert_null(bench_memory_damage(&b.m, &b.d));
    drop(&b);
}

static void pointers_have_the_alignment_of_the_line(void **state)
{
    (void)state;
    for (int align = 2; align <= 16; align *= 2)
        for (int place = 0; place < 2; place++) {
            char line[128];
            snprintf(line, sizeof line, "act fwd x=n1c1h3w7:f16:nchw@%d y=n1c1h3w7:f16:nchw act=relu", align);
            bed b = right(line, (bench_place)place);
            uintptr_t at = (uintptr_t)b.m.b[DN_X].pointer;
            assert_int_equal(at % (unsigned)align, 0);
            assert_true(align == 16 || at % (2 * (unsigned)align) != 0);
            drop(&b);
        }
}

static void every_operation_is_in_the_table(void **state)
{
    (void)state;
    for (int op = 0; op < DN_OP_COUNT; op++)
        for (int dir = 0; dir < DN_DIR_COUNT; dir++)
            if (dn_solver_at(&dn_ref_engine, (dn_op)op, (dn_dir)dir, 0) && !bench_knows((dn_op)op, (dn_dir)dir))
                fail_msg("%s %s has rows and dnbench does not know it", dn_op_name((dn_op)op), dn_dir_name((dn_dir)dir));
}

/* --- isolation --- */

typedef struct seen {
    int answers[8], died[8];
} seen;

static int work_one(void *ctx, int i)
{
    (void)ctx;
    if (i == 2)
        abort();
    if (i == 4)
        for (;;)
            usleep(1000);
    bench_send(&i, sizeof i);
    return i != 5;  /* the process is no good after line 5 */
}

static void work_got(void *ctx, int i, const void *message, size_t size)
{
    int sent;
    assert_int_equal(size, sizeof sent);
    memcpy(&sent, message, sizeof sent);
    assert_int_equal(sent, i);
    ((seen *)ctx)->answers[i]++;
}

static void work_died(void *ctx, int i, const char *how)
{
    assert_non_null(how);
    ((seen *)ctx)->died[i]++;
}

static void a_line_that_dies_costs_itself_alone(void **state)
{
    (void)state;
    seen s = { 0 };
    const bench_work w = { .n = 8, .seconds = 1, .ctx = &s, .one = work_one, .got = work_got, .died = work_died };
    assert_int_equal(bench_isolate(&w), 0);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(s.answers[i], i != 2 && i != 4);
        assert_int_equal(s.died[i], i == 2 || i == 4);
    }
}

static int start_fails(void *ctx)
{
    (void)ctx;
    return BENCH_CANNOT_READ;
}

static void a_start_that_fails_ends_all(void **state)
{
    (void)state;
    const bench_work w = { .n = 3, .start = start_fails, .one = work_one, .got = work_got, .died = work_died };
    assert_int_equal(bench_isolate(&w), BENCH_CANNOT_READ);
}

/* --- filter, golden --- */

static void filters_include_and_exclude(void **state)
{
    (void)state;
    assert_true(bench_filter_passes(NULL, "ref_conv_fwd_fft"));
    assert_true(bench_filter_passes("fft", "ref_conv_fwd_fft"));
    assert_false(bench_filter_passes("fft", "ref_conv_fwd_gemm"));
    assert_true(bench_filter_passes("-fft", "ref_conv_fwd_gemm"));
    assert_false(bench_filter_passes("conv,-fft", "ref_conv_fwd_fft"));
    assert_false(bench_filter_passes("conv,-fft", "ref_pool_fwd"));
}

/* path: ends in XXXXXX, which becomes the file's name */
static void write_file(char *path, const char *text)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* differences: NULL for none */
static int check_golden_with(const char *text, const char *differences)
{
    char path[] = "/tmp/dnbench_golden_XXXXXX", known[] = "/tmp/dnbench_known_XXXXXX";
    write_file(path, text);
    write_file(known, differences ? differences : "");
    bench_options o = { .golden = path, .differences = differences ? known : NULL, .quiet = true };
    int code = bench_golden_check(&o);
    unlink(path);
    unlink(known);
    return code;
}

static int check_golden(const char *text)
{
    return check_golden_with(text, NULL);
}

static void golden_files_are_compared(void **state)
{
    (void)state;
    static const char line[] = "L set fwd y=n1c1h1w3:f32:nchw | value=2\n";
    char text[512];
    snprintf(text, sizeof text, "%sS SUCCESS algo=-1 how=0\nO 1 3 0 3.46410162 0:2 2:2 1:2\n", line);
    assert_int_equal(check_golden(text), BENCH_GOOD);
    snprintf(text, sizeof text, "%sS SUCCESS algo=-1 how=0\nO 1 3 0 3.46410162 0:2 2:2.001 1:2\n", line);
    assert_int_equal(check_golden(text), BENCH_FINDINGS);
    snprintf(text, sizeof text, "%sS SUCCESS algo=-1 how=0\nO 1 3 0 3.5 0:2 2:2 1:2\n", line);
    assert_int_equal(check_golden(text), BENCH_FINDINGS);
    snprintf(text, sizeof text, "%sS NOT_SUPPORTED algo=-1 how=0 why\n", line);
    assert_int_equal(check_golden(text), BENCH_GOOD);
    assert_int_equal(check_golden("L nonsense\nS SUCCESS algo=-1 how=0\n"), BENCH_FINDINGS);
    bench_options o = { .golden = "/nonexistent", .quiet = true };
    assert_int_equal(bench_golden_check(&o), BENCH_CANNOT_READ);
}

static void known_differences_are_no_findings(void **state)
{
    (void)state;
    static const char head[] = "L set fwd y=n1c1h1w3:f32:nchw | value=2\nS SUCCESS algo=-1 how=0\n";
    char off[512], off_norm[512], same[512];
    snprintf(off, sizeof off, "%sO 1 3 0 3.46410162 0:2 2:2.5 1:2\n", head);
    snprintf(off_norm, sizeof off_norm, "%sO 1 3 0 3.5 0:2 2:2 1:2\n", head);
    snprintf(same, sizeof same, "%sO 1 3 0 3.46410162 0:2 2:2 1:2\n", head);
    static const struct { const char *known; int off, same; } rows[] = {
        { "# nothing\n\n", BENCH_FINDINGS, BENCH_GOOD },
        { "set fwd y=n1c1h1w3:f32:nchw | value=2\ty\tanother rule\n", BENCH_GOOD, BENCH_FINDINGS },
        { "set fwd\ty\tanother rule\n", BENCH_GOOD, BENCH_FINDINGS },
        { "set fwd y=n1c1h1w3:f32\ty\tnot up to the end of a word\n", BENCH_FINDINGS, BENCH_GOOD },
        { "set fwd y=n1c1h1w4:f32:nchw\ty\tanother line\n", BENCH_FINDINGS, BENCH_GOOD },
        { "set fwd\tdx\tanother output\n", BENCH_FINDINGS, BENCH_FINDINGS },
        { "set fwd\ty\tone\nset fwd\tdx\tand one that does not differ\n", BENCH_FINDINGS, BENCH_FINDINGS },
        { "set fwd\ty\n", BENCH_CANNOT_READ, BENCH_CANNOT_READ },
        { "set fwd\tnothing\treason\n", BENCH_CANNOT_READ, BENCH_CANNOT_READ },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(check_golden_with(off, rows[i].known), rows[i].off);
        assert_int_equal(check_golden_with(off_norm, rows[i].known), rows[i].off);
        assert_int_equal(check_golden_with(same, rows[i].known), rows[i].same);
    }
    char refused[512];
    snprintf(refused, sizeof refused, "%.*sS NOT_SUPPORTED algo=-1 how=0\n", (int)(strchr(head, '\n') + 1 - head), head);
    assert_int_equal(check_golden_with(refused, rows[1].known), BENCH_FINDINGS);
    bench_options o = { .golden = GOLDEN_DIR "/act.golden", .differences = "/nonexistent", .quiet = true };
    assert_int_equal(bench_golden_check(&o), BENCH_CANNOT_READ);
}

/* One output that is known to differ hides no other. */
static void a_known_difference_is_of_one_output(void **state)
{
    (void)state;
    static const char line[] = "divnorm bwd_data x=n1c1h1w1:f32:nchw dx=n1c1h1w1:f32:nchw dy=n1c1h1w1:f32:nchw "
                               "b=n1c1h1w1:f32:nchw dz=n1c1h1w1:f32:nchw n=1";
    bench_case c = parse(line);
    bench_data d;
    bench_truth t;
    char text[2048], known[1200];
    assert_true(bench_data_make(&d, &c) && bench_truth_make(&t, &c, &d));
    double dx = t.v[DN_DX][0], dz = t.v[DN_DZ][0];
    snprintf(known, sizeof known, "%s\tdx\tanother sum\n", c.text);
    for (int wrong = 0; wrong < 2; wrong++) {
        double z = dz + wrong;
        snprintf(text, sizeof text, "L %s\nS SUCCESS algo=-1 how=0\nO %d 1 0 %.17g 0:%.17g\nO %d 1 0 %.17g 0:%.17g\n", c.text, DN_DX,
                 fabs(dx + 1), dx + 1, DN_DZ, fabs(z), z);
        assert_int_equal(check_golden_with(text, known), wrong ? BENCH_FINDINGS : BENCH_GOOD);
    }
    bench_truth_free(&t);
    bench_data_free(&d);
}

/* An entry that no golden file has a line for would never be looked at. */
static void every_listed_difference_is_in_a_golden_file(void **state)
{
    (void)state;
    static bool found[BENCH_DIFFERENCES];
    static char text[8192];
    bench_differences known;
    assert_true(bench_differences_read(&known, NULL, GOLDEN_DIR "/any"));
    assert_int_not_equal(known.n, 0);
    for (int k = 0; bench_short_lists[k]; k++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s.golden", GOLDEN_DIR, bench_short_lists[k]);
        FILE *f = fopen(path, "r");
        while (f && fgets(text, sizeof text, f)) {
            text[strcspn(text, "\n")] = 0;
            for (int i = 0; text[0] == 'L' && i < known.n; i++)
                found[i] |= bench_difference_is_of(&known.v[i], text + 2);
        }
        if (f)
            fclose(f);
    }
    for (int i = 0; i < known.n; i++)
        if (!found[i])
            fail_msg("no golden file has a line for \"%s\"", known.v[i].line);
    bench_differences_free(&known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_after_the_bar_are_read_and_written), cmocka_unit_test(a_wrong_word_is_named),
        cmocka_unit_test(inputs_follow_from_the_line), cmocka_unit_test(the_right_answer_passes),
        cmocka_unit_test(an_element_that_is_off_fails), cmocka_unit_test(a_write_out_of_place_is_damage),
        cmocka_unit_test(pointers_have_the_alignment_of_the_line), cmocka_unit_test(every_operation_is_in_the_table),
        cmocka_unit_test(a_line_that_dies_costs_itself_alone), cmocka_unit_test(a_start_that_fails_ends_all),
        cmocka_unit_test(filters_include_and_exclude), cmocka_unit_test(golden_files_are_compared),
        cmocka_unit_test(known_differences_are_no_findings), cmocka_unit_test(a_known_difference_is_of_one_output),
        cmocka_unit_test(every_listed_difference_is_in_a_golden_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
