/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Matrix products of f32 without tensor cores. Blocks of 256 threads, TILE x TILE results, TILE / 16 x TILE / 16 of them by one thread; as many
 * steps of the sum at a time in shared memory as make one vector of each matrix for a thread, the next ones on their way in registers. */
#include "cuda/gemm/epilogue.cuh"

enum { VECTOR = 4, PAD = 4 };
#define STEPS(TILE) (DN_GEMM_THREADS * VECTOR / (TILE))

/* Where a thread's vector of the next tile lies. */
typedef struct source {
    const float *from;
    int across;      /* outputs of it that exist: of one straight, 0 or 1; turned 0 to 4 */
    dn_s64 advance;  /* to the next tile */
    bool wide;
} source;

/* Four neighbours in memory, of which `count` exist. */
DN_FN float4 load_four(const float *from, int count, bool wide)
{
    float v[VECTOR] = { 0, 0, 0, 0 };
    if (wide && count == VECTOR)
        return *(const float4 *)from;
#pragma unroll
    for (int i = 0; i < VECTOR; i++)
        if (i < count)
            v[i] = from[i];
    return make_float4(v[0], v[1], v[2], v[3]);
}

/* Where a thread's vector of a tile lies: output i, step k. */
template <int TILE, int TURNED> DN_FN void place(int *i, int *k)
{
    int at = (int)threadIdx.x;
    *i = TURNED ? at % (TILE / VECTOR) * VECTOR : at / (STEPS(TILE) / VECTOR);
    *k = TURNED ? at / (TILE / VECTOR) : at % (STEPS(TILE) / VECTOR) * VECTOR;
}

/* Element (i, k) of a matrix of `rows` outputs lies at i ld + k, or turned at k ld + i. */
template <int TILE, int TURNED> DN_FN void aim(source *s, const float *base, dn_s64 ld, dn_s64 rows, dn_s64 i0, dn_s64 k0)
{
    int i, k;
    place<TILE, TURNED>(&i, &k);
    dn_s64 left = rows - i0 - i;
    s->across = left <= 0 ? 0 : !TURNED ? 1 : left < VECTOR ? (int)left : VECTOR;
    s->from = base + (TURNED ? (k0 + k) * ld + i0 + i : (i0 + i) * ld + k0 + k);
    s->advance = TURNED ? STEPS(TILE) * ld : STEPS(TILE);
}

/* left: steps of the sum from the tile's first on; zeros behind them. */
template <int TILE, int TURNED> DN_FN float4 fetch(source *s, int left)
{
    int i, k;
    place<TILE, TURNED>(&i, &k);
    int along = left - k, count = along <= 0 ? 0 : TURNED ? s->across : !s->across ? 0 : along < VECTOR ? along : VECTOR;
    float4 v = load_four(s->from, count, s->wide);
    s->from += s->advance;
    return v;
}

template <int TILE, int TURNED> DN_FN void keep(float (*tile)[TILE + PAD], float4 v)
{
    int i, k;
    place<TILE, TURNED>(&i, &k);
    if (TURNED) {
        *(float4 *)&tile[k][i] = v;
    } else {
        tile[k][i] = v.x;
        tile[k + 1][i] = v.y;
        tile[k + 2][i] = v.z;
        tile[k + 3][i] = v.w;
    }
}

template <int TILE> DN_FN void multiply(const float (*a_tile)[TILE + PAD], const float (*b_tile)[TILE + PAD], float (*acc)[TILE / 16])
{
    enum { N = TILE / 16 };
    int x = (int)threadIdx.x % 16 * VECTOR, y = (int)threadIdx.x / 16 * VECTOR;
#pragma unroll
    for (int k = 0; k < STEPS(TILE); k++) {
        float a[N], b[N];
#pragma unroll
        for (int h = 0; h < N; h += VECTOR) {
            *(float4 *)(a + h) = *(const float4 *)&a_tile[k][y + 16 * h];
            *(float4 *)(b + h) = *(const float4 *)&b_tile[k][x + 16 * h];
        }
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int j = 0; j < N; j++)
                acc[i][j] += a[i] * b[j];
    }
}

template <int TILE, int TURNED_A, int TURNED_B> DN_FN void product(const dn_gemm *p)
{
    enum { N = TILE / 16 };
    __shared__ float4 room[4 * STEPS(TILE) * (TILE + PAD) / VECTOR];
    float(*tiles)[STEPS(TILE)][TILE + PAD] = (float(*)[STEPS(TILE)][TILE + PAD])room;
    dn_s64 n_tiles = (p->n + TILE - 1) / TILE, m_tiles = (p->m + TILE - 1) / TILE, work = blockIdx.x;
    dn_s64 n0 = work % n_tiles * TILE, m0 = work / n_tiles % m_tiles * TILE, slab = work / n_tiles / m_tiles;
    dn_s64 part = slab / p->batch, batch = slab % p->batch, k0 = part * p->part, k_end = k0 + p->part < p->k ? k0 + p->part : p->k;
    source a, b;
    a.wide = p->wide_a != 0;
    b.wide = p->wide_b != 0;
    aim<TILE, TURNED_A>(&a, (const float *)p->a.ptr + batch * p->pitch_a, p->lda, p->m, m0, k0);
    aim<TILE, TURNED_B>(&b, (const float *)p->b.ptr + batch * p->pitch_b, p->ldb, p->n, n0, k0);
    float acc[N][N] = {};
    int left = (int)(k_end - k0);
    float4 next_a = fetch<TILE, TURNED_A>(&a, left), next_b = fetch<TILE, TURNED_B>(&b, left);
    for (int now = 0; left > 0; now ^= 2) {
        keep<TILE, TURNED_A>(tiles[now], next_a);
        keep<TILE, TURNED_B>(tiles[now + 1], next_b);
        __syncthreads();
        left -= STEPS(TILE);
        next_a = fetch<TILE, TURNED_A>(&a, left);
        next_b = fetch<TILE, TURNED_B>(&b, left);
        multiply<TILE>(tiles[now], tiles[now + 1], acc);
    }
    int x = (int)threadIdx.x % 16 * VECTOR, y = (int)threadIdx.x / 16 * VECTOR;
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j < N; j += 2)
            dn_gemm_put(p, slab, batch, m0 + y + i % VECTOR + i / VECTOR * 64, n0 + x + j % VECTOR + j / VECTOR * 64, acc[i] + j);
}

#define PRODUCT(name, tile, ta, tb) \
    extern "C" __global__ void __launch_bounds__(DN_GEMM_THREADS, 2) name(const __grid_constant__ dn_gemm p) { product<tile, ta, tb>(&p); }

/* B turned in the sense of the tile: its rows are steps of the sum unless it lies as [n][k]. */
PRODUCT(cuda_gemm_f32_128_nn, 128, 0, 1)
PRODUCT(cuda_gemm_f32_128_nt, 128, 0, 0)
PRODUCT(cuda_gemm_f32_128_tn, 128, 1, 1)
PRODUCT(cuda_gemm_f32_128_tt, 128, 1, 0)
PRODUCT(cuda_gemm_f32_64_nn, 64, 0, 1)
PRODUCT(cuda_gemm_f32_64_nt, 64, 0, 0)
PRODUCT(cuda_gemm_f32_64_tn, 64, 1, 1)
PRODUCT(cuda_gemm_f32_64_tt, 64, 1, 0)
