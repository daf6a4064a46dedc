/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Tiles of tensors to spectra and back: 16 channels of a tile at a time, rows of the plane first, those alone that the tile covers,
 * then columns in mirrored pairs. */
#include "ref/conv.h"
#include "ref/fft.h"

#include <math.h>
#include <string.h>

static const int16_t lengths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512};

/* As convolution chooses. */
const dn_fft_kernel *dn_fft_kernel_get(void)
{
    const dn_conv_kernel *k = dn_conv_kernel_get();
#if defined(DN_HAVE_AVX512)
    if (k == &dn_conv_kernel_avx512)
        return &dn_fft_kernel_avx512;
#endif
#if defined(DN_HAVE_AVX2)
    if (k == &dn_conv_kernel_avx2)
        return &dn_fft_kernel_avx2;
#endif
    (void)k;
    return &dn_fft_kernel_base;
}

int dn_fft_length_fit(int64_t n)
{
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        if (n <= lengths[i])
            return lengths[i];
    return 0;
}

void dn_fft_length_init(dn_fft_length *f, int n)
{
    const double circle = 6.28318530717958647693;
    f->n = n;
    f->passes = 0;
    for (int left = n; left > 1; left /= f->radix[f->passes++])
        f->radix[f->passes] = left % 4 == 0 ? 4 : left % 3 == 0 ? 3 : 2;
    for (int i = 0; i < n; i++) {
        f->turn[2 * i] = cos(circle * i / n);
        f->turn[2 * i + 1] = -sin(circle * i / n);
    }
}

/* --- working memory of a thread --- */

/* A row more than the width apart, so that a column's cells do not all fall into one set of the cache. */
static int64_t pitch(int width) { return width + 1; }

typedef struct areas {
    double *plane;  /* [height][pitch] cells */
    double *a, *b;  /* columns */
    double *tmp;    /* of a line */
    double *rows;   /* [16][width] */
} areas;

static areas cut(int height, int width, double *memory)
{
    areas r = {.plane = memory};
    r.a = r.plane + height * pitch(width) * DN_FFT_CELL;
    r.b = r.a + height * DN_FFT_CELL;
    r.tmp = r.b + height * DN_FFT_CELL;
    r.rows = r.tmp + 2 * (height > width ? height : width) * DN_FFT_CELL;
    return r;
}

int64_t dn_fft_memory(int height, int width)
{
    int64_t line = height > width ? height : width;
    return (height * pitch(width) + 2 * height + 2 * line + width) * DN_FFT_CELL;
}

void dn_fft_clear(const dn_fft_plane *p, double *memory)
{
    memset(memory, 0, (size_t)(p->height.n * pitch(p->width.n) * DN_FFT_CELL) * sizeof(double));
}

/* --- tiles --- */

typedef struct tile {
    int64_t image, at[2];  /* index of the first element */
    int64_t lo[2], hi[2];  /* of the tile's elements those that are there */
    int64_t off;           /* of the element at `at`, channel 0 */
} tile;

static tile tile_of(const dn_fft_image *m, int64_t row)
{
    tile t;
    int64_t index[2] = {row / m->tiles[1] % m->tiles[0], row % m->tiles[1]};
    t.image = row / m->tiles[1] / m->tiles[0];
    t.off = m->offset + t.image * m->image_stride;
    for (int j = 0; j < 2; j++) {
        t.at[j] = m->start[j] + index[j] * m->step[j];
        t.off += t.at[j] * m->stride[j];
        t.lo[j] = t.at[j] < 0 ? -t.at[j] : 0;
        t.hi[j] = m->dims[j] - t.at[j] < m->extent[j] ? m->dims[j] - t.at[j] : m->extent[j];
        if (t.lo[j] > t.hi[j])
            t.lo[j] = t.hi[j] = 0;
    }
    return t;
}

static int64_t magnitude(int64_t a) { return a < 0 ? -a : a; }

/* Channels lie closer than columns: runs go along them. */
static bool channels_inside(const dn_fft_image *m, int64_t chans)
{
    return chans > 1 && magnitude(m->chan_stride) < magnitude(m->stride[1]);
}

/* One row of the tile to cells lo .. hi - 1; lanes without a channel are 0. */
static void load_row(const dn_fft_plane *p, const areas *r, const dn_fft_image *m, const void *base, int64_t off, int64_t chans,
                     int64_t lo, int64_t hi, double *cells)
{
    int64_t n = hi - lo;
    off += lo * m->stride[1];
    cells += lo * DN_FFT_CELL;
    if (channels_inside(m, chans)) {
        for (int64_t w = 0; w < n; w++, cells += DN_FFT_CELL) {
            dn_load_row(m->type, base, off + w * m->stride[1], m->chan_stride, chans, cells);
            memset(cells + chans, 0, (size_t)(DN_FFT_CELL - chans) * sizeof(double));
        }
        return;
    }
    for (int64_t c = 0; c < chans; c++)
        dn_load_row(m->type, base, off + c * m->chan_stride, m->stride[1], n, r->rows + c * p->width.n);
    memset(r->rows + chans * p->width.n, 0, (size_t)((DN_FFT_PANEL - chans) * p->width.n) * sizeof(double));
    p->k->lace(n, r->rows, p->width.n, cells);
}

void dn_fft_load(const dn_fft_plane *p, double *memory, const dn_fft_image *m, const void *base, int64_t add, int64_t chan, int64_t row,
                 double *out, int64_t step, bool conjugate)
{
    int height = p->height.n, width = p->width.n;
    areas r = cut(height, width, memory);
    tile t = tile_of(m, row);
    int64_t chans = m->chans - chan < DN_FFT_PANEL ? m->chans - chan : DN_FFT_PANEL;
    for (int64_t h = 0; h < m->extent[0]; h++) {
        double *cells = r.plane + h * pitch(width) * DN_FFT_CELL;
        bool there = h >= t.lo[0] && h < t.hi[0] && t.lo[1] < t.hi[1];
        int64_t lo = there ? t.lo[1] : 0, hi = there ? t.hi[1] : 0;
        memset(cells, 0, (size_t)(lo * DN_FFT_CELL) * sizeof(double));
        memset(cells + hi * DN_FFT_CELL, 0, (size_t)((width - hi) * DN_FFT_CELL) * sizeof(double));
        if (!there)
            continue;
        load_row(p, &r, m, base, t.off + add + chan * m->chan_stride + h * m->stride[0], chans, lo, hi, cells);
        p->k->line(&p->width, cells, 1, r.tmp, cells);
    }
    for (int w = 0; w <= width / 2; w++) {
        int mirror = w ? width - w : 0;
        p->k->line(&p->height, r.plane + w * DN_FFT_CELL, pitch(width), r.tmp, r.a);
        if (mirror != w)
            p->k->line(&p->height, r.plane + mirror * DN_FFT_CELL, pitch(width), r.tmp, r.b);
        p->k->split(height, r.a, mirror != w ? r.b : r.a, out + (int64_t)w * height * step, step, conjugate ? -1 : 1);
    }
}

/* One row of the result, cells lo .. hi - 1: along channels or along columns. */
static void store_row(const dn_fft_plane *p, const areas *r, const dn_fft_image *m, int64_t off, int64_t chan, int64_t chans, int64_t lo,
                      int64_t hi, const double *cells, const int64_t at[3], dn_fft_store_fn store, void *ctx)
{
    double scale = 1.0 / ((double)p->height.n * p->width.n), one[DN_FFT_CELL];
    int64_t first[3] = {at[0], at[1], at[2] + lo};
    off += lo * m->stride[1];
    cells += lo * DN_FFT_CELL;
    if (channels_inside(m, chans)) {
        for (int64_t w = lo; w < hi; w++, off += m->stride[1], first[2]++, cells += DN_FFT_CELL) {
            p->k->unlace(1, cells, one, 1, scale);
            store(ctx, one, chans, off, m->chan_stride, chan, 1, first);
        }
        return;
    }
    p->k->unlace(hi - lo, cells, r->rows, p->width.n, scale);
    for (int64_t c = 0; c < chans; c++)
        store(ctx, r->rows + c * p->width.n, hi - lo, off + c * m->chan_stride, m->stride[1], chan + c, 0, first);
}

void dn_fft_store(const dn_fft_plane *p, double *memory, const dn_fft_image *m, int64_t add, int64_t chan, int64_t row, const double *in,
                  int64_t step, dn_fft_store_fn store, void *ctx)
{
    int height = p->height.n, width = p->width.n;
    areas r = cut(height, width, memory);
    tile t = tile_of(m, row);
    int64_t chans = m->chans - chan < DN_FFT_PANEL ? m->chans - chan : DN_FFT_PANEL, line_size = pitch(width) * DN_FFT_CELL;
    for (int w = 0; w <= width / 2; w++) {
        int mirror = w ? width - w : 0;
        p->k->merge(height, in + (int64_t)w * height * step, step, r.a, mirror != w ? r.b : NULL);
        for (int side = 0; side < (mirror != w ? 2 : 1); side++) {
            double *column = r.plane + (side ? mirror : w) * DN_FFT_CELL, *line = side ? r.b : r.a;
            p->k->line(&p->height, line, 1, r.tmp, line);
            for (int64_t h = t.lo[0]; h < t.hi[0]; h++)
                memcpy(column + h * line_size, line + h * DN_FFT_CELL, DN_FFT_CELL * sizeof(double));
        }
    }
    for (int64_t h = t.lo[0]; h < t.hi[0]; h++) {
        double *cells = r.plane + h * line_size;
        int64_t at[3] = {t.image, t.at[0] + h, t.at[1]};
        p->k->line(&p->width, cells, 1, r.tmp, cells);
        store_row(p, &r, m, t.off + add + chan * m->chan_stride + h * m->stride[0], chan, chans, t.lo[1], t.hi[1], cells, at, store, ctx);
    }
}
