/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the modes that take problem lines share on their command line. */
#ifndef DN_BENCH_OPTIONS_H
#define DN_BENCH_OPTIONS_H

#include "case.h"

typedef struct bench_options {
    const char *engine;    /* --engine */
    const char *library;   /* --lib, or NULL */
    const char *filter;    /* --filter: parts of row names with commas between; -part excludes */
    const char *csv, *junit;
    const char *vs;        /* --vs: a library, onednn, or the name of an engine */
    const char *golden;    /* --golden FILE */
    const char *differences; /* --differences FILE */
    const char *out;       /* --out */
    const char *tune, *batch, *dtype, *layout;  /* of find */
    bool forward;          /* --forward: of find */
    bool all;              /* --all: see each mode */
    bool coverage;         /* --coverage */
    bool graph;            /* --graph: of check: runs are recorded into a graph of the device and replayed */
    bool direct;           /* --direct: of time: no graph of the device, so the host's time counts where it is longer */
    bool quiet;            /* --quiet: findings and the summary alone */
    int repeat;            /* --repeat */
    double seconds;        /* --seconds: limit per line, or time spent per line */
    bench_cases list;
    const char *lists[64]; /* names or paths of the lists, in order */
    int list_count;
} bench_options;

/* Reads the arguments after the mode's name. BENCH_GOOD, or the exit code after a message; help: the mode's own text, printed
 * with that of the shared options for --help (then *done is true). need_lines: no line is a usage error. */
int bench_options_read(bench_options *o, int argc, char **argv, const char *help, bool need_lines, bool *done);
void bench_options_free(bench_options *o);

bool bench_filter_passes(const char *filter, const char *name);
/* Path of list NAME: --lists DIR, the folder beside this program, that of the source tree. Static; NULL where there is none. */
const char *bench_list_path(const char *name);
/* The short lists, which `-l all` stands for; ended by NULL. */
extern const char *const bench_short_lists[];

#endif
