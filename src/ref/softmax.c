/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Softmax on the host: for each group (a sample, or a place of a sample) its elements are read two or three times: maximum (not
 * in FAST), sum of exponentials, result. Sums in double and in order, so the bits do not depend on the threads. Groups are
 * independent, and shared out to the threads.
 *
 * Infinities as IEEE says. A group of -infinity alone gives NaN in every algorithm (0 / 0, or infinity less infinity). +infinity
 * in a group gives NaN for the whole group (ACCURATE, LOG), or for that element alone (FAST: others are x / infinity = 0).
 * FAST does not subtract the maximum; exponentials are double, so f32 data overflows above 709, not above 88.
 *
 * Two ways to walk: element by element of a group, one group after another (by_group); or, where places are closer together in
 * memory than channels, many groups side by side, channel by channel (by_lane). */
#include "ref/ref.h"

#include <math.h>

#define GROUPS_MAX 16
#define LANES_MAX 128

enum { FAST, ACCURATE, LOG };
enum { OUT, IN, GRAD, TENSORS };  /* order of the tensors in the walks: y x, or dx y dy */

typedef struct softmax_job {
    const dn_args *a;
    int algo, tensors;
    bool bwd;
    dn_dtype type;
    void *ptr[TENSORS];
    dn_iter group;             /* over the elements of one group, from offset 0 */
    int64_t c, step[TENSORS];  /* by_lane: channels, and the step from one to the next */
} softmax_job;

static void load(const softmax_job *job, int t, int64_t offset, int64_t stride, int64_t n, double *v)
{
    dn_load_row(job->type, job->ptr[t], offset, stride, n, v);
}

/* Forward result of one element: m is the maximum (0 in FAST), s the sum, or its logarithm in LOG. */
static inline double result(int algo, double x, double m, double s)
{
    return algo == LOG ? x - m - s : exp(x - m) / s;
}

/* Backward: s is the sum of y dy, or of dy in LOG. */
static inline double gradient(int algo, double y, double dy, double s)
{
    return algo == LOG ? dy - exp(y) * s : y * (dy - s);
}

static inline double term(int algo, double y, double dy)
{
    return algo == LOG ? dy : y * dy;
}

/* --- by_group --- */
typedef struct group_state {
    double m, s;
} group_state;

typedef void (*visit)(const softmax_job *job, group_state *st, const int64_t *offset, const int64_t *stride, int64_t n);

static void visit_max(const softmax_job *job, group_state *st, const int64_t *offset, const int64_t *stride, int64_t n)
{
    double x[DN_PIECE_MAX];
    load(job, IN, offset[IN], stride[IN], n, x);
    for (int64_t i = 0; i < n; i++)
        st->m = x[i] > st->m ? x[i] : st->m;
}

static void visit_sum(const softmax_job *job, group_state *st, const int64_t *offset, const int64_t *stride, int64_t n)
{
    double x[DN_PIECE_MAX];
    load(job, IN, offset[IN], stride[IN], n, x);
    for (int64_t i = 0; i < n; i++)
        st->s += exp(x[i] - st->m);
}

static void visit_write(const softmax_job *job, group_state *st, const int64_t *offset, const int64_t *stride, int64_t n)
{
    double x[DN_PIECE_MAX];
    load(job, IN, offset[IN], stride[IN], n, x);
    for (int64_t i = 0; i < n; i++)
        x[i] = result(job->algo, x[i], st->m, st->s);
    dn_store_row(job->type, job->ptr[OUT], offset[OUT], stride[OUT], n, x, job->a->alpha, job->a->beta);
}

static void visit_terms(const softmax_job *job, group_state *st, const int64_t *offset, const int64_t *stride, int64_t n)
{
    double y[DN_PIECE_MAX], dy[DN_PIECE_MAX];
    load(job, IN, offset[IN], stride[IN], n, y);
    load(job, GRAD, offset[GRAD], stride[GRAD], n, dy);
    for (int64_t i = 0; i < n; i++)
        st->s += term(job->algo, y[i], dy[i]);
}

static void visit_gradient(const softmax_job *job, group_state *st, const int64_t *offset, const int64_t *stride, int64_t n)
{
    double y[DN_PIECE_MAX], dy[DN_PIECE_MAX];
    load(job, IN, offset[IN], stride[IN], n, y);
    load(job, GRAD, offset[GRAD], stride[GRAD], n, dy);
    for (int64_t i = 0; i < n; i++)
        dy[i] = gradient(job->algo, y[i], dy[i], st->s);
    dn_store_row(job->type, job->ptr[OUT], offset[OUT], stride[OUT], n, dy, job->a->alpha, job->a->beta);
}

/* Every element of the group that begins at base, in pieces. */
static void walk(const softmax_job *job, dn_iter *it, const int64_t *base, visit fn, group_state *st)
{
    int64_t offset[TENSORS] = { 0 };
    dn_iter_seek(it, 0);
    for (int64_t row = 0; row < it->rows; row++) {
        for (int64_t at = 0; at < it->n; at += DN_PIECE_MAX) {
            int64_t left = it->n - at;
            for (int t = 0; t < job->tensors; t++)
                offset[t] = base[t] + it->offset[t] + at * it->stride[t];
            fn(job, st, offset, it->stride, left < DN_PIECE_MAX ? left : DN_PIECE_MAX);
        }
        dn_iter_next(it);
    }
}

static void by_group(void *ctx, const dn_piece *piece)
{
    const softmax_job *job = ctx;
    dn_iter it = job->group;
    int64_t base[TENSORS];
    for (int t = 0; t < job->tensors; t++)
        base[t] = piece->offset[t];
    for (int64_t i = 0; i < piece->n; i++) {
        group_state st = { job->algo == FAST ? 0.0 : -INFINITY, 0.0 };
        if (job->bwd) {
            walk(job, &it, base, visit_terms, &st);
            walk(job, &it, base, visit_gradient, &st);
        } else {
            if (job->algo != FAST)
                walk(job, &it, base, visit_max, &st);
            walk(job, &it, base, visit_sum, &st);
            st.s = job->algo == LOG ? log(st.s) : st.s;
            walk(job, &it, base, visit_write, &st);
        }
        for (int t = 0; t < job->tensors; t++)
            base[t] += piece->stride[t];
    }
}

/* --- by_lane --- */
static void lanes_fwd(const softmax_job *job, const dn_piece *piece)
{
    double m[LANES_MAX], s[LANES_MAX], x[LANES_MAX];
    int64_t n = piece->n, in = piece->offset[IN], out = piece->offset[OUT];
    for (int64_t i = 0; i < n; i++) {
        m[i] = job->algo == FAST ? 0.0 : -INFINITY;
        s[i] = 0;
    }
    for (int64_t c = 0; c < job->c && job->algo != FAST; c++, in += job->step[IN]) {
        load(job, IN, in, piece->stride[IN], n, x);
        for (int64_t i = 0; i < n; i++)
            m[i] = x[i] > m[i] ? x[i] : m[i];
    }
    in = piece->offset[IN];
    for (int64_t c = 0; c < job->c; c++, in += job->step[IN]) {
        load(job, IN, in, piece->stride[IN], n, x);
        for (int64_t i = 0; i < n; i++)
            s[i] += exp(x[i] - m[i]);
    }
    for (int64_t i = 0; i < n && job->algo == LOG; i++)
        s[i] = log(s[i]);
    in = piece->offset[IN];
    for (int64_t c = 0; c < job->c; c++, in += job->step[IN], out += job->step[OUT]) {
        load(job, IN, in, piece->stride[IN], n, x);
        for (int64_t i = 0; i < n; i++)
            x[i] = result(job->algo, x[i], m[i], s[i]);
        dn_store_row(job->type, job->ptr[OUT], out, piece->stride[OUT], n, x, job->a->alpha, job->a->beta);
    }
}

static void lanes_bwd(const softmax_job *job, const dn_piece *piece)
{
    double s[LANES_MAX] = { 0 }, y[LANES_MAX], dy[LANES_MAX];
    int64_t n = piece->n, in = piece->offset[IN], grad = piece->offset[GRAD], out = piece->offset[OUT];
    for (int64_t c = 0; c < job->c; c++, in += job->step[IN], grad += job->step[GRAD]) {
        load(job, IN, in, piece->stride[IN], n, y);
        load(job, GRAD, grad, piece->stride[GRAD], n, dy);
        for (int64_t i = 0; i < n; i++)
            s[i] += term(job->algo, y[i], dy[i]);
    }
    in = piece->offset[IN];
    grad = piece->offset[GRAD];
    for (int64_t c = 0; c < job->c; c++, in += job->step[IN], grad += job->step[GRAD], out += job->step[OUT]) {
        load(job, IN, in, piece->stride[IN], n, y);
        load(job, GRAD, grad, piece->stride[GRAD], n, dy);
        for (int64_t i = 0; i < n; i++)
            dy[i] = gradient(job->algo, y[i], dy[i], s[i]);
        dn_store_row(job->type, job->ptr[OUT], out, piece->stride[OUT], n, dy, job->a->alpha, job->a->beta);
    }
}

static void by_lane(void *ctx, const dn_piece *piece)
{
    const softmax_job *job = ctx;
    if (job->bwd)
        lanes_bwd(job, piece);
    else
        lanes_fwd(job, piece);
}

/* --- rows --- */
/* Splits every tensor into what lies between groups (outer) and what lies inside one (inner). */
static void split(const dn_problem *p, const dn_tensor *const *t, int count, dn_tensor *outer, dn_tensor *inner)
{
    bool channel = p->u.softmax.mode == 1;
    for (int i = 0; i < count; i++) {
        outer[i] = inner[i] = *t[i];
        for (int d = 0; d < t[i]->rank; d++) {
            bool inside = channel ? d == 1 : d > 0;
            (inside ? outer : inner)[i].dims[d] = 1;
        }
    }
}

static int64_t magnitude(int64_t v)
{
    return v < 0 ? -v : v;
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    bool bwd = p->dir != DN_DIR_FWD;
    const dn_tensor *const fwd_t[] = { &p->t[DN_Y], &p->t[DN_X] };
    const dn_tensor *const bwd_t[] = { &p->t[DN_DX], &p->t[DN_Y], &p->t[DN_DY] };
    softmax_job job = { .a = a, .algo = p->u.softmax.algo, .bwd = bwd, .tensors = bwd ? 3 : 2 };
    job.type = bwd ? p->t[DN_Y].type : p->t[DN_X].type;
    job.ptr[OUT] = a->ptr[bwd ? DN_DX : DN_Y];
    job.ptr[IN] = a->ptr[bwd ? DN_Y : DN_X];
    job.ptr[GRAD] = bwd ? a->ptr[DN_DY] : NULL;

    dn_tensor outer[TENSORS], inner[TENSORS];
    const dn_tensor *outer_t[TENSORS] = { &outer[0], &outer[1], &outer[2] };
    const dn_tensor *inner_t[TENSORS] = { &inner[0], &inner[1], &inner[2] };
    split(p, bwd ? bwd_t : fwd_t, job.tensors, outer, inner);
    dn_iter groups;
    dn_iter_init_any_order(&groups, job.tensors, outer_t);
    dn_iter_init_any_order(&job.group, job.tensors, inner_t);

    job.c = job.group.n;
    for (int t = 0; t < job.tensors; t++)
        job.step[t] = job.group.stride[t];
    bool lanes = job.group.rows == 1 && groups.n > 1 && job.c > 1
        && magnitude(groups.stride[OUT]) < magnitude(job.step[OUT]);
    if (lanes)
        dn_iter_run_costly(&groups, LANES_MAX, 4 * job.c, by_lane, &job);
    else
        dn_iter_run_costly(&groups, GROUPS_MAX, 4 * job.group.rows * job.group.n, by_group, &job);
    return DN_SUCCESS;
}

static const char *check_fwd(const dn_problem *p)
{
    dn_dtype t = p->t[DN_X].type;
    return t == DN_F32 || t == DN_F64 || t == DN_F16 || t == DN_BF16 || t == DN_I8 ? NULL : "needs type f32, f64, f16, bf16 or i8";
}

static const char *check_bwd(const dn_problem *p)
{
    dn_dtype t = p->t[DN_Y].type;
    return t == DN_F32 || t == DN_F64 || t == DN_F16 || t == DN_BF16 ? NULL : "needs type f32, f64, f16 or bf16";
}

static const dn_solver rows[] = {
    { .name = "ref_softmax_fwd", .op = DN_OP_SOFTMAX, .dir = DN_DIR_FWD, .algo = -1, .check = check_fwd, .run = run },
    { .name = "ref_softmax_bwd_data", .op = DN_OP_SOFTMAX, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = check_bwd, .run = run },
};

const dn_rows dn_ref_softmax = { rows, sizeof(rows) / sizeof(rows[0]) };
