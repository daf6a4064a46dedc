/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * One answer: as JSON, as text, and what is wrong with it. */
#include "which.h"
#include "file.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool which_is_cudnn(const char *name)
{
    cudnn_name n;

    return cli_cudnn_name(cli_base_name(name), &n);
}

static void add_text(cJSON *o, const char *name, const char *text)
{
    if (text)
        cJSON_AddStringToObject(o, name, text);
    else
        cJSON_AddNullToObject(o, name);
}

/* The program itself by its path, other objects by theirs. */
static const char *asker(const ld_result *r)
{
    return r->by ? r->by->path : NULL;
}

/* A file that was found but cannot be loaded, because something that it needs is missing, is not loaded. */
static bool is_loaded(const ld_result *r)
{
    return r->object && !r->error;
}

static void say(const which *w, const ld_result *r, const char *real)
{
    const ld_object *o = r->object;

    if (is_loaded(r))
        cli_say(w->c, "%s => %s [%s]%s%s\n", r->needs, o->path, ld_rule_name(r->rule), real && strcmp(real, o->path) != 0 ? " -> " : "",
                real && strcmp(real, o->path) != 0 ? real : "");
    else
        cli_say(w->c, "%s => %s\n", r->needs, o ? "found, but cannot be loaded" : "not found");
    if (asker(r))
        cli_say(w->c, "  asked by %s%s\n", asker(r), r->from_dlopen ? " (dlopen)" : "");
    for (size_t i = 0; i < r->try_count; i++) {
        const ld_try *t = &r->tries[i];

        cli_say(w->c, "  %c [%s%s%s] %s%s%s\n", t->found ? '*' : ' ', ld_rule_name(t->rule), t->of ? " of " : "",
                t->of ? (*t->of->path ? cli_base_name(t->of->path) : "the program") : "", t->path, t->found ? "" : ": ",
                t->found ? "" : t->why_not);
    }
    for (size_t i = 0; i < r->shadowed.count; i++)
        cli_say(w->c, "    shadowed: %s\n", r->shadowed.at[i]);
}

cJSON *which_add(which *w, const ld_result *r)
{
    cJSON *o = cJSON_CreateObject(), *list;
    const char *real = is_loaded(r) ? r->object->real : NULL;

    cJSON_AddStringToObject(o, "needs", r->needs);
    add_text(o, "loaded", is_loaded(r) ? r->object->path : NULL);
    add_text(o, "real", real);
    add_text(o, "rule", is_loaded(r) ? ld_rule_name(r->rule) : NULL);
    add_text(o, "by", asker(r));
    list = cJSON_AddArrayToObject(o, "searched");
    for (size_t i = 0; i < r->try_count; i++) {
        cJSON *t = cJSON_CreateObject();

        cJSON_AddStringToObject(t, "path", r->tries[i].path);
        cJSON_AddStringToObject(t, "rule", ld_rule_name(r->tries[i].rule));
        cJSON_AddBoolToObject(t, "found", r->tries[i].found);
        add_text(t, "why_not", r->tries[i].why_not);
        if (r->tries[i].of && *r->tries[i].of->path)
            cJSON_AddStringToObject(t, "of", r->tries[i].of->path);
        cJSON_AddItemToArray(list, t);
    }
    list = cJSON_AddArrayToObject(o, "shadowed");
    for (size_t i = 0; i < r->shadowed.count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(r->shadowed.at[i]));
    cJSON_AddItemToArray(w->results, o);
    say(w, r, real);
    return o;
}

/* Found, but another copy lies further down. */
static void judge_shadowed(which *w, const ld_result *r)
{
    char *what, *why;

    if (!is_loaded(r) || r->shadowed.count == 0)
        return;
    what = cli_format("%zu other %s of the name %s come%s later in the search and %s not used.", r->shadowed.count,
                      r->shadowed.count == 1 ? "copy" : "copies", r->needs, r->shadowed.count == 1 ? "s" : "",
                      r->shadowed.count == 1 ? "is" : "are");
    why = cli_format("The loader takes the first that fits, here %s by the rule \"%s\", whichever is newer.", r->object->path,
                     ld_rule_name(r->rule));
    cJSON *where = cli_finding(&w->report, CLI_NOTE, "shadowed-copies", what, why, NULL);
    for (size_t i = 0; i < r->shadowed.count; i++)
        cli_where(where, r->shadowed.at[i]);
    free(what);
    free(why);
}

/* Programs that read `ldconfig -p` take what the cache says, whatever the loader does. */
static void judge_cache(which *w, const ld_process *p, const ld_result *r)
{
    const ld_machine *m = &p->machine;
    const char *cached =
        m->cache_fault ? NULL : ldcache_find(&m->cache, r->needs, ldcache_flags(p->elf_class, p->elf_machine), &m->cache_cpu);
    char *real = cached ? tree_real(p->set.root, cached) : NULL;

    if (r->object && real && r->object->real && strcmp(real, r->object->real) != 0) {
        char *what =
            cli_format("The loader would take %s for %s; programs that parse `ldconfig -p` take %s.", r->object->path, r->needs, cached);
        cJSON *where = cli_finding(&w->report, CLI_NOTE, "cache-differs", what,
                                   "Some packages look for cuDNN in the loader's cache only and ignore LD_LIBRARY_PATH and search "
                                   "paths, so one process can hear of two copies.",
                                   NULL);

        cli_where(where, r->object->path);
        cli_where(where, cached);
        free(what);
    }
    free(real);
}

/* The file lies beside the asking object, where only another object's RUNPATH leads. */
static bool judge_neighbour(which *w, const ld_process *p, const ld_result *r)
{
    char *beside = r->by && r->by->origin ? tree_join(r->by->origin, r->needs) : NULL, *what, *why, *fix;
    bool is = beside && tree_look(p->set.root, beside, true).kind == TREE_FILE;
    const char *other = NULL;

    for (size_t i = 0; is && i < p->all_count; i++)
        if (p->all[i] != r->by && p->all[i]->runpath && p->all[i]->origin && strcmp(p->all[i]->origin, r->by->origin) == 0)
            other = p->all[i]->path;
    if (is) {
        what = cli_format("%s is not found for %s, although it lies in the same directory.", r->needs, r->by->path);
        why = other ? cli_format("%s has a RUNPATH that leads there, but a RUNPATH serves only the object that has it and is not inherited "
                                 "(an RPATH would be).",
                                 other)
                    : strdup("The loader does not look beside the asking object unless that has $ORIGIN in its own RPATH or RUNPATH.");
        fix = cli_format("export LD_LIBRARY_PATH=%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}", r->by->origin);
        cli_where(cli_finding(&w->report, CLI_ERROR, "runpath-not-inherited", what, why, fix), beside);
        free(what);
        free(why);
        free(fix);
    }
    free(beside);
    return is;
}

static bool has_file_beside(const ld_process *p, const char *name, const char *dir)
{
    char *path = tree_join(dir, name);
    bool has = path && tree_look(p->set.root, path, true).kind == TREE_FILE;

    free(path);
    return has;
}

static void judge_missing(which *w, const ld_process *p, const ld_result *r)
{
    static const char *const usual[] = {
        "/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64",
        "/opt/cuda/lib64"
    };
    char *what, *fix = NULL;
    const char *error = r->error ? r->error : r->needs;
    cJSON *where;

    if (!r->stops && !r->object && judge_neighbour(w, p, r))
        return;
    for (size_t i = 0; !r->stops && !r->object && !fix && i < sizeof usual / sizeof *usual; i++)
        if (has_file_beside(p, r->needs, usual[i]))
            fix = cli_format("export LD_LIBRARY_PATH=%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}", usual[i]);
    if (r->stops)
        what = cli_format("The loader gives up on %s: %s.", r->needs, error);
    else if (r->object)
        what = cli_format("%s is found as %s but cannot be loaded: %s.", r->needs, r->object->path, error);
    else
        what = cli_format("No rule of the loader leads to %s%s%s.", r->needs, r->by ? ", asked by " : "", r->by ? r->by->path : "");
    where = cli_finding(
        &w->report, CLI_ERROR, r->stops ? "bad-file" : "not-found", what,
        r->stops ? "A file that is no library ends the search at once: the loader does not go on to the next directory. Remove the file."
        : fix    ? "A file of that name is on the machine, in a directory that is not searched."
                 : "The search list shows every file that was tried.",
        fix);
    for (size_t i = 0; i < r->try_count; i++)
        cli_where(where, r->tries[i].path);
    free(what);
    free(fix);
}

/* Libcudnn_ops.so.9.1.0 is missing, but libcudnn_ops.so.9 would be found. */
static void judge_shorter(which *w, ld_process *p, const ld_result *r, ld_object *by)
{
    char *name = strdup(r->needs), *so = name ? strstr(name, ".so.") : NULL, *dot;

    while (so && (dot = strrchr(so + 3, '.')) != NULL) {
        ld_result *shorter;

        *dot = 0;
        shorter = ld_process_open(p, name, by);
        if (shorter && shorter->object && !shorter->error) {
            char *what = cli_format("%s is not found, but %s is.", r->needs, name);

            cli_where(cli_finding(&w->report, CLI_NOTE, "shorter-name-found", what,
                                  "cuDNN 9 tries the names from the longest to the shortest; the shorter name satisfies it.", NULL),
                      shorter->object->path);
            free(what);
            break;
        }
        if (strcmp(dot - 3 >= name ? dot - 3 : dot, ".so") == 0)
            break;
    }
    free(name);
}

static void answer(which *w, ld_process *p, ld_result *r)
{
    if (!r)
        return;
    which_add(w, r);
    if (!is_loaded(r)) {
        judge_missing(w, p, r);
        if (!r->stops && !r->object)
            judge_shorter(w, p, r, r->by);
    }
    judge_shadowed(w, r);
    judge_cache(w, p, r);
}

/* In a real program libcudnn asks for its sub-libraries; the program asks for the rest. */
static ld_object *caller_for(ld_process *p, const char *name)
{
    cudnn_name n;
    char library[64];

    if (!cli_cudnn_name(name, &n) || !*n.part || n.count == 0)
        return NULL;
    cli_library_name("", n.numbers[0], false, library, sizeof library);
    if (!ld_process_object(p, library))
        ld_process_open(p, library, NULL);
    return ld_process_object(p, library);
}

static ld_result *request(ld_process *p, const char *name, ld_object *by)
{
    ld_result *known = ld_process_result(p, name);

    if (known && !by)
        return known;
    return ld_process_open(p, name, by ? by : caller_for(p, name));
}

/* The sub-libraries that this libcudnn opens by name later on. */
static void answer_parts(which *w, ld_process *p, ld_object *library)
{
    char *host = tree_host(p->set.root, library->path), name[80];
    cli_file f;

    memset(&f, 0, sizeof f);
    if (host && cli_file_inspect(host, &f) == 0) {
        const char *const *parts = cli_sublibraries(f.version ? f.version : f.abi == 9 ? 90000 : 8000);

        for (size_t i = 1; parts && parts[0] && parts[i]; i++) {
            cli_library_name(parts[i], f.abi ? f.abi : cli_version_major(f.version), false, name, sizeof name);
            answer(w, p, request(p, name, NULL));
        }
        for (size_t i = 0; i < f.named_count; i++) {
            cli_library_name(f.named[i], f.abi, false, name, sizeof name);
            if (!ld_process_result(p, name))
                answer(w, p, request(p, name, NULL));
        }
    }
    cli_file_free(&f);
    free(host);
}

static void answer_cudnn(which *w, ld_process *p)
{
    size_t known = p->result_count;
    bool any = false;

    for (size_t i = 0; i < known; i++)
        if (which_is_cudnn(p->results[i]->needs) && ld_process_result(p, p->results[i]->needs) == p->results[i]) {
            answer(w, p, p->results[i]);
            any = true;
        }
    for (int abi = 9; !any && abi >= 8; abi--) {
        char name[64];
        ld_result *r;

        cli_library_name("", abi, false, name, sizeof name);
        r = ld_process_open(p, name, NULL);
        if (r && r->object)
            answer(w, p, r);
    }
    if (!any && !ld_process_object(p, "libcudnn.so.9") && !ld_process_object(p, "libcudnn.so.8")) {
        answer(w, p, ld_process_result(p, "libcudnn.so.9"));
        answer(w, p, ld_process_result(p, "libcudnn.so.8"));
    }
    for (int abi = 9; abi >= 8; abi--) {
        char name[64];
        ld_object *library;

        cli_library_name("", abi, false, name, sizeof name);
        library = ld_process_object(p, name);
        if (library)
            answer_parts(w, p, library);
    }
}

void which_answer(which *w, ld_process *p, ld_object *by)
{
    for (int i = 0; i < w->needs_count; i++)
        answer(w, p, request(p, w->needs[i], by));
    if (w->needs_count == 0)
        answer_cudnn(w, p);
    which_judge(w, p);
}
