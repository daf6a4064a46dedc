/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Blocks of memory with a pattern and, on the host, an unmapped page on each side. */
#define _GNU_SOURCE
#include "api_lib.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATTERN 0xa5
#define FILL 0xcd
#define BLOCKS_MAX 4096

typedef struct block {
    unsigned char *map;         /* start of the whole mapping */
    size_t map_size;
    unsigned char *open;        /* accessible bytes */
    size_t open_size;
    unsigned char *user;
    size_t user_size;
} block;
static block blocks[BLOCKS_MAX];
static int block_count;

/* Managed memory of the driver, for libraries that work on a GPU; all NULL on the host. */
static struct {
    bool tried;
    int (*alloc)(unsigned long long *, size_t, unsigned);
    int (*free)(unsigned long long);
    int (*synchronize)(void);
} gpu;

static void load(void *lib, const char *name, void *out)
{
    void *p = dlsym(lib, name);
    memcpy(out, &p, sizeof p);
}

/* The primary context becomes current, as the CUDA run time of a real program would have it. */
static void open_gpu(void *lib)
{
    int (*init)(unsigned), (*device)(int *, int), (*retain)(void **, int), (*set_current)(void *), n = 0;
    void *context = NULL;
    load(lib, "cuInit", &init);
    load(lib, "cuDeviceGet", &device);
    load(lib, "cuDevicePrimaryCtxRetain", &retain);
    load(lib, "cuCtxSetCurrent", &set_current);
    if (init(0) || device(&n, 0) || retain(&context, n) || set_current(context))
        return;
    load(lib, "cuMemAllocManaged", &gpu.alloc);
    load(lib, "cuMemFree_v2", &gpu.free);
    load(lib, "cuCtxSynchronize", &gpu.synchronize);
}

static bool on_gpu(void)
{
    if (!gpu.tried) {
        gpu.tried = true;
        const char *engine = api_engine();
        if (engine && (!strcmp(engine, "vendor") || !strcmp(engine, "cuda"))) {
            void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
            if (lib)
                open_gpu(lib);
        }
    }
    return gpu.alloc != NULL;
}

static void open_block(block *b, size_t room)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    b->open_size = (room + page - 1) / page * page;
    if (on_gpu()) {
        unsigned long long p = 0;
        assert_int_equal(gpu.alloc(&p, b->open_size, 1), 0);
        b->map = b->open = (unsigned char *)(uintptr_t)p;
        b->map_size = b->open_size;
    } else {
        b->map_size = b->open_size + 2 * page;
        b->map = mmap(NULL, b->map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(b->map != MAP_FAILED);
        b->open = b->map + page;
        assert_int_equal(mprotect(b->open, b->open_size, PROT_READ | PROT_WRITE), 0);
    }
    memset(b->open, PATTERN, b->open_size);
}

/* at_end: the block ends less than align bytes before the unmapped page; else it starts 64 bytes into the open part. */
static void *alloc_block(size_t size, size_t align, bool at_end)
{
    assert_true(block_count < BLOCKS_MAX);
    block *b = &blocks[block_count++];
    open_block(b, size + 64 + (on_gpu() ? 512 : 0));
    /* On a GPU there is no unmapped page to end at, and kernels want the alignment that cudaMalloc gives. */
    size_t offset = on_gpu() ? 256 : at_end ? (b->open_size - size) / align * align : 64;
    b->user = b->open + offset;
    b->user_size = size;
    memset(b->user, FILL, size);
    return b->user;
}

void *api_alloc(size_t size)
{
    return alloc_block(size, 64, false);
}

void *api_alloc_end(size_t size, size_t align)
{
    return alloc_block(size, align, true);
}

void api_sync(void)
{
    if (gpu.synchronize)
        gpu.synchronize();
    else if (api.anydnnSynchronize && api_engine())
        api.anydnnSynchronize(api_handle());
}

void api_mem_check(const char *file, int line)
{
    for (int i = 0; i < block_count; i++) {
        const block *b = &blocks[i];
        for (const unsigned char *p = b->open; p < b->open + b->open_size; p++) {
            if (p == b->user)
                p += b->user_size;
            if (p < b->open + b->open_size && *p != PATTERN) {
                print_error("%s:%d: block %d of %zu bytes: byte %td was written\n", file, line, i, b->user_size, p - b->user);
                _fail(file, line);
            }
        }
    }
}

void api_mem_free(void)
{
    for (int i = 0; i < block_count; i++) {
        if (on_gpu())
            gpu.free((unsigned long long)(uintptr_t)blocks[i].map);
        else
            munmap(blocks[i].map, blocks[i].map_size);
    }
    block_count = 0;
}

int api_teardown(void **state)
{
    (void)state;
    if (block_count) {
        MEM_CHECK();
        api_mem_free();
    }
    return 0;
}
