/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Contexts and memory. A handle works in the context that was current when it was made, else in the primary context of device 0, which
 * is the one that the CUDA run time uses; what is loaded into a context is shared by all its handles. */
#include "cuda/cuda.h"

#include "core/os.h"

#include <stdlib.h>

static dn_lock lock = DN_LOCK_INIT;
static dn_cuda_device *devices;

static int module_count(void)
{
    int n = 0;
    while (dn_cuda_images[n].module)
        n++;
    return n;
}

static const char *probe(void)
{
    const char *why = "this build has no code for GPUs (it was made without a CUDA compiler)";
    if (dn_cuda_images[0].module)
        dn_cu(&why);
    else
        return why;
    return dn_cu_device_count() ? NULL : why;
}

/* --- contexts --- */

static dn_status describe(dn_cuda_device *d)
{
    int major = 0, minor = 0, l2 = 0, shared = 0, rc = dn_cu_table->CtxGetDevice(&d->device);
    const struct { int attribute, *value; } wanted[] = {
        { DN_CU_ATTR_CC_MAJOR, &major }, { DN_CU_ATTR_CC_MINOR, &minor }, { DN_CU_ATTR_SM_COUNT, &d->sm_count },
        { DN_CU_ATTR_PAGEABLE_ACCESS, &d->pageable }, { DN_CU_ATTR_L2_BYTES, &l2 },
        { DN_CU_ATTR_SHARED_OPTIN, &shared },
    };
    for (size_t i = 0; rc == DN_CU_SUCCESS && i < sizeof wanted / sizeof wanted[0]; i++)
        rc = dn_cu_table->DeviceGetAttribute(wanted[i].value, wanted[i].attribute, d->device);
    d->sm = major * 10 + minor;
    d->l2_bytes = (size_t)l2;
    d->shared_max = (size_t)shared;
    return dn_cu_check(rc, "asking the device for its properties");
}

/* The entry of a context that is current; made where there is none. An address may be used again by a later context, which its id tells. */
static dn_status device_of(dn_cu_ctx ctx, dn_cuda_device **out)
{
    unsigned long long id = 0;
    if (dn_cu_table->CtxGetId)
        dn_cu_table->CtxGetId(ctx, &id);
    for (dn_cuda_device *d = devices; d; d = d->next)
        if (d->ctx == ctx && d->ctx_id == id) {
            *out = d;
            return DN_SUCCESS;
        }
    dn_cuda_device *d = calloc(1, sizeof *d);
    dn_cu_mod *modules = calloc((size_t)module_count() + 1, sizeof *modules);
    dn_status st = d && modules ? DN_SUCCESS : dn_fail(DN_ALLOC_FAILED, "no memory for the device's entry");
    if (st == DN_SUCCESS) {
        *d = (dn_cuda_device){ .ctx = ctx, .ctx_id = id, .modules = modules };
        st = describe(d);
    }
    if (st != DN_SUCCESS) {
        free(modules);
        free(d);
        return st;
    }
    d->next = devices;
    devices = d;
    *out = d;
    return DN_SUCCESS;
}

static dn_status check_code(const dn_cuda_device *d)
{
    for (const dn_cuda_image *i = dn_cuda_images; i->module; i++)
        if (dn_cuda_suits(i, d->sm))
            return DN_SUCCESS;
    char name[120] = "the device";
    dn_cu_table->DeviceGetName(name, sizeof name, d->device);
    return dn_fail(DN_ARCH_MISMATCH, "%s has compute capability %d.%d; this build has no code that runs on it (highest: %d.%d)", name,
                   d->sm / 10, d->sm % 10, dn_cuda_max_sm() / 10, dn_cuda_max_sm() % 10);
}

static dn_status enter_first(dn_cuda_state *s, dn_cu_ctx *ctx)
{
    int device = 0, rc = dn_cu_table->CtxGetCurrent(ctx);
    if (rc == DN_CU_SUCCESS && *ctx)
        return dn_cu_check(dn_cu_table->CtxPushCurrent(*ctx), "making the context current");
    rc = dn_cu_table->DeviceGet(&device, 0);
    if (rc == DN_CU_SUCCESS)
        rc = dn_cu_table->PrimaryCtxRetain(ctx, device);
    if (rc != DN_CU_SUCCESS)
        return dn_cu_check(rc, "taking the primary context of device 0");
    s->owns_primary = 1;
    return dn_cu_check(dn_cu_table->CtxPushCurrent(*ctx), "making the context current");
}

static void close_handle(dn_handle *h)
{
    dn_cuda_state *s = h->state;
    int pushed;
    if (!s)
        return;
    if (s->device && dn_cuda_enter(h, &pushed) == DN_SUCCESS) {
        for (dn_cuda_scratch_block *b = s->scratch; b; b = b->next)
            dn_cu_table->MemFree(b->ptr);
        dn_cuda_leave(pushed);
    }
    while (s->scratch) {
        dn_cuda_scratch_block *b = s->scratch;
        s->scratch = b->next;
        free(b);
    }
    if (s->owns_primary && s->device)
        dn_cu_table->PrimaryCtxRelease(s->device->device);
    free(s);
    h->state = NULL;
}

static dn_status open_handle(dn_handle *h)
{
    dn_cuda_state *s = calloc(1, sizeof *s);
    dn_cu_ctx ctx = NULL;
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a handle");
    h->state = s;
    dn_status st = enter_first(s, &ctx);
    if (st == DN_SUCCESS) {
        dn_lock_take(&lock);
        st = device_of(ctx, &s->device);
        dn_lock_give(&lock);
        dn_cu_table->CtxPopCurrent(&ctx);
    }
    if (st == DN_SUCCESS)
        st = check_code(s->device);
    if (st != DN_SUCCESS)
        close_handle(h);
    return st;
}

dn_status dn_cuda_enter(dn_handle *h, int *pushed)
{
    dn_cu_ctx now = NULL, mine = dn_cuda_device_of(h)->ctx;
    *pushed = 0;
    int rc = dn_cu_table->CtxGetCurrent(&now);
    if (rc != DN_CU_SUCCESS || now == mine)
        return dn_cu_check(rc, "asking for the current context");
    rc = dn_cu_table->CtxPushCurrent(mine);
    *pushed = rc == DN_CU_SUCCESS;
    return dn_cu_check(rc, "making the handle's context current");
}

void dn_cuda_leave(int pushed)
{
    dn_cu_ctx ctx;
    if (pushed)
        dn_cu_table->CtxPopCurrent(&ctx);
}

/* --- memory --- */

/* Allocation is forbidden while the thread captures, unless it says that it knows what it does: ours is not part of the graph. */
static int alloc_relaxed(dn_cu_ptr *ptr, size_t size)
{
    int mode = DN_CU_CAPTURE_RELAXED;
    dn_cu_table->ThreadExchangeCaptureMode(&mode);
    int rc = dn_cu_table->MemAlloc(ptr, size ? size : 1);
    dn_cu_table->ThreadExchangeCaptureMode(&mode);
    return rc;
}

static dn_status alloc(dn_handle *h, size_t size, void **out)
{
    int pushed;
    dn_cu_ptr ptr = 0;
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    int rc = alloc_relaxed(&ptr, size);
    dn_cuda_leave(pushed);
    *out = (void *)(uintptr_t)ptr;
    if (rc == DN_CU_OUT_OF_MEMORY)
        return dn_fail(DN_ALLOC_FAILED, "size is %zu bytes; the device has not that much memory free", size);
    return dn_cu_check(rc, "allocating device memory");
}

static dn_status release(dn_handle *h, void *ptr)
{
    int pushed;
    dn_status st = ptr ? dn_cuda_enter(h, &pushed) : DN_SUCCESS;
    if (!ptr || st != DN_SUCCESS)
        return st;
    int rc = dn_cu_table->MemFree((dn_cu_ptr)(uintptr_t)ptr);
    dn_cuda_leave(pushed);
    return dn_cu_check(rc, "freeing device memory");
}

static dn_status copy(dn_handle *h, void *dst, const void *src, size_t size, int in)
{
    int pushed;
    dn_status st = size ? dn_cuda_enter(h, &pushed) : DN_SUCCESS;
    if (!size || st != DN_SUCCESS)
        return st;
    int rc = in ? dn_cu_table->MemcpyHtoDAsync((dn_cu_ptr)(uintptr_t)dst, src, size, h->stream)
                : dn_cu_table->MemcpyDtoHAsync(dst, (dn_cu_ptr)(uintptr_t)src, size, h->stream);
    if (rc == DN_CU_SUCCESS)
        rc = dn_cu_table->StreamSynchronize(h->stream);
    dn_cuda_leave(pushed);
    return dn_cu_check(rc, in ? "copying to the device" : "copying from the device");
}

static dn_status copy_in(dn_handle *h, void *dst, const void *src, size_t size)
{
    return copy(h, dst, src, size, 1);
}

static dn_status copy_out(dn_handle *h, void *dst, const void *src, size_t size)
{
    return copy(h, dst, src, size, 0);
}

static dn_status synchronize(dn_handle *h)
{
    int pushed;
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    int rc = dn_cu_table->StreamSynchronize(h->stream);
    dn_cuda_leave(pushed);
    return dn_cu_check(rc, "waiting for the stream");
}

static dn_status poll_stream(dn_handle *h, bool *busy)
{
    int pushed;
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    int rc = dn_cu_table->StreamQuery(h->stream);
    dn_cuda_leave(pushed);
    *busy = rc == DN_CU_NOT_READY;
    return *busy ? DN_SUCCESS : dn_cu_check(rc, "asking the stream");
}

static dn_status time_run(dn_handle *h, const dn_plan *plan, const dn_args *a, float *ms)
{
    dn_cu_ev from = NULL, to = NULL;
    int pushed;
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    int rc = dn_cu_table->EventCreate(&from, 0);
    if (rc == DN_CU_SUCCESS)
        rc = dn_cu_table->EventCreate(&to, 0);
    if (rc == DN_CU_SUCCESS)
        rc = dn_cu_table->EventRecord(from, h->stream);
    if (rc == DN_CU_SUCCESS)
        st = plan->solver->run(h, plan, a);
    if (rc == DN_CU_SUCCESS)
        rc = dn_cu_table->EventRecord(to, h->stream);
    if (rc == DN_CU_SUCCESS)
        rc = dn_cu_table->EventSynchronize(to);
    if (rc == DN_CU_SUCCESS)
        rc = dn_cu_table->EventElapsedTime(ms, from, to);
    if (to)
        dn_cu_table->EventDestroy(to);
    if (from)
        dn_cu_table->EventDestroy(from);
    dn_cuda_leave(pushed);
    return st == DN_SUCCESS ? dn_cu_check(rc, "timing a row") : st;
}

dn_status dn_cuda_scratch(dn_handle *h, size_t size, void **ptr)
{
    dn_cuda_state *s = h->state;
    for (dn_cuda_scratch_block *b = s->scratch; b; b = b->next)
        if (b->stream == h->stream && b->size >= size) {
            *ptr = (void *)(uintptr_t)b->ptr;
            return DN_SUCCESS;
        }
    /* A smaller block stays: a graph that was captured with it may still be replayed. Doubling bounds what that costs. */
    size_t room = (size_t)1 << 20;
    while (room < size)
        room *= 2;
    dn_cuda_scratch_block *b = calloc(1, sizeof *b);
    dn_status st = b ? alloc(h, room, ptr) : dn_fail(DN_ALLOC_FAILED, "no memory for a scratch entry");
    if (st != DN_SUCCESS) {
        free(b);
        return st;
    }
    *b = (dn_cuda_scratch_block){ .next = s->scratch, .stream = h->stream, .ptr = (dn_cu_ptr)(uintptr_t)*ptr, .size = room };
    s->scratch = b;
    return DN_SUCCESS;
}

/* --- can the device reach what it is given? --- */

/* The context is current. */
static dn_status reaches(const dn_cuda_device *d, const void *ptr, const char *what)
{
    unsigned type = 0, managed = 0;
    int owner = d->device, can = 1;
    int rc = dn_cu_table->PointerGetAttribute(&type, DN_CU_POINTER_MEMORY_TYPE, (dn_cu_ptr)(uintptr_t)ptr);
    if (rc == DN_CU_INVALID_VALUE && !d->pageable)
        return dn_fail(DN_BAD_PARAM, "%s (%p) is not memory that the GPU can reach; it must be device memory, or pinned, mapped or managed host memory",
                       what, ptr);
    if (rc == DN_CU_SUCCESS && type == DN_CU_MEMORY_DEVICE) {
        dn_cu_table->PointerGetAttribute(&managed, DN_CU_POINTER_IS_MANAGED, (dn_cu_ptr)(uintptr_t)ptr);
        dn_cu_table->PointerGetAttribute(&owner, DN_CU_POINTER_DEVICE, (dn_cu_ptr)(uintptr_t)ptr);
        if (!managed && owner != d->device)
            dn_cu_table->DeviceCanAccessPeer(&can, d->device, owner);
        if (!can)
            return dn_fail(DN_BAD_PARAM, "%s (%p) is memory of device %d, which device %d of this handle cannot access", what, ptr, owner, d->device);
    }
    return DN_SUCCESS;
}

/* Pages seen before are not asked about again, and cost no call of the driver. */
static dn_status admit(dn_handle *h, const void *ptr, const char *what)
{
    dn_cuda_state *s = h->state;
    uintptr_t page = (uintptr_t)ptr >> 12, *known = &s->known[(page ^ page >> 6 ^ page >> 12) % DN_CUDA_KNOWN];
    int pushed;
    if (!ptr || *known == page)
        return DN_SUCCESS;
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    st = reaches(s->device, ptr, what);
    dn_cuda_leave(pushed);
    if (st == DN_SUCCESS)
        *known = page;
    return st;
}

dn_status dn_cuda_admit(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    static const char *const role[DN_ROLE_COUNT] = { "x", "y", "w", "z", "bias", "dx", "dy", "dz" };
    dn_status st = DN_SUCCESS;
    for (int i = 0; i < DN_ROLE_COUNT && st == DN_SUCCESS; i++)
        if (plan->problem.t[i].rank)
            st = admit(h, a->ptr[i], role[i]);
    for (int i = 0; i < DN_AUX_COUNT && st == DN_SUCCESS; i++)
        st = admit(h, a->aux[i], "a parameter");
    if (st == DN_SUCCESS && plan->workspace)
        st = admit(h, a->workspace, "workSpace");
    if (st == DN_SUCCESS)
        st = admit(h, a->reserve, "reserveSpace");
    return st;
}

extern const dn_rows *const dn_cuda_tables[];

const dn_engine dn_cuda_engine = {
    .name = "cuda", .probe = probe, .open = open_handle, .close = close_handle, .alloc = alloc, .release = release, .copy_in = copy_in,
    .copy_out = copy_out, .synchronize = synchronize, .poll = poll_stream, .admit = dn_cuda_admit, .time_run = time_run, .tables = dn_cuda_tables,
};
