/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Device memory for libraries that work on a GPU, through the driver alone (names and shapes as its documentation has them). */
#include "memory.h"

#include "core/os.h"

#include <stdio.h>
#include <string.h>

typedef unsigned long long device_ptr;

static struct {
    int (*init)(unsigned);
    int (*device_get)(int *, int);
    int (*retain)(void **, int);
    int (*set_current)(void *);
    int (*alloc)(device_ptr *, size_t);
    int (*release)(device_ptr);
    int (*copy_in)(device_ptr, const void *, size_t);
    int (*copy_out)(void *, device_ptr, size_t);
    int (*synchronize)(void);
    int (*event_create)(void **, unsigned);
    int (*event_record)(void *, void *);
    int (*event_synchronize)(void *);
    int (*event_ms)(float *, void *, void *);
    void *context, *start, *stop;
} cu;

static const struct { const char *name; size_t offset; } names[] = {
    { "cuInit", offsetof(__typeof__(cu), init) }, { "cuDeviceGet", offsetof(__typeof__(cu), device_get) },
    { "cuDevicePrimaryCtxRetain", offsetof(__typeof__(cu), retain) }, { "cuCtxSetCurrent", offsetof(__typeof__(cu), set_current) },
    { "cuMemAlloc_v2", offsetof(__typeof__(cu), alloc) }, { "cuMemFree_v2", offsetof(__typeof__(cu), release) },
    { "cuMemcpyHtoD_v2", offsetof(__typeof__(cu), copy_in) }, { "cuMemcpyDtoH_v2", offsetof(__typeof__(cu), copy_out) },
    { "cuCtxSynchronize", offsetof(__typeof__(cu), synchronize) }, { "cuEventCreate", offsetof(__typeof__(cu), event_create) },
    { "cuEventRecord", offsetof(__typeof__(cu), event_record) },
    { "cuEventSynchronize", offsetof(__typeof__(cu), event_synchronize) },
    { "cuEventElapsedTime", offsetof(__typeof__(cu), event_ms) },
};

static int alloc(void **ptr, size_t size)
{
    device_ptr p = 0;
    int rc = cu.alloc(&p, size);
    *ptr = (void *)(uintptr_t)p;
    return rc;
}

static int release(void *ptr)
{
    return cu.release((device_ptr)(uintptr_t)ptr);
}

static int copy_in(void *dst, const void *src, size_t size)
{
    return cu.copy_in((device_ptr)(uintptr_t)dst, src, size);
}

static int copy_out(void *dst, const void *src, size_t size)
{
    return cu.copy_out(dst, (device_ptr)(uintptr_t)src, size);
}

static int synchronize(void)
{
    return cu.synchronize();
}

static int timer_start(void)
{
    return cu.event_record(cu.start, NULL);
}

static double timer_stop(void)
{
    float ms = -1;
    if (cu.event_record(cu.stop, NULL) || cu.event_synchronize(cu.stop) || cu.event_ms(&ms, cu.start, cu.stop))
        return -1;
    return (double)ms;
}

static const bench_space space = { "cuda", alloc, release, copy_in, copy_out, synchronize, timer_start, timer_stop };

static const char *open_driver(void)
{
    static char text[128];
    void *lib = dn_lib_open("libcuda.so.1");
    if (!lib)
        return "libcuda.so.1 cannot be opened";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *f = dn_lib_symbol(lib, names[i].name);
        if (!f) {
            snprintf(text, sizeof text, "libcuda.so.1 has no %s", names[i].name);
            return text;
        }
        memcpy((char *)&cu + names[i].offset, &f, sizeof f);
    }
    int device = 0, rc = cu.init(0);
    if (!rc)
        rc = cu.device_get(&device, 0);
    if (!rc)
        rc = cu.retain(&cu.context, device);
    if (!rc)
        rc = cu.set_current(cu.context);
    if (!rc)
        rc = cu.event_create(&cu.start, 0);
    if (!rc)
        rc = cu.event_create(&cu.stop, 0);
    if (rc) {
        snprintf(text, sizeof text, "no CUDA device answers (error %d)", rc);
        return text;
    }
    return NULL;
}

const bench_space *bench_cuda(void)
{
    static bool tried;
    static const char *why;
    if (!tried) {
        tried = true;
        why = open_driver();
    }
    if (why)
        dn_fail(DN_NOT_INITIALIZED, "%s", why);
    return why ? NULL : &space;
}
