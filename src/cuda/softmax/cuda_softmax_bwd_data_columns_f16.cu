/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_F16
#include "cuda/softmax/columns_body.cuh"

KERNEL(cuda_softmax_bwd_data_columns_f16_8x4, (columns_bwd<8, 4>(&p)))
KERNEL(cuda_softmax_bwd_data_columns_f16_8x8, (columns_bwd<8, 8>(&p)))
KERNEL(cuda_softmax_bwd_data_columns_f16_8x0, (long_columns_bwd<8>(&p)))
KERNEL(cuda_softmax_bwd_data_columns_f16_1x4, (columns_bwd<1, 4>(&p)))
KERNEL(cuda_softmax_bwd_data_columns_f16_1x8, (columns_bwd<1, 8>(&p)))
KERNEL(cuda_softmax_bwd_data_columns_f16_1x0, (long_columns_bwd<1>(&p)))
