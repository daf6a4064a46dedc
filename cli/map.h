/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A file as read-only bytes, and a search in bytes. */
#ifndef DN_CLI_MAP_H
#define DN_CLI_MAP_H

#include <stddef.h>

typedef struct cli_map {
    const unsigned char *data; /* never NULL after a good open, even for an empty file */
    size_t size;
} cli_map;

/* 0, or -1 with the reason in error. Only regular files: a device or a pipe is refused, not waited for. */
int cli_map_open(cli_map *map, const char *path, char *error, size_t error_size);
void cli_map_close(cli_map *map);
const char *cli_find_bytes(const char *data, size_t size, const char *what, size_t length);

#endif
