/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_F32
#define KERNEL cuda_stats_fwd_nhwc_f32
#define KERNEL_FINAL cuda_stats_fwd_nhwc_f32_final
#include "cuda/fused/stats_nhwc_body.cuh"
