/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Local response normalisation where channels are innermost, window W to 5 (formulas in cuda_lrn_naive.cu). A thread makes 16 bytes of channels
 * and reads those before and behind as well, which its neighbours bring into the cache: not in place. c is a multiple of 16 bytes.
 *     KERNEL (name, call)   makes a kernel of that name of one of the functions */
#include "cuda/lrn/packed.cuh"

/* Channels c - VN ... c + 2 VN - 1 around element `at`, 0 where there are none. */
DN_FN void around(const dn_lrn_packed *p, const void *base, dn_s64 at, int c, float *f)
{
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int from = c + (i - 1) * VN, there = from < 0 || from >= p->c ? c : from;
        vector_of<VN>::load(base, at + there - c, f + i * VN);
#pragma unroll
        for (int e = 0; e < VN; e++)
            f[i * VN + e] = there == from ? f[i * VN + e] : 0;
    }
}

/* s of the channel at the middle of a window that begins at x. */
template <int W> DN_FN float divisor(const dn_lrn_packed *p, const float *x)
{
    float sum = 0;
#pragma unroll
    for (int k = 0; k < W; k++)
        sum += x[k] * x[k];
    return p->k + p->share * sum;
}

template <int W> DN_FN void nhwc_fwd(const dn_lrn_packed *p)
{
    const dn_u32 per = (dn_u32)(p->c / VN);
    const dn_s64 units = p->pixels * per;
    for (dn_s64 t = DN_THREAD; t < units; t += DN_THREADS) {
        float x[3 * VN], y[VN];
        around(p, p->x, t * VN, (int)(t >> 32 ? t % per : (dn_u32)t % per) * VN, x);
#pragma unroll
        for (int e = 0; e < VN; e++)
            y[e] = x[VN + e] * power_of(p, divisor<W>(p, x + VN + e - (W - 1) / 2));
        deliver<VN>(p, t * VN, y);
    }
}

template <int W> DN_FN void nhwc_bwd(const dn_lrn_packed *p)
{
    enum { BACK = (W - 1) / 2, AHEAD = W / 2 };
    const dn_u32 per = (dn_u32)(p->c / VN);
    const dn_s64 units = p->pixels * per;
    for (dn_s64 t = DN_THREAD; t < units; t += DN_THREADS) {
        float x[3 * VN], dy[3 * VN], dx[VN], term[VN + W - 1];  /* term: channels c - AHEAD ... c + VN - 1 + BACK */
        const int c = (int)(t >> 32 ? t % per : (dn_u32)t % per) * VN;
        around(p, p->x, t * VN, c, x);
        around(p, p->dy, t * VN, c, dy);
#pragma unroll
        for (int i = 0; i < VN + W - 1; i++) {
            const int at = VN - AHEAD + i;
            float s = divisor<W>(p, x + at - BACK), power = dy[at] * power_of(p, s);
            term[i] = power * x[at] / s;
            if (at >= VN && at < 2 * VN)
                dx[(at - VN) % VN] = power;
        }
#pragma unroll
        for (int e = 0; e < VN; e++) {
            float sum = 0;
#pragma unroll
            for (int k = 0; k < W; k++)
                sum += term[e + k];
            dx[e] -= p->factor * x[VN + e] * sum;
        }
        deliver<VN>(p, t * VN, dx);
    }
}

#define KERNEL(name, call)                                                                            \
    extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ dn_lrn_packed p)   \
    {                                                                                                 \
        call;                                                                                         \
    }
