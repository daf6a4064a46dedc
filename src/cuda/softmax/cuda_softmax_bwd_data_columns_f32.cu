/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_F32
#include "cuda/softmax/columns_body.cuh"

KERNEL(cuda_softmax_bwd_data_columns_f32_4x4, (columns_bwd<4, 4>(&p)))
KERNEL(cuda_softmax_bwd_data_columns_f32_4x8, (columns_bwd<4, 8>(&p)))
KERNEL(cuda_softmax_bwd_data_columns_f32_4x0, (long_columns_bwd<4>(&p)))
KERNEL(cuda_softmax_bwd_data_columns_f32_1x4, (columns_bwd<1, 4>(&p)))
KERNEL(cuda_softmax_bwd_data_columns_f32_1x8, (columns_bwd<1, 8>(&p)))
KERNEL(cuda_softmax_bwd_data_columns_f32_1x0, (long_columns_bwd<1>(&p)))
