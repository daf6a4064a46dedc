/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A convolution for tests: its shape, its tensors, the exported calls on them, and the sums written out as one plain loop over
 * every (image, output channel, output, input channel, tap), which shares nothing with the engine. */
#ifndef CONV_CASE_H
#define CONV_CASE_H

#include "tens.h"

#include "core/engine.h"
#include "core/os.h"

enum { SPACE = 6 };

typedef struct shape {
    int spatial, n, c, k, groups;
    int in[SPACE], window[SPACE], pad[SPACE], stride[SPACE], dilation[SPACE];  /* 0 in stride or dilation: 1 */
    cudnnConvolutionMode_t mode;
} shape;

typedef struct conv {
    shape s;
    dn_dtype type;
    tens x, w, y, b, z;
    cudnnFilterDescriptor_t w_desc;
    cudnnConvolutionDescriptor_t desc;
} conv;

/* What a call writes, as lists of doubles in logical order, and the sums of |products| beside it. */
typedef struct sums {
    double *x, *w, *y, *x_abs, *w_abs, *y_abs;
} sums;

static inline cudnnDataType_t compute_of(dn_dtype type)
{
    return type == DN_F64 ? CUDNN_DATA_DOUBLE : type == DN_I8 ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT;
}

static inline shape shape_complete(shape s)
{
    if (!s.groups)
        s.groups = 1;
    for (int j = 0; j < s.spatial; j++) {
        s.stride[j] = s.stride[j] ? s.stride[j] : 1;
        s.dilation[j] = s.dilation[j] ? s.dilation[j] : 1;
    }
    return s;
}

static inline int out_size(const shape *s, int j)
{
    return 1 + (s->in[j] + 2 * s->pad[j] - ((s->window[j] - 1) * s->dilation[j] + 1)) / s->stride[j];
}

static inline conv conv_make(shape s, dn_dtype type, dn_dtype y_type, layout lay, layout w_lay)
{
    conv c = { .s = shape_complete(s), .type = type };
    int rank = s.spatial + 2, x[8] = { s.n, s.c }, w[8] = { s.k, s.c / c.s.groups }, y[8] = { s.n, s.k }, b[8] = { 1, s.k };
    for (int j = 0; j < s.spatial; j++) {
        x[j + 2] = s.in[j];
        w[j + 2] = s.window[j];
        y[j + 2] = out_size(&c.s, j);
        b[j + 2] = 1;
    }
    c.x = tens_make(type, rank, x, lay);
    c.w = tens_make(type, rank, w, w_lay);
    c.y = tens_make(y_type, rank, y, lay);
    c.b = tens_make(y_type, rank, b, PACKED);
    c.z = tens_make(y_type, rank, y, lay == PACKED ? GAPS : PACKED);
    OK(cudnnCreateFilterDescriptor(&c.w_desc));
    OK(cudnnSetFilterNdDescriptor(c.w_desc, (cudnnDataType_t)type, w_lay == PACKED ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC, rank, w));
    OK(cudnnCreateConvolutionDescriptor(&c.desc));
    OK(cudnnSetConvolutionNdDescriptor(c.desc, s.spatial, c.s.pad, c.s.stride, c.s.dilation, s.mode, compute_of(type)));
    OK(cudnnSetConvolutionGroupCount(c.desc, c.s.groups));
    return c;
}

static inline void conv_free(conv *c)
{
    tens_free(&c->x);
    tens_free(&c->w);
    tens_free(&c->y);
    tens_free(&c->b);
    tens_free(&c->z);
    OK(cudnnDestroyFilterDescriptor(c->w_desc));
    OK(cudnnDestroyConvolutionDescriptor(c->desc));
}

static inline void conv_watch(const conv *c)
{
    tens_watch(&c->x);
    tens_watch(&c->w);
    tens_watch(&c->y);
    tens_watch(&c->b);
    tens_watch(&c->z);
}

/* --- the plain loop --- */

/* Next index below limit, last dimension first; false after the last. */
static inline int next_index(int *index, const int *limit, int n)
{
    for (int j = n - 1; j >= 0; j--) {
        if (++index[j] < limit[j])
            return 1;
        index[j] = 0;
    }
    return 0;
}

/* Logical number of the input under output o and tap r, or -1 in the padding. */
static inline int64_t input_under(const shape *s, const int *o, const int *r)
{
    int64_t at = 0;
    for (int j = 0; j < s->spatial; j++) {
        int tap = s->mode == CUDNN_CONVOLUTION ? s->window[j] - 1 - r[j] : r[j];
        int i = o[j] * s->stride[j] - s->pad[j] + tap * s->dilation[j];
        if (i < 0 || i >= s->in[j])
            return -1;
        at = at * s->in[j] + i;
    }
    return at;
}

static inline void add_products(const conv *c, const double *x, const double *w, const double *y, int64_t xi, int64_t wi, int64_t yi,
                                sums *out)
{
    (void)c;
    out->y[yi] += x[xi] * w[wi];
    out->x[xi] += y[yi] * w[wi];
    out->w[wi] += x[xi] * y[yi];
    out->y_abs[yi] += fabs(x[xi] * w[wi]);
    out->x_abs[xi] += fabs(y[yi] * w[wi]);
    out->w_abs[wi] += fabs(x[xi] * y[yi]);
}

static inline double *values_of(const tens *t)
{
    double *v = malloc((size_t)t->count * sizeof *v);
    assert_non_null(v);
    for (int64_t i = 0; i < t->count; i++)
        v[i] = tens_get(t, i);
    return v;
}

static inline double *zeros(int64_t n)
{
    double *v = calloc((size_t)n, sizeof *v);
    assert_non_null(v);
    return v;
}

/* All three products of what x, w and y hold now. */
static inline sums sums_of(const conv *c)
{
    const shape *s = &c->s;
    sums out = { zeros(c->x.count), zeros(c->w.count), zeros(c->y.count), zeros(c->x.count), zeros(c->w.count), zeros(c->y.count) };
    double *x = values_of(&c->x), *w = values_of(&c->w), *y = values_of(&c->y);
    int cg = s->c / s->groups, kg = s->k / s->groups, o_dims[SPACE];
    int64_t in = c->x.count / s->n / s->c, space = c->y.count / s->n / s->k, taps = c->w.count / s->k / cg;
    for (int j = 0; j < s->spatial; j++)
        o_dims[j] = out_size(s, j);
    for (int n = 0; n < s->n; n++)
        for (int k = 0; k < s->k; k++)
            for (int ch = 0; ch < cg; ch++) {
                int o[SPACE] = { 0 };
                int64_t o_at = 0;
                do {
                    int r[SPACE] = { 0 };
                    int64_t r_at = 0;
                    do {
                        int64_t i = input_under(s, o, r);
                        if (i >= 0)
                            add_products(c, x, w, y, ((int64_t)n * s->c + k / kg * cg + ch) * in + i, ((int64_t)k * cg + ch) * taps + r_at,
                                         ((int64_t)n * s->k + k) * space + o_at, &out);
                        r_at++;
                    } while (next_index(r, s->window, s->spatial));
                    o_at++;
                } while (next_index(o, o_dims, s->spatial));
            }
    free(x);
    free(w);
    free(y);
    return out;
}

static inline void sums_free(sums *s)
{
    free(s->x);
    free(s->w);
    free(s->y);
    free(s->x_abs);
    free(s->w_abs);
    free(s->y_abs);
}

/* --- the calls --- */

/* A workspace of exactly what the query says, one byte off alignment, with guards. */
typedef struct space {
    unsigned char *memory;
    size_t size;
    void *ptr;
} space;

static inline space space_make(size_t size)
{
    space w = { .memory = malloc(size + 2 * TENS_GUARD), .size = size };
    assert_non_null(w.memory);
    memset(w.memory, TENS_FILL, size + 2 * TENS_GUARD);
    w.ptr = size ? w.memory + TENS_GUARD + 1 : NULL;
    return w;
}

static inline void space_free(space *w)
{
    size_t from = w->size ? TENS_GUARD + 1 : 0;
    for (size_t i = 0; i < w->size + 2 * TENS_GUARD; i++)
        if ((i < from || i >= from + w->size) && w->memory[i] != TENS_FILL)
            fail_msg("byte %zu outside the workspace was written", i);
    free(w->memory);
}

static inline void run_forward(conv *c, int algo, double alpha, double beta)
{
    size_t size;
    scalar a = scalar_of(c->y.type, alpha), b = scalar_of(c->y.type, beta);
    OK(cudnnGetConvolutionForwardWorkspaceSize(handle, c->x.desc, c->w_desc, c->desc, c->y.desc, (cudnnConvolutionFwdAlgo_t)algo, &size));
    space ws = space_make(size);
    OK(cudnnConvolutionForward(handle, &a, c->x.desc, c->x.data, c->w_desc, c->w.data, c->desc, (cudnnConvolutionFwdAlgo_t)algo, ws.ptr,
                               size, &b, c->y.desc, c->y.data));
    space_free(&ws);
}

static inline void run_backward_data(conv *c, int algo, double alpha, double beta)
{
    size_t size;
    scalar a = scalar_of(c->x.type, alpha), b = scalar_of(c->x.type, beta);
    cudnnConvolutionBwdDataAlgo_t n = (cudnnConvolutionBwdDataAlgo_t)algo;
    OK(cudnnGetConvolutionBackwardDataWorkspaceSize(handle, c->w_desc, c->y.desc, c->desc, c->x.desc, n, &size));
    space ws = space_make(size);
    OK(cudnnConvolutionBackwardData(handle, &a, c->w_desc, c->w.data, c->y.desc, c->y.data, c->desc, n, ws.ptr, size, &b, c->x.desc,
                                    c->x.data));
    space_free(&ws);
}

static inline void run_backward_filter(conv *c, int algo, double alpha, double beta)
{
    size_t size;
    scalar a = scalar_of(c->w.type, alpha), b = scalar_of(c->w.type, beta);
    cudnnConvolutionBwdFilterAlgo_t n = (cudnnConvolutionBwdFilterAlgo_t)algo;
    OK(cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, c->x.desc, c->y.desc, c->desc, c->w_desc, n, &size));
    space ws = space_make(size);
    OK(cudnnConvolutionBackwardFilter(handle, &a, c->x.desc, c->x.data, c->y.desc, c->y.data, c->desc, n, ws.ptr, size, &b, c->w_desc,
                                      c->w.data));
    space_free(&ws);
}

/* The directions as a table: which tensor is written, its numbers, how it runs. */
typedef struct direction {
    const char *name;
    void (*run)(conv *c, int algo, double alpha, double beta);
    int algos[5];  /* ended by -1 */
} direction;

static const direction directions[3] = {
    { "forward", run_forward, { 0, 1, 2, 3, -1 } },
    { "backward data", run_backward_data, { 0, 1, -1 } },
    { "backward filter", run_backward_filter, { 0, 1, 3, -1 } },
};

static inline tens *written_by(conv *c, int dir)
{
    return dir == 0 ? &c->y : dir == 1 ? &c->x : &c->w;
}

static inline const double *sum_of(const sums *s, int dir)
{
    return dir == 0 ? s->y : dir == 1 ? s->x : s->w;
}

static inline const double *abs_of(const sums *s, int dir)
{
    return dir == 0 ? s->y_abs : dir == 1 ? s->x_abs : s->w_abs;
}

/* Result = alpha * sum + beta * before, rounded once; NaN before goes nowhere at beta 0. What was written is put back. */
static inline void conv_check_exact(conv *c, int dir, int algo, double alpha, double beta, const double *sum)
{
    tens *out = written_by(c, dir);
    double *before = values_of(out);
    if (beta == 0)
        for (int64_t i = 0; i < out->count; i++)
            tens_set(out, i, NAN);
    directions[dir].run(c, algo, alpha, beta);
    for (int64_t i = 0; i < out->count; i++) {
        double want = tens_rounded(out, alpha * sum[i] + beta * before[i]), got = tens_get(out, i);
        if (got != want)
            fail_msg("%s %d: element %lld is %.17g, not %.17g", directions[dir].name, algo, (long long)i, got, want);
    }
    conv_watch(c);
    for (int64_t i = 0; i < out->count; i++)
        tens_set(out, i, before[i]);
    free(before);
}

/* --- bits are the same from run to run, whoever runs it: also inside a parallel loop, where all work stays on one thread --- */

typedef struct conv_run {
    conv *c;
    int dir, algo;
} conv_run;

static inline void conv_run_nested(void *ctx, int64_t begin, int64_t end)
{
    const conv_run *n = ctx;
    (void)end;
    if (begin == 0)
        directions[n->dir].run(n->c, n->algo, 1, 0);
}

static inline void conv_check_bits(conv *c, int dir, int algo)
{
    tens *out = written_by(c, dir);
    conv_run n = { c, dir, algo };
    tens_reals(&c->x, 5);
    tens_reals(&c->w, 6);
    tens_reals(&c->y, 7);
    directions[dir].run(c, algo, 1, 0);
    unsigned char *first = malloc(out->bytes);
    assert_non_null(first);
    memcpy(first, out->memory, out->bytes);
    for (int again = 0; again < 20; again++) {
        if (again & 1)
            dn_parallel(2, 1, conv_run_nested, &n);
        else
            directions[dir].run(c, algo, 1, 0);
        assert_memory_equal(first, out->memory, out->bytes);
    }
    free(first);
}

#endif
