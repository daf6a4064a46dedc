/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Rows of this build's engines, called directly. */
#include "operands.h"
#include "target.h"

#include <stdio.h>
#include <string.h>

static dn_status prepare(bench_target *t, const bench_case *c, const bench_data *d, size_t *workspace)
{
    t->c = c;
    t->lengths = d->lengths;
    t->lo = d->lo, t->hi = d->hi;
    dn_status st = dn_plan_make(t->handle, t->row, &t->p, &t->plan);
    if (st == DN_SUCCESS)
        *workspace = t->plan->workspace;
    return st;
}

static dn_status run(bench_target *t, const bench_memory *m)
{
    dn_args a;
    bench_fill_args(&a, t->c);
    a.lengths = t->lengths;
    a.lo = t->lo, a.hi = t->hi;
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        a.ptr[r] = m->b[r].pointer;
    for (int k = 0; k < DN_AUX_COUNT; k++)
        a.aux[k] = m->b[BENCH_AUX(k)].pointer;
    if (m->states.pointer)
        a.aux[DN_AUX_STATES] = a.aux[DN_AUX_STATES2] = m->states.pointer;
    a.reserve = m->reserve.pointer;
    a.reserve_size = m->reserve.bytes;
    a.workspace = m->workspace.pointer;
    a.workspace_size = m->workspace.bytes;
    return t->row->run(t->handle, t->plan, &a);
}

static void finish(bench_target *t)
{
    dn_plan_free(t->plan);
    t->plan = NULL;
}

static bool on_gpu(const bench_source *s)
{
    return strcmp(s->h.engine->name, "cuda") == 0;
}

static const char *sick(bench_source *s)
{
    return on_gpu(s) && bench_cuda()->synchronize() != 0 ? "the device reported a failure" : NULL;
}

static bool target(bench_source *s, const bench_case *c, int i, bench_target *t)
{
    const dn_solver *row = dn_solver_at(s->h.engine, (dn_op)c->p.op, (dn_dir)c->p.dir, i);
    memset(t, 0, sizeof *t);
    if (!row)
        return false;
    snprintf(t->name, sizeof t->name, "%s", row->name);
    t->p = c->p;
    if (s->by_number && t->p.algo < 0)
        t->p.algo = row->algo;
    t->refusal = dn_solver_refuses(row, &t->p);
    t->deterministic = !(row->flags & DN_SOLVER_NONDETERMINISTIC);
    t->how = strstr(row->name, "fft") || strstr(row->name, "winograd") ? BENCH_TRANSFORMED : 0;
    t->how |= row->flags & DN_SOLVER_TF32 ? BENCH_TF32 : 0;
    t->source = s;
    t->space = on_gpu(s) ? bench_cuda() : NULL;
    t->handle = &s->h;
    t->row = row;
    t->prepare = prepare;
    t->run = run;
    t->finish = finish;
    return true;
}

static void close_rows(bench_source *s)
{
    dn_handle_close(&s->h);
}

static const dn_engine *engine_named(const char *name)
{
    for (const dn_engine *const *e = dn_engines; *e; e++) {
        const char *why = (*e)->probe ? (*e)->probe() : NULL;
        if (!name && !why)
            return *e;
        if (name && strcmp((*e)->name, name) == 0) {
            if (why)
                fprintf(stderr, "dnbench: engine %s cannot work here: %s\n", name, why);
            return why ? NULL : *e;
        }
    }
    fprintf(stderr, "dnbench: no engine %s in this build\n", name ? name : "");
    return NULL;
}

bool bench_source_rows(bench_source *s, const char *engine)
{
    memset(s, 0, sizeof *s);
    s->h.engine = engine_named(engine);
    if (!s->h.engine)
        return false;
    if (on_gpu(s) && !bench_cuda()) {  /* its context must be current before the handle is made */
        fprintf(stderr, "dnbench: %s\n", dn_error_text());
        return false;
    }
    if (s->h.engine->open && s->h.engine->open(&s->h) != DN_SUCCESS) {
        fprintf(stderr, "dnbench: %s\n", dn_error_text());
        return false;
    }
    if (on_gpu(s))
        s->h.stream = bench_cuda()->stream;
    s->name = s->h.engine->name;
    s->ours = true;
    s->target = target;
    s->close = close_rows;
    s->sick = sick;
    return true;
}

/* A row may take a problem and have no code for this device; the library then goes on to the next. */
static bool is_preparable(const bench_target *t)
{
    dn_plan *plan;
    dn_status st = t->row ? dn_plan_make(t->handle, t->row, &t->p, &plan) : DN_NOT_INITIALIZED;
    if (st == DN_SUCCESS)
        dn_plan_free(plan);
    return st != DN_NOT_SUPPORTED;
}

bool bench_source_default(bench_source *s, const bench_case *c, bench_target *t)
{
    for (int i = 0; s->target(s, c, i, t); i++)
        if (!t->refusal && is_preparable(t))
            return true;
    return false;
}
