/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define DTYPE DN_T_BF16
#define BACKWARD 0
#define KERNEL cuda_dropout_fwd_flat_bf16
#include "cuda/dropout/dropout_body.cuh"
