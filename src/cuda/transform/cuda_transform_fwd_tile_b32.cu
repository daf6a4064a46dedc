/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define SIZE 4
#define ELEMENT dn_u32
#define KERNEL cuda_transform_fwd_tile_b32
#include "cuda/transform/tile_body.cuh"
