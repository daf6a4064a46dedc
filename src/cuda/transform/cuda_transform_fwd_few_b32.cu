/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define SIZE 4
#define KERNEL cuda_transform_fwd_few_b32
#include "cuda/transform/few_body.cuh"
