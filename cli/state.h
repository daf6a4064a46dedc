/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * One state of the store: builds that are installed, those in use, the links that show them, the files that had been in the way, and the
 * states before. It is the record of a generation, and the aim that the journal of an operation names.
 *
 *   anydnn-state 1
 *   generation N
 *   build NAME                        installed
 *   use ABI NAME | last ABI           in use; ABI that headers and bare names follow
 *   view INCLUDE LIB BIN              folders that get links, paths of the tree; the first is PREFIX's
 *   made DIR                          a folder that was made for links, removed when it is empty at the end
 *   link VIEW NAME VIA                lib/libcudnn.so.9 of view 0 shows the file of that name in 8, 9 or last
 *   saved VIEW NAME file ID           had been there: kept as .state/saved/ID
 *   saved VIEW NAME link TEXT         had been a link with that text
 *   drop VIEW NAME                    our link of an earlier state, to be removed
 *   before NAME8 NAME9 LAST           what was in use before, the newest first; - for none
 *   end COUNT */
#ifndef DN_CLI_STATE_H
#define DN_CLI_STATE_H

#include "cli.h"

#include <stdint.h>

enum { STATE_SLOTS = 2, STATE_ABI = 8, STATE_BEFORE = 16, STATE_VIEWS = 8 }; /* slot 0 is ABI 8, slot 1 is ABI 9 */

typedef struct state_used {
    char *build[STATE_SLOTS]; /* NULL: none */
    int last;                 /* 8, 9, or 0 */
} state_used;

typedef struct state_view {
    char *include, *lib, *bin;
} state_view;

typedef enum state_kind { STATE_LINK, STATE_SAVED_FILE, STATE_SAVED_LINK, STATE_DROP } state_kind;

typedef struct state_name {
    state_kind kind;
    size_t view;
    char *name;   /* "lib/libcudnn.so.9" */
    char *text;   /* STATE_LINK: "8", "9" or "last"; saved: ID or the link's text; NULL for a drop */
} state_name;

typedef struct state_words {
    char **items;
    size_t count;
} state_words;

typedef struct state {
    uint64_t generation;       /* 0: nothing is there yet */
    state_words builds, made;
    state_used used, before[STATE_BEFORE];
    size_t before_count;
    state_view views[STATE_VIEWS];
    size_t view_count;
    state_name *names;
    size_t name_count;
} state;

/* 0, or -1 with a sentence. s is to be freed in both cases. */
int state_parse(state *s, const char *text, size_t size, char *error, size_t error_size);
char *state_text(const state *s);
void state_free(state *s);
/* Everything but the names. false where memory is short. */
bool state_copy(state *to, const state *from);

bool state_add_word(state_words *w, const char *word);
bool state_has_word(const state_words *w, const char *word);
void state_drop_word(state_words *w, const char *word);
bool state_add_name(state *s, state_kind kind, size_t view, const char *name, const char *text);
/* The first name of that view among those of the kinds in mask (1 << kind), or NULL. */
const state_name *state_find(const state *s, unsigned mask, size_t view, const char *name);
/* Puts a build into its slot and makes it the last; the state that was goes to the front of those before. */
bool state_use(state *s, int abi, const char *build);
/* Back to the newest one before; false where there is none. */
bool state_back(state *s);
/* Takes a build out of everything; the newest one before of that ABI that is still installed takes its place. */
bool state_forget(state *s, const char *build);
const char *state_build(const state *s, int abi);

#endif
