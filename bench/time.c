/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Mode time. Both sides run the same problem in turn, in one process, on the same sets of buffers, which rotate so that operands
 * come from memory as in a program with more than one layer. A sample is the mean of enough calls to last a millisecond; the
 * figure is the median of the samples. On a device the calls of a sample are one recorded graph where they can be, and the clock is
 * the device's own, around it; so the host's time per call does not count (mode overhead measures it). */
#include "bench.h"
#include "chain.h"
#include "operands.h"
#include "report.h"
#include "target.h"

#include "core/os.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 8, SAMPLES_MAX = 1000, WARM_UP = 2 };

typedef struct side {
    bench_source source;
    bench_target t;
    bench_memory m[SETS_MAX];
    int sets, next, calls;
    bool direct;   /* never recorded */
    void *graph;   /* of `calls` calls, where they can be recorded */
    double sample[SAMPLES_MAX];
    int samples;
    bool ready;
    char why[200];
} side;

static double memory_of(const bench_data *d)
{
    double n = 0;
    for (int k = 0; k < BENCH_SLOTS; k++)
        if (d->s[k].v)
            n += (double)d->s[k].count * (double)dn_dtype_size((dn_dtype)d->s[k].t.type);
    return n;
}

static dn_status call(side *s)
{
    bench_memory *m = &s->m[s->next];
    s->next = (s->next + 1) % s->sets;
    return s->t.run(&s->t, m);
}

/* Milliseconds per call over `calls` calls, < 0 where one failed. */
static double take_sample(side *s, int calls)
{
    const bench_space *space = s->t.space;
    dn_status st = DN_SUCCESS;
    if (space && space->timer_start() != 0)
        return -1;
    uint64_t start = dn_time_ns();
    if (s->graph)
        st = space->replay(s->graph) == 0 ? DN_SUCCESS : DN_EXECUTION_FAILED;
    for (int i = 0; i < calls && !s->graph && st == DN_SUCCESS; i++)
        st = call(s);
    double ms = space ? space->timer_stop() : (double)(dn_time_ns() - start) * 1e-6;
    return st == DN_SUCCESS ? ms / calls : -1;
}

static void stop(side *s)
{
    if (s->graph)
        s->t.space->forget(s->graph);
    s->graph = NULL;
    for (int i = 0; i < SETS_MAX; i++)
        bench_memory_free(&s->m[i]);
    if (s->ready)
        s->t.finish(&s->t);
    s->ready = false;
}

static bool refuse(side *s)
{
    snprintf(s->why, sizeof s->why, "%s", dn_error_text());
    s->why[strcspn(s->why, "\n")] = 0;
    stop(s);
    return false;
}

/* Converting the values costs seconds where tensors are large, so further sets on a device are copies. */
static bool make_set(side *s, int i, const bench_case *c, const bench_data *d, size_t workspace)
{
    bool good;
    if (i && s->t.space)
        good = bench_memory_again(&s->m[i], &s->m[0]);
    else
        good = bench_memory_make(&s->m[i], c, d, s->t.space, BENCH_AT_START) &&
               (!workspace || bench_memory_extra(&s->m[i], &s->m[i].workspace, workspace, NULL, BENCH_AT_START));
    return good && bench_chain_run(&s->t, d, &s->m[i], BENCH_AT_START) == DN_SUCCESS;
}

/* The calls of a sample as a graph: every set of buffers the same number of times. */
static void record(side *s)
{
    dn_status st = DN_SUCCESS;
    s->calls = (int)fmin(1000, ceil((double)s->calls / s->sets) * s->sets);
    if (s->t.space->record_begin() != 0)
        return;
    for (int i = 0; i < s->calls && st == DN_SUCCESS; i++)
        st = call(s);
    s->graph = s->t.space->record_end();
    if (s->graph && st != DN_SUCCESS) {
        s->t.space->forget(s->graph);
        s->graph = NULL;
    }
    if (s->graph)
        take_sample(s, s->calls);  /* the first launch of a graph uploads it */
}

/* Memory, plan, warm-up; how many calls make a sample. */
static bool set_up(side *s, const bench_case *c, const bench_data *d)
{
    size_t workspace = 0;
    s->next = s->samples = 0;
    s->sets = (int)fmin(SETS_MAX, fmax(1, 256e6 / (memory_of(d) + 1)));
    if (s->t.prepare(&s->t, c, d, &workspace) != DN_SUCCESS)
        return refuse(s);
    s->ready = true;
    for (int i = 0; i < s->sets; i++)
        if (!make_set(s, i, c, d, workspace))
            return refuse(s);
    double ms = 0;
    for (int i = 0; i < WARM_UP && ms >= 0; i++)
        ms = take_sample(s, 1);
    if (ms < 0)
        return refuse(s);
    s->calls = ms > 1 ? 1 : (int)fmin(1000, ceil(1 / fmax(ms, 1e-3)));
    if (s->t.space && !s->direct)
        record(s);
    return true;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(side *s)
{
    if (!s->samples)
        return -1;
    qsort(s->sample, (size_t)s->samples, sizeof *s->sample, by_value);
    return s->sample[s->samples / 2];
}

/* In turn until each has had its time. */
static void race(side *a, side *b, double seconds, int repeat)
{
    uint64_t start = dn_time_ns(), budget = (uint64_t)(seconds * 1e9) * (b ? 2 : 1);
    for (int i = 0; i < SAMPLES_MAX && (repeat ? i < repeat : i < 3 || dn_time_ns() - start < budget); i++) {
        side *both[] = { a, b };
        for (int k = 0; k < 2; k++)
            if (both[k] && both[k]->ready) {
                double ms = take_sample(both[k], both[k]->calls);
                if (ms >= 0)
                    both[k]->sample[both[k]->samples++] = ms;
            }
    }
}

static void describe(const bench_case *c, const bench_data *d, double ms, char *text, size_t size)
{
    double flops = bench_flops(&c->p);
    if (flops > 0)
        snprintf(text, size, "%10.1f GFLOP/s", flops / ms * 1e-6);
    else
        snprintf(text, size, "%10.1f GB/s   ", memory_of(d) / ms * 1e-6);
}

typedef struct totals {
    double logs;
    int ratios, slow;
} totals;

/* One target of a against b's default; what is printed is one line. */
static void time_target(const bench_options *o, bench_report *report, side *a, side *b, int line, const bench_data *d, totals *sum)
{
    const bench_case *c = &o->list.c[line];
    bench_row row = { .line = line };
    double seconds = o->seconds > 0 ? o->seconds : 0.5;
    bool ready = set_up(a, c, d), other = b && b->t.run && set_up(b, c, d);
    snprintf(row.name, sizeof row.name, "%s", a->t.name);
    if (ready)
        race(a, other ? b : NULL, seconds, o->repeat);
    double ms = median(a), ms_b = other ? median(b) : -1;
    if (ms > 0 && ms_b > 0) {
        sum->logs += log(ms_b / ms);
        sum->ratios++;
        sum->slow += ms_b / ms < 0.9;
    }
    char speed[64] = "";
    if (ms > 0)
        describe(c, d, ms, speed, sizeof speed);
    row.ms = ms;
    row.r.verdict = ms > 0 ? BENCH_PASS : BENCH_UNSUPPORTED;
    if (other)
        snprintf(row.r.why, sizeof row.r.why, "%.4f ms %s; %s %.4f ms; ratio %.3f", ms, speed, b->t.name, ms_b, ms_b / ms);
    else if (ms > 0)
        snprintf(row.r.why, sizeof row.r.why, "%.4f ms %s%s%s", ms, speed, b ? "; other: " : "", b ? b->why : "");
    else
        snprintf(row.r.why, sizeof row.r.why, "%s", a->why);
    bench_report_row(report, &row, c);
    stop(a);
    if (b)
        stop(b);
}

static void time_case(const bench_options *o, bench_report *report, side *a, side *b, int line, totals *sum)
{
    const bench_case *c = &o->list.c[line];
    bench_data d;
    dn_error_clear();
    bench_case coarse = *c;
    coarse.coarse = true;
    if (!bench_data_make(&d, &coarse)) {
        fprintf(stderr, "dnbench: %s: %s\n", c->text, dn_error_text());
        return;
    }
    if (b) {
        memset(&b->t, 0, sizeof b->t);
        *b->why = 0;
        if (!bench_source_default(&b->source, c, &b->t)) {
            snprintf(b->why, sizeof b->why, "%s takes it not", b->source.name);
            b->t.run = NULL;
        }
    }
    bool all = o->all || o->filter;
    for (int i = 0; a->source.target(&a->source, c, i, &a->t); i++) {
        if (a->t.refusal || !bench_filter_passes(o->filter, a->t.name))
            continue;
        time_target(o, report, a, b, line, &d, sum);
        if (!all)
            break;
    }
    bench_data_free(&d);
}

static bool open_other(side *b, const char *vs)
{
    if (strcmp(vs, "onednn") == 0)
        return bench_source_onednn(&b->source);
    if (strchr(vs, '/') || strstr(vs, ".so"))
        return bench_source_library(&b->source, vs, false);
    return bench_source_rows(&b->source, vs);
}

int bench_time(int argc, char **argv)
{
    static const char help[] =
        "usage: dnbench time [options] LINE|FILE|-l NAME...\n"
        "  Median milliseconds of the row that a call would run.\n"
        "  --all, --filter    every row that takes the problem\n"
        "  --vs WHAT          the same beside it, in turn: a library's path, onednn (its own calls), or an engine's name;\n"
        "                     ratio above 1: this side is faster\n"
        "  --direct           on a device: calls as a program makes them instead of one recorded graph, the host's time included\n"
        "  --seconds N        time per side and line (0.5); --repeat N: samples instead\n";
    static side a, b;
    bench_options o;
    bench_report report;
    totals sum = { 0 };
    bool end;
    int code = bench_options_read(&o, argc, argv, help, true, &end);
    if (code == BENCH_GOOD && !end) {
        bool good = o.library ? bench_source_library(&a.source, o.library, o.all) : bench_source_rows(&a.source, o.engine);
        if (!good || (o.vs && !open_other(&b, o.vs)) || !bench_report_begin(&report, &o, "time")) {
            bench_options_free(&o);
            return BENCH_CANNOT_READ;
        }
        a.source.by_number = o.all || o.filter;
        a.direct = b.direct = o.direct;
        for (int i = 0; i < o.list.n; i++) {
            time_case(&o, &report, &a, o.vs ? &b : NULL, i, &sum);
            bench_report_progress(&report, i + 1, o.list.n);
        }
        code = bench_report_end(&report);
        if (sum.ratios)
            printf("geometric mean of %d ratios: %.3f; %d below 0.9\n", sum.ratios, exp(sum.logs / sum.ratios), sum.slow);
        a.source.close(&a.source);
        if (o.vs)
            b.source.close(&b.source);
    }
    bench_options_free(&o);
    return code;
}
