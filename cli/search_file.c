/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the loader thinks of one file: takes it, passes it by (another machine's), or gives up (no ELF file). */
#include "search.h"
#include "cli.h"
#include "elf.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 64, TYPE_EXEC = 2, TYPE_DYN = 3, SEGMENT_LOAD = 1, SEGMENT_DYNAMIC = 2, SEGMENT_INTERP = 3, MAX_LINKS = 40 };
#define FLAG_PIE UINT64_C(0x08000000)

static unsigned u16(const unsigned char *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

/* A link without end: the loader's open() then fails with another error than "not there". */
static bool runs_in_circle(const char *root, const char *path)
{
    char *at = strdup(path);
    int links = 0;

    while (at && links <= MAX_LINKS && tree_look(root, at, false).kind == TREE_LINK) {
        char *text = tree_link(root, at), *slash = strrchr(at, '/'), *next;

        if (slash)
            slash[1] = 0;
        next = !text ? NULL : *text == '/' ? strdup(text) : tree_join(at, text);
        free(text);
        free(at);
        at = next;
        links++;
    }
    free(at);
    return links > MAX_LINKS;
}

static ld_verdict verdict(ld_verdict v, char **why, char *text)
{
    free(*why);
    *why = text;
    return v;
}

/* The first bytes, in the order in which the loader looks at them. */
static ld_verdict judge_header(const ld_process *p, const unsigned char *h, size_t size, char **why)
{
    static const unsigned char none[8];

    if (size < (p->elf_class == 2 ? 64 : 52))
        return verdict(LD_STOPS, why, strdup("the file is too short for an ELF header"));
    if (memcmp(h, "\177ELF", 4) != 0)
        return verdict(LD_STOPS, why, strdup("is no ELF file (invalid ELF header)"));
    if (h[4] != p->elf_class)
        return verdict(LD_SKIPS, why, cli_format("is a %d-bit file, the program has %d bits", h[4] == 2 ? 64 : 32, p->elf_class == 2 ? 64 : 32));
    if (h[5] != 1)
        return verdict(LD_STOPS, why, strdup("has the other byte order"));
    if (h[6] != 1 || (h[7] != 0 && h[7] != 3) || h[8] != 0 || memcmp(h + 9, none, 7) != 0)
        return verdict(LD_STOPS, why, strdup("has an ELF header with unknown version, system or padding"));
    if (u16(h + 20) != 1 || u16(h + 22) != 0)
        return verdict(LD_STOPS, why, strdup("has an ELF header of another version"));
    if (u16(h + 18) != p->elf_machine) {
        const char *has = elf_machine_name((int)u16(h + 18)), *wants = elf_machine_name((int)p->elf_machine);

        return verdict(LD_SKIPS, why, cli_format("is for %s, the program for %s", has ? has : "another machine", wants ? wants : "this one"));
    }
    if (u16(h + 16) != TYPE_DYN && u16(h + 16) != TYPE_EXEC)
        return verdict(LD_STOPS, why, strdup("is an ELF file, but no program and no shared library"));
    if (u16(h + (p->elf_class == 2 ? 54 : 42)) != (p->elf_class == 2 ? 56 : 32))
        return verdict(LD_STOPS, why, strdup("has program headers of an unexpected size"));
    return LD_TAKES;
}

ld_verdict ld_file_judge(const ld_process *p, const char *path, char **why)
{
    char *absolute = ld_absolute(p, path), *host = absolute ? tree_host(p->set.root, absolute) : NULL;
    unsigned char header[HEADER];
    ld_verdict v = LD_NOT_THERE;
    ssize_t n;
    int fd;

    *why = NULL;
    if (!host) {
        if (absolute && tree_look(p->set.root, absolute, false).kind == TREE_LINK) {
            bool circle = runs_in_circle(p->set.root, absolute);

            v = verdict(circle ? LD_ENDS_LIST : LD_NOT_THERE, why, strdup(circle ? "is a link that leads in a circle" : "is a link to nothing"));
        } else {
            v = verdict(LD_NOT_THERE, why, strdup("is not there"));
        }
    } else if (tree_look(p->set.root, absolute, true).kind == TREE_OTHER) {
        v = verdict(LD_STOPS, why, strdup("is a device, pipe or socket"));
    } else if ((fd = open(host, O_RDONLY | O_CLOEXEC)) < 0) {
        v = verdict(errno == EACCES || errno == ENOENT ? LD_NOT_THERE : LD_ENDS_LIST, why, cli_format("cannot be opened: %s", strerror(errno)));
    } else {
        n = read(fd, header, sizeof header);
        v = n < 0 ? verdict(LD_STOPS, why, cli_format("cannot be read: %s", strerror(errno))) : judge_header(p, header, (size_t)n, why);
        close(fd);
    }
    free(absolute);
    free(host);
    return v;
}

static char *copy_of(const char *text)
{
    return text ? strdup(text) : NULL;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return !slash ? strdup("/") : slash == path ? strdup("/") : cli_format("%.*s", (int)(slash - path), path);
}

static const char *load_fault(const elf_file *f, bool program)
{
    bool load = false, dynamic = false;

    for (size_t i = 0; i < f->segment_count; i++) {
        load = load || f->segments[i].type == SEGMENT_LOAD;
        dynamic = dynamic || f->segments[i].type == SEGMENT_DYNAMIC;
    }
    if (program)
        return NULL;
    if (!load)
        return "object file has no loadable segments";
    if (f->type == TYPE_EXEC)
        return "cannot dynamically load executable";
    if (!dynamic)
        return "object file has no dynamic section";
    if (elf_dynamic_value(f, ELF_TAG_FLAGS_1, NULL) & FLAG_PIE)
        return "cannot dynamically load position-independent executable";
    return NULL;
}

ld_object *ld_object_read(const ld_process *p, const char *path, const char **error)
{
    char *absolute = ld_absolute(p, path), *host = absolute ? tree_host(p->set.root, absolute) : NULL;
    bool program = p->object_count == 0;
    ld_object *o = calloc(1, sizeof *o);
    const char *name;
    tree_stat look;
    elf_file f;

    memset(&f, 0, sizeof f);
    *error = host && o ? NULL : "cannot be read";
    if (!*error && elf_open(&f, host) != 0 && f.status != ELF_TRUNCATED && f.status != ELF_DAMAGED)
        *error = "cannot be read as an ELF file";
    if (!*error)
        *error = load_fault(&f, program);
    if (!*error) {
        o->path = strdup(path);
        o->real = tree_real(p->set.root, absolute);
        o->soname = copy_of(elf_dynamic_string(&f, ELF_TAG_SONAME, 0));
        o->runpath = copy_of(elf_dynamic_string(&f, ELF_TAG_RUNPATH, 0));
        o->rpath = o->runpath ? NULL : copy_of(elf_dynamic_string(&f, ELF_TAG_RPATH, 0)); /* RUNPATH makes RPATH void */
        for (size_t i = 0; (name = elf_dynamic_string(&f, ELF_TAG_NEEDED, i)) != NULL; i++)
            ld_strings_add(&o->needed, name);
        o->flags_1 = elf_dynamic_value(&f, ELF_TAG_FLAGS_1, NULL);
        o->is_program = program;
        /* The kernel tells a program its real path; a library's is the one by which it was found. */
        o->origin = folder_of(program && o->real ? o->real : absolute);
        look = tree_look(p->set.root, absolute, true);
        o->device = look.device;
        o->inode = look.inode;
    }
    elf_close(&f);
    free(absolute);
    free(host);
    if (*error) {
        ld_object_free(o);
        return NULL;
    }
    return o;
}

void ld_object_free(ld_object *o)
{
    if (!o)
        return;
    free(o->path);
    free(o->real);
    free(o->soname);
    free(o->rpath);
    free(o->runpath);
    free(o->origin);
    ld_strings_free(&o->needed);
    ld_strings_free(&o->names);
    free(o);
}

int ld_program_kind(const char *root, const char *path, unsigned *elf_class, unsigned *elf_machine, char **interpreter)
{
    char *host = tree_host(root, path);
    elf_file f;

    *interpreter = NULL;
    if (!host)
        return -1;
    memset(&f, 0, sizeof f);
    int result = elf_open(&f, host) == 0 || f.status == ELF_TRUNCATED || f.status == ELF_DAMAGED ? 0 : -1;
    *elf_class = f.bits == 32 ? 1 : 2;
    *elf_machine = (unsigned)f.machine;
    for (size_t i = 0; result == 0 && i < f.segment_count; i++) {
        elf_segment s = f.segments[i];

        if (s.type == SEGMENT_INTERP && s.size > 1 && s.size < 4096 && s.offset < f.size && s.size <= f.size - s.offset
            && f.data[s.offset + s.size - 1] == 0)
            *interpreter = strdup((const char *)f.data + s.offset);
    }
    elf_close(&f);
    free(host);
    return result;
}
