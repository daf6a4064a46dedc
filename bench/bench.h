/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#ifndef DN_BENCH_BENCH_H
#define DN_BENCH_BENCH_H

#include <stddef.h>

/* Exit codes of every mode. */
enum { BENCH_GOOD, BENCH_FINDINGS, BENCH_USAGE, BENCH_CANNOT_READ };

/* Path of the library that a mode works on: what --lib named, else build/lib's libcudnn.so.8 beside this program. */
const char *bench_library(void);

/* What --lib named, or NULL. */
const char *bench_library_given(void);

int bench_list(int argc, char **argv);
int bench_plan(int argc, char **argv);
int bench_check(int argc, char **argv);
int bench_bitwise(int argc, char **argv);
int bench_time(int argc, char **argv);
int bench_find(int argc, char **argv);
int bench_golden(int argc, char **argv);
int bench_support(int argc, char **argv);
int bench_api(int argc, char **argv);
int bench_overhead(int argc, char **argv);

/* Takes --lib PATH out of the arguments; false with a message on stderr where the path is missing. */
int bench_take_library(int *argc, char **argv);

#endif
