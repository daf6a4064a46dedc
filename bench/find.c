/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Mode find: what cudnnFind* does, for every operation and with every row that takes the problem, each under its own algorithm
 * number. The winners go into the tuning file as soon as they are known, so what was found stays when the run is ended early.
 * `anydnn find` is the face of this mode and reads what it prints, lines of fields with tabs between:
 *     start LINES VERSION FILE               FILE: the tuning file, - where nothing is kept
 *     engine NAME
 *     line I PROBLEM                         I from 0; the rows follow as they are timed
 *     tensor I ROLE TYPE DIMS STRIDES        numbers with x between
 *     row I NAME ALGORITHM MS WORKSPACE DETERMINISTIC FIRST WHY
 *     best I NAME                            - where no row ran
 *     fail I WHY                             the line ended its process, ran too long, or its winner could not be kept
 *     end LINES FAILED
 * ALGORITHM is -1 where the operation has no numbers, MS -1 where the row did not run (WHY says why), DETERMINISTIC 1, 0 or -
 * where it is not known, FIRST 1 for the row that a call without the tuning file runs. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"
#include "chain.h"
#include "isolate.h"
#include "options.h"
#include "target.h"

#include "core/config.h"
#include "core/os.h"
#include "core/tunefile.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETS = 4, SAMPLES_MIN = 3, SAMPLES_MAX = 20 };
static const double row_ms = 60;       /* no further sample once a row has had this long */
static const double hopeless = 3;      /* a row so many times slower than the best one is not run again */
static const double sample_ms = 0.2;   /* calls that are shorter are timed in groups */

typedef struct job {
    bench_options *o;
    bench_source source;
    int failed;
} job;

__attribute__((format(printf, 1, 2))) static void tell(const char *fmt, ...)
{
    char text[4096];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    bench_send(text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

static const char *one_line(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text);
    out[strcspn(out, "\n")] = 0;
    for (char *t = out; (t = strchr(t, '\t')) != NULL;)
        *t = ' ';
    return out;
}

/* --- the clock --- */

/* Operands of one line, the same for all its rows; the sets take turns, so that data come from memory as in a program. */
typedef struct operands {
    bench_data d;
    bench_memory m[SETS];
    int sets, next;
} operands;

static bool operands_make(operands *o, const bench_case *c, const bench_space *space)
{
    double bytes = 1;
    for (int k = 0; k < BENCH_SLOTS; k++)
        if (o->d.s[k].v)
            bytes += (double)o->d.s[k].count * (double)dn_dtype_size((dn_dtype)o->d.s[k].t.type);
    o->sets = (int)fmin(SETS, fmax(1, 128e6 / bytes));
    bool good = true;
    for (int i = 0; good && i < o->sets; i++)
        good = bench_memory_make(&o->m[i], c, &o->d, space, BENCH_AT_START);
    return good;
}

static void operands_free(operands *o)
{
    for (int i = 0; i < SETS; i++)
        bench_memory_free(&o->m[i]);
    bench_data_free(&o->d);
}

/* Milliseconds per call over `calls` calls. */
static dn_status sample(bench_target *t, operands *o, const bench_block *workspace, int calls, double *ms)
{
    bench_memory with[SETS];
    for (int i = 0; i < o->sets; i++) {
        with[i] = o->m[i];
        with[i].workspace = *workspace;
    }
    dn_status st = DN_SUCCESS;
    if (t->space && t->space->timer_start() != 0)
        return dn_fail(DN_EXECUTION_FAILED, "the device's clock does not answer");
    uint64_t start = dn_time_ns();
    for (int i = 0; i < calls && st == DN_SUCCESS; i++)
        st = t->run(t, &with[o->next++ % o->sets]);
    *ms = (t->space ? t->space->timer_stop() : (double)(dn_time_ns() - start) * 1e-6) / calls;
    return st == DN_SUCCESS && *ms < 0 ? dn_fail(DN_EXECUTION_FAILED, "the device reported a failure") : st;
}

/* The best of some samples, after one that is thrown away. */
static dn_status time_row(bench_target *t, operands *o, const bench_block *workspace, double best, double *ms)
{
    double first = 0, spent = 0, now = 0;
    dn_status st = sample(t, o, workspace, 1, &first);
    if (st == DN_SUCCESS)
        st = sample(t, o, workspace, 1, ms);
    if (st != DN_SUCCESS || *ms > hopeless * best)
        return st;
    int calls = *ms >= sample_ms ? 1 : (int)fmin(100, ceil(sample_ms / fmax(*ms, 1e-3)));
    for (int i = 0; i < SAMPLES_MAX && (i < SAMPLES_MIN || spent < row_ms) && st == DN_SUCCESS; i++) {
        st = sample(t, o, workspace, calls, &now);
        spent += now * calls;
        *ms = fmin(*ms, now);
    }
    return st;
}

/* --- a line --- */

typedef struct found {
    int index;          /* of the line */
    bool first_is_known;
    double best;
    const dn_solver *row;
    char name[96];
} found;

static void tell_row(const bench_target *t, found *f, double ms, size_t workspace, bool first, const char *why)
{
    char text[512];
    tell("row\t%d\t%s\t%d\t%.6g\t%zu\t%s\t%d\t%s\n", f->index, t->name, t->row ? t->row->algo : t->algo, ms, workspace,
         t->source->lib ? "-" : t->deterministic ? "1" : "0", first, one_line(text, sizeof text, why));
}

static void try_target(const bench_case *c, operands *o, bench_target *t, found *f)
{
    size_t workspace = 0;
    double ms = -1;
    bench_memory holder = { .space = t->space };
    if (t->refusal) {
        tell_row(t, f, -1, 0, false, t->refusal);
        return;
    }
    dn_status st = t->prepare(t, c, &o->d, &workspace);
    bool prepared = st == DN_SUCCESS;
    bool first = prepared && t->row && !f->first_is_known && !dn_solver_refuses(t->row, &c->p);
    f->first_is_known = f->first_is_known || first;
    if (prepared && workspace && !bench_memory_extra(&holder, &holder.workspace, workspace, NULL, BENCH_AT_START))
        st = DN_ALLOC_FAILED;
    for (int i = 0; i < o->sets && st == DN_SUCCESS; i++)
        st = bench_chain_run(t, &o->d, &o->m[i], BENCH_AT_START);
    if (st == DN_SUCCESS)
        st = time_row(t, o, &holder.workspace, f->best, &ms);
    if (prepared)
        t->finish(t);
    bench_memory_free(&holder);
    tell_row(t, f, st == DN_SUCCESS ? ms : -1, workspace, first, st == DN_SUCCESS ? "" : dn_error_text());
    if (st == DN_SUCCESS && ms < f->best) {
        f->best = ms;
        f->row = t->row;
        memcpy(f->name, t->name, sizeof f->name);
    }
}

/* A signal that ends us waits until the file is whole. */
static bool keep(job *j, const bench_case *c, const dn_solver *row)
{
    sigset_t ending, before;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, &before);
    bool kept = dn_tuned_keep(j->source.h.engine, &c->p, row);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return kept;
}

static void tell_case(int i, const bench_case *c)
{
    static const char *const roles[DN_ROLE_COUNT] = { "x", "y", "w", "z", "b", "dx", "dy", "dz" };
    tell("line\t%d\t%s\n", i, c->text);
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        const dn_tensor *t = &c->p.t[r];
        char dims[256] = "", strides[256] = "";
        size_t n = 0, m = 0;
        for (int k = 0; k < t->rank; k++) {
            n += (size_t)snprintf(dims + n, sizeof dims - n, "%s%lld", k ? "x" : "", (long long)t->dims[k]);
            m += (size_t)snprintf(strides + m, sizeof strides - m, "%s%lld", k ? "x" : "", (long long)t->strides[k]);
        }
        if (t->rank)
            tell("tensor\t%d\t%s\t%s\t%s\t%s\n", i, roles[r], dn_dtype_name((dn_dtype)t->type), dims, strides);
    }
}

static int one(void *ctx, int i)
{
    job *j = ctx;
    const bench_case *c = &j->o->list.c[i];
    found f = { .index = i, .best = INFINITY };
    operands o = { 0 };
    bench_case coarse = *c;
    bench_target t;
    bool ready = false;
    coarse.coarse = true;
    tell_case(i, c);
    dn_error_clear();
    if (!bench_data_make(&o.d, &coarse)) {
        tell("fail\t%d\t%s\n", i, dn_error_text());
        return 1;
    }
    for (int k = 0; j->source.target(&j->source, c, k, &t); k++) {
        if (!bench_filter_passes(j->o->filter, t.name))
            continue;
        if (!ready && !operands_make(&o, c, t.space)) {
            tell("fail\t%d\t%s\n", i, dn_error_text());
            break;
        }
        ready = true;
        dn_error_clear();
        try_target(c, &o, &t, &f);
    }
    operands_free(&o);
    if (f.row && !keep(j, c, f.row))
        tell("fail\t%d\tthe tuning file cannot be written\n", i);
    tell("best\t%d\t%s\n", i, *f.name ? f.name : "-");
    return !j->source.sick || !j->source.sick(&j->source);
}

/* --- the lines --- */

static int start(void *ctx)
{
    job *j = ctx;
    const char *engine = j->o->engine ? j->o->engine : dn_config_get()->engine;
    if (!(j->o->library ? bench_source_library(&j->source, j->o->library, true) : bench_source_rows(&j->source, engine)))
        return BENCH_CANNOT_READ;
    j->source.by_number = true;
    tell("engine\t%s\n", j->source.name);
    return 0;
}

static void got(void *ctx, int i, const void *message, size_t size)
{
    job *j = ctx;
    (void)i;
    j->failed += size > 5 && (memcmp(message, "fail\t", 5) == 0);
    const char *text = message;
    bool none = size > 5 && memcmp(text, "best\t", 5) == 0 && text[size - 2] == '-';
    j->failed += none;
    fwrite(message, 1, size, stdout);
    fflush(stdout);
}

static void died(void *ctx, int i, const char *how)
{
    job *j = ctx;
    j->failed++;
    printf("fail\t%d\t%s\n", i, how);
    fflush(stdout);
}

/* --batch, --dtype and --layout: another convolution of the same network. NULL, or what is wrong. */
static const char *reshape(const bench_options *o, bench_case *c)
{
    dn_problem *p = &c->p;
    dn_tensor *tensors[2] = { &p->t[DN_X], &p->t[DN_W] };
    if (!o->batch && !o->dtype && !o->layout)
        return NULL;
    if (p->op != DN_OP_CONV || p->dir == DN_DIR_BWD_BIAS)
        return "--batch, --dtype and --layout are for convolutions";
    if (o->batch) {
        char *end;
        long n = strtol(o->batch, &end, 10);
        if (*end || n < 1 || n > 1 << 20)
            return "--batch wants a number of at least 1";
        p->t[DN_X].dims[0] = n;
    }
    bool nhwc = o->layout ? strcmp(o->layout, "nhwc") == 0 : !dn_tensor_is_packed(tensors[0]) && dn_tensor_is_packed_nhwc(tensors[0]);
    if (o->layout && !nhwc && strcmp(o->layout, "nchw") != 0)
        return "--layout wants nchw or nhwc";
    int type = o->dtype ? dn_dtype_parse(o->dtype, strlen(o->dtype)) : -1;
    if (o->dtype && (type < 0 || !dn_dtype_is_float((dn_dtype)type)))
        return "--dtype wants f16, bf16, f32 or f64";
    for (int i = 0; i < 2; i++) {
        tensors[i]->type = (uint8_t)(type >= 0 ? type : tensors[i]->type);
        if (nhwc ? !dn_tensor_pack_nhwc(tensors[i]) : !dn_tensor_pack(tensors[i]))
            return "--batch is too large";
    }
    p->compute = DN_F32;
    memset(&p->t[DN_Y], 0, sizeof p->t[DN_Y]);
    bench_complete(p);
    return dn_problem_check(p) == DN_SUCCESS ? NULL : dn_error_text();
}

/* The question of a Find: whatever the number, with beta 0, on aligned data; each once. NULL, or what is wrong. */
static const char *settle(const bench_options *o, bench_cases *l)
{
    int kept = 0;
    for (int i = 0; i < l->n; i++) {
        bench_case c = l->c[i];
        const char *wrong = reshape(o, &c);
        if (wrong)
            return wrong;
        c.p.algo = -1;
        c.p.flags &= DN_F_DETERMINISTIC;
        for (int r = 0; r < DN_ROLE_COUNT; r++)
            c.p.align[r] = c.p.t[r].rank ? 16 : 0;
        c.alpha = 1;
        c.beta = 0;
        bench_case_update(&c);
        int k = 0;
        while (k < kept && strcmp(l->c[k].text, c.text) != 0)
            k++;
        if (k == kept && (!o->forward || c.p.dir == DN_DIR_FWD))
            l->c[kept++] = c;
    }
    l->n = kept;
    return kept ? NULL : "no line is left";
}

static int find(bench_options *o)
{
    char file[2048] = "-";
    job j = { .o = o };
    const char *wrong = settle(o, &o->list);
    if (wrong) {
        fprintf(stderr, "dnbench: find: %s\n", wrong);
        return BENCH_USAGE;
    }
    if (!o->library) {
        /* Before anything asks for the settings, which are read once. */
        setenv("ANYDNN_TUNE", "write", 1);
        if (o->tune)
            setenv("ANYDNN_TUNE_FILE", o->tune, 1);
        if (!dn_tune_file_path(file, sizeof file)) {
            fprintf(stderr, "dnbench: find: there is no home folder for the tuning file; --tune FILE names one\n");
            return BENCH_CANNOT_READ;
        }
    }
    printf("start\t%d\t%s\t%s\n", o->list.n, ANYDNN_VERSION, file);
    const bench_work w = { .n = o->list.n, .seconds = o->seconds > 0 ? o->seconds : 120, .ctx = &j, .start = start, .one = one,
                           .got = got, .died = died };
    int code = bench_isolate(&w);
    if (code)
        return code;
    printf("end\t%d\t%d\n", o->list.n, j.failed);
    return j.failed ? BENCH_FINDINGS : BENCH_GOOD;
}

int bench_find(int argc, char **argv)
{
    static const char help[] =
        "usage: dnbench find [options] LINE|FILE|-l NAME...\n"
        "  Times every row that takes a problem, whatever its algorithm number, and keeps the winner in the tuning file, which\n"
        "  ANYDNN_TUNE=read makes the library use. Prints lines of fields with tabs between (the head of bench/find.c); for\n"
        "  people there is `anydnn find`.\n"
        "  --tune FILE        the tuning file; without it that of ANYDNN_TUNE_FILE, else the default one\n"
        "  --batch N, --dtype f16|bf16|f32|f64, --layout nchw|nhwc   the lines' convolutions with another batch, type, layout\n"
        "  --forward          forward lines alone\n"
        "  --lib PATH         the algorithms of that library instead; nothing is kept\n"
        "  --seconds N        limit per line (120)\n";
    bench_options o;
    bool end;
    int code = bench_options_read(&o, argc, argv, help, true, &end);
    if (code == BENCH_GOOD && !end)
        code = find(&o);
    bench_options_free(&o);
    return code;
}
