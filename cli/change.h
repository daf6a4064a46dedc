/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * How the store changes. Every command computes the state that it wants; one routine takes the store there:
 *
 *   journal      says what is being done and what the new state is
 *   save         a file in the way gets a second name in .state/saved, and a generation in between shows it under its old name, through `current`; only
 *                then a link takes its place: whoever opens the name still gets the same bytes
 *   link         names that the old state lacks are linked; they lead nowhere until the commit
 *   commit       `current` is renamed to the new generation: every name changes at once
 *   settle       links that the new state lacks go, what was saved and is not covered any more returns, old generations and removed builds go
 *
 * A process that is killed at any moment leaves the old state (before the commit) or the new one (after it), apart from names that lead nowhere. The next
 * command finds the journal and settles: the same routine, whichever state it is. */
#ifndef DN_CLI_CHANGE_H
#define DN_CLI_CHANGE_H

#include "manifest.h"
#include "state.h"

typedef struct store {
    const cli *c;
    char *prefix;      /* PREFIX, links followed as far as it is there */
    char *dir;         /* PREFIX/opt/cudnn, the same */
    char *root;        /* the tree's absolute path on this machine; "" for the machine itself */
    char *host;        /* dir as the host sees it */
    int lock;          /* -1: only read */
    bool unreadable;   /* its state is there, but not for this user, or the tree is not there */
    state now;
    state_words made;  /* folders made for the lock, above dir and dir itself */
} store;

/* What an operation does besides changing the state. */
typedef struct change {
    const char *operation;   /* "install FILE", "use 9.1.0", ... as the journal and messages name it */
    const char *fresh;       /* install: name in the store's folder of the tree that becomes a build; NULL else */
    const char *build;       /* the build that comes or goes; NULL where neither */
} change;

/* Opens the store of a prefix (NULL: the default). With write it is made where it is not there, locked, and mended (a note in r says so); else
 * only read. 0, or -1 with a finding in r. */
int store_open(store *s, const cli *c, const char *prefix, bool write, cli_report *r);
/* Gives the lock back; a store that holds nothing is removed. */
void store_close(store *s);
/* Reads the state in effect; -1 with a sentence where its record is damaged. */
int store_read(store *s, char *error, size_t error_size);

/* store_plan.c: fills in what follows from next->used: links, what is in the way, folders to make, names to drop. made: manifest of a build
 * that is not in its place yet. Checks that all may be written. 0, or -1 with a finding. */
int store_plan(store *s, state *next, const manifest *fresh, cli_report *r);
/* Adds a view to the state for DIR of --link-into (an existing tree with include and lib64 or lib). */
int store_add_view(store *s, state *next, const char *dir, cli_report *r);
/* The operations between s->now and next as a JSON array, in their order. */
cJSON *store_operations(const store *s, const state *next, const change *what);

/* store_change.c: 0, or -1 with a finding; then the old state is in effect and nothing is left of the attempt. */
int store_change(store *s, state *next, const change *what, cli_report *r);
/* The journal alone, for the part of an operation that comes before its state is known. */
int store_journal(store *s, const change *what, const state *next);

/* store_settle.c: removes what does not belong to the state in effect; other: the state that the journal names, or NULL. 0, or -1 with errno. */
int store_settle(store *s, const state *other, const char *build);
/* Leftovers of an operation that was cut off; true where there are any. */
bool store_has_leftovers(const store *s);
/* Settles them and says so in r. */
int store_mend(store *s, cli_report *r);

/* Host path of view's name, and of the folder that it is in; the caller frees. */
char *store_view_path(const store *s, const state *st, size_t view, const char *name);
/* Text that our link under that name has. */
char *store_link_text(const store *s, const state *st, size_t view, const char *name);
/* Is our own link there? */
bool store_is_ours(const store *s, const state *st, size_t view, const char *name);
/* Is this a saved name of next whose file or link has still to be saved? */
bool store_is_new(const store *s, const state *next, const state_name *n);
/* Folder of a view for "lib/x", and the rest of the name. */
const char *store_view_dir(const state_view *v, const char *name, const char **rest);
/* Where a path of the tree lies on this machine; the caller frees. */
char *store_host(const store *s, const char *path);
/* Are the folders of all views what the tree has under these names, with no link on the way? Always so without --root. */
bool store_views_inside(const store *s, const state *st);
/* HOST/.state/NUMBER and the like. */
char *store_inner(const store *s, const char *name);

/* The installed build that a word names ("8.9.7", "9.1.0.70-cuda12", a whole name); NULL with a sentence. */
const char *store_match(const store *s, const char *word, char *error, size_t error_size);

/* Adds an error finding with errno's text: "WHAT: PATH: reason". Answers -1. */
int store_fault(cli_report *r, const char *what, const char *path, int error);

#endif
