/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/*
 * exports_test LIBDIR ABI ANYDNN_H: reads every library of one ABI in LIBDIR and compares it with
 * functions.def: file names and links, SONAME, NEEDED, RPATH, exported names and their version nodes
 * (nothing missing, nothing more), what the forwarders refer to, and the notes.
 */
#include "elf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct function {
    const char *name;
    int in8, in9;
    const char *sub8, *sub9;
    const char *kind;
    int seen;
} function;

static function functions[] = {
#define DN_FN(name, in8, in9, sub8, sub9, kind) { #name, in8, in9, #sub8, #sub9, #kind, 0 },
#include "api/functions.def"
#undef DN_FN
};

#define FUNCTION_COUNT (sizeof functions / sizeof functions[0])

static int failures;

static void wrong(const char *format, ...)
{
    va_list list;

    failures++;
    fprintf(stderr, "wrong: ");
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fprintf(stderr, "\n");
}

static int is_exported(const function *f, int abi, const char *sub)
{
    if (!(abi == 8 ? f->in8 : f->in9))
        return 0;
    return !sub || strcmp(abi == 8 ? f->sub8 : f->sub9, sub) == 0;
}

static function *find_function(const char *name)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

/* Is `name` declared in anydnn.h (its text)? */
static int is_ours(const char *header, const char *name)
{
    size_t length = strlen(name);

    for (const char *p = header; (p = strstr(p, name)) != NULL; p += length)
        if (p[length] == '(' && (p[-1] == ' ' || p[-1] == '*'))
            return 1;
    return 0;
}

/* A name that libcudnn.so.N (sub NULL) or a forwarder shows to the outside. */
static void check_definition(const char *lib, const elf_symbol *s, int abi, const char *sub, const char *soname,
                             const char *header)
{
    function *f = find_function(s->name);

    if (s->is_absolute) {
        if (strcmp(s->name, s->version) != 0)
            wrong("%s: absolute symbol %s is no version node", lib, s->name);
    } else if (f && is_exported(f, abi, sub)) {
        f->seen++;
        if (strcmp(s->version, soname) != 0 || s->hidden || !s->is_function)
            wrong("%s: %s has version \"%s\"%s%s", lib, s->name, s->version, s->hidden ? " (hidden)" : "",
                  s->is_function ? "" : " and is no function");
    } else if (!sub && is_ours(header, s->name)) {
        if (strcmp(s->version, "anydnn_1") != 0 || s->hidden)
            wrong("%s: %s has version \"%s\", not anydnn_1", lib, s->name, s->version);
    } else {
        wrong("%s: %s is visible and should not be", lib, s->name);
    }
}

/* A forwarder refers to the library's function of the same name and to nothing else. */
static void check_reference(const char *lib, const elf_symbol *s, int abi, const char *sub, const char *core)
{
    const function *f = find_function(s->name);

    if (!f || !is_exported(f, abi, sub) || strcmp(s->version, core) != 0)
        wrong("%s: refers to %s, version \"%s\"", lib, s->name, s->version);
}

static void check_symbols(const elf_file *file, const char *lib, int abi, const char *sub, const char *header)
{
    char soname[80], core[32];
    elf_symbol s;

    snprintf(core, sizeof core, "libcudnn.so.%d", abi);
    snprintf(soname, sizeof soname, sub ? "libcudnn_%s.so.%d" : "libcudnn%s.so.%d", sub ? sub : "", abi);
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        functions[i].seen = 0;
    for (size_t i = 1; i < elf_symbol_count(file); i++) {
        if (elf_symbol_at(file, i, &s) != 0)
            wrong("%s: dynamic symbol %zu cannot be read", lib, i);
        else if (s.defined)
            check_definition(lib, &s, abi, sub, soname, header);
        else if (sub)
            check_reference(lib, &s, abi, sub, core);
    }
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (is_exported(&functions[i], abi, sub) && functions[i].seen != 1)
            wrong("%s: %s is exported %d times, not once", lib, functions[i].name, functions[i].seen);
}

static void check_ours(const elf_file *file, const char *lib, const char *header)
{
    const char *p = header;
    size_t ours = 0;

    while ((p = strstr(p, "anydnn")) != NULL) {
        size_t length = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), i;
        int declared = p[length] == '(' && p > header && (p[-1] == ' ' || p[-1] == '*');
        elf_symbol s;

        if (declared) {
            for (i = 1; i < elf_symbol_count(file); i++)
                if (elf_symbol_at(file, i, &s) == 0 && s.defined && strlen(s.name) == length && memcmp(s.name, p, length) == 0)
                    break;
            if (i == elf_symbol_count(file))
                wrong("%s: %.*s is declared in anydnn.h and not exported", lib, (int)length, p);
            ours++;
        }
        p += length;
    }
    if (ours == 0)
        wrong("anydnn.h declares nothing");
}

static void check_needs(const elf_file *file, const char *lib, int abi, const char *sub)
{
    static const char *const allowed[] = { "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux" };
    const char *rpath = elf_dynamic_string(file, ELF_TAG_RPATH, 0);
    const char *needed;
    char core[32];

    snprintf(core, sizeof core, "libcudnn.so.%d", abi);
    if (sub) {
        needed = elf_dynamic_string(file, ELF_TAG_NEEDED, 0);
        if (!needed || strcmp(needed, core) != 0 || elf_dynamic_string(file, ELF_TAG_NEEDED, 1))
            wrong("%s: needs %s first, not just %s", lib, needed ? needed : "nothing", core);
        if (!rpath || strcmp(rpath, "$ORIGIN") != 0)
            wrong("%s: RPATH is %s, not $ORIGIN", lib, rpath ? rpath : "unset");
    } else {
        for (size_t i = 0; (needed = elf_dynamic_string(file, ELF_TAG_NEEDED, i)) != NULL; i++) {
            size_t k = 0;

            while (k < sizeof allowed / sizeof allowed[0] && strncmp(needed, allowed[k], strlen(allowed[k])) != 0)
                k++;
            if (k == sizeof allowed / sizeof allowed[0] && !getenv("DN_SANITIZED"))
                wrong("%s: needs %s", lib, needed);
        }
        if (rpath)
            wrong("%s: has RPATH %s", lib, rpath);
    }
    if (elf_dynamic_string(file, ELF_TAG_RUNPATH, 0))
        wrong("%s: has RUNPATH %s", lib, elf_dynamic_string(file, ELF_TAG_RUNPATH, 0));
}

static void check_notes(const elf_file *file, const char *lib, int abi)
{
    static const char *const opened[] = { "\"libdnnl.so.3\"", "\"libdnnl.so.2\"", "\"libcuda.so.1\"" };
    size_t size, length = 0;
    const unsigned char *note = elf_note(file, ".anydnn", "anydnn", 1, &size);
    char *expected = calloc(FUNCTION_COUNT + 1, 80);

    if (!expected)
        exit(2);
    length += (size_t)sprintf(expected, "anydnn 1 %d\n", abi);
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (is_exported(&functions[i], abi, NULL))
            length += (size_t)snprintf(expected + length, 80, "%s %c\n", functions[i].name, functions[i].kind[0]);
    if (!note || size != length || memcmp(note, expected, length) != 0)
        wrong("%s: the note .anydnn does not list the functions of functions.def", lib);
    free(expected);
    note = elf_note(file, ".note.dlopen", "FDO", 0x407c0c0aU, &size);
    if (!note || size == 0 || note[size - 1] != 0 || note[0] != '[') {
        wrong("%s: no dlopen note", lib);
        return;
    }
    for (size_t i = 0; i < sizeof opened / sizeof opened[0]; i++)
        if (!strstr((const char *)note, opened[i]))
            wrong("%s: the dlopen note does not name %s", lib, opened[i]);
}

static void check_link(const char *dir, const char *name, const char *expected)
{
    char path[4096], target[256];
    ssize_t length;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = 0;
    if (strcmp(target, expected) != 0)
        wrong("%s is %s%s, not a link to %s", name, length < 0 ? "no link" : "a link to ", target, expected);
}

static void check_library(const char *dir, int abi, const char *sub, const char *header)
{
    const char *version = abi == 8 ? "8.9.7" : "9.19.0", *soname;
    char base[64], lib[96], link[96], path[4096];
    elf_file file;

    snprintf(base, sizeof base, sub ? "libcudnn_%s.so" : "libcudnn%s.so", sub ? sub : "");
    snprintf(lib, sizeof lib, "%s.%s", base, version);
    snprintf(link, sizeof link, "%s.%d", base, abi);
    snprintf(path, sizeof path, "%s/%s", dir, lib);
    if (elf_open(&file, path) != 0) {
        wrong("%s", file.error);
        elf_close(&file);
        return;
    }
    check_link(dir, link, lib);
    if (sub || abi == 8 || getenv("DN_BARE_LINK"))
        check_link(dir, base, link);
    soname = elf_dynamic_string(&file, ELF_TAG_SONAME, 0);
    if (!soname || strcmp(soname, link) != 0)
        wrong("%s: SONAME is %s, not %s", lib, soname ? soname : "unset", link);
    check_needs(&file, lib, abi, sub);
    check_symbols(&file, lib, abi, sub, header);
    if (!sub) {
        check_ours(&file, lib, header);
        check_notes(&file, lib, abi);
    }
    elf_close(&file);
}

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);

    if (!f || !text || fread(text + 1, 1, (1 << 20) - 2, f) == 0) {
        fprintf(stderr, "exports_test: cannot read %s\n", path);
        exit(2);
    }
    text[0] = '\n'; /* so that looking one back is safe */
    fclose(f);
    return text;
}

int main(int argc, char **argv)
{
    static const char *const subs8[] = { "ops_infer", "ops_train", "cnn_infer", "cnn_train", "adv_infer", "adv_train", NULL };
    static const char *const subs9[] = { "graph", "ops", "cnn", "adv", "engines_precompiled", "engines_runtime_compiled",
                                         "heuristic", NULL };
    const char *const *subs;
    char *header;
    int abi;

    if (argc != 4 || (argv[2][0] != '8' && argv[2][0] != '9')) {
        fprintf(stderr, "usage: exports_test LIBDIR 8|9 ANYDNN_H\n");
        return 2;
    }
    abi = argv[2][0] - '0';
    header = read_text(argv[3]);
    check_library(argv[1], abi, NULL, header);
    for (subs = abi == 8 ? subs8 : subs9; *subs; subs++)
        check_library(argv[1], abi, *subs, header);
    free(header);
    printf("%d findings\n", failures);
    return failures != 0;
}
