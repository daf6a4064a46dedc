/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Gradient of maximum pooling of NCHW in one kernel, for 2 x 2 and 3 x 3 at stride 2: nothing is noted in memory. */
#ifndef DN_CUDA_POOL_POOL_LINE_GRAD_CUH
#define DN_CUDA_POOL_POOL_LINE_GRAD_CUH

#include "cuda/pool/pool_line.cuh"

/* A thread has N neighbours of dx in the rows of its windows, one window row after the other; the windows on them and the next one to the
 * right find their maxima themselves. Values are in words: columns 2 o of PER windows (middle), those before (left) and behind (right). */
enum { LINE_PER = 4 / (int)sizeof(dn_t) };

template <int W> struct line_raw {
    dn_u32 w[W + 3];  /* as dn_line_words, and the second element behind (of narrow ones in the high half of the first) */
};

/* Of one row of windows: gradients, and taps of the maxima. */
template <int Q> struct line_windows {
    dn_u32 g[Q], tap[Q];
};

template <int K, int N, int W> DN_FN void line_fetch(const dn_pool_fast *p, const dn_t *x, int h, int w, dn_u32 outside, line_raw<W> *r)
{
    const dn_t *row = x + h * p->in[2] + w;
#pragma unroll
    for (int e = 0; e < W + 3; e++)
        r->w[e] = outside;
    if ((unsigned)h >= (unsigned)p->in[1])
        return;
    DN_VEC(DN_T, N) v = *(const DN_VEC(DN_T, N) *)row;
#pragma unroll
    for (int e = 0; e < W; e++)
        r->w[e + 1] = ((const dn_u32 *)&v)[e];
    if (K == 3 && w > 0)
        r->w[0] = LINE_PER == 1 ? dn_line_word(row - 1) : (outside & 0xffff0000) | dn_line_word(row - 1);
    if (K == 3 && w + N < p->in[2]) {
        r->w[W + 1] = ((const dn_u32 *)(row + N))[0];
        if (LINE_PER == 1)
            r->w[W + 2] = ((const dn_u32 *)(row + N))[1];
    }
}

/* Words a and b as one of every second element: of their first halves, or of their second. */
DN_FN dn_u32 line_low(dn_u32 a, dn_u32 b)
{
    return (a & 0xffff) | b << 16;
}

DN_FN dn_u32 line_high(dn_u32 a, dn_u32 b)
{
    return a >> 16 | (b & 0xffff0000);
}

/* Row j of the windows of K x K meets what was found so far. Q: words of windows, the last one to the right of the thread's own (K 3). */
template <int K, int W, int Q, int NANS> DN_FN void line_meet(const line_raw<W> *r, int j, dn_u32 *m, dn_u32 *tap)
{
#pragma unroll
    for (int q = 0; q < Q; q++) {
        dn_u32 left, middle, right;
        if (LINE_PER == 1) {
            left = r->w[2 * q];
            middle = r->w[2 * q + 1];
            right = r->w[2 * q + 2];
        } else {
            dn_u32 a = r->w[2 * q + 1], b = 2 * q + 2 <= W ? r->w[2 * q + 2] : a;
            middle = line_low(a, b);
            right = line_high(a, b);
            left = q == 0 ? (r->w[0] & 0xffff) | (a & 0xffff0000) : line_high(r->w[2 * q], a);
        }
        if (K == 3)
            dn_pool_meet<NANS>(&m[q], &tap[q], left, j * K);
        dn_pool_meet<NANS>(&m[q], &tap[q], middle, j * K + K - 2);
        dn_pool_meet<NANS>(&m[q], &tap[q], right, j * K + K - 1);
    }
}

/* 1 bits where the number in a word's half, or in the word, is that of the tap. Halves are compared as f16, of which small numbers are
 * subnormal values. */
DN_FN dn_u32 line_is(dn_u32 tap, int k)
{
#if defined(T_F32)
    return tap == (dn_u32)k ? ~0u : 0;
#elif defined(DN_EMULATED)
    return ((tap & 0xffff) == (dn_u32)k ? 0xffff : 0) | (tap >> 16 == (dn_u32)k ? 0xffff0000 : 0);
#else
    dn_u32 m;
    asm("set.eq.u32.f16x2 %0, %1, %2;" : "=r"(m) : "r"(tap), "r"(DN_TAP(k)));
    return m;
#endif
}

/* What the windows of word q give to their tap. */
template <int Q> DN_FN dn_u32 line_give(const line_windows<Q> *v, int q, int tap)
{
    return v->g[q] & line_is(v->tap[q], tap);
}

/* The same of the windows one further to the right. */
template <int Q> DN_FN dn_u32 line_give_next(const line_windows<Q> *v, int q, int tap)
{
    dn_u32 b = line_give(v, q + 1 < Q ? q + 1 : q, tap);
    return LINE_PER == 1 ? b : line_give(v, q, tap) >> 16 | b << 16;
}

/* Row h of dx from its even and its odd elements. */
template <int N, int W> DN_FN void line_out(const dn_pool_fast *p, dn_t *dx, int h, int w, const dn_u32 *even, const dn_u32 *odd)
{
    dn_u32 r[W];
#pragma unroll
    for (int q = 0; q < W / 2; q++) {
        r[2 * q] = LINE_PER == 1 ? even[q] : line_low(even[q], odd[q]);
        r[2 * q + 1] = LINE_PER == 1 ? odd[q] : line_high(even[q], odd[q]);
    }
    if (h < p->in[1])
        dn_line_emit<N>(p, dx + h * p->in[2] + w, r);
}

/* Gradients of the row of windows i from column w / 2 on; 0 where there is none. */
template <int K, int N, int Q> DN_FN void line_gradients(const dn_pool_fast *p, const dn_t *dy, int i, int w, dn_u32 *g)
{
    const dn_t *row = dy + i * p->out_size[2] + w / 2;
    enum { OWN = K == 3 ? Q - 1 : Q };
    bool on = i < p->out_size[1];
#pragma unroll
    for (int q = 0; q < OWN; q++)
        g[q] = on ? ((const dn_u32 *)row)[q] : 0;
    if (K == 3)
        g[OWN] = on && w + N < p->in[2] ? dn_line_word(row + N / 2) : 0;
}

/* The row of dx that has no window's middle (3 x 3): of the windows above and below. */
template <int N, int OWN, int Q>
DN_FN void line_between(const dn_pool_fast *p, dn_t *dx, int h, int w, const line_windows<Q> *above, const line_windows<Q> *below)
{
    dn_u32 even[OWN], odd[OWN];
#pragma unroll
    for (int q = 0; q < OWN; q++) {
        even[q] = dn_pool_sum_word(line_give(above, q, 7), line_give(below, q, 1));
        odd[q] = dn_pool_sum_four(line_give(above, q, 8), line_give_next(above, q, 6), line_give(below, q, 2), line_give_next(below, q, 0));
    }
    line_out<N, OWN * 2>(p, dx, h, w, even, odd);
}

/* The row that has the windows' middle, or the two rows of windows of 2 x 2. */
template <int K, int N, int Q> DN_FN void line_under(const dn_pool_fast *p, dn_t *dx, int h, int w, const line_windows<Q> *v)
{
    enum { OWN = K == 3 ? Q - 1 : Q };
    dn_u32 even[OWN], odd[OWN];
#pragma unroll
    for (int q = 0; q < OWN; q++) {
        even[q] = line_give(v, q, K == 3 ? 4 : 0);
        odd[q] = K == 3 ? dn_pool_sum_word(line_give(v, q, 5), line_give_next(v, q, 3)) : line_give(v, q, 1);
    }
    line_out<N, OWN * 2>(p, dx, h, w, even, odd);
    if (K == 2) {
#pragma unroll
        for (int q = 0; q < OWN; q++) {
            even[q] = line_give(v, q, 2);
            odd[q] = line_give(v, q, 3);
        }
        line_out<N, OWN * 2>(p, dx, h + 1, w, even, odd);
    }
}

/* x and dy: of the plane; dx too. */
template <int K, int N, int NANS> DN_FN void line_grad(const dn_pool_fast *p, const dn_pool_spot *s, const dn_t *x, const dn_t *dy, dn_t *dx)
{
    enum { W = N * (int)sizeof(dn_t) / 4, OWN = W / 2, Q = K == 3 ? OWN + 1 : OWN };
    const dn_u32 outside = NANS ? DN_POOL_LEAST_WORD : DN_POOL_NAN_WORD;
    int first = s->y * p->strip, last = min(first + p->strip, p->out_size[1]), w = s->x * N;
    line_raw<W> above, row[2];
    line_windows<Q> v, old;
    if (K == 3)
        line_fetch<K, N, W>(p, x, 2 * first - 1, w, outside, &above);
    for (int i = first; i < last + (K == 3); i++) {
        dn_u32 m[Q];
        line_fetch<K, N, W>(p, x, 2 * i, w, outside, &row[0]);
        line_fetch<K, N, W>(p, x, 2 * i + 1, w, outside, &row[1]);
        line_gradients<K, N, Q>(p, dy, i, w, v.g);
#pragma unroll
        for (int q = 0; q < Q; q++) {
            m[q] = outside;
            v.tap[q] = DN_TAP(K == 3 && i == 0 ? 3 : 0) + (K == 3 && w == 0 && q == 0 ? 1 : 0);
        }
        if (K == 3)
            line_meet<K, W, Q, NANS>(&above, 0, m, v.tap);
        line_meet<K, W, Q, NANS>(&row[0], K - 2, m, v.tap);
        line_meet<K, W, Q, NANS>(&row[1], K - 1, m, v.tap);
#pragma unroll
        for (int q = 0; q < Q; q++)
            v.g[q] = NANS ? v.g[q] : v.g[q] & ~dn_pool_differ(m[q], m[q]);
        if (K == 3 && i > first)
            line_between<N, OWN, Q>(p, dx, 2 * i - 1, w, &old, &v);
        if (i < last)
            line_under<K, N, Q>(p, dx, 2 * i, w, &v);
        above = row[1];
        old = v;
    }
}

template <int K, int NANS> DN_FN void line_all(const dn_pool_fast *p)
{
    dn_u32 t = blockIdx.x * (dn_u32)DN_POOL_THREADS + threadIdx.x;
    if (t >= p->threads)
        return;
    dn_pool_spot s = dn_pool_spot_of(p, t);
    dn_s64 in = s.n * ((dn_s64)p->in[1] * p->in[2]), out = s.n * ((dn_s64)p->out_size[1] * p->out_size[2]);
    const dn_t *x = (const dn_t *)p->x + in, *dy = (const dn_t *)p->dy + out;
    if (p->line == DN_VN)
        line_grad<K, DN_VN, NANS>(p, &s, x, dy, (dn_t *)p->out + in);
    else
        line_grad<K, 4, NANS>(p, &s, x, dy, (dn_t *)p->out + in);
}

#endif
