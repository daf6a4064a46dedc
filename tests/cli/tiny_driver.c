/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Stands for libcuda.so.1 in verify.sh: a driver of version TINY_DRIVER (12040) with one device, of whose 8 GiB TINY_FREE MiB are free. */
#include <stddef.h>
#include <stdlib.h>

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text ? atol(text) : otherwise;
}

int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    return flags != 0;
}

int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version)
{
    *version = (int)number("TINY_DRIVER", 12040);
    return 0;
}

int cuDeviceGetCount(int *count);
int cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRetain(void **context, int device)
{
    static int one;

    *context = &one;
    return number("TINY_FREE", 6000) < 100 ? 2 : device; /* CUDA_ERROR_OUT_OF_MEMORY */
}

int cuCtxSetCurrent(void *context);
int cuCtxSetCurrent(void *context)
{
    return context == NULL;
}

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total);
int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    *free_bytes = (size_t)number("TINY_FREE", 6000) << 20;
    *total = (size_t)8 << 30;
    return 0;
}
