/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "attn_case.h"

#include <string.h>

int attn_key_beams(const attn_case *c)
{
    return c->mode & CUDNN_ATTN_QUERYMAP_ONE_TO_ONE ? c->b : 1;
}

double attn_at(const attn_layer *l, int array, int64_t i)
{
    return type_load((cudnnDataType_t)l->c.type, l->a[array], i);
}

int64_t attn_index(const attn_layer *l, bool keys, int size, int time, int batch, int beam, int vector)
{
    const int dims[3] = {keys ? l->c.t : l->c.s, l->c.n, keys ? attn_key_beams(&l->c) : l->c.b}, at[3] = {time, batch, beam};
    int64_t i = 0;
    for (int k = 0; k < 3; k++)
        i = i * dims[l->c.axes[k]] + at[l->c.axes[k]];
    return i * size + vector;
}

static void fill(attn_layer *l, int array, int64_t count, unsigned seed, double value)
{
    cudnnDataType_t type = (cudnnDataType_t)l->c.type;
    l->count[array] = count;
    l->a[array] = count ? api_alloc_end((size_t)count * type_size(type), type_size(type)) : NULL;
    seed = seed * 7919u + 1;
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        type_store(type, l->a[array], i, value != 0 ? value : ((int)(seed >> 24) - 128) / 128.0);
    }
}

static int *lengths(const int *from, int count)
{
    int *to = api_alloc_end((size_t)count * sizeof *to, sizeof *to);
    memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

/* The interface takes lengths of 0 on the device alone. */
static void describe(attn_layer *l, int which, int time, int beams, int size, const int *len)
{
    const attn_case *c = &l->c;
    const cudnnSeqDataAxis_t axes[4] = {(cudnnSeqDataAxis_t)c->axes[0], (cudnnSeqDataAxis_t)c->axes[1], (cudnnSeqDataAxis_t)c->axes[2],
                                        CUDNN_SEQDATA_VECT_DIM};
    int dims[4] = {time, c->n, beams, size}, host[ATTN_LIST];
    for (int i = 0; i < c->n * beams; i++)
        host[i] = len[i] ? len[i] : time;
    CALL(cudnnCreateSeqDataDescriptor, (&l->seq[which]));
    CALL(cudnnSetSeqDataDescriptor, (l->seq[which], (cudnnDataType_t)c->type, 4, dims, axes, (size_t)(c->n * beams), host, NULL));
}

static void make_arrays(attn_layer *l)
{
    const attn_case *c = &l->c;
    int beams = attn_key_beams(c);
    int64_t q = (int64_t)c->s * c->n * c->b, k = (int64_t)c->t * c->n * beams;
    int64_t w = (int64_t)(l->weights / type_size((cudnnDataType_t)c->type));
    fill(l, ATTN_Q, q * c->in[0], 1, 0);
    fill(l, ATTN_K, k * c->in[1], 2, 0);
    fill(l, ATTN_V, k * c->in[2], 3, 0);
    fill(l, ATTN_RESIDUAL, q * l->out, 4, 0);
    fill(l, ATTN_W, w, 5, 0);
    fill(l, ATTN_DO, q * l->out, 6, 0);
    fill(l, ATTN_O, q * l->out, 0, 777);
    fill(l, ATTN_DQ, q * c->in[0], 0, 777);
    fill(l, ATTN_DK, k * c->in[1], 0, 777);
    fill(l, ATTN_DV, k * c->in[2], 0, 777);
    fill(l, ATTN_DW, w, 0, 1);
    l->qlen = lengths(c->qlen, c->n * c->b);
    l->klen = lengths(c->klen, c->n * beams);
}

void attn_make(attn_layer *l, const attn_case *c, bool train)
{
    int f = c->proj[2] ? c->proj[2] : c->in[2], beams = attn_key_beams(c);
    memset(l, 0, sizeof *l);
    l->c = *c;
    l->out = c->proj[3] ? c->proj[3] : c->heads * f;
    describe(l, 0, c->s, c->b, c->in[0], c->qlen);
    describe(l, 1, c->t, beams, c->in[1], c->klen);
    describe(l, 2, c->t, beams, c->in[2], c->klen);
    describe(l, 3, c->s, c->b, l->out, c->qlen);
    CALL(cudnnCreateAttnDescriptor, (&l->desc));
    CALL(cudnnSetAttnDescriptor, (l->desc, c->mode, c->heads, c->scale, (cudnnDataType_t)c->type, (cudnnDataType_t)c->compute,
                                  (cudnnMathType_t)c->math, NULL, NULL, c->in[0], c->in[1], c->in[2], c->proj[0], c->proj[1], c->proj[2],
                                  c->proj[3], c->s, c->t, c->n, c->b));
    CALL(cudnnGetMultiHeadAttnBuffers, (api_handle(), l->desc, &l->weights, &l->work_size, train ? &l->reserve_size : NULL));
    make_arrays(l);
    l->work = l->work_size ? api_alloc(l->work_size) : NULL;
    l->reserve = train ? api_alloc(l->reserve_size) : NULL;
}

void attn_free(attn_layer *l)
{
    for (int i = 0; i < 4; i++)
        CALL(cudnnDestroySeqDataDescriptor, (l->seq[i]));
    CALL(cudnnDestroyAttnDescriptor, (l->desc));
}

cudnnStatus_t attn_forward(attn_layer *l, int step)
{
    const attn_case *c = &l->c;
    void *residual = c->residual == 0 ? NULL : l->a[c->residual == 1 ? ATTN_RESIDUAL : ATTN_Q];
    return api.cudnnMultiHeadAttnForward(api_handle(), l->desc, step, c->lo, c->hi, l->qlen, l->klen, l->seq[0], l->a[ATTN_Q], residual,
                                         l->seq[1], l->a[ATTN_K], l->seq[2], l->a[ATTN_V], l->seq[3], l->a[ATTN_O], l->weights, l->a[ATTN_W],
                                         l->work_size, l->work, l->reserve_size, l->reserve);
}

cudnnStatus_t attn_backward_data(attn_layer *l)
{
    return api.cudnnMultiHeadAttnBackwardData(api_handle(), l->desc, l->c.lo, l->c.hi, l->qlen, l->klen, l->seq[3], l->a[ATTN_DO], l->seq[0],
                                              l->a[ATTN_DQ], l->a[ATTN_Q], l->seq[1], l->a[ATTN_DK], l->a[ATTN_K], l->seq[2], l->a[ATTN_DV],
                                              l->a[ATTN_V], l->weights, l->a[ATTN_W], l->work_size, l->work, l->reserve_size, l->reserve);
}

cudnnStatus_t attn_backward_weights(attn_layer *l, cudnnWgradMode_t mode)
{
    return api.cudnnMultiHeadAttnBackwardWeights(api_handle(), l->desc, mode, l->seq[0], l->a[ATTN_Q], l->seq[1], l->a[ATTN_K], l->seq[2],
                                                 l->a[ATTN_V], l->seq[3], l->a[ATTN_DO], l->weights, l->a[ATTN_W], l->a[ATTN_DW],
                                                 l->work_size, l->work, l->reserve_size, l->reserve);
}
