/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Streams, graphs and events of the emulated driver. Work is done when it is submitted; a stream that captures keeps it instead. */
#define _GNU_SOURCE
#include "driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GLOBAL, THREAD_LOCAL, RELAXED };
enum { KERNEL, MEMSET, MEMCPY };

typedef struct work {
    struct work *next;
    int kind;
    emu_launch launch;
    char *dst;
    const char *src;
    size_t size;
    unsigned char value;
} work;
typedef struct graph {
    work *first, **end;
} graph;
struct stream {
    context *of;
    graph *into;                /* while it captures */
    int mode;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  /* one launch at a time */
static int global_captures;     /* of all threads */
static _Thread_local int local_captures, thread_mode;

/* The default streams are the addresses 0, 1 and 2. They do not capture here. */
static int is_default(const stream *s)
{
    return (uintptr_t)s <= 2;
}

int emu_capturing(const stream *s)
{
    return !is_default(s) && s->into;
}

int emu_allowed(void)
{
    int forbidden = (thread_mode == GLOBAL && __atomic_load_n(&global_captures, __ATOMIC_RELAXED)) || (thread_mode != RELAXED && local_captures);
    return forbidden ? CAPTURE_UNSUPPORTED : SUCCESS;
}

EXPORT int cuThreadExchangeStreamCaptureMode(int *mode)
{
    int old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return SUCCESS;
}

static int perform(const work *w)
{
    int rc = SUCCESS;
    pthread_mutex_lock(&lock);
    switch (w->kind) {
    case KERNEL: rc = emu_run(&w->launch); break;
    case MEMSET: memset(w->dst, w->value, w->size); break;
    default: memmove(w->dst, w->src, w->size); break;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

static int submit(stream *s, const work *w)
{
    if (!emu_context() || (!is_default(s) && s->of != emu_context()))
        return emu_context() ? INVALID_HANDLE : INVALID_CONTEXT;
    if (!emu_capturing(s))
        return perform(w);
    work *kept = malloc(sizeof *kept);
    if (!kept)
        return OUT_OF_MEMORY;
    *kept = *w;
    kept->next = NULL;
    *s->into->end = kept;
    s->into->end = &kept->next;
    return SUCCESS;
}

int emu_submit(stream *s, const emu_launch *l)
{
    work w = { .kind = KERNEL, .launch = *l };
    return submit(s, &w);
}

EXPORT int cuMemsetD8Async(device_ptr dst, unsigned char value, size_t size, stream *s)
{
    work w = { .kind = MEMSET, .dst = (char *)(uintptr_t)dst, .size = size, .value = value };
    return submit(s, &w);
}

EXPORT int cuMemcpyDtoDAsync_v2(device_ptr dst, device_ptr src, size_t size, stream *s)
{
    work w = { .kind = MEMCPY, .dst = (char *)(uintptr_t)dst, .src = (const char *)(uintptr_t)src, .size = size };
    return submit(s, &w);
}

/* --- streams --- */

EXPORT int cuStreamCreate(stream **s, unsigned flags)
{
    if (!emu_context() || flags > 1)
        return emu_context() ? INVALID_VALUE : INVALID_CONTEXT;
    *s = calloc(1, sizeof **s);
    if (!*s)
        return OUT_OF_MEMORY;
    (*s)->of = emu_context();
    return SUCCESS;
}

EXPORT int cuStreamDestroy_v2(stream *s)
{
    free(s);
    return SUCCESS;
}

EXPORT int cuStreamSynchronize(const stream *s)
{
    if (!emu_context())
        return INVALID_CONTEXT;
    return emu_capturing(s) ? CAPTURE_UNSUPPORTED : SUCCESS;
}

EXPORT int cuStreamQuery(const stream *s)
{
    return cuStreamSynchronize(s);
}

EXPORT int cuStreamIsCapturing(const stream *s, int *status)
{
    *status = emu_capturing(s);
    return SUCCESS;
}

EXPORT int cuStreamBeginCapture_v2(stream *s, int mode)
{
    if (is_default(s) || s->into)
        return CAPTURE_UNSUPPORTED;
    s->into = calloc(1, sizeof *s->into);
    if (!s->into)
        return OUT_OF_MEMORY;
    s->into->end = &s->into->first;
    s->mode = mode;
    __atomic_add_fetch(&global_captures, mode == GLOBAL, __ATOMIC_RELAXED);
    local_captures += mode != RELAXED;
    return SUCCESS;
}

EXPORT int cuStreamEndCapture(stream *s, graph **g)
{
    if (!emu_capturing(s))
        return INVALID_VALUE;
    *g = s->into;
    s->into = NULL;
    __atomic_sub_fetch(&global_captures, s->mode == GLOBAL, __ATOMIC_RELAXED);
    local_captures -= s->mode != RELAXED;
    return SUCCESS;
}

/* --- graphs: an executable one is a copy --- */

EXPORT int cuGraphDestroy(graph *g)
{
    for (work *w = g->first, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    free(g);
    return SUCCESS;
}

EXPORT int cuGraphExecDestroy(graph *g)
{
    return cuGraphDestroy(g);
}

EXPORT int cuGraphInstantiateWithFlags(graph **exec, const graph *g, unsigned long long flags)
{
    graph *copy = flags ? NULL : calloc(1, sizeof *copy);
    if (!copy)
        return flags ? INVALID_VALUE : OUT_OF_MEMORY;
    copy->end = &copy->first;
    for (const work *w = g->first; w; w = w->next) {
        work *kept = malloc(sizeof *kept);
        if (!kept) {
            cuGraphDestroy(copy);
            return OUT_OF_MEMORY;
        }
        *kept = *w;
        kept->next = NULL;
        *copy->end = kept;
        copy->end = &kept->next;
    }
    *exec = copy;
    return SUCCESS;
}

EXPORT int cuGraphLaunch(const graph *exec, stream *s)
{
    int rc = emu_context() ? SUCCESS : INVALID_CONTEXT;
    for (const work *w = exec->first; w && rc == SUCCESS; w = w->next)
        rc = submit(s, w);
    return rc;
}

/* --- events --- */

EXPORT int cuEventCreate(struct timespec **e, unsigned flags)
{
    (void)flags;
    *e = calloc(1, sizeof **e);
    return *e ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT int cuEventRecord(struct timespec *e, const stream *s)
{
    (void)s;
    return clock_gettime(CLOCK_MONOTONIC, e) == 0 ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuEventSynchronize(const struct timespec *e)
{
    return e ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuEventElapsedTime(float *ms, const struct timespec *from, const struct timespec *to)
{
    *ms = (float)((double)(to->tv_sec - from->tv_sec) * 1e3 + (double)(to->tv_nsec - from->tv_nsec) * 1e-6);
    return SUCCESS;
}

EXPORT int cuEventDestroy_v2(struct timespec *e)
{
    free(e);
    return SUCCESS;
}
