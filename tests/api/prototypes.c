/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Reads the columns name, in_8_9_7, in_9_19, prototype_8, prototype_9 of functions.tsv. */
#include "prototypes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COL_NAME = 0, COL_IN8 = 4, COL_IN9 = 5, COL_PROTO8 = 7, COL_PROTO9 = 8, COLS = 9 };

static int ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

/* A type passed by value. */
static arg_kind kind_of(const char *type)
{
    if (!strcmp(type, "float"))
        return ARG_FLOAT;
    if (!strcmp(type, "double"))
        return ARG_DOUBLE;
    if (!strcmp(type, "cudnnCallback_t"))
        return ARG_POINTER;
    static const char *const objects[] = {"Descriptor_t", "Plan_t", "Pack_t", "Handle_t", "Stream_t"};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (ends_with(type, objects[i]))
            return ARG_OBJECT;
    return !strncmp(type, "cudnn", 5) || !strcmp(type, "libraryPropertyType") ? ARG_ENUM : ARG_INT;
}

/* "const cudnnTensorDescriptor_t *xDesc" */
static void parse_arg(char *text, proto_arg *a)
{
    memset(a, 0, sizeof *a);
    int pointer = strpbrk(text, "*[") != NULL;
    for (char *p = text; *p; p++)
        if (*p == '*' || *p == '[' || *p == ']')
            *p = ' ';
    char *words[8];
    int n = 0;
    for (char *w = strtok(text, " "); w && n < 8; w = strtok(NULL, " "))
        if (strcmp(w, "const"))
            words[n++] = w;
    if (n > 0)
        snprintf(a->type, sizeof a->type, "%s", words[0]);
    if (n > 1)
        snprintf(a->name, sizeof a->name, "%s", words[n - 1]);
    a->kind = pointer ? ARG_POINTER : kind_of(a->type);
}

/* "cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)" */
static int parse(const char *name, const char *text, proto *p)
{
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", name);
    p->returns_status = !strncmp(text, "cudnnStatus_t ", 14);
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close)
        return 0;
    char *args = strndup(open + 1, (size_t)(close - open - 1)), *next = args;
    while (next && *next && strcmp(args, "void") && p->count < PROTO_ARGS_MAX) {
        char *comma = strchr(next, ',');
        if (comma)
            *comma = 0;
        parse_arg(next, &p->arg[p->count++]);
        next = comma ? comma + 1 : NULL;
    }
    free(args);
    return 1;
}

int protos_read(const char *path, proto **out)
{
    FILE *f = fopen(path, "r");
    if (!f)
        return -1;
    *out = calloc(1024, sizeof **out);
    int count = 0;
    char line[8192];
    while (count < 1024 && fgets(line, sizeof line, f)) {
        char *col[COLS] = {0}, *rest = line;
        for (int i = 0; i < COLS && rest; i++) {
            col[i] = rest;
            rest = strchr(rest, '\t');
            if (rest)
                *rest++ = 0;
        }
        if (!col[COLS - 1] || strcmp(col[DN_ABI == 8 ? COL_IN8 : COL_IN9], "yes"))
            continue;
        const char *text = DN_ABI == 8 || !strcmp(col[COL_PROTO9], "=") ? col[COL_PROTO8] : col[COL_PROTO9];
        if (parse(col[COL_NAME], text, &(*out)[count]))
            count++;
    }
    fclose(f);
    return count;
}
