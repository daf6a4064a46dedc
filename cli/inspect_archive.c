/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Gathers entries from an archive. Members of interest are unpacked into memory, one at a time. */
#include "members.h"
#include "facts.h"
#include "inspect.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 5000 };

typedef struct gather {
    cli *c;
    cli_report *r;
    inspect_list *list;
    const char *path;
    size_t unsafe;
} gather;

static bool wanted(void *user, const archive_member *m)
{
    const char *name = cli_base_name(m->name);
    cudnn_name n;
    (void)user;
    return inspect_matters(name) && !(cli_cudnn_name(name, &n) && (n.is_static || n.is_import));
}

static void say_unsafe(gather *g, const archive_member *m)
{
    char *what = cli_format("A member leads out of the archive: %s%s%s", m->name, m->target ? " -> " : "", m->target ? m->target : "");
    if (g->unsafe++ < 10)
        cli_where(cli_finding(g->r, CLI_ERROR, "unsafe-member", what,
                              "Unpacked carelessly, it writes or points outside the target folder. The vendor's archives have no such member.",
                              "do not unpack this file; get it again from the vendor and compare its checksum"), g->path);
    free(what);
}

static void take(void *user, const archive_member *m)
{
    gather *g = user;
    const char *name = cli_base_name(m->name), *inner = m->name;
    cli_file f = { 0 };
    if (m->unsafe)
        say_unsafe(g, m);
    g->list->stopped |= g->list->count >= MAX_ENTRIES;
    if (g->list->stopped || m->unsafe || m->kind == MEMBER_DIR || m->kind == MEMBER_OTHER || !inspect_matters(name))
        return;
    while (inner[0] == '.' && inner[1] == '/')
        inner += 2;
    char *path = cli_format("%s/%s", g->path, inner);
    if (!path)
        return;
    if (m->data) {
        cli_file_inspect_memory(path, m->data, m->data_size, m->data_size, &f);
    } else {
        cudnn_name n;
        f.path = cli_format("%s", path);
        f.size = m->size;
        f.kind = m->kind == MEMBER_FILE && cli_cudnn_name(name, &n) && (n.is_static || n.is_import) ? FILE_STATIC : FILE_OTHER;
        f.links_to = m->target ? cli_format("%s", m->target) : NULL;
        if (f.kind == FILE_STATIC) {
            f.is_cudnn = true;
            f.abi = n.count ? n.numbers[0] : 0;
            memcpy(f.part, n.part, sizeof f.part);
        }
    }
    free(path);
    inspect_entry *e = f.path ? inspect_add(g->list, &f, true) : NULL;
    if (!e)
        return;
    e->from_archive = true;
    if (g->list->api && m->data && inspect_is_library(e) && (e->api = cJSON_CreateObject()) != NULL)
        inspect_api(NULL, m->data, m->data_size, &e->file, e->api);
}

/* dir/text with "." and ".." taken out. */
static char *resolve(const char *dir, const char *text)
{
    char *path = cli_format("%s/%s", dir, text), *out = path, *p = path;
    while (p && *p) {
        size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.') {
            while (out > path && *--out != '/')
                ;
        } else if (n > 0 && !(n == 1 && p[0] == '.')) {
            if (out > path || path[0] == '/')
                *out++ = '/';
            memmove(out, p, n);
            out += n;
        }
        p += n;
        while (*p == '/')
            p++;
    }
    if (path)
        *out = 0;
    return path;
}

static inspect_entry *by_path(const inspect_list *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].file.path, path) == 0)
            return &list->entries[i];
    return NULL;
}

/* What a link in the archive stands for: the facts of the file at its end are copied. */
static void follow(const inspect_list *list, inspect_entry *e, const char *archive)
{
    inspect_entry *at = e;
    for (int i = 0; i < 20 && at && at->file.links_to; i++) {
        char *path = resolve(at->dir, at->file.links_to), *hard = cli_format("%s/%s", archive, at->file.links_to);
        inspect_entry *next = path ? by_path(list, path) : NULL;
        at = next ? next : hard ? by_path(list, hard) : NULL;
        free(path);
        free(hard);
    }
    if (!at || at->file.links_to) {
        e->file.kind = FILE_MISSING;
        e->chain = cli_format("%s -> %s (missing)", e->file.path, e->file.links_to);
        return;
    }
    const cli_file *t = &at->file;
    cli_file *f = &e->file;
    f->kind = t->kind;
    f->arch = t->arch;
    f->bits = t->bits;
    f->is_cudnn = t->is_cudnn;
    f->is_ours = t->is_ours;
    memcpy(f->part, t->part, sizeof f->part);
    f->version = t->version;
    f->version_how = t->version_how;
    f->abi = t->abi;
    f->cuda = t->cuda;
    f->cuda_how = t->cuda_how;
    f->size = t->size;
    f->soname = t->soname ? cli_format("%s", t->soname) : NULL;
}

/* libcudnn itself has no number: the library beside it answers. */
static void ask_neighbours(const inspect_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        inspect_entry *e = &list->entries[i];
        char name[64];
        if (!inspect_is_library(e) || e->file.part[0] || e->file.version || e->file.abi < 8)
            continue;
        cli_library_name(e->file.abi == 8 ? "ops_infer" : "graph", e->file.abi, e->file.kind == FILE_PE, name, sizeof name);
        const inspect_entry *other = inspect_find(list, e->dir, name);
        if (other && other->file.version) {
            e->file.version = other->file.version;
            e->file.version_how = HOW_NEIGHBOUR;
        }
        if (other && !e->file.cuda) {
            e->file.cuda = other->file.cuda;
            e->file.cuda_how = "neighbour";
        }
    }
}

/* A published archive has a known size. */
static void check_published(gather *g, uint64_t size)
{
    const facts_table *t = cli_facts_table(g->c, "cudnn_archives");
    for (size_t i = 0; t && i < t->rows; i++) {
        unsigned long long published = strtoull(cli_facts_cell(t, i, "bytes"), NULL, 10);
        if (strcmp(cli_facts_cell(t, i, "file"), cli_base_name(g->path)) != 0 || !published || published == size)
            continue;
        char *what = cli_format("The archive has %llu bytes; the published one of this name has %llu", (unsigned long long)size, published);
        char *fix = cli_format("download it again; its SHA-256 is %s", cli_facts_cell(t, i, "sha256"));
        cli_where(cli_finding(g->r, CLI_ERROR, "archive-size", what, "It is cut off or is another file under this name.", fix), g->path);
        free(what);
        free(fix);
    }
}

int inspect_gather_archive(cli *c, cli_report *r, const char *host, const char *path, inspect_list *list)
{
    static const archive_limits limits = { 100000, (uint64_t)3 << 29, (uint64_t)12 << 30 };
    gather g = { .c = c, .r = r, .list = list, .path = path };
    archive_reader reader = { wanted, take, &g };
    char error[300] = "";
    cli_file self;
    cli_file_inspect(host, &self);
    check_published(&g, self.size);
    cli_file_free(&self);
    archive_status status = archive_read(host, NULL, 0, &limits, &reader, error, sizeof error);
    list->walked = status == ARCHIVE_GOOD;
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].file.links_to)
            follow(list, &list->entries[i], path);
    ask_neighbours(list);
    if (status == ARCHIVE_GOOD)
        return 0;
    char *what = cli_format(status == ARCHIVE_LIMIT ? "The archive was not read to its end: %s" : "The archive is cut off or damaged: %s", error);
    cli_where(cli_finding(r, status == ARCHIVE_LIMIT ? CLI_WARNING : CLI_ERROR, status == ARCHIVE_LIMIT ? "too-many-files" : "truncated-archive", what,
                          "What lies behind that place is not known.", "download it again and compare its checksum (anydnn facts cudnn_archives)"), path);
    free(what);
    return 0;
}
