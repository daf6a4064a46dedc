/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Spatial transformer (formulas in src/ops/spatial.c). Takes everything: any type, strides, alignment; in double, and the same bits from
 * run to run: the gradient by x is gathered from lists of output pixels, not scattered. */
#include "cuda/spatial/spatial.h"
#include "cuda/common.cuh"

/* --- grid generator --- */

/* Where the centre of pixel i of n lies between -1 and 1; a single pixel is the first. */
DN_FN double centre(dn_s64 i, dn_s64 n)
{
    return n > 1 ? -1 + 2 * (double)i / (double)(n - 1) : -1;
}

/* A thread per pixel of the grid. */
extern "C" __global__ void cuda_stgrid_fwd_naive(const __grid_constant__ dn_stgrid p)
{
    for (dn_s64 i = DN_THREAD; i < p.n * p.h * p.w; i += DN_THREADS) {
        dn_s64 w = i % p.w, h = i / p.w % p.h, n = i / p.w / p.h;
        double x = centre(w, p.w), y = centre(h, p.h);
        dn_s64 to = n * p.grid.stride[0] + h * p.grid.stride[1] + w * p.grid.stride[2];
        for (int k = 0; k < 2; k++) {
            dn_s64 row = n * p.theta.stride[0] + k * p.theta.stride[1];
            double t[3];
            for (int j = 0; j < 3; j++)
                t[j] = dn_load(&p.theta.e, row + j * p.theta.stride[2]);
            dn_store(&p.grid.e, to + k * p.grid.stride[3], t[0] * x + t[1] * y + t[2]);
        }
    }
}

/* A block per sample and row of theta; sums as trees. */
extern "C" __global__ void cuda_stgrid_bwd_data_naive(const __grid_constant__ dn_stgrid p)
{
    __shared__ double sh[3][DN_SPATIAL_BLOCK];
    int t = (int)threadIdx.x;
    for (dn_s64 b = blockIdx.x; b < p.n * 2; b += gridDim.x) {
        dn_s64 n = b / 2, k = b % 2;
        double sum[3] = { 0, 0, 0 };
        for (dn_s64 i = t; i < p.h * p.w; i += DN_SPATIAL_BLOCK) {
            dn_s64 w = i % p.w, h = i / p.w;
            double v = dn_load(&p.grid.e, n * p.grid.stride[0] + h * p.grid.stride[1] + w * p.grid.stride[2] + k * p.grid.stride[3]);
            sum[0] += v * centre(w, p.w);
            sum[1] += v * centre(h, p.h);
            sum[2] += v;
        }
        __syncthreads();
        for (int j = 0; j < 3; j++)
            sh[j][t] = sum[j];
        for (int o = DN_SPATIAL_BLOCK / 2; o > 0; o /= 2) {
            __syncthreads();
            for (int j = 0; j < 3 && t < o; j++)
                sh[j][t] += sh[j][t + o];
        }
        if (t == 0)
            for (int j = 0; j < 3; j++)
                dn_store(&p.theta.e, n * p.theta.stride[0] + k * p.theta.stride[1] + j * p.theta.stride[2], sh[j][0]);
    }
}

/* --- sampler --- */

/* Where an output pixel is sampled: the north-western of four pixels, -2 where all lie outside; how far from it, 0 .. 1. */
typedef struct spot {
    dn_s64 row, col;
    double across, down;
} spot;

DN_FN dn_s64 split(double place, dn_s64 size, double *beyond)
{
    *beyond = place != place ? place : 0;
    if (!(place > -1 && place < (double)size))
        return -2;
    double low = floor(place);
    *beyond = place - low;
    return (dn_s64)low;
}

DN_FN spot locate(const dn_stsample *p, dn_s64 n, dn_s64 h, dn_s64 w)
{
    dn_s64 at = n * p->grid.stride[0] + h * p->grid.stride[1] + w * p->grid.stride[2];
    double gx = dn_load(&p->grid.e, at), gy = dn_load(&p->grid.e, at + p->grid.stride[3]);
    spot s;
    s.col = split((gx + 1) * (double)(p->w - 1) / 2, p->w, &s.across);
    s.row = split((gy + 1) * (double)(p->h - 1) / 2, p->h, &s.down);
    return s;
}

DN_FN double weight(const spot *s, int corner)
{
    return (corner % 2 ? s->across : 1 - s->across) * (corner / 2 ? s->down : 1 - s->down);
}

/* A corner's value of channel c, 0 outside. */
DN_FN double corner_of(const dn_stsample *p, const spot *s, int corner, dn_s64 n, dn_s64 c)
{
    dn_s64 row = s->row + corner / 2, col = s->col + corner % 2;
    if (row < 0 || row >= p->h || col < 0 || col >= p->w)
        return 0;
    return dn_load(&p->x.e, n * p->x.stride[0] + c * p->x.stride[1] + row * p->x.stride[2] + col * p->x.stride[3]);
}

/* Element i of an n x c x h x w tensor, in the order that suits its memory. */
typedef struct element {
    dn_s64 n, c, h, w;
} element;

DN_FN element element_of(dn_s64 i, dn_s64 c, dn_s64 h, dn_s64 w, int channel_last)
{
    element e;
    e.c = channel_last ? i % c : i / w / h % c;
    i = channel_last ? i / c : i / w / h / c * w * h + i % (w * h);
    e.w = i % w;
    e.h = i / w % h;
    e.n = i / w / h;
    return e;
}

DN_FN dn_s64 y_offset(const dn_stsample *p, dn_s64 n, dn_s64 c, dn_s64 h, dn_s64 w)
{
    return n * p->y.stride[0] + c * p->y.stride[1] + h * p->y.stride[2] + w * p->y.stride[3];
}

/* A thread per element of y. */
extern "C" __global__ void cuda_stsample_fwd_naive(const __grid_constant__ dn_stsample p)
{
    for (dn_s64 i = DN_THREAD; i < p.n * p.c * p.out_h * p.out_w; i += DN_THREADS) {
        element e = element_of(i, p.c, p.out_h, p.out_w, p.y_channel_last);
        spot s = locate(&p, e.n, e.h, e.w);
        double y = 0;
        for (int k = 0; k < 4; k++)
            y += corner_of(&p, &s, k, e.n, e.c) * weight(&s, k);
        dn_store_blend(&p.y.e, y_offset(&p, e.n, e.c, e.h, e.w), y, p.alpha, p.beta);
    }
}

/* A thread per output pixel: the slopes of the surface between the four pixels, times half a pixel count. */
extern "C" __global__ void cuda_stsample_bwd_grid_naive(const __grid_constant__ dn_stsample p)
{
    for (dn_s64 i = DN_THREAD; i < p.n * p.out_h * p.out_w; i += DN_THREADS) {
        dn_s64 w = i % p.out_w, h = i / p.out_w % p.out_h, n = i / p.out_w / p.out_h;
        spot s = locate(&p, n, h, w);
        double gx = 0, gy = 0;
        for (dn_s64 c = 0; c < p.c; c++) {
            double dy = dn_load(&p.y.e, y_offset(&p, n, c, h, w)), v[4];
            for (int k = 0; k < 4; k++)
                v[k] = corner_of(&p, &s, k, n, c);
            gx += dy * ((v[1] - v[0]) * (1 - s.down) + (v[3] - v[2]) * s.down);
            gy += dy * ((v[2] - v[0]) * (1 - s.across) + (v[3] - v[1]) * s.across);
        }
        dn_s64 at = n * p.dgrid.stride[0] + h * p.dgrid.stride[1] + w * p.dgrid.stride[2];
        dn_store_blend(&p.dgrid.e, at, gx * ((double)(p.w - 1) / 2), p.alpha2, p.beta2);
        dn_store_blend(&p.dgrid.e, at + p.dgrid.stride[3], gy * ((double)(p.h - 1) / 2), p.alpha2, p.beta2);
    }
}

/* Cells of a sample: by their north-western pixel, which may lie outside by one. */
DN_FN dn_s64 cells_of(const dn_stsample *p)
{
    return (p->h + 1) * (p->w + 1);
}

/* The cell of output pixel i of sample n, -1 for none. */
DN_FN dn_s64 cell_of(const dn_stsample *p, dn_s64 n, dn_s64 i)
{
    spot s = locate(p, n, i / p->out_w, i % p->out_w);
    return s.row < -1 || s.col < -1 ? -1 : (s.row + 1) * (p->w + 1) + s.col + 1;
}

/* The lists of a sample, by one block: a counting sort that keeps the order. Pixels come a block's width at a time; a pixel's place is that of
 * its cell's next free one, plus those before it in this batch that are of the same cell. */
extern "C" __global__ void cuda_stsample_bwd_list_naive(const __grid_constant__ dn_stsample p)
{
    __shared__ dn_s64 cell[DN_SPATIAL_BLOCK];
    int t = (int)threadIdx.x;
    dn_s64 cells = cells_of(&p), pixels = p.out_h * p.out_w;
    for (dn_s64 b = blockIdx.x; b < p.batch; b += gridDim.x) {
        dn_s64 *ends = p.ends + b * cells, *list = p.list + b * pixels;
        for (dn_s64 k = t; k < cells; k += DN_SPATIAL_BLOCK)
            ends[k] = 0;
        __syncthreads();
        for (dn_s64 i = t; i < pixels; i += DN_SPATIAL_BLOCK) {
            dn_s64 k = cell_of(&p, p.first + b, i);
            if (k >= 0)
                atomicAdd((dn_u64 *)&ends[k], 1ull);
        }
        __syncthreads();
        dn_s64 share = (cells + DN_SPATIAL_BLOCK - 1) / DN_SPATIAL_BLOCK, from = t * share, to = from + share < cells ? from + share : cells;
        cell[t] = 0;
        for (dn_s64 k = from; k < to; k++)
            cell[t] += ends[k];
        __syncthreads();
        dn_s64 sum = 0;
        for (int k = 0; k < t; k++)
            sum += cell[k];
        for (dn_s64 k = from; k < to; k++) {
            dn_s64 count = ends[k];
            ends[k] = sum;
            sum += count;
        }
        __syncthreads();
        for (dn_s64 i = 0; i < pixels; i += DN_SPATIAL_BLOCK) {
            dn_s64 mine = i + t < pixels ? cell_of(&p, p.first + b, i + t) : -1, before = 0, after = 0;
            cell[t] = mine;
            __syncthreads();
            for (int k = 0; k < DN_SPATIAL_BLOCK && mine >= 0; k++) {
                before += k < t && cell[k] == mine;
                after += k > t && cell[k] == mine;
            }
            if (mine >= 0)
                list[ends[mine] + before] = i + t;
            __syncthreads();
            if (mine >= 0 && after == 0)
                ends[mine] += before + 1;
            __syncthreads();
        }
    }
}

/* A thread per element of dx: what the pixels of its four cells give. After the sort ends[k] is the end of cell k's list. */
extern "C" __global__ void cuda_stsample_bwd_naive(const __grid_constant__ dn_stsample p)
{
    dn_s64 cells = cells_of(&p), pixels = p.out_h * p.out_w;
    for (dn_s64 i = DN_THREAD; i < p.batch * p.c * p.h * p.w; i += DN_THREADS) {
        element e = element_of(i, p.c, p.h, p.w, p.dx_channel_last);
        const dn_s64 *ends = p.ends + e.n * cells, *list = p.list + e.n * pixels;
        dn_s64 n = p.first + e.n;
        double sum = 0;
        for (int corner = 3; corner >= 0; corner--) {
            dn_s64 k = (e.h + 1 - corner / 2) * (p.w + 1) + e.w + 1 - corner % 2;
            for (dn_s64 j = k ? ends[k - 1] : 0; j < ends[k]; j++) {
                dn_s64 h = list[j] / p.out_w, w = list[j] % p.out_w;
                spot s = locate(&p, n, h, w);
                sum += dn_load(&p.y.e, y_offset(&p, n, e.c, h, w)) * weight(&s, corner);
            }
        }
        dn_s64 at = n * p.dx.stride[0] + e.c * p.dx.stride[1] + e.h * p.dx.stride[2] + e.w * p.dx.stride[3];
        dn_store_blend(&p.dx.e, at, sum, p.alpha, p.beta);
    }
}
