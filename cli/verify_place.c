/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Which library `verify` and `run` are about, and whether a mapped file belongs to it. */
#define _GNU_SOURCE
#include "verify.h"
#include "discover.h"
#include "tree.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* The loader's own answer for a program without search paths. */
static int place_of_loader(const cli *c, store_place *place, char *error, size_t error_size)
{
    const ld_settings set = { .root = c->root, .library_path = *c->root ? NULL : getenv("LD_LIBRARY_PATH"), .cwd = "/" };
    char why[200] = "", *path = NULL;
    ld_process *p = ld_process_start(&set, NULL, why, sizeof why);

    for (int abi = 9; p && !path && abi >= 8; abi--) {
        char name[64];
        ld_result *r;
        cli_library_name("", abi, false, name, sizeof name);
        r = ld_process_open(p, name, NULL);
        if (r && r->object && !r->error)
            path = strdup(r->object->path);
    }
    ld_process_free(p);
    int code = path ? store_resolve(c, path, NULL, 0, place, error, error_size) : -1;
    if (!path)
        snprintf(error, error_size, "no cuDNN was named, none lies beside this tool, none is in use in the store, and the loader finds none");
    free(path);
    return code;
}

int verify_place(const cli *c, const char *word, store_place *place, char *error, size_t error_size)
{
    char *beside, *path;
    int code;

    memset(place, 0, sizeof *place);
    if (word) {
        path = strchr(word, '/') ? cli_tree_path(c, word) : strdup(word);
        code = path ? store_resolve(c, path, NULL, 0, place, error, error_size) : -1;
        free(path);
        return code;
    }
    beside = *c->root ? NULL : process_library("");
    code = beside ? store_resolve(c, beside, NULL, 0, place, error, error_size) : -1;
    free(beside);
    if (code != 0) {
        store_place_free(place);
        memset(place, 0, sizeof *place);
        code = store_resolve(c, NULL, NULL, 0, place, error, error_size);
    }
    if (code != 0) {
        store_place_free(place);
        memset(place, 0, sizeof *place);
        code = place_of_loader(c, place, error, error_size);
    }
    return code;
}

bool verify_is_library(const char *path)
{
    cudnn_name n;
    bool mangled;

    return discover_is_cudnn(cli_base_name(path), &n, &mangled) && !n.is_dll && !n.is_static;
}

static bool is_same(const maps_file *f, const char *path)
{
    struct stat st;
    char *real = realpath(path, NULL);
    bool same = real && strcmp(real, f->path) == 0;

    /* Some file systems show other numbers in the map than stat does, so an equal path is enough. */
    if (!same && real && stat(real, &st) == 0)
        same = (uint64_t)st.st_ino == f->inode && ((uint64_t)major(st.st_dev) << 32) + minor(st.st_dev) == f->device;
    free(real);
    return same && !f->deleted;
}

bool verify_is_of(const maps_file *f, const char *folder)
{
    DIR *dir = opendir(folder);
    bool is = false;

    for (struct dirent *e; dir && !is && (e = readdir(dir)) != NULL;) {
        char *path = verify_is_library(e->d_name) ? tree_join(folder, e->d_name) : NULL;
        is = path && is_same(f, path);
        free(path);
    }
    if (dir)
        closedir(dir);
    return is;
}

int verify_read_maps(maps *m, const char *pid)
{
    char *path = cli_format("/proc/%s/maps", pid), *text;
    size_t size = 0;
    int code;

    memset(m, 0, sizeof *m);
    text = path ? tree_read("", path, 1 << 26, &size) : NULL;
    code = text ? maps_parse(m, text, size) : -1;
    free(path);
    free(text);
    return code;
}

/* Folder of a mapped file; the caller frees. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? strndup(path, (size_t)(slash - path)) : strdup("");
}

static const maps_file *main_library(const maps *m, int abi)
{
    for (size_t i = 0; i < m->count; i++) {
        cudnn_name n;
        bool mangled;
        if (discover_is_cudnn(cli_base_name(m->files[i].path), &n, &mangled) && !*n.part && !n.is_dll && (!abi || !n.count || n.numbers[0] == abi))
            return &m->files[i];
    }
    return NULL;
}

bool verify_judge_maps(verify *v, const maps *m, cJSON *list)
{
    const maps_file *library = main_library(m, v->place.file ? v->place.abi : 0);
    char *folder = v->place.lib ? strdup(v->place.lib) : library ? folder_of(library->path) : NULL;
    cJSON *strange = NULL;
    bool found = false;

    for (size_t i = 0; i < m->count; i++) {
        const maps_file *f = &m->files[i];
        bool of = folder && verify_is_of(f, folder);

        if (!verify_is_library(f->path))
            continue;
        cJSON_AddItemToArray(list, cJSON_CreateString(f->path));
        cli_say(v->c, "  loaded: %s%s\n", f->path, f->deleted ? " (deleted)" : "");
        found = found || (f == library && of);
        if (f->deleted)
            cli_where(verify_finding(v, CLI_WARNING, "deleted", "Parts that it opens later come from the new file, which mixes two builds. "
                                     "Start the program anew.", NULL, "The process still uses a copy of %s that was removed or replaced.",
                                     cli_base_name(f->path)), f->path);
        if (of || f->deleted)
            continue;
        if (!strange)
            strange = verify_finding(v, CLI_ERROR, "mixed-load",
                                     "The loader took it from another place: by LD_LIBRARY_PATH, a RUNPATH, or its cache (anydnn which). Parts of two "
                                     "builds end in undefined symbols (8.x) or SUBLIBRARY_VERSION_MISMATCH (9.x).",
                                     NULL, "The process has parts of cuDNN that are not those of %s.", folder ? folder : "the library");
        cli_where(strange, f->path);
    }
    free(folder);
    return found;
}
