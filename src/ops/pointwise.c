/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The pointwise tensor operations: shape rules.
 *     add        Y = alpha * X + beta * Y   X repeated along its dimensions of size 1 (in the API: A and C)
 *     transform  Y = alpha * X + beta * Y   equal dims, any strides, any pair of types
 *     scale      Y = alpha * Y
 *     set        Y = value */
#include "ops/problem.h"

/* 64-bit integers would lose bits in the sums, which are done in double; the legacy descriptors cannot name the others. */
static bool type_is_known(int type)
{
    switch (dn_dtype_scalar((dn_dtype)type)) {
    case DN_F32: case DN_F64: case DN_F16: case DN_BF16: case DN_I8: case DN_U8: case DN_I32:
        return true;
    default:
        return false;
    }
}

static dn_status check_type(const dn_tensor *t, const char *name)
{
    if (type_is_known(t->type))
        return DN_SUCCESS;
    return dn_fail(DN_NOT_SUPPORTED, "%s has type %s; it must be f32, f64, f16, bf16, i32 or an 8-bit integer", name,
                   dn_dtype_name(t->type));
}

static dn_status check_add(const dn_problem *p)
{
    const dn_tensor *a = &p->t[DN_X], *c = &p->t[DN_Y];
    if (a->rank != c->rank)
        return dn_fail(DN_BAD_PARAM, "aDesc has %d dimensions, cDesc has %d; they must be equal", a->rank, c->rank);
    for (int d = 0; d < c->rank; d++)
        if (a->dims[d] != c->dims[d] && a->dims[d] != 1)
            return dn_fail(DN_BAD_PARAM, "dimension %d of aDesc is %lld; it must be 1 or that of cDesc, %lld", d,
                           (long long)a->dims[d], (long long)c->dims[d]);
    if (a->type != c->type)
        return dn_fail(DN_BAD_PARAM, "aDesc has type %s, cDesc has %s; they must be equal", dn_dtype_name(a->type),
                       dn_dtype_name(c->type));
    if (c->vect > 1 && a->dims[c->vect_dim] != c->dims[c->vect_dim])
        return dn_fail(DN_NOT_SUPPORTED, "aDesc is repeated along dimension %d, where type %s has its vectors", c->vect_dim,
                       dn_dtype_name(c->type));
    if ((p->flags & DN_F_IN_PLACE) && !dn_tensor_same_layout(a, c))
        return dn_fail(DN_BAD_PARAM, "A and C are one buffer, and their dims or strides differ; in place they must be equal");
    return check_type(c, "cDesc");
}

static dn_status check_transform(const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X], *y = &p->t[DN_Y];
    if (x->rank != y->rank)
        return dn_fail(DN_BAD_PARAM, "xDesc has %d dimensions, yDesc has %d; they must be equal", x->rank, y->rank);
    for (int d = 0; d < x->rank; d++)
        if (x->dims[d] != y->dims[d])
            return dn_fail(DN_BAD_PARAM, "dimension %d of xDesc is %lld, of yDesc %lld; they must be equal", d,
                           (long long)x->dims[d], (long long)y->dims[d]);
    if ((p->flags & DN_F_IN_PLACE) && (x->type != y->type || !dn_tensor_same_layout(x, y)))
        return dn_fail(DN_BAD_PARAM, "x and y are one buffer, and their types or strides differ; they must not overlap");
    dn_status st = check_type(x, "xDesc");
    return st == DN_SUCCESS ? check_type(y, "yDesc") : st;
}

dn_status dn_pointwise_check(const dn_problem *p)
{
    if (p->dir != DN_DIR_FWD)
        return dn_fail(DN_BAD_PARAM, "direction is %s; %s has fwd alone", dn_dir_name(p->dir), dn_op_name(p->op));
    if (p->t[DN_Y].rank < 1)
        return dn_fail(DN_BAD_PARAM, "the output tensor has no dimensions");
    switch (p->op) {
    case DN_OP_ADD:
        return check_add(p);
    case DN_OP_TRANSFORM:
        return check_transform(p);
    default:
        return check_type(&p->t[DN_Y], "yDesc");
    }
}
