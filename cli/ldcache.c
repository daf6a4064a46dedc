/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
#include "ldcache.h"

#include <string.h>

enum {
    OLD_HEADER = 16, OLD_ENTRY = 12, HEADER = 48, ENTRY = 24, /* bytes */
    EXTENSION_HEADER = 8, SECTION = 16, SECTION_HWCAPS = 1
};
#define EXTENSION_MAGIC 0xEAA42174u
#define HWCAP_NAMED (UINT64_C(1) << 62)  /* the low half of hwcap is then an index into the list of names */
#define HWCAP_LEVEL_MASK 1023u           /* in the high half: the ISA level that the file was marked with */

static uint32_t u32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static const char *string_at(const ldcache *c, uint32_t offset)
{
    return offset < c->size && memchr(c->data + offset, 0, c->size - offset) ? (const char *)c->data + offset : NULL;
}

static int fail(ldcache *c, const char *fault)
{
    c->fault = fault;
    c->count = 0;
    return -1;
}

/* The list of glibc-hwcaps names. A damaged extension is ignored, as the loader does. */
static void read_extension(ldcache *c, uint32_t at)
{
    if (at == 0 || at % 4 != 0 || at > c->size || c->size - at < EXTENSION_HEADER || u32(c->data + at) != EXTENSION_MAGIC)
        return;
    uint32_t sections = u32(c->data + at + 4);
    if (sections > (c->size - at - EXTENSION_HEADER) / SECTION)
        return;
    for (uint32_t i = 0; i < sections; i++) {
        const unsigned char *s = c->data + at + EXTENSION_HEADER + (size_t)i * SECTION;
        uint32_t offset = u32(s + 8), size = u32(s + 12);

        if (offset > c->size || size > c->size - offset)
            return;
        if (u32(s) == SECTION_HWCAPS && size % 4 == 0) {
            c->hwcaps_at = offset;
            c->hwcaps_count = size / 4;
        }
    }
}

int ldcache_parse(ldcache *c, const void *data, size_t size)
{
    static const char old_magic[] = "ld.so-1.7.0", magic[] = "glibc-ld.so.cache1.1";
    size_t at = 0;

    memset(c, 0, sizeof *c);
    c->data = data;
    if (size >= OLD_HEADER && memcmp(data, old_magic, sizeof old_magic - 1) == 0) {
        uint32_t old = u32(c->data + 12);

        if (old > (size - OLD_HEADER) / OLD_ENTRY)
            return fail(c, "is damaged: its old list is longer than the file");
        at = (OLD_HEADER + (size_t)old * OLD_ENTRY + 7) & ~(size_t)7;
        if (at >= size || size - at < HEADER)
            return fail(c, "holds only the format of before glibc 2.2");
    }
    if (size - at < HEADER || memcmp(c->data + at, magic, sizeof magic - 1) != 0)
        return fail(c, "is no loader cache of the format glibc-ld.so.cache1.1");
    c->data += at;
    c->size = size - at;
    if ((c->data[28] & 3) == 3)
        return fail(c, "was written for the other byte order");
    c->count = u32(c->data + 20);
    if (c->count > (c->size - HEADER) / ENTRY)
        return fail(c, "is damaged: its list is longer than the file");
    read_extension(c, u32(c->data + 32));
    return 0;
}

bool ldcache_entry(const ldcache *c, uint32_t index, ldcache_lib *lib)
{
    if (index >= c->count)
        return false;
    const unsigned char *p = c->data + HEADER + (size_t)index * ENTRY;

    lib->flags = u32(p);
    lib->name = string_at(c, u32(p + 4));
    lib->path = string_at(c, u32(p + 8));
    lib->hwcap = u32(p + 16) | (uint64_t)u32(p + 20) << 32;
    lib->subdirectory = NULL;
    if ((lib->hwcap >> 32 & ~(uint64_t)HWCAP_LEVEL_MASK) == HWCAP_NAMED >> 32) {
        uint32_t i = (uint32_t)lib->hwcap;

        lib->subdirectory = i < c->hwcaps_count ? string_at(c, u32(c->data + c->hwcaps_at + (size_t)i * 4)) : NULL;
        if (!lib->subdirectory)
            lib->subdirectory = "?";
    }
    return lib->name && lib->path;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The cache's own order compares runs of digits as numbers, so names that differ in leading zeros are one. */
static bool same_name(const char *a, const char *b)
{
    while (*a) {
        if (is_digit(*a) && is_digit(*b)) {
            for (; *a == '0' && is_digit(a[1]); a++)
                ;
            for (; *b == '0' && is_digit(b[1]); b++)
                ;
            for (; is_digit(*a) && *a == *b; a++, b++)
                ;
            if (is_digit(*a) || is_digit(*b))
                return false;
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return *b == 0;
}

int ldcache_hwcaps_priority(const char *subdirectory, int level)
{
    static const char names[][10] = { "x86-64-v4", "x86-64-v3", "x86-64-v2" };

    for (int i = 0; i < 3; i++)
        if (strcmp(subdirectory, names[i]) == 0)
            return level >= 4 - i ? 1 + i : 0;
    return 0;
}

const char *ldcache_find(const ldcache *c, const char *name, uint32_t flags, const ldcache_cpu *cpu)
{
    const char *best = NULL;
    int best_priority = 0;
    ldcache_lib lib;

    for (uint32_t i = 0; i < c->count; i++) {
        if (!ldcache_entry(c, i, &lib) || !same_name(name, lib.name) || (lib.flags != flags && lib.flags != 1))
            continue;
        if (lib.subdirectory) {
            int priority = ldcache_hwcaps_priority(lib.subdirectory, cpu->level);
            int isa = (int)(lib.hwcap >> 32 & HWCAP_LEVEL_MASK);

            if (priority == 0 || isa >= (cpu->level ? cpu->level : 1) || (best && best_priority <= priority))
                continue;
            best_priority = priority;
        } else if (best || (lib.hwcap & ~cpu->legacy) != 0) {
            continue;
        }
        best = lib.path;
        if (!lib.subdirectory && lib.flags == flags)
            break;
    }
    return best;
}

uint32_t ldcache_flags(unsigned elf_class, unsigned machine)
{
    enum { ELF_LIBC6 = 3, X86_64 = 62, I386 = 3, ARM = 40, AARCH64 = 183, PPC64 = 21 };

    if (elf_class == 2)
        return machine == X86_64 ? 0x300 | ELF_LIBC6 : machine == AARCH64 ? 0xa00 | ELF_LIBC6 : machine == PPC64 ? 0x500 | ELF_LIBC6 : 0;
    return machine == I386 ? ELF_LIBC6 : machine == ARM ? 0x900 | ELF_LIBC6 : machine == X86_64 ? 0x800 | ELF_LIBC6 : 0;
}
