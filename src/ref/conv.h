/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the convolution files of ref share. A convolution is a matrix product whose operands are never there as matrices:
 *
 *     forward          y[k][p]      = sum over l of w[k][l] * x'[l][p]        p = (n, o, q ...), l = (c, r, s ...)
 *     backward data    dx[c][p]     = sum over l of w[c][l] * dy'[l][p]       p = (n, h, w ...), l = (k, r, s ...)
 *     backward filter  dw[k][l]     = sum over p of dy[k][p] * x'[l][p]
 *
 * A view says where element (channel, tap, column) of such an operand lies in its tensor; rows of it are gathered into panels of
 * doubles, and one register-tiled kernel multiplies panels. Sums run in double, in an order that depends on the problem only:
 * blocks of DN_CONV_KC along the reduction, each summed from 0 and added to the total.
 * Padding takes part as zeros, as its name says: next to an infinite weight it gives NaN. */
#ifndef DN_REF_CONV_H
#define DN_REF_CONV_H

#include "ref/ref.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
    DN_CONV_DIMS = 1 + DN_SPATIAL_MAX,  /* batch and spatial */
    DN_CONV_KC = 128,                   /* reduction steps per panel: 24 columns of it are 24 KiB, in L1 */
    DN_CONV_NC = 240,                   /* most columns of a tile; a multiple of every kernel's nr */
    DN_CONV_MC = 256,                   /* most rows of a tile; a multiple of every kernel's mr */
    DN_CONV_ALIGN = 64
};

/* --- kernels, one set per instruction set (conv_kernel.isa.c) --- */

/* n scalars from off on, to or from places at .. at + n - 1 of a row. */
typedef struct dn_conv_piece {
    int64_t off;
    int32_t at, n;
} dn_conv_piece;

typedef struct dn_conv_kernel {
    const char *isa;
    int mr, nr;
    /* c[i][j] += sum over l of a[l][i] * b[l][j], i < mr, j < nr; a and b dense panels, rows of c ldc apart */
    void (*tile)(int64_t len, const double *a, const double *b, double *c, int64_t ldc);
    /* acc[i][j] += w[i] * x[j], i < mr, j < n; rows of acc ld apart */
    void (*axpy)(int64_t n, const double *w, const double *x, double *acc, int64_t ld);
    /* Pieces of a tensor of floats or doubles, moved by add, to a row; stride along a piece. */
    void (*load_f32)(const void *base, const dn_conv_piece *piece, int count, int64_t add, int64_t stride, double *row);
    void (*load_f64)(const void *base, const dn_conv_piece *piece, int count, int64_t add, int64_t stride, double *row);
    /* row[j] for j < n to panel[j / nr][0][j % nr], panels panel_size doubles apart; n a multiple of nr */
    void (*spread)(int64_t n, const double *row, double *panel, int64_t panel_size);
    double (*sum)(int64_t n, const double *row);  /* eight interleaved sums, added in order */
} dn_conv_kernel;

extern const dn_conv_kernel dn_conv_kernel_base;
#if defined(__x86_64__) || defined(_M_X64)
extern const dn_conv_kernel dn_conv_kernel_avx2, dn_conv_kernel_avx512;
#endif

/* The one for this processor. */
const dn_conv_kernel *dn_conv_kernel_get(void);

/* --- views (conv_view.c) --- */

/* Input index = col * mul + base + tap * step; where it is outside [0, limit) the element is 0. */
typedef struct dn_conv_dim {
    int64_t cols, taps;
    int64_t mul, base, step, limit;
    int64_t stride;      /* scalars per input index */
    int64_t tap_weight;  /* tap index of this dimension: (tap / tap_weight) % taps */
} dn_conv_dim;

typedef struct dn_conv_tap {
    int64_t off;
    int64_t lo[DN_CONV_DIMS], hi[DN_CONV_DIMS];  /* columns lo .. hi - 1 of each dimension have an element */
} dn_conv_tap;

typedef struct dn_conv_view {
    dn_dtype type;
    int rank;
    int64_t cols, taps;
    int64_t offset, chan_stride, group_stride;
    dn_conv_dim dim[DN_CONV_DIMS];  /* column order, the last one runs fastest */
    const dn_conv_tap *table;       /* of all taps, or NULL: computed when asked for */
} dn_conv_view;

/* The filter as a matrix of rows m and columns l = (chan, tap) or (tap, chan). */
typedef struct dn_conv_filter {
    dn_dtype type;
    int rank;  /* tap dimensions, folded */
    bool tap_inner;
    int64_t chans, taps;
    int64_t offset, row_stride, chan_stride, group_stride;
    int64_t dim[DN_SPATIAL_MAX], stride[DN_SPATIAL_MAX];
} dn_conv_filter;

/* Walk along one view: a range of columns cut into runs of the fastest dimension, then what a tap leaves of them. */
typedef struct dn_conv_cursor {
    const dn_conv_view *view;
    int64_t tap, tap_off;
    int32_t cols, runs, pieces;
    bool full;       /* the pieces cover all columns */
    int64_t stride;  /* along a piece */
    dn_conv_piece run[DN_CONV_NC];
    int64_t index[DN_CONV_NC][DN_CONV_DIMS];  /* column index of each run's first element */
    dn_conv_piece piece[DN_CONV_NC];
} dn_conv_cursor;

/* Index of the input under output o and tap r in dimension j: o * stride + base + r * step. */
typedef struct dn_conv_geometry {
    int64_t base[DN_SPATIAL_MAX], step[DN_SPATIAL_MAX];
} dn_conv_geometry;

void dn_conv_geometry_get(const dn_problem *p, dn_conv_geometry *g);
/* Columns are the elements of t outside the channel, one tap. */
void dn_conv_view_plain(dn_conv_view *v, const dn_tensor *t, int64_t chans);
/* Columns are output positions, elements those of x under them: the forward direction's x'. */
void dn_conv_view_input(dn_conv_view *v, const dn_problem *p);
/* Completes a view whose dims are set (batch first): weights, folding, order. */
void dn_conv_view_finish(dn_conv_view *v);
/* Writes view->taps entries. */
void dn_conv_view_tabulate(const dn_conv_view *v, dn_conv_tap *table);
void dn_conv_filter_finish(dn_conv_filter *f);
/* Rows are k, columns (c, r, s ...): the forward direction's w. */
void dn_conv_filter_forward(dn_conv_filter *f, const dn_problem *p);

void dn_conv_cursor_seek(dn_conv_cursor *c, const dn_conv_view *v, int64_t col, int64_t cols);
void dn_conv_cursor_tap(dn_conv_cursor *c, int64_t tap);
/* The cursor's columns of channel chan (of group 0 plus add scalars); columns without an element are 0. */
void dn_conv_cursor_load(const dn_conv_cursor *c, const dn_conv_kernel *k, const void *base, int64_t add, double *row);
void dn_conv_cursor_store(const dn_conv_cursor *c, void *base, int64_t add, const double *row, double alpha, double beta);

static inline int64_t dn_conv_filter_chan(const dn_conv_filter *f, int64_t l) { return f->tap_inner ? l / f->taps : l % f->chans; }
static inline int64_t dn_conv_filter_tap(const dn_conv_filter *f, int64_t l) { return f->tap_inner ? l % f->taps : l / f->chans; }
/* n elements from column l on of the row that starts add scalars after the first. */
void dn_conv_filter_load(const dn_conv_filter *f, const void *base, int64_t add, int64_t l, int64_t n, double *row);
void dn_conv_filter_store(const dn_conv_filter *f, void *base, int64_t add, int64_t l, int64_t n, const double *row, double alpha,
                          double beta);

/* --- tiles and their memory (conv_gemm.c) --- */

static inline int64_t dn_ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t dn_round_up(int64_t a, int64_t b) { return dn_ceil_div(a, b) * b; }

/* Working memory of one thread; h->scratch holds one for each. */
typedef struct dn_conv_slot {
    atomic_flag taken;
    double *a;    /* [mt / mr][KC][mr] */
    double *b;    /* [nt / nr][KC][nr] */
    double *c;    /* [mt][nt] */
    double *row;  /* a row under way */
    double *extra;
    dn_conv_cursor in, out, z;
} dn_conv_slot;

/* Tile sizes: rows (a multiple of mr), columns (a multiple of nr), and doubles that an operation wants beside them. */
typedef struct dn_conv_tiles {
    int64_t mt, nt;
    int64_t m_tiles, n_tiles;
    int64_t extra;
} dn_conv_tiles;

/* Tiles for copies products of m x n; smaller where all threads would not find work. */
void dn_conv_tiles_choose(dn_conv_tiles *t, const dn_conv_kernel *k, int64_t m, int64_t n, int64_t copies);
size_t dn_conv_slots_size(const dn_conv_tiles *t);  /* of all slots */
void dn_conv_slots_init(const dn_conv_tiles *t, void *memory);
dn_conv_slot *dn_conv_slot_take(const dn_conv_tiles *t, void *memory);
static inline void dn_conv_slot_give(dn_conv_slot *s) { atomic_flag_clear_explicit(&s->taken, memory_order_release); }

/* slot->c[mn][nn] += a * b over len steps; panels of b are b_panel doubles apart. */
void dn_conv_tile_multiply(const dn_conv_kernel *k, dn_conv_slot *s, int64_t mn, int64_t nn, int64_t len, const double *b,
                           int64_t b_panel, int64_t ldc);
/* Rows m .. m + mn - 1, columns l .. l + len - 1 of the filter to slot->a. */
void dn_conv_pack_filter(const dn_conv_kernel *k, dn_conv_slot *s, const dn_conv_filter *f, const void *w, int64_t add, int64_t m,
                         int64_t mn, int64_t l, int64_t len);
/* Rows l .. l + len - 1 of in (as the filter's columns name them), at the columns that the slot's cursor was set to, to panels.
 * panel points at the first row's place. */
void dn_conv_pack_columns(const dn_conv_kernel *k, dn_conv_slot *s, const dn_conv_filter *f, const void *in, int64_t add, int64_t l,
                          int64_t len, double *panel, int64_t panel_size);

/* --- what becomes of a result: out = alpha * sum + beta * out, or the fused bias and activation --- */
typedef struct dn_conv_finish {
    void *out;
    const void *z, *bias;  /* z NULL where nothing is added: it is not read then */
    double alpha, alpha2, beta;
    const dn_act_param *act;  /* NULL outside the fused operation */
    const dn_tensor *bias_t;
    const dn_conv_view *z_view;
} dn_conv_finish;

/* A product of one group and, for backward data, one phase of the stride. */
typedef struct dn_conv_gemm {
    int64_t m, l;
    dn_conv_view in, out, z;
    dn_conv_filter w;
} dn_conv_gemm;

/* Gradient by the input: the products, one for each phase of the strides (position mod stride), and the one of a phase: rows c, columns the
 * positions of that phase in every image, reduction (k, r) over the taps that meet an output there. */
int64_t dn_conv_phases(const dn_problem *p);
void dn_conv_phase(const dn_problem *p, int64_t phase, dn_conv_gemm *g);
/* The whole reduction of one tile, and its store. */
void dn_conv_gemm_tile(const dn_conv_kernel *k, dn_conv_slot *s, const dn_conv_gemm *g, const dn_conv_tiles *t, const void *in,
                       const void *w, const dn_conv_finish *f, int64_t group, int64_t m_tile, int64_t n_tile);
/* Rows m .. m + mn - 1 of slot->c at the columns col .. col + cols - 1. */
void dn_conv_finish_tile(const dn_conv_kernel *k, dn_conv_slot *s, const dn_conv_gemm *g, const dn_conv_finish *f, int64_t group,
                         int64_t m, int64_t mn, int64_t col, int64_t cols, int64_t ldc);

/* NULL, or why ref does not take p: types only. */
const char *dn_ref_conv_check(const dn_problem *p);

#endif
