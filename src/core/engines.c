/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The engines of this build, which of them a handle gets, and memory of the handle's engine. */
#include "core/engine.h"

#include "core/log.h"
#include "core/os.h"
#include "cuda/driver.h"

#include <stdio.h>
#include <string.h>

const dn_engine *const dn_engines[] = { &dn_cuda_engine, &dn_cpu_engine, &dn_ref_engine, NULL };

/* --- choice --- */

/* A program on a machine with a GPU passes device pointers, which a host engine must not touch. */
static dn_status refuse_gpu(void)
{
    int gpu_count = dn_cuda_engine.probe() ? dn_cu_device_count() : 0;
    if (!gpu_count)
        return DN_SUCCESS;
    return dn_fail(DN_NOT_INITIALIZED,
                   "this machine has %d CUDA device%s but this build of anydnn has no cuda engine; set ANYDNN_ENGINE=cpu or ref "
                   "if your pointers are host memory",
                   gpu_count, gpu_count == 1 ? "" : "s");
}

static dn_status named_engine(const char *name, const dn_engine **out)
{
    for (const dn_engine *const *e = dn_engines; *e; e++) {
        if (strcmp((*e)->name, name) != 0)
            continue;
        const char *why = (*e)->probe ? (*e)->probe() : NULL;
        if (why)
            return dn_fail(DN_NOT_INITIALIZED, "ANYDNN_ENGINE=%s, but %s", name, why);
        *out = *e;
        return DN_SUCCESS;
    }
    return dn_fail(DN_NOT_INITIALIZED, "ANYDNN_ENGINE=%s is not an engine; there are cuda, cpu and ref", name);
}

/* Said once per process: a user who wonders about speed finds it at info level. */
static void note_skipped(const dn_engine *e, const char *why)
{
    static _Atomic int said;
    if (!said && dn_log_on(DN_LOG_INFO)) {
        said = 1;
        dn_log(DN_LOG_INFO, DN_TOPIC_DISPATCH, "engine %s is not used: %s", e->name, why);
    }
}

static dn_status pick_engine(const dn_engine **out)
{
    const char *name = dn_config_get()->engine;
    if (name)
        return named_engine(name, out);
    dn_status st = refuse_gpu();
    if (st != DN_SUCCESS)
        return st;
    for (const dn_engine *const *e = dn_engines; *e; e++) {
        const char *why = (*e)->probe ? (*e)->probe() : NULL;
        if (!why) {
            *out = *e;
            return DN_SUCCESS;
        }
        note_skipped(*e, why);
    }
    return dn_fail(DN_NOT_INITIALIZED, "no engine works on this machine");
}

dn_status dn_handle_open(dn_handle *h)
{
    dn_status st = pick_engine(&h->engine);
    if (st == DN_SUCCESS && h->engine->open)
        st = h->engine->open(h);
    if (st == DN_SUCCESS && dn_log_on(DN_LOG_INFO))
        dn_log(DN_LOG_INFO, DN_TOPIC_DISPATCH, "handle on engine %s, %d threads", h->engine->name, dn_thread_count());
    return st;
}

void dn_handle_close(dn_handle *h)
{
    dn_plan_cache_clear(h);
    if (h->engine && h->engine->close)
        h->engine->close(h);
    dn_aligned_free(h->scratch);
    h->scratch = NULL;
    h->scratch_size = 0;
}

/* --- memory; an unset hook is host memory --- */

dn_status dn_mem_alloc(dn_handle *h, size_t size, void **ptr)
{
    if (h->engine->alloc)
        return h->engine->alloc(h, size, ptr);
    *ptr = dn_aligned_alloc(size);
    return *ptr ? DN_SUCCESS : dn_fail(DN_ALLOC_FAILED, "size is %zu bytes; the host has not that much memory", size);
}

dn_status dn_mem_free(dn_handle *h, void *ptr)
{
    if (h->engine->release)
        return h->engine->release(h, ptr);
    dn_aligned_free(ptr);
    return DN_SUCCESS;
}

dn_status dn_mem_copy_in(dn_handle *h, void *dst, const void *src, size_t size)
{
    if (h->engine->copy_in)
        return h->engine->copy_in(h, dst, src, size);
    memmove(dst, src, size);
    return DN_SUCCESS;
}

dn_status dn_mem_copy_out(dn_handle *h, void *dst, const void *src, size_t size)
{
    if (h->engine->copy_out)
        return h->engine->copy_out(h, dst, src, size);
    memmove(dst, src, size);
    return DN_SUCCESS;
}

dn_status dn_mem_sync(dn_handle *h)
{
    return h->engine->synchronize ? h->engine->synchronize(h) : DN_SUCCESS;
}

dn_status dn_mem_poll(dn_handle *h, bool *busy)
{
    *busy = false;
    return h->engine->poll ? h->engine->poll(h, busy) : DN_SUCCESS;
}

dn_status dn_scratch_reserve(dn_handle *h, size_t size)
{
    if (size <= h->scratch_size)
        return DN_SUCCESS;
    void *p = dn_aligned_alloc(size);
    if (!p)
        return dn_fail(DN_ALLOC_FAILED, "no memory for %zu bytes of scratch", size);
    dn_aligned_free(h->scratch);
    h->scratch = p;
    h->scratch_size = size;
    return DN_SUCCESS;
}
