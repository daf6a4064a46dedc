/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_F32
#define KIND DN_BN_INFER
#define KERNEL cuda_bn_infer_nchw_f32
#define KERNEL_ADD cuda_bn_infer_nchw_f32_add
#include "cuda/norm/bn_nchw_body.cuh"
