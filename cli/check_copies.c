/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * From folders to copies: what each file is, which of them belong together, the version, CUDA and processor of a copy. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cJSON *check_finding(check *k, cli_severity severity, const char *id, char *what, const char *why, char *fix, const char *where)
{
    cJSON *list = cli_finding(&k->report, severity, id, what, why, fix);

    if (where)
        cli_where(list, where);
    free(what);
    free(fix);
    return list;
}

char *check_host(const check *k, const char *path)
{
    return *k->c->root ? tree_join(k->c->root, path) : cli_format("%s", path);
}

static void add_headers(check *k, const discover_dir *dir, const char *step, inspect_list *list)
{
    static const char *const names[] = {"cudnn.h", "cudnn_version.h", "cudnn_v9.h", "cudnn_version_v9.h", "cudnn_v8.h", "cudnn_version_v8.h"};
    char *path = tree_join(dir->path, step), *real = path ? tree_real(k->c->root, path) : NULL;

    for (size_t i = 0; real && i < sizeof names / sizeof *names; i++) {
        char *header = tree_join(real, names[i]);

        if (header && !inspect_find(list, real, names[i]) && tree_look(k->c->root, header, true).kind == TREE_FILE)
            inspect_add_path(k->c, header, false, list);
        free(header);
    }
    free(real);
    free(path);
}

/* The folder's files, what Windows libraries need beside them, and the headers that go with them: what inspect's rules want to see. */
static void look_into(check *k, const discover_dir *dir, inspect_list *list)
{
    static const char *const beside[] = {"zlibwapi.dll"};
    static const char *const includes[] = {"../include", "../../include", "../../include/x86_64-linux-gnu", "../../include/aarch64-linux-gnu"};
    bool dll = false;

    for (size_t i = 0; i < dir->count; i++) {
        char *path = tree_join(dir->path, dir->files[i].name);

        dll = dll || dir->files[i].parts.is_dll;
        if (path)
            inspect_add_path(k->c, path, true, list);
        free(path);
    }
    for (size_t i = 0; dll && i < sizeof beside / sizeof *beside; i++) {
        char *path = tree_join(dir->path, beside[i]);

        if (path && tree_look(k->c->root, path, true).kind == TREE_FILE)
            inspect_add_path(k->c, path, false, list);
        free(path);
    }
    for (size_t i = 0; i < sizeof includes / sizeof *includes; i++)
        add_headers(k, dir, includes[i], list);
    list->walked = true;
}

/* ABI of a name: its first number, else that of what it leads to. */
static int abi_of(const discover_file *name, const cli_file *file)
{
    cudnn_name parts;
    bool mangled;

    if (name->parts.count > 0)
        return name->parts.numbers[0];
    if (file && file->abi)
        return file->abi;
    if (name->real && discover_is_cudnn(cli_base_name(name->real), &parts, &mangled) && parts.count > 0)
        return parts.numbers[0];
    return name->link && discover_is_cudnn(cli_base_name(name->link), &parts, &mangled) && parts.count > 0 ? parts.numbers[0] : 0;
}

static check_copy *copy_for(check *k, const discover_dir *dir, int abi, bool is_dll)
{
    check_copy *grown;

    for (size_t i = 0; i < k->copy_count; i++)
        if (k->copies[i].dir == dir && k->copies[i].is_dll == is_dll && (k->copies[i].abi == abi || abi == 0))
            return &k->copies[i];
    grown = realloc(k->copies, (k->copy_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    k->copies = grown;
    grown[k->copy_count] = (check_copy){.dir = dir, .abi = abi, .is_dll = is_dll};
    return &grown[k->copy_count++];
}

static void add_file(check_copy *copy, const discover_file *name, const cli_file *file)
{
    check_file *grown = copy ? realloc(copy->files, (copy->count + 1) * sizeof *grown) : NULL;

    if (!grown)
        return;
    copy->files = grown;
    grown[copy->count++] = (check_file){.name = name, .file = file};
}

/* Names with a number first: a bare name that leads nowhere then joins the copy beside it. */
static void group(check *k)
{
    for (int bare = 0; bare < 2; bare++)
        for (size_t i = 0; i < k->found.count; i++)
            for (size_t j = 0; j < k->found.dirs[i].count; j++) {
                const discover_file *name = &k->found.dirs[i].files[j];
                const inspect_entry *e = inspect_find(&k->lists[i], k->found.dirs[i].path, name->name);
                const cli_file *file = e && name->real ? &e->file : NULL;

                if (!name->parts.is_static && !name->parts.is_import && (name->parts.count == 0) == (bare == 1))
                    add_file(copy_for(k, &k->found.dirs[i], abi_of(name, file), name->parts.is_dll), name, file);
            }
}

/* libcudnn's own version, else the one that most parts have. */
static void set_version(check_copy *copy)
{
    size_t best = 0;

    for (size_t i = 0; i < copy->count; i++) {
        size_t votes = 0;

        if (!check_shows_version(copy->files[i].file))
            continue;
        for (size_t j = 0; j < copy->count; j++)
            votes += check_shows_version(copy->files[j].file) && copy->files[j].file->version == copy->files[i].file->version;
        if (!*copy->files[i].name->parts.part && copy->files[i].file->version_how > HOW_CODE)
            votes += copy->count;
        if (votes > best) {
            best = votes;
            copy->version = copy->files[i].file->version;
        }
    }
    for (size_t i = 0; i < copy->count && !copy->version; i++)
        if (copy->files[i].file && copy->files[i].file->version)
            copy->version = copy->files[i].file->version;
}

/* File names do not tell the CUDA major; packages do (nvidia-cudnn-cu12, 8.9.7.29-1+cuda12.2, 8.9.7.29-1.cuda12.2), and so
 * does the Windows installer's bin/12.9. */
static int cuda_of_place(const check_copy *copy)
{
    const char *last = cli_base_name(copy->dir->path), *text = copy->owner ? strstr(copy->owner->package, "-cu") : NULL;

    if (copy->owner && !text && copy->owner->version)
        text = strstr(copy->owner->version, "cuda");
    if (text) {
        text += strcspn(text, "0123456789");
        return (int)strtol(text, NULL, 10);
    }
    return strstr(copy->dir->path, "/bin/") && strchr(last, '.') && last[strspn(last, "0123456789.")] == 0 ? (int)strtol(last, NULL, 10) : 0;
}

static void set_facts(check *k, check_copy *copy)
{
    size_t best = 0;

    set_version(copy);
    for (size_t i = 0; i < copy->count; i++) {
        const cli_file *file = copy->files[i].file;
        size_t votes = 0;

        copy->is_ours = copy->is_ours || (file && file->is_ours);
        if (file && file->cuda && !copy->cuda)
            copy->cuda = file->cuda;
        for (size_t j = 0; file && file->arch && j < copy->count; j++)
            votes += copy->files[j].file && copy->files[j].file->arch && strcmp(copy->files[j].file->arch, file->arch) == 0;
        if (votes > best) {
            best = votes;
            copy->arch = file->arch;
        }
        if (copy->files[i].name->real && (!copy->owner || !*copy->files[i].name->parts.part)) {
            const owner *who = owner_of(&k->owners, copy->dir, copy->files[i].name->real);

            copy->owner = who ? who : copy->owner;
        }
    }
    if (!copy->cuda)
        copy->cuda = cuda_of_place(copy);
}

static cJSON *string_or_null(const char *text)
{
    return text && *text ? cJSON_CreateString(text) : cJSON_CreateNull();
}

static void describe_files(const check_copy *copy, cJSON *list)
{
    char text[32];

    for (size_t i = 0; i < copy->count; i++) {
        const check_file *f = &copy->files[i];
        cJSON *item = cJSON_CreateObject();
        char *path = tree_join(copy->dir->path, f->name->name);

        cJSON_AddItemToObject(item, "path", string_or_null(path));
        cJSON_AddItemToObject(item, "links_to", string_or_null(f->name->link));
        cJSON_AddStringToObject(item, "kind", f->file ? cli_kind_name(f->file->kind) : "missing");
        cJSON_AddItemToObject(item, "version", string_or_null(f->file ? cli_version_text(f->file->version, text) : NULL));
        cJSON_AddItemToObject(item, "soname", string_or_null(f->file ? f->file->soname : NULL));
        cJSON_AddItemToArray(list, item);
        free(path);
    }
}

static void describe(check_copy *copy, cJSON *list)
{
    char text[32];
    cJSON *owned;

    copy->json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, copy->json);
    cJSON_AddStringToObject(copy->json, "path", copy->dir->path);
    cJSON_AddStringToObject(copy->json, "found_by", copy->dir->rule);
    cJSON_AddItemToObject(copy->json, "version", string_or_null(cli_version_text(copy->version, text)));
    cJSON_AddItemToObject(copy->json, "abi", copy->abi ? cJSON_CreateNumber(copy->abi) : cJSON_CreateNull());
    cJSON_AddItemToObject(copy->json, "cuda", copy->cuda ? cJSON_CreateNumber(copy->cuda) : cJSON_CreateNull());
    cJSON_AddItemToObject(copy->json, "arch", string_or_null(copy->arch));
    cJSON_AddStringToObject(copy->json, "system", copy->is_dll ? "windows" : "linux");
    if (copy->owner) {
        owned = cJSON_AddObjectToObject(copy->json, "owner");
        cJSON_AddStringToObject(owned, "kind", copy->owner->kind);
        cJSON_AddStringToObject(owned, "package", copy->owner->package);
        cJSON_AddItemToObject(owned, "version", string_or_null(copy->owner->version));
    } else {
        cJSON_AddNullToObject(copy->json, "owner");
    }
    describe_files(copy, cJSON_AddArrayToObject(copy->json, "files"));
}

check_copy *check_copy_of(check *k, const char *path)
{
    for (size_t i = 0; i < k->copy_count; i++) {
        check_copy *copy = &k->copies[i];
        size_t n = strlen(copy->dir->path);

        if (strncmp(path, copy->dir->path, n) != 0 || path[n] != '/')
            continue;
        for (size_t j = 0; j < copy->count; j++)
            if (strcmp(copy->files[j].name->name, path + n + 1) == 0)
                return copy;
    }
    return NULL;
}

/* inspect warns of a part that libcudnn_graph names and that is not here, since it may come from elsewhere. Here the loader is asked where it
 * comes from (mixed-load), so that the name alone is a note. */
static void soften(check *k)
{
    const cJSON *f;

    cJSON_ArrayForEach(f, cJSON_GetObjectItem(k->report.json, "findings")) {
        cJSON *severity = cJSON_GetObjectItem(f, "severity");

        if (strcmp(cJSON_GetObjectItem(f, "id")->valuestring, "named-not-here") != 0 || strcmp(severity->valuestring, "warning") != 0)
            continue;
        cJSON_SetValuestring(severity, "note");
        k->report.warnings--;
        k->report.notes++;
    }
}

static bool has_plain_name(const discover_dir *dir)
{
    for (size_t i = 0; i < dir->count; i++)
        if (!dir->files[i].mangled)
            return true;
    return false;
}

void check_copies(check *k)
{
    cJSON *list = cJSON_AddArrayToObject(k->report.json, "copies");

    k->lists = calloc(k->found.count + 1, sizeof *k->lists);
    if (!k->lists)
        return;
    for (size_t i = 0; i < k->found.count; i++) {
        look_into(k, &k->found.dirs[i], &k->lists[i]);
        if (has_plain_name(&k->found.dirs[i]))
            inspect_check(k->c, &k->lists[i], &k->report);
    }
    soften(k);
    group(k);
    for (size_t i = 0; i < k->copy_count; i++) {
        set_facts(k, &k->copies[i]);
        describe(&k->copies[i], list);
    }
    check_files(k);
}
