/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A Python environment as its files show it: program, prefix, package folders. Python is not started. */
#ifndef DN_CLI_PYTHON_ENV_H
#define DN_CLI_PYTHON_ENV_H

#include "which.h"

typedef struct python_env {
    char *program;           /* the ELF program behind links and shims */
    char *prefix;            /* of the environment */
    bool conda, venv;
    ld_strings sites;        /* site-packages, in the order of sys.path */
    ld_strings library_dirs; /* where wheels and conda keep cuDNN */
} python_env;

/* 0, or -1 with error set. w->python: a program, an environment's folder, or NULL for python3 of PATH. Free in both cases. */
int python_env_read(python_env *e, const which *w, char *error, size_t error_size);
void python_env_free(python_env *e);

#endif
