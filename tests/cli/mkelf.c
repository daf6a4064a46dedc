/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Test program: writes a tiny ELF shared object with chosen properties; nothing in it can run.
 *
 *   mkelf OUT [soname=S] [version=N] [machine=x86-64|aarch64|x86] [needed=S]... [rpath=S] [runpath=S] [text=S]... [export=S]...
 *             [pad=BYTES] [cut=BYTES]
 *
 * version makes cudnnGetVersion return N; text puts a string into the read-only data; cut leaves only the first bytes of the file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16, MAX_LIST = 64 };

static unsigned char file[ROOM];
static size_t used;
static int width = 8;

typedef struct list {
    const char *items[MAX_LIST];
    int count;
} list;

static void put(size_t at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        file[at + (size_t)i] = (unsigned char)(value >> 8 * i);
}

static size_t append(uint64_t value, int bytes)
{
    size_t at = used;
    put(at, value, bytes);
    used += (size_t)bytes;
    return at;
}

static void align(void)
{
    used = (used + 7) & ~(size_t)7;
}

static char strings[8192] = "";
static size_t strings_used = 1;

static size_t string(const char *text)
{
    size_t at = strings_used;
    memcpy(strings + at, text, strlen(text) + 1);
    strings_used += strlen(text) + 1;
    return at;
}

static void symbol(size_t name, uint64_t value, uint64_t size)
{
    append(name, 4);
    if (width == 8) {
        append(0x12, 1); /* a global function */
        append(0, 1);
        append(1, 2);
        append(value, 8);
        append(size, 8);
    } else {
        append(value, 4);
        append(size, 4);
        append(0x12, 1);
        append(0, 1);
        append(1, 2);
    }
}

static void segment(uint32_t type, uint32_t flags, uint64_t offset, uint64_t size)
{
    append(type, 4);
    if (width == 8)
        append(flags, 4);
    append(offset, width);
    append(offset, width);
    append(offset, width);
    append(size, width);
    append(size, width);
    if (width == 4)
        append(flags, 4);
    append(8, width);
}

static void dynamic(uint64_t tag, uint64_t value)
{
    append(tag, width);
    append(value, width);
}

static size_t code(const char *machine, uint32_t version)
{
    align();
    size_t at = used;
    if (strcmp(machine, "aarch64") == 0) {
        append(0x52800000 | (version & 0xffff) << 5, 4);
        if (version >> 16)
            append(0x72a00000 | (version >> 16) << 5, 4);
        append(0xd65f03c0, 4);
    } else {
        append(0xb8, 1);
        append(version, 4);
        append(0xc3, 1);
    }
    return at;
}

static void header(const char *machine)
{
    memcpy(file, "\177ELF", 4);
    file[4] = width == 8 ? 2 : 1;
    file[5] = file[6] = 1;
    put(16, 3, 2);
    put(18, strcmp(machine, "aarch64") == 0 ? 183 : strcmp(machine, "x86") == 0 ? 3 : 62, 2);
    put(20, 1, 4);
    put(width == 8 ? 32 : 28, width == 8 ? 64 : 52, width);
    put(width == 8 ? 52 : 40, width == 8 ? 64 : 52, 2);
    put(width == 8 ? 54 : 42, width == 8 ? 56 : 32, 2);
    put(width == 8 ? 56 : 44, 2, 2);
    used = width == 8 ? 64 : 52;
}

typedef struct options {
    const char *out, *soname, *machine, *rpath, *runpath;
    uint32_t version;
    size_t pad, cut;
    list needed, texts, exports;
} options;

static const char *value_of(const char *word, const char *name)
{
    size_t n = strlen(name);
    return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

static int add(list *l, const char *text)
{
    if (!text || l->count == MAX_LIST)
        return 0;
    l->items[l->count++] = text;
    return 1;
}

static int parse(const char *word, options *o)
{
    const char *v;
    if ((v = value_of(word, "soname")) != NULL)
        o->soname = v;
    else if ((v = value_of(word, "machine")) != NULL)
        o->machine = v;
    else if ((v = value_of(word, "rpath")) != NULL)
        o->rpath = v;
    else if ((v = value_of(word, "runpath")) != NULL)
        o->runpath = v;
    else if ((v = value_of(word, "version")) != NULL)
        o->version = (uint32_t)strtoul(v, NULL, 10);
    else if ((v = value_of(word, "pad")) != NULL)
        o->pad = strtoul(v, NULL, 10);
    else if ((v = value_of(word, "cut")) != NULL)
        o->cut = strtoul(v, NULL, 10);
    else
        return add(&o->needed, value_of(word, "needed")) || add(&o->texts, value_of(word, "text")) ||
               add(&o->exports, value_of(word, "export"));
    return 1;
}

/* Symbols, hash table (only its count matters), strings, texts; answers where the dynamic section must point. */
static void body(const options *o, size_t where[4])
{
    size_t names[MAX_LIST + 1];
    int count = 0;
    for (int i = 0; i < o->exports.count; i++)
        names[count++] = string(o->exports.items[i]);
    if (o->version)
        names[count++] = string("cudnnGetVersion");
    size_t function = code(o->machine, o->version), size = used - function;
    for (int i = 0; i < o->texts.count; i++) {
        memcpy(file + used, o->texts.items[i], strlen(o->texts.items[i]) + 1);
        used += strlen(o->texts.items[i]) + 1;
    }
    align();
    where[0] = used;
    used += width == 8 ? 24 : 16;
    for (int i = 0; i < count; i++)
        symbol(names[i], function, size);
    where[1] = append(1, 4);
    append((uint64_t)count + 1, 4);
    used += 4 * ((size_t)count + 2);
    where[2] = used;
    where[3] = 0;
}

int main(int argc, char **argv)
{
    options o = { .machine = "x86-64" };
    size_t where[4], needed[MAX_LIST];
    for (int i = 2; i < argc; i++)
        if (!parse(argv[i], &o)) {
            fprintf(stderr, "mkelf: %s?\n", argv[i]);
            return 2;
        }
    if (argc < 2)
        return 2;
    width = strcmp(o.machine, "x86") == 0 ? 4 : 8;
    header(o.machine);
    size_t table = used;
    used += 2 * (width == 8 ? 56u : 32u);
    body(&o, where);
    for (int i = 0; i < o.needed.count; i++)
        needed[i] = string(o.needed.items[i]);
    size_t soname = o.soname ? string(o.soname) : 0, rpath = o.rpath ? string(o.rpath) : 0, runpath = o.runpath ? string(o.runpath) : 0;
    memcpy(file + used, strings, strings_used);
    used += strings_used;
    align();
    size_t start = used;
    for (int i = 0; i < o.needed.count; i++)
        dynamic(1, needed[i]);
    if (soname)
        dynamic(14, soname);
    if (rpath)
        dynamic(15, rpath);
    if (runpath)
        dynamic(29, runpath);
    dynamic(4, where[1]);
    dynamic(5, where[2]);
    dynamic(6, where[0]);
    dynamic(10, strings_used);
    dynamic(0, 0);
    size_t end = used;
    used = table;
    segment(1, 5, 0, end + o.pad);
    segment(2, 4, start, end - start);
    FILE *f = fopen(argv[1], "wb");
    size_t keep = o.cut && o.cut < end ? o.cut : end;
    if (!f || fwrite(file, 1, keep, f) != keep)
        return 1;
    for (size_t i = end; i < end + o.pad && (!o.cut || i < o.cut); i++)
        putc(0, f);
    return fclose(f) == 0 ? 0 : 1;
}
