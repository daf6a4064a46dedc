/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * inspect --api: the exported functions of a library against the known list of its ABI. Only our library says which of its functions are
 * real; any other exported function counts as real. */
#include "inspect.h"

#include <stdlib.h>
#include <string.h>

typedef struct function {
    const char *name;
    bool in8, in9;
    const char *part8, *part9;
} function;

static const function functions[] = {
#define DN_FN(name, in8, in9, lib8, lib9, kind) { #name, in8, in9, #lib8, #lib9 },
#include "api/functions.def"
#undef DN_FN
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Names, sorted; the strings belong to the mapped file. */
typedef struct names {
    const char **list;
    size_t count;
} names;

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has(const names *n, const char *name)
{
    return n->count && bsearch(&name, n->list, n->count, sizeof *n->list, by_text) != NULL;
}

/* Interface names are cudnn and a capital letter; internal symbols that also begin with cudnn go on in lower case or with "_". */
static bool is_interface(const char *name)
{
    return strncmp(name, "cudnn", 5) == 0 && name[5] >= 'A' && name[5] <= 'Z';
}

static names elf_names(const elf_file *elf)
{
    names n = { malloc((elf_symbol_count(elf) + 1) * sizeof *n.list), 0 };
    elf_symbol s;
    for (size_t i = 0; n.list && i < elf_symbol_count(elf); i++)
        if (elf_symbol_at(elf, i, &s) == 0 && s.defined && s.is_function && is_interface(s.name))
            n.list[n.count++] = s.name;
    return n;
}

static names pe_names(const pe_file *pe)
{
    names n = { malloc((pe_export_count(pe) + 1) * sizeof *n.list), 0 };
    uint32_t address;
    const char *forward, *name;
    for (size_t i = 0; n.list && i < pe_export_count(pe); i++)
        if ((name = pe_export_at(pe, i, &address, &forward)) != NULL && is_interface(name))
            n.list[n.count++] = name;
    return n;
}

/* Does the function belong to this library (libcudnn has all)? */
static bool belongs(const function *f, const cli_file *file)
{
    bool in = file->abi == 8 ? f->in8 : f->in9;
    return in && (!file->part[0] || strcmp(file->abi == 8 ? f->part8 : f->part9, file->part) == 0);
}

/* 'R' or 'S' of a line "<name> R" in our note, 0 where the name is not in it. */
static int note_kind(const char *note, size_t size, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = note, *end = note + size; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl)
            break;
        if ((size_t)(nl - p) == length + 2 && memcmp(p, name, length) == 0 && p[length] == ' ')
            return p[length + 1];
        p = nl + 1;
    }
    return 0;
}

static void add(cJSON *list, const char *text)
{
    cJSON_AddItemToArray(list, cJSON_CreateString(text));
}

static void compare(const cli_file *file, names *n, const char *note, size_t note_size, cJSON *json)
{
    cJSON *real = cJSON_AddArrayToObject(json, "real"), *not_real = cJSON_AddArrayToObject(json, "not_real");
    cJSON *missing = cJSON_AddArrayToObject(json, "missing"), *extra = cJSON_AddArrayToObject(json, "extra");
    names known = { malloc(FUNCTIONS * sizeof *known.list), 0 };
    if (n->list)
        qsort(n->list, n->count, sizeof *n->list, by_text);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        if (file->abi != 8 && file->abi != 9)
            break;
        if (known.list && (file->abi == 8 ? functions[i].in8 : functions[i].in9))
            known.list[known.count++] = functions[i].name;
        if (!belongs(&functions[i], file))
            continue;
        if (!has(n, functions[i].name))
            add(missing, functions[i].name);
        else
            add(note && note_kind(note, note_size, functions[i].name) == 'S' ? not_real : real, functions[i].name);
    }
    if (known.list)
        qsort(known.list, known.count, sizeof *known.list, by_text);
    for (size_t i = 0; i < n->count; i++)
        if (!has(&known, n->list[i]) && (i == 0 || strcmp(n->list[i], n->list[i - 1]) != 0))
            add(extra, n->list[i]);
    free(known.list);
    free(n->list);
}

/* Our forwarders have no note of their own: they need libcudnn, whose note answers for them. host is NULL within an archive. */
static const char *our_note(const elf_file *elf, const char *host, elf_file *core, size_t *size)
{
    const char *note = (const char *)elf_note(elf, ".anydnn", "anydnn", 1, size), *needed;
    for (size_t i = 0; host && !note && (needed = elf_dynamic_string(elf, ELF_TAG_NEEDED, i)) != NULL; i++) {
        char *path = strncmp(needed, "libcudnn.so.", 12) == 0
                         ? cli_format("%.*s%s", (int)(cli_base_name(host) - host), host, needed) : NULL;
        if (path && elf_open(core, path) == 0)
            note = (const char *)elf_note(core, ".anydnn", "anydnn", 1, size);
        free(path);
    }
    return note;
}

void inspect_api(const char *host, const void *data, size_t data_size, const cli_file *f, cJSON *json)
{
    if (f->kind == FILE_ELF) {
        elf_file elf, core = { 0 };
        size_t size = 0;
        if (host)
            elf_open(&elf, host);
        else
            elf_open_memory(&elf, data, data_size, f->path);
        const char *note = elf.bits ? our_note(&elf, host, &core, &size) : NULL;
        names n = elf_names(&elf);
        compare(f, &n, note, size, json);
        elf_close(&elf);
        elf_close(&core);
    } else if (f->kind == FILE_PE) {
        pe_file pe;
        if (host)
            pe_open(&pe, host);
        else
            pe_open_memory(&pe, data, data_size, f->path);
        names n = pe_names(&pe);
        compare(f, &n, NULL, 0, json);
        pe_close(&pe);
    }
}
