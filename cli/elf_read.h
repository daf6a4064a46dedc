/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A small reader of 64-bit little-endian ELF files, for dnbench and the packaging tests. Every offset is checked
 * against the file's size, so a damaged file gives an error, never a fault. */
#ifndef DN_CLI_ELF_READ_H
#define DN_CLI_ELF_READ_H

#include <stddef.h>
#include <stdint.h>

typedef struct elf_section {
    const char *name;
    uint32_t type;
    uint32_t link;
    uint64_t offset, size, entry;
} elf_section;

typedef struct elf_file {
    unsigned char *data;
    size_t size;
    elf_section *sections;
    size_t section_count;
    char error[200];
} elf_file;

/* A dynamic symbol. version is "" where it has none; hidden tells name@version from name@@version. */
typedef struct elf_symbol {
    const char *name;
    const char *version;
    int defined;
    int hidden;
    int is_function;
    int is_absolute; /* the symbol that the linker makes for a version node itself */
} elf_symbol;

/* 0, or -1 with file->error set. */
int elf_open(elf_file *file, const char *path);
void elf_close(elf_file *file);

const elf_section *elf_section_named(const elf_file *file, const char *name);
/* Value of the index-th dynamic entry with this tag: a string of .dynstr, or NULL past the end. */
const char *elf_dynamic_string(const elf_file *file, int64_t tag, size_t index);
size_t elf_symbol_count(const elf_file *file);
/* 0, or -1 where the entry does not make sense. */
int elf_symbol_at(const elf_file *file, size_t index, elf_symbol *symbol);
/* Descriptor of the first note of this owner and type in a section; NULL where there is none. */
const unsigned char *elf_note(const elf_file *file, const char *section, const char *owner, uint32_t type, size_t *size);

#define ELF_TAG_NEEDED 1
#define ELF_TAG_SONAME 14
#define ELF_TAG_RPATH 15
#define ELF_TAG_RUNPATH 29

#endif
