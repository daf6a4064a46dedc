/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define X_TYPE DN_T_BF16
#define Y_TYPE DN_T_F16
#define KERNEL cuda_transform_fwd_flat_bf16_f16
#include "cuda/pointwise/blend_body.cuh"
