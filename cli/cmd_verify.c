/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * `anydnn verify`: does this cuDNN work here, shown by doing it. */
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "anydnn verify [PREFIX|FILE|VERSION] [--level N]...\n"
    "anydnn verify [PREFIX|FILE|VERSION] --for PROGRAM | --pid N | --python [PATH]\n"
    "anydnn verify [PREFIX|VERSION] --manifest\n"
    "\n"
    "Shows by doing it that a cuDNN works: a prefix, a folder, a library file, or a version in the store; without a word the library beside this\n"
    "tool, else the one in use, else what the loader finds. Each level says what it proves and what it does not.\n"
    "\n"
    "  level 1, process: starts a program with the library and reads from its map that this file and all its parts were loaded\n"
    "  level 2, build: compiles, links and runs a C program with CC, cc, gcc or clang; versions of header, library and run time are compared\n"
    "  level 3, speed: one convolution with it, checked against the truth, and timed against a plain loop; it must be 4 times as fast\n"
    "\n"
    "  --level N         only this level (may be given again)\n"
    "  --for PROGRAM     what that program would get, and symbols that it needs and would not find; nothing is started\n"
    "  --pid N           what a running process has loaded, and whether it was forked with CUDA in it\n"
    "  --python [PATH]   starts that Python (python3 of PATH without a value), imports each framework that it has, and reads its map\n"
    "  --manifest        files that were changed since `anydnn install` put them there; every build of the store without a word\n"
    "\n"
    "Exit code: 0 verified, 1 findings, 2 usage, 3 cannot read.\n";

static int take_level(verify *v, const char *value)
{
    if (value[0] < '1' || value[0] > '3' || value[1])
        return cli_usage("verify", "--level needs 1, 2 or 3, got \"%s\"", value);
    v->level[value[0] - '0'] = true;
    return CLI_GOOD;
}

/* Options with a text; 1 where it was one. */
static int take_text(verify *v, int argc, char **argv, int *i)
{
    const struct {
        const char *name, **at;
    } options[] = { { "--for", &v->program }, { "--pid", &v->pid } };

    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        const char *value = cli_option_value(argc, argv, i, options[k].name);
        if (value) {
            *options[k].at = value;
            return *value ? 1 : (cli_usage("verify", "%s needs a value", options[k].name), -1);
        }
    }
    return 0;
}

static int parse(verify *v, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = cli_option_value(argc, argv, &i, "--level");
        int taken;

        if (value) {
            if (take_level(v, value) != CLI_GOOD)
                return CLI_USAGE;
            continue;
        }
        taken = take_text(v, argc, argv, &i);
        if (taken < 0)
            return CLI_USAGE;
        if (taken > 0)
            continue;
        if (strcmp(argv[i], "--manifest") == 0) {
            v->manifest = true;
        } else if (strncmp(argv[i], "--python", 8) == 0 && (argv[i][8] == '=' || !argv[i][8])) {
            v->use_python = true;
            if (argv[i][8])
                v->python = argv[i] + 9;
            else if (i + 1 < argc && argv[i + 1][0] != '-')
                v->python = argv[++i];
        } else if (argv[i][0] == '-') {
            return cli_usage("verify", "there is no option %s", argv[i]);
        } else if (v->word) {
            return cli_usage("verify", "one library at a time: %s and %s were given", v->word, argv[i]);
        } else {
            v->word = argv[i];
        }
    }
    if ((v->program != NULL) + (v->pid != NULL) + v->use_python + v->manifest > 1)
        return cli_usage("verify", "--for, --pid, --python and --manifest exclude each other");
    if (*v->c->root && !v->program && !v->manifest)
        return cli_usage("verify", "nothing of another tree can be started: with --root only --for and --manifest go");
    return CLI_GOOD;
}

verify_level verify_begin(verify *v, const char *name, const char *title)
{
    verify_level level = { cJSON_CreateObject(), v->report.errors };

    cJSON_AddStringToObject(level.json, "level", name);
    cJSON_AddItemToArray(v->levels, level.json);
    cli_say(v->c, "%s\n", title);
    return level;
}

verify_result verify_end(verify *v, verify_level *level, const char *skipped, const char *proves, const char *proves_not)
{
    static const char *const words[] = { "pass", "fail", "skip" };
    verify_result result = v->report.errors > level->errors ? VERIFY_FAIL : skipped ? VERIFY_SKIP : VERIFY_PASS;

    cJSON_AddStringToObject(level->json, "result", words[result]);
    cJSON_AddStringToObject(level->json, "proves", result == VERIFY_PASS ? proves : "nothing");
    cJSON_AddStringToObject(level->json, "proves_not", proves_not);
    if (result == VERIFY_SKIP)
        cJSON_AddStringToObject(level->json, "skipped", skipped);
    cli_say(v->c, "  %s%s%s\n", result == VERIFY_PASS ? "PASS" : result == VERIFY_FAIL ? "FAIL" : "SKIPPED: ",
            result == VERIFY_SKIP ? skipped : "", "");
    if (result == VERIFY_PASS)
        cli_say(v->c, "  proves: %s\n", proves);
    cli_say(v->c, "  does not prove: %s\n\n", proves_not);
    return result;
}

void verify_fact(verify *v, verify_level *level, const char *name, const char *text)
{
    char *clean = cli_clean(text, true);

    cJSON_AddStringToObject(level->json, name, text);
    cli_say(v->c, "  %s: %s\n", name, clean ? clean : "");
    free(clean);
}

cJSON *verify_finding(verify *v, cli_severity severity, const char *id, const char *why, const char *fix, const char *fmt, ...)
{
    char text[1500];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return cli_finding(&v->report, severity, id, text, why, fix);
}

static void run_levels(verify *v)
{
    static void (*const levels[])(verify *) = { NULL, verify_process, verify_build, verify_speed };
    bool all = !v->level[1] && !v->level[2] && !v->level[3];

    for (int i = 1; i <= 3; i++)
        if (all || v->level[i])
            levels[i](v);
}

static void tell_library(verify *v)
{
    char text[32];
    cJSON *o = cJSON_AddObjectToObject(v->report.json, "library");

    cli_file_inspect(v->place.file, &v->file);
    cli_version_text(v->file.version, text);
    cJSON_AddStringToObject(o, "path", v->place.file);
    cJSON_AddStringToObject(o, "version", text);
    if (v->place.build)
        cJSON_AddStringToObject(o, "build", v->place.build);
    cli_say(v->c, "%s%s%s%s\n\n", v->place.file, *text ? " (" : "", text, *text ? ")" : "");
}

static int run_about(verify *v)
{
    char error[600] = "";

    if (v->manifest)
        return verify_manifest(v);
    /* --for, --pid and --python have an answer of their own where no library was named. */
    if (v->word || (!v->program && !v->pid && !v->use_python)) {
        if (verify_place(v->c, v->word, &v->place, error, sizeof error) != 0) {
            cli_problem("anydnn verify: %s", error);
            return CLI_CANNOT_READ;
        }
        tell_library(v);
    }
    if (v->program)
        return verify_for(v);
    if (v->pid)
        return verify_pid(v);
    if (v->use_python)
        return verify_python(v);
    run_levels(v);
    return CLI_GOOD;
}

static int run(cli *c, int argc, char **argv)
{
    verify v;
    int code;

    if (argc > 1 && strcmp(argv[1], "--child") == 0)
        return verify_child(argc, argv);
    memset(&v, 0, sizeof v);
    v.c = c;
    code = parse(&v, argc, argv);
    if (code != CLI_GOOD)
        return code;
    cli_report_begin(&v.report, "verify");
    v.levels = cJSON_AddArrayToObject(v.report.json, "levels");
    code = run_about(&v);
    store_place_free(&v.place);
    cli_file_free(&v.file);
    if (code != CLI_GOOD) {
        cJSON_Delete(v.report.json);
        return code;
    }
    return cli_report_end(c, &v.report);
}

const cli_command cli_verify = { "verify", run, "show by doing it that a cuDNN works: process, build, speed", usage };
