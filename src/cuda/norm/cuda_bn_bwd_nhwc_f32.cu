/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_F32
#define KIND DN_BN_BWD
#define KERNEL cuda_bn_bwd_nhwc_f32
#define KERNEL_STAT cuda_bn_bwd_nhwc_f32_stat
#define KERNEL_FINAL cuda_bn_bwd_nhwc_f32_final
#include "cuda/norm/bn_nhwc_body.cuh"
