/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Padding and folding: shape rules. Y = alpha * T(X) + beta * Y, any strides, any pair of types. */
#include "ops/transform.h"

static bool scaled(int64_t in, int64_t by, bool up, int64_t *out)
{
    if (up)
        return !__builtin_mul_overflow(in, by, out);
    *out = in / by + (in % by != 0);
    return true;
}

static bool padded(int64_t in, const dn_transform_param *u, int d, int64_t *out)
{
    return !__builtin_add_overflow(in, (int64_t)u->before[d] + u->after[d], out);
}

dn_status dn_transform_dims(const dn_transform_param *u, const dn_tensor *x, dn_tensor *y)
{
    int64_t factor = 1;
    if (x->rank < 3)
        return dn_fail(DN_BAD_PARAM, "srcDesc has %d dimensions; it must have 3 or more", x->rank);
    for (int j = 0; j + 2 < x->rank; j++)
        if (u->by[j] < 1 || __builtin_mul_overflow(factor, (int64_t)u->by[j], &factor))
            return dn_fail(DN_BAD_PARAM, "folding factor %d is %d; it must be 1 or more, and their product fit 64 bits", j, u->by[j]);
    y->rank = x->rank;
    for (int d = 0; d < x->rank; d++) {
        int64_t n = x->dims[d], by = d == 0 ? 1 : d == 1 ? factor : u->by[d - 2];
        bool up = (d == 1) != (u->fold == 1);
        bool fits = u->fold == 0 ? padded(n, u, d, &n) && (n < 1 || scaled(n, by, up, &n)) : scaled(n, by, up, &n) && padded(n, u, d, &n);
        if (!fits)
            return dn_fail(DN_BAD_PARAM, "dimension %d of the result does not fit 64 bits", d);
        if (n < 1)
            return dn_fail(DN_BAD_PARAM, "dimension %d of the result would be %lld: size %lld, padding %d before and %d after", d,
                           (long long)n, (long long)x->dims[d], u->before[d], u->after[d]);
        y->dims[d] = n;
    }
    return DN_SUCCESS;
}

static dn_status check_type(const dn_tensor *t, const char *name)
{
    switch (dn_dtype_scalar((dn_dtype)t->type)) {
    case DN_F32: case DN_F64: case DN_F16: case DN_BF16: case DN_I8: case DN_U8: case DN_I32:
        return DN_SUCCESS;
    default:
        return dn_fail(DN_NOT_SUPPORTED, "%s has type %s; it must be f32, f64, f16, bf16, i32 or an 8-bit integer", name,
                       dn_dtype_name((dn_dtype)t->type));
    }
}

dn_status dn_transform_ex_check(const dn_problem *p)
{
    const dn_transform_param *u = &p->u.transform;
    const dn_tensor *y = &p->t[DN_Y];
    dn_tensor want = { 0 };
    if (p->dir != DN_DIR_FWD)
        return dn_fail(DN_BAD_PARAM, "direction is %s; transformex has fwd alone", dn_dir_name((dn_dir)p->dir));
    if (u->fold != 0 && u->fold != 1)
        return dn_fail(DN_BAD_PARAM, "the folding direction is %d; it must be 0 or 1", u->fold);
    if (p->flags & DN_F_IN_PLACE)
        return dn_fail(DN_BAD_PARAM, "source and destination are one buffer; they must not overlap");
    if (p->t[DN_X].rank != y->rank)
        return dn_fail(DN_BAD_PARAM, "srcDesc has %d dimensions, destDesc has %d; they must be equal", p->t[DN_X].rank, y->rank);
    dn_status st = dn_transform_dims(u, &p->t[DN_X], &want);
    if (st != DN_SUCCESS)
        return st;
    for (int d = 0; d < y->rank; d++)
        if (y->dims[d] != want.dims[d])
            return dn_fail(DN_BAD_PARAM, "dimension %d of destDesc is %lld; the transform gives %lld", d, (long long)y->dims[d],
                           (long long)want.dims[d]);
    st = check_type(&p->t[DN_X], "srcDesc");
    return st == DN_SUCCESS ? check_type(y, "destDesc") : st;
}
