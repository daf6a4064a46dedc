/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * cudnnIm2Col and cudnnReorderFilterAndBias. */
#include "api.h"

/* The matrix has a row per filter element and a column per output position, packed, in the type of x. */
static dn_status describe_matrix(dn_problem *p)
{
    const dn_conv_param *u = &p->u.conv;
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W];
    dn_tensor y = { .type = x->type, .rank = 2, .vect = 1, .dims = { x->dims[1], x->dims[0] } };
    for (int j = 0; j < u->spatial && j + 2 < x->rank && j + 2 < w->rank; j++)
        if (__builtin_mul_overflow(y.dims[1], dn_conv_out_dim(x->dims[j + 2], w->dims[j + 2], u->pad[j], u->stride[j], u->dilation[j]),
                                   &y.dims[1]) || __builtin_mul_overflow(y.dims[0], w->dims[j + 2], &y.dims[0]))
            return dn_fail(DN_BAD_PARAM, "the matrix has more than 2^63 elements");
    if (!dn_tensor_pack(&y))
        return dn_fail(DN_BAD_PARAM, "the matrix has more than 2^63 elements");
    p->t[DN_Y] = y;
    return DN_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnIm2Col(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc, const void *x,
                                      const cudnnFilterDescriptor_t wDesc, const cudnnConvolutionDescriptor_t convDesc,
                                      void *colBuffer)
{
    dn_call_begin("cudnnIm2Col");
    dn_problem p;
    dn_args a = { 0 };
    dn_handle *h = dn_handle_of(handle);
    const dn_tensor *xt = h ? dn_tensor_of(xDesc, "xDesc") : NULL;
    if (!xt || dn_want(x, "x"))
        return dn_answer(DN_BAD_PARAM);
    const dn_filter_desc *w = dn_filter_of(wDesc, "wDesc");
    const dn_conv_desc *conv = w ? dn_conv_of(convDesc, "convDesc") : NULL;
    if (!conv || dn_want(colBuffer, "colBuffer"))
        return dn_answer(DN_BAD_PARAM);
    dn_problem_init(&p, DN_OP_IM2COL, DN_DIR_FWD);
    p.u.conv = conv->p;
    dn_bind(&p, &a, DN_X, xt, x);
    p.t[DN_W] = w->t;
    p.align[DN_W] = 16;
    dn_status st = describe_matrix(&p);
    if (st == DN_SUCCESS) {
        const dn_tensor y = p.t[DN_Y];
        dn_bind(&p, &a, DN_Y, &y, colBuffer);
        p.flags |= DN_F_BETA_ZERO;
        a.alpha = 1;
        st = dn_im2col_check(&p);
        if (st == DN_SUCCESS && x == colBuffer)
            st = dn_fail(DN_BAD_PARAM, "colBuffer is x; the matrix cannot lie on the image that it is made of");
    }
    return dn_answer(st == DN_SUCCESS ? dn_run(h, &p, &a) : st);
}

/* to = from, elements moved by the strides alone: rank dims, from's strides, to packed. */
static dn_status move(dn_handle *h, int type, int rank, const int64_t *dims, const int64_t *strides, const void *from, void *to)
{
    dn_problem p;
    dn_args a = { .alpha = 1 };
    dn_tensor x = { .type = (uint8_t)type, .rank = (uint8_t)rank, .vect = 1 };
    for (int d = 0; d < rank; d++) {
        x.dims[d] = dims[d];
        x.strides[d] = strides[d];
    }
    dn_tensor y = x;
    dn_tensor_pack(&y);
    dn_problem_init(&p, DN_OP_TRANSFORM, DN_DIR_FWD);
    dn_bind(&p, &a, DN_X, &x, from);
    dn_bind(&p, &a, DN_Y, &y, to);
    p.flags = DN_F_BETA_ZERO;
    return dn_run(h, &p, &a);
}

/* Filter element (k, c, r, s) of the packed x32 layout [K][C/32][R][S][32] goes to [C/32][R][S][K/8][k % 2][c/4 % 8][k/2 % 4][c % 4];
 * bias k of [K/32][4][2][4] to [K/32][2][4][4]. The order is the vendor's, as XLA's replacement of the call writes it down. */
static dn_status reorder_filter(dn_handle *h, const dn_tensor *t, const void *from, void *to)
{
    int64_t place = 32, row = t->dims[3] * place, plane = t->dims[2] * row, k = t->dims[1] / 32 * plane;
    const int64_t dims[] = { t->dims[1] / 32, t->dims[2], t->dims[3], t->dims[0] / 8, 2, 8, 4, 4 };
    const int64_t strides[] = { plane, row, place, 8 * k, k, 4, 2 * k, 1 };
    return move(h, DN_I8, 8, dims, strides, from, to);
}

static dn_status reorder_bias(dn_handle *h, int64_t k, const void *from, void *to)
{
    const int64_t dims[] = { k / 32, 2, 4, 4 }, strides[] = { 32, 4, 8, 1 };
    return move(h, DN_F32, 4, dims, strides, from, to);
}

/* NO_REORDER copies. */
static dn_status copy(dn_handle *h, dn_dtype type, int64_t n, const void *from, void *to)
{
    const int64_t one = 1;
    return move(h, type, 1, &n, &one, from, to);
}

cudnnStatus_t CUDNNWINAPI cudnnReorderFilterAndBias(cudnnHandle_t handle, const cudnnFilterDescriptor_t filterDesc,
                                                    cudnnReorderType_t reorderType, const void *filterData, void *reorderedFilterData,
                                                    int reorderBias, const void *biasData, void *reorderedBiasData)
{
    dn_call_begin("cudnnReorderFilterAndBias");
    dn_handle *h = dn_handle_of(handle);
    const dn_filter_desc *f = h ? dn_filter_of(filterDesc, "filterDesc") : NULL;
    if (!f || dn_want_range((int)reorderType, 0, 1, "reorderType", "DEFAULT_REORDER or NO_REORDER") ||
        dn_want(filterData, "filterData") || dn_want(reorderedFilterData, "reorderedFilterData") ||
        (reorderBias && (dn_want(biasData, "biasData") || dn_want(reorderedBiasData, "reorderedBiasData"))))
        return dn_answer(DN_BAD_PARAM);
    if (filterData == reorderedFilterData || (reorderBias && biasData == reorderedBiasData))
        return dn_answer(dn_fail(DN_BAD_PARAM, "a result lies on its source; they must not overlap"));
    if (f->t.type != DN_I8X32 || f->format != CUDNN_TENSOR_NCHW_VECT_C || f->t.rank != 4)
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "filterDesc has type %s and %d dimensions; it must be INT8x32, NCHW_VECT_C, 4",
                                 dn_dtype_name((dn_dtype)f->t.type), f->t.rank));
    if (f->t.dims[0] % 32)
        return dn_answer(dn_fail(DN_NOT_SUPPORTED, "filterDesc has %lld outputs; they must be a multiple of 32",
                                 (long long)f->t.dims[0]));
    bool moved = reorderType == CUDNN_DEFAULT_REORDER;
    dn_status st = moved ? reorder_filter(h, &f->t, filterData, reorderedFilterData)
                         : copy(h, DN_I8, dn_tensor_count(&f->t), filterData, reorderedFilterData);
    if (st == DN_SUCCESS && reorderBias)
        st = moved ? reorder_bias(h, f->t.dims[0], biasData, reorderedBiasData)
                   : copy(h, DN_F32, f->t.dims[0], biasData, reorderedBiasData);
    return dn_answer(st);
}
