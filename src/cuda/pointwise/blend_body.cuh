/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     y = alpha * x + beta * y
 *
 * X_TYPE, Y_TYPE: the types (DN_T_...); KERNEL: the name. Contiguous tensors or rows of vectors, aligned to 16 bytes; in place. Blocks of
 * 256 threads; a thread has 16 elements, in units that fill 16 bytes of the wider type, loaded before the first is used. No shared memory. */
#include "cuda/flat.cuh"
#include "cuda/pointwise/pointwise.h"

enum { N = DN_VEC_SIZE(X_TYPE) == 4 || DN_VEC_SIZE(Y_TYPE) == 4 ? 4 : 8, UNITS = DN_FLAT_ELEMENTS / N };
typedef dn_raw<DN_VEC_SIZE(X_TYPE) * N>::vec x_vec;
typedef dn_raw<DN_VEC_SIZE(Y_TYPE) * N>::vec y_vec;

DN_FN void blend(const dn_blend_flat *p, dn_s64 at, x_vec x, y_vec y)
{
    float f[N], old[N];
    dn_unpack<X_TYPE, N>(x, f);
#pragma unroll
    for (int k = 0; k < N; k++)
        f[k] *= p->alpha;
    if (p->beta != 0) {
        dn_unpack<Y_TYPE, N>(y, old);
#pragma unroll
        for (int k = 0; k < N; k++)
            f[k] += p->beta * old[k];
    }
    dn_vec_store<Y_TYPE, N>(p->y, at, dn_pack<Y_TYPE, N>(f));
}

extern "C" __global__ void __launch_bounds__(DN_FLAT_THREADS) KERNEL(const __grid_constant__ dn_blend_flat p)
{
    dn_u32 first = DN_FLAT_FIRST(N);
    dn_s64 at[UNITS][2];
    x_vec x[UNITS];
    y_vec y[UNITS];
#pragma unroll
    for (int u = 0; u < UNITS; u++) {
        dn_u32 unit = first + u * DN_FLAT_THREADS;
        if (unit < p.flat.units) {
            dn_flat_at<2, N>(&p.flat, unit, at[u]);
            x[u] = dn_vec_load<X_TYPE, N>(p.x, at[u][1]);
            if (p.beta != 0)
                y[u] = dn_vec_load<Y_TYPE, N>(p.y, at[u][0]);
        }
    }
#pragma unroll
    for (int u = 0; u < UNITS; u++)
        if (first + u * DN_FLAT_THREADS < p.flat.units)
            blend(&p, at[u][0], x[u], y[u]);
    if (first < p.flat.tail) {
        dn_s64 i = (dn_s64)p.flat.units * N + first;
        float v = p.alpha * dn_one_load<X_TYPE>(p.x, i);
        dn_one_store<Y_TYPE>(p.y, i, p.beta != 0 ? v + p.beta * dn_one_load<Y_TYPE>(p.y, i) : v);
    }
}
