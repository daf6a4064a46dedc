/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define RNN_PLAIN
#define RNN_BF16
#define RNN_GRID
#include "cuda/rnn/persist_fwd_body.cuh"

RNN_KERNEL(cuda_rnn_plain_grid_fwd_bf16_2x1, 2, 1)
RNN_KERNEL(cuda_rnn_plain_grid_fwd_bf16_4x1, 4, 1)
RNN_KERNEL(cuda_rnn_plain_grid_fwd_bf16_8x1, 8, 1)
RNN_KERNEL(cuda_rnn_plain_grid_fwd_bf16_2x2, 2, 2)
RNN_KERNEL(cuda_rnn_plain_grid_fwd_bf16_4x2, 4, 2)
RNN_KERNEL(cuda_rnn_plain_grid_fwd_bf16_2x3, 2, 3)
RNN_KERNEL(cuda_rnn_plain_grid_fwd_bf16_4x3, 4, 3)
