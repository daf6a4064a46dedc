/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_F16
#define KERNEL cuda_pool_fwd_nhwc_f16
#define KERNEL_MAX cuda_pool_fwd_nhwc_f16_max
#define KERNEL_WHOLE cuda_pool_fwd_nhwc_f16_whole
#include "cuda/pool/pool_fwd_body.cuh"
