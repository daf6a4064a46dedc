/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "core/check.h"

#include "core/log.h"
#include "core/os.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned dn_problem_outputs(const dn_problem *p)
{
    if (p->op == DN_OP_CONV && p->dir != DN_DIR_FWD)
        return p->dir == DN_DIR_BWD_DATA ? 1u << DN_X : p->dir == DN_DIR_BWD_FILTER ? 1u << DN_W : 1u << DN_B;
    if (p->t[DN_DX].rank)
        return 1u << DN_DX | (p->t[DN_DZ].rank ? 1u << DN_DZ : 0);
    return 1u << DN_Y;
}

/* A host copy of the memory that a tensor spans; base stands where the tensor's pointer does. */
typedef struct copy {
    void *memory;
    unsigned char *base;
} copy;

static bool take_copy(dn_handle *h, const dn_tensor *t, const void *ptr, copy *c)
{
    int64_t lo, hi;
    *c = (copy){ 0 };
    if (!ptr || !t->rank || !dn_tensor_span(t, &lo, &hi))
        return !ptr || !t->rank;
    int64_t unit = (int64_t)dn_dtype_size((dn_dtype)t->type) * t->vect;
    size_t bytes = (size_t)((hi - lo + 1) * unit);
    c->memory = dn_aligned_alloc(bytes);
    if (!c->memory)
        return false;
    c->base = (unsigned char *)c->memory - lo * unit;
    return dn_mem_copy_out(h, c->memory, (const unsigned char *)ptr + lo * unit, bytes) == DN_SUCCESS;
}

/* Visits every element of t: offset of element i in logical order. Slow and simple, as a check may be. */
static int64_t offset_of(const dn_tensor *t, int64_t i)
{
    int64_t off = 0;
    for (int d = t->rank - 1; d >= 0; d--) {
        off += i % t->dims[d] * t->strides[d];
        i /= t->dims[d];
    }
    return off;
}

static double bound(const dn_problem *p, dn_role out)
{
    switch (p->t[out].type) {
    case DN_F64: return 1e-10;
    case DN_F16: return 2e-3;
    case DN_BF16: return 1e-2;
    case DN_F32: return p->math == DN_MATH_FMA ? 1e-5 : 1e-4;
    default: return 0;
    }
}

static void report(const dn_plan *plan, const char *what, int64_t i, double got, double want)
{
    char line[1024], text[1400];
    dn_problem_print(&plan->problem, line, sizeof line);
    snprintf(text, sizeof text, "check: %s of %s: element %lld is %.9g, ref has %.9g: %s", what, plan->solver->name, (long long)i,
             got, want, line);
    dn_log_status(DN_LOG_ERROR, DN_EXECUTION_FAILED, text);
}

/* Names the first element that is off, in one output. */
static void compare(const dn_plan *plan, dn_role r, const copy *got, const copy *want)
{
    const dn_tensor *t = &plan->problem.t[r];
    int64_t n = dn_tensor_count(t);
    double top = 0;
    for (int64_t i = 0; i < n; i++) {
        double w = fabs(dn_load((dn_dtype)t->type, want->base, offset_of(t, i)));
        top = isfinite(w) ? fmax(top, w) : top;  /* an infinity would excuse every element */
    }
    for (int64_t i = 0; i < n; i++) {
        double g = dn_load((dn_dtype)t->type, got->base, offset_of(t, i));
        double w = dn_load((dn_dtype)t->type, want->base, offset_of(t, i));
        bool same = g == w || (isnan(g) && isnan(w)) || fabs(g - w) <= bound(&plan->problem, r) * fmax(1, top);
        if (!same) {
            report(plan, "output differs", i, g, w);
            return;
        }
    }
}

static void look_for_nan(const dn_plan *plan, dn_role r, const copy *got)
{
    const dn_tensor *t = &plan->problem.t[r];
    for (int64_t i = 0, n = dn_tensor_count(t); i < n; i++) {
        double g = dn_load((dn_dtype)t->type, got->base, offset_of(t, i));
        if (!isfinite(g)) {
            report(plan, "NaN or infinity in the output", i, g, NAN);
            return;
        }
    }
}

/* Everything that a run reads and writes, on the host. */
typedef struct operands {
    copy role[DN_ROLE_COUNT], aux[DN_AUX_COUNT];
    bool complete;
} operands;

/* Whether the memory of all arrays follows from W. Not so where lengths of sequences say how much there is, or B describes some. */
static bool is_described(const dn_problem *p)
{
    return p->op != DN_OP_CTC && p->op != DN_OP_RNN && p->op != DN_OP_ATTN && p->op != DN_OP_BN_FINAL;
}

static void take_all(dn_handle *h, const dn_problem *p, const dn_args *a, operands *o)
{
    o->complete = true;
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        o->complete = take_copy(h, &p->t[r], a->ptr[r], &o->role[r]) && o->complete;
    for (int i = 0; i < DN_AUX_COUNT; i++)
        if (i != DN_AUX_STATES && i != DN_AUX_INDICES)
            o->complete = take_copy(h, &p->t[DN_W], a->aux[i], &o->aux[i]) && o->complete;
}

static void drop_all(operands *o)
{
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        dn_aligned_free(o->role[r].memory);
    for (int i = 0; i < DN_AUX_COUNT; i++)
        dn_aligned_free(o->aux[i].memory);
}

/* The same problem on copies, by the first row of ref that takes it. */
static dn_status run_ref(dn_handle *h, const dn_problem *p, const dn_args *a, const operands *o)
{
    dn_problem q = *p;
    q.algo = -1;
    if (q.op == DN_OP_REDUCE)
        q.u.reduce.indices = 0;  /* the values are compared, the indices have no copy */
    dn_args b = *a;
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        b.ptr[r] = o->role[r].base;
    for (int i = 0; i < DN_AUX_COUNT; i++)
        b.aux[i] = o->aux[i].base;
    const dn_solver *s = NULL;
    for (int i = 0; (s = dn_solver_at(&dn_ref_engine, (dn_op)p->op, (dn_dir)p->dir, i)); i++)
        if (!dn_solver_refuses(s, &q))
            break;
    dn_plan *plan;
    if (!s || dn_plan_make(h, s, &q, &plan) != DN_SUCCESS)
        return DN_NOT_SUPPORTED;
    b.workspace_size = plan->workspace;
    b.workspace = dn_aligned_alloc(plan->workspace);
    dn_status st = b.workspace ? s->run(h, plan, &b) : DN_ALLOC_FAILED;
    dn_aligned_free(b.workspace);
    dn_plan_free(plan);
    return st;
}

static bool inputs_finite(const dn_problem *p, const operands *o)
{
    unsigned outputs = dn_problem_outputs(p);
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        if (o->role[r].base && (!(outputs >> r & 1) || !(p->flags & DN_F_BETA_ZERO)))
            for (int64_t i = 0, n = dn_tensor_count(&p->t[r]); i < n; i++)
                if (!isfinite(dn_load((dn_dtype)p->t[r].type, o->role[r].base, offset_of(&p->t[r], i))))
                    return false;
    return true;
}

dn_status dn_run_checked(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_problem *p = &plan->problem;
    int check = dn_config_get()->check;
    operands before = { 0 };
    if (!is_described(p))
        return plan->solver->run(h, plan, a);
    take_all(h, p, a, &before);
    dn_status st = plan->solver->run(h, plan, a);
    bool finite = before.complete && inputs_finite(p, &before);
    /* Dropout draws from its state, so a second run would draw other numbers: it has one implementation and is not compared. */
    bool ref = (check & DN_CHECK_REF) && before.complete && st == DN_SUCCESS && !a->aux[DN_AUX_STATES] && !a->reserve &&
               run_ref(h, p, a, &before) == DN_SUCCESS;
    for (int r = 0; r < DN_ROLE_COUNT && st == DN_SUCCESS; r++) {
        copy after;
        if (!(dn_problem_outputs(p) >> r & 1) || !take_copy(h, &p->t[r], a->ptr[r], &after) || !after.base)
            continue;
        if (ref)
            compare(plan, (dn_role)r, &after, &before.role[r]);
        if ((check & DN_CHECK_NAN) && finite)
            look_for_nan(plan, (dn_role)r, &after);
        dn_aligned_free(after.memory);
    }
    drop_all(&before);
    return st;
}
