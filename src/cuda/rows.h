/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * One table per operation, put together in solvers.c; within one, fastest first and the naive row last. */
#ifndef DN_CUDA_ROWS_H
#define DN_CUDA_ROWS_H

#include "cuda/cuda.h"

extern const dn_rows dn_cuda_conv_bias, dn_cuda_conv_view;
extern const dn_rows dn_cuda_act;
extern const dn_rows dn_cuda_pool, dn_cuda_bn;
extern const dn_rows dn_cuda_pointwise, dn_cuda_transpose, dn_cuda_pointwise_naive, dn_cuda_dropout, dn_cuda_transform_ex, dn_cuda_im2col;
extern const dn_rows dn_cuda_softmax, dn_cuda_reduce, dn_cuda_lrn, dn_cuda_divnorm, dn_cuda_spatial;
extern const dn_rows dn_cuda_fused;
extern const dn_rows dn_cuda_ctc;
extern const dn_rows dn_cuda_attn;
extern const dn_rows dn_cuda_rnn_cluster, dn_cuda_rnn_grid, dn_cuda_rnn;

#endif
