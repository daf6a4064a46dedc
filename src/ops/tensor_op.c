/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Element operations of one or two tensors: C = op(alpha1 * A, alpha2 * B) + beta * C; shape rules. A is X, C is Y. A has the dims
 * of C; each dim of B is that of C or 1, and B is then repeated along it. SQRT and NOT have no B. */
#include "ops/problem.h"

enum { SQRT = 4, NOT = 5 };

static dn_status check_type(const dn_problem *p, dn_role r, const char *name)
{
    dn_dtype type = (dn_dtype)p->t[r].type;
    switch (type) {
    case DN_F64:
        if (p->compute != DN_F64)
            return dn_fail(DN_NOT_SUPPORTED, "%s has type f64 and the compute type is %s; it must be f64", name,
                           dn_dtype_name((dn_dtype)p->compute));
        return DN_SUCCESS;
    case DN_F32: case DN_F16: case DN_BF16: case DN_I8: case DN_U8: case DN_I32:
        if (p->compute != DN_F32)
            return dn_fail(DN_NOT_SUPPORTED, "%s has type %s and the compute type is %s; it must be f32", name, dn_dtype_name(type),
                           dn_dtype_name((dn_dtype)p->compute));
        return DN_SUCCESS;
    default:
        return dn_fail(DN_NOT_SUPPORTED, "%s has type %s; it must be f32, f64, f16, bf16, i32, i8 or u8", name, dn_dtype_name(type));
    }
}

static dn_status check_dims(const dn_problem *p, dn_role r, const char *name, bool repeats)
{
    const dn_tensor *t = &p->t[r], *c = &p->t[DN_Y];
    if (t->rank != c->rank)
        return dn_fail(DN_BAD_PARAM, "%s has %d dimensions, cDesc has %d; they must be equal", name, t->rank, c->rank);
    for (int d = 0; d < c->rank; d++)
        if (t->dims[d] != c->dims[d] && !(repeats && t->dims[d] == 1))
            return dn_fail(DN_BAD_PARAM, "dimension %d of %s is %lld; it must be %sthat of cDesc, %lld", d, name,
                           (long long)t->dims[d], repeats ? "1 or " : "", (long long)c->dims[d]);
    return DN_SUCCESS;
}

dn_status dn_tensor_op_check(const dn_problem *p)
{
    int op = p->u.tensor_op.op;
    dn_status st;
    if (p->dir != DN_DIR_FWD)
        return dn_fail(DN_BAD_PARAM, "direction is %s; optensor has fwd alone", dn_dir_name((dn_dir)p->dir));
    if (op < 0 || op > NOT)
        return dn_fail(DN_BAD_PARAM, "the operation is %d; it must be 0 to %d", op, NOT);
    if (p->t[DN_Y].rank < 1)
        return dn_fail(DN_BAD_PARAM, "cDesc has no dimensions");
    if ((st = check_dims(p, DN_X, "aDesc", false)) != DN_SUCCESS || (st = check_type(p, DN_X, "aDesc")) != DN_SUCCESS)
        return st;
    if (op < SQRT && ((st = check_dims(p, DN_B, "bDesc", true)) != DN_SUCCESS || (st = check_type(p, DN_B, "bDesc")) != DN_SUCCESS))
        return st;
    if (op >= SQRT && p->t[DN_B].rank)
        return dn_fail(DN_BAD_PARAM, "there is a B; SQRT and NOT work on A alone");
    return check_type(p, DN_Y, "cDesc");
}
