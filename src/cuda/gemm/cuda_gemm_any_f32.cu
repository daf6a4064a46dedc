/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Matrix products with sums in f32. */
#define DN_SUM float
#define KERNEL cuda_gemm_any_f32
#define REDUCE cuda_gemm_reduce_f32
#include "cuda/gemm/gemm_any_body.cuh"
