/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * anydnn uninstall VERSION: takes one build away; what was in use before it, and files that had been in the way, come back. */
#include "act.h"

#include <stdlib.h>
#include <string.h>

static int run(cli *c, int argc, char **argv)
{
    act a = { .c = c };
    const char *word = NULL;
    char error[900] = "", *done = NULL;
    for (int i = 1; i < argc; i++) {
        int taken = act_option(&a, "uninstall", argc, argv, &i);
        if (taken < 0 || (taken == 0 && word))
            return taken < 0 ? CLI_USAGE : cli_usage("uninstall", "one version, please: \"%s\" or \"%s\"?", word, argv[i]);
        if (taken == 0)
            word = argv[i];
    }
    if (!word)
        return cli_usage("uninstall", "which version?");
    if (act_begin(&a, "uninstall") != 0)
        return act_end(&a, NULL);
    const char *found = store_match(&a.s, word, error, sizeof error);
    if (!found) {
        cli_finding(&a.r, CLI_ERROR, "no-such-build", error, "Nothing was changed.", "anydnn list");
        return act_end(&a, NULL);
    }
    char *build = strdup(found), *operation = cli_format("uninstall %s", word);
    if (!build || !operation || !state_forget(&a.next, build))
        cli_finding(&a.r, CLI_ERROR, "no-memory", "Memory is short", "Nothing was changed.", NULL);
    else if (!act_extra(&a, build) && act_change(&a, &(change){ .operation = operation, .build = build }, NULL) == 0)
        done = cli_format("%s is removed.", build);
    free(operation);
    free(build);
    return act_end(&a, done);
}

const cli_command cli_uninstall = {
    .name = "uninstall",
    .run = run,
    .summary = "remove an installed version",
    .usage = "usage: anydnn uninstall VERSION [--prefix DIR] [--dry-run]\n\n"
             "Removes one build and its links. Where it was in use, the version of that ABI that was in use before takes its\n"
             "place; files that had been in the way of our links come back. Other builds, and files of others, are not touched.\n",
};
