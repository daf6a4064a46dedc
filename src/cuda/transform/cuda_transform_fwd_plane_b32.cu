/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define SIZE 4
#define ELEMENT dn_u32
#define KERNEL cuda_transform_fwd_plane_b32
#include "cuda/transform/plane_body.cuh"
