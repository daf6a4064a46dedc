/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Divisive normalisation on the host, a plane (one channel of one sample) at a time in double. m_p is subtracted from every x of
 * p's window, so the sum does not separate into one per dimension: it is taken neighbour by neighbour, n^d additions per element,
 * without the cancellation that sum x^2 - 2 m sum x would have. Order and bits depend on the shape alone.
 *     s_p = k + alpha / n^d * sum of (x_q - m_p)^2 over the window of p, m the means;  y_p = x_p s_p^-beta
 *     t_p = dy_p x_p s_p^(-beta - 1);  f = 2 alpha / n^d beta
 *     dx_p = dy_p s_p^-beta - f * sum of t_q (x_p - m_q) over all q whose window has p
 *     dmeans_p = f t_p * sum of (x_q - m_p) over the window of p
 * The caller's temp and temp2 hold a tensor of x's type each, too narrow for double planes; they are left alone, and the planes
 * lie in the handle's scratch memory. */
#include "ops/lrn.h"
#include "ref/ref.h"

#include <string.h>

enum { OUT, X, MEANS, DY, DMEANS, TENSORS };  /* OUT: y or dx */
enum { X_PLANE, M_PLANE, S_PLANE, G_PLANE, D_PLANE, PLANES };  /* as in the formulas; G: dy, then dx, D: dmeans */
#define SCRATCH_MOST ((size_t)1 << 28)  /* bytes of all threads together, unless one plane needs more */

typedef struct job {
    const dn_problem *p;
    const dn_args *a;
    dn_dtype type;
    void *ptr[TENSORS];       /* NULL: not part of the call */
    dn_iter plane;            /* over a plane's elements, from offset 0 */
    const dn_tensor *t[TENSORS];
    int64_t depth, height, width, size, planes;  /* of a plane; elements of one; planes in all */
    int back, ahead;          /* the window's sides */
    double *scratch;
    int slots;
} job;

/* What a neighbour q of p adds to p's sum. */
typedef enum term {
    SQUARES,     /* (x_q - m_p)^2 */
    DEVIATIONS,  /* x_q - m_p */
    SHARES,      /* t_q (x_p - m_q) */
} term;

/* Elements of a row: p, and its neighbours q in this or another row. */
typedef struct pair {
    const double *x_p, *x_q, *m_p, *m_q, *t_q;
} pair;

static void add_row(term kind, const pair *r, double *sum, int64_t count)
{
    switch (kind) {
    case SQUARES:
        for (int64_t i = 0; i < count; i++)
            sum[i] += (r->x_q[i] - r->m_p[i]) * (r->x_q[i] - r->m_p[i]);
        break;
    case DEVIATIONS:
        for (int64_t i = 0; i < count; i++)
            sum[i] += r->x_q[i] - r->m_p[i];
        break;
    case SHARES:
        for (int64_t i = 0; i < count; i++)
            sum[i] += r->t_q[i] * (r->x_p[i] - r->m_q[i]);
        break;
    }
}

/* The neighbours of row p that lie in row q: those `back` before to `ahead` after each element. */
static void add_neighbours(const job *j, term kind, double *plane, int64_t p, int64_t q, double *sum)
{
    int64_t width = j->width;
    const double *x = plane + X_PLANE * j->size, *m = plane + M_PLANE * j->size, *t = plane + S_PLANE * j->size;
    for (int64_t shift = -j->back; shift <= j->ahead; shift++) {
        int64_t first = shift < 0 ? -shift : 0, end = shift > 0 ? width - shift : width;
        if (first >= end)
            continue;
        int64_t here = p * width + first, there = q * width + first + shift;
        const pair r = { x + here, x + there, m + here, m + there, t + there };
        add_row(kind, &r, sum + here, end - first);
    }
}

/* Adds to each element of `sum` its window's terms; turned: those of all elements in whose windows it is. */
static void add_windows(job j, term kind, double *plane, double *sum, bool turned)
{
    if (turned) {
        int back = j.back;
        j.back = j.ahead;
        j.ahead = back;
    }
    for (int64_t d = 0; d < j.depth; d++)
        for (int64_t h = 0; h < j.height; h++)
            for (int64_t e = d - j.back; e <= d + j.ahead; e++)
                for (int64_t g = h - j.back; e >= 0 && e < j.depth && g <= h + j.ahead; g++)
                    if (g >= 0 && g < j.height)
                        add_neighbours(&j, kind, plane, d * j.height + h, e * j.height + g, sum);
}

/* --- planes from and to memory, in logical order --- */

static void load(const job *j, int64_t base, int tensor, double *v)
{
    dn_iter it = j->plane;
    dn_iter_seek(&it, 0);
    for (int64_t row = 0; row < it.rows; row++, v += it.n, dn_iter_next(&it))
        dn_load_row(j->type, j->ptr[tensor], base + it.offset[tensor], it.stride[tensor], it.n, v);
}

static void store(const job *j, int64_t base, int tensor, const double *v)
{
    dn_iter it = j->plane;
    dn_iter_seek(&it, 0);
    for (int64_t row = 0; row < it.rows; row++, v += it.n, dn_iter_next(&it))
        dn_store_row(j->type, j->ptr[tensor], base + it.offset[tensor], it.stride[tensor], it.n, v, j->a->alpha, j->a->beta);
}

static double share_of(const job *j)
{
    double share = j->p->u.lrn.alpha;
    for (int d = 2; d < j->p->t[DN_X].rank; d++)
        share /= j->p->u.lrn.n;
    return share;
}

/* x and means, and in S_PLANE s of every element. */
static void load_plane(const job *j, const int64_t *base, double *plane)
{
    const dn_lrn_param *q = &j->p->u.lrn;
    double *m = plane + M_PLANE * j->size, *s = plane + S_PLANE * j->size, share = share_of(j);
    load(j, base[X], X, plane + X_PLANE * j->size);
    memset(m, 0, (size_t)j->size * sizeof *m);
    memset(s, 0, (size_t)j->size * sizeof *s);
    if (j->ptr[MEANS])
        load(j, base[MEANS], MEANS, m);
    add_windows(*j, SQUARES, plane, s, false);
    for (int64_t i = 0; i < j->size; i++)
        s[i] = q->k + share * s[i];
}

static void fwd_plane(const job *j, const int64_t *base, double *plane)
{
    double *x = plane + X_PLANE * j->size;
    const double *s = plane + S_PLANE * j->size;
    load_plane(j, base, plane);
    for (int64_t i = 0; i < j->size; i++)
        x[i] *= dn_lrn_power(s[i], j->p->u.lrn.beta);
    store(j, base[OUT], OUT, x);
}

static void bwd_plane(const job *j, const int64_t *base, double *plane)
{
    const dn_lrn_param *q = &j->p->u.lrn;
    double factor = 2 * share_of(j) * q->beta;
    double *x = plane + X_PLANE * j->size, *t = plane + S_PLANE * j->size, *g = plane + G_PLANE * j->size;
    double *d = plane + D_PLANE * j->size;
    load_plane(j, base, plane);
    load(j, base[DY], DY, g);
    for (int64_t i = 0; i < j->size; i++) {
        double s = t[i];
        g[i] *= dn_lrn_power(s, q->beta);
        t[i] = g[i] * x[i] / s;
        d[i] = 0;
    }
    add_windows(*j, SHARES, plane, d, true);
    for (int64_t i = 0; i < j->size; i++)
        g[i] -= factor * d[i];
    memset(d, 0, (size_t)j->size * sizeof *d);
    if (j->ptr[DMEANS])
        add_windows(*j, DEVIATIONS, plane, d, false);
    store(j, base[OUT], OUT, g);
    if (!j->ptr[DMEANS])
        return;
    for (int64_t i = 0; i < j->size; i++)
        d[i] *= factor * t[i];
    store(j, base[DMEANS], DMEANS, d);
}

static void run_slots(void *ctx, int64_t begin, int64_t end)
{
    const job *j = ctx;
    int64_t channels = j->p->t[DN_X].dims[1];
    for (int64_t slot = begin; slot < end; slot++) {
        double *plane = j->scratch + slot * PLANES * j->size;
        for (int64_t k = slot; k < j->planes; k += j->slots) {
            int64_t base[TENSORS];
            for (int i = 0; i < TENSORS; i++)
                base[i] = k / channels * j->t[i]->strides[0] + k % channels * j->t[i]->strides[1];
            if (j->p->dir == DN_DIR_FWD)
                fwd_plane(j, base, plane);
            else
                bwd_plane(j, base, plane);
        }
    }
}

/* --- rows --- */

static void job_init(job *j, const dn_problem *p)
{
    bool bwd = p->dir != DN_DIR_FWD;
    const dn_role roles[TENSORS] = { bwd ? DN_DX : DN_Y, DN_X, DN_B, DN_DY, DN_DZ };
    const dn_tensor *views[TENSORS];
    dn_tensor view[TENSORS];
    memset(j, 0, sizeof *j);
    j->p = p;
    j->type = (dn_dtype)p->t[DN_X].type;
    for (int i = 0; i < TENSORS; i++) {
        j->t[i] = &p->t[p->t[roles[i]].rank ? roles[i] : DN_X];
        view[i] = *j->t[i];
        view[i].dims[0] = view[i].dims[1] = 1;
        views[i] = &view[i];
    }
    dn_iter_init(&j->plane, TENSORS, views);
    j->size = j->plane.rows * j->plane.n;
    const dn_tensor *x = &p->t[DN_X];
    j->planes = x->dims[0] * x->dims[1];
    j->depth = x->rank > 4 ? x->dims[2] : 1;
    j->height = x->dims[x->rank - 2];
    j->width = x->dims[x->rank - 1];
    j->back = dn_lrn_back(p->u.lrn.n);
    j->ahead = dn_lrn_ahead(p->u.lrn.n);
    size_t bytes = PLANES * sizeof(double) * (size_t)j->size;
    int64_t slots = dn_thread_count(), most = (int64_t)(SCRATCH_MOST / bytes);
    slots = slots < j->planes ? slots : j->planes;
    slots = slots < most ? slots : most;
    j->slots = slots > 1 ? (int)slots : 1;
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    job j;
    job_init(&j, &plan->problem);
    return dn_scratch_reserve(h, PLANES * sizeof(double) * (size_t)j.size * (size_t)j.slots);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_problem *p = &plan->problem;
    bool bwd = p->dir != DN_DIR_FWD;
    job j;
    job_init(&j, p);
    j.a = a;
    j.ptr[OUT] = a->ptr[bwd ? DN_DX : DN_Y];
    j.ptr[X] = a->ptr[DN_X];
    j.ptr[MEANS] = a->ptr[DN_B];
    j.ptr[DY] = a->ptr[DN_DY];
    j.ptr[DMEANS] = a->ptr[DN_DZ];
    j.scratch = h->scratch;
    int room = (int)(h->scratch_size / (PLANES * sizeof(double) * (size_t)j.size));
    j.slots = j.slots < room ? j.slots : room;
    dn_parallel(j.slots, 1, run_slots, &j);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    dn_dtype t = p->t[DN_X].type;
    return t == DN_F32 || t == DN_F64 || t == DN_F16 || t == DN_BF16 ? NULL : "needs type f32, f64, f16 or bf16";
}

static const dn_solver rows[] = {
    { .name = "ref_divnorm_fwd", .op = DN_OP_DIVNORM, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare, .run = run },
    { .name = "ref_divnorm_bwd_data", .op = DN_OP_DIVNORM, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = check, .prepare = prepare,
      .run = run },
};

const dn_rows dn_ref_divnorm = { rows, sizeof(rows) / sizeof(rows[0]) };
