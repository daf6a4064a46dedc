/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * PE headers, imports and exports. Format: Microsoft's PE and COFF specification. The version resource is in pe_resource.c. */
#include "pe.h"
#include "map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPORTS, IMPORTS, DELAYED = 13, MAX_NAME = 512, FLAG_DLL = 0x2000, HAS_DATA = 0x40 };

static uint32_t get(const unsigned char *p, int bytes)
{
    uint32_t v = 0;
    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static const unsigned char *bytes_at(const pe_file *file, uint64_t offset, uint64_t length)
{
    if (offset > file->size || length > file->size - offset)
        return NULL;
    return file->data + offset;
}

static int fail(pe_file *file, pe_status status, const char *path, const char *what)
{
    if (file->status == PE_OK) {
        file->status = status;
        snprintf(file->error, sizeof file->error, "%s: %s", path, what);
    }
    return -1;
}

const char *pe_machine_name(int machine)
{
    switch (machine) {
    case PE_MACHINE_X86: return "x86";
    case PE_MACHINE_X86_64: return "x86-64";
    case PE_MACHINE_ARM64: return "aarch64";
    case 0x1c4: return "arm";
    default: return NULL;
    }
}

const unsigned char *pe_bytes_at(const pe_file *file, uint32_t address, uint32_t length)
{
    for (size_t i = 0; i < file->section_count; i++) {
        const pe_section *s = &file->sections[i];
        if (address >= s->address && address - s->address < s->size && length <= s->size - (address - s->address))
            return bytes_at(file, (uint64_t)s->offset + (address - s->address), length);
    }
    return NULL;
}

/* A string at an address that ends within its section and is of sane length, or NULL. */
static const char *string_at(const pe_file *file, uint32_t address)
{
    for (size_t i = 0; i < file->section_count; i++) {
        const pe_section *s = &file->sections[i];
        if (address < s->address || address - s->address >= s->size)
            continue;
        uint64_t at = (uint64_t)s->offset + (address - s->address), left = s->size - (address - s->address);
        if (at >= file->size)
            return NULL;
        left = left < file->size - at ? left : file->size - at;
        left = left < MAX_NAME ? left : MAX_NAME;
        return memchr(file->data + at, 0, (size_t)left) ? (const char *)file->data + at : NULL;
    }
    return NULL;
}

static int read_sections(pe_file *file, const char *path, uint64_t at, size_t count)
{
    if (!bytes_at(file, at, (uint64_t)count * 40))
        return fail(file, PE_TRUNCATED, path, "is cut off within its section headers");
    file->sections = calloc(count ? count : 1, sizeof *file->sections);
    if (!file->sections)
        return fail(file, PE_CANNOT_READ, path, "no memory");
    file->section_count = count;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *p = file->data + at + i * 40;
        pe_section *s = &file->sections[i];
        memcpy(s->name, p, 8);
        s->memory_size = get(p + 8, 4);
        s->address = get(p + 12, 4);
        s->size = get(p + 16, 4);
        s->offset = get(p + 20, 4);
        s->flags = get(p + 36, 4);
        if (s->size && (uint64_t)s->offset + s->size > file->needed_end)
            file->needed_end = (uint64_t)s->offset + s->size;
    }
    return 0;
}

static int read_all(pe_file *file, const char *path)
{
    const unsigned char *p = file->data;
    if (file->size < 2 || memcmp(p, "MZ", 2) != 0)
        return fail(file, PE_NOT_PE, path, "is not a PE file");
    if (file->size < 64)
        return fail(file, PE_TRUNCATED, path, "is cut off within its DOS header");
    uint64_t at = get(p + 60, 4);
    p = bytes_at(file, at, 24);
    if (!p)
        return fail(file, PE_TRUNCATED, path, "is cut off: its PE header lies past the end of the file");
    if (memcmp(p, "PE\0\0", 4) != 0)
        return fail(file, PE_NOT_PE, path, "is a DOS program, not a PE file");
    file->machine = (int)get(p + 4, 2);
    file->is_dll = (get(p + 22, 2) & FLAG_DLL) != 0;
    size_t sections = get(p + 6, 2), optional = get(p + 20, 2);
    p = bytes_at(file, at + 24, optional);
    if (!p)
        return fail(file, PE_TRUNCATED, path, "is cut off within its optional header");
    if (optional < 2)
        return fail(file, PE_DAMAGED, path, "has no optional header");
    file->bits = get(p, 2) == 0x20b ? 64 : get(p, 2) == 0x10b ? 32 : 0;
    if (!file->bits)
        return fail(file, PE_DAMAGED, path, "its optional header is of an unknown kind");
    size_t fixed = file->bits == 64 ? 112 : 96, count = optional >= fixed ? get(p + fixed - 4, 4) : 0;
    for (size_t i = 0; i < count && i < 16 && fixed + i * 8 + 8 <= optional; i++) {
        file->directories[i][0] = get(p + fixed + i * 8, 4);
        file->directories[i][1] = get(p + fixed + i * 8 + 4, 4);
    }
    if (read_sections(file, path, at + 24 + optional, sections) != 0)
        return -1;
    if (file->needed_end > file->size) {
        char text[120];
        snprintf(text, sizeof text, "is cut off: its sections need %llu bytes and the file has %llu",
                 (unsigned long long)file->needed_end, (unsigned long long)file->size);
        return fail(file, PE_TRUNCATED, path, text);
    }
    return 0;
}

int pe_open_memory(pe_file *file, const void *data, size_t size, const char *name)
{
    memset(file, 0, sizeof *file);
    file->data = data;
    file->size = size;
    return read_all(file, name);
}

int pe_open(pe_file *file, const char *path)
{
    cli_map map;
    memset(file, 0, sizeof *file);
    if (cli_map_open(&map, path, file->error, sizeof file->error) != 0) {
        file->status = PE_CANNOT_READ;
        return -1;
    }
    file->data = map.data;
    file->size = map.size;
    file->mapped = 1;
    return read_all(file, path);
}

void pe_close(pe_file *file)
{
    free(file->sections);
    if (file->mapped) {
        cli_map map = { file->data, file->size };
        cli_map_close(&map);
    }
    memset(file, 0, sizeof *file);
}

/* The index-th entry of a descriptor list that ends with zeros; its name lies at `name` in an entry of `size` bytes. NULL past the end. */
static const char *listed(const pe_file *file, int directory, uint32_t size, uint32_t name, size_t *index)
{
    uint32_t at = file->directories[directory][0];
    for (uint32_t i = 0; at && i < 4096; i++) {
        const unsigned char *p = at > UINT32_MAX - i * size ? NULL : pe_bytes_at(file, at + i * size, size);
        if (!p || get(p + name, 4) == 0)
            return NULL;
        const char *text = string_at(file, get(p + name, 4));
        if (!text)
            continue;
        if (*index == 0)
            return text;
        --*index;
    }
    return NULL;
}

const char *pe_import(const pe_file *file, size_t index, int *delayed)
{
    const char *name = listed(file, IMPORTS, 20, 12, &index);
    if (delayed)
        *delayed = !name;
    return name ? name : listed(file, DELAYED, 32, 4, &index);
}

static const unsigned char *export_directory(const pe_file *file)
{
    return file->directories[EXPORTS][0] ? pe_bytes_at(file, file->directories[EXPORTS][0], 40) : NULL;
}

const char *pe_export_name(const pe_file *file)
{
    const unsigned char *p = export_directory(file);
    const char *name = p ? string_at(file, get(p + 12, 4)) : NULL;
    return name && *name ? name : NULL;
}

size_t pe_export_count(const pe_file *file)
{
    const unsigned char *p = export_directory(file);
    if (!p)
        return 0;
    uint64_t names = get(p + 24, 4);
    return names <= file->size / 4 ? (size_t)names : 0;
}

const char *pe_export_at(const pe_file *file, size_t index, uint32_t *address, const char **forward)
{
    const unsigned char *p = export_directory(file), *cell;
    if (!p || index >= pe_export_count(file))
        return NULL;
    uint32_t functions = get(p + 28, 4), names = get(p + 32, 4), ordinals = get(p + 36, 4), at = (uint32_t)index;
    *address = 0;
    *forward = NULL;
    cell = names > UINT32_MAX - at * 4 ? NULL : pe_bytes_at(file, names + at * 4, 4);
    const char *name = cell ? string_at(file, get(cell, 4)) : NULL;
    cell = ordinals > UINT32_MAX - at * 2 ? NULL : pe_bytes_at(file, ordinals + at * 2, 2);
    if (!name || !cell || get(cell, 2) >= get(p + 20, 4))
        return name;
    uint32_t ordinal = get(cell, 2);
    cell = functions > UINT32_MAX - ordinal * 4 ? NULL : pe_bytes_at(file, functions + ordinal * 4, 4);
    if (!cell)
        return name;
    *address = get(cell, 4);
    if (*address >= file->directories[EXPORTS][0] && *address - file->directories[EXPORTS][0] < file->directories[EXPORTS][1])
        *forward = string_at(file, *address);
    return name;
}

const char *pe_find_text(const pe_file *file, const char *text, size_t *at, const char **limit)
{
    for (size_t i = 0; i < file->section_count; i++) {
        const pe_section *s = &file->sections[i];
        uint64_t end = (uint64_t)s->offset + s->size, start = *at > s->offset ? *at : s->offset;
        end = end < file->size ? end : file->size;
        if (!(s->flags & HAS_DATA) || start >= end)
            continue;
        if (end - start > ((uint64_t)64 << 20))
            end = start + ((uint64_t)64 << 20);
        const char *found = cli_find_bytes((const char *)file->data + start, (size_t)(end - start), text, strlen(text));
        if (found) {
            *limit = (const char *)file->data + end;
            *at = (size_t)(found - (const char *)file->data) + 1;
            return found;
        }
    }
    return NULL;
}
