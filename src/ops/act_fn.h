/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The activation functions of one value, in double. Inline, so that a loop with a fixed mode has no switch in it.
 *
 *     sigmoid   y = 1 / (1 + e^-x)                dx = dy y (1 - y)
 *     relu      y = max(x, 0)                     dx = dy where x > 0, else 0
 *     tanh      y = tanh x                        dx = dy (1 - y^2)
 *     clipped   y = min(max(x, 0), coef)          dx = dy where 0 < x <= coef, else 0
 *     elu       y = x where x >= 0,               dx = dy where x >= 0,
 *                   coef (e^x - 1) elsewhere           dy (y + coef) elsewhere
 *     identity  y = x                             dx = dy
 *     swish     y = x s, s = 1 / (1 + e^(-beta x))    dx = dy (s + beta x s (1 - s))
 *
 * Gradients use y where they can, and only the sign and range of x in relu and elu, so those are also right where y was written
 * over x. At the corners they are what the vendor's 9.19 answers: relu 0, clipped relu dy at x = coef, elu dy at x = 0. The NaN
 * mode speaks of relu and clipped relu alone: a NaN that does not go through counts as less than 0, and the gradient at a NaN is
 * 0 in both modes. */
#ifndef DN_OPS_ACT_FN_H
#define DN_OPS_ACT_FN_H

#include "ops/problem.h"

#include <math.h>

static inline double dn_act_sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

/* coef of RELU is not read, as in the vendor's 9.19: callers pass 0 or 1 there and mean no ceiling. */
static inline double dn_act_apply(const dn_act_param *p, double x)
{
    switch (p->mode) {
    case DN_ACT_SIGMOID:
        return dn_act_sigmoid(x);
    case DN_ACT_RELU:
        return x > 0 || (p->nan && isnan(x)) ? x : 0.0;
    case DN_ACT_TANH:
        return tanh(x);
    case DN_ACT_CLIPPED_RELU:
        if (isnan(x) && p->nan)
            return x;
        x = x > 0 ? x : 0.0;
        return x < p->coef ? x : p->coef;
    case DN_ACT_ELU:
        return x > 0 ? x : p->coef * expm1(x);
    case DN_ACT_SWISH:
        return x * dn_act_sigmoid(p->beta * x);
    default:
        return x;
    }
}

static inline bool dn_act_reads_x(int mode)
{
    return mode != DN_ACT_SIGMOID && mode != DN_ACT_TANH && mode != DN_ACT_IDENTITY;
}

static inline bool dn_act_reads_y(int mode)
{
    return mode == DN_ACT_SIGMOID || mode == DN_ACT_TANH || mode == DN_ACT_ELU;
}

/* The parameters with those that the mode does not read set to 0, so that equal problems have equal bytes. */
static inline dn_act_param dn_act_param_of(const dn_act_param *p)
{
    dn_act_param q = { .mode = p->mode };
    if (p->mode == DN_ACT_RELU || p->mode == DN_ACT_CLIPPED_RELU)
        q.nan = p->nan;
    if (p->mode == DN_ACT_CLIPPED_RELU || p->mode == DN_ACT_ELU)
        q.coef = p->coef;
    if (p->mode == DN_ACT_SWISH)
        q.beta = p->beta;
    return q;
}

/* dx for the input x, the output y and the gradient dy of the output. */
static inline double dn_act_grad(const dn_act_param *p, double x, double y, double dy)
{
    double s;
    switch (p->mode) {
    case DN_ACT_SIGMOID:
        return dy * y * (1.0 - y);
    case DN_ACT_RELU:
        return x > 0 ? dy : 0.0;
    case DN_ACT_TANH:
        return dy * (1.0 - y * y);
    case DN_ACT_CLIPPED_RELU:
        return x > 0 && x <= p->coef ? dy : 0.0;
    case DN_ACT_ELU:
        return x >= 0 ? dy : dy * (y + p->coef);
    case DN_ACT_SWISH:
        s = dn_act_sigmoid(p->beta * x);
        return dy * (s + p->beta * x * s * (1.0 - s));
    default:
        return dy;
    }
}

#endif
