/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Dropout of anything: any float type, strides, alignment; in place. A thread owns 8 elements of the logical order, whose mask is one byte.
 * The number of the call lies in the caller's memory and is raised by a launch of its own behind the kernel, so that a captured graph
 * draws anew each time that it runs. */
#include "core/philox.h"
#include "cuda/common.cuh"
#include "cuda/dropout/dropout.h"

DN_FN dn_u32 draw(const dn_dropout_naive *p, dn_u64 seed, dn_u64 call, dn_s64 byte)
{
    dn_u32 bits = 0;
    for (int k = 0; k < 8; k += 4) {
        unsigned word[4];
        dn_philox_dropout(seed, call, (dn_u64)(byte * 8 + k) / 4, word);
        for (int i = 0; i < 4; i++)
            bits |= (dn_u32)(byte * 8 + k + i < p->in_walk.count && word[i] >= p->threshold) << (k + i);
    }
    return bits;
}

DN_FN void apply(const dn_dropout_naive *p, dn_s64 byte, dn_u32 bits)
{
    for (int k = 0; k < 8 && byte * 8 + k < p->in_walk.count; k++) {
        dn_s64 in[1], out[1];
        dn_walk_at<1>(&p->in_walk, byte * 8 + k, in);
        dn_walk_at<1>(&p->out_walk, byte * 8 + k, out);
        dn_store(&p->out, out[0], bits >> k & 1 ? dn_load(&p->in, in[0]) * p->scale : 0);
    }
}

extern "C" __global__ void cuda_dropout_fwd_naive(const __grid_constant__ dn_dropout_naive p)
{
    dn_u64 seed = dn_load_bytes(p.states, 8), call = dn_load_bytes((const char *)p.states + 8, 8);
    for (dn_s64 byte = DN_THREAD; byte * 8 < p.in_walk.count; byte += DN_THREADS) {
        dn_u32 bits = draw(&p, seed, call, byte);
        p.mask[byte] = (dn_u8)bits;
        apply(&p, byte, bits);
    }
}

extern "C" __global__ void cuda_dropout_bwd_data_naive(const __grid_constant__ dn_dropout_naive p)
{
    for (dn_s64 byte = DN_THREAD; byte * 8 < p.in_walk.count; byte += DN_THREADS)
        apply(&p, byte, p.mask[byte]);
}

/* One thread. */
extern "C" __global__ void cuda_dropout_count(const __grid_constant__ dn_dropout_count p)
{
    char *call = (char *)p.states + 8;
    dn_store_bytes(call, 8, dn_load_bytes(call, 8) + 1);
}
