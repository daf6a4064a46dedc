/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Mapping on POSIX systems; elsewhere the file is read into memory. */
#include "map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char nothing[1];

static int fail(char *error, size_t size, const char *path, const char *why)
{
    snprintf(error, size, "%s: %s", path, why);
    return -1;
}

#ifdef _WIN32
int cli_map_open(cli_map *map, const char *path, char *error, size_t error_size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return fail(error, error_size, path, strerror(errno));
    size_t room = 1 << 20, size = 0, got;
    unsigned char *data = malloc(room);
    while (data && (got = fread(data + size, 1, room - size, f)) > 0) {
        size += got;
        if (size == room) {
            unsigned char *more = realloc(data, room *= 2);
            if (!more)
                free(data);
            data = more;
        }
    }
    fclose(f);
    if (!data)
        return fail(error, error_size, path, "no memory");
    map->data = data;
    map->size = size;
    return 0;
}

void cli_map_close(cli_map *map)
{
    free((void *)(size_t)map->data);
    map->data = nothing;
    map->size = 0;
}
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int cli_map_open(cli_map *map, const char *path, char *error, size_t error_size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0)
        return fail(error, error_size, path, strerror(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return fail(error, error_size, path, "is not a regular file");
    }
    map->data = nothing;
    map->size = (size_t)st.st_size;
    void *p = map->size ? mmap(NULL, map->size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    close(fd);
    if (p == MAP_FAILED)
        return fail(error, error_size, path, strerror(errno));
    if (p)
        map->data = p;
    return 0;
}

void cli_map_close(cli_map *map)
{
    if (map->size)
        munmap((void *)(size_t)map->data, map->size);
    map->data = nothing;
    map->size = 0;
}
#endif

const char *cli_find_bytes(const char *data, size_t size, const char *what, size_t length)
{
    const char *end = data + size;
    if (!length)
        return data;
    while (size >= length) {
        const char *p = memchr(data, what[0], size - length + 1);
        if (!p || memcmp(p, what, length) == 0)
            return p;
        data = p + 1;
        size = (size_t)(end - data);
    }
    return NULL;
}
