/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Who put a file there: a Debian or RPM package, a Python distribution, a conda package or our own store. Read from their records; only
 * where the machine has a database of rpm is a program run, rpm itself, with a time limit. */
#ifndef DN_CLI_OWNER_H
#define DN_CLI_OWNER_H

#include "discover.h"

#define OWNER_NONE ((size_t)-1)

typedef struct owner {
    const char *kind; /* "dpkg", "rpm", "wheel", "conda" or "anydnn" */
    char *package, *version;
    char *place; /* the site-packages folder or environment; NULL for dpkg and rpm */
} owner;

typedef struct owner_entry {
    char *path;
    size_t owner;
} owner_entry;

/* Records read so far: dpkg's once, those of a place when the first file of it is asked for. */
typedef struct owners {
    const char *root;
    owner **items;
    size_t count;
    owner_entry *entries; /* files of cuDNN and who owns them */
    size_t entry_count;
    discover_names read;  /* places whose records were read */
    discover_names asked; /* files that rpm was asked about */
} owners;

void owners_begin(owners *o, const char *root);
void owners_end(owners *o);
/* Takes the text of one record, which it changes: "dpkg" (place: the package), "rpm" (read_rpm's lines), "wheel" (place: site-packages) or "conda" (the environment). Bytes of
 * any kind may be given; for the fuzzer. */
void owners_take(owners *o, const char *kind, const char *place, char *text);
/* Owner of a file (library or header, its path inside the tree) that belongs to a folder that discover found, or NULL. The answer lives
 * until owners_end. */
const owner *owner_of(owners *o, const discover_dir *dir, const char *path);
/* Does the system's package manager own it? Its files are left to it. NULL may be given. */
bool owner_is_system(const owner *who);
/* Version of an installed Debian package; NULL where it is not installed. The caller frees. */
char *owner_dpkg_version(const char *root, const char *package);
/* A field of a Python distribution's METADATA (or PKG-INFO) text: index-th line "Name: value"; the caller frees. */
char *owner_metadata_field(const char *text, const char *field, size_t index);
/* "pip uninstall nvidia-cudnn-cu12" and the like; NULL where it is not known. The caller frees. */
char *owner_remove_command(const owner *who);
/* "nvidia-cudnn-cu12 8.9.7.29 (wheel)"; the caller frees. */
char *owner_text(const owner *who);

#endif
