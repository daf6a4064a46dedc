/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Finds every folder of the machine that holds files of cuDNN, and on the way the places of Python packages, conda environments and
 * CUDA toolkits. Looks where the loader, the vendor's packages and the frameworks put things; does not read a whole disk. */
#ifndef DN_CLI_DISCOVER_H
#define DN_CLI_DISCOVER_H

#include "file.h"
#include "tree.h"

typedef struct discover_file {
    char *name;
    cudnn_name parts;
    bool mangled;   /* libcudnn-1a2b3c4d.so.9.1.0: a copy inside a wheel, under a name that only the wheel asks for */
    char *link;     /* text of the link; NULL for a file */
    char *real;     /* the file behind all links; NULL where there is none */
    tree_stat look; /* of that file */
} discover_file;

typedef struct discover_dir {
    char *path;       /* with every link followed */
    char *seen_as;    /* the path by which it was found first */
    const char *rule; /* variable, cache, default, cuda, conda, wheel, opt, store, path: the first that led here */
    char *base;       /* site-packages folder or environment that it belongs to, or NULL */
    bool in_conda;    /* base is a conda environment */
    discover_file *files;
    size_t count;
} discover_dir;

typedef struct discover_names {
    char **items;
    size_t count;
} discover_names;

typedef struct discover {
    const char *root;
    const char *const *env; /* "NAME=value", ends with NULL: in the place of the environment's; may be NULL */
    discover_dir *dirs;
    size_t count;
    discover_names seen;    /* folders looked at, real paths */
    discover_names sites;   /* site-packages and dist-packages */
    discover_names condas;  /* environments: folders with conda-meta */
    discover_names cudas;   /* /usr/local/cuda-12.1, ... real paths */
    discover_names cached;  /* paths of cuDNN files that ld.so.cache names, in its order */
    discover_names conf;    /* folders of ld.so.conf, real paths */
    discover_names headers; /* include folders in a compiler's order, as far as they exist */
    size_t budget;          /* names that may still be read */
    bool stopped;           /* the budget ran out: what is reported is not all */
} discover;

/* cli_cudnn_name that also knows mangled names and leaves out libraries that only share the first letters (cudnn_frontend). */
bool discover_is_cudnn(const char *name, cudnn_name *out, bool *mangled);
/* root: "" or the folder of --root. Frees with discover_free. */
void discover_run(discover *d, const char *root, const char *const *env);
/* A variable's value: from env, else from our own environment; of that nothing is taken for another tree. NULL where it is not set. */
const char *discover_env(const discover *d, const char *name);
void discover_free(discover *d);

/* Puts a copy of text at the end unless it is there; false where it was. */
bool discover_names_add(discover_names *names, const char *text);
/* Looks into one folder, once. */
void discover_look(discover *d, const char *path, const char *rule, const char *base);
/* Looks into a folder and those below it, depth levels; registers site-packages and conda environments on the way. */
void discover_walk(discover *d, const char *path, int depth, const char *rule);
/* Everything in one site-packages folder, and in one conda environment. */
void discover_site(discover *d, const char *path);
void discover_conda(discover *d, const char *path);
/* Library folders and Python packages of a prefix (/usr/local, a virtual environment). */
void discover_prefix(discover *d, const char *prefix, const char *rule);
/* Calls each for the elements of an environment variable of folders; one that starts with the root stands for the path inside it. */
void discover_variable(discover *d, const char *name, void (*each)(discover *d, const char *path));
/* Fills d->conf from the tree's ld.so.conf; nothing else is looked at. */
void discover_conf(discover *d);
/* discover_places.c: where to look. */
void discover_places(discover *d);

#endif
