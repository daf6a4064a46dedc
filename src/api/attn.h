/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Descriptors of multi-head attention. */
#ifndef DN_API_ATTN_H
#define DN_API_ATTN_H

#include "api.h"

#include "ops/attn.h"

typedef struct dn_seq_desc {
    uint32_t cookie;
    uint32_t set;
    int32_t type;            /* dn_dtype */
    int32_t dims[4];         /* by axis: time, batch, beam, vector */
    int32_t axes[4];         /* their order in memory, outermost first; the vector is last */
    int32_t *lengths;        /* malloc: batch by beam */
    size_t count;            /* of lengths */
    unsigned char fill[8];   /* one element of the type */
} dn_seq_desc;

typedef struct dn_attn_desc {
    uint32_t cookie;
    uint32_t set;
    uint32_t mode;           /* CUDNN_ATTN_* */
    int32_t type, compute;   /* dn_dtype */
    int32_t math;            /* cudnnMathType_t */
    cudnnDropoutDescriptor_t dropout, post;
    int32_t in[3];           /* sizes of queries, keys, values */
    int32_t s, t, batch, beam;  /* the most that calls will have */
    dn_attn_param p;         /* without residual and dropouts, which are a call's */
} dn_attn_desc;

extern dn_pool dn_seq_pool, dn_attn_pool;
const dn_seq_desc *dn_seq_of(const cudnnSeqDataDescriptor_t desc, const char *name);
const dn_attn_desc *dn_attn_of(const cudnnAttnDescriptor_t desc, const char *name);

/* Time, batch, beam, vector of these sizes in this order of axes, packed. */
void dn_seq_tensor(dn_tensor *t, int type, const int32_t dims[4], const int32_t axes[4]);
int64_t dn_attn_weights(const dn_attn_desc *d);  /* elements of the weight buffer; Set saw to it that they can be counted */

#endif
