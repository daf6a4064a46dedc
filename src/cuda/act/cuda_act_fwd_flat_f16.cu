/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DTYPE DN_T_F16
#define KERNEL cuda_act_fwd_flat_f16
#include "cuda/act/act_fwd_body.cuh"
