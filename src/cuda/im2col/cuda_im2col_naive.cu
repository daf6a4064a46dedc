/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     y[(c, r...)][(n, o...)] = x[n][c][o * stride - pad + r * dilation ...], 0 in the padding
 *
 * Elements are moved, never converted; any strides of x, any alignment. One thread per element of y in a loop over the grid. */
#include "cuda/common.cuh"
#include "cuda/im2col/im2col.h"

extern "C" __global__ void cuda_im2col_fwd_naive(const __grid_constant__ dn_im2col_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.rows * p.cols; i += DN_THREADS) {
        dn_s64 row = i / p.cols, col = i - row * p.cols, at = 0;
        bool there = true;
        for (int j = p.spatial - 1; j >= 0; j--) {
            dn_s64 r = row % p.window[j], o = col % p.out[j];
            row /= p.window[j];
            col /= p.out[j];
            dn_s64 k = o * p.stride[j] - p.pad[j] + (p.turned ? p.window[j] - 1 - r : r) * p.dilation[j];
            there = there && k >= 0 && k < p.in[j];
            at += k * p.x_stride[j];
        }
        dn_store_raw(&p.y, i, there ? dn_load_raw(&p.x, at + col * p.batch_stride + row * p.chan_stride) : 0);
    }
}
