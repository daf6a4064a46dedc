/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Where another library's answers are known to be others than ref's, and why. A file of lines
 *     <problem line, or its first words> TAB <output> TAB <reason>
 * with # before a comment. docs/numerics.md has the same reasons for people. */
#ifndef DN_BENCH_DIFFERENCES_H
#define DN_BENCH_DIFFERENCES_H

#include <stdbool.h>

enum { BENCH_DIFFERENCES = 256 };

typedef struct bench_difference {
    char line[1024], reason[200];
    int slot;
    bool seen;  /* in the paragraph at hand */
} bench_difference;

typedef struct bench_differences {
    bench_difference *v;
    int n;
} bench_differences;

/* Reads `path`; where it is NULL, differences.txt beside `golden`, which need not be there. False after a message on stderr. */
bool bench_differences_read(bench_differences *d, const char *path, const char *golden);
void bench_differences_free(bench_differences *d);

/* Whether the entry is about this problem line. */
bool bench_difference_is_of(const bench_difference *e, const char *line);
/* The entry for an output of a line, or NULL. */
bench_difference *bench_difference_find(bench_differences *d, const char *line, int slot);

#endif
