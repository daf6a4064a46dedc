/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The inner loops of batch normalisation give the same bits in every instruction set, and whether a tile's columns have parameters
 * of their own or one for all. */
#include "ref/bn_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define MOST 1024

typedef struct tiles {
    double v[MOST], u[MOST], p[4][MOST], sum[MOST];
    float f[MOST];
} tiles;

static void fill(tiles *t, bool one_parameter)
{
    uint32_t seed = 1;
    double *all = t->v;
    for (size_t i = 0; i < offsetof(tiles, f) / sizeof(double); i++) {
        seed = seed * 1664525u + 1013904223u;
        all[i] = ((double)seed / (1u << 30) - 2) * (1 + 1e-9 * (double)(seed % 1000));
    }
    for (int i = 0; i < MOST; i++) {
        t->f[i] = (float)t->v[i];
        for (int k = 0; k < 4 && one_parameter; k++)
            t->p[k][i] = t->p[k][0];
    }
}

/* Every loop once, each on what the one before left. */
static void run(const dn_bn_kernel *k, const dn_bn_tile *t, tiles *d)
{
    int64_t n = t->rows * t->n;
    k->widen(n, d->f, d->u);
    k->center(t, d->v, d->p[0]);
    k->multiply(t, d->v, d->u);
    k->sum(t, d->v, d->sum);
    k->norm(t, d->u, d->p[1], d->p[2], d->p[3]);
    k->dx(t, d->v, d->u, d->p[0], d->p[1], d->p[2], d->p[3]);
    k->narrow(n, d->v, 1.7, d->f);
}

static int kernels(const dn_bn_kernel **out)
{
    int n = 0;
    out[n++] = &dn_bn_kernel_base;
#if defined(DN_HAVE_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        out[n++] = &dn_bn_kernel_avx2;
#endif
#if defined(DN_HAVE_AVX512)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl"))
        out[n++] = &dn_bn_kernel_avx512;
#endif
    return n;
}

static void same_bits_in_every_instruction_set(void **state)
{
    (void)state;
    static const dn_bn_tile shapes[] = { { 1, 1, true }, { 1, 7, false }, { 1, 1024, false }, { 33, 31, true }, { 64, 16, true }, { 2, 511, true } };
    const dn_bn_kernel *k[3];
    int count = kernels(k);
    tiles *want = malloc(sizeof *want), *got = malloc(sizeof *got);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        fill(want, false);
        run(k[0], &shapes[s], want);
        for (int i = 1; i < count; i++) {
            fill(got, false);
            run(k[i], &shapes[s], got);
            assert_memory_equal(got, want, sizeof *want);
        }
    }
    free(want);
    free(got);
}

/* A column alone, and the same column among equal ones. */
static void same_bits_along_and_across(void **state)
{
    (void)state;
    const dn_bn_kernel *k[3];
    int count = kernels(k);
    tiles *along = malloc(sizeof *along), *across = malloc(sizeof *across);
    for (int i = 0; i < count; i++) {
        fill(along, true);
        fill(across, true);
        for (int e = 0; e < MOST; e++) {  /* 64 rows of 16 equal columns */
            across->v[e] = along->v[e / 16];
            across->f[e] = along->f[e / 16];
            across->sum[e] = along->sum[0];
        }
        run(k[i], &(dn_bn_tile){ 1, 64, false }, along);
        run(k[i], &(dn_bn_tile){ 64, 16, true }, across);
        for (int e = 0; e < MOST; e++)
            assert_true(across->v[e] == along->v[e / 16] && across->f[e] == along->f[e / 16]);
        for (int e = 0; e < 16; e++)
            assert_true(across->sum[e] == along->sum[0]);
    }
    free(along);
    free(across);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_in_every_instruction_set),
        cmocka_unit_test(same_bits_along_and_across),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
