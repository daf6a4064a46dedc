/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Trains a small LeNet on 8x8 images of handwritten digits. All arithmetic on tensors, the optimiser's included, is calls of the
 * cuDNN interface, and all tensors lie in memory from anydnnMalloc: the same source runs on a processor and on a GPU.
 *     cc train_digits.c -I PREFIX/include -L PREFIX/lib -lcudnn -lm -o train_digits
 *     ./train_digits digits.csv digits.svg
 * Works with the headers of cuDNN 8 and of cuDNN 9. Exit code: 0 good, 1 test accuracy under 97 %, 2 usage or a file that cannot
 * be read or written, 3 a library call failed.
 *
 * The network (n images; shapes are channels x height x width):
 *     1x8x8    conv 3x3 + bias -> batch norm -> ReLU -> max pool 2x2
 *     16x4x4   conv 3x3 + bias -> batch norm -> ReLU -> max pool 2x2
 *     32x2x2   fully connected (a 2x2 convolution) + bias -> ReLU -> dropout
 *     64x1x1   fully connected (a 1x1 convolution) + bias -> log softmax over 10 classes
 *
 * digits.h has what is not the library's business (data file, command line), digits_svg.h the picture. */
#include <cudnn.h>

#include <anydnn.h>

#include "digits.h"
#include "digits_svg.h"

enum { N_LAYERS = 13 };

#define RATE_PER_IMAGE 0.001f  /* learning rate at the start for each image of a batch; it falls to 0 along half a cosine */
#define RATE_MAX 0.1f          /* larger batches do not get more */
#define MOMENTUM 0.9f
#define WEIGHT_DECAY 5e-4f
#define DROP_PROBABILITY 0.25f
#define BN_EPSILON 1e-5
#define BN_AVERAGE 0.1  /* how much of each batch goes into the running statistics */

static const float one = 1.0f, zero = 0.0f;

/* Ends the program where a call of the library failed. */
static void lib_check(cudnnStatus_t st, const char *call, int line)
{
    if (st == CUDNN_STATUS_SUCCESS)
        return;
    fflush(stdout);
    fprintf(stderr, "train_digits: %.*s: %s (train_digits.c, line %d)\n", (int)strcspn(call, "("), call,
            cudnnGetErrorString(st), line);
    if (*anydnnGetLastErrorString())
        fprintf(stderr, "  %s\n", anydnnGetLastErrorString());
    exit(EXIT_LIBRARY);
}
#define LIB(call) lib_check(call, #call, __LINE__)

/* --- the network --- */

typedef enum layer_kind { CONV, BATCH_NORM, RELU, MAX_POOL, DROPOUT, LOG_SOFTMAX } layer_kind;

typedef struct layer_spec {
    const char *name;
    layer_kind kind;
    int channels, window, pad;  /* CONV: channels out, filter side, zeros around; MAX_POOL: window is also the stride */
} layer_spec;

static const layer_spec specs[N_LAYERS] = {
    {"conv1", CONV, 16, 3, 1}, {"bn1", BATCH_NORM, 0, 0, 0}, {"relu1", RELU, 0, 0, 0}, {"pool1", MAX_POOL, 0, 2, 0},
    {"conv2", CONV, 32, 3, 1}, {"bn2", BATCH_NORM, 0, 0, 0}, {"relu2", RELU, 0, 0, 0}, {"pool2", MAX_POOL, 0, 2, 0},
    {"full1", CONV, 64, 2, 0}, {"relu3", RELU, 0, 0, 0}, {"drop", DROPOUT, 0, 0, 0},
    {"full2", CONV, CLASSES, 1, 0}, {"softmax", LOG_SOFTMAX, 0, 0, 0},
};

enum { FORWARD, BY_INPUT, BY_FILTER, BY_BIAS, N_PASSES };  /* BY_..: the gradient by that */
static const char *const pass_names[N_PASSES] = {"forward", "backward data", "backward filter", "backward bias"};

typedef struct layer {
    const layer_spec *spec;
    int c, h, w;                      /* shape of y; x is the layer's before */
    cudnnTensorDescriptor_t x_desc, y_desc, b_desc;  /* x_desc belongs to the layer before; b: 1 x c x 1 x 1 */
    float *y, *dy;                    /* n x c x h x w: output, and the loss's gradient by it */
    const float *x;                   /* input of the last forward pass */
    size_t w_at, w_count, b_at;       /* parameters' places in the network's arrays; batch norm: w is the scale */
    int fan_in;
    cudnnFilterDescriptor_t w_desc;   /* CONV */
    cudnnConvolutionDescriptor_t conv;
    cudnnConvolutionFwdAlgo_t fwd_algo;
    cudnnConvolutionBwdDataAlgo_t data_algo;
    cudnnConvolutionBwdFilterAlgo_t filter_algo;
    float *run_mean, *run_var, *batch_mean, *batch_invstd;  /* BATCH_NORM, c each */
    cudnnActivationDescriptor_t act;
    cudnnPoolingDescriptor_t pool;
    cudnnDropoutDescriptor_t drop;
    void *states, *reserve;
    size_t reserve_size;
    const char *solver[N_PASSES];     /* rows that ran, for the report */
} layer;

typedef struct network {
    cudnnHandle_t handle;
    int batch;
    layer l[N_LAYERS];
    cudnnTensorDescriptor_t x_desc, all_desc;  /* all_desc: all parameters as 1 x n_params x 1 x 1 */
    float *x;                                  /* images, batch x 1 x 8 x 8 */
    float *params, *grads, *velocity;          /* n_params each: one block, so that a step is two calls */
    size_t n_params, workspace_size;
    void *workspace;
} network;

static float *floats(network *net, size_t count)
{
    void *p;
    LIB(anydnnMalloc(net->handle, count * sizeof(float), &p));
    return p;
}

/* Places for count parameters, on a boundary of 256 bytes as GPU kernels like it. */
static size_t params_place(network *net, size_t count)
{
    size_t at = net->n_params;
    net->n_params = at + (count + 63) / 64 * 64;
    return at;
}

static void tensor_make(cudnnTensorDescriptor_t *desc, int n, int c, int h, int w)
{
    LIB(cudnnCreateTensorDescriptor(desc));
    LIB(cudnnSetTensor4dDescriptor(*desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w));
}

static void workspace_want(network *net, size_t size)
{
    if (size > net->workspace_size)
        net->workspace_size = size;
}

/* The library's first choice for each of the three passes, and the workspace that it needs. */
static void conv_choose(network *net, layer *l)
{
    cudnnConvolutionFwdAlgoPerf_t fwd;
    cudnnConvolutionBwdDataAlgoPerf_t data;
    cudnnConvolutionBwdFilterAlgoPerf_t filter;
    int n;
    size_t size;
    LIB(cudnnGetConvolutionForwardAlgorithm_v7(net->handle, l->x_desc, l->w_desc, l->conv, l->y_desc, 1, &n, &fwd));
    lib_check(n ? fwd.status : CUDNN_STATUS_NOT_SUPPORTED, "cudnnGetConvolutionForwardAlgorithm_v7", __LINE__);
    l->fwd_algo = fwd.algo;
    LIB(cudnnGetConvolutionForwardWorkspaceSize(net->handle, l->x_desc, l->w_desc, l->conv, l->y_desc, fwd.algo, &size));
    workspace_want(net, size);
    LIB(cudnnGetConvolutionBackwardFilterAlgorithm_v7(net->handle, l->x_desc, l->y_desc, l->conv, l->w_desc, 1, &n, &filter));
    lib_check(n ? filter.status : CUDNN_STATUS_NOT_SUPPORTED, "cudnnGetConvolutionBackwardFilterAlgorithm_v7", __LINE__);
    l->filter_algo = filter.algo;
    LIB(cudnnGetConvolutionBackwardFilterWorkspaceSize(net->handle, l->x_desc, l->y_desc, l->conv, l->w_desc, filter.algo,
                                                       &size));
    workspace_want(net, size);
    if (l == net->l)
        return;  /* nobody wants the gradient by the images */
    LIB(cudnnGetConvolutionBackwardDataAlgorithm_v7(net->handle, l->w_desc, l->y_desc, l->conv, l->x_desc, 1, &n, &data));
    lib_check(n ? data.status : CUDNN_STATUS_NOT_SUPPORTED, "cudnnGetConvolutionBackwardDataAlgorithm_v7", __LINE__);
    l->data_algo = data.algo;
    LIB(cudnnGetConvolutionBackwardDataWorkspaceSize(net->handle, l->w_desc, l->y_desc, l->conv, l->x_desc, data.algo, &size));
    workspace_want(net, size);
}

/* Descriptors of a convolution of c_in x h x w images, c_in being l->c as it comes in; l->c, l->h, l->w become y's. */
static void conv_make(layer *l)
{
    const layer_spec *s = l->spec;
    int n, k = s->channels, side = s->window;
    LIB(cudnnCreateFilterDescriptor(&l->w_desc));
    LIB(cudnnSetFilter4dDescriptor(l->w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, k, l->c, side, side));
    LIB(cudnnCreateConvolutionDescriptor(&l->conv));
    LIB(cudnnSetConvolution2dDescriptor(l->conv, s->pad, s->pad, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    l->fan_in = l->c * side * side;
    l->w_count = (size_t)k * (size_t)l->fan_in;
    LIB(cudnnGetConvolution2dForwardOutputDim(l->conv, l->x_desc, l->w_desc, &n, &l->c, &l->h, &l->w));
}

static void drop_make(network *net, layer *l, unsigned long long seed)
{
    size_t size;
    LIB(cudnnCreateDropoutDescriptor(&l->drop));
    LIB(cudnnDropoutGetStatesSize(net->handle, &size));
    LIB(anydnnMalloc(net->handle, size, &l->states));
    LIB(cudnnSetDropoutDescriptor(l->drop, net->handle, DROP_PROBABILITY, l->states, size, seed));
    LIB(cudnnDropoutGetReserveSpaceSize(l->x_desc, &l->reserve_size));
    LIB(anydnnMalloc(net->handle, l->reserve_size, &l->reserve));
}

/* Running statistics of the standard normal distribution, until the first batch changes them. */
static void bn_make(network *net, layer *l)
{
    float **v[] = {&l->run_mean, &l->run_var, &l->batch_mean, &l->batch_invstd};
    for (int i = 0; i < 4; i++) {
        *v[i] = floats(net, (size_t)l->c);
        LIB(cudnnSetTensor(net->handle, l->b_desc, *v[i], i == 1 ? &one : &zero));
    }
    l->w_count = (size_t)l->c;
}

/* before: the layer before, or NULL where x is the images. */
static void layer_make(network *net, layer *l, const layer *before, unsigned long long *seed)
{
    l->c = before ? before->c : 1;
    l->h = before ? before->h : SIDE;
    l->w = before ? before->w : SIDE;
    l->x_desc = before ? before->y_desc : net->x_desc;
    switch (l->spec->kind) {
    case CONV:
        conv_make(l);
        break;
    case RELU:
        LIB(cudnnCreateActivationDescriptor(&l->act));
        LIB(cudnnSetActivationDescriptor(l->act, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0.0));
        break;
    case MAX_POOL:
        LIB(cudnnCreatePoolingDescriptor(&l->pool));
        LIB(cudnnSetPooling2dDescriptor(l->pool, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, l->spec->window, l->spec->window, 0,
                                        0, l->spec->window, l->spec->window));
        l->h /= l->spec->window;
        l->w /= l->spec->window;
        break;
    case DROPOUT:
        drop_make(net, l, random_bits(seed));
        break;
    case BATCH_NORM:
    case LOG_SOFTMAX:
        break;
    }
    tensor_make(&l->y_desc, net->batch, l->c, l->h, l->w);
    tensor_make(&l->b_desc, 1, l->c, 1, 1);
    if (l->spec->kind == BATCH_NORM)
        bn_make(net, l);
    if (l->w_count) {
        l->w_at = params_place(net, l->w_count);
        l->b_at = params_place(net, (size_t)l->c);
    }
    size_t count = (size_t)net->batch * (size_t)l->c * (size_t)l->h * (size_t)l->w;
    l->y = floats(net, count);
    l->dy = floats(net, count);
    if (l->spec->kind == CONV)
        conv_choose(net, l);
}

/* First weights: uniform with variance 2 / fan_in (He et al., 2015); scales 1, biases 0. Velocity 0. */
static void params_make(network *net, unsigned long long *seed)
{
    tensor_make(&net->all_desc, 1, (int)net->n_params, 1, 1);
    net->params = floats(net, net->n_params);
    net->grads = floats(net, net->n_params);
    net->velocity = floats(net, net->n_params);
    LIB(cudnnSetTensor(net->handle, net->all_desc, net->grads, &zero));  /* the gaps between parameters must not hold NaN */
    LIB(cudnnSetTensor(net->handle, net->all_desc, net->velocity, &zero));
    float *host = allocate(net->n_params, sizeof *host);
    for (int i = 0; i < N_LAYERS; i++) {
        layer *l = &net->l[i];
        double bound = l->fan_in ? sqrt(6.0 / l->fan_in) : 0.0;
        for (size_t j = 0; j < l->w_count; j++)
            host[l->w_at + j] = l->fan_in ? (float)(bound * (2.0 * random_unit(seed) - 1.0)) : 1.0f;
    }
    LIB(anydnnCopyIn(net->handle, net->params, host, net->n_params * sizeof *host));
    free(host);
}

static void network_make(network *net, int batch, unsigned long long *seed)
{
    LIB(cudnnCreate(&net->handle));
    net->batch = batch;
    tensor_make(&net->x_desc, batch, 1, SIDE, SIDE);
    net->x = floats(net, (size_t)batch * PIXELS);
    for (int i = 0; i < N_LAYERS; i++) {
        net->l[i].spec = &specs[i];
        layer_make(net, &net->l[i], i ? &net->l[i - 1] : NULL, seed);
    }
    params_make(net, seed);
    LIB(anydnnMalloc(net->handle, net->workspace_size, &net->workspace));
}

static void conv_forward(network *net, layer *l)
{
    LIB(cudnnConvolutionForward(net->handle, &one, l->x_desc, l->x, l->w_desc, net->params + l->w_at, l->conv, l->fwd_algo,
                                net->workspace, net->workspace_size, &zero, l->y_desc, l->y));
    l->solver[FORWARD] = anydnnGetLastSolver(net->handle);
    LIB(cudnnAddTensor(net->handle, &one, l->b_desc, net->params + l->b_at, &one, l->y_desc, l->y));
}

static void bn_forward(network *net, layer *l, int training)
{
    const float *scale = net->params + l->w_at, *bias = net->params + l->b_at;
    if (training)
        LIB(cudnnBatchNormalizationForwardTraining(net->handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, l->x_desc, l->x, l->y_desc,
                                                   l->y, l->b_desc, scale, bias, BN_AVERAGE, l->run_mean, l->run_var, BN_EPSILON,
                                                   l->batch_mean, l->batch_invstd));
    else
        LIB(cudnnBatchNormalizationForwardInference(net->handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, l->x_desc, l->x, l->y_desc,
                                                    l->y, l->b_desc, scale, bias, l->run_mean, l->run_var, BN_EPSILON));
}

/* Images in net->x, logarithms of class probabilities in the last layer's y. */
static void network_forward(network *net, int training)
{
    const float *x = net->x;
    for (layer *l = net->l; l < net->l + N_LAYERS; l++) {
        l->x = x;
        switch (l->spec->kind) {
        case CONV:
            conv_forward(net, l);
            break;
        case BATCH_NORM:
            bn_forward(net, l, training);
            break;
        case RELU:
            LIB(cudnnActivationForward(net->handle, l->act, &one, l->x_desc, x, &zero, l->y_desc, l->y));
            break;
        case MAX_POOL:
            LIB(cudnnPoolingForward(net->handle, l->pool, &one, l->x_desc, x, &zero, l->y_desc, l->y));
            break;
        case DROPOUT:
            if (!training)
                continue;  /* nothing is dropped, and the next layer reads this one's x */
            LIB(cudnnDropoutForward(net->handle, l->drop, l->x_desc, x, l->y_desc, l->y, l->reserve, l->reserve_size));
            break;
        case LOG_SOFTMAX:
            LIB(cudnnSoftmaxForward(net->handle, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_CHANNEL, &one, l->x_desc, x, &zero,
                                    l->y_desc, l->y));
            break;
        }
        if (l->spec->kind != CONV)
            l->solver[FORWARD] = anydnnGetLastSolver(net->handle);
        x = l->y;
    }
}

/* dx: NULL where nobody wants it. */
static void conv_backward(network *net, layer *l, float *dx)
{
    LIB(cudnnConvolutionBackwardBias(net->handle, &one, l->y_desc, l->dy, &zero, l->b_desc, net->grads + l->b_at));
    l->solver[BY_BIAS] = anydnnGetLastSolver(net->handle);
    LIB(cudnnConvolutionBackwardFilter(net->handle, &one, l->x_desc, l->x, l->y_desc, l->dy, l->conv, l->filter_algo,
                                       net->workspace, net->workspace_size, &zero, l->w_desc, net->grads + l->w_at));
    l->solver[BY_FILTER] = anydnnGetLastSolver(net->handle);
    if (!dx)
        return;
    LIB(cudnnConvolutionBackwardData(net->handle, &one, l->w_desc, net->params + l->w_at, l->y_desc, l->dy, l->conv, l->data_algo,
                                     net->workspace, net->workspace_size, &zero, l->x_desc, dx));
    l->solver[BY_INPUT] = anydnnGetLastSolver(net->handle);
}

/* Gradients of all parameters, from the last layer's dy. */
static void network_backward(network *net)
{
    for (layer *l = net->l + N_LAYERS - 1; l >= net->l; l--) {
        float *dx = l > net->l ? l[-1].dy : NULL;
        switch (l->spec->kind) {
        case CONV:
            conv_backward(net, l, dx);
            continue;
        case BATCH_NORM:
            LIB(cudnnBatchNormalizationBackward(net->handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, &one, &zero, l->x_desc, l->x,
                                                l->y_desc, l->dy, l->x_desc, dx, l->b_desc, net->params + l->w_at,
                                                net->grads + l->w_at, net->grads + l->b_at, BN_EPSILON, l->batch_mean,
                                                l->batch_invstd));
            break;
        case RELU:
            LIB(cudnnActivationBackward(net->handle, l->act, &one, l->y_desc, l->y, l->y_desc, l->dy, l->x_desc, l->x, &zero,
                                        l->x_desc, dx));
            break;
        case MAX_POOL:
            LIB(cudnnPoolingBackward(net->handle, l->pool, &one, l->y_desc, l->y, l->y_desc, l->dy, l->x_desc, l->x, &zero,
                                     l->x_desc, dx));
            break;
        case DROPOUT:
            LIB(cudnnDropoutBackward(net->handle, l->drop, l->y_desc, l->dy, l->x_desc, dx, l->reserve, l->reserve_size));
            break;
        case LOG_SOFTMAX:
            LIB(cudnnSoftmaxBackward(net->handle, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_CHANNEL, &one, l->y_desc, l->y, l->y_desc,
                                     l->dy, &zero, l->x_desc, dx));
            break;
        }
        l->solver[BY_INPUT] = anydnnGetLastSolver(net->handle);
    }
}

/* v = momentum * v + gradient; p = (1 - rate * decay) * p - rate * v. For all parameters at once. */
static void network_step(network *net, float rate)
{
    float momentum = MOMENTUM, minus_rate = -rate, keep = 1.0f - rate * WEIGHT_DECAY;
    LIB(cudnnAddTensor(net->handle, &one, net->all_desc, net->grads, &momentum, net->all_desc, net->velocity));
    LIB(cudnnAddTensor(net->handle, &minus_rate, net->all_desc, net->velocity, &keep, net->all_desc, net->params));
}

static void layer_free(network *net, layer *l)
{
    void *memory[] = {l->y, l->dy, l->run_mean, l->run_var, l->batch_mean, l->batch_invstd, l->states, l->reserve};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        LIB(anydnnFree(net->handle, memory[i]));
    LIB(cudnnDestroyTensorDescriptor(l->y_desc));
    LIB(cudnnDestroyTensorDescriptor(l->b_desc));
    if (l->w_desc)
        LIB(cudnnDestroyFilterDescriptor(l->w_desc));
    if (l->conv)
        LIB(cudnnDestroyConvolutionDescriptor(l->conv));
    if (l->act)
        LIB(cudnnDestroyActivationDescriptor(l->act));
    if (l->pool)
        LIB(cudnnDestroyPoolingDescriptor(l->pool));
    if (l->drop)
        LIB(cudnnDestroyDropoutDescriptor(l->drop));
}

static void network_free(network *net)
{
    for (int i = 0; i < N_LAYERS; i++)
        layer_free(net, &net->l[i]);
    void *memory[] = {net->x, net->params, net->grads, net->velocity, net->workspace};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        LIB(anydnnFree(net->handle, memory[i]));
    LIB(cudnnDestroyTensorDescriptor(net->x_desc));
    LIB(cudnnDestroyTensorDescriptor(net->all_desc));
    LIB(cudnnDestroy(net->handle));
}

/* --- training --- */

/* Images order[at] .. order[at + n - 1] to net->x; what is missing to a full batch repeats the first. */
static void batch_load(network *net, const digits *d, const int *order, int n, float *host)
{
    for (int i = 0; i < net->batch; i++)
        for (int j = 0; j < PIXELS; j++)
            host[i * PIXELS + j] = (float)d->v[order[i < n ? i : 0]].pixel[j] / INK_MAX;
    LIB(anydnnCopyIn(net->handle, net->x, host, (size_t)net->batch * PIXELS * sizeof *host));
}

/* One step of training; returns the mean of -log p(label). Its gradient by log p is -1 / batch at the label, else 0. */
static float train_batch(network *net, const digits *d, const int *order, float rate, float *host)
{
    layer *last = &net->l[N_LAYERS - 1];
    size_t size = (size_t)net->batch * CLASSES * sizeof *host;
    batch_load(net, d, order, net->batch, host);
    network_forward(net, 1);
    LIB(anydnnCopyOut(net->handle, host, last->y, size));
    double loss = 0;
    for (int i = 0; i < net->batch; i++)
        for (int k = 0, label = d->v[order[i]].label; k < CLASSES; k++) {
            loss -= k == label ? host[i * CLASSES + k] : 0.0f;
            host[i * CLASSES + k] = k == label ? -1.0f / (float)net->batch : 0.0f;
        }
    LIB(anydnnCopyIn(net->handle, last->dy, host, size));
    network_backward(net);
    network_step(net, rate);
    return (float)(loss / net->batch);
}

/* Share of the test images that the network reads right; the others to h->misses. */
static double test(network *net, const digits *d, history *h, float *host)
{
    const int *order = d->order + N_TRAIN;
    h->n_misses = 0;
    for (int at = 0; at < h->n_test; at += net->batch) {
        int n = h->n_test - at < net->batch ? h->n_test - at : net->batch;
        batch_load(net, d, order + at, n, host);
        network_forward(net, 0);
        LIB(anydnnCopyOut(net->handle, host, net->l[N_LAYERS - 1].y, (size_t)n * CLASSES * sizeof *host));
        for (int i = 0; i < n; i++) {
            const float *log_p = host + i * CLASSES;
            int best = 0;
            for (int k = 1; k < CLASSES; k++)
                best = log_p[k] > log_p[best] ? k : best;
            if (best != d->v[order[at + i]].label || isnan(log_p[best]))
                h->misses[h->n_misses++] = (miss){order[at + i], best, exp(log_p[best])};
        }
    }
    return 1.0 - (double)h->n_misses / h->n_test;
}

static const char *algorithm_name(const layer *l, int pass)
{
    static const char *const fwd[] = {"IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "GEMM", "DIRECT", "FFT", "FFT_TILING", "WINOGRAD",
                                      "WINOGRAD_NONFUSED"};
    static const char *const data[] = {"ALGO_0", "ALGO_1", "FFT", "FFT_TILING", "WINOGRAD", "WINOGRAD_NONFUSED"};
    static const char *const filter[] = {"ALGO_0", "ALGO_1", "FFT", "ALGO_3", "WINOGRAD", "WINOGRAD_NONFUSED", "FFT_TILING"};
    unsigned i = pass == FORWARD ? (unsigned)l->fwd_algo : pass == BY_INPUT ? (unsigned)l->data_algo : (unsigned)l->filter_algo;
    if (l->spec->kind != CONV || pass == BY_BIAS)
        return "";
    if (pass == FORWARD)
        return i < sizeof fwd / sizeof *fwd ? fwd[i] : "?";
    if (pass == BY_INPUT)
        return i < sizeof data / sizeof *data ? data[i] : "?";
    return i < sizeof filter / sizeof *filter ? filter[i] : "?";
}

/* After the first step, when it is known what ran. */
static void print_layers(const network *net)
{
    printf("\n%-8s %-8s %-16s %-22s %s\n", "layer", "output", "pass", "algorithm", "solver");
    for (const layer *l = net->l; l < net->l + N_LAYERS; l++) {
        char shape[40];
        snprintf(shape, sizeof shape, "%dx%dx%d", l->c, l->h, l->w);
        for (int p = 0; p < N_PASSES; p++)
            if (l->solver[p])
                printf("%-8s %-8s %-16s %-22s %s\n", p ? "" : l->spec->name, p ? "" : shape, pass_names[p],
                       algorithm_name(l, p), l->solver[p]);
    }
    size_t n = 0;
    for (const layer *l = net->l; l < net->l + N_LAYERS; l++)
        n += l->w_count ? l->w_count + (size_t)l->c : 0;
    printf("parameters: %zu, workspace: %zu bytes\n\n", n, net->workspace_size);
}

static void print_progress(int epoch, int epochs, int done, int of, double loss, double speed)
{
    static const char bar[] = "##############################";
    int width = (int)sizeof bar - 1, n = of ? width * done / of : width;
    printf("\repoch %3d/%d [%.*s%*s] loss %.4f %8.0f images/s ", epoch, epochs, n, bar, width - n, "", loss, speed);
    fflush(stdout);
}

/* One pass over the training images in an order of its own (order, N_TRAIN); the rest under one batch sits this epoch out. */
static void train_epoch(network *net, const digits *d, const options *o, int *order, history *h, float *host)
{
    int per_epoch = N_TRAIN / net->batch, tty = stdout_is_terminal() && !o->quiet;
    float first_rate = fminf(RATE_PER_IMAGE * (float)net->batch, RATE_MAX);
    double loss = 0, start = seconds(), shown = 0, now;
    for (int i = 0; i < per_epoch; i++) {
        double progress = (double)h->steps / ((double)per_epoch * o->epochs);
        float rate = first_rate * (float)(0.5 + 0.5 * cos(acos(-1.0) * progress));
        h->loss[h->steps] = train_batch(net, d, order + i * net->batch, rate, host);
        loss += h->loss[h->steps];
        if (!h->steps++ && !o->quiet)
            print_layers(net);
        now = seconds();
        if (tty && now - shown > 0.05) {
            print_progress(h->epochs + 1, o->epochs, i + 1, per_epoch, loss / (i + 1), (i + 1) * net->batch / (now - start));
            shown = now;
        }
    }
    LIB(anydnnSynchronize(net->handle));
    double took = seconds() - start, speed = per_epoch * net->batch / took;
    h->seconds += took;
    h->accuracy[h->epochs++] = test(net, d, h, host);
    if (tty)
        print_progress(h->epochs, o->epochs, 1, 1, loss / per_epoch, speed);
    else if (!o->quiet)
        printf("epoch %3d/%d  loss %.4f  %6.0f images/s ", h->epochs, o->epochs, loss / per_epoch, speed);
    if (!o->quiet)
        printf(" test accuracy %6.2f %%\n", 100 * h->accuracy[h->epochs - 1]);
    fflush(stdout);
}

static void train(network *net, const digits *d, const options *o, history *h, unsigned long long *seed)
{
    int per_epoch = N_TRAIN / net->batch, order[N_TRAIN];
    float *host = allocate((size_t)net->batch * PIXELS, sizeof *host);
    h->n_test = d->n - N_TRAIN;
    h->loss = allocate((size_t)per_epoch * (size_t)o->epochs, sizeof *h->loss);
    h->accuracy = allocate((size_t)o->epochs, sizeof *h->accuracy);
    h->misses = allocate((size_t)h->n_test, sizeof *h->misses);
    memcpy(order, d->order, sizeof order);
    for (int e = 0; e < o->epochs; e++) {
        shuffle(order, N_TRAIN, seed);
        train_epoch(net, d, o, order, h, host);
    }
    free(host);
}

static void print_versions(const network *net)
{
    int v = (int)cudnnGetVersion(), major = v >= 90000 ? v / 10000 : v / 1000;
    printf("anydnn %s, engine %s, interface of cuDNN %d.%d.%d\n", anydnnGetVersionString(), anydnnGetEngineName(net->handle),
           major, v % (v >= 90000 ? 10000 : 1000) / 100, v % 100);
}

int main(int argc, char **argv)
{
    options o = {NULL, NULL, 12, 50, 0, 1};
    options_read(&o, argc, argv);
    digits d = {NULL, 0, NULL};
    digits_read(&d, o.data);

    unsigned long long seed = o.seed;
    network net = {0};
    history h = {0};
    network_make(&net, o.batch, &seed);
    if (!o.quiet) {
        print_versions(&net);
        printf("%s: %d images to train, %d to test; batch %d, seed %llu\n", o.data, N_TRAIN, d.n - N_TRAIN, o.batch, o.seed);
        fflush(stdout);
    }
    train(&net, &d, &o, &h, &seed);

    double accuracy = h.accuracy[h.epochs - 1], images = (double)h.steps * o.batch;
    printf("test accuracy %.2f %% (%d of %d right), %.1f s of training, %.0f images/s, engine %s\n", 100 * accuracy,
           h.n_test - h.n_misses, h.n_test, h.seconds, images / h.seconds, anydnnGetEngineName(net.handle));
    if (o.svg)
        svg_write(o.svg, anydnnGetEngineName(net.handle), &d, &h);
    if (o.svg && !o.quiet)
        printf("picture: %s\n", o.svg);
    network_free(&net);
    free(d.v);
    free(d.order);
    free(h.loss);
    free(h.accuracy);
    free(h.misses);
    return accuracy >= WANTED_ACCURACY ? EXIT_GOOD : EXIT_INACCURATE;
}
