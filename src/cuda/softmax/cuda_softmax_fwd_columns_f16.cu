/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_F16
#include "cuda/softmax/columns_body.cuh"

KERNEL(cuda_softmax_fwd_columns_f16_8x8, (columns_fwd<8, 8>(&p)))
KERNEL(cuda_softmax_fwd_columns_f16_8x20, (columns_fwd<8, 20>(&p)))
KERNEL(cuda_softmax_fwd_columns_f16_8x0, (long_columns_fwd<8>(&p)))
KERNEL(cuda_softmax_fwd_columns_f16_1x8, (columns_fwd<1, 8>(&p)))
KERNEL(cuda_softmax_fwd_columns_f16_1x20, (columns_fwd<1, 20>(&p)))
KERNEL(cuda_softmax_fwd_columns_f16_1x0, (long_columns_fwd<1>(&p)))
