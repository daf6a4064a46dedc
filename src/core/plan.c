/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The walk of the rows, and the plans that came of it. Everything that asks "which row" (run, workspace and algorithm queries,
 * Find, the tools) comes through here, so the answers cannot disagree. */
#include "core/engine.h"

#include "core/log.h"
#include "core/tunefile.h"

#include <stdio.h>
#include <stdlib.h>

/* Row i of this op and direction in e's own tables; what is left of i after them otherwise. */
static const dn_solver *own_row(const dn_engine *e, dn_op op, dn_dir dir, int *i)
{
    for (const dn_rows *const *t = e->tables; *t; t++)
        for (int r = 0; r < (*t)->count; r++) {
            const dn_solver *s = &(*t)->rows[r];
            if (s->op == op && s->dir == dir && dn_config_allows(s->name) && (*i)-- == 0)
                return s;
        }
    return NULL;
}

const dn_solver *dn_solver_at(const dn_engine *e, dn_op op, dn_dir dir, int i)
{
    for (; e; e = e->fallback) {
        const dn_solver *s = own_row(e, op, dir, &i);
        if (s)
            return s;
    }
    return NULL;
}

const char *dn_solver_refuses(const dn_solver *s, const dn_problem *p)
{
    if (p->algo >= 0 && s->algo != p->algo)
        return "stands for another algorithm number";
    if (p->algo < 0 && (s->flags & DN_SOLVER_TILED))
        return "runs only where its algorithm number is asked for";
    if ((s->flags & DN_SOLVER_TF32) && (p->math == DN_MATH_FMA || dn_config_get()->tf32_off))
        return "rounds f32 to tf32, which FMA math and NVIDIA_TF32_OVERRIDE=0 forbid";
    if ((p->flags & DN_F_DETERMINISTIC) && (s->flags & DN_SOLVER_NONDETERMINISTIC))
        return "may give other bits from run to run";
    return s->check ? s->check(p) : NULL;
}

void dn_plan_free(dn_plan *plan)
{
    if (!plan)
        return;
    if (plan->solver->release)
        plan->solver->release(plan);
    free(plan);
}

dn_status dn_plan_make(dn_handle *h, const dn_solver *s, const dn_problem *p, dn_plan **out)
{
    dn_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", s->name);
    plan->problem = *p;
    plan->solver = s;
    plan->workspace = s->workspace ? s->workspace(p) : 0;
    dn_status st = s->prepare ? s->prepare(h, plan) : DN_SUCCESS;
    if (st != DN_SUCCESS) {
        dn_plan_free(plan);  /* release copes with what prepare left */
        return st;
    }
    *out = plan;
    return DN_SUCCESS;
}

/* --- the cache --- */

static dn_plan **bucket(dn_handle *h, uint64_t hash)
{
    return &h->buckets[hash % DN_PLAN_BUCKETS];
}

static void drop_oldest(dn_handle *h)
{
    dn_plan **oldest = NULL;
    for (int b = 0; b < DN_PLAN_BUCKETS; b++)
        for (dn_plan **link = &h->buckets[b]; *link; link = &(*link)->next)
            if (!oldest || (*link)->used < (*oldest)->used)
                oldest = link;
    if (!oldest)
        return;
    dn_plan *plan = *oldest;
    *oldest = plan->next;
    if (h->last == plan)
        h->last = NULL;
    h->plan_count--;
    dn_plan_free(plan);
}

void dn_plan_cache_clear(dn_handle *h)
{
    while (h->plan_count)
        drop_oldest(h);
}

static void keep(dn_handle *h, dn_plan *plan, uint64_t hash)
{
    if (h->plan_count >= DN_PLAN_MAX)
        drop_oldest(h);
    plan->hash = hash;
    plan->next = *bucket(h, hash);
    *bucket(h, hash) = plan;
    h->plan_count++;
}

/* The refusals of every row, as lines under the first. */
static dn_status none_accepts(dn_handle *h, const dn_problem *p)
{
    char line[1024];
    dn_problem_print(p, line, sizeof line);
    dn_fail(DN_NOT_SUPPORTED, "no row of engine %s takes this problem: %s", h->engine->name, line);
    const dn_solver *s;
    for (int i = 0; (s = dn_solver_at(h->engine, (dn_op)p->op, (dn_dir)p->dir, i)); i++) {
        const char *why = dn_solver_refuses(s, p);
        dn_fail_append("  %s: %s", s->name, why ? why : "could not be prepared");
    }
    return DN_NOT_SUPPORTED;
}

/* The first row that accepts p and can be prepared. */
static dn_status choose(dn_handle *h, const dn_problem *p, dn_plan **plan)
{
    const dn_solver *s = dn_tuned_row(h->engine, p);
    if (s && dn_plan_make(h, s, p, plan) == DN_SUCCESS) {
        dn_log(DN_LOG_INFO, DN_TOPIC_DISPATCH, "%s as the tuning file says", s->name);
        return DN_SUCCESS;
    }
    for (int i = 0; (s = dn_solver_at(h->engine, (dn_op)p->op, (dn_dir)p->dir, i)); i++) {
        if (dn_solver_refuses(s, p))
            continue;
        dn_status st = dn_plan_make(h, s, p, plan);
        if (st != DN_NOT_SUPPORTED)
            return st;
        if (dn_log_on(DN_LOG_INFO))
            dn_log(DN_LOG_INFO, DN_TOPIC_DISPATCH, "%s could not be prepared: %s", s->name, dn_error_text());
    }
    return none_accepts(h, p);
}

static void log_choice(const dn_problem *p, const dn_plan *plan)
{
    char line[1024];
    dn_problem_print(p, line, sizeof line);
    dn_log(DN_LOG_INFO, DN_TOPIC_PLAN, "plan %s, workspace %zu: %s", plan->solver->name, plan->workspace, line);
}

dn_status dn_plan_get(dn_handle *h, const dn_problem *p, dn_plan **out)
{
    uint64_t hash = dn_problem_hash(p);
    dn_plan *plan = *bucket(h, hash);
    while (plan && (plan->hash != hash || !dn_problem_equal(&plan->problem, p)))
        plan = plan->next;
    if (!plan) {
        dn_status st = choose(h, p, &plan);
        if (st != DN_SUCCESS)
            return st;
        keep(h, plan, hash);
        if (dn_log_on(DN_LOG_INFO))
            log_choice(p, plan);
    }
    plan->used = ++h->clock;
    h->last = plan;
    *out = plan;
    return DN_SUCCESS;
}

/* The first row that takes p. *plain: that row and all before it look at neither alignment nor beta, so it stays the first. */
static const dn_solver *first_row(dn_handle *h, const dn_problem *p, bool *plain)
{
    const dn_solver *s = dn_tuned_row(h->engine, p);
    *plain = true;
    if (s) {
        *plain = false;  /* the tuned row may refuse another alignment, and then the usual one runs */
        return s;
    }
    for (int i = 0; (s = dn_solver_at(h->engine, (dn_op)p->op, (dn_dir)p->dir, i)); i++) {
        *plain = *plain && (s->flags & DN_SOLVER_PLAIN);
        if (!dn_solver_refuses(s, p))
            return s;
    }
    return NULL;
}

dn_status dn_plan_workspace(dn_handle *h, const dn_problem *p, size_t *bytes)
{
    dn_problem q = *p;
    *bytes = 0;
    bool any = false;
    for (int beta = 0; beta < 2; beta++)
        for (int align = 16; align; align /= 2) {
            q.flags = (uint16_t)((p->flags & ~DN_F_BETA_ZERO) | (beta ? 0 : DN_F_BETA_ZERO));
            for (int r = 0; r < DN_ROLE_COUNT; r++)
                q.align[r] = q.t[r].rank ? (uint8_t)align : 0;
            bool plain;
            const dn_solver *s = first_row(h, &q, &plain);
            if (!s)
                continue;
            any = true;
            size_t need = s->workspace ? s->workspace(&q) : 0;
            if (need > *bytes)
                *bytes = need;
            if (plain)
                return DN_SUCCESS;
        }
    return any ? DN_SUCCESS : none_accepts(h, p);
}

const dn_solver *dn_row_of(dn_handle *h, const dn_problem *p)
{
    bool plain;
    return first_row(h, p, &plain);
}
