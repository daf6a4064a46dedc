/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Winograd's gradient of a convolution by its filter. Each tile of dy is a filter that x's patch under the tile is filtered with:
 *
 *     dw[k][c] = alpha * A' [ sum over tiles of (G dy[k] G') * (B' x[c] B) ] A + beta * dw[k][c]
 *
 * F(3x3, 4x4) for 3x3 filters, F(5x5, 2x2) for 5x5. Tiles of x and dy are transformed into the caller's workspace, a range at a
 * time; the sum over a range's tiles is a matrix product for each of the 36 elements. Sums of several ranges are added in the
 * workspace, in order, after the transform back, which makes them four times smaller. */
#include "ref/winograd.h"

#include <stdlib.h>
#include <string.h>

enum {
    SIZE = 6,
    WIDTH_MAX = 24,            /* a multiple of every kernel's mr and nr */
    ROWS = 32,                 /* of a product under way */
    X_TILES = 4, DY_TILES = 16, /* transformed at a time, for L1 */
    RANGE_BYTES = 32 << 20,    /* of transformed tiles at a time */
    RANGE_MULTIPLE = 16        /* tiles of a range */
};

typedef struct plan_sizes {
    int64_t m, c;              /* of a group: channels of dy and of x */
    int64_t taps;              /* in each direction */
    dn_winograd_grid grid;     /* of dy */
    int64_t range;             /* tiles at a time */
} plan_sizes;

typedef struct state {
    const dn_conv_kernel *k;
    const dn_winograd_kernel *w;
    plan_sizes z;
    dn_winograd_image x, dy;
    dn_winograd_taps f;
    int64_t groups;
    dn_conv_tiles slots;
} state;

typedef struct job {
    const state *s;
    const dn_args *a;
    void *slots;
    dn_winograd_panels x, dy;
    double *sums;              /* [taps][taps][m][c] of the ranges before */
    int64_t group, tile, count;
} job;

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* --- sizes --- */

static void sizes_of(const dn_problem *p, plan_sizes *z)
{
    const dn_tensor *w = &p->t[DN_W];
    *z = (plan_sizes){.m = w->dims[0] / p->u.conv.groups, .c = w->dims[1], .taps = w->dims[2]};
    dn_winograd_grid_set(&z->grid, &p->t[DN_Y], SIZE + 1 - (int)z->taps);
    int64_t one = SIZE * SIZE * 8 * (dn_round_up(z->m, WIDTH_MAX) + dn_round_up(z->c, WIDTH_MAX));
    int64_t fit = RANGE_BYTES / one / RANGE_MULTIPLE * RANGE_MULTIPLE;
    z->range = min64(z->grid.count, fit > RANGE_MULTIPLE ? fit : RANGE_MULTIPLE);
}

static int64_t panels_size(const plan_sizes *z, int64_t chans)
{
    return SIZE * SIZE * (dn_round_up(chans, WIDTH_MAX) * z->range + DN_WINOGRAD_PAD);
}

size_t dn_winograd_filter_workspace(const dn_problem *p)
{
    plan_sizes z;
    sizes_of(p, &z);
    int64_t sums = z.range < z.grid.count ? z.taps * z.taps * z.m * z.c : 0;
    return (size_t)(panels_size(&z, z.m) + panels_size(&z, z.c) + sums) * sizeof(double) + DN_CONV_ALIGN;
}

static int64_t gathered_size(const state *s)
{
    int64_t x = SIZE * SIZE * X_TILES * s->k->nr, dy = s->z.grid.step * s->z.grid.step * DY_TILES * s->k->mr;
    return x > dy ? x : dy;
}

static int64_t product_element(const state *s) { return ROWS * s->k->nr + DN_WINOGRAD_PAD; }

dn_status dn_winograd_filter_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    s->k = dn_conv_kernel_get();
    s->w = dn_winograd_kernel_get(s->k);
    s->groups = p->u.conv.groups;
    sizes_of(p, &s->z);
    int64_t base[2] = {-(int64_t)p->u.conv.pad[0], -(int64_t)p->u.conv.pad[1]}, none[2] = {0, 0};
    dn_winograd_image_set(&s->x, &p->t[DN_X], base);
    dn_winograd_image_set(&s->dy, &p->t[DN_Y], none);
    dn_winograd_taps_set(&s->f, p, 0, p->u.conv.mode == 0);
    s->slots = (dn_conv_tiles){.mt = s->k->mr, .nt = s->k->nr, .m_tiles = 1, .n_tiles = 1};
    s->slots.extra = gathered_size(s) + SIZE * SIZE * product_element(s) + s->z.taps * s->z.taps * s->k->nr;
    return dn_scratch_reserve(h, dn_conv_slots_size(&s->slots));
}

/* --- transforms --- */

/* Panel `panel` of a tensor's channels (limit of them in a group), tiles at .. at + n - 1 of the range. Lanes are channels. */
static void transform(const job *w, dn_conv_slot *slot, bool is_x, int64_t panel, int64_t at, int64_t n)
{
    const state *s = w->s;
    int width = is_x ? s->k->nr : s->k->mr, size = is_x ? SIZE : s->z.grid.step;
    const dn_winograd_image *image = is_x ? &s->x : &s->dy;
    const dn_winograd_panels *to = is_x ? &w->x : &w->dy;
    int64_t limit = is_x ? s->z.c : s->z.m, chans = min64(width, limit - panel * width), ld = n * width;
    double *d = slot->extra;
    dn_winograd_run runs[DN_WINOGRAD_RUNS_MAX];
    int count = dn_winograd_runs(&s->z.grid, w->tile + at, n, runs);
    if (chans < width)
        memset(d, 0, (size_t)(size * size * ld) * sizeof *d);
    for (int64_t i = 0; i < chans; i++)
        dn_winograd_gather(s->k, s->w, &s->z.grid, image, w->a->ptr[is_x ? DN_X : DN_Y],
                           (w->group * limit + panel * width + i) * image->chan_stride, runs, count, size, slot->row, d + i, ld, width);
    dn_winograd_transform f = is_x ? s->w->data[SIZE] : s->w->filter[SIZE][size];
    f(ld, d, ld, to->at + panel * to->panel + at * width, to->element);
}

static void transform_tasks(const job *w, bool is_x, int64_t begin, int64_t end)
{
    const state *s = w->s;
    int64_t tiles = is_x ? X_TILES : DY_TILES, share = 16, blocks = dn_ceil_div(w->count, share);
    dn_conv_slot *slot = dn_conv_slot_take(&s->slots, w->slots);
    for (int64_t i = begin; i < end; i++) {
        int64_t at = i % blocks * share, stop = min64(at + share, w->count);
        for (; at < stop; at += tiles)
            transform(w, slot, is_x, i / blocks, at, min64(tiles, stop - at));
    }
    dn_conv_slot_give(slot);
}

static void x_task(void *ctx, int64_t begin, int64_t end) { transform_tasks(ctx, true, begin, end); }
static void dy_task(void *ctx, int64_t begin, int64_t end) { transform_tasks(ctx, false, begin, end); }

/* --- products --- */

/* Channels m .. m + mn - 1 of dy, c .. c + cn - 1 of x: the slot's product, transformed back, to the sums or to dw. */
static void store_product(const job *w, dn_conv_slot *slot, int64_t m, int64_t mn, int64_t c, int64_t cn)
{
    const state *s = w->s;
    int nr = s->k->nr;
    bool first = w->tile == 0, last = w->tile + w->count == s->z.grid.count;
    double *product = slot->extra + gathered_size(s), *result = product + SIZE * SIZE * product_element(s);
    for (int64_t i = 0; i < mn; i++) {
        int64_t off = s->f.offset + w->group * s->f.group + (m + i) * s->f.row + c * s->f.chan;
        s->w->result[SIZE][s->z.taps](nr, product + i * nr, product_element(s), result, nr);
        for (int64_t t = 0; t < s->z.taps * s->z.taps; t++) {
            double *row = result + t * nr, *sum = w->sums + (t * s->z.m + m + i) * s->z.c + c;
            if (!first)
                for (int64_t j = 0; j < cn; j++)
                    row[j] += sum[j];
            if (last)
                dn_store_row(s->f.type, w->a->ptr[DN_W], off + dn_winograd_tap(&s->f, t), s->f.chan, cn, row, w->a->alpha, w->a->beta);
            else
                memcpy(sum, row, (size_t)cn * sizeof *sum);
        }
    }
}

static void multiply_task(void *ctx, int64_t begin, int64_t end)
{
    const job *w = ctx;
    const state *s = w->s;
    int64_t blocks = dn_ceil_div(s->z.m, ROWS);
    dn_conv_slot *slot = dn_conv_slot_take(&s->slots, w->slots);
    for (int64_t i = begin; i < end; i++) {
        int64_t m = i % blocks * ROWS, panel = i / blocks, c = panel * s->k->nr;
        int64_t mn = min64(ROWS, s->z.m - m), cn = min64(s->k->nr, s->z.c - c);
        dn_winograd_multiply(s->k, s->w, SIZE, &w->dy, m / s->k->mr, mn, &w->x, panel, cn, w->count, slot->extra + gathered_size(s),
                             product_element(s));
        store_product(w, slot, m, mn, c, cn);
    }
    dn_conv_slot_give(slot);
}

/* --- run --- */

static void run_range(job *w)
{
    const state *s = w->s;
    int64_t blocks = dn_ceil_div(w->count, 16), m_panels = dn_ceil_div(s->z.m, s->k->mr), c_panels = dn_ceil_div(s->z.c, s->k->nr);
    w->x.panel = w->count * s->k->nr;
    w->x.element = c_panels * w->x.panel + DN_WINOGRAD_PAD;
    w->dy.panel = w->count * s->k->mr;
    w->dy.element = m_panels * w->dy.panel + DN_WINOGRAD_PAD;
    dn_parallel(c_panels * blocks, 1, x_task, w);
    dn_parallel(m_panels * blocks, 1, dy_task, w);
    dn_parallel(c_panels * dn_ceil_div(s->z.m, ROWS), 1, multiply_task, w);
}

dn_status dn_winograd_filter_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const state *s = plan->state;
    job w = {.s = s, .a = a, .slots = h->scratch};
    dn_conv_slots_init(&s->slots, h->scratch);
    w.x.at = dn_winograd_align(a->workspace);
    w.dy.at = w.x.at + panels_size(&s->z, s->z.c);
    w.sums = w.dy.at + panels_size(&s->z, s->z.m);
    for (w.group = 0; w.group < s->groups; w.group++)
        for (w.tile = 0; w.tile < s->z.grid.count; w.tile += s->z.range) {
            w.count = min64(s->z.range, s->z.grid.count - w.tile);
            run_range(&w);
        }
    return DN_SUCCESS;
}

const char *dn_winograd_filter_check(const dn_problem *p)
{
    return dn_winograd_check(p, SIZE);
}

const char *dn_winograd_filter_check_deep(const dn_problem *p)
{
    plan_sizes z;
    const char *why = dn_winograd_check(p, SIZE);
    if (why)
        return why;
    sizes_of(p, &z);
    bool deep = z.m >= 8 && z.c >= 8 && z.grid.count >= 4;  /* as in winograd.c */
    return deep ? NULL : "needs 8 or more channels on both sides of each group, and 4 or more tiles";
}
