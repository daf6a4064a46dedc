/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Products of matrices of any types and alignment. The file that includes this defines
 *     DN_SUM             float or double: what is summed
 *     KERNEL, REDUCE     names of the kernels
 *
 * Tiles of 64 x 64 by blocks of 256 threads, 4 x 4 results each, 16 steps of the sum at a time in shared memory. */
#include "cuda/common.cuh"
#include "cuda/gemm/gemm.h"

#define TILE 64
#define STEPS 16
#define PAD 4

static __device__ __noinline__ DN_SUM load_any(const dn_elements *e, dn_s64 i)
{
    return (DN_SUM)dn_load(e, i);
}

DN_FN DN_SUM load_sum(const dn_elements *e, dn_s64 i)
{
    if (e->bytes)
        return load_any(e, i);
    switch (e->type) {
    case DN_T_F16: return (DN_SUM)dn_half_to_float(((const dn_u16 *)e->ptr)[i]);
    case DN_T_BF16: return (DN_SUM)dn_bf16_to_float(((const dn_u16 *)e->ptr)[i]);
    case DN_T_F32: return (DN_SUM)((const float *)e->ptr)[i];
    default: return load_any(e, i);
    }
}

/* out[k][i]: elements (i0 + i, k0 + k) of a matrix that lies as [i][k], or as [k][i] where turned; 0 outside. */
DN_FN void load_tile(DN_SUM out[STEPS][TILE + PAD], const dn_elements *e, dn_s64 ld, bool turned, dn_s64 base, dn_s64 i0, dn_s64 i_end, dn_s64 k0,
                     dn_s64 k_end)
{
#pragma unroll
    for (int j = 0; j < TILE * STEPS / DN_GEMM_THREADS; j++) {
        int at = (int)threadIdx.x + j * DN_GEMM_THREADS, i = turned ? at % TILE : at / STEPS, k = turned ? at / TILE : at % STEPS;
        bool in = i0 + i < i_end && k0 + k < k_end;
        out[k][i] = in ? load_sum(e, base + (turned ? (k0 + k) * ld + i0 + i : (i0 + i) * ld + k0 + k)) : (DN_SUM)0;
    }
}

DN_FN void multiply(const DN_SUM a_tile[STEPS][TILE + PAD], const DN_SUM b_tile[STEPS][TILE + PAD], DN_SUM acc[4][4])
{
    int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4;
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        DN_SUM a[4], b[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            a[i] = a_tile[k][y + i];
            b[i] = b_tile[k][x + i];
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                acc[i][j] += a[i] * b[j];
    }
}

static __device__ __noinline__ void store(const dn_gemm *p, dn_s64 batch, dn_s64 m, dn_s64 n, double sum)
{
    dn_s64 at = batch * p->pitch_c + m * p->ldc + n;
    sum *= p->alpha;
    if (p->bias.ptr)
        sum += dn_load(&p->bias, batch * p->pitch_bias + n);
    if (p->beta != 0)
        sum += p->beta * dn_load(&p->c, at);
    dn_store(&p->c, at, sum);
}

extern "C" __global__ void __launch_bounds__(DN_GEMM_THREADS) KERNEL(const __grid_constant__ dn_gemm p)
{
    __shared__ DN_SUM a[STEPS][TILE + PAD], b[STEPS][TILE + PAD];
    dn_s64 n_tiles = (p.n + TILE - 1) / TILE, m_tiles = (p.m + TILE - 1) / TILE, work = blockIdx.x;
    dn_s64 n0 = work % n_tiles * TILE, m0 = work / n_tiles % m_tiles * TILE, slab = work / n_tiles / m_tiles;
    dn_s64 part = slab / p.batch, batch = slab % p.batch, k_end = (part + 1) * p.part < p.k ? (part + 1) * p.part : p.k;
    DN_SUM acc[4][4] = {};
    for (dn_s64 k0 = part * p.part; k0 < k_end; k0 += STEPS) {
        __syncthreads();
        load_tile(a, &p.a, p.lda, p.trans_a != 0, batch * p.pitch_a, m0, p.m, k0, k_end);
        load_tile(b, &p.b, p.ldb, p.trans_b == 0, batch * p.pitch_b, n0, p.n, k0, k_end);
        __syncthreads();
        multiply(a, b, acc);
    }
    int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            dn_s64 m = m0 + y + i, n = n0 + x + j;
            if (m >= p.m || n >= p.n)
                continue;
            if (p.parts > 1)
                ((DN_SUM *)p.partial)[(slab * p.m + m) * p.n + n] = acc[i][j];
            else
                store(&p, batch, m, n, acc[i][j]);
        }
}

/* The sums of the parts, first to last. */
extern "C" __global__ void __launch_bounds__(DN_GEMM_THREADS) REDUCE(const __grid_constant__ dn_gemm p)
{
    dn_s64 count = p.batch * p.m * p.n;
    for (dn_s64 i = DN_THREAD; i < count; i += DN_THREADS) {
        DN_SUM sum = 0;
        for (int part = 0; part < p.parts; part++)
            sum += ((const DN_SUM *)p.partial)[part * count + i];
        dn_s64 row = i / p.n;
        store(&p, row / p.m, row % p.m, i - row * p.n, sum);
    }
}
