/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * f16, bf16 and f32 data: sums in f32. */
#define DN_SUM float
#define DN_FWD cuda_conv_view_gemm_f32
#define DN_FILTER cuda_conv_view_gemm_filter_f32
#define DN_REDUCE cuda_conv_view_gemm_reduce_f32
#define DN_DIRECT cuda_conv_view_direct_f32
#include "cuda/conv/view_gemm_body.cuh"
