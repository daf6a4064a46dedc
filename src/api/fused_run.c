/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Executing plans of fused operations. */
#include "fused.h"

#include <string.h>

static dn_status check_pointers(const dn_fused_plan *p, const dn_fused_variant *v)
{
    for (int i = 0; i < DN_FUSED_POINTERS; i++) {
        uintptr_t at = (uintptr_t)v->ptr[i];
        bool used = (p->needed | p->optional) >> i & 1;
        if ((p->needed >> i & 1) && !at)
            return dn_fail(DN_BAD_PARAM, "%s is NULL; this plan needs it", dn_fused_pointer_name(i));
        if (used && (p->wide >> i & 1) && at % 16)
            return dn_fail(DN_BAD_PARAM, "%s is %p; its placeholder promised a multiple of 16", dn_fused_pointer_name(i), v->ptr[i]);
        if (used && p->bytes[i] && at % p->bytes[i])
            return dn_fail(DN_BAD_PARAM, "%s is %p; it must be a multiple of its elements' size, %d", dn_fused_pointer_name(i), v->ptr[i],
                           p->bytes[i]);
    }
    return DN_SUCCESS;
}

static dn_status check_workspace(const dn_fused_plan *p, const dn_fused_variant *v)
{
    if (v->workspace_size < p->workspace)
        return dn_fail(DN_BAD_PARAM, "CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES is %zu; this plan needs %zu", v->workspace_size,
                       p->workspace);
    if (p->workspace && !v->ptr[CUDNN_PTR_WORKSPACE])
        return dn_fail(DN_BAD_PARAM, "CUDNN_PTR_WORKSPACE is NULL; this plan needs %zu bytes there", p->workspace);
    return DN_SUCCESS;
}

static dn_status check_scalars(const dn_fused_plan *p, const dn_fused_variant *v)
{
    bool train = p->ops == CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING;
    if (!(v->eps >= CUDNN_BN_MIN_EPSILON))
        return dn_fail(DN_BAD_PARAM, "CUDNN_SCALAR_DOUBLE_BN_EPSILON is %g; it must be CUDNN_BN_MIN_EPSILON = %g or more", v->eps,
                       (double)CUDNN_BN_MIN_EPSILON);
    if (train && v->count < 1)
        return dn_fail(DN_BAD_PARAM, "CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT is %lld; it must be 1 or more", (long long)v->count);
    return DN_SUCCESS;
}

static void *find(const dn_fused_plan *p, const dn_fused_variant *v, uint8_t from)
{
    if (from == DN_FROM_NONE)
        return NULL;
    if (from < DN_FROM_WORKSPACE)
        return v->ptr[from - DN_FROM_POINTER];
    return (char *)v->ptr[CUDNN_PTR_WORKSPACE] + p->part[from - DN_FROM_WORKSPACE];
}

/* The pointers of a step, and the alignment that they share. W describes arrays unless it is a tensor of its own. */
static void bind(const dn_fused_plan *plan, const dn_fused_variant *v, const dn_fused_step *s, dn_problem *p, dn_args *a)
{
    uintptr_t arrays = 16;
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        if (!s->role[r])
            continue;
        a->ptr[r] = find(plan, v, s->role[r]);
        uintptr_t bits = (uintptr_t)a->ptr[r] | 16;
        p->align[r] = (uint8_t)(bits & -bits);
    }
    for (int x = 0; x < DN_AUX_COUNT; x++) {
        a->aux[x] = find(plan, v, s->aux[x]);
        arrays |= (uintptr_t)a->aux[x];
    }
    if (p->t[DN_W].rank && !s->role[DN_W])
        p->align[DN_W] = (uint8_t)(arrays & -arrays);
}

static bool is_output(const dn_problem *p, int r)
{
    if (p->op == DN_OP_CONV)
        return r == (p->dir == DN_DIR_FWD ? DN_Y : DN_W);
    return r == DN_Y || r == DN_DX || (p->op == DN_OP_SBA && p->dir == DN_DIR_FWD && r == DN_B);
}

/* An output over an input: elementwise, and of equal layout, or not at all. */
static dn_status check_overlay(dn_problem *p, const dn_args *a)
{
    for (int out = 0; out < DN_ROLE_COUNT; out++)
        for (int in = 0; in < DN_ROLE_COUNT; in++) {
            if (in == out || !is_output(p, out) || !a->ptr[out] || a->ptr[in] != a->ptr[out])
                continue;
            if (p->op == DN_OP_CONV || in == DN_B || out == DN_B)
                return dn_fail(DN_BAD_PARAM, "a result lies over an input that is read after it; it must have memory of its own");
            if (p->t[in].type != p->t[out].type || !dn_tensor_same_layout(&p->t[in], &p->t[out]))
                return dn_fail(DN_BAD_PARAM, "a result lies over an input, and their types or strides differ; in place they must be equal");
            p->flags |= DN_F_IN_PLACE;
        }
    return DN_SUCCESS;
}

static dn_status run_step(dn_handle *h, const dn_fused_plan *plan, const dn_fused_variant *v, const dn_fused_step *s)
{
    dn_problem p = s->p;
    dn_args a;
    memset(&a, 0, sizeof a);
    a.alpha = a.alpha2 = 1;
    a.eps = v->eps;
    a.factor = v->factor;
    a.count = v->count;
    bind(plan, v, s, &p, &a);
    size_t used = plan->part[plan->parts];
    if (v->ptr[CUDNN_PTR_WORKSPACE]) {
        a.workspace = (char *)v->ptr[CUDNN_PTR_WORKSPACE] + used;
        a.workspace_size = v->workspace_size - used;
    }
    dn_status st = check_overlay(&p, &a);
    return st == DN_SUCCESS ? dn_run(h, &p, &a) : st;
}

/* dz is written before x is read and dx written. */
static dn_status check_fork(const dn_fused_plan *p, const dn_fused_variant *v)
{
    const void *dz = v->ptr[CUDNN_PTR_DZDATA];
    if (!(p->needed >> CUDNN_PTR_DZDATA & 1))
        return DN_SUCCESS;
    if (dz == v->ptr[CUDNN_PTR_DXDATA])
        return dn_fail(DN_BAD_PARAM, "CUDNN_PTR_DXDATA and CUDNN_PTR_DZDATA are the same memory; they are two results");
    if (dz == v->ptr[CUDNN_PTR_XDATA])
        return dn_fail(DN_BAD_PARAM, "CUDNN_PTR_XDATA and CUDNN_PTR_DZDATA are the same memory; x is read after dz is written");
    return DN_SUCCESS;
}

dn_status dn_fused_execute(dn_handle *h, const dn_fused_plan *plan, const dn_fused_variant *v)
{
    dn_status st = check_pointers(plan, v);
    if (st == DN_SUCCESS)
        st = check_workspace(plan, v);
    if (st == DN_SUCCESS)
        st = check_scalars(plan, v);
    if (st == DN_SUCCESS)
        st = check_fork(plan, v);
    for (int i = 0; i < plan->steps && st == DN_SUCCESS; i++)
        st = run_step(h, plan, v, &plan->step[i]);
    return st;
}
