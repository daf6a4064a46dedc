/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/*
 * The exported functions that have no body of their own yet: one per STUB row of functions.def.
 * Each answers NOT_SUPPORTED and leaves a last-error text with its name; no argument is looked at.
 * Longer than the usual 600 lines because it is one flat list that mirrors functions.def.
 * Compiled once per ABI (DN_ABI is 8 or 9) against the headers of that ABI.
 */
#include "api.h"

#ifdef __GNUC__
/* Arguments of a function that does nothing are unused by nature. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

cudnnStatus_t CUDNNWINAPI cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t descriptorType,
    cudnnBackendDescriptor_t *descriptor)
{
    return dn_stub("cudnnBackendCreateDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor)
{
    return dn_stub("cudnnBackendDestroyDescriptor");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor)
{
    return dn_stub("cudnnBackendInitialize");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor)
{
    return dn_stub("cudnnBackendFinalize");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t attributeName, cudnnBackendAttributeType_t attributeType,
    int64_t elementCount, const void *arrayOfElements)
{
    return dn_stub("cudnnBackendSetAttribute");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
    cudnnBackendAttributeName_t attributeName, cudnnBackendAttributeType_t attributeType,
    int64_t requestedElementCount, int64_t *elementCount, void *arrayOfElements)
{
    return dn_stub("cudnnBackendGetAttribute");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendExecute(cudnnHandle_t handle,
    cudnnBackendDescriptor_t executionPlan, cudnnBackendDescriptor_t variantPack)
{
    return dn_stub("cudnnBackendExecute");
}

#if DN_ABI == 9

cudnnStatus_t CUDNNWINAPI cudnnBackendPopulateCudaGraph(cudnnHandle_t handle,
    cudnnBackendDescriptor_t executionPlan, cudnnBackendDescriptor_t variantPack, cudaGraph_t graph)
{
    return dn_stub("cudnnBackendPopulateCudaGraph");
}

cudnnStatus_t CUDNNWINAPI cudnnBackendUpdateCudaGraph(cudnnHandle_t handle,
    cudnnBackendDescriptor_t executionPlan, cudnnBackendDescriptor_t variantPack, cudaGraph_t graph)
{
    return dn_stub("cudnnBackendUpdateCudaGraph");
}
#endif /* DN_ABI == 9 */

/*
 * Exported by the vendor, declared in none of its headers: the prototypes are not known, so no
 * argument is read and nothing is written.
 */

cudnnStatus_t CUDNNWINAPI cudnnGetBackdoor(void);
cudnnStatus_t CUDNNWINAPI cudnnGetBackdoor(void)
{
    return dn_stub("cudnnGetBackdoor");
}

cudnnStatus_t CUDNNWINAPI cudnnGetRNNDropoutLocationsInternal(void);
cudnnStatus_t CUDNNWINAPI cudnnGetRNNDropoutLocationsInternal(void)
{
    return dn_stub("cudnnGetRNNDropoutLocationsInternal");
}

cudnnStatus_t CUDNNWINAPI cudnnSetBackdoor(void);
cudnnStatus_t CUDNNWINAPI cudnnSetBackdoor(void)
{
    return dn_stub("cudnnSetBackdoor");
}

cudnnStatus_t CUDNNWINAPI cudnnSetBackdoorEx(void);
cudnnStatus_t CUDNNWINAPI cudnnSetBackdoorEx(void)
{
    return dn_stub("cudnnSetBackdoorEx");
}
