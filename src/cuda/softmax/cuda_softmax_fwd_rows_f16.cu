/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_F16
#include "cuda/softmax/rows_body.cuh"

KERNEL_FWD(cuda_softmax_fwd_rows_f16_2x1, 2, 1)
KERNEL_FWD(cuda_softmax_fwd_rows_f16_4x1, 4, 1)
KERNEL_FWD(cuda_softmax_fwd_rows_f16_8x1, 8, 1)
KERNEL_FWD(cuda_softmax_fwd_rows_f16_16x1, 16, 1)
KERNEL_FWD(cuda_softmax_fwd_rows_f16_32x1, 32, 1)
KERNEL_FWD(cuda_softmax_fwd_rows_f16_32x2, 32, 2)
KERNEL_FWD(cuda_softmax_fwd_rows_f16_32x4, 32, 4)
KERNEL_FWD(cuda_softmax_fwd_rows_f16_64x4, 64, 4)
KERNEL_FWD(cuda_softmax_fwd_rows_f16_128x4, 128, 4)
KERNEL_FWD(cuda_softmax_fwd_rows_f16_256x4, 256, 4)
KERNEL_FWD(cuda_softmax_fwd_rows_f16_256x8, 256, 8)
KERNEL_FWD(cuda_softmax_fwd_rows_f16_512x8, 512, 8)
KERNEL_FWD(cuda_softmax_fwd_rows_f16_1024x8, 1024, 8)
