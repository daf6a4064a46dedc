/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "report.h"

#include "bench.h"

#include "core/os.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *open_output(const char *path)
{
    FILE *f = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!f)
        fprintf(stderr, "dnbench: %s cannot be written\n", path);
    return f;
}

bool bench_report_begin(bench_report *r, const bench_options *o, const char *mode)
{
    setvbuf(stdout, NULL, _IOLBF, 0);  /* what was found is there when a run is stopped */
    memset(r, 0, sizeof *r);
    r->o = o;
    r->mode = mode;
    r->started = dn_time_ns();
    r->bar = isatty(2);
    if (o->csv && !(r->csv = open_output(o->csv)))
        return false;
    if (o->junit && !(r->junit = open_output(o->junit)))
        return false;
    if (r->csv)
        fprintf(r->csv, "mode,verdict,row,part_of_limit,norm,ms,workspace,problem,why\n");
    if (r->junit)
        fprintf(r->junit, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"dnbench %s\">\n", mode);
    return true;
}

static void put_csv(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', f);
        putc(*text == '\n' ? ' ' : *text, f);
    }
    putc('"', f);
}

static void put_xml(FILE *f, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '&': fputs("&amp;", f); break;
        case '"': fputs("&quot;", f); break;
        default: putc((unsigned char)*text < 32 ? ' ' : *text, f);
        }
}

static void clear_bar(bench_report *r)
{
    if (r->bar && r->drawn)
        fprintf(stderr, "\r\033[K");
}

static void write_junit(FILE *f, const bench_report *r, const bench_row *row, const char *line)
{
    fprintf(f, "  <testcase classname=\"%s.%s\" name=\"", r->mode, row->name);
    put_xml(f, line);
    fprintf(f, "\" time=\"%.6f\">", row->ms * 1e-3);
    if (row->r.verdict == BENCH_FAIL) {
        fprintf(f, "<failure message=\"");
        put_xml(f, row->r.why);
        fprintf(f, "\"/>");
    } else if (row->r.verdict == BENCH_UNSUPPORTED || row->r.verdict == BENCH_DIFFERS) {
        fprintf(f, "<skipped message=\"");
        put_xml(f, row->r.why);
        fprintf(f, "\"/>");
    }
    fprintf(f, "</testcase>\n");
}

void bench_report_row(bench_report *r, const bench_row *row, const bench_case *c)
{
    const char *line = c ? c->text : "";
    bench_verdict v = row->r.verdict;
    r->count[v]++;
    if (r->csv) {
        fprintf(r->csv, "%s,%s,%s,%.4g,%.4g,%.6g,%llu,", r->mode, bench_verdict_name(v), row->name, row->r.part, row->r.norm, row->ms,
                row->workspace);
        put_csv(r->csv, line);
        putc(',', r->csv);
        put_csv(r->csv, row->r.why);
        putc('\n', r->csv);
    }
    if (r->junit)
        write_junit(r->junit, r, row, line);
    if (r->csv == stdout || r->junit == stdout || (r->o->quiet && v != BENCH_FAIL))
        return;
    clear_bar(r);
    if (v == BENCH_UNSUPPORTED || v == BENCH_DIFFERS)
        printf("%s(%s)  %s  %s\n", bench_verdict_name(v), row->r.why, row->name, line);
    else
        printf("%-8s  %-44s  %s%s%s\n", bench_verdict_name(v), row->name, line, *row->r.why ? "\n          " : "", row->r.why);
    fflush(stdout);
}

void bench_report_progress(bench_report *r, int done, int all)
{
    enum { WIDTH = 40, STEP_NS = 100000000 };
    unsigned long long now = dn_time_ns();
    if (!r->bar || now - r->started < 1000000000u || now - r->drawn < STEP_NS)
        return;
    r->drawn = now;
    int full = all ? done * WIDTH / all : WIDTH;
    fprintf(stderr, "\r[%.*s%*s] %d of %d lines, %d fail\033[K", full, "########################################", WIDTH - full,
            "", done, all, r->count[BENCH_FAIL]);
}

int bench_report_end(bench_report *r)
{
    clear_bar(r);
    if (r->junit)
        fprintf(r->junit, "</testsuite>\n");
    FILE *out = r->csv == stdout || r->junit == stdout ? stderr : stdout;
    fprintf(out, "%s: %d pass, %d marginal, %d fail, %d unsupported", r->mode, r->count[BENCH_PASS], r->count[BENCH_MARGINAL_V],
            r->count[BENCH_FAIL], r->count[BENCH_UNSUPPORTED]);
    if (r->count[BENCH_DIFFERS])
        fprintf(out, ", %d differ as known", r->count[BENCH_DIFFERS]);
    putc('\n', out);
    if (r->csv && r->csv != stdout)
        fclose(r->csv);
    if (r->junit && r->junit != stdout)
        fclose(r->junit);
    return r->count[BENCH_FAIL] ? BENCH_FINDINGS : BENCH_GOOD;
}
