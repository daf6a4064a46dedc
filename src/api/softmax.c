/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Softmax forward and backward. */
#include "opcall.h"

static void begin(dn_opcall *c, cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo, cudnnSoftmaxMode_t mode, dn_dir dir)
{
    dn_opcall_begin(c, handle, DN_OP_SOFTMAX, dir);
    if (c->st == DN_SUCCESS)
        c->st = dn_want_range((int)algo, 0, 2, "algo", "a cudnnSoftmaxAlgorithm_t, 0 to 2");
    if (c->st == DN_SUCCESS)
        c->st = dn_want_range((int)mode, 0, 1, "mode", "a cudnnSoftmaxMode_t, 0 or 1");
    c->p.u.softmax.algo = (int32_t)algo;
    c->p.u.softmax.mode = (int32_t)mode;
}

cudnnStatus_t CUDNNWINAPI cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo, cudnnSoftmaxMode_t mode,
                                              const void *alpha, const cudnnTensorDescriptor_t xDesc, const void *x,
                                              const void *beta, const cudnnTensorDescriptor_t yDesc, void *y)
{
    dn_call_begin("cudnnSoftmaxForward");
    dn_opcall c;
    begin(&c, handle, algo, mode, DN_DIR_FWD);
    dn_opcall_tensor(&c, DN_X, xDesc, x, "x", true);
    dn_opcall_tensor(&c, DN_Y, yDesc, y, "y", true);
    dn_opcall_factors(&c, DN_Y, alpha, beta);
    dn_opcall_overlay(&c, DN_Y, DN_X);
    return dn_opcall_run(&c, dn_softmax_check);
}

cudnnStatus_t CUDNNWINAPI cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo, cudnnSoftmaxMode_t mode,
                                               const void *alpha, const cudnnTensorDescriptor_t yDesc, const void *y,
                                               const cudnnTensorDescriptor_t dyDesc, const void *dy, const void *beta,
                                               const cudnnTensorDescriptor_t dxDesc, void *dx)
{
    dn_call_begin("cudnnSoftmaxBackward");
    dn_opcall c;
    begin(&c, handle, algo, mode, DN_DIR_BWD_DATA);
    dn_opcall_tensor(&c, DN_Y, yDesc, y, "y", true);
    dn_opcall_tensor(&c, DN_DY, dyDesc, dy, "dy", true);
    dn_opcall_tensor(&c, DN_DX, dxDesc, dx, "dx", true);
    dn_opcall_factors(&c, DN_DX, alpha, beta);
    dn_opcall_overlay(&c, DN_DX, DN_Y);
    c.p.flags &= (uint16_t)~DN_F_IN_PLACE;
    dn_opcall_overlay(&c, DN_DX, DN_DY);
    return dn_opcall_run(&c, dn_softmax_check);
}
