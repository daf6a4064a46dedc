/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Divisive normalisation; shape rules. Tensors: fwd X Y (B), bwd_data X DY DX (B, DZ), all of the same dims and type: B holds the
 * means, which count as 0 where it is missing, DZ their gradient. The window is that of local response normalisation, n wide in
 * each of the d spatial dimensions, and alpha is divided by n^d, so that without means this is the local response normalisation
 * within a channel. The means take part in the divisor alone, as in cuDNN 9.19; to subtract them from x is the caller's part.
 *     s_p = k + alpha / n^d * sum over q of (x_q - means_p)^2;  y_p = x_p s_p^-beta */
#include "ops/like.h"
#include "ops/lrn.h"

dn_status dn_divnorm_check(const dn_problem *p)
{
    static const dn_role others[] = { DN_B, DN_Y, DN_DY, DN_DX, DN_DZ };
    bool fwd = p->dir == DN_DIR_FWD;
    dn_status st = dn_lrn_check_param(&p->u.lrn);
    if (st != DN_SUCCESS)
        return st;
    if (!fwd && p->dir != DN_DIR_BWD_DATA)
        return dn_fail(DN_BAD_PARAM, "direction is %s; divisive normalisation has fwd and bwd_data", dn_dir_name(p->dir));
    if (p->t[DN_X].rank < 4 || p->t[DN_X].rank > 5)
        return dn_fail(DN_BAD_PARAM, "xDesc has %d dimensions; it must have 4 or 5", p->t[DN_X].rank);
    for (int i = 0; i < 5; i++) {
        bool needed = fwd ? others[i] == DN_Y : others[i] == DN_DY || others[i] == DN_DX;
        if ((needed || p->t[others[i]].rank) && (st = dn_problem_like(p, others[i], DN_X, DN_BAD_PARAM)) != DN_SUCCESS)
            return st;
    }
    return fwd ? dn_problem_in_place(p, DN_Y, DN_X) : DN_SUCCESS;
}
