/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * After a change: the loader's cache, and the processes that still have the old files. */
#include "act.h"
#include "discover.h"
#include "maps.h"
#include "process.h"
#include "tree.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAPS_AT_MOST = 64 << 20, PROCESSES_AT_MOST = 100000 };

/* A folder that the loader's cache is made from. */
static bool is_searched(const act *a, const char *lib)
{
    static const char *const always[] = { "/lib", "/usr/lib", "/lib64", "/usr/lib64" };
    discover d = { .root = a->c->root, .budget = PROCESSES_AT_MOST };
    bool found = false;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        found |= strcmp(lib, always[i]) == 0;
    discover_conf(&d);
    for (size_t i = 0; i < d.conf.count; i++)
        found |= strcmp(d.conf.items[i], lib) == 0;
    discover_free(&d);
    return found;
}

void act_search(act *a)
{
    a->searched |= a->next.view_count && is_searched(a, a->next.views[0].lib);
}

static void say_line(act *a, const char *what, const char *why, const char *fix)
{
    cli_finding(&a->r, CLI_NOTE, "loader-cache", what, why, fix);
    cJSON *loader = cJSON_AddObjectToObject(a->r.json, "loader");
    cJSON_AddBoolToObject(loader, "refreshed", false);
    cJSON_AddStringToObject(loader, "run", fix);
}

void act_loader(act *a)
{
    const state *st = a->dry_run ? &a->next : &a->s.now;
    const char *lib = st->view_count ? st->views[0].lib : NULL, *root = a->c->root, *why = NULL;
    bool any = st->used.last != 0;
    if (!lib)
        return;
    act_search(a);
    if (!a->searched) {
        char *fix = cli_format("eval \"$(anydnn env --prefix '%s' shell)\"", a->s.prefix);
        if (any)
            say_line(a, "The loader does not search this place by itself", "No ld.so.conf names its folder of libraries: programs find it by LD_LIBRARY_PATH, "
                     "an rpath, or `anydnn run`.", fix);
        free(fix);
        return;
    }
    char *line = *root ? cli_format("sudo ldconfig -r '%s'", root) : strdup("sudo ldconfig");
    if (geteuid() != 0 || a->dry_run) {
        say_line(a, "The loader's cache is to be made anew", "Until then programs without search paths of their own get what they got before.",
                 line ? line : "ldconfig");
    } else if ((why = process_ldconfig(root)) != NULL) {
        char *what = cli_format("The loader's cache was not made anew: %s", why);
        say_line(a, what, "Until then programs without search paths of their own get what they got before.", line ? line : "ldconfig");
        free(what);
    } else {
        cJSON *loader = cJSON_AddObjectToObject(a->r.json, "loader");
        cJSON_AddBoolToObject(loader, "refreshed", true);
        cJSON_AddNullToObject(loader, "run");
    }
    free(line);
}

/* "process 123 (python3)" where the process has a file below the folder mapped; NULL else. The caller frees. */
static char *process_with(const char *pid, const char *below)
{
    char *path = cli_format("/proc/%s/maps", pid), *comm_path = cli_format("/proc/%s/comm", pid), *out = NULL;
    size_t size = 0, n = strlen(below);
    char *text = path ? tree_read("", path, MAPS_AT_MOST, &size) : NULL;
    maps m = { 0 };
    if (text && maps_parse(&m, text, size) == 0)
        for (size_t i = 0; i < m.count && !out; i++)
            if (strncmp(m.files[i].path, below, n) == 0 && m.files[i].path[n] == '/') {
                char *comm = comm_path ? tree_read("", comm_path, 4096, NULL) : NULL;
                if (comm)
                    comm[strcspn(comm, "\n")] = 0;
                out = cli_format("process %s (%s)%s", pid, comm ? comm : "?", m.files[i].deleted ? ": its file is removed" : "");
                free(comm);
            }
    maps_free(&m);
    free(text);
    free(comm_path);
    free(path);
    return out;
}

void act_processes(act *a, const char *build)
{
    tree_list list = tree_entries("", "/proc", PROCESSES_AT_MOST);
    char *below = cli_format("%s/%s", a->s.host, build), *gone = cli_format("%s/.old-%s", a->s.host, build);
    cJSON *where = NULL;
    for (size_t i = 0; i < list.count && below && gone; i++) {
        const char *pid = list.entries[i].name;
        char *text = isdigit((unsigned char)pid[0]) ? process_with(pid, below) : NULL;
        if (!text && isdigit((unsigned char)pid[0]))
            text = process_with(pid, gone);
        if (text && !where) {
            char *what = cli_format("Running programs still use %s", build);
            where = cli_finding(&a->r, CLI_NOTE, "old-copy-in-use", what, "They keep the files that they have mapped until they end; only programs that start now "
                                "get the new ones.", "start them again");
            free(what);
        }
        if (text)
            cli_where(where, text);
        free(text);
    }
    free(gone);
    free(below);
    tree_list_free(&list);
}
