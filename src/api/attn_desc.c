/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Descriptors of multi-head attention, and where its weights lie. */
#include "attn.h"

#include <stdlib.h>
#include <string.h>

/* --- sequence data --- */

cudnnStatus_t CUDNNWINAPI cudnnCreateSeqDataDescriptor(cudnnSeqDataDescriptor_t *seqDataDesc)
{
    dn_call_begin("cudnnCreateSeqDataDescriptor");
    return dn_answer(dn_object_create(&dn_seq_pool, (void **)seqDataDesc, "seqDataDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnDestroySeqDataDescriptor(cudnnSeqDataDescriptor_t seqDataDesc)
{
    dn_call_begin("cudnnDestroySeqDataDescriptor");
    dn_seq_desc *d = seqDataDesc ? dn_object_of(&dn_seq_pool, seqDataDesc, "seqDataDesc") : NULL;
    if (d) {
        free(d->lengths);
        d->lengths = NULL;
    }
    return dn_answer(dn_object_destroy(&dn_seq_pool, seqDataDesc, "seqDataDesc"));
}

void dn_seq_tensor(dn_tensor *t, int type, const int32_t dims[4], const int32_t axes[4])
{
    int64_t stride = 1;
    memset(t, 0, sizeof *t);
    t->type = (uint8_t)type;
    t->rank = 4;
    t->vect = 1;
    for (int i = 3; i >= 0; i--) {
        t->dims[axes[i]] = dims[axes[i]];
        t->strides[axes[i]] = stride;
        stride *= dims[axes[i]];
    }
}

static dn_status check_axes(const cudnnSeqDataAxis_t axes[4])
{
    unsigned seen = 0;
    for (int i = 0; i < 4; i++) {
        if ((unsigned)axes[i] > 3)
            return dn_fail(DN_BAD_PARAM, "axes[%d] is %d; it must be one of cudnnSeqDataAxis_t", i, (int)axes[i]);
        if (seen >> axes[i] & 1)
            return dn_fail(DN_BAD_PARAM, "axes[%d] is %d, which was there already; axes must name each axis once", i, (int)axes[i]);
        seen |= 1u << axes[i];
    }
    return axes[3] == CUDNN_SEQDATA_VECT_DIM ? DN_SUCCESS
                                             : dn_fail(DN_BAD_PARAM, "axes[3] is %d; it must be CUDNN_SEQDATA_VECT_DIM", (int)axes[3]);
}

static dn_status check_dims(int type, const int dims[4])
{
    int64_t bytes = (int64_t)dn_dtype_size((dn_dtype)type);
    for (int i = 0; i < 4; i++) {
        if (dims[i] < 1)
            return dn_fail(DN_BAD_PARAM, "dimA[%d] is %d; it must be 1 or more", i, dims[i]);
        if (__builtin_mul_overflow(bytes, dims[i], &bytes) || (uint64_t)bytes > SIZE_MAX || bytes > DN_COUNT_MAX)
            return dn_fail(DN_BAD_PARAM, "dimA: the data would have more bytes than size_t counts");
    }
    return DN_SUCCESS;
}

static dn_status check_lengths(const int dims[4], size_t size, const int *lengths)
{
    size_t want = (size_t)dims[CUDNN_SEQDATA_BATCH_DIM] * (size_t)dims[CUDNN_SEQDATA_BEAM_DIM];
    if (size != want)
        return dn_fail(DN_BAD_PARAM, "seqLengthArraySize is %zu; it must be %zu, batch times beam", size, want);
    if (!lengths)
        return dn_want(lengths, "seqLengthArray");
    for (size_t i = 0; i < size; i++)
        if (lengths[i] < 1 || lengths[i] > dims[CUDNN_SEQDATA_TIME_DIM])
            return dn_fail(DN_BAD_PARAM, "seqLengthArray[%zu] is %d; it must be 1 to the size of time, %d", i, lengths[i],
                           dims[CUDNN_SEQDATA_TIME_DIM]);
    return DN_SUCCESS;
}

static dn_status check_seq(int type, int rank, const int *dims, const cudnnSeqDataAxis_t *axes)
{
    if (rank < 1)
        return dn_fail(DN_BAD_PARAM, "nbDims is %d; it must be 4", rank);
    if (rank != CUDNN_SEQDATA_DIM_COUNT)
        return dn_fail(DN_NOT_SUPPORTED, "nbDims is %d; it must be 4", rank);
    if (!dn_dtype_valid(type))
        return dn_fail(DN_BAD_PARAM, "dataType is %d; it must be one of cudnnDataType_t", type);
    if (type != DN_F32 && type != DN_F64 && type != DN_F16 && type != DN_BF16)
        return dn_fail(DN_NOT_SUPPORTED, "dataType is %s; it must be f16, bf16, f32 or f64", dn_dtype_name((dn_dtype)type));
    if (dn_want(dims, "dimA") || dn_want(axes, "axes"))
        return DN_BAD_PARAM;
    dn_status st = check_dims(type, dims);
    return st == DN_SUCCESS ? check_axes(axes) : st;
}

cudnnStatus_t CUDNNWINAPI cudnnSetSeqDataDescriptor(cudnnSeqDataDescriptor_t seqDataDesc, cudnnDataType_t dataType, int nbDims,
                                                    const int dimA[], const cudnnSeqDataAxis_t axes[], size_t seqLengthArraySize,
                                                    const int seqLengthArray[], void *paddingFill)
{
    dn_call_begin("cudnnSetSeqDataDescriptor");
    dn_seq_desc *d = dn_object_of(&dn_seq_pool, seqDataDesc, "seqDataDesc");
    dn_status st = d ? check_seq((int)dataType, nbDims, dimA, axes) : DN_BAD_PARAM;
    if (st == DN_SUCCESS)
        st = check_lengths(dimA, seqLengthArraySize, seqLengthArray);
    if (st != DN_SUCCESS)
        return dn_answer(st);
    int32_t *lengths = malloc(seqLengthArraySize * sizeof *lengths);
    if (!lengths)
        return dn_answer(dn_fail(DN_ALLOC_FAILED, "no memory for %zu sequence lengths", seqLengthArraySize));
    memcpy(lengths, seqLengthArray, seqLengthArraySize * sizeof *lengths);
    free(d->lengths);
    d->lengths = lengths;
    d->count = seqLengthArraySize;
    d->type = (int32_t)dataType;
    for (int i = 0; i < 4; i++) {
        d->dims[i] = dimA[i];
        d->axes[i] = (int32_t)axes[i];
    }
    memset(d->fill, 0, sizeof d->fill);
    if (paddingFill)
        memcpy(d->fill, paddingFill, dn_dtype_size((dn_dtype)d->type));
    d->set = 1;
    return CUDNN_STATUS_SUCCESS;
}

/* One never set reads as zeros, as the vendor's does. */
cudnnStatus_t CUDNNWINAPI cudnnGetSeqDataDescriptor(const cudnnSeqDataDescriptor_t seqDataDesc, cudnnDataType_t *dataType, int *nbDims,
                                                    int nbDimsRequested, int dimA[], cudnnSeqDataAxis_t axes[], size_t *seqLengthArraySize,
                                                    size_t seqLengthSizeRequested, int seqLengthArray[], void *paddingFill)
{
    dn_call_begin("cudnnGetSeqDataDescriptor");
    const dn_seq_desc *d = dn_object_of(&dn_seq_pool, seqDataDesc, "seqDataDesc");
    if (!d || dn_want_range(nbDimsRequested, 0, INT32_MAX, "nbDimsRequested", "0 or more"))
        return dn_answer(DN_BAD_PARAM);
    if (dataType)
        *dataType = (cudnnDataType_t)d->type;
    if (nbDims)
        *nbDims = CUDNN_SEQDATA_DIM_COUNT;
    for (int i = 0; i < CUDNN_SEQDATA_DIM_COUNT && i < nbDimsRequested; i++) {
        if (dimA)
            dimA[i] = d->dims[i];
        if (axes)
            axes[i] = (cudnnSeqDataAxis_t)d->axes[i];
    }
    if (seqLengthArraySize)
        *seqLengthArraySize = d->count;
    for (size_t i = 0; seqLengthArray && i < d->count && i < seqLengthSizeRequested; i++)
        seqLengthArray[i] = d->lengths[i];
    if (paddingFill)
        memcpy(paddingFill, d->fill, dn_dtype_size((dn_dtype)d->type));
    return CUDNN_STATUS_SUCCESS;
}

/* --- the layer --- */

cudnnStatus_t CUDNNWINAPI cudnnCreateAttnDescriptor(cudnnAttnDescriptor_t *attnDesc)
{
    dn_call_begin("cudnnCreateAttnDescriptor");
    return dn_answer(dn_object_create(&dn_attn_pool, (void **)attnDesc, "attnDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyAttnDescriptor(cudnnAttnDescriptor_t attnDesc)
{
    dn_call_begin("cudnnDestroyAttnDescriptor");
    return dn_answer(dn_object_destroy(&dn_attn_pool, attnDesc, "attnDesc"));
}

static dn_status check_types(int type, int compute, int math)
{
    if (!dn_dtype_valid(type) || !dn_dtype_valid(compute))
        return dn_fail(DN_BAD_PARAM, "dataType is %d, computePrec %d; they must be of cudnnDataType_t", type, compute);
    if (math < 0 || math > 3)
        return dn_fail(DN_BAD_PARAM, "mathType is %d; it must be one of cudnnMathType_t", math);
    if (type != DN_F16 && type != DN_BF16 && type != DN_F32 && type != DN_F64)
        return dn_fail(DN_BAD_PARAM, "dataType is %s; it must be f16, bf16, f32 or f64", dn_dtype_name((dn_dtype)type));
    if (compute != DN_F16 && compute != DN_F32 && compute != DN_F64)
        return dn_fail(DN_BAD_PARAM, "computePrec is %s; it must be f16, f32 or f64", dn_dtype_name((dn_dtype)compute));
    bool good = type == DN_F64 ? compute == DN_F64 : compute == DN_F32 || (type == DN_F16 && compute == DN_F16);
    return good ? DN_SUCCESS : dn_fail(DN_NOT_SUPPORTED, "computePrec is %s for %s data; it must be f64 for f64, f32 for others, or f16 for f16",
                                       dn_dtype_name((dn_dtype)compute), dn_dtype_name((dn_dtype)type));
}

static dn_status check_sizes(const dn_attn_desc *d)
{
    const struct { int32_t v; int32_t least; const char *name; } sizes[] = {
        { d->p.heads, 1, "nHeads" }, { d->in[0], 1, "qSize" }, { d->in[1], 1, "kSize" }, { d->in[2], 1, "vSize" },
        { d->p.q_proj, 0, "qProjSize" }, { d->p.k_proj, 0, "kProjSize" }, { d->p.v_proj, 0, "vProjSize" }, { d->p.o_proj, 0, "oProjSize" },
        { d->s, 1, "qoMaxSeqLength" }, { d->t, 1, "kvMaxSeqLength" }, { d->batch, 1, "maxBatchSize" }, { d->beam, 1, "maxBeamSize" },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].v < sizes[i].least)
            return dn_fail(DN_BAD_PARAM, "%s is %d; it must be %d or more", sizes[i].name, sizes[i].v, sizes[i].least);
    int q = d->p.q_proj ? d->p.q_proj : d->in[0], k = d->p.k_proj ? d->p.k_proj : d->in[1];
    if (q != k)
        return dn_fail(DN_BAD_PARAM, "queries have %d values after their projection and keys %d; they must have as many", q, k);
    return dn_attn_weights(d) >= 0 ? DN_SUCCESS : dn_fail(DN_BAD_PARAM, "the weights would have more bytes than size_t counts");
}

int64_t dn_attn_weights(const dn_attn_desc *d)
{
    int64_t in[3] = { d->in[0], d->in[1], d->in[2] }, n = dn_attn_weight_count(&d->p, in);
    return n > DN_COUNT_MAX ? -1 : n;
}

cudnnStatus_t CUDNNWINAPI cudnnSetAttnDescriptor(cudnnAttnDescriptor_t attnDesc, unsigned attnMode, int nHeads, double smScaler,
                                                 cudnnDataType_t dataType, cudnnDataType_t computePrec, cudnnMathType_t mathType,
                                                 cudnnDropoutDescriptor_t attnDropoutDesc, cudnnDropoutDescriptor_t postDropoutDesc,
                                                 int qSize, int kSize, int vSize, int qProjSize, int kProjSize, int vProjSize, int oProjSize,
                                                 int qoMaxSeqLength, int kvMaxSeqLength, int maxBatchSize, int maxBeamSize)
{
    dn_call_begin("cudnnSetAttnDescriptor");
    dn_attn_desc *d = dn_object_of(&dn_attn_pool, attnDesc, "attnDesc");
    if (!d || (attnDropoutDesc && !dn_object_of(&dn_dropout_pool, attnDropoutDesc, "attnDropoutDesc")) ||
        (postDropoutDesc && !dn_object_of(&dn_dropout_pool, postDropoutDesc, "postDropoutDesc")))
        return dn_answer(DN_BAD_PARAM);
    dn_attn_desc n = { .cookie = d->cookie, .set = 1, .mode = attnMode, .type = (int32_t)dataType, .compute = (int32_t)computePrec,
                       .math = (int32_t)mathType, .dropout = attnDropoutDesc, .post = postDropoutDesc, .in = { qSize, kSize, vSize },
                       .s = qoMaxSeqLength, .t = kvMaxSeqLength, .batch = maxBatchSize, .beam = maxBeamSize,
                       .p = { .heads = nHeads, .q_proj = qProjSize, .k_proj = kProjSize, .v_proj = vProjSize, .o_proj = oProjSize,
                              .bias = (attnMode & CUDNN_ATTN_ENABLE_PROJ_BIASES) != 0, .scale = smScaler } };
    if (attnMode & ~(CUDNN_ATTN_QUERYMAP_ONE_TO_ONE | CUDNN_ATTN_ENABLE_PROJ_BIASES))
        return dn_answer(dn_fail(DN_BAD_PARAM, "attnMode is %#x; it must be made of CUDNN_ATTN_* flags", attnMode));
    if (!(smScaler >= 0))
        return dn_answer(dn_fail(DN_BAD_PARAM, "smScaler is %g; it must be 0 or more", smScaler));
    dn_status st = check_types(n.type, n.compute, n.math);
    if (st == DN_SUCCESS)
        st = check_sizes(&n);
    if (st == DN_SUCCESS)
        *d = n;
    return dn_answer(st);
}

#define GIVE(to, what) do { if (to) *(to) = (what); } while (0)

cudnnStatus_t CUDNNWINAPI cudnnGetAttnDescriptor(cudnnAttnDescriptor_t attnDesc, unsigned *attnMode, int *nHeads, double *smScaler,
                                                 cudnnDataType_t *dataType, cudnnDataType_t *computePrec, cudnnMathType_t *mathType,
                                                 cudnnDropoutDescriptor_t *attnDropoutDesc, cudnnDropoutDescriptor_t *postDropoutDesc,
                                                 int *qSize, int *kSize, int *vSize, int *qProjSize, int *kProjSize, int *vProjSize,
                                                 int *oProjSize, int *qoMaxSeqLength, int *kvMaxSeqLength, int *maxBatchSize,
                                                 int *maxBeamSize)
{
    dn_call_begin("cudnnGetAttnDescriptor");
    const dn_attn_desc *d = dn_object_of(&dn_attn_pool, attnDesc, "attnDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    GIVE(attnMode, d->mode);
    GIVE(nHeads, d->p.heads);
    GIVE(smScaler, d->p.scale);
    GIVE(dataType, (cudnnDataType_t)d->type);
    GIVE(computePrec, (cudnnDataType_t)d->compute);
    GIVE(mathType, (cudnnMathType_t)d->math);
    GIVE(attnDropoutDesc, d->dropout);
    GIVE(postDropoutDesc, d->post);
    GIVE(qSize, d->in[0]);
    GIVE(kSize, d->in[1]);
    GIVE(vSize, d->in[2]);
    GIVE(qProjSize, d->p.q_proj);
    GIVE(kProjSize, d->p.k_proj);
    GIVE(vProjSize, d->p.v_proj);
    GIVE(oProjSize, d->p.o_proj);
    GIVE(qoMaxSeqLength, d->s);
    GIVE(kvMaxSeqLength, d->t);
    GIVE(maxBatchSize, d->batch);
    GIVE(maxBeamSize, d->beam);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnGetMultiHeadAttnWeights(cudnnHandle_t handle, const cudnnAttnDescriptor_t attnDesc,
                                                       cudnnMultiHeadAttnWeightKind_t wKind, size_t weightSizeInBytes, const void *weights,
                                                       cudnnTensorDescriptor_t wDesc, void **wAddr)
{
    dn_call_begin("cudnnGetMultiHeadAttnWeights");
    const dn_attn_desc *d = dn_handle_of(handle) ? dn_attn_of(attnDesc, "attnDesc") : NULL;
    if (wAddr)
        *wAddr = NULL;
    dn_tensor_desc *t = d ? dn_object_of(&dn_tensor_pool, wDesc, "wDesc") : NULL;
    if (!t || dn_want_range((int)wKind, 0, DN_ATTN_KINDS - 1, "wKind", "one of cudnnMultiHeadAttnWeightKind_t") || dn_want(weights, "weights") ||
        dn_want(wAddr, "wAddr"))
        return dn_answer(DN_BAD_PARAM);
    size_t size = dn_dtype_size((dn_dtype)d->type), need = (size_t)dn_attn_weights(d) * size;
    if (weightSizeInBytes < need)
        return dn_answer(dn_fail(DN_BAD_PARAM, "weightSizeInBytes is %zu; it must be %zu or more", weightSizeInBytes, need));
    dn_attn_weight w;
    int64_t in[3] = { d->in[0], d->in[1], d->in[2] };
    dn_attn_weight_at(&d->p, in, (int)wKind, &w);
    t->set = w.dims[0] > 0;
    t->format = -1;
    memset(&t->t, 0, sizeof t->t);
    if (!t->set)
        return CUDNN_STATUS_SUCCESS;
    t->t = (dn_tensor){ .type = (uint8_t)d->type, .rank = 3, .vect = 1 };
    memcpy(t->t.dims, w.dims, sizeof w.dims);
    memcpy(t->t.strides, w.strides, sizeof w.strides);
    *wAddr = (char *)(uintptr_t)weights + (size_t)w.at * size;
    return CUDNN_STATUS_SUCCESS;
}
