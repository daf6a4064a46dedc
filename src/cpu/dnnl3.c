/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * oneDNN 3.x: memory descriptors are its own objects, and an operation becomes a primitive descriptor in one call. */
#include "cpu/dnnl.h"

#include "core/os.h"

enum { FORMAT_ANY = 1, TYPE_AS_DESTINATION = 0, NORM_GIVEN_STATS = 1, NORM_SCALE = 2, NORM_SHIFT = 4 };

static const int algs[DN_DNNL_ALG_COUNT] = {
    [DN_DNNL_CONV_DIRECT] = 0x1, [DN_DNNL_POOL_MAX] = 0x1ff, [DN_DNNL_POOL_AVG_PAD] = 0x2ff, [DN_DNNL_POOL_AVG_NO_PAD] = 0x3ff,
    [DN_DNNL_RELU] = 0x20, [DN_DNNL_CLIP] = 0x2e, [DN_DNNL_TANH] = 0x21, [DN_DNNL_ELU] = 0x22, [DN_DNNL_LOGISTIC] = 0x29,
    [DN_DNNL_SWISH] = 0x2c, [DN_DNNL_TANH_FROM_DST] = 0x101, [DN_DNNL_ELU_FROM_DST] = 0x102,
    [DN_DNNL_LOGISTIC_FROM_DST] = 0x104,
    [DN_DNNL_SOFTMAX] = 0x30000, [DN_DNNL_LOGSOFTMAX] = 0x30001,
};

typedef const dn_dnnl_md *cmd;
typedef const int64_t *dims;

static struct {
    int (*md_by_strides)(dn_dnnl_md **, int, dims, int, dims);
    int (*md_by_tag)(dn_dnnl_md **, int, dims, int, int);
    int (*md_destroy)(dn_dnnl_md *);
    int (*conv_fwd)(dn_dnnl_pd **, dn_dnnl_cpu *, int, int, cmd, cmd, cmd, cmd, dims, dims, dims, dims, const dn_dnnl_attr *);
    int (*conv_bwd_data)(dn_dnnl_pd **, dn_dnnl_cpu *, int, cmd, cmd, cmd, dims, dims, dims, dims, const dn_dnnl_pd *,
                         const dn_dnnl_attr *);
    int (*conv_bwd_weights)(dn_dnnl_pd **, dn_dnnl_cpu *, int, cmd, cmd, cmd, cmd, dims, dims, dims, dims, const dn_dnnl_pd *,
                            const dn_dnnl_attr *);
    int (*pool_fwd)(dn_dnnl_pd **, dn_dnnl_cpu *, int, int, cmd, cmd, dims, dims, dims, dims, dims, const dn_dnnl_attr *);
    int (*pool_bwd)(dn_dnnl_pd **, dn_dnnl_cpu *, int, cmd, cmd, dims, dims, dims, dims, dims, const dn_dnnl_pd *,
                    const dn_dnnl_attr *);
    int (*eltwise_fwd)(dn_dnnl_pd **, dn_dnnl_cpu *, int, int, cmd, cmd, float, float, const dn_dnnl_attr *);
    int (*eltwise_bwd)(dn_dnnl_pd **, dn_dnnl_cpu *, int, cmd, cmd, cmd, float, float, const dn_dnnl_pd *, const dn_dnnl_attr *);
    int (*softmax_fwd)(dn_dnnl_pd **, dn_dnnl_cpu *, int, int, cmd, cmd, int, const dn_dnnl_attr *);
    int (*softmax_bwd)(dn_dnnl_pd **, dn_dnnl_cpu *, int, cmd, cmd, cmd, int, const dn_dnnl_pd *, const dn_dnnl_attr *);
    int (*norm_fwd)(dn_dnnl_pd **, dn_dnnl_cpu *, int, cmd, cmd, float, unsigned, const dn_dnnl_attr *);
    int (*norm_bwd)(dn_dnnl_pd **, dn_dnnl_cpu *, int, cmd, cmd, cmd, float, unsigned, const dn_dnnl_pd *, const dn_dnnl_attr *);
    int (*post_sum)(dn_dnnl_posts *, float, int32_t, int);
    int (*post_eltwise)(dn_dnnl_posts *, int, float, float);
} f;

static const char *bind(void *lib)
{
    const struct { const char *name; void **at; } want[] = {
        { "dnnl_memory_desc_create_with_strides", (void **)&f.md_by_strides },
        { "dnnl_memory_desc_create_with_tag", (void **)&f.md_by_tag },
        { "dnnl_memory_desc_destroy", (void **)&f.md_destroy },
        { "dnnl_convolution_forward_primitive_desc_create", (void **)&f.conv_fwd },
        { "dnnl_convolution_backward_data_primitive_desc_create", (void **)&f.conv_bwd_data },
        { "dnnl_convolution_backward_weights_primitive_desc_create", (void **)&f.conv_bwd_weights },
        { "dnnl_pooling_forward_primitive_desc_create", (void **)&f.pool_fwd },
        { "dnnl_pooling_backward_primitive_desc_create", (void **)&f.pool_bwd },
        { "dnnl_eltwise_forward_primitive_desc_create", (void **)&f.eltwise_fwd },
        { "dnnl_eltwise_backward_primitive_desc_create", (void **)&f.eltwise_bwd },
        { "dnnl_softmax_forward_primitive_desc_create", (void **)&f.softmax_fwd },
        { "dnnl_softmax_backward_primitive_desc_create", (void **)&f.softmax_bwd },
        { "dnnl_batch_normalization_forward_primitive_desc_create", (void **)&f.norm_fwd },
        { "dnnl_batch_normalization_backward_primitive_desc_create", (void **)&f.norm_bwd },
        { "dnnl_post_ops_append_sum", (void **)&f.post_sum },
        { "dnnl_post_ops_append_eltwise", (void **)&f.post_eltwise },
    };
    for (size_t k = 0; k < sizeof want / sizeof want[0]; k++)
        if (!(*want[k].at = dn_lib_symbol(lib, want[k].name)))
            return want[k].name;
    return NULL;
}

static int md_make(dn_dnnl_md **out, int rank, const int64_t *d, int type, const int64_t *strides)
{
    int64_t dd[DN_DNNL_RANK] = { 0 }, s[DN_DNNL_RANK] = { 0 };
    for (int k = 0; k < rank; k++) {
        dd[k] = d[k];
        s[k] = strides ? strides[k] : 0;
    }
    return strides ? f.md_by_strides(out, rank, dd, type, s) : f.md_by_tag(out, rank, dd, type, FORMAT_ANY);
}

static void md_free(dn_dnnl_md *md)
{
    if (md)
        f.md_destroy(md);
}

static int make_conv(dn_dnnl_pd **out, const dn_dnnl_desc *d, dn_dnnl_cpu *cpu)
{
    int alg = algs[d->alg];
    if (d->prop == DN_DNNL_BWD_DATA)
        return f.conv_bwd_data(out, cpu, alg, d->src, d->weights, d->dst, d->strides, d->dilation, d->pad, d->pad, d->hint,
                               d->attr);
    if (d->prop == DN_DNNL_BWD_WEIGHTS)
        return f.conv_bwd_weights(out, cpu, alg, d->src, d->weights, d->bias, d->dst, d->strides, d->dilation, d->pad, d->pad,
                                  d->hint, d->attr);
    return f.conv_fwd(out, cpu, d->prop, alg, d->src, d->weights, d->bias, d->dst, d->strides, d->dilation, d->pad, d->pad,
                      d->attr);
}

static unsigned norm_flags(unsigned flags)
{
    return (flags & DN_DNNL_GIVEN_STATS ? NORM_GIVEN_STATS : 0) | (flags & DN_DNNL_SCALE_SHIFT ? NORM_SCALE | NORM_SHIFT : 0);
}

static int pd_make(dn_dnnl_pd **out, const dn_dnnl_desc *d)
{
    bool fwd = d->prop == DN_DNNL_TRAIN || d->prop == DN_DNNL_INFER;
    int alg = algs[d->alg];
    dn_dnnl_cpu *cpu = dn_dnnl_get()->cpu;
    switch (d->kind) {
    case DN_DNNL_CONV:
        return make_conv(out, d, cpu);
    case DN_DNNL_POOL:
        return fwd ? f.pool_fwd(out, cpu, d->prop, alg, d->src, d->dst, d->strides, d->window, d->dilation, d->pad, d->pad, d->attr)
                   : f.pool_bwd(out, cpu, alg, d->dsrc, d->ddst, d->strides, d->window, d->dilation, d->pad, d->pad, d->hint,
                                d->attr);
    case DN_DNNL_ELTWISE:
        return fwd ? f.eltwise_fwd(out, cpu, d->prop, alg, d->src, d->dst, d->alpha, d->beta, d->attr)
                   : f.eltwise_bwd(out, cpu, alg, d->dsrc, d->ddst, d->src, d->alpha, d->beta, d->hint, d->attr);
    case DN_DNNL_SOFT:
        return fwd ? f.softmax_fwd(out, cpu, d->prop, alg, d->src, d->dst, d->axis, d->attr)
                   : f.softmax_bwd(out, cpu, alg, d->dsrc, d->ddst, d->dst, d->axis, d->hint, d->attr);
    default:
        return fwd ? f.norm_fwd(out, cpu, d->prop, d->src, d->dst, d->eps, norm_flags(d->flags), d->attr)
                   : f.norm_bwd(out, cpu, d->prop, d->dsrc, d->ddst, d->src, d->eps, norm_flags(d->flags), d->hint, d->attr);
    }
}

static int post_append(dn_dnnl_posts *posts, const dn_dnnl_post *post)
{
    return post->alg == DN_DNNL_NONE ? f.post_sum(posts, 1.0f, 0, TYPE_AS_DESTINATION)
                                     : f.post_eltwise(posts, algs[post->alg], post->alpha, post->beta);
}

const dn_dnnl_interface dn_dnnl3 = { md_make, md_free, pd_make, post_append, bind };
