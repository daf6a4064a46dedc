/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_BF16
#define BACKWARD 0
#define WHOLE cuda_softmax_fwd_long_bf16_whole
#define PART cuda_softmax_fwd_long_bf16_part
#define WRITE cuda_softmax_fwd_long_bf16_write
#include "cuda/softmax/long_body.cuh"
