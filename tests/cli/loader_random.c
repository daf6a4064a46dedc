/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Holds the loader rules of cli/search.c against the real loader: random trees of small libraries, each tree a root of its own with its own
 * cache; a program is started in it and says which files it got.
 *     loader_random TEMPLATE COUNT [FIRST]      TEMPLATE: the program loader_program; FIRST: number of the first tree
 * Needs chroot (root, or user namespaces); without it the test is skipped (exit code 77). */
#include "loader_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct wish {
    char *by, *name; /* a dlopen: from which object ("-": the program) and what */
} wish;

/* What differs, said once per tree. */
static int differs(const loader_tree *t, const char *what, const char *expected, const char *got)
{
    printf("tree %d: %s: expected \"%s\", the loader has \"%s\"\n  LD_LIBRARY_PATH=%s\n  LD_PRELOAD=%s\n  cwd=%s secure=%d\n", t->number,
           what, expected, got, t->library_path, t->preload, t->cwd, t->secure);
    return 1;
}

static const char *next_line(const char **at, char *line, size_t size)
{
    size_t n = strcspn(*at, "\n");

    if (!**at)
        return NULL;
    snprintf(line, size, "%.*s", (int)n, *at);
    *at += n + ((*at)[n] != 0);
    return line;
}

static bool is_own_part(const char *name)
{
    return !*name || strstr(name, "linux-vdso") || strstr(name, "linux-gate") || strstr(name, "/ld-linux");
}

/* The objects after the program, without the loader itself. */
static const ld_object *next_object(const ld_process *p, size_t *i)
{
    for (++*i; *i < p->object_count; ++*i)
        if (!p->objects[*i]->is_interpreter)
            return p->objects[*i];
    return NULL;
}

/* Lines "\tNAME => PATH (0x..)", "\tNAME => not found", "\tPATH (0x..)". */
static int compare_trace(const loader_tree *t, const ld_process *p, const char *text)
{
    char line[4096], *path, *end;
    size_t i = 0;

    while (next_line(&text, line, sizeof line)) {
        if (line[0] != '\t')
            continue;
        path = strstr(line, " => ");
        if (path && strcmp(path, " => not found") == 0) {
            const ld_result *r;

            *path = 0;
            r = ld_process_result(p, line + 1);
            if (!r || r->object)
                return differs(t, "a missing name", r ? r->object->path : "never asked for", line + 1);
            continue;
        }
        path = path ? path + 4 : line + 1;
        end = strstr(path, " (0x");
        if (end)
            *end = 0;
        if (is_own_part(path))
            continue;
        const ld_object *o = next_object(p, &i);
        if (!o || strcmp(o->path, path) != 0)
            return differs(t, "an object that is loaded at the start", o ? o->path : "nothing more", path);
    }
    const ld_object *o = next_object(p, &i);
    return o ? differs(t, "an object that is loaded at the start", o->path, "nothing more") : 0;
}

static int compare_run(const loader_tree *t, const ld_process *p, const wish *w, int wishes, const char *text)
{
    char line[4096], expected[4096];
    size_t i = 0;
    int opened = 0;

    while (next_line(&text, line, sizeof line)) {
        if (strncmp(line, "open ", 5) == 0 && opened < wishes) {
            const ld_result *r = NULL;

            for (size_t k = 0, n = 0; k < p->result_count; k++) /* the opened-th request by dlopen */
                if (p->results[k]->from_dlopen && n++ == (size_t)opened)
                    r = p->results[k];
            snprintf(expected, sizeof expected, "open %s %s", w[opened].name, r && r->object && !r->error ? r->object->path : "!");
            if (strcmp(expected, line) != 0)
                return differs(t, w[opened].by, expected, line);
            opened++;
        } else if (strncmp(line, "lost ", 5) == 0) {
            return differs(t, "an object that should be loaded", line + 5, "none");
        } else if (strncmp(line, "map ", 4) == 0 && !is_own_part(line + 4)) {
            const ld_object *o = next_object(p, &i);

            if (!o || strcmp(o->path, line + 4) != 0)
                return differs(t, "an object that is loaded at the end", o ? o->path : "nothing more", line + 4);
        }
    }
    if (opened < wishes)
        return differs(t, "the number of dlopen calls", "all", "fewer");
    const ld_object *o = next_object(p, &i);
    return o ? differs(t, "an object that is loaded at the end", o->path, "nothing more") : 0;
}

static void start_failures(const ld_process *p, bool *stops, bool *missing)
{
    *stops = *missing = false;
    for (size_t i = 0; i < p->result_count; i++) {
        const ld_result *r = p->results[i];

        if (r->object || r->is_preload)
            continue;
        *stops = *stops || r->stops;
        *missing = true;
    }
}

static int open_some(const loader_tree *t, ld_process *p, unsigned *seed)
{
    enum { WISHES = 6 };
    wish w[WISHES];
    char *words[2 * WISHES + 1], *text;
    int result, code;

    for (int i = 0; i < WISHES; i++) {
        ld_object *by = p->objects[loader_tree_random(seed, (unsigned)p->object_count)];
        bool own = by->is_program || by->is_interpreter || strstr(by->path, "libc.so.6");

        w[i].by = strdup(own ? "-" : by->path);
        w[i].name = loader_tree_name(t, seed);
        words[2 * i] = w[i].by;
        words[2 * i + 1] = w[i].name;
        ld_process_open(p, w[i].name, own ? NULL : by);
    }
    words[2 * WISHES] = NULL;
    text = loader_tree_run(t, words, false, &code);
    result = code == 0 ? compare_run(t, p, w, WISHES, text) : differs(t, "the start of the program", "good", text);
    free(text);
    for (int i = 0; i < WISHES; i++) {
        free(w[i].by);
        free(w[i].name);
    }
    return result;
}

typedef struct totals {
    int different, started, stopped, missing, secure;
} totals;

static void check_tree(const char *program, const char *base, int number, totals *n)
{
    unsigned seed;
    loader_tree t;
    char error[300] = "", *text, *none[] = { NULL };
    bool stops, missing;
    int code, different;

    loader_tree_make(&t, program, base, number, &seed);
    ld_settings set = { .root = t.root, .library_path = t.library_path, .preload = t.preload, .cwd = t.cwd, .secure = t.secure };
    ld_process *p = ld_process_start(&set, t.program, error, sizeof error);

    if (!p) {
        printf("tree %d: %s\n", number, error);
        n->different++;
        return;
    }
    start_failures(p, &stops, &missing);
    text = loader_tree_run(&t, none, !t.secure, &code); /* in secure mode the loader refuses to list */
    if (t.secure)
        different = (code != 0) != missing ? differs(&t, "the start of the program", missing ? "a failure" : "good", text) : 0;
    else if (stops)
        different = code == 0 ? differs(&t, "the start of the program", "a failure", text) : 0;
    else if (code != 0)
        different = differs(&t, "the start of the program", "good", text);
    else
        different = compare_trace(&t, p, text);
    free(text);
    if (!different && !missing)
        different = open_some(&t, p, &seed);
    n->different += different;
    n->started += !missing;
    n->stopped += stops;
    n->missing += missing && !stops;
    n->secure += t.secure;
    ld_process_free(p);
    loader_tree_remove(&t, different && getenv("KEEP"));
}

int main(int argc, char **argv)
{
    int count = argc > 2 ? atoi(argv[2]) : 0, first = argc > 3 ? atoi(argv[3]) : 1;
    totals n = { 0, 0, 0, 0, 0 };
    char *base;

    if (count <= 0) {
        fprintf(stderr, "usage: loader_random TEMPLATE COUNT [FIRST]\n");
        return 2;
    }
    base = loader_tree_begin(argv[1]);
    if (!base) {
        printf("skipped: this user may not change the root directory\n");
        return 77;
    }
    for (int i = 0; i < count; i++)
        check_tree(argv[1], base, first + i, &n);
    loader_tree_end(base);
    printf("%d trees: %d started, %d with missing libraries, %d stopped by bad files, %d secure; %d different\n", count, n.started,
           n.missing, n.stopped, n.secure, n.different);
    return n.different || n.started < count / 10 ? 1 : 0;
}
