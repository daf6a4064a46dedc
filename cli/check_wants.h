/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What a framework says about the cuDNN that it was built for. */
#ifndef DN_CLI_CHECK_WANTS_H
#define DN_CLI_CHECK_WANTS_H

#include "check.h"

/* Fills wants, wants_how and is_cpu from the METADATA text (may be NULL), else from the table. */
void check_wants(check *k, check_framework *f, const char *metadata);
/* The lower bound of "==8.9.2.26", ">=9.1,<10", "8.6": 8902, 90100, 8600. 0 where there is none, as in "8.x". */
int check_wants_version(const char *wants);
/* 8 or 9; 0 where wants is NULL. */
int check_wants_major(const char *wants);
/* The command that installs what is wanted; the caller frees. */
char *check_wants_fix(const check_framework *f);

#endif
