/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Pooling forward: a thread makes a strip of outputs, one below the other, of some channels; what two windows of the strip have in common
 * is put together once. The including file names T_*, perhaps ONE, KERNEL, KERNEL_MAX and KERNEL_WHOLE. */
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

template <int MODE> DN_FN float dn_pool_join(float a, float b)
{
    return MODE == DN_POOL_AVERAGE ? a + b : dn_pool_max_of<MODE == DN_POOL_MAX_NAN>(a, b);
}

template <int MODE> DN_FN void dn_pool_add(float *m, const float *v)
{
#pragma unroll
    for (int e = 0; e < DN_PV; e++)
        m[e] = dn_pool_join<MODE>(m[e], v[e]);
}

/* What lies outside: 0 for a sum, -infinity for a maximum. */
template <int MODE> DN_FN dn_raw_unit dn_pool_outside(void)
{
    dn_u32 w = MODE == DN_POOL_AVERAGE ? 0 : (dn_u32)DN_POOL_LEAST_WORD;
#if !defined(ONE)
    return make_uint4(w, w, w, w);
#elif defined(T_F32)
    return __uint_as_float(w);
#else
    return (dn_t)w;
#endif
}

/* K columns from w on of row h of the plane at x. */
template <int K, int MODE> DN_FN void dn_pool_fetch(const dn_pool_fast *p, const dn_t *x, int h, int w, dn_raw_unit *u)
{
    const dn_t *row = x + (h * p->in[2] + w) * p->c;
    bool in = (unsigned)h < (unsigned)p->in[1];
#pragma unroll
    for (int k = 0; k < K; k++) {
        u[k] = dn_pool_outside<MODE>();
        if (in && (unsigned)(w + k) < (unsigned)p->in[2])
            u[k] = dn_unit_load(row + k * p->c);
    }
}

template <int K, int MODE> DN_FN void dn_pool_row(const dn_raw_unit *u, float *m)
{
    dn_pool_start<MODE>(m);
#pragma unroll
    for (int k = 0; k < K; k++) {
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

/* Windows of K x K at stride S, no depth. All that a row of outputs needs is asked for before it is used. */
template <int K, int S, int MODE> DN_FN void dn_pool_strip(const dn_pool_fast *p, const dn_pool_spot *s, const dn_t *x, dn_t *y)
{
    enum { KEPT = K > S ? K - S : 0, NEW = K - KEPT };
    float kept[KEPT + 1][DN_PV];
    dn_raw_unit u[NEW][K];
    int first = s->y * p->strip, h = first * S - p->pad[1], w = s->x * S - p->pad[2];
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
        dn_pool_fetch<K, MODE>(p, x, h + k, w, u[0]);
        dn_pool_row<K, MODE>(u[0], kept[k]);
    }
    for (int i = 0; i < p->strip && first + i < p->out_size[1]; i++, h += S) {
        float row[NEW][DN_PV], m[DN_PV];
#pragma unroll
        for (int k = 0; k < NEW; k++)
            dn_pool_fetch<K, MODE>(p, x, h + KEPT + k, w, u[k]);
        dn_pool_start<MODE>(m);
#pragma unroll
        for (int k = 0; k < KEPT; k++)
            dn_pool_add<MODE>(m, kept[k]);
#pragma unroll
        for (int k = 0; k < NEW; k++) {
            dn_pool_row<K, MODE>(u[k], row[k]);
            dn_pool_add<MODE>(m, row[k]);
        }
#pragma unroll
        for (int k = 0; k < KEPT; k++)
#pragma unroll
            for (int e = 0; e < DN_PV; e++)
                kept[k][e] = k + S < KEPT ? kept[k + S < KEPT ? k + S : 0][e] : row[k + S < KEPT ? 0 : k + S - KEPT][e];
        dn_pool_emit<MODE>(p, y + ((first + i) * p->out_size[2] + s->x) * p->c, m, 0, h, w);
    }
}

#if !defined(ONE)
template <int K, int NANS> DN_FN void dn_max_join(const uint4 *u, dn_u32 *m)
{
    m[0] = u[0].x;
    m[1] = u[0].y;
    m[2] = u[0].z;
    m[3] = u[0].w;
#pragma unroll
    for (int k = 1; k < K; k++) {
        m[0] = dn_pool_max_word<NANS>(m[0], u[k].x);
        m[1] = dn_pool_max_word<NANS>(m[1], u[k].y);
        m[2] = dn_pool_max_word<NANS>(m[2], u[k].z);
        m[3] = dn_pool_max_word<NANS>(m[3], u[k].w);
    }
}

template <int K, int NANS> DN_FN void dn_max_row(const dn_pool_fast *p, const dn_t *x, int h, int w, dn_u32 *m)
{
    uint4 u[K];
    dn_pool_fetch<K, DN_POOL_MAX>(p, x, h, w, u);
    dn_max_join<K, NANS>(u, m);
}
#endif

#if !defined(ONE)
/* Maxima of windows of K x K at stride S, no depth, channels in words. All that a row of outputs needs is asked for before it is used. */
template <int K, int S, int NANS> DN_FN void dn_max_strip(const dn_pool_fast *p, const dn_pool_spot *s, const dn_t *x, dn_t *y)
{
    enum { KEPT = K > S ? K - S : 0, NEW = K - KEPT };
    dn_u32 kept[KEPT + 1][4];
    int first = s->y * p->strip, h = first * S - p->pad[1], w = s->x * S - p->pad[2];
#pragma unroll
    for (int k = 0; k < KEPT; k++)
        dn_max_row<K, NANS>(p, x, h + k, w, kept[k]);
    for (int i = 0; i < p->strip && first + i < p->out_size[1]; i++, h += S) {
        uint4 u[NEW][K];
        dn_u32 row[NEW][4], m[4];
#pragma unroll
        for (int k = 0; k < NEW; k++)
            dn_pool_fetch<K, DN_POOL_MAX>(p, x, h + KEPT + k, w, u[k]);
#pragma unroll
        for (int k = 0; k < NEW; k++)
            dn_max_join<K, NANS>(u[k], row[k]);
#pragma unroll
        for (int e = 0; e < 4; e++) {
            m[e] = DN_POOL_LEAST_WORD;  /* also what a window of nothing but NaN has */
#pragma unroll
            for (int k = 0; k < K; k++)
                m[e] = dn_pool_max_word<NANS>(m[e], k < KEPT ? kept[k][e] : row[k < KEPT ? 0 : k - KEPT][e]);
#pragma unroll
            for (int k = 0; k < KEPT; k++)
                kept[k][e] = k + S < KEPT ? kept[k + S < KEPT ? k + S : 0][e] : row[k + S < KEPT ? 0 : k + S - KEPT][e];
        }
        dn_t *to = y + ((first + i) * p->out_size[2] + s->x) * p->c;
        if (p->plain) {
            __stcs((uint4 *)to, make_uint4(m[0], m[1], m[2], m[3]));
        } else {
            float f[DN_PV];
            dn_vec_get(make_uint4(m[0], m[1], m[2], m[3]), f);
            dn_unit_store(p, to, f);
        }
    }
}
#endif

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
/* Maxima of the outputs of N neighbours: first down the columns, then across. */
template <int K, int S, int N, int NANS> DN_FN void dn_line_max(const dn_pool_fast *p, const dn_pool_spot *s, const dn_t *x, dn_t *y)
{
    enum { KEPT = K > S ? K - S : 0, NEW = K - KEPT, W = N * (int)sizeof(dn_t) / 4 };
    dn_line_words<W> kept[KEPT + 1];
    int first = s->y * p->strip, h = first * S - p->pad[1], w = s->x * N;
#pragma unroll
    for (int k = 0; k < KEPT; k++)
        dn_line_fetch<K, S, N>(p, x, h + k, w, DN_POOL_LEAST_WORD, &kept[k]);
    for (int i = 0; i < p->strip && first + i < p->out_size[1]; i++, h += S) {
        dn_line_words<W> row[NEW], m;
        dn_u32 out[W];
#pragma unroll
        for (int k = 0; k < NEW; k++)
            dn_line_fetch<K, S, N>(p, x, h + KEPT + k, w, DN_POOL_LEAST_WORD, &row[k]);
#pragma unroll
        for (int e = 0; e < W + 2; e++) {
            m.w[e] = DN_POOL_LEAST_WORD;  /* also what a window of nothing but NaN has */
#pragma unroll
            for (int k = 0; k < K; k++)
                m.w[e] = dn_pool_max_word<NANS>(m.w[e], k < KEPT ? kept[k].w[e] : row[k < KEPT ? 0 : k - KEPT].w[e]);
#pragma unroll
            for (int k = 0; k < KEPT; k++)
                kept[k].w[e] = k + S < KEPT ? kept[k + S < KEPT ? k + S : 0].w[e] : row[k + S < KEPT ? 0 : k + S - KEPT].w[e];
        }
        dn_line_across<K, S, W, NANS>(m.w, out);
        dn_line_emit<N / S>(p, y + (first + i) * p->out_size[2] + w / S, out);
    }
}

/* Sums of K neighbours in a row. */
template <int K, int S, int N> DN_FN void dn_line_sum(const dn_line_words<N * (int)sizeof(dn_t) / 4> *row, float *m)
{
    float v[N + 2];
    dn_line_floats<N>(row, v);
#pragma unroll
    for (int o = 0; o < N / S; o++) {
        m[o] = v[DN_LINE_AT(K, S, o, 0)];
#pragma unroll
        for (int k = 1; k < K; k++)
            m[o] += v[DN_LINE_AT(K, S, o, k)];
    }
}

/* Averages of the outputs of N neighbours. */
template <int K, int S, int N> DN_FN void dn_line_average(const dn_pool_fast *p, const dn_pool_spot *s, const dn_t *x, dn_t *y)
{
    enum { KEPT = K > S ? K - S : 0, NEW = K - KEPT, OUTS = N / S, W = N * (int)sizeof(dn_t) / 4 };
    float kept[KEPT + 1][OUTS], share[OUTS];
    int first = s->y * p->strip, h = first * S - p->pad[1], w = s->x * N;
    dn_line_words<W> raw[NEW];
#pragma unroll
    for (int o = 0; o < OUTS; o++)
        share[o] = 1.0f / (float)dn_pool_counted(p, 2, w + o * S - p->pad[2]);
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
        dn_line_fetch<K, S, N>(p, x, h + k, w, 0, &raw[0]);
        dn_line_sum<K, S, N>(&raw[0], kept[k]);
    }
    for (int i = 0; i < p->strip && first + i < p->out_size[1]; i++, h += S) {
        float row[NEW][OUTS], m[OUTS];
        float down = 1.0f / (float)dn_pool_counted(p, 1, h);
#pragma unroll
        for (int k = 0; k < NEW; k++)
            dn_line_fetch<K, S, N>(p, x, h + KEPT + k, w, 0, &raw[k]);
#pragma unroll
        for (int k = 0; k < NEW; k++)
            dn_line_sum<K, S, N>(&raw[k], row[k]);
#pragma unroll
        for (int o = 0; o < OUTS; o++) {
            m[o] = 0.0f;
#pragma unroll
            for (int k = 0; k < K; k++)
                m[o] += k < KEPT ? kept[k][o] : row[k < KEPT ? 0 : k - KEPT][o];
#pragma unroll
            for (int k = 0; k < KEPT; k++)
                kept[k][o] = k + S < KEPT ? kept[k + S < KEPT ? k + S : 0][o] : row[k + S < KEPT ? 0 : k + S - KEPT][o];
            m[o] *= down * share[o];
        }
        dn_line_store<OUTS>(p, y + (first + i) * p->out_size[2] + w / S, m);
    }
}

template <int N> DN_FN void dn_pool_lines(const dn_pool_fast *p, const dn_pool_spot *s, const dn_t *x, dn_t *y)
{
    switch (p->form) {
    case DN_POOL_2S2: dn_line_average<2, 2, N>(p, s, x, y); break;
    case DN_POOL_3S2: dn_line_average<3, 2, N>(p, s, x, y); break;
    default: dn_line_average<3, 1, N>(p, s, x, y); break;
    }
}
#endif

/* Where the thread's inputs and outputs are; false where it has none. */
DN_FN bool dn_pool_begin(const dn_pool_fast *p, dn_pool_spot *s, const dn_t **x, dn_t **y)
{
    dn_u32 t = blockIdx.x * (dn_u32)DN_POOL_THREADS + threadIdx.x;
    if (t >= p->threads)
        return false;
    *s = dn_pool_spot_of(p, t);
    *x = (const dn_t *)p->x + s->n * ((dn_s64)p->in[0] * p->in[1] * p->in[2] * p->c) + s->unit;
    *y = (dn_t *)p->out + s->plane * ((dn_s64)p->out_size[1] * p->out_size[2] * p->c) + s->unit;
    return true;
}

template <int MODE> DN_FN void dn_pool_fwd(const dn_pool_fast *p)
{
    dn_pool_spot s;
    const dn_t *x;
    dn_t *y;
    if (!dn_pool_begin(p, &s, &x, &y))
        return;
#if defined(ONE)
    if (MODE == DN_POOL_AVERAGE && p->line) {
        if (p->line == DN_VN)
            dn_pool_lines<DN_VN>(p, &s, x, y);
        else
            dn_pool_lines<4>(p, &s, x, y);
        return;
    }
#endif
    if (p->form == DN_POOL_GENERAL) {
        dn_pool_general<MODE>(p, &s, x, y);
    } else if (MODE == DN_POOL_AVERAGE || DN_PV == 1) {  /* else in words, below */
        switch (p->form) {
        case DN_POOL_2S2: dn_pool_strip<2, 2, MODE>(p, &s, x, y); break;
        case DN_POOL_3S2: dn_pool_strip<3, 2, MODE>(p, &s, x, y); break;
        default: dn_pool_strip<3, 1, MODE>(p, &s, x, y); break;
        }
    }
}

extern "C" __global__ void __launch_bounds__(DN_POOL_THREADS, DN_PV == 1 ? 4 : 3) KERNEL(const __grid_constant__ dn_pool_fast p)
{
    switch (p.mode) {
    case DN_POOL_AVERAGE: dn_pool_fwd<DN_POOL_AVERAGE>(&p); break;
    case DN_POOL_MAX: dn_pool_fwd<DN_POOL_MAX>(&p); break;
    default: dn_pool_fwd<DN_POOL_MAX_NAN>(&p); break;
    }
}

/* --- maxima in words: windows of DN_POOL_2S2 and so on --- */
template <int K, int S, int NANS> DN_FN void dn_pool_max(const dn_pool_fast *p)
{
    dn_pool_spot s;
    const dn_t *x;
    dn_t *y;
    if (!dn_pool_begin(p, &s, &x, &y))
        return;
#if defined(ONE)
    if (p->line == DN_VN)
        dn_line_max<K, S, DN_VN, NANS>(p, &s, x, y);
    else
        dn_line_max<K, S, 4, NANS>(p, &s, x, y);
#else
    dn_max_strip<K, S, NANS>(p, &s, x, y);
#endif
}

template <int NANS> DN_FN void dn_pool_maxima(const dn_pool_fast *p)
{
    switch (p->form) {
    case DN_POOL_2S2: dn_pool_max<2, 2, NANS>(p); break;
    case DN_POOL_3S2: dn_pool_max<3, 2, NANS>(p); break;
    default: dn_pool_max<3, 1, NANS>(p); break;
    }
}

extern "C" __global__ void __launch_bounds__(DN_POOL_THREADS, 4) KERNEL_MAX(const __grid_constant__ dn_pool_fast p)
{
    if (p.mode == DN_POOL_MAX_NAN)
        dn_pool_maxima<1>(&p);
    else
        dn_pool_maxima<0>(&p);
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
