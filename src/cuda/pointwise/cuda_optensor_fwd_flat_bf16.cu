/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DTYPE DN_T_BF16
#define KERNEL cuda_optensor_fwd_flat_bf16
#include "cuda/pointwise/tensor_op_body.cuh"
