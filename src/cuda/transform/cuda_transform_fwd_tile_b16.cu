/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define SIZE 2
#define ELEMENT dn_u16
#define KERNEL cuda_transform_fwd_tile_b16
#include "cuda/transform/tile_body.cuh"
