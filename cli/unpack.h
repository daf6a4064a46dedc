/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Unpacks an archive of cuDNN into a fresh folder. The archive is not trusted: what is not plainly a file, a folder or a link inside it is refused, and
 * one refusal refuses the whole. docs/tool.md names the limits. */
#ifndef DN_CLI_UNPACK_H
#define DN_CLI_UNPACK_H

#include "manifest.h"

enum { UNPACK_MEMBERS = 20000, UNPACK_NAME = 1024, UNPACK_RATIO = 200 };
#define UNPACK_BYTES ((uint64_t)16 << 30)
#define UNPACK_SLACK ((uint64_t)64 << 20) /* unpacked bytes that any archive may have, however small it is */

typedef struct unpack {
    const cli *c;
    int archive;              /* open for reading, at its start */
    uint64_t archive_size;
    int64_t archive_mtime;
    int dir;                  /* empty folder to unpack into; -1: only judge, nothing is written */
    manifest *m;              /* gets the entries, with their paths in the build: lib64 becomes lib, the folders around are taken off */
    char top[UNPACK_NAME + 1];/* those folders: "cudnn-linux-x86_64-8.9.7.29_cuda12-archive", "nvidia/cudnn", "cuda" */
    char distribution[256];   /* of a wheel: "nvidia_cudnn_cu12-8.9.7.29" */
    size_t left_out;          /* members that belong to no folder of the layout */
    char error[1200];         /* a sentence */
    bool refused;             /* the archive is to blame, not the disk */
    int failed;               /* errno of what could not be written; 0 where nothing failed */
} unpack;

/* 0, or -1 with u->error. What is in the folder then is for the caller to remove. */
int unpack_run(unpack *u);
/* Where a member goes in the build: "lib/libcudnn.so.9" for "x-archive/lib64/libcudnn.so.9"; false for one that is left out. top gets the folders before. */
bool unpack_place(const char *name, char *out, size_t size, char *top, size_t top_size);
/* Why a member's name is not taken; NULL where it is good. */
const char *unpack_bad_name(const char *name);

#endif
