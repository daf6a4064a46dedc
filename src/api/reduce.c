/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * cudnnReduceTensor, its descriptor and its size queries. */
#include "opcall.h"
#include "ops/reduce.h"

cudnnStatus_t CUDNNWINAPI cudnnCreateReduceTensorDescriptor(cudnnReduceTensorDescriptor_t *reduceTensorDesc)
{
    dn_call_begin("cudnnCreateReduceTensorDescriptor");
    return dn_answer(dn_object_create(&dn_reduce_pool, (void **)reduceTensorDesc, "reduceTensorDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyReduceTensorDescriptor(cudnnReduceTensorDescriptor_t reduceTensorDesc)
{
    dn_call_begin("cudnnDestroyReduceTensorDescriptor");
    return dn_answer(dn_object_destroy(&dn_reduce_pool, reduceTensorDesc, "reduceTensorDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnSetReduceTensorDescriptor(cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                                         cudnnReduceTensorOp_t reduceTensorOp, cudnnDataType_t reduceTensorCompType,
                                                         cudnnNanPropagation_t reduceTensorNanOpt,
                                                         cudnnReduceTensorIndices_t reduceTensorIndices,
                                                         cudnnIndicesType_t reduceTensorIndicesType)
{
    dn_call_begin("cudnnSetReduceTensorDescriptor");
    dn_reduce_desc *d = dn_object_of(&dn_reduce_pool, reduceTensorDesc, "reduceTensorDesc");
    if (!d || dn_want_range((int)reduceTensorOp, 0, 8, "reduceTensorOp", "a cudnnReduceTensorOp_t, 0 to 8") ||
        dn_want_range((int)reduceTensorCompType, 0, 2, "reduceTensorCompType", "FLOAT, DOUBLE or HALF") ||
        dn_want_range((int)reduceTensorNanOpt, 0, 1, "reduceTensorNanOpt", "NOT_PROPAGATE_NAN or PROPAGATE_NAN") ||
        dn_want_range((int)reduceTensorIndices, 0, 1, "reduceTensorIndices", "NO_INDICES or FLATTENED_INDICES") ||
        dn_want_range((int)reduceTensorIndicesType, 0, 3, "reduceTensorIndicesType", "a cudnnIndicesType_t, 0 to 3"))
        return dn_answer(DN_BAD_PARAM);
    d->p.op = (int32_t)reduceTensorOp;
    d->p.nan = (int32_t)reduceTensorNanOpt;
    d->p.indices = (int32_t)reduceTensorIndices;
    d->p.index_type = (int32_t)reduceTensorIndicesType;
    d->compute = (int32_t)reduceTensorCompType;
    d->set = 1;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnGetReduceTensorDescriptor(const cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                                         cudnnReduceTensorOp_t *reduceTensorOp, cudnnDataType_t *reduceTensorCompType,
                                                         cudnnNanPropagation_t *reduceTensorNanOpt,
                                                         cudnnReduceTensorIndices_t *reduceTensorIndices,
                                                         cudnnIndicesType_t *reduceTensorIndicesType)
{
    dn_call_begin("cudnnGetReduceTensorDescriptor");
    const dn_reduce_desc *d = dn_object_of(&dn_reduce_pool, reduceTensorDesc, "reduceTensorDesc");
    if (!d || dn_want(reduceTensorOp, "reduceTensorOp") || dn_want(reduceTensorCompType, "reduceTensorCompType") ||
        dn_want(reduceTensorNanOpt, "reduceTensorNanOpt") || dn_want(reduceTensorIndices, "reduceTensorIndices") ||
        dn_want(reduceTensorIndicesType, "reduceTensorIndicesType"))
        return dn_answer(DN_BAD_PARAM);
    *reduceTensorOp = (cudnnReduceTensorOp_t)d->p.op;
    *reduceTensorCompType = (cudnnDataType_t)d->compute;
    *reduceTensorNanOpt = (cudnnNanPropagation_t)d->p.nan;
    *reduceTensorIndices = (cudnnReduceTensorIndices_t)d->p.indices;
    *reduceTensorIndicesType = (cudnnIndicesType_t)d->p.index_type;
    return CUDNN_STATUS_SUCCESS;
}

/* Descriptor and tensors of a call or a query. A half compute type is taken as float, which holds more. */
static void begin(dn_opcall *c, cudnnHandle_t handle, const cudnnReduceTensorDescriptor_t desc, const cudnnTensorDescriptor_t aDesc,
                  const void *a, const cudnnTensorDescriptor_t cDesc, const void *y, bool query)
{
    dn_opcall_begin(c, handle, DN_OP_REDUCE, DN_DIR_FWD);
    const dn_reduce_desc *d = c->st == DN_SUCCESS ? dn_reduce_of(desc, "reduceTensorDesc") : NULL;
    if (!d)
        c->st = DN_BAD_PARAM;
    dn_opcall_operand(c, DN_X, aDesc, "aDesc", a, query ? NULL : "A");
    dn_opcall_operand(c, DN_Y, cDesc, "cDesc", y, query ? NULL : "C");
    if (c->st != DN_SUCCESS)
        return;
    c->p.u.reduce = d->p;
    c->p.compute = (uint8_t)(d->compute == CUDNN_DATA_DOUBLE ? DN_F64 : DN_F32);
    if (!query && a == y)
        c->p.flags |= DN_F_IN_PLACE;
    c->st = dn_reduce_check(&c->p);
}

static size_t indices_size(const dn_problem *p)
{
    return (size_t)dn_tensor_count(&p->t[DN_Y]) * (size_t)dn_reduce_index_size(p->u.reduce.index_type);
}

cudnnStatus_t CUDNNWINAPI cudnnGetReductionIndicesSize(cudnnHandle_t handle, const cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                                       const cudnnTensorDescriptor_t aDesc, const cudnnTensorDescriptor_t cDesc,
                                                       size_t *sizeInBytes)
{
    dn_call_begin("cudnnGetReductionIndicesSize");
    dn_opcall c;
    begin(&c, handle, reduceTensorDesc, aDesc, NULL, cDesc, NULL, true);
    if (c.st != DN_SUCCESS || (c.st = dn_want(sizeInBytes, "sizeInBytes")) != DN_SUCCESS)
        return dn_answer(c.st);
    *sizeInBytes = c.p.u.reduce.indices ? indices_size(&c.p) : 0;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnGetReductionWorkspaceSize(cudnnHandle_t handle, const cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                                         const cudnnTensorDescriptor_t aDesc, const cudnnTensorDescriptor_t cDesc,
                                                         size_t *sizeInBytes)
{
    dn_call_begin("cudnnGetReductionWorkspaceSize");
    dn_opcall c;
    begin(&c, handle, reduceTensorDesc, aDesc, NULL, cDesc, NULL, true);
    if (c.st == DN_SUCCESS)
        c.st = dn_want(sizeInBytes, "sizeInBytes");
    return dn_answer(c.st == DN_SUCCESS ? dn_plan_workspace(c.h, &c.p, sizeInBytes) : c.st);
}

/* The documentation says alpha * reduce(A), a comment of the vendor's header reduce(alpha * A): the former is done here. */
cudnnStatus_t CUDNNWINAPI cudnnReduceTensor(cudnnHandle_t handle, const cudnnReduceTensorDescriptor_t reduceTensorDesc, void *indices,
                                            size_t indicesSizeInBytes, void *workspace, size_t workspaceSizeInBytes,
                                            const void *alpha, const cudnnTensorDescriptor_t aDesc, const void *A, const void *beta,
                                            const cudnnTensorDescriptor_t cDesc, void *C)
{
    dn_call_begin("cudnnReduceTensor");
    dn_opcall c;
    begin(&c, handle, reduceTensorDesc, aDesc, A, cDesc, C, false);
    dn_opcall_factors(&c, DN_Y, alpha, beta);
    if (c.st == DN_SUCCESS && dn_reduce_is_indexed(&c.p.u.reduce)) {
        c.st = dn_want(indices, "indices");
        if (c.st == DN_SUCCESS && indicesSizeInBytes < indices_size(&c.p))
            c.st = dn_fail(DN_INVALID_VALUE, "indicesSizeInBytes is %zu; the indices need %zu", indicesSizeInBytes, indices_size(&c.p));
    }
    c.a.aux[DN_AUX_INDICES] = indices;
    c.a.workspace = workspace;
    c.a.workspace_size = workspaceSizeInBytes;
    return dn_opcall_run(&c, dn_reduce_check);
}
