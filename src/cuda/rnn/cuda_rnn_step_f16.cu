/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The cells of recurrent networks of f16, computed in f32. */
#define DTYPE DN_T_F16
#define STEP cuda_rnn_step_f16
#define PROJECT cuda_rnn_project_f16
#define BACK cuda_rnn_back_f16
#define BACK_PROJECT cuda_rnn_back_project_f16
#define PREVIOUS cuda_rnn_previous_f16
#define CELLS cuda_rnn_cells_f16
#include "cuda/rnn/step_body.cuh"
