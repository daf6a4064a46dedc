/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
#include "python_env.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_file(const which *w, const char *path)
{
    return path && tree_look(w->c->root, path, true).kind == TREE_FILE;
}

static bool is_dir(const which *w, const char *path)
{
    return path && tree_look(w->c->root, path, true).kind == TREE_DIR;
}

static char *parent(const char *path)
{
    const char *slash = strrchr(path, '/');

    return cli_format("%.*s", slash ? (int)(slash - path) : 0, path);
}

static char *find_in_dir(const which *w, const char *dir)
{
    static const char *const names[] = { "python3", "python" };

    for (int i = 0; i < 2; i++) {
        char *path = tree_join(dir, names[i]);

        if (is_file(w, path))
            return path;
        free(path);
    }
    return NULL;
}

static char *find_in_path(const which *w)
{
    const char *list = which_env(w, "PATH");
    char *found = NULL;

    for (const char *at = list ? list : "/usr/local/bin:/usr/bin:/bin"; !found;) {
        size_t n = strcspn(at, ":");
        char *dir = cli_format("%.*s", (int)n, at);

        if (dir && *dir == '/')
            found = find_in_dir(w, dir);
        free(dir);
        at += n;
        if (!*at++)
            break;
    }
    return found;
}

/* pyenv puts scripts on PATH; the version is in the variable or in the file "version" above the scripts. */
static char *behind_shim(const which *w, const char *path)
{
    char *shims = parent(path), *root = shims ? parent(shims) : NULL, *found = NULL;

    if (root && strlen(shims) > 6 && strcmp(shims + strlen(shims) - 6, "/shims") == 0) {
        char *file = tree_join(root, "version"), *text = file ? tree_read(w->c->root, file, 4096, NULL) : NULL;
        const char *version = which_env(w, "PYENV_VERSION");
        char *dir;

        if (text)
            text[strcspn(text, " \t\r\n:")] = 0;
        dir = cli_format("%s/versions/%s/bin", root, version ? version : text ? text : "");
        if (dir)
            found = find_in_dir(w, dir);
        free(dir);
        free(file);
        free(text);
    }
    free(shims);
    free(root);
    return found;
}

/* Value of "key = value" in pyvenv.cfg. */
static char *setting(const char *text, const char *key)
{
    for (const char *line = text; line && *line;) {
        size_t n = strcspn(line, "\n"), k = strlen(key);
        const char *at = line + k;

        if (strncmp(line, key, k) == 0 && (*at == ' ' || *at == '=')) {
            at += strspn(at, " =");
            return cli_format("%.*s", (int)strcspn(at, "\r\n"), at);
        }
        line += n + (line[n] != 0);
    }
    return NULL;
}

static void add_dir(python_env *e, const which *w, ld_strings *list, char *path)
{
    if (is_dir(w, path) && !ld_strings_have(list, path))
        ld_strings_add(list, path);
    free(path);
    (void)e;
}

/* Package folders below PREFIX/lib and PREFIX/lib64: of the version in the program's name, or of all where it has none. */
static void add_sites(python_env *e, const which *w, const char *prefix, const char *version)
{
    static const char *const libs[] = { "lib", "lib64", "local/lib" };

    for (size_t i = 0; prefix && i < sizeof libs / sizeof *libs; i++) {
        char *lib = tree_join(prefix, libs[i]);
        tree_list list = { NULL, 0 };

        if (lib)
            list = tree_entries(w->c->root, lib, 65536);
        for (size_t k = 0; k < list.count; k++) {
            const char *name = list.entries[k].name;

            if (strncmp(name, "python3", 7) != 0 || (*version && name[7] && strcmp(name, version) != 0))
                continue;
            add_dir(e, w, &e->sites, cli_format("%s/%s/site-packages", lib, name));
            add_dir(e, w, &e->sites, cli_format("%s/%s/dist-packages", lib, name));
        }
        tree_list_free(&list);
        free(lib);
    }
}

static void add_python_path(python_env *e, const which *w)
{
    const char *list = which_env(w, "PYTHONPATH");

    while (list && *list) {
        size_t n = strcspn(list, ":");

        if (n > 0)
            add_dir(e, w, &e->sites, cli_format("%.*s", (int)n, list));
        list += n + (list[n] != 0);
    }
}

static void set_environment(python_env *e, const which *w, const char *program)
{
    char *bin = parent(program), *real_bin = parent(e->program), *config, *text, *home = NULL, *system = NULL, *meta;
    const char *base = strrchr(e->program, '/') + 1, *user = which_env(w, "HOME");
    const char *version = strncmp(base, "python3.", 8) == 0 ? base : "";

    e->prefix = bin ? parent(bin) : NULL;
    config = e->prefix ? tree_join(e->prefix, "pyvenv.cfg") : NULL;
    text = config ? tree_read(w->c->root, config, 65536, NULL) : NULL;
    e->venv = text != NULL;
    home = setting(text, "home");
    system = setting(text, "include-system-site-packages");
    if (!e->venv && e->prefix && real_bin) { /* a link from elsewhere: the prefix is the real program's */
        free(e->prefix);
        e->prefix = parent(real_bin);
    }
    add_python_path(e, w);
    if (user && (!e->venv || (system && strcmp(system, "true") == 0)) && !which_env(w, "PYTHONNOUSERSITE")) {
        char *local = tree_join(user, ".local");

        add_sites(e, w, local, version);
        free(local);
    }
    if (e->prefix && !*e->prefix) {
        free(e->prefix);
        e->prefix = strdup("/");
    }
    add_sites(e, w, e->prefix, e->venv ? "" : version);
    if (home && system && strcmp(system, "true") == 0) {
        char *base_prefix = parent(home);

        add_sites(e, w, base_prefix, version);
        free(base_prefix);
    }
    if (e->prefix && strcmp(e->prefix, "/usr") == 0)
        add_sites(e, w, "/usr/local", version);
    meta = e->prefix ? tree_join(e->prefix, "conda-meta") : NULL;
    e->conda = is_dir(w, meta);
    free(meta);
    free(bin);
    free(real_bin);
    free(config);
    free(text);
    free(home);
    free(system);
}

static void set_library_dirs(python_env *e, const which *w)
{
    static const char *const places[] = { "nvidia/cudnn/lib", "torch/lib", "tensorflow", "nvidia/cu13/lib" };

    if (e->conda)
        add_dir(e, w, &e->library_dirs, tree_join(e->prefix, "lib"));
    for (size_t s = 0; s < e->sites.count; s++)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            add_dir(e, w, &e->library_dirs, tree_join(e->sites.at[s], places[i]));
}

int python_env_read(python_env *e, const which *w, char *error, size_t error_size)
{
    char *given = w->python ? (*w->python == '/' ? strdup(w->python) : tree_join(w->set.cwd, w->python)) : NULL, *program, *shim, *bin,
         *interpreter = NULL;
    unsigned elf_class, machine;

    memset(e, 0, sizeof *e);
    bin = given ? tree_join(given, "bin") : NULL;
    program = !given ? find_in_path(w) : is_dir(w, given) ? (is_dir(w, bin) ? find_in_dir(w, bin) : NULL) : strdup(given);
    shim = program ? behind_shim(w, program) : NULL;
    if (shim) {
        free(program);
        program = shim;
    }
    e->program = program ? tree_real(w->c->root, program) : NULL;
    if (e->program && ld_program_kind(w->c->root, e->program, &elf_class, &machine, &interpreter) != 0) {
        snprintf(error, error_size, "%s is no ELF program: give the real Python with --python", e->program);
    } else if (!e->program) {
        snprintf(error, error_size, given ? "there is no Python at %s" : "there is no python3 on PATH%s", given ? given : "");
    } else {
        set_environment(e, w, program);
        set_library_dirs(e, w);
    }
    free(interpreter);
    free(given);
    free(bin);
    free(program);
    return *error ? -1 : 0;
}

void python_env_free(python_env *e)
{
    free(e->program);
    free(e->prefix);
    ld_strings_free(&e->sites);
    ld_strings_free(&e->library_dirs);
}
