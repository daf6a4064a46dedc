/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Activation descriptors, forward and backward. */
#include "opcall.h"

#include "ops/act_fn.h"

cudnnStatus_t CUDNNWINAPI cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t *activationDesc)
{
    dn_call_begin("cudnnCreateActivationDescriptor");
    dn_status st = dn_object_create(&dn_act_pool, (void **)activationDesc, "activationDesc");
    if (st == DN_SUCCESS)
        ((dn_act_desc *)(void *)*activationDesc)->p.beta = 1;
    return dn_answer(st);
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t activationDesc)
{
    dn_call_begin("cudnnDestroyActivationDescriptor");
    return dn_answer(dn_object_destroy(&dn_act_pool, activationDesc, "activationDesc"));
}

/* beta of swish is kept: it has a call of its own, before or after this one. */
cudnnStatus_t CUDNNWINAPI cudnnSetActivationDescriptor(cudnnActivationDescriptor_t activationDesc, cudnnActivationMode_t mode,
                                                       cudnnNanPropagation_t reluNanOpt, double coef)
{
    dn_call_begin("cudnnSetActivationDescriptor");
    dn_act_desc *d = dn_object_of(&dn_act_pool, activationDesc, "activationDesc");
    if (!d || dn_want_range((int)mode, 0, DN_ACT_COUNT - 1, "mode", "a cudnnActivationMode_t, 0 to 6")
        || dn_want_range((int)reluNanOpt, 0, 1, "reluNanOpt", "0 or 1"))
        return dn_answer(DN_BAD_PARAM);
    d->p.mode = (int32_t)mode;
    d->p.nan = (int32_t)reluNanOpt;
    d->p.coef = coef;
    d->set = 1;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetActivationDescriptor(const cudnnActivationDescriptor_t activationDesc,
                                                       cudnnActivationMode_t *mode, cudnnNanPropagation_t *reluNanOpt, double *coef)
{
    dn_call_begin("cudnnGetActivationDescriptor");
    const dn_act_desc *d = dn_object_of(&dn_act_pool, activationDesc, "activationDesc");
    if (!d || dn_want(mode, "mode") || dn_want(reluNanOpt, "reluNanOpt") || dn_want(coef, "coef"))
        return dn_answer(DN_BAD_PARAM);
    *mode = (cudnnActivationMode_t)d->p.mode;
    *reluNanOpt = (cudnnNanPropagation_t)d->p.nan;
    *coef = d->p.coef;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnSetActivationDescriptorSwishBeta(cudnnActivationDescriptor_t activationDesc, double swish_beta)
{
    dn_call_begin("cudnnSetActivationDescriptorSwishBeta");
    dn_act_desc *d = dn_object_of(&dn_act_pool, activationDesc, "activationDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    d->p.beta = swish_beta;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetActivationDescriptorSwishBeta(cudnnActivationDescriptor_t activationDesc, double *swish_beta)
{
    dn_call_begin("cudnnGetActivationDescriptorSwishBeta");
    const dn_act_desc *d = dn_object_of(&dn_act_pool, activationDesc, "activationDesc");
    if (!d || dn_want(swish_beta, "swish_beta"))
        return dn_answer(DN_BAD_PARAM);
    *swish_beta = d->p.beta;
    return dn_answer(DN_SUCCESS);
}

/* The descriptor after the handle, so that texts come in the order of the arguments. */
static void begin(dn_opcall *c, cudnnHandle_t handle, const cudnnActivationDescriptor_t activationDesc, dn_dir dir)
{
    dn_opcall_begin(c, handle, DN_OP_ACT, dir);
    const dn_act_desc *d = c->st == DN_SUCCESS ? dn_act_of(activationDesc, "activationDesc") : NULL;
    if (d)
        c->p.u.act = dn_act_param_of(&d->p);
    else
        c->st = DN_BAD_PARAM;
}

cudnnStatus_t CUDNNWINAPI cudnnActivationForward(cudnnHandle_t handle, cudnnActivationDescriptor_t activationDesc, const void *alpha,
                                                 const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
                                                 const cudnnTensorDescriptor_t yDesc, void *y)
{
    dn_call_begin("cudnnActivationForward");
    dn_opcall c;
    begin(&c, handle, activationDesc, DN_DIR_FWD);
    dn_opcall_tensor(&c, DN_X, xDesc, x, "x", true);
    dn_opcall_tensor(&c, DN_Y, yDesc, y, "y", true);
    dn_opcall_factors(&c, DN_Y, alpha, beta);
    dn_opcall_overlay(&c, DN_Y, DN_X);
    return dn_opcall_run(&c, dn_act_check);
}

cudnnStatus_t CUDNNWINAPI cudnnActivationBackward(cudnnHandle_t handle, cudnnActivationDescriptor_t activationDesc, const void *alpha,
                                                  const cudnnTensorDescriptor_t yDesc, const void *y,
                                                  const cudnnTensorDescriptor_t dyDesc, const void *dy,
                                                  const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
                                                  const cudnnTensorDescriptor_t dxDesc, void *dx)
{
    dn_call_begin("cudnnActivationBackward");
    dn_opcall c;
    begin(&c, handle, activationDesc, DN_DIR_BWD_DATA);
    int mode = c.p.u.act.mode;
    dn_opcall_tensor(&c, DN_Y, yDesc, y, "y", true);
    dn_opcall_tensor(&c, DN_DY, dyDesc, dy, "dy", true);
    dn_opcall_tensor(&c, DN_X, xDesc, x, "x", dn_act_reads_x(mode));
    dn_opcall_tensor(&c, DN_DX, dxDesc, dx, "dx", true);
    dn_opcall_factors(&c, DN_DX, alpha, beta);
    if (dn_act_reads_x(mode))
        dn_opcall_overlay(&c, DN_DX, DN_X);
    if (dn_act_reads_y(mode))
        dn_opcall_overlay(&c, DN_DX, DN_Y);
    c.p.flags &= (uint16_t)~DN_F_IN_PLACE;
    dn_opcall_overlay(&c, DN_DX, DN_DY);
    return dn_opcall_run(&c, dn_act_check);
}
