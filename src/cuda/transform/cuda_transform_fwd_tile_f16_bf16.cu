/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define IN dn_u16
#define OUT dn_u16
#define WIDEN dn_half_to_float
#define NARROW dn_float_to_bf16
#define KERNEL cuda_transform_fwd_tile_f16_bf16
#include "cuda/transform/cast_body.cuh"
