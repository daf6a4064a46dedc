/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation of NHWC (and of anything that is rows of kept elements) in three kernels. Where the channels fill no vectors, a row
 * here is several of the tensor's, so that a channel comes more than once in it. A block is p.span vectors across and as
 * many rows down as fit; a thread keeps the sums, or the constants, of the channels of its vector. blockIdx.y: which vectors across,
 * blockIdx.x: which part of the rows; apply takes the parts and their rows from the end, which was read last and may still lie in the cache.
 * The including file names T_*, KIND (DN_BN_INFER ...), KERNEL, but for the gradient KERNEL_ADD, and but for inference
 * KERNEL_STAT, KERNEL_FINAL. */
#include "cuda/norm/bn_fast.cuh"

enum { DN_BN_BLOCK = 256, DN_BN_BLOCKS = KIND == DN_BN_BWD ? 2 : 3 };  /* BLOCKS: of an SM; the registers are for what is in flight */

/* A thread's place. */
typedef struct dn_bn_place {
    int across, y, ny;       /* vector of the row, row within the block's, their number */
    int begin, end;          /* rows of this part */
} dn_bn_place;

DN_FN dn_bn_place dn_bn_place_of(const dn_bn_fast *p, int part)
{
    dn_bn_place t;
    t.across = (int)blockIdx.y * p->span + (int)threadIdx.x % p->span;
    t.y = (int)threadIdx.x / p->span;
    t.ny = (int)blockDim.x / p->span;
    t.begin = (int)((dn_s64)p->rows * part / (int)gridDim.x);
    t.end = (int)((dn_s64)p->rows * (part + 1) / (int)gridDim.x);
    return t;
}

#if defined(KERNEL_STAT)
/* Adds one vector to the sums of its channels. */
DN_FN void dn_bn_add(const float *f, const float *g, const float *shift, float *a, float *b)
{
#pragma unroll
    for (int e = 0; e < DN_VN; e++) {
        float d = f[e] - shift[e], v = KIND == DN_BN_BWD ? g[e] : d;
        a[e] += v;
        b[e] += v * d;
    }
}

/* Sums over the rows of the block, in order, to their places. */
DN_FN void dn_bn_stat_close(const dn_bn_fast *p, const dn_bn_place *t, const float *a, const float *b)
{
    __shared__ float2 sh[DN_BN_BLOCK];
#pragma unroll
    for (int e = 0; e < DN_VN; e++) {
        __syncthreads();
        sh[threadIdx.x] = make_float2(a[e], b[e]);
        __syncthreads();
        if (t->y != 0 || t->across * DN_VN >= p->row)
            continue;
        float2 sum = make_float2(0.0f, 0.0f);
        for (int y = 0; y < t->ny; y++) {
            sum.x += sh[y * p->span + (int)threadIdx.x].x;
            sum.y += sh[y * p->span + (int)threadIdx.x].y;
        }
        *(float2 *)(p->part + 2 * ((dn_s64)(t->across * DN_VN + e) * p->s + blockIdx.x)) = sum;
    }
}

extern "C" __global__ void __launch_bounds__(DN_BN_BLOCK, DN_BN_BLOCKS) KERNEL_STAT(const __grid_constant__ dn_bn_fast p)
{
    enum { U = KIND == DN_BN_BWD ? 3 : 4 };
    dn_bn_place t = dn_bn_place_of(&p, (int)blockIdx.x);
    float a[DN_VN], b[DN_VN], shift[DN_VN];
    bool on = t.across * DN_VN < p.row;
#pragma unroll
    for (int e = 0; e < DN_VN; e++) {
        a[e] = b[e] = 0.0f;
        int c = on ? (t.across * DN_VN + e) % p.c : 0;
        shift[e] = KIND == DN_BN_BWD ? p.save_mean[c] : dn_t_get(((const dn_t *)p.x)[c]);
    }
    for (int r = t.begin + t.y; on && r < t.end; r += t.ny * U) {
        uint4 u[U], w[U];
        dn_u64 mask[U];
#pragma unroll
        for (int k = 0; k < U; k++) {
            int row = r + k * t.ny;
            dn_s64 at = (dn_s64)row * p.row + t.across * DN_VN;
            if (row >= t.end)
                continue;
            u[k] = dn_vec_keep((const dn_t *)p.x + at);
            if (KIND == DN_BN_BWD)
                w[k] = dn_vec_keep((const dn_t *)p.in + at);
            if (KIND == DN_BN_BWD && p.mask)
                mask[k] = dn_bn_mask_load(&p, at);
        }
#pragma unroll
        for (int k = 0; k < U; k++) {
            float f[DN_VN], g[DN_VN];
            if (r + k * t.ny >= t.end)
                continue;
            dn_vec_get(u[k], f);
            if (KIND == DN_BN_BWD)
                dn_vec_get(w[k], g);
            if (KIND == DN_BN_BWD && p.mask)
                dn_bn_stop(g, mask[k]);
            dn_bn_add(f, g, shift, a, b);
        }
    }
    dn_bn_stat_close(&p, &t, a, b);
}

extern "C" __global__ void KERNEL_FINAL(const __grid_constant__ dn_bn_fast p)
{
    dn_bn_final<KIND>(&p);
}
#endif

/* ADD: z is added. */
template <int ADD> DN_FN void dn_bn_apply(const dn_bn_fast *p)
{
    enum { U = ADD ? 2 : KIND == DN_BN_BWD || DN_VN == 8 ? 3 : 4 };
    dn_bn_place t = dn_bn_place_of(p, (int)(gridDim.x - 1 - blockIdx.x));
    float4 c[DN_VN];
    if (t.across * DN_VN >= p->row)
        return;
#pragma unroll
    for (int e = 0; e < DN_VN; e++)
        c[e] = dn_bn_constants<KIND>(p, (t.across * DN_VN + e) % p->c);
    for (int r = t.end - 1 - t.y; r >= t.begin; r -= t.ny * U) {
        uint4 u[U], w[U];
        dn_u64 mask[U];
#pragma unroll
        for (int k = 0; k < U; k++) {
            int row = r - k * t.ny;
            dn_s64 at = (dn_s64)row * p->row + t.across * DN_VN;
            if (row < t.begin)
                continue;
            u[k] = dn_vec_last((const dn_t *)p->x + at);
            if (KIND == DN_BN_BWD || ADD)
                w[k] = dn_vec_last((const dn_t *)p->in + at);
            if (KIND == DN_BN_BWD && p->mask)
                mask[k] = dn_bn_mask_load(p, at);
        }
#pragma unroll
        for (int k = 0; k < U; k++) {
            int row = r - k * t.ny;
            dn_s64 at = (dn_s64)row * p->row + t.across * DN_VN;
            float f[DN_VN], g[DN_VN];
            if (row < t.begin)
                continue;
            dn_vec_get(u[k], f);
            if (KIND == DN_BN_BWD || ADD)
                dn_vec_get(w[k], g);
            if (KIND == DN_BN_BWD && p->mask)
                dn_bn_stop(g, mask[k]);
#pragma unroll
            for (int e = 0; e < DN_VN; e++)
                f[e] = dn_bn_one<KIND>(c[e], f[e], g[e]);
            dn_bn_finish<KIND, ADD>(p, f, g, at);
        }
    }
}

extern "C" __global__ void __launch_bounds__(DN_BN_BLOCK, DN_BN_BLOCKS) KERNEL(const __grid_constant__ dn_bn_fast p)
{
    dn_bn_apply<0>(&p);
}

#if defined(KERNEL_ADD)
extern "C" __global__ void __launch_bounds__(DN_BN_BLOCK, DN_BN_BLOCKS) KERNEL_ADD(const __grid_constant__ dn_bn_fast p)
{
    dn_bn_apply<1>(&p);
}
#endif
