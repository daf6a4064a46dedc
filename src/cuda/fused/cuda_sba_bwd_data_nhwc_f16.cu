/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_F16
#define KERNEL_BWD cuda_sba_bwd_data_nhwc_f16
#include "cuda/fused/sba_nhwc_body.cuh"
