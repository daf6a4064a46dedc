/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Handles, versions, properties. */
#include "api.h"

#include "cuda/cuda.h"

#include <stdlib.h>

_Static_assert(offsetof(dn_handle, cookie) == 0, "a pool's objects begin with their cookie");

size_t CUDNNWINAPI cudnnGetVersion(void)
{
    return CUDNN_VERSION;
}

/* Highest compute capability with code in this library, as major * 100 + minor * 10; 0 without the cuda engine. */
size_t CUDNNWINAPI cudnnGetMaxDeviceVersion(void)
{
    return (size_t)dn_cuda_max_sm() * 10;
}

/* Version of the CUDA toolkit that made the kernels; 0 without the cuda engine. */
size_t CUDNNWINAPI cudnnGetCudartVersion(void)
{
    return (size_t)dn_cuda_toolkit;
}

cudnnStatus_t CUDNNWINAPI cudnnGetProperty(libraryPropertyType type, int *value)
{
    dn_call_begin("cudnnGetProperty");
    if (dn_want(value, "value"))
        return dn_answer(DN_BAD_PARAM);
    switch (type) {
    case MAJOR_VERSION: *value = CUDNN_MAJOR; break;
    case MINOR_VERSION: *value = CUDNN_MINOR; break;
    case PATCH_LEVEL: *value = CUDNN_PATCHLEVEL; break;
    default:
        return dn_answer(dn_fail(DN_INVALID_VALUE, "type is %d; it must be MAJOR_VERSION, MINOR_VERSION or PATCH_LEVEL", (int)type));
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnCreate(cudnnHandle_t *handle)
{
    dn_call_begin("cudnnCreate");
    void *object;
    dn_status st = dn_want(handle, "handle");
    if (st == DN_SUCCESS)
        st = dn_object_create(&dn_handle_pool, &object, "handle");
    if (st != DN_SUCCESS)
        return dn_answer(st);
    *handle = NULL;
    st = dn_handle_open(object);
    if (st == DN_SUCCESS)
        *handle = object;
    else
        dn_pool_free(&dn_handle_pool, object);
    return dn_answer(st);
}

cudnnStatus_t CUDNNWINAPI cudnnDestroy(cudnnHandle_t handle)
{
    dn_call_begin("cudnnDestroy");
    if (!handle)
        return CUDNN_STATUS_SUCCESS;
    dn_handle *h = dn_handle_of(handle);
    if (!h)
        return dn_answer(DN_BAD_PARAM);
    dn_handle_close(h);
    dn_pool_free(&dn_handle_pool, h);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnSetStream(cudnnHandle_t handle, cudaStream_t streamId)
{
    dn_call_begin("cudnnSetStream");
    dn_handle *h = dn_handle_of(handle);
    if (!h)
        return dn_answer(DN_BAD_PARAM);
    h->stream = streamId;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnGetStream(cudnnHandle_t handle, cudaStream_t *streamId)
{
    dn_call_begin("cudnnGetStream");
    dn_handle *h = dn_handle_of(handle);
    if (!h || dn_want(streamId, "streamId"))
        return dn_answer(DN_BAD_PARAM);
    *streamId = h->stream;
    return CUDNN_STATUS_SUCCESS;
}

/* Errors that a kernel meets after its launch. Host engines run in the call and have none left over; no kernel of ours leaves a status of
 * its own, so the raw one is always SUCCESS. */
cudnnStatus_t CUDNNWINAPI cudnnQueryRuntimeError(cudnnHandle_t handle, cudnnStatus_t *rstatus, cudnnErrQueryMode_t mode,
                                                 cudnnRuntimeTag_t *tag)
{
    dn_call_begin("cudnnQueryRuntimeError");
    (void)tag;  /* reserved: NULL in every documented use */
    dn_handle *h = dn_handle_of(handle);
    if (!h || dn_want(rstatus, "rstatus") ||
        dn_want_range(mode, CUDNN_ERRQUERY_RAWCODE, CUDNN_ERRQUERY_BLOCKING, "mode", "a cudnnErrQueryMode_t"))
        return dn_answer(DN_BAD_PARAM);
    bool busy = false;
    dn_status st = mode == CUDNN_ERRQUERY_BLOCKING ? dn_mem_sync(h) : mode == CUDNN_ERRQUERY_NONBLOCKING ? dn_mem_poll(h, &busy) : DN_SUCCESS;
    *rstatus = busy ? CUDNN_STATUS_RUNTIME_IN_PROGRESS : dn_answer(st);
    return CUDNN_STATUS_SUCCESS;
}

/* The sub-libraries are one library here, so their versions cannot differ. */
#if DN_ABI == 8
cudnnStatus_t CUDNNWINAPI cudnnOpsInferVersionCheck(void)
{
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnOpsTrainVersionCheck(void)
{
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnCnnInferVersionCheck(void)
{
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnCnnTrainVersionCheck(void)
{
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnAdvInferVersionCheck(void)
{
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnAdvTrainVersionCheck(void)
{
    return CUDNN_STATUS_SUCCESS;
}
#else
cudnnStatus_t CUDNNWINAPI cudnnGraphVersionCheck(void)
{
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnOpsVersionCheck(void)
{
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnCnnVersionCheck(void)
{
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnAdvVersionCheck(void)
{
    return CUDNN_STATUS_SUCCESS;
}
#endif
