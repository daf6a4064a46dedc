/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Pooling forward: a thread makes a strip of outputs, one below the other, of some channels; what two windows of the strip have in common
 * is put together once. The including file names T_*, perhaps ONE, KERNEL and
 * KERNEL_WHOLE. */
#include "cuda/pool/pool_fast.cuh"
#if defined(ONE)
#include "cuda/pool/pool_line.cuh"
#endif

template <int MODE> DN_FN void dn_pool_start(float *m)
{
#pragma unroll
    for (int e = 0; e < DN_PV; e++)
        m[e] = MODE == DN_POOL_AVERAGE ? 0.0f : -DN_INF;
}

/* NaN: where it goes through it stays, else a number is taken rather than it. */
DN_FN float dn_pool_max_nan(float m, float v)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(m) : "f"(v));
    return m;
#else
    return v > m || v != v ? v : m;
#endif
}

template <int MODE> DN_FN float dn_pool_join(float a, float b)
{
    return MODE == DN_POOL_AVERAGE ? a + b : MODE == DN_POOL_MAX ? fmaxf(a, b) : dn_pool_max_nan(a, b);
}

template <int MODE> DN_FN void dn_pool_add(float *m, const float *v)
{
#pragma unroll
    for (int e = 0; e < DN_PV; e++)
        m[e] = dn_pool_join<MODE>(m[e], v[e]);
}

/* Row h of the plane at x, under K columns from w on. */
template <int K, int MODE> DN_FN void dn_pool_row(const dn_pool_fast *p, const dn_t *x, int h, int w, float *m)
{
    dn_raw_unit u[K];
    dn_pool_start<MODE>(m);
    if ((unsigned)h >= (unsigned)p->in[1])
        return;
    const dn_t *row = x + (h * p->in[2] + w) * p->c;
#pragma unroll
    for (int k = 0; k < K; k++)
        if ((unsigned)(w + k) < (unsigned)p->in[2])
            u[k] = dn_unit_load(row + k * p->c);
#pragma unroll
    for (int k = 0; k < K; k++)
        if ((unsigned)(w + k) < (unsigned)p->in[2]) {
            float f[DN_PV];
            dn_unit_get(u[k], f);
            dn_pool_add<MODE>(m, f);
        }
}

template <int MODE> DN_FN void dn_pool_emit(const dn_pool_fast *p, dn_t *y, float *m, int d, int h, int w)
{
    if (MODE == DN_POOL_AVERAGE) {
        float k = 1.0f / (float)(dn_pool_counted(p, 0, d) * dn_pool_counted(p, 1, h) * dn_pool_counted(p, 2, w));
#pragma unroll
        for (int e = 0; e < DN_PV; e++)
            m[e] *= k;
    }
    dn_unit_store(p, y, m);
}

/* Windows of K x K at stride S, no depth. */
template <int K, int S, int MODE> DN_FN void dn_pool_strip(const dn_pool_fast *p, const dn_pool_spot *s, const dn_t *x, dn_t *y)
{
    enum { KEPT = K > S ? K - S : 0 };
    float kept[KEPT + 1][DN_PV];
    int first = s->y * p->strip, h = first * S - p->pad[1], w = s->x * S - p->pad[2];
#pragma unroll
    for (int k = 0; k < KEPT; k++)
        dn_pool_row<K, MODE>(p, x, h + k, w, kept[k]);
    for (int i = 0; i < p->strip && first + i < p->out_size[1]; i++, h += S) {
        float row[K][DN_PV], m[DN_PV];
#pragma unroll
        for (int k = 0; k < K; k++) {
            if (k >= KEPT)
                dn_pool_row<K, MODE>(p, x, h + k, w, row[k]);
#pragma unroll
            for (int e = 0; e < DN_PV; e++)
                row[k][e] = k < KEPT ? kept[k < KEPT ? k : 0][e] : row[k][e];
        }
        dn_pool_start<MODE>(m);
#pragma unroll
        for (int k = 0; k < K; k++)
            dn_pool_add<MODE>(m, row[k]);
#pragma unroll
        for (int k = 0; k < KEPT; k++)
#pragma unroll
            for (int e = 0; e < DN_PV; e++)
                kept[k][e] = row[k + S][e];
        dn_pool_emit<MODE>(p, y + ((first + i) * p->out_size[2] + s->x) * p->c, m, 0, h, w);
    }
}

/* Any window: one output. */
template <int MODE> DN_FN void dn_pool_general(const dn_pool_fast *p, const dn_pool_spot *s, const dn_t *x, dn_t *y)
{
    int d = s->d * p->str[0] - p->pad[0], h = s->y * p->str[1] - p->pad[1], w = s->x * p->str[2] - p->pad[2];
    int d1 = min(d + p->win[0], p->in[0]), h1 = min(h + p->win[1], p->in[1]), w1 = min(w + p->win[2], p->in[2]);
    float m[DN_PV];
    dn_pool_start<MODE>(m);
    for (int i = max(d, 0); i < d1; i++)
        for (int j = max(h, 0); j < h1; j++) {
            const dn_t *row = x + ((i * p->in[1] + j) * p->in[2]) * p->c;
#pragma unroll 4
            for (int k = max(w, 0); k < w1; k++) {
                float f[DN_PV];
                dn_unit_get(dn_unit_load(row + k * p->c), f);
                dn_pool_add<MODE>(m, f);
            }
        }
    dn_pool_emit<MODE>(p, y + (s->y * p->out_size[2] + s->x) * p->c, m, d, h, w);
}

#if defined(ONE)
template <int K, int S, int N, int MODE> DN_FN void dn_line_row(const dn_pool_fast *p, const dn_t *x, int h, int w, float *m)
{
    const float outside = MODE == DN_POOL_AVERAGE ? 0.0f : -DN_INF;
    float v[N + 2];
    bool in = dn_line_load<K, S, N>(p, x, h, w, outside, v);
#pragma unroll
    for (int o = 0; o < N / S; o++) {
        m[o] = outside;
#pragma unroll
        for (int k = 0; k < K; k++)
            m[o] = in ? dn_pool_join<MODE>(m[o], v[DN_LINE_AT(K, S, o, k)]) : outside;
    }
}

/* dn_pool_strip for the outputs of N neighbours. */
template <int K, int S, int N, int MODE> DN_FN void dn_line_strip(const dn_pool_fast *p, const dn_pool_spot *s, const dn_t *x, dn_t *y)
{
    enum { KEPT = K > S ? K - S : 0, OUTS = N / S };
    float kept[KEPT + 1][OUTS];
    int first = s->y * p->strip, h = first * S - p->pad[1], w = s->x * N;
#pragma unroll
    for (int k = 0; k < KEPT; k++)
        dn_line_row<K, S, N, MODE>(p, x, h + k, w, kept[k]);
    for (int i = 0; i < p->strip && first + i < p->out_size[1]; i++, h += S) {
        float row[K][OUTS], m[OUTS];
#pragma unroll
        for (int k = KEPT; k < K; k++)
            dn_line_row<K, S, N, MODE>(p, x, h + k, w, row[k]);
        int rows = dn_pool_counted(p, 1, h);
#pragma unroll
        for (int o = 0; o < OUTS; o++) {
#pragma unroll
            for (int k = 0; k < KEPT; k++)
                row[k][o] = kept[k][o];
            m[o] = row[0][o];
#pragma unroll
            for (int k = 1; k < K; k++)
                m[o] = dn_pool_join<MODE>(m[o], row[k][o]);
#pragma unroll
            for (int k = 0; k < KEPT; k++)
                kept[k][o] = row[k + S][o];
            if (MODE == DN_POOL_AVERAGE)
                m[o] *= 1.0f / (float)(rows * dn_pool_counted(p, 2, w + o * S - p->pad[2]));
        }
        dn_line_store<OUTS>(p, y + (first + i) * p->out_size[2] + w / S, m);
    }
}

template <int N, int MODE> DN_FN void dn_line_fwd(const dn_pool_fast *p, const dn_pool_spot *s, const dn_t *x, dn_t *y)
{
    switch (p->form) {
    case DN_POOL_2S2: dn_line_strip<2, 2, N, MODE>(p, s, x, y); break;
    case DN_POOL_3S2: dn_line_strip<3, 2, N, MODE>(p, s, x, y); break;
    default: dn_line_strip<3, 1, N, MODE>(p, s, x, y); break;
    }
}
#endif

template <int MODE> DN_FN void dn_pool_fwd(const dn_pool_fast *p)
{
    dn_u32 t = blockIdx.x * (dn_u32)DN_POOL_THREADS + threadIdx.x;
    if (t >= p->threads)
        return;
    dn_pool_spot s = dn_pool_spot_of(p, t);
    const dn_t *x = (const dn_t *)p->x + s.n * ((dn_s64)p->in[0] * p->in[1] * p->in[2] * p->c) + s.unit;
    dn_t *y = (dn_t *)p->out + s.plane * ((dn_s64)p->out_size[1] * p->out_size[2] * p->c) + s.unit;
#if defined(ONE)
    if (p->line) {
        if (p->line == DN_VN)
            dn_line_fwd<DN_VN, MODE>(p, &s, x, y);
        else
            dn_line_fwd<4, MODE>(p, &s, x, y);
        return;
    }
#endif
    switch (p->form) {
    case DN_POOL_2S2: dn_pool_strip<2, 2, MODE>(p, &s, x, y); break;
    case DN_POOL_3S2: dn_pool_strip<3, 2, MODE>(p, &s, x, y); break;
    case DN_POOL_3S1: dn_pool_strip<3, 1, MODE>(p, &s, x, y); break;
    default: dn_pool_general<MODE>(p, &s, x, y); break;
    }
}

extern "C" __global__ void __launch_bounds__(DN_POOL_THREADS, 3) KERNEL(const __grid_constant__ dn_pool_fast p)
{
    switch (p.mode) {
    case DN_POOL_AVERAGE: dn_pool_fwd<DN_POOL_AVERAGE>(&p); break;
    case DN_POOL_MAX: dn_pool_fwd<DN_POOL_MAX>(&p); break;
    default: dn_pool_fwd<DN_POOL_MAX_NAN>(&p); break;
    }
}

/* --- one window over all of the input --- */
/* What threads of a block tell each other. */
typedef float (*dn_pool_shared)[DN_PV + 1];

#if defined(ONE)
/* A block takes p.strip planes, p.team threads each. They come through shared memory where they are whole vectors together and fit (staged);
 * each plane is read from another place on, since planes of many sizes would all begin in the same bank. */
template <int MODE> DN_FN void dn_pool_whole(const dn_pool_fast *p, dn_pool_shared sh)
{
#if defined(DN_EMULATED)
    uint4 *staged = (uint4 *)emu_shared;
#else
    extern __shared__ uint4 staged[];
#endif
    int size = p->in[0] * p->in[1] * p->in[2], t = (int)threadIdx.x, local = t / p->team, lane = t & (p->team - 1);
    dn_u32 first = blockIdx.x * (dn_u32)p->strip;
    const dn_t *x = (const dn_t *)p->x + (dn_s64)first * size;
    if (p->staged) {
        int vectors = min(p->strip, (int)(p->threads - first)) * size / DN_VN;
        for (int i = t; i < vectors; i += DN_POOL_THREADS)
            staged[i] = __ldcs((const uint4 *)x + i);
        __syncthreads();
        x = (const dn_t *)staged;
    }
    float m;
    dn_pool_start<MODE>(&m);
    if (first + (dn_u32)local < p->threads) {
        const dn_t *plane = x + local * size;
        int from = p->staged ? 2 * local % size : 0;
        for (int i = lane; i < size; i += p->team) {
            int at = i + from;
            m = dn_pool_join<MODE>(m, dn_t_get(plane[at < size ? at : at - size]));
        }
    }
    for (int o = (p->team < 32 ? p->team : 32) / 2; o > 0; o /= 2)
        m = dn_pool_join<MODE>(m, __shfl_xor_sync(0xffffffffu, m, o));
    if (p->team > 32) {
        if (t % 32 == 0)
            sh[t / 32][0] = m;
        __syncthreads();
        for (int w = 1; lane == 0 && w < p->team / 32; w++)
            m = dn_pool_join<MODE>(m, sh[t / 32 + w][0]);
    }
    if (lane == 0 && first + (dn_u32)local < p->threads)
        dn_pool_emit<MODE>(p, (dn_t *)p->out + first + local, &m, -p->pad[0], -p->pad[1], -p->pad[2]);
}
#else
/* A block takes p.strip vectors of channels of one image; its rows of threads share the positions. */
template <int MODE> DN_FN void dn_pool_whole(const dn_pool_fast *p, dn_pool_shared sh)
{
    enum { U = 4 };
    int t = (int)threadIdx.x, across = t % p->strip, y = t / p->strip, ny = DN_POOL_THREADS / p->strip;
    int size = p->in[0] * p->in[1] * p->in[2], columns = ((int)p->units.by + p->strip - 1) / p->strip;
    int n = (int)(blockIdx.x / (dn_u32)columns), unit = (int)(blockIdx.x % (dn_u32)columns) * p->strip + across;
    bool on = y < ny && unit < (int)p->units.by;
    const dn_t *x = (const dn_t *)p->x + (dn_s64)n * size * p->c + unit * DN_PV;
    float m[DN_PV];
    dn_pool_start<MODE>(m);
    for (int i = y; on && i < size; i += ny * U) {
        dn_raw_unit u[U];
#pragma unroll
        for (int k = 0; k < U; k++)
            if (i + k * ny < size)
                u[k] = dn_vec_last(x + (dn_s64)(i + k * ny) * p->c);
#pragma unroll
        for (int k = 0; k < U; k++)
            if (i + k * ny < size) {
                float f[DN_PV];
                dn_unit_get(u[k], f);
                dn_pool_add<MODE>(m, f);
            }
    }
#pragma unroll
    for (int e = 0; e < DN_PV; e++)
        sh[t][e] = m[e];
    __syncthreads();
    if (!on || y)
        return;
    for (int j = 1; j < ny; j++)
        dn_pool_add<MODE>(m, sh[j * p->strip + t]);
    dn_pool_emit<MODE>(p, (dn_t *)p->out + (dn_s64)n * p->c + unit * DN_PV, m, -p->pad[0], -p->pad[1], -p->pad[2]);
}
#endif

extern "C" __global__ void __launch_bounds__(DN_POOL_THREADS, 4) KERNEL_WHOLE(const __grid_constant__ dn_pool_fast p)
{
    __shared__ float sh[DN_POOL_THREADS][DN_PV + 1];
    switch (p.mode) {
    case DN_POOL_AVERAGE: dn_pool_whole<DN_POOL_AVERAGE>(&p, sh); break;
    case DN_POOL_MAX: dn_pool_whole<DN_POOL_MAX>(&p, sh); break;
    default: dn_pool_whole<DN_POOL_MAX_NAN>(&p, sh); break;
    }
}
