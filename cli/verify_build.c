/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Level 2 of `verify`: a C program is compiled against the headers, linked with the library and run. Three versions are compared: that of the
 * header, that of the file which was linked, and what the started program was answered. */
#define _GNU_SOURCE
#include "verify.h"
#include "tree.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 60, ARGUMENTS_MAX = 24 };

static const char proves[] = "a C program compiles and links against these headers and this library, starts, and header, file and running library "
                             "have one version";
static const char proves_not[] = "that other programs' builds find them in this order (anydnn env), or that anything is computed (level 3)";

/* Waits at its end so that its map can be read. */
static const char program[] = "#include <cudnn.h>\n"
                              "#include <stdio.h>\n"
                              "int main(void)\n"
                              "{\n"
                              "    printf(\"header\\t%ld\\n\", (long)CUDNN_VERSION);\n"
                              "    fflush(stdout);\n"
                              "    printf(\"runtime\\t%ld\\nready\\n\", (long)cudnnGetVersion());\n"
                              "    fflush(stdout);\n"
                              "    return getchar() == EOF ? 0 : 1;\n"
                              "}\n";

/* Types of CUDA that cuDNN's headers name, for machines without CUDA's headers. Sizes and values do not matter to the program above. */
static const char cuda_types[] = "#pragma once\n"
                                 "#include <stddef.h>\n"
                                 "typedef struct CUstream_st *cudaStream_t;\n"
                                 "typedef struct CUevent_st *cudaEvent_t;\n"
                                 "typedef struct CUgraph_st *cudaGraph_t;\n"
                                 "typedef enum { cudaSuccess } cudaError_t;\n"
                                 "typedef enum { CUDA_R_32F } cudaDataType_t;\n"
                                 "#ifndef __LIBRARY_TYPES_H__\n" /* without it cuDNN's headers declare the next one themselves */
                                 "#define __LIBRARY_TYPES_H__\n"
                                 "typedef enum { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL } libraryPropertyType;\n"
                                 "#endif\n";

typedef struct build {
    verify *v;
    verify_level level;
    char *folder, *binary, *compiler;
    char *include, *cuda;    /* cuda: folder of CUDA's headers, or of ours in their place */
    bool own_types;
} build;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void finish(build *b)
{
    if (b->folder)
        nftw(b->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(b->folder);
    free(b->binary);
    free(b->compiler);
    free(b->include);
    free(b->cuda);
}

static bool write_file(const char *folder, const char *name, const char *text)
{
    char *path = tree_join(folder, name);
    FILE *f = path ? fopen(path, "w") : NULL;
    bool good = f && fputs(text, f) >= 0;

    good = (f && fclose(f) == 0) && good;
    free(path);
    return good;
}

/* A word of CC ("ccache gcc" too), else the first that is there. */
static char *find_compiler(void)
{
    static const char *const names[] = { "cc", "gcc", "clang" };
    const char *cc = getenv("CC");
    char *found = NULL;

    if (cc && *cc) {
        char *first = cli_format("%.*s", (int)strcspn(cc, " "), cc), *path = first ? process_find(first) : NULL;
        found = path ? strdup(cc) : NULL;
        free(path);
        free(first);
    }
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = process_find(names[i]);
    return found;
}

/* Folder of cudnn.h for the library. */
static char *find_include(const verify *v)
{
    static const char *const beside[] = { "../include", "../../include", "../../../include", "../include/x86_64-linux-gnu", NULL };
    char *header = v->place.include ? tree_join(v->place.include, "cudnn.h") : NULL, *found;

    found = header && access(header, R_OK) == 0 ? strdup(v->place.include) : NULL;
    free(header);
    for (int i = 0; !found && beside[i]; i++) {
        char *dir = tree_join(v->place.lib, beside[i]), *path = dir ? tree_join(dir, "cudnn.h") : NULL;
        if (path && access(path, R_OK) == 0)
            found = realpath(dir, NULL);
        free(path);
        free(dir);
    }
    return found;
}

/* The folder of the toolkit that the environment names, and no other then; else the usual one, or none where the compiler has it anyway. */
static char *find_cuda(build *b)
{
    const char *home = getenv("CUDA_HOME"), *root = home && *home ? home : getenv("CUDA_PATH");
    bool named = root && *root;
    char *folder = cli_format("%s/include", named ? root : "/usr/local/cuda"), *header = folder ? tree_join(folder, "cuda_runtime_api.h") : NULL;
    bool is_there = header && access(header, R_OK) == 0;

    free(header);
    if (is_there)
        return folder;
    free(folder);
    if (!named && access("/usr/include/cuda_runtime_api.h", R_OK) == 0)
        return NULL;
    b->own_types = true;
    if (!write_file(b->folder, "cuda_runtime_api.h", cuda_types) || !write_file(b->folder, "cuda_runtime.h", "#include \"cuda_runtime_api.h\"\n") ||
        !write_file(b->folder, "library_types.h", "#include \"cuda_runtime_api.h\"\n") ||
        !write_file(b->folder, "driver_types.h", "#include \"cuda_runtime_api.h\"\n"))
        return NULL;
    return strdup(b->folder);
}

static bool compile(build *b, process *child)
{
    const char *argv[ARGUMENTS_MAX];
    char *words = strdup(b->compiler), *at = words, *source = tree_join(b->folder, "program.c"), *include = cli_format("-I%s", b->include),
         *cuda = b->cuda ? cli_format("-I%s", b->cuda) : NULL, *lib = cli_format("-L%s", b->v->place.lib),
         *name = cli_format("-l:%s", cli_base_name(b->v->place.file)), *link = cli_format("-Wl,-rpath-link,%s", b->v->place.lib);
    int n = 0;
    bool good = false;

    for (char *word; at && (word = strsep(&at, " ")) != NULL && n < 8;)
        if (*word)
            argv[n++] = word;
    const char *const rest[] = { source, include, "-o", b->binary, lib, name, link, "-Wl,--allow-shlib-undefined", cuda, NULL };
    if (words && source && include && lib && name && link)
        for (int i = 0; i < 10; i++)
            argv[n++] = rest[i];
    argv[n] = NULL;
    good = n > 9 && process_run(child, argv, NULL, SECONDS) == 0;
    free(words);
    free(source);
    free(include);
    free(cuda);
    free(lib);
    free(name);
    free(link);
    return good;
}

/* First line of the compiler's that has the word error, else its first. */
static void error_line(const process *child, char *out, size_t size)
{
    const char *text = child->errors.text ? child->errors.text : "", *at = strstr(text, "error");

    while (at && at > text && at[-1] != '\n')
        at--;
    at = at ? at : text;
    snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
}

static long answer_of(process *child, const char *word)
{
    const char *line = process_wait_for(child, word);

    return line ? strtol(line + strlen(word), NULL, 10) : 0;
}

static bool is_ours_mapped(build *b, const process *child, char *other, size_t size)
{
    char pid[24];
    maps m;
    bool is = false;

    snprintf(pid, sizeof pid, "%d", (int)child->pid);
    *other = 0;
    if (verify_read_maps(&m, pid) == 0)
        for (size_t i = 0; i < m.count; i++) {
            bool of = verify_is_library(m.files[i].path) && verify_is_of(&m.files[i], b->v->place.lib);
            is = is || of;
            if (!of && verify_is_library(m.files[i].path))
                snprintf(other, size, "%s", m.files[i].path);
        }
    maps_free(&m);
    return is;
}

static void judge_header(build *b, long header, int library)
{
    char of_header[32], of_library[32];
    int major = cli_version_major((int)header);
    bool newer = header > library;

    if (header == library || !library)
        return;
    cli_version_text((int)header, of_header);
    cli_version_text(library, of_library);
    bool same_minor = strncmp(of_header, of_library, strcspn(of_header, ".") + 2) == 0, same_major = major == cli_version_major(library);
    cJSON *where = verify_finding(b->v, !same_major || (newer && !same_minor) ? CLI_ERROR : same_minor ? CLI_NOTE : CLI_WARNING, "header-mismatch",
                                  "A program checks the two at its start, or uses functions and numbers that the library does not have.", NULL,
                                  "The header is of %s (%ld), the library of %s (%d).", of_header, header, of_library, library);
    cli_where(where, b->include);
    cli_where(where, b->v->place.file);
}

/* What a program that is started just so gets; with LD_LIBRARY_PATH in a second try where it got another one. */
static void judge_run(build *b)
{
    char *variable = cli_format("LD_LIBRARY_PATH=%s", b->v->place.lib), *fix = cli_format("eval \"$(anydnn env --prefix %s shell)\"",
                                                                                         b->v->place.dir ? b->v->place.dir : b->v->place.lib);
    const char *argv[] = { b->binary, NULL }, *with[] = { variable, NULL };
    char other[600] = "", text[64], how[120];
    long header = 0, runtime = 0;
    bool good = false;

    for (int attempt = 0; !good && attempt < 2; attempt++) {
        process child;
        if (process_begin(&child, argv, attempt ? with : NULL, SECONDS) != 0)
            break;
        bool ready = process_wait_for(&child, "ready") != NULL;
        header = answer_of(&child, "header\t");
        runtime = answer_of(&child, "runtime\t");
        good = ready && is_ours_mapped(b, &child, other, sizeof other);
        process_end(&child);
        if (attempt == 0 && !good)
            verify_finding(b->v, ready && runtime != b->v->file.version ? CLI_WARNING : CLI_NOTE, ready ? "other-at-run-time" : "needs-path",
                           "This folder is not the first on the loader's search path. The rest of this level sets LD_LIBRARY_PATH.", fix,
                           ready ? "The program that was linked with %s runs with %s." : "The program that was linked with %s finds no library%s.",
                           b->v->place.file, ready ? other : " when it starts");
        else if (!ready) {
            error_line(&child, other, sizeof other);
            verify_finding(b->v, CLI_ERROR, "not-started", other, NULL, "The program does not run: %s.", process_how(&child, how));
        }
        process_free(&child);
    }
    free(variable);
    free(fix);
    snprintf(text, sizeof text, "header %ld, file %d, running %ld", header, b->v->file.version, runtime);
    verify_fact(b->v, &b->level, "versions", text);
    if (!good)
        verify_finding(b->v, CLI_ERROR, "not-loaded", "Even with LD_LIBRARY_PATH another file came first.", NULL,
                       "The program does not run with %s.", b->v->place.file);
    else if (b->v->file.version && runtime != b->v->file.version)
        verify_finding(b->v, CLI_ERROR, "version-differs", "The file has one version in it and answers another.", NULL,
                       "cudnnGetVersion answers %ld, the file has %d in it.", runtime, b->v->file.version);
    judge_header(b, header, good ? (int)runtime : b->v->file.version);
}

/* Why the level cannot be done; NULL where it was. */
static const char *build_and_run(build *b)
{
    const char *folder = getenv("TMPDIR");
    char line[600];
    process child;

    b->include = find_include(b->v);
    if (!b->include)
        return "there is no cudnn.h beside this library (runtime only, as in a wheel without headers)";
    b->compiler = find_compiler();
    if (!b->compiler)
        return "no C compiler was found (CC, cc, gcc, clang)";
    b->folder = cli_format("%s/anydnn-verify-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!b->folder || !mkdtemp(b->folder)) {
        free(b->folder);
        b->folder = NULL;
        return "no temporary folder could be made";
    }
    b->binary = tree_join(b->folder, "program");
    b->cuda = find_cuda(b);
    verify_fact(b->v, &b->level, "compiler", b->compiler);
    verify_fact(b->v, &b->level, "headers", b->include);
    verify_fact(b->v, &b->level, "CUDA headers", b->own_types ? "none here: the few types that cuDNN's headers name were declared instead"
                                                              : b->cuda ? b->cuda : "/usr/include");
    if (!b->binary || !write_file(b->folder, "program.c", program))
        return "the program could not be written";
    if (!compile(b, &child))
        return "the compiler could not be started";
    if (child.code == 0) {
        judge_run(b);
    } else {
        error_line(&child, line, sizeof line);
        verify_finding(b->v, CLI_ERROR, strstr(line, "cudnn") && strstr(line, ".h") ? "not-compiled" : "not-built", line, NULL,
                       "A small program that includes cudnn.h and calls cudnnGetVersion cannot be built.");
    }
    process_free(&child);
    return NULL;
}

void verify_build(verify *v)
{
    build b;
    const char *skipped;

    memset(&b, 0, sizeof b);
    b.v = v;
    b.level = verify_begin(v, "build", "Level 2, build: a C program is compiled, linked and run");
    skipped = build_and_run(&b);
    verify_end(v, &b.level, skipped, proves, proves_not);
    finish(&b);
}
