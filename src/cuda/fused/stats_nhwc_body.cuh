/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Sums and sums of squares of rows x channels without gaps in two kernels: blocks (span vectors across, blockIdx.y; part blockIdx.x of the
 * rows) leave partial sums, which the second adds in order, in double. The including file names T_*, KERNEL, KERNEL_FINAL. */
#include "cuda/fused/fused.h"
#include "cuda/vec16.cuh"

enum { BLOCK = 256, U = 4 };

extern "C" __global__ void __launch_bounds__(BLOCK) KERNEL(const __grid_constant__ dn_stats_nhwc p)
{
    __shared__ float2 sh[BLOCK];
    int across = (int)blockIdx.y * p.span + (int)threadIdx.x % p.span, y = (int)threadIdx.x / p.span, ny = (int)blockDim.x / p.span;
    int begin = (int)((dn_s64)p.rows * blockIdx.x / gridDim.x), end = (int)((dn_s64)p.rows * (blockIdx.x + 1) / gridDim.x);
    bool on = across * DN_VN < p.channels;
    float a[DN_VN], b[DN_VN];
#pragma unroll
    for (int e = 0; e < DN_VN; e++)
        a[e] = b[e] = 0.0f;
    for (int r = begin + y; on && r < end; r += ny * U) {
        uint4 u[U];
#pragma unroll
        for (int k = 0; k < U; k++)
            if (r + k * ny < end)
                u[k] = dn_vec_keep((const dn_t *)p.x + (dn_s64)(r + k * ny) * p.channels + across * DN_VN);
#pragma unroll
        for (int k = 0; k < U; k++) {
            float f[DN_VN];
            if (r + k * ny >= end)
                continue;
            dn_vec_get(u[k], f);
#pragma unroll
            for (int e = 0; e < DN_VN; e++) {
                a[e] += f[e];
                b[e] += f[e] * f[e];
            }
        }
    }
#pragma unroll
    for (int e = 0; e < DN_VN; e++) {
        __syncthreads();
        sh[threadIdx.x] = make_float2(a[e], b[e]);
        __syncthreads();
        if (y != 0 || !on)
            continue;
        float2 sum = make_float2(0.0f, 0.0f);
        for (int k = 0; k < ny; k++) {
            sum.x += sh[k * p.span + (int)threadIdx.x].x;
            sum.y += sh[k * p.span + (int)threadIdx.x].y;
        }
        *(float2 *)(p.part + 2 * ((dn_s64)(across * DN_VN + e) * p.s + blockIdx.x)) = sum;
    }
}

/* A warp per channel. */
extern "C" __global__ void KERNEL_FINAL(const __grid_constant__ dn_stats_nhwc p)
{
    int c = (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32), lane = (int)threadIdx.x & 31;
    double a = 0, b = 0;
    if (c >= p.channels)
        return;
    for (int s = lane; s < p.s; s += 32) {
        a += p.part[2 * ((dn_s64)c * p.s + s)];
        b += p.part[2 * ((dn_s64)c * p.s + s) + 1];
    }
#pragma unroll
    for (int o = 16; o; o >>= 1) {
        a += __shfl_xor_sync(0xffffffffu, a, o);
        b += __shfl_xor_sync(0xffffffffu, b, o);
    }
    if (lane == 0 && p.sum)
        p.sum[c] = (float)a;
    if (lane == 0 && p.sq)
        p.sq[c] = (float)b;
}
