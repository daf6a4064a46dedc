/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the tuned kernels of local response normalisation share, in float. DN_TYPE: DN_T_F32, DN_T_F16 or DN_T_BF16 */
#ifndef DN_CUDA_LRN_PACKED_CUH
#define DN_CUDA_LRN_PACKED_CUH

#include "cuda/flat.cuh"
#include "cuda/lrn/lrn.h"

#define VN (16 / DN_VEC_SIZE(DN_TYPE))

/* N elements side by side, as floats. */
template <int N> struct vector_of {
    static __device__ __forceinline__ void load(const void *base, dn_s64 at, float *f)
    {
        dn_unpack<DN_TYPE, N>(*(const DN_VEC(DN_TYPE, N) *)((const char *)base + at * DN_VEC_SIZE(DN_TYPE)), f);
    }
    static __device__ __forceinline__ void store(void *base, dn_s64 at, const float *f)
    {
        dn_vec_store<DN_TYPE, N>(base, at, dn_pack<DN_TYPE, N>(f));
    }
};
template <> struct vector_of<1> {
    static __device__ __forceinline__ void load(const void *base, dn_s64 at, float *f)
    {
        f[0] = dn_one_load<DN_TYPE>(base, at);
    }
    static __device__ __forceinline__ void store(void *base, dn_s64 at, const float *f)
    {
        dn_one_store<DN_TYPE>(base, at, f[0]);
    }
};

/* s to the power of -beta; 3/4 and 1/2, which nearly all networks use, by roots. */
DN_FN float power_of(const dn_lrn_packed *p, float s)
{
    if (p->power == 0.75f) {
        float r = rsqrtf(s);
        return r * sqrtf(r);
    }
    return p->power == 0.5f ? rsqrtf(s) : powf(s, -p->power);
}

/* alpha r + beta out */
template <int N> DN_FN void deliver(const dn_lrn_packed *p, dn_s64 at, float *r)
{
    float old[N];
    if (p->beta != 0)
        vector_of<N>::load(p->out, at, old);
#pragma unroll
    for (int e = 0; e < N; e++)
        r[e] = p->alpha * r[e] + (p->beta != 0 ? p->beta * old[e] : 0.0f);
    vector_of<N>::store(p->out, at, r);
}

#endif
