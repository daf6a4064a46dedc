/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Fourier transforms of many real images at once, and products of their spectra, in double.
 *
 * Lanes are channels: a cell is 8 complex numbers, one of each of 8 images, so every step of a transform is vector code without a
 * shuffle. 16 real channels make one complex image: channel i is the real part of lane i, channel 8 + i its imaginary part; the
 * two spectra are told apart by the symmetry of a real signal's spectrum, S(-f) = conj S(f).
 *
 * A spectrum of rows x channels is kept bin by bin, so that the product over channels is a matrix product per bin:
 *
 *     spectrum[bin][panel of 16 channels][row][re 16, im 16]        bin = column * height + row of the frequency plane,
 *                                                                   columns 0 .. width / 2
 *
 * A row is what stands beside the channels: a tile of an image, or the filter's other channel. */
#ifndef DN_REF_FFT_H
#define DN_REF_FFT_H

#include "core/dtype.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    DN_FFT_LANES = 8,
    DN_FFT_PANEL = 16,    /* channels of a panel */
    DN_FFT_CELL = 16,     /* doubles of a cell: 8 real, 8 imaginary parts */
    DN_FFT_UNIT = 32,     /* doubles of one bin of one panel and row */
    DN_FFT_LENGTH_MAX = 512,
    DN_FFT_PASSES_MAX = 9,
    DN_FFT_COLS = 6       /* rows of the result that one call of multiply makes */
};

/* A transform of n points: n = the product of its radices, 4, 3 or 2 each. */
typedef struct dn_fft_length {
    int n, passes;
    int radix[DN_FFT_PASSES_MAX];
    double turn[2 * DN_FFT_LENGTH_MAX];  /* e^(-2 pi i k / n): real, imaginary */
} dn_fft_length;

typedef struct dn_fft_kernel {
    const char *isa;
    /* Transform of n cells, in `step` cells apart, to n dense cells. out may be in where step is 1. tmp: 2 n cells. */
    void (*line)(const dn_fft_length *f, const double *in, int64_t step, double *tmp, double *out);
    /* Columns a of a frequency plane and b, its mirror: out[i] (step doubles apart) = the two spectra in column a's bin i; imaginary
     * parts times sign (1, or -1 for the conjugate). */
    void (*split)(int64_t n, const double *a, const double *b, double *out, int64_t step, double sign);
    /* The other way, real and imaginary parts exchanged, which makes the forward transform the inverse one. b NULL: not wanted. */
    void (*merge)(int64_t n, const double *in, int64_t step, double *a, double *b);
    /* 16 rows of n doubles, ld apart, to n cells, and (exchanged, times scale) back. */
    void (*lace)(int64_t n, const double *rows, int64_t ld, double *cells);
    void (*unlace)(int64_t n, const double *cells, double *rows, int64_t ld, double scale);
    /* c[j] (+)= sum over l < len of a[l] * b[j][l], complex, j < cols <= DN_FFT_COLS, 16 channels of a unit at a time.
     * a: units; b[j][l] at b + j * b_col + l % period * b_step + l / period * b_period, its imaginary part 16 doubles on. */
    void (*multiply)(int64_t len, int64_t period, const double *a, const double *b, int64_t b_step, int64_t b_period, int cols,
                     int64_t b_col, double *c, bool add);
} dn_fft_kernel;

extern const dn_fft_kernel dn_fft_kernel_base;
#if defined(__x86_64__) || defined(_M_X64)
extern const dn_fft_kernel dn_fft_kernel_avx2, dn_fft_kernel_avx512;
#endif
/* The one for this processor. */
const dn_fft_kernel *dn_fft_kernel_get(void);

/* The shortest length that can be transformed and holds n, or 0 where n is more than DN_FFT_LENGTH_MAX. */
int dn_fft_length_fit(int64_t n);
/* n as dn_fft_length_fit answers it. */
void dn_fft_length_init(dn_fft_length *f, int n);

/* Where the tiles of a tensor lie: dimension 0 is the plane's height, 1 its width. Tile t of an image covers `extent` elements from
 * start + t * step on; what is outside dims is 0 when read and not there when written. */
typedef struct dn_fft_image {
    dn_dtype type;
    int64_t chans, chan_stride, group_stride;
    int64_t image_stride;  /* from image to image: row = (image * tiles[0] + t0) * tiles[1] + t1 */
    int64_t offset;
    int64_t tiles[2], start[2], step[2], extent[2], dims[2], stride[2];
} dn_fft_image;

typedef struct dn_fft_plane {
    const dn_fft_kernel *k;
    dn_fft_length height, width;
} dn_fft_plane;

static inline int64_t dn_fft_bins(int height, int width) { return (int64_t)height * (width / 2 + 1); }
/* Doubles of working memory that one thread needs. */
int64_t dn_fft_memory(int height, int width);
/* Puts zeros where no tile of this extent reaches; before any load with this memory. */
void dn_fft_clear(const dn_fft_plane *p, double *memory);

/* Channels chan .. chan + 15 (those there are) of a tile, to the spectrum unit `out` of bin 0; bins are step doubles apart. */
void dn_fft_load(const dn_fft_plane *p, double *memory, const dn_fft_image *m, const void *base, int64_t add, int64_t chan, int64_t row,
                 double *out, int64_t step, bool conjugate);
/* The other way: what a stored run of values goes through is the caller's. count values, `off` the offset of the first in scalars,
 * `stride` from one to the next; chan is the first one's channel, chan_step 1 or 0 from one to the next. */
typedef void (*dn_fft_store_fn)(void *ctx, double *values, int64_t count, int64_t off, int64_t stride, int64_t chan, int64_t chan_step,
                                const int64_t at[3] /* image and place of the first */);
void dn_fft_store(const dn_fft_plane *p, double *memory, const dn_fft_image *m, int64_t add, int64_t chan, int64_t row, const double *in,
                  int64_t step, dn_fft_store_fn store, void *ctx);

#endif
