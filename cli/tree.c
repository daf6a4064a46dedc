/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Link resolution is done here, part by part, and not by the kernel: only so does an absolute link of another tree stay in that tree. */
#include "tree.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40, MAX_PATH_BYTES = 4096 }; /* as the Linux kernel */

char *tree_join(const char *a, const char *b)
{
    size_t n = strlen(a), m;
    char *path;

    while (n > 0 && a[n - 1] == '/')
        n--;
    while (*b == '/')
        b++;
    m = strlen(b);
    path = malloc(n + m + 2);
    if (!path)
        return NULL;
    memcpy(path, a, n);
    path[n] = '/';
    memcpy(path + n + 1, b, m + 1);
    return path;
}

static char *host_path(const char *root, const char *path)
{
    return *root ? tree_join(root, path) : strdup(path);
}

static char *read_link(const char *host)
{
    char text[MAX_PATH_BYTES];
    ssize_t n = readlink(host, text, sizeof text - 1);

    if (n <= 0)
        return NULL;
    text[n] = 0;
    return strdup(text);
}

/* Takes the first part off *rest into part; false at the end or where it is too long. */
static bool next_part(const char **rest, char *part, size_t size)
{
    size_t n;

    while (**rest == '/')
        ++*rest;
    n = strcspn(*rest, "/");
    if (n == 0 || n >= size)
        return false;
    memcpy(part, *rest, n);
    part[n] = 0;
    *rest += n;
    return true;
}

static void drop_last(char *done)
{
    char *slash = strrchr(done, '/');

    if (slash)
        *slash = 0;
}

/* One part of a walk: appends it to done, or puts the link's text in front of what is left. 0, or -1 where the walk ends badly. */
static int step(const char *root, char *done, const char *part, const char **rest, char **pending, bool follow, int *links)
{
    size_t n = strlen(done);
    char *host, *text, *joined;
    struct stat st;
    bool missing, stop = !follow && (*rest)[strspn(*rest, "/")] == 0; /* the last part is not followed */

    if (strcmp(part, ".") == 0)
        return 0;
    if (strcmp(part, "..") == 0) {
        drop_last(done);
        return 0;
    }
    if (n + strlen(part) + 2 > MAX_PATH_BYTES)
        return -1;
    snprintf(done + n, MAX_PATH_BYTES - n, "/%s", part);
    host = host_path(root, done);
    missing = !host || lstat(host, &st) != 0;
    text = !missing && !stop && S_ISLNK(st.st_mode) ? read_link(host) : NULL;
    free(host);
    if (missing || stop || !S_ISLNK(st.st_mode))
        return missing && !stop ? -1 : 0;
    if (!text || ++*links > MAX_LINKS) {
        free(text);
        return -1;
    }
    done[*text == '/' ? 0 : n] = 0;
    joined = tree_join(text, *rest);
    free(text);
    free(*pending);
    *pending = joined;
    *rest = joined;
    return joined ? 0 : -1;
}

static char *resolve(const char *root, const char *path, bool follow)
{
    char *done = calloc(1, MAX_PATH_BYTES), *pending = NULL, part[256];
    const char *rest = path;
    int links = 0, bad = !done;

    while (!bad && rest[strspn(rest, "/")]) {
        if (!next_part(&rest, part, sizeof part) || step(root, done, part, &rest, &pending, follow, &links) != 0)
            bad = 1;
    }
    free(pending);
    if (bad) {
        free(done);
        return NULL;
    }
    if (!*done)
        strcpy(done, "/");
    return done;
}

char *tree_real(const char *root, const char *path)
{
    return resolve(root, path, true);
}

char *tree_real_parent(const char *root, const char *path)
{
    return resolve(root, path, false);
}

char *tree_host(const char *root, const char *path)
{
    char *real = tree_real(root, path), *host = real ? host_path(root, real) : NULL;

    free(real);
    return host;
}

tree_stat tree_look(const char *root, const char *path, bool follow)
{
    tree_stat look = {.kind = TREE_NONE};
    char *real = resolve(root, path, follow), *host = real ? host_path(root, real) : NULL;
    struct stat st;

    if (host && lstat(host, &st) == 0) {
        look.kind = S_ISREG(st.st_mode) ? TREE_FILE : S_ISDIR(st.st_mode) ? TREE_DIR : S_ISLNK(st.st_mode) ? TREE_LINK : TREE_OTHER;
        look.size = (uint64_t)st.st_size;
        look.device = (uint64_t)st.st_dev;
        look.inode = (uint64_t)st.st_ino;
        look.mtime = (int64_t)st.st_mtime;
    }
    free(host);
    free(real);
    return look;
}

char *tree_link(const char *root, const char *path)
{
    char *real = resolve(root, path, false), *host = real ? host_path(root, real) : NULL;
    char *text = host ? read_link(host) : NULL;

    free(host);
    free(real);
    return text;
}

/* Reads to the end, not to the size that stat names: files of /proc have none. */
static char *read_all(FILE *f, size_t max, size_t *size)
{
    size_t room = 4096, n = 0, got;
    char *data = malloc(room + 1), *more;

    while (data && (got = fread(data + n, 1, room - n, f)) > 0) {
        n += got;
        if (n < room)
            continue;
        if (n > max)
            break;
        room *= 2;
        more = realloc(data, room + 1);
        if (!more)
            free(data);
        data = more;
    }
    if (!data || n > max || ferror(f)) {
        free(data);
        return NULL;
    }
    data[n] = 0;
    if (size)
        *size = n;
    return data;
}

char *tree_read(const char *root, const char *path, size_t max, size_t *size)
{
    char *host = tree_host(root, path), *data = NULL;
    struct stat st;
    FILE *f = NULL;

    if (host && stat(host, &st) == 0 && S_ISREG(st.st_mode))
        f = fopen(host, "rb");
    free(host);
    if (!f)
        return NULL;
    data = read_all(f, max, size);
    fclose(f);
    return data;
}

static tree_kind entry_kind(const struct dirent *d)
{
#ifdef _DIRENT_HAVE_D_TYPE
    switch (d->d_type) {
    case DT_REG: return TREE_FILE;
    case DT_DIR: return TREE_DIR;
    case DT_LNK: return TREE_LINK;
    case DT_UNKNOWN: return TREE_NONE;
    default: return TREE_OTHER;
    }
#else
    (void)d;
    return TREE_NONE;
#endif
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tree_entry *)a)->name, ((const tree_entry *)b)->name);
}

tree_list tree_entries(const char *root, const char *path, size_t limit)
{
    tree_list list = {NULL, 0};
    char *host = tree_host(root, path);
    DIR *dir = host ? opendir(host) : NULL;
    struct dirent *d;
    size_t room = 0;

    while (dir && list.count < limit && (d = readdir(dir)) != NULL) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        if (list.count == room) {
            size_t more = room ? room * 2 : 32;
            tree_entry *grown = realloc(list.entries, more * sizeof *grown);

            if (!grown)
                break;
            list.entries = grown;
            room = more;
        }
        list.entries[list.count].name = strdup(d->d_name);
        if (!list.entries[list.count].name)
            break;
        list.entries[list.count++].kind = entry_kind(d);
    }
    if (dir)
        closedir(dir);
    free(host);
    if (list.count > 1)
        qsort(list.entries, list.count, sizeof *list.entries, by_name);
    return list;
}

void tree_list_free(tree_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i].name);
    free(list->entries);
    *list = (tree_list){NULL, 0};
}

tree_kind tree_entry_kind(const char *root, const char *dir, const tree_entry *entry)
{
    char *path;
    tree_stat look;

    if (entry->kind != TREE_NONE && entry->kind != TREE_LINK)
        return entry->kind;
    path = tree_join(dir, entry->name);
    look = path ? tree_look(root, path, true) : (tree_stat){.kind = TREE_NONE};
    free(path);
    return look.kind;
}
