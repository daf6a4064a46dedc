/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Backward data: all steps of a layer in one launch, against the order of the forward pass. The states are the gradients by the gates, whose
 * product with the transposed weights is the gradient by the h' of the step before. What a lane keeps: that part of the gradient by h'
 * which comes past the product (masked steps, GRU), the gradient by c', and the next step's values of the reserve space, under way while
 * a step is computed. Reserve space and formulas: ops/rnn.h. */
#define RNN_BACKWARD
#define ROWS 1
#define FEEDS GATES
#if defined(RNN_GRID)
#include "cuda/rnn/persist_grid.cuh"
#else
#include "cuda/rnn/persist_scatter.cuh"
#endif
#include "cuda/rnn/persist_cell.cuh"

#define AHEAD 4 /* steps that the gates are fetched to the L2 cache before they are read */

/* Of N blocks of 8 batch elements; two units. */
template <int N> struct rnn_lane {
    float dh[N][2], dc[N][2];
    float c[N][2];           /* LSTM: c' of the step under way */
    float gate[N][SLOTS][2]; /* and once a step is computed the gradients by them, by slot */
    float dout[N][2];
    float before[N][2];      /* LSTM: c, GRU: h before the step */
    int length[N];           /* 0 where there is no such batch element or unit */
};

template <int N> DN_FN void rnn_lane_begin(const dn_rnn_persist *p, const rnn_place *a, rnn_lane<N> *l)
{
#pragma unroll
    for (int n = 0; n < N; n++) {
        int b = rnn_batch(a, a->first + n);
        l->length[n] = 0;
        l->dh[n][0] = l->dh[n][1] = l->dc[n][0] = l->dc[n][1] = l->c[n][0] = l->c[n][1] = 0;
        if (a->unit >= p->hidden || b >= p->batches)
            continue;
        int length = p->full ? p->steps : p->lengths[b];
        l->length[n] = length;
        load_two(p->dh + rnn_state_at(p, a, b), l->dh[n]);
        if (GATES == 4) {
            load_two(p->dc + rnn_state_at(p, a, b), l->dc[n]);
            if (length > 0)
                load_two(p->cell + a->dir * p->cell_pitch + (long long)rnn_row(p, a, a->dir ? 0 : length - 1, a->first + n) * p->hidden + a->unit,
                         l->c[n]);
        }
    }
}

template <int N> DN_FN void rnn_lane_end(const dn_rnn_persist *p, const rnn_place *a, const rnn_lane<N> *l)
{
#pragma unroll
    for (int n = 0; n < N; n++) {
        int b = rnn_batch(a, a->first + n);
        if (a->unit >= p->hidden || b >= p->batches)
            continue;
        *(float2 *)(p->dh + rnn_state_at(p, a, b)) = make_float2(l->dh[n][0], l->dh[n][1]);
        if (GATES == 4)
            *(float2 *)(p->dc + rnn_state_at(p, a, b)) = make_float2(l->dc[n][0], l->dc[n][1]);
    }
}

/* c or h before time t: of the step before, or the initial state. */
DN_FN void rnn_before(const dn_rnn_persist *p, const rnn_place *a, int t, int n, int length, float (&v)[2])
{
#if !defined(RNN_PLAIN)
    int earlier = a->dir ? t + 1 : t - 1;
    bool there = a->dir ? earlier < length : earlier >= 0;
    long long state = rnn_state_at(p, a, rnn_batch(a, n)), row = rnn_row(p, a, earlier, n);
#endif
#if defined(RNN_LSTM)
    load_two(there ? p->cell + a->dir * p->cell_pitch + row * p->hidden + a->unit : p->c + state, v);
#elif defined(RNN_GRU)
    const rnn_data *out = (const rnn_data *)p->out + row * (p->directions * p->hidden) + a->dir * p->hidden + a->unit;
    widen_two(there ? out : (const rnn_data *)p->h + state, v);
#endif
}

/* What time t needs to registers. */
template <int N> DN_FN void rnn_fetch(const dn_rnn_persist *p, const rnn_place *a, int t, rnn_lane<N> *l)
{
    const float *gates = p->gates + a->dir * p->gates_pitch + a->unit, *dout = p->dout + a->dir * p->hidden + a->unit;
#pragma unroll
    for (int n = 0; n < N; n++)
        if (t < l->length[n]) {
            long long row = rnn_row(p, a, t, a->first + n);
#pragma unroll
            for (int q = 0; q < SLOTS; q++)
                load_two(gates + row * p->gates_ld + q * p->hidden, l->gate[n][q]);
            load_two(dout + row * (p->directions * p->hidden), l->dout[n]);
            rnn_before(p, a, t, a->first + n, l->length[n], l->before[n]);
        }
}

/* That of a later time to the L2 cache: a lane has one slot of one batch element. */
template <int N> DN_FN void rnn_fetch_far(const dn_rnn_persist *p, const rnn_place *a, int t, const rnn_lane<N> *l)
{
    const float *gates = p->gates + a->dir * p->gates_pitch + a->c * p->hidden + a->unit - a->c * 2;
    const float *dout = p->dout + a->dir * p->hidden + a->unit - a->c * 2;
#pragma unroll
    for (int n = 0; n < N; n++)
        if (t >= 0 && t < l->length[n]) {
            long long row = rnn_row(p, a, t, a->first + n);
            if (a->c < SLOTS)
                prefetch_l2(gates + row * p->gates_ld);
            if (a->c == 0)
                prefetch_l2(dout + row * (p->directions * p->hidden));
#if defined(RNN_LSTM)
            if (a->c == 1 && !a->dir && t > 0)
                prefetch_l2(p->cell + (row - p->batches) * p->hidden + a->unit - 2);
#endif
        }
}

/* The gradients by the gates: v, by slot. dh, dc: by h' and c' on entry; on return what goes past the product, and the gradient by c. */
DN_FN void rnn_cell_back(const dn_rnn_persist *p, const float (&gate)[SLOTS], float c, float before, float *dh, float *dc, float (&v)[SLOTS])
{
#if defined(RNN_LSTM)
    float t = tanh_of(c), i = gate[0], f = gate[1], g = gate[2], o = gate[3], d = fmaf(*dh * o, 1 - t * t, *dc);
    if (p->clip && (c == p->clip_lo || c == p->clip_hi))
        d = 0;
    v[0] = d * g * i * (1 - i);
    v[1] = d * before * f * (1 - f);
    v[2] = d * i * (1 - g * g);
    v[3] = *dh * t * o * (1 - o);
    *dc = d * f;
    *dh = 0;
#elif defined(RNN_GRU)
    float r = gate[0], z = gate[1], n = gate[2];
    v[1] = *dh * (before - n) * z * (1 - z);
    v[2] = *dh * (1 - z) * (1 - n * n);
    v[3] = v[2] * r;
    v[0] = v[2] * gate[3] * r * (1 - r);
    *dh *= z;
#else
    v[0] = p->relu ? (gate[0] > 0 ? *dh : 0) : *dh * (1 - gate[0] * gate[0]);
    *dh = 0;
#endif
}

/* Block n of the lane at time t. s: the product. Gradients by gates are 0 where there is no such step. */
template <int N> DN_FN void rnn_cells(const dn_rnn_persist *p, int t, int n, const float (&s)[2], rnn_lane<N> *l)
{
    bool there = t < l->length[n];
#pragma unroll
    for (int e = 0; e < 2; e++) {
        float gate[SLOTS], v[SLOTS];
        l->dh[n][e] += s[e];
#pragma unroll
        for (int q = 0; q < SLOTS; q++) {
            gate[q] = l->gate[n][q][e];
            v[q] = 0;
        }
        if (there) {
            l->dh[n][e] += l->dout[n][e];
            rnn_cell_back(p, gate, l->c[n][e], l->before[n][e], &l->dh[n][e], &l->dc[n][e], v);
            l->c[n][e] = l->before[n][e];
        }
#pragma unroll
        for (int q = 0; q < SLOTS; q++)
            l->gate[n][q][e] = v[q];
    }
}

/* Gradients by the gates of time t to memory. */
template <int N> DN_FN void rnn_keep(const dn_rnn_persist *p, const rnn_place *a, int t, const rnn_lane<N> *l)
{
#pragma unroll
    for (int n = 0; n < N; n++) {
        if (a->unit >= p->hidden || rnn_batch(a, a->first + n) >= p->batches)
            continue;
        rnn_data *to = (rnn_data *)p->dgates + a->dir * p->dgates_pitch + a->unit;
        to += (long long)rnn_row(p, a, t, a->first + n) * (SLOTS * p->hidden);
#pragma unroll
        for (int q = 0; q < SLOTS; q++)
            store_two(to + q * p->hidden, l->gate[n][q]);
    }
}

template <int NT, int SPLIT> DN_FN void rnn_backward(const dn_rnn_persist *p, dn_u8 *shared)
{
    enum { N = OWN(NT, SPLIT) };
    rnn_place a = rnn_place_of<NT, SPLIT>(p, shared_address(shared));
    const int back = !a.dir;
    rnn_weights<NT, SPLIT> w;
    rnn_load<NT, SPLIT>(p, &a, &w);
    rnn_lane<N> l;
    if (a.own) {
        rnn_lane_begin<N>(p, &a, &l);
        rnn_fetch<N>(p, &a, rnn_time(p, back, 0), &l);
    }
    rnn_begin(p, &a);
    for (int step = 0;; step++) {
        int t = rnn_time(p, back, step);
        float s[N][ROWS][2];
        rnn_gather<NT, SPLIT>(p, &a, &w, step, s);
        if (step == p->steps) {
#pragma unroll
            for (int i = 0; a.own && i < N * 2; i++)
                l.dh[i / 2][i % 2] += s[i / 2][0][i % 2];
            break;
        }
        if (a.own)
#pragma unroll
            for (int n = 0; n < N; n++) {
                rnn_cells<N>(p, t, n, s[n][0], &l);
#pragma unroll
                for (int x = 0; x < FEEDS; x++)  /* a GRU's third state value is the gradient by the product of its third gate */
                    rnn_stage(p, &a, step, x, a.first + n, l.gate[n][GATES == 3 && x == 2 ? 3 : x]);
            }
        rnn_scatter<NT, SPLIT>(p, &a, &w, step);
        if (!a.own)
            continue;
        rnn_keep<N>(p, &a, t, &l);
        if (step + 1 < p->steps) {
            rnn_fetch<N>(p, &a, rnn_time(p, back, step + 1), &l);
            rnn_fetch_far<N>(p, &a, rnn_time(p, back, step + AHEAD), &l);
        }
    }
    if (a.own)
        rnn_lane_end<N>(p, &a, &l);
    rnn_end();
}

#define RNN_KERNEL(name, blocks, split)                                                            \
    extern "C" __global__ void __launch_bounds__(256, 1) name(const __grid_constant__ dn_rnn_persist p) \
    {                                                                                              \
        extern __shared__ __align__(128) dn_u8 shared[];                                           \
        rnn_backward<blocks, split>(&p, shared);                                                   \
    }
