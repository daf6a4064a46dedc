/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Softmax over the channels of packed n x c x pixels tensors. Block (PX, W): thread x has N neighbouring pixels, thread y every W-th of
 * their channels, NC at most, in registers: read once, written once. NC 0: any number of channels, read twice. Maxima and sums of the W
 * threads meet in shared memory.
 *     DN_TYPE          DN_T_F32, DN_T_F16 or DN_T_BF16
 *     KERNEL (name, call)   makes a kernel of that name of one of the functions; N: VN, which pixels must be a multiple of, or 1 */
#include "cuda/softmax/softmax_fn.cuh"

#define VN (16 / DN_VEC_SIZE(DN_TYPE))

enum { THREADS = 512, UNROLL = 4 };  /* of a block at most; channels in flight where there are too many to hold */

template <int N> struct pixels_of {
    DN_VEC(DN_TYPE, N) v;
};
template <> struct pixels_of<1> {
    float v;
};

template <int N> DN_FN void get(const pixels_of<N> &u, float *f)
{
    dn_unpack<DN_TYPE, N>(u.v, f);
}
DN_FN void get(const pixels_of<1> &u, float *f)
{
    f[0] = u.v;
}

template <int N> DN_FN void fetch(pixels_of<N> &u, const void *base, dn_s64 at, bool again)
{
    const DN_VEC(DN_TYPE, N) *p = (const DN_VEC(DN_TYPE, N) *)((const char *)base + at * DN_VEC_SIZE(DN_TYPE));
    u.v = again ? *p : __ldcs(p);
}
DN_FN void fetch(pixels_of<1> &u, const void *base, dn_s64 at, bool)
{
    u.v = dn_one_load<DN_TYPE>(base, at);
}

template <int N> DN_FN void put(void *base, dn_s64 at, const float *f)
{
    dn_vec_store<DN_TYPE, N>(base, at, dn_pack<DN_TYPE, N>(f));
}
template <> __device__ __forceinline__ void put<1>(void *base, dn_s64 at, const float *f)
{
    dn_one_store<DN_TYPE>(base, at, f[0]);
}

/* r + beta * out */
template <int N> DN_FN void blend(const dn_softmax_columns *p, dn_s64 at, float *r)
{
    if (p->beta != 0) {
        pixels_of<N> u;
        float old[N];
        fetch(u, p->out, at, false);
        get(u, old);
#pragma unroll
        for (int e = 0; e < N; e++)
            r[e] += p->beta * old[e];
    }
    put<N>(p->out, at, r);
}

/* Each of the N values over the W threads of a column. sh: N * THREADS floats */
template <int N> DN_FN void column_reduce(float *v, bool maximum, float *sh)
{
    const int px = (int)blockDim.x, w = (int)blockDim.y, x = (int)threadIdx.x, y = (int)threadIdx.y;
    if (w == 1)
        return;
    __syncthreads();
#pragma unroll
    for (int e = 0; e < N; e++)
        sh[(y * N + e) * px + x] = v[e];
    __syncthreads();
    for (int e = y; e < N; e += w) {
        float r = sh[e * px + x];
        for (int k = 1; k < w; k++) {
            float other = sh[(k * N + e) * px + x];
            r = maximum ? fmaxf(r, other) : r + other;
        }
        sh[e * px + x] = r;
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < N; e++)
        v[e] = sh[e * px + x];
}

/* Where the thread's first element lies; on: it has pixels. */
template <int N> DN_FN dn_s64 place(const dn_softmax_columns *p, bool *on)
{
    const dn_u32 per = (dn_u32)(p->pixels / N), t = blockIdx.x * blockDim.x + threadIdx.x, image = t / per;
    *on = image < p->n;
    return (image * p->c + threadIdx.y) * p->pixels + (dn_s64)(t - image * per) * N;
}

template <int N, int NC> DN_FN void columns_fwd(const dn_softmax_columns *p)
{
    __shared__ float sh[N * THREADS];
    bool on;
    const int y = (int)threadIdx.y, w = (int)blockDim.y;
    const dn_s64 at = place<N>(p, &on), step = p->pixels * w;
    const int mine = on && y < p->c ? ((int)p->c - y + w - 1) / w : 0;
    pixels_of<N> u[NC];
    float m[N], s[N], f[N];
#pragma unroll
    for (int k = 0; k < NC; k++)
        if (k < mine)
            fetch(u[k], p->in, at + k * step, false);
#pragma unroll
    for (int e = 0; e < N; e++) {
        m[e] = -DN_INF;
        s[e] = 0;
    }
#pragma unroll
    for (int k = 0; k < NC; k++)
        if (k < mine) {
            get(u[k], f);
#pragma unroll
            for (int e = 0; e < N; e++)
                m[e] = fmaxf(m[e], f[e]);
        }
    column_reduce<N>(m, true, sh);
#pragma unroll
    for (int e = 0; e < N; e++)
        m[e] = dn_softmax_shift(p->algo, m[e]);
#pragma unroll
    for (int k = 0; k < NC; k++)
        if (k < mine) {
            get(u[k], f);
#pragma unroll
            for (int e = 0; e < N; e++)
                s[e] += dn_exp(f[e] - m[e]);
        }
    column_reduce<N>(s, false, sh);
#pragma unroll
    for (int e = 0; e < N; e++)
        s[e] = dn_softmax_close(p->algo, s[e], p->alpha);
#pragma unroll
    for (int k = 0; k < NC; k++)
        if (k < mine) {
            get(u[k], f);
#pragma unroll
            for (int e = 0; e < N; e++)
                f[e] = dn_softmax_result(p->algo, f[e], m[e], s[e], p->alpha);
            blend<N>(p, at + k * step, f);
        }
}

/* Any number of channels: the sum is made as they come. */
template <int N> DN_FN void long_columns_fwd(const dn_softmax_columns *p)
{
    __shared__ float sh[N * THREADS];
    bool on;
    const dn_s64 at = place<N>(p, &on), step = p->pixels * blockDim.y, end = on ? p->c : 0;
    pixels_of<N> u;
    float m[N], top[N], s[N], f[N];
#pragma unroll
    for (int e = 0; e < N; e++) {
        m[e] = -DN_INF;
        s[e] = 0;
    }
#pragma unroll 4
    for (dn_s64 c = threadIdx.y, i = at; c < end; c += blockDim.y, i += step) {
        fetch(u, p->in, i, true);
        get(u, f);
#pragma unroll
        for (int e = 0; e < N; e++) {
            const float higher = fmaxf(m[e], f[e]);
            s[e] = (higher == m[e] ? s[e] : s[e] * dn_exp(m[e] - higher)) + dn_exp(f[e] - dn_softmax_base(higher));
            m[e] = higher;
        }
    }
#pragma unroll
    for (int e = 0; e < N; e++)
        top[e] = m[e];
    column_reduce<N>(top, true, sh);
#pragma unroll
    for (int e = 0; e < N; e++)
        s[e] = m[e] == top[e] ? s[e] : s[e] * dn_exp(m[e] - top[e]);
    column_reduce<N>(s, false, sh);
#pragma unroll
    for (int e = 0; e < N; e++) {
        m[e] = dn_softmax_settle(p->algo, top[e], &s[e]);
        s[e] = dn_softmax_close(p->algo, s[e], p->alpha);
    }
    for (dn_s64 c = threadIdx.y, i = at; c < end; c += UNROLL * blockDim.y, i += UNROLL * step) {
        pixels_of<N> more[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            if (c + k * blockDim.y < end)
                fetch(more[k], p->in, i + k * step, false);
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            if (c + k * blockDim.y < end) {
                get(more[k], f);
#pragma unroll
                for (int e = 0; e < N; e++)
                    f[e] = dn_softmax_result(p->algo, f[e], m[e], s[e], p->alpha);
                blend<N>(p, i + k * step, f);
            }
    }
}

template <int N, int NC> DN_FN void columns_bwd(const dn_softmax_columns *p)
{
    __shared__ float sh[N * THREADS];
    bool on;
    const int first = (int)threadIdx.y, w = (int)blockDim.y;
    const dn_s64 at = place<N>(p, &on), step = p->pixels * w;
    const int mine = on && first < p->c ? ((int)p->c - first + w - 1) / w : 0;
    pixels_of<N> u[NC], g[NC];
    float s[N], y[N], dy[N];
#pragma unroll
    for (int k = 0; k < NC; k++)
        if (k < mine) {
            fetch(u[k], p->in, at + k * step, false);
            fetch(g[k], p->grad, at + k * step, false);
        }
#pragma unroll
    for (int e = 0; e < N; e++)
        s[e] = 0;
#pragma unroll
    for (int k = 0; k < NC; k++)
        if (k < mine) {
            get(u[k], y);
            get(g[k], dy);
#pragma unroll
            for (int e = 0; e < N; e++)
                s[e] += dn_softmax_term(p->algo, y[e], dy[e]);
        }
    column_reduce<N>(s, false, sh);
#pragma unroll
    for (int k = 0; k < NC; k++)
        if (k < mine) {
            get(u[k], y);
            get(g[k], dy);
#pragma unroll
            for (int e = 0; e < N; e++)
                dy[e] = dn_softmax_gradient(p->algo, y[e], dy[e], s[e], p->alpha);
            blend<N>(p, at + k * step, dy);
        }
}

template <int N> DN_FN void long_columns_bwd(const dn_softmax_columns *p)
{
    __shared__ float sh[N * THREADS];
    bool on;
    const dn_s64 at = place<N>(p, &on), step = p->pixels * blockDim.y, end = on ? p->c : 0;
    pixels_of<N> u, g;
    float s[N], y[N], dy[N];
#pragma unroll
    for (int e = 0; e < N; e++)
        s[e] = 0;
#pragma unroll 4
    for (dn_s64 c = threadIdx.y, i = at; c < end; c += blockDim.y, i += step) {
        fetch(u, p->in, i, true);
        fetch(g, p->grad, i, true);
        get(u, y);
        get(g, dy);
#pragma unroll
        for (int e = 0; e < N; e++)
            s[e] += dn_softmax_term(p->algo, y[e], dy[e]);
    }
    column_reduce<N>(s, false, sh);
    for (dn_s64 c = threadIdx.y, i = at; c < end; c += UNROLL * blockDim.y, i += UNROLL * step) {
        pixels_of<N> us[UNROLL], gs[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            if (c + k * blockDim.y < end) {
                fetch(us[k], p->in, i + k * step, false);
                fetch(gs[k], p->grad, i + k * step, false);
            }
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            if (c + k * blockDim.y < end) {
                get(us[k], y);
                get(gs[k], dy);
#pragma unroll
                for (int e = 0; e < N; e++)
                    dy[e] = dn_softmax_gradient(p->algo, y[e], dy[e], s[e], p->alpha);
                blend<N>(p, i + k * step, dy);
            }
    }
}

#define KERNEL(name, call)                                                                                          \
    extern "C" __global__ void __launch_bounds__(THREADS, 1) name(const __grid_constant__ dn_softmax_columns p)     \
    {                                                                                                               \
        call;                                                                                                       \
    }
