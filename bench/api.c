/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Mode api: what a library exports. Ours carries a note that tells real functions from those that only answer NOT_SUPPORTED;
 * any other library is compared with the list of its ABI. The file is read, never loaded. */
#include "bench.h"

#include "elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int in8, in9;
} functions[] = {
#define DN_FN(name, in8, in9, sub8, sub9, kind) { #name, in8, in9 },
#include "api/functions.def"
#undef DN_FN
};

#define FUNCTION_COUNT (sizeof functions / sizeof *functions)

static int in_abi(size_t i, int abi)
{
    return abi == 8 ? functions[i].in8 : functions[i].in9;
}

/* 'R' or 'S' from our note "<name> R" / "<name> S", 0 where the name is not in it. */
static int note_kind(const char *note, size_t size, const char *name)
{
    size_t len = strlen(name);
    const char *end = note + size;
    for (const char *p = note; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl)
            break;
        if ((size_t)(nl - p) == len + 2 && memcmp(p, name, len) == 0 && p[len] == ' ')
            return p[len + 1];
        p = nl + 1;
    }
    return 0;
}

static int exports(const elf_file *file, const char *name)
{
    elf_symbol s;
    for (size_t i = 0, n = elf_symbol_count(file); i < n; i++)
        if (elf_symbol_at(file, i, &s) == 0 && s.defined && strcmp(s.name, name) == 0)
            return 1;
    return 0;
}

static int is_listed(const char *name, int abi)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (in_abi(i, abi) && strcmp(functions[i].name, name) == 0)
            return 1;
    return 0;
}

/* Exported names beginning cudnn that are not in the list; answers how many. */
static size_t print_extra(const elf_file *file, int abi)
{
    size_t extra = 0;
    elf_symbol s;
    for (size_t i = 0, n = elf_symbol_count(file); i < n; i++)
        if (elf_symbol_at(file, i, &s) == 0 && s.defined && !s.is_absolute && strncmp(s.name, "cudnn", 5) == 0 &&
            !is_listed(s.name, abi)) {
            printf("extra     %s\n", s.name);
            extra++;
        }
    return extra;
}

static int list(const elf_file *file, int abi, int only_findings)
{
    size_t size = 0, real = 0, stub = 0, missing = 0, unknown = 0;
    const char *note = (const char *)elf_note(file, ".anydnn", "anydnn", 1, &size);
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        if (!in_abi(i, abi))
            continue;
        int here = exports(file, functions[i].name);
        int kind = note ? note_kind(note, size, functions[i].name) : 0;
        missing += !here;
        real += here && kind == 'R';
        stub += here && kind == 'S';
        unknown += here && !kind;
        if (!here || kind == 'S' || !only_findings)
            printf("%-9s %s\n", !here ? "missing" : kind == 'S' ? "not real" : kind == 'R' ? "real" : "exported", functions[i].name);
    }
    size_t extra = print_extra(file, abi);
    printf("%s: cuDNN %d, %zu real, %zu not real, %zu missing, %zu extra", bench_library(), abi, real, stub, missing, extra);
    if (unknown)
        printf(", %zu exported (not anydnn: what is real is not told)", unknown);
    printf("\n");
    return stub || missing || extra ? BENCH_FINDINGS : BENCH_GOOD;
}

int bench_api(int argc, char **argv)
{
    int only_findings = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--findings") == 0) {
            only_findings = 1;
            continue;
        }
        int help = strcmp(argv[i], "--help") == 0;
        fprintf(help ? stdout : stderr, "usage: dnbench api [--lib PATH] [--findings]\n"
                                        "  --findings   only what is not real, missing or extra\n");
        return help ? BENCH_GOOD : BENCH_USAGE;
    }
    elf_file file;
    if (elf_open(&file, bench_library()) != 0) {
        fprintf(stderr, "dnbench: %s: %s\n", bench_library(), file.error);
        return BENCH_CANNOT_READ;
    }
    const char *soname = elf_dynamic_string(&file, ELF_TAG_SONAME, 0);
    const char *dot = soname ? strrchr(soname, '.') : NULL;
    int abi = dot ? atoi(dot + 1) : 0, code = BENCH_CANNOT_READ;
    if (abi == 8 || abi == 9)
        code = list(&file, abi, only_findings);
    else
        fprintf(stderr, "dnbench: %s: SONAME %s is not one of cuDNN 8 or 9\n", bench_library(), soname ? soname : "(none)");
    elf_close(&file);
    return code;
}
