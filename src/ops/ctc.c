/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * CTC loss; shape rules. Tensors: X, and DX where gradients are wanted; both time x batch x classes. */
#include "ops/ctc.h"

static dn_status check_tensor(const dn_tensor *t, const char *name)
{
    if (t->rank != 3)
        return dn_fail(DN_BAD_PARAM, "%s has %d dimensions; it must have 3: time, batch, classes", name, t->rank);
    if (t->type != DN_F32 && t->type != DN_F64 && t->type != DN_F16 && t->type != DN_BF16)
        return dn_fail(DN_NOT_SUPPORTED, "%s has type %s; it must be f32, f64, f16 or bf16", name, dn_dtype_name((dn_dtype)t->type));
    for (int d = 0; d < 3; d++)
        if (t->dims[d] > INT32_MAX / 4)
            return dn_fail(DN_NOT_SUPPORTED, "dimension %d of %s is %lld; at most %d is taken", d, name, (long long)t->dims[d], INT32_MAX / 4);
    return DN_SUCCESS;
}

dn_status dn_ctc_check(const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X], *dx = &p->t[DN_DX];
    const dn_ctc_param *u = &p->u.ctc;
    if (p->dir != DN_DIR_FWD)
        return dn_fail(DN_BAD_PARAM, "direction is %s; CTC loss has fwd, with dx for the gradients", dn_dir_name((dn_dir)p->dir));
    dn_status st = check_tensor(x, "probs");
    if (st == DN_SUCCESS && dx->rank)
        st = check_tensor(dx, "gradients");
    if (st != DN_SUCCESS)
        return st;
    for (int d = 0; dx->rank && d < 3; d++)
        if (x->dims[d] != dx->dims[d])
            return dn_fail(DN_BAD_PARAM, "dimension %d of gradients is %lld, of probs %lld; they must be equal", d, (long long)dx->dims[d],
                           (long long)x->dims[d]);
    if (dx->rank && x->type != dx->type)
        return dn_fail(DN_BAD_PARAM, "gradients have type %s, probs %s; they must be equal", dn_dtype_name((dn_dtype)dx->type),
                       dn_dtype_name((dn_dtype)x->type));
    if (u->norm < 0 || u->norm > 1)
        return dn_fail(DN_BAD_PARAM, "normMode is %d; it must be 0 or 1", u->norm);
    if (u->max_label < 0 || u->max_label > INT32_MAX / 8)
        return dn_fail(DN_BAD_PARAM, "the longest label sequence is %d; it must be 0 to %d", u->max_label, INT32_MAX / 8);
    return DN_SUCCESS;
}
