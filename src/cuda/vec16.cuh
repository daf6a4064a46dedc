/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Vectors of 16 bytes of one type, which the including file names: T_F32, T_F16 or T_BF16. They are computed on as floats. */
#ifndef DN_CUDA_VEC16_CUH
#define DN_CUDA_VEC16_CUH

#include "cuda/flat.cuh"

#if defined(T_F32)
typedef float dn_t;
enum { DN_T = DN_T_F32, DN_VN = 4 };
#elif defined(T_F16)
typedef dn_u16 dn_t;
enum { DN_T = DN_T_F16, DN_VN = 8 };
#elif defined(T_BF16)
typedef dn_u16 dn_t;
enum { DN_T = DN_T_BF16, DN_VN = 8 };
#else
#error "define T_F32, T_F16 or T_BF16"
#endif

DN_FN float dn_t_get(dn_t v)
{
    return dn_one_load<DN_T>(&v, 0);
}

DN_FN void dn_t_put(dn_t *at, float f)
{
    dn_one_store<DN_T>(at, 0, f);
}

DN_FN void dn_vec_get(uint4 u, float *f)
{
    dn_unpack<DN_T, DN_VN>(u, f);
}

DN_FN uint4 dn_vec_put(const float *f)
{
    return dn_pack<DN_T, DN_VN>(f);
}

/* A read of what is wanted again soon, and one of what is not. */
DN_FN uint4 dn_vec_keep(const dn_t *at)
{
    return *(const uint4 *)at;
}

DN_FN uint4 dn_vec_last(const dn_t *at)
{
    return __ldcs((const uint4 *)at);
}

DN_FN void dn_vec_out(dn_t *at, const float *f)
{
    __stcs((uint4 *)at, dn_vec_put(f));
}

DN_FN float dn_warp_sum(float v)
{
#pragma unroll
    for (int o = 16; o; o >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, o);
    return v;
}

#endif
