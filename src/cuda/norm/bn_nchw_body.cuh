/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation of NCHW in three kernels. Statistics: block (c, s) adds part s of the vectors of channel c. Final: the constants of
 * each channel. Apply: vectors of the whole tensor in order, whichever planes they lie in, so that planes of any size are moved as vectors;
 * the tensor's end, which was read last and may still lie in the cache, comes first.
 * The including file names T_*, KIND (DN_BN_INFER ...), KERNEL, but for the gradient KERNEL_ADD, and but for inference KERNEL_STAT,
 * KERNEL_STAT_ODD, KERNEL_FINAL. */
#include "cuda/norm/bn_fast.cuh"

enum { DN_BN_STAT_BLOCK = 512, DN_BN_APPLY_BLOCK = 256, DN_BN_UNROLL = KIND == DN_BN_BWD ? 2 : 4 };

#if defined(KERNEL_STAT)
/* A vector of channel c: its first element, and which element of the plane that is (below 0 where the plane starts later). */
typedef struct dn_bn_spot {
    dn_s64 at;
    int lo;
} dn_bn_spot;

/* Vector i of the plane of image n; vectors lie at multiples of their size, so that those of an odd plane reach into its neighbours. */
template <int ODD> DN_FN dn_bn_spot dn_bn_spot_of(const dn_bn_fast *p, int c, int n, int i)
{
    dn_bn_spot s;
    dn_s64 plane = n * p->image + (dn_s64)c * p->hw;
    int lead = ODD ? (int)(plane & (DN_VN - 1)) : 0;
    s.lo = i * DN_VN - lead;
    s.at = plane + s.lo;
    return s;
}

template <int ODD> DN_FN uint4 dn_bn_spot_load(const dn_bn_fast *p, const void *base, dn_bn_spot s)
{
    const dn_t *at = (const dn_t *)base + s.at;
    if (ODD && s.at + DN_VN > p->count) {
        float f[DN_VN];
#pragma unroll
        for (int e = 0; e < DN_VN; e++)
            f[e] = s.at + e < p->count ? dn_t_get(at[e]) : 0.0f;
        return dn_vec_put(f);
    }
    return dn_vec_keep(at);
}

/* The two sums of a block, to its place among the partial ones. */
DN_FN void dn_bn_stat_close(const dn_bn_fast *p, float a, float b)
{
    __shared__ float sh[2][DN_BN_STAT_BLOCK / 32];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31;
    a = dn_warp_sum(a);
    b = dn_warp_sum(b);
    if (lane == 0) {
        sh[0][warp] = a;
        sh[1][warp] = b;
    }
    __syncthreads();
    if (warp)
        return;
    a = dn_warp_sum(lane < DN_BN_STAT_BLOCK / 32 ? sh[0][lane] : 0.0f);
    b = dn_warp_sum(lane < DN_BN_STAT_BLOCK / 32 ? sh[1][lane] : 0.0f);
    if (lane == 0) {
        p->part[2 * (dn_s64)blockIdx.x] = a;
        p->part[2 * (dn_s64)blockIdx.x + 1] = b;
    }
}

template <int ODD> DN_FN void dn_bn_stat(const dn_bn_fast *p)
{
    enum { STEP = DN_BN_STAT_BLOCK, U = DN_BN_UNROLL };
    int c = (int)blockIdx.x / p->s, s = (int)blockIdx.x % p->s, span = p->span;
    dn_s64 all = (dn_s64)p->n * span;
    int t = (int)(all * s / p->s) + (int)threadIdx.x, end = (int)(all * (s + 1) / p->s);
    int n = t / span, i = t % span, dn = STEP / span, di = STEP % span;
    float shift = KIND == DN_BN_BWD ? p->save_mean[c] : dn_t_get(((const dn_t *)p->x)[(dn_s64)c * p->hw]), a = 0.0f, b = 0.0f;
    for (; t < end; t += STEP * U) {
        uint4 u[U], w[U];
        dn_u64 mask[U];
        int lo[U];
#pragma unroll
        for (int k = 0; k < U; k++) {
            dn_bn_spot at = dn_bn_spot_of<ODD>(p, c, n, i);
            lo[k] = at.lo;
            bool on = t + k * STEP < end && (!ODD || at.lo < p->hw);
            if (!on)
                lo[k] = p->hw;
            if (on) {
                u[k] = dn_bn_spot_load<ODD>(p, p->x, at);
                if (KIND == DN_BN_BWD)
                    w[k] = dn_bn_spot_load<ODD>(p, p->in, at);
                if (KIND == DN_BN_BWD && p->mask)
                    mask[k] = dn_bn_mask_load(p, at.at);
            }
            n += dn;
            i += di;
            if (i >= span) {
                i -= span;
                n++;
            }
        }
#pragma unroll
        for (int k = 0; k < U; k++) {
            float f[DN_VN], g[DN_VN];
            if (lo[k] >= p->hw)
                continue;
            dn_vec_get(u[k], f);
            if (KIND == DN_BN_BWD)
                dn_vec_get(w[k], g);
            if (KIND == DN_BN_BWD && p->mask)
                dn_bn_stop(g, mask[k]);
#pragma unroll
            for (int e = 0; e < DN_VN; e++) {
                bool in = !ODD || (unsigned)(lo[k] + e) < (unsigned)p->hw;
                float d = in ? f[e] - shift : 0.0f, v = KIND == DN_BN_BWD ? in ? g[e] : 0.0f : d;
                a += v;
                b += v * d;
            }
        }
    }
    dn_bn_stat_close(p, a, b);
}

extern "C" __global__ void __launch_bounds__(DN_BN_STAT_BLOCK) KERNEL_STAT(const __grid_constant__ dn_bn_fast p)
{
    dn_bn_stat<0>(&p);
}

extern "C" __global__ void __launch_bounds__(DN_BN_STAT_BLOCK) KERNEL_STAT_ODD(const __grid_constant__ dn_bn_fast p)
{
    dn_bn_stat<1>(&p);
}

extern "C" __global__ void KERNEL_FINAL(const __grid_constant__ dn_bn_fast p)
{
    dn_bn_final<KIND>(&p);
}
#endif

/* f: x of vector v, becomes the result. */
DN_FN void dn_bn_vector(const dn_bn_fast *p, dn_u32 v, float *f, const float *g)
{
    dn_u32 unit = p->plane.by == (dn_u32)p->hw ? DN_VN : 1, at = v * unit;
    dn_u32 plane = dn_div_u(p->plane, at), pos = at - plane * p->plane.by;
    int c = (int)(plane - dn_div_u(p->channel, plane) * (dn_u32)p->c);
    float4 k = dn_bn_constants<KIND>(p, c);
    int left = unit == 1 ? DN_VN : (int)(p->plane.by - pos);  /* elements of this plane */
    if (left >= DN_VN) {
#pragma unroll
        for (int e = 0; e < DN_VN; e++)
            f[e] = dn_bn_one<KIND>(k, f[e], g[e]);
        return;
    }
#pragma unroll
    for (int e = 0; e < DN_VN; e++) {
        if (e == left) {
            c = c + 1 < p->c ? c + 1 : 0;
            k = dn_bn_constants<KIND>(p, c);
            left += p->hw;
        }
        f[e] = dn_bn_one<KIND>(k, f[e], g[e]);
    }
}

/* ADD: z is added. */
template <int ADD> DN_FN void dn_bn_apply(const dn_bn_fast *p)
{
    enum { STEP = DN_BN_APPLY_BLOCK, U = DN_BN_UNROLL };
    dn_u32 first = (gridDim.x - 1 - blockIdx.x) * (STEP * U) + threadIdx.x;
    uint4 u[U], w[U];
    dn_u64 mask[U];
#pragma unroll
    for (int k = 0; k < U; k++) {
        dn_u32 v = first + k * STEP;
        if (v >= p->vectors)
            continue;
        u[k] = dn_bn_load(p, p->x, v);
        if (KIND == DN_BN_BWD || ADD)
            w[k] = dn_bn_load(p, p->in, v);
        if (KIND == DN_BN_BWD && p->mask)
            mask[k] = dn_bn_mask_load(p, (dn_s64)v * DN_VN);
    }
#pragma unroll
    for (int k = 0; k < U; k++) {
        dn_u32 v = first + k * STEP;
        float f[DN_VN], g[DN_VN];
        if (v >= p->vectors)
            continue;
        dn_vec_get(u[k], f);
        if (KIND == DN_BN_BWD || ADD)
            dn_vec_get(w[k], g);
        if (KIND == DN_BN_BWD && p->mask)
            dn_bn_stop(g, mask[k]);
        dn_bn_vector(p, v, f, g);
        dn_bn_finish<KIND, ADD>(p, f, g, (dn_s64)v * DN_VN);
    }
}

extern "C" __global__ void __launch_bounds__(DN_BN_APPLY_BLOCK) KERNEL(const __grid_constant__ dn_bn_fast p)
{
    dn_bn_apply<0>(&p);
}

#if defined(KERNEL_ADD)
/* Blocks of an SM: without the number the compiler takes 48 registers on capability 8.x, which spill. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define APPLY_BOUNDS DN_BN_APPLY_BLOCK, 4
#else
#define APPLY_BOUNDS DN_BN_APPLY_BLOCK
#endif
extern "C" __global__ void __launch_bounds__(APPLY_BOUNDS) KERNEL_ADD(const __grid_constant__ dn_bn_fast p)
{
    dn_bn_apply<1>(&p);
}
#endif
