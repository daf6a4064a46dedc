/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What install, use, rollback and uninstall have in common. */
#ifndef DN_CLI_ACT_H
#define DN_CLI_ACT_H

#include "change.h"

typedef struct act {
    cli *c;
    const char *prefix, *link_into;
    bool dry_run;
    cli_report r;
    store s;
    state next;       /* the state that is wanted */
    bool searched;    /* the loader's cache is made from our folder of libraries, before the change or after it */
} act;

/* Takes --prefix, --link-into and --dry-run; 1 where argv[*i] was one, 0 for another word, -1 after a message. */
int act_option(act *a, const char *command, int argc, char **argv, int *i);
/* Opens the store (to write, unless it is a dry run) and copies its state to a->next. -1 with a finding. */
int act_begin(act *a, const char *command);
/* Plans, shows or makes the change, refreshes the loader's cache, and says which processes still use what was replaced. -1 with a finding. */
int act_change(act *a, const change *what, const manifest *fresh);
/* Describes the state, prints the report, frees everything; the exit code. done: a sentence for people about what was done; freed, may be NULL. */
int act_end(act *a, char *done);

/* Files that somebody else put into a build's folder, which would go with it: an error for them. False where there is none. */
bool act_extra(act *a, const char *build);
/* act_loader.c: sets searched where ld.so.conf names the folder as it is now. */
void act_search(act *a);
/* Refreshes the loader's cache where that helps and may be done; else says the line to run. */
void act_loader(act *a);
/* install_verify.c: runs `anydnn verify` on the library of this ABI in the prefix; its levels and findings become part of the report. */
void act_verify(act *a, int abi);
/* Processes that have files of this build mapped. */
void act_processes(act *a, const char *build);

#endif
