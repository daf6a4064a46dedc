/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DTYPE DN_T_F16
#define KERNEL cuda_add_fwd_repeat_f16
#define ADD_ALONE 1
#include "cuda/pointwise/tensor_op_body.cuh"
