/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The operations of two tensors on one pair of values: the formulas and corners of ref/tensor_op.c. */
#ifndef DN_CUDA_POINTWISE_TENSOR_OP_CUH
#define DN_CUDA_POINTWISE_TENSOR_OP_CUH

/* dn_tensor_op_param */
enum { DN_OP2_ADD, DN_OP2_MUL, DN_OP2_MIN, DN_OP2_MAX, DN_OP2_SQRT, DN_OP2_NOT };

/* MIN and MAX. Where NaN does not go through, a NaN loses to a number; where it does, it wins. */
template <typename T> static __device__ __forceinline__ T dn_pick(bool less, bool nan, T a, T b)
{
    bool none = a != a || b != b;
    bool take = none ? (nan ? b != b : a != a) : less ? b < a : b > a;
    return take ? b : a;
}

template <typename T> static __device__ __forceinline__ T dn_tensor_op(int op, bool nan, T a, T b)
{
    switch (op) {
    case DN_OP2_ADD: return a + b;
    case DN_OP2_MUL: return a * b;
    case DN_OP2_MIN: return dn_pick(true, nan, a, b);
    case DN_OP2_MAX: return dn_pick(false, nan, a, b);
    case DN_OP2_SQRT: return sqrt(a);
    default: return 1 - a;
    }
}

#endif
