/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DTYPE DN_T_F32
#define BACKWARD 1
#define KERNEL cuda_dropout_bwd_data_flat_f32
#include "cuda/dropout/dropout_body.cuh"
