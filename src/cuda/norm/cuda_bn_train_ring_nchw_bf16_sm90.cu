/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_BF16
#define KIND DN_BN_TRAIN
#define KERNEL cuda_bn_train_ring_nchw_bf16_sm90
#define KERNEL_ADD cuda_bn_train_ring_nchw_bf16_sm90_add
#include "cuda/norm/bn_ring_body.cuh"
