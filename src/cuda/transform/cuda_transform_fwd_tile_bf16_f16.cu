/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define IN dn_u16
#define OUT dn_u16
#define WIDEN dn_bf16_to_float
#define NARROW dn_float_to_half
#define KERNEL cuda_transform_fwd_tile_bf16_f16
#include "cuda/transform/cast_body.cuh"
