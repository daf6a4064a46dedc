/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     s_p = k + alpha / n^d * sum of (x_q - m_p)^2 over the window of p, m the means;  y_p = x_p s_p^-beta
 *     t_p = dy_p x_p s_p^(-beta - 1);  f = 2 alpha / n^d beta
 *     dx_p = dy_p s_p^-beta - f * sum of t_q (x_p - m_q) over all q whose window has p
 *     dmeans_p = f t_p * sum of (x_q - m_p) over the window of p
 *
 * Takes everything: any type, strides, alignment; in place. Planes are copied to scratch in double first, so that nothing that is read
 * was written before. One thread per element in a loop over the grid; n^d reads per element. */
#include "cuda/lrn/lrn_fn.cuh"

typedef struct place {
    dn_s64 plane, d, h, w;  /* plane: counted over the batch and channels */
    dn_s64 base;            /* of the plane in scratch */
    dn_s64 n, c;
} place;

DN_FN place place_of(const dn_divnorm_naive *p, dn_s64 i)
{
    place at;
    at.w = i % p->width;
    dn_s64 row = i / p->width;
    at.h = row % p->height;
    row /= p->height;
    at.d = row % p->depth;
    at.plane = p->first + row / p->depth;
    at.base = row / p->depth * p->depth * p->height * p->width;
    at.n = at.plane / p->channels;
    at.c = at.plane % p->channels;
    return at;
}

DN_FN dn_s64 offset_of(const dn_divnorm_tensor *t, const place *at)
{
    return at->n * t->stride[0] + at->c * t->stride[1] + at->d * t->stride[2] + at->h * t->stride[3] + at->w * t->stride[4];
}

DN_FN dn_s64 count_of(const dn_divnorm_naive *p)
{
    return p->planes * p->depth * p->height * p->width;
}

extern "C" __global__ void cuda_divnorm_load(const __grid_constant__ dn_divnorm_naive p)
{
    for (dn_s64 i = DN_THREAD; i < count_of(&p); i += DN_THREADS) {
        place at = place_of(&p, i);
        p.x_plane[i] = dn_load(&p.x.e, offset_of(&p.x, &at));
        p.m_plane[i] = p.means.e.ptr ? dn_load(&p.means.e, offset_of(&p.means, &at)) : 0;
    }
}

enum { SQUARES, DEVIATIONS, SHARES };

/* Sum of what the elements q from `back` before to `ahead` after element i in each dimension add to it. */
template <int KIND> DN_FN double window(const dn_divnorm_naive *p, const place *at, dn_s64 i, int back, int ahead)
{
    double sum = 0;
    int deep = p->depth > 1;
    for (dn_s64 d = at->d - (deep ? back : 0); d <= at->d + (deep ? ahead : 0); d++)
        for (dn_s64 h = at->h - back; h <= at->h + ahead && d >= 0 && d < p->depth; h++)
            for (dn_s64 w = at->w - back; w <= at->w + ahead && h >= 0 && h < p->height; w++) {
                if (w < 0 || w >= p->width)
                    continue;
                dn_s64 q = at->base + (d * p->height + h) * p->width + w;
                if (KIND == SHARES)
                    sum += p->t_plane[q] * (p->x_plane[i] - p->m_plane[q]);
                else if (KIND == SQUARES)
                    sum += (p->x_plane[q] - p->m_plane[i]) * (p->x_plane[q] - p->m_plane[i]);
                else
                    sum += p->x_plane[q] - p->m_plane[i];
            }
    return sum;
}

extern "C" __global__ void cuda_divnorm_fwd_naive(const __grid_constant__ dn_divnorm_naive p)
{
    for (dn_s64 i = DN_THREAD; i < count_of(&p); i += DN_THREADS) {
        place at = place_of(&p, i);
        double s = p.fn.k + p.fn.share * window<SQUARES>(&p, &at, i, p.fn.back, p.fn.ahead);
        dn_store_blend(&p.out.e, offset_of(&p.out, &at), p.x_plane[i] * dn_lrn_power(s, p.fn.beta), p.alpha, p.beta);
    }
}

/* g: dy s^-beta, and t */
extern "C" __global__ void cuda_divnorm_terms(const __grid_constant__ dn_divnorm_naive p)
{
    for (dn_s64 i = DN_THREAD; i < count_of(&p); i += DN_THREADS) {
        place at = place_of(&p, i);
        double s = p.fn.k + p.fn.share * window<SQUARES>(&p, &at, i, p.fn.back, p.fn.ahead);
        double g = dn_load(&p.dy.e, offset_of(&p.dy, &at)) * dn_lrn_power(s, p.fn.beta);
        p.g_plane[i] = g;
        p.t_plane[i] = g * p.x_plane[i] / s;
    }
}

extern "C" __global__ void cuda_divnorm_bwd_data_naive(const __grid_constant__ dn_divnorm_naive p)
{
    double factor = 2 * p.fn.share * p.fn.beta;
    for (dn_s64 i = DN_THREAD; i < count_of(&p); i += DN_THREADS) {
        place at = place_of(&p, i);
        double sum = window<SHARES>(&p, &at, i, p.fn.ahead, p.fn.back);
        dn_store_blend(&p.out.e, offset_of(&p.out, &at), p.g_plane[i] - factor * sum, p.alpha, p.beta);
        if (!p.dmeans.e.ptr)
            continue;
        sum = window<DEVIATIONS>(&p, &at, i, p.fn.back, p.fn.ahead);
        dn_store_blend(&p.dmeans.e, offset_of(&p.dmeans, &at), factor * p.t_plane[i] * sum, p.alpha, p.beta);
    }
}
