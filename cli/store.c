/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Opening, locking and reading the store. */
#include "store.h"
#include "change.h"
#include "fs.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD_AT_MOST = 16 << 20 };

char *store_default_prefix(const cli *c)
{
    if (geteuid() == 0 || *c->root)
        return strdup("/usr/local");
    const char *home = getenv("HOME");
    return home && *home == '/' ? tree_join(home, ".local") : NULL;
}

int store_fault(cli_report *r, const char *what, const char *path, int error)
{
    char *text = cli_format("%s: %s: %s", what, path, strerror(error));
    const char *id = error == ENOSPC || error == EDQUOT || error == EFBIG ? "disk-full"
                   : error == EACCES || error == EPERM || error == EROFS ? "no-permission" : "write-failed";
    cli_where(cli_finding(r, CLI_ERROR, id, text ? text : what, "Nothing was changed: the state before is in effect.",
                          strcmp(id, "no-permission") == 0 ? "run it as root, or choose another place with --prefix DIR" : NULL), path);
    free(text);
    return -1;
}

char *store_host(const store *s, const char *path)
{
    if (!*s->root)
        return strdup(path);
    /* The kernel must not meet a link of the tree: an absolute one would lead to this machine's files. */
    char *above = strdup(path), *slash = above ? strrchr(above, '/') : NULL, *real = NULL, *inside = NULL, *host = NULL;
    if (slash) {
        *slash = 0;
        real = fs_real_as_far(s->c->root, *above ? above : "/");
        inside = real ? tree_join(real, slash + 1) : NULL;
    }
    host = inside ? tree_join(s->root, inside) : NULL;
    fs_free(inside, real, above, NULL);
    return host;
}

bool store_views_inside(const store *s, const state *st)
{
    bool inside = true;
    for (size_t i = 0; *s->root && i < st->view_count; i++) {
        const char *const dirs[] = { st->views[i].include, st->views[i].lib, st->views[i].bin };
        for (size_t k = 0; k < sizeof dirs / sizeof *dirs && inside; k++) {
            char *real = fs_real_as_far(s->c->root, dirs[k]);
            inside = real && strcmp(real, dirs[k]) == 0;
            free(real);
        }
    }
    return inside;
}

/* Folders of the store's own that are something else: a link there would have the tool write and remove where it leads. NULL where all is well. */
static const char *other_kind(const store *s)
{
    static const char *const names[] = { ".state", ".state/saved" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = store_inner(s, names[i]);
        bool other = !path || (fs_exists(path) && !fs_is_dir(path));
        free(path);
        if (other)
            return names[i];
    }
    return NULL;
}

char *store_inner(const store *s, const char *name)
{
    return tree_join(s->host, name);
}

/* Makes a folder and those above it that are missing; their paths go to made. */
static int make_folders(store *s, const char *path)
{
    char *host = store_host(s, path);
    int code = host ? 0 : -1;
    if (host && !fs_is_dir(host)) {
        char *above = strdup(path), *slash = above ? strrchr(above, '/') : NULL;
        if (slash && slash != above) {
            *slash = 0;
            code = make_folders(s, above);
        }
        free(above);
        if (code == 0 && mkdir(host, 0755) == 0)
            state_add_word(&s->made, path);
        else if (code == 0 && errno != EEXIST)
            code = -1;
    }
    fs_free(host, NULL, NULL, NULL);
    return code;
}

/* Opens and locks the lock file; a store that was removed between the two is opened again. -1 with errno. */
static int take_lock(store *s)
{
    char *path = store_inner(s, ".lock"), text[32] = "";
    int fd = -1;
    for (int i = 0; path && i < 100; i++) {
        struct stat there, ours;
        if (make_folders(s, s->dir) != 0 || (fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)) < 0) {
            if (errno == ENOENT)
                continue;
            break;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            ssize_t n = pread(fd, text, sizeof text - 1, 0);
            text[n > 0 ? n : 0] = 0;
            fprintf(stderr, "anydnn: another anydnn%s%.*s is at work in %s; waiting for it\n", *text ? " (process " : "", (int)sizeof text, text, s->dir);
            while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
                ;
        }
        if (lstat(path, &there) == 0 && fstat(fd, &ours) == 0 && there.st_dev == ours.st_dev && there.st_ino == ours.st_ino)
            break;
        close(fd);
        fd = -1;
    }
    int saved = errno;
    free(path);
    if (fd >= 0) {
        snprintf(text, sizeof text, "%ld)", (long)getpid());
        /* Only for the message above: a full disk does not matter. */
        if (ftruncate(fd, 0) != 0 || pwrite(fd, text, strlen(text), 0) < 0)
            text[0] = 0;
    }
    errno = saved;
    return fd;
}

/* Without `current` and without a journal: a generation that has builds is no leftover, somebody removed the link. Its name, or NULL; the caller frees. */
static char *lost_generation(const store *s)
{
    char *journal = store_inner(s, ".state/journal"), *dir = tree_join(s->dir, ".state"), *lost = NULL;
    bool any = dir && journal && !fs_exists(journal);
    tree_list list = any ? tree_entries(s->c->root, dir, RECORD_AT_MOST) : (tree_list){ 0 };
    for (size_t i = 0; i < list.count && !lost; i++) {
        char *path = cli_format("%s/%s/record", dir, list.entries[i].name), error[300];
        size_t size = 0;
        char *text = path ? tree_read(s->c->root, path, RECORD_AT_MOST, &size) : NULL;
        state found = { 0 };
        if (text && state_parse(&found, text, size, error, sizeof error) == 0 && found.builds.count > 0)
            lost = strdup(list.entries[i].name);
        state_free(&found);
        free(text);
        free(path);
    }
    tree_list_free(&list);
    free(dir);
    free(journal);
    return lost;
}

/* The record that `current` leads to; failed gets the errno where something is there and cannot be read. */
static int read_record(store *s, const char *text, int *failed, char *error, size_t error_size)
{
    char *dir = tree_join(s->dir, text), *path = dir ? tree_join(dir, "record") : NULL, name[40];
    size_t size = 0;
    errno = 0;
    char *record = path ? tree_read(s->c->root, path, RECORD_AT_MOST, &size) : NULL;
    int code = record ? state_parse(&s->now, record, size, error, error_size) : -1;
    if (!record) {
        *failed = errno;
        snprintf(error, error_size, "its record cannot be read%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
    }
    snprintf(name, sizeof name, ".state/%llu", (unsigned long long)s->now.generation);
    if (code == 0 && strcmp(name, text) != 0) {
        snprintf(error, error_size, "the link current leads to %.200s, whose record is that of %s", text, name);
        code = -1;
    } else if (code == 0 && !store_views_inside(s, &s->now)) {
        snprintf(error, error_size, "a folder that it has links in is a link itself now");
        code = -1;
    }
    free(record);
    free(path);
    free(dir);
    return code;
}

static int store_look(store *s, int *failed, char **lost, char *error, size_t error_size)
{
    char *link = store_inner(s, "current"), *text = link ? fs_link_text(link) : NULL;
    int code = 0;
    *failed = text ? 0 : link ? errno : ENOMEM;
    state_free(&s->now);
    const char *other = other_kind(s);
    if (other) {
        snprintf(error, error_size, "%s is no folder", other);
        *failed = 0;
        code = -1;
    } else if (text) {
        code = read_record(s, text, failed, error, error_size);
    } else if (*failed == EINVAL) {
        snprintf(error, error_size, "what is called current is no link");
        code = -1;
    } else if (*failed != ENOENT && *failed != ENOTDIR) {
        snprintf(error, error_size, "the link current cannot be read: %s", strerror(*failed));
        code = -1;
    } else if ((*lost = lost_generation(s)) != NULL) {
        snprintf(error, error_size, "the link current is gone, and .state/%.40s has builds", *lost);
        code = -1;
    }
    if (code != 0)
        state_free(&s->now); /* what was read before the damage is no state */
    free(text);
    free(link);
    return code;
}

int store_read(store *s, char *error, size_t error_size)
{
    char *lost = NULL;
    int failed, code = store_look(s, &failed, &lost, error, error_size);
    free(lost);
    return code;
}

static int open_paths(store *s, const char *prefix, cli_report *r)
{
    s->root = *s->c->root ? realpath(s->c->root, NULL) : strdup("");
    if (!s->root) {
        s->unreadable = true;
        return store_fault(r, "The tree of --root cannot be read", s->c->root, errno);
    }
    char *wanted = prefix ? cli_tree_path(s->c, prefix) : store_default_prefix(s->c);
    s->prefix = wanted ? fs_real_as_far(s->c->root, wanted) : NULL;
    char *dir = s->prefix ? tree_join(s->prefix, "opt/cudnn") : NULL;
    s->dir = dir ? fs_real_as_far(s->c->root, dir) : NULL;
    s->host = s->dir ? store_host(s, s->dir) : NULL;
    if (s->host && strpbrk(s->dir, "\t\n\r")) {
        free(s->host);
        s->host = NULL;
    }
    if (!s->host)
        cli_where(cli_finding(r, CLI_ERROR, "bad-prefix", "There is no place for the store: the folder cannot be had",
                              "It is a link that leads nowhere, has a control character in its name, or HOME is not set.", "give another with --prefix DIR"),
                  wanted ? wanted : "");
    free(dir);
    free(wanted);
    return s->host ? 0 : -1;
}

static int open_to_write(store *s, cli_report *r)
{
    char at[4200];
    int error = fs_may_write(s->host, at, sizeof at);
    if (error)
        return store_fault(r, "The store cannot be changed", at, error);
    s->lock = take_lock(s);
    if (s->lock < 0)
        return store_fault(r, "The store cannot be locked", s->dir, errno);
    return 0;
}

int store_open(store *s, const cli *c, const char *prefix, bool write, cli_report *r)
{
    char error[300] = "";
    *s = (store){ .c = c, .lock = -1 };
    if (open_paths(s, prefix, r) != 0)
        return -1;
    cJSON_AddStringToObject(r->json, "prefix", s->prefix);
    if (write && open_to_write(s, r) != 0)
        return -1;
    char *lost = NULL;
    int failed = 0;
    if (store_look(s, &failed, &lost, error, sizeof error) != 0) {
        char *what = cli_format("The store's state cannot be read: %s", error), *fix = lost ? cli_format("ln -s .state/%s '%s/current'", lost, s->dir) : NULL;
        s->unreadable = failed == EACCES || failed == EPERM;
        cli_where(cli_finding(r, CLI_ERROR, s->unreadable ? "unreadable" : "damaged-store", what, "Builds and links are left as they are.",
                              s->unreadable ? "run it as somebody who may read it"
                              : fix ? fix : "move the folder .state and the link current away, then install again"), s->dir);
        free(fix);
        free(lost);
        free(what);
        if (s->lock >= 0)
            close(s->lock);
        s->lock = -1; /* store_close must not take it for an empty one */
        return -1;
    }
    return store_has_leftovers(s) ? store_mend(s, r) : 0;
}

/* A store that holds nothing, and the folders that were made for it. */
static void remove_empty(store *s)
{
    char *state_dir = store_inner(s, ".state"), *lock = store_inner(s, ".lock"), *saved = store_inner(s, ".state/saved");
    const char *const links[] = { "current", "current-8", "current-9" };
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        char *path = store_inner(s, links[i]);
        if (path)
            unlink(path);
        free(path);
    }
    if (state_dir && saved && (rmdir(saved) == 0 || errno == ENOENT))
        fs_remove(state_dir);
    if (lock)
        unlink(lock);
    rmdir(s->host);
    for (int k = 0; k < 2; k++) {
        const state_words *made = k ? &s->made : &s->now.made;
        for (size_t i = made->count; i-- > 0;) {
            char *host = store_host(s, made->items[i]);
            if (host)
                rmdir(host);
            free(host);
        }
    }
    free(saved);
    free(lock);
    free(state_dir);
}

void store_close(store *s)
{
    if (s->lock >= 0 && s->now.builds.count == 0 && !store_has_leftovers(s))
        remove_empty(s);
    if (s->lock >= 0)
        close(s->lock);
    for (size_t i = 0; i < s->made.count; i++)
        free(s->made.items[i]);
    free(s->made.items);
    state_free(&s->now);
    free(s->prefix);
    free(s->root);
    free(s->dir);
    free(s->host);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

store_names store_builds(const cli *c, const char *prefix)
{
    cli_report r;
    store s;
    store_names names = { 0 };
    cli_report_begin(&r, "list");
    if (store_open(&s, c, prefix, false, &r) == 0) {
        names = (store_names){ s.now.builds.items, s.now.builds.count };
        s.now.builds.items = NULL;
        s.now.builds.count = 0;
        if (names.count)
            qsort(names.items, names.count, sizeof *names.items, by_name);
    }
    store_close(&s);
    cJSON_Delete(r.json);
    return names;
}

void store_names_free(store_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (store_names){ 0 };
}
