/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution: shape rules. x is n, c, space; w is k, c / groups, window; y is n, k, out space, where
 *     out = 1 + floor((in + 2 pad - ((window - 1) dilation + 1)) / stride).
 * A gradient has the shape of what it is the gradient of. Types are the rows' business: they say what they take. */
#include "ops/problem.h"

/* What the caller's arguments are called, for the texts: forward, backward data, backward filter, backward bias. */
static const char *const names[4][DN_ROLE_COUNT] = {
    {"xDesc", "yDesc", "wDesc", "zDesc", "biasDesc", "", "", ""},
    {"dxDesc", "dyDesc", "wDesc", "", "", "", "", ""},
    {"xDesc", "dyDesc", "dwDesc", "", "", "", "", ""},
    {"", "dyDesc", "", "", "dbDesc", "", "", ""},
};

static const char *name_of(const dn_problem *p, dn_role r)
{
    return names[p->dir <= DN_DIR_BWD_BIAS ? p->dir : 0][r];
}

int64_t dn_conv_out_dim(int64_t in, int64_t window, int64_t pad, int64_t stride, int64_t dilation)
{
    int64_t over = in + 2 * pad - ((window - 1) * dilation + 1);
    return over < 0 ? -((-over + stride - 1) / stride) + 1 : over / stride + 1;
}

static dn_status check_param(const dn_conv_param *u)
{
    if (u->spatial < 1 || u->spatial > DN_SPATIAL_MAX)
        return dn_fail(DN_BAD_PARAM, "convDesc has %d dimensions; it must have 1 to %d", u->spatial, DN_SPATIAL_MAX);
    if (u->groups < 1)
        return dn_fail(DN_BAD_PARAM, "the group count is %d; it must be 1 or more", u->groups);
    if (u->mode != 0 && u->mode != 1)
        return dn_fail(DN_BAD_PARAM, "the convolution mode is %d; it must be 0 or 1", u->mode);
    for (int j = 0; j < u->spatial; j++)
        if (u->pad[j] < 0 || u->stride[j] < 1 || u->dilation[j] < 1)
            return dn_fail(DN_BAD_PARAM, "padding, stride and dilation %d are %d, %d and %d; they must be at least 0, 1 and 1", j,
                           u->pad[j], u->stride[j], u->dilation[j]);
    return DN_SUCCESS;
}

static dn_status check_rank(const dn_problem *p, dn_role r, int rank)
{
    if (p->t[r].rank != rank)
        return dn_fail(DN_BAD_PARAM, "%s has %d dimensions; a convolution of %d spatial dimensions needs %d", name_of(p, r),
                       p->t[r].rank, rank - 2, rank);
    return DN_SUCCESS;
}

static dn_status check_channels(const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W], *y = &p->t[DN_Y];
    const char *xn = name_of(p, DN_X), *wn = name_of(p, DN_W), *yn = name_of(p, DN_Y);
    int groups = p->u.conv.groups;
    if (w->dims[1] * groups != x->dims[1])
        return dn_fail(DN_BAD_PARAM, "%s has %lld channels, %s wants %lld x %d group%s", xn, (long long)x->dims[1], wn,
                       (long long)w->dims[1], groups, groups == 1 ? "" : "s");
    if (w->dims[0] % groups)
        return dn_fail(DN_BAD_PARAM, "%s has %lld outputs; they must be a multiple of the group count, which is %d", wn,
                       (long long)w->dims[0], groups);
    if (y->dims[1] != w->dims[0])
        return dn_fail(DN_BAD_PARAM, "%s has %lld channels, %s gives %lld", yn, (long long)y->dims[1], wn, (long long)w->dims[0]);
    if (y->dims[0] != x->dims[0])
        return dn_fail(DN_BAD_PARAM, "%s has a batch of %lld, %s of %lld; they must be equal", yn, (long long)y->dims[0], xn,
                       (long long)x->dims[0]);
    return DN_SUCCESS;
}

static dn_status check_space(const dn_problem *p)
{
    const dn_conv_param *u = &p->u.conv;
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W], *y = &p->t[DN_Y];
    for (int j = 0; j < u->spatial; j++) {
        int d = j + 2;
        int64_t out = dn_conv_out_dim(x->dims[d], w->dims[d], u->pad[j], u->stride[j], u->dilation[j]);
        if (out < 1)
            return dn_fail(DN_BAD_PARAM,
                           "dimension %d of the output would be %lld: size %lld with padding %d, window %lld, stride %d, dilation %d",
                           d, (long long)out, (long long)x->dims[d], u->pad[j], (long long)w->dims[d], u->stride[j], u->dilation[j]);
        if (y->dims[d] != out)
            return dn_fail(DN_BAD_PARAM,
                           "dimension %d of %s is %lld; size %lld with padding %d, window %lld, stride %d, dilation %d gives %lld", d,
                           name_of(p, DN_Y), (long long)y->dims[d], (long long)x->dims[d], u->pad[j], (long long)w->dims[d],
                           u->stride[j], u->dilation[j], (long long)out);
    }
    return DN_SUCCESS;
}

/* b is 1, k, 1, 1 ... */
static dn_status check_bias(const dn_problem *p)
{
    const dn_tensor *b = &p->t[DN_B], *y = &p->t[DN_Y];
    const char *bn = name_of(p, DN_B), *yn = name_of(p, DN_Y);
    if (b->rank != y->rank)
        return dn_fail(DN_BAD_PARAM, "%s has %d dimensions, %s has %d; they must be equal", bn, b->rank, yn, y->rank);
    for (int d = 0; d < b->rank; d++) {
        int64_t want = d == 1 ? y->dims[1] : 1;
        if (b->dims[d] != want)
            return dn_fail(DN_BAD_PARAM, "dimension %d of %s is %lld; it must be %lld", d, bn, (long long)b->dims[d], (long long)want);
    }
    return DN_SUCCESS;
}

static dn_status check_fused(const dn_problem *p)
{
    const dn_tensor *z = &p->t[DN_Z], *y = &p->t[DN_Y];
    const dn_act_param *act = &p->u.conv.act;
    if (check_bias(p) != DN_SUCCESS)
        return DN_BAD_PARAM;
    if (z->rank && !dn_tensor_same_dims(z, y))
        return dn_fail(DN_BAD_PARAM, "zDesc has other sizes than yDesc; they must be equal");
    if (act->mode < 0 || act->mode >= DN_ACT_COUNT)
        return dn_fail(DN_BAD_PARAM, "the activation mode is %d; it must be 0 to %d", act->mode, DN_ACT_COUNT - 1);
    if (act->mode == DN_ACT_IDENTITY && p->algo >= 0 && p->algo != 1)
        return dn_fail(DN_NOT_SUPPORTED,
                       "the identity activation goes with CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM (1) alone; algo is %d",
                       p->algo);
    return DN_SUCCESS;
}

dn_status dn_conv_check(const dn_problem *p)
{
    dn_status st;
    if (p->dir == DN_DIR_BWD_BIAS) {
        if (p->t[DN_Y].rank < 3)
            return dn_fail(DN_BAD_PARAM, "dyDesc has %d dimensions; it must have 3 or more", p->t[DN_Y].rank);
        return check_bias(p);
    }
    if ((st = check_param(&p->u.conv)) != DN_SUCCESS)
        return st;
    int rank = p->u.conv.spatial + 2;
    if ((st = check_rank(p, DN_X, rank)) || (st = check_rank(p, DN_W, rank)) || (st = check_rank(p, DN_Y, rank)))
        return st;
    if ((st = check_channels(p)) || (st = check_space(p)))
        return st;
    return p->op == DN_OP_CONV_BIAS_ACT ? check_fused(p) : DN_SUCCESS;
}
