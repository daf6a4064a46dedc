/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A step of a recurrent network forward in one launch: a block multiplies the states of 64 batch elements with the rows of R that belong to
 * 16 units, four warps with 16 batch elements each, so that one thread holds all gates of a unit. The file that includes this defines DTYPE
 * (DN_T_F16 or DN_T_BF16) and KERNEL. */
#include "cuda/gemm/tile.cuh"
#include "cuda/rnn/kernels.h"
#include "cuda/rnn/short_math.cuh"

#define REAL float
#define EXP dn_exp_short
#define TANH dn_tanh_short
#define data_get(p, base, i) dn_one_load<DTYPE>(base, i)
#define sum_get(p, base, i) (((const float *)(base))[i])
#define sum_put(p, base, i, v) (((float *)(base))[i] = (v))
#include "cuda/rnn/cell_fn.cuh"

enum { ROWS = 64, CHUNKS = ROWS * DN_TILE_CHUNKS, GROUPS = DN_RNN_FUSED_GROUPS, UNITS = DN_RNN_FUSED_UNITS, STAGES = DN_RNN_FUSED_STAGES,
       THREADS = DN_RNN_FUSED_THREADS };

DN_FN bool is_single(const dn_rnn_step *p)
{
    return p->cell_kind == RELU_CELL || p->cell_kind == TANH_CELL;
}

/* Row of R that a row of the tile holds: gates of the block's units one behind the other, or more units; -1: none. */
DN_FN dn_s64 row_of(const dn_rnn_step *p, dn_s64 unit0, int row)
{
    int group = row / UNITS;
    bool single = is_single(p);
    dn_s64 unit = unit0 + row % UNITS + (single ? group * UNITS : 0);
    if (unit >= p->hidden || (p->cell_kind == GRU_CELL && group == 3))
        return -1;
    return unit + (single ? 0 : group * p->hidden);
}

DN_FN void copy_weights(uint4 *tile, const dn_rnn_fused *p, const dn_u16 *r, dn_s64 unit0, dn_s64 k0)
{
#pragma unroll
    for (int j = 0; j < CHUNKS / THREADS; j++) {
        int at = (int)threadIdx.x + j * THREADS, row = at / DN_TILE_CHUNKS, chunk = at % DN_TILE_CHUNKS;
        dn_s64 from = row_of(&p->s, unit0, row), k = k0 + chunk * DN_CHUNK, left = from < 0 ? 0 : p->s.hidden - k;
        int count = left <= 0 ? 0 : left < DN_CHUNK ? (int)left : DN_CHUNK;
        const dn_u16 *source = r + (count ? from * p->s.hidden + k : 0);
        uint4 *to = tile + dn_tile_at<ROWS, 0>(row, chunk);
        if (p->wide_r)
            dn_copy16(to, source, 2 * count);
        else
            *to = dn_chunk_gather(source, count);
    }
}

/* Unit number j of a thread: of two batch elements two pairs of neighbouring units, of each group where a cell has one gate. */
DN_FN unit_at unit_of(const dn_rnn_step *p, dn_s64 b0, dn_s64 unit0, int i, int q, int group)
{
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    dn_s64 d = blockIdx.z, b = b0 + 16 * warp + lane / 4 + 8 * (i / 2), u = unit0 + 8 * q + 2 * (lane % 4) + i % 2 + group * UNITS;
    dn_s64 t = d ? p->steps - 1 - p->step : p->step;
    bool exists = b < p->batch && u < p->hidden;
    unit_at at = { d, b, u, t * p->batch + b, exists ? (d * p->batch + b) * p->hidden + u : -1, false,
                   exists && (p->full || t < p->lengths[exists ? b : 0]) };
    return at;
}

/* The sums start with what the input adds; own: the states of the thread's units. */
DN_FN void begin(const dn_rnn_step *p, dn_s64 b0, dn_s64 unit0, float acc[2 * GROUPS][4], float own[4][2])
{
    bool single = is_single(p);
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int q = 0; q < 2; q++) {
            unit_at at = unit_of(p, b0, unit0, i, q, 0);
            own[i][q] = at.alive ? state_of(p, at.state) : 0;
#pragma unroll
            for (int g = 0; g < GROUPS; g++) {
                if (single)
                    at = unit_of(p, b0, unit0, i, q, g);
                acc[2 * g + q][i] = at.alive ? input_of(p, at.d * p->gates_pitch + at.row * p->gates_ld + at.u, single ? 0 : g) : 0;
            }
        }
}

DN_FN void finish(const dn_rnn_fused *p, const unit_at *at, const float sum[4], float own)
{
    if (at->state < 0)
        return;
    float h = at->alive ? cell_forward(&p->s, at, sum, own) : 0;
    dn_one_store<DTYPE>(p->s.out, (at->row * p->s.directions + at->d) * p->s.hidden + at->u, h);
    if (at->alive)
        dn_one_store<DTYPE>(p->next, at->state, h);
    else
        ((dn_u16 *)p->next)[at->state] = ((const dn_u16 *)p->s.h)[at->state];
}

DN_FN void end(const dn_rnn_fused *p, dn_s64 b0, dn_s64 unit0, const float acc[2 * GROUPS][4], const float own[4][2])
{
    bool single = is_single(&p->s);
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int q = 0; q < 2; q++) {
            float sum[GROUPS];
#pragma unroll
            for (int g = 0; g < GROUPS; g++)
                sum[g] = acc[2 * g + q][i];
            unit_at at = unit_of(&p->s, b0, unit0, i, q, 0);
            finish(p, &at, sum, own[i][q]);
#pragma unroll
            for (int g = 1; g < GROUPS; g++)
                if (single) {
                    at = unit_of(&p->s, b0, unit0, i, q, g);
                    finish(p, &at, sum + g, 0);
                }
        }
}

extern "C" __global__ void __launch_bounds__(DN_RNN_FUSED_THREADS) KERNEL(const __grid_constant__ dn_rnn_fused p)
{
#if defined(DN_EMULATED)
    uint4 *shared = (uint4 *)emu_shared;
#else
    extern __shared__ uint4 shared[];
#endif
    dn_s64 d = blockIdx.z, b0 = (dn_s64)blockIdx.y * ROWS, unit0 = (dn_s64)blockIdx.x * (is_single(&p.s) ? UNITS * GROUPS : UNITS);
    dn_tile_source h = { (const dn_u16 *)p.s.h + d * p.s.batch * p.s.hidden, p.s.hidden, p.s.batch, p.s.hidden, p.wide_h != 0 };
    const dn_u16 *r = (const dn_u16 *)p.r + d * p.r_pitch;
    int steps = (int)((p.s.hidden + DN_GEMM_STEP - 1) / DN_GEMM_STEP), warp = (int)threadIdx.x / 32;
    float acc[1][2 * GROUPS][4], own[4][2];
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < steps) {
            copy_weights(shared + s * 2 * CHUNKS + CHUNKS, &p, r, unit0, s * DN_GEMM_STEP);
            dn_tile_copy<ROWS, 0, THREADS>(shared + s * 2 * CHUNKS, &h, b0, s * DN_GEMM_STEP);
        }
        dn_copy_commit();
    }
    begin(&p.s, b0, unit0, acc[0], own);
    for (int step = 0; step < steps; step++) {
        dn_copy_wait<STAGES - 2>();
        __syncthreads();
        int next = step + STAGES - 1;
        if (next < steps) {
            uint4 *to = shared + next % STAGES * 2 * CHUNKS;
            copy_weights(to + CHUNKS, &p, r, unit0, (dn_s64)next * DN_GEMM_STEP);
            dn_tile_copy<ROWS, 0, THREADS>(to, &h, b0, (dn_s64)next * DN_GEMM_STEP);
        }
        dn_copy_commit();
        const uint4 *from = shared + step % STAGES * 2 * CHUNKS;
#pragma unroll
        for (int k = 0; k < DN_GEMM_STEP; k += 16) {
            dn_u32 fa[1][4], fb[2 * GROUPS][2];
            dn_tile_a<ROWS, 0>(from, 16 * warp, k, fa[0]);
#pragma unroll
            for (int i = 0; i < 2 * GROUPS; i += 2)
                dn_tile_b<ROWS, 0>(from + CHUNKS, 8 * i, k, fb + i);
            dn_mma_block<DTYPE, 1, 2 * GROUPS>(acc, fa, fb);
        }
    }
    end(&p, b0, unit0, acc[0], own);
}
