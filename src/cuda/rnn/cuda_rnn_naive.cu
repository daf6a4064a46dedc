/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks of any float type, computed in double, and what goes on around the products whatever the row. */
#include "core/philox.h"
#include "cuda/common.cuh"
#include "cuda/rnn/kernels.h"

#define REAL double
#define EXP exp
#define TANH tanh
#define STEP cuda_rnn_naive_step
#define PROJECT cuda_rnn_naive_project
#define BACK cuda_rnn_naive_back
#define BACK_PROJECT cuda_rnn_naive_back_project
#define PREVIOUS cuda_rnn_naive_previous
#define CELLS cuda_rnn_naive_cells

/* What is inlined nowhere: the code would be many times as long. */
static __device__ __noinline__ double get(int type, const void *base, dn_s64 i)
{
    switch (type) {
    case DN_T_F64: return ((const double *)base)[i];
    case DN_T_F16: return dn_half_to_float(((const dn_u16 *)base)[i]);
    case DN_T_BF16: return dn_bf16_to_float(((const dn_u16 *)base)[i]);
    default: return ((const float *)base)[i];
    }
}

static __device__ __noinline__ void put(int type, void *base, dn_s64 i, double v)
{
    switch (type) {
    case DN_T_F64: ((double *)base)[i] = v; break;
    case DN_T_F16: ((dn_u16 *)base)[i] = dn_float_to_half(dn_double_to_odd(v)); break;
    case DN_T_BF16: ((dn_u16 *)base)[i] = dn_float_to_bf16(dn_double_to_odd(v)); break;
    default: ((float *)base)[i] = (float)v; break;
    }
}

#define data_get(p, base, i) get((p)->data, base, i)
#define data_put(p, base, i, v) put((p)->data, base, i, v)
#define sum_get(p, base, i) get((p)->compute, base, i)
#define sum_put(p, base, i, v) put((p)->compute, base, i, v)
#include "cuda/rnn/cell.cuh"

static __device__ __noinline__ double load(const dn_elements *e, dn_s64 i)
{
    return dn_load(e, i);
}

static __device__ __noinline__ void store(const dn_elements *e, dn_s64 i, double v)
{
    dn_store(e, i, v);
}

/* --- positions --- */

extern "C" __global__ void cuda_rnn_lengths(const __grid_constant__ dn_rnn_lengths p)
{
    for (int i = (int)threadIdx.x; i < p.count; i += (int)blockDim.x)
        p.to[p.first + i] = p.value[i];
}

extern "C" __global__ void cuda_rnn_starts(const __grid_constant__ dn_rnn_starts p)
{
    for (dn_s64 t = DN_THREAD; t < p.steps; t += DN_THREADS) {
        dn_s64 sum = 0;
        for (dn_s64 b = 0; b < p.batch; b++)
            sum += p.lengths[b] < t ? p.lengths[b] : t;
        p.starts[t] = sum;
    }
}

DN_FN dn_s64 offset_of(const dn_rnn_place *p, dn_s64 t, dn_s64 b)
{
    return p->starts ? (p->starts[t] + b) * p->by_batch : t * p->by_time + b * p->by_batch;
}

extern "C" __global__ void __launch_bounds__(256) cuda_rnn_move(const __grid_constant__ dn_rnn_move p)
{
    dn_s64 count = p.steps * p.batch * p.n;
    dn_u64 seed = 0, call = 0;
    if (p.drop) {
        seed = dn_load_bytes(p.head, 8);
        call = dn_load_bytes((const char *)p.head + 8, 8);
    }
    for (dn_s64 i = DN_THREAD; i < count; i += DN_THREADS) {
        dn_s64 row = dn_quotient(i, p.n), k = i - row * p.n, t = dn_quotient(row, p.batch), b = row - t * p.batch;
        double v = p.fill;
        if (!p.lengths || t < p.lengths[b]) {
            v = load(&p.from.e, offset_of(&p.from, t, b) + k);
            if (p.drop) {
                dn_u64 element = p.element + (dn_u64)i;
                unsigned word[4];
                dn_philox_dropout(seed, call, element / 4, word);
                v = word[element % 4] >= p.threshold ? v * p.scale : 0;
            }
        } else if (p.sparse) {
            continue;
        }
        store(&p.to.e, offset_of(&p.to, t, b) + k, v);
    }
}

/* --- states --- */

/* One thread. */
extern "C" __global__ void cuda_rnn_head(const __grid_constant__ dn_rnn_head p)
{
    for (int i = 0; i < 64; i += 8)
        dn_store_bytes((char *)p.head + i, 8, p.states ? dn_load_bytes((const char *)p.states + i, 8) : 0);
    if (p.states)
        dn_store_bytes((char *)p.states + 8, 8, dn_load_bytes((const char *)p.states + 8, 8) + 1);
}

extern "C" __global__ void __launch_bounds__(256) cuda_rnn_copy(const __grid_constant__ dn_rnn_copy p)
{
    for (dn_s64 i = DN_THREAD; i < p.runs * p.run; i += DN_THREADS) {
        dn_s64 run = dn_quotient(i, p.run), at = i - run * p.run;
        store(&p.to, run * p.to_pitch + at, p.from.ptr ? load(&p.from, run * p.from_pitch + at) : 0);
    }
}

/* --- biases, inputs without a matrix --- */

extern "C" __global__ void __launch_bounds__(256) cuda_rnn_bias(const __grid_constant__ dn_rnn_bias p)
{
    dn_s64 units = p.gates * p.hidden;
    for (dn_s64 i = DN_THREAD; i < p.pseudos * p.width; i += DN_THREADS) {
        dn_s64 pseudo = dn_quotient(i, p.width), at = i - pseudo * p.width, unit = at < units ? at : at - p.hidden;
        bool alone = p.gru && at >= units, split = p.gru && at >= 2 * p.hidden;
        double v = 0;
        if (p.input >= 0 && !alone)
            v += load(&p.w, p.input + pseudo * p.pitch + unit);
        if (p.recurrent >= 0 && (alone || !split))
            v += load(&p.w, p.recurrent + pseudo * p.pitch + unit);
        store(&p.to, i, v);
    }
}

extern "C" __global__ void __launch_bounds__(256) cuda_rnn_skip_forward(const __grid_constant__ dn_rnn_skip p)
{
    dn_s64 wide = p.gates_count * p.hidden, count = p.directions * p.rows * wide;
    for (dn_s64 i = DN_THREAD; i < count; i += DN_THREADS) {
        dn_s64 line = dn_quotient(i, wide), at = i - line * wide, d = line >= p.rows, row = line - d * p.rows;
        store(&p.gates, d * p.gates_pitch + row * p.gates_ld + at,
              load(&p.x, row * p.hidden + at - dn_quotient(at, p.hidden) * p.hidden) + load(&p.bias, d * p.bias_pitch + at));
    }
}

extern "C" __global__ void __launch_bounds__(256) cuda_rnn_skip_backward(const __grid_constant__ dn_rnn_skip p)
{
    for (dn_s64 i = DN_THREAD; i < p.rows * p.hidden; i += DN_THREADS) {
        dn_s64 row = dn_quotient(i, p.hidden), u = i - row * p.hidden;
        double sum = 0;
        for (int d = 0; d < p.directions; d++)
            for (int g = 0; g < p.gates_count; g++)
                sum += load(&p.gates, d * p.gates_pitch + row * p.gates_ld + g * p.hidden + u);
        store(&p.x, i, sum);
    }
}

/* --- gradients by the biases --- */

/* Block (x, part): 256 columns, counted over all pseudo layers, some rows. */
extern "C" __global__ void __launch_bounds__(256) cuda_rnn_sums(const __grid_constant__ dn_rnn_sums p)
{
    dn_s64 i = DN_THREAD, part = blockIdx.y, end = (part + 1) * p.part < p.rows ? (part + 1) * p.part : p.rows;
    if (i >= p.columns * p.pseudos)
        return;
    dn_s64 pseudo = dn_quotient(i, p.columns), column = i - pseudo * p.columns;
    double sum = 0;
    for (dn_s64 row = part * p.part; row < end; row++)
        sum += get(p.dgates.type, p.dgates.ptr, pseudo * p.dgates_pitch + row * p.columns + column);
    p.partial[part * p.pseudos * p.columns + i] = sum;
}

/* A thread for every bias: those of the input products, then the recurrent ones. */
extern "C" __global__ void __launch_bounds__(256) cuda_rnn_sums_end(const __grid_constant__ dn_rnn_sums p)
{
    dn_s64 units = p.gates * p.hidden;
    for (dn_s64 i = DN_THREAD; i < p.pseudos * 2 * units; i += DN_THREADS) {
        dn_s64 pseudo = i / (2 * units), rest = i - pseudo * 2 * units, unit = rest % units, base = rest < units ? p.input : p.recurrent;
        dn_s64 column = p.gru && rest >= units && unit >= 2 * p.hidden ? unit + p.hidden : unit;
        if (base < 0)
            continue;
        double sum = 0;
        for (int part = 0; part < p.parts; part++)
            sum += p.partial[(part * p.pseudos + pseudo) * p.columns + column];
        dn_s64 at = base + pseudo * p.pitch + unit;
        sum *= p.alpha;
        if (p.beta != 0)
            sum += p.beta * load(&p.w, at);
        store(&p.w, at, sum);
    }
}
