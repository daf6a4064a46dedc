/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Functions of the cells where data have 16 bits: right to about 2e-7, and near 0 to as much of the value. */
#ifndef DN_CUDA_RNN_SHORT_MATH_CUH
#define DN_CUDA_RNN_SHORT_MATH_CUH

#include "cuda/common.cuh"

DN_FN float dn_exp_short(float x)
{
    return __expf(x);
}

DN_FN float dn_tanh_short(float x)
{
    float far = 1 - __fdividef(2, 1 + __expf(2 * x)), near = x - x * x * x * (1.0f / 3);
    return fabsf(x) < 0.02f ? near : far;
}

#endif
