/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Softmax of packed rows that are too long for registers, by pieces of p.chunk vectors of 16 bytes. A row is read twice, the second time from
 * the level 2 cache where all rows that are worked on fit into it.
 *     DN_TYPE, BACKWARD    the type; 1 for the gradient
 *     WHOLE                kernel: one block per row does all of it
 *     PART, WRITE          kernels: grid (pieces, rows); maximum and sum of each piece, then the result from those of all pieces */
#include "cuda/softmax/vectors.cuh"

enum { THREADS = 512, UNROLL = 4 };

/* Maximum and sum; backward the sum alone. */
typedef struct row_sum {
    float m, s;
} row_sum;

DN_FN void join(row_sum *a, row_sum b)
{
    if (BACKWARD)
        a->s += b.s;
    else
        dn_softmax_merge(&a->m, &a->s, b.m, b.s);
}

DN_FN row_sum shuffled(row_sum a, int o)
{
    row_sum b = { __shfl_xor_sync(0xffffffffu, a.m, o), __shfl_xor_sync(0xffffffffu, a.s, o) };
    return b;
}

/* Over a block; the same in every thread. */
DN_FN row_sum block_sum(row_sum a)
{
    __shared__ row_sum sh[THREADS / 32];
#pragma unroll
    for (int o = 16; o; o /= 2)
        join(&a, shuffled(a, o));
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        sh[threadIdx.x / 32] = a;
    __syncthreads();
    a = sh[threadIdx.x % (THREADS / 32)];
#pragma unroll
    for (int o = THREADS / 64; o; o /= 2)
        join(&a, shuffled(a, o));
    return a;
}

/* The vectors u (and w: the gradient) of one thread join the sum. */
DN_FN void add(const dn_softmax_rows *p, row_sum *sum, const uint4 *u, const uint4 *w)
{
    float m = sum->m, s = 0;
#pragma unroll
    for (int k = 0; k < UNROLL && !BACKWARD; k++) {
        float f[VN];
        dn_unpack<DN_TYPE, VN>(u[k], f);
#pragma unroll
        for (int e = 0; e < VN; e++)
            m = fmaxf(m, f[e]);
    }
    const float base = dn_softmax_base(m);
#pragma unroll
    for (int k = 0; k < UNROLL; k++) {
        float f[VN], g[VN];
        dn_unpack<DN_TYPE, VN>(u[k], f);
        dn_unpack<DN_TYPE, VN>(w[k], g);
#pragma unroll
        for (int e = 0; e < VN; e++)
            s += BACKWARD ? dn_softmax_term(p->algo, f[e], g[e]) : dn_exp(f[e] - base);
    }
    if (!BACKWARD && sum->m != m)
        sum->s *= dn_exp(sum->m - m);
    sum->s += s;
    sum->m = m;
}

DN_FN row_sum piece_sum(const dn_softmax_rows *p, const row_span *row, int from, int to)
{
    const dn_u32 none = BACKWARD ? 0 : DN_TYPE == DN_T_F32 ? MINUS_INFINITY : MINUS_INFINITY << 16 | MINUS_INFINITY;
    row_sum sum = { -DN_INF, 0 };
    for (int i = from + (int)threadIdx.x; i < to; i += THREADS * UNROLL) {
        uint4 u[UNROLL], w[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            u[k] = make_uint4(none, none, none, none);
            w[k] = make_uint4(0, 0, 0, 0);
            if (i + k * THREADS < to) {
                u[k] = row_load_again(p, p->in, row, i + k * THREADS, BACKWARD ? 0 : MINUS_INFINITY, true);
                if (BACKWARD)
                    w[k] = row_load_again(p, p->grad, row, i + k * THREADS, 0, true);
            }
        }
        add(p, &sum, u, w);
    }
    return block_sum(sum);
}

DN_FN void piece_write(const dn_softmax_rows *p, const row_span *row, int from, int to, row_sum sum)
{
    const float shift = BACKWARD ? 0 : dn_softmax_settle(p->algo, sum.m, &sum.s);
    const float k1 = BACKWARD ? sum.s : dn_softmax_close(p->algo, sum.s, p->alpha);
    for (int i = from + (int)threadIdx.x; i < to; i += THREADS * UNROLL) {
        uint4 u[UNROLL], w[BACKWARD ? UNROLL : 1];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            if (i + k * THREADS < to) {
                u[k] = row_load(p, p->in, row, i + k * THREADS, 0);
                if (BACKWARD)
                    w[BACKWARD ? k : 0] = row_load(p, p->grad, row, i + k * THREADS, 0);
            }
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            if (i + k * THREADS < to) {
                float f[VN], g[VN];
                dn_unpack<DN_TYPE, VN>(u[k], f);
                if (BACKWARD)
                    dn_unpack<DN_TYPE, VN>(w[BACKWARD ? k : 0], g);
#pragma unroll
                for (int e = 0; e < VN; e++)
                    f[e] = BACKWARD ? dn_softmax_gradient(p->algo, f[e], g[e], k1, p->alpha)
                                    : dn_softmax_result(p->algo, f[e], shift, k1, p->alpha);
                row_store(p, row, i + k * THREADS, f);
            }
    }
}

DN_FN int piece_end(const dn_softmax_rows *p, const row_span *row)
{
    int end = ((int)blockIdx.x + 1) * p->chunk;
    return end < row->vectors ? end : row->vectors;
}

extern "C" __global__ void __launch_bounds__(THREADS, BACKWARD ? 1 : 2) WHOLE(const __grid_constant__ dn_softmax_rows p)
{
    for (dn_s64 r = blockIdx.x; r < p.rows; r += gridDim.x) {
        const row_span row = span_of(&p, r, true);
        const row_sum sum = piece_sum(&p, &row, 0, row.vectors);
        piece_write(&p, &row, 0, row.vectors, sum);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BACKWARD ? 1 : 2) PART(const __grid_constant__ dn_softmax_rows p)
{
    const row_span row = span_of(&p, blockIdx.y, true);
    const row_sum sum = piece_sum(&p, &row, (int)blockIdx.x * p.chunk, piece_end(&p, &row));
    if (threadIdx.x == 0) {
        float *part = p.part + ((dn_s64)blockIdx.y * p.chunks + blockIdx.x) * 2;
        part[0] = sum.m;
        part[1] = sum.s;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BACKWARD ? 1 : 2) WRITE(const __grid_constant__ dn_softmax_rows p)
{
    const row_span row = span_of(&p, blockIdx.y, true);
    row_sum sum = { -DN_INF, 0 };
    for (int i = (int)threadIdx.x; i < p.chunks; i += THREADS) {
        const float *part = p.part + ((dn_s64)blockIdx.y * p.chunks + i) * 2;
        const row_sum one = { part[0], part[1] };
        join(&sum, one);
    }
    piece_write(&p, &row, (int)blockIdx.x * p.chunk, piece_end(&p, &row), block_sum(sum));
}
