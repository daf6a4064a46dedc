/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * anydnn list: the builds of the store, which is in use, and what was changed behind the store's back. */
#include "act.h"
#include "fs.h"
#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct listing {
    act *a;
    const char *build;
    cJSON *changed;   /* of the build at hand */
    size_t told;
} listing;

static void tell(void *user, manifest_state found, const char *path, const char *why)
{
    listing *l = user;
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "path", path);
    cJSON_AddStringToObject(item, "state", manifest_state_name(found));
    cJSON_AddStringToObject(item, "why", why ? why : "");
    cJSON_AddItemToArray(l->changed, item);
    char *what = cli_format("%s of %s %s since it was installed%s%s", path, l->build,
                            found == MANIFEST_MISSING ? "is gone" : found == MANIFEST_EXTRA ? "was added" : found == MANIFEST_CHANGED ? "was changed" : "cannot be read",
                            why ? ": it " : "", found == MANIFEST_MISSING || found == MANIFEST_UNREADABLE || !why ? "" : why);
    if (what && (found == MANIFEST_MISSING || found == MANIFEST_UNREADABLE))
        *strrchr(what, ':') = 0;
    if (l->told++ < 20)
        cli_where(cli_finding(&l->a->r, CLI_WARNING, "changed-file", what ? what : path,
                              "Programs may get other code than the build's; the manifest keeps the checksum that it had.",
                              found == MANIFEST_EXTRA ? "remove it, if nobody needs it" : "install the archive again: it puts the build back"), path);
    free(what);
}

static void list_build(act *a, const char *build, bool all_bytes, cJSON *builds)
{
    manifest m;
    char error[300] = "", *dir = tree_join(a->s.dir, build);
    cJSON *item = cJSON_CreateObject();
    uint64_t size = 0;
    int code = manifest_read(&m, a->c->root, dir, error, sizeof error);
    bool closed = code != 0 && (errno == EACCES || errno == EPERM);
    cJSON_AddStringToObject(item, "build", build);
    cJSON_AddStringToObject(item, "path", dir ? dir : "");
    cJSON_AddStringToObject(item, "version", m.version ? m.version : "");
    cJSON_AddNumberToObject(item, "abi", m.abi);
    cJSON_AddItemToObject(item, "cuda", m.cuda ? cJSON_CreateNumber(m.cuda) : cJSON_CreateNull());
    cJSON_AddStringToObject(item, "platform", m.platform ? m.platform : "");
    cJSON_AddStringToObject(item, "archive", m.archive ? m.archive : "");
    cJSON_AddStringToObject(item, "sha256", m.archive_sha256);
    for (size_t i = 0; i < m.count; i++)
        size += m.entries[i].size;
    bool in_use = false, last = false;
    for (int abi = STATE_ABI; abi < STATE_ABI + STATE_SLOTS; abi++) {
        const char *used = state_build(&a->s.now, abi);
        in_use |= used && strcmp(used, build) == 0;
        last |= used && strcmp(used, build) == 0 && a->s.now.used.last == abi;
    }
    cJSON_AddNumberToObject(item, "bytes", (double)size);
    cJSON_AddBoolToObject(item, "in_use", in_use);
    cJSON_AddBoolToObject(item, "last", last);
    listing l = { a, build, cJSON_AddArrayToObject(item, "changed"), 0 };
    if (code == 0) {
        manifest_verify(&m, a->c->root, dir, all_bytes, tell, &l);
    } else {
        char *what = cli_format("%s: %s", build, error);
        cli_where(cli_finding(&a->r, CLI_ERROR, closed ? "unreadable" : "damaged-manifest", what, "What belongs to this build is not known.",
                              closed ? "run it as somebody who may read it" : "anydnn uninstall it and install it again"), dir);
        a->s.unreadable |= closed;
        free(what);
    }
    cli_say(a->c, "%c%c %-44s %6.1f MiB  %s\n", in_use ? '*' : ' ', last ? 'h' : ' ', build, (double)size / 1048576, m.archive ? m.archive : "");
    cJSON_AddItemToArray(builds, item);
    manifest_free(&m);
    free(dir);
}

/* Links of the state that somebody replaced or removed. */
static void list_links(act *a)
{
    const state *st = &a->s.now;
    cJSON *where = NULL;
    size_t count = 0;
    for (size_t i = 0; i < st->name_count; i++) {
        const state_name *n = &st->names[i];
        if (n->kind != STATE_LINK || store_is_ours(&a->s, st, n->view, n->name))
            continue;
        char *path = store_view_path(&a->s, st, n->view, n->name);
        if (!where)
            where = cli_finding(&a->r, CLI_WARNING, "changed-link", "Links of the build in use were replaced or removed",
                                "What lies there now did not come from the store; programs may get another library.", "anydnn use the version again");
        if (path && count++ < 20)
            cli_where(where, path + strlen(a->s.root));
        free(path);
    }
}

static bool may_write(const store *s)
{
    char at[4200];
    return fs_exists(s->host) && fs_may_write(s->host, at, sizeof at) == 0;
}

/* Reads; where an operation was cut off and this user may write, opens it anew to mend. */
static int open_list(act *a)
{
    cli_report_begin(&a->r, "list");
    int code = store_open(&a->s, a->c, a->prefix, false, &a->r);
    if (code != 0 || !store_has_leftovers(&a->s) || !may_write(&a->s))
        return code;
    store_close(&a->s);
    cJSON_Delete(a->r.json);
    cli_report_begin(&a->r, "list");
    return store_open(&a->s, a->c, a->prefix, true, &a->r);
}

static int run(cli *c, int argc, char **argv)
{
    act a = { .c = c };
    bool all_bytes = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--checksums") == 0) {
            all_bytes = true;
            continue;
        }
        int taken = act_option(&a, "list", argc, argv, &i);
        if (taken < 0)
            return CLI_USAGE;
        if (taken == 0 || a.dry_run || a.link_into)
            return cli_usage("list", "\"%s\" is too much", argv[i]);
    }
    if (open_list(&a) == 0) {
        cJSON *builds = cJSON_AddArrayToObject(a.r.json, "builds");
        if (a.s.now.builds.count == 0)
            cli_say(c, "No build is installed in %s.\n", a.s.dir);
        else
            cli_say(c, "Builds in %s (* in use, h headers and libcudnn.so):\n", a.s.dir);
        for (size_t i = 0; i < a.s.now.builds.count; i++)
            list_build(&a, a.s.now.builds.items[i], all_bytes, builds);
        list_links(&a);
        cJSON_AddNumberToObject(a.r.json, "states_before", (double)a.s.now.before_count);
    }
    return act_end(&a, NULL);
}

const cli_command cli_list = {
    .name = "list",
    .run = run,
    .summary = "installed versions, which is in use, what was changed",
    .usage = "usage: anydnn list [--prefix DIR] [--checksums]\n\n"
             "The builds in PREFIX/opt/cudnn, which of them is in use, and files and links that were changed since.\n\n"
             "  --prefix DIR  /usr/local for root, ~/.local otherwise\n"
             "  --checksums   read every file; without it a file with the size and time that it had is taken to be the same\n",
};
