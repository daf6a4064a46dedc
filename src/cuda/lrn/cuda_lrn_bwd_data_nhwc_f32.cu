/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_F32
#include "cuda/lrn/nhwc_body.cuh"

KERNEL(cuda_lrn_bwd_data_nhwc_f32_3, nhwc_bwd<3>(&p))
KERNEL(cuda_lrn_bwd_data_nhwc_f32_5, nhwc_bwd<5>(&p))
