/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The file version in a PE file's resources: type 16, first name, first language, then VS_FIXEDFILEINFO behind its signature. */
#include "pe.h"

#include <string.h>

enum { RESOURCES = 2, TYPE_VERSION = 16 };

static uint32_t get(const unsigned char *p, int bytes)
{
    uint32_t v = 0;
    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

/* Offset, from the start of the resources, of the entry with this id (-1: the first one) in the table at `table`; 0 where there is none. */
static uint32_t entry(const pe_file *file, uint32_t table, int id)
{
    uint32_t base = file->directories[RESOURCES][0];
    const unsigned char *p = table > UINT32_MAX - base - 16 ? NULL : pe_bytes_at(file, base + table, 16);
    if (!p)
        return 0;
    uint32_t count = get(p + 12, 2) + get(p + 14, 2);
    for (uint32_t i = 0; i < count; i++) {
        p = pe_bytes_at(file, base + table + 16 + i * 8, 8);
        if (!p)
            return 0;
        if (id < 0 || get(p, 4) == (uint32_t)id)
            return get(p + 4, 4);
    }
    return 0;
}

int pe_version(const pe_file *file, int version[4])
{
    static const unsigned char signature[4] = { 0xbd, 0x04, 0xef, 0xfe };
    const uint32_t subtable = (uint32_t)1 << 31;
    uint32_t base = file->directories[RESOURCES][0], at;
    if (!base || !((at = entry(file, 0, TYPE_VERSION)) & subtable))
        return -1;
    at = entry(file, at & ~subtable, -1);
    if (!(at & subtable))
        return -1;
    at = entry(file, at & ~subtable, -1);
    if (!at || at & subtable)
        return -1;
    const unsigned char *p = at > UINT32_MAX - base - 16 ? NULL : pe_bytes_at(file, base + at, 16);
    if (!p)
        return -1;
    uint32_t address = get(p, 4), size = get(p + 4, 4);
    size = size < 1024 ? size : 1024;
    p = pe_bytes_at(file, address, size);
    for (uint32_t i = 0; p && i + 16 <= size; i += 4)
        if (memcmp(p + i, signature, 4) == 0) {
            version[0] = (int)get(p + i + 10, 2);
            version[1] = (int)get(p + i + 8, 2);
            version[2] = (int)get(p + i + 14, 2);
            version[3] = (int)get(p + i + 12, 2);
            return 0;
        }
    return -1;
}
