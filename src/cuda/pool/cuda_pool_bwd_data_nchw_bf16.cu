/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_BF16
#define ONE
#define KERNEL cuda_pool_bwd_data_nchw_bf16
#define KERNEL_LINE cuda_pool_bwd_data_nchw_bf16_line
#define KERNEL_WINNER cuda_pool_bwd_data_nchw_bf16_winner
#include "cuda/pool/pool_bwd_body.cuh"
