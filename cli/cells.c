/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "cells.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cells_next(cells *c, const char **text, size_t *size)
{
    if (*size == 0)
        return 0;
    const char *end = memchr(*text, '\n', *size);
    size_t n = end ? (size_t)(end - *text) : 0;
    if (!end || n >= sizeof c->line || memchr(*text, 0, n))
        return -1;
    memcpy(c->line, *text, n);
    c->line[n] = 0;
    *text += n + 1;
    *size -= n + 1;
    c->count = 0;
    for (char *cell = c->line; cell;) {
        char *tab = strchr(cell, '\t');
        if (c->count == CELLS_AT_MOST)
            return -1;
        if (tab)
            *tab++ = 0;
        c->at[c->count++] = cell;
        cell = tab;
    }
    return 1;
}

bool cells_number(const char *cell, int base, uint64_t *out)
{
    size_t n = strlen(cell);
    if (n == 0 || n > 19 || strspn(cell, base == 8 ? "01234567" : "0123456789") != n)
        return false;
    *out = strtoull(cell, NULL, base);
    return true;
}

bool cells_path(const char *path)
{
    size_t length = strlen(path);
    if (length == 0 || length > 1024)
        return false;
    for (const unsigned char *p = (const unsigned char *)path; *p; p++)
        if (*p < 0x20 || *p == 0x7f || *p == '\\')
            return false;
    for (const char *part = path;;) {
        size_t n = strcspn(part, "/");
        if (n == 0 || n > 255 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        if (!part[n])
            return true;
        part += n + 1;
    }
}

void grow_add(grow *g, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (g->failed || n < 0)
        return;
    if (g->length + (size_t)n + 1 > g->room) {
        size_t room = (g->length + (size_t)n + 1) * 2;
        char *more = realloc(g->text, room);
        if (!more) {
            g->failed = true;
            return;
        }
        g->text = more;
        g->room = room;
    }
    va_start(args, fmt);
    vsnprintf(g->text + g->length, g->room - g->length, fmt, args);
    va_end(args);
    g->length += (size_t)n;
}

char *grow_take(grow *g)
{
    char *text = g->text;
    if (g->failed) {
        free(text);
        text = NULL;
    }
    *g = (grow){ 0 };
    return text;
}
