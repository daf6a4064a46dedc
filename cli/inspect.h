/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What `anydnn inspect` looks at: entries of a folder tree or of an archive, and the rules that judge them. The rules see only the list,
 * so they say the same of a folder and of the archive that it came from. */
#ifndef DN_CLI_INSPECT_H
#define DN_CLI_INSPECT_H

#include "cli.h"
#include "file.h"

typedef struct inspect_entry {
    cli_file file;
    char *dir;          /* folder part of file.path, without the last slash */
    const char *name;   /* in file.path */
    bool shown;         /* belongs to what was asked about; the others only help to judge it */
    bool from_archive;
    cJSON *api;         /* an archive's library with --api: see inspect_api */
    char *chain;        /* of a broken link: "a -> b -> c (missing)" */
} inspect_entry;

typedef struct inspect_list {
    inspect_entry *entries;
    size_t count, room;
    bool walked;        /* a whole tree or archive was seen, so what is not here is not there */
    bool devel;         /* --devel: what a development install lacks is an error */
    bool api;           /* --api */
    int abi;            /* of the one file that was asked about; 0 where there is more than one or none is known */
    file_kind kind;     /* the same file's */
    bool stopped;       /* a limit ended the walk */
} inspect_list;

/* Adds an entry, taking over file (freed where memory is short); NULL then. */
inspect_entry *inspect_add(inspect_list *list, cli_file *file, bool shown);
void inspect_free(inspect_list *list);
inspect_entry *inspect_find(const inspect_list *list, const char *dir, const char *name);
/* Does a file of this name matter here: libraries and headers of cuDNN, and what lies beside them? */
bool inspect_matters(const char *name);

/* Looks at one path of the tree and adds it; links are followed inside the tree. */
inspect_entry *inspect_add_path(cli *c, const char *path, bool shown, inspect_list *list);

/* One file with the neighbours that help to judge it; a folder tree; an archive. 0, or -1 where path cannot be read (a finding says so). */
int inspect_gather_file(cli *c, const char *path, inspect_list *list);
int inspect_gather_dir(cli *c, const char *path, inspect_list *list);
int inspect_gather_archive(cli *c, cli_report *r, const char *host, const char *path, inspect_list *list);

/* Rules; each adds findings. */
void inspect_check_files(const inspect_list *list, cli_report *r);
void inspect_check_names(const inspect_list *list, cli_report *r);
void inspect_check_links(const inspect_list *list, cli_report *r);
void inspect_check_copies(const cli *c, const inspect_list *list, cli_report *r);
void inspect_check_sets(const cli *c, const inspect_list *list, cli_report *r);
void inspect_check_windows(const inspect_list *list, cli_report *r);
void inspect_check_headers(const inspect_list *list, cli_report *r);
void inspect_check_static(const inspect_list *list, cli_report *r);

/* All of the above over a list. */
void inspect_check(const cli *c, const inspect_list *list, cli_report *r);

/* Members of "files": one object for a file. */
cJSON *inspect_file_json(const cli_file *f);
/* Adds real, not_real, missing and extra to a file's object; the library is opened at host, or is data where host is NULL. */
void inspect_api(const char *host, const void *data, size_t data_size, const cli_file *f, cJSON *json);

/* Is the entry more than a neighbour of the other major version or system, which does not concern the file that was asked about? */
bool inspect_concerns(const inspect_list *list, const inspect_entry *e);
/* A library of cuDNN that can be loaded: ELF or PE, by name or by content. */
bool inspect_is_library(const inspect_entry *e);

/* A growing text: adds, with ", " between. */
typedef struct inspect_words {
    char text[1500];
    size_t length, count;
} inspect_words;
void inspect_word(inspect_words *w, const char *text);

#endif
