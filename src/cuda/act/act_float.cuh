/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The activation functions in float, for the tuned kernels; act_fn.cuh has the formulas. T: the data's type. With 16-bit data the short
 * forms are used, whose error (under 2^-16 of the result) is far below the type's rounding. */
#ifndef DN_CUDA_ACT_ACT_FLOAT_CUH
#define DN_CUDA_ACT_ACT_FLOAT_CUH

#include "cuda/act/act_fn.cuh"
#include "cuda/flat.cuh"

/* exp of what is at most 0, so it cannot overflow, and a small result keeps its digits. */
template <int T> DN_FN float dn_sigmoid_f(float x)
{
    float e = T == DN_T_F32 ? expf(-fabsf(x)) : __expf(-fabsf(x)), top = x >= 0 ? 1.0f : e;
    return T == DN_T_F32 ? top / (1 + e) : __fdividef(top, 1 + e);
}

/* Near 0 the series, where 1 - 2 / (e + 1) cancels. */
template <int T> DN_FN float dn_tanh_f(float x)
{
    if (T == DN_T_F32)
        return tanhf(x);
    float a = fabsf(x), s = x * x;
    float series = x + x * s * (-0.33333333f + s * (0.13333333f - s * 0.053968254f));
    float big = copysignf(1 - __fdividef(2, __expf(2 * fminf(a, 20.0f)) + 1), x);
    return x != x ? x : a < 0.35f ? series : big;
}

template <int T> DN_FN float dn_expm1_f(float x)
{
    if (T == DN_T_F32)
        return expm1f(x);
    return fabsf(x) < 0.015625f ? x + x * x * (0.5f + x * 0.16666667f) : __expf(x) - 1;
}

template <int T, int MODE> DN_FN float dn_act_f(const dn_act_flat *p, float x)
{
    switch (MODE) {
    case DN_ACT_SIGMOID: return dn_sigmoid_f<T>(x);
    case DN_ACT_RELU: return x > 0 || (p->nan && x != x) ? x : 0;
    case DN_ACT_TANH: return dn_tanh_f<T>(x);
    case DN_ACT_CLIPPED_RELU: {
        float r = x > 0 ? x : 0;
        r = r < p->coef ? r : p->coef;
        return x != x && p->nan ? x : r;
    }
    case DN_ACT_ELU: return x > 0 ? x : p->coef * dn_expm1_f<T>(x);
    case DN_ACT_SWISH: return x * dn_sigmoid_f<T>(p->swish * x);
    default: return x;
    }
}

template <int T, int MODE> DN_FN float dn_act_grad_f(const dn_act_flat *p, float x, float y, float dy)
{
    float s;
    switch (MODE) {
    case DN_ACT_SIGMOID: return dy * y * (1 - y);
    case DN_ACT_RELU: return x > 0 ? dy : 0;
    case DN_ACT_TANH: return dy * (1 - y * y);
    case DN_ACT_CLIPPED_RELU: return x > 0 && x <= p->limit ? dy : 0;
    case DN_ACT_ELU: return x >= 0 ? dy : dy * (y + p->coef);
    case DN_ACT_SWISH:
        s = dn_sigmoid_f<T>(p->swish * x);
        return dy * (s + p->swish * (x * (s * (1 - s))));  /* swish * x may overflow */
    default: return dy;
    }
}

#endif
