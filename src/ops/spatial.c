/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Spatial transformer (Jaderberg et al., 2015); shape rules.
 * Grid generator. Tensors: fwd X Y, bwd_data DX DY; X is theta, n x 2 x 3, Y the grid, n x h x w x 2, in which the last dimension is
 * where to sample along w, then along h. -1 is the first pixel's centre, 1 the last one's; a single pixel is the first.
 *     grid(n, h, w) = theta(n) (x(w), y(h), 1);  x(w) = -1 + 2 w / (W - 1), y(h) alike
 * Sampler. Tensors: fwd X B Y, bwd X B DY DX DZ; B is the grid (n x h x w x 2, h and w those of Y), DZ its gradient. Bilinear
 * between the four pixels around the place; what lies outside of X is 0. */
#include "ops/like.h"

static const char *const grid_rule = "it must be n x h x w x 2";

static dn_status check_type(dn_dtype t)
{
    return t == DN_F32 || t == DN_F64 || t == DN_F16 || t == DN_BF16 ? DN_SUCCESS
        : dn_fail(DN_NOT_SUPPORTED, "the type is %s; it must be f32, f64, f16 or bf16", dn_dtype_name(t));
}

/* t must be n x h x w x 2. */
static dn_status check_grid(const dn_tensor *t, dn_dtype type, int64_t n, int64_t h, int64_t w, const char *name)
{
    if (t->rank != 4)
        return dn_fail(DN_BAD_PARAM, "%s has %d dimensions; %s", name, t->rank, grid_rule);
    if (t->dims[0] != n || t->dims[1] != h || t->dims[2] != w || t->dims[3] != 2)
        return dn_fail(DN_BAD_PARAM, "%s is %lld x %lld x %lld x %lld; it must be %lld x %lld x %lld x 2", name, (long long)t->dims[0],
                       (long long)t->dims[1], (long long)t->dims[2], (long long)t->dims[3], (long long)n, (long long)h, (long long)w);
    if (t->type != type)
        return dn_fail(DN_BAD_PARAM, "%s has type %s, the data has %s; they must be equal", name, dn_dtype_name(t->type),
                       dn_dtype_name(type));
    return DN_SUCCESS;
}

dn_status dn_st_grid_check(const dn_problem *p)
{
    if (p->dir != DN_DIR_FWD && p->dir != DN_DIR_BWD_DATA)
        return dn_fail(DN_BAD_PARAM, "direction is %s; the grid generator has fwd and bwd_data", dn_dir_name(p->dir));
    bool fwd = p->dir == DN_DIR_FWD;
    const dn_tensor *theta = &p->t[fwd ? DN_X : DN_DX], *grid = &p->t[fwd ? DN_Y : DN_DY];
    if (theta->rank != 3 || theta->dims[1] != 2 || theta->dims[2] != 3)
        return dn_fail(DN_BAD_PARAM, "theta has %d dimensions and ends in %lld x %lld; it must be n x 2 x 3", theta->rank,
                       (long long)theta->dims[1], (long long)theta->dims[2]);
    dn_status st = check_grid(grid, (dn_dtype)theta->type, theta->dims[0], grid->dims[1], grid->dims[2], "grid");
    return st == DN_SUCCESS ? check_type((dn_dtype)theta->type) : st;
}

dn_status dn_st_sampler_check(const dn_problem *p)
{
    if (p->dir != DN_DIR_FWD && p->dir != DN_DIR_BWD)
        return dn_fail(DN_BAD_PARAM, "direction is %s; the sampler has fwd and bwd", dn_dir_name(p->dir));
    bool fwd = p->dir == DN_DIR_FWD;
    const dn_tensor *x = &p->t[DN_X], *y = &p->t[fwd ? DN_Y : DN_DY];
    const char *y_name = fwd ? "yDesc" : "dyDesc";
    if (x->rank != 4 || y->rank != 4)
        return dn_fail(DN_BAD_PARAM, "xDesc has %d dimensions and %s %d; both must have 4", x->rank, y_name, y->rank);
    for (int d = 0; d < 2; d++)
        if (x->dims[d] != y->dims[d])
            return dn_fail(DN_BAD_PARAM, "dimension %d of %s is %lld, of xDesc %lld; they must be equal", d, y_name,
                           (long long)y->dims[d], (long long)x->dims[d]);
    if (x->type != y->type)
        return dn_fail(DN_BAD_PARAM, "%s has type %s, xDesc has %s; they must be equal", y_name, dn_dtype_name(y->type),
                       dn_dtype_name(x->type));
    dn_status st = check_grid(&p->t[DN_B], (dn_dtype)x->type, y->dims[0], y->dims[2], y->dims[3], "grid");
    if (st == DN_SUCCESS && !fwd)
        st = dn_problem_like(p, DN_DX, DN_X, DN_BAD_PARAM);
    if (st == DN_SUCCESS && !fwd)
        st = check_grid(&p->t[DN_DZ], (dn_dtype)x->type, y->dims[0], y->dims[2], y->dims[3], "dgrid");
    if (st == DN_SUCCESS && (p->flags & DN_F_IN_PLACE))
        return dn_fail(DN_BAD_PARAM, "an output is written over an input; the sampler cannot work in place");
    return st == DN_SUCCESS ? check_type((dn_dtype)x->type) : st;
}
