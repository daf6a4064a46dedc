/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Pooling on the host, a row of the last dimension at a time.
 *
 * Forward: the input rows of a window are put together element by element (maximum or sum), then the window slides along the
 * result: kh W + kw Q steps for a row, not kh kw Q. An average is the sum over the count of inputs, padding counted or not.
 *
 * Maximum and NaN: where NaN goes through, a window with one gives NaN. Else NaN is passed over, and a window of nothing but
 * NaN gives -infinity.
 *
 * Backward: dx is made in bands of the outermost pooled dimension. A band's outputs are those whose windows reach into it; their
 * gradients are added in order of the outputs, in double, and rounded once. Bands depend on the shape alone, so the bits do not
 * depend on the threads. The gradient of a maximum goes to one element: the first in scan order that has the maximum of x in
 * the window (the first NaN where NaN goes through; none where it does not and all are NaN). The two maximum modes are the same
 * here. y is not read, so it may have been scaled.
 *
 * Shapes are brought to DN_SPATIAL_MAX pooled dimensions by dimensions of size 1 in front. */
#include "ref/ref.h"

#include <math.h>
#include <string.h>

#define LAST (DN_SPATIAL_MAX - 1)
#define BAND_ELEMENTS 65536  /* of a band: 512 KiB of double */
#define SMALL_WORK 32768     /* steps below which one thread is quicker */

typedef struct range {
    int64_t begin, end;
} range;

/* Strides of one tensor in scalars. */
typedef struct layout {
    int64_t n, c;  /* channel ch starts at (ch / vect) * c + ch % vect */
    int vect;
    int64_t s[DN_SPATIAL_MAX];
    dn_dtype type;
} layout;

typedef struct shape {
    bool max, count_pad, nan;
    int64_t n, c;
    int64_t in[DN_SPATIAL_MAX], out[DN_SPATIAL_MAX], win[DN_SPATIAL_MAX], pad[DN_SPATIAL_MAX], str[DN_SPATIAL_MAX];
    layout x, y, dx, dy;
    int axis;                   /* of the bands */
    int64_t band, bands, rest;  /* steps of the axis in a band, bands of a plane, elements of one step */
    int64_t units;              /* independent pieces of work: output rows, or bands */
    size_t slot;                /* doubles of scratch of one thread */
    int slots;
} shape;

typedef struct pool_job {
    const shape *g;
    const dn_args *a;
    double *scratch;
} pool_job;

static layout layout_of(const dn_tensor *t)
{
    layout l = { .vect = t->vect > 1 ? t->vect : 1, .type = dn_dtype_scalar(t->type) };
    l.n = t->strides[0] * l.vect;
    l.c = t->strides[1] * l.vect;
    for (int d = 2; d < t->rank; d++)
        l.s[DN_SPATIAL_MAX - t->rank + d] = t->strides[d] * l.vect;
    return l;
}

static int64_t plane_offset(const layout *l, int64_t n, int64_t c)
{
    return n * l->n + c / l->vect * l->c + c % l->vect;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Where window o of dimension d begins, before the padding is cut off. */
static int64_t origin(const shape *g, int d, int64_t o)
{
    return o * g->str[d] - g->pad[d];
}

/* Inputs under the window of dimension d that begins at `begin`. */
static range inputs(const shape *g, int d, int64_t begin)
{
    return (range){ greatest(begin, 0), least(begin + g->win[d], g->in[d]) };
}

/* What an average over that window divides by along dimension d: padding counts as far as it goes, as in Caffe and at the vendor. */
static int64_t counted(const shape *g, int d, int64_t begin)
{
    range r = inputs(g, d, begin);
    return g->count_pad ? least(g->win[d], g->in[d] + g->pad[d] - begin) : r.end - r.begin;
}

static int64_t product(const int64_t *v, int begin, int end)
{
    int64_t n = 1;
    for (int d = begin; d < end; d++)
        n *= v[d];
    return n;
}

/* Threads by work, but for memory: bands as large as a plane are made by one thread at a time. */
static int slots_for(int64_t units, double steps, size_t slot)
{
    int64_t slots = least(dn_thread_count(), units);
    if (steps < SMALL_WORK || slot > ((size_t)1 << 25))
        slots = 1;
    return (int)greatest(slots, 1);
}

static void shape_init(shape *g, const dn_problem *p)
{
    const dn_pool_param *q = &p->u.pool;
    const dn_tensor *x = &p->t[DN_X], *y = &p->t[DN_Y];
    int lead = DN_SPATIAL_MAX - q->spatial;
    memset(g, 0, sizeof(*g));
    g->max = q->mode == 0 || q->mode == 3;
    g->count_pad = q->mode == 1;
    g->nan = q->nan != 0;
    g->n = x->dims[0];
    g->c = x->dims[1];
    for (int d = 0; d < DN_SPATIAL_MAX; d++) {
        int i = d - lead;
        g->in[d] = i < 0 ? 1 : x->dims[2 + i];
        g->out[d] = i < 0 ? 1 : y->dims[2 + i];
        g->win[d] = i < 0 ? 1 : q->window[i];
        g->pad[d] = i < 0 ? 0 : q->pad[i];
        g->str[d] = i < 0 ? 1 : q->stride[i];
    }
    g->x = layout_of(x);
    g->y = layout_of(y);
    double steps = (double)(g->n * g->c) * (double)product(g->out, 0, LAST + 1) * (double)product(g->win, 0, LAST + 1);
    if (p->dir == DN_DIR_FWD) {
        g->units = g->n * g->c * product(g->out, 0, LAST);
        g->slot = (size_t)(2 * g->in[LAST] + g->out[LAST]);
    } else {
        g->dx = layout_of(&p->t[DN_DX]);
        g->dy = layout_of(&p->t[DN_DY]);
        g->axis = least(lead, LAST - 1);
        g->rest = product(g->in, g->axis + 1, LAST + 1);
        g->band = greatest(2 * g->win[g->axis], BAND_ELEMENTS / g->rest);
        g->band = least(g->band, g->in[g->axis]);
        g->bands = (g->in[g->axis] + g->band - 1) / g->band;
        g->units = g->n * g->c * g->bands;
        g->slot = (size_t)(g->band * g->rest + g->in[LAST] + 3 * g->out[LAST]);
    }
    g->slots = slots_for(g->units, steps, g->slot);
}

/* --- an odometer over the outer pooled dimensions: every dimension but the last, each in a range of its own --- */
typedef struct odometer {
    range r[LAST];
    int64_t at[LAST];
} odometer;

static void odometer_start(odometer *o)
{
    for (int d = 0; d < LAST; d++)
        o->at[d] = o->r[d].begin;
}

static bool odometer_next(odometer *o)
{
    for (int d = LAST - 1; d >= 0; d--) {
        if (++o->at[d] < o->r[d].end)
            return true;
        o->at[d] = o->r[d].begin;
    }
    return false;
}

static int64_t outer_offset(const layout *l, const int64_t *at)
{
    int64_t offset = 0;
    for (int d = 0; d < LAST; d++)
        offset += at[d] * l->s[d];
    return offset;
}

static bool window_of(const shape *g, const int64_t *out, odometer *w)
{
    bool any = true;
    for (int d = 0; d < LAST; d++) {
        w->r[d] = inputs(g, d, origin(g, d, out[d]));
        any = any && w->r[d].begin < w->r[d].end;
    }
    odometer_start(w);
    return any;
}

/* --- forward --- */
static void add_max(int64_t n, const double *v, double *m, bool nan)
{
    if (nan) {
        for (int64_t i = 0; i < n; i++)
            m[i] = v[i] > m[i] || isnan(v[i]) ? v[i] : m[i];
    } else {
        for (int64_t i = 0; i < n; i++)
            m[i] = v[i] > m[i] ? v[i] : m[i];
    }
}

static void slide_max(const shape *g, const double *col, double *y)
{
    int64_t begin = -g->pad[LAST];
    for (int64_t q = 0; q < g->out[LAST]; q++, begin += g->str[LAST]) {
        range r = inputs(g, LAST, begin);
        double m = -INFINITY;
        for (int64_t i = r.begin; i < r.end; i++)
            if (col[i] > m || (g->nan && isnan(col[i])))
                m = col[i];
        y[q] = m;
    }
}

static void slide_average(const shape *g, const double *col, double outer, double *y)
{
    int64_t begin = -g->pad[LAST];
    for (int64_t q = 0; q < g->out[LAST]; q++, begin += g->str[LAST]) {
        range r = inputs(g, LAST, begin);
        double sum = 0;
        for (int64_t i = r.begin; i < r.end; i++)
            sum += col[i];
        y[q] = sum / (outer * (double)counted(g, LAST, begin));
    }
}

static void fwd_row(const pool_job *job, int64_t x_plane, const int64_t *out, double *scratch)
{
    const shape *g = job->g;
    int64_t width = g->in[LAST];
    double *row = scratch, *col = row + width, *y = col + width;
    double outer = 1;
    odometer w;
    for (int64_t i = 0; i < width; i++)
        col[i] = g->max ? -INFINITY : 0.0;
    bool more = window_of(g, out, &w);
    for (int d = 0; d < LAST; d++)
        outer *= (double)counted(g, d, origin(g, d, out[d]));
    for (; more; more = odometer_next(&w)) {
        dn_load_row(g->x.type, job->a->ptr[DN_X], x_plane + outer_offset(&g->x, w.at), g->x.s[LAST], width, row);
        if (g->max)
            add_max(width, row, col, g->nan);
        else
            for (int64_t i = 0; i < width; i++)
                col[i] += row[i];
    }
    if (g->max)
        slide_max(g, col, y);
    else
        slide_average(g, col, outer, y);
}

/* Output rows begin .. end - 1, counted over n, c and the outer pooled dimensions. */
static void fwd_rows(const pool_job *job, int64_t begin, int64_t end, double *scratch)
{
    const shape *g = job->g;
    const double *y = scratch + 2 * g->in[LAST];
    odometer o;
    int64_t plane = begin;
    for (int d = LAST - 1; d >= 0; d--) {
        o.r[d] = (range){ 0, g->out[d] };
        o.at[d] = plane % g->out[d];
        plane /= g->out[d];
    }
    int64_t x_plane = plane_offset(&g->x, plane / g->c, plane % g->c);
    int64_t y_plane = plane_offset(&g->y, plane / g->c, plane % g->c);
    for (int64_t row = begin; row < end; row++) {
        fwd_row(job, x_plane, o.at, scratch);
        dn_store_row(g->y.type, job->a->ptr[DN_Y], y_plane + outer_offset(&g->y, o.at), g->y.s[LAST], g->out[LAST], y,
                     job->a->alpha, job->a->beta);
        if (odometer_next(&o))
            continue;
        plane++;
        x_plane = plane_offset(&g->x, plane / g->c, plane % g->c);
        y_plane = plane_offset(&g->y, plane / g->c, plane % g->c);
    }
}

/* --- backward --- */
typedef struct band {
    range steps;      /* of the axis */
    int64_t x_plane, dy_plane;
    double *acc;      /* steps x rest */
    double *row;      /* W: of x, or of gradients spread along the row */
    double *dy;       /* Q */
    double *best;     /* Q: maximum so far */
    int64_t *pos;     /* Q: where in acc it is, or OUTSIDE, or NONE */
} band;

enum { OUTSIDE = -1, NONE = -2 };

/* First element in acc of the row of the window position `at`, or OUTSIDE. */
static int64_t acc_row(const shape *g, const band *b, const int64_t *at)
{
    if (at[g->axis] < b->steps.begin || at[g->axis] >= b->steps.end)
        return OUTSIDE;
    int64_t row = at[g->axis] - b->steps.begin;
    for (int d = g->axis + 1; d < LAST; d++)
        row = row * g->in[d] + at[d];
    return row * g->in[LAST];
}

static void seek_max(const shape *g, band *b, int64_t to)
{
    int64_t begin = -g->pad[LAST];
    for (int64_t q = 0; q < g->out[LAST]; q++, begin += g->str[LAST]) {
        range r = inputs(g, LAST, begin);
        double best = b->best[q];
        int64_t pos = b->pos[q];
        for (int64_t i = r.begin; i < r.end; i++) {
            double v = b->row[i];
            bool take = isnan(v) ? g->nan && !isnan(best) : v > best || pos == NONE;
            if (take) {
                best = v;
                pos = to == OUTSIDE ? OUTSIDE : to + i;
            }
        }
        b->best[q] = best;
        b->pos[q] = pos;
    }
}

static void bwd_max(const pool_job *job, band *b, odometer *w)
{
    const shape *g = job->g;
    for (int64_t q = 0; q < g->out[LAST]; q++) {
        b->best[q] = -INFINITY;
        b->pos[q] = NONE;
    }
    do {
        dn_load_row(g->x.type, job->a->ptr[DN_X], b->x_plane + outer_offset(&g->x, w->at), g->x.s[LAST], g->in[LAST], b->row);
        seek_max(g, b, acc_row(g, b, w->at));
    } while (odometer_next(w));
    for (int64_t q = 0; q < g->out[LAST]; q++)
        if (b->pos[q] >= 0)
            b->acc[b->pos[q]] += b->dy[q];
}

static void bwd_average(const shape *g, band *b, odometer *w, const int64_t *out)
{
    double outer = 1;
    for (int d = 0; d < LAST; d++)
        outer *= (double)counted(g, d, origin(g, d, out[d]));
    for (int64_t i = 0; i < g->in[LAST]; i++)
        b->row[i] = 0;
    int64_t begin = -g->pad[LAST];
    for (int64_t q = 0; q < g->out[LAST]; q++, begin += g->str[LAST]) {
        range r = inputs(g, LAST, begin);
        double share = b->dy[q] / (outer * (double)counted(g, LAST, begin));
        for (int64_t i = r.begin; i < r.end; i++)
            b->row[i] += share;
    }
    do {
        int64_t to = acc_row(g, b, w->at);
        if (to == OUTSIDE)
            continue;
        for (int64_t i = 0; i < g->in[LAST]; i++)
            b->acc[to + i] += b->row[i];
    } while (odometer_next(w));
}

/* Outputs along the axis whose windows reach into the steps. */
static range outputs_of(const shape *g, range steps)
{
    int d = g->axis;
    int64_t first = steps.begin + g->pad[d] - g->win[d] + 1;  /* least o * stride of a window that reaches steps.begin */
    int64_t last = steps.end - 1 + g->pad[d];                 /* greatest of one that begins in the steps */
    range r = { first <= 0 ? 0 : (first + g->str[d] - 1) / g->str[d], last < 0 ? 0 : last / g->str[d] + 1 };
    r.end = least(r.end, g->out[d]);
    return r;
}

static void bwd_band(const pool_job *job, band *b)
{
    const shape *g = job->g;
    odometer o, w;
    memset(b->acc, 0, sizeof(double) * (size_t)((b->steps.end - b->steps.begin) * g->rest));
    for (int d = 0; d < LAST; d++)
        o.r[d] = (range){ 0, g->out[d] };
    o.r[g->axis] = outputs_of(g, b->steps);
    if (o.r[g->axis].begin >= o.r[g->axis].end)
        return;
    odometer_start(&o);
    do {
        if (!window_of(g, o.at, &w))
            continue;
        dn_load_row(g->dy.type, job->a->ptr[DN_DY], b->dy_plane + outer_offset(&g->dy, o.at), g->dy.s[LAST], g->out[LAST], b->dy);
        if (g->max)
            bwd_max(job, b, &w);
        else
            bwd_average(g, b, &w, o.at);
    } while (odometer_next(&o));
}

static void store_band(const pool_job *job, const band *b, int64_t dx_plane)
{
    const shape *g = job->g;
    const double *from = b->acc;
    odometer w;
    for (int d = 0; d < LAST; d++)
        w.r[d] = (range){ 0, g->in[d] };
    w.r[g->axis] = b->steps;
    odometer_start(&w);
    do {
        dn_store_row(g->dx.type, job->a->ptr[DN_DX], dx_plane + outer_offset(&g->dx, w.at), g->dx.s[LAST], g->in[LAST], from,
                     job->a->alpha, job->a->beta);
        from += g->in[LAST];
    } while (odometer_next(&w));
}

static void bwd_bands(const pool_job *job, int64_t begin, int64_t end, double *scratch)
{
    const shape *g = job->g;
    band b = { .acc = scratch };
    b.row = b.acc + g->band * g->rest;
    b.dy = b.row + g->in[LAST];
    b.best = b.dy + g->out[LAST];
    b.pos = (int64_t *)(void *)(b.best + g->out[LAST]);
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t plane = unit / g->bands, k = unit % g->bands, n = plane / g->c, c = plane % g->c;
        b.steps = (range){ k * g->band, least((k + 1) * g->band, g->in[g->axis]) };
        b.x_plane = plane_offset(&g->x, n, c);
        b.dy_plane = plane_offset(&g->dy, n, c);
        bwd_band(job, &b);
        store_band(job, &b, plane_offset(&g->dx, n, c));
    }
}

/* --- rows --- */
static int64_t cut(const shape *g, int64_t slot)
{
    return g->units / g->slots * slot + least(slot, g->units % g->slots);
}

static void fwd_slots(void *ctx, int64_t begin, int64_t end)
{
    const pool_job *job = ctx;
    for (int64_t s = begin; s < end; s++)
        fwd_rows(job, cut(job->g, s), cut(job->g, s + 1), job->scratch + job->g->slot * (size_t)s);
}

static void bwd_slots(void *ctx, int64_t begin, int64_t end)
{
    const pool_job *job = ctx;
    for (int64_t s = begin; s < end; s++)
        bwd_bands(job, cut(job->g, s), cut(job->g, s + 1), job->scratch + job->g->slot * (size_t)s);
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    shape g;
    shape_init(&g, &plan->problem);
    return dn_scratch_reserve(h, sizeof(double) * g.slot * (size_t)g.slots);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    shape g;
    shape_init(&g, &plan->problem);
    g.slots = (int)least(g.slots, (int64_t)(h->scratch_size / (sizeof(double) * g.slot)));
    pool_job job = { &g, a, h->scratch };
    dn_parallel(g.slots, 1, plan->problem.dir == DN_DIR_FWD ? fwd_slots : bwd_slots, &job);
    return DN_SUCCESS;
}

static const char *check_fwd(const dn_problem *p)
{
    dn_dtype t = dn_dtype_scalar(p->t[DN_X].type);
    return t == DN_F32 || t == DN_F64 || t == DN_F16 || t == DN_BF16 || t == DN_I8 || t == DN_U8 || t == DN_I32 ? NULL
        : "needs type f32, f64, f16, bf16, i32, or i8 or u8, vectorised or not";
}

static const char *check_bwd(const dn_problem *p)
{
    dn_dtype t = p->t[DN_X].type;
    return t == DN_F32 || t == DN_F64 || t == DN_F16 || t == DN_BF16 ? NULL : "needs type f32, f64, f16 or bf16";
}

static const dn_solver rows[] = {
    { .name = "ref_pool_fwd", .op = DN_OP_POOL, .dir = DN_DIR_FWD, .algo = -1, .check = check_fwd, .prepare = prepare, .run = run },
    { .name = "ref_pool_bwd_data", .op = DN_OP_POOL, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = check_bwd, .prepare = prepare,
      .run = run },
};

const dn_rows dn_ref_pool = { rows, sizeof(rows) / sizeof(rows[0]) };
