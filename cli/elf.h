/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The one reader of ELF files, for the tool, dnbench and the packaging tests. It reads as the loader does, by program headers
 * and the dynamic section, and uses the section table only where there is one. Every offset is checked against the file's
 * size, so a damaged file gives an answer, never a fault. The file is mapped: pages that nobody asks for are not read. */
#ifndef DN_CLI_ELF_H
#define DN_CLI_ELF_H

#include <stddef.h>
#include <stdint.h>

typedef enum elf_status {
    ELF_OK,
    ELF_CANNOT_READ, /* cannot be opened or mapped */
    ELF_NOT_ELF,     /* the first bytes are others */
    ELF_TRUNCATED,   /* headers speak of bytes past the end of the file: what is there can still be asked */
    ELF_DAMAGED,     /* a table makes no sense; the same */
    ELF_FOREIGN      /* big-endian or an unknown class: bits and machine are set, nothing else */
} elf_status;

typedef struct elf_section {
    const char *name;
    uint32_t type, link;
    uint64_t flags, offset, size;
} elf_section;

typedef struct elf_segment {
    uint32_t type, flags;
    uint64_t offset, address, size;
} elf_segment;

typedef struct elf_file {
    const unsigned char *data;
    size_t size;
    int mapped;                 /* data came from elf_open, not from the caller */
    elf_status status;
    int bits;                   /* 32 or 64 */
    int type, machine;          /* e_type, e_machine */
    elf_section *sections;
    size_t section_count;
    elf_segment *segments;
    size_t segment_count;
    struct { uint64_t offset, size; } dynamic, strings, symbols, versions, defined, needed; /* in the file; size 0 where there is none */
    uint64_t needed_end;        /* the headers speak of bytes up to here */
    char error[240];
} elf_file;

/* A dynamic symbol. version is "" where it has none; hidden tells name@version from name@@version. */
typedef struct elf_symbol {
    const char *name;
    const char *version;
    int defined;
    int hidden;
    int is_function;
    int is_object;
    int is_absolute; /* the symbol that the linker makes for a version node itself */
    uint64_t value, size;
} elf_symbol;

/* 0 for ELF_OK; else -1 with status and error set (elf_close is due all the same). */
int elf_open(elf_file *file, const char *path);
/* The same over bytes that outlive file; name is for error texts. */
int elf_open_memory(elf_file *file, const void *data, size_t size, const char *name);
void elf_close(elf_file *file);

/* "x86-64", "aarch64", "x86", ...; "machine N" is not made up: NULL where the number has no name here. */
const char *elf_machine_name(int machine);
const elf_section *elf_section_named(const elf_file *file, const char *name);
/* Value of the index-th dynamic entry with this tag as a string of the dynamic string table, or NULL past the end. */
const char *elf_dynamic_string(const elf_file *file, int64_t tag, size_t index);
/* The same as a number; 0 past the end. found may be NULL. */
uint64_t elf_dynamic_value(const elf_file *file, int64_t tag, int *found);
size_t elf_symbol_count(const elf_file *file);
/* 0, or -1 where the entry does not make sense. */
int elf_symbol_at(const elf_file *file, size_t index, elf_symbol *symbol);
/* First defined symbol of that name: 0, or -1. */
int elf_symbol_named(const elf_file *file, const char *name, elf_symbol *symbol);
/* Descriptor of the first note of this owner and type in a section (NULL: in any note segment); NULL where there is none. */
const unsigned char *elf_note(const elf_file *file, const char *section, const char *owner, uint32_t type, size_t *size);
/* length bytes at a virtual address, or NULL where the file has none there. */
const unsigned char *elf_bytes_at(const elf_file *file, uint64_t address, uint64_t length);
/* First occurrence of text in the read-only data at or after *at (an offset in it); NULL at the end. *at is moved past it. limit: end of that data. */
const char *elf_find_text(const elf_file *file, const char *text, size_t *at, const char **limit);

#define ELF_TAG_NEEDED 1
#define ELF_TAG_SONAME 14
#define ELF_TAG_RPATH 15
#define ELF_TAG_RUNPATH 29
#define ELF_TAG_FLAGS_1 0x6ffffffb

#define ELF_MACHINE_X86 3
#define ELF_MACHINE_X86_64 62
#define ELF_MACHINE_AARCH64 183

#endif
