/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_F32
#define KERNEL cuda_sba_fwd_nhwc_f32
#include "cuda/fused/sba_nhwc_body.cuh"
