/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Multi-head attention: life of descriptors, values against the formula written out element by element, one time after another against all
 * at once. Misuse is in misuse_attn.c, gradients against the vendor's in test_attn_golden.c. */
#include "attn_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define F32 CUDNN_DATA_FLOAT
#define F64 CUDNN_DATA_DOUBLE
#define F16 CUDNN_DATA_HALF
#define FULL .lo = {0}, .hi = {9, 9, 9, 9, 9, 9, 9, 9}
#define TBV {0, 1, 2}
#define BIAS CUDNN_ATTN_ENABLE_PROJ_BIASES
#define OWN CUDNN_ATTN_QUERYMAP_ONE_TO_ONE

static const attn_case cases[] = {
    {0, 2, 0.5, F32, F32, 0, {4, 4, 4}, {2, 2, 2, 4}, 3, 5, 2, 1, 0, TBV, {3, 3}, {5, 5}, FULL},
    {BIAS, 3, 0.7, F64, F64, 0, {5, 7, 3}, {2, 2, 5, 6}, 3, 4, 2, 1, 0, {1, 0, 2}, {3, 2}, {1, 4}, FULL},
    {BIAS, 2, 1.5, F64, F64, 0, {4, 4, 4}, {2, 2, 2, 4}, 4, 5, 2, 1, 1, TBV, {4, 3}, {5, 3}, .lo = {0, 0, 1, 4}, .hi = {1, 2, 4, 4}},
    {BIAS, 2, 0.5, F32, F32, 0, {4, 4, 4}, {2, 2, 2, 4}, 3, 5, 2, 3, 2, {2, 1, 0}, {3, 1, 2, 3, 0, 3}, {5, 2}, FULL},
    {0, 2, 0.5, F64, F64, 0, {4, 4, 4}, {0, 0, 0, 0}, 3, 5, 2, 2, 0, {1, 2, 0}, {3, 1, 2, 3}, {5, 2}, FULL},
    {BIAS, 2, 0.5, F64, F64, 0, {3, 4, 5}, {4, 0, 2, 0}, 3, 5, 2, 1, 0, {0, 2, 1}, {3, 3}, {5, 2}, FULL},
    {BIAS, 2, 0.25, F16, F32, 0, {8, 8, 8}, {4, 4, 4, 8}, 4, 4, 2, 1, 1, TBV, {4, 4}, {4, 3}, .lo = {0, 0, 0, 0}, .hi = {1, 2, 3, 4}},
    {OWN | BIAS, 2, 0.5, F64, F64, 0, {4, 4, 4}, {2, 2, 2, 4}, 3, 5, 2, 1, 0, TBV, {3, 3}, {5, 2}, FULL},
};
enum {CASES = sizeof cases / sizeof *cases};

/* --- the formula --- */

/* Element `row` of input `which` (its projection to head h) at (time, batch, beam). */
static double projected(const attn_layer *l, int which, int h, int row, int time, int batch, int beam)
{
    const attn_case *c = &l->c;
    int size = c->in[which], proj = c->proj[which];
    if (!proj)
        return attn_at(l, which, attn_index(l, which != ATTN_Q, size, time, batch, beam, row));
    int64_t at = 0, bias = (int64_t)(l->weights / type_size((cudnnDataType_t)c->type));
    for (int k = 0; k < which; k++)
        at += (int64_t)c->heads * c->in[k] * c->proj[k];
    for (int k = 3; k >= which; k--)
        bias -= k == 3 ? c->proj[3] : c->heads * c->proj[k];
    double sum = c->mode & BIAS ? attn_at(l, ATTN_W, bias + h * proj + row) : 0;
    for (int i = 0; i < size; i++)
        sum += attn_at(l, ATTN_W, at + h * proj + row + (int64_t)i * c->heads * proj) *
               attn_at(l, which, attn_index(l, which != ATTN_Q, size, time, batch, beam, i));
    return sum;
}

/* p: room for t values. False where no key is seen. */
static bool probabilities(const attn_layer *l, int h, int s, int n, int b, double *p)
{
    const attn_case *c = &l->c;
    int beams = attn_key_beams(c), kb = beams == 1 ? 0 : b, e = c->proj[0] ? c->proj[0] : c->in[0];
    double top = -INFINITY, sum = 0;
    bool any = false;
    for (int t = 0; t < c->t; t++) {
        bool seen = s < c->qlen[n * c->b + b] && t < c->klen[n * beams + kb] && t >= c->lo[s] && t < c->hi[s];
        p[t] = -INFINITY;
        if (!seen)
            continue;
        p[t] = 0;
        for (int i = 0; i < e; i++)
            p[t] += c->scale * projected(l, ATTN_Q, h, i, s, n, b) * projected(l, ATTN_K, h, i, t, n, kb);
        top = fmax(top, p[t]);
        any = true;
    }
    for (int t = 0; t < c->t; t++) {
        p[t] = any ? exp(p[t] - top) : 0;
        sum += p[t];
    }
    for (int t = 0; t < c->t && any; t++)
        p[t] /= sum;
    return any;
}

/* o' of one head */
static void head_of(const attn_layer *l, int h, int s, int n, int b, int f, double *to)
{
    double p[ATTN_LIST];
    int kb = attn_key_beams(&l->c) == 1 ? 0 : b;
    memset(to, 0, (size_t)f * sizeof *to);
    if (probabilities(l, h, s, n, b, p))
        for (int i = 0; i < f; i++)
            for (int t = 0; t < l->c.t; t++)
                to[i] += p[t] == 0 ? 0 : p[t] * projected(l, ATTN_V, h, i, t, n, kb);
}

static double wanted(const attn_layer *l, int s, int n, int b, int j)
{
    const attn_case *c = &l->c;
    int f = c->proj[2] ? c->proj[2] : c->in[2], o = c->proj[3];
    double head[16], v = 0;
    int64_t at = 0, all = (int64_t)(l->weights / type_size((cudnnDataType_t)c->type));
    for (int k = 0; k < 3; k++)
        at += (int64_t)c->heads * c->in[k] * c->proj[k];
    for (int h = 0; h < c->heads; h++) {
        head_of(l, h, s, n, b, f, head);
        for (int i = 0; o && i < f; i++)
            v += attn_at(l, ATTN_W, at + (int64_t)h * o * f + j + (int64_t)i * o) * head[i];
        if (!o && j / f == h)
            v = head[j % f];
    }
    if (o && c->mode & BIAS)
        v += attn_at(l, ATTN_W, all - o + j);
    if (c->residual)
        v += attn_at(l, c->residual == 1 ? ATTN_RESIDUAL : ATTN_Q, attn_index(l, false, l->out, s, n, b, j));
    return v;
}

static void check_values(const attn_layer *l, int first, int last)
{
    double bound = l->c.type == F64 ? 1e-12 : l->c.type == F32 ? (api_ours ? 1e-5 : 2e-3) : 4e-3;
    for (int s = 0; s < l->c.s; s++)
        for (int n = 0; n < l->c.n; n++)
            for (int b = 0; b < l->c.b; b++)
                for (int j = 0; j < l->out; j++) {
                    double got = attn_at(l, ATTN_O, attn_index(l, false, l->out, s, n, b, j));
                    double want = s < first || s > last ? 777 : wanted(l, s, n, b, j);
                    if (s < first || s > last ? fabs(got - want) > 0.5 : !(fabs(got - want) <= bound * fmax(1, fabs(want))))
                        fail_msg("time %d, batch %d, beam %d, element %d is %.12g, not %.12g", s, n, b, j, got, want);
                }
}

static void formula(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++)
        for (int train = 0; train < 2; train++) {
            attn_layer l;
            attn_make(&l, &cases[k], train);
            api_must(__FILE__, __LINE__, "forward", attn_forward(&l, -1));
            MEM_CHECK();
            check_values(&l, 0, l.c.s - 1);
            attn_free(&l);
        }
}

/* Each time alone, the others untouched; then all of them make the whole. */
static void steps(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        attn_layer l;
        attn_make(&l, &cases[k], false);
        for (int s = 0; s < l.c.s; s++) {
            api_must(__FILE__, __LINE__, "forward", attn_forward(&l, s));
            api_sync();
            check_values(&l, 0, s);
        }
        attn_free(&l);
    }
}

/* SET, then ADD, is twice the gradient; queries past the end have none. */
static void gradients_add(void **state)
{
    (void)state;
    attn_layer l;
    attn_make(&l, &cases[1], true);
    api_must(__FILE__, __LINE__, "forward", attn_forward(&l, -1));
    api_must(__FILE__, __LINE__, "backward data", attn_backward_data(&l));
    api_must(__FILE__, __LINE__, "backward weights", attn_backward_weights(&l, CUDNN_WGRAD_MODE_SET));
    api_sync();
    double *once = data_new(l.count[ATTN_DW]);
    for (int64_t i = 0; i < l.count[ATTN_DW]; i++)
        once[i] = attn_at(&l, ATTN_DW, i);
    api_must(__FILE__, __LINE__, "backward weights", attn_backward_weights(&l, CUDNN_WGRAD_MODE_ADD));
    MEM_CHECK();
    for (int64_t i = 0; i < l.count[ATTN_DW]; i++)
        assert_true(fabs(attn_at(&l, ATTN_DW, i) - 2 * once[i]) <= 1e-12 * fmax(1, fabs(once[i])));
    for (int i = 0; i < l.c.in[0]; i++)
        assert_true(attn_at(&l, ATTN_DQ, attn_index(&l, false, l.c.in[0], 2, 1, 0, i)) == 0);
    attn_free(&l);
}

/* A layer for more and longer sequences than the data has: what it asks for is enough for the data. */
static void smaller_data(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        attn_layer l;
        const attn_case *c = &cases[k];
        size_t weights;
        attn_make(&l, c, true);
        CALL(cudnnSetAttnDescriptor, (l.desc, c->mode, c->heads, c->scale, (cudnnDataType_t)c->type, (cudnnDataType_t)c->compute,
                                      CUDNN_DEFAULT_MATH, NULL, NULL, c->in[0], c->in[1], c->in[2], c->proj[0], c->proj[1], c->proj[2],
                                      c->proj[3], 3 * c->s, 700, 5 * c->n, c->b));
        CALL(cudnnGetMultiHeadAttnBuffers, (api_handle(), l.desc, &weights, &l.work_size, &l.reserve_size));
        assert_int_equal(weights, l.weights);
        l.work = l.work_size ? api_alloc(l.work_size) : NULL;
        l.reserve = api_alloc(l.reserve_size);
        api_must(__FILE__, __LINE__, "forward", attn_forward(&l, -1));
        api_sync();
        check_values(&l, 0, c->s - 1);
        api_must(__FILE__, __LINE__, "backward data", attn_backward_data(&l));
        api_must(__FILE__, __LINE__, "backward weights", attn_backward_weights(&l, CUDNN_WGRAD_MODE_ADD));
        MEM_CHECK();
        attn_free(&l);
    }
}

/* Nothing that a query answers falls where a size rises. */
static void sizes_grow(void **state)
{
    (void)state;
    cudnnAttnDescriptor_t d;
    size_t was[4] = {0}, now[4];
    CALL(cudnnCreateAttnDescriptor, (&d));
    for (int most = 1; most <= 2048; most *= 2)
        for (int i = 0; i < 3; i++) {
            int s = i > 0 ? most : most / 2 + 1, t = i > 1 ? most : most / 2 + 1, n = most / 64 + 1;
            CALL(cudnnSetAttnDescriptor, (d, BIAS, 4, 0.5, F16, F32, CUDNN_DEFAULT_MATH, NULL, NULL, 64, 64, 64, 16, 16, 16, 64, s, t, n, 1));
            CALL(cudnnGetMultiHeadAttnBuffers, (api_handle(), d, now, now + 1, NULL));
            CALL(cudnnGetMultiHeadAttnBuffers, (api_handle(), d, now, now + 2, now + 3));
            for (int k = 0; k < 4; k++) {
                if (now[k] < was[k])
                    fail_msg("size %d falls from %zu to %zu at %d x %d, batch %d", k, was[k], now[k], s, t, n);
                was[k] = now[k];
            }
        }
    CALL(cudnnDestroyAttnDescriptor, (d));
}

/* --- descriptors --- */

static void sequence_life(void **state)
{
    (void)state;
    cudnnSeqDataDescriptor_t d;
    const int dims[4] = {3, 2, 3, 4};
    const cudnnSeqDataAxis_t axes[4] = {CUDNN_SEQDATA_BEAM_DIM, CUDNN_SEQDATA_BATCH_DIM, CUDNN_SEQDATA_TIME_DIM, CUDNN_SEQDATA_VECT_DIM};
    int lengths[6] = {3, 2, 1, 3, 1, 2}, got_dims[4] = {0}, got_lengths[6] = {0}, rank = 0;
    cudnnSeqDataAxis_t got_axes[4];
    cudnnDataType_t type;
    size_t count = 0;
    double five = 5, fill = 0;
    CALL(cudnnCreateSeqDataDescriptor, (&d));
    CALL(cudnnSetSeqDataDescriptor, (d, CUDNN_DATA_DOUBLE, 4, dims, axes, 6, lengths, &five));
    memset(lengths, 0, sizeof lengths);  /* the descriptor has its own */
    CALL(cudnnGetSeqDataDescriptor, (d, &type, &rank, 4, got_dims, got_axes, &count, 6, got_lengths, &fill));
    assert_int_equal(type, CUDNN_DATA_DOUBLE);
    assert_int_equal(rank, 4);
    assert_memory_equal(got_dims, dims, sizeof dims);
    assert_memory_equal(got_axes, axes, sizeof axes);
    assert_int_equal(count, 6);
    assert_memory_equal(got_lengths, ((int[]){3, 2, 1, 3, 1, 2}), sizeof got_lengths);
    assert_true(fill == 5);
    memset(got_dims, 0x11, sizeof got_dims);
    memset(got_lengths, 0x11, sizeof got_lengths);
    CALL(cudnnGetSeqDataDescriptor, (d, NULL, NULL, 2, got_dims, NULL, NULL, 1, got_lengths, NULL));
    assert_memory_equal(got_dims, ((int[]){3, 2, 0x11111111, 0x11111111}), sizeof got_dims);
    assert_memory_equal(got_lengths, ((int[]){3, 0x11111111}), 2 * sizeof(int));
    CALL(cudnnSetSeqDataDescriptor, (d, CUDNN_DATA_FLOAT, 4, (int[]){1, 1, 1, 9}, axes, 1, (int[]){1}, NULL));
    CALL(cudnnGetSeqDataDescriptor, (d, &type, &rank, 4, got_dims, got_axes, &count, 6, got_lengths, NULL));
    assert_int_equal(count, 1);
    assert_int_equal(got_dims[3], 9);
    CALL(cudnnDestroySeqDataDescriptor, (d));
}

static void layer_life(void **state)
{
    (void)state;
    cudnnAttnDescriptor_t d;
    cudnnDropoutDescriptor_t drop, post, got_drop, got_post;
    unsigned mode;
    int heads, v[11];
    double scale;
    cudnnDataType_t type, compute;
    cudnnMathType_t math;
    CALL(cudnnCreateAttnDescriptor, (&d));
    CALL(cudnnCreateDropoutDescriptor, (&drop));
    CALL(cudnnCreateDropoutDescriptor, (&post));
    CALL(cudnnSetAttnDescriptor, (d, BIAS, 3, 0.125, CUDNN_DATA_HALF, CUDNN_DATA_FLOAT, CUDNN_TENSOR_OP_MATH, drop, post, 1, 2, 3, 4, 4, 6, 7,
                                  8, 9, 10, 11));
    CALL(cudnnGetAttnDescriptor, (d, &mode, &heads, &scale, &type, &compute, &math, &got_drop, &got_post, v, v + 1, v + 2, v + 3, v + 4,
                                  v + 5, v + 6, v + 7, v + 8, v + 9, v + 10));
    assert_int_equal(mode, BIAS);
    assert_int_equal(heads, 3);
    assert_true(scale == 0.125);
    assert_int_equal(type, CUDNN_DATA_HALF);
    assert_int_equal(compute, CUDNN_DATA_FLOAT);
    assert_int_equal(math, CUDNN_TENSOR_OP_MATH);
    assert_ptr_equal(got_drop, drop);
    assert_ptr_equal(got_post, post);
    assert_memory_equal(v, ((int[]){1, 2, 3, 4, 4, 6, 7, 8, 9, 10, 11}), sizeof v);
    CALL(cudnnGetAttnDescriptor, (d, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                  NULL, NULL));
    CALL(cudnnDestroyAttnDescriptor, (d));
    CALL(cudnnDestroyDropoutDescriptor, (drop));
    CALL(cudnnDestroyDropoutDescriptor, (post));
}

static const struct CMUnitTest tests[] = {
    API_TEST(sequence_life), API_TEST(layer_life), DATA_TEST(formula), DATA_TEST(steps), DATA_TEST(gradients_add), DATA_TEST(smaller_data),
    API_TEST(sizes_grow),
};

API_MAIN(tests)
