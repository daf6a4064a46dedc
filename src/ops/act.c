/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Activation: y = f(x) element by element; shape rules. Tensors: fwd X Y, bwd_data X Y DY DX, all with the same dims and type;
 * strides are free, but a tensor written over its input must have the input's. The documentation names BAD_PARAM for unequal
 * tensors forward, NOT_SUPPORTED backward. */
#include "ops/like.h"

dn_status dn_act_check(const dn_problem *p)
{
    int mode = p->u.act.mode;
    if (mode < 0 || mode >= DN_ACT_COUNT)
        return dn_fail(DN_BAD_PARAM, "activation mode is %d; it must be 0 to %d", mode, DN_ACT_COUNT - 1);
    if (mode == DN_ACT_IDENTITY)
        return dn_fail(DN_BAD_PARAM, "activation mode is IDENTITY, which is for cudnnConvolutionBiasActivationForward alone");
    if (p->dir == DN_DIR_FWD) {
        dn_status st = dn_problem_like(p, DN_Y, DN_X, DN_BAD_PARAM);
        return st != DN_SUCCESS ? st : dn_problem_in_place(p, DN_Y, DN_X);
    }
    static const dn_role others[] = { DN_Y, DN_DY, DN_DX };
    for (int i = 0; i < 3; i++) {
        dn_status st = dn_problem_like(p, others[i], DN_X, DN_NOT_SUPPORTED);
        if (st != DN_SUCCESS)
            return st;
    }
    return dn_problem_in_place(p, DN_DX, DN_DY);
}
