/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Test program: writes a tiny DLL with chosen properties; nothing in it can run.
 *
 *   mkpe OUT [name=S] [version=N] [machine=x86-64|aarch64|x86] [import=S]... [export=S]... [resource=A.B.C.D] [cut=BYTES]
 *
 * name is the one in the export directory; version makes cudnnGetVersion return N. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 15, MAX_LIST = 64, RAW = 0x200, RVA = 0x1000 };

/* The section; addresses in it are RVA + offset. */
static unsigned char data[ROOM];
static size_t used;

static void put(unsigned char *p, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (unsigned char)(value >> 8 * i);
}

static uint32_t reserve(size_t bytes)
{
    used = (used + 7) & ~(size_t)7;
    uint32_t at = (uint32_t)used;
    used += bytes;
    return at;
}

static uint32_t text(const char *s)
{
    uint32_t at = reserve(strlen(s) + 1);
    memcpy(data + at, s, strlen(s) + 1);
    return RVA + at;
}

typedef struct options {
    const char *name, *machine, *resource;
    const char *imports[MAX_LIST], *exports[MAX_LIST];
    int import_count, export_count;
    uint32_t version;
    size_t cut;
} options;

static uint32_t function(const options *o)
{
    uint32_t at = reserve(16);
    if (strcmp(o->machine, "aarch64") == 0) {
        put(data + at, 0x52800000 | (o->version & 0xffff) << 5, 4);
        put(data + at + 4, 0x72a00000 | (o->version >> 16) << 5, 4);
        put(data + at + 8, 0xd65f03c0, 4);
    } else {
        data[at] = 0xb8;
        put(data + at + 1, o->version, 4);
        data[at + 5] = 0xc3;
    }
    return RVA + at;
}

static void exports(options *o, uint32_t directory[2])
{
    if (o->version)
        o->exports[o->export_count++] = "cudnnGetVersion";
    uint32_t n = (uint32_t)o->export_count, table = reserve(40), functions = reserve(4 * n), names = reserve(4 * n), ordinals = reserve(2 * n);
    put(data + table + 12, text(o->name), 4);
    put(data + table + 16, 1, 4);
    put(data + table + 20, n, 4);
    put(data + table + 24, n, 4);
    put(data + table + 28, RVA + functions, 4);
    put(data + table + 32, RVA + names, 4);
    put(data + table + 36, RVA + ordinals, 4);
    for (uint32_t i = 0; i < n; i++) {
        put(data + functions + 4 * i, function(o), 4);
        put(data + names + 4 * i, text(o->exports[i]), 4);
        put(data + ordinals + 2 * i, i, 2);
    }
    directory[0] = RVA + table;
    directory[1] = 40;
}

static void imports(const options *o, uint32_t directory[2])
{
    uint32_t table = reserve(20 * ((size_t)o->import_count + 1));
    for (int i = 0; i < o->import_count; i++)
        put(data + table + 20 * i + 12, text(o->imports[i]), 4);
    directory[0] = RVA + table;
    directory[1] = 20 * ((uint32_t)o->import_count + 1);
}

/* Three tables of one entry each (type 16, name 1, language 0), the data entry, then the block with VS_FIXEDFILEINFO. */
static void resource(const options *o, uint32_t directory[2])
{
    unsigned v[4] = { 0, 0, 0, 0 };
    sscanf(o->resource, "%u.%u.%u.%u", &v[0], &v[1], &v[2], &v[3]);
    uint32_t base = reserve(256);
    static const uint32_t ids[3] = { 16, 1, 0 };
    for (uint32_t i = 0; i < 3; i++) {
        put(data + base + 24 * i + 14, 1, 2);
        put(data + base + 24 * i + 16, ids[i], 4);
        put(data + base + 24 * i + 20, i < 2 ? (uint32_t)1 << 31 | 24 * (i + 1) : 72, 4);
    }
    put(data + base + 72, RVA + base + 96, 4);
    put(data + base + 76, 96, 4);
    put(data + base + 96 + 40, 0xfeef04bd, 4);
    put(data + base + 96 + 48, v[0] << 16 | v[1], 4);
    put(data + base + 96 + 52, v[2] << 16 | v[3], 4);
    directory[0] = RVA + base;
    directory[1] = 256;
}

static int parse(char *word, options *o)
{
    char *v = strchr(word, '=');
    if (!v)
        return 0;
    *v++ = 0;
    if (strcmp(word, "name") == 0)
        o->name = v;
    else if (strcmp(word, "machine") == 0)
        o->machine = v;
    else if (strcmp(word, "resource") == 0)
        o->resource = v;
    else if (strcmp(word, "version") == 0)
        o->version = (uint32_t)strtoul(v, NULL, 10);
    else if (strcmp(word, "cut") == 0)
        o->cut = strtoul(v, NULL, 10);
    else if (strcmp(word, "import") == 0 && o->import_count < MAX_LIST)
        o->imports[o->import_count++] = v;
    else if (strcmp(word, "export") == 0 && o->export_count < MAX_LIST - 1)
        o->exports[o->export_count++] = v;
    else
        return 0;
    return 1;
}

static void headers(const options *o, unsigned char *head, uint32_t directories[3][2])
{
    int wide = strcmp(o->machine, "x86") != 0;
    unsigned char *p = head + 0x40, *q = p + 24, *s = q + (wide ? 240 : 224);
    memcpy(head, "MZ", 2);
    put(head + 60, 0x40, 4);
    memcpy(p, "PE\0\0", 4);
    put(p + 4, strcmp(o->machine, "aarch64") == 0 ? 0xaa64 : wide ? 0x8664 : 0x14c, 2);
    put(p + 6, 1, 2);
    put(p + 20, wide ? 240 : 224, 2);
    put(p + 22, 0x2022, 2);
    put(q, wide ? 0x20b : 0x10b, 2);
    put(q + (wide ? 108 : 92), 16, 4);
    for (int i = 0; i < 3; i++) {
        put(q + (wide ? 112 : 96) + 8 * i, directories[i][0], 4);
        put(q + (wide ? 112 : 96) + 8 * i + 4, directories[i][1], 4);
    }
    memcpy(s, ".rdata", 6);
    put(s + 8, used, 4);
    put(s + 12, RVA, 4);
    put(s + 16, used, 4);
    put(s + 20, RAW, 4);
    put(s + 36, 0x60000040, 4);
}

int main(int argc, char **argv)
{
    options o = { .name = "cudnn64_8.dll", .machine = "x86-64" };
    static unsigned char all[RAW + ROOM];
    uint32_t directories[3][2] = { { 0, 0 } };
    for (int i = 2; i < argc; i++)
        if (!parse(argv[i], &o)) {
            fprintf(stderr, "mkpe: %s?\n", argv[i]);
            return 2;
        }
    if (argc < 2)
        return 2;
    exports(&o, directories[0]);
    if (o.import_count)
        imports(&o, directories[1]);
    if (o.resource)
        resource(&o, directories[2]);
    headers(&o, all, directories);
    memcpy(all + RAW, data, used);
    size_t keep = o.cut && o.cut < RAW + used ? o.cut : RAW + used;
    FILE *f = fopen(argv[1], "wb");
    if (!f || fwrite(all, 1, keep, f) != keep)
        return 1;
    return fclose(f) == 0 ? 0 : 1;
}
