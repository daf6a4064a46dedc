/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "opcall.h"

#include "ops/like.h"

#include <stdio.h>
#include <string.h>

void dn_opcall_begin(dn_opcall *c, cudnnHandle_t handle, dn_op op, dn_dir dir)
{
    memset(&c->a, 0, sizeof(c->a));
    dn_problem_init(&c->p, op, dir);
    c->h = dn_handle_of(handle);
    c->st = c->h ? DN_SUCCESS : DN_BAD_PARAM;
}

void dn_opcall_tensor(dn_opcall *c, dn_role role, const cudnnTensorDescriptor_t desc, const void *data, const char *name,
                      bool needed)
{
    char desc_name[16];
    if (c->st != DN_SUCCESS)
        return;
    snprintf(desc_name, sizeof(desc_name), "%sDesc", name);
    dn_opcall_operand(c, role, desc, desc_name, data, needed ? name : NULL);
}

void dn_opcall_operand(dn_opcall *c, dn_role role, const cudnnTensorDescriptor_t desc, const char *desc_name, const void *data,
                       const char *data_name)
{
    if (c->st != DN_SUCCESS)
        return;
    const dn_tensor *t = dn_tensor_of(desc, desc_name);
    c->st = !t ? DN_BAD_PARAM : data_name ? dn_want(data, data_name) : DN_SUCCESS;
    if (c->st == DN_SUCCESS)
        dn_bind(&c->p, &c->a, role, t, data);
}

void dn_opcall_factors(dn_opcall *c, dn_role like, const void *alpha, const void *beta)
{
    if (c->st != DN_SUCCESS)
        return;
    dn_dtype type = (dn_dtype)c->p.t[like].type;
    c->p.compute = (uint8_t)(type == DN_F64 ? DN_F64 : DN_F32);
    c->st = dn_scalar(alpha, type, "alpha", &c->a.alpha);
    if (c->st == DN_SUCCESS)
        c->st = dn_scalar(beta, type, "beta", &c->a.beta);
    if (c->st == DN_SUCCESS && c->a.beta == 0)
        c->p.flags |= DN_F_BETA_ZERO;
}

void dn_opcall_overlay(dn_opcall *c, dn_role out, dn_role in)
{
    if (c->st != DN_SUCCESS || c->a.ptr[out] != c->a.ptr[in])
        return;
    c->p.flags |= DN_F_IN_PLACE;
    c->st = dn_problem_in_place(&c->p, out, in);
}

cudnnStatus_t dn_opcall_run(dn_opcall *c, dn_status (*check)(const dn_problem *p))
{
    if (c->st == DN_SUCCESS)
        c->st = check(&c->p);
    return dn_answer(c->st == DN_SUCCESS ? dn_run(c->h, &c->p, &c->a) : c->st);
}
