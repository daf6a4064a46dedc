/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The tuning file: its text, damaged text, and the way from a Find in one process to Get_v7 in the next. */
#include "core/engine.h"
#include "core/tunefile.h"

#include <cudnn.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define HEAD "anydnn tune 1 " ANYDNN_VERSION "\n"

static void text_is_found_by_engine_and_problem(void **state)
{
    (void)state;
    static const char text[] = HEAD "ref row_a conv fwd x=1\ncpu row_b conv fwd x=1\nref row_c conv fwd x=2\nref row_d conv fwd x=1\n";
    dn_tune_table *t = dn_tune_table_new();
    assert_true(dn_tune_table_parse(t, text, sizeof text - 1));
    assert_int_equal(dn_tune_table_count(t), 3);
    assert_string_equal(dn_tune_table_find(t, "ref", "conv fwd x=1"), "row_d");  /* the later line wins */
    assert_string_equal(dn_tune_table_find(t, "cpu", "conv fwd x=1"), "row_b");
    assert_null(dn_tune_table_find(t, "ref", "conv fwd x=3"));
    dn_tune_table_free(t);
}

static void damaged_text_is_passed_over(void **state)
{
    (void)state;
    static const struct { const char *text; bool head; int count; } cases[] = {
        { "", false, 0 },
        { "anydnn tune 1", false, 0 },
        { "anydnn tune 2 9.9.9\nref a b\n", false, 0 },
        { HEAD, true, 0 },
        { HEAD "\n\n \n", true, 0 },
        { HEAD "ref\nref row\nref  x\n row problem\n", true, 0 },
        { HEAD "ref row problem line", true, 1 },  /* cut before the newline, and whole all the same */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dn_tune_table *t = dn_tune_table_new();
        assert_int_equal(dn_tune_table_parse(t, cases[i].text, strlen(cases[i].text)), cases[i].head);
        assert_int_equal(dn_tune_table_count(t), cases[i].count);
        dn_tune_table_free(t);
    }
    char *longest = malloc(20000);
    memset(longest, 'a', 20000);
    memcpy(longest, HEAD "ref row ", strlen(HEAD "ref row "));
    dn_tune_table *t = dn_tune_table_new();
    assert_true(dn_tune_table_parse(t, longest, 20000));
    assert_int_equal(dn_tune_table_count(t), 0);
    dn_tune_table_free(t);
    free(longest);
}

/* --- through the API, each step in a process of its own, since the environment is read once --- */

static char path[64];

typedef struct conv {
    cudnnHandle_t h;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t c;
} conv;

static void make(conv *v)
{
    cudnnCreate(&v->h);
    cudnnCreateTensorDescriptor(&v->x);
    cudnnCreateTensorDescriptor(&v->y);
    cudnnCreateFilterDescriptor(&v->w);
    cudnnCreateConvolutionDescriptor(&v->c);
    cudnnSetTensor4dDescriptor(v->x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 8, 9, 9);
    cudnnSetTensor4dDescriptor(v->y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 8, 9, 9);
    cudnnSetFilter4dDescriptor(v->w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 8, 8, 3, 3);
    cudnnSetConvolution2dDescriptor(v->c, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
}

static int first_of_get(void)
{
    conv v;
    make(&v);
    cudnnConvolutionFwdAlgoPerf_t perf[8];
    int n = 0;
    if (cudnnGetConvolutionForwardAlgorithm_v7(v.h, v.x, v.w, v.c, v.y, 8, &n, perf) != CUDNN_STATUS_SUCCESS || n < 2)
        return 100;
    return (int)perf[0].algo;
}

static int find_winner(void)
{
    conv v;
    make(&v);
    cudnnConvolutionFwdAlgoPerf_t perf[8];
    int n = 0;
    if (cudnnFindConvolutionForwardAlgorithm(v.h, v.x, v.w, v.c, v.y, 8, &n, perf) != CUDNN_STATUS_SUCCESS || n < 2)
        return 100;
    return (int)perf[0].algo;
}

static int in_process(int (*step)(void), const char *mode)
{
    pid_t child = fork();
    if (child == 0) {
        setenv("ANYDNN_ENGINE", "ref", 1);
        setenv("ANYDNN_TUNE", mode, 1);
        setenv("ANYDNN_TUNE_FILE", path, 1);
        _exit(step());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

static void find_is_kept_and_read(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/anydnn-tune-%d/a/tune.txt", (int)getpid());
    int usual = in_process(first_of_get, "off");
    int winner = in_process(find_winner, "write");
    assert_true(winner < 8);
    assert_int_equal(in_process(first_of_get, "read"), winner);
    /* Any other winner is followed too, so the order does come from the file. */
    char text[8192];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    char *problem = strstr(text, " conv fwd ");
    assert_non_null(problem);
    for (int algo = 0; algo < 4; algo++) {
        static const char *const names[] = { "ref_conv_fwd_implicit_gemm", "ref_conv_fwd_implicit_precomp_gemm", "ref_conv_fwd_gemm", "ref_conv_fwd_direct" };
        f = fopen(path, "w");
        fprintf(f, HEAD "ref %s%s", names[algo], problem);
        fclose(f);
        assert_int_equal(in_process(first_of_get, "read"), algo);
        assert_int_equal(in_process(first_of_get, "off"), usual);
    }
    f = fopen(path, "w");
    fprintf(f, HEAD "ref no_such_row%s", problem);
    fclose(f);
    assert_int_equal(in_process(first_of_get, "read"), usual);
    f = fopen(path, "w");
    fprintf(f, "anydnn tune 1 0.0.0-other\nref ref_conv_fwd_direct%s", problem);
    fclose(f);
    assert_int_equal(in_process(first_of_get, "read"), usual);
    remove(path);
}

static void a_file_that_cannot_be_written_changes_nothing(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/proc/no/such/tune.txt");
    assert_true(in_process(find_winner, "write") < 8);
    assert_true(in_process(first_of_get, "read") < 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_found_by_engine_and_problem),
        cmocka_unit_test(damaged_text_is_passed_over),
        cmocka_unit_test(find_is_kept_and_read),
        cmocka_unit_test(a_file_that_cannot_be_written_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
