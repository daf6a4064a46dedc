/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * anydnn facts [TABLE [WORD...]] */
#include "facts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Does text contain word, letters of either case being equal? */
static bool contains(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (; *text; text++) {
        size_t i = 0;
        while (i < n && text[i] && tolower((unsigned char)text[i]) == tolower((unsigned char)word[i]))
            i++;
        if (i == n)
            return true;
    }
    return n == 0;
}

/* A row is wanted when each word is in one of its cells. */
static bool wanted(const facts_table *t, size_t row, int words, char **word)
{
    for (int w = 0; w < words; w++) {
        bool found = false;
        for (size_t i = 0; i < t->columns && !found; i++)
            found = contains(t->cells[(row + 1) * t->columns + i], word[w]);
        if (!found)
            return false;
    }
    return true;
}

static void print_rows(const facts_table *t, int words, char **word)
{
    for (size_t i = 0; i < t->columns; i++)
        printf("%s%s", i ? "\t" : "", t->cells[i]);
    printf("\n");
    for (size_t row = 0; row < t->rows; row++)
        if (wanted(t, row, words, word))
            for (size_t i = 0; i < t->columns; i++)
                printf("%s%s", t->cells[(row + 1) * t->columns + i], i + 1 < t->columns ? "\t" : "\n");
}

/* {"table": name, "rows": [{column: text}]}; an empty cell is null: not known. */
static void json_rows(const facts_table *t, int words, char **word, cJSON *out)
{
    cJSON_AddStringToObject(out, "table", t->name);
    cJSON *rows = cJSON_AddArrayToObject(out, "rows");
    for (size_t row = 0; row < t->rows; row++) {
        if (!wanted(t, row, words, word))
            continue;
        cJSON *r = cJSON_CreateObject();
        for (size_t i = 0; i < t->columns; i++) {
            const char *cell = t->cells[(row + 1) * t->columns + i];
            if (*cell)
                cJSON_AddStringToObject(r, t->cells[i], cell);
            else
                cJSON_AddNullToObject(r, t->cells[i]);
        }
        cJSON_AddItemToArray(rows, r);
    }
}

static cJSON *new_object(void)
{
    cJSON *out = cJSON_CreateObject();
    cJSON_AddNumberToObject(out, "schema", CLI_SCHEMA);
    cJSON_AddStringToObject(out, "anydnn", ANYDNN_VERSION);
    cJSON_AddStringToObject(out, "command", "facts");
    return out;
}

static int list(const cli *c)
{
    cJSON *out = new_object(), *tables = cJSON_AddArrayToObject(out, "tables");
    for (size_t i = 0; cli_facts_names[i]; i++) {
        const facts_table *t = cli_facts_table(c, cli_facts_names[i]);
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "name", cli_facts_names[i]);
        cJSON_AddNumberToObject(row, "rows", t ? (double)t->rows : 0);
        cJSON_AddItemToArray(tables, row);
        if (!c->json)
            printf("%-16s %zu rows\n", cli_facts_names[i], t ? t->rows : 0);
    }
    if (c->json)
        cli_print_json(out);
    cJSON_Delete(out);
    return CLI_GOOD;
}

static int run(cli *c, int argc, char **argv)
{
    if (!cli_facts_ready(c))
        return CLI_CANNOT_READ;
    if (argc < 2)
        return list(c);
    const facts_table *t = cli_facts_table(c, argv[1]);
    if (!t)
        return cli_usage("facts", "there is no table \"%s\"", argv[1]);
    if (!c->json) {
        print_rows(t, argc - 2, argv + 2);
        return CLI_GOOD;
    }
    cJSON *out = new_object();
    json_rows(t, argc - 2, argv + 2, out);
    cli_print_json(out);
    cJSON_Delete(out);
    return CLI_GOOD;
}

const cli_command cli_facts = {
    .name = "facts",
    .run = run,
    .summary = "the tables that the other commands judge by",
    .usage = "usage: anydnn facts [TABLE [WORD...]]\n\n"
             "Without TABLE: the names of the tables. With it: the table, tab-separated, first line the header, an empty\n"
             "cell meaning \"not known\"; with words, only the rows that have all of them.\n"
             "Every row names its source. `--facts FILE` (a table of the same columns) takes the place of the embedded one.\n",
};
