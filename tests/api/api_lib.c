/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "api_lib.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Asked by the address sanitizer. A request for more memory than there is must answer NULL, as malloc does. Leaks are looked for
 * on ref alone: with threads of OpenMP in the process, which oneDNN starts, gcc 12's leak checker itself crashes at exit. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    const char *engine = getenv("ANYDNN_ENGINE");
    return engine && !strcmp(engine, "ref") ? "allocator_may_return_null=1" : "allocator_may_return_null=1:detect_leaks=0";
}

struct api api;
bool api_ours;
static void *library;

/* Name and place of each member of struct api. */
static const struct { const char *name; size_t offset; } members[] = {
#define API_ENTRY_1_REAL(n) {#n, offsetof(struct api, n)},
#define API_ENTRY_1_STUB(n)
#define API_ENTRY_0_REAL(n)
#define API_ENTRY_0_STUB(n)
#define DN_FN(n, in8, in9, l8, l9, kind) API_SELECT(ENTRY, n, in8, in9, kind)
#include "api/functions.def"
#undef DN_FN
    API_OWN(API_ENTRY_1_REAL)
};

bool api_open(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : getenv("CUDNN_LIB");
    if (!path) {
        fprintf(stderr, "usage: %s LIBRARY (or set CUDNN_LIB)\n", argv[0]);
        return false;
    }
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        void *p = dlsym(library, members[i].name);
        memcpy((char *)&api + members[i].offset, &p, sizeof p);
    }
    api_ours = api.anydnnGetVersionString != NULL;
    if (!api.cudnnGetVersion || api.cudnnGetVersion() / 1000 != API_VERSION / 1000) {
        fprintf(stderr, "%s is not a cuDNN %d library\n", path, DN_ABI);
        return false;
    }
    return true;
}

void *api_symbol(const char *name)
{
    return dlsym(library, name);
}

static cudnnHandle_t shared_handle;
static bool handle_tried;

static cudnnHandle_t handle_or_null(void)
{
    if (!handle_tried) {
        handle_tried = true;
        cudnnStatus_t st = api.cudnnCreate(&shared_handle);
        if (st != OK) {
            shared_handle = NULL;
            print_message("no handle: %s %s\n", api_status(st), api_error());
        }
    }
    return shared_handle;
}

cudnnHandle_t api_handle(void)
{
    if (!handle_or_null())
        skip();
    return shared_handle;
}

const char *api_engine(void)
{
    cudnnHandle_t h = handle_or_null();
    return !h ? NULL : api.anydnnGetEngineName ? api.anydnnGetEngineName(h) : "vendor";
}

const char *api_error(void)
{
    if (api.anydnnGetLastErrorString)
        return api.anydnnGetLastErrorString();
#if DN_ABI >= 9
    static char text[4096];
    text[0] = 0;
    if (api.cudnnGetLastErrorString)
        api.cudnnGetLastErrorString(text, sizeof text);
    return text;
#else
    return "";
#endif
}

int api_class(cudnnStatus_t st)
{
    return DN_ABI == 8 ? (int)st : (int)st / 1000 * 1000;
}

const char *api_status(cudnnStatus_t st)
{
    return api.cudnnGetErrorString(st);
}

void api_must(const char *file, int line, const char *call, cudnnStatus_t st)
{
    if (st == OK)
        return;
    print_error("%s:%d: %s\n    answered %s: %s\n", file, line, call, api_status(st), api_error());
    _fail(file, line);
}

/* --- rows --- */
int api_row_count;
static int rows_failed;
static const char *seen[512];
static int seen_count;

bool api_row_seen(const char *fn)
{
    for (int i = 0; i < seen_count; i++)
        if (!strcmp(seen[i], fn))
            return true;
    return false;
}

sigjmp_buf api_row_jump;
static void (*handler_before)(int);

static void on_crash(int sig)
{
    (void)sig;
    siglongjmp(api_row_jump, 1);
}

void api_row_skipped(const char *fn)
{
    if (!api_row_seen(fn) && seen_count < 512)
        seen[seen_count++] = fn;
}

void api_row_begin(const char *fn)
{
    api_row_skipped(fn);
    if (!api_ours)
        handler_before = signal(SIGSEGV, on_crash);
    if (api_ours && strcmp(fn, "cudnnGetProperty"))
        api.cudnnGetProperty((libraryPropertyType)77, NULL);
}

void api_row_absent(const char *fn)
{
    if (api_ours) {
        print_error("%s is not exported\n", fn);
        rows_failed++;
    }
}

/* Our text is "function: ..." and has every wanted word. */
static bool text_is_good(const api_row_info *r, const char *text)
{
    size_t n = strlen(r->fn);
    bool good = !strncmp(text, r->fn, n) && text[n] == ':';
    if (!good)
        print_error("%s:%d: %s%s: the text does not begin with the function's name: \"%s\"\n", r->file, r->line, r->fn, r->args,
                    text);
    for (int i = 0; good && r->texts[i]; i++)
        if (!strstr(text + n, r->texts[i])) {
            print_error("%s:%d: %s%s: no \"%s\" in \"%s\"\n", r->file, r->line, r->fn, r->args, r->texts[i], text);
            good = false;
        }
    return good;
}

void api_row_crashed(const api_row_info *r)
{
    signal(SIGSEGV, handler_before);
    api_row_count++;
    print_message("%s:%d: %s%s crashed\n", r->file, r->line, r->fn, r->args);
}

void api_row_check(const api_row_info *r, cudnnStatus_t got)
{
    api_row_count++;
    if (!api_ours)
        signal(SIGSEGV, handler_before);
    cudnnStatus_t want = api_ours ? r->ours : r->vendors;
    bool good = api_class(got) == api_class(want);
    if (!good)
        print_error("%s:%d: %s%s\n    answered %s (%d), wanted %s (%d): %s\n", r->file, r->line, r->fn, r->args, api_status(got),
                    (int)got, api_status(want), (int)want, got == OK ? "" : api_error());
    else if (api_ours && got != OK)
        good = text_is_good(r, api_error());
    rows_failed += !good;
}

void api_rows_done(void)
{
    int failed = rows_failed;
    rows_failed = 0;
    if (failed)
        fail_msg("%d rows failed", failed);
}
