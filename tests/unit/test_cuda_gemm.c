/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Matrix products of the cuda engine against sums in double: tiles, turns, edges, alignment, parts, types. Skipped where that engine is not. */
#include "core/engine.h"
#include "cuda/gemm/host.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct product {
    int m, n, k, batch, turn_a, turn_b;  /* turned: A lies as [k][m], B as [n][k] */
    dn_dtype type, type_c;
    int pad, skew;                       /* elements behind each row; elements before the first, as misaligned as they make it */
    int aligned;                         /* rows begin at multiples of 8 elements */
    int odd;                             /* bytes before everything: elements that lie across their own size */
    double alpha, beta;
    int bias, parts, f64;
    int every;                           /* of so many elements of C one is compared; 0: all are */
} product;

typedef struct matrix {
    dn_dtype type;
    int64_t rows, columns, ld, pitch, elements;
    size_t before, bytes;
    unsigned char *host;
    double *value;           /* what host holds, by element */
    void *device;
} matrix;

static dn_handle handle;
static uint32_t seed = 1;

/* Multiples of 1/16 within -1 .. 1: exact in every type. */
static double draw(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)((int)(seed >> 16) % 33 - 16) / 16;
}

static void make(matrix *x, dn_dtype type, int64_t rows, int64_t columns, const product *p)
{
    size_t size = dn_dtype_size(type);
    *x = (matrix){ .type = type, .rows = rows, .columns = columns, .ld = columns + p->pad };
    if (p->aligned)
        x->ld = (x->ld + 7) / 8 * 8;
    x->pitch = rows * x->ld + 8 * p->skew;
    x->elements = x->pitch * p->batch;
    x->before = (size_t)p->skew * size + (size_t)p->odd;
    x->bytes = x->before + (size_t)x->elements * size;
    x->host = malloc(x->bytes);
    x->value = malloc((size_t)x->elements * sizeof(double));
    assert_non_null(x->host);
    assert_non_null(x->value);
    memset(x->host, 0xff, x->bytes);
    for (int64_t i = 0; i < x->elements; i++)
        if (i % x->pitch < rows * x->ld && i % x->pitch % x->ld < columns)
            dn_store(type, x->host + x->before, i, x->value[i] = draw());
    assert_int_equal(dn_mem_alloc(&handle, x->bytes, &x->device), DN_SUCCESS);
    assert_int_equal(dn_mem_copy_in(&handle, x->device, x->host, x->bytes), DN_SUCCESS);
}

static void drop(matrix *x)
{
    dn_mem_free(&handle, x->device);
    free(x->host);
    free(x->value);
}

static dn_elements elements(const matrix *x)
{
    dn_elements e = dn_elements_typed(x->type);
    dn_elements_bind(&e, (char *)x->device + x->before);
    return e;
}

static double at(const matrix *x, int64_t batch, int64_t i, int64_t j, int turned)
{
    return x->value[batch * x->pitch + (turned ? j * x->ld + i : i * x->ld + j)];
}

static double truth(const product *p, const matrix *a, const matrix *b, const matrix *c, const matrix *bias, int64_t batch, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t k = 0; k < p->k; k++)
        sum += at(a, batch, i, k, p->turn_a) * at(b, batch, k, j, p->turn_b);
    sum = p->alpha * sum + (p->bias ? at(bias, batch, 0, j, 0) : 0);
    return p->beta != 0 ? sum + p->beta * at(c, batch, i, j, 0) : sum;
}

/* Every element of C, and that nothing else of its memory was written. */
static void compare(const product *p, const matrix *a, const matrix *b, const matrix *c, const matrix *bias)
{
    unsigned char *got = malloc(c->bytes);
    double step = p->type_c == DN_F16 ? 0x1p-11 : p->type_c == DN_BF16 ? 0x1p-8 : 0;
    assert_non_null(got);
    assert_int_equal(dn_mem_copy_out(&handle, got, c->device, c->bytes), DN_SUCCESS);
    assert_memory_equal(got, c->host, c->before);
    for (int64_t e = 0; e < c->elements; e++) {
        int64_t batch = e / c->pitch, i = e % c->pitch / c->ld, j = e % c->pitch % c->ld;
        size_t size = dn_dtype_size(c->type);
        if (i >= c->rows || j >= c->columns) {
            assert_memory_equal(got + c->before + (size_t)e * size, c->host + c->before + (size_t)e * size, size);
            continue;
        }
        if (p->every && e % p->every)
            continue;
        double want = truth(p, a, b, c, bias, batch, i, j), v = dn_load(c->type, got + c->before, e);
        double limit = fabs(want) * step + p->k * (p->f64 ? 1e-15 : 2e-7);
        if (!(fabs(v - want) <= limit))
            fail_msg("m %d n %d k %d batch %d turns %d %d: element %d, %d of product %d is %.9g; it should be %.9g", p->m, p->n, p->k, p->batch,
                     p->turn_a, p->turn_b, (int)i, (int)j, (int)batch, v, want);
    }
    free(got);
}

static bool has_wgmma(void)
{
    return dn_cuda_device_of(&handle)->sm == 90 && dn_cu_table->TensorMapEncodeTiled;
}

static void check(const product *p)
{
    matrix a, b, c, bias;
    void *room = NULL;
    dn_gemm_functions f;
    product flat = *p;
    flat.pad = 0;
    make(&a, p->type, p->turn_a ? p->k : p->m, p->turn_a ? p->m : p->k, p);
    make(&b, p->type, p->turn_b ? p->n : p->k, p->turn_b ? p->k : p->n, p);
    make(&c, p->type_c, p->m, p->n, p);
    make(&bias, p->f64 ? DN_F64 : DN_F32, 1, p->n, &flat);
    dn_gemm g = { .a = elements(&a), .b = elements(&b), .c = elements(&c), .m = p->m, .n = p->n, .k = p->k, .batch = p->batch, .lda = a.ld,
                  .ldb = b.ld, .ldc = c.ld, .pitch_a = a.pitch, .pitch_b = b.pitch, .pitch_c = c.pitch, .pitch_bias = bias.pitch,
                  .trans_a = p->turn_a, .trans_b = p->turn_b, .alpha = p->alpha, .beta = p->beta };
    if (p->bias)
        g.bias = elements(&bias);
    size_t bytes = dn_cuda_gemm_workspace(p->m, p->n, p->k, p->batch, p->f64);
    if (p->parts) {
        assert_true(bytes > 0);
        assert_int_equal(dn_mem_alloc(&handle, bytes, &room), DN_SUCCESS);
    }
    assert_int_equal(dn_cuda_gemm_prepare(&handle, p->type, p->f64, &f), DN_SUCCESS);
    if (!p->f64 && dn_cuda_device_of(&handle)->sm >= 80)
        assert_non_null(f.tiled[0][0]);
    if (p->aligned && has_wgmma())
        assert_true(dn_gemm_wgmma_takes(&f, &g));
    assert_int_equal(dn_cuda_gemm(&handle, &f, &g, room), DN_SUCCESS);
    assert_int_equal(dn_mem_sync(&handle), DN_SUCCESS);
    compare(p, &a, &b, &c, &bias);
    drop(&a), drop(&b), drop(&c), drop(&bias);
    if (room)
        dn_mem_free(&handle, room);
}

/* --- cases --- */

static const dn_dtype types[] = { DN_F16, DN_BF16, DN_F32 };

static void test_small_tiles(void **state)
{
    (void)state;
    static const int sizes[][3] = { { 1, 1, 1 }, { 64, 64, 32 }, { 65, 63, 33 }, { 17, 130, 100 }, { 128, 72, 200 }, { 5, 8, 16 } };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int turns = 0; turns < 4; turns++)
            for (int t = 0; t < 3; t++) {
                product p = { .m = sizes[s][0], .n = sizes[s][1], .k = sizes[s][2], .batch = 1 + (int)s % 3, .turn_a = turns / 2, .turn_b = turns % 2,
                              .type = types[t], .type_c = s % 2 ? DN_F32 : types[t], .alpha = 1, .bias = turns % 2 };
                check(&p);
            }
}

static void test_edges(void **state)
{
    (void)state;
    for (int turns = 0; turns < 4; turns++)
        for (int t = 0; t < 3; t++) {
            product p = { .m = 70, .n = 45, .k = 52, .batch = 2, .turn_a = turns / 2, .turn_b = turns % 2, .type = types[t], .type_c = types[t],
                          .pad = 3, .skew = 1, .alpha = -0.5, .beta = 2, .bias = 1 };
            check(&p);
            p.pad = 8 - (p.turn_a ? p.m : p.k) % 8, p.skew = 0;
            check(&p);
            p.odd = 1;
            check(&p);
        }
}

/* Products of few outputs and a long sum, with and without parts. */
static void test_parts(void **state)
{
    (void)state;
    for (int turns = 0; turns < 4; turns++)
        for (int t = 0; t < 3; t++) {
            product p = { .m = 24, .n = 40, .k = 1100, .batch = 1 + t % 2, .turn_a = turns / 2, .turn_b = turns % 2, .type = types[t],
                          .type_c = types[t], .alpha = 0.5, .beta = 1, .bias = 1, .parts = 1 };
            check(&p);
            p.parts = 0;
            check(&p);
        }
    product p = { .m = 24, .n = 40, .k = 1100, .batch = 1, .type = DN_F64, .type_c = DN_F64, .alpha = 1, .parts = 1, .f64 = 1 };
    check(&p);
}

static void test_wide_tiles(void **state)
{
    (void)state;
    for (int turns = 0; turns < 4; turns++)
        for (int f32 = 0; f32 < 2; f32++) {
            dn_dtype type = types[f32 ? 2 : turns % 2];
            product p = { .m = 136, .n = 150, .k = 2100, .batch = 1, .turn_a = turns / 2, .turn_b = turns % 2, .type = type, .type_c = type, .alpha = 1,
                          .beta = turns % 2, .parts = 1 };
            check(&p);
            p = (product){ .m = 1290, .n = 1160, .k = 40, .batch = 1, .turn_a = turns / 2, .turn_b = turns % 2, .type = type, .type_c = DN_F32,
                           .alpha = 1, .bias = 1 };
            check(&p);
        }
}

/* What the kernels for capability 9.0 take: each tile, sums by one block and by clusters, edges within a box and whole boxes outside. */
static void test_aligned(void **state)
{
    (void)state;
    static const product shapes[] = {
        { .m = 130, .n = 150, .k = 1000, .batch = 1, .alpha = -0.5, .beta = 2, .bias = 1 },
        { .m = 33, .n = 201, .k = 264, .batch = 3, .skew = 8, .alpha = 1, .bias = 1 },
        { .m = 203, .n = 57, .k = 139, .batch = 2, .pad = 5, .alpha = 1, .beta = 1 },
        { .m = 2100, .n = 140, .k = 72, .batch = 1, .alpha = 2, .bias = 1 },
        { .m = 16, .n = 1027, .k = 190, .batch = 1, .alpha = 1, .beta = 1, .bias = 1 },
        { .m = 100, .n = 99, .k = 300, .batch = 24, .alpha = 1 },
        { .m = 130, .n = 129, .k = 20, .batch = 34, .alpha = 1, .beta = -1 },
        { .m = 131, .n = 130, .k = 460, .batch = 17, .alpha = 1 },
        { .m = 2043, .n = 2150, .k = 1165, .batch = 1, .alpha = 0.5, .bias = 1, .every = 997 },
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int turns = 0; turns < 4; turns++) {
            product p = shapes[s];
            if (p.every && !has_wgmma())
                continue;
            p.aligned = 1, p.turn_a = turns / 2, p.turn_b = turns % 2;
            p.type = types[(turns + s) % 2];
            p.type_c = (turns / 2 + s) % 2 ? DN_F32 : p.type;
            check(&p);
            p.type = types[(turns + s + 1) % 2];
            p.type_c = (turns / 2 + s) % 2 ? p.type : DN_F32;
            if (p.m < 1000 && p.batch < 16)
                check(&p);
        }
}

static void test_f64(void **state)
{
    (void)state;
    for (int turns = 0; turns < 4; turns++) {
        product p = { .m = 70, .n = 33, .k = 50, .batch = 2, .turn_a = turns / 2, .turn_b = turns % 2, .type = turns % 2 ? DN_F64 : DN_BF16,
                      .type_c = DN_F64, .pad = 1, .odd = turns % 3, .alpha = 1.5, .beta = 1, .bias = 1, .f64 = 1 };
        check(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_tiles), cmocka_unit_test(test_edges), cmocka_unit_test(test_parts), cmocka_unit_test(test_wide_tiles),
        cmocka_unit_test(test_aligned), cmocka_unit_test(test_f64),
    };
    const char *why = dn_cuda_engine.probe();
    if (why) {
        printf("skipped: %s\n", why);
        return 77;
    }
    handle.engine = &dn_cuda_engine;
    if (dn_cuda_engine.open(&handle) != DN_SUCCESS)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dn_cuda_engine.close(&handle);
    return failed;
}
