/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
#include "pesearch.h"
#include "cli.h"
#include "pe.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_separator(char c)
{
    return c == '\\' || c == '/';
}

/* One level down, whatever the case; NULL where there is no such name. */
static char *step(const char *root, const char *dir, const char *name)
{
    char *exact = tree_join(dir, name), *found = NULL;
    tree_list list;

    if (!exact || tree_look(root, exact, true).kind != TREE_NONE)
        return exact;
    free(exact);
    list = tree_entries(root, dir, 65536);
    for (size_t i = 0; i < list.count && !found; i++)
        if (strcasecmp(list.entries[i].name, name) == 0)
            found = tree_join(dir, list.entries[i].name);
    tree_list_free(&list);
    return found;
}

/* The folder that stands for a drive. */
static char *drive_folder(const char *root, char letter)
{
    char names[3][10];

    snprintf(names[0], sizeof names[0], "/%c", letter);
    snprintf(names[1], sizeof names[1], "/%c:", letter);
    snprintf(names[2], sizeof names[2], "/drive_%c", letter | 32);
    for (int i = 0; i < 3; i++) {
        char *dir = step(root, "/", names[i] + 1);

        if (dir && tree_look(root, dir, true).kind == TREE_DIR)
            return dir;
        free(dir);
    }
    return strdup("/");
}

char *pe_host(const char *root, const char *path)
{
    bool drive = ((*path | 32) >= 'a' && (*path | 32) <= 'z') && path[1] == ':';
    char *at = drive ? drive_folder(root, *path) : strdup("/");

    path += drive ? 2 : 0;
    while (at && *path) {
        size_t n = strcspn(path, "\\/");
        char *part = cli_format("%.*s", (int)n, path),
             *next = !part || !*part || strcmp(part, ".") == 0 ? strdup(at) : step(root, at, part);

        free(part);
        free(at);
        at = next;
        path += n + (path[n] != 0);
    }
    return at;
}

static bool is_absolute(const char *path)
{
    return is_separator(*path) || (*path && path[1] == ':');
}

/* Folder of a path, without the separator; "" where it has none. */
static char *folder_of(const char *path)
{
    size_t n = strlen(path);

    while (n > 0 && !is_separator(path[n - 1]))
        n--;
    return cli_format("%.*s", n > 0 ? (int)n - 1 : 0, path);
}

static void add_try(pe_result *r, char *path, const char *rule, bool found, char *why)
{
    pe_try *more = (r->try_count & (r->try_count + 1)) == 0 ? realloc(r->tries, (r->try_count + 1) * 2 * sizeof *more) : r->tries;

    if (!more || !path) {
        free(path);
        free(why);
        return;
    }
    r->tries = more;
    more[r->try_count++] = (pe_try){ path, why, rule, found };
}

/* NULL where Windows can load it into this program. A wrong machine ends the search with error 193: Windows does not look further. */
static char *judge(const pe_machine *m, const char *inside, bool *stops)
{
    char *host = tree_host(m->root, inside), *why = NULL;
    pe_file f;

    *stops = false;
    memset(&f, 0, sizeof f);
    if (!host || (pe_open(&f, host) != 0 && f.status != PE_TRUNCATED && f.status != PE_DAMAGED)) {
        why = strdup("is no PE file: error 193, and Windows does not look further");
        *stops = true;
    } else if (m->machine && f.machine != m->machine) {
        const char *has = pe_machine_name(f.machine), *wants = pe_machine_name(m->machine);

        why = cli_format("is for %s, the program for %s: error 193, and Windows does not look further", has ? has : "another machine",
                         wants ? wants : "another machine");
        *stops = true;
    }
    if (host)
        pe_close(&f);
    free(host);
    return why;
}

typedef struct pe_walk {
    const pe_machine *m;
    pe_result *r;
    const char *name;
    bool stopped;
} pe_walk;

static void look_in(pe_walk *w, const char *dir, const char *rule)
{
    char *path, *inside, *why, *whole = NULL;
    bool stops = false;

    if (w->stopped || !*dir)
        return;
    if (!is_absolute(dir) && w->m->cwd && *w->m->cwd) {
        whole = cli_format("%s%s%s", w->m->cwd, is_separator(w->m->cwd[strlen(w->m->cwd) - 1]) ? "" : "\\", dir);
        dir = whole ? whole : dir;
    }
    path = cli_format("%s%s%s", dir, is_separator(dir[strlen(dir) - 1]) ? "" : strchr(dir, '\\') || dir[1] == ':' ? "\\" : "/", w->name);
    inside = path ? pe_host(w->m->root, path) : NULL;
    if (inside && tree_look(w->m->root, inside, true).kind != TREE_FILE) {
        free(inside);
        inside = NULL;
    }
    if (w->r->loaded) {
        if (inside && strcasecmp(path, w->r->loaded) != 0 && !ld_strings_have(&w->r->shadowed, path))
            ld_strings_add(&w->r->shadowed, path);
        free(path);
    } else if (!inside) {
        add_try(w->r, path, rule, false, strdup("is not there"));
    } else {
        why = judge(w->m, inside, &stops);
        w->stopped = stops;
        if (!why && path) {
            w->r->loaded = strdup(path);
            w->r->rule = rule;
        }
        add_try(w->r, path, rule, !why, why);
    }
    free(whole);
    free(inside);
}

static void look_in_path(pe_walk *w)
{
    for (const char *at = w->m->path ? w->m->path : ""; *at;) {
        size_t n = strcspn(at, ";"), skip = *at == '"';
        char *dir = cli_format("%.*s", (int)(n - skip), at + skip); /* Windows takes quoted elements */

        if (dir && *dir && dir[strlen(dir) - 1] == '"')
            dir[strlen(dir) - 1] = 0;
        if (dir)
            look_in(w, dir, "path");
        free(dir);
        at += n + (at[n] != 0);
    }
}

static void look_beside(pe_walk *w, const char *file, const char *rule)
{
    char *dir = file ? folder_of(file) : NULL;

    if (dir)
        look_in(w, dir, rule);
    free(dir);
}

/* With LOAD_LIBRARY_SEARCH_* flags: only these, and never PATH or the current directory. */
static void search_flags(pe_walk *w)
{
    unsigned long f = w->m->flags;

    if (f & PE_DEFAULT_DIRS)
        f |= PE_APPLICATION_DIR | PE_USER_DIRS | PE_SYSTEM32;
    if (f & PE_DLL_LOAD_DIR)
        look_beside(w, w->m->by, "dll-load-dir");
    if (f & PE_APPLICATION_DIR)
        look_beside(w, w->m->exe, "application");
    for (int i = 0; (f & PE_USER_DIRS) && i < w->m->user_dir_count; i++)
        look_in(w, w->m->user_dirs[i], "add-dll-directory");
    if (f & PE_SYSTEM32)
        look_in(w, "C:\\Windows\\System32", "system32");
    w->r->note = "With these flags PATH and the current directory are not searched.";
}

static void search_standard(pe_walk *w)
{
    const char *cwd = w->m->cwd ? w->m->cwd : "";
    bool altered = w->m->flags & PE_ALTERED_SEARCH && w->m->by;

    look_beside(w, altered ? w->m->by : w->m->exe, altered ? "dll-load-dir" : "application");
    if (w->m->unsafe_search)
        look_in(w, cwd, "cwd");
    look_in(w, "C:\\Windows\\System32", "system32");
    look_in(w, "C:\\Windows\\System", "system16");
    look_in(w, "C:\\Windows", "windows");
    if (!w->m->unsafe_search)
        look_in(w, cwd, "cwd");
    look_in_path(w);
    if (w->m->user_dir_count > 0)
        w->r->note = "os.add_dll_directory counts only for loads with flags (0x1000): a plain LoadLibrary by name does not look there.";
}

static bool is_known(const char *name)
{
    static const char *const known[] = { "advapi32.dll", "bcrypt.dll",   "combase.dll",    "comdlg32.dll", "gdi32.dll",
                                         "imagehlp.dll", "kernel32.dll", "kernelbase.dll", "msvcrt.dll",   "ntdll.dll",
                                         "ole32.dll",    "oleaut32.dll", "psapi.dll",      "rpcrt4.dll",   "sechost.dll",
                                         "setupapi.dll", "shell32.dll",  "shlwapi.dll",    "user32.dll",   "ws2_32.dll" };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(known[i], name) == 0)
            return true;
    return strncasecmp(name, "api-ms-win-", 11) == 0 || strncasecmp(name, "ext-ms-", 7) == 0;
}

void pe_search(const pe_machine *m, const char *name, pe_result *r)
{
    const char *base = name + strlen(name);
    char *full, *dir = folder_of(name);
    pe_walk w = { m, r, NULL, false };

    while (base > name && !is_separator(base[-1]))
        base--;
    full = strchr(base, '.') ? strdup(name) : cli_format("%s.dll", name);
    memset(r, 0, sizeof *r);
    if (full && dir) {
        w.name = is_absolute(name) ? full + (base - name) : full; /* a relative path is looked for below each folder */
        if (is_absolute(name))
            look_in(&w, dir, "path");
        else if (is_known(full))
            look_in(&w, "C:\\Windows\\System32", "known-dll");
        else if (m->has_flags && (m->flags & (PE_DLL_LOAD_DIR | PE_APPLICATION_DIR | PE_USER_DIRS | PE_SYSTEM32 | PE_DEFAULT_DIRS)))
            search_flags(&w);
        else
            search_standard(&w);
    }
    free(full);
    free(dir);
}

void pe_result_free(pe_result *r)
{
    for (size_t i = 0; i < r->try_count; i++) {
        free(r->tries[i].path);
        free(r->tries[i].why_not);
    }
    free(r->tries);
    free(r->loaded);
    ld_strings_free(&r->shadowed);
    memset(r, 0, sizeof *r);
}
