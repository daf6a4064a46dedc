/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Convolution as a product of views: any type, strides, padding, dilation, groups, layout, alignment. The file that includes this defines
 *     DN_SUM                      float or double: what is summed
 *     DN_FWD, DN_FILTER, DN_REDUCE, DN_DIRECT    names of the kernels
 *
 * Tiles of 64 x 64 by blocks of 256 threads, 4 x 4 results each, 16 steps of the sum at a time in shared memory (12 KiB with its tables).
 * A tap that meets padding multiplies a zero, as in ref. */
#include "cuda/act/act_fn.cuh"
#include "cuda/conv/conv.h"

#define TILE 64
#define STEPS 16
#define PAD 4

/* What is big and seldom hot is not inlined: the code of one kernel would be a megabyte. */
static __device__ __noinline__ DN_SUM load_any(const dn_elements *e, dn_s64 i)
{
    return (DN_SUM)dn_load(e, i);
}

DN_FN DN_SUM load_sum(const dn_elements *e, dn_s64 i)
{
    if (sizeof(DN_SUM) == 8 || e->bytes)
        return load_any(e, i);
    switch (e->type) {
    case DN_T_F16: return (DN_SUM)dn_half_to_float(((const dn_u16 *)e->ptr)[i]);
    case DN_T_BF16: return (DN_SUM)dn_bf16_to_float(((const dn_u16 *)e->ptr)[i]);
    case DN_T_F32: return (DN_SUM)((const float *)e->ptr)[i];
    default: return load_any(e, i);
    }
}

/* --- places --- */

static __device__ __noinline__ dn_s64 quotient(dn_s64 a, dn_s64 b)
{
    return (a | b) >> 32 ? a / b : (dn_s64)((dn_u32)a / (dn_u32)b);
}

DN_FN dn_s64 rest(dn_s64 a, dn_s64 b)
{
    return a - quotient(a, b) * b;
}

/* Offset of channel c, counted over all groups. */
DN_FN dn_s64 chan_at(const dn_gemm_view *v, dn_s64 c)
{
    return v->vect == 1 ? c * v->chan_stride : c / v->vect * v->chan_stride + c % v->vect;
}

/* at[j] = col * mul + base of each dimension. */
DN_FN void column_index(const dn_gemm_view *v, dn_s64 col, dn_s64 *at)
{
#pragma unroll
    for (int j = DN_GEMM_DIMS - 1; j >= 0; j--)
        if (j < v->rank) {
            dn_s64 q = quotient(col, v->dim[j].cols);
            at[j] = (col - q * v->dim[j].cols) * v->dim[j].mul + v->dim[j].base;
            col = q;
        }
}

DN_FN dn_s64 tap_step(const dn_gemm_view *v, int j, dn_s64 tap)
{
    const dn_gemm_dim *d = &v->dim[j];
    return d->taps > 1 ? rest(quotient(tap, d->tap_weight), d->taps) * d->step : 0;
}

/* Offset of a column of a view without taps (an output). */
DN_FN dn_s64 plain_at(const dn_gemm_view *v, dn_s64 col)
{
    dn_s64 at[DN_GEMM_DIMS], off = v->offset;
    column_index(v, col, at);
#pragma unroll
    for (int j = 0; j < DN_GEMM_DIMS; j++)
        if (j < v->rank)
            off += at[j] * v->dim[j].stride;
    return off;
}

DN_FN dn_s64 filter_chan(const dn_gemm_filter *f, dn_s64 l)
{
    return f->tap_inner ? quotient(l, f->taps) : rest(l, f->chans);
}

DN_FN dn_s64 filter_tap(const dn_gemm_filter *f, dn_s64 l)
{
    return f->tap_inner ? rest(l, f->taps) : quotient(l, f->chans);
}

/* Offset of column (c, tap) in row 0; of a reordered filter without the part that depends on the row. */
DN_FN dn_s64 filter_column(const dn_gemm_filter *f, dn_s64 c, dn_s64 tap)
{
    if (f->reordered)  /* C/32, R, S, K/8, 2, 8, 4, 4: k / 8, k % 2, c % 32 / 4, k % 8 / 2, c % 4 */
        return (c / 32 * f->taps + tap) * (f->all_rows / 8) * 256 + c % 32 / 4 * 16 + c % 4;
    dn_s64 off = f->offset + (f->vect == 1 ? c * f->chan_stride : c / f->vect * f->chan_stride + c % f->vect);
#pragma unroll
    for (int j = DN_GEMM_TAPS - 1; j >= 0; j--)
        if (j < f->rank) {
            dn_s64 q = quotient(tap, f->dim[j]);
            off += (tap - q * f->dim[j]) * f->stride[j];
            tap = q;
        }
    return off;
}

DN_FN dn_s64 filter_row(const dn_gemm_filter *f, dn_s64 group, dn_s64 m)
{
    dn_s64 k = group * f->rows + m;
    return f->reordered ? k / 8 * 256 + k % 2 * 128 + k % 8 / 2 * 4 : group * f->group_stride + m * f->row_stride;
}

/* --- tiles --- */

typedef struct tile_tables {
    dn_s64 col[TILE][DN_GEMM_DIMS];   /* column_index of the view that has taps */
    dn_s64 tap[TILE][DN_GEMM_DIMS];   /* tap_step */
    dn_s64 chan[TILE], filter[TILE];  /* chan_at and filter_column by l */
    DN_SUM a[STEPS][TILE + PAD], b[STEPS][TILE + PAD];
} tile_tables;

/* The element of column i and reduction index k of the tables, 0 in padding. */
DN_FN DN_SUM gather(const dn_gemm_view *v, const dn_s64 *col, const dn_s64 *tap, dn_s64 off)
{
#pragma unroll
    for (int j = 0; j < DN_GEMM_DIMS; j++)
        if (j < v->rank) {
            dn_s64 i = col[j] + tap[j];
            if (i < 0 || i >= v->dim[j].limit)
                return 0;
            off += i * v->dim[j].stride;
        }
    return load_sum(&v->e, off);
}

DN_FN void table_column(const dn_gemm_view *v, tile_tables *t, int i, dn_s64 col)
{
    column_index(v, col, t->col[i]);
}

DN_FN void table_reduction(const dn_gemm_view *v, const dn_gemm_filter *f, tile_tables *t, int i, dn_s64 group, dn_s64 l)
{
    dn_s64 c = filter_chan(f, l), tap = filter_tap(f, l);
    t->chan[i] = v->offset + chan_at(v, group * v->chans + c);
    t->filter[i] = filter_column(f, c, tap);
    for (int j = 0; j < v->rank; j++)
        t->tap[i][j] = tap_step(v, j, tap);
}

/* acc += a * b over the steps in shared memory. Thread (x, y) has rows 4 y .. 4 y + 3 and columns 4 x .. 4 x + 3. */
DN_FN void multiply(const tile_tables *t, DN_SUM acc[4][4])
{
    int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4;
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        DN_SUM a[4], b[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            a[i] = t->a[k][y + i];
            b[i] = t->b[k][x + i];
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                acc[i][j] += a[i] * b[j];
    }
}

/* --- forward, and the gradient by the input --- */

static __device__ __noinline__ void finish(const dn_gemm_fwd *p, dn_s64 group, dn_s64 m, dn_s64 out_at, dn_s64 z_at, double sum)
{
    dn_s64 chan = group * p->m + m, at = out_at + chan_at(&p->out, chan);
    if (!p->fused) {
        dn_store_blend(&p->out.e, at, sum, p->alpha, p->beta);
        return;
    }
    dn_s64 b = p->w.reordered ? (chan / 32 * 8 + chan % 8 / 4 * 4 + chan % 32 / 8) * 4 + chan % 4 : chan * p->bias_stride;
    sum = p->alpha * sum + dn_load(&p->bias, b);
    if (p->has_z)
        sum += p->alpha2 * dn_load(&p->z.e, z_at + chan_at(&p->z, chan));
    dn_store(&p->out.e, at, dn_act_apply(&p->act, sum));
}

extern "C" __global__ void __launch_bounds__(256) DN_FWD(const __grid_constant__ dn_gemm_fwd p)
{
    __shared__ tile_tables t;
    dn_s64 m_tiles = (p.m + TILE - 1) / TILE, n_tiles = (p.cols + TILE - 1) / TILE, tid = threadIdx.x;
    for (dn_s64 work = blockIdx.x; work < p.groups * m_tiles * n_tiles; work += gridDim.x) {
        dn_s64 m0 = work % m_tiles * TILE, rest = work / m_tiles, col0 = rest % n_tiles * TILE, group = rest / n_tiles;
        DN_SUM acc[4][4] = {};
        __syncthreads();
        if (tid < TILE && col0 + tid < p.cols)
            table_column(&p.in, &t, tid, col0 + tid);
        for (dn_s64 l0 = 0; l0 < p.l; l0 += STEPS) {
            __syncthreads();
            if (tid < STEPS && l0 + tid < p.l)
                table_reduction(&p.in, &p.w, &t, tid, group, l0 + tid);
            __syncthreads();
            for (int i = tid; i < STEPS * TILE; i += 256) {
                int k = i / TILE, j = i % TILE;
                bool in = l0 + k < p.l;
                t.b[k][j] = in && col0 + j < p.cols ? gather(&p.in, t.col[j], t.tap[k], t.chan[k]) : (DN_SUM)0;
            }
            for (int i = tid; i < STEPS * TILE; i += 256) {
                int k = i % STEPS, j = i / STEPS;
                t.a[k][j] = l0 + k < p.l && m0 + j < p.m ? load_sum(&p.w.e, filter_row(&p.w, group, m0 + j) + t.filter[k]) : (DN_SUM)0;
            }
            __syncthreads();
            multiply(&t, acc);
        }
        int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            bool in = col0 + x + j < p.cols;
            dn_s64 out_at = in ? plain_at(&p.out, col0 + x + j) : 0, z_at = in && p.has_z ? plain_at(&p.z, col0 + x + j) : 0;
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (in && m0 + y + i < p.m)
                    finish(&p, group, m0 + y + i, out_at, z_at, acc[i][j]);
        }
    }
}

/* One result per thread. */
extern "C" __global__ void __launch_bounds__(256) DN_DIRECT(const __grid_constant__ dn_gemm_fwd p)
{
    for (dn_s64 work = DN_THREAD; work < p.groups * p.m * p.cols; work += DN_THREADS) {
        dn_s64 chans = p.groups * p.m, chan = p.chan_first ? work % chans : work / p.cols, col = p.chan_first ? work / chans : work % p.cols;
        dn_s64 group = chan / p.m, m = chan % p.m, at[DN_GEMM_DIMS], step[DN_GEMM_DIMS], row = filter_row(&p.w, group, m);
        DN_SUM sum = 0;
        column_index(&p.in, col, at);
        for (dn_s64 tap = 0; tap < p.w.taps; tap++) {
#pragma unroll
            for (int j = 0; j < DN_GEMM_DIMS; j++)
                step[j] = j < p.in.rank ? tap_step(&p.in, j, tap) : 0;
            DN_SUM part = 0;
            for (dn_s64 c = 0; c < p.w.chans; c++)
                part += load_sum(&p.w.e, row + filter_column(&p.w, c, tap)) *
                        gather(&p.in, at, step, p.in.offset + chan_at(&p.in, group * p.in.chans + c));
            sum += part;
        }
        finish(&p, group, m, plain_at(&p.out, col), p.has_z ? plain_at(&p.z, col) : 0, sum);
    }
}

/* --- the gradient by the filter --- */

static __device__ __noinline__ void store_grad(const dn_gemm_filter_grad *p, dn_s64 part, dn_s64 group, dn_s64 m, dn_s64 l, double sum)
{
    if (p->parts > 1) {
        ((DN_SUM *)p->sums)[((part * p->groups + group) * p->m + m) * p->l + l] = (DN_SUM)sum;
        return;
    }
    dn_s64 at = filter_row(&p->dw, group, m) + filter_column(&p->dw, filter_chan(&p->dw, l), filter_tap(&p->dw, l));
    dn_store_blend(&p->dw.e, at, sum, p->alpha, p->beta);
}

extern "C" __global__ void __launch_bounds__(256) DN_FILTER(const __grid_constant__ dn_gemm_filter_grad p)
{
    __shared__ tile_tables t;
    __shared__ dn_s64 dy_at[STEPS];
    dn_s64 m_tiles = (p.m + TILE - 1) / TILE, l_tiles = (p.l + TILE - 1) / TILE, tid = threadIdx.x;
    for (dn_s64 work = blockIdx.x; work < p.parts * p.groups * m_tiles * l_tiles; work += gridDim.x) {
        dn_s64 m0 = work % m_tiles * TILE, rest = work / m_tiles, l0 = rest % l_tiles * TILE, group = rest / l_tiles % p.groups;
        dn_s64 part = rest / l_tiles / p.groups, begin = part * p.part, end = begin + p.part < p.cols ? begin + p.part : p.cols;
        DN_SUM acc[4][4] = {};
        __syncthreads();
        if (tid < TILE && l0 + tid < p.l)
            table_reduction(&p.x, &p.dw, &t, tid, group, l0 + tid);
        for (dn_s64 col0 = begin; col0 < end; col0 += STEPS) {
            __syncthreads();
            if (tid < STEPS && col0 + tid < end) {
                table_column(&p.x, &t, tid, col0 + tid);
                dy_at[tid] = plain_at(&p.dy, col0 + tid);
            }
            __syncthreads();
            for (int i = tid; i < STEPS * TILE; i += 256) {
                int k = i % STEPS, j = i / STEPS;
                bool in = col0 + k < end;
                t.b[k][j] = in && l0 + j < p.l ? gather(&p.x, t.col[k], t.tap[j], t.chan[j]) : (DN_SUM)0;
                t.a[k][j] = in && m0 + j < p.m ? load_sum(&p.dy.e, dy_at[k] + chan_at(&p.dy, group * p.m + m0 + j)) : (DN_SUM)0;
            }
            __syncthreads();
            multiply(&t, acc);
        }
        int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4;
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                if (m0 + y + i < p.m && l0 + x + j < p.l)
                    store_grad(&p, part, group, m0 + y + i, l0 + x + j, acc[i][j]);
    }
}

/* Adds the parts, in order. */
extern "C" __global__ void __launch_bounds__(256) DN_REDUCE(const __grid_constant__ dn_gemm_filter_grad p)
{
    dn_s64 count = p.groups * p.m * p.l;
    for (dn_s64 i = DN_THREAD; i < count; i += DN_THREADS) {
        double sum = 0;
        for (dn_s64 part = 0; part < p.parts; part++)
            sum += ((const DN_SUM *)p.sums)[part * count + i];
        dn_s64 l = i % p.l, m = i / p.l % p.m, group = i / p.l / p.m;
        dn_s64 at = filter_row(&p.dw, group, m) + filter_column(&p.dw, filter_chan(&p.dw, l), filter_tap(&p.dw, l));
        dn_store_blend(&p.dw.e, at, sum, p.alpha, p.beta);
    }
}
