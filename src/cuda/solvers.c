/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The cuda engine's rows. */
#include "cuda/rows.h"

const dn_rows *const dn_cuda_tables[] = { &dn_cuda_conv_bias, &dn_cuda_conv_view, &dn_cuda_act, &dn_cuda_pool, &dn_cuda_bn, &dn_cuda_transpose, &dn_cuda_pointwise, &dn_cuda_pointwise_naive, &dn_cuda_dropout, &dn_cuda_transform_ex, &dn_cuda_im2col, &dn_cuda_softmax, &dn_cuda_reduce, &dn_cuda_lrn, &dn_cuda_divnorm, &dn_cuda_spatial, &dn_cuda_fused, &dn_cuda_ctc, &dn_cuda_attn, &dn_cuda_rnn_cluster, &dn_cuda_rnn_grid, &dn_cuda_rnn, NULL };
