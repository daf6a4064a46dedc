/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define SIZE 2
#define KERNEL cuda_transform_fwd_few_b16
#include "cuda/transform/few_body.cuh"
