/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Dynamic symbols with their versions (GNU symbol versioning), notes, and text in read-only data. */
#include "elf.h"
#include "map.h"

#include <string.h>

enum { VERSYM_HIDDEN = 0x8000, SHN_ABSOLUTE = 0xfff1, TYPE_OBJECT = 1, TYPE_FUNCTION = 2, TYPE_IFUNC = 10, PT_NOTE_ = 4, PT_LOAD_ = 1 };

static uint64_t get(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static const char *string_at(const elf_file *file, uint64_t at)
{
    if (at >= file->strings.size)
        return NULL;
    const unsigned char *p = file->data + file->strings.offset + at;
    return memchr(p, 0, (size_t)(file->strings.size - at)) ? (const char *)p : NULL;
}

size_t elf_symbol_count(const elf_file *file)
{
    return file->bits ? (size_t)(file->symbols.size / (file->bits == 64 ? 24 : 16)) : 0;
}

/* Name of version number `number` among the definitions. */
static const char *defined_version(const elf_file *file, unsigned number)
{
    const unsigned char *base = file->data + file->defined.offset;
    uint64_t size = file->defined.size, at = 0;
    while (at + 20 <= size) {
        uint64_t aux = at + get(base + at + 12, 4), next = get(base + at + 16, 4);
        if (get(base + at + 4, 2) == number)
            return aux + 8 > size ? NULL : string_at(file, get(base + aux, 4));
        if (next == 0)
            break;
        at += next;
    }
    return NULL;
}

/* The same among the needs. The count bounds the inner walk, the growing offset the outer one. */
static const char *needed_version(const elf_file *file, unsigned number)
{
    const unsigned char *base = file->data + file->needed.offset;
    uint64_t size = file->needed.size, at = 0;
    while (at + 16 <= size) {
        uint64_t aux = at + get(base + at + 8, 4), next = get(base + at + 12, 4);
        for (unsigned left = (unsigned)get(base + at + 2, 2); left > 0 && aux + 16 <= size; left--) {
            uint64_t step = get(base + aux + 12, 4);
            if (get(base + aux + 6, 2) == number)
                return string_at(file, get(base + aux + 8, 4));
            if (step == 0)
                break;
            aux += step;
        }
        if (next == 0)
            break;
        at += next;
    }
    return NULL;
}

int elf_symbol_at(const elf_file *file, size_t index, elf_symbol *symbol)
{
    int wide = file->bits == 64;
    if (index >= elf_symbol_count(file))
        return -1;
    const unsigned char *p = file->data + file->symbols.offset + index * (wide ? 24 : 16);
    int info = p[wide ? 4 : 12];
    uint64_t place = get(p + (wide ? 6 : 14), 2);
    symbol->name = string_at(file, get(p, 4));
    symbol->value = wide ? get(p + 8, 8) : get(p + 4, 4);
    symbol->size = wide ? get(p + 16, 8) : get(p + 8, 4);
    symbol->defined = place != 0;
    symbol->is_absolute = place == SHN_ABSOLUTE;
    symbol->is_function = (info & 15) == TYPE_FUNCTION || (info & 15) == TYPE_IFUNC;
    symbol->is_object = (info & 15) == TYPE_OBJECT;
    symbol->version = "";
    symbol->hidden = 0;
    if ((index + 1) * 2 <= file->versions.size) {
        unsigned version = (unsigned)get(file->data + file->versions.offset + index * 2, 2);
        symbol->hidden = (version & VERSYM_HIDDEN) != 0;
        version &= VERSYM_HIDDEN - 1;
        if (version > 1)
            symbol->version = symbol->defined ? defined_version(file, version) : needed_version(file, version);
    }
    return symbol->name && symbol->version ? 0 : -1;
}

int elf_symbol_named(const elf_file *file, const char *name, elf_symbol *symbol)
{
    for (size_t i = 0, n = elf_symbol_count(file); i < n; i++) {
        const unsigned char *p = file->data + file->symbols.offset + i * (file->bits == 64 ? 24 : 16);
        const char *s = string_at(file, get(p, 4));
        if (s && strcmp(s, name) == 0 && elf_symbol_at(file, i, symbol) == 0 && symbol->defined)
            return 0;
    }
    return -1;
}

static const unsigned char *note_in(const elf_file *file, uint64_t offset, uint64_t size, const char *owner, uint32_t type, size_t *length)
{
    uint64_t at = 0;
    if (offset > file->size || size > file->size - offset)
        return NULL;
    while (at + 12 <= size) {
        const unsigned char *p = file->data + offset + at;
        uint64_t name = get(p, 4), text = get(p + 4, 4), text_at = at + 12 + ((name + 3) & ~(uint64_t)3);
        if (text_at > size || text > size - text_at)
            return NULL;
        if (get(p + 8, 4) == type && name == strlen(owner) + 1 && memcmp(p + 12, owner, (size_t)name) == 0) {
            *length = (size_t)text;
            return file->data + offset + text_at;
        }
        at = text_at + ((text + 3) & ~(uint64_t)3);
    }
    return NULL;
}

const unsigned char *elf_note(const elf_file *file, const char *section, const char *owner, uint32_t type, size_t *size)
{
    if (section) {
        const elf_section *s = elf_section_named(file, section);
        return s ? note_in(file, s->offset, s->size, owner, type, size) : NULL;
    }
    for (size_t i = 0; i < file->segment_count; i++)
        if (file->segments[i].type == PT_NOTE_) {
            const unsigned char *p = note_in(file, file->segments[i].offset, file->segments[i].size, owner, type, size);
            if (p)
                return p;
        }
    return NULL;
}

/* Strings of the program stand in .rodata; without a section table the whole of the first loaded segment is looked at. */
const char *elf_find_text(const elf_file *file, const char *text, size_t *at, const char **limit)
{
    const elf_section *s = elf_section_named(file, ".rodata");
    uint64_t offset = 0, size = 0, max = (uint64_t)64 << 20;
    if (s) {
        offset = s->offset;
        size = s->size;
    }
    for (size_t i = 0; !s && i < file->segment_count && !size; i++)
        if (file->segments[i].type == PT_LOAD_ && file->segments[i].offset < file->size) {
            offset = file->segments[i].offset;
            size = file->segments[i].size < file->size - offset ? file->segments[i].size : file->size - offset;
        }
    size = size < max ? size : max;
    *limit = (const char *)file->data + offset + size;
    if (*at >= size)
        return NULL;
    const char *found = cli_find_bytes((const char *)file->data + offset + *at, (size_t)size - *at, text, strlen(text));
    if (found)
        *at = (size_t)(found - ((const char *)file->data + offset)) + 1;
    return found;
}
