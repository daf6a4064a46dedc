/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Winograd convolution forward and its gradient by the input. Both are one sum,
 *
 *     out[n][m][h] = alpha * sum over l, r of w[m][l][r] * in[n][l][h + r + base] + beta * out[n][m][h]
 *
 * with m, l = k, c forward; for the gradient in is dy, m, l = c, k, and the filter is turned round. Two ways:
 *   fused       F(2x2, 3x3): a task transforms a panel of tiles, multiplies and transforms back. No workspace: the transformed
 *               filter lies in the handle's scratch, at most FILTER_BYTES of it at a time
 *   non-fused   F(4x4, 3x3) and F(2x2, 5x5): transformed tiles and filter lie in the caller's workspace, in turns where they are
 *               large; where all tiles fit, a large filter stays in the scratch of the thread that uses it, a panel at a time
 * Forward also with bias and activation: out = act(alpha * sum + alpha2 * z + bias).
 * Any strides, padding, groups and mode; the bits depend on the problem and the instruction set only. */
#include "ref/winograd.h"

#include "ops/act_fn.h"

#include <stdlib.h>
#include <string.h>

enum {
    WIDTH_MAX = 24,            /* a multiple of every kernel's mr and nr */
    ROWS = 32,                 /* of a product under way */
    FILTER_CHANS = 16,         /* channels of the filter transformed at a time, for L1 */
    TILE_CHANS = 4,            /* channels of a tile panel transformed at a time */
    FILTER_BYTES = 32 << 20,   /* of transformed filters at a time */
    TILE_BYTES = 16 << 20,     /* of transformed tiles at a time */
    FILTER_LARGE = 8 << 20,    /* bytes: read again for each panel of tiles, it would not stay in the cache */
    TILES_FEW = 48,            /* the filter is then used so seldom that it need not be kept */
    FUSED_CHANS_MAX = 2048,    /* a thread's scratch holds a panel of them */
    OWN_CHANS_MAX = 1024
};

/* What depends on the problem alone. Filter rows and tiles "at a time" are multiples of WIDTH_MAX, or all. */
typedef struct plan_sizes {
    int size, step;
    bool fused, own_filter;
    int64_t m, l;          /* output and summed channels of a group */
    dn_winograd_grid grid;
    int64_t rows, tiles;   /* at a time */
} plan_sizes;

typedef struct state {
    const dn_conv_kernel *k;
    const dn_winograd_kernel *w;
    plan_sizes z;
    dn_winograd_image in, out;
    dn_winograd_taps f;
    dn_conv_tiles slots;
    size_t slots_size;
    dn_role from, to;
} state;

typedef struct job {
    const state *s;
    const dn_problem *p;
    const dn_args *a;
    void *slots;
    dn_winograd_panels filter, tiles;
    int64_t group, row, rows, tile, count;  /* under way; row and tile multiples of WIDTH_MAX */
    int64_t splits;                         /* fused: tasks that share a panel of tiles */
} job;

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* --- sizes --- */

static int64_t at_a_time(int64_t n, int64_t bytes_of_one, int64_t limit)
{
    return min64(dn_round_up(n, WIDTH_MAX), max64(limit / bytes_of_one / WIDTH_MAX, 1) * WIDTH_MAX);
}

static void sizes_of(const dn_problem *p, bool fused, plan_sizes *z)
{
    const dn_tensor *w = &p->t[DN_W];
    bool forward = p->dir == DN_DIR_FWD;
    int64_t per_group = w->dims[0] / p->u.conv.groups;
    *z = (plan_sizes){.size = fused ? 4 : 6, .fused = fused};
    z->step = z->size + 1 - (int)w->dims[2];
    z->m = forward ? per_group : w->dims[1];
    z->l = forward ? w->dims[1] : per_group;
    dn_winograd_grid_set(&z->grid, &p->t[forward ? DN_Y : DN_X], z->step);
    int64_t one = z->size * z->size * z->l * 8;  /* bytes of a transformed row or tile */
    bool pays = z->grid.count <= TILES_FEW || one * z->m >= FILTER_LARGE;
    z->own_filter = !fused && pays && one * z->grid.count <= TILE_BYTES && z->l <= OWN_CHANS_MAX;
    z->rows = at_a_time(z->m, one, FILTER_BYTES);
    z->tiles = at_a_time(z->grid.count, one, TILE_BYTES);
    if (z->own_filter)
        z->rows = dn_round_up(z->m, WIDTH_MAX);
    if (z->own_filter || fused)
        z->tiles = dn_round_up(z->grid.count, WIDTH_MAX);
}

/* Doubles of transformed panels for n rows or tiles; elements are DN_WINOGRAD_PAD doubles off multiples of a page. */
static int64_t panels_size(const plan_sizes *z, int64_t n)
{
    return z->size * z->size * (n * z->l + DN_WINOGRAD_PAD);
}

static size_t workspace(const dn_problem *p)
{
    plan_sizes z;
    sizes_of(p, false, &z);
    int64_t doubles = panels_size(&z, z.tiles) + (z.own_filter ? 0 : panels_size(&z, z.rows));
    return (size_t)doubles * sizeof(double) + DN_CONV_ALIGN;
}

/* --- prepare --- */

/* Doubles of a thread: gathered values, the product, a result; then a panel of its own of the filter or of tiles. */
static int64_t slot_doubles(const state *s)
{
    const plan_sizes *z = &s->z;
    int64_t square = z->size * z->size, gathered = max64(TILE_CHANS * s->k->nr * square, FILTER_CHANS * s->k->mr * s->f.count * s->f.count);
    int64_t own = z->fused ? panels_size(z, s->k->nr) : z->own_filter ? panels_size(z, s->k->mr) : 0;
    return gathered + square * (ROWS * s->k->nr + DN_WINOGRAD_PAD) + z->step * z->step * s->k->nr + own;
}

static dn_status prepare_as(dn_handle *h, dn_plan *plan, bool fused)
{
    const dn_problem *p = &plan->problem;
    bool forward = p->dir == DN_DIR_FWD;
    state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    s->k = dn_conv_kernel_get();
    s->w = dn_winograd_kernel_get(s->k);
    s->from = forward ? DN_X : DN_Y;
    s->to = forward ? DN_Y : DN_X;
    sizes_of(p, fused, &s->z);
    dn_winograd_taps_set(&s->f, p, forward ? 0 : 1, (p->u.conv.mode == 0) == forward);
    int64_t base[2], none[2] = {0, 0};
    for (int j = 0; j < 2; j++)
        base[j] = forward ? -(int64_t)p->u.conv.pad[j] : p->u.conv.pad[j] - (s->f.count - 1);
    dn_winograd_image_set(&s->in, &p->t[s->from], base);
    dn_winograd_image_set(&s->out, &p->t[s->to], none);
    s->slots = (dn_conv_tiles){.mt = s->k->mr, .nt = s->k->nr, .m_tiles = 1, .n_tiles = 1, .extra = slot_doubles(s)};
    s->slots_size = dn_conv_slots_size(&s->slots);
    size_t filter = fused ? (size_t)panels_size(&s->z, s->z.rows) * sizeof(double) + DN_CONV_ALIGN : 0;
    return dn_scratch_reserve(h, s->slots_size + filter);
}

static dn_status prepare_fused(dn_handle *h, dn_plan *plan) { return prepare_as(h, plan, true); }
static dn_status prepare_nonfused(dn_handle *h, dn_plan *plan) { return prepare_as(h, plan, false); }

/* --- the parts of a slot --- */

static double *gathered_of(const dn_conv_slot *slot) { return slot->extra; }

static double *product_of(const state *s, const dn_conv_slot *slot)
{
    int64_t square = s->z.size * s->z.size;
    return slot->extra + max64(TILE_CHANS * s->k->nr * square, FILTER_CHANS * s->k->mr * s->f.count * s->f.count);
}

static int64_t product_element(const state *s) { return ROWS * s->k->nr + DN_WINOGRAD_PAD; }
static double *result_of(const state *s, const dn_conv_slot *slot)
{
    return product_of(s, slot) + s->z.size * s->z.size * product_element(s);
}

static double *own_of(const state *s, const dn_conv_slot *slot) { return result_of(s, slot) + s->z.step * s->z.step * s->k->nr; }

static dn_winograd_panels panels_at(double *at, int64_t panels, int64_t l, int width)
{
    return (dn_winograd_panels){.at = at, .element = panels * l * width + DN_WINOGRAD_PAD, .panel = l * width};
}

/* --- transforms --- */

/* Channels c .. c + cn - 1 of the filter's rows row .. row + mr - 1, to panel `panel` of to. */
static void transform_filter(const job *w, dn_conv_slot *slot, int64_t row, int64_t c, int64_t cn, const dn_winograd_panels *to,
                             int64_t panel)
{
    const state *s = w->s;
    int mr = s->k->mr;
    double *g = gathered_of(slot);
    int64_t rows = min64(mr, s->z.m - row), ld = cn * mr;
    if (rows < mr)
        memset(g, 0, (size_t)(s->f.count * s->f.count * ld) * sizeof *g);
    for (int64_t i = 0; i < rows; i++) {
        int64_t at = s->f.offset + w->group * s->f.group + (row + i) * s->f.row + c * s->f.chan;
        for (int64_t t = 0; t < s->f.count * s->f.count; t++) {
            dn_load_row(s->f.type, w->a->ptr[DN_W], at + dn_winograd_tap(&s->f, t), s->f.chan, cn, slot->row);
            for (int64_t j = 0; j < cn; j++)
                g[t * ld + j * mr + i] = slot->row[j];
        }
    }
    s->w->filter[s->z.size][s->f.count](ld, g, ld, to->at + panel * to->panel + c * mr, to->element);
}

/* Channels c .. c + cn - 1 of tiles tile .. tile + count - 1, to panel `panel` of to. */
static void transform_tiles(const job *w, dn_conv_slot *slot, int64_t tile, int64_t count, int64_t c, int64_t cn,
                            const dn_winograd_panels *to, int64_t panel)
{
    const state *s = w->s;
    int nr = s->k->nr;
    dn_winograd_run runs[DN_WINOGRAD_RUNS_MAX];
    int n = dn_winograd_runs(&s->z.grid, tile, count, runs);
    double *d = gathered_of(slot);
    for (int64_t end = c + cn; c < end; c += TILE_CHANS) {
        int64_t some = min64(TILE_CHANS, end - c), ld = some * nr;
        if (count < nr)
            memset(d, 0, (size_t)(s->z.size * s->z.size * ld) * sizeof *d);
        for (int64_t i = 0; i < some; i++)
            dn_winograd_gather(s->k, s->w, &s->z.grid, &s->in, w->a->ptr[s->from], (w->group * s->z.l + c + i) * s->in.chan_stride, runs,
                               n, s->z.size, slot->row, d + i * nr, ld, 1);
        s->w->data[s->z.size](ld, d, ld, to->at + panel * to->panel + c * nr, to->element);
    }
}

/* n results of channel chan at an image's pixel (row, col) and on: row = act(alpha * row + alpha2 * z + bias). */
static void fuse(const job *w, dn_conv_slot *slot, int64_t chan, int64_t image, int64_t row, int64_t col, int64_t n)
{
    const dn_tensor *b = &w->p->t[DN_B], *z = &w->p->t[DN_Z];
    double bias = dn_load((dn_dtype)b->type, w->a->ptr[DN_B], chan * b->strides[1]), *r = slot->row, *add = slot->b;
    for (int64_t j = 0; j < n; j++)
        r[j] = w->a->alpha * r[j] + bias;
    if (z->rank && w->a->alpha2 != 0) {
        dn_load_row((dn_dtype)z->type, w->a->ptr[DN_Z],
                    image * z->strides[0] + chan * z->strides[1] + row * z->strides[2] + col * z->strides[3], z->strides[3], n, add);
        for (int64_t j = 0; j < n; j++)
            r[j] += w->a->alpha2 * add[j];
    }
    for (int64_t j = 0; j < n; j++)
        r[j] = dn_act_apply(&w->p->u.conv.act, r[j]);
}

/* The product's rows, transformed back, to channels m .. m + mn - 1 of the tiles. */
static void store_product(const job *w, dn_conv_slot *slot, int64_t m, int64_t mn, int64_t tile, int64_t count)
{
    const state *s = w->s;
    int step = s->z.step, nr = s->k->nr;
    dn_winograd_run runs[DN_WINOGRAD_RUNS_MAX];
    int n = dn_winograd_runs(&s->z.grid, tile, count, runs);
    bool fused = w->p->op == DN_OP_CONV_BIAS_ACT;
    double *result = result_of(s, slot), alpha = fused ? 1 : w->a->alpha, beta = fused ? 0 : w->a->beta;
    for (int64_t i = 0; i < mn; i++) {
        int64_t chan = w->group * s->z.m + m + i;
        s->w->result[s->z.size][step](dn_round_up(count, s->k->mr), product_of(s, slot) + i * nr, product_element(s), result, nr);
        for (int r = 0; r < n; r++) {
            int64_t top = runs[r].row * step, left = runs[r].col * step;
            int64_t off = chan * s->out.chan_stride + runs[r].image * s->out.image_stride + left * s->out.stride[1];
            int64_t len = min64(runs[r].n * step, s->out.dims[1] - left);
            for (int64_t j = 0; j < step && top + j < s->out.dims[0]; j++) {
                s->w->join(runs[r].n, result + j * step * nr + runs[r].at, nr, step, slot->row);
                if (fused)
                    fuse(w, slot, chan, runs[r].image, top + j, left, len);
                dn_store_row(s->out.type, w->a->ptr[s->to], off + (top + j) * s->out.stride[0], s->out.stride[1], len, slot->row, alpha,
                             beta);
            }
        }
    }
}

/* --- tasks --- */

static void filter_task(void *ctx, int64_t begin, int64_t end)
{
    const job *w = ctx;
    const state *s = w->s;
    int64_t blocks = dn_ceil_div(s->z.l, FILTER_CHANS);
    dn_conv_slot *slot = dn_conv_slot_take(&s->slots, w->slots);
    for (int64_t i = begin; i < end; i++) {
        int64_t panel = i / blocks, c = i % blocks * FILTER_CHANS;
        transform_filter(w, slot, w->row + panel * s->k->mr, c, min64(FILTER_CHANS, s->z.l - c), &w->filter, panel);
    }
    dn_conv_slot_give(slot);
}

static void tile_task(void *ctx, int64_t begin, int64_t end)
{
    const job *w = ctx;
    const state *s = w->s;
    int64_t blocks = dn_ceil_div(s->z.l, 4 * TILE_CHANS);
    dn_conv_slot *slot = dn_conv_slot_take(&s->slots, w->slots);
    for (int64_t i = begin; i < end; i++) {
        int64_t panel = i / blocks, c = i % blocks * 4 * TILE_CHANS, at = panel * s->k->nr;
        transform_tiles(w, slot, w->tile + at, min64(s->k->nr, w->count - at), c, min64(4 * TILE_CHANS, s->z.l - c), &w->tiles, panel);
    }
    dn_conv_slot_give(slot);
}

/* Rows row .. row + rows - 1 (counted from w->row) of the filter with one panel of tiles. */
static void multiply_panel(const job *w, dn_conv_slot *slot, int64_t row, int64_t rows, const dn_winograd_panels *filter,
                           int64_t filter_panel, const dn_winograd_panels *tiles, int64_t tile_panel, int64_t tile, int64_t count)
{
    const state *s = w->s;
    dn_winograd_multiply(s->k, s->w, s->z.size, filter, filter_panel, rows, tiles, tile_panel, count, s->z.l, product_of(s, slot),
                         product_element(s));
    store_product(w, slot, w->row + row, rows, tile, count);
}

/* Non-fused: ROWS rows and one panel of tiles; panels of tiles follow one another, for the cache. */
static void multiply_task(void *ctx, int64_t begin, int64_t end)
{
    const job *w = ctx;
    const state *s = w->s;
    int64_t blocks = dn_ceil_div(w->rows, ROWS);
    dn_conv_slot *slot = dn_conv_slot_take(&s->slots, w->slots);
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i % blocks * ROWS, panel = i / blocks, at = panel * s->k->nr;
        multiply_panel(w, slot, row, min64(ROWS, w->rows - row), &w->filter, row / s->k->mr, &w->tiles, panel, w->tile + at,
                       min64(s->k->nr, w->count - at));
    }
    dn_conv_slot_give(slot);
}

/* Non-fused with few tiles: one panel of the filter and all tiles. */
static void own_filter_task(void *ctx, int64_t begin, int64_t end)
{
    const job *w = ctx;
    const state *s = w->s;
    dn_conv_slot *slot = dn_conv_slot_take(&s->slots, w->slots);
    dn_winograd_panels own = panels_at(own_of(s, slot), 1, s->z.l, s->k->mr);
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i * s->k->mr;
        for (int64_t c = 0; c < s->z.l; c += FILTER_CHANS)
            transform_filter(w, slot, row, c, min64(FILTER_CHANS, s->z.l - c), &own, 0);
        for (int64_t at = 0; at < w->count; at += s->k->nr)
            multiply_panel(w, slot, row, min64(s->k->mr, w->rows - row), &own, 0, &w->tiles, at / s->k->nr, at,
                           min64(s->k->nr, w->count - at));
    }
    dn_conv_slot_give(slot);
}

/* Fused: one panel of tiles, a share of the filter's rows. */
static void fused_task(void *ctx, int64_t begin, int64_t end)
{
    const job *w = ctx;
    const state *s = w->s;
    int64_t share = dn_round_up(dn_ceil_div(w->rows, w->splits), ROWS), ready = -1;
    dn_conv_slot *slot = dn_conv_slot_take(&s->slots, w->slots);
    dn_winograd_panels own = panels_at(own_of(s, slot), 1, s->z.l, s->k->nr);
    for (int64_t i = begin; i < end; i++) {
        int64_t panel = i / w->splits, at = panel * s->k->nr, count = min64(s->k->nr, w->count - at);
        int64_t row = i % w->splits * share, stop = min64(row + share, w->rows);
        if (panel != ready && row < stop)
            transform_tiles(w, slot, at, count, 0, s->z.l, &own, 0);
        ready = panel;
        for (; row < stop; row += ROWS)
            multiply_panel(w, slot, row, min64(ROWS, stop - row), &w->filter, row / s->k->mr, &own, 0, at, count);
    }
    dn_conv_slot_give(slot);
}

/* --- run --- */

static void run_tiles(job *w)
{
    const state *s = w->s;
    w->tiles = panels_at(w->tiles.at, dn_ceil_div(w->count, s->k->nr), s->z.l, s->k->nr);
    int64_t panels = dn_ceil_div(w->count, s->k->nr);
    dn_parallel(panels * dn_ceil_div(s->z.l, 4 * TILE_CHANS), 1, tile_task, w);
    if (s->z.own_filter)
        dn_parallel(dn_ceil_div(w->rows, s->k->mr), 1, own_filter_task, w);
    else
        dn_parallel(panels * dn_ceil_div(w->rows, ROWS), 1, multiply_task, w);
}

static void run_rows(job *w)
{
    const state *s = w->s;
    int64_t panels = dn_ceil_div(w->rows, s->k->mr);
    if (!s->z.own_filter) {
        w->filter = panels_at(w->filter.at, panels, s->z.l, s->k->mr);
        dn_parallel(panels * dn_ceil_div(s->z.l, FILTER_CHANS), 1, filter_task, w);
    }
    if (s->z.fused) {
        int64_t tile_panels = dn_ceil_div(s->z.grid.count, s->k->nr), want = 2 * (int64_t)dn_thread_count();
        w->count = s->z.grid.count;
        w->splits = tile_panels < want ? min64(dn_ceil_div(want, tile_panels), dn_ceil_div(w->rows, ROWS)) : 1;
        dn_parallel(tile_panels * w->splits, 1, fused_task, w);
        return;
    }
    for (w->tile = 0; w->tile < s->z.grid.count; w->tile += s->z.tiles) {
        w->count = min64(s->z.tiles, s->z.grid.count - w->tile);
        run_tiles(w);
    }
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const state *s = plan->state;
    job w = {.s = s, .p = &plan->problem, .a = a, .slots = h->scratch};
    dn_conv_slots_init(&s->slots, h->scratch);
    if (s->z.fused) {
        w.filter.at = dn_winograd_align((char *)h->scratch + s->slots_size);
    } else {
        w.tiles.at = dn_winograd_align(a->workspace);
        w.filter.at = w.tiles.at + panels_size(&s->z, s->z.tiles);
    }
    for (w.group = 0; w.group < plan->problem.u.conv.groups; w.group++)
        for (w.row = 0; w.row < s->z.m; w.row += s->z.rows) {
            w.rows = min64(s->z.rows, s->z.m - w.row);
            run_rows(&w);
        }
    return DN_SUCCESS;
}

/* --- rows --- */

static const char *check_fused(const dn_problem *p)
{
    plan_sizes z;
    const char *why = dn_winograd_check(p, 4);
    if (why)
        return why;
    sizes_of(p, true, &z);
    return z.l <= FUSED_CHANS_MAX ? NULL : "needs 2048 or fewer summed channels in each group";
}

static const char *check_nonfused(const dn_problem *p)
{
    return dn_winograd_check(p, 6);
}

/* Where it was measured to be faster than the implicit GEMM rows: they are not so where transforms are all there is, nor where the
 * filter's transform is used for a few tiles only. */
static bool is_deep(const dn_problem *p, bool fused)
{
    plan_sizes z;
    sizes_of(p, fused, &z);
    return z.m >= 8 && z.l >= 8 && z.grid.count >= (fused ? 32 : 4);
}

static const char *check_fused_deep(const dn_problem *p)
{
    const char *why = check_fused(p);
    return why ? why : is_deep(p, true) ? NULL : "needs 8 or more channels on both sides of each group, and 32 or more tiles";
}

static const char *check_nonfused_deep(const dn_problem *p)
{
    const char *why = check_nonfused(p);
    return why ? why : is_deep(p, false) ? NULL : "needs 8 or more channels on both sides of each group, and 4 or more tiles";
}

#define ROW(row_name, row_op, row_dir, number, row_check) \
    .name = row_name, .op = row_op, .dir = row_dir, .algo = number, .flags = DN_SOLVER_PLAIN | DN_SOLVER_TILED, \
    .check = row_check, .release = dn_winograd_release
#define FUSED .prepare = prepare_fused, .run = run
#define NONFUSED .prepare = prepare_nonfused, .run = run, .workspace = workspace
#define FILTER .prepare = dn_winograd_filter_prepare, .run = dn_winograd_filter_run, .workspace = dn_winograd_filter_workspace

/* Asked before the GEMM rows, so that Get names them first. */
static const dn_solver deep_rows[] = {
    {ROW("ref_conv_fwd_winograd_nonfused_deep", DN_OP_CONV, DN_DIR_FWD, 7, check_nonfused_deep), NONFUSED},
    {ROW("ref_conv_fwd_winograd_deep", DN_OP_CONV, DN_DIR_FWD, 6, check_fused_deep), FUSED},
    {ROW("ref_convba_fwd_winograd_nonfused_deep", DN_OP_CONV_BIAS_ACT, DN_DIR_FWD, 7, check_nonfused_deep), NONFUSED},
    {ROW("ref_convba_fwd_winograd_deep", DN_OP_CONV_BIAS_ACT, DN_DIR_FWD, 6, check_fused_deep), FUSED},
    {ROW("ref_conv_bwd_data_winograd_nonfused_deep", DN_OP_CONV, DN_DIR_BWD_DATA, 5, check_nonfused_deep), NONFUSED},
    {ROW("ref_conv_bwd_data_winograd_deep", DN_OP_CONV, DN_DIR_BWD_DATA, 4, check_fused_deep), FUSED},
    {ROW("ref_conv_bwd_filter_winograd_nonfused_deep", DN_OP_CONV, DN_DIR_BWD_FILTER, 5, dn_winograd_filter_check_deep), FILTER},
};

static const dn_solver rows[] = {
    {ROW("ref_conv_fwd_winograd_nonfused", DN_OP_CONV, DN_DIR_FWD, 7, check_nonfused), NONFUSED},
    {ROW("ref_conv_fwd_winograd", DN_OP_CONV, DN_DIR_FWD, 6, check_fused), FUSED},
    {ROW("ref_convba_fwd_winograd_nonfused", DN_OP_CONV_BIAS_ACT, DN_DIR_FWD, 7, check_nonfused), NONFUSED},
    {ROW("ref_convba_fwd_winograd", DN_OP_CONV_BIAS_ACT, DN_DIR_FWD, 6, check_fused), FUSED},
    {ROW("ref_conv_bwd_data_winograd_nonfused", DN_OP_CONV, DN_DIR_BWD_DATA, 5, check_nonfused), NONFUSED},
    {ROW("ref_conv_bwd_data_winograd", DN_OP_CONV, DN_DIR_BWD_DATA, 4, check_fused), FUSED},
    {ROW("ref_conv_bwd_filter_winograd_nonfused", DN_OP_CONV, DN_DIR_BWD_FILTER, 5, dn_winograd_filter_check), FILTER},
};

const dn_rows dn_ref_conv_winograd_deep = {deep_rows, sizeof deep_rows / sizeof deep_rows[0]};
const dn_rows dn_ref_conv_winograd = {rows, sizeof rows / sizeof rows[0]};
