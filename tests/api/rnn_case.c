/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "rnn_case.h"

#include <stdlib.h>
#include <string.h>

static size_t size_of(int type)
{
    return type == F64 ? 8 : type == F32 ? 4 : 2;
}

double rnn_value(int type, const void *p, size_t i)
{
    return type == F64 ? ((const double *)p)[i] : type == F32 ? (double)((const float *)p)[i] : (double)((const uint16_t *)p)[i];
}

/* Half buffers hold zeros: their tests look at statuses. */
void rnn_put(int type, void *p, size_t i, double v)
{
    if (type == F64)
        ((double *)p)[i] = v;
    else if (type == F32)
        ((float *)p)[i] = (float)v;
    else
        ((uint16_t *)p)[i] = 0;
}

void *rnn_filled(int type, size_t n, unsigned seed)
{
    void *p = api_alloc_end(n * size_of(type), size_of(type));
    for (size_t i = 0; i < n; i++) {
        uint32_t h = (uint32_t)i * 2654435761u + seed * 40503u;
        h = (h ^ h >> 15) * 2246822519u;
        h = (h ^ h >> 13) * 3266489917u;
        rnn_put(type, p, i, (double)((int)((h >> 16) % 17) - 8) / 16);
    }
    return p;
}

void *rnn_level(int type, size_t n, double v)
{
    void *p = api_alloc_end(n * size_of(type), size_of(type));
    for (size_t i = 0; i < n; i++)
        rnn_put(type, p, i, v);
    return p;
}

size_t rnn_steps(const rnn_case *c)
{
    size_t all = 0;
    for (int b = 0; b < c->B; b++)
        all += c->layout == PACKED ? (size_t)c->len[b] : (size_t)c->T;
    return all;
}

void rnn_set_data(cudnnRNNDataDescriptor_t d, const rnn_case *c, int vector)
{
    double f64 = c->fill;
    float f32 = (float)c->fill;
    uint16_t zero = 0;
    void *fill = c->type == F64 ? (void *)&f64 : c->type == F32 ? (void *)&f32 : (void *)&zero;
    CALL(cudnnSetRNNDataDescriptor, (d, (cudnnDataType_t)c->type, (cudnnRNNDataLayout_t)c->layout, c->T, c->B, vector, c->len,
                                     c->fill ? fill : NULL));
}

void rnn_set_state(cudnnTensorDescriptor_t d, int type, int layers, int batch, int size)
{
    const int dim[3] = {layers, batch, size}, stride[3] = {batch * size, size, 1};
    CALL(cudnnSetTensorNdDescriptor, (d, (cudnnDataType_t)type, 3, dim, stride));
}

cudnnTensorDescriptor_t rnn_step(int batch, int vector)
{
    cudnnTensorDescriptor_t d;
    CALL(cudnnCreateTensorDescriptor, (&d));
    rnn_set_state(d, F32, batch, vector, 1);
    return d;
}

static void set_dropout(rnn *r)
{
    size_t size = 0;
    r->states = NULL;
    CALL(cudnnCreateDropoutDescriptor, (&r->drop));
    if (r->c.dropout == 0)
        return;
    CALL(cudnnDropoutGetStatesSize, (api_handle(), &size));
    r->states = api_alloc_end(size, 16);
    CALL(cudnnSetDropoutDescriptor, (r->drop, api_handle(), r->c.dropout, r->states, size, 42));
}

void rnn_descriptors(rnn *r, const rnn_case *c)
{
    int dirs = c->dir ? 2 : 1;
    memset(r, 0, sizeof *r);
    r->c = *c;
    set_dropout(r);
    CALL(cudnnCreateRNNDescriptor, (&r->desc));
    CALL(cudnnCreateRNNDataDescriptor, (&r->xd));
    CALL(cudnnCreateRNNDataDescriptor, (&r->yd));
    CALL(cudnnCreateTensorDescriptor, (&r->hd));
    CALL(cudnnCreateTensorDescriptor, (&r->cd));
    CALL(cudnnSetRNNDescriptor_v8, (r->desc, (cudnnRNNAlgo_t)c->algo, (cudnnRNNMode_t)c->cell, (cudnnRNNBiasMode_t)c->bias,
        (cudnnDirectionMode_t)c->dir, (cudnnRNNInputMode_t)c->skip, (cudnnDataType_t)c->type, (cudnnDataType_t)c->prec,
        (cudnnMathType_t)c->math, c->in, c->hid, c->proj, c->layers, c->dropout == 0 ? NULL : r->drop, c->flags));
    if (c->clip)
        CALL(cudnnRNNSetClip_v8, (r->desc, CUDNN_RNN_CLIP_MINMAX, CUDNN_NOT_PROPAGATE_NAN, -0.25, 0.375));
    rnn_set_data(r->xd, c, c->in);
    rnn_set_data(r->yd, c, c->proj * dirs);
    rnn_set_state(r->hd, c->type, c->layers * dirs, c->B, c->proj);
    rnn_set_state(r->cd, c->type, c->layers * dirs, c->B, c->hid);
}

void rnn_make(rnn *r, const rnn_case *c)
{
    int t = c->type, dirs = c->dir ? 2 : 1;
    cudnnHandle_t h = api_handle();
    rnn_descriptors(r, c);
    r->nx = rnn_steps(c) * (size_t)c->in;
    r->ny = rnn_steps(c) * (size_t)(c->proj * dirs);
    r->nh = (size_t)(c->layers * dirs * c->B * c->proj);
    r->nc = (size_t)(c->layers * dirs * c->B * c->hid);
    CALL(cudnnGetRNNWeightSpaceSize, (h, r->desc, &r->wbytes));
    CALL(cudnnGetRNNTempSpaceSizes, (h, r->desc, CUDNN_FWD_MODE_TRAINING, r->xd, &r->work, &r->reserve));
    r->nw = r->wbytes / size_of(t);
    r->x = rnn_filled(t, r->nx, 1);
    r->dy = rnn_filled(t, r->ny, 2);
    r->hx = rnn_filled(t, r->nh, 3);
    r->dhy = rnn_filled(t, r->nh, 4);
    r->cx = rnn_filled(t, r->nc, 5);
    r->dcy = rnn_filled(t, r->nc, 6);
    r->w = rnn_filled(t, r->nw, 7);
    r->y = rnn_level(t, r->ny, 99);
    r->dx = rnn_level(t, r->nx, -77);
    r->hy = rnn_level(t, r->nh, 55);
    r->dhx = rnn_level(t, r->nh, 55);
    r->cy = rnn_level(t, r->nc, 44);
    r->dcx = rnn_level(t, r->nc, 44);
    r->dw = rnn_level(t, r->nw, c->dw);
    r->ws = api_alloc_end(r->work, 256);
    r->rs = api_alloc_end(r->reserve, 256);
    r->len = api_alloc((size_t)c->B * sizeof *r->len);
    memcpy(r->len, c->len, (size_t)c->B * sizeof *r->len);
}

void rnn_free(rnn *r)
{
    CALL(cudnnDestroyRNNDescriptor, (r->desc));
    CALL(cudnnDestroyRNNDataDescriptor, (r->xd));
    CALL(cudnnDestroyRNNDataDescriptor, (r->yd));
    CALL(cudnnDestroyTensorDescriptor, (r->hd));
    CALL(cudnnDestroyTensorDescriptor, (r->cd));
    CALL(cudnnDestroyDropoutDescriptor, (r->drop));
}

cudnnStatus_t rnn_forward(const rnn *r, bool training)
{
    bool s = r->c.states, c = s && r->c.cell == CUDNN_LSTM;
    cudnnStatus_t st = api.cudnnRNNForward(api_handle(), r->desc, training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, r->len,
        r->xd, r->x, r->yd, r->y, r->hd, s ? r->hx : NULL, s ? r->hy : NULL, r->cd, c ? r->cx : NULL, c ? r->cy : NULL, r->wbytes, r->w,
        r->work, r->ws, training ? r->reserve : 0, training ? r->rs : NULL);
    api_sync();
    return st;
}

cudnnStatus_t rnn_backward_data(const rnn *r)
{
    bool s = r->c.states, c = s && r->c.cell == CUDNN_LSTM;
    cudnnStatus_t st = api.cudnnRNNBackwardData_v8(api_handle(), r->desc, r->len, r->yd, r->y, r->dy, r->xd, r->dx, r->hd,
        s ? r->hx : NULL, s ? r->dhy : NULL, s ? r->dhx : NULL, r->cd, c ? r->cx : NULL, c ? r->dcy : NULL, c ? r->dcx : NULL, r->wbytes,
        r->w, r->work, r->ws, r->reserve, r->rs);
    api_sync();
    return st;
}

cudnnStatus_t rnn_backward_weights(const rnn *r)
{
    cudnnStatus_t st = api.cudnnRNNBackwardWeights_v8(api_handle(), r->desc, CUDNN_WGRAD_MODE_ADD, r->len, r->xd, r->x, r->hd,
        r->c.states ? r->hx : NULL, r->yd, r->y, r->wbytes, r->dw, r->work, r->ws, r->reserve, r->rs);
    api_sync();
    return st;
}

#define F RNN_F32
#define D .type = F64, .prec = F64
#define SMALL RNN_SMALL
#define EVEN .T = 4, .B = 3, .len = {4, 4, 4}
#define UNEVEN .T = 4, .B = 3, .len = {2, 4, 3}, .flags = 1
#define PACK .layout = PACKED, .T = 4, .B = 3, .len = {4, 3, 1}
#define TWO .layers = 2, .dir = 1
#define ONE .layers = 1
#define LSTM CUDNN_LSTM
#define GRU CUDNN_GRU
#define RELU CUDNN_RNN_RELU
#define TANH CUDNN_RNN_TANH
#define N(text, ...) {.name = text, __VA_ARGS__}

const rnn_case rnn_cases[] = {
    N("relu", F, SMALL, EVEN, ONE, .cell = RELU, .bias = DOUBLE_BIAS, .states = 1),
    N("relu inp", F, SMALL, EVEN, ONE, .cell = RELU, .bias = INP_BIAS, .states = 1),
    N("relu rec", F, SMALL, EVEN, ONE, .cell = RELU, .bias = REC_BIAS, .states = 1),
    N("tanh bi 2", F, SMALL, EVEN, TWO, .cell = TANH, .bias = DOUBLE_BIAS, .states = 1),
    N("lstm", F, SMALL, EVEN, ONE, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1),
    N("lstm padded io", F, SMALL, EVEN, ONE, .flags = 1, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1),
    N("lstm uneven fill 7", F, SMALL, UNEVEN, ONE, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1, .fill = 7),
    N("lstm uneven fill none", F, SMALL, UNEVEN, ONE, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1),
    N("lstm packed", F, SMALL, PACK, ONE, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1),
    N("lstm packed padded io", F, SMALL, PACK, ONE, .flags = 1, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1),
    N("lstm batch major fill -3", F, SMALL, UNEVEN, ONE, .layout = BATCH_MAJOR, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1, .fill = -3),
    N("lstm bi 2 uneven fill 7", F, SMALL, UNEVEN, TWO, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1, .fill = 7),
    N("lstm bi 2 packed", F, SMALL, PACK, TWO, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1),
    N("lstm bi 2 batch major", F, SMALL, UNEVEN, TWO, .layout = BATCH_MAJOR, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1, .fill = 7),
    N("lstm inp", F, SMALL, EVEN, ONE, .cell = LSTM, .bias = INP_BIAS, .states = 1),
    N("lstm rec", F, SMALL, EVEN, ONE, .cell = LSTM, .bias = REC_BIAS, .states = 1),
    N("lstm none", F, SMALL, EVEN, ONE, .cell = LSTM, .bias = NO_BIAS, .states = 1),
    N("lstm no states", F, SMALL, UNEVEN, ONE, .cell = LSTM, .bias = DOUBLE_BIAS, .fill = 7),
    N("lstm zero length", F, SMALL, ONE, .T = 4, .B = 3, .len = {4, 0, 2}, .flags = 1, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1,
      .fill = 7),
    N("lstm bi zero length", F, SMALL, .layers = 1, .dir = 1, .T = 3, .B = 2, .len = {0, 3}, .flags = 1, .cell = LSTM,
      .bias = DOUBLE_BIAS, .states = 1, .fill = 7),
    N("lstm all shorter than T", F, SMALL, ONE, .T = 5, .B = 3, .len = {3, 2, 1}, .flags = 1, .cell = LSTM, .bias = DOUBLE_BIAS,
      .states = 1, .fill = 7),
    N("lstm one step one sequence", F, SMALL, ONE, .T = 1, .B = 1, .len = {1}, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1),
    N("lstm clip", F, SMALL, EVEN, ONE, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1, .clip = 1),
    N("lstm proj 2 layers", F, .in = 3, .hid = 4, .proj = 2, EVEN, .layers = 2, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1),
    N("lstm proj bi 2 uneven", F, .in = 3, .hid = 4, .proj = 2, UNEVEN, TWO, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1, .fill = 7),
    N("lstm proj clip", F, .in = 3, .hid = 4, .proj = 2, EVEN, ONE, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1, .clip = 1),
    N("lstm proj odd", F, .in = 5, .hid = 7, .proj = 3, EVEN, ONE, .cell = LSTM, .bias = INP_BIAS, .states = 1),
    N("lstm skip bi 2", F, .in = 4, .hid = 4, .proj = 4, EVEN, TWO, .skip = 1, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1),
    N("gru", F, SMALL, EVEN, ONE, .cell = GRU, .bias = DOUBLE_BIAS, .states = 1),
    N("gru inp", F, SMALL, EVEN, ONE, .cell = GRU, .bias = INP_BIAS, .states = 1),
    N("gru rec", F, SMALL, EVEN, ONE, .cell = GRU, .bias = REC_BIAS, .states = 1),
    N("gru none", F, SMALL, EVEN, ONE, .cell = GRU, .bias = NO_BIAS, .states = 1),
    N("gru bi 2 uneven fill 7", F, SMALL, UNEVEN, TWO, .cell = GRU, .bias = DOUBLE_BIAS, .states = 1, .fill = 7),
    N("gru packed", F, SMALL, PACK, ONE, .cell = GRU, .bias = DOUBLE_BIAS, .states = 1),
    N("gru skip", F, .in = 4, .hid = 4, .proj = 4, EVEN, ONE, .skip = 1, .cell = GRU, .bias = DOUBLE_BIAS, .states = 1),
    N("relu skip", F, .in = 4, .hid = 4, .proj = 4, EVEN, ONE, .skip = 1, .cell = RELU, .bias = DOUBLE_BIAS, .states = 1),
    N("tanh skip inp", F, .in = 4, .hid = 4, .proj = 4, EVEN, ONE, .skip = 1, .cell = TANH, .bias = INP_BIAS, .states = 1),
    N("tanh uneven", F, SMALL, UNEVEN, TWO, .cell = TANH, .bias = DOUBLE_BIAS, .states = 1, .fill = 7),
    N("lstm add to dw", F, SMALL, EVEN, ONE, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1, .dw = 100),
    N("lstm f64 bi 2", D, SMALL, UNEVEN, TWO, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1, .fill = 7),
    N("gru f64", D, .in = 5, .hid = 7, .proj = 7, EVEN, ONE, .cell = GRU, .bias = DOUBLE_BIAS, .states = 1),
    N("lstm persist static", F, SMALL, EVEN, ONE, .algo = 1, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1),
    N("lstm persist small", F, SMALL, EVEN, ONE, .algo = 3, .cell = LSTM, .bias = DOUBLE_BIAS, .states = 1),
};
const int rnn_case_count = sizeof rnn_cases / sizeof *rnn_cases;
