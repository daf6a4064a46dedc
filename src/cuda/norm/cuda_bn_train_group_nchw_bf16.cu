/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_BF16
#define KIND DN_BN_TRAIN
#define KERNEL cuda_bn_train_group_nchw_bf16
#define KERNEL_ADD cuda_bn_train_group_nchw_bf16_add
#include "cuda/norm/bn_held_body.cuh"
