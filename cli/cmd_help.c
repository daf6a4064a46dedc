/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * anydnn help [COMMAND] */
#include "cli.h"

#include <stdio.h>

static void list(void)
{
    printf("anydnn %s - what cuDNN is on this machine, which one is used, what is wrong\n\n"
           "usage: anydnn [--json] [--quiet] [--root DIR] [--facts FILE] COMMAND [...]\n\ncommands:\n", ANYDNN_VERSION);
    for (size_t i = 0; cli_commands[i]; i++)
        printf("  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    printf("\noptions of every command:\n"
           "  --json        one JSON object on the standard output (docs/tool.md has the schema)\n"
           "  -q, --quiet   only errors and warnings\n"
           "  --root DIR    look at another tree, such as an unpacked container image, as if it were the machine\n"
           "  --facts FILE  a newer table in the place of an embedded one\n"
           "  -h, --help    help on the command\n"
           "  --version     version of this program (as the only word)\n"
           "\nexit codes: 0 good, 1 errors or warnings found, 2 wrong command line, 3 could not read\n"
           "NO_COLOR turns colour off; it is used only on a terminal.\n");
}

static void print_json(const cli_command *only)
{
    cli_report r;
    cli_report_begin(&r, "help");
    cJSON *commands = cJSON_AddArrayToObject(r.json, "commands");
    for (size_t i = 0; cli_commands[i]; i++) {
        cJSON *item = only && cli_commands[i] != only ? NULL : cJSON_CreateObject();
        if (!item)
            continue;
        cJSON_AddStringToObject(item, "name", cli_commands[i]->name);
        cJSON_AddStringToObject(item, "summary", cli_commands[i]->summary);
        cJSON_AddStringToObject(item, "usage", cli_commands[i]->usage);
        cJSON_AddItemToArray(commands, item);
    }
    cli_print_json(r.json);
    cJSON_Delete(r.json);
}

static int run(cli *c, int argc, char **argv)
{
    if (argc < 2) {
        if (c->json)
            print_json(NULL);
        else
            list();
        return CLI_GOOD;
    }
    if (argc > 2)
        return cli_usage("help", "one command at a time");
    const cli_command *command = cli_command_named(argv[1]);
    if (!command) {
        cli_problem("anydnn: there is no command \"%s\". `anydnn help` lists them.", argv[1]);
        return CLI_USAGE;
    }
    if (c->json)
        print_json(command);
    else
        printf("%s", command->usage);
    return CLI_GOOD;
}

const cli_command cli_help = {
    .name = "help",
    .run = run,
    .summary = "the commands, or help on one of them",
    .usage = "usage: anydnn help [COMMAND]\n",
};
