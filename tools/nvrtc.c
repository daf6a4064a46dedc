/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Build-time program: code of one .cu file by NVRTC, the compiler as a library, of any toolkit from 11.8 on. So a release takes each
 * architecture's code from the oldest toolkit that knows it, without those toolkits being installed.
 *
 *   nvrtc LIB                             prints the toolkit's version and the architectures that it knows: "11080 35 37 ... 90"
 *   nvrtc LIB ARCH INCLUDE_DIR FILE OUT   sm_90a: machine code, compute_80: text; OUT.log has what the assembler says of each kernel's
 *                                         resources, OUT.d the files that FILE includes
 *
 * A warning fails, as an error does: every includer is ours. */
#include "core/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions used, declared here so that no header of a toolkit is needed. Each answers 0 or the number of an error. */
static struct {
    int (*Version)(int *major, int *minor);
    int (*GetNumSupportedArchs)(int *n);
    int (*GetSupportedArchs)(int *archs);
    int (*CreateProgram)(void **program, const char *source, const char *name, int headers, const char *const *texts, const char *const *names);
    int (*CompileProgram)(void *program, int n, const char *const *options);
    int (*GetProgramLogSize)(void *program, size_t *size);
    int (*GetProgramLog)(void *program, char *log);
    int (*GetCUBINSize)(void *program, size_t *size);
    int (*GetCUBIN)(void *program, char *code);
    int (*GetPTXSize)(void *program, size_t *size);
    int (*GetPTX)(void *program, char *code);
    const char *(*GetErrorString)(int rc);
} rtc;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "nvrtc: %s: %s\n", what, why);
    exit(1);
}

static void check(int rc, const char *what)
{
    if (rc)
        fail(what, rtc.GetErrorString(rc));
}

static void open_library(const char *path)
{
    void *lib = dn_lib_open(path), *f;
    if (!lib)
        fail(path, dn_lib_error());
#define NEED(name)                               \
    f = dn_lib_symbol(lib, "nvrtc" #name);       \
    if (!f)                                      \
        fail(path, "nvrtc" #name " is missing"); \
    memcpy(&rtc.name, &f, sizeof f)
    NEED(Version);
    NEED(GetNumSupportedArchs);
    NEED(GetSupportedArchs);
    NEED(CreateProgram);
    NEED(CompileProgram);
    NEED(GetProgramLogSize);
    NEED(GetProgramLog);
    NEED(GetCUBINSize);
    NEED(GetCUBIN);
    NEED(GetPTXSize);
    NEED(GetPTX);
    NEED(GetErrorString);
#undef NEED
}

static void print_facts(void)
{
    int major, minor, n, archs[256];
    check(rtc.Version(&major, &minor), "nvrtcVersion");
    check(rtc.GetNumSupportedArchs(&n), "nvrtcGetNumSupportedArchs");
    if (n > (int)(sizeof archs / sizeof *archs))
        fail("nvrtcGetNumSupportedArchs", "more architectures than this program has room for");
    check(rtc.GetSupportedArchs(archs), "nvrtcGetSupportedArchs");
    printf("%d", major * 1000 + minor * 10);
    for (int i = 0; i < n; i++)
        printf(" %d", archs[i]);
    printf("\n");
}

static void *grow(void *p, size_t size)
{
    p = realloc(p, size);
    if (!p)
        fail("memory", "out of memory");
    return p;
}

/* The text of a file, NULL where it cannot be read. */
static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, got = 0;
    if (!f)
        return NULL;
    do {
        text = grow(text, (size += 65536) + 1);
        got += fread(text + got, 1, size - got, f);
    } while (got == size);
    text[got] = 0;
    fclose(f);
    return text;
}

static void write_file(const char *out, const char *end, const char *data, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s", out, end);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f))
        fail(path, strerror(errno));
}

/* --- what a file includes --- */
typedef struct files {
    char *path[256];
    int n;
} files;

static void add_file(files *list, const char *dir, size_t dir_len, const char *name, size_t len)
{
    char *path = grow(NULL, dir_len + len + 2);
    sprintf(path, "%.*s%s%.*s", (int)dir_len, dir, dir_len ? "/" : "", (int)len, name);
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->path[i], path) == 0) {
            free(path);
            return;
        }
    if (list->n == (int)(sizeof list->path / sizeof *list->path))
        fail(path, "more includes than this program has room for");
    list->path[list->n++] = path;
}

/* Every #include "x" of list[i], taken as include_dir/x: all includes of the kernels are written so. */
static void scan(files *list, int i, const char *include_dir)
{
    char *text = read_text(list->path[i]);
    if (!text)
        fail(list->path[i], strerror(errno));
    for (char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n \t");
        if (strncmp(line, "#include \"", 10) == 0)
            add_file(list, include_dir, strlen(include_dir), line + 10, strcspn(line + 10, "\"\n"));
    }
    free(text);
}

static void write_deps(const char *out, const char *include_dir, const char *source)
{
    static files list;
    char path[4096];
    snprintf(path, sizeof path, "%s.d", out);
    add_file(&list, "", 0, source, strlen(source));
    for (int i = 0; i < list.n; i++)
        scan(&list, i, include_dir);
    FILE *f = fopen(path, "w");
    if (!f)
        fail(path, strerror(errno));
    list.path[list.n] = NULL;
    for (int i = -1; i < list.n; i++) {
        for (const char *c = i < 0 ? out : list.path[i]; *c; c++)
            fprintf(f, "%s%c", *c == ' ' ? "\\" : "", *c);
        fprintf(f, "%s", i < 0 ? ": " : i + 1 < list.n ? " \\\n " : "\n");
    }
    if (fclose(f))
        fail(path, strerror(errno));
}

/* --- code --- */
static void write_log(void *program, const char *out, int rc)
{
    size_t size;
    check(rtc.GetProgramLogSize(program, &size), "nvrtcGetProgramLogSize");
    char *log = grow(NULL, size + 1);
    check(rtc.GetProgramLog(program, log), "nvrtcGetProgramLog");
    log[size] = 0;
    write_file(out, ".log", log, strlen(log));
    if (rc || strstr(log, "warning")) {
        fprintf(stderr, "%s\nnvrtc: %s: %s\n", log, out, rc ? rtc.GetErrorString(rc) : "a warning counts as an error");
        exit(1);
    }
    free(log);
}

static void compile(const char *arch, const char *include_dir, const char *source, const char *out)
{
    char target[64], include[4096], *text = read_text(source);
    const char *options[] = { target, include, "--std=c++14", "--ptxas-options=-v" };
    int is_text = strncmp(arch, "compute_", 8) == 0;
    void *program;
    size_t size;
    if (!text)
        fail(source, strerror(errno));
    snprintf(target, sizeof target, "--gpu-architecture=%s", arch);
    snprintf(include, sizeof include, "--include-path=%s", include_dir);
    check(rtc.CreateProgram(&program, text, source, 0, NULL, NULL), "nvrtcCreateProgram");
    /* The assembler's option means nothing where only text is made. */
    write_log(program, out, rtc.CompileProgram(program, is_text ? 3 : 4, options));
    check(is_text ? rtc.GetPTXSize(program, &size) : rtc.GetCUBINSize(program, &size), "size of the code");
    char *code = grow(NULL, size);
    check(is_text ? rtc.GetPTX(program, code) : rtc.GetCUBIN(program, code), "the code");
    /* Text ends with a zero, which is not for the file. */
    write_file(out, "", code, is_text ? strlen(code) : size);
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 6) {
        fprintf(stderr, "usage: nvrtc LIB [ARCH INCLUDE_DIR FILE OUT]\n");
        return 2;
    }
    open_library(argv[1]);
    if (argc == 2) {
        print_facts();
        return 0;
    }
    write_deps(argv[5], argv[3], argv[4]);
    compile(argv[2], argv[3], argv[4], argv[5]);
    return 0;
}
