/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Gradients of a convolution by its filter and by its bias:
 *
 *     dw[k][c][r] = alpha * sum over n, o of dy[n][k][o] * x[n][c][o * stride + base + r * step] + beta * dw[k][c][r]
 *     db[k]       = alpha * sum over n, o of dy[n][k][o] + beta * db[k]
 *
 * Three ways for dw, all with equal bits from run to run:
 *   split (0)      the sum over (n, o) is cut in parts, so that small filters keep all threads busy; part sums are added in order.
 *                  No workspace: part sums lie in the handle's scratch, at most 64 MiB
 *   whole (1)      each tile of dw is one chain over (n, o). No workspace
 *   columns (3)    x's columns are written out in the caller's workspace, a range of (n, o) at a time, each gathered once */
#include "ref/conv.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 16, PARTS_BYTES = 64 << 20, COLUMN_BYTES = 16 << 20, PANEL = 24 };

typedef struct state {
    const dn_conv_kernel *k;
    dn_conv_tiles t;
    dn_conv_view x, dy;
    dn_conv_filter dw;
    int64_t groups, m, l, cols;  /* rows and columns of dw per group; the length of the sum */
    int64_t parts, part;         /* split: their count, and how many of cols each has */
    int64_t range;               /* columns: how many of cols are written out at a time */
    size_t slots_size;
} state;

typedef struct job {
    const state *s;
    const dn_args *a;
    void *slots;
    double *sums;          /* split: [parts][groups][m][l]; columns: [m][l] */
    double *columns;       /* columns: [range / KC][l / nr][KC][nr] */
    int64_t group, begin, count;
} job;

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* --- packing, both operands turned: the sum runs along their columns --- */

/* n rows to panels of width: panel[i / width][j][i % width] = row i's element j. */
static void turn_row(const double *row, int64_t n, int64_t i, int width, double *panels)
{
    double *out = panels + i / width * width * DN_CONV_KC + i % width;
    for (int64_t j = 0; j < n; j++)
        out[j * width] = row[j];
}

static void clear_rows(int64_t from, int64_t to, int64_t n, int width, double *panels)
{
    for (int64_t i = from; i < to; i++)
        for (int64_t j = 0; j < n; j++)
            panels[i / width * width * DN_CONV_KC + j * width + i % width] = 0;
}

/* dy's channels m .. m + mn - 1 at columns col .. col + n - 1 to slot->a. */
static void pack_dy(const job *w, dn_conv_slot *slot, int64_t group, int64_t m, int64_t mn, int64_t col, int64_t n)
{
    const state *s = w->s;
    dn_conv_cursor_seek(&slot->out, &s->dy, col, n);
    dn_conv_cursor_tap(&slot->out, 0);
    for (int64_t i = 0; i < mn; i++) {
        dn_conv_cursor_load(&slot->out, s->k, w->a->ptr[DN_Y], (group * s->m + m + i) * s->dy.chan_stride, slot->row);
        turn_row(slot->row, n, i, s->k->mr, slot->a);
    }
    clear_rows(mn, dn_round_up(mn, s->k->mr), n, s->k->mr, slot->a);
}

/* x's rows (c, r) l .. l + ln - 1 at columns col .. col + n - 1 to panels. */
static void pack_x(const job *w, dn_conv_slot *slot, int64_t group, int64_t l, int64_t ln, int64_t col, int64_t n, double *panels)
{
    const state *s = w->s;
    int64_t add = group * s->x.group_stride;
    dn_conv_cursor_seek(&slot->in, &s->x, col, n);
    for (int64_t i = 0; i < ln; i++) {
        dn_conv_cursor_tap(&slot->in, dn_conv_filter_tap(&s->dw, l + i));
        dn_conv_cursor_load(&slot->in, s->k, w->a->ptr[DN_X], add + dn_conv_filter_chan(&s->dw, l + i) * s->x.chan_stride, slot->row);
        turn_row(slot->row, n, i, s->k->nr, panels);
    }
    clear_rows(ln, dn_round_up(ln, s->k->nr), n, s->k->nr, panels);
}

/* slot->c += the sum over columns begin .. end - 1 of one tile. */
static void sum_tile(const job *w, dn_conv_slot *slot, int64_t group, int64_t m, int64_t mn, int64_t l, int64_t ln, int64_t begin,
                     int64_t end)
{
    const state *s = w->s;
    for (int64_t col = begin; col < end; col += DN_CONV_KC) {
        int64_t n = min64(DN_CONV_KC, end - col);
        pack_x(w, slot, group, l, ln, col, n, slot->b);
        pack_dy(w, slot, group, m, mn, col, n);
        dn_conv_tile_multiply(s->k, slot, mn, ln, n, slot->b, s->k->nr * DN_CONV_KC, s->t.nt);
    }
}

/* rows: [mn] rows ld apart, to dw's rows m on and columns l on. */
static void store_rows(const job *w, int64_t group, int64_t m, int64_t mn, int64_t l, int64_t ln, const double *rows, int64_t ld)
{
    const dn_conv_filter *f = &w->s->dw;
    for (int64_t i = 0; i < mn; i++)
        dn_conv_filter_store(f, w->a->ptr[DN_W], group * f->group_stride + (m + i) * f->row_stride, l, ln, rows + i * ld, w->a->alpha,
                             w->a->beta);
}

/* --- sizes --- */

static int64_t columns_of(const dn_problem *p)
{
    int64_t n = p->t[DN_Y].dims[0];
    for (int j = 2; j < p->t[DN_Y].rank; j++)
        n *= p->t[DN_Y].dims[j];
    return n;
}

static int64_t row_length(const dn_problem *p)
{
    int64_t l = p->t[DN_W].dims[1];
    for (int j = 2; j < p->t[DN_W].rank; j++)
        l *= p->t[DN_W].dims[j];
    return l;
}

/* Columns written out at a time: a multiple of KC that fits COLUMN_BYTES, at least one block. */
static int64_t column_range(const dn_problem *p)
{
    int64_t fit = COLUMN_BYTES / 8 / dn_round_up(row_length(p), PANEL) / DN_CONV_KC;
    return min64(fit > 1 ? fit : 1, dn_ceil_div(columns_of(p), DN_CONV_KC)) * DN_CONV_KC;
}

static size_t columns_workspace(const dn_problem *p)
{
    int64_t l = dn_round_up(row_length(p), PANEL);
    return (size_t)(column_range(p) * l + p->t[DN_W].dims[0] / p->u.conv.groups * l) * sizeof(double) + DN_CONV_ALIGN;
}

/* Parts of the sum depend on the problem alone, since they decide the order of addition. */
static void choose_parts(state *s)
{
    int64_t tiles = s->groups * dn_ceil_div(s->m, 64) * dn_ceil_div(s->l, DN_CONV_NC);
    int64_t fit = PARTS_BYTES / 8 / (s->groups * s->m) / s->l;
    s->parts = min64(dn_ceil_div(PARTS_MAX, tiles), s->cols / (4 * DN_CONV_KC));
    s->parts = min64(s->parts, fit);
    if (s->parts < 1)
        s->parts = 1;
    s->part = dn_round_up(dn_ceil_div(s->cols, s->parts), DN_CONV_KC);
    s->parts = dn_ceil_div(s->cols, s->part);
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    s->k = dn_conv_kernel_get();
    s->groups = p->u.conv.groups;
    s->m = p->t[DN_W].dims[0] / s->groups;
    s->l = row_length(p);
    dn_conv_view_input(&s->x, p);
    dn_conv_view_plain(&s->dy, &p->t[DN_Y], s->m);
    dn_conv_filter_forward(&s->dw, p);
    s->cols = s->dy.cols;
    s->range = column_range(p);
    s->parts = 1;
    s->part = s->cols;
    if (plan->solver->algo == 0)
        choose_parts(s);
    dn_conv_tiles_choose(&s->t, s->k, s->m, s->l, s->parts * s->groups);
    s->slots_size = dn_conv_slots_size(&s->t);
    size_t sums = s->parts > 1 ? (size_t)(s->parts * s->groups * s->m * s->l) * sizeof(double) : 0;
    return dn_scratch_reserve(h, s->slots_size + sums);
}

static void release(dn_plan *plan)
{
    free(plan->state);
    plan->state = NULL;
}

static void job_init(job *w, dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const state *s = plan->state;
    *w = (job){.s = s, .a = a, .slots = h->scratch, .sums = (double *)((char *)h->scratch + s->slots_size)};
    dn_conv_slots_init(&s->t, h->scratch);
}

/* --- 0 and 1 --- */

static void sum_tiles(void *ctx, int64_t begin, int64_t end)
{
    const job *w = ctx;
    const state *s = w->s;
    dn_conv_slot *slot = dn_conv_slot_take(&s->t, w->slots);
    for (int64_t i = begin; i < end; i++) {
        int64_t m = i % s->t.m_tiles * s->t.mt, l = i / s->t.m_tiles % s->t.n_tiles * s->t.nt;
        int64_t rest = i / s->t.m_tiles / s->t.n_tiles, group = rest % s->groups, part = rest / s->groups;
        int64_t mn = min64(s->t.mt, s->m - m), ln = min64(s->t.nt, s->l - l);
        memset(slot->c, 0, (size_t)(s->t.mt * s->t.nt) * sizeof(double));
        sum_tile(w, slot, group, m, mn, l, ln, part * s->part, min64(s->cols, (part + 1) * s->part));
        if (s->parts == 1) {
            store_rows(w, group, m, mn, l, ln, slot->c, s->t.nt);
            continue;
        }
        double *out = w->sums + ((part * s->groups + group) * s->m + m) * s->l + l;
        for (int64_t r = 0; r < mn; r++)
            memcpy(out + r * s->l, slot->c + r * s->t.nt, (size_t)ln * sizeof(double));
    }
    dn_conv_slot_give(slot);
}

/* Adds the other parts' sums to those of part 0, in order, and stores them. */
static void add_parts(void *ctx, int64_t begin, int64_t end)
{
    const job *w = ctx;
    const state *s = w->s;
    int64_t part_size = s->groups * s->m * s->l;
    for (int64_t row = begin; row < end; row++) {
        double *sum = w->sums + row * s->l;
        for (int64_t part = 1; part < s->parts; part++)
            for (int64_t l = 0; l < s->l; l++)
                sum[l] += sum[part * part_size + l];
        store_rows(w, row / s->m, row % s->m, 1, 0, s->l, sum, s->l);
    }
}

static dn_status run_sum(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const state *s = plan->state;
    job w;
    job_init(&w, h, plan, a);
    dn_parallel(s->parts * s->groups * s->t.m_tiles * s->t.n_tiles, 1, sum_tiles, &w);
    if (s->parts > 1)
        dn_parallel(s->groups * s->m, 4, add_parts, &w);
    return DN_SUCCESS;
}

/* --- 3: columns in the workspace --- */

static void write_columns(void *ctx, int64_t begin, int64_t end)
{
    const job *w = ctx;
    const state *s = w->s;
    int64_t block_size = dn_round_up(s->l, PANEL) * DN_CONV_KC;
    dn_conv_slot *slot = dn_conv_slot_take(&s->t, w->slots);
    for (int64_t i = begin; i < end; i++) {
        int64_t block = i / s->t.n_tiles, l = i % s->t.n_tiles * s->t.nt, col = block * DN_CONV_KC;
        pack_x(w, slot, w->group, l, min64(s->t.nt, s->l - l), w->begin + col, min64(DN_CONV_KC, w->count - col),
               w->columns + block * block_size + l * DN_CONV_KC);
    }
    dn_conv_slot_give(slot);
}

static void multiply_columns(void *ctx, int64_t begin, int64_t end)
{
    const job *w = ctx;
    const state *s = w->s;
    int64_t block_size = dn_round_up(s->l, PANEL) * DN_CONV_KC;
    dn_conv_slot *slot = dn_conv_slot_take(&s->t, w->slots);
    for (int64_t i = begin; i < end; i++) {
        int64_t m = i % s->t.m_tiles * s->t.mt, l = i / s->t.m_tiles * s->t.nt;
        int64_t mn = min64(s->t.mt, s->m - m), ln = min64(s->t.nt, s->l - l);
        double *sum = w->sums + m * s->l + l;
        memset(slot->c, 0, (size_t)(s->t.mt * s->t.nt) * sizeof(double));
        if (w->begin)
            for (int64_t r = 0; r < mn; r++)
                memcpy(slot->c + r * s->t.nt, sum + r * s->l, (size_t)ln * sizeof(double));
        for (int64_t col = 0; col < w->count; col += DN_CONV_KC) {
            int64_t n = min64(DN_CONV_KC, w->count - col);
            pack_dy(w, slot, w->group, m, mn, w->begin + col, n);
            dn_conv_tile_multiply(s->k, slot, mn, ln, n, w->columns + col / DN_CONV_KC * block_size + l * DN_CONV_KC,
                                  s->k->nr * DN_CONV_KC, s->t.nt);
        }
        if (w->begin + w->count == s->cols)
            store_rows(w, w->group, m, mn, l, ln, slot->c, s->t.nt);
        else
            for (int64_t r = 0; r < mn; r++)
                memcpy(sum + r * s->l, slot->c + r * s->t.nt, (size_t)ln * sizeof(double));
    }
    dn_conv_slot_give(slot);
}

static dn_status run_columns(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const state *s = plan->state;
    job w;
    job_init(&w, h, plan, a);
    w.columns = (double *)(((uintptr_t)a->workspace + DN_CONV_ALIGN - 1) / DN_CONV_ALIGN * DN_CONV_ALIGN);
    w.sums = w.columns + s->range * dn_round_up(s->l, PANEL);
    for (w.group = 0; w.group < s->groups; w.group++)
        for (w.begin = 0; w.begin < s->cols; w.begin += s->range) {
            w.count = min64(s->range, s->cols - w.begin);
            dn_parallel(dn_ceil_div(w.count, DN_CONV_KC) * s->t.n_tiles, 1, write_columns, &w);
            dn_parallel(s->t.m_tiles * s->t.n_tiles, 1, multiply_columns, &w);
        }
    return DN_SUCCESS;
}

/* --- bias --- */

typedef struct bias_job {
    const dn_problem *p;
    const dn_args *a;
    dn_conv_view dy;
    bool channel_last;  /* channels lie closer than columns: walk columns, a block of channels at a time */
} bias_job;

enum { BIAS_BLOCK = 64 };

/* Each channel's sum: pieces of DN_CONV_NC columns, added in order. */
static void sum_along_columns(const bias_job *b, const dn_conv_kernel *k, int64_t chan, int64_t n, double *sum)
{
    dn_conv_cursor c;
    double row[DN_CONV_NC];
    for (int64_t col = 0; col < b->dy.cols; col += DN_CONV_NC) {
        dn_conv_cursor_seek(&c, &b->dy, col, min64(DN_CONV_NC, b->dy.cols - col));
        dn_conv_cursor_tap(&c, 0);
        for (int64_t i = 0; i < n; i++) {
            dn_conv_cursor_load(&c, k, b->a->ptr[DN_Y], (chan + i) * b->dy.chan_stride, row);
            sum[i] += k->sum(c.cols, row);
        }
    }
}

static void sum_along_channels(const bias_job *b, int64_t chan, int64_t n, double *sum)
{
    dn_conv_cursor c;
    double row[BIAS_BLOCK];
    for (int64_t col = 0; col < b->dy.cols; col += DN_CONV_NC) {
        dn_conv_cursor_seek(&c, &b->dy, col, min64(DN_CONV_NC, b->dy.cols - col));
        for (int32_t r = 0; r < c.runs; r++)
            for (int32_t q = 0; q < c.run[r].n; q++) {
                int64_t off = c.run[r].off + q * c.stride + chan * b->dy.chan_stride;
                dn_load_row(b->dy.type, b->a->ptr[DN_Y], off, b->dy.chan_stride, n, row);
                for (int64_t i = 0; i < n; i++)
                    sum[i] += row[i];
            }
    }
}

static void sum_channels(void *ctx, int64_t begin, int64_t end)
{
    const bias_job *b = ctx;
    const dn_tensor *db = &b->p->t[DN_B];
    const dn_conv_kernel *k = dn_conv_kernel_get();
    for (int64_t chan = begin; chan < end; chan += BIAS_BLOCK) {
        double sum[BIAS_BLOCK] = {0};
        int64_t n = min64(BIAS_BLOCK, end - chan);
        if (b->channel_last)
            sum_along_channels(b, chan, n, sum);
        else
            sum_along_columns(b, k, chan, n, sum);
        dn_store_row((dn_dtype)db->type, b->a->ptr[DN_B], chan * db->strides[1], db->strides[1], n, sum, b->a->alpha, b->a->beta);
    }
}

static dn_status run_bias(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    bias_job b = {.p = &plan->problem, .a = a};
    (void)h;
    dn_conv_view_plain(&b.dy, &plan->problem.t[DN_Y], plan->problem.t[DN_Y].dims[1]);
    int64_t along = b.dy.dim[b.dy.rank - 1].stride, chan = b.dy.chan_stride;
    b.channel_last = (chan < 0 ? -chan : chan) < (along < 0 ? -along : along);
    dn_parallel(plan->problem.t[DN_B].dims[1], b.channel_last ? 16 : 1, sum_channels, &b);
    return DN_SUCCESS;
}

#define ROW(row_name, number) \
    .name = row_name, .op = DN_OP_CONV, .dir = DN_DIR_BWD_FILTER, .algo = number, .flags = DN_SOLVER_PLAIN, \
    .check = dn_ref_conv_check, .prepare = prepare, .release = release

static const dn_solver rows[] = {
    {ROW("ref_conv_bwd_filter_split", 0), .run = run_sum},
    {ROW("ref_conv_bwd_filter_whole", 1), .run = run_sum},
    {ROW("ref_conv_bwd_filter_columns", 3), .run = run_columns, .workspace = columns_workspace},
    {.name = "ref_conv_bwd_bias", .op = DN_OP_CONV, .dir = DN_DIR_BWD_BIAS, .algo = -1, .flags = DN_SOLVER_PLAIN,
     .check = dn_ref_conv_check, .run = run_bias},
};

const dn_rows dn_ref_conv_bwd_filter = {rows, sizeof rows / sizeof rows[0]};
