/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * install --verify: what `anydnn verify` says of the new library, as a part of the report of the install. */
#include "act.h"
#include "process.h"

#include <stdlib.h>
#include <string.h>

enum { SECONDS = 300 };

static void say_level(const cli *c, const cJSON *level)
{
    const cJSON *name = cJSON_GetObjectItem(level, "level"), *result = cJSON_GetObjectItem(level, "result");
    const cJSON *why = cJSON_GetObjectItem(level, "skipped"), *proves = cJSON_GetObjectItem(level, "proves");
    bool skipped = cJSON_IsString(why);
    if (cJSON_IsString(name) && cJSON_IsString(result))
        cli_say(c, "verify %s: %s%s%s\n", name->valuestring, result->valuestring, skipped || cJSON_IsString(proves) ? ": " : "",
                skipped ? why->valuestring : cJSON_IsString(proves) ? proves->valuestring : "");
}

/* Its findings become ours, its levels the member "verified". */
static void take_over(act *a, cJSON *answer)
{
    cJSON *levels = cJSON_DetachItemFromObject(answer, "levels"), *findings = cJSON_GetObjectItem(answer, "findings"), *level;
    cJSON_ArrayForEach(level, levels) say_level(a->c, level);
    cJSON_AddItemToObject(a->r.json, "verified", levels);
    while (cJSON_GetArraySize(findings) > 0) {
        cJSON *f = cJSON_DetachItemFromArray(findings, 0);
        const cJSON *severity = cJSON_GetObjectItem(f, "severity");
        const char *word = cJSON_IsString(severity) ? severity->valuestring : "";
        *(strcmp(word, "error") == 0 ? &a->r.errors : strcmp(word, "warning") == 0 ? &a->r.warnings : &a->r.notes) += 1;
        cJSON_AddItemToArray(cJSON_GetObjectItem(a->r.json, "findings"), f);
    }
}

void act_verify(act *a, int abi)
{
    process p;
    char *self = process_self(), *file = cli_format("%s/lib/libcudnn.so.%d", a->s.prefix, abi);
    const char *argv[] = { self, "verify", file, "--json", NULL };
    bool ran = self && file && process_run(&p, argv, NULL, SECONDS) == 0;
    cJSON *answer = ran && p.output.text ? cJSON_Parse(p.output.text) : NULL;
    if (cJSON_IsArray(cJSON_GetObjectItem(answer, "levels")) && cJSON_IsArray(cJSON_GetObjectItem(answer, "findings"))) {
        take_over(a, answer);
    } else {
        char how[120] = "it could not be started";
        if (ran)
            process_how(&p, how);
        char *what = cli_format("anydnn verify has no answer: %s", how);
        cli_where(cli_finding(&a->r, CLI_ERROR, "not-verified", what, ran && p.errors.text ? p.errors.text : "The install itself is done.", NULL), file);
        free(what);
    }
    if (ran)
        process_free(&p);
    cJSON_Delete(answer);
    free(file);
    free(self);
}
