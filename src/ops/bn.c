/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation: y = scale * (x - mean) / sqrt(var + eps) + bias. Tensors: infer and train X Y W, bwd X DY DX W, where W
 * describes all parameter arrays. Statistics are taken over n and the spatial dimensions (spatial modes) or over n alone. */
#include "ops/bn.h"

#include <string.h>

dn_dtype dn_bn_param_type(dn_dtype data)
{
    switch (data) {
    case DN_F16: case DN_BF16: case DN_F8E4M3: case DN_F8E5M2: case DN_I8: case DN_I8X4: case DN_I8X32: case DN_U8X4:
        return DN_F32;
    default:
        return data;
    }
}

void dn_bn_derive(const dn_tensor *x, int mode, dn_tensor *out)
{
    dn_tensor t;
    memset(&t, 0, sizeof t);
    t.type = (uint8_t)dn_bn_param_type((dn_dtype)x->type);
    t.rank = x->rank;
    t.vect = 1;
    t.vect_dim = 1;
    for (int d = 0; d < x->rank; d++)
        t.dims[d] = d == 1 || (d > 1 && mode == DN_BN_PER_ACTIVATION) ? x->dims[d] : 1;
    dn_tensor_pack(&t);  /* no overflow: at most as many elements as x */
    *out = t;
}

/* BAD_PARAM where t is not of x's dims and type. */
static dn_status check_like_x(const dn_tensor *x, const dn_tensor *t, const char *name)
{
    if (t->rank != x->rank)
        return dn_fail(DN_BAD_PARAM, "%s has %d dimensions, xDesc has %d; they must be equal", name, t->rank, x->rank);
    for (int d = 0; d < x->rank; d++)
        if (t->dims[d] != x->dims[d])
            return dn_fail(DN_BAD_PARAM, "dimension %d of %s is %lld, of xDesc %lld; they must be equal", d, name,
                           (long long)t->dims[d], (long long)x->dims[d]);
    if (t->type != x->type)
        return dn_fail(DN_BAD_PARAM, "%s has type %s, xDesc has %s; they must be equal", name, dn_dtype_name(t->type),
                       dn_dtype_name(x->type));
    return DN_SUCCESS;
}

static dn_status check_param(const dn_tensor *x, const dn_tensor *w, int mode, const char *name)
{
    dn_tensor want;
    dn_bn_derive(x, mode, &want);
    if (w->rank != want.rank)
        return dn_fail(DN_BAD_PARAM, "%s has %d dimensions, xDesc has %d; they must be equal", name, w->rank, want.rank);
    for (int d = 0; d < want.rank; d++)
        if (w->dims[d] != want.dims[d])
            return dn_fail(DN_BAD_PARAM, "dimension %d of %s is %lld; for mode %s and this xDesc it must be %lld", d, name,
                           (long long)w->dims[d], mode == DN_BN_PER_ACTIVATION ? "PER_ACTIVATION" : "SPATIAL",
                           (long long)want.dims[d]);
    if (w->type != want.type)
        return dn_fail(DN_BAD_PARAM, "%s has type %s; for xDesc of type %s it must be %s", name, dn_dtype_name(w->type),
                       dn_dtype_name(x->type), dn_dtype_name(want.type));
    return DN_SUCCESS;
}

static dn_status check_mode(const dn_problem *p)
{
    const dn_bn_param *bn = &p->u.bn;
    if (bn->mode < 0 || bn->mode >= DN_BN_MODE_COUNT)
        return dn_fail(DN_BAD_PARAM, "mode is %d; it must be 0 (PER_ACTIVATION), 1 (SPATIAL) or 2 (SPATIAL_PERSISTENT)",
                       bn->mode);
    if (bn->ops < 0 || bn->ops > 2)
        return dn_fail(DN_BAD_PARAM, "bnOps is %d; it must be 0 (BN), 1 (BN_ACTIVATION) or 2 (BN_ADD_ACTIVATION)", bn->ops);
    if (p->dir != DN_DIR_INFER && p->dir != DN_DIR_TRAIN && p->dir != DN_DIR_BWD)
        return dn_fail(DN_BAD_PARAM, "direction is %s; batch normalisation has infer, train and bwd", dn_dir_name(p->dir));
    return DN_SUCCESS;
}

dn_status dn_bn_check(const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X];
    dn_status st = check_mode(p);
    if (st != DN_SUCCESS)
        return st;
    if (x->rank < 3)
        return dn_fail(DN_BAD_PARAM, "xDesc has %d dimensions; it must have 3 to %d", x->rank, DN_RANK_MAX);
    bool bwd = p->dir == DN_DIR_BWD;
    if (bwd)
        st = check_like_x(x, &p->t[DN_DY], "dyDesc");
    if (st == DN_SUCCESS)
        st = check_like_x(x, &p->t[bwd ? DN_DX : DN_Y], bwd ? "dxDesc" : "yDesc");
    if (st != DN_SUCCESS)
        return st;
    if (x->type != DN_F32 && x->type != DN_F64 && x->type != DN_F16 && x->type != DN_BF16)
        return dn_fail(DN_NOT_SUPPORTED, "xDesc has type %s; it must be f32, f64, f16 or bf16", dn_dtype_name(x->type));
    if (!bwd && (p->flags & DN_F_IN_PLACE) && !dn_tensor_same_layout(x, &p->t[DN_Y]))
        return dn_fail(DN_BAD_PARAM, "y is written over x, and their strides differ; in place they must be equal");
    return check_param(x, &p->t[DN_W], p->u.bn.mode, bwd ? "dBnScaleBiasDesc" : "bnScaleBiasMeanVarDesc");
}
