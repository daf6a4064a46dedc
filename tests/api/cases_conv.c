/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution: shapes and types that gave wrong results or faults elsewhere. */
#define _GNU_SOURCE
#include "cases.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

conv_case plain_2d(cudnnDataType_t type, int n, int c, int h, int w, int k, int r)
{
    return (conv_case){type, type == F64 ? F64 : F32, 2, n, c, k, 1, {h, w}, {r, r}, {r / 2, r / 2}, {1, 1}, {1, 1}, false, CROSS,
                       CUDNN_DEFAULT_MATH};
}

static bool must_run(int dir, int algo)
{
    return algo == 0 || algo == 1 || (dir == DIR_FILTER && algo == 3);
}

bool vendor_cannot(cudnnStatus_t st)
{
    return !api_ours && api_class(st) == NOSUP;
}

/* On a GPU the default math of float is tf32, and algorithms 4 to 7 are transforms in the type of the data. */
static double tol_of(const conv_case *c)
{
    return !api_ours && c->type != F64 && c->type != BF16 ? 5e-3 : type_tol(c->type);
}

void check_all_algos(const conv_case *c)
{
    for (int dir = DIR_FWD; dir <= DIR_FILTER; dir++) {
        conv v = conv_new(c);
        const double *x = tens_get(&v.x), *w = tens_get(&v.w), *y = tens_get(&v.y);
        const double *want = dir == DIR_FWD ? conv_truth(&v, dir, x, w) : dir == DIR_DATA ? conv_truth(&v, dir, w, y) :
                             conv_truth(&v, dir, x, y);
        for (int algo = 0; algo < conv_algos(dir); algo++) {
            tens_fill(conv_result(&v, dir), NAN);
            cudnnStatus_t st = conv_run(&v, dir, algo, 1, 0);
            if (vendor_cannot(st) || (api_class(st) == NOSUP && !must_run(dir, algo)))
                continue;
            if (st != OK)
                fail_msg("direction %d algorithm %d: %s: %s", dir, algo, api_status(st), api_error());
            NEAR(conv_result(&v, dir), want, tol_of(c));
        }
        conv_free(&v);
    }
}

void *sparse_map(size_t bytes)
{
    const char *engine = api_engine();
    if (!engine || !strcmp(engine, "vendor") || !strcmp(engine, "cuda"))
        skip();
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        skip();
    return p;
}

/* pytorch/pytorch #117736. A stride is an int, so the third channel is the first one past 2^31 elements. */
void L1_offsets_past_2_31(void **state)
{
    (void)state;
    const int dim[4] = {1, 3, 8, 8}, far_apart = 2147483640, stride[4] = {64, far_apart, 8, 1};
    const size_t bytes = (2 * (size_t)far_apart + 64) * 2;
    void *map = sparse_map(bytes);
    conv_case c = plain_2d(F16, 1, 3, 8, 8, 3, 3);
    conv v = conv_new(&c);
    tens dense = v.x, sparse = tens_over(F16, 4, dim, stride, map);
    const double *x = tens_get(&v.x), *w = tens_get(&v.w), *y = tens_get(&v.y);
    v.x = sparse;
    tens_put(&v.x, x);
    assert_int_equal(conv_run(&v, DIR_FWD, 0, 1, 0), OK);
    NEAR(&v.y, conv_truth(&v, DIR_FWD, x, w), 2e-3);
    tens_put(&v.y, y);
    assert_int_equal(conv_run(&v, DIR_FILTER, 0, 1, 0), OK);
    NEAR(&v.w, conv_truth(&v, DIR_FILTER, x, y), 2e-3);
    tens_put(&v.w, w);
    assert_int_equal(conv_run(&v, DIR_DATA, 0, 1, 0), OK);
    NEAR(&v.x, conv_truth(&v, DIR_DATA, w, y), 2e-3);
    tens_free(&sparse);
    v.x = dense;
    conv_free(&v);
    munmap(map, bytes);
}

/* pytorch/pytorch #114463, with fewer channels */
void L3_odd_batch_1d_backward(void **state)
{
    (void)state;
    for (int n = 191; n <= 192; n++) {
        conv_case c = plain_2d(F32, n, 8, 1, 29, 5, 1);
        check_all_algos(&c);
    }
    conv_case rank3 = {F32, F32, 1, 191, 4, 6, 1, {29}, {1}, {0}, {1}, {1}, false, CROSS, CUDNN_DEFAULT_MATH};
    check_all_algos(&rank3);
}

/* pytorch/pytorch #59515 */
void L4_batch_1251_equals_1250(void **state)
{
    (void)state;
    conv_case c = plain_2d(F16, 1251, 8, 1, 8, 8, 3);
    c.win[0] = 1;
    c.pad[0] = 0;
    conv more = conv_new(&c);
    c.n = 1250;
    conv less = conv_new(&c);
    const double *x = tens_get(&more.x), *w = tens_get(&more.w);
    tens_put(&less.x, x);
    tens_put(&less.w, w);
    const double *want = conv_truth(&more, DIR_FWD, x, w);
    for (int algo = 0; algo < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; algo++) {
        cudnnStatus_t st = conv_run(&more, DIR_FWD, algo, 1, 0);
        assert_int_equal(conv_run(&less, DIR_FWD, algo, 1, 0), st);
        if (api_class(st) == NOSUP)
            continue;
        assert_int_equal(st, OK);
        api_sync();
        assert_memory_equal(more.y.ptr, less.y.ptr, less.y.bytes);
        NEAR(&more.y, want, 2e-3);
    }
    conv_free(&more);
    conv_free(&less);
}

/* pytorch/pytorch #40275: k (3,1,1), channels a multiple of 8 */
void L5_conv3d_f16(void **state)
{
    (void)state;
    conv_case c = {F16, F32, 3, 2, 16, 8, 1, {5, 6, 7}, {3, 1, 1}, {1, 0, 0}, {1, 1, 1}, {1, 1, 1}, false, CROSS,
                   CUDNN_TENSOR_OP_MATH};
    check_all_algos(&c);
    c.nhwc = true;
    check_all_algos(&c);
}

/* pytorch/pytorch #163539 */
void L6_conv3d_bf16(void **state)
{
    (void)state;
    conv_case c = {BF16, F32, 3, 2, 6, 8, 1, {6, 7, 5}, {3, 3, 2}, {1, 1, 0}, {1, 2, 1}, {1, 1, 1}, false, CROSS,
                   CUDNN_DEFAULT_MATH};
    check_all_algos(&c);
}

/* MIC-DKFZ/nnDetection #171: every base pointer one element past an even multiple of four bytes */
void L16_offset_pointers(void **state)
{
    (void)state;
    conv_case c = {F16, F32, 3, 1, 8, 8, 1, {4, 5, 6}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, false, CROSS, CUDNN_DEFAULT_MATH};
    conv v = conv_new(&c);
    tens *all[] = {&v.x, &v.w, &v.y};
    double *dense[3];
    for (int i = 0; i < 3; i++) {
        dense[i] = tens_get(all[i]);
        all[i]->ptr = (char *)api_alloc(all[i]->bytes + 2) + 2;
        tens_put(all[i], dense[i]);
    }
    const double *want[3] = {conv_truth(&v, DIR_FWD, dense[0], dense[1]), conv_truth(&v, DIR_DATA, dense[1], dense[2]),
                             conv_truth(&v, DIR_FILTER, dense[0], dense[2])};
    for (int dir = DIR_FWD; dir <= DIR_FILTER; dir++)
        for (int algo = 0; algo < conv_algos(dir); algo++) {
            for (int i = 0; i < 3; i++)
                tens_put(all[i], dense[i]);
            cudnnStatus_t st = conv_run(&v, dir, algo, 1, 0);
            if (st == OK)
                NEAR(conv_result(&v, dir), want[dir], 2e-3);
            else
                assert_true(api_class(st) == NOSUP && algo != 0);
        }
    conv_free(&v);
}

/* PaddlePaddle/Paddle #71179: with padding 25 the transposed output has height (26-1) - 2*25 + 25 = 0; with 24 it has 2. */
void L20_transposed_conv(void **state)
{
    (void)state;
    cudnnTensorDescriptor_t dx;
    CALL(cudnnCreateTensorDescriptor, (&dx));
    ROW(cudnnSetTensor4dDescriptor, (dx, CUDNN_TENSOR_NCHW, F32, 1, 1, 0, 44), BAD, "h is 0");
    CALL(cudnnDestroyTensorDescriptor, (dx));
    api_rows_done();
    conv_case c = {F32, F32, 2, 1, 1, 26, 1, {2, 44}, {25, 25}, {24, 3}, {1, 1}, {1, 1}, false, CROSS, CUDNN_DEFAULT_MATH};
    check_all_algos(&c);
}

/* pytorch/pytorch #520 */
void L21_half_with_half_or_float(void **state)
{
    (void)state;
    conv_case c = plain_2d(F16, 2, 4, 6, 5, 3, 3);
    check_all_algos(&c);
    c.compute = F16;
    conv v = conv_new(&c);
    const double *want = conv_truth(&v, DIR_FWD, tens_get(&v.x), tens_get(&v.w));
    cudnnStatus_t st = conv_run(&v, DIR_FWD, 0, 1, 0);
    if (st == OK)
        NEAR(&v.y, want, 2e-2);
    else
        assert_int_equal(api_class(st), NOSUP);
    conv_free(&v);
}

/* pytorch/pytorch #19599, #31425: callers rely on the refusal by the Set call */
void L22_zero_sizes(void **state)
{
    (void)state;
    cudnnTensorDescriptor_t t;
    CALL(cudnnCreateTensorDescriptor, (&t));
    ROW(cudnnSetTensor4dDescriptor, (t, CUDNN_TENSOR_NCHW, F32, 0, 3, 4, 5), BAD, "n is 0");
    ROW(cudnnSetTensor4dDescriptor, (t, CUDNN_TENSOR_NCHW, F32, 2, 3, 0, 5), BAD, "h is 0");
    CALL(cudnnDestroyTensorDescriptor, (t));
    api_rows_done();
}

/* Types, layouts, modes, groups, dilation, strides, 1-D to 3-D. */
void grid_of_convolutions(void **state)
{
    (void)state;
    const cudnnDataType_t types[] = {F32, F64, F16, BF16};
    for (int t = 0; t < 4; t++)
        for (int nhwc = 0; nhwc < 2; nhwc++) {
            conv_case c = plain_2d(types[t], 2, 4, 7, 6, 6, 3);
            c.nhwc = nhwc;
            check_all_algos(&c);
            c.groups = 2;
            check_all_algos(&c);
            c.mode = CUDNN_CONVOLUTION;
            c.str[0] = 2;
            check_all_algos(&c);
            c.dil[1] = 2;
            c.pad[1] = 2;
            check_all_algos(&c);
            c.groups = 1;
            c.str[1] = 3;
            c.pad[0] = 3;  /* more padding than the window: whole rows of zeros */
            check_all_algos(&c);
            c.mode = CROSS;
            c.c = c.groups = 5;
            c.k = 10;
            check_all_algos(&c);
        }
}
