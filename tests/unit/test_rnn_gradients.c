/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Gradients of recurrent networks on the ref engine against finite differences in double, for every cell, layout and feature. */
#include "rnn_net.h"

static double loss(net *n)
{
    const dn_tensor *x = dn_rnn_input(&n->p);
    int64_t width = n->p.t[DN_Y].dims[2];
    double sum = 0;
    run(n, DN_DIR_TRAIN, false);
    for (int64_t b = 0; b < x->dims[1]; b++)
        for (int64_t t = 0; t < n->lengths[b]; t++)
            for (int64_t k = 0; k < width; k++)
                sum += n->v[Y][place(n, t, b, width) + k] * n->v[DY][place(n, t, b, width) + k];
    for (int64_t i = 0; i < n->count[HY]; i++)
        sum += n->v[HY][i] * n->v[DHY][i];
    for (int64_t i = 0; i < n->count[CY] && n->p.u.rnn.cell == DN_RNN_LSTM; i++)
        sum += n->v[CY][i] * n->v[DCY][i];
    return sum;
}

/* Every `every`th element of a buffer is moved both ways. */
static void compare_gradient(net *n, int buffer, const double *gradient, int64_t every, const char *what)
{
    const double step = 1e-5;
    for (int64_t i = 0; i < n->count[buffer]; i += every) {
        double was = n->v[buffer][i];
        n->v[buffer][i] = was + step;
        double up = loss(n);
        n->v[buffer][i] = was - step;
        double down = loss(n);
        n->v[buffer][i] = was;
        double want = (up - down) / (2 * step);
        if (!(fabs(gradient[i] - want) <= 2e-8 + 1e-7 * fabs(want)))
            fail_msg("%s: element %lld is %.12g, by differences %.12g", what, (long long)i, gradient[i], want);
    }
}

static void check_gradients(const dn_rnn_param *q, float dropout, const char *name)
{
    static const int32_t falling[] = { 5, 3, 3, 1 }, any[] = { 2, 5, 0, 4 };
    net n;
    char what[200];
    net_make(&n, q, DN_F64, 5, 4, q->layout == DN_RNN_PACKED ? falling : any);
    n.dropout = dropout;
    loss(&n);
    memset(n.v[DX], 0xff, (size_t)n.count[DX] * sizeof(double));
    run(&n, DN_DIR_BWD_DATA, false);
    randomize(&n, DW, 1, 99);
    double *old = malloc((size_t)n.count[DW] * sizeof *old), *dw = malloc((size_t)n.count[DW] * sizeof *dw);
    assert_true(old && dw);
    memcpy(old, n.v[DW], (size_t)n.count[DW] * sizeof *old);
    n.beta = 1;
    run(&n, DN_DIR_BWD_FILTER, false);
    for (int64_t i = 0; i < n.count[DW]; i++)
        dw[i] = n.v[DW][i] - old[i];
    double *keep[BUFFERS];
    static const struct { int of, by; const char *name; int64_t every; } pairs[] = {
        { X, DX, "dx", 3 }, { HX, DHX, "dhx", 3 }, { CX, DCX, "dcx", 3 }, { W, DW, "dw", 7 },
    };
    for (int i = 0; i < 4; i++) {
        keep[i] = pairs[i].by == DW ? dw : malloc((size_t)n.count[pairs[i].by] * sizeof(double));
        if (pairs[i].by != DW)
            memcpy(keep[i], n.v[pairs[i].by], (size_t)n.count[pairs[i].by] * sizeof(double));
    }
    for (int i = 0; i < 4; i++) {
        snprintf(what, sizeof what, "%s cell %d bi %d layout %d: %s", name, q->cell, q->bidirectional, q->layout, pairs[i].name);
        if (pairs[i].of != CX || q->cell == DN_RNN_LSTM)
            compare_gradient(&n, pairs[i].of, keep[i], pairs[i].every, what);
        free(keep[i]);
    }
    free(old);
    net_free(&n);
}

static void for_all(void (*change)(dn_rnn_param *q), bool lstm_only, float dropout, const char *name)
{
    for (int cell = lstm_only ? DN_RNN_LSTM : DN_RNN_RELU; cell <= (lstm_only ? DN_RNN_LSTM : DN_RNN_GRU); cell++)
        for (int i = 0; i < 6; i++) {
            dn_rnn_param q = param(cell, i % 2, i / 2);
            change(&q);
            check_gradients(&q, dropout, name);
        }
}

static void change_nothing(dn_rnn_param *q)
{
    (void)q;
}

static void change_skip(dn_rnn_param *q)
{
    q->skip = 1;
    q->input = q->hidden;
}

static void change_no_bias(dn_rnn_param *q)
{
    q->bias = DN_RNN_BIAS_NONE;
}

static void change_input_bias(dn_rnn_param *q)
{
    q->bias = DN_RNN_BIAS_INPUT;
    q->layers = 1;
}

static void change_recurrent_bias(dn_rnn_param *q)
{
    q->bias = DN_RNN_BIAS_RECURRENT;
    q->layers = 3;
}

static void change_proj(dn_rnn_param *q)
{
    q->proj = 2;
}

static void change_clip(dn_rnn_param *q)
{
    q->clip = 1;
    q->lclip = -0.3;
    q->rclip = 0.25;
}

static void change_dropout(dn_rnn_param *q)
{
    q->dropout = 1;
    q->layers = 3;
}

static void change_all(dn_rnn_param *q)
{
    change_dropout(q);
    change_skip(q);
    change_clip(q);
    change_proj(q);
    q->bias = DN_RNN_BIAS_INPUT;
}

static void gradients(void **state)
{
    (void)state;
    for_all(change_nothing, false, 0, "plain");
    for_all(change_skip, false, 0, "skip");
    for_all(change_no_bias, false, 0, "no bias");
    for_all(change_input_bias, false, 0, "input bias");
    for_all(change_recurrent_bias, false, 0, "recurrent bias");
}

static void gradients_of_features(void **state)
{
    (void)state;
    for_all(change_dropout, false, 0.4f, "dropout");
    for_all(change_dropout, false, 1, "all dropped");
    for_all(change_proj, true, 0, "projection");
    for_all(change_clip, true, 0, "clip");
    for_all(change_all, true, 0.3f, "all");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(gradients), cmocka_unit_test(gradients_of_features) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
