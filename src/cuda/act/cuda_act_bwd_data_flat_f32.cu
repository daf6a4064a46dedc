/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DTYPE DN_T_F32
#define KERNEL cuda_act_bwd_data_flat_f32
#include "cuda/act/act_bwd_data_body.cuh"
