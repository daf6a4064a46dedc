/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_F32
#define KERNEL cuda_pool_fwd_nhwc_f32
#define KERNEL_MAX cuda_pool_fwd_nhwc_f32_max
#define KERNEL_WHOLE cuda_pool_fwd_nhwc_f32_whole
#include "cuda/pool/pool_fwd_body.cuh"
