/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Around the products of recurrent networks of bf16, four values at a time. */
#define DTYPE DN_T_BF16
#define MOVE cuda_rnn_move_bf16
#define SKIP_FORWARD cuda_rnn_skip_forward_bf16
#define SKIP_BACKWARD cuda_rnn_skip_backward_bf16
#define PREVIOUS cuda_rnn_previous_wide_bf16
#define SUMS cuda_rnn_sums_bf16
#include "cuda/rnn/rows_body.cuh"
