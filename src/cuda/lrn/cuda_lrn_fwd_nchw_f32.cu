/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_F32
#include "cuda/lrn/nchw_body.cuh"

KERNEL(cuda_lrn_fwd_nchw_f32_3x4, (nchw_fwd<4, 3, 4>(&p)))
KERNEL(cuda_lrn_fwd_nchw_f32_3x1, (nchw_fwd<1, 3, 8>(&p)))
KERNEL(cuda_lrn_fwd_nchw_f32_5x4, (nchw_fwd<4, 5, 4>(&p)))
KERNEL(cuda_lrn_fwd_nchw_f32_5x1, (nchw_fwd<1, 5, 8>(&p)))
