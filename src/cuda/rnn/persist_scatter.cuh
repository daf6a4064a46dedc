/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The step of the backward pass in a cluster. The gradients by the gates are more than those by h, so blocks do not exchange them: each block
 * multiplies its own with the weights of its rows, which makes a part of the gradient by every h, and sends the parts to the blocks that own
 * these, who add them up.
 *
 * A block owns units; its 8 warps share all units of the layer in tiles of 8 for the product, and the squares of 8 own units and 8
 * batch elements (NT blocks of these) for the cells, S squares each. Weights of the first HELD tiles and HELD steps of depth lie in registers,
 * the rest in shared memory. The parts have two buffers, each with a barrier that counts their bytes: who has all parts of step s knows that
 * every block has read those of step s - 1. */
#ifndef DN_CUDA_RNN_PERSIST_SCATTER_CUH
#define DN_CUDA_RNN_PERSIST_SCATTER_CUH

#include "cuda/rnn/persist_weights.cuh"

enum { WARPS = DN_RNN_SCATTER_WARPS, HELD = DN_RNN_SCATTER_HELD };

#define TILES(nt) (((nt) + 1) / 2) /* of 16 batch elements */
#define OWN(nt, s) (s)

template <int NT, int S> DN_FN rnn_place rnn_place_of(const dn_rnn_persist *p, dn_u32 shared)
{
    rnn_place a;
    int square = threadIdx.x / 32 * S, group = blockIdx.x / p->blocks;
    a.lane = rnn_keep_in_register(threadIdx.x % 32);
    a.depth = rnn_keep_in_register(p->depth);
    a.g = a.lane / 4;
    a.c = a.lane % 4;
    a.row_warp = threadIdx.x / 32;
    a.split = a.column = a.weights_unit = 0;
    a.group = group;
    a.rank = (int)cluster_rank();
    a.dir = group / p->slices;
    a.batch = (group - a.dir * p->slices) * p->batch;
    a.batch_blocks = NT;
    a.unit_chunks = p->units / CHUNK;
    a.unit = a.rank * p->units + square / NT * 8 + a.c * 2;
    a.first = square % NT;
    a.own = square < p->units / 8 * NT;
    a.stage_bytes = (dn_u32)(p->depth * 2 * NT * 128);                  /* own gradients: two buffers [2 depth chunks][NT] of 128 bytes */
    a.state_bytes = (dn_u32)(p->blocks * (p->units / 8) * NT * 256);    /* parts: two buffers [blocks][units / 8][NT] of 256 bytes */
    a.state = shared;
    a.stage = shared + 2 * a.state_bytes;
    a.arrived = a.stage + 2 * a.stage_bytes;
    a.weights = a.arrived + 128 + (dn_u32)(a.row_warp * DN_RNN_SCATTER_REST(p->row_warps, p->depth) * 256);
    a.sums = 0;
    a.inverse = 65536 / (p->units / 8) + 1;
    return a;
}

/* --- weights --- */
template <int NT, int S> struct rnn_weights {
    dn_u32 v[HELD][HELD][2];
};

/* Unit of a warp's tile; p->row_warps: tiles of a warp. */
DN_FN int rnn_tile_unit(const rnn_place *a, int tile)
{
    return (tile * WARPS + a->row_warp) * 8;
}

/* Where the weights of own gradients of chunk 2 k + j that start at 4 bytes c begin, or null where there are none. */
DN_FN const rnn_data *rnn_line(const dn_rnn_persist *p, const rnn_place *a, int k, int j)
{
    int from = (k * 2 + j) * CHUNK + a->c * (CHUNK / 4), feed = from / p->units, n = p->hidden;
    from += (a->rank - feed) * p->units;
    return k < p->depth && from < n && feed < FEEDS ? (const rnn_data *)p->r[a->dir] + (long long)(feed * n + from) * n : nullptr;
}

/* Those to unit g of a tile. */
DN_FN dn_u32 rnn_word(const dn_rnn_persist *p, const rnn_place *a, const rnn_data *line, int tile)
{
    int unit = rnn_tile_unit(a, tile) + a->g;
    return line && unit < p->hidden ? rnn_column(line + unit, p->hidden) : 0;
}

/* Place in shared memory of what is not held: the further steps of the first tiles, then all of the others. */
DN_FN dn_u32 rnn_rest_at(const rnn_place *a, int tile, int k)
{
    int further = a->depth > HELD ? a->depth - HELD : 0;
    int slot = tile < HELD ? tile * further + k - HELD : HELD * further + (tile - HELD) * a->depth + k;
    return a->weights + (dn_u32)(slot * 256) + a->lane * 8;
}

template <int NT, int S> DN_FN void rnn_load(const dn_rnn_persist *p, const rnn_place *a, rnn_weights<NT, S> *w)
{
#pragma unroll
    for (int k = 0; k < HELD; k++)
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const rnn_data *line = rnn_line(p, a, k, j);
#pragma unroll
            for (int i = 0; i < HELD; i++)
                w->v[i][k][j] = rnn_word(p, a, line, i);
        }
#pragma unroll 1
    for (int k = 0; k < p->depth; k++) {
        const rnn_data *line[2] = { rnn_line(p, a, k, 0), rnn_line(p, a, k, 1) };
#pragma unroll 1
        for (int i = k < HELD ? HELD : 0; i < p->row_warps; i++)
            shared_store8(rnn_rest_at(a, i, k), rnn_word(p, a, line[0], i), rnn_word(p, a, line[1], i));
    }
}

/* --- parts --- */
/* Address of the part of block `from` for 8 units and block n of batch elements. Two blocks lie side by side, as lanes have them. */
template <int NT> DN_FN dn_u32 rnn_part_at(const dn_rnn_persist *p, const rnn_place *a, int step, int from, int eight, int n)
{
    dn_u32 square = a->state + (step & 1) * a->state_bytes + (dn_u32)(((from * (p->units / 8) + eight) * NT + n / 2 * 2) * 256);
    return square + (NT == 1 ? a->lane * 8 : a->lane * 16 + n % 2 * 8);
}

/* s = sums of the parts for the warp's own squares: by block of batch elements and unit. Zeros at the first step. */
template <int NT, int S> DN_FN void rnn_gather(const dn_rnn_persist *p, const rnn_place *a, const rnn_weights<NT, S> *w, int step,
                                               float (&s)[OWN(NT, S)][ROWS][2])
{
    (void)w;
#pragma unroll
    for (int n = 0; n < S; n++)
        s[n][0][0] = s[n][0][1] = 0;
    if (step == 0)
        return;
    dn_u32 bar = a->arrived + (step & 1) * 8;
    barrier_wait(bar, (step - 1) / 2 & 1);
    if (threadIdx.x == 0)
        barrier_expect(bar, a->state_bytes);
    if (!a->own)
        return;
    int eight = (a->unit - a->c * 2 - a->rank * p->units) / 8;
#pragma unroll 4
    for (int from = 0; from < p->blocks; from++)
#pragma unroll
        for (int n = 0; n < S; n++) {
            uint2 v = shared_load8(rnn_part_at<NT>(p, a, step, from, eight, a->first + n));
            s[n][0][0] += __uint_as_float(v.x);
            s[n][0][1] += __uint_as_float(v.y);
        }
}

/* Gradient x by a gate of the lane's two units for its batch element of block n to this block's own. */
DN_FN void rnn_stage(const dn_rnn_persist *p, const rnn_place *a, int step, int x, int n, const float (&v)[2])
{
    int chunk = (x * p->units + a->unit - a->rank * p->units) / CHUNK;
    dn_u32 to = a->stage + (step & 1) * a->stage_bytes + (dn_u32)((chunk * a->batch_blocks + n) * 128) + a->g * 16;
#if defined(RNN_F32)
    shared_store8(to + a->c % 2 * 8, to_tf32(v[0]), to_tf32(v[1]));
#else
    shared_store4(to + a->c * 4, narrow_two(v));
#endif
}

/* --- product --- */
/* COUNT tiles from `base` on for one step of depth; w null: weights from shared memory. Tiles past the last have zeros. */
template <int NT, int COUNT> DN_FN void rnn_multiply(const dn_rnn_persist *p, const rnn_place *a, const dn_u32 *w, int base, int k, dn_u32 own,
                                                     float (&d)[COUNT][TILES(NT)][4])
{
    dn_u32 s[TILES(NT)][4];
#pragma unroll
    for (int m = 0; m < TILES(NT); m++)
        load_chunks(own + (dn_u32)(k * 2 * NT * 128 + m * 256), s[m]);
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        uint2 v = make_uint2(0, 0);
        if (w)
            v = make_uint2(w[i * HELD * 2], w[i * HELD * 2 + 1]);
        else if (base + i < p->row_warps)
            v = shared_load8(rnn_rest_at(a, base + i, k));
#pragma unroll
        for (int m = 0; m < TILES(NT); m++)
            multiply_add(d[i][m], s[m], v.x, v.y);
    }
}

/* The finished tiles to their owners' buffer of the next step. */
template <int NT, int COUNT> DN_FN void rnn_give(const dn_rnn_persist *p, const rnn_place *a, int step, int base,
                                                 const float (&d)[COUNT][TILES(NT)][4])
{
    dn_u32 bar = a->arrived + ((step + 1) & 1) * 8;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        int eight = rnn_tile_unit(a, base + i) / 8, to = eight * a->inverse >> 16;
        if (base + i >= p->row_warps || to >= p->blocks)
            continue;
#pragma unroll
        for (int m = 0; m < TILES(NT); m++) {
            dn_u32 at = shared_of(rnn_part_at<NT>(p, a, step + 1, a->rank, eight - to * (p->units / 8), m * 2), to);
            uint4 v = make_uint4(__float_as_uint(d[i][m][0]), __float_as_uint(d[i][m][1]), __float_as_uint(d[i][m][2]), __float_as_uint(d[i][m][3]));
            if (NT == 1)
                send8(at, v.x, v.y, shared_of(bar, to));
            else
                send16(at, v, shared_of(bar, to));
        }
    }
}

/* COUNT tiles from `base` on, for all of the depth. */
template <int NT, int S, int COUNT> DN_FN void rnn_tiles(const dn_rnn_persist *p, const rnn_place *a, const rnn_weights<NT, S> *w, int step,
                                                         int base, dn_u32 own)
{
    float d[COUNT][TILES(NT)][4];
#pragma unroll
    for (int i = 0; i < COUNT * TILES(NT) * 4; i++)
        (&d[0][0][0])[i] = 0;
    if (base == 0 && a->depth >= HELD) {
#pragma unroll
        for (int k = 0; k < HELD; k++)
            rnn_multiply<NT, COUNT>(p, a, &w->v[0][k][0], 0, k, own, d);
    } else if (base == 0) {
#pragma unroll
        for (int k = 0; k < HELD; k++)
            if (k < a->depth)
                rnn_multiply<NT, COUNT>(p, a, &w->v[0][k][0], 0, k, own, d);
    }
#pragma unroll 1
    for (int k = base == 0 ? HELD : 0; k < a->depth; k++)
        rnn_multiply<NT, COUNT>(p, a, nullptr, base, k, own, d);
    rnn_give<NT, COUNT>(p, a, step, base, d);
}

/* This block's own gradients of a step are staged: their products go to the owners of the h. All threads. */
template <int NT, int S> DN_FN void rnn_scatter(const dn_rnn_persist *p, const rnn_place *a, const rnn_weights<NT, S> *w, int step)
{
    dn_u32 own = a->stage + (step & 1) * a->stage_bytes + (dn_u32)((a->lane / 16 * NT + (NT == 1 ? 0 : a->lane / 8 % 2)) * 128) + a->lane % 8 * 16;
    __syncthreads();
    if (p->row_warps <= HELD / 2) {
        rnn_tiles<NT, S, HELD / 2>(p, a, w, step, 0, own);
        return;
    }
    rnn_tiles<NT, S, HELD>(p, a, w, step, 0, own);
#pragma unroll 1
    for (int base = HELD; base < p->row_warps; base += HELD / 2)
        rnn_tiles<NT, S, HELD / 2>(p, a, w, step, base, own);
}

/* Own gradients are zeros, where no unit is too; the barriers are ready. All threads of the cluster. */
DN_FN void rnn_begin(const dn_rnn_persist *p, const rnn_place *a)
{
    (void)p;
    for (dn_u32 i = threadIdx.x * 16; i < 2 * a->stage_bytes; i += blockDim.x * 16)
        shared_store16(a->stage + i, make_uint4(0, 0, 0, 0));
    if (threadIdx.x == 0) {
        barrier_init(a->arrived);
        barrier_init(a->arrived + 8);
        barrier_init_visible();
        barrier_expect(a->arrived, a->state_bytes);
        barrier_expect(a->arrived + 8, a->state_bytes);
    }
    __syncthreads();
    cluster_sync();
}

/* No block goes while others may still send to it. */
DN_FN void rnn_end(void)
{
    cluster_sync();
}

#endif
