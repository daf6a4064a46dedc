/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Steps of recurrent networks of bf16, each in one launch. */
#define DTYPE DN_T_BF16
#define KERNEL cuda_rnn_fused_bf16
#include "cuda/rnn/fused_body.cuh"
