/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * `anydnn run`: a program with a chosen cuDNN, and proof of it. */
#define _GNU_SOURCE
#include "process.h"
#include "run.h"
#include "verify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "anydnn run [--lib PREFIX|FILE|VERSION] [--require] [--verbose] [--report FILE] -- COMMAND [ARGUMENT ...]\n"
    "\n"
    "Runs COMMAND with the chosen cuDNN, whatever LD_LIBRARY_PATH, RPATH and RUNPATH say, and also where the program opens libcudnn by an absolute\n"
    "path: a small audit library (rtld-audit(7)) answers the loader's search. The programs that it starts get the same. Input, output, exit code and\n"
    "signals are the program's own. At its end the maps of its processes are looked at; where another cuDNN was loaded, or none, a finding is\n"
    "printed to standard error.\n"
    "\n"
    "  --lib WORD      a prefix, a folder, a library file, or a version in the store (anydnn list); without it the library that was installed\n"
    "                  beside this tool, else the one in use\n"
    "  --require       exit code 1 where the chosen cuDNN was not the one that was loaded and the program itself answered 0\n"
    "  --verbose       also says what was loaded where all is well\n"
    "  --report FILE   the same as JSON\n"
    "\n"
    "Not possible for static programs, set-user-ID programs, and programs of musl's loader: they run, and the finding says why.\n"
    "\n"
    "Exit code: the program's; 127 or 126 where it cannot be started, 2 usage, 3 where the library is not found.\n";

typedef struct options {
    const char *lib, *report;
    bool require, verbose;
    char **command;
} options;

static int parse(options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value;

        if (strcmp(argv[i], "--") == 0) {
            o->command = argv + i + 1;
            return *o->command ? CLI_GOOD : cli_usage("run", "there is no command behind --");
        }
        if (strcmp(argv[i], "--require") == 0) {
            o->require = true;
        } else if (strcmp(argv[i], "--verbose") == 0) {
            o->verbose = true;
        } else if ((value = cli_option_value(argc, argv, &i, "--lib")) != NULL || (value = cli_option_value(argc, argv, &i, "--report")) != NULL) {
            const char **to = strncmp(value == argv[i] ? argv[i - 1] : argv[i], "--lib", 5) == 0 ? &o->lib : &o->report;
            if (!*value || strcmp(value, "--") == 0)
                return cli_usage("run", "%s needs a value", to == &o->lib ? "--lib" : "--report");
            *to = value;
        } else {
            return cli_usage("run", argv[i][0] == '-' ? "there is no option %s" : "the command goes behind --: anydnn run -- %s", argv[i]);
        }
    }
    return cli_usage("run", "wants: -- COMMAND");
}

/* Findings as text on standard error; notes only with --verbose. */
static void print_findings(const cJSON *json, bool all)
{
    const cJSON *f, *path;

    cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(json, "findings")) {
        const char *what = cJSON_GetStringValue(cJSON_GetObjectItem(f, "what")), *why = cJSON_GetStringValue(cJSON_GetObjectItem(f, "why"));
        char *clean;

        if (!all && strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(f, "severity")), "note") == 0)
            continue;
        clean = cli_clean(what ? what : "", true);
        fprintf(stderr, "anydnn run: %s [%s]\n", clean ? clean : "", cJSON_GetStringValue(cJSON_GetObjectItem(f, "id")));
        free(clean);
        cJSON_ArrayForEach(path, cJSON_GetObjectItem(f, "where")) {
            clean = cli_clean(path->valuestring, true);
            fprintf(stderr, "  %s\n", clean ? clean : "");
            free(clean);
        }
        clean = cli_clean(why ? why : "", true);
        if (clean && *clean)
            fprintf(stderr, "  %s\n", clean);
        free(clean);
    }
}

static void write_report(const cJSON *json, const char *path)
{
    FILE *f = fopen(path, "w");
    char *text = cJSON_Print(json);

    if (!f || !text || fprintf(f, "%s\n", text) < 0 || fclose(f) != 0)
        cli_problem("anydnn run: %s cannot be written: %s", path, strerror(errno));
    free(text);
}

static bool judge(const options *o, const run_program *p, const store_place *place)
{
    cli_report out;
    run_report r;
    bool good = false;

    cli_report_begin(&out, "run");
    cJSON_AddStringToObject(out.json, "library", place->file);
    if (run_report_read(&r, p->report_fd, p->pid) == 0)
        good = run_judge(&out, &r, place, o->command[0]);
    cJSON_AddBoolToObject(out.json, "proved", good);
    if (o->verbose && good)
        for (size_t i = 0; i < r.files.count; i++)
            if (verify_is_library(r.files.files[i].path))
                fprintf(stderr, "anydnn run: loaded %s\n", r.files.files[i].path);
    print_findings(out.json, o->verbose);
    if (o->report)
        write_report(out.json, o->report);
    run_report_free(&r);
    cJSON_Delete(out.json);
    return good;
}

static int run_with(const options *o, const store_place *place, const char *audit)
{
    run_program p = { .argv = o->command, .audit = audit, .dir = place->lib };
    int code;

    p.report_fd = memfd_create("anydnn-run", MFD_CLOEXEC);
    if (p.report_fd < 0) {
        cli_problem("anydnn run: no memory for the report: %s", strerror(errno));
        return CLI_CANNOT_READ;
    }
    code = run_supervise(&p);
    if (code)
        return code;
    bool good = judge(o, &p, place);
    if (!good && o->require && WIFEXITED(p.status) && WEXITSTATUS(p.status) == 0)
        return CLI_FINDINGS;
    run_end_like(p.status);
    return 0;
}

static int run(cli *c, int argc, char **argv)
{
    options o = { 0 };
    store_place place;
    char error[600] = "", *audit;
    int code = parse(&o, argc, argv);

    if (code != CLI_GOOD)
        return code;
    if (c->json || *c->root)
        return cli_usage("run", c->json ? "standard output is the program's; --report FILE gets the JSON" : "a program of another tree cannot be run");
    if (verify_place(c, o.lib, &place, error, sizeof error) != 0) {
        cli_problem("anydnn run: %s", error);
        store_place_free(&place);
        return CLI_CANNOT_READ;
    }
    audit = process_library("anydnn/libanydnn_audit.so");
    if (!audit || strchr(audit, ':')) {
        cli_problem("anydnn run: %s", audit ? "the folder of libanydnn_audit.so has a colon in its name, which LD_AUDIT cannot express"
                                                  : "libanydnn_audit.so is missing: it belongs into the folder lib/anydnn beside this tool");
        code = CLI_CANNOT_READ;
    } else {
        code = run_with(&o, &place, audit);
    }
    free(audit);
    store_place_free(&place);
    return code;
}

const cli_command cli_run = { "run", run, "run a program with a chosen cuDNN, and prove it", usage };
