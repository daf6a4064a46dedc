/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Dropout and its generator. */
#include "tensor_util.h"

#include "core/philox.h"
#include "ops/dropout.h"

#define OK CUDNN_STATUS_SUCCESS
#define BAD CUDNN_STATUS_BAD_PARAM

typedef struct dropout {
    cudnnDropoutDescriptor_t desc;
    void *states;
    size_t size;
} dropout;

static dropout dropout_new(float p, unsigned long long seed)
{
    dropout d;
    assert_int_equal(cudnnCreateDropoutDescriptor(&d.desc), OK);
    assert_int_equal(cudnnDropoutGetStatesSize(handle, &d.size), OK);
    assert_true(d.size > 0);
    d.states = malloc(d.size);
    memset(d.states, 0xff, d.size);
    assert_int_equal(cudnnSetDropoutDescriptor(d.desc, handle, p, d.states, d.size, seed), OK);
    return d;
}

static void dropout_free(dropout *d)
{
    assert_int_equal(cudnnDestroyDropoutDescriptor(d->desc), OK);
    free(d->states);
}

static void *reserve_new(const tensor *x, size_t *size)
{
    assert_int_equal(cudnnDropoutGetReserveSpaceSize(x->desc, size), OK);
    assert_true(*size >= (size_t)(x->count + 7) / 8);
    void *r = malloc(*size);
    memset(r, 0xa5, *size);
    return r;
}

/* Known answers that the authors publish with their Random123 library (kat_vectors, philox4x32 with 10 rounds). */
static void philox_gives_the_published_words(void **state)
{
    (void)state;
    static const struct { unsigned counter[4], key[2], out[4]; } known[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { ~0u, ~0u, ~0u, ~0u }, { ~0u, ~0u }, { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };
    for (int i = 0; i < 3; i++) {
        unsigned out[4];
        dn_philox4x32(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

static void threshold_is_the_exact_probability(void **state)
{
    (void)state;
    assert_true(dn_dropout_threshold(0) == 0);
    assert_true(dn_dropout_threshold(1) == 0x100000000u);
    assert_true(dn_dropout_threshold(0.5f) == 0x80000000u);
    assert_true(dn_dropout_threshold(0.1f) == 13421773u * 32);  /* 0.1f is 13421773 / 2^27; L50: no multiple of 1/16 */
    assert_true((float)((double)dn_dropout_threshold(0.3f) / 4294967296.0) == 0.3f);
}

/* Element e of call k, straight from the definition in core/philox.h. */
static bool kept(unsigned long long seed, unsigned long long call, int64_t e, float p)
{
    unsigned word[4];
    dn_philox_dropout(seed, call, (uint64_t)e / 4, word);
    return word[e % 4] >= dn_dropout_threshold(p);
}

static void check_fwd_bwd(int type, int rank, const int *dims, layout how_x, layout how_y, float p)
{
    const unsigned long long seed = 0x123456789abcdefull;
    tensor x = tensor_new(type, rank, dims, how_x), y = tensor_new(type, rank, dims, how_y);
    tensor dy = tensor_new(type, rank, dims, how_y), dx = tensor_new(type, rank, dims, how_x);
    dropout d = dropout_new(p, seed);
    size_t size;
    void *reserve = reserve_new(&x, &size);
    fill(&x, 3);
    fill(&dy, 4);
    double scale = p < 1 ? 1 / (1 - (double)p) : 0;
    for (unsigned call = 0; call < 2; call++) {
        assert_int_equal(cudnnDropoutForward(handle, d.desc, x.desc, x.ptr, y.desc, y.ptr, reserve, size), OK);
        assert_int_equal(cudnnDropoutBackward(handle, d.desc, dy.desc, dy.ptr, dx.desc, dx.ptr, reserve, size), OK);
        for (int64_t e = 0; e < x.count; e++) {
            bool k = kept(seed, call, e, p);
            assert_near(get(&y, e), k ? get(&x, e) * scale : 0, type_eps(type));
            assert_near(get(&dx, e), k ? get(&dy, e) * scale : 0, type_eps(type));
        }
    }
    free(reserve);
    dropout_free(&d);
    tensor_free(&x);
    tensor_free(&y);
    tensor_free(&dy);
    tensor_free(&dx);
}

/* The mask goes by the logical number of the element: strides, types and threads do not change it. */
static void every_type_layout_and_rank(void **state)
{
    (void)state;
    static const int types[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };
    const int dims[] = { 3, 5, 7, 4, 2, 3, 2, 2 };
    for (int rank = 3; rank <= 8; rank++)
        for (int how = 0; how < LAYOUTS; how++)
            check_fwd_bwd(types[(rank + how) % 4], rank, dims, (layout)how, (layout)((how + rank) % LAYOUTS), 0.3f);
    for (int t = 0; t < 4; t++)
        check_fwd_bwd(types[t], 4, (const int[]){ 9, 13, 31, 37 }, NCHW, NHWC, 0.75f);
    check_fwd_bwd(DN_F32, 4, dims, NCHW, NCHW, 0);
    check_fwd_bwd(DN_F32, 4, dims, NCHW, NCHW, 1);
}

static void golden_count_of_a_fixed_seed(void **state)
{
    (void)state;
    tensor x = tensor_new(DN_F32, 4, (const int[]){ 10, 10, 10, 100 }, NCHW);
    dropout d = dropout_new(0.25f, 42);
    size_t size;
    void *reserve = reserve_new(&x, &size);
    fill_with(&x, 3);
    assert_int_equal(cudnnDropoutForward(handle, d.desc, x.desc, x.ptr, x.desc, x.ptr, reserve, size), OK);  /* in place */
    int64_t dropped = 0;
    const float *v = (const float *)x.memory;
    for (int64_t i = 0; i < x.count; i++) {
        assert_true(v[i] == 0 || v[i] == 4);
        dropped += v[i] == 0;
    }
    /* 5 sigma of a binomial with n = 100000 is 685 */
    assert_in_range(dropped, 25000 - 685, 25000 + 685);
    /* both from another implementation of the paper */
    assert_int_equal(dropped, 24886);
    assert_memory_equal(reserve, ((const unsigned char[]){ 0xfb, 0xff, 0x37, 0x36, 0xfd, 0xff, 0x65, 0x7f }), 8);
    free(reserve);
    dropout_free(&d);
    tensor_free(&x);
}

static void draw(cudnnDropoutDescriptor_t d, const tensor *ones, tensor *y)
{
    size_t size;
    void *reserve = reserve_new(ones, &size);
    assert_int_equal(cudnnDropoutForward(handle, d, ones->desc, ones->ptr, y->desc, y->ptr, reserve, size), OK);
    free(reserve);
}

static bool same(const tensor *a, const tensor *b)
{
    return memcmp(a->memory, b->memory, a->bytes) == 0;
}

/* L43: Set with the same seed starts again, each forward call goes on, Restore leaves the states as they are. */
static void seeds_and_states(void **state)
{
    (void)state;
    const int dims[] = { 4, 8, 8, 8 };
    tensor x = tensor_new(DN_F32, 4, dims, NCHW), y[6];
    for (int i = 0; i < 6; i++)
        y[i] = tensor_new(DN_F32, 4, dims, NCHW);
    fill_with(&x, 1);
    dropout d = dropout_new(0.5f, 7), other = dropout_new(0.5f, 8);
    draw(d.desc, &x, &y[0]);
    draw(d.desc, &x, &y[1]);
    assert_false(same(&y[0], &y[1]));
    void *saved = malloc(d.size);
    memcpy(saved, d.states, d.size);
    draw(d.desc, &x, &y[2]);
    assert_int_equal(cudnnSetDropoutDescriptor(d.desc, handle, 0.5f, d.states, d.size, 7), OK);
    draw(d.desc, &x, &y[3]);
    assert_true(same(&y[0], &y[3]));
    assert_int_equal(cudnnRestoreDropoutDescriptor(d.desc, handle, 0.5f, d.states, d.size, 7), OK);
    draw(d.desc, &x, &y[4]);
    assert_true(same(&y[1], &y[4]));
    assert_int_equal(cudnnRestoreDropoutDescriptor(other.desc, handle, 0.5f, saved, d.size, 7), OK);
    draw(other.desc, &x, &y[5]);
    assert_true(same(&y[2], &y[5]));
    assert_int_equal(cudnnSetDropoutDescriptor(other.desc, handle, 0.5f, other.states, other.size, 8), OK);
    draw(other.desc, &x, &y[5]);
    assert_false(same(&y[0], &y[5]));
    free(saved);
    dropout_free(&d);
    dropout_free(&other);
    tensor_free(&x);
    for (int i = 0; i < 6; i++)
        tensor_free(&y[i]);
}

static void null_states_change_the_probability_alone(void **state)
{
    (void)state;
    dropout d = dropout_new(0.5f, 99);
    float p;
    void *states;
    unsigned long long seed;
    assert_int_equal(cudnnSetDropoutDescriptor(d.desc, handle, 0.125f, NULL, 0, 5), OK);
    assert_int_equal(cudnnGetDropoutDescriptor(d.desc, handle, &p, &states, &seed), OK);
    assert_true(p == 0.125f && states == d.states && seed == 99);
    dropout_free(&d);
}

/* Dropped NaN and infinity are 0 in both directions. */
static void dropped_nan_is_zero(void **state)
{
    (void)state;
    tensor x = tensor_new(DN_F32, 3, (const int[]){ 8, 8, 8 }, NCHW), y = tensor_new(DN_F32, 3, (const int[]){ 8, 8, 8 }, NCHW);
    dropout d = dropout_new(0.5f, 1);
    size_t size;
    void *reserve = reserve_new(&x, &size);
    for (int64_t i = 0; i < x.count; i++)
        put(&x, i, i % 2 ? NAN : INFINITY);
    for (int bwd = 0; bwd < 2; bwd++) {
        cudnnStatus_t st = bwd ? cudnnDropoutBackward(handle, d.desc, x.desc, x.ptr, y.desc, y.ptr, reserve, size)
                               : cudnnDropoutForward(handle, d.desc, x.desc, x.ptr, y.desc, y.ptr, reserve, size);
        assert_int_equal(st, OK);
        for (int64_t i = 0; i < x.count; i++) {
            double v = get(&y, i);
            assert_true(!kept(1, 0, i, 0.5f) ? v == 0 : i % 2 ? isnan(v) : v == (double)INFINITY);
        }
    }
    free(reserve);
    dropout_free(&d);
    tensor_free(&x);
    tensor_free(&y);
}

/* As the vendor takes them: equal element counts are enough. */
static void other_dims_of_equal_count(void **state)
{
    (void)state;
    tensor x = tensor_new(DN_F32, 4, (const int[]){ 2, 3, 40, 50 }, NHWC), y = tensor_new(DN_F32, 3, (const int[]){ 60, 20, 10 }, PADDED);
    dropout d = dropout_new(0.5f, 3);
    size_t size;
    void *reserve = reserve_new(&x, &size);
    fill(&x, 1);
    assert_int_equal(cudnnDropoutForward(handle, d.desc, x.desc, x.ptr, y.desc, y.ptr, reserve, size), OK);
    for (int64_t e = 0; e < x.count; e++)
        assert_true(get(&y, e) == (kept(3, 0, e, 0.5f) ? 2 * get(&x, e) : 0));
    free(reserve);
    dropout_free(&d);
    tensor_free(&x);
    tensor_free(&y);
}

static void settings_name_what_is_wrong(void **state)
{
    (void)state;
    dropout d = dropout_new(0.5f, 3);
    cudnnDropoutDescriptor_t e = d.desc;
    assert_fails(cudnnSetDropoutDescriptor(e, handle, 1.5f, d.states, d.size, 1), BAD, "dropout is 1.5", "0 to 1");
    assert_fails(cudnnSetDropoutDescriptor(e, handle, -0.5f, d.states, d.size, 1), BAD, "dropout is -0.5", "0 to 1");
    assert_fails(cudnnSetDropoutDescriptor(e, handle, NAN, d.states, d.size, 1), BAD, "dropout is", "0 to 1");
    assert_fails(cudnnSetDropoutDescriptor(e, handle, 0.5f, d.states, d.size - 1, 1), CUDNN_STATUS_INVALID_VALUE, "stateSizeInBytes is",
                 "or more");
    assert_fails(cudnnRestoreDropoutDescriptor(e, handle, 0.5f, d.states, d.size - 1, 1), CUDNN_STATUS_INVALID_VALUE,
                 "stateSizeInBytes is", "or more");
    assert_fails(cudnnRestoreDropoutDescriptor(e, handle, 0.5f, NULL, 0, 1), BAD, "states", "NULL");
    assert_fails(cudnnSetDropoutDescriptor(NULL, handle, 0.5f, d.states, d.size, 1), BAD, "dropoutDesc", "NULL");
    assert_fails(cudnnSetDropoutDescriptor(e, NULL, 0.5f, d.states, d.size, 1), BAD, "handle", "NULL");
    assert_fails(cudnnGetDropoutDescriptor(e, handle, NULL, NULL, NULL), BAD, "dropout is NULL", "cudnnGetDropoutDescriptor");
    assert_fails(cudnnDropoutGetStatesSize(handle, NULL), BAD, "sizeInBytes", "NULL");
    assert_fails(cudnnDropoutGetReserveSpaceSize(NULL, &d.size), BAD, "xdesc", "NULL");
    dropout_free(&d);
    assert_fails(cudnnSetDropoutDescriptor(e, handle, 0.5f, &d, 4096, 1), BAD, "dropoutDesc", "destroyed");
}

static void calls_name_what_is_wrong(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 4, 5 };
    tensor x = tensor_new(DN_F32, 4, dims, NCHW), h = tensor_new(DN_F16, 4, dims, NCHW), r = tensor_new(DN_F32, 4, dims, NHWC);
    tensor big = tensor_new(DN_F32, 4, (const int[]){ 2, 3, 4, 6 }, NCHW), i8 = tensor_new(DN_I8, 4, dims, NCHW);
    dropout d = dropout_new(0.5f, 3);
    size_t size;
    unsigned char *res = reserve_new(&x, &size), y[4096];
    cudnnDropoutDescriptor_t e;
    cudnnCreateDropoutDescriptor(&e);
#define FWD(dd, a, b, in, out, n) cudnnDropoutForward(handle, dd, (a).desc, in, (b).desc, out, res, n)
    assert_fails(FWD(e, x, x, x.ptr, y, size), BAD, "dropoutDesc", "never set");
    assert_int_equal(cudnnSetDropoutDescriptor(e, handle, 0.5f, NULL, 0, 1), OK);
    assert_fails(FWD(e, x, x, x.ptr, y, size), BAD, "dropoutDesc has no states", "NULL");
    assert_fails(FWD(d.desc, x, x, x.ptr, y, size - 1), BAD, "reserveSpaceSizeInBytes is", "or more");
    assert_fails(FWD(d.desc, x, big, x.ptr, y, size), BAD, "xdesc has 120", "144");
    assert_fails(FWD(d.desc, x, h, x.ptr, y, size), BAD, "xdesc has type f32", "f16");
    assert_fails(FWD(d.desc, i8, i8, x.ptr, y, size), CUDNN_STATUS_NOT_SUPPORTED, "xdesc has type i8", "f32");
    assert_fails(FWD(d.desc, x, r, x.ptr, x.ptr, size), BAD, "in place", "strides");
    assert_fails(FWD(d.desc, x, x, NULL, y, size), BAD, "x is NULL", "cudnnDropoutForward");
    assert_fails(FWD(d.desc, x, x, x.ptr, NULL, size), BAD, "y is NULL", "cudnnDropoutForward");
    assert_fails(cudnnDropoutForward(handle, d.desc, x.desc, x.ptr, x.desc, y, NULL, size), BAD, "reserveSpace", "NULL");
    assert_fails(cudnnDropoutBackward(handle, d.desc, x.desc, x.ptr, x.desc, y, res, size - 1), BAD, "reserveSpaceSizeInBytes", "more");
    assert_fails(cudnnDropoutBackward(handle, d.desc, x.desc, x.ptr, h.desc, y, res, size), BAD, "dydesc has type f32", "dxdesc");
#undef FWD
    cudnnDestroyDropoutDescriptor(e);
    free(res);
    dropout_free(&d);
    tensor_free(&x);
    tensor_free(&h);
    tensor_free(&r);
    tensor_free(&big);
    tensor_free(&i8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_words),
        cmocka_unit_test(threshold_is_the_exact_probability),
        cmocka_unit_test(every_type_layout_and_rank),
        cmocka_unit_test(golden_count_of_a_fixed_seed),
        cmocka_unit_test(seeds_and_states),
        cmocka_unit_test(null_states_change_the_probability_alone),
        cmocka_unit_test(dropped_nan_is_zero),
        cmocka_unit_test(other_dims_of_equal_count),
        cmocka_unit_test(settings_name_what_is_wrong),
        cmocka_unit_test(calls_name_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, handle_setup, handle_teardown);
}
