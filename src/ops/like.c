/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "ops/like.h"

static const char *const names[DN_ROLE_COUNT] = { "x", "y", "w", "z", "b", "dx", "dy", "dz" };

dn_status dn_problem_like(const dn_problem *p, dn_role r, dn_role like, dn_status st)
{
    const dn_tensor *a = &p->t[r], *b = &p->t[like];
    if (a->rank != b->rank)
        return dn_fail(st, "%sDesc has %d dimensions, %sDesc has %d; they must be equal", names[r], a->rank, names[like], b->rank);
    for (int d = 0; d < b->rank; d++)
        if (a->dims[d] != b->dims[d])
            return dn_fail(st, "dimension %d of %sDesc is %lld, of %sDesc %lld; they must be equal", d, names[r],
                           (long long)a->dims[d], names[like], (long long)b->dims[d]);
    if (a->type != b->type)
        return dn_fail(st, "%sDesc has type %s, %sDesc has %s; they must be equal", names[r], dn_dtype_name(a->type), names[like],
                       dn_dtype_name(b->type));
    return DN_SUCCESS;
}

dn_status dn_problem_in_place(const dn_problem *p, dn_role out, dn_role over)
{
    if ((p->flags & DN_F_IN_PLACE) && !dn_tensor_same_layout(&p->t[over], &p->t[out]))
        return dn_fail(DN_BAD_PARAM, "%s is written over %s, and their strides differ; in place they must be equal", names[out],
                       names[over]);
    return DN_SUCCESS;
}
