/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_BF16
#define KIND DN_BN_BWD
#define KERNEL cuda_bn_bwd_group_nchw_bf16
#include "cuda/norm/bn_held_body.cuh"
