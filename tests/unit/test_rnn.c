/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks on the ref engine, row by row: numbers worked out by hand, the weight and reserve spaces, refusals, and a sequence in a
 * batch against the same sequence alone. */
#include "rnn_net.h"

/* --- numbers by hand --- */

static double sigmoid(double v)
{
    return 1 / (1 + exp(-v));
}

/* One unit, one step: every weight is known by its number. Linear layers: input i f g o, recurrent i f g o; then the biases. */
static void lstm_by_hand(void **state)
{
    (void)state;
    dn_rnn_param q = { .cell = DN_RNN_LSTM, .layers = 1, .input = 1, .hidden = 1, .proj = 1, .bias = DN_RNN_BIAS_DOUBLE };
    static const double w[] = { 0.5, -0.25, 1, 2, 0.125, 0.75, -1, 0.5, 0.1, 0.2, 0.3, 0.4, -0.05, 0.05, 0.5, -0.5 };
    net n;
    net_make(&n, &q, DN_F64, 1, 1, NULL);
    assert_int_equal(n.count[W], 16);
    memcpy(n.v[W], w, sizeof w);
    n.v[X][0] = 2, n.v[HX][0] = 0.5, n.v[CX][0] = -1;
    run(&n, DN_DIR_INFER, false);
    /* i: 1 + 0.0625 + 0.05; f: -0.5 + 0.375 + 0.25; g: 2 - 0.5 + 0.8; o: 4 + 0.25 - 0.1 */
    double c = sigmoid(0.125) * -1 + sigmoid(1.1125) * tanh(2.3), h = sigmoid(4.15) * tanh(c);
    assert_true(fabs(c - 0.20640617094742) < 1e-12);
    assert_true(fabs(n.v[CY][0] - c) < 1e-15);
    assert_true(fabs(n.v[HY][0] - h) < 1e-15);
    assert_true(n.v[Y][0] == n.v[HY][0]);
    net_free(&n);
}

static void gru_by_hand(void **state)
{
    (void)state;
    dn_rnn_param q = { .cell = DN_RNN_GRU, .layers = 1, .input = 1, .hidden = 1, .proj = 1, .bias = DN_RNN_BIAS_DOUBLE };
    static const double w[] = { 0.5, -0.25, 1, 0.125, 0.75, -1, 0.1, 0.2, 0.3, -0.05, 0.05, 0.5 };
    net n;
    net_make(&n, &q, DN_F64, 2, 1, NULL);
    assert_int_equal(n.count[W], 12);
    memcpy(n.v[W], w, sizeof w);
    n.v[X][0] = 2, n.v[X][1] = -1, n.v[HX][0] = 0.5;
    run(&n, DN_DIR_INFER, false);
    double h = 0.5;
    for (int t = 0; t < 2; t++) {
        double x = t ? -1 : 2, r = sigmoid(0.5 * x + 0.125 * h + 0.05), z = sigmoid(-0.25 * x + 0.75 * h + 0.25);
        double m = tanh(x + 0.3 + r * (-h + 0.5));
        h = (1 - z) * m + z * h;
        assert_true(fabs(n.v[Y][t] - h) < 1e-15);
    }
    assert_true(n.v[HY][0] == n.v[Y][1]);
    net_free(&n);
}

static void nothing_alive(void **state)
{
    (void)state;
    static const int32_t none[2] = { 0, 0 };
    dn_rnn_param q = param(DN_RNN_LSTM, 1, DN_RNN_TIME_MAJOR);
    net n;
    net_make(&n, &q, DN_F64, 3, 2, none);
    n.fill = -7;
    run(&n, DN_DIR_TRAIN, false);
    for (int64_t i = 0; i < n.count[Y]; i++)
        assert_true(n.v[Y][i] == -7);
    assert_memory_equal(n.v[HY], n.v[HX], (size_t)n.count[HX] * sizeof(double));
    assert_memory_equal(n.v[CY], n.v[CX], (size_t)n.count[CX] * sizeof(double));
    run(&n, DN_DIR_BWD_DATA, false);
    for (int64_t i = 0; i < n.count[DX]; i++)
        assert_true(n.v[DX][i] == -7);
    assert_memory_equal(n.v[DHX], n.v[DHY], (size_t)n.count[DHX] * sizeof(double));
    n.beta = 0;
    run(&n, DN_DIR_BWD_FILTER, false);
    for (int64_t i = 0; i < n.count[DW]; i++)
        assert_true(n.v[DW][i] == 0);
    net_free(&n);
}

/* --- spaces --- */

static void weight_table(void **state)
{
    (void)state;
    dn_rnn_param q = { .cell = DN_RNN_LSTM, .bidirectional = 1, .layers = 2, .input = 5, .hidden = 3, .proj = 2, .bias = DN_RNN_BIAS_DOUBLE };
    /* A pseudo layer of layer 0 has 4 (3 x 5) + 4 (3 x 2) + 2 x 3 = 90 elements of matrices, of layer 1 4 (3 x 4) + 24 + 6 = 78. */
    static const struct { int pseudo, linear; dn_rnn_weight w; } table[] = {
        { 0, 0, { 0, 3, 5, 336, 3 } }, { 0, 3, { 45, 3, 5, 345, 3 } }, { 0, 4, { 60, 3, 2, 348, 3 } }, { 0, 8, { 84, 2, 3, 0, 0 } },
        { 1, 0, { 90, 3, 5, 360, 3 } }, { 2, 0, { 180, 3, 4, 384, 3 } }, { 2, 7, { 246, 3, 2, 405, 3 } }, { 3, 8, { 330, 2, 3, 0, 0 } },
    };
    dn_rnn_weight w;
    assert_int_equal(dn_rnn_weight_count(&q), 2 * 90 + 2 * 78 + 4 * 24);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_true(dn_rnn_weight_at(&q, table[i].pseudo, table[i].linear, &w));
        assert_int_equal(w.matrix, table[i].w.matrix);
        assert_int_equal(w.rows, table[i].w.rows);
        assert_int_equal(w.columns, table[i].w.columns);
        assert_int_equal(w.bias_rows, table[i].w.bias_rows);
        if (w.bias_rows)
            assert_int_equal(w.bias, table[i].w.bias);
    }
    assert_false(dn_rnn_weight_at(&q, 4, 0, &w));
    assert_false(dn_rnn_weight_at(&q, 0, 9, &w));
    assert_false(dn_rnn_weight_at(&q, -1, 0, &w));
}

/* No two matrices or biases share an element, and none is left over. */
static void weights_fill_the_space(void **state)
{
    (void)state;
    for (int i = 0; i < 4 * 2 * 2 * 4; i++) {
        dn_rnn_param q = param(i % 4, i / 4 % 2, 0);
        q.skip = i / 8 % 2;
        q.input = q.skip ? q.hidden : 5;
        q.bias = i / 16;
        int64_t count = dn_rnn_weight_count(&q);
        char *seen = calloc((size_t)count, 1);
        dn_rnn_weight w;
        for (int pseudo = 0; pseudo < q.layers * dn_rnn_directions(&q); pseudo++)
            for (int linear = 0; dn_rnn_weight_at(&q, pseudo, linear, &w); linear++) {
                for (int64_t k = 0; k < w.rows * w.columns; k++)
                    assert_int_equal(seen[w.matrix + k]++, 0);
                for (int64_t k = 0; k < w.bias_rows; k++)
                    assert_int_equal(seen[w.bias + k]++, 0);
            }
        for (int64_t k = 0; k < count; k++)
            assert_int_equal(seen[k], 1);
        free(seen);
    }
}

static void reserve_sizes(void **state)
{
    (void)state;
    dn_problem p;
    dn_rnn_reserve r;
    dn_problem_init(&p, DN_OP_RNN, DN_DIR_TRAIN);
    p.u.rnn = (dn_rnn_param){ .cell = DN_RNN_LSTM, .bidirectional = 1, .layers = 2, .input = 5, .hidden = 10, .proj = 6 };
    dn_rnn_sequence(&p.t[DN_X], DN_F16, 0, 3, 4, 5);
    assert_true(dn_rnn_reserve_layout(&p, &r));
    assert_int_equal(r.head, 0);
    assert_int_equal(r.gates, 256);
    assert_int_equal(r.gates_pitch, 2048);                 /* 12 rows of 40 floats are 1920 bytes */
    assert_int_equal(r.cell, 256 + 4 * 2048);
    assert_int_equal(r.cell_pitch, 512);                   /* 12 x 10 x 4 = 480 */
    assert_int_equal(r.out, r.cell + 4 * 512);
    assert_int_equal(r.out_pitch, 512);                    /* 12 x 12 x 2 = 288 */
    assert_int_equal(r.dgates, r.out + 2 * 512);
    assert_int_equal(r.dgates_pitch, 1024);                /* 12 x 40 x 2 = 960 */
    assert_int_equal(r.dproj, r.dgates + 4 * 1024);
    assert_int_equal(r.dproj_pitch, 256);                  /* 12 x 6 x 2 = 144 */
    assert_int_equal(r.bytes, r.dproj + 4 * 256);
    p.u.rnn = (dn_rnn_param){ .cell = DN_RNN_GRU, .layers = 1, .input = 5, .hidden = 10, .proj = 10 };
    assert_true(dn_rnn_reserve_layout(&p, &r));
    assert_int_equal(r.out, r.cell);
    assert_int_equal(r.bytes, r.dproj);
    p.t[DN_X].dims[0] = INT64_MAX / 4;
    assert_false(dn_rnn_reserve_layout(&p, &r));
}

/* --- equalities --- */

/* Sequence b of a batch against the same sequence as a batch of one: outputs, states and gradients have equal bits. Adds its gradient by the
 * weights to dw. */
static void alone(const net *n, int64_t b, int64_t time, double *dw)
{
    dn_rnn_param q = n->p.u.rnn;
    int64_t width = n->p.t[DN_Y].dims[2], batch = dn_rnn_input(&n->p)->dims[1];
    net one;
    q.layout = DN_RNN_TIME_MAJOR;
    net_make(&one, &q, (dn_dtype)dn_rnn_input(&n->p)->type, time, 1, NULL);
    for (int64_t t = 0; t < time; t++) {
        memcpy(one.v[X] + t * q.input, n->v[X] + place(n, t, b, q.input), (size_t)q.input * sizeof(double));
        memcpy(one.v[DY] + t * width, n->v[DY] + place(n, t, b, width), (size_t)width * sizeof(double));
    }
    memcpy(one.v[W], n->v[W], (size_t)n->count[W] * sizeof(double));
    static const int in[] = { HX, CX, DHY, DCY }, out[] = { HY, CY, DHX, DCX };
    for (int k = 0; k < 4; k++)
        for (int64_t i = 0, size = one.count[in[k]] / (q.layers * dn_rnn_directions(&q)); i < one.count[in[k]]; i++)
            one.v[in[k]][i] = n->v[in[k]][(i / size * batch + b) * size + i % size];
    run(&one, DN_DIR_TRAIN, false);
    run(&one, DN_DIR_BWD_DATA, false);
    for (int64_t t = 0; t < time; t++) {
        assert_memory_equal(one.v[Y] + t * width, n->v[Y] + place(n, t, b, width), (size_t)width * sizeof(double));
        assert_memory_equal(one.v[DX] + t * q.input, n->v[DX] + place(n, t, b, q.input), (size_t)q.input * sizeof(double));
    }
    for (int k = 0; k < 4; k++)
        for (int64_t i = 0, size = one.count[out[k]] / (q.layers * dn_rnn_directions(&q)); i < one.count[out[k]]; i++)
            if (q.cell == DN_RNN_LSTM || out[k] == HY || out[k] == DHX)
                assert_true(one.v[out[k]][i] == n->v[out[k]][(i / size * batch + b) * size + i % size]);
    run(&one, DN_DIR_BWD_FILTER, false);
    for (int64_t i = 0; i < one.count[DW]; i++)
        dw[i] += one.v[DW][i];
    net_free(&one);
}

static void whole_and_parts(const dn_rnn_param *q, dn_dtype type, int64_t time, const int32_t *lengths)
{
    net n;
    net_make(&n, q, type, time, 4, lengths);
    n.fill = 5;
    run(&n, DN_DIR_TRAIN, false);
    run(&n, DN_DIR_BWD_DATA, false);
    double *dw = calloc((size_t)n.count[DW], sizeof *dw);
    assert_non_null(dw);
    for (int64_t b = 0; b < 4; b++) {
        alone(&n, b, lengths[b], dw);
        for (int64_t t = lengths[b], width = n.p.t[DN_Y].dims[2]; t < time && q->layout != DN_RNN_PACKED; t++) {
            for (int64_t k = 0; k < width; k++)
                assert_true(n.v[Y][place(&n, t, b, width) + k] == 5);
            for (int64_t k = 0; k < q->input; k++)
                assert_true(n.v[DX][place(&n, t, b, q->input) + k] == 5);
        }
    }
    run(&n, DN_DIR_BWD_FILTER, false);
    for (int64_t i = 0; i < n.count[DW] && type == DN_F64; i++)
        if (!(fabs(dw[i] - n.v[DW][i]) <= 1e-11 * (1 + fabs(dw[i]))))
            fail_msg("dw: element %lld is %.17g, its parts sum to %.17g", (long long)i, n.v[DW][i], dw[i]);
    free(dw);
    net_free(&n);
}

static void batch_of_one(void **state)
{
    (void)state;
    static const dn_dtype types[] = { DN_F64, DN_F32, DN_F16, DN_BF16 };
    static const int32_t lengths[] = { 7, 4, 4, 1 };
    for (int i = 0; i < 4 * 2 * 3 * 4; i++) {
        dn_rnn_param q = param(i % 4, i / 4 % 2, i / 8 % 3);
        if (q.cell == DN_RNN_LSTM)
            q.proj = 3;
        whole_and_parts(&q, types[i / 24], 7, lengths);
    }
}

/* Longer than one stretch of input products, wider than one piece of a row, more units than one call of a cell. */
static void long_and_wide(void **state)
{
    (void)state;
    static const int32_t lengths[] = { 401, 300, 128, 1 }, few[] = { 3, 3, 2, 1 };
    for (int i = 0; i < 8; i++) {
        dn_rnn_param q = param(i % 4, 1, i % 3);
        if (i < 4) {
            whole_and_parts(&q, DN_F64, 401, lengths);
        } else {
            q.input = 700;
            q.hidden = 301, q.proj = q.cell == DN_RNN_LSTM ? 280 : 301;
            whole_and_parts(&q, DN_F64, 3, few);
        }
    }
}

/* Inference gives the bits of training without dropout, and no states are states of zeros. */
static void inference(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        dn_rnn_param q = param(i % 4, i / 4, 0);
        net n;
        net_make(&n, &q, DN_F16, 6, 3, NULL);
        for (int k = HX; k <= CX; k += CX - HX)
            memset(n.v[k], 0, (size_t)n.count[k] * sizeof(double));
        run(&n, DN_DIR_TRAIN, false);
        double *y = malloc((size_t)n.count[Y] * sizeof *y);
        memcpy(y, n.v[Y], (size_t)n.count[Y] * sizeof *y);
        memset(n.v[Y], 0, (size_t)n.count[Y] * sizeof *y);
        run(&n, DN_DIR_INFER, true);
        assert_memory_equal(y, n.v[Y], (size_t)n.count[Y] * sizeof *y);
        free(y);
        net_free(&n);
    }
}

/* All gates are 1/2 but g, which is tanh 100 in the first unit and 0 in the second: c' = clip(c) / 2 + g / 2, kept as it is. */
static void clip_and_nan(void **state)
{
    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        dn_rnn_param q = { .cell = DN_RNN_LSTM, .layers = 1, .input = 2, .hidden = 2, .proj = 2, .clip = 1, .clip_nan = pass, .lclip = -0.25,
                           .rclip = 0.125 };
        net n;
        net_make(&n, &q, DN_F64, 1, 1, NULL);
        memset(n.v[W], 0, (size_t)n.count[W] * sizeof(double));
        n.v[W][8] = 100, n.v[X][0] = 1, n.v[X][1] = 0;
        n.v[CX][0] = 50, n.v[CX][1] = -50;
        run(&n, DN_DIR_INFER, false);
        assert_true(n.v[CY][0] == 0.5625 && n.v[CY][1] == -0.125);
        assert_true(fabs(n.v[HY][0] - tanh(0.125) / 2) < 1e-16 && fabs(n.v[HY][1] + tanh(0.125) / 2) < 1e-16);
        n.v[CX][0] = NAN;
        run(&n, DN_DIR_INFER, false);
        assert_true(pass ? isnan(n.v[CY][0]) && isnan(n.v[HY][0]) : n.v[CY][0] == 0.375);
        net_free(&n);
    }
}

/* The forward call takes a call number; another one gives another mask, the same the same. */
static void dropout_replays(void **state)
{
    (void)state;
    dn_rnn_param q = param(DN_RNN_GRU, 0, 0);
    dn_dropout_state head;
    net n;
    q.dropout = 1;
    net_make(&n, &q, DN_F32, 6, 3, NULL);
    n.dropout = 0.5f;
    run(&n, DN_DIR_TRAIN, false);
    memcpy(&head, n.reserve, sizeof head);
    assert_int_equal(head.seed, 11);
    assert_int_equal(head.call, 3);
    double *y = malloc((size_t)n.count[Y] * sizeof *y);
    memcpy(y, n.v[Y], (size_t)n.count[Y] * sizeof *y);
    run(&n, DN_DIR_TRAIN, false);
    assert_memory_equal(y, n.v[Y], (size_t)n.count[Y] * sizeof *y);
    n.dropout = 0;
    run(&n, DN_DIR_TRAIN, false);
    assert_true(memcmp(y, n.v[Y], (size_t)n.count[Y] * sizeof *y) != 0);
    free(y);
    net_free(&n);
}

static void refusals(void **state)
{
    (void)state;
    static const struct { const char *line, *word; dn_status st; } bad[] = {
        { "rnn fwd x=n2c2w3:f32 y=n2c2w4:f32 w=84:f32 hid=4", "infer, train", DN_BAD_PARAM },
        { "rnn train x=n2c2w3:f32 y=n2c2w5:f32 w=144:f32 hid=4", "vectorSize 5; it must be 4", DN_BAD_PARAM },
        { "rnn train x=n2c2w3:f32 y=n2c2w4:f32 w=143:f32 hid=4", "it must be 1, 144", DN_BAD_PARAM },
        { "rnn train x=n2c2w3:f32 y=n2c2w4:f16 w=144:f32 hid=4", "type f16", DN_BAD_PARAM },
        { "rnn train x=n2c2w3:f32 y=n2c1w4:f32 w=144:f32 hid=4", "batchSize 1", DN_BAD_PARAM },
        { "rnn train x=n2c2w3:f32 y=n2c2w4:f32 w=144:f32 hid=4 layers=0", "numLayers", DN_BAD_PARAM },
        { "rnn train x=n2c2w3:f32 y=n2c2w4:f32 w=144:f32 hid=4 proj=5", "projSize", DN_BAD_PARAM },
        { "rnn train x=n2c2w3:f32 y=n2c2w2:f32 w=144:f32 cell=gru hid=4 proj=2", "only an LSTM", DN_NOT_SUPPORTED },
        { "rnn train x=n2c2w3:f32 y=n2c2w4:f32 w=144:f32 hid=4 skip=1", "SKIP_INPUT", DN_BAD_PARAM },
        { "rnn train x=n2c2w3:f32 y=n2c2w4:f32 w=144:f32 hid=4 clip=1 lclip=2 rclip=1", "lclip", DN_BAD_PARAM },
        { "rnn train x=n2c2w3:f32 y=n2c2w4:f32 w=144:f32 hid=4 layout=batch", "stride", DN_BAD_PARAM },
        { "rnn train x=n2c2w3:i8 y=n2c2w4:i8 w=144:i8 hid=4", "type i8", DN_NOT_SUPPORTED },
    };
    dn_problem p;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(dn_problem_parse(bad[i].line, &p), bad[i].st);
        if (!strstr(dn_error_text(), bad[i].word))
            fail_msg("%s: \"%s\" does not say \"%s\"", bad[i].line, dn_error_text(), bad[i].word);
    }
    assert_int_equal(dn_problem_parse("rnn train x=n2c2w3:f32 y=n2c2w4:f32 w=144:f32 hid=4", &p), DN_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weight_table), cmocka_unit_test(weights_fill_the_space), cmocka_unit_test(reserve_sizes),
        cmocka_unit_test(lstm_by_hand), cmocka_unit_test(gru_by_hand), cmocka_unit_test(nothing_alive),
        cmocka_unit_test(batch_of_one),
        cmocka_unit_test(long_and_wide),
        cmocka_unit_test(inference), cmocka_unit_test(clip_and_nan), cmocka_unit_test(dropout_replays), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
