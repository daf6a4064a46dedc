/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_BF16
#define KERNEL_BWD cuda_sba_bwd_data_nhwc_bf16
#include "cuda/fused/sba_nhwc_body.cuh"
