/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Shape rules of the fused operations' own steps (fused.h). */
#include "ops/fused.h"

#include "ops/bn.h"
#include "ops/like.h"

int64_t dn_fused_places(const dn_tensor *t)
{
    return dn_tensor_count(t) / t->dims[1];
}

int64_t dn_mask_pairs(const dn_tensor *t)
{
    return (dn_fused_places(t) + 31) / 32 * 16;
}

int64_t dn_mask_slabs(const dn_tensor *t)
{
    return (t->dims[1] + DN_MASK_SLAB - 1) / DN_MASK_SLAB;
}

int dn_fused_mode(const dn_tensor *w)
{
    for (int d = 2; d < w->rank; d++)
        if (w->dims[d] > 1)
            return DN_BN_PER_ACTIVATION;
    return DN_BN_SPATIAL;
}

bool dn_sba_has_arrays(const dn_fused_param *u)
{
    return u->scale || u->bias || u->scale2 || u->bias2;
}

bool dn_fused_has(const dn_problem *p, dn_aux which)
{
    const dn_fused_param *u = &p->u.fused;
    bool train = p->op == DN_OP_BN_FINAL && p->dir == DN_DIR_TRAIN;
    switch (which) {
    case DN_AUX_SCALE: return u->scale;
    case DN_AUX_BIAS: return u->bias;
    case DN_AUX_SCALE2: return u->scale2;
    case DN_AUX_BIAS2: return u->bias2;
    case DN_AUX_SUM: return train || u->sum;
    case DN_AUX_SQSUM: return train || u->sqsum;
    case DN_AUX_MEAN: case DN_AUX_VAR: return p->op == DN_OP_BN_FINAL && (!train || u->running);
    case DN_AUX_SAVE_MEAN: case DN_AUX_SAVE_INVSTD: return train && u->saved;
    default: return false;
    }
}

static const char *const names[DN_ROLE_COUNT] = { "x", "y", "w", "z", "b", "dx", "dy", "dz" };

static dn_status check_float(const dn_problem *p, dn_role r)
{
    dn_dtype t = (dn_dtype)p->t[r].type;
    if (t == DN_F32 || t == DN_F64 || t == DN_F16 || t == DN_BF16)
        return DN_SUCCESS;
    return dn_fail(DN_NOT_SUPPORTED, "%sDesc has type %s; it must be f32, f64, f16 or bf16", names[r], dn_dtype_name(t));
}

/* Statistics are not kept in 16 bits. */
static dn_status check_wide(const dn_problem *p, dn_role r)
{
    dn_dtype t = (dn_dtype)p->t[r].type;
    if (t == DN_F32 || t == DN_F64)
        return DN_SUCCESS;
    return dn_fail(DN_NOT_SUPPORTED, "%sDesc has type %s; statistics are f32 or f64", names[r], dn_dtype_name(t));
}

static dn_status check_dims(const dn_problem *p, dn_role r, dn_role like)
{
    const dn_tensor *t = &p->t[r], *x = &p->t[like];
    if (dn_tensor_same_dims(t, x))
        return check_float(p, r);
    return dn_fail(DN_BAD_PARAM, "%sDesc has other dimensions than %sDesc; they must be equal", names[r], names[like]);
}

static dn_status check_rank(const dn_problem *p, dn_role r)
{
    if (p->t[r].rank < 3)
        return dn_fail(DN_BAD_PARAM, "%sDesc has %d dimensions; it must have 3 to %d", names[r], p->t[r].rank, DN_RANK_MAX);
    return check_float(p, r);
}

static dn_status check_mask(const dn_tensor *b, const dn_tensor *x)
{
    int64_t words = DN_MASK_WORDS * dn_mask_pairs(x) * dn_mask_slabs(x);
    if (b->type != DN_I32)
        return dn_fail(DN_BAD_PARAM, "the bit mask has type %s; it must be i32", dn_dtype_name((dn_dtype)b->type));
    if (b->rank < 1 || dn_tensor_count(b) < words)
        return dn_fail(DN_BAD_PARAM, "the bit mask has %lld words; it must have %lld at least: 2 for a place and 64 channels, the places"
                       " rounded up to 32", (long long)(b->rank ? dn_tensor_count(b) : 0), (long long)words);
    if (!dn_tensor_is_packed(b) && !dn_tensor_is_packed_nhwc(b))
        return dn_fail(DN_BAD_PARAM, "the bit mask's words do not lie one after another; they must");
    return DN_SUCCESS;
}

/* W's dimensions are X's or 1. */
static dn_status check_arrays(const dn_problem *p)
{
    const dn_tensor *w = &p->t[DN_W], *x = &p->t[DN_X];
    if (w->rank != x->rank)
        return dn_fail(DN_BAD_PARAM, "the scale and bias have %d dimensions, xDesc has %d; they must be equal", w->rank, x->rank);
    for (int d = 0; d < x->rank; d++)
        if (w->dims[d] != x->dims[d] && w->dims[d] != 1)
            return dn_fail(DN_BAD_PARAM, "dimension %d of the scale and bias is %lld; it must be %lld or 1", d, (long long)w->dims[d],
                           (long long)x->dims[d]);
    return check_float(p, DN_W);
}

static dn_status check_act(const dn_problem *p)
{
    int mode = p->u.fused.act.mode;
    if (mode < 0 || mode >= DN_ACT_COUNT)
        return dn_fail(DN_BAD_PARAM, "activation mode is %d; it must be 0 to %d", mode, DN_ACT_COUNT - 1);
    if (p->t[DN_B].rank && mode != DN_ACT_RELU && mode != DN_ACT_CLIPPED_RELU && mode != DN_ACT_IDENTITY)
        return dn_fail(DN_NOT_SUPPORTED, "activation mode is %d; with a bit mask it must be 1 (RELU), 3 (CLIPPED_RELU) or 5 (IDENTITY),"
                       " whose gradient is 0 or 1", mode);
    return DN_SUCCESS;
}

static dn_status check_backward(const dn_problem *p)
{
    dn_status st = check_rank(p, DN_DY);
    if (st == DN_SUCCESS)
        st = dn_problem_like(p, DN_DX, DN_DY, DN_BAD_PARAM);
    if (st == DN_SUCCESS)
        st = check_mask(&p->t[DN_B], &p->t[DN_DY]);
    return st == DN_SUCCESS ? dn_problem_in_place(p, DN_DX, DN_DY) : st;
}

dn_status dn_sba_check(const dn_problem *p)
{
    dn_status st;
    if (p->dir == DN_DIR_BWD_DATA)
        return check_backward(p);
    if (p->dir != DN_DIR_FWD)
        return dn_fail(DN_BAD_PARAM, "direction is %s; it must be fwd or bwd_data", dn_dir_name((dn_dir)p->dir));
    if ((st = check_rank(p, DN_X)) || (st = check_dims(p, DN_Y, DN_X)) || (st = check_act(p)))
        return st;
    if (p->t[DN_Z].rank && (st = check_dims(p, DN_Z, DN_X)))
        return st;
    if (dn_sba_has_arrays(&p->u.fused) && (st = check_arrays(p)))
        return st;
    if (p->u.fused.scale2 && !p->t[DN_Z].rank)
        return dn_fail(DN_BAD_PARAM, "there is a scale for z and no z");
    if (p->t[DN_B].rank && (st = check_mask(&p->t[DN_B], &p->t[DN_X])))
        return st;
    if ((p->flags & DN_F_IN_PLACE) && p->t[DN_Y].type != p->t[DN_X].type)
        return dn_fail(DN_BAD_PARAM, "y is written over x, and their types differ");
    return dn_problem_in_place(p, DN_Y, DN_X);
}

dn_status dn_stats_check(const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W];
    dn_status st = check_rank(p, DN_X);
    if (st != DN_SUCCESS)
        return st;
    if (p->dir != DN_DIR_FWD)
        return dn_fail(DN_BAD_PARAM, "direction is %s; it must be fwd", dn_dir_name((dn_dir)p->dir));
    if (w->rank != x->rank)
        return dn_fail(DN_BAD_PARAM, "the statistics have %d dimensions, xDesc has %d; they must be equal", w->rank, x->rank);
    int mode = dn_fused_mode(w);
    for (int d = 0; d < x->rank; d++) {
        int64_t want = d == 1 || (d > 1 && mode == DN_BN_PER_ACTIVATION) ? x->dims[d] : 1;
        if (w->dims[d] != want)
            return dn_fail(DN_BAD_PARAM, "dimension %d of the statistics is %lld; it must be %lld", d, (long long)w->dims[d],
                           (long long)want);
    }
    return check_wide(p, DN_W);
}

dn_status dn_bn_final_check(const dn_problem *p)
{
    const dn_tensor *w = &p->t[DN_W], *b = &p->t[DN_B];
    if (p->dir != DN_DIR_TRAIN && p->dir != DN_DIR_INFER)
        return dn_fail(DN_BAD_PARAM, "direction is %s; it must be train or infer", dn_dir_name((dn_dir)p->dir));
    if (w->rank < 1)
        return dn_fail(DN_BAD_PARAM, "the statistics are not described");
    if (p->u.fused.scale2 || p->u.fused.bias2) {
        if (!dn_tensor_same_dims(w, b))
            return dn_fail(DN_BAD_PARAM, "the equivalent scale and bias have other dimensions than the statistics; they must be equal");
        if (check_float(p, DN_B) != DN_SUCCESS)
            return DN_NOT_SUPPORTED;
    }
    return check_wide(p, DN_W);
}
