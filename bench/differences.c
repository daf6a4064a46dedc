/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "differences.h"

#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int slot_named(const char *name)
{
    for (int k = 0; k < BENCH_SLOTS; k++)
        if (strcmp(bench_slot_name(k), name) == 0)
            return k;
    return -1;
}

/* NULL, or what is wrong with the line. */
static const char *read_entry(bench_differences *d, char *text)
{
    char *output = strchr(text, '\t'), *reason = output ? strchr(output + 1, '\t') : NULL;
    if (!reason || output == text || !reason[1])
        return "it must be a problem line, an output and a reason with tabs between";
    *output++ = 0;
    *reason++ = 0;
    if (d->n == BENCH_DIFFERENCES)
        return "too many entries";
    bench_difference *e = &d->v[d->n];
    e->slot = slot_named(output);
    e->seen = false;
    if (e->slot < 0)
        return "no such output";
    if (strlen(text) >= sizeof e->line || strlen(reason) >= sizeof e->reason)
        return "it is too long";
    memcpy(e->line, text, strlen(text) + 1);
    memcpy(e->reason, reason, strlen(reason) + 1);
    d->n++;
    return NULL;
}

static bool read_entries(bench_differences *d, FILE *f, const char *path)
{
    char text[2048];
    for (int number = 1; fgets(text, sizeof text, f); number++) {
        text[strcspn(text, "\r\n")] = 0;
        const char *wrong = *text == '#' || !*text ? NULL : read_entry(d, text);
        if (wrong) {
            fprintf(stderr, "%s:%d: %s\n", path, number, wrong);
            return false;
        }
    }
    return true;
}

bool bench_differences_read(bench_differences *d, const char *path, const char *golden)
{
    char beside[4200];
    const char *slash = strrchr(golden, '/');
    snprintf(beside, sizeof beside, "%.*sdifferences.txt", slash ? (int)(slash + 1 - golden) : 0, golden);
    *d = (bench_differences){ 0 };
    FILE *f = fopen(path ? path : beside, "r");
    if (!f) {
        if (path)
            fprintf(stderr, "dnbench: %s cannot be read\n", path);
        return !path;
    }
    d->v = malloc(BENCH_DIFFERENCES * sizeof *d->v);
    bool good = d->v && read_entries(d, f, path ? path : beside);
    fclose(f);
    if (!good)
        bench_differences_free(d);
    return good;
}

void bench_differences_free(bench_differences *d)
{
    free(d->v);
    *d = (bench_differences){ 0 };
}

bool bench_difference_is_of(const bench_difference *e, const char *line)
{
    size_t n = strlen(e->line);
    return strncmp(line, e->line, n) == 0 && (line[n] == 0 || line[n] == ' ');
}

bench_difference *bench_difference_find(bench_differences *d, const char *line, int slot)
{
    for (int i = 0; i < d->n; i++)
        if (d->v[i].slot == slot && bench_difference_is_of(&d->v[i], line))
            return &d->v[i];
    return NULL;
}
