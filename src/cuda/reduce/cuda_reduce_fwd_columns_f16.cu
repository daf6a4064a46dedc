/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_F16
#include "cuda/reduce/columns_body.cuh"

COLUMNS(cuda_reduce_fwd_columns_f16_sum, SUM, VN)
COLUMNS(cuda_reduce_fwd_columns_f16_sum_1, SUM, 1)
MERGE(cuda_reduce_fwd_columns_f16_sum_merge, SUM)
COLUMNS(cuda_reduce_fwd_columns_f16_squares, SQUARES, VN)
COLUMNS(cuda_reduce_fwd_columns_f16_squares_1, SQUARES, 1)
MERGE(cuda_reduce_fwd_columns_f16_squares_merge, SQUARES)
COLUMNS(cuda_reduce_fwd_columns_f16_max, MAXIMUM, VN)
COLUMNS(cuda_reduce_fwd_columns_f16_max_1, MAXIMUM, 1)
MERGE(cuda_reduce_fwd_columns_f16_max_merge, MAXIMUM)
COLUMNS(cuda_reduce_fwd_columns_f16_maxnan, MAXIMUM_OR_NAN, VN)
COLUMNS(cuda_reduce_fwd_columns_f16_maxnan_1, MAXIMUM_OR_NAN, 1)
MERGE(cuda_reduce_fwd_columns_f16_maxnan_merge, MAXIMUM_OR_NAN)
