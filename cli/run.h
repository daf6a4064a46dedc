/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The parts of `anydnn run`: a program is started with the audit library (audit/audit.c) in its loader, and what that library reports is judged. */
#ifndef DN_CLI_RUN_H
#define DN_CLI_RUN_H

#include "cli.h"
#include "maps.h"
#include "store.h"

#include <sys/types.h>

typedef struct run_program {
    char **argv;
    const char *audit;       /* path of libanydnn_audit.so */
    const char *dir;         /* folder with the chosen libraries */
    int report_fd;           /* memory that the audit library writes to */
    pid_t pid;
    int status;              /* as waitpid gives it */
} run_program;

/* Starts it and waits: signals that reach us go on to it, and when it stops we stop. 0, or an exit code after a message where it could not be started. */
int run_supervise(run_program *p);
/* Ends this process as that one ended: same exit code, or same signal. Does not return. */
void run_end_like(int status);

/* What the processes of the program had mapped. */
typedef struct run_report {
    maps files;              /* of cuDNN, each once over all processes */
    size_t processes;        /* that the audit library was in */
    bool in_first;           /* it was in the program itself */
    char **refused;          /* names of another major version that were asked for */
    size_t refused_count;
} run_report;

int run_report_read(run_report *r, int fd, pid_t first);
void run_report_free(run_report *r);
/* Adds findings; true where every libcudnn that was loaded is of the folder, and there was one. */
bool run_judge(cli_report *out, const run_report *r, const store_place *place, const char *program);

#endif
