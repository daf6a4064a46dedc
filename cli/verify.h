/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The parts of `anydnn verify`. Each level adds one object to "levels" and says what it proves and what it does not. */
#ifndef DN_CLI_VERIFY_H
#define DN_CLI_VERIFY_H

#include "cli.h"
#include "file.h"
#include "maps.h"
#include "process.h"
#include "search.h"
#include "store.h"

typedef struct verify {
    cli *c;
    cli_report report;
    cJSON *levels;
    const char *word;        /* PREFIX, FILE or VERSION; NULL where none was given */
    const char *pid, *python, *program;
    bool use_python, manifest;
    bool level[4];           /* level[1] to level[3]: --level */
    store_place place;
    cli_file file;           /* of place.file */
    char said[256];          /* the missing file that was told of last */
} verify;

typedef enum verify_result { VERIFY_PASS, VERIFY_FAIL, VERIFY_SKIP } verify_result;

/* Begins a level's object; its errors are those that the report gets until the end. */
typedef struct verify_level {
    cJSON *json;
    int errors;
} verify_level;
verify_level verify_begin(verify *v, const char *name, const char *title);
/* skipped: why it could not be done, NULL where it was. */
verify_result verify_end(verify *v, verify_level *level, const char *skipped, const char *proves, const char *proves_not);
/* One fact: in the level's object, and as a line for people. */
void verify_fact(verify *v, verify_level *level, const char *name, const char *text);
/* A finding with a formatted text; why and fix as in cli_finding. */
cJSON *verify_finding(verify *v, cli_severity severity, const char *id, const char *why, const char *fix, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* Which library is meant: store_resolve, and without a word the one beside this tool, else the one in use, else what the loader finds. */
int verify_place(const cli *c, const char *word, store_place *place, char *error, size_t error_size);
/* A file of cuDNN by its name, names with a wheel's hash too. */
bool verify_is_library(const char *path);
/* Is this mapped file one of the libraries that the folder leads to? */
bool verify_is_of(const maps_file *f, const char *folder);
/* Maps of a process; -1 where they cannot be read. */
int verify_read_maps(maps *m, const char *pid);
/* Holds a map against the chosen library (place.file NULL: against the libcudnn that is mapped). Files of another place, and removed ones, are
 * findings; answers whether libcudnn itself is there. list gets the paths. */
bool verify_judge_maps(verify *v, const maps *m, cJSON *list);

/* The levels. */
void verify_process(verify *v);
void verify_build(verify *v);
void verify_speed(verify *v);
/* What a program would get, what the processes have, what was changed. An exit code; CLI_GOOD where the report says the rest. */
int verify_for(verify *v);
int verify_pid(verify *v);
int verify_python(verify *v);
int verify_manifest(verify *v);
/* The program of level 1: hidden from the help. */
int verify_child(int argc, char **argv);

/* Says what a handle could not be made of, from the child's lines. */
void verify_judge_create(verify *v, verify_level *level, process *child);
/* Texts of a child that name a missing file: adds the finding that fits, and answers whether there was one. */
bool verify_judge_texts(verify *v, const char *text);

#endif
