/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What inspect's rules cannot know of one copy: whether its files fit this machine, whether it can be used at all, and which of its files
 * should be links. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Folders of a cross toolkit hold files for other machines on purpose. */
static bool is_cross(const char *path)
{
    return strstr(path, "/targets/") || strstr(path, "aarch64") || strstr(path, "sbsa") || strstr(path, "ppc64le") || strstr(path, "i386");
}

/* Processor of the machine: that of its shell; NULL in a tree without one. The caller frees. */
static char *machine_arch(check *k)
{
    char *host = tree_host(k->c->root, "/bin/sh"), *arch = NULL;
    cli_file shell;

    if (host) {
        cli_file_inspect(host, &shell);
        if (shell.kind == FILE_ELF && shell.arch)
            arch = cli_format("%s", shell.arch);
        cli_file_free(&shell);
    }
    free(host);
    return arch;
}

/* inspect's rules name a file that is of another kind than its folder; here the whole copy is held against the machine. */
static void judge_arch(check *k, const check_copy *copy, const char *machine)
{
    if (copy->arch && strcmp(copy->arch, machine) != 0)
        check_finding(k, CLI_ERROR, "wrong-machine", cli_format("the cuDNN in %s is for %s; this machine is %s", copy->dir->path, copy->arch, machine),
                      "the loader passes such files over, or answers \"wrong ELF class\" or \"cannot open shared object file\"",
                      cli_format("install the package for %s in its place", machine), copy->dir->path);
}

static const check_file *file_named(const check_copy *copy, const char *part, const char *name)
{
    for (size_t i = 0; i < copy->count; i++)
        if (strcmp(copy->files[i].name->parts.part, part) == 0 && (copy->is_dll || strcmp(copy->files[i].name->name, name) == 0) && copy->files[i].file)
            return &copy->files[i];
    return NULL;
}

/* Every part is there under the name that programs ask for, readable, and of the copy's version. */
static bool is_complete(const check_copy *copy)
{
    const char *const *parts = cli_sublibraries(copy->version);
    char name[80];

    if (!copy->version)
        return false;
    for (size_t i = 0; parts && parts[i]; i++) {
        const check_file *f;

        cli_library_name(parts[i], copy->abi, copy->is_dll, name, sizeof name);
        f = file_named(copy, parts[i], name);
        if (i > 0 && !f && copy->is_ours)
            continue;
        if (!f || f->file->truncated || f->file->damaged || (f->file->kind != FILE_ELF && f->file->kind != FILE_PE))
            return false;
        if (check_shows_version(f->file) && f->file->version != copy->version)
            return false;
    }
    return true;
}

bool check_shows_version(const cli_file *file)
{
    return file && file->version && file->version_how >= HOW_NAME && file->version_how != HOW_NEIGHBOUR;
}

static bool same_build(const cli_file *a, const cli_file *b)
{
    return a && b && a->size && a->size == b->size && a->build_id_size == b->build_id_size && memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

const check_file *check_twin(const check_copy *copy, size_t i)
{
    const check_file *a = &copy->files[i], *best = NULL;

    for (size_t j = 0; j < copy->count && !copy->is_dll && !a->name->link && !a->name->mangled; j++) {
        const check_file *b = &copy->files[j];

        /* The name with the most numbers keeps the bytes: libcudnn.so.8.9.7. */
        if (b->name->link || strcmp(a->name->parts.part, b->name->parts.part) != 0 || strlen(b->name->name) <= strlen(a->name->name) ||
            !same_build(a->file, b->file) || (a->name->look.device == b->name->look.device && a->name->look.inode == b->name->look.inode))
            continue;
        if (!best || strlen(b->name->name) > strlen(best->name->name))
            best = b;
    }
    return best;
}

void check_files(check *k)
{
    char *machine = machine_arch(k);

    for (size_t i = 0; i < k->copy_count; i++) {
        check_copy *copy = &k->copies[i];

        copy->is_complete = copy->count && !copy->files[0].name->mangled && is_complete(copy);
        cJSON_AddBoolToObject(copy->json, "complete", copy->is_complete);
        if (machine && !copy->is_dll && !is_cross(copy->dir->path))
            judge_arch(k, copy, machine);
    }
    free(machine);
}
