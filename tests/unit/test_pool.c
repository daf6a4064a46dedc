/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Pooling through the exported functions, on the ref engine, against a loop over every window for every output. */
#include "tens.h"

#include "ops/problem.h"

typedef struct window {
    int spatial, mode, nan, size[6], pad[6], stride[6];
} window;

typedef struct call {
    window w;
    cudnnPoolingDescriptor_t desc;
    tens x, y, dx, dy;
} call;

enum { MAX = CUDNN_POOLING_MAX, AVG_PAD = CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, AVG = CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
       MAX_DET = CUDNN_POOLING_MAX_DETERMINISTIC };

enum { PADDING = -1, BEYOND = -2 };

/* --- the oracle: element e of window o (both logical numbers), PADDING, or BEYOND the padded input; *past: e is no element --- */
static int64_t element(const call *c, int64_t o, int64_t e, bool *past)
{
    int at[TENS_RANK], rank = c->x.rank;
    int64_t i = 0;
    for (int d = rank - 1; d >= 0; d--) {
        at[d] = (int)(o % c->y.dims[d]);
        o /= c->y.dims[d];
    }
    bool padding = false, beyond = false;
    for (int d = rank - 1; d >= 2; d--) {
        int k = (int)(e % c->w.size[d - 2]);
        e /= c->w.size[d - 2];
        at[d] = at[d] * c->w.stride[d - 2] - c->w.pad[d - 2] + k;
        padding |= at[d] < 0 || at[d] >= c->x.dims[d];
        beyond |= at[d] >= c->x.dims[d] + c->w.pad[d - 2];
    }
    *past = e > 0;
    for (int d = 0; d < rank; d++)
        i = i * c->x.dims[d] + at[d];
    return beyond ? BEYOND : padding ? PADDING : i;
}

/* Result of window o; *from: the element that a maximum was taken from, -1 for none; *count: what an average divides by. */
static double oracle(const call *c, int64_t o, int64_t *from, int *count)
{
    double best = -INFINITY, sum = 0;
    int all = 0, inside = 0;
    bool past;
    *from = -1;
    for (int64_t e = 0;; e++) {
        int64_t i = element(c, o, e, &past);
        if (past)
            break;
        all += i != BEYOND;
        if (i < 0)
            continue;
        double v = tens_get(&c->x, i);
        inside++;
        sum += v;
        if (isnan(v) && !c->w.nan)
            continue;
        if (*from < 0 || (!isnan(best) && (isnan(v) || v > best))) {
            best = v;
            *from = i;
        }
    }
    *count = c->w.mode == AVG_PAD ? all : inside;
    return c->w.mode == MAX || c->w.mode == MAX_DET ? best : sum / *count;
}

/* out: windows along each dimension, NULL for what the query answers. */
static call make_sized(const window *w, const int *out, dn_dtype type, const int *xdims, layout lx, layout ly)
{
    call c = { .w = *w };
    int ydims[TENS_RANK];
    OK(cudnnCreatePoolingDescriptor(&c.desc));
    OK(cudnnSetPoolingNdDescriptor(c.desc, (cudnnPoolingMode_t)w->mode, (cudnnNanPropagation_t)w->nan, w->spatial, w->size, w->pad,
                                   w->stride));
    c.x = tens_make(type, w->spatial + 2, xdims, lx);
    if (out) {
        memcpy(ydims, xdims, 2 * sizeof(int));
        memcpy(ydims + 2, out, sizeof(int) * (size_t)w->spatial);
    } else {
        OK(cudnnGetPoolingNdForwardOutputDim(c.desc, c.x.desc, w->spatial + 2, ydims));
        for (int d = 0; d < w->spatial; d++)
            assert_int_equal(ydims[2 + d], 1 + (xdims[2 + d] + 2 * w->pad[d] - w->size[d]) / w->stride[d]);
    }
    c.y = tens_make(type, w->spatial + 2, ydims, ly);
    c.dx = tens_make(type, w->spatial + 2, xdims, ly);
    c.dy = tens_make(type, w->spatial + 2, ydims, lx);
    return c;
}

static call make(const window *w, dn_dtype type, const int *xdims, layout lx, layout ly)
{
    return make_sized(w, NULL, type, xdims, lx, ly);
}

static void drop(call *c)
{
    tens_watch(&c->x), tens_watch(&c->y), tens_watch(&c->dx), tens_watch(&c->dy);
    tens_free(&c->x), tens_free(&c->y), tens_free(&c->dx), tens_free(&c->dy);
    OK(cudnnDestroyPoolingDescriptor(c->desc));
}

static void forward(call *c, double alpha, double beta)
{
    scalar a = scalar_of(c->x.type, alpha), b = scalar_of(c->x.type, beta);
    OK(cudnnPoolingForward(handle, c->desc, &a, c->x.desc, c->x.data, &b, c->y.desc, c->y.data));
}

static void backward(call *c, double alpha, double beta)
{
    scalar a = scalar_of(c->x.type, alpha), b = scalar_of(c->x.type, beta);
    OK(cudnnPoolingBackward(handle, c->desc, &a, c->y.desc, c->y.data, c->dy.desc, c->dy.data, c->x.desc, c->x.data, &b, c->dx.desc,
                            c->dx.data));
}

/* Integers in, so that sums are exact and the only rounding is the last. */
static void check_forward(call *c)
{
    int64_t from;
    int count;
    forward(c, 1, 0);
    for (int64_t o = 0; o < c->y.count; o++) {
        double want = tens_rounded(&c->y, oracle(c, o, &from, &count));
        tens_close(&c->y, o, want, 0);
    }
    tens before = tens_make(DN_F64, c->y.rank, c->y.dims, PACKED);
    for (int64_t o = 0; o < c->y.count; o++)
        tens_set(&before, o, tens_get(&c->y, o));
    forward(c, 2, -1);
    for (int64_t o = 0; o < c->y.count; o++) {
        double want = tens_rounded(&c->y, 2 * oracle(c, o, &from, &count) - tens_get(&before, o));
        tens_close(&c->y, o, want, fabs(want) * 2e-16);
    }
    tens_free(&before);
}

static void check_backward(call *c)
{
    double *want = calloc((size_t)c->x.count, sizeof(double));
    double slack = c->w.mode == MAX || c->w.mode == MAX_DET ? 0 : 4 * type_epsilon(c->x.type);
    tens_integers(&c->dy, 4, 77);
    for (int64_t o = 0; o < c->y.count; o++) {
        int64_t from;
        int count;
        bool past = false;
        oracle(c, o, &from, &count);
        if (c->w.mode == MAX || c->w.mode == MAX_DET) {
            if (from >= 0)
                want[from] += tens_get(&c->dy, o);
            continue;
        }
        for (int64_t e = 0;; e++) {
            int64_t i = element(c, o, e, &past);
            if (past)
                break;
            if (i >= 0)
                want[i] += tens_get(&c->dy, o) / count;
        }
    }
    backward(c, 1, 0);
    for (int64_t i = 0; i < c->x.count; i++)
        tens_close(&c->dx, i, want[i], slack * (1 + fabs(want[i])));
    for (int64_t i = 0; i < c->x.count; i++)
        tens_set(&c->dx, i, (double)(i % 5));
    backward(c, 3, 2);
    for (int64_t i = 0; i < c->x.count; i++)
        tens_close(&c->dx, i, 3 * want[i] + 2 * (double)(i % 5), slack * (10 + 3 * fabs(want[i])));
    free(want);
}

static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };

static void random_windows(void **state)
{
    (void)state;
    uint32_t seed = 42;
    for (int round = 0; round < 1200; round++) {
        window w = { .spatial = 1 + (int)(tens_random(&seed) % 3), .mode = round % 4, .nan = (int)(tens_random(&seed) % 2) };
        if (round % 40 == 0)
            w.spatial = 6;
        int dims[TENS_RANK] = { 1 + (int)(tens_random(&seed) % 2), 1 + (int)(tens_random(&seed) % 3) };
        for (int d = 0; d < w.spatial; d++) {
            int most = w.spatial == 6 ? 2 : w.spatial == 3 ? 4 : 9;
            w.size[d] = 1 + (int)(tens_random(&seed) % (uint32_t)most);
            w.pad[d] = (int)(tens_random(&seed) % (uint32_t)w.size[d]);
            w.stride[d] = 1 + (int)(tens_random(&seed) % 4);
            int least = w.size[d] - 2 * w.pad[d];  /* the window may be larger than the input */
            dims[2 + d] = (least > 1 ? least : 1) + (int)(tens_random(&seed) % (uint32_t)(most + 1));
        }
        call c = make(&w, types[tens_random(&seed) % 4], dims, (layout)(tens_random(&seed) % LAYOUTS),
                      (layout)(tens_random(&seed) % LAYOUTS));
        tens_integers(&c.x, round % 3 ? 9 : 1, seed);  /* few values: many ties */
        check_forward(&c);
        check_backward(&c);
        drop(&c);
    }
}

/* Fewer windows than the query answers, more, and windows larger than the padded input: cut at its end. */
static void sizes_of_ones_own(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int round = 0; round < 800; round++) {
        window w = { .spatial = 1 + (int)(tens_random(&seed) % 3), .mode = round % 4 };
        int dims[TENS_RANK] = { 1 + (int)(tens_random(&seed) % 2), 1 + (int)(tens_random(&seed) % 3) }, out[6];
        for (int d = 0; d < w.spatial; d++) {
            w.size[d] = 1 + (int)(tens_random(&seed) % 6);
            w.pad[d] = (int)(tens_random(&seed) % (uint32_t)w.size[d]);
            w.stride[d] = 1 + (int)(tens_random(&seed) % 4);
            dims[2 + d] = 1 + (int)(tens_random(&seed) % (w.spatial == 3 ? 5 : 9));
            int most = 1;
            while (most * w.stride[d] < dims[2 + d] + w.pad[d])
                most++;
            out[d] = round % 5 == 0 ? most : 1 + (int)(tens_random(&seed) % (uint32_t)most);
        }
        call c = make_sized(&w, out, types[tens_random(&seed) % 4], dims, (layout)(tens_random(&seed) % LAYOUTS),
                            (layout)(tens_random(&seed) % LAYOUTS));
        tens_integers(&c.x, 9, seed);
        check_forward(&c);
        check_backward(&c);
        drop(&c);
    }
}

/* Caffe's sizes: 7 inputs, window 3, stride 2, padding 1 give ceil(6 / 2) + 1 = 4; 6 inputs give ceil(5 / 2) + 1 = 4, one more than
 * the query. The last window of the latter covers inputs 5, 6, 7 of a padded end at 7: one input, one padding. */
static void sizes_rounded_up(void **state)
{
    (void)state;
    static const double want[3][4] = { { 2, 4, 6, 6 }, { 1, 3, 5, 3 }, { 1.5, 3, 5, 6 } };
    for (int mode = MAX; mode <= AVG; mode++) {
        const window w = { 1, mode, 0, { 3 }, { 1 }, { 2 } };
        call c = make_sized(&w, (const int[]){ 4 }, DN_F64, (const int[]){ 1, 1, 6 }, PACKED, PACKED);
        for (int i = 0; i < 6; i++)
            tens_set(&c.x, i, i + 1);
        forward(&c, 1, 0);
        for (int i = 0; i < 4; i++)
            tens_close(&c.y, i, want[mode][i], 1e-15);
        drop(&c);
    }
}

static void int8_windows(void **state)
{
    (void)state;
    for (int mode = 0; mode < 4; mode++) {
        const window w = { 2, mode, 0, { 3, 2 }, { 1, 0 }, { 2, 1 } };
        const int dims[] = { 2, 3, 7, 5 };
        call c = make(&w, DN_I8, dims, GAPS, PACKED);
        tens_integers(&c.x, 127, 4);
        check_forward(&c);
        float one = 1, zero = 0;
        REFUSED(cudnnPoolingBackward(handle, c.desc, &one, c.y.desc, c.y.data, c.dy.desc, c.dy.data, c.x.desc, c.x.data, &zero, c.dx.desc,
                                     c.dx.data), CUDNN_STATUS_NOT_SUPPORTED, "ref_pool_bwd_data: needs type");
        drop(&c);
    }
}

/* int8x4 gives what int8 with the channels of a vector side by side gives. */
static void int8_vectors(void **state)
{
    (void)state;
    int8_t in[2 * 8 * 5 * 5], packed[2 * 8 * 4 * 4], vectors[2 * 8 * 4 * 4];
    const int plain_x[] = { 8 * 25, 25 * 4, 5 * 4, 4 }, plain_y[] = { 8 * 16, 16 * 4, 4 * 4, 4 };
    float one = 1, zero = 0;
    cudnnPoolingDescriptor_t d;
    cudnnTensorDescriptor_t x, y, vx, vy;
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (int8_t)(tens_random(&seed) % 256);
    OK(cudnnCreatePoolingDescriptor(&d));
    OK(cudnnSetPooling2dDescriptor(d, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, CUDNN_NOT_PROPAGATE_NAN, 2, 2, 0, 0, 1, 1));
    OK(cudnnCreateTensorDescriptor(&x));
    OK(cudnnCreateTensorDescriptor(&y));
    OK(cudnnCreateTensorDescriptor(&vx));
    OK(cudnnCreateTensorDescriptor(&vy));
    OK(cudnnSetTensor4dDescriptor(vx, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4, 2, 8, 5, 5));
    OK(cudnnSetTensor4dDescriptor(vy, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4, 2, 8, 4, 4));
    OK(cudnnPoolingForward(handle, d, &one, vx, in, &zero, vy, vectors));
    /* two groups of four channels, each group an image with 4 interleaved channels of stride 1 */
    for (int group = 0; group < 2; group++) {
        OK(cudnnSetTensor4dDescriptorEx(x, CUDNN_DATA_INT8, 2, 4, 5, 5, plain_x[0], 1, plain_x[2], plain_x[3]));
        OK(cudnnSetTensor4dDescriptorEx(y, CUDNN_DATA_INT8, 2, 4, 4, 4, plain_y[0], 1, plain_y[2], plain_y[3]));
        OK(cudnnPoolingForward(handle, d, &one, x, in + group * plain_x[1], &zero, y, packed + group * plain_y[1]));
    }
    assert_memory_equal(packed, vectors, sizeof(packed));
    OK(cudnnDestroyTensorDescriptor(x));
    OK(cudnnDestroyTensorDescriptor(y));
    OK(cudnnDestroyTensorDescriptor(vx));
    OK(cudnnDestroyTensorDescriptor(vy));
    OK(cudnnDestroyPoolingDescriptor(d));
}

/* Planes that need several bands, many planes, and windows as large as the plane. */
static void large_planes(void **state)
{
    (void)state;
    static const window ws[] = {
        { 2, MAX, 0, { 3, 3 }, { 1, 1 }, { 1, 1 } }, { 2, AVG, 0, { 5, 4 }, { 2, 0 }, { 3, 2 } }, { 2, MAX_DET, 0, { 2, 2 }, { 0, 0 }, { 5, 5 } },
        { 2, AVG_PAD, 0, { 420, 420 }, { 10, 10 }, { 1, 1 } }, { 2, MAX, 0, { 400, 3 }, { 0, 0 }, { 1, 200 } },
    };
    const int dims[] = { 1, 2, 400, 400 };
    for (size_t k = 0; k < sizeof(ws) / sizeof(ws[0]); k++) {
        call c = make(&ws[k], DN_F64, dims, PACKED, PACKED);
        if (k == 3 || k == 4) {  /* 400 x 400 windows: the oracle is slow */
            drop(&c);
            const int less[] = { 1, 1, 400, 400 };
            c = make(&ws[k], DN_F64, less, PACKED, PACKED);
        }
        tens_integers(&c.x, 3, 5);
        check_forward(&c);
        check_backward(&c);
        drop(&c);
    }
    const window w = { 1, MAX, 0, { 3 }, { 1 }, { 2 } };
    const int row[] = { 2, 1, 200001 };
    call c = make(&w, DN_F32, row, PACKED, GAPS);
    tens_integers(&c.x, 50, 9);
    check_forward(&c);
    check_backward(&c);
    drop(&c);
}

static void finite_differences(void **state)
{
    (void)state;
    const double h = 1e-6;
    for (int mode = 0; mode < 4; mode++) {
        const window w = { 2, mode, 0, { 3, 2 }, { 1, 1 }, { 2, 1 } };
        const int dims[] = { 1, 2, 5, 4 };
        call c = make(&w, DN_F64, dims, PACKED, GAPS);
        for (int64_t i = 0; i < c.x.count; i++)
            tens_set(&c.x, i, (double)(i * 17 % 41) / 10);  /* no two equal: no corner within h */
        tens_reals(&c.dy, 6);
        forward(&c, 1, 0);
        backward(&c, 1, 0);
        for (int64_t i = 0; i < c.x.count; i++) {
            double v = tens_get(&c.x, i), loss[2];
            for (int s = 0; s < 2; s++) {
                tens_set(&c.x, i, v + (s ? -h : h));
                forward(&c, 1, 0);
                loss[s] = 0;
                for (int64_t o = 0; o < c.y.count; o++)
                    loss[s] += tens_get(&c.y, o) * tens_get(&c.dy, o);
            }
            tens_set(&c.x, i, v);
            tens_close(&c.dx, i, (loss[0] - loss[1]) / (2 * h), 1e-8);
        }
        drop(&c);
    }
}

/* L31. Rows: mode of NaN, x, y of windows of 2 at stride 1, dx where dy is 1 2 3 ... */
static void nan_and_infinity(void **state)
{
    (void)state;
    static const struct { int mode, nan, n; double x[6], y[5], dx[6]; } rows[] = {
        { MAX, 0, 6, { 1, NAN, 3, NAN, NAN, 5 }, { 1, 3, 3, -INFINITY, 5 }, { 1, 0, 5, 0, 0, 5 } },
        { MAX, 1, 6, { 1, NAN, 3, NAN, NAN, 5 }, { NAN, NAN, NAN, NAN, NAN }, { 0, 3, 0, 7, 5, 0 } },
        { MAX, 0, 4, { -INFINITY, -INFINITY, -1, -INFINITY }, { -INFINITY, -1, -1 }, { 1, 0, 5, 0 } },
        { MAX_DET, 0, 4, { -INFINITY, -INFINITY, -1, -INFINITY }, { -INFINITY, -1, -1 }, { 1, 0, 5, 0 } },
        { MAX, 0, 4, { INFINITY, INFINITY, NAN, 0 }, { INFINITY, INFINITY, 0 }, { 1, 2, 0, 3 } },
        { AVG, 0, 4, { 1, NAN, INFINITY, 2 }, { NAN, NAN, INFINITY }, { 0.5, 1.5, 2.5, 1.5 } },
        { AVG_PAD, 1, 3, { INFINITY, -INFINITY, 2 }, { NAN, -INFINITY }, { 0.5, 1.5, 1 } },
        { MAX, 0, 3, { 2, 2, 2 }, { 2, 2 }, { 1, 2, 0 } },
    };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
        for (int turned = 0; turned < 2; turned++) {  /* along w, and along h */
            window w = { 2, rows[r].mode, rows[r].nan, { 1, 1 }, { 0, 0 }, { 1, 1 } };
            int dims[] = { 1, 1, 1, 1 };
            w.size[!turned] = 2;
            dims[turned ? 2 : 3] = rows[r].n;
            call c = make(&w, DN_F32, dims, PACKED, PACKED);
            for (int i = 0; i < rows[r].n; i++) {
                tens_set(&c.x, i, rows[r].x[i]);
                if (i < c.dy.count)
                    tens_set(&c.dy, i, i + 1);
            }
            forward(&c, 1, 0);
            backward(&c, 1, 0);
            for (int i = 0; i < rows[r].n - 1; i++)
                tens_close(&c.y, i, rows[r].y[i], 0);
            for (int i = 0; i < rows[r].n; i++)
                tens_close(&c.dx, i, rows[r].dx[i], 0);
            drop(&c);
        }
}

static void refusals(void **state)
{
    (void)state;
    cudnnPoolingDescriptor_t d;
    float one = 1, zero = 0;
    const int xd[] = { 2, 3, 8, 9 }, yd[] = { 2, 3, 4, 4 }, bad_h[] = { 2, 3, 5, 4 }, bad_w[] = { 2, 3, 4, 6 }, bad_c[] = { 2, 4, 4, 4 };
    const int three[] = { 2, 3, 8 };
    OK(cudnnCreatePoolingDescriptor(&d));
    OK(cudnnSetPooling2dDescriptor(d, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2, 3, 0, 0, 2, 2));
    tens x = tens_make(DN_F32, 4, xd, PACKED), y = tens_make(DN_F32, 4, yd, PACKED), h = tens_make(DN_F32, 4, bad_h, PACKED);
    tens w = tens_make(DN_F32, 4, bad_w, PACKED), c = tens_make(DN_F32, 4, bad_c, PACKED), f = tens_make(DN_F16, 4, yd, PACKED);
    tens r = tens_make(DN_F32, 3, three, PACKED), i = tens_make(DN_I64, 4, xd, PACKED), j = tens_make(DN_I64, 4, yd, PACKED);
#define FORWARD(a, b) cudnnPoolingForward(handle, d, &one, a.desc, a.data, &zero, b.desc, b.data)
    OK(FORWARD(x, y));
    REFUSED(FORWARD(x, h), CUDNN_STATUS_BAD_PARAM, "dimension 2 of yDesc is 5; with padding 0 and stride 2 at most 4 windows");
    REFUSED(FORWARD(x, w), CUDNN_STATUS_BAD_PARAM, "dimension 3 of yDesc is 6");
    REFUSED(FORWARD(x, c), CUDNN_STATUS_BAD_PARAM, "dimension 1 of yDesc is 4, of xDesc 3");
    REFUSED(FORWARD(x, f), CUDNN_STATUS_BAD_PARAM, "yDesc has type f16, xDesc has f32");
    REFUSED(FORWARD(r, y), CUDNN_STATUS_BAD_PARAM, "xDesc has 3 dimensions");
    REFUSED(FORWARD(i, j), CUDNN_STATUS_NOT_SUPPORTED, "ref_pool_fwd: needs type");
    REFUSED(cudnnPoolingForward(handle, d, &one, x.desc, x.data, &zero, y.desc, x.data), CUDNN_STATUS_BAD_PARAM, "in place");
#define BACKWARD(y_, dy_, x_, dx_, yp, xp) \
    cudnnPoolingBackward(handle, d, &one, y_.desc, yp, dy_.desc, dy_.data, x_.desc, xp, &zero, dx_.desc, dx_.data)
    REFUSED(BACKWARD(y, h, x, x, y.data, y.data), CUDNN_STATUS_BAD_PARAM, "dimension 2 of dyDesc is 5, of yDesc 4");
    REFUSED(BACKWARD(y, y, x, y, y.data, x.data), CUDNN_STATUS_BAD_PARAM, "dxDesc");
    REFUSED(BACKWARD(y, y, x, x, y.data, x.data), CUDNN_STATUS_BAD_PARAM, "in place");
    REFUSED(BACKWARD(y, y, x, x, y.data, NULL), CUDNN_STATUS_BAD_PARAM, "x is NULL");
    OK(cudnnSetPooling2dDescriptor(d, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, CUDNN_PROPAGATE_NAN, 2, 3, 0, 0, 2, 2));
    OK(BACKWARD(y, y, x, x, NULL, NULL));
    tens_free(&x), tens_free(&y), tens_free(&h), tens_free(&w), tens_free(&c), tens_free(&f), tens_free(&r), tens_free(&i), tens_free(&j);
    OK(cudnnDestroyPoolingDescriptor(d));
}

/* L30, and a failed Set leaves what was. */
static void descriptors(void **state)
{
    (void)state;
    cudnnPoolingDescriptor_t d;
    cudnnPoolingMode_t mode;
    cudnnNanPropagation_t nan;
    int v[6], n, a[6], b[6], c[6];
    const int size[] = { 2, 3, 4 }, pad[] = { 1, 0, 3 }, stride[] = { 5, 6, 7 }, much[] = { 1, 0, 4 };
    OK(cudnnCreatePoolingDescriptor(&d));
    OK(cudnnSetPooling2dDescriptor(d, CUDNN_POOLING_MAX_DETERMINISTIC, CUDNN_PROPAGATE_NAN, 3, 4, 1, 2, 5, 6));
    REFUSED(cudnnSetPooling2dDescriptor(d, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2, 2, 0, 2, 1, 1), CUDNN_STATUS_BAD_PARAM,
            "horizontalPadding is 2");
    OK(cudnnGetPooling2dDescriptor(d, &mode, &nan, v, v + 1, v + 2, v + 3, v + 4, v + 5));
    assert_true(mode == CUDNN_POOLING_MAX_DETERMINISTIC && nan == CUDNN_PROPAGATE_NAN);
    assert_memory_equal(v, ((const int[]){ 3, 4, 1, 2, 5, 6 }), sizeof(v));
    OK(cudnnSetPoolingNdDescriptor(d, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 3, size, pad, stride));
    REFUSED(cudnnSetPoolingNdDescriptor(d, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 3, size, much, stride), CUDNN_STATUS_BAD_PARAM,
            "paddingA[2] is 4");
    memset(a, 9, sizeof(a));
    OK(cudnnGetPoolingNdDescriptor(d, 4, &mode, &nan, &n, a, b, c));
    assert_int_equal(n, 3);
    assert_memory_equal(a, ((const int[]){ 2, 3, 4, 0, 0x09090909 }), 5 * sizeof(int));
    assert_memory_equal(b, ((const int[]){ 1, 0, 3, 0 }), 4 * sizeof(int));
    assert_memory_equal(c, ((const int[]){ 5, 6, 7, 0 }), 4 * sizeof(int));
    OK(cudnnDestroyPoolingDescriptor(d));
}

/* The rules hold for problem lines too. */
static void problem_lines(void **state)
{
    (void)state;
    dn_problem p;
    assert_int_equal(dn_problem_parse("pool fwd x=n1c1h4w4:f32:nchw y=n1c1h7w3:f32:nchw mode=max win=2 pad=2x0", &p), DN_BAD_PARAM);
    assert_int_equal(dn_problem_parse("pool fwd x=n1c1h4w4:f32:nchw y=n1c1h4w5:f32:nchw mode=max win=2", &p), DN_BAD_PARAM);
    assert_int_equal(dn_problem_parse("pool fwd x=n1c1h4w4:f32:nchw y=n1c1h4w3:f32:nchw mode=max win=2", &p), DN_SUCCESS);
    assert_int_equal(dn_problem_parse("pool fwd x=n1c1h4w4:f32:nchw y=n1c1h3w3:f32:nchw mode=max win=2", &p), DN_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_windows),
        cmocka_unit_test(sizes_of_ones_own),
        cmocka_unit_test(sizes_rounded_up),
        cmocka_unit_test(int8_windows),
        cmocka_unit_test(int8_vectors),
        cmocka_unit_test(large_planes),
        cmocka_unit_test(finite_differences),
        cmocka_unit_test(nan_and_infinity),
        cmocka_unit_test(refusals),
        cmocka_unit_test(descriptors),
        cmocka_unit_test(problem_lines),
    };
    setenv("ANYDNN_ENGINE", "ref", 1);
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
