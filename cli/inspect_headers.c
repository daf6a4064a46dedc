/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Rules about headers, about static libraries, and about what Windows DLLs need beside them. */
#include "inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The header of a folder that has the version: the one that cudnn.h would lead to, else only a numbered one. */
static const inspect_entry *version_header(const inspect_list *list, const char *dir)
{
    static const char *const names[] = { "cudnn_version.h", "cudnn.h", "cudnn_version_v9.h", "cudnn_version_v8.h", "cudnn_v9.h",
                                         "cudnn_v8.h", "cudnn_v7.h" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const inspect_entry *e = inspect_find(list, dir, names[i]);
        if (e && e->file.version)
            return e;
    }
    return NULL;
}

static void check_header_dir(const inspect_list *list, const char *dir, cli_report *r)
{
    const inspect_entry *main_header = inspect_find(list, dir, "cudnn.h"), *version = version_header(list, dir);
    if (main_header && !version && main_header->file.kind == FILE_HEADER) {
        cJSON *where = cli_finding(r, CLI_ERROR, "header-incomplete", "cudnn.h is here without the version: cudnn_version.h is missing",
                                   "Since cuDNN 8 the numbers stand in cudnn_version.h, which cudnn.h includes. A build stops there, and "
                                   "finders say \"Found cuDNN: v?\".",
                                   "copy all of the package's cudnn*.h, not only cudnn.h");
        cli_where(where, main_header->file.path);
    }
    if (!main_header && version) {
        char *what = cli_format("Only numbered headers are here (%s), no cudnn.h", version->name);
        cJSON *where = cli_finding(r, list->devel ? CLI_ERROR : CLI_NOTE, "only-numbered-headers", what,
                                   "#include <cudnn.h> does not find them; in the older deb packages the plain names are links made by "
                                   "update-alternatives.", "update-alternatives --auto libcudnn");
        cli_where(where, dir);
        free(what);
    }
}

/* Length of the prefix of a folder: without lib, lib64, bin, include, x64, a triplet or a CUDA version such as 12.9 at its end. */
static size_t prefix_length(const char *dir)
{
    static const char *const tails[] = { "lib", "lib64", "bin", "include", "x64", "Win32", "x86_64-linux-gnu", "aarch64-linux-gnu" };
    size_t n = strlen(dir);
    for (int round = 0; round < 3; round++) {
        size_t start = n;
        while (start > 0 && dir[start - 1] != '/')
            start--;
        bool tail = n > start && strspn(dir + start, "0123456789.") >= n - start;
        for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
            tail |= strlen(tails[i]) == n - start && memcmp(dir + start, tails[i], n - start) == 0;
        if (!tail || start == 0)
            break;
        n = start - 1;
    }
    return n;
}

static bool same_prefix(const char *a, const char *b)
{
    size_t n = prefix_length(a);
    return n == prefix_length(b) && memcmp(a, b, n) == 0;
}

static void compare(const inspect_entry *header, const inspect_entry *lib, cli_report *r)
{
    char h[32], l[32];
    int a = header->file.version, b = lib->file.version;
    bool major = cli_version_major(a) != cli_version_major(b), newer = a / 100 > b / 100, minor = a / 100 != b / 100;
    if (a == b)
        return;
    char *what = cli_format("The header says %s, the library is %s (%s)", cli_version_text(a, h), cli_version_text(b, l),
                            cli_how_text(lib->file.version_how));
    cJSON *where = cli_finding(r, major || newer ? CLI_ERROR : minor ? CLI_WARNING : CLI_NOTE, "header-mismatch", what,
                               major ? "Another major version has other numbers and structures: programs built with this header misbehave with this library."
                               : newer ? "A program built with a newer header may ask for functions that the library lacks, and many refuse to start."
                               : minor ? "It works by the rule of compatibility within a major version, but builds and programs that compare both numbers "
                                         "refuse or warn; most often one of the two is a leftover."
                                       : "Only the patch level differs, which is compatible.",
                               "install header and library from one package");
    cli_where(where, header->file.path);
    cli_where(where, lib->file.path);
    free(what);
}

/* The library that answers for a folder's version: libcudnn by its number, or a part. */
static const inspect_entry *library_for(const inspect_list *list, const char *header_dir, int abi)
{
    const inspect_entry *best = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const inspect_entry *e = &list->entries[i];
        if (!inspect_is_library(e) || !e->file.version || e->file.version_how < HOW_NEIGHBOUR || !same_prefix(e->dir, header_dir))
            continue;
        bool better = !best || (e->file.abi == abi && best->file.abi != abi) || (e->file.abi == best->file.abi && !e->file.part[0] && best->file.part[0]);
        if (better)
            best = e;
    }
    return best;
}

void inspect_check_headers(const inspect_list *list, cli_report *r)
{
    for (size_t i = 0; i < list->count; i++) {
        const inspect_entry *e = &list->entries[i];
        bool seen = e->file.kind != FILE_HEADER;
        for (size_t j = 0; j < i && !seen; j++)
            seen = list->entries[j].file.kind == FILE_HEADER && strcmp(list->entries[j].dir, e->dir) == 0;
        if (seen)
            continue;
        check_header_dir(list, e->dir, r);
        const inspect_entry *header = version_header(list, e->dir);
        const inspect_entry *lib = header ? library_for(list, e->dir, header->file.abi) : NULL;
        if (lib)
            compare(header, lib, r);
    }
}

/* Static parts: libcudnn_static.a in 8; one archive for each sub-library in 9, with _engines_tensor_ir from 9.21 on. */
static void check_static_dir(const inspect_list *list, size_t first, cli_report *r)
{
    inspect_words w = { .text = "" };
    const char *dir = list->entries[first].dir;
    bool tensor_ir = false;
    int abi = 0, version = 0;
    for (size_t i = 0; i < list->count; i++) {
        const inspect_entry *e = &list->entries[i];
        cudnn_name n;
        if (strcmp(e->dir, dir) != 0)
            continue;
        if (inspect_is_library(e) && e->file.version > version)
            version = e->file.version;
        if (!cli_cudnn_name(e->name, &n) || !n.is_static || e->file.links_to)
            continue;
        inspect_word(&w, e->name);
        tensor_ir |= strcmp(n.part, "engines_tensor_ir") == 0;
        abi = n.count ? n.numbers[0] : abi;
    }
    char *what = cli_format("Static libraries: %s", w.text);
    cJSON *where = cli_finding(r, CLI_NOTE, "static-libraries", what,
                               abi >= 9 ? "From 9.0 on there is no libcudnn_static.a: link all parts, within -Wl,--whole-archive; engines_precompiled is too "
                                          "large for the small code model."
                                        : "Link them within -Wl,--whole-archive, or algorithms are missing.", NULL);
    cli_where(where, dir);
    free(what);
    if (abi == 9 && version >= 92100 && !tensor_ir)
        cli_where(cli_finding(r, CLI_WARNING, "static-incomplete", "libcudnn_engines_tensor_ir_static_v9.a is missing among the static libraries",
                              "From 9.21 on libcudnn_graph refers to it, so a static link ends with unresolved symbols.",
                              "install the whole package"), dir);
}

void inspect_check_static(const inspect_list *list, cli_report *r)
{
    for (size_t i = 0; i < list->count; i++) {
        cudnn_name n;
        bool seen = !cli_cudnn_name(list->entries[i].name, &n) || !n.is_static;
        for (size_t j = 0; j < i && !seen; j++)
            seen = strcmp(list->entries[j].dir, list->entries[i].dir) == 0 && cli_cudnn_name(list->entries[j].name, &n) && n.is_static;
        if (!seen)
            check_static_dir(list, i, r);
    }
}

static bool imports(const cli_file *f, const char *name)
{
    for (size_t i = 0; i < f->needed_count; i++)
        if (strcasecmp(f->needed[i], name) == 0)
            return true;
    return false;
}

/* zlibwapi.dll: from 8.3.0 to 9.1 on Windows; from 9.2 zlib is inside. */
static void check_zlib(const inspect_list *list, const char *dir, cli_report *r)
{
    const inspect_entry *who = NULL;
    if (inspect_find(list, dir, "zlibwapi.dll"))
        return;
    for (size_t i = 0; i < list->count && !who; i++) {
        const inspect_entry *e = &list->entries[i];
        bool by_version = e->file.version >= 8300 && e->file.version < 90200 && e->file.version_how != HOW_UNKNOWN;
        if (strcmp(e->dir, dir) == 0 && e->file.kind == FILE_PE && inspect_is_library(e) && (imports(&e->file, "zlibwapi.dll") || by_version))
            who = e;
    }
    if (!who || who->file.is_ours)
        return;
    char *what = cli_format("%s needs zlibwapi.dll, which is not here", who->name);
    cJSON *where = cli_finding(r, CLI_WARNING, "no-zlibwapi", what,
                               "cuDNN 8.3.0 to 9.1 for Windows loads it. Without a 64-bit one here, in System32 or on the search path: \"Could not "
                               "load library cudnn_cnn_infer64_8.dll. Error code 126\", although that file is there.",
                               "put a 64-bit zlibwapi.dll into this folder, or use cuDNN 9.2 or later");
    cli_where(where, dir);
    free(what);
}

/* "cudart64_90.dll" is imported and only "cudart64_100.dll" is here. */
static void check_import(const inspect_list *list, const inspect_entry *e, const char *name, cli_report *r)
{
    const char *mark = strstr(name, "64_");
    if (!mark || inspect_find(list, e->dir, name))
        return;
    for (size_t i = 0; i < list->count; i++) {
        const inspect_entry *other = &list->entries[i];
        size_t stem = (size_t)(mark - name) + 3;
        if (strcmp(other->dir, e->dir) != 0 || strncmp(other->name, name, stem) != 0 || strcmp(other->name, e->name) == 0)
            continue;
        char *what = cli_format("%s imports %s, but here is only %s", e->name, name, other->name);
        cJSON *where = cli_finding(r, CLI_ERROR, "import-missing", what, "It was built for another CUDA version: \"DLL load failed\", error 126.",
                                   "install the cuDNN build for the CUDA version that is here");
        cli_where(where, e->file.path);
        free(what);
        return;
    }
}

void inspect_check_windows(const inspect_list *list, cli_report *r)
{
    for (size_t i = 0; i < list->count; i++) {
        const inspect_entry *e = &list->entries[i];
        bool seen = e->file.kind != FILE_PE;
        for (size_t k = 0; e->file.kind == FILE_PE && k < e->file.needed_count; k++)
            check_import(list, e, e->file.needed[k], r);
        for (size_t j = 0; j < i && !seen; j++)
            seen = list->entries[j].file.kind == FILE_PE && strcmp(list->entries[j].dir, e->dir) == 0;
        if (!seen)
            check_zlib(list, e->dir, r);
    }
}
