/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/*
 * Writes a test source from the tables in data/api:
 *   gen_abi_test 8|9 HEADER TABLES OUTPUT
 * The source includes HEADER alone and asserts at compile time what the tables say of it: the value
 * of each enumerator and macro, and each prototype, redeclared (which does not compile when it
 * differs). For cudnn.h it asserts everything, structs and typedefs too. It is C11 and C++17.
 */
#include "tsv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    int abi;
    const char *header; /* "cudnn.h" stands for all */
    const char *tables;
    FILE *out;
    int checks;
    char path[4096];
} job;

static int is_none(const char *cell)
{
    return !strcmp(cell, "-");
}

/* Whether a table's header cell ("ops_infer" or "cudnn_ops_infer.h") is the header of this job. */
static int in_header(const job *j, const char *cell)
{
    char full[256];

    if (!strcmp(j->header, "cudnn.h"))
        return 1;
    snprintf(full, sizeof full, "cudnn_%s.h", cell);
    return !strcmp(cell, j->header) || !strcmp(full, j->header);
}

static void open_table(job *j, tsv *t, const char *name)
{
    tsv_open(t, j->tables, name, j->path, sizeof j->path);
}

static void write_head(job *j)
{
    fprintf(j->out,
        "/* Written by gen_abi_test from data/api. */\n"
        "#include <%s>\n", j->header);
    if (!strcmp(j->header, "cudnn.h"))
        fprintf(j->out, "#include <cudnn_backend.h>\n");
    fprintf(j->out,
        "#include <stddef.h>\n"
        "#include <stdio.h>\n\n"
        "#ifdef __cplusplus\n"
        "template <class A, class B> struct same { static const bool value = false; };\n"
        "template <class A> struct same<A, A> { static const bool value = true; };\n"
        "#define CHECK(x, text) static_assert(x, text)\n"
        "#define ENUMERATOR(type, name) \\\n"
        "    static_assert(same<decltype(name), type>::value, #name \" is no \" #type)\n"
        "#define FIELD(type, tag, field) \\\n"
        "    static_assert(same<decltype(tag::field), type>::value, #tag \".\" #field)\n"
        "#else\n"
        "#define CHECK(x, text) _Static_assert(x, text)\n"
        "#define ENUMERATOR(type, name) CHECK(sizeof(type) == 4, #type)\n"
        "#define FIELD(type, tag, field) \\\n"
        "    _Static_assert(_Generic(&((tag *)0)->field, type *: 1, default: 0), #tag \".\" #field)\n"
        "#endif\n\n");
}

static void write_enumerators(job *j)
{
    tsv t;

    open_table(j, &t, "enums.tsv");
    while (tsv_next(&t)) {
        const char *value = tsv_cell(&t, j->abi == 8 ? "value_8" : "value_9_19");
        const char *header = tsv_cell(&t, j->abi == 8 ? "header_8" : "header_9_19");
        const char *name = tsv_cell(&t, "enumerator");
        if (is_none(value) || !in_header(j, header))
            continue;
        fprintf(j->out, "CHECK((int)%s == %s, \"%s\");\n", name, value, name);
        fprintf(j->out, "ENUMERATOR(%s, %s);\n", tsv_cell(&t, "enum_type"), name);
        j->checks++;
    }
}

/* An assertion for an integer constant; one for a real constant has to wait for main. */
static void write_constant(job *j, const char *name, const char *value, int in_main)
{
    int real = strpbrk(value, ".e") != NULL || !strcmp(name, "CUDNN_BN_MIN_EPSILON");

    if (real != in_main)
        return;
    if (real)
        fprintf(j->out,
            "    if (%s != %s) {\n"
            "        printf(\"%s is not %s\\n\");\n"
            "        bad = 1;\n"
            "    }\n", name, value, name, value);
    else
        fprintf(j->out, "CHECK((%s) == %s, \"%s\");\n", name, value, name);
    j->checks++;
}

static void write_macros(job *j, int in_main)
{
    tsv t;

    open_table(j, &t, "macros.tsv");
    while (tsv_next(&t)) {
        const char *header = tsv_cell(&t, j->abi == 8 ? "header_8" : "header_9");
        const char *text = tsv_cell(&t, j->abi == 8 ? "definition_8_9_7" : "definition_9_19");
        const char *value = tsv_cell(&t, j->abi == 8 ? "value_8_9_7" : "value_9_19");
        const char *name = tsv_cell(&t, "macro");
        const char *kind = tsv_cell(&t, "kind");
        if (is_none(text) || !in_header(j, header) || !strcmp(kind, "user_switch"))
            continue;
        if (!strcmp(kind, "constant")) {
            write_constant(j, name, value, in_main);
        } else if (!in_main) {
            fprintf(j->out, "#ifndef %s\n#error \"%s\"\n#endif\n", name, name);
            /* The same text again is no redefinition, another one is an error. */
            if (!strcmp(kind, "function_like"))
                fprintf(j->out, "#define %s%s\n", name, text);
            j->checks++;
        }
    }
}

/* A field of a struct: offset, size and type. */
static void write_field(job *j, const tsv *t, const char *type, int is_union_member)
{
    const char *owner = tsv_cell(t, "typedef_name");
    const char *name = tsv_cell(t, "field_name");
    const char *field_type = tsv_cell(t, "type");
    const char *inner = is_union_member ? "algo." : "";
    const char *bracket = strchr(field_type, '[');

    fprintf(j->out, "CHECK(offsetof(%s, %s%s) == %s, \"%s.%s\");\n", owner, inner, name,
        tsv_cell(t, "offset_lp64"), owner, name);
    fprintf(j->out, "CHECK(sizeof(((%s *)0)->%s%s) == %s, \"%s.%s\");\n", owner, inner, name,
        tsv_cell(t, "size_lp64"), owner, name);
    if (!is_union_member && strncmp(field_type, "union ", 6)) {
        fprintf(j->out, "typedef %.*s %s_%s%s;\n",
            bracket ? (int)(bracket - field_type) : (int)strlen(field_type), field_type, type, name,
            bracket ? bracket : "");
        fprintf(j->out, "FIELD(%s_%s, %s, %s);\n", type, name, owner, name);
    }
    j->checks++;
}

static void write_typedef(job *j, const tsv *t, const char *name, const char *kind)
{
    const char *type = tsv_cell(t, "type");

    if (!strcmp(kind, "function_pointer")) {
        const char *star = strstr(type, "(*)");
        if (!star) {
            fprintf(stderr, "%s: no function pointer: %s\n", name, type);
            exit(1);
        }
        fprintf(j->out, "typedef %.*s(*%s)%s;\n", (int)(star - type), type, name, star + 3);
    } else {
        fprintf(j->out, "typedef %s %s;\n", type, name);
    }
    if (!is_none(tsv_cell(t, "size_lp64")))
        fprintf(j->out, "CHECK(sizeof(%s) == %s, \"%s\");\n", name, tsv_cell(t, "size_lp64"), name);
    j->checks++;
}

static void write_structs(job *j)
{
    tsv t;

    open_table(j, &t, "structs.tsv");
    while (tsv_next(&t)) {
        const char *name = tsv_cell(&t, "typedef_name");
        const char *kind = tsv_cell(&t, "kind");
        if (!strchr(tsv_cell(&t, "versions"), '0' + j->abi))
            continue;
        if (!strcmp(kind, "field"))
            write_field(j, &t, name, 0);
        else if (!strcmp(kind, "union_member"))
            write_field(j, &t, name, 1);
        else if (!strcmp(kind, "struct") || !strcmp(kind, "enum")) {
            fprintf(j->out, "CHECK(sizeof(%s) == %s, \"%s\");\n", name, tsv_cell(&t, "size_lp64"),
                name);
            j->checks++;
        } else
            write_typedef(j, &t, name, kind);
    }
}

/* First that the header declares the names at all, then (declare) every prototype again. */
static void write_functions(job *j, int declare)
{
    tsv t;

    open_table(j, &t, "functions.tsv");
    while (tsv_next(&t)) {
        const char *present = tsv_cell(&t, j->abi == 8 ? "in_8_9_7" : "in_9_19");
        const char *header = tsv_cell(&t, j->abi == 8 ? "group" : "header_9_19");
        const char *prototype = tsv_cell(&t, j->abi == 8 ? "prototype_8" : "prototype_9");
        const char *name = tsv_cell(&t, "name");
        if (!strcmp(prototype, "="))
            prototype = tsv_cell(&t, "prototype_8");
        if (strcmp(present, "yes") || is_none(prototype) || !in_header(j, header))
            continue;
        if (!declare) {
            fprintf(j->out, "CHECK(sizeof(&%s) == sizeof(void (*)(void)), \"%s\");\n", name, name);
        } else {
            const char *at = strstr(prototype, name);
            if (!at) {
                fprintf(stderr, "%s: not in its own prototype: %s\n", name, prototype);
                exit(1);
            }
            fprintf(j->out, "%.*sCUDNNWINAPI %s;\n", (int)(at - prototype), prototype, at);
        }
        j->checks++;
    }
}

int main(int argc, char **argv)
{
    job j = {0};

    if (argc != 5 || (strcmp(argv[1], "8") && strcmp(argv[1], "9"))) {
        fprintf(stderr, "usage: gen_abi_test 8|9 HEADER TABLES OUTPUT\n");
        return 2;
    }
    j.abi = argv[1][0] - '0';
    j.header = argv[2];
    j.tables = argv[3];
    j.out = fopen(argv[4], "w");
    if (!j.out) {
        fprintf(stderr, "%s: cannot be written\n", argv[4]);
        return 1;
    }
    write_head(&j);
    write_enumerators(&j);
    write_macros(&j, 0);
    if (!strcmp(j.header, "cudnn.h"))
        write_structs(&j);
    write_functions(&j, 0);
    fprintf(j.out, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    write_functions(&j, 1);
    fprintf(j.out, "#ifdef __cplusplus\n}\n#endif\n\nint main(void)\n{\n    int bad = 0;\n\n");
    write_macros(&j, 1);
    fprintf(j.out, "    printf(\"%%s\\n\", bad ? \"failed\" : \"%d checks of %s (ABI %d)\");\n", j.checks,
        j.header, j.abi);
    fprintf(j.out, "    return bad;\n}\n");
    if (fclose(j.out)) {
        fprintf(stderr, "%s: cannot be written\n", argv[4]);
        return 1;
    }
    if (!j.checks && strcmp(j.header, "cudnn_backend.h")) {
        fprintf(stderr, "%s: the tables have nothing about it\n", j.header);
        return 1;
    }
    return 0;
}
