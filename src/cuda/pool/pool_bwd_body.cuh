/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Gradient of pooling by gather: each element of dx adds what the windows around it give, in order. Of a maximum a first kernel notes which
 * tap of each window it is (the first in scan order; NaN as in ref/pool.c), one byte per output, so that x is read once.
 * The including file names T_*, KERNEL, KERNEL_WINNER and perhaps ONE and KERNEL_LINE. */
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

#if !defined(ONE)
/* The same for windows of K x K, no depth, in words. */
template <int K, int NANS> DN_FN void dn_pool_scan_words(const dn_pool_fast *p, const dn_t *x, int h, int w, unsigned char *to)
{
    const dn_u32 outside = NANS ? DN_POOL_LEAST_WORD : DN_POOL_NAN_WORD;
    dn_u32 m[4], tap[4];
    uint4 u[K][K];
#pragma unroll
    for (int j = 0; j < K; j++)
#pragma unroll
        for (int k = 0; k < K; k++) {
            u[j][k] = make_uint4(outside, outside, outside, outside);
            if ((unsigned)(h + j) < (unsigned)p->in[1] && (unsigned)(w + k) < (unsigned)p->in[2])
                u[j][k] = *(const uint4 *)(x + ((h + j) * p->in[2] + w + k) * p->c);
        }
#pragma unroll
    for (int e = 0; e < 4; e++) {
        m[e] = outside;
        tap[e] = DN_TAP(max(-h, 0) * K + max(-w, 0));
    }
#pragma unroll
    for (int j = 0; j < K; j++)
#pragma unroll
        for (int k = 0; k < K; k++) {
            dn_pool_meet<NANS>(&m[0], &tap[0], u[j][k].x, j * K + k);
            dn_pool_meet<NANS>(&m[1], &tap[1], u[j][k].y, j * K + k);
            dn_pool_meet<NANS>(&m[2], &tap[2], u[j][k].z, j * K + k);
            dn_pool_meet<NANS>(&m[3], &tap[3], u[j][k].w, j * K + k);
        }
#pragma unroll
    for (int e = 0; e < 4; e++)
        tap[e] |= NANS ? 0 : dn_pool_differ(m[e], m[e]) & DN_TAP(DN_POOL_NONE);
#if defined(T_F32)
    *(dn_u32 *)to = tap[0] | tap[1] << 8 | tap[2] << 16 | tap[3] << 24;
#else
    uint2 v = { (tap[0] & 0xff) | (tap[0] >> 8 & 0xff00) | (tap[1] << 16 & 0xff0000) | (tap[1] << 8 & 0xff000000),
                (tap[2] & 0xff) | (tap[2] >> 8 & 0xff00) | (tap[3] << 16 & 0xff0000) | (tap[3] << 8 & 0xff000000) };
    *(uint2 *)to = v;
#endif
}
#endif

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
        unsigned char *at = to + (row * p->out_size[2] + s.x) * p->c;
        switch (p->form) {
#if defined(ONE)
        case DN_POOL_2S2: dn_pool_scan<2, NANS>(p, x, d, h, w, &b); break;
        case DN_POOL_3S2: case DN_POOL_3S1: dn_pool_scan<3, NANS>(p, x, d, h, w, &b); break;
#else
        case DN_POOL_2S2: dn_pool_scan_words<2, NANS>(p, x, h, w, at); continue;
        case DN_POOL_3S2: case DN_POOL_3S1: dn_pool_scan_words<3, NANS>(p, x, h, w, at); continue;
#endif
        default: dn_pool_scan<0, NANS>(p, x, d, h, w, &b); break;
        }
        dn_pool_winner_store(at, b.tap);
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

#if !defined(ONE)
/* 1 bits in word e of a vector where a byte of y has its sign. */
DN_FN dn_u32 dn_pool_spread(const dn_u32 *y, int e)
{
#if defined(DN_EMULATED)
    const int per = 4 / (int)sizeof(dn_t);
    dn_u32 m = 0;
    for (int i = 0; i < per; i++)
        if (y[(e * per + i) / 4] >> ((e * per + i) % 4 * 8 + 7) & 1)
            m |= (per == 1 ? ~0u : 0xffffu) << (16 * i);
    return m;
#else
    dn_u32 m;
    const dn_u32 at = DN_VN == 4 ? 0x8888 + 0x1111 * (dn_u32)e : e % 2 ? 0xbbaa : 0x9988;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(m) : "r"(y[DN_VN == 4 ? 0 : e / 2]), "r"(at));
    return m;
#endif
}

/* One window: its gradient, and the numbers of the taps that are its maxima, one byte each. */
typedef struct dn_max_window {
    dn_u32 g[4], tap[DN_VN / 4];
} dn_max_window;

/* What window (i, j) gives word e of its tap. */
DN_FN dn_u32 dn_max_give(const dn_max_window *v, int tap, int e)
{
    dn_u32 y[DN_VN / 4];
#pragma unroll
    for (int i = 0; i < DN_VN / 4; i++)
        y[i] = 0x80808080u - (v->tap[i] ^ (dn_u32)tap * 0x01010101u);  /* no borrow: both are below 128 */
    return v->g[e] & dn_pool_spread(y, e);
}

DN_FN void dn_max_store(const dn_pool_fast *p, dn_t *to, const dn_u32 *r)
{
    uint4 v = make_uint4(r[0], r[1], r[2], r[3]);
    if (p->plain) {
        __stcs((uint4 *)to, v);
        return;
    }
    float f[DN_PV];
    dn_vec_get(v, f);
    dn_unit_store(p, to, f);
}

/* dn_pool_block of a maximum, in words. */
template <int K> DN_FN void dn_max_block(const dn_pool_fast *p, const dn_pool_spot *s, dn_s64 dy, dn_t *dx)
{
    enum { N = K - 1 };
    dn_max_window v[N][N];
    dn_u32 out[4][4];
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j < N; j++) {
            bool on = s->y + i < p->out_size[1] && s->x + j < p->out_size[2];
            dn_s64 at = dy + ((dn_s64)(s->y + i) * p->out_size[2] + s->x + j) * p->c;
            uint4 g = on ? *(const uint4 *)((const dn_t *)p->dy + at) : make_uint4(0, 0, 0, 0);
#pragma unroll
            for (int e = 0; e < DN_VN / 4; e++)
                v[i][j].tap[e] = on ? ((const dn_u32 *)(p->winner + at))[e] & 0x7f7f7f7f : 0;
            v[i][j].g[0] = g.x;
            v[i][j].g[1] = g.y;
            v[i][j].g[2] = g.z;
            v[i][j].g[3] = g.w;
        }
#pragma unroll
    for (int e = 0; e < 4; e++) {
        if (K == 2) {
#pragma unroll
            for (int k = 0; k < 4; k++)
                out[k][e] = dn_max_give(&v[0][0], k, e);
            continue;
        }
        const dn_max_window *right = &v[0][N - 1], *below = &v[N - 1][0], *beyond = &v[N - 1][N - 1];
        out[0][e] = dn_max_give(&v[0][0], 4, e);
        out[1][e] = dn_pool_sum_word(dn_max_give(&v[0][0], 5, e), dn_max_give(right, 3, e));
        out[2][e] = dn_pool_sum_word(dn_max_give(&v[0][0], 7, e), dn_max_give(below, 1, e));
        out[3][e] = dn_pool_sum_four(dn_max_give(&v[0][0], 8, e), dn_max_give(right, 6, e), dn_max_give(below, 2, e), dn_max_give(beyond, 0, e));
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int h = 2 * s->y + k / 2, w = 2 * s->x + k % 2;
        if (h < p->in[1] && w < p->in[2])
            dn_max_store(p, dx + (h * p->in[2] + w) * p->c, out[k]);
    }
}
#endif

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

template <int K, int MAX> DN_FN void dn_pool_blocks(const dn_pool_fast *p, const dn_pool_spot *s, dn_s64 dy, dn_t *dx)
{
#if !defined(ONE)
    if (MAX) {
        dn_max_block<K>(p, s, dy, dx);
        return;
    }
#endif
    dn_pool_block<K, MAX>(p, s, dy, dx);
}

template <int MAX> DN_FN void dn_pool_bwd(const dn_pool_fast *p)
{
    dn_u32 t = blockIdx.x * (dn_u32)DN_POOL_THREADS + threadIdx.x;
    if (t >= p->threads)
        return;
    dn_pool_spot s = dn_pool_spot_of(p, t);
    dn_s64 dy = s.n * ((dn_s64)p->out_size[0] * p->out_size[1] * p->out_size[2] * p->c) + s.unit;
    dn_t *dx = (dn_t *)p->out + s.plane * ((dn_s64)p->in[1] * p->in[2] * p->c) + s.unit;
    if (p->form == DN_POOL_2S2)
        dn_pool_blocks<2, MAX>(p, &s, dy, dx);
    else if (p->form == DN_POOL_3S2)
        dn_pool_blocks<3, MAX>(p, &s, dy, dx);
    else
        dn_pool_position<MAX>(p, &s, dy, dx);
}

extern "C" __global__ void __launch_bounds__(DN_POOL_THREADS, 3) KERNEL(const __grid_constant__ dn_pool_fast p)
{
    if (p.mode == DN_POOL_AVERAGE)
        dn_pool_bwd<0>(&p);
    else
        dn_pool_bwd<1>(&p);
}

#if defined(ONE)
#include "cuda/pool/pool_line_grad.cuh"

extern "C" __global__ void __launch_bounds__(DN_POOL_THREADS, 3) KERNEL_LINE(const __grid_constant__ dn_pool_fast p)
{
    if (p.form == DN_POOL_2S2 && p.mode == DN_POOL_MAX_NAN)
        line_all<2, 1>(&p);
    else if (p.form == DN_POOL_2S2)
        line_all<2, 0>(&p);
    else if (p.mode == DN_POOL_MAX_NAN)
        line_all<3, 1>(&p);
    else
        line_all<3, 0>(&p);
}
#endif
