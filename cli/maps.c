/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
#include "maps.h"

#include <stdlib.h>
#include <string.h>

typedef struct line {
    const char *at, *end;
} line;

static bool number(line *l, unsigned base, uint64_t *value)
{
    const char *start = l->at;

    *value = 0;
    for (; l->at < l->end; l->at++) {
        char c = *l->at;
        unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;

        if (digit >= base)
            break;
        *value = *value * base + digit;
    }
    return l->at > start;
}

static bool skip(line *l, char c)
{
    if (l->at == l->end || *l->at != c)
        return false;
    l->at++;
    return true;
}

/* The kernel writes a newline in a name as \012 and nothing else so. */
static char *copy_path(const char *at, size_t length)
{
    char *path = malloc(length + 1), *to = path;

    for (size_t i = 0; path && i < length; i++) {
        if (length - i >= 4 && memcmp(at + i, "\\012", 4) == 0) {
            *to++ = '\n';
            i += 3;
        } else {
            *to++ = at[i];
        }
    }
    if (path)
        *to = 0;
    return path;
}

/* address-address perms offset major:minor inode     path */
static bool read_line(line *l, maps_file *f, line *path)
{
    static const char mark[] = " (deleted)";
    uint64_t n, major, minor;

    if (!number(l, 16, &n) || !skip(l, '-') || !number(l, 16, &n) || !skip(l, ' ') || l->end - l->at < 5)
        return false;
    f->executable = l->at[2] == 'x';
    l->at += 4;
    if (!skip(l, ' ') || !number(l, 16, &n) || !skip(l, ' ') || !number(l, 16, &major) || !skip(l, ':') || !number(l, 16, &minor)
        || !skip(l, ' ') || !number(l, 10, &f->inode))
        return false;
    while (skip(l, ' '))
        ;
    if (l->at == l->end || *l->at != '/')
        return false;
    f->device = major << 32 | (minor & 0xffffffff);
    f->deleted = (size_t)(l->end - l->at) > sizeof mark - 1 && memcmp(l->end - (sizeof mark - 1), mark, sizeof mark - 1) == 0;
    path->at = l->at;
    path->end = f->deleted ? l->end - (sizeof mark - 1) : l->end;
    return true;
}

static maps_file *known(maps *m, const maps_file *f, const char *path)
{
    for (size_t i = m->count; i-- > 0;)
        if (m->files[i].inode == f->inode && m->files[i].device == f->device && strcmp(m->files[i].path, path) == 0)
            return &m->files[i];
    return NULL;
}

static int add(maps *m, maps_file *f, const line *path)
{
    f->path = copy_path(path->at, (size_t)(path->end - path->at));
    if (!f->path)
        return -1;
    maps_file *old = known(m, f, f->path);
    if (old) {
        old->executable = old->executable || f->executable;
        free(f->path);
        return 0;
    }
    if ((m->count & (m->count + 1)) == 0) { /* grows where the count is one less than a power of two */
        maps_file *more = realloc(m->files, (m->count + 1) * 2 * sizeof *more);

        if (!more) {
            free(f->path);
            return -1;
        }
        m->files = more;
    }
    m->files[m->count++] = *f;
    return 0;
}

int maps_parse(maps *m, const char *text, size_t size)
{
    const char *end = text + size;

    memset(m, 0, sizeof *m);
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        line l = { text, newline ? newline : end }, path;
        maps_file f;

        memset(&f, 0, sizeof f);
        if (!memchr(l.at, 0, (size_t)(l.end - l.at)) && read_line(&l, &f, &path) && add(m, &f, &path) != 0) {
            maps_free(m);
            return -1;
        }
        text = newline ? newline + 1 : end;
    }
    return 0;
}

void maps_free(maps *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->files[i].path);
    free(m->files);
    memset(m, 0, sizeof *m);
}
