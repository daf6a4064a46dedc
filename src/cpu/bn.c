/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation by channel, f32 and bf16 data with f32 parameters. oneDNN's variance is the biased one, as cuDNN's is for
 * the batch; running averages, the unbiased estimate and inverse deviations are made here, per channel. Its epsilon is part of
 * the primitive while cuDNN's comes with the call: a call with another one compiles anew. */
#include "cpu/op.h"

#include <math.h>

enum { PER_ACTIVATION = 0 };
#define EPS_FIRST 1e-5f  /* most callers' */

static const dn_role fwd_roles[] = { DN_X, DN_Y };
static const dn_role bwd_roles[] = { DN_X, DN_DX, DN_DY };

static int aux(dn_aux a)
{
    return DN_ROLE_COUNT + (int)a;
}

static const char *refuses(const dn_problem *p)
{
    bool bwd = p->dir == DN_DIR_BWD;
    const dn_role *roles = bwd ? bwd_roles : fwd_roles;
    int count = bwd ? 3 : 2;
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W];
    const char *why = dn_cpu_tensors(p, roles, count);
    if (why)
        return why;
    if (p->u.bn.mode == PER_ACTIVATION)
        return "needs statistics by channel";
    if (p->u.bn.ops)
        return "needs plain normalisation, without an activation";
    if (x->type != DN_F32 && x->type != DN_BF16)
        return "needs type f32 or bf16";
    for (int k = 1; k < count; k++)
        if (p->t[roles[k]].type != x->type || !dn_tensor_same_layout(&p->t[roles[k]], x))
            return "needs data tensors of one type and layout";
    if (p->align[DN_W] && p->align[DN_W] < sizeof(float))
        return "needs parameters aligned to the element size";
    if (w->type != DN_F32 || !dn_tensor_is_packed(w) || dn_tensor_count(w) != x->dims[1])
        return "needs packed parameters of type f32";
    if (bwd && (p->flags & DN_F_IN_PLACE))
        return "cannot write over an input";
    if (x->rank < 3 || x->rank > 5)
        return "needs 3 to 5 dimensions";
    return x->type == DN_F32 || (p->flags & DN_F_BETA_ZERO) ? NULL : "needs beta 0 for bf16: oneDNN rounds before we can add";
}

/* Scratch of the row, in floats: mean and variance, then dscale and dbias. */
static void bind(const dn_problem *p, dn_cpu_state *s)
{
    dn_cpu_op *op = &s->op[0];
    size_t c = (size_t)p->t[DN_X].dims[1] * sizeof(float);
    dn_cpu_flow stats = p->dir == DN_DIR_TRAIN ? DN_CPU_OUT : DN_CPU_IN;
    dn_cpu_bind(op, DN_DNNL_ARG_SRC, DN_X, DN_CPU_IN, NULL);
    if (p->dir == DN_DIR_INFER) {
        dn_cpu_bind(op, DN_DNNL_ARG_MEAN, aux(DN_AUX_MEAN), stats, NULL);
        dn_cpu_bind(op, DN_DNNL_ARG_VARIANCE, aux(DN_AUX_VAR), stats, NULL);
    } else {
        dn_cpu_bind_at(op, DN_DNNL_ARG_MEAN, s->own, stats, NULL);
        dn_cpu_bind_at(op, DN_DNNL_ARG_VARIANCE, s->own + c, stats, NULL);
    }
    dn_cpu_bind(op, DN_DNNL_ARG_SCALE, aux(DN_AUX_SCALE), DN_CPU_IN, NULL);
    if (p->dir != DN_DIR_BWD) {
        dn_cpu_bind(op, DN_DNNL_ARG_SHIFT, aux(DN_AUX_BIAS), DN_CPU_IN, NULL);
        dn_cpu_bind_result(op, s, DN_DNNL_ARG_DST, DN_Y, NULL);
        return;
    }
    /* oneDNN 2 wants a shift, though nothing depends on it; 3 refuses one */
    if (dn_dnnl_get()->major == 2)
        dn_cpu_bind(op, DN_DNNL_ARG_SHIFT, aux(DN_AUX_SCALE), DN_CPU_IN, NULL);
    dn_cpu_bind_at(op, DN_DNNL_ARG_DIFF_SCALE, s->own + 2 * c, DN_CPU_OUT, NULL);
    dn_cpu_bind_at(op, DN_DNNL_ARG_DIFF_SHIFT, s->own + 3 * c, DN_CPU_OUT, NULL);
    dn_cpu_bind(op, DN_DNNL_ARG_DIFF_DST, DN_DY, DN_CPU_IN, NULL);
    dn_cpu_bind_result(op, s, DN_DNNL_ARG_DIFF_SRC, DN_DX, NULL);
}

static const char *make_pd(const dn_problem *p, dn_cpu_state *s, float eps)
{
    const dn_dnnl *lib = dn_dnnl_get();
    dn_dnnl_md *x = NULL;
    const char *why = dn_cpu_md(&x, &p->t[DN_X], dn_cpu_layout_of(p, fwd_roles, 1));
    if (why)
        return why;
    dn_dnnl_desc d = { .kind = DN_DNNL_NORM, .prop = DN_DNNL_TRAIN, .eps = eps, .flags = DN_DNNL_SCALE_SHIFT };
    d.src = d.dst = d.dsrc = d.ddst = x;
    dn_dnnl_pd *hint = NULL;
    if (p->dir == DN_DIR_INFER) {
        d.prop = DN_DNNL_INFER;
        d.flags |= DN_DNNL_GIVEN_STATS;
    } else if (p->dir == DN_DIR_BWD) {
        if (lib->i->pd_make(&hint, &d))
            why = "oneDNN does not take this problem";
        d.prop = DN_DNNL_BWD;
        d.hint = hint;
    }
    s->eps = eps;
    if (!why)
        why = dn_cpu_pd(&s->op[0], &d, NULL, 0);
    if (hint)
        lib->pd_destroy(hint);
    lib->i->md_free(x);
    return why;
}

static const char *build_with(const dn_problem *p, dn_cpu_state *s, float eps)
{
    const char *why = refuses(p);
    if (!why)
        why = make_pd(p, s, eps);
    if (why)
        return why;
    dn_cpu_stage(p, s, p->dir == DN_DIR_BWD ? DN_DX : DN_Y);
    s->own = dn_cpu_region(s, 4 * (size_t)p->t[DN_X].dims[1] * sizeof(float));
    bind(p, s);
    dn_cpu_place(s, &s->op[0], s->scratch);
    return NULL;
}

static const char *build(const dn_problem *p, dn_cpu_state *s)
{
    return build_with(p, s, EPS_FIRST);
}

/* The primitive with the call's epsilon. Regions stay where they are: sizes do not depend on it. */
static dn_status set_eps(const dn_plan *plan, dn_cpu_state *s, float eps)
{
    if (s->eps == eps)
        return DN_SUCCESS;
    int saved = dn_dnnl_enter();
    dn_cpu_op_free(&s->op[0]);
    s->scratch = 0;
    const char *why = build_with(&plan->problem, s, eps);
    const char *call = NULL;
    int code = why ? 0 : dn_cpu_compile(&s->op[0], &call);
    dn_status st = why ? dn_fail(DN_INTERNAL_ERROR, "%s with epsilon %g: %s", plan->solver->name, eps, why)
                       : code ? dn_cpu_fail(call, code) : DN_SUCCESS;
    if (st != DN_SUCCESS) {
        dn_cpu_op_free(&s->op[0]);
        s->eps = -1;
    }
    dn_dnnl_leave(saved);
    return st;
}

/* --- per channel --- */

static float *own(const dn_cpu_state *s, const dn_cpu_run *r)
{
    return (float *)(r->scratch + s->own);
}

static void average(float *running, double now, double factor)
{
    *running = (float)(factor == 1 ? now : factor * now + (1 - factor) * *running);
}

/* After training: what is saved for backward, and the running statistics. */
static void keep_stats(const dn_problem *p, const dn_args *a, const float *mean)
{
    int64_t c = p->t[DN_X].dims[1];
    double m = (double)(dn_tensor_count(&p->t[DN_X]) / c), unbias = m > 1 ? m / (m - 1) : 1;
    const float *var = mean + c;
    float *save_mean = a->aux[DN_AUX_SAVE_MEAN], *save_inv = a->aux[DN_AUX_SAVE_INVSTD];
    float *run_mean = a->aux[DN_AUX_MEAN], *run_var = a->aux[DN_AUX_VAR];
    for (int64_t i = 0; i < c; i++) {
        if (save_mean)
            save_mean[i] = mean[i];
        if (save_inv)
            save_inv[i] = (float)(1 / sqrt((double)var[i] + a->eps));
        if (run_mean)
            average(&run_mean[i], mean[i], a->factor);
        if (run_var)
            average(&run_var[i], unbias * var[i], a->factor);
    }
}

/* Before backward: the statistics that training saved, as oneDNN wants them. It adds epsilon again. */
static void take_stats(const dn_problem *p, const dn_args *a, const dn_cpu_state *s, float *mean)
{
    int64_t c = p->t[DN_X].dims[1];
    const float *save_mean = a->aux[DN_AUX_SAVE_MEAN], *save_inv = a->aux[DN_AUX_SAVE_INVSTD];
    for (int64_t i = 0; i < c; i++) {
        mean[i] = save_mean[i];
        mean[c + i] = (float)(1 / ((double)save_inv[i] * save_inv[i]) - (double)s->eps);
    }
}

static void blend(int64_t c, const float *r, double alpha, double beta, float *y)
{
    for (int64_t i = 0; i < c; i++)
        y[i] = (float)(beta == 0 ? alpha * r[i] : alpha * r[i] + beta * y[i]);
}

/* --- rows --- */

static dn_status run_fwd(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_problem *p = &plan->problem;
    dn_cpu_state *s = plan->state;
    dn_status st = set_eps(plan, s, (float)a->eps);
    if (st != DN_SUCCESS)
        return st;
    dn_cpu_run r;
    dn_cpu_begin(&r, h, plan, a);
    st = dn_cpu_exec(&s->op[0], &r);
    if (st != DN_SUCCESS)
        return st;
    if (p->dir == DN_DIR_TRAIN)
        keep_stats(p, a, own(s, &r));
    dn_cpu_store(p, s, &r, a, DN_Y);
    return DN_SUCCESS;
}

static dn_status run_bwd(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_problem *p = &plan->problem;
    dn_cpu_state *s = plan->state;
    if (!a->aux[DN_AUX_SAVE_MEAN] || !a->aux[DN_AUX_SAVE_INVSTD])
        return dn_cpu_exact_run(h, plan, a);
    dn_status st = set_eps(plan, s, (float)a->eps);
    if (st != DN_SUCCESS)
        return st;
    dn_cpu_run r;
    dn_cpu_begin(&r, h, plan, a);
    take_stats(p, a, s, own(s, &r));
    st = dn_cpu_exec(&s->op[0], &r);
    if (st != DN_SUCCESS)
        return st;
    int64_t c = p->t[DN_X].dims[1];
    blend(c, own(s, &r) + 2 * c, a->alpha2, a->beta2, a->aux[DN_AUX_DSCALE]);
    blend(c, own(s, &r) + 3 * c, a->alpha2, a->beta2, a->aux[DN_AUX_DBIAS]);
    dn_cpu_store(p, s, &r, a, DN_DX);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    return dn_cpu_check(p, build);
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    dn_status st = dn_cpu_prepare(h, plan, build, false);
    return st == DN_SUCCESS && plan->problem.dir == DN_DIR_BWD ? dn_cpu_exact_prepare(h, plan) : st;
}

#define ROW(row_name, row_dir, row_run)                                                                                     \
    { .name = row_name, .op = DN_OP_BN, .dir = row_dir, .algo = -1, .check = check, .prepare = prepare, .run = row_run,     \
      .release = dn_cpu_release }
static const dn_solver rows[] = {
    ROW("cpu_bn_infer", DN_DIR_INFER, run_fwd),
    ROW("cpu_bn_train", DN_DIR_TRAIN, run_fwd),
    ROW("cpu_bn_bwd", DN_DIR_BWD, run_bwd),
};
#undef ROW

const dn_rows dn_cpu_bn = { rows, sizeof rows / sizeof rows[0] };
