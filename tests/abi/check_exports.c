/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/*
 * check_exports TABLES STUBS: whether src/api/functions.def says what data/api/functions.tsv says
 * (names, versions, sub-libraries), and whether its STUB rows are exactly the bodies in stubs.c,
 * each for the ABIs that the row names. Prints every difference; exit status 1 when there is one.
 */
#include "tsv.h"

#include <stdio.h>
#include <string.h>

typedef struct row {
    const char *name;
    int in[2]; /* 8, 9 */
    const char *sub[2];
    const char *state;
    int seen;    /* in functions.tsv */
    int body[2]; /* bodies in stubs.c, per ABI */
} row;

static row rows[] = {
#define DN_FN(name, in8, in9, lib8, lib9, state) \
    { #name, { in8, in9 }, { #lib8, #lib9 }, #state, 0, { 0, 0 } },
#include "functions.def"
#undef DN_FN
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static int failures;

static void report(const char *name, const char *what)
{
    printf("%s: %s\n", name, what);
    failures++;
}

static row *find(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

/* "ops" of "libcudnn+libcudnn_ops"; "none" when there is no sub-library. */
static void sub_library(const char *list, char *out, size_t size)
{
    const char *p = strstr(list, "libcudnn_");

    snprintf(out, size, "%s", p ? p + strlen("libcudnn_") : "none");
    out[strcspn(out, "+")] = '\0';
}

static void check_row(const tsv *t)
{
    static const char *const present[2] = { "in_8_9_7", "in_9_19" };
    static const char *const library[2] = { "lib_8", "lib_9_19" };
    const char *name = tsv_cell(t, "name");
    row *r = find(name);
    int exported = 0;

    for (int a = 0; a < 2; a++) {
        const char *list = tsv_cell(t, library[a]);
        int here = !strcmp(tsv_cell(t, present[a]), "yes") && tsv_has_word(list, "libcudnn");
        char sub[64] = "none";
        if (here)
            sub_library(list, sub, sizeof sub);
        exported |= here;
        if (r && r->in[a] != here)
            report(name, a ? "in9 differs from the table" : "in8 differs from the table");
        if (r && strcmp(r->sub[a], sub))
            report(name, a ? "lib9 differs from the table" : "lib8 differs from the table");
    }
    if (exported && !r)
        report(name, "is exported by the table and has no row in functions.def");
    if (r && r->seen++)
        report(name, "stands twice in the table");
}

static void check_table(const char *directory)
{
    tsv t;
    char path[4096];

    tsv_open(&t, directory, "functions.tsv", path, sizeof path);
    while (tsv_next(&t))
        check_row(&t);
    for (int i = 0; i < ROWS; i++) {
        if (!rows[i].seen)
            report(rows[i].name, "is not in the table");
        if (find(rows[i].name) != &rows[i])
            report(rows[i].name, "stands twice in functions.def");
        if (strcmp(rows[i].state, "REAL") && strcmp(rows[i].state, "STUB"))
            report(rows[i].name, "is neither REAL nor STUB");
    }
}

/* Takes NAME of `... CUDNNWINAPI NAME(`; 0 when the line does not begin a definition. */
static int definition(const char *line, char *name, size_t size)
{
    const char *p = strstr(line, "CUDNNWINAPI ");

    if (!p || line[0] == ' ' || strchr(line, ';'))
        return 0;
    p += strlen("CUDNNWINAPI ");
    if (!strchr(p, '('))
        return 0;
    snprintf(name, size, "%.*s", (int)strcspn(p, "("), p);
    return 1;
}

static void count_body(const char *name, const char *line, int abi)
{
    char call[320];
    row *r = find(name);

    snprintf(call, sizeof call, "return dn_stub(\"%s\");", name);
    if (!strstr(line, call))
        report(name, "its body in stubs.c names another function");
    if (!r) {
        report(name, "has a body in stubs.c and no row");
        return;
    }
    for (int a = 0; a < 2; a++)
        if (!abi || abi == 8 + a)
            r->body[a]++;
}

static void check_stubs(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[1024], name[256] = "";
    int abi = 0; /* of the #if around the line, 0 outside */

    if (!f) {
        report(path, "cannot be read");
        return;
    }
    while (fgets(line, sizeof line, f)) {
        if (!strncmp(line, "#if DN_ABI == ", 14))
            abi = line[14] - '0';
        else if (!strncmp(line, "#endif", 6))
            abi = 0;
        else if (strstr(line, "dn_stub(\"")) {
            count_body(name, line, abi);
            name[0] = '\0';
        } else
            definition(line, name, sizeof name);
    }
    fclose(f);
    for (int i = 0; i < ROWS; i++) {
        int stub = !strcmp(rows[i].state, "STUB");
        for (int a = 0; a < 2; a++)
            if (rows[i].body[a] != (stub && rows[i].in[a]))
                report(rows[i].name, a ? "wrong number of bodies in stubs.c for ABI 9"
                                       : "wrong number of bodies in stubs.c for ABI 8");
    }
}

int main(int argc, char **argv)
{
    int count[2] = { 0, 0 };

    if (argc != 3) {
        fprintf(stderr, "usage: check_exports TABLES STUBS\n");
        return 2;
    }
    check_table(argv[1]);
    check_stubs(argv[2]);
    for (int i = 0; i < ROWS; i++)
        for (int a = 0; a < 2; a++)
            count[a] += rows[i].in[a];
    printf("%d exports of ABI 8, %d of ABI 9, %d differences\n", count[0], count[1], failures);
    return failures != 0;
}
