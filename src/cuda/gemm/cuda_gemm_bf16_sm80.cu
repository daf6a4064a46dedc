/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Matrix products of bf16 on tensor cores. */
#define DTYPE DN_T_BF16
#define K128_NN cuda_gemm_bf16_128_nn
#define K128_NT cuda_gemm_bf16_128_nt
#define K128_TN cuda_gemm_bf16_128_tn
#define K128_TT cuda_gemm_bf16_128_tt
#define K64_NN cuda_gemm_bf16_64_nn
#define K64_NT cuda_gemm_bf16_64_nt
#define K64_TN cuda_gemm_bf16_64_tn
#define K64_TT cuda_gemm_bf16_64_tt
#include "cuda/gemm/gemm_mma_body.cuh"
