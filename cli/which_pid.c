/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A running process: its map says what is loaded; the rules, asked with its own program and environment, say why. */
#include "which.h"
#include "file.h"
#include "maps.h"
#include "tree.h"
#include "variable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 26 };

typedef struct process {
    maps m;
    char *environment;
    size_t environment_size;
    ld_process *rules; /* NULL where its program cannot be read */
} process;

static const char *variable(const process *x, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = x->environment; at && at < x->environment + x->environment_size; at += strlen(at) + 1)
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            return at + n + 1;
    return NULL;
}

static char *read_link(const char *path)
{
    static char text[4096];
    ssize_t n = readlink(path, text, sizeof text - 1);

    text[n > 0 ? n : 0] = 0;
    return n > 0 ? text : NULL;
}

static int open_process(which *w, process *x)
{
    static char cwd[4096];
    char *maps_path = cli_format("/proc/%s/maps", w->pid), *environ_path = cli_format("/proc/%s/environ", w->pid), *text, *link, error[300];
    size_t size = 0;

    memset(x, 0, sizeof *x);
    text = maps_path ? tree_read(w->c->root, maps_path, TEXT_MAX, &size) : NULL;
    if (!text || maps_parse(&x->m, text, size) != 0)
        cli_problem("anydnn which: %s cannot be read: there is no such process, or it is another user's",
                maps_path ? maps_path : "the map");
    if (environ_path)
        x->environment = tree_read(w->c->root, environ_path, TEXT_MAX, &x->environment_size);
    free(maps_path);
    free(environ_path);
    if (!text)
        return -1;
    free(text);
    w->set.library_path = variable(x, "LD_LIBRARY_PATH");
    w->set.preload = variable(x, "LD_PRELOAD");
    char *cwd_link = cli_format("/proc/%s/cwd", w->pid), *exe_link = cli_format("/proc/%s/exe", w->pid);
    if (!*w->c->root && cwd_link && (link = read_link(cwd_link)) != NULL) {
        snprintf(cwd, sizeof cwd, "%s", link);
        w->set.cwd = cwd;
    }
    if (!*w->c->root && exe_link && (link = read_link(exe_link)) != NULL)
        x->rules = ld_process_start(&w->set, link, error, sizeof error);
    free(cwd_link);
    free(exe_link);
    return 0;
}

static bool is_same_name(const char *path, const char *name)
{
    const char *base = cli_base_name(path);
    size_t n = strlen(name);

    return strcmp(base, name) == 0 || (strncmp(base, name, n) == 0 && base[n] == '.'); /* libcudnn.so.8 for libcudnn.so.8.9.7 */
}

/* The rule by which this very file would be found; "path" where no rule leads there, so that it was opened by its path. */
static const char *rule_for(process *x, const maps_file *f, const char *name, const char **by)
{
    ld_result *r = x->rules ? ld_process_result(x->rules, name) : NULL;

    *by = NULL;
    if (x->rules && !r)
        r = ld_process_open(x->rules, name, NULL);
    if (!r || !r->object || !r->object->real || strcmp(r->object->real, f->path) != 0)
        return "path";
    *by = r->by ? r->by->path : NULL;
    return ld_rule_name(r->rule);
}

static const char *soname_of(const which *w, const maps_file *f, char *out, size_t size)
{
    char *host = f->deleted ? NULL : tree_host(w->c->root, f->path);
    elf_file e;

    memset(&e, 0, sizeof e);
    snprintf(out, size, "%s", cli_base_name(f->path));
    if (host && elf_open(&e, host) == 0 && elf_dynamic_string(&e, ELF_TAG_SONAME, 0))
        snprintf(out, size, "%s", elf_dynamic_string(&e, ELF_TAG_SONAME, 0));
    if (host)
        elf_close(&e);
    free(host);
    return out;
}

static bool is_cuda(const char *path)
{
    static const char *const names[] = { "libcudart",   "libcublas", "libnvrtc", "libcuda.so",   "libcufft",  "libcusparse",
                                         "libcusolver", "libcurand", "libnccl",  "libnvJitLink", "libnvinfer" };
    const char *base = cli_base_name(path);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void add_beside(which *w, const process *x)
{
    cJSON *beside = cJSON_AddArrayToObject(w->report.json, "beside");

    for (size_t i = 0; i < x->m.count; i++) {
        const maps_file *f = &x->m.files[i];
        cJSON *o;

        if (!is_cuda(f->path))
            continue;
        o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "path", f->path);
        cJSON_AddBoolToObject(o, "deleted", f->deleted);
        cJSON_AddItemToArray(beside, o);
        cli_say(w->c, "beside it: %s%s\n", f->path, f->deleted ? " (deleted)" : "");
    }
}

/* Two runtimes in one process. Their names differ in the major number only. */
static void judge_beside(which *w, const process *x, const char *library)
{
    const char *first = NULL, *other = NULL;

    for (size_t i = 0; i < x->m.count; i++) {
        const char *base = cli_base_name(x->m.files[i].path);
        size_t n = strlen(library);

        if (strncmp(base, library, n) != 0 || base[n] != '.')
            continue;
        if (!first)
            first = x->m.files[i].path;
        else if (strcmp(first, x->m.files[i].path) != 0)
            other = x->m.files[i].path;
    }
    if (other) {
        char *what = cli_format("The process has two copies of %s.", library);
        cJSON *where =
            cli_finding(&w->report, CLI_WARNING, "two-runtimes", what,
                        "Two packages brought their own. Functions of the one may be bound to the other, and memory of one cannot "
                        "be freed by the other.",
                        NULL);

        cli_where(where, first);
        cli_where(where, other);
        free(what);
    }
}

static void judge_deleted(which *w, const maps_file *f)
{
    char *what = cli_format("Process %s still uses a copy of %s that was removed or replaced.", w->pid, cli_base_name(f->path)),
         *fix = cli_format("kill %s", w->pid);

    cli_where(cli_finding(&w->report, CLI_WARNING, "deleted", what,
                          "The process keeps the old file until it ends; parts that it opens later come from the new one, which mixes two "
                          "builds. Start it anew.",
                          fix),
              f->path);
    free(what);
    free(fix);
}

static void add_file(which *w, process *x, const maps_file *f, const char *name)
{
    char soname[256];
    const char *by, *rule = rule_for(x, f, name ? name : soname_of(w, f, soname, sizeof soname), &by);
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "needs", name ? name : soname);
    cJSON_AddStringToObject(o, "loaded", f->path);
    cJSON_AddStringToObject(o, "rule", rule);
    if (by)
        cJSON_AddStringToObject(o, "by", by);
    else
        cJSON_AddNullToObject(o, "by");
    cJSON_AddBoolToObject(o, "deleted", f->deleted);
    cJSON_AddArrayToObject(o, "searched");
    cJSON_AddArrayToObject(o, "shadowed");
    cJSON_AddItemToArray(w->results, o);
    cli_say(w->c, "%s => %s [%s]%s\n", name ? name : soname, f->path, rule, f->deleted ? " (deleted)" : "");
    if (f->deleted)
        judge_deleted(w, f);
}

static void add_missing(which *w, const char *name)
{
    cJSON *o = cJSON_CreateObject();
    char *what = cli_format("Process %s has not loaded %s.", w->pid, name);

    cJSON_AddStringToObject(o, "needs", name);
    cJSON_AddNullToObject(o, "loaded");
    cJSON_AddNullToObject(o, "rule");
    cJSON_AddNullToObject(o, "by");
    cJSON_AddArrayToObject(o, "searched");
    cJSON_AddArrayToObject(o, "shadowed");
    cJSON_AddItemToArray(w->results, o);
    cli_say(w->c, "%s => not loaded\n", name);
    cli_finding(&w->report, CLI_ERROR, "not-loaded", what,
                "cuDNN opens its parts at the first call that needs them; ask again after that call.", NULL);
    free(what);
}

int which_pid(which *w)
{
    process x;
    bool good = *w->pid != 0;

    for (const char *c = w->pid; *c; c++)
        good = good && *c >= '0' && *c <= '9';
    if (!good)
        return cli_usage("which", "--pid needs a number, got \"%s\"", w->pid);
    if (open_process(w, &x) != 0) {
        maps_free(&x.m);
        free(x.environment);
        return CLI_CANNOT_READ;
    }
    if (w->set.library_path)
        variable_check(&w->report, w->c->root, "LD_LIBRARY_PATH", w->set.library_path);
    for (int k = 0; k < w->needs_count; k++) {
        bool any = false;

        for (size_t i = 0; i < x.m.count; i++)
            if (is_same_name(x.m.files[i].path, w->needs[k])) {
                add_file(w, &x, &x.m.files[i], w->needs[k]);
                any = true;
            }
        if (!any)
            add_missing(w, w->needs[k]);
    }
    for (size_t i = 0; w->needs_count == 0 && i < x.m.count; i++)
        if (which_is_cudnn(x.m.files[i].path))
            add_file(w, &x, &x.m.files[i], NULL);
    if (w->needs_count == 0 && cJSON_GetArraySize(w->results) == 0)
        add_missing(w, "libcudnn");
    add_beside(w, &x);
    judge_beside(w, &x, "libcudart.so");
    judge_beside(w, &x, "libcublas.so");
    ld_process_free(x.rules);
    maps_free(&x.m);
    free(x.environment);
    return CLI_GOOD;
}
