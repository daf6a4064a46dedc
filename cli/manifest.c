/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "manifest.h"
#include "cells.h"
#include "fs.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES_AT_MOST = 100000, TEXT_AT_MOST = 64 << 20 };

manifest_entry *manifest_add(manifest *m, manifest_kind kind, const char *path, const char *target)
{
    manifest_entry *e;
    /* Room grows by doubling: at every power of two. */
    if ((m->count & (m->count - 1)) == 0) {
        e = realloc(m->entries, (m->count ? m->count * 2 : 1) * sizeof *e);
        if (!e)
            return NULL;
        m->entries = e;
    }
    e = m->entries + m->count;
    *e = (manifest_entry){ .kind = kind, .path = strdup(path), .target = target ? strdup(target) : NULL };
    if (!e->path || (target && !e->target)) {
        free(e->path);
        free(e->target);
        return NULL;
    }
    m->count++;
    return e;
}

const manifest_entry *manifest_find(const manifest *m, const char *path)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->entries[i].path, path) == 0)
            return &m->entries[i];
    return NULL;
}

void manifest_free(manifest *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->entries[i].path);
        free(m->entries[i].target);
    }
    free(m->entries);
    free(m->build);
    free(m->version);
    free(m->platform);
    free(m->archive);
    *m = (manifest){ 0 };
}

/* A word of the head; a word that is not known belongs to a later version of this tool and is passed by. false where the value is wrong. */
static bool take_head(manifest *m, const cells *c)
{
    struct { const char *name; char **text; } texts[] = { { "build", &m->build }, { "version", &m->version }, { "platform", &m->platform },
                                                          { "archive", &m->archive } };
    struct { const char *name; int *value; } numbers[] = { { "abi", &m->abi }, { "cuda", &m->cuda } };
    uint64_t n;
    if (c->count != 2)
        return false;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(c->at[0], texts[i].name) == 0) {
            free(*texts[i].text);
            *texts[i].text = NULL;
            return cells_path(c->at[1]) && !strchr(c->at[1], '/') && (*texts[i].text = strdup(c->at[1])) != NULL;
        }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(c->at[0], numbers[i].name) == 0) {
            if (!cells_number(c->at[1], 10, &n) || n > 1000)
                return false;
            *numbers[i].value = (int)n;
            return true;
        }
    return strcmp(c->at[0], "archive-sha256") != 0 || digest_parse(c->at[1], m->archive_sha256);
}

static bool take_origin(const char *cell, bool *made)
{
    *made = strcmp(cell, "made") == 0;
    return *made || strcmp(cell, "archive") == 0;
}

static bool take_entry(manifest *m, const cells *c)
{
    manifest_entry e = { .kind = MANIFEST_LINK };
    uint64_t mode = 0, size = 0, time = 0, ns = 0;
    const char *path, *target = NULL;
    if (strcmp(c->at[0], "link") == 0) {
        if (c->count != 4 || !take_origin(c->at[1], &e.made) || !*c->at[3])
            return false;
        path = c->at[2];
        target = c->at[3];
    } else {
        e.kind = MANIFEST_FILE;
        if (c->count != 8 || !cells_number(c->at[1], 8, &mode) || mode > 0777 || !cells_number(c->at[2], 10, &size) ||
            !cells_number(c->at[3], 10, &time) || time > INT64_MAX || !cells_number(c->at[4], 10, &ns) || ns > 999999999 ||
            !digest_parse(c->at[5], e.sha256) || !take_origin(c->at[6], &e.made))
            return false;
        path = c->at[7];
    }
    if (!cells_path(path) || m->count >= ENTRIES_AT_MOST)
        return false;
    manifest_entry *added = manifest_add(m, e.kind, path, target);
    if (!added)
        return false;
    added->made = e.made;
    added->mode = (unsigned)mode;
    added->size = size;
    added->mtime = (int64_t)time;
    added->mtime_ns = (long)ns;
    memcpy(added->sha256, e.sha256, sizeof e.sha256);
    return true;
}

static int fault(char *error, size_t size, const char *what, size_t line)
{
    snprintf(error, size, "line %zu of the manifest %s", line, what);
    return -1;
}

int manifest_parse(manifest *m, const char *text, size_t size, char *error, size_t error_size)
{
    cells *c = malloc(sizeof *c);
    int code = c ? 0 : fault(error, error_size, "cannot be read: no memory", 0), more = 0;
    bool ended = false;
    *m = (manifest){ 0 };
    for (size_t line = 1; code == 0 && (more = cells_next(c, &text, &size)) > 0; line++) {
        uint64_t count;
        bool good;
        if (line == 1)
            good = c->count == 2 && strcmp(c->at[0], "anydnn-manifest") == 0 && strcmp(c->at[1], "1") == 0;
        else if (strcmp(c->at[0], "file") == 0 || strcmp(c->at[0], "link") == 0)
            good = take_entry(m, c);
        else if (strcmp(c->at[0], "end") == 0)
            good = ended = c->count == 2 && cells_number(c->at[1], 10, &count) && count == m->count && size == 0;
        else
            good = take_head(m, c);
        if (!good)
            code = fault(error, error_size, "makes no sense", line);
    }
    if (code == 0 && more < 0)
        code = fault(error, error_size, "is too long or has no end", m->count);
    if (code == 0 && (!ended || !m->build || !m->version || !m->platform || m->abi < 8 || m->abi > 9)) {
        snprintf(error, error_size, "the manifest is cut off");
        code = -1;
    }
    free(c);
    return code;
}

int manifest_read(manifest *m, const char *root, const char *dir, char *error, size_t error_size)
{
    char *path = tree_join(dir, "manifest");
    size_t size = 0;
    errno = 0;
    char *text = path ? tree_read(root, path, TEXT_AT_MOST, &size) : NULL;
    int code = -1, failed = text ? 0 : errno;
    *m = (manifest){ 0 };
    if (text)
        code = manifest_parse(m, text, size, error, error_size);
    else
        snprintf(error, error_size, "%s cannot be read%s%s", path ? path : dir, failed ? ": " : "", failed ? strerror(failed) : "");
    free(text);
    free(path);
    errno = failed;
    return code;
}

char *manifest_text(const manifest *m)
{
    grow g = { 0 };
    grow_add(&g, "anydnn-manifest\t1\nbuild\t%s\nversion\t%s\nabi\t%d\ncuda\t%d\nplatform\t%s\n", m->build, m->version, m->abi, m->cuda, m->platform);
    if (m->archive)
        grow_add(&g, "archive\t%s\n", m->archive);
    if (m->archive_sha256[0])
        grow_add(&g, "archive-sha256\t%s\n", m->archive_sha256);
    for (size_t i = 0; i < m->count; i++) {
        const manifest_entry *e = &m->entries[i];
        const char *origin = e->made ? "made" : "archive";
        if (e->kind == MANIFEST_LINK)
            grow_add(&g, "link\t%s\t%s\t%s\n", origin, e->path, e->target);
        else
            grow_add(&g, "file\t%04o\t%llu\t%lld\t%ld\t%s\t%s\t%s\n", e->mode, (unsigned long long)e->size, (long long)e->mtime, e->mtime_ns, e->sha256,
                     origin, e->path);
    }
    grow_add(&g, "end\t%zu\n", m->count);
    return grow_take(&g);
}

const char *manifest_state_name(manifest_state state)
{
    static const char *const names[] = { "same", "changed", "missing", "unreadable", "extra" };
    return names[state];
}

static manifest_state judge_link(const manifest_entry *e, const char *host, const char **why)
{
    char *text = fs_link_text(host);
    manifest_state state = MANIFEST_SAME;
    if (!text) {
        state = fs_exists(host) ? MANIFEST_CHANGED : MANIFEST_MISSING;
        *why = "was a link";
    } else if (strcmp(text, e->target) != 0) {
        state = MANIFEST_CHANGED;
        *why = "the link leads elsewhere";
    }
    free(text);
    return state;
}

static manifest_state judge_file(const manifest_entry *e, const char *host, bool all_bytes, const char **why)
{
    char sum[DIGEST_TEXT];
    struct stat st;
    if (lstat(host, &st) != 0) {
        *why = strerror(errno);
        return errno == ENOENT || errno == ENOTDIR ? MANIFEST_MISSING : MANIFEST_UNREADABLE;
    }
    *why = !S_ISREG(st.st_mode) ? "is no file any more" : (uint64_t)st.st_size != e->size ? "has another size" : NULL;
    if (*why)
        return MANIFEST_CHANGED;
    if (!all_bytes && st.st_mtim.tv_sec == e->mtime && st.st_mtim.tv_nsec == e->mtime_ns)
        return MANIFEST_SAME;
    int fd = open(host, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool read = fd >= 0 && digest_fd(fd, sum, NULL);
    *why = read ? "has another checksum" : strerror(errno);
    if (fd >= 0)
        close(fd);
    return !read ? MANIFEST_UNREADABLE : strcmp(sum, e->sha256) != 0 ? MANIFEST_CHANGED : MANIFEST_SAME;
}

/* Files of a folder that are in no manifest; folders below it too. */
static size_t find_extra(const manifest *m, const char *root, const char *dir, const char *below, int depth, manifest_tell *tell, void *user)
{
    char *at = tree_join(dir, below);
    tree_list list = at && depth < 8 ? tree_entries(root, at, ENTRIES_AT_MOST) : (tree_list){ 0 };
    size_t told = 0;
    for (size_t i = 0; i < list.count; i++) {
        char *path = tree_join(below, list.entries[i].name), *whole = path ? tree_join(dir, path) : NULL;
        if (whole && tree_look(root, whole, false).kind == TREE_DIR) {
            told += find_extra(m, root, dir, path, depth + 1, tell, user);
        } else if (whole && !manifest_find(m, path)) {
            tell(user, MANIFEST_EXTRA, path, "did not come from the archive");
            told++;
        }
        free(whole);
        free(path);
    }
    tree_list_free(&list);
    free(at);
    return told;
}

size_t manifest_verify(const manifest *m, const char *root, const char *dir, bool all_bytes, manifest_tell *tell, void *user)
{
    static const char *const folders[] = { "lib", "include", "bin" };
    char *top = tree_host(root, dir);
    size_t told = 0;
    for (size_t i = 0; i < m->count; i++) {
        const manifest_entry *e = &m->entries[i];
        const char *why = top ? NULL : "the build's folder is not there";
        char *host = top ? tree_join(top, e->path) : NULL;
        manifest_state state = !top ? MANIFEST_MISSING : !host ? MANIFEST_UNREADABLE
                             : e->kind == MANIFEST_LINK ? judge_link(e, host, &why) : judge_file(e, host, all_bytes, &why);
        if (state != MANIFEST_SAME) {
            tell(user, state, e->path, why);
            told++;
        }
        free(host);
    }
    for (size_t i = 0; top && i < sizeof folders / sizeof *folders; i++)
        told += find_extra(m, root, dir, folders[i], 0, tell, user);
    free(top);
    return told;
}
