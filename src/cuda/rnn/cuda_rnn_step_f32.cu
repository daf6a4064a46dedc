/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The cells of recurrent networks of f32, computed in f32. */
#define DTYPE DN_T_F32
#define STEP cuda_rnn_step_f32
#define PROJECT cuda_rnn_project_f32
#define BACK cuda_rnn_back_f32
#define BACK_PROJECT cuda_rnn_back_project_f32
#define PREVIOUS cuda_rnn_previous_f32
#define CELLS cuda_rnn_cells_f32
#include "cuda/rnn/step_body.cuh"
