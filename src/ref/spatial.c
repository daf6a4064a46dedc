/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Spatial transformer on the host: grid generator and bilinear sampler (formulas in src/ops/spatial.c), in double.
 * Grid gradient: dtheta(n) = sum over h, w of dgrid (x, y, 1), in order.
 * Sampler gradients: dx takes each dy times its four weights, a plane at a time, in order of the output pixels; dgrid sums over
 * the channels in order. So the bits depend on neither the threads nor the layout.
 * A place that is not a number gives NaN; an infinite one lies outside and gives 0. */
#include "ref/ref.h"

#include <math.h>
#include <string.h>

#define SPAN_MAX 128  /* output pixels of a row that are worked on at once */
#define SCRATCH_MOST ((size_t)1 << 28)

/* --- grid generator --- */

typedef struct grid_job {
    const dn_tensor *theta, *grid;
    bool bwd;
    void *theta_ptr, *grid_ptr;
} grid_job;

/* Where the centre of pixel i of n lies between -1 and 1; a single pixel is the first. */
static double centre(int64_t i, int64_t n)
{
    return n > 1 ? -1 + 2 * (double)i / (double)(n - 1) : -1;
}

/* One row of the grid: fwd fills it, bwd adds its share to t. t: theta, 2 x 3 */
static void grid_row(const grid_job *j, int64_t n, int64_t h, double *t)
{
    const dn_tensor *g = j->grid;
    int64_t width = g->dims[2], base = n * g->strides[0] + h * g->strides[1];
    double v[SPAN_MAX], y = centre(h, g->dims[1]);
    for (int64_t w = 0; w < width; w += SPAN_MAX) {
        int64_t count = width - w < SPAN_MAX ? width - w : SPAN_MAX;
        for (int k = 0; k < 2; k++) {
            int64_t offset = base + w * g->strides[2] + k * g->strides[3];
            double *row = t + 3 * k;
            if (j->bwd) {
                dn_load_row((dn_dtype)g->type, j->grid_ptr, offset, g->strides[2], count, v);
                for (int64_t i = 0; i < count; i++) {
                    row[0] += v[i] * centre(w + i, width);
                    row[1] += v[i] * y;
                    row[2] += v[i];
                }
            } else {
                for (int64_t i = 0; i < count; i++)
                    v[i] = row[0] * centre(w + i, width) + row[1] * y + row[2];
                dn_store_row((dn_dtype)g->type, j->grid_ptr, offset, g->strides[2], count, v, 1, 0);
            }
        }
    }
}

static int64_t theta_offset(const dn_tensor *t, int64_t n, int k)
{
    return n * t->strides[0] + k * t->strides[1];
}

/* Rows of the grid, counted over n and h. */
static void grid_rows(void *ctx, int64_t begin, int64_t end)
{
    const grid_job *j = ctx;
    const dn_tensor *t = j->theta;
    int64_t height = j->grid->dims[1];
    for (int64_t row = begin; row < end; row++) {
        double v[6];
        for (int k = 0; k < 2; k++)
            dn_load_row((dn_dtype)t->type, j->theta_ptr, theta_offset(t, row / height, k), t->strides[2], 3, v + 3 * k);
        grid_row(j, row / height, row % height, v);
    }
}

static void grid_sums(void *ctx, int64_t begin, int64_t end)
{
    const grid_job *j = ctx;
    const dn_tensor *t = j->theta;
    for (int64_t n = begin; n < end; n++) {
        double v[6] = { 0 };
        for (int64_t h = 0; h < j->grid->dims[1]; h++)
            grid_row(j, n, h, v);
        for (int k = 0; k < 2; k++)
            dn_store_row((dn_dtype)t->type, j->theta_ptr, theta_offset(t, n, k), t->strides[2], 3, v + 3 * k, 1, 0);
    }
}

static dn_status run_grid(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    bool bwd = p->dir != DN_DIR_FWD;
    dn_role theta = bwd ? DN_DX : DN_X, grid = bwd ? DN_DY : DN_Y;
    grid_job j = { &p->t[theta], &p->t[grid], bwd, a->ptr[theta], a->ptr[grid] };
    int64_t n = j.grid->dims[0], rows = j.grid->dims[1], grain = DN_PIECE_GRAIN / j.grid->dims[2];
    if (bwd)
        dn_parallel(n, grain / rows > 1 ? grain / rows : 1, grid_sums, &j);
    else
        dn_parallel(n * rows, grain > 1 ? grain : 1, grid_rows, &j);
    return DN_SUCCESS;
}

/* --- sampler --- */

/* Aligned to nothing: a caller's tensor may lie anywhere. */
typedef float any_float __attribute__((aligned(1), may_alias));
typedef double any_double __attribute__((aligned(1), may_alias));

typedef struct sample_job {
    const dn_problem *p;
    const dn_args *a;
    const dn_tensor *x, *y;  /* y: of the output or its gradient */
    dn_dtype type;
    double *scratch;
    int slots;
} sample_job;

enum { NORTH_WEST, NORTH_EAST, SOUTH_WEST, SOUTH_EAST, CORNERS };

/* Where some output pixels of a row are sampled. */
typedef struct span {
    int64_t n, h, w, count;
    int64_t row[CORNERS][SPAN_MAX], col[CORNERS][SPAN_MAX];  /* row -1: outside */
    double across[SPAN_MAX], down[SPAN_MAX];                 /* how far from the western and northern pixels, 0 .. 1 */
} span;

/* Pixel left of the place and the way beyond it; -2 where both neighbours are outside. */
static int64_t split(double place, int64_t size, double *beyond)
{
    *beyond = isnan(place) ? place : 0;
    if (!(place > -1 && place < (double)size))
        return -2;
    double low = floor(place);
    *beyond = place - low;
    return (int64_t)low;
}

static void locate(const sample_job *j, span *s)
{
    const dn_tensor *g = &j->p->t[DN_B];
    int64_t height = j->x->dims[2], width = j->x->dims[3];
    int64_t offset = s->n * g->strides[0] + s->h * g->strides[1] + s->w * g->strides[2];
    double gx[SPAN_MAX], gy[SPAN_MAX];
    dn_load_row((dn_dtype)g->type, j->a->ptr[DN_B], offset, g->strides[2], s->count, gx);
    dn_load_row((dn_dtype)g->type, j->a->ptr[DN_B], offset + g->strides[3], g->strides[2], s->count, gy);
    for (int64_t i = 0; i < s->count; i++) {
        int64_t c = split((gx[i] + 1) * (double)(width - 1) / 2, width, &s->across[i]);
        int64_t r = split((gy[i] + 1) * (double)(height - 1) / 2, height, &s->down[i]);
        for (int k = 0; k < CORNERS; k++) {
            int64_t row = r + k / 2, col = c + k % 2;
            bool inside = row >= 0 && row < height && col >= 0 && col < width;
            s->row[k][i] = inside ? row : -1;
            s->col[k][i] = col;
        }
    }
}

static double weight(const span *s, int corner, int64_t i)
{
    double across = corner % 2 ? s->across[i] : 1 - s->across[i], down = corner / 2 ? s->down[i] : 1 - s->down[i];
    return across * down;
}

/* One value per pixel of the span: the corner's of channel c, 0 outside. */
static void gather(const sample_job *j, const span *s, int corner, int64_t c, double *v)
{
    const dn_tensor *x = j->x;
    int64_t base = s->n * x->strides[0] + c * x->strides[1];
#define GATHER(load)                                                                                          \
    for (int64_t i = 0; i < s->count; i++) {                                                                  \
        int64_t at = base + s->row[corner][i] * x->strides[2] + s->col[corner][i] * x->strides[3];            \
        v[i] = s->row[corner][i] < 0 ? 0 : load;                                                              \
    }
    const void *ptr = j->a->ptr[DN_X];
    switch (j->type) {
    case DN_F32: GATHER(((const any_float *)ptr)[at]) break;
    case DN_F64: GATHER(((const any_double *)ptr)[at]) break;
    default: GATHER(dn_load(j->type, ptr, at)) break;
    }
#undef GATHER
}

/* Calls fn for every span of output row h of sample n. */
static void each_span(const sample_job *j, int64_t n, int64_t h, void (*fn)(const sample_job *, const span *, void *), void *to)
{
    span s = { .n = n, .h = h };
    int64_t width = j->y->dims[3];
    for (s.w = 0; s.w < width; s.w += SPAN_MAX) {
        s.count = width - s.w < SPAN_MAX ? width - s.w : SPAN_MAX;
        locate(j, &s);
        fn(j, &s, to);
    }
}

static int64_t y_offset(const sample_job *j, const span *s, int64_t c)
{
    const int64_t *st = j->y->strides;
    return s->n * st[0] + c * st[1] + s->h * st[2] + s->w * st[3];
}

static void fwd_span(const sample_job *j, const span *s, void *to)
{
    (void)to;
    for (int64_t c = 0; c < j->x->dims[1]; c++) {
        double v[SPAN_MAX], y[SPAN_MAX] = { 0 };
        for (int k = 0; k < CORNERS; k++) {
            gather(j, s, k, c, v);
            for (int64_t i = 0; i < s->count; i++)
                y[i] += v[i] * weight(s, k, i);
        }
        dn_store_row(j->type, j->a->ptr[DN_Y], y_offset(j, s, c), j->y->strides[3], s->count, y, j->a->alpha, j->a->beta);
    }
}

static void fwd_rows(void *ctx, int64_t begin, int64_t end)
{
    const sample_job *j = ctx;
    for (int64_t row = begin; row < end; row++)
        each_span(j, row / j->y->dims[2], row % j->y->dims[2], fwd_span, NULL);
}

/* dgrid of a span: the slopes of the surface between the four pixels, times half a pixel count. */
static void dgrid_span(const sample_job *j, const span *s, void *to)
{
    (void)to;
    const dn_tensor *g = &j->p->t[DN_DZ];
    double dy[SPAN_MAX], v[CORNERS][SPAN_MAX], gx[SPAN_MAX] = { 0 }, gy[SPAN_MAX] = { 0 };
    for (int64_t c = 0; c < j->x->dims[1]; c++) {
        dn_load_row(j->type, j->a->ptr[DN_DY], y_offset(j, s, c), j->y->strides[3], s->count, dy);
        for (int k = 0; k < CORNERS; k++)
            gather(j, s, k, c, v[k]);
        for (int64_t i = 0; i < s->count; i++) {
            double north = v[NORTH_EAST][i] - v[NORTH_WEST][i], south = v[SOUTH_EAST][i] - v[SOUTH_WEST][i];
            double west = v[SOUTH_WEST][i] - v[NORTH_WEST][i], east = v[SOUTH_EAST][i] - v[NORTH_EAST][i];
            gx[i] += dy[i] * (north * (1 - s->down[i]) + south * s->down[i]);
            gy[i] += dy[i] * (west * (1 - s->across[i]) + east * s->across[i]);
        }
    }
    for (int64_t i = 0; i < s->count; i++) {
        gx[i] *= (double)(j->x->dims[3] - 1) / 2;
        gy[i] *= (double)(j->x->dims[2] - 1) / 2;
    }
    int64_t offset = s->n * g->strides[0] + s->h * g->strides[1] + s->w * g->strides[2];
    dn_store_row((dn_dtype)g->type, j->a->ptr[DN_DZ], offset, g->strides[2], s->count, gx, j->a->alpha2, j->a->beta2);
    dn_store_row((dn_dtype)g->type, j->a->ptr[DN_DZ], offset + g->strides[3], g->strides[2], s->count, gy, j->a->alpha2, j->a->beta2);
}

static void dgrid_rows(void *ctx, int64_t begin, int64_t end)
{
    const sample_job *j = ctx;
    for (int64_t row = begin; row < end; row++)
        each_span(j, row / j->y->dims[2], row % j->y->dims[2], dgrid_span, NULL);
}

/* A plane of dx in double, and which channel it is of. */
typedef struct plane {
    double *v;  /* h x w of x */
    int64_t c;
} plane;

static void dx_span(const sample_job *j, const span *s, void *to)
{
    const plane *p = to;
    int64_t width = j->x->dims[3];
    double dy[SPAN_MAX];
    dn_load_row(j->type, j->a->ptr[DN_DY], y_offset(j, s, p->c), j->y->strides[3], s->count, dy);
    for (int64_t i = 0; i < s->count; i++)
        for (int k = 0; k < CORNERS; k++)
            if (s->row[k][i] >= 0)
                p->v[s->row[k][i] * width + s->col[k][i]] += dy[i] * weight(s, k, i);
}

static void dx_slots(void *ctx, int64_t begin, int64_t end)
{
    const sample_job *j = ctx;
    const dn_tensor *dx = &j->p->t[DN_DX];
    int64_t channels = dx->dims[1], height = dx->dims[2], width = dx->dims[3];
    for (int64_t slot = begin; slot < end; slot++)
        for (int64_t k = slot; k < dx->dims[0] * channels; k += j->slots) {
            plane p = { j->scratch + slot * height * width, k % channels };
            memset(p.v, 0, sizeof(double) * (size_t)(height * width));
            for (int64_t h = 0; h < j->y->dims[2]; h++)
                each_span(j, k / channels, h, dx_span, &p);
            for (int64_t h = 0; h < height; h++)
                dn_store_row(j->type, j->a->ptr[DN_DX], k / channels * dx->strides[0] + p.c * dx->strides[1] + h * dx->strides[2],
                             dx->strides[3], width, p.v + h * width, j->a->alpha, j->a->beta);
        }
}

static size_t plane_bytes(const dn_problem *p)
{
    return sizeof(double) * (size_t)(p->t[DN_X].dims[2] * p->t[DN_X].dims[3]);
}

static int slots_for(const dn_problem *p)
{
    int64_t slots = dn_thread_count(), planes = p->t[DN_X].dims[0] * p->t[DN_X].dims[1];
    int64_t most = (int64_t)(SCRATCH_MOST / plane_bytes(p));
    slots = slots < planes ? slots : planes;
    slots = slots < most ? slots : most;
    return slots > 1 ? (int)slots : 1;
}

static dn_status prepare_sampler_bwd(dn_handle *h, dn_plan *plan)
{
    return dn_scratch_reserve(h, plane_bytes(&plan->problem) * (size_t)slots_for(&plan->problem));
}

static dn_status run_sampler(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_problem *p = &plan->problem;
    bool fwd = p->dir == DN_DIR_FWD;
    sample_job j = { .p = p, .a = a, .x = &p->t[DN_X], .y = &p->t[fwd ? DN_Y : DN_DY], .type = (dn_dtype)p->t[DN_X].type };
    int64_t rows = j.y->dims[0] * j.y->dims[2], grain = DN_PIECE_GRAIN / 4 / j.y->dims[3] / j.y->dims[1];
    dn_parallel(rows, grain > 1 ? grain : 1, fwd ? fwd_rows : dgrid_rows, &j);
    if (fwd)
        return DN_SUCCESS;
    j.scratch = h->scratch;
    int room = (int)(h->scratch_size / plane_bytes(p)), slots = slots_for(p);
    j.slots = slots < room ? slots : room;
    dn_parallel(j.slots, 1, dx_slots, &j);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    (void)p;
    return NULL;
}

static const dn_solver rows_of_ref[] = {
    { .name = "ref_stgrid_fwd", .op = DN_OP_ST_GRID, .dir = DN_DIR_FWD, .algo = -1, .check = check, .run = run_grid },
    { .name = "ref_stgrid_bwd_data", .op = DN_OP_ST_GRID, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = check, .run = run_grid },
    { .name = "ref_stsample_fwd", .op = DN_OP_ST_SAMPLER, .dir = DN_DIR_FWD, .algo = -1, .check = check, .run = run_sampler },
    { .name = "ref_stsample_bwd", .op = DN_OP_ST_SAMPLER, .dir = DN_DIR_BWD, .algo = -1, .check = check,
      .prepare = prepare_sampler_bwd, .run = run_sampler },
};

const dn_rows dn_ref_spatial = { rows_of_ref, sizeof(rows_of_ref) / sizeof(rows_of_ref[0]) };
