/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution forward (with bias and activation too) of vectorised 8-bit tensors: vectors are taken apart into plain tensors, which
 * the plan owns, and the plain row of the same algorithm does the sums; int8 sums are exact in double. So is the filter and the bias
 * put back in order that cudnnReorderFilterAndBias laid out. Costs a copy of each vectorised tensor. */
#include "ref/conv.h"

#include <stdlib.h>
#include <string.h>

typedef struct vect_state {
    dn_plan *plain;
    unsigned char *memory;
    size_t at[DN_ROLE_COUNT];    /* of each tensor's plain copy */
    bool copied[DN_ROLE_COUNT];
} vect_state;

/* The problem on plain tensors, NCHW packed where they were vectorised. */
static void make_plain(const dn_problem *p, int algo, dn_problem *plain)
{
    *plain = *p;
    plain->u.conv.reordered = 0;
    plain->algo = (int16_t)algo;
    plain->flags &= (uint16_t)~DN_F_IN_PLACE;
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        dn_tensor *t = &plain->t[r];
        if (t->vect <= 1)
            continue;
        t->type = (uint8_t)dn_dtype_scalar((dn_dtype)t->type);
        t->vect = 1;
        t->vect_dim = 0;
        dn_tensor_pack(t);
    }
}

static const char *check(const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W];
    dn_problem plain;
    if (x->vect == 1 || w->vect != x->vect)
        return "needs x and w of vectorised types, INT8x4 or UINT8x4 with INT8x4, or INT8x32 with INT8x32";
    if (x->dims[1] % x->vect || w->dims[1] % w->vect)
        return "needs channels in whole vectors";
    if (p->u.conv.reordered && (w->type != DN_I8X32 || w->rank != 4 || w->dims[0] % 32 || !dn_tensor_is_packed(w)))
        return "needs a packed INT8x32 filter of rank 4 with outputs in multiples of 32, where it was reordered";
    make_plain(p, p->algo, &plain);
    return dn_ref_conv_check(&plain);
}

static const dn_solver *plain_row(const dn_solver *row)
{
    for (int i = 0; i < dn_ref_conv.count; i++)
        if (dn_ref_conv.rows[i].op == row->op && dn_ref_conv.rows[i].algo == row->algo)
            return &dn_ref_conv.rows[i];
    return NULL;
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    dn_problem plain;
    vect_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    make_plain(p, plan->solver->algo, &plain);
    size_t total = 0;
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        s->copied[r] = p->t[r].vect > 1 || (r == DN_B && p->t[r].rank && p->u.conv.reordered);
        s->at[r] = total;
        if (s->copied[r])
            total += (size_t)dn_round_up(dn_tensor_count(&p->t[r]) * (int64_t)dn_dtype_size((dn_dtype)p->t[r].type), DN_CONV_ALIGN);
    }
    s->memory = dn_aligned_alloc(total);
    if (!s->memory)
        return dn_fail(DN_ALLOC_FAILED, "no memory for %zu bytes of plain tensors", total);
    return dn_plan_make(h, plain_row(plan->solver), &plain, &s->plain);
}

static void release(dn_plan *plan)
{
    vect_state *s = plan->state;
    if (s && s->plain)
        dn_plan_free(s->plain);
    if (s)
        dn_aligned_free(s->memory);
    free(s);
    plan->state = NULL;
}

typedef struct copy_job {
    dn_dtype type;
    const void *from;
    void *to;
} copy_job;

static void copy_piece(void *ctx, const dn_piece *k)
{
    const copy_job *job = ctx;
    double v[DN_PIECE_MAX];
    dn_load_row(job->type, job->from, k->offset[1], k->stride[1], k->n, v);
    dn_store_row(job->type, job->to, k->offset[0], k->stride[0], k->n, v, 1, 0);
}

static void copy(const dn_tensor *from, const void *source, const dn_tensor *to, void *dest)
{
    const dn_tensor *const t[] = { to, from };
    copy_job job = { dn_dtype_scalar((dn_dtype)to->type), source, dest };
    dn_iter it;
    dn_iter_init_any_order(&it, 2, t);
    dn_iter_run(&it, copy_piece, &job);
}

/* The order is in src/api/im2col.c; here its dims, with the strides of the plain tensor. */
static void restore(int type, int rank, const int64_t *dims, const int64_t *strides, const void *from, void *to)
{
    dn_tensor plain = { .type = (uint8_t)type, .rank = (uint8_t)rank, .vect = 1 };
    for (int d = 0; d < rank; d++) {
        plain.dims[d] = dims[d];
        plain.strides[d] = strides[d];
    }
    dn_tensor packed = plain;
    dn_tensor_pack(&packed);
    copy(&packed, from, &plain, to);
}

static void restore_filter(const dn_tensor *w, const void *from, void *to)
{
    int64_t plane = w->dims[2] * w->dims[3], k = w->dims[1] * plane;
    const int64_t dims[] = { w->dims[1] / 32, w->dims[2], w->dims[3], w->dims[0] / 8, 2, 8, 4, 4 };
    const int64_t strides[] = { 32 * plane, w->dims[3], 1, 8 * k, k, 4 * plane, 2 * k, plane };
    restore(DN_I8, 8, dims, strides, from, to);
}

static void restore_bias(const dn_tensor *b, const void *from, void *to)
{
    const int64_t dims[] = { b->dims[1] / 32, 2, 4, 4 }, strides[] = { 32, 4, 8, 1 };
    restore(b->type, 4, dims, strides, from, to);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const vect_state *s = plan->state;
    const dn_problem *p = &plan->problem, *plain = &s->plain->problem;
    dn_args b = *a;
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        if (!s->copied[r])
            continue;
        b.ptr[r] = s->memory + s->at[r];
        if (r == DN_W && p->u.conv.reordered)
            restore_filter(&p->t[r], a->ptr[r], b.ptr[r]);
        else if (r == DN_B)
            restore_bias(&p->t[r], a->ptr[r], b.ptr[r]);
        else if ((r != DN_Y || a->beta != 0) && (r != DN_Z || a->alpha2 != 0))
            copy(&p->t[r], a->ptr[r], &plain->t[r], b.ptr[r]);
    }
    dn_status st = s->plain->solver->run(h, s->plain, &b);
    if (st == DN_SUCCESS && s->copied[DN_Y])
        copy(&plain->t[DN_Y], b.ptr[DN_Y], &p->t[DN_Y], a->ptr[DN_Y]);
    return st;
}

#define ROW(row_name, op_value, number) \
    .name = row_name, .op = op_value, .dir = DN_DIR_FWD, .algo = number, .flags = DN_SOLVER_PLAIN, .check = check, \
    .prepare = prepare, .run = run, .release = release

static const dn_solver rows[] = {
    {ROW("ref_conv_fwd_implicit_precomp_gemm_vect", DN_OP_CONV, 1)},
    {ROW("ref_conv_fwd_implicit_gemm_vect", DN_OP_CONV, 0)},
    {ROW("ref_convba_fwd_implicit_precomp_gemm_vect", DN_OP_CONV_BIAS_ACT, 1)},
    {ROW("ref_convba_fwd_implicit_gemm_vect", DN_OP_CONV_BIAS_ACT, 0)},
};

const dn_rows dn_ref_conv_vect = {rows, sizeof rows / sizeof rows[0]};
