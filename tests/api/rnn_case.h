/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A recurrent network, a batch and its memory for the tests: blocks of exactly the sizes that the library asks for, with guards. */
#ifndef RNN_CASE_H
#define RNN_CASE_H

#include "api_lib.h"

#define F32 CUDNN_DATA_FLOAT
#define F64 CUDNN_DATA_DOUBLE
#define F16 CUDNN_DATA_HALF
#define BATCH_MAX 8

enum { UNPACKED, PACKED, BATCH_MAJOR };
enum { NO_BIAS, INP_BIAS, DOUBLE_BIAS, REC_BIAS };

typedef struct rnn_case {
    const char *name;
    int algo, cell, bias, dir, skip;
    int type, prec, math;
    int in, hid, proj, layers;
    unsigned flags;
    int layout, T, B, len[BATCH_MAX];
    int states;             /* 1: hx, cx and their gradients are there */
    int fill;               /* of x and y; 0: NULL */
    int clip;               /* 1: at -0.25 .. 0.375 */
    float dropout;
    double dw;              /* what dw holds before */
} rnn_case;

typedef struct rnn {
    rnn_case c;
    cudnnRNNDescriptor_t desc;
    cudnnRNNDataDescriptor_t xd, yd;
    cudnnTensorDescriptor_t hd, cd;
    cudnnDropoutDescriptor_t drop;
    size_t nx, ny, nh, nc, nw;           /* elements */
    size_t wbytes, work, reserve;
    void *x, *y, *dx, *dy, *hx, *hy, *dhx, *dhy, *cx, *cy, *dcx, *dcy, *w, *dw, *ws, *rs;
    int32_t *len;
    void *states;
} rnn;

/* An LSTM without states for a case to change. */
#define RNN_SMALL .in = 3, .hid = 4, .proj = 4
#define RNN_F32 .type = F32, .prec = F32, .math = CUDNN_FMA_MATH

void rnn_descriptors(rnn *r, const rnn_case *c);  /* needs no handle unless there is dropout */
void rnn_make(rnn *r, const rnn_case *c);         /* and memory for training: sizes are asked of the library */
void rnn_free(rnn *r);
void rnn_set_data(cudnnRNNDataDescriptor_t d, const rnn_case *c, int vector);
void rnn_set_state(cudnnTensorDescriptor_t d, int type, int layers, int batch, int size);
cudnnTensorDescriptor_t rnn_step(int batch, int vector);  /* one step of a sequence for the older calls, f32 */

cudnnStatus_t rnn_forward(const rnn *r, bool training);
cudnnStatus_t rnn_backward_data(const rnn *r);
cudnnStatus_t rnn_backward_weights(const rnn *r);

double rnn_value(int type, const void *p, size_t i);
void rnn_put(int type, void *p, size_t i, double v);
/* Multiples of 1/16 in -0.5 .. 0.5 from seed and number: the golden file's inputs. */
void *rnn_filled(int type, size_t n, unsigned seed);
void *rnn_level(int type, size_t n, double v);
size_t rnn_steps(const rnn_case *c);              /* vectors that X has */

/* The cases of tests/golden/rnn_9.19.txt. */
extern const rnn_case rnn_cases[];
extern const int rnn_case_count;

#endif
