/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution and its gradients through the frequency domain, where a correlation is a product:
 *
 *     forward          Y[k][t] = sum over c of conj W[k][c] * X[c][t]        t = a tile of an image
 *     backward data    the same with dy for x, the filter turned round and its channels exchanged, padding R - 1 - pad
 *     backward filter  dW[k][c] = sum over t of conj dY[k][t] * X[c][t]
 *
 * FFT (forward 4, backward 2): one tile holds an image. A period of max(H + pad, O, R) is enough: what it wraps is padding.
 * FFT tiling (forward 5, backward data 3, backward filter 6): tiles of N give N - R + 1 outputs each (overlap-save); N is chosen by the
 * count of operations.
 *
 * Takes f32, f64, f16 and bf16 in any strides, one or two spatial dimensions, stride and dilation 1, filters larger than the padding.
 * All in double; the error of an output is a few roundings of the largest sum of its tile, and an infinity or NaN spreads over its tile.
 * Costs, with F = N (N / 2 + 1): 8 F operations per (k, c, tile), about 5 N^2 log2 N per transform.
 * The workspace holds the spectra: of all operands where they fit BUDGET bytes, else of a part of the channels or tiles at a time. Each
 * sum runs over l in order, so bits depend on the problem alone. */
#include "ref/conv.h"
#include "ref/fft.h"

#include "ops/act_fn.h"

#include <stdlib.h>

enum { BUDGET = 256 << 20, PLANE_MAX = 4096 };

/* The product of one group, C[j][m] = sum over l of A[l][m] * B[j][l]: how tiles lie, and how much of m, j, l is there at a time. */
typedef struct shape {
    int axis[2];              /* spatial dimension of the plane's height and width, -1: none */
    int64_t in[2], out[2], window[2], pad[2];
    int n[2];                 /* points of a tile */
    int64_t q[2], tiles[2];   /* outputs of a tile; their count */
    int64_t m, j, l;          /* extents */
    int64_t mc, jc, lc;       /* of a chunk */
} shape;

typedef struct fft_state {
    shape s;
    dn_fft_plane plane;
    dn_fft_image a, b, c;
    dn_role a_role, b_role, c_role;
    dn_conv_tiles slots;
    int64_t groups, bins;
} fft_state;

typedef struct fft_job {
    const fft_state *s;
    const dn_problem *p;
    const dn_args *args;
    void *scratch;
    double *a, *b, *c;             /* spectra */
    int64_t group, m0, j0, l0;     /* the chunk under way */
    int64_t mc, jc, lc;
} fft_job;

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t panels(int64_t chans) { return dn_ceil_div(chans, DN_FFT_PANEL); }

/* --- what is taken --- */

static const char *check_any(const dn_problem *p)
{
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        if (p->t[r].rank && (p->t[r].vect != 1 || (p->t[r].type != DN_F32 && p->t[r].type != DN_F64 && p->t[r].type != DN_F16
                                                   && p->t[r].type != DN_BF16)))
            return "needs types f32, f64, f16 or bf16";
    if (p->u.conv.spatial > 2)
        return "needs 1 or 2 spatial dimensions";
    for (int j = 0; j < p->u.conv.spatial; j++) {
        if (p->u.conv.stride[j] != 1)
            return "needs stride 1";
        if (p->u.conv.dilation[j] != 1)
            return "needs dilation 1";
        if (p->u.conv.pad[j] >= p->t[DN_W].dims[j + 2])
            return "needs a filter larger than the padding in every dimension";
    }
    return dn_ref_conv_check(p);
}

static const char *check_whole(const dn_problem *p)
{
    const char *why = check_any(p);
    for (int j = 0; !why && j < p->u.conv.spatial; j++)
        if (p->t[DN_X].dims[j + 2] + 2 * (int64_t)p->u.conv.pad[j] > 256)
            return "needs an input of at most 256 with its padding in every dimension";
    return why;
}

static const char *check_tiling(const dn_problem *p)
{
    const char *why = check_any(p);
    const int64_t *window = p->t[DN_W].dims + 2;
    if (why)
        return why;
    bool flat = p->u.conv.spatial == 1 || window[0] == 1 || window[1] == 1;
    for (int j = 0; j < p->u.conv.spatial; j++)
        if (window[j] > (flat ? 256 : 32))
            return "needs a filter of at most 32 x 32, or of at most 256 in one dimension and 1 in the other";
    return NULL;
}

/* --- sizes --- */

/* Backward data is a correlation of dy with a padding of its own; everything below speaks of the correlation. */
static void plane_init(shape *s, const dn_problem *p)
{
    bool two = p->u.conv.spatial == 2, turn = two && p->t[DN_X].dims[3] == 1 && p->t[DN_W].dims[3] == 1;
    s->axis[0] = turn ? 1 : two ? 0 : -1;  /* only the width's spectrum is half: let it be the longer one */
    s->axis[1] = turn ? 0 : two ? 1 : 0;
    for (int i = 0; i < 2; i++) {
        int j = s->axis[i];
        s->in[i] = j < 0 ? 1 : p->t[p->dir == DN_DIR_BWD_DATA ? DN_Y : DN_X].dims[j + 2];
        s->out[i] = j < 0 ? 1 : p->t[p->dir == DN_DIR_BWD_DATA ? DN_X : DN_Y].dims[j + 2];
        s->window[i] = j < 0 ? 1 : p->t[DN_W].dims[j + 2];
        s->pad[i] = j < 0 ? 0 : p->u.conv.pad[j];
        if (p->dir == DN_DIR_BWD_DATA)
            s->pad[i] = s->window[i] - 1 - s->pad[i];
    }
}

/* Points n in dimension i: true where they hold a tile. */
static bool tile_fit(shape *s, int i, int n)
{
    int64_t whole = max64(max64(s->in[i] + s->pad[i], s->out[i]), s->window[i]);
    if (n < s->window[i])
        return false;
    s->n[i] = n;
    s->q[i] = n >= whole ? s->out[i] : min64(s->out[i], n - s->window[i] + 1);
    s->tiles[i] = dn_ceil_div(s->out[i], s->q[i]);
    return true;
}

/* Multiplications of complex numbers. Measured against the implicit GEMM rows: a transform's share per bin counts as 8 of them, and
 * all as more than it is, the more so for planes that leave the cache. */
static double cost(const shape *s, double m, double chans, double images)
{
    double t = images * (double)(s->tiles[0] * s->tiles[1]);
    int cells = s->n[0] * s->n[1];
    double slow = cells > PLANE_MAX ? 3 : cells > PLANE_MAX / 2 ? 1.7 : 1.3;
    return slow * (double)dn_fft_bins(s->n[0], s->n[1]) * (m * chans * t + 8 * (m * chans + (m + chans) * t));
}

static void tile_choose(shape *s, int64_t m, int64_t chans, int64_t images)
{
    shape best = *s;
    double least = -1;
    for (int h = 1; h && h <= DN_FFT_LENGTH_MAX; h = dn_fft_length_fit(h + 1))
        for (int w = 1; w && w <= DN_FFT_LENGTH_MAX && h * w <= PLANE_MAX; w = dn_fft_length_fit(w + 1)) {
            if (!tile_fit(s, 0, h) || !tile_fit(s, 1, w))
                continue;
            double c = cost(s, (double)m, (double)chans, (double)images);
            if (least < 0 || c < least) {
                least = c;
                best = *s;
            }
        }
    *s = best;
}

/* Units of the three spectra; counts are made odd, so that bins do not all fall into one set of the cache. */
static int64_t a_units(int64_t m, int64_t l) { return (panels(m) * l) | 1; }
static int64_t c_units(int64_t m, int64_t j) { return (panels(m) * j) | 1; }

static int64_t b_units(const dn_problem *p, int64_t j, int64_t l)
{
    return (p->dir == DN_DIR_BWD_FILTER ? panels(j) * l : panels(l) * j) | 1;
}

static int64_t chunk_doubles(const shape *s, const dn_problem *p)
{
    return (a_units(s->mc, s->lc) + b_units(p, s->jc, s->lc) + c_units(s->mc, s->jc)) * dn_fft_bins(s->n[0], s->n[1]) * DN_FFT_UNIT;
}

/* The same in bytes, where whole operands of a problem may pass 64 bits. */
static double chunk_bytes(const shape *s, const dn_problem *p)
{
    double units = (double)a_units(s->mc, s->lc) + (double)b_units(p, s->jc, s->lc) + (double)c_units(s->mc, s->jc);
    return units * (double)dn_fft_bins(s->n[0], s->n[1]) * DN_FFT_UNIT * sizeof(double);
}

/* Halves what costs least to have in parts, until all fits. Panels stay whole. */
static void chunk_choose(shape *s, const dn_problem *p)
{
    const struct { int64_t *size; int64_t least; } forward[] = {{&s->jc, 24}, {&s->mc, 64}, {&s->lc, 64}, {&s->jc, 6}, {&s->mc, 16},
                                                                {&s->lc, 16}, {&s->jc, 1}},
                                                   filter[] = {{&s->lc, 64}, {&s->jc, 64}, {&s->mc, 64}, {&s->lc, 8}, {&s->jc, 16},
                                                               {&s->mc, 16}, {&s->lc, 1}};
    s->mc = s->m;
    s->jc = s->j;
    s->lc = s->l;
    for (int i = 0; i < 7; i++) {
        int64_t *size = p->dir == DN_DIR_BWD_FILTER ? filter[i].size : forward[i].size;
        int64_t least = p->dir == DN_DIR_BWD_FILTER ? filter[i].least : forward[i].least;
        int64_t step = least < DN_FFT_PANEL ? 1 : DN_FFT_PANEL;
        while (*size > least && chunk_bytes(s, p) > BUDGET)
            *size = max64(least, dn_round_up(*size / 2, step));
    }
}

static void shape_choose(shape *s, const dn_problem *p, bool tiling)
{
    int64_t k = p->t[DN_W].dims[0] / p->u.conv.groups, c = p->t[DN_W].dims[1], images = p->t[DN_X].dims[0];
    plane_init(s, p);
    if (tiling)
        tile_choose(s, k, c, images);
    else
        for (int i = 0; i < 2; i++)
            tile_fit(s, i, dn_fft_length_fit(max64(max64(s->in[i] + s->pad[i], s->out[i]), s->window[i])));
    int64_t t = images * s->tiles[0] * s->tiles[1];
    s->m = p->dir == DN_DIR_BWD_DATA ? c : k;
    s->j = p->dir == DN_DIR_BWD_FILTER ? c : t;
    s->l = p->dir == DN_DIR_BWD_FILTER ? t : p->dir == DN_DIR_BWD_DATA ? k : c;
    chunk_choose(s, p);
}

/* Where FFT is meant to be used: fewer operations than the sum over the filter has. A product of complex numbers counts as four. */
static const char *check_fewer(const dn_problem *p, bool tiling)
{
    shape s;
    double k = (double)p->t[DN_W].dims[0] / p->u.conv.groups, c = (double)p->t[DN_W].dims[1], images = (double)p->t[DN_X].dims[0];
    shape_choose(&s, p, tiling);
    double direct = k * c * images * (double)(s.out[0] * s.out[1]) * (double)(s.window[0] * s.window[1]);
    if (p->dir == DN_DIR_BWD_DATA)
        direct *= (double)(s.in[0] * s.in[1]) / (double)(s.out[0] * s.out[1]);
    return 4 * cost(&s, k, c, images) < direct ? NULL : "needs larger filters or more channels to be faster than the sum";
}

static const char *check_whole_large(const dn_problem *p)
{
    const char *why = check_whole(p);
    return why ? why : check_fewer(p, false);
}

static const char *check_tiling_large(const dn_problem *p)
{
    const char *why = check_tiling(p);
    return why ? why : check_fewer(p, true);
}

static size_t workspace(const dn_problem *p, bool tiling)
{
    shape s;
    shape_choose(&s, p, tiling);
    return (size_t)chunk_doubles(&s, p) * sizeof(double) + DN_CONV_ALIGN;
}

static size_t workspace_whole(const dn_problem *p) { return workspace(p, false); }
static size_t workspace_tiling(const dn_problem *p) { return workspace(p, true); }

/* --- where operands lie --- */

static dn_fft_image image_of(const dn_tensor *t, const shape *s, int64_t chans)
{
    dn_fft_image m = {.type = (dn_dtype)t->type, .chans = chans, .chan_stride = t->strides[1], .group_stride = chans * t->strides[1],
                      .image_stride = t->strides[0]};
    for (int i = 0; i < 2; i++) {
        m.tiles[i] = s->tiles[i];
        m.step[i] = m.extent[i] = s->q[i];
        m.dims[i] = s->axis[i] < 0 ? 1 : t->dims[s->axis[i] + 2];
        m.stride[i] = s->axis[i] < 0 ? 0 : t->strides[s->axis[i] + 2];
    }
    return m;
}

/* A tile's input: as far as its outputs reach, but no more than the period. */
static dn_fft_image input_of(const dn_tensor *t, const shape *s, int64_t chans)
{
    dn_fft_image m = image_of(t, s, chans);
    for (int i = 0; i < 2; i++) {
        m.start[i] = -s->pad[i];
        m.extent[i] = min64(s->n[i], s->q[i] + s->window[i] - 1);
    }
    return m;
}

/* The filter, its dimension `lanes` as channels; turned round in the mode that asks for it, and once more for backward data. */
static dn_fft_image filter_of(const dn_problem *p, const shape *s, int lanes)
{
    const dn_tensor *w = &p->t[DN_W];
    int64_t k = w->dims[0] / p->u.conv.groups;
    dn_fft_image m = {.type = (dn_dtype)w->type, .chans = lanes ? w->dims[1] : k, .chan_stride = w->strides[lanes],
                      .image_stride = w->strides[!lanes], .group_stride = k * w->strides[0]};
    for (int i = 0; i < 2; i++) {
        m.tiles[i] = 1;
        m.extent[i] = m.dims[i] = s->window[i];
        m.stride[i] = s->axis[i] < 0 ? 0 : w->strides[s->axis[i] + 2];
        if ((p->u.conv.mode == 0) != (p->dir == DN_DIR_BWD_DATA)) {
            m.offset += (s->window[i] - 1) * m.stride[i];
            m.stride[i] = -m.stride[i];
        }
    }
    return m;
}

static void operands_init(fft_state *s, const dn_problem *p)
{
    int64_t k = p->t[DN_W].dims[0] / s->groups, c = p->t[DN_W].dims[1];
    if (p->dir == DN_DIR_BWD_FILTER) {
        s->a = image_of(&p->t[DN_Y], &s->s, k);
        s->b = input_of(&p->t[DN_X], &s->s, c);
        s->c = filter_of(p, &s->s, 0);
        s->a_role = DN_Y, s->b_role = DN_X, s->c_role = DN_W;
        return;
    }
    bool back = p->dir == DN_DIR_BWD_DATA;
    s->a_role = DN_W, s->b_role = back ? DN_Y : DN_X, s->c_role = back ? DN_X : DN_Y;
    s->a = filter_of(p, &s->s, back);
    s->b = input_of(&p->t[s->b_role], &s->s, back ? k : c);
    s->c = image_of(&p->t[s->c_role], &s->s, back ? c : k);
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    fft_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    shape_choose(&s->s, p, plan->solver->workspace == workspace_tiling);
    s->groups = p->u.conv.groups;
    s->bins = dn_fft_bins(s->s.n[0], s->s.n[1]);
    s->plane.k = dn_fft_kernel_get();
    dn_fft_length_init(&s->plane.height, s->s.n[0]);
    dn_fft_length_init(&s->plane.width, s->s.n[1]);
    operands_init(s, p);
    s->slots.extra = dn_fft_memory(s->s.n[0], s->s.n[1]);
    return dn_scratch_reserve(h, dn_conv_slots_size(&s->slots));
}

static void release(dn_plan *plan)
{
    free(plan->state);
    plan->state = NULL;
}

/* --- run --- */

/* Rows row0 .. row0 + rows - 1 of channels chan0 .. chan0 + chans - 1. */
static void load_units(const fft_job *w, const dn_fft_image *m, dn_role role, double *out, int64_t chan0, int64_t row0, int64_t rows,
                       int64_t step, bool conjugate, int64_t begin, int64_t end)
{
    const fft_state *s = w->s;
    dn_conv_slot *slot = dn_conv_slot_take(&s->slots, w->scratch);
    dn_fft_clear(&s->plane, slot->extra);
    for (int64_t i = begin; i < end; i++)
        dn_fft_load(&s->plane, slot->extra, m, w->args->ptr[role], w->group * m->group_stride, chan0 + i / rows * DN_FFT_PANEL,
                    row0 + i % rows, out + i * DN_FFT_UNIT, step, conjugate);
    dn_conv_slot_give(slot);
}

static void load_a(void *ctx, int64_t begin, int64_t end)
{
    const fft_job *w = ctx;
    load_units(w, &w->s->a, w->s->a_role, w->a, w->m0, w->l0, w->lc, a_units(w->mc, w->lc) * DN_FFT_UNIT, true, begin, end);
}

static void load_b(void *ctx, int64_t begin, int64_t end)
{
    const fft_job *w = ctx;
    bool filter = w->p->dir == DN_DIR_BWD_FILTER;
    load_units(w, &w->s->b, w->s->b_role, w->b, filter ? w->j0 : w->l0, filter ? w->l0 : w->j0, filter ? w->lc : w->jc,
               b_units(w->p, w->jc, w->lc) * DN_FFT_UNIT, false, begin, end);
}

/* One bin, one panel of m. */
static void multiply_panels(void *ctx, int64_t begin, int64_t end)
{
    const fft_job *w = ctx;
    const dn_fft_kernel *k = w->s->plane.k;
    bool filter = w->p->dir == DN_DIR_BWD_FILTER;
    int64_t mp = panels(w->mc), period = filter ? w->lc : DN_FFT_PANEL, step = filter ? DN_FFT_UNIT : 1;
    for (int64_t i = begin; i < end; i++) {
        int64_t bin = i / mp, panel = i % mp;
        const double *a = w->a + (bin * a_units(w->mc, w->lc) + panel * w->lc) * DN_FFT_UNIT;
        const double *b = w->b + bin * b_units(w->p, w->jc, w->lc) * DN_FFT_UNIT;
        double *c = w->c + (bin * c_units(w->mc, w->jc) + panel * w->jc) * DN_FFT_UNIT;
        for (int64_t j = 0, n; j < w->jc; j += n) {
            int64_t left = w->jc - j;
            n = left;
            if (filter)  /* a block does not cross a panel of b; 16 = 6 + 5 + 5 */
                n = min64(left, DN_FFT_PANEL - j % DN_FFT_PANEL);
            n = dn_ceil_div(n, dn_ceil_div(n, DN_FFT_COLS));
            const double *bj = filter ? b + j / DN_FFT_PANEL * w->lc * DN_FFT_UNIT + j % DN_FFT_PANEL : b + j * DN_FFT_UNIT;
            k->multiply(w->lc, period, a, bj, step, w->jc * DN_FFT_UNIT, (int)n, filter ? 1 : DN_FFT_UNIT, c + j * DN_FFT_UNIT, w->l0 > 0);
        }
    }
}

/* Stores a run, or bias and activation of it: out = act(alpha * sum + alpha2 * z + bias). */
static void store_run(void *ctx, double *v, int64_t n, int64_t off, int64_t stride, int64_t chan, int64_t chan_step, const int64_t at[3])
{
    const fft_job *w = ctx;
    const dn_args *a = w->args;
    const dn_tensor *z = &w->p->t[DN_Z], *bias = &w->p->t[DN_B];
    double add[DN_FFT_LENGTH_MAX];
    dn_dtype type = w->s->c.type;
    if (w->p->op != DN_OP_CONV_BIAS_ACT) {
        dn_store_row(type, a->ptr[w->s->c_role], off, stride, n, v, a->alpha, a->beta);
        return;
    }
    chan += w->group * w->s->s.m;
    dn_load_row((dn_dtype)bias->type, a->ptr[DN_B], chan * bias->strides[1], chan_step * bias->strides[1], n, add);
    for (int64_t i = 0; i < n; i++)
        v[i] = a->alpha * v[i] + add[i];
    if (z->rank && a->alpha2 != 0) {
        int64_t z_off = at[0] * z->strides[0] + chan * z->strides[1], along = chan_step ? 1 : w->s->s.axis[1] + 2;
        for (int i = 0; i < 2; i++)
            if (w->s->s.axis[i] >= 0)
                z_off += at[i + 1] * z->strides[w->s->s.axis[i] + 2];
        dn_load_row((dn_dtype)z->type, a->ptr[DN_Z], z_off, z->strides[along], n, add);
        for (int64_t i = 0; i < n; i++)
            v[i] += a->alpha2 * add[i];
    }
    for (int64_t i = 0; i < n; i++)
        v[i] = dn_act_apply(&w->p->u.conv.act, v[i]);
    dn_store_row(type, a->ptr[w->s->c_role], off, stride, n, v, 1, 0);
}

static void store_c(void *ctx, int64_t begin, int64_t end)
{
    fft_job *w = ctx;
    const fft_state *s = w->s;
    dn_conv_slot *slot = dn_conv_slot_take(&s->slots, w->scratch);
    for (int64_t i = begin; i < end; i++)
        dn_fft_store(&s->plane, slot->extra, &s->c, w->group * s->c.group_stride, w->m0 + i / w->jc * DN_FFT_PANEL, w->j0 + i % w->jc,
                     w->c + i * DN_FFT_UNIT, c_units(w->mc, w->jc) * DN_FFT_UNIT, store_run, w);
    dn_conv_slot_give(slot);
}

/* All of l for one chunk of m and j. What the last chunk left in a and b is used again where it is the same. */
static void run_chunk(fft_job *w, bool a_stays, bool b_stays)
{
    const shape *s = &w->s->s;
    for (w->l0 = 0; w->l0 < s->l; w->l0 += s->lc) {
        w->lc = min64(s->lc, s->l - w->l0);
        if (!a_stays || s->lc < s->l)
            dn_parallel(panels(w->mc) * w->lc, 1, load_a, w);
        if (!b_stays || s->lc < s->l)
            dn_parallel(w->p->dir == DN_DIR_BWD_FILTER ? panels(w->jc) * w->lc : panels(w->lc) * w->jc, 1, load_b, w);
        dn_parallel(w->s->bins * panels(w->mc), max64(1, 4096 / (w->lc * w->jc)), multiply_panels, w);
    }
    dn_parallel(panels(w->mc) * w->jc, 1, store_c, w);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *args)
{
    const fft_state *st = plan->state;
    const shape *s = &st->s;
    fft_job w = {.s = st, .p = &plan->problem, .args = args, .scratch = h->scratch};
    w.a = (double *)(((uintptr_t)args->workspace + DN_CONV_ALIGN - 1) / DN_CONV_ALIGN * DN_CONV_ALIGN);
    w.b = w.a + a_units(s->mc, s->lc) * st->bins * DN_FFT_UNIT;
    w.c = w.b + b_units(w.p, s->jc, s->lc) * st->bins * DN_FFT_UNIT;
    dn_conv_slots_init(&st->slots, h->scratch);
    for (w.group = 0; w.group < st->groups; w.group++)
        for (w.m0 = 0; w.m0 < s->m; w.m0 += s->mc) {
            w.mc = min64(s->mc, s->m - w.m0);
            for (w.j0 = 0; w.j0 < s->j; w.j0 += s->jc) {
                w.jc = min64(s->jc, s->j - w.j0);
                run_chunk(&w, w.j0 > 0, w.m0 > 0 && s->jc >= s->j);
            }
        }
    return DN_SUCCESS;
}

#define ROW(row_name, op_value, dir_value, number, way, accepts) \
    {.name = row_name, .op = op_value, .dir = dir_value, .algo = number, .flags = DN_SOLVER_PLAIN | DN_SOLVER_TILED, \
     .check = accepts, .workspace = workspace_##way, .prepare = prepare, .run = run, .release = release}

/* Asked before the GEMM rows, so that Get names them first. */
static const dn_solver large_rows[] = {
    ROW("ref_conv_fwd_fft_tiling_large", DN_OP_CONV, DN_DIR_FWD, 5, tiling, check_tiling_large),
    ROW("ref_conv_fwd_fft_large", DN_OP_CONV, DN_DIR_FWD, 4, whole, check_whole_large),
    ROW("ref_conv_bwd_data_fft_tiling_large", DN_OP_CONV, DN_DIR_BWD_DATA, 3, tiling, check_tiling_large),
    ROW("ref_conv_bwd_data_fft_large", DN_OP_CONV, DN_DIR_BWD_DATA, 2, whole, check_whole_large),
    ROW("ref_conv_bwd_filter_fft_tiling_large", DN_OP_CONV, DN_DIR_BWD_FILTER, 6, tiling, check_tiling_large),
    ROW("ref_conv_bwd_filter_fft_large", DN_OP_CONV, DN_DIR_BWD_FILTER, 2, whole, check_whole_large),
};

static const dn_solver rows[] = {
    ROW("ref_conv_fwd_fft_tiling", DN_OP_CONV, DN_DIR_FWD, 5, tiling, check_tiling),
    ROW("ref_conv_fwd_fft", DN_OP_CONV, DN_DIR_FWD, 4, whole, check_whole),
    ROW("ref_convba_fwd_fft_tiling", DN_OP_CONV_BIAS_ACT, DN_DIR_FWD, 5, tiling, check_tiling),
    ROW("ref_convba_fwd_fft", DN_OP_CONV_BIAS_ACT, DN_DIR_FWD, 4, whole, check_whole),
    ROW("ref_conv_bwd_data_fft_tiling", DN_OP_CONV, DN_DIR_BWD_DATA, 3, tiling, check_tiling),
    ROW("ref_conv_bwd_data_fft", DN_OP_CONV, DN_DIR_BWD_DATA, 2, whole, check_whole),
    ROW("ref_conv_bwd_filter_fft_tiling", DN_OP_CONV, DN_DIR_BWD_FILTER, 6, tiling, check_tiling),
    ROW("ref_conv_bwd_filter_fft", DN_OP_CONV, DN_DIR_BWD_FILTER, 2, whole, check_whole),
};

const dn_rows dn_ref_conv_fft_large = {large_rows, sizeof large_rows / sizeof large_rows[0]};
const dn_rows dn_ref_conv_fft = {rows, sizeof rows / sizeof rows[0]};
