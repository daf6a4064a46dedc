/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Pooling and its gradient, f32 and bf16, NCHW and NHWC. The gradient of a maximum needs the places of the maxima, which oneDNN
 * keeps only in a forward pass of its own kind: that pass is done again, its result dropped. The first of equal maxima gets the
 * gradient, as in ref. */
#include "cpu/op.h"

enum { MAX, AVG_PAD, AVG_NO_PAD, MAX_DETERMINISTIC };
enum { MAIN, FORWARD };  /* FORWARD: of the gradient of a maximum */

static const dn_role fwd_roles[] = { DN_X, DN_Y };
static const dn_role max_bwd_roles[] = { DN_DX, DN_DY, DN_X };
static const dn_role avg_bwd_roles[] = { DN_DX, DN_DY };

static bool is_max(const dn_problem *p)
{
    return p->u.pool.mode == MAX || p->u.pool.mode == MAX_DETERMINISTIC;
}

static bool windows_overlap(const dn_pool_param *q)
{
    for (int d = 0; d < q->spatial; d++)
        if (q->stride[d] < q->window[d])
            return true;
    return false;
}

/* oneDNN computes a size from window and padding, and counts a window whole where padding counts. */
static bool size_is_queried(const dn_problem *p)
{
    const dn_pool_param *q = &p->u.pool;
    for (int d = 0; d < q->spatial; d++)
        if (p->t[DN_Y].dims[2 + d] != dn_conv_out_dim(p->t[DN_X].dims[2 + d], q->window[d], q->pad[d], q->stride[d], 1))
            return false;
    return true;
}

static const char *refuses(const dn_problem *p, const dn_role *roles, int count)
{
    const char *why = dn_cpu_tensors(p, roles, count);
    dn_dtype t = p->t[DN_X].type;
    if (why)
        return why;
    if (p->u.pool.spatial > 3)
        return "needs at most 3 spatial dimensions";
    if (!size_is_queried(p))
        return "needs the output sizes that the query answers";
    if (t != DN_F32 && t != DN_BF16)
        return "needs type f32 or bf16";
    for (int k = 0; k < count; k++)
        if (p->t[roles[k]].type != t)
            return "needs tensors of one type";
    if (p->flags & DN_F_IN_PLACE)
        return "cannot write over an input";
    if (t == DN_BF16 && p->dir != DN_DIR_FWD && windows_overlap(&p->u.pool))
        return "needs windows that do not overlap for bf16: oneDNN adds gradients in bf16";
    return t == DN_F32 || (p->flags & DN_F_BETA_ZERO) ? NULL : "needs beta 0 for bf16: oneDNN rounds before we can add";
}

static dn_dnnl_desc describe(const dn_problem *p)
{
    const dn_pool_param *q = &p->u.pool;
    dn_dnnl_desc d = { .kind = DN_DNNL_POOL, .prop = DN_DNNL_INFER };
    d.alg = is_max(p) ? DN_DNNL_POOL_MAX : q->mode == AVG_PAD ? DN_DNNL_POOL_AVG_PAD : DN_DNNL_POOL_AVG_NO_PAD;
    for (int k = 0; k < q->spatial; k++) {
        d.window[k] = q->window[k];
        d.strides[k] = q->stride[k];
        d.pad[k] = q->pad[k];
    }
    return d;
}

/* The layout that all of them share. */
static const char *one_layout(const dn_problem *p, const dn_role *roles, int count, dn_cpu_layout *layout)
{
    *layout = dn_cpu_layout_of(p, roles, count);
    for (int k = 0; k < count; k++) {
        const dn_tensor *t = &p->t[roles[k]];
        if (*layout == DN_CPU_NHWC ? !dn_tensor_is_packed_nhwc(t) : !dn_tensor_is_packed(t))
            return "needs tensors of one layout";
    }
    return NULL;
}

static const char *build_fwd(const dn_problem *p, dn_cpu_state *s, const dn_dnnl_desc *d)
{
    dn_cpu_op *op = &s->op[MAIN];
    dn_cpu_stage(p, s, DN_Y);
    const char *why = dn_cpu_pd(op, d, NULL, 0);
    if (why)
        return why;
    dn_cpu_bind(op, DN_DNNL_ARG_SRC, DN_X, DN_CPU_IN, NULL);
    dn_cpu_bind_result(op, s, DN_DNNL_ARG_DST, DN_Y, NULL);
    dn_cpu_place(s, op, s->scratch);
    return NULL;
}

static const char *build_bwd(const dn_problem *p, dn_cpu_state *s, const dn_dnnl_desc *d)
{
    const dn_dnnl *lib = dn_dnnl_get();
    dn_cpu_op *op = &s->op[MAIN], *fwd = &s->op[FORWARD];
    dn_dnnl_desc forward = *d, backward = *d;
    forward.prop = DN_DNNL_TRAIN;
    dn_cpu_stage(p, s, DN_DX);
    const char *why = dn_cpu_pd(fwd, &forward, NULL, 0);
    if (why)
        return why;
    backward.prop = DN_DNNL_BWD_DATA;
    backward.hint = fwd->pd;
    why = dn_cpu_pd(op, &backward, NULL, 0);
    if (why)
        return why;
    if (is_max(p)) {
        size_t y = dn_cpu_region(s, lib->md_size(dn_dnnl_arg_md(fwd->pd, DN_DNNL_ARG_DST)));
        size_t places = dn_cpu_region(s, lib->md_size(dn_dnnl_arg_md(fwd->pd, DN_DNNL_ARG_WORKSPACE)));
        dn_cpu_bind(fwd, DN_DNNL_ARG_SRC, DN_X, DN_CPU_IN, NULL);
        dn_cpu_bind_at(fwd, DN_DNNL_ARG_DST, y, DN_CPU_OUT, NULL);
        dn_cpu_bind_at(fwd, DN_DNNL_ARG_WORKSPACE, places, DN_CPU_OUT, NULL);
        dn_cpu_bind_at(op, DN_DNNL_ARG_WORKSPACE, places, DN_CPU_IN, NULL);
    } else {
        dn_cpu_op_free(fwd);
    }
    dn_cpu_bind(op, DN_DNNL_ARG_DIFF_DST, DN_DY, DN_CPU_IN, NULL);
    dn_cpu_bind_result(op, s, DN_DNNL_ARG_DIFF_SRC, DN_DX, NULL);
    size_t from = s->scratch;
    if (fwd->pd)
        dn_cpu_place(s, fwd, from);
    dn_cpu_place(s, op, from);
    return NULL;
}

static const char *build(const dn_problem *p, dn_cpu_state *s)
{
    const dn_dnnl_interface *i = dn_dnnl_get()->i;
    bool fwd = p->dir == DN_DIR_FWD, max = is_max(p);
    const dn_role *roles = fwd ? fwd_roles : max ? max_bwd_roles : avg_bwd_roles;
    int count = fwd || !max ? 2 : 3;
    dn_cpu_layout layout = DN_CPU_NCHW;
    dn_dnnl_md *x = NULL, *y = NULL;
    const char *why = refuses(p, roles, count);
    if (!why)
        why = one_layout(p, roles, count, &layout);
    if (!why)
        why = dn_cpu_md(&x, &p->t[fwd ? DN_X : DN_DX], layout);
    if (!why)
        why = dn_cpu_md(&y, &p->t[fwd ? DN_Y : DN_DY], layout);
    dn_dnnl_desc d = describe(p);
    d.src = d.dsrc = x, d.dst = d.ddst = y;
    if (!why)
        why = fwd ? build_fwd(p, s, &d) : build_bwd(p, s, &d);
    i->md_free(x);
    i->md_free(y);
    return why;
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    static const dn_role fwd_in[] = { DN_X }, max_in[] = { DN_DY, DN_X };
    const dn_problem *p = &plan->problem;
    const dn_cpu_state *s = plan->state;
    bool fwd = p->dir == DN_DIR_FWD;
    if (is_max(p) && !dn_cpu_finite(p, a, fwd ? fwd_in : max_in, fwd ? 1 : 2))
        return dn_cpu_exact_run(h, plan, a);
    dn_cpu_run r;
    dn_cpu_begin(&r, h, plan, a);
    dn_status st = s->op[FORWARD].pd ? dn_cpu_exec(&s->op[FORWARD], &r) : DN_SUCCESS;
    if (st == DN_SUCCESS)
        st = dn_cpu_exec(&s->op[MAIN], &r);
    if (st == DN_SUCCESS)
        dn_cpu_store(p, s, &r, a, fwd ? DN_Y : DN_DX);
    return st;
}

static const char *check(const dn_problem *p)
{
    return dn_cpu_check(p, build);
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    dn_status st = dn_cpu_prepare(h, plan, build, false);
    return st == DN_SUCCESS && is_max(&plan->problem) ? dn_cpu_exact_prepare(h, plan) : st;
}

static const dn_solver rows[] = {
    { .name = "cpu_pool_fwd", .op = DN_OP_POOL, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare, .run = run,
      .release = dn_cpu_release },
    { .name = "cpu_pool_bwd_data", .op = DN_OP_POOL, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = check, .prepare = prepare,
      .run = run, .release = dn_cpu_release },
};

const dn_rows dn_cpu_pool = { rows, sizeof rows / sizeof rows[0] };
