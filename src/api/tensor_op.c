/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * cudnnOpTensor and its descriptor. */
#include "opcall.h"

cudnnStatus_t CUDNNWINAPI cudnnCreateOpTensorDescriptor(cudnnOpTensorDescriptor_t *opTensorDesc)
{
    dn_call_begin("cudnnCreateOpTensorDescriptor");
    return dn_answer(dn_object_create(&dn_op_tensor_pool, (void **)opTensorDesc, "opTensorDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc)
{
    dn_call_begin("cudnnDestroyOpTensorDescriptor");
    return dn_answer(dn_object_destroy(&dn_op_tensor_pool, opTensorDesc, "opTensorDesc"));
}

/* Compute types as the vendor's 9.19 takes them: the floating ones. The call then wants the one that goes with the data. */
cudnnStatus_t CUDNNWINAPI cudnnSetOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc, cudnnOpTensorOp_t opTensorOp,
                                                     cudnnDataType_t opTensorCompType, cudnnNanPropagation_t opTensorNanOpt)
{
    dn_call_begin("cudnnSetOpTensorDescriptor");
    dn_op_tensor_desc *d = dn_object_of(&dn_op_tensor_pool, opTensorDesc, "opTensorDesc");
    if (!d || dn_want_range((int)opTensorOp, 0, 5, "opTensorOp", "a cudnnOpTensorOp_t, 0 to 5") ||
        dn_want_range((int)opTensorNanOpt, 0, 1, "opTensorNanOpt", "NOT_PROPAGATE_NAN or PROPAGATE_NAN"))
        return dn_answer(DN_BAD_PARAM);
    if (opTensorCompType != CUDNN_DATA_FLOAT && opTensorCompType != CUDNN_DATA_DOUBLE && opTensorCompType != CUDNN_DATA_HALF &&
        opTensorCompType != CUDNN_DATA_BFLOAT16)
        return dn_answer(dn_fail(DN_BAD_PARAM, "opTensorCompType is %d; it must be FLOAT, DOUBLE, HALF or BFLOAT16",
                                 (int)opTensorCompType));
    d->p.op = (int32_t)opTensorOp;
    d->p.nan = (int32_t)opTensorNanOpt;
    d->compute = (int32_t)opTensorCompType;
    d->set = 1;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnGetOpTensorDescriptor(const cudnnOpTensorDescriptor_t opTensorDesc, cudnnOpTensorOp_t *opTensorOp,
                                                     cudnnDataType_t *opTensorCompType, cudnnNanPropagation_t *opTensorNanOpt)
{
    dn_call_begin("cudnnGetOpTensorDescriptor");
    const dn_op_tensor_desc *d = dn_object_of(&dn_op_tensor_pool, opTensorDesc, "opTensorDesc");
    if (!d || dn_want(opTensorOp, "opTensorOp") || dn_want(opTensorCompType, "opTensorCompType") ||
        dn_want(opTensorNanOpt, "opTensorNanOpt"))
        return dn_answer(DN_BAD_PARAM);
    *opTensorOp = (cudnnOpTensorOp_t)d->p.op;
    *opTensorCompType = (cudnnDataType_t)d->compute;
    *opTensorNanOpt = (cudnnNanPropagation_t)d->p.nan;
    return CUDNN_STATUS_SUCCESS;
}

/* C may lie on A or B where the layouts are equal: every element is read before it is written. */
static void overlay(dn_opcall *c, dn_role in, const char *name)
{
    const dn_tensor *t = &c->p.t[in], *y = &c->p.t[DN_Y];
    if (c->st != DN_SUCCESS || !t->rank || c->a.ptr[in] != c->a.ptr[DN_Y])
        return;
    c->p.flags |= DN_F_IN_PLACE;
    if (t->type != y->type || !dn_tensor_same_layout(t, y))
        c->st = dn_fail(DN_BAD_PARAM, "%s and C are one buffer, and their types, dims or strides differ; in place they must be equal",
                        name);
}

cudnnStatus_t CUDNNWINAPI cudnnOpTensor(cudnnHandle_t handle, const cudnnOpTensorDescriptor_t opTensorDesc, const void *alpha1,
                                        const cudnnTensorDescriptor_t aDesc, const void *A, const void *alpha2,
                                        const cudnnTensorDescriptor_t bDesc, const void *B, const void *beta,
                                        const cudnnTensorDescriptor_t cDesc, void *C)
{
    dn_call_begin("cudnnOpTensor");
    dn_opcall c;
    dn_opcall_begin(&c, handle, DN_OP_TENSOR, DN_DIR_FWD);
    const dn_op_tensor_desc *d = c.st == DN_SUCCESS ? dn_op_tensor_of(opTensorDesc, "opTensorDesc") : NULL;
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    bool binary = d->p.op < 4;
    dn_opcall_operand(&c, DN_X, aDesc, "aDesc", A, "A");
    if (binary)
        dn_opcall_operand(&c, DN_B, bDesc, "bDesc", B, "B");
    dn_opcall_operand(&c, DN_Y, cDesc, "cDesc", C, "C");
    c.p.u.tensor_op = d->p;
    dn_dtype compute = (dn_dtype)d->compute;
    if (c.st == DN_SUCCESS)
        c.st = dn_scalar(alpha1, compute, "alpha1", &c.a.alpha);
    if (c.st == DN_SUCCESS && binary)
        c.st = dn_scalar(alpha2, compute, "alpha2", &c.a.alpha2);
    if (c.st == DN_SUCCESS)
        c.st = dn_scalar(beta, compute, "beta", &c.a.beta);
    c.p.flags |= c.a.beta == 0 ? DN_F_BETA_ZERO : 0;
    c.p.compute = (uint8_t)compute;
    if (c.st == DN_SUCCESS)
        c.st = dn_tensor_op_check(&c.p);
    overlay(&c, DN_X, "A");
    overlay(&c, DN_B, "B");
    return dn_opcall_run(&c, dn_tensor_op_check);
}
