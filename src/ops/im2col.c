/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The matrix of a convolution by GEMM: Y[(c, r...)][(n, o...)] is the element of X that filter element (c, r...) is multiplied by
 * at output position (n, o...), 0 in the padding; so by the vendor's 9.19, as measured. W is a description only. Shape rules. */
#include "ops/problem.h"

dn_status dn_im2col_check(const dn_problem *p)
{
    const dn_conv_param *u = &p->u.conv;
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W], *y = &p->t[DN_Y];
    if (p->dir != DN_DIR_FWD)
        return dn_fail(DN_BAD_PARAM, "direction is %s; im2col has fwd alone", dn_dir_name((dn_dir)p->dir));
    if (u->spatial < 1 || u->spatial > DN_SPATIAL_MAX || x->rank != u->spatial + 2 || w->rank != x->rank)
        return dn_fail(DN_BAD_PARAM, "xDesc has %d dimensions, wDesc %d, convDesc %d spatial ones; they must agree", x->rank, w->rank,
                       u->spatial);
    if (u->groups < 1 || w->dims[1] * u->groups != x->dims[1])
        return dn_fail(DN_BAD_PARAM, "xDesc has %lld channels, wDesc %lld per group, convDesc %d groups; they must agree",
                       (long long)x->dims[1], (long long)w->dims[1], u->groups);
    if (x->vect != 1 || y->vect != 1)
        return dn_fail(DN_NOT_SUPPORTED, "xDesc has type %s; vectorised types have no such matrix", dn_dtype_name((dn_dtype)x->type));
    int64_t rows = x->dims[1], cols = x->dims[0];
    for (int j = 0; j < u->spatial; j++) {
        if (u->pad[j] < 0 || u->stride[j] < 1 || u->dilation[j] < 1)
            return dn_fail(DN_BAD_PARAM, "padding, stride and dilation %d are %d, %d and %d; they must be at least 0, 1 and 1", j,
                           u->pad[j], u->stride[j], u->dilation[j]);
        int64_t out = dn_conv_out_dim(x->dims[j + 2], w->dims[j + 2], u->pad[j], u->stride[j], u->dilation[j]);
        if (out < 1)
            return dn_fail(DN_BAD_PARAM, "dimension %d of the output would be %lld: size %lld with padding %d, window %lld, stride %d,"
                           " dilation %d", j + 2, (long long)out, (long long)x->dims[j + 2], u->pad[j], (long long)w->dims[j + 2],
                           u->stride[j], u->dilation[j]);
        if (__builtin_mul_overflow(rows, w->dims[j + 2], &rows) || __builtin_mul_overflow(cols, out, &cols))
            return dn_fail(DN_BAD_PARAM, "the matrix has more than 2^63 elements");
    }
    if (y->rank != 2 || y->dims[0] != rows || y->dims[1] != cols || y->type != x->type)
        return dn_fail(DN_BAD_PARAM, "the matrix must be %lld x %lld of type %s", (long long)rows, (long long)cols,
                       dn_dtype_name((dn_dtype)x->type));
    return DN_SUCCESS;
}
