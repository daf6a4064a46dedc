/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* ELF reading for the packaging tests; formats from the System V ABI and the GNU symbol versioning text. */
#include "elf_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTION_NOBITS = 8, VERSYM_HIDDEN = 0x8000, SYMBOL_SIZE = 24, FUNCTION_TYPE = 2, SHN_ABSOLUTE = 0xfff1 };

static uint64_t get(const unsigned char *p, int bytes)
{
    uint64_t v = 0;

    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

/* length bytes at offset, or NULL where they do not lie in the file. */
static const unsigned char *bytes_at(const elf_file *file, uint64_t offset, uint64_t length)
{
    if (offset > file->size || length > file->size - offset)
        return NULL;
    return file->data + offset;
}

/* A string that ends inside its section, or NULL. */
static const char *string_in(const elf_file *file, const elf_section *section, uint64_t offset)
{
    const unsigned char *p;

    if (!section || offset >= section->size)
        return NULL;
    p = bytes_at(file, section->offset + offset, section->size - offset);
    return p && memchr(p, 0, (size_t)(section->size - offset)) ? (const char *)p : NULL;
}

static int fail(elf_file *file, const char *path, const char *what)
{
    snprintf(file->error, sizeof file->error, "%s: %s", path, what);
    return -1;
}

static int load(elf_file *file, const char *path)
{
    FILE *f = fopen(path, "rb");
    long size;

    if (!f)
        return fail(file, path, "cannot be opened");
    if (fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0) {
        fclose(f);
        return fail(file, path, "has no size");
    }
    file->size = (size_t)size;
    file->data = malloc(file->size ? file->size : 1);
    if (!file->data || fread(file->data, 1, file->size, f) != file->size) {
        fclose(f);
        return fail(file, path, "cannot be read");
    }
    fclose(f);
    return 0;
}

static int read_sections(elf_file *file, const char *path)
{
    uint64_t table = get(file->data + 40, 8);
    size_t entry = (size_t)get(file->data + 58, 2), count = (size_t)get(file->data + 60, 2);
    size_t names = (size_t)get(file->data + 62, 2);

    if (entry < 64 || count == 0 || names >= count || !bytes_at(file, table, (uint64_t)entry * count))
        return fail(file, path, "has no section table, or one outside the file");
    file->sections = calloc(count, sizeof *file->sections);
    if (!file->sections)
        return fail(file, path, "no memory");
    file->section_count = count;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *p = file->data + table + i * entry;
        elf_section *s = &file->sections[i];

        s->type = (uint32_t)get(p + 4, 4);
        s->offset = get(p + 24, 8);
        s->size = get(p + 32, 8);
        s->link = (uint32_t)get(p + 40, 4);
        s->entry = get(p + 56, 8);
        if (i > 0 && s->type != SECTION_NOBITS && !bytes_at(file, s->offset, s->size))
            return fail(file, path, "a section lies outside the file");
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t name = get(file->data + table + i * entry, 4);

        file->sections[i].name = string_in(file, &file->sections[names], name);
        if (!file->sections[i].name)
            return fail(file, path, "a section name lies outside the name table");
    }
    return 0;
}

int elf_open(elf_file *file, const char *path)
{
    memset(file, 0, sizeof *file);
    if (load(file, path) != 0)
        return -1;
    if (file->size < 64 || memcmp(file->data, "\177ELF\2\1", 6) != 0)
        return fail(file, path, "is not a 64-bit little-endian ELF file");
    return read_sections(file, path);
}

void elf_close(elf_file *file)
{
    free(file->sections);
    free(file->data);
    memset(file, 0, sizeof *file);
}

const elf_section *elf_section_named(const elf_file *file, const char *name)
{
    for (size_t i = 1; i < file->section_count; i++)
        if (strcmp(file->sections[i].name, name) == 0 && file->sections[i].type != SECTION_NOBITS)
            return &file->sections[i];
    return NULL;
}

static const elf_section *linked(const elf_file *file, const elf_section *section)
{
    return section && section->link < file->section_count ? &file->sections[section->link] : NULL;
}

const char *elf_dynamic_string(const elf_file *file, int64_t tag, size_t index)
{
    const elf_section *dynamic = elf_section_named(file, ".dynamic");

    for (uint64_t at = 0; dynamic && at + 16 <= dynamic->size; at += 16) {
        const unsigned char *p = file->data + dynamic->offset + at;

        if ((int64_t)get(p, 8) == tag && index-- == 0)
            return string_in(file, linked(file, dynamic), get(p + 8, 8));
    }
    return NULL;
}

size_t elf_symbol_count(const elf_file *file)
{
    const elf_section *symbols = elf_section_named(file, ".dynsym");

    return symbols ? (size_t)(symbols->size / SYMBOL_SIZE) : 0;
}

/* Name of version number `number` among the definitions (.gnu.version_d). */
static const char *defined_version(const elf_file *file, unsigned number)
{
    const elf_section *section = elf_section_named(file, ".gnu.version_d");
    uint64_t at = 0, next;

    while (section && at + 20 <= section->size) {
        const unsigned char *p = file->data + section->offset + at;
        uint64_t aux = at + get(p + 12, 4);

        if (get(p + 4, 2) == number) {
            if (aux + 8 > section->size)
                return NULL;
            return string_in(file, linked(file, section), get(file->data + section->offset + aux, 4));
        }
        next = get(p + 16, 4);
        if (next == 0)
            break;
        at += next;
    }
    return NULL;
}

/* The same among the needs (.gnu.version_r). */
static const char *needed_version(const elf_file *file, unsigned number)
{
    const elf_section *section = elf_section_named(file, ".gnu.version_r");
    uint64_t at = 0, next;

    while (section && at + 16 <= section->size) {
        const unsigned char *p = file->data + section->offset + at;
        uint64_t aux = at + get(p + 8, 4);

        for (unsigned left = (unsigned)get(p + 2, 2); left > 0 && aux + 16 <= section->size; left--) {
            const unsigned char *a = file->data + section->offset + aux;

            if (get(a + 6, 2) == number)
                return string_in(file, linked(file, section), get(a + 8, 4));
            aux += get(a + 12, 4);
        }
        next = get(p + 12, 4);
        if (next == 0)
            break;
        at += next;
    }
    return NULL;
}

int elf_symbol_at(const elf_file *file, size_t index, elf_symbol *symbol)
{
    const elf_section *symbols = elf_section_named(file, ".dynsym");
    const elf_section *versions = elf_section_named(file, ".gnu.version");
    const unsigned char *p;
    unsigned version;

    if (index >= elf_symbol_count(file))
        return -1;
    p = file->data + symbols->offset + index * SYMBOL_SIZE;
    symbol->name = string_in(file, linked(file, symbols), get(p, 4));
    symbol->defined = get(p + 6, 2) != 0;
    symbol->is_absolute = get(p + 6, 2) == SHN_ABSOLUTE;
    symbol->is_function = (p[4] & 15) == FUNCTION_TYPE;
    symbol->version = "";
    symbol->hidden = 0;
    if (versions && (index + 1) * 2 <= versions->size) {
        version = (unsigned)get(file->data + versions->offset + index * 2, 2);
        symbol->hidden = (version & VERSYM_HIDDEN) != 0;
        version &= VERSYM_HIDDEN - 1;
        if (version > 1)
            symbol->version = symbol->defined ? defined_version(file, version) : needed_version(file, version);
    }
    return symbol->name && symbol->version ? 0 : -1;
}

const unsigned char *elf_note(const elf_file *file, const char *section, const char *owner, uint32_t type, size_t *size)
{
    const elf_section *s = elf_section_named(file, section);
    uint64_t at = 0;

    while (s && at + 12 <= s->size) {
        const unsigned char *p = file->data + s->offset + at;
        uint64_t name = get(p, 4), text = get(p + 4, 4);
        uint64_t text_at = at + 12 + ((name + 3) & ~(uint64_t)3);

        if (text_at > s->size || text > s->size - text_at)
            return NULL;
        if (get(p + 8, 4) == type && name == strlen(owner) + 1 && memcmp(p + 12, owner, (size_t)name) == 0) {
            *size = (size_t)text;
            return file->data + s->offset + text_at;
        }
        at = text_at + ((text + 3) & ~(uint64_t)3);
    }
    return NULL;
}
