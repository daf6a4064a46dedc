/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DTYPE DN_T_BF16
#define KERNEL cuda_act_bwd_data_flat_bf16
#include "cuda/act/act_bwd_data_body.cuh"
