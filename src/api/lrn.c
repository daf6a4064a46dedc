/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * LRN descriptors, local response normalisation across channels, divisive normalisation. Set refuses NaN for beta and k, which
 * passes the vendor's comparison with the least value. */
#include "ops/lrn.h"

#include "opcall.h"

cudnnStatus_t CUDNNWINAPI cudnnCreateLRNDescriptor(cudnnLRNDescriptor_t *normDesc)
{
    dn_call_begin("cudnnCreateLRNDescriptor");
    dn_status st = dn_object_create(&dn_lrn_pool, (void **)normDesc, "normDesc");
    if (st == DN_SUCCESS) {
        dn_lrn_desc *d = (void *)*normDesc;
        d->p = (dn_lrn_param){ .n = 5, .alpha = 1e-4, .beta = 0.75, .k = 2 };
        d->set = 1;  /* usable with its presets */
    }
    return dn_answer(st);
}

cudnnStatus_t CUDNNWINAPI cudnnDestroyLRNDescriptor(cudnnLRNDescriptor_t lrnDesc)
{
    dn_call_begin("cudnnDestroyLRNDescriptor");
    return dn_answer(dn_object_destroy(&dn_lrn_pool, lrnDesc, "lrnDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnSetLRNDescriptor(cudnnLRNDescriptor_t normDesc, unsigned lrnN, double lrnAlpha, double lrnBeta,
                                                double lrnK)
{
    dn_call_begin("cudnnSetLRNDescriptor");
    dn_lrn_desc *d = dn_object_of(&dn_lrn_pool, normDesc, "normDesc");
    dn_lrn_param q = { .n = (int32_t)lrnN, .alpha = lrnAlpha, .beta = lrnBeta, .k = lrnK };
    if (!d || dn_lrn_check_param(&q) != DN_SUCCESS)
        return dn_answer(DN_BAD_PARAM);
    d->p = q;
    return dn_answer(DN_SUCCESS);
}

/* Pointers may be NULL for values that are not wanted, as at the vendor's. */
cudnnStatus_t CUDNNWINAPI cudnnGetLRNDescriptor(cudnnLRNDescriptor_t normDesc, unsigned *lrnN, double *lrnAlpha, double *lrnBeta,
                                                double *lrnK)
{
    dn_call_begin("cudnnGetLRNDescriptor");
    const dn_lrn_desc *d = dn_object_of(&dn_lrn_pool, normDesc, "normDesc");
    if (!d)
        return dn_answer(DN_BAD_PARAM);
    if (lrnN)
        *lrnN = (unsigned)d->p.n;
    if (lrnAlpha)
        *lrnAlpha = d->p.alpha;
    if (lrnBeta)
        *lrnBeta = d->p.beta;
    if (lrnK)
        *lrnK = d->p.k;
    return dn_answer(DN_SUCCESS);
}

/* mode: of LRN or of divisive normalisation, which have one value each. */
static void begin(dn_opcall *c, cudnnHandle_t handle, cudnnLRNDescriptor_t normDesc, int mode, const char *mode_name, dn_op op,
                  dn_dir dir)
{
    dn_opcall_begin(c, handle, op, dir);
    const dn_lrn_desc *d = c->st == DN_SUCCESS ? dn_lrn_of(normDesc, "normDesc") : NULL;
    if (!d || dn_want_range(mode, 0, 0, mode_name, "0"))
        c->st = DN_BAD_PARAM;
    else
        c->p.u.lrn = d->p;
}

cudnnStatus_t CUDNNWINAPI cudnnLRNCrossChannelForward(cudnnHandle_t handle, cudnnLRNDescriptor_t normDesc, cudnnLRNMode_t lrnMode,
                                                      const void *alpha, const cudnnTensorDescriptor_t xDesc, const void *x,
                                                      const void *beta, const cudnnTensorDescriptor_t yDesc, void *y)
{
    dn_call_begin("cudnnLRNCrossChannelForward");
    dn_opcall c;
    begin(&c, handle, normDesc, (int)lrnMode, "lrnMode", DN_OP_LRN, DN_DIR_FWD);
    dn_opcall_tensor(&c, DN_X, xDesc, x, "x", true);
    dn_opcall_tensor(&c, DN_Y, yDesc, y, "y", true);
    dn_opcall_factors(&c, DN_Y, alpha, beta);
    dn_opcall_overlay(&c, DN_Y, DN_X);
    return dn_opcall_run(&c, dn_lrn_check);
}

cudnnStatus_t CUDNNWINAPI cudnnLRNCrossChannelBackward(cudnnHandle_t handle, cudnnLRNDescriptor_t normDesc, cudnnLRNMode_t lrnMode,
                                                       const void *alpha, const cudnnTensorDescriptor_t yDesc, const void *y,
                                                       const cudnnTensorDescriptor_t dyDesc, const void *dy,
                                                       const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
                                                       const cudnnTensorDescriptor_t dxDesc, void *dx)
{
    dn_call_begin("cudnnLRNCrossChannelBackward");
    dn_opcall c;
    begin(&c, handle, normDesc, (int)lrnMode, "lrnMode", DN_OP_LRN, DN_DIR_BWD_DATA);
    dn_opcall_tensor(&c, DN_Y, yDesc, y, "y", true);
    dn_opcall_tensor(&c, DN_DY, dyDesc, dy, "dy", true);
    dn_opcall_tensor(&c, DN_X, xDesc, x, "x", true);
    dn_opcall_tensor(&c, DN_DX, dxDesc, dx, "dx", true);
    dn_opcall_factors(&c, DN_DX, alpha, beta);
    dn_opcall_overlay(&c, DN_DX, DN_X);
    dn_opcall_overlay(&c, DN_DX, DN_DY);
    return dn_opcall_run(&c, dn_lrn_check);
}

/* Another tensor of xDesc's description. */
static void like_x(dn_opcall *c, dn_role role, const void *ptr)
{
    if (c->st == DN_SUCCESS && ptr)
        dn_bind(&c->p, &c->a, role, &c->p.t[DN_X], ptr);
}

static void temps(dn_opcall *c, void *temp, void *temp2)
{
    if (c->st == DN_SUCCESS)
        c->st = dn_want(temp, "temp");
    if (c->st == DN_SUCCESS)
        c->st = dn_want(temp2, "temp2");
    c->a.aux[DN_AUX_TEMP] = temp;
    c->a.aux[DN_AUX_TEMP2] = temp2;
}

cudnnStatus_t CUDNNWINAPI cudnnDivisiveNormalizationForward(cudnnHandle_t handle, cudnnLRNDescriptor_t normDesc,
                                                            cudnnDivNormMode_t mode, const void *alpha,
                                                            const cudnnTensorDescriptor_t xDesc, const void *x, const void *means,
                                                            void *temp, void *temp2, const void *beta,
                                                            const cudnnTensorDescriptor_t yDesc, void *y)
{
    dn_call_begin("cudnnDivisiveNormalizationForward");
    dn_opcall c;
    begin(&c, handle, normDesc, (int)mode, "mode", DN_OP_DIVNORM, DN_DIR_FWD);
    dn_opcall_tensor(&c, DN_X, xDesc, x, "x", true);
    like_x(&c, DN_B, means);
    temps(&c, temp, temp2);
    dn_opcall_tensor(&c, DN_Y, yDesc, y, "y", true);
    dn_opcall_factors(&c, DN_Y, alpha, beta);
    dn_opcall_overlay(&c, DN_Y, DN_X);
    if (means)
        dn_opcall_overlay(&c, DN_Y, DN_B);
    return dn_opcall_run(&c, dn_divnorm_check);
}

cudnnStatus_t CUDNNWINAPI cudnnDivisiveNormalizationBackward(cudnnHandle_t handle, cudnnLRNDescriptor_t normDesc,
                                                             cudnnDivNormMode_t mode, const void *alpha,
                                                             const cudnnTensorDescriptor_t xDesc, const void *x, const void *means,
                                                             const void *dy, void *temp, void *temp2, const void *beta,
                                                             const cudnnTensorDescriptor_t dXdMeansDesc, void *dx, void *dMeans)
{
    dn_call_begin("cudnnDivisiveNormalizationBackward");
    dn_opcall c;
    begin(&c, handle, normDesc, (int)mode, "mode", DN_OP_DIVNORM, DN_DIR_BWD_DATA);
    dn_opcall_tensor(&c, DN_X, xDesc, x, "x", true);
    like_x(&c, DN_B, means);
    if (c.st == DN_SUCCESS)
        c.st = dn_want(dy, "dy");
    like_x(&c, DN_DY, dy);
    temps(&c, temp, temp2);
    const dn_tensor *out = c.st == DN_SUCCESS ? dn_tensor_of(dXdMeansDesc, "dXdMeansDesc") : NULL;
    if (!out)
        c.st = DN_BAD_PARAM;
    else
        c.st = dn_want(dx, "dx");
    if (c.st == DN_SUCCESS)
        dn_bind(&c.p, &c.a, DN_DX, out, dx);
    if (c.st == DN_SUCCESS && dMeans)
        dn_bind(&c.p, &c.a, DN_DZ, out, dMeans);
    dn_opcall_factors(&c, DN_DX, alpha, beta);
    dn_opcall_overlay(&c, DN_DX, DN_X);
    dn_opcall_overlay(&c, DN_DX, DN_DY);
    if (c.st == DN_SUCCESS && dx == dMeans)
        c.st = dn_fail(DN_BAD_PARAM, "dx and dMeans are the same memory; they are two results");
    return dn_opcall_run(&c, dn_divnorm_check);
}
