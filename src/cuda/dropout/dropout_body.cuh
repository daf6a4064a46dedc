/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     fwd:      mask = random >= threshold, y = mask ? x * scale : 0
 *     bwd_data: dx = mask ? dy * scale : 0
 *
 * DTYPE: the type (DN_T_...); BACKWARD: 0 or 1; KERNEL: the name. Packed tensors, aligned to 16 bytes; in place. Blocks of 256 threads; a
 * thread has 16 elements in vectors of 16 bytes. A unit is a byte of the mask, or in f32 half of one: there the even lane of a pair writes
 * the byte of both. The words are those of core/philox.h, so the mask is the same on every engine. */
#include "core/philox.h"
#include "cuda/dropout/dropout.h"
#include "cuda/flat.cuh"

enum { N = 16 / DN_VEC_SIZE(DTYPE), UNITS = DN_FLAT_ELEMENTS / N };
typedef dn_raw<16>::vec vec;

/* Bits of COUNT elements from a multiple of 4 on. */
template <int COUNT> DN_FN dn_u32 draw(const dn_dropout_flat *p, dn_u64 seed, dn_u64 call, dn_u64 element)
{
    dn_u32 bits = 0;
#pragma unroll
    for (int k = 0; k < COUNT; k += 4) {
        unsigned word[4];
        dn_philox_dropout(seed, call, (element + k) / 4, word);
#pragma unroll
        for (int i = 0; i < 4; i++)
            bits |= (dn_u32)(word[i] >= p->threshold) << (k + i);
    }
    return bits;
}

/* The bits of a unit: drawn, and written to the mask, or read from it. All lanes of the warp come here. */
DN_FN dn_u32 mask_of(const dn_dropout_flat *p, dn_u64 seed, dn_u64 call, dn_u32 unit)
{
    bool there = unit < p->units;
    dn_u64 byte = (dn_u64)unit * N / 8;
    if (BACKWARD)
        return there ? (dn_u32)p->mask[byte] >> (N == 4 ? 4 * (unit & 1) : 0) : 0;
    dn_u32 bits = draw<N>(p, seed, call, (dn_u64)unit * N), both = bits;
    if (N == 4)
        both |= __shfl_down_sync(0xffffffffu, bits, 1) << 4;
    if (there && (N == 8 || unit % 2 == 0))
        p->mask[byte] = (dn_u8)both;
    return bits;
}

/* The elements behind the last unit; one thread. */
DN_FN void do_tail(const dn_dropout_flat *p, dn_u64 seed, dn_u64 call)
{
    dn_s64 first = (dn_s64)p->units * N;
    dn_u32 bits = BACKWARD ? p->mask[first / 8] : draw<8>(p, seed, call, (dn_u64)first) & ((1u << p->tail) - 1);
    if (!BACKWARD)
        p->mask[first / 8] = (dn_u8)bits;
    for (dn_u32 k = 0; k < p->tail; k++)
        dn_one_store<DTYPE>(p->out, first + k, bits >> k & 1 ? dn_one_load<DTYPE>(p->in, first + k) * p->scale : 0);
}

extern "C" __global__ void __launch_bounds__(DN_FLAT_THREADS) KERNEL(const __grid_constant__ dn_dropout_flat p)
{
    dn_u32 first = DN_FLAT_FIRST(N);
    dn_u64 seed = 0, call = 0;
    vec v[UNITS];
    float f[N];
#pragma unroll
    for (int u = 0; u < UNITS; u++)
        if (first + u * DN_FLAT_THREADS < p.units)
            v[u] = dn_vec_load<DTYPE, N>(p.in, (dn_s64)(first + u * DN_FLAT_THREADS) * N);
    if (!BACKWARD) {
        const dn_u64 *states = (const dn_u64 *)p.states;
        seed = p.aligned ? states[0] : dn_load_bytes(states, 8);
        call = p.aligned ? states[1] : dn_load_bytes(states + 1, 8);
    }
#pragma unroll
    for (int u = 0; u < UNITS; u++) {
        dn_u32 unit = first + u * DN_FLAT_THREADS, bits = mask_of(&p, seed, call, unit);
        if (unit < p.units) {
            dn_unpack<DTYPE, N>(v[u], f);
#pragma unroll
            for (int k = 0; k < N; k++)
                f[k] = bits >> k & 1 ? f[k] * p.scale : 0;
            dn_vec_store<DTYPE, N>(p.out, (dn_s64)unit * N, dn_pack<DTYPE, N>(f));
        }
    }
    if (first == 0 && p.tail)
        do_tail(&p, seed, call);
}
