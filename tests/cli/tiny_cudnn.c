/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A small library with the part of cuDNN 8's interface that one convolution takes; built by verify.sh and run.sh, never installed. Macros choose what is
 * wrong with it:
 *   VERSION=N      what cudnnGetVersion answers (8907)
 *   LATER          has one function more
 *   WRONG          one output is wrong
 *   SLEEP_MS=N     each call waits
 *   CHECK=NAME     cudnnCnnInferVersionCheck opens this library and, where it is missing, prints and aborts as the vendor's does
 * The environment variable TINY_STATUS is what cudnnCreate answers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION 8907
#endif

typedef struct shape {
    int dims[8];
} shape;

size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void)
{
    return VERSION;
}

#ifdef LATER
int cudnnFromLater(void);
int cudnnFromLater(void)
{
    return 0;
}
#endif

#ifdef CHECK
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
int cudnnCnnInferVersionCheck(void);
int cudnnCnnInferVersionCheck(void)
{
    if (!dlopen(TEXT(CHECK), RTLD_NOW)) {
        fprintf(stderr, "Could not load library libcudnn_cnn_infer.so.8. Error: %s\n", dlerror());
        abort();
    }
    return 0;
}
#endif

const char *anydnnGetEngineName(void *handle);
const char *anydnnGetEngineName(void *handle)
{
    (void)handle;
    return "tiny"; /* its memory is the host's */
}

const char *cudnnGetErrorString(int status);
const char *cudnnGetErrorString(int status)
{
    static const char *const names[] = { "CUDNN_STATUS_SUCCESS", "CUDNN_STATUS_NOT_INITIALIZED", "CUDNN_STATUS_ALLOC_FAILED", "CUDNN_STATUS_BAD_PARAM",
                                         "CUDNN_STATUS_INTERNAL_ERROR" };
    return status >= 0 && status < 5 ? names[status] : "another";
}

#define MAKE(name)                                        \
    int name(void **out);                                 \
    int name(void **out)                                  \
    {                                                     \
        *out = calloc(1, sizeof(shape));                  \
        return *out ? 0 : 2;                              \
    }
#define DROP(name)      \
    int name(void *x);  \
    int name(void *x)   \
    {                   \
        free(x);        \
        return 0;       \
    }
MAKE(cudnnCreateTensorDescriptor)
MAKE(cudnnCreateFilterDescriptor)
MAKE(cudnnCreateConvolutionDescriptor)
DROP(cudnnDestroyTensorDescriptor)
DROP(cudnnDestroyFilterDescriptor)
DROP(cudnnDestroyConvolutionDescriptor)
DROP(cudnnDestroy)

int cudnnCreate(void **out);
int cudnnCreate(void **out)
{
    const char *status = getenv("TINY_STATUS");

    *out = calloc(1, 8);
    return status ? atoi(status) : 0;
}

int cudnnSetTensorNdDescriptor(shape *s, int type, int rank, const int *dims, const int *strides);
int cudnnSetTensorNdDescriptor(shape *s, int type, int rank, const int *dims, const int *strides)
{
    (void)type;
    (void)strides;
    memcpy(s->dims, dims, (size_t)rank * sizeof *dims);
    return 0;
}

int cudnnSetFilterNdDescriptor(shape *s, int type, int format, int rank, const int *dims);
int cudnnSetFilterNdDescriptor(shape *s, int type, int format, int rank, const int *dims)
{
    (void)format;
    return cudnnSetTensorNdDescriptor(s, type, rank, dims, NULL);
}

int cudnnSetConvolutionNdDescriptor(void *conv, int n, const int *pad, const int *stride, const int *dilation, int mode, int type);
int cudnnSetConvolutionNdDescriptor(void *conv, int n, const int *pad, const int *stride, const int *dilation, int mode, int type)
{
    (void)conv, (void)n, (void)pad, (void)stride, (void)dilation, (void)mode, (void)type;
    return 0;
}

int cudnnSetConvolutionGroupCount(void *conv, int count);
int cudnnSetConvolutionGroupCount(void *conv, int count)
{
    (void)conv;
    return count == 1 ? 0 : 3;
}

int cudnnSetConvolutionMathType(void *conv, int type);
int cudnnSetConvolutionMathType(void *conv, int type)
{
    (void)conv, (void)type;
    return 0;
}

int cudnnGetConvolutionForwardWorkspaceSize(void *h, void *x, void *w, void *conv, void *y, int algo, size_t *size);
int cudnnGetConvolutionForwardWorkspaceSize(void *h, void *x, void *w, void *conv, void *y, int algo, size_t *size)
{
    (void)h, (void)x, (void)w, (void)conv, (void)y, (void)algo;
    *size = 0;
    return 0;
}

/* 3x3, padding 1, stride 1. The rows of one output image are summed up filter tap by filter tap, which a compiler makes vectors of. */
int cudnnConvolutionForward(void *h, const float *alpha, const shape *xs, const float *x, const shape *ws, const float *w, void *conv, int algo,
                            void *workspace, size_t size, const float *beta, const shape *ys, float *y);
int cudnnConvolutionForward(void *h, const float *alpha, const shape *xs, const float *x, const shape *ws, const float *w, void *conv, int algo,
                            void *workspace, size_t size, const float *beta, const shape *ys, float *y)
{
    int c = xs->dims[1], height = xs->dims[2], width = xs->dims[3], k = ys->dims[1];

    (void)h, (void)alpha, (void)beta, (void)ws, (void)conv, (void)algo, (void)workspace, (void)size;
#ifdef SLEEP_MS
    usleep(SLEEP_MS * 1000);
#endif
    memset(y, 0, (size_t)(k * height * width) * sizeof *y);
    for (int o = 0; o < k; o++)
        for (int i = 0; i < c; i++)
            for (int r = 0; r < 9; r++) {
                float f = w[(o * c + i) * 9 + r];
                int dy = r / 3 - 1, dx = r % 3 - 1;
                for (int row = dy < 0; row < height - (dy > 0); row++) {
                    float *to = y + (o * height + row) * width;
                    const float *from = x + (i * height + row + dy) * width + dx;
                    for (int col = dx < 0; col < width - (dx > 0); col++)
                        to[col] += f * from[col];
                }
            }
#ifdef WRONG
    y[17] += 0.5f;
#endif
    return 0;
}
