/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Golden files: what a library answered, small enough to keep. One paragraph per line of a list:
 *     L <the case>
 *     S <status> algo=<number> how=<flags of compare.h> [text]
 *     O <slot> <elements> <NaNs> <norm of the finite elements> <index>:<value> ...
 * The inputs are not kept: they follow from the line (data.c). tests/golden/README.md says how files are made and used. */
#include "bench.h"
#include "chain.h"
#include "differences.h"
#include "isolate.h"
#include "limits.h"
#include "report.h"
#include "target.h"

#include "core/os.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SAMPLES = 12 };

typedef struct job {
    bench_options *o;
    bench_source source;
    FILE *out;
    int lines, answered;
} job;

/* Elements that are kept: the ends, and others by a fixed rule. */
static int64_t sample_at(int k, int64_t count)
{
    if (k == 0)
        return 0;
    if (k == 1)
        return count - 1;
    double u = (bench_unit(99, k, count) + 1) / 2;
    int64_t i = (int64_t)(u * (double)count);
    return i < count ? i : count - 1;
}

static int put_output(char *text, size_t size, const bench_data *d, const bench_memory *m, int slot)
{
    const bench_slot *s = &d->s[slot];
    double *v = malloc((size_t)s->count * sizeof *v), norm = 0;
    int64_t nans = 0;
    if (!v)
        return 0;
    bench_memory_load(m, d, slot, v);
    for (int64_t i = 0; i < s->count; i++) {
        nans += isnan(v[i]);
        norm += isfinite(v[i]) ? v[i] * v[i] : 0;
    }
    int digits = s->t.type == DN_F64 ? 17 : 9;
    int n = snprintf(text, size, "O %d %lld %lld %.*g", slot, (long long)s->count, (long long)nans, digits, sqrt(norm));
    for (int k = 0; k < SAMPLES && k < s->count && n < (int)size; k++) {
        int64_t i = sample_at(k, s->count);
        n += snprintf(text + n, size - (size_t)n, " %lld:%.*g", (long long)i, digits, v[i]);
    }
    free(v);
    return n < (int)size ? n + snprintf(text + n, size - (size_t)n, "\n") : 0;
}

/* f32 convolutions are asked for without tf32, so that the answer is a sharp one. */
static bench_case sharp(const bench_case *c)
{
    bench_case s = *c;
    if ((s.p.op == DN_OP_CONV || s.p.op == DN_OP_CONV_BIAS_ACT) && s.p.math == 0 && s.p.t[DN_Y].type == DN_F32) {
        s.p.math = DN_MATH_FMA;
        bench_case_update(&s);
    }
    return s;
}

static dn_status answer_of(const bench_case *c, const bench_data *d, bench_target *t, bench_memory *m)
{
    size_t workspace = 0;
    dn_status st = t->prepare(t, c, d, &workspace);
    if (st != DN_SUCCESS)
        return st;
    if (workspace && !bench_memory_extra(m, &m->workspace, workspace, NULL, BENCH_AT_END))
        st = DN_ALLOC_FAILED;
    if (st == DN_SUCCESS)
        st = bench_chain_run(t, d, m, BENCH_AT_END);
    if (st == DN_SUCCESS)
        st = t->run(t, m);
    if (st == DN_SUCCESS && !bench_memory_fetch(m, d))
        st = DN_EXECUTION_FAILED;
    t->finish(t);
    return st;
}

/* The last error's text without what the library says of itself: its words and inner names belong to it. */
static void brief(char *why, size_t size)
{
    snprintf(why, size, " %s", dn_error_text());
    why[strcspn(why, "\n")] = 0;
    char *answered = strstr(why, " answered "), *own = answered ? strchr(answered, ':') : NULL;
    if (own)
        *own = 0;
}

static int one(void *ctx, int i)
{
    job *j = ctx;
    bench_case c = sharp(&j->o->list.c[i]);
    bench_data d;
    bench_target t;
    bench_memory m;
    char text[8000];
    dn_error_clear();
    int n = snprintf(text, sizeof text, "L %s\n", c.text);
    if (!j->source.target(&j->source, &c, 0, &t) || !bench_data_make(&d, &c))
        return 1;
    if (!bench_memory_make(&m, &c, &d, t.space, BENCH_AT_END)) {
        bench_data_free(&d);
        return 1;
    }
    dn_status st = answer_of(&c, &d, &t, &m);
    char why[256] = "";
    if (st != DN_SUCCESS)
        brief(why, sizeof why);
    n += snprintf(text + n, sizeof text - (size_t)n, "S %s algo=%d how=%u%s\n", dn_status_name(st), t.algo, t.how, why);
    for (int k = 0; st == DN_SUCCESS && k < BENCH_SLOTS; k++)
        if (d.s[k].v && d.s[k].flow & BENCH_OUT && !bench_overlaps(&d.s[k].t))
            n += put_output(text + n, sizeof text - (size_t)n, &d, &m, k);
    bench_send(text, (size_t)n);
    bench_memory_free(&m);
    bench_data_free(&d);
    return !j->source.sick || !j->source.sick(&j->source);
}

static int start(void *ctx)
{
    job *j = ctx;
    return bench_source_library(&j->source, j->o->library, false) ? 0 : BENCH_CANNOT_READ;
}

static void got(void *ctx, int i, const void *message, size_t size)
{
    job *j = ctx;
    (void)i;
    fwrite(message, 1, size, j->out);
    fflush(j->out);
    j->answered++;
}

static void died(void *ctx, int i, const char *how)
{
    job *j = ctx;
    bench_case c = sharp(&j->o->list.c[i]);
    fprintf(j->out, "L %s\nS DIED algo=-1 how=0 %s\n", c.text, how);
}

static int write_list(bench_options *o, FILE *out)
{
    static job j;
    memset(&j, 0, sizeof j);
    j.o = o;
    j.out = out;
    fprintf(out, "# Written by dnbench golden; see tests/golden/README.md.\n");
    const bench_work w = { .n = o->list.n, .seconds = o->seconds > 0 ? o->seconds : 20, .ctx = &j, .start = start, .one = one,
                           .got = got, .died = died };
    int code = bench_isolate(&w);
    fprintf(stderr, "%d of %d lines answered\n", j.answered, o->list.n);
    return code;
}

/* Each short list to a file of its own. */
static int write_all(bench_options *o)
{
    int worst = BENCH_GOOD;
    if (o->out)
        mkdir(o->out, 0777);  /* where it cannot be made, or is there, opening the files tells */
    for (int k = 0; bench_short_lists[k]; k++) {
        char path[4200];
        const char *list = bench_list_path(bench_short_lists[k]);
        bench_list_free(&o->list);
        snprintf(path, sizeof path, "%s/%s.golden", o->out ? o->out : ".", bench_short_lists[k]);
        FILE *f = list && bench_list_read(&o->list, list) ? fopen(path, "w") : NULL;
        if (!f) {
            fprintf(stderr, "dnbench: list %s cannot be read, or %s not written\n", bench_short_lists[k], path);
            return BENCH_CANNOT_READ;
        }
        fprintf(stderr, "%s: ", path);
        int code = write_list(o, f);
        fclose(f);
        worst = code > worst ? code : worst;
    }
    return worst;
}

int bench_golden(int argc, char **argv)
{
    static const char help[] =
        "usage: dnbench golden --lib PATH [--out FILE] LINE|FILE|-l NAME...\n"
        "       dnbench golden --lib PATH --all [--out DIR]\n"
        "  Writes what the library answers (for dnbench check --golden). --all: every short list, to DIR/NAME.golden.\n"
        "  Each list runs in a process of its own; a line that crashes or fails on the device costs that line alone.\n"
        "  --seconds N        limit per line (20)\n";
    bench_options o;
    bool end;
    int code = bench_options_read(&o, argc, argv, help, false, &end);
    if (code == BENCH_GOOD && !end) {
        if (!o.library || (!o.all && !o.list.n)) {
            fputs(help, stderr);
            code = BENCH_USAGE;
        } else if (o.all) {
            code = write_all(&o);
        } else {
            FILE *f = o.out ? fopen(o.out, "w") : stdout;
            code = f ? write_list(&o, f) : BENCH_CANNOT_READ;
            if (o.out && f)
                fclose(f);
        }
    }
    bench_options_free(&o);
    return code;
}

/* --- reading --- */

/* A paragraph being checked. */
typedef struct paragraph {
    bool open, skipped;
    bench_case c;
    bench_data d;
    bench_truth t;
    unsigned how;
    bench_row row;
    bench_differences *known;
} paragraph;

static void fail(paragraph *p, const char *why)
{
    p->row.r.verdict = BENCH_FAIL;
    snprintf(p->row.r.why, sizeof p->row.r.why, "%s", why);
}

/* An output that is off: a finding, unless differences.txt has it. */
static void differ(paragraph *p, int slot, const char *why)
{
    bench_difference *e = bench_difference_find(p->known, p->c.text, slot);
    if (!e) {
        fail(p, why);
        return;
    }
    e->seen = true;
    p->row.r.verdict = BENCH_DIFFERS;
    snprintf(p->row.r.why, sizeof p->row.r.why, "%s", e->reason);
}

/* What differences.txt lists must differ: else the entry is out of date, and would hide the next difference. */
static void check_known(paragraph *p)
{
    for (int i = 0; i < p->known->n; i++) {
        bench_difference *e = &p->known->v[i];
        if (p->row.r.verdict != BENCH_FAIL && !e->seen && bench_difference_is_of(e, p->c.text)) {
            char why[200];
            snprintf(why, sizeof why, "differences.txt says that %s differs; it does not", bench_slot_name(e->slot));
            fail(p, why);
        }
        e->seen = false;
    }
}

static void close_paragraph(paragraph *p, bench_report *report)
{
    if (!p->open)
        return;
    check_known(p);
    bench_report_row(report, &p->row, &p->c);
    if (!p->skipped) {
        bench_truth_free(&p->t);
        bench_data_free(&p->d);
    }
    p->open = false;
}

static void open_paragraph(paragraph *p, const char *line)
{
    bench_differences *known = p->known;
    memset(p, 0, sizeof *p);
    p->known = known;
    p->open = p->skipped = true;
    snprintf(p->row.name, sizeof p->row.name, "ref");
    dn_error_clear();
    if (bench_case_parse(line, &p->c) != DN_SUCCESS) {
        snprintf(p->c.text, sizeof p->c.text, "%.1000s", line);
        fail(p, dn_error_text());
    }
}

/* The library took it: so must ref. */
static void read_status(paragraph *p, const char *line)
{
    char name[32] = "";
    int algo = -1;
    unsigned how = 0;
    if (p->row.r.verdict == BENCH_FAIL || sscanf(line, "%31s algo=%d how=%u", name, &algo, &how) != 3)
        return;
    p->how = how;
    if (algo >= 0)
        snprintf(p->row.name, sizeof p->row.name, "ref against algorithm %d", algo);
    if (strcmp(name, "SUCCESS") != 0) {
        p->row.r.verdict = BENCH_UNSUPPORTED;
        snprintf(p->row.r.why, sizeof p->row.r.why, "the library answered %s", name);
        return;
    }
    p->skipped = !bench_data_make(&p->d, &p->c);
    if (!p->skipped && !bench_truth_make(&p->t, &p->c, &p->d)) {
        bench_data_free(&p->d);
        p->skipped = true;
    }
    if (p->skipped)
        fail(p, dn_error_text());
}

static void check_norm(paragraph *p, int slot, double norm, double *part)
{
    const bench_slot *s = &p->d.s[slot];
    double want = 0, allowed = 0;
    for (int64_t i = 0; i < s->count; i++) {
        double a = bench_allowed(&p->c, s, &p->t, slot, i, p->how);
        want += isfinite(p->t.v[slot][i]) ? p->t.v[slot][i] * p->t.v[slot][i] : 0;
        allowed += isfinite(a) ? a * a : 0;
    }
    double error = fabs(sqrt(want) - norm);
    *part = fmax(*part, error / (sqrt(allowed) + 1e-13 * norm + (s->t.type == DN_F64 ? 0 : 1e-8 * norm) + 1e-300));
}

static void read_output(paragraph *p, char *line)
{
    int slot, used;
    long long count, nans, at;
    double norm, value, part = 0;
    if (p->skipped || (p->how & BENCH_OTHER_MASK) || p->c.fill == BENCH_EDGE || p->row.r.verdict == BENCH_FAIL)
        return;
    if (sscanf(line, "%d %lld %lld %lg%n", &slot, &count, &nans, &norm, &used) != 4 || slot < 0 || slot >= BENCH_SLOTS ||
        !p->t.v[slot] || count != p->d.s[slot].count) {
        fail(p, "the file's output is not this problem's");
        return;
    }
    for (line += used; sscanf(line, " %lld:%lg%n", &at, &value, &used) == 2; line += used) {
        if (at < 0 || at >= count)
            break;
        double cell = 0;  /* the digits name one value of the type */
        dn_store(dn_dtype_scalar((dn_dtype)p->d.s[slot].t.type), &cell, 0, value);
        value = dn_load(dn_dtype_scalar((dn_dtype)p->d.s[slot].t.type), &cell, 0);
        double part_here = bench_part(&p->c, &p->d.s[slot], &p->t, slot, at, value, p->how);
        if (part_here > 1) {
            char why[200];
            snprintf(why, sizeof why, "element %lld of %s: the library has %.9g, ref %.9g: %.3g of the limit", at,
                     bench_slot_name(slot), value, p->t.v[slot][at], part_here);
            differ(p, slot, why);
            return;
        }
        part = fmax(part, part_here);
    }
    check_norm(p, slot, norm, &part);
    if (part > 1) {
        differ(p, slot, "the norm of the output is another");
        return;
    }
    p->row.r.part = fmax(p->row.r.part, part);
    if (part > BENCH_MARGINAL && p->row.r.verdict == BENCH_PASS)
        p->row.r.verdict = BENCH_MARGINAL_V;
}

static void read_file(FILE *f, paragraph *p, bench_report *report)
{
    char line[8192];
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "L ", 2) == 0) {
            close_paragraph(p, report);
            open_paragraph(p, line + 2);
        } else if (strncmp(line, "S ", 2) == 0 && p->open) {
            read_status(p, line + 2);
        } else if (strncmp(line, "O ", 2) == 0 && p->open) {
            read_output(p, line + 2);
        }
    }
    close_paragraph(p, report);
}

int bench_golden_check(bench_options *o)
{
    static paragraph p;
    bench_differences known;
    bench_report report;
    FILE *f = fopen(o->golden, "r");
    if (!f) {
        fprintf(stderr, "dnbench: %s cannot be read\n", o->golden);
        return BENCH_CANNOT_READ;
    }
    int code = BENCH_CANNOT_READ;
    if (bench_differences_read(&known, o->differences, o->golden)) {
        p.known = &known;
        if (bench_report_begin(&report, o, "golden")) {
            read_file(f, &p, &report);
            code = bench_report_end(&report);
        }
        bench_differences_free(&known);
    }
    fclose(f);
    return code;
}
