/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The activation functions of one value: the formulas and corners of ops/act_fn.h, in double. */
#ifndef DN_CUDA_ACT_ACT_FN_CUH
#define DN_CUDA_ACT_ACT_FN_CUH

#include "cuda/act/act.h"
#include "cuda/common.cuh"

/* dn_act_mode */
enum { DN_ACT_SIGMOID, DN_ACT_RELU, DN_ACT_TANH, DN_ACT_CLIPPED_RELU, DN_ACT_ELU, DN_ACT_IDENTITY, DN_ACT_SWISH };

DN_FN double dn_sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

DN_FN double dn_act_apply(const dn_act_fn *f, double x)
{
    switch (f->mode) {
    case DN_ACT_SIGMOID: return dn_sigmoid(x);
    case DN_ACT_RELU: return x > 0 || (f->nan && x != x) ? x : 0.0;
    case DN_ACT_TANH: return tanh(x);
    case DN_ACT_CLIPPED_RELU:
        if (x != x && f->nan)
            return x;
        x = x > 0 ? x : 0.0;
        return x < f->coef ? x : f->coef;
    case DN_ACT_ELU: return x > 0 ? x : f->coef * expm1(x);
    case DN_ACT_SWISH: return x * dn_sigmoid(f->beta * x);
    default: return x;
    }
}

DN_FN bool dn_act_reads_x(int mode)
{
    return mode != DN_ACT_SIGMOID && mode != DN_ACT_TANH && mode != DN_ACT_IDENTITY;
}

DN_FN bool dn_act_reads_y(int mode)
{
    return mode == DN_ACT_SIGMOID || mode == DN_ACT_TANH || mode == DN_ACT_ELU;
}

DN_FN double dn_act_grad(const dn_act_fn *f, double x, double y, double dy)
{
    double s;
    switch (f->mode) {
    case DN_ACT_SIGMOID: return dy * y * (1.0 - y);
    case DN_ACT_RELU: return x > 0 ? dy : 0.0;
    case DN_ACT_TANH: return dy * (1.0 - y * y);
    case DN_ACT_CLIPPED_RELU: return x > 0 && x <= f->coef ? dy : 0.0;
    case DN_ACT_ELU: return x >= 0 ? dy : dy * (y + f->coef);
    case DN_ACT_SWISH: s = dn_sigmoid(f->beta * x); return dy * (s + f->beta * x * s * (1.0 - s));
    default: return dy;
    }
}

#endif
