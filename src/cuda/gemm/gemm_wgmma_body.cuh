/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Products of 16-bit matrices on the tensor cores of capability 9.0. A block makes a tile of 64 GROUPS x TILE_N results: GROUPS groups of 128
 * threads multiply, one warp more feeds the stages. A long sum is split over the blocks of a cluster, which read each other's sums and
 * add them first to last, each for its share of the rows. Two blocks live on an SM where there are enough of them. Products of many tiles
 * go in relay instead (below). The file that includes this defines WGMMA_TYPE. */
#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/wgmma.cuh"

typedef struct place {
    int m0, n0, batch;
    int step, end;       /* of k, in DN_WGMMA_STEP */
    dn_u32 rank;         /* within the cluster */
} place;

/* Tiles go down bands of DN_WGMMA_BAND rows of tiles, so that what runs at once shares rows and columns. */
template <int TILE_M, int TILE_N> DN_FN place place_of(const dn_gemm_wgmma *p, dn_u32 work, dn_u32 rank)
{
    dn_u32 tiles = (dn_u32)p->m_tiles * p->n_tiles, tile = work % tiles;
    dn_u32 band = tile / (DN_WGMMA_BAND * p->n_tiles), first = band * DN_WGMMA_BAND, in = tile - first * p->n_tiles;
    dn_u32 rows = min((dn_u32)p->m_tiles - first, (dn_u32)DN_WGMMA_BAND), steps = (dn_u32)((p->g.k + DN_WGMMA_STEP - 1) / DN_WGMMA_STEP);
    place at;
    at.rank = rank;
    at.batch = (int)(work / tiles);
    at.m0 = (int)(first + in % rows) * TILE_M;
    at.n0 = (int)(in / rows) * TILE_N;
    at.step = (int)((dn_u64)steps * at.rank / (dn_u32)p->split);
    at.end = (int)((dn_u64)steps * (at.rank + 1) / (dn_u32)p->split);
    return at;
}

/* Starts the copies of one step into the stage at `to`; `full` is told of all bytes. */
template <int TILE_M, int TILE_N, int TURNED_A, int TURNED_B> DN_FN void fill(const dn_gemm_wgmma *p, const place *at, int k, dn_u32 to, dn_u32 full)
{
    dn_u32 b = to + TILE_M * DN_WGMMA_ROW;
    dn_bar_expect_at(full, (TILE_M + TILE_N) * DN_WGMMA_ROW);
    if (TURNED_A) {
#pragma unroll
        for (int i = 0; i < TILE_M / 64; i++)
            dn_box_load(to + i * DN_WGMMA_SQUARE, &p->a, full, at->m0 + 64 * i, k, at->batch);
    } else {
        dn_box_load(to, &p->a, full, k, at->m0, at->batch);
    }
    if (TURNED_B) {
#pragma unroll
        for (int i = 0; i < TILE_N / 64; i++)
            dn_box_load(b + i * DN_WGMMA_SQUARE, &p->b, full, at->n0 + 64 * i, k, at->batch);
    } else {
        dn_box_load(b, &p->b, full, k, at->n0, at->batch);
    }
}

/* The ring of stages. Barriers at `bars`: stage s is full at 8 s, empty at 8 (STAGES + s). */
typedef struct ring {
    dn_u32 base, bars;
    int stages, stage;
    dn_u32 parity;       /* of the turn around the ring */
} ring;

DN_FN void ring_next(ring *r)
{
    if (++r->stage == r->stages) {
        r->stage = 0;
        r->parity ^= 1;
    }
}

template <int TILE_M, int TILE_N, int TURNED_A, int TURNED_B> DN_FN void feed(const dn_gemm_wgmma *p, const place *at, ring *r)
{
    enum { BYTES = (TILE_M + TILE_N) * DN_WGMMA_ROW };
    for (int step = at->step; step < at->end; step++) {
        dn_u32 full = r->bars + 8 * r->stage;
        dn_bar_wait_at(full + 8 * DN_WGMMA_STAGES, r->parity ^ 1);
        fill<TILE_M, TILE_N, TURNED_A, TURNED_B>(p, at, step * DN_WGMMA_STEP, r->base + r->stage * BYTES, full);
        ring_next(r);
    }
}

/* acc: the sums of 64 COUNT rows from row 64 `group` of the tile on. */
template <int TILE_M, int TILE_N, int COUNT, int TURNED_A, int TURNED_B>
DN_FN void multiply(const place *at, ring *r, int group, float (&acc)[COUNT][TILE_N / 2])
{
    enum { BYTES_A = TILE_M * DN_WGMMA_ROW, BYTES = BYTES_A + TILE_N * DN_WGMMA_ROW };
    enum { NEXT_A = (TURNED_A ? 16 * DN_WGMMA_ROW : 32) >> 4, NEXT_B = (TURNED_B ? 16 * DN_WGMMA_ROW : 32) >> 4 };
    dn_u64 a = dn_wgmma_operand(r->base + group * DN_WGMMA_SQUARE, TURNED_A), b = dn_wgmma_operand(r->base + BYTES_A, TURNED_B);
    int last = 0;
    for (int step = at->step; step < at->end; step++) {
        dn_u64 skip = (dn_u64)(r->stage * BYTES >> 4);
        dn_bar_wait_at(r->bars + 8 * r->stage, r->parity);
        dn_wgmma_fence();
#pragma unroll
        for (int k = 0; k < DN_WGMMA_STEP / 16; k++)
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                dn_wgmma<TURNED_A, TURNED_B>(acc[i], a + skip + k * NEXT_A + (i * DN_WGMMA_SQUARE >> 4), b + skip + k * NEXT_B,
                                             step > at->step || k > 0);
        dn_wgmma_commit();
        dn_wgmma_wait<1>();
        if (step > at->step && threadIdx.x % 128 == 0)
            dn_bar_arrive_at(r->bars + 8 * (DN_WGMMA_STAGES + last));
        last = r->stage;
        ring_next(r);
    }
}

/* --- results: four of a row at a time --- */

DN_FN void load_four(const dn_elements *e, dn_s64 at, int count, bool wide, float v[4])
{
    if (wide && count == 4 && e->type == DN_T_F32) {
        dn_unpack<DN_T_F32, 4>(*(const uint4 *)((const float *)e->ptr + at), v);
    } else if (wide && count == 4) {
        uint2 raw = *(const uint2 *)((const dn_u16 *)e->ptr + at);
        if (e->type == DN_T_F16)
            dn_unpack<DN_T_F16, 4>(raw, v);
        else
            dn_unpack<DN_T_BF16, 4>(raw, v);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            v[i] = i < count ? dn_gemm_element(e, at + i) : 0;
    }
}

DN_FN void store_four(const dn_elements *e, dn_s64 at, int count, bool wide, const float v[4])
{
    if (wide && count == 4 && e->type == DN_T_F32) {
        *(uint4 *)((float *)e->ptr + at) = dn_pack<DN_T_F32, 4>(v);
    } else if (wide && count == 4) {
        *(uint2 *)((dn_u16 *)e->ptr + at) = e->type == DN_T_F16 ? dn_pack<DN_T_F16, 4>(v) : dn_pack<DN_T_BF16, 4>(v);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (i < count)
                dn_gemm_put_one(e, at + i, v[i]);
    }
}

/* sum: what one thread has of row m from column n on; bias: its part of the bias */
DN_FN void put_four(const dn_gemm *g, int batch, int m, int n, float4 sum, const float bias[4])
{
    int count = (int)min(g->n - n, 4ll);
    if (m >= g->m || count <= 0)
        return;
    dn_s64 at = batch * g->pitch_c + m * g->ldc + n;
    float alpha = (float)g->alpha, beta = (float)g->beta, v[4] = { sum.x, sum.y, sum.z, sum.w }, old[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        v[i] = alpha * v[i] + bias[i];
    if (beta != 0) {
        load_four(&g->c, at, count, g->wide_c != 0, old);
#pragma unroll
        for (int i = 0; i < 4; i++)
            v[i] += beta * old[i];
    }
    store_four(&g->c, at, count, g->wide_c != 0, v);
}

/* Rows of sums in shared memory: 8 floats more than TILE_N, so that rows begin 8 banks apart. */
template <int TILE_N> DN_FN void spill(unsigned char *shared, int group, const float (&acc)[TILE_N / 2])
{
    int lane = (int)threadIdx.x % 32, row = 64 * group + (int)threadIdx.x % 128 / 32 * 16 + lane / 4;
    float *to = (float *)shared + row * (TILE_N + 8) + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < TILE_N / 8; j++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            *(float2 *)(to + 8 * half * (TILE_N + 8) + 8 * j) = make_float2(acc[4 * j + 2 * half], acc[4 * j + 2 * half + 1]);
}

/* This block's share of the rows: the sums of all SPLIT blocks, first to last. */
template <int GROUPS, int TILE_N, int SPLIT> DN_FN void finish(const dn_gemm_wgmma *p, const place *at, const unsigned char *shared)
{
    enum { LINE = TILE_N / 4, PASS = GROUPS * 128 / LINE, ROWS = 64 * GROUPS / SPLIT, PASSES = ROWS / PASS };
    enum { LOADS = 8, AT_ONCE = LOADS / SPLIT < PASSES ? LOADS / SPLIT : PASSES };
    int row = ROWS * (SPLIT > 1 ? (int)at->rank : 0) + (int)threadIdx.x / LINE, column = (int)threadIdx.x % LINE * 4, n = at->n0 + column;
    const float *from = (const float *)shared + row * (TILE_N + 8) + column;
    dn_u32 there = dn_shared_at(from);
    float bias[4] = {};
    if (p->g.bias.ptr)
#pragma unroll
        for (int i = 0; i < 4; i++)
            bias[i] = n + i < p->g.n ? dn_gemm_element(&p->g.bias, at->batch * p->g.pitch_bias + n + i) : 0;
#pragma unroll 1
    for (int pass = 0; pass < PASSES; pass += AT_ONCE) {
        float4 sum[AT_ONCE];
#pragma unroll
        for (int rank = 0; rank < SPLIT; rank++)
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                int skip = (pass + i) * PASS * (TILE_N + 8);
                float4 v = SPLIT > 1 ? dn_cluster_float4(there + 4 * skip, rank) : *(const float4 *)(from + skip);
                if (rank == 0)
                    sum[i] = v;
                else
                    sum[i] = make_float4(sum[i].x + v.x, sum[i].y + v.y, sum[i].z + v.z, sum[i].w + v.w);
            }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            put_four(&p->g, at->batch, at->m0 + row + (pass + i) * PASS, n, sum[i], bias);
    }
}

template <int GROUPS, int TILE_N> DN_FN void finish_split(const dn_gemm_wgmma *p, const place *at, const unsigned char *shared)
{
    switch (p->split) {
    case 2: finish<GROUPS, TILE_N, 2>(p, at, shared); break;
    case 4: finish<GROUPS, TILE_N, 4>(p, at, shared); break;
    case 8: finish<GROUPS, TILE_N, 8>(p, at, shared); break;
    default: finish<GROUPS, TILE_N, 1>(p, at, shared); break;
    }
}

/* Threads that multiplied: all of them are here. */
template <int THREADS> DN_FN void wait_groups()
{
    asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
}

/* Before the first use of the ring, by all threads. readers: groups that empty a stage */
DN_FN void ring_init(ring *r, const dn_gemm_wgmma *p, const unsigned char *raw, dn_u64 barriers[2 * DN_WGMMA_STAGES], int readers)
{
    /* Through a shuffle, or the compiler works the addresses out again in every turn of the loops. */
    r->base = __shfl_sync(~0u, (dn_shared_at(raw) + 1023) & ~1023u, 0);
    r->bars = __shfl_sync(~0u, dn_shared_at(barriers), 0);
    r->stages = p->stages;
    r->stage = 0;
    r->parity = 0;
    if (threadIdx.x == 0) {
        dn_map_prefetch(&p->a);
        dn_map_prefetch(&p->b);
        for (int i = 0; i < DN_WGMMA_STAGES; i++) {
            dn_bar_init(barriers + i, 1);
            dn_bar_init(barriers + DN_WGMMA_STAGES + i, readers);
        }
        dn_bar_ready();
    }
    __syncthreads();
}

template <int GROUPS, int TILE_N, int TURNED_A, int TURNED_B> DN_FN void product(const dn_gemm_wgmma *p)
{
    extern __shared__ unsigned char raw[];
    __shared__ dn_u64 barriers[2 * DN_WGMMA_STAGES];
    int group = (int)__shfl_sync(~0u, threadIdx.x / 128, 0);
    ring r;
    ring_init(&r, p, raw, barriers, GROUPS);
    place at = place_of<64 * GROUPS, TILE_N>(p, blockIdx.x / (dn_u32)p->split, blockIdx.x % (dn_u32)p->split);
    unsigned char *sums = raw + (r.base - dn_shared_at(raw));
    if (group == GROUPS) {
        if (dn_elected())
            feed<64 * GROUPS, TILE_N, TURNED_A, TURNED_B>(p, &at, &r);
        __syncwarp();
    } else {
        float acc[1][TILE_N / 2];
        multiply<64 * GROUPS, TILE_N, 1, TURNED_A, TURNED_B>(&at, &r, group, acc);
        dn_wgmma_wait<0>();
        wait_groups<GROUPS * 128>();  /* the sums go where the stages were */
        spill<TILE_N>(sums, group, acc[0]);
        wait_groups<GROUPS * 128>();
    }
    if (p->split > 1) {
        dn_cluster_arrive();
        dn_cluster_wait();
    }
    if (group < GROUPS)
        finish_split<GROUPS, TILE_N>(p, &at, sums);
    if (p->split > 1) {  /* nobody leaves while its sums are read */
        dn_cluster_arrive();
        dn_cluster_wait();
    }
}

/* --- in relay: a block stays on its SM and makes tile after tile, its two groups by turns, so that one's results go out while the other
 * multiplies --- */
enum { TURN_BAR = 2, LINE_PAD = 72 };

/* After its loop of products a group hands the tensor cores to the other. */
DN_FN void turn_wait(int group)
{
    asm volatile("bar.sync %0, 256;" ::"r"(TURN_BAR + group) : "memory");
}
DN_FN void turn_give(int group)
{
    asm volatile("bar.arrive %0, 256;" ::"r"(TURN_BAR + group) : "memory");
}

/* A warp's 16 rows of 64 columns at (m, n), by way of its own shared memory (16 rows of LINE_PAD floats). */
DN_FN void put_block(const dn_gemm *g, int batch, int m, int n, const float *acc, float *room)
{
    int lane = (int)threadIdx.x % 32, row = lane / 16, column = lane % 16 * 4;
    float bias[4] = {}, *to = room + lane / 4 * LINE_PAD + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            *(float2 *)(to + 8 * half * LINE_PAD + 8 * j) = make_float2(acc[4 * j + 2 * half], acc[4 * j + 2 * half + 1]);
    if (g->bias.ptr)
#pragma unroll
        for (int i = 0; i < 4; i++)
            bias[i] = n + column + i < g->n ? dn_gemm_element(&g->bias, batch * g->pitch_bias + n + column + i) : 0;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 16; i += 2)
        put_four(g, batch, m + i + row, n + column, *(const float4 *)(room + (i + row) * LINE_PAD + column), bias);
    __syncwarp();
}

template <int TURNED_A, int TURNED_B> DN_FN void relay(const dn_gemm_wgmma *p, dn_u32 all)
{
    extern __shared__ unsigned char raw[];
    __shared__ dn_u64 barriers[2 * DN_WGMMA_STAGES];
    int group = (int)__shfl_sync(~0u, threadIdx.x / 128, 0), warp = (int)threadIdx.x / 32;
    ring r;
    ring_init(&r, p, raw, barriers, 1);
    if (group == 2) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x / 32 == 8 && dn_elected())
            for (dn_u32 work = blockIdx.x; work < all; work += gridDim.x) {
                place at = place_of<128, 128>(p, work, 0);
                feed<128, 128, TURNED_A, TURNED_B>(p, &at, &r);
            }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float *room = (float *)(raw + (r.base - dn_shared_at(raw)) + p->stages * 256 * DN_WGMMA_ROW) + warp * 16 * LINE_PAD;
    if (group == 1)
        turn_give(0);
    dn_u32 number = group;  /* of the block's tiles */
    for (dn_u32 work = blockIdx.x + group * gridDim.x; work < all; work += 2 * gridDim.x, number += 2) {
        place at = place_of<128, 128>(p, work, 0);
        dn_u32 before = number * (dn_u32)at.end;
        float acc[2][64];
        r.stage = (int)(before % (dn_u32)r.stages);
        r.parity = before / (dn_u32)r.stages & 1;
        turn_wait(group);
        multiply<128, 128, 2, TURNED_A, TURNED_B>(&at, &r, 0, acc);
        turn_give(group ^ 1);
        dn_wgmma_wait<0>();
        if (threadIdx.x % 128 == 0)
            dn_bar_arrive_at(r.bars + 8 * (DN_WGMMA_STAGES + (r.stage ? r.stage : r.stages) - 1));
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                put_block(&p->g, at.batch, at.m0 + 64 * i + warp % 4 * 16, at.n0 + 64 * half, acc[i] + 32 * half, room);
    }
}

#define PRODUCT(name, groups, tile_n, turned_a, turned_b)                                                                                 \
    extern "C" __global__ void __launch_bounds__(128 * groups + 32, 2) name(const __grid_constant__ dn_gemm_wgmma p)                      \
    {                                                                                                                                     \
        product<groups, tile_n, turned_a, turned_b>(&p);                                                                                  \
    }
#define RELAY(name, turned_a, turned_b)                                                                                                   \
    extern "C" __global__ void __launch_bounds__(384, 1) name(const __grid_constant__ dn_gemm_wgmma p)                                    \
    {                                                                                                                                     \
        relay<turned_a, turned_b>(&p, (dn_u32)p.tiles);                                                                                   \
    }
