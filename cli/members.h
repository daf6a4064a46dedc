/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Members of tar, zip and wheel files through libarchive, one after the other; nothing is written anywhere. */
#ifndef DN_CLI_MEMBERS_H
#define DN_CLI_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum member_kind { MEMBER_FILE, MEMBER_LINK, MEMBER_HARDLINK, MEMBER_DIR, MEMBER_OTHER } member_kind;

typedef struct archive_member {
    const char *name;   /* as in the archive */
    member_kind kind;
    const char *target; /* of a link */
    uint64_t size;
    bool unsafe;        /* absolute, or leads out by ".." */
    const void *data;   /* where it was asked for and within the limits, else NULL */
    size_t data_size;
} archive_member;

typedef struct archive_limits {
    size_t members;       /* most members looked at */
    uint64_t member_size; /* largest member read into memory */
    uint64_t total_size;  /* most bytes unpacked in all */
} archive_limits;

typedef enum archive_status { ARCHIVE_GOOD, ARCHIVE_CANNOT_OPEN, ARCHIVE_DAMAGED, ARCHIVE_LIMIT } archive_status;

typedef struct archive_reader {
    bool (*wanted)(void *user, const archive_member *m); /* should its data be read? */
    void (*take)(void *user, const archive_member *m);
    void *user;
} archive_reader;

/* From a path, or from memory where path is NULL. error gets a text unless all is good. */
archive_status archive_read(const char *path, const void *data, size_t size, const archive_limits *limits, const archive_reader *reader,
                            char *error, size_t error_size);
/* Does a link's text, seen from its own name, stay inside the archive? */
bool archive_link_is_safe(const char *name, const char *target);

#endif
