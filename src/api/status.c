/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Status numbers of this ABI, their texts, the caller's callback, and the last-error text. */
#include "api.h"

#include "core/os.h"

#include <stdatomic.h>
#include <string.h>

static cudnnStatus_t number_of(dn_status st)
{
    static const cudnnStatus_t numbers[DN_STATUS_COUNT] = {
        [DN_SUCCESS] = CUDNN_STATUS_SUCCESS,
        [DN_NOT_INITIALIZED] = CUDNN_STATUS_NOT_INITIALIZED,
        [DN_ALLOC_FAILED] = CUDNN_STATUS_ALLOC_FAILED,
        [DN_BAD_PARAM] = CUDNN_STATUS_BAD_PARAM,
        [DN_INTERNAL_ERROR] = CUDNN_STATUS_INTERNAL_ERROR,
        [DN_ARCH_MISMATCH] = CUDNN_STATUS_ARCH_MISMATCH,
        [DN_MAPPING_ERROR] = CUDNN_STATUS_MAPPING_ERROR,
        [DN_EXECUTION_FAILED] = CUDNN_STATUS_EXECUTION_FAILED,
        [DN_NOT_SUPPORTED] = CUDNN_STATUS_NOT_SUPPORTED,
        [DN_VERSION_MISMATCH] = CUDNN_STATUS_VERSION_MISMATCH,
#if DN_ABI == 8
        [DN_INVALID_VALUE] = CUDNN_STATUS_INVALID_VALUE,
#else
        [DN_INVALID_VALUE] = CUDNN_STATUS_BAD_PARAM,  /* as 9.14 answers */
#endif
    };
    return (unsigned)st < DN_STATUS_COUNT ? numbers[st] : CUDNN_STATUS_INTERNAL_ERROR;
}

cudnnStatus_t dn_answer(dn_status st)
{
    if (st == DN_SUCCESS)
        return CUDNN_STATUS_SUCCESS;
    int level = st == DN_NOT_SUPPORTED ? DN_LOG_WARN : DN_LOG_ERROR;
    if (dn_log_on(level))
        dn_log_status(level, st, dn_error_text());
    return number_of(st);
}

cudnnStatus_t dn_stub(const char *function)
{
    dn_call_begin(function);
    return dn_answer(dn_fail(DN_NOT_SUPPORTED, "this function is not real yet in anydnn; it does nothing"));
}

/* --- cudnnGetErrorString --- */

#define NAMED(status) { status, #status }
static const struct {
    int status;
    const char *name;
} names[] = {
#if DN_ABI == 9  /* before the aliases of the same number, which 9 keeps for old sources */
    NAMED(CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH),
    NAMED(CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH),
    NAMED(CUDNN_STATUS_DEPRECATED),
    NAMED(CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED),
    NAMED(CUDNN_STATUS_BAD_PARAM_NULL_POINTER),
    NAMED(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER),
    NAMED(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED),
    NAMED(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND),
    NAMED(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT),
    NAMED(CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH),
    NAMED(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH),
    NAMED(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES),
    NAMED(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE),
    NAMED(CUDNN_STATUS_BAD_PARAM_CUDA_GRAPH_MISMATCH),
    NAMED(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_SHAPE),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_SHARED_MEMORY_INSUFFICIENT),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_PADDING),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_BAD_LAUNCH_PARAM),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE),
    NAMED(CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED),
    NAMED(CUDNN_STATUS_INTERNAL_ERROR_UNEXPECTED_VALUE),
    NAMED(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED),
    NAMED(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED),
    NAMED(CUDNN_STATUS_INTERNAL_ERROR_BAD_LAUNCH_PARAM),
    NAMED(CUDNN_STATUS_INTERNAL_ERROR_TEXTURE_CREATION_FAILED),
    NAMED(CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER),
    NAMED(CUDNN_STATUS_EXECUTION_FAILED_CUBLAS),
    NAMED(CUDNN_STATUS_EXECUTION_FAILED_CUDART),
    NAMED(CUDNN_STATUS_EXECUTION_FAILED_CURAND),
#endif
    NAMED(CUDNN_STATUS_SUCCESS),
    NAMED(CUDNN_STATUS_NOT_INITIALIZED),
    NAMED(CUDNN_STATUS_ALLOC_FAILED),
    NAMED(CUDNN_STATUS_BAD_PARAM),
    NAMED(CUDNN_STATUS_INTERNAL_ERROR),
    NAMED(CUDNN_STATUS_INVALID_VALUE),
    NAMED(CUDNN_STATUS_ARCH_MISMATCH),
    NAMED(CUDNN_STATUS_MAPPING_ERROR),
    NAMED(CUDNN_STATUS_EXECUTION_FAILED),
    NAMED(CUDNN_STATUS_NOT_SUPPORTED),
    NAMED(CUDNN_STATUS_LICENSE_ERROR),
    NAMED(CUDNN_STATUS_RUNTIME_PREREQUISITE_MISSING),
    NAMED(CUDNN_STATUS_RUNTIME_IN_PROGRESS),
    NAMED(CUDNN_STATUS_RUNTIME_FP_OVERFLOW),
    NAMED(CUDNN_STATUS_VERSION_MISMATCH),
};

const char *CUDNNWINAPI cudnnGetErrorString(cudnnStatus_t status)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].status == (int)status)
            return names[i].name;
    return "CUDNN_UNKNOWN_STATUS";
}

#if DN_ABI == 9
void CUDNNWINAPI cudnnGetLastErrorString(char *message, size_t max_size)
{
    if (!message || !max_size)
        return;
    const char *text = dn_error_text();
    size_t n = strlen(text);
    n = n < max_size ? n : max_size - 1;
    memcpy(message, text, n);
    message[n] = 0;
}
#endif

/* --- the caller's callback --- */

static struct {
    dn_lock lock;
    unsigned mask;
    void *udata;
    cudnnCallback_t fn;
} callback = { .lock = DN_LOCK_INIT };

static void call_back(int level, dn_status st, const char *text)
{
    static const cudnnSeverity_t severities[] = { CUDNN_SEV_INFO, CUDNN_SEV_ERROR, CUDNN_SEV_WARNING, CUDNN_SEV_INFO };
    static _Thread_local bool inside;  /* a callback that calls the library must not be called again for that */
    dn_lock_take(&callback.lock);
    unsigned mask = callback.mask;
    void *udata = callback.udata;
    cudnnCallback_t fn = callback.fn;
    dn_lock_give(&callback.lock);
    cudnnSeverity_t severity = severities[level];
    if (!fn || !(mask & 1u << severity) || inside)
        return;
    cudnnDebug_t debug;
    memset(&debug, 0, sizeof debug);
    debug.cudnn_version = CUDNN_VERSION;
    debug.cudnnStatus = number_of(st);
    dn_time_wall(&debug.time_sec, &debug.time_usec);
    debug.pid = dn_process_id();
    debug.tid = dn_thread_id();
    debug.cudaDeviceId = -1;
    inside = true;
    fn(severity, udata, &debug, text);
    inside = false;
}

/* Most verbose level that any bit of the mask asks for. */
static int mask_level(unsigned mask)
{
    return mask & CUDNN_SEV_INFO_EN ? DN_LOG_INFO : mask & CUDNN_SEV_WARNING_EN ? DN_LOG_WARN
         : mask & CUDNN_SEV_ERROR_EN ? DN_LOG_ERROR : DN_LOG_OFF;
}

cudnnStatus_t CUDNNWINAPI cudnnSetCallback(unsigned mask, void *udata, cudnnCallback_t fptr)
{
    dn_call_begin("cudnnSetCallback");
    dn_lock_take(&callback.lock);
    callback.mask = mask;
    callback.udata = udata;
    callback.fn = fptr;
    dn_lock_give(&callback.lock);
    dn_log_set_hook(fptr && mask ? call_back : NULL, mask_level(mask));
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnGetCallback(unsigned *mask, void **udata, cudnnCallback_t *fptr)
{
    dn_call_begin("cudnnGetCallback");
    if (dn_want(mask, "mask") || dn_want(udata, "udata") || dn_want(fptr, "fptr"))
        return dn_answer(DN_BAD_PARAM);
    dn_lock_take(&callback.lock);
    *mask = callback.mask;
    *udata = callback.udata;
    *fptr = callback.fn;
    dn_lock_give(&callback.lock);
    return CUDNN_STATUS_SUCCESS;
}
