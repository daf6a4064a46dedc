/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The tool: takes the common options out of the command line and runs the command. */
#include "cli.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <io.h>
#define isatty _isatty
#define fileno _fileno
#else
#include <unistd.h>
#endif

/* Takes the common options out of argv (everything after -- is left alone); answers the new argc, or -1 after a message. */
static int take_options(cli *c, int argc, char **argv, bool *help)
{
    int kept = 0;
    for (int i = 0; i < argc; i++) {
        const char *value = "-";
        if (strcmp(argv[i], "--") == 0) {
            while (i < argc)
                argv[kept++] = argv[i++];
            break;
        }
        if (strcmp(argv[i], "--json") == 0)
            c->json = true;
        else if (strcmp(argv[i], "--quiet") == 0 || strcmp(argv[i], "-q") == 0)
            c->quiet = true;
        else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            *help = true;
        else if ((value = cli_option_value(argc, argv, &i, "--root")) != NULL)
            c->root = value;
        else if ((value = cli_option_value(argc, argv, &i, "--facts")) != NULL)
            c->facts = value;
        else {
            argv[kept++] = argv[i];
            continue;
        }
        if (value && !*value) {
            cli_problem("anydnn: %s needs a value", argv[i]);
            return -1;
        }
    }
    argv[kept] = NULL;
    return kept;
}

static int run(cli *c, int argc, char **argv)
{
    bool help = false;
    argc = take_options(c, argc, argv, &help);
    if (argc < 0)
        return CLI_USAGE;
    if (argc > 0 && strcmp(argv[0], "--version") == 0) {
        if (!c->json) /* each object has the version */
            printf("anydnn %s\n", ANYDNN_VERSION);
        return CLI_GOOD;
    }
    if (argc == 0 || help) {
        char *words[] = { "help", argc > 0 ? argv[0] : NULL, NULL };
        return cli_help.run(c, argc > 0 ? 2 : 1, words) != CLI_GOOD || (argc == 0 && !help) ? CLI_USAGE : CLI_GOOD;
    }
    const cli_command *command = cli_command_named(argv[0]);
    if (!command) {
        cli_problem("anydnn: there is no command \"%s\". `anydnn help` lists them.", argv[0]);
        return CLI_USAGE;
    }
    if (*c->root && tree_look(c->root, "/", true).kind != TREE_DIR) {
        cli_problem("anydnn %s: --root %s is no folder that can be read", argv[0], c->root);
        return CLI_CANNOT_READ;
    }
    return command->run(c, argc, argv);
}

int main(int argc, char **argv)
{
    cli c = { .root = "" };
    const char *no_color = getenv("NO_COLOR");
    c.color = isatty(fileno(stdout)) && !(no_color && *no_color);
    int code = run(&c, argc - 1, argv + 1);
    cli_end(&c, argc > 1 && argv[1] && argv[1][0] != '-' ? argv[1] : NULL);
    /* A full disk or a closed pipe must not look like a good answer. */
    if (fflush(stdout) != 0 || ferror(stdout))
        return CLI_CANNOT_READ;
    return code;
}
