/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Reduction on the host: C = alpha * reduce(A) + beta * C.
 *     add avg norm1 norm2   sums in double of a, a, |a|, a^2; avg divides by the count, norm2 takes the root
 *     mul, mulnz            products in double; mulnz passes zeros over, and gives 1 where there is nothing else
 *     min max amax          the first of equal elements wins. Where NaN goes through, the first NaN wins; else NaN is passed over,
 *                           and the result is NaN (index 0) only where there is nothing else.
 * Outputs that lie closer together in A than the elements of one are taken side by side, others one by one. A reduction of few
 * outputs is cut into parts, by the problem and not by the threads, whose states are merged in order: bits do not depend on the
 * count of threads. States lie in the handle's scratch, so no workspace is asked for. */
#include "ops/reduce.h"
#include "ref/ref.h"

#include <math.h>
#include <string.h>

enum { LANES = 128, PARTS_MAX = 64, PART_WORK = 65536, PART_OUTPUTS = 4096 };

typedef struct state {
    double v;
    int64_t at;  /* index of the winner, -1: nothing seen */
} state;

typedef struct reduce_job {
    const dn_problem *p;
    const dn_args *a;
    dn_iter out;     /* outputs: 0 Y, 1 X at the first element of each */
    dn_iter block;   /* elements of one output: 0 X, from offset 0 */
    int64_t count;   /* of a block */
    int64_t outputs, parts;
    bool lanes;
    state *states;   /* [parts][outputs] */
} reduce_job;

static state start(const dn_reduce_param *u)
{
    return (state){ u->op == DN_REDUCE_MUL || u->op == DN_REDUCE_MUL_NO_ZEROS ? 1 : 0, -1 };
}

static bool wins(const dn_reduce_param *u, double x, double old)
{
    if (isnan(x) || isnan(old))
        return u->nan ? !isnan(old) : !isnan(x);
    return u->op == DN_REDUCE_MIN ? x < old : x > old;
}

static inline void take(const dn_reduce_param *u, state *s, double x, int64_t at)
{
    if (s->at < 0 || wins(u, x, s->v)) {
        s->v = x;
        s->at = at;
    }
}

/* n elements of one output, from index `at` of its block on. Sums in four chains, added in order. */
static void take_run(const dn_reduce_param *u, state *s, const double *x, int64_t n, int64_t at)
{
    double sum[4] = { 0 };
    switch (u->op) {
    case DN_REDUCE_ADD: case DN_REDUCE_AVG:
        for (int64_t i = 0; i < n; i++)
            sum[i & 3] += x[i];
        break;
    case DN_REDUCE_NORM1:
        for (int64_t i = 0; i < n; i++)
            sum[i & 3] += fabs(x[i]);
        break;
    case DN_REDUCE_NORM2:
        for (int64_t i = 0; i < n; i++)
            sum[i & 3] += x[i] * x[i];
        break;
    case DN_REDUCE_MUL:
        for (int64_t i = 0; i < n; i++)
            s->v *= x[i];
        return;
    case DN_REDUCE_MUL_NO_ZEROS:
        for (int64_t i = 0; i < n; i++)
            s->v *= x[i] == 0 ? 1 : x[i];
        return;
    default:
        for (int64_t i = 0; i < n; i++)
            take(u, s, u->op == DN_REDUCE_AMAX ? fabs(x[i]) : x[i], at + i);
        return;
    }
    s->v += sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* One element of each of n outputs. */
static void take_lanes(const dn_reduce_param *u, state *s, const double *x, int64_t n, int64_t at)
{
    switch (u->op) {
    case DN_REDUCE_ADD: case DN_REDUCE_AVG:
        for (int64_t i = 0; i < n; i++)
            s[i].v += x[i];
        break;
    case DN_REDUCE_NORM1:
        for (int64_t i = 0; i < n; i++)
            s[i].v += fabs(x[i]);
        break;
    case DN_REDUCE_NORM2:
        for (int64_t i = 0; i < n; i++)
            s[i].v += x[i] * x[i];
        break;
    case DN_REDUCE_MUL:
        for (int64_t i = 0; i < n; i++)
            s[i].v *= x[i];
        break;
    case DN_REDUCE_MUL_NO_ZEROS:
        for (int64_t i = 0; i < n; i++)
            s[i].v *= x[i] == 0 ? 1 : x[i];
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            take(u, &s[i], u->op == DN_REDUCE_AMAX ? fabs(x[i]) : x[i], at);
    }
}

static void merge(const dn_reduce_param *u, state *s, const state *part)
{
    switch (u->op) {
    case DN_REDUCE_MUL: case DN_REDUCE_MUL_NO_ZEROS:
        s->v *= part->v;
        break;
    case DN_REDUCE_MIN: case DN_REDUCE_MAX: case DN_REDUCE_AMAX:
        take(u, s, part->v, part->at);
        break;
    default:
        s->v += part->v;
    }
}

static void store_index(int type, void *base, int64_t i, int64_t at)
{
    const uint32_t at32 = (uint32_t)at;
    const uint16_t at16 = (uint16_t)at;
    const uint8_t at8 = (uint8_t)at;
    const void *const from[] = { &at32, &at, &at16, &at8 };
    size_t size = (size_t)dn_reduce_index_size(type);
    memcpy((unsigned char *)base + (size_t)i * size, from[type], size);
}

/* States to results of the outputs of a piece. */
static void finish(const reduce_job *job, const dn_piece *k, const state *s)
{
    const dn_reduce_param *u = &job->p->u.reduce;
    double v[LANES];
    for (int64_t i = 0; i < k->n; i++) {
        v[i] = u->op == DN_REDUCE_AVG ? s[i].v / (double)job->count : u->op == DN_REDUCE_NORM2 ? sqrt(s[i].v) : s[i].v;
        if (dn_reduce_is_indexed(u))
            store_index(u->index_type, job->a->aux[DN_AUX_INDICES], k->first + i, s[i].at);
    }
    dn_store_row((dn_dtype)job->p->t[DN_Y].type, job->a->ptr[DN_Y], k->offset[0], k->stride[0], k->n, v, job->a->alpha, job->a->beta);
}

/* Elements from .. to - 1 of the block of the output that begins at `base`. */
static void take_block(const reduce_job *job, state *s, int64_t base, int64_t from, int64_t to)
{
    dn_dtype type = (dn_dtype)job->p->t[DN_X].type;
    dn_iter it = job->block;
    int64_t at = from % it.n;
    dn_iter_seek(&it, from / it.n);
    while (from < to) {
        double x[DN_PIECE_MAX];
        int64_t n = it.n - at < to - from ? it.n - at : to - from;
        n = n < DN_PIECE_MAX ? n : DN_PIECE_MAX;
        dn_load_row(type, job->a->ptr[DN_X], base + it.offset[0] + at * it.stride[0], it.stride[0], n, x);
        take_run(&job->p->u.reduce, s, x, n, from);
        from += n;
        at += n;
        if (at == it.n) {
            at = 0;
            dn_iter_next(&it);
        }
    }
}

/* The same for the n outputs of a piece side by side. */
static void take_block_lanes(const reduce_job *job, state *s, const dn_piece *k, int64_t from, int64_t to)
{
    dn_dtype type = (dn_dtype)job->p->t[DN_X].type;
    dn_iter it = job->block;
    int64_t at = from % it.n;
    dn_iter_seek(&it, from / it.n);
    for (; from < to; from++) {
        double x[LANES];
        dn_load_row(type, job->a->ptr[DN_X], k->offset[1] + it.offset[0] + at * it.stride[0], k->stride[1], k->n, x);
        take_lanes(&job->p->u.reduce, s, x, k->n, from);
        if (++at == it.n) {
            at = 0;
            dn_iter_next(&it);
        }
    }
}

static void take_piece(const reduce_job *job, const dn_piece *k, state *s, int64_t from, int64_t to)
{
    for (int64_t i = 0; i < k->n; i++)
        s[i] = start(&job->p->u.reduce);
    if (job->lanes)
        take_block_lanes(job, s, k, from, to);
    else
        for (int64_t i = 0; i < k->n; i++)
            take_block(job, &s[i], k->offset[1] + i * k->stride[1], from, to);
}

static void whole_piece(void *ctx, const dn_piece *k)
{
    state s[LANES];
    const reduce_job *job = ctx;
    take_piece(job, k, s, 0, job->count);
    finish(job, k, s);
}

/* Calls fn for the pieces of the outputs on this thread: there are few. */
static void each_piece(reduce_job *job, int64_t part, void (*fn)(reduce_job *job, const dn_piece *k, int64_t part))
{
    dn_iter it = job->out;
    dn_piece k;
    dn_iter_seek(&it, 0);
    for (int64_t row = 0; row < it.rows; row++) {
        for (int64_t at = 0; at < it.n; at += LANES) {
            k.n = it.n - at < LANES ? it.n - at : LANES;
            k.first = row * it.n + at;
            for (int i = 0; i < 2; i++) {
                k.offset[i] = it.offset[i] + at * it.stride[i];
                k.stride[i] = it.stride[i];
            }
            fn(job, &k, part);
        }
        dn_iter_next(&it);
    }
}

static void part_piece(reduce_job *job, const dn_piece *k, int64_t part)
{
    int64_t size = (job->count + job->parts - 1) / job->parts, from = part * size, to = from + size;
    take_piece(job, k, job->states + part * job->outputs + k->first, from < job->count ? from : job->count,
               to < job->count ? to : job->count);
}

static void merge_piece(reduce_job *job, const dn_piece *k, int64_t part)
{
    state s[LANES];
    for (int64_t i = 0; i < k->n; i++) {
        s[i] = job->states[k->first + i];
        for (part = 1; part < job->parts; part++)
            if (part * ((job->count + job->parts - 1) / job->parts) < job->count)
                merge(&job->p->u.reduce, &s[i], job->states + part * job->outputs + k->first + i);
    }
    finish(job, k, s);
}

static void run_parts(void *ctx, int64_t begin, int64_t end)
{
    for (int64_t part = begin; part < end; part++)
        each_piece(ctx, part, part_piece);
}

static void job_init(reduce_job *job, const dn_problem *p)
{
    dn_tensor kept = p->t[DN_X], gone = p->t[DN_X];
    for (int d = 0; d < kept.rank; d++) {
        kept.dims[d] = p->t[DN_Y].dims[d];
        gone.dims[d] = p->t[DN_Y].dims[d] == 1 ? p->t[DN_X].dims[d] : 1;
    }
    const dn_tensor *const out[] = { &p->t[DN_Y], &kept }, *const block[] = { &gone };
    *job = (reduce_job){ .p = p, .count = dn_reduce_block(p), .outputs = dn_tensor_count(&p->t[DN_Y]) };
    if (dn_reduce_is_indexed(&p->u.reduce)) {  /* indices count in logical order, of outputs and within blocks */
        dn_iter_init(&job->out, 2, out);
        dn_iter_init(&job->block, 1, block);
    } else {
        dn_iter_init_any_order(&job->out, 2, out);
        dn_iter_init_any_order(&job->block, 1, block);
    }
    int64_t along = job->out.stride[1], inner = job->block.stride[0];
    job->lanes = job->out.n > 1 && (along < 0 ? -along : along) < (inner < 0 ? -inner : inner);
    job->parts = 1;
    if (job->outputs <= PART_OUTPUTS && job->count > 1) {
        int64_t parts = job->count > INT64_MAX / job->outputs ? PARTS_MAX : job->count * job->outputs / PART_WORK;
        job->parts = parts < 1 ? 1 : parts > PARTS_MAX ? PARTS_MAX : parts > job->count ? job->count : parts;
    }
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    reduce_job job;
    job_init(&job, &plan->problem);
    return job.parts > 1 ? dn_scratch_reserve(h, (size_t)(job.parts * job.outputs) * sizeof(state)) : DN_SUCCESS;
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    reduce_job job;
    job_init(&job, &plan->problem);
    job.a = a;
    job.states = h->scratch;
    if (job.parts > 1) {
        dn_parallel(job.parts, 1, run_parts, &job);
        each_piece(&job, 0, merge_piece);
    } else {
        dn_iter_run_costly(&job.out, LANES, job.count, whole_piece, &job);
    }
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    (void)p;
    return NULL;
}

static const dn_solver rows[] = {
    { .name = "ref_reduce_fwd", .op = DN_OP_REDUCE, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare, .run = run },
};

const dn_rows dn_ref_reduce = { rows, sizeof(rows) / sizeof(rows[0]) };
