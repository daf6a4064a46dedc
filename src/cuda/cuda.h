/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the files of the cuda engine share: the device of a handle, kernels by name, launches, scratch memory.
 *
 * A row prepares everything that does not change (function, grid, strides) in plan->state and launches in run, so that run neither
 * allocates nor waits and may be captured into a graph. Kernels take one struct by value, declared in a header that the host and the
 * kernel share. */
#ifndef DN_CUDA_CUDA_H
#define DN_CUDA_CUDA_H

#include "core/engine.h"
#include "cuda/driver.h"

/* --- code (images.c is generated from the .cu files; empty in a build without a CUDA compiler) --- */
typedef struct dn_cuda_image {
    const char *module;  /* file name of the .cu without its end */
    int sm;              /* 90 for compute capability 9.0 */
    int exact;           /* 1: for this capability alone (90a) */
    int is_ptx;          /* 1: text that the driver compiles, for newer devices */
    int toolkit;         /* that made it: 11080 for 11.8 */
    const unsigned char *data, *end;
} dn_cuda_image;
extern const dn_cuda_image dn_cuda_images[];  /* sorted by module; ends with module NULL */
extern const int dn_cuda_toolkit;             /* the newest that made an image; 0 without images */
/* How well an image suits a device of this capability; 0: not at all. */
int dn_cuda_suits(const dn_cuda_image *i, int sm);
int dn_cuda_max_sm(void);                     /* highest capability with code of its own, 0 without code */

/* --- the device of a handle --- */
typedef struct dn_cuda_device {
    struct dn_cuda_device *next;
    dn_cu_ctx ctx;
    unsigned long long ctx_id;
    int device, sm, sm_count, pageable;
    size_t l2_bytes, shared_max;  /* shared_max: bytes of shared memory that a block may ask for */
    dn_cu_mod *modules;      /* by number of module, NULL where not loaded yet */
} dn_cuda_device;

#define DN_CUDA_KNOWN 64  /* pointers seen before, by page */

typedef struct dn_cuda_scratch_block {
    struct dn_cuda_scratch_block *next;
    dn_cu_stream stream;
    dn_cu_ptr ptr;
    size_t size;
} dn_cuda_scratch_block;

/* handle->state */
typedef struct dn_cuda_state {
    dn_cuda_device *device;
    int owns_primary;        /* the context is the primary one, retained by this handle */
    dn_cuda_scratch_block *scratch;
    uintptr_t known[DN_CUDA_KNOWN];
} dn_cuda_state;

static inline dn_cuda_state *dn_cuda_state_of(const dn_handle *h)
{
    return h->state;
}
static inline const dn_cuda_device *dn_cuda_device_of(const dn_handle *h)
{
    return dn_cuda_state_of(h)->device;
}

/* device.c. Makes the handle's context current where another is; *pushed says whether dn_cuda_leave must take it off again. */
dn_status dn_cuda_enter(dn_handle *h, int *pushed);
void dn_cuda_leave(int pushed);
/* Memory of this handle and its stream for rows whose calls have no workspace, kept until the handle goes. What is there belongs to
 * one call at a time; its contents are not kept between calls. 256-byte aligned. */
dn_status dn_cuda_scratch(dn_handle *h, size_t size, void **ptr);
/* Zero where no pointer of the call lies where the device cannot reach it. */
dn_status dn_cuda_admit(dn_handle *h, const dn_plan *plan, const dn_args *a);

/* --- kernels --- */
/* module.c. The function `name` of module `module`, loaded and resident; shared: bytes of dynamic shared memory that it may ask for.
 * NOT_SUPPORTED where the module has no code for this device. Call in prepare. */
dn_status dn_cuda_function(dn_handle *h, const char *module, const char *name, size_t shared, dn_cu_fn *f);

typedef struct dn_cuda_grid {
    dn_cu_fn f;
    unsigned grid[3], block[3];
    unsigned shared;
    unsigned cluster;      /* neighbouring blocks along x that share their memory; 0 and 1: none do */
    bool cooperative;      /* all blocks run at once */
} dn_cuda_grid;

/* launch.c. Puts the kernel on the handle's stream; params: the one struct that it takes. */
dn_status dn_cuda_launch(dn_handle *h, const dn_cuda_grid *g, const void *params);
/* Bytes of device memory become 0, on the handle's stream. */
dn_status dn_cuda_zero(dn_handle *h, void *ptr, size_t bytes);
/* For grids with clusters or cooperative ones, in prepare, after dn_cuda_function. NOT_SUPPORTED where they cannot run here. */
dn_status dn_cuda_grid_fits(dn_handle *h, const dn_cuda_grid *g);
/* How many blocks of such a grid run at once; in prepare. */
dn_status dn_cuda_grid_room(dn_handle *h, const dn_cuda_grid *g, int *room);

/* g for `threads` threads in all in blocks of `block`, at most what keeps the device busy (`waves` blocks of 2048 threads per SM), for
 * kernels that loop over the grid. */
void dn_cuda_grid_loop(const dn_handle *h, dn_cuda_grid *g, int64_t threads, unsigned block, unsigned waves);

/* release of rows whose state is one block of malloc */
void dn_cuda_release(dn_plan *plan);

extern const dn_engine dn_cuda_engine;

#endif
