/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Y = alpha * X + beta * Y between f32, bf16 and f16 and between layouts: a oneDNN reorder. */
#include "cpu/op.h"

static bool float_type(dn_dtype t)
{
    return t == DN_F32 || t == DN_BF16 || t == DN_F16;
}

static const char *build(const dn_problem *p, dn_cpu_state *s)
{
    static const dn_role roles[] = { DN_X, DN_Y };
    const dn_dnnl *d = dn_dnnl_get();
    const char *why = dn_cpu_tensors(p, roles, 2);
    if (why)
        return why;
    if (!float_type(p->t[DN_X].type) || !float_type(p->t[DN_Y].type))
        return "needs types f32, bf16 or f16";
    if (p->flags & DN_F_IN_PLACE)
        return "cannot write over its input";
    dn_cpu_stage(p, s, DN_Y);
    /* The instruction that oneDNN converts with (vcvtneps2bf16) makes 0 of what is subnormal. */
    if (!s->staged && p->t[DN_X].type == DN_F32 && p->t[DN_Y].type == DN_BF16)
        return "rounds f32 to bf16 with subnormals as 0";
    dn_tensor out = p->t[DN_Y];
    if (s->staged)
        out.type = DN_F32;
    dn_dnnl_md *x = NULL, *y = NULL;
    why = dn_cpu_md(&x, &p->t[DN_X], DN_CPU_NCHW);
    if (!why)
        why = dn_cpu_md(&y, &out, DN_CPU_NCHW);
    dn_cpu_op *op = &s->op[0];
    if (!why)
        why = dn_cpu_reorder_pd(op, x, y);
    d->i->md_free(x);
    d->i->md_free(y);
    if (!why)
        why = dn_cpu_bind(op, DN_DNNL_ARG_SRC, DN_X, DN_CPU_IN, NULL);
    if (!why)
        why = dn_cpu_bind_result(op, s, DN_DNNL_ARG_DST, DN_Y, NULL);
    if (!why)
        dn_cpu_place(s, op, s->scratch);
    return why;
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    dn_cpu_run r;
    dn_cpu_begin(&r, h, plan, a);
    dn_status st = dn_cpu_exec(&((const dn_cpu_state *)plan->state)->op[0], &r);
    if (st == DN_SUCCESS)
        dn_cpu_store(&plan->problem, plan->state, &r, a, DN_Y);
    return st;
}

static const char *check(const dn_problem *p)
{
    return dn_cpu_check(p, build);
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    return dn_cpu_prepare(h, plan, build, false);
}

static const dn_solver rows[] = {
    { .name = "cpu_transform_fwd", .op = DN_OP_TRANSFORM, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare,
      .run = run, .release = dn_cpu_release },
};

const dn_rows dn_cpu_transform = { rows, sizeof rows / sizeof rows[0] };
