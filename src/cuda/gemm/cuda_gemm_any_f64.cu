/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Matrix products with sums in f64. */
#define DN_SUM double
#define KERNEL cuda_gemm_any_f64
#define REDUCE cuda_gemm_reduce_f64
#include "cuda/gemm/gemm_any_body.cuh"
