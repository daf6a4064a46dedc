/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The core by itself: element types, object pools, threads, texts, the row filter. */
#include "core/config.h"
#include "core/dtype.h"
#include "core/os.h"
#include "core/pool.h"
#include "core/status.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* --- types --- */

/* Every code of a 16-bit float comes back from double as itself. */
static void f16_and_bf16_round_trip(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 65536; h++) {
        float f = dn_f16_to_f32((uint16_t)h), b = dn_bf16_to_f32((uint16_t)h);
        if (!isnan(f))
            assert_int_equal(dn_f64_to_f16(f), h);
        else
            assert_true(isnan(dn_f16_to_f32(dn_f64_to_f16(f))));
        if (!isnan(b))
            assert_int_equal(dn_f64_to_bf16(b), h);
        else
            assert_true(isnan(dn_bf16_to_f32(dn_f64_to_bf16(b))));
    }
}

/* Between two neighbours: the middle goes to the even one, a hair past it to the nearer. */
static void narrow_floats_round_to_nearest_even(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 0x7bff; h++) {
        double lo = dn_f16_to_f32((uint16_t)h), hi = dn_f16_to_f32((uint16_t)(h + 1)), mid = (lo + hi) / 2;
        assert_int_equal(dn_f64_to_f16(mid), h + (h & 1));
        assert_int_equal(dn_f64_to_f16(nextafter(mid, lo)), h);
        assert_int_equal(dn_f64_to_f16(nextafter(mid, hi)), h + 1);
        assert_int_equal(dn_f64_to_f16(-nextafter(mid, hi)), 0x8000 | (h + 1));
    }
    for (unsigned h = 0; h < 0x7f7f; h++) {
        double lo = dn_bf16_to_f32((uint16_t)h), hi = dn_bf16_to_f32((uint16_t)(h + 1)), mid = (lo + hi) / 2;
        assert_int_equal(dn_f64_to_bf16(mid), h + (h & 1));
        assert_int_equal(dn_f64_to_bf16(nextafter(mid, hi)), h + 1);
    }
}

static void narrow_floats_overflow_and_underflow(void **state)
{
    (void)state;
    assert_int_equal(dn_f64_to_f16(65519.999), 0x7bff);
    assert_int_equal(dn_f64_to_f16(65520), 0x7c00);
    assert_int_equal(dn_f64_to_f16(-1e300), 0xfc00);
    assert_int_equal(dn_f64_to_f16(INFINITY), 0x7c00);
    assert_int_equal(dn_f64_to_f16(0x1p-25), 0);
    assert_int_equal(dn_f64_to_f16(0x1.000001p-25), 1);
    assert_int_equal(dn_f64_to_f16(-0.0), 0x8000);
    assert_int_equal(dn_f64_to_bf16(3.4e38), 0x7f80);
    double e4m3[] = { 448, 464, 465, -1e9, 0.001953125, 0.0009765625 };
    unsigned char code[6];
    for (int i = 0; i < 6; i++)
        dn_store(DN_F8E4M3, code, i, e4m3[i]);
    assert_int_equal(code[0], 0x7e);  /* the largest number */
    assert_int_equal(code[1], 0x7e);  /* a tie with what would be the next, to even */
    assert_int_equal(code[2], 0x7f);  /* there is no infinity: NaN */
    assert_int_equal(code[3], 0xff);
    assert_int_equal(code[4], 0x01);  /* the least number, 2^-9 */
    assert_int_equal(code[5], 0x00);  /* half of it, to even */
}

static void integers_round_and_saturate(void **state)
{
    (void)state;
    double in[] = { 127.5, 126.5, -128.5, 1e9, -1e9, NAN, 2.5, 3.5 };
    int8_t want[] = { 127, 126, -128, 127, -128, 0, 2, 4 }, got[8];
    dn_store_row(DN_I8, got, 0, 1, 8, in, 1, 0);
    assert_memory_equal(got, want, 8);
    int64_t big;
    dn_store(DN_I64, &big, 0, 1e300);
    assert_true(big == INT64_MAX);
    int32_t i32;
    dn_store(DN_I32, &i32, 0, -3e9);
    assert_true(i32 == INT32_MIN);
}

static void rows_follow_strides_alpha_and_beta(void **state)
{
    (void)state;
    float x[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    double row[3];
    dn_load_row(DN_F32, x, 9, -4, 3, row);
    assert_true(row[0] == 9 && row[1] == 5 && row[2] == 1);
    x[1] = x[3] = NAN;
    dn_store_row(DN_F32, x, 1, 2, 2, row, 2, 0);  /* beta 0: the NaN is not read */
    assert_true(x[1] == 18 && x[3] == 10 && x[2] == 2);
    dn_store_row(DN_F32, x, 0, 1, 1, row, 2, 3);
    assert_true(x[0] == 18);
    unsigned char odd[16];
    dn_store(DN_F32, odd + 1, 0, 1.5);  /* misaligned */
    assert_true(dn_load(DN_F32, odd + 1, 0) == 1.5);
}

static void type_names_go_both_ways(void **state)
{
    (void)state;
    for (int t = 0; t < DN_DTYPE_COUNT; t++) {
        const char *name = dn_dtype_name((dn_dtype)t);
        assert_int_equal(dn_dtype_parse(name, strlen(name)), t);
    }
    assert_int_equal(dn_dtype_parse("f3", 2), -1);
    assert_int_equal(dn_dtype_size((dn_dtype)99), 0);
    assert_string_equal(dn_dtype_name((dn_dtype)-1), "?");
}

/* --- pools --- */

typedef struct thing {
    uint32_t cookie;
    int value[5];
} thing;

static dn_pool things = DN_POOL("thing", 0x1234, thing), others = DN_POOL("other", 0x4321, thing);

static void a_pool_knows_its_live_objects(void **state)
{
    (void)state;
    thing *a = dn_pool_new(&things), *b = dn_pool_new(&others);
    assert_true(dn_pool_live(&things, a));
    assert_false(dn_pool_live(&things, b));
    assert_false(dn_pool_live(&things, NULL));
    assert_false(dn_pool_live(&things, (void *)0xdeadbeef0));
    assert_false(dn_pool_live(&things, (char *)a + 4));
    assert_false(dn_pool_live(&things, (char *)a + 1));
    a->value[0] = 7;
    dn_pool_free(&things, a);
    assert_false(dn_pool_live(&things, a));
    dn_pool_free(&others, b);
}

static void a_freed_slot_is_used_last_and_comes_back_empty(void **state)
{
    (void)state;
    thing *first = dn_pool_new(&things);
    first->value[2] = 9;
    dn_pool_free(&things, first);
    thing *all[3000];
    for (int i = 0; i < 3000; i++) {
        all[i] = dn_pool_new(&things);
        assert_non_null(all[i]);
        assert_int_equal(all[i]->value[2], 0);
        all[i]->value[2] = i;
    }
    for (int i = 0; i < 3000; i++) {
        assert_true(dn_pool_live(&things, all[i]));
        assert_int_equal(all[i]->value[2], i);
        dn_pool_free(&things, all[i]);
    }
    /* Now thousands are free: the one freed longest ago comes first, and a slot freed just now stays dead for long. */
    dn_pool_free(&things, dn_pool_new(&things));
    thing *dead = dn_pool_new(&things);
    dn_pool_free(&things, dead);
    for (int i = 0; i < DN_POOL_FIRST; i++)
        assert_true(dn_pool_new(&things) != dead);
}

static void even_a_lone_object_stays_dead_for_a_while(void **state)
{
    (void)state;
    static dn_pool few = DN_POOL("few", 0x77, thing);
    thing *dead = dn_pool_new(&few);
    dn_pool_free(&few, dead);
    for (int i = 0; i < DN_POOL_FIRST - 1; i++) {
        dn_pool_free(&few, dn_pool_new(&few));
        assert_false(dn_pool_live(&few, dead));
    }
}

/* --- threads --- */

static void mark(void *ctx, int64_t begin, int64_t end)
{
    _Atomic unsigned char *seen = ctx;
    for (int64_t i = begin; i < end; i++)
        seen[i]++;
}

static void nested(void *ctx, int64_t begin, int64_t end)
{
    (void)begin;
    (void)end;
    dn_parallel(100, 1, mark, ctx);
}

static void ranges_cover_everything_once(void **state)
{
    (void)state;
    static _Atomic unsigned char seen[10007];
    int64_t sizes[] = { 0, 1, 2, 63, 64, 65, 10007 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int64_t grain = 1; grain < 20000; grain = grain * 7 + 1) {
            memset((void *)seen, 0, sizeof seen);
            dn_parallel(sizes[s], grain, mark, (void *)seen);
            for (int64_t i = 0; i < 10007; i++)
                assert_int_equal(seen[i], i < sizes[s]);
        }
    memset((void *)seen, 0, sizeof seen);
    dn_parallel(1, 1, nested, (void *)seen);
    assert_int_equal(seen[99], 1);
}

/* The pool of the parent does not exist in a child; the child makes its own. */
static void threads_work_after_fork(void **state)
{
    (void)state;
    static _Atomic unsigned char seen[4096];
    dn_parallel(4096, 1, mark, (void *)seen);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        dn_parallel(4096, 1, mark, (void *)seen);
        for (int i = 0; i < 4096; i++)
            if (seen[i] != 2)
                _exit(1);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static _Atomic int stop_taking;
static dn_lock contended = DN_LOCK_INIT, inner = DN_LOCK_INIT;

static void *take_and_give(void *arg)
{
    while (!stop_taking) {
        dn_lock_take(&contended);
        dn_lock_take(&inner);
        dn_lock_give(&inner);
        dn_lock_give(&contended);
    }
    return arg;
}

/* A lock that another thread holds at the moment of fork must not stay held in the child for ever. */
static void locks_are_free_in_a_forked_child(void **state)
{
    (void)state;
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&t[i], NULL, take_and_give, NULL), 0);
    for (int i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            dn_lock_take(&inner);
            dn_lock_take(&contended);
            _exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
    }
    stop_taking = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
}

static void *many_callers(void *arg)
{
    static _Atomic unsigned char scratch[64][256];
    for (int i = 0; i < 200; i++)
        dn_parallel(256, 1, mark, (void *)scratch[(intptr_t)arg]);
    return (void *)(intptr_t)(scratch[(intptr_t)arg][255] == 200);
}

static void many_threads_may_call_at_once(void **state)
{
    (void)state;
    pthread_t t[8];
    for (intptr_t i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&t[i], NULL, many_callers, (void *)i), 0);
    for (int i = 0; i < 8; i++) {
        void *ok;
        pthread_join(t[i], &ok);
        assert_true(ok);
    }
}

/* --- texts --- */

static void failures_carry_function_and_text(void **state)
{
    (void)state;
    dn_call_begin("cudnnThing");
    assert_int_equal(dn_fail(DN_BAD_PARAM, "x is %d", 3), DN_BAD_PARAM);
    assert_string_equal(dn_error_text(), "cudnnThing: x is 3");
    dn_fail_append("  row: %s", "why");
    assert_string_equal(dn_error_text(), "cudnnThing: x is 3\n  row: why");
    char *huge = malloc(3 * DN_ERROR_MAX);
    memset(huge, 'a', 3 * DN_ERROR_MAX - 1);
    huge[3 * DN_ERROR_MAX - 1] = 0;
    dn_fail(DN_BAD_PARAM, "%s", huge);
    assert_int_equal(strlen(dn_error_text()), DN_ERROR_MAX - 1);
    dn_fail_append("%s", huge);
    assert_int_equal(strlen(dn_error_text()), DN_ERROR_MAX - 1);
    free(huge);
    dn_error_clear();
    assert_string_equal(dn_error_text(), "");
}

static void the_solver_filter_names_and_excludes(void **state)
{
    (void)state;
    /* set in main, before the environment is read */
    assert_true(dn_config_allows("keep_me"));
    assert_false(dn_config_allows("not_named"));
    assert_false(dn_config_allows("drop_me"));
    assert_false(dn_config_allows("keep_m"));
}

int main(void)
{
    setenv("ANYDNN_SOLVER", "keep_me,-drop_me", 1);
    setenv("ANYDNN_THREADS", "4", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f16_and_bf16_round_trip),
        cmocka_unit_test(narrow_floats_round_to_nearest_even),
        cmocka_unit_test(narrow_floats_overflow_and_underflow),
        cmocka_unit_test(integers_round_and_saturate),
        cmocka_unit_test(rows_follow_strides_alpha_and_beta),
        cmocka_unit_test(type_names_go_both_ways),
        cmocka_unit_test(a_pool_knows_its_live_objects),
        cmocka_unit_test(a_freed_slot_is_used_last_and_comes_back_empty),
        cmocka_unit_test(even_a_lone_object_stays_dead_for_a_while),
        cmocka_unit_test(ranges_cover_everything_once),
        cmocka_unit_test(threads_work_after_fork),
        cmocka_unit_test(locks_are_free_in_a_forked_child),
        cmocka_unit_test(many_threads_may_call_at_once),
        cmocka_unit_test(failures_carry_function_and_text),
        cmocka_unit_test(the_solver_filter_names_and_excludes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
