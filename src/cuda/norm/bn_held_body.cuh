/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation of NCHW in one kernel that reads memory once: a block holds all images of a group of channels in shared memory.
 * The including file names T_*, KIND (DN_BN_TRAIN or DN_BN_BWD), KERNEL and forward KERNEL_ADD. */
#include "cuda/norm/bn_held.cuh"

/* What the threads of a block tell each other. */
typedef struct held_shared {
    float4 k[DN_BN_GROUP];
    float shift[DN_BN_GROUP], part[DN_BN_GROUP][2], warp[2][32];
} held_shared;

/* Each thread copies what it will need itself. */
DN_FN void held_fetch(const dn_bn_held *p, const held_spot *s, uint4 *held)
{
    enum { U = 4 };
    int n = s->n, i = s->i;
    for (int v = (int)threadIdx.x; v < s->count; v += p->step * U) {
        uint4 u[U], w[U];
#pragma unroll
        for (int j = 0; j < U; j++) {
            dn_s64 at = held_next(p, s, &n, &i);
            if (v + j * p->step < s->count) {
                u[j] = dn_vec_last((const dn_t *)p->f.x + at);
                if (KIND == DN_BN_BWD)
                    w[j] = dn_vec_last((const dn_t *)p->f.in + at);
            }
        }
#pragma unroll
        for (int j = 0; j < U; j++)
            if (v + j * p->step < s->count) {
                held[v + j * p->step] = u[j];
                if (KIND == DN_BN_BWD)
                    held[p->slice + v + j * p->step] = w[j];
            }
    }
}
/* Sums of the thread's vectors. */
template <int TWO> DN_FN void held_stat(const dn_bn_held *p, const held_spot *s, const uint4 *held, const held_shared *sh, float *sum)
{
    int n = s->n, i = s->i;
    float shift0 = sh->shift[s->c0], shift1 = sh->shift[s->c1];
    for (int v = (int)threadIdx.x; v < s->count; v += p->step) {
        float f[DN_VN], g[DN_VN];
        dn_vec_get(held[v], f);
        if (KIND == DN_BN_BWD)
            dn_vec_get(held[p->slice + v], g);
        if (KIND == DN_BN_BWD && p->f.mask)
            dn_bn_stop(g, dn_bn_mask_load(&p->f, held_next(p, s, &n, &i)));
        held_add<TWO>(s->lim, shift0, shift1, f, g, sum);
    }
}

/* The block's sums of each channel, always in the same order. all: 4 x threads floats, for groups of several channels. */
DN_FN void held_block(const dn_bn_held *p, const held_spot *s, const float *sum, float *all, held_shared *sh)
{
    int t = (int)threadIdx.x, warp = t / 32, lane = t & 31, threads = (int)blockDim.x;
    if (p->group == 1) {
        float a = dn_warp_sum(sum[0]), b = dn_warp_sum(sum[1]);
        if (lane == 0) {
            sh->warp[0][warp] = a;
            sh->warp[1][warp] = b;
        }
        __syncthreads();
        a = lane < threads / 32 ? sh->warp[0][lane] : 0.0f;
        b = lane < threads / 32 ? sh->warp[1][lane] : 0.0f;
        a = dn_warp_sum(a);
        b = dn_warp_sum(b);
        if (t == 0) {
            sh->part[0][0] = a;
            sh->part[0][1] = b;
        }
        return;
    }
    for (int j = 0; j < 4; j++)
        all[j * threads + t] = sum[j];
    __syncthreads();
    for (int c = warp; c < p->group; c += threads / 32) {
        float a, b;
        held_channel(p, s->first, all, threads, c, &a, &b);
        if (lane == 0) {
            sh->part[c][0] = a;
            sh->part[c][1] = b;
        }
    }
}

template <int ADD, int TWO> DN_FN void held_apply(const dn_bn_held *p, const held_spot *s, const uint4 *held, const held_shared *sh)
{
    int n = s->n, i = s->i;
    float4 k0 = sh->k[s->c0], k1 = sh->k[s->c1];
#pragma unroll 1
    for (int v = (int)threadIdx.x; v < s->count; v += p->step) {
        dn_s64 at = held_next(p, s, &n, &i);
        float f[DN_VN], g[DN_VN];
        dn_vec_get(held[v], f);
        if (KIND == DN_BN_BWD)
            dn_vec_get(held[p->slice + v], g);
        if (ADD)
            dn_vec_get(dn_vec_last((const dn_t *)p->f.in + at), g);
        if (KIND == DN_BN_BWD && p->f.mask)
            dn_bn_stop(g, dn_bn_mask_load(&p->f, at));
        held_result<TWO>(s->lim, k0, k1, f, g);
        held_finish<ADD>(p, f, g, at);
    }
}

/* held: p.slice vectors of each tensor, then 4 floats for each thread where the group has several channels */
template <int ADD> DN_FN void held_all(const dn_bn_held *p, uint4 *held)
{
    __shared__ held_shared sh;
    int t = (int)threadIdx.x;
    held_spot s = held_spot_of(p, (int)blockIdx.x, 0, t);
    float sum[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
    bool on = t < p->step;
    if (t < p->group)
        sh.shift[t] = KIND == DN_BN_BWD ? p->f.save_mean[s.channel + t] : dn_t_get(((const dn_t *)p->f.x)[s.base + (dn_s64)t * p->f.hw]);
    __syncthreads();
    if (on)
        held_fetch(p, &s, held);
    if (on && p->group > 1)
        held_stat<1>(p, &s, held, &sh, sum);
    else if (on)
        held_stat<0>(p, &s, held, &sh, sum);
    held_block(p, &s, sum, (float *)(held + HELD_TENSORS * p->slice), &sh);
    __syncthreads();
    if (t < p->group) {
        dn_bn_given given = dn_bn_given_of<KIND>(&p->f, s.channel + t);
        dn_bn_found found = dn_bn_find<KIND>(&p->f, &given, sh.shift[t], sh.part[t][0], sh.part[t][1]);
        sh.k[t] = dn_bn_close<KIND>(&p->f, &given, &found);
        dn_bn_tell<KIND>(&p->f, s.channel + t, &found);
    }
    __syncthreads();
    if (on && p->group > 1)
        held_apply<ADD, 1>(p, &s, held, &sh);
    else if (on)
        held_apply<ADD, 0>(p, &s, held, &sh);
}

#if defined(DN_EMULATED)
#define HELD ((uint4 *)emu_shared)
#else
extern __shared__ uint4 dn_bn_memory[];
#define HELD dn_bn_memory
#endif

extern "C" __global__ void __launch_bounds__(KIND == DN_BN_BWD ? 4 * DN_BN_HELD_BWD : 4 * DN_BN_HELD_TRAIN) KERNEL(const __grid_constant__ dn_bn_held p)
{
    held_all<0>(&p, HELD);
}

#if defined(KERNEL_ADD)
extern "C" __global__ void __launch_bounds__(4 * DN_BN_HELD_TRAIN) KERNEL_ADD(const __grid_constant__ dn_bn_held p)
{
    held_all<1>(&p, HELD);
}
#endif
