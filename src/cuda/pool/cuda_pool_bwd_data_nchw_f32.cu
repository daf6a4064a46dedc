/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_F32
#define ONE
#define KERNEL cuda_pool_bwd_data_nchw_f32
#define KERNEL_LINE cuda_pool_bwd_data_nchw_f32_line
#define KERNEL_WINNER cuda_pool_bwd_data_nchw_f32_winner
#include "cuda/pool/pool_bwd_body.cuh"
