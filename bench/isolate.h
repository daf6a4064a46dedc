/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Work over lines in child processes: what a line does to its process (a touched guard page, a device that fails and stays
 * failed, a call that never returns) costs that line and no other. */
#ifndef DN_BENCH_ISOLATE_H
#define DN_BENCH_ISOLATE_H

#include <stddef.h>

typedef struct bench_work {
    int n;
    double seconds;  /* limit per line; 0: none */
    void *ctx;
    /* In the child: 0, or an exit code after a message, which ends all. */
    int (*start)(void *ctx);
    /* In the child: line i; answers go through bench_send. False: this process can do no more lines after it. */
    int (*one)(void *ctx, int i);
    /* In the parent. */
    void (*got)(void *ctx, int i, const void *message, size_t size);
    void (*died)(void *ctx, int i, const char *how);
    void (*done)(void *ctx, int i);
} bench_work;

/* 0, or the exit code of a start that failed. */
int bench_isolate(const bench_work *w);
/* From `one`: at most 8 KiB. */
void bench_send(const void *message, size_t size);

#endif
