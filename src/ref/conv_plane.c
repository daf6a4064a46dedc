/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution and its gradients where a group has at most four output channels (of y, or of dx in backward data): depthwise ones, and
 * those that end in or begin with an image of three colours. A matrix product would gather each input once per tap for a few
 * multiplications each; here a band of input rows is widened to double once, and each output row is the sum over taps of weights
 * times shifted rows of it. Backward filter the same way round for one input channel per group: dot products of dy's rows with
 * shifted rows of x.
 *
 * Under a stride, a buffered row is kept as the strided sequences that make it up, so that the rows under a tap stay dense; backward
 * data takes the outputs of each phase of the stride as a plane of its own, as conv_bwd_data.c does. One or two spatial dimensions,
 * any type, strides, dilation. The same sums as the implicit GEMM rows, channel by channel, tap by tap. No workspace. */
#include "ref/conv.h"
#include "ref/conv_plane.h"

#include <stdlib.h>
#include <string.h>

enum { BAND_DOUBLES = 1 << 15, TAPS_MAX = 1 << 12, LANES = 8 };

/* Outputs first, first + step, ... of both dimensions, and the taps that reach them. */
typedef struct phase {
    int64_t first[2], count[2];
    int64_t taps;
    int64_t *off;    /* of a tap's input in the buffer, from the output's place */
    int64_t *place;  /* of its weight, in scalars */
} phase;

typedef struct plane_state {
    const dn_plane_kernel *k;
    dn_tensor in, out;        /* read in planes, written (backward filter: read) in rows; dims and strides 2 and 3 are height, width */
    int64_t m, l, groups;     /* channels per group: of out, of in */
    int64_t w_m, w_l, w_group;  /* strides of the filter */
    int64_t step[2];          /* between outputs of a phase */
    int64_t hop, split;       /* buffer rows per output row; strided sequences that a buffered row is kept as */
    int64_t lo[2], reach[2];  /* buffered elements before the first of the tensor; those that an output reaches */
    int64_t width, pitch;     /* of a sequence; of a buffer row */
    int64_t rows, bands;      /* output rows of a phase at a time */
    int64_t ld;               /* of a row of sums */
    int phases;
    phase *phase;
    int64_t *lists;           /* of all phases */
    int64_t band_size;        /* of the buffer */
    dn_conv_tiles slots;
} plane_state;

/* Working memory of a thread. */
typedef struct areas {
    double *sum;      /* [m][rows][ld]; backward filter: a row of dy */
    double *buffer;   /* [rows under a band][pitch] */
    double *line;     /* a row of the tensor */
    double *weights;  /* [m][taps]; backward filter: [m][taps][8] sums */
} areas;

typedef struct plane_job {
    const plane_state *s;
    const dn_problem *p;
    const dn_args *a;
    void *scratch;
} plane_job;

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* --- what is taken --- */

static const char *check_plane(const dn_problem *p)
{
    bool back = p->dir == DN_DIR_BWD_DATA;
    int64_t k = p->t[DN_W].dims[0] / p->u.conv.groups, c = p->t[DN_W].dims[1], taps = 1, phases = 1;
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        if (p->t[r].rank && p->t[r].vect != 1)
            return "needs plain types";
    if (p->u.conv.spatial > 2)
        return "needs 1 or 2 spatial dimensions";
    if ((back ? c : k) > DN_PLANE_ROWS)
        return "needs at most 4 output channels per group";
    if (p->dir == DN_DIR_BWD_FILTER && (c != 1 || p->u.conv.groups < 4))
        return "needs one input channel per group, and 4 groups";
    for (int j = 0; j < p->u.conv.spatial; j++) {
        taps *= p->t[DN_W].dims[j + 2];
        phases *= p->u.conv.stride[j];
        if (p->u.conv.dilation[j] * (p->t[DN_W].dims[j + 2] - 1) + 2 * p->u.conv.pad[j] > TAPS_MAX || p->u.conv.stride[j] > TAPS_MAX)
            return "needs padding, stride and filter extent of at most 4096";
    }
    int last = p->u.conv.spatial + 1;
    if (taps > TAPS_MAX || phases > TAPS_MAX || p->t[DN_X].dims[last] > BAND_DOUBLES)
        return "needs at most 4096 taps and rows of at most 32768";
    int64_t reach = (p->t[DN_W].dims[2] - 1) * p->u.conv.dilation[0] + 1;
    if (last == 3 && reach * (p->t[DN_X].dims[3] + 2 * (int64_t)p->u.conv.pad[1]) > 1 << 20)
        return "needs at most 2^20 elements in the rows under a filter";
    if (p->t[back ? DN_X : DN_Y].dims[last] < (back ? 4 * p->u.conv.stride[last - 2] : 4))
        return "needs rows of at least 4 outputs";
    return dn_ref_conv_check(p);
}

/* --- prepare --- */

/* With height 1 where there is one dimension. */
static dn_tensor as_planes(const dn_tensor *t)
{
    dn_tensor r = *t;
    if (t->rank == 3) {
        r.rank = 4;
        r.dims[3] = t->dims[2];
        r.strides[3] = t->strides[2];
        r.dims[2] = 1;
        r.strides[2] = 0;
    }
    return r;
}

typedef struct axis {
    int64_t taps, stride, base, step, w_stride;
} axis;

static axis axis_of(const dn_problem *p, const dn_conv_geometry *g, int i)
{
    int j = i + p->u.conv.spatial - 2;
    if (j < 0)
        return (axis){.taps = 1, .stride = 1, .step = 1};
    return (axis){.taps = p->t[DN_W].dims[j + 2], .stride = p->u.conv.stride[j], .base = g->base[j], .step = g->step[j],
                  .w_stride = p->t[DN_W].strides[j + 2]};
}

/* The input under output i of the phase that begins at `first`, tap r, is i * hop + *shift; false where none is. */
static bool tap_shift(const axis *a, bool back, int64_t first, int64_t r, int64_t *shift)
{
    int64_t at = back ? first - a->base - r * a->step : a->base + r * a->step;
    *shift = back ? at / a->stride : at;
    return !back || at % a->stride == 0;
}

/* How far shifts go, over all phases. */
static void reach_find(plane_state *s, const axis *a, bool back, int i)
{
    int64_t least = 0, most = 0, shift;
    for (int64_t first = 0; first < (back ? a->stride : 1); first++)
        for (int64_t r = 0; r < a->taps; r++)
            if (tap_shift(a, back, first, r, &shift)) {
                least = min64(least, shift);
                most = max64(most, shift);
            }
    s->lo[i] = -least;
    s->reach[i] = most - least + 1;
}

static void phase_fill(plane_state *s, phase *f, const axis *a, bool back, int64_t *lists)
{
    int64_t y, x;
    f->off = lists;
    f->place = lists + a[0].taps * a[1].taps;
    for (int i = 0; i < 2; i++)
        f->count[i] = f->first[i] < s->out.dims[i + 2] ? dn_ceil_div(s->out.dims[i + 2] - f->first[i], s->step[i]) : 0;
    for (int64_t r = 0; r < a[0].taps; r++)
        for (int64_t q = 0; q < a[1].taps; q++)
            if (tap_shift(&a[0], back, f->first[0], r, &y) && tap_shift(&a[1], back, f->first[1], q, &x)) {
                x += s->lo[1];
                f->off[f->taps] = (y + s->lo[0]) * s->pitch + x % s->split * s->width + x / s->split;
                f->place[f->taps++] = r * a[0].w_stride + q * a[1].w_stride;
            }
}

static dn_status phases_make(plane_state *s, const axis *a, bool back)
{
    int64_t lists = 2 * a[0].taps * a[1].taps;
    s->phases = (int)(s->step[0] * s->step[1]);
    s->phase = calloc((size_t)s->phases, sizeof *s->phase);
    s->lists = calloc((size_t)(lists * s->phases), sizeof *s->lists);
    if (!s->phase || !s->lists)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a list of %lld filter taps", (long long)(lists * s->phases));
    for (int i = 0; i < s->phases; i++) {
        s->phase[i].first[0] = i / s->step[1];
        s->phase[i].first[1] = i % s->step[1];
        phase_fill(s, &s->phase[i], a, back, s->lists + i * lists);
    }
    return DN_SUCCESS;
}

static const dn_plane_kernel *kernel_get(void)
{
    const dn_conv_kernel *k = dn_conv_kernel_get();
#if defined(DN_HAVE_AVX512)
    if (k == &dn_conv_kernel_avx512)
        return &dn_plane_kernel_avx512;
#endif
#if defined(DN_HAVE_AVX2)
    if (k == &dn_conv_kernel_avx2)
        return &dn_plane_kernel_avx2;
#endif
    (void)k;
    return &dn_plane_kernel_base;
}

/* Bands that fit the cache, enough of them for all threads. */
static void bands_choose(plane_state *s, int64_t height, int64_t items)
{
    int64_t want = dn_thread_count() > 1 ? 2 * (int64_t)dn_thread_count() : 1;
    s->rows = max64(1, min64(height, (BAND_DOUBLES / s->pitch - s->reach[0]) / s->hop + 1));
    s->rows = max64(1, min64(s->rows, dn_ceil_div(height * items, want)));
    s->bands = dn_ceil_div(height, s->rows);
    s->band_size = ((s->rows - 1) * s->hop + s->reach[0]) * s->pitch + 2 * DN_PLANE_PAD;
}

static areas cut(const plane_state *s, double *memory)
{
    areas r = {.sum = memory};
    r.buffer = r.sum + s->m * s->rows * s->ld;
    r.line = r.buffer + s->band_size;
    r.weights = r.line + s->in.dims[3];
    return r;
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    bool back = p->dir == DN_DIR_BWD_DATA;
    const dn_tensor *w = &p->t[DN_W];
    dn_conv_geometry g;
    plane_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    s->k = kernel_get();
    s->groups = p->u.conv.groups;
    s->in = as_planes(&p->t[back ? DN_Y : DN_X]);
    s->out = as_planes(&p->t[back ? DN_X : DN_Y]);
    s->m = back ? w->dims[1] : w->dims[0] / s->groups;
    s->l = back ? w->dims[0] / s->groups : w->dims[1];
    s->w_m = w->strides[back];
    s->w_l = w->strides[!back];
    s->w_group = w->dims[0] / s->groups * w->strides[0];
    dn_conv_geometry_get(p, &g);
    const axis a[2] = {axis_of(p, &g, 0), axis_of(p, &g, 1)};
    for (int i = 0; i < 2; i++) {
        s->step[i] = back ? a[i].stride : 1;
        reach_find(s, &a[i], back, i);
    }
    s->hop = back ? 1 : a[0].stride;
    s->split = back ? 1 : a[1].stride;
    int64_t cols = dn_ceil_div(s->out.dims[3], s->step[1]);
    s->width = cols + dn_ceil_div(s->reach[1], s->split);
    s->pitch = s->width * s->split;
    s->ld = dn_round_up(cols, DN_PLANE_PAD);
    bands_choose(s, dn_ceil_div(s->out.dims[2], s->step[0]), p->dir == DN_DIR_BWD_FILTER ? s->groups : s->groups * s->in.dims[0]);
    int64_t weights = s->m * a[0].taps * a[1].taps * (p->dir == DN_DIR_BWD_FILTER ? LANES : 1);
    s->slots.extra = s->m * s->rows * s->ld + s->band_size + s->in.dims[3] + weights;
    dn_status st = phases_make(s, a, back);
    return st != DN_SUCCESS ? st : dn_scratch_reserve(h, dn_conv_slots_size(&s->slots));
}

static void release(dn_plan *plan)
{
    plane_state *s = plan->state;
    if (s) {
        free(s->phase);
        free(s->lists);
    }
    free(s);
    plan->state = NULL;
}

/* --- run --- */

/* Rows of the channel at off, as far as output rows row .. row + rows - 1 reach, to the buffer. */
static void load_band(const plane_state *s, const void *base, int64_t off, int64_t row, int64_t rows, double *buffer, double *line)
{
    const dn_tensor *t = &s->in;
    int64_t n = min64(t->dims[3], s->pitch - s->lo[1]);
    for (int64_t b = 0; b < (rows - 1) * s->hop + s->reach[0]; b++, buffer += s->pitch) {
        int64_t y = row * s->hop + b - s->lo[0];
        memset(buffer, 0, (size_t)s->pitch * sizeof(double));
        if (y < 0 || y >= t->dims[2])
            continue;
        double *to = s->split == 1 ? buffer + s->lo[1] : line;
        dn_load_row((dn_dtype)t->type, base, off + y * t->strides[2], t->strides[3], n, to);
        for (int64_t i = 0, x = s->lo[1]; s->split > 1 && i < n; i++, x++)
            buffer[x % s->split * s->width + x / s->split] = line[i];
    }
}

static void load_weights(const plane_state *s, const phase *f, const void *w, dn_dtype type, int64_t off, double *out)
{
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t t = 0; t < f->taps; t++)
            *out++ = dn_load(type, w, off + i * s->w_m + f->place[t]);
}

/* One band of one phase: all channels of the group. */
static void sum_band(const plane_job *job, const areas *r, int64_t image, int64_t group, const phase *f, int64_t row)
{
    const plane_state *s = job->s;
    const dn_tensor *in = &s->in, *out = &s->out, *w = &job->p->t[DN_W];
    bool back = job->p->dir == DN_DIR_BWD_DATA;
    int64_t rows = min64(s->rows, f->count[0] - row), cols = f->count[1];
    memset(r->sum, 0, (size_t)(s->m * s->rows * s->ld) * sizeof(double));
    for (int64_t l = 0; l < s->l && f->taps; l++) {
        int64_t chan = image * in->strides[0] + (group * s->l + l) * in->strides[1];
        load_band(s, job->a->ptr[back ? DN_Y : DN_X], chan, row, rows, r->buffer, r->line);
        load_weights(s, f, job->a->ptr[DN_W], (dn_dtype)w->type, group * s->w_group + l * s->w_l, r->weights);
        for (int64_t y = 0; y < rows; y++)
            s->k->gather(cols, (int)s->m, f->taps, f->off, r->weights, r->buffer + y * s->hop * s->pitch, r->sum + y * s->ld,
                         s->rows * s->ld);
    }
    for (int64_t m = 0; m < s->m; m++)
        for (int64_t y = 0; y < rows; y++) {
            int64_t off = image * out->strides[0] + (group * s->m + m) * out->strides[1] + f->first[1] * out->strides[3];
            off += (f->first[0] + (row + y) * s->step[0]) * out->strides[2];
            dn_store_row((dn_dtype)out->type, job->a->ptr[back ? DN_X : DN_Y], off, out->strides[3] * s->step[1], cols,
                         r->sum + (m * s->rows + y) * s->ld, job->a->alpha, job->a->beta);
        }
}

static void sum_bands(void *ctx, int64_t begin, int64_t end)
{
    const plane_job *job = ctx;
    const plane_state *s = job->s;
    dn_conv_slot *slot = dn_conv_slot_take(&s->slots, job->scratch);
    areas r = cut(s, slot->extra);
    for (int64_t i = begin; i < end; i++) {
        int64_t band = i % s->bands, rest = i / s->bands;
        const phase *f = &s->phase[rest % s->phases];
        int64_t image = rest / s->phases / s->groups, group = rest / s->phases % s->groups;
        if (band * s->rows < f->count[0] && f->count[1] > 0)
            sum_band(job, &r, image, group, f, band * s->rows);
    }
    dn_conv_slot_give(slot);
}

static dn_status run_sum(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const plane_state *s = plan->state;
    plane_job job = {.s = s, .p = &plan->problem, .a = a, .scratch = h->scratch};
    dn_conv_slots_init(&s->slots, h->scratch);
    dn_parallel(s->in.dims[0] * s->groups * s->phases * s->bands, 1, sum_bands, &job);
    return DN_SUCCESS;
}

/* --- backward filter --- */

/* dw of one group: sums over images, then rows, eight interleaved along a row. */
static void dot_group(const plane_job *job, const areas *r, int64_t group)
{
    const plane_state *s = job->s;
    const dn_tensor *in = &s->in, *out = &s->out;
    const phase *f = s->phase;
    memset(r->weights, 0, (size_t)(s->m * f->taps * LANES) * sizeof(double));
    for (int64_t image = 0; image < in->dims[0]; image++)
        for (int64_t row = 0; row < f->count[0]; row += s->rows) {
            int64_t rows = min64(s->rows, f->count[0] - row);
            load_band(s, job->a->ptr[DN_X], image * in->strides[0] + group * in->strides[1], row, rows, r->buffer, r->line);
            for (int64_t i = 0; i < rows * s->m; i++) {
                int64_t y = i / s->m, m = i % s->m, off = image * out->strides[0] + (group * s->m + m) * out->strides[1];
                off += (row + y) * out->strides[2];
                dn_load_row((dn_dtype)out->type, job->a->ptr[DN_Y], off, out->strides[3], f->count[1], r->sum);
                s->k->dot(f->count[1], f->taps, f->off, r->sum, r->buffer + y * s->hop * s->pitch, r->weights + m * f->taps * LANES);
            }
        }
}

static void dot_groups(void *ctx, int64_t begin, int64_t end)
{
    const plane_job *job = ctx;
    const plane_state *s = job->s;
    const phase *f = s->phase;
    const dn_tensor *w = &job->p->t[DN_W];
    dn_conv_slot *slot = dn_conv_slot_take(&s->slots, job->scratch);
    areas r = cut(s, slot->extra);
    for (int64_t group = begin; group < end; group++) {
        dot_group(job, &r, group);
        for (int64_t i = 0; i < s->m * f->taps; i++) {
            double total = 0;
            for (int v = 0; v < LANES; v++)
                total += r.weights[i * LANES + v];
            dn_store_row((dn_dtype)w->type, job->a->ptr[DN_W], group * s->w_group + i / f->taps * s->w_m + f->place[i % f->taps], 1, 1,
                         &total, job->a->alpha, job->a->beta);
        }
    }
    dn_conv_slot_give(slot);
}

static dn_status run_dot(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const plane_state *s = plan->state;
    plane_job job = {.s = s, .p = &plan->problem, .a = a, .scratch = h->scratch};
    dn_conv_slots_init(&s->slots, h->scratch);
    dn_parallel(s->groups, 1, dot_groups, &job);
    return DN_SUCCESS;
}

#define ROW(row_name, dir_value, number, run_fn) \
    {.name = row_name, .op = DN_OP_CONV, .dir = dir_value, .algo = number, .flags = DN_SOLVER_PLAIN, .check = check_plane, \
     .prepare = prepare, .run = run_fn, .release = release}

/* Before the rows of the matrix product that stand for the same numbers. */
static const dn_solver rows[] = {
    ROW("ref_conv_fwd_implicit_precomp_gemm_narrow", DN_DIR_FWD, 1, run_sum),
    ROW("ref_conv_fwd_implicit_gemm_narrow", DN_DIR_FWD, 0, run_sum),
    ROW("ref_conv_bwd_data_gather_narrow", DN_DIR_BWD_DATA, 1, run_sum),
    ROW("ref_conv_bwd_data_scatter_narrow", DN_DIR_BWD_DATA, 0, run_sum),
    ROW("ref_conv_bwd_filter_split_narrow", DN_DIR_BWD_FILTER, 0, run_dot),
    ROW("ref_conv_bwd_filter_whole_narrow", DN_DIR_BWD_FILTER, 1, run_dot),
};

const dn_rows dn_ref_conv_plane = {rows, sizeof rows / sizeof rows[0]};
