/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * One step of the forward pass in a cluster: states x weights, then the new states to all blocks of the cluster.
 *
 * A warp owns 8 units and, of the slice, NT blocks of 8 batch elements; SPLIT warps share the depth of their product. The states are the
 * left operand (rows: batch elements), the weights of a gate the right one (columns: units), so lane 4 g + c ends with all gates of the
 * units 2 c and 2 c + 1 for batch element g of every block. With one block only, the lower half of a product's rows repeats the upper.
 * The first KEPT steps of depth hold their weights in registers, the rest in shared memory.
 *
 * Two buffers hold the states, each with a barrier that counts the bytes of all of them. Who has all states of step s knows that every
 * block has read those of step s - 1, so no other barrier is needed. */
#ifndef DN_CUDA_RNN_PERSIST_STEP_CUH
#define DN_CUDA_RNN_PERSIST_STEP_CUH

#include "cuda/rnn/persist_weights.cuh"

#define KEPT(nt) DN_RNN_KEPT(ROWS, nt)
#define WORDS (2 * ROWS)              /* of a lane for the weights of one step of depth */
#define TILES(nt) (((nt) + 1) / 2)    /* of 16 batch elements */

/* Blocks of batch elements that one warp finishes: warp `split` those from split * OWN on, where there are so many. */
#define OWN(nt, split) ((nt) >= (split) ? (nt) / (split) : 1)

template <int NT, int SPLIT> DN_FN rnn_place rnn_place_of(const dn_rnn_persist *p, dn_u32 shared)
{
    rnn_place a;
    int warp = threadIdx.x / 32, group = blockIdx.x / p->blocks;
    a.lane = rnn_keep_in_register(threadIdx.x % 32);
    a.depth = rnn_keep_in_register(p->depth);
    a.g = a.lane / 4;
    a.c = a.lane % 4;
    a.row_warp = warp % p->row_warps;
    a.split = warp / p->row_warps % SPLIT;
    a.column = warp / p->row_warps / SPLIT * NT;
    a.inverse = 0;
    a.group = group;
    a.rank = (int)cluster_rank();
    a.dir = group / p->slices;
    a.batch = (group - a.dir * p->slices) * p->batch;
    a.weights_unit = a.rank * p->units + a.row_warp * 8 + a.g;
    a.unit = a.weights_unit - a.g + a.c * 2;
    a.first = a.column + a.split * OWN(NT, SPLIT);
    a.own = a.split * OWN(NT, SPLIT) < NT;
    a.batch_blocks = p->batch / 8;
    a.unit_chunks = p->units / CHUNK;
    a.stage_bytes = (dn_u32)(a.unit_chunks * a.batch_blocks * 128);
    a.state_bytes = a.stage_bytes * p->blocks;
    a.state = shared;
    a.stage = shared + 2 * a.state_bytes;
    a.arrived = a.stage + 2 * a.stage_bytes;
    a.weights = a.arrived + 128;
    int rest = p->depth > KEPT(NT) ? p->depth - KEPT(NT) : 0;
    a.sums = a.weights + (dn_u32)(p->row_warps * SPLIT * rest * WORDS * 128);
    a.weights += (dn_u32)((a.row_warp * SPLIT + a.split) * rest * WORDS * 128);
    return a;
}

/* --- weights --- */
template <int NT, int SPLIT> struct rnn_weights {
    dn_u32 v[KEPT(NT)][WORDS];
};

template <int NT, int SPLIT> DN_FN void rnn_load(const dn_rnn_persist *p, const rnn_place *a, rnn_weights<NT, SPLIT> *w)
{
    rnn_weights_load<KEPT(NT), WORDS>(p, a, p->blocks * p->units, a->weights, a->column == 0, w->v);
}

/* --- product --- */
/* Sums are kept in so many parts that four products and more are under way. */
#define CHAINS(nt) (ROWS * TILES(nt) >= 8 ? 1 : ROWS * TILES(nt) >= 3 ? 2 : 4)

/* One step of depth. */
template <int NT> DN_FN void rnn_multiply(float (&d)[ROWS][TILES(NT)][4], const dn_u32 (&w)[WORDS], dn_u32 states)
{
#pragma unroll
    for (int m = 0; m < TILES(NT); m++) {
        dn_u32 s[4];
        load_chunks(states + m * 256, s);
#pragma unroll
        for (int q = 0; q < ROWS; q++)
            multiply_add(d[q][m], s, w[2 * q], w[2 * q + 1]);
    }
}

template <int NT, int SPLIT> struct rnn_products {
    float v[ROWS][TILES(NT)][4];
};

/* d = this warp's part of states x weights. */
template <int NT, int SPLIT> DN_FN void rnn_product(const dn_rnn_persist *p, const rnn_place *a, const rnn_weights<NT, SPLIT> *w,
                                                    dn_u32 states, rnn_products<NT, SPLIT> *d)
{
    enum { N = CHAINS(NT), COUNT = ROWS * TILES(NT) * 4 };
    float x[N][ROWS][TILES(NT)][4];
#pragma unroll
    for (int i = 0; i < N * COUNT; i++)
        (&x[0][0][0][0])[i] = 0;
    /* Chunks in the order of a fragment: two blocks of batch elements, then the second half of the depth. */
    dn_u32 line = (dn_u32)a->batch_blocks * 128, one = line * 2;
    states += (a->lane / 16 + a->split * a->depth * 2) * line + (a->column + (NT == 1 ? 0 : a->lane / 8 % 2)) * 128 + a->lane % 8 * 16;
    if (a->depth >= KEPT(NT)) {
#pragma unroll
        for (int k = 0; k < KEPT(NT); k++, states += one)
            rnn_multiply<NT>(x[k % N], w->v[k], states);
    } else {
#pragma unroll
        for (int k = 0; k < KEPT(NT); k += 4)
            if (k < a->depth)
#pragma unroll
                for (int i = 0; i < 4; i++, states += one)
                    rnn_multiply<NT>(x[i % N], w->v[k + i], states);
    }
    dn_u32 at = a->weights;
#pragma unroll 1
    for (int k = KEPT(NT); k < a->depth; k += 4)
#pragma unroll
        for (int i = 0; i < 4; i++, states += one, at += WORDS * 128) {
            dn_u32 v[WORDS];
            rnn_words_read<WORDS>(at, a->lane, v);
            rnn_multiply<NT>(x[i % N], v, states);
        }
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        float s = (&x[0][0][0][0])[i];
#pragma unroll
        for (int n = 1; n < N; n++)
            s += (&x[n][0][0][0])[i];
        (&d->v[0][0][0])[i] = s;
    }
}

/* --- parts of the depth together --- */
/* s = the whole sums of the warp's own blocks: by block, gate, unit. All threads come here. */
template <int NT, int SPLIT> DN_FN void rnn_sum(const dn_rnn_persist *p, const rnn_place *a, const rnn_products<NT, SPLIT> *d,
                                                float (&s)[OWN(NT, SPLIT)][ROWS][2])
{
    enum { N = OWN(NT, SPLIT), PIECE = ROWS * 256 };
    if (SPLIT == 1) {
#pragma unroll
        for (int i = 0; i < N * ROWS * 2; i++)
            s[i / (2 * ROWS)][i / 2 % ROWS][i % 2] = d->v[i / 2 % ROWS][i / (4 * ROWS)][i / (2 * ROWS) % 2 * 2 + i % 2];
        return;
    }
    /* [column][row warp][block][split] of 8 bytes per gate and lane */
    dn_u32 base = a->sums + (dn_u32)((a->column / NT * p->row_warps + a->row_warp) * NT * SPLIT * PIECE + a->lane * 8);
#pragma unroll
    for (int n = 0; n < NT; n++)
#pragma unroll
        for (int q = 0; q < ROWS; q++)
            shared_store8(base + (n * SPLIT + a->split) * PIECE + q * 256, __float_as_uint(d->v[q][n / 2][n % 2 * 2]),
                          __float_as_uint(d->v[q][n / 2][n % 2 * 2 + 1]));
    __syncthreads();
    if (!a->own)
        return;
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
            s[n][q][0] = s[n][q][1] = 0;
#pragma unroll
            for (int i = 0; i < SPLIT; i++) {
                uint2 v = shared_load8(base + ((a->first - a->column + n) * SPLIT + i) * PIECE + q * 256);
                s[n][q][0] += __uint_as_float(v.x);
                s[n][q][1] += __uint_as_float(v.y);
            }
        }
}

/* --- exchange --- */
/* The states of the lane's two units for its batch element of block n, as others read them. */
DN_FN void rnn_stage(const dn_rnn_persist *p, const rnn_place *a, int step, int x, int n, const float (&v)[2])
{
    dn_u32 to = a->stage + (step & 1) * a->stage_bytes + (dn_u32)((a->row_warp * CHUNKS * a->batch_blocks + n) * 128) + a->g * 16;
    (void)p;
    (void)x;
#if defined(RNN_F32)
    shared_store8(to + a->c / 2 * a->batch_blocks * 128 + a->c % 2 * 8, to_tf32(v[0]), to_tf32(v[1]));
#else
    shared_store4(to + a->c * 4, narrow_two(v));
#endif
}

/* The states of step `step` go into buffer (step + 1) & 1 of every block. All threads. */
template <int NT, int SPLIT> DN_FN void rnn_scatter(const dn_rnn_persist *p, const rnn_place *a, const rnn_weights<NT, SPLIT> *w, int step)
{
    enum { N = OWN(NT, SPLIT), PIECES = CHUNKS * N * 8 };
    dn_u32 line = (dn_u32)a->batch_blocks * 128, bar = a->arrived + ((step + 1) & 1) * 8;
    dn_u32 state = a->state + ((step + 1) & 1) * a->state_bytes + (dn_u32)(a->rank * a->unit_chunks) * line;
    (void)w;
    if (p->bulk) {
        fence_async();
        __syncthreads();
        if ((int)threadIdx.x < p->blocks)
            send_bulk(shared_of(state, threadIdx.x), a->stage + (step & 1) * a->stage_bytes, a->unit_chunks * line, shared_of(bar, threadIdx.x));
        return;
    }
    if (!a->own)
        return;
    /* Each lane loads a piece and stores it into every STEP-th block. */
    enum { LANES = PIECES < 32 ? PIECES : 32, STEP = 32 / LANES };
    __syncwarp();
#pragma unroll
    for (int i = 0; i < PIECES; i += LANES) {
        int piece = i + a->lane % LANES, row = piece % 8, n = piece / 8 % N, y = piece / 8 / N;
        dn_u32 at = (dn_u32)((a->row_warp * CHUNKS + y) * line + (a->first + n) * 128 + row * 16);
        uint4 v = shared_load16(a->stage + (step & 1) * a->stage_bytes + at);
#pragma unroll
        for (int r = 0; r < 16; r += STEP)
            if (r + a->lane / LANES < p->blocks)
                send16(shared_of(state + at, r + a->lane / LANES), v, shared_of(bar, r + a->lane / LANES));
    }
}

/* Buffer 0 gets the states before the first step; the barriers are ready. All threads of the cluster. */
DN_FN void rnn_begin(const dn_rnn_persist *p, const rnn_place *a)
{
    int rows = (int)(a->state_bytes / 16);
    for (int i = threadIdx.x; i < rows; i += blockDim.x) {
        int chunk = i / 8 / a->batch_blocks, b = a->batch + (i / 8 - chunk * a->batch_blocks) * 8 + i % 8, unit = chunk * CHUNK;
        uint4 v = make_uint4(0, 0, 0, 0);
        if (b < p->batches && unit < p->hidden)
            v = *(const uint4 *)((const rnn_data *)p->h + ((long long)a->dir * p->batches + b) * p->hidden + unit);
        shared_store16(a->state + i * 16, to_state16(v));
    }
    if (threadIdx.x == 0) {
        barrier_init(a->arrived);
        barrier_init(a->arrived + 8);
        barrier_init_visible();
        barrier_expect(a->arrived, a->state_bytes);
        barrier_expect(a->arrived + 8, a->state_bytes);
    }
    fence_async();
    __syncthreads();
    cluster_sync();
}

/* Waits for the states of step - 1 in buffer step & 1 and answers its address; step 0 finds there what rnn_begin put. */
DN_FN dn_u32 rnn_receive(const rnn_place *a, int step)
{
    if (step > 0) {
        dn_u32 bar = a->arrived + (step & 1) * 8;
        barrier_wait(bar, (step - 1) / 2 & 1);
        if (threadIdx.x == 0)
            barrier_expect(bar, a->state_bytes);
    }
    return a->state + (step & 1) * a->state_bytes;
}

/* s = the sums of a step for the warp's own blocks of batch elements. */
template <int NT, int SPLIT> DN_FN void rnn_gather(const dn_rnn_persist *p, const rnn_place *a, const rnn_weights<NT, SPLIT> *w, int step,
                                                   float (&s)[OWN(NT, SPLIT)][ROWS][2])
{
    rnn_products<NT, SPLIT> d;
    rnn_product<NT, SPLIT>(p, a, w, rnn_receive(a, step), &d);
    rnn_sum<NT, SPLIT>(p, a, &d, s);
}

/* No block goes while others may still send to it. */
DN_FN void rnn_end(void)
{
    cluster_sync();
}

#endif
