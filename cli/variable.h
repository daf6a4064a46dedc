/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What is wrong with the text of a variable such as LD_LIBRARY_PATH. */
#ifndef DN_CLI_VARIABLE_H
#define DN_CLI_VARIABLE_H

#include "cli.h"

/* Findings about the elements of the list that the variable has; the folders are looked up below root. */
void variable_check(cli_report *report, const char *root, const char *variable, const char *list);

#endif
