/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The cells of recurrent networks of bf16, computed in f32. */
#define DTYPE DN_T_BF16
#define STEP cuda_rnn_step_bf16
#define PROJECT cuda_rnn_project_bf16
#define BACK cuda_rnn_back_bf16
#define BACK_PROJECT cuda_rnn_back_project_bf16
#define PREVIOUS cuda_rnn_previous_bf16
#define CELLS cuda_rnn_cells_bf16
#include "cuda/rnn/step_body.cuh"
