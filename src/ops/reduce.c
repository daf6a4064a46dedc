/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Reduction: C = alpha * reduce(A) + beta * C over every dimension where C has size 1 and A more; shape rules. A is X, C is Y. */
#include "ops/reduce.h"

bool dn_reduce_is_indexed(const dn_reduce_param *u)
{
    return u->indices && (u->op == DN_REDUCE_MIN || u->op == DN_REDUCE_MAX || u->op == DN_REDUCE_AMAX);
}

int dn_reduce_index_size(int index_type)
{
    static const int size[] = { 4, 8, 2, 1 };
    return size[index_type & 3];
}

int64_t dn_reduce_block(const dn_problem *p)
{
    int64_t n = 1;
    for (int d = 0; d < p->t[DN_X].rank; d++)
        if (p->t[DN_Y].dims[d] == 1)
            n *= p->t[DN_X].dims[d];
    return n;
}

static dn_status check_type(const dn_problem *p, dn_role r, const char *name)
{
    dn_dtype type = (dn_dtype)p->t[r].type;
    switch (type) {
    case DN_F32: case DN_F64: case DN_F16: case DN_BF16: case DN_I8: case DN_U8: case DN_I32:
        break;
    default:
        return dn_fail(DN_NOT_SUPPORTED, "%s has type %s; it must be f32, f64, f16, bf16, i32, i8 or u8", name, dn_dtype_name(type));
    }
    if ((type == DN_F64) != (p->compute == DN_F64))
        return dn_fail(DN_NOT_SUPPORTED, "%s has type %s and the compute type is %s; f64 goes with f64 alone", name,
                       dn_dtype_name(type), dn_dtype_name((dn_dtype)p->compute));
    return DN_SUCCESS;
}

static dn_status check_dims(const dn_tensor *a, const dn_tensor *c)
{
    bool same = true;
    if (a->rank != c->rank)
        return dn_fail(DN_BAD_PARAM, "aDesc has %d dimensions, cDesc has %d; they must be equal", a->rank, c->rank);
    if (c->rank < 1)
        return dn_fail(DN_BAD_PARAM, "cDesc has no dimensions");
    for (int d = 0; d < c->rank; d++) {
        if (c->dims[d] != a->dims[d] && c->dims[d] != 1)
            return dn_fail(DN_BAD_PARAM, "dimension %d of cDesc is %lld; it must be 1 or that of aDesc, %lld", d,
                           (long long)c->dims[d], (long long)a->dims[d]);
        same = same && c->dims[d] == a->dims[d];
    }
    return same ? dn_fail(DN_BAD_PARAM, "all dimensions of aDesc and cDesc are equal; at least one of cDesc must be 1 where aDesc has"
                                        " more") : DN_SUCCESS;
}

static dn_status check_indices(const dn_problem *p)
{
    int size = dn_reduce_index_size(p->u.reduce.index_type);
    int64_t block = dn_reduce_block(p);
    if (size < 8 && block - 1 > (int64_t)((UINT64_C(1) << 8 * size) - 1))
        return dn_fail(DN_NOT_SUPPORTED, "%lld elements become one; an index of %d bits cannot number them", (long long)block, 8 * size);
    return DN_SUCCESS;
}

dn_status dn_reduce_check(const dn_problem *p)
{
    const dn_reduce_param *u = &p->u.reduce;
    dn_status st;
    if (p->dir != DN_DIR_FWD)
        return dn_fail(DN_BAD_PARAM, "direction is %s; reduce has fwd alone", dn_dir_name((dn_dir)p->dir));
    if (u->op < 0 || u->op > DN_REDUCE_MUL_NO_ZEROS || u->index_type < 0 || u->index_type > 3)
        return dn_fail(DN_BAD_PARAM, "the operation is %d and the index type %d; they must be 0 to 8 and 0 to 3", u->op, u->index_type);
    if (p->flags & DN_F_IN_PLACE)
        return dn_fail(DN_BAD_PARAM, "A and C are one buffer; a reduction cannot work in place");
    if ((st = check_dims(&p->t[DN_X], &p->t[DN_Y])) != DN_SUCCESS)
        return st;
    if ((st = check_type(p, DN_X, "aDesc")) != DN_SUCCESS || (st = check_type(p, DN_Y, "cDesc")) != DN_SUCCESS)
        return st;
    return dn_reduce_is_indexed(u) ? check_indices(p) : DN_SUCCESS;
}
