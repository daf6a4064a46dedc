/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Around the products of recurrent networks of f32, four values at a time. */
#define DTYPE DN_T_F32
#define MOVE cuda_rnn_move_f32
#define SKIP_FORWARD cuda_rnn_skip_forward_f32
#define SKIP_BACKWARD cuda_rnn_skip_backward_f32
#define PREVIOUS cuda_rnn_previous_wide_f32
#define SUMS cuda_rnn_sums_f32
#include "cuda/rnn/rows_body.cuh"
