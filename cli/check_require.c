/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * --require: "8.9.7" (some complete copy has this version; fewer numbers match more), "cudnn>=8.9", "cuda>=11.8" (a toolkit), "driver>=525". */
#include "check.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct requirement {
    char what[8];   /* cudnn, cuda or driver */
    char op[3];     /* "" for a plain version */
    const char *version;
} requirement;

static bool parse(const char *text, requirement *r)
{
    static const char *const what[] = {"cudnn", "cuda", "driver"}, *const ops[] = {">=", "<=", "==", ">", "<", "="};
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz");

    *r = (requirement){.what = "cudnn"};
    for (size_t i = 0; n > 0 && i < sizeof what / sizeof *what; i++)
        if (strlen(what[i]) == n && strncmp(text, what[i], n) == 0)
            snprintf(r->what, sizeof r->what, "%s", what[i]);
    if (n > 0 && strncmp(text, r->what, n) != 0)
        return false;
    text += n + strspn(text + n, " ");
    for (size_t i = 0; !*r->op && i < sizeof ops / sizeof *ops; i++)
        if (strncmp(text, ops[i], strlen(ops[i])) == 0)
            snprintf(r->op, sizeof r->op, "%s", ops[i]);
    text += strlen(r->op);
    text += strspn(text, " ");
    r->version = text;
    if (n > 0 && !*r->op)
        return false;
    if (!isdigit((unsigned char)*text) || text[strspn(text, "0123456789.")] || text[strlen(text) - 1] == '.' || strstr(text, ".."))
        return false;
    return strcmp(r->what, "cudnn") != 0 || (!strchr(text, '.') && atoi(text) < 100) || cli_version_parse(text) != 0;
}

bool check_require_parses(const char *text)
{
    requirement r;

    return parse(text, &r);
}

/* "9.10.2" begins with the numbers of "9.10". */
static bool begins(const char *version, const char *prefix)
{
    size_t n = strlen(prefix);

    return strncmp(version, prefix, n) == 0 && (version[n] == 0 || version[n] == '.');
}

static bool meets(const requirement *r, const char *version)
{
    int order = check_compare(version, r->version);
    bool same = begins(version, r->version);

    if (!*r->op || strcmp(r->op, "=") == 0 || strcmp(r->op, "==") == 0)
        return same;
    if (strcmp(r->op, ">=") == 0)
        return order >= 0;
    if (strcmp(r->op, "<=") == 0)
        return order <= 0 || same;
    return *r->op == '>' ? order > 0 && !same : order < 0;
}

static void offer(const requirement *r, const char *version, bool usable, char **found, bool *met)
{
    char *longer = cli_format("%s%s%s%s", *found ? *found : "", *found ? ", " : "", version, usable ? "" : " (not complete)");

    free(*found);
    *found = longer;
    *met = *met || (usable && meets(r, version));
}

/* The build number of "8.9.7.29" cannot be read from a library; the three numbers before it are held against the copies. */
static void cut_build(requirement *r, char *out, size_t size)
{
    size_t n = 0, dots = 0;

    for (; r->version[n] && n + 1 < size; n++) {
        dots += r->version[n] == '.';
        if (dots == 3)
            break;
        out[n] = r->version[n];
    }
    out[n] = 0;
    r->version = out;
}

static void judge(check *k, const char *text, cJSON *list)
{
    requirement r;
    bool met = false;
    char *found = NULL, cut[32], version[32];
    cJSON *item = cJSON_CreateObject();

    if (!parse(text, &r)) {
        cJSON_Delete(item);
        return;
    }
    if (strcmp(r.what, "cudnn") == 0 && (strchr(r.version, '.') || atoi(r.version) < 100)) {
        cut_build(&r, cut, sizeof cut);
    } else if (strcmp(r.what, "cudnn") == 0) {
        cli_version_text(cli_version_parse(r.version), cut);
        r.version = cut;
    }
    for (size_t i = 0; strcmp(r.what, "cudnn") == 0 && i < k->copy_count; i++)
        if (k->copies[i].version)
            offer(&r, cli_version_text(k->copies[i].version, version), k->copies[i].is_complete, &found, &met);
    for (size_t i = 0; strcmp(r.what, "cuda") == 0 && i < k->toolkit_count; i++)
        if (k->toolkits[i].version)
            offer(&r, k->toolkits[i].version, true, &found, &met);
    if (strcmp(r.what, "driver") == 0 && k->driver)
        offer(&r, k->driver, true, &found, &met);
    cJSON_AddStringToObject(item, "text", text);
    cJSON_AddBoolToObject(item, "met", met);
    cJSON_AddItemToObject(item, "found", found ? cJSON_CreateString(found) : cJSON_CreateNull());
    cJSON_AddItemToArray(list, item);
    if (!met)
        check_finding(k, CLI_ERROR, "requirement-not-met", cli_format("--require '%s' is not met: found %s", text, found ? found : "none"),
                      "the command line asks for it",
                      strcmp(r.what, "cudnn") == 0 ? cli_format("anydnn install ARCHIVE (of cuDNN %s)", r.version)
                                                   : cli_format("install %s %s", strcmp(r.what, "cuda") == 0 ? "a CUDA toolkit" : "a driver", r.version),
                      NULL);
    free(found);
}

void check_require(check *k)
{
    cJSON *list = cJSON_AddArrayToObject(k->report.json, "requirements");

    for (size_t i = 0; i < k->require_count; i++)
        judge(k, k->requires[i], list);
}
