/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * `verify --for PROGRAM`: what the loader would give that program, whether it is the library that was named, and functions of cuDNN that its files ask
 * for and would not find. Files are read; nothing is started. */
#define _GNU_SOURCE
#include "verify.h"
#include "tree.h"
#include "which.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char proves[] = "by the loader's rules this program gets this libcudnn, and finds there every function of cuDNN that it imports";
static const char proves_not[] = "what it opens by itself at run time (dlopen; anydnn verify --pid shows it), or functions that it looks up by name";

enum { LIBRARIES_MAX = 64, MISSING_SHOWN = 12 };

typedef struct exporters {
    elf_file file[LIBRARIES_MAX];
    const ld_object *object[LIBRARIES_MAX];
    size_t count;
} exporters;

static int open_object(const verify *v, const ld_object *o, elf_file *f)
{
    char *host = tree_host(v->c->root, o->path);

    memset(f, 0, sizeof *f);
    int bad = !host || elf_open(f, host) != 0;
    if (bad)
        elf_close(f);
    free(host);
    return bad ? -1 : 0;
}

/* A version that only one side knows does not stand in the way, as with the loader. */
static bool has(const exporters *e, const elf_symbol *wanted)
{
    for (size_t i = 0; i < e->count; i++) {
        elf_symbol s;
        for (size_t k = 0; k < elf_symbol_count(&e->file[i]); k++)
            if (elf_symbol_at(&e->file[i], k, &s) == 0 && s.defined && strcmp(s.name, wanted->name) == 0 &&
                (!*s.version || !*wanted->version || strcmp(s.version, wanted->version) == 0))
                return true;
    }
    return false;
}

static void judge_user(verify *v, const exporters *e, const ld_object *user)
{
    elf_file f;
    elf_symbol s;
    cJSON *where = NULL;
    size_t missing = 0;
    char names[900] = "";

    if (open_object(v, user, &f) != 0)
        return;
    for (size_t i = 0; i < elf_symbol_count(&f); i++) {
        if (elf_symbol_at(&f, i, &s) != 0 || s.defined || strncmp(s.name, "cudnn", 5) != 0 || has(e, &s))
            continue;
        if (missing++ < MISSING_SHOWN)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "", s.name);
    }
    if (missing) {
        where = verify_finding(v, CLI_ERROR, "undefined-symbol",
                               "The program was built for another version. It ends with \"undefined symbol\" at its start, or at the first call.",
                               NULL, "%s needs %zu function%s of cuDNN that the library it would get does not have: %s%s", user->path, missing,
                               missing == 1 ? "" : "s", names, missing > MISSING_SHOWN ? ", ..." : "");
        cli_where(where, user->path);
        for (size_t i = 0; i < e->count; i++)
            cli_where(where, e->object[i]->path);
    }
    elf_close(&f);
}

static void judge_symbols(verify *v, const ld_process *p)
{
    static exporters e;

    e.count = 0;
    for (size_t i = 0; i < p->object_count && e.count < LIBRARIES_MAX; i++)
        if (!p->objects[i]->is_program && which_is_cudnn(p->objects[i]->soname ? p->objects[i]->soname : p->objects[i]->path) &&
            open_object(v, p->objects[i], &e.file[e.count]) == 0)
            e.object[e.count++] = p->objects[i];
    for (size_t i = 0; e.count && i < p->object_count; i++)
        if (!p->objects[i]->is_interpreter && !which_is_cudnn(p->objects[i]->soname ? p->objects[i]->soname : p->objects[i]->path))
            judge_user(v, &e, p->objects[i]);
    for (size_t i = 0; i < e.count; i++)
        elf_close(&e.file[i]);
}

/* The libcudnn of the process: that of the place, the only one, or another. */
static void judge_copy(verify *v, const ld_process *p, verify_level *level)
{
    char *wanted = v->place.file ? tree_real(v->c->root, v->place.file) : NULL;
    const ld_object *other = NULL;
    bool found = false;

    for (size_t i = 0; i < p->object_count; i++) {
        const ld_object *o = p->objects[i];
        cudnn_name n;
        if (o->is_program || !cli_cudnn_name(cli_base_name(o->soname ? o->soname : o->path), &n) || *n.part)
            continue;
        verify_fact(v, level, "libcudnn", o->real ? o->real : o->path);
        found = found || (wanted && o->real && strcmp(o->real, wanted) == 0);
        other = o;
    }
    if (!other)
        verify_finding(v, CLI_ERROR, "not-found", "The search is listed above (anydnn which --exe says more).", NULL, "%s would not find a libcudnn.",
                       v->program);
    else if (wanted && !found)
        cli_where(verify_finding(v, CLI_ERROR, "other-copy", "Its search path leads to another copy first.", "anydnn run --lib CHOSEN -- PROGRAM",
                                 "%s would not get %s.", v->program, wanted), other->real ? other->real : other->path);
    free(wanted);
}

static char *program_path(const verify *v)
{
    char *found = !*v->c->root && !strchr(v->program, '/') ? process_find(v->program) : NULL, *path = cli_tree_path(v->c, found ? found : v->program);

    free(found);
    return path;
}

int verify_for(verify *v)
{
    char error[400] = "", *path = program_path(v), *host = path ? tree_host(v->c->root, path) : NULL;
    struct stat st;
    verify_level level;
    which w;

    memset(&w, 0, sizeof w);
    w.c = v->c;
    w.set.root = v->c->root;
    w.set.cwd = "/";
    if (!*v->c->root) {
        w.set.library_path = getenv("LD_LIBRARY_PATH");
        w.set.preload = getenv("LD_PRELOAD");
    }
    w.set.secure = host && stat(host, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID));
    ld_process *p = path ? ld_process_start(&w.set, path, error, sizeof error) : NULL;
    free(host);
    free(path);
    if (!p) {
        cli_problem("anydnn verify: %s", *error ? error : "no memory");
        return CLI_CANNOT_READ;
    }
    level = verify_begin(v, "program", "What this program would get");
    verify_fact(v, &level, "program", v->program);
    w.results = cJSON_AddArrayToObject(level.json, "results");
    w.report = v->report;
    which_answer(&w, p, NULL);
    v->report = w.report;
    judge_copy(v, p, &level);
    judge_symbols(v, p);
    verify_end(v, &level, NULL, proves, proves_not);
    ld_process_free(p);
    return CLI_GOOD;
}
