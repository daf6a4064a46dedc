/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * `anydnn which` for a Windows machine, whose files are a tree here. What the found DLL imports is followed one level: a missing import is what
 * error 126 means. */
#include "which.h"
#include "pe.h"
#include "pesearch.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_text(cJSON *o, const char *name, const char *text)
{
    if (text)
        cJSON_AddStringToObject(o, name, text);
    else
        cJSON_AddNullToObject(o, name);
}

static void add_answer(which *w, const char *name, const char *by, const pe_result *r)
{
    cJSON *o = cJSON_CreateObject(), *list;

    cJSON_AddStringToObject(o, "needs", name);
    add_text(o, "loaded", r->loaded);
    add_text(o, "rule", r->rule);
    add_text(o, "by", by);
    list = cJSON_AddArrayToObject(o, "searched");
    for (size_t i = 0; i < r->try_count; i++) {
        cJSON *t = cJSON_CreateObject();

        cJSON_AddStringToObject(t, "path", r->tries[i].path);
        cJSON_AddStringToObject(t, "rule", r->tries[i].rule);
        cJSON_AddBoolToObject(t, "found", r->tries[i].found);
        add_text(t, "why_not", r->tries[i].why_not);
        cJSON_AddItemToArray(list, t);
    }
    list = cJSON_AddArrayToObject(o, "shadowed");
    for (size_t i = 0; i < r->shadowed.count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(r->shadowed.at[i]));
    if (r->note)
        cJSON_AddStringToObject(o, "note", r->note);
    cJSON_AddItemToArray(w->results, o);
    cli_say(w->c, "%s => %s%s%s%s\n", name, r->loaded ? r->loaded : "not found", r->rule ? " [" : "", r->rule ? r->rule : "",
            r->rule ? "]" : "");
    for (size_t i = 0; i < r->try_count; i++)
        cli_say(w->c, "  %c [%s] %s%s%s\n", r->tries[i].found ? '*' : ' ', r->tries[i].rule, r->tries[i].path,
                r->tries[i].found ? "" : ": ", r->tries[i].found ? "" : r->tries[i].why_not);
    for (size_t i = 0; i < r->shadowed.count; i++)
        cli_say(w->c, "    shadowed: %s\n", r->shadowed.at[i]);
    if (r->note)
        cli_say(w->c, "    %s\n", r->note);
}

/* It would have been found, had PATH been searched. */
static void judge_missing(which *w, const pe_machine *m, const char *name, const pe_result *r)
{
    pe_machine plain = *m;
    pe_result other;
    char *what = cli_format("Windows does not find %s.", name), *dir, *slash, *fix = NULL;
    cJSON *where;

    plain.flags = 0;
    plain.has_flags = false;
    pe_search(&plain, name, &other);
    dir = other.loaded ? strdup(other.loaded) : NULL;
    slash = dir ? strrchr(dir, '\\') : NULL;
    if (slash) {
        *slash = 0;
        fix = cli_format("os.add_dll_directory(r\"%s\")", dir);
    }
    where = cli_finding(&w->report, CLI_ERROR, "not-found", what,
                        other.loaded && m->has_flags ? "It lies in a directory of PATH (or the current one), but a load with these flags "
                                                       "does not look there. Python 3.8 and later loads its modules so."
                                                     : "The search list shows every place that was tried.",
                        fix);
    for (size_t i = 0; i < r->try_count; i++)
        cli_where(where, r->tries[i].path);
    free(what);
    free(dir);
    free(fix);
    pe_result_free(&other);
}

static void judge_shadowed(which *w, const char *name, const pe_result *r)
{
    char *what = cli_format("%zu other file%s named %s come%s later in the search and will not be used.", r->shadowed.count,
                            r->shadowed.count == 1 ? "" : "s", name, r->shadowed.count == 1 ? "s" : "");
    char *why = cli_format("Windows takes the first, here %s, whichever is newer.", r->loaded);
    cJSON *where = cli_finding(&w->report, CLI_NOTE, "shadowed-copies", what, why, NULL);

    for (size_t i = 0; i < r->shadowed.count; i++)
        cli_where(where, r->shadowed.at[i]);
    free(what);
    free(why);
}

static bool begins(const char *name, const char *const *starts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;

        while (starts[i][k] && starts[i][k] == (name[k] >= 'A' && name[k] <= 'Z' ? name[k] + 32 : name[k]))
            k++;
        if (!starts[i][k])
            return true;
    }
    return false;
}

static bool is_system_name(const char *name)
{
    static const char *const starts[] = { "api-ms-", "ext-ms-", "kernel",  "ntdll",    "msvcrt", "advapi32",    "user32",   "gdi32",
                                          "ws2_32",  "ole",     "shell32", "ucrtbase", "bcrypt", "version.dll", "dbghelp", "nvcuda" };

    return begins(name, starts, sizeof starts / sizeof *starts);
}

/* The runtime of Visual C++ comes with a package of its own, which puts it into System32. */
static bool is_runtime_name(const char *name)
{
    static const char *const starts[] = { "vcruntime", "msvcp" };

    return begins(name, starts, sizeof starts / sizeof *starts);
}

static bool has_system_folder(const which *w)
{
    char *dir = pe_host(w->c->root, "C:\\Windows\\System32");
    bool is_there = dir && tree_look(w->c->root, dir, true).kind == TREE_DIR;

    free(dir);
    return is_there;
}

/* Imports of the DLL that was found; those of Windows itself are taken to be there, and the runtime of Visual C++ in a tree without System32. */
static void judge_imports(which *w, const pe_machine *m, const pe_result *r)
{
    char *inside = r->loaded ? pe_host(m->root, r->loaded) : NULL, *host = inside ? tree_host(m->root, inside) : NULL;
    pe_machine next = *m;
    const char *name;
    pe_file f;
    int delayed;

    memset(&f, 0, sizeof f);
    next.by = r->loaded;
    for (size_t i = 0; host && (i > 0 || pe_open(&f, host) == 0) && (name = pe_import(&f, i, &delayed)) != NULL; i++) {
        pe_result found;

        if (delayed || is_system_name(name) || (is_runtime_name(name) && !has_system_folder(w)))
            continue;
        pe_search(&next, name, &found);
        if (!found.loaded) {
            char *what = cli_format("%s imports %s, which Windows does not find.", r->loaded, name);
            cJSON *where =
                cli_finding(&w->report, CLI_ERROR, "missing-import", what,
                            "The load then ends with error 126, \"the specified module could not be found\", though the DLL itself "
                            "is there.",
                            is_runtime_name(name) ? "install the Visual C++ redistributable package for x64" : NULL);

            for (size_t k = 0; k < found.try_count; k++)
                cli_where(where, found.tries[k].path);
            free(what);
        }
        pe_result_free(&found);
    }
    if (host)
        pe_close(&f);
    free(inside);
    free(host);
}

static int machine_of(const which *w)
{
    char *inside = w->exe ? pe_host(w->c->root, w->exe) : NULL, *host = inside ? tree_host(w->c->root, inside) : NULL;
    int machine = PE_MACHINE_X86_64;
    pe_file f;

    memset(&f, 0, sizeof f);
    if (host && pe_open(&f, host) == 0)
        machine = f.machine;
    if (host)
        pe_close(&f);
    free(inside);
    free(host);
    return machine;
}

int which_windows(which *w)
{
    static const char *const usual[] = { "cudnn64_9.dll", "cudnn64_8.dll" };
    pe_machine m = { .root = w->c->root,
                     .exe = w->exe,
                     .by = w->by,
                     .path = w->windows_path,
                     .cwd = w->cwd && *w->cwd ? w->cwd : NULL,
                     .user_dirs = w->add_dirs,
                     .user_dir_count = w->add_dirs_count,
                     .flags = w->flags,
                     .has_flags = w->has_flags,
                     .unsafe_search = w->unsafe_search };
    int count = w->needs_count ? w->needs_count : 2, found = 0;

    if (!*w->c->root && m.cwd && *m.cwd == '/') /* our own current directory is none of Windows */
        m.cwd = NULL;
    m.machine = machine_of(w);
    for (int i = 0; i < count; i++) {
        const char *name = w->needs_count ? w->needs[i] : usual[i];
        pe_result r;

        pe_search(&m, name, &r);
        if (r.loaded || w->needs_count || (i == 1 && !found))
            add_answer(w, name, m.by ? m.by : m.exe, &r);
        if (r.loaded) {
            found++;
            if (r.shadowed.count)
                judge_shadowed(w, name, &r);
            judge_imports(w, &m, &r);
        } else if (w->needs_count || (i == 1 && !found)) {
            judge_missing(w, &m, name, &r);
        }
        pe_result_free(&r);
    }
    return CLI_GOOD;
}
