/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The fact tables of the data folder, embedded in the program; --facts puts a newer file in the place of one. */
#ifndef DN_CLI_FACTS_H
#define DN_CLI_FACTS_H

#include "cli.h"

typedef struct facts_table {
    const char *name;   /* "cudnn_releases", "cudnn_archives", "cuda_drivers", "frameworks", "known-issues" */
    size_t columns, rows;
    const char *const *cells; /* (rows + 1) x columns; the first row is the header */
} facts_table;

/* NULL where there is no such table; a broken --facts file ends the program's command with a message on stderr and NULL. */
const facts_table *cli_facts_table(const cli *c, const char *name);
/* Index of a column, or -1. */
int cli_facts_column(const facts_table *t, const char *column);
/* Cell of row 0, 1, ... (the header is not counted); "" for an unknown column: not known, never a guess. */
const char *cli_facts_cell(const facts_table *t, size_t row, const char *column);
/* Names of the tables; ends with NULL. */
extern const char *const cli_facts_names[];
/* False where --facts was given and cannot be used; the message is on stderr then. */
bool cli_facts_ready(const cli *c);

/* A file embedded at build time by tools/embed.c. */
typedef struct embedded_file {
    const char *name;
    const unsigned char *data;
    size_t size;
} embedded_file;
extern const embedded_file cli_embedded[]; /* ends with a NULL name */

#endif
