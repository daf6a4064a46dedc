/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_F32
#define BACKWARD 0
#define WHOLE cuda_softmax_fwd_long_f32_whole
#define PART cuda_softmax_fwd_long_f32_part
#define WRITE cuda_softmax_fwd_long_f32_write
#include "cuda/softmax/long_body.cuh"
