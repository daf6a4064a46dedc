/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Layout of a library: ELF header, three program headers, code, hash table, symbols, strings, text, dynamic section; address = offset.
 * A 32-bit file gets only its header, since a 64-bit loader reads no more of it. */
#include "tiny_elf.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STRINGS_MAX = 8192, DYNAMIC_MAX = 64, LIBRARY_MAX = 65536 };

/* sub $8,%rsp; mov %rdi,%rax; mov %rsi,%rdi; mov $1,%esi; call *%rax; add $8,%rsp; ret */
static const unsigned char code[] = { 0x48, 0x83, 0xec, 8, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xbe,
                                      1,    0,    0,    0, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8,    0xc3 };

typedef struct builder {
    char strings[STRINGS_MAX];
    size_t length;
    Elf64_Dyn dynamic[DYNAMIC_MAX];
    size_t count;
} builder;

static uint64_t add_string(builder *b, const char *text)
{
    size_t n = strlen(text) + 1, at = b->length;

    if (n > sizeof b->strings - at)
        abort();
    memcpy(b->strings + at, text, n);
    b->length += n;
    return at;
}

static void add_entry(builder *b, int64_t tag, uint64_t value)
{
    if (b->count == DYNAMIC_MAX)
        abort();
    b->dynamic[b->count].d_tag = tag;
    b->dynamic[b->count++].d_un.d_val = value;
}

static void add_spec(builder *b, const tiny_elf *e)
{
    b->length = 1;
    for (int i = 0; i < TINY_NEEDED_MAX && e->needed[i]; i++)
        add_entry(b, DT_NEEDED, add_string(b, e->needed[i]));
    if (e->soname)
        add_entry(b, DT_SONAME, add_string(b, e->soname));
    if (e->rpath)
        add_entry(b, DT_RPATH, add_string(b, e->rpath));
    if (e->runpath)
        add_entry(b, DT_RUNPATH, add_string(b, e->runpath));
    if (e->flags_1)
        add_entry(b, DT_FLAGS_1, e->flags_1);
}

static int save(const char *path, const void *data, size_t size, unsigned mode)
{
    FILE *f = fopen(path, "wb");
    int bad = !f;

    if (f) {
        bad = fwrite(data, 1, size, f) != size;
        bad |= fclose(f) != 0;
    }
    return bad || chmod(path, mode) != 0 ? -1 : 0;
}

static int save_header_32(const char *path, const tiny_elf *e)
{
    unsigned char data[256] = { 0 };
    Elf32_Ehdr h = { .e_type = ET_DYN,
                     .e_machine = (Elf32_Half)(e->machine ? e->machine : EM_386),
                     .e_version = 1,
                     .e_ehsize = sizeof h,
                     .e_phentsize = sizeof(Elf32_Phdr),
                     .e_shentsize = sizeof(Elf32_Shdr) };

    memcpy(h.e_ident, "\177ELF\1\1\1", 7);
    memcpy(data, &h, sizeof h);
    return save(path, data, sizeof data, 0755);
}

static size_t align8(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/* Fills symbols, hash and code at their places; returns the offset behind them. */
static size_t put_function(unsigned char *data, builder *b, const char *name)
{
    size_t at = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr), hash, symbols;
    const uint32_t table[] = { 1, 2, 1, 0, 0 }; /* one bucket, two symbols: bucket -> 1, chain ends */
    Elf64_Sym s = { .st_name = (Elf64_Word)add_string(b, name),
                    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                    .st_shndx = 1,
                    .st_value = at,
                    .st_size = sizeof code };

    memcpy(data + at, code, sizeof code);
    hash = align8(at + sizeof code);
    memcpy(data + hash, table, sizeof table);
    symbols = align8(hash + sizeof table);
    memcpy(data + symbols + sizeof s, &s, sizeof s);
    add_entry(b, DT_HASH, hash);
    add_entry(b, DT_SYMTAB, symbols);
    add_entry(b, DT_SYMENT, sizeof s);
    return symbols + 2 * sizeof s;
}

int tiny_elf_write(const char *path, const tiny_elf *e)
{
    unsigned char *data = calloc(1, LIBRARY_MAX + e->padding);
    builder *b = calloc(1, sizeof *b);
    Elf64_Ehdr h = { .e_type = (Elf64_Half)(e->type ? e->type : ET_DYN),
                     .e_machine = (Elf64_Half)(e->machine ? e->machine : EM_X86_64),
                     .e_version = 1,
                     .e_phoff = sizeof h,
                     .e_ehsize = sizeof h,
                     .e_phentsize = sizeof(Elf64_Phdr),
                     .e_phnum = 3,
                     .e_shentsize = sizeof(Elf64_Shdr) };
    size_t at, size, strings;
    int result;

    if (!data || !b)
        abort();
    if (e->bits == 32) {
        free(data);
        free(b);
        return save_header_32(path, e);
    }
    memcpy(h.e_ident, "\177ELF\2\1\1", 7);
    memcpy(data, &h, sizeof h);
    add_spec(b, e);
    strings = put_function(data, b, e->export ? e->export : "call");
    add_entry(b, DT_STRTAB, strings);
    add_entry(b, DT_STRSZ, b->length);
    add_entry(b, DT_NULL, 0);
    memcpy(data + strings, b->strings, b->length);
    at = strings + b->length;
    if (e->text) {
        memcpy(data + at, e->text, strlen(e->text));
        at += strlen(e->text) + 1;
    }
    at = align8(at);
    memcpy(data + at, b->dynamic, b->count * sizeof *b->dynamic);
    size = at + b->count * sizeof *b->dynamic + e->padding;
    Elf64_Phdr ph[3] = {
        { .p_type = PT_LOAD, .p_flags = PF_R | PF_W | PF_X, .p_filesz = size, .p_memsz = size, .p_align = 0x1000 },
        { .p_type = PT_DYNAMIC,
          .p_flags = PF_R | PF_W,
          .p_offset = at,
          .p_vaddr = at,
          .p_paddr = at,
          .p_filesz = b->count * sizeof *b->dynamic,
          .p_memsz = b->count * sizeof *b->dynamic,
          .p_align = 8 },
        { .p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16 },
    };
    memcpy(data + sizeof h, ph, sizeof ph);
    result = save(path, data, size, 0755);
    free(data);
    free(b);
    return result;
}

static unsigned char *read_file(const char *path, size_t *size, size_t room)
{
    FILE *f = fopen(path, "rb");
    unsigned char *data = NULL;
    long n;

    if (f && fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) > 0 && fseek(f, 0, SEEK_SET) == 0
        && (data = calloc(1, (size_t)n + room)) != NULL) {
        *size = (size_t)n;
        if (fread(data, 1, *size, f) != *size) {
            free(data);
            data = NULL;
        }
    }
    if (f)
        fclose(f);
    return data;
}

/* The template's own entries, apart from those that the copy replaces; its needed names move to the new string table. */
static void keep_entries(builder *b, const unsigned char *data, const Elf64_Phdr *dynamic, uint64_t old_strings, bool replaced_flags)
{
    for (size_t i = 0; i < dynamic->p_filesz / sizeof(Elf64_Dyn); i++) {
        Elf64_Dyn d;

        memcpy(&d, data + dynamic->p_offset + i * sizeof d, sizeof d);
        if (d.d_tag == DT_NULL)
            break;
        if (d.d_tag == DT_NEEDED)
            add_entry(b, DT_NEEDED, add_string(b, (const char *)data + old_strings + d.d_un.d_val));
        else if (d.d_tag != DT_STRTAB && d.d_tag != DT_STRSZ && d.d_tag != DT_RPATH && d.d_tag != DT_RUNPATH && d.d_tag != DT_SONAME
                 && !(d.d_tag == DT_FLAGS_1 && replaced_flags))
            add_entry(b, d.d_tag, d.d_un.d_val);
    }
}

static uint64_t old_value(const unsigned char *data, const Elf64_Phdr *dynamic, int64_t tag)
{
    for (size_t i = 0; i < dynamic->p_filesz / sizeof(Elf64_Dyn); i++) {
        Elf64_Dyn d;

        memcpy(&d, data + dynamic->p_offset + i * sizeof d, sizeof d);
        if (d.d_tag == tag)
            return d.d_un.d_val;
    }
    return 0;
}

/* The new strings (the old ones first, since symbols name them) and the new dynamic section come to the end of the file, in a segment of their
 * own, whose header takes the place of a note. */
int tiny_elf_program(const char *template_path, const char *path, const tiny_elf *e, unsigned mode)
{
    size_t size, end = 0, note = 0, dyn = 0;
    unsigned char *data = read_file(template_path, &size, 65536);
    builder *b = calloc(1, sizeof *b);
    Elf64_Ehdr h;
    Elf64_Phdr ph[32];

    if (!data || !b || size < sizeof h)
        return -1;
    memcpy(&h, data, sizeof h);
    memcpy(ph, data + h.e_phoff, h.e_phnum * sizeof *ph);
    for (size_t i = 0; i < h.e_phnum; i++) {
        end = ph[i].p_type == PT_LOAD && ph[i].p_vaddr + ph[i].p_memsz > end ? ph[i].p_vaddr + ph[i].p_memsz : end;
        note = ph[i].p_type == PT_NOTE ? i : note;
        dyn = ph[i].p_type == PT_DYNAMIC ? i : dyn;
    }
    uint64_t old_strings = old_value(data, &ph[dyn], DT_STRTAB),
             old_size = old_value(data, &ph[dyn], DT_STRSZ); /* address = offset there */
    size_t offset = (size + 4095) & ~(size_t)4095, address = (end + 4095) & ~(size_t)4095, total;

    add_spec(b, e);
    keep_entries(b, data, &ph[dyn], old_strings, e->flags_1 != 0);
    for (size_t i = 0; i < b->count; i++)
        if (b->dynamic[i].d_tag == DT_NEEDED || b->dynamic[i].d_tag == DT_RPATH || b->dynamic[i].d_tag == DT_RUNPATH
            || b->dynamic[i].d_tag == DT_SONAME)
            b->dynamic[i].d_un.d_val += old_size;
    add_entry(b, DT_STRTAB, address);
    add_entry(b, DT_STRSZ, old_size + b->length);
    add_entry(b, DT_NULL, 0);
    total = align8(old_size + b->length);
    memcpy(data + offset, data + old_strings, old_size);
    memcpy(data + offset + old_size, b->strings, b->length);
    memcpy(data + offset + total, b->dynamic, b->count * sizeof *b->dynamic);
    ph[dyn].p_offset = offset + total;
    ph[dyn].p_vaddr = ph[dyn].p_paddr = address + total;
    ph[dyn].p_filesz = ph[dyn].p_memsz = b->count * sizeof *b->dynamic;
    total += b->count * sizeof *b->dynamic;
    ph[note] = (Elf64_Phdr){ .p_type = PT_LOAD,
                             .p_flags = PF_R | PF_W,
                             .p_offset = offset,
                             .p_vaddr = address,
                             .p_paddr = address,
                             .p_filesz = total,
                             .p_memsz = total,
                             .p_align = 4096 };
    memcpy(data + h.e_phoff, ph, h.e_phnum * sizeof *ph);
    h.e_shoff = 0;
    h.e_shnum = h.e_shstrndx = 0;
    memcpy(data, &h, sizeof h);
    int result = save(path, data, offset + total, mode);
    free(data);
    free(b);
    return result;
}
