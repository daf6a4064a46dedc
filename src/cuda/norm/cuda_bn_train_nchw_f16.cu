/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_F16
#define KIND DN_BN_TRAIN
#define KERNEL cuda_bn_train_nchw_f16
#define KERNEL_ADD cuda_bn_train_nchw_f16_add
#define KERNEL_STAT cuda_bn_train_nchw_f16_stat
#define KERNEL_STAT_ODD cuda_bn_train_nchw_f16_stat_odd
#define KERNEL_FINAL cuda_bn_train_nchw_f16_final
#include "cuda/norm/bn_nchw_body.cuh"
