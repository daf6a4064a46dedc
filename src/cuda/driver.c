/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Opens the driver and translates its errors. */
#include "cuda/driver.h"

#include "core/os.h"

#include <stdio.h>
#include <string.h>

#define SYM(field, name) { name, offsetof(dn_cu_api, field), 1 }
#define SYM_NEWER(field, name) { name, offsetof(dn_cu_api, field), 0 }

static const struct {
    const char *name;
    size_t at;
    int needed;
} symbols[] = {
    SYM(Init, "cuInit"), SYM(DriverGetVersion, "cuDriverGetVersion"), SYM(DeviceGetCount, "cuDeviceGetCount"), SYM(DeviceGet, "cuDeviceGet"),
    SYM(DeviceGetName, "cuDeviceGetName"), SYM(DeviceGetAttribute, "cuDeviceGetAttribute"), SYM(DeviceCanAccessPeer, "cuDeviceCanAccessPeer"),
    SYM(PrimaryCtxRetain, "cuDevicePrimaryCtxRetain"), SYM(PrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2"),
    SYM(CtxGetCurrent, "cuCtxGetCurrent"), SYM(CtxGetDevice, "cuCtxGetDevice"), SYM(CtxPushCurrent, "cuCtxPushCurrent_v2"),
    SYM(CtxPopCurrent, "cuCtxPopCurrent_v2"), SYM_NEWER(CtxGetId, "cuCtxGetId"), SYM(ModuleLoadData, "cuModuleLoadData"),
    SYM(ModuleUnload, "cuModuleUnload"), SYM(ModuleGetFunction, "cuModuleGetFunction"), SYM_NEWER(FuncLoad, "cuFuncLoad"),
    SYM(FuncGetAttribute, "cuFuncGetAttribute"), SYM(FuncSetAttribute, "cuFuncSetAttribute"),
    SYM(LaunchKernel, "cuLaunchKernel"), SYM_NEWER(LaunchKernelEx, "cuLaunchKernelEx"),
    SYM_NEWER(TensorMapEncodeTiled, "cuTensorMapEncodeTiled"),
    SYM(OccupancyMaxBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor"), SYM_NEWER(OccupancyMaxClusters, "cuOccupancyMaxActiveClusters"),
    SYM(MemAlloc, "cuMemAlloc_v2"), SYM(MemFree, "cuMemFree_v2"),
    SYM(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2"), SYM(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2"), SYM(StreamSynchronize, "cuStreamSynchronize"),
    SYM(StreamQuery, "cuStreamQuery"),
    SYM(MemsetD8Async, "cuMemsetD8Async"),
    SYM(ThreadExchangeCaptureMode, "cuThreadExchangeStreamCaptureMode"), SYM(PointerGetAttribute, "cuPointerGetAttribute"),
    SYM(EventCreate, "cuEventCreate"), SYM(EventRecord, "cuEventRecord"), SYM(EventSynchronize, "cuEventSynchronize"),
    SYM(EventElapsedTime, "cuEventElapsedTime"), SYM(EventDestroy, "cuEventDestroy_v2"), SYM(GetErrorName, "cuGetErrorName"),
    SYM(GetErrorString, "cuGetErrorString"),
};

static dn_cu_api api;
const dn_cu_api *dn_cu_table = &api;
static int device_count;
static char refusal[240];
static pthread_once_t once = PTHREAD_ONCE_INIT;

#if defined(_WIN32)
static const char library[] = "nvcuda.dll";
#else
static const char library[] = "libcuda.so.1";
#endif

static void open_driver(void)
{
    void *lib = dn_lib_open(library);
    if (!lib) {
        snprintf(refusal, sizeof refusal, "there is no NVIDIA driver: %s cannot be opened", library);
        return;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *f = dn_lib_symbol(lib, symbols[i].name);
        memcpy((char *)&api + symbols[i].at, &f, sizeof f);
        if (!f && symbols[i].needed) {
            snprintf(refusal, sizeof refusal, "the NVIDIA driver is too old: %s has no %s", library, symbols[i].name);
            return;
        }
    }
    int rc = api.Init(0);
    if (rc == DN_CU_SUCCESS)
        rc = api.DeviceGetCount(&device_count);
    const char *name = NULL;
    if (rc != DN_CU_SUCCESS) {
        device_count = 0;
        api.GetErrorName(rc, &name);
        snprintf(refusal, sizeof refusal, "the NVIDIA driver does not answer: %s (%d)", name ? name : "error", rc);
    } else if (!device_count) {
        snprintf(refusal, sizeof refusal, "the NVIDIA driver answers, but it has no device");
    }
}

const dn_cu_api *dn_cu(const char **why)
{
    pthread_once(&once, open_driver);
    if (!refusal[0])
        return &api;
    *why = refusal;
    return NULL;
}

int dn_cu_device_count(void)
{
    pthread_once(&once, open_driver);
    return device_count;
}

/* Errors of earlier work that show at the next call, whatever that call is. */
static int is_earlier_work(int rc)
{
    return rc == DN_CU_ECC_UNCORRECTABLE || rc == DN_CU_ILLEGAL_ADDRESS || rc == DN_CU_LAUNCH_TIMEOUT ||
           (rc >= DN_CU_ASSERT && rc <= DN_CU_LAUNCH_FAILED && rc != 711 && rc != 712 && rc != 713);
}

static dn_status status_of(int rc)
{
    switch (rc) {
    case DN_CU_OUT_OF_MEMORY: return DN_ALLOC_FAILED;
    case DN_CU_NOT_INITIALIZED: case DN_CU_DEINITIALIZED: case DN_CU_NO_DEVICE: return DN_NOT_INITIALIZED;
    case DN_CU_NO_BINARY_FOR_GPU: case DN_CU_INVALID_PTX: case DN_CU_UNSUPPORTED_PTX_VERSION: case DN_CU_INVALID_IMAGE: return DN_ARCH_MISMATCH;
    case DN_CU_INVALID_CONTEXT: case DN_CU_CONTEXT_IS_DESTROYED: return DN_BAD_PARAM;
    default: return DN_EXECUTION_FAILED;
    }
}

dn_status dn_cu_check(int rc, const char *what)
{
    if (rc == DN_CU_SUCCESS)
        return DN_SUCCESS;
    const char *name = NULL, *text = NULL;
    api.GetErrorName(rc, &name);
    api.GetErrorString(rc, &text);
    if (is_earlier_work(rc))
        return dn_fail(DN_EXECUTION_FAILED,
                       "%s: %s (%s); a kernel that ran before in this context failed, which may be the program's own: nothing works in the "
                       "context from here on (compute-sanitizer names the kernel)", what, name ? name : "error", text ? text : "");
    return dn_fail(status_of(rc), "%s: %s (%s)", what, name ? name : "error", text ? text : "");
}
