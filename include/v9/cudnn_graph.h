/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* cudnn_graph.h: handle, status, common types, graph API */
/* Long because programs include it by this name. */
#ifndef CUDNN_GRAPH_H_
#define CUDNN_GRAPH_H_

#include <stddef.h>
#include <stdint.h>

#include "cudnn_version.h"

/*
 * CUDA's own types. Its headers are used where they can be found. Where they cannot, or when
 * ANYDNN_NO_CUDA_HEADERS is defined, the few types of this interface are declared here; these are
 * the same declarations, so that CUDA's headers may have been included before.
 */
#if !defined(ANYDNN_NO_CUDA_HEADERS) && defined(__has_include)
#if __has_include(<cuda_runtime_api.h>) && __has_include(<library_types.h>)
#define ANYDNN_HAS_CUDA_HEADERS 1
#endif
#endif

#ifdef ANYDNN_HAS_CUDA_HEADERS
#include <cuda_runtime_api.h>
#include <library_types.h>
#else
typedef struct CUstream_st *cudaStream_t;
typedef struct CUgraph_st *cudaGraph_t;
#ifndef __LIBRARY_TYPES_H__
typedef enum libraryPropertyType_t {
    MAJOR_VERSION = 0,
    MINOR_VERSION = 1,
    PATCH_LEVEL = 2
} libraryPropertyType;
#endif
#endif

/* Calling convention of the Windows library. */
#ifndef CUDNNWINAPI
#ifdef _WIN32
#define CUDNNWINAPI __stdcall
#else
#define CUDNNWINAPI
#endif
#endif

/*
 * Old functions carry a warning when CUDNN_WARN_DEPRECATED is defined, and never when
 * ANYDNN_NO_DEPRECATED is.
 */
#if !defined(CUDNN_WARN_DEPRECATED) || defined(ANYDNN_NO_DEPRECATED)
#define CUDNN_DEPRECATED
#define CUDNN_DEPRECATED_ENUM
#elif defined(__GNUC__) || defined(__clang__)
#define CUDNN_DEPRECATED __attribute__((deprecated))
#define CUDNN_DEPRECATED_ENUM __attribute__((deprecated))
#elif defined(_MSC_VER)
#define CUDNN_DEPRECATED __declspec(deprecated)
#define CUDNN_DEPRECATED_ENUM
#elif defined(__cplusplus) && __cplusplus >= 201402L
#define CUDNN_DEPRECATED [[deprecated]]
#define CUDNN_DEPRECATED_ENUM [[deprecated]]
#else
#define CUDNN_DEPRECATED
#define CUDNN_DEPRECATED_ENUM
#endif

/* Version of this header, which has to be that of cudnn_version.h. */
#define CUDNN_GRAPH_MAJOR 9
#define CUDNN_GRAPH_MINOR 19
#define CUDNN_GRAPH_PATCH 0

#if CUDNN_GRAPH_MAJOR != CUDNN_MAJOR || CUDNN_GRAPH_MINOR != CUDNN_MINOR || \
    CUDNN_GRAPH_PATCH != CUDNN_PATCHLEVEL
#error "cuDNN headers of different versions are mixed"
#endif

/*
 * How the comments of these headers speak, and what holds for every function:
 * - A status is named without its prefix: BAD_PARAM is CUDNN_STATUS_BAD_PARAM. Without a further
 *   word a NULL or dead descriptor or handle, and a NULL result pointer, is BAD_PARAM; a NULL to a
 *   Destroy function is SUCCESS. Create functions answer INTERNAL_ERROR_HOST_ALLOCATION_FAILED when
 *   memory runs out.
 * - "Host" memory is read or written by the calling thread. "Engine memory" is what the engine of
 *   the handle works on: device memory on a GPU, ordinary memory on the host engines. Descriptors,
 *   scalars, sizes and arrays of sizes are on the host; tensors, workspaces and reserve spaces are
 *   engine memory.
 * - Work is queued on the stream of the handle; host engines are done when the call returns.
 * - alpha and beta point to host scalars: double when the tensors are double, else float. A result
 *   is alpha * new + beta * old, and the old one is not read when beta is 0.
 * - Sizes and strides count elements; workspaces and memory count bytes. Ranks go up to
 *   CUDNN_DIM_MAX.
 * - A function that this library lacks so far answers NOT_SUPPORTED.
 * - Each failure leaves a text with function, argument, value and rule: see
 *   cudnnGetLastErrorString.
 */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Library, handle, status ----------------------------------------------------------------- */

/* One engine, one stream, one cache of plans; see cudnnCreate. */
typedef struct cudnnContext *cudnnHandle_t;

/* What every call answers. cudnnGetErrorString gives the name. */
typedef enum {
    CUDNN_STATUS_SUCCESS = 0, /* done, or queued on the stream */
    CUDNN_STATUS_NOT_INITIALIZED = 1001, /* no engine, or a descriptor that is not finalised */
    CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH = 1002, /* parts of different versions */
    CUDNN_STATUS_VERSION_MISMATCH CUDNN_DEPRECATED_ENUM = 1002, /* parts of different versions */
    CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH = 1003, /* a plan written by another version */
    CUDNN_STATUS_DEPRECATED = 1004, /* the function is gone */
    CUDNN_STATUS_LICENSE_ERROR = 1005, /* never answered by this library */
    CUDNN_STATUS_RUNTIME_IN_PROGRESS = 1006, /* kernels still run */
    CUDNN_STATUS_RUNTIME_FP_OVERFLOW = 1007, /* a kernel reported an overflow */
    CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED = 1008, /* a part of the library is missing */
    CUDNN_STATUS_BAD_PARAM = 2000, /* an argument breaks a rule */
    CUDNN_STATUS_INVALID_VALUE CUDNN_DEPRECATED_ENUM = 2001, /* not answered; BAD_PARAM is */
    CUDNN_STATUS_BAD_PARAM_NULL_POINTER = 2002, /* a needed pointer is NULL */
    CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER = 2003, /* a pointer is not aligned as promised */
    CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED = 2004, /* a descriptor is not finalised */
    CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND = 2005, /* a value is out of range */
    CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT = 2006, /* a buffer is too small */
    CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH = 2007, /* a stream of another context */
    CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH = 2008, /* shapes do not agree */
    CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES = 2009, /* an id occurs twice */
    CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE = 2010, /* wrong kind of attribute value */
    CUDNN_STATUS_BAD_PARAM_CUDA_GRAPH_MISMATCH = 2011, /* a CUDA graph of another plan */
    CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE = 2012, /* wrong kind of descriptor */
    CUDNN_STATUS_NOT_SUPPORTED = 3000, /* right, but not possible here */
    CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN = 3001, /* no engine for this graph */
    CUDNN_STATUS_NOT_SUPPORTED_SHAPE = 3002, /* no engine for these shapes */
    CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE = 3003, /* no engine for these types */
    CUDNN_STATUS_NOT_SUPPORTED_LAYOUT = 3004, /* no engine for this layout */
    CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER = 3005, /* the driver is too old */
    CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART = 3006, /* the CUDA run time is too old */
    CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH = 3007, /* no code for this GPU */
    CUDNN_STATUS_ARCH_MISMATCH CUDNN_DEPRECATED_ENUM = 3007, /* no code for this GPU */
    /* a run-time library is missing */
    CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING = 3008,
    /* a run-time library is missing */
    CUDNN_STATUS_RUNTIME_PREREQUISITE_MISSING CUDNN_DEPRECATED_ENUM = 3008,
    CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE = 3009, /* a part of the library is missing */
    CUDNN_STATUS_NOT_SUPPORTED_SHARED_MEMORY_INSUFFICIENT = 3010, /* too little shared memory */
    CUDNN_STATUS_NOT_SUPPORTED_PADDING = 3011, /* no engine for this padding */
    CUDNN_STATUS_NOT_SUPPORTED_BAD_LAUNCH_PARAM = 3012, /* no launch shape fits */
    /* the engine cannot fill CUDA graphs */
    CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API = 3013,
    CUDNN_STATUS_NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE = 3014, /* the shape may not vary */
    CUDNN_STATUS_INTERNAL_ERROR = 4000, /* a fault of the library */
    CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED = 4001, /* run-time compilation failed */
    CUDNN_STATUS_INTERNAL_ERROR_UNEXPECTED_VALUE = 4002,
    CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED = 4003, /* out of host memory */
    CUDNN_STATUS_ALLOC_FAILED CUDNN_DEPRECATED_ENUM = 4003, /* out of memory */
    CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED = 4004, /* out of device memory */
    CUDNN_STATUS_INTERNAL_ERROR_BAD_LAUNCH_PARAM = 4005,
    CUDNN_STATUS_INTERNAL_ERROR_TEXTURE_CREATION_FAILED = 4006,
    /* memory or a stream of another device */
    CUDNN_STATUS_MAPPING_ERROR CUDNN_DEPRECATED_ENUM = 4006,
    CUDNN_STATUS_EXECUTION_FAILED = 5000, /* a kernel could not be run */
    CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER = 5001,
    CUDNN_STATUS_EXECUTION_FAILED_CUBLAS = 5002,
    CUDNN_STATUS_EXECUTION_FAILED_CUDART = 5003,
    CUDNN_STATUS_EXECUTION_FAILED_CURAND = 5004
} cudnnStatus_t;

/* A status of version 9 is a category (a multiple of 1000) plus a detail. */
#define CUDNN_STATUS_FULL_ERROR_CODE(category, specific_err) \
    ((cudnnStatus_t)(0 + (category) + (specific_err)))
#define CUDNN_STATUS_CATEGORY(full_error_code) ((full_error_code) / 1000 * 1000)
#define CUDNN_STATUS_SPECIFIC_ERROR(full_error_code) ((full_error_code) % 1000)

/* Reserved; pass NULL. */
CUDNN_DEPRECATED typedef struct cudnnRuntimeTag_t cudnnRuntimeTag_t;

/* How cudnnQueryRuntimeError looks. */
typedef enum {
    CUDNN_ERRQUERY_RAWCODE     = 0, /* the last code, without a look at the stream */
    CUDNN_ERRQUERY_NONBLOCKING = 1, /* poll */
    CUDNN_ERRQUERY_BLOCKING    = 2 /* wait for the stream */
} cudnnErrQueryMode_t;

/*
 * Version of the interface that this library answers to, as CUDNN_VERSION was when it was built:
 * 91900. Never fails, needs no device.
 */
size_t CUDNNWINAPI cudnnGetVersion(void);

/*
 * Newest compute capability that the built-in kernels were made for, as major * 100 + minor * 10
 * (900 is sm_90); 0 in a build without GPU code.
 */
size_t CUDNNWINAPI cudnnGetMaxDeviceVersion(void);

/*
 * Version of the CUDA toolkit that built the GPU kernels, as major * 1000 + minor * 10 (12040 is
 * 12.4); 0 in a build without GPU code.
 */
size_t CUDNNWINAPI cudnnGetCudartVersion(void);

/*
 * Name of a status value as a constant NUL-terminated host string. A number that is no status gives
 * a fixed text, never NULL. The caller must not free it.
 */
const char *CUDNNWINAPI cudnnGetErrorString(cudnnStatus_t status);

/*
 * Reads what kernels of this handle reported while they ran (an overflow in a persistent batch
 * norm, say). *rstatus (host) receives SUCCESS, RUNTIME_IN_PROGRESS or RUNTIME_FP_OVERFLOW. mode:
 * raw value, a poll, or wait for the stream first. tag must be NULL. Answers BAD_PARAM for a dead
 * handle, a NULL rstatus or an unknown mode.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnQueryRuntimeError(cudnnHandle_t handle, cudnnStatus_t *rstatus,
    cudnnErrQueryMode_t mode, cudnnRuntimeTag_t *tag);

/*
 * Writes one part of the version to *value (host): MAJOR_VERSION, MINOR_VERSION or PATCH_LEVEL.
 * BAD_PARAM for a NULL value or another type.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetProperty(libraryPropertyType type, int *value);

/*
 * Makes a handle for the current device (or for the host engine) and stores it in *handle (host). A
 * handle owns an engine, a stream and a cache of plans; it may be used by one thread at a time.
 * BAD_PARAM when handle is NULL, NOT_INITIALIZED when no engine can be started,
 * INTERNAL_ERROR_HOST_ALLOCATION_FAILED when memory runs out.
 */
cudnnStatus_t CUDNNWINAPI cudnnCreate(cudnnHandle_t *handle);

/*
 * Waits for the work of the handle and frees it. NULL is accepted. BAD_PARAM when it is not a live
 * handle.
 */
cudnnStatus_t CUDNNWINAPI cudnnDestroy(cudnnHandle_t handle);

/*
 * Sends all later work of the handle to streamId; NULL is the default stream. Host engines ignore
 * its value but remember it. BAD_PARAM for a dead handle, MAPPING_ERROR when the stream belongs to
 * another device.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetStream(cudnnHandle_t handle, cudaStream_t streamId);

/*
 * Stores the stream of the handle in *streamId (host). BAD_PARAM when either is NULL or the handle
 * is dead.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetStream(cudnnHandle_t handle, cudaStream_t *streamId);

/*
 * Copies the text of the last failure of the calling thread into message (host, max_size bytes,
 * always NUL-terminated, cut when too long). The text names the function, the argument, its value
 * and the rule that it broke; it is empty when nothing failed. Does nothing when message is NULL or
 * max_size is 0.
 */
void CUDNNWINAPI cudnnGetLastErrorString(char *message, size_t max_size);

/*
 * Tells whether this part of the library and the parts below it are of one version: SUCCESS, else
 * SUBLIBRARY_VERSION_MISMATCH. All parts are one file here, so only a mixed installation can fail.
 */
cudnnStatus_t CUDNNWINAPI cudnnGraphVersionCheck(void);

/* ---- Types used everywhere ------------------------------------------------------------------- */

#define CUDNN_DIM_MAX 8  /* largest rank of a tensor */

/* Element types. */
typedef enum {
    CUDNN_DATA_FLOAT                         = 0, /* IEEE 32 bit */
    CUDNN_DATA_DOUBLE                        = 1, /* IEEE 64 bit */
    CUDNN_DATA_HALF                          = 2, /* IEEE 16 bit */
    CUDNN_DATA_INT8                          = 3,
    CUDNN_DATA_INT32                         = 4,
    CUDNN_DATA_INT8x4 CUDNN_DEPRECATED_ENUM  = 5, /* 4 channels per element */
    CUDNN_DATA_UINT8                         = 6,
    CUDNN_DATA_UINT8x4 CUDNN_DEPRECATED_ENUM = 7, /* 4 channels per element */
    CUDNN_DATA_INT8x32 CUDNN_DEPRECATED_ENUM = 8, /* 32 channels per element */
    CUDNN_DATA_BFLOAT16                      = 9, /* 8 bits of exponent, 7 of mantissa */
    CUDNN_DATA_INT64                         = 10,
    CUDNN_DATA_BOOLEAN                       = 11, /* 1 bit, packed */
    CUDNN_DATA_FP8_E4M3                      = 12, /* 8 bit, 4 of exponent */
    CUDNN_DATA_FP8_E5M2                      = 13, /* 8 bit, 5 of exponent */
    CUDNN_DATA_FAST_FLOAT_FOR_FP8            = 14, /* compute type: float with shorter sums */
    CUDNN_DATA_FP8_E8M0                      = 15, /* a power of two */
    CUDNN_DATA_FP4_E2M1                      = 16, /* 4 bit, two per byte */
    CUDNN_DATA_INT4                          = 17, /* two per byte */
    CUDNN_DATA_UINT4                         = 18, /* two per byte */
    CUDNN_DATA_UINT32                        = 19,
    CUDNN_DATA_COMPLEX_FP32                  = 20,
    CUDNN_DATA_COMPLEX_FP64                  = 21
} cudnnDataType_t;

/* Which arithmetic a convolution, matrix product or recurrent network may use. */
typedef enum {
    CUDNN_DEFAULT_MATH                    = 0, /* tf32 for float where the hardware has it */
    CUDNN_TENSOR_OP_MATH                  = 1, /* matrix units for the given types */
    CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION = 2, /* matrix units, float rounded to half */
    CUDNN_FMA_MATH                        = 3 /* no reduced precision */
} cudnnMathType_t;

/* Whether a NaN wins over numbers in maximum, minimum and ReLU. */
typedef enum {
    CUDNN_NOT_PROPAGATE_NAN CUDNN_DEPRECATED_ENUM = 0,
    CUDNN_PROPAGATE_NAN CUDNN_DEPRECATED_ENUM = 1
} cudnnNanPropagation_t;

/* Memory orders of packed tensors, outermost dimension first. */
typedef enum {
    CUDNN_TENSOR_NCHW        = 0, /* w runs fastest */
    CUDNN_TENSOR_NHWC        = 1, /* c runs fastest */
    CUDNN_TENSOR_NCHW_VECT_C = 2 /* NCHW of vectors of channels */
} cudnnTensorFormat_t;

/* ---- Log ------------------------------------------------------------------------------------- */

/* Kinds of log messages. */
typedef enum {
    CUDNN_SEV_FATAL   = 0, /* the process cannot go on */
    CUDNN_SEV_ERROR   = 1, /* a call failed */
    CUDNN_SEV_WARNING = 2, /* a call went on, less well */
    CUDNN_SEV_INFO    = 3 /* calls and choices */
} cudnnSeverity_t;

#define CUDNN_SEV_ERROR_EN (1U << CUDNN_SEV_ERROR)  /* bit of the mask of cudnnSetCallback */
#define CUDNN_SEV_WARNING_EN (1U << CUDNN_SEV_WARNING)
#define CUDNN_SEV_INFO_EN (1U << CUDNN_SEV_INFO)

/*
 * What the receiver of a log message learns besides its text. The library owns it; it is valid
 * during the call.
 */
typedef struct cudnnDebugStruct {
    unsigned int cudnn_version;       /* as cudnnGetVersion */
    cudnnStatus_t cudnnStatus;        /* of the call, when it ended */
    unsigned int time_sec;            /* wall clock, seconds since 1970 */
    unsigned int time_usec;           /* and microseconds */
    unsigned int time_delta;          /* milliseconds since the start */
    cudnnHandle_t handle;             /* or NULL */
    cudaStream_t stream;              /* of the handle */
    unsigned long long pid;           /* process */
    unsigned long long tid;           /* thread */
    int cudaDeviceId;                 /* -1 on a host engine */
    int reserved[15];                 /* 0 */
} cudnnDebug_t;

/*
 * Receiver of log messages: severity, the pointer given to cudnnSetCallback, the record, and one or
 * more NUL-terminated lines ended by an empty one.
 */
typedef void (*cudnnCallback_t)(cudnnSeverity_t sev, void *udata, const cudnnDebug_t *dbg,
    const char *msg);

/*
 * Sets the receiver of log messages for the whole process: fptr is called as fptr(severity, udata,
 * debug record, text) for each message whose severity bit is in mask (CUDNN_SEV_*_EN). A NULL fptr
 * restores the built-in writer.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetCallback(unsigned mask, void *udata, cudnnCallback_t fptr);

/*
 * Reads back mask, user pointer and function of cudnnSetCallback into host variables; any of the
 * three may not be NULL (BAD_PARAM).
 */
cudnnStatus_t CUDNNWINAPI cudnnGetCallback(unsigned *mask, void **udata, cudnnCallback_t *fptr);

/* ---- Reductions ------------------------------------------------------------------------------ */

/* Reductions. */
typedef enum {
    CUDNN_REDUCE_TENSOR_ADD          = 0,
    CUDNN_REDUCE_TENSOR_MUL          = 1,
    CUDNN_REDUCE_TENSOR_MIN          = 2,
    CUDNN_REDUCE_TENSOR_MAX          = 3,
    CUDNN_REDUCE_TENSOR_AMAX         = 4, /* max |x| */
    CUDNN_REDUCE_TENSOR_AVG          = 5, /* mean */
    CUDNN_REDUCE_TENSOR_NORM1        = 6, /* sum |x| */
    CUDNN_REDUCE_TENSOR_NORM2        = 7, /* sqrt(sum x^2) */
    CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS = 8 /* product of what is not 0 */
} cudnnReduceTensorOp_t;

/* ---- Activation ------------------------------------------------------------------------------ */

/* Activation functions; formulas at cudnnActivationForward. */
CUDNN_DEPRECATED typedef enum {
    CUDNN_ACTIVATION_SIGMOID      = 0,
    CUDNN_ACTIVATION_RELU         = 1,
    CUDNN_ACTIVATION_TANH         = 2,
    CUDNN_ACTIVATION_CLIPPED_RELU = 3,
    CUDNN_ACTIVATION_ELU          = 4,
    CUDNN_ACTIVATION_IDENTITY     = 5,
    CUDNN_ACTIVATION_SWISH        = 6
} cudnnActivationMode_t;

/* ---- Convolution ----------------------------------------------------------------------------- */

/* Whether the filter is mirrored. */
typedef enum {
    CUDNN_CONVOLUTION       = 0, /* filter mirrored */
    CUDNN_CROSS_CORRELATION = 1 /* filter as it is */
} cudnnConvolutionMode_t;

/* Whether INT8x32 filters are reordered inside the call. */
CUDNN_DEPRECATED typedef enum {
    CUDNN_DEFAULT_REORDER = 0,
    CUDNN_NO_REORDER      = 1
} cudnnReorderType_t;

/* ---- CTC loss -------------------------------------------------------------------------------- */

/* Gradients of samples whose lengths are out of bounds. */
typedef enum {
    CUDNN_CTC_ZERO_OOB_GRADIENTS = 0,
    CUDNN_CTC_SKIP_OOB_GRADIENTS = 1
} cudnnCTCGradMode_t;

/* ---- Graph API ------------------------------------------------------------------------------- */

/* Any descriptor of the graph API; see cudnnBackendCreateDescriptor. */
typedef void *cudnnBackendDescriptor_t;

/* A fraction, for strides below 1 in resampling. */
typedef struct cudnnFractionStruct {
    int64_t numerator;
    int64_t denominator;              /* above 0 */
} cudnnFraction_t;

/*
 * Element operations of a graph. x is the first, b the second input; the BWD ones give dx from dy
 * and x (or y).
 */
typedef enum {
    CUDNN_POINTWISE_ADD                  = 0,
    CUDNN_POINTWISE_MUL                  = 1,
    CUDNN_POINTWISE_MIN                  = 2,
    CUDNN_POINTWISE_MAX                  = 3,
    CUDNN_POINTWISE_SQRT                 = 4,
    CUDNN_POINTWISE_ADD_SQUARE           = 5, /* x + b * b */
    CUDNN_POINTWISE_DIV                  = 6,
    CUDNN_POINTWISE_MOD                  = 7, /* floored remainder */
    CUDNN_POINTWISE_POW                  = 8,
    CUDNN_POINTWISE_SUB                  = 9,
    CUDNN_POINTWISE_ABS                  = 10,
    CUDNN_POINTWISE_CEIL                 = 11,
    CUDNN_POINTWISE_COS                  = 12,
    CUDNN_POINTWISE_EXP                  = 13,
    CUDNN_POINTWISE_FLOOR                = 14,
    CUDNN_POINTWISE_LOG                  = 15,
    CUDNN_POINTWISE_NEG                  = 16,
    CUDNN_POINTWISE_RSQRT                = 17, /* 1 / sqrt(x) */
    CUDNN_POINTWISE_SIN                  = 18,
    CUDNN_POINTWISE_TAN                  = 19,
    CUDNN_POINTWISE_ERF                  = 20,
    CUDNN_POINTWISE_IDENTITY             = 21,
    CUDNN_POINTWISE_RECIPROCAL           = 22,
    CUDNN_POINTWISE_ATAN2                = 23,
    CUDNN_POINTWISE_RELU_FWD             = 100, /* max(0, x), with clips and slope */
    CUDNN_POINTWISE_TANH_FWD             = 101,
    CUDNN_POINTWISE_SIGMOID_FWD          = 102,
    CUDNN_POINTWISE_ELU_FWD              = 103,
    CUDNN_POINTWISE_GELU_FWD             = 104,
    CUDNN_POINTWISE_SOFTPLUS_FWD         = 105,
    CUDNN_POINTWISE_SWISH_FWD            = 106,
    CUDNN_POINTWISE_GELU_APPROX_TANH_FWD = 107, /* gelu by tanh */
    CUDNN_POINTWISE_RELU_BWD             = 200,
    CUDNN_POINTWISE_TANH_BWD             = 201,
    CUDNN_POINTWISE_SIGMOID_BWD          = 202,
    CUDNN_POINTWISE_ELU_BWD              = 203,
    CUDNN_POINTWISE_GELU_BWD             = 204,
    CUDNN_POINTWISE_SOFTPLUS_BWD         = 205,
    CUDNN_POINTWISE_SWISH_BWD            = 206,
    CUDNN_POINTWISE_GELU_APPROX_TANH_BWD = 207,
    CUDNN_POINTWISE_CMP_EQ               = 300,
    CUDNN_POINTWISE_CMP_NEQ              = 301,
    CUDNN_POINTWISE_CMP_GT               = 302,
    CUDNN_POINTWISE_CMP_GE               = 303,
    CUDNN_POINTWISE_CMP_LT               = 304,
    CUDNN_POINTWISE_CMP_LE               = 305,
    CUDNN_POINTWISE_LOGICAL_AND          = 400,
    CUDNN_POINTWISE_LOGICAL_OR           = 401,
    CUDNN_POINTWISE_LOGICAL_NOT          = 402,
    CUDNN_POINTWISE_GEN_INDEX            = 501, /* position along AXIS */
    CUDNN_POINTWISE_BINARY_SELECT        = 601 /* t ? x : b */
} cudnnPointwiseMode_t;

/* Resampling and pooling. */
typedef enum {
    CUDNN_RESAMPLE_NEAREST                 = 0,
    CUDNN_RESAMPLE_BILINEAR                = 1,
    CUDNN_RESAMPLE_AVGPOOL                 = 2, /* same as INCLUDE_PADDING */
    CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING = 2,
    CUDNN_RESAMPLE_MAXPOOL                 = 3,
    CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING = 4
} cudnnResampleMode_t;

/* What lies outside of the image in resampling. */
typedef enum {
    CUDNN_ZERO_PAD     = 0, /* zeros */
    CUDNN_NEG_INF_PAD  = 1, /* minus infinity */
    CUDNN_EDGE_VAL_PAD = 2 /* the nearest pixel */
} cudnnPaddingMode_t;

/* Flag operations between devices. */
typedef enum {
    CUDNN_SIGNAL_SET  = 0,
    CUDNN_SIGNAL_WAIT = 1
} cudnnSignalMode_t;

/* Statistics of a tensor per channel. */
typedef enum {
    CUDNN_GENSTATS_SUM_SQSUM = 0 /* sum and sum of squares */
} cudnnGenStatsMode_t;

/* Which statistics a batch-norm finalise node makes. */
typedef enum {
    CUDNN_BN_FINALIZE_STATISTICS_TRAINING  = 0,
    CUDNN_BN_FINALIZE_STATISTICS_INFERENCE = 1
} cudnnBnFinalizeStatsMode_t;

/* Distributions of the random number node. */
typedef enum {
    CUDNN_RNG_DISTRIBUTION_BERNOULLI = 0,
    CUDNN_RNG_DISTRIBUTION_UNIFORM   = 1,
    CUDNN_RNG_DISTRIBUTION_NORMAL    = 2
} cudnnRngDistribution_t;

/* Kinds of normalisation nodes. */
typedef enum {
    CUDNN_LAYER_NORM     = 0,
    CUDNN_INSTANCE_NORM  = 1,
    CUDNN_BATCH_NORM     = 2,
    CUDNN_GROUP_NORM     = 3,
    CUDNN_RMS_NORM       = 4,
    CUDNN_ADA_LAYER_NORM = 5
} cudnnBackendNormMode_t;

/* Inference or training. */
typedef enum {
    CUDNN_NORM_FWD_INFERENCE = 0,
    CUDNN_NORM_FWD_TRAINING  = 1
} cudnnBackendNormFwdPhase_t;

/* How tokens reach their expert. */
typedef enum {
    CUDNN_MOE_GROUPED_MATMUL_MODE_NONE    = 0,
    CUDNN_MOE_GROUPED_MATMUL_MODE_GATHER  = 1,
    CUDNN_MOE_GROUPED_MATMUL_MODE_SCATTER = 2
} cudnnMoeGroupedMatmulMode_t;

/* Special memory orders. */
typedef enum {
    CUDNN_TENSOR_REORDERING_NONE     = 0,
    CUDNN_TENSOR_REORDERING_INT8x32  = 1,
    CUDNN_TENSOR_REORDERING_F16x16   = 2,
    CUDNN_TENSOR_REORDERING_F8_128x4 = 3
} cudnnBackendTensorReordering_t;

/* Kinds of graph descriptors. */
typedef enum {
    CUDNN_BACKEND_POINTWISE_DESCRIPTOR = 0,
    CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR = 1,
    CUDNN_BACKEND_ENGINE_DESCRIPTOR = 2,
    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR = 3,
    CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR = 4,
    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR = 5,
    CUDNN_BACKEND_INTERMEDIATE_INFO_DESCRIPTOR = 6,
    CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR = 7,
    CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR = 8,
    CUDNN_BACKEND_LAYOUT_INFO_DESCRIPTOR = 9,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR = 10,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR = 11,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR = 12,
    CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR = 13,
    CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR = 14,
    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR = 15,
    CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR = 16,
    CUDNN_BACKEND_TENSOR_DESCRIPTOR = 17,
    CUDNN_BACKEND_MATMUL_DESCRIPTOR = 18,
    CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR = 19,
    CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR = 20,
    CUDNN_BACKEND_REDUCTION_DESCRIPTOR = 21,
    CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR = 22,
    CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR = 23,
    CUDNN_BACKEND_RESAMPLE_DESCRIPTOR = 24,
    CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR = 25,
    CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR = 26,
    CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR = 27,
    CUDNN_BACKEND_OPERATION_SIGNAL_DESCRIPTOR = 28,
    CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR = 29,
    CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR = 30,
    CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR = 31,
    CUDNN_BACKEND_RNG_DESCRIPTOR = 32,
    CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR = 33,
    CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR = 34,
    CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR = 35,
    CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR = 36,
    CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR = 37,
    CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR = 38,
    CUDNN_BACKEND_OPERATION_EXPAND_BAND_MATRIX_DESCRIPTOR = 39,
    CUDNN_BACKEND_OPERATION_CONTRACT_BAND_MATRIX_DESCRIPTOR = 40,
    CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR = 41,
    CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_DESCRIPTOR = 42,
    CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR = 43
} cudnnBackendDescriptorType_t;

/* Attributes of graph descriptors. In brackets: kind of value and number of values. */
typedef enum {
    /*
     * Element operation: mode [POINTWISE_MODE 1], compute type [DATA_TYPE 1], NaN rule
     * [NAN_PROPOGATION 1], clips, slope, alpha and betas [FLOAT or DOUBLE 1], axis of GEN_INDEX
     * [INT64 1].
     */
    CUDNN_ATTR_POINTWISE_MODE = 0,
    CUDNN_ATTR_POINTWISE_MATH_PREC = 1,
    CUDNN_ATTR_POINTWISE_NAN_PROPAGATION CUDNN_DEPRECATED_ENUM = 2,
    CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP = 3,
    CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP = 4,
    CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE = 5,
    CUDNN_ATTR_POINTWISE_ELU_ALPHA = 6,
    CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA = 7,
    CUDNN_ATTR_POINTWISE_SWISH_BETA = 8,
    CUDNN_ATTR_POINTWISE_AXIS = 9,

    /*
     * Convolution: compute type [DATA_TYPE 1], mode [CONVOLUTION_MODE 1], dilations, strides,
     * paddings before and after [INT64, one per spatial dimension], number of spatial dimensions
     * [INT64 1].
     */
    CUDNN_ATTR_CONVOLUTION_COMP_TYPE = 100,
    CUDNN_ATTR_CONVOLUTION_CONV_MODE = 101,
    CUDNN_ATTR_CONVOLUTION_DILATIONS = 102,
    CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES = 103,
    CUDNN_ATTR_CONVOLUTION_POST_PADDINGS = 104,
    CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS = 105,
    CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS = 106,

    /*
     * Ranking of engines: mode [HEUR_MODE 1], graph [BACKEND_DESCRIPTOR 1], results
     * [BACKEND_DESCRIPTOR any number, best first], multiprocessors to plan for [INT32 1], device
     * [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_ENGINEHEUR_MODE = 200,
    CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH = 201,
    CUDNN_ATTR_ENGINEHEUR_RESULTS = 202,
    CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET = 203,
    CUDNN_ATTR_ENGINEHEUR_DEVICEPROP = 204,

    /*
     * Engine configuration: engine [BACKEND_DESCRIPTOR 1], intermediates and knob choices
     * [BACKEND_DESCRIPTOR any number], workspace [INT64 1] and shared memory [INT64 1] in bytes.
     */
    CUDNN_ATTR_ENGINECFG_ENGINE = 300,
    CUDNN_ATTR_ENGINECFG_INTERMEDIATE_INFO = 301,
    CUDNN_ATTR_ENGINECFG_KNOB_CHOICES = 302,
    CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE = 303,
    CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED = 304,

    /*
     * Plan: handle [HANDLE 1], configuration [BACKEND_DESCRIPTOR 1], workspace in bytes [INT64 1],
     * ids of intermediates [INT64 any number], text form [CHAR any number], kernel cache and device
     * [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_EXECUTION_PLAN_HANDLE CUDNN_DEPRECATED_ENUM = 400,
    CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG = 401,
    CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE = 402,
    CUDNN_ATTR_EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS = 403,
    CUDNN_ATTR_EXECUTION_PLAN_RUN_ONLY_INTERMEDIATE_UIDS = 404,
    CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION = 405,
    CUDNN_ATTR_EXECUTION_PLAN_KERNEL_CACHE = 406,
    CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP = 407,

    /*
     * Intermediate tensor: id and size in bytes [INT64 1], ids and attributes that it depends on
     * [INT64, ATTRIB_NAME].
     */
    CUDNN_ATTR_INTERMEDIATE_INFO_UNIQUE_ID = 500,
    CUDNN_ATTR_INTERMEDIATE_INFO_SIZE = 501,
    CUDNN_ATTR_INTERMEDIATE_INFO_DEPENDENT_DATA_UIDS = 502,
    CUDNN_ATTR_INTERMEDIATE_INFO_DEPENDENT_ATTRIBUTES = 503,

    /* Knob setting: which [KNOB_TYPE 1] and value [INT64 1]. */
    CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE = 600,
    CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE = 601,

    /*
     * y = alpha * conv(x, w) + beta * y: scalars [FLOAT or DOUBLE 1], the others
     * [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA = 700,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA = 701,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC = 702,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W = 703,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X = 704,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y = 705,

    /* Gradient for the input, same kinds of values. */
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA = 706,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA = 707,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC = 708,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W = 709,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX = 710,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY = 711,

    /* Gradient for the filter, same kinds of values. */
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA = 712,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA = 713,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC = 714,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW = 715,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X = 716,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY = 717,

    /*
     * Element operation node: y = op(alpha1 * x, alpha2 * b), t the condition of BINARY_SELECT;
     * scalars [FLOAT or DOUBLE 1], the others [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR = 750,
    CUDNN_ATTR_OPERATION_POINTWISE_XDESC = 751,
    CUDNN_ATTR_OPERATION_POINTWISE_BDESC = 752,
    CUDNN_ATTR_OPERATION_POINTWISE_YDESC = 753,
    CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1 = 754,
    CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2 = 755,
    CUDNN_ATTR_OPERATION_POINTWISE_DXDESC = 756,
    CUDNN_ATTR_OPERATION_POINTWISE_DYDESC = 757,
    CUDNN_ATTR_OPERATION_POINTWISE_TDESC = 758,

    /*
     * Sum and sum of squares per channel: mode [GENSTATS_MODE 1], compute type [DATA_TYPE 1],
     * tensors [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_GENSTATS_MODE = 770,
    CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC = 771,
    CUDNN_ATTR_OPERATION_GENSTATS_XDESC = 772,
    CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC = 773,
    CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC = 774,

    /*
     * Batch-norm statistics from sums: mode [BN_FINALIZE_STATS_MODE 1], compute type [DATA_TYPE 1],
     * tensors and scalars as tensors [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE = 780,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_MATH_PREC = 781,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC = 782,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC = 783,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_SCALE_DESC = 784,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_BIAS_DESC = 785,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC = 786,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC = 787,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC = 788,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC = 789,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC = 790,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC = 791,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC = 792,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC = 793,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC = 794,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_EPSILON_DESC = 795,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_EXP_AVERATE_FACTOR_DESC = 796,

    /*
     * Graph: handle [HANDLE 1], nodes [BACKEND_DESCRIPTOR any number], number of engines [INT64 1],
     * flags [BOOLEAN 1].
     */
    CUDNN_ATTR_OPERATIONGRAPH_HANDLE CUDNN_DEPRECATED_ENUM = 800,
    CUDNN_ATTR_OPERATIONGRAPH_OPS = 801,
    CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT = 802,
    CUDNN_ATTR_OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED = 803,
    CUDNN_ATTR_OPERATIONGRAPH_IS_SAME_TOPOLOGY = 804,

    /*
     * Tensor: alignment in bytes [INT64 1], type [DATA_TYPE 1], sizes and strides in elements
     * [INT64, one per dimension], vector length and dimension [INT64 1], id [INT64 1], virtual or
     * by value [BOOLEAN 1], order [TENSOR_REORDERING_MODE 1], row offsets [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT = 900,
    CUDNN_ATTR_TENSOR_DATA_TYPE = 901,
    CUDNN_ATTR_TENSOR_DIMENSIONS = 902,
    CUDNN_ATTR_TENSOR_STRIDES = 903,
    CUDNN_ATTR_TENSOR_VECTOR_COUNT = 904,
    CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION = 905,
    CUDNN_ATTR_TENSOR_UNIQUE_ID = 906,
    CUDNN_ATTR_TENSOR_IS_VIRTUAL = 907,
    CUDNN_ATTR_TENSOR_IS_BY_VALUE = 908,
    CUDNN_ATTR_TENSOR_REORDERING_MODE = 909,
    CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC = 913,

    /*
     * Pointers of one execution: ids [INT64 any number], pointers [VOID_PTR as many], intermediates
     * [BACKEND_DESCRIPTOR], workspace [VOID_PTR 1], shapes and strides that replace those of the
     * tensors [INT64].
     */
    CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS = 1000,
    CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS = 1001,
    CUDNN_ATTR_VARIANT_PACK_INTERMEDIATES = 1002,
    CUDNN_ATTR_VARIANT_PACK_WORKSPACE = 1003,
    CUDNN_ATTR_VARIANT_PACK_OVERRIDE_UNIQUE_IDS = 1010,
    CUDNN_ATTR_VARIANT_PACK_OVERRIDE_SHAPES = 1011,
    CUDNN_ATTR_VARIANT_PACK_OVERRIDE_STRIDES = 1012,

    /* Layout wish of an engine: tensor id [INT64 1], layouts [LAYOUT_TYPE any number]. */
    CUDNN_ATTR_LAYOUT_INFO_TENSOR_UID = 1100,
    CUDNN_ATTR_LAYOUT_INFO_TYPES = 1101,

    /* Knob of an engine: which [KNOB_TYPE 1], largest, smallest, step [INT64 1]. */
    CUDNN_ATTR_KNOB_INFO_TYPE = 1200,
    CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE = 1201,
    CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE = 1202,
    CUDNN_ATTR_KNOB_INFO_STRIDE = 1203,

    /*
     * Engine: graph [BACKEND_DESCRIPTOR 1], number [INT64 1], knobs and layouts [BACKEND_DESCRIPTOR
     * any number], notes [NUMERICAL_NOTE, BEHAVIOR_NOTE any number], multiprocessors [INT32 1],
     * device [BACKEND_DESCRIPTOR 1], clusters off [BOOLEAN 1].
     */
    CUDNN_ATTR_ENGINE_OPERATION_GRAPH = 1300,
    CUDNN_ATTR_ENGINE_GLOBAL_INDEX = 1301,
    CUDNN_ATTR_ENGINE_KNOB_INFO = 1302,
    CUDNN_ATTR_ENGINE_NUMERICAL_NOTE = 1303,
    CUDNN_ATTR_ENGINE_LAYOUT_INFO = 1304,
    CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE = 1305,
    CUDNN_ATTR_ENGINE_SM_COUNT_TARGET = 1306,
    CUDNN_ATTR_ENGINE_DEVICEPROP = 1307,
    CUDNN_ATTR_ENGINE_DISABLE_CLUSTER_COOPERATIVE = 1308,

    /* Matrix product: compute type [DATA_TYPE 1], value of what is padded [DOUBLE 1]. */
    CUDNN_ATTR_MATMUL_COMP_TYPE = 1500,
    CUDNN_ATTR_MATMUL_PADDING_VALUE = 1503,

    /*
     * C = A B per batch: tensors and the product [BACKEND_DESCRIPTOR 1], batch count [INT64 1],
     * sizes per batch that replace M, N, K [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_MATMUL_ADESC = 1520,
    CUDNN_ATTR_OPERATION_MATMUL_BDESC = 1521,
    CUDNN_ATTR_OPERATION_MATMUL_CDESC = 1522,
    CUDNN_ATTR_OPERATION_MATMUL_DESC = 1523,
    CUDNN_ATTR_OPERATION_MATMUL_IRREGULARLY_STRIDED_BATCH_COUNT CUDNN_DEPRECATED_ENUM = 1524,
    CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC = 1525,
    CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC = 1526,
    CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC = 1527,

    /*
     * Reduction: operator [REDUCTION_OPERATOR_TYPE 1], compute type [DATA_TYPE 1], determinism
     * [BOOLEAN 1].
     */
    CUDNN_ATTR_REDUCTION_OPERATOR = 1600,
    CUDNN_ATTR_REDUCTION_COMP_TYPE = 1601,
    CUDNN_ATTR_REDUCTION_IS_DETERMINISTIC = 1602,

    /* y = reduce(x) where y has size 1 [BACKEND_DESCRIPTOR 1]. */
    CUDNN_ATTR_OPERATION_REDUCTION_XDESC = 1610,
    CUDNN_ATTR_OPERATION_REDUCTION_YDESC = 1611,
    CUDNN_ATTR_OPERATION_REDUCTION_DESC = 1612,

    /*
     * Gradients of scale and bias, and the factors of dx: compute type [DATA_TYPE 1], tensors
     * [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC = 1620,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC = 1621,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC = 1622,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC = 1623,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC = 1624,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC = 1625,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC = 1626,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC = 1627,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC = 1628,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC = 1629,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS = 1630,

    /*
     * Resampling: mode [RESAMPLE_MODE 1], compute type [DATA_TYPE 1], spatial dimensions [INT64 1],
     * paddings, strides and window [INT64 or FRACTION, one per spatial dimension], NaN rule
     * [NAN_PROPOGATION 1], padding mode [PADDING_MODE 1].
     */
    CUDNN_ATTR_RESAMPLE_MODE = 1700,
    CUDNN_ATTR_RESAMPLE_COMP_TYPE = 1701,
    CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS = 1702,
    CUDNN_ATTR_RESAMPLE_POST_PADDINGS = 1703,
    CUDNN_ATTR_RESAMPLE_PRE_PADDINGS = 1704,
    CUDNN_ATTR_RESAMPLE_STRIDES = 1705,
    CUDNN_ATTR_RESAMPLE_WINDOW_DIMS = 1706,
    CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION = 1707,
    CUDNN_ATTR_RESAMPLE_PADDING_MODE = 1708,

    /* Resampling node: tensors [BACKEND_DESCRIPTOR 1], scalars [FLOAT or DOUBLE 1]. */
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC = 1710,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC = 1711,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC = 1712,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_ALPHA CUDNN_DEPRECATED_ENUM = 1713,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_BETA CUDNN_DEPRECATED_ENUM = 1714,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC = 1716,

    /* Its gradient, same kinds of values. */
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC = 1720,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC = 1721,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC = 1722,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_ALPHA CUDNN_DEPRECATED_ENUM = 1723,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_BETA CUDNN_DEPRECATED_ENUM = 1724,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC = 1725,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC = 1726,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_YDESC = 1727,

    /*
     * Concatenation: axis [INT64 1], inputs [BACKEND_DESCRIPTOR any number], input that lies in
     * place [INT64 1], output [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_CONCAT_AXIS = 1800,
    CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS = 1801,
    CUDNN_ATTR_OPERATION_CONCAT_INPLACE_INDEX = 1802,
    CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC = 1803,

    /*
     * Set or wait for a flag: mode [SIGNAL_MODE 1], value [INT64 1], flag and tensors passed
     * through [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_SIGNAL_MODE = 1900,
    CUDNN_ATTR_OPERATION_SIGNAL_FLAGDESC = 1901,
    CUDNN_ATTR_OPERATION_SIGNAL_VALUE = 1902,
    CUDNN_ATTR_OPERATION_SIGNAL_XDESC = 1903,
    CUDNN_ATTR_OPERATION_SIGNAL_YDESC = 1904,

    /* Gathers a paged cache: pages, output, lengths and page table [BACKEND_DESCRIPTOR 1]. */
    CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_CONTAINER_DESC = 1950,
    CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_YDESC = 1951,
    CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_SEQUENCE_DESC = 1952,
    CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_PAGE_TABLE_DESC = 1953,

    /*
     * Normalisation: mode [NORM_MODE 1], phase [NORM_FWD_PHASE 1], tensors [BACKEND_DESCRIPTOR 1],
     * statistics of other devices [BACKEND_DESCRIPTOR any number].
     */
    CUDNN_ATTR_OPERATION_NORM_FWD_MODE = 2000,
    CUDNN_ATTR_OPERATION_NORM_FWD_PHASE = 2001,
    CUDNN_ATTR_OPERATION_NORM_FWD_XDESC = 2002,
    CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC = 2003,
    CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC = 2004,
    CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC = 2005,
    CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC = 2006,
    CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC = 2007,
    CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC = 2008,
    CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC = 2009,
    CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC = 2010,
    CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC = 2011,
    CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC = 2012,
    CUDNN_ATTR_OPERATION_NORM_FWD_YDESC = 2013,
    CUDNN_ATTR_OPERATION_NORM_FWD_PEER_STAT_DESCS = 2014,

    /* Its gradient, same kinds of values. */
    CUDNN_ATTR_OPERATION_NORM_BWD_MODE = 2100,
    CUDNN_ATTR_OPERATION_NORM_BWD_XDESC = 2101,
    CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC = 2102,
    CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC = 2103,
    CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC = 2104,
    CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC = 2105,
    CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC = 2106,
    CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC = 2107,
    CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC = 2108,
    CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC = 2109,
    CUDNN_ATTR_OPERATION_NORM_BWD_PEER_STAT_DESCS = 2110,

    /* The same elements in another shape [BACKEND_DESCRIPTOR 1]. */
    CUDNN_ATTR_OPERATION_RESHAPE_XDESC = 2200,
    CUDNN_ATTR_OPERATION_RESHAPE_YDESC = 2201,

    /*
     * A band matrix to a full one: tensors [BACKEND_DESCRIPTOR 1], bandwidths and axis [INT64 1],
     * value outside of the band [FLOAT 1].
     */
    CUDNN_ATTR_OPERATION_EXPAND_BAND_MATRIX_XDESC = 2250,
    CUDNN_ATTR_OPERATION_EXPAND_BAND_MATRIX_YDESC = 2251,
    CUDNN_ATTR_OPERATION_EXPAND_BAND_MATRIX_LOWER_BANDWIDTH = 2252,
    CUDNN_ATTR_OPERATION_EXPAND_BAND_MATRIX_UPPER_BANDWIDTH = 2253,
    CUDNN_ATTR_OPERATION_EXPAND_BAND_MATRIX_AXIS = 2254,
    CUDNN_ATTR_OPERATION_EXPAND_BAND_MATRIX_PAD_VALUE = 2255,
    CUDNN_ATTR_OPERATION_EXPAND_BAND_MATRIX_KV_TOKEN_OFFSET_DESC = 2256,
    CUDNN_ATTR_OPERATION_EXPAND_BAND_MATRIX_SPECULATIVE_MASK_DESC = 2257,

    /* A full matrix to its band, same kinds of values. */
    CUDNN_ATTR_OPERATION_CONTRACT_BAND_MATRIX_XDESC = 2270,
    CUDNN_ATTR_OPERATION_CONTRACT_BAND_MATRIX_YDESC = 2271,
    CUDNN_ATTR_OPERATION_CONTRACT_BAND_MATRIX_LOWER_BANDWIDTH = 2272,
    CUDNN_ATTR_OPERATION_CONTRACT_BAND_MATRIX_UPPER_BANDWIDTH = 2273,
    CUDNN_ATTR_OPERATION_CONTRACT_BAND_MATRIX_AXIS = 2274,
    CUDNN_ATTR_OPERATION_CONTRACT_BAND_MATRIX_PAD_VALUE = 2275,
    CUDNN_ATTR_OPERATION_CONTRACT_BAND_MAX_TOKEN_VALUE = 2276,

    /* Random numbers: distribution [RNG_DISTRIBUTION 1], its constants [DOUBLE 1]. */
    CUDNN_ATTR_RNG_DISTRIBUTION = 2300,
    CUDNN_ATTR_RNG_NORMAL_DIST_MEAN = 2301,
    CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION = 2302,
    CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM = 2303,
    CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM = 2304,
    CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY = 2305,

    /*
     * Random number node: output and distribution [BACKEND_DESCRIPTOR 1], seed [INT64 or
     * BACKEND_DESCRIPTOR 1], offset [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_RNG_YDESC = 2310,
    CUDNN_ATTR_OPERATION_RNG_SEED = 2311,
    CUDNN_ATTR_OPERATION_RNG_DESC = 2312,
    CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC = 2313,

    /*
     * Compiled kernels shared by plans: graph [BACKEND_DESCRIPTOR 1], whether one is cached
     * [BOOLEAN 1], text form [CHAR any number].
     */
    CUDNN_ATTR_KERNEL_CACHE_OPERATION_GRAPH = 2400,
    CUDNN_ATTR_KERNEL_CACHE_IS_ENGINECFG_KERNEL_CACHED = 2401,
    CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION = 2402,

    /*
     * Quantises with one scale per block: tensors [BACKEND_DESCRIPTOR 1], compute type [DATA_TYPE
     * 1], block size [INT32 1].
     */
    CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_XDESC = 2500,
    CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_YDESC = 2501,
    CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_SCALE_DESC = 2502,
    CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_MATH_PREC = 2503,
    CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_BLOCK_SIZE = 2504,

    /*
     * The reverse: tensors [BACKEND_DESCRIPTOR 1], compute type [DATA_TYPE 1], block sizes [INT32],
     * negated scale [BOOLEAN 1].
     */
    CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_XDESC = 2600,
    CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_SCALE_DESC = 2601,
    CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_YDESC = 2602,
    CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_MATH_PREC = 2603,
    CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_BLOCK_SIZE = 2604,
    CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_NEG_SCALE = 2605,

    /* Device: ordinal [INT32 1], handle [HANDLE 1], text form [CHAR any number]. */
    CUDNN_ATTR_DEVICEPROP_DEVICE_ID = 2700,
    CUDNN_ATTR_DEVICEPROP_HANDLE = 2701,
    CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION = 2702,

    /* Scaled dot-product attention: tensors [BACKEND_DESCRIPTOR 1]. */
    CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC = 2800,
    CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC = 2801,
    CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC = 2802,
    CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC = 2803,
    CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC = 2804,
    CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC = 2805,
    CUDNN_ATTR_OPERATION_SDPA_FWD_BLOCK_MASK_DESC = 2806,
    CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC = 2807,
    CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC = 2808,
    CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC = 2809,
    CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC = 2810,

    /* Its gradient: tensors [BACKEND_DESCRIPTOR 1]. */
    CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC = 2851,
    CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC = 2852,
    CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC = 2853,
    CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC = 2854,
    CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC = 2855,
    CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC = 2856,
    CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_QDESC = 2857,
    CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_KVDESC = 2858,
    CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC = 2859,
    CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC = 2860,
    CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC = 2861,
    CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC = 2862,

    /*
     * Grouped matrix product of a mixture of experts: mode [MOE_GROUPED_MATMUL_MODE 1], compute
     * type [DATA_TYPE 1], tensors [BACKEND_DESCRIPTOR 1], experts per token [INT32 1].
     */
    CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_MODE = 2900,
    CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_MATH_PREC = 2901,
    CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_TOKEN_DESC = 2902,
    CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_WEIGHT_DESC = 2903,
    CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_FIRST_TOKEN_OFFSET_DESC = 2904,
    CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_OUTPUT_DESC = 2905,
    CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_TOKEN_INDEX_DESC = 2906,
    CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_TOKEN_KS_DESC = 2907,
    CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_TOP_K = 2908
} cudnnBackendAttributeName_t;

/* Kinds of attribute values, with the C type of one value. */
typedef enum {
    CUDNN_TYPE_HANDLE = 0, /* cudnnHandle_t */
    CUDNN_TYPE_DATA_TYPE = 1, /* cudnnDataType_t */
    CUDNN_TYPE_BOOLEAN = 2, /* bool, one byte */
    CUDNN_TYPE_INT64 = 3, /* int64_t */
    CUDNN_TYPE_FLOAT = 4, /* float */
    CUDNN_TYPE_DOUBLE = 5, /* double */
    CUDNN_TYPE_VOID_PTR = 6, /* void * */
    CUDNN_TYPE_CONVOLUTION_MODE = 7, /* cudnnConvolutionMode_t */
    CUDNN_TYPE_HEUR_MODE = 8, /* cudnnBackendHeurMode_t */
    CUDNN_TYPE_KNOB_TYPE = 9, /* cudnnBackendKnobType_t */
    CUDNN_TYPE_NAN_PROPOGATION CUDNN_DEPRECATED_ENUM = 10, /* cudnnNanPropagation_t */
    CUDNN_TYPE_NUMERICAL_NOTE = 11, /* cudnnBackendNumericalNote_t */
    CUDNN_TYPE_LAYOUT_TYPE = 12, /* cudnnBackendLayoutType_t */
    CUDNN_TYPE_ATTRIB_NAME = 13, /* cudnnBackendAttributeName_t */
    CUDNN_TYPE_POINTWISE_MODE = 14, /* cudnnPointwiseMode_t */
    CUDNN_TYPE_BACKEND_DESCRIPTOR = 15, /* cudnnBackendDescriptor_t */
    CUDNN_TYPE_GENSTATS_MODE = 16, /* cudnnGenStatsMode_t */
    CUDNN_TYPE_BN_FINALIZE_STATS_MODE = 17, /* cudnnBnFinalizeStatsMode_t */
    CUDNN_TYPE_REDUCTION_OPERATOR_TYPE = 18, /* cudnnReduceTensorOp_t */
    CUDNN_TYPE_BEHAVIOR_NOTE = 19, /* cudnnBackendBehaviorNote_t */
    CUDNN_TYPE_TENSOR_REORDERING_MODE = 20, /* cudnnBackendTensorReordering_t */
    CUDNN_TYPE_RESAMPLE_MODE = 21, /* cudnnResampleMode_t */
    CUDNN_TYPE_PADDING_MODE = 22, /* cudnnPaddingMode_t */
    CUDNN_TYPE_INT32 = 23, /* int32_t */
    CUDNN_TYPE_CHAR = 24, /* char */
    CUDNN_TYPE_SIGNAL_MODE = 25, /* cudnnSignalMode_t */
    CUDNN_TYPE_FRACTION = 26, /* cudnnFraction_t */
    CUDNN_TYPE_NORM_MODE = 27, /* cudnnBackendNormMode_t */
    CUDNN_TYPE_NORM_FWD_PHASE = 28, /* cudnnBackendNormFwdPhase_t */
    CUDNN_TYPE_RNG_DISTRIBUTION = 29, /* cudnnRngDistribution_t */
    CUDNN_TYPE_MOE_GROUPED_MATMUL_MODE = 30 /* cudnnMoeGroupedMatmulMode_t */
} cudnnBackendAttributeType_t;

/* What an engine does to numbers. */
typedef enum {
    CUDNN_NUMERICAL_NOTE_TENSOR_CORE = 0, /* matrix units */
    CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS = 1, /* inputs rounded to a shorter type */
    CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION = 2, /* sums in a shorter type */
    CUDNN_NUMERICAL_NOTE_FFT = 3,
    CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC = 4, /* bits may differ from run to run */
    CUDNN_NUMERICAL_NOTE_WINOGRAD = 5,
    CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4 = 6,
    CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6 = 7,
    CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13 = 8,
    CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP = 9, /* NaN always goes through */
    CUDNN_NUMERICAL_NOTE_TYPE_COUNT = 10
} cudnnBackendNumericalNote_t;

/* What an engine needs or offers. */
typedef enum {
    CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION = 0, /* compiles at run time */
    CUDNN_BEHAVIOR_NOTE_REQUIRES_FILTER_INT8x32_REORDER = 1, /* wants a reordered filter */
    CUDNN_BEHAVIOR_NOTE_REQUIRES_BIAS_INT8x32_REORDER = 2, /* wants a reordered bias */
    /* cudnnBackendPopulateCudaGraph works */
    CUDNN_BEHAVIOR_NOTE_SUPPORTS_CUDA_GRAPH_NATIVE_API = 3,
    CUDNN_BEHAVIOR_NOTE_CUBLASLT_DEPENDENCY = 4, /* needs cuBLASLt */
    CUDNN_BEHAVIOR_NOTE_TYPE_COUNT = 5
} cudnnBackendBehaviorNote_t;

/*
 * Tuning knobs of engines. Which of them an engine has, and their ranges, its KNOB_INFO attribute
 * tells.
 */
typedef enum {
    CUDNN_KNOB_TYPE_SPLIT_K CUDNN_DEPRECATED_ENUM = 0,
    CUDNN_KNOB_TYPE_SWIZZLE = 1,
    CUDNN_KNOB_TYPE_TILE_SIZE = 2,
    CUDNN_KNOB_TYPE_USE_TEX CUDNN_DEPRECATED_ENUM = 3,
    CUDNN_KNOB_TYPE_EDGE = 4,
    CUDNN_KNOB_TYPE_KBLOCK CUDNN_DEPRECATED_ENUM = 5,
    CUDNN_KNOB_TYPE_LDGA CUDNN_DEPRECATED_ENUM = 6,
    CUDNN_KNOB_TYPE_LDGB CUDNN_DEPRECATED_ENUM = 7,
    CUDNN_KNOB_TYPE_CHUNK_K CUDNN_DEPRECATED_ENUM = 8,
    CUDNN_KNOB_TYPE_SPLIT_H CUDNN_DEPRECATED_ENUM = 9,
    CUDNN_KNOB_TYPE_WINO_TILE CUDNN_DEPRECATED_ENUM = 10,
    CUDNN_KNOB_TYPE_MULTIPLY = 11,
    CUDNN_KNOB_TYPE_SPLIT_K_BUF = 12,
    CUDNN_KNOB_TYPE_TILEK = 13,
    CUDNN_KNOB_TYPE_STAGES = 14,
    CUDNN_KNOB_TYPE_REDUCTION_MODE = 15,
    CUDNN_KNOB_TYPE_CTA_SPLIT_K_MODE CUDNN_DEPRECATED_ENUM = 16,
    CUDNN_KNOB_TYPE_SPLIT_K_SLC = 17,
    CUDNN_KNOB_TYPE_IDX_MODE = 18,
    CUDNN_KNOB_TYPE_SLICED CUDNN_DEPRECATED_ENUM = 19,
    CUDNN_KNOB_TYPE_SPLIT_RS CUDNN_DEPRECATED_ENUM = 20,
    CUDNN_KNOB_TYPE_SINGLEBUFFER CUDNN_DEPRECATED_ENUM = 21,
    CUDNN_KNOB_TYPE_LDGC CUDNN_DEPRECATED_ENUM = 22,
    CUDNN_KNOB_TYPE_SPECFILT = 23,
    CUDNN_KNOB_TYPE_KERNEL_CFG = 24,
    CUDNN_KNOB_TYPE_WORKSPACE = 25,
    CUDNN_KNOB_TYPE_TILE_CGA CUDNN_DEPRECATED_ENUM = 26,
    CUDNN_KNOB_TYPE_TILE_CGA_M = 27,
    CUDNN_KNOB_TYPE_TILE_CGA_N = 28,
    CUDNN_KNOB_TYPE_BLOCK_SIZE = 29,
    CUDNN_KNOB_TYPE_OCCUPANCY = 30,
    CUDNN_KNOB_TYPE_ARRAY_SIZE_PER_THREAD = 31,
    CUDNN_KNOB_TYPE_NUM_C_PER_BLOCK CUDNN_DEPRECATED_ENUM = 32,
    CUDNN_KNOB_TYPE_SPLIT_COLS = 33,
    CUDNN_KNOB_TYPE_TILE_ROWS = 34,
    CUDNN_KNOB_TYPE_TILE_COLS = 35,
    CUDNN_KNOB_TYPE_LOAD_SIZE = 36,
    CUDNN_KNOB_TYPE_CTA_COUNT = 37,
    CUDNN_KNOB_TYPE_STREAM_K = 38,
    CUDNN_KNOB_TYPE_SPLIT_P_SLC = 39,
    CUDNN_KNOB_TYPE_TILE_M = 40,
    CUDNN_KNOB_TYPE_TILE_N = 41,
    CUDNN_KNOB_TYPE_WARP_SPEC_CFG = 42,
    CUDNN_KNOB_TYPE_SWAP_AB = 43,
    CUDNN_KNOB_TYPE_COUNTS = 44
} cudnnBackendKnobType_t;

/* Layouts that an engine prefers. */
typedef enum {
    CUDNN_LAYOUT_TYPE_PREFERRED_NCHW   = 0,
    CUDNN_LAYOUT_TYPE_PREFERRED_NHWC   = 1,
    CUDNN_LAYOUT_TYPE_PREFERRED_PAD4CK = 2,
    CUDNN_LAYOUT_TYPE_PREFERRED_PAD8CK = 3,
    CUDNN_LAYOUT_TYPE_COUNT            = 4
} cudnnBackendLayoutType_t;

/* How engine configurations are ranked. */
typedef enum {
    CUDNN_HEUR_MODE_INSTANT  = 0, /* old name of A */
    CUDNN_HEUR_MODE_B        = 1, /* slower, better ranking */
    CUDNN_HEUR_MODE_FALLBACK = 2, /* always works, not tuned */
    CUDNN_HEUR_MODE_A        = 3, /* quick ranking */
    CUDNN_HEUR_MODES_COUNT   = 4
} cudnnBackendHeurMode_t;

/*
 * Makes an empty descriptor of the given kind in *descriptor (host). NOT_SUPPORTED for an unknown
 * kind, BAD_PARAM when descriptor is NULL, INTERNAL_ERROR_HOST_ALLOCATION_FAILED when memory runs
 * out.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t descriptorType,
    cudnnBackendDescriptor_t *descriptor);

/*
 * Frees the descriptor. NULL is accepted. Descriptors that refer to it must not be used any more.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor);

/*
 * Sets the descriptor back to the state after creation. cudnnBackendCreateDescriptor has done so
 * already.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor);

/*
 * Checks all attributes of the descriptor and fixes them; from then on it can be read and used by
 * others, and not be changed. BAD_PARAM when an attribute is missing or wrong, NOT_SUPPORTED when
 * no engine can do what it describes.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor);

/*
 * Sets an attribute from arrayOfElements: elementCount host values of attributeType. Only before
 * the descriptor is finalised. BAD_PARAM for a type or count that the attribute does not take, or a
 * value out of range; NOT_SUPPORTED for an attribute that this kind of descriptor does not have.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t attributeName, cudnnBackendAttributeType_t attributeType,
    int64_t elementCount, const void *arrayOfElements);

/*
 * Reads an attribute of a finalised descriptor into arrayOfElements (host, room for
 * requestedElementCount values); *elementCount (host, may be NULL) receives the number that there
 * are. With requestedElementCount 0 only the count is read. For attributes that are descriptors,
 * the array holds descriptors made by the caller, which are filled. BAD_PARAM for a wrong type or
 * NULL, NOT_INITIALIZED when it is not finalised.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
    cudnnBackendAttributeName_t attributeName, cudnnBackendAttributeType_t attributeType,
    int64_t requestedElementCount, int64_t *elementCount, void *arrayOfElements);

/*
 * Runs a finalised plan on the pointers of a finalised variant pack (tensor ids, engine pointers,
 * workspace), on the stream of the handle. BAD_PARAM when a tensor is missing, EXECUTION_FAILED
 * when a launch fails.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendExecute(cudnnHandle_t handle,
    cudnnBackendDescriptor_t executionPlan, cudnnBackendDescriptor_t variantPack);

/*
 * Adds the kernels of the plan as nodes to an empty CUDA graph instead of running them.
 * NOT_SUPPORTED when the engine cannot (see the behaviour note SUPPORTS_CUDA_GRAPH_NATIVE_API).
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendPopulateCudaGraph(cudnnHandle_t handle,
    cudnnBackendDescriptor_t executionPlan, cudnnBackendDescriptor_t variantPack,
    cudaGraph_t graph);

/*
 * Puts the pointers of variantPack into a graph that cudnnBackendPopulateCudaGraph filled for the
 * same plan. BAD_PARAM when the graph is another one.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendUpdateCudaGraph(cudnnHandle_t handle,
    cudnnBackendDescriptor_t executionPlan, cudnnBackendDescriptor_t variantPack,
    cudaGraph_t graph);

#ifdef __cplusplus
}
#endif

#endif /* CUDNN_GRAPH_H_ */
