/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * anydnn use VERSION, anydnn rollback: which of the installed builds programs get. */
#include "act.h"
#include "tree.h"

#include <stdlib.h>
#include <string.h>

static int run_use(cli *c, int argc, char **argv)
{
    act a = { .c = c };
    const char *word = NULL;
    char error[900] = "", *done = NULL;
    for (int i = 1; i < argc; i++) {
        int taken = act_option(&a, "use", argc, argv, &i);
        if (taken < 0 || (taken == 0 && word))
            return taken < 0 ? CLI_USAGE : cli_usage("use", "one version, please: \"%s\" or \"%s\"?", word, argv[i]);
        if (taken == 0)
            word = argv[i];
    }
    if (!word)
        return cli_usage("use", "which version?");
    if (act_begin(&a, "use") != 0)
        return act_end(&a, NULL);
    const char *found = store_match(&a.s, word, error, sizeof error);
    char *build = found ? strdup(found) : NULL; /* the store reads its state anew after the change */
    if (!build) {
        cli_finding(&a.r, CLI_ERROR, "no-such-build", error, "Nothing was changed.", "anydnn list");
        return act_end(&a, NULL);
    }
    manifest m;
    char *dir = tree_join(a.s.dir, build), *operation = cli_format("use %s", word);
    int code = manifest_read(&m, c->root, dir, error, sizeof error);
    if (code != 0)
        cli_where(cli_finding(&a.r, CLI_ERROR, "damaged-manifest", error, "Without it nobody knows what belongs to the build. Nothing was changed.",
                              "anydnn uninstall it and install it again"), dir);
    else if (!state_use(&a.next, m.abi, build))
        cli_finding(&a.r, CLI_ERROR, "no-memory", "Memory is short", "Nothing was changed.", NULL);
    else if (act_change(&a, &(change){ .operation = operation }, NULL) == 0)
        done = cli_format("%s is in use: libcudnn.so.%d, and libcudnn.so and the headers.", build, m.abi);
    manifest_free(&m);
    free(operation);
    free(dir);
    free(build);
    return act_end(&a, done);
}

static int run_rollback(cli *c, int argc, char **argv)
{
    act a = { .c = c };
    for (int i = 1; i < argc; i++) {
        int taken = act_option(&a, "rollback", argc, argv, &i);
        if (taken <= 0)
            return taken < 0 ? CLI_USAGE : cli_usage("rollback", "\"%s\" is too much: it goes back to the state before the last change", argv[i]);
    }
    if (act_begin(&a, "rollback") != 0)
        return act_end(&a, NULL);
    char *done = NULL;
    if (!state_back(&a.next)) {
        cli_finding(&a.r, CLI_ERROR, "nothing-before", "There is no state before this one", "Nothing was changed.", "anydnn list");
    } else if (act_change(&a, &(change){ .operation = "rollback" }, NULL) == 0) {
        const char *eight = state_build(&a.s.now, 8), *nine = state_build(&a.s.now, 9);
        done = cli_format("Back to the state before: %s%s%s.", eight ? eight : nine ? nine : "no build is in use", eight && nine ? " and " : "",
                          eight && nine ? nine : "");
    }
    return act_end(&a, done);
}

const cli_command cli_use = {
    .name = "use",
    .run = run_use,
    .summary = "switch to an installed version",
    .usage = "usage: anydnn use VERSION [--prefix DIR] [--link-into DIR] [--dry-run]\n\n"
             "VERSION is the start of a build's name, as `anydnn list` shows them: 8.9.7, 9.1.0.70-cuda12.\n"
             "libcudnn.so.8 and libcudnn.so.9 are switched apart; the headers, libcudnn.so and the files of CMake and pkg-config\n"
             "follow the last `use`. Everything changes at once, by one rename, or not at all.\n\n"
             "  --prefix DIR     the store below DIR: /usr/local for root, ~/.local otherwise\n"
             "  --link-into DIR  put links into this tree too, such as /usr/local/cuda\n"
             "  --dry-run        show the operations, change nothing\n",
};

const cli_command cli_rollback = {
    .name = "rollback",
    .run = run_rollback,
    .summary = "go back to what was in use before",
    .usage = "usage: anydnn rollback [--prefix DIR] [--dry-run]\n\n"
             "Undoes the last `use`, or the switch that an `install` made. Again: one state further back, up to 16.\n",
};
