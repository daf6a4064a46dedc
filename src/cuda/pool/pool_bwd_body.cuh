/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Gradient of pooling by gather: each element of dx adds what the windows around it give, in order. Of a maximum a first kernel notes which
 * tap of each window it is (the first in scan order; NaN as in ref/pool.c), one byte per output, so that x is read once.
 * The including file names T_*, perhaps ONE, KERNEL and KERNEL_WINNER. */
#include "cuda/pool/pool_fast.cuh"
#if defined(ONE)
#include "cuda/pool/pool_line.cuh"
#endif

enum { DN_POOL_NONE = 255 };

/* --- winners --- */
typedef struct dn_pool_best {
    float v[DN_PV];
    int tap[DN_PV];
} dn_pool_best;

/* The first tap of a window begins it, whatever it holds: NaN that does not go through gives way to any number. */
template <int NANS> DN_FN void dn_pool_take_one(float *v, int *at, float f, int tap)
{
    bool old = *v != *v, take = NANS ? !old && !(f <= *v) : old || f > *v;
    take = take || *at == DN_POOL_NONE;
    *v = take ? f : *v;
    *at = take ? tap : *at;
}

template <int NANS> DN_FN void dn_pool_take(dn_pool_best *b, const float *f, int tap)
{
#pragma unroll
    for (int e = 0; e < DN_PV; e++)
        dn_pool_take_one<NANS>(&b->v[e], &b->tap[e], f[e], tap);
}

/* K: height and width of the window, 0: any. */
template <int K, int NANS> DN_FN void dn_pool_scan(const dn_pool_fast *p, const dn_t *x, int d, int h, int w, dn_pool_best *b)
{
    int kd = K ? 1 : p->win[0], kh = K ? K : p->win[1], kw = K ? K : p->win[2];
#pragma unroll
    for (int e = 0; e < DN_PV; e++) {
        b->v[e] = 0.0f;
        b->tap[e] = DN_POOL_NONE;
    }
    for (int i = 0; i < kd; i++)
#pragma unroll
        for (int j = 0; j < (K ? K : kh); j++) {
            dn_raw_unit u[K ? K : 1];
            if ((unsigned)(d + i) >= (unsigned)p->in[0] || (unsigned)(h + j) >= (unsigned)p->in[1])
                continue;
            const dn_t *row = x + (((d + i) * p->in[1] + h + j) * p->in[2] + w) * p->c;
#pragma unroll
            for (int k = 0; k < K; k++)
                if ((unsigned)(w + k) < (unsigned)p->in[2])
                    u[k] = dn_unit_load(row + k * p->c);
#pragma unroll
            for (int k = 0; k < (K ? K : kw); k++)
                if ((unsigned)(w + k) < (unsigned)p->in[2]) {
                    float f[DN_PV];
                    dn_unit_get(K ? u[K ? k : 0] : dn_unit_load(row + k * p->c), f);
                    dn_pool_take<NANS>(b, f, (i * kh + j) * kw + k);
                }
        }
    /* Nothing but NaN has no maximum where it does not go through. */
#pragma unroll
    for (int e = 0; e < DN_PV; e++)
        b->tap[e] = !NANS && b->v[e] != b->v[e] ? DN_POOL_NONE : b->tap[e];
}

/* at: of the first of DN_PV bytes. */
DN_FN void dn_pool_winner_store(unsigned char *at, const int *tap)
{
#if defined(ONE)
    *at = (unsigned char)tap[0];
#else
    dn_u32 v[DN_PV / 4];
#pragma unroll
    for (int i = 0; i < DN_PV / 4; i++)
        v[i] = (dn_u32)tap[4 * i] | (dn_u32)tap[4 * i + 1] << 8 | (dn_u32)tap[4 * i + 2] << 16 | (dn_u32)tap[4 * i + 3] << 24;
#pragma unroll
    for (int i = 0; i < DN_PV / 4; i++)
        ((dn_u32 *)at)[i] = v[i];
#endif
}

#if defined(ONE)
/* Winners of the outputs of N neighbours of the row of windows that begins at h. */
template <int K, int S, int N, int NANS> DN_FN void dn_line_winners(const dn_pool_fast *p, const dn_t *x, int h, int w, unsigned char *to)
{
    enum { OUTS = N / S };
    float best[OUTS];
    int tap[OUTS];
#pragma unroll
    for (int o = 0; o < OUTS; o++) {
        best[o] = 0.0f;
        tap[o] = DN_POOL_NONE;
    }
#pragma unroll
    for (int j = 0; j < K; j++) {
        float v[N + 2];
        if (!dn_line_load<K, S, N>(p, x, h + j, w, 0.0f, v))
            continue;
#pragma unroll
        for (int o = 0; o < OUTS; o++)
#pragma unroll
            for (int k = 0; k < K; k++) {
                int at = DN_LINE_AT(K, S, o, k);
                if ((at > 0 || w > 0) && (at <= N || w + N < p->in[2]))
                    dn_pool_take_one<NANS>(&best[o], &tap[o], v[at], j * K + k);
            }
    }
#pragma unroll
    for (int o = 0; o < OUTS; o++)
        tap[o] = !NANS && best[o] != best[o] ? DN_POOL_NONE : tap[o];
#pragma unroll
    for (int o = 0; o < OUTS; o += 2)
        *(dn_u16 *)(to + o) = (dn_u16)(tap[o] | tap[o + 1] << 8);
}

template <int N, int NANS> DN_FN void dn_line_winner(const dn_pool_fast *p, const dn_pool_spot *s, const dn_t *x, unsigned char *to)
{
    int w = s->x * N;
    for (int i = 0; i < p->strip; i++) {
        int row = s->y * p->strip + i, h = row * p->str[1] - p->pad[1];
        unsigned char *line = to + row * p->out_size[2];
        if (row >= p->out_size[1])
            return;
        switch (p->form) {
        case DN_POOL_2S2: dn_line_winners<2, 2, N, NANS>(p, x, h, w, line + w / 2); break;
        case DN_POOL_3S2: dn_line_winners<3, 2, N, NANS>(p, x, h, w, line + w / 2); break;
        default: dn_line_winners<3, 1, N, NANS>(p, x, h, w, line + w); break;
        }
    }
}
#endif

template <int NANS> DN_FN void dn_pool_winner(const dn_pool_fast *p)
{
    dn_u32 t = blockIdx.x * (dn_u32)DN_POOL_THREADS + threadIdx.x;
    if (t >= p->threads)
        return;
    dn_pool_spot s = dn_pool_spot_of(p, t);
    const dn_t *x = (const dn_t *)p->x + s.n * ((dn_s64)p->in[0] * p->in[1] * p->in[2] * p->c) + s.unit;
    unsigned char *to = p->winner + s.plane * ((dn_s64)p->out_size[1] * p->out_size[2] * p->c) + s.unit;
#if defined(ONE)
    if (p->line) {
        if (p->line == DN_VN)
            dn_line_winner<DN_VN, NANS>(p, &s, x, to);
        else
            dn_line_winner<4, NANS>(p, &s, x, to);
        return;
    }
#endif
    int d = s.d * p->str[0] - p->pad[0], w = s.x * p->str[2] - p->pad[2];
    for (int i = 0; i < p->strip; i++) {
        int row = s.y * p->strip + i, h = row * p->str[1] - p->pad[1];
        dn_pool_best b;
        if (row >= p->out_size[1])
            return;
        switch (p->form) {
        case DN_POOL_2S2: dn_pool_scan<2, NANS>(p, x, d, h, w, &b); break;
        case DN_POOL_3S2: case DN_POOL_3S1: dn_pool_scan<3, NANS>(p, x, d, h, w, &b); break;
        default: dn_pool_scan<0, NANS>(p, x, d, h, w, &b); break;
        }
        dn_pool_winner_store(to + (row * p->out_size[2] + s.x) * p->c, b.tap);
    }
}

extern "C" __global__ void __launch_bounds__(DN_POOL_THREADS, 3) KERNEL_WINNER(const __grid_constant__ dn_pool_fast p)
{
    if (p.mode == DN_POOL_MAX_NAN)
        dn_pool_winner<1>(&p);
    else
        dn_pool_winner<0>(&p);
}

/* --- gather --- */
/* One window as it lies in memory. */
typedef struct dn_pool_raw {
    dn_raw_unit g;
#if defined(ONE)
    dn_u32 tap;
#else
    dn_u32 tap[DN_PV / 4];
#endif
    bool on;
} dn_pool_raw;

/* Its gradient, times 1 / count of an average, and its winners. */
typedef struct dn_pool_window {
    float g[DN_PV];
    int tap[DN_PV];
} dn_pool_window;

/* Window (h, w) of the outputs whose first is at p->dy + at and p->winner + at; off where it lies outside. */
template <int MAX> DN_FN void dn_pool_fetch(const dn_pool_fast *p, dn_s64 at, int h, int w, dn_pool_raw *v)
{
    v->on = h < p->out_size[1] && w < p->out_size[2];
    if (!v->on)
        return;
    at += ((dn_s64)h * p->out_size[2] + w) * p->c;
    v->g = dn_unit_load((const dn_t *)p->dy + at);
    if (MAX) {
#if defined(ONE)
        v->tap = p->winner[at];
#else
#pragma unroll
        for (int i = 0; i < DN_PV / 4; i++)
            v->tap[i] = ((const dn_u32 *)(p->winner + at))[i];
#endif
    }
}

template <int MAX> DN_FN void dn_pool_open(const dn_pool_fast *p, const dn_pool_raw *raw, int d, int h, int w, dn_pool_window *v)
{
    dn_unit_get(raw->g, v->g);
    if (MAX) {
#pragma unroll
        for (int e = 0; e < DN_PV; e++)
#if defined(ONE)
            v->tap[e] = (int)raw->tap;
#else
            v->tap[e] = (int)(raw->tap[e / 4] >> (e % 4 * 8) & 255);
#endif
    } else {
        float k = 1.0f / (float)(dn_pool_counted(p, 0, d * p->str[0] - p->pad[0]) * dn_pool_counted(p, 1, h * p->str[1] - p->pad[1])
                                 * dn_pool_counted(p, 2, w * p->str[2] - p->pad[2]));
#pragma unroll
        for (int e = 0; e < DN_PV; e++)
            v->g[e] *= k;
    }
}

/* Adds what the window gives to its tap. */
template <int MAX> DN_FN void dn_pool_give(const dn_pool_window *v, int tap, float *sum)
{
#pragma unroll
    for (int e = 0; e < DN_PV; e++)
        sum[e] += !MAX || v->tap[e] == tap ? v->g[e] : 0.0f;
}

/* 2 x 2 positions of dx from the one window on them (K 2), or the up to four (K 3, pad 1): position (a, b) is tap (a - 2 i + pad, b - 2 j + pad)
 * of window (i, j) further down and right. */
template <int K, int MAX> DN_FN void dn_pool_block(const dn_pool_fast *p, const dn_pool_spot *s, dn_s64 dy, dn_t *dx)
{
    enum { PAD = K - 2, N = K - 1 };
    float sum[2][2][DN_PV];
    dn_pool_raw raw[N][N];
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j < N; j++)
            dn_pool_fetch<MAX>(p, dy, s->y + i, s->x + j, &raw[i][j]);
#pragma unroll
    for (int e = 0; e < DN_PV; e++)
        sum[0][0][e] = sum[0][1][e] = sum[1][0][e] = sum[1][1][e] = 0.0f;
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j < N; j++) {
            dn_pool_window v;
            if (!raw[i][j].on)
                continue;
            dn_pool_open<MAX>(p, &raw[i][j], 0, s->y + i, s->x + j, &v);
#pragma unroll
            for (int a = 0; a < 2; a++)
#pragma unroll
                for (int b = 0; b < 2; b++)
                    if (a - 2 * i + PAD >= 0 && b - 2 * j + PAD >= 0)
                        dn_pool_give<MAX>(&v, (a - 2 * i + PAD) * K + b - 2 * j + PAD, sum[a][b]);
        }
#pragma unroll
    for (int a = 0; a < 2; a++) {
        int h = 2 * s->y + a, w = 2 * s->x;
        dn_t *to = dx + (h * p->in[2] + w) * p->c;
        if (h >= p->in[1])
            break;
#if defined(ONE)
        if (p->pairs) {
            dn_pool_pair(p, to, sum[a][0][0], sum[a][1][0]);
            continue;
        }
#endif
        dn_unit_store(p, to, sum[a][0]);
        if (w + 1 < p->in[2])
            dn_unit_store(p, to + p->c, sum[a][1]);
    }
}

/* Windows along dimension d that hold position x. */
DN_FN void dn_pool_around(const dn_pool_fast *p, int d, int x, int *lo, int *hi)
{
    int first = x + p->pad[d] - p->win[d] + 1, str = p->str[d];
    *lo = first <= 0 ? 0 : (int)((unsigned)(first + str - 1) / (unsigned)str);
    *hi = min((int)((unsigned)(x + p->pad[d]) / (unsigned)str) + 1, p->out_size[d]);
}

/* Any window: one position of dx. dy: first element of the image. */
template <int MAX> DN_FN void dn_pool_position(const dn_pool_fast *p, const dn_pool_spot *s, dn_s64 dy, dn_t *dx)
{
    int d0, d1, h0, h1, w0, w1;
    float sum[DN_PV];
    dn_pool_around(p, 0, s->d, &d0, &d1);
    dn_pool_around(p, 1, s->y, &h0, &h1);
    dn_pool_around(p, 2, s->x, &w0, &w1);
#pragma unroll
    for (int e = 0; e < DN_PV; e++)
        sum[e] = 0.0f;
#pragma unroll 1
    for (int i = d0; i < d1; i++)
#pragma unroll 1
        for (int j = h0; j < h1; j++)
#pragma unroll 2
            for (int k = w0; k < w1; k++) {
                dn_pool_raw raw;
                dn_pool_window v;
                int a = s->d + p->pad[0] - i * p->str[0], b = s->y + p->pad[1] - j * p->str[1], c = s->x + p->pad[2] - k * p->str[2];
                dn_pool_fetch<MAX>(p, dy + (dn_s64)i * p->out_size[1] * p->out_size[2] * p->c, j, k, &raw);
                dn_pool_open<MAX>(p, &raw, i, j, k, &v);
                dn_pool_give<MAX>(&v, (a * p->win[1] + b) * p->win[2] + c, sum);
            }
    dn_unit_store(p, dx + (s->y * p->in[2] + s->x) * p->c, sum);
}

template <int MAX> DN_FN void dn_pool_bwd(const dn_pool_fast *p)
{
    dn_u32 t = blockIdx.x * (dn_u32)DN_POOL_THREADS + threadIdx.x;
    if (t >= p->threads)
        return;
    dn_pool_spot s = dn_pool_spot_of(p, t);
    dn_s64 dy = s.n * ((dn_s64)p->out_size[0] * p->out_size[1] * p->out_size[2] * p->c) + s.unit;
    dn_t *dx = (dn_t *)p->out + s.plane * ((dn_s64)p->in[1] * p->in[2] * p->c) + s.unit;
    switch (p->form) {
    case DN_POOL_2S2: dn_pool_block<2, MAX>(p, &s, dy, dx); break;
    case DN_POOL_3S2: dn_pool_block<3, MAX>(p, &s, dy, dx); break;
    default: dn_pool_position<MAX>(p, &s, dy, dx); break;
    }
}

extern "C" __global__ void __launch_bounds__(DN_POOL_THREADS, 3) KERNEL(const __grid_constant__ dn_pool_fast p)
{
    if (p.mode == DN_POOL_AVERAGE)
        dn_pool_bwd<0>(&p);
    else
        dn_pool_bwd<1>(&p);
}
