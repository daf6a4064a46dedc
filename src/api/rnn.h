/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The objects of recurrent networks, and a call being turned into a problem. The first step that fails leaves its status and text, and
 * the later ones do nothing (as in opcall.h). */
#ifndef DN_API_RNN_H
#define DN_API_RNN_H

#include "api.h"
#include "ops/rnn.h"

enum { DN_RNN_NEVER, DN_RNN_SET_V6, DN_RNN_SET_V8 };

/* What _v6 sets lacks the input size and the type of the data: each older call takes them from its tensors. */
typedef struct dn_rnn_desc {
    uint32_t cookie;
    uint32_t set;               /* DN_RNN_SET_... */
    dn_rnn_param p;             /* without layout and dropout, and after _v6 without input; clip as set, for any cell */
    int32_t algo;               /* cudnnRNNAlgo_t: kept and given back; every row gives the same results */
    int32_t type, prec;         /* dn_dtype of the data (after _v8), cudnnDataType_t of the arithmetic */
    int32_t math;               /* cudnnMathType_t that the calls use */
    int32_t math_v8;            /* as cudnnSetRNNDescriptor_v8 got it */
    uint32_t flags;             /* CUDNN_RNN_PADDED_IO_ENABLED */
    int32_t batch, plan_type;   /* that PERSIST_DYNAMIC has a plan for, batch 0 where it has none; other algorithms have no use for it */
    cudnnDropoutDescriptor_t dropout;
} dn_rnn_desc;

typedef struct dn_rnn_data_desc {
    uint32_t cookie;
    uint32_t set;
    int32_t type;               /* dn_dtype */
    int32_t layout;             /* cudnnRNNDataLayout_t */
    int32_t time, batch, vector;
    int32_t even;               /* 1: every length is time */
    int32_t *lengths;           /* batch of them */
    double fill;
} dn_rnn_data_desc;

/* What a persistent plan was made for. */
typedef struct dn_rnn_plan {
    uint32_t cookie;
    uint32_t set;
    int32_t batch, type;
    dn_rnn_param p;
} dn_rnn_plan;

extern dn_pool dn_rnn_pool, dn_rnn_data_pool, dn_rnn_plan_pool;

/* Live and set, by any Set function or by _v8 alone; NULL with the text set. */
const dn_rnn_desc *dn_rnn_of(const cudnnRNNDescriptor_t desc);
const dn_rnn_desc *dn_rnn_v8_of(const cudnnRNNDescriptor_t desc);
const dn_rnn_data_desc *dn_rnn_data_of(const cudnnRNNDataDescriptor_t desc, const char *name);
/* BAD_PARAM unless lclip <= rclip and both modes exist. */
dn_status dn_rnn_clip_set(cudnnRNNDescriptor_t desc, int mode, int nan, double lclip, double rclip);
/* The dn_dtype of a cudnnDataType_t that networks take; NOT_SUPPORTED for another. */
dn_status dn_rnn_type(int type, const char *name, int32_t *out);

/* --- calls --- */

#define DN_RNN_LOCAL 256  /* sequences whose lengths need no allocation */

typedef struct dn_rnn_call {
    dn_handle *h;
    const dn_rnn_desc *d;
    dn_problem p;
    dn_args a;
    dn_status st;
    dn_rnn_reserve reserve;     /* after dn_rnn_call_finish */
    const char *first;          /* name of the sequence that was bound first: the others must be like it */
    int32_t time, batch, even;
    int32_t *own;               /* lengths worked out from an array of tensors, NULL where they fit below */
    int32_t local[DN_RNN_LOCAL];
} dn_rnn_call;

/* v8: the descriptor must have been set by _v8. */
void dn_rnn_call_begin(dn_rnn_call *c, cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, dn_dir dir, bool v8);
/* A sequence and its data; data NULL is refused where needed. The role decides the wanted vector size. */
void dn_rnn_bind_data(dn_rnn_call *c, dn_role role, const cudnnRNNDataDescriptor_t desc, const char *desc_name, const void *data,
                 const char *data_name);
/* The same as an array of tensors, one a step, whose batch sizes do not rise. */
void dn_rnn_bind_steps(dn_rnn_call *c, dn_role role, int steps, const cudnnTensorDescriptor_t *desc, const char *desc_name, const void *data,
                  const char *data_name);
/* A state of hidden (h) or cells (c); NULL data is no state. cell states are left out where the network has none. */
void dn_rnn_bind_state(dn_rnn_call *c, dn_aux aux, const cudnnTensorDescriptor_t desc, const char *desc_name, const void *data);
void dn_rnn_bind_weights(dn_rnn_call *c, size_t size, const char *size_name, const void *data, const char *name);
/* The same described by a filter: all its elements. */
void dn_rnn_bind_filter(dn_rnn_call *c, const cudnnFilterDescriptor_t desc, const char *desc_name, const void *data, const char *name);
void dn_rnn_bind_workspace(dn_rnn_call *c, const void *data, size_t size);
void dn_rnn_bind_reserve(dn_rnn_call *c, const void *data, size_t size, const char *size_name);
/* The problem of that direction for the sequence bound (X or DX), checked; raises *workspace, where given, to what it takes. */
void dn_rnn_call_query(dn_rnn_call *c, dn_dir dir, size_t *workspace);
/* Checks the problem, and its reserve space where the direction has one. */
void dn_rnn_call_finish(dn_rnn_call *c);
cudnnStatus_t dn_rnn_call_run(dn_rnn_call *c);
/* Answers the call's status and gives back what it holds. */
cudnnStatus_t dn_rnn_call_end(dn_rnn_call *c);

#endif
