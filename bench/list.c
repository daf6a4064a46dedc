/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Modes list and plan: what the tables say. */
#include "bench.h"
#include "options.h"
#include "target.h"

#include <stdio.h>
#include <string.h>

/* All rows of the engine, with no problem to ask about. */
static void list_all(const bench_source *s, const bench_options *o)
{
    for (int op = 0; op < DN_OP_COUNT; op++)
        for (int dir = 0; dir < DN_DIR_COUNT; dir++) {
            const dn_solver *row;
            for (int i = 0; (row = dn_solver_at(s->h.engine, (dn_op)op, (dn_dir)dir, i)); i++) {
                if (!bench_filter_passes(o->filter, row->name))
                    continue;
                char algo[16] = "-";
                if (row->algo >= 0)
                    snprintf(algo, sizeof algo, "%d", row->algo);
                printf("%-12s %-10s algo %-3s %-44s %s\n", dn_op_name((dn_op)op), dn_dir_name((dn_dir)dir), algo, row->name,
                       row->flags & DN_SOLVER_NONDETERMINISTIC ? "not deterministic" : "");
            }
        }
}

static void list_case(bench_source *s, const bench_options *o, const bench_case *c)
{
    bench_target t;
    printf("%s\n", c->text);
    for (int i = 0; s->target(s, c, i, &t); i++) {
        if (!bench_filter_passes(o->filter, t.name))
            continue;
        if (t.refusal)
            printf("  no   %-44s %s\n", t.name, t.refusal);
        else
            printf("  yes  %-44s workspace %zu\n", t.name, t.row && t.row->workspace ? t.row->workspace(&c->p) : (size_t)0);
    }
}

static bool taken(const bench_cases *l, const dn_solver *row)
{
    for (int i = 0; i < l->n; i++) {
        dn_problem p = l->c[i].p;
        if (p.op != row->op || p.dir != row->dir)
            continue;
        if (p.algo < 0)
            p.algo = row->algo;
        if (!dn_solver_refuses(row, &p))
            return true;
    }
    return false;
}

/* The engine's own rows that take no line of the lists. */
static int list_idle(bench_source *s, const bench_options *o)
{
    int rows = 0, idle = 0;
    for (int op = 0; op < DN_OP_COUNT; op++)
        for (int dir = 0; dir < DN_DIR_COUNT; dir++) {
            const dn_solver *row;
            for (int i = 0; (row = dn_solver_at(s->h.engine, (dn_op)op, (dn_dir)dir, i)); i++) {
                if (strncmp(row->name, s->name, strlen(s->name)) != 0 || !bench_filter_passes(o->filter, row->name))
                    continue;
                rows++;
                if (taken(&o->list, row))
                    continue;
                idle++;
                printf("%s takes no line of these lists\n", row->name);
            }
        }
    printf("%d of %d rows of %s take a line\n", rows - idle, rows, s->name);
    return idle ? BENCH_FINDINGS : BENCH_GOOD;
}

int bench_list(int argc, char **argv)
{
    static const char help[] = "usage: dnbench list [--engine NAME] [LINE|FILE|-l NAME...]\n"
                               "  Without a line: all rows of the engine.\n"
                               "  --coverage         only the rows that take no line, which is a finding\n";
    bench_options o;
    bench_source s;
    bool end;
    int code = bench_options_read(&o, argc, argv, help, false, &end);
    if (code == BENCH_GOOD && !end) {
        if (!bench_source_rows(&s, o.engine)) {
            code = BENCH_CANNOT_READ;
        } else {
            if (o.coverage)
                code = list_idle(&s, &o);
            else if (!o.list.n)
                list_all(&s, &o);
            for (int i = 0; i < o.list.n && !o.coverage; i++)
                list_case(&s, &o, &o.list.c[i]);
            s.close(&s);
        }
    }
    bench_options_free(&o);
    return code;
}

static bool plan_case(bench_source *s, const bench_case *c)
{
    dn_plan *plan = NULL;
    dn_error_clear();
    printf("%s\n", c->text);
    if (dn_plan_get(&s->h, &c->p, &plan) != DN_SUCCESS) {
        printf("  %s\n", dn_error_text());
        return false;
    }
    size_t query = 0;
    dn_plan_workspace(&s->h, &c->p, &query);
    printf("  %s, workspace %zu (a query that knows neither pointers nor beta answers %zu)\n", plan->solver->name, plan->workspace,
           query);
    return true;
}

int bench_plan(int argc, char **argv)
{
    static const char help[] = "usage: dnbench plan [--engine NAME] LINE|FILE|-l NAME...\n"
                               "  The row that a call would run, and its workspace.\n";
    bench_options o;
    bench_source s;
    bool end;
    int code = bench_options_read(&o, argc, argv, help, true, &end);
    if (code == BENCH_GOOD && !end) {
        if (!bench_source_rows(&s, o.engine)) {
            code = BENCH_CANNOT_READ;
        } else {
            for (int i = 0; i < o.list.n; i++)
                if (!plan_case(&s, &o.list.c[i]))
                    code = BENCH_FINDINGS;
            s.close(&s);
        }
    }
    bench_options_free(&o);
    return code;
}
