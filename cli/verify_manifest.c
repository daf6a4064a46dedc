/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * `verify --manifest`: every byte of an installed build against what its manifest says was put there. */
#include "verify.h"
#include "manifest.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char proves[] = "every file of this build has the bytes that the install put there";
static const char proves_not[] = "that the archive was the vendor's (anydnn install compares its checksum), or that programs load this build (level 1)";

typedef struct teller {
    verify *v;
    cJSON *list;
    const char *dir;
} teller;

static void tell(void *user, manifest_state state, const char *path, const char *why)
{
    teller *t = user;
    char *full = tree_join(t->dir, path);
    bool extra = state == MANIFEST_EXTRA;
    cJSON *where = verify_finding(t->v, extra ? CLI_WARNING : CLI_ERROR, extra ? "file-extra" : "file-changed",
                                  extra ? "It was not there after the install. A library of another version in this folder can be loaded in a mix."
                                        : "Another program or person changed it since: it is no longer what was checked at the install.",
                                  extra ? NULL : "anydnn install the archive again, after anydnn uninstall", "%s: %s%s%s", path,
                                  manifest_state_name(state), why && *why ? ", " : "", why ? why : "");

    cli_where(where, full ? full : path);
    cJSON_AddItemToArray(t->list, cJSON_CreateString(path));
    free(full);
}

static void verify_one(verify *v, const char *build, const char *dir)
{
    char error[400] = "", *title = cli_format("Manifest of %s", build), text[64];
    verify_level level = verify_begin(v, "manifest", title ? title : build);
    manifest m;

    cJSON_AddStringToObject(level.json, "build", build);
    memset(&m, 0, sizeof m);
    if (manifest_read(&m, v->c->root, dir, error, sizeof error) != 0) {
        verify_finding(v, CLI_ERROR, "no-manifest", "Without it nothing can be compared.", NULL, "The manifest of %s: %s", build, error);
    } else {
        teller t = { v, cJSON_AddArrayToObject(level.json, "changed"), dir };
        size_t changed = manifest_verify(&m, v->c->root, dir, true, tell, &t);
        snprintf(text, sizeof text, "%zu, %zu changed", m.count, changed);
        verify_fact(v, &level, "entries", text);
    }
    manifest_free(&m);
    verify_end(v, &level, NULL, proves, proves_not);
    free(title);
}

int verify_manifest(verify *v)
{
    char error[600] = "", *prefix;
    store_names builds;

    if (v->word) {
        if (store_resolve(v->c, v->word, NULL, 0, &v->place, error, sizeof error) != 0) {
            cli_problem("anydnn verify: %s", error);
            return CLI_CANNOT_READ;
        }
        if (v->place.build) {
            /* dir may be a prefix whose links lead to the build. */
            char *dir = v->place.prefix ? cli_format("%s/opt/cudnn/%s", v->place.prefix, v->place.build) : NULL;
            verify_one(v, v->place.build, dir ? dir : v->place.dir);
            free(dir);
            return CLI_GOOD;
        }
        prefix = v->place.prefix ? strdup(v->place.prefix) : NULL;
    } else {
        prefix = store_default_prefix(v->c);
    }
    builds = prefix ? store_builds(v->c, prefix) : (store_names){ NULL, 0 };
    for (size_t i = 0; i < builds.count; i++) {
        char *dir = cli_format("%s/opt/cudnn/%s", prefix, builds.items[i]);
        if (dir)
            verify_one(v, builds.items[i], dir);
        free(dir);
    }
    bool any = builds.count > 0;
    if (!any)
        cli_problem("anydnn verify: %s%s has no build of `anydnn install`, so there is no manifest", prefix ? prefix : "the library",
                prefix ? "/opt/cudnn" : "");
    store_names_free(&builds);
    free(prefix);
    return any ? CLI_GOOD : CLI_CANNOT_READ;
}
