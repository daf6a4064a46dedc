/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * oneDNN 2.x. Its descriptors are structures whose members we never look at: they are opaque bytes here, in room larger than
 * any of them (a memory descriptor has 696 bytes, the largest operation descriptor 5,976 in 2.6). */
#include "cpu/dnnl.h"

#include "core/os.h"

#include <stdlib.h>

struct dn_dnnl_md {
    union {
        max_align_t align;
        unsigned char bytes[2048];
    } u;
};

typedef struct op_desc {
    union {
        max_align_t align;
        unsigned char bytes[16384];
    } u;
} op_desc;

enum { FORMAT_ANY = 1, NORM_GIVEN_STATS = 1, NORM_SCALE = 8, NORM_SHIFT = 16 };

static const int algs[DN_DNNL_ALG_COUNT] = {
    [DN_DNNL_CONV_DIRECT] = 0x1, [DN_DNNL_POOL_MAX] = 0x1ff, [DN_DNNL_POOL_AVG_PAD] = 0x2ff, [DN_DNNL_POOL_AVG_NO_PAD] = 0x3ff,
    [DN_DNNL_RELU] = 0x1f, [DN_DNNL_CLIP] = 0xff, [DN_DNNL_TANH] = 0x2f, [DN_DNNL_ELU] = 0x3f, [DN_DNNL_LOGISTIC] = 0xaf,
    [DN_DNNL_SWISH] = 0xdf, [DN_DNNL_TANH_FROM_DST] = 0x101, [DN_DNNL_ELU_FROM_DST] = 0x102,
    [DN_DNNL_LOGISTIC_FROM_DST] = 0x104,
    [DN_DNNL_SOFTMAX] = 0x30000, [DN_DNNL_LOGSOFTMAX] = 0x30001,
};

static struct {
    int (*md_by_strides)(dn_dnnl_md *, int, const int64_t *, int, const int64_t *);
    int (*md_by_tag)(dn_dnnl_md *, int, const int64_t *, int, int);
    int (*pd)(dn_dnnl_pd **, const op_desc *, const dn_dnnl_attr *, dn_dnnl_cpu *, const dn_dnnl_pd *);
    int (*conv_fwd)(op_desc *, int, int, const dn_dnnl_md *, const dn_dnnl_md *, const dn_dnnl_md *, const dn_dnnl_md *,
                    const int64_t *, const int64_t *, const int64_t *, const int64_t *);
    int (*conv_bwd_data)(op_desc *, int, const dn_dnnl_md *, const dn_dnnl_md *, const dn_dnnl_md *, const int64_t *,
                         const int64_t *, const int64_t *, const int64_t *);
    int (*conv_bwd_weights)(op_desc *, int, const dn_dnnl_md *, const dn_dnnl_md *, const dn_dnnl_md *, const dn_dnnl_md *,
                            const int64_t *, const int64_t *, const int64_t *, const int64_t *);
    int (*pool_fwd)(op_desc *, int, int, const dn_dnnl_md *, const dn_dnnl_md *, const int64_t *, const int64_t *,
                    const int64_t *, const int64_t *, const int64_t *);
    int (*pool_bwd)(op_desc *, int, const dn_dnnl_md *, const dn_dnnl_md *, const int64_t *, const int64_t *, const int64_t *,
                    const int64_t *, const int64_t *);
    int (*eltwise_fwd)(op_desc *, int, int, const dn_dnnl_md *, float, float);
    int (*eltwise_bwd)(op_desc *, int, const dn_dnnl_md *, const dn_dnnl_md *, float, float);
    int (*softmax_fwd)(op_desc *, int, int, const dn_dnnl_md *, const dn_dnnl_md *, int);
    int (*softmax_bwd)(op_desc *, int, const dn_dnnl_md *, const dn_dnnl_md *, const dn_dnnl_md *, int);
    int (*norm_fwd)(op_desc *, int, const dn_dnnl_md *, float, unsigned);
    int (*norm_bwd)(op_desc *, int, const dn_dnnl_md *, const dn_dnnl_md *, float, unsigned);
    int (*post_sum)(dn_dnnl_posts *, float);
    int (*post_eltwise)(dn_dnnl_posts *, float, int, float, float);
} f;

static const char *bind(void *lib)
{
    const struct { const char *name; void **at; } want[] = {
        { "dnnl_memory_desc_init_by_strides", (void **)&f.md_by_strides },
        { "dnnl_memory_desc_init_by_tag", (void **)&f.md_by_tag },
        { "dnnl_primitive_desc_create", (void **)&f.pd },
        { "dnnl_dilated_convolution_forward_desc_init", (void **)&f.conv_fwd },
        { "dnnl_dilated_convolution_backward_data_desc_init", (void **)&f.conv_bwd_data },
        { "dnnl_dilated_convolution_backward_weights_desc_init", (void **)&f.conv_bwd_weights },
        { "dnnl_pooling_v2_forward_desc_init", (void **)&f.pool_fwd },
        { "dnnl_pooling_v2_backward_desc_init", (void **)&f.pool_bwd },
        { "dnnl_eltwise_forward_desc_init", (void **)&f.eltwise_fwd },
        { "dnnl_eltwise_backward_desc_init", (void **)&f.eltwise_bwd },
        { "dnnl_softmax_v2_forward_desc_init", (void **)&f.softmax_fwd },
        { "dnnl_softmax_v2_backward_desc_init", (void **)&f.softmax_bwd },
        { "dnnl_batch_normalization_forward_desc_init", (void **)&f.norm_fwd },
        { "dnnl_batch_normalization_backward_desc_init", (void **)&f.norm_bwd },
        { "dnnl_post_ops_append_sum", (void **)&f.post_sum },
        { "dnnl_post_ops_append_eltwise", (void **)&f.post_eltwise },
    };
    for (size_t k = 0; k < sizeof want / sizeof want[0]; k++)
        if (!(*want[k].at = dn_lib_symbol(lib, want[k].name)))
            return want[k].name;
    return NULL;
}

static int md_make(dn_dnnl_md **out, int rank, const int64_t *dims, int type, const int64_t *strides)
{
    int64_t d[DN_DNNL_RANK] = { 0 }, s[DN_DNNL_RANK] = { 0 };
    for (int k = 0; k < rank; k++) {
        d[k] = dims[k];
        s[k] = strides ? strides[k] : 0;
    }
    dn_dnnl_md *md = calloc(1, sizeof *md);
    if (!md)
        return 1;
    int st = strides ? f.md_by_strides(md, rank, d, type, s) : f.md_by_tag(md, rank, d, type, FORMAT_ANY);
    if (st)
        free(md);
    else
        *out = md;
    return st;
}

static void md_free(dn_dnnl_md *md)
{
    free(md);
}

static int describe_conv(op_desc *o, const dn_dnnl_desc *d)
{
    int alg = algs[d->alg];
    if (d->prop == DN_DNNL_BWD_DATA)
        return f.conv_bwd_data(o, alg, d->src, d->weights, d->dst, d->strides, d->dilation, d->pad, d->pad);
    if (d->prop == DN_DNNL_BWD_WEIGHTS)
        return f.conv_bwd_weights(o, alg, d->src, d->weights, d->bias, d->dst, d->strides, d->dilation, d->pad, d->pad);
    return f.conv_fwd(o, d->prop, alg, d->src, d->weights, d->bias, d->dst, d->strides, d->dilation, d->pad, d->pad);
}

static unsigned norm_flags(unsigned flags)
{
    return (flags & DN_DNNL_GIVEN_STATS ? NORM_GIVEN_STATS : 0) | (flags & DN_DNNL_SCALE_SHIFT ? NORM_SCALE | NORM_SHIFT : 0);
}

static int describe(op_desc *o, const dn_dnnl_desc *d)
{
    bool fwd = d->prop == DN_DNNL_TRAIN || d->prop == DN_DNNL_INFER;
    int alg = algs[d->alg];
    switch (d->kind) {
    case DN_DNNL_CONV:
        return describe_conv(o, d);
    case DN_DNNL_POOL:
        return fwd ? f.pool_fwd(o, d->prop, alg, d->src, d->dst, d->strides, d->window, d->dilation, d->pad, d->pad)
                   : f.pool_bwd(o, alg, d->dsrc, d->ddst, d->strides, d->window, d->dilation, d->pad, d->pad);
    case DN_DNNL_ELTWISE:
        return fwd ? f.eltwise_fwd(o, d->prop, alg, d->src, d->alpha, d->beta)
                   : f.eltwise_bwd(o, alg, d->dsrc, d->src, d->alpha, d->beta);
    case DN_DNNL_SOFT:
        return fwd ? f.softmax_fwd(o, d->prop, alg, d->src, d->dst, d->axis)
                   : f.softmax_bwd(o, alg, d->dsrc, d->ddst, d->dst, d->axis);
    default:
        return fwd ? f.norm_fwd(o, d->prop, d->src, d->eps, norm_flags(d->flags))
                   : f.norm_bwd(o, d->prop, d->dsrc, d->src, d->eps, norm_flags(d->flags));
    }
}

static int pd_make(dn_dnnl_pd **out, const dn_dnnl_desc *d)
{
    op_desc o;
    int st = describe(&o, d);
    return st ? st : f.pd(out, &o, d->attr, dn_dnnl_get()->cpu, d->hint);
}

static int post_append(dn_dnnl_posts *posts, const dn_dnnl_post *post)
{
    return post->alg == DN_DNNL_NONE ? f.post_sum(posts, 1.0f)
                                     : f.post_eltwise(posts, 1.0f, algs[post->alg], post->alpha, post->beta);
}

const dn_dnnl_interface dn_dnnl2 = { md_make, md_free, pd_make, post_append, bind };
