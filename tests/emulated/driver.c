/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A libcuda.so.1 for tests: one device, whose kernels are C++ functions in this same file, found by name. It has what the engine and the
 * tests call and refuses what a driver refuses: no context, a function of another context, a launch that is too large. */
#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SM_COUNT = 2, SHARED_PLAIN = 48 << 10, DEEPEST = 16, SM_THREADS = 2048 };

/* --- contexts --- */

struct context {
    unsigned long long id;
};
typedef struct module {
    context *of;
} module;
typedef struct function {
    context *of;
    emu_kernel kernel;
    const char *name;
    int shared_max;
} function;

static context primary = { 1 };
static _Thread_local context *stack[DEEPEST];
static _Thread_local int depth;

context *emu_context(void)
{
    return depth ? stack[depth - 1] : NULL;
}

EXPORT int cuDevicePrimaryCtxRetain(context **c, int device)
{
    *c = &primary;
    return device ? INVALID_VALUE : SUCCESS;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
    return device ? INVALID_VALUE : SUCCESS;
}

EXPORT int cuCtxGetCurrent(context **c)
{
    *c = emu_context();
    return SUCCESS;
}

EXPORT int cuCtxPushCurrent_v2(context *c)
{
    if (!c || depth == DEEPEST)
        return INVALID_CONTEXT;
    stack[depth++] = c;
    return SUCCESS;
}

EXPORT int cuCtxPopCurrent_v2(context **c)
{
    *c = emu_context();
    return depth ? (depth--, SUCCESS) : INVALID_CONTEXT;
}

EXPORT int cuCtxSetCurrent(context *c)
{
    depth -= depth > 0;
    return c ? cuCtxPushCurrent_v2(c) : SUCCESS;
}

EXPORT int cuCtxGetDevice(int *device)
{
    *device = 0;
    return emu_context() ? SUCCESS : INVALID_CONTEXT;
}

EXPORT int cuCtxGetId(const context *c, unsigned long long *id)
{
    *id = c->id;
    return SUCCESS;
}

EXPORT int cuCtxCreate_v2(context **c, unsigned flags, int device)
{
    static unsigned long long ids = 1;
    if (flags || device)
        return INVALID_VALUE;
    *c = malloc(sizeof **c);
    if (!*c)
        return OUT_OF_MEMORY;
    (*c)->id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
    return cuCtxPushCurrent_v2(*c);
}

EXPORT int cuCtxDestroy_v2(context *c)
{
    depth -= emu_context() == c;
    free(c);
    return SUCCESS;
}

EXPORT int cuCtxSynchronize(void)
{
    return emu_context() ? SUCCESS : INVALID_CONTEXT;
}

/* --- the device --- */

EXPORT int cuInit(unsigned flags)
{
    return flags ? INVALID_VALUE : SUCCESS;
}

EXPORT int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return SUCCESS;
}

EXPORT int cuDeviceGetCount(int *count)
{
    *count = 1;
    return SUCCESS;
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
    *device = 0;
    return ordinal ? 101 : SUCCESS;
}

EXPORT int cuDeviceGetName(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "emulated device");
    return device ? INVALID_VALUE : SUCCESS;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    static const struct { int attribute, value; } known[] = {
        { 10, 32 } /* threads of a warp */, { 16, SM_COUNT }, { 38, 50 << 20 } /* bytes of L2 */, { 75, 9 }, { 76, 0 } /* capability */,
        { 88, 0 } /* no access to pageable memory */, { 95, 0 } /* no cooperative launches */, { 97, EMU_SHARED },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            return device ? INVALID_VALUE : SUCCESS;
        }
    return INVALID_VALUE;
}

EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = 1;
    return device || peer ? INVALID_VALUE : SUCCESS;
}

/* --- code --- */

/* An image of this driver is a line of text (CMakeLists.txt). */
EXPORT int cuModuleLoadData(module **m, const void *image)
{
    if (!emu_context())
        return INVALID_CONTEXT;
    int rc = emu_allowed();
    if (rc != SUCCESS)
        return rc;
    if (strncmp(image, "emulated ", 9) != 0)
        return INVALID_IMAGE;
    *m = malloc(sizeof **m);
    if (!*m)
        return OUT_OF_MEMORY;
    (*m)->of = emu_context();
    return SUCCESS;
}

EXPORT int cuModuleUnload(module *m)
{
    free(m);
    return SUCCESS;
}

static void *self(void)
{
    Dl_info here;
    return dladdr((void *)(uintptr_t)self, &here) ? dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

/* Functions live as long as the process: a context may be gone and a row of ours still hold one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known {
    struct known *next;
    function f;
} *functions;

static function *function_of(context *c, void *kernel, const char *name)
{
    pthread_mutex_lock(&lock);
    struct known *k = functions;
    while (k && (k->f.of != c || k->f.kernel != (emu_kernel)(uintptr_t)kernel))
        k = k->next;
    if (!k && (k = malloc(sizeof *k))) {
        *k = (struct known){ functions, { c, (emu_kernel)(uintptr_t)kernel, name, SHARED_PLAIN } };
        functions = k;
    }
    pthread_mutex_unlock(&lock);
    return k ? &k->f : NULL;
}

EXPORT int cuModuleGetFunction(function **f, module *m, const char *name)
{
    void *lib = self(), *kernel = lib ? dlsym(lib, name) : NULL;
    Dl_info found;
    if (!kernel || strncmp(name, "cuda_", 5) != 0 || !dladdr(kernel, &found))
        return NOT_FOUND;
    *f = function_of(m->of, kernel, found.dli_sname);
    return *f ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT int cuFuncLoad(const function *f)
{
    return f->of == emu_context() ? emu_allowed() : INVALID_HANDLE;
}

EXPORT int cuFuncGetAttribute(int *value, int attribute, const function *f)
{
    *value = attribute == 4 ? 32 : 0;  /* registers */
    return f->of == emu_context() ? SUCCESS : INVALID_HANDLE;
}

EXPORT int cuFuncSetAttribute(function *f, int attribute, int value)
{
    if (attribute != 8 || value > EMU_SHARED)  /* dynamic shared memory */
        return INVALID_VALUE;
    f->shared_max = value;
    return SUCCESS;
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const function *f, int threads, size_t shared)
{
    size_t by_threads = (size_t)(SM_THREADS / threads), by_shared = shared ? EMU_SHARED / shared : by_threads;
    *blocks = (int)(by_threads < by_shared ? by_threads : by_shared);
    return f->of == emu_context() ? SUCCESS : INVALID_HANDLE;
}

/* --- launches --- */

/* The size of a kernel's struct is not known here: up to the most that a launch takes, as far as there is memory. */
static void copy_params(unsigned char *to, const unsigned char *from)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), first = page - (uintptr_t)from % page, size = EMU_PARAMS;
    unsigned char there;
    if (first < size && mincore((void *)(uintptr_t)(from + first), 1, &there) != 0)
        size = first;
    memcpy(to, from, size);
}

EXPORT int cuLaunchKernel(const function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                          stream *s, void **params, void **extra)
{
    emu_launch l = { .kernel = f->kernel, .name = f->name, .grid = { gx, gy, gz }, .block = { bx, by, bz }, .shared = shared };
    if (f->of != emu_context())
        return INVALID_HANDLE;
    if (extra || !gx || !gy || !gz || !bx || !by || !bz || gx > 0x7fffffff || gy > 65535 || gz > 65535 || bz > 64 ||
        (uint64_t)bx * by * bz > EMU_THREADS || shared > (unsigned)f->shared_max)
        return INVALID_VALUE;
    copy_params(l.params, params[0]);
    return emu_submit(s, &l);
}

EXPORT int cuLaunchCooperativeKernel(const function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                     unsigned shared, stream *s, void **params)
{
    (void)f, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)s, (void)params;
    return NOT_SUPPORTED;
}

/* --- errors --- */

EXPORT int cuGetErrorName(int error, const char **text)
{
    static const struct { int error; const char *name; } names[] = {
        { SUCCESS, "CUDA_SUCCESS" }, { INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE" }, { OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY" },
        { INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE" }, { INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT" },
        { INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE" }, { NOT_FOUND, "CUDA_ERROR_NOT_FOUND" }, { 719, "CUDA_ERROR_LAUNCH_FAILED" },
        { NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED" }, { CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" },
    };
    *text = "an error of the emulated driver";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].error == error)
            *text = names[i].name;
    return SUCCESS;
}

EXPORT int cuGetErrorString(int error, const char **text)
{
    (void)error;
    *text = "emulated";
    return SUCCESS;
}
