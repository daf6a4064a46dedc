/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the transposing kernels share. BYTES: bytes of an element, 2 or 4. */
#ifndef DN_CUDA_TRANSFORM_TRANSPOSE_CUH
#define DN_CUDA_TRANSFORM_TRANSPOSE_CUH

#include "cuda/flat.cuh"
#include "cuda/transform/transpose.h"

/* An element of the vectors as bits. */
template <int BYTES> DN_FN dn_u32 dn_vec_get(const uint4 *v, int i)
{
    const dn_u32 *w = (const dn_u32 *)v;
    return BYTES == 4 ? w[i] : w[i / 2] >> (i % 2 * 16) & 0xffff;
}

template <int BYTES> DN_FN void dn_vec_put(uint4 *v, int i, dn_u32 bits)
{
    dn_u32 *w = (dn_u32 *)v;
    if (BYTES == 4)
        w[i] = bits;
    else
        w[i / 2] = i % 2 ? (w[i / 2] & 0xffff) | bits << 16 : bits;  /* elements are put in order: the low half clears the word */
}

/* alpha 1 moves bits. */
template <int T, int N> DN_FN uint4 dn_scaled_as(uint4 v, float alpha)
{
    float f[N];
    dn_unpack<T, N>(v, f);
#pragma unroll
    for (int k = 0; k < N; k++)
        f[k] *= alpha;
    return dn_pack<T, N>(f);
}

template <int BYTES> DN_FN uint4 dn_scaled(const dn_transpose *p, uint4 v)
{
    if (p->alpha == 1)
        return v;
    if (BYTES == 4)
        return dn_scaled_as<DN_T_F32, 4>(v, p->alpha);
    return p->type == DN_T_F16 ? dn_scaled_as<DN_T_F16, 8>(v, p->alpha) : dn_scaled_as<DN_T_BF16, 8>(v, p->alpha);
}

template <int BYTES> DN_FN dn_u32 dn_scaled_one(const dn_transpose *p, dn_u32 bits)
{
    if (p->alpha == 1)
        return bits;
    if (BYTES == 4)
        return __float_as_uint(__uint_as_float(bits) * p->alpha);
    return p->type == DN_T_F16 ? dn_float_to_half(dn_half_to_float((dn_u16)bits) * p->alpha)
                               : dn_float_to_bf16(dn_bf16_to_float((dn_u16)bits) * p->alpha);
}

#endif
