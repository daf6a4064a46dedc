/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * f64 and integer data: sums in f64, exact for integers of up to 32 bits. */
#define DN_SUM double
#define DN_FWD cuda_conv_view_gemm_f64
#define DN_FILTER cuda_conv_view_gemm_filter_f64
#define DN_REDUCE cuda_conv_view_gemm_reduce_f64
#define DN_DIRECT cuda_conv_view_direct_f64
#include "cuda/conv/view_gemm_body.cuh"

/* The gradient by the bias: a block for each channel. */
extern "C" __global__ void __launch_bounds__(256) cuda_conv_bwd_bias_naive(const __grid_constant__ dn_gemm_bias_grad p)
{
    __shared__ double sums[256];
    for (dn_s64 chan = blockIdx.x; chan < p.chans; chan += gridDim.x) {
        double sum = 0;
        for (dn_s64 col = threadIdx.x; col < p.cols; col += 256)
            sum += dn_load(&p.dy.e, plain_at(&p.dy, col) + chan_at(&p.dy, chan));
        sums[threadIdx.x] = sum;
        for (unsigned n = 128; n; n /= 2) {
            __syncthreads();
            if (threadIdx.x < n)
                sums[threadIdx.x] += sums[threadIdx.x + n];
        }
        if (threadIdx.x == 0)
            dn_store_blend(&p.db, chan * p.db_stride, sums[0], p.alpha, p.beta);
        __syncthreads();
    }
}
