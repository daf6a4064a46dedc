/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The cells (cell.cuh) of data of type DTYPE (DN_T_...), computed in f32. */
#include "cuda/flat.cuh"
#include "cuda/rnn/kernels.h"
#include "cuda/rnn/short_math.cuh"

#define REAL float
#define EXP(x) (DTYPE == DN_T_F32 ? expf(x) : dn_exp_short(x))
#define TANH(x) (DTYPE == DN_T_F32 ? tanhf(x) : dn_tanh_short(x))
#define data_get(p, base, i) dn_one_load<DTYPE>(base, i)
#define data_put(p, base, i, v) dn_one_store<DTYPE>(base, i, v)
#define sum_get(p, base, i) (((const float *)(base))[i])
#define sum_put(p, base, i, v) (((float *)(base))[i] = (v))
#include "cuda/rnn/cell.cuh"
