/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Our own few functions (include/anydnn.h). */
#include "api.h"

const char *anydnnGetVersionString(void)
{
    return ANYDNN_VERSION;
}

const char *anydnnGetEngineName(cudnnHandle_t handle)
{
    dn_call_begin("anydnnGetEngineName");
    dn_handle *h = dn_handle_of(handle);
    return h ? h->engine->name : NULL;
}

const char *anydnnGetLastSolver(cudnnHandle_t handle)
{
    dn_call_begin("anydnnGetLastSolver");
    dn_handle *h = dn_handle_of(handle);
    return !h ? NULL : h->last_solver ? h->last_solver->name : "";
}

cudnnStatus_t anydnnMalloc(cudnnHandle_t handle, size_t size, void **ptr)
{
    dn_call_begin("anydnnMalloc");
    dn_handle *h = dn_handle_of(handle);
    if (!h || dn_want(ptr, "ptr"))
        return dn_answer(DN_BAD_PARAM);
    return dn_answer(dn_mem_alloc(h, size, ptr));
}

cudnnStatus_t anydnnFree(cudnnHandle_t handle, void *ptr)
{
    dn_call_begin("anydnnFree");
    dn_handle *h = dn_handle_of(handle);
    if (!h)
        return dn_answer(DN_BAD_PARAM);
    return ptr ? dn_answer(dn_mem_free(h, ptr)) : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t anydnnCopyIn(cudnnHandle_t handle, void *dst, const void *hostSrc, size_t size)
{
    dn_call_begin("anydnnCopyIn");
    dn_handle *h = dn_handle_of(handle);
    if (!h || (size && (dn_want(dst, "dst") || dn_want(hostSrc, "hostSrc"))))
        return dn_answer(DN_BAD_PARAM);
    return size ? dn_answer(dn_mem_copy_in(h, dst, hostSrc, size)) : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t anydnnCopyOut(cudnnHandle_t handle, void *hostDst, const void *src, size_t size)
{
    dn_call_begin("anydnnCopyOut");
    dn_handle *h = dn_handle_of(handle);
    if (!h || (size && (dn_want(hostDst, "hostDst") || dn_want(src, "src"))))
        return dn_answer(DN_BAD_PARAM);
    return size ? dn_answer(dn_mem_copy_out(h, hostDst, src, size)) : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t anydnnSynchronize(cudnnHandle_t handle)
{
    dn_call_begin("anydnnSynchronize");
    dn_handle *h = dn_handle_of(handle);
    return dn_answer(h ? dn_mem_sync(h) : DN_BAD_PARAM);
}

const char *anydnnGetLastErrorString(void)
{
    return dn_error_text();
}
