/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Children with a time limit: their output is kept, and they can be looked at between two steps. */
#ifndef DN_CLI_PROCESS_H
#define DN_CLI_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PROCESS_TEXT_MAX = 1 << 20 };

typedef struct process_text {
    char *text;     /* what came so far, ends with a zero byte; NULL where nothing did */
    size_t size;
} process_text;

typedef struct process {
    pid_t pid;
    int in, out, err;          /* our ends; -1 when closed */
    process_text output, errors;
    double deadline;           /* of the monotonic clock, seconds */
    bool late;                 /* the limit ended it */
    bool reaped;
    int code;                  /* exit code, -1 where a signal ended it */
    int signal;
} process;

/* Starts argv[0], a path or a name to look for in PATH. changes: "NAME=VALUE" sets and "NAME" removes, on top of our own environment; may be NULL.
 * The child has a process group of its own and ends when we end. 0, or -1 with errno set. */
int process_begin(process *p, const char *const *argv, const char *const *changes, double seconds);
/* Reads until the output has a line that starts with text: a pointer to it. NULL where the child ended, or was ended, before. */
const char *process_wait_for(process *p, const char *text);
/* One line to its standard input. */
void process_tell(process *p, const char *line);
/* Closes its input, reads the rest, waits for the end. */
void process_end(process *p);
/* Frees the texts; ends the child where it still runs. */
void process_free(process *p);

/* begin and end in one; 0 where it could be started. */
int process_run(process *p, const char *const *argv, const char *const *changes, double seconds);
/* "exit code 3", "killed by SIGSEGV (Segmentation fault)", "stopped after the time limit". out holds 120. */
const char *process_how(const process *p, char *out);
/* Path of this program itself; a file in its folder; a file in the library folder that belongs to it, or that folder for "". Links are followed; NULL
 * where it is not there. The caller frees. */
char *process_self(void);
char *process_beside(const char *name);
char *process_library(const char *name);
/* A program as a shell would find it; NULL where it is not there. The caller frees. */
char *process_find(const char *name);
double process_now(void);
/* Makes the loader's cache anew, of the tree where root is not "". What ldconfig says is left out. NULL, or why it failed. */
const char *process_ldconfig(const char *root);

#endif
