/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Divisive normalisation on the host, a plane (one channel of one sample) at a time in double. The window's sum is separable, so
 * each spatial dimension costs n additions per element; order and bits depend on the shape alone.
 *     c = x - means;  s_p = k + alpha / n^d * sum of c_q^2 over the window of p;  y_p = c_p s_p^-beta
 *     dx_p = dy_p s_p^-beta - 2 alpha / n^d beta c_p * sum of dy_q c_q s_q^(-beta - 1) over all q whose window has p
 *     dmeans = -dx
 * The caller's temp and temp2 hold a tensor of x's type each, too narrow for double planes; they are left alone, and the planes
 * lie in the handle's scratch memory. */
#include "ops/lrn.h"
#include "ref/ref.h"

#include <string.h>

enum { OUT, X, MEANS, DY, DMEANS, TENSORS };  /* OUT: y or dx */
enum { PLANES = 4 };
#define SCRATCH_MOST ((size_t)1 << 28)  /* bytes of all threads together, unless one plane needs more */

typedef struct job {
    const dn_problem *p;
    const dn_args *a;
    dn_dtype type;
    void *ptr[TENSORS];       /* NULL: not part of the call */
    dn_iter plane;            /* over a plane's elements, from offset 0 */
    const dn_tensor *t[TENSORS];
    int64_t size, planes;     /* elements of a plane, planes in all */
    double *scratch;
    int slots;
} job;

/* out = sum of in over the window along one dimension: `inner` elements apart, `length` long. */
static void sum_along(const double *in, double *out, int64_t length, int64_t inner, int back, int ahead)
{
    for (int64_t i = 0; i < length; i++) {
        double *o = out + i * inner;
        int64_t first = i < back ? 0 : i - back, last = i + ahead < length ? i + ahead : length - 1;
        memcpy(o, in + first * inner, (size_t)inner * sizeof *o);
        for (int64_t k = first + 1; k <= last; k++)
            for (int64_t e = 0; e < inner; e++)
                o[e] += in[k * inner + e];
    }
}

/* The sum over the whole window of every element of v; spare is another plane. Answers which of the two holds it. */
static double *sum_windows(const job *j, double *v, double *spare, int back, int ahead)
{
    const dn_tensor *x = &j->p->t[DN_X];
    int64_t inner = 1;
    for (int d = x->rank - 1; d >= 2; d--) {
        int64_t length = x->dims[d];
        if (length > 1) {
            for (int64_t at = 0; at < j->size; at += length * inner)
                sum_along(v + at, spare + at, length, inner, back, ahead);
            double *swap = v;
            v = spare;
            spare = swap;
        }
        inner *= length;
    }
    return v;
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

/* c into the first plane, its squares' sums into one of the next two, which is answered. */
static double *load_centered(const job *j, const int64_t *base, double *plane)
{
    const dn_lrn_param *q = &j->p->u.lrn;
    double *c = plane, *v = plane + j->size, *spare = v + j->size;
    load(j, base[X], X, c);
    if (j->ptr[MEANS]) {
        load(j, base[MEANS], MEANS, v);
        for (int64_t i = 0; i < j->size; i++)
            c[i] -= v[i];
    }
    for (int64_t i = 0; i < j->size; i++)
        v[i] = c[i] * c[i];
    return sum_windows(j, v, spare, dn_lrn_back(q->n), dn_lrn_ahead(q->n));
}

static double share_of(const job *j)
{
    double share = j->p->u.lrn.alpha;
    for (int d = 2; d < j->p->t[DN_X].rank; d++)
        share /= j->p->u.lrn.n;
    return share;
}

static void fwd_plane(const job *j, const int64_t *base, double *plane)
{
    const dn_lrn_param *q = &j->p->u.lrn;
    double share = share_of(j), *c = plane;
    const double *sum = load_centered(j, base, plane);
    for (int64_t i = 0; i < j->size; i++)
        c[i] *= dn_lrn_power(q->k + share * sum[i], q->beta);
    store(j, base[OUT], OUT, c);
}

static void bwd_plane(const job *j, const int64_t *base, double *plane)
{
    const dn_lrn_param *q = &j->p->u.lrn;
    double share = share_of(j), factor = 2 * share * q->beta;
    double *c = plane, *term = load_centered(j, base, plane), *g = plane + 3 * j->size;
    double *spare = term == c + j->size ? c + 2 * j->size : c + j->size;
    load(j, base[DY], DY, g);
    for (int64_t i = 0; i < j->size; i++) {
        double s = q->k + share * term[i];
        g[i] *= dn_lrn_power(s, q->beta);
        term[i] = g[i] * c[i] / s;
    }
    const double *sum = sum_windows(j, term, spare, dn_lrn_ahead(q->n), dn_lrn_back(q->n));
    for (int64_t i = 0; i < j->size; i++)
        g[i] -= factor * c[i] * sum[i];
    store(j, base[OUT], OUT, g);
    if (!j->ptr[DMEANS])
        return;
    for (int64_t i = 0; i < j->size; i++)
        g[i] = -g[i];
    store(j, base[DMEANS], DMEANS, g);
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
    j->planes = p->t[DN_X].dims[0] * p->t[DN_X].dims[1];
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
