/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Pooling: one output per window; shape rules. Tensors: fwd X Y, bwd_data X Y DY DX. Dimensions 0 and 1 are batch and channel,
 * the rest is pooled. Window i of a dimension covers inputs i * stride - pad ... i * stride - pad + window - 1. The size query
 * answers 1 + (in + 2 pad - window) / stride of them, rounded down, but the output may have fewer, or more as long as the last
 * window begins before the input's end (Caffe rounds the size up and counts on that). A window that reaches past the padded input
 * is cut there. As the padding is less than the window, each window holds at least one input. */
#include "ops/like.h"

static dn_status check_param(const dn_pool_param *q, int rank)
{
    if (q->mode < 0 || q->mode > 3)
        return dn_fail(DN_BAD_PARAM, "pooling mode is %d; it must be 0 to 3", q->mode);
    if (q->spatial < 1 || q->spatial > DN_SPATIAL_MAX)
        return dn_fail(DN_BAD_PARAM, "the window has %d dimensions; it must have 1 to %d", q->spatial, DN_SPATIAL_MAX);
    if (rank != q->spatial + 2)
        return dn_fail(DN_BAD_PARAM, "xDesc has %d dimensions; a window of %d needs %d", rank, q->spatial, q->spatial + 2);
    for (int i = 0; i < q->spatial; i++) {
        if (q->window[i] < 1 || q->stride[i] < 1)
            return dn_fail(DN_BAD_PARAM, "window and stride %d are %d and %d; they must be 1 or more", i, q->window[i],
                           q->stride[i]);
        if (q->pad[i] < 0 || q->pad[i] >= q->window[i])
            return dn_fail(DN_BAD_PARAM, "padding %d is %d; it must be 0 or more and less than the window, which is %d", i, q->pad[i],
                           q->window[i]);
    }
    return DN_SUCCESS;
}

static dn_status check_output(const dn_problem *p)
{
    const dn_pool_param *q = &p->u.pool;
    const dn_tensor *x = &p->t[DN_X], *y = &p->t[DN_Y];
    if (y->rank != x->rank)
        return dn_fail(DN_BAD_PARAM, "yDesc has %d dimensions, xDesc has %d; they must be equal", y->rank, x->rank);
    for (int d = 0; d < 2; d++)
        if (y->dims[d] != x->dims[d])
            return dn_fail(DN_BAD_PARAM, "dimension %d of yDesc is %lld, of xDesc %lld; they must be equal", d,
                           (long long)y->dims[d], (long long)x->dims[d]);
    if (y->type != x->type)
        return dn_fail(DN_BAD_PARAM, "yDesc has type %s, xDesc has %s; they must be equal", dn_dtype_name(y->type),
                       dn_dtype_name(x->type));
    for (int i = 0; i < q->spatial; i++) {
        int64_t in = x->dims[2 + i], most = (in + q->pad[i] - 1) / q->stride[i] + 1;
        if (y->dims[2 + i] > most)
            return dn_fail(DN_BAD_PARAM, "dimension %d of yDesc is %lld; with padding %d and stride %d at most %lld windows begin"
                           " before the end of the input, which is %lld", 2 + i, (long long)y->dims[2 + i], q->pad[i], q->stride[i],
                           (long long)most, (long long)in);
    }
    return DN_SUCCESS;
}

dn_status dn_pool_check(const dn_problem *p)
{
    dn_status st = check_param(&p->u.pool, p->t[DN_X].rank);
    if (st == DN_SUCCESS)
        st = check_output(p);
    if (st == DN_SUCCESS && p->dir != DN_DIR_FWD)
        st = dn_problem_like(p, DN_DY, DN_Y, DN_BAD_PARAM);
    if (st == DN_SUCCESS && p->dir != DN_DIR_FWD)
        st = dn_problem_like(p, DN_DX, DN_X, DN_BAD_PARAM);
    if (st == DN_SUCCESS && (p->flags & DN_F_IN_PLACE))
        return dn_fail(DN_BAD_PARAM, "the output is written over an input; pooling cannot work in place");
    return st;
}
