/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Gradient of a convolution by its input:
 *
 *     dx[n][c][h] = alpha * sum over k, r and those o with o * stride + base + r * step = h of w[k][c][r] * dy[n][k][o] + beta * dx
 *
 * (base and step as dn_conv_geometry_get has them). Two ways:
 *   gather (1)    one matrix product for each phase h mod stride: within a phase the taps that meet an output are an arithmetic
 *                 progression, and o is a linear function of position and tap, so no product is spent on zeros
 *   scatter (0)   the product w' * dy per tap, added to a slab of dx in double where the tap puts it
 * Neither needs a workspace; both give equal bits from run to run. */
#include "ref/conv.h"

#include <stdlib.h>
#include <string.h>

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t mod_positive(int64_t a, int64_t b)
{
    int64_t r = a % b;
    return r < 0 ? r + b : r;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* --- 1: gather --- */

typedef struct gather_state {
    const dn_conv_kernel *k;
    dn_conv_tiles t;
    int64_t phases;
} gather_state;

typedef struct gather_job {
    const gather_state *s;
    const dn_problem *p;
    const dn_args *a;
    void *scratch;
} gather_job;

/* Taps of one dimension that meet an output at positions phase, phase + stride, ...: r = first + i * every, i < count. */
typedef struct tap_set {
    int64_t first, every, count;
} tap_set;

static tap_set taps_of_phase(int64_t taps, int64_t stride, int64_t shift, int64_t step)
{
    tap_set t = {.every = stride / gcd(stride, step < 0 ? -step : step)};
    for (t.first = 0; t.first < taps && t.first < t.every; t.first++)
        if (mod_positive(shift - t.first * step, stride) == 0) {
            t.count = (taps - 1 - t.first) / t.every + 1;
            return t;
        }
    return t;
}

int64_t dn_conv_phases(const dn_problem *p)
{
    int64_t phases = 1;
    for (int j = 0; j < p->u.conv.spatial; j++)
        phases *= min64(p->u.conv.stride[j], p->t[DN_X].dims[j + 2]);
    return phases;
}

void dn_conv_phase(const dn_problem *p, int64_t phase, dn_conv_gemm *g)
{
    dn_conv_geometry geometry;
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W], *y = &p->t[DN_Y];
    int n = p->u.conv.spatial;
    dn_conv_geometry_get(p, &geometry);
    memset(g, 0, sizeof *g);
    g->m = w->dims[1];
    g->in = (dn_conv_view){.type = (dn_dtype)y->type, .rank = n + 1, .chan_stride = y->strides[1]};
    g->out = (dn_conv_view){.type = (dn_dtype)x->type, .rank = n + 1, .chan_stride = x->strides[1]};
    g->w = (dn_conv_filter){.type = (dn_dtype)w->type, .rank = n, .chans = w->dims[0] / p->u.conv.groups,
                            .row_stride = w->strides[1], .chan_stride = w->strides[0]};
    g->in.group_stride = g->w.chans * y->strides[1];
    g->w.group_stride = g->w.chans * w->strides[0];
    g->in.dim[0] = (dn_conv_dim){.cols = y->dims[0], .taps = 1, .mul = 1, .limit = y->dims[0], .stride = y->strides[0]};
    g->out.dim[0] = (dn_conv_dim){.cols = x->dims[0], .taps = 1, .mul = 1, .limit = x->dims[0], .stride = x->strides[0]};
    for (int j = n - 1; j >= 0; j--) {
        int64_t stride = p->u.conv.stride[j], step = geometry.step[j], phases = min64(stride, x->dims[j + 2]);
        int64_t at = phase % phases;
        phase /= phases;
        int64_t shift = at - geometry.base[j];
        int64_t cols = dn_ceil_div(x->dims[j + 2] - at, stride);
        tap_set t = taps_of_phase(w->dims[j + 2], stride, shift, step);
        g->in.dim[j + 1] = (dn_conv_dim){.cols = cols, .taps = t.count, .mul = 1, .base = t.count ? (shift - t.first * step) / stride : 0,
                                         .step = -(t.every * step) / stride, .limit = y->dims[j + 2], .stride = y->strides[j + 2]};
        g->out.dim[j + 1] = (dn_conv_dim){.cols = cols, .taps = 1, .mul = stride, .base = at, .limit = x->dims[j + 2],
                                          .stride = x->strides[j + 2]};
        g->w.offset += t.first * w->strides[j + 2];
        g->w.dim[j] = t.count;
        g->w.stride[j] = t.every * w->strides[j + 2];
    }
    dn_conv_view_finish(&g->in);
    dn_conv_view_finish(&g->out);
    dn_conv_filter_finish(&g->w);
    g->l = g->w.chans * g->w.taps;
}

static dn_status prepare_gather(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    gather_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    s->k = dn_conv_kernel_get();
    s->phases = dn_conv_phases(p);
    int64_t cols = p->t[DN_X].dims[0];
    for (int j = 0; j < p->u.conv.spatial; j++)
        cols *= dn_ceil_div(p->t[DN_X].dims[j + 2], p->u.conv.stride[j]);
    dn_conv_tiles_choose(&s->t, s->k, p->t[DN_W].dims[1], cols, s->phases * p->u.conv.groups);
    return dn_scratch_reserve(h, dn_conv_slots_size(&s->t));
}

static void gather_tiles(void *ctx, int64_t begin, int64_t end)
{
    const gather_job *job = ctx;
    const gather_state *s = job->s;
    const dn_args *a = job->a;
    dn_conv_finish finish = {.out = a->ptr[DN_X], .alpha = a->alpha, .beta = a->beta};
    int64_t tiles = s->t.m_tiles * s->t.n_tiles * job->p->u.conv.groups, ready = -1;
    dn_conv_gemm g;
    dn_conv_slot *slot = dn_conv_slot_take(&s->t, job->scratch);
    for (int64_t i = begin; i < end; i++) {
        if (i / tiles != ready) {
            ready = i / tiles;
            dn_conv_phase(job->p, ready, &g);
        }
        int64_t m = i % s->t.m_tiles, rest = i % tiles / s->t.m_tiles;
        dn_conv_gemm_tile(s->k, slot, &g, &s->t, a->ptr[DN_Y], a->ptr[DN_W], &finish, rest / s->t.n_tiles, m, rest % s->t.n_tiles);
    }
    dn_conv_slot_give(slot);
}

static dn_status run_gather(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const gather_state *s = plan->state;
    gather_job job = {.s = s, .p = &plan->problem, .a = a, .scratch = h->scratch};
    dn_conv_slots_init(&s->t, h->scratch);
    dn_parallel(s->phases * plan->problem.u.conv.groups * s->t.m_tiles * s->t.n_tiles, 1, gather_tiles, &job);
    return DN_SUCCESS;
}

static void release(dn_plan *plan)
{
    free(plan->state);
    plan->state = NULL;
}

/* --- 0: scatter --- */

enum { SLAB_DOUBLES = 1 << 17 };  /* of dx per thread, 1 MiB; more where one row of the outermost dimension needs it */

typedef struct scatter_state {
    const dn_conv_kernel *k;
    dn_conv_geometry geometry;
    dn_conv_tiles t;
    dn_conv_filter w;       /* rows c, reduction k, one tap at a time: offset set by the caller */
    int64_t chans;          /* of dx in a slab */
    int64_t rows;           /* of the outermost spatial dimension in a slab */
    int64_t row_size;       /* elements of such a row */
    int64_t images;         /* in a slab: several where dy's images are smaller than a tile */
    int64_t chan_blocks, slabs, batches;
} scatter_state;

typedef struct scatter_job {
    const scatter_state *s;
    const dn_problem *p;
    const dn_args *a;
    void *scratch;
} scatter_job;

/* One slab: images n .. n + nn - 1, group g, channels c .. c + cn - 1 of the group, rows h .. h + hn - 1. */
typedef struct slab {
    int64_t n, nn, g, c, cn, h, hn;
    double *sum;  /* [cn][nn][hn * row_size] */
} slab;

/* Slabs of at most SLAB_DOUBLES where one row of one channel fits, enough of them for all threads. */
static void choose_slabs(scatter_state *s, const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W], *y = &p->t[DN_Y];
    int64_t space = 1, want = 2 * (int64_t)dn_thread_count();
    s->row_size = 1;
    for (int j = 3; j < x->rank; j++)
        s->row_size *= x->dims[j];
    for (int j = 2; j < y->rank; j++)
        space *= y->dims[j];
    /* Enough channels for the kernel's rows, but not so few rows that most are computed for two slabs. */
    int64_t chans = min64(w->dims[1], 2 * s->k->mr), reach = (w->dims[2] - 1) * p->u.conv.dilation[0] + 1;
    int64_t fit = SLAB_DOUBLES / s->row_size / chans;
    s->rows = min64(x->dims[2], fit > 4 * reach ? fit : min64(4 * reach, SLAB_DOUBLES / s->row_size));
    s->rows = s->rows < 1 ? 1 : s->rows;
    s->slabs = dn_ceil_div(x->dims[2], s->rows);
    s->chans = min64(min64(w->dims[1], 64), SLAB_DOUBLES / (s->rows * s->row_size));
    s->chans = s->chans < 1 ? 1 : s->chans;
    s->chan_blocks = dn_ceil_div(w->dims[1], s->chans);
    s->images = min64(min64(x->dims[0], dn_ceil_div(DN_CONV_NC, space)), SLAB_DOUBLES / (s->chans * s->rows * s->row_size));
    s->images = s->images < 1 ? 1 : s->images;
    s->batches = dn_ceil_div(x->dims[0], s->images);
    while (s->batches * p->u.conv.groups * s->slabs * s->chan_blocks < want && s->chans > s->k->mr) {
        s->chans = dn_round_up(s->chans / 2, s->k->mr);
        s->chan_blocks = dn_ceil_div(w->dims[1], s->chans);
    }
}

static dn_status prepare_scatter(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    const dn_tensor *w = &p->t[DN_W];
    scatter_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    s->k = dn_conv_kernel_get();
    dn_conv_geometry_get(p, &s->geometry);
    choose_slabs(s, p);
    s->w = (dn_conv_filter){.type = (dn_dtype)w->type, .rank = 1, .chans = w->dims[0] / p->u.conv.groups, .row_stride = w->strides[1],
                            .chan_stride = w->strides[0], .dim = {1}};
    s->w.group_stride = s->w.chans * w->strides[0];
    dn_conv_filter_finish(&s->w);
    s->t = (dn_conv_tiles){.mt = dn_round_up(s->chans, s->k->mr), .nt = DN_CONV_NC, .m_tiles = s->chan_blocks, .n_tiles = s->slabs};
    s->t.extra = s->chans * s->images * s->rows * s->row_size;
    return dn_scratch_reserve(h, dn_conv_slots_size(&s->t));
}

/* Outputs o of dimension j that any tap puts into [h, h + hn): lo .. hi - 1. */
static void output_range(const scatter_job *job, int j, int64_t h, int64_t hn, int64_t *lo, int64_t *hi)
{
    const dn_problem *p = job->p;
    int64_t stride = p->u.conv.stride[j], last = (p->t[DN_W].dims[j + 2] - 1) * job->s->geometry.step[j];
    int64_t base = job->s->geometry.base[j], least = base + (last < 0 ? last : 0), most = base + (last > 0 ? last : 0);
    *lo = h - most > 0 ? dn_ceil_div(h - most, stride) : 0;
    *hi = h + hn - least > 0 ? min64(p->t[DN_Y].dims[j + 2], dn_ceil_div(h + hn - least, stride)) : 0;
}

/* Columns of the output range, to their places in the slab under a tap; runs of the last dimension at a time. */
static void scatter_tap(const scatter_job *job, const slab *b, const dn_conv_slot *slot, const int64_t *tap, int64_t lo, int64_t ldc)
{
    const dn_problem *p = job->p;
    int last = p->u.conv.spatial - 1;
    int64_t chan_size = b->nn * b->hn * job->s->row_size, extent[DN_SPATIAL_MAX], disp[DN_SPATIAL_MAX];
    for (int j = 0; j <= last; j++) {
        extent[j] = j ? p->t[DN_X].dims[j + 2] : b->hn;
        disp[j] = job->s->geometry.base[j] + tap[j] * job->s->geometry.step[j];
    }
    disp[0] += lo * p->u.conv.stride[0] - b->h;  /* runs count from lo, the slab from h */
    for (int32_t r = 0; r < slot->out.runs; r++) {
        const int64_t *index = slot->out.index[r];
        int64_t place = index[0], stride = p->u.conv.stride[last], first = index[last + 1] * stride + disp[last];
        bool inside = true;
        for (int j = 0; j < last; j++) {
            int64_t i = index[j + 1] * p->u.conv.stride[j] + disp[j];
            inside = inside && i >= 0 && i < extent[j];
            place = place * extent[j] + i;
        }
        if (!inside)
            continue;
        int64_t from = first >= 0 ? 0 : dn_ceil_div(-first, stride);
        int64_t to = extent[last] > first ? min64(dn_ceil_div(extent[last] - first, stride), slot->out.run[r].n) : 0;
        for (int64_t c = 0; c < b->cn; c++) {
            const double *v = slot->c + c * ldc + slot->out.run[r].at;
            double *sum = b->sum + c * chan_size + place * extent[last];
            for (int64_t q = from; q < to; q++)
                sum[first + q * stride] += v[q];
        }
    }
}

static bool next_tap(const dn_problem *p, int64_t *tap)
{
    for (int j = p->u.conv.spatial - 1; j >= 0; j--) {
        if (++tap[j] < p->t[DN_W].dims[j + 2])
            return true;
        tap[j] = 0;
    }
    return false;
}

/* The columns' view of dy: the slab's images, rows lo .. hi - 1 of the outermost dimension. */
static void output_view(const scatter_job *job, const slab *b, int64_t lo, int64_t hi, dn_conv_view *v, dn_conv_view *places)
{
    const dn_tensor *y = &job->p->t[DN_Y];
    int n = job->p->u.conv.spatial;
    *v = (dn_conv_view){.type = (dn_dtype)y->type, .rank = n + 1, .chan_stride = y->strides[1]};
    v->offset = b->n * y->strides[0] + lo * y->strides[2] + b->g * job->s->w.chans * y->strides[1];
    for (int j = 0; j <= n; j++) {
        int64_t dim = j == 0 ? b->nn : j == 1 ? hi - lo : y->dims[j + 1];
        v->dim[j] = (dn_conv_dim){.cols = dim, .taps = 1, .mul = 1, .limit = dim, .stride = y->strides[j ? j + 1 : 0], .tap_weight = 1};
    }
    *places = *v;  /* not folded: its runs keep every index */
    dn_conv_view_finish(v);
    places->cols = v->cols;
    places->taps = 1;
}

/* All of dy's columns col .. col + nn - 1 times the filter, tap after tap, into the slab. */
static void scatter_columns(const scatter_job *job, dn_conv_slot *slot, const slab *b, const dn_conv_view *v, const dn_conv_view *places,
                            int64_t col, int64_t nn, int64_t lo)
{
    const scatter_state *s = job->s;
    const dn_tensor *w = &job->p->t[DN_W];
    dn_conv_cursor_seek(&slot->in, v, col, nn);
    dn_conv_cursor_seek(&slot->out, places, col, nn);
    for (int64_t l = 0; l < s->w.chans; l += DN_CONV_KC) {
        int64_t len = min64(DN_CONV_KC, s->w.chans - l), tap[DN_SPATIAL_MAX] = {0};
        dn_conv_pack_columns(s->k, slot, &s->w, job->a->ptr[DN_Y], 0, l, len, slot->b, s->k->nr * DN_CONV_KC);
        do {
            int64_t add = b->g * s->w.group_stride;
            for (int j = 0; j < job->p->u.conv.spatial; j++)
                add += tap[j] * w->strides[j + 2];
            dn_conv_pack_filter(s->k, slot, &s->w, job->a->ptr[DN_W], add, b->c, b->cn, l, len);
            memset(slot->c, 0, (size_t)(s->t.mt * s->t.nt) * sizeof(double));
            dn_conv_tile_multiply(s->k, slot, b->cn, nn, len, slot->b, s->k->nr * DN_CONV_KC, s->t.nt);
            scatter_tap(job, b, slot, tap, lo, s->t.nt);
        } while (next_tap(job->p, tap));
    }
}

static void store_slab(const scatter_job *job, const slab *b)
{
    const dn_tensor *x = &job->p->t[DN_X];
    int64_t plane = b->hn * job->s->row_size, last = x->rank > 3 ? x->dims[x->rank - 1] : b->hn;
    for (int64_t i = 0; i < b->cn * b->nn * plane / last; i++) {
        int64_t at = i * last, rest = at / plane, row = at % plane / last;
        int64_t off = (b->n + rest % b->nn) * x->strides[0] + b->h * x->strides[2];
        off += (b->g * job->p->t[DN_W].dims[1] + b->c + rest / b->nn) * x->strides[1];
        for (int j = x->rank - 2; j > 2; j--) {
            off += row % x->dims[j] * x->strides[j];
            row /= x->dims[j];
        }
        off += row * x->strides[2];  /* 0 where the slab's rows are the last dimension */
        dn_store_row((dn_dtype)x->type, job->a->ptr[DN_X], off, x->strides[x->rank - 1], last, b->sum + at, job->a->alpha,
                     job->a->beta);
    }
}

static void scatter_slabs(void *ctx, int64_t begin, int64_t end)
{
    const scatter_job *job = ctx;
    const scatter_state *s = job->s;
    const dn_problem *p = job->p;
    dn_conv_slot *slot = dn_conv_slot_take(&s->t, job->scratch);
    for (int64_t i = begin; i < end; i++) {
        slab b = {.h = i % s->slabs * s->rows, .sum = slot->extra};
        b.c = i / s->slabs % s->chan_blocks * s->chans;
        b.g = i / s->slabs / s->chan_blocks % p->u.conv.groups;
        b.n = i / s->slabs / s->chan_blocks / p->u.conv.groups * s->images;
        b.nn = min64(s->images, p->t[DN_X].dims[0] - b.n);
        b.hn = min64(s->rows, p->t[DN_X].dims[2] - b.h);
        b.cn = min64(s->chans, p->t[DN_W].dims[1] - b.c);
        memset(b.sum, 0, (size_t)(b.cn * b.nn * b.hn * s->row_size) * sizeof(double));
        int64_t lo, hi;
        output_range(job, 0, b.h, b.hn, &lo, &hi);
        if (lo < hi) {
            dn_conv_view v, places;
            output_view(job, &b, lo, hi, &v, &places);
            for (int64_t col = 0; col < v.cols; col += s->t.nt)
                scatter_columns(job, slot, &b, &v, &places, col, min64(s->t.nt, v.cols - col), lo);
        }
        store_slab(job, &b);
    }
    dn_conv_slot_give(slot);
}

static dn_status run_scatter(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const scatter_state *s = plan->state;
    const dn_problem *p = &plan->problem;
    scatter_job job = {.s = s, .p = p, .a = a, .scratch = h->scratch};
    dn_conv_slots_init(&s->t, h->scratch);
    dn_parallel(s->batches * p->u.conv.groups * s->chan_blocks * s->slabs, 1, scatter_slabs, &job);
    return DN_SUCCESS;
}

#define ROW(row_name, number) \
    .name = row_name, .op = DN_OP_CONV, .dir = DN_DIR_BWD_DATA, .algo = number, .flags = DN_SOLVER_PLAIN, .check = dn_ref_conv_check, \
    .release = release

static const dn_solver rows[] = {
    {ROW("ref_conv_bwd_data_gather", 1), .prepare = prepare_gather, .run = run_gather},
    {ROW("ref_conv_bwd_data_scatter", 0), .prepare = prepare_scatter, .run = run_scatter},
};

const dn_rows dn_ref_conv_bwd_data = {rows, sizeof rows / sizeof rows[0]};
