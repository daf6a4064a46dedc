/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define RNN_LSTM
#define RNN_F16
#include "cuda/rnn/persist_bwd_body.cuh"

RNN_KERNEL(cuda_rnn_lstm_cluster_bwd_f16_1x1, 1, 1)
RNN_KERNEL(cuda_rnn_lstm_cluster_bwd_f16_2x1, 2, 1)
RNN_KERNEL(cuda_rnn_lstm_cluster_bwd_f16_2x2, 2, 2)
