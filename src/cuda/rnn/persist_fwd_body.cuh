/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Forward: all steps of a layer in one launch. What a lane keeps from step to step: h and c of its units and batch elements, and the gates'
 * input parts of the next step, which are under way while a step is computed. */
#define ROWS GATES
#define FEEDS 1
#if defined(RNN_GRID)
#include "cuda/rnn/persist_grid.cuh"
#else
#include "cuda/rnn/persist_step.cuh"
#endif
#include "cuda/rnn/persist_cell.cuh"

#define AHEAD 4 /* steps that the input parts are fetched to the L2 cache before they are read */

/* Of N blocks of 8 batch elements; two units. */
template <int N> struct rnn_lane {
    float h[N][2], c[N][2];
    float in[N][SLOTS][2];  /* input parts, and once a step is computed what the reserve space keeps of it */
    int length[N];  /* 0 where there is no such batch element or unit */
    float bias_n[2];
    /* Of block a->first at the step under way, and from one step to the next, in elements. */
    float *gates, *cell;
    rnn_data *out;
    long long gates_step, cell_step, out_step;
};

template <int N> DN_FN void rnn_lane_begin(const dn_rnn_persist *p, const rnn_place *a, rnn_lane<N> *l)
{
    bool unit = a->unit < p->hidden;
    long long row = rnn_row(p, a, rnn_time(p, a->dir, 0), a->first), rows = a->dir ? -p->batches : p->batches;
    l->gates_step = rows * p->gates_ld;
    l->cell_step = rows * p->hidden;
    l->out_step = rows * (p->directions * p->hidden);
    l->gates = p->gates + a->dir * p->gates_pitch + row * p->gates_ld + a->unit;
    l->cell = p->cell + a->dir * p->cell_pitch + row * p->hidden + a->unit;
    l->out = (rnn_data *)p->out + row * (p->directions * p->hidden) + a->dir * p->hidden + a->unit;
    const float *bias = (const float *)p->bias_n[a->dir];
    l->bias_n[0] = l->bias_n[1] = 0;
    if (GATES == 3 && bias && unit)
        load_two(bias + a->unit, l->bias_n);
#pragma unroll
    for (int n = 0; n < N; n++) {
        int b = rnn_batch(a, a->first + n);
        l->length[n] = 0;
        l->h[n][0] = l->h[n][1] = l->c[n][0] = l->c[n][1] = 0;
        if (!unit || b >= p->batches)
            continue;
        l->length[n] = p->full ? p->steps : p->lengths[b];
        widen_two((const rnn_data *)p->h + rnn_state_at(p, a, b), l->h[n]);
        if (GATES == 4)
            load_two(p->c + rnn_state_at(p, a, b), l->c[n]);
    }
}

template <int N> DN_FN void rnn_lane_end(const dn_rnn_persist *p, const rnn_place *a, const rnn_lane<N> *l)
{
#pragma unroll
    for (int n = 0; n < N; n++) {
        int b = rnn_batch(a, a->first + n);
        if (a->unit >= p->hidden || b >= p->batches)
            continue;
        store_two((rnn_data *)p->h + rnn_state_at(p, a, b), l->h[n]);
        if (GATES == 4)
            *(float2 *)(p->c + rnn_state_at(p, a, b)) = make_float2(l->c[n][0], l->c[n][1]);
    }
}

/* The input parts of time t, at `gates`, to registers. */
template <int N> DN_FN void rnn_fetch(const dn_rnn_persist *p, int t, const float *gates, rnn_lane<N> *l)
{
#pragma unroll
    for (int n = 0; n < N; n++)
        if (t < l->length[n]) {
            const float *from = gates + (long long)(n * 8) * p->gates_ld;
#pragma unroll
            for (int q = 0; q < GATES; q++)
                load_two(from + q * p->hidden, l->in[n][q]);
        }
}

/* Those of a later time to the L2 cache: a lane has one gate of one batch element. */
template <int N> DN_FN void rnn_fetch_far(const dn_rnn_persist *p, const rnn_place *a, int t, const float *gates, const rnn_lane<N> *l)
{
#pragma unroll
    for (int n = 0; n < N; n++)
        if (a->c < GATES && t >= 0 && t < l->length[n])
            prefetch_l2(gates + (long long)(n * 8) * p->gates_ld + a->c * p->hidden - a->c * 2);
}

/* Block n of the lane at time t. s: products by gate and unit. */
template <int N> DN_FN void rnn_cells(const dn_rnn_persist *p, int t, int n, const float (&s)[GATES][2], rnn_lane<N> *l)
{
    if (t >= l->length[n])
        return;
#pragma unroll
    for (int e = 0; e < 2; e++) {
        float in[GATES], v[SLOTS];
#pragma unroll
        for (int q = 0; q < GATES; q++) {
            in[q] = l->in[n][q][e];
            v[q] = s[q][e];
        }
        rnn_cell(p, in, l->bias_n[e], v, &l->h[n][e], &l->c[n][e]);
#pragma unroll
        for (int q = 0; q < SLOTS; q++)
            l->in[n][q][e] = v[q];
    }
}

/* h' of time t to memory, and what training keeps. */
template <int N> DN_FN void rnn_keep(const dn_rnn_persist *p, const rnn_place *a, int t, const rnn_lane<N> *l)
{
    const float zeros[2] = { 0, 0 };
#pragma unroll
    for (int n = 0; n < N; n++) {
        if (a->unit >= p->hidden || rnn_batch(a, a->first + n) >= p->batches)
            continue;
        bool there = t < l->length[n];
        rnn_data *out = l->out + (long long)(n * 8) * (p->directions * p->hidden);
        if (there)
            store_two(out, l->h[n]);
        else
            store_two(out, zeros);
        if (!there || !p->train)
            continue;
        float *to = l->gates + (long long)(n * 8) * p->gates_ld;
#pragma unroll
        for (int q = 0; q < SLOTS; q++)
            *(float2 *)(to + q * p->hidden) = make_float2(l->in[n][q][0], l->in[n][q][1]);
        if (GATES == 4)
            *(float2 *)(l->cell + (long long)(n * 8) * p->hidden) = make_float2(l->c[n][0], l->c[n][1]);
    }
}

template <int NT, int SPLIT> DN_FN void rnn_forward(const dn_rnn_persist *p, dn_u8 *shared)
{
    enum { N = OWN(NT, SPLIT) };
    rnn_place a = rnn_place_of<NT, SPLIT>(p, shared_address(shared));
    const int back = a.dir;
    rnn_weights<NT, SPLIT> w;
    rnn_load<NT, SPLIT>(p, &a, &w);
    rnn_lane<N> l;
    if (a.own) {
        rnn_lane_begin<N>(p, &a, &l);
        rnn_fetch<N>(p, rnn_time(p, back, 0), l.gates, &l);
    }
    rnn_begin(p, &a);
    for (int step = 0; step < p->steps; step++) {
        int t = rnn_time(p, back, step);
        float s[N][ROWS][2];
        rnn_gather<NT, SPLIT>(p, &a, &w, step, s);
        if (a.own)
#pragma unroll
            for (int n = 0; n < N; n++) {
                rnn_cells<N>(p, t, n, s[n], &l);
                rnn_stage(p, &a, step, 0, a.first + n, l.h[n]);
            }
        if (step + 1 < p->steps)
            rnn_scatter<NT, SPLIT>(p, &a, &w, step);
        if (!a.own)
            continue;
        rnn_keep<N>(p, &a, t, &l);
        if (step + 1 < p->steps)
            rnn_fetch<N>(p, rnn_time(p, back, step + 1), l.gates + l.gates_step, &l);
        rnn_fetch_far<N>(p, &a, rnn_time(p, back, step + AHEAD), l.gates + AHEAD * l.gates_step, &l);
        l.gates += l.gates_step;
        l.cell += l.cell_step;
        l.out += l.out_step;
    }
    if (a.own)
        rnn_lane_end<N>(p, &a, &l);
    rnn_end();
}

#define RNN_KERNEL(name, blocks, split)                                                            \
    extern "C" __global__ void __launch_bounds__(256, 1) name(const __grid_constant__ dn_rnn_persist p) \
    {                                                                                              \
        extern __shared__ __align__(128) dn_u8 shared[];                                           \
        rnn_forward<blocks, split>(&p, shared);                                                    \
    }
