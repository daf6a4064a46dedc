/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Attention through the exported functions, on the ref engine: gradients against finite differences in double, types against double,
 * what lies past the ends of sequences. Values against the formula are in tests/api/test_attn.c. */
#include "tens.h"

#include "ops/dropout.h"

enum { LIST = 8 };

typedef struct shape {
    const char *name;
    unsigned mode;
    int heads, in[3], proj[4];      /* queries keys values; and the output */
    int s, t, n, b;
    double scale;
    bool residual;
    float drop, post;
    int qlen[LIST], klen[LIST];     /* first -1: full */
    int window[2];                  /* before and after; both 0: all */
} shape;

#define FULL .qlen = { -1 }, .klen = { -1 }
#define BIAS CUDNN_ATTN_ENABLE_PROJ_BIASES
#define OWN CUDNN_ATTN_QUERYMAP_ONE_TO_ONE
static const shape shapes[] = {
    { "plain", 0, 2, { 4, 4, 4 }, { 2, 2, 2, 4 }, 3, 5, 2, 1, 0.5, FULL },
    { "odd sizes, biases", BIAS, 3, { 5, 7, 3 }, { 2, 2, 5, 6 }, 3, 4, 1, 1, 0.7, FULL },
    { "lengths", BIAS, 2, { 4, 4, 4 }, { 2, 2, 2, 4 }, 3, 5, 3, 1, 0.5, .qlen = { 2, 0, 3 }, .klen = { 5, 3, 0 } },
    { "window", BIAS, 2, { 4, 3, 5 }, { 2, 2, 3, 4 }, 5, 4, 1, 1, 1, FULL, .window = { 1, 1 } },
    { "beams see one", BIAS, 2, { 4, 4, 4 }, { 2, 2, 2, 4 }, 2, 3, 2, 3, 0.5, .qlen = { 2, 1, 2, 0, 2, 2 }, .klen = { 3, 2 } },
    { "beams see their own", OWN | BIAS, 2, { 4, 4, 4 }, { 2, 2, 2, 4 }, 2, 3, 2, 2, 0.5, .qlen = { 2, 1, 2, 2 }, .klen = { 3, 2, 1, 3 } },
    { "no projection", 0, 2, { 3, 3, 4 }, { 0, 0, 0, 0 }, 3, 4, 2, 2, 0.5, FULL },
    { "no keys' and values' projection", BIAS, 2, { 5, 3, 4 }, { 3, 0, 0, 3 }, 3, 4, 1, 1, 0.5, FULL },
    { "no output projection, residual", BIAS, 2, { 6, 4, 4 }, { 2, 2, 3, 0 }, 3, 4, 1, 2, 0.5, FULL, .residual = true },
    { "dropouts", BIAS, 2, { 4, 4, 4 }, { 2, 2, 2, 4 }, 3, 5, 2, 1, 0.5, FULL, .drop = 0.25f, .post = 0.5f },
    { "residual, dropout after", BIAS, 2, { 4, 4, 4 }, { 2, 2, 2, 4 }, 3, 5, 1, 2, 0.5, .qlen = { 3, 1 }, .klen = { 4 }, .residual = true,
      .post = 0.5f },
};

enum { Q, K, V, W, OUT, DOUT, RESIDUAL, BUFFERS };

typedef struct layer {
    const shape *z;
    dn_dtype type;
    cudnnAttnDescriptor_t attn;
    cudnnDropoutDescriptor_t drop, post;
    cudnnSeqDataDescriptor_t desc[4];   /* queries keys values output */
    void *data[BUFFERS];
    int64_t count[BUFFERS];
    size_t weights, work_size, reserve_size;
    void *work, *reserve;
    dn_dropout_state states;            /* of both dropouts */
    int qlen[LIST], klen[LIST], lo[LIST], hi[LIST];
} layer;

static void fill(layer *l, int which, uint32_t seed)
{
    l->data[which] = calloc((size_t)l->count[which] + 1, dn_dtype_size(l->type));
    for (int64_t i = 0; i < l->count[which]; i++)
        dn_store(l->type, l->data[which], i, tens_random(&seed) / 8388608.0 - 1);
}

static cudnnSeqDataDescriptor_t sequence(const layer *l, int time, int beams, int size, const int *len)
{
    cudnnSeqDataDescriptor_t d;
    const cudnnSeqDataAxis_t axes[4] = { CUDNN_SEQDATA_BATCH_DIM, CUDNN_SEQDATA_TIME_DIM, CUDNN_SEQDATA_BEAM_DIM, CUDNN_SEQDATA_VECT_DIM };
    int dims[4] = { time, l->z->n, beams, size }, host[LIST];
    for (int i = 0; i < l->z->n * beams; i++)
        host[i] = len[i] ? len[i] : 1;
    OK(cudnnCreateSeqDataDescriptor(&d));
    OK(cudnnSetSeqDataDescriptor(d, (cudnnDataType_t)l->type, 4, dims, axes, (size_t)(l->z->n * beams), host, NULL));
    return d;
}

static cudnnDropoutDescriptor_t dropout(float p)
{
    cudnnDropoutDescriptor_t d = NULL;
    if (p > 0)
        OK(cudnnCreateDropoutDescriptor(&d));
    return d;
}

/* The same masks in every call that follows. */
static void seed(layer *l)
{
    if (l->drop)
        OK(cudnnSetDropoutDescriptor(l->drop, handle, l->z->drop, &l->states, sizeof l->states, 7));
    if (l->post)
        OK(cudnnSetDropoutDescriptor(l->post, handle, l->z->post, &l->states, sizeof l->states, 7));
}

static void describe(layer *l)
{
    const shape *z = l->z;
    int beams = z->mode & OWN ? z->b : 1, f = z->proj[2] ? z->proj[2] : z->in[2], out = z->proj[3] ? z->proj[3] : z->heads * f;
    for (int i = 0; i < z->n * z->b; i++)
        l->qlen[i] = z->qlen[0] < 0 ? z->s : z->qlen[i];
    for (int i = 0; i < z->n * beams; i++)
        l->klen[i] = z->klen[0] < 0 ? z->t : z->klen[i];
    for (int i = 0; i < z->s; i++) {
        bool all = !z->window[0] && !z->window[1];
        l->lo[i] = all ? 0 : i - z->window[0];
        l->hi[i] = all ? z->t : i + z->window[1] + 1;
    }
    l->desc[0] = sequence(l, z->s, z->b, z->in[0], l->qlen);
    l->desc[1] = sequence(l, z->t, beams, z->in[1], l->klen);
    l->desc[2] = sequence(l, z->t, beams, z->in[2], l->klen);
    l->desc[3] = sequence(l, z->s, z->b, out, l->qlen);
    l->count[Q] = (int64_t)z->s * z->n * z->b * z->in[0];
    l->count[K] = (int64_t)z->t * z->n * beams * z->in[1];
    l->count[V] = (int64_t)z->t * z->n * beams * z->in[2];
    l->count[OUT] = l->count[DOUT] = l->count[RESIDUAL] = (int64_t)z->s * z->n * z->b * out;
}

static void layer_make(layer *l, const shape *z, dn_dtype type)
{
    memset(l, 0, sizeof *l);
    l->z = z;
    l->type = type;
    describe(l);
    l->drop = dropout(z->drop);
    l->post = dropout(z->post);
    seed(l);
    OK(cudnnCreateAttnDescriptor(&l->attn));
    OK(cudnnSetAttnDescriptor(l->attn, z->mode, z->heads, z->scale, (cudnnDataType_t)type, type == DN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
                              CUDNN_DEFAULT_MATH, l->drop, l->post, z->in[0], z->in[1], z->in[2], z->proj[0], z->proj[1], z->proj[2],
                              z->proj[3], z->s, z->t, z->n, z->b));
    OK(cudnnGetMultiHeadAttnBuffers(handle, l->attn, &l->weights, &l->work_size, &l->reserve_size));
    l->count[W] = (int64_t)(l->weights / dn_dtype_size(type));
    for (int i = 0; i < BUFFERS; i++)
        fill(l, i, (uint32_t)i + 1);
    l->work = malloc(l->work_size);
    l->reserve = malloc(l->reserve_size);
    memset(l->work, 0xff, l->work_size);
    memset(l->reserve, 0xff, l->reserve_size);
}

static void layer_free(layer *l)
{
    for (int i = 0; i < 4; i++)
        OK(cudnnDestroySeqDataDescriptor(l->desc[i]));
    OK(cudnnDestroyAttnDescriptor(l->attn));
    OK(cudnnDestroyDropoutDescriptor(l->drop));
    OK(cudnnDestroyDropoutDescriptor(l->post));
    for (int i = 0; i < BUFFERS; i++)
        free(l->data[i]);
    free(l->work);
    free(l->reserve);
}

static void forward(layer *l)
{
    seed(l);
    OK(cudnnMultiHeadAttnForward(handle, l->attn, -1, l->lo, l->hi, l->qlen, l->klen, l->desc[0], l->data[Q],
                                 l->z->residual ? l->data[RESIDUAL] : NULL, l->desc[1], l->data[K], l->desc[2], l->data[V], l->desc[3],
                                 l->data[OUT], l->weights, l->data[W], l->work_size, l->work, l->reserve_size, l->reserve));
}

static double loss(layer *l)
{
    double sum = 0;
    forward(l);
    for (int64_t i = 0; i < l->count[OUT]; i++)
        sum += dn_load(l->type, l->data[OUT], i) * dn_load(l->type, l->data[DOUT], i);
    return sum;
}

/* Gradients by queries, keys, values, weights. */
static void backward(layer *l, void *grad[4])
{
    forward(l);
    OK(cudnnMultiHeadAttnBackwardData(handle, l->attn, l->lo, l->hi, l->qlen, l->klen, l->desc[3], l->data[DOUT], l->desc[0], grad[Q],
                                      l->data[Q], l->desc[1], grad[K], l->data[K], l->desc[2], grad[V], l->data[V], l->weights, l->data[W],
                                      l->work_size, l->work, l->reserve_size, l->reserve));
    OK(cudnnMultiHeadAttnBackwardWeights(handle, l->attn, CUDNN_WGRAD_MODE_SET, l->desc[0], l->data[Q], l->desc[1], l->data[K], l->desc[2],
                                         l->data[V], l->desc[3], l->data[DOUT], l->weights, l->data[W], grad[W], l->work_size, l->work,
                                         l->reserve_size, l->reserve));
}

static void grads_make(const layer *l, void *grad[4])
{
    for (int i = 0; i < 4; i++) {
        size_t bytes = ((size_t)l->count[i] + 1) * dn_dtype_size(l->type);
        grad[i] = malloc(bytes);
        memset(grad[i], 0xff, bytes);
    }
}

static void grads_free(void *grad[4])
{
    for (int i = 0; i < 4; i++)
        free(grad[i]);
}

static void differences(void **state)
{
    (void)state;
    const double h = 1e-5;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        layer l;
        void *grad[4];
        layer_make(&l, &shapes[k], DN_F64);
        grads_make(&l, grad);
        backward(&l, grad);
        for (int which = 0; which < 4; which++)
            for (int64_t i = 0; i < l.count[which]; i++) {
                double *x = (double *)l.data[which] + i, keep = *x, up, down, got = ((double *)grad[which])[i];
                *x = keep + h;
                up = loss(&l);
                *x = keep - h;
                down = loss(&l);
                *x = keep;
                double want = (up - down) / (2 * h);
                if (!(fabs(got - want) <= 1e-8 * fmax(1, fabs(want))))
                    fail_msg("%s: gradient %d, element %lld is %.12g, by differences %.12g", shapes[k].name, which, (long long)i, got, want);
            }
        grads_free(grad);
        layer_free(&l);
    }
}

/* A second call adds what the first one set. */
static void weights_add(void **state)
{
    (void)state;
    layer l;
    void *grad[4];
    layer_make(&l, &shapes[2], DN_F64);
    grads_make(&l, grad);
    backward(&l, grad);
    double *once = malloc(l.weights), *dw = grad[W];
    memcpy(once, dw, l.weights);
    OK(cudnnMultiHeadAttnBackwardWeights(handle, l.attn, CUDNN_WGRAD_MODE_ADD, l.desc[0], l.data[Q], l.desc[1], l.data[K], l.desc[2],
                                         l.data[V], l.desc[3], l.data[DOUT], l.weights, l.data[W], dw, l.work_size, l.work, l.reserve_size,
                                         l.reserve));
    for (int64_t i = 0; i < l.count[W]; i++)
        assert_true(dw[i] == 2 * once[i]);
    free(once);
    grads_free(grad);
    layer_free(&l);
}

static void copy_rounded(layer *to, const layer *from)
{
    for (int i = 0; i < BUFFERS; i++)
        for (int64_t k = 0; k < to->count[i]; k++) {
            double v = dn_load(from->type, from->data[i], k);
            dn_store(to->type, to->data[i], k, v);
        }
}

/* Narrow types give what double gives on the same values, within some roundings. */
static void types(void **state)
{
    (void)state;
    static const struct { dn_dtype type; double bound; } narrow[] = { { DN_F32, 2e-6 }, { DN_F16, 6e-3 }, { DN_BF16, 5e-2 } };
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (size_t t = 0; t < sizeof narrow / sizeof *narrow; t++) {
            layer l, wide;
            void *grad[4], *want[4];
            layer_make(&l, &shapes[k], narrow[t].type);
            layer_make(&wide, &shapes[k], DN_F64);
            copy_rounded(&wide, &l);
            grads_make(&l, grad);
            grads_make(&wide, want);
            backward(&l, grad);
            backward(&wide, want);
            for (int which = 0; which < 5; which++) {
                const void *a = which < 4 ? grad[which] : l.data[OUT];
                const double *b = which < 4 ? want[which] : wide.data[OUT];
                double top = 1;
                for (int64_t i = 0; i < l.count[which]; i++)
                    top = fmax(top, fabs(b[i]));
                for (int64_t i = 0; i < l.count[which]; i++)
                    if (!(fabs(dn_load(l.type, a, i) - b[i]) <= narrow[t].bound * top))
                        fail_msg("%s %s: array %d, element %lld is %g, not %g", shapes[k].name, dn_dtype_name(l.type), which, (long long)i,
                                 dn_load(l.type, a, i), b[i]);
            }
            grads_free(grad);
            grads_free(want);
            layer_free(&l);
            layer_free(&wide);
        }
}

/* NaN past the ends of queries, keys and values is never seen, and there is none in what comes out. */
static void padding(void **state)
{
    (void)state;
    layer l, clean;
    void *grad[4], *want[4];
    const shape *z = &shapes[2];
    layer_make(&l, z, DN_F64);
    layer_make(&clean, z, DN_F64);
    for (int which = 0; which < 3; which++) {
        int times = which ? z->t : z->s, size = z->in[which];
        for (int n = 0; n < z->n; n++)
            for (int t = which ? z->klen[n] : z->qlen[n]; t < times; t++)
                for (int i = 0; i < size; i++)
                    ((double *)l.data[which])[(n * times + t) * size + i] = NAN;
    }
    grads_make(&l, grad);
    grads_make(&clean, want);
    backward(&l, grad);
    backward(&clean, want);
    for (int which = 0; which < 4; which++)
        assert_memory_equal(grad[which], want[which], (size_t)l.count[which] * sizeof(double));
    assert_memory_equal(l.data[OUT], clean.data[OUT], (size_t)l.count[OUT] * sizeof(double));
    for (int64_t i = 0; i < l.count[OUT]; i++)
        assert_false(isnan(((double *)l.data[OUT])[i]));
    grads_free(grad);
    grads_free(want);
    layer_free(&l);
    layer_free(&clean);
}

/* Lengths on the device that no sequence has are cut to those that one may have, and window bounds to the keys that there are. */
static void wild_lengths(void **state)
{
    (void)state;
    layer l, clean;
    void *grad[4], *want[4];
    layer_make(&l, &shapes[0], DN_F64);
    layer_make(&clean, &shapes[0], DN_F64);
    grads_make(&l, grad);
    grads_make(&clean, want);
    l.qlen[0] = l.klen[0] = 1 << 30;
    l.qlen[1] = l.klen[1] = -5;
    clean.qlen[1] = clean.klen[1] = 0;
    for (int i = 0; i < l.z->s; i++) {
        l.lo[i] = INT32_MIN;
        l.hi[i] = INT32_MAX;
    }
    backward(&l, grad);
    backward(&clean, want);
    for (int which = 0; which < 4; which++)
        assert_memory_equal(grad[which], want[which], (size_t)l.count[which] * sizeof(double));
    assert_memory_equal(l.data[OUT], clean.data[OUT], (size_t)l.count[OUT] * sizeof(double));
    grads_free(grad);
    grads_free(want);
    layer_free(&l);
    layer_free(&clean);
}

/* A call of the forward pass moves the states on by one for each dropout, and inference by none. */
static void states_count(void **state)
{
    (void)state;
    layer l;
    layer_make(&l, &shapes[9], DN_F64);
    forward(&l);
    assert_int_equal(l.states.call, 2);
    double first = ((double *)l.data[OUT])[1];
    OK(cudnnMultiHeadAttnForward(handle, l.attn, -1, l.lo, l.hi, l.qlen, l.klen, l.desc[0], l.data[Q], NULL, l.desc[1], l.data[K], l.desc[2],
                                 l.data[V], l.desc[3], l.data[OUT], l.weights, l.data[W], l.work_size, l.work, l.reserve_size, l.reserve));
    assert_int_equal(l.states.call, 4);
    forward(&l);
    assert_true(((double *)l.data[OUT])[1] == first);
    OK(cudnnMultiHeadAttnForward(handle, l.attn, -1, l.lo, l.hi, l.qlen, l.klen, l.desc[0], l.data[Q], NULL, l.desc[1], l.data[K], l.desc[2],
                                 l.data[V], l.desc[3], l.data[OUT], l.weights, l.data[W], l.work_size, l.work, 0, NULL));
    assert_int_equal(l.states.call, 2);
    layer_free(&l);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences), cmocka_unit_test(weights_add), cmocka_unit_test(types), cmocka_unit_test(padding),
        cmocka_unit_test(wild_lengths),
        cmocka_unit_test(states_count),
    };
    setenv("ANYDNN_ENGINE", "ref", 1);
    return cmocka_run_group_tests_name("attn", tests, handle_open, handle_close);
}
