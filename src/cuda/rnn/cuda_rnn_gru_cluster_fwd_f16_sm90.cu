/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define RNN_GRU
#define RNN_F16
#include "cuda/rnn/persist_fwd_body.cuh"

RNN_KERNEL(cuda_rnn_gru_cluster_fwd_f16_1x1, 1, 1)
RNN_KERNEL(cuda_rnn_gru_cluster_fwd_f16_2x1, 2, 1)
RNN_KERNEL(cuda_rnn_gru_cluster_fwd_f16_4x1, 4, 1)
RNN_KERNEL(cuda_rnn_gru_cluster_fwd_f16_1x2, 1, 2)
RNN_KERNEL(cuda_rnn_gru_cluster_fwd_f16_2x2, 2, 2)
RNN_KERNEL(cuda_rnn_gru_cluster_fwd_f16_4x2, 4, 2)
