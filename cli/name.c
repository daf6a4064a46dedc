/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Version numbers, file names and the sets of sub-libraries. */
#include "file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cli_base_name(const char *path)
{
    const char *name = path;
    for (const char *p = path; *p; p++)
        if (*p == '/' || *p == '\\')
            name = p + 1;
    return name;
}

int cli_version_make(int major, int minor, int patch)
{
    return major >= 9 ? major * 10000 + minor * 100 + patch : major * 1000 + minor * 100 + patch;
}

int cli_version_major(int version)
{
    return version < 10000 ? version / 1000 : version / 10000;
}

/* Versions that were or can be published: 8.9 ends the line of one-digit minors, so 8.10 is none. */
static bool possible(int major, int minor, int patch)
{
    if (major < 1 || major > 99 || minor < 0 || patch < 0 || patch > 99)
        return false;
    return major < 9 ? minor <= 9 : minor <= 99;
}

const char *cli_version_text(int version, char *out)
{
    int major = cli_version_major(version), minor = version < 10000 ? version % 1000 / 100 : version % 10000 / 100;
    if (version < 1000 || version > 999999 || (version >= 10000 && major < 9) || (version < 10000 && major > 8))
        out[0] = 0;
    else
        snprintf(out, 32, "%d.%d.%d", major, minor, version % 100);
    return out;
}

int cli_version_parse(const char *text)
{
    int n[4] = { 0, 0, 0, 0 }, count = 0;
    char check[32];
    const char *p = text;
    while (count < 4 && isdigit((unsigned char)*p)) {
        char *end;
        unsigned long v = strtoul(p, &end, 10);
        if (v > 999999)
            return 0;
        n[count++] = (int)v;
        p = end;
        if (*p != '.')
            break;
        p++;
    }
    if (*p || count == 0 || (p > text && p[-1] == '.'))
        return 0;
    if (count == 1 && n[0] >= 1000)
        return cli_version_text(n[0], check)[0] ? n[0] : 0;
    return count > 1 && possible(n[0], n[1], n[2]) ? cli_version_make(n[0], n[1], n[2]) : 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* Copies a lower-case part name of length n; false where other characters are in it. */
static bool take_part(const char *p, size_t n, char *part, size_t size)
{
    if (n >= size)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!islower((unsigned char)p[i]) && p[i] != '_')
            return false;
    memcpy(part, p, n);
    part[n] = 0;
    return true;
}

/* "8.9.7" behind ".so."; false where other text stands there. */
static bool take_numbers(const char *p, cudnn_name *out)
{
    while (out->count < 3) {
        char *end;
        if (!isdigit((unsigned char)*p))
            return false;
        unsigned long v = strtoul(p, &end, 10);
        out->numbers[out->count++] = v < 10000 ? (int)v : 9999;
        if (*end == 0)
            return true;
        if (*end != '.')
            return false;
        p = end + 1;
    }
    return false;
}

/* Behind "libcudnn": [_part].so[.N...] or [_part][_static[_vN]].a */
static bool unix_name(const char *p, cudnn_name *out)
{
    const char *dot = strchr(p, '.');
    if (!dot || (p[0] != '.' && p[0] != '_'))
        return false;
    size_t n = (size_t)(dot - p);
    if (strcmp(dot, ".a") == 0) {
        const char *mark = strstr(p, "_static");
        if (!mark || mark > dot)
            return false;
        out->is_static = true;
        n = (size_t)(mark - p);
        if (mark[7] == '_' && mark[8] == 'v')
            out->numbers[out->count++] = atoi(mark + 9);
        return n == 0 || take_part(p + 1, n - 1, out->part, sizeof out->part);
    }
    if (strncmp(dot, ".so", 3) != 0 || (n > 0 && !take_part(p + 1, n - 1, out->part, sizeof out->part)))
        return false;
    return dot[3] == 0 || (dot[3] == '.' && take_numbers(dot + 4, out));
}

/* Behind "cudnn": [_part][64_N].dll or .lib */
static bool windows_name(const char *p, cudnn_name *out)
{
    size_t length = strlen(p) - 4;
    bool lib = ends_with(p, ".lib");
    const char *mark = NULL;
    for (const char *q = p; (q = strstr(q, "64_")) != NULL; q++)
        mark = q;
    size_t n = mark ? (size_t)(mark - p) : length;
    if ((!mark && !lib) || (n > 0 && (p[0] != '_' || !take_part(p + 1, n - 1, out->part, sizeof out->part))))
        return false;
    if (mark) {
        char *end;
        out->numbers[out->count++] = (int)strtoul(mark + 3, &end, 10);
        if (end == mark + 3 || end != p + length)
            return false;
    }
    out->is_dll = true;
    out->is_import = lib;
    return true;
}

bool cli_cudnn_name(const char *name, cudnn_name *out)
{
    char lower[128];
    memset(out, 0, sizeof *out);
    if (strncmp(name, "libcudnn", 8) == 0)
        return unix_name(name + 8, out);
    if (strlen(name) >= sizeof lower)
        return false;
    size_t i = 0;
    for (; name[i]; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    lower[i] = 0;
    if (strncmp(lower, "cudnn", 5) != 0 || (!ends_with(lower, ".dll") && !ends_with(lower, ".lib")))
        return false;
    return windows_name(lower + 5, out);
}

static const char *const parts_8[] = { "", "ops_infer", "ops_train", "cnn_infer", "cnn_train", "adv_infer", "adv_train", NULL };
static const char *const parts_9[] = { "", "graph", "ops", "cnn", "adv", "engines_precompiled", "engines_runtime_compiled",
                                       "heuristic", NULL };
static const char *const parts_9_21[] = { "", "graph", "ops", "cnn", "adv", "engines_precompiled", "engines_runtime_compiled",
                                          "heuristic", "engines_tensor_ir", NULL };
static const char *const parts_9_24[] = { "", "graph", "ops", "cnn", "adv", "engines_precompiled", "engines_runtime_compiled",
                                          "heuristic", "engines_tensor_ir", "ext", NULL };

const char *const *cli_sublibraries(int version)
{
    if (version >= 8000 && version < 9000)
        return parts_8;
    if (version < 90000)
        return NULL;
    return version >= 92400 ? parts_9_24 : version >= 92100 ? parts_9_21 : parts_9;
}

void cli_library_name(const char *part, int abi, bool is_dll, char *out, size_t size)
{
    snprintf(out, size, is_dll ? "cudnn%s%s64_%d.dll" : "libcudnn%s%s.so.%d", *part ? "_" : "", part, abi);
}

const char *cli_kind_name(file_kind kind)
{
    static const char *const names[] = { "missing", "elf", "pe", "static", "header", "archive", "html", "git-lfs-pointer", "text",
                                         "other", "folder" };
    return names[kind];
}

const char *cli_how_text(file_how how)
{
    static const char *const texts[] = { "not known", "version resource (a hint)", "the library beside it", "file name",
                                         "constants in the code", "macros in the header", "constant in a version check",
                                         "data symbol", "constant returned by cudnnGetVersion" };
    return texts[how];
}

/* Skips one number after the macro's name: spaces, tabs, then digits. -1 where something else stands there. */
static int macro_number(const char *p, const char *end)
{
    int value = 0, digits = 0;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    for (; p < end && isdigit((unsigned char)*p) && digits < 6; digits++)
        value = value * 10 + (*p++ - '0');
    return digits ? value : -1;
}

/* The word at *p, which moves past it. */
static size_t word(const char **p, const char *end)
{
    while (*p < end && (**p == ' ' || **p == '\t'))
        ++*p;
    const char *start = *p;
    while (*p < end && (isalnum((unsigned char)**p) || **p == '_'))
        ++*p;
    return (size_t)(*p - start);
}

static bool is_word(const char *p, size_t n, const char *text)
{
    return n == strlen(text) && memcmp(p, text, n) == 0;
}

int cli_header_version(const char *text, size_t size, bool *includes_version)
{
    static const char *const macros[3] = { "CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL" };
    int n[3] = { -1, -1, -1 };
    const char *end = text + size;
    *includes_version = false;
    for (const char *line = text, *next; line < end; line = next) {
        const char *nl = memchr(line, '\n', (size_t)(end - line)), *p = line, *stop = nl ? nl : end;
        next = nl ? nl + 1 : end;
        while (p < stop && (*p == ' ' || *p == '\t'))
            p++;
        if (p == stop || *p++ != '#')
            continue;
        size_t length = word(&p, stop);
        if (is_word(p - length, length, "include")) {
            const char *name = memchr(p, 'c', (size_t)(stop - p));
            *includes_version |= name && stop - name > 13 && memcmp(name, "cudnn_version", 13) == 0;
        }
        if (!is_word(p - length, length, "define"))
            continue;
        length = word(&p, stop);
        for (int i = 0; i < 3; i++)
            if (is_word(p - length, length, macros[i]) && n[i] < 0)
                n[i] = macro_number(p, stop);
    }
    return n[0] > 0 && n[1] >= 0 && n[2] >= 0 && possible(n[0], n[1], n[2]) ? cli_version_make(n[0], n[1], n[2]) : 0;
}
