/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Products of 16-bit matrices on tensor cores: stages of shared memory filled by copies that run beside the sums. The file that
 * includes this defines DTYPE (DN_T_F16 or DN_T_BF16), K128_NN ... K64_TT, the names of the kernels (second letter pair: whether A and B
 * are turned in memory). */
#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/tile.cuh"

/* Tiles of TILE x TILE. Warps stand in rows of WARPS_N, each with 16 M x 8 N sums. */
template <int TILE, int STAGES, int WARPS_N, int M, int N, int TURNED_A, int TURNED_B> DN_FN void product(const dn_gemm *p)
{
    enum { THREADS = TILE / (16 * M) * WARPS_N * 32, HALF = TILE * DN_TILE_CHUNKS };
#if defined(DN_EMULATED)
    uint4 *shared = (uint4 *)emu_shared;
#else
    extern __shared__ uint4 shared[];
#endif
    dn_s64 n_tiles = (p->n + TILE - 1) / TILE, m_tiles = (p->m + TILE - 1) / TILE, work = blockIdx.x;
    dn_s64 n0 = work % n_tiles * TILE, m0 = work / n_tiles % m_tiles * TILE, slab = work / n_tiles / m_tiles;
    dn_s64 part = slab / p->batch, batch = slab % p->batch, k0 = part * p->part, k_end = k0 + p->part < p->k ? k0 + p->part : p->k;
    dn_tile_source a = { (const dn_u16 *)p->a.ptr + batch * p->pitch_a, p->lda, p->m, k_end, p->wide_a != 0 };
    dn_tile_source b = { (const dn_u16 *)p->b.ptr + batch * p->pitch_b, p->ldb, p->n, k_end, p->wide_b != 0 };
    int warp = (int)threadIdx.x / 32, wm = warp / WARPS_N * 16 * M, wn = warp % WARPS_N * 8 * N;
    int steps = k0 < k_end ? (int)((k_end - k0 + DN_GEMM_STEP - 1) / DN_GEMM_STEP) : 0;
    float acc[M][N][4] = {};
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < steps) {
            dn_tile_copy<TILE, TURNED_A, THREADS>(shared + s * 2 * HALF, &a, m0, k0 + s * DN_GEMM_STEP);
            dn_tile_copy<TILE, TURNED_B, THREADS>(shared + s * 2 * HALF + HALF, &b, n0, k0 + s * DN_GEMM_STEP);
        }
        dn_copy_commit();
    }
    for (int step = 0; step < steps; step++) {
        dn_copy_wait<STAGES - 2>();
        __syncthreads();
        int next = step + STAGES - 1;
        if (next < steps) {
            uint4 *to = shared + next % STAGES * 2 * HALF;
            dn_tile_copy<TILE, TURNED_A, THREADS>(to, &a, m0, k0 + (dn_s64)next * DN_GEMM_STEP);
            dn_tile_copy<TILE, TURNED_B, THREADS>(to + HALF, &b, n0, k0 + (dn_s64)next * DN_GEMM_STEP);
        }
        dn_copy_commit();
        const uint4 *from = shared + step % STAGES * 2 * HALF;
#pragma unroll
        for (int k = 0; k < DN_GEMM_STEP; k += 16) {
            dn_u32 fa[M][4], fb[N][2];
#pragma unroll
            for (int i = 0; i < M; i++)
                dn_tile_a<TILE, TURNED_A>(from, wm + 16 * i, k, fa[i]);
#pragma unroll
            for (int i = 0; i < N; i += 2)
                dn_tile_b<TILE, TURNED_B>(from + HALF, wn + 8 * i, k, fb + i);
            dn_mma_block<DTYPE, M, N>(acc, fa, fb);
        }
    }
    int g = (int)threadIdx.x % 32 / 4, t = (int)threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < M; i++)
#pragma unroll
        for (int j = 0; j < N; j++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                dn_gemm_put(p, slab, batch, m0 + wm + 16 * i + g + 8 * half, n0 + wn + 8 * j + 2 * t, acc[i][j] + 2 * half);
}

#define PRODUCT_128(name, ta, tb) \
    extern "C" __global__ void __launch_bounds__(256, 2) name(const __grid_constant__ dn_gemm p) { product<128, DN_GEMM_STAGES_128, 4, 4, 4, ta, tb>(&p); }
#define PRODUCT_64(name, ta, tb) \
    extern "C" __global__ void __launch_bounds__(128) name(const __grid_constant__ dn_gemm p) { product<64, DN_GEMM_STAGES_64, 2, 2, 4, ta, tb>(&p); }

/* B turned in the sense of the tile: its rows are steps of the sum unless it lies as [n][k]. */
PRODUCT_128(K128_NN, 0, 1)
PRODUCT_128(K128_NT, 0, 0)
PRODUCT_128(K128_TN, 1, 1)
PRODUCT_128(K128_TT, 1, 0)
PRODUCT_64(K64_NN, 0, 1)
PRODUCT_64(K64_NT, 0, 0)
PRODUCT_64(K64_TN, 1, 1)
PRODUCT_64(K64_TT, 1, 0)
