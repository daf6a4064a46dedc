/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The older calls of cuDNN 8 against the newer ones: the same network, weights and data must give the same numbers. */
#include "rnn_tests.h"

#include <string.h>

#if DN_ABI == 8

/* A packed batch for the newer calls; the older ones get an array of tensors, one a step. */
static const rnn_case packed = {.name = "packed", RNN_F32, RNN_SMALL, .layers = 2, .dir = 1, .cell = CUDNN_LSTM, .bias = DOUBLE_BIAS,
                                .states = 1, .layout = PACKED, .T = 4, .B = 3, .len = {4, 3, 1}};

typedef struct older {
    cudnnRNNDescriptor_t desc;
    cudnnTensorDescriptor_t x[4], y[4];
    cudnnFilterDescriptor_t w;
    cudnnDropoutDescriptor_t drop;
    void *ws, *rs;
    size_t work, reserve;
} older;

static void older_make(older *o, const rnn *r)
{
    const rnn_case *c = &r->c;
    cudnnHandle_t h = api_handle();
    CALL(cudnnCreateDropoutDescriptor, (&o->drop));
    CALL(cudnnSetDropoutDescriptor, (o->drop, h, 0, NULL, 0, 0));
    CALL(cudnnCreateRNNDescriptor, (&o->desc));
    CALL(cudnnSetRNNDescriptor_v6, (h, o->desc, c->hid, c->layers, o->drop, CUDNN_LINEAR_INPUT, (cudnnDirectionMode_t)c->dir,
                                    (cudnnRNNMode_t)c->cell, CUDNN_RNN_ALGO_STANDARD, F32));
    CALL(cudnnSetRNNMatrixMathType, (o->desc, CUDNN_FMA_MATH));
    if (c->proj != c->hid)
        CALL(cudnnSetRNNProjectionLayers, (h, o->desc, c->proj, 0));
    for (int t = 0; t < c->T; t++) {
        int batch = 0;
        for (int b = 0; b < c->B; b++)
            batch += c->len[b] > t;
        o->x[t] = rnn_step(batch, c->in);
        o->y[t] = rnn_step(batch, c->proj * (c->dir ? 2 : 1));
    }
    size_t bytes = 0;
    CALL(cudnnGetRNNParamsSize, (h, o->desc, o->x[0], &bytes, F32));
    assert_int_equal(bytes, r->wbytes);
    const int dim[3] = {(int)(bytes / sizeof(float)), 1, 1};
    CALL(cudnnCreateFilterDescriptor, (&o->w));
    CALL(cudnnSetFilterNdDescriptor, (o->w, F32, CUDNN_TENSOR_NCHW, 3, dim));
    CALL(cudnnGetRNNWorkspaceSize, (h, o->desc, c->T, o->x, &o->work));
    CALL(cudnnGetRNNTrainingReserveSize, (h, o->desc, c->T, o->x, &o->reserve));
    o->ws = api_alloc_end(o->work, 256);
    o->rs = api_alloc_end(o->reserve, 256);
}

static void older_free(older *o, int steps)
{
    for (int t = 0; t < steps; t++) {
        CALL(cudnnDestroyTensorDescriptor, (o->x[t]));
        CALL(cudnnDestroyTensorDescriptor, (o->y[t]));
    }
    CALL(cudnnDestroyFilterDescriptor, (o->w));
    CALL(cudnnDestroyRNNDescriptor, (o->desc));
    CALL(cudnnDestroyDropoutDescriptor, (o->drop));
}

/* What the newer calls gave, and room of the same sizes for the older ones. */
static void run_newer(rnn *newer, rnn *room, const rnn_case *c)
{
    rnn_make(newer, c);
    assert_int_equal(rnn_forward(newer, true), OK);
    assert_int_equal(rnn_backward_data(newer), OK);
    assert_int_equal(rnn_backward_weights(newer), OK);
    rnn_make(room, c);
}

static void expect_equal(const rnn *a, const rnn *b)
{
    MEM_CHECK();
    expect_same("y", F32, a->y, b->y, a->ny, 1e-6);
    expect_same("hy", F32, a->hy, b->hy, a->nh, 1e-6);
    expect_same("cy", F32, a->cy, b->cy, a->nc, 1e-6);
    expect_same("dx", F32, a->dx, b->dx, a->nx, 2e-6);
    expect_same("dhx", F32, a->dhx, b->dhx, a->nh, 2e-6);
    expect_same("dcx", F32, a->dcx, b->dcx, a->nc, 2e-6);
    expect_same("dw", F32, a->dw, b->dw, a->nw, 4e-6);
}

static void compare_steps(const rnn_case *c)
{
    rnn r, s;
    older o;
    cudnnHandle_t h = api_handle();
    run_newer(&r, &s, c);
    older_make(&o, &r);
    CALL(cudnnRNNForwardTraining, (h, o.desc, c->T, o.x, s.x, s.hd, s.hx, s.cd, s.cx, o.w, s.w, o.y, s.y, s.hd, s.hy, s.cd, s.cy, o.ws, o.work,
                                   o.rs, o.reserve));
    CALL(cudnnRNNBackwardData, (h, o.desc, c->T, o.y, s.y, o.y, s.dy, s.hd, s.dhy, s.cd, s.dcy, o.w, s.w, s.hd, s.hx, s.cd, s.cx, o.x, s.dx,
                                s.hd, s.dhx, s.cd, s.dcx, o.ws, o.work, o.rs, o.reserve));
    CALL(cudnnRNNBackwardWeights, (h, o.desc, c->T, o.x, s.x, s.hd, s.hx, o.y, s.y, o.ws, o.work, o.w, s.dw, o.rs, o.reserve));
    expect_equal(&s, &r);
    memset(s.y, 0, s.ny * sizeof(float));
    CALL(cudnnRNNForwardInference, (h, o.desc, c->T, o.x, s.x, s.hd, s.hx, s.cd, s.cx, o.w, s.w, o.y, s.y, s.hd, s.hy, s.cd, s.cy, o.ws,
                                    o.work));
    MEM_CHECK();
    expect_same("y", F32, s.y, r.y, r.ny, 1e-6);
    older_free(&o, c->T);
    rnn_free(&r);
    rnn_free(&s);
}

void older_calls_give_the_same(void **state)
{
    (void)state;
    rnn_case c = packed;
    compare_steps(&c);
    memcpy(c.len, (const int[]){4, 4, 4}, 3 * sizeof(int));
    compare_steps(&c);
    c.proj = 2;
    compare_steps(&c);
}

void ex_calls_give_the_same(void **state)
{
    (void)state;
    rnn_case c = packed;
    rnn r, s;
    older o;
    cudnnHandle_t h = api_handle();
    run_newer(&r, &s, &c);
    older_make(&o, &r);
    CALL(cudnnRNNForwardTrainingEx, (h, o.desc, s.xd, s.x, s.hd, s.hx, s.cd, s.cx, o.w, s.w, s.yd, s.y, s.hd, s.hy, s.cd, s.cy, NULL, NULL, NULL,
                                     NULL, NULL, NULL, NULL, NULL, o.ws, o.work, o.rs, o.reserve));
    CALL(cudnnRNNBackwardDataEx, (h, o.desc, s.yd, s.y, s.yd, s.dy, NULL, NULL, s.hd, s.dhy, s.cd, s.dcy, o.w, s.w, s.hd, s.hx, s.cd, s.cx, s.xd,
                                  s.dx, s.hd, s.dhx, s.cd, s.dcx, NULL, NULL, o.ws, o.work, o.rs, o.reserve));
    CALL(cudnnRNNBackwardWeightsEx, (h, o.desc, s.xd, s.x, s.hd, s.hx, s.yd, s.y, o.ws, o.work, o.w, s.dw, o.rs, o.reserve));
    expect_equal(&s, &r);
    CALL(cudnnRNNForwardInferenceEx, (h, o.desc, s.xd, s.x, s.hd, s.hx, s.cd, s.cx, o.w, s.w, s.yd, s.y, s.hd, s.hy, s.cd, s.cy, NULL, NULL, NULL,
                                      NULL, NULL, NULL, NULL, NULL, o.ws, o.work));
    expect_same("y", F32, s.y, r.y, r.ny, 1e-6);
    /* padding is refused until it is allowed */
    c.layout = UNPACKED;
    rnn_set_data(s.xd, &c, c.in);
    rnn_set_data(s.yd, &c, c.proj * 2);
    void *y = rnn_level(F32, 12 * 8, 99), *x = rnn_level(F32, 12 * 3, 1);
#define PADDED (h, o.desc, s.xd, x, s.hd, s.hx, s.cd, s.cx, o.w, s.w, s.yd, y, s.hd, s.hy, s.cd, s.cy, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
                NULL, o.ws, o.work)
    ROW(cudnnRNNForwardInferenceEx, PADDED, BAD, "xDesc", "PADDED_IO");
    CALL(cudnnSetRNNPaddingMode, (o.desc, CUDNN_RNN_PADDED_IO_ENABLED));
    ROW(cudnnRNNForwardInferenceEx, PADDED, OK, "");
    api_rows_done();
    MEM_CHECK();
    older_free(&o, c.T);
    rnn_free(&r);
    rnn_free(&s);
}

static void compare_linear(const rnn *r, const older *o, int pseudo, int linear)
{
    cudnnHandle_t h = api_handle();
    void *at[2] = {NULL, NULL}, *wanted[2];
    cudnnDataType_t type;
    cudnnTensorFormat_t format;
    int rank, dim[4], stride[4], tdim[4];
    cudnnTensorDescriptor_t t[2];
    cudnnFilterDescriptor_t f[2];
    for (int i = 0; i < 2; i++) {
        CALL(cudnnCreateTensorDescriptor, (&t[i]));
        CALL(cudnnCreateFilterDescriptor, (&f[i]));
    }
    CALL(cudnnGetRNNWeightParams, (h, r->desc, pseudo, r->wbytes, r->w, linear, t[0], &wanted[0], t[1], &wanted[1]));
    CALL(cudnnGetRNNLinLayerMatrixParams, (h, o->desc, pseudo, o->x[0], o->w, r->w, linear, f[0], &at[0]));
    if (linear < 8)
        CALL(cudnnGetRNNLinLayerBiasParams, (h, o->desc, pseudo, o->x[0], o->w, r->w, linear, f[1], &at[1]));
    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(at[i], wanted[i]);
        if (at[i]) {
            CALL(cudnnGetTensorNdDescriptor, (t[i], 4, &type, &rank, tdim, stride));
            CALL(cudnnGetFilterNdDescriptor, (f[i], 4, &type, &format, &rank, dim));
            assert_int_equal(rank, 3);
            assert_memory_equal(dim, tdim, 3 * sizeof(int));
        }
        CALL(cudnnDestroyTensorDescriptor, (t[i]));
        CALL(cudnnDestroyFilterDescriptor, (f[i]));
    }
}

void linear_layers_give_the_same(void **state)
{
    (void)state;
    rnn_case c = packed;
    for (int proj = 2; proj <= 4; proj += 2) {
        rnn r;
        older o;
        c.proj = proj;
        rnn_make(&r, &c);
        older_make(&o, &r);
        for (int p = 0; p < 4; p++)
            for (int l = 0; l <= 8; l++)
                compare_linear(&r, &o, p, l);
        older_free(&o, c.T);
        rnn_free(&r);
    }
}

static void check_record(cudnnAlgorithmPerformance_t record)
{
    cudnnAlgorithmDescriptor_t d;
    cudnnAlgorithm_t algorithm;
    cudnnStatus_t status;
    float time = -1;
    size_t memory;
    CALL(cudnnGetAlgorithmPerformance, (record, &d, &status, &time, &memory));
    CALL(cudnnGetAlgorithmDescriptor, (d, &algorithm));
    assert_int_equal(status, OK);
    assert_true(time >= 0);
    assert_in_range(algorithm.algo.RNNAlgo, 0, CUDNN_RNN_ALGO_COUNT - 1);
}

/* The lists have what the descriptor can be set to, and the numbers stay those of a call. */
void find_measures_the_call(void **state)
{
    (void)state;
    rnn_case c = packed;
    rnn r, s;
    older o;
    cudnnHandle_t h = api_handle();
    cudnnAlgorithmPerformance_t record[1];
    cudnnAlgorithmDescriptor_t found;
    int count = 0, got = 0;
    run_newer(&r, &s, &c);
    older_make(&o, &r);
    CALL(cudnnCreateAlgorithmPerformance, (record, 1));
    CALL(cudnnGetRNNForwardTrainingAlgorithmMaxCount, (h, o.desc, &count));
    assert_true(count >= 1);
    CALL(cudnnFindRNNForwardTrainingAlgorithmEx, (h, o.desc, c.T, o.x, s.x, s.hd, s.hx, s.cd, s.cx, o.w, s.w, o.y, s.y, s.hd, s.hy, s.cd, s.cy, 1,
                                                  1, &got, record, o.ws, o.work, o.rs, o.reserve));
    assert_int_equal(got, 1);
    check_record(record[0]);
    CALL(cudnnFindRNNBackwardDataAlgorithmEx, (h, o.desc, c.T, o.y, s.y, o.y, s.dy, s.hd, s.dhy, s.cd, s.dcy, o.w, s.w, s.hd, s.hx, s.cd, s.cx,
                                               o.x, s.dx, s.hd, s.dhx, s.cd, s.dcx, 1, 1, &got, record, o.ws, o.work, o.rs, o.reserve));
    check_record(record[0]);
    CALL(cudnnFindRNNBackwardWeightsAlgorithmEx, (h, o.desc, c.T, o.x, s.x, s.hd, s.hx, o.y, s.y, 1, 1, &got, record, o.ws, o.work, o.w, s.dw,
                                                  o.rs, o.reserve));
    check_record(record[0]);
    CALL(cudnnFindRNNForwardInferenceAlgorithmEx, (h, o.desc, c.T, o.x, s.x, s.hd, s.hx, s.cd, s.cx, o.w, s.w, o.y, s.y, s.hd, s.hy, s.cd, s.cy,
                                                   1, 1, &got, record, o.ws, o.work));
    check_record(record[0]);
    memcpy(s.dw, r.dw, r.wbytes);  /* timing added to it many times */
    expect_equal(&s, &r);
    cudnnStatus_t status;
    float time;
    size_t memory;
    CALL(cudnnGetAlgorithmPerformance, (record[0], &found, &status, &time, &memory));
    CALL(cudnnSetRNNAlgorithmDescriptor, (h, o.desc, found));
    CALL(cudnnDestroyAlgorithmPerformance, (record, 1));
    older_free(&o, c.T);
    rnn_free(&r);
    rnn_free(&s);
}

static void set_algorithm(cudnnRNNDescriptor_t desc, cudnnRNNAlgo_t number)
{
    cudnnAlgorithmDescriptor_t d;
    cudnnAlgorithm_t algorithm = {.algo = {.RNNAlgo = number}};
    CALL(cudnnCreateAlgorithmDescriptor, (&d));
    CALL(cudnnSetAlgorithmDescriptor, (d, algorithm));
    CALL(cudnnSetRNNAlgorithmDescriptor, (api_handle(), desc, d));
    CALL(cudnnDestroyAlgorithmDescriptor, (d));
}

/* A persistent plan is made for one batch size and one type. */
void plan_for_another_batch(void **state)
{
    (void)state;
    rnn r;
    cudnnPersistentRNNPlan_t plan, other;
    rnn_case c = packed;
    if (!api_ours)
        skip();  /* it compiles at run time, and may lack what it needs */
    c.algo = CUDNN_RNN_ALGO_PERSIST_DYNAMIC;
    rnn_make(&r, &c);
    CALL(cudnnCreatePersistentRNNPlan, (r.desc, 4, F32, &other));
    CALL(cudnnCreatePersistentRNNPlan, (r.desc, 3, F32, &plan));
    CALL(cudnnSetPersistentRNNPlan, (r.desc, other));
    assert_int_equal(rnn_forward(&r, false), BAD);
    assert_non_null(strstr(api_error(), "3 sequences; the persistent plan of rnnDesc was made for 4"));
    set_algorithm(r.desc, CUDNN_RNN_ALGO_STANDARD);  /* it has no use for the plan */
    assert_int_equal(rnn_forward(&r, false), OK);
    set_algorithm(r.desc, CUDNN_RNN_ALGO_PERSIST_DYNAMIC);
    assert_int_equal(rnn_forward(&r, false), BAD);
    CALL(cudnnSetPersistentRNNPlan, (r.desc, plan));
    assert_int_equal(rnn_forward(&r, false), OK);
    CALL(cudnnDestroyPersistentRNNPlan, (plan));
    CALL(cudnnDestroyPersistentRNNPlan, (other));
    assert_int_equal(rnn_forward(&r, false), OK);
    CALL(cudnnCreatePersistentRNNPlan, (r.desc, 3, F64, &other));
    CALL(cudnnSetPersistentRNNPlan, (r.desc, other));
    assert_int_equal(rnn_forward(&r, false), BAD);
    assert_non_null(strstr(api_error(), "type f32; the persistent plan of rnnDesc was made for f64"));
    CALL(cudnnDestroyPersistentRNNPlan, (other));
    rnn_free(&r);
}

#else
typedef int rnn_older_is_for_8;
#endif
