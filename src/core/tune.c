/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Timing of the rows that take a problem, for Find. */
#include "core/engine.h"

#include "core/os.h"

#include <stdlib.h>

#define RUNS_MAX 5
#define BUDGET_MS 200  /* a row is not run again once it has had this long */

static dn_status run_once(dn_handle *h, const dn_plan *plan, const dn_args *a, float *ms)
{
    if (h->engine->time_run)
        return h->engine->time_run(h, plan, a, ms);
    uint64_t start = dn_time_ns();
    dn_status st = plan->solver->run(h, plan, a);
    if (st == DN_SUCCESS)
        st = dn_mem_sync(h);
    *ms = (float)((double)(dn_time_ns() - start) * 1e-6);
    return st;
}

static void time_row(dn_handle *h, const dn_plan *plan, const dn_args *a, dn_timing *t)
{
    float spent = 0, best = -1, ms = 0;
    for (int i = 0; i < RUNS_MAX && spent < BUDGET_MS; i++) {
        t->status = run_once(h, plan, a, &ms);
        if (t->status != DN_SUCCESS)
            return;
        spent += ms;
        best = best < 0 || ms < best ? ms : best;
    }
    t->ms = best;
}

static int by_time(const void *a, const void *b)
{
    const dn_timing *x = a, *y = b;
    if ((x->status == DN_SUCCESS) != (y->status == DN_SUCCESS))
        return x->status == DN_SUCCESS ? -1 : 1;
    return x->ms < y->ms ? -1 : x->ms > y->ms;
}

int dn_tune(dn_handle *h, const dn_problem *p, const dn_args *a, dn_timing *out, int max)
{
    int n = 0;
    const dn_solver *s;
    for (int i = 0; n < max && (s = dn_solver_at(h->engine, (dn_op)p->op, (dn_dir)p->dir, i)); i++) {
        if (dn_solver_refuses(s, p))
            continue;
        dn_timing *t = &out[n];
        *t = (dn_timing){ .solver = s, .ms = -1 };
        dn_plan *plan = NULL;
        t->status = dn_plan_make(h, s, p, &plan);
        if (t->status == DN_NOT_SUPPORTED)
            continue;
        n++;
        if (t->status != DN_SUCCESS)
            continue;
        t->workspace = plan->workspace;
        if (plan->workspace && (a->workspace_size < plan->workspace || !a->workspace))
            t->status = DN_ALLOC_FAILED;
        else
            time_row(h, plan, a, t);
        dn_plan_free(plan);
    }
    qsort(out, (size_t)n, sizeof *out, by_time);
    return n;
}
