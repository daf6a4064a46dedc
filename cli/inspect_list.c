/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Gathers entries from the file system. */
#include "inspect.h"
#include "tree.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 12, MAX_FOLDERS = 100000, MAX_NAMES = 200000, MAX_CHAIN = 40, MAX_ENTRIES = 5000 };

static char *folder_of(const char *path)
{
    const char *name = cli_base_name(path);
    size_t n = (size_t)(name - path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    char *out = malloc(n + 2);
    if (!out)
        return NULL;
    memcpy(out, n ? path : ".", n ? n : 1);
    out[n ? n : 1] = 0;
    return out;
}

inspect_entry *inspect_add(inspect_list *list, cli_file *file, bool shown)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 64;
        inspect_entry *more = realloc(list->entries, room * sizeof *more);
        if (!more) {
            cli_file_free(file);
            return NULL;
        }
        list->entries = more;
        list->room = room;
    }
    char *dir = file->path ? folder_of(file->path) : NULL;
    if (!dir) {
        cli_file_free(file);
        return NULL;
    }
    inspect_entry *e = &list->entries[list->count++];
    *e = (inspect_entry){ .file = *file, .dir = dir, .name = cli_base_name(file->path), .shown = shown };
    return e;
}

void inspect_free(inspect_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        cli_file_free(&list->entries[i].file);
        free(list->entries[i].dir);
        free(list->entries[i].chain);
        cJSON_Delete(list->entries[i].api);
    }
    free(list->entries);
    memset(list, 0, sizeof *list);
}

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Windows does not tell letters of different case apart. */
static bool same_name(const char *a, const char *b)
{
    if (!ends_with(b, ".dll"))
        return strcmp(a, b) == 0;
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

inspect_entry *inspect_find(const inspect_list *list, const char *dir, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (same_name(list->entries[i].name, name) && strcmp(list->entries[i].dir, dir) == 0)
            return &list->entries[i];
    return NULL;
}

bool inspect_matters(const char *name)
{
    cudnn_name n;
    char lower[64];
    size_t length = strlen(name);
    if (cli_cudnn_name(name, &n))
        return true;
    if (ends_with(name, ".DLL") || ends_with(name, ".dll")) {
        for (size_t i = 0; i <= length && length < sizeof lower; i++)
            lower[i] = (char)tolower((unsigned char)name[i]);
        name = length < sizeof lower ? lower : name;
    }
    if (starts_with(name, "libcudnn"))
        return strstr(name, ".so") || ends_with(name, ".a");
    if (starts_with(name, "cudnn"))
        return ends_with(name, ".h") || ends_with(name, ".dll") || ends_with(name, ".lib");
    return starts_with(name, "libcuda.so") || strcmp(name, "zlibwapi.dll") == 0 ||
           (ends_with(name, ".dll") && (starts_with(name, "cudart64_") || starts_with(name, "cublas64_") ||
                                        starts_with(name, "cublaslt64_") || starts_with(name, "nvrtc64_")));
}

bool inspect_is_library(const inspect_entry *e)
{
    return e->file.is_cudnn && (e->file.kind == FILE_ELF || e->file.kind == FILE_PE);
}

bool inspect_concerns(const inspect_list *list, const inspect_entry *e)
{
    return list->walked || e->shown || !list->abi || !e->file.is_cudnn || (e->file.abi == list->abi && e->file.kind == list->kind);
}

/* The steps of a link that leads nowhere. */
static char *chain_of(const char *root, const char *path)
{
    char *text = cli_format("%s", path), *at = cli_format("%s", path);
    for (int i = 0; text && at && i < MAX_CHAIN; i++) {
        char *link = tree_link(root, at), *dir = folder_of(at), *next = NULL;
        if (link && dir)
            next = link[0] == '/' ? cli_format("%s", link) : tree_join(dir, link);
        free(link);
        free(dir);
        char *longer = next ? cli_format("%s -> %s", text, next) : cli_format("%s (missing)", text);
        free(text);
        free(at);
        text = longer;
        at = next;
    }
    free(at);
    return text;
}

/* Looks at one path of the tree; a link out of the tree is followed inside it. */
inspect_entry *inspect_add_path(cli *c, const char *path, bool shown, inspect_list *list)
{
    cli_file f;
    char *host = tree_host(c->root, path), *link = tree_link(c->root, path);
    if (host) {
        cli_file_inspect(host, &f);
        free(f.path);
        free(f.links_to);
        f.path = cli_format("%s", path);
        f.links_to = link;
    } else {
        f = (cli_file){ .path = cli_format("%s", path), .links_to = link };
    }
    cudnn_name n;
    if (f.path && !f.is_cudnn && f.kind != FILE_ELF && f.kind != FILE_PE && cli_cudnn_name(cli_base_name(f.path), &n)) {
        memcpy(f.part, n.part, sizeof f.part);
        f.abi = n.count ? n.numbers[0] : f.abi;
    }
    free(host);
    inspect_entry *e = inspect_add(list, &f, shown);
    if (e && e->file.links_to && e->file.kind == FILE_MISSING)
        e->chain = chain_of(c->root, path);
    return e;
}

typedef struct walk {
    cli *c;
    inspect_list *list;
    int folders;
    bool shown, deep;
} walk;

static void walk_dir(walk *w, const char *path, int depth)
{
    if (++w->folders > MAX_FOLDERS || w->list->count > MAX_ENTRIES) {
        w->list->stopped = true;
        return;
    }
    tree_list names = tree_entries(w->c->root, path, MAX_NAMES);
    for (size_t i = 0; i < names.count && !w->list->stopped; i++) {
        const tree_entry *e = &names.entries[i];
        char *full = tree_join(path, e->name);
        tree_kind kind = full ? tree_entry_kind(w->c->root, path, e) : TREE_NONE;
        bool is_dir = kind == TREE_DIR && tree_look(w->c->root, full, false).kind == TREE_DIR;
        if (is_dir && w->deep && depth < MAX_DEPTH)
            walk_dir(w, full, depth + 1);
        else if (kind != TREE_DIR && full && inspect_matters(e->name))
            inspect_add_path(w->c, full, w->shown, w->list);
        free(full);
    }
    tree_list_free(&names);
}

int inspect_gather_dir(cli *c, const char *path, inspect_list *list)
{
    walk w = { .c = c, .list = list, .shown = true, .deep = true };
    char *real = tree_real(c->root, path);
    if (!real)
        return -1;
    list->walked = true;
    walk_dir(&w, real, 0);
    free(real);
    return 0;
}

/* The folders beside a library's where its headers are: include below the prefix, or below the prefix of lib/<triplet>. */
static void add_headers(walk *w, const char *dir)
{
    static const char *const folders[] = { "../include", "../../include", "../include/x86_64-linux-gnu", "../../include/x86_64-linux-gnu",
                                           "../../include/aarch64-linux-gnu" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = tree_join(dir, folders[i]), *real = path ? tree_real(w->c->root, path) : NULL;
        size_t before = w->list->count;
        if (real)
            walk_dir(w, real, 0);
        free(real);
        free(path);
        if (w->list->count > before)
            return;
    }
}

int inspect_gather_file(cli *c, const char *path, inspect_list *list)
{
    walk w = { .c = c, .list = list };
    inspect_entry *e = inspect_add_path(c, path, true, list);
    if (!e)
        return -1;
    bool readable = e->file.kind != FILE_MISSING || e->file.links_to, library = inspect_is_library(e) || inspect_matters(e->name);
    char *dir = library ? tree_real(c->root, e->dir) : NULL;
    list->abi = e->file.abi;
    list->kind = e->file.kind;
    if (!readable)
        return -1;
    if (dir) {
        size_t first = list->count;
        /* The neighbours stand under the folder as it was named, so that they are found beside the file. */
        walk_dir(&w, list->entries[0].dir, 0);
        for (size_t i = first; i < list->count; i++)
            if (strcmp(list->entries[i].name, list->entries[0].name) == 0) {
                cli_file_free(&list->entries[i].file);
                free(list->entries[i].dir);
                free(list->entries[i].chain);
                list->entries[i] = list->entries[--list->count];
            }
        add_headers(&w, dir);
    }
    free(dir);
    return 0;
}

void inspect_word(inspect_words *w, const char *text)
{
    size_t n = strlen(text);
    w->count++;
    if (w->length + n + 8 >= sizeof w->text)
        return;
    if (w->length) {
        memcpy(w->text + w->length, ", ", 3);
        w->length += 2;
    }
    memcpy(w->text + w->length, text, n + 1);
    w->length += n;
}
