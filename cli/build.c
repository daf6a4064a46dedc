/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "build.h"
#include "cells.h"
#include "facts.h"
#include "fs.h"
#include "tree.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(build *b, const char *path, const char *why)
{
    snprintf(b->error, sizeof b->error, "%.300s: %.350s", path, why);
    return -1;
}

void build_look(build *b)
{
    for (size_t i = 0; i < b->m->count; i++) {
        const manifest_entry *e = &b->m->entries[i];
        char *path = e->kind == MANIFEST_FILE && inspect_matters(cli_base_name(e->path)) ? tree_join(b->host, e->path) : NULL;
        cli_file f;
        if (!path)
            continue;
        cli_file_inspect(path, &f);
        inspect_add(&b->list, &f, true);
        free(path);
    }
}

/* A library of cuDNN that programs load, or what should be one by its name. */
static bool is_library(const cli_file *f)
{
    cudnn_name n;
    return !f->links_to && cli_cudnn_name(cli_base_name(f->path), &n) && !n.is_static && !n.is_import;
}

static const char *why_bad(const cli_file *f)
{
    if (f->truncated)
        return "is cut off: the file ends before its last section";
    if (f->kind == FILE_HTML)
        return "is a web page";
    if (f->kind == FILE_LFS)
        return "is a pointer of Git LFS, not the file";
    if (f->kind != FILE_ELF && f->kind != FILE_PE)
        return f->problem[0] ? f->problem : "is no library";
    return f->damaged || !f->arch ? "is damaged" : f->bits == 32 ? "is a 32-bit library" : NULL;
}

typedef struct identity {
    int version, abi, cuda, header;
    const char *arch;
    file_kind kind;
    bool ours;
} identity;

static int gather(build *b, identity *id)
{
    for (size_t i = 0; i < b->list.count; i++) {
        const cli_file *f = &b->list.entries[i].file;
        const char *name = b->list.entries[i].name, *why;
        if (f->kind == FILE_HEADER && f->version && (strncmp(name, "cudnn_version", 13) == 0 || strcmp(name, "cudnn.h") == 0))
            id->header = f->version;
        if (!is_library(f))
            continue;
        if ((why = why_bad(f)) != NULL)
            return refuse(b, name, why);
        if (id->arch && strcmp(id->arch, f->arch) != 0)
            return refuse(b, name, "is for another processor than the library before it");
        if (id->version && f->version && f->version_how > HOW_NAME && id->version != f->version)
            return refuse(b, name, "is of another version than the library before it");
        id->arch = f->arch;
        id->kind = f->kind;
        if (f->version && (f->version_how > HOW_NAME || !id->version))
            id->version = f->version;
        id->abi = f->abi ? f->abi : id->abi;
        id->cuda = f->cuda ? f->cuda : id->cuda;
        id->ours |= f->is_ours;
    }
    if (!id->version)
        id->version = id->header;
    if (!id->abi && id->version)
        id->abi = cli_version_major(id->version);
    if (!id->arch)
        return refuse(b, "the archive", "has no library of cuDNN in it");
    if (!id->version || id->abi < 8 || id->abi > 9)
        return refuse(b, "the archive", "no library in it tells a version of cuDNN 8 or 9");
    return 0;
}

/* Processor of the tree's shell; "" in a tree without one. */
static void machine_arch(const cli *c, char *out, size_t size)
{
    char *host = tree_host(c->root, "/bin/sh");
    cli_file shell;
    *out = 0;
    if (host && cli_file_inspect(host, &shell) == 0)
        snprintf(out, size, "%s", shell.kind == FILE_ELF && shell.arch ? shell.arch : "");
    if (host)
        cli_file_free(&shell);
    free(host);
}

static int judge_machine(build *b, const identity *id)
{
    char machine[32], *why = NULL;
    if (b->any_machine)
        return 0;
    machine_arch(b->c, machine, sizeof machine);
    if (id->kind == FILE_PE && *machine)
        why = cli_format("is for Windows; this machine is none (--any-machine installs it all the same)");
    else if (*machine && strcmp(machine, id->arch) != 0)
        why = cli_format("is for %s; this machine is %s (--any-machine installs it all the same)", id->arch, machine);
    int code = why ? refuse(b, "the archive", why) : 0;
    free(why);
    return code;
}

/* "8.9.7.29" at text, if its first three numbers are those of the version. */
static bool long_version(const char *text, const char *three, char *out, size_t size)
{
    size_t n = strlen(three);
    for (const char *p = strstr(text, three); p; p = strstr(p + 1, three)) {
        size_t digits = p[n] == '.' ? strspn(p + n + 1, "0123456789") : 0;
        if (digits > 0 && digits < 6 && (p == text || !isdigit((unsigned char)p[-1]))) {
            snprintf(out, size, "%.*s", (int)(n + 1 + digits), p);
            return true;
        }
    }
    return false;
}

/* CUDA major that the name of an archive or a wheel carries: "_cuda12-archive", "-cuda-11.4-", "_cu12"; 0 where it does not. */
static int cuda_of(const char *name)
{
    static const char *const marks[] = { "_cuda", "-cuda-", "_cu", "-cu" };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        for (const char *p = strstr(name, marks[i]); p; p = strstr(p + 1, marks[i])) {
            int n = isdigit((unsigned char)p[strlen(marks[i])]) ? atoi(p + strlen(marks[i])) : 0;
            if (n >= 8 && n < 100)
                return n;
        }
    return 0;
}

static const char *platform_of(const build *b, const identity *id)
{
    bool x86 = strcmp(id->arch, "x86-64") == 0;
    if (id->kind == FILE_PE)
        return x86 ? "windows-x86_64" : "windows-arm64";
    return x86 ? "linux-x86_64" : strcmp(id->arch, "aarch64") != 0 ? "linux-other" : strstr(b->archive, "linux-aarch64") ? "linux-aarch64" : "linux-sbsa";
}

int build_identify(build *b)
{
    identity id = { 0 };
    char three[32], text[64], cuda[32];
    manifest *m = b->m;
    if (gather(b, &id) != 0 || judge_machine(b, &id) != 0)
        return -1;
    cli_version_text(id.version, three);
    snprintf(text, sizeof text, "%s", three);
    if (!long_version(b->distribution, three, text, sizeof text))
        long_version(b->archive, three, text, sizeof text);
    int named = cuda_of(b->distribution) ? cuda_of(b->distribution) : cuda_of(b->archive);
    m->abi = id.abi;
    m->cuda = id.ours ? 0 : id.cuda ? id.cuda : named;
    snprintf(cuda, sizeof cuda, id.ours ? "anydnn" : "cuda%d", m->cuda);
    m->version = strdup(text);
    m->platform = strdup(platform_of(b, &id));
    m->build = m->platform ? cli_format("%s-%s%s-%s", text, cuda, strncmp(b->archive, "cudnn_jit", 9) == 0 ? "-jit" : "", m->platform) : NULL;
    m->archive = strdup(b->archive);
    return m->version && m->platform && m->build && m->archive ? 0 : refuse(b, "the archive", strerror(ENOMEM));
}

/* A link that the archive lacks, unless something of that name is there. */
static int add_link(build *b, const char *folder, const char *name, const char *target)
{
    char *path = cli_format("%s/%s", folder, name), *host = path && b->host ? tree_join(b->host, path) : NULL;
    int code = path ? 0 : refuse(b, name, strerror(ENOMEM));
    if (code == 0 && !manifest_find(b->m, path) && strcmp(name, target) != 0) {
        manifest_entry *e = manifest_add(b->m, MANIFEST_LINK, path, target);
        if (!e || (host && symlink(target, host) != 0))
            code = refuse(b, path, strerror(errno));
        if (e)
            e->made = true;
    }
    free(host);
    free(path);
    return code;
}

/* Copies where links belong, as zip files and some archives have them: of files of one library with the same bytes the one with the longest name stays,
 * the others become links to it. */
static int fold_copies(build *b)
{
    for (size_t i = 0; i < b->m->count; i++) {
        manifest_entry *e = &b->m->entries[i];
        const char *base = cli_base_name(e->path), *so = strstr(base, ".so");
        const manifest_entry *keep = NULL;
        size_t n = so ? (size_t)(so + 3 - e->path) : 0;
        for (size_t k = 0; so && k < b->m->count; k++) {
            const manifest_entry *o = &b->m->entries[k];
            if (o->kind == MANIFEST_FILE && e->kind == MANIFEST_FILE && k != i && o->size == e->size && strncmp(o->path, e->path, n) == 0 &&
                !strchr(o->path + n, '/') && strcmp(o->sha256, e->sha256) == 0 && strlen(o->path) > strlen(keep ? keep->path : e->path))
                keep = o;
        }
        if (!keep)
            continue;
        char *host = b->host ? tree_join(b->host, e->path) : NULL, *target = strdup(cli_base_name(keep->path));
        int code = target && (!b->host || (host && unlink(host) == 0 && symlink(target, host) == 0)) ? 0 : -1, error = errno;
        free(host);
        if (code != 0) {
            free(target);
            return refuse(b, e->path, strerror(error));
        }
        e->kind = MANIFEST_LINK;
        e->made = true;
        e->target = target;
        e->size = 0;
    }
    return 0;
}

/* libcudnn_ops.so.9.1.0, .so.9 and .so of one library, whichever of them the archive has as the file. */
static int link_library(build *b, const char *folder, const cli_file *f, const char *three)
{
    const char *file = cli_base_name(f->path), *so = strstr(file, ".so");
    int code = 0;
    if (!so || !f->soname || strncmp(f->soname, file, (size_t)(so - file) + 3) != 0)
        return 0;
    char *bare = cli_format("%.*s", (int)(so + 3 - file), file), *full = bare ? cli_format("%s.%s", bare, three) : NULL;
    code = full ? 0 : refuse(b, file, strerror(ENOMEM));
    if (code == 0)
        code = add_link(b, folder, f->soname, file);
    if (code == 0)
        code = add_link(b, folder, full, f->soname);
    if (code == 0)
        code = add_link(b, folder, bare, f->soname);
    free(full);
    free(bare);
    return code;
}

/* Folder in the build of a file that was looked at: the path behind the archive or the unpacked folder, with lib64 as lib. */
static const manifest_entry *entry_of(const build *b, const cli_file *f)
{
    for (size_t i = 0; i < b->m->count; i++) {
        const manifest_entry *e = &b->m->entries[i];
        size_t n = strlen(f->path);
        const char *base = cli_base_name(e->path);
        if (e->kind == MANIFEST_FILE && strcmp(base, cli_base_name(f->path)) == 0 && n > strlen(base))
            return e;
    }
    return NULL;
}

/* cudnn.h and the others, where the archive has only cudnn_v9.h as the packages of Debian do. */
static int link_headers(build *b)
{
    size_t count = b->m->count;
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        const char *path = b->m->entries[i].path, *base = cli_base_name(path), *mark = strstr(base, "_v");
        if (strncmp(path, "include/cudnn", 13) != 0 || path + 8 != base || !mark || !isdigit((unsigned char)mark[2]) || strcmp(mark + 3, ".h") != 0)
            continue;
        char *name = cli_format("%.*s.h", (int)(mark - base), base), *target = strdup(base);
        code = name && target ? add_link(b, "include", name, target) : refuse(b, "include", strerror(ENOMEM));
        free(target);
        free(name);
    }
    return code;
}

/* A template of the cmake folder with its @NAMES@ filled in. */
static char *fill(const char *name, const char *const values[][2])
{
    const char *p = NULL;
    grow g = { 0 };
    for (size_t i = 0; cli_embedded[i].name; i++)
        if (strcmp(cli_embedded[i].name, name) == 0)
            p = (const char *)cli_embedded[i].data;
    while (p && *p) {
        size_t n = strcspn(p, "@"), k = 0;
        grow_add(&g, "%.*s", (int)n, p);
        p += n;
        if (!*p)
            break;
        for (; values[k][0]; k++) {
            size_t length = strlen(values[k][0]);
            if (strncmp(p + 1, values[k][0], length) == 0 && p[1 + length] == '@') {
                grow_add(&g, "%s", values[k][1]);
                p += length + 2;
                break;
            }
        }
        if (!values[k][0]) {
            grow_add(&g, "@");
            p++;
        }
    }
    return grow_take(&g);
}

static int put_file(build *b, const char *path, const char *text)
{
    char *host = b->host ? tree_join(b->host, path) : NULL;
    manifest_entry *e = text && (host || !b->host) ? manifest_add(b->m, MANIFEST_FILE, path, NULL) : NULL;
    struct timespec t = { (time_t)b->mtime, 0 }, times[2] = { t, t };
    digest *d = e ? digest_begin() : NULL;
    int code = d ? 0 : refuse(b, path, strerror(ENOMEM));
    if (code == 0 && host && (fs_make_above(b->host, path) != 0 || fs_put_text(host, text, strlen(text), 0644) != 0 || utimensat(AT_FDCWD, host, times, 0) != 0))
        code = refuse(b, path, strerror(errno));
    if (d) {
        digest_add(d, text, strlen(text));
        digest_end(d, e->sha256);
        e->made = true;
        e->mode = 0644;
        e->size = strlen(text);
        e->mtime = b->mtime;
    }
    free(host);
    return code;
}

/* Files by which CMake and pkg-config find a build; the vendor's archives have none. subs: "ops cnn ..." */
static int add_packages(build *b, const char *three, const char *subs)
{
    static const char *const files[][2] = { { "CUDNNConfig.cmake", "lib/cmake/CUDNN/CUDNNConfig.cmake" },
                                            { "CUDNNConfigVersion.cmake", "lib/cmake/CUDNN/CUDNNConfigVersion.cmake" },
                                            { "cudnn.pc", "lib/pkgconfig/cudnn.pc" } };
    char abi[8];
    snprintf(abi, sizeof abi, "%d", b->m->abi);
    const char *const values[][2] = { { "PROJECT_VERSION", ANYDNN_VERSION }, { "DN_CUDNN_VERSION", three }, { "DN_ABI", abi }, { "DN_UP_FROM_LIB", ".." },
                                      { "ANYDNN_LIBDIR", "lib" }, { "DN_SUB_LIBRARIES", subs }, { NULL, NULL } };
    int code = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files && code == 0; i++) {
        if (manifest_find(b->m, files[i][1]))
            continue;
        char *text = fill(files[i][0], values);
        code = put_file(b, files[i][1], text);
        free(text);
    }
    return code;
}

int build_complete(build *b)
{
    char three[32] = "", subs[400] = "";
    size_t used = 0;
    int code = fold_copies(b);
    bool main_in_lib = false;
    for (size_t i = 0; i < b->list.count && code == 0; i++) {
        const cli_file *f = &b->list.entries[i].file;
        const manifest_entry *e = is_library(f) && f->kind == FILE_ELF ? entry_of(b, f) : NULL;
        if (!e)
            continue;
        size_t dots = 0, n = 0;
        for (; b->m->version[n] && (b->m->version[n] != '.' || ++dots < 3); n++)
            ;
        snprintf(three, sizeof three, "%.*s", (int)n, b->m->version);
        char *folder = cli_format("%.*s", (int)(cli_base_name(e->path) - e->path - 1), e->path);
        code = folder ? link_library(b, folder, f, three) : refuse(b, e->path, strerror(ENOMEM));
        main_in_lib |= folder && !f->part[0] && strcmp(folder, "lib") == 0;
        free(folder);
        if (f->part[0] && used < sizeof subs)
            used += (size_t)snprintf(subs + used, sizeof subs - used, "%s%s", used ? " " : "", f->part);
    }
    if (code == 0)
        code = link_headers(b);
    return code == 0 && main_in_lib ? add_packages(b, three, subs) : code;
}
