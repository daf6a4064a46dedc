/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The parts of `anydnn which`: it asks cli/search.c (or a process's map, or the rules of Windows) and tells the answer. */
#ifndef DN_CLI_WHICH_H
#define DN_CLI_WHICH_H

#include "cli.h"
#include "search.h"

enum { WHICH_NEEDS_MAX = 64, WHICH_ENV_MAX = 32, WHICH_DIRS_MAX = 32 };

typedef struct which {
    cli *c;
    cli_report report;
    cJSON *results;                       /* list of the answers */
    const char *needs[WHICH_NEEDS_MAX];
    int needs_count;
    const char *env[WHICH_ENV_MAX];       /* VAR=VALUE of --env, the last one wins */
    int env_count;
    const char *exe, *by, *pid, *python, *cwd;
    bool use_python, secure;
    /* Windows */
    bool windows;
    const char *windows_path;
    const char *add_dirs[WHICH_DIRS_MAX];
    int add_dirs_count;
    unsigned long flags;
    bool has_flags, unsafe_search;
    ld_settings set;
} which;

/* Value of a variable in the environment asked about: --env, else (only without --root) our own. NULL where it is not set. */
const char *which_env(const which *w, const char *name);

/* Adds one answer to the JSON and prints it for people. */
cJSON *which_add(which *w, const ld_result *r);
/* Answers every name of --needs, or the names of cuDNN where there is none, asked by `by` (NULL: whoever asks for it in a real program). */
void which_answer(which *w, ld_process *p, ld_object *by);
/* Findings over all libraries of cuDNN that the process has: mixed copies, symbols that do not fit. */
void which_judge(which *w, const ld_process *p);
bool which_is_cudnn(const char *name);

int which_pid(which *w);
int which_python(which *w);
int which_windows(which *w);

#endif
