/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * --fix: only links and the loader's cache. A link is made under another name and renamed over the old one, so that there is no moment
 * without it. A file gives way to a link only after its bytes were compared with those of the file that stays. */
#include "check.h"
#include "map.h"
#include "process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>



static bool same_bytes(const check *k, const char *a, const char *b)
{
    char *host_a = tree_host(k->c->root, a), *host_b = tree_host(k->c->root, b), error[240];
    cli_map x, y;
    bool same = false;

    if (host_a && host_b && cli_map_open(&x, host_a, error, sizeof error) == 0) {
        if (cli_map_open(&y, host_b, error, sizeof error) == 0) {
            same = x.size == y.size && memcmp(x.data, y.data, x.size) == 0;
            cli_map_close(&y);
        }
        cli_map_close(&x);
    }
    free(host_b);
    free(host_a);
    return same;
}

static void tell(const check *k, cJSON *list, const char *op, const char *path, const char *target, const char *error)
{
    cJSON *item = cJSON_CreateObject();

    cJSON_AddStringToObject(item, "operation", op);
    cJSON_AddStringToObject(item, "path", path);
    cJSON_AddItemToObject(item, "target", target ? cJSON_CreateString(target) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "error", error ? cJSON_CreateString(error) : cJSON_CreateNull());
    cJSON_AddBoolToObject(item, "done", !error && !k->dry_run);
    cJSON_AddItemToArray(list, item);
}

void check_mend_failures(check *k, const cJSON *list)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, list) {
        const cJSON *error = cJSON_GetObjectItem(item, "error");
        const char *path = cJSON_GetObjectItem(item, "path")->valuestring;

        if (cJSON_IsString(error))
            check_finding(k, CLI_ERROR, "mend-failed", cli_format("%s: %s", cJSON_GetObjectItem(item, "operation")->valuestring, error->valuestring),
                          "this mend was not made; what was there is unchanged", NULL, path);
    }
}

/* Shows, then links dir/name to target by rename. 1 where it was done (or would be), -1 where it failed. */
static int put_link(check *k, const char *dir, const char *name, const char *target, cJSON *list)
{
    char *path = tree_join(dir, name), *real = path ? tree_real_parent(k->c->root, path) : NULL, *host = real ? check_host(k, real) : NULL;
    char *fresh = host ? cli_format("%s.anydnn-%ld", host, (long)getpid()) : NULL;
    const char *error = NULL;

    if (!fresh)
        error = "no memory, or the folder is not there";
    else
        cli_say(k->c, "mend: ln -sfn '%s' '%s'\n", target, host);
    if (!error && !k->dry_run && (symlink(target, fresh) != 0 || rename(fresh, host) != 0)) {
        error = strerror(errno);
        unlink(fresh);
    }
    tell(k, list, "link", path ? path : name, target, error);
    free(fresh);
    free(host);
    free(real);
    free(path);
    return error ? -1 : 1;
}

static bool belongs_to_package(check *k, const check_copy *copy, const char *name)
{
    char *path = tree_join(copy->dir->path, name);
    const owner *who = path ? owner_of(&k->owners, copy->dir, path) : NULL;
    bool is = owner_is_system(who);

    free(path);
    return is;
}

/* Files that should be links to their twin. */
static int mend_copies(check *k, const check_copy *copy, cJSON *list)
{
    int changes = 0;

    for (size_t i = 0; i < copy->count; i++) {
        const check_file *keeper = check_twin(copy, i);
        char *a = keeper ? tree_join(copy->dir->path, copy->files[i].name->name) : NULL;
        char *b = keeper ? tree_join(copy->dir->path, keeper->name->name) : NULL;

        if (a && b && !belongs_to_package(k, copy, copy->files[i].name->name) && same_bytes(k, a, b))
            changes += put_link(k, copy->dir->path, copy->files[i].name->name, keeper->name->name, list) > 0;
        free(b);
        free(a);
    }
    return changes;
}

/* The file of a part that carries this SONAME; the name with the most numbers where there are several. */
static const check_file *file_with(const check_copy *copy, const char *soname)
{
    const check_file *best = NULL;

    for (size_t i = 0; i < copy->count; i++) {
        const check_file *f = &copy->files[i];

        if (f->file && !f->name->link && !f->file->truncated && f->file->soname && strcmp(f->file->soname, soname) == 0 &&
            f->file->version == copy->version && (!best || strlen(f->name->name) > strlen(best->name->name)))
            best = f;
    }
    return best;
}

static const check_file *file_called(const check_copy *copy, const char *name)
{
    for (size_t i = 0; i < copy->count; i++)
        if (strcmp(copy->files[i].name->name, name) == 0)
            return &copy->files[i];
    return NULL;
}

/* SONAME links that are not there or lead nowhere; a bare link that leads nowhere. Links through /etc/alternatives are the package system's. */
static int mend_links(check *k, const check_copy *copy, cJSON *list)
{
    const char *const *parts = cli_sublibraries(copy->version);
    char soname[80], bare[80];
    int changes = 0;

    for (size_t i = 0; parts && parts[i]; i++) {
        const check_file *there, *file, *open;

        cli_library_name(parts[i], copy->abi, false, soname, sizeof soname);
        snprintf(bare, sizeof bare, "%.*s", (int)(strstr(soname, ".so") + 3 - soname), soname);
        there = file_called(copy, soname);
        file = file_with(copy, soname);
        open = file_called(copy, bare);
        if (!file || belongs_to_package(k, copy, soname))
            continue;
        if ((!there || (!there->name->real && !strstr(there->name->link, "/etc/alternatives/"))) && strcmp(file->name->name, soname) != 0)
            changes += put_link(k, copy->dir->path, soname, file->name->name, list) > 0;
        if (open && !open->name->real && open->name->link && strcmp(open->name->link, soname) != 0 && !strstr(open->name->link, "/etc/alternatives/") &&
            !belongs_to_package(k, copy, bare))
            changes += put_link(k, copy->dir->path, bare, soname, list) > 0;
    }
    return changes;
}

static bool has_finding(const check *k, const char *id)
{
    const cJSON *f;

    cJSON_ArrayForEach(f, cJSON_GetObjectItem(k->report.json, "findings"))
        if (strcmp(cJSON_GetObjectItem(f, "id")->valuestring, id) == 0)
            return true;
    return false;
}

/* Runs ldconfig, for the tree where there is one. */
static int mend_cache(check *k, cJSON *list)
{
    const char *error = NULL;

    if (geteuid() != 0) {
        tell(k, list, "ldconfig", "/etc/ld.so.cache", NULL, "only root may write the cache; run: sudo ldconfig");
        return 0;
    }
    cli_say(k->c, *k->c->root ? "mend: ldconfig -r '%s'\n" : "mend: ldconfig%s\n", k->c->root);
    if (!k->dry_run && process_ldconfig(k->c->root))
        error = "ldconfig failed";
    tell(k, list, "ldconfig", "/etc/ld.so.cache", NULL, error);
    return error ? 0 : 1;
}

int check_mend(check *k, cJSON *list)
{
    int changes = 0;

    for (size_t i = 0; i < k->copy_count; i++) {
        const check_copy *copy = &k->copies[i];

        if (copy->is_dll || !copy->count || copy->files[0].name->mangled)
            continue;
        changes += mend_copies(k, copy, list);
        changes += mend_links(k, copy, list);
    }
    if (has_finding(k, "cache-stale"))
        changes += mend_cache(k, list);
    return changes;
}
