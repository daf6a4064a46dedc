/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DN_TYPE DN_T_F16
#include "cuda/reduce/lines_body.cuh"

LINES(cuda_reduce_fwd_lines_f16_sum, SUM)
MERGE(cuda_reduce_fwd_lines_f16_sum_merge, SUM)
LINES(cuda_reduce_fwd_lines_f16_squares, SQUARES)
MERGE(cuda_reduce_fwd_lines_f16_squares_merge, SQUARES)
LINES(cuda_reduce_fwd_lines_f16_max, MAXIMUM)
MERGE(cuda_reduce_fwd_lines_f16_max_merge, MAXIMUM)
LINES(cuda_reduce_fwd_lines_f16_maxnan, MAXIMUM_OR_NAN)
MERGE(cuda_reduce_fwd_lines_f16_maxnan_merge, MAXIMUM_OR_NAN)
