/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Inner loops of the Fourier transforms, compiled once per instruction set (DN_ISA).
 *
 * One pass of radix r over n points, after passes whose radices multiply to s (Stockham's order: no bit reversal, results in natural
 * order): with m = n / s / r, for p < m, q < s:
 *
 *     y[q + s (r p + k)] = e^(-2 pi i p k s / n) * sum over j < r of e^(-2 pi i j k / r) * x[q + s (p + m j)]          k < r */
#include "ref/fft.h"

#include <string.h>

#define DN_PASTE(a, b) a##b
#define DN_NAME(stem, isa) DN_PASTE(stem, isa)
#define DN_INLINE static inline __attribute__((always_inline))

/* MV vectors of channels and DN_FFT_COLS columns of complex sums: 24 of 32 registers, 12 of 16 */
#if defined(__AVX512F__)
enum { VL = 8, MV = 2 };
#elif defined(__AVX2__)
enum { VL = 4, MV = 1 };
#else
enum { VL = 2, MV = 1 };
#endif
enum { L = DN_FFT_LANES, CELL = DN_FFT_CELL, UNIT = DN_FFT_UNIT, PANEL = DN_FFT_PANEL, COLS = DN_FFT_COLS };

/* Aligned to nothing more than a double: tests may put memory anywhere. */
typedef double vec __attribute__((vector_size(VL * 8), aligned(8), may_alias));
#define AT(p) (*(vec *)(p))
#define GET(p) (*(const vec *)(p))

/* --- passes; every pointer is to VL lanes of a cell --- */

DN_INLINE void put(double *out, vec re, vec im)
{
    AT(out) = re;
    AT(out + L) = im;
}

DN_INLINE void put_turned(double *out, vec re, vec im, const double *w)
{
    AT(out) = re * w[0] - im * w[1];
    AT(out + L) = re * w[1] + im * w[0];
}

DN_INLINE void butterfly2(const double *x, int64_t hop, double *y, int64_t step, const double *w, int64_t ws, bool turn)
{
    vec ar = GET(x), ai = GET(x + L), br = GET(x + hop), bi = GET(x + hop + L);
    put(y, ar + br, ai + bi);
    if (turn)
        put_turned(y + step, ar - br, ai - bi, w + ws);
    else
        put(y + step, ar - br, ai - bi);
}

DN_INLINE void butterfly3(const double *x, int64_t hop, double *y, int64_t step, const double *w, int64_t ws, bool turn)
{
    const double half_root3 = 0.86602540378443864676;
    vec ar = GET(x), ai = GET(x + L), br = GET(x + hop), bi = GET(x + hop + L), cr = GET(x + 2 * hop), ci = GET(x + 2 * hop + L);
    vec sr = br + cr, si = bi + ci, mr = ar - 0.5 * sr, mi = ai - 0.5 * si;
    vec dr = half_root3 * (bi - ci), di = half_root3 * (cr - br);
    put(y, ar + sr, ai + si);
    if (turn) {
        put_turned(y + step, mr + dr, mi + di, w + ws);
        put_turned(y + 2 * step, mr - dr, mi - di, w + 2 * ws);
    } else {
        put(y + step, mr + dr, mi + di);
        put(y + 2 * step, mr - dr, mi - di);
    }
}

DN_INLINE void butterfly4(const double *x, int64_t hop, double *y, int64_t step, const double *w, int64_t ws, bool turn)
{
    vec ar = GET(x), ai = GET(x + L), br = GET(x + hop), bi = GET(x + hop + L);
    vec cr = GET(x + 2 * hop), ci = GET(x + 2 * hop + L), dr = GET(x + 3 * hop), di = GET(x + 3 * hop + L);
    vec sr = ar + cr, si = ai + ci, tr = ar - cr, ti = ai - ci;
    vec ur = br + dr, ui = bi + di, vr = br - dr, vi = bi - di;
    put(y, sr + ur, si + ui);
    if (turn) {
        put_turned(y + step, tr + vi, ti - vr, w + ws);
        put_turned(y + 2 * step, sr - ur, si - ui, w + 2 * ws);
        put_turned(y + 3 * step, tr - vi, ti + vr, w + 3 * ws);
    } else {
        put(y + step, tr + vi, ti - vr);
        put(y + 2 * step, sr - ur, si - ui);
        put(y + 3 * step, tr - vi, ti + vr);
    }
}

#define PASS(radix, butterfly)                                                                                             \
    static void butterfly##_pass(int64_t m, int64_t s, const double *turn, const double *x, int64_t xs, double *y)         \
    {                                                                                                                      \
        for (int64_t p = 0; p < m; p++)                                                                                    \
            for (int64_t q = 0; q < s; q++) {                                                                              \
                const double *in = x + (q + s * p) * xs * CELL;                                                            \
                double *out = y + (q + s * radix * p) * CELL;                                                              \
                for (int v = 0; v < L; v += VL)                                                                            \
                    if (p == 0)                                                                                            \
                        butterfly(in + v, s * m * xs * CELL, out + v, s * CELL, turn, 0, false);                           \
                    else                                                                                                   \
                        butterfly(in + v, s * m * xs * CELL, out + v, s * CELL, turn, 2 * p * s, true);                    \
            }                                                                                                              \
    }
PASS(2, butterfly2)
PASS(3, butterfly3)
PASS(4, butterfly4)

static void line(const dn_fft_length *f, const double *in, int64_t step, double *tmp, double *out)
{
    int64_t s = 1, m = f->n;
    double *spare = tmp + (int64_t)f->n * CELL;
    if (f->passes < 2 && in == out) {  /* a pass cannot write where it reads */
        memcpy(tmp, in, (size_t)f->n * CELL * sizeof(double));
        in = tmp;
    }
    if (f->passes == 0)
        memcpy(out, in, CELL * sizeof(double));
    for (int i = 0; i < f->passes; i++) {
        double *to = i == f->passes - 1 ? out : i % 2 ? spare : tmp;
        m /= f->radix[i];
        if (f->radix[i] == 4)
            butterfly4_pass(m, s, f->turn, in, step, to);
        else if (f->radix[i] == 3)
            butterfly3_pass(m, s, f->turn, in, step, to);
        else
            butterfly2_pass(m, s, f->turn, in, step, to);
        s *= f->radix[i];
        in = to;
        step = 1;
    }
}

/* --- two real signals in one complex one: Z = A + i B, A = (Z(f) + conj Z(-f)) / 2, B = (Z(f) - conj Z(-f)) / 2i --- */

static void split(int64_t n, const double *a, const double *b, double *out, int64_t step, double sign)
{
    for (int64_t i = 0; i < n; i++, out += step) {
        const double *z = a + i * CELL, *m = b + (i ? n - i : 0) * CELL;
        for (int v = 0; v < L; v += VL) {
            vec zr = GET(z + v), zi = GET(z + L + v), mr = GET(m + v), mi = GET(m + L + v);
            AT(out + v) = 0.5 * (zr + mr);
            AT(out + L + v) = 0.5 * (zi + mi);
            AT(out + PANEL + v) = 0.5 * sign * (zi - mi);
            AT(out + PANEL + L + v) = 0.5 * sign * (mr - zr);
        }
    }
}

static void merge(int64_t n, const double *in, int64_t step, double *a, double *b)
{
    for (int64_t i = 0; i < n; i++, in += step) {
        double *z = a + i * CELL, *m = b ? b + (i ? n - i : 0) * CELL : NULL;
        for (int v = 0; v < L; v += VL) {
            vec ar = GET(in + v), br = GET(in + L + v), ai = GET(in + PANEL + v), bi = GET(in + PANEL + L + v);
            AT(z + v) = ai + br;
            AT(z + L + v) = ar - bi;
            if (m) {
                AT(m + v) = br - ai;
                AT(m + L + v) = ar + bi;
            }
        }
    }
}

static void lace(int64_t n, const double *rows, int64_t ld, double *cells)
{
    for (int64_t w = 0; w < n; w++, cells += CELL)
        for (int i = 0; i < CELL; i++)
            cells[i] = rows[i * ld + w];
}

static void unlace(int64_t n, const double *cells, double *rows, int64_t ld, double scale)
{
    for (int64_t w = 0; w < n; w++, cells += CELL)
        for (int i = 0; i < L; i++) {
            rows[i * ld + w] = cells[L + i] * scale;
            rows[(L + i) * ld + w] = cells[i] * scale;
        }
}

/* --- products --- */

DN_INLINE void product(const int cols, int64_t len, int64_t period, const double *a, const double *b, int64_t b_step, int64_t b_period,
                       int64_t b_col, double *c, bool add)
{
    vec re[MV][COLS], im[MV][COLS];
#pragma GCC unroll 6
    for (int j = 0; j < cols; j++)
#pragma GCC unroll 2
        for (int i = 0; i < MV; i++) {
            re[i][j] = add ? GET(c + j * UNIT + i * VL) : (vec){0};
            im[i][j] = add ? GET(c + j * UNIT + PANEL + i * VL) : (vec){0};
        }
    for (; len > 0; len -= period, b += b_period) {
        const double *bl = b;
        for (int64_t l = len < period ? len : period; l > 0; l--, a += UNIT, bl += b_step) {
            vec ar[MV], ai[MV];
#pragma GCC unroll 2
            for (int i = 0; i < MV; i++) {
                ar[i] = GET(a + i * VL);
                ai[i] = GET(a + PANEL + i * VL);
            }
#pragma GCC unroll 6
            for (int j = 0; j < cols; j++)
#pragma GCC unroll 2
                for (int i = 0; i < MV; i++) {
                    re[i][j] += ar[i] * bl[j * b_col];
                    im[i][j] += ar[i] * bl[j * b_col + PANEL];
                    re[i][j] -= ai[i] * bl[j * b_col + PANEL];
                    im[i][j] += ai[i] * bl[j * b_col];
                }
        }
    }
#pragma GCC unroll 6
    for (int j = 0; j < cols; j++)
#pragma GCC unroll 2
        for (int i = 0; i < MV; i++) {
            AT(c + j * UNIT + i * VL) = re[i][j];
            AT(c + j * UNIT + PANEL + i * VL) = im[i][j];
        }
}

static void multiply(int64_t len, int64_t period, const double *a, const double *b, int64_t b_step, int64_t b_period, int cols,
                     int64_t b_col, double *c, bool add)
{
    for (int v = 0; v < PANEL; v += MV * VL)
        switch (cols) {
        case 1: product(1, len, period, a + v, b, b_step, b_period, b_col, c + v, add); break;
        case 2: product(2, len, period, a + v, b, b_step, b_period, b_col, c + v, add); break;
        case 3: product(3, len, period, a + v, b, b_step, b_period, b_col, c + v, add); break;
        case 4: product(4, len, period, a + v, b, b_step, b_period, b_col, c + v, add); break;
        case 5: product(5, len, period, a + v, b, b_step, b_period, b_col, c + v, add); break;
        default: product(6, len, period, a + v, b, b_step, b_period, b_col, c + v, add); break;
        }
}

#define DN_TEXT(x) #x
#define DN_STRING(x) DN_TEXT(x)
const dn_fft_kernel DN_NAME(dn_fft_kernel_, DN_ISA) = {
    .isa = DN_STRING(DN_ISA), .line = line, .split = split, .merge = merge, .lace = lace, .unlace = unlace, .multiply = multiply,
};
