/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The driver for the tests, opened at run time, and calls to make. */
#ifndef GPU_H
#define GPU_H

#include "api_lib.h"

typedef void *gpu_context;
typedef void *gpu_stream;
typedef unsigned long long gpu_ptr;

#define GPU_FUNCTIONS(X) \
    X(Init, "cuInit", (unsigned)) X(DeviceGet, "cuDeviceGet", (int *, int)) X(DeviceGetCount, "cuDeviceGetCount", (int *)) \
    X(DeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, int)) X(DeviceGetName, "cuDeviceGetName", (char *, int, int)) \
    X(Retain, "cuDevicePrimaryCtxRetain", (gpu_context *, int)) X(CtxSetCurrent, "cuCtxSetCurrent", (gpu_context)) \
    X(CtxGetCurrent, "cuCtxGetCurrent", (gpu_context *)) X(CtxCreate, "cuCtxCreate_v2", (gpu_context *, unsigned, int)) \
    X(CtxDestroy, "cuCtxDestroy_v2", (gpu_context)) X(CtxSynchronize, "cuCtxSynchronize", (void)) \
    X(MemAlloc, "cuMemAlloc_v2", (gpu_ptr *, size_t)) X(MemAllocHost, "cuMemAllocHost_v2", (void **, size_t)) \
    X(MemAllocManaged, "cuMemAllocManaged", (gpu_ptr *, size_t, unsigned)) X(MemFree, "cuMemFree_v2", (gpu_ptr)) \
    X(MemFreeHost, "cuMemFreeHost", (void *)) X(HtoD, "cuMemcpyHtoD_v2", (gpu_ptr, const void *, size_t)) \
    X(DtoH, "cuMemcpyDtoH_v2", (void *, gpu_ptr, size_t)) X(MemGetInfo, "cuMemGetInfo_v2", (size_t *, size_t *)) \
    X(StreamCreate, "cuStreamCreate", (gpu_stream *, unsigned)) X(StreamDestroy, "cuStreamDestroy_v2", (gpu_stream)) \
    X(StreamSynchronize, "cuStreamSynchronize", (gpu_stream)) X(BeginCapture, "cuStreamBeginCapture_v2", (gpu_stream, int)) \
    X(EndCapture, "cuStreamEndCapture", (gpu_stream, void **)) X(Instantiate, "cuGraphInstantiateWithFlags", (void **, void *, unsigned long long)) \
    X(GraphLaunch, "cuGraphLaunch", (void *, gpu_stream)) X(GraphExecDestroy, "cuGraphExecDestroy", (void *)) \
    X(GraphDestroy, "cuGraphDestroy", (void *)) X(ModuleLoadData, "cuModuleLoadData", (void **, const void *)) \
    X(ModuleGetFunction, "cuModuleGetFunction", (void **, void *, const char *)) \
    X(LaunchKernel, "cuLaunchKernel", (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, gpu_stream, void **, void **))

struct gpu_driver {
#define X(member, name, args) int(*member) args;
    GPU_FUNCTIONS(X)
#undef X
};
extern struct gpu_driver cu;

/* 0, or 77 with a line that says why there is nothing to test on. The primary context of device 0 becomes current. */
int gpu_open(void);
#define CU(call) assert_int_equal(cu.call, 0)

/* y = relu(x) for n floats, of a handle. */
typedef struct relu {
    cudnnHandle_t h;
    cudnnTensorDescriptor_t t;
    cudnnActivationDescriptor_t a;
    int n;
} relu;
void relu_make(relu *r, int n);
cudnnStatus_t relu_run(const relu *r, const void *x, void *y);
void relu_free(relu *r);
/* Device memory with x[i] = i - n / 2, and one for y, filled with 7. */
void relu_memory(int n, gpu_ptr *x, gpu_ptr *y);
/* Fails unless y is the relu of that x. */
void relu_check(int n, gpu_ptr y);

#endif
