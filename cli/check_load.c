/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What a program without search paths of its own would load: the copy, the copies behind it, and whether the sub-libraries, which libcudnn
 * opens later by bare name, come from the same place. Then the variable and the cache themselves. */
#include "check.h"
#include "search.h"
#include "variable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *check_library_path(const check *k)
{
    const char *value = discover_env(&k->found, "LD_LIBRARY_PATH");
    size_t root = strlen(k->c->root);
    char *out = value ? malloc(strlen(value) + 1) : NULL, *end = out;

    while (out && *value) {
        size_t n = strcspn(value, ":;");

        if (root && strncmp(value, k->c->root, root) == 0 && (value[root] == '/' || n == root)) {
            value += root;
            n -= root;
        }
        memcpy(end, value, n + (value[n] != 0));
        end += n + (value[n] != 0);
        value += n + (value[n] != 0);
    }
    if (out)
        *end = 0;
    return out;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return cli_format("%.*s", slash ? (int)(slash - path) : 0, path);
}

/* What is known of a file of a copy; NULL for other files. */
static const cli_file *file_of(check *k, const char *path)
{
    check_copy *copy = check_copy_of(k, path);

    for (size_t i = 0; copy && i < copy->count; i++)
        if (strcmp(copy->files[i].name->name, cli_base_name(path)) == 0)
            return copy->files[i].file;
    return NULL;
}

static int version_of(check *k, const char *real)
{
    const cli_file *file = file_of(k, real);

    return file ? file->version : 0;
}

/* Does the copy's graph library name a part that its version does not have? It was built to open it then. */
static bool names_part(const check_copy *copy, const char *part)
{
    for (size_t i = 0; copy && i < copy->count; i++) {
        const check_file *f = &copy->files[i];

        for (size_t j = 0; f->file && strcmp(f->name->parts.part, "graph") == 0 && j < f->file->named_count; j++)
            if (strcmp(f->file->named[j], part) == 0)
                return true;
    }
    return false;
}

static void tell_mixed(check *k, const ld_object *library, const ld_result *r, const char *who, int version, bool certain)
{
    char one[32], two[32];
    int other = version_of(k, r->object->real);
    cJSON *where;

    if (other == version || !other || !version) {
        where = check_finding(k, CLI_NOTE, "split-load", cli_format("%s gets %s from %s, and libcudnn from %s", who, r->needs, r->object->real, library->real),
                              "both are of one version now; an update of one of the two places breaks it", NULL, r->object->real);
    } else {
        where = check_finding(k, certain ? CLI_ERROR : CLI_WARNING, "mixed-load",
                              cli_format("%s gets libcudnn %s from %s, but %s %s from %s (rule: %s)", who, cli_version_text(version, one), library->real, r->needs,
                                         cli_version_text(other, two), r->object->real, ld_rule_name(r->rule)),
                              version < 9000 ? "libcudnn opens its parts by bare name, and that search ends elsewhere: \"undefined symbol ... version "
                                               "libcudnn_..._infer.so.8\""
                                             : "libcudnn opens its parts by bare name, and that search ends elsewhere: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
                              r->rule == LD_ENVIRONMENT ? cli_format("unset LD_LIBRARY_PATH (or take that folder out of it)")
                                                        : cli_format("install the same version in both places, or remove the one that is not used"),
                              r->object->real);
    }
    cli_where(where, library->real);
}

/* Could this file be loaded beside the library? What is damaged or for another machine has its own finding. */
static bool is_sound(check *k, const char *path, const ld_object *library)
{
    const cli_file *part = file_of(k, path), *whole = file_of(k, library->real);

    return part && whole && part->kind == FILE_ELF && !part->truncated && !part->damaged && part->arch && whole->arch && strcmp(part->arch, whole->arch) == 0;
}

static void tell_lost(check *k, const ld_object *library, const char *name, const char *who)
{
    char *folder = folder_of(library->real), *beside = folder ? tree_join(folder, name) : NULL;

    if (beside && is_sound(k, beside, library))
        check_finding(k, CLI_ERROR, "sublibrary-not-found", cli_format("%s finds %s, but not %s, which lies beside it", who, library->path, name),
                      "the part is asked for by bare name, and neither the variable, the cache nor a RUNPATH of the asking library leads to its folder",
                      cli_format("export LD_LIBRARY_PATH='%s'${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}", folder), beside);
    free(beside);
    free(folder);
}

void check_loaded_parts(check *k, struct ld_process *p, struct ld_object *library, const char *who)
{
    check_copy *copy = check_copy_of(k, library->real);
    int version = version_of(k, library->real);
    const char *const *own = cli_sublibraries(version), *const *parts = version >= 90000 ? cli_sublibraries(999999) : own;
    char name[80], *folder = folder_of(library->real);

    if (copy)
        copy->is_used = true;
    for (size_t i = 0; parts && parts[i]; i++) {
        bool is_own = false;
        ld_result *r;

        for (size_t j = 0; own[j]; j++)
            is_own = is_own || strcmp(own[j], parts[i]) == 0;
        cli_library_name(parts[i], cli_version_major(version), false, name, sizeof name);
        r = *parts[i] ? ld_process_open(p, name, library) : NULL;
        if (r && r->object && folder) {
            char *place = folder_of(r->object->real);

            if (place && strcmp(place, folder) != 0)
                tell_mixed(k, library, r, who, version, is_own || names_part(copy, parts[i]));
            free(place);
        } else if (r && is_own) {
            tell_lost(k, library, name, who);
        }
    }
    free(folder);
}

/* The winner is first, then the others in the order of the search. */
static void judge_shadowed(check *k, const ld_result *r)
{
    int version = version_of(k, r->object->real), newest = version;
    cJSON *where;
    char one[32], two[32];

    for (size_t i = 0; i < r->shadowed.count; i++) {
        char *real = tree_real(k->c->root, r->shadowed.at[i]);
        int other = real ? version_of(k, real) : 0;

        newest = other > newest ? other : newest;
        free(real);
    }
    if (r->shadowed.count == 0)
        return;
    if (newest > version)
        where = check_finding(k, CLI_WARNING, "older-copy-first",
                              cli_format("%s: version %s in %s hides version %s", r->needs, cli_version_text(version, one), r->object->real, cli_version_text(newest, two)),
                              "programs load the first of the search: an installed update has no effect while an older copy comes before it",
                              cli_format("remove the older copy, or put the newer one's folder first in LD_LIBRARY_PATH"), r->object->real);
    else
        where = check_finding(k, CLI_NOTE, "shadowed-copies", cli_format("%s: %s (version %s) is loaded, the copies behind it are not", r->needs,
                                                                         r->object->real, cli_version_text(version, one)),
                              "the first of the search wins", NULL, r->object->real);
    for (size_t i = 0; i < r->shadowed.count; i++)
        cli_where(where, r->shadowed.at[i]);
}

/* Programs that read `ldconfig -p` take the cache's entry, whatever the variable says. */
static void judge_cache_reader(check *k, const ld_result *r)
{
    for (size_t i = 0; i < k->found.cached.count; i++) {
        const char *path = k->found.cached.items[i];
        char *real = strcmp(cli_base_name(path), r->needs) == 0 ? tree_real(k->c->root, path) : NULL;
        char *from = real ? folder_of(real) : NULL, *to = folder_of(r->object->real);

        if (from && to && strcmp(from, to) != 0 && r->rule == LD_ENVIRONMENT)
            cli_where(check_finding(k, CLI_NOTE, "cache-differs",
                                    cli_format("the loader takes %s (LD_LIBRARY_PATH), programs that read `ldconfig -p` take %s", r->object->path, path),
                                    "some packages look cuDNN up in the cache themselves and do not know the variable", NULL, path),
                      r->object->path);
        free(to);
        free(from);
        free(real);
    }
}

static void describe(cJSON *list, const char *needs, const ld_result *r)
{
    cJSON *item = cJSON_CreateObject();

    cJSON_AddStringToObject(item, "needs", needs);
    cJSON_AddItemToObject(item, "loaded", r && r->object ? cJSON_CreateString(r->object->path) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "rule", r && r->object && ld_rule_name(r->rule) ? cJSON_CreateString(ld_rule_name(r->rule)) : cJSON_CreateNull());
    cJSON_AddItemToArray(list, item);
}

static void ask(check *k, const ld_settings *set, int abi, cJSON *list)
{
    char name[40], error[240] = "";
    ld_process *p = ld_process_start(set, NULL, error, sizeof error);
    ld_result *r;
    check_copy *copy;

    snprintf(name, sizeof name, "libcudnn.so.%d", abi);
    r = p ? ld_process_open(p, name, NULL) : NULL;
    describe(list, name, r);
    if (r && r->object) {
        copy = check_copy_of(k, r->object->real);
        if (copy)
            copy->is_used = true;
        judge_shadowed(k, r);
        judge_cache_reader(k, r);
        check_loaded_parts(k, p, r->object, "a program without search paths of its own");
    }
    if (p)
        ld_process_free(p);
}

static bool is_cached(check *k, const char *real)
{
    for (size_t i = 0; i < k->found.cached.count; i++) {
        char *path = tree_real(k->c->root, k->found.cached.items[i]);
        bool same = path && strcmp(path, real) == 0;

        free(path);
        if (same)
            return true;
    }
    return false;
}

static void tell_stale(check *k, char *what, const char *where)
{
    check_finding(k, CLI_WARNING, "cache-stale", what, "the loader does not read ld.so.conf, only the cache that ldconfig makes from it",
                  *k->c->root ? cli_format("ldconfig -r '%s'", k->c->root) : cli_format("ldconfig"), where);
}

/* Files in the folders of ld.so.conf that the cache does not have, and the other way round. */
static void judge_cache(check *k)
{
    for (size_t i = 0; i < k->copy_count; i++) {
        const check_copy *copy = &k->copies[i];
        char name[40], *path;

        snprintf(name, sizeof name, "libcudnn.so.%d", copy->abi);
        for (size_t j = 0; j < k->found.conf.count; j++) {
            if (strcmp(k->found.conf.items[j], copy->dir->path) != 0)
                continue;
            path = tree_join(copy->dir->path, name);
            for (size_t f = 0; path && f < copy->count; f++)
                if (strcmp(copy->files[f].name->name, name) == 0 && copy->files[f].name->real && !is_cached(k, copy->files[f].name->real))
                    tell_stale(k, cli_format("cache stale: ld.so.conf lists %s, the cache does not have its %s", copy->dir->path, name), path);
            free(path);
        }
    }
    for (size_t i = 0; i < k->found.cached.count; i++)
        if (tree_look(k->c->root, k->found.cached.items[i], true).kind == TREE_NONE)
            tell_stale(k, cli_format("cache stale: it names %s, which is not there", k->found.cached.items[i]), k->found.cached.items[i]);
}

void check_load(check *k)
{
    char *path = check_library_path(k), cwd[4096];
    ld_settings set = {.root = k->c->root, .library_path = path, .preload = discover_env(&k->found, "LD_PRELOAD"), .cwd = "/"};
    cJSON *list = cJSON_AddArrayToObject(k->report.json, "loads");

    if (!*k->c->root && getcwd(cwd, sizeof cwd))
        set.cwd = cwd;
    for (size_t i = 0; i < k->copy_count; i++) {
        bool asked = k->copies[i].is_dll || k->copies[i].abi == 0;

        for (size_t j = 0; j < i; j++)
            asked = asked || (k->copies[j].abi == k->copies[i].abi && !k->copies[j].is_dll);
        if (!asked)
            ask(k, &set, k->copies[i].abi, list);
    }
    if (path)
        variable_check(&k->report, k->c->root, "LD_LIBRARY_PATH", path);
    judge_cache(k);
    free(path);
}
