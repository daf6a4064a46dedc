/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Size of the weight space, and where each matrix and bias lies in it (ops/rnn.h). Read from the vendor's 8.9.7 and 9.19: the number
 * behind the last gate is a legal one in every network, and names the projection or nothing; what is not there has address NULL and a
 * descriptor without dimensions. */
#include "rnn.h"

/* The network of the descriptor where it knows its type and input. */
static dn_status weight_bytes(const dn_rnn_param *p, int type, size_t *bytes)
{
    int64_t count = dn_rnn_weight_count(p);
    size_t n;
    if (count < 0 || __builtin_mul_overflow((size_t)count, dn_dtype_size((dn_dtype)type), &n))
        return dn_fail(DN_NOT_SUPPORTED, "the weight space has more bytes than an address counts");
    *bytes = n;
    return DN_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, size_t *weightSpaceSize)
{
    dn_call_begin("cudnnGetRNNWeightSpaceSize");
    const dn_rnn_desc *d = dn_handle_of(handle) ? dn_object_of(&dn_rnn_pool, rnnDesc, "rnnDesc") : NULL;
    if (!d || dn_want(weightSpaceSize, "weightSpaceSize"))
        return dn_answer(DN_BAD_PARAM);
    if (d->set != DN_RNN_SET_V8)
        return dn_answer(dn_fail(DN_NOT_INITIALIZED, "rnnDesc was not set by cudnnSetRNNDescriptor_v8"));
    return dn_answer(weight_bytes(&d->p, d->type, weightSpaceSize));
}

/* BAD_PARAM unless both numbers are the network's. bias: the projection has none. */
static dn_status find_weight(const dn_rnn_param *p, int pseudo, int linear, bool bias, dn_rnn_weight *w)
{
    int64_t pseudos = dn_rnn_pseudo_layers(p);
    int last = 2 * dn_rnn_gates(p) - bias;
    if (pseudo < 0 || pseudo >= pseudos)
        return dn_fail(DN_BAD_PARAM, "pseudoLayer is %d; it must be 0 to %lld: layers times directions, less 1", pseudo,
                       (long long)pseudos - 1);
    if (linear < 0 || linear > last)
        return dn_fail(DN_BAD_PARAM, "linLayerID is %d; it must be 0 to %d", linear, last);
    *w = (dn_rnn_weight){ 0 };
    if (linear < dn_rnn_linear_layers(p) && !dn_rnn_weight_at(p, pseudo, linear, w))
        return dn_fail(DN_NOT_SUPPORTED, "the weight space has more bytes than an address counts");
    return DN_SUCCESS;
}

/* 1 x rows x columns, packed; no dimensions where there are no rows. */
static dn_status shape(dn_tensor *t, int type, int64_t rows, int64_t columns)
{
    *t = (dn_tensor){ 0 };
    if (!rows)
        return DN_SUCCESS;
    const int dims[3] = { 1, (int)rows, (int)columns };
    dn_status st = dn_tensor_fill(t, type, 3, dims, NULL, "size");
    return st == DN_SUCCESS ? dn_tensor_format(t, CUDNN_TENSOR_NCHW) : st;
}

/* Where rows x columns elements at that offset lie; refuses a space that ends before they do. */
static dn_status place(const void *space, size_t size, int64_t at, const dn_tensor *t, const char *what, void **out)
{
    size_t bytes = dn_dtype_size((dn_dtype)t->type), end = 0;
    *out = NULL;
    if (!t->rank)
        return DN_SUCCESS;
    if (__builtin_mul_overflow((size_t)(at + dn_tensor_count(t)), bytes, &end) || end > size)
        return dn_fail(DN_BAD_PARAM, "weightSpaceSize is %zu; the %s ends at %zu", size, what, end);
    *out = (void *)((uintptr_t)space + (size_t)at * bytes);
    return DN_SUCCESS;
}

static void give(cudnnTensorDescriptor_t desc, const dn_tensor *t)
{
    dn_tensor_desc *d = (dn_tensor_desc *)(void *)desc;
    d->t = *t;
    d->format = CUDNN_TENSOR_NCHW;
    d->set = t->rank != 0;
}

/* weightSpace may be NULL: then the addresses are offsets. */
cudnnStatus_t CUDNNWINAPI cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int32_t pseudoLayer,
    size_t weightSpaceSize, const void *weightSpace, int32_t linLayerID, cudnnTensorDescriptor_t mDesc, void **mAddr,
    cudnnTensorDescriptor_t bDesc, void **bAddr)
{
    dn_call_begin("cudnnGetRNNWeightParams");
    const dn_rnn_desc *d = dn_handle_of(handle) ? dn_rnn_v8_of(rnnDesc) : NULL;
    if (!d || !dn_object_of(&dn_tensor_pool, mDesc, "mDesc") || dn_want(mAddr, "mAddr")
        || !dn_object_of(&dn_tensor_pool, bDesc, "bDesc") || dn_want(bAddr, "bAddr"))
        return dn_answer(DN_BAD_PARAM);
    dn_rnn_weight w;
    dn_tensor m, b;
    void *m_at, *b_at;
    dn_status st = find_weight(&d->p, pseudoLayer, linLayerID, false, &w);
    if (st == DN_SUCCESS)
        st = shape(&m, d->type, w.rows, w.columns);
    if (st == DN_SUCCESS)
        st = shape(&b, d->type, w.bias_rows, 1);
    if (st == DN_SUCCESS)
        st = place(weightSpace, weightSpaceSize, w.matrix, &m, "matrix", &m_at);
    if (st == DN_SUCCESS)
        st = place(weightSpace, weightSpaceSize, w.bias, &b, "bias", &b_at);
    if (st != DN_SUCCESS)
        return dn_answer(st);
    give(mDesc, &m);
    give(bDesc, &b);
    *mAddr = m_at;
    *bAddr = b_at;
    return dn_answer(DN_SUCCESS);
}

#if DN_ABI == 8

/* Input size and type from the first step's tensor, which must agree with what _v8 set. */
static dn_status network_of(const dn_rnn_desc *d, const dn_tensor *x, dn_rnn_param *p)
{
    *p = d->p;
    if (x->dims[1] > INT32_MAX)
        return dn_fail(DN_NOT_SUPPORTED, "xDesc has vectors of more than 2^31 elements");
    if (d->set == DN_RNN_SET_V8 && (x->dims[1] != d->p.input || x->type != d->type))
        return dn_fail(DN_BAD_PARAM, "xDesc has vectors of %lld of type %s, rnnDesc %d of %s; they must be equal", (long long)x->dims[1],
                       dn_dtype_name((dn_dtype)x->type), d->p.input, dn_dtype_name((dn_dtype)d->type));
    p->input = (int32_t)x->dims[1];
    int32_t known;
    return dn_rnn_type(x->type, "xDesc's type", &known);
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNParamsSize(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
                                                const cudnnTensorDescriptor_t xDesc, size_t *sizeInBytes, cudnnDataType_t dataType)
{
    dn_call_begin("cudnnGetRNNParamsSize");
    const dn_rnn_desc *d = dn_handle_of(handle) ? dn_rnn_of(rnnDesc) : NULL;
    const dn_tensor *x = d ? dn_tensor_of(xDesc, "xDesc") : NULL;
    if (!x || dn_want(sizeInBytes, "sizeInBytes"))
        return dn_answer(DN_BAD_PARAM);
    if ((int)dataType != x->type)
        return dn_answer(dn_fail(DN_BAD_PARAM, "dataType is %d, that of xDesc %d; they must be equal", (int)dataType, x->type));
    dn_rnn_param p;
    dn_status st = network_of(d, x, &p);
    return dn_answer(st == DN_SUCCESS ? weight_bytes(&p, x->type, sizeInBytes) : st);
}

/* The filter of one matrix or bias; the size of the space is not looked at, as with the vendor's library. */
static dn_status find_part(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, int pseudo, const cudnnTensorDescriptor_t xDesc,
                           const cudnnFilterDescriptor_t wDesc, const void *space, int linear, bool bias, dn_tensor *t, void **at)
{
    const dn_rnn_desc *d = dn_handle_of(handle) ? dn_rnn_of(rnnDesc) : NULL;
    const dn_tensor *x = d ? dn_tensor_of(xDesc, "xDesc") : NULL;
    const dn_filter_desc *f = x ? dn_filter_of(wDesc, "wDesc") : NULL;
    if (!f)
        return DN_BAD_PARAM;
    if (f->t.type != x->type)
        return dn_fail(DN_BAD_PARAM, "wDesc has type %s, xDesc %s; they must be equal", dn_dtype_name((dn_dtype)f->t.type),
                       dn_dtype_name((dn_dtype)x->type));
    dn_rnn_param p;
    dn_rnn_weight w;
    dn_status st = network_of(d, x, &p);
    if (st == DN_SUCCESS)
        st = find_weight(&p, pseudo, linear, bias, &w);
    if (st == DN_SUCCESS)
        st = bias ? shape(t, x->type, w.bias_rows, 1) : shape(t, x->type, w.rows, w.columns);
    return st == DN_SUCCESS ? place(space, SIZE_MAX, bias ? w.bias : w.matrix, t, "part", at) : st;
}

static cudnnStatus_t give_part(dn_status st, cudnnFilterDescriptor_t desc, const char *name, const dn_tensor *t, void *at, void **out,
                               const char *out_name)
{
    dn_filter_desc *d = st == DN_SUCCESS ? dn_object_of(&dn_filter_pool, desc, name) : NULL;
    if (st == DN_SUCCESS && (!d || dn_want(out, out_name)))
        st = DN_BAD_PARAM;
    if (st != DN_SUCCESS)
        return dn_answer(st);
    d->t = *t;
    d->format = CUDNN_TENSOR_NCHW;
    d->set = t->rank != 0;
    *out = at;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNLinLayerMatrixParams(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, const int pseudoLayer,
    const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc, const void *w, const int linLayerID,
    cudnnFilterDescriptor_t linLayerMatDesc, void **linLayerMat)
{
    dn_tensor t;
    void *at = NULL;
    dn_call_begin("cudnnGetRNNLinLayerMatrixParams");
    dn_status st = find_part(handle, rnnDesc, pseudoLayer, xDesc, wDesc, w, linLayerID, false, &t, &at);
    return give_part(st, linLayerMatDesc, "linLayerMatDesc", &t, at, linLayerMat, "linLayerMat");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNLinLayerBiasParams(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, const int pseudoLayer,
    const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc, const void *w, const int linLayerID,
    cudnnFilterDescriptor_t linLayerBiasDesc, void **linLayerBias)
{
    dn_tensor t;
    void *at = NULL;
    dn_call_begin("cudnnGetRNNLinLayerBiasParams");
    dn_status st = find_part(handle, rnnDesc, pseudoLayer, xDesc, wDesc, w, linLayerID, true, &t, &at);
    return give_part(st, linLayerBiasDesc, "linLayerBiasDesc", &t, at, linLayerBias, "linLayerBias");
}

#endif
