/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "act.h"
#include "tree.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int act_option(act *a, const char *command, int argc, char **argv, int *i)
{
    struct { const char *name; const char **value; } options[] = { { "--prefix", &a->prefix }, { "--link-into", &a->link_into } };
    const char *word = argv[*i];
    if (strcmp(word, "--dry-run") == 0) {
        a->dry_run = true;
        return 1;
    }
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        const char *value = cli_option_value(argc, argv, i, options[k].name);
        if (!value)
            continue;
        if (!*value) {
            cli_usage(command, "%s needs a folder", options[k].name);
            return -1;
        }
        *options[k].value = value;
        return 1;
    }
    if (word[0] == '-' && word[1]) {
        cli_usage(command, "there is no option %s", word);
        return -1;
    }
    return 0;
}

int act_begin(act *a, const char *command)
{
    /* What is installed is for everybody, whatever the caller keeps for himself elsewhere. */
    umask(022);
    /* A limit on the size of files is a full disk: to be said, not to die of. */
    signal(SIGXFSZ, SIG_IGN);
    cli_report_begin(&a->r, command);
    if (store_open(&a->s, a->c, a->prefix, !a->dry_run, &a->r) != 0)
        return -1;
    if (!state_copy(&a->next, &a->s.now)) {
        cli_finding(&a->r, CLI_ERROR, "no-memory", "Memory is short", "Nothing was changed.", NULL);
        return -1;
    }
    return 0;
}

typedef struct extra {
    act *a;
    cJSON *where;
} extra;

static void note_extra(void *user, manifest_state found, const char *path, const char *why)
{
    extra *e = user;
    (void)why;
    if (found != MANIFEST_EXTRA)
        return;
    if (!e->where)
        e->where = cli_finding(&e->a->r, CLI_ERROR, "extra-files", "Files that did not come from the archive lie in the build's folder",
                               "They would be lost with it. Nothing was changed.", "move them somewhere else first");
    cli_where(e->where, path);
}

bool act_extra(act *a, const char *build)
{
    extra e = { .a = a };
    char error[300], *dir = tree_join(a->s.dir, build);
    manifest m = { 0 };
    if (dir && manifest_read(&m, a->c->root, dir, error, sizeof error) == 0)
        manifest_verify(&m, a->c->root, dir, false, note_extra, &e);
    manifest_free(&m);
    free(dir);
    return e.where != NULL;
}

static void print_operations(const act *a, const cJSON *list)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        const cJSON *target = cJSON_GetObjectItem(item, "target");
        char *path = cli_clean(cJSON_GetObjectItem(item, "path")->valuestring, true);
        char *to = cJSON_IsString(target) ? cli_clean(target->valuestring, true) : NULL;
        cli_say(a->c, "%-8s %s%s%s\n", cJSON_GetObjectItem(item, "operation")->valuestring, path ? path : "", to ? " -> " : "", to ? to : "");
        free(to);
        free(path);
    }
}

int act_change(act *a, const change *what, const manifest *fresh)
{
    if (a->link_into && store_add_view(&a->s, &a->next, a->link_into, &a->r) != 0)
        return -1;
    if (store_plan(&a->s, &a->next, fresh, &a->r) != 0)
        return -1;
    char *before[STATE_SLOTS + 1] = { NULL };
    for (int i = 0; i < STATE_SLOTS; i++) {
        const char *old = a->s.now.used.build[i], *new = a->next.used.build[i];
        if (old && (!new || strcmp(old, new) != 0))
            before[i] = strdup(old);
    }
    if (what->build && !what->fresh && !state_has_word(&a->next.builds, what->build) && (!before[0] || strcmp(before[0], what->build) != 0) &&
        (!before[1] || strcmp(before[1], what->build) != 0))
        before[STATE_SLOTS] = strdup(what->build);
    cJSON *operations = store_operations(&a->s, &a->next, what);
    cJSON_AddItemToObject(a->r.json, "operations", operations);
    cJSON_AddBoolToObject(a->r.json, "done", false);
    int code = 0;
    act_search(a);
    if (a->dry_run)
        print_operations(a, operations);
    else
        code = store_change(&a->s, &a->next, what, &a->r);
    if (code == 0 && !a->dry_run)
        cJSON_ReplaceItemInObject(a->r.json, "done", cJSON_CreateTrue());
    if (code == 0)
        act_loader(a);
    for (int i = 0; i <= STATE_SLOTS; i++) {
        if (code == 0 && !a->dry_run && before[i])
            act_processes(a, before[i]);
        free(before[i]);
    }
    return code;
}

int act_end(act *a, char *done)
{
    cJSON *used = cJSON_AddObjectToObject(a->r.json, "in_use");
    for (int abi = STATE_ABI; abi < STATE_ABI + STATE_SLOTS; abi++) {
        char name[8];
        const char *build = state_build(&a->s.now, abi);
        snprintf(name, sizeof name, "%d", abi);
        cJSON_AddItemToObject(used, name, build ? cJSON_CreateString(build) : cJSON_CreateNull());
    }
    cJSON_AddItemToObject(used, "last", a->s.now.used.last ? cJSON_CreateNumber(a->s.now.used.last) : cJSON_CreateNull());
    if (done && !a->dry_run && a->r.errors == 0)
        cli_say(a->c, "%s\n", done);
    if (a->dry_run && a->r.errors == 0)
        cli_say(a->c, "Nothing was changed (--dry-run).\n");
    free(done);
    state_free(&a->next);
    bool unreadable = a->s.unreadable;
    store_close(&a->s);
    int code = cli_report_end(a->c, &a->r);
    return unreadable ? CLI_CANNOT_READ : code;
}
