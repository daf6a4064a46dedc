/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Softmax over rows that lie together: a sample (mode instance), or the channels of a place where they are innermost (mode
 * channel on NHWC, or with one place). FAST is computed as ACCURATE is: the same numbers, without the overflow of large inputs. */
#include "cpu/op.h"

enum { INSTANCE, CHANNEL };
enum { FAST, ACCURATE, LOG };

static const dn_role fwd_roles[] = { DN_X, DN_Y };
static const dn_role bwd_roles[] = { DN_Y, DN_DY, DN_DX };

static const char *refuses(const dn_problem *p)
{
    bool fwd = p->dir == DN_DIR_FWD;
    const dn_role *roles = fwd ? fwd_roles : bwd_roles;
    const dn_tensor *y = &p->t[DN_Y];
    const char *why = dn_cpu_tensors(p, roles, fwd ? 2 : 3);
    if (why)
        return why;
    if (y->type != DN_F32 && y->type != DN_BF16)
        return "needs type f32 or bf16";
    for (int k = 0; k < (fwd ? 2 : 3); k++)
        if (p->t[roles[k]].type != y->type || !dn_tensor_same_layout(&p->t[roles[k]], y))
            return "needs tensors of one type and layout";
    if (p->u.softmax.mode == CHANNEL && !dn_tensor_is_packed_nhwc(y))
        return "needs the channel innermost: oneDNN has only its reference code for others";
    return y->type == DN_F32 || (p->flags & DN_F_BETA_ZERO) ? NULL : "needs beta 0 for bf16: oneDNN rounds before we can add";
}

static const char *bind(const dn_problem *p, dn_cpu_state *s)
{
    dn_cpu_op *op = &s->op[0];
    if (p->dir == DN_DIR_FWD) {
        dn_cpu_bind(op, DN_DNNL_ARG_SRC, DN_X, DN_CPU_IN, NULL);
        return dn_cpu_bind_result(op, s, DN_DNNL_ARG_DST, DN_Y, NULL);
    }
    dn_cpu_bind(op, DN_DNNL_ARG_DST, DN_Y, DN_CPU_IN, NULL);
    dn_cpu_bind(op, DN_DNNL_ARG_DIFF_DST, DN_DY, DN_CPU_IN, NULL);
    return dn_cpu_bind_result(op, s, DN_DNNL_ARG_DIFF_SRC, DN_DX, NULL);
}

static const char *build(const dn_problem *p, dn_cpu_state *s)
{
    const dn_dnnl_interface *i = dn_dnnl_get()->i;
    const dn_tensor *y = &p->t[DN_Y];
    const char *why = refuses(p);
    if (why)
        return why;
    dn_cpu_stage(p, s, p->dir == DN_DIR_FWD ? DN_Y : DN_DX);
    int64_t count = dn_tensor_count(y), row = p->u.softmax.mode == CHANNEL ? y->dims[1] : count / y->dims[0];
    int64_t dims[] = { count / row, row }, strides[] = { row, 1 };
    dn_dnnl_md *md = NULL;
    if (i->md_make(&md, 2, dims, dn_cpu_type(y->type), strides))
        return "oneDNN makes no memory descriptor of these tensors";
    dn_dnnl_desc d = { .kind = DN_DNNL_SOFT, .prop = DN_DNNL_TRAIN, .axis = 1 };
    d.alg = p->u.softmax.algo == LOG ? DN_DNNL_LOGSOFTMAX : DN_DNNL_SOFTMAX;
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
        why = bind(p, s);
    if (!why)
        dn_cpu_place(s, &s->op[0], s->scratch);
    return why;
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_problem *p = &plan->problem;
    bool fwd = p->dir == DN_DIR_FWD;
    if (!dn_cpu_finite(p, a, fwd ? fwd_roles : bwd_roles, fwd ? 1 : 2))
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
    { .name = "cpu_softmax_fwd", .op = DN_OP_SOFTMAX, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare,
      .run = run, .release = dn_cpu_release },
    { .name = "cpu_softmax_bwd_data", .op = DN_OP_SOFTMAX, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = check, .prepare = prepare,
      .run = run, .release = dn_cpu_release },
};

const dn_rows dn_cpu_softmax = { rows, sizeof rows / sizeof rows[0] };
