/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the commands of the tool share: options, findings, exit codes. A command fills a report and answers; main prints it. */
#ifndef DN_CLI_CLI_H
#define DN_CLI_CLI_H

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Version of the JSON that every command prints (docs/tool.md); raised when a member changes its meaning or goes. */
enum { CLI_SCHEMA = 1 };

enum { CLI_GOOD, CLI_FINDINGS, CLI_USAGE, CLI_CANNOT_READ };

/* Options that every command understands; what is left of argv goes to the command. */
typedef struct cli {
    bool json;            /* --json: one JSON object on stdout, nothing else */
    bool quiet;           /* --quiet: findings only */
    bool color;           /* stdout is a terminal and NO_COLOR is not set */
    const char *root;     /* --root DIR: another tree stands for the machine; "" for this one. Never leave it through a link. */
    const char *facts;    /* --facts FILE: newer facts win over the embedded ones */
} cli;

typedef struct cli_command {
    const char *name;
    int (*run)(cli *c, int argc, char **argv);  /* argv[0] is the command's name */
    const char *summary;                        /* one line for `anydnn help` */
    const char *usage;                          /* full text for `anydnn help NAME` and --help */
} cli_command;

typedef enum cli_severity { CLI_NOTE, CLI_WARNING, CLI_ERROR } cli_severity;

/* A report is a JSON object under construction, with "findings" as a list; people get the same facts as text. */
typedef struct cli_report {
    cJSON *json;
    int errors, warnings, notes;
} cli_report;

void cli_report_begin(cli_report *r, const char *command);
/* Adds a finding and gives its "where" list to add paths to. id is short and stable ("mixed-versions"); what, why and fix are sentences, fix the exact
 * command that mends it or NULL. Format strings are the caller's job: texts are copied as they are. */
cJSON *cli_finding(cli_report *r, cli_severity severity, const char *id, const char *what, const char *why, const char *fix);
void cli_where(cJSON *where, const char *path);
/* Prints (JSON or text) and frees; answers CLI_FINDINGS where there was an error or warning, else CLI_GOOD. */
int cli_report_end(cli *c, cli_report *r);
/* Text for people: nothing with --json or --quiet. */
void cli_say(const cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* snprintf into memory of the right size; the caller frees. NULL only where memory is short. */
char *cli_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Valid UTF-8, with U+FFFD for what is not; with controls, control characters become '?' (for a terminal). The caller frees. */
char *cli_clean(const char *text, bool controls);
/* Prints a finished object; strings in it become valid UTF-8. For commands whose JSON has no findings. */
void cli_print_json(cJSON *json);

/* Value of `--name VALUE` or `--name=VALUE` at argv[*i], which moves to the value; "" where the value is missing, NULL for another word. */
const char *cli_option_value(int argc, char **argv, int *i, const char *name);
/* An argument as a path of the tree: absolute, and without the root where somebody put it in front. The caller frees. */
char *cli_tree_path(const cli *c, const char *path);
/* Prints "anydnn COMMAND: SENTENCE" and a newline on stderr, and keeps the first one for cli_end. */
void cli_problem(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* At the end of main: with --json, an object with the problem where the command printed none. */
void cli_end(const cli *c, const char *command);
/* Says on stderr what is wrong with the command line; answers CLI_USAGE. */
int cli_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

extern const cli_command *const cli_commands[]; /* ends with NULL */
const cli_command *cli_command_named(const char *name);
extern const cli_command cli_inspect, cli_which, cli_check, cli_advise, cli_facts, cli_env, cli_find, cli_verify, cli_run, cli_help;
extern const cli_command cli_install, cli_list, cli_use, cli_rollback, cli_uninstall;

#endif
