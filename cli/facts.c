/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Splits the embedded tables (and a --facts file) into cells. Format: tab-separated, first line the header, no quoting. */
#include "facts.h"
#include "map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const cli_facts_names[] = { "cudnn_releases", "cudnn_archives", "cuda_drivers", "frameworks", "known-issues", NULL };
enum { TABLES = 5 };

static facts_table tables[TABLES];
static bool loaded, usable;

static size_t count(const char *text, size_t size, char what)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++)
        n += text[i] == what;
    return n;
}

/* Splits text (ours to change, ends with a zero byte) into a table; NULL or what is wrong with which line. */
static char *split(char *text, facts_table *t)
{
    char *end = strchr(text, '\n');
    size_t columns = count(text, end ? (size_t)(end - text) : strlen(text), '\t') + 1, lines = count(text, strlen(text), '\n') + 1;
    const char **cells = calloc(lines * columns, sizeof *cells);
    size_t row = 0;
    if (!cells)
        return cli_format("no memory");
    for (char *line = text; line && *line; row++) {
        char *next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        for (size_t i = 0; i < columns; i++) {
            char *tab = strchr(line, '\t');
            if (!tab != (i + 1 == columns)) {
                free(cells);
                return cli_format("line %zu does not have the %zu cells of the first", row + 1, columns);
            }
            if (tab)
                *tab = 0;
            cells[row * columns + i] = line;
            line = tab ? tab + 1 : line;
        }
        line = next;
    }
    if (row < 1 || columns < 2) {
        free(cells);
        return cli_format("this is no table");
    }
    t->columns = columns;
    t->rows = row - 1;
    t->cells = cells;
    return NULL;
}

static char *copy_clean(const unsigned char *data, size_t size)
{
    char *text = malloc(size + 1);
    size_t n = 0;
    for (size_t i = 0; text && i < size; i++)
        if (data[i] != '\r' && data[i] != 0)
            text[n++] = (char)data[i];
    if (text)
        text[n] = 0;
    return text;
}

/* A table that --facts may stand for: the one whose header begins alike. */
static int table_like(const facts_table *t)
{
    for (int i = 0; i < TABLES; i++)
        if (tables[i].cells && t->columns >= 2 && strcmp(t->cells[0], tables[i].cells[0]) == 0 &&
            strcmp(t->cells[1], tables[i].cells[1]) == 0)
            return i;
    return -1;
}

static bool override(const char *path)
{
    cli_map map;
    char error[300];
    if (cli_map_open(&map, path, error, sizeof error) != 0) {
        cli_problem("anydnn: --facts %s", error);
        return false;
    }
    facts_table t = { 0 };
    char *text = copy_clean(map.data, map.size), *wrong = text ? split(text, &t) : cli_format("no memory");
    cli_map_close(&map);
    int i = wrong ? -1 : table_like(&t);
    if (!wrong && i < 0)
        wrong = cli_format("its first line is not that of one of the tables (`anydnn facts` lists them)");
    if (wrong) {
        cli_problem("anydnn: --facts %s: %s", path, wrong);
        free(wrong);
        free((void *)(size_t)t.cells);
        free(text);
        return false;
    }
    free((void *)(size_t)tables[i].cells[0]); /* the first cell is where the whole text begins */
    free((void *)(size_t)tables[i].cells);
    t.name = cli_facts_names[i];
    tables[i] = t; /* the text lives as long as the program, like the embedded one */
    return true;
}

static bool load(const cli *c)
{
    for (int i = 0; i < TABLES; i++)
        for (const embedded_file *f = cli_embedded; f->name; f++)
            if (strcmp(f->name, cli_facts_names[i]) == 0) {
                char *text = copy_clean(f->data, f->size), *wrong = text ? split(text, &tables[i]) : cli_format("no memory");
                tables[i].name = f->name;
                if (wrong) {
                    cli_problem("anydnn: table %s: %s", f->name, wrong);
                    free(wrong);
                    return false;
                }
            }
    return !c->facts || override(c->facts);
}

bool cli_facts_ready(const cli *c)
{
    if (!loaded) {
        loaded = true;
        usable = load(c);
    }
    return usable;
}

const facts_table *cli_facts_table(const cli *c, const char *name)
{
    if (!cli_facts_ready(c))
        return NULL;
    for (int i = 0; i < TABLES; i++)
        if (tables[i].cells && strcmp(tables[i].name, name) == 0)
            return &tables[i];
    return NULL;
}

int cli_facts_column(const facts_table *t, const char *column)
{
    for (size_t i = 0; i < t->columns; i++)
        if (strcmp(t->cells[i], column) == 0)
            return (int)i;
    return -1;
}

const char *cli_facts_cell(const facts_table *t, size_t row, const char *column)
{
    int i = cli_facts_column(t, column);
    return i < 0 || row >= t->rows ? "" : t->cells[(row + 1) * t->columns + (size_t)i];
}
