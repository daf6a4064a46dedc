/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define T_F32
#define KIND DN_BN_BWD
#define KERNEL cuda_bn_bwd_ring_nchw_f32_sm90
#include "cuda/norm/bn_ring_body.cuh"
