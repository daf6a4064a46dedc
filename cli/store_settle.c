/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Clearing up, after every change and after one that was cut off. It looks only at the state in effect and at the journal, so it may itself be cut off
 * anywhere and begin again. */
#include "cells.h"
#include "change.h"
#include "fs.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JOURNAL_AT_MOST = 16 << 20, ENTRIES_AT_MOST = 100000 };

static const unsigned SAVED = 1u << STATE_SAVED_FILE | 1u << STATE_SAVED_LINK, LINKS = 1u << STATE_LINK;

/* The first error is kept, the work goes on. */
static void note(int *error, int code)
{
    if (code != 0 && *error == 0)
        *error = errno ? errno : EIO;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static int remove_inner(const store *s, const char *dir, const char *name)
{
    char *path = cli_format("%s%s%s/%s", s->host, *dir ? "/" : "", dir, name);
    int code = path ? fs_remove(path) : -1;
    fs_free(path, NULL, NULL, NULL);
    return code;
}

/* The file is in its place still: it was kept, and then the command was cut off. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    char sums[2][DIGEST_TEXT] = { "", "" };
    if (lstat(a, &x) != 0 || lstat(b, &y) != 0 || !S_ISREG(x.st_mode) || !S_ISREG(y.st_mode) || x.st_size != y.st_size)
        return false;
    if (x.st_dev == y.st_dev && x.st_ino == y.st_ino)
        return true;
    for (int i = 0; i < 2; i++) {
        int fd = open(i ? b : a, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 || !digest_fd(fd, sums[i], NULL))
            sums[i][0] = 0;
        if (fd >= 0)
            close(fd);
    }
    return sums[0][0] && strcmp(sums[0], sums[1]) == 0;
}

/* What was there before our link comes back; where somebody put another file there since, it comes back beside it. */
static int restore(const store *s, const state *st, const state_name *n)
{
    char *path = store_view_path(s, st, n->view, n->name), *kept = cli_format("%s/.state/saved/%s", s->host, n->text);
    bool ours = store_is_ours(s, st, n->view, n->name), there = path && fs_exists(path);
    int code = 0;
    if (n->kind == STATE_SAVED_LINK) {
        if (path && (ours || !there))
            code = fs_put_link(path, n->text);
    } else if (path && kept && is_same_file(path, kept)) {
        code = unlink(kept);
    } else if (path && kept && fs_exists(kept)) {
        char *beside = cli_format("%s%s", path, ours || !there ? "" : ".saved-by-anydnn");
        code = beside ? fs_move(kept, beside) : -1;
        free(beside);
    } else if (path && ours) {
        code = unlink(path);
    }
    fs_free(kept, path, NULL, NULL);
    return code;
}

static int take_away(const store *s, const state *st, size_t view, const char *name)
{
    if (!store_is_ours(s, st, view, name) || state_find(&s->now, SAVED, view, name))
        return 0;
    char *path = store_view_path(s, st, view, name);
    int code = path ? unlink(path) : -1;
    fs_free(path, NULL, NULL, NULL);
    return code;
}

static void settle_names(const store *s, const state *other, int *error)
{
    for (size_t i = 0; i < s->now.name_count; i++) {
        const state_name *n = &s->now.names[i];
        if (n->kind == STATE_DROP && !state_find(&s->now, LINKS, n->view, n->name))
            note(error, take_away(s, &s->now, n->view, n->name));
        if (SAVED & 1u << n->kind && !state_find(&s->now, LINKS, n->view, n->name))
            note(error, restore(s, &s->now, n));
    }
    for (size_t i = 0; other && i < other->name_count; i++) {
        const state_name *n = &other->names[i];
        if (n->kind == STATE_LINK && !state_find(&s->now, LINKS, n->view, n->name))
            note(error, take_away(s, other, n->view, n->name));
    }
}

static bool is_view_dir(const state *st, const char *dir)
{
    for (size_t i = 0; i < st->name_count; i++) {
        const char *rest, *top = store_view_dir(&st->views[st->names[i].view], st->names[i].name, &rest);
        if (st->names[i].kind == STATE_LINK && starts_with(top, dir))
            return true;
    }
    return false;
}

/* Names that were on their way when somebody was killed: .anydnn-new-PID. */
static void sweep(const char *host, int *error)
{
    tree_list list = tree_entries("", host, ENTRIES_AT_MOST);
    for (size_t i = 0; i < list.count; i++)
        if (starts_with(list.entries[i].name, ".anydnn-new-")) {
            char *path = tree_join(host, list.entries[i].name);
            note(error, path ? fs_remove(path) : -1);
            free(path);
        }
    tree_list_free(&list);
}

static void sweep_views(const store *s, const state *st, int *error)
{
    char *last = NULL;
    for (size_t i = 0; i < st->name_count; i++) {
        char *path = store_view_path(s, st, st->names[i].view, st->names[i].name);
        if (path)
            *strrchr(path, '/') = 0;
        if (path && (!last || strcmp(last, path) != 0))
            sweep(path, error);
        free(last);
        last = path;
    }
    free(last);
}

/* Folders that were made for links and hold none any more. */
static void remove_made(const store *s, const state *st)
{
    for (size_t i = st->made.count; i-- > 0;) {
        char *host = store_host(s, st->made.items[i]);
        if (host && !is_view_dir(&s->now, st->made.items[i]) && !starts_with(s->dir, st->made.items[i]))
            rmdir(host);
        free(host);
    }
}

static void settle_generations(const store *s, int *error)
{
    char *dir = store_inner(s, ".state"), *saved = store_inner(s, ".state/saved"), now[32];
    tree_list list = dir ? tree_entries("", dir, ENTRIES_AT_MOST) : (tree_list){ 0 };
    snprintf(now, sizeof now, "%llu", (unsigned long long)s->now.generation);
    for (size_t i = 0; i < list.count; i++) {
        const char *name = list.entries[i].name;
        if (strcmp(name, now) != 0 && strcmp(name, "saved") != 0 && strcmp(name, "journal") != 0)
            note(error, remove_inner(s, ".state", name));
    }
    tree_list_free(&list);
    list = saved ? tree_entries("", saved, ENTRIES_AT_MOST) : (tree_list){ 0 };
    for (size_t i = 0; i < list.count; i++) {
        bool known = false;
        for (size_t k = 0; k < s->now.name_count; k++)
            known |= s->now.names[k].kind == STATE_SAVED_FILE && strcmp(s->now.names[k].text, list.entries[i].name) == 0;
        if (!known)
            note(error, remove_inner(s, ".state/saved", list.entries[i].name));
    }
    tree_list_free(&list);
    if (saved)
        rmdir(saved);
    free(saved);
    free(dir);
}

static void settle_builds(const store *s, const char *build, int *error)
{
    tree_list list = tree_entries("", s->host, ENTRIES_AT_MOST);
    for (size_t i = 0; i < list.count; i++) {
        const char *name = list.entries[i].name;
        if (starts_with(name, ".new-") || starts_with(name, ".old-") || starts_with(name, ".anydnn-new-"))
            note(error, remove_inner(s, "", name));
    }
    tree_list_free(&list);
    if (build && !state_has_word(&s->now.builds, build)) {
        /* Out of sight by one rename: nobody finds half a build. */
        char *from = store_inner(s, build), *to = cli_format("%s/.old-%s", s->host, build);
        if (from && to && rename(from, to) != 0 && errno != ENOENT)
            note(error, -1);
        note(error, to ? fs_remove(to) : -1);
        free(to);
        free(from);
    }
    for (int abi = STATE_ABI; abi < STATE_ABI + STATE_SLOTS; abi++) {
        char *path = cli_format("%s/current-%d", s->host, abi);
        if (path && !state_build(&s->now, abi))
            unlink(path);
        free(path);
    }
}

int store_settle(store *s, const state *other, const char *build)
{
    int error = 0;
    char *journal = store_inner(s, ".state/journal");
    sweep_views(s, &s->now, &error);
    if (other)
        sweep_views(s, other, &error);
    settle_names(s, other, &error);
    remove_made(s, &s->now);
    if (other)
        remove_made(s, other);
    settle_builds(s, build, &error);
    settle_generations(s, &error);
    if (error == 0 && journal && unlink(journal) != 0 && errno != ENOENT)
        note(&error, -1);
    free(journal);
    errno = error;
    return error ? -1 : 0;
}

bool store_has_leftovers(const store *s)
{
    char *dir = store_inner(s, ".state"), *now = cli_format("%llu", (unsigned long long)s->now.generation);
    tree_list list = dir ? tree_entries("", dir, ENTRIES_AT_MOST) : (tree_list){ 0 };
    bool any = false;
    for (size_t i = 0; i < list.count && now; i++)
        any |= strcmp(list.entries[i].name, now) != 0 && strcmp(list.entries[i].name, "saved") != 0;
    tree_list_free(&list);
    list = tree_entries("", s->host, ENTRIES_AT_MOST);
    for (size_t i = 0; i < list.count; i++)
        any |= starts_with(list.entries[i].name, ".new-") || starts_with(list.entries[i].name, ".old-") ||
               starts_with(list.entries[i].name, ".anydnn-new-");
    tree_list_free(&list);
    free(now);
    free(dir);
    return any;
}

/* What the journal says; false where there is none or it makes no sense. */
static bool read_journal(const store *s, char **operation, char **build, state *next)
{
    char *path = tree_join(s->dir, ".state/journal"), error[300];
    size_t size = 0;
    char *text = path ? tree_read(s->c->root, path, JOURNAL_AT_MOST, &size) : NULL;
    cells *c = text ? malloc(sizeof *c) : NULL;
    const char *at = text;
    bool good = c && cells_next(c, &at, &size) > 0 && c->count == 2 && strcmp(c->at[0], "anydnn-journal") == 0;
    while (good && size > 0 && !starts_with(at, "anydnn-state\t") && cells_next(c, &at, &size) > 0) {
        char **to = c->count != 2 ? NULL : strcmp(c->at[0], "operation") == 0 ? operation
                  : strcmp(c->at[0], "build") == 0 && cells_path(c->at[1]) && !strchr(c->at[1], '/') ? build : NULL;
        if (to && !*to)
            *to = strdup(c->at[1]);
    }
    if (good && size > 0 && (state_parse(next, at, size, error, sizeof error) != 0 || !store_views_inside(s, next)))
        state_free(next);
    free(c);
    free(text);
    free(path);
    return good;
}

int store_mend(store *s, cli_report *r)
{
    char *operation = NULL, *build = NULL;
    state next = { 0 };
    bool known = read_journal(s, &operation, &build, &next), after = next.generation && next.generation == s->now.generation;
    int code = s->lock >= 0 ? store_settle(s, next.generation ? &next : NULL, build) : 0;
    char *what = cli_format("An earlier `anydnn %s` was cut off %s: %s", known && operation ? operation : "command",
                            after ? "after it had taken effect" : "before it took effect",
                            after ? "the new state is in use" : "the state before it is in use");
    if (code != 0)
        store_fault(r, "Leftovers cannot be removed", s->dir, errno);
    else
        cli_where(cli_finding(r, CLI_NOTE, s->lock >= 0 ? "mended" : "cut-off", what,
                              s->lock >= 0 ? "What it left behind has been cleared up." : "What it left behind is cleared up by the next command that may write here.",
                              NULL), s->dir);
    free(what);
    state_free(&next);
    free(build);
    free(operation);
    return code;
}
