/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the files of the emulated driver share. Numbers are those of the real driver's interface. */
#ifndef EMULATED_DRIVER_H
#define EMULATED_DRIVER_H

#include "block.h"

#define EXPORT __attribute__((visibility("default")))

enum {
    SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500,
    NOT_SUPPORTED = 801, CAPTURE_UNSUPPORTED = 900
};

typedef struct context context;
typedef unsigned long long device_ptr;
typedef struct stream stream;

/* driver.c */
context *emu_context(void);  /* the calling thread's, NULL where it has none */

/* stream.c. Work for a stream: done at once, or put into the graph where the stream captures. */
int emu_submit(stream *s, const emu_launch *l);
/* 900 where the thread may not do what a capture forbids. */
int emu_allowed(void);
int emu_capturing(const stream *s);

#endif
