/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Device memory for libraries that work on a GPU, through the driver alone (names and shapes as its documentation has them). */
#include "memory.h"

#include "core/os.h"
#include "cuda/act/act.h"
#include "cuda/cuda.h"

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
    int (*stream_create)(void **, unsigned);
    int (*capture_begin)(void *, int);
    int (*capture_end)(void *, void **);
    int (*instantiate)(void **, void *, unsigned long long);
    int (*launch)(void *, void *);
    int (*exec_destroy)(void *);
    int (*graph_destroy)(void *);
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
    { "cuStreamCreate", offsetof(__typeof__(cu), stream_create) },
    { "cuStreamBeginCapture_v2", offsetof(__typeof__(cu), capture_begin) },
    { "cuStreamEndCapture", offsetof(__typeof__(cu), capture_end) },
    { "cuGraphInstantiateWithFlags", offsetof(__typeof__(cu), instantiate) }, { "cuGraphLaunch", offsetof(__typeof__(cu), launch) },
    { "cuGraphExecDestroy", offsetof(__typeof__(cu), exec_destroy) }, { "cuGraphDestroy", offsetof(__typeof__(cu), graph_destroy) },
};

static bench_space space;

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
    return cu.event_record(cu.start, space.stream);
}

static double timer_stop(void)
{
    float ms = -1;
    if (cu.event_record(cu.stop, space.stream) || cu.event_synchronize(cu.stop) || cu.event_ms(&ms, cu.start, cu.stop))
        return -1;
    return (double)ms;
}

enum { CAPTURE_RELAXED = 2 };

static int record_begin(void)
{
    return cu.capture_begin(space.stream, CAPTURE_RELAXED);
}

static void *record_end(void)
{
    void *graph = NULL, *exec = NULL;
    if (cu.capture_end(space.stream, &graph) != 0 || !graph)
        return NULL;
    if (cu.instantiate(&exec, graph, 0) != 0)
        exec = NULL;
    cu.graph_destroy(graph);
    return exec;
}

static int replay(void *graph)
{
    return cu.launch(graph, space.stream);
}

static void forget(void *graph)
{
    cu.exec_destroy(graph);
}

static bench_space space = {
    "cuda", alloc, release, copy_in, copy_out, synchronize, timer_start, timer_stop, NULL, record_begin, record_end, replay, forget,
};

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
        rc = cu.stream_create(&space.stream, 0);
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

void *bench_cuda_kernel(void)
{
    static dn_handle h;
    dn_cu_fn f = NULL;
    if (dn_cuda_engine.probe() || (!h.state && dn_cuda_engine.open(&h) != DN_SUCCESS))
        return NULL;
    return dn_cuda_function(&h, "cuda_act_naive", "cuda_act_fwd_naive", 0, &f) == DN_SUCCESS ? (void *)f : NULL;
}

int bench_cuda_launch_nothing(void *kernel)
{
    static dn_act_naive nothing;
    void *params[] = { &nothing };
    return dn_cu_table->LaunchKernel((dn_cu_fn)kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
}
