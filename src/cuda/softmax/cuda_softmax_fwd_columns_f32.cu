/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_F32
#include "cuda/softmax/columns_body.cuh"

KERNEL(cuda_softmax_fwd_columns_f32_4x8, (columns_fwd<4, 8>(&p)))
KERNEL(cuda_softmax_fwd_columns_f32_4x20, (columns_fwd<4, 20>(&p)))
KERNEL(cuda_softmax_fwd_columns_f32_4x0, (long_columns_fwd<4>(&p)))
KERNEL(cuda_softmax_fwd_columns_f32_1x8, (columns_fwd<1, 8>(&p)))
KERNEL(cuda_softmax_fwd_columns_f32_1x20, (columns_fwd<1, 20>(&p)))
KERNEL(cuda_softmax_fwd_columns_f32_1x0, (long_columns_fwd<1>(&p)))
