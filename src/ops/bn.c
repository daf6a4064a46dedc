/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation: y = act(scale * (x - mean) / sqrt(var + eps) + bias + z). Tensors: infer and train X Y W (Z), bwd X DY DX
 * W (DZ), where W describes all parameter arrays; Z and DZ are there for the operations that add, act is applied where ops says.
 * Statistics are taken over n and the spatial dimensions (spatial modes) or over n alone.
 *
 * Training with an activation keeps one byte per element of x in the reserve space, 1 where the gradient goes through. That says
 * all about ReLU and clipped ReLU whatever alpha, beta and the type of y; other activations have inference only. */
#include "ops/bn.h"

#include "ops/like.h"

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

static int64_t magnitude(int64_t v)
{
    return v < 0 ? -v : v;
}

void dn_bn_mask(const dn_tensor *x, dn_tensor *out)
{
    int order[DN_RANK_MAX];
    for (int d = 0; d < x->rank; d++) {
        int k = d;
        for (; k > 0 && magnitude(x->strides[order[k - 1]]) < magnitude(x->strides[d]); k--)
            order[k] = order[k - 1];
        order[k] = d;
    }
    *out = *x;
    out->type = DN_U8;
    int64_t step = 1;
    for (int k = x->rank - 1; k >= 0; k--) {
        out->strides[order[k]] = step;
        step *= x->dims[order[k]];
    }
}

size_t dn_bn_reserve_size(const dn_problem *p)
{
    return p->u.bn.ops && p->dir != DN_DIR_INFER ? (size_t)dn_tensor_count(&p->t[DN_X]) : 0;
}

dn_tensor dn_bn_part(const dn_tensor *t, int mode, bool kept)
{
    dn_tensor v = *t;
    v.rank = 0;
    for (int d = 0; d < t->rank; d++) {
        bool keep = d == 1 || (d > 1 && mode == DN_BN_PER_ACTIVATION);
        if (keep != kept)
            continue;
        v.dims[v.rank] = t->dims[d];
        v.strides[v.rank++] = t->strides[d];
    }
    return v;
}

dn_status dn_bn_check_param(const dn_tensor *x, const dn_tensor *w, int mode, const char *name)
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

static dn_status check_act(const dn_problem *p)
{
    int mode = p->u.bn.act.mode;
    if (!p->u.bn.ops)
        return DN_SUCCESS;
    if (mode < 0 || mode >= DN_ACT_COUNT)
        return dn_fail(DN_BAD_PARAM, "activation mode is %d; it must be 0 to %d", mode, DN_ACT_COUNT - 1);
    if (p->dir != DN_DIR_INFER && mode != DN_ACT_RELU && mode != DN_ACT_CLIPPED_RELU)
        return dn_fail(DN_NOT_SUPPORTED, "activation mode is %d; in training it must be 1 (RELU) or 3 (CLIPPED_RELU), for which the"
                       " reserve space holds what the gradient needs", mode);
    return DN_SUCCESS;
}

/* Tensors that must be of x's dims and type. */
static dn_status check_data(const dn_problem *p)
{
    static const dn_role fwd[] = { DN_Y, DN_Z }, bwd[] = { DN_DY, DN_DX, DN_DZ };
    bool back = p->dir == DN_DIR_BWD;
    int count = (back ? 2 : 1) + (p->u.bn.ops == 2);
    dn_status st = DN_SUCCESS;
    for (int i = 0; i < count && st == DN_SUCCESS; i++)
        st = dn_problem_like(p, back ? bwd[i] : fwd[i], DN_X, DN_BAD_PARAM);
    return st;
}

dn_status dn_bn_check(const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X];
    bool bwd = p->dir == DN_DIR_BWD;
    dn_status st = check_mode(p);
    if (st == DN_SUCCESS)
        st = check_act(p);
    if (st != DN_SUCCESS)
        return st;
    if (x->rank < 3)
        return dn_fail(DN_BAD_PARAM, "xDesc has %d dimensions; it must have 3 to %d", x->rank, DN_RANK_MAX);
    st = check_data(p);
    if (st != DN_SUCCESS)
        return st;
    if (x->type != DN_F32 && x->type != DN_F64 && x->type != DN_F16 && x->type != DN_BF16)
        return dn_fail(DN_NOT_SUPPORTED, "xDesc has type %s; it must be f32, f64, f16 or bf16", dn_dtype_name(x->type));
    if (!bwd && (st = dn_problem_in_place(p, DN_Y, DN_X)) != DN_SUCCESS)
        return st;
    return dn_bn_check_param(x, &p->t[DN_W], p->u.bn.mode, bwd ? "dBnScaleBiasDesc" : "bnScaleBiasMeanVarDesc");
}
