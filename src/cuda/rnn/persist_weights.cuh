/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Weights of a persistent recurrence, in registers and shared memory. A unit has ROWS gates in the product and FEEDS values among the
 * states (forward: all gates and 1; backward: 1 and all gates). */
#ifndef DN_CUDA_RNN_PERSIST_WEIGHTS_CUH
#define DN_CUDA_RNN_PERSIST_WEIGHTS_CUH

#include "cuda/rnn/persist.cuh"

/* Where this thread works. Addresses are of shared memory. */
typedef struct rnn_place {
    int lane, g, c;             /* lane = 4 g + c */
    int group, rank, dir, batch;  /* of the launch; block in it; direction; first batch element of the slice */
    int batch_blocks;           /* of the slice, of 8 batch elements */
    int unit_chunks;            /* chunks of a block's units */
    int row_warp, split, column;  /* the warp's part: units, depth, first block of batch elements */
    int weights_unit;           /* whose weights this lane loads first */
    int depth;                  /* of the warp's product, in steps */
    int unit, first, own;       /* what it finishes: the first of two units, the first block of batch elements; 0: nothing */
    dn_u32 state, state_bytes;  /* clusters: two buffers of what comes from others, forward [blocks * unit_chunks][batch_blocks] of 128 bytes */
    dn_u32 stage, stage_bytes;  /* clusters: two buffers of what this block makes, forward [unit_chunks][batch_blocks] of 128 bytes */
    dn_u32 arrived;             /* clusters: two barriers */
    dn_u32 weights, sums;
    int inverse;                /* backward in a cluster: of units / 8, times 2^16 and rounded up */
} rnn_place;

/* The value, as one that the compiler cannot make anew from a slow register or a parameter in every step. */
DN_FN int rnn_keep_in_register(int v)
{
    asm volatile("" : "+r"(v));
    return v;
}

/* Two values of a column in neighbouring rows, or one f32. */
DN_FN dn_u32 rnn_column(const rnn_data *w, int n)
{
#if defined(RNN_F32)
    return to_tf32(w[0]);
#else
    return (dn_u32)w[0] | (dn_u32)w[n] << 16;
#endif
}

/* Two values of a row side by side, or one f32. */
DN_FN dn_u32 rnn_row_pair(const rnn_data *w)
{
#if defined(RNN_F32)
    return to_tf32(w[0]);
#else
    return *(const dn_u32 *)w;
#endif
}

/* A word of each column, W / 2 of them: the weights for the state values `from` and, 16-bit, the next, of a feed. Forward: columns are the gates
 * of the first unit, then of the unit 8 further; backward: every eighth unit. Zero past the last unit on either side. */
template <int W> DN_FN void rnn_words(const dn_rnn_persist *p, const rnn_place *a, int feed, int from, dn_u32 (&w)[W / 2])
{
    int n = p->hidden, unit = a->weights_unit;
    const rnn_data *r = (const rnn_data *)p->r[a->dir];
#if defined(RNN_BACKWARD)  /* the transpose: rows by value and unit, as the states */
    r += (long long)(feed * n + from) * n + unit;
    bool there = from < n && feed < FEEDS;
#pragma unroll
    for (int i = 0; i < W / 2; i++)
        w[i] = there && unit + i * 8 < n ? rnn_column(r + i * 8, n) : 0;
#else
    r += (long long)unit * n + from;
    (void)feed;
#pragma unroll
    for (int i = 0; i < W / 2; i++)
        w[i] = from < n && unit + i / ROWS * 8 < n ? rnn_row_pair(r + (long long)(i % ROWS * n + i / ROWS * 8) * n) : 0;
#endif
}

/* W words of a lane in shared memory, 128 W bytes for the warp: vectors of 16 bytes first, then one of 8. */
template <int W> DN_FN dn_u32 rnn_word_at(dn_u32 at, int lane, int i)
{
    return at + i / 4 * 512 + lane * (i / 4 * 4 + 4 <= W ? 16 : 8) + i % 4 * 4;
}

template <int W> DN_FN void rnn_words_read(dn_u32 at, int lane, dn_u32 (&w)[W])
{
#pragma unroll
    for (int i = 0; i + 4 <= W; i += 4) {
        uint4 v = shared_load16(at + i / 4 * 512 + lane * 16);
        w[i] = v.x;
        w[i + 1] = v.y;
        w[i + 2] = v.z;
        w[i + 3] = v.w;
    }
    if (W % 4) {
        uint2 v = shared_load8(at + W / 4 * 512 + lane * 8);
        w[W - 2] = v.x;
        w[W - 1] = v.y;
    }
}

/* To the state values of the next chunk. all: those of one feed, past the last unit included. */
DN_FN void rnn_advance(int all, int *feed, int *from)
{
    *from += CHUNK;
#if defined(RNN_BACKWARD)
    if (*from >= all) {
        *from -= all;
        ++*feed;
    }
#endif
}

/* Weights of KEEP steps of the warp's depth to registers, of the others to shared memory (if `rest`). W words: 2 for each column, those of
 * chunks 2 k and 2 k + 1. */
template <int KEEP, int W> DN_FN void rnn_weights_load(const dn_rnn_persist *p, const rnn_place *a, int all, dn_u32 at, bool rest,
                                                       dn_u32 (&w)[KEEP][W])
{
    int from = a->split * p->depth * 2 * CHUNK + a->c * (CHUNK / 4), feed = FEEDS == 1 ? 0 : from / all;
    dn_u32 v[W / 2];
    from -= feed * all;
#pragma unroll
    for (int k = 0; k < KEEP; k++)
#pragma unroll
        for (int j = 0; j < 2; j++, rnn_advance(all, &feed, &from)) {
#pragma unroll
            for (int i = 0; i < W / 2; i++)
                v[i] = 0;
            if (k < p->depth)
                rnn_words<W>(p, a, feed, from, v);
#pragma unroll
            for (int i = 0; i < W / 2; i++)
                w[k][i * 2 + j] = v[i];
        }
#pragma unroll 1
    for (int k = KEEP; rest && k < p->depth; k++, at += W * 128)
#pragma unroll
        for (int j = 0; j < 2; j++, rnn_advance(all, &feed, &from)) {
            rnn_words<W>(p, a, feed, from, v);
#pragma unroll
            for (int i = 0; i < W / 2; i++)
                shared_store4(rnn_word_at<W>(at, a->lane, i * 2 + j), v[i]);
        }
}

#endif
