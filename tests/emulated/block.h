/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The threads of a block of a kernel on the CPU: what the language (emu.h, C++) and the driver (C) need of each other. */
#ifndef EMULATED_BLOCK_H
#define EMULATED_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

enum { EMU_THREADS = 1024, EMU_PARAMS = 4096, EMU_SHARED = 227 << 10 };

typedef struct emu_index {
    unsigned x, y, z;
} emu_index;

/* Of the thread that runs. Blocks run one after another, one thread at a time, so one of each will do. */
extern emu_index emu_thread_index, emu_block_index, emu_block_size, emu_grid_size;
extern unsigned emu_thread;               /* its number in the block */
extern uint64_t emu_slot[EMU_THREADS];    /* what the threads of a warp tell each other */
extern unsigned char emu_shared[EMU_SHARED];  /* dynamic shared memory */

void emu_wait_block(void);
void emu_wait_warp(unsigned mask);

typedef void (*emu_kernel)(void);
typedef struct emu_launch {
    emu_kernel kernel;
    const char *name;
    emu_index grid, block;
    unsigned shared;                      /* bytes of dynamic shared memory */
    unsigned char params[EMU_PARAMS];     /* the one struct that the kernel takes */
} emu_launch;

/* 0, or 719 (the launch failed) after a line on standard error. One at a time. */
int emu_run(const emu_launch *l);

#if defined(__cplusplus)
}
#endif
#endif
