/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The table of commands, and what they share in reading their options. */
#include "cli.h"
#include "tree.h"

#include <stdio.h>
#include <string.h>

#ifndef _WIN32
#include <limits.h>
#include <unistd.h>
#endif

const cli_command *const cli_commands[] = {
    &cli_inspect, &cli_which, &cli_check, &cli_advise, &cli_facts, &cli_env,
    &cli_install, &cli_list, &cli_use, &cli_rollback, &cli_uninstall,
    &cli_find, &cli_verify, &cli_run, &cli_help, NULL,
};

const cli_command *cli_command_named(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

int cli_usage(const char *command, const char *fmt, ...)
{
    char text[2000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    cli_problem("anydnn %s: %s", command, text);
    fprintf(stderr, "Try `anydnn help %s`.\n", command);
    return CLI_USAGE;
}

/* Value of --name VALUE or --name=VALUE at argv[*i]; NULL where argv[*i] is another word. *i moves to the value. */
const char *cli_option_value(int argc, char **argv, int *i, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(argv[*i], name, length) != 0)
        return NULL;
    if (argv[*i][length] == '=')
        return argv[*i] + length + 1;
    if (argv[*i][length] != 0)
        return NULL;
    if (*i + 1 >= argc)
        return "";
    return argv[++*i];
}

char *cli_tree_path(const cli *c, const char *path)
{
    size_t n = strlen(c->root);
    while (n > 1 && c->root[n - 1] == '/')
        n--;
    if (n && strncmp(path, c->root, n) == 0 && (path[n] == '/' || !path[n]))
        path = path[n] ? path + n : "/";
    char *out;
    if (path[0] == '/' || *c->root) {
        out = tree_join("/", path);
    } else {
#ifndef _WIN32
        char here[PATH_MAX];
        out = getcwd(here, sizeof here) ? tree_join(here, path) : NULL;
#else
        out = cli_format("%s", path);
#endif
    }
    for (n = out ? strlen(out) : 0; n > 1 && out[n - 1] == '/'; n--)
        out[n - 1] = 0;
    return out;
}
