/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Memory of one run. On the host each block lies between two pages that nobody may touch, at the end of its pages or at their
 * start; on a device it lies inside a larger one. What no element owns holds a pattern, which is looked at afterwards. */
#ifndef DN_BENCH_MEMORY_H
#define DN_BENCH_MEMORY_H

#include "data.h"

/* A memory space other than the host's; all calls answer 0 or an error number. */
typedef struct bench_space {
    const char *name;
    int (*alloc)(void **ptr, size_t size);
    int (*release)(void *ptr);
    int (*copy_in)(void *dst, const void *src, size_t size);
    int (*copy_out)(void *dst, const void *src, size_t size);
    int (*synchronize)(void);
    /* milliseconds of device time between the calls, or < 0 where that is not to be had */
    int (*timer_start)(void);
    double (*timer_stop)(void);
    /* The stream that handles work on, and calls on it as a graph, so that the host's time between them does not count. */
    void *stream;
    int (*record_begin)(void);
    void *(*record_end)(void);      /* NULL where something in it cannot be recorded */
    int (*replay)(void *graph);
    void (*forget)(void *graph);
} bench_space;

typedef enum bench_place { BENCH_AT_END, BENCH_AT_START } bench_place;

typedef struct bench_block {
    unsigned char *map;       /* host pages, guards included */
    size_t map_size;
    unsigned char *open;      /* what may be touched; of a device block the copy on the host */
    size_t open_size;
    unsigned char *first;     /* lowest byte that the operand spans, in open */
    size_t bytes;             /* that it spans */
    void *device;             /* start of the device block, or NULL */
    void *pointer;            /* what the library gets */
    unsigned char *before;    /* copy of `bytes` as they were, for inputs */
} bench_block;

typedef struct bench_memory {
    const bench_space *space;  /* NULL: the host */
    bench_block b[BENCH_SLOTS];
    bench_block states, reserve, workspace;
} bench_memory;

/* All blocks of the data, filled with its values. align: of the problem's roles, else 16 (256 on a device). */
bool bench_memory_make(bench_memory *m, const bench_case *c, const bench_data *d, const bench_space *space, bench_place place);
/* `size` bytes of anything, filled with 0xff. */
bool bench_memory_extra(bench_memory *m, bench_block *b, size_t size, const void *fill, bench_place place);
/* Puts the values back as they were before the first run. */
bool bench_memory_reset(bench_memory *m, const bench_data *d);
/* The same memory once more on a device, quicker: the bytes of a set that was made and not yet run. */
bool bench_memory_again(bench_memory *m, const bench_memory *first);
/* Copies device blocks back. */
bool bench_memory_fetch(bench_memory *m, const bench_data *d);
/* NULL, or what was written that should not have been. Call after bench_memory_fetch. */
const char *bench_memory_damage(const bench_memory *m, const bench_data *d);
/* All elements of a slot in logical order. */
void bench_memory_load(const bench_memory *m, const bench_data *d, int slot, double *out);
/* Whether the reserve holds these bytes, given in logical order. */
bool bench_memory_reserve_is(const bench_memory *m, const bench_data *d, const unsigned char *logical);
/* A hash of all output elements' bits. */
uint64_t bench_memory_hash(const bench_memory *m, const bench_data *d);
void bench_memory_free(bench_memory *m);

/* cuda.c: the driver, opened at run time. NULL with a last-error text where there is none or no device answers. */
const bench_space *bench_cuda(void);
/* A kernel that finds nothing to do, of the modules of this build; NULL where there is none. Launched as the driver is at its fastest. */
void *bench_cuda_kernel(void);
int bench_cuda_launch_nothing(void *kernel);

#endif
