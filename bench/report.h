/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Results as they come: lines for people, CSV, JUnit, a bar while it lasts. */
#ifndef DN_BENCH_REPORT_H
#define DN_BENCH_REPORT_H

#include "compare.h"
#include "options.h"

/* One result. Plain data: it also travels through a pipe. */
typedef struct bench_row {
    int line;           /* index of the case, or -1 */
    char name[96];      /* row or algorithm */
    bench_result r;
    double ms;          /* of the run, 0 where not measured */
    unsigned long long workspace;
} bench_row;

typedef struct bench_report {
    const bench_options *o;
    const char *mode;
    int count[BENCH_VERDICTS];
    void *csv, *junit;  /* FILE */
    unsigned long long started, drawn;
    bool bar;
} bench_report;

bool bench_report_begin(bench_report *r, const bench_options *o, const char *mode);
void bench_report_row(bench_report *r, const bench_row *row, const bench_case *c);
/* The bar: `done` of `all` lines. */
void bench_report_progress(bench_report *r, int done, int all);
/* Prints the summary; the exit code. */
int bench_report_end(bench_report *r);

/* golden.c: what check --golden does. */
int bench_golden_check(bench_options *o);

#endif
