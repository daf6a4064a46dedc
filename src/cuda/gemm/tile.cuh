/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Tiles of 16-bit matrices in shared memory, for tensor cores. A tile has ROWS outputs by DN_GEMM_STEP steps of the sum. Lying straight its
 * rows are outputs (4 chunks of 16 bytes), turned they are steps (ROWS / 8 chunks); chunks change places so that neither copies nor
 * fragment loads meet in a bank. */
#ifndef DN_CUDA_GEMM_TILE_CUH
#define DN_CUDA_GEMM_TILE_CUH

#include "cuda/gemm/gemm.h"
#include "cuda/mma.cuh"

enum { DN_CHUNK = 8, DN_TILE_CHUNKS = DN_GEMM_STEP / DN_CHUNK };

/* Number of the chunk at a row and a column of chunks. */
template <int ROWS, int TURNED> DN_FN int dn_tile_at(int row, int chunk)
{
    return TURNED ? row * (ROWS / DN_CHUNK) + (chunk ^ (row & 7)) : row * DN_TILE_CHUNKS + (chunk ^ (row >> 1 & 3));
}

/* Where a matrix lies: element (i, k) at i ld + k, or turned at k ld + i. */
typedef struct dn_tile_source {
    const dn_u16 *base;
    dn_s64 ld, rows, k_end;      /* i < rows, k < k_end; zeros elsewhere */
    bool wide;                   /* rows begin at multiples of 16 bytes */
} dn_tile_source;

DN_FN uint4 dn_chunk_gather(const dn_u16 *from, int count)
{
    dn_u32 w[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        w[i] = (2 * i < count ? from[2 * i] : 0) | (dn_u32)(2 * i + 1 < count ? from[2 * i + 1] : 0) << 16;
    return make_uint4(w[0], w[1], w[2], w[3]);
}

/* Starts the copy of rows i0 .. and steps k0 .. of a matrix, by THREADS threads. */
template <int ROWS, int TURNED, int THREADS> DN_FN void dn_tile_copy(uint4 *tile, const dn_tile_source *s, dn_s64 i0, dn_s64 k0)
{
    enum { LINE = TURNED ? ROWS / DN_CHUNK : DN_TILE_CHUNKS };  /* chunks of a row of the tile */
#pragma unroll
    for (int j = 0; j < ROWS * DN_TILE_CHUNKS / THREADS; j++) {
        int at = (int)threadIdx.x + j * THREADS, row = at / LINE, chunk = at % LINE;
        dn_s64 i = i0 + (TURNED ? chunk * DN_CHUNK : row), k = k0 + (TURNED ? row : chunk * DN_CHUNK);
        dn_s64 left = TURNED ? (k < s->k_end ? s->rows - i : 0) : (i < s->rows ? s->k_end - k : 0);
        int count = left <= 0 ? 0 : left < DN_CHUNK ? (int)left : DN_CHUNK;
        const dn_u16 *from = s->base + (count ? (TURNED ? k * s->ld + i : i * s->ld + k) : 0);
        uint4 *to = tile + dn_tile_at<ROWS, TURNED>(row, chunk);
        if (s->wide)
            dn_copy16(to, from, 2 * count);
        else
            *to = dn_chunk_gather(from, count);
    }
}

/* Fragments of the step from k (a multiple of 16) on: A of rows i .. i + 15, B of columns i .. i + 15 (two). */
template <int ROWS, int TURNED> DN_FN void dn_tile_a(const uint4 *tile, int i, int k, dn_u32 a[4])
{
    int lane = (int)threadIdx.x & 31, in = lane & 7, low = lane >> 3 & 1, high = lane >> 4;
    if (TURNED)
        dn_matrices_load_turned(tile + dn_tile_at<ROWS, 1>(k + in + 8 * high, i / DN_CHUNK + low), a);
    else
        dn_matrices_load(tile + dn_tile_at<ROWS, 0>(i + in + 8 * low, k / DN_CHUNK + high), a);
}

template <int ROWS, int TURNED> DN_FN void dn_tile_b(const uint4 *tile, int i, int k, dn_u32 b[2][2])
{
    int lane = (int)threadIdx.x & 31, in = lane & 7, low = lane >> 3 & 1, high = lane >> 4;
    dn_u32 v[4];
    if (TURNED)
        dn_matrices_load_turned(tile + dn_tile_at<ROWS, 1>(k + in + 8 * low, i / DN_CHUNK + high), v);
    else
        dn_matrices_load(tile + dn_tile_at<ROWS, 0>(i + in + 8 * high, k / DN_CHUNK + low), v);
    b[0][0] = v[0];
    b[0][1] = v[1];
    b[1][0] = v[2];
    b[1][1] = v[3];
}

#endif
