/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Objects that the rows of documented misuse work on. Statuses were read from the vendor's 8.9.7 and 9.19 (descriptors, without a
 * GPU), whose answers are the same but where a row says DN_ABI, and from 9.14 on a GPU (the calls). Rows inside if (api_ours)
 * make the vendor's library crash, or read freed memory. */
#ifndef MISUSE_H
#define MISUSE_H

#include "api_lib.h"

#include <limits.h>
#include <stdlib.h>

#define NCHW CUDNN_TENSOR_NCHW
#define NHWC CUDNN_TENSOR_NHWC
#define VECT CUDNN_TENSOR_NCHW_VECT_C
#define F32 CUDNN_DATA_FLOAT
#define F64 CUDNN_DATA_DOUBLE
#define F16 CUDNN_DATA_HALF
#define I8 CUDNN_DATA_INT8
#define I8X4 CUDNN_DATA_INT8x4

typedef struct objects {
    cudnnTensorDescriptor_t x;                 /* 2x4x5x5 float, NCHW */
    cudnnTensorDescriptor_t y;                 /* 2x6x3x3, what conv makes of x and w */
    cudnnTensorDescriptor_t x16, x64, x5d;     /* x's dims as half and double; 2x4x5x5x5 */
    cudnnTensorDescriptor_t bias;              /* 1x6x1x1 */
    cudnnTensorDescriptor_t chan;              /* 1x4x1x1: batch norm parameters of x */
    cudnnTensorDescriptor_t never, dead, t;    /* not set, destroyed, free for a row's own use */
    cudnnFilterDescriptor_t w;                 /* 6x4x3x3 */
    cudnnFilterDescriptor_t w_never, w_dead, wt;
    cudnnConvolutionDescriptor_t conv;         /* pad 0, stride 1, cross-correlation, float */
    cudnnConvolutionDescriptor_t conv_never, conv_dead, convt;
    cudnnPoolingDescriptor_t pool;             /* max 2x2, stride 2 */
    cudnnPoolingDescriptor_t pool_never, pool_dead, poolt;
    cudnnTensorDescriptor_t pooled;            /* 2x4x2x2 */
    cudnnActivationDescriptor_t act;           /* ReLU */
    cudnnActivationDescriptor_t act_never, act_dead, actt;
    cudnnDropoutDescriptor_t drop, drop_never, drop_dead;
    cudnnTensorTransformDescriptor_t trans, trans_never, trans_dead;
    float one, zero;
} objects;

void objects_make(objects *o);
void objects_free(objects *o);

/* The tests, by file. */
void misuse_handle(void **state);
void misuse_tensor_set(void **state);
void misuse_tensor_get(void **state);
void misuse_filter(void **state);
void misuse_transform_desc(void **state);
void misuse_dead_and_wrong(void **state);
void misuse_conv_desc(void **state);
void misuse_conv_dims(void **state);
void misuse_conv_fwd(void **state);
void misuse_conv_bwd(void **state);
void misuse_conv_bias_act(void **state);
void misuse_conv_queries(void **state);
void misuse_pool_desc(void **state);
void misuse_pool(void **state);
void misuse_act(void **state);
void misuse_softmax(void **state);
void misuse_batchnorm(void **state);
void misuse_dropout(void **state);
void misuse_pointwise(void **state);
void misuse_op_tensor(void **state);
void misuse_reduce(void **state);
void misuse_transform_ex(void **state);
void misuse_im2col(void **state);
void misuse_lrn(void **state);
void misuse_batchnorm_ex(void **state);
void misuse_normalization(void **state);
void misuse_spatial(void **state);
void misuse_rnn(void **state);
void misuse_rnn_older(void **state);
void misuse_ctc(void **state);
void misuse_algorithm(void **state);
void misuse_attn_desc(void **state);
void misuse_attn_calls(void **state);
void misuse_fused_packs(void **state);
void misuse_fused_plans(void **state);

#endif
