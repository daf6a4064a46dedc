/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The weight space and one training step of small recurrent networks as cuDNN 9.19 has them (tests/golden/rnn_9.19.txt). */
#include "rnn_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME DN_SOURCE_DIR "/tests/golden/rnn_9.19.txt"
#define LINE_MAX_LENGTH 32768

static FILE *open_golden(void)
{
    FILE *f = fopen(FILE_NAME, "r");
    if (!f)
        fail_msg("%s cannot be read", FILE_NAME);
    return f;
}

/* --- weight space --- */

typedef struct network {
    cudnnRNNDescriptor_t desc;
    cudnnTensorDescriptor_t m, b;
    size_t bytes;
    char line[160];
} network;

static void make_network(network *n, const char *line)
{
    int cell, bias, dir, skip, layers, in, hid, proj;
    unsigned long bytes;
    assert_int_equal(sscanf(line, "weights %d %d %d %d %d %d %d %d: %lu", &cell, &bias, &dir, &skip, &layers, &in, &hid, &proj, &bytes), 9);
    snprintf(n->line, sizeof n->line, "%s", line);
    CALL(cudnnSetRNNDescriptor_v8, (n->desc, CUDNN_RNN_ALGO_STANDARD, (cudnnRNNMode_t)cell, (cudnnRNNBiasMode_t)bias,
        (cudnnDirectionMode_t)dir, (cudnnRNNInputMode_t)skip, F32, F32, CUDNN_DEFAULT_MATH, in, hid, proj, layers, NULL, 0));
    CALL(cudnnGetRNNWeightSpaceSize, (api_handle(), n->desc, &n->bytes));
    if (n->bytes != bytes)
        fail_msg("%s: %zu bytes", line, n->bytes);
}

/* "offset:rows x columns", "offset:rows" or "-". */
static void describe(char *out, size_t size, cudnnTensorDescriptor_t d, const char *base, const char *at, bool matrix)
{
    cudnnDataType_t type;
    int rank = 0, dim[4] = {0}, stride[4] = {0};
    if (!at) {
        snprintf(out, size, "-");
        return;
    }
    CALL(cudnnGetTensorNdDescriptor, (d, 4, &type, &rank, dim, stride));
    assert_int_equal(rank, 3);
    assert_int_equal(type, F32);
    assert_true(dim[0] == 1 && stride[2] == 1 && stride[1] == dim[2] && stride[0] == dim[1] * dim[2]);
    if (matrix)
        snprintf(out, size, "%td:%dx%d", at - base, dim[1], dim[2]);
    else
        snprintf(out, size, "%td:%d", at - base, dim[1]);
}

static void check_part(const network *n, const char *line)
{
    static char space[1];  /* an address alone */
    char want[2][40], got[2][40];
    int pseudo, linear;
    void *m = NULL, *b = NULL;
    assert_int_equal(sscanf(line, " %d/%d %39s %39s", &pseudo, &linear, want[0], want[1]), 4);
    CALL(cudnnGetRNNWeightParams, (api_handle(), n->desc, pseudo, n->bytes, space, linear, n->m, &m, n->b, &b));
    describe(got[0], sizeof got[0], n->m, space, m, true);
    describe(got[1], sizeof got[1], n->b, space, b, false);
    for (int i = 0; i < 2; i++)
        if (strcmp(got[i], want[i]))
            fail_msg("%s, pseudo layer %d, linear layer %d: %s, wanted %s", n->line, pseudo, linear, got[i], want[i]);
}

static void weight_space(void **state)
{
    (void)state;
    char *line = malloc(LINE_MAX_LENGTH);
    network n;
    int networks = 0, parts = 0;
    bool inside = false;
    api_handle();
    FILE *f = open_golden();
    CALL(cudnnCreateRNNDescriptor, (&n.desc));
    CALL(cudnnCreateTensorDescriptor, (&n.m));
    CALL(cudnnCreateTensorDescriptor, (&n.b));
    while (fgets(line, LINE_MAX_LENGTH, f)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "weights ", 8)) {
            make_network(&n, line);
            inside = true;
            networks++;
        } else if (inside && line[0] == ' ') {
            check_part(&n, line);
            parts++;
        } else {
            inside = false;
        }
    }
    fclose(f);
    free(line);
    CALL(cudnnDestroyRNNDescriptor, (n.desc));
    CALL(cudnnDestroyTensorDescriptor, (n.m));
    CALL(cudnnDestroyTensorDescriptor, (n.b));
    assert_int_equal(networks, 72);
    assert_true(parts > 1000);
}

/* --- a training step --- */

static const rnn_case *find_case(const char *name)
{
    for (int i = 0; i < rnn_case_count; i++)
        if (!strcmp(rnn_cases[i].name, name))
            return &rnn_cases[i];
    fail_msg("no case \"%s\" in rnn_case.c", name);
    return NULL;
}

/* For a sequence of length 0 the vendor writes the padding's fill to the last states and to the gradients by the first ones. With us
 * the state passes by (case L36), and its gradient too. */
static bool differs_on_purpose(const rnn_case *c, const char *what)
{
    bool empty = false;
    for (int b = 0; b < c->B; b++)
        empty |= c->len[b] == 0;
    return api_ours && empty && (!strcmp(what, "hy") || !strcmp(what, "cy") || !strcmp(what, "dhx") || !strcmp(what, "dcx"));
}

static void run_step(rnn *r, const rnn_case *c)
{
    rnn_make(r, c);
    assert_int_equal(rnn_forward(r, true), OK);
    assert_int_equal(rnn_backward_data(r), OK);
    assert_int_equal(rnn_backward_weights(r), OK);
    void *y = r->y;
    r->y = rnn_level(c->type, r->ny, 99);
    assert_int_equal(rnn_forward(r, false), OK);
    for (size_t i = 0; i < r->ny; i++)
        if (fabs(rnn_value(c->type, r->y, i) - rnn_value(c->type, y, i)) > 1e-6)
            fail_msg("%s: y[%zu] is %g in training and %g in inference", c->name, i, rnn_value(c->type, y, i),
                     rnn_value(c->type, r->y, i));
    MEM_CHECK();
}

/* The values behind the name; 7 digits of f32 (whose persistent algorithms differ by 2e-6 among themselves), 12 of f64. */
static void check_values(const rnn *r, const char *what, char *text)
{
    const struct { const char *name; const void *p; size_t n; } all[] = {
        {"y", r->y, r->ny}, {"hy", r->hy, r->nh}, {"cy", r->cy, r->nc}, {"dx", r->dx, r->nx}, {"dhx", r->dhx, r->nh}, {"dcx", r->dcx, r->nc},
        {"dw", r->dw, r->nw},
    };
    double tol = r->c.type == F64 ? 1e-10 : 4e-6;
    if (differs_on_purpose(&r->c, what))
        return;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (strcmp(all[k].name, what))
            continue;
        for (size_t i = 0; i < all[k].n; i++) {
            char *end;
            double want = strtod(text, &end), got = rnn_value(r->c.type, all[k].p, i);
            assert_ptr_not_equal(end, text);
            if (!(fabs(got - want) <= tol * fmax(1, fabs(want))))
                fail_msg("%s: %s[%zu] is %.9g, wanted %.9g", r->c.name, what, i, got, want);
            text = end;
        }
        assert_int_equal(text[strspn(text, " \n")], 0);
        return;
    }
    fail_msg("unknown name %s in %s", what, FILE_NAME);
}

static void training_steps(void **state)
{
    (void)state;
    char *line = malloc(LINE_MAX_LENGTH), what[8];
    rnn r;
    bool inside = false;
    int runs = 0, used = 0;
    FILE *f = open_golden();
    while (fgets(line, LINE_MAX_LENGTH, f)) {
        if (inside && line[0] != ' ')
            rnn_free(&r);
        inside = inside && line[0] == ' ';
        if (!strncmp(line, "run ", 4)) {
            line[strcspn(line, "\n")] = 0;
            api_mem_free();
            run_step(&r, find_case(line + 4));
            inside = true;
            runs++;
        } else if (inside && sscanf(line, " %7s%n", what, &used) == 1) {
            check_values(&r, what, line + used);
        }
    }
    if (inside)
        rnn_free(&r);
    fclose(f);
    free(line);
    assert_int_equal(runs, rnn_case_count);
}

static const struct CMUnitTest tests[] = {API_TEST(weight_space), API_TEST(training_steps)};

API_MAIN(tests)
