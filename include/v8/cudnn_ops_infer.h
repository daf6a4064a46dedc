/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* cudnn_ops_infer.h: handle, descriptors, and the forward side of the tensor operations */
/* Long because programs include it by this name. */
#ifndef CUDNN_OPS_INFER_H_
#define CUDNN_OPS_INFER_H_

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
#include <cuda_runtime.h>
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
#elif defined(__GNUC__) || defined(__clang__)
#define CUDNN_DEPRECATED __attribute__((deprecated))
#elif defined(_MSC_VER)
#define CUDNN_DEPRECATED __declspec(deprecated)
#elif defined(__cplusplus) && __cplusplus >= 201402L
#define CUDNN_DEPRECATED [[deprecated]]
#else
#define CUDNN_DEPRECATED
#endif

/* Version of this header, which has to be that of cudnn_version.h. */
#define CUDNN_OPS_INFER_MAJOR 8
#define CUDNN_OPS_INFER_MINOR 9
#define CUDNN_OPS_INFER_PATCH 7

#if CUDNN_OPS_INFER_MAJOR != CUDNN_MAJOR || CUDNN_OPS_INFER_MINOR != CUDNN_MINOR || \
    CUDNN_OPS_INFER_PATCH != CUDNN_PATCHLEVEL
#error "cuDNN headers of different versions are mixed"
#endif

/*
 * How the comments of these headers speak, and what holds for every function:
 * - A status is named without its prefix: BAD_PARAM is CUDNN_STATUS_BAD_PARAM. Without a further
 *   word a NULL or dead descriptor or handle, and a NULL result pointer, is BAD_PARAM; a NULL to a
 *   Destroy function is SUCCESS. Create functions answer ALLOC_FAILED when memory runs out.
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
 *   anydnnGetLastErrorString in anydnn.h, and the log.
 */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Library, handle, status ----------------------------------------------------------------- */

/* One engine, one stream, one cache of plans; see cudnnCreate. */
typedef struct cudnnContext *cudnnHandle_t;

/* What every call answers. cudnnGetErrorString gives the name. */
typedef enum {
    CUDNN_STATUS_SUCCESS                      = 0, /* done, or queued on the stream */
    /* no engine, or a descriptor that is not finalised */
    CUDNN_STATUS_NOT_INITIALIZED              = 1,
    CUDNN_STATUS_ALLOC_FAILED                 = 2, /* out of memory */
    CUDNN_STATUS_BAD_PARAM                    = 3, /* an argument breaks a rule */
    CUDNN_STATUS_INTERNAL_ERROR               = 4, /* a fault of the library */
    CUDNN_STATUS_INVALID_VALUE                = 5, /* not answered; BAD_PARAM is */
    CUDNN_STATUS_ARCH_MISMATCH                = 6, /* no code for this GPU */
    CUDNN_STATUS_MAPPING_ERROR                = 7, /* memory or a stream of another device */
    CUDNN_STATUS_EXECUTION_FAILED             = 8, /* a kernel could not be run */
    CUDNN_STATUS_NOT_SUPPORTED                = 9, /* right, but not possible here */
    CUDNN_STATUS_LICENSE_ERROR                = 10, /* never answered by this library */
    CUDNN_STATUS_RUNTIME_PREREQUISITE_MISSING = 11, /* a run-time library is missing */
    CUDNN_STATUS_RUNTIME_IN_PROGRESS          = 12, /* kernels still run */
    CUDNN_STATUS_RUNTIME_FP_OVERFLOW          = 13, /* a kernel reported an overflow */
    CUDNN_STATUS_VERSION_MISMATCH             = 14 /* parts of different versions */
} cudnnStatus_t;

/* Reserved; pass NULL. */
typedef struct cudnnRuntimeTag_t cudnnRuntimeTag_t;

/* How cudnnQueryRuntimeError looks. */
typedef enum {
    CUDNN_ERRQUERY_RAWCODE     = 0, /* the last code, without a look at the stream */
    CUDNN_ERRQUERY_NONBLOCKING = 1, /* poll */
    CUDNN_ERRQUERY_BLOCKING    = 2 /* wait for the stream */
} cudnnErrQueryMode_t;

/*
 * Version of the interface that this library answers to, as CUDNN_VERSION was when it was built:
 * 8907. Never fails, needs no device.
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
 * BAD_PARAM when handle is NULL, NOT_INITIALIZED when no engine can be started, ALLOC_FAILED when
 * memory runs out.
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
 * Tells whether this part of the library and the parts below it are of one version: SUCCESS, else
 * VERSION_MISMATCH. All parts are one file here, so only a mixed installation can fail.
 */
cudnnStatus_t CUDNNWINAPI cudnnOpsInferVersionCheck(void);

/* ---- Types used everywhere ------------------------------------------------------------------- */

#define CUDNN_DIM_MAX 8  /* largest rank of a tensor */

/* Element types. */
typedef enum {
    CUDNN_DATA_FLOAT              = 0, /* IEEE 32 bit */
    CUDNN_DATA_DOUBLE             = 1, /* IEEE 64 bit */
    CUDNN_DATA_HALF               = 2, /* IEEE 16 bit */
    CUDNN_DATA_INT8               = 3,
    CUDNN_DATA_INT32              = 4,
    CUDNN_DATA_INT8x4             = 5, /* 4 channels per element */
    CUDNN_DATA_UINT8              = 6,
    CUDNN_DATA_UINT8x4            = 7, /* 4 channels per element */
    CUDNN_DATA_INT8x32            = 8, /* 32 channels per element */
    CUDNN_DATA_BFLOAT16           = 9, /* 8 bits of exponent, 7 of mantissa */
    CUDNN_DATA_INT64              = 10,
    CUDNN_DATA_BOOLEAN            = 11, /* 1 bit, packed */
    CUDNN_DATA_FP8_E4M3           = 12, /* 8 bit, 4 of exponent */
    CUDNN_DATA_FP8_E5M2           = 13, /* 8 bit, 5 of exponent */
    CUDNN_DATA_FAST_FLOAT_FOR_FP8 = 14 /* compute type: float with shorter sums */
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
    CUDNN_NOT_PROPAGATE_NAN = 0,
    CUDNN_PROPAGATE_NAN     = 1
} cudnnNanPropagation_t;

/* Whether equal inputs give equal bits in every run. */
typedef enum {
    CUDNN_NON_DETERMINISTIC = 0,
    CUDNN_DETERMINISTIC     = 1
} cudnnDeterminism_t;

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

/* ---- Tensors --------------------------------------------------------------------------------- */

/* Shape and type of a tensor; holds no data. */
typedef struct cudnnTensorStruct *cudnnTensorDescriptor_t;

/*
 * Makes an empty tensor descriptor in *tensorDesc (host). It has to be set before use. ALLOC_FAILED
 * when memory runs out, BAD_PARAM when tensorDesc is NULL.
 */
cudnnStatus_t CUDNNWINAPI cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *tensorDesc);

/*
 * Describes a packed tensor of n images, c channels, h rows, w columns in the given layout: NCHW
 * strides (chw, hw, w, 1), NHWC strides (hwc, 1, wc, c), NCHW_VECT_C with the vector of channels
 * innermost (4 or 32 per element of the INT8x4, UINT8x4 and INT8x32 types; c counts single
 * channels). BAD_PARAM for a size below 1, an unknown layout or type, or a byte size past size_t.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensorDesc,
    cudnnTensorFormat_t format, cudnnDataType_t dataType, int n, int c, int h, int w);

/*
 * Describes a tensor of any layout: sizes n, c, h, w and for each the distance in elements between
 * neighbours. Element (n,c,h,w) lies at n*nStride + c*cStride + h*hStride + w*wStride. Strides may
 * be negative or overlap. BAD_PARAM for a size below 1, or a stride of 0 where the size is above 1.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensorDesc,
    cudnnDataType_t dataType, int n, int c, int h, int w, int nStride, int cStride, int hStride,
    int wStride);

/*
 * Reads type, sizes and strides (in elements) of a descriptor of rank 4 into host variables.
 * BAD_PARAM when one of them is NULL, the descriptor is dead or its rank is not 4.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t tensorDesc,
    cudnnDataType_t *dataType, int *n, int *c, int *h, int *w, int *nStride, int *cStride,
    int *hStride, int *wStride);

/*
 * Describes a tensor of nbDims dimensions (3 to CUDNN_DIM_MAX), outermost first as N, C, then
 * space. dimA and strideA are host arrays of nbDims entries; strides are in elements. BAD_PARAM for
 * a lower rank, a size below 1 or a stride of 0 where the size is above 1, NOT_SUPPORTED past
 * CUDNN_DIM_MAX.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensorDesc,
    cudnnDataType_t dataType, int nbDims, const int dimA[], const int strideA[]);

/*
 * As cudnnSetTensorNdDescriptor, with packed strides computed from a layout. dimA (host) is always
 * in the order N, C, space, whatever the layout. BAD_PARAM and NOT_SUPPORTED as there.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t tensorDesc,
    cudnnTensorFormat_t format, cudnnDataType_t dataType, int nbDims, const int dimA[]);

/*
 * Reads a descriptor. dataType and nbDims (host) receive type and rank; dimA and strideA (host,
 * nbDimsRequested entries each) receive the first min(rank, nbDimsRequested) sizes and strides in
 * elements. BAD_PARAM for a dead descriptor or a NULL dataType or nbDims.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t tensorDesc,
    int nbDimsRequested, cudnnDataType_t *dataType, int *nbDims, int dimA[], int strideA[]);

/*
 * Bytes from the first to one past the last element, gaps between strides included; that is what an
 * allocation needs. *size is a host variable. BAD_PARAM when either argument is NULL or dead.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t tensorDesc,
    size_t *size);

/* Frees the descriptor. NULL is accepted; a dead one is BAD_PARAM. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensorDesc);

/* ---- Change of layout ------------------------------------------------------------------------ */

/* A change of layout, padding and folding. */
typedef struct cudnnTensorTransformStruct *cudnnTensorTransformDescriptor_t;

/* Blocks of space into channels, or back. */
typedef enum {
    CUDNN_TRANSFORM_FOLD   = 0,
    CUDNN_TRANSFORM_UNFOLD = 1
} cudnnFoldingDirection_t;

/*
 * Fills destDesc with the tensor that transformDesc makes of srcDesc (padding and folding applied,
 * in the target layout), and *destSizeInBytes (host) with its size. Folding pads first, unfolding
 * last; sizes that the factors do not divide are rounded up. BAD_PARAM when ranks differ, a size
 * would be below 1 or an argument is NULL, NOT_SUPPORTED for the layout NCHW_VECT_C.
 */
cudnnStatus_t CUDNNWINAPI cudnnInitTransformDest(
    const cudnnTensorTransformDescriptor_t transformDesc, const cudnnTensorDescriptor_t srcDesc,
    cudnnTensorDescriptor_t destDesc, size_t *destSizeInBytes);

/*
 * Makes a descriptor of a layout change in *transformDesc (host). ALLOC_FAILED or BAD_PARAM as for
 * the other Create functions.
 */
cudnnStatus_t CUDNNWINAPI cudnnCreateTensorTransformDescriptor(
    cudnnTensorTransformDescriptor_t *transformDesc);

/*
 * Sets a layout change for nbDims dimensions: target layout, elements of zero padding before and
 * after each dimension (host arrays of nbDims, NULL for none), and folding factors of the nbDims -
 * 2 spatial dimensions (host, NULL for none), which move blocks of space into channels (FOLD) or
 * back (UNFOLD). BAD_PARAM for nbDims below 3 or an unknown direction, NOT_SUPPORTED for nbDims
 * above CUDNN_DIM_MAX or an unknown layout.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetTensorTransformDescriptor(
    cudnnTensorTransformDescriptor_t transformDesc, const uint32_t nbDims,
    const cudnnTensorFormat_t destFormat, const int32_t padBeforeA[], const int32_t padAfterA[],
    const uint32_t foldA[], const cudnnFoldingDirection_t direction);

/*
 * Reads the descriptor into host variables and arrays of nbDimsRequested entries (nbDimsRequested -
 * 2 for foldA). BAD_PARAM for a dead descriptor or a request out of range.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetTensorTransformDescriptor(
    cudnnTensorTransformDescriptor_t transformDesc, uint32_t nbDimsRequested,
    cudnnTensorFormat_t *destFormat, int32_t padBeforeA[], int32_t padAfterA[], uint32_t foldA[],
    cudnnFoldingDirection_t *direction);

/* Frees the descriptor. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyTensorTransformDescriptor(
    cudnnTensorTransformDescriptor_t transformDesc);

/*
 * y = alpha * x + beta * y, element by element, where x and y have equal sizes and may differ in
 * strides and type. alpha and beta are doubles where x or y is double, else floats. x and y are
 * engine memory and may not overlap. BAD_PARAM when sizes differ, NOT_SUPPORTED for a pair of types
 * that cannot be converted.
 */
cudnnStatus_t CUDNNWINAPI cudnnTransformTensor(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y);

/*
 * dest = alpha * T(src) + beta * dest with the padding and folding of transDesc. Channel c of C, at
 * place m in a block of space (row-major), is folded channel m * C + c. srcData and destData are
 * engine memory and may not overlap. BAD_PARAM when destDesc has other sizes than
 * cudnnInitTransformDest gives; its strides and type are free.
 */
cudnnStatus_t CUDNNWINAPI cudnnTransformTensorEx(cudnnHandle_t handle,
    const cudnnTensorTransformDescriptor_t transDesc, const void *alpha,
    const cudnnTensorDescriptor_t srcDesc, const void *srcData, const void *beta,
    const cudnnTensorDescriptor_t destDesc, void *destData);

/* ---- Filters --------------------------------------------------------------------------------- */

/* Shape, type and layout of a filter. */
typedef struct cudnnFilterStruct *cudnnFilterDescriptor_t;

/* Makes an empty filter descriptor in *filterDesc (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *filterDesc);

/*
 * Describes a packed filter of k outputs, c inputs (per group), h rows, w columns. Memory order:
 * KCRS for NCHW, KRSC for NHWC, vectors of c innermost for NCHW_VECT_C. BAD_PARAM for a size below
 * 1 or an unknown type or layout.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filterDesc,
    cudnnDataType_t dataType, cudnnTensorFormat_t format, int k, int c, int h, int w);

/*
 * Reads type, layout and sizes of a filter of rank 4 into host variables. BAD_PARAM for a dead
 * descriptor, a NULL variable or another rank.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t filterDesc,
    cudnnDataType_t *dataType, cudnnTensorFormat_t *format, int *k, int *c, int *h, int *w);

/*
 * Describes a packed filter of nbDims dimensions (3 to CUDNN_DIM_MAX). filterDimA (host, nbDims
 * entries) holds K, C per group, then the spatial sizes, whatever the layout. BAD_PARAM for a lower
 * rank or a size below 1, NOT_SUPPORTED for a higher rank.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filterDesc,
    cudnnDataType_t dataType, cudnnTensorFormat_t format, int nbDims, const int filterDimA[]);

/*
 * Reads type, layout and rank into host variables and the first min(rank, nbDimsRequested) sizes
 * into filterDimA (host, nbDimsRequested entries). BAD_PARAM for a dead descriptor or a request
 * below 1, NOT_SUPPORTED for one above CUDNN_DIM_MAX.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t filterDesc,
    int nbDimsRequested, cudnnDataType_t *dataType, cudnnTensorFormat_t *format, int *nbDims,
    int filterDimA[]);

/* Bytes of the packed filter, into *size (host). */
cudnnStatus_t CUDNNWINAPI cudnnGetFilterSizeInBytes(const cudnnFilterDescriptor_t filterDesc,
    size_t *size);

/*
 * As cudnnTransformTensorEx, for filters (K, C, space): dest = alpha * T(src) + beta * dest. Engine
 * memory, no overlap. BAD_PARAM when sizes do not agree with transDesc.
 */
cudnnStatus_t CUDNNWINAPI cudnnTransformFilter(cudnnHandle_t handle,
    const cudnnTensorTransformDescriptor_t transDesc, const void *alpha,
    const cudnnFilterDescriptor_t srcDesc, const void *srcData, const void *beta,
    const cudnnFilterDescriptor_t destDesc, void *destData);

/* Frees the descriptor. NULL is accepted; a dead one is BAD_PARAM. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filterDesc);

/* ---- Arithmetic on tensors ------------------------------------------------------------------- */

/* A two-operand element operation. */
typedef struct cudnnOpTensorStruct *cudnnOpTensorDescriptor_t;

/* Element operations of cudnnOpTensor. */
typedef enum {
    CUDNN_OP_TENSOR_ADD  = 0,
    CUDNN_OP_TENSOR_MUL  = 1,
    CUDNN_OP_TENSOR_MIN  = 2,
    CUDNN_OP_TENSOR_MAX  = 3,
    CUDNN_OP_TENSOR_SQRT = 4, /* of A alone */
    CUDNN_OP_TENSOR_NOT  = 5 /* 1 - A */
} cudnnOpTensorOp_t;

/*
 * C = alpha * A + beta * C, with A repeated along each dimension where its size is 1. Ranks are
 * equal, every size of A is 1 or that of C. A and C are engine memory. BAD_PARAM when sizes or
 * types do not fit.
 */
cudnnStatus_t CUDNNWINAPI cudnnAddTensor(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t aDesc, const void *A, const void *beta,
    const cudnnTensorDescriptor_t cDesc, void *C);

/* Makes a descriptor of a two-operand element operation in *opTensorDesc (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateOpTensorDescriptor(cudnnOpTensorDescriptor_t *opTensorDesc);

/*
 * Sets the operation, the type to compute in (float, or double for double tensors; half and
 * bfloat16 are kept, but cudnnOpTensor answers NOT_SUPPORTED) and whether NaN wins in MIN and MAX.
 * BAD_PARAM for a value outside its enumeration.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc,
    cudnnOpTensorOp_t opTensorOp, cudnnDataType_t opTensorCompType,
    cudnnNanPropagation_t opTensorNanOpt);

/* Reads the descriptor into host variables. BAD_PARAM when it is dead. */
cudnnStatus_t CUDNNWINAPI cudnnGetOpTensorDescriptor(const cudnnOpTensorDescriptor_t opTensorDesc,
    cudnnOpTensorOp_t *opTensorOp, cudnnDataType_t *opTensorCompType,
    cudnnNanPropagation_t *opTensorNanOpt);

/* Frees the descriptor. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc);

/*
 * C = op(alpha1 * A, alpha2 * B) + beta * C, element by element; SQRT and NOT use A alone, and
 * look at no argument of B. A has the sizes of C, every size of B is 1 or that of C. A, B, C are
 * engine memory; alpha1, alpha2, beta host scalars of the compute type. C may lie on A or B where
 * type, sizes and strides are equal. BAD_PARAM when sizes do not fit, NOT_SUPPORTED where double
 * data and compute type double do not go together, or for 64-bit and vectorised types.
 */
cudnnStatus_t CUDNNWINAPI cudnnOpTensor(cudnnHandle_t handle,
    const cudnnOpTensorDescriptor_t opTensorDesc, const void *alpha1,
    const cudnnTensorDescriptor_t aDesc, const void *A, const void *alpha2,
    const cudnnTensorDescriptor_t bDesc, const void *B, const void *beta,
    const cudnnTensorDescriptor_t cDesc, void *C);

/*
 * Sets every element of y (engine memory) to *valuePtr, one host value: double for double data,
 * int32_t for INT32, else float (for half and 8-bit data too). BAD_PARAM for
 * NULL, NOT_SUPPORTED for a type that cannot be filled.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc,
    void *y, const void *valuePtr);

/*
 * y = alpha * y in place. y is engine memory, alpha a host scalar. BAD_PARAM for NULL,
 * NOT_SUPPORTED for a type that cannot be scaled.
 */
cudnnStatus_t CUDNNWINAPI cudnnScaleTensor(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t yDesc, void *y, const void *alpha);

/* ---- Reductions ------------------------------------------------------------------------------ */

/* A reduction. */
typedef struct cudnnReduceTensorStruct *cudnnReduceTensorDescriptor_t;

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

/* Whether the position of the winner is wanted. */
typedef enum {
    CUDNN_REDUCE_TENSOR_NO_INDICES        = 0,
    CUDNN_REDUCE_TENSOR_FLATTENED_INDICES = 1
} cudnnReduceTensorIndices_t;

/* Width of an unsigned index. */
typedef enum {
    CUDNN_32BIT_INDICES = 0,
    CUDNN_64BIT_INDICES = 1,
    CUDNN_16BIT_INDICES = 2,
    CUDNN_8BIT_INDICES  = 3
} cudnnIndicesType_t;

/* Makes a descriptor of a reduction in *reduceTensorDesc (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateReduceTensorDescriptor(
    cudnnReduceTensorDescriptor_t *reduceTensorDesc);

/*
 * Sets the reduction, the type to compute in, the NaN rule of MIN, MAX and AMAX, whether the
 * winning indices are wanted (only MIN, MAX and AMAX have them) and the width of an index. The
 * compute type is float, half (computed as float) or double. BAD_PARAM for a value outside its
 * enumeration.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetReduceTensorDescriptor(
    cudnnReduceTensorDescriptor_t reduceTensorDesc, cudnnReduceTensorOp_t reduceTensorOp,
    cudnnDataType_t reduceTensorCompType, cudnnNanPropagation_t reduceTensorNanOpt,
    cudnnReduceTensorIndices_t reduceTensorIndices, cudnnIndicesType_t reduceTensorIndicesType);

/* Reads the descriptor into host variables. BAD_PARAM when it is dead. */
cudnnStatus_t CUDNNWINAPI cudnnGetReduceTensorDescriptor(
    const cudnnReduceTensorDescriptor_t reduceTensorDesc, cudnnReduceTensorOp_t *reduceTensorOp,
    cudnnDataType_t *reduceTensorCompType, cudnnNanPropagation_t *reduceTensorNanOpt,
    cudnnReduceTensorIndices_t *reduceTensorIndices, cudnnIndicesType_t *reduceTensorIndicesType);

/* Frees the descriptor. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyReduceTensorDescriptor(
    cudnnReduceTensorDescriptor_t reduceTensorDesc);

/*
 * Bytes of index output that cudnnReduceTensor needs for A reduced to C: one index of the
 * descriptor's width per element of C, 0 when it asks for none. *sizeInBytes is a host variable.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetReductionIndicesSize(cudnnHandle_t handle,
    const cudnnReduceTensorDescriptor_t reduceTensorDesc, const cudnnTensorDescriptor_t aDesc,
    const cudnnTensorDescriptor_t cDesc, size_t *sizeInBytes);

/*
 * Bytes of workspace (engine memory) that cudnnReduceTensor needs for A reduced to C. *sizeInBytes
 * is a host variable.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetReductionWorkspaceSize(cudnnHandle_t handle,
    const cudnnReduceTensorDescriptor_t reduceTensorDesc, const cudnnTensorDescriptor_t aDesc,
    const cudnnTensorDescriptor_t cDesc, size_t *sizeInBytes);

/*
 * C = alpha * reduce(A) + beta * C over every dimension where C has size 1 and A has not. indices
 * (engine memory, may be NULL when none are wanted) receives for each element of C, row-major, the
 * flattened position of the winner within its reduced block, the first of equal ones. Where NaN
 * goes through, the first NaN wins; else it is passed over, and the result is NaN with index 0 only
 * where there is nothing else. MUL_NO_ZEROS of zeros alone is 1. workspace is engine memory of at
 * least the queried size. alpha and beta are host scalars. BAD_PARAM when a size of C is neither 1
 * nor that of A, when all are equal, in place, or for a small workspace; INVALID_VALUE (9:
 * BAD_PARAM) for a small indices buffer; NOT_SUPPORTED where double is mixed with other types, or
 * an index is too narrow for the block.
 */
cudnnStatus_t CUDNNWINAPI cudnnReduceTensor(cudnnHandle_t handle,
    const cudnnReduceTensorDescriptor_t reduceTensorDesc, void *indices, size_t indicesSizeInBytes,
    void *workspace, size_t workspaceSizeInBytes, const void *alpha,
    const cudnnTensorDescriptor_t aDesc, const void *A, const void *beta,
    const cudnnTensorDescriptor_t cDesc, void *C);

/* ---- Softmax --------------------------------------------------------------------------------- */

/* Forms of the softmax. */
typedef enum {
    CUDNN_SOFTMAX_FAST     = 0, /* without subtracting the maximum */
    CUDNN_SOFTMAX_ACCURATE = 1, /* the maximum subtracted first */
    CUDNN_SOFTMAX_LOG      = 2 /* logarithm of the softmax */
} cudnnSoftmaxAlgorithm_t;

/* What is normalised to the sum 1. */
typedef enum {
    CUDNN_SOFTMAX_MODE_INSTANCE = 0, /* over C, H, W of each image */
    CUDNN_SOFTMAX_MODE_CHANNEL  = 1 /* over C of each pixel */
} cudnnSoftmaxMode_t;

/*
 * y = alpha * softmax(x) + beta * y, where softmax(x)_i = exp(x_i) / sum_j exp(x_j), or its
 * logarithm for SOFTMAX_LOG. j runs over C, H, W of one image (MODE_INSTANCE) or over C of one
 * pixel (MODE_CHANNEL). FAST skips the subtraction of the maximum. x and y (engine memory) have
 * equal sizes and types and may be the same tensor. BAD_PARAM when they differ, NOT_SUPPORTED for
 * other types than floating ones.
 */
cudnnStatus_t CUDNNWINAPI cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
    cudnnSoftmaxMode_t mode, const void *alpha, const cudnnTensorDescriptor_t xDesc, const void *x,
    const void *beta, const cudnnTensorDescriptor_t yDesc, void *y);

/* ---- Pooling --------------------------------------------------------------------------------- */

/* Mode, window, padding and stride of a pooling. */
typedef struct cudnnPoolingStruct *cudnnPoolingDescriptor_t;

/* What is taken of each window. */
typedef enum {
    CUDNN_POOLING_MAX                           = 0,
    CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING = 1, /* divides by the window */
    CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING = 2, /* divides by the pixels inside */
    CUDNN_POOLING_MAX_DETERMINISTIC             = 3 /* maximum, backward the same in every run */
} cudnnPoolingMode_t;

/* Makes an empty pooling descriptor in *poolingDesc (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t *poolingDesc);

/*
 * Sets mode, NaN rule of max pooling, window, zero padding on both sides and stride for two spatial
 * dimensions, in pixels. BAD_PARAM for a window or stride below 1, a negative padding or an unknown
 * mode.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t poolingDesc,
    cudnnPoolingMode_t mode, cudnnNanPropagation_t maxpoolingNanOpt, int windowHeight,
    int windowWidth, int verticalPadding, int horizontalPadding, int verticalStride,
    int horizontalStride);

/*
 * Reads a descriptor of two spatial dimensions into host variables; NOT_SUPPORTED when it has
 * another number of them.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetPooling2dDescriptor(const cudnnPoolingDescriptor_t poolingDesc,
    cudnnPoolingMode_t *mode, cudnnNanPropagation_t *maxpoolingNanOpt, int *windowHeight,
    int *windowWidth, int *verticalPadding, int *horizontalPadding, int *verticalStride,
    int *horizontalStride);

/*
 * As cudnnSetPooling2dDescriptor for nbDims spatial dimensions (1 to CUDNN_DIM_MAX - 2); the arrays
 * are on the host and have nbDims entries. BAD_PARAM as there, NOT_SUPPORTED when nbDims is too
 * large.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t poolingDesc,
    const cudnnPoolingMode_t mode, const cudnnNanPropagation_t maxpoolingNanOpt, int nbDims,
    const int windowDimA[], const int paddingA[], const int strideA[]);

/*
 * Reads mode, NaN rule and rank into host variables and min(rank, nbDimsRequested) entries into
 * each host array. BAD_PARAM for a dead descriptor or a negative request.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetPoolingNdDescriptor(const cudnnPoolingDescriptor_t poolingDesc,
    int nbDimsRequested, cudnnPoolingMode_t *mode, cudnnNanPropagation_t *maxpoolingNanOpt,
    int *nbDims, int windowDimA[], int paddingA[], int strideA[]);

/*
 * Sizes of the output for an input: N and C unchanged, each spatial size 1 + floor((in + 2 *
 * padding - window) / stride). outputTensorDimA (host) has nbDims entries, nbDims being the rank of
 * the input tensor. BAD_PARAM when the ranks do not agree or a size would be below 1.
 */
cudnnStatus_t CUDNNWINAPI cudnnGetPoolingNdForwardOutputDim(
    const cudnnPoolingDescriptor_t poolingDesc, const cudnnTensorDescriptor_t inputTensorDesc,
    int nbDims, int outputTensorDimA[]);

/* As cudnnGetPoolingNdForwardOutputDim, for a tensor of rank 4, into four host variables. */
cudnnStatus_t CUDNNWINAPI cudnnGetPooling2dForwardOutputDim(
    const cudnnPoolingDescriptor_t poolingDesc, const cudnnTensorDescriptor_t inputTensorDesc,
    int *n, int *c, int *h, int *w);

/* Frees the descriptor. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t poolingDesc);

/*
 * y = alpha * pool(x) + beta * y: the maximum of each window, or the mean over the whole window
 * (COUNT_INCLUDE_PADDING) or over its pixels inside the image (COUNT_EXCLUDE_PADDING). x and y are
 * engine memory with any strides. y has the sizes that the output query gives, or others as long as
 * each window begins before the end of the image; windows are cut at the end of the padding.
 * BAD_PARAM when N, C or types differ, NOT_SUPPORTED for other types.
 */
cudnnStatus_t CUDNNWINAPI cudnnPoolingForward(cudnnHandle_t handle,
    const cudnnPoolingDescriptor_t poolingDesc, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y);

/* ---- Activation ------------------------------------------------------------------------------ */

/* An activation function and its constants. */
typedef struct cudnnActivationStruct *cudnnActivationDescriptor_t;

/* Activation functions; formulas at cudnnActivationForward. */
typedef enum {
    CUDNN_ACTIVATION_SIGMOID      = 0,
    CUDNN_ACTIVATION_RELU         = 1,
    CUDNN_ACTIVATION_TANH         = 2,
    CUDNN_ACTIVATION_CLIPPED_RELU = 3,
    CUDNN_ACTIVATION_ELU          = 4,
    CUDNN_ACTIVATION_IDENTITY     = 5,
    CUDNN_ACTIVATION_SWISH        = 6
} cudnnActivationMode_t;

/* Makes an empty activation descriptor in *activationDesc (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateActivationDescriptor(
    cudnnActivationDescriptor_t *activationDesc);

/*
 * Sets the function, the NaN rule of the ReLU family and its number: the ceiling of CLIPPED_RELU or
 * the alpha of ELU, unused elsewhere. BAD_PARAM for a value outside its enumeration.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetActivationDescriptor(cudnnActivationDescriptor_t activationDesc,
    cudnnActivationMode_t mode, cudnnNanPropagation_t reluNanOpt, double coef);

/* Reads the descriptor into host variables. BAD_PARAM when it is dead. */
cudnnStatus_t CUDNNWINAPI cudnnGetActivationDescriptor(
    const cudnnActivationDescriptor_t activationDesc, cudnnActivationMode_t *mode,
    cudnnNanPropagation_t *reluNanOpt, double *coef);

/*
 * Sets the beta of SWISH, y = x * sigmoid(beta * x); 1 until it is set. BAD_PARAM for a dead
 * descriptor.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetActivationDescriptorSwishBeta(
    cudnnActivationDescriptor_t activationDesc, double swish_beta);

/* Reads the beta of SWISH into *swish_beta (host). */
cudnnStatus_t CUDNNWINAPI cudnnGetActivationDescriptorSwishBeta(
    cudnnActivationDescriptor_t activationDesc, double *swish_beta);

/* Frees the descriptor. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyActivationDescriptor(
    cudnnActivationDescriptor_t activationDesc);

/*
 * y = alpha * f(x) + beta * y, element by element: sigmoid 1 / (1 + exp(-x)), relu max(0, x), tanh,
 * clipped relu min(max(0, x), coef), elu x > 0 ? x : coef * (exp(x) - 1), swish x * sigmoid(beta *
 * x). x and y (engine memory) have equal sizes and types and may be the same tensor with the same
 * strides. BAD_PARAM when sizes or types differ.
 */
cudnnStatus_t CUDNNWINAPI cudnnActivationForward(cudnnHandle_t handle,
    cudnnActivationDescriptor_t activationDesc, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y);

/* ---- Local response and divisive normalisation ----------------------------------------------- */

#define CUDNN_LRN_MIN_N 1  /* window in channels */
#define CUDNN_LRN_MAX_N 16
#define CUDNN_LRN_MIN_K 1e-5
#define CUDNN_LRN_MIN_BETA 0.01

/* Window and constants of local response and divisive normalisation. */
typedef struct cudnnLRNStruct *cudnnLRNDescriptor_t;

/* Direction of the window of local response normalisation. */
typedef enum {
    CUDNN_LRN_CROSS_CHANNEL_DIM1 = 0
} cudnnLRNMode_t;

/* Where the means of divisive normalisation come from. */
typedef enum {
    CUDNN_DIVNORM_PRECOMPUTED_MEANS = 0
} cudnnDivNormMode_t;

/*
 * Makes a descriptor of local response normalisation in *normDesc (host), preset to n = 5, alpha =
 * 1e-4, beta = 0.75, k = 2.
 */
cudnnStatus_t CUDNNWINAPI cudnnCreateLRNDescriptor(cudnnLRNDescriptor_t *normDesc);

/*
 * Sets window width (channels), alpha, beta and k. BAD_PARAM outside of CUDNN_LRN_MIN_N ..
 * CUDNN_LRN_MAX_N, CUDNN_LRN_MIN_BETA or CUDNN_LRN_MIN_K.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetLRNDescriptor(cudnnLRNDescriptor_t normDesc, unsigned lrnN,
    double lrnAlpha, double lrnBeta, double lrnK);

/* Reads the descriptor into host variables. */
cudnnStatus_t CUDNNWINAPI cudnnGetLRNDescriptor(cudnnLRNDescriptor_t normDesc, unsigned *lrnN,
    double *lrnAlpha, double *lrnBeta, double *lrnK);

/* Frees the descriptor. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyLRNDescriptor(cudnnLRNDescriptor_t lrnDesc);

/*
 * y = alpha * x / (k + lrnAlpha / n * sum x^2)^lrnBeta + beta * y, the sum over n neighbouring
 * channels around each one (cut at the ends; for an even n one more after it than before it). x
 * and y are engine memory of equal sizes. NOT_SUPPORTED when sizes or types differ, BAD_PARAM below
 * rank 3.
 */
cudnnStatus_t CUDNNWINAPI cudnnLRNCrossChannelForward(cudnnHandle_t handle,
    cudnnLRNDescriptor_t normDesc, cudnnLRNMode_t lrnMode, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y);

/*
 * y = alpha * x / (k + lrnAlpha / n^d * sum (x' - means)^2)^lrnBeta + beta * y, the sum over the x'
 * in a window of n in each of the d spatial dimensions, as in cudnnLRNCrossChannelForward; means is
 * that at y's own place, and is not subtracted above the line. means (may be NULL for zero), temp
 * and temp2 are engine memory of the size of x; the temps may be overwritten. Rank 4 or 5.
 * BAD_PARAM when sizes differ or a needed pointer is NULL.
 */
cudnnStatus_t CUDNNWINAPI cudnnDivisiveNormalizationForward(cudnnHandle_t handle,
    cudnnLRNDescriptor_t normDesc, cudnnDivNormMode_t mode, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *means, void *temp, void *temp2,
    const void *beta, const cudnnTensorDescriptor_t yDesc, void *y);

/* ---- Batch normalisation --------------------------------------------------------------------- */

#define CUDNN_BN_MIN_EPSILON 0.0  /* smallest epsilon that is accepted */

/* Over which dimensions statistics are taken. */
typedef enum {
    CUDNN_BATCHNORM_PER_ACTIVATION     = 0, /* over N */
    CUDNN_BATCHNORM_SPATIAL            = 1, /* over N and space */
    CUDNN_BATCHNORM_SPATIAL_PERSISTENT = 2 /* over N and space, one-pass kernels */
} cudnnBatchNormMode_t;

/* What is fused to batch normalisation. */
typedef enum {
    CUDNN_BATCHNORM_OPS_BN                = 0,
    CUDNN_BATCHNORM_OPS_BN_ACTIVATION     = 1,
    CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION = 2
} cudnnBatchNormOps_t;

/*
 * Fills derivedBnDesc with the shape of scale, bias, mean and variance for xDesc: 1xCx1x1 (or
 * 1xCx1x1x1) for the SPATIAL modes, 1xCxHxW (or 1xCxDxHxW) for PER_ACTIVATION. Its type is float,
 * or double for double data, whatever the layout of x. Ranks 3 to 8 are accepted.
 */
cudnnStatus_t CUDNNWINAPI cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t derivedBnDesc,
    const cudnnTensorDescriptor_t xDesc, cudnnBatchNormMode_t mode);

/*
 * y = alpha * (bnScale * (x - estimatedMean) / sqrt(estimatedVariance + epsilon) + bnBias) + beta *
 * y. All pointers but alpha and beta are engine memory; the four parameter arrays have the derived
 * shape. BAD_PARAM for epsilon below CUDNN_BN_MIN_EPSILON, ranks other than 4 or 5, or shapes that
 * do not agree.
 */
cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationForwardInference(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc,
    void *y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale,
    const void *bnBias, const void *estimatedMean, const void *estimatedVariance, double epsilon);

/* ---- Normalisation, second form -------------------------------------------------------------- */

/* Over which dimensions statistics are taken. */
typedef enum {
    CUDNN_NORM_PER_ACTIVATION = 0, /* over N */
    CUDNN_NORM_PER_CHANNEL    = 1 /* over N and space */
} cudnnNormMode_t;

/* Algorithms of the Normalization functions. */
typedef enum {
    CUDNN_NORM_ALGO_STANDARD = 0,
    CUDNN_NORM_ALGO_PERSIST  = 1
} cudnnNormAlgo_t;

/* What is fused to the normalisation. */
typedef enum {
    CUDNN_NORM_OPS_NORM                = 0,
    CUDNN_NORM_OPS_NORM_ACTIVATION     = 1,
    CUDNN_NORM_OPS_NORM_ADD_ACTIVATION = 2
} cudnnNormOps_t;

/*
 * Fills the shapes of scale and bias, and of mean and variance, for xDesc and a norm mode: 1xCx1x1
 * (rank 5: 1xCx1x1x1) for PER_CHANNEL, 1xCxHxW for PER_ACTIVATION. NOT_SUPPORTED when groupCnt is
 * not 1.
 */
cudnnStatus_t CUDNNWINAPI cudnnDeriveNormTensorDescriptor(
    cudnnTensorDescriptor_t derivedNormScaleBiasDesc,
    cudnnTensorDescriptor_t derivedNormMeanVarDesc, const cudnnTensorDescriptor_t xDesc,
    cudnnNormMode_t mode, int groupCnt);

/*
 * y = alpha * norm(x) + beta * y as in cudnnBatchNormalizationForwardInference, followed by the
 * activation, after adding z, that normOps asks for. zDesc, z and activationDesc may be NULL when
 * unused. Engine memory; groupCnt must be 1. BAD_PARAM when shapes do not agree, NOT_SUPPORTED for
 * other group counts.
 */
cudnnStatus_t CUDNNWINAPI cudnnNormalizationForwardInference(cudnnHandle_t handle,
    cudnnNormMode_t mode, cudnnNormOps_t normOps, cudnnNormAlgo_t algo, const void *alpha,
    const void *beta, const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t normScaleBiasDesc, const void *normScale, const void *normBias,
    const cudnnTensorDescriptor_t normMeanVarDesc, const void *estimatedMean,
    const void *estimatedVariance, const cudnnTensorDescriptor_t zDesc, const void *z,
    cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t yDesc, void *y,
    double epsilon, int groupCnt);

/* ---- Spatial transformer --------------------------------------------------------------------- */

/* Sampler and output shape of a spatial transformer. */
typedef struct cudnnSpatialTransformerStruct *cudnnSpatialTransformerDescriptor_t;

/* Interpolation of the spatial transformer. */
typedef enum {
    CUDNN_SAMPLER_BILINEAR = 0
} cudnnSamplerType_t;

/* Makes an empty spatial transformer descriptor in *stDesc (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateSpatialTransformerDescriptor(
    cudnnSpatialTransformerDescriptor_t *stDesc);

/*
 * Sets sampler, type and output size: dimA (host, nbDims entries) is N, C, H, W of the output.
 * NOT_SUPPORTED when nbDims is above 4, BAD_PARAM when it is below or for a size below 1.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetSpatialTransformerNdDescriptor(
    cudnnSpatialTransformerDescriptor_t stDesc, cudnnSamplerType_t samplerType,
    cudnnDataType_t dataType, const int nbDims, const int dimA[]);

/* Frees the descriptor. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroySpatialTransformerDescriptor(
    cudnnSpatialTransformerDescriptor_t stDesc);

/*
 * For each output pixel the position in the input where it is sampled: grid[n][h][w] = theta[n] *
 * (x, y, 1), with x and y spread evenly over -1 .. 1 (-1 where there is one). theta is N x 2 x 3,
 * grid N x H x W x 2, engine memory.
 */
cudnnStatus_t CUDNNWINAPI cudnnSpatialTfGridGeneratorForward(cudnnHandle_t handle,
    const cudnnSpatialTransformerDescriptor_t stDesc, const void *theta, void *grid);

/*
 * y = alpha * sample(x, grid) + beta * y, bilinear, positions outside of the image giving 0. x is N
 * x C x any, grid N x H x W x 2 with x and y in -1 .. 1, y N x C x H x W; engine memory. BAD_PARAM
 * when shapes do not agree with the descriptor.
 */
cudnnStatus_t CUDNNWINAPI cudnnSpatialTfSamplerForward(cudnnHandle_t handle,
    cudnnSpatialTransformerDescriptor_t stDesc, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *grid, const void *beta,
    cudnnTensorDescriptor_t yDesc, void *y);

/* ---- Dropout --------------------------------------------------------------------------------- */

/* Probability and random number states of dropout. */
typedef struct cudnnDropoutStruct *cudnnDropoutDescriptor_t;

/* Makes an empty dropout descriptor in *dropoutDesc (host). */
cudnnStatus_t CUDNNWINAPI cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t *dropoutDesc);

/* Frees the descriptor, not the states. NULL is accepted. */
cudnnStatus_t CUDNNWINAPI cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc);

/* Bytes of engine memory that the random number states take, into *sizeInBytes (host). */
cudnnStatus_t CUDNNWINAPI cudnnDropoutGetStatesSize(cudnnHandle_t handle, size_t *sizeInBytes);

/*
 * Bytes of engine memory in which a forward call on a tensor like xdesc keeps its mask, into
 * *sizeInBytes (host).
 */
cudnnStatus_t CUDNNWINAPI cudnnDropoutGetReserveSpaceSize(cudnnTensorDescriptor_t xdesc,
    size_t *sizeInBytes);

/*
 * Sets the probability of dropping an element (0 .. 1) and starts the random number states (engine
 * memory of at least the queried size, owned by the caller) from seed. NULL states with size 0 only
 * set the probability. BAD_PARAM for a probability out of range or too small a buffer.
 */
cudnnStatus_t CUDNNWINAPI cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc,
    cudnnHandle_t handle, float dropout, void *states, size_t stateSizeInBytes,
    unsigned long long seed);

/*
 * As cudnnSetDropoutDescriptor, but keeps the states as they are, for instance as copied from an
 * earlier run. BAD_PARAM when the buffer is too small.
 */
cudnnStatus_t CUDNNWINAPI cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc,
    cudnnHandle_t handle, float dropout, void *states, size_t stateSizeInBytes,
    unsigned long long seed);

/* Reads probability, states pointer and seed into host variables. */
cudnnStatus_t CUDNNWINAPI cudnnGetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc,
    cudnnHandle_t handle, float *dropout, void **states, unsigned long long *seed);

/*
 * y = x * m / (1 - p) with m 0 with probability p and else 1; p = 0 copies. m is kept in
 * reserveSpace (engine memory of at least the queried size) for the backward call. x and y have
 * equal sizes, may be the same tensor. Each call advances the states. BAD_PARAM when sizes differ
 * or the reserve space is too small.
 */
cudnnStatus_t CUDNNWINAPI cudnnDropoutForward(cudnnHandle_t handle,
    const cudnnDropoutDescriptor_t dropoutDesc, const cudnnTensorDescriptor_t xdesc, const void *x,
    const cudnnTensorDescriptor_t ydesc, void *y, void *reserveSpace,
    size_t reserveSpaceSizeInBytes);

/* ---- Algorithm numbers ----------------------------------------------------------------------- */

/* Algorithms of the forward convolution. */
typedef enum {
    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM = 0, /* no workspace */
    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM = 1, /* indices computed before */
    CUDNN_CONVOLUTION_FWD_ALGO_GEMM = 2, /* explicit patch matrix */
    CUDNN_CONVOLUTION_FWD_ALGO_DIRECT = 3, /* refused by all known versions */
    CUDNN_CONVOLUTION_FWD_ALGO_FFT = 4,
    CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING = 5,
    CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD = 6,
    CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED = 7, /* transforms in kernels of their own */
    CUDNN_CONVOLUTION_FWD_ALGO_COUNT = 8
} cudnnConvolutionFwdAlgo_t;

/* Algorithms of the gradient for the filter. */
typedef enum {
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 = 0, /* sums may differ from run to run */
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 = 1, /* deterministic */
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT = 2,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3 = 3, /* like 0, with workspace */
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD = 4,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED = 5,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING = 6,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT = 7
} cudnnConvolutionBwdFilterAlgo_t;

/* Algorithms of the gradient for the input. */
typedef enum {
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 = 0, /* sums may differ from run to run */
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 = 1, /* deterministic */
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT = 2,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING = 3,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD = 4,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED = 5,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT = 6
} cudnnConvolutionBwdDataAlgo_t;

/* Algorithms of recurrent networks. */
typedef enum {
    CUDNN_RNN_ALGO_STANDARD               = 0, /* step by step */
    CUDNN_RNN_ALGO_PERSIST_STATIC         = 1, /* weights kept on chip */
    CUDNN_RNN_ALGO_PERSIST_DYNAMIC        = 2, /* the same, compiled at run time */
    CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H = 3, /* for small hidden sizes */
    CUDNN_RNN_ALGO_COUNT                  = 4
} cudnnRNNAlgo_t;

/* Algorithms of the CTC loss. */
typedef enum {
    CUDNN_CTC_LOSS_ALGO_DETERMINISTIC     = 0,
    CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC = 1
} cudnnCTCLossAlgo_t;

/* One algorithm number of any of the operations. */
typedef struct cudnnAlgorithmUnionStruct {
    union Algorithm {
        cudnnConvolutionFwdAlgo_t convFwdAlgo;
        cudnnConvolutionBwdFilterAlgo_t convBwdFilterAlgo;
        cudnnConvolutionBwdDataAlgo_t convBwdDataAlgo;
        cudnnRNNAlgo_t RNNAlgo;
        cudnnCTCLossAlgo_t CTCLossAlgo;
    } algo;
} cudnnAlgorithm_t;

/* An algorithm number. */
typedef struct cudnnAlgorithmStruct *cudnnAlgorithmDescriptor_t;

/* Algorithm, status, time and workspace of one measurement. */
typedef struct cudnnAlgorithmPerformanceStruct *cudnnAlgorithmPerformance_t;

/* Makes an empty algorithm descriptor in *algoDesc (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnCreateAlgorithmDescriptor(cudnnAlgorithmDescriptor_t *algoDesc);

/* Stores an algorithm number of any of the operations in the descriptor. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetAlgorithmDescriptor(cudnnAlgorithmDescriptor_t algoDesc,
    cudnnAlgorithm_t algorithm);

/* Reads the algorithm number into *algorithm (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetAlgorithmDescriptor(const cudnnAlgorithmDescriptor_t algoDesc,
    cudnnAlgorithm_t *algorithm);

/* Copies src to dest; both are made by the caller. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnCopyAlgorithmDescriptor(const cudnnAlgorithmDescriptor_t src,
    cudnnAlgorithmDescriptor_t dest);

/* Frees the descriptor. NULL is accepted. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnDestroyAlgorithmDescriptor(cudnnAlgorithmDescriptor_t algoDesc);

/* Makes numberToCreate performance records and stores them in the host array algoPerf. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnCreateAlgorithmPerformance(cudnnAlgorithmPerformance_t *algoPerf,
    int numberToCreate);

/* Stores algorithm, status, time in milliseconds and workspace bytes in a record. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSetAlgorithmPerformance(cudnnAlgorithmPerformance_t algoPerf,
    cudnnAlgorithmDescriptor_t algoDesc, cudnnStatus_t status, float time, size_t memory);

/* Reads a record into host variables. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetAlgorithmPerformance(const cudnnAlgorithmPerformance_t algoPerf,
    cudnnAlgorithmDescriptor_t *algoDesc, cudnnStatus_t *status, float *time, size_t *memory);

/* Frees numberToDestroy records of the host array algoPerf. */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnDestroyAlgorithmPerformance(cudnnAlgorithmPerformance_t *algoPerf,
    int numberToDestroy);

/* Bytes of host memory that cudnnSaveAlgorithm needs, into *algoSpaceSizeInBytes (host). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnGetAlgorithmSpaceSize(cudnnHandle_t handle,
    cudnnAlgorithmDescriptor_t algoDesc, size_t *algoSpaceSizeInBytes);

/* Writes the descriptor to algoSpace (host memory of the queried size). */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnSaveAlgorithm(cudnnHandle_t handle,
    cudnnAlgorithmDescriptor_t algoDesc, void *algoSpace, size_t algoSpaceSizeInBytes);

/*
 * Sets algoDesc from what cudnnSaveAlgorithm wrote to algoSpace (host). BAD_PARAM when the size or
 * the contents do not fit.
 */
CUDNN_DEPRECATED
cudnnStatus_t CUDNNWINAPI cudnnRestoreAlgorithm(cudnnHandle_t handle, void *algoSpace,
    size_t algoSpaceSizeInBytes, cudnnAlgorithmDescriptor_t algoDesc);

/* ---- CTC loss -------------------------------------------------------------------------------- */

/* Constants of the CTC loss. */
typedef struct cudnnCTCLossStruct *cudnnCTCLossDescriptor_t;

#ifdef __cplusplus
}
#endif

#endif /* CUDNN_OPS_INFER_H_ */
