/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define IN dn_u16
#define OUT float
#define WIDEN dn_half_to_float
#define NARROW (float)
#define KERNEL cuda_transform_fwd_tile_f16_f32
#include "cuda/transform/cast_body.cuh"
