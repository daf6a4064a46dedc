/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Reader of /proc/PID/maps, proc(5): the files that a process has mapped, each once. Any bytes may be given. */
#ifndef DN_CLI_MAPS_H
#define DN_CLI_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct maps_file {
    char *path;             /* without the mark of a removed file */
    bool deleted;           /* the file that is mapped was removed or replaced */
    bool executable;        /* some part of it is mapped as code */
    uint64_t device, inode; /* device: major * 2^32 + minor */
} maps_file;

typedef struct maps {
    maps_file *files;
    size_t count;
} maps;

/* 0, or -1 where memory is short. Lines that make no sense are left out. */
int maps_parse(maps *m, const char *text, size_t size);
void maps_free(maps *m);

#endif
