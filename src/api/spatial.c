/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Spatial transformer: descriptors, grid generator, sampler. The vendor's Set takes any number of dimensions and any sizes; ours
 * keeps to the documentation: four, each 1 or more. bf16 is taken beside the vendor's three types. */
#include "opcall.h"

#include <string.h>

cudnnStatus_t CUDNNWINAPI cudnnCreateSpatialTransformerDescriptor(cudnnSpatialTransformerDescriptor_t *stDesc)
{
    dn_call_begin("cudnnCreateSpatialTransformerDescriptor");
    return dn_answer(dn_object_create(&dn_st_pool, (void **)stDesc, "stDesc"));
}

cudnnStatus_t CUDNNWINAPI cudnnDestroySpatialTransformerDescriptor(cudnnSpatialTransformerDescriptor_t stDesc)
{
    dn_call_begin("cudnnDestroySpatialTransformerDescriptor");
    return dn_answer(dn_object_destroy(&dn_st_pool, stDesc, "stDesc"));
}

static dn_status check_type(int type)
{
    if (type == DN_F32 || type == DN_F64 || type == DN_F16 || type == DN_BF16)
        return DN_SUCCESS;
    return dn_fail(type == DN_I8 ? DN_NOT_SUPPORTED : DN_BAD_PARAM, "dataType is %d; it must be CUDNN_DATA_FLOAT, DOUBLE, HALF or"
                   " BFLOAT16", type);
}

cudnnStatus_t CUDNNWINAPI cudnnSetSpatialTransformerNdDescriptor(cudnnSpatialTransformerDescriptor_t stDesc,
                                                                 cudnnSamplerType_t samplerType, cudnnDataType_t dataType,
                                                                 const int nbDims, const int dimA[])
{
    dn_call_begin("cudnnSetSpatialTransformerNdDescriptor");
    dn_st_desc *d = dn_object_of(&dn_st_pool, stDesc, "stDesc");
    if (!d || dn_want_range((int)samplerType, 0, 0, "samplerType", "0 (BILINEAR)"))
        return dn_answer(DN_BAD_PARAM);
    dn_status st = check_type((int)dataType);
    if (st == DN_SUCCESS && nbDims != 4)
        st = dn_fail(nbDims > 4 ? DN_NOT_SUPPORTED : DN_BAD_PARAM, "nbDims is %d; it must be 4", nbDims);
    if (st == DN_SUCCESS)
        st = dn_want(dimA, "dimA");
    for (int i = 0; st == DN_SUCCESS && i < 4; i++)
        if (dimA[i] < 1)
            st = dn_fail(DN_BAD_PARAM, "dimA[%d] is %d; it must be 1 or more", i, dimA[i]);
    if (st != DN_SUCCESS)
        return dn_answer(st);
    d->type = (int32_t)dataType;
    memcpy(d->dims, dimA, sizeof d->dims);
    d->set = 1;
    return dn_answer(DN_SUCCESS);
}

static const dn_st_desc *begin(dn_opcall *c, cudnnHandle_t handle, cudnnSpatialTransformerDescriptor_t stDesc, dn_op op, dn_dir dir)
{
    dn_opcall_begin(c, handle, op, dir);
    const dn_st_desc *d = c->st == DN_SUCCESS ? dn_st_of(stDesc, "stDesc") : NULL;
    if (!d)
        c->st = DN_BAD_PARAM;
    else
        c->p.compute = (uint8_t)(d->type == DN_F64 ? DN_F64 : DN_F32);
    return d;
}

/* A packed tensor that has no descriptor of its own. */
static void packed(dn_opcall *c, dn_role role, int type, int rank, const int *dims, const void *ptr, const char *name)
{
    dn_tensor t;
    if (c->st == DN_SUCCESS)
        c->st = dn_want(ptr, name);
    if (c->st == DN_SUCCESS)
        c->st = dn_tensor_fill(&t, type, rank, dims, NULL, name);
    if (c->st == DN_SUCCESS && !dn_tensor_pack(&t))
        c->st = dn_fail(DN_BAD_PARAM, "%s would have more elements than 63 bits count", name);
    if (c->st == DN_SUCCESS)
        dn_bind(&c->p, &c->a, role, &t, ptr);
}

static void theta_of(dn_opcall *c, dn_role role, const dn_st_desc *d, const void *ptr, const char *name)
{
    if (d)
        packed(c, role, d->type, 3, (const int[]){ d->dims[0], 2, 3 }, ptr, name);
}

static void grid_of(dn_opcall *c, dn_role role, const dn_st_desc *d, const void *ptr, const char *name)
{
    if (d)
        packed(c, role, d->type, 4, (const int[]){ d->dims[0], d->dims[2], d->dims[3], 2 }, ptr, name);
}

cudnnStatus_t CUDNNWINAPI cudnnSpatialTfGridGeneratorForward(cudnnHandle_t handle, const cudnnSpatialTransformerDescriptor_t stDesc,
                                                             const void *theta, void *grid)
{
    dn_call_begin("cudnnSpatialTfGridGeneratorForward");
    dn_opcall c;
    const dn_st_desc *d = begin(&c, handle, stDesc, DN_OP_ST_GRID, DN_DIR_FWD);
    theta_of(&c, DN_X, d, theta, "theta");
    grid_of(&c, DN_Y, d, grid, "grid");
    c.p.flags |= DN_F_BETA_ZERO;
    c.a.alpha = 1;
    return dn_opcall_run(&c, dn_st_grid_check);
}

cudnnStatus_t CUDNNWINAPI cudnnSpatialTfGridGeneratorBackward(cudnnHandle_t handle, const cudnnSpatialTransformerDescriptor_t stDesc,
                                                              const void *dgrid, void *dtheta)
{
    dn_call_begin("cudnnSpatialTfGridGeneratorBackward");
    dn_opcall c;
    const dn_st_desc *d = begin(&c, handle, stDesc, DN_OP_ST_GRID, DN_DIR_BWD_DATA);
    grid_of(&c, DN_DY, d, dgrid, "dgrid");
    theta_of(&c, DN_DX, d, dtheta, "dtheta");
    c.p.flags |= DN_F_BETA_ZERO;
    c.a.alpha = 1;
    return dn_opcall_run(&c, dn_st_grid_check);
}

/* The output, or its gradient, is what the descriptor says. */
static void check_output(dn_opcall *c, dn_role role, const dn_st_desc *d, const char *name)
{
    const dn_tensor *t = &c->p.t[role];
    if (c->st != DN_SUCCESS)
        return;
    if (t->rank != 4)
        c->st = dn_fail(DN_BAD_PARAM, "%s has %d dimensions; it must have 4", name, t->rank);
    for (int i = 0; c->st == DN_SUCCESS && i < 4; i++)
        if (t->dims[i] != d->dims[i])
            c->st = dn_fail(DN_BAD_PARAM, "dimension %d of %s is %lld; stDesc was set with %d", i, name, (long long)t->dims[i],
                            d->dims[i]);
    if (c->st == DN_SUCCESS && t->type != d->type)
        c->st = dn_fail(DN_BAD_PARAM, "%s has type %s; stDesc was set with %s", name, dn_dtype_name((dn_dtype)t->type),
                        dn_dtype_name((dn_dtype)d->type));
}

cudnnStatus_t CUDNNWINAPI cudnnSpatialTfSamplerForward(cudnnHandle_t handle, cudnnSpatialTransformerDescriptor_t stDesc,
                                                       const void *alpha, const cudnnTensorDescriptor_t xDesc, const void *x,
                                                       const void *grid, const void *beta, cudnnTensorDescriptor_t yDesc, void *y)
{
    dn_call_begin("cudnnSpatialTfSamplerForward");
    dn_opcall c;
    const dn_st_desc *d = begin(&c, handle, stDesc, DN_OP_ST_SAMPLER, DN_DIR_FWD);
    dn_opcall_tensor(&c, DN_X, xDesc, x, "x", true);
    dn_opcall_tensor(&c, DN_Y, yDesc, y, "y", true);
    check_output(&c, DN_Y, d, "yDesc");
    grid_of(&c, DN_B, d, grid, "grid");
    dn_opcall_factors(&c, DN_Y, alpha, beta);
    if (c.st == DN_SUCCESS && (y == x || y == grid))
        c.p.flags |= DN_F_IN_PLACE;
    return dn_opcall_run(&c, dn_st_sampler_check);
}

cudnnStatus_t CUDNNWINAPI cudnnSpatialTfSamplerBackward(cudnnHandle_t handle, cudnnSpatialTransformerDescriptor_t stDesc,
                                                        const void *alpha, const cudnnTensorDescriptor_t xDesc, const void *x,
                                                        const void *beta, const cudnnTensorDescriptor_t dxDesc, void *dx,
                                                        const void *alphaDgrid, const cudnnTensorDescriptor_t dyDesc, const void *dy,
                                                        const void *grid, const void *betaDgrid, void *dgrid)
{
    dn_call_begin("cudnnSpatialTfSamplerBackward");
    dn_opcall c;
    const dn_st_desc *d = begin(&c, handle, stDesc, DN_OP_ST_SAMPLER, DN_DIR_BWD);
    dn_opcall_tensor(&c, DN_X, xDesc, x, "x", true);
    dn_opcall_tensor(&c, DN_DX, dxDesc, dx, "dx", true);
    dn_opcall_tensor(&c, DN_DY, dyDesc, dy, "dy", true);
    check_output(&c, DN_DY, d, "dyDesc");
    grid_of(&c, DN_B, d, grid, "grid");
    grid_of(&c, DN_DZ, d, dgrid, "dgrid");
    dn_opcall_factors(&c, DN_DX, alpha, beta);
    if (c.st == DN_SUCCESS)
        c.st = dn_scalar(alphaDgrid, (dn_dtype)d->type, "alphaDgrid", &c.a.alpha2);
    if (c.st == DN_SUCCESS)
        c.st = dn_scalar(betaDgrid, (dn_dtype)d->type, "betaDgrid", &c.a.beta2);
    if (c.st == DN_SUCCESS && c.a.beta2 != 0)
        c.p.flags &= (uint16_t)~DN_F_BETA_ZERO;
    if (c.st == DN_SUCCESS && (dx == x || dx == dy || dx == grid || dgrid == grid || dgrid == x || dgrid == dy || dgrid == dx))
        c.p.flags |= DN_F_IN_PLACE;
    return dn_opcall_run(&c, dn_st_sampler_check);
}
