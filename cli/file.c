/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Finds out what a file is. */
#include "file.h"
#include "map.h"
#include "tree.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifndef _WIN32
#include <limits.h>
#include <unistd.h>
#endif

static char *copy(const char *text)
{
    char *out = text ? malloc(strlen(text) + 1) : NULL;
    if (out)
        strcpy(out, text);
    return out;
}

static void add_name(char ***list, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*list)[i], name) == 0)
            return;
    char **more = realloc(*list, (*count + 1) * sizeof *more);
    if (!more)
        return;
    *list = more;
    if ((more[*count] = copy(name)) != NULL)
        ++*count;
}

void cli_file_free(cli_file *file)
{
    for (size_t i = 0; i < file->needed_count; i++)
        free(file->needed[i]);
    free(file->needed);
    for (size_t i = 0; i < file->named_count; i++)
        free(file->named[i]);
    free(file->named);
    free(file->path);
    free(file->soname);
    free(file->links_to);
    free(file->rpath);
    free(file->runpath);
    memset(file, 0, sizeof *file);
}

/* CUDA major of "libcublas.so.12", "libcudart.so.11.0", "cublas64_11.dll", "cudart64_110.dll", "nvrtc64_112_0.dll"; 0 for other names. */
static int cuda_of_name(const char *name)
{
    static const char *const unix_names[] = { "libcublas.so.", "libcublasLt.so.", "libcudart.so.", "libnvrtc.so." };
    static const char *const windows_names[] = { "cublas64_", "cublaslt64_", "cudart64_", "nvrtc64_" };
    for (size_t i = 0; i < 4; i++)
        if (strncmp(name, unix_names[i], strlen(unix_names[i])) == 0) {
            int v = atoi(name + strlen(unix_names[i]));
            return v >= 8 && v < 100 ? v : 0;
        }
    char lower[64];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof lower; n++)
        lower[n] = (char)tolower((unsigned char)name[n]);
    lower[n] = 0;
    for (size_t i = 0; i < 4; i++)
        if (strncmp(lower, windows_names[i], strlen(windows_names[i])) == 0) {
            int v = atoi(lower + strlen(windows_names[i]));
            v = v >= 80 && v < 1000 ? v / 10 : v;
            return v >= 8 && v < 100 ? v : 0;
        }
    return 0;
}

static void cuda_is(cli_file *out, int cuda, const char *how)
{
    if (cuda && !out->cuda) {
        out->cuda = cuda;
        out->cuda_how = how;
    }
}

/* "..._cuda12-archive...", "nvidia_cudnn_cu12", "nvidia-cudnn-cu11": the number behind the last such mark. */
static int cuda_of_path(const char *path)
{
    static const char *const marks[] = { "_cuda", "cudnn_cu", "cudnn-cu", "/cuda-", "-cuda" };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        for (const char *p = strstr(path, marks[i]); p; p = strstr(p + 1, marks[i])) {
            int v = isdigit((unsigned char)p[strlen(marks[i])]) ? atoi(p + strlen(marks[i])) : 0;
            if (v >= 8 && v < 100)
                return v;
        }
    return 0;
}

static void take_name(cli_file *out, const char *name, bool is_real_name)
{
    cudnn_name n;
    if (!name || !cli_cudnn_name(name, &n))
        return;
    out->is_cudnn = true;
    strcpy(out->part, n.part);
    if (n.count)
        out->abi = n.numbers[0];
    if (is_real_name && n.count == 3)
        out->hint_version = cli_version_make(n.numbers[0], n.numbers[1], n.numbers[2]);
}

static void cuda_from_elf_text(cli_file *out, const elf_file *elf)
{
    static const char *const texts[] = { "libcublasLt.so.", "libcublas.so.", "libnvrtc.so.", "libcudart.so." };
    for (size_t i = 0; i < 4 && !out->cuda; i++) {
        size_t at = 0;
        const char *limit, *p;
        while (!out->cuda && (p = elf_find_text(elf, texts[i], &at, &limit)) != NULL)
            if (memchr(p, 0, (size_t)(limit - p)))
                cuda_is(out, cuda_of_name(p), "text");
    }
}

/* libcudnn and libcudnn_graph open the others by names such as "libcudnn_engines_tensor_ir.so", with or without a number. */
static void named_in_elf(cli_file *out, const elf_file *elf)
{
    size_t at = 0;
    const char *limit, *p;
    while (out->named_count < 32 && (p = elf_find_text(elf, "libcudnn_", &at, &limit)) != NULL) {
        char name[64];
        cudnn_name n;
        const char *end = memchr(p, 0, (size_t)(limit - p));
        if (!end || (size_t)(end - p) >= sizeof name)
            continue;
        strcpy(name, p);
        if (cli_cudnn_name(name, &n) && !n.is_static && strcmp(n.part, out->part) != 0)
            add_name(&out->named, &out->named_count, n.part);
    }
}

static void from_elf(elf_file *elf, cli_file *out)
{
    const char *text;
    size_t size = 0;
    out->kind = FILE_ELF;
    out->bits = elf->bits;
    out->arch = elf_machine_name(elf->machine);
    out->truncated = elf->status == ELF_TRUNCATED;
    out->damaged = elf->status == ELF_DAMAGED;
    snprintf(out->problem, sizeof out->problem, "%s", elf->error);
    if (elf->status == ELF_FOREIGN)
        return;
    out->soname = copy(elf_dynamic_string(elf, ELF_TAG_SONAME, 0));
    out->rpath = copy(elf_dynamic_string(elf, ELF_TAG_RPATH, 0));
    out->runpath = copy(elf_dynamic_string(elf, ELF_TAG_RUNPATH, 0));
    for (size_t i = 0; i < 4096 && (text = elf_dynamic_string(elf, ELF_TAG_NEEDED, i)) != NULL; i++) {
        add_name(&out->needed, &out->needed_count, text);
        cuda_is(out, cuda_of_name(text), "needed");
    }
    const unsigned char *note = elf_note(elf, NULL, "GNU", 3, &size);
    if (note && size <= sizeof out->build_id) {
        memcpy(out->build_id, note, size);
        out->build_id_size = size;
    }
    if (!(note = elf_note(elf, NULL, "anydnn", 1, &size)))
        note = elf_note(elf, ".anydnn", "anydnn", 1, &size);
    out->is_ours = note != NULL;
    take_name(out, out->soname, false);
    if (out->is_cudnn) {
        out->version = cli_elf_version(elf, out->abi, &out->version_how);
        cuda_from_elf_text(out, elf);
        if (!out->part[0] || strcmp(out->part, "graph") == 0)
            named_in_elf(out, elf);
    }
}

static void from_pe(pe_file *pe, cli_file *out)
{
    int delayed;
    const char *text;
    out->kind = FILE_PE;
    out->bits = pe->bits;
    out->arch = pe_machine_name(pe->machine);
    out->truncated = pe->status == PE_TRUNCATED;
    out->damaged = pe->status == PE_DAMAGED;
    snprintf(out->problem, sizeof out->problem, "%s", pe->error);
    out->soname = copy(pe_export_name(pe));
    take_name(out, out->soname, false);
    for (size_t i = 0; i < 4096 && (text = pe_import(pe, i, &delayed)) != NULL; i++) {
        add_name(&out->needed, &out->needed_count, text);
        cuda_is(out, cuda_of_name(text), "imports");
    }
    if (out->is_cudnn) {
        int n[4];
        out->version = cli_pe_version(pe, out->abi, &out->version_how);
        if (out->version_how != HOW_RESOURCE && pe_version(pe, n) == 0)
            out->hint_version = n[0] == 6 && n[1] == 14 ? n[3] : cli_version_make(n[0], n[1], n[2]);
    }
    for (size_t i = 0; i < pe->section_count; i++)
        out->is_ours |= strcmp(pe->sections[i].name, ".anydnn") == 0;
}

static bool looks_like_html(const unsigned char *data, size_t size)
{
    static const char *const starts[] = { "<!doctype html", "<html", "<head", "<?xml" };
    size_t i = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (i < size && isspace(data[i]))
        i++;
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        size_t n = strlen(starts[k]), j = 0;
        while (j < n && i + j < size && tolower(data[i + j]) == starts[k][j])
            j++;
        if (j == n)
            return true;
    }
    return false;
}

static bool starts_with(const unsigned char *data, size_t size, const char *what, size_t length)
{
    return size >= length && memcmp(data, what, length) == 0;
}

static bool is_archive(const unsigned char *d, size_t n)
{
    return starts_with(d, n, "PK\3\4", 4) || starts_with(d, n, "PK\5\6", 4) || starts_with(d, n, "\xfd" "7zXZ\0", 6) ||
           starts_with(d, n, "\x1f\x8b", 2) || starts_with(d, n, "BZh", 3) || starts_with(d, n, "\x28\xb5\x2f\xfd", 4) ||
           (n >= 262 && memcmp(d + 257, "ustar", 5) == 0);
}

static bool is_text(const unsigned char *data, size_t size)
{
    size = size < 4096 ? size : 4096;
    return !memchr(data, 0, size);
}

static void from_text(const unsigned char *data, size_t size, cli_file *out)
{
    size_t length = strlen(out->path);
    bool elsewhere;
    if (starts_with(data, size, "version https://git-lfs", 23)) {
        out->kind = FILE_LFS;
        return;
    }
    out->kind = FILE_TEXT;
    if (length < 2 || strcmp(out->path + length - 2, ".h") != 0)
        return;
    out->kind = FILE_HEADER;
    out->version = cli_header_version((const char *)data, size < ((size_t)4 << 20) ? size : (size_t)4 << 20, &elsewhere);
    if (out->version) {
        out->version_how = HOW_MACRO;
        out->abi = cli_version_major(out->version);
    }
}

static int from_bytes(const unsigned char *data, size_t size, cli_file *out)
{
    static const unsigned char elf_magic[4] = { 0x7f, 'E', 'L', 'F' };
    if (size >= 4 && memcmp(data, elf_magic, 4) == 0) {
        elf_file elf;
        elf_open_memory(&elf, data, size, cli_base_name(out->path));
        from_elf(&elf, out);
        elf_close(&elf);
    } else if (starts_with(data, size, "MZ", 2)) {
        pe_file pe;
        pe_open_memory(&pe, data, size, cli_base_name(out->path));
        from_pe(&pe, out);
        pe_close(&pe);
    } else if (starts_with(data, size, "!<arch>\n", 8)) {
        out->kind = FILE_STATIC;
    } else if (is_archive(data, size)) {
        out->kind = FILE_ARCHIVE;
    } else if (looks_like_html(data, size)) {
        out->kind = FILE_HTML;
    } else if (is_text(data, size)) {
        from_text(data, size, out);
    } else {
        out->kind = FILE_OTHER;
    }
    return out->problem[0] ? -1 : 0;
}

/* What the name says where the file itself is silent; real is the name that links lead to. */
static void finish(cli_file *out, const char *real)
{
    cudnn_name n;
    bool named = cli_cudnn_name(cli_base_name(real), &n) || cli_cudnn_name(cli_base_name(out->path), &n);
    if (named && !out->is_cudnn && !out->soname && (out->kind == FILE_ELF || out->kind == FILE_PE || out->kind == FILE_STATIC))
        take_name(out, cli_base_name(out->path), false);
    if (named && out->is_cudnn && n.count == 3 && out->kind == FILE_ELF) {
        int v = cli_version_make(n.numbers[0], n.numbers[1], n.numbers[2]);
        char text[32];
        if (cli_version_text(v, text)[0] && n.numbers[0] == out->abi && !out->version) {
            out->version = v;
            out->version_how = HOW_NAME;
        } else if (cli_version_text(v, text)[0] && out->version != v) {
            out->hint_version = v;
        }
    }
    if (out->is_cudnn && !out->abi && out->version)
        out->abi = cli_version_major(out->version);
    if (out->is_cudnn || out->kind == FILE_ARCHIVE || out->kind == FILE_HEADER)
        cuda_is(out, cuda_of_path(out->path), "name");
    if (out->is_cudnn && out->is_ours)
        out->cuda = 0, out->cuda_how = NULL;
}

int cli_file_inspect_memory(const char *name, const void *data, size_t size, uint64_t total, cli_file *out)
{
    memset(out, 0, sizeof *out);
    out->path = copy(name);
    out->size = total;
    if (!out->path) {
        snprintf(out->problem, sizeof out->problem, "no memory");
        return -1;
    }
    int code = from_bytes(data, size, out);
    finish(out, name);
    return code;
}

/* libcudnn is a thin loader without a number; the library that it takes cudnnGetVersion from stands beside it. */
static void ask_neighbour(cli_file *out, const char *real)
{
    char name[64], error[8];
    const char *part = out->abi == 8 ? "ops_infer" : out->abi >= 9 ? "graph" : NULL, *base = cli_base_name(real);
    if (!part || out->part[0] || out->version || (out->kind != FILE_ELF && out->kind != FILE_PE))
        return;
    cli_library_name(part, out->abi, out->kind == FILE_PE, name, sizeof name);
    char *path = malloc(strlen(real) + sizeof name);
    cli_map map;
    if (!path)
        return;
    sprintf(path, "%.*s%s", (int)(base - real), real, name);
    if (cli_map_open(&map, path, error, sizeof error) == 0) {
        cli_file other;
        cli_file_inspect_memory(path, map.data, map.size, map.size, &other);
        if (other.version && other.version_how > HOW_NAME) {
            out->version = other.version;
            out->version_how = HOW_NEIGHBOUR;
        }
        cuda_is(out, other.cuda, "neighbour");
        cli_file_free(&other);
        cli_map_close(&map);
    }
    free(path);
}

/* What lstat and readlink say; the path that links lead to goes to real (PATH_MAX). */
static void look_at(const char *path, cli_file *out, char *real)
{
    struct stat st;
#ifndef _WIN32
    char text[PATH_MAX];
    ssize_t n = readlink(path, text, sizeof text - 1);
    if (n > 0) {
        text[n] = 0;
        out->links_to = copy(text);
    }
    if (!realpath(path, real))
        snprintf(real, PATH_MAX, "%s", path);
#else
    snprintf(real, 4096, "%s", path);
#endif
    if (stat(path, &st) == 0) {
        out->size = (uint64_t)st.st_size;
        out->device = (uint64_t)st.st_dev;
        out->inode = (uint64_t)st.st_ino;
        if (S_ISDIR(st.st_mode))
            out->kind = FILE_DIR;
    }
}

int cli_file_inspect(const char *path, cli_file *out)
{
#ifdef _WIN32
    enum { PATH_MAX = 4096 };
#endif
    char real[PATH_MAX];
    cli_map map;
    memset(out, 0, sizeof *out);
    out->path = copy(path);
    if (!out->path) {
        snprintf(out->problem, sizeof out->problem, "no memory");
        return -1;
    }
    look_at(path, out, real);
    if (out->kind == FILE_DIR)
        return 0;
    if (cli_map_open(&map, path, out->problem, sizeof out->problem) != 0)
        return -1;
    out->size = map.size;
    int code = from_bytes(map.data, map.size, out);
    cli_map_close(&map);
    finish(out, real);
    ask_neighbour(out, real);
    return code;
}
