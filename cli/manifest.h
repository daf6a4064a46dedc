/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The manifest of an installed build: PREFIX/opt/cudnn/BUILD/manifest, what was put there and from which archive. Lines of tab-separated
 * cells:
 *
 *   anydnn-manifest 1
 *   build NAME | version V | abi N | cuda N | platform P | archive NAME | archive-sha256 HEX     (a missing line: not known)
 *   file MODE SIZE MTIME NANOSECONDS SHA256 ORIGIN PATH       ORIGIN: archive, or made (written by the tool)
 *   link ORIGIN PATH TARGET
 *   end COUNT                                                  COUNT entries; a manifest that was cut off has no such line */
#ifndef DN_CLI_MANIFEST_H
#define DN_CLI_MANIFEST_H

#include "cli.h"
#include "digest.h"

#include <stdint.h>

typedef enum manifest_kind { MANIFEST_FILE, MANIFEST_LINK } manifest_kind;

typedef struct manifest_entry {
    manifest_kind kind;
    bool made;                /* by the tool: a link that the archive lacks, a package file */
    unsigned mode;            /* 0644 or 0755 */
    uint64_t size;
    int64_t mtime;            /* as the file system kept it */
    long mtime_ns;
    char sha256[DIGEST_TEXT];
    char *path;               /* relative to the build's folder: "lib/libcudnn.so.9.1.0" */
    char *target;             /* of a link, as it stands in the link */
} manifest_entry;

typedef struct manifest {
    char *build;              /* "8.9.7.29-cuda12-linux-x86_64" */
    char *version;            /* "8.9.7.29" */
    int abi, cuda;            /* 8, 9; CUDA major, 0 where it has none */
    char *platform;           /* "linux-x86_64" */
    char *archive;            /* base name */
    char archive_sha256[DIGEST_TEXT];
    manifest_entry *entries;
    size_t count;
} manifest;

/* Reads any bytes; 0, or -1 with a sentence in error. m is to be freed in both cases. */
int manifest_parse(manifest *m, const char *text, size_t size, char *error, size_t error_size);
/* The manifest in a build's folder (a path of the tree); -1 with a sentence where there is none or it is damaged, and errno where it
 * cannot be read. */
int manifest_read(manifest *m, const char *root, const char *dir, char *error, size_t error_size);
/* The text of it; the caller frees. NULL where memory is short. */
char *manifest_text(const manifest *m);
manifest_entry *manifest_add(manifest *m, manifest_kind kind, const char *path, const char *target);
const manifest_entry *manifest_find(const manifest *m, const char *path);
void manifest_free(manifest *m);

typedef enum manifest_state { MANIFEST_SAME, MANIFEST_CHANGED, MANIFEST_MISSING, MANIFEST_UNREADABLE, MANIFEST_EXTRA } manifest_state;
const char *manifest_state_name(manifest_state state);

typedef void manifest_tell(void *user, manifest_state state, const char *path, const char *why);
/* Compares a build's folder with its manifest and calls tell for each file that is not as it was (and for files of lib, include and bin that are in no manifest).
 * Without all_bytes, a file with the size and the time that it had is taken to be the same; a file with another time is read. Answers how many
 * were told. */
size_t manifest_verify(const manifest *m, const char *root, const char *dir, bool all_bytes, manifest_tell *tell, void *user);

#endif
