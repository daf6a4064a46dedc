/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The fused operations' own steps on ref, against plain loops over logical indices, finite differences, and words that the vendor's
 * library wrote. */
#include "tens.h"

#include "core/engine.h"
#include "ops/fused.h"

enum { X, Y, Z, TENSORS };

static cudnnHandle_t handle;

static int open_handle(void **state)
{
    (void)state;
    setenv("ANYDNN_ENGINE", "ref", 1);
    return cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS;
}

static int close_handle(void **state)
{
    (void)state;
    return cudnnDestroy(handle) != CUDNN_STATUS_SUCCESS;
}

static dn_tensor tensor_of(const tens *t)
{
    dn_tensor d = { .type = (uint8_t)t->type, .rank = (uint8_t)t->rank, .vect = 1 };
    for (int i = 0; i < t->rank; i++) {
        d.dims[i] = t->dims[i];
        d.strides[i] = t->strides[i];
    }
    return d;
}

static void put(dn_problem *p, dn_args *a, dn_role role, const tens *t)
{
    p->t[role] = tensor_of(t);
    p->align[role] = 16;
    a->ptr[role] = t->data;
}

static void run(const dn_problem *p, const dn_args *a)
{
    if (dn_problem_check(p) != DN_SUCCESS || dn_run((dn_handle *)handle, p, a) != DN_SUCCESS)
        fail_msg("%s", dn_error_text());
}

/* Mask words of a tensor, filled with ones. */
static dn_tensor mask_of(const tens *x, uint32_t **words)
{
    dn_tensor t = tensor_of(x), m = { .type = DN_I32, .rank = 3, .vect = 1 };
    m.dims[0] = dn_mask_pairs(&t) * 2;
    m.dims[1] = dn_mask_slabs(&t) * 2;
    m.dims[2] = 1;
    dn_tensor_pack(&m);
    *words = malloc((size_t)dn_tensor_count(&m) * 4);
    memset(*words, 0xff, (size_t)dn_tensor_count(&m) * 4);
    return m;
}

/* The bit of logical element i. */
static int bit_of(const tens *x, const uint32_t *words, int64_t i)
{
    int64_t space = x->count / x->dims[0] / x->dims[1], c = i / space % x->dims[1], place = i / (space * x->dims[1]) * space + i % space;
    int64_t rows = (x->count / x->dims[1] + 31) / 32 * 32, e = place * 64 + c % 64;
    return (int)(words[c / 64 * rows * 2 + e / 128 * 4 + e % 4] >> (e / 4 % 32) & 1);
}

static int popcount(const uint32_t *words, int64_t n)
{
    int bits = 0;
    for (int64_t i = 0; i < n; i++)
        bits += __builtin_popcount(words[i]);
    return bits;
}

typedef struct arrays {
    tens scale, bias, scale2, bias2;
} arrays;

static arrays arrays_make(dn_dtype type, const tens *x, bool spatial)
{
    int dims[TENS_RANK];
    for (int d = 0; d < x->rank; d++)
        dims[d] = d == 1 || (d > 1 && !spatial) ? x->dims[d] : 1;
    arrays a = { tens_make(type, x->rank, dims, GAPS), tens_make(type, x->rank, dims, GAPS), tens_make(type, x->rank, dims, GAPS),
                 tens_make(type, x->rank, dims, GAPS) };
    tens_reals(&a.scale, 21), tens_reals(&a.bias, 22), tens_reals(&a.scale2, 23), tens_reals(&a.bias2, 24);
    return a;
}

static void arrays_free(arrays *a)
{
    tens_free(&a->scale), tens_free(&a->bias), tens_free(&a->scale2), tens_free(&a->bias2);
}

static void arrays_bind(dn_problem *p, dn_args *a, const arrays *r, int which)
{
    p->t[DN_W] = tensor_of(&r->scale);
    p->u.fused.scale = which & 1;
    p->u.fused.bias = which >> 1 & 1;
    p->u.fused.scale2 = which >> 2 & 1;
    p->u.fused.bias2 = which >> 3 & 1;
    a->aux[DN_AUX_SCALE] = which & 1 ? r->scale.data : NULL;
    a->aux[DN_AUX_BIAS] = which & 2 ? r->bias.data : NULL;
    a->aux[DN_AUX_SCALE2] = which & 4 ? r->scale2.data : NULL;
    a->aux[DN_AUX_BIAS2] = which & 8 ? r->bias2.data : NULL;
    if (!which)
        memset(&p->t[DN_W], 0, sizeof p->t[DN_W]);
}

/* The array element that goes with element i of x. */
static double array_at(const tens *t, const tens *x, int64_t i)
{
    int64_t at = 0, step = 1;
    for (int d = x->rank - 1; d >= 0; d--) {
        int64_t k = i % x->dims[d];
        i /= x->dims[d];
        if (t->dims[d] > 1)
            at += k * step;
        step *= t->dims[d];
    }
    return tens_get(t, at);
}

static double oracle(const tens *t, const arrays *r, int which, bool add, int64_t i)
{
    double v = tens_get(&t[X], i), z = add ? tens_get(&t[Z], i) : 0;
    v = v * (which & 1 ? array_at(&r->scale, &t[X], i) : 1) + (which & 2 ? array_at(&r->bias, &t[X], i) : 0);
    return v + z * (which & 4 ? array_at(&r->scale2, &t[X], i) : 1) + (which & 8 ? array_at(&r->bias2, &t[X], i) : 0);
}

static void check_forward(const dn_dtype *types, const int *dims, layout lay, int which, bool add, bool masked, bool spatial)
{
    tens t[TENSORS];
    dn_problem p;
    dn_args a = { .alpha = 1 };
    uint32_t *words = NULL;
    int set = 0;
    for (int k = 0; k < TENSORS; k++)
        t[k] = tens_make(types[k], 4, dims, (layout)((lay + k) % LAYOUTS));
    tens_reals(&t[X], 5), tens_reals(&t[Z], 6);
    arrays r = arrays_make(DN_F32, &t[X], spatial);
    dn_problem_init(&p, DN_OP_SBA, DN_DIR_FWD);
    put(&p, &a, DN_X, &t[X]);
    put(&p, &a, DN_Y, &t[Y]);
    if (add)
        put(&p, &a, DN_Z, &t[Z]);
    arrays_bind(&p, &a, &r, which);
    p.u.fused.act = (dn_act_param){ .mode = DN_ACT_CLIPPED_RELU, .coef = 0.5 };
    if (masked) {
        p.t[DN_B] = mask_of(&t[X], &words);
        a.ptr[DN_B] = words;
    }
    run(&p, &a);
    for (int64_t i = 0; i < t[X].count; i++) {
        double v = oracle(t, &r, which, add, i), y = v < 0 ? 0 : v > 0.5 ? 0.5 : v;
        tens_close(&t[Y], i, y, 2 * type_epsilon(types[Y]));
        set += v < 0 || v > 0.5;
        if (masked)
            assert_int_equal(bit_of(&t[X], words, i), v < 0 || v > 0.5);
    }
    if (masked)  /* and no bit anywhere else */
        assert_int_equal(popcount(words, dn_tensor_count(&p.t[DN_B])), set);
    for (int k = 0; k < TENSORS; k++) {
        tens_watch(&t[k]);
        tens_free(&t[k]);
    }
    arrays_free(&r);
    free(words);
}

static void forward_is_the_formula(void **state)
{
    (void)state;
    static const dn_dtype types[][TENSORS] = { { DN_F64, DN_F64, DN_F64 }, { DN_F32, DN_F16, DN_BF16 }, { DN_F16, DN_F32, DN_F16 } };
    static const int dims[][4] = { { 2, 5, 3, 4 }, { 3, 70, 3, 3 }, { 1, 130, 1, 1 }, { 5, 1, 7, 1 } };
    for (int ty = 0; ty < 3; ty++)
        for (int d = 0; d < 4; d++)
            for (int k = 0; k < 64; k++)
                check_forward(types[ty], dims[d], (layout)(k % LAYOUTS), k % 16 & (k & 16 ? 15 : 11), k & 16, k & 32, k % 3);
}

/* relu's mask of v[i] < 0: words as the vendor's 9.19 wrote them for these numbers on an H200. */
static void mask_is_the_vendors(void **state)
{
    (void)state;
    static const uint32_t known[] = { 0x4b696d6d, 0x9292d25b, 0x2da525b4, 0xda5b5b4b, 0x76424f49, 0x64bcb49e, 0x4b496929, 0x9092921a,
                                      0xb5b0b6b2, 0x5b29632c, 0xb6865ec0, 0x68edac9d };
    const int dims[] = { 2, 64, 4, 4 };
    tens x = tens_make(DN_F32, 4, dims, PACKED), y = tens_make(DN_F32, 4, dims, PACKED);
    dn_problem p;
    dn_args a = { .alpha = 1 };
    uint32_t *words;
    for (int64_t i = 0; i < x.count; i++) {
        int64_t c = i / 16 % 64, at = (i / 1024 * 16 + i % 16) * 64 + c;
        double u = (double)((at * 37 + at / 13 * 11 + 29) % 64) / 64, s = (double)((c * 37 + c / 13 * 11 + 58) % 64) / 64;
        double b = (double)((c * 37 + c / 13 * 11 + 87) % 64) / 64;
        tens_set(&x, i, rint((2 * u - 1) * 64) / 64 * (rint((0.5 + s) * 64) / 64) + rint((b - 0.5) * 64) / 64);
    }
    dn_problem_init(&p, DN_OP_SBA, DN_DIR_FWD);
    put(&p, &a, DN_X, &x);
    put(&p, &a, DN_Y, &y);
    p.u.fused.act.mode = DN_ACT_RELU;
    p.t[DN_B] = mask_of(&x, &words);
    a.ptr[DN_B] = words;
    run(&p, &a);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(words[i], known[i]);
    free(words);
    tens_free(&x), tens_free(&y);
}

/* d/dx of the sum of dy * y, x alone being scaled by 1. */
static void backward_is_a_finite_difference(void **state)
{
    (void)state;
    const int dims[] = { 2, 67, 3, 2 };
    const double h = 1e-5;
    tens t[TENSORS], up = tens_make(DN_F64, 4, dims, PACKED), moved = tens_make(DN_F64, 4, dims, PACKED);
    tens dy = tens_make(DN_F64, 4, dims, REVERSED), dx = tens_make(DN_F64, 4, dims, GAPS);
    uint32_t *words;
    dn_problem p, q;
    dn_args a = { .alpha = 1 }, b = { .alpha = 1 };
    for (int k = 0; k < TENSORS; k++)
        t[k] = tens_make(DN_F64, 4, dims, CHANNELS_LAST);
    tens_reals(&t[X], 5), tens_reals(&t[Z], 6), tens_reals(&dy, 7);
    dn_problem_init(&p, DN_OP_SBA, DN_DIR_FWD);
    put(&p, &a, DN_X, &t[X]), put(&p, &a, DN_Y, &t[Y]), put(&p, &a, DN_Z, &t[Z]);
    p.compute = DN_F64;
    p.u.fused.act = (dn_act_param){ .mode = DN_ACT_CLIPPED_RELU, .coef = 0.75 };
    p.t[DN_B] = mask_of(&t[X], &words);
    a.ptr[DN_B] = words;
    run(&p, &a);
    dn_problem_init(&q, DN_OP_SBA, DN_DIR_BWD_DATA);
    put(&q, &b, DN_DY, &dy), put(&q, &b, DN_DX, &dx);
    q.compute = DN_F64;
    q.t[DN_B] = p.t[DN_B];
    b.ptr[DN_B] = words;
    run(&q, &b);
    for (int64_t i = 0; i < t[X].count; i++)
        tens_set(&moved, i, tens_get(&t[X], i) + h);
    put(&p, &a, DN_X, &moved), put(&p, &a, DN_Y, &up);
    memset(&p.t[DN_B], 0, sizeof p.t[DN_B]);
    run(&p, &a);
    int stopped = 0;
    for (int64_t i = 0; i < t[X].count; i++) {
        double slope = (tens_get(&up, i) - tens_get(&t[Y], i)) / h;
        if (fabs(slope) < 1e-3 || fabs(slope - 1) < 1e-3)  /* no corner between the two */
            tens_close(&dx, i, tens_get(&dy, i) * rint(slope), 1e-12);
        stopped += slope < 0.5;
    }
    assert_in_range(stopped, t[X].count / 4, t[X].count * 3 / 4);
    tens_watch(&dx);
    for (int k = 0; k < TENSORS; k++)
        tens_free(&t[k]);
    tens_free(&up), tens_free(&moved), tens_free(&dy), tens_free(&dx);
    free(words);
}

static void check_stats(dn_dtype type, const int *dims, layout lay, bool spatial)
{
    tens x = tens_make(type, 4, dims, lay);
    arrays r = arrays_make(DN_F64, &x, spatial);  /* scale: sums, bias: of squares */
    dn_problem p;
    dn_args a = { .alpha = 1 };
    double *sum = calloc((size_t)r.scale.count, sizeof *sum), *sq = calloc((size_t)r.scale.count, sizeof *sq);
    tens_reals(&x, 9);
    dn_problem_init(&p, DN_OP_STATS, DN_DIR_FWD);
    put(&p, &a, DN_X, &x);
    p.t[DN_W] = tensor_of(&r.scale);
    p.u.fused.sum = p.u.fused.sqsum = 1;
    a.aux[DN_AUX_SUM] = r.scale.data;
    a.aux[DN_AUX_SQSUM] = r.bias.data;
    run(&p, &a);
    for (int64_t i = 0; i < x.count; i++) {
        int64_t space = (int64_t)dims[2] * dims[3], k = spatial ? i / space % dims[1] : i % (space * dims[1]);
        double v = tens_get(&x, i);
        sum[k] += v;
        sq[k] += v * v;
    }
    for (int64_t k = 0; k < r.scale.count; k++) {
        tens_close(&r.scale, k, sum[k], 1e-10);
        tens_close(&r.bias, k, sq[k], 1e-10);
    }
    tens_watch(&r.scale), tens_watch(&r.bias);
    free(sum), free(sq);
    arrays_free(&r);
    tens_free(&x);
}

static void statistics_are_sums(void **state)
{
    (void)state;
    static const int dims[][4] = { { 2, 5, 3, 4 }, { 3, 70, 3, 3 }, { 2, 1100, 2, 1 }, { 9, 8, 30, 20 }, { 1, 1, 1, 1 } };
    for (int d = 0; d < 5; d++)
        for (int l = 0; l < LAYOUTS; l++) {
            check_stats(DN_F64, dims[d], (layout)l, true);
            check_stats(DN_F16, dims[d], (layout)l, true);
            check_stats(DN_F32, dims[d], (layout)l, false);
        }
}

/* mean, variance and what follows of one channel each: ordinary, of one element, and a variance that rounding made negative. */
static void final_step(void **state)
{
    (void)state;
    enum { N = 5 };
    static const int dims[] = { 1, N, 1, 1 };
    static const double sums[N] = { 10, -4, 0, 3, 8 }, squares[N] = { 40, 12, 5, 0.9, 16 };
    tens w[8];
    dn_problem p;
    dn_args a = { .alpha = 1, .eps = 1e-3, .factor = 0.25, .count = 10 };
    static const dn_aux which[8] = { DN_AUX_SUM, DN_AUX_SQSUM, DN_AUX_SCALE, DN_AUX_BIAS, DN_AUX_MEAN, DN_AUX_VAR, DN_AUX_SCALE2, DN_AUX_BIAS2 };
    dn_problem_init(&p, DN_OP_BN_FINAL, DN_DIR_TRAIN);
    for (int k = 0; k < 8; k++) {
        w[k] = tens_make(DN_F64, 4, dims, GAPS);
        a.aux[which[k]] = w[k].data;
        for (int i = 0; i < N; i++)
            tens_set(&w[k], i, k == 0 ? sums[i] : k == 1 ? squares[i] : 0.5 + 0.25 * i);
    }
    p.t[DN_W] = p.t[DN_B] = tensor_of(&w[0]);
    p.compute = DN_F64;
    p.u.fused = (dn_fused_param){ .scale = 1, .bias = 1, .scale2 = 1, .bias2 = 1, .running = 1 };
    run(&p, &a);
    for (int i = 0; i < N; i++) {
        double mean = sums[i] / 10, var = squares[i] / 10 - mean * mean, s = 0.5 + 0.25 * i;
        var = var < 0 ? 0 : var;
        tens_close(&w[4], i, 0.75 * s + 0.25 * mean, 1e-12);
        tens_close(&w[5], i, 0.75 * s + 0.25 * var * 10 / 9, 1e-12);
        tens_close(&w[6], i, s / sqrt(var + 1e-3), 1e-12);
        tens_close(&w[7], i, s - s * mean / sqrt(var + 1e-3), 1e-12);
    }
    a.aux[DN_AUX_VAR] = NULL;  /* not wanted: one of a pair may be */
    a.factor = 1;
    tens_set(&w[4], 0, NAN);   /* not read where the factor is 1 */
    a.count = 1;
    run(&p, &a);
    tens_close(&w[4], 0, 10, 1e-12);
    p.dir = DN_DIR_INFER;
    a.aux[DN_AUX_VAR] = w[5].data;
    run(&p, &a);
    for (int i = 0; i < N; i++)
        tens_close(&w[6], i, (0.5 + 0.25 * i) / sqrt(tens_get(&w[5], i) + 1e-3), 1e-12);
    for (int k = 0; k < 8; k++) {
        tens_watch(&w[k]);
        tens_free(&w[k]);
    }
}

static void refuse(const char *line, dn_status st, const char *text)
{
    dn_problem p;
    dn_status got = dn_problem_parse(line, &p);
    if (got != st || !strstr(dn_error_text(), text))
        fail_msg("%s: status %d, %s", line, (int)got, dn_error_text());
}

static void refusals(void **state)
{
    (void)state;
    refuse("sba fwd x=n2c4h3w3:f32 y=n2c4h3w2:f32 scale=0 bias=0", DN_BAD_PARAM, "yDesc");
    refuse("sba fwd x=n2c4h3w3:f32 y=n2c4h3w3:f32 w=n1c3h1w1:f32", DN_BAD_PARAM, "dimension 1 of the scale and bias is 3");
    refuse("sba fwd x=n2c4h3w3:f32 y=n2c4h3w3:f32 w=n1c4h1w1:f32 scale2=1", DN_BAD_PARAM, "no z");
    refuse("sba fwd x=n2c4h3w3:i8 y=n2c4h3w3:i8 scale=0 bias=0", DN_NOT_SUPPORTED, "xDesc has type i8");
    refuse("sba fwd x=n2c4h3w3:f32 y=n2c4h3w3:f32 b=18x1x1:i32 scale=0 bias=0", DN_BAD_PARAM, "64 at least");
    refuse("sba fwd x=n2c4h3w3:f32 y=n2c4h3w3:f32 b=32x2x1:f32 scale=0 bias=0", DN_BAD_PARAM, "must be i32");
    refuse("sba fwd x=n2c4h3w3:f32 y=n2c4h3w3:f32 b=32x2x1:i32:4,1,4 scale=0 bias=0", DN_BAD_PARAM, "one after another");
    refuse("sba fwd x=n2c4h3w3:f32 y=n2c4h3w3:f32 b=32x2x1:i32 scale=0 bias=0 act=tanh", DN_NOT_SUPPORTED, "activation mode is 2");
    refuse("sba bwd_data dy=n2c4h3w3:f32 dx=n2c4h3w3:f16 b=32x2x1:i32", DN_BAD_PARAM, "dxDesc");
    refuse("stats fwd x=n2c4h3w3:f16 w=n1c4h1w1:f16", DN_NOT_SUPPORTED, "f32 or f64");
    refuse("stats fwd x=n2c4h3w3:f16 w=n2c4h1w1:f32", DN_BAD_PARAM, "dimension 0 of the statistics is 2");
    refuse("bnfinal train w=n1c4h1w1:f32 b=n1c5h1w1:f32", DN_BAD_PARAM, "equivalent");
    refuse("bnfinal fwd w=n1c4h1w1:f32 b=n1c4h1w1:f32", DN_BAD_PARAM, "train or infer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_is_the_formula), cmocka_unit_test(mask_is_the_vendors), cmocka_unit_test(backward_is_a_finite_difference),
        cmocka_unit_test(statistics_are_sums), cmocka_unit_test(final_step), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, open_handle, close_handle);
}
