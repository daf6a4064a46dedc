/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The CUDA driver API as far as the engine uses it: our own declarations (no CUDA header is needed to build the host code) and one table
 * of pointers, filled from libcuda.so.1 or nvcuda.dll at run time. Numbers are those of the driver's interface, which never change. */
#ifndef DN_CUDA_DRIVER_H
#define DN_CUDA_DRIVER_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define DN_CU_CALL __stdcall
#else
#define DN_CU_CALL
#endif

typedef struct dn_cu_context *dn_cu_ctx;
typedef struct dn_cu_module *dn_cu_mod;
typedef struct dn_cu_function *dn_cu_fn;
typedef struct dn_cu_event *dn_cu_ev;
typedef void *dn_cu_stream;      /* NULL and 1: the legacy default stream; 2: the calling thread's; else a stream of the caller */
typedef unsigned long long dn_cu_ptr;

/* CUresult */
enum {
    DN_CU_SUCCESS = 0, DN_CU_INVALID_VALUE = 1, DN_CU_OUT_OF_MEMORY = 2, DN_CU_NOT_INITIALIZED = 3, DN_CU_DEINITIALIZED = 4, DN_CU_NOT_READY = 600,
    DN_CU_NO_DEVICE = 100, DN_CU_INVALID_IMAGE = 200, DN_CU_INVALID_CONTEXT = 201, DN_CU_NO_BINARY_FOR_GPU = 209,
    DN_CU_ECC_UNCORRECTABLE = 214, DN_CU_INVALID_PTX = 218, DN_CU_UNSUPPORTED_PTX_VERSION = 222, DN_CU_NOT_FOUND = 500,
    DN_CU_ILLEGAL_ADDRESS = 700, DN_CU_LAUNCH_OUT_OF_RESOURCES = 701, DN_CU_LAUNCH_TIMEOUT = 702, DN_CU_CONTEXT_IS_DESTROYED = 709, DN_CU_ASSERT = 710,
    DN_CU_HARDWARE_STACK_ERROR = 714, DN_CU_ILLEGAL_INSTRUCTION = 715, DN_CU_MISALIGNED_ADDRESS = 716, DN_CU_INVALID_ADDRESS_SPACE = 717,
    DN_CU_INVALID_PC = 718, DN_CU_LAUNCH_FAILED = 719, DN_CU_STREAM_CAPTURE_UNSUPPORTED = 900, DN_CU_STREAM_CAPTURE_WRONG_THREAD = 908
};

/* CUdevice_attribute, CUfunction_attribute, CUpointer_attribute, CUstreamCaptureMode */
enum {
    DN_CU_ATTR_SM_COUNT = 16, DN_CU_ATTR_L2_BYTES = 38, DN_CU_ATTR_CC_MAJOR = 75, DN_CU_ATTR_CC_MINOR = 76,
    DN_CU_ATTR_PAGEABLE_ACCESS = 88, DN_CU_ATTR_SHARED_OPTIN = 97
};
enum { DN_CU_FUNC_NUM_REGS = 4, DN_CU_FUNC_MAX_DYNAMIC_SHARED = 8, DN_CU_FUNC_LARGE_CLUSTER = 14 };
enum { DN_CU_LAUNCH_COOPERATIVE = 2, DN_CU_LAUNCH_CLUSTER = 4 };
/* CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion; 0: plain layout, zeros outside */
enum { DN_CU_MAP_F16 = 6, DN_CU_MAP_BF16 = 9, DN_CU_MAP_SWIZZLE_128 = 3, DN_CU_MAP_PROMOTE_128 = 2 };
enum { DN_CU_POINTER_MEMORY_TYPE = 2, DN_CU_POINTER_IS_MANAGED = 8, DN_CU_POINTER_DEVICE = 9 };
enum { DN_CU_MEMORY_DEVICE = 2 };
enum { DN_CU_CAPTURE_RELAXED = 2 };

/* CUlaunchAttribute and CUlaunchConfig */
typedef struct dn_cu_attribute {
    int id, pad;
    union {
        unsigned cluster[3];
        int cooperative;
        char room[64];
    } value;
} dn_cu_attribute;

typedef struct dn_cu_config {
    unsigned grid[3], block[3], shared;
    dn_cu_stream stream;
    dn_cu_attribute *attributes;
    unsigned count;
} dn_cu_config;

typedef struct dn_cu_api {
    int(DN_CU_CALL *Init)(unsigned flags);
    int(DN_CU_CALL *DriverGetVersion)(int *version);  /* 12040 for 12.4 */
    int(DN_CU_CALL *DeviceGetCount)(int *count);
    int(DN_CU_CALL *DeviceGet)(int *device, int ordinal);
    int(DN_CU_CALL *DeviceGetName)(char *name, int size, int device);
    int(DN_CU_CALL *DeviceGetAttribute)(int *value, int attribute, int device);
    int(DN_CU_CALL *DeviceCanAccessPeer)(int *can, int device, int peer);
    int(DN_CU_CALL *PrimaryCtxRetain)(dn_cu_ctx *ctx, int device);
    int(DN_CU_CALL *PrimaryCtxRelease)(int device);
    int(DN_CU_CALL *CtxGetCurrent)(dn_cu_ctx *ctx);
    int(DN_CU_CALL *CtxGetDevice)(int *device);
    int(DN_CU_CALL *CtxPushCurrent)(dn_cu_ctx ctx);
    int(DN_CU_CALL *CtxPopCurrent)(dn_cu_ctx *ctx);
    int(DN_CU_CALL *CtxGetId)(dn_cu_ctx ctx, unsigned long long *id);  /* driver 12.0; NULL before */
    int(DN_CU_CALL *ModuleLoadData)(dn_cu_mod *module, const void *image);
    int(DN_CU_CALL *ModuleUnload)(dn_cu_mod module);
    int(DN_CU_CALL *ModuleGetFunction)(dn_cu_fn *function, dn_cu_mod module, const char *name);
    int(DN_CU_CALL *FuncLoad)(dn_cu_fn function);  /* driver 12.4; NULL before: there loading is done with the first attribute query */
    int(DN_CU_CALL *FuncGetAttribute)(int *value, int attribute, dn_cu_fn function);
    int(DN_CU_CALL *FuncSetAttribute)(dn_cu_fn function, int attribute, int value);
    int(DN_CU_CALL *LaunchKernel)(dn_cu_fn f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                  dn_cu_stream stream, void **params, void **extra);
    /* Driver 11.8 to 12.0; NULL before. */
    int(DN_CU_CALL *LaunchKernelEx)(const dn_cu_config *config, dn_cu_fn f, void **params, void **extra);
    int(DN_CU_CALL *TensorMapEncodeTiled)(void *map, int type, unsigned rank, void *base, const unsigned long long *dims,
                                          const unsigned long long *strides, const unsigned *box, const unsigned *steps, int interleave,
                                          int swizzle, int promotion, int fill);
    int(DN_CU_CALL *OccupancyMaxBlocks)(int *blocks, dn_cu_fn f, int threads, size_t shared);
    int(DN_CU_CALL *OccupancyMaxClusters)(int *clusters, dn_cu_fn f, const dn_cu_config *config);
    int(DN_CU_CALL *MemAlloc)(dn_cu_ptr *ptr, size_t bytes);
    int(DN_CU_CALL *MemFree)(dn_cu_ptr ptr);
    int(DN_CU_CALL *MemcpyHtoDAsync)(dn_cu_ptr dst, const void *src, size_t bytes, dn_cu_stream stream);
    int(DN_CU_CALL *MemcpyDtoHAsync)(void *dst, dn_cu_ptr src, size_t bytes, dn_cu_stream stream);
    int(DN_CU_CALL *MemsetD8Async)(dn_cu_ptr dst, unsigned char value, size_t bytes, dn_cu_stream stream);
    int(DN_CU_CALL *StreamSynchronize)(dn_cu_stream stream);
    int(DN_CU_CALL *StreamQuery)(dn_cu_stream stream);
    int(DN_CU_CALL *ThreadExchangeCaptureMode)(int *mode);
    int(DN_CU_CALL *PointerGetAttribute)(void *value, int attribute, dn_cu_ptr ptr);
    int(DN_CU_CALL *EventCreate)(dn_cu_ev *event, unsigned flags);
    int(DN_CU_CALL *EventRecord)(dn_cu_ev event, dn_cu_stream stream);
    int(DN_CU_CALL *EventSynchronize)(dn_cu_ev event);
    int(DN_CU_CALL *EventElapsedTime)(float *ms, dn_cu_ev from, dn_cu_ev to);
    int(DN_CU_CALL *EventDestroy)(dn_cu_ev event);
    int(DN_CU_CALL *GetErrorName)(int error, const char **text);
    int(DN_CU_CALL *GetErrorString)(int error, const char **text);
} dn_cu_api;

/* The table, filled and initialised once; NULL and the sentence why not where no driver answers or it has no device. */
const dn_cu_api *dn_cu(const char **why);
/* The same without the sentence, for code that runs only on an open handle. */
extern const dn_cu_api *dn_cu_table;
/* Devices of the machine; 0 where no driver answers. */
int dn_cu_device_count(void);

/* Sets the last-error text to "what: CUDA_ERROR_X (text)" and answers the status that stands for it. DN_SUCCESS for 0. */
dn_status dn_cu_check(int rc, const char *what);

#endif
