/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Device memory of the emulated driver: host memory that ends at a page which cannot be touched, filled with NaN. */
#define _GNU_SOURCE
#include "driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ALIGN = 256, HOST = 1, DEVICE = 2, FILL_MAX = 64 << 20 };
#define TOTAL ((size_t)8 << 30)

typedef struct block {
    struct block *next;
    char *map, *ptr;
    size_t map_size, size;
    int kind, managed;
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block *blocks;
static size_t used;

static int open_block(block *b, size_t size)
{
    size_t room = (size + ALIGN - 1) / ALIGN * ALIGN, open = (room + PAGE - 1) / PAGE * PAGE;
    b->size = size;
    b->map_size = open + 2 * PAGE;
    b->map = mmap(NULL, b->map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b->map == MAP_FAILED || mprotect(b->map + PAGE, open, PROT_READ | PROT_WRITE) != 0)
        return OUT_OF_MEMORY;
    b->ptr = b->map + PAGE + open - room;
    memset(b->ptr, 0xff, room < FILL_MAX ? room : FILL_MAX);
    return SUCCESS;
}

static int alloc(void **out, size_t size, int kind, int managed)
{
    int rc = emu_context() ? emu_allowed() : INVALID_CONTEXT;
    if (rc != SUCCESS || !size)
        return rc ? rc : INVALID_VALUE;
    block *b = malloc(sizeof *b);
    if (!b)
        return OUT_OF_MEMORY;
    *b = (block){ .kind = kind, .managed = managed };
    pthread_mutex_lock(&lock);
    rc = size > TOTAL - used ? OUT_OF_MEMORY : open_block(b, size);
    if (rc == SUCCESS) {
        used += size;
        b->next = blocks;
        blocks = b;
        *out = b->ptr;
    } else {
        free(b);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

static int release(const void *ptr)
{
    int rc = emu_context() ? INVALID_VALUE : INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    for (block **at = &blocks; rc == INVALID_VALUE && *at; at = &(*at)->next) {
        block *b = *at;
        if (b->ptr != ptr)
            continue;
        *at = b->next;
        used -= b->size;
        munmap(b->map, b->map_size);
        free(b);
        rc = SUCCESS;
        break;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

EXPORT int cuMemAlloc_v2(device_ptr *ptr, size_t size)
{
    void *p = NULL;
    int rc = alloc(&p, size, DEVICE, 0);
    *ptr = (uintptr_t)p;
    return rc;
}

EXPORT int cuMemAllocManaged(device_ptr *ptr, size_t size, unsigned flags)
{
    void *p = NULL;
    int rc = flags == 1 ? alloc(&p, size, DEVICE, 1) : INVALID_VALUE;
    *ptr = (uintptr_t)p;
    return rc;
}

EXPORT int cuMemAllocHost_v2(void **ptr, size_t size)
{
    return alloc(ptr, size, HOST, 0);
}

EXPORT int cuMemFree_v2(device_ptr ptr)
{
    return ptr ? release((void *)(uintptr_t)ptr) : SUCCESS;
}

EXPORT int cuMemFreeHost(void *ptr)
{
    return release(ptr);
}

EXPORT int cuMemGetInfo_v2(size_t *left, size_t *total)
{
    *total = TOTAL;
    *left = TOTAL - used;
    return SUCCESS;
}

EXPORT int cuPointerGetAttribute(void *value, int attribute, device_ptr ptr)
{
    const char *p = (const char *)(uintptr_t)ptr;
    int rc = INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (const block *b = blocks; b; b = b->next) {
        if (p < b->ptr || p >= b->ptr + b->size)
            continue;
        int answer = attribute == 2 ? b->kind : attribute == 8 ? b->managed : 0;  /* memory type, is managed, device */
        memcpy(value, &answer, sizeof answer);
        rc = SUCCESS;
        break;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

/* --- copies; those of a stream that captures are refused, since nothing of ours makes them --- */

static int copy(void *dst, const void *src, size_t size, const stream *s)
{
    if (!emu_context() || emu_capturing(s))
        return emu_context() ? CAPTURE_UNSUPPORTED : INVALID_CONTEXT;
    memmove(dst, src, size);
    return SUCCESS;
}

EXPORT int cuMemcpyHtoDAsync_v2(device_ptr dst, const void *src, size_t size, stream *s)
{
    return copy((void *)(uintptr_t)dst, src, size, s);
}

EXPORT int cuMemcpyDtoHAsync_v2(void *dst, device_ptr src, size_t size, stream *s)
{
    return copy(dst, (const void *)(uintptr_t)src, size, s);
}

EXPORT int cuMemcpyHtoD_v2(device_ptr dst, const void *src, size_t size)
{
    return copy((void *)(uintptr_t)dst, src, size, NULL);
}

EXPORT int cuMemcpyDtoH_v2(void *dst, device_ptr src, size_t size)
{
    return copy(dst, (const void *)(uintptr_t)src, size, NULL);
}
