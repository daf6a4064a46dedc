/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution forward, and the same with bias and activation fused:
 *
 *     y[n][k][o] = alpha * sum over c, r of w[k][c][r] * x[n][g(k) + c][o * stride - pad + r * dilation] + beta * y[n][k][o]
 *
 * (r turned round in CUDNN_CONVOLUTION mode; o, r one index per spatial dimension). Four ways to the same sums:
 *   implicit GEMM (0)          columns gathered tile by tile; places of elements computed as they are needed; no workspace
 *   implicit precomputed (1)   the same with the places of every tap in a table made once per plan; no workspace
 *   GEMM (2)                   columns written out in the caller's workspace, each gathered once; a chunk at a time
 *   direct (3)                 no matrix: each row of x under a tap is added, times its weights, to rows of y; no workspace
 * All: any floating or integer type in any mix, any strides, results independent of the count of threads. */
#include "ref/conv.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 16 << 20, PANEL = 24 };  /* PANEL: a multiple of every kernel's nr */

/* What prepare makes. */
typedef struct fwd_state {
    const dn_conv_kernel *k;
    dn_conv_gemm g;
    dn_conv_tiles t;
    int64_t groups;
    int64_t chunk;       /* GEMM: columns that are written out at a time */
    dn_conv_tap *table;  /* precomputed */
} fwd_state;

typedef struct fwd_job {
    const fwd_state *s;
    const dn_args *a;
    void *scratch;
    dn_conv_finish finish;
    double *columns;          /* GEMM: panels [chunk / nr][l][nr] */
    int64_t group, col, cols; /* GEMM: the chunk under way */
} fwd_job;

static bool type_known(const dn_tensor *t)
{
    switch (t->type) {
    case DN_F32: case DN_F64: case DN_F16: case DN_BF16: case DN_I8: case DN_U8: case DN_I32:
        return t->vect == 1 || t->rank == 0;
    default:
        return t->rank == 0;
    }
}

const char *dn_ref_conv_check(const dn_problem *p)
{
    dn_dtype x = (dn_dtype)p->t[p->t[DN_X].rank ? DN_X : DN_Y].type, compute = (dn_dtype)p->compute;
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        if (!type_known(&p->t[r]))
            return "needs types f32, f64, f16, bf16, i8, u8 or i32";
    if (p->dir == DN_DIR_BWD_BIAS)
        return NULL;
    if (x == DN_F64)
        return compute == DN_F64 ? NULL : "f64 data need compute type f64";
    if (x == DN_F16)
        return compute == DN_F32 || compute == DN_F16 ? NULL : "f16 data need compute type f32 or f16";
    if (x == DN_F32 || x == DN_BF16)
        return compute == DN_F32 ? NULL : "f32 and bf16 data need compute type f32";
    return compute == DN_I32 ? NULL : "integer data need compute type i32";
}

static int64_t reduction(const dn_problem *p)
{
    int64_t l = p->t[DN_W].dims[1];
    for (int j = 2; j < p->t[DN_W].rank; j++)
        l *= p->t[DN_W].dims[j];
    return l;
}

static int64_t chunk_columns(const dn_problem *p)
{
    int64_t cols = p->t[DN_Y].dims[0], fit = CHUNK_BYTES / 8 / reduction(p) / DN_CONV_NC * DN_CONV_NC;
    for (int j = 2; j < p->t[DN_Y].rank; j++)
        cols *= p->t[DN_Y].dims[j];
    if (fit < DN_CONV_NC)
        fit = DN_CONV_NC;
    cols = dn_round_up(cols, PANEL);
    return cols < fit ? cols : fit;
}

static size_t gemm_workspace(const dn_problem *p)
{
    return (size_t)(chunk_columns(p) * reduction(p)) * sizeof(double) + DN_CONV_ALIGN;
}

/* --- prepare --- */

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    fwd_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    s->k = dn_conv_kernel_get();
    s->groups = p->u.conv.groups;
    s->g.m = p->t[DN_W].dims[0] / s->groups;
    dn_conv_view_input(&s->g.in, p);
    dn_conv_view_plain(&s->g.out, &p->t[DN_Y], s->g.m);
    if (p->t[DN_Z].rank)
        dn_conv_view_plain(&s->g.z, &p->t[DN_Z], s->g.m);
    dn_conv_filter_forward(&s->g.w, p);
    s->g.l = s->g.w.chans * s->g.w.taps;
    s->chunk = s->g.out.cols;
    if (plan->solver->algo == 2) {
        s->chunk = chunk_columns(p);
        dn_conv_tiles_choose(&s->t, s->k, s->g.m, s->chunk, 1);
    } else {
        dn_conv_tiles_choose(&s->t, s->k, s->g.m, s->g.out.cols, s->groups);
    }
    if (plan->solver->algo == 3) {
        s->t.mt = s->k->mr;
        s->t.m_tiles = dn_ceil_div(s->g.m, s->t.mt);
    }
    return dn_scratch_reserve(h, dn_conv_slots_size(&s->t));
}

static dn_status prepare_table(dn_handle *h, dn_plan *plan)
{
    dn_status st = prepare(h, plan);
    if (st != DN_SUCCESS)
        return st;
    fwd_state *s = plan->state;
    s->table = malloc((size_t)s->g.in.taps * sizeof *s->table);
    if (!s->table)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a table of %lld filter taps", (long long)s->g.in.taps);
    dn_conv_view_tabulate(&s->g.in, s->table);
    s->g.in.table = s->table;
    return DN_SUCCESS;
}

static void release(dn_plan *plan)
{
    fwd_state *s = plan->state;
    if (s)
        free(s->table);
    free(s);
    plan->state = NULL;
}

static void job_init(fwd_job *job, dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_problem *p = &plan->problem;
    const fwd_state *s = plan->state;
    *job = (fwd_job){.s = s, .a = a, .scratch = h->scratch};
    job->finish = (dn_conv_finish){.out = a->ptr[DN_Y], .alpha = a->alpha, .beta = a->beta};
    if (p->op == DN_OP_CONV_BIAS_ACT) {
        job->finish.act = &p->u.conv.act;
        job->finish.bias = a->ptr[DN_B];
        job->finish.bias_t = &p->t[DN_B];
        job->finish.alpha2 = a->alpha2;
        job->finish.z = p->t[DN_Z].rank && a->alpha2 != 0 ? a->ptr[DN_Z] : NULL;
        job->finish.z_view = &s->g.z;
    }
    dn_conv_slots_init(&s->t, h->scratch);
}

/* --- 0 and 1: implicit GEMM --- */

static void implicit_tiles(void *ctx, int64_t begin, int64_t end)
{
    fwd_job *job = ctx;
    const fwd_state *s = job->s;
    dn_conv_slot *slot = dn_conv_slot_take(&s->t, job->scratch);
    for (int64_t i = begin; i < end; i++) {
        int64_t m = i % s->t.m_tiles, rest = i / s->t.m_tiles;
        dn_conv_gemm_tile(s->k, slot, &s->g, &s->t, job->a->ptr[DN_X], job->a->ptr[DN_W], &job->finish, rest / s->t.n_tiles, m,
                          rest % s->t.n_tiles);
    }
    dn_conv_slot_give(slot);
}

static dn_status run_implicit(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const fwd_state *s = plan->state;
    fwd_job job;
    job_init(&job, h, plan, a);
    dn_parallel(s->groups * s->t.m_tiles * s->t.n_tiles, 1, implicit_tiles, &job);
    return DN_SUCCESS;
}

/* --- 2: GEMM on columns in the workspace --- */

static void write_columns(void *ctx, int64_t begin, int64_t end)
{
    fwd_job *job = ctx;
    const fwd_state *s = job->s;
    int64_t blocks = dn_ceil_div(s->g.l, DN_CONV_KC), add = job->group * s->g.in.group_stride;
    dn_conv_slot *slot = dn_conv_slot_take(&s->t, job->scratch);
    for (int64_t i = begin; i < end; i++) {
        int64_t at = i / blocks * s->t.nt, l = i % blocks * DN_CONV_KC;
        int64_t cols = job->cols - at < s->t.nt ? job->cols - at : s->t.nt, len = s->g.l - l < DN_CONV_KC ? s->g.l - l : DN_CONV_KC;
        dn_conv_cursor_seek(&slot->in, &s->g.in, job->col + at, cols);
        dn_conv_pack_columns(s->k, slot, &s->g.w, job->a->ptr[DN_X], add, l, len, job->columns + at * s->g.l + l * s->k->nr,
                             s->g.l * s->k->nr);
    }
    dn_conv_slot_give(slot);
}

static void multiply_columns(void *ctx, int64_t begin, int64_t end)
{
    fwd_job *job = ctx;
    const fwd_state *s = job->s;
    dn_conv_slot *slot = dn_conv_slot_take(&s->t, job->scratch);
    for (int64_t i = begin; i < end; i++) {
        int64_t m = i % s->t.m_tiles * s->t.mt, at = i / s->t.m_tiles * s->t.nt;
        int64_t mn = s->g.m - m < s->t.mt ? s->g.m - m : s->t.mt, nn = job->cols - at < s->t.nt ? job->cols - at : s->t.nt;
        memset(slot->c, 0, (size_t)(s->t.mt * s->t.nt) * sizeof(double));
        for (int64_t l = 0; l < s->g.l; l += DN_CONV_KC) {
            int64_t len = s->g.l - l < DN_CONV_KC ? s->g.l - l : DN_CONV_KC;
            dn_conv_pack_filter(s->k, slot, &s->g.w, job->a->ptr[DN_W], job->group * s->g.w.group_stride, m, mn, l, len);
            dn_conv_tile_multiply(s->k, slot, mn, nn, len, job->columns + at * s->g.l + l * s->k->nr, s->g.l * s->k->nr, s->t.nt);
        }
        dn_conv_finish_tile(s->k, slot, &s->g, &job->finish, job->group, m, mn, job->col + at, nn, s->t.nt);
    }
    dn_conv_slot_give(slot);
}

static dn_status run_gemm(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const fwd_state *s = plan->state;
    fwd_job job;
    job_init(&job, h, plan, a);
    job.columns = (double *)(((uintptr_t)a->workspace + DN_CONV_ALIGN - 1) / DN_CONV_ALIGN * DN_CONV_ALIGN);
    for (job.group = 0; job.group < s->groups; job.group++)
        for (job.col = 0; job.col < s->g.out.cols; job.col += s->chunk) {
            job.cols = s->g.out.cols - job.col < s->chunk ? s->g.out.cols - job.col : s->chunk;
            int64_t n_tiles = dn_ceil_div(job.cols, s->t.nt);
            dn_parallel(n_tiles * dn_ceil_div(s->g.l, DN_CONV_KC), 1, write_columns, &job);
            dn_parallel(n_tiles * s->t.m_tiles, 1, multiply_columns, &job);
        }
    return DN_SUCCESS;
}

/* --- 3: direct --- */

static void direct_tile(const fwd_job *job, dn_conv_slot *slot, int64_t group, int64_t m, int64_t col)
{
    const fwd_state *s = job->s;
    const dn_conv_filter *w = &s->g.w;
    int64_t mn = s->g.m - m < s->t.mt ? s->g.m - m : s->t.mt, nn = s->g.out.cols - col < s->t.nt ? s->g.out.cols - col : s->t.nt;
    int64_t x_add = group * s->g.in.group_stride, w_add = group * w->group_stride;
    memset(slot->c, 0, (size_t)(s->t.mt * s->t.nt) * sizeof(double));
    dn_conv_cursor_seek(&slot->in, &s->g.in, col, nn);
    for (int64_t l = 0; l < s->g.l; l++) {
        if (l % DN_CONV_KC == 0)
            dn_conv_pack_filter(s->k, slot, w, job->a->ptr[DN_W], w_add, m, mn, l, s->g.l - l < DN_CONV_KC ? s->g.l - l : DN_CONV_KC);
        dn_conv_cursor_tap(&slot->in, dn_conv_filter_tap(w, l));
        dn_conv_cursor_load(&slot->in, s->k, job->a->ptr[DN_X], x_add + dn_conv_filter_chan(w, l) * s->g.in.chan_stride, slot->row);
        s->k->axpy(nn, slot->a + l % DN_CONV_KC * s->k->mr, slot->row, slot->c, s->t.nt);
    }
    dn_conv_finish_tile(s->k, slot, &s->g, &job->finish, group, m, mn, col, nn, s->t.nt);
}

static void direct_tiles(void *ctx, int64_t begin, int64_t end)
{
    fwd_job *job = ctx;
    const dn_conv_tiles *t = &job->s->t;
    dn_conv_slot *slot = dn_conv_slot_take(t, job->scratch);
    for (int64_t i = begin; i < end; i++) {
        int64_t m = i % t->m_tiles * t->mt, rest = i / t->m_tiles;
        direct_tile(job, slot, rest / t->n_tiles, m, rest % t->n_tiles * t->nt);
    }
    dn_conv_slot_give(slot);
}

static dn_status run_direct(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const fwd_state *s = plan->state;
    fwd_job job;
    job_init(&job, h, plan, a);
    dn_parallel(s->groups * s->t.m_tiles * s->t.n_tiles, 1, direct_tiles, &job);
    return DN_SUCCESS;
}

#define ROW(row_name, op_value, number) \
    .name = row_name, .op = op_value, .dir = DN_DIR_FWD, .algo = number, .flags = DN_SOLVER_PLAIN, .check = dn_ref_conv_check, \
    .release = release

static const dn_solver rows[] = {
    {ROW("ref_conv_fwd_implicit_precomp_gemm", DN_OP_CONV, 1), .prepare = prepare_table, .run = run_implicit},
    {ROW("ref_conv_fwd_implicit_gemm", DN_OP_CONV, 0), .prepare = prepare, .run = run_implicit},
    {ROW("ref_conv_fwd_gemm", DN_OP_CONV, 2), .prepare = prepare, .run = run_gemm, .workspace = gemm_workspace},
    {ROW("ref_conv_fwd_direct", DN_OP_CONV, 3), .prepare = prepare, .run = run_direct},
    {ROW("ref_convba_fwd_implicit_precomp_gemm", DN_OP_CONV_BIAS_ACT, 1), .prepare = prepare_table, .run = run_implicit},
    {ROW("ref_convba_fwd_implicit_gemm", DN_OP_CONV_BIAS_ACT, 0), .prepare = prepare, .run = run_implicit},
    {ROW("ref_convba_fwd_gemm", DN_OP_CONV_BIAS_ACT, 2), .prepare = prepare, .run = run_gemm, .workspace = gemm_workspace},
    {ROW("ref_convba_fwd_direct", DN_OP_CONV_BIAS_ACT, 3), .prepare = prepare, .run = run_direct},
};

const dn_rows dn_ref_conv = {rows, sizeof rows / sizeof rows[0]};
