/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Where cuDNN lies on machines: the loader's folders, CUDA toolkits, Python packages, conda, /opt, module systems, the user's home, our
 * own store, and the folders of the vendor's installers for Windows. The first rule that leads to a folder names it. */
#include "discover.h"
#include "ldcache.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_AT_MOST = 1 << 20, CACHE_AT_MOST = 64 << 20, HOMES_AT_MOST = 64, WALK_DEPTH = 9 };

const char *discover_env(const discover *d, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; d->env && d->env[i]; i++)
        if (strncmp(d->env[i], name, n) == 0 && d->env[i][n] == '=')
            return d->env[i] + n + 1;
    return *d->root ? NULL : getenv(name);
}

void discover_variable(discover *d, const char *name, void (*each)(discover *d, const char *path))
{
    const char *value = discover_env(d, name);
    size_t root = strlen(d->root), n;

    for (; value && *value; value += value[n] ? n + 1 : n) {
        char *item, *path;

        n = strcspn(value, ":;");
        item = calloc(1, n + 1);
        if (!item)
            return;
        memcpy(item, value, n);
        path = root && strncmp(item, d->root, root) == 0 && (item[root] == '/' || item[root] == 0) ? item + root : item;
        if (*path == '/')
            each(d, path);
        free(item);
    }
}

static void look_variable(discover *d, const char *path)
{
    discover_look(d, path, "variable", NULL);
}

static void look_conda(discover *d, const char *path)
{
    char *meta = tree_join(path, "conda-meta");

    if (meta && tree_look(d->root, meta, true).kind == TREE_DIR)
        discover_conda(d, path);
    free(meta);
}

static void look_venv(discover *d, const char *path)
{
    discover_prefix(d, path, "path");
}

/* A folder of PATH: where it is bin, its prefix may hold Python packages. */
static void look_bin(discover *d, const char *path)
{
    char *real = tree_real(d->root, path), *slash = real ? strrchr(real, '/') : NULL;

    if (slash && slash != real && strcmp(slash, "/bin") == 0) {
        *slash = 0;
        look_conda(d, real);
        discover_prefix(d, real, "path");
    }
    free(real);
}

/* Everything that matches dir/pattern, in order of name. */
static void each_match(discover *d, const char *dir, const char *pattern, void (*each)(discover *d, const char *path))
{
    tree_list list = tree_entries(d->root, dir, 100000);

    for (size_t i = 0; i < list.count; i++) {
        char *path = fnmatch(pattern, list.entries[i].name, 0) == 0 ? tree_join(dir, list.entries[i].name) : NULL;

        if (path)
            each(d, path);
        free(path);
    }
    tree_list_free(&list);
}

static void look_cache(discover *d)
{
    ldcache cache;
    ldcache_lib lib;
    size_t size = 0;
    char *data = tree_read(d->root, "/etc/ld.so.cache", CACHE_AT_MOST, &size);

    for (uint32_t i = 0; data && ldcache_parse(&cache, data, size) == 0 && i < cache.count; i++) {
        char *dir, *slash;

        if (!ldcache_entry(&cache, i, &lib) || strncmp(lib.name, "libcudnn", 8) != 0 || lib.path[0] != '/')
            continue;
        discover_names_add(&d->cached, lib.path);
        dir = strdup(lib.path);
        slash = dir ? strrchr(dir, '/') : NULL;
        if (slash && slash != dir)
            *slash = 0;
        if (dir)
            discover_look(d, dir, "cache", NULL);
        free(dir);
    }
    free(data);
}

static void read_conf(discover *d, const char *path);

static void conf_line(discover *d, char *line)
{
    char *end = line + strcspn(line, "#\r\n"), *slash;

    *end = 0;
    line += strspn(line, " \t");
    for (end = line + strlen(line); end > line && (end[-1] == ' ' || end[-1] == '\t'); end--)
        end[-1] = 0;
    if (strncmp(line, "include", 7) == 0 && (line[7] == ' ' || line[7] == '\t')) {
        char *pattern = line + 7 + strspn(line + 7, " \t");

        pattern = *pattern == '/' ? strdup(pattern) : tree_join("/etc", pattern);
        slash = pattern ? strrchr(pattern, '/') : NULL;
        if (slash) {
            *slash = 0;
            each_match(d, *pattern ? pattern : "/", slash + 1, read_conf);
        }
        free(pattern);
    } else if (*line == '/') {
        char *real = tree_real(d->root, line);

        if (real)
            discover_names_add(&d->conf, real);
        free(real);
    }
}

/* ldconfig(8): one folder a line, # starts a comment, include takes a pattern. A file that includes itself is read once. */
static void read_conf(discover *d, const char *path)
{
    char *text, *next;

    if (!discover_names_add(&d->seen, path))
        return;
    text = tree_read(d->root, path, TEXT_AT_MOST, NULL);
    for (char *line = text; line && *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        conf_line(d, line);
    }
    free(text);
}

void discover_conf(discover *d)
{
    read_conf(d, "/etc/ld.so.conf");
}

static void look_default(discover *d)
{
    static const char *const dirs[] = {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                       "/lib64", "/usr/lib64", "/lib", "/usr/lib"};

    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        discover_look(d, dirs[i], "default", NULL);
    discover_conf(d);
    for (size_t i = 0; i < d->conf.count; i++)
        discover_look(d, d->conf.items[i], "ld.so.conf", NULL);
}

static void look_cuda(discover *d, const char *path)
{
    static const char *const libs[] = {"lib64", "lib", "lib/x64", "bin", "bin/x64"};
    char *real = tree_real(d->root, path), *targets;

    if (!real || !discover_names_add(&d->cudas, real)) {
        free(real);
        return;
    }
    for (size_t i = 0; i < sizeof libs / sizeof *libs; i++) {
        char *lib = tree_join(real, libs[i]);

        if (lib)
            discover_look(d, lib, "cuda", NULL);
        free(lib);
    }
    targets = tree_join(real, "targets");
    if (targets)
        discover_walk(d, targets, 2, "cuda");
    free(targets);
    free(real);
}

static void walk_opt(discover *d, const char *path)
{
    discover_walk(d, path, WALK_DEPTH, "opt");
}

static void walk_store(discover *d, const char *path)
{
    discover_walk(d, path, 4, "store");
}

static void walk_short(discover *d, const char *path)
{
    discover_walk(d, path, 5, "path");
}

static void look_home(discover *d, const char *home)
{
    static const char *const condas[] = {"miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".conda", "Miniconda3", "Anaconda3"};
    static const char *const venvs[][2] = {{".virtualenvs", "*"}, {".pyenv/versions", "*"}, {".local/share/virtualenvs", "*"}, {".local/share/pipx/venvs", "*"},
                                           {".local/share/uv/python", "*"}, {".local/share/uv/tools", "*"}, {".", ".venv"}, {".", "venv"}, {".", ".local"},
                                           {"AppData/Local/Programs/Python", "*"}};
    static const char *const walks[][2] = {{".", "cudnn*"}, {".", "cuda*"}, {"Downloads", "cudnn*"}, {".local/easybuild/software", "cuDNN"},
                                           {".cupy", "cuda_lib"}};

    for (size_t i = 0; i < sizeof condas / sizeof *condas; i++) {
        char *path = tree_join(home, condas[i]), *envs = path ? tree_join(path, "envs") : NULL;

        if (path)
            look_conda(d, path);
        if (envs)
            each_match(d, envs, "*", look_conda);
        free(envs);
        free(path);
    }
    for (size_t i = 0; i < sizeof venvs / sizeof *venvs; i++) {
        char *path = tree_join(home, venvs[i][0]);

        if (path)
            each_match(d, path, venvs[i][1], look_venv);
        free(path);
    }
    for (size_t i = 0; i < sizeof walks / sizeof *walks; i++) {
        char *path = tree_join(home, walks[i][0]);

        if (path)
            each_match(d, path, walks[i][1], walk_short);
        free(path);
    }
}

static void look_homes(discover *d)
{
    discover_names homes = {NULL, 0};
    static const char *const above[] = {"/home", "/Users"};

    discover_variable(d, "HOME", look_home);
    look_home(d, "/root");
    for (size_t k = 0; k < sizeof above / sizeof *above; k++) {
        tree_list list = tree_entries(d->root, above[k], HOMES_AT_MOST);

        for (size_t i = 0; i < list.count; i++) {
            char *home = tree_join(above[k], list.entries[i].name);

            if (home && discover_names_add(&homes, home))
                look_home(d, home);
            free(home);
        }
        tree_list_free(&list);
    }
    for (size_t i = 0; i < homes.count; i++)
        free(homes.items[i]);
    free(homes.items);
}

/* Our store: PREFIX/opt/cudnn of /usr/local and of the user. */
static void look_stores(discover *d)
{
    const char *user = discover_env(d, "HOME");
    char *home = user ? tree_join(user, ".local/opt/cudnn") : NULL;

    walk_store(d, "/usr/local/opt/cudnn");
    walk_store(d, "/root/.local/opt/cudnn");
    if (home)
        walk_store(d, home);
    free(home);
}

static void look_windows(discover *d)
{
    each_match(d, "/Program Files/NVIDIA GPU Computing Toolkit/CUDA", "v*", look_cuda);
    discover_walk(d, "/Program Files/NVIDIA/CUDNN", 4, "path");
    discover_look(d, "/Windows/System32", "default", NULL);
    look_conda(d, "/ProgramData/Miniconda3");
    look_conda(d, "/ProgramData/Anaconda3");
    each_match(d, "/tools", "cud*", walk_short);
}

static void add_header_dir(discover *d, const char *path)
{
    if (tree_look(d->root, path, true).kind == TREE_DIR)
        discover_names_add(&d->headers, path);
}

/* The order of gcc and clang on Linux: the variables, /usr/local, the multiarch folder, /usr/include; CUDA's folder comes by -I, so last here. */
static void list_headers(discover *d)
{
    discover_variable(d, "CPATH", add_header_dir);
    discover_variable(d, "C_INCLUDE_PATH", add_header_dir);
    add_header_dir(d, "/usr/local/include");
    add_header_dir(d, "/usr/include/x86_64-linux-gnu");
    add_header_dir(d, "/usr/include/aarch64-linux-gnu");
    add_header_dir(d, "/usr/include");
    for (size_t i = 0; i < d->cudas.count; i++) {
        char *path = tree_join(d->cudas.items[i], "include");

        if (path)
            add_header_dir(d, path);
        free(path);
    }
}

void discover_places(discover *d)
{
    discover_variable(d, "LD_LIBRARY_PATH", look_variable);
    look_cache(d);
    look_default(d);
    discover_prefix(d, "/usr/local", "default");
    discover_prefix(d, "/usr", "default");
    each_match(d, "/usr/local", "cuda*", look_cuda);
    each_match(d, "/opt", "cuda*", look_cuda);
    look_stores(d);
    discover_variable(d, "CONDA_PREFIX", look_conda);
    discover_variable(d, "VIRTUAL_ENV", look_venv);
    discover_variable(d, "PATH", look_bin);
    look_homes(d);
    each_match(d, "/usr/local", "cudnn*", walk_short);
    each_match(d, "/usr/local", "*conda*", look_conda);
    walk_opt(d, "/opt");
    each_match(d, "/nix/store", "*cudnn*", walk_short);
    each_match(d, "/apps/software", "cuDNN", walk_short);
    look_windows(d);
    list_headers(d);
}
