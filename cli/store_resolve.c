/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What somebody means who names a version, a prefix, a folder or a file. */
#include "change.h"
#include "file.h"
#include "store.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void store_place_free(store_place *p)
{
    free(p->prefix);
    free(p->build);
    free(p->dir);
    free(p->lib);
    free(p->include);
    free(p->file);
    *p = (store_place){ 0 };
}

static int fault(char *error, size_t size, const char *what, const char *path)
{
    char *clean = cli_clean(path, true);
    snprintf(error, size, "%s: %s", clean ? clean : "", what);
    free(clean);
    return -1;
}

/* libcudnn.so.N in a folder, as N (or 9, then 8). false where there is none. */
static bool take_lib(const cli *c, const char *lib, int abi, store_place *out)
{
    for (int n = abi ? abi : 9; n >= (abi ? abi : 8); n--) {
        for (size_t i = 0; i < 2; i++) {
            char *file = i ? cli_format("%s/cudnn64_%d.dll", lib, n) : cli_format("%s/libcudnn.so.%d", lib, n);
            if (file && tree_look(c->root, file, true).kind == TREE_FILE) {
                out->file = file;
                out->lib = strdup(lib);
                out->abi = n;
                return out->lib != NULL;
            }
            free(file);
        }
    }
    return false;
}

static void take_include(const cli *c, const char *dir, store_place *out)
{
    static const char *const includes[] = { "include", "include/x86_64-linux-gnu", "include/aarch64-linux-gnu" };
    for (size_t i = 0; i < sizeof includes / sizeof *includes && !out->include; i++) {
        char *include = tree_join(dir, includes[i]), *file = include ? tree_join(include, "cudnn.h") : NULL;
        if (file && tree_look(c->root, file, true).kind == TREE_FILE)
            out->include = include;
        else
            free(include);
        free(file);
    }
}

/* A folder that has the libraries in itself or in one of the usual folders below. */
static bool take_folder(const cli *c, const char *dir, int abi, store_place *out)
{
    static const char *const libs[] = { "", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib", "nvidia/cudnn/lib", "bin", "bin/x64" };
    for (size_t i = 0; i < sizeof libs / sizeof *libs; i++) {
        char *lib = *libs[i] ? tree_join(dir, libs[i]) : strdup(dir);
        bool found = lib && take_lib(c, lib, abi, out);
        free(lib);
        if (!found)
            continue;
        /* Of .../lib and .../lib64 the prefix is the folder above; headers are looked for from there. */
        const char *base = cli_base_name(dir), *below = strstr(libs[i], "nvidia") ? "nvidia/cudnn" : NULL;
        if (*libs[i])
            out->dir = below ? tree_join(dir, below) : strdup(dir);
        else if (strcmp(base, "lib") == 0 || strcmp(base, "lib64") == 0 || strcmp(base, "bin") == 0)
            out->dir = cli_format("%.*s", (int)(base - dir > 1 ? base - dir - 1 : 1), dir);
        if (out->dir)
            take_include(c, out->dir, out);
        return true;
    }
    return false;
}

/* "8.9.7" fits "8.9.7.29-cuda12-linux-x86_64": the same, or what follows begins with a dot or a dash. */
static bool fits(const char *build, const char *word)
{
    size_t n = strlen(word);
    return strncmp(build, word, n) == 0 && (!build[n] || build[n] == '.' || build[n] == '-');
}

const char *store_match(const store *s, const char *word, char *error, size_t error_size)
{
    const char *found = NULL;
    size_t count = 0, used = 0;
    char list[600] = "";
    for (size_t i = 0; i < s->now.builds.count; i++) {
        const char *build = s->now.builds.items[i];
        if (strcmp(build, word) == 0)
            return build;
        if (!fits(build, word))
            continue;
        found = build;
        count++;
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", count > 1 ? ", " : "", build);
    }
    if (count == 1)
        return found;
    if (count > 1)
        snprintf(error, error_size, "\"%.100s\" may be one of %s: say which", word, list);
    else
        snprintf(error, error_size, "no build \"%.100s\" is installed in %s (anydnn list shows what is)", word, s->dir);
    return NULL;
}

/* A build of the store by its word: "" for the one in use, "8", "9", a version, a name. */
static int take_build(const store *s, const char *word, int abi, store_place *out, char *error, size_t error_size)
{
    const char *build = NULL;
    char *end;
    long number = strtol(word, &end, 10);
    if (!*word)
        build = state_build(&s->now, abi ? abi : s->now.used.last);
    else if (!*end)
        build = state_build(&s->now, (int)(number > 99 ? 0 : number));
    if (!build && *word)
        build = store_match(s, word, error, error_size);
    else if (!build)
        snprintf(error, error_size, "no build is in use in %s", s->dir);
    if (!build)
        return -1;
    out->dir = tree_join(s->dir, build);
    out->build = strdup(build);
    out->prefix = strdup(s->prefix);
    char *lib = out->dir ? tree_join(out->dir, "lib") : NULL, *bin = out->dir ? tree_join(out->dir, "bin") : NULL;
    bool good = lib && bin && out->build && out->prefix && (take_lib(s->c, lib, abi, out) || take_lib(s->c, bin, abi, out));
    if (good)
        take_include(s->c, out->dir, out);
    free(bin);
    free(lib);
    return good ? 0 : fault(error, error_size, "has no libcudnn in it", build);
}

/* The file that a link of ours leads to lies in the store; so does a folder below it. */
static void note_store(const cli *c, store_place *out)
{
    char *real = out->file ? tree_real(c->root, out->file) : NULL, *at = real ? strstr(real, "/opt/cudnn/") : NULL;
    if (at && !out->prefix) {
        const char *build = at + strlen("/opt/cudnn/");
        out->build = cli_format("%.*s", (int)strcspn(build, "/"), build);
        out->prefix = cli_format("%.*s", (int)(at - real), real);
    }
    free(real);
}

static int take_path(const cli *c, const char *word, int abi, store_place *out, char *error, size_t error_size)
{
    char *path = cli_tree_path(c, word), *host = path ? tree_host(c->root, path) : NULL;
    tree_kind kind = path ? tree_look(c->root, path, true).kind : TREE_NONE;
    int code = 0;
    if (kind == TREE_DIR) {
        code = take_folder(c, path, abi, out) ? 0 : fault(error, error_size, "no libcudnn.so.9 or .so.8 lies in this folder, its lib64 or its lib", path);
    } else if (kind == TREE_FILE && host) {
        cli_file f;
        cli_file_inspect(host, &f);
        const char *base = cli_base_name(path);
        if ((f.kind != FILE_ELF && f.kind != FILE_PE) || !f.is_cudnn || f.truncated || f.damaged) {
            code = fault(error, error_size, f.problem[0] ? f.problem : "this is no library of cuDNN", path);
        } else {
            out->file = strdup(path);
            out->abi = f.abi;
            out->lib = cli_format("%.*s", (int)(base - path > 1 ? base - path - 1 : 1), path);
            const char *name = out->lib ? cli_base_name(out->lib) : "";
            if (strcmp(name, "lib") == 0 || strcmp(name, "lib64") == 0)
                out->dir = cli_format("%.*s", (int)(name - out->lib > 1 ? name - out->lib - 1 : 1), out->lib);
            if (out->dir)
                take_include(c, out->dir, out);
        }
        cli_file_free(&f);
    } else {
        code = fault(error, error_size, "there is no such file or folder, and no such build", path ? path : word);
    }
    if (code == 0)
        note_store(c, out);
    free(host);
    free(path);
    return code;
}

int store_resolve(const cli *c, const char *word, const char *prefix, int abi, store_place *out, char *error, size_t error_size)
{
    cli_report r;
    store s;
    int code = -1;
    bool is_path = word && strchr(word, '/');
    *out = (store_place){ 0 };
    snprintf(error, error_size, "the store cannot be read");
    if (!is_path) {
        cli_report_begin(&r, "list");
        if (store_open(&s, c, prefix, false, &r) == 0)
            code = take_build(&s, word ? word : "", abi, out, error, error_size);
        store_close(&s);
        cJSON_Delete(r.json);
    }
    /* A bare word that is no build may be a file or folder here. */
    if (code != 0 && word && *word) {
        char *path = cli_tree_path(c, word);
        bool there = path && tree_look(c->root, path, true).kind != TREE_NONE;
        free(path);
        if (is_path || there) {
            store_place_free(out);
            code = take_path(c, word, abi, out, error, error_size);
        }
    }
    if (code != 0)
        store_place_free(out);
    return code;
}
