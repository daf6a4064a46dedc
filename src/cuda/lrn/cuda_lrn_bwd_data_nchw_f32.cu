/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_F32
#include "cuda/lrn/nchw_body.cuh"

KERNEL(cuda_lrn_bwd_data_nchw_f32_3x2, (nchw_bwd<2, 3, 4>(&p)))
KERNEL(cuda_lrn_bwd_data_nchw_f32_3x1, (nchw_bwd<1, 3, 8>(&p)))
KERNEL(cuda_lrn_bwd_data_nchw_f32_5x2, (nchw_bwd<2, 5, 4>(&p)))
KERNEL(cuda_lrn_bwd_data_nchw_f32_5x1, (nchw_bwd<1, 5, 8>(&p)))
