/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     fwd:      y = alpha * (maximum or average of the window) + beta * y
 *     bwd_data: dx = alpha * sum over the windows around x of (dy where x is the window's maximum, or dy / count) + beta * dx
 *
 * Takes everything. One thread per output, per window (winners) or per input (gradient), each in a loop over the grid, in double.
 * Corners are those of ref/pool.c: which element of a window is its maximum, NaN, what an average divides by. */
#include "cuda/common.cuh"
#include "cuda/pool/pool.h"

/* A walk over a box of positions in the pooled dimensions, the last fastest. */
typedef struct dn_pool_box {
    dn_s64 lo[DN_POOL_AXES], hi[DN_POOL_AXES], at[DN_POOL_AXES];
} dn_pool_box;

DN_FN bool dn_pool_next(dn_pool_box *b)
{
#pragma unroll
    for (int d = DN_POOL_AXES - 1; d >= 0; d--) {
        if (++b->at[d] < b->hi[d])
            return true;
        b->at[d] = b->lo[d];
    }
    return false;
}

DN_FN dn_s64 dn_pool_offset(const dn_view *v, const dn_s64 *at)
{
    dn_s64 offset = 0;
#pragma unroll
    for (int d = 0; d < DN_POOL_AXES; d++)
        offset += at[d] * v->stride[2 + d];
    return offset;
}

/* First element of plane number `plane`. */
DN_FN dn_s64 dn_pool_plane(const dn_pool_naive *p, const dn_view *v, dn_s64 plane)
{
    dn_s64 c = plane % p->c;
    return plane / p->c * v->stride[0] + c / v->vect * v->stride[1] + c % v->vect;
}

/* Position number i of a plane. out: of the outputs. */
DN_FN void dn_pool_at(const dn_pool_naive *p, bool out, dn_s64 i, dn_s64 *at)
{
#pragma unroll
    for (int d = DN_POOL_AXES - 1; d >= 0; d--) {
        dn_s64 size = out ? p->axis[d].out : p->axis[d].in;
        at[d] = size > 1 ? i % size : 0;
        i = size > 1 ? i / size : i;
    }
}

DN_FN dn_s64 dn_pool_flat(const dn_pool_naive *p, bool out, const dn_s64 *at)
{
    dn_s64 i = 0;
#pragma unroll
    for (int d = 0; d < DN_POOL_AXES; d++)
        i = i * (out ? p->axis[d].out : p->axis[d].in) + at[d];
    return i;
}

/* Inputs of window o. */
DN_FN void dn_pool_window(const dn_pool_naive *p, const dn_s64 *o, dn_pool_box *b)
{
#pragma unroll
    for (int d = 0; d < DN_POOL_AXES; d++) {
        const dn_pool_axis *a = &p->axis[d];
        dn_s64 begin = o[d] * a->str - a->pad, end = begin + a->win;
        b->lo[d] = b->at[d] = begin > 0 ? begin : 0;
        b->hi[d] = end < a->in ? end : a->in;
    }
}

/* What an average over window o divides by: padding counts as far as it goes, which is to in + pad. */
DN_FN double dn_pool_count(const dn_pool_naive *p, const dn_s64 *o)
{
    double count = 1;
#pragma unroll
    for (int d = 0; d < DN_POOL_AXES; d++) {
        const dn_pool_axis *a = &p->axis[d];
        dn_s64 begin = o[d] * a->str - a->pad, end = begin + a->win, last = p->count_pad ? a->in + a->pad : a->in;
        if (!p->count_pad && begin < 0)
            begin = 0;
        count *= (double)((end < last ? end : last) - begin);
    }
    return count;
}

/* Outputs whose windows hold position x; false where there is none. */
DN_FN bool dn_pool_around(const dn_pool_naive *p, const dn_s64 *x, dn_pool_box *b)
{
    bool any = true;
#pragma unroll
    for (int d = 0; d < DN_POOL_AXES; d++) {
        const dn_pool_axis *a = &p->axis[d];
        dn_s64 first = x[d] + a->pad - a->win + 1, last = (x[d] + a->pad) / a->str + 1;
        b->lo[d] = b->at[d] = first > 0 ? (first + a->str - 1) / a->str : 0;
        b->hi[d] = last < a->out ? last : a->out;
        any = any && b->lo[d] < b->hi[d];
    }
    return any;
}

extern "C" __global__ void cuda_pool_fwd_naive(const __grid_constant__ dn_pool_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.planes * p.out_plane; i += DN_THREADS) {
        dn_s64 plane = p.first + i / p.out_plane, o[DN_POOL_AXES];
        dn_pool_box b;
        dn_pool_at(&p, true, i % p.out_plane, o);
        dn_pool_window(&p, o, &b);
        dn_s64 from = dn_pool_plane(&p, &p.x, plane), to = dn_pool_plane(&p, &p.y, plane);
        double r = p.max ? -DN_INF_D : 0;
        do {
            double v = dn_load(&p.x.e, from + dn_pool_offset(&p.x, b.at));
            r = !p.max ? r + v : v > r || (p.nan && v != v) ? v : r;
        } while (dn_pool_next(&b));
        if (!p.max)
            r /= dn_pool_count(&p, o);
        dn_store_blend(&p.y.e, to + dn_pool_offset(&p.y, o), r, p.alpha, p.beta);
    }
}

/* The first maximum in scan order; NaN counts as more than all where it goes through, else it is passed over. */
extern "C" __global__ void cuda_pool_bwd_data_naive_winner(const __grid_constant__ dn_pool_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.planes * p.out_plane; i += DN_THREADS) {
        dn_s64 o[DN_POOL_AXES], at = -1;
        dn_pool_box b;
        dn_pool_at(&p, true, i % p.out_plane, o);
        dn_pool_window(&p, o, &b);
        dn_s64 from = dn_pool_plane(&p, &p.x, p.first + i / p.out_plane);
        double best = -DN_INF_D;
        do {
            double v = dn_load(&p.x.e, from + dn_pool_offset(&p.x, b.at));
            if (v != v ? p.nan && best == best : v > best || at < 0) {
                best = v;
                at = dn_pool_flat(&p, false, b.at);
            }
        } while (dn_pool_next(&b));
        p.winner[i] = at;
    }
}

extern "C" __global__ void cuda_pool_bwd_data_naive(const __grid_constant__ dn_pool_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.planes * p.in_plane; i += DN_THREADS) {
        dn_s64 local = i / p.in_plane, mine = i - local * p.in_plane, x[DN_POOL_AXES];
        dn_pool_box b;
        dn_pool_at(&p, false, mine, x);
        dn_s64 from = dn_pool_plane(&p, &p.dy, p.first + local), to = dn_pool_plane(&p, &p.dx, p.first + local);
        double sum = 0;
        bool more = dn_pool_around(&p, x, &b);
        for (; more; more = dn_pool_next(&b)) {
            if (p.max && p.winner[local * p.out_plane + dn_pool_flat(&p, true, b.at)] != mine)
                continue;
            double g = dn_load(&p.dy.e, from + dn_pool_offset(&p.dy, b.at));
            sum += p.max ? g : g / dn_pool_count(&p, b.at);
        }
        dn_store_blend(&p.dx.e, to + dn_pool_offset(&p.dx, x), sum, p.alpha, p.beta);
    }
}
