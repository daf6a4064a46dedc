/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Local response normalisation of packed n x c x pixels tensors, window W (formulas in cuda_lrn_naive.cu). A thread goes along all channels
 * of N neighbouring pixels, U at a time, and keeps those that windows still need in registers: each tensor is read once, in place too.
 *     KERNEL (name, call)   makes a kernel of that name of one of the functions; N: 8 or 16 bytes, which pixels must be a multiple of, or 1 */
#include "cuda/lrn/packed.cuh"

/* Where the thread's first element lies, -1 for none. */
template <int N> DN_FN dn_s64 place(const dn_lrn_packed *p)
{
    const dn_u32 per = (dn_u32)(p->pixels / N), t = blockIdx.x * blockDim.x + threadIdx.x, image = t / per;
    return image < p->n ? image * p->c * p->pixels + (dn_s64)(t - image * per) * N : -1;
}

/* Channel c of the pixels at `at`, 0 where there is none. */
template <int N> DN_FN void channel(const dn_lrn_packed *p, const void *base, dn_s64 at, int c, float *f)
{
    const int there = c < 0 ? 0 : c < p->c ? c : (int)p->c - 1;  /* read anyway: no branch keeps the next load waiting */
    vector_of<N>::load(base, at + there * p->pixels, f);
#pragma unroll
    for (int e = 0; e < N; e++)
        f[e] = there == c ? f[e] : 0;
}

template <int N, int W, int U> DN_FN void nchw_fwd(const dn_lrn_packed *p)
{
    enum { BACK = (W - 1) / 2, AHEAD = W / 2, KEPT = W - 1 };
    const dn_s64 at = place<N>(p);
    float x[KEPT + U][N];  /* channels c - BACK ... c + U - 1 + AHEAD */
    if (at < 0)
        return;
#pragma unroll
    for (int i = 0; i < KEPT; i++)
        channel<N>(p, p->x, at, i - BACK, x[i]);
    for (int c = 0; c < p->c; c += U) {
#pragma unroll
        for (int i = 0; i < U; i++)
            channel<N>(p, p->x, at, c + i + AHEAD, x[KEPT + i]);
#pragma unroll
        for (int i = 0; i < U; i++) {
            float y[N];
#pragma unroll
            for (int e = 0; e < N; e++) {
                float sum = 0;
#pragma unroll
                for (int k = 0; k < W; k++)
                    sum += x[i + k][e] * x[i + k][e];
                y[e] = x[i + BACK][e] * power_of(p, p->k + p->share * sum);
            }
            if (c + i < p->c)
                deliver<N>(p, at + (c + i) * p->pixels, y);
        }
#pragma unroll
        for (int i = 0; i < KEPT; i++)
#pragma unroll
            for (int e = 0; e < N; e++)
                x[i][e] = x[i + U][e];
    }
}

/* What channel c, in the middle of the window x, takes and gives: power = dy s^-beta, term = dy x s^(-beta - 1). */
template <int N, int W> DN_FN void terms(const dn_lrn_packed *p, const float (*x)[N], const float *dy, float *power, float *term)
{
#pragma unroll
    for (int e = 0; e < N; e++) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < W; k++)
            sum += x[k][e] * x[k][e];
        float s = p->k + p->share * sum;
        power[e] = dy[e] * power_of(p, s);
        term[e] = power[e] * x[(W - 1) / 2][e] / s;
    }
}

template <int N, int W, int U> DN_FN void nchw_bwd(const dn_lrn_packed *p)
{
    enum { BACK = (W - 1) / 2, AHEAD = W / 2, KEPT = W - 1 };
    const dn_s64 at = place<N>(p);
    float x[2 * KEPT + U][N];                          /* channels c - KEPT ... c + U - 1 + KEPT */
    float power[KEPT + U][N], term[KEPT + U][N], dy[U][N];  /* c - AHEAD ... c + U - 1 + BACK */
    if (at < 0)
        return;
#pragma unroll
    for (int i = 0; i < 2 * KEPT; i++)
        channel<N>(p, p->x, at, i - KEPT, x[i]);
#pragma unroll
    for (int i = 0; i < KEPT; i++) {
        channel<N>(p, p->dy, at, i - AHEAD, dy[0]);
        terms<N, W>(p, &x[i], dy[0], power[i], term[i]);
    }
    for (int c = 0; c < p->c; c += U) {
#pragma unroll
        for (int i = 0; i < U; i++) {
            channel<N>(p, p->x, at, c + i + KEPT, x[2 * KEPT + i]);
            channel<N>(p, p->dy, at, c + i + BACK, dy[i]);
        }
#pragma unroll
        for (int i = 0; i < U; i++) {
            float dx[N];
            terms<N, W>(p, &x[KEPT + i], dy[i], power[KEPT + i], term[KEPT + i]);
#pragma unroll
            for (int e = 0; e < N; e++) {
                float sum = 0;
#pragma unroll
                for (int k = 0; k < W; k++)
                    sum += term[i + k][e];
                dx[e] = power[i + AHEAD][e] - p->factor * x[i + KEPT][e] * sum;
            }
            if (c + i < p->c)
                deliver<N>(p, at + (c + i) * p->pixels, dx);
        }
#pragma unroll
        for (int i = 0; i < 2 * KEPT; i++)
#pragma unroll
            for (int e = 0; e < N; e++) {
                x[i][e] = x[i + U][e];
                if (i < KEPT) {
                    power[i % KEPT][e] = power[(i + U) % (KEPT + U)][e];
                    term[i % KEPT][e] = term[(i + U) % (KEPT + U)][e];
                }
            }
    }
}

#define KERNEL(name, call)                                                                            \
    extern "C" __global__ void __launch_bounds__(128) name(const __grid_constant__ dn_lrn_packed p)   \
    {                                                                                                 \
        call;                                                                                         \
    }
