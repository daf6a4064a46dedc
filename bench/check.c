/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Modes check and bitwise. */
#include "bench.h"
#include "chain.h"
#include "isolate.h"
#include "report.h"
#include "target.h"

#include "core/os.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BITWISE_RUNS = 20 };

typedef struct job {
    bench_options *o;
    bench_report report;
    bench_source source;
    bool bitwise;
    /* rows that took a line, in the parent */
    char seen[1024][96];
    int seen_count;
} job;

static bool too_large(const bench_case *c)
{
    return bench_data_bytes(c) > 0.7 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static void set_why(bench_row *row, bench_verdict v, const char *why)
{
    row->r.verdict = v;
    row->r.part = 0;
    snprintf(row->r.why, sizeof row->r.why, "%s", why);
    row->r.why[strcspn(row->r.why, "\n")] = 0;
}

/* A status that is not success: which word is it? */
static void set_status(bench_row *row, const bench_source *s, dn_status st)
{
    char why[256];
    bool refused = !s->lib ? false : st == DN_NOT_SUPPORTED || (!s->ours && st == DN_BAD_PARAM);
    snprintf(why, sizeof why, "%s: %s", dn_status_name(st), dn_error_text());
    set_why(row, refused ? BENCH_UNSUPPORTED : BENCH_FAIL, why);
}

/* A row may find in prepare that the device has no room or code for it: the next row is taken then, as in core/plan.c. */
static bool is_elsewhere(const bench_target *t, bool prepared, dn_status st, bench_row *row)
{
    if (prepared || !t->row || st != DN_NOT_SUPPORTED)
        return false;
    set_why(row, BENCH_UNSUPPORTED, dn_error_text());
    return true;
}

/* With --graph the run is recorded on the device's stream and replayed, as a framework does with a step of its training. */
static bool in_graph;

static dn_status run_once(bench_target *t, const bench_memory *m)
{
    if (!in_graph || !t->space)
        return t->run(t, m);
    if (t->space->record_begin() != 0)
        return dn_fail(DN_EXECUTION_FAILED, "recording could not begin");
    dn_status st = t->run(t, m);
    void *graph = t->space->record_end();
    if (st == DN_SUCCESS && (!graph || t->space->replay(graph) != 0 || t->space->synchronize() != 0))
        st = dn_fail(DN_EXECUTION_FAILED, "the run could not be recorded or replayed");
    if (graph)
        t->space->forget(graph);
    return st;
}

/* One run in memory at `place`. */
static void run_at(const bench_case *c, const bench_data *d, const bench_truth *truth, bench_target *t, bench_place place,
                   bench_row *row)
{
    bench_memory m;
    size_t workspace = 0;
    if (!bench_memory_make(&m, c, d, t->space, place)) {
        set_why(row, BENCH_FAIL, dn_error_text());
        return;
    }
    dn_status st = t->prepare(t, c, d, &workspace);
    bool prepared = st == DN_SUCCESS;
    if (prepared && workspace && !bench_memory_extra(&m, &m.workspace, workspace, NULL, place))
        st = DN_ALLOC_FAILED;
    if (st == DN_SUCCESS)
        st = bench_chain_run(t, d, &m, place);
    uint64_t start = dn_time_ns();
    if (st == DN_SUCCESS)
        st = run_once(t, &m);
    if (st == DN_SUCCESS && !bench_memory_fetch(&m, d))
        st = DN_EXECUTION_FAILED;
    row->ms = (double)(dn_time_ns() - start) * 1e-6;
    row->workspace = workspace;
    if (is_elsewhere(t, prepared, st, row)) {
        ;
    } else if (st != DN_SUCCESS) {
        set_status(row, t->source, st);
    } else {
        const char *damage = bench_memory_damage(&m, d);
        bench_compare(c, d, truth, &m, t->how, &row->r);
        if (t->row && d->reserve && !d->reserve_in && !bench_memory_reserve_is(&m, d, truth->reserve))
            set_why(row, BENCH_FAIL, "another mask in the reserve space");
        if (damage)
            set_why(row, BENCH_FAIL, damage);
    }
    if (prepared)
        t->finish(t);
    bench_memory_free(&m);
}

static void check_target(const bench_case *c, const bench_data *d, const bench_truth *truth, bench_target *t, bench_row *row)
{
    run_at(c, d, truth, t, BENCH_AT_END, row);
    if (row->r.verdict == BENCH_FAIL || row->r.verdict == BENCH_UNSUPPORTED || t->space)
        return;
    bench_row again = *row;
    run_at(c, d, truth, t, BENCH_AT_START, &again);
    if (again.r.verdict > row->r.verdict)
        row->r = again.r;
}

static void bitwise_target(const bench_case *c, const bench_data *d, bench_target *t, bench_row *row)
{
    bench_memory m;
    size_t workspace = 0;
    uint64_t first = 0;
    if (!bench_memory_make(&m, c, d, t->space, BENCH_AT_START)) {
        set_why(row, BENCH_FAIL, dn_error_text());
        return;
    }
    dn_status st = t->prepare(t, c, d, &workspace);
    bool prepared = st == DN_SUCCESS;
    if (prepared && workspace && !bench_memory_extra(&m, &m.workspace, workspace, NULL, BENCH_AT_START))
        st = DN_ALLOC_FAILED;
    if (st == DN_SUCCESS)
        st = bench_chain_run(t, d, &m, BENCH_AT_START);
    for (int i = 0; i < BITWISE_RUNS && st == DN_SUCCESS; i++) {
        if (i && !bench_memory_reset(&m, d))
            st = DN_EXECUTION_FAILED;
        if (st == DN_SUCCESS)
            st = t->run(t, &m);
        if (st == DN_SUCCESS && !bench_memory_fetch(&m, d))
            st = DN_EXECUTION_FAILED;
        uint64_t hash = bench_memory_hash(&m, d);
        if (st == DN_SUCCESS && i && hash != first) {
            char why[96];
            snprintf(why, sizeof why, "run %d gave other bits than the first", i + 1);
            set_why(row, BENCH_FAIL, why);
            break;
        }
        first = i ? first : hash;
    }
    if (st != DN_SUCCESS && !is_elsewhere(t, prepared, st, row))
        set_status(row, t->source, st);
    if (prepared)
        t->finish(t);
    bench_memory_free(&m);
}

/* Rows of an engine's fallback are checked as that engine's own. */
static bool is_wanted(const job *j, const bench_target *t)
{
    if (t->row && strncmp(t->name, j->source.name, strlen(j->source.name)) != 0 && !j->o->all)
        return false;
    return bench_filter_passes(j->o->filter, t->name);
}

static int start(void *ctx)
{
    job *j = ctx;
    bool good = j->o->library ? bench_source_library(&j->source, j->o->library, true) : bench_source_rows(&j->source, j->o->engine);
    j->source.by_number = true;
    return good ? 0 : BENCH_CANNOT_READ;
}

static int one(void *ctx, int i)
{
    job *j = ctx;
    const bench_case *c = &j->o->list.c[i];
    bench_data d;
    bench_truth truth = { 0 };
    bench_row row = { .line = i };
    snprintf(row.name, sizeof row.name, "%s_%s_%s", j->source.name, dn_op_name((dn_op)c->p.op), dn_dir_name((dn_dir)c->p.dir));
    dn_error_clear();
    if (too_large(c)) {
        set_why(&row, BENCH_UNSUPPORTED, "too large for this machine's memory");
        bench_send(&row, sizeof row);
        return 1;
    }
    bool have_data = bench_data_make(&d, c);
    if (!have_data || (!j->bitwise && !bench_truth_make(&truth, c, &d))) {
        set_why(&row, BENCH_FAIL, dn_error_text());
        bench_send(&row, sizeof row);
        if (have_data)
            bench_data_free(&d);
        return 1;
    }
    bench_target t;
    for (int k = 0; j->source.target(&j->source, c, k, &t); k++) {
        if (!is_wanted(j, &t) || (j->bitwise && !t.deterministic && !j->source.lib))
            continue;
        row = (bench_row){ .line = i };
        snprintf(row.name, sizeof row.name, "%s", t.name);
        if (t.refusal)
            set_why(&row, BENCH_UNSUPPORTED, t.refusal);
        else if (j->bitwise)
            bitwise_target(c, &d, &t, &row);
        else
            check_target(c, &d, &truth, &t, &row);
        bench_send(&row, sizeof row);
    }
    bench_truth_free(&truth);
    bench_data_free(&d);
    return !j->source.sick || !j->source.sick(&j->source);
}

static void note_seen(job *j, const char *name)
{
    for (int i = 0; i < j->seen_count; i++)
        if (strcmp(j->seen[i], name) == 0)
            return;
    if (j->seen_count < (int)(sizeof j->seen / sizeof *j->seen))
        memcpy(j->seen[j->seen_count++], name, sizeof *j->seen);
}

static void got(void *ctx, int i, const void *message, size_t size)
{
    job *j = ctx;
    bench_row row;
    if (size != sizeof row)
        return;
    memcpy(&row, message, size);
    if (row.r.verdict != BENCH_UNSUPPORTED)
        note_seen(j, row.name);
    /* A table of rows refuses most problems of its op by design: that is for list to show. */
    if (row.r.verdict == BENCH_UNSUPPORTED && !j->o->library && !j->o->all && strstr(row.r.why, "too large") == NULL)
        return;
    bench_report_row(&j->report, &row, &j->o->list.c[i]);
}

static void died(void *ctx, int i, const char *how)
{
    job *j = ctx;
    bench_row row = { .line = i, .name = "(some row)" };
    set_why(&row, BENCH_FAIL, how);
    bench_report_row(&j->report, &row, &j->o->list.c[i]);
}

static void done(void *ctx, int i)
{
    job *j = ctx;
    bench_report_progress(&j->report, i + 1, j->o->list.n);
}

/* Every row of the engine must have taken a line. */
static void judge_coverage(job *j)
{
    bench_source s;
    if (!bench_source_rows(&s, j->o->engine))
        return;
    for (int op = 0; op < DN_OP_COUNT; op++)
        for (int dir = 0; dir < DN_DIR_COUNT; dir++) {
            const dn_solver *row;
            for (int i = 0; (row = dn_solver_at(s.h.engine, (dn_op)op, (dn_dir)dir, i)); i++) {
                bool own = strncmp(row->name, s.name, strlen(s.name)) == 0, found = false;
                for (int k = 0; k < j->seen_count; k++)
                    found = found || strcmp(j->seen[k], row->name) == 0;
                if (found || !own || !bench_filter_passes(j->o->filter, row->name))
                    continue;
                bench_row bad = { .line = -1 };
                snprintf(bad.name, sizeof bad.name, "%s", row->name);
                set_why(&bad, BENCH_FAIL, "took no line of these lists");
                bench_report_row(&j->report, &bad, NULL);
            }
        }
    s.close(&s);
}

static int run_mode(bench_options *o, const char *mode, bool bitwise)
{
    static job j;
    memset(&j, 0, sizeof j);
    j.o = o;
    j.bitwise = bitwise;
    in_graph = o->graph;
    if (!bench_report_begin(&j.report, o, mode))
        return BENCH_CANNOT_READ;
    const bench_work w = { .n = o->list.n, .seconds = o->seconds, .ctx = &j, .start = start, .one = one, .got = got, .died = died,
                           .done = done };
    int code = bench_isolate(&w);
    if (!code && o->coverage)
        judge_coverage(&j);
    int end = bench_report_end(&j.report), rows = 0;
    for (int v = 0; v < BENCH_VERDICTS; v++)
        rows += j.report.count[v];
    if (!code && !rows) {  /* a run that looked at nothing must not read as a good one */
        fprintf(stderr, "dnbench: no row was run; --all has those of the fallback engine and the refusals too\n");
        end = BENCH_FINDINGS;
    }
    return code ? code : end;
}

int bench_check(int argc, char **argv)
{
    static const char help[] =
        "usage: dnbench check [options] LINE|FILE|-l NAME...\n"
        "  Each row that takes a problem runs on buffers between guard pages, at their end and at their start; outputs are NaN\n"
        "  before, gaps between elements and inputs must stay. The result is compared with ref in double.\n"
        "  --coverage         a row that took no line fails\n"
        "  --graph            on a device each run is recorded into a graph, which is replayed\n"
        "  --all              also rows of the fallback engine, and refusals\n"
        "  --seconds N        limit per line\n"
        "  --golden FILE      no rows run: the file's answers of another library are compared with ref\n"
        "  --differences FILE where they are known to differ, and why (differences.txt beside the golden file)\n";
    bench_options o;
    bool end;
    int code = bench_options_read(&o, argc, argv, help, false, &end);
    if (code == BENCH_GOOD && !end) {
        if (o.golden) {
            code = bench_golden_check(&o);
        } else if (!o.list.n) {
            fputs(help, stderr);
            code = BENCH_USAGE;
        } else {
            code = run_mode(&o, "check", false);
        }
    }
    bench_options_free(&o);
    return code;
}

int bench_bitwise(int argc, char **argv)
{
    static const char help[] = "usage: dnbench bitwise [options] LINE|FILE|-l NAME...\n"
                               "  20 runs of every row that calls itself deterministic must give equal bits.\n";
    bench_options o;
    bool end;
    int code = bench_options_read(&o, argc, argv, help, true, &end);
    if (code == BENCH_GOOD && !end)
        code = run_mode(&o, "bitwise", true);
    bench_options_free(&o);
    return code;
}
