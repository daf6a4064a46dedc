/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The weight buffer, and forward and backward of small attention layers, as cuDNN 9.19 has them (tests/golden/attn_9.19.txt). */
#include "attn_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME DN_SOURCE_DIR "/tests/golden/attn_9.19.txt"
enum { LINE_LENGTH = 16384 };

static char line[LINE_LENGTH];

static FILE *open_golden(void)
{
    FILE *f = fopen(FILE_NAME, "r");
    if (!f)
        fail_msg("%s cannot be read", FILE_NAME);
    return f;
}

/* --- weights --- */

/* The next line says where weights of this kind lie. */
static void check_kind(FILE *f, cudnnAttnDescriptor_t d, size_t bytes, int kind)
{
    static char space[1];  /* an address alone */
    cudnnTensorDescriptor_t t;
    cudnnDataType_t type;
    int rank = -1, dim[3] = {0}, stride[3] = {0};
    void *at = space;
    char got[160] = "  -\n";
    CALL(cudnnCreateTensorDescriptor, (&t));
    CALL(cudnnGetMultiHeadAttnWeights, (api_handle(), d, (cudnnMultiHeadAttnWeightKind_t)kind, bytes, space, t, &at));
    CALL(cudnnGetTensorNdDescriptor, (t, 3, &type, &rank, dim, stride));
    assert_int_equal(rank, at ? 3 : 0);
    if (at)
        snprintf(got, sizeof got, "  %td %d %d %d %d %d %d\n", (char *)at - space, dim[0], dim[1], dim[2], stride[0], stride[1], stride[2]);
    CALL(cudnnDestroyTensorDescriptor, (t));
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(got, line);
}

static void weights(void **state)
{
    (void)state;
    FILE *f = open_golden();
    int layers = 0, mode, heads, type, in[3], proj[4];
    unsigned long want;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "weights %d %d %d %d %d %d %d %d %d %d: %lu", &mode, &heads, &type, in, in + 1, in + 2, proj, proj + 1, proj + 2,
                   proj + 3, &want) != 11)
            continue;
        cudnnAttnDescriptor_t d;
        size_t bytes = 0, work;
        CALL(cudnnCreateAttnDescriptor, (&d));
        CALL(cudnnSetAttnDescriptor, (d, (unsigned)mode, heads, 0.5, (cudnnDataType_t)type,
                                      type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, NULL, NULL, in[0],
                                      in[1], in[2], proj[0], proj[1], proj[2], proj[3], 3, 5, 2, 1));
        CALL(cudnnGetMultiHeadAttnBuffers, (api_handle(), d, &bytes, &work, NULL));
        assert_int_equal(bytes, want);
        for (int kind = 0; bytes && kind < CUDNN_ATTN_WKIND_COUNT; kind++)
            check_kind(f, d, bytes, kind);
        CALL(cudnnDestroyAttnDescriptor, (d));
        layers++;
    }
    fclose(f);
    assert_int_equal(layers, 13);
}

/* --- runs --- */

static double tolerance(const attn_case *c)
{
    switch (c->type) {
    case CUDNN_DATA_DOUBLE: return 1e-8;
    case CUDNN_DATA_FLOAT: return 1e-3;  /* the vendor's products are of TF32 */
    case CUDNN_DATA_HALF: return 6e-3;
    default: return 5e-2;
    }
}

static const char *take_ints(const char *s, int *v, int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        v[i] = (int)strtol(s, &end, 10);
        assert_ptr_not_equal(end, s);
        s = end;
    }
    return *s == ':' ? s + 1 : s;
}

/* False where the line is no run. */
static bool parse(attn_case *c, int *step, const char *s)
{
    int at = 0;
    memset(c, 0, sizeof *c);
    if (sscanf(s, "run %u %d %lf %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d:%n", &c->mode, &c->heads, &c->scale, &c->type, &c->compute,
               &c->math, c->in, c->in + 1, c->in + 2, c->proj, c->proj + 1, c->proj + 2, c->proj + 3, &c->s, &c->t, &c->n, &c->b,
               &c->residual, c->axes, c->axes + 1, c->axes + 2, &at) != 21)
        return false;
    s = take_ints(s + at, c->qlen, c->n * c->b);
    s = take_ints(s, c->klen, c->n * attn_key_beams(c));
    s = take_ints(s, c->lo, c->s);
    s = take_ints(s, c->hi, c->s);
    take_ints(s, step, 1);
    return true;
}

static void compare(const attn_layer *l, const char *name, int array, const char *values)
{
    double *want = malloc((size_t)l->count[array] * sizeof *want), top = 0.05, bound = tolerance(&l->c);
    for (int64_t i = 0; i < l->count[array]; i++) {
        char *end;
        want[i] = strtod(values, &end);
        assert_ptr_not_equal(end, values);
        values = end;
        top = fmax(top, want[i] == 777 ? 0 : fabs(want[i]));
    }
    for (int64_t i = 0; i < l->count[array]; i++)
        if (!(fabs(attn_at(l, array, i) - want[i]) <= bound * top))
            fail_msg("%s: %s, element %lld is %.9g, the vendor's %.9g", name, line, (long long)i, attn_at(l, array, i), want[i]);
    free(want);
}

static void run_steps(attn_layer *l, int step)
{
    for (int s = step < 0 ? 0 : step - 1; s < (step < 0 ? l->c.s : step); s++)
        api_must(__FILE__, __LINE__, "forward", attn_forward(l, s));
}

/* The lines of arrays that follow a run's; stops at another run's. */
static bool check_arrays(FILE *f, attn_layer *l, const char *name)
{
    static const struct { const char *name; int array; } arrays[] = {
        {"  out: ", ATTN_O}, {"  dq: ", ATTN_DQ}, {"  dk: ", ATTN_DK}, {"  dv: ", ATTN_DV}, {"  dw: ", ATTN_DW}, {"  dwset: ", ATTN_DW},
    };
    bool more;
    while ((more = fgets(line, sizeof line, f) != NULL) && line[0] == ' ')
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
            if (strncmp(line, arrays[i].name, strlen(arrays[i].name)) == 0) {
                const char *values = line + strlen(arrays[i].name);
                if (arrays[i].array == ATTN_DQ)
                    api_must(__FILE__, __LINE__, name, attn_backward_data(l));
                if (arrays[i].array == ATTN_DW)
                    api_must(__FILE__, __LINE__, name, attn_backward_weights(l, i == 5 ? CUDNN_WGRAD_MODE_SET : CUDNN_WGRAD_MODE_ADD));
                api_sync();
                compare(l, name, arrays[i].array, values);
            }
    return more;
}

static void runs(void **state)
{
    (void)state;
    FILE *f = open_golden();
    int count = 0, step;
    bool more = fgets(line, sizeof line, f) != NULL;
    while (more) {
        attn_case c;
        attn_layer l;
        char name[512];
        if (!parse(&c, &step, line)) {
            more = fgets(line, sizeof line, f) != NULL;
            continue;
        }
        snprintf(name, sizeof name, "%.500s", line);
        attn_make(&l, &c, step == 0);
        run_steps(&l, step);
        more = check_arrays(f, &l, name);
        attn_free(&l);
        count++;
    }
    fclose(f);
    assert_int_equal(count, 34);
}

static const struct CMUnitTest tests[] = {API_TEST(weights), API_TEST(runs)};

API_MAIN(tests)
