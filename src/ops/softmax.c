/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Softmax over one sample (instance: all dimensions but the first) or over the channel (dimension 1) at each place; shape rules.
 * Tensors: fwd X Y, bwd_data Y DY DX, all with the same dims and type; strides are free but for in-place calls.
 *     fast, accurate  y = e^x / sum e^x               dx = y (dy - sum y dy)
 *     log             y = x - log(sum e^x)            dx = dy - e^y sum dy */
#include "ops/like.h"

dn_status dn_softmax_check(const dn_problem *p)
{
    const dn_softmax_param *q = &p->u.softmax;
    bool fwd = p->dir == DN_DIR_FWD;
    dn_role in = fwd ? DN_X : DN_Y, out = fwd ? DN_Y : DN_DX, over = fwd ? DN_X : DN_DY;
    if (q->algo < 0 || q->algo > 2)
        return dn_fail(DN_BAD_PARAM, "algorithm is %d; it must be 0 to 2", q->algo);
    if (q->mode < 0 || q->mode > 1)
        return dn_fail(DN_BAD_PARAM, "mode is %d; it must be 0 or 1", q->mode);
    if (p->t[in].rank < 2)
        return dn_fail(DN_BAD_PARAM, "%sDesc has %d dimensions; softmax needs batch and channel", fwd ? "x" : "y", p->t[in].rank);
    dn_status st = dn_problem_like(p, out, in, DN_BAD_PARAM);
    if (st == DN_SUCCESS && !fwd)
        st = dn_problem_like(p, DN_DY, DN_Y, DN_BAD_PARAM);
    return st != DN_SUCCESS ? st : dn_problem_in_place(p, out, over);
}
