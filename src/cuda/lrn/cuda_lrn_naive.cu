/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     s_i = k + alpha / n * sum of x_j^2 over the window of i;  y_i = x_i s_i^-beta
 *     dx_j = dy_j s_j^-beta - 2 alpha / n beta x_j * sum of dy_i x_i s_i^(-beta - 1) over all i whose window has j
 *
 * Takes everything: any type, strides, alignment. A thread takes a chunk of the channels of one place, in double, and keeps the last of
 * them in rings, so that a whole column of channels (chunk = c) may be worked on in place. */
#include "cuda/lrn/lrn_fn.cuh"

enum { RING = 32 };  /* channels kept: two windows */

/* Squares of the channels first ... last that exist, in order. x: the ring */
DN_FN double squares(const dn_lrn_naive *p, const double *x, dn_s64 channel)
{
    dn_s64 first = channel - p->fn.back, last = channel + p->fn.ahead;
    double sum = 0;
    for (dn_s64 k = first < 0 ? 0 : first; k <= last && k < p->c; k++)
        sum += x[k & (RING - 1)] * x[k & (RING - 1)];
    return p->fn.k + p->fn.share * sum;
}

extern "C" __global__ void cuda_lrn_fwd_naive(const __grid_constant__ dn_lrn_naive p)
{
    dn_s64 chunks = (p.c + p.chunk - 1) / p.chunk;
    for (dn_s64 i = DN_THREAD; i < p.places.count * chunks; i += DN_THREADS) {
        dn_s64 at[2], begin = i / p.places.count * p.chunk, end = begin + p.chunk < p.c ? begin + p.chunk : p.c;
        double x[RING];
        dn_walk_at<2>(&p.places, i % p.places.count, at);
        dn_s64 loaded = begin - p.fn.back < 0 ? 0 : begin - p.fn.back;
        for (dn_s64 k = begin; k < end; k++) {
            for (; loaded < p.c && loaded <= k + p.fn.ahead; loaded++)
                x[loaded & (RING - 1)] = dn_load(&p.e[1], at[1] + loaded * p.step[1]);
            double y = x[k & (RING - 1)] * dn_lrn_power(squares(&p, x, k), p.fn.beta);
            dn_store_blend(&p.e[0], at[0] + k * p.step[0], y, p.alpha, p.beta);
        }
    }
}

extern "C" __global__ void cuda_lrn_bwd_data_naive(const __grid_constant__ dn_lrn_naive p)
{
    dn_s64 chunks = (p.c + p.chunk - 1) / p.chunk;
    for (dn_s64 i = DN_THREAD; i < p.places.count * chunks; i += DN_THREADS) {
        dn_s64 at[3], begin = i / p.places.count * p.chunk, end = begin + p.chunk < p.c ? begin + p.chunk : p.c;
        double x[RING], power[RING], term[RING], factor = 2 * p.fn.share * p.fn.beta;
        dn_walk_at<3>(&p.places, i % p.places.count, at);
        dn_s64 made = begin - p.fn.ahead < 0 ? 0 : begin - p.fn.ahead;
        dn_s64 loaded = made - p.fn.back < 0 ? 0 : made - p.fn.back;
        for (dn_s64 k = begin; k < end; k++) {
            for (; made < p.c && made <= k + p.fn.back; made++) {
                for (; loaded < p.c && loaded <= made + p.fn.ahead; loaded++)
                    x[loaded & (RING - 1)] = dn_load(&p.e[1], at[1] + loaded * p.step[1]);
                double s = squares(&p, x, made), dy = dn_load(&p.e[2], at[2] + made * p.step[2]);
                power[made & (RING - 1)] = dy * dn_lrn_power(s, p.fn.beta);
                term[made & (RING - 1)] = power[made & (RING - 1)] * x[made & (RING - 1)] / s;
            }
            double sum = 0;
            for (dn_s64 j = k - p.fn.ahead < 0 ? 0 : k - p.fn.ahead; j <= k + p.fn.back && j < p.c; j++)
                sum += term[j & (RING - 1)];
            dn_store_blend(&p.e[0], at[0] + k * p.step[0], power[k & (RING - 1)] - factor * x[k & (RING - 1)] * sum, p.alpha, p.beta);
        }
    }
}
