/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define RNN_GRU
#define RNN_BF16
#include "cuda/rnn/persist_bwd_body.cuh"

RNN_KERNEL(cuda_rnn_gru_cluster_bwd_bf16_1x1, 1, 1)
RNN_KERNEL(cuda_rnn_gru_cluster_bwd_bf16_2x1, 2, 1)
RNN_KERNEL(cuda_rnn_gru_cluster_bwd_bf16_2x2, 2, 2)
