/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What goes on around the products of a recurrent network, on four neighbouring values at a time: data of type DTYPE (DN_T_F16, DN_T_BF16,
 * DN_T_F32) or f32. Everything that is counted in values is a multiple of 4, and so are addresses. The file that includes this defines
 *     MOVE, SKIP_FORWARD, SKIP_BACKWARD, PREVIOUS, SUMS     names of the kernels */
#include "core/philox.h"
#include "cuda/flat.cuh"
#include "cuda/rnn/kernels.h"

DN_FN void load4(int type, const void *base, dn_s64 at, float v[4])
{
    if (DTYPE == DN_T_F32 || type == DN_T_F32) {
        float4 w = *(const float4 *)((const float *)base + at);
        v[0] = w.x, v[1] = w.y, v[2] = w.z, v[3] = w.w;
    } else {
        dn_unpack<DTYPE == DN_T_F32 ? DN_T_F16 : DTYPE, 4>(*(const uint2 *)((const dn_u16 *)base + at), v);
    }
}

DN_FN void store4(int type, void *base, dn_s64 at, const float v[4])
{
    if (DTYPE == DN_T_F32 || type == DN_T_F32)
        *(float4 *)((float *)base + at) = make_float4(v[0], v[1], v[2], v[3]);
    else
        *(uint2 *)((dn_u16 *)base + at) = dn_pack<DTYPE == DN_T_F32 ? DN_T_F16 : DTYPE, 4>(v);
}

DN_FN dn_s64 offset_of(const dn_rnn_place *p, dn_s64 t, dn_s64 b)
{
    return p->starts ? (p->starts[t] + b) * p->by_batch : t * p->by_time + b * p->by_batch;
}

extern "C" __global__ void __launch_bounds__(256) MOVE(const __grid_constant__ dn_rnn_move p)
{
    dn_s64 wide = p.n / 4, count = p.steps * p.batch * wide;
    const dn_u64 *head = (const dn_u64 *)p.head;
    dn_u64 seed = p.drop ? head[0] : 0, call = p.drop ? head[1] : 0;
    for (dn_s64 i = DN_THREAD; i < count; i += DN_THREADS) {
        dn_s64 row = dn_quotient(i, wide), k = 4 * (i - row * wide), t = dn_quotient(row, p.batch), b = row - t * p.batch;
        float v[4];
        if (!p.lengths || t < p.lengths[b]) {
            load4(p.from.e.type, p.from.e.ptr, offset_of(&p.from, t, b) + k, v);
            if (p.drop) {
                unsigned word[4];
                dn_philox_dropout(seed, call, p.element / 4 + (dn_u64)i, word);
#pragma unroll
                for (int j = 0; j < 4; j++)
                    v[j] = word[j] >= p.threshold ? v[j] * (float)p.scale : 0;
            }
        } else if (p.sparse) {
            continue;
        } else {
#pragma unroll
            for (int j = 0; j < 4; j++)
                v[j] = (float)p.fill;
        }
        store4(p.to.e.type, p.to.e.ptr, offset_of(&p.to, t, b) + k, v);
    }
}

extern "C" __global__ void __launch_bounds__(256) SKIP_FORWARD(const __grid_constant__ dn_rnn_skip p)
{
    dn_s64 wide = p.hidden / 4;
    for (dn_s64 i = DN_THREAD; i < p.rows * wide; i += DN_THREADS) {
        dn_s64 row = dn_quotient(i, wide), u = 4 * (i - row * wide);
        float x[4];
        load4(DTYPE, p.x.ptr, row * p.hidden + u, x);
        for (int d = 0; d < p.directions; d++)
            for (int g = 0; g < p.gates_count; g++) {
                float v[4];
                load4(DN_T_F32, p.bias.ptr, d * p.bias_pitch + g * p.hidden + u, v);
#pragma unroll
                for (int j = 0; j < 4; j++)
                    v[j] += x[j];
                store4(DN_T_F32, p.gates.ptr, d * p.gates_pitch + row * p.gates_ld + g * p.hidden + u, v);
            }
    }
}

extern "C" __global__ void __launch_bounds__(256) SKIP_BACKWARD(const __grid_constant__ dn_rnn_skip p)
{
    dn_s64 wide = p.hidden / 4;
    for (dn_s64 i = DN_THREAD; i < p.rows * wide; i += DN_THREADS) {
        dn_s64 row = dn_quotient(i, wide), u = 4 * (i - row * wide);
        float sum[4] = { 0, 0, 0, 0 };
        for (int d = 0; d < p.directions; d++)
            for (int g = 0; g < p.gates_count; g++) {
                float v[4];
                load4(DTYPE, p.gates.ptr, d * p.gates_pitch + row * p.gates_ld + g * p.hidden + u, v);
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[j] += v[j];
            }
        store4(p.x.type, p.x.ptr, row * p.hidden + u, sum);
    }
}

extern "C" __global__ void __launch_bounds__(256) PREVIOUS(const __grid_constant__ dn_rnn_previous p)
{
    dn_s64 wide = p.proj / 4, count = p.steps * p.batch * wide;
    for (dn_s64 i = DN_THREAD; i < count; i += DN_THREADS) {
        dn_s64 row = dn_quotient(i, wide), k = 4 * (i - row * wide), t = dn_quotient(row, p.batch), b = row - t * p.batch;
        dn_s64 length = p.full ? p.steps : p.lengths[b];
        float v[4] = { 0, 0, 0, 0 };
        if (t < length && (p.backward ? t == length - 1 : t == 0))
            load4(DTYPE, p.h, b * p.proj + k, v);
        else if (t < length)
            load4(DTYPE, p.out, (p.backward ? row + p.batch : row - p.batch) * p.out_ld + k, v);
        store4(DTYPE, p.to, row * p.proj + k, v);
    }
}

/* Block (x, part): 64 times four columns, counted over all pseudo layers, by four rows at a time. */
extern "C" __global__ void __launch_bounds__(256) SUMS(const __grid_constant__ dn_rnn_sums p)
{
    __shared__ float all[4][64][4];
    int lane = (int)threadIdx.x % 64, line = (int)threadIdx.x / 64;
    dn_s64 wide = p.columns / 4, i = (dn_s64)blockIdx.x * 64 + lane, part = blockIdx.y;
    dn_s64 end = (part + 1) * p.part < p.rows ? (part + 1) * p.part : p.rows, pseudo = dn_quotient(i, wide), column = 4 * (i - pseudo * wide);
    float sum[4] = { 0, 0, 0, 0 };
    if (i < wide * p.pseudos) {
        const char *from = (const char *)p.dgates.ptr + (pseudo * p.dgates_pitch + column) * p.dgates.size;
#pragma unroll 4
        for (dn_s64 row = part * p.part + line; row < end; row += 4) {
            float v[4];
            load4(DTYPE, from, row * p.columns, v);
#pragma unroll
            for (int j = 0; j < 4; j++)
                sum[j] += v[j];
        }
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
        all[line][lane][j] = sum[j];
    __syncthreads();
    if (line || i >= wide * p.pseudos)
        return;
#pragma unroll
    for (int j = 0; j < 4; j++)
        p.partial[part * p.pseudos * p.columns + 4 * i + j] = ((double)all[0][lane][j] + all[1][lane][j]) + ((double)all[2][lane][j] + all[3][lane][j]);
}
