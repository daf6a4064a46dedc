/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_F16
#include "cuda/lrn/nhwc_body.cuh"

KERNEL(cuda_lrn_fwd_nhwc_f16_3, nhwc_fwd<3>(&p))
KERNEL(cuda_lrn_fwd_nhwc_f16_5, nhwc_fwd<5>(&p))
