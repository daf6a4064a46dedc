/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_F32
#include "cuda/softmax/rows_body.cuh"

KERNEL_BWD(cuda_softmax_bwd_data_rows_f32_2x1, 2, 1)
KERNEL_BWD(cuda_softmax_bwd_data_rows_f32_4x1, 4, 1)
KERNEL_BWD(cuda_softmax_bwd_data_rows_f32_8x1, 8, 1)
KERNEL_BWD(cuda_softmax_bwd_data_rows_f32_16x1, 16, 1)
KERNEL_BWD(cuda_softmax_bwd_data_rows_f32_32x1, 32, 1)
KERNEL_BWD(cuda_softmax_bwd_data_rows_f32_32x2, 32, 2)
KERNEL_BWD(cuda_softmax_bwd_data_rows_f32_32x4, 32, 4)
KERNEL_BWD(cuda_softmax_bwd_data_rows_f32_64x4, 64, 4)
KERNEL_BWD(cuda_softmax_bwd_data_rows_f32_128x4, 128, 4)
KERNEL_BWD(cuda_softmax_bwd_data_rows_f32_256x4, 256, 4)
KERNEL_BWD(cuda_softmax_bwd_data_rows_f32_256x8, 256, 8)
KERNEL_BWD(cuda_softmax_bwd_data_rows_f32_1024x4, 1024, 4)
