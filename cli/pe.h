/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Reader of PE files (DLL and EXE of Windows): machine, imports, exports, version resource. Every offset is checked; nothing is loaded. */
#ifndef DN_CLI_PE_H
#define DN_CLI_PE_H

#include <stddef.h>
#include <stdint.h>

typedef enum pe_status { PE_OK, PE_CANNOT_READ, PE_NOT_PE, PE_TRUNCATED, PE_DAMAGED } pe_status;

typedef struct pe_section {
    char name[9];
    uint32_t address, memory_size, offset, size, flags;
} pe_section;

typedef struct pe_file {
    const unsigned char *data;
    size_t size;
    int mapped;
    pe_status status;
    int bits, machine;
    int is_dll;
    pe_section *sections;
    size_t section_count;
    uint32_t directories[16][2]; /* address and size of each data directory; 0 where there is none */
    uint64_t needed_end;         /* the headers speak of bytes up to here */
    char error[240];
} pe_file;

int pe_open(pe_file *file, const char *path);
int pe_open_memory(pe_file *file, const void *data, size_t size, const char *name);
void pe_close(pe_file *file);

const char *pe_machine_name(int machine);
/* Name of the index-th imported DLL, the delay-loaded ones after the others; NULL past the end. delayed may be NULL. */
const char *pe_import(const pe_file *file, size_t index, int *delayed);
/* The name that the export directory gives the DLL, or NULL. */
const char *pe_export_name(const pe_file *file);
size_t pe_export_count(const pe_file *file);
/* Name of the index-th named export; *address its RVA, *forward the text of a forwarder or NULL. NULL where it makes no sense. */
const char *pe_export_at(const pe_file *file, size_t index, uint32_t *address, const char **forward);
/* File version of the version resource as four numbers: 0, or -1 where there is none. */
int pe_version(const pe_file *file, int version[4]);
/* length bytes at an address relative to the image, or NULL. */
const unsigned char *pe_bytes_at(const pe_file *file, uint32_t address, uint32_t length);
/* First occurrence of text in the initialized data sections from *at (a file offset) on, NULL at the end; *at is moved past it. */
const char *pe_find_text(const pe_file *file, const char *text, size_t *at, const char **limit);

#define PE_MACHINE_X86 0x14c
#define PE_MACHINE_X86_64 0x8664
#define PE_MACHINE_ARM64 0xaa64

#endif
