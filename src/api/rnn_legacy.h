/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The arguments of the older calls (rnn_legacy.c) and of the Find functions that time them (rnn_find.c), and the initialisers that gather
 * them: these prototypes name the same things the same way. */
#ifndef DN_API_RNN_LEGACY_H
#define DN_API_RNN_LEGACY_H

#include "rnn.h"

#if DN_ABI == 8

typedef struct dn_rnn_forward {
    cudnnHandle_t handle;
    cudnnRNNDescriptor_t rnn_desc;
    bool ex, training;
    int steps;                                           /* arrays of tensors */
    const cudnnTensorDescriptor_t *x_steps, *y_steps;
    cudnnRNNDataDescriptor_t x_desc, y_desc;             /* ex */
    cudnnTensorDescriptor_t hx_desc, cx_desc, hy_desc, cy_desc;
    cudnnFilterDescriptor_t w_desc;
    const void *x, *y, *hx, *cx, *hy, *cy, *w, *work, *reserve;
    size_t work_size, reserve_size;
} dn_rnn_forward;

typedef struct dn_rnn_backward {
    cudnnHandle_t handle;
    cudnnRNNDescriptor_t rnn_desc;
    bool ex;
    int steps;
    const cudnnTensorDescriptor_t *y_steps, *dy_steps, *dx_steps;
    cudnnRNNDataDescriptor_t y_desc, dy_desc, dx_desc;
    cudnnTensorDescriptor_t dhy_desc, dcy_desc, hx_desc, cx_desc, dhx_desc, dcx_desc;
    cudnnFilterDescriptor_t w_desc;
    const void *y, *dy, *dx, *dhy, *dcy, *hx, *cx, *dhx, *dcx, *w, *work, *reserve;
    size_t work_size, reserve_size;
} dn_rnn_backward;

typedef struct dn_rnn_gradient {
    cudnnHandle_t handle;
    cudnnRNNDescriptor_t rnn_desc;
    bool ex;
    int steps;
    const cudnnTensorDescriptor_t *x_steps, *y_steps;
    cudnnRNNDataDescriptor_t x_desc, y_desc;
    cudnnTensorDescriptor_t hx_desc;
    cudnnFilterDescriptor_t dw_desc;
    const void *x, *y, *hx, *dw, *work, *reserve;
    size_t work_size, reserve_size;
} dn_rnn_gradient;

#define DN_RNN_SEQUENCE .handle = handle, .rnn_desc = rnnDesc
#define DN_RNN_FORWARD_STEPS DN_RNN_SEQUENCE, .steps = seqLength, .x_steps = xDesc, .y_steps = yDesc
#define DN_RNN_FORWARD_DATA DN_RNN_SEQUENCE, .ex = true, .x_desc = xDesc, .y_desc = yDesc
#define DN_RNN_FORWARD_REST .hx_desc = hxDesc, .cx_desc = cxDesc, .hy_desc = hyDesc, .cy_desc = cyDesc, .w_desc = wDesc, .x = x, .y = y, \
    .hx = hx, .cx = cx, .hy = hy, .cy = cy, .w = w, .work = workSpace, .work_size = workSpaceSizeInBytes
#define DN_RNN_TRAINING .training = true, .reserve = reserveSpace, .reserve_size = reserveSpaceSizeInBytes
#define DN_RNN_BACKWARD_STEPS DN_RNN_SEQUENCE, .steps = seqLength, .y_steps = yDesc, .dy_steps = dyDesc, .dx_steps = dxDesc
#define DN_RNN_BACKWARD_DATA DN_RNN_SEQUENCE, .ex = true, .y_desc = yDesc, .dy_desc = dyDesc, .dx_desc = dxDesc
#define DN_RNN_BACKWARD_REST .dhy_desc = dhyDesc, .dcy_desc = dcyDesc, .hx_desc = hxDesc, .cx_desc = cxDesc, .dhx_desc = dhxDesc, \
    .dcx_desc = dcxDesc, .w_desc = wDesc, .y = y, .dy = dy, .dx = dx, .dhy = dhy, .dcy = dcy, .hx = hx, .cx = cx, .dhx = dhx, .dcx = dcx, \
    .w = w, .work = workSpace, .work_size = workSpaceSizeInBytes, .reserve = reserveSpace, .reserve_size = reserveSpaceSizeInBytes
#define DN_RNN_GRADIENT_STEPS DN_RNN_SEQUENCE, .steps = seqLength, .x_steps = xDesc, .y_steps = yDesc
#define DN_RNN_GRADIENT_DATA DN_RNN_SEQUENCE, .ex = true, .x_desc = xDesc, .y_desc = yDesc
#define DN_RNN_GRADIENT_REST .hx_desc = hxDesc, .dw_desc = dwDesc, .x = x, .y = y, .hx = hx, .dw = dw, .work = workSpace, \
    .work_size = workSpaceSizeInBytes, .reserve = reserveSpace, .reserve_size = reserveSpaceSizeInBytes

/* Everything up to the run. */
void dn_rnn_forward_begin(dn_rnn_call *c, const dn_rnn_forward *f);
void dn_rnn_backward_begin(dn_rnn_call *c, const dn_rnn_backward *b);
void dn_rnn_gradient_begin(dn_rnn_call *c, const dn_rnn_gradient *g);

#endif

#endif
