/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     out[n][q][r] = alpha * in[n][r][q]      2, 3 or 4 rows (NCHW to NHWC), or as many columns (the way back)
 *
 * SIZE: bytes of an element, 2 or 4; KERNEL: the name. A thread has a vector of 16 bytes of every channel and permutes them in registers; the
 * side with the channels innermost goes through shared memory (16 KiB), so that both are read and written in order. The planes are a
 * multiple of 16 bytes, and the pointers aligned to as much. */
#include "cuda/transform/transpose.cuh"

enum { V = 16 / SIZE, THREADS = 256 };

template <int C, bool FORTH> DN_FN void run(const dn_transpose *p, uint4 *line)
{
    /* Vectors of a plane, of all planes of a channel, of the interleaved side. */
    dn_u32 plane = (FORTH ? p->cols : p->rows) / V, first = blockIdx.x * THREADS, me = first + threadIdx.x;
    dn_u64 all = (dn_u64)p->batch * plane, end = all * C, start = (dn_u64)first * C;
    dn_u32 n = me / plane;
    uint4 a[C], b[C];
    const uint4 *in = (const uint4 *)p->in + (dn_u64)n * C * plane + (me - n * plane);
    uint4 *out = (uint4 *)p->out + (dn_u64)n * C * plane + (me - n * plane);
#pragma unroll
    for (int c = 0; c < C; c++) {
        a[c] = make_uint4(0, 0, 0, 0);
        if (FORTH && me < all)
            a[c] = __ldcs(in + (dn_u64)c * plane);
        if (!FORTH && start + c * THREADS + threadIdx.x < end)
            line[c * THREADS + threadIdx.x] = __ldcs((const uint4 *)p->in + start + c * THREADS + threadIdx.x);
    }
    if (!FORTH) {
        __syncthreads();
#pragma unroll
        for (int c = 0; c < C; c++)
            a[c] = line[threadIdx.x * C + c];
    }
#pragma unroll
    for (int c = 0; c < C; c++)
        b[c] = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int to = 0; to < V * C; to++) {
        int from = FORTH ? to % C * V + to / C : to % V * C + to / V;
        dn_vec_put<SIZE>(b, to, dn_vec_get<SIZE>(a, from));
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
        if (FORTH)
            line[threadIdx.x * C + c] = dn_scaled<SIZE>(p, b[c]);
        else if (me < all)
            __stcs(out + (dn_u64)c * plane, dn_scaled<SIZE>(p, b[c]));
    }
    if (!FORTH)
        return;
    __syncthreads();
#pragma unroll
    for (int c = 0; c < C; c++)
        if (start + c * THREADS + threadIdx.x < end)
            __stcs((uint4 *)p->out + start + c * THREADS + threadIdx.x, line[c * THREADS + threadIdx.x]);
}

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(const __grid_constant__ dn_transpose p)
{
    __shared__ uint4 line[THREADS * 4];
    bool forth = p.rows <= 4;
    switch (forth ? p.rows : p.cols) {
    case 2: forth ? run<2, true>(&p, line) : run<2, false>(&p, line); break;
    case 3: forth ? run<3, true>(&p, line) : run<3, false>(&p, line); break;
    default: forth ? run<4, true>(&p, line) : run<4, false>(&p, line); break;
    }
}
