/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The step of persist_step.cuh for layers whose weights take all SMs: blocks of the whole grid exchange the states through the L2 cache.
 *
 * A block owns S times 8 units; its 8 warps share the depth of their product for all NT blocks of 8 batch elements, add up in shared memory,
 * and finish the S NT squares of 8 units and 8 batch elements. In memory the states lie as products take them: for each step of depth and
 * 16 batch elements, 16 bytes for each lane. Two such buffers, and one counter of blocks that have stored theirs: who finds all arrived at
 * step s knows that every block has read the states of step s - 1. All blocks run at once (a cooperative launch), in groups for each direction
 * and slice of the batch that know nothing of each other. */
#ifndef DN_CUDA_RNN_PERSIST_GRID_CUH
#define DN_CUDA_RNN_PERSIST_GRID_CUH

#include "cuda/rnn/persist_weights.cuh"

enum { WARPS = DN_RNN_GRID_WARPS };

#define KEPT(nt, s) DN_RNN_GRID_KEPT(ROWS, nt, s)
#define WORDS(s) (2 * ROWS * (s))
#define TILES(nt) (((nt) + 1) / 2)
#define OWN(nt, s) (((nt) * (s) + WARPS - 1) / WARPS) /* squares that a warp finishes, all of the same units */

/* State values of one feed, those past the last unit included. */
DN_FN int rnn_all(const dn_rnn_persist *p)
{
    return (p->hidden + 2 * CHUNK - 1) / (2 * CHUNK) * (2 * CHUNK);
}

template <int NT, int S> DN_FN rnn_place rnn_place_of(const dn_rnn_persist *p, dn_u32 shared)
{
    rnn_place a;
    int square = threadIdx.x / 32 * OWN(NT, S), group = p->first + blockIdx.x / p->blocks;
    a.lane = rnn_keep_in_register(threadIdx.x % 32);
    a.depth = rnn_keep_in_register(p->depth);
    a.g = a.lane / 4;
    a.c = a.lane % 4;
    a.inverse = 0;
    a.group = blockIdx.x / p->blocks;
    a.rank = blockIdx.x % p->blocks;
    a.dir = group / p->slices;
    a.batch = group % p->slices * p->batch;
    a.batch_blocks = NT;
    a.unit_chunks = S * CHUNKS;
    a.row_warp = a.column = 0;
    a.split = threadIdx.x / 32;
    a.weights_unit = a.rank * S * 8 + a.g;
    a.unit = a.rank * S * 8 + square / NT * 8 + a.c * 2;
    a.first = square % NT;
    a.own = square < NT * S;
    a.state = a.state_bytes = a.stage = a.stage_bytes = a.arrived = 0;
    int rest = p->depth > KEPT(NT, S) ? p->depth - KEPT(NT, S) : 0;
    a.sums = shared;
    a.weights = shared + NT * S * WARPS * ROWS * 256 + (dn_u32)(a.split * rest * WORDS(S) * 128);
    return a;
}

/* --- weights --- */
template <int NT, int S> struct rnn_weights {
    dn_u32 v[KEPT(NT, S)][WORDS(S)];
};

template <int NT, int S> DN_FN void rnn_load(const dn_rnn_persist *p, const rnn_place *a, rnn_weights<NT, S> *w)
{
    rnn_weights_load<KEPT(NT, S), WORDS(S)>(p, a, rnn_all(p), a->weights, true, w->v);
}

/* --- product --- */
template <int NT, int S> struct rnn_products {
    float v[S][ROWS][TILES(NT)][4];
};

DN_FN void load_l2(const uint4 *from, dn_u32 (&v)[4])
{
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(from));
}

/* Steps of depth whose states are loaded together, as they come from far. */
#define TOGETHER 4

template <int NT> struct rnn_states {
    dn_u32 v[TOGETHER][TILES(NT)][4];
};

template <int NT> DN_FN void rnn_load_states(rnn_states<NT> *s, const uint4 *states)
{
#pragma unroll
    for (int i = 0; i < TOGETHER; i++)
#pragma unroll
        for (int m = 0; m < TILES(NT); m++)
            load_l2(states + (i * TILES(NT) + m) * 32, s->v[i][m]);
}

/* One step of depth. */
template <int NT, int S> DN_FN void rnn_multiply(rnn_products<NT, S> *d, const dn_u32 (&w)[WORDS(S)], const dn_u32 (&s)[TILES(NT)][4])
{
#pragma unroll
    for (int m = 0; m < TILES(NT); m++)
#pragma unroll
        for (int i = 0; i < S * ROWS; i++)
            multiply_add(d->v[i / ROWS][i % ROWS][m], s[m], w[2 * i], w[2 * i + 1]);
}

/* d = this warp's part of states x weights. The depth is a multiple of TOGETHER, as is KEPT. */
template <int NT, int S> DN_FN void rnn_product(const rnn_place *a, const rnn_weights<NT, S> *w, const uint4 *states, rnn_products<NT, S> *d)
{
    const int one = TILES(NT) * 32;
    rnn_states<NT> s;
#pragma unroll
    for (int i = 0; i < S * ROWS * TILES(NT) * 4; i++)
        (&d->v[0][0][0][0])[i] = 0;
    states += (long long)a->split * a->depth * one + a->lane;
#pragma unroll
    for (int k = 0; k < KEPT(NT, S); k += TOGETHER, states += TOGETHER * one)
        if (k < a->depth) {
            rnn_load_states<NT>(&s, states);
#pragma unroll
            for (int i = 0; i < TOGETHER; i++)
                rnn_multiply<NT, S>(d, w->v[k + i], s.v[i]);
        }
    dn_u32 at = a->weights;
#pragma unroll 1
    for (int k = KEPT(NT, S); k < a->depth; k += TOGETHER, states += TOGETHER * one) {
        rnn_load_states<NT>(&s, states);
#pragma unroll
        for (int i = 0; i < TOGETHER; i++, at += WORDS(S) * 128) {
            dn_u32 v[WORDS(S)];
            rnn_words_read<WORDS(S)>(at, a->lane, v);
            rnn_multiply<NT, S>(d, v, s.v[i]);
        }
    }
}

/* s = the whole sums of the warp's own squares: by block of batch elements, gate, unit. All threads come here. */
template <int NT, int S> DN_FN void rnn_sum(const rnn_place *a, const rnn_products<NT, S> *d, float (&s)[OWN(NT, S)][ROWS][2])
{
    /* [square][warp][gate] of 8 bytes for each lane */
    dn_u32 base = a->sums + a->lane * 8;
#pragma unroll
    for (int n = 0; n < NT * S; n++)
#pragma unroll
        for (int q = 0; q < ROWS; q++)
            shared_store8(base + ((n * WARPS + a->split) * ROWS + q) * 256, __float_as_uint(d->v[n / NT][q][n % NT / 2][n % 2 * 2]),
                          __float_as_uint(d->v[n / NT][q][n % NT / 2][n % 2 * 2 + 1]));
    __syncthreads();
    if (!a->own)
        return;
#pragma unroll
    for (int n = 0; n < OWN(NT, S); n++)
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
            s[n][q][0] = s[n][q][1] = 0;
#pragma unroll
            for (int i = 0; i < WARPS; i++) {
                uint2 v = shared_load8(base + (((a->split * OWN(NT, S) + n) * WARPS + i) * ROWS + q) * 256);
                s[n][q][0] += __uint_as_float(v.x);
                s[n][q][1] += __uint_as_float(v.y);
            }
        }
}

/* --- exchange --- */
/* 16-byte vectors of one buffer of states. */
DN_FN int rnn_vectors(const dn_rnn_persist *p, const rnn_place *a)
{
    return WARPS * a->depth * TILES(a->batch_blocks) * 32;
}

/* The group's buffer of the states that a step reads. */
DN_FN dn_u32 *rnn_buffer(const dn_rnn_persist *p, const rnn_place *a, int step)
{
    return (dn_u32 *)p->exchange + ((long long)a->group * 2 + (step & 1)) * rnn_vectors(p, a) * 4;
}

/* Word of a buffer for a state value of feed x, units from `unit` on (16-bit: 2, f32: 1), batch element g of block n. */
DN_FN int rnn_word_of(const dn_rnn_persist *p, const rnn_place *a, int x, int unit, int n)
{
    int chunk = (x * rnn_all(p) + unit) / CHUNK, lane = a->g * 4 + unit % CHUNK / (CHUNK / 4);
    return ((chunk / 2 * TILES(a->batch_blocks) + n / 2) * 32 + lane) * 4 + chunk % 2 * 2 + n % 2;
}

/* Value x of the lane's two units for its batch element of block n, as others read them after the next arrival. */
DN_FN void rnn_stage(const dn_rnn_persist *p, const rnn_place *a, int step, int x, int n, const float (&v)[2])
{
    dn_u32 *to = rnn_buffer(p, a, step + 1);
    if (a->unit >= p->hidden)
        return;
#if defined(RNN_F32)
    to[rnn_word_of(p, a, x, a->unit, n)] = to_tf32(v[0]);
    to[rnn_word_of(p, a, x, a->unit + 1, n)] = to_tf32(v[1]);
#else
    to[rnn_word_of(p, a, x, a->unit, n)] = narrow_two(v);
#endif
}

/* This block has stored its part. All threads. */
DN_FN void rnn_arrive(const dn_rnn_persist *p, const rnn_place *a)
{
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(p->arrived + a->group * DN_RNN_GRID_COUNTER) : "memory");
}

/* Both buffers get zeros, the first one in the forward pass the states before the first step. There lane 4 g + c has words of batch element
 * g, state values from 4 c bytes on. */
DN_FN void rnn_begin(const dn_rnn_persist *p, const rnn_place *a)
{
    int words = rnn_vectors(p, a) * 4;
    for (int i = a->rank * blockDim.x + threadIdx.x; i < 2 * words; i += p->blocks * blockDim.x) {
        dn_u32 v = 0;
#if !defined(RNN_BACKWARD)
        int tile = i / 128, chunk = tile / TILES(a->batch_blocks) * 2 + i % 4 / 2, unit = chunk * CHUNK + i / 4 % 4 * (CHUNK / 4);
        int b = a->batch + tile % TILES(a->batch_blocks) * 16 + i % 2 * 8 + i / 16 % 8;
        if (i < words && unit < p->hidden && b < p->batches && b < a->batch + a->batch_blocks * 8) {
            const rnn_data *h = (const rnn_data *)p->h + ((long long)a->dir * p->batches + b) * p->hidden + unit;
#if defined(RNN_F32)
            v = to_tf32(*h);
#else
            v = *(const dn_u32 *)h;
#endif
        }
#endif
        rnn_buffer(p, a, 0)[i] = v;
    }
    rnn_arrive(p, a);
}

/* Waits until all blocks have stored the states of step - 1, or what rnn_begin puts, and answers where they lie. All threads. */
DN_FN const uint4 *rnn_receive(const dn_rnn_persist *p, const rnn_place *a, int step)
{
    if (threadIdx.x == 0) {
        dn_u32 all = (dn_u32)((step + 1) * p->blocks), there;
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(p->arrived + a->group * DN_RNN_GRID_COUNTER) : "memory");
        while (there < all);
    }
    __syncthreads();
    return (const uint4 *)rnn_buffer(p, a, step);
}

/* s = the sums of a step for the warp's own squares. */
template <int NT, int S> DN_FN void rnn_gather(const dn_rnn_persist *p, const rnn_place *a, const rnn_weights<NT, S> *w, int step,
                                               float (&s)[OWN(NT, S)][ROWS][2])
{
    rnn_products<NT, S> d;
    rnn_product<NT, S>(a, w, rnn_receive(p, a, step), &d);
    rnn_sum<NT, S>(a, &d, s);
}

/* The states of a step are staged. */
template <int NT, int S> DN_FN void rnn_scatter(const dn_rnn_persist *p, const rnn_place *a, const rnn_weights<NT, S> *w, int step)
{
    (void)w;
    (void)step;
    rnn_arrive(p, a);
}

DN_FN void rnn_end(void)
{
}

#endif
