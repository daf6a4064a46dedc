/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* Reader for the tables in data/api. */
#include "tsv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Splits line at tabs in place; the number of cells. */
static int split(char *line, char **cells)
{
    int n = 0;

    line[strcspn(line, "\r\n")] = '\0';
    while (n < TSV_COLUMNS) {
        char *tab = strchr(line, '\t');
        cells[n++] = line;
        if (!tab)
            break;
        *tab = '\0';
        line = tab + 1;
    }
    return n;
}

static void fail(const tsv *t, const char *what, const char *detail)
{
    fprintf(stderr, "%s:%d: %s %s\n", t->path, t->line, what, detail);
    exit(1);
}

void tsv_open(tsv *t, const char *directory, const char *name, char *path, int path_size)
{
    memset(t, 0, sizeof *t);
    snprintf(path, (size_t)path_size, "%s/%s", directory, name);
    t->path = path;
    t->line = 1;
    t->file = fopen(path, "r");
    if (!t->file || !fgets(t->head, sizeof t->head, t->file))
        fail(t, "cannot be read", "");
    t->columns = split(t->head, t->names);
}

int tsv_next(tsv *t)
{
    if (!fgets(t->text, sizeof t->text, t->file)) {
        fclose(t->file);
        t->file = NULL;
        return 0;
    }
    t->line++;
    if (split(t->text, t->cells) != t->columns)
        fail(t, "wrong number of columns in row", t->cells[0]);
    return 1;
}

const char *tsv_cell(const tsv *t, const char *column)
{
    for (int i = 0; i < t->columns; i++)
        if (!strcmp(t->names[i], column))
            return t->cells[i];
    fail(t, "no column", column);
    return "";
}

int tsv_has_word(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; p; p = strchr(p, '+')) {
        p += *p == '+';
        if (!strncmp(p, word, n) && (p[n] == '\0' || p[n] == '+'))
            return 1;
    }
    return 0;
}
