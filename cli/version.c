/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The version of a library out of its machine code and data, without running it. In the vendor's files the sub-libraries carry data
 * symbols (cudnn_graph_version) and constants in cudnnGetVersion and cudnn...VersionCheck; engine libraries compare with the number;
 * libcudnn itself is a thin loader that has no number at all. */
#include "facts.h"
#include "file.h"

#include <stdlib.h>
#include <string.h>

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Could this number in code be a cuDNN version? Strict, since any constant may meet it. */
static bool plausible(uint32_t v, int abi)
{
    if (v >= 1000 && v < 9000)
        return v >= 4000 && v % 100 <= 12 && (!abi || (int)(v / 1000) == abi);
    return v >= 90000 && v < 200000 && v % 100 <= 12 && v % 10000 / 100 <= 60 && (!abi || (int)(v / 10000) == abi);
}

/* The one plausible number among the candidates, 0 where there is none or more than one. */
typedef struct votes {
    uint32_t value;
    bool torn;
} votes;

static void vote(votes *v, uint32_t value, int abi)
{
    if (!plausible(value, abi))
        return;
    v->torn |= v->value && v->value != value;
    v->value = value;
}

/* Constants that x86-64 code moves into a register (b8+r imm32, c7 c0+r imm32). */
static int moved_x86(const unsigned char *p, size_t size, int abi)
{
    votes v = { 0, false };
    if (size >= 6 && p[0] == 0xb8 && p[5] == 0xc3) /* the whole function: what follows is another one */
        size = 6;
    for (size_t i = 0; i + 5 <= size; i++) {
        if ((p[i] & 0xf8) == 0xb8)
            vote(&v, get32(p + i + 1), abi);
        if (p[i] == 0xc7 && (p[i + 1] & 0xf8) == 0xc0 && i + 6 <= size)
            vote(&v, get32(p + i + 2), abi);
    }
    return v.torn ? 0 : (int)v.value;
}

/* The same for aarch64: movz wN or xN with an optional movk of the upper half behind it. */
static int moved_arm(const unsigned char *p, size_t size, int abi)
{
    votes v = { 0, false };
    for (size_t i = 0; i + 4 <= size; i += 4) {
        uint32_t code = get32(p + i);
        if (code == 0xd65f03c0 && v.value) /* ret: what follows may be another function */
            break;
        if ((code & 0x7fe00000) != 0x52800000)
            continue;
        uint32_t value = code >> 5 & 0xffff, next = i + 8 <= size ? get32(p + i + 4) : 0;
        if ((next & 0x7fe00000) == 0x72a00000 && (next & 31) == (code & 31))
            value |= (next >> 5 & 0xffff) << 16;
        vote(&v, value, abi);
    }
    return v.torn ? 0 : (int)v.value;
}

static int moved(int is_arm, const unsigned char *p, size_t size, int abi)
{
    return is_arm ? moved_arm(p, size, abi) : moved_x86(p, size, abi);
}

/* Any 32-bit constant in the code of a version check. */
static int checked(const unsigned char *p, size_t size, int abi)
{
    votes v = { 0, false };
    for (size_t i = 0; i + 4 <= size; i++)
        vote(&v, get32(p + i), abi);
    return v.torn ? 0 : (int)v.value;
}

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* Is v a published version? Constants in a large program are believed only then. */
static bool is_published(uint32_t v)
{
    static const cli plain = { .root = "" };
    char text[32];
    const facts_table *t = cli_facts_table(&plain, "cudnn_releases");
    cli_version_text((int)v, text);
    for (size_t i = 0; t && text[0] && i < t->rows; i++)
        if (strcmp(cli_facts_cell(t, i, "version"), text) == 0)
            return true;
    return false;
}

/* Constants that code compares with (81 f8+r imm32). Meant for the engine libraries. */
static int compared(const elf_file *elf, int abi)
{
    const elf_section *text = elf_section_named(elf, ".text");
    const unsigned char *p = text ? elf->data + text->offset : NULL, *end = p ? p + text->size : NULL;
    votes v = { 0, false };
    while (p && end - p >= 6 && (p = memchr(p, 0x81, (size_t)(end - p - 5))) != NULL) {
        if ((p[1] & 0xf8) == 0xf8 && plausible(get32(p + 2), abi) && is_published(get32(p + 2)))
            vote(&v, get32(p + 2), abi);
        p++;
    }
    return v.torn ? 0 : (int)v.value;
}

static bool is_engine(const char *soname)
{
    cudnn_name n;
    return soname && cli_cudnn_name(soname, &n) && (strncmp(n.part, "engines", 7) == 0 || strcmp(n.part, "heuristic") == 0 ||
                                                     strcmp(n.part, "ext") == 0);
}

/* The data symbols hold 0x00MMmmpp. */
static int packed(uint32_t v)
{
    int version = cli_version_make((int)(v >> 16 & 255), (int)(v >> 8 & 255), (int)(v & 255));
    return v >> 24 == 0 && v >> 16 > 0 && plausible((uint32_t)version, 0) ? version : 0;
}

static int from_symbol(const elf_file *elf, const elf_symbol *s, int abi, file_how *how)
{
    bool arm = elf->machine == ELF_MACHINE_AARCH64;
    uint64_t size = s->size && s->size < 4096 ? s->size : 64;
    const unsigned char *p = elf_bytes_at(elf, s->value, size);
    int v = 0;
    for (; !p && size > 4; size /= 2)
        p = elf_bytes_at(elf, s->value, size / 2);
    if (!p)
        return 0;
    if (s->is_object && s->size == 4 && strncmp(s->name, "cudnn_", 6) == 0 && ends_with(s->name, "_version")) {
        *how = HOW_SYMBOL;
        return packed(get32(p));
    }
    if (strcmp(s->name, "cudnnGetVersion") == 0) {
        *how = HOW_FUNCTION;
        return moved(arm, p, (size_t)size, 0);
    }
    if (!arm && strncmp(s->name, "cudnn", 5) == 0 && ends_with(s->name, "VersionCheck")) {
        *how = HOW_CHECK;
        v = checked(p, (size_t)size, abi);
    }
    return v;
}

int cli_elf_version(const elf_file *elf, int abi, file_how *how)
{
    int best = 0;
    *how = HOW_UNKNOWN;
    for (size_t i = 0, n = elf_symbol_count(elf); i < n; i++) {
        elf_symbol s;
        file_how this_how = HOW_UNKNOWN;
        if (elf_symbol_at(elf, i, &s) != 0 || !s.defined || strncmp(s.name, "cudnn", 5) != 0 || (!s.is_function && !s.is_object))
            continue;
        int v = from_symbol(elf, &s, abi, &this_how);
        if (v && this_how > *how) {
            best = v;
            *how = this_how;
        }
    }
    if (!best && elf->machine == ELF_MACHINE_X86_64 && is_engine(elf_dynamic_string(elf, ELF_TAG_SONAME, 0)) &&
        (best = compared(elf, abi)) != 0)
        *how = HOW_CODE;
    return best;
}

/* Code of an exported function: jumps of an import thunk (e9 rel32) are followed once. */
static const unsigned char *function_code(const pe_file *pe, uint32_t address, size_t *size)
{
    const unsigned char *p = pe_bytes_at(pe, address, 6);
    if (p && p[0] == 0xe9 && pe->machine == PE_MACHINE_X86_64)
        address = address + 5 + get32(p + 1);
    for (*size = 64; *size >= 6; *size /= 2)
        if ((p = pe_bytes_at(pe, address, (uint32_t)*size)) != NULL)
            return p;
    return NULL;
}

int cli_pe_version(const pe_file *pe, int abi, file_how *how)
{
    int n[4], v;
    (void)abi;
    for (size_t i = 0, count = pe_export_count(pe); i < count; i++) {
        uint32_t address;
        const char *forward, *name = pe_export_at(pe, i, &address, &forward);
        size_t size;
        if (!name || forward || strcmp(name, "cudnnGetVersion") != 0)
            continue;
        const unsigned char *p = function_code(pe, address, &size);
        if (p && (v = moved(pe->machine == PE_MACHINE_ARM64, p, size, 0)) != 0) {
            *how = HOW_FUNCTION;
            return v;
        }
    }
    *how = HOW_RESOURCE;
    if (pe_version(pe, n) != 0)
        return 0;
    /* The vendor's DLLs say 6.14.11.8907, with the real number last, as drivers do. */
    if (n[0] == 6 && n[1] == 14 && plausible((uint32_t)n[3], 0))
        return n[3];
    v = cli_version_make(n[0], n[1], n[2]);
    return plausible((uint32_t)v, 0) ? v : 0;
}
