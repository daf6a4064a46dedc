/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_BF16
#define KERNEL cuda_stats_fwd_nhwc_bf16
#define KERNEL_FINAL cuda_stats_fwd_nhwc_bf16_final
#include "cuda/fused/stats_nhwc_body.cuh"
