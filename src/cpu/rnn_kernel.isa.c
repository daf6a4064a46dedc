/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Inner loops of recurrent networks in f32, compiled once per instruction set (DN_ISA).
 * exp: x = n ln 2 + r, |r| <= ln 2 / 2, ln 2 in two parts (Cody and Waite), e^r by its Taylor polynomial of degree 7 (remainder below 6e-9).
 * tanh: below 0.4 by its odd Taylor polynomial of degree 11 (the first term left out is below 3e-8 of x), else 1 - 2 / (e^2x + 1).
 * NaN stays NaN; exp of what is too large is infinite. */
#include "cpu/rnn_kernel.h"

#include <string.h>

#define DN_PASTE(a, b) a##b
#define DN_NAME(stem, isa) DN_PASTE(stem, isa)
#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
enum { VL = 16 };
#elif defined(__AVX2__)
enum { VL = 8 };
#else
enum { VL = 4 };
#endif
enum { TILE = 16 };

typedef float vec __attribute__((vector_size(VL * 4)));
typedef int32_t mask __attribute__((vector_size(VL * 4)));
typedef uint32_t bits __attribute__((vector_size(VL * 4)));

/* Addresses are aligned to nothing: a caller's memory may lie anywhere. n: values there are, VL or fewer. */
INLINE vec load(const float *p, int64_t n)
{
    vec v = { 0 };
    memcpy(&v, p, n < VL ? (size_t)n * sizeof *p : sizeof v);
    return v;
}

INLINE void store(float *p, int64_t n, vec v)
{
    memcpy(p, &v, n < VL ? (size_t)n * sizeof *p : sizeof v);
}

INLINE vec all(float x)
{
    return (vec){ 0 } + x;
}

INLINE vec choose(mask m, vec a, vec b)
{
    return (vec)((m & (mask)a) | (~m & (mask)b));
}

INLINE vec exponential(vec x)
{
    const float whole = 12582912.0f;  /* 1.5 2^23: adding it rounds to an integer, which stands in the low bits */
    const vec top = all(88.722f), bottom = all(-87.0f);
    vec y = choose(x > top, top, x);
    y = choose(y < bottom, bottom, y);
    vec t = y * 1.44269504f + whole, n = t - whole;
    vec r = (y - n * 0.693359375f) + n * 2.12194440e-4f;
    vec p = all(1.0f / 5040);
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    /* 2^n as 2 2^(n-1): n may be 128. The shift drops what is not n. */
    p = p * (vec)(((bits)t << 23) + (126u << 23)) * 2.0f;
    return choose(x > top, all(__builtin_inff()), p);
}

INLINE vec sigmoid(vec x)
{
    return 1.0f / (1.0f + exponential(-x));
}

INLINE vec hyperbolic(vec x)
{
    const mask magnitude = (mask){ 0 } + 0x7fffffff;
    vec a = (vec)((mask)x & magnitude), s = x * x;
    vec large = 1.0f - 2.0f / (exponential(2.0f * a) + 1.0f);
    large = (vec)(((mask)large & magnitude) | ((mask)x & ~magnitude));
    vec p = all(-1382.0f / 155925);
    p = p * s + 62.0f / 2835;
    p = p * s - 17.0f / 315;
    p = p * s + 2.0f / 15;
    p = p * s - 1.0f / 3;
    return choose(a < all(0.4f), x + x * s * p, large);
}

/* A state as it is read. */
INLINE vec clipped(const dn_cpu_rnn_clip *k, vec c)
{
    if (!k->on)
        return c;
    vec v = choose(c > all(k->low), c, all(k->low));
    v = choose(v < all(k->high), v, all(k->high));
    return k->nan ? choose(c == c, v, c) : v;
}

/* A limit lets no gradient by the state through. */
INLINE vec through(const dn_cpu_rnn_clip *k, vec c, vec gradient)
{
    return k->on ? choose((c < all(k->low)) | (c > all(k->high)), all(0), gradient) : gradient;
}

/* Sum of a gate: products and bias. */
INLINE vec whole_of(const dn_cpu_rnn_units *u, int g, int64_t i, int64_t n)
{
    return load(u->sums + g * u->sum_gate + i, n) + load(u->bias + g * u->sum_gate + i, n);
}

INLINE void lstm_forward_part(const dn_cpu_rnn_units *u, int64_t i, int64_t n)
{
    vec in = sigmoid(whole_of(u, 0, i, n)), forget = sigmoid(whole_of(u, 1, i, n));
    vec g = hyperbolic(whole_of(u, 2, i, n)), o = sigmoid(whole_of(u, 3, i, n));
    vec c = forget * clipped(&u->clip, load(u->state + i, n)) + in * g;
    float *keep = u->keep + i;
    store(keep, n, in);
    store(keep + u->gate, n, forget);
    store(keep + 2 * u->gate, n, g);
    store(keep + 3 * u->gate, n, o);
    store(u->state + i, n, c);
    store(u->cell + i, n, c);
    store(u->h + i, n, o * hyperbolic(clipped(&u->clip, c)));
}

INLINE void gru_forward_part(const dn_cpu_rnn_units *u, int64_t i, int64_t n)
{
    vec r = sigmoid(whole_of(u, 0, i, n)), z = sigmoid(whole_of(u, 1, i, n));
    vec p = load(u->product + i, n) + load(u->bias_n + i, n);
    vec m = hyperbolic(whole_of(u, 2, i, n) + r * p);
    float *keep = u->keep + i;
    store(keep, n, r);
    store(keep + u->gate, n, z);
    store(keep + 2 * u->gate, n, m);
    store(keep + 3 * u->gate, n, p);
    store(u->h + i, n, (1.0f - z) * m + z * load(u->before + i, n));
}

/* NaN stays NaN: max(0, x) would lose it. */
INLINE void relu_forward_part(const dn_cpu_rnn_units *u, int64_t i, int64_t n)
{
    vec x = whole_of(u, 0, i, n), y = choose(x < all(0), all(0), x);
    store(u->keep + i, n, y);
    store(u->h + i, n, y);
}

INLINE void tanh_forward_part(const dn_cpu_rnn_units *u, int64_t i, int64_t n)
{
    vec y = hyperbolic(whole_of(u, 0, i, n));
    store(u->keep + i, n, y);
    store(u->h + i, n, y);
}

INLINE void lstm_backward_part(const dn_cpu_rnn_units *u, int64_t k, int64_t n)
{
    const float *keep = u->keep + k;
    float *d = u->dgates + k;
    vec i = load(keep, n), f = load(keep + u->gate, n), g = load(keep + 2 * u->gate, n), o = load(keep + 3 * u->gate, n);
    vec c = load(u->c + k, n), before = load(u->before + k, n), dh = load(u->dh + k, n), t = hyperbolic(clipped(&u->clip, c));
    vec dc = load(u->dc + k, n) + through(&u->clip, c, dh * o * (1.0f - t * t));
    store(d, n, dc * g * i * (1.0f - i));
    store(d + u->gate, n, dc * clipped(&u->clip, before) * f * (1.0f - f));
    store(d + 2 * u->gate, n, dc * i * (1.0f - g * g));
    store(d + 3 * u->gate, n, dh * t * o * (1.0f - o));
    store(u->dc + k, n, through(&u->clip, before, dc * f));
}

INLINE void gru_backward_part(const dn_cpu_rnn_units *u, int64_t i, int64_t n)
{
    const float *keep = u->keep + i;
    float *d = u->dgates + i;
    vec r = load(keep, n), z = load(keep + u->gate, n), m = load(keep + 2 * u->gate, n), product = load(keep + 3 * u->gate, n);
    vec dh = load(u->dh + i, n), dm = dh * (1.0f - z) * (1.0f - m * m);
    store(d, n, dm * product * r * (1.0f - r));
    store(d + u->gate, n, dh * (load(u->before + i, n) - m) * z * (1.0f - z));
    store(d + 2 * u->gate, n, dm);
    store(d + 3 * u->gate, n, dm * r);
    store(u->carry + i, n, dh * z);
}

INLINE void relu_backward_part(const dn_cpu_rnn_units *u, int64_t i, int64_t n)
{
    store(u->dgates + i, n, choose(load(u->keep + i, n) > all(0), load(u->dh + i, n), all(0)));
}

INLINE void tanh_backward_part(const dn_cpu_rnn_units *u, int64_t i, int64_t n)
{
    vec y = load(u->keep + i, n);
    store(u->dgates + i, n, load(u->dh + i, n) * (1.0f - y * y));
}

INLINE void project_part(const dn_cpu_rnn_units *u, int64_t i, int64_t n)
{
    store(u->h + i, n, load(u->keep + i, n) * hyperbolic(clipped(&u->clip, load(u->c + i, n))));
}

/* A loop over whole vectors and what is left. */
INLINE void run(const dn_cpu_rnn_units *given, void (*part)(const dn_cpu_rnn_units *, int64_t, int64_t))
{
    dn_cpu_rnn_units u = *given;
    int64_t i = 0;
    for (; i + VL <= u.n; i += VL)
        part(&u, i, VL);
    if (i < u.n)
        part(&u, i, u.n - i);
}

static void lstm_forward(const dn_cpu_rnn_units *u)
{
    run(u, lstm_forward_part);
}

static void gru_forward(const dn_cpu_rnn_units *u)
{
    run(u, gru_forward_part);
}

static void relu_forward(const dn_cpu_rnn_units *u)
{
    run(u, relu_forward_part);
}

static void tanh_forward(const dn_cpu_rnn_units *u)
{
    run(u, tanh_forward_part);
}

static void lstm_backward(const dn_cpu_rnn_units *u)
{
    run(u, lstm_backward_part);
}

static void gru_backward(const dn_cpu_rnn_units *u)
{
    run(u, gru_backward_part);
}

static void relu_backward(const dn_cpu_rnn_units *u)
{
    run(u, relu_backward_part);
}

static void tanh_backward(const dn_cpu_rnn_units *u)
{
    run(u, tanh_backward_part);
}

static void project(const dn_cpu_rnn_units *u)
{
    run(u, project_part);
}

static void turn(int64_t rows, int64_t columns, const float *from, int64_t from_ld, float *to, int64_t to_ld)
{
    for (int64_t r = 0; r < rows; r += TILE)
        for (int64_t c = 0; c < columns; c++)
            for (int64_t i = r; i < rows && i < r + TILE; i++)
                memcpy(to + c * to_ld + i, from + i * from_ld + c, sizeof *to);
}

static void add(int64_t n, const float *a, const float *b, float *to)
{
    int64_t i = 0;
    for (; i + VL <= n; i += VL)
        store(to + i, VL, load(a + i, VL) + load(b + i, VL));
    if (i < n)
        store(to + i, n - i, load(a + i, n - i) + load(b + i, n - i));
}

static void sum(int64_t n, const float *row, double *sums)
{
    for (int64_t i = 0; i < n; i++) {
        float v;
        memcpy(&v, row + i, sizeof v);
        sums[i] += v;
    }
}

const dn_cpu_rnn_kernel DN_NAME(dn_cpu_rnn_kernel_, DN_ISA) = {
    .forward = { relu_forward, tanh_forward, lstm_forward, gru_forward },
    .backward = { relu_backward, tanh_backward, lstm_backward, gru_backward },
    .project = project, .turn = turn, .add = add, .sum = sum,
};
