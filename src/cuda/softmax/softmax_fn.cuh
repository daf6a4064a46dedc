/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the tuned softmax kernels share: float arithmetic, exponentials by the hardware's power of two. Infinities as in src/ref/softmax.c. */
#ifndef DN_CUDA_SOFTMAX_SOFTMAX_FN_CUH
#define DN_CUDA_SOFTMAX_SOFTMAX_FN_CUH

#include "cuda/flat.cuh"
#include "cuda/softmax/softmax.h"

enum { DN_SOFTMAX_FAST, DN_SOFTMAX_ACCURATE, DN_SOFTMAX_LOG };

#define DN_LOG2E 1.4426950408889634f

DN_FN float dn_exp(float x)
{
    float t = x * DN_LOG2E;
#if defined(DN_EMULATED)
    return exp2f(t);
#else
    float z;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(z) : "f"(t));
    return z;
#endif
}

/* What is subtracted before the exponential. FAST must give what exponentials in double without a maximum give: they overflow above 709.78
 * and are 0 below -745.13, where floats that had the maximum subtracted would go on; 621.06 makes floats overflow there. */
DN_FN float dn_softmax_shift(int algo, float maximum)
{
    if (algo != DN_SOFTMAX_FAST)
        return maximum;
    return maximum > 709.78f ? 621.06f : maximum < -745.13f ? 0.0f : maximum;
}

/* The constant of a group for dn_softmax_result. */
DN_FN float dn_softmax_close(int algo, float sum, float alpha)
{
    return algo == DN_SOFTMAX_LOG ? logf(sum) : alpha / sum;
}

/* alpha y */
DN_FN float dn_softmax_result(int algo, float x, float shift, float k, float alpha)
{
    return algo == DN_SOFTMAX_LOG ? alpha * (x - shift - k) : dn_exp(x - shift) * k;
}

DN_FN float dn_softmax_term(int algo, float y, float dy)
{
    return algo == DN_SOFTMAX_LOG ? dy : y * dy;
}

/* alpha dx */
DN_FN float dn_softmax_gradient(int algo, float y, float dy, float sum, float alpha)
{
    return alpha * (algo == DN_SOFTMAX_LOG ? dy - dn_exp(y) * sum : y * (dy - sum));
}

/* --- sums made as the elements come, around the largest so far --- */

/* What to subtract while m is the maximum. Nothing yet: anything. Infinity: what leaves infinity and NaN in the sum, and nothing else. */
DN_FN float dn_softmax_base(float m)
{
    return m == -DN_INF ? 0.0f : m == DN_INF ? 621.06f : m;
}

/* The sum s2 around m2 joins s around m; nothing seen is -infinity and 0. */
DN_FN void dn_softmax_merge(float *m, float *s, float m2, float s2)
{
    float top = fmaxf(*m, m2), a = *m == top ? 1.0f : dn_exp(*m - top), b = m2 == top ? 1.0f : dn_exp(m2 - top);
    *s = *s * a + s2 * b;
    *m = top;
}

/* All seen: the shift, and the sum around it. */
DN_FN float dn_softmax_settle(int algo, float m, float *s)
{
    if (algo != DN_SOFTMAX_FAST)
        *s = m == DN_INF ? m - m : *s;
    else if (*s == *s && (m > 709.78f || m < -745.13f))
        *s = m > 0 ? DN_INF : 0.0f;
    return dn_softmax_shift(algo, m);
}

#endif
