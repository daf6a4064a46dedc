/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Minimal filtering (Winograd; Lavin & Gray, "Fast algorithms for convolutional neural networks", arXiv:1509.09308), shared by its
 * files. An output tile of m x m under an r x r filter needs a = m + r - 1 input rows and columns:
 *
 *     Y = A' [ (G g G') * (B' d B) ] A        ' transposed, * element by element
 *
 * B, G, A are the Toom-Cook matrices of the points 0, 1, -1 (2, -2) and infinity. B depends on the points alone, so on a: F(4, 3),
 * F(3, 4), F(2, 5) and F(5, 2) share it. With a = 6, G is scaled by 24, which makes it integer, and the result is divided by 576:
 * integer operands then give the exact sums, as they do with a = 4.
 * Summed over channels (or over tiles, for the gradient by the filter), * becomes a * a matrix products of panels. */
#ifndef DN_REF_WINOGRAD_H
#define DN_REF_WINOGRAD_H

#include "ref/conv.h"

enum { DN_WINOGRAD_SIZE_MAX = 6, DN_WINOGRAD_RUNS_MAX = 24, DN_WINOGRAD_PAD = 24 };

/* in[i * in_ld + lane], i over a square of rows and columns, to out alike; lanes a multiple of a kernel's mr. */
typedef void (*dn_winograd_transform)(int64_t lanes, const double *in, int64_t in_ld, double *out, int64_t out_ld);

/* One for each instruction set (winograd_kernel.isa.c); panels as wide as those of the dn_conv_kernel of that set. */
typedef struct dn_winograd_kernel {
    dn_winograd_transform data[DN_WINOGRAD_SIZE_MAX + 1];       /* [a]: B' d B */
    dn_winograd_transform filter[DN_WINOGRAD_SIZE_MAX + 1][6];  /* [a][r]: G g G' */
    dn_winograd_transform result[DN_WINOGRAD_SIZE_MAX + 1][6];  /* [a][m]: A' p A */
    /* c[i][j] = or += sum over l of a[l][i] * b[l][j], i < mr, j < cols rounded up to a vector; rows of c nr apart */
    void (*multiply)(int64_t len, const double *a, const double *b, double *c, int64_t cols, bool add);
    /* out[j * ld + t * apart] = row[t * step + j], j < count, t < n */
    void (*split)(int64_t n, const double *row, int step, int count, double *out, int64_t ld, int64_t apart);
    /* row[t * step + j] = in[j * ld + t], j < step, t < n */
    void (*join)(int64_t n, const double *in, int64_t ld, int step, double *row);
} dn_winograd_kernel;

extern const dn_winograd_kernel dn_winograd_kernel_base;
#if defined(__x86_64__) || defined(_M_X64)
extern const dn_winograd_kernel dn_winograd_kernel_avx2, dn_winograd_kernel_avx512;
#endif

/* The one that belongs to k. */
const dn_winograd_kernel *dn_winograd_kernel_get(const dn_conv_kernel *k);

/* Tiles of all images, row by row; step pixels apart in both directions. */
typedef struct dn_winograd_grid {
    int step;
    int64_t rows, cols, count;  /* per image; in all */
} dn_winograd_grid;

/* Tiles side by side: n of them, the first is the at-th of those asked for. */
typedef struct dn_winograd_run {
    int64_t at, n;
    int64_t image, row, col;
} dn_winograd_run;

/* Images that patches are cut from: patch (row, col) begins at pixel row * step + base; outside there are zeros. */
typedef struct dn_winograd_image {
    dn_dtype type;
    int64_t dims[2], base[2];
    int64_t image_stride, chan_stride, stride[2];
} dn_winograd_image;

/* The filter, as rows and channels of what is summed; turned round by a negative tap stride and an offset to the last tap. */
typedef struct dn_winograd_taps {
    dn_dtype type;
    int64_t count;  /* in each direction */
    int64_t offset, row, chan, group, stride[2];
} dn_winograd_taps;

/* Panels of transformed data: element e, panel p, step l: at[e * element + p * panel + l * width + lane]. */
typedef struct dn_winograd_panels {
    double *at;
    int64_t element, panel;
} dn_winograd_panels;

void dn_winograd_grid_set(dn_winograd_grid *g, const dn_tensor *t, int step);
/* Rows are dimension row_dim of the filter (0: k, 1: c). */
void dn_winograd_taps_set(dn_winograd_taps *f, const dn_problem *p, int row_dim, bool turned);
static inline int64_t dn_winograd_tap(const dn_winograd_taps *f, int64_t t)
{
    return t / f->count * f->stride[0] + t % f->count * f->stride[1];
}
void dn_winograd_image_set(dn_winograd_image *m, const dn_tensor *t, const int64_t *base);
/* Tiles first .. first + count - 1, at most DN_WINOGRAD_RUNS_MAX of them; answers the count of runs. */
int dn_winograd_runs(const dn_winograd_grid *g, int64_t first, int64_t count, dn_winograd_run *runs);
/* The size x size patches under the runs, of the channel that begins at add: out[(i * size + j) * ld + tile * apart]. */
void dn_winograd_gather(const dn_conv_kernel *k, const dn_winograd_kernel *w, const dn_winograd_grid *g, const dn_winograd_image *m,
                        const void *base, int64_t add, const dn_winograd_run *runs, int count, int size, double *row, double *out,
                        int64_t ld, int64_t apart);
/* product[e][i][j] = sum over l < len of a's panels a_panel on (rows of them) times b's panel b_panel; rows nr apart, elements
 * `element` doubles apart. Summed in blocks of DN_CONV_KC steps, in order. */
void dn_winograd_multiply(const dn_conv_kernel *k, const dn_winograd_kernel *w, int size, const dn_winograd_panels *a, int64_t a_panel,
                          int64_t rows, const dn_winograd_panels *b, int64_t b_panel, int64_t cols, int64_t len, double *product,
                          int64_t element);

/* NULL, or why p is not for Winograd with an a x a tile (4: 3x3 filters; 6: 3x3 and 5x5). */
const char *dn_winograd_check(const dn_problem *p, int size);

/* The gradient by the filter (winograd_filter.c). */
const char *dn_winograd_filter_check(const dn_problem *p);
const char *dn_winograd_filter_check_deep(const dn_problem *p);
size_t dn_winograd_filter_workspace(const dn_problem *p);
dn_status dn_winograd_filter_prepare(dn_handle *h, dn_plan *plan);
dn_status dn_winograd_filter_run(dn_handle *h, const dn_plan *plan, const dn_args *a);
void dn_winograd_release(dn_plan *plan);

/* Doubles from the first address in memory that is aligned; DN_CONV_ALIGN bytes more than they take must be there. */
static inline double *dn_winograd_align(void *memory)
{
    return (double *)(((uintptr_t)memory + DN_CONV_ALIGN - 1) / DN_CONV_ALIGN * DN_CONV_ALIGN);
}

#endif
