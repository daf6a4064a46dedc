/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * anydnn check: the whole machine. */
#include "check.h"
#include "facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void look(check *k)
{
    cli_report_begin(&k->report, "check");
    owners_begin(&k->owners, k->c->root);
    discover_run(&k->found, k->c->root, k->env);
    check_copies(k);
}

void check_look(check *k, cli *c)
{
    *k = (check){.c = c};
    look(k);
    check_frameworks(k);
}

static void begin(check *k, const check *options)
{
    *k = *options;
    look(k);
    check_load(k);
    check_machine(k);
    check_frameworks(k);
    check_headers(k);
    check_pairs(k);
    check_require(k);
    for (size_t i = 0; i < k->copy_count; i++)
        cJSON_AddBoolToObject(k->copies[i].json, "in_use", k->copies[i].is_used);
    if (k->found.stopped)
        check_finding(k, CLI_WARNING, "too-many-files", cli_format("the search stopped: there are too many files below the folders that were searched"),
                      "copies that lie further on are not in this report", NULL, NULL);
}

void check_end(check *k)
{
    for (size_t i = 0; k->lists && i < k->found.count; i++)
        inspect_free(&k->lists[i]);
    for (size_t i = 0; i < k->copy_count; i++)
        free(k->copies[i].files);
    for (size_t i = 0; i < k->toolkit_count; i++) {
        free(k->toolkits[i].path);
        free(k->toolkits[i].version);
    }
    for (size_t i = 0; i < k->headers_told.count; i++)
        free(k->headers_told.items[i]);
    free(k->headers_told.items);
    free(k->toolkits);
    free(k->copies);
    free(k->lists);
    free(k->driver);
    free(k->driver_how);
    owners_end(&k->owners);
    discover_free(&k->found);
}

/* One finding twice (a header folder that two library folders share): the first stays. */
static void drop_repeats(check *k)
{
    cJSON *list = cJSON_GetObjectItem(k->report.json, "findings");

    for (cJSON *a = list->child; a; a = a->next)
        for (cJSON *b = a->next, *next; b; b = next) {
            const char *severity = cJSON_GetObjectItem(b, "severity")->valuestring;

            next = b->next;
            if (!cJSON_Compare(a, b, true))
                continue;
            *(strcmp(severity, "error") == 0 ? &k->report.errors : strcmp(severity, "warning") == 0 ? &k->report.warnings : &k->report.notes) -= 1;
            cJSON_Delete(cJSON_DetachItemViaPointer(list, b));
        }
}

/* "libcudnn9 9.5.0.50-1 (dpkg)": who owns a file, or what its links lead to; NULL where nobody does. The caller frees. */
static char *owner_name(check *k, const char *path)
{
    check_copy *copy = check_copy_of(k, path);
    const discover_dir *dir = copy ? copy->dir : k->found.count ? &k->found.dirs[0] : NULL;
    const owner *who = dir && *path == '/' ? owner_of(&k->owners, dir, path) : NULL;
    char *real = dir && !who ? tree_real(k->c->root, path) : NULL;

    if (real)
        who = owner_of(&k->owners, dir, real);
    free(real);
    return who ? owner_text(who) : NULL;
}

/* Says behind each finding to which packages its files belong. */
static void name_owners(check *k)
{
    cJSON *f, *path;

    cJSON_ArrayForEach(f, cJSON_GetObjectItem(k->report.json, "findings")) {
        cJSON *owned = cJSON_CreateArray(), *what = cJSON_GetObjectItem(f, "what");
        char *text = cli_format("%s", what->valuestring);

        cJSON_ArrayForEach(path, cJSON_GetObjectItem(f, "where")) {
            char *name = owner_name(k, path->valuestring), *longer;

            if (name && text && !strstr(text, name)) {
                longer = cli_format("%s [%s]", text, name);
                free(text);
                text = longer;
                cJSON_AddItemToArray(owned, cJSON_CreateString(name));
            }
            free(name);
        }
        if (text && strcmp(text, what->valuestring) != 0)
            cJSON_SetValuestring(what, text);
        cJSON_AddItemToObject(f, "owners", owned);
        free(text);
    }
}

static const char *or_unknown(const char *text)
{
    return text && *text ? text : "?";
}

static const char *member(const cJSON *item, const char *name)
{
    const cJSON *value = cJSON_GetObjectItem(item, name);

    return cJSON_IsString(value) ? value->valuestring : NULL;
}

static void print_copies(const check *k)
{
    for (size_t i = 0; i < k->copy_count; i++) {
        const check_copy *copy = &k->copies[i];
        char version[32], cuda[16] = "", *who = copy->owner ? owner_text(copy->owner) : NULL;

        if (copy->cuda)
            snprintf(cuda, sizeof cuda, " CUDA %d", copy->cuda);
        cli_say(k->c, "cuDNN %-8s%s  %s  %s%s%s%s%s%s\n", or_unknown(cli_version_text(copy->version, version)), cuda, or_unknown(copy->arch), copy->dir->path,
                copy->is_ours ? "  (anydnn)" : "", copy->is_used ? "  in use" : "", copy->is_complete ? "" : "  not complete", who ? "  from " : "", who ? who : "");
        free(who);
    }
    if (k->copy_count == 0)
        cli_say(k->c, "no cuDNN was found\n");
}

static void print_machine(const check *k)
{
    const cJSON *f;

    cli_say(k->c, "driver %s\n", k->driver ? k->driver : "not found");
    for (size_t i = 0; i < k->toolkit_count; i++)
        cli_say(k->c, "CUDA %s  %s%s\n", or_unknown(k->toolkits[i].version), k->toolkits[i].path, k->toolkits[i].has_nvcc ? "" : "  without nvcc");
    cJSON_ArrayForEach(f, cJSON_GetObjectItem(k->report.json, "frameworks"))
        cli_say(k->c, "%s %s  needs cuDNN %s, gets %s  %s\n", member(f, "name"), member(f, "version"), or_unknown(member(f, "needs")),
                member(f, "gets_version") ? member(f, "gets_version") : member(f, "gets") ? member(f, "gets") : "none", member(f, "path"));
}

/* "8.6", "86" or "sm_86": 86. 0 where it is no compute capability. */
static int parse_gpu(const char *text)
{
    char *end;
    long major, minor;

    if (strncmp(text, "sm_", 3) == 0)
        text += 3;
    major = strtol(text, &end, 10);
    if (end == text || major < 1)
        return 0;
    if (*end == '.') {
        minor = strtol(end + 1, &end, 10);
        return *end == 0 && major < 100 && minor >= 0 && minor < 10 ? (int)(major * 10 + minor) : 0;
    }
    return (*end == 0 || (*end == 'a' && end[1] == 0)) && major >= 10 && major < 1000 ? (int)major : 0;
}

static int parse_options(check *k, int argc, char **argv, const char **requires, const char **env)
{
    size_t env_count = 0;

    for (int i = 1; i < argc; i++) {
        const char *value;

        if (strcmp(argv[i], "--fix") == 0) {
            k->fix = true;
        } else if (strcmp(argv[i], "--dry-run") == 0) {
            k->fix = k->dry_run = true;
        } else if ((value = cli_option_value(argc, argv, &i, "--require")) != NULL) {
            if (!check_require_parses(value))
                return cli_usage("check", "--require '%s' is no requirement: a cuDNN version such as 8.9.7 (there is no 8.10), or cudnn, cuda or driver "
                                          "with >=, ==, <= and a version", value);
            requires[k->require_count++] = value;
        } else if ((value = cli_option_value(argc, argv, &i, "--env")) != NULL) {
            if (!strchr(value, '=') || *value == '=')
                return cli_usage("check", "--env needs NAME=VALUE, not \"%s\"", value);
            env[env_count++] = value;
        } else if ((value = cli_option_value(argc, argv, &i, "--gpu")) != NULL) {
            k->gpu = parse_gpu(value);
            if (!k->gpu)
                return cli_usage("check", "--gpu '%s' is no compute capability such as 8.6 or sm_86", value);
        } else {
            return cli_usage("check", "\"%s\" is not an option of this command", argv[i]);
        }
    }
    return CLI_GOOD;
}

static int run(cli *c, int argc, char **argv)
{
    const char **requires = calloc((size_t)argc + 1, sizeof *requires), **env = calloc((size_t)argc + 1, sizeof *env);
    check options = {.c = c, .requires = requires, .env = env}, k;
    cJSON *mends = NULL;
    int code = requires && env ? parse_options(&options, argc, argv, requires, env) : CLI_CANNOT_READ;

    if (code != CLI_GOOD || !cli_facts_ready(c)) {
        free(requires);
        free(env);
        return code != CLI_GOOD ? code : CLI_CANNOT_READ;
    }
    begin(&k, &options);
    if (k.fix) {
        mends = cJSON_CreateArray();
        if (check_mend(&k, mends) == 0)
            cli_say(c, "nothing to mend\n");
        else if (!k.dry_run) {
            cJSON_Delete(k.report.json);
            check_end(&k);
            begin(&k, &options); /* the report is about what is there now */
        }
        check_mend_failures(&k, mends);
        cJSON_AddItemToObject(k.report.json, "mends", mends);
    }
    name_owners(&k);
    drop_repeats(&k);
    print_copies(&k);
    print_machine(&k);
    code = cli_report_end(c, &k.report);
    check_end(&k);
    free(requires);
    free(env);
    return code;
}

const cli_command cli_check = {
    .name = "check",
    .run = run,
    .summary = "every cuDNN of this machine, who would load which, and what is wrong",
    .usage = "usage: anydnn check [--require REQUIREMENT]... [--gpu CC] [--fix | --dry-run] [--env VAR=VALUE]...\n"
             "\n"
             "Finds every cuDNN of the machine: the loader's cache and folders, CUDA toolkits, Python packages, conda environments, /opt and our own\n"
             "store; the driver, the toolkits and the frameworks with what each needs and would get. Each finding says what, where, why it matters\n"
             "and the command that mends it.\n"
             "\n"
             "  --require 8.9.7         a complete copy of this version must be there; also 'cudnn>=8.9', 'cuda>=11.8', 'driver>=525'\n"
             "  --gpu 8.6               also hold the versions against this compute capability (sm_86 is the same)\n"
             "  --fix                   carry out the mends that only touch links and the loader's cache, after showing them\n"
             "  --dry-run               only show them\n"
             "  --root DIR              another tree stands for the machine, such as the root of a container image; our own environment is not used\n"
             "  --env VAR=VALUE         LD_LIBRARY_PATH, PATH, CONDA_PREFIX, ... as if set so\n"
             "  --json                  the report as JSON (docs/tool.md)\n"
             "  --quiet                 errors and warnings only\n"
             "\n"
             "Exit code: 0 nothing wrong, 1 an error or a warning, 2 wrong usage, 3 could not read.\n",
};
