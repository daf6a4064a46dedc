/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Checks that several operations share. */
#ifndef DN_OPS_LIKE_H
#define DN_OPS_LIKE_H

#include "ops/problem.h"

/* st, with a text, unless the tensor of role r has the rank, dims and type of that of role `like`. */
dn_status dn_problem_like(const dn_problem *p, dn_role r, dn_role like, dn_status st);
/* BAD_PARAM where the problem works in place and the two roles lie differently in memory. */
dn_status dn_problem_in_place(const dn_problem *p, dn_role out, dn_role over);

#endif
