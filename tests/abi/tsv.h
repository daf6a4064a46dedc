/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* Reader for the tables in data/api: tab-separated, header line first, "-" for none. */
#ifndef ABI_TSV_H
#define ABI_TSV_H

enum { TSV_COLUMNS = 24, TSV_LINE = 8192 };

typedef struct tsv {
    void *file; /* FILE */
    const char *path;
    int columns;
    int line;
    char head[TSV_LINE];
    char text[TSV_LINE];
    char *names[TSV_COLUMNS];
    char *cells[TSV_COLUMNS];
} tsv;

/* Opens directory/name and reads the header line; ends the process with a message on failure. */
void tsv_open(tsv *t, const char *directory, const char *name, char *path, int path_size);

/* Next row: 1, or 0 at the end (the file is closed then). A row of another width ends the process. */
int tsv_next(tsv *t);

/* Cell of the current row by the name of its column; an unknown column ends the process. */
const char *tsv_cell(const tsv *t, const char *column);

/* Whether the '+'-separated list holds the word. */
int tsv_has_word(const char *list, const char *word);

#endif
