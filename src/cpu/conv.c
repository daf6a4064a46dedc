/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution: oneDNN's direct convolution and its two gradients, f32 and what the CPU has beside it (bf16 on AVX-512).
 *
 * Formats. Weights are always reordered to the format oneDNN asks for (given plain weights beside plain NHWC data it runs its
 * reference code); they are small beside the work. NHWC data is used where it lies: the kernels for it are as fast as those
 * for blocked data. NCHW data is reordered to the blocked format, but for the cases of `plain_is_faster`.
 *
 * alpha and beta. A problem with beta 0 stores straight to the output; alpha other than 1 is one more pass over it. Otherwise
 * the result is made as f32 in scratch and blended. */
#include "cpu/conv.h"

#include <string.h>

#define NO_MD "oneDNN makes no memory descriptor of these tensors"

static const dn_role roles[] = { DN_X, DN_Y, DN_W };

/* The gradient of an image-like input: few channels waste most of a block of 16, so that a third of the speed of a matrix
 * product on NCHW is all that other formats give, reorders included. */
static bool has_image_gradient(const dn_problem *p)
{
    return p->u.conv.groups == 1 && p->dir == DN_DIR_BWD_DATA && p->t[DN_W].dims[1] <= 4;
}

/* Which measured better (oneDNN 2.6.3, AVX-512, NCHW): a 1x1 convolution of stride 1 is a matrix product on NCHW as it lies. */
static bool plain_is_faster(const dn_problem *p)
{
    const dn_conv_param *c = &p->u.conv;
    const dn_tensor *w = &p->t[DN_W];
    if (has_image_gradient(p))
        return true;
    for (int d = 0; d < c->spatial; d++)
        if (w->dims[2 + d] != 1 || c->stride[d] != 1 || c->pad[d] != 0)
            return false;
    return c->groups == 1;
}

/* One input channel: x is the same in both formats, and the kernel that reads it plain and writes blocks beats the NHWC one. */
static bool blocked_is_faster_for_nhwc(const dn_problem *p)
{
    return p->dir == DN_DIR_FWD && p->u.conv.groups == 1 && p->t[DN_W].dims[1] == 1;
}

/* A 1x1 convolution with a stride first copies the pixels it uses. In its bf16 filter gradient that copy runs past the end of x
 * where the channels are no whole block (oneDNN 2.6.3; found by random tests between guard pages). */
static bool copies_past_the_end(const dn_problem *p)
{
    const dn_conv_param *c = &p->u.conv;
    bool strided = false;
    for (int d = 0; d < c->spatial; d++) {
        if (p->t[DN_W].dims[2 + d] != 1 || c->pad[d] != 0)
            return false;
        strided = strided || c->stride[d] > 1;
    }
    return strided && p->dir == DN_DIR_BWD_FILTER && p->t[DN_X].type == DN_BF16 && p->t[DN_W].dims[1] % 16 != 0;
}

/* oneDNN 2.6.3 gets these wrong on NHWC data as it lies (an odd count of reduced channels in bf16 pairs; found by random tests). */
static bool plain_is_wrong(const dn_problem *p, dn_cpu_layout layout)
{
    const dn_tensor *w = &p->t[DN_W];
    if (w->dims[1] == 1 && w->dims[0] == p->u.conv.groups)
        return false;  /* depthwise: another kernel, which pairs nothing */
    if (layout == DN_CPU_NHWC && copies_past_the_end(p))
        return true;
    return layout == DN_CPU_NHWC && p->dir == DN_DIR_BWD_DATA && p->t[DN_X].type == DN_BF16 &&
           w->dims[0] / p->u.conv.groups % 2 != 0 && !has_image_gradient(p);
}

/* Weights [k, c/g, ...] as oneDNN has them: [g, k/g, c/g, ...] where there are groups. */
static dn_tensor group_weights(const dn_tensor *w, int groups)
{
    dn_tensor g = *w;
    if (groups == 1)
        return g;
    g.rank++;
    memmove(g.dims + 1, w->dims, (size_t)w->rank * sizeof w->dims[0]);
    memmove(g.strides + 1, w->strides, (size_t)w->rank * sizeof w->strides[0]);
    g.dims[0] = groups;
    g.dims[1] = w->dims[0] / groups;
    g.strides[0] = w->strides[0] * g.dims[1];
    return g;
}

const char *dn_cpu_conv_md(dn_dnnl_md **out, const dn_problem *p, dn_role role, dn_cpu_layout layout, dn_dtype type)
{
    dn_tensor t = p->t[role];
    t.type = (uint8_t)type;
    if (role != DN_W)
        return dn_cpu_md(out, &t, layout);
    if (dn_tensor_is_packed_nhwc(&t) && (layout == DN_CPU_NHWC || !dn_tensor_is_packed(&t)))
        dn_tensor_pack_nhwc(&t);
    else
        dn_tensor_pack(&t);
    dn_tensor g = group_weights(&t, p->u.conv.groups);
    return dn_dnnl_get()->i->md_make(out, g.rank, g.dims, dn_cpu_type(type), g.strides) ? NO_MD : NULL;
}

/* The same with the format left to oneDNN. */
static const char *any_md(dn_dnnl_md **out, const dn_problem *p, dn_role role, dn_dtype type)
{
    dn_tensor t = role == DN_W ? group_weights(&p->t[DN_W], p->u.conv.groups) : p->t[role];
    return dn_dnnl_get()->i->md_make(out, t.rank, t.dims, dn_cpu_type(type), NULL) ? NO_MD : NULL;
}

/* Where the bf16 filter gradient of oneDNN 2.6.3 and 3.2 is wrong; found by random tests. */
static const char *bf16_filter_refuses(const dn_problem *p)
{
    const dn_conv_param *c = &p->u.conv;
    int last = c->spatial - 1;
    if (p->t[DN_X].dims[2 + last] < c->stride[last])
        return "needs rows of x no shorter than the stride for bf16: oneDNN reads and writes past its buffers there";
    if (c->spatial != 3)
        return NULL;
    for (int d = 0; d < 3; d++)
        if ((p->t[DN_W].dims[2 + d] - 1) * c->dilation[d] + 1 > p->t[DN_X].dims[2 + d])
            return "needs windows no larger than x for bf16 in 3-D: oneDNN leaves parts of the gradient unset";
    return c->pad[0] && c->stride[0] > 1 ? "needs no padding of depth with a stride for bf16: oneDNN leaves parts of the gradient unset"
                                         : NULL;
}

const char *dn_cpu_conv_refuses(const dn_problem *p)
{
    const dn_conv_param *c = &p->u.conv;
    const char *why = dn_cpu_tensors(p, roles, 3);
    if (why)
        return why;
    if (c->spatial > 3)
        return "needs at most 3 spatial dimensions";
    dn_dtype t = p->t[DN_X].type;
    if (t != DN_F32 && t != DN_BF16 && t != DN_F16)
        return "needs type f32, bf16 or f16";
    if (p->t[DN_W].type != t || p->t[DN_Y].type != t)
        return "needs x, w and y of one type";
    if (p->compute != DN_F32)
        return "needs compute type f32";
    for (int d = 0; d < c->spatial; d++)
        if (c->mode == 0 && p->t[DN_W].dims[2 + d] != 1)
            return "needs cross-correlation: oneDNN flips no filters";
    return t == DN_BF16 && p->dir == DN_DIR_BWD_FILTER ? bf16_filter_refuses(p) : NULL;
}

dn_cpu_conv_formats dn_cpu_conv_formats_of(const dn_problem *p, bool direct)
{
    dn_cpu_conv_formats f = { .layout = dn_cpu_layout_of(p, roles, 2) };
    f.out = p->dir == DN_DIR_BWD_DATA ? DN_X : p->dir == DN_DIR_BWD_FILTER ? DN_W : DN_Y;
    f.result = direct ? p->t[DN_X].type : DN_F32;
    return f;
}

/* Descriptors of one attempt, freed together. */
typedef struct mds {
    dn_dnnl_md *x, *w, *y, *b;
} mds;

/* The primitive's plain format of x or y, which need not be the caller's. */
static const char *plain_md(dn_dnnl_md **out, const dn_problem *p, dn_role role, dn_cpu_layout layout, dn_dtype type)
{
    dn_tensor t = p->t[role];
    if (layout == DN_CPU_NHWC)
        dn_tensor_pack_nhwc(&t);
    else
        dn_tensor_pack(&t);
    return dn_dnnl_get()->i->md_make(out, t.rank, t.dims, dn_cpu_type(type), t.strides) ? NO_MD : NULL;
}

static const char *make_mds(const dn_problem *p, const dn_cpu_conv_formats *f, bool any, bool with_bias, mds *m)
{
    dn_cpu_layout layout = has_image_gradient(p) ? DN_CPU_NCHW : f->layout;
    dn_dtype t = p->t[DN_X].type;
    dn_dtype xt = f->out == DN_X ? f->result : t, yt = f->out == DN_Y ? f->result : t, wt = f->out == DN_W ? f->result : t;
    const char *why = any ? any_md(&m->x, p, DN_X, xt) : plain_md(&m->x, p, DN_X, layout, xt);
    if (!why)
        why = any ? any_md(&m->y, p, DN_Y, yt) : plain_md(&m->y, p, DN_Y, layout, yt);
    if (!why)
        why = any_md(&m->w, p, DN_W, wt);
    int64_t k = p->t[DN_Y].dims[1], one = 1;
    if (!why && with_bias && dn_dnnl_get()->i->md_make(&m->b, 1, &k, dn_cpu_type(p->t[DN_B].type), &one))
        why = NO_MD;
    return why;
}

static const char *make_pd(const dn_problem *p, const dn_cpu_conv_formats *f, bool any, bool with_bias, dn_cpu_op *op,
                           const dn_dnnl_post *posts, int count)
{
    const dn_conv_param *c = &p->u.conv;
    const dn_dnnl_interface *i = dn_dnnl_get()->i;
    mds m = { 0 };
    const char *why = make_mds(p, f, any, with_bias, &m);
    dn_dnnl_desc d = { .kind = DN_DNNL_CONV, .alg = DN_DNNL_CONV_DIRECT, .src = m.x, .weights = m.w, .bias = m.b, .dst = m.y };
    d.prop = f->out == DN_X ? DN_DNNL_BWD_DATA : f->out == DN_W ? DN_DNNL_BWD_WEIGHTS : DN_DNNL_INFER;
    for (int k = 0; k < c->spatial; k++) {
        d.strides[k] = c->stride[k];
        d.dilation[k] = c->dilation[k] - 1;
        d.pad[k] = c->pad[k];
    }
    if (!why)
        why = dn_cpu_pd(op, &d, posts, count);
    i->md_free(m.x), i->md_free(m.w), i->md_free(m.y), i->md_free(m.b);
    return why;
}

static const char *bind_all(const dn_problem *p, const dn_cpu_conv_formats *f, dn_cpu_op *op, const size_t *stage, bool with_bias)
{
    static const struct { dn_role role; int arg; } list[] = {
        { DN_X, DN_DNNL_ARG_SRC }, { DN_W, DN_DNNL_ARG_WEIGHTS }, { DN_Y, DN_DNNL_ARG_DST }
    };
    enum { DIFF = 128 };
    const char *why = NULL;
    for (int k = 0; k < 3 && !why; k++) {
        dn_role role = list[k].role;
        bool out = role == f->out;
        bool diff = f->out != DN_Y && (role == DN_Y || out);
        dn_dnnl_md *user = NULL;
        why = dn_cpu_conv_md(&user, p, role, f->layout, out ? f->result : p->t[role].type);
        if (why)
            return why;
        int arg = list[k].arg + (diff ? DIFF : 0);
        why = out && stage ? dn_cpu_bind_at(op, arg, *stage, DN_CPU_OUT, user)
                           : dn_cpu_bind(op, arg, (int)role, out ? DN_CPU_OUT : DN_CPU_IN, user);
    }
    if (!why && with_bias)
        why = dn_cpu_bind(op, DN_DNNL_ARG_BIAS, DN_B, DN_CPU_IN, NULL);
    return why;
}

const char *dn_cpu_conv_op(const dn_problem *p, const dn_cpu_conv_formats *f, dn_cpu_op *op, const size_t *stage, bool with_bias,
                           const dn_dnnl_post *posts, int count)
{
    bool wrong = plain_is_wrong(p, f->layout);
    bool any = wrong || (f->layout == DN_CPU_NHWC ? blocked_is_faster_for_nhwc(p) : !plain_is_faster(p));
    const char *why = NULL;
    for (int attempt = 0; attempt < (wrong ? 1 : 2); attempt++, any = !any) {
        why = make_pd(p, f, any, with_bias, op, posts, count);
        if (!why)
            why = bind_all(p, f, op, stage, with_bias);
        if (!why)
            return NULL;
        dn_cpu_op_free(op);
    }
    return why;
}

/* --- rows --- */

static const char *build(const dn_problem *p, dn_cpu_state *s)
{
    const char *why = dn_cpu_conv_refuses(p);
    if (why)
        return why;
    if (p->flags & DN_F_IN_PLACE)
        return "cannot write over an input";
    dn_cpu_conv_formats f = dn_cpu_conv_formats_of(p, p->flags & DN_F_BETA_ZERO);
    dn_cpu_stage(p, s, f.out);
    why = dn_cpu_conv_op(p, &f, &s->op[0], s->staged ? &s->stage : NULL, false, NULL, 0);
    if (!why)
        dn_cpu_place(s, &s->op[0], s->scratch);
    return why;
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_problem *p = &plan->problem;
    const dn_cpu_state *s = plan->state;
    dn_role out = p->dir == DN_DIR_BWD_DATA ? DN_X : p->dir == DN_DIR_BWD_FILTER ? DN_W : DN_Y;
    dn_cpu_run r;
    dn_cpu_begin(&r, h, plan, a);
    dn_status st = dn_cpu_exec(&s->op[0], &r);
    if (st == DN_SUCCESS)
        dn_cpu_store(p, s, &r, a, out);
    return st;
}

static const char *check(const dn_problem *p)
{
    return dn_cpu_check(p, build);
}

static size_t workspace(const dn_problem *p)
{
    return dn_cpu_workspace(p, build);
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    return dn_cpu_prepare(h, plan, build, plan->solver->workspace);
}

/* cuDNN's algorithm numbers 0 promise to need no workspace: their rows use the handle's scratch. All of them are gather
 * formulations of the sum, which is what the direct convolution is. */
#define ROW(row_name, row_dir, number, row_workspace)                                                          \
    { .name = row_name, .op = DN_OP_CONV, .dir = row_dir, .algo = number, .check = check, .workspace = row_workspace, \
      .prepare = prepare, .run = run, .release = dn_cpu_release }
static const dn_solver rows[] = {
    ROW("cpu_conv_fwd_implicit_precomp_gemm", DN_DIR_FWD, 1, workspace),
    ROW("cpu_conv_fwd_implicit_gemm", DN_DIR_FWD, 0, NULL),
    ROW("cpu_conv_bwd_data_1", DN_DIR_BWD_DATA, 1, workspace),
    ROW("cpu_conv_bwd_data_0", DN_DIR_BWD_DATA, 0, NULL),
    ROW("cpu_conv_bwd_filter_1", DN_DIR_BWD_FILTER, 1, workspace),
    ROW("cpu_conv_bwd_filter_0", DN_DIR_BWD_FILTER, 0, NULL),
    ROW("cpu_conv_bwd_filter_3", DN_DIR_BWD_FILTER, 3, workspace),
};
#undef ROW

const dn_rows dn_cpu_conv = { rows, sizeof rows / sizeof rows[0] };
