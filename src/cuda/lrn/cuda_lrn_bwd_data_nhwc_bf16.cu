/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_BF16
#include "cuda/lrn/nhwc_body.cuh"

KERNEL(cuda_lrn_bwd_data_nhwc_bf16_3, nhwc_bwd<3>(&p))
KERNEL(cuda_lrn_bwd_data_nhwc_bf16_5, nhwc_bwd<5>(&p))
