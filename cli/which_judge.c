/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What is wrong with a set of cuDNN libraries in one process, though each of them was found: parts of two builds, and symbols that one part
 * asks of another that does not have them. */
#include "which.h"
#include "elf.h"
#include "file.h"
#include "inspect.h"
#include "tree.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 64 };

typedef struct part {
    const ld_object *object;
    cli_file file;
    char *dir;
} part;

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return cli_format("%.*s", slash ? (int)(slash - path) : 0, path);
}

static size_t collect(const ld_process *p, part *parts)
{
    size_t count = 0;

    for (size_t i = 0; i < p->object_count && count < PARTS_MAX; i++) {
        ld_object *o = p->objects[i];
        char *host;

        if (o->is_program || o->is_interpreter || !o->real || !which_is_cudnn(o->soname ? o->soname : o->path))
            continue;
        host = tree_host(p->set.root, o->path);
        parts[count].object = o;
        parts[count].dir = folder_of(o->real);
        memset(&parts[count].file, 0, sizeof parts[count].file);
        if (host)
            cli_file_inspect(host, &parts[count].file);
        free(host);
        count++;
    }
    return count;
}

static void describe(cJSON *where, const part *x)
{
    char text[32], *line;

    cli_version_text(x->file.version, text);
    line = cli_format("%s%s%s%s", x->object->path, *text ? " (" : "", text, *text ? ")" : "");
    cli_where(where, line);
    free(line);
}

/* Parts of one ABI from two folders, or of two versions. Two ABIs in one process are no mix: their names differ. */
static void judge_mix(which *w, const part *parts, size_t count, int abi)
{
    const part *first = NULL;
    bool versions = false, dirs = false;
    cJSON *where;

    for (size_t i = 0; i < count; i++) {
        if (parts[i].file.abi != abi)
            continue;
        if (!first || !*parts[i].file.part) /* libcudnn itself is what the others are held against */
            first = &parts[i];
    }
    for (size_t i = 0; first && i < count; i++) {
        if (parts[i].file.abi != abi)
            continue;
        versions = versions || (parts[i].file.version && first->file.version && parts[i].file.version != first->file.version);
        dirs = dirs || strcmp(parts[i].dir, first->dir) != 0;
    }
    if (!versions && !dirs)
        return;
    char *fix = cli_format("export LD_LIBRARY_PATH=%s", first->dir);
    where = cli_finding(&w->report, versions ? CLI_ERROR : CLI_WARNING, "mixed-load",
                        versions ? "The process gets parts of cuDNN of different versions."
                                 : "The process gets parts of cuDNN from different directories.",
                        "libcudnn opens its parts by name, with its own search path and not with that of the program, so another copy can "
                        "come first. Parts of two builds give "
                        "undefined symbols (8.x) or CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH (9.x); cudnnGetVersion does not show it.",
                        fix);
    for (size_t i = 0; i < count; i++)
        if (parts[i].file.abi == abi)
            describe(where, &parts[i]);
    free(fix);
}

static int open_elf(const ld_process *p, const ld_object *o, elf_file *f)
{
    char *host = tree_host(p->set.root, o->path);
    int bad = !host || elf_open(f, host) != 0;

    if (bad && host)
        elf_close(f);
    free(host);
    return bad ? -1 : 0;
}

static const part *provider_of(const part *parts, size_t count, const char *version)
{
    for (size_t i = 0; i < count; i++)
        if (parts[i].object->soname && strcmp(parts[i].object->soname, version) == 0)
            return &parts[i];
    return NULL;
}

static bool exports(const elf_file *f, const char *name, const char *version)
{
    elf_symbol s;

    for (size_t i = 0; i < elf_symbol_count(f); i++)
        if (elf_symbol_at(f, i, &s) == 0 && s.defined && strcmp(s.name, name) == 0 && strcmp(s.version, version) == 0)
            return true;
    return false;
}

/* A version node of cuDNN is named like the library that defines it. One finding for each pair of files, with the first symbol. */
static void judge_symbols(which *w, const ld_process *p, const part *parts, size_t count, const part *user)
{
    const part *said = NULL;
    elf_file f, from;
    elf_symbol s;

    memset(&f, 0, sizeof f);
    if (open_elf(p, user->object, &f) != 0)
        return;
    for (size_t i = 0; i < elf_symbol_count(&f); i++) {
        const part *provider = elf_symbol_at(&f, i, &s) == 0 && !s.defined && *s.version ? provider_of(parts, count, s.version) : NULL;

        if (!provider || provider == said || provider == user)
            continue;
        memset(&from, 0, sizeof from);
        if (open_elf(p, provider->object, &from) != 0)
            continue;
        if (!exports(&from, s.name, s.version)) {
            char *what = cli_format("%s needs the symbol %s of %s, which %s does not have.", user->object->path, s.name, s.version,
                                    provider->object->path);
            char *why = cli_format("The two are of different builds. The loader ends the program with \"symbol %s version %s not defined "
                                   "in file %s with link time reference\".",
                                   s.name, s.version, s.version);
            char *fix = cli_format("export LD_LIBRARY_PATH=%s", user->dir);
            cJSON *where = cli_finding(&w->report, CLI_ERROR, "undefined-symbol", what, why, fix);

            describe(where, user);
            describe(where, provider);
            free(what);
            free(why);
            free(fix);
            said = provider;
        }
        elf_close(&from);
    }
    elf_close(&f);
}

/* The function of cuDNN is defined in one of these open files, under whatever version node. */
static bool is_defined(const elf_file *files, size_t count, const char *name)
{
    elf_symbol s;

    for (size_t i = 0; i < count; i++)
        if (elf_symbol_named(&files[i], name, &s) == 0)
            return true;
    return false;
}

/* A program or library that was built with other headers asks for functions that the cuDNN it gets does not have. */
static void judge_user(which *w, const ld_process *p, const ld_object *user, const part *library, const elf_file *files, size_t count)
{
    inspect_words missing = {.text = ""};
    elf_file f;
    elf_symbol s;

    memset(&f, 0, sizeof f);
    if (open_elf(p, user, &f) != 0)
        return;
    for (size_t i = 0; i < elf_symbol_count(&f); i++)
        if (elf_symbol_at(&f, i, &s) == 0 && !s.defined && strncmp(s.name, "cudnn", 5) == 0 && s.name[5] >= 'A' && s.name[5] <= 'Z' &&
            !is_defined(files, count, s.name))
            inspect_word(&missing, s.name);
    elf_close(&f);
    if (missing.count) {
        char *what = cli_format("%s needs %s, which %s does not have.", user->path, missing.text, library->object->path);
        cJSON *where = cli_finding(&w->report, CLI_ERROR, "undefined-symbol", what,
                                   "It was built with the headers of another version. It ends with \"undefined symbol\", when it starts or at the first call.",
                                   "install the cuDNN that it was built for, or build it again with the headers of this one");

        cli_where(where, user->path);
        describe(where, library);
        free(what);
    }
}

/* Everything in the process that is no part of cuDNN and no C library, against all parts that were found. */
static void judge_users(which *w, const ld_process *p, const part *parts, size_t count)
{
    static elf_file files[PARTS_MAX];
    const part *library = NULL;
    size_t open = 0;

    memset(files, 0, sizeof files);
    for (size_t i = 0; i < count; i++) {
        library = !library && !*parts[i].file.part ? &parts[i] : library;
        open += open_elf(p, parts[i].object, &files[open]) == 0;
    }
    for (size_t i = 0; library && i < p->object_count; i++)
        if (!p->objects[i]->is_interpreter && !which_is_cudnn(p->objects[i]->soname ? p->objects[i]->soname : p->objects[i]->path))
            judge_user(w, p, p->objects[i], library, files, open);
    while (open > 0)
        elf_close(&files[--open]);
}

void which_judge(which *w, const ld_process *p)
{
    static part parts[PARTS_MAX];
    size_t count = collect(p, parts);

    for (int abi = 8; abi <= 9; abi++)
        judge_mix(w, parts, count, abi);
    for (size_t i = 0; i < count; i++)
        judge_symbols(w, p, parts, count, &parts[i]);
    judge_users(w, p, parts, count);
    for (size_t i = 0; i < count; i++) {
        cli_file_free(&parts[i].file);
        free(parts[i].dir);
    }
}
