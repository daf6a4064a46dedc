/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation of NCHW that reads memory once, in a stream: p.teams teams of p.parts blocks, one block on an SM, take the channels
 * in turn (groups of one); a block has its part of each. What it reads goes in chunks through a ring in shared memory and stays there until its
 * results are written, so that reads of the next channels, sums, waiting for the other blocks and writes overlap. Warps have roles:
 *     reader     bulk copies into chunks that are free
 *     sums       of the vectors of each chunk; those of the block are told to the other blocks of the team
 *     closers    wait for the sums of all blocks, add them in order, and leave the constants of the channel
 *     writers    results of each chunk, which is free then
 * A block tells its sums as one 16-byte word with a flag in it, so that no fence is needed; p.words is zero before the kernel begins. All
 * blocks must run at once where teams have several.
 * The including file names T_*, KIND (DN_BN_TRAIN or DN_BN_BWD), KERNEL and forward KERNEL_ADD. */
#include "cuda/bulk.cuh"
#include "cuda/norm/bn_held.cuh"

enum { RING_SUMS = DN_BN_RING_WORK / 32, RING_CLOSERS = 3, RING_WRITE = DN_BN_RING_WORK, RING_READ = 2 * DN_BN_RING_WORK,
       RING_CLOSE = RING_READ + 32,
       RING_ITEMS = 32 };  /* more than there are chunks, and so channels under way */

typedef struct ring_shared {
    dn_u64 full[DN_BN_RING_CHUNKS], empty[DN_BN_RING_CHUNKS], told[RING_ITEMS], closed[RING_ITEMS];
    float4 k[RING_ITEMS];         /* constants; before them the sums of the block, where it is alone */
    float warp[2][RING_SUMS][2];  /* sums of each warp, of two channels in turn */
} ring_shared;

/* A place in the ring, and how often the ring was gone round. */
typedef struct ring_place {
    int chunk;
    dn_u32 parity;
} ring_place;

DN_FN void ring_step(const dn_bn_held *p, ring_place *r)
{
    if (++r->chunk == p->chunks) {
        r->chunk = 0;
        r->parity ^= 1;
    }
}

/* The same place in another channel. */
DN_FN void ring_move(const dn_bn_held *p, held_spot *s, int channel)
{
    s->channel = channel;
    s->base = (dn_s64)channel * p->f.hw;
}

/* --- reader: one warp --- */
DN_FN void ring_read_chunk(const dn_bn_held *p, const held_spot *s, int lo, uint4 *to, dn_u64 *bar)
{
    int lane = (int)threadIdx.x & 31, hi = min(lo + p->slice, s->count), last = (s->first + hi - 1) / p->run;
    if (lane == 0)
        dn_bar_expect(bar, (dn_u32)(hi - lo) * (16 * HELD_TENSORS));
    __syncwarp();
    for (int n = (s->first + lo) / p->run + lane; n <= last; n += 32) {
        int from = max(lo, n * p->run - s->first), end = min(hi, (n + 1) * p->run - s->first);
        dn_s64 at = s->base + n * p->f.image + (dn_s64)(s->first + from - n * p->run) * DN_VN;
        dn_bulk_load(to + from - lo, (const dn_t *)p->f.x + at, (dn_u32)(end - from) * 16, bar);
        if (KIND == DN_BN_BWD)
            dn_bulk_load(to + p->slice + from - lo, (const dn_t *)p->f.in + at, (dn_u32)(end - from) * 16, bar);
    }
}

DN_FN void ring_read(const dn_bn_held *p, int team, int part, uint4 *ring, ring_shared *sh)
{
    ring_place r = { 0, 0 };
    held_spot s = held_spot_of(p, team, part, 0);
    for (int c = team; c < p->f.c; c += p->teams) {
        ring_move(p, &s, c);
        for (int lo = 0; lo < s.count; lo += p->slice) {
            uint4 *to = ring + r.chunk * p->slice * HELD_TENSORS;
            dn_bar_wait(&sh->empty[r.chunk], r.parity ^ 1);
            ring_read_chunk(p, &s, lo, to, &sh->full[r.chunk]);
            ring_step(p, &r);
        }
    }
}

/* --- sums: DN_BN_RING_WORK threads --- */
DN_FN void ring_meet_sums(void)
{
    asm volatile("bar.sync 1, %0;" ::"r"((int)DN_BN_RING_WORK) : "memory");
}

/* The sums of the block for a channel; one thread. */
DN_FN void ring_tell(const dn_bn_held *p, int channel, int part, int item, float a, float b, float shift, ring_shared *sh)
{
    if (p->parts == 1) {
        sh->k[item % RING_ITEMS] = make_float4(a, b, shift, 1.0f);
    } else {
        float4 *word = (float4 *)p->f.part + ((dn_s64)channel * p->parts + part);
        asm volatile("st.volatile.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(word), "f"(a), "f"(b), "f"(shift), "f"(1.0f) : "memory");
    }
    dn_bar_arrive(&sh->told[item % RING_ITEMS]);
}

DN_FN float ring_shift(const dn_bn_held *p, int channel)
{
    return KIND == DN_BN_BWD ? p->f.save_mean[channel] : dn_t_get(((const dn_t *)p->f.x)[(dn_s64)channel * p->f.hw]);
}

DN_FN void ring_sum_chunks(const dn_bn_held *p, const held_spot *s, const uint4 *ring, ring_place *r, ring_shared *sh, float shift, float *sum)
{
    int n = s->n, i = s->i;
    for (int lo = 0; lo < s->count; lo += p->slice) {
        const uint4 *at = ring + r->chunk * p->slice * HELD_TENSORS;
        int end = min(p->slice, s->count - lo);
        dn_bar_wait(&sh->full[r->chunk], r->parity);
#pragma unroll 2
        for (int v = (int)threadIdx.x; v < end; v += p->step) {
            float f[DN_VN], g[DN_VN];
            dn_vec_get(at[v], f);
            if (KIND == DN_BN_BWD)
                dn_vec_get(at[p->slice + v], g);
            if (KIND == DN_BN_BWD && p->f.mask)
                dn_bn_stop(g, dn_bn_mask_load(&p->f, held_next(p, s, &n, &i)));
            held_add<0>(s->lim, shift, shift, f, g, sum);
        }
        ring_step(p, r);
    }
}

/* The threads' sums become those of the block. */
DN_FN void ring_close_sums(const dn_bn_held *p, int channel, int part, int item, const float *sum, float shift, ring_shared *sh)
{
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x & 31, turn = item & 1;
    float a = dn_warp_sum(sum[0]), b = dn_warp_sum(sum[1]);
    if (lane == 0) {
        sh->warp[turn][warp][0] = a;
        sh->warp[turn][warp][1] = b;
    }
    ring_meet_sums();
    if (warp != item % RING_SUMS)
        return;
    a = dn_warp_sum(lane < RING_SUMS ? sh->warp[turn][lane][0] : 0.0f);
    b = dn_warp_sum(lane < RING_SUMS ? sh->warp[turn][lane][1] : 0.0f);
    if (lane == 0)
        ring_tell(p, channel, part, item, a, b, shift, sh);
}

DN_FN void ring_sums(const dn_bn_held *p, int team, int part, const uint4 *ring, ring_shared *sh)
{
    ring_place r = { 0, 0 };
    held_spot s = held_spot_of(p, team, part, (int)threadIdx.x);
    float next = ring_shift(p, team);
    for (int c = team, item = 0; c < p->f.c; c += p->teams, item++) {
        float shift = next, sum[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
        ring_move(p, &s, c);
        if (c + p->teams < p->f.c)
            next = ring_shift(p, c + p->teams);
        ring_sum_chunks(p, &s, ring, &r, sh, shift, sum);
        ring_close_sums(p, c, part, item, sum, shift, sh);
    }
}

/* --- closers: each warp takes every RING_CLOSERS-th channel --- */
/* The sums of all blocks, added in order; shift: what they are around. */
DN_FN void ring_gather(const dn_bn_held *p, int channel, double *a, double *b, float *shift)
{
    enum { EACH = DN_BN_RING_PARTS / 32 };
    int lane = (int)threadIdx.x & 31;
    const float4 *word = (const float4 *)p->f.part + (dn_s64)channel * p->parts;
    float4 v[EACH];
    bool all;
    do {
        all = true;
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            v[k] = make_float4(0.0f, 0.0f, 0.0f, 1.0f);
            if (lane + 32 * k < p->parts)
                asm volatile("ld.volatile.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                             : "=f"(v[k].x), "=f"(v[k].y), "=f"(v[k].z), "=f"(v[k].w)
                             : "l"(word + lane + 32 * k)
                             : "memory");
            all = all && v[k].w == 1.0f;
        }
    } while (!__all_sync(0xffffffffu, all));
    *a = *b = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        *a += v[k].x;
        *b += v[k].y;
    }
    *a = dn_bn_warp_sum(*a);
    *b = dn_bn_warp_sum(*b);
    *shift = v[0].z;
}

/* Block `part` of the team tells the caller. Blocks begin to look at each other's sums when they have their own, to leave memory alone. */
DN_FN void ring_close(const dn_bn_held *p, int team, int part, int closer, ring_shared *sh)
{
    for (int item = closer; team + item * p->teams < p->f.c; item += RING_CLOSERS) {
        int channel = team + item * p->teams, slot = item % RING_ITEMS;
        dn_bn_given given = dn_bn_given_of<KIND>(&p->f, channel);
        double a, b;
        float shift;
        dn_bar_wait(&sh->told[slot], item / RING_ITEMS & 1);
        if (p->parts == 1) {
            float4 own = sh->k[slot];
            a = own.x;
            b = own.y;
            shift = own.z;
        } else {
            ring_gather(p, channel, &a, &b, &shift);
        }
        __syncwarp();
        if ((threadIdx.x & 31) == 0) {
            dn_bn_found found = dn_bn_find<KIND>(&p->f, &given, shift, a, b);
            sh->k[slot] = dn_bn_close<KIND>(&p->f, &given, &found);
            dn_bar_arrive(&sh->closed[slot]);
            if (part == 0)
                dn_bn_tell<KIND>(&p->f, channel, &found);
        }
        __syncwarp();
    }
}

/* --- writers: DN_BN_RING_WORK threads --- */
template <int ADD>
DN_FN void ring_write_chunk(const dn_bn_held *p, const held_spot *s, const uint4 *at, int end, int t, const float4 &k, int *n, int *i)
{
#pragma unroll 2
    for (int v = t; v < end; v += p->step) {
        dn_s64 to = held_next(p, s, n, i);
        float f[DN_VN], g[DN_VN];
        dn_vec_get(at[v], f);
        if (KIND == DN_BN_BWD)
            dn_vec_get(at[p->slice + v], g);
        if (ADD)
            dn_vec_get(dn_vec_last((const dn_t *)p->f.in + to), g);
        if (KIND == DN_BN_BWD && p->f.mask)
            dn_bn_stop(g, dn_bn_mask_load(&p->f, to));
        held_result<0>(s->lim, k, k, f, g);
        held_finish<ADD>(p, f, g, to);
    }
}

template <int ADD> DN_FN void ring_write(const dn_bn_held *p, int team, int part, int t, const uint4 *ring, ring_shared *sh)
{
    ring_place r = { 0, 0 };
    held_spot s = held_spot_of(p, team, part, t);
    for (int c = team, item = 0; c < p->f.c; c += p->teams, item++) {
        int n = s.n, i = s.i;
        ring_move(p, &s, c);
        dn_bar_wait(&sh->closed[item % RING_ITEMS], item / RING_ITEMS & 1);
        float4 k = sh->k[item % RING_ITEMS];
        for (int lo = 0; lo < s.count; lo += p->slice) {
            ring_write_chunk<ADD>(p, &s, ring + r.chunk * p->slice * HELD_TENSORS, min(p->slice, s.count - lo), t, k, &n, &i);
            __syncwarp();
            if ((t & 31) == 0)
                dn_bar_arrive(&sh->empty[r.chunk]);
            ring_step(p, &r);
        }
    }
}

/* Dynamic memory: p.chunks chunks of p.slice vectors of each tensor. */
template <int ADD> DN_FN void ring_all(const dn_bn_held *p)
{
    extern __shared__ uint4 dn_bn_memory[];
    __shared__ ring_shared sh;
    int t = (int)threadIdx.x, team = (int)blockIdx.x / p->parts, part = (int)blockIdx.x % p->parts;
    if (t < p->chunks) {
        dn_bar_init(&sh.full[t], 1);
        dn_bar_init(&sh.empty[t], DN_BN_RING_WORK / 32);
    }
    if (t < RING_ITEMS) {
        dn_bar_init(&sh.told[t], 1);
        dn_bar_init(&sh.closed[t], 1);
    }
    dn_bar_ready();
    __syncthreads();
    if (t < RING_WRITE)
        ring_sums(p, team, part, dn_bn_memory, &sh);
    else if (t < RING_READ)
        ring_write<ADD>(p, team, part, t - RING_WRITE, dn_bn_memory, &sh);
    else if (t < RING_CLOSE)
        ring_read(p, team, part, dn_bn_memory, &sh);
    else
        ring_close(p, team, part, (t - RING_CLOSE) / 32, &sh);
}

extern "C" __global__ void __launch_bounds__(DN_BN_RING_THREADS, 1) KERNEL(const __grid_constant__ dn_bn_held p)
{
    ring_all<0>(&p);
}

#if defined(KERNEL_ADD)
extern "C" __global__ void __launch_bounds__(DN_BN_RING_THREADS, 1) KERNEL_ADD(const __grid_constant__ dn_bn_held p)
{
    ring_all<1>(&p);
}
#endif
