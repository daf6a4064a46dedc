/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Archives through libarchive. Only tar and zip with their usual filters are let in: fewer parsers, fewer surprises. */
#include "members.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 18, RETRIES_MAX = 100 };

/* Folders that a path descends into, minus those it climbs; -1 where it climbs above its start. */
static int depth_of(const char *path, int depth)
{
    while (*path) {
        size_t n = strcspn(path, "/\\");
        if (n == 2 && path[0] == '.' && path[1] == '.') {
            if (--depth < 0)
                return -1;
        } else if (n > 0 && !(n == 1 && path[0] == '.')) {
            depth++;
        }
        path += n;
        while (*path == '/' || *path == '\\')
            path++;
    }
    return depth;
}

static bool is_absolute(const char *path)
{
    return path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':');
}

bool archive_link_is_safe(const char *name, const char *target)
{
    int depth = depth_of(name, 0);
    return !is_absolute(target) && depth >= 1 && depth_of(target, depth - 1) >= 0;
}

static void describe(struct archive_entry *entry, archive_member *m)
{
    const char *hard = archive_entry_hardlink(entry), *soft = archive_entry_symlink(entry);
    memset(m, 0, sizeof *m);
    m->name = archive_entry_pathname(entry);
    if (!m->name)
        m->name = "";
    m->size = archive_entry_size_is_set(entry) && archive_entry_size(entry) > 0 ? (uint64_t)archive_entry_size(entry) : 0;
    m->kind = hard ? MEMBER_HARDLINK : archive_entry_filetype(entry) == AE_IFLNK ? MEMBER_LINK
              : archive_entry_filetype(entry) == AE_IFDIR ? MEMBER_DIR
              : archive_entry_filetype(entry) == AE_IFREG || archive_entry_filetype(entry) == 0 ? MEMBER_FILE : MEMBER_OTHER;
    m->target = hard ? hard : soft;
    m->unsafe = is_absolute(m->name) || depth_of(m->name, 0) < 0;
    if (hard)
        m->unsafe |= is_absolute(hard) || depth_of(hard, 0) < 0;
    else if (soft)
        m->unsafe |= !archive_link_is_safe(m->name, soft);
}

/* The member's bytes; NULL where they are more than the limit or cannot be had (*status says which). */
static unsigned char *read_data(struct archive *a, const archive_member *m, const archive_limits *limits, uint64_t *total, size_t *size,
                                archive_status *status)
{
    size_t room = m->size && m->size < limits->member_size ? (size_t)m->size + 1 : BLOCK, used = 0, retries = 0;
    /* A header may promise any size: memory grows as bytes come. */
    room = room < ((size_t)64 << 20) ? room : (size_t)64 << 20;
    unsigned char *data = malloc(room);
    while (data) {
        if (used == room) {
            unsigned char *more = room > SIZE_MAX / 2 ? NULL : realloc(data, room * 2);
            if (!more)
                break;
            data = more;
            room *= 2;
        }
        la_ssize_t n = archive_read_data(a, data + used, room - used);
        if (n == ARCHIVE_RETRY && ++retries < RETRIES_MAX)
            continue;
        if (n < 0) {  /* sparse entries out of order are answered with "retry" for ever */
            *status = ARCHIVE_DAMAGED;
            break;
        }
        if (n == 0) {
            *size = used;
            return data;
        }
        used += (size_t)n;
        *total += (uint64_t)n;
        if (used > limits->member_size || *total > limits->total_size) {
            *status = ARCHIVE_LIMIT;
            break;
        }
    }
    free(data);
    return NULL;
}

static archive_status walk(struct archive *a, const archive_limits *limits, const archive_reader *reader, char *error, size_t error_size)
{
    struct archive_entry *entry;
    uint64_t total = 0;
    int code, retries = 0;
    for (size_t count = 0; (code = archive_read_next_header(a, &entry)) != ARCHIVE_EOF;) {
        archive_member m;
        archive_status status = ARCHIVE_GOOD;
        if (code == ARCHIVE_RETRY && ++retries < RETRIES_MAX)
            continue;
        if (code < ARCHIVE_WARN) {
            snprintf(error, error_size, "%s", archive_error_string(a) ? archive_error_string(a) : "the archive is damaged");
            return ARCHIVE_DAMAGED;
        }
        describe(entry, &m);
        unsigned char *data = NULL;
        if (++count > limits->members || (m.kind == MEMBER_FILE && m.size > limits->total_size - total)) {
            snprintf(error, error_size, "the archive has more than is looked at (%zu members, %llu bytes)", limits->members,
                     (unsigned long long)limits->total_size);
            return ARCHIVE_LIMIT;
        }
        if (m.kind == MEMBER_FILE && m.size <= limits->member_size && reader->wanted(reader->user, &m))
            m.data = data = read_data(a, &m, limits, &total, &m.data_size, &status);
        else
            total += m.size;
        if (status == ARCHIVE_DAMAGED)
            snprintf(error, error_size, "%s: %s", m.name, archive_error_string(a) ? archive_error_string(a) : "cannot be unpacked");
        reader->take(reader->user, &m);
        free(data);
        if (status == ARCHIVE_DAMAGED)
            return status;
    }
    return ARCHIVE_GOOD;
}

archive_status archive_read(const char *path, const void *data, size_t size, const archive_limits *limits, const archive_reader *reader,
                            char *error, size_t error_size)
{
    struct archive *a = archive_read_new();
    if (!a) {
        snprintf(error, error_size, "no memory");
        return ARCHIVE_CANNOT_OPEN;
    }
    archive_read_support_filter_xz(a);
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_bzip2(a);
    archive_read_support_filter_zstd(a);
    archive_read_support_format_tar(a);
    archive_read_support_format_zip(a);
    int code = path ? archive_read_open_filename(a, path, BLOCK) : archive_read_open_memory(a, data, size);
    archive_status status = ARCHIVE_CANNOT_OPEN;
    if (code == ARCHIVE_OK)
        status = walk(a, limits, reader, error, error_size);
    else
        snprintf(error, error_size, "%s", archive_error_string(a) ? archive_error_string(a) : "is not an archive that is read here");
    archive_read_free(a);
    return status;
}
