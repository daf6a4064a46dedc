/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "state.h"
#include "cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_AT_MOST = 100000, WORDS_AT_MOST = 1000 };

bool state_add_word(state_words *w, const char *word)
{
    char **more = realloc(w->items, (w->count + 1) * sizeof *more);
    if (!more)
        return false;
    w->items = more;
    if (!(more[w->count] = strdup(word)))
        return false;
    w->count++;
    return true;
}

bool state_has_word(const state_words *w, const char *word)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->items[i], word) == 0)
            return true;
    return false;
}

void state_drop_word(state_words *w, const char *word)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->items[i], word) == 0) {
            free(w->items[i]);
            memmove(w->items + i, w->items + i + 1, (--w->count - i) * sizeof *w->items);
            return;
        }
}

static void free_words(state_words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->items[i]);
    free(w->items);
}

bool state_add_name(state *s, state_kind kind, size_t view, const char *name, const char *text)
{
    /* Room grows by doubling: at every power of two. */
    if ((s->name_count & (s->name_count - 1)) == 0) {
        state_name *more = realloc(s->names, (s->name_count ? s->name_count * 2 : 1) * sizeof *more);
        if (!more)
            return false;
        s->names = more;
    }
    state_name *n = s->names + s->name_count;
    *n = (state_name){ kind, view, strdup(name), text ? strdup(text) : NULL };
    if (!n->name || (text && !n->text)) {
        free(n->name);
        free(n->text);
        return false;
    }
    s->name_count++;
    return true;
}

const state_name *state_find(const state *s, unsigned mask, size_t view, const char *name)
{
    for (size_t i = 0; i < s->name_count; i++)
        if (mask & 1u << s->names[i].kind && s->names[i].view == view && strcmp(s->names[i].name, name) == 0)
            return &s->names[i];
    return NULL;
}

static void free_used(state_used *u)
{
    for (int i = 0; i < STATE_SLOTS; i++)
        free(u->build[i]);
    *u = (state_used){ 0 };
}

void state_free(state *s)
{
    free_words(&s->builds);
    free_words(&s->made);
    free_used(&s->used);
    for (size_t i = 0; i < s->before_count; i++)
        free_used(&s->before[i]);
    for (size_t i = 0; i < s->view_count; i++) {
        free(s->views[i].include);
        free(s->views[i].lib);
        free(s->views[i].bin);
    }
    for (size_t i = 0; i < s->name_count; i++) {
        free(s->names[i].name);
        free(s->names[i].text);
    }
    free(s->names);
    *s = (state){ 0 };
}

static bool copy_used(state_used *to, const state_used *from)
{
    *to = (state_used){ .last = from->last };
    for (int i = 0; i < STATE_SLOTS; i++)
        if (from->build[i] && !(to->build[i] = strdup(from->build[i])))
            return false;
    return true;
}

static bool same_used(const state_used *a, const state_used *b)
{
    for (int i = 0; i < STATE_SLOTS; i++)
        if (!a->build[i] != !b->build[i] || (a->build[i] && strcmp(a->build[i], b->build[i]) != 0))
            return false;
    return a->last == b->last;
}

bool state_copy(state *to, const state *from)
{
    bool good = true;
    *to = (state){ .generation = from->generation };
    for (size_t i = 0; i < from->builds.count; i++)
        good &= state_add_word(&to->builds, from->builds.items[i]);
    for (size_t i = 0; i < from->made.count; i++)
        good &= state_add_word(&to->made, from->made.items[i]);
    good &= copy_used(&to->used, &from->used);
    for (; to->before_count < from->before_count; to->before_count++)
        good &= copy_used(&to->before[to->before_count], &from->before[to->before_count]);
    for (; to->view_count < from->view_count; to->view_count++) {
        const state_view *v = &from->views[to->view_count];
        state_view *w = &to->views[to->view_count];
        *w = (state_view){ strdup(v->include), strdup(v->lib), strdup(v->bin) };
        good &= w->include && w->lib && w->bin;
    }
    return good;
}

const char *state_build(const state *s, int abi)
{
    return abi >= STATE_ABI && abi < STATE_ABI + STATE_SLOTS ? s->used.build[abi - STATE_ABI] : NULL;
}

/* Takes over used as what was in use before now. */
static void push_before(state *s, state_used used)
{
    if (s->before_count == STATE_BEFORE)
        free_used(&s->before[--s->before_count]);
    memmove(s->before + 1, s->before, s->before_count * sizeof *s->before);
    s->before[0] = used;
    s->before_count++;
}

bool state_use(state *s, int abi, const char *build)
{
    state_used now;
    if (!copy_used(&now, &s->used))
        return false;
    char **slot = &s->used.build[abi - STATE_ABI];
    free(*slot);
    *slot = strdup(build);
    s->used.last = abi;
    if (same_used(&now, &s->used))
        free_used(&now);
    else
        push_before(s, now);
    return *slot != NULL;
}

bool state_back(state *s)
{
    if (s->before_count == 0)
        return false;
    free_used(&s->used);
    s->used = s->before[0];
    memmove(s->before, s->before + 1, --s->before_count * sizeof *s->before);
    return true;
}

/* last must name an ABI that is in use. */
static void mend_last(state_used *u)
{
    if (u->last && u->build[u->last - STATE_ABI])
        return;
    u->last = 0;
    for (int i = 0; i < STATE_SLOTS; i++)
        if (u->build[i])
            u->last = STATE_ABI + i;
}

/* The newest build of a slot among those before that is another one and still installed; NULL where there is none. */
static const char *heir(const state *s, int slot, const char *build)
{
    for (size_t i = 0; i < s->before_count; i++) {
        const char *b = s->before[i].build[slot];
        if (b && strcmp(b, build) != 0 && state_has_word(&s->builds, b))
            return b;
    }
    return NULL;
}

bool state_forget(state *s, const char *build)
{
    bool good = true;
    for (int i = 0; i < STATE_SLOTS; i++) {
        char **slot = &s->used.build[i];
        if (!*slot || strcmp(*slot, build) != 0)
            continue;
        const char *next = heir(s, i, build);
        /* What is undone gives the headers back to whom they followed before. */
        if (s->used.last == STATE_ABI + i && s->before_count && s->before[0].last)
            s->used.last = s->before[0].last;
        free(*slot);
        *slot = next ? strdup(next) : NULL;
        good &= !next || *slot;
    }
    mend_last(&s->used);
    size_t kept = 0;
    const state_used *newer = &s->used;
    for (size_t k = 0; k < s->before_count; k++) {
        state_used *u = &s->before[k];
        for (int i = 0; i < STATE_SLOTS; i++)
            if (u->build[i] && strcmp(u->build[i], build) == 0) {
                free(u->build[i]);
                u->build[i] = NULL;
            }
        mend_last(u);
        if (same_used(u, newer)) {
            free_used(u);
            continue;
        }
        s->before[kept] = *u;
        newer = &s->before[kept++];
    }
    s->before_count = kept;
    state_drop_word(&s->builds, build); /* last: build may be its own word */
    return good;
}

static bool take_slot(char **slot, const char *name)
{
    if (strcmp(name, "-") == 0)
        return true;
    free(*slot);
    *slot = NULL;
    return cells_path(name) && !strchr(name, '/') && (*slot = strdup(name)) != NULL;
}

static bool is_abi(const char *cell, int *abi)
{
    uint64_t n;
    if (!cells_number(cell, 10, &n) || (n != 0 && (n < STATE_ABI || n >= STATE_ABI + STATE_SLOTS)))
        return false;
    *abi = (int)n;
    return true;
}

/* An absolute path whose parts are good. */
static bool is_folder(const char *cell)
{
    return cell[0] == '/' && (cell[1] == 0 || cells_path(cell + 1));
}

static bool take_before(state *s, const cells *c)
{
    if (c->count != 4 || s->before_count == STATE_BEFORE)
        return false;
    state_used *u = &s->before[s->before_count++];
    *u = (state_used){ 0 };
    return take_slot(&u->build[0], c->at[1]) && take_slot(&u->build[1], c->at[2]) && is_abi(c->at[3], &u->last) &&
           (!u->last || u->build[u->last - STATE_ABI]);
}

static bool take_view(state *s, const cells *c)
{
    if (c->count != 4 || s->view_count == STATE_VIEWS || !is_folder(c->at[1]) || !is_folder(c->at[2]) || !is_folder(c->at[3]))
        return false;
    state_view *v = &s->views[s->view_count++];
    *v = (state_view){ strdup(c->at[1]), strdup(c->at[2]), strdup(c->at[3]) };
    return v->include && v->lib && v->bin;
}

static bool take_name(state *s, const cells *c)
{
    uint64_t view;
    state_kind kind;
    const char *text = NULL;
    if (c->count < 3 || !cells_number(c->at[1], 10, &view) || view >= s->view_count || !cells_path(c->at[2]) || s->name_count >= NAMES_AT_MOST ||
        (strncmp(c->at[2], "lib/", 4) != 0 && strncmp(c->at[2], "include/", 8) != 0 && strncmp(c->at[2], "bin/", 4) != 0))
        return false;
    if (strcmp(c->at[0], "link") == 0) {
        kind = STATE_LINK;
        text = c->count == 4 ? c->at[3] : "";
        if (strcmp(text, "8") != 0 && strcmp(text, "9") != 0 && strcmp(text, "last") != 0)
            return false;
    } else if (strcmp(c->at[0], "saved") == 0) {
        if (c->count != 5 || !*c->at[4])
            return false;
        kind = strcmp(c->at[3], "link") == 0 ? STATE_SAVED_LINK : STATE_SAVED_FILE;
        text = c->at[4];
        if (kind == STATE_SAVED_FILE && (strcmp(c->at[3], "file") != 0 || !cells_path(text) || strchr(text, '/')))
            return false;
    } else {
        kind = STATE_DROP;
        if (c->count != 3)
            return false;
    }
    return state_add_name(s, kind, (size_t)view, c->at[2], text);
}

static bool take_line(state *s, const cells *c)
{
    const char *word = c->at[0];
    int abi = 0;
    if (strcmp(word, "generation") == 0)
        return c->count == 2 && cells_number(c->at[1], 10, &s->generation);
    if (strcmp(word, "build") == 0)
        return c->count == 2 && cells_path(c->at[1]) && !strchr(c->at[1], '/') && s->builds.count < WORDS_AT_MOST && state_add_word(&s->builds, c->at[1]);
    if (strcmp(word, "use") == 0)
        return c->count == 3 && is_abi(c->at[1], &abi) && abi && take_slot(&s->used.build[abi - STATE_ABI], c->at[2]);
    if (strcmp(word, "last") == 0)
        return c->count == 2 && is_abi(c->at[1], &s->used.last);
    if (strcmp(word, "made") == 0)
        return c->count == 2 && is_folder(c->at[1]) && s->made.count < WORDS_AT_MOST && state_add_word(&s->made, c->at[1]);
    if (strcmp(word, "view") == 0)
        return take_view(s, c);
    if (strcmp(word, "before") == 0)
        return take_before(s, c);
    if (strcmp(word, "link") == 0 || strcmp(word, "saved") == 0 || strcmp(word, "drop") == 0)
        return take_name(s, c);
    return false;
}

/* What is in use must be installed. */
static bool is_whole(const state *s)
{
    for (int i = 0; i < STATE_SLOTS; i++)
        if (s->used.build[i] && !state_has_word(&s->builds, s->used.build[i]))
            return false;
    return !s->used.last || s->used.build[s->used.last - STATE_ABI];
}

int state_parse(state *s, const char *text, size_t size, char *error, size_t error_size)
{
    cells *c = malloc(sizeof *c);
    size_t line = 0;
    int more = 0;
    bool good = c != NULL, ended = false;
    *s = (state){ 0 };
    while (good && !ended && (more = cells_next(c, &text, &size)) > 0) {
        uint64_t count;
        line++;
        if (line == 1)
            good = c->count == 2 && strcmp(c->at[0], "anydnn-state") == 0 && strcmp(c->at[1], "1") == 0;
        else if (strcmp(c->at[0], "end") == 0)
            good = ended = c->count == 2 && cells_number(c->at[1], 10, &count) && count == s->name_count && size == 0;
        else
            good = take_line(s, c);
    }
    free(c);
    if (good && ended && is_whole(s))
        return 0;
    snprintf(error, error_size, "line %zu of the record makes no sense, or it is cut off", line);
    return -1;
}

char *state_text(const state *s)
{
    grow g = { 0 };
    grow_add(&g, "anydnn-state\t1\ngeneration\t%llu\n", (unsigned long long)s->generation);
    for (size_t i = 0; i < s->builds.count; i++)
        grow_add(&g, "build\t%s\n", s->builds.items[i]);
    for (int i = 0; i < STATE_SLOTS; i++)
        if (s->used.build[i])
            grow_add(&g, "use\t%d\t%s\n", STATE_ABI + i, s->used.build[i]);
    grow_add(&g, "last\t%d\n", s->used.last);
    for (size_t i = 0; i < s->view_count; i++)
        grow_add(&g, "view\t%s\t%s\t%s\n", s->views[i].include, s->views[i].lib, s->views[i].bin);
    for (size_t i = 0; i < s->made.count; i++)
        grow_add(&g, "made\t%s\n", s->made.items[i]);
    for (size_t i = 0; i < s->before_count; i++) {
        const state_used *u = &s->before[i];
        grow_add(&g, "before\t%s\t%s\t%d\n", u->build[0] ? u->build[0] : "-", u->build[1] ? u->build[1] : "-", u->last);
    }
    for (size_t i = 0; i < s->name_count; i++) {
        const state_name *n = &s->names[i];
        if (n->kind == STATE_DROP)
            grow_add(&g, "drop\t%zu\t%s\n", n->view, n->name);
        else
            grow_add(&g, "%s\t%zu\t%s\t%s%s\n", n->kind == STATE_LINK ? "link" : "saved", n->view, n->name,
                     n->kind == STATE_LINK ? "" : n->kind == STATE_SAVED_FILE ? "file\t" : "link\t", n->text);
    }
    grow_add(&g, "end\t%zu\n", s->name_count);
    return grow_take(&g);
}
