/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Steps of recurrent networks of f16, each in one launch. */
#define DTYPE DN_T_F16
#define KERNEL cuda_rnn_fused_f16
#include "cuda/rnn/fused_body.cuh"
