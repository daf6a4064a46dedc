/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Vectors of rows that may begin and end inside of a vector. DN_TYPE: DN_T_F32, DN_T_F16 or DN_T_BF16 */
#ifndef DN_CUDA_SOFTMAX_VECTORS_CUH
#define DN_CUDA_SOFTMAX_VECTORS_CUH

#include "cuda/softmax/softmax_fn.cuh"

#define VN (16 / DN_VEC_SIZE(DN_TYPE))
#define MINUS_INFINITY (DN_TYPE == DN_T_F32 ? 0xff800000u : DN_TYPE == DN_T_F16 ? 0xfc00u : 0xff80u)

typedef struct row_span {
    dn_s64 first;        /* vector, from the tensor's beginning */
    int head, vectors;   /* elements of the first vector that belong to other rows; vectors of the row */
} row_span;

DN_FN row_span span_of(const dn_softmax_rows *p, dn_s64 row, bool on)
{
    dn_s64 at = row * p->length;
    row_span s = { at / VN, (int)(at % VN), 0 };
    s.vectors = on ? (s.head + p->length + VN - 1) / VN : 0;
    return s;
}

/* Elements [lo, hi) of vector i of a row are its own. */
DN_FN void own(const dn_softmax_rows *p, const row_span *row, int i, int *lo, int *hi)
{
    int left = row->head + p->length - i * VN;
    *lo = i == 0 ? row->head : 0;
    *hi = left < VN ? left : VN;
}

/* A vector that may be the last of the tensor. */
DN_FN uint4 any_load(const dn_softmax_rows *p, const void *base, dn_s64 vector, int hi, bool again)
{
    const uint4 *at = (const uint4 *)base + vector;
    if (vector != p->tail)
        return again ? *at : __ldcs(at);
    float f[VN];
#pragma unroll
    for (int e = 0; e < VN; e++)
        f[e] = e < hi ? dn_one_load<DN_TYPE>(base, vector * VN + e) : 0;
    return dn_pack<DN_TYPE, VN>(f);
}

/* Vector i of a row, with `other` (a pattern of bits) in place of what is not its own. again: it will be read once more */
DN_FN uint4 row_load_again(const dn_softmax_rows *p, const void *base, const row_span *row, int i, dn_u32 other, bool again)
{
    int lo, hi;
    own(p, row, i, &lo, &hi);
    uint4 v = any_load(p, base, row->first + i, hi, again);
    if (lo == 0 && hi == VN)
        return v;
    dn_u32 *w = (dn_u32 *)&v;
#pragma unroll
    for (int e = 0; e < VN; e++)
        if (e < lo || e >= hi) {
            const int word = e * DN_VEC_SIZE(DN_TYPE) / 4, shift = e * DN_VEC_SIZE(DN_TYPE) % 4 * 8;
            w[word] = DN_TYPE == DN_T_F32 ? other : (w[word] & ~(0xffffu << shift)) | other << shift;
        }
    return v;
}

DN_FN uint4 row_load(const dn_softmax_rows *p, const void *base, const row_span *row, int i, dn_u32 other)
{
    return row_load_again(p, base, row, i, other, false);
}

/* r + beta * out */
DN_FN void row_store(const dn_softmax_rows *p, const row_span *row, int i, float *r)
{
    int lo, hi;
    own(p, row, i, &lo, &hi);
    if (p->beta != 0) {
        float old[VN];
        dn_unpack<DN_TYPE, VN>(any_load(p, p->out, row->first + i, hi, false), old);
#pragma unroll
        for (int e = 0; e < VN; e++)
            r[e] += p->beta * old[e];
    }
    if (lo == 0 && hi == VN) {
        __stcs((uint4 *)p->out + row->first + i, dn_pack<DN_TYPE, VN>(r));
        return;
    }
#pragma unroll
    for (int e = 0; e < VN; e++)
        if (e >= lo && e < hi)
            dn_one_store<DN_TYPE>(p->out, (row->first + i) * VN + e, r[e]);
}

#endif
