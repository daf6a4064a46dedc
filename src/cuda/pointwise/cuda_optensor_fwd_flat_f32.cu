/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DTYPE DN_T_F32
#define KERNEL cuda_optensor_fwd_flat_f32
#include "cuda/pointwise/tensor_op_body.cuh"
