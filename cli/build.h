/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What an unpacked archive is: one build of cuDNN, complete with the links and package files that its archive lacks. */
#ifndef DN_CLI_BUILD_H
#define DN_CLI_BUILD_H

#include "inspect.h"
#include "manifest.h"

typedef struct build {
    const cli *c;
    manifest *m;
    inspect_list list;        /* its libraries and headers */
    const char *host;         /* folder that it was unpacked to; NULL where it was only looked at */
    const char *archive;      /* base name */
    const char *distribution; /* of a wheel, or "" */
    bool any_machine;         /* --any-machine */
    int64_t mtime;            /* of files that are made */
    char error[700];
} build;

/* Reads the libraries that were unpacked to b->host into b->list (for an archive that was only looked at, inspect_gather_archive does that). */
void build_look(build *b);
/* Says what it is: fills the head of the manifest. Refused, with b->error: a library that is cut off, for another machine or of two versions. */
int build_identify(build *b);
/* Adds links and package files that are missing, on the disk where there is a folder, and in the manifest. */
int build_complete(build *b);

#endif
