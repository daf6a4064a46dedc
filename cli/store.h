/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Our store of builds, PREFIX/opt/cudnn, and what of it is in use. docs/tool.md tells its layout. Every path here is one of the tree (--root).
 *
 *   PREFIX/opt/cudnn/BUILD/{include,lib,...,manifest}   one folder for each build: 8.9.7.29-cuda12-linux-x86_64
 *   PREFIX/opt/cudnn/current  -> .state/N               the one link whose rename commits every change
 *   PREFIX/opt/cudnn/current-8 -> current/8, current-9 -> current/9
 *   PREFIX/opt/cudnn/.state/N/{8,9,last} -> BUILD       a generation: the builds in use, "last" the one that headers and bare names follow
 *   PREFIX/opt/cudnn/.state/N/record                    the same as text, with what else this generation holds (state.h)
 *   PREFIX/lib/libcudnn.so.9 -> ../opt/cudnn/current/view0/lib/libcudnn.so.9 -> ../../9/lib/libcudnn.so.9 */
#ifndef DN_CLI_STORE_H
#define DN_CLI_STORE_H

#include "cli.h"
#include "manifest.h"

/* A build or folder that somebody named. Paths of the tree; free with store_place_free. */
typedef struct store_place {
    char *prefix;    /* PREFIX of the store, or the prefix folder that was named; NULL for a bare file or folder */
    char *build;     /* name of the build in our store; NULL where it is none of ours */
    char *dir;       /* folder that holds lib and include: PREFIX/opt/cudnn/BUILD, or the prefix itself; NULL where not known */
    char *lib;       /* folder of the libraries */
    char *include;   /* folder of the headers; NULL where there is none */
    char *file;      /* libcudnn itself: LIB/libcudnn.so.N (links are not followed) */
    int abi;         /* 8 or 9 */
} store_place;

/* Finds what a word means: NULL or "" for the build in use (the last `use`), "8" or "9" for the one in use of that ABI, a version or a build's name in the
 * store ("8.9.7", "9.1.0.70-cuda12-linux-x86_64"), a library file, a folder with libraries, a prefix (its lib64, lib/MULTIARCH, lib, or
 * nvidia/cudnn/lib), a file that is no library is refused. prefix: the store's PREFIX, NULL for the default one; abi: 0, or the one that is wanted
 * where a folder holds both. 0, or -1 with a sentence in error. Reads only. */
int store_resolve(const cli *c, const char *word, const char *prefix, int abi, store_place *out, char *error, size_t error_size);
void store_place_free(store_place *p);

/* PREFIX where none was given: /usr/local for root, HOME/.local otherwise. The caller frees; NULL where there is no HOME. */
char *store_default_prefix(const cli *c);

/* Names of the builds in the store, sorted; names whose manifest cannot be read too. Frees by store_names_free. */
typedef struct store_names {
    char **items;
    size_t count;
} store_names;
store_names store_builds(const cli *c, const char *prefix);
void store_names_free(store_names *names);

#endif
