/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What follows from the builds in use: links, files in the way, folders, names to drop. Nothing is changed here. */
#include "cells.h"
#include "change.h"
#include "file.h"
#include "fs.h"
#include "owner.h"
#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *store_view_dir(const state_view *v, const char *name, const char **rest)
{
    size_t n = strcspn(name, "/");
    *rest = name + n + 1;
    return name[0] == 'i' ? v->include : name[0] == 'l' ? v->lib : v->bin;
}

/* The folders below a view (lib/pkgconfig) may be links: followed here, inside the tree, and not by the kernel, which would leave it. */
static char *view_path(const store *s, const state *st, size_t view, const char *name)
{
    const char *rest, *dir = store_view_dir(&st->views[view], name, &rest);
    char *path = tree_join(dir, rest), *real = NULL, *slash = path && strchr(rest, '/') ? strrchr(path, '/') : NULL;
    if (!slash)
        return path;
    *slash = 0;
    char *above = fs_real_as_far(s->c->root, path);
    if (above)
        real = tree_join(above, slash + 1);
    free(above);
    free(path);
    return real;
}

char *store_view_path(const store *s, const state *st, size_t view, const char *name)
{
    char *path = view_path(s, st, view, name), *host = path ? store_host(s, path) : NULL;
    free(path);
    return host;
}

char *store_link_text(const store *s, const state *st, size_t view, const char *name)
{
    char *path = view_path(s, st, view, name), *target = cli_format("%s/current/view%zu/%s", s->dir, view, name), *text = NULL;
    if (path && target) {
        *strrchr(path, '/') = 0;
        text = fs_relative(path, target);
    }
    free(target);
    free(path);
    return text;
}

bool store_is_ours(const store *s, const state *st, size_t view, const char *name)
{
    char *path = store_view_path(s, st, view, name), *text = path ? fs_link_text(path) : NULL;
    char *ours = text ? store_link_text(s, st, view, name) : NULL;
    bool is = ours && strcmp(text, ours) == 0;
    free(ours);
    free(text);
    free(path);
    return is;
}

static int no_memory(cli_report *r)
{
    cli_finding(r, CLI_ERROR, "no-memory", "Memory is short", "Nothing was changed.", NULL);
    return -1;
}

/* Which part of a generation shows this file of a build: "8" or "9" for names that carry the number, "last" for those that every version has. */
static const char *via_of(const char *path, int abi)
{
    cudnn_name n;
    if (strncmp(path, "include/", 8) != 0 && cli_cudnn_name(cli_base_name(path), &n) && n.count > 0)
        return n.numbers[0] != abi ? NULL : abi == 8 ? "8" : "9";
    return "last";
}

/* include, of lib what linkers, pkg-config and CMake look for, of bin only DLLs: what else a build has works from its own folder. */
static bool is_shown(const char *path, size_t view)
{
    static const char *const below[] = { "lib/x64/", "lib/pkgconfig/", "lib/cmake/" };
    size_t n = strlen(path);
    bool deep = strncmp(path, "lib/", 4) == 0 && strchr(path + 4, '/');
    for (size_t i = 0; deep && i < sizeof below / sizeof *below; i++)
        deep = strncmp(path, below[i], strlen(below[i])) != 0;
    if (deep)
        return false;
    if (strncmp(path, "bin/", 4) == 0)
        return n > 4 && strcmp(path + n - 4, ".dll") == 0;
    if (view > 0 && (strncmp(path, "lib/pkgconfig/", 14) == 0 || strncmp(path, "lib/cmake/", 10) == 0))
        return false;
    return strncmp(path, "lib/", 4) == 0 || strncmp(path, "include/", 8) == 0;
}

static bool add_links(state *next, const manifest *m, int abi)
{
    bool good = true;
    for (size_t view = 0; view < next->view_count; view++)
        for (size_t i = 0; i < m->count; i++) {
            const char *path = m->entries[i].path, *via = is_shown(path, view) ? via_of(path, abi) : NULL;
            if (via && (strcmp(via, "last") != 0 || next->used.last == abi) && !state_find(next, 1u << STATE_LINK, view, path))
                good &= state_add_name(next, STATE_LINK, view, path, via);
        }
    return good;
}

static int links_of(store *s, state *next, const manifest *fresh, cli_report *r)
{
    for (int abi = STATE_ABI; abi < STATE_ABI + STATE_SLOTS; abi++) {
        const char *build = state_build(next, abi);
        char error[300] = "", *dir = build ? tree_join(s->dir, build) : NULL;
        manifest m = { 0 };
        bool is_fresh = build && fresh && strcmp(fresh->build, build) == 0;
        int code = build && !is_fresh ? manifest_read(&m, s->c->root, dir, error, sizeof error) : 0;
        if (code != 0) {
            char *what = cli_format("The manifest of %s cannot be read: %s", build, error);
            cli_where(cli_finding(r, CLI_ERROR, "damaged-manifest", what, "Without it nobody knows what belongs to the build. Nothing was changed.",
                                  "anydnn uninstall it and install it again"), dir);
            free(what);
        } else if (build && !add_links(next, is_fresh ? fresh : &m, abi)) {
            code = no_memory(r);
        }
        manifest_free(&m);
        free(dir);
        if (code != 0)
            return -1;
    }
    return 0;
}

/* A file of somebody else that must stay: the sentence why, and what to do; NULL where it may be saved and covered. */
static const char *why_stays(const store *s, const char *path, const char *host, const char *text, char **fix)
{
    char *slash = strrchr(path, '/'), *dir = cli_format("%.*s", (int)(slash - path), path);
    discover_dir folder = { .path = dir, .seen_as = dir };
    const char *why = NULL;
    owners o;
    if (fs_is_dir(host))
        return free(dir), "a folder of that name is in the way";
    if (text && strstr(text, "/etc/alternatives/")) {
        *fix = cli_format("update-alternatives --config %s, or another --prefix", cli_base_name(text));
        return free(dir), "it is a link of the alternatives system, which would make it again";
    }
    if (text && strpbrk(text, "\t\n\r"))
        return free(dir), "it is a link with control characters in its text";
    owners_begin(&o, s->c->root);
    const owner *who = dir ? owner_of(&o, &folder, path) : NULL;
    if (who && strcmp(who->kind, "dpkg") == 0) {
        *fix = cli_format("apt-get remove %s, or another --prefix", who->package);
        why = "it belongs to a package of the system, which would put it back or lose it";
    }
    owners_end(&o);
    free(dir);
    return why;
}

/* Something is under a name that our link needs. */
static int save_name(store *s, state *next, size_t view, const char *name, const char *host, cli_report *r)
{
    char *path = view_path(s, next, view, name), *text = fs_link_text(host), *fix = NULL;
    const char *why = path ? why_stays(s, path, host, text, &fix) : "memory is short";
    int code = 0;
    if (why) {
        char *what = cli_format("%s is in the way, and stays: %s", path ? path : name, why);
        cli_where(cli_finding(r, CLI_ERROR, "in-the-way", what, "Nothing was changed.", fix), path ? path : name);
        free(what);
        code = -1;
    } else {
        char *id = text ? strdup(text) : cli_format("%llu-%zu", (unsigned long long)next->generation, next->name_count);
        if (!id || !state_add_name(next, text ? STATE_SAVED_LINK : STATE_SAVED_FILE, view, name, id))
            code = no_memory(r);
        free(id);
    }
    free(fix);
    free(text);
    free(path);
    return code;
}

static const unsigned SAVED = 1u << STATE_SAVED_FILE | 1u << STATE_SAVED_LINK, LINKS = 1u << STATE_LINK;

/* What was saved before and is still covered by our link stays saved. A file whose place somebody else has taken since is to come back beside it. */
static bool carry_saved(const store *s, state *next, const state_name *n, bool ours)
{
    char *kept = cli_format("%s/.state/saved/%s", s->host, n->text), *place = store_view_path(s, next, n->view, n->name);
    char *beside = cli_format("%s.saved-by-anydnn", n->name);
    bool good = kept && place && beside, exists = good && n->kind == STATE_SAVED_FILE && fs_exists(kept);
    if (good && (ours || (exists && !fs_exists(place))))
        good = state_add_name(next, n->kind, n->view, n->name, n->text);
    else if (good && exists)
        good = state_add_name(next, n->kind, n->view, beside, n->text);
    free(beside);
    free(place);
    free(kept);
    return good;
}

/* What stays saved, and what is in the way now. Links that go are dropped. */
static int saved_of(store *s, state *next, cli_report *r)
{
    for (size_t i = 0; i < s->now.name_count; i++) {
        const state_name *n = &s->now.names[i];
        bool is_saved = SAVED & 1u << n->kind, ours = store_is_ours(s, next, n->view, n->name);
        if (is_saved && !carry_saved(s, next, n, ours))
            return no_memory(r);
        if (!is_saved && ours && !state_find(next, LINKS, n->view, n->name) && !state_find(next, 1u << STATE_DROP, n->view, n->name) &&
            !state_add_name(next, STATE_DROP, n->view, n->name, NULL))
            return no_memory(r);
    }
    int code = 0;
    size_t count = next->name_count;
    for (size_t i = 0; i < count; i++) {
        size_t view = next->names[i].view;
        char *name = next->names[i].kind == STATE_LINK ? strdup(next->names[i].name) : NULL;
        char *host = name ? store_view_path(s, next, view, name) : NULL;
        if (host && fs_exists(host) && !store_is_ours(s, next, view, name))
            code |= save_name(s, next, view, name, host, r);
        free(host);
        free(name);
    }
    return code;
}

/* The folder and those above it that are missing, the outer ones first. */
static bool add_missing(store *s, state *next, const char *dir)
{
    char *host = store_host(s, dir), *above = strdup(dir), *slash = above ? strrchr(above, '/') : NULL;
    bool good = host && above;
    if (good && !fs_exists(host) && !state_has_word(&next->made, dir)) {
        if (slash && slash != above) {
            *slash = 0;
            good = add_missing(s, next, above);
        }
        good = good && state_add_word(&next->made, dir);
    }
    free(above);
    free(host);
    return good;
}

/* Every folder that the change writes in: may it? Folders to make are noted. */
static int folders_of(store *s, state *next, cli_report *r)
{
    state_words asked = { 0 };
    char at[4200];
    int code = fs_may_write(s->host, at, sizeof at);
    if (code)
        return store_fault(r, "The store cannot be changed", at, code);
    for (size_t i = 0; i < s->made.count; i++)
        if (!state_has_word(&next->made, s->made.items[i]) && !state_add_word(&next->made, s->made.items[i]))
            code = no_memory(r);
    for (size_t i = 0; i < next->name_count && code == 0; i++) {
        const state_name *n = &next->names[i];
        char *path = view_path(s, next, n->view, n->name), *host;
        if (path)
            *strrchr(path, '/') = 0;
        if (!path || (n->kind == STATE_LINK && !add_missing(s, next, path)))
            code = no_memory(r);
        if (path && code == 0 && !state_has_word(&asked, path) && state_add_word(&asked, path) && (host = store_host(s, path)) != NULL) {
            int error = fs_may_write(host, at, sizeof at);
            if (error)
                code = store_fault(r, "Links cannot be made", at, error);
            free(host);
        }
        free(path);
    }
    for (size_t i = 0; i < asked.count; i++)
        free(asked.items[i]);
    free(asked.items);
    return code;
}

static bool set_view(state_view *v, const store *s, const char *dir, const char *lib)
{
    char *include = tree_join(dir, "include"), *library = tree_join(dir, lib), *bin = tree_join(dir, "bin");
    *v = (state_view){ include ? fs_real_as_far(s->c->root, include) : NULL, library ? fs_real_as_far(s->c->root, library) : NULL,
                       bin ? fs_real_as_far(s->c->root, bin) : NULL };
    free(include);
    free(library);
    free(bin);
    return v->include && v->lib && v->bin && cells_path(v->include + 1) && cells_path(v->lib + 1) && cells_path(v->bin + 1);
}

static int bad_view(cli_report *r, const char *dir, const char *why)
{
    cli_where(cli_finding(r, CLI_ERROR, "bad-view", "Links cannot be put there", why, NULL), dir);
    return -1;
}

static const char view_rule[] = "Its folders cannot be had: a link that leads nowhere, a backslash or a control character in a name, or more than 1024 bytes.";

static int prefix_view(store *s, state *next, cli_report *r)
{
    if (next->view_count > 0)
        return 0;
    next->view_count = 1;
    if (set_view(&next->views[0], s, s->prefix, "lib"))
        return 0;
    return bad_view(r, s->prefix, view_rule);
}

static void free_view(state_view *v)
{
    free(v->include);
    free(v->lib);
    free(v->bin);
}

int store_add_view(store *s, state *next, const char *dir, cli_report *r)
{
    static const char *const libs[] = { "lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib", "lib/x64" };
    char *path = cli_tree_path(s->c, dir), *real = path ? tree_real(s->c->root, path) : NULL;
    state_view v = { 0 };
    const char *lib = NULL;
    int code = prefix_view(s, next, r);
    bool known = false;
    for (size_t i = 0; real && !lib && i < sizeof libs / sizeof *libs; i++) {
        char *at = tree_join(real, libs[i]);
        if (at && tree_look(s->c->root, at, true).kind == TREE_DIR)
            lib = libs[i];
        free(at);
    }
    if (code == 0 && !lib)
        code = bad_view(r, dir, "It is no tree with a folder lib64 or lib, such as /usr/local/cuda.");
    else if (code == 0 && next->view_count == STATE_VIEWS)
        code = bad_view(r, dir, "There are links in eight trees already.");
    else if (code == 0 && !set_view(&v, s, real, lib))
        code = bad_view(r, dir, view_rule);
    for (size_t i = 0; code == 0 && i < next->view_count; i++)
        known |= strcmp(next->views[i].lib, v.lib) == 0;
    if (code == 0 && !known)
        next->views[next->view_count++] = v;
    else
        free_view(&v);
    free(real);
    free(path);
    return code;
}

int store_plan(store *s, state *next, const manifest *fresh, cli_report *r)
{
    next->generation = s->now.generation + 2;
    if (prefix_view(s, next, r) != 0 || links_of(s, next, fresh, r) != 0 || saved_of(s, next, r) != 0)
        return -1;
    return folders_of(s, next, r);
}

bool store_is_new(const store *s, const state *next, const state_name *n)
{
    if (n->kind == STATE_SAVED_LINK)
        return !store_is_ours(s, next, n->view, n->name);
    for (size_t i = 0; i < s->now.name_count && n->kind == STATE_SAVED_FILE; i++)
        if (s->now.names[i].kind == STATE_SAVED_FILE && strcmp(s->now.names[i].text, n->text) == 0)
            return false;
    return n->kind == STATE_SAVED_FILE;
}

static void tell(cJSON *list, const char *operation, char *path, char *target)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "operation", operation);
    cJSON_AddStringToObject(item, "path", path ? path : "");
    cJSON_AddItemToObject(item, "target", target ? cJSON_CreateString(target) : cJSON_CreateNull());
    cJSON_AddItemToArray(list, item);
    free(target);
    free(path);
}

cJSON *store_operations(const store *s, const state *next, const change *what)
{
    cJSON *list = cJSON_CreateArray();
    if (what->fresh)
        tell(list, "unpack", cli_format("%s/%s", s->dir, what->build), NULL);
    for (size_t i = 0; i < next->made.count; i++)
        if (!state_has_word(&s->now.made, next->made.items[i]) && !state_has_word(&s->made, next->made.items[i]))
            tell(list, "mkdir", strdup(next->made.items[i]), NULL);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < next->name_count; i++) {
            const state_name *n = &next->names[i];
            if (pass == 0 && store_is_new(s, next, n))
                tell(list, "save", view_path(s, next, n->view, n->name),
                     n->kind == STATE_SAVED_FILE ? cli_format("%s/.state/saved/%s", s->dir, n->text) : NULL);
            if (pass == 1 && n->kind == STATE_LINK && !store_is_ours(s, next, n->view, n->name))
                tell(list, "link", view_path(s, next, n->view, n->name), store_link_text(s, next, n->view, n->name));
        }
    tell(list, "commit", cli_format("%s/current", s->dir), cli_format(".state/%llu", (unsigned long long)next->generation));
    for (size_t i = 0; i < next->name_count; i++) {
        const state_name *n = &next->names[i];
        if (n->kind == STATE_DROP && !state_find(next, SAVED, n->view, n->name))
            tell(list, "unlink", view_path(s, next, n->view, n->name), NULL);
        if (SAVED & 1u << n->kind && !state_find(next, LINKS, n->view, n->name))
            tell(list, "restore", view_path(s, next, n->view, n->name), NULL);
    }
    if (what->build && !what->fresh)
        tell(list, "remove", cli_format("%s/%s", s->dir, what->build), NULL);
    return list;
}
