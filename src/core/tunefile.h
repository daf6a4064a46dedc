/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The tuning file: which row won a Find, kept for later processes. ANYDNN_TUNE=write keeps, ANYDNN_TUNE=read uses; the file is
 * ANYDNN_TUNE_FILE, else anydnn/tune.txt under XDG_CACHE_HOME, ~/.cache or %LOCALAPPDATA%.
 *
 * Text: the first line "anydnn tune 1 <version of anydnn>", then a line "<engine> <row> <problem line>" each. A file that cannot be
 * read, of another version, or damaged is ignored, at info level; so is a line whose row is not there or refuses the problem. */
#ifndef DN_CORE_TUNEFILE_H
#define DN_CORE_TUNEFILE_H

#include "core/engine.h"

/* The row that the file names for p on this engine, if it takes p; else NULL. Alignment, beta and the caller's algorithm number are no
 * part of the file's key. */
const dn_solver *dn_tuned_row(const dn_engine *e, const dn_problem *p);

/* Keeps s as the winner of p, in memory and in the file (written beside it and renamed over it). Nothing happens unless
 * ANYDNN_TUNE has write. A file that cannot be written is reported at warning level and changes no status: then the answer is false. */
bool dn_tuned_keep(const dn_engine *e, const dn_problem *p, const dn_solver *s);

/* Where the file is; false where no environment variable says so. */
bool dn_tune_file_path(char *out, size_t size);

/* --- for the tests and the fuzzer --- */
typedef struct dn_tune_table dn_tune_table;
dn_tune_table *dn_tune_table_new(void);
void dn_tune_table_free(dn_tune_table *t);
/* Takes the text of a file; false where its head is not ours (the table stays empty). */
bool dn_tune_table_parse(dn_tune_table *t, const char *text, size_t size);
/* Name of the row for this engine and problem line; NULL where there is none. */
const char *dn_tune_table_find(const dn_tune_table *t, const char *engine, const char *problem);
int dn_tune_table_count(const dn_tune_table *t);

#endif
