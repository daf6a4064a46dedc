/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A random tree of libraries for loader_random.c, and the start of a program in it. */
#ifndef DN_TESTS_CLI_LOADER_TREE_H
#define DN_TESTS_CLI_LOADER_TREE_H

#include "search.h"

typedef struct loader_tree {
    int number;
    char *root;                             /* on this machine */
    const char *program;                    /* inside the tree */
    char *library_path, *preload, *cwd;     /* the first two may be NULL */
    bool secure, bad_files;
} loader_tree;

/* Prepares a folder for the trees; NULL where no other root can be taken. */
char *loader_tree_begin(const char *program);
void loader_tree_end(char *base);
/* The same number gives the same tree. seed: for more random numbers of that tree. */
void loader_tree_make(loader_tree *t, const char *program, const char *base, int number, unsigned *seed);
void loader_tree_remove(loader_tree *t, bool keep);
/* 0 to n - 1 */
unsigned loader_tree_random(unsigned *seed, unsigned n);
/* A name to open: of a library that may be there, now and then with a path. The caller frees. */
char *loader_tree_name(const loader_tree *t, unsigned *seed);
/* Starts the program inside the tree and gives what it printed; trace: the loader only lists what it would load. The caller frees. */
char *loader_tree_run(const loader_tree *t, char *const *words, bool trace, int *code);

#endif
