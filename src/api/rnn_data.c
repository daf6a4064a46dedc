/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Descriptors of a batch of sequences. */
#include "rnn.h"

#include <stdlib.h>
#include <string.h>

const dn_rnn_data_desc *dn_rnn_data_of(const cudnnRNNDataDescriptor_t desc, const char *name)
{
    const dn_rnn_data_desc *d = dn_object_of(&dn_rnn_data_pool, desc, name);
    if (d && !d->set) {
        dn_fail(DN_BAD_PARAM, "%s was created but never set", name);
        return NULL;
    }
    return d;
}

cudnnStatus_t CUDNNWINAPI cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t *rnnDataDesc)
{
    dn_call_begin("cudnnCreateRNNDataDescriptor");
    return dn_answer(dn_object_create(&dn_rnn_data_pool, (void **)rnnDataDesc, "rnnDataDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc)
{
    dn_call_begin("cudnnDestroyRNNDataDescriptor");
    if (dn_pool_live(&dn_rnn_data_pool, rnnDataDesc)) {
        dn_rnn_data_desc *d = (dn_rnn_data_desc *)(void *)rnnDataDesc;
        free(d->lengths);
        d->lengths = NULL;
    }
    return dn_answer(dn_object_destroy(&dn_rnn_data_pool, rnnDataDesc, "rnnDataDesc"));
}

/* Packed sequences lie by falling length without gaps, so none may be empty and the first must be the longest. */
static dn_status check_length(const dn_rnn_data_desc *d, const int *lengths, int b)
{
    bool packed = d->layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
    if (lengths[b] < packed || lengths[b] > d->time)
        return dn_fail(DN_BAD_PARAM, "seqLengthArray[%d] is %d; it must be %d to maxSeqLength = %d%s", b, lengths[b], packed, d->time,
                       packed ? " where the layout is packed" : "");
    if (packed && b == 0 && lengths[b] != d->time)
        return dn_fail(DN_BAD_PARAM, "seqLengthArray[0] is %d; in the packed layout it must be maxSeqLength = %d", lengths[b], d->time);
    if (packed && b > 0 && lengths[b] > lengths[b - 1])
        return dn_fail(DN_BAD_PARAM, "seqLengthArray[%d] is %d and [%d] is %d; in the packed layout lengths must not rise", b - 1,
                       lengths[b - 1], b, lengths[b]);
    return DN_SUCCESS;
}

static dn_status set_data(dn_rnn_data_desc *d, dn_rnn_data_desc *n, const int *lengths, const void *fill)
{
    if (dn_want_range(n->layout, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED, "layout",
                      "a cudnnRNNDataLayout_t, 0 to 2")
        || dn_want_range(n->time, 1, INT32_MAX, "maxSeqLength", "1 or more")
        || dn_want_range(n->batch, 1, INT32_MAX, "batchSize", "1 or more")
        || dn_want_range(n->vector, 1, INT32_MAX, "vectorSize", "1 or more") || dn_want(lengths, "seqLengthArray"))
        return DN_BAD_PARAM;
    n->even = 1;
    for (int b = 0; b < n->batch; b++) {
        if (check_length(n, lengths, b))
            return DN_BAD_PARAM;
        n->even &= lengths[b] == n->time;
    }
    dn_status st = dn_rnn_type(n->type, "dataType", &n->type);
    if (st != DN_SUCCESS)
        return st;
    if (fill)
        n->fill = dn_load((dn_dtype)n->type, fill, 0);
    n->lengths = malloc((size_t)n->batch * sizeof *n->lengths);
    if (!n->lengths)
        return dn_fail(DN_ALLOC_FAILED, "no memory for the lengths of %d sequences", n->batch);
    memcpy(n->lengths, lengths, (size_t)n->batch * sizeof *n->lengths);
    free(d->lengths);
    *d = *n;
    return DN_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc, cudnnDataType_t dataType,
    cudnnRNNDataLayout_t layout, int maxSeqLength, int batchSize, int vectorSize, const int seqLengthArray[], void *paddingFill)
{
    dn_call_begin("cudnnSetRNNDataDescriptor");
    dn_rnn_data_desc *d = dn_object_of(&dn_rnn_data_pool, rnnDataDesc, "rnnDataDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    dn_rnn_data_desc n = { .cookie = d->cookie, .set = 1, .type = (int32_t)dataType, .layout = (int32_t)layout, .time = maxSeqLength,
                           .batch = batchSize, .vector = vectorSize };
    return dn_answer(set_data(d, &n, seqLengthArray, paddingFill));
}

/* One never set reads as zeros, as with the vendor's library. */
cudnnStatus_t CUDNNWINAPI cudnnGetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc, cudnnDataType_t *dataType,
    cudnnRNNDataLayout_t *layout, int *maxSeqLength, int *batchSize, int *vectorSize, int arrayLengthRequested, int seqLengthArray[],
    void *paddingFill)
{
    dn_call_begin("cudnnGetRNNDataDescriptor");
    const dn_rnn_data_desc *d = dn_object_of(&dn_rnn_data_pool, rnnDataDesc, "rnnDataDesc");
    if (!d || dn_want(dataType, "dataType") || dn_want(layout, "layout") || dn_want(maxSeqLength, "maxSeqLength")
        || dn_want(batchSize, "batchSize") || dn_want(vectorSize, "vectorSize")
        || dn_want_range(arrayLengthRequested, 0, INT32_MAX, "arrayLengthRequested", "0 or more")
        || dn_want(seqLengthArray, "seqLengthArray") || dn_want(paddingFill, "paddingFill"))
        return dn_answer(DN_BAD_PARAM);
    *dataType = (cudnnDataType_t)d->type;
    *layout = (cudnnRNNDataLayout_t)d->layout;
    *maxSeqLength = d->time;
    *batchSize = d->batch;
    *vectorSize = d->vector;
    for (int b = 0; b < arrayLengthRequested && b < d->batch; b++)
        seqLengthArray[b] = d->lengths[b];
    dn_store((dn_dtype)d->type, paddingFill, 0, d->fill);
    return dn_answer(DN_SUCCESS);
}
