/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * dnbench as a worker: it links the engines, which this tool does not, and answers in lines. */
#ifndef DN_CLI_WORKER_H
#define DN_CLI_WORKER_H

#include <stdbool.h>

/* Path of dnbench: beside this program, or in libexec/anydnn of its prefix. The caller frees; NULL where it is not there. */
char *worker_path(void);

typedef struct worker {
    void *out;      /* FILE */
    long long id;   /* of its process */
} worker;

/* argv[0] is the path, argv ends with NULL; its messages go to our stderr. From here to worker_end SIGINT and SIGTERM end the worker instead of this
 * process. */
bool worker_start(worker *w, char *const argv[]);
/* The next line, without its end, in memory of this module until the next call. NULL when there are no more; what an ended worker had still
 * said comes first. */
char *worker_line(worker *w);
/* Waits. Its exit code, or 128 and the signal. */
int worker_end(worker *w);
/* The signal that came in between, or 0. */
int worker_signal(void);

#endif
