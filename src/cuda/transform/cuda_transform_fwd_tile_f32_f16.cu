/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define IN float
#define OUT dn_u16
#define WIDEN (float)
#define NARROW dn_float_to_half
#define KERNEL cuda_transform_fwd_tile_f32_f16
#include "cuda/transform/cast_body.cuh"
