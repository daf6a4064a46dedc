/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Local response normalisation across channels; shape rules. Tensors: fwd X Y, bwd_data X Y DY DX, all of the same dims and type;
 * strides are free but for in-place calls. The sum runs over the window of channels around c, n wide, cut at the first and the
 * last; alpha is divided by n, not by what is left of the window.
 *     s = k + alpha / n * sum x^2;  y = x s^-beta
 * The documentation names NOT_SUPPORTED for unequal tensors, BAD_PARAM for fewer than three dimensions. */
#include "ops/lrn.h"

#include "ops/like.h"

dn_status dn_lrn_check_param(const dn_lrn_param *q)
{
    if (q->n < 1 || q->n > DN_LRN_N_MAX)
        return dn_fail(DN_BAD_PARAM, "lrnN is %u; it must be CUDNN_LRN_MIN_N = 1 to CUDNN_LRN_MAX_N = %d", (unsigned)q->n, DN_LRN_N_MAX);
    if (!(q->beta >= DN_LRN_BETA_MIN))
        return dn_fail(DN_BAD_PARAM, "lrnBeta is %g; it must be CUDNN_LRN_MIN_BETA = %g or more", q->beta, DN_LRN_BETA_MIN);
    if (!(q->k >= DN_LRN_K_MIN))
        return dn_fail(DN_BAD_PARAM, "lrnK is %g; it must be CUDNN_LRN_MIN_K = %g or more", q->k, DN_LRN_K_MIN);
    return DN_SUCCESS;
}

dn_status dn_lrn_check(const dn_problem *p)
{
    static const dn_role fwd[] = { DN_Y }, bwd[] = { DN_Y, DN_DY, DN_DX };
    const dn_role *others = p->dir == DN_DIR_FWD ? fwd : bwd;
    int count = p->dir == DN_DIR_FWD ? 1 : 3;
    dn_status st = dn_lrn_check_param(&p->u.lrn);
    if (st != DN_SUCCESS)
        return st;
    if (p->dir != DN_DIR_FWD && p->dir != DN_DIR_BWD_DATA)
        return dn_fail(DN_BAD_PARAM, "direction is %s; local response normalisation has fwd and bwd_data", dn_dir_name(p->dir));
    if (p->t[DN_X].rank < 3)
        return dn_fail(DN_BAD_PARAM, "xDesc has %d dimensions; it must have 3 to %d", p->t[DN_X].rank, DN_RANK_MAX);
    for (int i = 0; i < count; i++)
        if ((st = dn_problem_like(p, others[i], DN_X, DN_NOT_SUPPORTED)) != DN_SUCCESS)
            return st;
    return p->dir == DN_DIR_FWD ? dn_problem_in_place(p, DN_Y, DN_X) : DN_SUCCESS;
}
