/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * anydnn's own functions, beside the cuDNN interface: which engine a handle has, memory that fits it, why the last call failed.
 * Include <cudnn.h> first or let this header do it. A program that uses nothing of this header runs unchanged with any cuDNN.
 *
 * Memory: each handle works in one memory space. On the host engines (ref, cpu) "device" pointers are host pointers; on cuda they
 * are device pointers. anydnnMalloc gives memory of the right kind, so one source serves both. */
#ifndef ANYDNN_H_
#define ANYDNN_H_

#include <cudnn.h>
#include <stddef.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Version of anydnn itself, such as "0.1.0"; cudnnGetVersion answers the cuDNN version whose interface this library has. */
const char *anydnnGetVersionString(void);

/* "ref", "cpu" or "cuda"; NULL where handle is not a live one. The text lives as long as the program. */
const char *anydnnGetEngineName(cudnnHandle_t handle);

/* Name of the row (kernel or routine) that the last successful call on this handle ran, such as "ref_conv_fwd_implicit_gemm";
 * "" before the first. NULL where handle is not a live one. */
const char *anydnnGetLastSolver(cudnnHandle_t handle);

/* *ptr: size bytes of the handle's memory, aligned to 64 bytes (256 on a GPU). size 0 gives a pointer that may be freed.
 * BAD_PARAM for a dead handle or a NULL ptr, ALLOC_FAILED where there is no memory. */
cudnnStatus_t anydnnMalloc(cudnnHandle_t handle, size_t size, void **ptr);
/* Frees what anydnnMalloc gave; NULL is allowed. */
cudnnStatus_t anydnnFree(cudnnHandle_t handle, void *ptr);
/* Host memory to the handle's memory and back; done when the call returns, after all earlier work on the handle's stream. */
cudnnStatus_t anydnnCopyIn(cudnnHandle_t handle, void *dst, const void *hostSrc, size_t size);
cudnnStatus_t anydnnCopyOut(cudnnHandle_t handle, void *hostDst, const void *src, size_t size);
/* Waits until all work given to the handle is done, and reports its failure. */
cudnnStatus_t anydnnSynchronize(cudnnHandle_t handle);

/* Text of this thread's last failure in this library: "cudnnConvolutionForward: xDesc has 64 channels, wDesc wants 32 x 1 group".
 * "" where nothing failed. The text is this thread's and stays until its next failing call. cuDNN 9's cudnnGetLastErrorString
 * gives the same. */
const char *anydnnGetLastErrorString(void);

#if defined(__cplusplus)
}
#endif

#endif
