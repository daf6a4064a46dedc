/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Activation and its gradient, f32 and bf16, on tensors without gaps that share one layout: to oneDNN they are rows of numbers.
 * Gradients come from y where ref's do (sigmoid, tanh, ELU), so they are also right where y was written over x. */
#include "cpu/op.h"

static const dn_role fwd_roles[] = { DN_X, DN_Y };
static const dn_role bwd_roles[] = { DN_X, DN_Y, DN_DY, DN_DX };

static const char *choose(const dn_problem *p, dn_dnnl_desc *d)
{
    const dn_act_param *q = &p->u.act;
    bool bwd = p->dir == DN_DIR_BWD_DATA;
    switch (q->mode) {
    case DN_ACT_SIGMOID:
        d->alg = bwd ? DN_DNNL_LOGISTIC_FROM_DST : DN_DNNL_LOGISTIC;
        return NULL;
    case DN_ACT_RELU:
        d->alg = DN_DNNL_RELU;
        return NULL;
    case DN_ACT_TANH:
        d->alg = bwd ? DN_DNNL_TANH_FROM_DST : DN_DNNL_TANH;
        return NULL;
    case DN_ACT_CLIPPED_RELU:
        d->alg = DN_DNNL_CLIP;
        d->beta = (float)q->coef;
        return q->coef >= 0 ? NULL : "needs a ceiling of 0 or more";
    case DN_ACT_ELU:
        d->alg = bwd ? DN_DNNL_ELU_FROM_DST : DN_DNNL_ELU;
        d->alpha = (float)q->coef;
        if (bwd && q->coef != 1)  /* at 0 oneDNN's slope is alpha, cuDNN's 1 */
            return "needs an ELU alpha of 1 for the gradient";
        return q->coef >= 0 ? NULL : "needs an ELU alpha of 0 or more";
    case DN_ACT_SWISH:
        d->alg = DN_DNNL_SWISH;
        d->alpha = (float)q->beta;
        return NULL;
    default:
        return "has no code for this activation";
    }
}

static bool from_dst(dn_dnnl_alg alg)
{
    return alg == DN_DNNL_LOGISTIC_FROM_DST || alg == DN_DNNL_TANH_FROM_DST || alg == DN_DNNL_ELU_FROM_DST;
}

static const char *refuses(const dn_problem *p)
{
    const dn_role *roles = p->dir == DN_DIR_FWD ? fwd_roles : bwd_roles;
    int count = p->dir == DN_DIR_FWD ? 2 : 4;
    dn_dtype t = p->t[DN_X].type;
    if (t != DN_F32 && t != DN_BF16)
        return "needs type f32 or bf16";
    for (int k = 0; k < count; k++) {
        const dn_tensor *u = &p->t[roles[k]];
        if (!dn_tensor_is_dense(u) || !dn_tensor_same_layout(u, &p->t[DN_X]))
            return "needs tensors without gaps that share one layout";
        if (p->align[roles[k]] && p->align[roles[k]] < dn_dtype_size(t))
            return "needs pointers aligned to the element size";
    }
    if (dn_tensor_count(&p->t[DN_X]) > INT32_MAX)
        return "needs fewer than 2^31 elements a tensor: oneDNN's kernels compute some offsets in 32 bits";
    return t == DN_F32 || (p->flags & DN_F_BETA_ZERO) ? NULL : "needs beta 0 for bf16: oneDNN rounds before we can add";
}

static const char *bind(const dn_problem *p, dn_cpu_state *s, dn_dnnl_alg alg)
{
    dn_cpu_op *op = &s->op[0];
    if (p->dir == DN_DIR_FWD) {
        dn_cpu_bind(op, DN_DNNL_ARG_SRC, DN_X, DN_CPU_IN, NULL);
        return dn_cpu_bind_result(op, s, DN_DNNL_ARG_DST, DN_Y, NULL);
    }
    if (from_dst(alg))
        dn_cpu_bind(op, DN_DNNL_ARG_DST, DN_Y, DN_CPU_IN, NULL);
    else
        dn_cpu_bind(op, DN_DNNL_ARG_SRC, DN_X, DN_CPU_IN, NULL);
    dn_cpu_bind(op, DN_DNNL_ARG_DIFF_DST, DN_DY, DN_CPU_IN, NULL);
    return dn_cpu_bind_result(op, s, DN_DNNL_ARG_DIFF_SRC, DN_DX, NULL);
}

static const char *build(const dn_problem *p, dn_cpu_state *s)
{
    const dn_dnnl_interface *i = dn_dnnl_get()->i;
    dn_dnnl_desc d = { .kind = DN_DNNL_ELTWISE, .prop = DN_DNNL_TRAIN };
    const char *why = refuses(p);
    if (!why)
        why = choose(p, &d);
    if (why)
        return why;
    dn_cpu_stage(p, s, p->dir == DN_DIR_FWD ? DN_Y : DN_DX);
    int64_t count = dn_tensor_count(&p->t[DN_X]), one = 1;
    dn_dnnl_md *md = NULL;
    if (i->md_make(&md, 1, &count, dn_cpu_type(p->t[DN_X].type), &one))
        return "oneDNN makes no memory descriptor of these tensors";
    d.src = d.dst = d.dsrc = d.ddst = md;
    dn_dnnl_pd *hint = NULL;
    if (p->dir != DN_DIR_FWD) {
        if (i->pd_make(&hint, &d))
            why = "oneDNN does not take this problem";
        d.prop = DN_DNNL_BWD_DATA;
        d.hint = hint;
    }
    if (!why)
        why = dn_cpu_pd(&s->op[0], &d, NULL, 0);
    if (hint)
        dn_dnnl_get()->pd_destroy(hint);
    i->md_free(md);
    if (!why)
        why = bind(p, s, d.alg);
    if (!why)
        dn_cpu_place(s, &s->op[0], s->scratch);
    return why;
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_problem *p = &plan->problem;
    bool fwd = p->dir == DN_DIR_FWD;
    int mode = p->u.act.mode;
    bool reads_y = !fwd && (mode == DN_ACT_SIGMOID || mode == DN_ACT_TANH || mode == DN_ACT_ELU);
    const dn_role in[] = { reads_y ? DN_Y : DN_X, DN_DY };
    if (!dn_cpu_finite(p, a, in, fwd ? 1 : 2))
        return dn_cpu_exact_run(h, plan, a);
    dn_cpu_run r;
    dn_cpu_begin(&r, h, plan, a);
    dn_status st = dn_cpu_exec(&((const dn_cpu_state *)plan->state)->op[0], &r);
    if (st == DN_SUCCESS)
        dn_cpu_store(p, plan->state, &r, a, fwd ? DN_Y : DN_DX);
    return st;
}

static const char *check(const dn_problem *p)
{
    return dn_cpu_check(p, build);
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    dn_status st = dn_cpu_prepare(h, plan, build, false);
    return st == DN_SUCCESS ? dn_cpu_exact_prepare(h, plan) : st;
}

static const dn_solver rows[] = {
    { .name = "cpu_act_fwd", .op = DN_OP_ACT, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare, .run = run,
      .release = dn_cpu_release },
    { .name = "cpu_act_bwd_data", .op = DN_OP_ACT, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = check, .prepare = prepare,
      .run = run, .release = dn_cpu_release },
};

const dn_rows dn_cpu_act = { rows, sizeof rows / sizeof rows[0] };
