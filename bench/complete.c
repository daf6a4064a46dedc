/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Tensors that follow from others, so that lines stay short. A derived tensor has the layout of the one it follows: NHWC where
 * that is packed with the channel innermost, else packed in dimension order. */
#include "attn.h"
#include "case.h"

#include "ops/bn.h"
#include "ops/fused.h"
#include "ops/rnn.h"
#include "ops/transform.h"

#include <string.h>

static void put(dn_problem *p, dn_role role, const dn_tensor *like, const int64_t *dims, int type)
{
    dn_tensor *t = &p->t[role];
    if (t->rank || !like->rank)
        return;
    memset(t, 0, sizeof *t);
    t->type = (uint8_t)type;
    t->rank = like->rank;
    t->vect = (uint8_t)dn_dtype_vector((dn_dtype)type);
    t->vect_dim = t->vect > 1;
    memcpy(t->dims, dims, sizeof t->dims);
    if (!dn_tensor_is_packed(like) && dn_tensor_is_packed_nhwc(like))
        dn_tensor_pack_nhwc(t);
    else
        dn_tensor_pack(t);
    p->align[role] = 16;
}

/* Same dims, type and strides. */
static void copy(dn_problem *p, dn_role role, dn_role like)
{
    if (p->t[role].rank || !p->t[like].rank)
        return;
    p->t[role] = p->t[like];
    p->align[role] = 16;
}

static void conv_output(dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W];
    const dn_conv_param *u = &p->u.conv;
    int64_t dims[DN_RANK_MAX] = { x->dims[0], w->dims[0] };
    if (!x->rank || x->rank != w->rank || u->spatial != x->rank - 2)
        return;
    for (int i = 0; i < u->spatial; i++)
        if (u->stride[i] < 1 || (dims[2 + i] = dn_conv_out_dim(x->dims[2 + i], w->dims[2 + i], u->pad[i], u->stride[i],
                                                               u->dilation[i])) < 1)
            return;
    put(p, DN_Y, x, dims, x->type);
}

static void conv(dn_problem *p)
{
    const dn_tensor *y = &p->t[DN_Y];
    dn_dtype x = dn_dtype_scalar((dn_dtype)p->t[p->dir == DN_DIR_BWD_BIAS ? DN_Y : DN_X].type);
    conv_output(p);
    if (p->compute == DN_F32 && x == DN_F64)
        p->compute = DN_F64;
    if (p->compute == DN_F32 && (x == DN_I8 || x == DN_U8))
        p->compute = DN_I32;
    if (p->op == DN_OP_CONV && p->dir != DN_DIR_BWD_BIAS)
        return;
    int64_t dims[DN_RANK_MAX] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    dims[1] = y->dims[1];
    if (y->rank)
        put(p, DN_B, y, dims, dn_dtype_is_float((dn_dtype)y->type) ? y->type : DN_F32);
}

static void pool(dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X];
    const dn_pool_param *u = &p->u.pool;
    int64_t dims[DN_RANK_MAX] = { x->dims[0], x->dims[1] };
    for (int i = 0; i < u->spatial; i++)
        if (u->stride[i] < 1 || (dims[2 + i] = dn_conv_out_dim(x->dims[2 + i], u->window[i], u->pad[i], u->stride[i], 1)) < 1)
            return;
    put(p, DN_Y, x, dims, x->type);
}

static void params(dn_problem *p, int mode)
{
    if (!p->t[DN_W].rank && p->t[DN_X].rank) {
        dn_bn_derive(&p->t[DN_X], mode, &p->t[DN_W]);
        p->align[DN_W] = 16;
    }
}

/* (c window) x (n out space). */
static void im2col(dn_problem *p)
{
    dn_problem q = *p;
    memset(&q.t[DN_Y], 0, sizeof q.t[DN_Y]);
    conv_output(&q);
    dn_tensor *y = &p->t[DN_Y];
    const dn_tensor *out = &q.t[DN_Y];
    if (y->rank || !out->rank)
        return;
    *y = (dn_tensor){ .type = p->t[DN_X].type, .rank = 2, .vect = 1 };
    y->dims[0] = p->t[DN_X].dims[1];
    y->dims[1] = out->dims[0];
    for (int d = 2; d < out->rank; d++) {
        y->dims[0] *= p->t[DN_W].dims[d];
        y->dims[1] *= out->dims[d];
    }
    dn_tensor_pack(y);
    p->align[DN_Y] = 16;
}

static void transform_ex(dn_problem *p)
{
    dn_tensor y = { 0 };
    if (dn_transform_dims(&p->u.transform, &p->t[DN_X], &y) == DN_SUCCESS)
        put(p, DN_Y, &p->t[DN_X], y.dims, p->t[DN_X].type);
}

static void fused(dn_problem *p)
{
    if (p->op == DN_OP_STATS || dn_sba_has_arrays(&p->u.fused))
        params(p, DN_BN_SPATIAL);
    if (p->op == DN_OP_SBA)
        copy(p, p->dir == DN_DIR_FWD ? DN_Y : DN_DX, p->dir == DN_DIR_FWD ? DN_X : DN_DY);
}

static void rnn(dn_problem *p)
{
    const dn_tensor *x = dn_rnn_input(p);
    const dn_rnn_param *u = &p->u.rnn;
    int64_t count = u->hidden > 0 && u->layers > 0 ? dn_rnn_weight_count(u) : -1;
    if (p->dir == DN_DIR_BWD_DATA && !p->t[DN_DX].rank)
        copy(p, DN_DX, DN_X);
    if (x->rank != 3 || count < 1)
        return;
    for (int r = DN_Y; r <= DN_DY; r += DN_DY - DN_Y)
        if (!p->t[r].rank && (r == DN_Y || p->dir == DN_DIR_BWD_DATA)) {
            dn_rnn_sequence(&p->t[r], (dn_dtype)x->type, u->layout, x->dims[0], x->dims[1], (int64_t)dn_rnn_directions(u) * u->proj);
            p->align[r] = 16;
        }
    if (!p->t[DN_W].rank) {
        p->t[DN_W] = (dn_tensor){ .type = x->type, .rank = 1, .vect = 1, .dims = { count }, .strides = { 1 } };
        p->align[DN_W] = 16;
    }
    if (x->type == DN_F64)
        p->compute = DN_F64;
}

void bench_complete(dn_problem *p)
{
    bool bwd = p->dir == DN_DIR_BWD_DATA || p->dir == DN_DIR_BWD;
    if (p->op != DN_OP_CONV && p->op != DN_OP_CONV_BIAS_ACT && p->compute == DN_F32 &&
        (p->t[DN_X].type == DN_F64 || p->t[DN_Y].type == DN_F64))
        p->compute = DN_F64;
    switch (p->op) {
    case DN_OP_CONV: case DN_OP_CONV_BIAS_ACT:
        conv(p);
        return;
    case DN_OP_POOL:
        pool(p);
        break;
    case DN_OP_BN:
        params(p, p->u.bn.mode);
        if (bwd)
            copy(p, DN_DY, DN_X);
        else
            copy(p, DN_Y, DN_X);
        break;
    case DN_OP_IM2COL:
        im2col(p);
        return;
    case DN_OP_TRANSFORM_EX:
        transform_ex(p);
        return;
    case DN_OP_RNN:
        rnn(p);
        return;
    case DN_OP_ATTN:
        bench_attn_complete(p);
        return;
    case DN_OP_SBA: case DN_OP_STATS:
        fused(p);
        return;
    case DN_OP_CTC: case DN_OP_REDUCE: case DN_OP_ST_GRID: case DN_OP_ST_SAMPLER: case DN_OP_BN_FINAL:
        return;
    case DN_OP_DIVNORM:
        copy(p, DN_B, DN_X);
        if (!bwd)
            copy(p, DN_Y, DN_X);
        else
            copy(p, DN_DY, DN_X);
        break;
    default:
        if (p->op != DN_OP_DROPOUT || !bwd)
            copy(p, DN_Y, DN_X);
        break;
    }
    if (!bwd)
        return;
    copy(p, DN_DY, p->op == DN_OP_DROPOUT ? DN_DX : DN_Y);
    copy(p, DN_DX, p->t[DN_X].rank ? DN_X : DN_DY);
}
