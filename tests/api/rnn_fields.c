/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What people who use recurrent networks ran into, under the case's number, and the formulas with weights found by name. */
#include "rnn_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LSTM CUDNN_LSTM
#define GRU CUDNN_GRU

static const rnn_case small = {.name = "small", RNN_F32, RNN_SMALL, .layers = 1, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1, .flags = 1,
                               .T = 4, .B = 3, .len = {4, 4, 4}};

void expect_same(const char *what, int type, const void *got, const void *want, size_t n, double tol)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(rnn_value(type, got, i) - rnn_value(type, want, i)) <= tol))
            fail_msg("%s[%zu] is %.9g, wanted %.9g", what, i, rnn_value(type, got, i), rnn_value(type, want, i));
}

/* n values at p are v. */
static bool all_are(int type, const void *p, size_t first, size_t n, double v)
{
    for (size_t i = 0; i < n; i++)
        if (rnn_value(type, p, first + i) != v)
            return false;
    return true;
}

/* tensorflow #33148, #33069: a sequence of length 0 in a batch. */
void L36_empty_sequences(void **state)
{
    (void)state;
    rnn_case c = small;
    rnn r;
    c.T = 5;
    memcpy(c.len, (const int[]){5, 0, 3}, 3 * sizeof(int));
    rnn_make(&r, &c);
    float seven = 7;
    CALL(cudnnSetRNNDataDescriptor, (r.yd, F32, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, c.T, c.B, c.proj, c.len, &seven));
    assert_int_equal(rnn_forward(&r, true), OK);
    assert_int_equal(rnn_backward_data(&r), OK);
    assert_int_equal(rnn_backward_weights(&r), OK);
    MEM_CHECK();
    for (int t = 0; t < c.T; t++) {
        size_t row = (size_t)(t * c.B + 1);
        assert_true(all_are(F32, r.y, row * 4, 4, 7));
        assert_true(all_are(F32, r.dx, row * 3, 3, 0));
    }
    if (api_ours) {  /* the vendor's 9.19 writes the fill there */
        assert_memory_equal((float *)r.hy + 4, (float *)r.hx + 4, 4 * sizeof(float));
        assert_memory_equal((float *)r.cy + 4, (float *)r.cx + 4, 4 * sizeof(float));
        assert_memory_equal((float *)r.dhx + 4, (float *)r.dhy + 4, 4 * sizeof(float));
    }
    cudnnStatus_t st = api.cudnnSetRNNDataDescriptor(r.xd, F32, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, c.T, c.B, c.in, c.len, NULL);
    if (api_ours || DN_ABI >= 9)
        assert_int_equal(api_class(st), BAD);
    rnn_free(&r);
}

/* chainer #7545. */
void L37_one_step_of_one_sequence(void **state)
{
    (void)state;
    for (int layout = UNPACKED; layout <= BATCH_MAJOR; layout++)
        for (int cell = CUDNN_RNN_RELU; cell <= GRU; cell++) {
            rnn_case c = small;
            rnn r;
            c.layout = layout;
            c.cell = cell;
            c.T = c.B = c.len[0] = 1;
            rnn_make(&r, &c);
            assert_int_equal(rnn_forward(&r, true), OK);
            assert_int_equal(rnn_backward_data(&r), OK);
            assert_int_equal(rnn_backward_weights(&r), OK);
            expect_same("hy", F32, r.hy, r.y, 4, 0);
            MEM_CHECK();
            rnn_free(&r);
            api_mem_free();
        }
}

/* Sequence b of a batch, as a batch of its own. */
static void run_alone(const rnn *all, int b, float *y)
{
    rnn one;
    rnn_case c = all->c;
    size_t h = (size_t)c.hid;
    c.B = 1;
    c.T = c.len[0] = all->c.len[b];
    rnn_make(&one, &c);
    for (int t = 0; t < c.T; t++)
        memcpy((float *)one.x + t * c.in, (float *)all->x + (t * all->c.B + b) * c.in, (size_t)c.in * sizeof(float));
    memcpy(one.hx, (float *)all->hx + (size_t)b * h, h * sizeof(float));
    memcpy(one.cx, (float *)all->cx + (size_t)b * h, h * sizeof(float));
    assert_int_equal(rnn_forward(&one, true), OK);
    memcpy(y, one.y, one.ny * sizeof(float));
    rnn_free(&one);
}

/* tensorflow #41630: lengths may change from call to call within the spaces that were asked for once. */
void L38_sizes_do_not_depend_on_lengths(void **state)
{
    (void)state;
    static const int lengths[][3] = {{4, 4, 4}, {1, 4, 2}, {3, 1, 4}, {4, 3, 2}};
    rnn r;
    rnn_make(&r, &small);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        size_t work = 0, reserve = 0;
        memcpy(r.c.len, lengths[k], sizeof lengths[k]);
        memcpy(r.len, lengths[k], sizeof lengths[k]);
        rnn_set_data(r.xd, &r.c, r.c.in);
        rnn_set_data(r.yd, &r.c, r.c.proj);
        CALL(cudnnGetRNNTempSpaceSizes, (api_handle(), r.desc, CUDNN_FWD_MODE_TRAINING, r.xd, &work, &reserve));
        if (api_ours) {  /* cuDNN 9.19 asks for 128 bytes less here and there */
            assert_int_equal(work, r.work);
            assert_int_equal(reserve, r.reserve);
        }
        if (work > r.work || reserve > r.reserve)
            continue;
        assert_int_equal(rnn_forward(&r, true), OK);
        assert_int_equal(rnn_backward_data(&r), OK);
        assert_int_equal(rnn_backward_weights(&r), OK);
        for (int b = 0; b < 3; b++) {
            float alone[16];
            run_alone(&r, b, alone);
            for (int t = 0; t < lengths[k][b]; t++)
                expect_same("y", F32, (float *)r.y + (t * 3 + b) * 4, alone + t * 4, 4, 2e-6);
        }
    }
    MEM_CHECK();
    rnn_free(&r);
}

/* --- weights --- */

typedef struct part { const char *from, *to; } part;

static int by_address(const void *a, const void *b)
{
    const part *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static size_t add_part(part *p, cudnnTensorDescriptor_t d, const void *at, const char *space)
{
    cudnnDataType_t type;
    int rank, dim[4], stride[4];
    if (!at)
        return 0;
    CALL(cudnnGetTensorNdDescriptor, (d, 4, &type, &rank, dim, stride));
    p->from = (const char *)at;
    p->to = p->from + (size_t)dim[1] * (size_t)dim[2] * sizeof(float);
    assert_true(p->from >= space);
    return 1;
}

static void check_tiling(const rnn *r)
{
    part parts[200];
    size_t n = 0, bytes = 0;
    cudnnTensorDescriptor_t m, b;
    CALL(cudnnCreateTensorDescriptor, (&m));
    CALL(cudnnCreateTensorDescriptor, (&b));
    CALL(cudnnGetRNNWeightSpaceSize, (api_handle(), r->desc, &bytes));
    char *space = api_alloc(bytes);
    int gates = r->c.cell == LSTM ? 4 : r->c.cell == GRU ? 3 : 1;
    for (int p = 0; p < r->c.layers * (r->c.dir ? 2 : 1); p++)
        for (int l = 0; l <= 2 * gates; l++) {
            void *at = NULL, *bias = NULL;
            CALL(cudnnGetRNNWeightParams, (api_handle(), r->desc, p, bytes, space, l, m, &at, b, &bias));
            n += add_part(&parts[n], m, at, space);
            n += add_part(&parts[n], b, bias, space);
        }
    qsort(parts, n, sizeof *parts, by_address);
    const char *end = space;
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(parts[i].from, end);
        end = parts[i].to;
    }
    assert_ptr_equal(end, space + bytes);
    CALL(cudnnDestroyTensorDescriptor, (m));
    CALL(cudnnDestroyTensorDescriptor, (b));
}

/* onnx #143, tensorflow #29308, tch-rs #103: the parts lie one behind the other and fill the space. */
void L39_weights_tile_the_space(void **state)
{
    (void)state;
    api_handle();
    for (int i = 0; i < 4 * 4 * 2 * 2 * 2; i++) {
        rnn_case c = small;
        rnn r;
        c.cell = i % 4;
        c.bias = i / 4 % 4;
        c.dir = i / 16 % 2;
        c.skip = i / 32 % 2;
        c.layers = 2;
        c.in = c.skip ? c.hid : 3;
        if (i / 64) {
            if (c.cell != LSTM)
                continue;
            c.proj = 2;
        }
        rnn_descriptors(&r, &c);
        check_tiling(&r);
        rnn_free(&r);
        api_mem_free();
    }
}

/* Fills one linear layer with values of its own; answers them. Row-major, one row per unit. */
static void write_weights(rnn *r, int linear, float *matrix, float *bias)
{
    void *m = NULL, *b = NULL;
    cudnnTensorDescriptor_t md, bd;
    CALL(cudnnCreateTensorDescriptor, (&md));
    CALL(cudnnCreateTensorDescriptor, (&bd));
    CALL(cudnnGetRNNWeightParams, (api_handle(), r->desc, 0, r->wbytes, r->w, linear, md, &m, bd, &b));
    int gates = r->c.cell == LSTM ? 4 : 3, columns = linear < gates ? r->c.in : r->c.hid;
    for (int i = 0; i < r->c.hid * columns; i++)
        matrix[i] = (float)(((i * 7 + linear * 5) % 13) - 6) / 8;
    for (int i = 0; i < r->c.hid; i++)
        bias[i] = (float)(((i * 3 + linear * 11) % 7) - 3) / 4;
    memcpy(m, matrix, (size_t)(r->c.hid * columns) * sizeof(float));
    memcpy(b, bias, (size_t)r->c.hid * sizeof(float));
    CALL(cudnnDestroyTensorDescriptor, (md));
    CALL(cudnnDestroyTensorDescriptor, (bd));
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Sum of a row's products, and its bias. */
static double product(const float *matrix, const float *bias, int u, const float *v, int n)
{
    double sum = bias[u];
    for (int k = 0; k < n; k++)
        sum += (double)matrix[u * n + k] * v[k];
    return sum;
}

/* One step of one sequence from hx, cx, with weights written under their names. */
static void check_formula(int cell)
{
    rnn_case c = small;
    rnn r;
    float m[8][32], b[8][8];
    int gates = cell == LSTM ? 4 : 3;
    c.cell = cell;
    c.T = c.B = c.len[0] = 1;
    rnn_make(&r, &c);
    for (int l = 0; l < 2 * gates; l++)
        write_weights(&r, l, m[l], b[l]);
    assert_int_equal(rnn_forward(&r, false), OK);
    const float *x = r.x, *h = r.hx, *before = r.cx;
    for (int u = 0; u < c.hid; u++) {
        double w[4], q[4], y;
        for (int g = 0; g < gates; g++) {
            w[g] = product(m[g], b[g], u, x, c.in);
            q[g] = product(m[gates + g], b[gates + g], u, h, c.hid);
        }
        if (cell == GRU) {  /* r, z (update), n (new); the reset gate is applied after the product and its bias */
            double reset = sigmoid(w[0] + q[0]), z = sigmoid(w[1] + q[1]), n = tanh(w[2] + reset * q[2]);
            y = (1 - z) * n + z * (double)h[u];
        } else {            /* i, f, g (new), o */
            double cell_now = sigmoid(w[1] + q[1]) * (double)before[u] + sigmoid(w[0] + q[0]) * tanh(w[2] + q[2]);
            y = sigmoid(w[3] + q[3]) * tanh(cell_now);
            assert_true(fabs((double)((float *)r.cy)[u] - cell_now) < 2e-6);
        }
        if (fabs((double)((float *)r.y)[u] - y) > 2e-6)
            fail_msg("y[%d] is %g, wanted %g", u, (double)((float *)r.y)[u], y);
    }
    rnn_free(&r);
}

/* keras #9112, #8307. */
void L40_gru_formula(void **state)
{
    (void)state;
    check_formula(GRU);
}

void lstm_formula(void **state)
{
    (void)state;
    check_formula(LSTM);
}

/* --- gradients --- */

/* mxnet #3274. */
void L42_weight_gradients_add(void **state)
{
    (void)state;
    rnn r;
    rnn_make(&r, &small);
    assert_int_equal(rnn_forward(&r, true), OK);
    assert_int_equal(rnn_backward_data(&r), OK);
    assert_int_equal(rnn_backward_weights(&r), OK);
    float *once = malloc(r.wbytes);
    memcpy(once, r.dw, r.wbytes);
    assert_int_equal(rnn_backward_weights(&r), OK);
    for (size_t i = 0; i < r.nw; i++)
        once[i] *= 2;
    expect_same("twice dw", F32, r.dw, once, r.nw, 4e-6);
    free(once);
    cudnnStatus_t st = api.cudnnRNNBackwardWeights_v8(api_handle(), r.desc, CUDNN_WGRAD_MODE_SET, r.len, r.xd, r.x, r.hd, r.hx, r.yd, r.y,
                                                      r.wbytes, r.dw, r.work, r.ws, r.reserve, r.rs);
    assert_int_equal(api_class(st), NOSUP);
    rnn_free(&r);
}

/* Two forward calls before their gradients: each reserve space belongs to its own. */
void L42_reserve_space_is_of_its_call(void **state)
{
    (void)state;
    rnn a, b;
    rnn_make(&a, &small);
    assert_int_equal(rnn_forward(&a, true), OK);
    assert_int_equal(rnn_backward_data(&a), OK);
    assert_int_equal(rnn_backward_weights(&a), OK);
    void *dx = rnn_level(F32, a.nx, 0), *dw = rnn_level(F32, a.nw, 0);
    memcpy(dx, a.dx, a.nx * sizeof(float));
    memcpy(dw, a.dw, a.wbytes);
    memset(a.dw, 0, a.wbytes);
    rnn_make(&b, &small);
    for (size_t i = 0; i < b.nx; i++)
        ((float *)b.x)[i] *= -2;
    assert_int_equal(rnn_forward(&a, true), OK);
    assert_int_equal(rnn_forward(&b, true), OK);
    assert_int_equal(rnn_backward_data(&a), OK);
    assert_int_equal(rnn_backward_data(&b), OK);
    assert_int_equal(rnn_backward_weights(&b), OK);
    assert_int_equal(rnn_backward_weights(&a), OK);
    expect_same("dx", F32, a.dx, dx, a.nx, 1e-6);
    expect_same("dw", F32, a.dw, dw, a.nw, 4e-6);
    assert_true(fabs(rnn_value(F32, b.dx, 0) - rnn_value(F32, dx, 0)) > 1e-4);
    rnn_free(&a);
    rnn_free(&b);
}

/* --- dropout --- */

static const rnn_case dropping = {.name = "dropout", .type = F64, .prec = F64, .in = 3, .hid = 16, .proj = 16, .layers = 2, .cell = GRU,
                                  .bias = DOUBLE_BIAS, .states = 1, .T = 4, .B = 3, .len = {4, 4, 4}, .dropout = 0.5f};

static void reseed(rnn *r, unsigned long long seed, bool restore)
{
    size_t size = 0;
    CALL(cudnnDropoutGetStatesSize, (api_handle(), &size));
    if (restore)
        CALL(cudnnRestoreDropoutDescriptor, (r->drop, api_handle(), r->c.dropout, r->states, size, seed));
    else
        CALL(cudnnSetDropoutDescriptor, (r->drop, api_handle(), r->c.dropout, r->states, size, seed));
}

static double *outputs(rnn *r)
{
    static double all[8][512];
    static int next;
    double *y = all[next++ % 8];
    assert_true(r->ny <= 512);
    assert_int_equal(rnn_forward(r, true), OK);
    memcpy(y, r->y, r->ny * sizeof *y);
    return y;
}

static bool same(const double *a, const double *b, size_t n)
{
    return !memcmp(a, b, n * sizeof *a);
}

/* pytorch #74177, #18110, #90168. */
void L43_rnn_dropout_repeats(void **state)
{
    (void)state;
    rnn r;
    rnn_make(&r, &dropping);
    const double *first = outputs(&r), *second = outputs(&r);
    assert_false(same(first, second, r.ny));           /* each forward call advances */
    reseed(&r, 42, false);
    assert_true(same(first, outputs(&r), r.ny));       /* Set starts again */
    reseed(&r, 42, true);
    assert_true(same(second, outputs(&r), r.ny));      /* Restore goes on */
    reseed(&r, 43, false);
    assert_false(same(first, outputs(&r), r.ny));
    assert_int_equal(rnn_forward(&r, false), OK);      /* inference drops nothing, and does not advance */
    reseed(&r, 42, false);
    assert_int_equal(rnn_forward(&r, false), OK);
    assert_true(same(first, outputs(&r), r.ny));
    MEM_CHECK();
    rnn_free(&r);
}

/* The sum of y dy, with the masks of the first call after seeding. */
static double loss(rnn *r)
{
    double sum = 0;
    reseed(r, 42, false);
    assert_int_equal(rnn_forward(r, true), OK);
    for (size_t i = 0; i < r->ny; i++)
        sum += ((double *)r->y)[i] * ((double *)r->dy)[i];
    return sum;
}

/* Gradients by inputs and weights against differences, through the masks of that forward call. */
void dropout_gradients(void **state)
{
    (void)state;
    rnn r;
    rnn_make(&r, &dropping);
    memset(r.dhy, 0, r.nh * sizeof(double));
    loss(&r);
    assert_int_equal(rnn_backward_data(&r), OK);
    assert_int_equal(rnn_backward_weights(&r), OK);
    const struct { double *at; const double *gradient; size_t n; } by[] = {{r.x, r.dx, r.nx}, {r.w, r.dw, r.nw}, {r.hx, r.dhx, r.nh}};
    const double step = 1e-5;
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < by[k].n; i += by[k].n / 9) {
            double was = by[k].at[i];
            by[k].at[i] = was + step;
            double up = loss(&r);
            by[k].at[i] = was - step;
            double slope = (up - loss(&r)) / (2 * step);
            by[k].at[i] = was;
            if (fabs(slope - by[k].gradient[i]) > 1e-6)
                fail_msg("gradient %d[%zu] is %g, differences say %g", k, i, by[k].gradient[i], slope);
        }
    rnn_free(&r);
}

/* --- layouts --- */

/* The same sequences, packed, padded by time and padded by batch. */
void layouts_agree(void **state)
{
    (void)state;
    rnn_case c = small;
    rnn r[3];
    size_t dirs = 2;
    c.dir = 1;
    c.layers = 2;
    memcpy(c.len, (const int[]){4, 3, 1}, 3 * sizeof(int));
    for (int layout = UNPACKED; layout <= BATCH_MAJOR; layout++) {
        c.layout = layout;
        rnn_make(&r[layout], &c);
    }
    size_t row = 0;
    for (int t = 0; t < c.T; t++)
        for (int b = 0; b < c.B && t < c.len[b]; b++, row++) {
            const float *x = (float *)r[PACKED].x + row * 3, *dy = (float *)r[PACKED].dy + row * 4 * dirs;
            const int at[2] = {t * c.B + b, b * c.T + t};
            for (int k = 0; k < 2; k++) {
                rnn *to = &r[k ? BATCH_MAJOR : UNPACKED];
                memcpy((float *)to->x + at[k] * 3, x, 3 * sizeof(float));
                memcpy((float *)to->dy + at[k] * 4 * (int)dirs, dy, 4 * dirs * sizeof(float));
            }
        }
    for (int layout = UNPACKED; layout <= BATCH_MAJOR; layout++) {
        assert_int_equal(rnn_forward(&r[layout], true), OK);
        assert_int_equal(rnn_backward_data(&r[layout]), OK);
        assert_int_equal(rnn_backward_weights(&r[layout]), OK);
        expect_same("hy", F32, r[layout].hy, r[0].hy, r[0].nh, 1e-6);
        expect_same("cy", F32, r[layout].cy, r[0].cy, r[0].nc, 1e-6);
        expect_same("dhx", F32, r[layout].dhx, r[0].dhx, r[0].nh, 1e-6);
        expect_same("dw", F32, r[layout].dw, r[0].dw, r[0].nw, 4e-6);
    }
    MEM_CHECK();
    for (int layout = UNPACKED; layout <= BATCH_MAJOR; layout++)
        rnn_free(&r[layout]);
}
