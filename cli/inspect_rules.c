/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Rules about single files, their names, links and copies. */
#include "inspect.h"
#include "map.h"
#include "tree.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 4096, SAMPLES = 128, WHOLE = 32 << 20 };

/* Commands for a member of an archive make sense only when it is unpacked. */
static char *command_for(const inspect_entry *e, char *command)
{
    char *text = e->from_archive && command ? cli_format("after unpacking: %s", command) : command;
    if (text != command)
        free(command);
    return text;
}

/* A finding about one place; the texts are ours to free. */
static void finding(cli_report *r, cli_severity severity, const char *id, char *what, const char *why, char *fix, const char *path)
{
    cJSON *where = cli_finding(r, severity, id, what, why, fix);
    cli_where(where, path);
    free(what);
    free(fix);
}

/* Is this only another name of a file that the list has too? What is wrong with that is said once. */
static bool is_alias(const inspect_list *list, const inspect_entry *e)
{
    if (!e->file.links_to || e->from_archive)
        return e->file.links_to != NULL;
    for (size_t i = 0; i < list->count; i++) {
        const cli_file *f = &list->entries[i].file;
        if (!f->links_to && f->inode == e->file.inode && f->device == e->file.device && f->size == e->file.size)
            return true;
    }
    return false;
}

static void check_content(const inspect_entry *e, cli_report *r)
{
    const cli_file *f = &e->file;
    static const char *const again = "An interrupted or wrong download; the loader answers \"file too short\" or \"invalid ELF header\".";
    bool library_name = strstr(e->name, ".so") || strstr(e->name, ".dll");
    if (f->truncated) {
        finding(r, CLI_ERROR, "truncated", cli_format("The file is cut off: %s", f->problem),
                "A part of it is missing, so loading it fails or crashes. This is not a wrong machine type.",
                cli_format("install it again from the package; then: anydnn inspect '%s'", f->path), f->path);
    } else if (f->damaged) {
        finding(r, CLI_ERROR, "damaged", cli_format("The file's headers make no sense: %s", f->problem), again,
                cli_format("install it again from the package"), f->path);
    } else if (f->kind == FILE_HTML || f->kind == FILE_LFS) {
        finding(r, CLI_ERROR, f->kind == FILE_HTML ? "html-page" : "lfs-pointer",
                cli_format("%s is %s, not a library", e->name, f->kind == FILE_HTML ? "a web page (HTML)" : "a Git LFS pointer"),
                f->kind == FILE_HTML ? "The download answered with a page, most likely a login or an error page, that was saved under this name."
                                     : "The repository was cloned without Git LFS, so only the pointer is here.",
                f->kind == FILE_HTML ? cli_format("rm '%s' and download it again; compare its checksum", f->path)
                                     : cli_format("git lfs pull"), f->path);
    } else if (f->kind == FILE_MISSING && !f->links_to && f->problem[0]) {
        finding(r, CLI_ERROR, "unreadable", cli_format("The file cannot be read: %s", f->problem),
                "What cannot be read here cannot be loaded by this user either.", cli_format("ls -l '%s'", f->path), f->path);
    } else if (library_name && f->size == 0 && f->kind == FILE_TEXT) {
        finding(r, CLI_ERROR, "empty-file", cli_format("%s is empty", e->name), again, cli_format("install it again from the package"),
                f->path);
    } else if (library_name && (f->kind == FILE_TEXT || f->kind == FILE_OTHER || f->kind == FILE_ARCHIVE || f->kind == FILE_STATIC)) {
        finding(r, CLI_ERROR, "not-a-library", cli_format("%s is no shared library (it is: %s)", e->name, cli_kind_name(f->kind)),
                "The loader refuses it with \"invalid ELF header\" or error 193.", cli_format("install it again from the package"), f->path);
    } else if (f->problem[0] && f->kind == FILE_ELF) {
        finding(r, CLI_ERROR, "foreign-elf", cli_format("%s", f->problem), "No machine that cuDNN is made for can load it.", NULL, f->path);
    }
}

void inspect_check_files(const inspect_list *list, cli_report *r)
{
    for (size_t i = 0; i < list->count; i++) {
        const inspect_entry *e = &list->entries[i];
        if (!inspect_concerns(list, e))
            continue;
        if (is_alias(list, e) && !e->chain)
            continue;
        if (!e->chain)
            check_content(e, r);
        if (inspect_is_library(e) && e->file.bits == 32)
            finding(r, CLI_ERROR, "32-bit", cli_format("%s is a 32-bit file (%s)", e->name, e->file.arch ? e->file.arch : "unknown machine"),
                    "Since version 7 cuDNN is 64-bit only; a 64-bit program cannot load this (\"wrong ELF class\", error 193).",
                    cli_format("remove or replace '%s'", e->file.path), e->file.path);
    }
    if (list->stopped)
        cli_finding(r, CLI_WARNING, "too-many-files", "Not everything was looked at: there are too many folders or entries",
                    "The answer covers only what was read before the limit.", "inspect a smaller folder");
}

static bool same_letters(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a | 32) != (*b | 32))
            return false;
    return *a == *b;
}

static void check_soname(const inspect_entry *e, cli_report *r)
{
    cudnn_name file, inside;
    if (!e->file.soname || !cli_cudnn_name(e->name, &file) || !cli_cudnn_name(e->file.soname, &inside))
        return;
    if (e->file.kind == FILE_PE && !same_letters(e->name, e->file.soname)) {
        finding(r, CLI_ERROR, "renamed-dll", cli_format("%s is a renamed %s: that is the name inside it", e->name, e->file.soname),
                "A program that asks for this name was built for another major version; structures and status numbers differ, so it fails "
                "later and in odd ways.",
                cli_format("rename '%s' back to %s and install the version that the program asks for", e->file.path, e->file.soname),
                e->file.path);
    } else if (e->file.kind == FILE_ELF && file.count && (file.numbers[0] != inside.numbers[0] || strcmp(file.part, inside.part) != 0)) {
        finding(r, CLI_ERROR, "soname-under-other-name", cli_format("SONAME %s under the name %s", e->file.soname, e->name),
                "A program that asks for this name was built for another library or major version; and ldconfig will not make a link of this "
                "name, since it goes by the SONAME.",
                cli_format("mv '%s' '%s/%s' and install the version that the program asks for", e->file.path, e->dir, e->file.soname),
                e->file.path);
    }
}

static void check_name_version(const inspect_entry *e, cli_report *r)
{
    char a[32], b[32];
    const cli_file *f = &e->file;
    if (f->kind != FILE_ELF || f->links_to || !f->hint_version || f->version_how < HOW_CODE || f->hint_version == f->version)
        return;
    finding(r, CLI_WARNING, "name-version-differs",
            cli_format("%s is version %s by its content (%s), not %s as its name says", e->name, cli_version_text(f->version, a),
                       cli_how_text(f->version_how), cli_version_text(f->hint_version, b)),
            "Somebody copied one version over another; ldconfig and people go by the name.", cli_format("install the package again"), f->path);
}

void inspect_check_names(const inspect_list *list, cli_report *r)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!inspect_concerns(list, &list->entries[i]))
            continue;
        check_soname(&list->entries[i], r);
        check_name_version(&list->entries[i], r);
    }
}

static bool is_wsl(const char *dir)
{
    return strstr(dir, "/wsl/") != NULL;
}

static void check_broken(const inspect_entry *e, cli_report *r)
{
    if (!e->chain)
        return;
    const char *chosen = strstr(e->chain, "/etc/alternatives/");
    char name[64] = "";
    if (chosen) {
        chosen += strlen("/etc/alternatives/");
        size_t n = strcspn(chosen, " ");
        memcpy(name, chosen, n < sizeof name ? n : 0);
        name[n < sizeof name ? n : 0] = 0;
    }
    finding(r, CLI_ERROR, "broken-link", cli_format("The link leads nowhere: %s", e->chain),
            chosen ? "The file that the alternatives system chose was removed, so compilers and programs do not find the library."
                   : "Compilers and programs that open this name do not find the library.",
            chosen ? cli_format("install the package of that file again, or choose another: update-alternatives --config %s", name)
                   : cli_format("rm '%s', then install the package again or run ldconfig", e->file.path), e->file.path);
}

/* The deb packages before 9.10 own only numbered names; the plain ones are chosen by update-alternatives. */
static void check_alternatives(const inspect_entry *e, cli_report *r)
{
    if (e->chain || !e->file.links_to || strncmp(e->file.links_to, "/etc/alternatives/", 18) != 0 || strcmp(e->name, "libcudnn.so") != 0)
        return;
    finding(r, CLI_NOTE, "alternatives-links", cli_format("libcudnn.so goes through %s: the deb layout before 9.10", e->file.links_to),
            "Which version compilers take is chosen by update-alternatives, not by writing the link; from 9.10 on the package owns the link itself.",
            cli_format("to choose: update-alternatives --config libcudnn"), e->file.path);
}

/* Links at build time, fails at run time: the name that programs record is not here. */
static void check_soname_here(const inspect_list *list, const inspect_entry *e, cli_report *r)
{
    cudnn_name n;
    if (!inspect_is_library(e) || e->file.kind != FILE_ELF || !e->file.soname || e->file.links_to || inspect_find(list, e->dir, e->file.soname))
        return;
    if (!cli_cudnn_name(e->file.soname, &n) || !n.count || strcmp(n.part, e->file.part) != 0)
        return;
    cudnn_name own;
    if (cli_cudnn_name(e->name, &own) && own.count && own.numbers[0] != n.numbers[0])
        return; /* soname-under-other-name says it */
    finding(r, CLI_ERROR, "no-soname-link",
            cli_format("%s links fine at build time but fails at run time: there is no %s here", e->name, e->file.soname),
            "A program records the SONAME, and the loader looks for a file of exactly that name.",
            command_for(e, cli_format("ln -s '%s' '%s/%s'", e->name, e->dir, e->file.soname)), e->file.path);
}

/* Is there any header in the list? */
static bool has_header(const inspect_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].file.kind == FILE_HEADER)
            return true;
    return false;
}

static void check_runtime_only(const inspect_list *list, const inspect_entry *e, cli_report *r)
{
    cudnn_name n;
    cli_severity severity = list->devel ? CLI_ERROR : CLI_NOTE;
    if (e->file.kind != FILE_ELF || !e->file.is_cudnn || e->file.part[0] || !cli_cudnn_name(e->name, &n) || n.count != 1)
        return;
    if (!inspect_find(list, e->dir, "libcudnn.so"))
        finding(r, severity, "no-development-link", cli_format("Runtime only, no development link: libcudnn.so is not beside %s", e->name),
                "Programs run. But linking with -lcudnn, and programs that open the bare name libcudnn.so, need the link; wheels and "
                "runtime packages leave it out.", command_for(e, cli_format("ln -s '%s' '%s/libcudnn.so'", e->name, e->dir)), e->file.path);
    if (!has_header(list))
        finding(r, severity, "no-header", cli_format("Runtime only: no cudnn.h was found with %s", e->name),
                "Programs run, but nothing can be compiled against this copy.",
                cli_format("install the development package (libcudnn%d-dev, or the archive's include folder)", n.numbers[0]), e->file.path);
}

void inspect_check_links(const inspect_list *list, cli_report *r)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!inspect_concerns(list, &list->entries[i]))
            continue;
        check_broken(&list->entries[i], r);
        check_alternatives(&list->entries[i], r);
        check_soname_here(list, &list->entries[i], r);
        check_runtime_only(list, &list->entries[i], r);
    }
}

static bool same_bytes(const cli *c, const cli_file *a, const cli_file *b)
{
    char *pa = tree_host(c->root, a->path), *pb = tree_host(c->root, b->path), error[8];
    cli_map ma, mb;
    bool same = false;
    if (pa && pb && cli_map_open(&ma, pa, error, sizeof error) == 0) {
        if (cli_map_open(&mb, pb, error, sizeof error) == 0) {
            same = ma.size == mb.size;
            size_t step = ma.size <= WHOLE ? SAMPLE : ma.size / SAMPLES;
            for (size_t at = 0; same && at < ma.size; at += step) {
                size_t n = ma.size - at < SAMPLE ? ma.size - at : SAMPLE;
                same = memcmp(ma.data + at, mb.data + at, n) == 0;
            }
            cli_map_close(&mb);
        }
        cli_map_close(&ma);
    }
    free(pa);
    free(pb);
    return same;
}

/* Do two entries share one family: the same library under names that differ only in the numbers? */
static bool one_family(const inspect_entry *a, const inspect_entry *b)
{
    cudnn_name x, y;
    if (strcmp(a->dir, b->dir) != 0 || a->file.kind != FILE_ELF || b->file.kind != FILE_ELF)
        return false;
    if (strncmp(a->name, "libcuda.so", 10) == 0 && strncmp(b->name, "libcuda.so", 10) == 0)
        return true;
    return cli_cudnn_name(a->name, &x) && cli_cudnn_name(b->name, &y) && !x.is_dll && !y.is_dll && strcmp(x.part, y.part) == 0;
}

/* budget: comparisons of bytes that are left; a folder of thousands of names must not take hours. */
static bool is_copy(const cli *c, const inspect_entry *a, const inspect_entry *b, int *budget)
{
    const cli_file *x = &a->file, *y = &b->file;
    if (a == b || x->links_to || y->links_to || !x->size || x->size != y->size || !one_family(a, b))
        return false;
    if (a->from_archive)
        return x->build_id_size && x->build_id_size == y->build_id_size && memcmp(x->build_id, y->build_id, x->build_id_size) == 0;
    if (x->device == y->device && x->inode == y->inode)
        return false;
    return (*budget)-- > 0 && same_bytes(c, x, y);
}

/* The name with the most numbers holds the bytes; the others should be links to it. */
static bool is_keeper(const inspect_entry *a, const inspect_entry *b)
{
    return strlen(a->name) > strlen(b->name);
}

typedef struct copies {
    const char *dir;
    uint64_t wasted;
    size_t count;
    char *fix;
} copies;

static void add_copy(copies *k, const inspect_entry *copy, const inspect_entry *keeper)
{
    char *fix = k->fix ? cli_format("%s && ln -sf '%s' '%s'", k->fix, keeper->name, copy->name)
                       : cli_format("cd '%s' && ln -sf '%s' '%s'", k->dir, keeper->name, copy->name);
    free(k->fix);
    k->fix = fix;
    k->wasted += copy->file.size;
    k->count++;
}

static void check_copies_in(const cli *c, const inspect_list *list, size_t first, cli_report *r)
{
    copies k = { .dir = list->entries[first].dir };
    bool wsl = is_wsl(k.dir);
    int budget = 2000;
    for (size_t i = first; i < list->count; i++) {
        const inspect_entry *e = &list->entries[i], *keeper = NULL;
        for (size_t j = first; j < list->count && strcmp(e->dir, k.dir) == 0; j++)
            if (is_keeper(&list->entries[j], e) && is_copy(c, e, &list->entries[j], &budget) && (!keeper || is_keeper(&list->entries[j], keeper)))
                keeper = &list->entries[j];
        if (keeper)
            add_copy(&k, e, keeper);
    }
    if (k.count && wsl)
        finding(r, CLI_NOTE, "wsl-driver-share", cli_format("%zu names of the driver are copies, not links: the driver share of WSL", k.count),
                "This folder is mounted from Windows, where such links do not exist. ldconfig says \"is not a symbolic link\"; it does no harm.",
                NULL, k.dir);
    else if (k.count)
        finding(r, CLI_WARNING, "copies-not-links",
                cli_format("%zu names are full copies where links belong; %llu bytes are wasted", k.count, (unsigned long long)k.wasted),
                "Made by cp without -P or -a, or by an unpacker that does not know links. ldconfig says \"is not a symbolic link\", and an "
                "update that replaces one name leaves the others old.", command_for(&list->entries[first], cli_format("%s", k.fix)), k.dir);
    free(k.fix);
}

void inspect_check_copies(const cli *c, const inspect_list *list, cli_report *r)
{
    for (size_t i = 0; i < list->count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++)
            seen = strcmp(list->entries[j].dir, list->entries[i].dir) == 0;
        if (!seen)
            check_copies_in(c, list, i, r);
    }
}
