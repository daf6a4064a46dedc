/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * From one state to the next. The order of the steps is what change.h promises. */
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

static const unsigned SAVED = 1u << STATE_SAVED_FILE | 1u << STATE_SAVED_LINK, LINKS = 1u << STATE_LINK;

static int fail(int error)
{
    errno = error;
    return -1;
}

static int make_folder(const char *host)
{
    return mkdir(host, 0755) == 0 || errno == EEXIST ? 0 : -1;
}

static int make_inner(const store *s, const char *name)
{
    char *path = store_inner(s, name);
    int code = path ? make_folder(path) : fail(ENOMEM);
    fs_free(path, NULL, NULL, NULL);
    return code;
}

int store_journal(store *s, const change *what, const state *next)
{
    grow g = { 0 };
    char *record = next ? state_text(next) : NULL, *path = store_inner(s, ".state/journal"), *operation = cli_clean(what->operation, true);
    grow_add(&g, "anydnn-journal\t1\noperation\t%.400s\n", operation ? operation : "");
    if (what->build)
        grow_add(&g, "build\t%s\n", what->build);
    if (record)
        grow_add(&g, "%s", record);
    char *text = grow_take(&g);
    int code = !text || !path || !operation || (next && !record) ? fail(ENOMEM) : make_inner(s, ".state");
    if (code == 0)
        code = fs_put_text(path, text, strlen(text), 0644);
    fs_free(operation, text, path, record);
    return code;
}

/* Text of a generation's link for one name: to the build, to the file that was saved, or to what the saved link leads to. */
static char *inner_text(const store *s, const state *st, const state_name *n)
{
    grow g = { 0 };
    const char *rest;
    for (const char *p = n->name; *p; p++)
        if (*p == '/')
            grow_add(&g, "../");
    if (n->kind == STATE_LINK)
        grow_add(&g, "../%s/%s", n->text, n->name);
    else if (n->kind == STATE_SAVED_FILE)
        grow_add(&g, "../../saved/%s", n->text);
    if (n->kind != STATE_SAVED_LINK)
        return grow_take(&g);
    free(grow_take(&g));
    if (n->text[0] == '/')
        return strdup(n->text);
    char *from = cli_format("%s/.state/%llu/view%zu/%s", s->dir, (unsigned long long)st->generation, n->view, n->name);
    const char *view = store_view_dir(&st->views[n->view], n->name, &rest);
    char *dir = tree_join(view, rest), *way = NULL, *text = NULL;
    if (from && dir) {
        *strrchr(from, '/') = *strrchr(dir, '/') = 0;
        way = fs_relative(from, dir);
        text = way ? tree_join(way, n->text) : NULL;
    }
    free(way);
    free(dir);
    free(from);
    return text;
}

static int put_inner(const store *s, const state *st, const char *top, const state_name *n)
{
    char *path = cli_format("view%zu/%s", n->view, n->name), *whole = path ? tree_join(top, path) : NULL, *text = inner_text(s, st, n);
    int code = whole && text ? fs_make_above(top, path) : fail(ENOMEM);
    if (code == 0)
        code = symlink(text, whole);
    fs_free(text, whole, path, NULL);
    return code;
}

/* The links 8, 9 and last of a generation. */
static int put_slots(const state *st, const char *top)
{
    int code = 0;
    for (int abi = 0; abi < STATE_ABI + STATE_SLOTS && code == 0; abi = abi ? abi + 1 : STATE_ABI) {
        const char *build = abi ? state_build(st, abi) : NULL;
        char *path = abi ? cli_format("%s/%d", top, abi) : tree_join(top, "last");
        char *text = abi ? (build ? cli_format("../../%s", build) : NULL) : st->used.last ? cli_format("%d", st->used.last) : NULL;
        if (!path)
            code = fail(ENOMEM);
        else if (text)
            code = symlink(text, path);
        fs_free(text, path, NULL, NULL);
    }
    return code;
}

/* Writes .state/N whole; nothing leads to it yet. */
static int write_generation(store *s, const state *st)
{
    char *top = cli_format("%s/.state/%llu", s->host, (unsigned long long)st->generation), *record = top ? tree_join(top, "record") : NULL;
    char *text = state_text(st);
    int code = record && text ? fs_remove(top) : fail(ENOMEM);
    if (code == 0)
        code = mkdir(top, 0755);
    if (code == 0)
        code = put_slots(st, top);
    for (size_t i = 0; i < st->name_count && code == 0; i++) {
        const state_name *n = &st->names[i];
        if (n->kind == STATE_LINK || (SAVED & 1u << n->kind && !state_find(st, LINKS, n->view, n->name)))
            code = put_inner(s, st, top, n);
    }
    if (code == 0)
        code = fs_put_text(record, text, strlen(text), 0644);
    fs_free(text, record, top, NULL);
    return code;
}

/* The folder's names must be on the disk before anything leads to them. */
static int sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int code = fsync(fd), saved = errno;
    close(fd);
    errno = saved;
    /* Some file systems cannot. */
    return code != 0 && saved != EINVAL ? -1 : 0;
}

/* The one rename. */
static int commit(store *s, uint64_t generation)
{
    char *path = store_inner(s, "current"), *text = cli_format(".state/%llu", (unsigned long long)generation), *top = text ? store_inner(s, text) : NULL;
    int code = path && top ? sync_folder(top) : fail(ENOMEM);
    if (code == 0)
        code = sync_folder(s->host);
    if (code == 0)
        code = fs_put_link(path, text);
    if (code == 0)
        sync_folder(s->host);
    fs_free(top, text, path, NULL);
    return code;
}

static int keep_file(store *s, const state *next, const state_name *n)
{
    char *from = store_view_path(s, next, n->view, n->name), *to = cli_format("%s/.state/saved/%s", s->host, n->text);
    int code = from && to ? make_inner(s, ".state/saved") : fail(ENOMEM);
    if (code == 0)
        code = fs_keep(from, to);
    fs_free(to, from, NULL, NULL);
    return code;
}

/* Files in the way: kept, then shown by a generation that is the old state otherwise. 0 where there are none, too. */
static int save_all(store *s, const state *next)
{
    state middle = { 0 };
    bool any = false;
    int code = 0;
    for (size_t i = 0; i < next->name_count && code == 0; i++)
        if (store_is_new(s, next, &next->names[i])) {
            any = true;
            if (next->names[i].kind == STATE_SAVED_FILE)
                code = keep_file(s, next, &next->names[i]);
        }
    if (!any || code != 0)
        return code;
    bool good = state_copy(&middle, &s->now);
    for (; good && middle.view_count < next->view_count; middle.view_count++) {
        const state_view *v = &next->views[middle.view_count];
        state_view *w = &middle.views[middle.view_count];
        *w = (state_view){ strdup(v->include), strdup(v->lib), strdup(v->bin) };
        good = w->include && w->lib && w->bin;
    }
    for (size_t i = 0; i < s->now.name_count && good; i++) {
        const state_name *n = &s->now.names[i];
        /* What was saved once and is in its place again is none of ours. */
        if (!(SAVED & 1u << n->kind) || store_is_ours(s, &s->now, n->view, n->name))
            good = state_add_name(&middle, n->kind, n->view, n->name, n->text);
    }
    for (size_t i = 0; i < next->name_count && good; i++)
        if (store_is_new(s, next, &next->names[i]))
            good = state_add_name(&middle, next->names[i].kind, next->names[i].view, next->names[i].name, next->names[i].text);
    middle.generation = s->now.generation + 1;
    code = good ? write_generation(s, &middle) : fail(ENOMEM);
    if (code == 0)
        code = commit(s, middle.generation);
    int saved = errno;
    state_free(&middle);
    errno = saved;
    return code;
}

static int make_folders(const store *s, const state *next)
{
    int code = 0;
    for (size_t i = 0; i < next->made.count && code == 0; i++) {
        char *host = store_host(s, next->made.items[i]);
        code = host ? make_folder(host) : fail(ENOMEM);
        free(host);
    }
    return code;
}

/* Links that are not right yet, over a file that was saved too. */
static int put_links(const store *s, const state *next, const char **at)
{
    int code = 0;
    for (size_t i = 0; i < next->name_count && code == 0; i++) {
        const state_name *n = &next->names[i];
        if (n->kind != STATE_LINK || store_is_ours(s, next, n->view, n->name))
            continue;
        char *host = store_view_path(s, next, n->view, n->name), *text = store_link_text(s, next, n->view, n->name);
        *at = n->name;
        code = host && text ? fs_put_link(host, text) : fail(ENOMEM);
        fs_free(text, host, NULL, NULL);
    }
    return code;
}

/* current-8 and current-9, for people and scripts. */
static int put_currents(const store *s, const state *next)
{
    int code = 0;
    for (int abi = STATE_ABI; abi < STATE_ABI + STATE_SLOTS && code == 0; abi++) {
        char *path = cli_format("%s/current-%d", s->host, abi), *text = cli_format("current/%d", abi), *there = path ? fs_link_text(path) : NULL;
        if (!path || !text)
            code = fail(ENOMEM);
        else if (state_build(next, abi) && (!there || strcmp(there, text) != 0))
            code = fs_put_link(path, text);
        fs_free(there, text, path, NULL);
    }
    return code;
}

static int place_build(const store *s, const change *what)
{
    if (!what->fresh)
        return 0;
    char *from = store_inner(s, what->fresh), *to = store_inner(s, what->build);
    /* A folder of that name that no record knows is a leftover. */
    int code = from && to ? fs_remove(to) : fail(ENOMEM);
    if (code == 0)
        code = rename(from, to);
    fs_free(to, from, NULL, NULL);
    return code;
}

/* Everything up to and with the commit; at names what the step was about. */
static int advance(store *s, const state *next, const change *what, const char **at)
{
    *at = ".state/journal";
    if (store_journal(s, what, next) != 0)
        return -1;
    *at = what->build ? what->build : "";
    if (place_build(s, what) != 0)
        return -1;
    *at = s->prefix;
    if (make_folders(s, next) != 0)
        return -1;
    *at = ".state";
    if (save_all(s, next) != 0 || write_generation(s, next) != 0)
        return -1;
    if (put_links(s, next, at) != 0)
        return -1;
    *at = "current";
    if (put_currents(s, next) != 0)
        return -1;
    return commit(s, next->generation);
}

int store_change(store *s, state *next, const change *what, cli_report *r)
{
    const char *at = "";
    char error[300] = "";
    int code = advance(s, next, what, &at), failed = errno;
    bool good = store_read(s, error, sizeof error) == 0;
    if (code != 0) {
        char *path = at[0] == '/' ? strdup(at) : tree_join(strncmp(at, "lib/", 4) == 0 || strncmp(at, "include/", 8) == 0 ? s->prefix : s->dir, at);
        store_fault(r, "The change was not made", path ? path : at, failed);
        free(path);
    }
    if (good && store_settle(s, next, what->build) != 0) {
        char *text = cli_format("Something could not be cleared up: %s", strerror(errno));
        cli_where(cli_finding(r, CLI_WARNING, "leftovers", text ? text : "", "The state is whole; only leftovers are there.", "the next command clears them up"),
                  s->dir);
        free(text);
    }
    return code;
}
