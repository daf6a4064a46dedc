/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     out[n][q][r] = alpha * in[n][r][q]      planes that are no multiple of 16 bytes, such as 7 x 7
 *
 * SIZE: bytes of an element, 2 or 4; ELEMENT: its type as bits; KERNEL: the name. The planes of 32 or 64 channels are one run of memory, which a
 * block of 256 threads copies to or from shared memory (at most 32 KiB) in order; on the other side it has 16 bytes of channels of a pixel.
 * Pointers are aligned to 16 bytes. */
#include "cuda/transform/transpose.cuh"

enum { V = 16 / SIZE, THREADS = 256 };

/* planes[c][q] of `group` channels. */
DN_FN void forth(const dn_transpose *p, uint4 *planes, dn_u64 run, dn_u64 side, dn_u32 group)
{
    const ELEMENT *e = (const ELEMENT *)planes;
    for (dn_u32 i = threadIdx.x; i < group * p->cols / V; i += THREADS)
        planes[i] = __ldcs((const uint4 *)((const ELEMENT *)p->in + run) + i);
    __syncthreads();
    for (dn_u32 t = threadIdx.x; t < p->cols * (group / V); t += THREADS) {
        dn_u32 q = t / (group / V), c = t % (group / V) * V;
        uint4 v = make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int k = 0; k < V; k++)
            dn_vec_put<SIZE>(&v, k, e[(c + k) * p->cols + q]);
        __stcs((uint4 *)((ELEMENT *)p->out + side + (dn_u64)q * p->rows + c), dn_scaled<SIZE>(p, v));
    }
}

DN_FN void back(const dn_transpose *p, uint4 *planes, dn_u64 run, dn_u64 side, dn_u32 group)
{
    ELEMENT *e = (ELEMENT *)planes;
    for (dn_u32 t = threadIdx.x; t < p->rows * (group / V); t += THREADS) {
        dn_u32 q = t / (group / V), c = t % (group / V) * V;
        uint4 v = __ldcs((const uint4 *)((const ELEMENT *)p->in + side + (dn_u64)q * p->cols + c));
#pragma unroll
        for (int k = 0; k < V; k++)
            e[(c + k) * p->rows + q] = (ELEMENT)dn_vec_get<SIZE>(&v, k);
    }
    __syncthreads();
    for (dn_u32 i = threadIdx.x; i < group * p->rows / V; i += THREADS)
        __stcs((uint4 *)((ELEMENT *)p->out + run) + i, dn_scaled<SIZE>(p, planes[i]));
}

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(const __grid_constant__ dn_transpose p)
{
    __shared__ uint4 planes[DN_TRANSPOSE_SHARED / 16];
    dn_u32 n = blockIdx.x / p.across, first = (blockIdx.x - n * p.across) * p.down;
    dn_u64 image = (dn_u64)n * p.rows * p.cols;
    if (p.cols % V)
        forth(&p, planes, image + (dn_u64)first * p.cols, image + first, p.down);
    else
        back(&p, planes, image + (dn_u64)first * p.rows, image + first, p.down);
}
