/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * How to look: names, folders, walks. Where to look is in discover_places.c. */
#include "discover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_AT_MOST = 4000000, NAMES_IN_A_FOLDER = 1000000 };

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

static void put(char *to, size_t size, const char *from, size_t n)
{
    if (n >= size)
        n = size - 1;
    memcpy(to, from, n);
    to[n] = 0;
}

bool discover_is_cudnn(const char *name, cudnn_name *out, bool *mangled)
{
    const char *dash = strchr(name, '-'), *so = dash ? strstr(dash, ".so") : NULL;
    char plain[128];

    *mangled = so && strncmp(name, "libcudnn", 8) == 0 && strlen(name) < sizeof plain;
    if (*mangled) {
        snprintf(plain, sizeof plain, "%.*s%s", (int)(dash - name), name, so);
        name = plain;
    }
    return cli_cudnn_name(name, out) && strcmp(out->part, "frontend") != 0;
}

bool discover_names_add(discover_names *names, const char *text)
{
    char **grown;

    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], text) == 0)
            return false;
    grown = realloc(names->items, (names->count + 1) * sizeof *grown);
    if (!grown)
        return false;
    names->items = grown;
    names->items[names->count] = strdup(text);
    if (!names->items[names->count])
        return false;
    names->count++;
    return true;
}

static void names_free(discover_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (discover_names){NULL, 0};
}

static discover_dir *dir_known(const discover *d, const char *real)
{
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->dirs[i].path, real) == 0)
            return &d->dirs[i];
    return NULL;
}

/* A folder that another rule led to first still belongs to the packages or the environment around it. */
static void adopt(discover_dir *dir, const char *rule, const char *base)
{
    if (!dir || dir->base || !base)
        return;
    dir->base = strdup(base);
    dir->in_conda = strcmp(rule, "conda") == 0;
}

static discover_dir *add_dir(discover *d, const char *real, const char *seen_as, const char *rule, const char *base)
{
    discover_dir *grown = realloc(d->dirs, (d->count + 1) * sizeof *grown);

    if (!grown)
        return NULL;
    d->dirs = grown;
    grown += d->count++;
    *grown = (discover_dir){.path = strdup(real), .seen_as = strdup(seen_as), .rule = rule};
    adopt(grown, rule, base);
    return grown;
}

static void add_file(const discover *d, discover_dir *dir, const tree_entry *entry, const cudnn_name *parts, bool mangled)
{
    discover_file *file, *grown = realloc(dir->files, (dir->count + 1) * sizeof *grown);
    char *path = tree_join(dir->path, entry->name);

    if (!grown || !path) {
        free(path);
        return;
    }
    dir->files = grown;
    file = grown + dir->count++;
    *file = (discover_file){.name = strdup(entry->name), .parts = *parts, .mangled = mangled, .link = tree_link(d->root, path)};
    file->real = tree_real(d->root, path);
    if (file->real)
        file->look = tree_look(d->root, file->real, false);
    free(path);
}

/* Adds the files of cuDNN among the names of a folder, unless that was done before. */
static void take(discover *d, const char *path, const tree_list *list, const char *rule, const char *base)
{
    discover_dir *dir = NULL;
    char *real = NULL;

    for (size_t i = 0; i < list->count; i++) {
        const tree_entry *entry = &list->entries[i];
        cudnn_name parts;
        bool mangled;

        if (!discover_is_cudnn(entry->name, &parts, &mangled) || tree_entry_kind(d->root, path, entry) == TREE_DIR)
            continue;
        if (!dir) {
            real = tree_real(d->root, path);
            if (!real || dir_known(d, real)) {
                adopt(real ? dir_known(d, real) : NULL, rule, base);
                break;
            }
            dir = add_dir(d, real, path, rule, base);
            if (!dir)
                break;
        }
        add_file(d, dir, entry, &parts, mangled);
    }
    free(real);
}

static tree_list entries(discover *d, const char *path)
{
    size_t limit = d->budget < NAMES_IN_A_FOLDER ? d->budget : NAMES_IN_A_FOLDER;
    tree_list list = tree_entries(d->root, path, limit);

    d->budget -= list.count;
    if (d->budget == 0)
        d->stopped = true;
    return list;
}

void discover_look(discover *d, const char *path, const char *rule, const char *base)
{
    char *real = tree_real(d->root, path);

    if (real && discover_names_add(&d->seen, real)) {
        tree_list list = entries(d, path);

        take(d, path, &list, rule, base);
        tree_list_free(&list);
    } else if (real) {
        adopt(dir_known(d, real), rule, base);
    }
    free(real);
}

/* Folders in which no library lies that a program would load: texts, sources, unpacked package caches. */
static bool is_skipped(const char *name)
{
    static const char *const names[] = {"node_modules", "share", "doc", "docs", "man", "include", "__pycache__", "pkgs", "proc", "sys",
                                        "nsight-systems", "nsight-compute", "samples"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return name[0] == '.' && strcmp(name, ".venv") != 0;
}

static bool has(const tree_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].name, name) == 0)
            return true;
    return false;
}

static void walk_entry(discover *d, const char *path, const tree_entry *entry, int depth, const char *rule)
{
    char *below;

    /* Only folders, not links to folders: a walk that follows links may never end. */
    if (is_skipped(entry->name) || entry->kind == TREE_FILE || entry->kind == TREE_LINK || entry->kind == TREE_OTHER)
        return;
    below = tree_join(path, entry->name);
    if (!below)
        return;
    if (strcmp(entry->name, "site-packages") == 0 || strcmp(entry->name, "dist-packages") == 0)
        discover_site(d, below);
    else if (entry->kind == TREE_DIR || tree_look(d->root, below, false).kind == TREE_DIR)
        discover_walk(d, below, depth - 1, rule);
    free(below);
}

void discover_walk(discover *d, const char *path, int depth, const char *rule)
{
    tree_list list;
    bool is_env;

    if (depth < 0 || d->budget == 0)
        return;
    list = entries(d, path);
    take(d, path, &list, rule, NULL);
    is_env = has(&list, "conda-meta");
    if (is_env)
        discover_conda(d, path);
    for (size_t i = 0; !is_env && i < list.count; i++)
        walk_entry(d, path, &list.entries[i], depth, rule);
    tree_list_free(&list);
}

/* One package of a site-packages folder: the folder itself and those below it that packages use for libraries. */
static void look_package(discover *d, const char *site, const char *name)
{
    static const char *const inside[] = {"lib", "libs", "bin", "bin/x64", "capi", ".data/lib"};
    char *path = tree_join(site, name), *below;
    tree_list list;

    if (!path)
        return;
    list = entries(d, path);
    take(d, path, &list, "wheel", site);
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        char first[16];

        put(first, sizeof first, inside[i], strcspn(inside[i], "/"));
        if (!has(&list, first))
            continue;
        below = tree_join(path, inside[i]);
        if (below)
            discover_look(d, below, "wheel", site);
        free(below);
    }
    tree_list_free(&list);
    free(path);
}

void discover_site(discover *d, const char *path)
{
    char *real = tree_real(d->root, path);
    tree_list list = {NULL, 0};

    if (real && discover_names_add(&d->sites, real))
        list = entries(d, real);
    for (size_t i = 0; i < list.count; i++) {
        const char *name = list.entries[i].name;
        tree_kind kind = tree_entry_kind(d->root, real, &list.entries[i]);

        if (kind != TREE_DIR || ends_with(name, ".dist-info") || ends_with(name, ".egg-info") || strcmp(name, "__pycache__") == 0)
            continue;
        look_package(d, real, name);
        if (strcmp(name, "nvidia") == 0)
            look_package(d, real, "nvidia/cudnn");
    }
    tree_list_free(&list);
    free(real);
}

/* python3.N folders of a lib folder: their site-packages. */
static void look_pythons(discover *d, const char *lib)
{
    tree_list list = entries(d, lib);

    for (size_t i = 0; i < list.count; i++) {
        char *python, *site;

        if (strncmp(list.entries[i].name, "python", 6) != 0)
            continue;
        python = tree_join(lib, list.entries[i].name);
        for (int k = 0; python && k < 2; k++) {
            site = tree_join(python, k ? "dist-packages" : "site-packages");
            if (site && tree_look(d->root, site, true).kind == TREE_DIR)
                discover_site(d, site);
            free(site);
        }
        free(python);
    }
    tree_list_free(&list);
}

/* A prefix with lib, as a virtual environment, a conda environment or /usr/local. */
static void look_prefix(discover *d, const char *prefix, const char *rule, bool is_base)
{
    static const char *const libs[] = {"lib", "lib64", "Library/bin", "Lib"};

    for (size_t i = 0; i < sizeof libs / sizeof *libs; i++) {
        char *lib = tree_join(prefix, libs[i]), *site = lib ? tree_join(lib, "site-packages") : NULL;

        if (lib) {
            discover_look(d, lib, rule, is_base ? prefix : NULL);
            look_pythons(d, lib);
        }
        if (site && tree_look(d->root, site, true).kind == TREE_DIR)
            discover_site(d, site);
        free(site);
        free(lib);
    }
}

void discover_prefix(discover *d, const char *prefix, const char *rule)
{
    look_prefix(d, prefix, rule, false);
}

void discover_conda(discover *d, const char *path)
{
    char *real = tree_real(d->root, path), *envs = NULL;
    tree_list list = {NULL, 0};

    if (real && discover_names_add(&d->condas, real)) {
        look_prefix(d, real, "conda", true);
        envs = tree_join(real, "envs");
        list = tree_entries(d->root, envs ? envs : "", 10000);
    }
    for (size_t i = 0; i < list.count; i++) {
        char *env = tree_join(envs, list.entries[i].name), *meta = env ? tree_join(env, "conda-meta") : NULL;

        if (meta && tree_look(d->root, meta, true).kind == TREE_DIR)
            discover_conda(d, env);
        free(meta);
        free(env);
    }
    tree_list_free(&list);
    free(envs);
    free(real);
}

void discover_run(discover *d, const char *root, const char *const *env)
{
    *d = (discover){.root = root, .env = env, .budget = NAMES_AT_MOST};
    discover_places(d);
}

void discover_free(discover *d)
{
    for (size_t i = 0; i < d->count; i++) {
        discover_dir *dir = &d->dirs[i];

        for (size_t k = 0; k < dir->count; k++) {
            free(dir->files[k].name);
            free(dir->files[k].link);
            free(dir->files[k].real);
        }
        free(dir->files);
        free(dir->path);
        free(dir->seen_as);
        free(dir->base);
    }
    free(d->dirs);
    names_free(&d->seen);
    names_free(&d->sites);
    names_free(&d->condas);
    names_free(&d->cudas);
    names_free(&d->cached);
    names_free(&d->conf);
    names_free(&d->headers);
    *d = (discover){.root = NULL};
}
