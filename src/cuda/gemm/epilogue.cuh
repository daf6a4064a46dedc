/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What becomes of the sums of a matrix product. */
#ifndef DN_CUDA_GEMM_EPILOGUE_CUH
#define DN_CUDA_GEMM_EPILOGUE_CUH

#include "cuda/flat.cuh"
#include "cuda/gemm/gemm.h"

/* C and bias have a type of 16 bits or f32. */
DN_FN float dn_gemm_element(const dn_elements *e, dn_s64 i)
{
    if (e->type == DN_T_F32)
        return ((const float *)e->ptr)[i];
    dn_u16 h = ((const dn_u16 *)e->ptr)[i];
    return e->type == DN_T_F16 ? dn_half_to_float(h) : dn_bf16_to_float(h);
}

DN_FN void dn_gemm_put_one(const dn_elements *e, dn_s64 i, float v)
{
    if (e->type == DN_T_F32)
        ((float *)e->ptr)[i] = v;
    else
        ((dn_u16 *)e->ptr)[i] = e->type == DN_T_F16 ? dn_float_to_half(v) : dn_float_to_bf16(v);
}

DN_FN void dn_gemm_put_pair(const dn_elements *e, dn_s64 i, float v0, float v1)
{
    if (e->type == DN_T_F32)
        *(float2 *)((float *)e->ptr + i) = make_float2(v0, v1);
    else
        *(dn_u32 *)((dn_u16 *)e->ptr + i) = e->type == DN_T_F16 ? dn_pack_halves(v0, v1) : dn_pack_bf16s(v0, v1);
}

/* Sums at (m, n) and (m, n + 1). */
DN_FN void dn_gemm_put(const dn_gemm *p, dn_s64 slab, dn_s64 batch, dn_s64 m, dn_s64 n, const float sum[2])
{
    if (m >= p->m || n >= p->n)
        return;
    bool both = n + 1 < p->n;
    if (p->parts > 1) {
        float *to = (float *)p->partial + (slab * p->m + m) * p->n + n;
        to[0] = sum[0];
        if (both)
            to[1] = sum[1];
        return;
    }
    float alpha = (float)p->alpha, beta = (float)p->beta, v[2];
    dn_s64 at = batch * p->pitch_c + m * p->ldc + n;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        v[i] = alpha * sum[i];
        if (p->bias.ptr && (i == 0 || both))
            v[i] += dn_gemm_element(&p->bias, batch * p->pitch_bias + n + i);
        if (beta != 0 && (i == 0 || both))
            v[i] += beta * dn_gemm_element(&p->c, at + i);
    }
    if (both && p->wide_c) {
        dn_gemm_put_pair(&p->c, at, v[0], v[1]);
    } else {
        dn_gemm_put_one(&p->c, at, v[0]);
        if (both)
            dn_gemm_put_one(&p->c, at + 1, v[1]);
    }
}

#endif
