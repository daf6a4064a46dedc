/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * ELF headers, segments, sections and the dynamic section. Formats: System V ABI. Symbols and notes are in elf_symbols.c. */
#include "elf.h"
#include "map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PT_LOAD_ = 1, PT_DYNAMIC_ = 2, PT_NOTE_ = 4, SECTION_NOBITS = 8, SECTION_DYNSYM = 11 };
enum { TAG_HASH = 4, TAG_STRTAB = 5, TAG_SYMTAB = 6, TAG_STRSZ = 10, TAG_GNU_HASH = 0x6ffffef5, TAG_VERSYM = 0x6ffffff0,
       TAG_VERDEF = 0x6ffffffc, TAG_VERNEED = 0x6ffffffe };

static uint64_t get(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static const unsigned char *bytes_at(const elf_file *file, uint64_t offset, uint64_t length)
{
    if (offset > file->size || length > file->size - offset)
        return NULL;
    return file->data + offset;
}

static int fail(elf_file *file, elf_status status, const char *path, const char *what)
{
    if (file->status == ELF_OK) {
        file->status = status;
        snprintf(file->error, sizeof file->error, "%s: %s", path, what);
    }
    return -1;
}

const char *elf_machine_name(int machine)
{
    switch (machine) {
    case ELF_MACHINE_X86: return "x86";
    case ELF_MACHINE_X86_64: return "x86-64";
    case ELF_MACHINE_AARCH64: return "aarch64";
    case 40: return "arm";
    case 20: return "ppc";
    case 21: return "ppc64le";
    case 22: return "s390x";
    case 243: return "riscv";
    case 258: return "loongarch";
    default: return NULL;
    }
}

/* A string that ends inside the range, or NULL. */
static const char *string_in(const elf_file *file, uint64_t offset, uint64_t size, uint64_t at)
{
    if (at >= size)
        return NULL;
    const unsigned char *p = bytes_at(file, offset + at, size - at);
    return p && memchr(p, 0, (size_t)(size - at)) ? (const char *)p : NULL;
}

static void end_is(elf_file *file, uint64_t offset, uint64_t size)
{
    if (size > UINT64_MAX - offset)
        file->needed_end = UINT64_MAX;
    else if (offset + size > file->needed_end)
        file->needed_end = offset + size;
}

static int read_segments(elf_file *file, const char *path)
{
    int wide = file->bits == 64;
    uint64_t table = wide ? get(file->data + 32, 8) : get(file->data + 28, 4);
    size_t entry = (size_t)get(file->data + (wide ? 54 : 42), 2), count = (size_t)get(file->data + (wide ? 56 : 44), 2);
    if (!count)
        return 0;
    if (entry < (wide ? 56u : 32u))
        return fail(file, ELF_DAMAGED, path, "its program headers are too short");
    end_is(file, table, (uint64_t)entry * count);
    if (!bytes_at(file, table, (uint64_t)entry * count))
        return fail(file, ELF_TRUNCATED, path, "is cut off: its program headers lie past the end of the file");
    file->segments = calloc(count, sizeof *file->segments);
    if (!file->segments)
        return fail(file, ELF_CANNOT_READ, path, "no memory");
    file->segment_count = count;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *p = file->data + table + i * entry;
        elf_segment *s = &file->segments[i];
        s->type = (uint32_t)get(p, 4);
        s->flags = (uint32_t)get(p + (wide ? 4 : 24), 4);
        s->offset = wide ? get(p + 8, 8) : get(p + 4, 4);
        s->address = wide ? get(p + 16, 8) : get(p + 8, 4);
        s->size = wide ? get(p + 32, 8) : get(p + 16, 4);
        if (s->type == PT_LOAD_)
            end_is(file, s->offset, s->size);
    }
    return 0;
}

static void read_section(elf_file *file, elf_section *s, const unsigned char *p)
{
    int wide = file->bits == 64;
    s->type = (uint32_t)get(p + 4, 4);
    s->flags = wide ? get(p + 8, 8) : get(p + 8, 4);
    s->offset = wide ? get(p + 24, 8) : get(p + 16, 4);
    s->size = wide ? get(p + 32, 8) : get(p + 20, 4);
    s->link = (uint32_t)get(p + (wide ? 40 : 24), 4);
    s->name = "";
    if (s->type != SECTION_NOBITS && s->type != 0)
        end_is(file, s->offset, s->size);
}

static int read_sections(elf_file *file, const char *path)
{
    int wide = file->bits == 64;
    uint64_t table = wide ? get(file->data + 40, 8) : get(file->data + 32, 4);
    size_t entry = (size_t)get(file->data + (wide ? 58 : 46), 2), count = (size_t)get(file->data + (wide ? 60 : 48), 2);
    size_t names = (size_t)get(file->data + (wide ? 62 : 50), 2);
    if (!table || !count)
        return 0;
    if (entry < (wide ? 64u : 40u))
        return fail(file, ELF_DAMAGED, path, "its section headers are too short");
    end_is(file, table, (uint64_t)entry * count);
    if (!bytes_at(file, table, (uint64_t)entry * count))
        return fail(file, ELF_TRUNCATED, path, "is cut off: its section headers lie past the end of the file");
    file->sections = calloc(count, sizeof *file->sections);
    if (!file->sections)
        return fail(file, ELF_CANNOT_READ, path, "no memory");
    file->section_count = count;
    for (size_t i = 0; i < count; i++)
        read_section(file, &file->sections[i], file->data + table + i * entry);
    if (names >= count)
        return 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t at = get(file->data + table + i * entry, 4);
        const char *name = string_in(file, file->sections[names].offset, file->sections[names].size, at);
        if (!name)
            return fail(file, ELF_DAMAGED, path, "a section name lies outside the name table");
        file->sections[i].name = name;
    }
    return 0;
}

const unsigned char *elf_bytes_at(const elf_file *file, uint64_t address, uint64_t length)
{
    for (size_t i = 0; i < file->segment_count; i++) {
        const elf_segment *s = &file->segments[i];
        if (s->type == PT_LOAD_ && address >= s->address && address - s->address <= s->size &&
            length <= s->size - (address - s->address) && s->offset <= UINT64_MAX - (address - s->address))
            return bytes_at(file, s->offset + (address - s->address), length);
    }
    return NULL;
}

/* File offset of a virtual address and the bytes from there to the end of its segment; 0 where there are none. */
static uint64_t range_at(const elf_file *file, uint64_t address, uint64_t *offset)
{
    const unsigned char *p = elf_bytes_at(file, address, 1);
    if (!p)
        return 0;
    *offset = (uint64_t)(p - file->data);
    for (size_t i = 0; i < file->segment_count; i++) {
        const elf_segment *s = &file->segments[i];
        if (s->type == PT_LOAD_ && address >= s->address && address - s->address < s->size) {
            uint64_t left = s->size - (address - s->address);
            return left < file->size - *offset ? left : file->size - *offset;
        }
    }
    return 0;
}

/* Symbols that the GNU hash table knows of: the highest chain, walked to its end mark. */
static uint64_t gnu_hash_count(const elf_file *file, uint64_t offset, uint64_t size)
{
    if (size < 16)
        return 0;
    const unsigned char *p = file->data + offset;
    uint64_t buckets = get(p, 4), first = get(p + 4, 4), bloom = get(p + 8, 4), last = 0;
    uint64_t at = 16 + bloom * (file->bits / 8);
    if (at > size || buckets > (size - at) / 4)
        return 0;
    for (uint64_t i = 0; i < buckets; i++) {
        uint64_t b = get(p + at + i * 4, 4);
        last = b > last ? b : last;
    }
    if (last < first)
        return first; /* nothing is defined: the undefined ones come before */
    for (at += buckets * 4; (last - first) < (size - at) / 4; last++)
        if (get(p + at + (last - first) * 4, 4) & 1)
            return last + 1;
    return 0;
}

static uint64_t count_symbols(const elf_file *file)
{
    uint64_t offset = 0, size;
    int found;
    uint64_t address = elf_dynamic_value(file, TAG_HASH, &found);
    if (found && (size = range_at(file, address, &offset)) >= 8)
        return get(file->data + offset + 4, 4);
    for (size_t i = 0; i < file->section_count; i++)
        if (file->sections[i].type == SECTION_DYNSYM)
            return file->sections[i].size / (file->bits == 64 ? 24 : 16);
    address = elf_dynamic_value(file, (int64_t)TAG_GNU_HASH, &found);
    size = found ? range_at(file, address, &offset) : 0;
    return size ? gnu_hash_count(file, offset, size) : 0;
}

static void find_tables(elf_file *file)
{
    int found;
    uint64_t entry = file->bits == 64 ? 24 : 16, size = elf_dynamic_value(file, TAG_STRSZ, &found);
    file->strings.size = range_at(file, elf_dynamic_value(file, TAG_STRTAB, &found), &file->strings.offset);
    if (size < file->strings.size)
        file->strings.size = size;
    uint64_t address = elf_dynamic_value(file, TAG_SYMTAB, &found);
    if (found) {
        uint64_t room = range_at(file, address, &file->symbols.offset), count = count_symbols(file);
        file->symbols.size = (count < room / entry ? count : room / entry) * entry;
    }
    address = elf_dynamic_value(file, (int64_t)TAG_VERSYM, &found);
    if (found)
        file->versions.size = range_at(file, address, &file->versions.offset);
    address = elf_dynamic_value(file, (int64_t)TAG_VERDEF, &found);
    if (found)
        file->defined.size = range_at(file, address, &file->defined.offset);
    address = elf_dynamic_value(file, (int64_t)TAG_VERNEED, &found);
    if (found)
        file->needed.size = range_at(file, address, &file->needed.offset);
}

static void find_dynamic(elf_file *file)
{
    for (size_t i = 0; i < file->segment_count; i++) {
        const elf_segment *s = &file->segments[i];
        if (s->type == PT_DYNAMIC_ && s->offset < file->size) {
            file->dynamic.offset = s->offset;
            file->dynamic.size = s->size < file->size - s->offset ? s->size : file->size - s->offset;
            find_tables(file);
            return;
        }
    }
}

static int read_all(elf_file *file, const char *path)
{
    static const unsigned char magic[4] = { 0x7f, 'E', 'L', 'F' };
    const unsigned char *p = file->data;
    if (file->size < 4 || memcmp(p, magic, 4) != 0)
        return fail(file, ELF_NOT_ELF, path, "is not an ELF file");
    if (file->size < 20)
        return fail(file, ELF_TRUNCATED, path, "is cut off within its ELF header");
    file->bits = p[4] == 1 ? 32 : p[4] == 2 ? 64 : 0;
    int big = p[5] == 2;
    file->type = big ? p[16] << 8 | p[17] : p[17] << 8 | p[16];
    file->machine = big ? p[18] << 8 | p[19] : p[19] << 8 | p[18];
    if (!file->bits || p[5] != 1)
        return fail(file, ELF_FOREIGN, path, "is an ELF file of a class or byte order that is not read here");
    if (file->size < (file->bits == 64 ? 64u : 52u))
        return fail(file, ELF_TRUNCATED, path, "is cut off within its ELF header");
    read_segments(file, path);
    if (file->status == ELF_OK || file->status == ELF_TRUNCATED)
        read_sections(file, path);
    if (file->needed_end > file->size) {
        char text[120];
        snprintf(text, sizeof text, "is cut off: its headers need %llu bytes and the file has %llu",
                 (unsigned long long)file->needed_end, (unsigned long long)file->size);
        file->status = ELF_OK; /* this text says more than the first one */
        fail(file, ELF_TRUNCATED, path, text);
    }
    find_dynamic(file);
    return file->status == ELF_OK ? 0 : -1;
}

int elf_open_memory(elf_file *file, const void *data, size_t size, const char *name)
{
    memset(file, 0, sizeof *file);
    file->data = data;
    file->size = size;
    return read_all(file, name);
}

int elf_open(elf_file *file, const char *path)
{
    cli_map map;
    memset(file, 0, sizeof *file);
    if (cli_map_open(&map, path, file->error, sizeof file->error) != 0) {
        file->status = ELF_CANNOT_READ;
        return -1;
    }
    file->data = map.data;
    file->size = map.size;
    file->mapped = 1;
    return read_all(file, path);
}

void elf_close(elf_file *file)
{
    free(file->sections);
    free(file->segments);
    if (file->mapped) {
        cli_map map = { file->data, file->size };
        cli_map_close(&map);
    }
    memset(file, 0, sizeof *file);
}

const elf_section *elf_section_named(const elf_file *file, const char *name)
{
    for (size_t i = 1; i < file->section_count; i++)
        if (strcmp(file->sections[i].name, name) == 0 && file->sections[i].type != SECTION_NOBITS &&
            bytes_at(file, file->sections[i].offset, file->sections[i].size))
            return &file->sections[i];
    return NULL;
}

/* The index-th dynamic entry with this tag. */
static int dynamic_at(const elf_file *file, int64_t tag, size_t index, uint64_t *value)
{
    int width = file->bits / 8;
    for (uint64_t at = 0; at + 2 * (uint64_t)width <= file->dynamic.size; at += 2 * (uint64_t)width) {
        const unsigned char *p = file->data + file->dynamic.offset + at;
        uint64_t t = get(p, width);
        if (t == 0)
            return 0;
        if (t == (uint64_t)tag && index-- == 0) {
            *value = get(p + width, width);
            return 1;
        }
    }
    return 0;
}

uint64_t elf_dynamic_value(const elf_file *file, int64_t tag, int *found)
{
    uint64_t value = 0;
    int ok = dynamic_at(file, tag, 0, &value);
    if (found)
        *found = ok;
    return ok ? value : 0;
}

const char *elf_dynamic_string(const elf_file *file, int64_t tag, size_t index)
{
    uint64_t at;
    if (!dynamic_at(file, tag, index, &at))
        return NULL;
    return string_in(file, file->strings.offset, file->strings.size, at);
}
