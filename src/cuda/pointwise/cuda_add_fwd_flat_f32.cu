/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define X_TYPE DN_T_F32
#define Y_TYPE DN_T_F32
#define KERNEL cuda_add_fwd_flat_f32
#include "cuda/pointwise/blend_body.cuh"
