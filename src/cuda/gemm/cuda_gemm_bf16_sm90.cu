/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Matrix products of bf16 on the tensor cores of capability 9.0. Turned for the kernel: rows in memory are steps of the sum, as A's are where
 * it lies as [k][m], and B's where it lies as [k][n]. */
#define WGMMA_TYPE "bf16"
#include "cuda/gemm/gemm_wgmma_body.cuh"

PRODUCT(cuda_gemm_bf16_128x128_nn, 2, 128, 0, 1)
PRODUCT(cuda_gemm_bf16_128x128_nt, 2, 128, 0, 0)
PRODUCT(cuda_gemm_bf16_128x128_tn, 2, 128, 1, 1)
PRODUCT(cuda_gemm_bf16_128x128_tt, 2, 128, 1, 0)
PRODUCT(cuda_gemm_bf16_64x128_nn, 1, 128, 0, 1)
PRODUCT(cuda_gemm_bf16_64x128_nt, 1, 128, 0, 0)
PRODUCT(cuda_gemm_bf16_64x128_tn, 1, 128, 1, 1)
PRODUCT(cuda_gemm_bf16_64x128_tt, 1, 128, 1, 0)
PRODUCT(cuda_gemm_bf16_128x64_nn, 2, 64, 0, 1)
PRODUCT(cuda_gemm_bf16_128x64_nt, 2, 64, 0, 0)
PRODUCT(cuda_gemm_bf16_128x64_tn, 2, 64, 1, 1)
PRODUCT(cuda_gemm_bf16_128x64_tt, 2, 64, 1, 0)
RELAY(cuda_gemm_bf16_relay_nn, 0, 1)
RELAY(cuda_gemm_bf16_relay_nt, 0, 0)
RELAY(cuda_gemm_bf16_relay_tn, 1, 1)
RELAY(cuda_gemm_bf16_relay_tt, 1, 0)
