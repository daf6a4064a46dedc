/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Level 1 of `verify`: which files does a program with this library really have in its map? */
#define _GNU_SOURCE
#include "verify.h"
#include "tree.h"
#include "which.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 24, SECONDS = 60 };

static const char proves[] = "a new process that opens this file gets it, in this version, and all its parts from the same place";
static const char proves_not[] =
    "that your program opens this file (anydnn verify --for, --pid, --python), that it computes (levels 2 and 3), or that a process which used CUDA "
    "before it forked can make a handle";

typedef struct parts {
    char names[PARTS_MAX][80];
    size_t count, must; /* the first `must` belong to the version; the others are only named in the library's text */
} parts;

static void add_part(parts *p, const char *part, int abi)
{
    char name[80];

    cli_library_name(part, abi, false, name, sizeof name);
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->names[i], name) == 0)
            return;
    if (p->count < PARTS_MAX)
        memcpy(p->names[p->count++], name, sizeof name);
}

/* Parts of the version, then what this file's text names beyond that. libcudnn_graph has the list from 9 on. */
static void list_parts(const verify *v, parts *p)
{
    const char *const *names = cli_sublibraries(v->file.version ? v->file.version : v->place.abi == 9 ? 90000 : 8000);
    char graph[80], *path;
    cli_file f;

    memset(p, 0, sizeof *p);
    for (size_t i = 1; names && names[0] && names[i]; i++)
        add_part(p, names[i], v->place.abi);
    p->must = p->count;
    for (size_t i = 0; i < v->file.named_count; i++)
        add_part(p, v->file.named[i], v->place.abi);
    cli_library_name("graph", v->place.abi, false, graph, sizeof graph);
    path = tree_join(v->place.lib, graph);
    memset(&f, 0, sizeof f);
    if (path && cli_file_inspect(path, &f) == 0)
        for (size_t i = 0; i < f.named_count; i++)
            add_part(p, f.named[i], v->place.abi);
    cli_file_free(&f);
    free(path);
}

/* Cell of a line, in out. */
static const char *cell(const char *line, int index, char *out, size_t size)
{
    size_t n;

    while (line && index-- > 0) {
        line = strpbrk(line, "\t\n");
        line = line && *line == '\t' ? line + 1 : NULL;
    }
    n = line ? strcspn(line, "\t\n") : 0;
    snprintf(out, size, "%.*s", (int)n, line ? line : "");
    return out;
}

/* What the loader would do is asked before anything is started: it names both files of a pair that does not fit. */
static void judge_before(verify *v, const parts *p, const char *library_path)
{
    ld_settings set = { .root = "", .library_path = library_path, .preload = getenv("LD_PRELOAD"), .cwd = "/" };
    char why[200] = "", *self = process_self();
    ld_process *rules = ld_process_start(&set, self, why, sizeof why);
    ld_result *r = rules ? ld_process_open(rules, v->place.file, NULL) : NULL;
    which w;

    for (size_t i = 0; r && r->object && i < p->count; i++)
        ld_process_open(rules, p->names[i], r->object);
    if (r && r->object) {
        memset(&w, 0, sizeof w);
        w.c = v->c;
        w.report = v->report;
        which_judge(&w, rules);
        v->report = w.report;
    }
    ld_process_free(rules);
    free(self);
}

static void judge_part(verify *v, const parts *p, size_t i, const char *text)
{
    if (i < p->must)
        verify_finding(v, CLI_ERROR, "part-not-loaded",
                       "It belongs to this version: cudnnGetVersion and cudnnCreate may still work, and the first call that needs it fails "
                       "(SUBLIBRARY_LOADING_FAILED, NOT_INITIALIZED) or ends the program.", NULL, "%s cannot be loaded: %s", p->names[i], text);
    else /* a note where all that belongs to the version is here: the vendor published 9.20.0 so */
        verify_finding(v, v->report.errors ? CLI_WARNING : CLI_NOTE, "named-not-here",
                       "The library's own text names it; it is no part of this version, and a call that needs it fails.", NULL,
                       "%s cannot be loaded: %s", p->names[i], text);
}

/* Parts that are not there, and how the process ended where it did not get to its end. */
static void judge_steps(verify *v, const parts *p, process *child, bool reached)
{
    char name[300], text[900], how[120];
    const char *last = NULL;

    for (const char *line = child->output.text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, "try\t", 4) == 0)
            last = line;
        if (strncmp(line, "failed\t", 7) != 0)
            continue;
        cell(line, 1, name, sizeof name);
        cell(line, 2, text, sizeof text);
        if (strcmp(name, v->place.file) == 0) {
            verify_finding(v, CLI_ERROR, "not-loadable", "The loader's own words.", NULL, "%s cannot be loaded: %s", name, text);
            verify_judge_texts(v, text);
        }
        for (size_t i = 0; i < p->count; i++)
            if (strcmp(name, p->names[i]) == 0) {
                if (!verify_judge_texts(v, text))
                    judge_part(v, p, i, text);
            }
    }
    if (reached || (child->code == CLI_FINDINGS && !child->signal))
        return;
    cell(last, 1, name, sizeof name);
    cJSON *where = verify_finding(v, CLI_ERROR, child->late ? "no-answer" : "crashed",
                                  "The library ended or stopped the process inside that call; what it printed is below.", NULL,
                                  "%s: %s while it did %s.", v->place.file, process_how(child, how), name);
    if (child->errors.text) {
        snprintf(text, sizeof text, "%.*s", (int)strcspn(child->errors.text, "\n"), child->errors.text);
        cli_where(where, text);
    }
    verify_judge_texts(v, child->errors.text);
}

static void judge_version(verify *v, verify_level *level, process *child)
{
    const char *line = process_wait_for(child, "version\t");
    char number[24], text[80], plain[32];

    if (!line)
        return;
    cell(line, 1, number, sizeof number);
    cli_version_text(atoi(number), plain);
    snprintf(text, sizeof text, "%s (%s)", number, *plain ? plain : "no version of cuDNN");
    verify_fact(v, level, "version", text);
    if (v->file.version && atoi(number) != v->file.version)
        verify_finding(v, CLI_ERROR, "version-differs", "The file says one version and answers another: a wrapper, or a mix of two builds.", NULL,
                       "cudnnGetVersion answers %s, the file has %d in it.", number, v->file.version);
}

/* The map at one stop; only news are told the second time. */
static void judge_map(verify *v, verify_level *level, process *child)
{
    char pid[24];
    maps m;
    cJSON *list = cJSON_AddArrayToObject(level->json, "loaded");

    snprintf(pid, sizeof pid, "%d", (int)child->pid);
    if (verify_read_maps(&m, pid) != 0)
        verify_finding(v, CLI_ERROR, "no-map", "Without it nothing is proved.", NULL, "/proc/%s/maps cannot be read.", pid);
    else if (!verify_judge_maps(v, &m, list))
        verify_finding(v, CLI_ERROR, "not-loaded", "The loader took another file for it.", NULL, "The process has not loaded %s.", v->place.file);
    maps_free(&m);
}

static void run_child(verify *v, verify_level *level, const parts *p, const char *library_path)
{
    char *self = process_self(), *variable = cli_format("LD_LIBRARY_PATH=%s", library_path);
    const char *argv[PARTS_MAX + 5] = { self, "verify", "--child", v->place.file };
    const char *changes[] = { variable, "LD_AUDIT", NULL };
    process child;

    for (size_t i = 0; i < p->count; i++)
        argv[4 + i] = p->names[i];
    if (!self || !variable || process_begin(&child, argv, changes, SECONDS) != 0) {
        verify_finding(v, CLI_ERROR, "not-started", strerror(errno), NULL, "This tool cannot start itself.");
    } else {
        bool parts_done = process_wait_for(&child, "ready\tparts") != NULL, done = false;

        judge_version(v, level, &child);
        if (parts_done) {
            process_tell(&child, "go on\n");
            done = process_wait_for(&child, "ready\thandle") != NULL;
            /* Where the handle's call ended it the map is gone with it: then the steps say enough. */
            if (done)
                judge_map(v, level, &child);
        }
        process_end(&child);
        judge_steps(v, p, &child, done);
        verify_judge_create(v, level, &child);
        process_free(&child);
    }
    free(self);
    free(variable);
}

void verify_process(verify *v)
{
    verify_level level = verify_begin(v, "process", "Level 1, process: a program opens this library and its parts");
    const char *old = getenv("LD_LIBRARY_PATH");
    char *library_path = old && *old ? cli_format("%s:%s", v->place.lib, old) : cli_format("%s", v->place.lib);
    parts p;

    list_parts(v, &p);
    if (library_path) {
        verify_fact(v, &level, "LD_LIBRARY_PATH", library_path);
        judge_before(v, &p, library_path);
        run_child(v, &level, &p, library_path);
    }
    free(library_path);
    verify_end(v, &level, NULL, proves, proves_not);
}
