/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What attention does between its matrix products: rows of any layout to and from compact arrays, softmax, dropout. Any type, strides and
 * alignment; a warp per row of scores. */
#include "core/philox.h"
#include "cuda/attn/attn.h"
#include "cuda/common.cuh"

extern "C" __global__ void cuda_attn_window(const __grid_constant__ dn_attn_window p)
{
    for (int i = (int)threadIdx.x; i < p.count; i += (int)blockDim.x) {
        p.to[p.first + i] = p.lo[i];
        p.to[p.times + p.first + i] = p.hi[i];
    }
}

DN_FN int cut(int v, int most)
{
    return v < 0 ? 0 : v < most ? v : most;
}

extern "C" __global__ void cuda_attn_keep(const __grid_constant__ dn_attn_keep p)
{
    for (int i = (int)threadIdx.x; i < p.count_q; i += (int)blockDim.x)
        p.to_q[i] = cut(p.from_q[i], p.most_q);
    for (int i = (int)threadIdx.x; i < p.count_k; i += (int)blockDim.x)
        p.to_k[i] = cut(p.from_k[i], p.most_k);
    if (threadIdx.x != 0)
        return;
    for (int k = 0; k < 2; k++) {
        char *state = (char *)p.states[k], *to = (char *)p.kept + 64 * k;
        for (int i = 0; state && i < 64; i++)
            to[i] = state[i];
        if (state)
            dn_store_bytes(state + 8, 8, dn_load_bytes(state + 8, 8) + 1);
    }
}

/* v / (1 - p) or 0 */
DN_FN double drop(const dn_attn_mask_view *m, dn_u64 seed, dn_u64 call, dn_s64 element, double v)
{
    unsigned word[4];
    dn_philox_dropout(seed, call, (dn_u64)element / 4, word);
    int k = (int)element & 3;
    unsigned w = k < 2 ? (k == 0 ? word[0] : word[1]) : k == 2 ? word[2] : word[3];  /* an index would put them into memory */
    return w >= m->threshold ? v * m->scale : 0;
}

DN_FN dn_u64 seed_of(const dn_attn_mask_view *m)
{
    return m->state ? dn_load_bytes(m->state, 8) : 0;
}

DN_FN dn_u64 call_of(const dn_attn_mask_view *m)
{
    return m->state ? dn_load_bytes((const char *)m->state + 8, 8) : 0;
}

/* Where a row of the compact array lies by strides; *inside: it is not past its sequence's end. */
DN_FN dn_s64 row_at(const dn_attn_rows_view *p, const long long *stride, dn_s64 row, bool *inside)
{
    dn_s64 sequence = row / p->times, time = p->first + row % p->times;
    *inside = !p->len || time < p->len[sequence];
    return time * stride[0] + sequence / p->beams * stride[1] + sequence % p->beams * stride[2];
}

extern "C" __global__ void cuda_attn_pack(const __grid_constant__ dn_attn_rows_view p)
{
    dn_u64 seed = seed_of(&p.mask), call = call_of(&p.mask);
    for (dn_s64 i = DN_THREAD; i < p.rows * p.vector; i += DN_THREADS) {
        bool inside;
        dn_s64 at = row_at(&p, p.stride, i / p.vector, &inside) + i % p.vector * p.stride[3];
        double v = inside ? dn_load(&p.e, at) : 0;
        dn_store(&p.compact, i, inside && p.mask.state ? drop(&p.mask, seed, call, i, v) : v);
    }
}

extern "C" __global__ void cuda_attn_unpack(const __grid_constant__ dn_attn_rows_view p)
{
    dn_u64 seed = seed_of(&p.mask), call = call_of(&p.mask);
    for (dn_s64 i = DN_THREAD; i < p.rows * p.vector; i += DN_THREADS) {
        bool inside, unused;
        dn_s64 at = row_at(&p, p.stride, i / p.vector, &inside) + i % p.vector * p.stride[3];
        double v = inside ? dn_load(&p.compact, i) : 0;
        if (p.mask.state)
            v = drop(&p.mask, seed, call, i, v);
        if (p.added.ptr)
            v += dn_load(&p.added, row_at(&p, p.added_stride, i / p.vector, &unused) + i % p.vector * p.added_stride[3]);
        dn_store(&p.e, at, v);
    }
}

#define WARP ((dn_s64)blockIdx.x * (DN_ATTN_BLOCK / 32) + threadIdx.x / 32)
#define WARPS ((dn_s64)gridDim.x * (DN_ATTN_BLOCK / 32))

#define REAL float
#define EXP(x) expf(x)
#define INFINITE DN_INF
#define SOFTMAX cuda_attn_softmax_f32
#define SOFTMAX_BWD cuda_attn_softmax_bwd_f32
#define WARP_SUM warp_sum_f32
#define WARP_MAX warp_max_f32
#include "cuda/attn/softmax_body.cuh"

#define REAL double
#define EXP(x) exp(x)
#define INFINITE DN_INF_D
#define SOFTMAX cuda_attn_softmax_f64
#define SOFTMAX_BWD cuda_attn_softmax_bwd_f64
#define WARP_SUM warp_sum_f64
#define WARP_MAX warp_max_f64
#include "cuda/attn/softmax_body.cuh"

/* kept = dropout(p) again, for gradients */
extern "C" __global__ void cuda_attn_drop(const __grid_constant__ dn_attn_softmax_view p)
{
    dn_u64 seed = seed_of(&p.mask), call = call_of(&p.mask);
    for (dn_s64 i = DN_THREAD; i < p.lines * p.keys; i += DN_THREADS)
        dn_store(&p.kept, i, drop(&p.mask, seed, call, i, dn_load(&p.prob, i)));
}

extern "C" __global__ void cuda_attn_turn(const __grid_constant__ dn_attn_turn p)
{
    dn_s64 n = p.rows * p.heads * p.size;
    for (dn_s64 i = DN_THREAD; i < n; i += DN_THREADS) {
        dn_s64 k = i % p.size, head = i / p.size % p.heads, row = i / p.size / p.heads;
        dn_s64 split = (head * p.rows + row) * p.size + k;
        dn_store(&p.to, p.split ? split : i, dn_load(&p.from, p.split ? i : split));
    }
}

/* 32 columns by 8 rows of threads in a block. */
extern "C" __global__ void cuda_attn_columns(const __grid_constant__ dn_attn_columns_view p)
{
    __shared__ double part[8][DN_ATTN_COLUMNS];
    int x = (int)threadIdx.x % DN_ATTN_COLUMNS, y = (int)threadIdx.x / DN_ATTN_COLUMNS;
    dn_s64 column = (dn_s64)blockIdx.x * DN_ATTN_COLUMNS + x;
    double sum = 0;
    for (dn_s64 row = y; column < p.columns && row < p.rows; row += 8)
        sum += dn_load(&p.from, row * p.columns + column);
    part[y][x] = sum;
    __syncthreads();
    if (y != 0 || column >= p.columns)
        return;
    for (int i = 1; i < 8; i++)
        sum += part[i][x];
    dn_store_blend(&p.to, column, sum, 1, p.beta);
}
