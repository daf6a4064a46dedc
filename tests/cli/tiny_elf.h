/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Writes small ELF files that the real loader takes, for tests of the tool's loader rules. No compiler or linker is run. */
#ifndef DN_TESTS_CLI_TINY_ELF_H
#define DN_TESTS_CLI_TINY_ELF_H

#include <stddef.h>
#include <stdint.h>

enum { TINY_NEEDED_MAX = 8 };

typedef struct tiny_elf {
    const char *soname, *rpath, *runpath;    /* NULL: left out */
    const char *needed[TINY_NEEDED_MAX];     /* ends with NULL or at the end */
    uint64_t flags_1;                        /* DT_FLAGS_1; 0: left out */
    int bits;                                /* 32 or 64; 0 is 64 */
    int machine;                             /* e_machine; 0 is x86-64 */
    int type;                                /* e_type; 0 is ET_DYN */
    const char *text;                        /* put into the file's data, for readers of strings; NULL: none */
    const char *export;                      /* one exported function; NULL: "call" */
    size_t padding;                          /* bytes behind the rest */
} tiny_elf;

/* A shared library with one function "call(dlopen, name)", which calls the function that it is given: so it is this object that asks for
 * the name (x86-64 only). 0, or -1 where the file cannot be written. */
int tiny_elf_write(const char *path, const tiny_elf *e);

/* A copy of a dynamic x86-64 program with other needs (those of the template come last) and search paths; its section table is gone.
 * mode: access bits. */
int tiny_elf_program(const char *template_path, const char *path, const tiny_elf *e, unsigned mode);

#endif
