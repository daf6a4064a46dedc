/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define X_TYPE DN_T_F32
#define Y_TYPE DN_T_F16
#define KERNEL cuda_transform_fwd_flat_f32_f16
#include "cuda/pointwise/blend_body.cuh"
