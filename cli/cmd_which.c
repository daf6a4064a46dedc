/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * `anydnn which`: which file would be, or has been, loaded, and why. */
#include "which.h"
#include "tree.h"
#include "variable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "anydnn which [--exe FILE | --pid N | --python [PATH]] [--needs NAME]... [--env VAR=VALUE]...\n"
    "anydnn which --windows-path LIST [--needs NAME]... [--exe FILE] [--by DLL] [--flags N] [--add-dll-directory DIR]...\n"
    "\n"
    "Says which file a library's name leads to, by which rule, with every place that was searched before and the copies behind it that "
    "are\n"
    "shadowed. Nothing is loaded or started. Without --exe, --pid or --python a program without search paths of its own is assumed.\n"
    "\n"
    "  --exe FILE        the program that asks; what it needs is followed, breadth first, as the loader does\n"
    "  --pid N           a running process: what it has mapped, files removed since marked, other CUDA libraries beside it\n"
    "  --python [PATH]   a Python (program, virtual or conda environment; python3 of PATH without a value): what its frameworks would "
    "load\n"
    "  --needs NAME      a name to look for; without it: libcudnn and the parts that it opens by name\n"
    "  --by FILE         the object that asks for the name (dlopen: the caller's RUNPATH counts)\n"
    "  --env VAR=VALUE   LD_LIBRARY_PATH or LD_PRELOAD as if set so; VAR= for an empty one. With --root our own environment is not used\n"
    "  --cwd DIR         the directory that the program is started in\n"
    "  --secure          as for a set-user-ID program (found by itself for --exe)\n"
    "\n"
    "Windows (any machine; --root DIR is the tree of drive C, or holds a folder for each drive):\n"
    "  --windows-path LIST       the variable PATH, separated by semicolons\n"
    "  --exe FILE, --by DLL      the program; the DLL whose imports are looked for (with --flags 0x100 or 0x8)\n"
    "  --flags N                 of LoadLibraryEx: 0x1000 as os.add_dll_directory has it, 0x1100 as Python loads its modules\n"
    "  --add-dll-directory DIR   as os.add_dll_directory\n"
    "  --unsafe-search           SafeDllSearchMode is off: the current directory comes second\n"
    "\n"
    "Exit code: 0 found, 1 findings, 2 usage, 3 cannot read.\n";

const char *which_env(const which *w, const char *name)
{
    size_t n = strlen(name);

    for (int i = w->env_count; i-- > 0;)
        if (strncmp(w->env[i], name, n) == 0 && w->env[i][n] == '=')
            return w->env[i] + n + 1;
    return *w->c->root || w->windows ? NULL : getenv(name);
}

typedef struct list_option {
    const char *name;
    const char **values;
    int *count, max;
} list_option;

/* 1: taken, 0: another word, -1: after a message. */
static int take_list(const list_option *options, int argc, char **argv, int *i)
{
    for (; options->name; options++) {
        const char *value = cli_option_value(argc, argv, i, options->name);

        if (!value)
            continue;
        if (!*value || *options->count == options->max) {
            cli_usage("which", "%s %s", options->name, *value ? "is given too often" : "needs a value");
            return -1;
        }
        options->values[(*options->count)++] = value;
        return 1;
    }
    return 0;
}

typedef struct text_option {
    const char *name;
    const char **value;
} text_option;

static int take_text(const text_option *options, int argc, char **argv, int *i)
{
    for (; options->name; options++) {
        const char *value = cli_option_value(argc, argv, i, options->name);

        if (!value)
            continue;
        if (!*value && strcmp(options->name, "--windows-path") != 0) {
            cli_usage("which", "%s needs a value", options->name);
            return -1;
        }
        *options->value = value;
        return 1;
    }
    return 0;
}

static int take_flag(which *w, int argc, char **argv, int *i)
{
    const char *value = cli_option_value(argc, argv, i, "--flags");
    char *end;

    if (value) {
        w->flags = strtoul(value, &end, 0);
        w->has_flags = true;
        if (!*value || *end) {
            cli_usage("which", "--flags needs a number, got \"%s\"", value);
            return -1;
        }
        return 1;
    }
    if (strcmp(argv[*i], "--secure") == 0)
        w->secure = true;
    else if (strcmp(argv[*i], "--unsafe-search") == 0)
        w->unsafe_search = true;
    else if (strncmp(argv[*i], "--python=", 9) == 0) {
        w->use_python = true;
        w->python = argv[*i] + 9;
    } else if (strcmp(argv[*i], "--python") == 0) {
        w->use_python = true;
        if (*i + 1 < argc && argv[*i + 1][0] != '-')
            w->python = argv[++*i];
    } else {
        return 0;
    }
    return 1;
}

static int parse(which *w, int argc, char **argv)
{
    const list_option lists[] = { { "--needs", w->needs, &w->needs_count, WHICH_NEEDS_MAX },
                                  { "--env", w->env, &w->env_count, WHICH_ENV_MAX },
                                  { "--add-dll-directory", w->add_dirs, &w->add_dirs_count, WHICH_DIRS_MAX },
                                  { NULL, NULL, NULL, 0 } };
    const text_option texts[] = {
        { "--exe", &w->exe }, { "--pid", &w->pid }, { "--by", &w->by }, { "--cwd", &w->cwd }, { "--windows-path", &w->windows_path },
        { NULL, NULL }
    };

    for (int i = 1; i < argc; i++) {
        int taken = take_list(lists, argc, argv, &i);

        if (taken == 0)
            taken = take_text(texts, argc, argv, &i);
        if (taken == 0)
            taken = take_flag(w, argc, argv, &i);
        if (taken < 0)
            return CLI_USAGE;
        if (taken == 0)
            return cli_usage("which",
                             argv[i][0] == '-' ? "there is no option %s"
                                               : "does not take \"%s\": give a program with --exe, a name with --needs",
                             argv[i]);
    }
    for (int i = 0; i < w->env_count; i++)
        if (!strchr(w->env[i], '='))
            return cli_usage("which", "--env needs VAR=VALUE, got \"%s\"", w->env[i]);
    w->windows = w->windows_path || w->has_flags || w->add_dirs_count > 0 || w->unsafe_search;
    if ((w->exe != NULL) + (w->pid != NULL) + w->use_python > 1)
        return cli_usage("which", "--exe, --pid and --python exclude each other");
    if (w->windows && (w->pid || w->use_python))
        return cli_usage("which", "the Windows options go with --exe only");
    return CLI_GOOD;
}

static void set_environment(which *w, char *cwd, size_t size)
{
    w->set.root = w->c->root;
    w->set.library_path = which_env(w, "LD_LIBRARY_PATH");
    w->set.preload = which_env(w, "LD_PRELOAD");
    if (!w->cwd && !*w->c->root && getcwd(cwd, size))
        w->cwd = cwd;
    w->set.cwd = w->cwd && *w->cwd == '/' ? w->cwd : "/";
    w->set.secure = w->secure;
}

/* A program with the set-user-ID or set-group-ID bit runs in secure mode for everybody but its owner. */
static bool is_setuid(const which *w, const char *path)
{
    char *host = tree_host(w->c->root, path);
    struct stat st;
    bool is = host && stat(host, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)) && S_ISREG(st.st_mode);

    free(host);
    return is;
}

static void secure_finding(which *w, const char *program)
{
    char *what = cli_format("%s runs in secure mode.", program ? program : "The program");
    cJSON *where = cli_finding(&w->report, CLI_NOTE, "secure-mode", what,
                               "It has the set-user-ID or set-group-ID bit: the loader then ignores LD_LIBRARY_PATH, takes from LD_PRELOAD "
                               "only plain names of set-user-ID libraries, and limits $ORIGIN.",
                               NULL);

    if (program)
        cli_where(where, program);
    free(what);
}

static char *absolute(const which *w, const char *path)
{
    return *path == '/' ? strdup(path) : tree_join(w->set.cwd, path);
}

static void machine_findings(which *w, const ld_process *p)
{
    if (p->machine.cache_fault)
        cli_where(cli_finding(&w->report, CLI_NOTE, "no-cache", p->machine.cache_fault,
                              "Without it the loader searches only the variable, the search paths in the files and its "
                              "own directories.",
                              *w->c->root ? NULL : "ldconfig"),
                  "/etc/ld.so.cache");
    if (p->machine.musl)
        cli_where(
            cli_finding(
                &w->report, CLI_WARNING, "musl", "The program uses the loader of musl; the answer follows the rules of glibc.",
                "musl inherits RUNPATH as it does RPATH, has no cache and searches the variable first. The vendor's libraries need glibc.",
                NULL),
            p->machine.interpreter);
}

static int which_program(which *w)
{
    char error[400] = "", *program = w->exe ? absolute(w, w->exe) : NULL, *by_path = w->by ? absolute(w, w->by) : NULL;
    ld_object *by = NULL;
    ld_process *p;

    if (program && is_setuid(w, program))
        w->set.secure = true;
    p = ld_process_start(&w->set, program, error, sizeof error);
    if (!p) {
        cli_problem("anydnn which: %s", *error ? error : "no memory");
        free(program);
        free(by_path);
        return CLI_CANNOT_READ;
    }
    if (by_path) {
        ld_result *r = ld_process_object(p, by_path) ? NULL : ld_process_open(p, by_path, NULL);

        by = r && r->object ? r->object : ld_process_object(p, by_path);
        if (!by)
            cli_problem("anydnn which: %s: %s", w->by, r && r->error ? r->error : "cannot be read");
    }
    if (by || !by_path) {
        machine_findings(w, p);
        if (w->set.secure)
            secure_finding(w, program);
        which_answer(w, p, by);
    }
    ld_process_free(p);
    free(program);
    bool bad = by_path && !by;
    free(by_path);
    return bad ? CLI_CANNOT_READ : CLI_GOOD;
}

/* With --needs for one name the answer's members are the report's own. */
static void place_results(which *w)
{
    cJSON *only = w->needs_count == 1 && cJSON_GetArraySize(w->results) == 1 ? cJSON_DetachItemFromArray(w->results, 0) : NULL, *member;

    if (!only) {
        cJSON_AddItemToObject(w->report.json, "results", w->results);
        return;
    }
    while ((member = only->child) != NULL) {
        char *name = strdup(member->string);

        cJSON_DetachItemViaPointer(only, member);
        if (name)
            cJSON_AddItemToObject(w->report.json, name, member);
        free(name);
    }
    cJSON_Delete(only);
    cJSON_Delete(w->results);
}

static int run(cli *c, int argc, char **argv)
{
    static char cwd[4096];
    which w;
    int code;

    memset(&w, 0, sizeof w);
    w.c = c;
    code = parse(&w, argc, argv);
    if (code != CLI_GOOD)
        return code;
    set_environment(&w, cwd, sizeof cwd);
    cli_report_begin(&w.report, "which");
    w.results = cJSON_CreateArray();
    if (!w.windows && !w.pid && w.set.library_path)
        variable_check(&w.report, c->root, "LD_LIBRARY_PATH", w.set.library_path);
    code = w.windows ? which_windows(&w) : w.pid ? which_pid(&w) : w.use_python ? which_python(&w) : which_program(&w);
    place_results(&w);
    if (code != CLI_GOOD) {
        cJSON_Delete(w.report.json);
        return code;
    }
    return cli_report_end(c, &w.report);
}

const cli_command cli_which = { "which", run, "which file a library's name leads to, and why", usage };
